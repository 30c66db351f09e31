"""The fuzzer of HLO texts: its damage, its checks, and that it finds planted bugs."""

from __future__ import annotations

import gzip
import random
import time
from collections import Counter
from functools import partial
from pathlib import Path

import pytest

from dev.fuzz import hlo
from dev.fuzz.hlo import DATA, MAPS, damaged, examine_hlo, examine_some, is_map, limited, read_texts
from dev.fuzz.runs import Failed, in_chunks
from indexproof.core.errors import InputError
from indexproof.core.hlo import Module, format_module, read_module

TEXTS = read_texts([DATA])
CONTROL, COMPILED = TEXTS[2], TEXTS[1]


@pytest.mark.parametrize("text", [*TEXTS, *MAPS])
def test_undamaged_texts_are_read(text: str) -> None:
    counts = examine_hlo(text)
    assert not counts["modules refused"] + counts["maps refused"]
    assert is_map(text) == (text in MAPS)


def test_undamaged_texts_have_all_there_is() -> None:
    forms = (
        "calls=|to_apply=|while(|conditional(|async-start(|FileNames|backend_config=|sharding=|replica_groups={{|<=[4]"
        "|T(8,128)(2,1)|S(5)|<=5|{...}|/*index=|f32[0,3]|add(f32[] x|constant({ { "
    )
    missing = [form for form in forms.split("|") if form not in "\n".join(TEXTS)]
    assert not missing


def test_damaged_texts_are_read_or_refused() -> None:
    """A sample of damaged texts is read or refused; `indexproof dev fuzz-hlo -n 100000` examines more."""
    modules = Path(__file__).parents[2] / "core/hlo/data"
    corpus = [text for text in read_texts([modules]) if len(text) < 6000]
    counts: Counter[str] = Counter()
    for index in range(300):
        for texts in ((*TEXTS, *MAPS), corpus):
            counts += examine_hlo(damaged(random.Random(f"9:{index}"), texts))
    assert counts["modules"] - counts["modules refused"] > 40
    assert counts["maps"] > 40


def kind_of(text: str) -> str:
    with pytest.raises(Failed) as error:
        examine_hlo(text)
    return error.value.kind


def test_a_crash_is_found_and_made_small(monkeypatch: pytest.MonkeyPatch) -> None:
    def crashing(text: str) -> Module:
        if "transpose" in text and "dimensions" in text:
            raise KeyError("planted")
        return read_module(text)

    monkeypatch.setattr(hlo, "read_module", crashing)
    status, said = examine_some((200, 1), ["HloModule transpose dimensions", COMPILED, CONTROL])[1] or (0, "")
    assert status == 4
    assert "FAILED  KeyError at test_hlo.py:" in said
    assert "planted" in said
    (text,) = (line for line in said.splitlines() if line.split()[0] == "text")
    assert len(text) < 60


def test_a_change_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    def forgetful(module: Module, percent: bool = True) -> str:
        return format_module(module, percent).replace("kLoop", "kInput")

    monkeypatch.setattr(hlo, "format_module", forgetful)
    assert kind_of(COMPILED) == "changed"
    assert examine_hlo(CONTROL)


@pytest.mark.parametrize(("error", "kind"), [
    (InputError("nowhere"), "bad place"),
    (InputError("far away", source="x", line=10**6, column=1), "bad place"),
    (InputError("", source="x", line=1, column=1), "bad message"),
    (MemoryError(), "memory"),
    (RecursionError(), "RecursionError at test_hlo.py"),
])  # fmt: skip
def test_wrong_errors_are_found(monkeypatch: pytest.MonkeyPatch, error: Exception, kind: str) -> None:
    def failing(text: str) -> Module:
        raise error

    monkeypatch.setattr(hlo, "read_module", failing)
    assert kind_of(COMPILED).split(":")[0] == kind


def test_a_hang_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    def slow(text: str) -> Module:
        begin = time.process_time()
        while time.process_time() - begin < 30:
            pass
        return read_module(text)

    monkeypatch.setattr(hlo, "read_module", slow)
    monkeypatch.setattr(hlo, "PATIENCE", 0.3)
    begin = time.process_time()
    assert kind_of(COMPILED) == "hang"
    assert time.process_time() - begin < 10


def test_a_run_in_several_processes() -> None:
    do = partial(examine_some, texts=(*TEXTS, *MAPS))
    alone = do((100, 2 * 1_000_003))[0] + do((100, 2 * 1_000_003 + 100))[0]
    run = in_chunks(do, 200, 2, 2, initializer=limited)
    assert (run.counts, run.exit_status) == (alone, 0)
    assert run.counts["modules"] + run.counts["maps"] == run.counts["texts"] == 200


def test_texts_from_files(tmp_path: Path) -> None:
    (tmp_path / "a.hlo").write_text("one", "utf-8")
    (tmp_path / "b.hlo.gz").write_bytes(gzip.compress(b"two"))
    (tmp_path / "c.txt").write_text("three", "utf-8")
    assert read_texts([tmp_path]) == ["one", "two"]
    assert read_texts([tmp_path / "c.txt", tmp_path / "a.hlo"]) == ["three", "one"]
    for content in (b"no gzip", b"\x1f\x8b\x08" + bytes(7) + b"\xff"):
        (tmp_path / "bad.hlo.gz").write_bytes(content)
        for paths in ([tmp_path], [tmp_path / "missing"], []):
            with pytest.raises(InputError):
                read_texts(paths)
