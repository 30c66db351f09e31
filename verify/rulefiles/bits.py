"""Counterexamples to rules about machine integers, from bit-vectors: a model is a point to try, and proves nothing."""

from __future__ import annotations

from typing import Any

import z3

from ..budget import MAX_RLIMIT
from .evaluate import division, judge
from .rule import StatedRule
from .semantics import Rounding
from .terms import Term, below

__all__ = ["bit_vector_point"]

#: Wider bit-vectors than this are hopeless.
_WIDEST = 256


class _TooWide(Exception):
    """Exact values would need more bits than make sense."""


class _Bits:
    """Terms as bit-vectors wide enough for every value on the way, so that nothing is lost before it wraps."""

    def __init__(self, r: StatedRule, context: z3.Context, width: int) -> None:
        self.rule = r
        self.context = context
        self.width = width
        self.symbols: dict[str, Any] = {}

    def number(self, n: int) -> Any:
        return z3.BitVecVal(n, self.width, self.context)

    def symbol(self, name: str) -> Any:
        found = self.symbols.get(name)
        if found is None:
            symbol = z3.Z3_mk_int_symbol(self.context.ref(), len(self.symbols))
            sort = z3.BitVecSort(self.width, self.context)
            constant = z3.Z3_mk_const(self.context.ref(), symbol, sort.ast)
            found = self.symbols[name] = z3.BitVecRef(constant, self.context)
        return found

    def false(self) -> Any:
        return z3.BoolVal(False, self.context)

    def read(self, roots: tuple[Term, ...], *, machine: bool) -> dict[int, tuple[Any, Any, Any]]:
        """Value, and where it is missing because of a division by zero or an overflow, of every term."""
        done: dict[int, tuple[Any, Any, Any]] = {}
        for t in below(*roots):
            value, zero, lost = self._term(t, [done[id(a)] for a in t.args])
            if machine and t.op in _RESULTS:
                value, lost = self._fitted(t, value, lost, [done[id(a)][0] for a in t.args])
            done[id(t)] = value, zero, lost
        return done

    def _fitted(self, t: Term, value: Any, lost: Any, args: list[Any]) -> tuple[Any, Any]:
        s = self.rule.semantics
        if s.overflow == "wrap":
            return z3.SignExt(self.width - s.width, z3.Extract(s.width - 1, 0, value)), lost
        outside = z3.Or(value < self.number(s.lo), value > self.number(s.hi))
        if division(t, s) is not None:
            outside = z3.Or(outside, z3.And(args[0] == self.number(s.lo), args[1] == self.number(-1)))
        return value, z3.Or(lost, outside)

    def _term(self, t: Term, args: list[tuple[Any, Any, Any]]) -> tuple[Any, Any, Any]:
        no = self.false()
        match t.op:
            case "int":
                return self.number(int(t.value)), no, no
            case "bool":
                return z3.BoolVal(bool(t.value), self.context), no, no
            case "var":
                return self.symbol(t.name), no, no
            case "flag":
                return self.symbol(t.name) != self.number(0), no, no
            case "fold":
                return args[0]
            case "and" | "or":
                return self._connective(t.op == "or", args)
            case "select" | "choose":
                (c, cz, cl), (a, az, al), (b, bz, bl) = args
                return z3.If(c, a, b), z3.Or(cz, z3.If(c, az, bz)), z3.Or(cl, z3.If(c, al, bl))
        zero = z3.Or(no, *(z for _, z, _ in args))
        lost = z3.Or(no, *(x for _, _, x in args))
        xs = [a for a, _, _ in args]
        kind = division(t, self.rule.semantics)
        if kind is not None:
            return self._division(kind[0], xs[0], xs[1], zero, lost, whole=kind[1])
        if t.op == "cdiv":
            rounding: Rounding = "floor0" if self.rule.semantics.quotient.endswith("0") else "floor"
            value, zero, lost = self._division(rounding, -xs[0], xs[1], zero, lost, whole=True)
            return -value, zero, lost
        return self._plain(t.op, xs), zero, lost

    def _connective(self, deciding: bool, args: list[tuple[Any, Any, Any]]) -> tuple[Any, Any, Any]:
        (a, az, al), (b, bz, bl) = args
        decides = [z3.And(x if deciding else z3.Not(x), z3.Not(z), z3.Not(lost)) for x, z, lost in args]
        open_ = z3.Not(z3.Or(*decides))
        value = z3.Or(a, b) if deciding else z3.And(a, b)
        known = z3.If(open_, value, z3.BoolVal(deciding, self.context))
        return known, z3.And(open_, z3.Or(az, bz)), z3.And(open_, z3.Or(al, bl))

    def _division(
        self, rounding: Rounding, a: Any, b: Any, zero: Any, lost: Any, *, whole: bool
    ) -> tuple[Any, Any, Any]:
        nought = self.number(0)
        by_zero = b == nought
        if not rounding.endswith("0"):
            zero = z3.Or(zero, by_zero)
        # bit-vectors divide towards zero, and their remainder has the sign of the dividend
        q, r = a / b, z3.SRem(a, b)
        match rounding.removesuffix("0"):
            case "floor":
                off = z3.And(r != nought, (r < nought) != (b < nought))
                q, r = z3.If(off, q - self.number(1), q), z3.If(off, r + b, r)
            case "euclid":
                off = r < nought
                step = z3.If(b > nought, self.number(1), self.number(-1))
                q, r = z3.If(off, q - step, q), z3.If(off, z3.If(b > nought, r + b, r - b), r)
        return z3.If(by_zero, nought, q if whole else r), zero, lost

    def _plain(self, op: str, xs: list[Any]) -> Any:
        match op:
            case "add":
                return xs[0] + xs[1]
            case "sub":
                return xs[0] - xs[1]
            case "neg":
                return -xs[0]
            case "mul":
                return xs[0] * xs[1]
            case "min":
                return z3.If(xs[0] <= xs[1], xs[0], xs[1])
            case "max":
                return z3.If(xs[0] >= xs[1], xs[0], xs[1])
            case "wrap":
                width = self.rule.semantics.width
                return z3.SignExt(self.width - width, z3.Extract(width - 1, 0, xs[0]))
            case "lt":
                return xs[0] < xs[1]
            case "le":
                return xs[0] <= xs[1]
            case "gt":
                return xs[0] > xs[1]
            case "ge":
                return xs[0] >= xs[1]
            case "eq" | "iff":
                return xs[0] == xs[1]
            case "ne" | "xor":
                return xs[0] != xs[1]
            case "within":
                return z3.And(xs[1] <= xs[0], xs[0] <= xs[2])
            case "divides":
                return z3.And(xs[0] != self.number(0), z3.SRem(xs[1], xs[0]) == self.number(0))
            case "not":
                return z3.Not(xs[0])
        raise AssertionError(f"no meaning for {op}")


#: Operators whose results may leave the range of machine integers.
_RESULTS = frozenset(
    {"int", "add", "sub", "neg", "mul", "fdiv", "mod", "cdiv"}
    | {"floordiv", "floormod", "truncdiv", "truncmod", "eucliddiv", "euclidmod"}
)


def _width(r: StatedRule) -> int:
    """Bits in which every value on the way is exact."""
    s = r.semantics
    widest = s.width + 1
    for roots, machine in (((r.left, r.right), True), (r.conditions, False)):
        done: dict[int, int] = {}
        for t in below(*roots):
            args = [done[id(a)] for a in t.args]
            match t.op:
                case "int":
                    n = int(t.value).bit_length() + 1
                case "var" | "flag":
                    n = s.width
                case "add" | "sub" | "neg":
                    n = max(args) + 1
                case "mul":
                    n = sum(args)
                case _:
                    n = max(args, default=1) + 1
            widest = max(widest, n + 1)
            done[id(t)] = min(n, s.width) if machine and s.overflow == "wrap" else n
    if widest > _WIDEST:
        raise _TooWide
    return widest


def bit_vector_point(r: StatedRule, budget: int) -> tuple[dict[str, int] | None, int]:
    """A point at which the rule fails, and the resources spent; ``None`` says nothing."""
    s = r.semantics
    try:
        width = _width(r)
    except _TooWide:
        return None, 0
    context = z3.Context()
    bits = _Bits(r, context, width)
    conditions = bits.read(r.conditions, machine=False)
    sides = bits.read((r.left, r.right), machine=True)
    solver = z3.SolverFor("QF_BV", ctx=context)
    solver.set("rlimit", min(budget, MAX_RLIMIT))
    solver.set("random_seed", 0)
    for v, kind in r.variables.items():
        lo, hi = (0, 1) if kind.name == "bool" else (s.lo, s.hi)
        lo = lo if kind.lo is None else max(lo, kind.lo)
        hi = hi if kind.hi is None else min(hi, kind.hi)
        solver.add(bits.number(lo) <= bits.symbol(v), bits.symbol(v) <= bits.number(hi))
    for c in r.conditions:
        value, zero, lost = conditions[id(c)]
        solver.add(value, z3.Not(zero), z3.Not(lost))
    left, left_zero, left_lost = sides[id(r.left)]
    right, right_zero, right_lost = sides[id(r.right)]
    solver.add(z3.Not(left_zero), z3.Not(left_lost))
    if s.overflow == "nowrap":
        solver.add(z3.Not(right_lost))
    solver.add(z3.Or(right_zero, right_lost, left != right))
    answer = str(solver.check())
    statistics = solver.statistics()
    spent = next((int(n) for name, n in statistics if name == "rlimit count"), 0)
    if answer != "sat":
        return None, spent
    found = solver.model()
    point = {v: found.eval(bits.symbol(v), model_completion=True).as_signed_long() for v in r.variables}
    return (point if judge(r, point) in ("counterexample", "undefined") else None), spent
