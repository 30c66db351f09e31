"""Ops that only move elements: transpose, reverse, broadcast, slice, concatenate, pad.

Their meaning is that of the XLA operation semantics (openxla.org/xla/operation_semantics).
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import Any, ClassVar

from ...core.condition import Condition, any_of
from ...core.expr import Expr, ExprLike, add, ceildiv, integer, lift, maximum
from ...core.op import Case, Coordinates, Demand, Op, Sizes, exact_text, op, quotient, symbols
from .solved import Solved, nth

Dims = tuple[int, ...]
Extents = tuple[ExprLike, ...]


# --------------------------------------------------------------------------- attributes, as `Op.hlo` reads them
def all_dimensions(instruction: Any, shapes: Sequence[Dims] = ()) -> Dims:
    """Return the attribute `dimensions`."""
    found: Dims = instruction.integers("dimensions")
    return found


def one_dimension(instruction: Any, shapes: Sequence[Dims] = ()) -> int:
    """Return the single one of its `dimensions`.  Raises :class:`ValueError` if there are more or none."""
    found = all_dimensions(instruction)
    if len(found) != 1:
        raise ValueError(f"{instruction.name}: {instruction.opcode} has dimensions={found} where one is expected")
    return found[0]


def operand_count(instruction: Any, shapes: Sequence[Dims]) -> int:
    """Return the number of operands."""
    return len(shapes)


# ----------------------------------------------------------------------------------------------------------- the ops
class Aligned(Solved):
    """The base of ops whose elements read all elements that agree with them in shared dimensions.

    An output element reads every element of operand ``k`` that agrees with it in the dimensions of `places`.
    """

    partial: ClassVar = ()

    def places(self, k: int, *x: Sizes) -> dict[int, int]:
        """Return the output's dimension for each dimension of operand ``k`` that the output has too."""
        raise NotImplementedError

    def between(self, k: int, o: Coordinates, i: Coordinates, *x: Sizes) -> list[Condition]:
        """Return further conditions on an output element and an element of operand ``k`` that agree."""
        return []

    def reads(self, k: int, o: Coordinates, i: Coordinates, rt: Coordinates, *x: Sizes) -> list[Condition]:
        agree = [o[place].eq(i[d]) for d, place in self.places(k, *x).items()]
        return [*agree, *self.between(k, o, i, *x)]


class Alike(Op):
    """The base of ops whose output has the sizes of operand `main`."""

    main: ClassVar[int] = 0

    def shape(self, *x: Sizes) -> list[Expr]:
        return [lift(n) for n in x[self.main]]


class Sized(Op):
    """The base of ops that state the sizes of their output."""

    sizes: Extents
    hlo: ClassVar = {"sizes": lambda i, _: i.array.dims}

    def shape(self, *x: Sizes) -> list[Expr]:
        return [lift(n) for n in self.sizes]

    def demands(self, *x: Sizes) -> Iterator[Demand]:
        for d, n in enumerate(self.sizes):
            yield lift(n) >= 0, f"sizes={exact_text(self.sizes)} has the negative size {n} in dimension {d}"


def piece(a: Expr, n: Expr) -> Expr:
    """Return the index of the piece of ``n`` elements that contains ``a``; 0 for empty pieces, where it does not matter."""
    return lift(0) if n is lift(0) else quotient(a, n)


@op
class Transpose(Aligned):
    """Output dimension k is input dimension permutation[k]."""

    permutation: Dims
    hlo: ClassVar = {"permutation": all_dimensions}

    def structure(self, x: Sizes) -> None:
        self._dimensions("permutation", self.permutation, len(x), x, count=len(x))

    def shape(self, x: Sizes) -> list[Expr]:
        return [lift(x[p]) for p in self.permutation]

    def places(self, k: int, *x: Sizes) -> dict[int, int]:
        return {p: n for n, p in enumerate(self.permutation)}

    @classmethod
    def cases(cls, rank: int) -> Iterator[Case]:
        for permutation in itertools.permutations(range(rank)):
            yield Case.of(rank, f"permutation={permutation}", cls(permutation), symbols("n", rank))


@op
class Reverse(Alike, Solved):
    """The dimensions `dimensions` run backwards."""

    dimensions: Dims
    hlo: ClassVar = {"dimensions": all_dimensions}
    partial: ClassVar = ()

    def structure(self, x: Sizes) -> None:
        self._dimensions("dimensions", self.dimensions, len(x), x)

    def reads(self, k: int, o: Coordinates, i: Coordinates, rt: Coordinates, x: Sizes) -> list[Condition]:
        # the coordinates from the front and from the back add up to the last one
        return [
            (a + b).eq(lift(n) - 1) if d in self.dimensions else a.eq(b)
            for d, (a, b, n) in enumerate(zip(o, i, x, strict=True))
        ]

    @classmethod
    def cases(cls, rank: int) -> Iterator[Case]:
        for dimensions in subsets(rank):
            yield Case.of(rank, f"dimensions={dimensions}", cls(dimensions), symbols("n", rank))


@op
class Broadcast(Sized, Aligned):
    """Input dimension k becomes output dimension dimensions[k]; the input repeats along the others.

    An input dimension of size 1 is not stretched: HLO requires that the sizes agree.
    """

    sizes: Extents
    dimensions: Dims
    hlo: ClassVar = {"dimensions": lambda i, _: i.integers("dimensions", ())}

    def structure(self, x: Sizes) -> None:
        self._dimensions("dimensions", self.dimensions, len(self.sizes), self.sizes, count=len(x))

    def demands(self, *x: Sizes) -> Iterator[Demand]:
        yield from super().demands(*x)
        for n, d in zip(x[0], self.dimensions, strict=True):
            m = self.sizes[d]
            what = f"dimensions={self.dimensions} takes input dimension {self.dimensions.index(d)} of size {n}"
            yield lift(n).eq(m), f"{what} to dimension {d} of size {m}"

    def places(self, k: int, *x: Sizes) -> dict[int, int]:
        return dict(enumerate(self.dimensions))

    @classmethod
    def cases(cls, rank: int) -> Iterator[Case]:
        sizes = symbols("n", rank)
        for count in range(rank + 1):
            for dimensions in itertools.permutations(range(rank), count):
                yield Case.of(rank, f"dimensions={dimensions}", cls(sizes, dimensions), [sizes[d] for d in dimensions])


@op
class Slice(Solved):
    """Output element p is input element start + p·stride, up to but not including limit."""

    start: Extents
    limit: Extents
    stride: Extents

    def structure(self, x: Sizes) -> None:
        for parameter in ("start", "limit", "stride"):
            self._per_dimension(parameter, getattr(self, parameter), x)

    def demands(self, x: Sizes) -> Iterator[Demand]:
        on = f"for shape {exact_text(list(x))}"
        for d, (n, a, b, s) in enumerate(zip(x, self.start, self.limit, self.stride, strict=True)):
            yield lift(a) >= 0, f"start={exact_text(self.start)} is negative in dimension {d} {on}"
            yield lift(s) > 0, f"stride={exact_text(self.stride)} is not positive in dimension {d} {on}"
            yield lift(a) <= b, f"start={a} is beyond limit={b} in dimension {d} {on}"
            yield lift(b) <= n, f"limit={exact_text(self.limit)} is beyond the size {n} of dimension {d} {on}"

    def shape(self, x: Sizes) -> list[Expr]:
        return [ceildiv(lift(b) - a, s) for a, b, s in zip(self.start, self.limit, self.stride, strict=True)]

    def reads(self, k: int, o: Coordinates, i: Coordinates, rt: Coordinates, x: Sizes) -> list[Condition]:
        return [b.eq(a * s + start) for a, b, start, s in zip(o, i, self.start, self.stride, strict=True)]

    @classmethod
    def cases(cls, rank: int) -> Iterator[Case]:
        yield Case.of(
            rank,
            "start, limit, stride",
            cls(symbols("a", rank), symbols("b", rank), symbols("t", rank)),
            symbols("n", rank),
        )
        yield Case.of(rank, "stride 1", cls(symbols("a", rank), symbols("b", rank), (1,) * rank), symbols("n", rank))

    @classmethod
    def from_hlo(cls, instruction: Any, shapes: Sequence[Dims]) -> Slice:
        strides = instruction.strides()
        return cls(*(tuple(getattr(s, part) for s in strides) for part in ("start", "limit", "stride")))


@op
class Concatenate(Solved):
    """The operands side by side along `dimension`, in order."""

    dimension: int
    count: int
    hlo: ClassVar = {"dimension": one_dimension, "count": operand_count}
    partial: ClassVar = ("output_to_input",)

    @property
    def arity(self) -> int:
        return self.count

    def structure(self, *x: Sizes) -> None:
        if self.count < 1:
            raise self.error(f"count={self.count}", expected="at least one operand")
        self._dimensions("dimension", (self.dimension,), len(x[0]), x[0])
        for k, sizes in enumerate(x):
            self._rank(k, sizes, len(x[0]))

    def demands(self, *x: Sizes) -> Iterator[Demand]:
        for condition, message in self._same_sizes(x, range(self.count), but=(self.dimension,)):
            yield condition, f"dimension={self.dimension}: {message}"

    def _before(self, k: int, x: Sequence[Sizes]) -> Expr:
        return add(*(sizes[self.dimension] for sizes in x[:k]))

    def shape(self, *x: Sizes) -> list[Expr]:
        return [self._before(self.count, x) if d == self.dimension else lift(n) for d, n in enumerate(x[0])]

    def reads(self, k: int, o: Coordinates, i: Coordinates, rt: Coordinates, *x: Sizes) -> list[Condition]:
        before = self._before(k, x)
        return [a.eq(b + before if d == self.dimension else b) for d, (a, b) in enumerate(zip(o, i, strict=True))]

    def sharing(self) -> Dims:
        return tuple(range(self.count))

    @classmethod
    def cases(cls, rank: int) -> Iterator[Case]:
        for dimension in range(rank):
            for count in (1, 2, 3):
                shapes = [[lift(n) for n in symbols("n", rank)] for _ in range(count)]
                for k, (sizes, along) in enumerate(zip(shapes, symbols("c", count), strict=True)):
                    shapes[k] = [along if d == dimension else n for d, n in enumerate(sizes)]
                yield Case.of(rank, f"dimension={dimension}, {count} operands", cls(dimension, count), *shapes)


@op
class Pad(Solved):
    """Input element p is placed at low + p·(interior + 1), or is cropped; every other output element reads the padding.

    Operand 1 is the padding value.  Negative `low` and `high` crop, after the interior padding.
    """

    low: Extents
    high: Extents
    interior: Extents
    operands: ClassVar[int] = 2
    partial: ClassVar = ("output_to_input", "input_to_output")

    def structure(self, x: Sizes, value: Sizes) -> None:
        self._rank(1, value, 0)
        for parameter in ("low", "high", "interior"):
            self._per_dimension(parameter, getattr(self, parameter), x)

    def demands(self, x: Sizes, value: Sizes) -> Iterator[Demand]:
        on = f"for shape {exact_text(list(x))}"
        for d, (n, gap, lo, hi) in enumerate(
            zip(self.shape(x, value), self.interior, self.low, self.high, strict=True)
        ):
            yield lift(gap) >= 0, f"interior={exact_text(self.interior)} is negative in dimension {d} {on}"
            yield n >= 0, f"low={lo} and high={hi} leave dimension {d} with the size {n} {on}"

    def shape(self, x: Sizes, value: Sizes) -> list[Expr]:
        return [
            add(lo, n, hi, maximum(lift(n) - 1, 0) * gap)
            for n, lo, hi, gap in zip(x, self.low, self.high, self.interior, strict=True)
        ]

    def reads(self, k: int, o: Coordinates, i: Coordinates, rt: Coordinates, x: Sizes, value: Sizes) -> list[Condition]:
        steps = [lift(gap) + 1 for gap in self.interior]
        if k == 0:
            return [a.eq(b * step + lo) for a, b, lo, step in zip(o, i, self.low, steps, strict=True)]
        lands = [nth(a - lo, n, step)[1] for a, n, lo, step in zip(o, x, self.low, steps, strict=True)]
        return [any_of(~c for c in itertools.chain(*lands))]

    def sharing(self) -> Dims:
        return (0, 1)

    @classmethod
    def cases(cls, rank: int) -> Iterator[Case]:
        ends = symbols("lo", rank), symbols("hi", rank)
        yield Case.of(rank, "low, high, interior", cls(*ends, symbols("gap", rank)), symbols("n", rank), ())
        yield Case.of(rank, "no interior", cls(*ends, (integer(0),) * rank), symbols("n", rank), ())

    @classmethod
    def from_hlo(cls, instruction: Any, shapes: Sequence[Dims]) -> Pad:
        # a scalar has no dimension to pad and is printed without the attribute
        scalar = bool(shapes) and not shapes[0] and not instruction.has("padding")
        padding = () if scalar else instruction.padding()
        return cls(*(tuple(dimension[part] for dimension in padding) for part in range(3)))


def subsets(rank: int) -> Iterator[Dims]:
    """Yield all sets of dimensions, smallest first."""
    for count in range(rank + 1):
        yield from itertools.combinations(range(rank), count)
