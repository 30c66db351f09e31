"""`indexproof equal`, `indexproof property` and `indexproof simplify`."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from indexproof import equal_maps, parse_map
from indexproof.core.text import format_map
from indexproof.reports.maps import map_with_remainders
from json_forms import FORMS

Run = Callable[..., Any]

HALVES = "(d0) -> (d0 floordiv 2), domain: d0 in [0, 9]"
SUMS = "(d0) -> (d0 floordiv 2 + d0 mod 2), domain: d0 in [0, 9]"
JSON_HALVES = '{"dims": [["a", 0, 9]], "ranges": [], "rts": [], "results": [["fdiv", "a", 2]], "constraints": []}'
WORK = "(d0, d1) -> ((d0 * 4 + d1) floordiv 12, (d0 * 4 + d1) mod 4), domain: d0 in [0, 99], d1 in [0, 3]"


def test_different_maps_are_answered_with_a_point(run: Run) -> None:
    done = run("equal", HALVES, SUMS)
    assert done.status == 1
    lines = done.out.splitlines()
    assert lines[0] == "REFUTED  the results differ at source (1)"
    assert "  take     d0 = 1" in lines
    assert "  right    d0 mod 2 = 1" in lines
    assert lines[-3:-1] == ["  left     → (0)", "  right    → (1)"]
    assert run(*shlex.split(lines[-1])[1:][1:]).out == done.out


def test_the_answer_as_json(run: Run) -> None:
    data = json.loads(run("equal", HALVES, SUMS, "--json").out)
    assert set(data) == set(FORMS["equal"])
    c = data["counterexample"]
    assert (c["values"], c["left"], c["right"], c["smallest"]) == ({"d0": 1}, [0], [1], True)
    assert {"side": "right", "term": "d0 mod 2", "value": 1} in c["subterms"]
    assert json.loads(run("equal", HALVES, HALVES, "--json").out)["counterexample"] is None


def test_maps_from_files_and_standard_input(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "map.txt"
    path.write_text(HALVES + "\n", "utf-8")
    assert run("equal", f"@{path}", "-", stdin=HALVES).status == 0
    assert run("equal", "-", "-", stdin=HALVES).status == 3


def test_a_caret_points_at_the_place(run: Run) -> None:
    source = "(d0) -> (d0 +), domain: d0 in [0, 9]"
    assert run("equal", source, HALVES).err.splitlines()[1:] == [f"  {source}", "  " + " " * 13 + "^"]


def test_simplify_prints_the_map_alone(run: Run) -> None:
    done = run("simplify", WORK)
    assert done.status == 0
    assert done.out == "(d0, d1) -> (d0 floordiv 3, d1), domain: d0 in [0, 99], d1 in [0, 3]\n"


def test_simplify_quickly(run: Run) -> None:
    digit = "(d0) -> (d0 floordiv 4, (d0 floordiv 2 * 2 + d0 mod 2) mod 4), domain: d0 in [0, 99]"
    computed = "(d0) -> (d0 floordiv 4, (d0 floordiv 4) * -4 + d0), domain: d0 in [0, 99]"
    assert run("simplify", digit, "--as-computed").out == f"{computed}\n"
    assert json.loads(run("simplify", digit, "--json").out)["right"]["text"] == computed
    assert run("simplify", digit, "--minimize", "operations", "--as-computed").out != f"{computed}\n"
    done = run("simplify", digit, "--quick", "--validate")
    assert done.out.startswith("(d0) -> (d0 floordiv 4, d0 mod 4)")
    assert done.status == 0


@pytest.mark.parametrize(("computed", "shown"), [
    ("(d0) -> (d0 + (d0 floordiv 8) * -8)", "(d0 mod 8)"),
    ("(d0) -> (d0 * 3 - (d0 floordiv 8) * 24 + 5)", "((d0 mod 8) * 3 + 5)"),
    ("(d0) -> (d0 floordiv 4 - (d0 floordiv 32) * 8)", "((d0 floordiv 4) mod 8)"),
    ("(d0, d1) -> (d0 * 3 + d1 + 5 - ((d0 * 3 + d1 + 5) floordiv 32) * 32)", "((d0 * 3 + d1 + 5) mod 32)"),
    ("(d0) -> ((d0 - (d0 floordiv 9) * 9) floordiv 2)", "((d0 mod 9) floordiv 2)"),
    # the coefficients do not match, or part of the dividend is missing
    ("(d0) -> (d0 - (d0 floordiv 4) * 3)", "((d0 floordiv 4) * -3 + d0)"),
    ("(d0) -> (d0 + (d0 floordiv 4) * 4)", "((d0 floordiv 4) * 4 + d0)"),
    ("(d0, d1) -> (d0 - ((d0 * 2 + d1) floordiv 4) * 4)", "(((d0 * 2 + d1) floordiv 4) * -4 + d0)"),
    ("(d0) -> (d0 + (d0 floordiv -8) * 8)", "((d0 floordiv -8) * 8 + d0)"),
])  # fmt: skip
def test_a_difference_is_shown_as_the_remainder_that_it_is(computed: str, shown: str) -> None:
    names = computed.partition(")")[0][1:].split(", ")
    m = parse_map(f"{computed}, domain: {', '.join(f'{name} in [-50, 99]' for name in names)}")
    after = map_with_remainders(m)
    assert format_map(after).partition(" -> ")[2].partition(", domain")[0] == shown
    assert equal_maps(m, after).proved


def test_simplify_says_when_the_result_needs_wider_integers(run: Run) -> None:
    text = "(d0, d1) -> ((d0 floordiv 1000 + d1) floordiv 1000), domain: d0 in [0, 2000000000], d1 in [0, 2000000000]"
    done = run("simplify", text)
    assert "1000000" in done.out
    assert done.err == ("note: needs int64 where the input fits int32; --keep-width writes it in other ways\n")
    assert json.loads(run("simplify", text, "--json").out)["wider"] == "needs int64 where the input fits int32"
    done = run("simplify", text, "--keep-width", "--validate")
    assert done.out.splitlines()[0] == text
    assert not done.err
    assert json.loads(run("simplify", text, "--keep-width", "--json").out)["wider"] == ""


def test_simplify_as_json(run: Run) -> None:
    plain = json.loads(run("simplify", WORK, "--json").out)
    assert set(plain) == set(FORMS["simplify"])
    assert plain["right"]["map"]["results"] == [["fdiv", "d0", 3], "d1"]
    assert plain["steps"][0] == {
        "rule": "small_remainder_vanishes",
        "before": "(4·d0 + d1) // 12",
        "after": "d0 // 3",
        "binding": {"d": "12", "g": "4", "r": "d1", "x": "d0"},
        "position": {"part": "result", "index": 0, "path": []},
    }
    proved = json.loads(run("simplify", WORK, "--json", "--validate").out)
    assert set(proved) == set(FORMS["simplify --validate"])
    assert proved["verdict"] == "PROVED"
    # the printed result is valid input
    again = run("simplify", "-", stdin=json.dumps(plain["right"]["map"]))
    assert again.out.strip() == plain["right"]["text"]


SCALED = (
    "(d0, d1)[s0, s1] -> (d1 + s1), domain: d0 in [0, 3], d1 in [0, 4], s0 in [0, 30], s1 in [0, 20], "
    "(s1 - 2) mod 4 in [0, 0]"
)


def test_changed_variables_as_json(run: Run) -> None:
    data = json.loads(run("simplify", SCALED, "--remove-unused", "--rescale-ranges", "--json").out)
    assert set(data) == set(FORMS[next(n for n in FORMS if n.startswith("simplify --remove-unused"))])
    assert data["values"] == {"d0": "0", "d1": "d0", "s0": "0", "s1": "s0 * 4 + 2"}
    assert data["removed"] == {"d0": [0, 3], "s0": [0, 30]}
    assert data["new_dims"] == []


# ---------------------------------------------------------------------------------------------------- properties
WRITES = "(d0)[s0] -> (d0 * 4 + s0), domain: d0 in [0, 31], s0 in [0, 4]"
ROWS = "(d0)[s0] -> (d0 * 24 + s0), domain: d0 in [0, 9], s0 in [0, 15]"
FORTH = "(d0) -> (d0 floordiv 8, d0 mod 8), domain: d0 in [0, 63]"
TILE = "(d0, d1){n, k} -> (d0 * k + d1), domain: d0 in [0, n - 1], d1 in [0, k - 1], n >= 1, k >= 1"
BACK = "(d0, d1) -> (d0 * 8 + d1), domain: d0 in [0, 7], d1 in [0, 7]"


@pytest.mark.parametrize(("words", "status", "said"), [
    (f"injective|{WRITES}|--over|d0", 1, "take     d0 = 0, s0 = 4, d0' = 1, s0' = 0"),
    (f"injective|{ROWS}", 0, "PROVED  injective   by"),
    (f"surjective|{FORTH}|--shape|8,9", 1, "take     t0 = 0, t1 = 8"),
    (f"bijective|{FORTH}|--shape|8,8|--confirm", 0, "confirmed by"),
    (f"in_bounds|{FORTH}|--shape|8,7", 1, "result 1 is 7, which is not in [0, 6]"),
    (f"disjoint|{ROWS}|{WRITES}", 1, "(0) is a target of both maps"),
    (f"inverse|{FORTH}|{BACK}", 0, "PROVED  inverse"),
    (f"contiguous|{ROWS}|--along|s0", 0, "PROVED  contiguous, 8 elements"),
    (f"contiguous|{ROWS}|--along|d0|--width|2", 1, "the vector has a gap"),
    (f"contiguous|{TILE}|--along|d1|--width|k", 0, "PROVED  contiguous, k elements   by z3"),
    (f"contiguous|{TILE}|--along|d1|--width|2*k", 1, "the vector has a gap"),
    (f"contiguous|{TILE}|--along|d1", 1, "take     n = 1, k = 1, d0 = 0, d1 = 0, d1' = 1"),
    (f"contiguous|{TILE}, 4 divides k|--along|d1", 0, "PROVED  contiguous, 4 elements   by z3"),
    (f"aligned|{TILE}|--along|d1|--by|k", 0, "PROVED  aligned"),
    (f"aligned|{TILE}|--along|d1|--by|2*k", 1, "1 is no multiple of 2"),
    (f"aligned|{ROWS}|--along|s0|--by|16", 1, "24 is no multiple of 16"),
    (f"monotone|{WRITES}|--strict", 1, "a later point has no later target"),
    (f"monotone|{ROWS}|--strict", 0, "PROVED  monotone"),
    (f"bijective|{TILE}|--shape|n*k|--confirm", 0, "for all sizes"),
    (f"covers|{TILE}|--shape|n*k+1", 1, "take     n = 1, k = 1, t0 = 1"),
    (f"covers|{TILE}|--shape|12|--at|n=4,k=3", 0, "PROVED  covers"),
    (f"covers|{TILE}|--shape|n*3|--at|k=3", 0, "for all sizes"),
])  # fmt: skip
def test_property(run: Run, words: str, status: int, said: str) -> None:
    done = run("property", *words.split("|"))
    assert done.status == status, done
    assert said in done.out
    found = json.loads(run("property", *words.split("|"), "--json").out)
    assert (found["format"], found["exit_status"]) == ("indexproof property 1", status)
    assert (found["counterexample"] is not None) == (status == 1)


def test_the_answer_says_which_equality_was_asked_for(run: Run) -> None:
    modes = [json.loads(run("equal", ROWS, ROWS, "--json", *m).out)["mode"] for m in ([], ["--pointwise"])]
    assert modes == ["relation", "pointwise"]


def test_the_condition_on_sizes_is_told(run: Run) -> None:
    rows = "(d0, d1){n, k, s} -> (d0 * s + d1), domain: d0 in [0, n - 1], d1 in [0, k - 1], n >= 1, k >= 1, s >= 0"
    assert "  holds    if n ≤ 1 or k ≤ s, and only then\n" in run("property", "injective", rows).out
    found = json.loads(run("property", "injective", rows, "--json").out)
    assert found["condition"] == {"condition": "n ≤ 1 or k ≤ s", "necessary": True}
    assert json.loads(run("property", "injective", TILE, "--json").out)["condition"] is None


def test_a_proof_for_all_sizes_has_certificates(run: Run, tmp_path: Path) -> None:
    done = run("property", "bijective", TILE, "--shape", "n*k", "--certificates", str(tmp_path))
    assert (done.status, done.err.strip()) == (0, f"5 certificates in {tmp_path}; 0 proofs have none")
    done = run("replay", str(tmp_path))
    assert done.status == 0
    assert "5 of 5 certificates hold" in done.out
    assert run("property", "injective", ROWS, "--certificates", str(tmp_path)).status == 3


def test_maps_with_parameters_as_json(run: Run) -> None:
    again = TILE.replace("d0 * k + d1", "((d0 * k + d1) floordiv k) * k + d1")
    assert json.loads(run("simplify", again, "--json").out)["right"]["text"] == TILE
    assert json.loads(run("simplify", again, "--json", "--validate").out)["verdict"] == "PROVED"
    done = run("equal", TILE, TILE.replace("k + d1", "k + d1 + 1"), "--json")
    found = json.loads(done.out)
    assert (done.status, found["counterexample"]["values"]["n"], found["left"]["text"]) == (1, 1, TILE)
    assert json.loads(run("convert", TILE, "--to", "json").out)["parameters"] == ["n", "k"]
