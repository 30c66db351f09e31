"""Mistakes in counts of reads, in tiles and in digit equations: each must contradict enumeration."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from indexproof.core.condition import TRUE, Condition, any_of
from indexproof.core.expr import integer
from indexproof.core.indexing_map import IndexingMap
from indexproof.core.interval import Interval
from indexproof.core.parametric import ParametricMap
from indexproof.verify import (
    access,
    access_for_all_sizes,
    inversion,
    reshape_tiles,
    tile_sizes,
    tiles,
    tiles_for_all_sizes,
)
from indexproof.verify.concrete import Answer, equations
from indexproof.verify.reshape_tiles import ReshapeTile
from indexproof.verify.size_claims import SizeQuestion
from indexproof.verify.verdict import Status

__all__ = [
    "ELEMENTS",
    "ELEMENTS_FOR_ALL_SIZES",
    "EQUATIONS",
    "REQUESTS",
    "RESHAPE_TILES",
    "SHUFFLES",
    "TILES",
    "TILES_FOR_ALL_SIZES",
    "TILE_SIZES",
    "aligned_only",
]

#: A class or module, the name of the replaced part, and the wrong part.
Mistake = tuple[Any, str, Callable[..., Any]]


def mistake(owner: Any, part: str, says: str, wrong: Callable[..., Any]) -> Mistake:
    """Return a mistake whose wrong part is named after ``says``."""
    wrong.__name__ = says
    return owner, part, wrong


def no_broadcast(bits: Any, element: int, warp: int) -> Any:
    rows = bits.shape[0]
    word = bits.reshape(rows, -1) // (8 * access.WORD)
    counts = [np.bincount(w[w >= 0] % access.BANKS, minlength=1).max() for w in word]
    return np.array(counts, np.int64)


def one_too_few(m: IndexingMap, sizes: Sequence[int], starts: Any) -> IndexingMap:
    whole = _tiled(m, sizes, starts)
    dims = tuple(
        v if not n % size else type(v)(v.name, v.lo, max(v.hi - 1, v.lo))
        for v, size, n in zip(whole.dims, sizes, (d.size for d in m.dims), strict=True)
    )
    return whole.with_(dims=dims)


def each_result_alone(m: IndexingMap) -> list[Any]:
    every = range(len(m.dims))
    return [access.MapPart(m.with_(results=(e,)), every, [k]) for k, e in enumerate(m.results)]


def whole_tiles_only(m: Any, shape: Any, sizes: Any, starts: Any) -> ParametricMap:
    whole = _parametric_tiled(m, shape, sizes, starts)
    ends = {f"e{k}" for k in range(len(sizes))}
    named = ((c, {v.name for v in c.variables()}) for c in whole.conditions)
    return replace(whole, conditions=tuple(c for c, names in named if len(names) < 2 or names.isdisjoint(ends)))


def carries_allowed(k: int, chain: Any, whole: bool) -> Any:
    return TRUE


def aligned_only(k: int, chain: Any, whole: bool) -> Any:
    """Tiles begin at multiples of their sizes."""
    return _box(k, chain, whole)


def no_rows(tile: ReshapeTile, k: int, of: int) -> Condition:
    return _parts(tile, 0, of)


def gaps_allowed(ds: Any) -> Iterator[Any]:
    for j, b in enumerate(ds):
        yield from (any_of((a.single(), b.single(), b.full())) for a in ds[:j])


_linear_span, _step = equations._linear_span, access._Counter._step
_box = tile_sizes._box
_parts = ReshapeTile._parts
_parametric_tiled = tiles_for_all_sizes._tiled
_remainder = access_for_all_sizes._remainder
_targets, _components, _tiled, _end = access._targets, access.components, tiles.tiled, tiles._end

ELEMENTS = [
    mistake(access, "_targets", "elements outside of the domain are read too", lambda m: _targets(m.with_(constraints=()))),
    mistake(access, "components", "constraints between variables of two parts are lost",
        lambda m: _components(m.with_(constraints=()))),
]  # fmt: skip
ELEMENTS_FOR_ALL_SIZES = [
    mistake(access_for_all_sizes, "_tells_apart", "points with one result are told apart",
        lambda m, variables, results: True),
    mistake(access_for_all_sizes, "_steps", "sums are one apart whatever they multiply with", lambda e, v: True),
    mistake(access_for_all_sizes, "_remainder", "whatever is left over, multiples of the divisor are counted",
        lambda c, m: (found := _remainder(c, m)) and (*found[:2], integer(0))),
    mistake(ParametricMap, "is_box", "conditions that tie variables together are lost", lambda m, c: True),
]  # fmt: skip
REQUESTS = [
    mistake(access, "_distinct", "lanes that touch one granule count it once each",
        lambda bits, granule: (bits >= 0).sum(axis=1)),
    mistake(access, "_wavefronts", "lanes that read one word of a bank wait for each other", no_broadcast),
    mistake(access._Counter, "_vector", "neighbours are one vector, wherever they lie",
        lambda counter, f, unroll: 1 if unroll is None else int(unroll.size)),
    mistake(access._Counter, "_differences", "addresses repeat after any number of steps",
        lambda counter, f, v, moves: ((by, 0) for by in moves)),
    mistake(access._Counter, "_step", "where sampled points and the first step agree, it is taken to hold everywhere",
        lambda counter, f, v, by: _step(counter, f, type(v)(v.name, v.lo, v.lo + by), by)),
]  # fmt: skip
TILES = [
    mistake(tiles, "_common", "a tile has no strides", lambda steps: 1),
    mistake(tiles, "tiled", "the last tile of a dimension is left out where it is smaller", one_too_few),
    mistake(tiles, "_end", "the end of a tile is its beginning", lambda points, last: _end(points, False)),
    mistake(tiles, "components", "results with variables in common are taken for parts of a map", each_result_alone),
]  # fmt: skip
TILES_FOR_ALL_SIZES = [
    mistake(tiles_for_all_sizes, "_tiled", "all of the last tile is in the source", whole_tiles_only),
    mistake(tiles_for_all_sizes, "_enough", "what is a tile at some sizes is one at all", lambda question, sizes: TRUE),
    mistake(tiles_for_all_sizes, "_only_then", "what is enough is necessary", lambda question, condition, at: True),
    mistake(SizeQuestion, "decided", "what is proposed is taken for proved",
        lambda question, name, confirm: Answer(Status.PROVED, "", (), None, 0.0)),
]  # fmt: skip
TILE_SIZES = [
    mistake(tile_sizes, "_box", "a tile may cross the end of a period", carries_allowed),
    mistake(tile_sizes, "_cut_off", "a smaller last tile is cut off by bounds whatever digit it is of",
        lambda ds, dims: ()),
    (tile_sizes, "_shifted", aligned_only),
    mistake(tile_sizes, "_merged", "digits join whatever their coefficients", gaps_allowed),
]  # fmt: skip
RESHAPE_TILES = [
    mistake(ReshapeTile, "_strides", "rows are neighbours", lambda tile, k: iter(())),
    mistake(ReshapeTile, "_continued", "rows of one element are never parts of a longer row", lambda tile, k: iter(())),
    mistake(reshape_tiles, "_aligned", "a boundary divides a tile", reshape_tiles._divides),
    mistake(ReshapeTile, "_parts", "a row need not end at a boundary", no_rows),
]  # fmt: skip
SHUFFLES = [
    mistake(inversion, "_turns", "a place doubled modulo a size never wraps around",
        lambda a, b, first, unknown: integer(0)),
    mistake(inversion, "_apart", "a place beside its remainder is a digit of its own", lambda e: e),
]  # fmt: skip
EQUATIONS = [
    mistake(equations, "span", "a value below a stride never reaches it", lambda const, terms, box: Interval(const, const)),
    mistake(equations, "_linear_span", "any sum of variables is a digit, however large",
        lambda e, box: None if _linear_span(e, box) is None else Interval(0, 0)),
    mistake(equations, "_is_remainder", "the remainder beside a quotient may be that of another number",
        lambda e, x, y, n: True),
]  # fmt: skip
