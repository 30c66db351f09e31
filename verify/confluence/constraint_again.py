"""Joining once more, where the search of :mod:`.constraint_joining` ended: few rules, more patience, more arguments.

- *The rule of the pair again.*  A rule for expressions that rewrites a part of a constraint on one side rewrites it on the
  other side as well, where the constraint still stands: its conditions speak of values, and there are no more of those.
- *The same value, the same ends.*  If ``e`` was rewritten to ``f``, what is left of ``f`` without a summand has the value,
  and so the least and the greatest value, of what is left of ``e`` without it.
- *Between two bounds.*  If both sides are constraints on the same expressions, and each, after some steps by rules that
  only narrow bounds, lies within what the other was before such steps, both end in the same bounds (:mod:`.tightening`):
  the largest ones within one side that those rules leave alone lie within the other side, and the other way round.
- *One form.*  A constraint on a sum loses its constant, and of a sum and its opposite exactly one stays
  (:mod:`.linear_form`), so both sides meet if they do but for constants and signs.
- *A common divisor.*  If some common divisor of two moduli shows that two remainders contradict each other, so does the
  greatest one, which the strategy proposes.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from ...core.condition import FALSE, TRUE, Compare, Condition, Within
from ...core.expr import CeilDiv, Expr, FloorDiv, Mod, Mul, Var, integer, postorder
from ...core.rewrite import Bounded, ConstraintRule, Rule
from ..solve import reduced
from .constraint_joining import (
    _NOWHERE,
    ConstraintJoin,
    ConstraintStep,
    Posed,
    Proposal,
    Ranges,
    Side,
    Stage,
    _Known,
    _Search,
)
from .joining import LIMITS, Known
from .linear_form import has_forms
from .tightening import empties, intersecting, monotone, narrows, satisfied
from .unify import Flat, expanded, flat, is_const

__all__ = ["BETWEEN", "IN_FORM", "join_again"]

#: What stands for the steps of rules that narrow bounds, of which nobody has counted how many there are.
BETWEEN = "rules that narrow bounds, as long as they do"
#: What stands for the steps of rules that make one form of constraints on sums.
IN_FORM = "rules for the form of sums, as long as they apply"
#: Counts: questions of each attempt, and where a rule for expressions takes part; comparisons with more patience of each
#: case, and how often cases are told apart.
_QUESTIONS = 60
_INSIDE = 24
_PATIENCE = 4
_DEPTH = 3


@dataclass
class _Alike(Ranges):
    """Ranges that know of expressions which have the same value."""

    alike: list[tuple[Expr, Expr]] = field(default_factory=list)

    def _fresh(self, e: Expr) -> tuple[Expr, Expr]:
        if e not in self._known:
            for one, other in self.alike:
                f = flat(expanded(e - other + one))
                same = Flat(f.const * 0, f.items).expr()
                if same is not e and same in self._known:
                    lo, hi = self._known[same]
                    return expanded(lo + f.const), expanded(hi + f.const)
        return super()._fresh(e)


def _ranges(p: Posed) -> _Alike:
    assert p.ranges is not None
    r = p.ranges
    return _Alike(r.signs, list(r.facts), dict(r.plain), dict(r._known))


class _Patient(_Known):
    """Hypotheses of one case, of which first those are used that speak of what is asked about, and no others."""

    def _asked(self, goal: Condition) -> bool:
        if self.refutes(goal):
            return False
        names = set(goal.variables())
        near = tuple(c for c in self.hypotheses if set(c.variables()) <= names)
        # equations of products that the goal speaks of, with the signs of their factors
        equal = tuple(c for c in self.hypotheses if _equation(c) and len(names & set(c.variables())) > 1)
        more = names.union(*(c.variables() for c in equal))
        signs = tuple(c for c in self.hypotheses if _sign(c) and set(c.variables()) <= more)
        few = tuple(c for c in signs if set(c.variables()) <= names)
        for some in dict.fromkeys((few, (*signs, *equal), near)):
            if len(some) < len(self.hypotheses):
                outcome = reduced(some, goal, LIMITS)
                self.resources += outcome.resources
                if outcome.proved:
                    return True
        return super()._asked(goal)


def _sign(c: Condition) -> bool:
    """Whether a condition says that a constant is above zero."""
    return isinstance(c, Compare) and c.op == "<" and c.a is integer(0) and isinstance(c.b, Var)


def _equation(c: Condition) -> bool:
    """Whether a condition is an equation between products of constants."""
    return isinstance(c, Compare) and c.op == "==" and is_const(c.a) and is_const(c.b)


class _Again(_Search):
    """A search that is patient and knows more arguments."""

    def __init__(
        self,
        p: Posed,
        ranges: _Alike,
        rules: Sequence[ConstraintRule],
        inside: Sequence[Rule],
        *,
        ended: bool,
        every: Sequence[ConstraintRule] | None = None,
    ) -> None:
        super().__init__(p.overlap, ranges, rules, inside, _QUESTIONS, sharp=True)
        self.alike = ranges.alike
        #: whether rules that narrow bounds may be followed to their end
        self.ended = ended
        #: whether there are all rules that make one form of constraints on sums
        self.forms = has_forms(rules if every is None else every)
        self.narrowing = {r.name for r in rules if narrows(r) and monotone(r)}
        self.narrowing |= {r.name for r in rules if r.right == _NOWHERE}
        #: what the rule for expressions of the pair rewrites, and what it makes of it
        self.own: tuple[Expr, Expr] | None = None
        if p.overlap.at is not None:
            n = p.overlap.shared[0][0]
            self.own = p.overlap.start[n].e, p.second[n].e

    def known(self, given: Sequence[Condition], sides: Sequence[Side]) -> _Known:
        """The same with more patience."""
        found = super().known(given, sides)
        hypotheses = tuple(dict.fromkeys((*found.hypotheses, *_positive_factors(found.hypotheses))))
        patient = _Patient(hypotheses, found.names, self)
        patient.patience = _PATIENCE
        return patient

    def _inside(self, known: _Known, side: Side, other: Side) -> ConstraintStep | None:
        if self.own is not None:
            before, made = self.own
            for n, b in enumerate(side):
                if expanded(b.e - before) is integer(0):
                    after = (*side[:n], Bounded(made, b.lo, b.hi), *side[n + 1 :])
                    self._learn(known, b.e, made)
                    return ConstraintStep(self.overlap.inner.name, side, after, False, False)
        return super()._inside(known, side, other)

    def _learn(self, known: _Known, before: Expr, after: Expr) -> None:
        """Both have the same value."""
        if (before, after) not in self.alike:
            self.alike.append((before, after))
        same = [x.eq(y) for x, y in zip(self.ranges.of(before), self.ranges.of(after), strict=True)]
        known.found += [c for c in same if c not in (TRUE, FALSE)]
        known.assume([*self.ranges.facts, *known.found])

    def _values(self, rule: ConstraintRule, used: Side) -> Iterator[Proposal]:
        yield from super()._values(rule, used)
        if rule.choose != "greatest_common_divisor":
            return
        p, q = used
        if isinstance(p.e, Mod) and isinstance(q.e, Mod) and p.e.a is q.e.a and p.lo is p.hi and q.lo is q.hi:
            values = {"x": p.e.a, "m": p.e.b, "n": q.e.b, "s": p.lo, "t": q.lo}
            for mine in (self.overlap.mine, self.overlap.other):
                if "g" in mine:
                    yield {**values, "g": mine["g"]}, (), True

    # -- between two bounds
    def _met(
        self, known: Known, given: tuple[Condition, ...], stages: list[list[Stage]], new: int | None = None
    ) -> ConstraintJoin | None:
        found = super()._met(known, given, stages, new) or self._met_in_form(known, given, stages, new)
        if found is not None or not self.ended or new is None:
            return found
        if not any(s.rule in self.narrowing for of in stages for s in of[-1][1]):
            return None
        begun = [self._begun(of) for of in stages]
        ends = [of[-1][0] for of in stages]
        if not self._within(known, ends[0], begun[1]) or not self._within(known, ends[1], begun[0]):
            return None
        left, right = (
            (*of[-1][1], ConstraintStep(BETWEEN, end, ends[1], False, True))
            for of, end in zip(stages, ends, strict=True)
        )
        return ConstraintJoin(given, left, right, ends[1])

    # -- the form of sums
    def _met_in_form(
        self, known: Known, given: tuple[Condition, ...], stages: list[list[Stage]], new: int | None
    ) -> ConstraintJoin | None:
        """Where both sides are the same but for constants of sums and which way round they are written."""
        if not self.forms:
            return None
        first, second = (of[-1:] if n == new else of for n, of in enumerate(stages))
        for (one, left), (two, right) in itertools.product(first, second):
            end = _formed(one)
            if self.same(known, end, _formed(two)):
                begun, ended = (
                    (*of, ConstraintStep(IN_FORM, side, end, False, False))
                    for of, side in ((left, one), (right, two))
                )
                return ConstraintJoin(given, begun, ended, end)
        return None

    def _begun(self, stages: list[Stage]) -> Side:
        """What one side was before its last steps, if those only narrow bounds."""
        _, steps = stages[-1]
        for n in range(len(steps), 0, -1):
            if steps[n - 1].rule not in self.narrowing:
                return steps[n - 1].after
        return stages[0][0]

    def _within(self, known: Known, one: Side, two: Side) -> bool:
        """Whether bounds lie within others on the same expressions."""
        if one == _NOWHERE:
            return True
        if len(one) != len(two) or two == _NOWHERE:
            return False
        rest = list(two)
        for b in one:
            n = next((n for n, c in enumerate(rest) if expanded(b.e - c.e) is integer(0)), None)
            if n is None:
                return False
            c = rest.pop(n)
            if not all(x is y or known.proves(y <= x) for x, y in ((b.lo, c.lo), (c.hi, b.hi))):
                return False
        return True


def _formed(side: Side) -> Side:
    """The same solutions, of expressions without constants that are turned one way."""
    made: list[Bounded] = []
    for b in side:
        f = flat(b.e)
        e = Flat(integer(0), f.items).expr()
        lo, hi = (expanded(_turned(x) - f.const) for x in (b.lo, b.hi))
        minus = expanded(-e)
        made.append(
            Bounded(minus, expanded(-hi), expanded(-lo)) if str(minus) < str(e) else Bounded(e, lo, hi)
        )
    return tuple(made)


def _turned(e: Expr) -> Expr:
    """``e`` without divisions by minus one."""
    at = {n: -n.a for n in postorder(e) if isinstance(n, (FloorDiv, CeilDiv)) and n.b is integer(-1)}
    return e.substitute(at) if at else e


def _positive_factors(given: Sequence[Condition]) -> Iterator[Condition]:
    """Factors of products above zero whose other factor is above zero."""
    above = {c.b for c in given if isinstance(c, Compare) and c.op == "<" and c.a is integer(0)}
    blocks = [expanded(c.hi + 1) for c in given if isinstance(c, Within) and c.lo is integer(0)]
    for product in (*above, *blocks):
        factors = list(product.factors) if isinstance(product, Mul) else []
        for f in factors:
            others = [g for g in factors if g is not f]
            if len(others) == 1 and f in above:
                yield others[0] > 0


def _applies(p: Posed, rules: Sequence[ConstraintRule]) -> bool:
    """Whether a rule of the pair may apply to the side that the rule for expressions has made, whatever its conditions."""
    search = _Again(p, _ranges(p), rules, (), ended=False)
    return any(
        True
        for rule in rules
        for used in itertools.permutations(p.second, len(rule.left))
        for _ in search._values(rule, used)
    )


def join_again(
    p: Posed, rules: Sequence[ConstraintRule], inside: Sequence[Rule] = ()
) -> list[ConstraintJoin] | None:
    """A common result of both sides in every case, or nothing; none at all if no integers satisfy what is given."""
    pair = [r for r in (p.overlap.outer, p.overlap.inner) if isinstance(r, ConstraintRule)]
    endings = [r for r in rules if r.right == _NOWHERE and len(r.left) == 1]
    anything = [r for r in rules if len(r.left) == 1 and isinstance(r.left[0].e, Var) and r not in endings]
    plain = [r for r in rules if len(r.left) == 1 and r not in endings and r not in anything]
    tight = [r for r in rules if narrows(r) and len(r.left) == 2]
    ended = all(any(map(needed, rules)) for needed in (intersecting, empties, satisfied))
    every = [*pair, *plain, *tight, *anything, *endings]
    attempts = [[*endings, *pair]]
    if p.overlap.at is not None and len(p.overlap.start) == 2 and not _applies(p, pair):
        # the rule for two constraints no longer sees them on the side where one was rewritten
        return None
    if p.overlap.at is None:
        # where a rule for expressions takes part, both ways meet soon or not at all
        attempts.append([*pair, *endings])
        # many rules have too many places where there are three constraints
        attempts += [[*anything, *endings, *pair], every] if len(p.overlap.start) == 2 else []
    elif len(p.overlap.start) == 1:
        attempts.append([*pair, *plain])
    questions = _QUESTIONS if p.overlap.at is None else _INSIDE
    for some in attempts:
        search = _Again(p, _ranges(p), tuple(dict.fromkeys(some)), inside, ended=ended, every=rules)
        search.questions = questions
        found = search.cases(p.given, p.first, p.second, (), (), _DEPTH)
        if found is not None:
            return found
    return None
