"""Decimal text of integers of any size.

Python refuses to convert integers of more than a few thousand digits.  This limit applies to the whole process, so a
library should not change it.  Splitting the digits in halves stays below it and is faster than one quadratic
conversion.
"""

from __future__ import annotations

from .errors import InputError

#: Limit on the digits of a number that is read, because arithmetic on large numbers takes more than linear time.
MOST_DIGITS = 100_000
_DIGITS = 600  # less than the smallest limit that an interpreter can be set to
_BITS = 1900  # fewer bits than 10**600 has


def parse_int(digits: str) -> int:
    """Return the integer that a string of ASCII digits denotes; the string may begin with a minus sign.

    Raises :class:`InputError` for more than :data:`MOST_DIGITS`.
    """
    if len(digits) > MOST_DIGITS:
        raise InputError(f"a number of {len(digits)} digits", expected=f"at most {MOST_DIGITS} digits")
    if digits.startswith("-"):
        return -parse_int(digits[1:])
    if len(digits) <= _DIGITS:
        return int(digits)
    low = len(digits) // 2
    return int(parse_int(digits[:-low]) * 10**low) + parse_int(digits[-low:])


def format_int(n: int) -> str:
    """Return ``n`` in decimal."""
    if n.bit_length() <= _BITS:
        return str(n)
    if n < 0:
        return "-" + format_int(-n)
    low = n.bit_length() * 3 // 20  # about half of the digits
    high, rest = divmod(n, 10**low)
    return format_int(high) + format_int(rest).zfill(low)
