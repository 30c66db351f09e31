"""The grid, blocks and index maps of one ``pallas_call``, without jax; ``indexproof.pallas`` extracts them.

Sizes of arrays and of the grid may be expressions over symbols; :meth:`PallasCall.at` substitutes values for these.
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

#: An integer, or in a call with symbolic sizes an :class:`Expr`.
Size: TypeAlias = Any
#: The largest value of any size symbol.
LARGEST_SIZE = 2**31 - 1


@dataclass(frozen=True)
class BlockDim:
    """One dimension of a block: at index ``i`` it has ``size`` elements of ``array``, starting at ``i * step - low``.

    ``low`` and ``high`` are the padding that ``pl.Element`` requests.
    """

    array: Size
    size: int
    step: int
    low: int = 0
    high: int = 0

    @property
    def last(self) -> Size:
        """The largest index that an index map may return.

        With a step of the block's size (``pl.Blocked``) the last block may extend beyond the array; for an element
        index the whole block must lie within the array and its padding.
        """
        return (self.low + self.array + self.high - self.size + self.step - 1) // self.step

    @property
    def indices(self) -> Interval:
        """The interval of indices that an index map may return."""
        return Interval(0, self.last)

    @property
    def aligned(self) -> bool:
        """Whether any two blocks are equal or disjoint."""
        return self.step == self.size and not self.low and not self.high

    @property
    def overhang(self) -> Size:
        """The number of elements by which the last block extends beyond the array."""
        return -self.array % self.size if self.aligned else 0


@dataclass(frozen=True)
class BlockedOperand:
    """An input or output with its blocks; ``index`` maps a point of the grid to the index of a block.

    ``index`` is ``None`` where no such map exists, and ``why`` gives the reason.  ``whole``: the kernel gets the array
    itself and copies parts of it.  ``revisits``: iterations may return to a block (``RevisitMode.ANY``). ``used`` is
    false for an output that is never read, ``touched`` for one that the kernel does not mention.  ``alias`` is the name
    of the input that an output overwrites.
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
        """The number of blocks, or of element indices, along each dimension."""
        return tuple(d.last + 1 for d in self.dims)


@dataclass(frozen=True)
class ScalarTable:
    """A scalar prefetch operand: its ``values`` where known, and the declared range of its elements."""

    shape: tuple[int, ...]
    values: Any = None
    stated: Interval | None = None


@dataclass(frozen=True)
class PallasCall:
    """One ``pallas_call``: its grid with the semantics of each axis, its operands in order, inputs first.

    A size of the grid is ``None`` where it is only known at run time.  Iterations along ``parallel`` axes run in any
    order or concurrently; the others run sequentially, the last axis fastest.  ``direct``: the kernel stores to the
    array itself (Triton), so that iterations may share a block and write different elements of it.  ``parameters`` are
    the size symbols, which satisfy ``conditions``; with parameters, index maps are parametric.
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
        """Return the call with concrete sizes, for values of all parameters."""
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
        """The axes with ``parallel`` semantics and more than one iteration."""
        return tuple(
            k for k, (n, s) in enumerate(zip(self.grid, self.semantics, strict=True)) if "parallel" in s and n != 1
        )

    @property
    def iterations(self) -> int | None:
        """The number of iterations of the kernel, or ``None`` where it is unknown."""
        return prod(self.grid) if all(isinstance(n, int) for n in self.grid) else None

    def operand(self, name: str) -> BlockedOperand:
        """Return the operand of that name."""
        return next(o for o in self.operands if o.name == name)
