"""Changes of variables in derivations pass if they keep the map.  ``dev.faults`` injects forged ones."""

from __future__ import annotations

from typing import Any

import pytest

from dev.faults.derivations import by_changes
from indexproof.core.explain import explained
from indexproof.core.expr import var
from indexproof.core.indexing_map import IndexingMap, RuntimeSource
from indexproof.core.text import parse_map
from indexproof.core.transform import reduce_map
from indexproof.rules.catalog import RULES
from indexproof.verify.concrete import contains, equal_maps
from indexproof.verify.derivation import DerivationRefused, check_derivation

d0 = var("d0")


def texts(*maps: str) -> list[IndexingMap]:
    return [parse_map(m) for m in maps]


def test_dimensions_that_left_and_came_are_told() -> None:
    """Removed and new dimensions are reported, because maps with different dimensions have different relations."""
    maps = texts(
        "(d0)[s0] -> (s0), domain: d0 in [0, 9], s0 in [0, 9]",
        "(d0, d1) -> (d1), domain: d0 in [0, 9], d1 in [0, 9]",
        "(d1) -> (d1), domain: d1 in [0, 9]",
        "(d0) -> (d0), domain: d0 in [0, 9]",
    )
    checked = check_derivation(by_changes(*maps), RULES)
    assert (checked.removed_dims, checked.new_dims) == (("d0",), ("d0",))
    assert "removed  d0" in str(checked), str(checked)
    assert "new      d0, a range" in str(checked), str(checked)


@pytest.mark.parametrize(
    "other",
    ["", "a = s32[10] parameter(0)", "b = s32[10] parameter(1)"],
    ids=["no source", "one element", "another operand"],
)
def test_values_are_merged_where_one_element_is_read(other: str) -> None:
    """Runtime values are merged only if they read the same element; any other merge is refused."""
    at = (d0,)
    read = RuntimeSource("a = s32[10] parameter(0)", at)
    rts = [("rt0", 0, 5, read), ("rt1", 0, 5, RuntimeSource(other, at) if other else None)]
    result = d0 + var("rt0") + var("rt1")
    before = IndexingMap.of([("d0", 0, 9)], rts=rts, results=[result])
    after = IndexingMap.of([("d0", 0, 9)], rts=rts[:1], results=[d0 + 2 * var("rt0")])
    trace: list[Any] = []
    reduced = reduce_map(before, RULES, trace)
    genuine = explained(before, reduced.map, trace)
    check_derivation(genuine, RULES)
    if other == read.hlo:
        assert reduced.map == after
    else:
        with pytest.raises(DerivationRefused):
            check_derivation(by_changes(before, after), RULES)


def test_nothing_is_told_where_dimensions_stay() -> None:
    m = parse_map("(d0, d1)[s0] -> (d0), domain: d0 in [0, 9], d1 in [0, 9], s0 in [0, 3]")
    checked = check_derivation(by_changes(m, reduce_map(m, RULES).map), RULES)
    assert (checked.removed_dims, checked.new_dims) == ((), ())
    assert "removed" not in str(checked)


def test_a_map_with_a_runtime_variable_without_values_is_empty() -> None:
    """A map is empty if a runtime variable has no values; otherwise equality would not be transitive."""
    nowhere = IndexingMap.of([("d0", 0, 3)], rts=[("rt0", 0, -1)], results=[d0])
    other, nothing = (parse_map("(d0) -> (d0), domain: d0 in [0, 3]"), parse_map("(d0) -> (7), domain: d0 in [0, -1]"))
    assert not equal_maps(nowhere, other).proved
    assert not equal_maps(other, nowhere).proved
    assert equal_maps(nowhere, nowhere).proved
    assert equal_maps(nowhere, nothing).proved
    assert contains(other, nowhere).proved
    assert not contains(nowhere, other).proved
    same = IndexingMap.of([("d0", 0, 3)], rts=[("rt0", 0, -1)], results=[d0 + 7])
    assert equal_maps(nowhere, same).proved
