"""An engine without budget answers "open": no limit raises an error, and no two limits give opposite answers."""

from __future__ import annotations

import random
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest

from dev.fuzz.validate import questions
from indexproof import IndexingMap
from indexproof.core.expr import Expr, maximum, minimum, var
from indexproof.core.interval import Interval
from indexproof.core.text import parse_map
from indexproof.verify.concrete import decide_problem, equal_maps, isl, sat_sweeping, smt, witnesses
from indexproof.verify.concrete import pairs as tables
from indexproof.verify.concrete.families import same_relation
from indexproof.verify.concrete.problem import Fact, Option, Problem

BOX = "domain: d0 in [0, 7], d1 in [-3, 12], (d0 * 3 + d1) mod 4 in [1, 2]"
PAIRS = [
    ("((d0 * 5 + d1) mod 12) floordiv 3 + d1 ceildiv 4", "((d0 * 5 + d1) floordiv 3) mod 4 + (d1 + 3) floordiv 4"),
    ("max(d0 floordiv 2, d1 mod 3)", "max((d0 + 1) floordiv 2, d1 mod 3)"),
]  # fmt: skip


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
    """isl gets a limit above zero, because zero means no limit."""
    wide = Fact((var("d0") * 3**500 + var("d1")) // 3**499 - var("d0") * 3, Interval(0, 0))
    box = ((var("d0"), Interval(0, 2**40)), (var("d1"), Interval(0, 3**499)))
    question = Problem(box, (), (Option((wide,)),))
    assert isl.decide(question, 1).status == "open"
    assert isl.decide(question, 1_000_000).status == "fails"


def test_wide_integers_leave_z3_some_units(monkeypatch: pytest.MonkeyPatch) -> None:
    """z3 gets a limit above zero, because zero means no limit."""
    asked: list[int] = []
    made = smt.Encoder.solver

    def noted(encoder: smt.Encoder, conditions: Any, budget: int) -> Any:
        asked.append(budget)
        return made(encoder, conditions, budget)

    monkeypatch.setattr(smt.Encoder, "solver", noted)
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
    # the values are a counterexample
    for answer, values in answers:
        if answer:
            inside = [lo <= sum(c * values[m - 1] for m, c in f.items()) <= hi for f, (lo, hi) in (*rows, goal)]
            assert inside == [True] * len(rows) + [False]


def test_no_counterexample_is_made_smaller_with_too_many_values_of_unknowns() -> None:
    """A counterexample is not made smaller where the unknowns have too many values to try."""
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
    """Questions with wide coefficients terminate, although isl's limit on operations does not bound their time."""
    a = "((s1 + s0 * 7) mod 30) * 2498815237275869524"
    b = f"{a} + ((s0 mod 16 * 2970205933838000103) floordiv {2**62}) * -3446849961049422974"
    box = f"domain: d0 in [0, {2**62 - 1}], s0 in [0, {2**62 - 1}], s1 in [0, 3]"
    maps = [f"(d0)[s0, s1] -> ({e}), {box}" for e in (a, b)]
    # termination is tested, not speed: it did not return at all
    command = [sys.executable, "-m", "indexproof", "equal", *maps]
    said = subprocess.run(command, check=False, capture_output=True, text=True, timeout=120)
    assert (said.returncode, "REFUTED" in said.stdout) == (1, True), said


# --------- Counterexamples that are rare, and lie deep below divisions and extrema that lose most differences
D = [var(f"d{k}") for k in range(8)]


def problem(left: Expr, right: Expr, *box: tuple[int, int]) -> Problem:
    """Return the question whether both are equal in the box of d0, d1, ..."""
    variables = tuple((v, Interval(*i)) for v, i in zip(D, box, strict=False))
    return Problem(variables, (), (Option((Fact(left - right, Interval(0, 0)),)),))


def dividends_that_meet() -> Problem:
    """Return a question whose dividend is the same modulo N and N + 1 at all but one value in 10**17."""
    d0, d1, d2, d3, d4, d5, d6, d7 = D
    place = 1780838400000 * d0 + 27825600000 * d1 + 278256000 * d2 + 27825600 * d3 + 27200 * d4
    place = (place + 1700 * d5 + 17 * d6 + d7 + d3 // 4096) // 7 // 65536 // 1000 // 4 % 65536
    left = (place // 100 - 2 * (d6 // 12)) // 8 // 5
    number = 7294314086400000 * d0 + 113973657600000 * d1 + 1139736576000 * d2 + 113973657601 * d3
    number = (number + 111411200 * d4 + 6963200 * d5 + 69632 * d6 + 4096 * d7) % 492581209243648001
    right = (number - 1503238553600000 * (d6 // 12)) // 30064771072000000
    box = ((-3189, 65535), (-1, 2), (-162972, 999999), (-946, 999), (-59512, 65535), (-559, 999), (-27331, 65535))
    return problem(left, right, *box, (-1765, 4095))


def arguments_that_seldom_count() -> Problem:
    """Return a question in which an argument of a minimum differs nearly everywhere, but is rarely the smaller one."""
    d0, d1, d2, d3, d4, _, d6, d7 = D
    inner = 3 * (maximum((d0 + d4) // 3 + d4 // 1024, 3 * (d4 // 1024) + d0, d4 - 20) // 6) + d3
    count = 2 * (minimum(2 * d3 + 14, inner) // 4) + d2

    def around(q: Expr) -> Expr:
        e = 2 * (minimum(d4 + 29, maximum((2 * q + d0 + d4) // 3, 2 * q + d4, d0 - 25)) // 128) + d1
        return maximum((e + d3) // 3, e, d3 - 43)

    left, right = around(((count // 10 + d7) // 32 + d6) // 24), around((count + 320 * d6 + 10 * d7) // 7679)
    box = (0, 4095), (0, 7), (0, 2), (0, 999), (0, 999999), (0, 7), (0, 65535), (0, 2147483646)
    return problem(left, right, *box)


@pytest.mark.parametrize("made", [dividends_that_meet, arguments_that_seldom_count])
def test_rare_counterexamples_are_found_in_two_rounds(made: Callable[[], Problem]) -> None:
    asked = made()
    found = decide_problem(asked, rounds=2).outcome
    assert found.status == "fails"
    assert asked.violated_by(found.point)


def test_random_choices_are_the_same_every_time() -> None:
    asked = dividends_that_meet()
    assert sat_sweeping.decide(asked) == sat_sweeping.decide(asked)


# --------------------------------------------------------------- Families of maps compared as tables of pairs
def family(*texts: str) -> list[IndexingMap]:
    return [parse_map(t) for t in texts]


def pairs(maps: list[IndexingMap]) -> set[object]:
    return set().union(*(m.relation() for m in maps))


def random_map(random: random.Random) -> str:
    n = random.randint(1, 6)
    results = [
        f"d0 * {random.randint(-2, 2)} + s0 * {random.choice((0, 1, 2))} + {random.randint(-1, 1)}",
        random.choice(["d1", "d1", "d1", "d1 + 1", "d0"]),
    ]
    if random.random() < 0.3:
        results.reverse()
    least = random.randint(-2, 0)
    text = f"(d0, d1)[s0] -> ({', '.join(results)}), domain: d0 in [0, {n}], d1 in [0, 2], s0 in [{least}, 3]"
    options = [
        "d0 mod 2 in [1, 1]",
        "d0 + s0 in [1, 4]",
        "s0 floordiv 2 in [0, 0]",
        "d0 - d1 in [0, 9]",
        "s0 in [1, 5]",
    ]
    return ", ".join([text, *random.sample(options, random.choice((0, 1, 1, 2)))])


def same_pairs(
    left: list[IndexingMap], right: list[IndexingMap], most: int = tables.LARGE, back: bool = False
) -> bool | None:
    return tables.same_pairs([tables.Relation(m) for m in left], [tables.Relation(m, back) for m in right], most)


@pytest.mark.parametrize("seed", range(4))
def test_tables_say_what_enumeration_says(seed: int) -> None:
    source = random.Random(seed)
    said = []
    for _ in range(150):
        left = family(*(random_map(source) for _ in range(source.randint(1, 3))))
        right = family(*(random_map(source) for _ in range(source.randint(0, 1))))
        if source.random() < 0.7:
            right += [m for m in left if source.random() < 0.9]
        equal = pairs(left) == pairs(right)
        assert same_pairs(left, right) is equal, (left, right)
        turned = {(target, at) for at, target in pairs(right)} == pairs(left)
        assert same_pairs(left, right, back=True) is turned, (left, right)
        said.append(equal)
    assert 20 < sum(said) < 130


@pytest.mark.parametrize(("rows", "engine"), [(4, "enumeration"), (2**40, "normal form")])
def test_families_are_inverse_together(rows: int, engine: str) -> None:
    there = family(f"(d0) -> (d0 floordiv 4, d0 mod 4), domain: d0 in [0, {4 * rows - 1}]")
    halves = [f"d0 in [0, {rows // 2 - 1}]", f"d0 in [{rows // 2}, {rows - 1}]"]
    back = family(*(f"(d0, d1) -> (d0 * 4 + d1), domain: d1 in [0, 3], {half}" for half in halves))
    answer = same_relation(there, back, back=True)
    assert answer.proved
    assert engine in answer.engine
    refuted = same_relation(there, [back[0]] * 2, back=True).counterexample
    assert refuted is not None
    assert (refuted.values, refuted.left, refuted.right) == ({"d0": 2 * rows}, (rows // 2, 0), None)


def test_a_copied_dimension_is_no_part_of_the_table() -> None:
    far = "d1 in [0, 1000000000]"
    whole = family(f"(d0, d1) -> (d0, d1), domain: d0 in [0, 9], {far}")
    halves = family(*(f"(d0, d1) -> (d0, d1), domain: d0 in [{n}, {n + 4}], {far}" for n in (0, 5)))
    assert same_pairs(whole, halves)
    assert same_relation(whole, halves).engine == "enumeration"


def test_boxes_that_all_maps_are_products_with_are_no_part_of_the_table() -> None:
    """A join in the gradient of a decoder, where rotated halves meet: only three of five coordinates need a table."""

    def read(place: str, rest: str) -> str:
        return f"(d0, d1, d2)[s0, s1] -> (s0, {place}), domain: d0 in [0, 4095], d1 in [0, 7], s0 in [0, 4095], {rest}"

    low, high = "s1 in [0, 3]", "s1 in [4, 7]"
    whole = family(*(read("d1 * 8 + s1", f"d2 in [0, 7], {half}") for half in (low, high)))
    halves = [(read("d1 * 8 + s1 - 4", f"{d}, {high}"), read("d1 * 8 + s1", f"{d}, {high}")) for d in _HALVES]
    assert same_pairs(whole, family(*(m for pair in halves for m in pair)), most=1024)
    assert same_pairs(whole, family(*(m for pair in halves[:1] for m in pair)), most=1024) is False


_HALVES = ("d2 in [0, 3]", "d2 in [4, 7]")


@pytest.mark.parametrize("changed", [
    "d0 in [0, 6], s0 in [0, 4]",
    "d0 in [0, 7], s0 in [0, 3]",
    "d0 in [0, 7], s0 in [0, 4], d0 + s0 in [0, 10]",
])  # fmt: skip
def test_a_box_that_one_map_has_otherwise_is_part_of_the_table(changed: str) -> None:
    whole = family("(d0, d1)[s0] -> (s0), domain: d0 in [0, 7], d1 in [0, 9], s0 in [0, 4]")
    other = family("(d0, d1)[s0] -> (s0), domain: d0 in [0, 7], d1 in [5, 9], s0 in [0, 4]")
    halves = [f"(d0, d1)[s0] -> (s0), domain: d1 in [0, 4], {x}" for x in (changed, "d0 in [0, 7], s0 in [0, 4]")]
    assert [same_pairs(whole, [*family(half), *other]) for half in halves] == [False, True]


@pytest.mark.parametrize("changed", [
    "(d0, d1) -> (d0, d1), domain: d0 in [0, 4], d1 in [0, 6]",
    "(d0, d1) -> (d0, d1), domain: d0 in [0, 4], d1 in [0, 7], d1 + d0 in [0, 10]",
    "(d0, d1) -> (d1, d0), domain: d0 in [0, 4], d1 in [0, 7]",
    "(d0, d1) -> (d0, d1 + 1), domain: d0 in [0, 4], d1 in [0, 7]",
    "(d0, d1) -> (d0 + d1, d1), domain: d0 in [0, 4], d1 in [0, 7]",
])  # fmt: skip
def test_a_dimension_that_one_map_does_more_with_is_part_of_the_table(changed: str) -> None:
    whole = family("(d0, d1) -> (d0, d1), domain: d0 in [0, 9], d1 in [0, 7]")
    halves = family(changed, "(d0, d1) -> (d0, d1), domain: d0 in [5, 9], d1 in [0, 7]")
    assert same_pairs(whole, halves) is False
    assert same_relation(whole, halves).counterexample is not None


def test_what_is_too_large_or_read_at_run_time_is_left_to_others() -> None:
    large = family("(d0) -> (d0 * 2), domain: d0 in [0, 1000000000]")
    read = family("(d0){rt0} -> (d0 + rt0), domain: d0 in [0, 9], rt0 in [0, 4]")
    assert same_pairs(large, large) is same_pairs(read, read) is None


def test_empty_maps_have_no_pairs() -> None:
    one = family("(d0) -> (d0), domain: d0 in [0, 9]")
    nothing = family("(d0) -> (d0), domain: d0 in [0, -1]")
    assert same_pairs(one, [*one, *nothing])
    assert same_pairs(nothing, [])
    assert same_pairs(one, nothing) is False
