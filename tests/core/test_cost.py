"""The documented cost: the operations of a straight-line program with shared values."""

from __future__ import annotations

import random

import pytest

from indexproof.core.cost import DIVISION_WEIGHT, Cost, cost, map_cost
from indexproof.core.expr import Expr, integer, minimum, mul, var
from indexproof.core.text import parse_expr, parse_map
from indexproof.rules.simplifier import simplify

COSTS = {
    "d0": (0, 0),
    "7": (0, 0),
    "d0 + 1": (0, 1),
    "d0 + d1 + d2": (0, 2),
    "d0 * 4": (0, 1),
    "d0 * 4 + d1": (0, 2),
    "d0 - d1": (0, 1),
    "5 - d0": (0, 1),
    "5 - d0 - d1": (0, 2),
    "-d0": (0, 1),
    "-d0 - d1": (0, 2),
    "d0 * -4": (0, 2),
    "d0 * -4 + d1": (0, 2),
    "d0 floordiv 4": (1, 1),
    "d0 mod 4": (1, 1),
    "d0 ceildiv 4": (1, 1),
    "(d0 + 1) floordiv 4": (1, 2),
    "min(d0, d1)": (0, 1),
    "max(d0, d1, d2, 3)": (0, 3),
    # shared: the quotient, and the sum below it
    "(d0 + d1) floordiv 4 + (d0 + d1) mod 4": (2, 4),
    "d0 floordiv 4 * 4 + d0 floordiv 4": (1, 2),
    # the sum without its constant is shared
    "(d0 + d1) floordiv 4 + (d0 + d1 + 3) floordiv 4": (2, 5),
    # a product and the same product subtracted
    "(d0 * 8 + d1) floordiv 3 + (d1 - d0 * 8) floordiv 3": (2, 6),
}


@pytest.mark.parametrize("text", COSTS)
def test_costs(text: str) -> None:
    assert cost([parse_expr(text)]) == COSTS[text]


def test_results_share() -> None:
    a, b = parse_expr("(d0 + d1) floordiv 4"), parse_expr("(d0 + d1) floordiv 4 + d0 mod 3")
    assert cost([a]) == (1, 2)
    assert cost([a, b]) == (2, 4)
    assert cost([a, a]) == cost([a])
    assert cost([]) == (0, 0)


def test_a_map_costs_what_its_expressions_cost() -> None:
    m = parse_map(
        "(d0){rt0} -> (d0 floordiv 4),\ndomain:\nd0 in [0, 9],\nrt0 in [0, 5]\n  hlo: p = s32[9] parameter(0)\n"
        "  (d0) -> (d0 mod 3),\nd0 * 2 + rt0 in [0, 7]"
    )
    assert map_cost(m) == (2, 4)
    assert map_cost(m).weight == 4 + 2 * (DIVISION_WEIGHT - 1)


def test_results_and_constraints_share_nothing() -> None:
    m = parse_map("(d0) -> (d0 floordiv 4), domain: d0 in [0, 9], d0 floordiv 4 in [0, 1]")
    assert map_cost(m) == (2, 2)
    assert cost(m.roots) == (1, 1)


def test_runtime_sources_share_nothing_and_get_no_dearer_one_by_one() -> None:
    m = parse_map(
        "(d0, d1){rt0, rt1} -> (),\ndomain:\nd0 in [0, 3],\nd1 in [0, 1],\nrt0 in [0, 0]\n  hlo: p0 = s32[] parameter(0)\n"
        "  (d0, d1) -> (d0, (d1 * 4 + d0) floordiv 2),\nrt1 in [0, 0]\n  hlo: p1 = s32[] parameter(1)\n"
        "  (d0, d1) -> (d1 * 4, 0)"
    )
    assert map_cost(m) == (1, 4)
    after = simplify(m)
    assert [str(r.source.results[1]) for r in after.rts if r.source] == ["d0 // 2 + 2·d1", "0"]
    assert map_cost(after) == (1, 4)


def test_products_of_symbols_count() -> None:
    assert cost([mul(var("n"), var("m"), var("k"))]) == (0, 2)


def test_one_number_compares_costs() -> None:
    assert Cost(1, 1).weight > Cost(0, DIVISION_WEIGHT - 1).weight
    assert Cost(1, 1).weight == Cost(0, DIVISION_WEIGHT).weight
    assert str(Cost(2, 5)) == "2 div/mod, 5 operations"


@pytest.mark.parametrize("seed", range(30))
def test_more_expressions_never_cost_less(seed: int) -> None:
    rng = random.Random(seed)
    atoms: list[Expr] = [var("d0"), var("d1"), integer(3)]
    for _ in range(12):
        a, b = rng.choice(atoms), rng.choice(atoms)
        atoms.append(rng.choice((a + b, a - b, a * 4, a // 3, a % 5, minimum(a, b), a * -2 + 7)))
    total = cost([])
    for k in range(1, len(atoms) + 1):
        now = cost(atoms[:k])
        assert now.divisions >= total.divisions
        assert now.operations >= total.operations
        assert now.divisions <= now.operations
        total = now
    assert cost(list(reversed(atoms))) == total


def test_any_depth() -> None:
    e: Expr = var("d0")
    for k in range(3_000):
        e = (e + k + 1) // 3
    assert cost([e]) == (3_000, 6_000)
