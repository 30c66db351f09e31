"""Elementwise ops, and ops that compute every element from scalars or from nothing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, ClassVar

from ...core.op import Case, Demand, Op, Sizes, op, symbols
from .movement import Aligned, Alike, Dims, Extents, Sized, one_dimension, operand_count

_UNARY = """
    abs acos acosh asin asinh atanh cbrt ceil cosh cosine count-leading-zeros erf exponential
    exponential-minus-one floor imag is-finite log log-plus-one logistic negate not popcnt real
    reduce-precision round-nearest-afz round-nearest-even rsqrt sign sine sinh sqrt tan tanh
"""
_BINARY = """
    add and atan2 complex divide maximum minimum multiply or power remainder shift-left
    shift-right-arithmetic shift-right-logical stochastic-convert subtract xor
"""
#: The number of operands by opcode.
FUNCTIONS: dict[str, int] = dict.fromkeys(_UNARY.split(), 1) | dict.fromkeys(_BINARY.split(), 2)


class Pointwise(Alike, Aligned):
    """The base of elementwise ops: the output has the sizes of operand `main`; scalars are read everywhere."""

    #: Operands that may be scalars although the others are not.
    scalars: ClassVar[Dims] = ()

    def structure(self, *x: Sizes) -> None:
        rank = len(x[self.main])
        for k, sizes in enumerate(x):
            if not (k in self.scalars and len(sizes) == 0):
                self._rank(k, sizes, rank)

    def demands(self, *x: Sizes) -> Iterator[Demand]:
        yield from self._same_sizes(x, [self.main, *(k for k in range(len(x)) if k != self.main)])

    def places(self, k: int, *x: Sizes) -> dict[int, int]:
        return {d: d for d in range(len(x[k]))}

    @classmethod
    def alike(cls, rank: int, op: Op) -> Case:
        """Return the case of operands that all have the same sizes."""
        return Case.of(rank, f"{op.arity} operands", op, *[symbols("n", rank)] * op.arity)

    # without attributes, unless a subclass says otherwise
    @classmethod
    def cases(cls, rank: int) -> Iterator[Case]:
        yield cls.alike(rank, cls())


@op
class Elementwise(Pointwise):
    """Output element p is a function of element p of every operand."""

    function: str
    count: int
    opcodes: ClassVar[tuple[str, ...]] = (*FUNCTIONS, "map")
    hlo: ClassVar = {"function": lambda i, _: i.opcode, "count": operand_count}

    @property
    def arity(self) -> int:
        return self.count

    def structure(self, *x: Sizes) -> None:
        known = FUNCTIONS.get(self.function)
        if self.count != (known or max(self.count, 1)):
            given = f"function={self.function} with {self.count} operands"
            raise self.error(given, expected=str(known or "at least 1"))
        super().structure(*x)

    @classmethod
    def cases(cls, rank: int) -> Iterator[Case]:
        for function, count in (("negate", 1), ("add", 2), ("map", 3)):
            yield cls.alike(rank, cls(function, count))


@op
class Compare(Pointwise):
    """Output element p is the truth value of the comparison of elements p of the operands."""

    direction: str
    operands: ClassVar[int] = 2
    hlo: ClassVar = {"direction": lambda i, _: i.word("direction")}

    def structure(self, *x: Sizes) -> None:
        if self.direction not in ("EQ", "NE", "LT", "LE", "GT", "GE"):
            raise self.error(f"direction={self.direction}", expected="EQ, NE, LT, LE, GT or GE")
        super().structure(*x)

    @classmethod
    def cases(cls, rank: int) -> Iterator[Case]:
        yield cls.alike(rank, cls("LT"))


@op
class Select(Pointwise):
    """Output element p is element p of operand 1 or of operand 2, selected by element p of operand 0 or by a scalar.

    The selection depends on values, so both count as read.
    """

    main: ClassVar[int] = 1
    scalars: ClassVar[Dims] = (0,)
    operands: ClassVar[int] = 3

    @classmethod
    def cases(cls, rank: int) -> Iterator[Case]:
        sizes = symbols("n", rank)
        yield from super().cases(rank)
        if rank:
            yield Case.of(rank, "scalar predicate", cls(), (), sizes, sizes)


@op
class Clamp(Pointwise):
    """Output element p is element p of operand 1, clamped to those of operands 0 and 2 (or to scalars)."""

    main: ClassVar[int] = 1
    scalars: ClassVar[Dims] = (0, 2)
    operands: ClassVar[int] = 3

    @classmethod
    def cases(cls, rank: int) -> Iterator[Case]:
        sizes = symbols("n", rank)
        yield from super().cases(rank)
        if rank:
            yield Case.of(rank, "scalar bounds", cls(), (), sizes, ())


@op
class Convert(Pointwise):
    """Output element p is element p of the operand, converted to another element type."""

    element_type: str
    hlo: ClassVar = {"element_type": lambda i, _: i.array.element_type}

    @classmethod
    def cases(cls, rank: int) -> Iterator[Case]:
        yield cls.alike(rank, cls("f32"))


@op
class Copy(Pointwise):
    """Output element p is element p of the operand; only the layout may differ."""


@op
class SetDimensionSize(Pointwise):
    """Output element p is element p of operand 0; operand 1, a scalar, is the number of valid ones in `dimension`."""

    dimension: int
    scalars: ClassVar[Dims] = (1,)
    operands: ClassVar[int] = 2
    hlo: ClassVar = {"dimension": one_dimension}

    def structure(self, *x: Sizes) -> None:
        self._rank(1, x[1], 0)
        self._dimensions("dimension", (self.dimension,), len(x[0]), x[0])

    @classmethod
    def cases(cls, rank: int) -> Iterator[Case]:
        for dimension in range(rank):
            yield Case.of(rank, f"dimension={dimension}", cls(dimension), symbols("n", rank), ())


class Stated(Sized, Aligned):
    """The base of ops that state the sizes of their output and have only scalar operands, which every element reads."""

    def structure(self, *x: Sizes) -> None:
        for k, sizes in enumerate(x):
            self._rank(k, sizes, 0)

    def places(self, k: int, *x: Sizes) -> dict[int, int]:
        return {}

    # without other attributes, unless a subclass says otherwise
    @classmethod
    def cases(cls, rank: int) -> Iterator[Case]:
        yield Case.of(rank, "any sizes", cls(symbols("n", rank)), *[()] * cls.operands)  # type: ignore[call-arg]


class Nullary(Stated):
    """The base of ops without operands, which are treated as functions of one virtual operand of rank 0."""

    virtual: ClassVar[bool] = True


@op
class Constant(Nullary):
    """Every element is a literal of the program."""

    sizes: Extents


@op
class Iota(Nullary):
    """Every element is its own coordinate in dimension `dimension`."""

    sizes: Extents
    dimension: int

    def structure(self, *x: Sizes) -> None:
        super().structure(*x)
        self._dimensions("dimension", (self.dimension,), len(self.sizes), self.sizes)

    @classmethod
    def cases(cls, rank: int) -> Iterator[Case]:
        for dimension in range(rank):
            yield Case.of(rank, f"dimension={dimension}", cls(symbols("n", rank), dimension), ())

    @classmethod
    def from_hlo(cls, instruction: Any, shapes: Sequence[Dims]) -> Iota:
        # HLO has iota_dimension; published examples also write dimensions={1}
        if instruction.has("iota_dimension"):
            return cls(instruction.array.dims, instruction.integer("iota_dimension"))
        return cls(instruction.array.dims, one_dimension(instruction))


@op
class Rng(Stated):
    """Every element is drawn at random from a distribution whose two parameters are scalar operands."""

    sizes: Extents
    operands: ClassVar[int] = 2
