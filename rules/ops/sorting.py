"""Ops that order elements: sort and top-k.  The position of an element depends on its whole row."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, ClassVar

from ...core.expr import Expr, ExprLike, lift
from ...core.hlo import leaves
from ...core.op import Case, Demand, Sizes, exact_text, op, symbols
from .folding import Variadic
from .movement import Aligned, Alike, Dims, one_dimension, operand_count


class Rowwise(Aligned):
    """The base of both: an output element reads the whole row of dimension `dimension` of an operand."""

    dimension: int

    def structure(self, *x: Sizes) -> None:
        for k, sizes in enumerate(x):
            self._rank(k, sizes, len(x[0]))
        self._dimensions("dimension", (self.dimension,), len(x[0]), x[0])

    def places(self, k: int, *x: Sizes) -> dict[int, int]:
        return {d: d for d in range(len(x[k])) if d != self.dimension}


@op
class Sort(Variadic, Rowwise, Alike):
    """The rows of dimension `dimension` of `count` operands, all permuted alike, in the order of a comparison.

    The order depends on values, so an output element counts as reading its whole row.  `depends` has the operands
    that each result is computed from: its own, and those that the comparison uses.  Empty means that every result
    depends on all.
    """

    dimension: int
    count: int = 1
    depends: tuple[Dims, ...] = ()
    hlo: ClassVar = {"dimension": one_dimension, "count": operand_count}

    @property
    def arity(self) -> int:
        return self.count

    def connected(self, result: int, k: int) -> bool:
        return not self.depends or k in self.depends[result]

    def structure(self, *x: Sizes) -> None:
        Variadic.structure(self, *x)
        Rowwise.structure(self, *x)

    def demands(self, *x: Sizes) -> Iterator[Demand]:
        yield from self._same_sizes(x, range(self.count))

    @classmethod
    def cases(cls, rank: int) -> Iterator[Case]:
        for dimension in range(rank):
            yield Case.of(rank, f"dimension={dimension}", cls(dimension), symbols("n", rank))
        if rank == 2:
            yield Case.of(rank, "two operands", cls(0, 2), *[symbols("n", rank)] * 2)


@op
class TopK(Rowwise):
    """The `k` largest (or smallest) elements of every row of the last dimension, and their positions.

    Both results depend on values, so an output element counts as reading its whole row.
    """

    k: ExprLike
    dimension: int
    name: ClassVar[str] = "topk"

    @property
    def results(self) -> int:
        return 2

    def structure(self, *x: Sizes) -> None:
        super().structure(*x)
        if self.dimension != len(x[0]) - 1:
            raise self.error(f"dimension={self.dimension}", expected="the last dimension")

    def demands(self, x: Sizes) -> Iterator[Demand]:
        yield lift(self.k) >= 0, f"k={self.k} is negative"
        what = f"k={self.k} for shape {exact_text(list(x))}: there are only {x[self.dimension]} in a row"
        yield lift(self.k) <= x[self.dimension], what

    def shape(self, x: Sizes) -> list[Expr]:
        return [lift(self.k if d == self.dimension else n) for d, n in enumerate(x)]

    @classmethod
    def cases(cls, rank: int) -> Iterator[Case]:
        if rank:
            yield Case.of(rank, "any k", cls(symbols("k", 1)[0], rank - 1), symbols("n", rank))

    @classmethod
    def from_hlo(cls, instruction: Any, shapes: Sequence[Dims]) -> TopK:
        last = len(shapes[0]) - 1 if shapes else 0
        if instruction.opcode == "custom-call":
            # XLA's custom call states k only in its shape
            made = [a.dims for _, a in leaves(instruction.shape)]
            if len(made) != 2 or not made[0]:
                raise ValueError(f"{instruction.name}: TopK makes {instruction.shape}, expected values and places")
            return cls(made[0][-1], last)
        return cls(instruction.integer("k"), last)
