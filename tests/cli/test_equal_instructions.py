"""`indexproof equal` on two HLO instructions: compared by what they read, operand for operand."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from json_forms import FORMS

Run = Callable[..., Any]

TRANSPOSE = "t = f32[3,2] transpose(f32[2,3] x), dimensions={1,0}"


@pytest.mark.parametrize(("left", "right", "status"), [
    (TRANSPOSE, "u = f32[3,2] transpose(f32[2,3] other), dimensions={1,0}", 0),
    ("r = f32[6] reshape(f32[2,3] x)", "p = f32[2,3] parameter(0)\nr = f32[6] reshape(p)", 0),
    ("t = f32[3,3] transpose(f32[3,3] x), dimensions={1,0}", "c = f32[3,3] copy(f32[3,3] x)", 1),
    ("a = f32[5] slice(f32[10] x), slice={[0:10:2]}", "b = f32[5] slice(f32[10] x), slice={[1:10:2]}", 1),
    ("a = f32[4] add(f32[4] x, f32[4] y)", "m = f32[4] multiply(f32[4] u, f32[4] v)", 0),
    ("d = f32[5] dynamic-slice(f32[10] x, s32[] i), dynamic_slice_sizes={5}",
        "e = f32[5] dynamic-slice(f32[10] p, s32[] q), dynamic_slice_sizes={5}", 0),
])  # fmt: skip
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


@pytest.mark.parametrize(("results", "proved"), [("d1, d0", True), ("d0, d1", False)])
def test_an_instruction_and_a_map(run: Run, results: str, proved: bool) -> None:
    right = f"(d0, d1) -> ({results}), domain: d0 in [0, 2], d1 in [0, 1]"
    for pair in ((TRANSPOSE, right), (right, TRANSPOSE)):
        done = run("equal", *pair)
        assert done.status == (0 if proved else 1)
        assert done.out.startswith(
            "PROVED  operand 0: equal" if proved else "REFUTED  operand 0: the results differ"
        )
        assert ("again    indexproof equal" in done.out) is not proved


def test_an_instruction_without_its_name(run: Run) -> None:
    assert run("equal", TRANSPOSE, "f32[3,2]{1,0} transpose(f32[2,3] x), dimensions={1,0}").status == 0
    done = run("equal", TRANSPOSE, "f32[3,2] transpose(f32[2,3] x), dimensions={1,7}")
    assert done.status == 3
    assert "names dimension 7" in done.err


def test_a_computation_with_fusions(run: Run) -> None:
    module = """
    HloModule m
    f { p = f32[2,3] parameter(0)
        ROOT t = f32[3,2] transpose(p), dimensions={1,0} }
    ENTRY e { x = f32[2,3] parameter(0)
              ROOT r = f32[3,2] fusion(x), kind=kLoop, calls=f }
    """
    assert run("equal", module, TRANSPOSE).status == 0


def test_every_array_of_a_tuple_is_compared(run: Run) -> None:
    sort = "s = (f32[{0}], s32[{0}]) sort(f32[{0}] x, s32[{0}] y), dimensions={{0}}, to_apply=less"
    done = run("equal", sort.format(2), sort.format(2))
    assert done.status == 0
    assert [line.split(":")[0] for line in done.out.splitlines()] == [
        f"PROVED  array {a}, operand {k}" for a in (0, 1) for k in (0, 1)
    ]
    assert run("equal", sort.format(2), sort.format(3)).status == 3


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
        (TRANSPOSE, "(d0, d1) -> (d1, d0)"),
        ("a = f32[4] add(f32[4] x, f32[4] y)", "(d0) -> (d0), domain: d0 in [0, 3]"),
        ("a = f32[4] add(f32[4] x, f32[4] y)", "n = f32[4] negate(f32[4] x)"),
        ("i = s32[4] iota(), iota_dimension=0", "i = s32[4] iota(), iota_dimension=0"),
    ],
)
def test_what_cannot_be_compared(run: Run, left: str, right: str) -> None:
    done = run("equal", left, right)
    assert done.status == 3
    assert done.err.startswith("error: ")
