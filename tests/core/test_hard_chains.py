"""Maps on which passes took turns, or stopped one too early: each has an end, and it is the same however it is reached."""

from __future__ import annotations

from pathlib import Path

import pytest

from indexproof.core.cost import map_cost
from indexproof.core.text import parse_map
from indexproof.rules.catalog import RULES
from indexproof.rules.simplifier import simplify
from indexproof.verify.concrete import equal_maps
from indexproof.verify.derivation import check_derivation

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
