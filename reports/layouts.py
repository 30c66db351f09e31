"""Reports of `indexproof layout` on arrays in memory, bitcasts and launches."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from math import prod
from typing import Any

from ..core.indexing_map import IndexingMap
from ..core.launch import Launched
from ..core.layout import Memory, bitcast_map, decompose, element_bits
from ..core.layout.bitcast import ReshapeStep, TransposeStep
from ..core.layout.memory import integers
from ..core.layout.placement import tile_text
from ..core.text import format_map
from ..rules.simplifier import simplify
from ..verify.access import requests
from ..verify.concrete import equal_maps
from ..verify.launches import verify_launch
from ..verify.layouts import CheckedClaim, verify_bitcast, verify_memory
from ..verify.verdict import Status, worst
from ..verify.words import tuple_text
from .access import request_lines
from .layout import block, count, proved_line, table
from .serializer import document, written_as

#: Reduces to normal forms without minimizing cost: tile and place can be read off them.
readable = partial(simplify, quick=True)

#: The largest matrix that is printed with the positions of its elements.
_ROWS, _COLUMNS = 24, 24


@dataclass(frozen=True)
class Description:
    """An array in memory, a bitcast or a launch: labelled lines, JSON keys, and checked claims."""

    head: str
    lines: Sequence[tuple[str, str]]
    keys: dict[str, Any]
    checked: Sequence[CheckedClaim]
    #: A picture as plain text.
    picture: str = ""

    @property
    def verdict(self) -> Status:
        """The worst verdict; `NOT CHECKED` without any."""
        return worst([c.answer.verdict for c in self.checked])

    @property
    def seconds(self) -> float:
        """The total time that the checks took."""
        return sum(c.answer.seconds for c in self.checked)

    def text(self) -> str:
        """Return a block with the proved claims, a picture, and the verdict."""
        shown = [*self.lines]
        for c in self.checked:
            found = c.answer.counterexample
            shown.append((c.answer.verdict.value, c.claim + ("" if found is None else f": {found}")))
        closing = ""
        if self.checked:
            false = sum(not c.proved for c in self.checked)
            closing = proved_line(self.verdict.value, len(self.checked), false, self.seconds)
        return "\n\n".join(filter(None, [block(self.head, shown), self.picture, closing]))

    def document(self, command: str, exit_status: int) -> dict[str, Any]:
        """Return the JSON document for a command."""
        more = {**self.keys, "claims": self.checked, "timing": {"seconds": self.seconds}}
        return document(command, self.verdict, exit_status, **more)


_ANSWER = "verdict=answer.verdict engine=answer.engine counterexample=answer.counterexample.values"
written_as(CheckedClaim, f"claim {_ANSWER}")
written_as(TransposeStep, "transpose=permutation")
written_as(ReshapeStep, "reshape=dims")


def described(
    at: Memory, index: Sequence[int] | None = None, position: int | None = None, verify: bool = False
) -> Description:
    """Describe an array in memory with its simplified maps, and check these with ``verify``.

    ``index`` asks for the position of an element, and ``position`` for the element at a position.
    """
    forward, backward = readable(at.forward), readable(at.backward)
    padding = tuple(map(readable, at.padding))
    lines: list[tuple[str, str]] = [("order", _order(at))]
    for tiling, sizes in at.op.tilings(at.shape.dims):
        counts = integers(tiling.counts(sizes))
        many = f"{_times(counts)} {'tile' if prod(counts) == 1 else 'tiles'}"
        lines.append(("tile", f"{tile_text(tiling.tile)} on {_sizes(integers(sizes))}: {many}"))
    lines.append(("memory", _memory(at)))
    lines += [("forward", format_map(forward)), ("backward", format_map(backward))]
    lines += [("padding" if not k else "and", format_map(m)) for k, m in enumerate(padding)]
    keys: dict[str, Any] = {
        "shape": at.shape,
        "padded_dimensions": at.padded_dimensions,
        "minor_to_major": at.layout.minor_to_major,
        "tiles": [["*" if t is None else t for t in tile.sizes] for tile in at.layout.tiles],
        "physical": at.physical,
        "expanded": at.expanded,
        "positions": at.size,
        "padding_positions": at.padding_size,
        "bytes": at.bytes,
        "forward": forward,
        "backward": backward,
        "padding": padding,
    }
    if index is not None:
        lines.append(("element", _element(at, tuple(index))))
        keys["element"] = {"index": index, "position": at.linear_index(index)}
    if position is not None:
        held = at.index(position)
        said = "is padding" if held is None else f"holds element {tuple_text(held)}"
        lines.append(("position", f"{position} {said}"))
        keys["position"] = {"position": position, "index": held}
    checked = verify_memory(at, forward, backward, padding) if verify else ()
    return Description(str(at), lines, keys, checked, "\n".join(_grid(at)))


def described_bitcast(source: str, target: str, verify: bool = False) -> Description:
    """Describe how a bitcast moves elements.  Raises :class:`InputError` as ``decompose`` does."""
    steps = decompose(source, target)
    ends = steps.source, steps.target
    maps = {"backward": readable(bitcast_map(*ends)), "forward": readable(bitcast_map(*reversed(ends)))}
    made = " -> ".join(map(str, steps.needed())) or "nothing moves"
    lines = [("is", steps.kind), ("steps", made), *((name, format_map(m)) for name, m in maps.items())]
    keys = {"source": steps.source, "target": steps.target, "kind": steps.kind, "steps": steps.needed(), **maps}
    checked = verify_bitcast(steps) if verify else ()
    return Description(f"{steps.source} -> {steps.target}", lines, keys, checked)


def described_launch(
    at: Launched, m: IndexingMap | None = None, by: str = "thread", verify: bool = False, operand: Memory | None = None
) -> Description:
    """Describe a launch, and what it reads by ``m``, with simplified maps; ``verify`` checks these.

    For an ``operand``, memory requests are counted.
    """
    launch = at.launch
    idle = count(launch.size * launch.unroll * at.chunks - at.shape.size, "place")
    taken = f"{launch.unroll} at once by a thread, in {count(at.chunks, 'round')}; {idle} have no element"
    lines = [
        ("threads", f"{_times(launch.threads)} in a block, warps of {launch.warp}"),
        ("blocks", _times(launch.blocks)),
        ("elements", f"{at.shape.size:,}, {taken}"),
    ]
    keys: dict[str, Any] = {"shape": at.shape, "threads": launch.threads, "blocks": launch.blocks}
    keys |= {"unroll": launch.unroll, "warp": launch.warp, "chunks": at.chunks}
    names = {"thread": "thread_map", "block": "block_map", "warp": "warp_map", "place": "owners"}
    maps: dict[str, Any] = {key: simplify(getattr(at, key)) for key in names.values()}
    keys |= maps
    lines += [(name, format_map(maps[key])) for name, key in names.items()]
    checked = verify_launch(at, simplify(at.places), **maps) if verify else []
    if m is not None:
        composed = at.reads(m, by)
        keys["reads"] = reads = simplify(composed)
        lines.append((f"{by} reads", format_map(reads)))
        if verify:
            claim = f"a {by} reads what the map says of what it computes"
            checked.append(CheckedClaim(claim, equal_maps(composed, reads)))
        if operand is not None:
            keys["requests"] = asked = requests(at, m, operand)
            lines += request_lines(asked)
    return Description(str(at.shape), lines, keys, checked)


def _times(sizes: Sequence[int]) -> str:
    return " × ".join(map(str, sizes))


def _order(at: Memory) -> str:
    if at.shape.rank < 2:
        return f"{count(at.shape.rank, 'dimension')}"
    slow = ", ".join(map(str, reversed(at.layout.minor_to_major)))
    return f"dimensions {slow} from the slowest varying to the fastest: {_sizes(at.physical)}"


def _sizes(sizes: Sequence[int]) -> str:
    return "[" + ",".join(map(str, sizes)) + "]"


def _memory(at: Memory) -> str:
    bits = element_bits(at.shape)
    each = f"{bits // 8} each" if bits % 8 == 0 else f"{bits} bits each"
    return (
        f"{count(at.size, 'position')} as {_sizes(at.expanded)}, {count(at.bytes, 'byte')} ({each}): "
        f"{count(at.shape.size, 'element')}, {at.padding_size:,} padding"
    )


def _element(at: Memory, index: Sequence[int]) -> str:
    place = at.linear_index(index)
    steps = []
    here = at.op.physical(index)
    for tiling, sizes in at.op.tilings(at.shape.dims):
        here = tiling.place(here, sizes)
        cut = len(tiling.counts(sizes))
        numbers = integers(here)
        tile, inside = numbers[: len(here) - cut], numbers[len(here) - cut :]
        steps.append(f"tile {tuple_text(tile)}, place {tuple_text(inside)}")
    return f"{tuple_text(index)} is at position {place}" + "".join(f"; {s}" for s in steps)


def _grid(at: Memory) -> Iterator[str]:
    """Yield the rows of a small matrix with the positions of its elements; nothing for other arrays."""
    dims = at.shape.dims
    if not 1 <= len(dims) <= 2 or not all(dims):
        return
    rows, columns = (1, *dims)[-2:]
    if rows <= _ROWS and columns <= _COLUMNS:
        cells = [[str(at.linear_index((r, c)[-len(dims) :])) for c in range(columns)] for r in range(rows)]
        yield from (f"  {line}" for line in table(cells, right=range(columns)))
