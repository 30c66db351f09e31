"""What is known about the variables of a domain, and what that decides.

:class:`Facts` answers two questions for the simplifier, without any solver: the range of an expression, and whether a
condition certainly holds.  Both follow from bounds, congruences and the constraints of the domain.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cached_property

from .condition import Condition, condition_interpret
from .expr import Expr, FloorDiv, Int, Max, Min, Mod, Sum, Var, floordiv, interpret, linear, mod, postorder
from .interval import EMPTY, End, Interval, Range, Ranges

__all__ = ["Facts"]


class Facts:
    """Bounds of variables plus ``expression ∈ interval`` facts, with memoised ranges.

    ``bounds`` maps variables to intervals, or to plain pairs of ends.  ``known`` lists constraints of the domain; a
    constraint on a sum is remembered without its constant, so it serves every shifted copy.
    """

    def __init__(
        self, bounds: Mapping[Var, tuple[End, End]], known: Iterable[tuple[Expr, Interval]] = ()
    ) -> None:
        #: what was given: boxes, and constraints as they are
        self.boxes: dict[Var, tuple[End, End]] = dict(bounds)
        self.constraints = tuple(known)
        self._memo: dict[Expr, Range] = {}

    @cached_property
    def bounds(self) -> dict[Var, Range]:
        """The range of every variable."""
        found = {v: Range.of(Interval(lo, hi)) for v, (lo, hi) in self.boxes.items()}
        for body, fact in self.known.items():
            if isinstance(body, Var) and body in found:
                found[body] = Range.of(found[body].interval & fact.interval)
        return found

    @cached_property
    def known(self) -> dict[Expr, Range]:
        """The ranges of the expressions in constraints, without their constants."""
        found: dict[Expr, Range] = {}
        for e, i in self.constraints:
            body, shift = _without_constant(e)
            fact = i.shift(-shift)
            old = found.get(body)
            found[body] = Range.of(fact if old is None else old.interval & fact)
        return found

    @cached_property
    def _algebra(self) -> Ranges:
        return Ranges(self.bounds)

    @property
    def contradictory(self) -> bool:
        """Whether some variable has no value left."""
        return any(r.empty for r in self.bounds.values()) or any(r.empty for r in self.known.values())

    def range(self, e: Expr) -> Range:
        """An enclosure of every value ``e`` takes on the domain."""
        memo = self._memo
        found = memo.get(e)
        if found is not None:
            return found
        if not self.known:
            return interpret((e,), self._algebra, memo)[0]
        # with facts, each node is met once on the way up and sharpened there
        for node in postorder(e, known=memo):
            value = interpret((node,), self._algebra, memo)[0]
            body, shift = _without_constant(node)
            fact = self.known.get(body)
            if fact is not None:
                value = Range.of(value.interval & fact.interval.shift(shift), value.congruence)
            memo[node] = value
        return memo[e]

    def interval(self, e: Expr) -> Interval:
        """The interval of :meth:`range`."""
        return self.range(e).interval

    def distance(self, e: Expr) -> Interval:
        """The interval of a difference, also from those with one argument in place of an extremum in it."""
        lo, hi = self.interval(e)
        for x, k in e.terms if isinstance(e, Sum) else ((e, 1),):
            if isinstance(x, (Min, Max)) and lo < 0 < hi:
                ends = [self.interval(e - x * k + a * k) for a in x.args]
                pick = max if isinstance(x, Max) == (k > 0) else min
                lo, hi = max(lo, pick(i.lo for i in ends)), min(hi, pick(i.hi for i in ends))
        return Interval(lo, hi)

    def holds(self, c: Condition) -> bool:
        """Whether ``c`` certainly holds on the domain; ``False`` means "not known", never "does not hold"."""
        return bool(condition_interpret(c, lambda e: e, _Certain(self)))


def _undivided_twice(e: Expr) -> Expr:
    """``x // a // b`` as ``x // (a·b)``, which is the same for positive b; also below one remainder."""
    if isinstance(e, Mod):
        return mod(_undivided_twice(e.a), e.b)
    if isinstance(e, FloorDiv) and isinstance(e.a, FloorDiv):
        inner, outer = e.a.b, e.b
        if isinstance(inner, Int) and isinstance(outer, Int) and outer.value > 0:
            return floordiv(e.a.a, inner.value * outer.value)
    return e


def _without_constant(e: Expr) -> tuple[Expr, int]:
    if isinstance(e, Sum) and e.const:
        return linear(0, e.terms), e.const
    return e, 0


class _Certain:
    """Three-valued logic folded to "certainly true"; the negation of a comparison is a comparison, so none is lost."""

    def __init__(self, facts: Facts) -> None:
        self.facts = facts

    def const(self, value: bool) -> bool:
        return value

    def compare(self, op: str, a: Expr, b: Expr) -> bool:
        gap = self.facts.range(b - a)
        lo, hi = gap.interval
        if op == "==" and not lo == hi == 0:
            return _undivided_twice(a) is _undivided_twice(b)
        match op:
            case "<=":
                return lo >= 0 or self.facts.distance(b - a).lo >= 0
            case "<":
                return lo >= 1
            case "==":
                return lo == hi == 0
        return not gap.empty and not (0 in gap.interval and 0 in gap.congruence)

    def within(self, e: Expr, lo: Expr, hi: Expr) -> bool:
        if isinstance(lo, Int) and isinstance(hi, Int):
            return (
                self.facts.interval(e).inside(Interval(lo.value, hi.value))
                and self.facts.interval(e) != EMPTY
            )
        return self.compare("<=", lo, e) and self.compare("<=", e, hi)

    def divides(self, d: Expr, e: Expr) -> bool:
        if isinstance(d, Int):
            c = self.facts.range(e).congruence
            return d.value != 0 and c.m % d.value == 0 and c.r % d.value == 0
        return False

    def conj(self, parts: list[bool]) -> bool:
        return all(parts)

    def disj(self, parts: list[bool]) -> bool:
        return any(parts)

    def neg(self, part: bool) -> bool:
        # only reached for divisibility, where "not known" must stay "not known"
        return False
