"""Prove a rule over unbounded integers by one question of linear arithmetic, without cases (:mod:`..linearised`)."""

from __future__ import annotations

import math
from collections.abc import Mapping

from ..linear.formula import FALSE, TRUE, Formula, at_least, both, either, nonzero, zero
from ..linear.polynomial import ONE, Monomial, Poly, constant, variable
from ..linearised import Linearised, Opaque, TooLong, ask, negated
from .evaluate import refutes
from .interpretation import Interpretation
from .rule import StatedRule
from .semantics import Rounding
from .terms import below

__all__ = ["as_a_whole"]


class _Whole(Interpretation):
    """Terms as polynomials and formulas, with facts about the names of what is neither a sum nor a product."""

    def __init__(self, r: StatedRule, values: dict[str, Poly] | None = None) -> None:
        super().__init__(r.semantics, machine=False)
        self.rule = r
        self.opaque = Opaque()
        #: What equations say that variables are.
        self.values: dict[str, Poly] = values or {}
        self._seen: set[str] = set()

    def number(self, n: int) -> Poly:
        return constant(n)

    def variable(self, name: str) -> Poly:
        if name in self.values:
            return self.values[name]
        p = variable(f"v:{name}")
        kind = self.rule.variables[name]
        lo, hi = (0, 1) if kind.name == "bool" else (kind.lo, kind.hi)
        if name not in self._seen:
            self._seen.add(name)
            if lo is not None:
                self.opaque.facts.append(at_least(p - lo))
            if hi is not None:
                self.opaque.facts.append(at_least(constant(hi) - p))
        return p

    def truth(self, value: bool) -> Formula:
        return TRUE if value else FALSE

    def conj(self, *parts: Formula) -> Formula:
        return both(parts)

    def disj(self, *parts: Formula) -> Formula:
        return either(parts)

    def neg(self, part: Formula) -> Formula:
        return negated(part)

    def less(self, a: Poly, b: Poly) -> Formula:
        return at_least(b - a - ONE)

    def equal(self, a: Poly, b: Poly) -> Formula:
        return zero(a - b)

    def either(self, c: Formula, a: Poly, b: Poly) -> Poly:
        if c in (TRUE, FALSE) or a == b:
            return b if c == FALSE else a
        e, new = self.opaque.name("s", c, a, b)
        if new:
            self.opaque.facts += [either((negated(c), zero(e - a))), either((c, zero(e - b)))]
        return e

    def extreme(self, op: str, a: Poly, b: Poly) -> Poly:
        return self.opaque.extreme(op, [a, b])

    def divided(self, rounding: Rounding, a: Poly, b: Poly, *, whole: bool) -> Poly:
        return self.opaque.divided(rounding, a, b)[0 if whole else 1]

    def product(self, a: Poly, b: Poly) -> Poly:
        return self.opaque.multiplied(a, b)

    def wrapped(self, a: Poly) -> Poly:
        raise TooLong


def _violation(reading: _Whole) -> Formula:
    """Where the rule fails."""
    r = reading.rule
    given = [reading.holds(c) for c in r.conditions]
    left, right = reading.of(r.left), reading.of(r.right)
    numbers = r.sort == "int"
    differs = nonzero(left.value - right.value) if numbers else negated(reading.same(left.value, right.value))
    # where the right side has no value its name may be anything, so that only the left one's is asked for
    return both((*given, negated(left.zero), either((right.zero, differs))))


def _solved(r: StatedRule, reading: _Whole) -> None:
    """Conditions that are equations without divisions give variables their values."""
    todo = list(r.conditions)
    while todo:
        t = todo.pop(0)
        if t.op == "and":
            todo = [*t.args, *todo]
        if t.op != "eq" or any(x.op not in _PLAIN for x in below(*t.args)):
            continue
        plain = _Whole(r, reading.values)
        a, b = (plain.of(x).value for x in t.args)
        gap = a - b
        for name, c in sorted(gap.units()):
            kind = r.variables[name.removeprefix("v:")]
            if kind.lo is None and kind.hi is None:
                value = gap.without(name) * -c
                one = {name: value}
                for v in reading.values:
                    reading.values[v] = reading.values[v].substitute(one)
                reading.values[name.removeprefix("v:")] = value
                break


_PLAIN = frozenset({"var", "int", "add", "sub", "mul", "neg", "fold"})


def as_a_whole(r: StatedRule, rlimit: int) -> Linearised:
    """Prove a rule, or find a counterexample, by one question that grows."""
    if r.semantics.width:
        return Linearised(False, 0)
    reading = _Whole(r)
    try:
        _solved(r, reading)
        violated = _violation(reading)
    except TooLong:
        return Linearised(False, 0)

    def counterexample(model: Mapping[Monomial, int]) -> dict[str, int] | None:
        point = _point(r, reading, model)
        return point if refutes(r, point) else None

    return ask(reading.opaque, violated, rlimit, counterexample)


def _point(r: StatedRule, reading: _Whole, model: Mapping[Monomial, int]) -> dict[str, int]:
    """The values of the variables of a rule in a model."""
    out = {}
    for v, kind in r.variables.items():
        if v in reading.values:
            terms = reading.values[v].terms.items()
            out[v] = sum(c * math.prod(model.get((name,), 0) for name in m) for m, c in terms)
            continue
        n = model.get((f"v:{v}",), 0)
        n = n if kind.lo is None else max(n, kind.lo)
        out[v] = n if kind.hi is None else min(n, kind.hi)
    return out
