"""`indexproof dev fuzz-hlo`."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., Any]


def test_damaged_texts(run: Run, tmp_path: Path) -> None:
    report = tmp_path / "report.json"
    done = run("dev", "fuzz-hlo", "-n", "60", "--seed", "3", "-j", "1", "--json", report)
    data = json.loads(report.read_text("utf-8"))
    assert set(data) == {
        "count",
        "counts",
        "exit_status",
        "failures",
        "format",
        "interrupted",
        "longest",
        "seed",
        "start",
        "texts",
        "timing",
        "verdict",
        "version",
    }
    assert (data["texts"], data["failures"]) == (60, [])
    assert done.status == data["exit_status"] == 0
    assert "what was examined" in done.out
    assert done.out.splitlines()[-1].startswith("PROVED  60 texts, 0 failures")


def test_one_damaged_text_and_files(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "a.hlo"
    path.write_text("ENTRY e { ROOT a = f32[] parameter(0) }", "utf-8")
    done = run("dev", "fuzz-hlo", "--only", "12", "--seed", "5", "--corpus", path)
    assert done.status == 0
    assert "PROVED  mutant 12 is re" in done.out
    assert run("dev", "fuzz-hlo", "--only", "12", "--seed", "5", "--corpus", path).out == done.out


def test_an_interrupted_run_says_how_to_go_on(run: Run) -> None:
    command = [sys.executable, "-m", "indexproof", "dev", "fuzz-hlo", "--seed", "4", "-j", "2", "-n", "5000"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    line = process.stderr.readline()
    assert line.startswith(" 10%"), line
    process.send_signal(signal.SIGINT)
    begin = time.monotonic()
    out, err = process.communicate(timeout=60)
    # the texts at hand are not waited for
    assert time.monotonic() - begin < 15
    assert process.returncode == 2, err
    assert "Traceback" not in err
    rest = next(line for line in out.splitlines() if "go on" in line).split("fuzz-hlo ")[1].split()
    assert out.splitlines()[-1].startswith("NOT CHECKED")
    done = int(rest[rest.index("--start") + 1])
    assert done + int(rest[rest.index("--count") + 1]) == 5000
    # and the rest can be examined, here two of it
    more = run("dev", "fuzz-hlo", *rest[:-1], "2", "-j", "1")
    assert f"2 of 2 mutants from number {done:,} on, seed 4" in more.out


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
    done = run("dev", "fuzz-hlo", *words)
    assert done.status == 3
    assert said in done.err
