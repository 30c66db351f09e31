"""Dropping and numbering variables keeps the relation."""

from __future__ import annotations

import itertools
import random

import numpy as np
import pytest

from indexproof.core.analysis.summaries import normalized
from indexproof.core.expr import Expr, integer, var
from indexproof.core.indexing_map import IndexingMap, RuntimeSource
from indexproof.core.text import parse_map


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
def test_the_relation_stays(seed: int) -> None:
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
