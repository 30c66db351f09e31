"""Ranges of expressions: intervals and congruences, and their reduced product.

An :class:`Interval` is ``[lo, hi]`` with integer ends, or an infinite end where a variable is unbounded; a
:class:`Congruence` says ``x = r (mod m)``.  A :class:`Range` holds both, each sharpened by the other.  The transfer
functions here are what production code runs.  That they are sound and tight is stated in :mod:`indexproof.rules.transfer`
and proved there for all bounds.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from functools import reduce
from typing import Any, Final, NamedTuple

from .expr import Expr, Var, interpret

__all__ = ["EVERYTHING", "Congruence", "Interval", "Range", "Ranges", "is_infinite", "range_of"]

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
            out |= (
                self._mod_positive(side)
                if side.lo > 0
                else self.scale(-1)._mod_positive(side.scale(-1)).scale(-1)
            )
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


class Congruence(NamedTuple):
    """``x = r (mod m)``; ``m = 1`` says nothing, ``m = 0`` says ``x = r``.  ``0 <= r < m`` when ``m > 0``."""

    m: int
    r: int

    @staticmethod
    def of(m: int, r: int) -> Congruence:
        """Canonical form."""
        m = abs(m)
        return Congruence(m, r % m if m else r)

    def __contains__(self, x: object) -> bool:
        return isinstance(x, int) and (x == self.r if self.m == 0 else x % self.m == self.r)

    def plus(self, other: Congruence) -> Congruence:
        """``{x + y}``."""
        return Congruence.of(math.gcd(self.m, other.m), self.r + other.r)

    def scale(self, k: int) -> Congruence:
        """``{k·x}``."""
        return Congruence.of(self.m * k, self.r * k)

    def times(self, other: Congruence) -> Congruence:
        """``{x·y}``."""
        m = math.gcd(self.m * other.m, self.m * other.r, other.m * self.r)
        return Congruence.of(m, self.r * other.r)

    def floordiv(self, d: int) -> Congruence:
        """``{x // d}`` for a constant ``d ≠ 0``: known when ``d`` divides the modulus."""
        return Congruence.of(self.m // d, self.r // d) if self.m % d == 0 else ANY

    def mod(self, d: int) -> Congruence:
        """``{x % d}`` for a constant ``d ≠ 0``."""
        if self.m % d == 0:
            return Congruence(0, self.r % d)
        return Congruence.of(math.gcd(self.m, d), self.r)

    def join(self, other: Congruence) -> Congruence:
        """What both allow together."""
        return Congruence.of(math.gcd(self.m, other.m, self.r - other.r), self.r)


ANY: Final = Congruence(1, 0)


class Range(NamedTuple):
    """The reduced product: members of ``interval`` that satisfy ``congruence``."""

    interval: Interval
    congruence: Congruence

    @staticmethod
    def of(interval: Interval, congruence: Congruence = ANY) -> Range:
        """Sharpen each half by the other; an empty range is ``[1, 0]``."""
        lo, hi = interval
        m, r = congruence
        if lo > hi:
            return NOTHING
        if m == 0:
            return Range(Interval(r, r), congruence) if lo <= r <= hi else NOTHING
        if m > 1:
            if not is_infinite(lo):
                lo += (r - lo) % m
            if not is_infinite(hi):
                hi -= (hi - r) % m
            if lo > hi:
                return NOTHING
        if lo == hi:
            return Range(Interval(lo, hi), Congruence(0, int(lo)))
        return Range(Interval(lo, hi), congruence)

    @staticmethod
    def constant(n: int) -> Range:
        """The range of a literal."""
        return Range(Interval(n, n), Congruence(0, n))

    @property
    def empty(self) -> bool:
        """Whether it has no member."""
        return self.interval.empty

    def __contains__(self, x: object) -> bool:
        return x in self.interval and x in self.congruence

    def plus(self, other: Range) -> Range:
        """``{x + y}``."""
        return Range.of(self.interval.plus(other.interval), self.congruence.plus(other.congruence))

    def scale(self, k: int) -> Range:
        """``{k·x}``."""
        return Range.of(self.interval.scale(k), self.congruence.scale(k))

    def times(self, other: Range) -> Range:
        """``{x·y}``."""
        return Range.of(self.interval.times(other.interval), self.congruence.times(other.congruence))

    def floordiv(self, other: Range) -> Range:
        """``{x // y | y ≠ 0}``."""
        d = other.interval.constant
        c = self.congruence.floordiv(d) if d else ANY
        return Range.of(self.interval.floordiv(other.interval), c)

    def ceildiv(self, other: Range) -> Range:
        """``{ceildiv(x, y) | y ≠ 0}``."""
        return self.scale(-1).floordiv(other).scale(-1)

    def mod(self, other: Range) -> Range:
        """``{x % y | y ≠ 0}``."""
        d = other.interval.constant
        c = self.congruence.mod(d) if d else ANY
        return Range.of(self.interval.mod(other.interval), c)

    def minimum(self, other: Range) -> Range:
        """``{min(x, y)}``; the winner's congruence where the intervals do not overlap."""
        return _extremum(
            self, other, self.interval.minimum(other.interval), self.interval.hi <= other.interval.lo
        )

    def maximum(self, other: Range) -> Range:
        """``{max(x, y)}``; the winner's congruence where the intervals do not overlap."""
        return _extremum(
            self, other, self.interval.maximum(other.interval), self.interval.lo >= other.interval.hi
        )


def _extremum(x: Range, y: Range, interval: Interval, x_wins: bool) -> Range:
    if x.empty or y.empty:
        return NOTHING
    if x_wins:
        return x
    y_wins = interval == y.interval and (y.interval.hi <= x.interval.lo or y.interval.lo >= x.interval.hi)
    return Range.of(interval, y.congruence if y_wins else x.congruence.join(y.congruence))


NOTHING: Final = Range(EMPTY, ANY)
EVERYTHING: Final = Range(LINE, ANY)


class Ranges:
    """The range meaning of expressions (an algebra for :func:`~indexproof.core.expr.interpret`).

    ``bounds`` maps variables or their names to a :class:`Range` or :class:`Interval`; an unknown variable is unbounded.
    An expression whose divisor can only be zero has the empty range.
    """

    def __init__(self, bounds: Mapping[Any, Range | Interval]) -> None:
        self.bounds = bounds

    def integer(self, n: int) -> Range:
        return Range.constant(n)

    def variable(self, v: Var) -> Range:
        found = self.bounds.get(v)
        if found is None:
            found = self.bounds.get(v.name)
        if found is None:
            return EVERYTHING
        return found if isinstance(found, Range) else Range.of(found)

    def sum(self, const: int, terms: list[tuple[Range, int]]) -> Range:
        total = Range.constant(const)
        for value, k in terms:
            total = total.plus(value.scale(k))
        return NOTHING if any(v.empty for v, _ in terms) else total

    def product(self, factors: list[Range]) -> Range:
        return NOTHING if any(f.empty for f in factors) else reduce(Range.times, factors)

    def floordiv(self, a: Range, b: Range) -> Range:
        return NOTHING if a.empty or b.empty else a.floordiv(b)

    def mod(self, a: Range, b: Range) -> Range:
        return NOTHING if a.empty or b.empty else a.mod(b)

    def ceildiv(self, a: Range, b: Range) -> Range:
        return NOTHING if a.empty or b.empty else a.ceildiv(b)

    def minimum(self, args: list[Range]) -> Range:
        return reduce(Range.minimum, args)

    def maximum(self, args: list[Range]) -> Range:
        return reduce(Range.maximum, args)


def range_of(e: Expr, bounds: Mapping[Any, Range | Interval]) -> Range:
    """The range of ``e`` for variables within ``bounds``."""
    return interpret((e,), Ranges(bounds))[0]
