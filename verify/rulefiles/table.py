"""Evaluates a rule on many points at once.

One table answers three questions: where the rule fails, whether it claims anything, and which of its conditions it
needs.  Reported points are confirmed by :func:`.evaluate.judge`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, TypeAlias

import numpy as np

from ...core.condition import Condition, all_exprs
from ...core.expr import Var, interpret
from ...core.points import Magnitude
from ..point_columns import PointColumns
from ..refute import smallest
from .evaluate import judge, refutes
from .lowering import core_variables, lowered, lowered_condition
from .rule import StatedRule
from .terms import Term

Array: TypeAlias = "np.ndarray[Any, Any]"
#: Points, a column for each variable.
Columns: TypeAlias = "Mapping[str, Array]"

#: Limit below which absolute values are exact in 64 bits.
EXACT = (1 << 63) - 1


def largest_value(conditions: Iterable[Condition], largest: Mapping[Var, int]) -> int:
    """Return a bound on the absolute values of all intermediate results in the evaluation of conditions."""
    reading = Magnitude(largest)
    reading.peak = max([1, *largest.values()])
    interpret([e for c in conditions for e in all_exprs(c)], reading)
    return 2 * reading.peak


def reader(r: StatedRule, columns: Columns, conditions: Iterable[Condition]) -> tuple[PointColumns, bool]:
    """Return the points, typed for the evaluation of conditions, and whether 64 bits suffice for it."""
    variables = core_variables(r)
    sizes = {variables[v]: max(int(a.max()), -int(a.min())) if len(a) else 0 for v, a in columns.items()}
    exact = largest_value(conditions, sizes) < EXACT
    typed = {variables[v]: a.astype(np.int64 if exact else object, copy=False) for v, a in columns.items()}
    return PointColumns(typed, len(next(iter(columns.values()))) if columns else 1), exact


class Table:
    """A rule evaluated at many points.

    ``conditions`` has a mask for each condition.  ``concerned`` is the mask of points at which the left side has a value
    (and, if overflow is assumed not to occur, nothing overflows).  ``fails`` is the part of it at which the right side has
    no value or another one.  The table has every point of the rule whose coordinates are at most ``radius`` in magnitude.
    """

    def __init__(self, r: StatedRule, columns: Columns, size: int, radius: int = 0) -> None:
        self.rule = r
        self.radius = radius
        self.columns = columns
        self.size = size
        core = lowered(r)
        goal = core.goal
        points, _ = reader(r, columns, (*core.conditions, core.concerned, goal))
        self.conditions: list[Array] = [self._full(points.truth(c)) for c in core.conditions]
        self.concerned: Array = self._full(points.truth(core.concerned))
        self.fails: Array = self.concerned & ~self._full(points.truth(goal))

    def _full(self, a: Any) -> Array:
        return np.broadcast_to(np.asarray(a, dtype=bool), (self.size,))

    def _points(self, where: Array) -> Iterator[dict[str, int]]:
        """Yield the smallest points of a mask."""
        rows = (
            np.stack([a[where] for a in self.columns.values()], axis=1) if self.columns else np.zeros((where.sum(), 0))
        )
        for row in smallest(rows, 8):
            yield dict(zip(self.columns, row, strict=True))

    def _all(self, without: int | None = None) -> Array:
        kept = np.ones(self.size, dtype=bool)
        for k, c in enumerate(self.conditions):
            if k != without:
                kept &= c
        return kept

    def counterexample(self) -> dict[str, int] | None:
        """Return the smallest point of the table at which the rule fails, or ``None``."""
        for point in self._points(self._all() & self.fails):
            if refutes(self.rule, point):
                return point
        return None

    def example(self) -> dict[str, int] | None:
        """Return the smallest point of the table at which the rule claims something, or ``None``."""
        for point in self._points(self._all() & self.concerned):
            if judge(self.rule, point) != "not concerned":
                return point
        return None

    def needs(self, k: int) -> bool:
        """Return whether at some point the rule fails and only condition ``k`` is false."""
        return bool((self._all(without=k) & self.fails).any())

    def saved_by(self, condition: Term) -> Array | None:
        """Return the mask of concerned points with ``condition``; ``None`` if it is empty or the rule still fails."""
        c = lowered_condition(self.rule, condition)
        holds = self._full(reader(self.rule, self.columns, (c,))[0].truth(c)) & self._all() & self.concerned
        return holds if holds.any() and not (holds & self.fails).any() else None
