"""Compares families of maps on small boxes as tables of pairs.

Each map is evaluated at its own points and marks its pairs in the table of its family.  The time grows with the total
number of points.  An engine that searches many maps for each pair takes time that grows with the product.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

import numpy as np

from ...core.expr import Expr, integer
from ...core.indexing_map import IndexingMap
from ...core.interval import Interval
from ...core.points import domain_values

__all__ = ["LARGE", "SMALL", "same_pairs"]

#: Limits on the points of one map; a table may have four times as many entries.
SMALL, LARGE = 1 << 20, 1 << 23


def same_pairs(left: Sequence[IndexingMap], right: Sequence[IndexingMap], most: int = LARGE) -> bool | None:
    """Return whether two families have the same pairs, or ``None`` if there are too many, or runtime variables.

    Each map may have at most ``most`` points.
    """
    maps = [m for m in (*left, *right) if not m.is_trivially_empty]
    if len({(len(m.dims), len(m.results)) for m in maps}) > 1 or any(m.rts for m in maps):
        return None
    # every map is a product of these boxes and a rest, so the rests tell whether the families differ
    shared = set.intersection(*map(_factors, maps)) if maps else set()
    without = {i for i, *_ in shared}, {j for _, j, *_ in shared}

    def coordinates(m: IndexingMap) -> list[Expr]:
        # a constant coordinate, so that a table without other coordinates still tells whether there is a point
        dims = [integer(0), *(v.expr for i, v in enumerate(m.dims) if i not in without[0])]
        return dims + [e for j, e in enumerate(m.results) if j not in without[1]]

    # evaluate twice, first for the size of the table: keeping the values of all maps may take too much memory
    box: list[Interval] = []
    for m in maps:
        columns = domain_values(m, coordinates(m), most)
        if columns is None:
            return None
        if columns[0].size:
            ends = [Interval(int(c.min()), int(c.max())) for c in columns]
            box = [a | b for a, b in zip(box, ends, strict=True)] if box else ends
    if math.prod(i.size for i in box) > 4 * most:
        return None
    tables = []
    for family in (left, right):
        table = np.zeros([int(i.size) for i in box], dtype=bool)
        for m in family:
            if not m.is_trivially_empty:
                columns = domain_values(m, coordinates(m), most)
                assert columns is not None
                if columns[0].size:
                    at = (c - int(i.lo) for c, i in zip(columns, box, strict=True))
                    table[tuple(c.astype(np.intp) for c in at)] = True
        tables.append(table)
    return bool(np.array_equal(tables[0], tables[1]))


def _factors(m: IndexingMap) -> set[tuple[int | None, int | None, int, int]]:
    """Return boxes whose product with the rest of the coordinates is the relation of a map: (dimension, result, lo, hi).

    Each is of a dimension that occurs nowhere, of a result that is a range and depends on nothing else, or of a
    dimension and its copy.
    """
    said = Counter(v for e in (*m.results, *(c.expr for c in m.constraints)) for v in {*e.variables()})
    at: dict[Expr, int] = {e: j for j, e in enumerate(m.results)}
    free = {(i, None, v.lo, v.hi) for i, v in enumerate(m.dims) if not said[v.expr]}
    own = [(i if i < len(m.dims) else None, v) for i, v in enumerate((*m.dims, *m.ranges))]
    return free | {(i, at[v.expr], v.lo, v.hi) for i, v in own if said[v.expr] == 1 and v.expr in at}
