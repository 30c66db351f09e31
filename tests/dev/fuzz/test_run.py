"""Runs over random maps: what fails is found, made small and reported; what was not examined is said."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dev.fuzz import run as runner
from dev.fuzz.corpus import builtin_corpus, read_corpus, rule_examples
from dev.fuzz.generate import Asked, random_map
from dev.fuzz.report import fuzz_json, fuzz_text, only_text
from dev.fuzz.run import CHUNK, Chunk, FuzzRun, Settings, examine, fuzz
from dev.fuzz.shrink import shrunk
from indexproof.core.errors import InputError
from indexproof.core.expr import FloorDiv, Mod, postorder
from indexproof.core.indexing_map import IndexingMap
from indexproof.core.simplify_map import simplify_map
from indexproof.core.text import parse_map
from indexproof.rules.catalog import RULES
from indexproof.verify.testing import strategies

XLA_PAIRS = Path(__file__).parents[2] / "verify" / "data" / "xla_pairs.jsonl.gz"


# ----------------------------------------------------------------------------------------------- the real thing
def test_two_thousand_maps() -> None:
    """Nothing is wrong or undecided, nothing grows, and nothing changes when it is simplified again."""
    run = fuzz(Settings(count=2000), jobs=2)
    assert not run.failures, fuzz_text(run, "indexproof dev fuzz")
    assert run.missing == []
    counts = run.counts
    assert counts["maps"] == 2000
    assert counts["decided identity"] + sum(counts[f"isl {s}"] for s in ("same", "open")) == 2000
    # z3 may give up where isl has a proof; that must stay rare
    assert counts["z3 open"] < 60
    assert counts["z3 gave up, isl proved"] == counts["z3 open"]
    assert counts["evaluated completely"] > 1400
    assert counts["simplified twice"] == 200
    assert counts["divisions after"] < counts["divisions before"] / 2


def test_the_corpus_is_checked_step_by_step() -> None:
    corpus = [*builtin_corpus(RULES), *read_corpus(XLA_PAIRS)[::6]]
    run = fuzz(Settings(count=0, checked=True), jobs=1, corpus=corpus)
    assert not run.failures, fuzz_text(run, "indexproof dev fuzz")
    assert run.counts["derivations"] >= len(corpus)
    assert run.counts["plainly dearer"] == 0
    assert f"{run.counts['plainly the same']:,} the same" in fuzz_text(run, "indexproof dev fuzz")
    assert run.exit_status == 0


#: The maps of the sequence that the plain driver writes cheaper, and why.
DEARER = {
    513: "a window of remainders narrows a sum by its digits; the remainder as given is shorter",
    852: "a digit with two values is written as a line before it meets the other digits",
    2325: "a remainder that a constraint gives is used before dividends merge",
    3391: "min takes a factor out of two of its three arguments",
}


def test_production_beside_the_plain_driver() -> None:
    found = {}
    for n in range(4000):
        m = random_map(0, n).map
        found[n] = runner.beside_plain(m, simplify_map(m, RULES))
    assert {n for n, how in found.items() if how == "dearer"} == set(DEARER)
    # whoever does without extraction is found out
    counts = Counter(found.values())
    assert counts["the same"] > 2600
    assert counts["cheaper"] > 1250
    assert counts["as dear"] < 30


def test_only_one_map() -> None:
    text, status = only_text(Settings(), 3)
    assert status == 0
    assert text.startswith("PROVED  map 3 and its result are the same")
    assert "evaluation: same" in text


@settings(deadline=None, max_examples=120, derandomize=True, suppress_health_check=list(HealthCheck))
@given(strategies.maps(sources=True, empty=True), st.booleans())
def test_maps_of_the_strategies(m: IndexingMap, quick: bool) -> None:
    """Every engine, every step; what fails is shrunk."""
    counts, kind, text, after = examine(m, Settings(checked=True), Asked(quick=quick))
    assert not kind, (kind, text, after)
    assert counts["derivations"] >= 1


# ------------------------------------------------------------------------------------------------ planted bugs
Simplify = Callable[..., IndexingMap]


def plant(monkeypatch: pytest.MonkeyPatch, bug: Simplify) -> None:
    monkeypatch.setattr(runner, "simplify_map", bug)


def forgets_remainders(m: IndexingMap, rules: Any, trace: Any = None, **asked: Any) -> IndexingMap:
    """``x mod 4`` is taken for x."""
    after = simplify_map(m, rules, **asked)
    nodes = [n for n in postorder(*after.results) if isinstance(n, Mod) and n.b.value == 4]  # type: ignore[attr-defined]
    if not nodes:
        return after
    results = tuple(e.substitute({nodes[0]: nodes[0].a}) for e in after.results)
    return after.with_(results=results)


def drops_a_constraint(m: IndexingMap, rules: Any, trace: Any = None, **asked: Any) -> IndexingMap:
    after = simplify_map(m, rules, **asked)
    return after.with_(constraints=after.constraints[1:])


def cannot_divide(m: IndexingMap, rules: Any, trace: Any = None, **asked: Any) -> IndexingMap:
    if any(isinstance(n, FloorDiv) and n.b.value == 3 for n in postorder(*m.roots)):  # type: ignore[attr-defined]
        raise ArithmeticError("three is too hard")
    return simplify_map(m, rules, **asked)


@pytest.mark.parametrize(
    ("bug", "kind", "status", "nodes"),
    [
        (forgets_remainders, "wrong", 1, 5),
        (drops_a_constraint, "wrong", 1, 6),
        (cannot_divide, "crash", 4, 5),
    ],
)
def test_a_bug_is_found_and_made_small(
    monkeypatch: pytest.MonkeyPatch, bug: Simplify, kind: str, status: int, nodes: int
) -> None:
    plant(monkeypatch, bug)
    run = fuzz(Settings(count=10 * CHUNK), jobs=1)
    assert run.stopped
    assert run.exit_status == status
    failure = next(f for f in run.failures if f.kind == kind)
    assert parse_map(failure.map) == random_map(0, failure.index).map
    small = parse_map(failure.small)
    assert len(postorder(*small.roots)) <= nodes, failure.small
    assert examine(small, Settings())[1] == kind
    # what comes after the chunk was not examined, and the report says so
    assert run.missing[-1][1] == 10 * CHUNK - 1
    text = fuzz_text(run, "indexproof dev fuzz --seed 0")
    assert f"indexproof dev fuzz --seed 0 --only {failure.index}" in text
    assert "not checked" in text
    assert "the run was stopped by a failure" in text
    assert failure.small in text
    assert text.splitlines()[-1].startswith("REFUTED  ")


def test_a_result_that_grows(monkeypatch: pytest.MonkeyPatch) -> None:
    def bloated(m: IndexingMap, rules: Any, trace: Any = None, **asked: Any) -> IndexingMap:
        return m.with_(results=tuple(e // 7 * 7 + e % 7 for e in m.results))

    plant(monkeypatch, bloated)
    run = fuzz(Settings(count=CHUNK), jobs=1)
    assert not run.stopped
    assert {f.kind for f in run.failures} <= {"grows", "not idempotent"}
    assert run.counts["failed not idempotent"] > 10
    assert run.exit_status == 1


def test_a_result_that_changes_again(monkeypatch: pytest.MonkeyPatch) -> None:
    def turning(m: IndexingMap, rules: Any, trace: Any = None, **asked: Any) -> IndexingMap:
        return m.with_(constraints=m.constraints[::-1])

    plant(monkeypatch, turning)
    run = fuzz(Settings(count=CHUNK), jobs=1)
    assert run.counts["failed not idempotent"] > 3


def test_the_report_says_how_maps_were_simplified() -> None:
    text = fuzz_text(fuzz(Settings(count=40), jobs=1), "indexproof dev fuzz")
    said = "8 with --minimize 2, 8 with --minimize 12, 10 with --quick"
    assert f"simplified  {said}" in text


def test_a_mistake_of_those_that_are_quick(monkeypatch: pytest.MonkeyPatch) -> None:
    def hasty(m: IndexingMap, rules: Any, trace: Any = None, **asked: Any) -> IndexingMap:
        return forgets_remainders(m, rules, **asked) if asked["quick"] else simplify_map(m, rules, **asked)

    plant(monkeypatch, hasty)
    run = fuzz(Settings(count=10 * CHUNK), jobs=1)
    failure = next(f for f in run.failures if f.kind == "wrong")
    assert failure.quick
    assert failure.asked.options.endswith("--quick")
    assert f"with {failure.asked.options}" in fuzz_text(run, "indexproof dev fuzz")
    assert fuzz_json(run, "indexproof dev fuzz")["failures"][0]["quick"]


def test_a_step_that_is_not_recorded(monkeypatch: pytest.MonkeyPatch) -> None:
    def silent(m: IndexingMap, rules: Any, trace: Any = None, **asked: Any) -> IndexingMap:
        return simplify_map(m, rules, **asked)

    plant(monkeypatch, silent)
    run = fuzz(Settings(count=CHUNK, checked=True), jobs=1)
    assert run.counts["failed unexplained"] > 20


def test_a_result_that_depends_on_explaining(monkeypatch: pytest.MonkeyPatch) -> None:
    def inattentive(m: IndexingMap, rules: Any, trace: Any = None, **asked: Any) -> IndexingMap:
        return m if trace is None else simplify_map(m, rules, trace, **asked)

    plant(monkeypatch, inattentive)
    run = fuzz(Settings(count=CHUNK, checked=True), jobs=1)
    assert run.counts["failed depends on explaining"] > 20


def test_rules_that_are_not_proved(monkeypatch: pytest.MonkeyPatch) -> None:
    run = fuzz(Settings(count=CHUNK, checked=True, proved=("quotient_by_one",)), jobs=1)
    assert run.stopped
    assert any(f.kind == "refused" and "is not proved" in f.text for f in run.failures)


def test_two_processes_that_differ() -> None:
    chunk = Chunk(0, 3, digests=["a", "b", "c"])
    same = runner._compare(Settings(), chunk, ["a", "b", "c"])
    assert not same.failures
    other = runner._compare(Settings(), chunk, ["a", "x", "c"])
    assert [(f.kind, f.index) for f in other.failures] == [("not deterministic", 1)]


# ------------------------------------------------------------------------------------- stopping and going on
def stripped(run: FuzzRun) -> list[dict[str, Any]]:
    return [{**c.to_json(), "seconds": 0} for c in run.chunks]


def test_a_run_does_not_depend_on_the_number_of_processes() -> None:
    one, two = (fuzz(Settings(count=3 * CHUNK), jobs=jobs) for jobs in (1, 2))
    for run in (one, two):
        for c in run.chunks:
            c.counts.pop("simplified twice", None)
    assert stripped(one) == stripped(two)
    assert one.digest == two.digest


def test_an_interrupted_run_says_what_is_missing_and_goes_on(tmp_path: Path) -> None:
    path = tmp_path / "checkpoint"
    settings = Settings(count=4 * CHUNK + 7)
    seen: list[Chunk] = []

    def interrupt(chunk: Chunk) -> None:
        seen.append(chunk)
        if len(seen) == 2:
            raise KeyboardInterrupt

    first = fuzz(settings, jobs=1, checkpoint=path, progress=interrupt)
    assert first.interrupted
    assert first.missing == [(2 * CHUNK, 4 * CHUNK + 6)]
    assert first.exit_status == (1 if first.failures else 2)
    text = fuzz_text(first, "indexproof dev fuzz")
    assert (
        f"{2 * CHUNK + 7} maps of the sequence ({2 * CHUNK} to {4 * CHUNK + 6}): the run was interrupted"
        in text
    )
    assert text.splitlines()[-1].startswith(("NOT CHECKED  ", "REFUTED  "))

    # a line that was cut off in the middle is not believed
    with path.open("a") as file:
        file.write('{"key": "100", "stop"')
    second = fuzz(settings, jobs=1, checkpoint=path)
    assert second.resumed == 2 * CHUNK
    assert not second.missing
    whole = fuzz(settings, jobs=1)
    assert second.digest == whole.digest
    assert stripped(second) == stripped(whole)
    assert second.exit_status == whole.exit_status

    third = fuzz(settings, jobs=1, checkpoint=path)
    assert third.resumed == settings.count
    assert stripped(third) == stripped(whole)


@pytest.mark.parametrize("other", [Settings(seed=1, count=3), Settings(checked=True, count=3)])
def test_chunks_of_another_run_are_not_believed(tmp_path: Path, other: Settings) -> None:
    path = tmp_path / "checkpoint"
    fuzz(Settings(count=3), jobs=1, checkpoint=path)
    run = fuzz(other, jobs=1, checkpoint=path)
    assert (run.resumed, run.digest) == (0, fuzz(other, jobs=1).digest)
    # both are there now
    assert fuzz(Settings(count=3), jobs=1, checkpoint=path).resumed == 3
    assert fuzz(other, jobs=1, checkpoint=path).resumed == 3


def test_a_longer_run_examines_the_rest_of_the_last_chunk(tmp_path: Path) -> None:
    path = tmp_path / "checkpoint"
    fuzz(Settings(count=3), jobs=1, checkpoint=path)
    longer = fuzz(Settings(count=5), jobs=1, checkpoint=path)
    assert (longer.missing, longer.counts["maps"]) == ([], 5)
    assert longer.digest == fuzz(Settings(count=5), jobs=1).digest


@pytest.mark.parametrize(
    "change", [{"counts": {}}, {"counts": {"maps": 2}}, {"counts": 3}, {"failures": [3]}, {}], ids=str
)
def test_a_chunk_counts_once_and_as_a_whole(tmp_path: Path, change: dict[str, Any]) -> None:
    path = tmp_path / "checkpoint"
    fuzz(Settings(count=3), jobs=1, checkpoint=path)
    (line,) = path.read_text().splitlines()
    path.write_text(f"{json.dumps(json.loads(line) | change)}\n" + ("" if change else f"{line}\n"))
    again = fuzz(Settings(count=3), jobs=1, checkpoint=path)
    assert again.resumed == (0 if change else 3)
    assert (again.missing, again.counts["maps"]) == ([], 3)


@pytest.mark.parametrize("content", [b"[]", b"no checkpoint\n", b"\xff\xfe\n", b'{"format": 3}\n'])
def test_other_files_are_no_checkpoints(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "checkpoint"
    path.write_bytes(content)
    with pytest.raises(InputError, match="--checkpoint"):
        fuzz(Settings(count=3), jobs=1, checkpoint=path)
    assert path.read_bytes() == content


def test_chunks_of_another_program_are_not_believed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "checkpoint"
    fuzz(Settings(count=3), jobs=1, checkpoint=path)
    monkeypatch.setattr(runner, "_program", lambda: "another")
    assert fuzz(Settings(count=3), jobs=1, checkpoint=path).resumed == 0


def test_failures_are_examined_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A chunk that stopped a run is not taken from the checkpoint."""
    path = tmp_path / "checkpoint"
    with monkeypatch.context() as planted:
        planted.setattr(runner, "simplify_map", forgets_remainders)
        assert fuzz(Settings(count=CHUNK), jobs=1, checkpoint=path).stopped
    run = fuzz(Settings(count=CHUNK), jobs=1, checkpoint=path)
    assert run.resumed == 0
    assert not run.stopped


# -------------------------------------------------------------------------------------------------- reports
def test_the_report_as_json() -> None:
    run = fuzz(Settings(count=20), jobs=1)
    data = json.loads(json.dumps(fuzz_json(run, "indexproof dev fuzz")))
    assert set(data) == {
        "checked",
        "count",
        "counts",
        "digest",
        "engines",
        "exit_status",
        "failures",
        "format",
        "interrupted",
        "maps",
        "not_checked",
        "seed",
        "timing",
        "verdict",
        "version",
    }
    assert data["maps"] == 20
    assert data["not_checked"] == []
    assert sum(data["engines"]["isl"].values()) + data["counts"].get("decided identity", 0) == 20


def test_nothing_examined_is_no_success() -> None:
    run = fuzz(Settings(count=0), jobs=1)
    assert run.exit_status == 2
    assert fuzz_text(run, "x").splitlines()[-1].startswith("NOT CHECKED  0 maps")


def test_what_was_not_checked_is_stated() -> None:
    text = fuzz_text(fuzz(Settings(count=60), jobs=1), "indexproof dev fuzz")
    block = text[text.index("\nnot checked\n") :]
    assert "too large to evaluate everywhere" in block
    assert "the derivations (--checked)" in block


# --------------------------------------------------------------------------------------------------- corpora
def test_every_rule_is_in_the_corpus() -> None:
    names = {name.partition(":")[0] for name, _ in rule_examples(RULES)}
    assert names == {r.name for r in RULES}
    assert any(".claims:" in name for name, _ in builtin_corpus(RULES))


def test_maps_from_a_file(tmp_path: Path) -> None:
    path = tmp_path / "maps.txt"
    path.write_text(
        "# two maps\n(d0) -> (d0), domain: d0 in [0, 3]\n\n"
        "(d0) -> (d0 floordiv 2)\ndomain:\nd0 in [0, 3]\n\n"
        '{"dims": [["a", 0, 9]], "results": [["fdiv", "a", 2]]}\n',
        "utf-8",
    )
    assert [(n, m.dims[0].hi) for n, m in read_corpus(path)] == [
        ("maps.txt:2", 3),
        ("maps.txt:4", 3),
        ("maps.txt:8", 9),
    ]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("(d0) -> (d0 +), domain: d0 in [0, 3]", "maps.txt:1: line 1, column 14"),
        ('{"pairs": [{"vars": 3}]}', "maps.txt:1"),
        ('{"pairs": 3}', "maps.txt:1"),
    ],
)
def test_a_corpus_that_cannot_be_read(tmp_path: Path, content: str, said: str) -> None:
    path = tmp_path / "maps.txt"
    path.write_text(content, "utf-8")
    with pytest.raises(InputError, match="--corpus") as error:
        read_corpus(path)
    assert said in str(error.value)
    with pytest.raises(InputError, match="cannot read"):
        read_corpus(tmp_path / "none.txt")
    (tmp_path / "bad.gz").write_bytes(b"nothing packed")
    with pytest.raises(InputError, match="cannot read"):
        read_corpus(tmp_path / "bad.gz")


def test_failures_of_the_corpus_stop_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    plant(monkeypatch, forgets_remainders)
    m = parse_map("(d0) -> (d0 mod 4), domain: d0 in [0, 9]")
    run = fuzz(Settings(count=CHUNK), jobs=1, corpus=[("mine", m)])
    assert run.stopped
    assert run.random_maps == 0
    assert "FAILED  the simplified map differs   mine" in fuzz_text(run, "indexproof dev fuzz")


# -------------------------------------------------------------------------------------------------- shrinking
def test_shrinking_keeps_what_fails() -> None:
    m = random_map(0, 4).map

    def fails(s: IndexingMap) -> bool:
        return any(isinstance(n, (FloorDiv, Mod)) for n in postorder(*s.roots))

    assert fails(m)
    small = shrunk(m, fails)
    assert fails(small)
    assert len(postorder(*small.roots)) <= 3
    assert not small.constraints
    assert shrunk(small, fails) == small


def test_shrinking_gives_up_in_time() -> None:
    asked = []

    def never(s: IndexingMap) -> bool:
        asked.append(s)
        return False

    m = random_map(0, 8).map
    assert shrunk(m, never, attempts=50) == m
    assert len(asked) <= 50
