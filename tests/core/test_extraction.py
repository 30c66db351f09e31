"""Extraction on maps that once came out wrong."""

from __future__ import annotations

import pytest

from indexproof.core.simplify_map import simplify_map
from indexproof.core.steps import Trace
from indexproof.core.text import parse_map
from indexproof.rules.catalog import RULES

#: a literal below what was read before is no zero
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
