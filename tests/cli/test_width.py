"""`indexproof width`."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from json_forms import FORMS

Run = Callable[..., Any]

NARROW = "(d0) -> (d0 * 65536), domain: d0 in [0, 99999], d0 * 65536 in [0, 2147483647]"
WIDE = "(d0, d1) -> (d0 * 65536 + d1), domain: d0 in [0, 40000], d1 in [0, 9]"
TOO_WIDE = "(d0) -> (d0 * 4294967296), domain: d0 in [0, 4294967296]"


@pytest.mark.parametrize(
    ("source", "bits", "status"), [(NARROW, 32, 0), (NARROW, 64, 0), (WIDE, 32, 1), (WIDE, 64, 0), (TOO_WIDE, 64, 1)]
)
def test_a_width_that_is_asked_for(run: Run, source: str, bits: int, status: int) -> None:
    done = run("width", source, "--bits", bits)
    assert done.status == status
    assert done.out.split()[0] == ("REFUTED" if status else "PROVED")
    data = json.loads(run("width", source, "--bits", bits, "--json").out)
    assert (data["verdict"] == "PROVED", data["exit_status"]) == (not status, status)


def test_the_answer_as_json(run: Run) -> None:
    data = json.loads(run("width", WIDE, "--json").out)
    assert set(data) == set(FORMS["width"])
    assert data["bits"] == 64
    assert data["overflows"] == [
        {"bits": 32, "term": "d0 * 65536", "value": 2147483648, "values": {"d0": 32768, "d1": 0}, "smallest": True}
    ]
    assert json.loads(run("width", TOO_WIDE, "--json").out)["bits"] is None


def test_the_type_of_each_subexpression(run: Run) -> None:
    text = "(d0) -> (d0 * 3), domain: d0 in [0, 60]"
    assert "overflows int8" not in run("width", text).out
    lines = [line.split() for line in run("width", "--each", text).out.splitlines()[1:]]
    assert [line[0] for line in lines] == ["int8", "int8", "int16"]
    assert " ".join(lines[-1]) == "int16 d0 * 3 129 overflows int8 at d0 = 43"
    data = json.loads(run("width", "--each", text, "--json").out)
    assert [(p["term"], p["bits"]) for p in data["subexpressions"]] == [("d0", 8), ("3", 8), ("d0 * 3", 16)]
    assert data["subexpressions"][-1]["overflow"]["values"] == {"d0": 43}
    assert json.loads(run("width", text, "--json").out)["subexpressions"] is None
