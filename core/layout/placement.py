"""The positions of array elements in memory, as ops: order of dimensions, padding, tiles.

:class:`Placement` follows the published description of tiled layouts (openxla.org/xla/tiled_layout). An array becomes a
linear sequence of positions in steps, each on a list of dimensions from the slowest to the fastest varying:

1. the dimensions in physical order, each widened to its padded size;
2. for every tile, in order, a :class:`Tiling`;
3. the position is the row-major one in the resulting dimensions, and the number of positions is rounded up.

Each of the steps is proved for symbolic sizes and for every rank up to a limit, and so is their composition
(`verify/layouts.py`). A position without an element is padding. Operand 1 of both ops is the padding value, so that the
elements and the padding partition memory.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar, TypeAlias

from ..condition import Condition, any_of
from ..expr import Expr, ExprLike, Int, ceildiv, integer, lift, var
from ..op import (
    Case,
    Coordinates,
    Demand,
    Map,
    Op,
    Range,
    Sizes,
    digits_of,
    exact_text,
    op,
    product,
    quotient,
    remainder,
    row_major,
    symbols,
)

Dims = tuple[int, ...]
#: The sizes of one tile; `None` is a dimension that is merged with the next one.
TileSizes: TypeAlias = "tuple[ExprLike | None, ...]"


class Padded(Op):
    """The base of the steps, and of pad: every output element is one of operand 0, or else operand 1, a scalar."""

    operands: ClassVar[int] = 2

    def sharing(self) -> Dims:
        return (0, 1)

    def place(self, i: Coordinates, x: Sizes) -> list[Expr]:
        """Return the place of element `i` of the array."""
        raise NotImplementedError

    def element(self, o: Coordinates, x: Sizes) -> tuple[list[Expr], list[Condition]]:
        """Return the element at a place, and the conditions under which one exists."""
        raise NotImplementedError

    def is_padding(self, o: Coordinates, x: Sizes) -> Condition:
        """Return the condition that no element is at a place."""
        return any_of(~c for c in self.element(o, x)[1])

    def related(self, o: Coordinates, i: Coordinates, x: Sizes) -> list[Condition]:
        """Return when element `i` is at place `o`: the specification of the maps."""
        raise NotImplementedError

    def reads(self, k: int, o: Coordinates, i: Coordinates, rt: Coordinates, x: Sizes, value: Sizes) -> list[Condition]:
        return self.related(o, i, x) if k == 0 else [self.is_padding(o, x)]

    def output_to_input(self, k: int, o: Coordinates, rt: Coordinates, x: Sizes, value: Sizes) -> Map:
        return Map(*self.element(o, x)) if k == 0 else Map([], [self.is_padding(o, x)])

    def input_to_output(self, k: int, i: Coordinates, rt: Coordinates, x: Sizes, value: Sizes) -> Map:
        if k == 0:
            return Map(self.place(i, x))
        places = [Range(n) for n in self.shape(x, value)]
        return Map(places, [self.is_padding([r.index for r in places], x)])


@op
class Tiling(Padded):
    """The last dimensions are cut into tiles: tile and place within it, all tiles before all places.

    A dimension of size n and a tile of size t become ⌈n/t⌉ tiles of t places. `None` in `tile` (written `*`) first
    merges a dimension with the next one. If a tile has more dimensions than the array, leading dimensions of size 1 are
    added to the array.
    """

    tile: TileSizes

    # -- how the dimensions correspond
    @property
    def _cuts(self) -> list[Expr]:
        return [lift(t) for t in self.tile if t is not None]

    def _ones(self, x: Sizes) -> int:
        return max(len(self.tile) - len(x), 0)

    def _kept(self, x: Sizes) -> int:
        return max(len(x) - len(self.tile), 0)

    def groups(self, x: Sizes) -> list[tuple[Expr, ...]]:
        """Return, for each dimension that the tile cuts, the sizes that are merged into it."""
        covered = [integer(1)] * self._ones(x) + [lift(n) for n in x[self._kept(x) :]]
        found: list[tuple[Expr, ...]] = []
        group: list[Expr] = []
        for n, t in zip(covered, self.tile, strict=True):
            group.append(n)
            if t is not None:
                found.append(tuple(group))
                group = []
        return found

    def extents(self, x: Sizes) -> list[Expr]:
        """Return the sizes that the tile cuts."""
        return [product(g) for g in self.groups(x)]

    def counts(self, x: Sizes) -> list[Expr]:
        """Return the number of tiles in each dimension."""
        return [ceildiv(n, t) for n, t in zip(self.extents(x), self._cuts, strict=True)]

    def sizes(self, x: Sizes) -> list[Expr]:
        """Return the sizes after tiling: leading dimensions, numbers of tiles, sizes of the tile."""
        return [*(lift(n) for n in x[: self._kept(x)]), *self.counts(x), *self._cuts]

    def merged(self, i: Coordinates, x: Sizes) -> list[Expr]:
        """Return the coordinates in the dimensions that the tile cuts."""
        rest = iter([*[integer(0)] * self._ones(x), *i[self._kept(x) :]])
        return [row_major([next(rest) for _ in g], g) for g in self.groups(x)]

    def cut(self, o: Coordinates, x: Sizes) -> list[tuple[Expr, Expr]]:
        """Return tile and place in every cut dimension, from the coordinates after tiling."""
        k, n = self._kept(x), len(self._cuts)
        return list(zip(o[k : k + n], o[k + n :], strict=True))

    # -- the op
    def structure(self, x: Sizes, value: Sizes) -> None:
        self._rank(1, value, 0)
        if not self.tile or self.tile[-1] is None:
            raise self.error(f"the tile {tile_text(self.tile)} does not end in a size", "a size")

    def demands(self, x: Sizes, value: Sizes) -> Iterator[Demand]:
        for t in self._cuts:
            yield t >= 1, f"the tile {tile_text(self.tile)} has a size below 1"

    def shape(self, x: Sizes, value: Sizes) -> list[Expr]:
        return self.sizes(x)

    def place(self, i: Coordinates, x: Sizes) -> list[Expr]:
        at = self.merged(i, x)
        return [
            *i[: self._kept(x)],
            *(quotient(a, t) for a, t in zip(at, self._cuts, strict=True)),
            *(remainder(a, t) for a, t in zip(at, self._cuts, strict=True)),
        ]

    def element(self, o: Coordinates, x: Sizes) -> tuple[list[Expr], list[Condition]]:
        found = list(o[: self._kept(x)])
        inside: list[Condition] = []
        for (tile, place), t, group in zip(self.cut(o, x), self._cuts, self.groups(x), strict=True):
            at = tile * t + place
            if not _fills(product(group), t):
                inside.append(at.within(0, product(group) - 1))
            found += _digits(at, group)
        return found[self._ones(x) :], inside

    def related(self, o: Coordinates, i: Coordinates, x: Sizes) -> list[Condition]:
        k = self._kept(x)
        return [
            *(a.eq(b) for a, b in zip(o[:k], i[:k], strict=True)),
            *(
                at.eq(tile * t + place)
                for at, (tile, place), t in zip(self.merged(i, x), self.cut(o, x), self._cuts, strict=True)
            ),
        ]

    @classmethod
    def cases(cls, rank: int) -> Iterator[Case]:
        # tiles of every length, at low ranks one longer than the rank; `*` anywhere but at the end
        t, n = symbols("t", rank + 1), symbols("n", rank)
        for length in range(1, rank + 1 + (rank < 3)):
            for merged in itertools.product((False, True), repeat=length - 1):
                tile = tuple(None if m else t[k] for k, m in enumerate((*merged, False)))
                yield Case.of(rank, f"tile {tile_text(tile)}", cls(tile), n, ())


def _digits(place: ExprLike, sizes: Sizes) -> list[Expr]:
    """Return the coordinates at a place; zeros where a size is zero, since no place exists."""
    if any(lift(n) is integer(0) for n in sizes):
        return [integer(0)] * len(sizes)
    return digits_of(place, sizes)


def _fills(extent: Expr, tile: Expr) -> bool:
    """Return whether whole tiles visibly cover the extent."""
    if isinstance(extent, Int) and isinstance(tile, Int):
        return tile.value > 0 and extent.value % tile.value == 0
    return tile is integer(1)


def tile_text(tile: TileSizes) -> str:
    """Return a tile as a layout writes it."""
    return "(" + ",".join("*" if t is None else str(t) for t in tile) + ")"


@op
class Placement(Padded):
    """Element i of an array is at one position of memory; every other position is padding.

    `minor_to_major` lists the dimensions from the fastest varying to the slowest, `padded` their padded sizes (empty:
    no padding), `tiles` the tiles, where `None` merges a dimension with the next one. The number of positions is
    rounded up to a multiple of `tail`.
    """

    minor_to_major: Dims
    tiles: tuple[TileSizes, ...] = ()
    padded: tuple[ExprLike, ...] = ()
    tail: ExprLike = 1

    def structure(self, x: Sizes, value: Sizes) -> None:
        self._rank(1, value, 0)
        self._dimensions("minor_to_major", self.minor_to_major, len(x), x, count=len(x))
        if self.padded:
            self._per_dimension("padded", self.padded, x)
        for tile in self.tiles:
            Tiling(tile).structure(x, value)

    def demands(self, x: Sizes, value: Sizes) -> Iterator[Demand]:
        for tile in self.tiles:
            yield from Tiling(tile).demands(x, value)
        on = f"padded={exact_text(self.padded)}"
        for d, (n, wide) in enumerate(zip(x, self.padded or x, strict=True)):
            yield (lift(wide) >= n, f"{on} makes dimension {d} narrower than in shape {exact_text(list(x))}")
        yield lift(self.tail) >= 1, f"tail={self.tail} is less than 1"

    # -- the steps
    def physical(self, v: Sequence[ExprLike]) -> list[Expr]:
        """Return coordinates or sizes from the slowest varying dimension to the fastest."""
        return [lift(v[d]) for d in reversed(self.minor_to_major)]

    def logical(self, v: Sequence[Expr]) -> list[Expr]:
        """Return the inverse of :meth:`physical`."""
        found = dict(zip(reversed(self.minor_to_major), v, strict=True))
        return [found[d] for d in range(len(v))]

    def tilings(self, x: Sizes) -> list[tuple[Tiling, list[Expr]]]:
        """Return each tile with the sizes that it is applied to, in order."""
        sizes = self.physical(self.padded or x)
        found = []
        for tile in self.tiles:
            step = Tiling(tile)
            found.append((step, sizes))
            sizes = step.sizes(sizes)
        return found

    def expanded(self, x: Sizes) -> list[Expr]:
        """Return the sizes after all tiles, slowest varying first: memory is this array in row-major order."""
        tilings = self.tilings(x)
        return tilings[-1][0].sizes(tilings[-1][1]) if tilings else self.physical(self.padded or x)

    def coordinates(self, i: Coordinates, x: Sizes) -> list[Expr]:
        """Return the coordinates of element `i` in :meth:`expanded`."""
        at = self.physical(i)
        for step, sizes in self.tilings(x):
            at = step.place(at, sizes)
        return at

    def line(self, coordinates: Coordinates, sizes: Sizes) -> Expr:
        """Return the position of coordinates within the expanded sizes."""
        return row_major(coordinates, sizes)

    def length(self, sizes: Sizes) -> Expr:
        """Return the number of positions for these expanded sizes."""
        used, tail = product(sizes), lift(self.tail)
        return used if _fills(used, tail) else ceildiv(used, tail) * tail

    def off_line(self, position: Expr, sizes: Sizes) -> tuple[list[Expr], list[Condition]]:
        """Return the coordinates at a position, and the conditions under which they exist."""
        used = product(sizes)
        inside = [] if _fills(used, lift(self.tail)) else [position.within(0, used - 1)]
        return _digits(position, sizes), inside

    # -- the op
    def shape(self, x: Sizes, value: Sizes) -> list[Expr]:
        return [self.length(self.expanded(x))]

    def position(self, i: Coordinates, x: Sizes) -> Expr:
        """Return the position of element `i` in memory."""
        return self.line(self.coordinates(i, x), self.expanded(x))

    def place(self, i: Coordinates, x: Sizes) -> list[Expr]:
        return [self.position(i, x)]

    def element(self, o: Coordinates, x: Sizes) -> tuple[list[Expr], list[Condition]]:
        at, inside = self.off_line(o[0], self.expanded(x))
        for step, sizes in reversed(self.tilings(x)):
            at, more = step.element(at, sizes)
            inside += more
        found = self.logical(at)
        if self.padded:
            inside += [
                a.within(0, lift(n) - 1)
                for a, n, wide in zip(found, x, self.padded, strict=True)
                if lift(n) is not lift(wide)
            ]
        return found, inside

    def related(self, o: Coordinates, i: Coordinates, x: Sizes) -> list[Condition]:
        return [o[0].eq(self.position(i, x))]

    @classmethod
    def cases(cls, rank: int) -> Iterator[Case]:
        n, t, default = symbols("n", rank), symbols("t", 2), tuple(reversed(range(rank)))

        def case(order: Dims, *tiles: TileSizes, padded: tuple[ExprLike, ...] = ()) -> Case:
            made = cls(order, tiles, padded)
            label = ",".join(map(str, order)) + (":T" if tiles else "") + "".join(map(tile_text, tiles))
            label = f"{{{label}}}" + (f", padded to {exact_text(list(padded))}" if padded else "")
            return Case.of(rank, label, made, n, ())

        for order in itertools.permutations(range(rank)):
            yield case(order)
        if 1 <= rank <= 3:
            yield case(default, padded=symbols("p", rank))
        match rank:
            case 0:
                yield case((), (t[0],))
            case 1:
                yield case((0,), (t[0],))
                yield case((0,), t)
                yield case((0,), (t[0],), (t[1],))
                yield Case.of(1, "{0:T(t0)L(a)}", cls((0,), ((t[0],),), (), var("a")), n, ())
            case 2:
                yield case((0, 1), padded=symbols("p", 2))
                for order in (default, (0, 1)):
                    yield case(order, t)
                yield case(default, (t[0],))
                yield case(default, (None, t[0]))
                for tiles in (((2, 2),), ((8, 128),), ((2, 4), (2, 1))):
                    yield case(default, *tiles)

    @classmethod
    def stacks(cls, rank: int) -> Iterator[Stack]:
        """Yield instances with several tiles of symbolic sizes on padded sizes; also aligned at rank 1."""
        n, p, t, u = (symbols(stem, rank) for stem in "nptu")
        # memory with more than seven expanded dimensions adds no new case, only size
        stacks: dict[int, list[tuple[TileSizes, ...]]] = {
            1: [(t, u)],
            2: [(t, u), (t[:1], t[1:]), ((None, *t[1:]), (var("u0"), None, var("u2"))), (t, (2, 1))],
            3: [(t[:2], (2, 1)), (t[:1], t[1:2]), ((None, *t[1:]), (var("u0"), None, var("u2")))],
            4: [(t[:2],), ((None, None, *t[2:]), (2, 1))],
        }
        if rank == 2:
            stacks[2].append(((8, 128), (2, 1)))
        order = tuple(range(rank)) if rank == 3 else tuple(reversed(range(rank)))
        tail = var("a") if rank == 1 else lift(1)
        for tiles in stacks.get(rank, []):
            text = ",".join(map(str, order)) + ":T" + "".join(map(tile_text, tiles))
            label = f"{{{text}{'L(a)' if rank == 1 else ''}}} by steps"
            plain = Case.of(rank, label, cls(order, tiles, p, tail), n, ())
            yield Stack(plain.label, plain.op, plain.shapes, plain.facts)


@dataclass(frozen=True)
class Stack(Case):
    """An instance of a placement whose steps are proved one by one, each for all sizes."""
