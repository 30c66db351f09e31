"""Arrays in memory: a shape with its layout, as maps between elements and positions.

    >>> from indexproof.core.layout import memory
    >>> figure = memory("f32[3,5]{1,0:T(2,2)}")
    >>> figure.linear_index((2, 3)), figure.index(17), figure.index(20)
    (17, (2, 3), (2, 4))
    >>> figure.size, figure.padding_size
    (24, 9)

A position counts elements from the beginning of the buffer. `padded_dimensions` is the field of that name in
XLA's layout message, which HLO text does not show.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from operator import index as as_integer

from ..blocks import tuple_text
from ..bounded import constraints_of
from ..display import Shown
from ..errors import InputError, quoted
from ..expr import Expr, Int
from ..facts import Facts
from ..hlo.shape import UNBOUNDED, Layout, Shape, TupleShape, read_shape
from ..indexing_map import Constraint, IndexingMap, Variable, expect_map
from ..interval import Interval
from ..op import concrete
from .placement import Placement

Index = tuple[int, ...]


#: The element types of known size.
_TYPES = re.compile(r"[suc][0-9]{1,4}|b?f[0-9]{1,4}(e[0-9]+m[0-9]+)?|f4e2m1fn|f8e4m3(b11)?fn(uz)?|f8e5m2fnuz|f8e8m0fnu")


def element_bits(shape: Shape) -> int:
    """Return the number of bits of an element in memory: as the layout states, or rounded up to whole bytes.

    Raises `InputError` for a type without elements (`token`) or an unknown one.
    """
    if shape.layout is not None and shape.layout.element_bits:
        return shape.layout.element_bits
    if shape.element_type == "pred":
        return 8
    found = re.match(r"[a-z]+([0-9]{1,4})", shape.element_type)
    if found is None or not _TYPES.fullmatch(shape.element_type):
        raise InputError(f"the size of an element of type {quoted(shape.element_type)} is not known")
    return -(-int(found[1]) // 8) * 8


@dataclass(frozen=True)
class Memory(Shown):
    """An array in memory: the maps between its elements and their positions.

    Dimensions of dynamic size have their upper bound. Raises `InputError` for a shape without a definite position in
    memory: a dimension of unknown size, padded sizes below the sizes, and layouts that are not just an order of the
    elements (sparse levels, split dimensions).
    """

    shape: Shape
    padded_dimensions: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        shape = self.shape
        if UNBOUNDED in shape.dims:
            raise InputError(f"{shape} has a dimension of unknown size", expected="a size or a bound `<=8`")
        if self.padded_dimensions and len(self.padded_dimensions) != shape.rank:
            raise InputError(
                f"padded_dimensions has {len(self.padded_dimensions)} entries for {shape}",
                expected=f"{shape.rank}, one for every dimension",
            )
        for letter, text in self.layout.properties:
            if letter == "SC" or (letter == "D" and set(text.split(",")) != {"D"}):
                raise InputError(
                    f"{shape}: the elements of a layout with `{letter}({text})` are not simply in one order"
                )
        if self.layout.tail_alignment < 1:
            raise InputError(f"{shape}: L({self.layout.tail_alignment})", expected="a positive number")
        self.op.validate(shape.dims, ())

    # -- parts
    @cached_property
    def layout(self) -> Layout:
        """The layout of the shape, or the default one."""
        return self.shape.layout or Layout.default(self.shape.rank)

    @cached_property
    def op(self) -> Placement:
        """The placement of elements as an op, whose output is memory."""
        return Placement(
            self.layout.minor_to_major,
            tuple(t.sizes for t in self.layout.tiles),
            self.padded_dimensions,
            self.layout.tail_alignment,
        )

    @cached_property
    def size(self) -> int:
        """The number of positions, padding included."""
        (length,) = integers(self.op.shape(self.shape.dims, ()))
        return length

    @property
    def padding_size(self) -> int:
        """The number of positions without an element."""
        return self.size - self.shape.size

    @property
    def bytes(self) -> int:
        """The size of the buffer in bytes, padding included."""
        return -(-self.size * element_bits(self.shape) // 8)

    @cached_property
    def expanded(self) -> tuple[int, ...]:
        """The sizes after all tiles, slowest varying dimension first; memory is this array in row-major order."""
        return integers(self.op.expanded(self.shape.dims))

    @cached_property
    def physical(self) -> tuple[int, ...]:
        """The (padded) sizes, slowest varying dimension first."""
        return integers(self.op.physical(self.padded_dimensions or self.shape.dims))

    # -- maps
    @cached_property
    def forward(self) -> IndexingMap:
        """The map from elements to positions."""
        return concrete(self.op, 0, "input_to_output", (self.shape.dims, ()))

    @cached_property
    def backward(self) -> IndexingMap:
        """The map from positions to elements; its domain is exactly the positions that hold an element."""
        return concrete(self.op, 0, "output_to_input", (self.shape.dims, ()))

    @cached_property
    def padding(self) -> tuple[IndexingMap, ...]:
        """Maps without results, whose domains are disjoint and together are the padding positions."""
        position = Variable("d0", 0, self.size - 1)
        facts = Facts({position.expr: (0, self.size - 1)})
        found: list[IndexingMap] = []
        held: list[Constraint] = []  # constraints of an element's position; each map violates the next one
        owed = self.op.element((position.expr,), self.shape.dims)[1] if self.size else []
        for e, lo, hi in (bound for c in owed for bound in constraints_of(c)):
            known = facts.interval(e)
            for part in (Interval(known.lo, lo - 1), Interval(hi + 1, known.hi)):
                if not part.empty:
                    broken = Constraint(e, int(part.lo), int(part.hi))
                    found.append(IndexingMap((position,), (), (), (), (*held, broken)))
            held.append(Constraint(e, int(lo), int(hi)))
        return tuple(found)

    # -- positions
    def linear_index(self, index: Sequence[int]) -> int:
        """Return the position of an element. Raises `InputError` for an index outside of the array."""
        at = tuple(as_integer(i) for i in index)
        if len(at) != self.shape.rank:
            raise InputError(f"index {tuple_text(at)} for {self.shape}", expected=f"{self.shape.rank} coordinates")
        for d, (i, n) in enumerate(zip(at, self.shape.dims, strict=True)):
            if not 0 <= i < n:
                raise InputError(
                    f"index {tuple_text(at)} is outside of {self.shape}: dimension {d} has size {n}",
                    expected=f"0 to {n - 1}" if n else "no index: the array is empty",
                )
        found = self.forward.evaluate(at)
        assert found is not None
        return found[0]

    def index(self, position: int) -> Index | None:
        """Return the element at a position, or None for padding. Raises `InputError` outside of memory."""
        if not 0 <= position < self.size:
            raise InputError(
                f"position {position} of {self.shape}",
                expected=f"0 to {self.size - 1}" if self.size else "no position: the buffer is empty",
            )
        return self.backward.evaluate((position,))

    # -- other memories
    def untiled(self) -> Memory:
        """Return the memory in the same order of dimensions without tiles and alignment, as in XLA's `IndexUtil`."""
        layout = Layout(self.layout.minor_to_major, (), tuple(p for p in self.layout.properties if p[0] != "L"))
        return Memory(self.shape.with_layout(layout), self.padded_dimensions)

    def __str__(self) -> str:
        more = f", padded to {list(self.padded_dimensions)}" if self.padded_dimensions else ""
        return f"{self.shape}{more}"


def memory(shape: Shape | str, padded_dimensions: Iterable[int] = ()) -> Memory:
    """Return the memory of an array, given as a shape or its text. Raises `InputError` for a tuple."""
    read = read_shape(shape) if isinstance(shape, str) else shape
    if not isinstance(read, Shape | TupleShape):
        raise TypeError(f"expected a Shape or its text, got {type(read).__name__}")
    if isinstance(read, TupleShape):
        raise InputError(f"{quoted(str(read))} is a tuple", expected="the shape of one array")
    return Memory(read, tuple(as_integer(n) for n in padded_dimensions))


def physical_map(m: IndexingMap, source: Memory | Shape | str, target: Memory | Shape | str) -> IndexingMap:
    """Return the map `m` between two arrays as one between their buffers.

    Its dimension is the position of an element of the source, its result the position of an element of the target. It
    composes the backward map of the source, `m`, and the forward map of the target. Raises `InputError` when `m` is not
    a map between arrays of these ranks.
    """
    expect_map(m)
    here, there = (at if isinstance(at, Memory) else memory(at) for at in (source, target))
    for name, at, count, what in (
        ("source", here, len(m.dims), "dimension variables"),
        ("target", there, len(m.results), "results"),
    ):
        if at.shape.rank != count:
            raise InputError(f"the map has {count} {what}, but the {name} {at.shape} has rank {at.shape.rank}")
    return here.backward.compose(m).compose(there.forward)


def integers(sizes: Iterable[Expr]) -> tuple[int, ...]:
    """Return the values of sizes that are literals."""
    found = []
    for n in sizes:
        assert isinstance(n, Int), n
        found.append(n.value)
    return tuple(found)
