"""The common base of gather and scatter: windows of an operand, one for each vector of start indices."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, ClassVar, NamedTuple

from ...core.expr import Expr, lift
from ...core.op import Demand, Runtime, Sizes, exact_text, symbols
from .movement import Dims
from .solved import Solved


class Roles(NamedTuple):
    """Dimensions by their role, or the attributes that list them."""

    #: Of an array of windows: those inside a window.
    window: Any
    #: Of the operand: those that windows do not have, those paired with dimensions of the indices, and those in which
    #: the components of an index vector are starts.
    dropped: Any
    batching: Any
    mapped: Any
    #: Of the indices: those that `batching` is paired with.
    indexed: Any


class Indexed(Solved):
    """Windows of an operand ``x``, one for each vector of the indices ``y``.

    An array of windows (gather's output, scatter's updates) has dimensions that run inside a window, over the
    dimensions of the operand that are neither dropped nor batching, and others that run over the indices without
    `index_vector_dim`.  The two ops name these dimensions differently: `roles` has the names of their attributes.
    """

    index_vector_dim: int
    roles: ClassVar[Roles]

    @classmethod
    def _attributes(cls, instruction: Any) -> dict[str, Any]:
        """Return the attributes that both ops have; dropped and batching dimensions are optional."""
        optional = (cls.roles.dropped, cls.roles.batching, cls.roles.indexed)
        found = {name: instruction.integers(name, () if name in optional else None) for name in cls.roles}
        return {**found, "index_vector_dim": instruction.integer("index_vector_dim")}

    @property
    def _dims(self) -> Roles:
        """The values of the attributes."""
        return Roles(*(getattr(self, name) for name in self.roles))

    # -- the parts of the shapes
    def _window_dims(self, rank: int) -> list[int]:
        """Return the dimensions of the operand in which windows extend, in order."""
        gone = (*self._dims.dropped, *self._dims.batching)
        return [d for d in range(rank) if d not in gone]

    def _index_dims(self, y: Sizes) -> list[int]:
        """Return the dimensions of the indices without the vector dimension, in order."""
        return [e for e in range(len(y)) if e != self.index_vector_dim]

    def _paired(self) -> list[tuple[int, int]]:
        """Return the pairs of batching dimensions of operand and indices."""
        return list(zip(self._dims.batching, self._dims.indexed, strict=True))

    def _split(self, v: Sequence[Any], rank: int, y: Sizes) -> tuple[dict[int, Any], dict[int, Any]]:
        """Split coordinates (or sizes) of an array of windows into those by dimension of the operand and of the indices."""
        window = dict(zip(self._window_dims(rank), (v[d] for d in self._dims.window), strict=True))
        batch = (a for d, a in enumerate(v) if d not in self._dims.window)
        return window, dict(zip(self._index_dims(y), batch, strict=True))

    # -- where windows lie
    def _vector(self, k: int, v: Sequence[Any], x: Sizes, y: Sizes, sizes: Sizes, beyond: int) -> list[Runtime]:
        """Return the index vector, in operand ``k``, of an element's window, which may exceed the operand by ``beyond``."""
        _, batch = self._split(v, len(x), y)
        return [
            Runtime.of(k, (batch.get(e, lift(j)) for e in range(len(y))), -beyond, lift(x[d]) - sizes[d] + beyond)
            for j, d in enumerate(self._dims.mapped)
        ]

    def _element(self, v: Sequence[Any], rt: Sequence[Expr], rank: int, y: Sizes) -> list[Expr]:
        """Return the element of the operand on which an element of an array of windows lies."""
        window, batch = self._split(v, rank, y)
        starts = dict(zip(self._dims.mapped, rt, strict=True)) | {d: lift(batch[e]) for d, e in self._paired()}
        return [window.get(d, lift(0)) + starts.get(d, 0) for d in range(rank)]

    # -- legality
    def _check(self, x: Sizes, y: Sizes) -> None:
        """Raise :class:`InputError` unless ranks and dimension numbers of operand and indices fit."""
        _, dropped, batching, mapped, indexed = self.roles
        rank, vector = len(x), self.index_vector_dim
        self._dimensions(dropped, self._dims.dropped, rank, x, ordered=True)
        self._dimensions(batching, self._dims.batching, rank, x, ordered=True)
        self._dimensions(mapped, self._dims.mapped, rank, x)
        for name, dims in ((dropped, self._dims.dropped), (mapped, self._dims.mapped)):
            if both := set(dims) & set(self._dims.batching):
                said = f"{name}={dims} and {batching}={self._dims.batching}"
                raise self.error(f"dimension {min(both)} is in both {said}")
        on = f"index_vector_dim={vector} for indices of shape {exact_text(list(y))}"
        if not 0 <= vector <= len(y):
            raise self.error(on, expected=f"0 to {len(y)}")
        # an index_vector_dim one past the end means that every element is a vector of length one
        if vector == len(y) and len(self._dims.mapped) != 1:
            raise self.error(
                f"{mapped}={self._dims.mapped} where each index is a single number ({on})", expected="one dimension"
            )
        self._dimensions(indexed, self._dims.indexed, len(y), y, count=len(self._dims.batching))
        if vector in self._dims.indexed:
            raise self.error(f"{indexed}={self._dims.indexed} names index_vector_dim={vector}")

    def _demands(self, x: Sizes, y: Sizes) -> Iterator[Demand]:
        """Yield the conditions between the sizes of operand and indices."""
        names, dims = self.roles, self._dims
        paired = f"{names.batching}={dims.batching} and {names.indexed}={dims.indexed}"
        for d, e in self._paired():
            yield lift(x[d]).eq(y[e]), f"{paired} pair {x[d]} and {y[e]}"
        if self.index_vector_dim < len(y):
            number, mapped = y[self.index_vector_dim], self._dims.mapped
            yield (
                lift(number).eq(len(mapped)),
                (
                    f"{self.roles.mapped}={mapped} for vectors of {number} "
                    f"(index_vector_dim={self.index_vector_dim}, indices of shape {exact_text(list(y))})"
                ),
            )

    # -- proof and oracle
    @staticmethod
    def _instance(
        rank: int, mapped: Dims, batch: int, vector: int | None, batching: Dims
    ) -> tuple[tuple[Expr, ...], list[Expr], list[Expr], int, Dims]:
        """Return sizes of an operand, of indices, and of indices without vectors; the vector dimension; the paired ones.

        There are `batch` index dimensions and a vector dimension at `vector`, none if that is ``None``.
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
