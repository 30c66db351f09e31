"""`indexproof check`: claims files, their verdicts, and the report on false claims."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from json_forms import FORMS

Run = Callable[..., Any]

SLICE = """\
hlo strided
  p0 = f32[10, 20] parameter(0)
  s = f32[5, 3] slice(p0), slice={[5:10:1], [3:20:7]}

s -> p0 :
  (d0, d1) -> (d0 + 5, d1 * 7 + 3)
"""
WRONG = """\
claim halves
  (d0) -> (d0 floordiv 2), domain: d0 in [0, 9] == (d0) -> (d0 floordiv 2 + d0 mod 2), domain: d0 in [0, 9]
"""


@pytest.fixture
def file(tmp_path: Path) -> Callable[[str], Path]:
    def write(text: str) -> Path:
        path = tmp_path / "some.claims"
        path.write_text(text, "utf-8")
        return path

    return write


@pytest.mark.parametrize(("text", "words", "status", "said"), [
    (SLICE, [], 0, "\nAS EXPECTED  1 claim, 0 of them false"),
    (WRONG + "expect REFUTED\n", [], 0, "\nAS EXPECTED  1 claim, 1 of them false"),
    (SLICE + "expect REFUTED\n", [], 1, "\nNOT AS EXPECTED  1 claim, 0 of them false"),
    (SLICE + "\n" + WRONG, ["--only", "halves"], 1, "NOT AS EXPECTED  1 claim"),
    (SLICE + "\n" + WRONG, ["--only", "strided: s -> p0"], 0, "AS EXPECTED  1 claim"),
    (SLICE + "\n" + WRONG, ["--only", "halfs"], 3, "did you mean `halves`"),
    ("", [], 3, "error: "),
    ("# nothing\n", [], 3, "error: "),
])  # fmt: skip
def test_claims_from_standard_input(run: Run, text: str, words: list[str], status: int, said: str) -> None:
    done = run("check", "-", *words, stdin=text)
    assert done.status == status
    assert said in done.out + done.err


def test_a_false_claim(run: Run, file: Callable[[str], Path]) -> None:
    done = run("check", file(WRONG))
    assert done.status == 1
    head, *lines = done.out.splitlines()
    assert head.startswith("REFUTED  halves   ")
    assert head.endswith("some.claims:1   expected PROVED")
    assert any("at d0 = 1" in line for line in lines)
    assert lines[-1].startswith("NOT AS EXPECTED  1 claim, 1 of them false   not as expected: halves")


def test_the_answer_as_json(run: Run, file: Callable[[str], Path]) -> None:
    done = run("check", file(SLICE + "\n" + WRONG), "--json")
    data = json.loads(done.out)
    assert set(data) == set(FORMS["check"])
    assert (data["verdict"], data["exit_status"], done.status) == ("NOT AS EXPECTED", 1, 1)
    claims = data["files"][0]["claims"]
    assert [c["verdict"] for c in claims] == ["PROVED", "REFUTED"]
    assert claims[1]["counterexample"] == {"d0": 1}


def test_a_file_with_a_mistake(run: Run, file: Callable[[str], Path]) -> None:
    path = file(SLICE + "claim x\n  (d0\n")
    done = run("check", path)
    assert done.status == 3
    assert done.err.startswith(f"error: in {path}: line 8, column ")
    assert done.err.splitlines()[-1].strip() == "^"
    # the other claim is checked all the same
    assert "1 claim: 1 PROVED" in done.out
    assert done.out.endswith("\nILL-FORMED  1 statement or file not read\n")
    data = json.loads(run("check", path, "--json").out)
    assert (data["verdict"], data["exit_status"]) == ("ILL-FORMED", 3)
    assert [e["line"] for e in data["ill_formed"]] == [8]
    path.write_text("claim x\n  (d0\n", "utf-8")
    alone = run("check", path)
    assert (alone.status, alone.out) == (3, "")


def test_the_published_maps(run: Run) -> None:
    done = run("check", "--builtin")
    assert done.status == 0, done.out
    assert done.out.splitlines()[-1].startswith("AS EXPECTED  ")
    # each false claim comes with an element that shows it and with the right map
    blocks = [b for b in done.out.split("\n\n") if b.startswith("REFUTED")]
    assert blocks
    for b in blocks:
        assert "\n  shows " in b
        assert "\n  right " in b
