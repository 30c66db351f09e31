"""The weight of a division, which the caller chooses: few operations, or few divisions."""

from __future__ import annotations

from typing import Any

import pytest

from dev.fuzz.generate import random_map
from indexproof.core.cost import map_cost
from indexproof.core.errors import InputError
from indexproof.core.text import format_map, parse_map
from indexproof.rules.simplifier import reduce, simplify, simplify_expr
from indexproof.verify.concrete import equal_maps

DIGITS = parse_map(
    "(d0) -> (d0 floordiv 32, d0 floordiv 8 mod 4, d0 floordiv 4 mod 2, d0 mod 4), domain: d0 in [0, 127]"
)
#: Digits of a padded coordinate: quotients of one sum with a remainder inside.
PADDED = parse_map(
    "(d0, d1) -> ((((d0 * 5 + d1) mod 240 - 1) floordiv 2 + (d0 * 5 + d1) floordiv 240 * 120) floordiv 30,"
    " (((d0 * 5 + d1) mod 240 - 1) floordiv 2 + (d0 * 5 + d1) floordiv 240 * 120) floordiv 3 mod 10,"
    " (((d0 * 5 + d1) mod 240 - 1) floordiv 2 + (d0 * 5 + d1) floordiv 240 * 120) mod 3),"
    " domain: d0 in [0, 95], d1 in [0, 4], (d0 * 5 + d1) mod 240 - 1 in [0, 238],"
    " ((d0 * 5 + d1) mod 240 - 1) mod 2 in [0, 0]"
)
#: Known digits in sums that have been rewritten before the digits are processed.
FOLDED = parse_map(
    "(d0)[s0, s1] -> ("
    + ", ".join(
        f"(((d0 floordiv 6) mod 14) * -336 - (d0 mod 6) * 2 - ((d0 floordiv 84 + s1) floordiv 2) * 12"
        f" - s0 * 336 + 4703) {digit}"
        for digit in ("floordiv 336", "floordiv 42 mod 8", "floordiv 6 mod 7", "floordiv 3 mod 2", "mod 3")
    )
    + "), domain: d0 in [0, 4703], s0 in [0, 1], s1 in [0, 1], (d0 floordiv 6) mod 14 + s0 in [0, 13],"
    " d0 floordiv 84 + s1 in [0, 54], (d0 floordiv 84 + s1) mod 2 in [0, 0]"
)


def test_few_operations_or_few_divisions() -> None:
    few_operations, few_divisions = (map_cost(simplify(DIGITS, minimize=w)) for w in (2, 12))
    assert few_operations == (6, 6)
    assert few_divisions == (3, 9)
    assert simplify(DIGITS) == simplify(DIGITS, minimize=3)


@pytest.mark.parametrize("weight", [1, 2, 3, 4, 12, 1000])
def test_never_dearer_by_the_weight_that_is_asked_for(weight: int) -> None:
    for k in range(40):
        m = random_map(11, k)
        after = simplify(m, minimize=weight)
        assert map_cost(after).weighed(weight) <= map_cost(m).weighed(weight), format_map(m)
        assert simplify(after.with_(), minimize=weight) == after, format_map(m)


@pytest.mark.parametrize("weight", [2, 12])
def test_explained_like_any_other(weight: int) -> None:
    for m in (DIGITS, PADDED, FOLDED):
        after = simplify(m, minimize=weight)
        assert simplify(m, minimize=weight, explain=True).after == after
        assert equal_maps(m, after).proved


def test_what_is_simple_for_one_weight_is_not_for_another() -> None:
    first = simplify(DIGITS, minimize=2)
    assert simplify(first, minimize=2) is first
    assert map_cost(simplify(first, minimize=12)).divisions == 3


def test_the_same_remainder_leaves_several_quotients_together() -> None:
    # alone, each of the three would cost a quotient more
    after = simplify(PADDED, minimize=12)
    assert map_cost(after.with_(constraints=())).divisions == 3
    assert "mod" not in ", ".join(map(str, after.results))


def test_what_is_inside_a_remainder_may_be_a_difference_next() -> None:
    m = parse_map(
        "(d0) -> (d0 floordiv 992, (d0 mod 992) floordiv 128, (d0 mod 992) floordiv 64 mod 2,"
        " (d0 floordiv 8) mod 124 mod 8), domain: d0 in [0, 1983]"
    )
    after = simplify(m)
    assert simplify(after.with_()) == after
    assert map_cost(after) == (4, 12)


def test_expressions_and_reductions_too() -> None:
    assert reduce(DIGITS, minimize=2).map == simplify(DIGITS, minimize=2)
    quotient, remainder = "x floordiv 4", "x mod 4"
    both = parse_map(f"(x) -> (max({quotient}, 5) + {remainder}), domain: x in [0, 99]").results[0]
    bounds = {"x": (0, 99)}
    assert str(simplify_expr(both, bounds, minimize=1)) == str(both)
    assert "mod" not in str(simplify_expr(both, bounds, minimize=12))


def test_as_many_operations_with_fewer_divisions() -> None:
    both = parse_map("(x) -> (x floordiv 4 + x mod 4), domain: x in [0, 99]").results[0]
    assert str(simplify_expr(both, {"x": (0, 99)}, minimize=1)) == "x - 3·(x // 4)"


@pytest.mark.parametrize("weight", [0, -3, 2.5])
def test_a_division_is_an_operation(weight: Any) -> None:
    with pytest.raises(InputError, match=f"a division cannot weigh {weight} operations"):
        simplify(DIGITS, minimize=weight)
    with pytest.raises(InputError, match="a division cannot weigh"):
        reduce(DIGITS, minimize=weight)
    with pytest.raises(InputError, match="a division cannot weigh"):
        simplify_expr(DIGITS.results[0], {}, minimize=weight)


def test_a_measure_has_a_name_or_is_the_weight_of_a_division() -> None:
    for name, weight in (("cost", 3), ("operations", 1), ("divisions", 12)):
        assert simplify(DIGITS, minimize=name) == simplify(DIGITS, minimize=weight)
    with pytest.raises(InputError, match="nothing to minimize is called `3`"):
        simplify(DIGITS, minimize="3")


def test_the_same_remainders_recombine_whatever_was_read_before() -> None:
    # both remainders could take the dividend; the choice once depended on the order of visits
    m = parse_map(
        "(d0) -> (d0 floordiv 50 mod 3 * 50 + d0 floordiv 150 * 300,"
        " d0 floordiv 50 mod 3 * -50 - d0 floordiv 150 * 300 + d0), domain: d0 in [0, 225]"
    )
    assert simplify(m, minimize=2, explain=True).after == simplify(m, minimize=2)


def test_of_two_remainders_inside_a_quotient_the_same_one_leaves_whatever_was_met_first() -> None:
    m = parse_map(
        "(d0, d1)[s0] -> (((d0 * 9 - d1 * 6 + s0 * 13 - 3) mod -6 + (d0 + d1 + s0) floordiv 4 mod 12) ceildiv 6),"
        " domain: d0 in [2, 3], d1 in [0, 4], s0 in [-3, -2]"
    )
    after = simplify(m, minimize=12)
    assert simplify(after.with_(), minimize=12) == after


def test_of_two_quotients_in_a_dividend_the_same_one_is_absorbed_whatever_was_met_first() -> None:
    x = "(d0 * 192 + d1 * 16 + d2)"
    y = (
        f"({x} floordiv 2 mod 12 * 2 + {x} floordiv 24 mod 2 * 30 + {x} floordiv 48 mod 8 * 60"
        f" + {x} floordiv 384 * 480 + {x} mod 2 + 6)"
    )
    m = parse_map(
        f"(d0, d1, d2) -> ({y} floordiv 48, {y} floordiv 6 mod 8, {y} mod 6),"
        " domain: d0 in [0, 5], d1 in [0, 11], d2 in [0, 15]"
    )
    after = simplify(m)
    assert simplify(parse_map(str(after))) == after
