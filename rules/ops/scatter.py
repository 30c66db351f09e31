"""Scatter: windows of updates are placed at indices and combined with the operand."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import Any

from ...core.condition import Condition
from ...core.expr import Expr, lift
from ...core.op import WRITTEN, Case, Coordinates, Demand, Runtime, Sizes, exact_text, op, symbols
from .folding import Variadic
from .indexed import Indexed, Roles
from .movement import Alike, Dims, subsets


@op
class Scatter(Variadic, Indexed, Alike):
    """Windows of the updates are placed in the operands, one for each vector of start indices.

    Operands are `count` arrays of the same sizes, the indices, and `count` arrays of updates.  Dimensions of
    the updates in `update_window_dims` run inside a window, over the dimensions of the operand that are
    neither inserted nor batching; the others run over the indices without `index_vector_dim`.  Component j of
    an index vector is the start in dimension scatter_dims_to_operand_dims[j].  In batching dimensions, windows
    start at the coordinate of the paired dimension of the indices, in all others at 0.

    *Placement*: the start of a window is a runtime value of the update, not of the output.  It is limited to
    [-1, size - window + 1], which tells windows that leave the operand from the others.  A window that leaves
    the operand is dropped as a whole, as in XLA.

    *Updates*: an output element reads every update element that is placed on it, in any order of combination.
    *Indices*: the updates of an element depend on all index vectors (of its own batch), so it reads all of them.
    *Operands*: an output element reads its own element of the operand.  With `replaces` the computation ignores
    the old element, which is then read only if no update is placed there: if the same scatter of ones into zeros
    leaves a zero, which is a single runtime value for any number of indices.

    `depends` has the components that each result is computed from; empty means that every result depends on all.
    """

    update_window_dims: Dims
    inserted_window_dims: Dims
    scatter_dims_to_operand_dims: Dims
    index_vector_dim: int
    input_batching_dims: Dims = ()
    scatter_indices_batching_dims: Dims = ()
    count: int = 1
    replaces: bool = False
    depends: tuple[Dims, ...] = ()
    partial = ("output_to_input",)
    roles = Roles(
        window="update_window_dims",
        dropped="inserted_window_dims",
        batching="input_batching_dims",
        mapped="scatter_dims_to_operand_dims",
        indexed="scatter_indices_batching_dims",
    )

    @property
    def arity(self) -> int:
        return 2 * self.count + 1

    def connected(self, result: int, k: int) -> bool:
        component = k if k < self.count else k - self.count - 1
        return not self.depends or k == self.count or component in self.depends[result]

    # -- the parts of the shapes
    def _window_sizes(self, x: Sequence[Sizes]) -> list[Expr]:
        """Return the window's size in each dimension of the operand; 1 in those that the updates do not have."""
        window, _ = self._split(x[-1], len(x[0]), x[self.count])
        return [lift(window.get(d, 1)) for d in range(len(x[0]))]

    def structure(self, *x: Sizes) -> None:
        super().structure(*x)
        operand, y, u = x[0], x[self.count], x[-1]
        rank = len(operand)
        for k in range(1, self.count):
            self._rank(k, x[k], rank)
            self._rank(self.count + k, x[self.count + k], len(x[self.count + 1]))
        self._check(operand, y)
        count = len(self._window_dims(rank))
        self._dimensions("update_window_dims", self.update_window_dims, len(u), u, count=count, ordered=True)
        self._rank(self.count + 1, u, count + len(self._index_dims(y)))
        if self.replaces and self.count > 1:
            raise self.error("replaces is stated of a single operand", expected="count=1")

    def demands(self, *x: Sizes) -> Iterator[Demand]:
        operand, y, u = x[0], x[self.count], x[-1]
        yield from self._same_sizes(x, range(self.count))
        yield from self._same_sizes(x, range(self.count + 1, 2 * self.count + 1))
        on = f"for shapes {exact_text(list(operand))}, {exact_text(list(y))} and {exact_text(list(u))}"
        for d, (n, w) in enumerate(zip(operand, self._window_sizes(x), strict=True)):
            # inserted and batching dimensions may have no elements: then no window is placed
            if d in self._window_dims(len(operand)):
                yield w <= n, f"{on}: the window's {w} elements in dimension {d} are more than {n}"
        _, batch = self._split(u, len(operand), y)
        for e, n in batch.items():
            yield lift(n).eq(y[e]), f"{on}: {n} updates for {y[e]} indices in dimension {e}"
        yield from self._demands(operand, y)

    # -- where windows land
    def _inside(self, rt: Sequence[Expr], x: Sequence[Sizes]) -> list[Condition]:
        """Return the conditions that a window with these starts lies within the operand."""
        sizes = self._window_sizes(x)
        return [
            v.within(0, lift(x[0][d]) - sizes[d]) for v, d in zip(rt, self.scatter_dims_to_operand_dims, strict=True)
        ]

    def runtime_between(self, k: int, o: Coordinates, i: Coordinates, *x: Sizes) -> list[Runtime]:
        if k < self.count:
            return [Runtime.of(WRITTEN, o, 0, 1)] if self.replaces else []
        if k == self.count:
            return []
        return self._vector(self.count, i, x[0], x[self.count], self._window_sizes(x), 1)

    def reads(self, k: int, o: Coordinates, i: Coordinates, rt: Coordinates, *x: Sizes) -> list[Condition]:
        if k < self.count:
            return [*(a.eq(b) for a, b in zip(o, i, strict=True)), *(written.eq(0) for written in rt)]
        if k == self.count:
            return [o[d].eq(i[e]) for d, e in self._paired()]
        landed = self._element(i, rt, len(x[0]), x[self.count])
        return [*(a.eq(b) for a, b in zip(o, landed, strict=True)), *self._inside(rt, x)]

    @classmethod
    def cases(cls, rank: int) -> Iterator[Case]:
        for number, mapped in enumerate(subsets(rank)):
            yield cls._case(rank, mapped, (), 1, 1)
            order = list(itertools.permutations(mapped))
            batch = (number // 2 + 2) % 3
            # vary the order of start indices, inserted dimensions, ranks of indices, and the vector dimension
            yield cls._case(rank, order[number % len(order)], mapped[number // 2 % 2 :], batch, number % (batch + 1))
            if mapped:
                yield cls._case(rank, mapped[1:], mapped[2:], 2, number // 2 % 3, mapped[:1])
        if rank:
            yield cls._case(rank, (rank - 1,), (), 1, None)
        for mapped in ((), (0,), (1, 0))[: rank + 1]:
            made = cls(tuple(range(1, rank + 1)), (), mapped, 1, replaces=True)
            b, x, w = symbols("b", 1), symbols("n", rank), symbols("w", rank)
            yield Case.of(rank, f"replaces, windows at {mapped}", made, x, (*b, lift(len(mapped))), (*b, *w))
        if rank == 2:
            x, y, u = symbols("n", 2), (*symbols("b", 1), lift(1)), (*symbols("b", 1), *symbols("w", 2))
            yield Case.of(rank, "two operands", cls((1, 2), (), (0,), 1, count=2), x, x, y, u, u)

    @classmethod
    def _case(
        cls, rank: int, mapped: Dims, inserted: Dims, batch: int, vector: int | None, batching: Dims = ()
    ) -> Case:
        """Return an instance by :meth:`_instance` with windows of any size."""
        x, y, over, vector_dim, paired = cls._instance(rank, mapped, batch, vector, batching)
        w, inserted = symbols("w", rank), tuple(sorted(inserted))
        window = [w[d] for d in range(rank) if d not in inserted and d not in batching]
        # window dimensions last or first
        u = [*over, *window] if not inserted else [*window, *over]
        first = len(over) if not inserted else 0
        made = cls(tuple(range(first, first + len(window))), inserted, mapped, vector_dim, batching, paired)
        label = (
            f"scatter_dims_to_operand_dims={mapped}, inserted {inserted}, batching {batching}, "
            f"indices {exact_text(y)}, index_vector_dim={vector_dim}"
        )
        return Case.of(rank, label, made, x, y, u)

    @classmethod
    def from_hlo(cls, instruction: Any, shapes: Sequence[Dims]) -> Scatter:
        if len(shapes) < 3 or len(shapes) % 2 == 0:
            raise ValueError(
                f"{instruction.name}: scatter has {len(shapes)} operands where arrays, the indices and as many "
                "updates are expected"
            )
        return cls(**cls._attributes(instruction), count=len(shapes) // 2)
