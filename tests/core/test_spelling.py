"""How results are written so that together they cost least: choices that need the whole map to be seen."""

from __future__ import annotations

import pytest

from indexproof.core.cost import cost
from indexproof.core.text import format_map, parse_map
from indexproof.rules.catalog import RULES
from indexproof.rules.simplifier import simplify
from indexproof.verify.concrete import equal_maps
from indexproof.verify.derivation import check_derivation

#: Map, weight of a division, and the operations and divisions of the results.
CASES = {
    # 5 * ((d0 - 1) mod 2) + 2 is a remainder itself, and its dividend serves the quotient too
    "takes in": (
        "(d0) -> (((d0 * 5 + 287) floordiv 10) mod 2 * -1 + 1, (d0 * 5 + 287) mod 10,"
        " (d0 * 5 + 287) floordiv 20), domain: d0 in [0, 2]",
        2,
        (5, 2),
    ),
    # a difference saves a division and costs more than that: written both ways, and the cheaper kept
    "torn": (
        "(d0, d1, d2) -> ((d1 * 6 + d2) mod 16 * 2 + (d0 * 3 + (d1 * 6 + d2) floordiv 16) floordiv 8,"
        " ((d0 * 3 + (d1 * 6 + d2) floordiv 16) mod 8 * 6 + 5) floordiv 16,"
        " ((d1 * 6 + d2) floordiv 16 * 6 + d0 * 18 + 5) mod 16), domain: d0 in [0, 0], d1 in [0, 7],"
        " d2 in [0, 5], d0 * 3 + (d1 * 6 + d2) floordiv 16 in [0, 2]",
        3,
        (9, 4),
    ),
    # the quotient releases d0 floordiv 432 from its dividend, and takes in the constant beside it afterwards
    "constant of a released dividend": (
        "(d0)[s0, s1, s2] -> ((((d0 mod 8) floordiv 4) * 2 + s2) floordiv 2, (((d0 mod 8) floordiv 4) * 2 + s2) mod 2,"
        " ((((d0 floordiv 8) mod 54 + s1 - 3) floordiv 2) * 8 + s0 * 2 + d0 floordiv 432 - 1) floordiv 112,"
        " ((((d0 floordiv 8) mod 54 + s1 - 3) floordiv 2) * 8 + s0 * 2 + d0 floordiv 432 - 1) mod 112),"
        " domain: d0 in [0, 3887], s0 in [0, 1], s1 in [0, 4], s2 in [0, 1],"
        " s0 * 2 + d0 floordiv 432 - 1 in [0, 7], (d0 floordiv 8) mod 54 + s1 - 3 in [0, 54],"
        " ((d0 floordiv 8) mod 54 + s1 - 3) mod 2 in [0, 0]",
        2,
        (15, 8),
    ),
    # the normal form of one result is larger than the result, that of another is smaller
    "each for itself": (
        "(d0)[s0, s1, s2] -> ((((d0 + 1599) mod 16) floordiv 4) * -2 - s2 + 7,"
        " ((s1 * 2 + ((d0 + 1599) floordiv 16) mod 25 - 1) floordiv 2) * -1 + 15,"
        " ((d0 + 1599) floordiv 3600) * -1 + 1, (((d0 + 1599) floordiv 400) mod 9) * -3 - s0 + 27),"
        " domain: d0 in [0, 5600], s0 in [0, 4], s1 in [0, 4], s2 in [0, 1],"
        " (((d0 + 1599) floordiv 400) mod 9) * 3 + s0 in [0, 27],"
        " s1 * 2 + ((d0 + 1599) floordiv 16) mod 25 - 1 in [0, 30],"
        " (s1 * 2 + ((d0 + 1599) floordiv 16) mod 25 - 1) mod 2 in [0, 0]",
        2,
        (19, 8),
    ),
}


@pytest.mark.parametrize(("text", "weight", "most"), CASES.values(), ids=CASES)
def test_written_with_the_whole_map_in_view(text: str, weight: int, most: tuple[int, int]) -> None:
    m = parse_map(text)
    after = simplify(m, division_weight=weight)
    spent = cost(after.results)
    assert (spent.operations, spent.divisions) == most, format_map(after)
    assert equal_maps(m, after).proved
    assert simplify(after.with_(), division_weight=weight) == after
    told = simplify(m, division_weight=weight, explain=True)
    assert told.after == after
    check_derivation(told, RULES)
