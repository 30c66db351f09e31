"""Strategies of the portfolio, each alone: what they make of a goal is what the goal says."""

from __future__ import annotations

import itertools

import pytest
import z3

from indexproof.core.condition import Condition, divides
from indexproof.core.expr import var
from indexproof.verify import solve
from indexproof.verify.budget import MAX_RLIMIT
from indexproof.verify.catalogue import catalogue
from indexproof.verify.encode import Encoder
from indexproof.verify.obligations import Obligation
from indexproof.verify.refute import limit_point
from indexproof.verify.run import examine
from indexproof.verify.solve import Budget, decide, unquotiented
from indexproof.verify.trust.disagreement import Disagreement
from indexproof.verify.trust.solvers import available
from indexproof.verify.verdict import Status

x, y, d, e = var("x"), var("y"), var("d"), var("e")
GOALS = (
    x // d <= y,
    x // d < y,
    y <= x // d,
    y < x // d,
    x // d // e <= y,
    y <= x // d // e,
    (x + y) // d // e < x + 1,
    x // d <= y // e,
    x // 3 <= y,
)
NATURAL = (0 <= d, 0 <= e)


@pytest.mark.parametrize("goal", GOALS, ids=str)
def test_a_bound_of_a_quotient_is_one_of_its_dividend(goal: Condition) -> None:
    bound = unquotiented(NATURAL, goal)
    assert bound is not None
    variables = sorted({v for c in (goal, bound) for v in c.variables()}, key=str)
    differs = 0
    for point in itertools.product(range(-5, 6), repeat=len(variables)):
        at = {v.name: n for v, n in zip(variables, point, strict=True)}
        if at.get("d", 1) < 1 or at.get("e", 1) < 1:
            continue
        assert goal.evaluate(at) == bound.evaluate(at), at
        differs += not goal.evaluate(at)
    assert differs


@pytest.mark.parametrize("goal", [(x // d).eq(y), x <= y, x // d + 1 <= y, x % d <= y], ids=str)
def test_other_goals_are_left_alone(goal: Condition) -> None:
    assert unquotiented(NATURAL, goal) is None


def test_divisors_of_unknown_sign_are_left_alone() -> None:
    for hypotheses in ((), (d <= 0,), (d >= -1,), (0 <= e,)):
        assert unquotiented(hypotheses, x // d <= y) is None
    assert unquotiented((d.within(0, 7),), x // d <= y) is None
    assert unquotiented((d.within(1, 7),), x // d <= y) is not None


CHAIN = Obligation(
    "test",
    "the last digit",
    "sound",
    (*(0 <= v for v in (d, e, y, var("f"))), x.within(0, var("n") - 1), var("n") <= d * e * var("f") * y),
    x // d // e // var("f") <= y - 1,
)


def test_a_number_bounds_its_digits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(solve, "_QUICK", ("quotient bound",))
    monkeypatch.setattr(solve, "_PORTFOLIO", ())
    v = decide(CHAIN)
    assert (v.status, v.strategy) == (Status.PROVED, "quotient bound")


def test_a_wrong_bound_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    false = Obligation("test", "one short", "sound", (0 <= d, x <= d * y + d), x // d <= y)
    assert decide(false).strategy == "small points"
    monkeypatch.setattr(solve, "_QUICK", ("quotient bound",))
    # whatever is known anyway
    monkeypatch.setattr(solve, "unquotiented", lambda hypotheses, goal: hypotheses[0])
    solve._attempt.cache_clear()
    try:
        with pytest.raises(Disagreement):
            decide(false)
    finally:
        solve._attempt.cache_clear()


@pytest.mark.skipif(not available(), reason="cvc5 is not installed")
def test_what_once_was_open_is_confirmed() -> None:
    """One step of a rule, and where elements are in a grid, were left to z3's nonlinear engine."""
    todo = catalogue(["remainders_merge"])
    todo += [o for o in catalogue(["grid-order"], max_rank=1) if "every axis: output to input in" in o.name]
    assert len(todo) > 20
    for o in todo:
        if o.gate:
            v = examine(o, Budget(), confirm=True)
            assert v.proved, o.name
            assert v.strategy == "identity" or (v.opinion and v.opinion.confirms), o.name


# ---------------------------------------------------------------------------------------------- machine integers
OVERFLOWS = [
    o
    for o in catalogue(
        [
            "multiple_leaves_quotient",
            "remainder_certified",
            "quotient_and_remainder_recombine",
            "quotient_and_congruent_remainder_recombine",
        ]
    )
    if o.width
]
SAFE = [o for o in catalogue(["quotient_subtracts_to_remainder", "min_and_max_sum"]) if o.width]


@pytest.mark.parametrize("o", OVERFLOWS, ids=lambda o: o.name)
def test_an_overflow_at_a_limit_is_found(o: Obligation) -> None:
    """None of them has an example near zero; no solver is asked."""
    found = decide(o)
    assert (found.status, found.strategy, found.resources) == (Status.REFUTED, "machine limits", 0)
    assert found.witness is not None
    at = dict(found.witness)
    assert all(h.evaluate(at) for h in o.hypotheses)
    assert not o.goal.evaluate(at)


@pytest.mark.parametrize("o", SAFE, ids=lambda o: o.name)
def test_no_overflow_is_found_where_there_is_none(o: Obligation) -> None:
    assert limit_point(o.hypotheses, o.goal, o.width) is None
    assert decide(o).proved


def test_limits_are_equations() -> None:
    hypotheses = (divides(d, x - y), x.within(10**9, 10**9 + 5), d.within(2, 9))
    found = limit_point(hypotheses, (x // d < 10**9 // 5) & (y < 5 * 10**8), 32)
    assert found is not None
    assert all(h.evaluate(found) for h in hypotheses)
    assert limit_point(hypotheses, x >= 10**9, 32) is None


def test_a_large_budget_is_not_a_small_one() -> None:
    """z3 takes its limit modulo 2³²."""
    assert Budget().scaled(10).proof == 200_000_000
    for factor in (2**32 / Budget().proof, 1000, 1e300, float("inf")):
        assert Budget().scaled(factor).proof == MAX_RLIMIT

    def answer(budget: int) -> str:
        encoder = Encoder(z3.Context())
        a, b, c = (z3.Int(n, encoder.context) for n in "abc")
        return str(encoder.solver([a * b + c == 7, a > 2, b > 2, a * a < 20], budget).check())

    assert [answer(n) for n in (50, 2**31, 2**32 + 50)] == ["unknown", "sat", "sat"]
