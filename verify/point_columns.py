"""Vectorized evaluation of expressions and conditions at many points."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ..core.condition import Condition, condition_interpret
from ..core.expr import Expr, Integers, Var, interpret


class PointColumns(Integers):
    """Evaluates over the integers on columns of points, and records the points with a zero divisor."""

    def __init__(self, columns: Mapping[Var, Any], size: int) -> None:
        super().__init__(columns)
        self.undefined = np.zeros(size, dtype=bool)
        self._kind = object if any(a.dtype == object for a in columns.values()) else np.int64
        self._memo: dict[Expr, Any] = {}

    def value(self, e: Expr) -> Any:
        """Return the values of an expression at all points."""
        return interpret((e,), self, self._memo)[0]

    def truth(self, c: Condition) -> Any:
        """Return the points where a condition holds, as a mask."""
        return condition_interpret(c, self.value, self)

    def _divisor(self, b: Any) -> Any:
        self.undefined |= np.equal(b, 0)
        return _not_zero(b)

    def select(self, c: Condition, value_of: Callable[[Expr], Any], a: Any, b: Any) -> Any:
        # the operands must have the columns' type, lest sums of them wrap at 64 bits
        a, b = (np.asarray(x, dtype=self._kind) for x in (a, b))
        return np.where(condition_interpret(c, value_of, self), a, b)

    # -- connectives
    def const(self, value: bool) -> Any:
        return np.full(len(self.undefined), value)

    def compare(self, op: str, a: Any, b: Any) -> Any:
        return {"<=": np.less_equal, "<": np.less, "==": np.equal, "!=": np.not_equal}[op](a, b)

    def within(self, e: Any, lo: Any, hi: Any) -> Any:
        return np.less_equal(lo, e) & np.less_equal(e, hi)

    def divides(self, d: Any, e: Any) -> Any:
        return np.not_equal(d, 0) & np.equal(e % _not_zero(d), 0)

    def conj(self, parts: list[Any]) -> Any:
        return np.logical_and.reduce(parts)

    def disj(self, parts: list[Any]) -> Any:
        return np.logical_or.reduce(parts)

    def neg(self, part: Any) -> Any:
        return ~part


def _not_zero(b: Any) -> Any:
    """Replace zero divisors by one.  A literal stays an int, because it may not fit into 64 bits."""
    return b or 1 if isinstance(b, int) else np.where(np.equal(b, 0), 1, b)
