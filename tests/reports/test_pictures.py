"""Pictures are well-formed SVG, the same in every run, with the right cells and texts in the right places."""

from __future__ import annotations

import itertools
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path
from xml.etree import ElementTree

import pytest

from indexproof.core.errors import InputError, TooLargeError
from indexproof.core.hlo import read_module
from indexproof.core.launch import Launch
from indexproof.core.layout import memory
from indexproof.core.op import concrete
from indexproof.core.text import parse_map
from indexproof.reports.pictures import CELL, Picture, launch_picture, layout_picture, reads_picture
from indexproof.rules.ops.contraction import Dot
from indexproof.rules.ops.movement import Transpose
from indexproof.verify.analysed import module_maps

SVG = "{http://www.w3.org/2000/svg}"
WINDOW = parse_map(
    "(d0, d1)[s0, s1] -> (d0 + s0, d1 + s1), domain: d0 in [0, 3], d1 in [0, 3], s0 in [0, 2], s1 in [0, 2]"
)


class Drawn:
    """The cells of a picture, each with corner, colour, hint and text, and its lines."""

    def __init__(self, picture: Picture) -> None:
        self.root = ElementTree.fromstring(picture.svg)
        self.cells = []
        for r in self.root.iter(f"{SVG}rect"):
            hint = r.find(f"{SVG}title")
            if hint is not None:
                self.cells.append((float(r.get("x")), float(r.get("y")), r.get("fill"), hint.text))
        self.texts = [(float(t.get("x")), float(t.get("y")), t.text) for t in self.root.iter(f"{SVG}text")]

    def text_in(self, x: float, y: float) -> str:
        found = [t for a, b, t in self.texts if x <= a <= x + CELL and y <= b <= y + CELL]
        return found[0] if found else ""

    def by_hint(self, start: str) -> dict[str, tuple[str, str]]:
        """Return colour and text of the cells whose hint starts with ``start``."""
        return {h: (c, self.text_in(x, y)) for x, y, c, h in self.cells if h.startswith(start)}

    def grid(self, start: str) -> list[list[str]]:
        """Return the texts of the cells whose hint starts with ``start``, row by row."""
        rows: dict[float, list[tuple[float, str]]] = {}
        for x, y, _, h in self.cells:
            if h.startswith(start):
                rows.setdefault(y, []).append((x, self.text_in(x, y)))
        return [[t for _, t in sorted(row)] for _, row in sorted(rows.items())]

    def lines(self, colour: str) -> list[tuple[float, ...]]:
        paths = [p.get("d") for p in self.root.iter(f"{SVG}path") if p.get("stroke") == colour]
        ends = re.compile(r"M([-\d.]+) ([-\d.]+)L([-\d.]+) ([-\d.]+)")
        return [tuple(map(float, found)) for d in paths for found in ends.findall(d)]


def test_figure_1() -> None:
    """A layout of 3x5 in tiles of 2x2 is drawn with white padding and with memory beside it."""
    drawn = Drawn(layout_picture("f32[3,5]{1,0:T(2,2)}"))
    elements = drawn.by_hint("element")
    assert len(elements) == 15
    assert elements["element (2, 3) at position 17"][1] == "2,3"
    memory_cells = drawn.by_hint("position")
    assert len(memory_cells) == 24
    white = {h for h, (c, _) in memory_cells.items() if c == "#ffffff"}
    assert white == {f"position {p}: padding" for p in (9, 11, 14, 15, 18, 19, 21, 22, 23)}
    # an element has the same colour in both halves, and each tile has a colour of its own
    at = memory("f32[3,5]{1,0:T(2,2)}")
    colours = {}
    for hint, (colour, text) in elements.items():
        index = tuple(map(int, text.split(",")))
        colours.setdefault((index[0] // 2, index[1] // 2), set()).add(colour)
        place = at.linear_index(index)
        assert memory_cells[f"position {place}: element ({text.replace(',', ', ')})"] == (colour, text), hint
    assert all(len(c) == 1 for c in colours.values())
    assert len(set.union(*colours.values())) == len(colours) == 6
    # "made to have complete 2x2 tiles": the array is drawn as 4 x 6 cells, and padding is white
    beyond = [c for c in drawn.cells if c[3] == "padding"]
    assert len(beyond) == 4 * 6 - 15
    assert {c[2] for c in beyond} == {"#ffffff"}


def test_figure_2() -> None:
    """A layout of two levels has a colour for each tile of 2x4, a red box for each tile of 2x1, and shows positions."""
    drawn = Drawn(layout_picture("f32[4,8]{1,0:T(2,4)(2,1)}", show="positions"))
    at = memory("f32[4,8]{1,0:T(2,4)(2,1)}")
    assert drawn.grid("element") == [[str(at.linear_index((r, c))) for c in range(8)] for r in range(4)]
    colours = Counter(c for _, _, c, h in drawn.cells if h.startswith("element"))
    assert sorted(colours.values()) == [8, 8, 8, 8]
    red = drawn.lines("#c92a2a")
    # 2 rows of 8 boxes: each row of cells has 9 vertical lines, and each of the 8 columns has 3 horizontal lines
    assert sum(x1 == x2 for x1, _, x2, _ in red) == 4 * 9
    assert sum(y1 == y2 for _, y1, _, y2 in red) == 8 * 3
    assert not drawn.lines("#1f2933")


@pytest.mark.parametrize("text", [
    "f32[]",
    "f32[]{:T(8)}",
    "f32[7]{0:T(4)(3)}",
    "f32[2,3]{0,1}",
    "f32[2,3,5]{1,2,0:T(2,4)}",
    "f32[0,5]{1,0:T(2,2)}",
    "f32[5,0]",
    "bf16[16,256]{1,0:T(8,128)(2,1)}",
    "f32[2,7,8,11,10]{4,3,2,1,0:T(*,*,2,*,3)}",
    "f32[3,5]{1,0:T(2,2)L(64)}",
    "f32[1000,1000,1000]{0,2,1:T(8,128)}",
    "f32[3]{0:T(2,2)}",
    "f32[8,8]{1,0:T(4,4)(2,2,4)}",
])  # fmt: skip
@pytest.mark.parametrize("show", ["memory", "positions"])
def test_every_layout_has_a_picture(text: str, show: str) -> None:
    picture = layout_picture(text, show=show)
    drawn = Drawn(picture)
    at = memory(text)
    assert picture.svg == layout_picture(text, show=show).svg
    assert len(picture.svg) < 300_000
    width, height = (float(drawn.root.get(k)) for k in ("width", "height"))
    assert all(0 <= x <= width and 0 <= y <= height for x, y, _ in drawn.texts)
    elements = drawn.by_hint("element")
    assert bool(elements) == bool(at.shape.size)
    for hint in elements:
        index = tuple(int(k) for k in re.findall(r"\d+", hint.split(" at ")[0]))
        assert hint.endswith(f" at position {at.linear_index(index)}")
    for hint in drawn.by_hint("position"):
        place = int(hint.split()[1].rstrip(":"))
        index = at.index(place)
        assert hint.endswith("padding" if index is None else f"({', '.join(map(str, index))})")


def test_what_a_window_reads() -> None:
    drawn = Drawn(reads_picture(WINDOW, (4, 4), (6, 6), select=(1, (0, 1)), title="window"))
    boxes = [(x, y, c) for x, y, c, h in drawn.cells]
    left = min(x for x, _, _ in boxes)
    output = [b for b in boxes if b[0] < left + 4 * CELL]
    assert len(output) == 16
    assert sum(c != "#ffffff" for *_, c in output) == 2
    operand = [b for b in boxes if b not in output]
    assert len(operand) == 36
    counts = Counter(drawn.text_in(x, y) for x, y, c in operand if c != "#ffffff")
    assert counts == {"2": 6, "": 6}  # the middle is read twice, either side once


def test_what_a_dot_reads_of_both_operands() -> None:
    shapes = ((40, 30), (30, 50))
    op = Dot((), (), (1,), (0,))
    maps = {n: (concrete(op, k, "output_to_input", shapes), shapes[k]) for k, n in enumerate(("lhs", "rhs"))}
    picture = reads_picture(maps, (40, 50), select=((8, 11), 20))
    drawn = Drawn(picture)
    marked = Counter(c for *_, c, _ in drawn.cells if c != "#ffffff")
    assert len(marked) == 2
    assert {"lhs  40×30", "rhs  30×50", "output  40×50"} <= {t for *_, t in drawn.texts}
    assert "lhs, rhs" in picture.alt


def test_all_maps_to_one_operand() -> None:
    """Reads of several maps to one operand are all drawn: `x + transpose(x)` reads one element or two."""
    module = read_module("""
        p = f32[3,3] parameter(0)
        t = f32[3,3] transpose(p), dimensions={1,0}
        ROOT a = f32[3,3] add(p, t)
    """)
    maps = module_maps(module).computation(module.entry, "output_to_input")[0, 0]
    assert len(maps) == 2
    for select, marked in (((1, 1), 1), ((0, 2), 2)):
        drawn = Drawn(reads_picture(maps, (3, 3), (3, 3), select=select))
        assert sum(c != "#ffffff" for *_, c, _ in drawn.cells) == 1 + marked
        assert {"(d0, d1) -> (d0, d1)", "(d0, d1) -> (d1, d0)"} <= {t for *_, t in drawn.texts}


def test_an_element_of_a_vector_and_a_scalar() -> None:
    reduce = parse_map("()[s0] -> (s0), domain: s0 in [0, 4]")
    assert len(Drawn(reads_picture(reduce, (), (5,), select=())).by_hint("(")) == 6
    broadcast = parse_map("(d0) -> (), domain: d0 in [0, 4]")
    assert len(Drawn(reads_picture(broadcast, (5,), (), select=(None,))).by_hint("(")) == 6


def test_few_cells_of_a_vast_array() -> None:
    m = parse_map("(d0) -> (d0 * 1000 + 7), domain: d0 in [0, 999999999999]")
    first = 5 * 10**11
    drawn = Drawn(reads_picture(m, (10**12,), (10**15,), select=[(first, first + 1)]))
    marked = {h for _, _, c, h in drawn.cells if c != "#ffffff"}
    assert marked == {f"({k})" for k in (first, first + 1, 1000 * first + 7, 1000 * first + 1007)}


def test_values_known_at_run_time() -> None:
    m = parse_map("(d0){rt0} -> (d0 + rt0), domain: d0 in [0, 2], rt0 in [0, 4]")
    fixed = Drawn(reads_picture(m, (3,), (7,), select=(None,), rts=[4]))
    assert [c != "#ffffff" for *_, c, _ in fixed.cells[3:]] == [False] * 4 + [True] * 3
    anything = Drawn(reads_picture(m, (3,), (7,), select=(0,)))
    assert [c != "#ffffff" for *_, c, _ in anything.cells[3:]] == [True] * 5 + [False] * 2


def test_a_notebook_shows_pictures_and_a_file_keeps_them(tmp_path: Path) -> None:
    picture = layout_picture("f32[2,3]{0,1}", title="a < b & c")
    assert picture._repr_svg_() == picture.svg == str(picture)
    assert picture._repr_html_().startswith('<div class="indexproof-picture"><svg ')
    assert "a &lt; b &amp; c" in picture.svg
    assert picture.save(tmp_path / "x.svg").read_text("utf-8") == picture.svg


def test_the_same_in_another_process() -> None:
    code = (
        "from indexproof.reports.pictures import layout_picture as p;"
        "import sys; sys.stdout.write(p('f32[2,3,5]{1,2,0:T(2,4)}').svg)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, encoding="utf-8")
    assert done.stdout == layout_picture("f32[2,3,5]{1,2,0:T(2,4)}").svg


@pytest.mark.parametrize(("make", "error"), [
    (lambda: layout_picture("f32[2]", show="colours"), InputError),
    (lambda: reads_picture(WINDOW, (4, 4), (6, 6), select=(1,)), InputError),
    (lambda: reads_picture(WINDOW, (4, 4), (6, 6), select=(1, 4)), InputError),
    (lambda: reads_picture(WINDOW, (4, 4), (6, 6), select=(1, (3, 2))), InputError),
    (lambda: reads_picture(WINDOW, (4,), (6, 6), select=(1,)), InputError),
    (lambda: reads_picture(WINDOW, (4, 4), select=(1, 1)), InputError),
    (lambda: reads_picture(WINDOW, (4, 4), (5, 6), select=(3, 1)), InputError),
    (lambda: reads_picture(concrete(Transpose((1, 0)), 0, "output_to_input", [(1000, 1000)]), (1000, 1000), (1000,
        1000), select=(None, None)), TooLargeError),
])  # fmt: skip
def test_what_cannot_be_drawn(make, error: type[Exception]) -> None:
    with pytest.raises(error):
        make()


def test_a_launch_is_drawn_with_its_threads_warps_and_blocks() -> None:
    at = Launch((8,), (2,), 2, 4).over("f32[4,16]")
    root = ElementTree.fromstring(launch_picture(at).svg)
    hints = [t.text or "" for t in root.findall(".//{*}rect/{*}title")]
    assert len(hints) == 64
    assert "element (0, 15): thread 7, warp 1, block 0" in hints
    assert "element (3, 4): thread 2, warp 0, block 1" in hints
    colours = {
        hint.partition("warp ")[2]: box.get("fill")
        for box, hint in zip(root.findall(".//{*}rect[{*}title]"), hints, strict=True)
    }
    assert len(set(colours.values())) == len(colours) == 4
    assert len({t.get("font-size") for t in root.findall(".//{*}text") if t.get("font-size") != "10"}) == 2


@pytest.mark.parametrize("shape", ["f32[]", "f32[0,3]", "f32[7]", "f32[3,2,5]", "f32[100,200]"])
def test_every_launch_is_drawn(shape: str) -> None:
    assert launch_picture(Launch((4, 2), (3,), 1, 4).over(shape)).svg.startswith("<svg")


def test_a_thread_shows_the_order_of_a_transposed_layout() -> None:
    """A line joins each element to the next one in memory, unless the layout is row-major."""
    assert not Drawn(layout_picture("f32[3,5]")).lines("#ffffff")
    drawn = Drawn(layout_picture("f32[3,5]{0,1}"))
    corners = {h: (x + CELL / 2, y + CELL / 2) for x, y, _, h in drawn.cells}
    at = memory("f32[3,5]{0,1}")
    places = [corners[f"element {at.index(n)} at position {n}"] for n in range(15)]
    assert drawn.lines("#ffffff") == [(*a, *b) for a, b in itertools.pairwise(places)]
    # the line ends where the padding of a tile begins
    assert len(Drawn(layout_picture("f32[5,6]{0,1:T(2,4)}")).lines("#ffffff")) == 3 * (7 + 1)
    assert len(Drawn(layout_picture("f32[4,6,5]{1,2,0}")).lines("#ffffff")) == 4 * 29
