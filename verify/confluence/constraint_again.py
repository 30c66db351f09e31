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
- *One range.*  Bounds that are the same as far as their expression reaches meet its range, or hold nowhere.
- *Quotients that are known.*  Where what a divisor is multiplied with in bounds may lie on either side of the quotient that
  is known, these are cases, and each says how the products lie to each other.
- *A common divisor.*  If some common divisor of two moduli shows that two remainders contradict each other, so does the
  greatest one, which the strategy proposes.
"""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace

from ...core.condition import FALSE, TRUE, And, Compare, Condition, Or, Within, all_exprs
from ...core.expr import (
    CeilDiv,
    Expr,
    FloorDiv,
    Int,
    Max,
    Min,
    Mod,
    Mul,
    Sum,
    Var,
    integer,
    maximum,
    minimum,
    mul,
    postorder,
)
from ...core.rewrite import Bounded, ConstraintRule, Rule
from ..preprocess import definition
from ..solve import reduced
from .cases import cancelled
from .constraint_joining import (
    _NOWHERE,
    ConstraintJoin,
    ConstraintStep,
    Proposal,
    Stage,
    _Known,
    _Search,
)
from .constraint_posed import Posed, Ranges, Side, posed
from .joining import LIMITS, Known
from .linear_form import has_forms
from .tightening import empties, intersecting, monotone, narrows, satisfied
from .unify import Flat, expanded, flat, is_const, rational

__all__ = ["BETWEEN", "IN_FORM", "IN_RANGE", "join_again", "may_combine"]

#: What stands for the steps of rules that narrow bounds, of which nobody has counted how many there are.
BETWEEN = "rules that narrow bounds, as long as they do"
#: What stands for the steps of rules that make one form of constraints on sums.
IN_FORM = "rules for the form of sums, as long as they apply"
#: What stands for the steps after which bounds reach no further than what they bound.
IN_RANGE = "bounds meet the range, or hold nowhere"
#: Counts: questions of each attempt, and where a rule for expressions takes part; comparisons with more patience of each
#: case, and how often cases are told apart.
_QUESTIONS = 60
_INSIDE = 24
_PATIENCE = 4
_DEPTH = 3
#: So many cases of signs and quotients are told apart.
_MANY = 24


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
        whole = rules if every is None else every
        #: whether bounds are met with what an expression may be
        self.meets = any(r.choose == "whole_range" and narrows(r) for r in whole) and any(map(empties, whole))
        self.narrowing = {r.name for r in rules if narrows(r) and monotone(r)}
        self.narrowing |= {r.name for r in rules if r.right == _NOWHERE}
        #: what the rule for expressions of the pair rewrites, and what it makes of it
        self.own: tuple[Expr, Expr] | None = None
        if p.overlap.at is not None:
            n = p.overlap.shared[0][0]
            self.own = p.overlap.start[n].e, p.second[n].e
            # what was rewritten already has the same ends, too
            self.alike.append(self.own)

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
        found = (
            super()._met(known, given, stages, new)
            or self._met_in_form(known, given, stages, new)
            or self._met_in_range(known, given, stages, new)
        )
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
            if self.same(known, end, _formed(two)) or self._solved_alike(one, two, (*left, *right)):
                begun, ended = (
                    (*of, ConstraintStep(IN_FORM, side, end, False, False))
                    for of, side in ((left, one), (right, two))
                )
                return ConstraintJoin(given, begun, ended, end)
        return None

    def _solved_alike(self, one: Side, two: Side, steps: Sequence[ConstraintStep]) -> bool:
        """Whether both are one constraint on the same sum but for factor and constant, with the same solutions.

        They have these if all steps, and the pair, ask for nothing but numbers: then nothing is lost of integers.
        """
        if len(one) != 1 or len(two) != 1 or _NOWHERE in (one, two):
            return False
        f, g = (flat(side[0].e) for side in (one, two))
        if not f.items or [t for _, t in f.items] != [t for _, t in g.items]:
            return False
        if any(
            expanded(mul(k, g.items[0][0]) - mul(j, f.items[0][0])) is not integer(0)
            for (k, _), (j, _) in zip(f.items, g.items, strict=True)
        ):
            return False
        rules: list[Rule | ConstraintRule] = [*self.rules, *self.inside]
        exact = {r.name for r in rules if _of_constants(r)}
        pair = (self.overlap.outer.name, self.overlap.inner.name)
        return all(name in exact for name in (*pair, *(s.rule for s in steps)))

    # -- what an expression may be
    def _met_in_range(
        self, known: Known, given: tuple[Condition, ...], stages: list[list[Stage]], new: int | None
    ) -> ConstraintJoin | None:
        """Where both sides have the same expressions, and bounds that are the same as far as these reach.

        Then bounds meet the range on both sides, or reach beyond it, and hold nowhere.
        """
        if not self.meets or new is None:
            return None
        (one, left), (two, right) = (of[-1] for of in stages)
        if len(one) != len(two) or _NOWHERE in (one, two):
            return None
        end: list[Bounded] = []
        rest = list(two)
        for b in one:
            c = next((c for c in rest if expanded(b.e - c.e) is integer(0)), None)
            if c is None or not self._alike_in_range(known, b, c):
                return None
            rest.remove(c)
            lo, hi = self.ranges.of(b.e)
            same = b.lo is c.lo and b.hi is c.hi
            end.append(b if same else Bounded(b.e, maximum(b.lo, lo), minimum(b.hi, hi)))
        begun, ended = (
            (*of, ConstraintStep(IN_RANGE, side, tuple(end), False, True))
            for of, side in ((left, one), (right, two))
        )
        return ConstraintJoin(given, begun, ended, tuple(end))

    def _alike_in_range(self, known: Known, b: Bounded, c: Bounded) -> bool:
        """Whether bounds are the same where they are met with the range of their expression."""
        if b.lo is c.lo and b.hi is c.hi:
            return True
        lo, hi = self.ranges.of(b.e)

        def below(x: Sequence[Expr], y: Sequence[Expr], *, least: bool) -> bool:
            return all(any(e is f or known.implies(e <= f if least else f <= e) for f in y) for e in x)

        x, y = ([*_args(s.lo, Max), lo] for s in (b, c))
        u, v = ([*_args(s.hi, Min), hi] for s in (b, c))
        return (
            below(x, y, least=True)
            and below(y, x, least=True)
            and below(u, v, least=False)
            and below(v, u, least=False)
        )

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


def _of_constants(rule: Rule | ConstraintRule) -> bool:
    """Whether a rule asks for nothing but numbers."""
    return all(v.kind == "const" for c in rule.conditions for v in c.variables())


def _args(e: Expr, of: type[Max] | type[Min]) -> Sequence[Expr]:
    return e.args if isinstance(e, of) else (e,)


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


def may_combine(p: Posed) -> bool:
    """Whether a rule wants to see a summand with which something may combine that the rule for expressions makes.

    Symbols see nothing of that, because they take the rest of a sum for one summand.
    """
    o = p.overlap
    if o.at is None or o.outer.choose not in ("summand", "dividend"):
        return False
    before, after = ({t for _, t in flat(e).items} for e in (o.start[0].e, p.second[0].e))
    return o.shared[0][0] == 0 and not after <= before


def _with_factors(p: Posed) -> list[Posed]:
    """The pair with a constant that an equation gives where common factors are cancelled that are not zero.

    A factor is not zero where a product is not.
    """
    o = p.overlap
    products = (e for c in p.given for e in all_exprs(c) if e.ne(0) == c)
    parts = [t for e in products for t, _ in _terms(e)]
    factors = dict.fromkeys(f for t in parts if isinstance(t, Mul) for f in t.factors)
    facts = (*p.given, *(f.ne(0) for f in factors))
    for c in p.given:
        d = definition(cancelled(c, facts), short=False) if _equation(c) else None
        if d is not None and d[0] in o.constants and d[0] not in d[1].variables():
            with suppress(ZeroDivisionError):
                made = replace(o.put({d[0]: d[1]}))
                return [q for q in posed(made) if not q.never]
    return [p]


def join_again(
    p: Posed, rules: Sequence[ConstraintRule], inside: Sequence[Rule] = ()
) -> list[ConstraintJoin] | None:
    """A common result of both sides in every case, or nothing; none at all if no integers satisfy what is given."""
    if may_combine(p):
        return None
    found = _joined_again(p, rules, inside)
    if found is not None or p.overlap.at is None or len(p.overlap.start) > 1:
        return found
    cases = _with_factors(p)
    if cases == [p]:
        return None
    made = [_joined_again(q, rules, inside) for q in cases]
    return None if any(m is None for m in made) else [j for m in made if m for j in m]


def _joined_again(
    p: Posed, rules: Sequence[ConstraintRule], inside: Sequence[Rule]
) -> list[ConstraintJoin] | None:
    pair = [r for r in (p.overlap.outer, p.overlap.inner) if isinstance(r, ConstraintRule)]
    endings = [r for r in rules if r.right == _NOWHERE and len(r.left) == 1]
    anything = [r for r in rules if len(r.left) == 1 and isinstance(r.left[0].e, Var) and r not in endings]
    plain = [r for r in rules if len(r.left) == 1 and r not in endings and r not in anything]
    tight = [r for r in rules if narrows(r) and len(r.left) == 2]
    ended = all(any(map(needed, rules)) for needed in (intersecting, empties, satisfied))
    every = [*pair, *plain, *tight, *anything, *endings]
    attempts = [[*endings, *pair]]
    gone = p.overlap.at is not None and len(p.overlap.start) == 2 and not _applies(p, pair)
    if gone:
        # the rule for two constraints no longer sees them on the side where one was rewritten
        attempts = [[*endings, *anything, *pair, *plain, *tight]]
    elif p.overlap.at is None:
        # where a rule for expressions takes part, both ways meet soon or not at all
        attempts.append([*pair, *endings])
        # many rules have too many places where there are three constraints
        attempts += [[*anything, *endings, *pair], every] if len(p.overlap.start) == 2 else []
    elif len(p.overlap.start) == 1:
        attempts += [[*pair, *plain], [*endings, *anything, *pair]]
    questions = _QUESTIONS if p.overlap.at is None or gone else _INSIDE
    options: list[list[_Given]] = [[()], _cases(p)]
    # the cases are told apart only where that is needed
    for cases, some in itertools.product(options[: 1 + (options[1] != [()])], attempts):
        found = []
        for more in cases:
            ranges = _signed(p, more)
            search = _Again(p, ranges, tuple(dict.fromkeys(some)), inside, ended=ended, every=rules)
            search.questions = questions
            made = search.cases((*p.given, *more), p.first, p.second, (), (), _DEPTH)
            if made is None:
                break
            found += made
        else:
            return found
    return None


#: What is known in one case.
_Given = tuple[Condition, ...]


def _cases(p: Posed) -> list[_Given]:
    """The cases of signs, of blocks, and of how numbers compare with the quotients that are known."""
    found: list[_Given] = [()]
    options: list[list[_Given]] = [_signs(p)]
    options += [[(c,) for c in of.parts()] for of in p.given if isinstance(of, Or)]
    for parts in options:
        found = [(*case, *part) for case in found for part in parts]
    out: list[_Given] = []
    for case in found:
        here = tuple(q for c in case for q in (c.parts() if isinstance(c, And) else (c,)))
        facts = [*here, *_ends(p, here)]
        made: list[_Given] = [tuple(facts)]
        for one, two in _comparisons(p, (*p.given, *here)):
            made = [(*m, *part) for m in made for part in (one, two)]
        out += made
    return out if len(out) <= _MANY else [()]


def _ends(p: Posed, given: Sequence[Condition]) -> Iterator[Condition]:
    """What always lies between two bounds does so where it is least, and where it is greatest."""
    ranges = _ranges(p)
    for c in given:
        if isinstance(c, Within) and not is_const(c.e):
            lo, hi = ranges.of(c.e)
            yield from (c.lo <= lo, hi <= c.hi)


def _blocks(given: Sequence[Condition]) -> Iterator[tuple[Expr, Var]]:
    """Quotients that are known, and their divisors, which are above zero."""
    above = {c.b for c in given if isinstance(c, Compare) and c.op == "<" and c.a is integer(0)}
    for c in given:
        if isinstance(c, Within) and not is_const(c.e):
            for d in above:
                q = rational(flat(c.e).const, d) if isinstance(d, Var) else None
                if isinstance(d, Var) and q is not None and q is not integer(0):
                    yield (q if _plus(q) else expanded(-q)), d


def _plus(e: Expr) -> bool:
    return not (isinstance(e, Sum) and len(e.terms) == 1 and e.terms[0][1] < 0)


def _comparisons(p: Posed, given: Sequence[Condition]) -> Iterator[tuple[_Given, _Given]]:
    """How what a divisor is multiplied with in bounds compares with the quotient, in two cases, each with products.

    The quotient is the one that is known, or that of the least or greatest value of what is bounded.
    """
    above = {c.b for c in given if isinstance(c, Compare) and c.op == "<" and c.a is integer(0)}
    known = list(_blocks(given))
    seen: set[tuple[Expr, Expr]] = set()
    for b in dict.fromkeys((*p.first, *p.second)):
        for bound, lower in ((b.lo, True), (b.hi, False)):
            args = bound.args if isinstance(bound, (Max, Min)) else (bound,)
            for t, k in (term for e in args for term in _terms(e)):
                for d in (f for f in above if isinstance(f, Var)):
                    times = rational(t, d)
                    if times is None or isinstance(times, Int):
                        continue
                    quotients = [q for q, f in known if f is d] or list(_of_ends(p, b.e, d, lower == (k > 0)))
                    for q in quotients:
                        if (times, q) not in seen:
                            seen.add((times, q))
                            yield _compared(times, q, d, above, least=lower == (k > 0))


def _terms(e: Expr) -> Sequence[tuple[Expr, int]]:
    if isinstance(e, Sum):
        return e.terms
    return () if isinstance(e, Int) else ((e, 1),)


def _of_ends(p: Posed, e: Expr, d: Var, least: bool) -> Iterator[Expr]:
    if any(
        isinstance(n, FloorDiv) and n.b is d and n.a is e for c in p.overlap.start for n in postorder(c.e)
    ):
        yield _ranges(p).of(e)[0 if least else 1] // d


def _compared(t: Expr, q: Expr, d: Expr, above: Collection[Expr], *, least: bool) -> tuple[_Given, _Given]:
    """Whether ``t`` is at most ``q``, or at least where it is an upper bound; with both times the divisor."""
    whole = [mul(d, t), mul(d, q)]
    x, y = (expanded(e) for e in whole)
    yes: list[Condition] = [t <= q, x <= y] if least else [q <= t, y <= x]
    no: list[Condition] = [q + 1 <= t, y + d <= x] if least else [t + 1 <= q, x + d <= y]
    if isinstance(t, CeilDiv if least else FloorDiv):
        u, k = t.a, t.b
        product = expanded(mul(k, q))
        if k in above:
            more = (u <= product, product < u) if least else (product <= u, u < product)
        elif expanded(-k) in above:
            more = (product <= u, u < product) if least else (u <= product, product < u)
        else:
            return tuple(yes), tuple(no)
        yes.append(more[0])
        no.append(more[1])
    if isinstance(q, FloorDiv):
        for facts in (yes, no):
            facts += [y <= q.a, q.a <= y + d - 1]
    return tuple(yes), tuple(no)


def _signs(p: Posed) -> list[tuple[Condition, ...]]:
    """The cases of the sign of a divisor, if it is not known of one; one case otherwise."""
    for b in p.overlap.start:
        for n in postorder(b.e):
            if isinstance(n, (FloorDiv, Mod)) and isinstance(n.b, Var):
                v = n.b
                if not {v > 0, v > 1, v < 0} & set(p.given):
                    return [(v > 0,), (v < 0,)]
    return [()]


def _signed(p: Posed, more: Sequence[Condition]) -> _Alike:
    """Ranges with the signs of more divisors."""
    ranges = _ranges(p)
    if not more:
        return ranges
    ranges.signs = frozenset((*ranges.signs, *more))
    for e, lo, hi in ranges.symbols():
        if isinstance(e, Mod) and (e.b > 0) in more:
            ranges.facts += [lo >= 0, hi <= e.b - 1]
        elif isinstance(e, Mod) and (e.b < 0) in more:
            ranges.facts += [e.b + 1 <= lo, hi <= 0]
    return ranges
