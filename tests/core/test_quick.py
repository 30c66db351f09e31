"""Simplification with ``quick``: normal forms alone, without the search for cheaper spellings."""

from __future__ import annotations

import pytest

from dev.fuzz.corpus import builtin_corpus
from dev.fuzz.generate import Asked, random_map
from dev.fuzz.maps import examine_corpus
from indexproof.core.cost import map_cost
from indexproof.core.expr import Expr, integer, var
from indexproof.core.indexing_map import IndexingMap, Variable
from indexproof.core.text import format_map, parse_map
from indexproof.rules.catalog import RULES
from indexproof.rules.simplifier import reduce, simplify, simplify_expr
from indexproof.verify.concrete import equal_maps
from indexproof.verify.derivation import check_derivation

DIGITS = parse_map(
    "(d0, d1) -> ((d0 * 4 + d1) floordiv 32, (d0 * 4 + d1) floordiv 8 mod 4, (d0 * 4 + d1) mod 8),"
    " domain: d0 in [0, 31], d1 in [0, 3]"
)
#: Digits of one sum, each of which has a separate sum in normal form.
SHARED = parse_map(
    "(d0, d1) -> ((d0 * 96 + d1 * 10 + 7) floordiv 4, (d0 * 96 + d1 * 10 + 7) floordiv 48 mod 2,"
    " (d0 * 96 + d1 * 10 + 7) mod 6, d0 * 4 floordiv 2), domain: d0 in [0, 9], d1 in [0, 9]"
)
_PLACE = "(((d2 - 1) floordiv 2) * 5 + (d1 floordiv 2) * 60 + d0 * 720 + d3)"
_INNER = f"((({_PLACE} floordiv 120) mod 24) * 120 + {_PLACE} mod 120)"
#: Where a part keeps its given spelling, the rest has another normal form.
PADDED = parse_map(
    f"(d0, d1, d2, d3) -> ({_PLACE} floordiv 2880, {_INNER} floordiv 480, ({_INNER} floordiv 40) mod 12,"
    f" ({_INNER} floordiv 4) mod 10, {_INNER} mod 2), domain: d0 in [0, 7], d1 in [0, 22], d2 in [0, 23],"
    " d3 in [0, 4], d1 mod 2 in [0, 0], d2 - 1 in [0, 22], (d2 - 1) mod 2 in [0, 0]"
)


def reshaped(index: list[Expr], there: list[int], here: list[int]) -> list[Expr]:
    """Return the index in the shape ``here`` of the element at ``index`` in the shape ``there``, both row-major."""
    place: Expr = integer(0)
    for x, n in zip(index, there, strict=True):
        place = place * n + x
    found: list[Expr] = []
    for n in reversed(here[1:]):
        found.insert(0, place % n)
        place = place // n
    return [place, *found]


def chain(depth: int) -> IndexingMap:
    """Return a chain of reshapes and transposes in which much is shared, and whose normal forms share nothing."""
    shapes = [[8, 12, 10], [12, 80], [4, 6, 40], [32, 30]]
    index: list[Expr] = [var(f"d{k}") for k in range(3)]
    there = shapes[0]
    for k in range(depth):
        here = shapes[(k + 1) % 4]
        index = reshaped(index, there, here)
        if k % 2:
            index = reshaped(index[::-1], here[::-1], here)
        there = here
    dims = tuple(Variable(f"d{k}", 0, n - 1) for k, n in enumerate(shapes[0]))
    return IndexingMap(dims, (), (), tuple(index), ())


def test_digits_stay_as_they_are() -> None:
    after = simplify(DIGITS, quick=True)
    assert format_map(after) == (
        "(d0, d1) -> (d0 floordiv 8, (d0 floordiv 2) mod 4, (d0 mod 2) * 4 + d1), domain: d0 in [0, 31], d1 in [0, 3]"
    )
    assert map_cost(simplify(DIGITS)).divisions < map_cost(after).divisions


def test_what_is_quickly_simplified_can_be_simplified() -> None:
    after = simplify(DIGITS, quick=True)
    assert simplify(after, quick=True) is after
    assert simplify(after) == simplify(DIGITS)
    # the differences cost less than the digits
    assert simplify(simplify(DIGITS).with_(), quick=True) == simplify(DIGITS)


def test_results_that_cost_more_in_normal_form_are_kept() -> None:
    after = simplify(SHARED, quick=True)
    assert [a == b for a, b in zip(after.results, SHARED.results, strict=True)] == [True, True, True, False]
    assert str(after.results[3]) == "2·d0"
    assert map_cost(after).weight < map_cost(SHARED).weight
    assert simplify(after.with_(), quick=True) == after
    derivation = simplify(SHARED, quick=True, explain=True)
    assert derivation.after == after
    assert check_derivation(derivation, RULES).steps


def test_what_is_kept_in_part_is_the_same_again() -> None:
    after = simplify(PADDED, quick=True)
    assert simplify(after.with_(), quick=True) == after
    derivation = simplify(PADDED, quick=True, explain=True)
    assert derivation.after == after
    assert check_derivation(derivation, RULES).steps


def test_multiples_that_rules_make_use_known_digits() -> None:
    y = "((d0 floordiv 2) * 2 + d1 * 10 + 5)"
    z = f"((({y} floordiv 2) mod 2) * 2 + ({y} floordiv 4) * 4 + {y} mod 2)"
    m = parse_map(f"(d0, d1) -> ({z} mod 3), domain: d0 in [0, 8], d1 in [0, 1], d0 mod 2 in [0, 0]")
    after = simplify(m, quick=True)
    assert str(after).startswith("(d0, d1) -> ((d1 * 10 + d0 + 2) mod 3)"), after


def test_maps_whose_normal_forms_are_far_larger_are_kept() -> None:
    m = chain(40)
    assert simplify(m, quick=True) == m
    assert simplify(m, quick=True, explain=True).after == m


@pytest.mark.parametrize("weight", [1, 3, 12])
def test_never_dearer_and_the_same_again(weight: int) -> None:
    for k in range(100):
        m = random_map(13, k)
        after = simplify(m, minimize=weight, quick=True)
        assert map_cost(after).weighed(weight) <= map_cost(m).weighed(weight), format_map(m)
        assert simplify(after.with_(), minimize=weight, quick=True) == after, format_map(m)


def test_every_step_is_an_instance_of_a_rule() -> None:
    counts, failure = examine_corpus(builtin_corpus(RULES), True, asked=Asked(quick=True))
    assert not failure
    assert counts["steps"] > 400


def test_expressions_and_reductions_too() -> None:
    e = DIGITS.results[2]
    assert str(simplify_expr(e, {"d0": (0, 31), "d1": (0, 3)}, quick=True)) == "4·(d0 mod 2) + d1"
    m = parse_map(
        "(d0)[s0] -> (d0 floordiv 4, d0 mod 4 + s0), domain: d0 in [0, 99], s0 in [0, 17], s0 mod 6 in [0, 0]"
    )
    reduced = reduce(m, quick=True)
    assert "mod" in str(reduced.map.results[1])
    assert "mod" not in str(reduce(m).map.results[1])
    assert reduced.map.ranges[0].hi == 2
    assert equal_maps(simplify(m), simplify(m, quick=True)).proved
