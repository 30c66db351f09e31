"""Ops that reduce over dimensions: variadic reduce."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, ClassVar

from ...core.expr import Expr, lift
from ...core.op import Case, Demand, Op, Sizes, op, symbols
from .movement import Aligned, Dims, all_dimensions, subsets


class Variadic(Op):
    """The base of ops with `count` results.

    `depends` has the components that each result is computed from.  Empty means that every result depends on all,
    which HLO allows.
    """

    count: int
    depends: tuple[Dims, ...]

    @property
    def results(self) -> int:
        return self.count

    def structure(self, *x: Sizes) -> None:
        if self.count < 1:
            raise self.error(f"count={self.count}", expected="at least one operand")
        if self.depends and len(self.depends) != self.count:
            raise self.error(f"depends={self.depends} for {self.count} results")
        for components in self.depends:
            self._dimensions("depends", components, self.count)


def _half(instruction: Any, shapes: Sequence[Dims]) -> int:
    """Return the number of inputs of an op with an initial value for each."""
    if not shapes or len(shapes) % 2:
        raise ValueError(
            f"{instruction.name}: {instruction.opcode} has {len(shapes)} operands where inputs and as many "
            "initial values are expected"
        )
    return len(shapes) // 2


class Folding(Variadic, Aligned):
    """The base of reduce and reduce-window: `count` inputs of the same sizes, then as many scalar initial values."""

    hlo: ClassVar = {"count": _half}

    @property
    def arity(self) -> int:
        return 2 * self.count

    def structure(self, *x: Sizes) -> None:
        super().structure(*x)
        for k, sizes in enumerate(x):
            self._rank(k, sizes, len(x[0]) if k < self.count else 0)

    def demands(self, *x: Sizes) -> Iterator[Demand]:
        yield from self._same_sizes(x, range(self.count))

    def connected(self, result: int, k: int) -> bool:
        return not self.depends or k % self.count in self.depends[result]


@op
class Reduce(Folding):
    """The dimensions `dimensions` are reduced: an output element reads its fibre and the initial value."""

    dimensions: Dims
    count: int = 1
    depends: tuple[Dims, ...] = ()
    hlo: ClassVar = {"dimensions": all_dimensions}

    def structure(self, *x: Sizes) -> None:
        super().structure(*x)
        self._dimensions("dimensions", self.dimensions, len(x[0]), x[0])

    def _kept(self, rank: int) -> list[int]:
        return [d for d in range(rank) if d not in self.dimensions]

    def shape(self, *x: Sizes) -> list[Expr]:
        return [lift(x[0][d]) for d in self._kept(len(x[0]))]

    def places(self, k: int, *x: Sizes) -> dict[int, int]:
        return {d: place for place, d in enumerate(self._kept(len(x[k])))}

    @classmethod
    def cases(cls, rank: int) -> Iterator[Case]:
        for dimensions in subsets(rank):
            yield Case.of(rank, f"dimensions={dimensions}", cls(dimensions), symbols("n", rank), ())
        if rank == 3:
            sizes = symbols("n", rank)
            yield Case.of(rank, "two inputs", cls((0, 2), 2), sizes, sizes, (), ())
