"""A rule evaluated on many points at once.

One table answers three questions: where the rule fails, whether it says anything at all, and without which of its
conditions it would fail.  Whatever is reported is confirmed by :func:`.evaluate.judge`.
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

#: Absolute values below this are exact in 64 bits.
EXACT = (1 << 63) - 1


def largest_value(conditions: Iterable[Condition], largest: Mapping[Var, int]) -> int:
    """A bound on every absolute value on the way to the truth of conditions."""
    reading = Magnitude(largest)
    reading.peak = max([1, *largest.values()])
    interpret([e for c in conditions for e in all_exprs(c)], reading)
    return 2 * reading.peak


def reader(r: StatedRule, columns: Columns, conditions: Iterable[Condition]) -> tuple[PointColumns, bool]:
    """The points for the evaluation of conditions, and whether 64 bits are enough for that."""
    variables = core_variables(r)
    sizes = {variables[v]: max(int(a.max()), -int(a.min())) if len(a) else 0 for v, a in columns.items()}
    exact = largest_value(conditions, sizes) < EXACT
    typed = {variables[v]: a.astype(np.int64 if exact else object, copy=False) for v, a in columns.items()}
    return PointColumns(typed, len(next(iter(columns.values()))) if columns else 1), exact


class Table:
    """A rule on many points.

    ``conditions`` has a row of truth values for each condition; ``concerned`` says where the left side has a value (and,
    where overflow is assumed not to occur, nothing overflows), ``fails`` where besides the right side has none or another.
    Every point of the rule without a coordinate larger than ``radius`` is there.
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
        """The smallest points of some rows."""
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
        """The smallest point of the table at which the rule fails."""
        for point in self._points(self._all() & self.fails):
            if refutes(self.rule, point):
                return point
        return None

    def example(self) -> dict[str, int] | None:
        """The smallest point of the table at which the rule says something."""
        for point in self._points(self._all() & self.concerned):
            if judge(self.rule, point) != "not concerned":
                return point
        return None

    def needs(self, k: int) -> bool:
        """Whether at some point only condition ``k`` keeps the rule from failing."""
        return bool((self._all(without=k) & self.fails).any())

    def saved_by(self, condition: Term) -> Array | None:
        """Where the rule says something and ``condition`` holds; ``None`` if that is nowhere, or the rule still fails."""
        c = lowered_condition(self.rule, condition)
        holds = self._full(reader(self.rule, self.columns, (c,))[0].truth(c)) & self._all() & self.concerned
        return holds if holds.any() and not (holds & self.fails).any() else None
