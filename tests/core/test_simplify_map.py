"""Whole maps: the relation is kept, every step is an instance of its rule, and simplification is idempotent."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import pytest

from dev.plain import Driver, instance
from indexproof.core.cost import map_cost
from indexproof.core.explain import explained
from indexproof.core.expr import Expr, maximum, minimum, var
from indexproof.core.facts import Facts
from indexproof.core.indexing_map import IndexingMap, Variable
from indexproof.core.interval import Interval
from indexproof.core.rewrite import measure
from indexproof.core.simplify import Simplifier
from indexproof.core.simplify_map import simplify_map
from indexproof.core.steps import Step, Trace
from indexproof.core.text import format_map, parse_map
from indexproof.rules.catalog import RULES
from indexproof.rules.simplifier import simplify
from indexproof.verify.concrete import equal_maps
from indexproof.verify.derivation import check_derivation


def test_the_relation_stays_what_it_is(maps: Any) -> None:
    for _ in range(700):
        m = maps.map(size=4, depth=3, runtime=False)
        after = simplify_map(m, RULES)
        assert after.relation() == m.relation(), (m, after)
        # a result is marked as simplified, but its text is not
        again = parse_map(format_map(after))
        assert simplify_map(again, RULES) == again, m


def test_every_step_is_an_instance_of_its_rule_and_smaller(maps: Any) -> None:
    used: set[str] = set()
    for _ in range(400):
        m = maps.map(depth=3)
        facts = Facts(m.bounds)
        trace: Trace = []
        run = Simplifier(RULES, facts, trace)
        for e in m.results:
            run.normal(e)
        for step in [s for s in trace if isinstance(s, Step)]:
            assert instance(step.rule, step.before, step.bindings(), facts) is step.after, step
            assert measure(step.after).values() < measure(step.before).values(), step
            used.add(step.rule.name)
    assert len(used) > 15, sorted(used)


def test_constraints_of_runtime_variables_are_kept() -> None:
    m = parse_map("(d0){rt0} -> (d0 + rt0), domain: d0 in [0, 9], rt0 in [0, 20], rt0 in [3, 5]")
    after = simplify_map(m, RULES)
    assert after.relation() == m.relation()
    assert after.rts[0].hi == 20


def test_a_result_that_came_from_the_given_form_is_a_fixpoint_too() -> None:
    """The normal forms of both are the same, but a search from the result finds a cheaper one."""
    d0, d1, d2, d3 = map(var, ("d0", "d1", "d2", "d3"))
    x = 16 - (2 * d0 + 34 * d1 + 68 * d3 + d2) // 8
    y = 8 * (x % 2) + 16 * (x // 2 % 6) + 96 * (x // 12) + 3
    boxes = (Variable("d0", 0, 16), Variable("d1", 0, 1), Variable("d2", 0, 1), Variable("d3", 0, 1))
    m = IndexingMap(boxes, (), (), (y // 12, y // 6 % 2, y % 6), ())
    again = parse_map(format_map(simplify_map(m, RULES)))
    assert simplify_map(again, RULES) == again


@pytest.mark.parametrize(("given", "expected"), [
    # a known residue modulo 6 gives the residue modulo every divisor of 6
    ("(d0) -> ((d0 * 3 + 2) mod 6), domain: d0 in [0, 7], d0 mod 6 in [1, 1]", ["5"]),
    ("(d0) -> ((d0 + 4) mod 3, d0 mod 4), domain: d0 in [0, 99], d0 mod 6 in [4, 4]", ["2", "d0 mod 4"]),
    # part of a digit, and a digit below those above it
    ("(d0) -> ((d0 floordiv 8 mod 27) floordiv 2), domain: d0 in [0, 999]", ["d0 mod 216 floordiv 16"]),
    ("(d0) -> ((d0 floordiv 4 mod 3 - d0 floordiv 12 * 3 + 13) floordiv 8), domain: d0 in [0, 767]",
        ["(d0 + 52 - d0 floordiv 12 * 24) floordiv 32"]),
    # of several quotients that could reduce x, the one with the smallest divisor
    ("(d0) -> (d0 - d0 floordiv 30 * 30 - d0 floordiv 15 * 15 + d0 floordiv 5), domain: d0 in [5, 240]",
        ["d0 mod 15 - d0 floordiv 30 * 30 + d0 floordiv 5"]),
    # a remainder inside a dividend, whose quotient occurs elsewhere
    ("(d0) -> ((d0 floordiv 9 * 25 + d0 mod 9) floordiv 10, d0 floordiv 9), domain: d0 in [0, 199]",
        ["(d0 + d0 floordiv 9 * 16) floordiv 10", "d0 floordiv 9"]),
    # the remainder inside becomes a difference
    ("(d0) -> ((d0 mod 384) floordiv 256 * 254 - d0 floordiv 128 * 255 + d0 floordiv 384 * 2045 + d0 * 2),"
        " domain: d0 in [0, 6126]",
        ["(d0 - d0 floordiv 384 * 384) floordiv 256 * 254 - d0 floordiv 128 * 255 + d0 floordiv 384 * 2045"
        " + d0 * 2"]),
    # the remainder inside becomes a difference, and the dividend then has another normal form
    ("(d0) -> ((d0 floordiv 12 * 60 + d0 mod 12) floordiv 16, (d0 floordiv 12 * 60 + d0 mod 12) mod 16),"
        " domain: d0 in [0, 959]", ["d0 floordiv 12 * 3 + d0 floordiv 16", "d0 - d0 floordiv 16 * 16"]),
    # the quotient of a dividend congruent to that of the remainder
    ("(d0) -> (((d0 * 7 + 5) mod 10 * 12800 + d0 * 7 + 5) floordiv 1000 * 100"
        " + (d0 * 8960 + (d0 * 7 + 5) floordiv 10 + 6400) mod 100, (d0 * 7 + 5) mod 10), domain: d0 in [0, 999]",
        ["(d0 * 7 + 5) mod 10 * 1280 + (d0 * 7 + 5) floordiv 10", "(d0 * 7 + 5) mod 10"]),
    # floor and ceiling of opposite numbers
    ("(d0) -> (d0 ceildiv 4 + (-d0) floordiv 4), domain: d0 in [0, 99]", ["0"]),
    ("(d0, d1) -> ((d0 - d1) floordiv 4, (d1 - d0 + 7) floordiv 4 + d1), domain: d0 in [0, 9], d1 in [0, 9]",
        ["(d0 - d1) floordiv 4", "d1 + 1 - (d0 - d1) floordiv 4"]),
    ("(d0, d1) -> ((d0 - d1) mod 4 + (d1 - d0 + 3) mod 4, (d0 - d1 + 8) mod 4),"
        " domain: d0 in [0, 9], d1 in [0, 9]", ["3", "(d0 - d1) mod 4"]),
    # remainders that add up, modulo multiples of the divisor
    ("(d0) -> (d0 mod 2, (d0 + 1) mod 2), domain: d0 in [0, 9]", ["d0 mod 2", "1 - d0 mod 2"]),
    ("(d0, d1) -> ((d0 * 3 + d1) mod 4, (d0 + d1 * 3 + 7) mod 4 + d1), domain: d0 in [0, 9], d1 in [0, 9]",
        ["(d0 * 3 + d1) mod 4", "d1 + 3 - (d0 * 3 + d1) mod 4"]),
    # remainders inside dividends as differences, where their quotients occur elsewhere
    ("(d0) -> (d0 floordiv 5, (-(d0 mod 5)) floordiv 2), domain: d0 in [0, 39]", ["d0 floordiv 5",
        "(d0 floordiv 5 * 5 - d0) floordiv 2"]),
    ("(d0, d1) -> (d0 floordiv 3, (d0 mod 3 + d1 * 4) floordiv 5), domain: d0 in [0, 29], d1 in [0, 8]",
        ["d0 floordiv 3", "(d0 - d0 floordiv 3 * 3 + d1 * 4) floordiv 5"]),
    # an argument of an extremum that always dominates another argument, or one nested in it
    ("(d0, d1, d2) -> (max(d0 + d1 * 6 + d2 * 4, min(d0 + d1, 9))),"
        " domain: d0 in [0, 3], d1 in [0, 9], d2 in [0, 9]", ["d0 + d1 * 6 + d2 * 4"]),
    ("(d0, d1) -> (min(d0 + 20, max(d0 + d1, d0 - d1 + 3) + 1)), domain: d0 in [0, 9], d1 in [0, 9]",
        ["max(d0 + d1, d0 - d1 + 3) + 1"]),
])  # fmt: skip
def test_results(given: str, expected: list[str]) -> None:
    m = parse_map(given)
    after = simplify_map(m, RULES)
    assert after.relation() == m.relation()
    head, box = given[: given.index("->")], given[given.index("domain") :]
    assert after.results == tuple(parse_map(f"{head}-> ({e}), {box}").results[0] for e in expected)
    again = parse_map(format_map(after))
    assert simplify_map(again, RULES) == again


@pytest.mark.parametrize(("given", "weight"), [
    # two quotients with equal divisors in a dividend: the one with more summands is absorbed, in either order
    ("(d0, d1) -> (((d0 + d1) floordiv 2 + (-d0) floordiv 2) mod 2), domain: d0 in [0, 3], d1 in [1, 3]", 3),
    ("(d0, d1) -> (((-d0) floordiv 2 + (d0 + d1) floordiv 2) mod 2), domain: d0 in [0, 3], d1 in [1, 3]", 3),
    ("(d0, d1, d2) -> (((d0 * 8 - d1 * 3 + d2 - 3) ceildiv -6 + ((d1 * -2 - d2 * 2) floordiv 2) ceildiv 2) mod 2),"
        " domain: d0 in [0, 1], d1 in [0, 3], d2 in [1, 3], d0 in [1, 1]", 3),
    # one result costs more in normal form; the other, once its factors are 1, has a better place for its constant
    ("(d0, d1) -> ((((d0 + 1) floordiv 2) * 3 + (d0 * 2 + 1) floordiv -4) mod -4, d1 mod -4),"
        " domain: d0 in [0, 3], d1 in [0, 2]", 12),
    # a part of both results is cheaper in normal form than the whole
    ("()[s0, s1] -> ((s1 * 54 + s0 - 1) mod 18, ((s1 * 54 + s0 - 1) mod 18) floordiv 2),"
        " domain: s0 in [0, 3], s1 in [0, 1]", 3),
])  # fmt: skip
def test_nothing_changes_twice_where_something_is_taken_over(given: str, weight: int) -> None:
    m = parse_map(given)
    trace: Trace = []
    after = simplify_map(m, RULES, division_weight=weight)
    assert after.relation() == m.relation()
    again = parse_map(format_map(after))
    assert simplify_map(again, RULES, division_weight=weight) == again
    assert simplify_map(m, RULES, trace, division_weight=weight) == after
    check_derivation(explained(m, after, trace), RULES)


def test_a_dividend_that_an_extremum_needs_as_well_keeps_its_factors() -> None:
    m = parse_map("(d0) -> ((d0 * 3) mod 4, min(d0 * 3, 0)), domain: d0 in [-1, 1]")
    assert simplify_map(m, RULES) == m


@pytest.mark.parametrize("depth", [190, 260, 1500])
@pytest.mark.parametrize("keep_width", [False, True])
def test_maps_of_any_depth(depth: int, keep_width: bool) -> None:
    """A map nested too deeply for the search is returned in normal form, which is stable."""
    e: Expr = var("d0")
    for k in range(depth):
        e = (e * 3 + var("d1") * (k % 5 + 1)) % (7 + k % 13)
    m = IndexingMap.of([("d0", 0, 999), ("d1", 0, 63)], [], [], [e, e // 3], [])
    after = simplify_map(m, RULES, keep_width=keep_width)
    assert map_cost(after).weight <= map_cost(m).weight
    assert simplify_map(after.with_(), RULES, keep_width=keep_width) == after


# ------------- Maps on which passes took turns, or stopped one too early: each has an end, and it is the same
HARD = [
    (int(line.split(" ", 1)[0]), line.split(" ", 1)[1])
    for line in (Path(__file__).parent / "data" / "hard_chains.txt").read_text("utf-8").splitlines()
    if not line.startswith("#")
]


@pytest.mark.parametrize("n", range(len(HARD)))
def test_it_comes_to_an_end_that_stays(n: int) -> None:
    weight, text = HARD[n]
    m = parse_map(text)
    after = simplify(m, minimize=weight)
    assert simplify(after.with_(), minimize=weight) == after
    assert map_cost(after).weighed(weight) <= map_cost(m).weighed(weight)
    derivation = simplify(m, minimize=weight, explain=True)
    assert derivation.after == after
    assert check_derivation(derivation, RULES).steps
    assert equal_maps(m, after).proved


def test_all_of_them_are_there() -> None:
    assert len(HARD) == 14


# ------------------------- The plain driver goes down in the order with every step, also among many arguments
a, b, c, d = (var(name) for name in "abcd")
BOXES = {v: Interval(0, 9) for v in (a, b, c, d)}


def steps(e: Expr) -> list[Expr]:
    """Rewrite ``e`` itself with the driver, step by step."""
    driver = Driver(RULES.rules, Facts(BOXES))
    made = [e]
    while (after := driver._step(made[-1])) is not None:
        made.append(after)
        assert len(made) < 50
    return made


@pytest.mark.parametrize("join", [minimum, maximum])
def test_every_step_on_an_extremum_descends(join) -> None:
    taken = 0
    for constants in itertools.product((-3, 0, 2), repeat=4):
        for n in (2, 3, 4):
            args = [v + k for v, k in zip((a, b, c, d), constants, strict=True)]
            for e in (join(*args[:n]), join(*args[:n], 4), join(*args[:n]) // 3):
                made = steps(e)
                taken += len(made) - 1
                for before, after in itertools.pairwise(made):
                    assert measure(after).values() < measure(before).values(), (before, after)
    assert taken > 200


@pytest.mark.parametrize(("before", "after"), [
    (minimum(a + 2, b + 2, c + 2), minimum(a, b, c) + 2),
    (minimum(a + 2, b + 2, 5), minimum(a, b, 3) + 2),
    # a constant common to two of three arguments gains nothing
    (minimum(a + 2, b + 2, c), minimum(a + 2, b + 2, c)),
    (maximum(a - 1, b - 1, c + 4), maximum(a, b, c + 5) - 1),
])  # fmt: skip
def test_constants_come_out_of_all_arguments(before: Expr, after: Expr) -> None:
    assert Driver(RULES.rules, Facts(BOXES))(before) is after


# ---------------------------------------------------------------- Extraction on maps that once came out wrong
#: a literal below earlier expressions is not zero
LITERAL = (
    "(d0, d1) -> ((min(d1 - d0, max(d0 * -2 + d1 * 3 - 2, min(d1 - 4, 3), -2)) + max(d0 * -2 + d1 * 3 - 2,"
    " min(d1 - 4, 3), -2)) mod 6, (d0 * -2 - d1 + min(max(d1 * 3 + d0 - 3, 0), 5) + 3) mod -3),"
    " domain: d0 in [0, 3], d1 in [0, 4]"
)


@pytest.mark.parametrize("text", [LITERAL])
def test_the_relation_stays_and_a_trace_changes_nothing(text: str) -> None:
    m = parse_map(text)
    trace: Trace = []
    after = simplify_map(m, RULES, trace)
    assert after.relation() == m.relation()
    assert simplify_map(parse_map(text), RULES) == after
