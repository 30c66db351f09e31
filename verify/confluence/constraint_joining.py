"""Joining both results of an overlap of constraint rules with symbols for constants, expressions and what they may be.

What an expression may be is a pair of symbols, ``x↓`` and ``x↑``; that of a multiple, of a sum with a constant and of a
quotient follow from those of what is below.  So what the strategies that look at ranges propose is known in terms of these
symbols, and a step by such a rule is one that is taken.  A step needs that the hypotheses imply the conditions of its rule.
Where they neither imply nor exclude them there are two cases, one in which the step is taken and one in which it is not,
and both must join.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from ...core.condition import FALSE, TRUE, Condition, Or, Within, all_of
from ...core.expr import (
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
    var,
)
from ...core.rewrite import Bounded, ConstraintRule
from ...rules.constraints import NOWHERE
from .. import linear
from ..preprocess import definition
from ..solve import reduced
from .constraint_overlap import ConstraintOverlap, renamed_rule
from .joining import Known
from .proposals import proposed, there
from .unify import OPEN, Flat, State, expanded, flat, is_const, rational, unify

__all__ = ["SINGLE", "ConstraintJoin", "ConstraintStep", "Posed", "join_constraints", "posed"]

Side = tuple[Bounded, ...]
#: The constraint that holds nowhere, alone.
_NOWHERE: Side = (NOWHERE,)
#: Limits of the search, as counts.
_CHAIN = 8
_DEPTH = 4
_SPLITS = 4
_CASES = 16
QUESTIONS = 60
_LIMITS = linear.Budget(
    rlimit=120_000, questions=8, instances=160, readings=20, leaves=12, splits=2, rounds=5, patient=False
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


# -------------------------------------------------------------------------------------------------- what may be
@dataclass
class Ranges:
    """What expressions may be, in symbols, and what is known of those."""

    signs: frozenset[Condition]
    facts: list[Condition] = field(default_factory=list)
    _known: dict[Expr, tuple[Expr, Expr]] = field(default_factory=dict)

    def of(self, e: Expr) -> tuple[Expr, Expr]:
        """The least and the greatest value of ``e``."""
        f = flat(e)
        if not f.items:
            return f.const, f.const
        if len(f.items) == 1:
            ((k, t),) = f.items
            sign = self._sign(k)
            if sign:
                lo, hi = self._atom(t)
                ends = (mul(k, lo), mul(k, hi)) if sign > 0 else (mul(k, hi), mul(k, lo))
                return expanded(ends[0] + f.const), expanded(ends[1] + f.const)
        lo, hi = self._fresh(Flat(integer(0), f.items).expr())
        return expanded(lo + f.const), expanded(hi + f.const)

    def _sign(self, k: Expr) -> int:
        if isinstance(k, Int):
            return (k.value > 0) - (k.value < 0)
        if (k > 0) in self.signs or (k > 1) in self.signs:
            return 1
        if (k < 0) in self.signs:
            return -1
        minus = expanded(-k)
        if (minus > 0) in self.signs or (minus > 1) in self.signs:
            return -1
        factors = list(k.factors) if isinstance(k, Mul) else []
        if isinstance(k, Sum) and not k.const and len(k.terms) == 1:
            factors = [integer(k.terms[0][1]), k.terms[0][0]]
        signs = [self._sign(f) for f in factors if f is not k]
        product = 1
        for s in signs:
            product *= s
        return product if signs else 0

    def _atom(self, t: Expr) -> tuple[Expr, Expr]:
        if isinstance(t, FloorDiv) and is_const(t.b):
            sign = self._sign(t.b)
            if sign:
                lo, hi = self.of(t.a)
                return (lo // t.b, hi // t.b) if sign > 0 else (hi // t.b, lo // t.b)
        return self._fresh(t)

    def _fresh(self, e: Expr) -> tuple[Expr, Expr]:
        found = self._known.get(e)
        if found is None:
            lo, hi = var(f"{e}↓", "const"), var(f"{e}↑", "const")
            found = self._known[e] = lo, hi
            self.facts += [e.within(lo, hi), lo <= hi]
            if isinstance(e, Mod) and self._sign(e.b) > 0:
                self.facts += [lo >= 0, hi <= e.b - 1]
            if isinstance(e, (Min, Max)):
                ends = [self.of(a) for a in e.args]
                if isinstance(e, Min):
                    self.facts += [
                        lo.eq(minimum(*[a for a, _ in ends])),
                        hi <= minimum(*[b for _, b in ends]),
                    ]
                else:
                    self.facts += [
                        hi.eq(maximum(*[b for _, b in ends])),
                        lo >= maximum(*[a for a, _ in ends]),
                    ]
        return found


def _constant_of(e: Expr) -> Expr:
    """The constant summand of ``e``: a symbol for that of each variable."""
    f = flat(e)
    total = f.const
    for k, t in f.items:
        if isinstance(t, Var):
            total = total + mul(k, var(f"{t}∘", "const"))
    return expanded(total)


# ------------------------------------------------------------------------------------------- what strategies propose
@dataclass(frozen=True)
class Posed:
    """An overlap narrowed to what strategies propose: why nothing is, or the sides with what is known."""

    overlap: ConstraintOverlap
    never: str
    given: tuple[Condition, ...] = ()
    first: Side = ()
    second: Side = ()
    ranges: Ranges | None = None


def posed(o: ConstraintOverlap) -> list[Posed]:
    """What the strategies of both rules propose where they meet, in each case of constants that are known then."""
    out: list[Posed] = []
    todo = [o]
    while todo:
        here = todo.pop()
        found = _posed(here)
        parts = [] if found.never or len(out) + len(todo) >= _CASES else _known_constants(here, found.given)
        if parts:
            for at in parts:
                with suppress(ZeroDivisionError):
                    todo.append(here.put(at))
        else:
            out.append(found)
    return out


def _known_constants(o: ConstraintOverlap, given: Sequence[Condition]) -> list[dict[Var, Expr]]:
    """What a constant is, or may be, by one of the conditions."""
    for c in given:
        made = [definition(part, short=False) for part in (c.parts() if isinstance(c, Or) else (c,))]
        values = [
            d
            for d in made
            if d is not None and d[0].kind == "const" and is_const(d[1]) and d[0] in o.constants
        ]
        if len(values) == len(made) and all(set(e.variables()) <= o.constants - {v} for v, e in values):
            return [{v: e} for v, e in values]
    return []


def _posed(o: ConstraintOverlap) -> Posed:
    ranges = Ranges(frozenset(o.hypotheses))
    at: dict[Var, Expr] = {}
    more: list[Condition] = []
    for rule, mark, values in ((o.outer, "", o.mine), (o.inner, "′", o.other)):
        if not isinstance(rule, ConstraintRule):
            reason, forms = proposed(rule, values)
            if reason:
                return Posed(o, f"{rule.name} proposes nothing there: {reason}")
            more += there(rule, values)
            more += [c for f in forms if len(forms) == 1 and not f.pairs for c in f.conditions]
            continue
        never, conditions, chosen = _proposed(rule, values, ranges)
        if never:
            return Posed(o, f"{rule.name} proposes nothing there: {never}")
        more += conditions
        names = {v.name: w for v, w in renamed_rule(rule, mark).items()}
        for name, e in chosen.items():
            v = names.get(name)
            if isinstance(v, Var) and values.get(name) is v:
                at[v] = e
    given = [_substituted(c, at) for c in (*o.hypotheses, *more)]
    for c in o.hypotheses:
        if isinstance(c, Within) and not is_const(c.e):
            # what holds everywhere holds where the least and the greatest value are taken
            lo, hi = ranges.of(c.e)
            given += [_substituted(c.lo <= lo, at), _substituted(hi <= c.hi, at)]
    if FALSE in given:
        return Posed(o, "what the strategies propose excludes each other")
    first, second = (tuple(_put(b, at) for b in side) for side in (o.first, o.second))
    return Posed(o, "", tuple(dict.fromkeys(c for c in given if c != TRUE)), first, second, ranges)


def _substituted(c: Condition, at: Mapping[Var, Expr]) -> Condition:
    return c.substitute(at) if at else c


def _put(b: Bounded, at: Mapping[Var, Expr]) -> Bounded:
    return Bounded(*(expanded(e.substitute(at)) if at else e for e in (b.e, b.lo, b.hi)))


def _proposed(
    rule: ConstraintRule, values: Mapping[str, Expr], ranges: Ranges
) -> tuple[str, list[Condition], dict[str, Expr]]:
    """Why a strategy proposes nothing, or what holds where it does, and what it chooses."""
    conditions: list[Condition] = []
    chosen: dict[str, Expr] = {}
    match rule.choose:
        case "":
            for b in rule.left:
                found = _rest_and_constant(b.e)
                if found is not None:
                    rest = values[found[0]]
                    if not flat(rest).items:
                        return "a constant has no other summand", [], {}
                    conditions.append(_constant_of(rest).eq(0))
        case "content" | "negative_content":
            x = values["x"]
            f = flat(x)
            if not f.items:
                return "a constant has no summands", [], {}
            conditions.append(_constant_of(x).eq(0))
            if len(f.items) == 1:
                ((u, t),) = f.items
                conditions.append(u.eq(1) | u.eq(-1))
                if rule.choose == "negative_content" and not isinstance(t, Var):
                    # a single summand is turned round only where its coefficient is negative
                    conditions.append(u.eq(1))
        case "whole_range":
            chosen["a"], chosen["b"] = ranges.of(values["x"])
        case "both_ranges":
            (left,) = rule.left
            x, y = values["x"], values["y"]
            chosen["a"], chosen["b"] = ranges.of(x)
            chosen["c"], chosen["d"] = ranges.of(y)
            if isinstance(left.e, Min):
                conditions.append(ranges.of(minimum(x, y))[1] <= values["hi"])
            else:
                conditions.append(values["lo"] <= ranges.of(maximum(x, y))[0])
        case "summand" | "dividend":
            t = values["x"] if rule.choose == "summand" else values["x"] // values["d"]
            never, conditions = _summand(t)
            if never or not flat(values["r"]).items:
                return never or "there is no other summand", [], {}
            chosen["p"], chosen["q"] = ranges.of(values["r"])
        case "residue" | "common_multiple" | "greatest_common_divisor":
            if not flat(values["x"]).items:
                return "a constant has a remainder that is computed", [], {}
            if rule.choose == "residue":
                conditions.append(_constant_of(values["y"]).eq(0))
    return "", conditions, chosen


def _rest_and_constant(e: Expr) -> tuple[str, str] | None:
    """The names of the rest and of the constant, if the pattern is that."""
    if isinstance(e, Sum) and e.const == 0 and len(e.terms) == 2 and all(k == 1 for _, k in e.terms):
        kinds = {t.kind: t.name for t, _ in e.terms if isinstance(t, Var)}
        if set(kinds) == {"rest", "const"}:
            return kinds["rest"], kinds["const"]
    return None


def _summand(e: Expr) -> tuple[str, list[Condition]]:
    """Why ``e`` is no summand of a sum, or what holds if it is one; variables may stand for nothing."""
    f = flat(e)
    there = [(k, t) for k, t in f.items if not isinstance(t, Var)]
    if not f.items:
        return "a constant is no summand", []
    if len(there) > 1:
        return "a sum is no summand", []
    conditions = [_constant_of(e).eq(0)]
    if there:
        conditions.append(there[0][0].eq(1))
    elif len(f.items) == 1:
        ((k, _),) = f.items
        conditions.append(k.eq(1) | k.eq(-1))
    return ("a multiple is no summand", []) if FALSE in conditions else ("", conditions)


# ------------------------------------------------------------------------------------------------------- the search
def join_constraints(
    p: Posed, rules: Sequence[ConstraintRule], questions: int = QUESTIONS
) -> list[ConstraintJoin] | None:
    """A common result of both sides in every case, or nothing; none at all if no integers satisfy what is given."""
    assert p.ranges is not None
    search = _Search(p.overlap, p.ranges, rules, questions)
    return search.cases(p.given, p.first, p.second, (), (), _DEPTH)


class _Known(Known):
    """Hypotheses of one case: all cases of an overlap share one count of questions, each of them a short one."""

    def __init__(self, hypotheses: Sequence[Condition], names: Sequence[Var], search: _Search) -> None:
        super().__init__(hypotheses, names)
        self.search = search
        self.limits = _LIMITS
        self.patience = 0

    def _asked(self, goal: Condition) -> bool:
        if self.refutes(goal):
            return False
        self.search.questions -= 1
        return self.search.questions >= 0 and super()._asked(goal)


class _Search:
    def __init__(
        self, o: ConstraintOverlap, ranges: Ranges, rules: Sequence[ConstraintRule], questions: int
    ) -> None:
        self.overlap = o
        self.ranges = ranges
        # what takes part is what is needed most
        own = [r for r in (o.outer, o.inner) if isinstance(r, ConstraintRule)]
        self.rules = tuple(dict.fromkeys((*own, *rules)))
        #: how many cases, and how many questions, there may be yet
        self.left = _CASES
        self.questions = questions

    def known(self, given: Sequence[Condition], sides: Sequence[Side]) -> Known:
        """The hypotheses with what is known of the ranges of everything there is."""
        for b in itertools.chain.from_iterable(sides):
            self.ranges.of(b.e)
        names = [v for side in sides for b in side for x in (b.e, b.lo, b.hi) for v in x.variables()]
        facts = [*given, *self.ranges.facts]
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
        if self.same(known, one, two):
            return [ConstraintJoin(given, left, right, one)]
        one, left, open_one = self.settled(known, one, left)
        two, right, open_two = self.settled(known, two, right)
        if self.same(known, one, two):
            return [ConstraintJoin(given, left, right, one)]
        if not depth:
            return None
        for c in list(dict.fromkeys(itertools.chain(*itertools.zip_longest(open_one, open_two))))[:_SPLITS]:
            if c is None:
                continue
            yes = self.cases((*given, c), one, two, left, right, depth - 1)
            if yes is None:
                continue
            no = self.cases((*given, ~c), one, two, left, right, depth - 1)
            if no is not None:
                return [*yes, *no]
        return None

    # -- one side
    def settled(
        self, known: Known, side: Side, steps: tuple[ConstraintStep, ...]
    ) -> tuple[Side, tuple[ConstraintStep, ...], list[Condition]]:
        """What certain steps lead to, and the conditions of steps that may be possible there."""
        open_: list[Condition] = []
        for _ in range(_CHAIN):
            open_ = []
            step = self._step(known, side, open_)
            if step is None:
                break
            side = step.after
            steps = (*steps, step)
        return side, steps, open_

    def _step(self, known: Known, side: Side, open_: list[Condition]) -> ConstraintStep | None:
        if side == _NOWHERE:
            return None
        for rule in self.rules:
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
        for values, sure in self._values(rule, used):
            at: dict[Var, Expr] = {v: values[v.name] for v in rule.variables if v.name in values}
            if len(at) < len(rule.variables):
                continue
            never, more, _ = _proposed(rule, values, self.ranges)
            if never:
                continue
            wanted = [c.substitute(at) for c in rule.conditions]
            # what is proposed only of variables is what the symbols for their constants say
            wanted += [c for c in more if c != TRUE]
            if FALSE in wanted:
                continue
            if any(not set(c.variables()) <= set(known.names) for c in wanted):
                # ranges of what was not there when this case began
                known.assume(self.ranges.facts)
            yield [c for c in wanted if c != TRUE], tuple(_put(b, at) for b in rule.right), sure

    def _values(self, rule: ConstraintRule, used: Side) -> Iterator[tuple[dict[str, Expr], bool]]:
        """Values of the rule's variables, and whether its strategy proposes them for sure."""
        own = self._own(rule, used)
        if own is not None:
            yield own, True
            if rule.choose in SINGLE:
                return
        match rule.choose:
            case "content" | "negative_content":
                yield from ((v, False) for v in _factors(rule.choose, used[0]))
            case "whole_range":
                b = used[0]
                lo, hi = self.ranges.of(b.e)
                yield {"x": b.e, "lo": b.lo, "hi": b.hi, "a": lo, "b": hi}, True
            case "both_ranges":
                b = used[0]
                (left,) = rule.left
                if type(b.e) is type(left.e) and len(b.e.children) == 2:
                    for x, y in (b.e.children, b.e.children[::-1]):
                        (p, q), (r, s) = self.ranges.of(x), self.ranges.of(y)
                        yield {"x": x, "y": y, "lo": b.lo, "hi": b.hi, "a": p, "b": q, "c": r, "d": s}, True
            case "summand" | "dividend":
                yield from ((v, True) for v in self._summands(rule.choose, used))
            case "common_multiple":
                yield from ((v, False) for v in self._multiples(used))
            case "greatest_common_divisor" | "residue":
                pass
            case _:
                yield from ((v, True) for v in _matches(rule, used))

    def _own(self, rule: ConstraintRule, used: Side) -> dict[str, Expr] | None:
        """What the pair itself says that the strategy proposes for these constraints."""
        o = self.overlap
        for mine, values in ((o.outer, o.mine), (o.inner, o.other)):
            if mine is rule and rule.choose in ("residue", "common_multiple", "greatest_common_divisor"):
                at: dict[Var, Expr] = {v: values[v.name] for v in rule.variables}
                if tuple(_put(b, at) for b in rule.left) == used:
                    return dict(values)
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
        return all(
            x is y or (not known.refutes(x.eq(y)) and known.proves(x.eq(y)))
            for x, y in ((b.lo, c.lo), (b.hi, c.hi))
        )

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


def _matches(rule: ConstraintRule, used: Side) -> Iterator[dict[str, Expr]]:
    """Every way in which the left side is these constraints."""
    names: dict[Var, Expr] = {v: var(OPEN + v.name, v.kind) for v in rule.variables}
    pairs: list[tuple[Expr, Expr]] = []
    state: State | None
    begun: State | None = State(match=True)
    for b, c in zip(rule.left, used, strict=True):
        found = _rest_and_constant(b.e)
        if found is not None:
            # the constant is all of the constant
            f = flat(c.e)
            for n, e in zip(found, (Flat(integer(0), f.items).expr(), f.const), strict=True):
                v = next(w for w in names.values() if isinstance(w, Var) and w.name == OPEN + n)
                begun = begun.bind(v, e) if begun is not None else None
        pairs += [
            (b.lo.substitute(names), c.lo),
            (b.hi.substitute(names), c.hi),
            (b.e.substitute(names), c.e),
        ]
        # what is no variable of a pattern is matched as a whole
        if not isinstance(b.e, (Var, Sum)) and type(b.e) is not type(c.e):
            return
    for state in itertools.islice(unify(tuple(pairs), begun) if begun is not None else (), 8):
        values = {v.name: state.of(n) for v, n in names.items()}
        loose = any(w.name.startswith(OPEN) for e in values.values() for w in e.variables())
        if not loose and not state.equations:
            yield values


def _factors(choose: str, b: Bounded) -> Iterator[dict[str, Expr]]:
    """Factors that all summands have in common."""
    f = flat(b.e)
    if f.const is not integer(0) or not f.items:
        return
    k = f.items[0][0]
    # a factor of one is none, and what is not negative is not exchanged
    if not (isinstance(k, Int) and k.value in ((1, 0) if choose == "negative_content" else (1, 0, -1))):
        parts = [(rational(c, k), t) for c, t in f.items]
        if all(c is not None for c, _ in parts):
            x: Expr = integer(0)
            for c, t in parts:
                assert c is not None
                x = x + mul(c, t)
            yield {"x": expanded(x), "k": k, "lo": b.lo, "hi": b.hi}
