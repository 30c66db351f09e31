"""Intervals of integers, and what operators make of them.

That the transfer functions are sound and tight is stated in :mod:`indexproof.rules.transfer` and proved for all bounds.
:class:`~indexproof.core.facts.Facts` says what is known of an expression.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Final, NamedTuple

#: An end of an interval: an integer, or ``±math.inf``.
End = int | float
INF: Final = math.inf


def is_infinite(a: End) -> bool:
    """Whether an end is infinite.  `math.isinf` would convert an integer first, and refuse a large one."""
    return type(a) is float


def _plus(a: End, b: End) -> End:
    # int + inf would convert the integer to a float first, and overflow for large ones
    return a if is_infinite(a) else b if is_infinite(b) else a + b


def _times(a: End, b: End) -> End:
    if a == 0 or b == 0:
        return 0
    if is_infinite(a) or is_infinite(b):
        return INF if (a > 0) == (b > 0) else -INF
    return a * b


def _quotient(a: End, b: End) -> End:
    """``a // b`` in the limit; ``b`` is not zero."""
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
        """Whether no integer lies in it."""
        return self.lo > self.hi

    @property
    def constant(self) -> int | None:
        """The only member, where there is exactly one."""
        return int(self.lo) if self.lo == self.hi else None

    @property
    def size(self) -> End:
        """The number of members."""
        return max(_plus(_plus(self.hi, -self.lo), 1), 0)

    def __contains__(self, x: object) -> bool:
        return isinstance(x, int) and self.lo <= x <= self.hi

    def inside(self, other: Interval) -> bool:
        """Whether every member is a member of ``other``."""
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
        """``{x + n}``."""
        return Interval(_plus(self.lo, n), _plus(self.hi, n))

    def plus(self, other: Interval) -> Interval:
        """``{x + y}``."""
        return Interval(_plus(self.lo, other.lo), _plus(self.hi, other.hi))

    def scale(self, k: int) -> Interval:
        """``{k·x}`` (its convex hull)."""
        ends = _times(self.lo, k), _times(self.hi, k)
        return Interval(*ends) if k >= 0 else Interval(ends[1], ends[0])

    def times(self, other: Interval) -> Interval:
        """``{x·y}`` (its convex hull): attained at corners."""
        return _hull(_times(x, y) for x in self for y in other)

    def floordiv(self, other: Interval) -> Interval:
        """``{x // y | y ≠ 0}``: attained at corners of the negative and of the positive divisors.

        Empty when zero is the only divisor.
        """
        out = EMPTY
        for side in _without_zero(other):
            out |= _hull(_quotient(x, y) for x in self for y in side)
        return out

    def ceildiv(self, other: Interval) -> Interval:
        """``{ceildiv(x, y) | y ≠ 0}``."""
        return self.scale(-1).floordiv(other).scale(-1)

    def mod(self, other: Interval) -> Interval:
        """``{x % y | y ≠ 0}``: exact for up to 32 moduli on either side of zero, an enclosure for more."""
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
            # every modulus is added once
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
        """``{min(x, y)}``."""
        return Interval(min(self.lo, other.lo), min(self.hi, other.hi))

    def maximum(self, other: Interval) -> Interval:
        """``{max(x, y)}``."""
        return Interval(max(self.lo, other.lo), max(self.hi, other.hi))

    def __str__(self) -> str:
        left = "(-∞" if self.lo == -INF else f"[{self.lo}"
        right = "∞)" if self.hi == INF else f"{self.hi}]"
        return f"{left}, {right}"


#: So many moduli are looked at one by one.
_MODULI: Final = 32
EMPTY: Final = Interval(1, 0)
LINE: Final = Interval(-INF, INF)


def _hull(ends: Iterable[End]) -> Interval:
    points = list(ends)
    return Interval(min(points), max(points)) if points else EMPTY


def _without_zero(y: Interval) -> list[Interval]:
    sides = [Interval(y.lo, min(y.hi, -1)), Interval(max(y.lo, 1), y.hi)]
    return [s for s in sides if not s.empty]
