"""Reports of `indexproof layout` on arrays in memory, bitcasts and launches, and the page about layouts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from math import prod
from typing import Any

from ..core.indexing_map import IndexingMap
from ..core.launch import Launched
from ..core.layout import Memory, bitcast_map, decompose, element_bits
from ..core.layout.bitcast import Decomposition, ReshapeStep, TransposeStep
from ..core.layout.memory import integers
from ..core.layout.placement import tile_text
from ..core.text import format_map
from ..rules.simplifier import simplify
from ..verify.access import Requests, requests
from ..verify.concrete import equal_maps
from ..verify.launches import verify_launch
from ..verify.layouts import CheckedClaim, verify_bitcast, verify_memory
from ..verify.verdict import Status, worst
from ..verify.words import tuple_text
from .access import request_lines
from .layout import block, count, proved_line, table
from .machine import ABSENT, document, plain, written_as

#: Normal forms: tile and place can be read off them; what is cheapest is another matter.
readable = partial(simplify, quick=True)

#: No larger array is printed with its positions.
_ROWS, _COLUMNS = 24, 24


@dataclass(frozen=True, kw_only=True)
class _WithClaims:
    """A description with what was proved of it, if that was asked."""

    checked: tuple[CheckedClaim, ...] = ()

    @property
    def verdict(self) -> Status:
        """The worst of the answers; `NOT CHECKED` without any."""
        return worst([c.answer.verdict for c in self.checked])

    @property
    def seconds(self) -> float:
        """The time that the answers took."""
        return sum(c.answer.seconds for c in self.checked)


@dataclass(frozen=True)
class Described(_WithClaims):
    """An array in memory with its maps in simplified form."""

    at: Memory
    forward: IndexingMap
    backward: IndexingMap
    padding: tuple[IndexingMap, ...]


def described(at: Memory, verify: bool = False, confirm: bool = False) -> Described:
    """The simplified maps of an array in memory; with ``verify`` it is these that are checked."""
    forward, backward = (readable(m) for m in (at.forward, at.backward))
    padding = tuple(readable(m) for m in at.padding)
    checked = verify_memory(at, forward, backward, padding, confirm=confirm) if verify else []
    return Described(at, forward, backward, padding, checked=tuple(checked))


def layout_text(d: Described, index: Sequence[int] | None = None, position: int | None = None) -> str:
    """Print an array in memory for people."""
    at = d.at
    lines: list[tuple[str, str]] = [("order", _order(at))]
    for tiling, sizes in at.op.tilings(at.shape.dims):
        lines.append(("tile", _tile(integers(tiling.counts(sizes)), tile_text(tiling.tile), integers(sizes))))
    lines.append(("memory", _memory(at)))
    lines += [("forward", format_map(d.forward)), ("backward", format_map(d.backward))]
    lines += [("padding" if not k else "and", format_map(m)) for k, m in enumerate(d.padding)]
    if index is not None:
        lines.append(("element", _element(at, tuple(index))))
    if position is not None:
        lines.append(("position", _position(at, position)))
    return _with_claims(str(at), lines, d, "\n".join(_grid(at)))


_ANSWER = "verdict=answer.verdict engine=answer.engine counterexample=answer.counterexample.values"
written_as(CheckedClaim, f"claim {_ANSWER}")
written_as(
    Described,
    "shape=at.shape padded_dimensions=at.padded_dimensions minor_to_major=at.layout.minor_to_major tiles "
    "physical=at.physical expanded=at.expanded positions=at.size padding_positions=at.padding_size bytes=at.bytes "
    "forward backward padding",
    tiles=lambda d: [["*" if t is None else t for t in tile.sizes] for tile in d.at.layout.tiles],
)


def layout_json(
    d: Described, exit_status: int, index: Sequence[int] | None = None, position: int | None = None
) -> dict[str, Any]:
    """Return the answer of ``layout show``."""
    more: dict[str, Any] = {}
    if index is not None:
        more["element"] = {"index": index, "position": d.at.linear_index(index)}
    if position is not None:
        more["position"] = {"position": position, "index": d.at.index(position)}
    return described_json("layout", d, exit_status, **more)


def described_json(command: str, d: _WithClaims, exit_status: int, **more: Any) -> dict[str, Any]:
    """Return the answer of a command about something whose claims were checked, if that was asked."""
    proved = {"claims": d.checked, "timing": {"seconds": d.seconds}}
    return document(command, d.verdict, exit_status, **plain(d), **proved, **more)


@dataclass(frozen=True)
class DescribedBitcast(_WithClaims):
    """The steps of a bitcast with its maps in simplified form."""

    steps: Decomposition
    backward: IndexingMap
    forward: IndexingMap


def described_bitcast(source: str, target: str, verify: bool = False) -> DescribedBitcast:
    """How a bitcast moves elements. Raises :class:`InputError` for shapes that are no rearrangement of each other."""
    steps = decompose(source, target)
    backward, forward = (
        readable(bitcast_map(*ends)) for ends in ((steps.source, steps.target), (steps.target, steps.source))
    )
    checked = tuple(verify_bitcast(steps) if verify else ())
    return DescribedBitcast(steps, backward, forward, checked=checked)


def bitcast_text(d: DescribedBitcast) -> str:
    """Print a bitcast for people."""
    made = " -> ".join(map(str, d.steps.needed())) or "nothing moves"
    lines = [("is", d.steps.kind), ("steps", made)]
    lines += [("backward", format_map(d.backward)), ("forward", format_map(d.forward))]
    return _with_claims(f"{d.steps.source} -> {d.steps.target}", lines, d)


written_as(
    DescribedBitcast,
    "source=steps.source target=steps.target kind=steps.kind steps backward forward",
    steps=lambda d: d.steps.needed(),
)
written_as(TransposeStep, "transpose=permutation")
written_as(ReshapeStep, "reshape=dims")


@dataclass(frozen=True)
class DescribedLaunch(_WithClaims):
    """A launch with its maps in simplified form."""

    at: Launched
    thread_map: IndexingMap
    block_map: IndexingMap
    warp_map: IndexingMap
    owners: IndexingMap
    reads: IndexingMap | None
    by: str
    #: The operand that is read, if it was given, and its memory requests: None for too many.
    operand: Memory | None = None
    requests: Requests | None = None


def described_launch(
    at: Launched,
    m: IndexingMap | None = None,
    by: str = "thread",
    verify: bool = False,
    operand: Memory | None = None,
) -> DescribedLaunch:
    """The simplified maps of a launch and what it reads by ``m``; with ``verify`` it is these that are checked.

    The memory requests are counted for an ``operand``.
    """
    asked = None if m is None or operand is None else requests(at, m, operand)
    thread, block_, warp = simplify(at.thread_map), simplify(at.block_map), simplify(at.warp_map)
    owners = simplify(at.owners)
    composed = None if m is None else at.reads(m, by)
    reads = None if composed is None else simplify(composed)
    checked: list[CheckedClaim] = []
    if verify:
        simplified: dict[str, Any] = {"thread_map": thread, "block_map": block_, "warp_map": warp}
        checked = verify_launch(at, simplify(at.places), owners, **simplified)
        if composed is not None and reads is not None:
            claim = f"a {by} reads what the map says of what it computes"
            checked.append(CheckedClaim(claim, equal_maps(composed, reads)))
    return DescribedLaunch(
        at, thread, block_, warp, owners, reads, by, operand, asked, checked=tuple(checked)
    )


def launch_text(d: DescribedLaunch) -> str:
    """Print a launch for people."""
    at = d.at
    launch = at.launch
    idle = count(launch.size * launch.unroll * at.chunks - at.shape.size, "place")
    taken = f"{launch.unroll} at once by a thread, in {count(at.chunks, 'round')}; {idle} without one"
    lines = [
        ("threads", f"{_times(launch.threads)} in a block, warps of {launch.warp}"),
        ("blocks", _times(launch.blocks)),
        ("elements", f"{at.shape.size:,}, {taken}"),
    ]
    maps = {"thread": d.thread_map, "block": d.block_map, "warp": d.warp_map, "place": d.owners}
    maps |= {} if d.reads is None else {f"{d.by} reads": d.reads}
    lines += [(name, format_map(m)) for name, m in maps.items()]
    if d.operand is not None:
        lines += request_lines(d.requests)
    return _with_claims(str(at.shape), lines, d)


written_as(
    DescribedLaunch,
    "shape=at.shape threads=at.launch.threads blocks=at.launch.blocks unroll=at.launch.unroll warp=at.launch.warp "
    "chunks=at.chunks thread_map block_map warp_map owners reads? requests",
    requests=lambda d: ABSENT if d.operand is None else d.requests,
)


def _with_claims(head: str, lines: Sequence[tuple[str, str]], d: _WithClaims, picture: str = "") -> str:
    """Return a block, what was proved of it, a picture, and the verdict."""
    shown = [*lines]
    for c in d.checked:
        found = c.answer.counterexample
        shown.append((c.answer.verdict.value, c.claim + ("" if found is None else f": {found}")))
    closing = ""
    if d.checked:
        false = sum(not c.proved for c in d.checked)
        closing = proved_line(d.verdict.value, len(d.checked), false, d.seconds)
    return "\n\n".join(filter(None, [block(head, shown), picture, closing]))


def _times(sizes: Sequence[int]) -> str:
    return " × ".join(map(str, sizes))


def _order(at: Memory) -> str:
    if at.shape.rank < 2:
        return f"{count(at.shape.rank, 'dimension')}"
    slow = ", ".join(map(str, reversed(at.layout.minor_to_major)))
    return f"dimensions {slow} from the slowest varying to the fastest: {_sizes(at.physical)}"


def _tile(counts: Sequence[int], tile: str, sizes: Sequence[int]) -> str:
    return f"{tile} on {_sizes(sizes)}: {_times(counts)} {'tile' if prod(counts) == 1 else 'tiles'}"


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


def _position(at: Memory, position: int) -> str:
    found = at.index(position)
    return f"{position} is padding" if found is None else f"{position} holds element {tuple_text(found)}"


def _grid(at: Memory) -> Iterator[str]:
    """The array with the positions of its elements, if it is a small matrix."""
    dims = at.shape.dims
    if not 1 <= len(dims) <= 2 or not all(dims):
        return
    rows, columns = (1, *dims)[-2:]
    if rows <= _ROWS and columns <= _COLUMNS:
        cells = [[str(at.linear_index((r, c)[-len(dims) :])) for c in range(columns)] for r in range(rows)]
        yield from (f"  {line}" for line in table(cells, right=range(columns)))
