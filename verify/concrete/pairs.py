"""Compares families of maps on small boxes as tables of pairs.

Each map is evaluated at its own points and marks its pairs in the table of its family.  The time grows with the total
number of points.  An engine that searches many maps for each pair takes time that grows with the product.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ...core.expr import Expr, integer
from ...core.indexing_map import IndexingMap
from ...core.interval import Interval
from ...core.points import domain_values

__all__ = ["LARGE", "SMALL", "Relation", "same_pairs"]

#: Limits on the points of one map; a table may have four times as many entries.
SMALL, LARGE = 1 << 20, 1 << 23


class Relation(NamedTuple):
    """The relation of a map, or its converse."""

    map: IndexingMap
    back: bool = False

    @property
    def ends(self) -> tuple[Sequence[Expr], Sequence[Expr]]:
        """The coordinates of sources and those of targets."""
        m = self.map
        return (m.results, m.dim_vars) if self.back else (m.dim_vars, m.results)

    @property
    def rank(self) -> tuple[int, int]:
        """The numbers of these coordinates."""
        source, target = self.ends
        return len(source), len(target)


def same_pairs(left: Sequence[Relation], right: Sequence[Relation], most: int = LARGE) -> bool | None:
    """Return whether two families have the same pairs, or ``None`` if there are too many, or runtime variables.

    Each map may have at most ``most`` points.
    """
    families = [[r for r in family if not r.map.is_trivially_empty] for family in (left, right)]
    both = [r for family in families for r in family]
    if len({r.rank for r in both}) > 1 or any(r.map.rts for r in both):
        return None
    # every relation is a product of these boxes and a rest, so the rests tell whether the families differ
    shared = set.intersection(*map(_factors, both)) if both else set()
    without = {i for i, *_ in shared}, {j for _, j, *_ in shared}

    def columns(r: Relation) -> list[np.ndarray] | None:
        kept = [e for side, out in zip(r.ends, without, strict=True) for k, e in enumerate(side) if k not in out]
        # a constant coordinate, so that a table without other coordinates still tells whether there is a point
        return domain_values(r.map, [integer(0), *kept], most)

    # evaluate twice, first for the size of the table: keeping the values of all maps may take too much memory
    box: list[Interval] = []
    for r in both:
        values = columns(r)
        if values is None:
            return None
        if values[0].size:
            ends = [Interval(int(c.min()), int(c.max())) for c in values]
            box = [a | b for a, b in zip(box, ends, strict=True)] if box else ends
    if math.prod(i.size for i in box) > 4 * most:
        return None
    tables = []
    for family in families:
        table = np.zeros([int(i.size) for i in box], dtype=bool)
        for values in map(columns, family):
            assert values is not None
            if values[0].size:
                at = (c - int(i.lo) for c, i in zip(values, box, strict=True))
                table[tuple(c.astype(np.intp) for c in at)] = True
        tables.append(table)
    return bool(np.array_equal(tables[0], tables[1]))


def _factors(r: Relation) -> set[tuple[int | None, int | None, int, int]]:
    """Return boxes whose product with the rest of the coordinates is the relation: (index in source, in target, lo, hi).

    Each is the box of a variable that occurs as a coordinate, of one side or of both, and nowhere else.
    """
    source, target = ({e: k for k, e in enumerate(side)} for side in r.ends)
    exprs = (*r.ends[0], *r.ends[1], *(c.expr for c in r.map.constraints))
    said = Counter(v for e in exprs for v in {*e.variables()})
    own = [(source.get(v.expr), target.get(v.expr), v) for v in (*r.map.dims, *r.map.ranges)]
    return {(i, j, v.lo, v.hi) for i, j, v in own if said[v.expr] == (i is not None) + (j is not None) > 0}
