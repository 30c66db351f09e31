"""The dependence of one array on another, as far as it is known."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace
from typing import Generic, TypeAlias, TypeVar

from ..hlo import Computation, TupleShape, leaves
from ..hlo.shape import AnyShape
from ..indexing_map import IndexingMap

M = TypeVar("M")
M_co = TypeVar("M_co", covariant=True)

Path = tuple[int, ...]
"""The position of an array in a shape: the numbers of tuple elements from the outermost inwards."""


Leaf = tuple[int, Path]
"""An operand's or parameter's number and the path of an array within its shape."""


@dataclass(frozen=True, slots=True)
class NoMap:
    """The reason why no map exists or is known, and the instruction that causes it."""

    instruction: str
    reason: str

    def __str__(self) -> str:
        return f"{self.instruction}: {self.reason}"


@dataclass(frozen=True)
class Reads(Generic[M_co]):
    """The dependence of one array on another: all known maps, and the reasons why they may be incomplete.

    `at_most` has the reasons why they may name too many elements, such as a loop with an unknown number of runs.
    `sent` says that a collective is on the way, so that other replicas may read the array.
    """

    maps: tuple[M_co, ...] = ()
    unknown: tuple[NoMap, ...] = ()
    at_most: tuple[NoMap, ...] = ()
    sent: bool = False

    def __bool__(self) -> bool:
        return bool(self.maps or self.unknown)

    def under(self, where: str) -> Reads[M_co]:
        """Return the same reads with the call `where` before the instructions of all reasons."""
        unknown, at_most = (
            tuple([NoMap(f"{where}/{u.instruction}", u.reason) for u in reasons])
            for reasons in (self.unknown, self.at_most)
        )
        return replace(self, unknown=unknown, at_most=at_most)


def union(parts: Iterable[Reads[M]]) -> Reads[M]:
    """Return all maps and reasons of the parts, each once and in order."""
    every = [*parts]
    return Reads(
        tuple(dict.fromkeys([m for part in every for m in part.maps])),
        tuple(dict.fromkeys([why for part in every for why in part.unknown])),
        tuple(dict.fromkeys([why for part in every for why in part.at_most])),
        any(part.sent for part in every),
    )


Link: TypeAlias = Reads[IndexingMap | None]
"""Reads of which a map may be None, the identity, which needs no composition."""

IDENTITY: Link = Reads((None,))


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


Summary = dict[tuple[Path, Leaf], Reads[IndexingMap]]
"""Reads for each leaf of the root and leaf of a parameter."""
