"""The narrowed box of a question contains every counterexample and is smaller."""

from __future__ import annotations

import itertools
import random

from indexproof.core.expr import Expr, lift, maximum, minimum, var
from indexproof.core.interval import Interval
from indexproof.verify.concrete import Fact, Option, Problem, decide_problem, sat_sweeping

D = [var(f"d{k}") for k in range(8)]


def problem(left: Expr, right: Expr, *sizes: int) -> Problem:
    variables = tuple((v, Interval(0, n - 1)) for v, n in zip(D, sizes, strict=False))
    return Problem(variables, (), (Option((Fact(left - right, Interval(0, 0)),)),))


def test_a_difference_below_extrema_bounds_what_they_compare() -> None:
    """A difference below minima and maxima bounds their arguments, so that the quotient by 24 has one value."""
    d0, d1, d2, _, d4, d5, d6, d7 = D

    def side(more: int) -> Expr:
        inner = 2 * ((2 * (minimum(2 * d5 + 50, d0) // 5) + d1) // 64) + d2 + more
        place = ((3 * (inner // 128) + d6) // 24 + d2) // 7 + d0
        most = maximum((place + d4) // 3, place, d4 - 17)
        most = maximum(most, d1 - 37, (most + d1) // 3)
        least = minimum(minimum(d0 + 79, most) % 16 + d5 // 64, d7 + 16)
        return maximum(least, d5 - 3, (least + d5) // 3)

    asked = problem(side(0), side(1), 2**31, 1000, 10**6, 3, 77, 2**31 - 1, 3, 3)
    assert sat_sweeping.decide(asked).status == "holds"


def expression(rng: random.Random, change: int) -> Expr:
    """Return a random expression with ``change`` added to one dividend; the rest depends on ``rng`` only."""
    e = lift(0)
    where = rng.randrange(4)
    for k in range(4):
        e = e * rng.choice((1, 2, 3, -1)) + rng.choice(D[:3]) * rng.choice((1, -2, 5))
        if k == where:
            e = e + change
        kind, c = rng.randrange(4), rng.choice((2, 3, 5, 8))
        other = rng.choice(D[:3]) - rng.randrange(5)
        e = (e // c, e % c, minimum(e, other), maximum(e // c, other))[kind]
    return e


def test_every_counterexample_is_in_the_narrowed_box() -> None:
    narrower = found = 0
    for seed in range(150):
        left, right = (expression(random.Random(seed), change) for change in (0, 1))
        simple = problem(left, right, 9, 5, 4).simplified()
        assert simple is not None
        asked, _ = simple
        columns = sat_sweeping._columns(asked)
        atoms = sat_sweeping._Atoms(asked.variables, columns, sat_sweeping.BUDGET, {})
        rows = sat_sweeping._open_rows(asked, atoms)
        points = itertools.product(*(range(int(i.lo), int(i.hi) + 1) for _, i in asked.variables))
        wrong = [p for p in points if asked.violated_by(p)]
        if not all(rows):
            assert not wrong, seed
            continue
        box = sat_sweeping._narrowed(asked, atoms, rows, columns)
        if box is None:
            assert not wrong, seed
            continue
        assert all(x in i for p in wrong for x, (_, i) in zip(p, box, strict=True)), seed
        narrower += box != asked.variables
        found += bool(wrong)
    assert narrower > 20
    assert found > 30


def test_ten_million_points_are_tried_in_the_second_round() -> None:
    d0, d1, d2, d3 = D[:4]

    def side(more: int) -> Expr:
        place = (247726080 * d0 + 3780 * d1 + 63 * d2 + d3) // 16 - 2 * ((d3 + more) // 16)
        low = (5 * (place // 1023 // 128) + 2 * d3 + 1) // 4
        return (35 * low + 2 * d1 + 7 * d2 - 12) % 262144 // 16128

    decision = decide_problem(problem(side(0), side(1), 77, 3, 8, 4096))
    assert decision.outcome.status == "holds"
    assert decision.tried[-1].startswith("enumeration, round 2")
