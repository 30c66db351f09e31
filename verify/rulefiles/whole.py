"""Rules as one question of linear arithmetic, without cases (:mod:`..linearised`).

Only rules over unbounded integers are read.  A truth value is a pair of formulas, where it is true and where it is false,
and an integer comes with a formula that says where it has a value, so that rules whose divisions by zero have none are
read as well.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

from ..linear.formula import FALSE, TRUE, Formula, at_least, both, either, nonzero, zero
from ..linear.polynomial import ONE, ZERO, Monomial, Poly, constant, variable
from ..linearised import Linearised, Opaque, TooLong, ask, negated
from .evaluate import division, judge
from .rule import StatedRule
from .semantics import Rounding
from .terms import Term, below

__all__ = ["as_a_whole"]


@dataclass(frozen=True)
class _Number:
    """An integer and where it has a value."""

    e: Poly
    valued: Formula = TRUE


@dataclass(frozen=True)
class _Truth:
    """Where a truth value is true, and where it is false."""

    true: Formula
    false: Formula


@dataclass
class _Reading:
    """The facts about the terms of a rule."""

    rule: StatedRule
    opaque: Opaque = field(default_factory=Opaque)
    #: What equations say that variables are.
    values: dict[str, Poly] = field(default_factory=dict)
    _seen: set[str] = field(default_factory=set)
    _memo: dict[int, _Number | _Truth] = field(default_factory=dict)

    # -- leaves
    def of(self, root: Term) -> _Number | _Truth:
        for t in below(root):
            if id(t) not in self._memo:
                self._memo[id(t)] = self._meaning(t)
        return self._memo[id(root)]

    def truth(self, root: Term) -> _Truth:
        found = self.of(root)
        assert isinstance(found, _Truth)
        return found

    def _meaning(self, t: Term) -> _Number | _Truth:
        match t.op:
            case "int":
                return _Number(constant(int(t.value)))
            case "bool":
                return _Truth(TRUE, FALSE) if t.value else _Truth(FALSE, TRUE)
            case "var":
                return _Number(self._variable(t.name))
            case "flag":
                p = self._variable(t.name)
                return _Truth(at_least(p - ONE), at_least(-p))
            case "fold":
                return self._memo[id(t.args[0])]
        args = [self._memo[id(a)] for a in t.args]
        truths = [a for a in args if isinstance(a, _Truth)]
        numbers = [a for a in args if isinstance(a, _Number)]
        if t.op == "select":
            return self._select(truths[0], numbers[0], numbers[1])
        if truths:
            return _connected(t.op, truths)
        valued = both(n.valued for n in numbers)
        es = [n.e for n in numbers]
        if t.op in _RELATIONS:
            return self._relation(t.op, es, valued)
        return self._integer(t, es, valued)

    def _variable(self, name: str) -> Poly:
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

    def _select(self, c: _Truth, a: _Number, b: _Number) -> _Number:
        valued = either((both((c.true, a.valued)), both((c.false, b.valued))))
        if c.true == TRUE or c.true == FALSE or a == b:
            return _Number(b.e if c.true == FALSE else a.e, valued)
        e, new = self.opaque.name("s", c.true, a.e, b.e)
        if new:
            self.opaque.facts += [either((c.false, zero(e - a.e))), either((c.true, zero(e - b.e)))]
        return _Number(e, valued)

    def _relation(self, op: str, es: list[Poly], valued: Formula) -> _Truth:
        if op == "divides":
            rest = self.opaque.divided("euclid", es[1], es[0])[1]
            true = both((nonzero(es[0]), zero(rest)))
            false = either((zero(es[0]), nonzero(rest)))
        else:
            true, false = _related(op, es)
        return _Truth(both((valued, true)), both((valued, false)))

    # -- integers
    def _integer(self, t: Term, es: list[Poly], valued: Formula) -> _Number:
        kind = division(t, self.rule.semantics)
        if t.op == "cdiv":
            own = self.rule.semantics.quotient
            q, _, fits = self._division("floor0" if own.endswith("0") else "floor", -es[0], es[1])
            return _Number(-q, both((valued, fits)))
        if kind is not None:
            rounding, whole = kind
            q, r, fits = self._division(rounding, es[0], es[1])
            return _Number(q if whole else r, both((valued, fits)))
        match t.op:
            case "add":
                return _Number(es[0] + es[1], valued)
            case "sub":
                return _Number(es[0] - es[1], valued)
            case "neg":
                return _Number(-es[0], valued)
            case "mul":
                return _Number(self.opaque.multiplied(es[0], es[1]), valued)
            case "min" | "max":
                return _Number(self.opaque.extreme(t.op, es), valued)
        raise TooLong

    def _division(self, rounding: Rounding, a: Poly, b: Poly) -> tuple[Poly, Poly, Formula]:
        """Quotient, remainder, and where they have a value."""
        total = rounding.endswith("0")
        if not b:
            return ZERO, ZERO, TRUE if total else FALSE
        q, r = self.opaque.divided(rounding, a, b)
        return q, r, TRUE if total else nonzero(b)


_RELATIONS = frozenset({"lt", "le", "gt", "ge", "eq", "ne", "within", "divides"})


def _related(op: str, es: list[Poly]) -> tuple[Formula, Formula]:
    a, b = es[0], es[1]
    match op:
        case "lt":
            return at_least(b - a - ONE), at_least(a - b)
        case "le":
            return at_least(b - a), at_least(a - b - ONE)
        case "gt":
            return at_least(a - b - ONE), at_least(b - a)
        case "ge":
            return at_least(a - b), at_least(b - a - ONE)
        case "eq":
            return zero(a - b), nonzero(a - b)
        case "ne":
            return nonzero(a - b), zero(a - b)
    inside = both((at_least(a - b), at_least(es[2] - a)))
    return inside, either((at_least(b - a - ONE), at_least(a - es[2] - ONE)))


def _connected(op: str, args: list[_Truth]) -> _Truth:
    match op:
        case "not":
            return _Truth(args[0].false, args[0].true)
        case "and":
            return _Truth(both(a.true for a in args), either(a.false for a in args))
        case "or":
            return _Truth(either(a.true for a in args), both(a.false for a in args))
        case "iff" | "xor":
            a, b = args
            same = either((both((a.true, b.true)), both((a.false, b.false))))
            other = either((both((a.true, b.false)), both((a.false, b.true))))
            return _Truth(same, other) if op == "iff" else _Truth(other, same)
        case "choose":
            c, a, b = args
            true = either((both((c.true, a.true)), both((c.false, b.true))))
            return _Truth(true, either((both((c.true, a.false)), both((c.false, b.false)))))
    raise AssertionError(f"no meaning for {op}")


def _violation(reading: _Reading) -> Formula:
    """Where the rule fails."""
    r = reading.rule
    given = [reading.truth(c).true for c in r.conditions]
    left, right = reading.of(r.left), reading.of(r.right)
    if isinstance(left, _Number):
        assert isinstance(right, _Number)
        # where the right side has no value its name may be anything, so that only the left one's is asked for
        fails = either((_not_valued(right), nonzero(left.e - right.e)))
        return both((*given, left.valued, fails))
    assert isinstance(right, _Truth)
    fails = either((both((left.true, negated(right.true))), both((left.false, negated(right.false)))))
    return both((*given, fails))


def _not_valued(n: _Number) -> Formula:
    return negated(n.valued)


def _solved(r: StatedRule, reading: _Reading) -> None:
    """Conditions that are equations without divisions give variables their values."""
    todo = list(r.conditions)
    while todo:
        t = todo.pop(0)
        if t.op == "and":
            todo = [*t.args, *todo]
        if t.op != "eq" or any(x.op not in _PLAIN for x in below(*t.args)):
            continue
        plain = _Reading(r, values=reading.values)
        a, b = (plain.of(x) for x in t.args)
        if not (isinstance(a, _Number) and isinstance(b, _Number)):
            continue
        gap = a.e - b.e
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
    reading = _Reading(r)
    try:
        _solved(r, reading)
        violated = _violation(reading)
    except TooLong:
        return Linearised(False, 0)

    def counterexample(model: Mapping[Monomial, int]) -> dict[str, int] | None:
        point = _point(r, reading, model)
        return point if judge(r, point) in ("counterexample", "undefined") else None

    return ask(reading.opaque, violated, rlimit, counterexample)


def _point(r: StatedRule, reading: _Reading, model: Mapping[Monomial, int]) -> dict[str, int]:
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
