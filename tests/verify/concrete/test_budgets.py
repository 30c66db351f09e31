"""Wherever an engine's budget ends, it says so: no limit is an error, and no two limits give opposite answers."""

from __future__ import annotations

import subprocess
import sys

import pytest

from dev.fuzz.validate import questions
from indexproof.core.expr import var
from indexproof.core.interval import Interval
from indexproof.core.text import parse_map
from indexproof.verify.concrete import equal_maps, isl, smt, witnesses
from indexproof.verify.concrete.problem import Fact, Option, Outcome, Problem

BOX = "domain: d0 in [0, 7], d1 in [-3, 12], (d0 * 3 + d1) mod 4 in [1, 2]"
PAIRS = [
    (
        "((d0 * 5 + d1) mod 12) floordiv 3 + d1 ceildiv 4",
        "((d0 * 5 + d1) floordiv 3) mod 4 + (d1 + 3) floordiv 4",
    ),
    ("max(d0 floordiv 2, d1 mod 3)", "max((d0 + 1) floordiv 2, d1 mod 3)"),
]


def _question(left: str, right: str) -> Problem:
    one, two = (parse_map(f"(d0, d1) -> ({e}), {BOX}") for e in (left, right))
    found = questions(one, two)
    assert len(found) == 1
    return found[0]


@pytest.mark.parametrize(("left", "right"), PAIRS)
def test_isl_ends_at_any_budget(left: str, right: str) -> None:
    question = _question(left, right)
    decided = isl.decide(question).status
    assert decided != "open"
    said = {isl.decide(question, budget).status for budget in [*range(1, 400), *range(400, 6000, 37)]}
    assert said <= {"open", decided}
    assert "open" in said


def test_wide_integers_leave_isl_some_operations() -> None:
    """isl takes a limit of none for no limit."""
    wide = Fact((var("d0") * 3**500 + var("d1")) // 3**499 - var("d0") * 3, Interval(0, 0))
    box = ((var("d0"), Interval(0, 2**40)), (var("d1"), Interval(0, 3**499)))
    question = Problem(box, (), (Option((wide,)),))
    assert isl.decide(question, 1).status == "open"
    assert isl.decide(question, 1_000_000).status == "fails"


def test_wide_integers_leave_z3_some_units(monkeypatch: pytest.MonkeyPatch) -> None:
    """z3 too takes a limit of none for no limit."""
    asked: list[int] = []

    def noted(_problem: Problem, budget: int, **_options: bool) -> Outcome:
        asked.append(budget)
        return Outcome("open")

    monkeypatch.setattr(smt, "decide", noted)
    monkeypatch.setattr(Problem, "words", 10**6)
    u, v, sizes = var("u"), var("v"), Interval(0, 10**4)
    pairs = Option((Fact(u * 6 - v * 10 - var("d0"), Interval(0, 0)),), ((u, sizes), (v, sizes)))
    witnesses.decide(Problem(((var("d0"), Interval(0, 10**5)),), (), (pairs,)))
    assert asked
    assert min(asked) > 0


def test_local_questions_end_at_any_budget() -> None:
    atoms = [Interval(0, 2**40)] * 9
    rows = [({k: 977, k + 1: -1013 - k}, Interval(0, k)) for k in range(1, 9)]
    goal = ({1: 1, 9: -1}, Interval(-7, 2**41))
    answers = [smt.counterexample(atoms, rows, [], goal, budget) for budget in (1, 50, 500, 5_000, 500_000)]
    said = [answer for answer, _ in answers]
    assert said[0] is None
    assert said[-1] is not None
    assert {*said} == {None, said[-1]}
    # the values are those of a counterexample
    for answer, values in answers:
        if answer:
            inside = [
                lo <= sum(c * values[m - 1] for m, c in f.items()) <= hi for f, (lo, hi) in (*rows, goal)
            ]
            assert inside == [True] * len(rows) + [False]


def test_no_counterexample_is_made_smaller_with_too_many_values_of_unknowns() -> None:
    """Each smaller point would be tried with all of them."""
    x, u = var("x"), var("u")
    option = Option((Fact(x - u * 2, Interval(0, 0)),), ((u, Interval(0, 2**40)),))
    found = isl.decide(Problem(((x, Interval(0, 2**70)),), (), (option,)))
    assert (found.status, found.minimal) == ("fails", False)
    assert found.point[0] % 2 or found.point[0] > 2**41


def test_isl_may_be_unable_to_print_a_coordinate() -> None:
    head = "(d0, d1, d2)[s0] -> "
    box = "domain: d0 in [0, 7], d1 in [0, 667741], d2 in [0, 100], s0 in [0, 1048576]"
    place = "d0 * 23058430092136939520 - d1 + d2"
    other = "d0 * -70368744177664 + d1 * 26934068547318692439 + d2 * 70368744177665"
    one = (
        f"(({place} + s0 * 10172652191444467207 + 1099511627776) floordiv 16422285358497607758, "
        f"({other} - s0) floordiv 2530783171122345963)"
    )
    two = (
        f"(({place} - s0 * 10172652191444467207 + 10666798944297173157675008) floordiv 16422285358497607758, "
        f"s0 * -1099511627776 + ({other} + s0 - 1048576) floordiv 2530783171122345963 + 1152921504606846976)"
    )
    assert equal_maps(*(parse_map(f"{head}{e}, {box}") for e in (one, two))).verdict == "REFUTED"


def test_wide_residues_come_to_an_end() -> None:
    """The limit of isl's operations does not bound the time that wide coefficients take."""
    a = "((s1 + s0 * 7) mod 30) * 2498815237275869524"
    b = f"{a} + ((s0 mod 16 * 2970205933838000103) floordiv {2**62}) * -3446849961049422974"
    box = f"domain: d0 in [0, {2**62 - 1}], s0 in [0, {2**62 - 1}], s1 in [0, 3]"
    maps = [f"(d0)[s0, s1] -> ({e}), {box}" for e in (a, b)]
    # not how fast it is: it did not come back at all
    command = [sys.executable, "-m", "indexproof", "equal", *maps]
    said = subprocess.run(command, check=False, capture_output=True, text=True, timeout=120)
    assert (said.returncode, "REFUTED" in said.stdout) == (1, True), said
