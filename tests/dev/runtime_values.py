"""Random maps that read runtime values, compared with enumeration over all contents of the arrays that they read."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from math import prod
from typing import Any

import numpy as np

from indexproof.core.expr import Expr, Integers, integer, interpret, substitute_all
from indexproof.core.facts import Facts
from indexproof.core.indexing_map import Constraint, IndexingMap, RuntimeSource, RuntimeVariable, Variable
from indexproof.verify.concrete import (
    Answer,
    contains,
    covering_domains,
    covers,
    disjoint_domains,
    equal_maps,
    in_bounds,
    inverse,
    is_empty,
    same_relation,
)
from indexproof.verify.properties import aligned, bijective, contiguous, disjoint, injective, monotone

Point = tuple[int, ...]
#: For each pair of points, the contents of the arrays for which they are related; pairs never related may be missing.
Relation = dict[tuple[Point, Point], np.ndarray]

_MOST_CONTENTS = 3000
_RANKS = {"p": 1, "q": 2}


# ----------------------------------------------------------------------------------------------------- enumeration
class Contents:
    """All contents of the arrays that some maps read, as far as the maps can tell them apart."""

    def __init__(self, maps: Sequence[IndexingMap]) -> None:
        boxes: dict[str, range] = {}
        elements: dict[tuple[str, Point], None] = {}
        for m in maps:
            names = [v.expr for v in m.variables]
            points = [*itertools.product(*(range(v.lo, v.hi + 1) for v in m.variables))]
            for r in m.rts:
                assert r.source is not None
                known = boxes.get(r.source.hlo, range(r.lo, r.hi + 1))
                boxes[r.source.hlo] = range(min(known.start, r.lo), max(known.stop, r.hi + 1))
                for at in points:
                    index = interpret(list(r.source.results), Integers(dict(zip(names, at, strict=True))))
                    elements[r.source.hlo, tuple(map(int, index))] = None
        self.count = prod(len(boxes[hlo]) for hlo, _ in elements)
        self.few = self.count <= _MOST_CONTENTS
        if self.few:
            rows = np.array([*itertools.product(*(boxes[hlo] for hlo, _ in elements))])
            self.values = dict(zip(elements, rows.reshape(self.count, len(elements)).T, strict=True))

    def points(self, m: IndexingMap) -> Relation:
        """Return the relation of the points of a map, which include its ranges, and their targets."""
        found: Relation = {}
        for at in itertools.product(*(range(v.lo, v.hi + 1) for v in (*m.dims, *m.ranges))):
            env: dict[Any, Any] = dict(zip((*m.dim_vars, *m.range_vars), at, strict=True))
            for r in m.runtime_order():
                env[r.expr] = self._read(r, env)
            facts = self._evaluated([c.expr for c in m.constraints], env)
            inside = np.all([(c.lo <= x) & (x <= c.hi) for c, x in zip(m.constraints, facts, strict=True)], axis=0)
            inside = np.broadcast_to(inside, self.count)
            targets = self._evaluated(m.results, env)
            for target in {*map(tuple, targets[:, inside].T.tolist())}:
                found[at, target] = inside & (targets == np.array(target)[:, None]).all(axis=0)
        return found

    def _read(self, r: RuntimeVariable, env: Mapping[Any, Any]) -> np.ndarray:
        assert r.source is not None
        index, value = self._evaluated(r.source.results, env), np.zeros(self.count, dtype=np.int64)
        for (hlo, place), column in self.values.items():
            if hlo == r.source.hlo:
                value = np.where((index == np.array(place)[:, None]).all(axis=0), column, value)
        return np.clip(value, r.lo, r.hi)

    def _evaluated(self, exprs: Sequence[Expr], env: Mapping[Any, Any]) -> np.ndarray:
        rows = [np.broadcast_to(x, self.count) for x in interpret(list(exprs), Integers(env))]
        return np.array(rows, dtype=np.int64).reshape(len(rows), self.count)

    def relation(self, *maps: IndexingMap) -> Relation:
        """Return the union of the relations of maps."""
        rows = (((at[: len(m.dims)], target), where) for m in maps for (at, target), where in self.points(m).items())
        return _united(rows)


def _united(rows: Iterable[tuple[Any, np.ndarray]]) -> dict[Any, np.ndarray]:
    found: dict[Any, np.ndarray] = {}
    for key, where in rows:
        found[key] = found[key] | where if key in found else where
    return found


def _within(one: Mapping[Any, np.ndarray], other: Mapping[Any, np.ndarray]) -> bool:
    return not any((where & ~other.get(key, np.False_)).any() for key, where in one.items())


def _same(one: Mapping[Any, np.ndarray], other: Mapping[Any, np.ndarray]) -> bool:
    return _within(one, other) and _within(other, one)


def _always(keys: Iterable[Point], found: Mapping[Point, np.ndarray]) -> bool:
    return all(np.all(found.get(k, np.False_)) for k in keys)


def _apart(one: Mapping[Any, np.ndarray], other: Mapping[Any, np.ndarray]) -> bool:
    return not any((where & other[key]).any() for key, where in one.items() if key in other)


def _sources(relation: Relation) -> dict[Point, np.ndarray]:
    return _united((source, where) for (source, _), where in relation.items())


def _targets(relation: Relation) -> dict[Point, np.ndarray]:
    return _united((target, where) for (_, target), where in relation.items())


def _injective(points: Relation) -> bool:
    pairs = itertools.combinations(points.items(), 2)
    return not any(a[1] == b[1] and (x & y).any() for (a, x), (b, y) in pairs)


def _monotone(points: Relation) -> bool:
    rows = sorted(points.items(), key=lambda row: row[0])
    return not any(a[1] > b[1] and a[0] < b[0] and (x & y).any() for (a, x), (b, y) in itertools.combinations(rows, 2))


def _increasing(points: Relation, k: int) -> bool:
    """Return whether targets increase with variable ``k`` alone."""
    pairs = itertools.permutations(points.items(), 2)
    return not any(
        a[0][k] < b[0][k] and _others(a[0], k) == _others(b[0], k) and a[1] >= b[1] and (x & y).any()
        for (a, x), (b, y) in pairs
    )


def _others(at: Point, k: int) -> Point:
    return (*at[:k], *at[k + 1 :])


def _contiguous(points: Relation, k: int, box: range, width: int, shape: Sequence[int]) -> bool:
    """Return whether vectors of variable ``k``, which begin with its box, lie inside without gaps or outside."""
    for (at, target), where in points.items():
        start = at[k] - (at[k] - box.start) % width
        for x in range(start, start + width):
            place = _place(target, shape) + x - at[k]
            moved = (*at[:k], x, *at[k + 1 :])
            there = [w for (b, t), w in points.items() if b == moved and _place(t, shape) == place]
            if x not in box or (where & ~np.any(there, axis=0)).any():
                return False
    return True


def _place(target: Point, shape: Sequence[int]) -> int:
    """Return the row-major position, which may lie outside."""
    place = 0
    for x, n in zip(target, shape, strict=True):
        place = place * n + x
    return place


# ------------------------------------------------------------------------------------------------------------ maps
def random_map(rng: random.Random, dims: int, results: int) -> IndexingMap:
    """Return a map of few points that reads values, some of them at an index that is such a value."""
    own = [Variable(f"d{k}", 0, rng.randint(1, 2)) for k in range(dims)]
    ranges = [Variable(f"s{k}", 0, rng.choice((0, 1, 1, 2))) for k in range(rng.choice((0, 1, 1, 2)))]
    known: list[Expr] = [v.expr for v in (*own, *ranges)]
    values: list[RuntimeVariable] = []
    for k in range(rng.randint(1, 3)):
        array, lo = rng.choice("ppq"), rng.choice((0, 0, 0, 1))
        source = RuntimeSource(array, tuple(_index(rng, known) for _ in range(_RANKS[array])))
        values.append(RuntimeVariable(f"rt{k}", lo, lo + rng.choice((0, 1, 1, 1, 2)), source))
        known.append(values[-1].expr)
    where = []
    for _ in range(rng.choice((0, 0, 1, 1, 2))):
        lo = rng.choice((0, 0, 1))
        where.append(Constraint(_expr(rng, known), lo, lo + rng.choice((0, 0, 1))))
    made = tuple(_expr(rng, known) for _ in range(results))
    return IndexingMap(tuple(own), tuple(ranges), tuple(rng.sample(values, len(values))), made, tuple(where))


def _index(rng: random.Random, known: Sequence[Expr]) -> Expr:
    e = rng.choice(known)
    return rng.choice((e, e, e, e % 2, e // 2, 1 - e % 2, integer(rng.randint(0, 1))))


def _expr(rng: random.Random, known: Sequence[Expr]) -> Expr:
    a, b = rng.choice(known), rng.choice(known)
    return rng.choice((a, a, a, a + b, a - b, a * 2 + b, (a + b) % 2, a // 2))


def turned(m: IndexingMap) -> IndexingMap:
    """Return the inverse relation: targets become dimensions, which are constrained to equal the results."""
    renamed = m.rename({v.name: f"from_{v.name}" for v in (*m.dims, *m.ranges)})
    reached = map(Facts(renamed.bounds).interval, renamed.results)
    dims = [Variable(f"d{k}", *((0, -1) if r.empty else (int(r.lo), int(r.hi)))) for k, r in enumerate(reached)]
    same = [Constraint(e - d.expr, 0, 0) for e, d in zip(renamed.results, dims, strict=True)]
    return IndexingMap(
        tuple(dims), (*renamed.dims, *renamed.ranges), renamed.rts, renamed.dim_vars, (*renamed.constraints, *same)
    )


def respelled(rng: random.Random, m: IndexingMap) -> IndexingMap:
    """Return a map that is often equal: a value read twice, ranges and values in another order, names exchanged."""
    if rng.random() < 0.4:
        twice = rng.choice(m.rts)
        again = replace(twice, name="again")
        moved = {twice.expr: again.expr}
        rest = [replace(c, expr=substitute_all([c.expr], moved)[0]) for c in m.constraints]
        chosen = tuple(rng.choice(pair) for pair in zip(m.constraints, rest, strict=True))
        m = m.with_(rts=(*m.rts, again), results=tuple(substitute_all(m.results, moved)), constraints=chosen)
    ranges = rng.sample(m.ranges, len(m.ranges))
    if rng.random() < 0.3:
        ranges.insert(rng.randint(0, len(ranges)), Variable("more", 0, rng.randint(0, 1)))
    m = m.with_(ranges=tuple(ranges), rts=tuple(rng.sample(m.rts, len(m.rts))))
    for names in ([v.name for v in m.rts], [v.name for v in m.ranges]):
        m = m.rename(dict(zip(names, rng.sample(names, len(names)), strict=True)))
    if rng.random() < 0.3:
        chosen_value = rng.choice(m.rts)
        elsewhere = tuple(_index(rng, [*m.dim_vars, *m.range_vars]) for _ in range(_RANKS[chosen_value.source.hlo]))
        moved_value = replace(chosen_value, source=RuntimeSource(chosen_value.source.hlo, elsewhere))
        m = m.with_(rts=tuple(moved_value if r is chosen_value else r for r in m.rts))
    if rng.random() < 0.2:
        m = m.with_(results=tuple(_expr(rng, [v.expr for v in m.variables]) for _ in m.results))
    return m


# ------------------------------------------------------------------------------------------------------- questions
def compared_runtime(seed: int) -> Iterator[str]:
    """Compare the verdict on every question about random maps with enumeration; yield the verdicts."""
    rng = random.Random(seed)
    dims, results = rng.choice((1, 1, 2)), rng.choice((1, 1, 2))
    one, third = random_map(rng, dims, results), random_map(rng, dims, results)
    other, back = respelled(rng, one), turned(respelled(rng, one))
    contents = Contents([one, other, back, third])
    if not contents.few:
        return
    for name, ask, right in _questions(contents, one, other, back, third, [rng.randint(1, 3) for _ in range(results)]):
        answer = ask()
        if answer.verdict == "UNDECIDED":
            yield "open"
            continue
        assert answer.verdict == ("PROVED" if right else "REFUTED"), (seed, name, one, other, back, third)
        yield answer.verdict


def _questions(
    contents: Contents,
    one: IndexingMap,
    other: IndexingMap,
    back: IndexingMap,
    third: IndexingMap,
    shape: Sequence[int],
) -> Iterator[tuple[str, Callable[[], Answer], bool]]:
    a, b, c, points = contents.relation(one), contents.relation(other), contents.relation(third), contents.points(other)
    gone_back = {(source, target): where for (target, source), where in contents.relation(back).items()}
    indices, box = itertools.product(*map(range, shape)), [v.hi + 1 for v in one.dims]
    covered, single = _always(indices, _targets(b)), _injective(points)
    legal = all(
        all(0 <= x < n for x, n in zip(t, shape, strict=True)) for t, where in _targets(b).items() if where.any()
    )
    yield "equal_maps", lambda: equal_maps(one, other), _same(a, b)
    yield "equal_maps", lambda: equal_maps(other, one), _same(a, b)
    yield "contains", lambda: contains(one, other), _within(b, a)
    if len(one.ranges) == len(other.ranges):
        yield "pointwise", lambda: equal_maps(one, other, "pointwise"), _same(contents.points(one), points)
    own = (*other.dims, *other.ranges)
    for k, v in enumerate(own):
        races = [
            a
            for (a, x), (b, y) in itertools.combinations(points.items(), 2)
            if a[1] == b[1] and a[0][k] != b[0][k] and (x & y).any()
        ]
        yield f"injective {v.name}", partial(injective, other, [v.name]), not races
        yield f"monotone {v.name}", partial(monotone, other, v.name, strict=True), _increasing(points, k)
        for width in (2, 3):
            whole = _contiguous(points, k, range(v.lo, v.hi + 1), width, shape)
            starts = [t for (at, t), x in points.items() if x.any() and (at[k] - v.lo) % width == 0]
            even = all(_place(t, shape) % width == 0 for t in starts)
            yield f"contiguous {v.name} {width}", partial(contiguous, other, v.name, width, shape), whole
            yield f"aligned {v.name} {width}", partial(aligned, other, width, shape, v.name), even
    both = _united((*b.items(), *c.items()))
    yield (
        "same_relation",
        lambda: same_relation([one, third], [third, other]),
        _same(_united((*a.items(), *c.items())), both),
    )
    yield "same_relation", lambda: same_relation([one], [third, other]), _same(a, both)
    yield "inverse", lambda: inverse(one, back), _same(a, gone_back)
    yield (
        "inverse families",
        lambda: same_relation([one, third], [turned(third), back], back=True),
        _same(_united((*a.items(), *c.items())), _united((*gone_back.items(), *c.items()))),
    )
    yield "in_bounds", lambda: in_bounds(other, shape), legal
    yield "injective", lambda: injective(other), single
    yield "covers", lambda: covers(other, shape), covered
    yield "bijective", lambda: bijective(other, shape), legal and single and covered
    yield "monotone", lambda: monotone(other), _monotone(points)
    yield "is_empty", lambda: is_empty(other), not any(where.any() for where in b.values())
    domains = _united((*_sources(a).items(), *_sources(c).items()))
    everywhere = itertools.product(*map(range, box))
    yield "covering_domains", lambda: covering_domains([one, third], box), _always(everywhere, domains)
    yield "disjoint_domains", lambda: disjoint_domains([one, third]), _apart(_sources(a), _sources(c))
    yield "disjoint", lambda: disjoint(one, third), _apart(_targets(a), _targets(c))
