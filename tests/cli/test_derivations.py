"""`indexproof simplify --explain`, `--validate` and `--json`, and `indexproof replay`."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from indexproof.core.json_text import load_json
from json_forms import FORMS

Run = Callable[..., Any]

WORK = "(d0, d1) -> ((d0 * 4 + d1) floordiv 12, (d0 * 4 + d1) mod 4 + d0), domain: d0 in [0, 99], d1 in [0, 3]"
TIGHT = "(d0, d1) -> (d0 floordiv 4), domain: d0 in [0, 99], d1 in [0, 9], d0 + d1 in [0, 3], d0 mod 2 in [1, 1]"


# ------------------------------------------------------------------------------------------------ explanations
def test_an_explanation_has_rule_place_values_and_facts(run: Run) -> None:
    lines = run("simplify", WORK, "--explain").out.splitlines()
    assert lines[0].startswith("1  ")
    assert lines[0].endswith("in result 0")
    assert lines[1].split(maxsplit=1) == ["says", "(4·d0 + d1) // 12  →  d0 // 3"]
    assert lines[2].split(maxsplit=1) == ["with", "d = 12,  g = 4,  r = d1,  x = d0"]
    assert lines[3].split(maxsplit=1) == ["since", "d1 ∈ [0, 3]   from d1 ∈ [0, 3]"]
    assert any("⟦(4·d0 + d1) mod 4⟧" in line for line in lines)
    assert lines[-1] == "(d0, d1) -> (d0 floordiv 3, d0 + d1), domain: d0 in [0, 99], d1 in [0, 3]"


def test_validation_is_by_two_engines(run: Run) -> None:
    done = run("simplify", WORK, "--validate")
    assert done.status == 0
    assert done.out.splitlines()[-1].startswith("PROVED  equal everywhere")
    data = json.loads(run("simplify", WORK, "--validate", "--json").out)
    assert data["verdict"] == "PROVED"
    assert any(t.startswith("confirmation by") for t in data["tried"])


def test_a_wrong_result_is_refuted(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """A result with a planted bug, its last part too large by one, is refuted."""
    from indexproof.core import transform

    right = transform.reduce_map

    def wrong(m: Any, *args: Any, **options: Any) -> Any:
        off = m.with_(results=(*m.results[:-1], m.results[-1] + 1))
        reduced = right(off, *args, **options)
        return type(reduced)(m, reduced.map, reduced.kept, reduced.values, reduced.unused, reduced.new_dims, ())

    monkeypatch.setattr(transform, "reduce_map", wrong)
    done = run("simplify", WORK, "--validate")
    assert done.status == 1
    assert "REFUTED" in done.out
    assert "take     d0 = 0, d1 = 0" in done.out
    # and no derivation ends in the wrong result
    assert run("simplify", WORK, "--explain").status == 4


# ------------------------------------------------------------------------------------------------------ replay
@pytest.mark.parametrize("text", [WORK, TIGHT])
def test_a_derivation_is_replayed(run: Run, tmp_path: Path, text: str) -> None:
    path = tmp_path / "derivation.json"
    data = json.loads(run("simplify", text, "--json").out)
    assert set(data) == set(FORMS["simplify"])
    path.write_text(json.dumps(data), "utf-8")
    done = run("replay", path)
    assert done.status == 0
    assert done.out.startswith(f"PROVED  {len(data['steps'])} steps, each an instance of a proved rule")
    # the derivation alone is read from standard input
    assert run("replay", "-", stdin=json.dumps(data["derivation"])).out == done.out
    report = json.loads(run("replay", path, "--json").out)
    assert set(report) == set(FORMS["replay"])
    assert report["steps"] == len(data["steps"])
    assert report["refused"] is None


def test_a_forged_derivation_is_refused(run: Run, tmp_path: Path) -> None:
    data = json.loads(run("simplify", WORK, "--json").out)["derivation"]
    # the box of d1 is wider than the first step allows
    for side in ("before", "after"):
        data[side]["dims"][1][2] = 4
    path = tmp_path / "forged.json"
    path.write_text(json.dumps(data), "utf-8")
    done = run("replay", path)
    assert done.status == 1
    assert done.out.startswith("REFUTED  step 1 of 2 is wrong")
    assert "does not hold (d1 ∈ [0, 3])" in done.out
    report = json.loads(run("replay", path, "--json").out)
    assert (report["verdict"], report["refused"]["step"]) == ("REFUTED", 1)
    data["steps"].clear()
    path.write_text(json.dumps(data), "utf-8")
    assert run("replay", path).out.startswith("REFUTED  the derivation is wrong")


@pytest.mark.parametrize(("content", "said"), [
    ("{", "line 1, column 2"),
    ("{}", "$: the key `format` is missing; expected the keys format, before, after, steps, nodes"),
    ('{"derivation": 3}', "$: the number `3` is no object"),
    ('{"derivation": null}', "$: null is no object"),
    ('{"format": "x", "before": {}, "after": {}, "steps": [], "nodes": [], "x": 1}', "unknown key `x`"),
    ('{"format": "no", "before": {}, "after": {}, "steps": [], "nodes": []}', "the format is the string `no`"),
    ("[" * 5000 + "]" * 5000, "$: a list is no object"),
])  # fmt: skip
def test_what_is_no_derivation(run: Run, tmp_path: Path, content: str, said: str) -> None:
    path = tmp_path / "none.json"
    path.write_text(content, "utf-8")
    done = run("replay", path)
    assert done.status == 3
    assert said in done.err
    assert done.err.startswith(f"error: in {path}: ")
    assert run("replay", tmp_path / "missing.json").status == 3


def deep(n: int) -> str:
    text = "d0"
    for k in range(n):
        text = f"({text} + {k % 5}) floordiv 2"
    return f"(d0) -> ({text}), domain: d0 in [0, {2**62}]"


def test_a_derivation_of_any_depth_is_told_and_replayed(run: Run) -> None:
    told = run("simplify", "--json", deep(600))
    assert told.status == 0, told.err
    assert load_json(told.out)["right"]["text"].startswith("(d0) -> (3)")
    done = run("replay", "-", stdin=told.out)
    assert (done.status, done.err) == (0, "")


def test_what_sympy_cannot_print_is_said(run: Run) -> None:
    limit = sys.getrecursionlimit()
    # Python's default, which other tests of this process may have raised
    sys.setrecursionlimit(1_000)
    try:
        refused = run("convert", "--to", "sympy", deep(400))
    finally:
        sys.setrecursionlimit(limit)
    assert refused.status == 3
    assert refused.err == "error: the expressions are too deep for sympy to print them; expected another form\n"
