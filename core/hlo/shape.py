"""Shapes as HLO text writes them: `f32[2,3]{1,0:T(8,128)}`, `(f32[2], s32[])`, `token[]`, `f32[<=10]`.

An array has an element type, dimension sizes and perhaps a layout. Dimension 0 is written first; a layout
lists dimensions from the fastest varying in memory to the slowest, tiles and memory space after a colon.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from math import prod
from operator import index as as_integer

from ..errors import InputError
from .lexer import Source

UNBOUNDED = -1
"""Size of a dimension written `?`."""

# XLA nests tuples two or three deep; the limit bounds the recursion of equality and hashing for hostile input.
_DEEPEST_TUPLE = 100
_LARGEST_SIZE = 2**63 - 1

_PROPERTY_ORDER = ("D", "L", "#", "*", "E", "S", "SC", "P", "M")
_ELEMENT_TYPE = re.compile(r"([a-z][a-z0-9]*+)\s*+\[", re.ASCII)
BUFFER = re.compile(r"b\(\s*+(?=[a-z][a-z0-9]*+\s*+\[)", re.ASCII)
# The brace may also open the body of a computation, with or without white space before it.
_LAYOUT_FOLLOWS = re.compile(
    r"(?:\s++(?=\{\s*+(?:\d++\s*+[,}:]|:)))?+\{(?!\s*+(?:ROOT\s|%?+[A-Za-z_][\w.\-]*+\s*+=))", re.ASCII
)
_DIMENSION = re.compile(r"\s*+(<=)?+\s*+(?:(\d++)|(\?))\s*+", re.ASCII)
_PROPERTY = re.compile(r"SC|[A-Z#*]")


@dataclass(frozen=True, slots=True)
class Tile:
    """One tile of a layout. A size of None, written `*`, combines the dimension with the next minor one.

    -1 is read as None, as the layout message of XLA spells it. Raises `InputError` for a tile without sizes, a size
    below 1, and a last size of None.
    """

    sizes: tuple[int | None, ...]

    def __post_init__(self) -> None:
        sizes = tuple(None if n is None or n == -1 else as_integer(n) for n in self.sizes)
        object.__setattr__(self, "sizes", sizes)
        if not sizes or sizes[-1] is None or any(n is not None and n < 1 for n in sizes):
            raise InputError(f"a tile {self}", expected="positive sizes or `*`, the last one a size")

    def __str__(self) -> str:
        return "(" + ",".join("*" if n is None else str(n) for n in self.sizes) + ")"


@dataclass(frozen=True, slots=True)
class Layout:
    """Order of dimensions in memory, tiles, and the properties written after the colon.

    `properties` holds `(letter, text)` pairs in printing order: S memory space, E element bits, L tail padding, and
    others as XLA writes them; none is dropped. Negative dimension numbers count from the end. Raises `InputError`
    unless the order has every dimension once.
    """

    minor_to_major: tuple[int, ...]
    tiles: tuple[Tile, ...] = ()
    properties: tuple[tuple[str, str], ...] = ()

    def __post_init__(self) -> None:
        order = tuple(as_integer(n) for n in self.minor_to_major)
        rank = len(order)
        if sorted(n + rank if n < 0 else n for n in order) != list(range(rank)):
            raise InputError(f"a layout with minor_to_major {list(order)}", expected=_dimension_numbers(rank))
        object.__setattr__(self, "minor_to_major", tuple(n % rank for n in order))
        object.__setattr__(self, "tiles", tuple(self.tiles))

    @staticmethod
    def default(rank: int) -> Layout:
        """Return the layout of a new array: dimensions from major to minor, so that the last varies fastest."""
        return Layout(tuple(reversed(range(rank))))

    @property
    def element_bits(self) -> int:
        """The number in `E(4)`, 0 when absent."""
        return int(dict(self.properties).get("E", "0"))

    @property
    def tail_alignment(self) -> int:
        """The number in `L(1024)`: the elements of the buffer are a multiple of it; 1 when absent."""
        return int(dict(self.properties).get("L", "1"))

    def __str__(self) -> str:
        order = ",".join(map(str, self.minor_to_major))
        before = "".join(f"{k}({v})" for k, v in self.properties if k == "D")
        after = "".join(f"{k}({v})" for k, v in self.properties if k != "D")
        tiles = "T" + "".join(map(str, self.tiles)) if self.tiles else ""
        extra = before + tiles + after
        return "{" + order + (":" + extra if extra else "") + "}"


@dataclass(frozen=True, slots=True)
class Shape:
    """An array (or `token[]`, `opaque[]`): element type, sizes, dynamic dimensions, layout if written.

    `buffer` marks a place in memory, `b(f32[2])`, instead of a value.

    Raises `InputError` for a layout of another rank, and for a size below 0 that is not `UNBOUNDED`.
    """

    element_type: str
    dims: tuple[int, ...]
    layout: Layout | None = None
    dynamic: tuple[bool, ...] = ()
    buffer: bool = False

    def __post_init__(self) -> None:
        if type(self.dims) is not tuple:
            object.__setattr__(self, "dims", tuple(as_integer(n) for n in self.dims))
        if self.layout is not None and len(self.layout.minor_to_major) != len(self.dims):
            raise InputError(
                f"layout {self.layout} of an array of rank {self.rank}", expected=_dimension_numbers(self.rank)
            )
        if self.dims and min(self.dims) < UNBOUNDED:
            raise InputError(f"an array of sizes {list(self.dims)}", expected="sizes from 0")

    @property
    def rank(self) -> int:
        """Number of dimensions."""
        return len(self.dims)

    @property
    def size(self) -> int:
        """Number of elements; 0 when some dimension has none."""
        return prod(self.dims)

    @property
    def minor_to_major(self) -> tuple[int, ...]:
        """The written order of dimensions in memory, or the default one: last dimension fastest."""
        return self.layout.minor_to_major if self.layout else tuple(reversed(range(len(self.dims))))

    def with_layout(self, layout: Layout | None = None) -> Shape:
        """Return the same array in this layout, or in the default one. Raises `InputError` if the ranks differ."""
        layout = Layout.default(self.rank) if layout is None else layout
        return replace(self, layout=layout)

    def without_layout(self) -> Shape:
        """Return the same array without a layout."""
        return self if self.layout is None else replace(self, layout=None)

    def __str__(self) -> str:
        return self.text()

    def text(self, layouts: bool = True) -> str:
        """Return the HLO text, with or without the layout."""
        dynamic = self.dynamic or (False,) * len(self.dims)
        bounds = zip(self.dims, dynamic, strict=True)
        sizes = ",".join("?" if n == UNBOUNDED else f"<={n}" if d else str(n) for n, d in bounds)
        layout = str(self.layout) if layouts and self.layout is not None else ""
        spelled = f"{self.element_type}[{sizes}]{layout}"
        return f"b({spelled})" if self.buffer else spelled


@dataclass(frozen=True, slots=True)
class TupleShape:
    """A tuple of shapes, possibly nested, possibly empty."""

    elements: tuple[AnyShape, ...]

    def without_layout(self) -> TupleShape:
        """Return the same tuple without layouts."""
        return TupleShape(tuple([e.without_layout() for e in self.elements]))

    def __str__(self) -> str:
        return self.text()

    def text(self, layouts: bool = True) -> str:
        """Return the HLO text; every fifth element is preceded by its number, as XLA prints it."""
        marks = (f"/*index={k}*/" if k and k % 5 == 0 else "" for k in range(len(self.elements)))
        return "(" + ", ".join(m + e.text(layouts) for m, e in zip(marks, self.elements, strict=True)) + ")"


AnyShape = Shape | TupleShape


def leaves(shape: AnyShape | None) -> Iterator[tuple[tuple[int, ...], Shape]]:
    """Yield the arrays of a shape with their paths, in order; none for an unknown shape.

    An array is its own only leaf, with path ().
    """
    pending: list[tuple[tuple[int, ...], AnyShape]] = [] if shape is None else [((), shape)]
    while pending:
        path, part = pending.pop()
        if isinstance(part, Shape):
            yield path, part
        else:
            pending.extend(((*path, k), e) for k, e in reversed(list(enumerate(part.elements))))


def unsized(shape: AnyShape | None) -> bool:
    """Return whether an array of a shape has a dimension of unknown size."""
    if isinstance(shape, Shape):
        return UNBOUNDED in shape.dims
    return any(UNBOUNDED in a.dims for _, a in leaves(shape))


def read_shape(text: str) -> AnyShape:
    """Read the shape that `text` contains. Raises `InputError` if it contains none."""
    source = Source(text)
    shape, end = scan_shape(source, source.skip(0), {})
    end = source.skip(end)
    if end != len(text):
        source.unexpected(end, "after a shape", "the end of the text")
    return shape


def scan_shape(source: Source, position: int, known: dict[str, AnyShape], depth: int = 0) -> tuple[AnyShape, int]:
    """Read a shape; return it and the offset after it. `known` caches array shapes by their spelling."""
    if not source.text.startswith("(", position):
        return scan_array(source, position, known)
    if depth == _DEEPEST_TUPLE:
        source.fail(position, f"tuples nested deeper than {_DEEPEST_TUPLE}", "a flatter shape")

    def element(at: int) -> tuple[AnyShape, int]:
        return scan_shape(source, at, known, depth + 1)

    elements, end = source.listed(position + 1, (")",), element, "in a tuple shape", "a shape")
    return TupleShape(tuple(elements)), end + 1


def scan_entry_layout(source: Source, position: int, known: dict[str, AnyShape]) -> int:
    """Return the offset after a layout of the entry, `{(f32[2]{0})->f32[]}`; `known` as in `scan_shape`."""
    where = "in a layout of the entry"
    position = source.expect("(", source.expect("{", position, where), where)
    _, _, position = scan_signature(source, position, known, named=False)
    return source.expect("}", position, "after the result")


def scan_signature(
    source: Source, position: int, known: dict[str, AnyShape], named: bool
) -> tuple[tuple[tuple[str, AnyShape], ...], AnyShape, int]:
    """Read `f32[2], f32[3]) -> f32[]`, perhaps with names of parameters, and return the offset after it too."""

    def parameter(at: int) -> tuple[tuple[str, AnyShape], int]:
        name = ""
        if named:
            name, at = source.name(at, "a parameter's name")
            at = source.skip(source.expect(":", at, "after a parameter's name"))
        shape, at = scan_shape(source, at, known)
        return (name, shape), at

    parameters, position = source.listed(position, (")",), parameter, "between parameters", "a parameter")
    position = source.skip(source.expect("->", position + 1, "after the parameters"))
    result, position = scan_shape(source, position, known)
    return tuple(parameters), result, position


def scan_array(source: Source, position: int, known: dict[str, AnyShape]) -> tuple[Shape, int]:
    """Read the array shape at an offset, with its layout if one follows."""
    text = source.text
    if (buffer := BUFFER.match(text, position)) is not None:
        inner, end = scan_array(source, buffer.end(), known)
        return replace(inner, buffer=True), source.expect(")", end, "after the array of a buffer")
    element = _ELEMENT_TYPE.match(text, position)
    if element is None:
        source.unexpected(position, "where a shape belongs", "a shape such as `f32[2,3]`")
    bracket = text.find("]", element.end())
    if bracket < 0:
        source.fail(element.end() - 1, "'[' is not closed", "`]`")
    end = bracket + 1
    layout = _LAYOUT_FOLLOWS.match(text, end)
    if layout is not None:
        end = source.close(layout.end() - 1)
    spelled = text[position:end]
    shape = known.get(spelled)
    if not isinstance(shape, Shape):
        shape = _array(source, element, layout.end() - 1 if layout else -1)
        known[spelled] = shape
    return shape, end


def _array(source: Source, element: re.Match[str], layout_at: int) -> Shape:
    """Build an array from its type, its brackets, and its layout, which opens at `layout_at` or is absent (-1)."""
    text = source.text

    def dimension(at: int) -> tuple[tuple[int, bool], int]:
        found = _DIMENSION.match(text, at)
        if found is None:
            source.unexpected(at, "in a shape", "a dimension size")
        size = UNBOUNDED if found[3] else source.checked_integer(found[2], found.start(2))
        if size > _LARGEST_SIZE:
            source.fail(found.start(2), f"a dimension of size {size}", f"at most {_LARGEST_SIZE}")
        return (size, bool(found[1] or found[3])), found.end()

    found, _ = source.listed(element.end(), ("]",), dimension, "in a shape", "a dimension size")
    layout = _layout(source, layout_at, len(found)) if layout_at >= 0 else None
    dynamic = tuple(d for _, d in found)
    return Shape(element[1], tuple(n for n, _ in found), layout, dynamic if any(dynamic) else ())


def _layout(source: Source, position: int, rank: int) -> Layout | None:
    """Read the layout at an offset; None for `{}` on a scalar, which has no meaning."""
    text = source.text
    opening = position
    seen: set[int] = set()

    def dimension(start: int) -> tuple[int, int]:
        number, end = source.integer(start, "a dimension number")
        if not 0 <= number < rank:
            source.fail(start, f"dimension {number} of an array of rank {rank}", _dimension_numbers(rank))
        if number in seen:
            source.fail(start, f"dimension {number} occurs twice in a layout", _dimension_numbers(rank))
        seen.add(number)
        return number, end

    order, position = source.listed(position + 1, (":", "}"), dimension, "in a layout", "a dimension number")
    if len(order) != rank:
        source.fail(
            opening, f"a layout of {len(order)} dimensions for an array of rank {rank}", _dimension_numbers(rank)
        )
    tiles: list[Tile] = []
    properties: list[tuple[str, str]] = []
    if text.startswith(":", position):
        position = source.skip(position + 1)
        while not text.startswith("}", position):
            found = _PROPERTY.match(text, position)
            if found is None:
                source.unexpected(position, "in a layout", "`T(…)`, `S(…)`, `E(…)` or `}`")
            letter = found.group()
            position = source.skip(found.end())
            if not text.startswith("(", position):
                source.unexpected(position, f"after {letter!r} in a layout", "`(`")
            if letter == "T":
                position = _tiles(source, position, tiles)
                continue
            end = source.close(position)
            if letter in ("S", "E", "L", "M"):
                _, after = source.integer(position + 1, "a number")
                source.expect(")", after, "in a layout")
            if any(letter == k for k, _ in properties):
                source.fail(found.start(), f"{letter!r} occurs twice in a layout", "each property once")
            properties.append((letter, "".join(text[position + 1 : end - 1].split())))
            position = source.skip(end)
    if not rank and not tiles and not properties:
        return None
    rank_of = {letter: k for k, letter in enumerate(_PROPERTY_ORDER)}
    properties.sort(key=lambda p: (rank_of.get(p[0], len(rank_of)), p[0]))
    return Layout(tuple(order), tuple(tiles), tuple(properties))


def _tiles(source: Source, position: int, tiles: list[Tile]) -> int:
    text = source.text
    if tiles:
        source.fail(position, "tiles are given twice", "`T` once, with all tiles after it")

    def tile_size(start: int) -> tuple[int | None, int]:
        if text.startswith("*", start):
            return None, start + 1
        size, end = source.integer(start, "a tile size")
        if size < 1:
            source.fail(start, f"a tile size of {size}", "a positive size or `*`")
        return size, end

    while text.startswith("(", position):
        sizes, position = source.listed(position + 1, (")",), tile_size, "in a tile", "a tile size")
        if not sizes:
            source.unexpected(position, "where a tile size belongs", "a positive size or `*`")
        if sizes[-1] is None:
            source.fail(position - 1, "the last size of a tile is `*`", "a dimension to combine with")
        tiles.append(Tile(tuple(sizes)))
        position = source.skip(position + 1)
    return position


def _dimension_numbers(rank: int) -> str:
    return "every dimension number from 0 to " + str(rank - 1) if rank else "no dimension number"
