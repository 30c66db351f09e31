"""The fuzzer of maps: it finds no failures, and it finds and shrinks planted bugs."""

from __future__ import annotations

import gzip
import importlib
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dev.fuzz import maps as module
from dev.fuzz.corpus import builtin_corpus, read_corpus, rule_examples
from dev.fuzz.generate import Asked, random_map
from dev.fuzz.maps import beside_plain, examine, examine_corpus, examine_some, fuzz_text, samples
from dev.fuzz.runs import CHUNK, Failed, Run, attempted, drawn, in_chunks
from indexproof.core.errors import InputError
from indexproof.core.expr import CeilDiv, Expr, FloorDiv, Int, Max, Min, Mod, Sum, postorder
from indexproof.core.indexing_map import IndexingMap
from indexproof.core.simplify_map import simplify_map
from indexproof.rules.catalog import RULES
from indexproof.verify.testing import strategies

XLA_PAIRS = Path(__file__).parents[2] / "verify" / "data" / "xla_pairs.jsonl.gz"


def said(run: Run) -> str:
    return "\n".join(fuzz_text(run, 0, 1))


# ----------------------------------------------------------------------------------------------- the real thing
def test_a_thousand_maps() -> None:
    """All results are proved right, none costs more than its map, and none changes when simplified again."""
    run = in_chunks(examine_some, 1000, 0, 1)
    assert run.exit_status == 0, said(run)
    counts = run.counts
    assert counts["maps"] == 1000
    # z3 may give up where isl has a proof; that must stay rare
    assert counts["z3 open"] < 30
    assert counts["z3 gave up, isl proved"] == counts["z3 open"]
    assert counts["evaluation same"] > 500
    assert counts["divisions after"] < counts["divisions before"] / 2


def test_the_corpus_is_checked_step_by_step() -> None:
    corpus = [*builtin_corpus(RULES), *read_corpus(XLA_PAIRS)[::6]]
    counts, failure = examine_corpus(corpus, checked=True)
    assert not failure
    assert counts["derivations"] >= counts["maps"] == len(corpus)
    assert counts["plainly dearer"] == 0


#: The maps of the sequence for which the plain driver's result is cheaper, and the reason.
DEARER = {
    938: "two arguments of a minimum that are a maximum with another sign are taken out of it only alone",
    2549: "digits of a sum with a remainder in it are put together only where that stays a remainder",
    2740: "a sum is simplified before a constraint on the same sum has become as narrow as it gets",
    3365: "a digit whose remainder the box makes needless no longer meets the digits below it",
}


def test_production_beside_the_plain_driver() -> None:
    maps = [random_map(0, n) for n in range(4000)]
    found = {n: beside_plain(m, simplify_map(m, RULES)) for n, m in enumerate(maps)}
    assert {n for n, how in found.items() if how == "dearer"} == set(DEARER)
    # without extraction these counts would fail
    counts = Counter(found.values())
    assert counts["the same"] > 2200
    assert counts["cheaper"] > 1600
    assert counts["as dear"] < 30


@settings(deadline=None, max_examples=200, derandomize=True, suppress_health_check=list(HealthCheck))
@given(strategies.maps(sources=True, empty=True), st.booleans())
def test_every_step_of_maps_of_the_strategies(m: IndexingMap, quick: bool) -> None:
    assert examine(m, Asked(quick=quick), checked=True)["derivations"] >= 1


# ------------------------------------------------------------------------------------------------ planted bugs
def forgets_remainders(m: IndexingMap, rules: Any, trace: Any = None, **asked: Any) -> IndexingMap:
    """Simplify with a planted bug: ``x mod 4`` becomes x."""
    after = simplify_map(m, rules, **asked)
    nodes = [n for n in postorder(*after.results) if isinstance(n, Mod) and n.b.value == 4]  # type: ignore[attr-defined]
    if not nodes:
        return after
    return after.with_(results=tuple(e.substitute({nodes[0]: nodes[0].a}) for e in after.results))


def drops_a_constraint(m: IndexingMap, rules: Any, trace: Any = None, **asked: Any) -> IndexingMap:
    after = simplify_map(m, rules, **asked)
    return after.with_(constraints=after.constraints[1:])


def cannot_divide(m: IndexingMap, rules: Any, trace: Any = None, **asked: Any) -> IndexingMap:
    if any(isinstance(n, FloorDiv) and n.b.value == 3 for n in postorder(*m.roots)):  # type: ignore[attr-defined]
        raise ArithmeticError("three is too hard")
    return simplify_map(m, rules, **asked)


def hasty(m: IndexingMap, rules: Any, trace: Any = None, **asked: Any) -> IndexingMap:
    return (forgets_remainders if asked["quick"] else simplify_map)(m, rules, **asked)


def bloated(m: IndexingMap, rules: Any, trace: Any = None, **asked: Any) -> IndexingMap:
    """Rewrite each result as the sum of its quotient and remainder, once."""
    if any(isinstance(n, Mod) for n in postorder(*m.roots)):
        return m
    return m.with_(results=tuple(e // 7 * 7 + e % 7 for e in m.results))


def turning(m: IndexingMap, rules: Any, trace: Any = None, **asked: Any) -> IndexingMap:
    return m.with_(constraints=m.constraints[::-1])


def silent(m: IndexingMap, rules: Any, trace: Any = None, **asked: Any) -> IndexingMap:
    return simplify_map(m, rules, **asked)


def inattentive(m: IndexingMap, rules: Any, trace: Any = None, **asked: Any) -> IndexingMap:
    return m if trace is None else simplify_map(m, rules, trace, **asked)


@pytest.mark.parametrize(("bug", "kind", "status", "nodes"), [
    (forgets_remainders, "the simplified map differs", 1, 5),
    (drops_a_constraint, "the simplified map differs", 1, 6),
    (cannot_divide, "the simplifier failed", 4, 5),
    (hasty, "the simplified map differs", 1, 5),
    (bloated, "the result costs more than the map", 1, 4),
    (turning, "simplifying again changes the result", 1, 6),
    (silent, "the recorded steps do not lead to the result", 1, 4),
    (inattentive, "the result is another one when it is not explained", 1, 4),
])  # fmt: skip
def test_a_bug_is_found_and_made_small(
    monkeypatch: pytest.MonkeyPatch, bug: Callable[..., Any], kind: str, status: int, nodes: int
) -> None:
    monkeypatch.setattr(module, "simplify_map", bug)
    what = st.tuples(strategies.maps(), st.booleans())
    failed: list[tuple[str, IndexingMap]] = []

    def examined(case: tuple[IndexingMap, bool]) -> Counter[str]:
        try:
            return examine(case[0], Asked(quick=case[1]), checked=bug in (silent, inattentive))
        except Failed as error:
            failed.append((error.kind, case[0]))
            raise

    run = Run(tasks=1)
    run.add(attempted(what, 500, 0, examined))
    assert run.exit_status == status
    found, small = failed[-1]
    assert found == kind
    assert len(postorder(*small.roots)) <= nodes, small
    text = said(run)
    assert f"FAILED  {kind}" in text
    assert ("with --quick" in text) == (bug is hasty)
    assert text.splitlines()[-1].startswith("REFUTED  ")


def test_rules_that_are_not_proved() -> None:
    corpus = [("one", random_map(0, 3))]
    counts, failure = examine_corpus(corpus, True, ("quotient_by_one",))
    assert failure is not None
    assert not counts
    assert "a step is no instance of a proved rule" in failure[1]
    assert "is not proved" in failure[1]
    assert failure[1].startswith("one\n")


# ------------------------------------------------------------------------------------------------------- runs
def test_an_interrupted_run_says_so() -> None:
    def interrupt(size: int) -> None:
        raise KeyboardInterrupt

    run = in_chunks(examine_some, 3 * CHUNK, 0, 1, interrupt)
    assert (run.done, run.exit_status) == (1, 2)
    text = said(run)
    assert "the rest of the run" in text
    assert "the derivations (--checked)" in text
    assert text.splitlines()[-1].startswith(f"NOT CHECKED  {CHUNK} maps")


def test_what_decides_the_exit_status() -> None:
    def status(*kinds: int, done: int = 1) -> int:
        return Run(1, done, failures=[(k, "") for k in kinds]).exit_status

    assert (status(), status(done=0), Run().exit_status) == (0, 2, 2)
    assert (status(1), status(1, 2), status(2), status(4, 1)) == (1, 1, 2, 4)
    lost = Run(1)
    lost.add(None)
    assert lost.exit_status == 4


# -------------------------------------------------------------------------------------------------- corpora
def test_every_rule_is_in_the_corpus() -> None:
    assert {name.partition(":")[0] for name, _ in rule_examples(RULES)} == {r.name for r in RULES}
    assert any(".claims:" in name for name, _ in builtin_corpus(RULES))


def test_maps_from_a_file(tmp_path: Path) -> None:
    path = tmp_path / "maps.txt"
    path.write_text(
        "# two maps\n(d0) -> (d0), domain: d0 in [0, 3]\n\n"
        "(d0) -> (d0 floordiv 2)\ndomain:\nd0 in [0, 3]\n\n"
        '{"dims": [["a", 0, 9]], "results": [["fdiv", "a", 2]]}\n',
        "utf-8",
    )
    found = [(n, m.dims[0].hi) for n, m in read_corpus(path)]
    assert found == [("maps.txt:2", 3), ("maps.txt:4", 3), ("maps.txt:8", 9)]


@pytest.mark.parametrize(("content", "said"), [
    (b"(d0) -> (d0 +), domain: d0 in [0, 3]", "maps.gz:1: line 1, column 14"),
    (b'{"pairs": [{"vars": 3}]}', "maps.gz:1"),
    (b'{"pairs": 3}', "maps.gz:1"),
    (b"nothing packed", "cannot read"),
    (b"\x1f\x8b\x08" + bytes(7) + b"\xff", "cannot read"),
])  # fmt: skip
def test_a_corpus_that_cannot_be_read(tmp_path: Path, content: bytes, said: str) -> None:
    path = tmp_path / "maps.gz"
    path.write_bytes(content if said == "cannot read" else gzip.compress(content))
    with pytest.raises(InputError, match="--corpus") as error:
        read_corpus(path)
    assert said in str(error.value)
    with pytest.raises(InputError, match="cannot read"):
        read_corpus(tmp_path / "none.txt")


# ----------------------------------------------- Random maps: reproducible one by one, and adversarial enough
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
    # by default Hypothesis would draw the constants of this module
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
