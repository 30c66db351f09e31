"""Points inside the bounds of hypotheses: the bounds of variables, and counterexamples found with them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from indexproof.core.condition import FALSE, all_of
from indexproof.core.expr import Expr, var
from indexproof.core.op import box, product, row_major, symbols
from indexproof.verify.bounded import assignment_order, bounds_of, inside
from indexproof.verify.obligation import Obligation
from indexproof.verify.refute import bounded_point, confirmed, failing_points, small_point, variables_of
from indexproof.verify.solve import decide
from indexproof.verify.verdict import Status

i, j, k, n, s, t = map(var, "ijknst")


def test_an_inequality_bounds_every_variable_that_stands_alone() -> None:
    assert bounds_of([i < n])[0] == bounds_of([n > i])[0]
    assert {(str(b.v), str(b.e), b.upper) for b in bounds_of([i < n])[0]} == {
        ("i", "n - 1", True),
        ("n", "i + 1", False),
    }
    # a bound is divided by the factor and rounded so that the same integers remain
    (b,) = bounds_of([i * 3 <= 8])[0]
    assert (b.v, b.e.evaluate({}), b.upper) == (i, 2, True)
    (b,) = bounds_of([i * 3 >= 8])[0]
    assert (b.v, b.e.evaluate({}), b.upper) == (i, 3, False)
    # the factors of a product have no bounds of their own, and a variable does not bound itself
    assert [str(b.v) for b in bounds_of([s >= n * t])[0]] == ["s"]
    assert bounds_of([i * n >= i])[0] == ()


def test_variables_wait_for_what_bounds_them() -> None:
    known = [n > 0, t > 0, s >= n * t, i.within(0, n - 1), j.within(i, s - 1)]
    order = assignment_order([i, j, n, s, t], [b for b in bounds_of(known) if b])
    assert order.index(n) < order.index(i)
    assert order.index(n) < order.index(s)
    assert order.index(t) < order.index(s)
    assert max(order.index(i), order.index(s)) < order.index(j)


def test_a_circle_of_bounds_is_no_obstacle() -> None:
    known = [i <= j * 2, j <= k * 2, k <= i * 2]
    assert sorted(assignment_order([i, j, k], bounds_of(known)), key=str) == [i, j, k]
    assert inside([i, j, k], known).shape[1] == 3


@pytest.mark.parametrize("rank", [1, 4, 8])
def test_every_point_is_inside_what_has_bounds_on_both_sides(rank: int) -> None:
    sizes, index = symbols("n", rank), symbols("i", rank)
    known = [*(m >= 1 for m in sizes), *box(index, sizes)]
    names = variables_of(known)
    points = inside(names, known)
    column = {v: points[:, at] for at, v in enumerate(names)}
    for m, x in zip(sizes, index, strict=True):
        assert np.all(column[m] >= 1)
        assert np.all((column[x] >= 0) & (column[x] < column[m]))
    # the corners are included
    assert np.any(np.all([column[x] == column[m] - 1 for m, x in zip(sizes, index, strict=True)], axis=0))
    assert np.array_equal(points, inside(names, known))


def test_claims_of_many_variables_that_are_off_by_one_are_refuted() -> None:
    sizes, index = symbols("n", 8), symbols("i", 8)
    known = [*(m >= 1 for m in sizes), *box(index, sizes)]
    goal = row_major(index, sizes) <= product(sizes) - 2
    assert small_point(known, goal) is None
    point = bounded_point(known, goal)
    assert confirmed(point, known, goal)
    # a single element: every size is 1
    assert sum(map(abs, point.values())) == 8
    assert bounded_point(known, row_major(index, sizes) <= product(sizes) - 1) is None
    verdict = decide(Obligation("off by one", "sound", "valid", tuple(known), goal))
    assert (verdict.status, verdict.strategy) == (Status.REFUTED, "bounded points")


def test_literals_beyond_64_bits() -> None:
    known = [n >= 1, i.within(0, n - 1)]
    goal = (i * (1 << 70) - (1 << 70)).ne(0)
    point = bounded_point(known, goal)
    assert point is not None
    assert confirmed(point, known, goal)


@pytest.mark.filterwarnings("error")
def test_points_beyond_64_bits() -> None:
    """Points are exact: the least ``j`` is 2^63, and another machine integer in 64 bits."""
    known = [i >= 1 << 31, j >= i * i * 2, k >= j // -i]
    points = inside([i, j, k], known)
    assert [tuple(p) for p in points if p[0] == 1 << 31 and p[1] < 1 << 63] == []
    point = bounded_point(known, i < 0)
    assert point is not None
    assert confirmed(point, known, i < 0)


def test_equations_are_met() -> None:
    sizes, index = symbols("n", 6), symbols("i", 6)
    known = [*(m >= 1 for m in sizes), *box(index, sizes), s.eq(product(sizes)), t.eq(row_major(index, sizes))]
    point = bounded_point(known, t < s - 1)
    assert point is not None
    assert confirmed(point, known, t < s - 1)
    assert len(point) == 14


def test_points_are_aimed_at_equations() -> None:
    """Points are drawn on equations: two equal places have equal digits unless one digit may be too large."""
    sizes, room, index, other = (symbols(stem, 5) for stem in "npij")

    def place(coordinates: Sequence[Expr]) -> Expr:
        total = coordinates[0]
        for x, p in zip(coordinates[1:], room[1:], strict=True):
            total = total * p + x
        return total

    known = [*(m >= 1 for m in sizes), *(m <= p for m, p in zip(sizes, room, strict=True))]
    known += [*box(other, sizes), place(index).eq(place(other))]
    wider = [*known, *box(index, [m + 1 if m is sizes[2] else m for m in sizes])]
    known += box(index, sizes)
    goal = all_of([x.eq(y) for x, y in zip(index, other, strict=True)])
    assert bounded_point(known, goal) is None
    point = bounded_point(wider, goal)
    assert point is not None
    assert confirmed(point, wider, goal)
    # without drawing on the equation, it holds hardly anywhere but at zero
    names = variables_of(known)
    met = []
    for aimed in (False, True):
        points = failing_points(inside(names, known, aimed=aimed), names, [place(index) >= 1], FALSE)
        met.append(len(failing_points(points, names, [place(index).eq(place(other))], FALSE)))
    assert met[1] > 1000 > 4 * met[0]


def test_what_comes_later_bounds_what_comes_first() -> None:
    """The hypothesis ``1 <= n <= p`` implies p >= 1, although p is drawn after n."""
    p = var("p")
    points = inside([n, p], [n >= 1, n <= p])
    assert np.all((points[:, 0] >= 1) & (points[:, 0] <= points[:, 1]))


def test_a_divisor_that_is_said_to_be_zero_leaves_no_points() -> None:
    x, d = var("x"), var("d")
    assert bounded_point([d.eq(0), (x // d).eq(1)], x > 5) is None
