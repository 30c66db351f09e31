"""Pictures of layouts and of what an output reads, as SVG: files, web pages, notebooks.

    layout_picture("f32[3,5]{1,0:T(2,2)}").save("layout.svg")       # the array beside its memory
    layout_picture("f32[4,8]{1,0:T(2,4)(2,1)}", show="positions")   # the array, with positions in its cells
    reads_picture(m, output=(4, 4), operand=(6, 6), select=(1, (0, 1)))

A picture is drawn as a person would: the last two dimensions as rows and columns, one panel for each index of the
dimensions in front, one colour for each tile, red boxes around the tiles within tiles, padding in white. What does
not fit is left out in the middle, with dots in its place. The same input gives the same text.
"""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from math import prod
from pathlib import Path
from typing import Any, Literal, TypeAlias

from ..core.errors import InputError, TooLargeError
from ..core.expr import Expr, integer
from ..core.hlo.shape import Shape
from ..core.indexing_map import Constraint, IndexingMap
from ..core.launch import Launched
from ..core.layout import Memory, memory
from ..core.layout.memory import integers
from ..core.text import format_map

__all__ = ["Picture", "launch_picture", "layout_picture", "reads_picture"]

Index: TypeAlias = tuple[int, ...]
_Point: TypeAlias = tuple[float, float]
_Line: TypeAlias = tuple[float, float, float, float]
#: One map, or all maps to one operand.
Reading: TypeAlias = "IndexingMap | Sequence[IndexingMap]"
#: One number, an inclusive range, or None for all of a dimension.
Selection: TypeAlias = "int | tuple[int, int] | None"

CELL = 30
#: The most rows, columns and panels of an array that are drawn; others are left out in the middle.
ROWS, COLUMNS, PANELS = 18, 26, 6
#: The most cells in a row of memory, and the most rows of memory.
LINE, LINES = 16, 9
#: Limit on the pairs of a relation that are enumerated.
PAIRS = 200_000

_GAP = -1  # marks rows, columns and panels that are left out
_PALETTE: list[str] = re.findall(
    "#[0-9a-f]{6}", "#a8d5f2 #fbd38d #b9e4b4 #f6b8c6 #d3c4f3 #f3e79b #a5e3dc #eac7a4 #c7d6ff #d9e6a2 #f5c3ee #c9d3da"
)
_INK, _GREY, _RED, _LINE = "#1f2933", "#6b7785", "#c92a2a", "#52606d"
_FONT = 'font-family="DejaVu Sans, Verdana, Arial, sans-serif"'


# ------------------------------------------------------------------------------------------------------------ the paper
@dataclass(frozen=True)
class Picture:
    """An SVG document that notebooks display."""

    svg: str
    alt: str = ""

    def _repr_svg_(self) -> str:
        return self.svg

    def _repr_html_(self) -> str:
        return f'<div class="indexproof-picture">{self.svg}</div>'

    def save(self, path: str | Path) -> Path:
        """Write the document and return its path."""
        place = Path(path)
        place.write_text(self.svg, "utf-8")
        return place

    def __str__(self) -> str:
        return self.svg


class _Paper:
    """A sheet that grows with the shapes drawn on it."""

    def __init__(self, title: str) -> None:
        self.parts: list[str] = []
        self.width = self.height = 0.0
        if title:
            self.title(14, 18, title)

    def add(self, reach: _Point, element: str) -> None:
        """Add an element whose right and lower ends are at ``reach``."""
        self.width, self.height = max(self.width, reach[0]), max(self.height, reach[1])
        self.parts.append(element)

    def box(self, at: _Point, size: _Point, fill: str, stroke: str, width: float, hint: str = "") -> None:
        """Draw a rectangle; ``hint`` is its tooltip."""
        inside = f"<title>{escape(hint)}</title>" if hint else ""
        (x, y), (w, h) = at, size
        look = f'fill="{fill}" stroke="{stroke}" stroke-width="{width:g}"'
        place = f'x="{x:g}" y="{y:g}" width="{w:g}" height="{h:g}"'
        self.add((x + w, y + h), f"<rect {place} {look}>{inside}</rect>")

    def lines(self, lines: Iterable[_Line], stroke: str, width: float) -> None:
        """Draw straight lines with square ends."""
        if d := "".join(f"M{x1:g} {y1:g}L{x2:g} {y2:g}" for x1, y1, x2, y2 in lines):
            look = f'stroke="{stroke}" stroke-width="{width:g}" stroke-linecap="square" fill="none"'
            self.add((0, 0), f'<path d="{d}" {look}/>')

    def text(
        self, x: float, y: float, text: str, size: float = 12, fill: str = _INK, anchor: str = "middle", more: str = ""
    ) -> None:
        """Write a line of text with its vertical middle at ``y``."""
        wide = len(text) * size * 0.62 * {"start": 1, "middle": 0.5, "end": 0}[anchor]
        look = f'font-size="{size:g}" fill="{fill}" text-anchor="{anchor}"{more}'
        place = f'x="{x:g}" y="{y + size * 0.35:g}"'
        self.add((x + wide, y + size), f"<text {place} {look}>{escape(text)}</text>")

    def title(self, x: float, y: float, text: str, size: float = 15) -> None:
        """Write a line of bold text that begins at ``x``."""
        self.text(x, y, text, size, anchor="start", more=' font-weight="600"')

    def arrow(self, x1: float, y1: float, x2: float, y2: float) -> None:
        """Draw a curved arrow from left to right."""
        bend = (x1 + x2) / 2
        curve = f"M{x1:g} {y1:g}C{bend:g} {y1:g} {bend:g} {y2:g} {x2 - 7:g} {y2:g}"
        self.add((0, 0), f'<path d="{curve}" stroke="{_LINE}" stroke-width="1.6" fill="none"/>')
        self.add((x2, 0), f'<path d="M{x2:g} {y2:g}l-9 -4.5v9z" fill="{_LINE}"/>')

    def done(self, alt: str) -> Picture:
        """Return the sheet as a document with a white background, which is readable on any page."""
        w, h = f"{self.width + 14:g}", f"{self.height + 12:g}"
        head = f'<svg xmlns="http://www.w3.org/2000/svg" width="{w}" height="{h}" viewBox="0 0 {w} {h}" role="img"'
        head += f' {_FONT}><title>{escape(alt)}</title><rect width="100%" height="100%" fill="#ffffff"/>'
        return Picture("\n".join([head, *self.parts, "</svg>"]) + "\n", alt)


def _shown(n: int, most: int, keep: Iterable[int] = ()) -> list[int]:
    """Return the numbers below ``n`` to draw: all, or the first, the last and those around ``keep``, with gaps."""
    if n <= most:
        return list(range(n))
    wanted = {*range(most // 4), *range(n - max(most // 8, 2), n)}
    for k in keep:
        more = wanted.union(range(max(k - 1, 0), min(k + 2, n)))
        wanted = more if len(more) < most else wanted
    ordered = sorted(wanted)
    gaps = [[_GAP, b] if b > a + 1 else [b] for a, b in itertools.pairwise(ordered)]
    return [ordered[0], *itertools.chain.from_iterable(gaps)]


def _panels(front: Sequence[int], keep: Iterable[Index] = ()) -> list[Index | None]:
    """Return the leading indices that get a panel; None marks the panels that are left out."""
    count = prod(front)
    wanted = sorted(set(keep))
    every = itertools.product(*map(range, front))
    if count <= PANELS:
        return list(every)
    if wanted:
        return [*wanted[: PANELS - 1], None]
    return [*itertools.islice(every, PANELS - 2), None, tuple(n - 1 for n in front)]


def _comma(values: Iterable[int]) -> str:
    return ",".join(map(str, values))


def _text_size(text: str, largest: float = 13) -> float:
    """Return the text size for all cells of a grid, given the longest text."""
    return min(largest, (CELL - 4) / max(len(text), 1) / 0.62)


# -------------------------------------------------------------------------------------------------------------- layouts
class _Tiles:
    """The tile of every element at every level, computed from the steps of a layout."""

    def __init__(self, at: Memory) -> None:
        self.at = at
        self.steps = at.op.tilings(at.shape.dims)

    def of(self, index: Index) -> _Levels:
        """Return the tiles that hold an element, or a place in the padding: one per level, outermost first."""
        return self._levels(self.at.op.coordinates([*map(integer, index)], self.at.shape.dims))

    def at_position(self, position: int) -> _Levels:
        """Return the tiles of a position in memory, also of padding; empty after the last tile."""
        if position >= prod(self.at.expanded):
            return ()
        return self._levels(self.at.op.off_line(integer(position), self.at.op.expanded(self.at.shape.dims))[0])

    def _levels(self, at: Sequence[Expr]) -> _Levels:
        levels = []
        for step, sizes in reversed(self.steps):
            inside = len(step.tile) - step.tile.count(None)
            levels.append(integers(at[: len(at) - inside]))
            at, _ = step.element(at, sizes)
        return tuple(reversed(levels))

    def colour(self, index: Index) -> str:
        """Return the colour of the outermost tile, or one colour if the layout has no tiles."""
        place = 0
        for tile in self.of(index)[:1]:
            step, sizes = self.steps[0]
            for k, n in zip(tile, integers([*step.sizes(sizes)]), strict=False):
                # a row of tiles must not repeat the colours of the row above
                place = place * (n + (n % len(_PALETTE) == 0)) + k
        return _PALETTE[place % len(_PALETTE)]


def layout_picture(
    shape: Memory | Shape | str, *, show: Literal["memory", "positions"] = "memory", title: str | None = None
) -> Picture:
    """Draw an array and its positions in memory.

    ``show="memory"`` draws the array with the indices of its elements and the padding around it, and beside it memory,
    with every element in the colour of its tile. ``show="positions"`` draws the array alone, with the position of
    every element in its cell.
    """
    if show not in ("memory", "positions"):
        raise InputError(f"`{show}` is nothing to show of a layout", expected="memory or positions")
    at = shape if isinstance(shape, Memory) else memory(shape)
    tiles = _Tiles(at)
    paper = _Paper(str(at) if title is None else title)
    right = _draw_array(paper, at, tiles, 14, 48, positions=show == "positions")
    if show == "memory":
        _draw_memory(paper, at, tiles, right + 46, 48)
    what = "positions in memory of the elements of" if show == "positions" else "array and memory of"
    return paper.done(f"{what} {at}")


def _widened(at: Memory) -> tuple[int, ...]:
    """Return the sizes of the array with the padding drawn around it: that of padded sizes and, if no dimensions are
    merged, that of the first tile.
    """
    dims = list(at.padded_dimensions or at.shape.dims)
    tile = _first_tile(at)
    for d, t in tile.items() if None not in tile.values() else ():
        dims[d] = -(-dims[d] // (t or 1)) * (t or 1)
    return tuple(dims)


def _first_tile(at: Memory) -> dict[int, int | None]:
    """Return the sizes of the first tile by dimension; None marks a merged dimension."""
    tiles = [t.tile for t, _ in at.op.tilings(at.shape.dims)][:1]
    sizes = [t if isinstance(t, int) else None for tile in tiles for t in reversed(tile)]
    return dict(zip(at.layout.minor_to_major, sizes, strict=False))


def _draw_array(paper: _Paper, at: Memory, tiles: _Tiles, x: float, y: float, *, positions: bool) -> float:
    """Draw the array in panels from ``(x, y)`` downwards and return its right end."""
    dims, rank = at.shape.dims, at.shape.rank
    wide = dims if positions else _widened(at)
    # even a large array shows the boundary of its first tile
    seams = {d: t or 1 for d, t in _first_tile(at).items()}
    keep = [[seams[d]] if d in seams else [] for d in (rank - 2, rank - 1)]

    def cell(index: Index) -> _Cell:
        if not all(k < n for k, n in zip(index, dims, strict=True)):
            return _Cell("#ffffff", "padding", stroke="#b8c2cc")
        position = at.linear_index(index)
        text = str(position) if positions else _comma(index[-2:]) if rank else "·"
        hint = f"element ({', '.join(map(str, index))}) at position {position}"
        return _Cell(tiles.colour(index), hint, text, position=position if transposed else None)

    transposed = [*at.layout.minor_to_major] != [*reversed(range(rank))]
    size = _text_size(str(at.size - 1) if positions else _comma(n - 1 for n in wide[-2:]))
    return _draw_grid(paper, wide, (x, y), cell, size, keep=keep, tiles=tiles.of)[0]


@dataclass(frozen=True)
class _Cell:
    """One cell of a grid: its colour, its tooltip, and the text inside.

    A white line connects the cells of a panel with consecutive positions.
    """

    fill: str
    hint: str
    text: str = ""
    stroke: str = "#8795a1"
    position: int | None = None


_Place: TypeAlias = tuple[int, int]
#: The tile of a cell at every level, outermost first.
_Levels: TypeAlias = tuple[Any, ...]


def _draw_grid(
    paper: _Paper,
    dims: Sequence[int],
    corner: _Point,
    cell: Callable[[Index], _Cell],
    text_size: float,
    *,
    keep: Sequence[Sequence[int]] = ((), ()),
    panels: Iterable[Index] = (),
    tiles: Callable[[Index], _Levels] | None = None,
) -> tuple[float, dict[Index, float]]:
    """Draw an array in panels from a corner downwards; return its right end and the vertical middles of its cells.

    ``keep`` are rows and columns that are drawn even in a large array, and ``panels`` are its leading indices to draw.
    Lines separate different ``tiles``; without ``tiles`` each panel has a frame.
    """
    x, y = corner
    # an array of lower rank is drawn as one row, or one cell
    front, (rows, columns), rank = dims[:-2], (1, 1, *dims)[-2:], len(dims)
    shown_rows, shown_columns = _shown(rows, ROWS, keep[0]), _shown(columns, COLUMNS, keep[1])
    left = x + (26 if rank > 1 else 4)
    middles: dict[Index, float] = {}
    for panel in _panels(front, panels):
        if panel is None:  # some are left out
            paper.text(left + CELL, y, "⋮", 18, _GREY)
            y += 30
            continue
        if panel:
            paper.text(x, y, f"[{_comma(panel)}, :, :]", 12, _GREY, "start")
            y += 18
        y += 12
        # row and column numbers beside the panel
        for k, n in enumerate(shown_columns if rank else ()):
            if n != _GAP:
                paper.text(left + (k + 0.5) * CELL, y - 12, str(n), 10, _GREY)
        for k, n in enumerate(shown_rows if rank > 1 else ()):
            if n != _GAP:
                paper.text(left - 6, y + (k + 0.5) * CELL, str(n), 10, _GREY, "end")
        found: dict[_Place, Index] = {}
        for (r, row), (c, column) in itertools.product(enumerate(shown_rows), enumerate(shown_columns)):
            if _GAP in (row, column):
                dots = "⋱" if row == column == _GAP else "⋮" if row == _GAP else "⋯"
                paper.text(left + (c + 0.5) * CELL, y + (r + 0.5) * CELL, dots, 13, _GREY)
            else:
                found[r, c] = (*panel, row, column)[-rank:] if rank else ()
        middles |= {index: y + (r + 0.5) * CELL for (r, _), index in found.items()}
        _draw_cells(paper, {place: cell(index) for place, index in found.items()}, left, y, text_size)
        if tiles is not None:
            _borders(paper, found, {place: tiles(index) for place, index in found.items()}, left, y)
        else:
            paper.box((left, y), (len(shown_columns) * CELL, len(shown_rows) * CELL), "none", _LINE, 1.4)
        y += len(shown_rows) * CELL + 22
    return left + len(shown_columns) * CELL, middles


def _draw_cells(paper: _Paper, cells: Mapping[_Place, _Cell], x: float, y: float, text_size: float) -> None:
    """Draw cells by row and column from ``(x, y)``; a line connects consecutive positions, and texts lie above it."""
    middle = {place: (x + (place[1] + 0.5) * CELL, y + (place[0] + 0.5) * CELL) for place in cells}
    for (r, c), drawn in cells.items():
        paper.box((x + c * CELL, y + r * CELL), (CELL, CELL), drawn.fill, drawn.stroke, 0.6, drawn.hint)
    thread = {c.position: middle[place] for place, c in cells.items() if c.position is not None}
    paper.lines([(*thread[n], *thread[n + 1]) for n in sorted(thread) if n + 1 in thread], "#ffffff", 2)
    for place, drawn in cells.items():
        if drawn.text:
            paper.text(*middle[place], drawn.text, text_size)


def _borders(paper: _Paper, cells: Iterable[_Place], tiles: Mapping[_Place, _Levels], x: float, y: float) -> None:
    """Draw lines between cells of different tiles: red around inner tiles, thick and dark around outer ones.

    ``tiles`` may also describe neighbours that are not drawn; a tile ends beside a cell without an entry.
    """
    lines: dict[_Line, str] = {}
    for r, c in cells:
        here = tiles[r, c]
        left, top, right, bottom = x + c * CELL, y + r * CELL, x + (c + 1) * CELL, y + (r + 1) * CELL
        sides: dict[_Place, _Line] = {
            (r, c - 1): (left, top, left, bottom),
            (r, c + 1): (right, top, right, bottom),
            (r - 1, c): (left, top, right, top),
            (r + 1, c): (left, bottom, right, bottom),
        }
        for beside, line in sides.items():
            there = tiles.get(beside, ())
            outer = here[:1] != there[:1] or not there
            if outer or (len(here) > 1 and here != there):
                lines[line] = _RED if len(here) > 1 else _INK
    for colour in (_INK, _RED):
        paper.lines([line for line, own in lines.items() if own == colour], colour, 2.2)


def _draw_memory(paper: _Paper, at: Memory, tiles: _Tiles, x: float, y: float) -> None:
    """Draw memory in rows of cells from ``(x, y)`` downwards, with the position above each cell."""
    bytes_ = f"{at.size:,} positions" + (f", {at.padding_size:,} padding" if at.padding_size else "")
    paper.text(x, y, f"memory: {bytes_}", 12, _GREY, "start")
    y += 24
    if not at.size:
        return

    def cell(position: int) -> _Cell:
        if (index := at.index(position)) is None:
            return _Cell("#ffffff", f"position {position}: padding", stroke="#b8c2cc")
        hint = f"position {position}: element ({', '.join(map(str, index))})"
        return _Cell(tiles.colour(index), hint, _comma(index) or "·")

    per = _line_length(at)
    size = _text_size(_comma(n - 1 for n in at.shape.dims))
    numbers = min(8.5, _text_size(str(at.size - 1)))
    for line in _shown(-(-at.size // per), LINES):
        if line == _GAP:
            paper.text(x + CELL, y, "⋮", 18, _GREY)
            y += 26
            continue
        first, last = line * per, min((line + 1) * per, at.size)
        for position in range(first, last):
            paper.text(x + (position - first + 0.5) * CELL, y - 7, str(position), numbers, _GREY)
        _draw_cells(paper, {(0, n - first): cell(n) for n in range(first, last)}, x, y, size)
        # a tile may continue in the next row
        around = range(max(first - 1, 0), min(last + 1, at.size))
        beside = {(0, n - first): tiles.at_position(n) for n in around}
        _borders(paper, [(0, n) for n in range(last - first)], beside, x, y)
        y += CELL + 20


def _line_length(at: Memory) -> int:
    """Return the number of cells in a row of memory: as many whole tiles, or whole rows of the array, as fit."""
    unit = 1
    for n in reversed(at.expanded):
        if unit * n > LINE:
            return unit * max(LINE // unit, 1) if unit > 1 else min(LINE, at.size)
        unit *= n
    return max(min(unit, at.size), 1)


# -------------------------------------------------------------------------------------------------------------- launches
def launch_picture(at: Launched) -> Picture:
    """Draw the output of a launch: each cell with its thread, in the colour of its warp, thick lines around blocks."""
    paper = _Paper(str(at.shape))
    warps = -(-prod(at.launch.threads) // at.launch.warp)

    def numbers(index: Index) -> tuple[int, int, int]:
        """Return the block of an element, the warp in the block, and the thread in the block."""
        tx, ty, tz, bx, by, bz, *_ = at.place(index)
        (wide, high, _), (across, down, _) = at.launch.threads, at.launch.blocks
        thread = tx + wide * (ty + high * tz)
        return bx + across * (by + down * bz), thread // at.launch.warp, thread

    def cell(index: Index) -> _Cell:
        block, warp, thread = numbers(index)
        hint = f"element ({', '.join(map(str, index))}): thread {thread}, warp {warp}, block {block}"
        return _Cell(_PALETTE[(block * warps + warp) % len(_PALETTE)], hint, str(thread))

    if at.shape.size:
        size = _text_size(str(prod(at.launch.threads) - 1))
        _draw_grid(paper, at.shape.dims, (14, 36), cell, size, tiles=lambda index: numbers(index)[:1])
    return paper.done(f"threads, warps and blocks that compute {at.shape}")


# ---------------------------------------------------------------------------------------------------------------- reads
def reads_picture(
    m: Reading | Mapping[str, tuple[Reading, Sequence[int]]],
    output: Sequence[int],
    operand: Sequence[int] | None = None,
    *,
    select: Sequence[Selection],
    rts: Sequence[int] | None = None,
    title: str = "",
) -> Picture:
    """Draw the elements of its operands that an element or a tile of the output reads.

    ``m`` is a map from the output to one operand of sizes ``operand``, or all maps to it, or a mapping from the names
    of operands to their maps and sizes. ``select`` gives the indices for every dimension of the output: one number, an
    inclusive range, or None for all. Runtime variables have the values ``rts``; without ``rts``, any value in their
    boxes. An element that several selected outputs read shows how many. Raises `InputError` for a map that does not
    lead from an array of sizes ``output`` into its operand.
    """
    read = m if isinstance(m, Mapping) else {"operand": (m, operand or ())}
    maps = {name: ((f,) if isinstance(f, IndexingMap) else tuple(f), tuple(sizes)) for name, (f, sizes) in read.items()}
    chosen = _selected(select, output)
    whole = prod(hi - lo + 1 for lo, hi in chosen)
    if whole > PAIRS:
        raise TooLargeError(f"{whole:,} output elements are too many for a picture; the limit is {PAIRS:,}")
    found = {name: _read(f, sizes, chosen, rts) for name, (f, sizes) in maps.items()}
    paper = _Paper(title)
    top = 44.0 if title else 18.0
    picked = set(itertools.product(*(range(lo, hi + 1) for lo, hi in chosen)))
    marks = dict.fromkeys(picked, 1)
    right, middle = _draw_marks(paper, "output", output, marks, "#f6ad55", 14, top)
    y = top
    for name, (f, sizes) in maps.items():
        start = right + 110
        _, at = _draw_marks(paper, name, sizes, found[name], "#63b3ed", start, y)
        paper.arrow(right + 12, middle, start - 8, at)
        y = max(paper.height + 18, y)
        for each in f:
            paper.text(start, y, re.split(r",\s*domain:", format_map(each))[0], 11, _GREY, "start")
            y += 17
        y += 17
    what = " x ".join(str(lo) if lo == hi else f"{lo} to {hi}" for lo, hi in chosen) or "the element"
    return paper.done(f"elements of {', '.join(maps)} that output {what} reads")


def _selected(select: Sequence[Selection], output: Sequence[int]) -> list[tuple[int, int]]:
    if len(select) != len(output):
        said = f"{len(select)} selections for an output of rank {len(output)}"
        raise InputError(said, expected=f"{len(output)} of them")
    found = []
    for d, (s, n) in enumerate(zip(select, output, strict=True)):
        lo, hi = (0, n - 1) if s is None else s if isinstance(s, tuple) else (s, s)
        if not 0 <= lo <= hi < n:
            said = f"indices {lo} to {hi} of dimension {d}, which has size {n}"
            raise InputError(said, expected=f"indices from 0 to {n - 1}")
        found.append((lo, hi))
    return found


def _read(
    maps: Sequence[IndexingMap], operand: Sequence[int], chosen: Sequence[tuple[int, int]], rts: Sequence[int] | None
) -> dict[Index, int]:
    """Count for each element of the operand the selected output elements that read it."""
    pairs: set[tuple[Index, Index]] = set()
    for m in maps:
        if len(m.dims) != len(chosen):
            said = f"the map has {len(m.dims)} dimension variables, the output has rank {len(chosen)}"
            raise InputError(said)
        if len(m.results) != len(operand):
            said = f"the map has {len(m.results)} results, the operand has rank {len(operand)}"
            raise InputError(said, expected="the sizes of the operand")
        boxes = [*zip(m.dims, chosen, strict=True)]
        inside = [Constraint(v.expr, lo, hi) for v, (lo, hi) in boxes]
        dims = tuple(v.__class__(v.name, max(v.lo, lo), min(v.hi, hi)) for v, (lo, hi) in boxes)
        pairs |= m.with_(dims=dims, constraints=(*m.constraints, *inside)).relation(rts, limit=PAIRS)
    counts = Counter(target for _, target in sorted(pairs))
    for target in counts:
        if any(not 0 <= k < n for k, n in zip(target, operand, strict=True)):
            raise InputError(f"the map reads {target} of an operand of sizes {list(operand)}")
    return counts


def _draw_marks(
    paper: _Paper, name: str, dims: Sequence[int], marks: Mapping[Index, int], colour: str, x: float, y: float
) -> tuple[float, float]:
    """Draw an array with marked cells; return its right end and the vertical middle of its first marked cell."""
    rank = len(dims)
    shape = "×".join(map(str, dims)) or "scalar"
    paper.title(x, y, f"{name}  {shape}", 12.5)
    places = sorted(marks)
    most = max(marks.values(), default=1)

    def cell(index: Index) -> _Cell:
        # blended with white: the more readers, the stronger the colour
        n = marks.get(index, 0)
        strength = 0.45 + 0.55 * n / most if n else 0
        parts = (255 + (int(colour[k : k + 2], 16) - 255) * strength for k in (1, 3, 5))
        fill = "#" + "".join(f"{round(p):02x}" for p in parts)
        return _Cell(fill, f"({', '.join(map(str, index))})", str(n) if n > 1 else "")

    marked = [k[-2] for k in places if rank > 1], [k[-1] for k in places if rank]
    ends = [[min(numbers), max(numbers)] if numbers else [] for numbers in marked]
    size = _text_size(str(most), largest=11)
    fronts = {k[:-2] for k in places}
    far, middles = _draw_grid(paper, dims, (x, y + 22), cell, size, keep=ends, panels=fronts)
    return far, next((middles[k] for k in places if k in middles), y + 22)
