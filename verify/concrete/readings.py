"""Runtime values of problems: their boxes, where they are read, and which of them are one element.

Every question about maps is asked for values that arrays can have, whatever names the maps give to them.
"""

from __future__ import annotations

import math
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import combinations, product
from types import MappingProxyType
from typing import Any, NamedTuple

from ...core.expr import Expr, Int, Var, integer, maximum, minimum, postorder, substitute_all, var
from ...core.indexing_map import Constraint, IndexingMap, RuntimeSource, RuntimeVariable
from ...core.interval import Interval
from .problem import Box, Fact, Option, Problem, substituted

ZERO = Interval(0, 0)
_NOTHING = integer(0)
_HERE: Mapping[Any, Any] = MappingProxyType({})


def runtime_box(m: IndexingMap) -> Box:
    """Return the boxes of the runtime variables of a map, which are parameters of its relation."""
    return tuple((r.expr, Interval(r.lo, r.hi)) for r in m.rts)


def shared_values(maps: Iterable[IndexingMap]) -> tuple[list[IndexingMap], Box]:
    """Return the maps with one box for the runtime variables of a name: one value, which each map clamps to its own box.

    A map with a variable of empty box becomes a map without points.
    """
    given = list(maps)
    return _in_one_box(given, {r.name for m in given for r in m.rts})


def shared_parameters(maps: Iterable[IndexingMap], more: Iterable[str] = ()) -> tuple[list[IndexingMap], Box]:
    """Return the maps with one box for each value that one of them does not read anywhere: a parameter of all of them.

    The values named in ``more`` are given one box, too, but only the boxes of parameters are returned.
    """
    given = list(maps)
    names = {r.name for m in given for r in m.rts if r.source is None}
    if names:
        given = [m.with_(rts=tuple(replace(r, source=None) if r.name in names else r for r in m.rts)) for m in given]
    found, box = _in_one_box(given, names.union(more))
    return found, tuple((v, i) for v, i in box if v.name in names)


def _in_one_box(maps: Sequence[IndexingMap], names: Container[str]) -> tuple[list[IndexingMap], Box]:
    boxes: dict[Var, Interval] = {}
    for m in maps:
        for v, i in runtime_box(m):
            if v.name in names:
                boxes[v] = boxes[v] | i if v in boxes else i
    box = {v: ZERO if i.empty else i for v, i in boxes.items()}
    return [_clamped(m, box) for m in maps], tuple(box.items())


def used_values(m: IndexingMap) -> set[RuntimeVariable]:
    """Return the runtime variables that results or constraints depend on, directly or through the source of another."""
    sources = {r.expr: r.source.results for r in m.rts if r.source is not None}
    used = {n for n in postorder(*m.results, *(c.expr for c in m.constraints)) if isinstance(n, Var)}
    todo = list(used)
    while todo:
        for n in postorder(*sources.get(todo.pop(), ())):
            if isinstance(n, Var) and n not in used:
                used.add(n)
                todo.append(n)
    return {r for r in m.rts if r.expr in used}


def _clamped(m: IndexingMap, boxes: Mapping[Var, Interval]) -> IndexingMap:
    own = {
        r.expr: minimum(maximum(r.expr, r.lo), r.hi) for r in m.rts if boxes.get(r.expr, (r.lo, r.hi)) != (r.lo, r.hi)
    }
    if not own:
        return m
    moved = dict(zip(m.roots, substitute_all(m.roots, own), strict=True))
    constraints = [Constraint(moved[c.expr], c.lo, c.hi) for c in m.constraints]
    if any(r.lo > r.hi for r in m.rts):
        constraints.append(Constraint(_NOTHING, 1, 1))
    ends = ((r.moved(moved), boxes.get(r.expr, Interval(r.lo, r.hi))) for r in m.rts)
    rts = tuple(replace(r, lo=int(i.lo), hi=int(i.hi)) for r, i in ends)
    return IndexingMap._trusted(m.dims, m.ranges, rts, tuple(moved[e] for e in m.results), constraints)


class RuntimeRead(NamedTuple):
    """A runtime value of a problem, and the element that it is."""

    value: Var
    hlo: str
    at: tuple[Expr, ...]


def readings(m: IndexingMap, place: Mapping[Any, Any] = _HERE) -> list[RuntimeRead]:
    """Return what ``m`` reads at a point, where ``place`` has its variables."""
    found = []
    for r in m.rts:
        if r.source is not None:
            at = tuple(substitute_all(r.source.results, place))
            found.append(RuntimeRead(place.get(r.expr, r.expr), r.source.hlo, at))
    return found


class Identified(NamedTuple):
    """A problem for values that arrays can have."""

    problem: Problem
    #: Variables that are another one, in the order in which they were replaced.
    replaced: dict[Var, Var]


def identified(problem: Problem, reads: Iterable[RuntimeRead]) -> Identified:
    """Return the problem for values that arrays can have.

    Values that are read from one element within one box become one variable.  Where others may be read from one element,
    the problem need not hold for two values of it.
    """
    box, reads = dict(problem.variables), _needed(problem, reads)
    replaced: dict[Var, Var] = {}
    while twins := next(((a, b) for a, b in combinations(reads, 2) if _are_twins(a, b, box)), None):
        value, again = (r.value for r in twins)
        replaced[again] = value
        swap = {again: value}
        reads = [RuntimeRead(swap.get(v, v), hlo, tuple(substitute_all(at, swap))) for v, hlo, at in reads]
        problem = Problem(
            tuple((v, i) for v, i in problem.variables if v is not again),
            tuple(substituted(problem.where, swap)),
            tuple(o.substituted(swap) for o in problem.options),
        )
    absurd: dict[Option, None] = {}
    for a, b in combinations(reads, 2):
        if a.value is b.value or a.hlo != b.hlo or len(a.at) != len(b.at):
            continue
        gaps = [g for x, y in zip(a.at, b.at, strict=True) if (g := x - y) is not _NOTHING]
        if not any(isinstance(g, Int) for g in gaps):
            same = tuple(Fact(g, ZERO) for g in gaps)
            absurd |= dict.fromkeys(Option((*same, *facts)) for facts in _two_values(a.value, b.value, box))
    return Identified(replace(problem, options=(*problem.options, *absurd)), replaced)


def read_elsewhere(one: IndexingMap, other: IndexingMap, place: Mapping[Var, Expr]) -> dict[Var, Var]:
    """Return new names for the values of ``other`` that ``one`` may read elsewhere.

    ``place`` has names for the variables of ``other`` at its point.
    """
    theirs = {v.name: v.source for v in one.rts}
    places: dict[Expr, Expr] = dict(zip(place, place.values(), strict=True))
    names: dict[Var, Var] = {}
    for v in other.runtime_order():
        x = theirs.get(v.name)
        if x is None or v.source is None:
            continue
        if x != RuntimeSource(v.source.hlo, tuple(substitute_all(v.source.results, places))):
            names[v.expr] = places[v.expr] = var(v.name + "'", v.expr.kind)
    return names


def _are_twins(a: RuntimeRead, b: RuntimeRead, box: Mapping[Var, Interval]) -> bool:
    return a.value is not b.value and (a.hlo, a.at, box[a.value]) == (b.hlo, b.at, box[b.value])


def _needed(problem: Problem, reads: Iterable[RuntimeRead]) -> list[RuntimeRead]:
    """Return the readings on whose values the problem depends, directly or through the index of another."""
    rest, found = [*reads], []
    used = {v for e in problem.exprs() for v in e.variables()}
    while now := [r for r in rest if r.value in used]:
        found += now
        rest = [r for r in rest if r.value not in used]
        used.update(v for r in now for e in r.at for v in e.variables())
    return found


def _two_values(a: Var, b: Var, box: Mapping[Var, Interval]) -> list[tuple[Fact, ...]]:
    """Return the cases in which no integer is clamped to these two values."""
    first, second = a - clamped(b, box[b], box[a]), b - clamped(a, box[a], box[b])
    gaps = (first,) if box[a].inside(box[b]) else (second,) if box[b].inside(box[a]) else (first, second)
    ends = (Interval(-math.inf, -1), Interval(1, math.inf))
    return [tuple(map(Fact, gaps, signs)) for signs in product(ends, repeat=len(gaps))]


def clamped(v: Var, own: Interval, box: Interval) -> Expr:
    """Return a variable of a box as it is within another."""
    return v if own.inside(box) else minimum(maximum(v, int(box.lo)), int(box.hi))
