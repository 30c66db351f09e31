"""`indexproof layout launch`."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from indexproof.core.text import parse_map
from json_forms import FORMS

Run = Callable[..., Any]


def test_who_computes_what(run: Run) -> None:
    done = run("layout", "launch", "f32[10,20]", "--threads", "32", "--blocks", "4", "--unroll", "2")
    assert done.status == 0
    lines = done.out.splitlines()
    assert lines[0] == "f32[10,20]"
    assert "  threads   32 × 1 × 1 in a block, warps of 32" in lines
    assert "  elements  200, 2 at once by a thread, in 1 round; 56 places without one" in lines
    thread = next(line.split(maxsplit=1)[1] for line in lines if line.startswith("  thread  "))
    m = parse_map(thread)
    assert [v.name for v in m.dims] == ["th_x", "th_y", "th_z", "bl_x", "bl_y", "bl_z"]
    assert m.evaluate((5, 0, 0, 1, 0, 0), (1,)) == (3, 15)


@pytest.mark.parametrize("by", ["thread", "block", "warp"])
def test_everything_that_is_printed_is_proved(run: Run, by: str) -> None:
    words = ("--threads", "8,2", "--blocks", "3", "--warp", "4", "--verify", "--by", by)
    done = run(
        "layout",
        "launch",
        "f32[5,7]{0,1}",
        *words,
        "--map",
        "(d0, d1) -> (d1, d0), domain: d0 in [0, 4], d1 in [0, 6]",
    )
    assert done.status == 0
    assert done.out.count("  PROVED    ") == 11
    assert f"  {by} reads" in done.out
    assert done.out.splitlines()[-1].startswith("PROVED  11 claims, all proved   in ")


def test_a_program_reads_it(run: Run) -> None:
    done = run(
        "layout",
        "launch",
        "f32[6]",
        "--threads",
        "4",
        "--map",
        "(d0) -> (5 - d0), domain: d0 in [0, 5]",
        "--operand",
        "f32[6]",
        "--json",
    )
    data = json.loads(done.out)
    assert set(data) == set(FORMS["launch"])
    assert (data["chunks"], data["verdict"]) == (2, "NOT CHECKED")
    assert parse_map(data["reads"]["text"]).evaluate((3, 0, 0, 0, 0, 0), (0,)) == (2,)
    asked = data["requests"]
    assert (asked["requests"], asked["sectors"], asked["coalesced"], asked["stride"]) == (2, 2, True, -4)


@pytest.mark.parametrize(("words", "said"), [
    (["f32[2"], "is not closed"),
    (["(f32[2])"], "is a tuple"),
    (["f32[2]", "--threads", "0"], "threads (0)"),
    (["f32[2]", "--threads", "x"], "--threads"),
    (["f32[2]", "--blocks", "1,2,3,4"], "blocks (1, 2, 3, 4)"),
    (["f32[2]", "--unroll", "0"], "unroll 0"),
    (["f32[2]", "--operand", "f32[2]"], "--map"),
    (["f32[2]", "--map", "() -> ()"], "a map of 0 dimensions"),
    (["f32[2]", "--map", "(d0) -> (d0), domain: d0 in [0, 1]", "--by", "cluster"], "thread, block or warp"),
])  # fmt: skip
def test_wrong_options(run: Run, words: list[str], said: str) -> None:
    done = run("layout", "launch", *words)
    assert done.status == 3
    assert said in done.err


def test_by_is_about_the_map(run: Run) -> None:
    done = run("layout", "launch", "f32[10]", "--by", "warp")
    assert done.status == 3
    assert done.err == "error: --by warp says whose reads --map asks for; expected --map\n"
