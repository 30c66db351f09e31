"""Dot: batch dimensions correspond, contracting dimensions are summed over."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import Any, ClassVar

from ...core.expr import Expr, lift
from ...core.op import Case, Demand, Sizes, exact_text, op, symbols
from .movement import Aligned, Dims


@op
class Dot(Aligned):
    """Output dimensions are the batch dimensions, then the free ones of operand 0, then those of operand 1.

    An output element reads the elements of each operand that agree with it in the batch and free dimensions,
    for every value of the contracting ones.
    """

    lhs_batch: Dims = ()
    rhs_batch: Dims = ()
    lhs_contracting: Dims = ()
    rhs_contracting: Dims = ()
    operands: ClassVar[int] = 2

    def _batch(self, k: int) -> Dims:
        return (self.lhs_batch, self.rhs_batch)[k]

    def _contracting(self, k: int) -> Dims:
        return (self.lhs_contracting, self.rhs_contracting)[k]

    def _free(self, k: int, rank: int) -> Dims:
        return tuple(d for d in range(rank) if d not in self._batch(k) and d not in self._contracting(k))

    def structure(self, x: Sizes, y: Sizes) -> None:
        for k, (side, sizes) in enumerate((("lhs", x), ("rhs", y))):
            self._dimensions(f"{side}_batch", self._batch(k), len(sizes), sizes)
            self._dimensions(f"{side}_contracting", self._contracting(k), len(sizes), sizes)
            both = set(self._batch(k)) & set(self._contracting(k))
            if both:
                raise self.error(
                    f"dimension {min(both)} is in both {side}_batch={self._batch(k)} and "
                    f"{side}_contracting={self._contracting(k)} for shape {exact_text(list(sizes))}"
                )
        for what in ("batch", "contracting"):
            left, right = getattr(self, f"lhs_{what}"), getattr(self, f"rhs_{what}")
            if len(left) != len(right):
                raise self.error(f"lhs_{what}={left} and rhs_{what}={right} differ in number")

    def demands(self, x: Sizes, y: Sizes) -> Iterator[Demand]:
        for what in ("batch", "contracting"):
            left, right = getattr(self, f"lhs_{what}"), getattr(self, f"rhs_{what}")
            for a, b in zip(left, right, strict=True):
                yield (
                    lift(x[a]).eq(y[b]),
                    (
                        f"lhs_{what}={left} and rhs_{what}={right} pair sizes {x[a]} and {y[b]} in shapes "
                        f"{exact_text(list(x))} and {exact_text(list(y))}"
                    ),
                )

    def shape(self, x: Sizes, y: Sizes) -> list[Expr]:
        free = [x[d] for d in self._free(0, len(x))] + [y[d] for d in self._free(1, len(y))]
        return [lift(n) for n in [x[d] for d in self.lhs_batch] + free]

    def places(self, k: int, *x: Sizes) -> dict[int, int]:
        free = self._free(k, len(x[k]))
        first = len(self.lhs_batch) + (len(self._free(0, len(x[0]))) if k else 0)
        return dict(
            zip((*self._batch(k), *free), (*range(len(self._batch(k))), *range(first, first + len(free))), strict=True)
        )

    @classmethod
    def cases(cls, rank: int) -> Iterator[Case]:
        """Yield every choice of batch, contracting and free dimensions on the left, with as many on the right."""
        for number, roles in enumerate(itertools.product("bcf", repeat=rank)):
            batch, contracting = (tuple(d for d, r in enumerate(roles) if r == role) for role in "bc")
            taken = len(batch) + len(contracting)
            places = list(itertools.permutations(range(max(rank, taken)), taken))
            # step through the arrangements instead of combining all: each occurs with some left side
            place = places[number * 7 % len(places)]
            here, there = place[: len(batch)], place[len(batch) :]
            x, y = symbols("m", rank), list(symbols("n", max(rank, taken)))
            for a, b in zip((*batch, *contracting), (*here, *there), strict=True):
                y[b] = x[a]
            yield Case.of(
                rank,
                f"batch {batch}, {here}; contracting {contracting}, {there}",
                cls(batch, here, contracting, there),
                x,
                y,
            )

    @classmethod
    def from_hlo(cls, instruction: Any, shapes: Sequence[Dims]) -> Dot:
        names = ("lhs_batch_dims", "rhs_batch_dims", "lhs_contracting_dims", "rhs_contracting_dims")
        return cls(*(instruction.integers(name, ()) for name in names))
