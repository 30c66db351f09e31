"""Realistic maps with the shapes of their targets: of ops, layouts, launches and tilings."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Iterator
from math import prod

from indexproof.core.expr import integer, lift, minimum, var
from indexproof.core.indexing_map import Constraint, IndexingMap, Variable
from indexproof.core.launch import Launch
from indexproof.core.layout import memory
from indexproof.core.op import DIRECTIONS, Case, concrete
from indexproof.rules.ops import OPS
from indexproof.verify.concrete import Answer
from indexproof.verify.properties import (
    aligned,
    bijective,
    contiguous,
    covers,
    disjoint,
    in_bounds,
    injective,
    inverse,
    monotone,
)

Shaped = tuple[IndexingMap, tuple[int, ...]]

SMALL = (1, 2, 3, 4)
LARGE = (1, 2, 3, 7, 8, 16, 30, 64, 100, 128, 256, 1000, 4096)


#: An element of an operand, or the name of a runtime variable without a source.
Element = tuple[str, tuple[int, ...]]


def elements(m: IndexingMap, point: tuple[int, ...]) -> list[Element]:
    """Return what each runtime variable has the value of at a point; sources depend on no runtime values."""
    env = dict(zip((v.expr for v in (*m.dims, *m.ranges)), point, strict=True))
    return [
        (r.name, ()) if r.source is None else (r.source.hlo, tuple(e.evaluate(env) for e in r.source.results))
        for r in m.rts
    ]


class Table:
    """The table of points and targets of a map, for one value of each element that it reads."""

    def __init__(self, m: IndexingMap, shape: tuple[int, ...], values: dict[Element, int]) -> None:
        self.box = [range(v.lo, v.hi + 1) for v in (*m.dims, *m.ranges)]
        self.names = [v.name for v in (*m.dims, *m.ranges)]
        self.shape = shape
        self.rank = rank = len(m.dims)
        self.rows: dict[tuple[int, ...], tuple[int, ...]] = {}
        for point in itertools.product(*self.box):
            read = zip(m.rts, elements(m, point), strict=True)
            target = m.evaluate(point[:rank], point[rank:], [min(max(values[e], r.lo), r.hi) for r, e in read])
            if target is not None:
                self.rows[point] = target

    def place(self, target: tuple[int, ...]) -> int:
        total = 0
        for x, n in zip(target, self.shape, strict=True):
            total = total * n + x
        return total

    def injective(self, over: list[int]) -> bool:
        owners: dict[tuple[int, ...], set[tuple[int, ...]]] = {}
        for point, target in self.rows.items():
            owners.setdefault(target, set()).add(tuple(point[k] for k in over))
        return all(len(found) == 1 for found in owners.values())

    def in_bounds(self) -> bool:
        return all(0 <= x < n for t in self.rows.values() for x, n in zip(t, self.shape, strict=True))

    def covers(self) -> bool:
        return {*itertools.product(*map(range, self.shape))} <= {*self.rows.values()}

    def contiguous(self, k: int, width: int) -> bool:
        first = self.box[k].start
        for point, target in self.rows.items():
            start = point[k] - (point[k] - first) % width
            for x in range(start, start + width):
                other = self.rows.get((*point[:k], x, *point[k + 1 :]))
                if other is None or self.place(other) - self.place(target) != x - point[k]:
                    return False
        return True

    def aligned(self, by: int, k: int) -> bool:
        starts = (t for p, t in self.rows.items() if (p[k] - self.box[k].start) % by == 0)
        return all(self.place(t) % by == 0 for t in starts)

    def monotone(self, strict: bool) -> bool:
        targets = [t for _, t in sorted(self.rows.items())]
        return all(a < b if strict else a <= b for a, b in itertools.pairwise(targets))

    def monotone_along(self, k: int) -> bool:
        lines: dict[tuple[int, ...], list[tuple[int, ...]]] = {}
        for point, target in sorted(self.rows.items()):
            lines.setdefault((*point[:k], *point[k + 1 :]), []).append(target)
        return all(a <= b for line in lines.values() for a, b in itertools.pairwise(line))

    def apart_from_next(self) -> bool:
        """Return whether no two targets are neighbours along the first dimension."""
        found = {*self.rows.values()}
        return not any((t[0] + 1, *t[1:]) in found for t in found)

    def own_inverse(self) -> bool:
        pairs = {(point[: self.rank], target) for point, target in self.rows.items()}
        return all((target, source) in pairs for source, target in pairs)


def tables(m: IndexingMap, shape: tuple[int, ...]) -> list[Table] | None:
    """Return a table for each combination of values of the elements read, or None if that is much work."""
    points = [*itertools.product(*(range(v.lo, v.hi + 1) for v in (*m.dims, *m.ranges)))]
    boxes: dict[Element, range] = {}
    for point in points:
        for r, e in zip(m.rts, elements(m, point), strict=True):
            known = boxes.get(e, range(r.lo, r.hi + 1))
            boxes[e] = range(min(known.start, r.lo), max(known.stop, r.hi + 1))
    if len(points) > 400 or len(points) * prod(map(len, boxes.values())) > 50_000:
        return None
    return [Table(m, shape, dict(zip(boxes, values, strict=True))) for values in itertools.product(*boxes.values())]


def questions(
    m: IndexingMap, shape: tuple[int, ...]
) -> Iterator[tuple[str, Callable[[], Answer], Callable[[Table], bool]]]:
    """Yield for every property of a map its name, the question, and its decision on a table."""
    names = [v.name for v in (*m.dims, *m.ranges)]
    everything = [*range(len(names))]
    yield "injective", lambda: injective(m), lambda t: t.injective(everything)
    yield "in_bounds", lambda: in_bounds(m, shape), Table.in_bounds
    yield "covers", lambda: covers(m, shape), Table.covers
    yield ("bijective", lambda: bijective(m, shape), lambda t: t.in_bounds() and t.injective(everything) and t.covers())
    yield "monotone", lambda: monotone(m), lambda t: t.monotone(False)
    yield "monotone", lambda: monotone(m, strict=True), lambda t: t.monotone(True)
    if m.results:
        moved = m.with_(results=(m.results[0] + 1, *m.results[1:]))
        yield "disjoint", lambda: disjoint(m, moved), Table.apart_from_next
    if len(m.dims) == len(m.results):
        yield "inverse", lambda: inverse(m, m), Table.own_inverse
    if names:
        k = len(names) - 1
        yield "injective", lambda: injective(m, names[:1]), lambda t: t.injective([0])
        yield "monotone", lambda: monotone(m, names[k]), lambda t: t.monotone_along(k)
        for n in (2, 3):
            yield ("contiguous", lambda n=n: contiguous(m, names[k], n, shape), lambda t, n=n: t.contiguous(k, n))
            yield ("aligned", lambda n=n: aligned(m, n, shape, names[k]), lambda t, n=n: t.aligned(n, k))


def corpus(count: int, sizes: tuple[int, ...], seed: int) -> Iterator[Shaped]:
    """Yield maps of each kind in equal numbers, with sizes from ``sizes``."""
    rng = random.Random(seed)
    cases = [case for op in OPS.values() for rank in (1, 2, 3) for case in op.cases(rank)]
    kinds = (lambda: _of_op(rng, rng.choice(cases), sizes), lambda: _of_layout(rng, sizes))
    kinds += (lambda: _of_launch(rng, sizes), lambda: _of_tiling(rng, sizes))
    for k in range(count):
        found = None
        while found is None:
            found = kinds[k % len(kinds)]()
        yield found


def _of_op(rng: random.Random, case: Case, sizes: tuple[int, ...]) -> Shaped | None:
    values = {v: rng.choice(sizes) for v in case.symbols}
    try:
        legal = all(c.evaluate(values) for c in case.hypotheses)
    except ZeroDivisionError:
        legal = False
    op, shapes = case.instance(values)
    if not legal or not op.arity or op.results != 1:
        return None
    k, direction = rng.randrange(op.arity), rng.choice(DIRECTIONS)
    targets = shapes[k] if direction == "output_to_input" else op.shape(*shapes)
    return concrete(op, k, direction, shapes), tuple(int(lift(n).evaluate({})) for n in targets)


def _of_layout(rng: random.Random, sizes: tuple[int, ...]) -> Shaped:
    rank = rng.randint(1, 3)
    dims = [rng.choice(sizes) for _ in range(rank)]
    order = rng.sample(range(rank), rank)
    tile = [rng.choice(sizes[:8]) for _ in range(rng.randint(1, rank))]
    tiles = f":T({','.join(map(str, tile))})" if rng.random() < 0.6 else ""
    text = f"f32[{','.join(map(str, dims))}]{{{','.join(map(str, order))}{tiles}}}"
    at = memory(text)
    return (at.forward, (at.size,)) if rng.random() < 0.7 else (at.backward, tuple(dims))


def _of_launch(rng: random.Random, sizes: tuple[int, ...]) -> Shaped:
    dims = [rng.choice(sizes) for _ in range(rng.randint(1, 3))]
    threads, blocks = ([rng.choice(sizes[:8]) for _ in range(rng.randint(1, 2))] for _ in range(2))
    at = Launch(tuple(threads), tuple(blocks), unroll=rng.choice((1, 2, 4)), warp=4).over(
        f"f32[{','.join(map(str, dims))}]"
    )
    return rng.choice((at.places, at.thread_map, at.block_map)), tuple(dims)


def _of_tiling(rng: random.Random, sizes: tuple[int, ...]) -> Shaped:
    """Return a map from tile numbers and positions within tiles to elements, which is sometimes wrong."""
    dims, ranges, results, where, shape = [], [], [], [], []
    for k in range(rng.randint(1, 3)):
        n, tile = rng.choice(sizes), rng.choice(sizes[:8])
        step = tile if rng.random() < 0.8 else max(1, tile + rng.choice((-1, 1)))
        t, i = var(f"d{k}"), var(f"s{k}")
        dims.append(Variable(t.name, 0, -(-n // tile) - 1))
        ranges.append(Variable(i.name, 0, tile - 1))
        e = t * step + i
        if rng.random() < 0.3:
            e = minimum(e, integer(n - 1))
        elif rng.random() < 0.8:
            where.append(Constraint(e, 0, n - 1))
        results.append(e)
        shape.append(n)
    return IndexingMap(tuple(dims), tuple(ranges), (), tuple(results), tuple(where)), tuple(shape)
