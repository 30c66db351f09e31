"""Joining both results of an overlap of constraint rules with symbols for constants, expressions and what they may be.

What the strategies that look at ranges propose is known in terms of symbols for these (:mod:`.constraint_posed`), so a step
by such a rule is one that is taken.  A step needs that the hypotheses imply the conditions of its rule.
Where they neither imply nor exclude them there are two cases, one in which the step is taken and one in which it is not,
and both must join.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from ...core.condition import FALSE, TRUE, And, Compare, Condition, Or, Within, all_of
from ...core.expr import (
    CeilDiv,
    Expr,
    FloorDiv,
    Int,
    Max,
    Min,
    Mod,
    Sum,
    Var,
    integer,
    maximum,
    mul,
    var,
)
from ...core.rewrite import Bounded, ConstraintRule, Rule
from ...rules.constraints import NOWHERE
from .. import linear
from ..solve import reduced
from .constraint_overlap import ConstraintOverlap
from .constraint_posed import Posed, Ranges, Side, put, rest_and_constant, strategy_says
from .joining import Known, Rewriter
from .unify import OPEN, State, conditions_of, expanded, factors_of, flat, is_const, rational, unify

__all__ = ["SINGLE", "ConstraintJoin", "ConstraintStep", "join_constraints"]

#: The constraint that holds nowhere, alone.
_NOWHERE: Side = (NOWHERE,)
#: Limits of the search, as counts.
_CHAIN = 8
_DEPTH = 5
_SPLITS = 4
_CASES = 16
QUESTIONS = 100
_LIMITS = linear.Budget(
    rlimit=120_000, questions=8, instances=160, readings=6, leaves=12, splits=2, rounds=5, patient=False
)
#: Strategies that say the same whenever they are asked about the same constraints.
SINGLE = frozenset(
    {
        "common_multiple",
        "content",
        "greatest_common_divisor",
        "negative_content",
        "residue",
        "both_ranges",
        "summand",
        "whole_range",
    }
)


@dataclass(frozen=True)
class ConstraintStep:
    """``rule`` turned ``before`` into ``after``; ``chosen`` if its strategy may not propose what was chosen."""

    rule: str
    before: Side
    after: Side
    chosen: bool
    ranges: bool


@dataclass(frozen=True)
class ConstraintJoin:
    """Both sides meet in ``meets`` in one case; ``given`` says which."""

    given: tuple[Condition, ...]
    left: tuple[ConstraintStep, ...]
    right: tuple[ConstraintStep, ...]
    meets: Side


def join_constraints(
    p: Posed,
    rules: Sequence[ConstraintRule],
    inside: Sequence[Rule] = (),
    questions: int = QUESTIONS,
) -> list[ConstraintJoin] | None:
    """A common result of both sides in every case, or nothing; none at all if no integers satisfy what is given.

    First by the rules of the pair, and those that always apply, because both ways often meet where each is followed by
    the other; then also by those that find that nothing is left, by those that see any expression, and by all; at last by
    those that look at ranges first, with more known of these.  Rules for expressions rewrite ``inside`` constraints where
    one of the pair is such a rule, and where all rules are tried.
    """
    assert p.ranges is not None
    pair = [r for r in (p.overlap.outer, p.overlap.inner) if isinstance(r, ConstraintRule)]
    # the same for factors of the other sign, and what has no conditions
    kin = [r for r in rules if r.choose and any(r.choose == q.choose for q in pair)]
    always = [*kin, *(r for r in rules if not r.conditions)]
    endings = [r for r in rules if r.right == _NOWHERE]
    anything = [r for r in rules if all(isinstance(b.e, Var) for b in r.left)]
    every = [*(r for r in rules if r not in anything), *anything]
    ranges = [r for r in anything if r.choose == "whole_range"]
    tried: list[tuple[tuple[ConstraintRule, ...], bool]] = []
    last = [*pair, *every]
    tiers = [
        ([*pair, *always], 1.0, False),
        ([*pair, *always, *endings], 0.7, False),
        ([*pair, *always, *endings, *anything], 0.5, False),
        (last, 0.5, False),
        # what is nothing is seen before it is made smaller, and what an expression may be says most about its bounds
        ([*endings, *pair, *always], 0.7, True),
        ([*ranges, *endings, *pair, *always, *anything], 1.2, True),
    ]
    if len(p.overlap.start) > 2:
        # many rules have too many places there
        tiers = [t for n, t in enumerate(tiers) if n in (0, 1, 4)]
    for more, asked, sharp in tiers:
        some = tuple(dict.fromkeys(more))
        if (some, sharp) in tried:
            continue
        tried.append((some, sharp))
        within = inside if p.overlap.at is not None or more is last else ()
        search = _Search(p.overlap, p.ranges, some, within, int(asked * questions), sharp=sharp)
        found = search.cases(p.given, p.first, p.second, (), (), _DEPTH)
        if found is not None:
            return found
    return None


class _Known(Known):
    """Hypotheses of one case: all cases of an overlap share one count of questions, each of them a short one."""

    def __init__(self, hypotheses: Sequence[Condition], names: Sequence[Var], search: _Search) -> None:
        self.search = search
        super().__init__(hypotheses, names)
        self.limits = _LIMITS
        self.patience = 0
        #: what steps of this case show
        self.found: list[Condition] = []

    def defined(self) -> list[tuple[Var, Expr]]:
        """Also the ends of what an expression may be, which lie around its value: points at random hardly satisfy that."""
        found = super().defined()
        done = {v for v, _ in found}
        around: list[tuple[Var, Expr]] = []
        for n, (e, lo, hi) in enumerate(self.search.ranges.symbols()):
            if (
                lo in self.names
                and hi in self.names
                and not {lo, hi} & done
                and set(e.variables()) <= set(self.names)
            ):
                below, above = var(f"·{n}↓", "const"), var(f"·{n}↑", "const")
                self.names += [v for v in (below, above) if v not in self.names]
                around += [(lo, e - maximum(below, 0)), (hi, e + maximum(above, 0))]
        return [*reversed(around), *found]

    def _asked(self, goal: Condition) -> bool:
        if self.refutes(goal):
            return False
        if isinstance(goal, Or) and any(self.implies(part) for part in goal.parts()):
            return True
        parts = _without_extrema(goal) if self.search.sharp else [goal]
        if len(parts) > 1:
            return all(self.implies(part) for part in parts)
        self.search.questions -= 1
        return self.search.questions >= 0 and super()._asked(goal)


def _without_extrema(c: Condition) -> list[Condition]:
    """Conditions that together say the same: what is at least a maximum is at least each of its arguments."""
    if isinstance(c, And):
        return [p for part in c.parts() for p in _without_extrema(part)]
    if isinstance(c, Within) and (isinstance(c.lo, Max) or isinstance(c.hi, Min)):
        return [*_without_extrema(c.lo <= c.e), *_without_extrema(c.e <= c.hi)]
    if isinstance(c, Compare) and c.op in ("<=", "<"):
        below = c.a.args if isinstance(c.a, Max) else (c.a,)
        above = c.b.args if isinstance(c.b, Min) else (c.b,)
        if len(below) + len(above) > 2:
            pairs = itertools.product(below, above)
            return [x <= y if c.op == "<=" else x < y for x, y in pairs]
    return [c]


#: Values of a rule's variables, equations for which they are that, and whether the strategy proposes them for sure.
Proposal = tuple[dict[str, Expr], tuple[Condition, ...], bool]
#: What one side is, and the steps that led there.
Stage = tuple[Side, tuple[ConstraintStep, ...]]


class _Search:
    def __init__(
        self,
        o: ConstraintOverlap,
        ranges: Ranges,
        rules: Sequence[ConstraintRule],
        inside: Sequence[Rule],
        questions: int,
        *,
        sharp: bool = False,
    ) -> None:
        self.overlap = o
        #: whether ends of sums are related to those of their parts, and maxima and minima in bounds are taken apart
        self.sharp = sharp
        self.ranges = ranges
        self.rules = tuple(rules)
        self.inside = tuple(inside)
        #: how many cases, and how many questions, there may be yet
        self.left = _CASES
        self.questions = questions

    def known(self, given: Sequence[Condition], sides: Sequence[Side]) -> _Known:
        """The hypotheses with what is known of the ranges of everything there is."""
        for b in itertools.chain.from_iterable(sides):
            self.ranges.of(b.e)
        names = [v for side in sides for b in side for x in (b.e, b.lo, b.hi) for v in x.variables()]
        facts: Iterable[Condition] = [*given, *self.ranges.facts]
        if self.sharp:
            facts = [p for c in (*facts, *self.ranges.relations()) for p in _without_extrema(c)]
        return _Known(tuple(dict.fromkeys(facts)), tuple(dict.fromkeys(names)), self)

    def cases(
        self,
        given: tuple[Condition, ...],
        one: Side,
        two: Side,
        left: tuple[ConstraintStep, ...],
        right: tuple[ConstraintStep, ...],
        depth: int,
    ) -> list[ConstraintJoin] | None:
        """A common result in every case."""
        self.left -= 1
        if self.left < 0 or self.questions <= 0:
            return None
        known = self.known(given, (one, two))
        if not len(known.points) and reduced(known.hypotheses, FALSE, _LIMITS).proved:
            return []
        stages: list[list[Stage]] = [[(one, left)], [(two, right)]]
        met = self._met(known, given, stages)
        if met is not None:
            return [met]
        open_: list[list[Condition]] = [[], []]
        for n in (0, 1):
            for _ in range(_CHAIN):
                open_[n] = []
                steps = stages[n][-1][1]
                step = self._step(known, stages[n][-1], stages[1 - n][-1][0], open_[n])
                if step is None:
                    break
                stages[n].append((step.after, (*steps, step)))
                met = self._met(known, given, stages, n)
                if met is not None:
                    return [met]
        if not depth:
            return None
        (one, left), (two, right) = stages[0][-1], stages[1][-1]
        given = (*given, *known.found)
        splits = [c for c in itertools.chain(*itertools.zip_longest(*open_)) if c is not None]
        for c in list(dict.fromkeys(splits))[:_SPLITS]:
            parts = c.parts() if isinstance(c, And) else (c,)
            yes = self.cases((*given, *parts), one, two, left, right, depth - 1)
            if yes is None:
                continue
            no = self.cases((*given, ~c), one, two, left, right, depth - 1)
            if no is not None:
                return [*yes, *no]
        return None

    def _met(
        self, known: Known, given: tuple[Condition, ...], stages: list[list[Stage]], new: int | None = None
    ) -> ConstraintJoin | None:
        """Where both sides are the same, if they were so anywhere; of the side ``new`` only the last stage is."""
        first, second = (of[-1:] if n == new else of for n, of in enumerate(stages))
        for (one, left), (two, right) in itertools.product(first, second):
            if self.same(known, one, two):
                return ConstraintJoin(given, left, right, one)
        return None

    # -- one side
    def _step(
        self, known: _Known, stage: Stage, other: Side, open_: list[Condition]
    ) -> ConstraintStep | None:
        """A certain step, or the conditions of steps that may be possible."""
        side, steps = stage
        if side == _NOWHERE:
            return None
        for rule in self.rules:
            if rule.choose == "negative_content" and any(s.rule == rule.name for s in steps):
                # what was turned round is not turned back
                continue
            for chosen in itertools.permutations(range(len(side)), len(rule.left)):
                used = tuple(side[n] for n in chosen)
                for conditions, after, sure in self._applied(known, rule, used):
                    asked = [c for c in conditions if not known.implies(c)]
                    whole = self._whole(side, chosen, after)
                    if not asked and not self.same(known, whole, side):
                        ranges = bool(
                            {"whole_range", "both_ranges", "summand", "dividend"} & {rule.choose}
                        ) or (any(not is_const(e) for c in rule.conditions for e in c.exprs()))
                        return ConstraintStep(rule.name, side, whole, not sure, ranges)
                    if asked and not known.implies(~all_of(asked)):
                        open_.append(all_of(asked))
        return self._inside(known, side, other)

    def _inside(self, known: _Known, side: Side, other: Side) -> ConstraintStep | None:
        """A step of a rule for expressions within a constraint."""
        if not self.inside:
            return None
        search = Rewriter(self.inside, known)
        for n, b in enumerate(side):
            target = next((c.e for c in other if c.lo is b.lo and c.hi is b.hi), b.e)
            for s in search.steps(b.e, target):
                # what is rewritten may be what it was before, and has the same ends
                same = [x.eq(y) for x, y in zip(self.ranges.of(b.e), self.ranges.of(s.after), strict=True)]
                known.found += [c for c in same if c != TRUE]
                known.assume([*self.ranges.facts, *known.found])
                after = (*side[:n], Bounded(s.after, b.lo, b.hi), *side[n + 1 :])
                return ConstraintStep(s.rule, side, after, s.chosen, False)
        return None

    @staticmethod
    def _whole(side: Side, chosen: Sequence[int], after: Side) -> Side:
        whole = (*(b for n, b in enumerate(side) if n not in chosen), *after)
        if any(b == _NOWHERE[0] for b in whole):
            return _NOWHERE
        return tuple(dict.fromkeys(whole))

    def _applied(
        self, known: Known, rule: ConstraintRule, used: Side
    ) -> Iterator[tuple[list[Condition], Side, bool]]:
        """Conditions, results, and whether the strategy proposes that for sure."""
        for values, equations, sure in self._values(rule, used):
            at: dict[Var, Expr] = {v: values[v.name] for v in rule.variables if v.name in values}
            if len(at) < len(rule.variables):
                continue
            never, more, _ = strategy_says(rule, values, self.ranges)
            if never:
                continue
            wanted = [*equations, *(c.substitute(at) for c in rule.conditions)]
            # what is proposed only of variables is what the symbols for their constants say
            wanted = [c for c in (*wanted, *more) if c != TRUE]
            if FALSE in wanted:
                continue
            if any(not set(c.variables()) <= set(known.names) for c in wanted):
                # ranges of what was not there when this case began
                known.assume(self.ranges.facts)
            yield wanted, tuple(put(b, at) for b in rule.right), sure

    def _values(self, rule: ConstraintRule, used: Side) -> Iterator[Proposal]:
        """Values of the rule's variables, equations for which they are that, and whether its strategy proposes them."""
        own = self._own(rule, used)
        if own is not None:
            yield *own, True
            if rule.choose in SINGLE:
                return
        match rule.choose:
            case "content" | "negative_content":
                yield from ((v, (), False) for v in _factors(rule.choose, used[0]))
            case "whole_range":
                b = used[0]
                lo, hi = self.ranges.of(b.e)
                yield {"x": b.e, "lo": b.lo, "hi": b.hi, "a": lo, "b": hi}, (), True
            case "both_ranges":
                b = used[0]
                (left,) = rule.left
                if type(b.e) is type(left.e) and len(b.e.children) == 2:
                    for x, y in (b.e.children, b.e.children[::-1]):
                        (p, q), (r, s) = self.ranges.of(x), self.ranges.of(y)
                        values = {"x": x, "y": y, "lo": b.lo, "hi": b.hi, "a": p, "b": q, "c": r, "d": s}
                        yield values, (), True
            case "summand" | "dividend":
                yield from ((v, (), True) for v in self._summands(rule.choose, used))
            case "common_multiple":
                yield from ((v, (), False) for v in self._multiples(used))
            case "greatest_common_divisor":
                pass
            case "residue":
                yield from ((v, (), False) for v in self._residues(used[0]))
            case _:
                yield from ((v, equations, True) for v, equations in _matches(rule, used, self.ranges))

    def _own(self, rule: ConstraintRule, used: Side) -> tuple[dict[str, Expr], tuple[Condition, ...]] | None:
        """What the pair itself says that the strategy proposes for these constraints, if their bounds are worth that."""
        o = self.overlap
        for mine, values in ((o.outer, o.mine), (o.inner, o.other)):
            if mine is rule and rule.choose in ("residue", "common_multiple", "greatest_common_divisor"):
                at: dict[Var, Expr] = {v: values[v.name] for v in rule.variables}
                its = tuple(put(b, at) for b in rule.left)
                if all(b.e is c.e for b, c in zip(its, used, strict=True)):
                    ends = [
                        (x, y)
                        for b, c in zip(its, used, strict=True)
                        for x, y in ((b.lo, c.lo), (b.hi, c.hi))
                    ]
                    return dict(values), tuple(x.eq(y) for x, y in ends if x is not y)
        return None

    def _summands(self, choose: str, used: Side) -> Iterator[dict[str, Expr]]:
        whole, part = used
        f = flat(whole.e)
        for n, (k, t) in enumerate(f.items if len(f.items) > 1 else ()):
            values = {"k": k, "lo": whole.lo, "hi": whole.hi, "a": part.lo, "b": part.hi}
            r = f.without(n).expr()
            p, q = self.ranges.of(r)
            values |= {"r": r, "p": p, "q": q}
            if choose == "summand" and t is part.e:
                yield {**values, "x": t}
            elif choose == "dividend" and isinstance(t, FloorDiv) and t.a is part.e:
                yield {**values, "x": t.a, "d": t.b}

    def _residues(self, b: Bounded) -> Iterator[dict[str, Expr]]:
        """The constant leaves the dividend of a remainder that is known."""
        if isinstance(b.e, Mod) and b.lo is b.hi:
            c = self.ranges.constant(b.e.a)
            if c is not integer(0) and not any(v.name.endswith("∘") for v in c.variables()):
                one = integer(1)
                y, t = expanded(b.e.a - c), (b.lo - c) % b.e.b
                yield {"x": b.e.a, "y": y, "m": b.e.b, "s": b.lo, "t": t, "u": one, "v": one}

    @staticmethod
    def _multiples(used: Side) -> Iterator[dict[str, Expr]]:
        """A modulus that the other divides is the least common multiple of both."""
        p, q = used
        if isinstance(p.e, Mod) and isinstance(q.e, Mod) and p.e.a is q.e.a and p.lo is p.hi and q.lo is q.hi:
            m, n, s, t = p.e.b, q.e.b, p.lo, q.lo
            c = rational(m, n)
            if c is not None:
                values = {"x": p.e.a, "m": m, "n": n, "s": s, "t": t, "k": m, "w": s}
                yield {**values, "a": integer(1), "b": c, "u": integer(1), "v": integer(0)}

    # -- equality
    def same(self, known: Known, one: Side, two: Side) -> bool:
        """Whether both are the same constraints, bounds compared by value."""
        rest = list(two)
        if len(one) != len(two):
            return False
        for b in one:
            n = next((n for n, c in enumerate(rest) if self._equal(known, b, c)), None)
            if n is None:
                return False
            rest.pop(n)
        return True

    def _equal(self, known: Known, b: Bounded, c: Bounded) -> bool:
        if expanded(b.e - c.e) is not integer(0) and not self._alike(known, b.e, c.e):
            return False
        return self._worth(known, b.lo, c.lo) and self._worth(known, b.hi, c.hi)

    def _worth(self, known: Known, x: Expr, y: Expr) -> bool:
        """Whether two bounds are the same number: because their parts are, or because what is known implies it."""
        if x is y:
            return True
        if known.refutes(x.eq(y)):
            return False
        p, q = list(x.children), list(y.children)
        same = type(x) is type(y) and len(p) == len(q) > 0
        if same and isinstance(x, Sum):
            assert isinstance(y, Sum)
            same = x.const == y.const and sorted(k for _, k in x.terms) == sorted(k for _, k in y.terms)
        if same and (not isinstance(x, (Sum, FloorDiv, CeilDiv)) or set(p) & set(q)):
            # all but one of the parts are the same
            left, right = [e for e in p if e not in q], [e for e in q if e not in p]
            alone = len(left) == len(right) == 1 and x.substitute({left[0]: right[0]}) is y
            if alone and self._worth(known, left[0], right[0]):
                return True
        return known.proves(x.eq(y))

    def _alike(self, known: Known, a: Expr, b: Expr) -> bool:
        """The same summands with coefficients that are the same numbers."""
        if type(a) is type(b) and isinstance(a, (FloorDiv, Mod)):
            return self._alike(known, a.a, b.a) and self._alike(known, a.b, b.b)  # type: ignore[attr-defined]
        f, g = flat(a), flat(b)
        if {t for _, t in f.items} != {t for _, t in g.items}:
            return False
        other = {t: k for k, t in g.items}
        pairs = [(f.const, g.const), *((k, other[t]) for k, t in f.items)]
        return all(known.equal(x, y) for x, y in pairs)


def _matches(
    rule: ConstraintRule, used: Side, ranges: Ranges
) -> Iterator[tuple[dict[str, Expr], tuple[Condition, ...]]]:
    """Every way in which the left side is these constraints, with the equations for which it is."""
    names: dict[Var, Expr] = {v: var(OPEN + v.name, v.kind) for v in rule.variables}
    pairs: list[tuple[Expr, Expr]] = []
    ends: list[tuple[Expr, Expr]] = []
    begun: State | None = State(match=True)
    for b, c in zip(rule.left, used, strict=True):
        found = rest_and_constant(b.e)
        if found is not None:
            # the constant is all of the constant, also that of variables
            constant = ranges.constant(c.e)
            for n, e in zip(found, (expanded(c.e - constant), constant), strict=True):
                v = next(w for w in names.values() if isinstance(w, Var) and w.name == OPEN + n)
                begun = begun.bind(v, e) if begun is not None else None
        pairs.append((b.e.substitute(names), c.e))
        ends += [(b.lo.substitute(names), c.lo), (b.hi.substitute(names), c.hi)]
        # what is no variable of a pattern is matched as a whole
        if not isinstance(b.e, (Var, Sum)) and type(b.e) is not type(c.e):
            return
    # expressions are what they are, bounds what they are worth
    whole = (s for s in unify(tuple(pairs), begun) if not s.equations) if begun is not None else iter(())
    for state in itertools.islice((s for w in whole for s in unify(tuple(ends), w)), 8):
        values = {v.name: state.of(n) for v, n in names.items()}
        loose = any(w.name.startswith(OPEN) for e in values.values() for w in e.variables())
        if not loose:
            yield values, conditions_of(state.equations, state)


def _factors(choose: str, b: Bounded) -> Iterator[dict[str, Expr]]:
    """Factors that all summands have in common, with either sign."""
    f = flat(b.e)
    if f.const is not integer(0) or not f.items:
        return
    common = [c for c in factors_of(f.items[0][0]) if not isinstance(c, Int)]
    for k, _ in f.items[1:]:
        left = factors_of(k)
        kept = []
        for c in common:
            if c in left:
                left.remove(c)
                kept.append(c)
        common = kept
    unit = math.gcd(*(c.value for k, _ in f.items for c in _whole(k)))
    shared = mul(unit, *common)
    for k in dict.fromkeys(
        (f.items[0][0], shared, *(() if isinstance(shared, Int) else (expanded(-shared),)))
    ):
        # a factor of one is none, and what is not negative is not exchanged
        if isinstance(k, Int) and k.value in ((1, 0) if choose == "negative_content" else (1, 0, -1)):
            continue
        parts = [(q, t) for c, t in f.items if (q := rational(c, k)) is not None]
        if len(parts) == len(f.items):
            x: Expr = integer(0)
            for q, t in parts:
                x = x + mul(q, t)
            yield {"x": expanded(x), "k": k, "lo": b.lo, "hi": b.hi}


def _whole(k: Expr) -> list[Int]:
    """The number that is a factor of ``k``: one, if none is written."""
    return [c for c in factors_of(k) if isinstance(c, Int)] or [integer(1)]
