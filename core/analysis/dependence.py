"""How one array depends on another, as far as it is known."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field

from ..hlo import Computation, TupleShape, leaves
from ..hlo.shape import AnyShape
from ..indexing_map import IndexingMap
from .catalogue import NoMap

Path = tuple[int, ...]
"""Where an array is in a shape: the numbers of tuple elements from the outside in."""


Leaf = tuple[int, Path]
"""An operand's or parameter's number and the path of an array within its shape."""


@dataclass
class Reads:
    """How one array depends on another: all maps, and the reasons why there may be more than they say.

    `at_most` says why there may be less: loops of which it is not known how often they run.
    """

    maps: list[IndexingMap] = field(default_factory=list)
    unknown: list[NoMap] = field(default_factory=list)
    at_most: list[NoMap] = field(default_factory=list)

    def __bool__(self) -> bool:
        return bool(self.maps or self.unknown)

    def under(self, where: str) -> Reads:
        """The same with reasons that lie inside the call `where`."""
        unknown, at_most = (
            [NoMap(f"{where}/{u.instruction}", u.reason) for u in reasons] for reasons in (self.unknown, self.at_most)
        )
        return Reads(self.maps, unknown, at_most)


def paths_of(shape: AnyShape | None) -> list[Path]:
    """Paths of the arrays of a shape; a shape that is not known counts as one array."""
    return [path for path, _ in leaves(shape)] if isinstance(shape, TupleShape) else [()]


def depending(computation: Computation, on: Collection[int], last: int) -> set[int]:
    """Return the positions, up to the last, of the given instructions and of those that depend on one."""
    found = {*on}
    operands = computation.operand_positions
    for k in range(min(on, default=last) + 1, last + 1):
        if not found.isdisjoint(operands[k]):
            found.add(k)
    return found


Summary = dict[tuple[Path, Leaf], Reads]
"""Per leaf of the root and leaf of a parameter."""
