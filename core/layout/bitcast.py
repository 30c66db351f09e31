"""Bitcasts: reinterpretations of the same memory as an array of other sizes or another layout.

A bitcast between untiled layouts is a transpose to the physical order, a reshape, and a transpose from the physical
order (XLA's "TRT" decomposition). Tiles are such steps too, unless they need padding: see :func:`decompose`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import prod
from typing import Literal, TypeAlias

from ..display import Shown
from ..errors import InputError
from ..hlo.shape import Shape
from ..indexing_map import IndexingMap
from .memory import Memory, element_bits, integers, memory


@dataclass(frozen=True)
class TransposeStep:
    """A transpose: dimension k of the output is dimension `permutation[k]` of the input."""

    permutation: tuple[int, ...]

    def sizes(self, x: Sequence[int]) -> tuple[int, ...]:
        """Return the output sizes for these input sizes."""
        return tuple(x[p] for p in self.permutation)

    def __str__(self) -> str:
        return f"transpose({','.join(map(str, self.permutation))})"


@dataclass(frozen=True)
class ReshapeStep:
    """A reshape: the same elements in row-major order, with other sizes."""

    dims: tuple[int, ...]

    def sizes(self, x: Sequence[int]) -> tuple[int, ...]:
        """Return the output sizes."""
        return self.dims

    def __str__(self) -> str:
        return f"reshape[{','.join(map(str, self.dims))}]"


Step: TypeAlias = TransposeStep | ReshapeStep


@dataclass(frozen=True)
class Decomposition(Shown):
    """Steps equivalent to a bitcast from `source` to `target`; all intermediate layouts are the default one."""

    source: Shape
    target: Shape
    steps: tuple[Step, ...]

    @property
    def kind(self) -> Literal["identity", "transpose", "reshape", "transpose-reshape-transpose", "longer"]:
        """The kind of the decomposition, without steps that change nothing."""
        kinds = "".join("t" if isinstance(s, TransposeStep) else "r" for s in self.needed())
        match kinds:
            case "":
                return "identity"
            case "t":
                return "transpose"
            case "r":
                return "reshape"
            case "tr" | "rt" | "trt":
                return "transpose-reshape-transpose"
        return "longer"

    def needed(self) -> tuple[Step, ...]:
        """Return the steps without those that change nothing, with adjacent steps of one kind merged.

        A transpose that moves only dimensions of size 1 is a reshape.
        """
        kept: list[tuple[Step, tuple[int, ...]]] = []  # with their input sizes
        x = self.source.dims
        for step in self.steps:
            before, x = x, step.sizes(x)
            if _keeps_order(step, before):
                step = ReshapeStep(x)
            if kept and type(kept[-1][0]) is type(step):
                last, before = kept.pop()
                if isinstance(step, TransposeStep) and isinstance(last, TransposeStep):
                    step = TransposeStep(tuple(last.permutation[p] for p in step.permutation))
            if not _changes_nothing(step, before):
                kept.append((step, before))
        return tuple(step for step, _ in kept)

    def __str__(self) -> str:
        return " -> ".join([str(self.source), *map(str, self.needed()), str(self.target)])


def _keeps_order(step: Step, x: tuple[int, ...]) -> bool:
    """Return whether a transpose keeps the row-major order of the elements: it moves only dimensions of size 1."""
    if isinstance(step, ReshapeStep):
        return False
    moved = [p for p in step.permutation if x[p] != 1]
    return 0 in x or moved == sorted(moved)


def _changes_nothing(step: Step, x: tuple[int, ...]) -> bool:
    if isinstance(step, ReshapeStep):
        return step.dims == x
    return step.permutation == tuple(range(len(x)))


def bitcast_map(source: Shape | str, target: Shape | str) -> IndexingMap:
    """Return the map from the elements of the target to those of the source at the same position.

    An element of one array whose position is padding in the other has no counterpart and is not in the domain.
    """
    here, there = _both(source, target)
    return there.forward.compose(here.backward)


def decompose(source: Shape | str, target: Shape | str) -> Decomposition:
    """Return the steps of a bitcast from `source` to `target`.

    Untiled layouts: transpose to the physical order, reshape, transpose from the physical order. With tiles, a reshape
    and a transpose for each tile cut the source until its row-major order is that of memory. Then it is reshaped to the
    cut sizes of the target, and the inverse steps assemble the target.

    Raises `InputError` when the arrays differ in number of elements or in bits per element, and when padding keeps a
    tiled layout from being a rearrangement. Equal tiles on equal sizes, with the same number of elements in the leading
    dimensions, are the exception: there the steps are those of the untiled layouts.
    """
    here, there = _both(source, target)
    ends = here.shape, there.shape
    if _same_tiles(here, there):
        here, there = here.untiled(), there.untiled()
    for name, at in (("source", here), ("target", there)):
        if at.padding_size:
            raise InputError(
                f"the {name} {at.shape} has {at.padding_size} padding elements, so that the bitcast is no "
                "rearrangement of elements",
                expected="layouts without padding, or the same tiles on both sides",
            )
    if not (here.layout.tiles or there.layout.tiles) and _is_reshape(here, there):
        stays = [TransposeStep(tuple(range(at.shape.rank))) for at in (here, there)]
        return Decomposition(*ends, (stays[0], ReshapeStep(there.shape.dims), stays[1]))
    back: list[Step] = []
    x: tuple[int, ...] = there.shape.dims
    for step in _steps(there):
        if isinstance(step, TransposeStep):
            back.append(TransposeStep(tuple(map(step.permutation.index, range(len(x))))))
        else:
            back.append(ReshapeStep(x))
        x = step.sizes(x)
    return Decomposition(*ends, (*_steps(here), ReshapeStep(x), *reversed(back)))


def _both(source: Shape | str, target: Shape | str) -> tuple[Memory, Memory]:
    here, there = memory(source), memory(target)
    if here.shape.size != there.shape.size:
        raise InputError(
            f"a bitcast from {here.shape} with {here.shape.size} elements to {there.shape} with {there.shape.size}",
            expected="as many elements",
        )
    check_bits(here.shape, there.shape)
    return here, there


def check_bits(source: Shape, target: Shape) -> None:
    """Check that the elements of both sides of a bitcast have as many bits."""
    if element_bits(source) != element_bits(target):
        raise InputError(
            f"a bitcast from {source} to {target}, whose elements differ in bits", expected="elements of one size"
        )


def _same_tiles(a: Memory, b: Memory) -> bool:
    """Return whether both arrays have equal tiles on equal sizes, and as many elements in the leading dimensions."""

    def seen(m: Memory) -> tuple[int, tuple[int, ...]]:
        front = max(m.shape.rank - max((len(t.sizes) for t in m.layout.tiles), default=0), 0)
        return prod(m.physical[:front]), m.physical[front:]

    one, two = ((m.layout.tiles, m.layout.tail_alignment, seen(m)) for m in (a, b))
    return bool(a.layout.tiles) and one == two


def _is_reshape(a: Memory, b: Memory) -> bool:
    """Return whether equal positions of two untiled arrays are equal positions in row-major order, too.

    Memory is cut at the strides of both arrays. The bitcast is a reshape when both arrays list the pieces in the same
    order. When the strides do not divide each other, some reshapes are not recognised.
    """
    if not a.shape.size:
        return True
    strides = sorted({*strides_of(a.physical), *strides_of(b.physical)}, reverse=True)
    if any(big % small for big, small in pairwise(strides)):
        return _in_order(a) and _in_order(b)
    return _pieces(a, strides) == _pieces(b, strides)


def strides_of(sizes: Sequence[int]) -> list[int]:
    """Return the number of elements, then the stride of every dimension."""
    return [prod(sizes[k:]) for k in range(len(sizes) + 1)]


def _in_order(m: Memory) -> bool:
    order = [d for d in reversed(m.layout.minor_to_major) if m.shape.dims[d] != 1]
    return order == sorted(order)


def _pieces(m: Memory, strides: Sequence[int]) -> list[int]:
    """Return the strides of the pieces of every dimension, in the order in which the array lists them."""
    ends = dict(zip(reversed(m.layout.minor_to_major), pairwise(strides_of(m.physical)), strict=True))
    return [s for d in range(m.shape.rank) for s in strides if ends[d][1] <= s < ends[d][0]]


def _steps(m: Memory) -> list[Step]:
    """Return the steps from an array without padding to one that memory holds in row-major order."""
    order: list[Step] = [TransposeStep(tuple(reversed(m.layout.minor_to_major)))]
    for tiling, before in m.op.tilings(m.shape.dims):
        x = integers(before)
        k = max(len(x) - len(tiling.tile), 0)
        counts = integers(tiling.counts(before))
        cuts = [t for t in tiling.tile if isinstance(t, int)]
        cut = [n for pair in zip(counts, cuts, strict=True) for n in pair]
        order.append(ReshapeStep((*x[:k], *cut)))
        tiles, places = range(k, k + len(cut), 2), range(k + 1, k + len(cut), 2)
        order.append(TransposeStep((*range(k), *tiles, *places)))
    return order
