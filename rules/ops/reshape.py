"""Ops that keep the elements in row-major (or physical) order and change the sizes: reshape and bitcast."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from ...core.condition import Condition
from ...core.expr import Expr, Int, lift
from ...core.layout.bitcast import Decomposition, TransposeStep, check_bits, decompose, strides_of
from ...core.op import Case, Coordinates, Demand, Map, Sizes, digits_of, exact_text, op, product, row_major, symbols
from .movement import Dims, Extents, Sized


@dataclass(frozen=True)
class Block:
    """Adjacent source dimensions that become adjacent target dimensions.

    With `digits` (most significant first), every dimension is a product of consecutive digits: `source_counts`
    and `target_counts` are their numbers.  Without digits, only the products of the sizes agree, and the map uses
    the linear position in the block.
    """

    source: Dims
    target: Dims
    digits: Extents = ()
    source_counts: Dims = ()
    target_counts: Dims = ()

    def moved(self, coordinates: Coordinates, sizes: Sizes, targets: Sizes) -> list[Expr]:
        """Return the target coordinates of the block for its source coordinates."""
        if not self.digits:
            return digits_of(row_major(coordinates, sizes), targets)
        digits = [
            d
            for c, part in zip(coordinates, _groups(self.digits, self.source_counts), strict=True)
            for d in digits_of(c, part)
        ]
        return [
            row_major(values, part)
            for values, part in zip(
                _groups(digits, self.target_counts), _groups(self.digits, self.target_counts), strict=True
            )
        ]

    def reversed(self) -> Block:
        """Return the inverse block."""
        return Block(self.target, self.source, self.digits, self.target_counts, self.source_counts)


def _groups(values: Sequence[Any], counts: Sequence[int]) -> list[Sequence[Any]]:
    parts = iter(values)
    return [tuple(itertools.islice(parts, count)) for count in counts]


def blocks_of(source: Sequence[int], target: Sequence[int]) -> list[Block]:
    """Return the finest blocks of a reshape between non-empty shapes of the same number of elements.

    Dimensions of size 1 belong to no block.  A block has digits if the strides of both sides together form a chain
    of divisors.
    """
    left = [d for d, n in enumerate(source) if n != 1]
    right = [d for d, n in enumerate(target) if n != 1]
    blocks = []
    while left:
        a, b = [left.pop(0)], [right.pop(0)]
        p, q = source[a[0]], target[b[0]]
        while p != q:
            if p < q:
                a.append(left.pop(0))
                p *= source[a[-1]]
            else:
                b.append(right.pop(0))
                q *= target[b[-1]]
        blocks.append(_block(tuple(a), tuple(b), source, target))
    return blocks


def _block(a: Dims, b: Dims, source: Sequence[int], target: Sequence[int]) -> Block:
    here, there = strides_of([source[d] for d in a]), strides_of([target[d] for d in b])
    strides = sorted({*here, *there}, reverse=True)
    if any(big % small for big, small in itertools.pairwise(strides)):
        return Block(a, b)
    digits = tuple(big // small for big, small in itertools.pairwise(strides))
    counts = [
        tuple(sum(low <= s < high for s in strides) for high, low in itertools.pairwise(side)) for side in (here, there)
    ]
    return Block(a, b, digits, *counts)


class Reordered(Sized):
    """The base of reshape and bitcast: both sides list the same elements in the same order."""

    #: The correspondence of the sizes.  If empty, it is computed for integers, and is one block otherwise.
    blocks: tuple[Block, ...]

    def _ordered(self, v: Sequence[Any], side: Literal["source", "target"]) -> list[Any]:
        """Return coordinates or sizes of the operand or of the output, slowest varying first."""
        return list(v)

    def _logical(self, v: Sequence[Any], side: Literal["source", "target"]) -> list[Any]:
        """Invert :meth:`_ordered`."""
        return list(v)

    def demands(self, *operands: Sizes) -> Iterator[Demand]:
        yield from super().demands()
        (x,) = operands
        text = f"shape {exact_text(list(x))} and sizes={exact_text(self.sizes)}"
        if not self.blocks:
            yield (
                product(x).eq(product(self.sizes)),
                (f"{text} differ in number of elements: {product(x)} and {product(self.sizes)}"),
            )
        here, there = self._ordered(x, "source"), self._ordered(self.sizes, "target")
        for block in self.blocks:
            sides = (block.source, here, block.source_counts), (block.target, there, block.target_counts)
            if not block.digits:
                yield (
                    product(here[d] for d in block.source).eq(product(there[d] for d in block.target)),
                    (f"{text}: block {block.source} and {block.target} differ in number of elements"),
                )
                continue
            for dims, sizes, counts in sides:
                for d, digits in zip(dims, _groups(block.digits, counts), strict=True):
                    yield (lift(sizes[d]).eq(product(digits)), f"{text}: {sizes[d]} is not the product of {digits}")

    def reads(self, k: int, o: Coordinates, i: Coordinates, rt: Coordinates, x: Sizes) -> list[Condition]:
        at, place = self._ordered(o, "target"), self._ordered(i, "source")
        there, here = self._ordered(self.sizes, "target"), self._ordered(x, "source")
        if not self.blocks:
            return [row_major(at, there).eq(row_major(place, here))]
        # positions agree exactly if they agree in every block, since a position in a block is less than the
        # block's size (that a position determines its coordinates is a case of its own)
        return [
            row_major([at[d] for d in b.target], [there[d] for d in b.target]).eq(
                row_major([place[d] for d in b.source], [here[d] for d in b.source])
            )
            for b in self.blocks
        ]

    def _moved(self, v: Coordinates, x: Sizes, back: bool) -> Map:
        ends: tuple[Literal["source", "target"], ...] = ("target", "source") if back else ("source", "target")
        here, there = (self._ordered(x if end == "source" else self.sizes, end) for end in ends)
        at = self._ordered(v, ends[0])
        # a dimension outside all blocks has size 1, or the array is empty and its map does not matter
        moved: list[Expr] = [lift(0)] * len(there)
        for block in self._all_blocks(x):
            block = block.reversed() if back else block
            targets = [there[d] for d in block.target]
            new = block.moved([at[d] for d in block.source], [here[d] for d in block.source], targets)
            for d, e in zip(block.target, new, strict=True):
                moved[d] = e
        return Map(self._logical(moved, ends[1]))

    def _all_blocks(self, x: Sizes) -> Sequence[Block]:
        if self.blocks:
            return self.blocks
        here, there = self._ordered(x, "source"), self._ordered(self.sizes, "target")
        known, wanted = ([lift(n) for n in sizes] for sizes in (here, there))
        a, b = ([n.value for n in sizes if isinstance(n, Int)] for sizes in (known, wanted))
        if len(a) == len(known) and len(b) == len(wanted):
            return blocks_of(a, b) if 0 not in a and 0 not in b else ()
        if any(n is lift(0) for n in (*known, *wanted)):
            return ()
        return (Block(tuple(range(len(here))), tuple(range(len(there)))),)

    def output_to_input(self, k: int, o: Coordinates, rt: Coordinates, x: Sizes) -> Map:
        return self._moved(o, x, back=True)

    def input_to_output(self, k: int, i: Coordinates, rt: Coordinates, x: Sizes) -> Map:
        return self._moved(i, x, back=False)


@op
class Reshape(Reordered):
    """The elements keep their row-major order in an array of other sizes."""

    sizes: Extents
    blocks: tuple[Block, ...] = ()

    @classmethod
    def cases(cls, rank: int) -> Iterator[Case]:
        # Each digit ends where a dimension of one side or of both ends.  If there are several blocks, those of three
        # and more digits are cases of lower rank.
        for source, target in itertools.product(compositions(rank), repeat=2):
            f, x, sizes = digit_shapes(rank, source, target)
            blocks = blocks_at_common_cuts(f, source, target)
            small = len(blocks) <= 1 or all(len(b.digits) <= 2 for b in blocks)
            if small and cuts(source) | cuts(target) == set(range(1, rank + 1)):
                label = f"{exact_text(x)} to {exact_text(sizes)}"
                yield Case.of(rank, label, cls(tuple(sizes), blocks), x, facts=[n >= 1 for n in f])
        if rank:
            n = list(symbols("n", rank))
            ones = [Block((2 * d,), (d + 1,), (n[d],), (1,), (1,)) for d in range(rank)]
            x = [e for pair in zip(n, [lift(1)] * rank, strict=True) for e in pair]
            yield Case.of(rank, "sizes of 1 go and come", cls((1, *n, 1), tuple(ones)), x, facts=[e >= 1 for e in n])
            # no elements, with any other sizes
            yield Case.of(rank, "a size of 0", cls((0, *symbols("m", rank - 1))), [*n[1:], 0])
        yield from cls._with_a_common_product(rank)

    @classmethod
    def _with_a_common_product(cls, rank: int) -> Iterator[Case]:
        """Yield cases in which only the numbers of elements agree."""
        ranks = {2: [(2, 2)], 3: [(2, 3), (3, 2), (3, 3)]}
        for a, b in ranks.get(rank, []):
            x, sizes = symbols("m", a), symbols("n", b)
            yield Case.of(rank, f"any {a} dimensions to any {b}", cls(sizes), x, facts=[e >= 1 for e in (*x, *sizes)])
        if rank == 3:
            x, sizes, last = symbols("m", 2), symbols("n", 2), symbols("c", 1)
            blocks = (Block((0, 1), (0, 1)), Block((2,), (2,), last, (1,), (1,)))
            yield Case.of(
                rank,
                "a block of any dimensions, then one kept",
                cls((*sizes, *last), blocks),
                (*x, *last),
                facts=[e >= 1 for e in (*x, *sizes, *last)],
            )


@op
class Bitcast(Reordered):
    """The elements keep their order in memory in an array of other sizes and another layout.

    Layouts list dimensions from the fastest varying to the slowest.  The op is a transpose to the physical
    order, a reshape, and a transpose back.
    """

    sizes: Extents
    source_layout: Dims
    target_layout: Dims
    blocks: tuple[Block, ...] = ()

    def structure(self, x: Sizes) -> None:
        self._dimensions("source_layout", self.source_layout, len(x), x, count=len(x))
        self._dimensions("target_layout", self.target_layout, len(self.sizes), self.sizes, count=len(self.sizes))

    def _layout(self, side: Literal["source", "target"]) -> Dims:
        return self.source_layout if side == "source" else self.target_layout

    def _ordered(self, v: Sequence[Any], side: Literal["source", "target"]) -> list[Any]:
        return [v[d] for d in reversed(self._layout(side))]

    def _logical(self, v: Sequence[Any], side: Literal["source", "target"]) -> list[Any]:
        physical = dict(zip(reversed(self._layout(side)), v, strict=True))
        return [physical[d] for d in range(len(v))]

    @classmethod
    def cases(cls, rank: int) -> Iterator[Case]:
        layouts = list(itertools.permutations(range(rank)))
        plain = (1,) * rank
        for source, target in itertools.product(layouts, repeat=2):
            # at rank 4 one of the two layouts is the default one
            if rank < 4 or layouts[-1] in (source, target):
                yield cls._case(source, target, plain, plain)
        for cut in compositions(rank):
            # the layouts of long blocks are cases of lower rank
            if cut != plain and max(cut) <= (3 if rank < 4 else 2):
                yield cls._case(layouts[len(layouts) // 2], tuple(range(len(cut))), plain, cut)
                yield cls._case(tuple(range(len(cut))), layouts[len(layouts) // 2], cut, plain)

    @classmethod
    def _case(cls, source_layout: Dims, target_layout: Dims, source: Dims, target: Dims) -> Case:
        """Return a case whose physical sizes are products of the same digits, grouped by `source` and `target`."""
        f, x, sizes = digit_shapes(sum(source), source, target)
        made = cls(tuple(sizes), source_layout, target_layout, blocks_at_common_cuts(f, source, target))
        made = cls(tuple(made._logical(sizes, "target")), source_layout, target_layout, made.blocks)
        label = f"{source_layout} to {target_layout}, cut {source} to {target}"
        return Case.of(sum(source), label, made, made._logical(x, "source"), facts=[n >= 1 for n in f])

    @classmethod
    def from_hlo(cls, instruction: Any, shapes: Sequence[Dims]) -> Bitcast:
        source, target = instruction.operand_arrays[0], instruction.array
        check_bits(source, target)
        if any(s.layout is not None and s.layout.tiles for s in (source, target)):
            return cls._of_steps(decompose(source, target))
        return cls(target.dims, source.minor_to_major, target.minor_to_major)

    @classmethod
    def _of_steps(cls, d: Decomposition) -> Bitcast:
        """Return a bitcast between tiled layouts whose steps are also those of one between layouts without tiles."""
        if d.kind == "longer":
            raise ValueError(f"a bitcast from {d.source} to {d.target} takes more steps: {d}")
        steps = list(d.needed())
        into = out = None
        if steps and isinstance(steps[0], TransposeStep):
            into = steps.pop(0)
        if steps and isinstance(steps[-1], TransposeStep):
            out = steps.pop()
        here = into.permutation if isinstance(into, TransposeStep) else range(d.source.rank)
        there = out.permutation if isinstance(out, TransposeStep) else range(d.target.rank)
        places = sorted(range(d.target.rank), key=lambda k: there[k])
        return cls(d.target.dims, tuple(reversed(here)), tuple(reversed(places)))


def compositions(total: int) -> list[Dims]:
    """Return the ways to write ``total`` as an ordered sum of positive integers."""
    if total == 0:
        return [()]
    return [(first, *rest) for first in range(1, total + 1) for rest in compositions(total - first)]


def cuts(composition: Dims) -> set[int]:
    """Return the positions at which the parts of a composition end."""
    return set(itertools.accumulate(composition))


def digit_shapes(count: int, source: Dims, target: Dims) -> tuple[tuple[Expr, ...], list[Expr], list[Expr]]:
    """Return digits, and two shapes whose sizes are products of consecutive digits."""
    f = symbols("f", count)
    x, sizes = ([product(part) for part in _groups(f, cut)] for cut in (source, target))
    return f, x, sizes


def blocks_at_common_cuts(f: tuple[Expr, ...], source: Dims, target: Dims) -> tuple[Block, ...]:
    """Return the blocks of a reshape whose sides group the digits ``f`` into dimensions as stated."""
    ends = [sorted(cuts(cut)) for cut in (source, target)]
    blocks = []
    start = [0, 0, 0]  # source dimension, target dimension, digit
    for end in sorted(set(ends[0]) & set(ends[1])):
        a, b = (side.index(end) + 1 for side in ends)
        here, there = range(start[0], a), range(start[1], b)
        counts = tuple(source[d] for d in here), tuple(target[d] for d in there)
        blocks.append(Block(tuple(here), tuple(there), f[start[2] : end], *counts))
        start = [a, b, end]
    return tuple(blocks)
