"""`indexproof dev fuzz` and `indexproof dev fuzz-hlo`."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., Any]


def test_random_maps_and_a_corpus(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "maps.txt"
    path.write_text("(d0, d1) -> ((d0 * 4 + d1) floordiv 12), domain: d0 in [0, 99], d1 in [0, 3]\n", "utf-8")
    done = run("dev", "fuzz", "-n", "40", "--seed", "3", "-j", "1", "--checked", "--corpus", path)
    assert done.status == 0, done.out
    assert "what was examined" in done.out
    assert "  derived  " in done.out
    assert done.out.splitlines()[-1].startswith("PROVED  41 maps, 0 failures")


def test_damaged_texts(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "a.hlo"
    path.write_text("ENTRY e { ROOT a = f32[] parameter(0) }", "utf-8")
    done = run("dev", "fuzz-hlo", "-n", "60", "--seed", "3", "-j", "1", "--corpus", path)
    assert done.status == 0
    assert done.out.splitlines()[-1].startswith("PROVED  60 texts, 0 failures")


@pytest.mark.parametrize("command", ["fuzz", "fuzz-hlo"])
@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["-n", "0"], "there is nothing to examine"),
        (["-n", "-3"], "--count"),
        (["--corpus", "/no/such/file"], "cannot read"),
    ],
)
def test_wrong_options(run: Run, command: str, words: list[str], said: str) -> None:
    done = run("dev", command, *words)
    assert done.status == 3
    assert said in done.err


def test_ctrl_c_says_that_not_everything_was_examined() -> None:
    command = [sys.executable, "-m", "indexproof", "dev", "fuzz-hlo", "--seed", "4", "-j", "2", "-n", "5000"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stderr.readline().startswith(" 10%")
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 2, err
    assert "Traceback" not in err
    assert "the rest of the run" in out
    assert out.splitlines()[-1].startswith("NOT CHECKED")
