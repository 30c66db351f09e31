"""Merging of maps: the relation stays the same, and the number of maps is as small as expected."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable

import numpy as np
import pytest

from indexproof.core.analysis.merge import covers, merged
from indexproof.core.analysis.projection import projected
from indexproof.core.analysis.summaries import normalized
from indexproof.core.expr import Expr, integer, linear, var
from indexproof.core.indexing_map import Constraint, IndexingMap, RuntimeSource, RuntimeVariable, Variable
from indexproof.core.simplify_map import simplify_map
from indexproof.core.text import format_map, parse_map
from indexproof.rules.catalog import RULES

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


def test_what_one_dimension_says_of_one_result() -> None:
    halves = [
        parse_map("(d0, d1) -> ((d0 - 1) floordiv 2, d1), domain: d0 in [1, 15], d1 in [0, 7], d0 mod 2 in [1, 1]"),
        parse_map("(d0, d1) -> (d0 floordiv 2 - 1, d1), domain: d0 in [2, 14], d1 in [0, 7], d0 mod 2 in [0, 0]"),
    ]  # fmt: skip
    for maps in (halves, halves[::-1]):
        (found,) = merged(maps)
        assert relation([found]) == relation(maps)
        assert format_map(found) == "(d0, d1) -> ((d0 - 1) floordiv 2, d1), domain: d0 in [1, 15], d1 in [0, 7]"
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
        ("(d0){rt0} -> (rt0), domain: d0 in [0, 2], rt0 in [0, 4]",
            "(d0){rt0} -> (rt0), domain: d0 in [3, 3], rt0 in [1, 4]"),
    ):  # fmt: skip
        maps = [parse_map(t) for t in texts]
        assert merged(maps) == maps


@pytest.mark.parametrize("seed", range(150))
def test_random_families_keep_their_relation(seed: int) -> None:
    """Merging keeps the relation of shuffled random progressions with some maps missing and others added."""
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


# -------------------- Maps with fewer ranges have the relation that they had, and what one map covers, it has
FEWER = [
    ("(d0)[s0, s1] -> (s0 + s1 - 1), domain: d0 in [0, 5], s0 in [0, 2], s1 in [0, 2], s0 + s1 in [1, 3]",
     "(d0)[s0] -> (s0 - 1), domain: d0 in [0, 5], s0 in [1, 3]"),
    ("(d0)[s0, s1] -> (d0 + s0 + s1 - 2), domain: d0 in [0, 5], s0 in [0, 2], s1 in [0, 2], d0 + s0 in [1, 6], "
     "d0 + s0 + s1 in [2, 7]",
     "(d0)[s0] -> (d0 + s0 - 2), domain: d0 in [0, 5], s0 in [0, 4], d0 + s0 in [2, 7]"),
    ("(d0)[s0] -> ((d0 - s0 + 1) floordiv 2), domain: d0 in [0, 9], s0 in [0, 2], (d0 - s0 + 1) mod 2 in [0, 0]",
     "(d0)[s0] -> (s0), domain: d0 in [0, 9], s0 in [-1, 5], d0 - s0 * 2 in [-1, 1]"),
    ("(d0)[s0] -> (s0 floordiv 8, s0 mod 8), domain: d0 in [0, 3], s0 in [0, 63]",
     "(d0)[s0, s2] -> (s0, s2), domain: d0 in [0, 3], s0 in [0, 7], s2 in [0, 7]"),
    ("(d0)[s0] -> (d0), domain: d0 in [0, 3], s0 in [0, 63], s0 mod 8 in [3, 3]",
     "(d0) -> (d0), domain: d0 in [0, 3]"),
    ("(d0)[s0, s1] -> (s0 * 3 + s1 * 6), domain: d0 in [0, 3], s0 in [0, 1], s1 in [0, 4]",
     "(d0)[s0] -> (s0 * 3), domain: d0 in [0, 3], s0 in [0, 9]"),
    ("(d0)[s0, s1] -> (s0 floordiv 4, s1), domain: d0 in [0, 3], s0 in [0, 7], s1 in [0, 3], s1 - s0 mod 4 in [0, 3], "
     "d0 - s1 in [0, 3]",
     "(d0)[s0, s1] -> (s0, s1), domain: d0 in [0, 3], s0 in [0, 1], s1 in [0, 3]"),
    # without this the compiled scan of 1,000 rows takes minutes
    ("(d0)[s0, s1] -> (s0), domain: d0 in [0, 63], s0 in [0, 63], s1 in [0, 7], s0 - s1 * 8 in [2, 5], "
     "(d0 floordiv 16) * -4 + s1 in [-4, -1]",
     "(d0)[s0] -> (s0), domain: d0 in [0, 63], s0 in [0, 63]"),
]  # fmt: skip


@pytest.mark.parametrize(("given", "wanted"), FEWER)
def test_ranges_that_leave(given: str, wanted: str) -> None:
    found = projected(parse_map(given))
    assert found.relation() == parse_map(given).relation()
    found = simplify_map(found, RULES)
    assert (len(found.ranges), found.results) == (len(parse_map(wanted).ranges), parse_map(wanted).results)


def drawn(rng: random.Random) -> IndexingMap:
    dims = [Variable(f"d{k}", 0, rng.randint(0, 4)) for k in range(rng.randint(0, 2))]
    ranges = [Variable(f"s{k}", lo := rng.randint(-2, 1), lo + rng.randint(0, 4)) for k in range(rng.randint(1, 4))]
    variables = [v.expr for v in (*dims, *ranges)]

    def expr() -> Expr:
        factors = (1, 1, 1, -1, 2, 3, -2)
        e = linear(rng.randint(-2, 2), [(rng.choice(variables), rng.choice(factors)) for _ in range(rng.randint(1, 3))])
        kind = rng.random()
        if kind < 0.1:
            return e // rng.randint(2, 4) + rng.choice(variables)
        return e % rng.randint(2, 4) if kind < 0.25 else e

    constraints = [
        Constraint(expr(), lo := rng.randint(-3, 2), lo + rng.choice((0, 0, 1, 3, 6))) for _ in range(rng.randint(0, 3))
    ]
    results = tuple(expr() for _ in range(rng.randint(0, 2)))
    return IndexingMap(tuple(dims), tuple(ranges), (), results, tuple(constraints))


def test_the_relation_stays() -> None:
    rng = random.Random(7)
    changed = fewer = 0
    for _ in range(1500):
        m = drawn(rng)
        found = projected(m)
        assert found.relation() == m.relation(), m
        changed += found != m
        fewer += len(found.ranges) < len(m.ranges)
    assert changed > 500
    assert fewer > 400


def test_what_is_covered_is_there() -> None:
    rng = random.Random(11)
    seen = 0
    for _ in range(3000):
        m, other = drawn(rng), drawn(rng)
        wide = m.with_(ranges=tuple(Variable(v.name, v.lo - 1, v.hi + 1) for v in m.ranges))
        for outer, inner in ((m, other), (wide, m), (m, wide)):
            if covers(outer, inner):
                seen += 1
                assert inner.relation() <= outer.relation(), (outer, inner)
    assert seen > 100


def test_a_value_is_covered_where_it_is_read_alike() -> None:
    d0, s0, s1, rt0 = map(var, ("d0", "s0", "s1", "rt0"))

    def read(results: tuple[Expr, ...], place: Expr) -> IndexingMap:
        return IndexingMap(
            (Variable("d0", 0, 3),),
            (Variable("s0", 0, 3), Variable("s1", 0, 3)),
            (RuntimeVariable("rt0", 0, 3, RuntimeSource("x", (place,))),),
            results,
            (Constraint(d0 - rt0, 0, 0),),
        )

    assert covers(read((s0, s1), s0), read((s0, s1), s0))
    assert not covers(read((s0, s1), s0), read((s0, s0), s1))
    assert not covers(read((s0, s1), s0), read((s1, s0), s0))
    assert covers(read((s0, s1), s0), read((s0, s0), s0).with_(ranges=(Variable("s0", 0, 2), Variable("s1", 0, 3))))


def test_a_value_keeps_the_element_that_holds_it() -> None:
    s0, rt0 = map(var, ("s0", "rt0"))
    source = RuntimeSource("x", (s0 // 4, s0 % 4))
    m = IndexingMap(
        (), (Variable("s0", 0, 15),), (RuntimeVariable("rt0", 0, 3, source),), (s0 // 4, s0 - s0 // 4 * 4, rt0)
    )
    found = projected(m)
    assert [v.size for v in found.ranges] == [4, 4]
    assert found.results[:2] == found.rts[0].source.results == tuple(found.range_vars)


# -------------------------------------------------------- Dropping and numbering variables keeps the relation
@pytest.mark.parametrize(("before", "after"), [
    ("(d0)[s0, s1] -> (s1), domain: d0 in [0, 3], s0 in [0, 4], s1 in [0, 5]",
        "(d0)[s0] -> (s0), domain: d0 in [0, 3], s0 in [0, 5]"),
    ("(d0)[s0, s1] -> (s1, s0), domain: d0 in [0, 3], s0 in [0, 4], s1 in [0, 5]",
        "(d0)[s0, s1] -> (s0, s1), domain: d0 in [0, 3], s0 in [0, 5], s1 in [0, 4]"),
    ("(d0)[s0, s1] -> (d0), domain: d0 in [0, 3], s0 in [0, 4], s1 in [0, 5], s1 + d0 in [0, 4]",
        "(d0)[s0] -> (d0), domain: d0 in [0, 3], s0 in [0, 5], d0 + s0 in [0, 4]"),
    ("(d0){rt0, rt1} -> (d0 + rt1), domain: d0 in [0, 3], rt0 in [0, 4], rt1 in [0, 5]",
        "(d0){rt0} -> (d0 + rt0), domain: d0 in [0, 3], rt0 in [0, 5]"),
])  # fmt: skip
def test_examples(before: str, after: str) -> None:
    assert normalized(parse_map(before)) == parse_map(after)


@pytest.mark.parametrize("same", [
    "(d0)[s0] -> (d0), domain: d0 in [0, 3], s0 in [0, -1]",
    "(d0)[s0, s1] -> (s0 + s1), domain: d0 in [0, 3], s0 in [0, 4], s1 in [0, 5]",
    "(d0)[b, a] -> (a, b), domain: d0 in [0, 3], b in [0, 4], a in [0, 5]",
    "() -> ()",
])  # fmt: skip
def test_what_stays(same: str) -> None:
    assert normalized(parse_map(same)) == parse_map(same)


def test_sources_keep_what_they_need() -> None:
    m = IndexingMap.of(
        [("d0", 0, 3)],
        [("s0", 0, 2), ("s1", 0, 2)],
        [
            ("rt0", 0, 5, RuntimeSource("a", (var("s1"),))),
            ("rt1", 0, 5, RuntimeSource("b", (var("rt0"),))),
            ("rt2", 0, 5, RuntimeSource("c", (var("s0"),))),
        ],
        [var("d0") + var("rt1")],
    )
    assert normalized(m) == IndexingMap.of(
        [("d0", 0, 3)],
        [("s0", 0, 2)],
        [("rt0", 0, 5, RuntimeSource("b", (var("rt1"),))), ("rt1", 0, 5, RuntimeSource("a", (var("s0"),)))],
        [var("d0") + var("rt0")],
    )


def test_equal_runtime_values_are_one() -> None:
    def source(name: str, *index: Expr) -> RuntimeSource:
        return RuntimeSource(name, index)

    rts = [
        ("rt0", 0, 5, source("a")),
        ("rt1", 0, 5, source("b", var("rt2"))),
        ("rt2", 0, 5, source("a")),
        ("rt3", 0, 5, source("b", var("rt0"))),
        ("rt4", 0, 4, source("a")),
    ]
    total = sum((var(f"rt{k}") for k in range(5)), integer(0))
    m = IndexingMap.of([("d0", 0, 3)], [], rts, [total], [(var("rt1") - var("rt3") + var("d0"), 0, 2)])
    made = normalized(m)
    assert [(v.hi, v.source.hlo) for v in made.rts if v.source] == [(5, "a"), (5, "b"), (4, "a")]
    assert str(made.results[0]) == "2·rt0 + 2·rt1 + rt2"
    assert [str(c.expr) for c in made.constraints] == ["d0"]
    for a, b in itertools.product(range(-1, 7), range(-1, 7)):
        operands = {"a": np.array(a), "b": np.arange(6) * b}
        assert made.relation(operands=operands) == m.relation(operands=operands)


@pytest.mark.parametrize("seed", range(100))
def test_normalized_the_relation_stays(seed: int) -> None:
    rng = random.Random(seed)
    names = [("d0", 3), ("d1", 2), ("s0", 3), ("s1", 1), ("s2", rng.choice((0, 2))), ("s3", 2)]

    def some() -> Expr:
        e: Expr = integer(rng.randint(-1, 1))
        for name, _ in rng.sample(names, 2):
            e = e + rng.choice((-1, 1, 2)) * var(name)
        return rng.choice((e, e // 2, e % 3))

    m = IndexingMap.of(
        [(n, 0, k - 1) for n, k in names[:2]],
        [(n, 0, k - 1) for n, k in names[2:]],
        [],
        [some() for _ in range(rng.randint(0, 2))],
        [(some(), 0, 2) for _ in range(rng.randint(0, 2))],
    )
    made = normalized(m)
    assert made.relation() == m.relation()
    assert normalized(made) == made
    mentioned = set(itertools.chain(*(e.variables() for e in made.roots)))
    assert all(v.expr in mentioned or v.size == 0 for v in made.ranges)
