"""`indexproof fuzz-hlo`."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from indexproof.reports.machine import FORMS

Run = Callable[..., Any]


def test_damaged_texts(run: Run, tmp_path: Path) -> None:
    report = tmp_path / "report.json"
    done = run("fuzz-hlo", "-n", "60", "--seed", "3", "-j", "1", "--json", report)
    data = json.loads(report.read_text("utf-8"))
    assert set(data) == set(FORMS["fuzz-hlo"])
    assert (data["texts"], data["failures"]) == (60, [])
    assert done.status == data["exit_status"] == 0
    assert "what was examined" in done.out
    assert done.out.splitlines()[-1].startswith("PROVED  60 texts, 0 failures")


def test_one_damaged_text_and_files(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "a.hlo"
    path.write_text("ENTRY e { ROOT a = f32[] parameter(0) }", "utf-8")
    done = run("fuzz-hlo", "--only", "12", "--seed", "5", "--corpus", path)
    assert done.status == 0
    assert "PROVED  mutant 12 is re" in done.out
    assert run("fuzz-hlo", "--only", "12", "--seed", "5", "--corpus", path).out == done.out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["-n", "0"], "there is nothing to examine"),
        (["-n", "-3"], "--count"),
        (["--corpus", "/no/such/file"], "cannot read"),
        (["-n", "1", "--json", "/no/such/folder/x"], "--json: cannot write"),
    ],
)
def test_wrong_options(run: Run, words: list[str], said: str) -> None:
    done = run("fuzz-hlo", *words)
    assert done.status == 3
    assert said in done.err
