"""What a form is made of.

A *form* is ``(constant, ((atom, coefficient), ...))`` with atoms as integers in increasing order; an atom is a variable,
a quotient, a remainder, a minimum, a maximum or something opaque.  Forms are plain tuples of integers, so equality and
hashing are those of tuples.
"""

from __future__ import annotations

from typing import Final, TypeAlias

from ..actions import Form

__all__ = [
    "END",
    "FAR",
    "LARGE",
    "MAXIMUM",
    "MINIMUM",
    "NEAR",
    "OPAQUE",
    "QUOTIENT",
    "REMAINDER",
    "VARIABLE",
    "ZERO",
    "Form",
    "Terms",
    "contains",
    "finite",
    "lone",
    "without",
]

Terms: TypeAlias = tuple[tuple[int, int], ...]

VARIABLE: Final = 0
QUOTIENT: Final = 1
REMAINDER: Final = 2
MINIMUM: Final = 3
MAXIMUM: Final = 4
OPAQUE: Final = 5
ZERO: Final[Form] = (0, ())

#: Ranges are pairs of integers.  What has no end, or one farther than ``FAR``, ends at ``END``; constants and divisors
#: beyond ``LARGE`` are refused there, so no sum or quotient brings an end back to where numbers are.
LARGE: Final = 1 << 1024
FAR: Final = 1 << 4096
END: Final = 1 << 8192
#: Nearly all ends are nearer than this, which takes no arithmetic of long integers to see.
NEAR: Final = 1 << 60


def lone(f: Form) -> int:
    """The atom that is all of the form, or -1."""
    if f[0] or len(f[1]) != 1 or f[1][0][1] != 1:
        return -1
    return f[1][0][0]


def contains(total: dict[int, int], terms: Terms, k: int, without: int) -> bool:
    """Whether ``k·terms`` is part of the sum, not counting the atom ``without``; k is not zero."""
    for a, j in terms:
        if total.get(a, 0) != k * j or a == without:
            return False
    return True


def without(c: int, total: dict[int, int], terms: Terms, a: int) -> Form:
    """The rest of the sum when ``terms`` and the atom ``a`` are taken out."""
    gone = {t[0] for t in terms}
    gone.add(a)
    return c, tuple(sorted([t for t in total.items() if t[0] not in gone]))


def finite(end: int | float) -> int:
    """The end of a range, infinite ends as numbers."""
    if isinstance(end, float):
        return END if end > 0 else -END
    return end
