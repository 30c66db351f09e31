"""What the strategies of both rules of an overlap propose, with symbols for what expressions may be.

What an expression may be is a pair of symbols, ``x↓`` and ``x↑``; that of a multiple, of a sum with a constant and of a
quotient follow from those of what is below.  So what the strategies that look at ranges propose is known in terms of these
symbols.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace

from ...core.condition import FALSE, TRUE, Compare, Condition, Divides, Not, Or, Within
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
    postorder,
    var,
)
from ...core.rewrite import Bounded, ConstraintRule
from ..preprocess import definition
from .cases import cancelled
from .constraint_overlap import ConstraintOverlap, renamed_rule
from .proposals import Same, proposed, summands_shown, there
from .unify import Flat, State, conditions_of, expanded, flat, is_const, rational

__all__ = ["Posed", "Ranges", "Side", "posed", "put", "rest_and_constant", "shown", "strategy_says"]

#: So many cases of constants that are known are told apart.
_CASES = 16

Side = tuple[Bounded, ...]


# -------------------------------------------------------------------------------------------------- what may be
@dataclass
class Ranges:
    """What expressions may be, in symbols, and what is known of those."""

    signs: frozenset[Condition]
    facts: list[Condition] = field(default_factory=list)
    #: symbols for constants of variables that have none
    plain: dict[Var, Expr] = field(default_factory=dict)
    _known: dict[Expr, tuple[Var, Var]] = field(default_factory=dict)

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

    def symbols(self) -> list[tuple[Expr, Var, Var]]:
        """Every expression that was asked about, with the symbols for its least and its greatest value."""
        return [(e, lo, hi) for e, (lo, hi) in self._known.items()]

    def relations(self) -> list[Condition]:
        """What holds of the ends of a sum and those of a summand and of the others, where all of these were asked about.

        The least value is at least the sum of the least ones, and at most what it is where one part is least.
        """
        found: list[Condition] = []
        for e, (lo, hi) in list(self._known.items()):
            f = flat(e)
            for n, (k, t) in enumerate(f.items if len(f.items) > 1 else ()):
                parts = mul(k, t), f.without(n).expr()
                if all(self._asked(part) for part in parts):
                    (a, b), (c, d) = map(self.of, parts)
                    found += [a + c <= lo, lo <= a + d, lo <= b + c, hi <= b + d, b + c <= hi, a + d <= hi]
                    if len(f.items) == 2:
                        break
        return found

    def _asked(self, e: Expr) -> bool:
        """Whether the ends of ``e`` are known by symbols that there are already."""
        f = flat(e)
        if len(f.items) == 1 and self._sign(f.items[0][0]):
            t = f.items[0][1]
            if isinstance(t, FloorDiv) and is_const(t.b) and self._sign(t.b):
                return self._asked(t.a)
            return t in self._known
        return not f.items or Flat(integer(0), f.items).expr() in self._known

    def constant(self, e: Expr) -> Expr:
        """The constant summand of ``e``: a symbol for that of each variable."""
        f = flat(e)
        total = f.const
        for k, t in f.items:
            if isinstance(t, Var):
                mark = var(f"{t}∘", "const")
                total = total + mul(k, self.plain.get(mark, mark))
        return expanded(total)

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
            if isinstance(e, Mod):
                sign = self._sign(e.b)
                self.facts += [lo >= 0, hi <= e.b - 1] if sign > 0 else []
                self.facts += [e.b + 1 <= lo, hi <= 0] if sign < 0 else []
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
    todo, never = _inner_cases(o)
    if not todo:
        return [Posed(o, never)]
    while todo:
        here = todo.pop()
        found = _posed(here)
        if not found.never and (
            moved := _turned(here) or _without_constant(here, found.given) or _positive(here, found.given)
        ):
            # the same overlap, written with another variable
            with suppress(ZeroDivisionError):
                made = here.put(moved)
                above = tuple(w > 0 for v, e in moved.items() if v.kind == "const" for w in e.variables())
                todo.append(replace(made, hypotheses=tuple(dict.fromkeys((*made.hypotheses, *above)))))
                continue
        parts = [] if found.never or len(out) + len(todo) >= _CASES else _known_constants(here, found.given)
        if parts:
            for at in parts:
                with suppress(ZeroDivisionError):
                    todo.append(here.put(at))
        else:
            out.append(found)
    return out


def _inner_cases(o: ConstraintOverlap) -> tuple[list[ConstraintOverlap], str]:
    """The overlap with what the strategy of a rule for expressions proposes, in each form, or why that is nothing."""
    rule = o.inner
    if isinstance(rule, ConstraintRule):
        return [o], ""
    reason, forms = proposed(rule, o.other)
    said = f"{rule.name} proposes nothing there: "
    if o.at is not None and len(summands_shown(rule)) > 1 and not isinstance(o.at, (Sum, Mul)):
        reason = "what is shown as two summands is not one"
    if reason:
        return [], said + reason
    same = Same()
    cases: list[ConstraintOverlap] = []
    for form in forms:
        for state in same.all(form.pairs, State(fresh=100)):
            at = {v: made for v in o.variables if (made := state.of(v)) is not v}
            with suppress(ZeroDivisionError):
                narrowed = o.put(at) if at else o
                known = conditions_of(
                    (*form.conditions, *state.equations, *there(rule, narrowed.other)), state
                )
                given = tuple(dict.fromkeys((*narrowed.hypotheses, *known)))
                if FALSE not in given:
                    cases.append(replace(narrowed, hypotheses=given))
    if not same.whole:
        # there may be other forms, so none of them is all there is
        return [o], ""
    return cases, said + "nothing has the form of what is proposed"


def _positive(o: ConstraintOverlap, given: Sequence[Condition]) -> dict[Var, Expr]:
    """The negative of a constant that is below zero, as far as its conditions or those of products say so."""
    signs: dict[Expr, int] = {}
    for _ in range(2):
        for c in given:
            if isinstance(c, Compare) and c.op == "<":
                e = expanded(c.b - c.a)
                if isinstance(e, Sum) and len(e.terms) == 1:
                    ((t, k),) = e.terms
                    if e.const > 0:
                        continue
                else:
                    t, k = e, 1
                factors = list(t.factors) if isinstance(t, Mul) else [t]
                unknown = [f for f in factors if f not in signs]
                if len(unknown) == 1 and all(isinstance(f, Var) and f.kind == "const" for f in factors):
                    sign = 1 if k > 0 else -1
                    for f in factors:
                        sign *= signs.get(f, 1)
                    signs[unknown[0]] = sign
    for v, sign in signs.items():
        if sign < 0 and isinstance(v, Var) and v in o.constants:
            return {v: mul(-1, var(v.name + "~", "const"))}
    return {}


def _turned(o: ConstraintOverlap) -> dict[Var, Expr]:
    """The negative of a variable, where a strategy proposes only a summand with coefficient one."""
    for rule, values in ((o.outer, o.mine), (o.inner, o.other)):
        if rule.choose == "summand":
            f = flat(values["x"])
            if len(f.items) == 1:
                ((k, v),) = f.items
                if k is integer(-1) and isinstance(v, Var):
                    return {v: mul(-1, v)}
    return {}


def _without_constant(o: ConstraintOverlap, given: Sequence[Condition]) -> dict[Var, Expr]:
    """A variable less its constant, where a strategy proposes only sums without one.

    An equation that gives the constant of a variable of the overlap by constants makes it a variable without one and
    that constant beside it.
    """
    for c in given:
        if not isinstance(c, Compare) or c.op != "==":
            continue
        f = expanded(c.a - c.b)
        items = f.terms if isinstance(f, Sum) else ((f, 1),)
        marks = [(t, k) for t, k in items if isinstance(t, Var) and t.name.endswith("∘")]
        for t, k in marks:
            rest = expanded(f - t * k)
            v = next((w for w in o.variables if w.kind != "const" and f"{w}∘" == t.name), None)
            if v is None or abs(k) != 1 or rest is integer(0) or t in rest.variables():
                continue
            if any(w.name.endswith("∘") for w in rest.variables()):
                continue
            return {v: expanded(v - rest * k)}
    return {}


def _units(c: Condition) -> tuple[Condition, ...]:
    """What a constant may be that divides one: the sides of an equation are one and a multiple of it."""
    if not isinstance(c, Compare) or c.op != "==":
        return ()
    for one, product in ((c.a, c.b), (c.b, c.a)):
        if isinstance(one, Int) and abs(one.value) == 1 and not isinstance(product, Int):
            for v in expanded(product).variables():
                if v.kind == "const" and rational(product, v) is not None:
                    return (v.eq(1) | v.eq(-1),)
    return ()


def _known_constants(o: ConstraintOverlap, given: Sequence[Condition]) -> list[dict[Var, Expr]]:
    """What a constant is, or may be, by one of the conditions."""
    units = [u for h in given for u in _units(h)]
    for c in (*given, *(cancelled(h, given) for h in given), *units):
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
    alone: list[Expr] = []
    several: list[Expr] = []
    for rule, mark, values in ((o.outer, "", o.mine), (o.inner, "′", o.other)):
        if not isinstance(rule, ConstraintRule):
            more += there(rule, values)
            continue
        for found, more_shown in zip((alone, several), shown(rule, values), strict=True):
            found += more_shown
        never, conditions, chosen = strategy_says(rule, values, ranges)
        if never:
            return Posed(o, f"{rule.name} proposes nothing there: {never}")
        more += conditions
        names = {v.name: w for v, w in renamed_rule(rule, mark).items()}
        for name, e in chosen.items():
            v = names.get(name)
            if isinstance(v, Var) and values.get(name) is v:
                at[v] = e
    if any(expanded(a - b) is integer(0) for a in alone for b in several):
        return Posed(o, "what is one of the summands of a sum is no sum or multiple itself")
    for one, two in itertools.combinations(o.start, 2):
        if one.e is two.e:
            # a domain has every constraint once
            more.append(one.lo.ne(two.lo) | one.hi.ne(two.hi))
    # what is written has a value
    divisors = (n.b for b in o.start for n in postorder(b.e) if isinstance(n, (FloorDiv, Mod)))
    more += [d.ne(0) for d in dict.fromkeys(divisors) if not isinstance(d, Int)]
    # what something does not divide is not zero
    undivided = [c.arg for c in o.hypotheses if isinstance(c, Not) and isinstance(c.arg, Divides)]
    more += [c.e.ne(0) for c in undivided if c.d.ne(0) in o.hypotheses]
    given = [_substituted(c, at) for c in (*o.hypotheses, *more)]
    for c in o.hypotheses:
        if isinstance(c, Within) and not is_const(c.e):
            # what holds everywhere holds where the least and the greatest value are taken
            lo, hi = ranges.of(c.e)
            given += [_substituted(c.lo <= lo, at), _substituted(hi <= c.hi, at)]
    while found := [m for c in given for m in _none(c) if m not in ranges.plain]:
        ranges.plain[found[0]] = integer(0)
        given = [c if _none(c) else c.substitute(ranges.plain) for c in given]
    if FALSE in given:
        return Posed(o, "what the strategies propose excludes each other")
    first, second = (tuple(put(b, at) for b in side) for side in (o.first, o.second))
    return Posed(o, "", tuple(dict.fromkeys(c for c in given if c != TRUE)), first, second, ranges)


def _none(c: Condition) -> list[Var]:
    """The symbol for the constant of a variable, if the condition says that there is none."""
    if not isinstance(c, Compare) or c.op != "==" or c.b is not integer(0):
        return []
    e = expanded(c.a)
    if isinstance(e, Sum) and len(e.terms) == 1 and not e.const:
        e = e.terms[0][0]
    return [e] if isinstance(e, Var) and e.name.endswith("∘") else []


def _substituted(c: Condition, at: Mapping[Var, Expr]) -> Condition:
    return c.substitute(at) if at else c


def put(b: Bounded, at: Mapping[Var, Expr]) -> Bounded:
    return Bounded(*(expanded(e.substitute(at)) if at else e for e in (b.e, b.lo, b.hi)))


def shown(rule: ConstraintRule, values: Mapping[str, Expr]) -> tuple[list[Expr], list[Expr]]:
    """What is one summand by itself where the rule applies with these values, and what is no such summand.

    A summand by itself has coefficient one: no factor is taken out of it, nothing that is negative, no constant, and
    it has no other summands.
    """
    at: dict[Var, Expr] = {v: values[v.name] for v in rule.variables if v.name in values}
    (whole, *_) = (b.e.substitute(at) for b in rule.left)
    sums = rule.choose in ("content", "negative_content", "summand", "dividend")
    return (
        [values["x"]] if rule.choose == "summand" else [],
        [whole] if sums or rest_and_constant(rule.left[0].e) is not None else [],
    )


def strategy_says(
    rule: ConstraintRule, values: Mapping[str, Expr], ranges: Ranges
) -> tuple[str, list[Condition], dict[str, Expr]]:
    """Why a strategy proposes nothing, or what holds where it does, and what it chooses."""
    conditions: list[Condition] = []
    chosen: dict[str, Expr] = {}
    match rule.choose:
        case "":
            for b in rule.left:
                found = rest_and_constant(b.e)
                if found is not None:
                    rest = values[found[0]]
                    if not flat(rest).items:
                        return "a constant has no other summand", [], {}
                    conditions.append(ranges.constant(rest).eq(0))
        case "content" | "negative_content":
            x = values["x"]
            f = flat(x)
            if not f.items:
                return "a constant has no summands", [], {}
            conditions.append(ranges.constant(x).eq(0))
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
            never, conditions = _summand(t, ranges)
            if never or not flat(values["r"]).items:
                return never or "there is no other summand", [], {}
            chosen["p"], chosen["q"] = ranges.of(values["r"])
        case "residue" | "common_multiple" | "greatest_common_divisor":
            if not flat(values["x"]).items:
                return "a constant has a remainder that is computed", [], {}
            if rule.choose == "residue":
                conditions.append(ranges.constant(values["y"]).eq(0))
    return "", conditions, chosen


def rest_and_constant(e: Expr) -> tuple[str, str] | None:
    """The names of the rest and of the constant, if the pattern is that."""
    if isinstance(e, Sum) and e.const == 0 and len(e.terms) == 2 and all(k == 1 for _, k in e.terms):
        kinds = {t.kind: t.name for t, _ in e.terms if isinstance(t, Var)}
        if set(kinds) == {"rest", "const"}:
            return kinds["rest"], kinds["const"]
    return None


def _summand(e: Expr, ranges: Ranges) -> tuple[str, list[Condition]]:
    """Why ``e`` is no summand of a sum, or what holds if it is one; variables may stand for nothing."""
    f = flat(e)
    there = [(k, t) for k, t in f.items if not isinstance(t, Var)]
    if not f.items:
        return "a constant is no summand", []
    if len(there) > 1:
        return "a sum is no summand", []
    conditions = [ranges.constant(e).eq(0)]
    if there:
        conditions.append(there[0][0].eq(1))
    elif len(f.items) == 1:
        ((k, _),) = f.items
        conditions.append(k.eq(1) | k.eq(-1))
    return ("a multiple is no summand", []) if FALSE in conditions else ("", conditions)
