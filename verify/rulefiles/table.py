"""Evaluates a rule on many points at once.

One table answers three questions: where the rule fails, whether it claims anything, and which of its conditions it
needs.  Reported points are confirmed by :func:`.evaluate.judge`.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ...core.condition import Condition, all_of
from ..point_columns import Array, PointColumns
from ..refute import smallest
from .evaluate import judge, refutes
from .lowering import core_variables, lowered, lowered_condition
from .rule import StatedRule
from .terms import Term


class Table:
    """A rule evaluated at many points, with a column for each variable; points outside of the ranges say nothing.

    ``conditions`` has a mask for each condition.  ``concerned`` is the mask of points at which the left side has a value
    (and, if overflow is assumed not to occur, nothing overflows).  ``fails`` is the part of it at which the right side has
    no value or another one.  The table has every point of the rule whose coordinates are at most ``radius`` in magnitude.
    """

    def __init__(self, r: StatedRule, points: Array, radius: int = 0) -> None:
        self.rule = r
        self.points = points
        self.radius = radius
        core = lowered(r)
        goal = core.goal
        concerned = all_of((*core.domain, core.concerned))
        columns = self._columns(*core.conditions, concerned, goal)
        self.conditions: list[Array] = [columns.truth(c) for c in core.conditions]
        self.concerned: Array = columns.truth(concerned)
        self.fails: Array = self.concerned & ~columns.truth(goal)

    def _columns(self, *about: Condition) -> PointColumns:
        columns = dict(zip(core_variables(self.rule).values(), self.points.T, strict=True))
        return PointColumns(columns, len(self.points), about)

    def _smallest(self, where: Array) -> Iterator[dict[str, int]]:
        """Yield the smallest points of a mask."""
        for row in smallest(self.points[where], 8):
            yield dict(zip(self.rule.variables, row, strict=True))

    def _all(self, without: int | None = None) -> Array:
        kept = np.ones(len(self.points), dtype=bool)
        for k, c in enumerate(self.conditions):
            if k != without:
                kept &= c
        return kept

    def counterexample(self) -> dict[str, int] | None:
        """Return the smallest point of the table at which the rule fails, or ``None``."""
        for point in self._smallest(self._all() & self.fails):
            if refutes(self.rule, point):
                return point
        return None

    def example(self) -> dict[str, int] | None:
        """Return the smallest point of the table at which the rule claims something, or ``None``."""
        for point in self._smallest(self._all() & self.concerned):
            if judge(self.rule, point) != "not concerned":
                return point
        return None

    def needs(self, k: int) -> bool:
        """Return whether at some point the rule fails and only condition ``k`` is false."""
        return bool((self._all(without=k) & self.fails).any())

    def saved_by(self, condition: Term) -> Array | None:
        """Return the mask of concerned points with ``condition``; ``None`` if it is empty or the rule still fails."""
        c = lowered_condition(self.rule, condition)
        holds = self._columns(c).truth(c) & self._all() & self.concerned
        return holds if holds.any() and not (holds & self.fails).any() else None
