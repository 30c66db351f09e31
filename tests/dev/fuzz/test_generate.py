"""Random maps: reproducible one by one, and adversarial enough."""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import strategies as st

from dev.fuzz.generate import random_map
from dev.fuzz.maps import samples
from dev.fuzz.runs import drawn
from indexproof.core.expr import CeilDiv, Expr, FloorDiv, Int, Max, Min, Mod, Sum, postorder
from indexproof.core.indexing_map import IndexingMap

TESTS = Path(__file__).parents[2]
PRINT = (
    "import sys\n"
    "from indexproof.core.simplify_map import simplify_map\n"
    "from indexproof.core.text import format_map\n"
    "from indexproof.rules.catalog import RULES\n"
    "from dev.fuzz.generate import random_map\n"
    "for k in sorted(range(150), reverse=sys.argv[1] == '1'):\n"
    "    m = random_map(5, k)\n"
    "    print(k, [format_map(m), format_map(simplify_map(m, RULES))])\n"
)


def test_maps_and_results_are_the_same_in_every_process() -> None:
    printed = []
    for seed in ("0", "1"):
        done = subprocess.run(
            [sys.executable, "-c", PRINT, seed],
            capture_output=True,
            text=True,
            check=True,
            env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": str(TESTS)},
        )
        printed.append(sorted(done.stdout.splitlines()))
    assert printed[0] == printed[1]
    assert len(set(printed[0])) == 150
    assert len({random_map(seed, 40) for seed in range(20)}) == 20


def test_what_is_drawn_depends_on_the_seed_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def some(seed: int) -> list[int]:
        found: list[int] = []
        drawn(st.integers(0, 10**12), 200, seed, found.append)
        return found

    first = some(0)
    assert some(1) != first
    # Hypothesis would draw the numbers of this module
    path = tmp_path / "numbers_of_mine.py"
    path.write_text(f"N = {[*range(10**9, 10**9 + 99)]}\n", "utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    importlib.import_module("numbers_of_mine")
    assert some(0) == first


def test_what_breaks_simplifiers_is_drawn() -> None:
    seen: Counter[str] = Counter()
    maps: list[IndexingMap] = []
    drawn(samples(), 600, 0, lambda s: maps.append(s[0]))
    assert len(set(maps)) > 350
    for m in maps:
        nodes: list[Expr] = postorder(*m.roots)
        divisions = [n for n in nodes if isinstance(n, (FloorDiv, Mod, CeilDiv))]
        constants = [n.value for n in nodes if isinstance(n, Int)] + [v.hi for v in m.variables]
        constants += [n.const for n in nodes if isinstance(n, Sum)]
        seen["negative divisor"] += any(isinstance(n.b, Int) and n.b.value < 0 for n in divisions)
        seen["nested divisions"] += any(
            isinstance(k, (FloorDiv, Mod)) for n in divisions for k in postorder(n.a) if k is not n
        )
        seen["extrema"] += any(isinstance(n, (Min, Max)) for n in nodes)
        seen["ten summands"] += any(isinstance(n, Sum) and len(n.terms) >= 10 for n in nodes)
        seen["near 2^62"] += any(abs(c) >= 2**62 - 1 for c in constants)
        seen["beyond 32 bits"] += any(abs(c) > 2**32 for c in constants)
        seen["constraints"] += bool(m.constraints)
        seen["congruences"] += any(isinstance(c.expr, Mod) and c.lo == c.hi for c in m.constraints)
        seen["ranges"] += bool(m.ranges)
        seen["runtime variables"] += bool(m.rts)
        seen["sources"] += any(r.source is not None for r in m.rts)
        seen["empty boxes"] += any(v.hi < v.lo for v in m.variables)
        seen["negative bounds"] += any(v.lo < 0 for v in m.variables)
        seen["single values"] += any(v.hi == v.lo for v in m.variables)
    assert not {name: n for name, n in seen.items() if n < 4}, seen
    assert len(seen) == 14
