"""The weakest condition on sizes: at every small size the property holds where the condition does, and only there."""

from __future__ import annotations

import itertools

import pytest

from indexproof.core.map_reader import read_any_map
from indexproof.core.parametric import ParametricMap
from indexproof.verify.parametric import condition_on_sizes
from indexproof.verify.size_claims import SizeQuestion

ROWS = (
    "(d0, d1){n, k, s} -> (d0 * s + d1), domain: d0 in [0, n - 1], d1 in [0, k - 1], n >= 1, k >= 1, s >= 0"
)
TILES = (
    "(d0, d1){n, k} -> (d0 * k + d1), domain: d0 in [0, n floordiv k - 1], d1 in [0, k - 1], n >= 1, k >= 1"
)


@pytest.mark.parametrize(("name", "text", "given", "condition"), [
    ("injective", ROWS, {}, "n ≤ 1 or k ≤ s"),
    ("monotone", ROWS + ", n >= 2", {}, "k - 1 ≤ s"),
    ("covers", TILES, {"shape": ["n"]}, "k ∣ n"),
    ("in_bounds", TILES.replace("n floordiv k", "n ceildiv k"), {"shape": ["n"]}, "k ∣ n"),
    ("aligned", "(d0){k} -> (d0 * k), domain: d0 in [0, 9], k >= 0", {"by": 4}, "4 ∣ k"),
    ("contiguous", TILES.replace("n floordiv k", "n"), {"along": "d1", "width": 4}, "4 ∣ k"),
    ("injective", "(d0){n, k} -> (d0 mod k), domain: d0 in [0, n - 1], k >= 1", {}, "n ≤ k"),
])  # fmt: skip
def test_the_condition_is_exact(name: str, text: str, given: dict[str, object], condition: str) -> None:
    m = read_any_map(text)
    assert isinstance(m, ParametricMap)
    found = condition_on_sizes(name, [m], **given)
    assert found is not None
    assert str(found) == f"{condition}, and only then"
    question = SizeQuestion([m], given)
    for values in itertools.islice(question.values(), 60):
        shape = [int(values["n"])] if "shape" in given else None
        there = SizeQuestion([m], {**given, "shape": shape} if shape else given).concrete(name, values)
        assert there.proved == found.condition.evaluate(values), values


def test_nothing_is_said_where_there_is_no_condition() -> None:
    never = read_any_map("(d0){n} -> (d0 * 0), domain: d0 in [0, n + 1], n >= 1")
    assert condition_on_sizes("injective", [never]) is None
