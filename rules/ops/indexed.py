"""The part that gather and scatter share: windows of an operand, one for each vector of start indices."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, ClassVar

from ...core.condition import Condition
from ...core.expr import Expr, lift
from ...core.op import Demand, Op, Range, Runtime, Sizes, exact_text, symbols
from .movement import Dims


class Indexed(Op):
    """Windows of an operand ``x``, one for each vector of the indices ``y``.

    An array of windows (gather's output, scatter's updates) has dimensions that run inside a window, over the
    dimensions of the operand that are neither dropped nor batching, and others that run over the indices without
    `index_vector_dim`.  The two ops name these dimensions differently: `roles` has the names of their attributes.
    """

    index_vector_dim: int
    #: Dimensions inside a window; dropped, batching and mapped ones of the operand; batching ones of the indices.
    roles: ClassVar[tuple[str, str, str, str, str]]

    @classmethod
    def _attributes(cls, instruction: Any) -> dict[str, Any]:
        """The attributes of an instruction that both ops have; what is dropped or batching may be left out."""
        optional = {cls.roles[k] for k in (1, 2, 4)}
        found = {name: instruction.integers(name, () if name in optional else None) for name in cls.roles}
        return {**found, "index_vector_dim": instruction.integer("index_vector_dim")}

    def _role(self, number: int) -> Dims:
        dims: Dims = getattr(self, self.roles[number])
        return dims

    # -- the parts of the shapes
    def _window_dims(self, rank: int) -> list[int]:
        """Dimensions of the operand that the windows extend in, in order."""
        gone = (*self._role(1), *self._role(2))
        return [d for d in range(rank) if d not in gone]

    def _index_dims(self, y: Sizes) -> list[int]:
        """Dimensions of the indices that the windows run over, in order."""
        return [e for e in range(len(y)) if e != self.index_vector_dim]

    def _places(self, rank: int) -> list[int]:
        """Of the `rank` dimensions of an array of windows those that run over the indices, in order."""
        return [d for d in range(rank) if d not in self._role(0)]

    def _paired(self) -> list[tuple[int, int]]:
        """Batching dimensions of the operand, each with the one of the indices."""
        return list(zip(self._role(2), self._role(4), strict=True))

    def _split(self, v: Sequence[Any], rank: int, y: Sizes) -> tuple[dict[int, Any], dict[int, Any]]:
        """Coordinates (or sizes) of an array of windows by dimension of the operand and by dimension of the indices."""
        window = dict(zip(self._window_dims(rank), (v[d] for d in self._role(0)), strict=True))
        return window, dict(zip(self._index_dims(y), (v[d] for d in self._places(len(v))), strict=True))

    def _joined(self, window: dict[int, Any], batch: dict[int, Any], rank: int, y: Sizes) -> list[Any]:
        """The inverse of :meth:`_split`."""
        places = self._places(len(self._role(0)) + len(self._index_dims(y)))
        entries = dict(zip(self._role(0), (window[d] for d in self._window_dims(rank)), strict=True))
        entries |= dict(zip(places, (batch[e] for e in self._index_dims(y)), strict=True))
        return [entries[place] for place in range(len(entries))]

    # -- where windows lie
    def _vector(self, k: int, v: Sequence[Any], x: Sizes, y: Sizes, sizes: Sizes, beyond: int) -> list[Runtime]:
        """The index vector, of operand ``k``, of the window of an element; it may lie so far beyond the operand."""
        _, batch = self._split(v, len(x), y)
        return [
            Runtime.of(k, (batch.get(e, lift(j)) for e in range(len(y))), -beyond, lift(x[d]) - sizes[d] + beyond)
            for j, d in enumerate(self._role(3))
        ]

    def _element(self, v: Sequence[Any], rt: Sequence[Expr], rank: int, y: Sizes) -> list[Expr]:
        """The element of the operand that one of an array of windows lies on."""
        window, batch = self._split(v, rank, y)
        starts = dict(zip(self._role(3), rt, strict=True)) | {d: lift(batch[e]) for d, e in self._paired()}
        return [window.get(d, lift(0)) + starts.get(d, 0) for d in range(rank)]

    def _windows(
        self, i: Sequence[Expr], rt: Sequence[Expr], sizes: Sizes, y: Sizes
    ) -> tuple[list[Expr | Range], list[Condition]]:
        """The elements of an array of windows that lie on one of the operand, one of each window, and when they do."""
        batch: dict[int, Expr | Range] = {e: Range(n) for e, n in enumerate(y)}
        batch |= {e: i[d] for d, e in self._paired()}
        starts = dict(zip(self._role(3), rt, strict=True))
        offset = {d: a - starts.get(d, 0) for d, a in enumerate(i) if d not in self._role(2)}
        inside = self._window_dims(len(i))
        where = [a.within(0, lift(sizes[d]) - 1) if d in inside else a.eq(0) for d, a in offset.items()]
        return self._joined(offset, batch, len(i), y), where

    # -- legality
    def _check(self, x: Sizes, y: Sizes) -> None:
        """Raise :class:`InputError` unless ranks and dimension numbers of operand and indices fit."""
        _, dropped, batching, mapped, indexed = self.roles
        rank, vector = len(x), self.index_vector_dim
        self._dimensions(dropped, self._role(1), rank, x, ordered=True)
        self._dimensions(batching, self._role(2), rank, x, ordered=True)
        self._dimensions(mapped, self._role(3), rank, x)
        for number in (1, 3):
            both = set(self._role(number)) & set(self._role(2))
            if both:
                raise self.error(
                    f"dimension {min(both)} is in both {self.roles[number]}={self._role(number)} and "
                    f"{batching}={self._role(2)}"
                )
        on = f"index_vector_dim={vector} for indices of shape {exact_text(list(y))}"
        if not 0 <= vector <= len(y):
            raise self.error(on, expected=f"0 to {len(y)}")
        # an index_vector_dim one past the end means that every element is a vector of length one
        if vector == len(y) and len(self._role(3)) != 1:
            raise self.error(
                f"{mapped}={self._role(3)} where each index is a single number ({on})", expected="one dimension"
            )
        self._dimensions(indexed, self._role(4), len(y), y, count=len(self._role(2)))
        if vector in self._role(4):
            raise self.error(f"{indexed}={self._role(4)} names index_vector_dim={vector}")

    def _demands(self, x: Sizes, y: Sizes) -> Iterator[Demand]:
        """The conditions between the sizes of operand and indices."""
        for d, e in self._paired():
            yield (
                lift(x[d]).eq(y[e]),
                f"{self.roles[2]}={self._role(2)} and {self.roles[4]}={self._role(4)} pair {x[d]} and {y[e]}",
            )
        if self.index_vector_dim < len(y):
            number, mapped = y[self.index_vector_dim], self._role(3)
            yield (
                lift(number).eq(len(mapped)),
                (
                    f"{self.roles[3]}={mapped} for vectors of {number} "
                    f"(index_vector_dim={self.index_vector_dim}, indices of shape {exact_text(list(y))})"
                ),
            )

    # -- proof and oracle
    @staticmethod
    def _instance(
        rank: int, mapped: Dims, batch: int, vector: int | None, batching: Dims
    ) -> tuple[tuple[Expr, ...], list[Expr], list[Expr], int, Dims]:
        """Return sizes of an operand and of indices, those of the latter without vectors, vector dimension, pairing.

        There are `batch` index dimensions, with the vector dimension at `vector`; None: no vector dimension.
        """
        x, y = symbols("n", rank), list[Expr](symbols("b", batch))
        paired = tuple(range(len(batching)))
        for d, e in zip(batching, paired, strict=True):
            y[e] = x[d]
        over = list(y)
        if vector is not None:
            y.insert(vector, lift(len(mapped)))
            paired = tuple(e + (e >= vector) for e in paired)
        return x, y, over, len(over) if vector is None else vector, paired
