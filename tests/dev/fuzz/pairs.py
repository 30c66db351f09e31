"""Random pairs of maps for the portfolio, and for comparison at all points of small boxes."""

from __future__ import annotations

import itertools
import random
from dataclasses import replace

from dev.fuzz.generate import random_map
from indexproof import simplify
from indexproof.core.expr import Expr, add, maximum, minimum
from indexproof.core.indexing_map import IndexingMap, Variable
from indexproof.verify.concrete import Answer
from indexproof.verify.verdict import Status

__all__ = ["agrees", "changed", "cut_down", "pair", "wide_pair"]

#: Limits on the points of a cut-down map and on the values of each variable.
_POINTS = 4000
_VALUES = 5


def changed(rng: random.Random, m: IndexingMap) -> IndexingMap:
    """Return ``m`` with a change that may change its relation."""
    results = list(m.results)
    kind = rng.randrange(5)
    if kind == 0 and results:
        k = rng.randrange(len(results))
        results[k] = results[k] + rng.choice((0, 1, results[k] // 1000))
    if kind == 1 and m.constraints:
        return m.with_(constraints=m.constraints[1:])
    if kind == 2 and m.dims:
        v = m.dims[0]
        return m.with_(dims=(replace(v, hi=v.hi + rng.choice((-1, 0, 1))), *m.dims[1:]))
    if kind == 3 and results:
        e: Expr = results[0]
        results[0] = e // 3 * 3 + e % 3
    return m.with_(results=tuple(results))


def pair(seed: int, index: int) -> tuple[IndexingMap, IndexingMap]:
    """Return a random map, and the map after simplification, a change, or both."""
    rng = random.Random(f"{seed}:{index}:pair")
    m = random_map(seed, index)
    kind = rng.randrange(3)
    other = simplify(m) if kind != 1 else m
    return m, changed(rng, other) if kind else other


def wide_pair(seed: int, index: int) -> tuple[IndexingMap, IndexingMap]:
    """Return two maps with coefficients from 2^30 to 2^62 that differ in a term, a bound or the spelling."""
    rng = random.Random(f"{seed}:{index}:wide")

    def number() -> int:
        return rng.choice((1, 1, -1)) * rng.randrange(2**30, 2**62)

    def divisor() -> int:
        return rng.choice((2, 7, 16, 30, 1024, 2 ** rng.randrange(30, 63), abs(number())))

    sizes = (1, 5, 15, 1000, 2**31 - 1, 2**62 - 1)
    variables = [Variable(n, 0, rng.choice(sizes)) for n in ("d0", "d1", "s0", "s1")[: rng.choice((2, 3, 4))]]
    if rng.random() < 0.5:
        variables = [v for v in variables if v.name != "d1"]

    def deep(depth: int) -> Expr:
        if not depth:
            return rng.choice(variables).expr
        parts = [deep(rng.randrange(depth)) * rng.choice((1, 1, 7, -3, number())) for _ in range(rng.choice((1, 2)))]
        e = add(rng.choice((0, 0, 1, number())), *parts)
        kind = rng.randrange(8)
        if kind < 3:
            return e % divisor()
        if kind < 6:
            return e // divisor()
        return e if kind == 6 else rng.choice((minimum, maximum))(e, deep(depth - 1))

    results = [add(*(deep(2) * number() for _ in range(rng.choice((1, 2))))) for _ in range(rng.choice((1, 1, 2)))]
    first = results[0]
    kind, c = rng.randrange(5), divisor()
    other = [
        first + deep(1) * number(),
        first + rng.choice((0, 1, number())),
        first // c * c + first % c,
        first + (deep(2) * number()) // 2**62,
        (first * 2 + number() % 2) // 2,
    ][kind]
    dims, ranges = (tuple(v for v in variables if v.name[0] == k) for k in "ds")
    one = IndexingMap(dims, ranges, (), tuple(results), ())
    two = one.with_(results=(other, *results[1:]))
    return (one, two) if rng.random() < 0.5 else (two, one)


def cut_down(left: IndexingMap, right: IndexingMap) -> tuple[IndexingMap, IndexingMap]:
    """Return the same maps with only a few values of each variable."""

    number = max(1, len(left.variables), len(right.variables))
    values = min(_VALUES, int(_POINTS ** (1 / number)))

    def few(v: Variable) -> Variable:
        return replace(v, hi=min(v.hi, v.lo + values - 1))

    def cut(m: IndexingMap) -> IndexingMap:
        rts = tuple(replace(r, hi=min(r.hi, r.lo + 1)) for r in m.rts)
        return m.with_(dims=tuple(map(few, m.dims)), ranges=tuple(map(few, m.ranges)), rts=rts)

    return cut(left), cut(right)


def _relation(m: IndexingMap) -> set[tuple[tuple[int, ...], tuple[int, ...]]]:
    dims, ranges = ([range(v.lo, v.hi + 1) for v in g] for g in (m.dims, m.ranges))
    points = itertools.product(itertools.product(*dims), itertools.product(*ranges))
    return {(d, t) for d, s in points if (t := m.evaluate(d, s)) is not None}


def agrees(left: IndexingMap, right: IndexingMap, answer: Answer) -> bool:
    """Return whether the answer agrees with evaluation at all points; for maps without runtime variables."""
    return answer.verdict is (Status.PROVED if _relation(left) == _relation(right) else Status.REFUTED)
