"""Large concrete questions are all decided: 8 dimensions, 12 nested divisions, extents up to 2^31."""

from __future__ import annotations

import math
import random

import pytest

from indexproof.core.expr import Expr, integer, maximum, minimum, var
from indexproof.core.indexing_map import IndexingMap
from indexproof.core.interval import Interval
from indexproof.verify.concrete import (
    Fact,
    Option,
    Problem,
    covering_domains,
    equal_exprs,
    equal_maps,
    in_bounds,
    inverse,
)
from indexproof.verify.concrete import enumerate as enumeration
from indexproof.verify.concrete.problem import size

DIMS = [var(f"d{k}") for k in range(8)]
WIDE = [(d.name, 0, 2**31 - 1) for d in DIMS]


def extents(rng: random.Random, total: int, rank: int) -> list[int]:
    """Return ``rank`` factors with the product ``total``."""
    out = [1] * rank
    p = 2
    while total > 1:
        while total % p == 0:
            out[rng.randrange(rank)] *= p
            total //= p
        p += 1
    return out


def collapsed(index: list[Expr], shape: list[int]) -> Expr:
    total: Expr = integer(0)
    for i, n in zip(index, shape, strict=True):
        total = total * n + i
    return total


def expanded(flat: Expr, shape: list[int]) -> list[Expr]:
    stride, out = math.prod(shape), []
    for n in shape:
        stride //= n
        out.append((flat // stride) % n if out else flat // stride)
    return out


@pytest.mark.parametrize("rank", [4, 8])
@pytest.mark.parametrize("total", [2**31, 2**20 * 3**5 * 5, 2**16 * 3**8 * 7**3 * 11])
def test_chains_of_reshapes(total: int, rank: int) -> None:
    rng = random.Random(total + rank)
    first = extents(rng, total, rank)
    box = [(d.name, 0, n - 1) for d, n in zip(DIMS, first, strict=False)]
    index: list[Expr] = list(DIMS[:rank])
    shape = first
    for _ in range(6):
        following = extents(rng, total, rng.randint(3, 8))
        index, shape = expanded(collapsed(index, shape), following), following
    direct = expanded(collapsed(list(DIMS[:rank]), first), shape)
    assert equal_exprs(index, direct, box).proved

    # wrong only at the last few of up to 10^12 points
    wrong = [*direct[:-1], direct[-1] + collapsed(list(DIMS[:rank]), first) // (total - 3)]
    answer = equal_exprs(index, wrong, box)
    assert answer.verdict == "REFUTED", answer
    found = answer.counterexample
    assert found.left != found.right
    assert collapsed(list(DIMS[:rank]), first).evaluate(found.values) >= total - 3


@pytest.mark.parametrize("seed", range(4))
def test_twelve_nested_divisions(seed: int) -> None:
    rng = random.Random(seed)
    nested: Expr = DIMS[0]
    flat: Expr = DIMS[0]
    c = 1
    for k in range(12):
        d = rng.choice((2, 3, 5, 7))
        nested, c = nested // d, c * d
        if k % 2:
            nested, flat = nested + DIMS[k // 2], flat + DIMS[k // 2] * c
    answer = equal_exprs(nested, flat // c, WIDE)
    assert answer.proved, answer
    answer = equal_exprs(nested, (flat + c // 2) // c, WIDE)
    assert answer.counterexample is not None, answer
    assert answer.counterexample.left != answer.counterexample.right


@pytest.mark.parametrize("seed", range(4))
def test_divisions_that_do_not_flatten(seed: int) -> None:
    rng = random.Random(seed)
    e: Expr = DIMS[0]
    for k in range(12):
        d = rng.choice((2, 3, 5, 7, 1000, 4099))
        e = (e * rng.choice((1, 1, 3)) + DIMS[k % 8]) // d + DIMS[(k + 3) % 8] % rng.choice((3, 4, 10))
    d1, d5 = DIMS[1], DIMS[5]
    same = e.substitute({d1: d1 // 6 * 6 + d1 % 6, d5: d5 // 35 * 35 + (d5 // 5 % 7) * 5 + d5 % 5})
    assert equal_exprs(e, same, WIDE).proved
    other = e.substitute({d5: d5 // 35 * 35 + (d5 // 5 % 7) * 5 + d5 % 4})
    assert equal_exprs(e, other, WIDE).verdict != "UNDECIDED"
    assert in_bounds(IndexingMap.of(WIDE, results=[e]), [2**40]).proved


def test_maps_of_eight_dimensions() -> None:
    shape = [16, 16, 16, 16, 16, 16, 16, 8]
    index: list[Expr] = list(DIMS)
    box = [(d.name, 0, n - 1) for d, n in zip(DIMS, shape, strict=True)]
    collapse = IndexingMap.of(box, results=[collapsed(index, shape)])
    expand = IndexingMap.of([("d0", 0, 2**31 - 1)], results=expanded(DIMS[0], shape))
    assert inverse(collapse, expand).proved
    assert equal_maps(collapse.compose(expand), IndexingMap.of(box, results=index)).proved
    assert not inverse(collapse, expand.with_(results=(*expand.results[:-1], DIMS[0] % 4))).proved


def test_coverage_by_many_pieces() -> None:
    def piece(k: int, size: int) -> IndexingMap:
        return IndexingMap.of([("d0", 0, 255_999)], constraints=[(DIMS[0], 1000 * k, 1000 * k + size - 1)])

    assert covering_domains([piece(k, 1000) for k in range(256)], [256_000]).proved
    answer = covering_domains([piece(k, 999 if k == 200 else 1000) for k in range(256)], [256_000])
    assert answer.counterexample.values == {"d0": 200_999}


def test_minima_and_maxima() -> None:
    x, y, z = DIMS[:3]
    assert equal_exprs(minimum(x, maximum(y, z)), maximum(minimum(x, y), minimum(x, z)), WIDE, confirm=True).proved
    answer = equal_exprs(minimum(x, maximum(y, z)), maximum(minimum(x, y), minimum(x - 5, z)), WIDE)
    assert sum(answer.counterexample.values.values()) == 2
    clamp = maximum(0, minimum(x - 7, 2**20))
    assert equal_exprs(clamp // 4, maximum(0, minimum((x - 7) // 4, 2**18)), WIDE).proved


def test_thousands_of_nested_operations() -> None:
    e: Expr = DIMS[0]
    for k in range(3_000):
        e = (e + k) // 2
    assert equal_exprs(e, e, WIDE[:1]).proved
    assert equal_exprs(e + DIMS[1] * 4 // 2, e + DIMS[1] * 2, WIDE[:2]).proved


d, s, t, u = map(var, "dstu")


def test_what_a_box_says_of_a_variable_is_no_fact() -> None:
    problem = Problem(
        ((d, Interval(0, 9)), (s, Interval(0, 1 << 40))),
        (),
        (Option((Fact(d - u, Interval(0, 0)), Fact(s, Interval(-1, 1 << 40))), ((u, Interval(0, 9)),)),),
    )
    simple = problem.simplified()
    assert simple[0].variables == ((d, Interval(0, 9)),)
    assert simple[1] == {s: 0}
    narrower = Problem(problem.variables, (), (Option((Fact(s, Interval(0, 1 << 39)),)),)).simplified()
    assert narrower[0].options[0].facts


def test_boxes_are_cut_into_parts() -> None:
    box = ((d, Interval(-3, 8)), (s, Interval(5, 90)), (t, Interval(2, 2)))
    parts = list(enumeration._parts(Problem(box), 50))
    points = [
        (a, b, c)
        for p in parts
        for a in range(int(p.variables[0][1].lo), int(p.variables[0][1].hi) + 1)
        for b in range(int(p.variables[1][1].lo), int(p.variables[1][1].hi) + 1)
        for c in range(int(p.variables[2][1].lo), int(p.variables[2][1].hi) + 1)
    ]
    assert all(size(p.variables) <= 50 for p in parts)
    assert sorted(points) == [(a, b, 2) for a in range(-3, 9) for b in range(5, 91)]


def test_parts_together_have_the_first_counterexample() -> None:
    box = ((d, Interval(-2000, 2000)), (s, Interval(-2000, 2000)))
    problem = Problem(box, (), (Option((Fact(d + s * 3, Interval(-4000, 4000)),)),))
    assert enumeration.decide(problem).status == "open"
    found = enumeration.decide(problem, 1 << 25)
    assert found.status == "fails"
    assert problem.violated_by(found.point)
    assert found.point == (0, 1334)
    inside = Problem(box, (), (Option((Fact(d + s * 3, Interval(-8000, 8000)),)),))
    assert enumeration.decide(inside, 1 << 25).status == "holds"
