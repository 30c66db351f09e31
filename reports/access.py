"""Reports about what maps read: utilization of operands, tiles, and the memory requests of warps."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from ..core.condition import TRUE, show_condition
from ..core.errors import InputError
from ..core.expr import Expr, Int, add, ceildiv, integer, lift, maximum, mul
from ..core.indexing_map import IndexingMap
from ..core.layout import element_bits
from ..core.text import format_expr
from ..rules.simplifier import simplify_expr
from ..verify.access import LINE, SECTOR, Requests, Utilization, utilization
from ..verify.access_for_all_sizes import UtilizationForAllSizes, quotient_text, utilization_for_all_sizes
from ..verify.tile_sizes import TileSizes, tile_sizes
from ..verify.tiles import NoTile, TargetTile, TilingPlan, over, tile_of, tile_text, tilings
from ..verify.tiles_for_all_sizes import TileForAllSizes, tile_for_all_sizes
from .layout import table
from .pictures import Picture, reads_picture
from .serializer import written_as

if TYPE_CHECKING:
    from .hlo import Entry, Questions, Report, Unit

#: At most this many tilings are printed.
_SHOWN = 20

written_as(Utilization, "elements distinct reads fraction reuse at_most")
written_as(UtilizationForAllSizes, "elements distinct reads fraction reuse at_most conditions reason?")
written_as(
    Requests,
    "requests sectors lines packed coalesced wavefronts vector stride dimensions worst",
    worst=lambda r: {"at": r.worst[0], "sectors": r.worst[1]},
)
written_as(TargetTile, "tile offsets sizes strides bounds elements", tile=lambda _: True)
written_as(NoTile, "tile place missing dimension", tile=lambda _: False)
written_as(
    TileForAllSizes,
    "tile offsets sizes strides bounds condition necessary at? missing? reason?",
    tile=lambda t: None if t.offsets is None else True,
)
written_as(TileSizes, "condition sizes")
written_as(TilingPlan, "sizes bytes moved")


def answer(questions: Questions, unit: Unit) -> None:
    """Store the answers in the unit.  Raises `InputError` if tile and output differ in rank."""
    first: list[Entry] = []
    for e in unit.entries:
        e.starts = questions.starts
        if e.sizes is not None and questions.budget is not None:
            e.unanswered = "no tilings: a size is not known"
        if e.direction != "output_to_input" or e.unknown:
            continue
        if e.sizes is not None:
            made, read = e.sizes
            if questions.use:
                e.use = utilization_for_all_sizes(e.for_all_sizes, read, bool(e.at_most))
            if questions.tile:
                asked = made, questions.tile, questions.starts, read
                e.tiles = tuple(tile_for_all_sizes(m, *asked) for m in e.for_all_sizes)
            continue
        first.append(e)
        if questions.use:
            e.tile_sizes = tuple(map(tile_sizes, _over_output(e)))
            if (operand := e.shapes[1]) is not None:
                e.use = utilization(e.maps, operand.size, bool(e.at_most))
        if questions.tile:
            e.tiles = tuple(tile_of(m, questions.tile, questions.starts) for m in _over_output(e))
    outputs = {e.output: e.shapes[0] for e in first}
    if questions.budget is not None and len(outputs) == 1:
        (output,) = outputs.values()
        operands = [(_over_output(e), element_bits(e.shapes[1])) for e in first if e.shapes[1] is not None]
        if output is not None:
            unit.tilings = tilings(output.dims, element_bits(output), operands, questions.budget)


def _over_output(e: Entry) -> list[IndexingMap]:
    """Return the maps with the whole output as box: it is tiled even if only a part reads the operand."""
    output = e.shapes[0]
    return list(e.maps) if output is None else [over(m, output.dims) for m in e.maps]


def traffic_lines(r: Report) -> Iterator[str]:
    """Yield a table of the bytes that units move, and an upper bound on how often a moved byte is used.

    An operand moves at least once, as far as it is read. ``reads`` counts the bytes that all elements of outputs read.
    """
    rows = [["unit", "read at least", "written", "reads", "reads a byte"]]
    for u in r.units:
        entries = [e for e in u.entries if e.direction == "output_to_input"]
        if any(e.use is None or e.use.distinct is None or e.use.reads is None for e in entries):
            rows.append([u.name, *["not known"] * 4])
            continue
        bits = {e.operand: element_bits(e.shapes[1]) for e in entries if e.shapes[1] is not None}
        least: dict[str, Expr] = {}
        asked: Expr = integer(0)
        for e in entries:
            assert e.use is not None
            assert e.use.distinct is not None
            assert e.use.reads is not None
            read = lift(e.use.distinct) * bits[e.operand]
            least[e.operand] = maximum(least.get(e.operand, read), read)
            asked += lift(e.use.reads) * bits[e.operand]
        written = {
            e.output: (lift(x.size) if e.sizes is None else mul(*e.sizes[0])) * element_bits(x)
            for e in entries
            if (x := e.shapes[0]) is not None
        }
        bits_moved = [add(*least.values()), add(*written.values()), asked]
        read, made, wanted = (simplify_expr(ceildiv(n, 8), {}) for n in bits_moved)
        moved, use = bits_moved[0] + bits_moved[1], quotient_text(wanted, read + made)
        if isinstance(asked, Int) and isinstance(moved, Int):
            use = f"{asked.value / moved.value:,.3g}" if moved.value else "-"
        shown = (f"{n.value:,}" if isinstance(n, Int) else format_expr(n) for n in (read, made, wanted))
        rows.append([u.name, *shown, use])
    yield from table(rows, right=range(1, 5))


def request_lines(r: Requests | None) -> Iterator[tuple[str, str]]:
    """Yield labelled lines about the memory requests for an operand."""
    if r is None:
        yield "requests", "not counted: there are too many lanes to look at"
        return
    touched = f"{r.sectors:,} sectors of {SECTOR} bytes, {r.lines:,} lines of {LINE} bytes"
    yield "requests", f"{r.requests:,} loads of warps: {touched}"
    if r.coalesced:
        yield "coalesced", "yes: no load touches more sectors than its bytes fill"
    else:
        at, sectors = r.worst
        apart = "at changing distances" if r.stride is None else f"{r.stride:,} bytes apart"
        along = ", ".join(map(str, r.dimensions))
        lanes = f"neighbouring lanes are {apart}, along dimension {along} of the operand"
        yield "coalesced", f"no: {r.packed:,} sectors would do; {lanes}"
        yield "worst", f"{sectors} sectors at {', '.join(f'{k} = {v}' for k, v in at.items())}"
    if r.vector > 1:
        yield "vector", f"a thread can load {r.vector} neighbours at once, aligned"
    many = f"{r.wavefronts / r.requests:,.3g} a load"
    conflicts = "no bank conflicts" if r.wavefronts == r.requests else many
    yield "shared", f"{r.wavefronts:,} passes over the banks if it is in shared memory: {conflicts}"


def read_tile_text(t: TargetTile | NoTile | TileForAllSizes | None, starts: Mapping[int, str] = {}) -> str:
    """Say in one line which tile of an operand a tile of the output reads, or why it reads no tile."""
    if t is None:
        return "whether it reads a tile was not decided"
    if isinstance(t, NoTile):
        return f"no tile: {t.why(starts)}"
    if t.offsets is None and isinstance(t, TileForAllSizes):
        said = f"not stated, because {t.reason}"
    else:
        said = tile_text(t.sizes, t.strides, t.offsets)
    if isinstance(t, TileForAllSizes):
        larger = " and all larger sizes" * (t.offsets is None and t.necessary)
        if t.offsets is not None and t.condition is not TRUE:
            said += f", if {show_condition(t.condition, number_last=True)}{', and only then' * t.necessary}"
        if t.at is not None and t.missing is not None:
            values = ", ".join(f"{n} = {x}" for n, x in t.at.items())
            said += f"; none at {values}{larger}: {t.missing.why(starts)}"
    return said


def tile_sizes_text(s: TileSizes | None) -> str:
    """Say in one line which tiles an output tile of sizes t0, t1, ... reads, and for which sizes it does."""
    if s is None:
        return "for which sizes it reads tiles was not decided"
    sizes = " × ".join(map(format_expr, s.sizes)) or "1"
    return f"reads tiles {sizes}, " + ("for all sizes" if s.condition == "true" else f"only if {s.condition}")


def tiling_lines(tilings: list[TilingPlan]) -> Iterator[str]:
    """Yield a table of tilings, in the order given: least traffic first."""
    rows = [["tile", "bytes", "moved in all"]]
    rows += [["×".join(map(str, t.sizes)), f"{t.bytes:,}", f"{t.moved:,}"] for t in tilings[:_SHOWN]]
    yield from table(rows, right=range(1, 3))
    if len(tilings) > _SHOWN:
        yield f"… and {len(tilings) - _SHOWN:,} more"


def tile_picture(r: Report, tile: Sequence[int]) -> Picture:
    """Draw what the first tile of the only output reads of each operand.

    Raises :class:`InputError` if there are several units or outputs, or if some maps are not known.
    """
    entries = [e for u in r.units for e in u.entries if e.direction == "output_to_input"]
    outputs = {e.output: e.shapes[0] for e in entries}
    (output,) = outputs.values() if len(outputs) == 1 else (None,)
    operands: dict[str, tuple[tuple[IndexingMap, ...], tuple[int, ...]]] = {}
    for e in entries:
        if output is None or len(r.units) != 1 or e.unknown or e.for_all_sizes or e.shapes[1] is None:
            raise InputError("--svg draws one output of which all maps are known", expected="-i NAME of such")
        before, _ = operands.get(e.operand, ((), ()))
        operands[e.operand] = (*before, *e.maps), e.shapes[1].dims
    if output is None:
        raise InputError("--svg: nothing is read", expected="-i NAME of an instruction that reads")
    select = [(0, min(n, size) - 1) for n, size in zip(tile, output.dims, strict=True)]
    return reads_picture(operands, output.dims, select=select, title=next(iter(outputs)))
