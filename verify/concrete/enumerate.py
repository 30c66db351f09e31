"""Exhaustive evaluation with numpy: decides small problems, and searches large ones for small counterexamples.

Each variable has an axis of its own, so a subexpression is computed once per point of the variables that it
mentions, with machine integers where no step can overflow (:func:`~indexproof.core.points.computed`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ...core.expr import Expr
from ...core.interval import Interval
from ...core.points import between, computed
from .problem import HOLDS, Box, Fact, Outcome, Point, Problem, counterexample_order, size, smallest

NAME = "enumeration"
#: Limit on the enumerated points of the variables, times the choices for the unknowns.
LIMIT = 200_000
#: Limit on simultaneous evaluations, which bounds memory.  Larger boxes are cut into parts.
_PART = 1 << 21
#: Number of points that :func:`probe` tries.
CORNER = 4096
#: Limits on the steps of shrinking a counterexample, and on their evaluations in units of :data:`LIMIT`.
_MAX_STEPS = 100
_SHRINKING = 4
_MAX_AXES = 60  # numpy has 64
_INT64 = 2**63 - 1


def _grid(box: Box, before: int = 0) -> dict[Expr, Any]:
    """Return one array per variable along its own axis, with ``before`` axes in front of those of the box."""
    env: dict[Expr, Any] = {}
    for axis, (v, (lo, hi)) in enumerate(box):
        values: Any = np.arange(int(hi - lo) + 1)
        values = values + int(lo) if max(-lo, hi) <= _INT64 else values.astype(object) + int(lo)
        env[v] = values.reshape([-1 if k == before + axis else 1 for k in range(before + len(box))])
    return env


def satisfied(facts: Sequence[Fact], columns: Mapping[Expr, Any]) -> Any:
    """Return a mask of the points, one in each row of ``columns``, at which all facts hold."""
    count = len(next(iter(columns.values()))) if columns else 1
    kept = np.ones(count, dtype=bool)
    for f, x in zip(facts, computed([f.expr for f in facts], columns, (count,)), strict=True):
        kept &= between(x, *f.within)
    return kept


def _conjunction(facts: Sequence[Fact], points: Mapping[Expr, Any]) -> Any:
    """Return a mask of the points at which all facts hold; the coordinates are arrays that broadcast."""
    result: Any = np.True_
    for f, x in zip(facts, computed([f.expr for f in facts], points), strict=True):
        result = result & between(x, *f.within)
    return result


def _violations(problem: Problem, points: Mapping[Expr, Any], axes: int) -> Any:
    """Return a mask of the points with ``axes`` axes at which ``where`` holds and no option does; it may be a scalar."""
    bad = _conjunction(problem.where, points)
    for option in problem.options:
        if not np.any(bad):
            break
        if any(i.empty for _, i in option.unknowns):
            continue  # nothing to choose from
        more = (1,) * len(option.unknowns)
        wider = {v: a.reshape(a.shape + more) for v, a in points.items()} if more else points
        fits = _conjunction(option.facts, {**wider, **_grid(option.unknowns, axes)})
        if more and np.ndim(fits):
            fits = fits.any(axis=tuple(range(axes, axes + len(more))))
        bad = bad & ~fits
    return bad


def _first(points: np.ndarray) -> Point:
    """Return the first row in :func:`~.problem.counterexample_order`."""
    sizes = np.abs(points)
    chosen = np.arange(len(points))
    for column in (sizes.sum(axis=1), *sizes.T, *(-points.T)):
        chosen = chosen[np.flatnonzero(column[chosen] == column[chosen].min())]
    return tuple(int(x) for x in points[chosen[0]])


def _sum_type(box: Box) -> type:
    return np.int64 if sum(int(max(abs(i.lo), abs(i.hi))) for _, i in box) <= _INT64 else object


def decide(problem: Problem, limit: int = LIMIT) -> Outcome:
    """Try every point if there are at most ``limit``; a counterexample is then the first in the order."""
    points = size(problem.variables)
    worst = max([1, *(size(o.unknowns) for o in problem.options)])
    axes = len(problem.variables) + max([0, *(len(o.unknowns) for o in problem.options)])
    if max(points, worst) > limit or points * worst > limit or axes > _MAX_AXES:
        return Outcome("open", note="too many points")
    if not points:
        return HOLDS
    best = HOLDS
    for part in _parts(problem, max(LIMIT, _PART // int(worst))):
        try:
            bad = _violations(part, _grid(part.variables), len(part.variables))
        except ZeroDivisionError:
            return Outcome("open", note="a divisor can be zero")
        shape = tuple(int(i.hi - i.lo) + 1 for _, i in part.variables)
        indices = np.argwhere(np.broadcast_to(bad, shape))
        if not len(indices):
            continue
        dtype = _sum_type(part.variables)
        lows: Any = np.array([int(i.lo) for _, i in part.variables], dtype=dtype)
        found = _first(indices.astype(dtype) + lows)
        if best.status == "holds" or counterexample_order(found) < counterexample_order(best.point):
            best = Outcome("fails", found)
    return best


def _parts(problem: Problem, most: int) -> Iterator[Problem]:
    """Yield the problem on parts of its box of at most ``most`` points each."""
    todo = [problem.variables]
    while todo:
        box = todo.pop()
        if size(box) <= most:
            yield replace(problem, variables=box)
            continue
        k = max(range(len(box)), key=lambda n: box[n][1].hi - box[n][1].lo)
        v, (lo, hi) = box[k]
        middle = (int(lo) + int(hi)) // 2
        todo += [(*box[:k], (v, half), *box[k + 1 :]) for half in (Interval(middle + 1, hi), Interval(lo, middle))]


def _affordable(problem: Problem, count: int) -> int:
    """Return the number of points that ``count`` evaluations suffice for, with all choices for unknowns at each."""
    axes = 1 + max([0, *(len(o.unknowns) for o in problem.options)])
    if not problem.variables or axes > _MAX_AXES:
        return 0
    return int(count // max([1, *(size(o.unknowns) for o in problem.options)]))


def probe(problem: Problem, count: int = CORNER) -> Outcome:
    """Try up to ``count`` points of smallest magnitude: ``fails`` with a minimal counterexample, or ``open``."""
    box = problem.variables
    count = _affordable(problem, count)
    if count < 2:
        return Outcome("open", note="not tried")
    columns = simplex([i for _, i in box], count)
    corner = tuple((v, Interval(c.min(), c.max())) for (v, _), c in zip(box, columns, strict=True))
    found = _violating(replace(problem, variables=corner), columns)
    if found is None:
        return Outcome("open", note=f"no counterexample among {len(columns[0])} points")
    return Outcome("fails", found)


def simplex(intervals: Sequence[Interval], count: int) -> list[Any]:
    """Return all points whose magnitude exceeds the smallest by at most r, for the largest r with ``count`` points.

    The magnitude is the sum of absolute values.  The result has one column per coordinate.
    """
    reach = 1
    while True:
        # the values of each coordinate with their excess, and the number of points by total excess
        values = [_by_excess(i, reach) for i in intervals]
        totals: Any = np.ones(1, dtype=np.int64)
        for _, excess in values:
            # clipped: numbers above ``count`` need not be exact
            totals = np.minimum(np.convolve(totals, np.bincount(excess))[: reach + 1], count + 1)
        below = np.cumsum(totals)
        if below[-1] > count or len(below) <= reach:
            break
        reach *= 2
    r = max(int(np.searchsorted(below, count, side="right")) - 1, 0)
    # extend the rows coordinate by coordinate; ``left`` is the rest of r in each row
    columns: list[Any] = []
    left: Any = np.full(1, r, dtype=np.int64)
    for x, excess in values:
        # repeat every row for each value whose excess fits
        fitting = np.searchsorted(excess, left, side="right")
        rows = np.repeat(np.arange(len(left)), fitting)
        chosen = np.arange(len(rows)) - np.repeat(np.cumsum(fitting) - fitting, fitting)
        columns = [*(c[rows] for c in columns), x[chosen]]
        left = left[rows] - excess[chosen]
    return columns


def _by_excess(i: Interval, reach: int) -> tuple[Any, Any]:
    """Return the members of ``i`` whose magnitude exceeds the smallest by at most ``reach``, sorted, and the excess."""
    base = abs(smallest(i))
    most = int(min(base + reach, max(abs(i.lo), abs(i.hi)))) - base
    excess: Any = np.arange(most + 1, dtype=np.int64)
    sizes = excess + base if base + reach < 2**62 else excess.astype(object) + base
    kept = [(x, excess) for x in (sizes, -sizes)]
    if not base:
        kept[1] = sizes[1:] * -1, excess[1:]
    kept = [(x[inside], e[inside]) for x, e in kept if len(inside := np.flatnonzero((x >= i.lo) & (x <= i.hi)))]
    x, e = (np.concatenate(part) for part in zip(*kept, strict=True))
    order = np.argsort(e, kind="stable")
    return x[order], e[order]


def drawn(i: Interval, count: int, seed: int, dtype: type) -> Any:
    """Return ``count`` random members of a finite interval: uniform, near its ends or zero, or of random magnitude."""
    # RandomState, unlike newer generators, guarantees the same numbers in every version
    random = np.random.RandomState(seed)
    lo, hi = int(i.lo), int(i.hi)
    width = hi - lo + 1
    kind = random.randint(8, size=count)
    near: Any = random.randint(-16, 17, size=count).astype(dtype)
    bits = random.randint(min(width.bit_length(), 62) + 1, size=count)
    far: Any = random.randint(2**62, size=count, dtype=np.int64).astype(dtype)
    if width > 2**62:
        far = far * 2**62 + random.randint(2**62, size=count, dtype=np.int64).astype(dtype)
    few = np.remainder(far, np.left_shift(np.int64(1), bits).astype(dtype))
    choices = [kind < 4, kind == 4, kind == 5, kind == 6]
    drawn = np.select(choices, [lo + np.remainder(far, width), lo + near, hi + near, smallest(i) + near], lo + few)
    return np.clip(drawn, lo, hi)


def _violating(problem: Problem, columns: Sequence[Any]) -> Point | None:
    """Return the first violating row of coordinates in the counterexample order, or ``None``."""
    dtype = _sum_type(problem.variables)
    arrays: list[Any] = [np.array(c, dtype=dtype) for c in columns]
    try:
        bad = _violations(problem, dict(zip((v for v, _ in problem.variables), arrays, strict=True)), 1)
    except ZeroDivisionError:
        return None
    rows = np.flatnonzero(np.broadcast_to(bad, arrays[0].shape))
    return _first(np.stack([a[rows] for a in arrays], axis=1)) if len(rows) else None


def shrunk(problem: Problem, point: Point) -> Point:
    """Return a smaller counterexample, found greedily by moving coordinates of ``point`` within a limit."""
    targets = [smallest(i) for _, i in problem.variables]
    left = _affordable(problem, _SHRINKING * LIMIT)
    for _ in range(_MAX_STEPS):
        rows = []
        for k, (x, target) in enumerate(zip(point, targets, strict=True)):
            gap = target - x
            # leave a half, a quarter, ... or nothing of the distance, or move by up to 16
            steps = {gap - _signed(abs(gap) >> s, gap) for s in range(abs(gap).bit_length() + 1)}
            steps |= {_signed(s, gap) for s in range(1, min(abs(gap), 16) + 1)}
            rows += [(*point[:k], x + step, *point[k + 1 :]) for step in sorted(steps) if step]
        left -= len(rows)
        if not rows or left < 0 or len(rows) > _affordable(problem, LIMIT):
            return point
        columns = list(zip(*rows, strict=True))
        near = tuple((v, Interval(min(c), max(c))) for (v, _), c in zip(problem.variables, columns, strict=True))
        better = _violating(replace(problem, variables=near), columns)
        if better is None or counterexample_order(better) >= counterexample_order(point):
            return point
        point = better
    return point


def _signed(size: int, like: int) -> int:
    return size if like >= 0 else -size
