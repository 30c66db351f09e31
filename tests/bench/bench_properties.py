"""The time for properties of 2,000 maps of ops, layouts, launches and tilings, and for tiles of maps of high rank.

Run with ``make bench``; prints a table in Markdown, which is kept in ``reports/benchmarks.md``. The same maps at small
sizes are checked against enumeration by ``python -m dev.enumeration properties``.
"""

from __future__ import annotations

import statistics
import sys
import time
from collections import defaultdict
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from map_corpus import LARGE, corpus, questions

from indexproof import parse_map
from indexproof.verify.tiles import TargetTile, tile_of


def bench_properties(count: int = 2000) -> None:
    times: dict[str, list[float]] = defaultdict(list)
    undecided: dict[str, int] = defaultdict(int)
    for m, shape in corpus(count, LARGE, 0):
        for name, ask, _ in questions(m, shape):
            start = time.process_time()
            answer = ask()
            seconds = time.process_time() - start
            for row in (name, "all"):
                times[row].append(seconds)
                undecided[row] += answer.verdict == "UNDECIDED"
    print("\n| property | questions | undecided | median | 95 of 100 | worst |")
    print("| --- | ---: | ---: | ---: | ---: | ---: |")
    for name, found in sorted(times.items()):
        late = statistics.quantiles(found, n=20)[-1]
        middle, worst = statistics.median(found), max(found)
        print(
            f"| {name} | {len(found):,} | {undecided[name]} "
            f"| {1e3 * middle:.2f} ms | {1e3 * late:.1f} ms | {1e3 * worst:.0f} ms |"
        )


def bench_tiles() -> None:
    """Time tiles of 2 in each dimension of size 4, of a transpose and of a reshape to two dimensions."""
    print("\n| rank | transpose | reshape |")
    print("| ---: | ---: | ---: |")
    for rank in (8, 12, 16):
        dims = [f"d{k}" for k in range(rank)]
        halves = (dims[: rank // 2], dims[rank // 2 :])
        merged = [" + ".join(f"{d} * {4 ** (len(h) - 1 - k)}" for k, d in enumerate(h)) for h in halves]
        row = []
        for results, sizes in (
            (dims[::-1], [2] * rank),
            (merged, [*[1] * (rank // 2 - 1), 2, *[1] * (rank // 2 - 1), 2]),
        ):
            domain = ", ".join(f"{d} in [0, 3]" for d in dims)
            m = parse_map(f"({', '.join(dims)}) -> ({', '.join(results)}), domain: {domain}")
            start = time.process_time()
            found = tile_of(m, tuple(sizes))
            row.append(time.process_time() - start)
            assert isinstance(found, TargetTile)
        print(f"| {rank} | {1e3 * row[0]:.0f} ms | {1e3 * row[1]:.0f} ms |")


if __name__ == "__main__":
    bench_tiles()
    bench_properties(*map(int, sys.argv[1:]))
