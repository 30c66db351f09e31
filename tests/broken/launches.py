"""Launches that are wrong: subclasses of the real order of the grid with one method replaced."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from indexproof.core.condition import TRUE
from indexproof.core.expr import Expr, ExprLike, mod
from indexproof.core.launch import GRID, GridOrder
from indexproof.core.op import Case, Coordinates, Demand, Map, Sizes, digits_of, product, row_major

from .planted import Planted, instance


class GridBlocksFirst(GridOrder):
    """Numbers the threads of all blocks alternately, but looks elements up block by block."""

    @staticmethod
    def place_number(i: Coordinates, x: Sizes) -> Expr:
        order = (6, 2, 5, 1, 4, 0, 3, 7)
        return row_major([i[k] for k in order], [x[k] for k in order])


class GridRoundsFirst(GridOrder):
    """Gives a thread neighbouring elements in all its rounds, but looks them up round by round."""

    def output_to_input(self, k: int, o: Coordinates, rt: Coordinates, x: Sizes) -> Map:
        order = (5, 2, 4, 1, 3, 0, 6, 7)
        found = dict(zip(order, digits_of(self.number(o), [x[k] for k in order]), strict=True))
        return Map([found[k] for k in range(len(GRID))])


class GridUnrollForgotten(GridOrder):
    """Leaves out that a thread takes several elements at once."""

    def output_to_input(self, k: int, o: Coordinates, rt: Coordinates, x: Sizes) -> Map:
        results = super().output_to_input(k, o, rt, x).results
        return Map([*results[:7], 0])


class GridWithoutEnd(GridOrder):
    """Lets places beyond the last element compute one."""

    def input_to_output(self, k: int, i: Coordinates, rt: Coordinates, x: Sizes) -> Map:
        return Map(super().input_to_output(k, i, rt, x).results, [TRUE])


class GridOneMore(GridOrder):
    """Lets one place too many compute."""

    def input_to_output(self, k: int, i: Coordinates, rt: Coordinates, x: Sizes) -> Map:
        inside = self.place_number(i, x).within(0, product(self.dims))
        return Map(super().input_to_output(k, i, rt, x).results, [inside])


class GridOneLess(GridOrder):
    """Leaves the last element out."""

    def input_to_output(self, k: int, i: Coordinates, rt: Coordinates, x: Sizes) -> Map:
        inside = self.place_number(i, x).within(0, product(self.dims) - 2)
        return Map(super().input_to_output(k, i, rt, x).results, [inside])


class GridWrapsAround(GridOrder):
    """Begins anew with the first element where there are no more."""

    def input_to_output(self, k: int, i: Coordinates, rt: Coordinates, x: Sizes) -> Map:
        digits = digits_of(mod(self.place_number(i, x), product(self.dims)), list(self._physical(self.dims)))
        found = dict(zip(reversed(self.minor_to_major), digits, strict=True))
        return Map([found[d] for d in range(len(self.dims))], [product(self.dims) >= 1])


class GridTooSmall(GridOrder):
    """Takes a grid with too few places."""

    def demands(self, x: Sizes) -> list[Demand]:  # type: ignore[override]
        return [(product(x) >= 1, "an empty grid")]


class GridLogicalOrder(GridOrder):
    """Finds elements as if the last dimension always varied fastest."""

    def input_to_output(self, k: int, i: Coordinates, rt: Coordinates, x: Sizes) -> Map:
        number = self.place_number(i, x)
        return Map(digits_of(number, self.dims), [number.within(0, product(self.dims) - 1)])


class GridMinorToMajorReversed(GridOrder):
    """Numbers elements with the order of dimensions turned round."""

    def _physical(self, v: Sequence[ExprLike]) -> list[ExprLike]:
        return [v[d] for d in self.minor_to_major]


def planted(cls: type[GridOrder], fails: str, twin: Case) -> Planted:
    made = cls(**{name: getattr(twin.op, name) for name in ("dims", "minor_to_major")})
    return Planted(cls.__name__, replace(twin, op=made), fails, twin)


class GridOneRoundMore(GridOrder):
    """Counts rounds from one."""

    def output_to_input(self, k: int, o: Coordinates, rt: Coordinates, x: Sizes) -> Map:
        results = list(super().output_to_input(k, o, rt, x).results)
        results[6] = results[6] + 1
        return Map(results)


_LINE = instance(GridOrder, 1, "{0} over x")
_PLANE = instance(GridOrder, 1, "{0} over x and y")
_EVERY = instance(GridOrder, 0, "{} over every axis")
_ORDER = instance(GridOrder, 2, "{0,1} over x")

BROKEN = [
    planted(GridBlocksFirst, "output to input sound", _PLANE),
    planted(GridRoundsFirst, "output to input sound", _LINE),
    planted(GridUnrollForgotten, "output to input sound", _LINE),
    planted(GridWithoutEnd, "input to output in bounds", _LINE),
    planted(GridOneMore, "input to output in bounds", _LINE),
    planted(GridOneLess, "input to output complete", _LINE),
    planted(GridWrapsAround, "input to output sound", _LINE),
    planted(GridTooSmall, "output to input in bounds", _LINE),
    planted(GridOneRoundMore, "output to input in bounds", _EVERY),
    planted(GridLogicalOrder, "input to output sound", _ORDER),
    planted(GridMinorToMajorReversed, "input to output in bounds", _ORDER),
]
