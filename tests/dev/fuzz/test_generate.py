"""Random maps: reproducible one by one, and adversarial enough."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

from dev.fuzz.generate import FAMILIES, LARGE, random_map
from indexproof.core.expr import CeilDiv, Expr, FloorDiv, Int, Max, Min, Mod, Sum, postorder
from indexproof.core.text import format_map

TESTS = Path(__file__).parents[2]
MAPS = [random_map(0, index) for index in range(600)]
PRINT = (
    "import hashlib\n"
    "from indexproof.core.text import format_map\n"
    "from dev.fuzz.generate import random_map\n"
    "text = '\\n'.join(format_map(random_map(5, k).map) for k in reversed(range(150)))\n"
    "print(hashlib.sha256(text.encode()).hexdigest())\n"
)


def test_a_map_is_the_same_in_every_process() -> None:
    said = set()
    for seed in ("0", "1", "77"):
        done = subprocess.run(
            [sys.executable, "-c", PRINT],
            capture_output=True,
            text=True,
            check=True,
            env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": str(TESTS)},
        )
        said.add(done.stdout.strip())
    text = "\n".join(format_map(random_map(5, k).map) for k in reversed(range(150)))
    assert said == {hashlib.sha256(text.encode()).hexdigest()}


def test_seeds_and_numbers_make_different_maps() -> None:
    assert len({random_map(seed, 40).map for seed in range(20)}) == 20
    assert len({s.map for s in MAPS}) > 580
    assert random_map(3, 17) == random_map(3, 17)


def test_every_family_comes_up() -> None:
    found = Counter(s.family for s in MAPS)
    assert set(found) == set(FAMILIES)
    assert min(found.values()) >= 20


def test_what_breaks_simplifiers_is_there() -> None:
    seen: Counter[str] = Counter()
    for sample in MAPS:
        m = sample.map
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
        seen["near 2^62"] += any(abs(c) >= LARGE - 1 for c in constants)
        seen["beyond 32 bits"] += any(abs(c) > 2**32 for c in constants)
        seen["constraints"] += bool(m.constraints)
        seen["congruences"] += any(isinstance(c.expr, Mod) and c.lo == c.hi for c in m.constraints)
        seen["ranges"] += bool(m.ranges)
        seen["runtime variables"] += bool(m.rts)
        seen["sources"] += any(r.source is not None for r in m.rts)
        seen["empty boxes"] += any(v.hi < v.lo for v in m.variables)
        seen["negative bounds"] += any(v.lo < 0 for v in m.variables)
        seen["single values"] += any(v.hi == v.lo for v in m.variables)
    rare = {name: n for name, n in seen.items() if n < 4}
    assert not rare, seen
    assert len(seen) == 14
