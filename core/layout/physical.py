"""Maps between positions in memory instead of elements of arrays."""

from __future__ import annotations

from ..errors import InputError
from ..hlo.shape import Shape
from ..indexing_map import IndexingMap, expect_map
from .memory import Memory, memory


def physical_map(m: IndexingMap, source: Memory | Shape | str, target: Memory | Shape | str) -> IndexingMap:
    """The map `m` between two arrays as one between their buffers.

    The one dimension is a position that holds an element of the source, the one result the position of an
    element of the target: backward map of the source, then `m`, then forward map of the target. Raises
    `InputError` when `m` is not a map between arrays of these ranks.
    """
    expect_map(m)
    here, there = (at if isinstance(at, Memory) else memory(at) for at in (source, target))
    for name, at, count, what in (
        ("source", here, len(m.dims), "dimension variables"),
        ("target", there, len(m.results), "results"),
    ):
        if at.shape.rank != count:
            raise InputError(
                f"the map has {count} {what}, but the {name} {at.shape} has rank {at.shape.rank}"
            )
    return here.backward.compose(m).compose(there.forward)
