"""The dependence of one array on another, as far as it is known."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field

from ..hlo import Computation, TupleShape, leaves
from ..hlo.shape import AnyShape
from ..indexing_map import IndexingMap
from .catalogue import NoMap

Path = tuple[int, ...]
"""The position of an array in a shape: the numbers of tuple elements from the outermost inwards."""


Leaf = tuple[int, Path]
"""An operand's or parameter's number and the path of an array within its shape."""


@dataclass
class Reads:
    """The dependence of one array on another: all known maps, and the reasons why they may be incomplete.

    `at_most` has the reasons why they may name too many elements, such as a loop with an unknown number of runs.
    `sent` says that a collective is on the way, so that other replicas may read the array.
    """

    maps: list[IndexingMap] = field(default_factory=list)
    unknown: list[NoMap] = field(default_factory=list)
    at_most: list[NoMap] = field(default_factory=list)
    sent: bool = False

    def __bool__(self) -> bool:
        return bool(self.maps or self.unknown)

    def under(self, where: str) -> Reads:
        """Return the same reads with the call `where` before the instructions of all reasons."""
        unknown, at_most = (
            [NoMap(f"{where}/{u.instruction}", u.reason) for u in reasons] for reasons in (self.unknown, self.at_most)
        )
        return Reads(self.maps, unknown, at_most, self.sent)


def paths_of(shape: AnyShape | None) -> list[Path]:
    """Return the paths of the arrays of a shape; an unknown shape counts as one array."""
    return [path for path, _ in leaves(shape)] if isinstance(shape, TupleShape) else [()]


def depending(computation: Computation, on: Collection[int], last: int) -> set[int]:
    """Return the positions, up to the last, of the given instructions and of those that depend on one of them."""
    found = {*on}
    operands = computation.operand_positions
    for k in range(min(on, default=last) + 1, last + 1):
        if not found.isdisjoint(operands[k]):
            found.add(k)
    return found


Summary = dict[tuple[Path, Leaf], Reads]
"""Reads for each leaf of the root and leaf of a parameter."""
