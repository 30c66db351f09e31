"""Counterexamples by climbing: points where more and more of what seemed equal is not.

Where two expressions differ deep inside, the difference has to go through all divisions and extrema above it.  Points at
which it gets farther than at others are kept and changed: a little at random, and aimed.  At the next division at which the
difference is lost, a variable moves so far that the dividend comes to a multiple of the divisor, and at the next minimum so
far that two of its arguments come to be equal.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from ...core.interval import Interval
from ...core.points import between
from .enumerate import drawn
from .forms import Form, LinearAlgebra, Row, combined, plus
from .problem import Problem

#: Smaller numbers are computed as machine integers.
_EXACT = 2**62
#: Among how many changed points counterexamples are looked for, of how many that are kept.
_CHILDREN = 2048
_PARENTS = 128
#: Half of the changed points are aimed, so many together in the same way.
_AIMED = 128
#: A point is aimed so many times in a row at most.
_TURNS = 3
#: So many differences are told apart, the outermost.
_MOST = 62
#: An aimed point is up to so many bits away from where it is aimed.
_BITS = 6


class Definitions(LinearAlgebra):
    """Atoms by number: 1 and the variables, then quotients and minima of linear forms in those before them."""

    def __init__(self) -> None:
        super().__init__()
        #: What is known of them.
        self.rows: list[Row] = []
        #: Differences of an atom and what it could not be shown to be; zero at all sample points.
        self.doubts: list[Form] = []

    def largest(self, f: Form) -> int | float:
        """No larger number comes up while ``f`` is computed from the values of atoms."""
        return sum(abs(k) * max(abs(self.lo[m]), abs(self.hi[m])) for m, k in f.items())

    def reach(self, goals: Iterable[Form] = ()) -> int | float:
        """No larger number comes up while atoms and ``goals`` are computed."""
        forms = [f for f, _ in (*self.quotients.values(), *self.rows)]
        forms += [f for fs in self.minima.values() for f in fs]
        forms += [*self.doubts, *goals, *({m: 1} for m in range(len(self.lo)))]
        numbers = [c for _, c in self.quotients.values()] + [abs(k) for f in forms for k in f.values()]
        return max(*numbers, *map(self.largest, forms))

    def computed(self, columns: Sequence[Any]) -> list[Any]:
        """The values of all atoms where the variables have the values of ``columns``."""
        found = [np.ones(len(columns[0]), dtype=columns[0].dtype), *columns]
        for m in range(len(found), len(self.lo)):
            if m in self.quotients:
                f, c = self.quotients[m]
                found.append(combined(f, found) // c)
            else:
                found.append(np.minimum.reduce([combined(f, found) for f in self.minima[m]]))
        return found

    def turn(self, m: int, random: Any) -> tuple[Form, int]:
        """A form and a number: near multiples of that, or near 0 if it is 0, the quotient or the minimum changes."""
        if m in self.quotients:
            return self.quotients[m]
        forms = self.minima[m]
        one, other = random.randint(len(forms), size=2)
        return plus(forms[one], forms[other], -1) if one != other else forms[one], 0

    def way_down(self, f: Form, random: Any) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
        """By what to multiply and to divide in turn how far ``f`` is to move, and the variables that then do, with factors.

        What else is on the way is taken to stay as it is.  The variables are those of one sum, the largest factor first.
        """
        ratios: list[tuple[int, int]] = []
        last = len(self.variables)
        while True:
            inner = [m for m in f if m]
            if not inner:
                return ratios, []
            m = inner[random.randint(len(inner))]
            k = f[m]
            if m <= last:
                moved = [(j, i) for j, i in f.items() if 0 < j <= last and abs(i) <= abs(k)]
                return ratios, sorted(moved, key=lambda t: (-abs(t[1]), t[0]))
            c = 1
            if m in self.quotients:
                f, c = self.quotients[m]
            else:
                f = self.minima[m][random.randint(len(self.minima[m]))]
            ratios.append((c, k))


def climbed(
    atoms: Definitions, options: Sequence[Sequence[Row]], problem: Problem, samples: Sequence[Any], generations: int
) -> dict[int, int] | None:
    """Values of the variables, by their atoms, where of each option some row is false; None if none are found.

    ``samples`` are values of the variables to begin with.  What is random is so in the same way every time.
    """
    # RandomState, unlike newer generators, promises the same numbers in every version
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
    # of the doubts about one atom the last, the outermost atom last
    apart = [f for _, f in sorted({max(f): f for f in atoms.doubts}.items())][-_MOST:]
    goals = [*apart, *(f for rows in options for f, _ in rows)]
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
        kept, shown = [x[chosen] for x in values], found[chosen]
        parents = random.randint(len(chosen), size=count)
        before = [x[parents] for x in kept[1 : len(points) + 1]]
        made = [_changed(x, pool, box, random, len(points)) for x, pool, box in zip(before, pools, boxes, strict=True)]
        for first in range(count // 2, count, _AIMED):
            aimed = _aimed(atoms, goals, kept, shown, boxes, random)
            for column, x in zip(made, aimed, strict=True):
                column[first : first + _AIMED] = x
        points = [np.concatenate([x, y]) for x, y in zip(kept[1:], made, strict=False)]
    return None


def _kept(rows: Any, found: Any, random: Any) -> Any:
    """Which points are kept: of each set of differences that are ``found`` together as many, where there are so many.

    How far a difference gets is not all: it may have to get there in another way, from points at which it gets less far.
    """
    # among equally good ones at random: otherwise the same points stay for ever
    order = rows[np.argsort(random.random_sample(len(rows)), kind="stable")]
    kinds, place = np.unique(found[order], return_inverse=True)
    if len(kinds) > _PARENTS:
        # those that get farthest
        return np.concatenate([order[place == k][:1] for k in range(len(kinds) - _PARENTS, len(kinds))])
    share = _PARENTS // max(len(kinds), 1)
    return np.concatenate([order[:0], *(order[place == k][:share] for k in range(len(kinds)))])


def _aimed(
    atoms: Definitions,
    goals: Sequence[Form],
    values: Sequence[Any],
    shown: Any,
    boxes: Sequence[tuple[int, int]],
    random: Any,
) -> list[Any]:
    """Points made, all in the same way, from some at which the same differences are ``shown``."""
    kinds = np.unique(shown)
    kind = kinds[-1 if random.randint(2) else random.randint(len(kinds))]
    rows = np.flatnonzero(shown == kind)
    rows = rows[random.randint(len(rows), size=_AIMED)]
    moved = [x[rows] for x in values]
    # first one of the next differences, any of them after that: those that were there may have gone
    goal = goals[min(int(kind).bit_length() + int(random.geometric(0.5)) - 1, len(goals) - 1)]
    _aim(atoms, goal, moved, boxes, random)
    for _ in range(random.randint(_TURNS)):
        moved = atoms.computed(moved[1 : len(boxes) + 1])
        _aim(atoms, goals[random.randint(len(goals))], moved, boxes, random)
    return moved[1 : len(boxes) + 1]


def _aim(atoms: Definitions, goal: Form, values: list[Any], boxes: Sequence[tuple[int, int]], random: Any) -> None:
    """Move variables, at points where atoms have ``values``, so that an atom of ``goal`` may change, in place."""
    turning = [m for m in goal if m in atoms.quotients or m in atoms.minima]
    if not turning:
        return
    f, c = atoms.turn(turning[random.randint(len(turning))], random)
    ratios, moved = atoms.way_down(f, random)
    if not moved:
        return
    count = len(values[0])
    near = random.randint(2 ** random.randint(_BITS + 1, size=count)) * (2 * random.randint(2, size=count) - 1)
    need = near.astype(values[0].dtype) - combined(f, values)
    if c:
        need = np.remainder(need, c) - c * random.randint(2, size=count).astype(need.dtype)
    for times, divisor in ratios:
        need = need // divisor * times
    for m, k in moved:
        before = values[m]
        values[m] = np.clip(before + need // k, *boxes[m - 1])
        need = need - k * (values[m] - before)


def _all_inside(rows: Sequence[Row], values: Sequence[Any]) -> Any:
    """Where all rows hold."""
    holds = np.ones(len(values[0]), dtype=bool)
    for f, i in rows:
        holds &= between(np.asarray(combined(f, values)), *i)
    return holds


def _changed(x: Any, pool: Any, box: tuple[int, int], random: Any, among: int) -> Any:
    """Values a random distance away from ``x``, or from ``pool``; few coordinates of a point change."""
    lo, hi = box
    rows = np.flatnonzero(random.randint(4 * among, size=len(x)) < 4 + among)
    count, before = len(rows), x[rows]
    # as many bits as the box has room for, or fewer
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
