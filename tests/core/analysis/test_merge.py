"""Few maps in place of many: the same relation, and as few as expected."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest

from indexproof.core.analysis.merge import merged
from indexproof.core.indexing_map import IndexingMap
from indexproof.core.text import format_map, parse_map

Pairs = set[tuple[tuple[int, ...], tuple[int, ...]]]


def relation(maps: list[IndexingMap]) -> Pairs:
    return {pair for m in maps for pair in m.relation()}


def series(text: Callable[[int], str], count: int) -> list[IndexingMap]:
    return [parse_map(text(k)) for k in range(count)]


ONE = {
    "intervals": (lambda k: f"(d0) -> (d0), domain: d0 in [{3 * k}, {3 * k + 2}]", False,
        "(d0) -> (d0), domain: d0 in [0, 11]"),
    "rows": (lambda k: f"(d0, d1) -> (d1), domain: d0 in [{k}, {k}], d1 in [0, 4]", False,
        "(d0, d1) -> (d1), domain: d0 in [0, 3], d1 in [0, 4]"),
    "indices, backwards": (lambda k: f"(d0) -> ({7 - k}), domain: d0 in [{k}, {k}]", False,
        "(d0) -> (-d0 + 7), domain: d0 in [0, 3]"),
    "indices, two apart in the result": (lambda k: f"(d0) -> ({2 * k + 1}), domain: d0 in [{5 - k}, {5 - k}]",
        False, "(d0) -> (d0 * -2 + 11), domain: d0 in [2, 5]"),
    "every other index": (lambda k: f"(d0) -> ({4 * k}), domain: d0 in [{2 * k}, {2 * k}]", True,
        "(d0) -> (d0 * 2), domain: d0 in [0, 6], d0 mod 2 in [0, 0]"),
    "every other index, one apart in the result": (lambda k:
        f"(d0) -> ({k}), domain: d0 in [{9 - 2 * k}, {9 - 2 * k}]", True,
        "(d0) -> ((-d0 + 9) floordiv 2), domain: d0 in [3, 9], d0 mod 2 in [1, 1]"),
    "a new range": (lambda k: f"(d0) -> ({k}, d0), domain: d0 in [0, 2]", True,
        "(d0)[s0] -> (s0, d0), domain: d0 in [0, 2], s0 in [0, 3]"),
    "a triangle": (lambda k: f"(d0) -> ({k}), domain: d0 in [{k}, 9]", True,
        "(d0)[s0] -> (s0), domain: d0 in [0, 9], s0 in [0, 3], d0 - s0 in [0, 9]"),
}  # fmt: skip


@pytest.mark.parametrize("name", ONE)
def test_one_map_for_all(name: str) -> None:
    text, ranges, expected = ONE[name]
    maps = series(text, 4)
    found = merged(maps, ranges)
    assert len(found) == 1
    assert relation(found) == relation(maps) == relation([parse_map(expected)])


def test_no_new_ranges_on_the_way() -> None:
    maps = series(ONE["a new range"][0], 6)
    assert merged(maps, False) == maps


def test_maps_without_points() -> None:
    never = [parse_map(f"(d0) -> (d0 + {k}), domain: d0 in [0, 3], d0 mod 3 in [5, 5]") for k in (1, 2)]
    assert not relation(merged(never))


def test_an_index_that_a_neighbour_can_say_too() -> None:
    maps = [
        parse_map("(d0) -> (d0 + 3), domain: d0 in [2, 6]"),
        parse_map("(d0) -> (10), domain: d0 in [7, 7]"),
        parse_map("(d0) -> (4), domain: d0 in [1, 1]"),
        parse_map("(d0) -> (9), domain: d0 in [8, 8]"),
    ]
    found = merged(maps)
    assert format_map(found[0]) == "(d0) -> (d0 + 3), domain: d0 in [1, 7]"
    assert relation(found) == relation(maps)


def test_what_one_dimension_says_of_one_result() -> None:
    halves = [
        parse_map(
            "(d0, d1) -> ((d0 - 1) floordiv 2, d1), domain: d0 in [1, 15], d1 in [0, 7], d0 mod 2 in [1, 1]"
        ),
        parse_map(
            "(d0, d1) -> (d0 floordiv 2 - 1, d1), domain: d0 in [2, 14], d1 in [0, 7], d0 mod 2 in [0, 0]"
        ),
    ]
    for maps in (halves, halves[::-1]):
        (found,) = merged(maps)
        assert relation([found]) == relation(maps)
        assert (
            format_map(found) == "(d0, d1) -> ((d0 - 1) floordiv 2, d1), domain: d0 in [1, 15], d1 in [0, 7]"
        )
    # rows so far, in blocks
    rows = [
        parse_map("(d0) -> (d0), domain: d0 in [0, 15]"),
        parse_map("(d0)[s0, s1] -> (s0 * 4 + s1), domain: d0 in [4, 15], s0 in [0, 2], s1 in [0, 3], "
                  "d0 - s0 * 4 in [4, 15]"),
        parse_map("(d0) -> (d0 - 1), domain: d0 in [1, 15], d0 mod 4 in [1, 3]"),
        parse_map("(d0) -> (d0 - 2), domain: d0 in [2, 15], d0 mod 4 in [2, 3]"),
        parse_map("(d0) -> (d0 - 3), domain: d0 in [3, 15], d0 mod 4 in [3, 3]"),
    ]  # fmt: skip
    assert relation(merged(rows)) == {((i,), (j,)) for i in range(16) for j in range(i + 1)}
    assert len(merged(rows)) == 1
    assert relation(merged(rows[:3])) == relation(rows[:3])


def test_what_may_not_be_merged() -> None:
    for texts in (
        ("(d0) -> (d0), domain: d0 in [0, 2]", "(d0) -> (d0), domain: d0 in [4, 5]"),
        ("(d0) -> (d0), domain: d0 in [0, 2]", "(d0) -> (d0 + 1), domain: d0 in [3, 5]"),
        ("(d0) -> (d0), domain: d0 in [0, 2], d0 mod 2 in [0, 0]", "(d0) -> (d0), domain: d0 in [3, 5]"),
        (
            "(d0){rt0} -> (rt0), domain: d0 in [0, 2], rt0 in [0, 4]",
            "(d0){rt0} -> (rt0), domain: d0 in [3, 3], rt0 in [1, 4]",
        ),
    ):
        maps = [parse_map(t) for t in texts]
        assert merged(maps) == maps


@pytest.mark.parametrize("seed", range(150))
def test_random_families_keep_their_relation(seed: int) -> None:
    """Families made of random progressions, shuffled, with some maps left out and others thrown in."""
    rng = random.Random(seed)
    maps: list[IndexingMap] = []
    for _ in range(rng.randint(1, 3)):
        count = rng.randint(1, 6)
        a, b, c, d, e, f = (rng.choice([-2, -1, 0, 0, 1, 1, 2, 3]) for _ in range(6))
        width, size = rng.randint(0, 2), rng.randint(0, 3)
        inner = rng.choice(["d1", "d1 * 2", "(d0 + d1) floordiv 2", "s0", "d0"])
        for k in range(count):
            lo, other, top = 12 + a * k, rng.choice([0, 0, 0, 1]), 3 + e * k
            maps.append(
                parse_map(
                    f"(d0, d1)[s0] -> ({inner} + {b * k}, {c * k} - s0), domain: d0 in [{lo}, {lo + width + d * k}], "
                    f"d1 in [{other}, 3], s0 in [0, {size}], d0 + d1 + s0 in [{10 + f * k}, {14 + top}]"
                )
            )
    rng.shuffle(maps)
    for ranges in (False, True):
        found = merged(maps, ranges)
        assert len(found) <= len(set(maps))
        assert relation(found) == relation(maps)
