"""Layouts that are wrong: subclasses of the real placement and tile with one method replaced."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from indexproof.core.condition import Condition, any_of
from indexproof.core.expr import Expr, ExprLike, ceildiv, floordiv, integer, lift, mod, var
from indexproof.core.layout.placement import Placement, Tiling
from indexproof.core.op import Case, Coordinates, Sizes, product, row_major, symbols

from .planted import Planted, instance


# ------------------------------------------------------------------------------------------------------------- one tile
class TilingCountsDown(Tiling):
    """Leaves the last tile out unless it is full."""

    def counts(self, x: Sizes) -> list[Expr]:
        return [floordiv(n, t) for n, t in zip(self.extents(x), self._cuts, strict=True)]


class TilingOneMore(Tiling):
    """Always begins another tile."""

    def counts(self, x: Sizes) -> list[Expr]:
        return [floordiv(n, t) + 1 for n, t in zip(self.extents(x), self._cuts, strict=True)]


class TilingTransposed(Tiling):
    """Exchanges the places within a tile."""

    def place(self, i: Coordinates, x: Sizes) -> list[Expr]:
        at = super().place(i, x)
        return [*at[:-2], at[-1], at[-2]]


class TilingInterleaved(Tiling):
    """Puts the places of a dimension next to its tiles, as they are before the transpose."""

    def _mixed(self, v: Sequence[Expr], x: Sizes) -> list[Expr]:
        k, n = self._kept(x), len(self._cuts)
        return [*v[:k], *(e for pair in zip(v[k : k + n], v[k + n :], strict=True) for e in pair)]

    def cut(self, o: Coordinates, x: Sizes) -> list[tuple[Expr, Expr]]:
        k = self._kept(x)
        return list(zip(o[k::2], o[k + 1 :: 2], strict=True))

    def place(self, i: Coordinates, x: Sizes) -> list[Expr]:
        return self._mixed(super().place(i, x), x)

    def shape(self, x: Sizes, value: Sizes) -> list[Expr]:
        return self._mixed(super().shape(x, value), x)


class TilingMergesBackwards(Tiling):
    """Merges dimensions with the first one varying fastest."""

    def merged(self, i: Coordinates, x: Sizes) -> list[Expr]:
        rest = iter([*[integer(0)] * self._ones(x), *i[self._kept(x) :]])
        return [row_major([next(rest) for _ in g][::-1], g[::-1]) for g in self.groups(x)]


class TilingOfTheFirst(Tiling):
    """Cuts the first dimensions instead of the last."""

    def place(self, i: Coordinates, x: Sizes) -> list[Expr]:
        return super().place([*reversed(i)], x)


class TilingWithoutPadding(Tiling):
    """Takes every place for an element."""

    def element(self, o: Coordinates, x: Sizes) -> tuple[list[Expr], list[Condition]]:
        return super().element(o, x)[0], []


class TilingPadsTooMuch(Tiling):
    """Takes the last element for padding."""

    def element(self, o: Coordinates, x: Sizes) -> tuple[list[Expr], list[Condition]]:
        found, _ = super().element(o, x)
        return found, [a.within(0, n - 2) for a, n in zip(found, lift_all(x), strict=True)]


class TilingComplementOffByOne(Tiling):
    """Lets padding begin at the last element of the array."""

    def is_padding(self, o: Coordinates, x: Sizes) -> Condition:
        found, _ = self.element(o, x)
        return any_of(a >= n - 1 for a, n in zip(found, lift_all(x), strict=True))


class TilingComplementOfOneDimension(Tiling):
    """Forgets the padding of all dimensions but the first."""

    def is_padding(self, o: Coordinates, x: Sizes) -> Condition:
        return any_of(~c for c in self.element(o, x)[1][:1])


def lift_all(x: Sizes) -> list[Expr]:
    return [lift(n) for n in x]


# -------------------------------------------------------------------------------------------------------- whole layouts
class PlacementMajorToMinor(Placement):
    """Reads the list of dimensions from the slowest varying to the fastest."""

    def physical(self, v: Sequence[ExprLike]) -> list[Expr]:
        return [lift(v[d]) for d in self.minor_to_major]

    def logical(self, v: Sequence[Expr]) -> list[Expr]:
        found = dict(zip(self.minor_to_major, v, strict=True))
        return [found[d] for d in range(len(v))]


class PlacementLogicalInverse(Placement):
    """Applies the physical order where its inverse is due."""

    def logical(self, v: Sequence[Expr]) -> list[Expr]:
        return self.physical(v)


class PlacementColumnMajor(Placement):
    """Lets the first of the expanded dimensions vary fastest."""

    def line(self, coordinates: Coordinates, sizes: Sizes) -> Expr:
        return row_major([*reversed(coordinates)], [*reversed(sizes)])


class PlacementWithoutPaddedStrides(Placement):
    """Steps over the sizes of the array where the padded ones are due."""

    def position(self, i: Coordinates, x: Sizes) -> Expr:
        return row_major(self.physical(i), self.physical(x))


class PlacementPadsInFront(Placement):
    """Puts padding before the elements."""

    def position(self, i: Coordinates, x: Sizes) -> Expr:
        moved = [a + (lift(w) - n) for a, w, n in zip(i, self.padded, x, strict=True)]
        return super().position(moved, x)

    def element(self, o: Coordinates, x: Sizes) -> tuple[list[Expr], list[Condition]]:
        whole = replace(self, padded=())
        found, _ = Placement.element(whole, o, list(self.padded))
        moved = [a - (lift(w) - n) for a, w, n in zip(found, self.padded, x, strict=True)]
        return moved, [a.within(0, lift(n) - 1) for a, n in zip(moved, x, strict=True)]


class PlacementTilesTilesOfElements(Placement):
    """Forgets the places within a tile."""

    def line(self, coordinates: Coordinates, sizes: Sizes) -> Expr:
        half = len(sizes) // 2
        return row_major(coordinates[:half], sizes[:half])


class PlacementInnerTileFirst(Placement):
    """Applies the tiles in the opposite order."""

    def tilings(self, x: Sizes) -> list[tuple[Tiling, list[Expr]]]:
        return Placement.tilings(Placement(self.minor_to_major, self.tiles[::-1], self.padded, self.tail), x)


class PlacementInnerPaddingForgotten(Placement):
    """Knows the padding of the array, not that of the tiles within tiles."""

    def element(self, o: Coordinates, x: Sizes) -> tuple[list[Expr], list[Condition]]:
        found, inside = super().element(o, x)
        return found, inside[-1:]


class PlacementTailDown(Placement):
    """Rounds the number of positions down."""

    def length(self, sizes: Sizes) -> Expr:
        used = product(sizes)
        return floordiv(used, self.tail) * self.tail


class PlacementTailAlwaysMore(Placement):
    """Adds a whole alignment where none is due."""

    def length(self, sizes: Sizes) -> Expr:
        return (floordiv(product(sizes), self.tail) + 1) * self.tail


class PlacementTailIsElements(Placement):
    """Forgets that nothing stands in the rounded-up rest."""

    def off_line(self, position: Expr, sizes: Sizes) -> tuple[list[Expr], list[Condition]]:
        return super().off_line(position, sizes)[0], []


class PlacementRemainderOfWrongSize(Placement):
    """Takes digits by the size of the next dimension."""

    def off_line(self, position: Expr, sizes: Sizes) -> tuple[list[Expr], list[Condition]]:
        at, inside = super().off_line(position, sizes)
        return [*at[:-1], mod(position, lift(sizes[0]))], inside


class PlacementCountsInTiles(Placement):
    """Says that there are as many rows of tiles as rows, as if no tile were cut."""

    def expanded(self, x: Sizes) -> list[Expr]:
        sizes = super().expanded(x)
        return [ceildiv(sizes[0] + 1, 2), *sizes[1:]]


def wrong(cls: type, twin: Case) -> Case:
    """The instance of another class with the same attributes."""
    made = cls(**{name: getattr(twin.op, name) for name in twin.op.__dataclass_fields__})
    return replace(twin, op=made)


def planted(cls: type, fails: str, twin: Case) -> Planted:
    return Planted(cls.__name__, wrong(cls, twin), fails, twin)


_ONE = instance(Tiling, 1, "tile (t0)")
_TWO = instance(Tiling, 2, "tile (t0,t1)")
_LAST = instance(Tiling, 2, "tile (t0)")
_MERGED = instance(Tiling, 2, "tile (*,t1)")
_ORDER = instance(Placement, 2, "{0,1}")
_ROTATED = instance(Placement, 3, "{0,2,1}")
_PADDED = instance(Placement, 2, "{1,0}, padded")
_TILED = instance(Placement, 2, "{1,0:T(2,2)}")
_AGAIN = instance(Placement, 1, "{0:T(t0)(t1)}")
_TAIL = instance(Placement, 1, "{0:T(t0)L(a)}")
_ALIGNED = Case.of(1, "aligned", Placement((0,), (), (), var("a")), symbols("n", 1), ())
_STACK = next(c for c in Placement.stacks(2) if "T(t0)(t1)" in c.label)

BROKEN = [
    planted(TilingCountsDown, "input to output 0 in bounds", _ONE),
    planted(TilingOneMore, "pad-reshape-transpose, legal", _ONE),
    planted(TilingTransposed, "input to output 0 in bounds", _TWO),
    planted(TilingInterleaved, "pad-reshape-transpose, forward", _TWO),
    planted(TilingMergesBackwards, "pad-reshape-transpose, forward", _MERGED),
    planted(TilingOfTheFirst, "input to output 0 sound", _LAST),
    planted(TilingWithoutPadding, "output to input 0 in bounds", _ONE),
    planted(TilingPadsTooMuch, "output to input 0 complete", _ONE),
    planted(TilingComplementOffByOne, "coverage", _ONE),
    planted(TilingComplementOfOneDimension, "coverage", _TWO),
    planted(PlacementMajorToMinor, "pad-reshape-transpose, forward", _ORDER),
    planted(PlacementLogicalInverse, "output to input 0 in bounds", _ROTATED),
    planted(PlacementColumnMajor, "pad-reshape-transpose, forward", _ORDER),
    planted(PlacementWithoutPaddedStrides, "output to input 0 complete", _PADDED),
    planted(PlacementPadsInFront, "pad-reshape-transpose, forward", _PADDED),
    planted(PlacementTilesTilesOfElements, "steps, forward", _TILED),
    planted(PlacementInnerTileFirst, "steps, forward", _AGAIN),
    planted(PlacementInnerTileFirst, "steps, forward", _STACK),
    planted(PlacementInnerPaddingForgotten, "output to input 0 sound", _AGAIN),
    planted(PlacementTailDown, "input to output 0 in bounds", _TAIL),
    planted(PlacementTailAlwaysMore, "pad-reshape-transpose, legal", _TAIL),
    planted(PlacementTailIsElements, "output to input 0 in bounds", _ALIGNED),
    planted(PlacementRemainderOfWrongSize, "output to input 0 in bounds", _ORDER),
    planted(PlacementCountsInTiles, "steps, in bounds", _TILED),
]
BROKEN = [replace(p, name=p.name + ", in a stack") if p.twin is _STACK else p for p in BROKEN]
