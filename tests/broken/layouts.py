"""Wrong layouts: the real placement and tile with one method replaced."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from indexproof.core.condition import any_of
from indexproof.core.expr import Expr, ExprLike, ceildiv, floordiv, integer, lift, mod, var
from indexproof.core.layout.placement import Placement, Tiling
from indexproof.core.op import Case, Coordinates, Sizes, product, row_major, symbols

from .planted import Planted, instance, mistaken

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


def planted(twin: Case, fails: str, says: str, **methods: Any) -> Planted:
    """Return a planted mistake: the twin's attributes in a class with wrong methods."""
    cls = mistaken(type(twin.op), says, methods)
    made = cls(**{name: getattr(twin.op, name) for name in twin.op.__dataclass_fields__})
    name = cls.__name__ + (", in a stack" if twin is _STACK else "")
    return Planted(name, replace(twin, op=made), fails, twin)


def _mixed(t: Any, v: Sequence[Expr], x: Sizes) -> list[Expr]:
    """Return the coordinates of tiles and within tiles interleaved, as before the transpose."""
    k, n = t._kept(x), len(t._cuts)
    return [*v[:k], *(e for pair in zip(v[k : k + n], v[k + n :], strict=True) for e in pair)]


def _pairs(t: Any, o: Coordinates, x: Sizes) -> list[tuple[Expr, Expr]]:
    return list(zip(o[t._kept(x) :: 2], o[t._kept(x) + 1 :: 2], strict=True))


def _backwards(t: Any, i: Coordinates, x: Sizes) -> list[Expr]:
    rest = iter([*[integer(0)] * t._ones(x), *i[t._kept(x) :]])
    return [row_major([next(rest) for _ in g][::-1], g[::-1]) for g in t.groups(x)]


def _sorted(p: Any, v: Sequence[Expr]) -> list[Expr]:
    return [e for _, e in sorted(zip(p.minor_to_major, v, strict=True), key=lambda pair: pair[0])]


def _in_front(p: Any, o: Coordinates, x: Sizes) -> Any:
    found, _ = Placement.element(replace(p, padded=()), o, list(p.padded))
    moved = [a - (lift(w) - n) for a, w, n in zip(found, p.padded, x, strict=True)]
    return moved, [a.within(0, lift(n) - 1) for a, n in zip(moved, x, strict=True)]


def _wrong_size(p: Any, position: Expr, sizes: Sizes) -> Any:
    at, inside = Placement.off_line(p, position, sizes)
    return [*at[:-1], mod(position, lift(sizes[0]))], inside


def _inner_first(p: Any, x: Sizes) -> Any:
    return Placement.tilings(Placement(p.minor_to_major, p.tiles[::-1], p.padded, p.tail), x)


def _swapped(t: Any, i: Coordinates, x: Sizes) -> list[Expr]:
    at = Tiling.place(t, i, x)
    return [*at[:-2], at[-1], at[-2]]


def _physical(p: Any, v: Sequence[ExprLike]) -> list[Expr]:
    return [lift(v[d]) for d in p.minor_to_major]


BROKEN = [
    # ---- one tile
    planted(_ONE, "input to output 0 in bounds", "leaves the last tile out unless it is full",
            counts=lambda t, x: [floordiv(n, c) for n, c in zip(t.extents(x), t._cuts, strict=True)]),
    planted(_ONE, "pad-reshape-transpose, legal", "always begins another tile",
            counts=lambda t, x: [floordiv(n, c) + 1 for n, c in zip(t.extents(x), t._cuts, strict=True)]),
    planted(_TWO, "input to output 0 in bounds", "exchanges the places within a tile", place=_swapped),
    planted(_TWO, "pad-reshape-transpose, forward", "puts places of a dimension next to its tiles",
            cut=_pairs, place=lambda t, i, x: _mixed(t, Tiling.place(t, i, x), x),
            shape=lambda t, x, value: _mixed(t, Tiling.shape(t, x, value), x)),
    planted(_MERGED, "pad-reshape-transpose, forward", "merges dimensions with the first one varying fastest",
            merged=_backwards),
    planted(_LAST, "input to output 0 sound", "cuts the first dimensions instead of the last",
            place=lambda t, i, x: Tiling.place(t, [*reversed(i)], x)),
    planted(_ONE, "output to input 0 in bounds", "takes every place for an element",
            element=lambda t, o, x: (Tiling.element(t, o, x)[0], [])),
    planted(_ONE, "output to input 0 complete", "takes the last element for padding",
            element=lambda t, o, x: (
             (found := Tiling.element(t, o, x)[0]),
             [a.within(0, lift(n) - 2) for a, n in zip(found, x, strict=True)])),
    planted(_ONE, "coverage", "lets padding begin at the last element of the array",
            is_padding=lambda t, o, x: any_of(
             a >= lift(n) - 1 for a, n in zip(t.element(o, x)[0], x, strict=True))),
    planted(_TWO, "coverage", "forgets the padding of all dimensions but the first",
            is_padding=lambda t, o, x: any_of(~c for c in t.element(o, x)[1][:1])),
    # ---- whole layouts
    planted(_ORDER, "pad-reshape-transpose, forward", "reads dimensions from the slowest varying to the fastest",
           physical=_physical, logical=_sorted),
    planted(_ROTATED, "output to input 0 in bounds", "applies the physical order where its inverse is due",
           logical=lambda p, v: p.physical(v)),
    planted(_ORDER, "pad-reshape-transpose, forward", "lets the first of the expanded dimensions vary fastest",
           line=lambda p, v, sizes: row_major([*reversed(v)], [*reversed(sizes)])),
    planted(_PADDED, "output to input 0 complete", "steps over the sizes of the array where the padded ones are due",
           position=lambda p, i, x: row_major(p.physical(i), p.physical(x))),
    planted(_PADDED, "pad-reshape-transpose, forward", "puts padding before the elements", element=_in_front,
           position=lambda p, i, x: Placement.position(
               p, [a + (lift(w) - n) for a, w, n in zip(i, p.padded, x, strict=True)], x)),
    planted(_TILED, "steps, forward", "forgets the places within a tile",
           line=lambda p, v, sizes: row_major(v[: len(sizes) // 2], sizes[: len(sizes) // 2])),
    planted(_AGAIN, "steps, forward", "applies the tiles in the opposite order", tilings=_inner_first),
    planted(_STACK, "steps, forward", "applies the tiles in the opposite order", tilings=_inner_first),
    planted(_AGAIN, "output to input 0 sound", "knows the padding of the array, not that of tiles within tiles",
           element=lambda p, o, x: ((found := Placement.element(p, o, x))[0], found[1][-1:])),
    planted(_TAIL, "input to output 0 in bounds", "rounds the number of positions down",
           length=lambda p, sizes: floordiv(product(sizes), p.tail) * p.tail),
    planted(_TAIL, "pad-reshape-transpose, legal", "adds a whole alignment where none is due",
           length=lambda p, sizes: (floordiv(product(sizes), p.tail) + 1) * p.tail),
    planted(_ALIGNED, "output to input 0 in bounds", "forgets that nothing stands in the rounded-up rest",
           off_line=lambda p, position, sizes: (Placement.off_line(p, position, sizes)[0], [])),
    planted(_ORDER, "output to input 0 in bounds", "takes digits by the size of the next dimension",
           off_line=_wrong_size),
    planted(_TILED, "steps, in bounds", "has as many rows of tiles as rows, as if no tile were cut",
           expanded=lambda p, x: [
               ceildiv((sizes := Placement.expanded(p, x))[0] + 1, 2), *sizes[1:]]),
]  # fmt: skip
