"""`indexproof equal` on two HLO instructions: compared by what they read, operand for operand."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from indexproof.reports.machine import FORMS

Run = Callable[..., Any]

TRANSPOSE = "t = f32[3,2] transpose(f32[2,3] x), dimensions={1,0}"


@pytest.mark.parametrize(
    ("left", "right", "status"),
    [
        (TRANSPOSE, "u = f32[3,2] transpose(f32[2,3] other), dimensions={1,0}", 0),
        ("r = f32[6] reshape(f32[2,3] x)", "p = f32[2,3] parameter(0)\nr = f32[6] reshape(p)", 0),
        ("t = f32[3,3] transpose(f32[3,3] x), dimensions={1,0}", "c = f32[3,3] copy(f32[3,3] x)", 1),
        (
            "a = f32[5] slice(f32[10] x), slice={[0:10:2]}",
            "b = f32[5] slice(f32[10] x), slice={[1:10:2]}",
            1,
        ),
        ("a = f32[4] add(f32[4] x, f32[4] y)", "m = f32[4] multiply(f32[4] u, f32[4] v)", 0),
        (
            "d = f32[5] dynamic-slice(f32[10] x, s32[] i), dynamic_slice_sizes={5}",
            "e = f32[5] dynamic-slice(f32[10] p, s32[] q), dynamic_slice_sizes={5}",
            0,
        ),
    ],
)
def test_two_instructions(run: Run, left: str, right: str, status: int) -> None:
    done = run("equal", left, right)
    assert done.status == status, done.out
    assert all("  operand " in line for line in done.out.splitlines() if not line.startswith(" "))
    data = json.loads(run("equal", left, right, "--json").out)
    assert set(data) == set(FORMS["equal (instructions)"])
    assert data["exit_status"] == status
    assert data["verdict"] == ("PROVED" if status == 0 else "REFUTED")


def test_a_difference_is_shown(run: Run) -> None:
    done = run(
        "equal", "t = f32[3,3] transpose(f32[3,3] x), dimensions={1,0}", "c = f32[3,3] copy(f32[3,3] x)"
    )
    assert done.out.startswith("REFUTED  operand 0: the results differ at source (0, 1)\n")
    assert "take     d0 = 0, d1 = 1" in done.out


def test_files_and_standard_input(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "t.hlo"
    path.write_text(TRANSPOSE, "utf-8")
    assert run("equal", f"@{path}", "-", stdin=TRANSPOSE).status == 0


@pytest.mark.parametrize(
    ("left", "right"),
    [
        (TRANSPOSE, "c = f32[2,3] copy(f32[2,3] x)"),
        (TRANSPOSE, "b = f32[3,2] broadcast(f32[2] x), dimensions={1}"),
        (TRANSPOSE, "t = f32[3,2] transpose(f32[2,3] x), dimensions={1,7}"),
        (TRANSPOSE, "(d0, d1) -> (d1, d0), domain: d0 in [0, 2], d1 in [0, 1]"),
        ("i = s32[4] iota(), iota_dimension=0", "i = s32[4] iota(), iota_dimension=0"),
    ],
)
def test_what_cannot_be_compared(run: Run, left: str, right: str) -> None:
    done = run("equal", left, right)
    assert done.status == 3
    assert done.err.startswith("error: ")
