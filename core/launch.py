"""Kernel launches as indexing maps: the output elements that each thread, block and warp computes.

A kernel runs on a grid of blocks of threads. XLA numbers a thread by its position along the axes of the grid, x
fastest, where the threads of a block are adjacent along each axis. It assigns the output elements to the threads in
that order, `unroll` adjacent elements in memory at a time. If the grid is too small for all elements, it takes the
others in further rounds, the *chunks* (reports/hlo.md, "Threads, blocks and warps").

    >>> from indexproof.core.launch import Launch
    >>> grid = Launch((128, 1, 1), (8, 1, 1)).over("f32[4,8,3,5]")
    >>> grid.chunks, grid.element((5, 0, 0, 3, 0, 0)), grid.place((3, 1, 0, 4))
    (1, (3, 1, 2, 4), (123, 0, 0, 2, 0, 0, 0, 0))

All maps relate elements of the *logical* array; the order of dimensions matters, tiles and padding do not.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod
from operator import index as as_integer

from .blocks import tuple_text
from .condition import Condition
from .errors import InputError, quoted
from .expr import Expr, ExprLike, integer, lift, var
from .hlo.shape import Layout, Shape
from .indexing_map import Constraint, IndexingMap, Variable
from .layout.memory import memory
from .op import Case, Coordinates, Demand, Map, Op, Sizes, concrete, digits_of, op, product, row_major, symbols

Dims = tuple[int, ...]

#: The coordinates of a place: thread, block, round, and index among the elements that a thread takes at a time.
GRID = ("th_x", "th_y", "th_z", "bl_x", "bl_y", "bl_z", "chunk_id", "unroll_id")
#: The same coordinates from the slowest varying to the fastest, as indices into `GRID`.
_ORDER = (6, 5, 2, 4, 1, 3, 0, 7)


@op
class GridOrder(Op):
    """Element number n of the output, in memory order, is computed at place number n of the grid.

    The operand is the grid, an array with the sizes of `GRID`. `dims` are the sizes of the output; `minor_to_major`
    gives the memory order of its dimensions. Places beyond the last element compute nothing.
    """

    dims: tuple[ExprLike, ...]
    minor_to_major: Dims

    def structure(self, x: Sizes) -> None:
        self._rank(0, x, len(GRID))
        self._dimensions("minor_to_major", self.minor_to_major, len(self.dims), self.dims, count=len(self.dims))

    def demands(self, x: Sizes) -> Iterator[Demand]:
        for d, n in enumerate(self.dims):
            yield lift(n) >= 0, f"size {n} of dimension {d}"
        yield product(x) >= product(self.dims), f"a grid {list(map(str, x))} has too few places"

    def shape(self, x: Sizes) -> list[Expr]:
        return [lift(n) for n in self.dims]

    # -- in the order of memory
    def _physical(self, v: Sequence[ExprLike]) -> list[ExprLike]:
        return [v[d] for d in reversed(self.minor_to_major)]

    def number(self, o: Coordinates) -> Expr:
        """Return the number of an output element in memory order."""
        return row_major(self._physical(o), self._physical(self.dims))

    @staticmethod
    def place_number(i: Coordinates, x: Sizes) -> Expr:
        """Return the number of a place of the grid: along every axis, thread plus block times threads."""
        return row_major([i[k] for k in _ORDER], [x[k] for k in _ORDER])

    def reads(self, k: int, o: Coordinates, i: Coordinates, rt: Coordinates, x: Sizes) -> list[Condition]:
        return [self.number(o).eq(self.place_number(i, x))]

    def output_to_input(self, k: int, o: Coordinates, rt: Coordinates, x: Sizes) -> Map:
        found = dict(zip(_ORDER, digits_of(self.number(o), [x[k] for k in _ORDER]), strict=True))
        return Map([found[k] for k in range(len(GRID))])

    def input_to_output(self, k: int, i: Coordinates, rt: Coordinates, x: Sizes) -> Map:
        number = self.place_number(i, x)
        digits = digits_of(number, self._physical(self.dims))
        found = dict(zip(reversed(self.minor_to_major), digits, strict=True))
        inside = number.within(0, product(self.dims) - 1)
        return Map([found[d] for d in range(len(self.dims))], [inside])

    @classmethod
    def cases(cls, rank: int) -> Iterator[Case]:
        n = symbols("n", rank)
        x = tuple(var(name) for name in ("tx", "ty", "tz", "bx", "by", "bz", "c", "u"))
        one = integer(1)
        grids: dict[str, tuple[Expr, ...]] = {"x": (x[0], one, one, x[3], one, one, x[6], x[7])}
        if rank in (1, 2):
            grids["x and y"] = (x[0], x[1], one, x[3], x[4], one, one, one)
        if rank < 2:
            grids["every axis"] = x
        # other orders of three dimensions only rename the dimensions
        orders = list(itertools.permutations(range(rank)))
        for order in orders if rank < 3 else [orders[-1], orders[1]][: 5 - rank]:
            for label, grid in grids.items():
                text = ",".join(map(str, order))
                yield Case.of(rank, f"{{{text}}} over {label}", cls(n, order), grid)


@dataclass(frozen=True)
class Launch:
    """A launch: threads per block and blocks along x, y and z, elements that a thread takes at a time, warp size.

    Raises `InputError` for sizes below 1.
    """

    threads: Dims
    blocks: Dims
    unroll: int = 1
    warp: int = 32

    def __post_init__(self) -> None:
        for name in ("threads", "blocks"):
            given = getattr(self, name)
            if not isinstance(given, Iterable):
                raise InputError(f"{name} {given}", expected="up to three sizes of at least 1")
            sizes = tuple(as_integer(n) for n in given)
            if len(sizes) > 3 or min(sizes, default=1) < 1:
                raise InputError(f"{name} {tuple_text(sizes)}", expected="up to three sizes of at least 1")
            object.__setattr__(self, name, sizes + (1,) * (3 - len(sizes)))
        for name in ("unroll", "warp"):
            if as_integer(getattr(self, name)) < 1:
                raise InputError(f"{name} {getattr(self, name)}", expected="at least 1")

    @property
    def size(self) -> int:
        """The total number of threads."""
        return prod(self.threads) * prod(self.blocks)

    def over(self, shape: Shape | str) -> Launched:
        """Return this launch for an output of the shape. Raises `InputError` for a shape that no memory can have."""
        return Launched(self, memory(shape).shape)


@dataclass(frozen=True)
class Launched:
    """A launch that computes a given output: the elements of every thread, block and warp.

    Dimensions of dynamic size have their upper bound.
    """

    launch: Launch
    shape: Shape

    @cached_property
    def chunks(self) -> int:
        """The number of rounds in which the grid takes all elements."""
        return -(-self.shape.size // (self.launch.size * self.launch.unroll))

    @cached_property
    def grid(self) -> Dims:
        """The sizes of `GRID`."""
        return (*self.launch.threads, *self.launch.blocks, self.chunks, self.launch.unroll)

    @cached_property
    def op(self) -> GridOrder:
        """The relation of places and elements as an op: its operand is the grid, its output the array."""
        layout = self.shape.layout or Layout.default(self.shape.rank)
        return GridOrder(self.shape.dims, layout.minor_to_major)

    # -- maps
    @cached_property
    def places(self) -> IndexingMap:
        """The map from places of the grid, with all coordinates of `GRID`, to elements."""
        return self._map(GRID)

    @cached_property
    def owners(self) -> IndexingMap:
        """The map from elements to the places that compute them: the inverse of `places`, defined on all elements."""
        return concrete(self.op, 0, "output_to_input", (self.grid,))

    @cached_property
    def thread_map(self) -> IndexingMap:
        """The map of threads, `(th_x, th_y, th_z, bl_x, bl_y, bl_z)[chunk_id, unroll_id]` to elements.

        As in all maps here, ranges over one value are omitted.
        """
        return self._map(GRID[:6])

    @cached_property
    def block_map(self) -> IndexingMap:
        """The map of blocks, `(bl_x, bl_y, bl_z)[th_x, …]` to elements."""
        return self._map(GRID[3:6])

    @cached_property
    def warp_map(self) -> IndexingMap:
        """The map of warps, `(warp_id, bl_x, bl_y, bl_z)[lane_id, …]` to elements.

        Warp and lane number the threads of a block, x fastest. The last warp of a block may be a partial one.
        """
        return self.threads_of_warps.compose(self.thread_map)

    @cached_property
    def threads_of_warps(self) -> IndexingMap:
        """The map `(warp_id, bl_x, bl_y, bl_z)[lane_id]` to `(th_x, th_y, th_z, bl_x, bl_y, bl_z)`."""
        threads, warp = self.launch.threads, self.launch.warp
        count = prod(threads)
        lane: Expr = var("lane_id")
        ranges: tuple[Variable, ...] = (Variable("lane_id", 0, min(warp, count) - 1),)
        if ranges[0].size == 1:
            lane, ranges = integer(0), ()
        number = var("warp_id") * warp + lane
        z, y, x = digits_of(number, [threads[2], threads[1], threads[0]])
        blocks = [Variable(name, 0, n - 1) for name, n in zip(GRID[3:6], self.launch.blocks, strict=True)]
        return IndexingMap(
            (Variable("warp_id", 0, -(-count // warp) - 1), *blocks),
            ranges,
            (),
            (x, y, z, *(v.expr for v in blocks)),
            (Constraint(number, 0, count - 1),) if count % warp and count > warp else (),
        )

    @cached_property
    def warps_of_threads(self) -> IndexingMap:
        """The map `(th_x, th_y, th_z)` to `(warp, lane)` within a block, the inverse of :attr:`threads_of_warps`."""
        dims = tuple(Variable(name, 0, n - 1) for name, n in zip(GRID[:3], self.launch.threads, strict=True))
        x, y, z = (v.expr for v in dims)
        tx, ty, _ = self.launch.threads
        number = (z * ty + y) * tx + x
        return IndexingMap(dims, (), (), (number // self.launch.warp, number % self.launch.warp))

    def reads(self, m: IndexingMap, by: str = "thread") -> IndexingMap:
        """Return the map from threads, or with `by` blocks or warps, to the operand elements that they read.

        `m` maps elements of the output to elements of the operand. Raises `InputError` otherwise.
        """
        if by not in ("thread", "block", "warp"):
            raise InputError(f"nothing is called {quoted(by)}", expected="thread, block or warp")
        if len(m.dims) != self.shape.rank:
            raise InputError(
                f"a map of {len(m.dims)} dimensions for an output {self.shape}", expected=f"{self.shape.rank}"
            )
        first: IndexingMap = getattr(self, f"{by}_map")
        return first.compose(m)

    # -- single elements
    def element(self, place: Sequence[int]) -> Dims | None:
        """Return the element computed at a place, or None. Trailing coordinates may be omitted, meaning 0."""
        at = tuple(as_integer(n) for n in place)
        at += (0,) * (len(GRID) - len(at))
        if len(at) != len(GRID) or not all(0 <= k < n for k, n in zip(at, self.grid, strict=True)):
            raise InputError(f"place {tuple_text(at)} of a grid {tuple_text(self.grid)}")
        return self.places.evaluate(at)

    def place(self, element: Sequence[int]) -> Dims:
        """Return the place, with all coordinates of `GRID`, that computes an element."""
        at = tuple(as_integer(n) for n in element)
        inside = len(at) == self.shape.rank and all(0 <= k < n for k, n in zip(at, self.shape.dims, strict=True))
        found = self.owners.evaluate(at) if inside else None
        if found is None:
            raise InputError(f"index {tuple_text(at)} is outside of {self.shape}")
        return found

    def _map(self, names: Sequence[str]) -> IndexingMap:
        """Return the map from some coordinates to elements; the other coordinates are ranges."""
        m = concrete(self.op, 0, "input_to_output", (self.grid,))
        m = m.rename({v.name: name for v, name in zip(m.dims, GRID, strict=True)})
        m = m.substitute({v.name: 0 for v, n in zip(m.dims, self.grid, strict=True) if n == 1 and v.name not in names})
        dims, ranges = (tuple(v for v in m.dims if (v.name in names) is kept) for kept in (True, False))
        return m.with_(dims=dims, ranges=ranges)
