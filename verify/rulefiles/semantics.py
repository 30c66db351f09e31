"""The semantics of a rule set: its division and its integers (reports/rule_files.md, "Semantics")."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

from ...core.errors import InputError, quoted

Rounding = Literal["floor", "trunc", "euclid", "floor0", "trunc0", "euclid0"]
Overflow = Literal["wrap", "nowrap", "undefined"]

ROUNDINGS: tuple[Rounding, ...] = get_args(Rounding)
OVERFLOWS: tuple[Overflow, ...] = get_args(Overflow)


def quotient(rounding: Rounding, a: int, b: int) -> int | None:
    """Return ``a / b``, or ``None`` for a division by zero without a value."""
    if b == 0:
        return 0 if rounding.endswith("0") else None
    match rounding.removesuffix("0"):
        case "floor":
            return a // b
        case "trunc":
            return a // b if (a < 0) == (b < 0) else -(-a // b)
    return a // b if b > 0 else -(a // -b)


def remainder(rounding: Rounding, a: int, b: int) -> int | None:
    """Return ``a % b``, or ``None`` for a division by zero without a value."""
    q = quotient(rounding, a, b)
    return None if q is None else a - b * q if b else 0


@dataclass(frozen=True)
class Semantics:
    """The division of a rule set, and its integers: unbounded (``width`` 0) or two's complement of ``width`` bits.

    ``overflow`` defines a result that does not fit: it wraps around; it is assumed not to occur (``nowrap``); or it
    has no value (``undefined``), so that the right side may overflow only where the left side does.
    """

    quotient: Rounding = "floor"
    remainder: Rounding = "floor"
    width: int = 0
    overflow: Overflow = "wrap"

    @property
    def lo(self) -> int:
        """The least machine integer."""
        return -(1 << (self.width - 1))

    @property
    def hi(self) -> int:
        """The greatest machine integer."""
        return (1 << (self.width - 1)) - 1

    @property
    def modulus(self) -> int:
        """``2**width``."""
        return 1 << self.width

    def wrapped(self, n: int) -> int:
        """Return the machine integer that ``n`` wraps around to."""
        return (n - self.lo) % self.modulus + self.lo

    @property
    def division(self) -> str:
        """The division in the text form."""
        if self.quotient == self.remainder:
            return self.quotient
        return f"quotient {self.quotient} remainder {self.remainder}"

    @property
    def integers(self) -> str:
        """The integers in the text form."""
        return f"{self.width} bits {self.overflow}" if self.width else "unbounded"

    def __str__(self) -> str:
        return self.division + (f", {self.integers}" if self.width else "")


#: Accepted pairs of keys for a division given in two parts.
_PARTS = (("quotient", "remainder"), ("div", "mod"), ("fdiv", "mod"))


def division_of(value: Any) -> tuple[Rounding, Rounding]:
    """Read quotient and remainder from JSON: one name, an object, or a pair.  Raises :class:`InputError`."""
    if isinstance(value, dict):
        for keys in _PARTS:
            if set(value) == set(keys):
                return rounding_of(value[keys[0]]), rounding_of(value[keys[1]])
        raise InputError(
            "a division in two parts names its quotient and its remainder", expected='`{"quotient": …, "remainder": …}`'
        )
    if isinstance(value, list) and len(value) == 2:
        return rounding_of(value[0]), rounding_of(value[1])
    both = rounding_of(value)
    return both, both


def rounding_of(value: Any) -> Rounding:
    """Return a rounding by its name.  Raises :class:`InputError`."""
    return _named("division", ROUNDINGS, value)  # type: ignore[return-value]


def overflow_of(value: Any) -> Overflow:
    """Return a kind of overflow by its name.  Raises :class:`InputError`."""
    return _named("overflow", OVERFLOWS, value)  # type: ignore[return-value]


def _named(what: str, names: Sequence[str], value: Any) -> str:
    if value in names:
        return str(value)
    *others, last = (f"`{n}`" for n in names)
    raise InputError(f"no {what} is called {quoted(value)}", expected=f"{', '.join(others)} or {last}")


def width_of(value: Any) -> int:
    """Read a width in bits.  Raises :class:`InputError`."""
    if isinstance(value, int) and not isinstance(value, bool) and 1 <= value <= MAX_WIDTH:
        return value
    # show the value as JSON, where a quoted number is no number
    given = json.dumps(value) if value is None or isinstance(value, (str, bool)) else value
    raise InputError(f"{quoted(given)} is no width of integers", expected=f"a number of bits from 1 to {MAX_WIDTH}")


#: Limit on the width of machine integers, far beyond real machines.
MAX_WIDTH = 4096
