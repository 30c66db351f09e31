"""Merge maps that differ in numbers only, such as those that the runs of a loop leave behind.

A loop that writes or reads one row in each run gives one map for each row. Three rules merge such maps, all without
loss:

- *intervals*: maps that differ only in the bounds of one dimension, and whose bounds are adjacent or overlap;
- *tables*: maps that differ only in how one result depends on one dimension, if together they state that it lies between
  two quotients of the dimension: those of even and of odd indices in a scan;
- *series*: maps in which every number runs through an arithmetic progression. The number of the step becomes a
  range, or is computed from a dimension.

A merged map has the union of the relations of its parts, which `--verify` proves again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import pairwise
from math import prod
from typing import Any

from ..expr import Expr, Var, as_sum, linear, substitute_all, var
from ..facts import Facts
from ..indexing_map import Constraint, IndexingMap, Variable, unused_name
from .projection import summands
from .tables import quotient

# Shorter progressions stay separate maps, unless they are of neighbouring indices.
_SHORTEST = 3

# Limits on the points of a table, and on its numbers.
_MOST_POINTS, _WIDEST = 1 << 20, 1 << 28
# Cache sizes: the same maps are joined with others again and again.
_TABLES, _PRIMED = 32, 1024


def merged(maps: Iterable[IndexingMap], ranges: bool = True) -> list[IndexingMap]:
    """Return fewer maps with the relation of all given ones, taken together; new ranges only if `ranges`."""
    found = list(dict.fromkeys(maps))
    while len(found) > 1:
        before = len(found)
        found = _intervals(found)
        if len(found) == before and ranges:
            found = _tabled(found)
        if len(found) == before:
            found = _series(found, ranges)
        if len(found) == before:
            break
    return found


def covers(m: IndexingMap, other: IndexingMap) -> bool:
    """Return whether a map plainly has all pairs of the other one, for a suitable choice of its ranges."""
    if len(m.dims) != len(other.dims) or len(m.results) != len(other.results):
        return False
    for a, b in zip(m.dims, other.dims, strict=True):
        if a.lo > b.lo or a.hi < b.hi or a.name != b.name:
            return False
    names, results, conditions, stated = _primed(m)
    if not stated:
        return False
    # each result determines the range that first occurs in it, if there is one
    chosen: dict[Expr, Expr] = {}
    free = {name: v for v, name in zip(m.ranges, names.values(), strict=True)}
    for e, wanted in zip(results, other.results, strict=True):
        said = substitute_all([e], chosen)[0] if chosen else e
        new = next(((t, k) for t, k in summands(said) if t in free and t not in chosen and abs(k) == 1), None)
        if new is not None:
            t, k = new
            chosen[t] = linear(0, ((wanted, k), (said, -k), (t, 1)))
            if free.keys() & chosen[t].variables():
                return False
        elif said is not wanted:
            return False
    if len(chosen) < len(free):
        return False
    values = {v.name: v for v in other.rts}
    for v in m.rts:
        # runtime values are equal only if they are read at the same place, after the choice of ranges
        w = values.get(v.name)
        if w is None or v.source is None or w.source is None or (v.lo, v.hi) != (w.lo, w.hi):
            return False
        place = substitute_all(substitute_all(v.source.results, names), chosen)
        if v.source.hlo != w.source.hlo or tuple(place) != w.source.results:
            return False
    known = {c.expr: c for c in other.constraints}

    def within(e: Expr, lo: int, hi: int) -> bool:
        have = known.get(e)
        ends = _facts(other).interval(e) if have is None else (have.lo, have.hi)
        return lo <= ends[0] and ends[1] <= hi

    return all(within(chosen[name], v.lo, v.hi) for name, v in free.items()) and all(
        within(substitute_all([e], chosen)[0], c.lo, c.hi) for e, c in zip(conditions, m.constraints, strict=True)
    )


@lru_cache(maxsize=_PRIMED)
def _primed(m: IndexingMap) -> tuple[Mapping[Expr, Var], list[Expr], list[Expr], bool]:
    """Rename the ranges of a map; return names, results, constraints, and if summands determine all ranges."""
    names: dict[Expr, Var] = {v.expr: var(f"{v.name}'") for v in m.ranges}
    exprs = substitute_all([*m.results, *(c.expr for c in m.constraints)], names)
    results = exprs[: len(m.results)]
    stated = {t for e in results for t, k in summands(e) if abs(k) == 1}
    return names, results, exprs[len(results) :], stated.issuperset(names.values())


@lru_cache(maxsize=_PRIMED)
def _facts(m: IndexingMap) -> Facts:
    return Facts(m.bounds)


# --------------------------------------------------------------------------------------------------------- intervals
def _intervals(maps: list[IndexingMap]) -> list[IndexingMap]:
    ranks = {len(m.dims) for m in maps}
    for d in range(max(ranks, default=0)):
        groups: dict[object, list[IndexingMap]] = {}
        for m in maps:
            if d < len(m.dims):
                rest = (*m.dims[:d], m.dims[d].name, *m.dims[d + 1 :])
                key: object = (rest, m.ranges, m.rts, m.results, m.constraints)
            else:
                key = (d, m)
            groups.setdefault(key, []).append(m)
        maps = [m for group in groups.values() for m in _adjacent(group, d)]
    return maps


def _adjacent(group: list[IndexingMap], d: int) -> list[IndexingMap]:
    if len(group) < 2:
        return group
    found: list[IndexingMap] = []
    for m in sorted(group, key=lambda m: (m.dims[d].lo, m.dims[d].hi)):
        if found and m.dims[d].lo <= found[-1].dims[d].hi + 1:
            last = found.pop()
            m = _bounded(last, d, last.dims[d].lo, max(m.dims[d].hi, last.dims[d].hi))
        found.append(m)
    return found


def _bounded(m: IndexingMap, d: int, lo: int, hi: int) -> IndexingMap:
    return m.with_(dims=(*m.dims[:d], replace(m.dims[d], lo=lo, hi=hi), *m.dims[d + 1 :]))


# ------------------------------------------------------------------------------------------------------------ tables
Form = tuple[Any, ...]
"""A map without one dimension and result: dimensions before it, its name, those after, ranges, results, constraints."""


def _tabled(maps: list[IndexingMap]) -> list[IndexingMap]:
    """Merge maps that differ only in how one dimension relates to one result, if the union is an interval."""
    for d in range(max(len(m.dims) for m in maps)):
        for place in range(max(len(m.results) for m in maps)):
            groups: dict[Any, list[tuple[IndexingMap, IndexingMap]]] = {}
            for m in maps:
                form, about = _as_table(m, d, place) or (m, m)
                groups.setdefault(form, []).append((about, m))
            maps = []
            for form, group in groups.items():
                if len(group) == 1:
                    maps.append(group[0][1])
                else:
                    maps += _fewer_tables(form, [about for about, _ in group], place)
    return maps


def _fewer_tables(form: Form, group: list[IndexingMap], place: int) -> Iterator[IndexingMap]:
    import numpy as np

    tables = [_table(about) for about in group]
    made = _from_table(form, _united(tables))
    if made is not None:
        yield _with_result(form, place, made)
        return
    todo = sorted(zip(tables, group, strict=True), key=lambda pair: pair[0][0][:1].tolist())
    while todo:
        table, about = todo.pop(0)
        for k, (more, _) in enumerate(todo):
            # look at indices first, which are few
            steps = np.diff(np.sort(np.concatenate((table[1], more[1]))))
            if np.unique(steps[steps > 0]).size > 1:
                continue
            both = _united([table, more])
            made = _from_table(form, both)
            if made is not None:
                todo[k] = (both, made)
                break
        else:
            yield _with_result(form, place, about)


PairTable = tuple[Any, Any]
"""Pairs of an index and a value in ascending order, each encoded as one number, which sorts fast; and the indices."""


def _united(tables: Iterable[PairTable]) -> PairTable:
    import numpy as np

    # a stable sort merges what is sorted already
    pairs = _distinct(np.sort(np.concatenate([pairs for pairs, _ in tables]), kind="stable"))
    return pairs, _distinct(pairs // (4 * _WIDEST))


def _distinct(ascending: Any) -> Any:
    import numpy as np

    return ascending[np.diff(ascending, prepend=ascending[:1] - 1) != 0]


@lru_cache(maxsize=_TABLES)
def _table(about: IndexingMap) -> PairTable:
    from ..points import domain_values

    found = domain_values(about, [about.dims[0].expr, *about.results], _MOST_POINTS)
    assert found is not None, "there are not so many points"
    at, values = found
    return _united([(at * (4 * _WIDEST) + values + 2 * _WIDEST, at)])


@lru_cache(maxsize=_PRIMED)
def _as_table(m: IndexingMap, d: int, place: int) -> tuple[Form, IndexingMap] | None:
    """Split a map into its form and the map from one dimension to one result; None if they are not separable."""
    if d >= len(m.dims) or place >= len(m.results) or m.rts:
        return None
    v, inside = m.dims[d], {m.dims[d].expr}
    inside |= set(m.results[place].variables()) & set(m.range_vars)
    apart = [e for k, e in enumerate(m.results) if k != place]
    own: list[Constraint] = []
    while True:
        more = [c for c in m.constraints if c not in own and not inside.isdisjoint(c.expr.variables())]
        if not more:
            break
        own += more
        inside |= {x for c in more for x in c.expr.variables()}
    variables = [w for w in (v, *m.ranges) if w.expr in inside]
    if len(variables) < len(inside) or any(not inside.isdisjoint(e.variables()) for e in apart):
        return None
    if not {*m.results[place].variables()} <= inside or prod(w.size for w in variables) > _MOST_POINTS:
        return None
    ends = Facts(m.bounds).interval(m.results[place])
    if any(abs(end) > _WIDEST for end in (*ends, *(end for w in variables for end in (w.lo, w.hi)))):
        return None
    kept = tuple(w for w in m.ranges if w.expr not in inside)
    said = tuple(c for c in m.constraints if c not in own)
    about = IndexingMap((v,), tuple(variables[1:]), (), (m.results[place],), tuple(own))
    return (m.dims[:d], v.name, m.dims[d + 1 :], kept, tuple(apart), said), about


def _with_result(form: Form, place: int, about: IndexingMap) -> IndexingMap:
    """Combine a form with the map from its dimension to its result."""
    before, _, after, kept, apart, said = form
    return IndexingMap(
        (*before, *about.dims, *after),
        (*kept, *about.ranges),
        (),
        (*apart[:place], *about.results, *apart[place:]),
        (*said, *about.constraints),
    )


def _from_table(form: Form, table: PairTable) -> IndexingMap | None:
    """Return a table as a map from one dimension to the values between two quotients of it; None if it is not."""
    import numpy as np

    before, name, after, kept, _, _ = form
    x = var(name)
    pairs, indices = table
    values = pairs % (4 * _WIDEST) - 2 * _WIDEST
    ends = np.searchsorted(pairs, [*indices * (4 * _WIDEST), *indices[-1:] * (4 * _WIDEST) + 4 * _WIDEST])
    least, most = values[ends[:-1]], values[ends[1:] - 1]
    steps = np.unique(np.diff(indices)).tolist() or [1]
    if not indices.size or len(steps) > 1 or (most - least + 1 != np.diff(ends)).any():
        return None
    indices, least, most = indices.tolist(), least.tolist(), most.tolist()
    step = steps[0]
    lowest, highest = (quotient(x, indices, step, values) for values in (least, most))
    if lowest is None or highest is None:
        return None
    constraints: list[Constraint] = []
    if step > 1:
        constraints.append(Constraint(x % step, indices[0] % step, indices[0] % step))
    value: tuple[Variable, ...] = ()
    result = lowest
    if least != most:
        taken = {name, *(v.name for v in (*before, *after, *kept))}
        value = (Variable(unused_name(f"s{len(kept)}", taken), min(least), max(most)),)
        result, width = value[0].expr, max(most) - min(least)
        if len(set(least)) > 1:
            constraints.append(Constraint(result - lowest, 0, width))
        if len(set(most)) > 1:
            constraints.append(Constraint(highest - result, 0, width))
    return IndexingMap((Variable(name, indices[0], indices[-1]),), value, (), (result,), tuple(constraints))


# ------------------------------------------------------------------------------------------------------------ series
def _split(e: Expr) -> tuple[Expr, int]:
    """Split an expression into its part without constant summand, and the constant."""
    const, terms = as_sum(e)
    return linear(0, terms), const


def _series(maps: list[IndexingMap], ranges: bool) -> list[IndexingMap]:
    groups: dict[object, list[tuple[tuple[int, ...], IndexingMap]]] = {}
    for m in maps:
        results, constraints = ([_split(e) for e in x] for x in (m.results, [c.expr for c in m.constraints]))
        key = (
            tuple(v.name for v in m.dims),
            tuple(v.name for v in m.ranges),
            tuple(core for core, _ in results),
            tuple(core for core, _ in constraints),
            m if m.rts else None,
        )
        boxes = [n for v in (*m.dims, *m.ranges) for n in (v.lo, v.hi)]
        limits = [n for c, (_, k) in zip(m.constraints, constraints, strict=True) for n in (c.lo - k, c.hi - k)]
        groups.setdefault(key, []).append(((*boxes, *(k for _, k in results), *limits), m))
    found: list[IndexingMap] = []
    for group in groups.values():
        group.sort(key=lambda pair: pair[0])
        while group:
            length = _progression([numbers for numbers, _ in group])
            if length > 1 and (_at_points(group[0][1], group[1][1]) or (ranges and length >= _SHORTEST)):
                found.append(_as_one(group[0][1], [numbers for numbers, _ in group[:length]]))
            else:
                length = 1
                found.append(group[0][1])
            group = group[length:]
    return found


def _at_points(m: IndexingMap, after: IndexingMap) -> bool:
    """Return whether two maps are of neighbouring indices of a dimension, which then determines the step number."""
    return any(a.lo == a.hi and b.lo == b.hi and abs(a.lo - b.lo) == 1 for a, b in zip(m.dims, after.dims, strict=True))


def _progression(rows: list[tuple[int, ...]]) -> int:
    """Return the number of leading rows that are an arithmetic progression in every column."""
    step: list[int] | None = None
    for k, (a, b) in enumerate(pairwise(rows), 1):
        here = [y - x for x, y in zip(a, b, strict=True)]
        if step is None:
            step = here
        if here != step:
            return k
    return len(rows)


def _as_one(m: IndexingMap, rows: Sequence[Sequence[int]]) -> IndexingMap:
    """Merge the maps of the form of ``m`` whose numbers are a progression, one row for each map."""
    first, count = rows[0], len(rows)
    steps = [b - a for a, b in zip(first, rows[1], strict=True)]
    variables = (*m.dims, *m.ranges)
    at_results = 2 * len(variables)
    at_limits = at_results + len(m.results)

    # the step number: computed from a dimension that has one index in each map, or a new range
    constraints: list[Constraint] = []
    shown = next(
        (k for k in range(len(m.dims)) if first[2 * k] == first[2 * k + 1] and steps[2 * k] == steps[2 * k + 1] != 0),
        None,
    )
    ranges = m.ranges
    if shown is not None:
        # `moved` is `unit` times the step number
        moved, unit = m.dims[shown].expr - first[2 * shown], steps[2 * shown]
        if abs(unit) > 1:
            constraints.append(Constraint(moved % abs(unit), 0, 0))
    else:
        # counted such that it equals a result that goes up or down by one with each step, if there is one
        taken = {v.name for v in variables}
        name = next(n for k in range(len(taken) + 1) if (n := f"s{len(m.ranges) + k}") not in taken)
        at = next((k for k in range(at_results, at_limits) if abs(steps[k]) == 1), None)
        base, unit = (0, 1) if at is None else (first[at], steps[at])
        ends = (base, base + unit * (count - 1))
        ranges = (*ranges, Variable(name, min(ends), max(ends)))
        moved = var(name) - base

    def value(k: int) -> Expr:
        """Return the number in a column as an expression."""
        if steps[k] % unit == 0:
            return moved * (steps[k] // unit) + first[k]
        return (moved * (1 if unit > 0 else -1)) // abs(unit) * steps[k] + first[k]

    def limit(e: Expr, lo: int, hi: int, always: Callable[[int, int], bool]) -> None:
        """Constrain ``e`` to lie between the numbers in two columns."""
        if not steps[lo] and not steps[hi]:
            if not always(first[lo], first[hi]):
                constraints.append(Constraint(e, first[lo], first[hi]))
            return
        widest = max(row[hi] - row[lo] for row in rows)
        constraints.append(Constraint(e - value(lo), 0, widest))
        if steps[lo] != steps[hi]:
            constraints.append(Constraint(e - value(hi), -widest, 0))

    boxed: list[Variable] = []
    for k, v in enumerate(variables):
        boxed.append(Variable(v.name, min(row[2 * k] for row in rows), max(row[2 * k + 1] for row in rows)))
        if k != shown:
            limit(v.expr, 2 * k, 2 * k + 1, lambda lo, hi: True)
    for k, c in enumerate(m.constraints):
        limit(_split(c.expr)[0], at_limits + 2 * k, at_limits + 2 * k + 1, lambda lo, hi: False)
    results = tuple(_split(e)[0] + value(at_results + k) for k, e in enumerate(m.results))
    dims, kept = tuple(boxed[: len(m.dims)]), tuple(boxed[len(m.dims) :])
    return IndexingMap(dims, (*kept, *ranges[len(kept) :]), m.rts, results, tuple(constraints))
