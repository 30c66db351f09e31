"""Lowers a rule of a rule file to the core: its conditions, the definedness of its sides, and its claims.

The core has floor division and unbounded integers only.  So

- quotients and remainders become those of absolute values, selected by signs; lowered divisors are never zero, so a
  lowered term has a value everywhere, and a condition states where the original term has one;
- integers that wrap around are polynomials until their value is needed (by a division, a comparison, an extremum): then
  they are ``(e + 2^(w-1)) % 2^w - 2^(w-1)``; two of them are equal exactly if ``2^w`` divides their difference;
- integers that must not overflow carry the condition under which they do;
- truth values are conditions.

:mod:`.evaluate` implements the same semantics for single points independently, and confirms counterexamples.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, cast

from ...core.condition import FALSE, TRUE, Condition, all_of, any_of, divides, negate, within
from ...core.expr import Expr, Int, Sum, Var, ceildiv, floordiv, integer, linear, maximum, minimum, mod, select, var
from ..verdict import Status
from .evaluate import division
from .json_form import parse_json_rules, rules_to_json
from .rule import StatedRule, flat
from .terms import BOOL, Term, below

#: Widths in bits of the machine types for the finding about overflow.
MACHINE_TYPES = (32, 64)


def source_of(r: StatedRule) -> str:
    """Return the statement of a rule as JSON text, without its name and place."""
    return rules_to_json([replace(r, name="rule", doc="", where="", expected=Status.PROVED)])


@lru_cache(maxsize=16)
def rule_of(source: str) -> StatedRule:
    """Return the rule of a source."""
    return parse_json_rules(source, "rule", derived=True)[0]


@dataclass(frozen=True)
class Lowered:
    """A rule in the core.

    ``domain`` has the ranges of the variables, ``concerned`` states that the rule claims something.  A claim is its kind,
    hypotheses of its own, and a goal.
    """

    domain: tuple[Condition, ...]
    conditions: tuple[Condition, ...]
    concerned: Condition
    claims: tuple[tuple[str, tuple[Condition, ...], Condition], ...]
    #: The left side of a rule about integers.
    left: tuple[Expr, ...]

    @property
    def given(self) -> tuple[Condition, ...]:
        """The conditions under which the rule claims something."""
        return (*self.domain, *self.conditions, self.concerned)

    @property
    def goal(self) -> Condition:
        """The conjunction of all claims."""
        return all_of(any_of((*map(negate, given), goal)) for _, given, goal in self.claims)


def core_variable(name: str, kind: str) -> Var:
    """Return the core variable of a variable of a rule; truth values are 0 and 1."""
    return var(name, "const" if kind == "const" else "")


def core_variables(r: StatedRule) -> dict[str, Var]:
    """Return the core variables of a rule by their names."""
    return {v: core_variable(v, kind.name) for v, kind in r.variables.items()}


@lru_cache(maxsize=8)
def lowered(r: StatedRule, *, signs: bool = True) -> Lowered:
    """Lower a rule; with ``signs`` divisions that round towards zero select by the sign of the dividend."""
    outside = _Lowering(r, machine=False, signs=signs)
    sides = _Lowering(r, machine=bool(r.semantics.width), signs=signs)
    left, right = sides.of(r.left), sides.of(r.right)
    concerned = [negate(left.zero), negate(left.lost)]
    claims: list[tuple[str, tuple[Condition, ...], Condition]] = []
    if r.semantics.overflow == "nowrap":
        concerned.append(negate(right.lost))
    elif right.lost is not FALSE:
        claims.append(("no overflow", (), negate(right.lost)))
    if right.zero is not FALSE:
        claims.append(("defined", (), any_of((negate(right.zero), right.lost))))
    valued = tuple(c for c in (negate(right.zero), negate(right.lost)) if c is not TRUE)
    claims += ((kind, (*valued, *more), goal) for kind, more, goal in _equal(r, left, right, sides))
    conditions = tuple(outside.holds(c) for c in r.conditions)
    read = () if r.sort == BOOL else (left.value,)
    return Lowered(tuple(_domain(r)), conditions, all_of(concerned), tuple(claims), read)


def lowered_condition(r: StatedRule, condition: Term) -> Condition:
    """Lower a condition over the variables of the rule."""
    return _Lowering(r, machine=False, signs=True).holds(condition)


def _domain(r: StatedRule) -> Iterator[Condition]:
    """Yield the ranges of the variables."""
    for name, (lo, hi) in r.ranges().items():
        if lo is not None and hi is not None:
            v = core_variable(name, r.variables[name].name)
            yield within(v, integer(lo), integer(hi)) if lo <= hi else FALSE


def _equal(
    r: StatedRule, left: Meaning, right: Meaning, sides: _Lowering
) -> Iterator[tuple[str, tuple[Condition, ...], Condition]]:
    """Yield the claims that both sides are equal."""
    a, b = left.value, right.value
    if r.sort != BOOL:
        yield "sound", (), sides.equal(left, right)
    elif isinstance(a, Condition) and a in (TRUE, FALSE):
        yield "sound", (), b if a is TRUE else negate(b)
    elif b in (TRUE, FALSE):
        yield "sound", (), a if b is TRUE else negate(a)
    elif a != b:
        yield "sound ⇒", (a,), b
        yield "sound ⇐", (b,), a


@dataclass(frozen=True)
class Meaning:
    """An expression or condition, and when it has no value: by a division by zero, or by an overflow (``lost``).

    ``wraps`` marks an integer that represents its residue class modulo ``2**width``.
    """

    value: Any
    zero: Condition = FALSE
    lost: Condition = FALSE
    wraps: bool = False


_ARITHMETIC = {"add": operator.add, "sub": operator.sub, "mul": operator.mul}
_OF_VALUES: dict[str, Callable[..., Expr | Condition]] = {
    "min": minimum,
    "max": maximum,
    "lt": operator.lt,
    "le": operator.le,
    "gt": operator.gt,
    "ge": operator.ge,
    "within": within,
    "divides": divides,
}


class _Lowering:
    """Lowers terms; with ``machine`` their results are machine integers."""

    def __init__(self, r: StatedRule, *, machine: bool, signs: bool) -> None:
        self.rule = r
        self.semantics = r.semantics
        self.machine = machine
        self.signs = signs
        self.wraps = machine and r.semantics.overflow == "wrap"
        self._memo: dict[int, Meaning] = {}

    def of(self, root: Term) -> Meaning:
        """Return the meaning of a term."""
        for t in below(root):
            if id(t) not in self._memo:
                self._memo[id(t)] = self._meaning(t, [self._memo[id(a)] for a in t.args])
        return self._memo[id(root)]

    def holds(self, condition: Term) -> Condition:
        """Return the condition that a term has a value and is true."""
        m = self.of(condition)
        return all_of((negate(m.zero), negate(m.lost), m.value))

    def equal(self, a: Meaning, b: Meaning) -> Condition:
        """Return the condition that two integers with values are equal."""
        if a.wraps or b.wraps:
            modulus = self.semantics.modulus
            return divides(integer(modulus), _reduced(a.value - b.value, modulus))
        return cast(Condition, a.value.eq(b.value))

    def seen(self, a: Meaning) -> Expr:
        """Return the value of an integer, wrapped around if it represents a residue class."""
        return self._wrapped(a.value) if a.wraps else cast(Expr, a.value)

    def _wrapped(self, e: Expr) -> Expr:
        return mod(e - self.semantics.lo, self.semantics.modulus) + self.semantics.lo

    # -- terms
    def _meaning(self, t: Term, args: list[Meaning]) -> Meaning:
        match t.op:
            case "int":
                return Meaning(integer(int(t.value)))
            case "bool":
                return Meaning(TRUE if t.value else FALSE)
            case "var":
                return Meaning(core_variable(t.name, self.rule.variables[t.name].name))
            case "flag":
                return Meaning(core_variable(t.name, "bool").eq(1))
            case "fold":
                return args[0]
            case "and" | "or":
                return _connective(t.op == "or", [self._memo[id(a)] for a in flat(t.op, [t])])
            case "select":
                return self._select(*args)
        zero, lost = any_of(a.zero for a in args), any_of(a.lost for a in args)
        match t.op:
            case "not":
                return Meaning(negate(args[0].value), zero, lost)
            case "eq" | "ne":
                a, b = args
                if isinstance(a.value, Condition):
                    both = (b.value, negate(b.value))
                    return Meaning(_chosen(a.value, *(both if t.op == "eq" else both[::-1])), zero, lost)
                same = self.equal(a, b)
                return Meaning(same if t.op == "eq" else negate(same), zero, lost)
            case "neg":
                return self._made(-args[0].value, zero, lost)
            case "add" | "sub" | "mul":
                return self._made(_ARITHMETIC[t.op](*(a.value for a in args)), zero, lost)
        es = [self.seen(a) for a in args]
        if t.op == "wrap":
            return Meaning(self._wrapped(es[0]), zero, lost)
        if t.op in _OF_VALUES:
            return Meaning(_OF_VALUES[t.op](*es), zero, lost)
        return self._divided(t, es[0], es[1], zero, lost)

    def _select(self, c: Meaning, a: Meaning, b: Meaning) -> Meaning:
        valued = (negate(c.zero), negate(c.lost))
        zero = any_of((c.zero, all_of((*valued, _chosen(c.value, a.zero, b.zero)))))
        lost = any_of((c.lost, all_of((*valued, _chosen(c.value, a.lost, b.lost)))))
        if isinstance(a.value, Condition):
            return Meaning(_chosen(c.value, a.value, b.value), zero, lost)
        return Meaning(select(c.value, a.value, b.value), zero, lost, a.wraps or b.wraps)

    def _made(self, e: Expr, zero: Condition, lost: Condition) -> Meaning:
        """Return the meaning of the result of a ring operation."""
        s = self.semantics
        if not self.machine or (isinstance(e, Int) and s.lo <= e.value <= s.hi):
            return Meaning(e, zero, lost)
        if self.wraps:
            return Meaning(_reduced(e, s.modulus), zero, lost, wraps=True)
        outside = negate(e.within(s.lo, s.hi))
        # an argument divided by zero keeps that reason
        return Meaning(e, zero, any_of((lost, all_of((negate(zero), outside)))))

    # -- division
    def _divided(self, t: Term, a: Expr, b: Expr, zero: Condition, lost: Condition) -> Meaning:
        s = self.semantics
        kind = division(t, s)
        rounding, whole = kind or (s.quotient, True)
        total = rounding.endswith("0")
        if not total:
            zero = any_of((zero, b.eq(0)))
        e = self._rounded(rounding if kind else "up", a, b, whole=whole)
        if self.machine and _may_be(a, s.lo) and _may_be(b, -1):
            least = all_of((b.eq(-1), a.eq(s.lo)))
            if self.wraps:
                e = select(least, s.lo, e) if whole else e
            else:
                # a remainder overflows with its quotient, since machines compute both at once
                lost = any_of((lost, all_of((negate(zero), least))))
        return Meaning(e, zero, lost)

    def _rounded(self, rounding: str, a: Expr, b: Expr, *, whole: bool) -> Expr:
        """Return a quotient or a remainder; it is zero for a zero divisor."""
        if rounding.startswith(("up", "floor")):
            operation = ceildiv if rounding == "up" else floordiv if whole else mod
            return select(b.eq(0), 0, operation(a, select(b.eq(0), 1, b)))
        size = _by_sign(b, b, -b, integer(1))
        if rounding.startswith("euclid"):
            if not whole:
                return select(b.eq(0), 0, mod(a, size)) if isinstance(b, Int) else mod(a, size)
            q = floordiv(a, size)
            return _by_sign(b, q, -q, integer(0))
        if self.signs or isinstance(a, Int):
            magnitude = select(a >= 0, a, -a)
            q, r = floordiv(magnitude, size), mod(magnitude, size)
            q, r = select(a >= 0, q, -q), select(a >= 0, r, -r)
        else:
            # one of max(a, 0) and max(-a, 0) is zero, and so is its quotient and remainder
            above, under = maximum(a, 0), maximum(-a, 0)
            q = floordiv(above, size) - floordiv(under, size)
            r = mod(above, size) - mod(under, size)
        return _by_sign(b, q, -q, integer(0)) if whole else r


def _chosen(c: Condition, x: Condition, y: Condition) -> Condition:
    return x if x == y else any_of((all_of((c, x)), all_of((negate(c), y))))


def _may_be(e: Expr, n: int) -> bool:
    return not isinstance(e, Int) or e.value == n


def _by_sign(e: Expr, positive: Expr, negative: Expr, zero: Expr) -> Expr:
    return select(e > 0, positive, select(e < 0, negative, zero))


def _connective(deciding: bool, args: Sequence[Meaning]) -> Meaning:
    """Return a conjunction or disjunction; one deciding part gives it a value even if others have none."""
    zero, lost = any_of(a.zero for a in args), any_of(a.lost for a in args)
    if zero is FALSE and lost is FALSE:
        return Meaning((any_of if deciding else all_of)(a.value for a in args))
    decides = any_of(all_of((negate(a.zero), negate(a.lost), a.value if deciding else negate(a.value))) for a in args)
    open_ = negate(decides)
    return Meaning(decides if deciding else open_, all_of((open_, zero)), all_of((open_, lost)))


def _reduced(e: Expr, modulus: int) -> Expr:
    """Reduce the coefficients of a sum modulo ``modulus``, which preserves its residue class."""

    def small(n: int) -> int:
        return (n + modulus // 2) % modulus - modulus // 2

    match e:
        case Sum():
            return linear(small(e.const), [(t, small(k)) for t, k in e.terms])
        case Int():
            return integer(small(e.value))
    return e
