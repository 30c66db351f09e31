"""Concrete questions always get an answer: maps of 8 dimensions, 12 nested divisions, extents to 2^31."""

from __future__ import annotations

import random

import pytest

from indexproof.core.expr import Expr, ceildiv, lift, maximum, minimum
from indexproof.core.indexing_map import IndexingMap, Variable
from indexproof.core.simplify_map import simplify_map
from indexproof.reports.layouts import READABLE
from indexproof.verify.concrete import equal_maps
from indexproof.verify.verdict import Status

MOST = 2**31


def _extent(rng: random.Random) -> int:
    kind = rng.randrange(4)
    if kind == 0:
        return rng.randint(1, 9)
    if kind == 1:
        return 2 ** rng.randint(1, 31)
    if kind == 2:
        return rng.randint(2, 4096)
    return rng.randint(2, MOST)


def _nested(rng: random.Random, e: Expr, dims: list[Expr], depth: int) -> Expr:
    """``depth`` divisions, one inside the other."""
    for _ in range(depth):
        divisor = rng.choice([2, 3, 4, 5, 7, 8, 12, 16, 60, 128, 1000])
        match rng.randrange(6):
            case 0 | 1:
                e = e // divisor
            case 2 | 3:
                e = e % (divisor * rng.choice([1, 1, 64, 4096]))
            case 4:
                e = ceildiv(e, divisor)
            case 5:
                e = (e + rng.randint(-9, 9)) // divisor
        if rng.random() < 0.4:
            e = e * rng.choice([2, 3, 5, divisor]) + rng.choice(dims) * rng.choice([-1, 1, 4])
        if depth <= 4 and rng.random() < 0.1:
            e = rng.choice([minimum, maximum])(e, rng.choice(dims))
    return e


def random_map(rng: random.Random, most: int = 12) -> IndexingMap:
    """Up to 8 dimensions and up to ``most`` nested divisions in a result."""
    variables = tuple(Variable(f"d{k}", 0, _extent(rng) - 1) for k in range(rng.randint(1, 8)))
    dims = [v.expr for v in variables]
    results = []
    for _ in range(rng.randint(1, 3)):
        total = lift(rng.randint(-5, 5))
        for v in dims:
            total = total + v * rng.choice([0, 1, 1, 2, 6, 24, 1024, 65536])
        results.append(_nested(rng, total, dims, rng.randint(1, most)))
    return IndexingMap(variables, (), (), tuple(results))


def reshape_map(rng: random.Random) -> tuple[IndexingMap, IndexingMap]:
    """Digits of a row-major position in other sizes of the same number of elements, written in two ways."""
    primes = [rng.choice([2, 2, 3, 5, 7, 16]) for _ in range(rng.randint(4, 8))]
    variables = tuple(Variable(f"d{k}", 0, p - 1) for k, p in enumerate(primes))
    place = lift(0)
    for v, p in zip(variables, primes, strict=True):
        place = place * p + v.expr
    rng.shuffle(primes)
    direct, peeled, stride, rest = [], [], 1, place
    for k, n in enumerate(primes):
        digit = place // stride
        direct.append(digit if k == len(primes) - 1 else digit % n)
        peeled.append(rest if k == len(primes) - 1 else rest % n)
        rest, stride = rest // n, stride * n
    return IndexingMap(variables, (), (), tuple(direct)), IndexingMap(variables, (), (), tuple(peeled))


def _changed(m: IndexingMap, rng: random.Random) -> IndexingMap:
    """The map with a result that is a little different."""
    k = rng.randrange(len(m.results))
    e, v = m.results[k], m.dim_vars[rng.randrange(len(m.dims))]
    other = rng.choice(
        [e + 1, e + v // max(2, m.dims[0].hi // 2 + 1), e + v % 2, minimum(e, 100_000), e - v // MOST]
    )
    return m.with_(results=(*m.results[:k], other, *m.results[k + 1 :]))


@pytest.mark.parametrize("seed", range(4))
def test_every_question_gets_an_answer(seed: int) -> None:
    rng = random.Random(f"stress {seed}")
    for n in range(6):
        m, short = random_map(rng), random_map(rng, 4)
        one, two = reshape_map(rng)
        asked = {
            "simplified": (short, simplify_map(short, READABLE)),
            "changed": (m, _changed(m, rng)),
            "reshaped": (one, two),
            "reshaped and changed": (one, _changed(two, rng)),
        }
        for what, (left, right) in asked.items():
            answer = equal_maps(left, right)
            assert answer.verdict in (Status.PROVED, Status.REFUTED), (seed, n, what, left, right)
            if what in ("simplified", "reshaped"):
                assert answer.verdict is Status.PROVED, (seed, n, left, right)
            if answer.verdict is Status.REFUTED:
                assert answer.counterexample is not None
