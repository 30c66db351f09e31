"""Maps with fewer ranges have the relation that they had, and what one map covers, it has."""

from __future__ import annotations

import random

import pytest

from indexproof import parse_map
from indexproof.core.analysis.merge import covers
from indexproof.core.analysis.projection import projected
from indexproof.core.expr import Expr, linear, var
from indexproof.core.indexing_map import Constraint, IndexingMap, RuntimeSource, RuntimeVariable, Variable
from indexproof.core.simplify_map import simplify_map
from indexproof.rules.catalog import RULES

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
    ranges = [
        Variable(f"s{k}", lo := rng.randint(-2, 1), lo + rng.randint(0, 4)) for k in range(rng.randint(1, 4))
    ]
    variables = [v.expr for v in (*dims, *ranges)]

    def expr() -> Expr:
        factors = (1, 1, 1, -1, 2, 3, -2)
        e = linear(
            rng.randint(-2, 2),
            [(rng.choice(variables), rng.choice(factors)) for _ in range(rng.randint(1, 3))],
        )
        kind = rng.random()
        if kind < 0.1:
            return e // rng.randint(2, 4) + rng.choice(variables)
        return e % rng.randint(2, 4) if kind < 0.25 else e

    constraints = [
        Constraint(expr(), lo := rng.randint(-3, 2), lo + rng.choice((0, 0, 1, 3, 6)))
        for _ in range(rng.randint(0, 3))
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
    assert covers(
        read((s0, s1), s0), read((s0, s0), s0).with_(ranges=(Variable("s0", 0, 2), Variable("s1", 0, 3)))
    )


def test_a_value_keeps_the_element_that_holds_it() -> None:
    s0, rt0 = map(var, ("s0", "rt0"))
    source = RuntimeSource("x", (s0 // 4, s0 % 4))
    m = IndexingMap(
        (),
        (Variable("s0", 0, 15),),
        (RuntimeVariable("rt0", 0, 3, source),),
        (s0 // 4, s0 - s0 // 4 * 4, rt0),
    )
    found = projected(m)
    assert [v.size for v in found.ranges] == [4, 4]
    assert found.results[:2] == found.rts[0].source.results == tuple(found.range_vars)
