"""Guesses for the ranges of a map, for relations that differ only in the spelling of ranges and for others."""

from __future__ import annotations

import random

import pytest

from indexproof import IndexingMap, parse_map
from indexproof.core.expr import Expr, integer, minimum, var
from indexproof.core.indexing_map import Variable
from indexproof.core.interval import Interval
from indexproof.verify.concrete import Fact, Option, Problem, contains, covers, decide_problem, equal_maps, witnesses
from indexproof.verify.concrete import decide as portfolio
from indexproof.verify.concrete import enumerate as enumeration
from indexproof.verify.concrete.problem import Outcome
from indexproof.verify.verdict import Status

d, e, s, t, u, v = map(var, "destuv")
ZERO = Interval(0, 0)


def question(left: Expr, right: Expr, unknowns: dict[Expr, int], **sizes: int) -> Problem:
    box = tuple((var(name), Interval(0, n - 1)) for name, n in sizes.items())
    own = tuple((x, Interval(0, n - 1)) for x, n in unknowns.items())
    return Problem(box, (), (Option((Fact(left - right, ZERO),), own),))


@pytest.mark.parametrize(("left", "right", "unknowns"), [
    # a range split into digits, reversed, and two ranges joined into one
    ((d + s) // 7, (d + u * 8 + v) // 7, {u: 125, v: 8}),
    ((d + s) // 7, (d - u + 999) // 7, {u: 1000}),
    ((d + s * 50 + t) % 11, (d + u) % 11, {u: 50_000}),
    # two sums that determine both ranges
    ((d + s + t * 3) // 7 + (d - s - t * 2) // 5, (d + u + v * 3) // 7 + (d - u - v * 2) // 5, {u: 1000, v: 50}),
])  # fmt: skip
def test_ranges_are_found(left: Expr, right: Expr, unknowns: dict[Expr, int]) -> None:
    problem = question(left, right, unknowns, d=2**31, s=1000, t=50)
    assert witnesses.decide(problem).status == "holds"
    (option,) = problem.options
    assert 0 < len(witnesses.guesses(problem, option)) <= 24


def test_an_unknown_of_its_own_name_is_the_last_resort() -> None:
    problem = question(d * s, d * var("s'") + u * s, {var("s'"): 7, u: 3}, d=9, s=7)
    (option,) = problem.options
    assert witnesses.guesses(problem, option) == [(s, integer(0))]
    assert witnesses.decide(problem).status != "fails"


def test_a_point_where_no_values_do() -> None:
    # u * 8 + v does not reach the last value of s
    problem = question((d + s) // 7 + s * 3, (d + u * 8 + v) // 7 + u * 24 + v * 3, {u: 125, v: 8}, d=2**31, s=1001)
    found = witnesses.decide(problem)
    assert found.status == "fails"
    assert not found.minimal
    assert found.point[1] == 1000
    # evaluation confirms it
    assert problem.violated_by(found.point)


def test_what_is_not_tried() -> None:
    assert witnesses.decide(Problem(((d, Interval(0, 9)),), (), (Option((Fact(d, ZERO),)),))).note == "not tried"
    endless = Problem(((d, Interval(0, float("inf"))),), (), (Option((Fact(d - u, ZERO),), ((u, Interval(0, 9)),)),))
    assert witnesses.decide(endless).note == "not tried"
    assert "zero" in witnesses.decide(question(d, d + (d + 1) // u, {u: 3}, d=4)).note
    # guesses do not need linear sums
    assert witnesses.decide(question(d * s, d * u, {u: 9}, d=5, s=9)).status != "fails"


LEFT = (
    "(d0, d1)[s0, s1] -> (((d0 * 1024 + d1 * 6 + s0 * 64 - 2) floordiv 7) mod 268435456, "
    "min(d0 + 100, (d0 * 2 + s0 * 8 + s1) floordiv 128)), "
    "domain: d0 in [0, 999], d1 in [0, 1244389886], s0 in [0, 74], s1 in [0, 4095]"
)
RIGHT = (
    "(d0, d1)[s0, s1, s2] -> (((d0 * 1024 + d1 * 6 + s0 * 192 + s1 * 64 - 2) floordiv 7) mod 268435456, "
    "min(d0 + 100, (d0 * 2 + s0 * 24 + s1 * 8 - s2 + {}) floordiv 128)), "
    "domain: d0 in [0, 999], d1 in [0, 1244389886], s0 in [0, 24], s1 in [0, 2], s2 in [0, {}]"
)


def test_relations_of_maps() -> None:
    one, other = parse_map(LEFT), parse_map(RIGHT.format(4095, 4095))
    answer = equal_maps(one, other)
    assert answer.proved
    assert "witnesses" in answer.engine
    assert contains(other, one).proved
    # a range that is too short by one shows only at its last value
    answer = equal_maps(one, parse_map(RIGHT.format(4222, 4095)))
    assert answer.verdict is Status.REFUTED
    c = answer.counterexample
    assert not c.minimal or c.values


LONG = (
    "(d0, d1)[s0] -> ((((((d1 floordiv 80) * -2 + d0 + 3) * 8 - 11) mod 100 - d0 * 7 + s0) mod {} "
    "- s0 * 4 + d1 * 3) floordiv 6), domain: d0 in [0, 99], d1 in [0, 999], s0 in [0, 1048575]"
)


def test_relations_with_a_long_range() -> None:
    one, other = (parse_map(LONG.format(n)) for n in (5, 6))
    answer = equal_maps(one, other)
    assert (answer.verdict, answer.engine) == (Status.REFUTED, "witnesses")
    c = answer.counterexample
    assert c.reason.startswith("source (0, 0) reaches target (-1) in the right map only")
    assert reaches(other, 0, 0, (-1,))
    assert not reaches(one, 0, 0, (-1,))


def reaches(m: IndexingMap, d0: int, d1: int, target: tuple[int, ...]) -> bool:
    """Return whether a source reaches a target; the other summands are below 6, so few values of the range can."""
    near = round((d1 * 3 - target[0] * 6) / 4)
    values = range(max(near - 900, 0), min(near + 900, 1 << 20))
    return any(m.evaluate([d0, d1], [s0]) == target for s0 in values)


def test_targets_that_are_all_reached() -> None:
    m = parse_map("(d0)[s0, s1] -> (d0 * 4096 + s0 * 64 + s1), domain: d0 in [0, 9999], s0 in [0, 63], s1 in [0, 63]")
    assert covers(m, (40_960_000,)).proved
    assert covers(m, (40_960_001,)).verdict is Status.REFUTED


def relation(rng: random.Random) -> Problem:
    """Return the question whether one small relation with ranges lies in another."""
    sizes = [rng.randint(1, 6) for _ in range(5)]
    box = tuple((x, Interval(0, n - 1)) for x, n in zip((d, s, t), sizes[:3], strict=True))
    own = tuple((x, Interval(0, n - 1)) for x, n in zip((u, v), sizes[3:], strict=True))
    a, b, k, m = (rng.randint(1, 4) for _ in range(4))
    left = [(d * a + s * b + t) // k, minimum((s - t * b) % m, d + 1)]
    right = [(d * a + u * rng.choice((b, a)) + v) // k, minimum((u - v * b) % m, d + rng.choice((1, 1, 2)))]
    facts = [Fact(x - y, ZERO) for x, y in zip(left, right, strict=True)][: rng.randint(1, 2)]
    if rng.random() < 0.3:
        facts.append(Fact(u + v * 2 + d, Interval(0, rng.randint(0, 9))))
    where = (Fact(d + s, Interval(0, rng.randint(1, 8))),) if rng.random() < 0.4 else ()
    return Problem(box, where, (Option(tuple(facts), own),))


def test_small_relations_against_enumeration() -> None:
    rng = random.Random(5)
    said = {"holds": 0, "fails": 0, "open": 0}
    for _ in range(150):
        problem = relation(rng)
        truth, found = enumeration.decide(problem), witnesses.decide(problem)
        assert found.status in (truth.status, "open"), problem
        if found.status == "fails":
            assert problem.violated_by(found.point)
        said[found.status] += 1
    assert said["holds"] > 15
    assert said["fails"] > 40


# --------------------------------------------------------------------------------------------------- the portfolio
def test_a_refuted_equality_takes_one_round(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first round gives the smallest counterexample, so that no second round follows."""
    one = IndexingMap((Variable("d0", 0, 9),), (Variable("s0", 0, 2**20),), (), ((var("s0") + var("d0")) * 2,), ())
    other = one.with_(results=((var("s0") + var("d0")) * 2 + 1,))
    rounds: list[int] = []
    asked = portfolio.Portfolio._round

    def counted(search: portfolio.Portfolio, turn: int) -> None:
        rounds.append(turn)
        asked(search, turn)

    monkeypatch.setattr(portfolio.Portfolio, "_round", counted)
    assert equal_maps(one, other).counterexample.minimal
    # no counterexample of the other direction is smaller than zero
    assert rounds == [0]


@pytest.mark.parametrize("alone", [(), ("isl",), ("z3",), ("isl", "z3"), ("enumeration",)], ids=str)
def test_what_both_solvers_had_a_part_in_is_confirmed_by_each_of_them(
    alone: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("enumeration", "isl", "z3"):
        said = Outcome("holds") if name in alone else Outcome("open", note="out of budget")
        monkeypatch.setitem(portfolio.ENGINES, name, lambda p, factor, said=said: said)
    deep = d
    for k, c in enumerate((3, 7, 1000, 12, 5)):
        deep = (deep * (k + 2) - 5) // c
    problem = question(deep, deep - (d - d // 2 * 2) + d % 2 + u * 0, {}, d=2**31)
    problem = Problem(problem.variables, (), (Option(problem.options[0].facts),))
    monkeypatch.setattr(portfolio, "normal_form", _Silent)
    monkeypatch.setitem(portfolio.ENGINES, "witnesses", lambda p, factor: Outcome("holds"))
    both = {"": "", "isl": "", "z3": "", "isl and z3": "isl and z3", "enumeration": "enumeration"}
    one = {"": "", "isl": "isl", "z3": "", "isl and z3": "isl", "enumeration": "enumeration"}
    for engine, expected in (("SAT sweeping", one), ("witnesses", both)):
        decision = decide_problem(problem, engines=(engine,), confirm=True)
        assert decision.engine == engine
        assert decision.confirmed_by == expected[" and ".join(alone)]


class _Silent:
    NAME = "normal form"

    @staticmethod
    def decide(problem: Problem) -> Outcome:
        return Outcome("open", note="not asked")
