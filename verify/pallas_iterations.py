"""The claims of a ``pallas_call``, decided by enumerating iterations; shares nothing with :mod:`.pallas`.

It handles index maps that read tables with known elements, and is an oracle for tests.
"""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from ..core.indexing_map import IndexingMap
from ..core.pallas_call import BlockedOperand, PallasCall
from .concrete import Answer, Counterexample
from .verdict import Status

__all__ = ["by_enumeration", "visits"]

#: Limit on the iterations, and on the blocks of an array (elements if blocks may overlap).
LIMIT = 1 << 22
#: Limits on the pairs of iterations in total, and on those evaluated at once.
PAIRS, PART = 1 << 28, 1 << 22


def by_enumeration(call: PallasCall, kind: str, o: BlockedOperand, other: BlockedOperand) -> Answer:
    """Decide a claim about the blocks of ``o``, and those blocks of ``other`` that they may meet."""
    n = call.iterations
    if n is None or n > LIMIT:
        return _undecided("the grid is not known" if n is None else f"there are {n:,} iterations to go through")
    points = _points(call)
    if kind == "in bounds":
        return _outside(call, o, points, o.index.results, [d.indices for d in o.dims])  # type: ignore[union-attr]
    if kind == "table":
        for r in o.index.rts:  # type: ignore[union-attr]
            assert r.source is not None
            shape = call.tables[r.source.hlo].shape
            answer = _outside(call, o, points, r.source.results, [range(n) for n in shape])
            if not answer.proved:
                return answer
        return Answer(Status.PROVED, "enumeration")
    if kind == "written":
        found = visits(call, o)
        if found is None:
            return _undecided("the array has too many blocks to go through")
        missing = np.argwhere(found == 0)
        return _answer({f"t{k}": int(x) for k, x in enumerate(missing[0])} if len(missing) else None)
    return _pairs(call, "race" in kind, o, other, points)


def visits(call: PallasCall, o: BlockedOperand) -> Any:
    """Count the iterations of each block (of each element, if blocks may overlap); return ``None`` if unknown."""
    known = isinstance(o.index, IndexingMap) and all(
        r.source is not None and call.tables[r.source.hlo].values is not None for r in o.index.rts
    )
    n = call.iterations
    if not known or n is None:
        return None
    fine = not all(d.aligned for d in o.dims)
    shape = o.shape if fine else o.blocks
    size = prod(d.size for d in o.dims) if fine else 1
    if max(n * size, prod(shape)) > LIMIT:
        return None
    index = _indices(call, o, _points(call))
    number, inside = np.zeros((n, 1), np.int64), np.ones((n, 1), bool)
    for k, (d, length) in enumerate(zip(o.dims, shape, strict=True)):
        start = index[:, k] * d.step - d.low if fine else index[:, k]
        at = start[:, None, None] + np.arange(d.size if fine else 1)
        flat = (n, number.shape[1] * at.shape[2])
        inside = (inside[:, :, None] & (at >= 0) & (at < length)).reshape(flat)
        number = (number[:, :, None] * length + at).reshape(flat)
    return np.bincount(number[inside], minlength=prod(shape)).reshape(shape)


def _pairs(call: PallasCall, race: bool, o: BlockedOperand, other: BlockedOperand, points: Any) -> Answer:
    """Check that no block of ``other`` meets one of ``o`` at a parallel iteration or, without ``race``, at an earlier
    iteration with the same parallel coordinates when the block is entered.
    """
    n = len(points)
    if n * n > PAIRS:
        return _undecided(f"there are {n * n:,} pairs of iterations to go through")
    here, there = _indices(call, other, points), _indices(call, o, points)
    parallel = points[:, list(call.parallel)]
    entered = np.ones(n, bool)
    entered[1:] = (here[1:] != here[:-1]).any(axis=1)
    step = max(PART // max(n, 1), 1)
    for start in range(0, n, step):
        rows = slice(start, start + step)
        bad = (parallel[rows, None] != parallel).any(axis=2)
        if not race:
            bad = ~bad & entered[rows, None] & (np.arange(n) < np.arange(n)[rows, None])
        for k, (d, e) in enumerate(zip(o.dims, other.dims, strict=True)):
            low = np.maximum(there[:, k] * d.step - d.low, here[rows, k, None] * e.step - e.low)
            high = np.minimum(there[:, k] * d.step - d.low + d.size, here[rows, k, None] * e.step - e.low + e.size)
            # blocks of pl.Blocked that share only padding count too, because they are the same block
            blocked = d == e and d.aligned
            bad &= (low < high) if blocked else (np.maximum(low, 0) < np.minimum(high, d.array))
        if bad.any():
            i, j = (int(x) for x in np.argwhere(bad)[0])
            first, second = points[start + i], points[j]
            values = {**_point(call, first), **{f"{a}'": int(x) for a, x in _point(call, second).items()}}
            return _answer(values, here[start + i], there[j])
    return Answer(Status.PROVED, "enumeration")


def _answer(values: dict[str, int] | None, left: Any = None, right: Any = None, reason: str = "") -> Answer:
    if values is None:
        return Answer(Status.PROVED, "enumeration")
    sides = [None if x is None else tuple(int(y) for y in x) for x in (left, right)]
    return Answer(Status.REFUTED, "enumeration", (), Counterexample(values, sides[0], sides[1], reason))


def _undecided(reason: str) -> Answer:
    return Answer(Status.UNDECIDED, tried=(reason,))


def _points(call: PallasCall) -> Any:
    sizes = [n or 0 for n in call.grid]
    return np.indices(sizes).reshape(len(sizes), -1).T if sizes else np.zeros((1, 0), int)


def _point(call: PallasCall, point: Any) -> dict[str, int]:
    return {a: int(x) for a, x in zip(call.axes, point, strict=True)}


def _evaluated(call: PallasCall, m: IndexingMap, points: Any) -> Any:
    """Evaluate the results of a map at iterations, looking up table elements; indices are clamped to the table."""
    columns = [points[:, k] for k in range(points.shape[1])]
    order = m.runtime_order()
    known: list[Any] = []
    for r in order:
        assert r.source is not None
        table = call.tables[r.source.hlo].values
        at = np.zeros((len(points), 0), np.int64)
        if table is not None:  # without values, no requested result depends on the table
            at = _evaluated(call, IndexingMap(m.dims, (), order[: len(known)], r.source.results), points)
            at = np.clip(at, 0, np.array(table.shape, np.int64) - 1)
        known.append(np.broadcast_to(0 if table is None else np.asarray(table)[tuple(at.T)], len(points)))
    results = m.with_(rts=order).evaluate_many(columns, (), [x.astype(np.int64) for x in known])[1]
    return (
        np.stack([np.broadcast_to(x, len(points)) for x in results], axis=1)
        if results
        else np.zeros((len(points), 0), np.int64)
    )


def _indices(call: PallasCall, o: BlockedOperand, points: Any) -> Any:
    assert isinstance(o.index, IndexingMap)
    return _evaluated(call, o.index, points)


def _outside(call: PallasCall, o: BlockedOperand, points: Any, results: Any, bounds: Any) -> Answer:
    assert isinstance(o.index, IndexingMap)
    found = _evaluated(call, o.index.with_(results=results), points)
    for k, within in enumerate(bounds):
        lo, hi = (within.start, within.stop - 1) if isinstance(within, range) else within
        bad = np.flatnonzero((found[:, k] < lo) | (found[:, k] > hi))
        if bad.size:
            reason = f"result {k} is {found[bad[0], k]}, which is not in [{lo}, {hi}]"
            return _answer(_point(call, points[bad[0]]), found[bad[0]], reason=reason)
    return Answer(Status.PROVED, "enumeration")
