"""`indexproof layout show`."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from indexproof.core.text import parse_map
from json_forms import FORMS

Run = Callable[..., Any]
FIGURE = "f32[3,5]{1,0:T(2,2)}"


def test_what_a_layout_is(run: Run) -> None:
    done = run("layout", "show", FIGURE)
    assert done.status == 0
    lines = done.out.splitlines()
    assert lines[0] == FIGURE
    assert "  memory    24 positions as [2,3,2,2], 96 bytes (4 each): 15 elements, 9 padding" in lines
    assert "  tile      (2,2) on [3,5]: 2 × 3 tiles" in lines
    assert [line.split() for line in lines[-3:]] == [
        ["0", "1", "4", "5", "8"],
        ["2", "3", "6", "7", "10"],
        ["12", "13", "16", "17", "20"],
    ]


@pytest.mark.parametrize("words", [
    (FIGURE,),
    ("bf16[1000,30,70]{2,0,1:T(8,128)(2,1)}",),
    ("f32[2,3]{0,1}", "--padded", "3,5"),
    ("f32[0,5]",),
])  # fmt: skip
def test_everything_that_is_printed_is_proved(run: Run, words: tuple[str, ...]) -> None:
    done = run("layout", "show", *words, "--verify")
    assert done.status == 0
    assert done.out.count("  PROVED    ") == 7
    assert done.out.splitlines()[-1].startswith("PROVED  7 claims, all proved   in ")


def test_a_picture(run: Run, tmp_path: Path) -> None:
    assert run("layout", "show", FIGURE, "--svg", tmp_path / "x.svg").status == 0
    assert (tmp_path / "x.svg").read_text("utf-8").startswith("<svg ")
    done = run("layout", "show", FIGURE, "--svg", tmp_path / "none" / "x.svg")
    assert done.status == 3
    assert "--svg: cannot write" in done.err


def test_as_json(run: Run) -> None:
    done = run("layout", "show", FIGURE, "--json", "--verify", "--index", "2,3", "--position", "19")
    data = json.loads(done.out)
    assert set(data) == set(FORMS["layout"])
    assert data["verdict"] == "PROVED"
    assert data["element"] == {"index": [2, 3], "position": 17}
    assert data["position"] == {"position": 19, "index": None}
    assert (data["positions"], data["padding_positions"], data["bytes"]) == (24, 9, 96)
    assert data["tiles"] == [[2, 2]]
    assert {c["verdict"] for c in data["claims"]} == {"PROVED"}
    plain = json.loads(run("layout", "show", "f32[2,6]{1,0:T(*,3)}", "--json").out)
    assert set(plain) == set(FORMS["layout"]) - {"element", "position"}
    assert (plain["verdict"], plain["exit_status"], plain["claims"]) == ("NOT CHECKED", 0, [])
    assert plain["tiles"] == [["*", 3]]


@pytest.mark.parametrize(("words", "message", "caret"), [
    (["f32[2,2]{1,1}"], "dimension 1 occurs twice in a layout", 11),
    (["f32[2,2]{1,0:T(2,2}"], "unexpected '}'", 18),
    (["f32[2]{0:T()}"], "where a tile size belongs", 11),
    (["f32[2,2]{1,0:T(0,2)}"], "a tile size of 0", 15),
    ([FIGURE, "--index", "2,x"], "--index: `x` is no number", 2),
    ([FIGURE, "--index", "2,-1"], "--index: `-1` is no number", 2),
    ([FIGURE, "--index", "3,0"], "outside of", None),
    ([FIGURE, "--index", "1"], "expected 2 coordinates", None),
    ([FIGURE, "--index", ""], "expected 2 coordinates", None),
    ([FIGURE, "--position", "24"], "expected 0 to 23", None),
    ([FIGURE, "--padded", "3"], "padded_dimensions has 1 entries", None),
    ([FIGURE, "--padded", "2,5"], "narrower", None),
    (["(f32[2], s32[])"], "is a tuple", None),
    (["f32[?,2]"], "unknown size", None),
    (["banana"], "where a shape belongs", 0),
])  # fmt: skip
def test_mistakes(run: Run, words: list[str], message: str, caret: int | None) -> None:
    done = run("layout", "show", *words)
    assert done.status == 3
    assert done.out == ""
    assert message in done.err
    if caret is not None:
        assert done.err.rstrip("\n").splitlines()[-1] == " " * (2 + caret) + "^"


def test_a_bitcast_as_json(run: Run) -> None:
    data = json.loads(run("layout", "bitcast", "f32[6,4]{1,0}", "f32[3,8]{0,1}", "--json", "--verify").out)
    assert set(data) == set(FORMS["bitcast"])
    assert (data["verdict"], data["kind"]) == ("PROVED", "transpose-reshape-transpose")
    assert data["steps"] == [{"reshape": [8, 3]}, {"transpose": [1, 0]}]


# --------------------------------------------------------------------------------- `indexproof layout launch`
def test_who_computes_what(run: Run) -> None:
    done = run("layout", "launch", "f32[10,20]", "--threads", "32", "--blocks", "4", "--unroll", "2")
    assert done.status == 0
    lines = done.out.splitlines()
    assert lines[0] == "f32[10,20]"
    assert "  threads   32 × 1 × 1 in a block, warps of 32" in lines
    assert "  elements  200, 2 at once by a thread, in 1 round; 56 places have no element" in lines
    thread = next(line.split(maxsplit=1)[1] for line in lines if line.startswith("  thread  "))
    m = parse_map(thread)
    assert [v.name for v in m.dims] == ["th_x", "th_y", "th_z", "bl_x", "bl_y", "bl_z"]
    assert m.evaluate((5, 0, 0, 1, 0, 0), (1,)) == (3, 15)


@pytest.mark.parametrize("by", ["thread", "block", "warp"])
def test_launch_everything_that_is_printed_is_proved(run: Run, by: str) -> None:
    words = ("f32[5,7]{0,1}", "--threads", "8,2", "--blocks", "3", "--warp", "4", "--verify", "--by", by)
    turned = "(d0, d1) -> (d1, d0), domain: d0 in [0, 4], d1 in [0, 6]"
    done = run("layout", "launch", *words, "--map", turned)
    assert done.status == 0
    assert done.out.count("  PROVED    ") == 11
    assert f"  {by} reads" in done.out
    assert done.out.splitlines()[-1].startswith("PROVED  11 claims, all proved   in ")


def test_a_program_reads_it(run: Run) -> None:
    words = ("f32[6]", "--threads", "4", "--map", "(d0) -> (5 - d0), domain: d0 in [0, 5]")
    data = json.loads(run("layout", "launch", *words, "--operand", "f32[6]", "--json").out)
    assert set(data) == set(FORMS["launch"])
    assert (data["chunks"], data["verdict"]) == (2, "NOT CHECKED")
    assert parse_map(data["reads"]["text"]).evaluate((3, 0, 0, 0, 0, 0), (0,)) == (2,)
    asked = data["requests"]
    assert (asked["requests"], asked["sectors"], asked["coalesced"], asked["stride"]) == (2, 2, True, -4)
