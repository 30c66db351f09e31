"""Cases of overlaps of which instances are drawn at random: first the numbers that its constants are.

The draws have a fixed seed, so that the answer is the same on every machine.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...core.condition import FALSE, Condition, Divides
from ...core.expr import Expr, Var, integer
from ..refute import failing_points
from .instances import defined
from .overlap import Overlap
from .unify import is_share

__all__ = ["SEED", "DrawnCase", "drawn_numbers"]

SEED = 20260722

#: What constants are drawn from; what unification invents for the share of a constant is drawn from the second.
_NUMBERS = (1, 2, 2, 3, 3, 4, 5, 6, 6, 8, 9, 10, 12, 12, 15, 16, 18, 20, 24, 30, 36, -1, -2, -3, -4, -6)
_SHARES = (0, 0, 0, 1, 1, -1, 2, 3, -2, 5, 7)
#: Counts: assignments of constants that are drawn, and kept; the largest constant.
_DRAWN = 200_000
_KEPT = 1_500
_LARGEST = 400


def drawn_numbers(
    constants: Sequence[Var],
    known: Sequence[Condition],
    generator: np.random.Generator,
    numbers: Sequence[int] | None = None,
) -> list[list[int]]:
    """Values for the constants that satisfy what is known of constants alone, no two the same.

    They are drawn from ``numbers``, where these are given.
    """
    if not constants:
        return [[] for _ in range(_KEPT)]
    column = {v: i for i, v in enumerate(constants)}
    pools = [_SHARES if is_share(v) else numbers or _NUMBERS for v in constants]
    grid = np.stack([generator.choice(np.array(p), size=_DRAWN) for p in pools], axis=1)
    for h in known:
        # hardly ever would one drawn at random divide another
        if isinstance(h, Divides) and h.e in column and h.d in column:
            grid[:, column[h.e]] *= grid[:, column[h.d]]
    grid = np.unique(grid[np.abs(grid).max(axis=1) <= _LARGEST], axis=0)
    for h in known:
        grid = failing_points(grid, constants, (h,), FALSE)
    kept: list[list[int]] = generator.permutation(grid)[:_KEPT].tolist()
    return kept


class DrawnCase:
    """One case of an overlap: its expressions, what is known, its constants, and the other variables."""

    def __init__(self, o: Overlap) -> None:
        self.start, self.spot, self.facts = defined(o)
        names = self.start.variables()
        self.constants = [v for v in names if v.kind == "const"]
        self.loose = [v for v in names if v.kind != "const"]

    def rows(self, generator: np.random.Generator, pool: Sequence[int] | None = None) -> list[list[int]]:
        """Values for the constants, as :func:`drawn_numbers` draws them."""
        mine = set(self.constants)
        known = [c for c in self.facts if set(c.variables()) <= mine]
        return drawn_numbers(self.constants, known, generator, pool)

    def numbers(self, row: Sequence[int]) -> dict[Var, Expr]:
        """What the constants stand for."""
        return {v: integer(n) for v, n in zip(self.constants, row, strict=True)}
