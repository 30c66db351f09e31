"""Find the tiles that maps with parameters read, for all sizes: proposed from sums and digits, then proved.

The elements that tiles read and those of the proposed tiles are two maps from the places of tiles, whose relations must
be equal. If they differ at some sizes, a sufficient condition is searched and proved. It is proved necessary by
elements that a tile reads wherever it fails, and one in each strided tile with these that is not read.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import prod
from typing import TypeAlias

from ..core.condition import TRUE, Compare, Condition, all_of, any_of, negate, substitute_conditions
from ..core.errors import InputError
from ..core.expr import (
    Expr,
    FloorDiv,
    Mod,
    Mul,
    Sum,
    Var,
    add,
    ceildiv,
    floordiv,
    integer,
    minimum,
    mod,
    mul,
    substitute_all,
    var,
)
from ..core.indexing_map import IndexingMap
from ..core.op import digits_of, row_major
from ..core.parametric import ParametricMap, divisors_of
from ..rules.simplifier import simplify_expr
from .budget import Budget
from .concrete import is_empty
from .inversion import ratio
from .reshape_tiles import ReshapeTile
from .size_claims import SizeQuestion, by_sum, holds_at
from .tiles import NoTile, expect_sizes, over, placed, tile_of
from .weakest import weakest_condition

#: Budget of proofs: most succeed with a tenth of the usual one, but products of three or more sizes exhaust any.
_BUDGET = Budget().scaled(0.1)
#: So many of the smallest sizes are tried first.
_SMALL = 16
#: Limit on the sizes at which a place that reads no tile is searched.
_SIZES = 60
#: Limits on the points that are searched for an element that is not read, and on the values of a coordinate.
_POINTS, _VALUES = 20_000, 8
_Point: TypeAlias = tuple[int, ...]
_ZERO, _ONE = integer(0), integer(1)


@dataclass(frozen=True)
class TileForAllSizes:
    """The tile of the target that each tile of the source reads, in parameters; or why none is stated."""

    #: From the place of the tile to the offset; None if no tile is stated.
    offsets: ParametricMap | None
    sizes: tuple[Expr, ...] = ()
    strides: tuple[Expr, ...] = ()
    #: Elements outside these are not read.
    bounds: tuple[tuple[Expr, Expr], ...] = ()
    #: The tile, if stated, is read under this condition; if ``necessary``, no tile is read otherwise. Both are proved.
    condition: Condition = TRUE
    necessary: bool = True
    #: Sizes at which tiles read no tile, and why.
    at: Mapping[str, int] | None = None
    missing: NoTile | None = None
    #: Why no tile is stated.
    reason: str = ""


@dataclass(frozen=True)
class _Range:
    """The numbers ``offset + stride * i`` for ``0 <= i < size``."""

    offset: Expr
    size: Expr = _ONE
    stride: Expr = _ONE

    @property
    def last(self) -> Expr:
        return self.offset + mul(self.stride, self.size - 1)


@dataclass(frozen=True, kw_only=True)
class _Proposal(SizeQuestion):
    """Whether tiles hold what maps read."""

    #: The sizes of the source and of its tiles.
    shape: Sequence[Expr]
    tile: Sequence[int]

    def values(self) -> Iterator[dict[str, int]]:
        small = super().values()
        if not [*_products(self.sizes)]:
            return small
        # where an equation gives a size, the smallest sizes are those of empty tensors and of single tiles
        small = (v for v in small if min(v.values()) > 0)
        return itertools.chain(itertools.islice(small, _SMALL), self._cut(), small)

    def _cut(self) -> Iterator[dict[str, int]]:
        """Sizes of several tiles, of which an equation gives one."""
        for side, other in _products(self.sizes):
            names = [p for p in self.parameters if p != side[0].name]
            pool = sorted({1, 2, 3, *(n for t in self.tile for n in (t, t + 1, 2 * t))})
            for point in by_sum(pool, len(names)):
                values = dict(zip(names, point, strict=True))
                whole, rest = divmod(prod(values[v.name] for v in other), prod(values[v.name] for v in side[1:]))
                values[side[0].name] = whole
                cut = any(n.evaluate(values) > t for n, t in zip(self.shape, self.tile, strict=True))
                if cut and not rest and holds_at(all_of(self.sizes), values):
                    yield {p: values[p] for p in self.parameters}


def _products(known: Sequence[Condition]) -> Iterator[tuple[list[Var], list[Var]]]:
    """The equations between products of parameters, each name once."""
    for c in known:
        if isinstance(c, Compare) and c.op == "==":
            sides = [[*e.factors] if isinstance(e, Mul) else [e] for e in (c.a, c.b)]
            one, other = ([v for v in side if isinstance(v, Var)] for side in sides)
            if [len(one), len(other)] == [*map(len, sides)] and len({*one, *other}) == len(one) + len(other):
                yield one, other


def tile_for_all_sizes(
    m: ParametricMap,
    shape: Sequence[Expr],
    sizes: Sequence[int],
    starts: Mapping[int, str] = {},
    target: Sequence[Expr] = (),
) -> TileForAllSizes:
    """Return the tile that tiles of ``sizes`` elements read, for a source of sizes ``shape``.

    They begin at multiples of their sizes, or anywhere in dimensions where ``starts`` names the first element.  With the
    sizes of the ``target``, the condition is exact for a reshape whose tiles begin at multiples.
    """
    expect_sizes(sizes, len(m.dims))
    try:
        return _stated(m, shape, sizes, starts, target)
    except InputError as error:
        # a divisor may be zero, or a name has two meanings
        return TileForAllSizes(None, necessary=False, reason=str(error))


def _stated(
    m: ParametricMap, shape: Sequence[Expr], sizes: Sequence[int], starts: Mapping[int, str], target: Sequence[Expr]
) -> TileForAllSizes:
    reads = _tiled(m, shape, sizes, starts)
    tried: list[tuple[TileForAllSizes, _Proposal]] = []
    for cut in (False, True):
        proposed = _proposed(m, reads, shape, sizes, cut)
        if isinstance(proposed, str):
            return TileForAllSizes(None, necessary=False, reason=proposed)
        stated, holds = proposed
        if any(holds == q.maps[0] for _, q in tried):
            continue
        question = _Proposal([holds, reads], {"mode": "relation"}, budget=_BUDGET, shape=shape, tile=sizes)
        if question.decided("equal", confirm=False).proved:
            return stated
        tried.append((stated, question))
    at, missing = _torn(m, tried[0][1], shape, sizes, starts)
    if not starts and _is_reshape(m, shape, target):
        return replace(_of_reshape(m, reads, ReshapeTile(shape, target, sizes)), at=at, missing=missing)
    if at is not None and any(len(side) > 2 for sides in _products(m.on_parameters) for side in sides):
        # a proof that a condition is enough would take minutes, and mostly fail
        reason = "it is not one at all sizes, and conditions are not looked for where a product of three sizes is given"
        return TileForAllSizes(None, necessary=False, at=at, missing=missing, reason=reason)
    for stated, question in tried:
        condition = _enough(question, sizes)
        if condition is not None:
            necessary = at is not None and _only_then(question, condition, at)
            return replace(stated, condition=condition, necessary=necessary, at=at, missing=missing)
    if at is None:
        return TileForAllSizes(None, necessary=False, reason="it was not decided")
    smaller = any_of([var(p) < n for p, n in at.items()])
    reason = "it is not one at all sizes, and no condition was found"
    if _only_then(tried[0][1], smaller, at):
        return TileForAllSizes(None, condition=smaller, at=at, missing=missing, reason=reason)
    return TileForAllSizes(None, necessary=False, at=at, missing=missing, reason=reason)


def _tiled(m: ParametricMap, shape: Sequence[Expr], sizes: Sequence[int], starts: Mapping[int, str]) -> ParametricMap:
    """Return the map from tiles to the elements they read, like :func:`.tiles.tiled`."""
    places, conditions = [], list[Condition]()
    known: dict[Expr, Expr] = {var(s): var(f"r{k}") for k, s in enumerate(m.ranges)}
    tiles = placed([0] * len(sizes), sizes, starts)
    for k, (name, n, size, (place, element, at)) in enumerate(zip(m.dims, shape, sizes, tiles, strict=True)):
        last = n - 1 if k in starts else ceildiv(n, integer(size)) - 1
        known[var(name)] = at
        places.append(place.name)
        conditions += [place.within(0, last), element.within(0, size - 1), at.within(0, n - 1)]
    conditions += substitute_conditions(m.conditions, known)
    inside: dict[str | Var, tuple[int, int]] = {f"e{k}": (0, size - 1) for k, size in enumerate(sizes)}
    results = [simplify_expr(e, inside) for e in substitute_all(m.results, known)]
    ranges = (*(f"e{k}" for k in range(len(sizes))), *(f"r{k}" for k in range(len(m.ranges))))
    return ParametricMap(tuple(places), ranges, m.parameters, tuple(results), tuple(conditions))


def _on_places(reads: ParametricMap) -> tuple[Condition, ...]:
    """Return the conditions of the map that :func:`_tiled` returns which do not depend on elements of the tile."""
    known = {*map(var, (*reads.dims, *reads.parameters))}
    return tuple(c for c in reads.conditions if {*c.variables()} <= known)


def _positive(m: ParametricMap) -> dict[str | Var, tuple[int, int]]:
    """Return ranges in which all parameters are positive, for simplifying."""
    return dict.fromkeys(m.parameters, (1, 1 << 62))


def _proposed(
    m: ParametricMap, reads: ParametricMap, shape: Sequence[Expr], sizes: Sequence[int], cut: bool
) -> tuple[TileForAllSizes, ParametricMap] | str:
    """Propose a tile, with the map from places to its elements, or return why there is none.

    With ``cut`` a tile is at most as large as its dimension, which matters for sums of several digits.
    """
    low, high = m.lower_bounds, m.upper_bounds
    if unknown := [v for v in m.variables if v not in low or v not in high]:
        return f"`{unknown[0]}` has no bounds"
    whole = {v: _Range(low[v], high[v] - low[v] + 1) for v in m.variables}
    inside = {
        var(f"e{k}"): _Range(_ZERO, minimum(integer(t), n) if cut else integer(t))
        for k, (t, n) in enumerate(zip(sizes, shape, strict=True))
    }
    inside |= {var(f"r{k}"): whole[var(s)] for k, s in enumerate(m.ranges)}
    # the simplified forms are proved with the rest
    some = _positive(m)
    tile, bounds = [], []
    for e, read in zip(m.results, reads.results, strict=True):
        part, every = _range(read, inside), _range(e, whole)
        if part is None or every is None:
            return f"`{e}` is no sum of digits"
        tile.append(part)
        bounds.append((simplify_expr(every.offset, some), simplify_expr(every.last, some)))
    counts = [var(f"i{j}") for j in range(len(tile))]
    results = tuple(r.offset + mul(r.stride, i) for r, i in zip(tile, counts, strict=True))
    on_places = _on_places(reads)
    held = [i.within(0, r.size - 1) for r, i in zip(tile, counts, strict=True)]
    held += [e.within(*ends) for e, ends in zip(results, bounds, strict=True)]
    offsets = ParametricMap(reads.dims, (), m.parameters, tuple(r.offset for r in tile), on_places)
    names = tuple(i.name for i in counts)
    holds = ParametricMap(reads.dims, names, m.parameters, results, (*on_places, *held))
    return (TileForAllSizes(offsets, tuple(r.size for r in tile), tuple(r.stride for r in tile), tuple(bounds)), holds)


def _is_reshape(m: ParametricMap, shape: Sequence[Expr], target: Sequence[Expr]) -> bool:
    """Return whether the map is proved to keep all elements of the source in row-major order."""
    if not target or m.ranges or len(m.results) != len(target):
        return False
    boxes = [var(d).within(0, n - 1) for d, n in zip(m.dims, shape, strict=True)]
    if {*m.conditions} - {*m.on_parameters, *boxes}:
        return False
    question = SizeQuestion([m], {}, budget=_BUDGET)
    digits = digits_of(row_major([*map(var, m.dims)], shape), target)
    same = all_of(a.eq(b) for a, b in zip(m.results, digits, strict=True))
    known = (mul(_ONE, *shape).eq(mul(_ONE, *target)), *m.conditions)
    return all(holds_at(same, p) for p in question.points(known)) and question.shown("reshape", [[(known, same)]])[0]


def _of_reshape(m: ParametricMap, reads: ParametricMap, tile: ReshapeTile) -> TileForAllSizes:
    """State the tile that a reshape reads under the exact condition."""
    first = dict.fromkeys(map(var, reads.ranges), _ZERO)
    some = _positive(m)
    places = tuple(simplify_expr(e.substitute(first), some) for e in reads.results)
    held = [(simplify_expr(n, some), simplify_expr(step, some)) for n, step in tile.read()]
    return TileForAllSizes(
        ParametricMap(reads.dims, (), m.parameters, places, _on_places(reads)),
        tuple(n for n, _ in held),
        tuple(step for _, step in held),
        tuple((_ZERO, n - 1) for n in tile.operand),
        tile.condition(),
    )


def _range(e: Expr, inside: Mapping[Var, _Range]) -> _Range | None:
    """Propose the range of an expression, given those of its parts; it is proved later."""
    if {*inside}.isdisjoint(e.variables()):
        return _Range(e)
    if isinstance(e, Var):
        return inside[e]
    if isinstance(e, FloorDiv | Mod) and {*inside}.isdisjoint(e.b.variables()):
        a = _range(e.a, inside)
        if a is None or a.stride is not _ONE:
            return None
        whole = ratio(a.size, e.b)
        first = _ZERO if a.offset is _ZERO else floordiv(a.offset, e.b)
        if isinstance(e, FloorDiv):
            return _Range(first, ceildiv(a.size, e.b) if whole is None else whole)
        at = _ZERO if a.offset is _ZERO else mod(a.offset, e.b)
        return _Range(at, minimum(a.size, e.b) if whole is None else e.b)
    if isinstance(e, Mul):
        moving = [f for f in e.factors if not {*inside}.isdisjoint(f.variables())]
        a = _range(moving[0], inside)
        weight = mul(*(f for f in e.factors if f is not moving[0]))
        return None if a is None else _Range(mul(a.offset, weight), a.size, mul(a.stride, weight))
    if not isinstance(e, Sum):
        return None
    total: Expr = integer(e.const)
    digits: list[_Range] = []
    for term, times in e.terms:
        a = _range(term, inside)
        if a is None:
            return None
        total += (a.last if times < 0 else a.offset) * times
        if a.size is not _ONE:
            digits.append(_Range(_ZERO, a.size, a.stride * abs(times)))
    if not digits:
        return _Range(total)
    if len(digits) == 1:
        return _Range(total, digits[0].size, digits[0].stride)
    strides = [d.stride for d in digits]
    least = next((g for g in strides if all(ratio(x, g) is not None for x in strides)), None)
    if least is None:
        return None
    steps = [mul(d.size - 1, over) for d in digits if (over := ratio(d.stride, least)) is not None]
    return _Range(total, add(1, *steps), least)


def _enough(question: SizeQuestion, sizes: Sequence[int]) -> Condition | None:
    """Return a condition that is proved sufficient, and that holds at some sizes where an element is read."""
    reads = question.maps[1]
    some = [v for v in itertools.islice(question.values(), _SIZES) if not is_empty(reads.at(v)).proved]
    claims = question.claims("equal")
    for d in divisors_of(reads.results):
        whole = any_of([c for n in sizes for c in (d.divides(n), integer(n).divides(d))])
        if any(holds_at(whole, v) for v in some) and question.shown("equal", claims, more=(whole,))[0]:
            return whole
    found = weakest_condition(question, "equal")
    return found.condition if found is not None and any(holds_at(found.condition, v) for v in some) else None


def _torn(
    m: ParametricMap, question: SizeQuestion, shape: Sequence[Expr], sizes: Sequence[int], starts: Mapping[int, str]
) -> tuple[dict[str, int] | None, NoTile | None]:
    """Return small sizes at which tiles read no tile, and such a tile."""
    for values in itertools.islice(question.values(), _SIZES):
        dims = [int(n.evaluate(values)) for n in shape]
        found = tile_of(over(m.at(values), dims), sizes, starts) if min(dims, default=1) > 0 else None
        if isinstance(found, NoTile):
            return values, found
    return None, None


def _only_then(question: SizeQuestion, condition: Condition, at: Mapping[str, int]) -> bool:
    """Return whether no tile is read wherever the condition fails, shown by the reason at the sizes ``at``.

    It is proved for all these sizes that the elements of the reason are read, and that the one among them is not.
    """
    reads = question.maps[1]
    found = _hole(reads.at(at))
    if found is None:
        return False
    place, points, missing = found
    here: dict[Expr, Expr] = dict(zip(map(var, reads.dims), map(integer, place), strict=True))
    read = []
    for point, element in points.items():
        values = here | dict(zip(map(var, reads.ranges), map(integer, point), strict=True))
        read += substitute_conditions(reads.conditions, values)
        read += [e.eq(x) for e, x in zip(substitute_all(reads.results, values), element, strict=True)]
    outside = (v for v in itertools.islice(question.values(), _SIZES) if not holds_at(condition, v))
    if not all(holds_at(all_of(read), v) for v in outside):
        return False
    lacks = any_of([e.ne(z) for e, z in zip(substitute_all(reads.results, here), missing, strict=True)])
    known = (*question.sizes, negate(condition))
    among = (*known, *substitute_conditions(reads.conditions, here))
    return question.shown("no tile", [[(known, all_of(read))], [(among, lacks)]])[0]


def _hole(m: IndexingMap) -> tuple[_Point, dict[_Point, _Point], _Point] | None:
    """Return a place, values of ranges with the elements read there, and an element, not read, of each tile with these.

    A strided range with x, y and z contains x + y - z, if that is between its ends.
    """
    if prod(v.size for v in m.variables) > _POINTS:
        return None
    rows: dict[_Point, dict[_Point, _Point]] = {}
    for values in itertools.product(*(range(v.lo, v.hi + 1) for v in m.variables)):
        place, point = values[: len(m.dims)], values[len(m.dims) :]
        element = m.evaluate(place, point)
        if element is not None:
            rows.setdefault(place, {}).setdefault(element, point)
    for place, elements in rows.items():
        columns = []
        for k in range(len(m.results)):
            first = {e[k]: e for e in reversed(elements)}
            least, most = first[min(first)], first[max(first)]
            column = {x: [e] for x, e in first.items()}
            for x, y, z in itertools.product(sorted(first)[:_VALUES], repeat=3):
                if least[k] < x + y - z < most[k]:
                    column.setdefault(x + y - z, [first[x], first[y], first[z], least, most])
            columns.append(column)
        for missing in itertools.product(*columns):
            if missing not in elements:
                shown = [e for x, column in zip(missing, columns, strict=True) for e in column[x]]
                return place, {elements[e]: e for e in shown}, missing
    return None
