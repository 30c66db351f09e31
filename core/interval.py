"""Intervals of integers and their transfer functions.

:mod:`indexproof.rules.transfer` states that the transfer functions are sound and tight, and this is proved for all
bounds.  :class:`~indexproof.core.facts.Facts` bounds the values of expressions.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Final, NamedTuple

#: An end of an interval: an integer, or ``±math.inf``.
End = int | float
INF: Final = math.inf


def is_infinite(a: End) -> bool:
    """Return whether an end is infinite.  `math.isinf` would convert integers to floats and reject large ones."""
    return type(a) is float


def _plus(a: End, b: End) -> End:
    # int + inf would convert the integer to a float and overflow for large ones
    return a if is_infinite(a) else b if is_infinite(b) else a + b


def _times(a: End, b: End) -> End:
    if a == 0 or b == 0:
        return 0
    if is_infinite(a) or is_infinite(b):
        return INF if (a > 0) == (b > 0) else -INF
    return a * b


def _quotient(a: End, b: End) -> End:
    """Return ``a // b`` in the limit; ``b`` is not zero."""
    if is_infinite(b):
        if is_infinite(a):
            return INF if (a > 0) == (b > 0) else -INF
        return 0 if a == 0 or (a > 0) == (b > 0) else -1
    if is_infinite(a):
        return INF if (a > 0) == (b > 0) else -INF
    return a // b


class Interval(NamedTuple):
    """The integers from ``lo`` to ``hi``, both included; empty when ``lo > hi``."""

    lo: End
    hi: End

    @property
    def empty(self) -> bool:
        """Whether the interval has no members."""
        return self.lo > self.hi

    @property
    def constant(self) -> int | None:
        """The only member, or ``None`` unless there is exactly one."""
        return int(self.lo) if self.lo == self.hi else None

    @property
    def size(self) -> End:
        """The number of members."""
        return max(_plus(_plus(self.hi, -self.lo), 1), 0)

    def __contains__(self, x: object) -> bool:
        return isinstance(x, int) and self.lo <= x <= self.hi

    def inside(self, other: Interval) -> bool:
        """Return whether every member is a member of ``other``."""
        return self.empty or (other.lo <= self.lo and self.hi <= other.hi)

    def __and__(self, other: Interval) -> Interval:
        return Interval(max(self.lo, other.lo), min(self.hi, other.hi))

    def __or__(self, other: Interval) -> Interval:
        if self.empty:
            return other
        if other.empty:
            return self
        return Interval(min(self.lo, other.lo), max(self.hi, other.hi))

    def shift(self, n: int) -> Interval:
        """Return ``{x + n}``."""
        return Interval(_plus(self.lo, n), _plus(self.hi, n))

    def plus(self, other: Interval) -> Interval:
        """Return ``{x + y}``."""
        return Interval(_plus(self.lo, other.lo), _plus(self.hi, other.hi))

    def scale(self, k: int) -> Interval:
        """Return the convex hull of ``{k·x}``."""
        ends = _times(self.lo, k), _times(self.hi, k)
        return Interval(*ends) if k >= 0 else Interval(ends[1], ends[0])

    def times(self, other: Interval) -> Interval:
        """Return the convex hull of ``{x·y}``, whose ends are products of ends."""
        return _hull(_times(x, y) for x in self for y in other)

    def floordiv(self, other: Interval) -> Interval:
        """Return the convex hull of ``{x // y | y ≠ 0}``, whose ends are quotients of ends.

        The positive and the negative divisors are treated separately.  Empty when zero is the only divisor.
        """
        out = EMPTY
        for side in _without_zero(other):
            out |= _hull(_quotient(x, y) for x in self for y in side)
        return out

    def ceildiv(self, other: Interval) -> Interval:
        """Return ``{ceildiv(x, y) | y ≠ 0}``."""
        return self.scale(-1).floordiv(other).scale(-1)

    def mod(self, other: Interval) -> Interval:
        """Return ``{x % y | y ≠ 0}``: exact for up to 32 moduli of either sign, an over-approximation for more."""
        out = EMPTY
        for side in _without_zero(other):
            out |= self._mod_positive(side) if side.lo > 0 else self.scale(-1)._mod_positive(side.scale(-1)).scale(-1)
        return out

    def _mod_positive(self, m: Interval) -> Interval:
        if self.empty:
            return EMPTY
        if self.lo >= 0 and self.hi < m.lo:
            return self
        if m.lo == m.hi and not is_infinite(m.lo):
            n = m.lo
            if not (is_infinite(self.lo) or is_infinite(self.hi)) and self.lo // n == self.hi // n:
                return Interval(self.lo % n, self.hi % n)
            return Interval(0, n - 1)
        if self.hi < 0 and self.lo >= -m.lo:
            # every remainder is x + m
            return Interval(_plus(self.lo, m.lo), _plus(self.hi, m.hi))
        finite = not (is_infinite(self.lo) or is_infinite(self.hi) or is_infinite(m.lo) or is_infinite(m.hi))
        if finite and self.hi - self.lo < m.hi - 1 and m.hi - m.lo < _MODULI:
            out = EMPTY
            for n in range(int(m.lo), int(m.hi) + 1):
                out |= self._mod_positive(Interval(n, n))
            return out
        top = _plus(m.hi, -1)
        return Interval(0, min(self.hi, top) if self.lo >= 0 else top)

    def minimum(self, other: Interval) -> Interval:
        """Return ``{min(x, y)}``."""
        return Interval(min(self.lo, other.lo), min(self.hi, other.hi))

    def maximum(self, other: Interval) -> Interval:
        """Return ``{max(x, y)}``."""
        return Interval(max(self.lo, other.lo), max(self.hi, other.hi))

    def __str__(self) -> str:
        left = "(-∞" if self.lo == -INF else f"[{self.lo}"
        right = "∞)" if self.hi == INF else f"{self.hi}]"
        return f"{left}, {right}"


#: Up to this many moduli, :meth:`Interval.mod` enumerates them.
_MODULI: Final = 32
EMPTY: Final = Interval(1, 0)
LINE: Final = Interval(-INF, INF)


def _hull(ends: Iterable[End]) -> Interval:
    points = list(ends)
    return Interval(min(points), max(points)) if points else EMPTY


def _without_zero(y: Interval) -> list[Interval]:
    sides = [Interval(y.lo, min(y.hi, -1)), Interval(max(y.lo, 1), y.hi)]
    return [s for s in sides if not s.empty]
