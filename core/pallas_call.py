"""The grid, blocks and index maps of one ``pallas_call``, without jax; ``indexproof.pallas`` reads them off a function.

Sizes of arrays and of the grid may be expressions of symbols; :meth:`PallasCall.at` is the call for values of these.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from math import prod
from typing import Any, TypeAlias

from .condition import Condition
from .expr import Expr, var
from .indexing_map import IndexingMap
from .interval import Interval
from .parametric import ParametricMap

#: An integer; in a call with symbolic sizes also an :class:`Expr`.
Size: TypeAlias = Any
#: No symbol of sizes has a larger value.
LARGEST_SIZE = 2**31 - 1


@dataclass(frozen=True)
class BlockDim:
    """One dimension of a block: at index ``i`` it has ``size`` elements of ``array``, from ``i * step - low`` on.

    ``low`` and ``high`` are the padding that ``pl.Element`` asks for.
    """

    array: Size
    size: int
    step: int
    low: int = 0
    high: int = 0

    @property
    def last(self) -> Size:
        """The last index that an index map may return.

        With a step of the block's size (``pl.Blocked``) the last block may reach beyond the array; an element index
        must leave the whole block within the array and its padding.
        """
        return (self.low + self.array + self.high - self.size + self.step - 1) // self.step

    @property
    def indices(self) -> Interval:
        """The indices that an index map may return."""
        return Interval(0, self.last)

    @property
    def aligned(self) -> bool:
        """Whether the blocks of two indices are the same or disjoint."""
        return self.step == self.size and not self.low and not self.high

    @property
    def overhang(self) -> Size:
        """How far the last block reaches beyond the array."""
        return -self.array % self.size if self.aligned else 0


@dataclass(frozen=True)
class BlockedOperand:
    """An input or output with its blocks; ``index`` takes a point of the grid to the index of a block.

    ``index`` is ``None`` where it has no such map, and ``why`` says the reason.  ``whole``: the kernel gets the array
    itself and copies what it wants.  ``revisits``: a block may be taken up again (``RevisitMode.ANY``).  ``used`` is
    false for an output that nobody reads, ``touched`` for one that the kernel does not mention.  ``alias`` is the name of
    the input that an output overwrites.
    """

    name: str
    dtype: str
    dims: tuple[BlockDim, ...]
    index: IndexingMap | ParametricMap | None
    why: str = ""
    output: bool = False
    whole: bool = False
    revisits: bool = False
    used: bool = True
    touched: bool = True
    alias: str = ""

    @property
    def shape(self) -> tuple[Size, ...]:
        """The sizes of the array."""
        return tuple(d.array for d in self.dims)

    @property
    def blocks(self) -> tuple[Size, ...]:
        """How many blocks, or indices of elements, there are along each dimension."""
        return tuple(d.last + 1 for d in self.dims)


@dataclass(frozen=True)
class ScalarTable:
    """A scalar prefetch operand: ``values`` where they are known, the range of its elements where that is stated."""

    shape: tuple[int, ...]
    values: Any = None
    stated: Interval | None = None


@dataclass(frozen=True)
class PallasCall:
    """One ``pallas_call``: its grid with the semantics of each axis, its operands in order, inputs first.

    A size of the grid is ``None`` where it is only known at run time.  Iterations of axes that are ``parallel`` run in any
    order or at once; the others run one after the other, the last axis fastest.  ``direct``: the kernel stores to the
    array itself (Triton), so that iterations may share a block and write different elements of it.  ``parameters`` are the
    symbols of sizes, of which the ``conditions`` hold; index maps are parametric where there are any.
    """

    name: str
    where: str
    axes: tuple[str, ...]
    grid: tuple[Size, ...]
    semantics: tuple[str, ...]
    operands: tuple[BlockedOperand, ...]
    tables: Mapping[str, ScalarTable] = field(default_factory=dict)
    direct: bool = False
    parameters: tuple[str, ...] = ()
    conditions: tuple[Condition, ...] = ()

    def at(self, values: Mapping[str, int]) -> PallasCall:
        """The call of concrete sizes, for values of all parameters."""
        env: dict[Expr, int] = {var(p): x for p, x in values.items()}

        def valued(x: Size) -> Size:
            return int(x.evaluate(env)) if isinstance(x, Expr) else x

        operands = tuple(
            replace(
                o,
                dims=tuple(replace(d, array=valued(d.array)) for d in o.dims),
                index=o.index.at(values) if isinstance(o.index, ParametricMap) else o.index,
            )
            for o in self.operands
        )
        grid = tuple(n if n is None else max(valued(n), 0) for n in self.grid)
        return replace(self, grid=grid, operands=operands, parameters=(), conditions=())

    @property
    def parallel(self) -> tuple[int, ...]:
        """The axes that run in any order, of those with more than one iteration."""
        return tuple(
            k for k, (n, s) in enumerate(zip(self.grid, self.semantics, strict=True)) if "parallel" in s and n != 1
        )

    @property
    def iterations(self) -> int | None:
        """How often the kernel runs, if that is known."""
        return prod(self.grid) if all(isinstance(n, int) for n in self.grid) else None

    def operand(self, name: str) -> BlockedOperand:
        """The operand of that name."""
        return next(o for o in self.operands if o.name == name)
