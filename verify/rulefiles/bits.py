"""Counterexamples to rules about machine integers, from bit-vectors: a model is a point to try, and proves nothing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import z3

from ..budget import MAX_RLIMIT
from .evaluate import refutes
from .interpretation import Interpretation
from .rule import StatedRule
from .semantics import Rounding, Semantics
from .terms import below

__all__ = ["bit_vector_point"]

#: Wider bit-vectors than this are hopeless.
_WIDEST = 256


class _TooWide(Exception):
    """Exact values would need more bits than make sense."""


class _Bits(Interpretation):
    """Terms as bit-vectors wide enough for every value on the way, so that nothing is lost before it wraps."""

    def __init__(
        self, s: Semantics, symbols: Mapping[str, Any], context: z3.Context, width: int, *, machine: bool
    ) -> None:
        super().__init__(s, machine=machine)
        self.symbols = symbols
        self.context = context
        self.width = width

    def number(self, n: int) -> Any:
        return z3.BitVecVal(n, self.width, self.context)

    def variable(self, name: str) -> Any:
        return self.symbols[name]

    def truth(self, value: bool) -> Any:
        return z3.BoolVal(value, self.context)

    def conj(self, *parts: Any) -> Any:
        return z3.And(*parts)

    def disj(self, *parts: Any) -> Any:
        return z3.Or(*parts)

    def neg(self, part: Any) -> Any:
        return z3.Not(part)

    def less(self, a: Any, b: Any) -> Any:
        return a < b

    def equal(self, a: Any, b: Any) -> Any:
        return a == b

    def either(self, c: Any, a: Any, b: Any) -> Any:
        return z3.If(c, a, b)

    def extreme(self, op: str, a: Any, b: Any) -> Any:
        return z3.If(a <= b if op == "min" else a >= b, a, b)

    def wrapped(self, a: Any) -> Any:
        width = self.semantics.width
        return z3.SignExt(self.width - width, z3.Extract(width - 1, 0, a))

    def divided(self, rounding: Rounding, a: Any, b: Any, *, whole: bool) -> Any:
        nought, one = self.number(0), self.number(1)
        # bit-vectors divide towards zero, and their remainder has the sign of the dividend
        q, r = a / b, z3.SRem(a, b)
        match rounding.removesuffix("0"):
            case "floor":
                off = z3.And(r != nought, (r < nought) != (b < nought))
                q, r = z3.If(off, q - one, q), z3.If(off, r + b, r)
            case "euclid":
                off = r < nought
                positive = b > nought
                q = z3.If(off, q - z3.If(positive, one, -one), q)
                r = z3.If(off, z3.If(positive, r + b, r - b), r)
        return z3.If(b == nought, nought, q if whole else r)


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
    symbols: dict[str, Any] = {}
    solver = z3.SolverFor("QF_BV", ctx=context)
    solver.set("rlimit", min(budget, MAX_RLIMIT))
    solver.set("random_seed", 0)
    for k, (v, kind) in enumerate(r.variables.items()):
        symbol = symbols[v] = z3.BitVec(f"v{k}", width, context)
        lo, hi = (0, 1) if kind.name == "bool" else (s.lo, s.hi)
        lo = lo if kind.lo is None else max(lo, kind.lo)
        hi = hi if kind.hi is None else min(hi, kind.hi)
        solver.add(symbol >= lo, symbol <= hi)
    conditions = _Bits(s, symbols, context, width, machine=False)
    for c in r.conditions:
        solver.add(conditions.holds(c))
    sides = _Bits(s, symbols, context, width, machine=True)
    left, right = sides.of(r.left), sides.of(r.right)
    solver.add(z3.Not(left.zero), z3.Not(left.lost))
    if s.overflow == "nowrap":
        solver.add(z3.Not(right.lost))
    solver.add(z3.Or(right.zero, right.lost, left.value != right.value))
    answer = str(solver.check())
    statistics = solver.statistics()
    spent = next((int(n) for name, n in statistics if name == "rlimit count"), 0)
    if answer != "sat":
        return None, spent
    found = solver.model()
    point = {v: found.eval(symbol, model_completion=True).as_signed_long() for v, symbol in symbols.items()}
    return (point if refutes(r, point) else None), spent
