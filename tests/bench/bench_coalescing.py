"""Memory requests of launches over a million elements: the time of counting compared with enumeration.

Run with ``make bench``; prints a table in Markdown, which is kept in ``reports/benchmarks.md``. Enumeration counts the
sectors alone, by compiled Python and by numpy.
"""

from __future__ import annotations

import itertools
import statistics
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from indexproof import memory, parse_map
from indexproof.core.codegen.python_code import compile_map
from indexproof.core.indexing_map import IndexingMap
from indexproof.core.launch import Launch
from indexproof.core.layout import element_bits
from indexproof.verify.access import SECTOR, requests

CASES = [
    ("copy", Launch((128,), (7813,)), "f32[1000,1000]", "d0, d1"),
    ("transpose", Launch((128,), (7813,)), "f32[1000,1000]", "d1, d0"),
    ("transpose, divisible", Launch((128,), (2048,), 4), "f32[1024,1024]", "d1, d0"),
    ("transpose of tiles", Launch((128,), (8192,)), "f32[1024,1024]{1,0:T(8,128)}", "d1, d0"),
    ("copy of vectors, other layout", Launch((256,), (977,), 4), "bf16[1000,1000]{0,1}", "d0, d1"),
]


def _by_python(m: IndexingMap, bits: int) -> int:
    """Count the sectors of every load of one element by one warp."""
    position, sectors = compile_map(m, checked=True), set()
    lane = [v.name for v in m.variables].index("lane_id")
    for point in itertools.product(*(range(v.lo, v.hi + 1) for v in m.variables)):
        found = position(*point)
        if found is not None:
            sectors.add((*point[:lane], *point[lane + 1 :], found[0] * bits // (8 * SECTOR)))
    return len(sectors)


def _by_numpy(m: IndexingMap, bits: int) -> int:
    """The same, for all points at once."""
    axes = np.meshgrid(*(np.arange(v.lo, v.hi + 1) for v in m.variables), indexing="ij")
    inside, (position,) = m.evaluate_many(axes[: len(m.dims)], axes[len(m.dims) :])
    lane = [v.name for v in m.variables].index("lane_id")
    sectors = np.sort(np.where(inside, position * bits // (8 * SECTOR), -1), axis=lane)
    rows = np.moveaxis(sectors, lane, 0)
    return int((rows[0] >= 0).sum() + ((rows[1:] != rows[:-1]) & (rows[1:] >= 0)).sum())


def _timed(ask: Callable[[], Any], times: int) -> tuple[float, Any]:
    """Return the median of processor time in milliseconds, and the last answer."""
    taken = []
    for _ in range(times):
        start = time.process_time()
        answer = ask()
        taken.append(1e3 * (time.process_time() - start))
    return statistics.median(taken), answer


def bench_coalescing() -> None:
    print("\n| launch | counted | enumerated by Python | by numpy |")
    print("| --- | ---: | ---: | ---: |")
    for name, launch, shape, read in CASES:
        at, operand = launch.over(shape), memory(shape)
        last = operand.shape.dims[0] - 1
        m = parse_map(f"(d0, d1) -> ({read}), domain: d0 in [0, {last}], d1 in [0, {last}]")
        position, bits = at.reads(m, "warp").compose(operand.forward), element_bits(operand.shape)
        counted, found = _timed(lambda at=at, m=m, operand=operand: requests(at, m, operand), 20)
        slow, first = _timed(lambda p=position, b=bits: _by_python(p, b), 1)
        fast, second = _timed(lambda p=position, b=bits: _by_numpy(p, b), 3)
        assert first == second
        # a vector is one load here, and as many as it has elements there
        assert found.vector > 1 or found.sectors == first
        print(
            f"| {name} | {counted:.1f} ms | {slow:,.0f} ms ({slow / counted:.0f} times) "
            f"| {fast:.0f} ms ({fast / counted:.0f} times) |"
        )


if __name__ == "__main__":
    bench_coalescing()
