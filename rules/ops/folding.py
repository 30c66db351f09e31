"""Ops that fold dimensions away: variadic reduce."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, ClassVar, TypeVar

from ...core.condition import Condition
from ...core.expr import Expr, lift
from ...core.op import Case, Coordinates, Demand, Map, Op, Range, Sizes, op, symbols
from .movement import Dims, subsets

__all__ = ["Reduce"]

T = TypeVar("T")


class Folding(Op):
    """The base of reduce and reduce-window: `count` inputs of the same sizes, then `count` scalar initial
    values.

    `depends` says for each result which components it is computed from; empty means all from all, which is
    what HLO allows the reducing computation to do.
    """

    count: int
    depends: tuple[Dims, ...]

    @property
    def arity(self) -> int:
        return 2 * self.count

    @property
    def results(self) -> int:
        return self.count

    def structure(self, *x: Sizes) -> None:
        if self.count < 1:
            raise self.error(f"count={self.count}", expected="at least one input")
        for k, sizes in enumerate(x):
            self._rank(k, sizes, len(x[0]) if k < self.count else 0)
        if self.depends and len(self.depends) != self.count:
            raise self.error(f"depends={self.depends} for {self.count} results")
        for components in self.depends:
            self._dimensions("depends", components, self.count)

    def demands(self, *x: Sizes) -> Iterator[Demand]:
        yield from self._same_sizes(x, range(self.count))

    def connected(self, result: int, k: int) -> bool:
        return not self.depends or k % self.count in self.depends[result]


@op
class Reduce(Folding):
    """The dimensions `dimensions` are folded away: an output element reads its fibre and initial value."""

    dimensions: Dims
    count: int = 1
    depends: tuple[Dims, ...] = ()
    opcodes: ClassVar[tuple[str, ...]] = ("reduce",)

    def structure(self, *x: Sizes) -> None:
        super().structure(*x)
        self._dimensions("dimensions", self.dimensions, len(x[0]), x[0])

    def _kept(self, v: Sequence[T]) -> list[T]:
        return [a for d, a in enumerate(v) if d not in self.dimensions]

    def shape(self, *x: Sizes) -> list[Expr]:
        return [lift(n) for n in self._kept(x[0])]

    def reads(self, k: int, o: Coordinates, i: Coordinates, rt: Coordinates, *x: Sizes) -> list[Condition]:
        return [a.eq(b) for a, b in zip(o, self._kept(i), strict=True)] if k < self.count else []

    def output_to_input(self, k: int, o: Coordinates, rt: Coordinates, *x: Sizes) -> Map:
        if k >= self.count:
            return Map([])
        kept = iter(o)
        return Map([Range(n) if d in self.dimensions else next(kept) for d, n in enumerate(x[k])])

    def input_to_output(self, k: int, i: Coordinates, rt: Coordinates, *x: Sizes) -> Map:
        return Map(self._kept(i)) if k < self.count else Map([Range(n) for n in self.shape(*x)])

    @classmethod
    def cases(cls, rank: int) -> Iterator[Case]:
        for dimensions in subsets(rank):
            yield Case.of(rank, f"dimensions={dimensions}", cls(dimensions), symbols("n", rank), ())
        if rank == 3:
            sizes = symbols("n", rank)
            yield Case.of(rank, "two inputs", cls((0, 2), 2), sizes, sizes, (), ())

    def lax(self, lax: Any, *x: Any) -> Any:
        inputs, initial = x[: self.count], x[self.count :]
        return lax.reduce(inputs, initial, lambda a, b: tuple(map(lax.add, a, b)), self.dimensions)

    @classmethod
    def from_hlo(cls, instruction: Any, shapes: Sequence[Dims]) -> Reduce:
        return cls(instruction.integers("dimensions"), half(instruction, shapes))


def half(instruction: Any, shapes: Sequence[Dims]) -> int:
    """The number of inputs of an op that takes an initial value for each."""
    if not shapes or len(shapes) % 2:
        raise ValueError(
            f"{instruction.name}: {instruction.opcode} has {len(shapes)} operands where inputs and as many "
            "initial values are expected"
        )
    return len(shapes) // 2
