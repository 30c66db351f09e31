"""Search for counterexamples to rules about machine integers with bit-vectors; it proves nothing."""

from __future__ import annotations

from functools import reduce
from operator import mul
from typing import Any

import z3

from ...core.condition import all_exprs
from ...core.points import peak
from ..encode import Encoder, limited, resources
from .evaluate import refutes
from .lowering import core_variables, lowered
from .rule import StatedRule

#: Limit on the width of bit-vectors, beyond which the solver finds nothing.
_WIDEST = 256


class _Bits(Encoder):
    """Interpretation as bit-vectors that are wide enough for every intermediate value; no divisor is zero."""

    def __init__(self, context: z3.Context, width: int) -> None:
        super().__init__(context)
        self.width = width

    def integer(self, n: int) -> Any:
        return z3.BitVecVal(n, self.width, self.context)

    def fresh(self) -> Any:
        return z3.BitVec(f"v{len(self.symbols)}", self.width, self.context)

    def sum(self, const: int, terms: list[tuple[Any, int]]) -> Any:
        return sum((t * self.integer(k) for t, k in terms), start=self.integer(const))

    def product(self, factors: list[Any]) -> Any:
        return reduce(mul, factors)

    def floordiv(self, a: Any, b: Any) -> Any:
        # bit-vector division rounds towards zero, and its remainder has the sign of the dividend
        q, r = a / b, z3.SRem(a, b)
        return z3.If(z3.And(r != 0, (r < 0) != (b < 0)), q - 1, q)

    def mod(self, a: Any, b: Any) -> Any:
        if z3.is_bv_value(b) and b.as_long().bit_count() == 1:
            kept = b.as_long().bit_length() - 1
            return z3.ZeroExt(self.width - kept, z3.Extract(kept - 1, 0, a)) if kept else self.integer(0)
        r = z3.SRem(a, b)
        return z3.If(z3.And(r != 0, (r < 0) != (b < 0)), r + b, r)

    def ceildiv(self, a: Any, b: Any) -> Any:
        return -self.floordiv(-a, b)


def bit_vector_point(r: StatedRule, budget: int) -> tuple[dict[str, int] | None, int]:
    """Return a point at which the rule fails, and the resources spent; ``None`` does not imply that there is none."""
    rule = lowered(r)
    names = core_variables(r)
    sizes = {names[v]: max(1, abs(lo or 0), abs(hi or 0)) for v, (lo, hi) in r.ranges().items()}
    exprs = [e for c in (*rule.given, rule.goal) for e in all_exprs(c)]
    width = (2 * peak(exprs, sizes)).bit_length() + 1
    if width > _WIDEST:
        return None, 0
    context = z3.Context()
    solver = limited(z3.SolverFor("QF_BV", ctx=context), budget)
    bits = _Bits(context, width)
    symbols = {v: bits.variable(core) for v, core in names.items()}
    solver.add(*map(bits.condition, rule.given), z3.Not(bits.condition(rule.goal)))
    answer = str(solver.check())
    spent = resources(solver)
    if answer != "sat":
        return None, spent
    found = solver.model()
    point = {v: found.eval(symbol, model_completion=True).as_signed_long() for v, symbol in symbols.items()}
    return (point if refutes(r, point) else None), spent
