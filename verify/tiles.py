"""Propagate tiles through maps: exactly which elements of the target a tile reads, and whether these are a tile.

A tile is a product of strided ranges: in dimension k the elements ``offset + stride * i`` for ``0 <= i < size`` that
lie within bounds. Offsets depend on the tile's place; sizes, strides and bounds do not. isl decides the question for
all tiles at once, so reshapes that split, merge or cross dimensions are no special case. A refusal names a tile and an
element that the smallest candidate would contain, but that is not read. If isl takes more than `BUDGET` operations, up
to `POINTS` points are enumerated instead.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from math import gcd, prod
from typing import Any

import islpy
import numpy as np

from ..core.display import Shown
from ..core.errors import InputError
from ..core.expr import Expr, Var, integer, lift, substitute_all, var
from ..core.indexing_map import Constraint, IndexingMap, Variable
from ..core.parametric import ParametricMap
from ..core.points import domain_values
from ..core.text import format_expr
from ..rules.simplifier import simplify
from .access import MapPart, components
from .concrete import is_empty
from .isl_form import from_isl, to_isl
from .words import tuple_text

#: Limit on the operations of isl for one question, rarely more than a tenth of a second.
BUDGET = 100_000
#: Limit on the points that are enumerated.
POINTS = 1 << 20
_IN, _OUT, _PARAM, _SET = islpy.dim_type.in_, islpy.dim_type.out, islpy.dim_type.param, islpy.dim_type.set


@dataclass(frozen=True)
class TargetTile(Shown):
    """The tile of the target that each tile of the source reads."""

    #: From the place of the tile (the number of tiles before it in each dimension) to the offset; None if a single map
    #: cannot express it.
    offsets: IndexingMap | None
    sizes: tuple[int, ...]
    strides: tuple[int, ...]
    #: Elements outside these are not read.
    bounds: tuple[tuple[int, int], ...]

    @property
    def elements(self) -> int:
        """The number of elements in a whole tile."""
        return prod(self.sizes)

    def __str__(self) -> str:
        return tile_text(self.sizes, self.strides, self.offsets)


def tile_text(
    sizes: Sequence[Expr | int], strides: Sequence[Expr | int], offsets: IndexingMap | ParametricMap | None
) -> str:
    """Describe the tile that is read."""
    shown = "×".join(map(_size_text, sizes)) or "1"
    at = "at offsets that no single map says"
    if offsets is not None:
        at = f"at ({', '.join(format_expr(e) for e in offsets.results)})"
    steps = "" if all(lift(n) is integer(1) for n in strides) else f", strides {'×'.join(map(_size_text, strides))}"
    return f"reads a tile {shown} {at}{steps}"


def _size_text(n: Expr | int) -> str:
    text = format_expr(lift(n))
    return f"({text})" if " " in text else text


@dataclass(frozen=True)
class NoTile(Shown):
    """Why the elements that tiles read are no tiles."""

    #: The place of a tile.
    place: tuple[int, ...]
    #: An element of each tile that contains the ones read, but that is not read; None if only the size differs.
    missing: tuple[int, ...] | None
    #: The dimension of the target in which the size differs.
    dimension: int | None = None

    def __str__(self) -> str:
        return f"no tile: {self.why()}"

    def why(self, starts: Mapping[int, str] = {}) -> str:
        """Describe which tile reads no tile, and why; ``starts`` names places."""
        at = tuple_text(self.place)
        if starts:
            places = (f"{starts.get(k, f't{k}')} = {x}" for k, x in enumerate(self.place))
            at = f"({', '.join(places)})"
        if self.missing is None:
            return f"tile {at} reads fewer elements along dimension {self.dimension} than others"
        return f"tile {at} does not read {tuple_text(self.missing)}, which lies among what it reads"


def expect_sizes(sizes: Sequence[int], rank: int) -> None:
    """Raise `InputError` unless there is a size of at least 1 for each of ``rank`` dimensions."""
    if len(sizes) != rank or any(n < 1 for n in sizes):
        shown = ", ".join(map(str, sizes))
        raise InputError(f"a tile ({shown})", expected=f"a size of at least 1 for each of {rank} dimensions")


def placed(firsts: Sequence[int], sizes: Sequence[int], starts: Mapping[int, str]) -> Iterator[tuple[Var, Var, Expr]]:
    """Yield for each dimension the place of a tile, the number of an element in it, and the index of that element.

    Tiles are counted from ``firsts``; a dimension named in ``starts`` has the first element of a tile as its place.
    """
    for k, (first, size) in enumerate(zip(firsts, sizes, strict=True)):
        place, element = var(starts.get(k, f"t{k}")), var(f"e{k}")
        yield place, element, place + element if k in starts else place * size + element + first


def tiled(m: IndexingMap, sizes: Sequence[int], starts: Mapping[int, str] = {}) -> IndexingMap:
    """Return the map from tiles to the elements they read: dimension k counts tiles of ``sizes[k]`` elements.

    A dimension named in ``starts`` is instead the first element of a tile that begins anywhere. The last tile of a
    dimension may be smaller. Raises `InputError` for a wrong number of sizes, or one below 1.
    """
    expect_sizes(sizes, len(m.dims))
    dims, inside, constraints, places = [], [], [], {}
    for k, (tile, element, at) in enumerate(placed([v.lo for v in m.dims], sizes, starts)):
        v, size = m.dims[k], sizes[k]
        places[v.expr] = at
        ends = (v.lo, v.hi) if k in starts else (0, -(-v.size // size) - 1)
        dims.append(Variable(tile.name, *ends))
        inside.append(Variable(element.name, 0, min(size, v.size) - 1))
        if v.size % size or k in starts:
            constraints.append(Constraint(at, v.lo, v.hi))
    renamed = {v.expr: var(f"r{k}") for k, v in enumerate(m.ranges)}
    ranges = tuple(Variable(f"r{k}", v.lo, v.hi) for k, v in enumerate(m.ranges))
    known = {**places, **renamed}
    results = substitute_all(list(m.results), known)
    kept = [Constraint(substitute_all([c.expr], known)[0], c.lo, c.hi) for c in m.constraints]
    sources = m.rename({}).rts
    return IndexingMap(tuple(dims), (*inside, *ranges), sources, tuple(results), (*constraints, *kept))


def over(m: IndexingMap, shape: Sequence[int]) -> IndexingMap:
    """Extend the dimensions to these sizes from zero, with constraints that keep their values."""
    less = [v for v, n in zip(m.dims, shape, strict=True) if (v.lo, v.hi) != (0, n - 1)]
    dims = tuple(Variable(v.name, 0, n - 1) for v, n in zip(m.dims, shape, strict=True))
    return m.with_(dims=dims, constraints=(*m.constraints, *(Constraint(v.expr, v.lo, v.hi) for v in less)))


def tile_of(m: IndexingMap, sizes: Sequence[int], starts: Mapping[int, str] = {}) -> TargetTile | NoTile | None:
    """Return the tile of the target that tiles of ``sizes`` elements of the source read, or why there is none.

    Tiles begin anywhere in dimensions named in ``starts``, as in :func:`tiled`. None if undecided within the limits of
    this module. Parts of a map that share no variable are decided separately: a product is a tile if each factor is.
    """
    whole = tiled(m, sizes, starts)
    parts = [] if m.rts or m.is_trivially_empty else [p for p in components(m) if p.results or p.map.constraints]
    if len(parts) < 2 or not all(p.results for p in parts):
        return _decided(whole)
    found = []
    for p in parts:
        own = {n: starts[i] for n, i in enumerate(p.dims) if i in starts}
        found.append(_decided(tiled(p.map, [sizes[i] for i in p.dims], own)))
    for n, t in enumerate(found):
        if isinstance(t, NoTile):
            if any(p.map.constraints for p in (*parts[:n], *parts[n + 1 :])):
                return _decided(whole)
            at = [v.lo if i in starts else 0 for i, v in enumerate(m.dims)]
            return _not_tiled(m, parts, n, t, at)
    tiles = [t for t in found if isinstance(t, TargetTile)]
    if len(tiles) < len(parts):
        return None
    if any(p.map.constraints and is_empty(p.map).proved for p in parts):
        return _decided(whole)
    return _product(whole, parts, tiles)


def _not_tiled(m: IndexingMap, parts: Sequence[MapPart], n: int, why: NoTile, at: list[int]) -> NoTile:
    """Return why a map reads no tiles if part n does not, with the first place and element of each other part."""
    for i, x in zip(parts[n].dims, why.place, strict=True):
        at[i] = x
    dimension = None if why.dimension is None else parts[n].results[why.dimension]
    if why.missing is None:
        return NoTile(tuple(at), None, dimension)
    least = {v.expr: v.lo for v in m.variables}
    missing = [e.evaluate(least) for e in m.results]
    for k, x in zip(parts[n].results, why.missing, strict=True):
        missing[k] = x
    return NoTile(tuple(at), tuple(missing), dimension)


def _product(whole: IndexingMap, parts: Sequence[MapPart], tiles: Sequence[TargetTile]) -> TargetTile:
    """Return the tile of a map from those of its parts."""
    at = {k: (t, n) for p, t in zip(parts, tiles, strict=True) for n, k in enumerate(p.results)}
    order = [at[k] for k in range(len(whole.results))]
    offsets = None
    if all(t.offsets is not None for t in tiles):
        dims, constraints = [*whole.dims], list[Constraint]()
        results: dict[int, Expr] = {}
        for p, t in zip(parts, tiles, strict=True):
            assert t.offsets is not None
            names = {v.name: whole.dims[i].name for v, i in zip(t.offsets.dims, p.dims, strict=True)}
            own = t.offsets.rename(names)
            for v, i in zip(own.dims, p.dims, strict=True):
                dims[i] = v
            results.update(zip(p.results, own.results, strict=True))
            constraints += own.constraints
        ordered = tuple(results[k] for k in range(len(order)))
        offsets = IndexingMap(tuple(dims), (), (), ordered, tuple(constraints))
    return TargetTile(
        offsets,
        tuple(t.sizes[n] for t, n in order),
        tuple(t.strides[n] for t, n in order),
        tuple(t.bounds[n] for t, n in order),
    )


def _decided(whole: IndexingMap) -> TargetTile | NoTile | None:
    """Decide a map from tiles to the elements they read, as a whole."""
    context = islpy.Context()
    context.set_max_operations(BUDGET)
    try:
        return _by_relation(whole, context)
    except islpy.Error:
        # the budget is exhausted, which isl's reader reports as a syntax error
        return _by_points(whole)


def _by_relation(whole: IndexingMap, context: Any) -> TargetTile | NoTile:
    """Decide for all tiles at once, by relations of isl."""
    reads = to_isl(whole, context)
    ranges = [_Coordinate(reads, k) for k in range(len(whole.results))]
    for k, r in enumerate(ranges):
        place = _point(r.cut_off(), len(whole.dims))
        if place is not None:
            return NoTile(place, None, k)
    around = _together([r.around for r in ranges], _places(reads))
    more = around.subtract(reads)
    if not more.is_empty():
        point = _point(more.wrap(), len(whole.dims) + len(whole.results))
        assert point is not None
        return NoTile(point[: len(whole.dims)], point[len(whole.dims) :])
    tile = tuple(r.size for r in ranges), tuple(r.stride for r in ranges), tuple(r.bounds for r in ranges)
    return TargetTile(_offsets(whole, reads, ranges), *tile)


def _by_points(whole: IndexingMap) -> TargetTile | NoTile | None:
    """Decide by enumerating all points, unless they are too many."""
    columns = None if whole.rts else domain_values(whole, [*whole.dim_vars, *whole.results], POINTS)
    if columns is None:
        return None
    rows = np.unique(np.stack(columns, axis=1), axis=0)
    places, read = rows[:, : len(whole.dims)], rows[:, len(whole.dims) :]
    starts = np.flatnonzero(np.r_[True, (places[1:] != places[:-1]).any(axis=1)]) if len(rows) else np.zeros(0, int)
    counts = np.diff(np.r_[starts, len(rows)])
    if not len(rows):
        return TargetTile(None, (1,) * read.shape[1], (1,) * read.shape[1], ((0, 0),) * read.shape[1])
    first, last = np.minimum.reduceat(read, starts), np.maximum.reduceat(read, starts)
    strides = np.maximum(np.gcd.reduce(read - np.repeat(first, counts, axis=0)), 1)
    extents = (last - first) // strides + 1
    sizes, low, high = extents.max(axis=0), read.min(axis=0), read.max(axis=0)
    cut = (extents < sizes) & (first - strides >= low) & (last + strides <= high)
    for k in range(read.shape[1]):
        if cut[:, k].any():
            return NoTile(tuple(places[starts[cut[:, k].argmax()]].tolist()), None, k)
    partly = np.flatnonzero(counts < extents.prod(axis=1))
    if len(partly):
        n = partly[0]
        held = set(map(tuple, read[starts[n] : starts[n] + counts[n]].tolist()))
        spans = (
            range(a, b + 1, s) for a, b, s in zip(first[n].tolist(), last[n].tolist(), strides.tolist(), strict=True)
        )
        missing = next(e for e in itertools.product(*spans) if e not in held)
        return NoTile(tuple(places[starts[n]].tolist()), missing)
    bounds = tuple(zip(low.tolist(), high.tolist(), strict=True))
    return TargetTile(None, tuple(sizes.tolist()), tuple(strides.tolist()), bounds)


@dataclass(frozen=True)
class TilingPlan:
    """Sizes of output tiles for which every operand is read in tiles."""

    sizes: tuple[int, ...]
    #: Bytes of one tile of the output and of the tiles it reads.
    bytes: int
    #: Bytes that all tiles load and store in total, if each loads the tiles it reads.
    moved: int


def tilings(
    dims: Sequence[int], bits: int, operands: Sequence[tuple[Sequence[IndexingMap], int]], budget: int
) -> list[TilingPlan]:
    """Return the tilings of an output of sizes ``dims`` whose tiles fit into ``budget`` bytes, by least traffic and
    then by largest tiles.

    ``operands`` are the maps to each operand, and the ``bits`` of its elements. Sizes are divisors and powers of two.
    An operand that several maps read is loaded once for each.
    """
    choices = [
        sorted({d for d in range(1, n + 1) if n % d == 0} | {1 << k for k in range(n.bit_length()) if 1 << k < n})
        for n in dims
    ]
    found = []
    for sizes in itertools.product(*choices):
        held = -(-prod(sizes) * bits // 8)
        for maps, width in operands:
            for m in maps:
                # beyond the budget, further operands need no tiles
                tile = tile_of(m, sizes) if held <= budget else None
                held = held + -(-tile.elements * width // 8) if isinstance(tile, TargetTile) else budget + 1
        if held <= budget:
            count = prod(-(-n // size) for n, size in zip(dims, sizes, strict=True))
            found.append(TilingPlan(sizes, held, held * count))
    return sorted(found, key=lambda t: (t.moved, -t.bytes, t.sizes))


class _Coordinate:
    """One coordinate of the elements that tiles read."""

    def __init__(self, reads: Any, k: int) -> None:
        self.reads = _projected(reads, k)
        self.first, self.last = self.reads.lexmin(), self.reads.lexmax()
        self.read = self.reads.range()
        steps = self.first.reverse().apply_range(self.reads).deltas()
        self.stride = _common(steps)
        self.size = _end(steps, last=True) // self.stride + 1
        #: over all runtime values
        self.bounds = (_end(self.read, last=False), _end(self.read, last=True))
        after, before = self._map(f"b >= a and (b - a) mod {self.stride} = 0"), self._map("b <= a")
        #: the numbers from the least to the greatest that is read, for each runtime value
        self.hull = self.read.lexmin().apply(self._map("b >= a")).intersect(self.read.lexmax().apply(before))
        #: the strided range from the first to the last
        self.around = self.first.apply_range(after).intersect(self.last.apply_range(before))

    def _map(self, condition: str) -> Any:
        """Return the map from each number ``a`` to the numbers ``b`` under a condition."""
        return islpy.Map.read_from_str(self.reads.get_ctx(), f"{{ [a] -> [b] : {condition} }}")

    def cut_off(self) -> Any:
        """Return the tiles with fewer elements in this coordinate, though the bounds cut nothing off."""
        whole = self.first.apply_range(self._map(f"b = a + {self.stride * (self.size - 1)}")).intersect(self.last)
        later, earlier = self._map(f"b >= a + {self.stride}"), self._map(f"b <= a - {self.stride}")
        go_on = self.last.apply_range(later).intersect_range(self.read).domain()
        begin = self.first.apply_range(earlier).intersect_range(self.read).domain()
        return self.reads.domain().subtract(whole.domain()).intersect(go_on).intersect(begin)

    def filled(self, first: Any) -> Any:
        """Return the elements within bounds of tiles that begin at these numbers."""
        reached = f"a <= b <= a + {self.stride * (self.size - 1)} and (b - a) mod {self.stride} = 0"
        return first.apply_range(self._map(reached)).intersect_range(self.hull)


def _projected(reads: Any, k: int) -> Any:
    """Return the map from tiles to one coordinate of the elements they read."""
    return reads.project_out(_OUT, k + 1, reads.dim(_OUT) - k - 1).project_out(_OUT, 0, k)


def _places(reads: Any) -> Any:
    """Return the map from every tile that reads an element to the empty tuple."""
    return reads.project_out(_OUT, 0, reads.dim(_OUT))


def _end(points: Any, last: bool) -> int:
    points = points.project_out_all_params()
    value = points.dim_max_val(0) if last else points.dim_min_val(0)
    return int(value.to_python()) if not points.is_empty() else 0


def _common(steps: Any) -> int:
    """Return the greatest common divisor of a set of numbers, or 1 if all are zero."""
    steps = steps.project_out_all_params()
    divisor = _end(steps, last=True)
    if not divisor:
        return 1
    while divisor > 1:
        others = steps.subtract(islpy.Set.read_from_str(steps.get_ctx(), f"{{ [x] : x mod {divisor} = 0 }}"))
        if others.is_empty():
            break
        divisor = gcd(divisor, int(others.sample_point().get_coordinate_val(_SET, 0).to_python()))
    return divisor


def _point(points: Any, rank: int) -> tuple[int, ...] | None:
    """Return the lexicographically first point, for any runtime values."""
    points = points.project_out_all_params()
    if points.is_empty():
        return None
    first = points.lexmin().sample_point()
    return tuple(int(first.get_coordinate_val(_SET, k).to_python()) for k in range(rank))


def _offsets(whole: IndexingMap, reads: Any, ranges: Sequence[_Coordinate]) -> IndexingMap | None:
    """Return the offsets as one map, or None if no single map expresses them."""
    rank = len(whole.results)
    free = to_isl(whole.with_(constraints=()), reads.get_ctx())
    unlimited = [_projected(free, k).lexmin() for k in range(rank)], _places(free)
    for firsts, places in (unlimited, ([r.first for r in ranges], _places(reads))):
        if _together([r.filled(f) for r, f in zip(ranges, firsts, strict=True)], places).is_equal(reads):
            try:
                return simplify(from_isl(_together(firsts, places)))
            except InputError:  # several cases
                continue
    return None


def _together(coordinates: Sequence[Any], places: Any) -> Any:
    """Return the map from the places of tiles to tuples of these coordinates."""
    return reduce(lambda a, b: a.flat_range_product(b), coordinates, places)
