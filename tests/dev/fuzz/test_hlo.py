"""The fuzzer of HLO texts: its mutants, what it demands, and that it finds what is planted."""

from __future__ import annotations

import gzip
import hashlib
import os
import resource
import subprocess
import sys
import time
from pathlib import Path

import pytest

from dev.fuzz import hlo
from dev.fuzz.hlo import HloFuzz, examine_hlo, fuzz_hlo, is_map, mutant, read_texts
from dev.fuzz.hlo_texts import MAPS, TEXTS
from indexproof.core.errors import InputError
from indexproof.core.hlo import Module, format_module, read_module

TESTS = Path(__file__).parents[2]
DATA = TESTS / "core/hlo/data"


@pytest.mark.parametrize("number", range(len(TEXTS) + len(MAPS)))
def test_undamaged_texts_are_read(number: int) -> None:
    text = (*TEXTS, *MAPS)[number]
    counts, kind, said = examine_hlo(text)
    assert not kind, said
    assert counts["maps read" if number >= len(TEXTS) else "modules read"] == 1
    assert is_map(text) == (number >= len(TEXTS))


def test_undamaged_texts_have_all_there_is() -> None:
    together = "\n".join(TEXTS)
    for form in (
        "calls=",
        "to_apply=",
        "while(",
        "conditional(",
        "async-start(",
        "FileNames",
        "backend_config=",
        "sharding=",
        "replica_groups={{",
        "<=[4]",
        "T(8,128)(2,1)",
        "S(5)",
        "<=5",
        "{...}",
        "/*index=",
        "f32[0,3]",
        "add(f32[] x",
        "constant({ { ",
    ):
        assert form in together, form


def test_damaged_texts_are_read_or_refused() -> None:
    """A sample; `indexproof dev fuzz-hlo -n 100000` is the whole."""
    corpus = [text for text in read_texts([DATA]) if len(text) < 6000]
    failed = []
    for index in range(300):
        for texts in ((*TEXTS, *MAPS), corpus):
            text = mutant(9, index, texts)
            _, kind, said = examine_hlo(text)
            if kind:
                failed.append((index, kind, said))
    assert not failed


def test_mutants_are_reproducible() -> None:
    code = (
        "import hashlib\n"
        "from dev.fuzz.hlo import mutant\n"
        "h = hashlib.sha256()\n"
        "for k in range(100): h.update(mutant(4, k).encode('utf-8', 'surrogatepass'))\n"
        "print(h.hexdigest())\n"
    )
    h = hashlib.sha256()
    for k in range(100):
        h.update(mutant(4, k).encode("utf-8", "surrogatepass"))
    env = {**os.environ, "PYTHONPATH": str(TESTS)}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=env)
    assert done.stdout.strip() == h.hexdigest()
    assert len({mutant(4, k) for k in range(200)}) > 150
    assert max(len(mutant(4, k)) for k in range(500)) <= hlo.LONGEST
    assert mutant(4, 1) != mutant(5, 1)


def test_a_crash_is_found_and_made_small(monkeypatch: pytest.MonkeyPatch) -> None:
    def crashing(text: str) -> Module:
        if "transpose" in text and "dimensions" in text:
            raise KeyError("planted")
        return read_module(text)

    monkeypatch.setattr(hlo, "read_module", crashing)
    _, kind, said = examine_hlo(TEXTS[0])
    assert kind.startswith("KeyError at test_hlo.py:")
    assert "planted" in said
    small = hlo._small(TEXTS[0], kind)
    assert len(small) < 40
    assert "transpose" in small
    assert "dimensions" in small


def test_a_change_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    def forgetful(module: Module, percent: bool = True) -> str:
        return format_module(module, percent).replace("kLoop", "kInput")

    monkeypatch.setattr(hlo, "format_module", forgetful)
    assert examine_hlo(TEXTS[0])[1] == "changed"
    assert examine_hlo(TEXTS[1])[1] == ""


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (InputError("two\nlines", source="x", line=1, column=1), ""),
        (InputError("nowhere"), "bad place"),
        (InputError("far away", source="x", line=10**6, column=1), "bad place"),
        (InputError("", source="x", line=1, column=1), "bad message"),
        (MemoryError(), "memory"),
        (RecursionError(), "RecursionError at test_hlo.py"),
    ],
)
def test_wrong_errors_are_found(monkeypatch: pytest.MonkeyPatch, error: Exception, kind: str) -> None:
    def failing(text: str) -> Module:
        raise error

    monkeypatch.setattr(hlo, "read_module", failing)
    assert examine_hlo(TEXTS[0])[1].split(":")[0] == kind


def test_a_hang_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    def slow(text: str) -> Module:
        begin = time.process_time()
        while time.process_time() - begin < 30:
            pass
        return read_module(text)

    monkeypatch.setattr(hlo, "read_module", slow)
    monkeypatch.setattr(hlo, "PATIENCE", 0.3)
    begin = time.process_time()
    assert examine_hlo(TEXTS[0])[1] == "hang"
    assert time.process_time() - begin < 10


def test_a_run_in_several_processes() -> None:
    alone = HloFuzz()
    for start in (0, 250):
        alone.add(hlo.examine_chunk(2, start, start + 250, (*TEXTS, *MAPS)))
    seen: list[int] = []
    run = fuzz_hlo(500, 2, jobs=2, progress=lambda r: seen.append(r.done))
    assert run.counts == alone.counts
    assert (run.done, run.jobs, seen) == (500, 2, [250, 500])
    assert run.exit_status == 0
    assert not run.failures
    assert run.counts["modules"] + run.counts["maps"] == 500
    assert run.counts["modules read"] > 40
    # a process that is forked starts with what this one has
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    assert 0 < run.memory < before + (1 << 30)
    assert 0 < run.slowest < 30


def test_what_decides_the_exit_status() -> None:
    def with_kinds(*kinds: str) -> HloFuzz:
        return HloFuzz(count=1, done=1, failures=[hlo.HloFailure(k, 0, "", "", "") for k in kinds])

    assert with_kinds().exit_status == 0
    assert HloFuzz(count=2, done=1).exit_status == 2
    assert HloFuzz().exit_status == 2
    assert with_kinds("changed").exit_status == 1
    assert with_kinds("changed", "hang").exit_status == 4


def test_texts_from_files(tmp_path: Path) -> None:
    (tmp_path / "a.hlo").write_text("one", "utf-8")
    (tmp_path / "b.hlo.gz").write_bytes(gzip.compress(b"two"))
    (tmp_path / "c.txt").write_text("three", "utf-8")
    assert read_texts([tmp_path]) == ["one", "two"]
    assert read_texts([tmp_path / "c.txt", tmp_path / "a.hlo"]) == ["three", "one"]
    (tmp_path / "bad.hlo.gz").write_bytes(b"no gzip")
    for paths in ([tmp_path], [tmp_path / "missing"], []):
        with pytest.raises(InputError):
            read_texts(paths)
