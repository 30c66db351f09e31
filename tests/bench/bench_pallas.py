"""The claims of the calls of jax's kernels, and of random specifications: the verdicts, and the time they take.

Run with ``make bench``; prints a table in Markdown, which is kept in ``reports/benchmarks.md``. The kernels are those of
`tests/oracle/test_pallas.py`. ``python -m dev.enumeration pallas --first 1000 --count 200`` compares the specifications
with the findings of Pallas' interpreter.
"""

from __future__ import annotations

import statistics
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from oracle.pallas_specs import random_spec
from oracle.test_pallas import OPS

from indexproof.pallas import pallas_calls
from indexproof.verify.pallas import verify_pallas
from indexproof.verify.verdict import Status


def bench_pallas(specifications: int = 200) -> None:
    specs = (random_spec(seed) for seed in range(1000, 1000 + specifications))
    corpora: dict[str, Iterator[tuple[Callable[..., Any], tuple[Any, ...]]]] = {
        "kernels of jax": ((function, args) for _, function, args in OPS.values()),
        "random specifications": ((s.call(), (s.argument,)) for s in specs),
    }
    print("\n| what | calls | claims | proved | refuted | open | read: median | worst | decided: median | worst |")
    print("| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
    told = []
    for name, asked in corpora.items():
        verdicts: Counter[Status] = Counter()
        reading, deciding, claims = [], [], 0
        for function, args in asked:
            start = time.process_time()
            calls = pallas_calls(function, *args)
            reading.append(time.process_time() - start)
            for call in calls:
                start = time.process_time()
                checked = verify_pallas(call)
                deciding.append(time.process_time() - start)
                verdicts[checked.verdict] += 1
                claims += len(checked.claims)
                if checked.verdict is Status.UNDECIDED:
                    why = {w for c in checked.claims if not c.answer.proved for w in c.answer.tried[-1:]}
                    told.append(f"open: {call.name}: {'; '.join(sorted(why))}")
        counts = [verdicts[s] for s in (Status.PROVED, Status.REFUTED, Status.UNDECIDED)]
        times = [f"{1e3 * f(x):.1f} ms" for x in (reading, deciding) for f in (statistics.median, max)]
        print(f"| {name} | {' | '.join(map(str, [len(deciding), claims, *counts, *times]))} |")
    print("", *told, sep="\n")


if __name__ == "__main__":
    bench_pallas()
