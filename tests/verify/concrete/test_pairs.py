"""Families of maps compared as tables of pairs."""

from __future__ import annotations

import random

import pytest

from indexproof import IndexingMap, parse_map
from indexproof.verify.concrete.equality import same_relation
from indexproof.verify.concrete.pairs import same_pairs


def family(*texts: str) -> list[IndexingMap]:
    return [parse_map(t) for t in texts]


def pairs(maps: list[IndexingMap]) -> set[object]:
    return set().union(*(m.relation() for m in maps))


def random_map(random: random.Random) -> str:
    n = random.randint(1, 6)
    results = [
        f"d0 * {random.randint(-2, 2)} + s0 * {random.choice((0, 1, 2))} + {random.randint(-1, 1)}",
        random.choice(["d1", "d1", "d1", "d1 + 1", "d0"]),
    ]
    if random.random() < 0.3:
        results.reverse()
    least = random.randint(-2, 0)
    text = f"(d0, d1)[s0] -> ({', '.join(results)}), domain: d0 in [0, {n}], d1 in [0, 2], s0 in [{least}, 3]"
    options = [
        "d0 mod 2 in [1, 1]",
        "d0 + s0 in [1, 4]",
        "s0 floordiv 2 in [0, 0]",
        "d0 - d1 in [0, 9]",
        "s0 in [1, 5]",
    ]
    return ", ".join([text, *random.sample(options, random.choice((0, 1, 1, 2)))])


@pytest.mark.parametrize("seed", range(4))
def test_tables_say_what_enumeration_says(seed: int) -> None:
    source = random.Random(seed)
    said = []
    for _ in range(150):
        left = family(*(random_map(source) for _ in range(source.randint(1, 3))))
        right = family(*(random_map(source) for _ in range(source.randint(0, 1))))
        if source.random() < 0.7:
            right += [m for m in left if source.random() < 0.9]
        equal = pairs(left) == pairs(right)
        assert same_pairs(left, right) is equal, (left, right)
        said.append(equal)
    assert 20 < sum(said) < 130


def test_a_copied_dimension_is_no_part_of_the_table() -> None:
    far = "d1 in [0, 1000000000]"
    whole = family(f"(d0, d1) -> (d0, d1), domain: d0 in [0, 9], {far}")
    halves = family(*(f"(d0, d1) -> (d0, d1), domain: d0 in [{n}, {n + 4}], {far}" for n in (0, 5)))
    assert same_pairs(whole, halves)
    assert same_relation(whole, halves).engine == "enumeration"


@pytest.mark.parametrize("changed", [
    "(d0, d1) -> (d0, d1), domain: d0 in [0, 4], d1 in [0, 6]",
    "(d0, d1) -> (d0, d1), domain: d0 in [0, 4], d1 in [0, 7], d1 + d0 in [0, 10]",
    "(d0, d1) -> (d1, d0), domain: d0 in [0, 4], d1 in [0, 7]",
    "(d0, d1) -> (d0, d1 + 1), domain: d0 in [0, 4], d1 in [0, 7]",
    "(d0, d1) -> (d0 + d1, d1), domain: d0 in [0, 4], d1 in [0, 7]",
])  # fmt: skip
def test_a_dimension_that_one_map_does_more_with_is_part_of_the_table(changed: str) -> None:
    whole = family("(d0, d1) -> (d0, d1), domain: d0 in [0, 9], d1 in [0, 7]")
    halves = family(changed, "(d0, d1) -> (d0, d1), domain: d0 in [5, 9], d1 in [0, 7]")
    assert same_pairs(whole, halves) is False
    assert same_relation(whole, halves).counterexample is not None


def test_what_is_too_large_or_read_at_run_time_is_left_to_others() -> None:
    large = family("(d0) -> (d0 * 2), domain: d0 in [0, 1000000000]")
    read = family("(d0){rt0} -> (d0 + rt0), domain: d0 in [0, 9], rt0 in [0, 4]")
    assert same_pairs(large, large) is same_pairs(read, read) is None


def test_empty_maps_have_no_pairs() -> None:
    one = family("(d0) -> (d0), domain: d0 in [0, 9]")
    nothing = family("(d0) -> (d0), domain: d0 in [0, -1]")
    assert same_pairs(one, [*one, *nothing])
    assert same_pairs(nothing, [])
    assert same_pairs(one, nothing) is False
