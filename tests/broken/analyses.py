"""Wrong parts of counts of what maps read, of tiles and of equations between digits: each must contradict enumeration."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from indexproof.core.expr import Expr
from indexproof.core.indexing_map import IndexingMap
from indexproof.core.interval import Interval
from indexproof.core.parametric import ParametricMap
from indexproof.verify import access, access_for_all_sizes, tile_sizes, tiles
from indexproof.verify.concrete import equations

__all__ = [
    "ELEMENTS",
    "ELEMENTS_FOR_ALL_SIZES",
    "EQUATIONS",
    "REQUESTS",
    "TILES",
    "TILE_SIZES",
    "aligned_only",
]


def every_lane_counts(bits: Any, granule: int) -> Any:
    """Lanes that touch one granule count it once each."""
    return (bits >= 0).sum(axis=1)


def no_broadcast(bits: Any, element: int, warp: int) -> Any:
    """Lanes that read one word of a bank wait for each other."""
    rows = bits.shape[0]
    word = bits.reshape(rows, -1) // (8 * access.WORD)
    counts = [np.bincount(w[w >= 0] % access.BANKS, minlength=1).max() for w in word]
    return np.array(counts, np.int64)


def any_vector(counter: Any, f: Any, unroll: Any) -> int:
    """Neighbours are one vector, wherever they lie."""
    return 1 if unroll is None else int(unroll.size)


def any_period(counter: Any, f: Any, v: Any, moves: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Addresses repeat after any number of steps."""
    yield from ((by, 0) for by in moves)


def first_step(counter: Any, f: Expr, v: Any, by: int) -> int | None:
    """Where sampled points and the first step agree, it is taken to hold in the whole box."""
    return _step(counter, f, type(v)(v.name, v.lo, v.lo + by), by)


def domains_forgotten(m: IndexingMap) -> Any:
    """Elements outside of the domain are read too."""
    return _targets(m.with_(constraints=()))


def all_apart(m: IndexingMap) -> Iterator[IndexingMap]:
    """Constraints between variables of two parts are lost."""
    return _components(m.with_(constraints=()))


def never_twice(m: Any, variables: Any, results: Any) -> bool:
    """Points with one result are told apart."""
    return True


def neighbours(e: Expr, v: Any) -> bool:
    """Sums are one apart whatever they multiply with."""
    return True


def only_boxes(m: Any, c: Any) -> bool:
    """Conditions that tie variables together are lost."""
    return True


def dense(steps: Any) -> int:
    """A tile has no strides."""
    return 1


def one_too_few(m: IndexingMap, sizes: Sequence[int]) -> IndexingMap:
    """The last tile of a dimension is left out where it is smaller."""
    whole = _tiled(m, sizes)
    dims = tuple(
        v if not n % size else type(v)(v.name, v.lo, max(v.hi - 1, v.lo))
        for v, size, n in zip(whole.dims, sizes, (d.size for d in m.dims), strict=True)
    )
    return whole.with_(dims=dims)


def each_result_alone(m: IndexingMap) -> list[Any]:
    """Results are taken for parts of a map though they have variables in common."""
    every = range(len(m.dims))
    return [tiles._Part(m.with_(results=(e,)), every, [k]) for k, e in enumerate(m.results)]


def first_for_last(points: Any, last: bool) -> int:
    """The end of a tile is its beginning."""
    return _end(points, False)


def carries_allowed(k: int, chain: Any, whole: bool) -> Any:
    """A tile may cross the end of a period."""
    return tuple(some[:1] if some[0].kind == "multiple" else () for some in _box(k, chain, whole))


def never_cut(ds: Any, dims: Any) -> tuple[Any, ...]:
    """A smaller last tile is cut off by bounds whatever digit it is of."""
    return ()


def aligned_only(k: int, chain: Any, whole: bool) -> Any:
    """Tiles begin at multiples of their sizes."""
    return _box(k, chain, whole)


def gaps_allowed(ds: Any) -> Iterator[Any]:
    """Digits join whatever their coefficients."""
    for j, b in enumerate(ds):
        yield from ((*a.single(), *b.single(), b.full()) for a in ds[:j])


def no_carry(const: int, terms: Any, box: Any) -> Interval:
    """A value below a stride never reaches it."""
    return Interval(const, const)


def any_digit(e: Expr, box: Any) -> Interval | None:
    """Any sum of variables is a digit, however large."""
    return None if _linear_span(e, box) is None else Interval(0, 0)


def any_remainder(e: Expr, x: Expr, y: Expr, n: int) -> bool:
    """The remainder beside a quotient may be that of another number."""
    return True


_linear_span, _step = equations._linear_span, access._Counter._step
_box = tile_sizes._box
_targets, _components, _tiled, _end = access._targets, access._components, tiles.tiled, tiles._end

ELEMENTS = [(access, "_targets", domains_forgotten), (access, "_components", all_apart)]
ELEMENTS_FOR_ALL_SIZES = [
    (access_for_all_sizes, "_tells_apart", never_twice),
    (access_for_all_sizes, "_steps", neighbours),
    (ParametricMap, "is_box", only_boxes),
]
REQUESTS = [
    (access, "_distinct", every_lane_counts),
    (access, "_wavefronts", no_broadcast),
    (access._Counter, "_vector", any_vector),
    (access._Counter, "_differences", any_period),
    (access._Counter, "_step", first_step),
]
TILES = [
    (tiles, "_common", dense),
    (tiles, "tiled", one_too_few),
    (tiles, "_end", first_for_last),
    (tiles, "_independent", each_result_alone),
]
TILE_SIZES = [
    (tile_sizes, "_box", carries_allowed),
    (tile_sizes, "_cut_off", never_cut),
    (tile_sizes, "_shifted", aligned_only),
    (tile_sizes, "_merged", gaps_allowed),
]
EQUATIONS = [
    (equations, "span", no_carry),
    (equations, "_linear_span", any_digit),
    (equations, "_is_remainder", any_remainder),
]
