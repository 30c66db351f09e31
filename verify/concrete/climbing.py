"""Search for counterexamples by climbing: points at which more and more doubtful equalities fail.

A difference deep inside two expressions must pass through all divisions and extrema above it.  Points at which it gets
farther than at others are kept and changed at random.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from ...core.interval import Interval
from ...core.points import between
from .enumerate import drawn
from .forms import Form, LinearAlgebra, Row, combined
from .problem import Problem

#: Limit on numbers that are computed as machine integers.
_EXACT = 2**62
#: The changed points of a generation, and the kept points from which they are made.
_CHILDREN = 2048
_PARENTS = 128
#: Limit on the differences that are observed, the outermost first: each is one bit of an ``int64``.
_MOST = 62


class Definitions(LinearAlgebra):
    """Numbered atoms: 1 and the variables, then quotients and minima of linear forms in earlier atoms."""

    def __init__(self) -> None:
        super().__init__()
        #: Facts about atoms.
        self.rows: list[Row] = []
        #: Differences of an atom and a form not proved equal to it; they are zero at all sample points.
        self.doubts: list[Form] = []

    def largest(self, f: Form) -> int | float:
        """Return a bound on the numbers in the computation of ``f`` from the values of atoms."""
        return sum(abs(k) * max(abs(self.lo[m]), abs(self.hi[m])) for m, k in f.items())

    def reach(self, goals: Iterable[Form] = ()) -> int | float:
        """Return a bound on the numbers in the computation of all atoms and ``goals``."""
        forms = [f for f, _ in (*self.quotients.values(), *self.rows)]
        forms += [f for fs in self.minima.values() for f in fs]
        forms += [*self.doubts, *goals, *({m: 1} for m in range(len(self.lo)))]
        numbers = [c for _, c in self.quotients.values()] + [abs(k) for f in forms for k in f.values()]
        return max(*numbers, *map(self.largest, forms))

    def computed(self, columns: Sequence[Any]) -> list[Any]:
        """Return the values of all atoms, given ``columns`` of values of the variables."""
        found = [np.ones(len(columns[0]), dtype=columns[0].dtype), *columns]
        for m in range(len(found), len(self.lo)):
            if m in self.quotients:
                f, c = self.quotients[m]
                found.append(combined(f, found) // c)
            else:
                found.append(np.minimum.reduce([combined(f, found) for f in self.minima[m]]))
        return found


def climbed(
    atoms: Definitions, options: Sequence[Sequence[Row]], problem: Problem, samples: Sequence[Any], generations: int
) -> dict[int, int] | None:
    """Return values of the variables, by atom, at which every option has a false row, or ``None`` if none are found.

    ``samples`` are values of the variables to start from.  The random numbers are the same in every run.
    """
    # RandomState, unlike newer generators, guarantees the same numbers in every version
    random = np.random.RandomState(generations)
    if not problem.variables:
        return None
    exact = atoms.reach(f for rows in options for f, _ in rows) < _EXACT
    dtype: type = np.int64 if exact else object
    boxes = [(int(i.lo), int(i.hi)) for _, i in problem.variables]
    count = _CHILDREN if exact else _CHILDREN // 8
    pools: list[Any] = [
        np.concatenate([s, drawn(Interval(*b), count, k + 17, dtype)]).astype(dtype)
        for k, (s, b) in enumerate(zip(samples, boxes, strict=True))
    ]
    points = pools
    # the last doubt about each atom, outermost atoms last
    apart = [f for _, f in sorted({max(f): f for f in atoms.doubts}.items())][-_MOST:]
    for _ in range(generations):
        values = atoms.computed(points)
        keep = _all_inside(atoms.rows, values)
        bad = keep.copy()
        for rows in options:
            bad &= ~_all_inside(rows, values)
        hits = np.flatnonzero(bad)
        if len(hits):
            return {m: int(values[m][hits[0]]) for m in range(1, len(points) + 1)}
        found = np.zeros(len(keep), dtype=np.int64)
        for k, f in enumerate(apart):
            found |= np.asarray(combined(f, values) != 0, dtype=bool).astype(np.int64) << k
        chosen = _kept(np.flatnonzero(keep), found, random)
        if not len(chosen):
            return None
        kept = [x[chosen] for x in values[1 : len(points) + 1]]
        parents = random.randint(len(chosen), size=count)
        points = [
            np.concatenate([x, _changed(x[parents], pool, box, random, len(points))])
            for x, pool, box in zip(kept, pools, boxes, strict=True)
        ]
    return None


def _kept(rows: Any, found: Any, random: Any) -> Any:
    """Return the points to keep: equally many for each set of differences that are ``found`` together.

    Keeping only the farthest points would lose paths that start from points at which differences get less far.
    """
    # choose at random among equally good points, so that they are exchanged over time
    order = rows[np.argsort(random.random_sample(len(rows)), kind="stable")]
    kinds, place = np.unique(found[order], return_inverse=True)
    if len(kinds) > _PARENTS:
        # the highest bits are the outermost differences
        return np.concatenate([order[place == k][:1] for k in range(len(kinds) - _PARENTS, len(kinds))])
    share = _PARENTS // max(len(kinds), 1)
    return np.concatenate([order[:0], *(order[place == k][:share] for k in range(len(kinds)))])


def _all_inside(rows: Sequence[Row], values: Sequence[Any]) -> Any:
    """Return a mask of the points at which all rows hold."""
    holds = np.ones(len(values[0]), dtype=bool)
    for f, i in rows:
        holds &= between(np.asarray(combined(f, values)), *i)
    return holds


def _changed(x: Any, pool: Any, box: tuple[int, int], random: Any, among: int) -> Any:
    """Return ``x`` with few coordinates changed: moved by a random distance, or drawn from ``pool``."""
    lo, hi = box
    rows = np.flatnonzero(random.randint(4 * among, size=len(x)) < 4 + among)
    count, before = len(rows), x[rows]
    # distances of random magnitude, up to the width of the box
    most = min((hi - lo).bit_length(), 60)
    size = random.randint(2**60, size=count, dtype=np.int64) >> (
        60 - (random.random_sample(count) * (most + 1)).astype(np.int64)
    )
    sign = 2 * random.randint(2, size=count) - 1
    moved = np.minimum(np.maximum(before + ((size + 1) * sign).astype(x.dtype), lo), hi)
    anywhere = pool[random.randint(len(pool), size=count)]
    made = x.copy()
    made[rows] = np.where(random.randint(8, size=count) == 0, anywhere, moved)
    return made
