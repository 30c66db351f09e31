"""Vectorized evaluation of expressions and conditions at many points: exact, however large the integers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeAlias

import numpy as np

from ..core.condition import Condition, all_exprs, condition_interpret
from ..core.expr import Expr, Integers, Var, interpret
from ..core.points import exact_type

Array: TypeAlias = "np.ndarray[Any, Any]"
#: Limit on the magnitude of 64-bit columns that are computed.
_LARGEST = 1 << 61


def narrow(a: Array) -> Array:
    """Return the array with integers of 64 bits if sums of two such arrays fit as well, else with Python integers."""
    small = a.size == 0 or (-_LARGEST <= a.min() and a.max() <= _LARGEST)
    return a.astype(np.int64 if small else object, copy=False)


class PointColumns(Integers):
    """Evaluates ``about`` over the integers on columns of points, and records the points with a zero divisor.

    The columns become Python integers where 64 bits do not hold every intermediate value.
    """

    def __init__(self, columns: Mapping[Var, Array], size: int, about: Iterable[Expr | Condition]) -> None:
        exprs = [e for x in about for e in ((x,) if isinstance(x, Expr) else all_exprs(x))]
        self._kind = exact_type(exprs, columns)
        super().__init__({v: a.astype(self._kind, copy=False) for v, a in columns.items()})
        self.undefined = np.zeros(size, dtype=bool)
        self._memo: dict[Expr, Any] = {}

    def column(self, e: Expr) -> Array:
        """Return the values of an expression as a column."""
        return narrow(np.broadcast_to(np.asarray(self.value(e), dtype=self._kind), self.undefined.shape))

    def value(self, e: Expr) -> Any:
        """Return the values of an expression at all points."""
        return interpret((e,), self, self._memo)[0]

    def truth(self, c: Condition) -> Array:
        """Return the points where a condition holds, as a mask."""
        return np.broadcast_to(condition_interpret(c, self.value, self), self.undefined.shape)

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
