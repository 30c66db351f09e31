"""Ops whose indices are computed when the program runs: dynamic-slice, dynamic-update-slice, gather.

A start index is clamped so that the window stays inside the operand.  The runtime values of these ops are the
clamped indices, from 0 to size - window size inclusive.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import Any, ClassVar

from ...core.condition import Condition, any_of
from ...core.expr import Expr, lift
from ...core.op import Case, Coordinates, Demand, Runtime, Sizes, exact_text, op, symbols
from .indexed import Indexed, Roles
from .movement import Alike, Dims, Extents, Sized, subsets
from .solved import Solved


class Windowed(Solved):
    """The base of the two dynamic slices: the operands from `first` on are scalars, the start of the window."""

    first: ClassVar[int]

    def _window(self, x: Sequence[Sizes]) -> Sizes:
        raise NotImplementedError

    def structure(self, *x: Sizes) -> None:
        for k, start in enumerate(x[self.first :], self.first):
            self._rank(k, start, 0)

    def demands(self, *x: Sizes) -> Iterator[Demand]:
        window = self._window(x)
        yield from _fits(x[0], window, f"window sizes {exact_text(tuple(window))}")

    def runtime(self, o: Coordinates, *x: Sizes) -> list[Runtime]:
        return [
            Runtime.of(self.first + d, (), 0, lift(n) - size)
            for d, (n, size) in enumerate(zip(x[0], self._window(x), strict=True))
        ]


def _fits(x: Sizes, window: Sizes, stated: str) -> Iterator[Demand]:
    """Demand that a window of stated sizes lies within an operand."""
    for d, (n, size) in enumerate(zip(x, window, strict=True)):
        text = f"{stated} for shape {exact_text(list(x))}"
        yield lift(size) >= 0, f"{text}: negative in dimension {d}"
        yield lift(size) <= n, f"{text}: {size} is larger than {n} in dimension {d}"


@op
class DynamicSlice(Windowed, Sized):
    """A window of `sizes` of operand 0, which starts at the scalar operands."""

    sizes: Extents
    first: ClassVar[int] = 1
    hlo: ClassVar = {"sizes": lambda i, _: i.integers("dynamic_slice_sizes")}

    @property
    def arity(self) -> int:
        return 1 + len(self.sizes)

    def _window(self, x: Sequence[Sizes]) -> Sizes:
        return self.sizes

    def structure(self, *x: Sizes) -> None:
        self._per_dimension("sizes", self.sizes, x[0])
        super().structure(*x)

    def reads(self, k: int, o: Coordinates, i: Coordinates, rt: Coordinates, *x: Sizes) -> list[Condition]:
        return [b.eq(a + start) for a, b, start in zip(o, i, rt, strict=True)] if k == 0 else []

    @classmethod
    def cases(cls, rank: int) -> Iterator[Case]:
        yield Case.of(rank, "any window", cls(symbols("w", rank)), symbols("n", rank), *[()] * rank)


@op
class DynamicUpdateSlice(Windowed, Alike):
    """Operand 0 with a window replaced by operand 1; the window starts at the other operands, which are scalars.

    Operand 0 is read exactly outside the window.
    """

    rank: int
    first: ClassVar[int] = 2
    partial: ClassVar = ("output_to_input",)

    @property
    def arity(self) -> int:
        return 2 + self.rank

    def _window(self, x: Sequence[Sizes]) -> Sizes:
        return x[1]

    def structure(self, *x: Sizes) -> None:
        self._rank(0, x[0], self.rank)
        self._rank(1, x[1], self.rank)
        super().structure(*x)

    def _outside(self, o: Coordinates, rt: Coordinates, x: Sequence[Sizes]) -> Condition:
        return any_of(~(a - start).within(0, lift(n) - 1) for a, start, n in zip(o, rt, x[1], strict=True))

    def reads(self, k: int, o: Coordinates, i: Coordinates, rt: Coordinates, *x: Sizes) -> list[Condition]:
        if k == 0:
            return [*(a.eq(b) for a, b in zip(o, i, strict=True)), self._outside(o, rt, x)]
        return [a.eq(b + start) for a, b, start in zip(o, i, rt, strict=True)] if k == 1 else []

    def sharing(self) -> Dims:
        return (0, 1)

    @classmethod
    def cases(cls, rank: int) -> Iterator[Case]:
        yield Case.of(rank, "any update", cls(rank), symbols("n", rank), symbols("w", rank), *[()] * rank)

    @classmethod
    def from_hlo(cls, instruction: Any, shapes: Sequence[Dims]) -> DynamicUpdateSlice:
        if not shapes:
            raise ValueError(f"{instruction.name}: dynamic-update-slice has no operands")
        return cls(len(shapes[0]))


@op
class Gather(Indexed):
    """Windows of operand 0 of `slice_sizes`, one for each vector of start indices in operand 1.

    Output dimensions in `offset_dims` run inside the window (over the dimensions of operand 0 that are
    neither collapsed nor batching), the others over operand 1 without `index_vector_dim`.  Component j of an
    index vector is the start in dimension start_index_map[j].  In batching dimensions, windows start at the
    coordinate of the paired dimension of operand 1, in all others at 0.  The form that the gather simplifier
    yields is the special case of no collapsed and no batching dimensions, `offset_dims` = (1, …, n) and
    `index_vector_dim` = 1.
    """

    offset_dims: Dims
    collapsed_slice_dims: Dims
    start_index_map: Dims
    index_vector_dim: int
    slice_sizes: Extents
    operand_batching_dims: Dims = ()
    start_indices_batching_dims: Dims = ()
    operands: ClassVar[int] = 2
    roles = Roles(
        window="offset_dims",
        dropped="collapsed_slice_dims",
        batching="operand_batching_dims",
        mapped="start_index_map",
        indexed="start_indices_batching_dims",
    )

    def structure(self, x: Sizes, y: Sizes) -> None:
        self._per_dimension("slice_sizes", self.slice_sizes, x)
        self._check(x, y)
        count = len(self._window_dims(len(x)))
        self._dimensions("offset_dims", self.offset_dims, count + len(self._index_dims(y)), count=count, ordered=True)

    def demands(self, x: Sizes, y: Sizes) -> Iterator[Demand]:
        text = f"slice_sizes={exact_text(self.slice_sizes)} for shape {exact_text(list(x))}"
        yield from _fits(x, self.slice_sizes, f"slice_sizes={exact_text(self.slice_sizes)}")
        for what, dims in (("collapsed", self.collapsed_slice_dims), ("batching", self.operand_batching_dims)):
            for d in dims:
                yield (lift(self.slice_sizes[d]).eq(1), f"{text}: the {what} dimension {d} does not have size 1")
        yield from self._demands(x, y)

    def shape(self, x: Sizes, y: Sizes) -> list[Expr]:
        rank = len(self.offset_dims) + len(self._index_dims(y))
        window = (self.slice_sizes[d] for d in self._window_dims(len(x)))
        batch = (y[e] for e in self._index_dims(y))
        return [lift(next(window if d in self.offset_dims else batch)) for d in range(rank)]

    def runtime(self, o: Coordinates, x: Sizes, y: Sizes) -> list[Runtime]:
        return self._vector(1, o, x, y, self.slice_sizes, 0)

    def reads(self, k: int, o: Coordinates, i: Coordinates, rt: Coordinates, x: Sizes, y: Sizes) -> list[Condition]:
        if k == 1:
            # the whole index vector
            return [i[d].eq(a) for d, a in self._split(o, len(x), y)[1].items()]
        return [b.eq(a) for a, b in zip(self._element(o, rt, len(x), y), i, strict=True)]

    @classmethod
    def cases(cls, rank: int) -> Iterator[Case]:
        for number, mapped in enumerate(subsets(rank)):
            # the gather simplifier's form
            yield cls._case(rank, mapped, (), 1, 1)
            if len(mapped) == 1:
                yield cls._case(rank, mapped, (), 1, None)
            if number % 2:
                # vary the order of start indices, collapsed dimensions, ranks of indices, and the vector dimension
                order = list(itertools.permutations(mapped))
                batch = (number // 2 + 2) % 3
                yield cls._case(
                    rank, order[number % len(order)], mapped[number // 2 % 2 :], batch, number % (batch + 1)
                )
            elif mapped:
                yield cls._case(rank, mapped[1:], mapped[2:], 2, number // 2 % 3, mapped[:1])

    @classmethod
    def _case(
        cls, rank: int, mapped: Dims, collapsed: Dims, batch: int, vector: int | None, batching: Dims = ()
    ) -> Case:
        """Return an instance by :meth:`_instance`, with slices of size 1 in collapsed and batching dimensions."""
        x, y, _, vector_dim, paired = cls._instance(rank, mapped, batch, vector, batching)
        w = symbols("w", rank)
        slices = tuple(lift(1) if d in collapsed or d in batching else w[d] for d in range(rank))
        window = rank - len(collapsed) - len(batching)
        # window dimensions last, as the simplifier has them, or first
        offset = tuple(range(batch, batch + window)) if not collapsed else tuple(range(window))
        made = cls(offset, collapsed, mapped, vector_dim, slices, batching, paired)
        label = f"start_index_map={mapped}, collapsed {collapsed}, batching {batching}, indices {exact_text(y)}"
        return Case.of(rank, f"{label}, index_vector_dim={vector_dim}", made, x, y)

    @classmethod
    def from_hlo(cls, instruction: Any, shapes: Sequence[Dims]) -> Gather:
        return cls(**cls._attributes(instruction), slice_sizes=instruction.integers("slice_sizes"))
