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

from ...core.expr import Expr, Int, Var, integer, maximum, minimum, substitute_all, var
from ...core.indexing_map import Constraint, IndexingMap, RuntimeSource, unused_name
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
    boxes: dict[Var, Interval] = {}
    for m in given:
        for v, i in runtime_box(m):
            boxes[v] = boxes[v] | i if v in boxes else i
    box = {v: ZERO if i.empty else i for v, i in boxes.items()}
    return [_clamped(m, box) for m in given], tuple(box.items())


def _clamped(m: IndexingMap, boxes: Mapping[Var, Interval]) -> IndexingMap:
    own = {r.expr: minimum(maximum(r.expr, r.lo), r.hi) for r in m.rts if boxes[r.expr] != (r.lo, r.hi)}
    if not own:
        return m
    moved = dict(zip(m.roots, substitute_all(m.roots, own), strict=True))
    constraints = [Constraint(moved[c.expr], c.lo, c.hi) for c in m.constraints]
    if any(r.lo > r.hi for r in m.rts):
        constraints.append(Constraint(_NOTHING, 1, 1))
    rts = tuple(replace(r.moved(moved), lo=int(boxes[r.expr].lo), hi=int(boxes[r.expr].hi)) for r in m.rts)
    return IndexingMap._trusted(m.dims, m.ranges, rts, tuple(moved[e] for e in m.results), constraints)


def read_at(m: IndexingMap, variables: Iterable[Var], told: Sequence[Expr] = ()) -> set[Var]:
    """Return the runtime variables that are read from an index that depends on variables, directly or through others.

    Variables in ``told`` do not count: those that are results are fixed by a pair of the relation.
    """
    found = set(variables).difference(told)
    for r in m.runtime_order():
        if r.source is not None and not found.isdisjoint(v for e in r.source.results for v in e.variables()):
            found.add(r.expr)
    return found.intersection(m.rt_vars)


def read_at_ranges(m: IndexingMap, told: Sequence[Expr] = ()) -> set[Var]:
    """Return the runtime variables that are read from an index that depends on a range, as :func:`read_at`."""
    return read_at(m, m.range_vars, told)


class RuntimeRead(NamedTuple):
    """A runtime value of a problem, and the element that it is.

    ``free`` says that the index depends on unknowns of the problem, so that the value is that of several elements.
    """

    value: Var
    hlo: str
    at: tuple[Expr, ...]
    free: bool = False


def readings(m: IndexingMap, place: Mapping[Any, Any] = _HERE, free: Container[Var] = ()) -> list[RuntimeRead]:
    """Return what ``m`` reads at a point, where ``place`` has its variables; values in ``free`` are read at unknowns."""
    found = []
    for r in m.rts:
        if r.source is not None:
            at = tuple(substitute_all(r.source.results, place))
            found.append(RuntimeRead(place.get(r.expr, r.expr), r.source.hlo, at, r.expr in free))
    return found


def read_from(m: IndexingMap, source: Sequence[Expr], mark: str = "") -> list[RuntimeRead]:
    """Return what a map reads for a source and ranges that are not known; ``mark`` tells its ranges from others."""
    place: dict[Any, Any] = dict(zip(m.dim_vars, source, strict=True))
    return readings(m, place | {v: var(f"{v}'{mark}") for v in m.range_vars}, read_at_ranges(m))


def named_apart(maps: Iterable[IndexingMap], source: Sequence[Expr]) -> list[IndexingMap]:
    """Return maps in which a value has another name than those that an earlier map reads elsewhere for a source.

    Values that are read at ranges keep their names if an earlier map reads them from the same instruction.
    """
    found, given = [], [*maps]
    taken = {v.name for m in given for v in m.variables} | {str(v) for e in source for v in e.variables()}
    read: dict[Var, list[RuntimeRead]] = {}

    def elsewhere(r: RuntimeRead) -> bool:
        earlier = read.get(r.value, [])
        return any(x.hlo != r.hlo or not (x.free or r.free or x.at == r.at) for x in earlier)

    for k, m in enumerate(given):
        # an index may depend on a value that is renamed
        while clash := [str(r.value) for r in read_from(m, source, str(k)) if elsewhere(r)]:
            m = m.rename({name: unused_name(name, taken) for name in clash})
        for r in read_from(m, source, str(k)):
            read.setdefault(r.value, []).append(r)
        found.append(m)
    return found


class Identified(NamedTuple):
    """A problem for values that arrays can have."""

    problem: Problem
    #: Variables that are another one, in the order in which they were replaced.
    replaced: dict[Var, Var]
    #: What holds for arrays of equal elements; other values may be two for one element at some unknowns.
    equal: tuple[Fact, ...]


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
        reads = [RuntimeRead(swap.get(v, v), hlo, tuple(substitute_all(at, swap)), free) for v, hlo, at, free in reads]
        problem = Problem(
            tuple((v, i) for v, i in problem.variables if v is not again),
            tuple(substituted(problem.where, swap)),
            tuple(o.substituted(swap) for o in problem.options),
        )
    absurd: dict[Option, None] = {}
    equal: dict[Fact, None] = {}
    for a, b in combinations(reads, 2):
        if a.value is b.value or a.hlo != b.hlo or len(a.at) != len(b.at):
            continue
        if a.free or b.free:
            # unknowns have other values at another element
            ends = zip(a.at, b.at, strict=True)
            if not any(isinstance(x, Int) and isinstance(y, Int) and x is not y for x, y in ends):
                equal[Fact(a.value - b.value, ZERO)] = None
            continue
        gaps = [g for x, y in zip(a.at, b.at, strict=True) if (g := x - y) is not _NOTHING]
        if not any(isinstance(g, Int) for g in gaps):
            same = tuple(Fact(g, ZERO) for g in gaps)
            absurd |= dict.fromkeys(Option((*same, *facts)) for facts in _two_values(a.value, b.value, box))
    return Identified(replace(problem, options=(*problem.options, *absurd)), replaced, tuple(equal))


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
    first, second = a - _within(b, box[b], box[a]), b - _within(a, box[a], box[b])
    gaps = (first,) if box[a].inside(box[b]) else (second,) if box[b].inside(box[a]) else (first, second)
    ends = (Interval(-math.inf, -1), Interval(1, math.inf))
    return [tuple(map(Fact, gaps, signs)) for signs in product(ends, repeat=len(gaps))]


def _within(v: Var, own: Interval, box: Interval) -> Expr:
    return v if own.inside(box) else minimum(maximum(v, int(box.lo)), int(box.hi))
