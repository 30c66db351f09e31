"""Concrete equivalence of maps printed by XLA: the portfolio against each engine alone, interleaved in one run.

Run with ``make bench``; prints a table in Markdown, which is kept in ``reports/benchmarks.md``.
"""

from __future__ import annotations

import gzip
import json
import statistics
import time
from pathlib import Path

from indexproof.core.json_form import expr_from_json
from indexproof.verify.concrete import equal_exprs

DATA = Path(__file__).resolve().parent.parent / "verify" / "data" / "xla_pairs.jsonl.gz"


def bench_xla_pairs() -> None:
    plain: list[float] = []
    confirmed: list[float] = []
    with gzip.open(DATA, "rt") as lines:
        for line in lines:
            for pair in json.loads(line)["pairs"]:
                names = [v[0] for v in pair["vars"]]
                read = [[expr_from_json(e, names) for e in pair[side]] for side in ("before", "after")]
                box = [tuple(v) for v in pair["vars"]]
                where = [(expr_from_json(e, names), lo, hi) for e, lo, hi in pair["domain"]]
                for times, confirm in ((plain, False), (confirmed, True)):
                    start = time.perf_counter()
                    answer = equal_exprs(read[0], read[1], box, where, confirm=confirm)
                    times.append(time.perf_counter() - start)
                    assert answer.proved
    print("\n| concrete equivalence, XLA pairs | pairs | median | worst |\n| --- | --- | --- | --- |")
    for label, times in (("portfolio", plain), ("portfolio, confirmed by a second engine", confirmed)):
        print(f"| {label} | {len(times)} | {1e3 * statistics.median(times):.2f} ms | {1e3 * max(times):.1f} ms |")
