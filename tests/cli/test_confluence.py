"""`indexproof confluence`."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from indexproof.reports.machine import FORMS

Run = Callable[..., Any]

DATA = Path(__file__).parents[1] / "verify" / "confluence" / "data"
PLANTED = str(DATA / "planted.rules")
TEXTBOOK = str(DATA / "textbook.rules")


def test_two_normal_forms_and_how_they_come_about(run: Run) -> None:
    done = run("confluence", PLANTED)
    assert done.status == 1
    lines = done.out.splitlines()
    assert "NOT JOINABLE  nested / whole at argument 1" in lines
    assert "  take     x * 2 / 2 / 2" in lines
    assert "           → x * 2 / 4   by nested" in lines
    assert "           → x / 2   by whole" in lines
    assert lines[-1].startswith("NOT JOINABLE  2 critical pairs   in ")


def test_a_confluent_file(run: Run) -> None:
    done = run("confluence", TEXTBOOK)
    assert done.status == 0
    assert done.out.splitlines()[-1].startswith("JOINABLE  25 critical pairs   in ")


def test_how_pairs_join(run: Run) -> None:
    done = run("confluence", str(DATA / "divisions.rules"), "--details")
    assert done.status == 0
    assert "JOINABLE  nested / nested at argument 1" in done.out
    assert "by nested" in done.out


def test_as_json(run: Run) -> None:
    done = run("confluence", PLANTED, "--json")
    assert done.status == 1
    answer = json.loads(done.out)
    assert set(answer) == set(FORMS["confluence"])
    assert answer["counts"]["NOT JOINABLE"] == 1
    (pair,) = [p for p in answer["pairs"] if p["kind"] == "NOT JOINABLE"]
    assert pair["witness"] == "x * 2 / 2 / 2"
    assert pair["forms"] == ["x * 2 / 4", "x / 2"]


def test_a_checkpoint_is_gone_on_from(run: Run, tmp_path: Path) -> None:
    place = str(tmp_path / "pairs")
    first = json.loads(run("confluence", PLANTED, "--json", "--checkpoint", place).out)
    second = json.loads(run("confluence", PLANTED, "--json", "--checkpoint", place).out)
    assert second.pop("timing")["from_checkpoint"] == 2
    assert first.pop("timing")["from_checkpoint"] == 0
    assert first == second


def test_what_is_no_rewrite_rule(run: Run) -> None:
    done = run("confluence", "transpose")
    assert done.status == 3
    assert "nothing that is named is a rewrite rule" in done.err


def test_a_page_is_about_everything(run: Run) -> None:
    done = run("confluence", PLANTED, "--page")
    assert done.status == 3
    assert "--page is about the whole catalogue" in done.err


def test_a_file_with_one_rule_has_no_pairs(run: Run, tmp_path: Path) -> None:
    """Nothing to check is never a success."""
    file = tmp_path / "one.rules"
    file.write_text("int x\none: x + 0 -> x\n")
    done = run("confluence", str(file))
    assert done.status == 2
    assert done.out.splitlines()[-1].startswith("NO PAIRS")
