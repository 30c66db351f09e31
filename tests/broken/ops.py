"""Op maps that are wrong: subclasses of the real ops with one method replaced."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from indexproof.core.condition import Condition
from indexproof.core.expr import Expr, ExprLike, lift
from indexproof.core.op import Case, Coordinates, Map, Op, Range, Runtime, Sizes, op, quotient, symbols
from indexproof.rules.ops.collective import AllGather, AllToAll, Exchange, ReduceScatter
from indexproof.rules.ops.contraction import Dot
from indexproof.rules.ops.dynamic import DynamicSlice, DynamicUpdateSlice, Gather
from indexproof.rules.ops.fibres import Fibres
from indexproof.rules.ops.folding import Reduce
from indexproof.rules.ops.movement import Broadcast, Concatenate, Pad, Reverse, Slice, Transpose
from indexproof.rules.ops.reshape import Reshape
from indexproof.rules.ops.scatter import Scatter
from indexproof.rules.ops.sorting import Sort, TopK
from indexproof.rules.ops.window import Convolution, ReduceWindow, SelectAndScatter
from indexproof.verify.verdict import Status

from .planted import Planted, instance


# ------------------------------------------------------------------------------------------------------------- movement
class TransposeInverted(Transpose):
    """Applies the permutation where its inverse is due."""

    def output_to_input(self, k: int, o: Coordinates, rt: Coordinates, x: Sizes) -> Map:
        return Map([o[p] for p in self.permutation])


class TransposeForgotten(Transpose):
    """Leaves the coordinates in place."""

    def input_to_output(self, k: int, i: Coordinates, rt: Coordinates, x: Sizes) -> Map:
        return Map(i)


class ReverseFromSize(Reverse):
    """Counts from the size, not from the last element."""

    def _flipped(self, v: Coordinates, x: Sizes) -> Map:
        return Map([n - a if d in self.dimensions else a for d, (a, n) in enumerate(zip(v, x, strict=True))])


class BroadcastSorted(Broadcast):
    """Takes the broadcast dimensions in increasing order."""

    def output_to_input(self, k: int, o: Coordinates, rt: Coordinates, x: Sizes) -> Map:
        return Map([o[d] for d in sorted(self.dimensions)])


class BroadcastOnce(Broadcast):
    """Writes only the first of the repeated elements."""

    def input_to_output(self, k: int, i: Coordinates, rt: Coordinates, x: Sizes) -> Map:
        at = self.dimensions
        return Map([i[at.index(d)] if d in at else lift(0) for d in range(len(self.sizes))])


class SliceWithoutStart(Slice):
    """Reads from the beginning."""

    def output_to_input(self, k: int, o: Coordinates, rt: Coordinates, x: Sizes) -> Map:
        return Map([a * s for a, s in zip(o, self.stride, strict=True)])


class SliceWithoutLimit(Slice):
    """Sends elements beyond the limit to the output."""

    def input_to_output(self, k: int, i: Coordinates, rt: Coordinates, x: Sizes) -> Map:
        whole = replace(self, limit=tuple(x))
        return Slice.input_to_output(whole, k, i, rt, x)


class SliceWithoutStride(Slice):
    """Sends elements between the steps to the output."""

    def input_to_output(self, k: int, i: Coordinates, rt: Coordinates, x: Sizes) -> Map:
        m = super().input_to_output(k, i, rt, x)
        return Map(m.results, m.where[::2])


class ConcatenateInPlace(Concatenate):
    """Writes every operand to the front."""

    def input_to_output(self, k: int, i: Coordinates, rt: Coordinates, *x: Sizes) -> Map:
        return Map(i)


class ConcatenateEqual(Concatenate):
    """Takes all operands to be as long as the one it reads."""

    def output_to_input(self, k: int, o: Coordinates, rt: Coordinates, *x: Sizes) -> Map:
        return super().output_to_input(k, o, rt, *[x[k]] * self.count)


class PadWithoutStride(Pad):
    """Reads an element for every position between two."""

    def output_to_input(self, k: int, o: Coordinates, rt: Coordinates, x: Sizes, value: Sizes) -> Map:
        m = super().output_to_input(k, o, rt, x, value)
        return Map(m.results, m.where[::2]) if k == 0 else m


class PadWithoutCrop(Pad):
    """Writes cropped elements outside the output."""

    def input_to_output(self, k: int, i: Coordinates, rt: Coordinates, x: Sizes, value: Sizes) -> Map:
        m = super().input_to_output(k, i, rt, x, value)
        return Map(m.results) if k == 0 else m


class PadEverywhere(Pad):
    """Reads the padding value for every element."""

    def output_to_input(self, k: int, o: Coordinates, rt: Coordinates, x: Sizes, value: Sizes) -> Map:
        return Map([]) if k == 1 else super().output_to_input(k, o, rt, x, value)


# ---------------------------------------------------------------------------------------------- folding and contraction
class ReduceOtherDimension(Reduce):
    """Folds the dimensions counted from the end."""

    def output_to_input(self, k: int, o: Coordinates, rt: Coordinates, *x: Sizes) -> Map:
        last = len(x[0]) - 1
        other = replace(self, dimensions=tuple(last - d for d in self.dimensions))
        return Reduce.output_to_input(other, k, o, rt, *x)


class ReduceFirst(Reduce):
    """Reads the first element of every fibre."""

    def output_to_input(self, k: int, o: Coordinates, rt: Coordinates, *x: Sizes) -> Map:
        m = super().output_to_input(k, o, rt, *x)
        return Map([e.substitute({q.index: 0 for q in m.ranges}) for e in m.results])


class DotContracted(Dot):
    """Places the contracting dimension of operand 1 in the output."""

    def input_to_output(self, k: int, i: Coordinates, rt: Coordinates, x: Sizes, y: Sizes) -> Map:
        if k == 0:
            return super().input_to_output(k, i, rt, x, y)
        return Map([Range(self.shape(x, y)[0]), i[self.rhs_contracting[0]]])


class DotDiagonal(Dot):
    """Takes a free dimension of operand 0 for the contracting one."""

    def output_to_input(self, k: int, o: Coordinates, rt: Coordinates, x: Sizes, y: Sizes) -> Map:
        m = super().output_to_input(k, o, rt, x, y)
        return Map(o) if k == 0 else m


# -------------------------------------------------------------------------------------------------------------- dynamic
class DynamicSliceUnclamped(DynamicSlice):
    """Starts anywhere in the operand, however large the window."""

    def runtime(self, o: Coordinates, *x: Sizes) -> list[Runtime]:
        return [replace(r, hi=lift(n)) for r, n in zip(super().runtime(o, *x), x[0], strict=True)]


class DynamicSliceUnwindowed(DynamicSlice):
    """Sends every element of the operand to the output."""

    def input_to_output(self, k: int, i: Coordinates, rt: Coordinates, *x: Sizes) -> Map:
        m = super().input_to_output(k, i, rt, *x)
        return Map(m.results) if k == 0 else m


class UpdateReadsAllOfTheSource(DynamicUpdateSlice):
    """Reads the source where the update has replaced it."""

    def output_to_input(self, k: int, o: Coordinates, rt: Coordinates, *x: Sizes) -> Map:
        return Map(o) if k == 0 else super().output_to_input(k, o, rt, *x)


class UpdateOneTooWide(DynamicUpdateSlice):
    """Takes one element more than the update has."""

    def output_to_input(self, k: int, o: Coordinates, rt: Coordinates, *x: Sizes) -> Map:
        m = super().output_to_input(k, o, rt, *x)
        if k != 1:
            return m
        return Map(m.results, [b.within(0, n) for b, n in zip(m.results, x[1], strict=True)])


class UpdateInPlace(DynamicUpdateSlice):
    """Writes the update to the front."""

    def input_to_output(self, k: int, i: Coordinates, rt: Coordinates, *x: Sizes) -> Map:
        return Map(i) if k == 1 else super().input_to_output(k, i, rt, *x)


class GatherFromTheFront(Gather):
    """Forgets to add the start index."""

    def output_to_input(self, k: int, o: Coordinates, rt: Coordinates, x: Sizes, y: Sizes) -> Map:
        return super().output_to_input(k, o, [lift(0)] * len(rt), x, y)


class GatherUnwindowed(Gather):
    """Sends elements outside the window to the output."""

    def input_to_output(self, k: int, i: Coordinates, rt: Coordinates, x: Sizes, y: Sizes) -> Map:
        m = super().input_to_output(k, i, rt, x, y)
        return Map(m.results, ranges=m.ranges) if k == 0 else m


# ------------------------------------------------------------------------------------------------- scatter and sorting
class ScatterClamped(Scatter):
    """Lets windows that would leave the operand land at its edge, as a gather does."""

    def _inside(self, rt: Sequence[Expr], x: Sequence[Sizes]) -> list[Condition]:
        return []


class ScatterPastTheEnd(Scatter):
    """Takes a window for inside that begins one place too far."""

    def input_to_output(self, k: int, i: Coordinates, rt: Coordinates, *x: Sizes) -> Map:
        m = super().input_to_output(k, i, rt, *x)
        return Map(m.results) if k > self.count else m


class ScatterKeepsTheOperand(Scatter):
    """Reads the operand where an update has replaced it."""

    def output_to_input(self, k: int, o: Coordinates, rt: Coordinates, *x: Sizes) -> Map:
        return Map(o) if k < self.count else super().output_to_input(k, o, rt, *x)


class ScatterOneIndex(Scatter):
    """Reads only the first index vector."""

    def output_to_input(self, k: int, o: Coordinates, rt: Coordinates, *x: Sizes) -> Map:
        m = super().output_to_input(k, o, rt, *x)
        return (
            Map([e.substitute({q.index: 0 for q in m.ranges}) for e in m.results]) if k == self.count else m
        )


class SortInPlace(Sort):
    """Leaves every element where it is."""

    def output_to_input(self, k: int, o: Coordinates, rt: Coordinates, *x: Sizes) -> Map:
        return Map(o)


class FibresBeforeOnly(Fibres):
    """Leaves out the element's own place in the order."""

    def output_to_input(self, k: int, o: Coordinates, rt: Coordinates, *x: Sizes) -> Map:
        found = super().output_to_input(k, o, rt, *x)
        later = [
            o[p] < e for e, p in zip(found.results, self.shared[k] or (), strict=True) if p == self.along
        ]
        return Map(found.results, later, found.ranges)


class FibresWhole(Fibres):
    """Reads a dimension whole that is shared."""

    def output_to_input(self, k: int, o: Coordinates, rt: Coordinates, *x: Sizes) -> Map:
        return Map([Range(n) for n in x[k]])


class TopKOfAll(TopK):
    """Sends elements to places beyond the k-th."""

    def input_to_output(self, k: int, i: Coordinates, rt: Coordinates, x: Sizes) -> Map:
        return Map([Range(x[d]) if d == self.dimension else a for d, a in enumerate(i)])


# ---------------------------------------------------------------------------------------------------------- collectives
class AllGatherInterleaved(AllGather):
    """Takes the elements of the replicas in turn."""

    def output_to_input(self, k: int, o: Coordinates, rt: Coordinates, x: Sizes) -> Map:
        return Map(self._along(o, o[self.dimension] // self.group))


class AllGatherOwn(AllGather):
    """Sends every element to the first piece."""

    def input_to_output(self, k: int, i: Coordinates, rt: Coordinates, x: Sizes) -> Map:
        return Map(i)


class ReduceScatterFirst(ReduceScatter):
    """Keeps the first piece on every replica."""

    def output_to_input(self, k: int, o: Coordinates, rt: Coordinates, x: Sizes) -> Map:
        return Map(o)


class AllToAllStraight(AllToAll):
    """Sends every piece back to its sender."""

    def output_to_input(self, k: int, o: Coordinates, rt: Coordinates, x: Sizes) -> Map:
        return Map(o)


class ExchangeAll(Exchange):
    """Reads every operand, not the one for this replica."""

    def output_to_input(self, k: int, o: Coordinates, rt: Coordinates, *x: Sizes) -> Map:
        return Map(o)


# -------------------------------------------------------------------------------------------------------------- windows
class SelectAndScatterTooFar(SelectAndScatter):
    """Lets elements of different windows compete."""

    def input_to_output(
        self, k: int, i: Coordinates, rt: Coordinates, x: Sizes, source: Sizes, initial: Sizes
    ) -> Map:
        m = super().input_to_output(k, i, rt, x, source, initial)
        return Map(m.results, m.where[1:], m.ranges) if k == 0 else m


class SelectAndScatterBackwards(SelectAndScatter):
    """Forgets the padding at the low end when it asks which window an element is in."""

    def output_to_input(
        self, k: int, o: Coordinates, rt: Coordinates, x: Sizes, source: Sizes, initial: Sizes
    ) -> Map:
        moved = replace(self, window=tuple(replace(w, low=0, high=w.low + w.high) for w in self.window))
        return SelectAndScatter.output_to_input(moved if k == 1 else self, k, o, rt, x, source, initial)


class ReduceWindowWithoutLow(ReduceWindow):
    """Forgets the padding at the low end."""

    def output_to_input(self, k: int, o: Coordinates, rt: Coordinates, *x: Sizes) -> Map:
        moved = replace(self, window=tuple(replace(w, low=0) for w in self.window))
        return ReduceWindow.output_to_input(moved, k, o, rt, *x)


class ReduceWindowTooNarrow(ReduceWindow):
    """Misses the last element of every window."""

    def output_to_input(self, k: int, o: Coordinates, rt: Coordinates, *x: Sizes) -> Map:
        narrow = replace(self, window=tuple(replace(w, size=lift(w.size) - 1) for w in self.window))
        return ReduceWindow.output_to_input(narrow, k, o, rt, *x)


class ConvolutionUngrouped(Convolution):
    """Reads the first feature group for every output feature."""

    def output_to_input(self, k: int, o: Coordinates, rt: Coordinates, x: Sizes, y: Sizes) -> Map:
        return Convolution.output_to_input(replace(self, feature_groups=1), k, o, rt, x, y)


class ConvolutionInterleaved(Convolution):
    """Interleaves batch groups that lie one after the other."""

    def output_to_input(self, k: int, o: Coordinates, rt: Coordinates, x: Sizes, y: Sizes) -> Map:
        m = super().output_to_input(k, o, rt, x, y)
        if k == 1:
            return m
        outputs, _, _ = self._per_group(x, y)
        batch, feature, *_ = (o[d] for d in self.out_dims)
        results = list(m.results)
        results[self.lhs_dims[0]] = batch * self.batch_groups + quotient(feature, outputs)
        return Map(results, m.where, m.ranges)


# -------------------------------------------------------------------------------------------------------------- reshape
class ReshapeColumnMajor(Reshape):
    """Lets the first dimension vary fastest."""

    def output_to_input(self, k: int, o: Coordinates, rt: Coordinates, x: Sizes) -> Map:
        return Map([o[1] * self.sizes[0] + o[0]])


class ReshapeWrongStride(Reshape):
    """Steps by the size of the first dimension."""

    def input_to_output(self, k: int, i: Coordinates, rt: Coordinates, x: Sizes) -> Map:
        return Map([i[0] // self.sizes[0], i[0] % self.sizes[0]])


# ---------------------------------------------------------------------------------------------------------------- rolls
@op
class RollRows(Op):
    """Output element o is input element (o + shift) mod n, as numpy's roll by -shift has it.

    Arrays may be without elements: then the divisor n is zero, and nothing is asked of it.
    """

    shift: ExprLike

    def shape(self, x: Sizes) -> list[Expr]:
        return [lift(n) for n in x]

    def _turned(self, v: Coordinates, x: Sizes, by: ExprLike) -> list[Expr]:
        return [(a + by) % lift(n) for a, n in zip(v, x, strict=True)]

    def reads(self, k: int, o: Coordinates, i: Coordinates, rt: Coordinates, x: Sizes) -> list[Condition]:
        return [a.eq(b) for a, b in zip(i, self._turned(o, x, self.shift), strict=True)]

    def output_to_input(self, k: int, o: Coordinates, rt: Coordinates, x: Sizes) -> Map:
        return Map(self._turned(o, x, self.shift))

    def input_to_output(self, k: int, i: Coordinates, rt: Coordinates, x: Sizes) -> Map:
        return Map(self._turned(i, x, -lift(self.shift)))

    @classmethod
    def cases(cls, rank: int) -> Iterator[Case]:
        yield Case.of(rank, "any shift", cls(symbols("t", 1)[0]), symbols("n", rank))


@op
class RollByQuotient(RollRows):
    """Takes whole turns off the shift, counted in steps of the shift, which may be zero."""

    def output_to_input(self, k: int, o: Coordinates, rt: Coordinates, x: Sizes) -> Map:
        return Map(self._turned(o, x, lift(self.shift) // lift(self.shift) * self.shift))


@op
class RollByPlace(RollRows):
    """Divides by the coordinate, which is zero at the first element."""

    def input_to_output(self, k: int, i: Coordinates, rt: Coordinates, x: Sizes) -> Map:
        return Map([a // a * e for a, e in zip(i, self._turned(i, x, -lift(self.shift)), strict=True)])


@op
class RollOfWholeTurns(RollRows):
    """Says that elements stay related in every turn of the shift, which may be zero."""

    def reads(self, k: int, o: Coordinates, i: Coordinates, rt: Coordinates, x: Sizes) -> list[Condition]:
        return [(a % lift(self.shift)).eq(b % lift(self.shift)) for a, b in zip(o, i, strict=True)]


@op
class RollHalved(RollRows):
    """Makes an output whose size is a quotient by the shift."""

    def shape(self, x: Sizes) -> list[Expr]:
        return [lift(n) // lift(self.shift) * self.shift for n in x]


def _planted(wrong: type[Op], rank: int, label: str, fails: str, status: Status = Status.REFUTED) -> Planted:
    twin = wrong.__bases__[0]
    return Planted(wrong.__name__, instance(wrong, rank, label), fails, instance(twin, rank, label), status)


BROKEN: Sequence[Planted] = [
    _planted(TransposeInverted, 3, "permutation=(1, 2, 0)", "output to input sound"),
    _planted(TransposeForgotten, 2, "permutation=(1, 0)", "input to output sound"),
    _planted(ReverseFromSize, 1, "dimensions=(0,)", "output to input in bounds"),
    _planted(BroadcastSorted, 2, "dimensions=(1, 0)", "output to input sound"),
    _planted(BroadcastOnce, 2, "dimensions=(1,)", "input to output complete"),
    _planted(SliceWithoutStart, 1, "start, limit, stride", "output to input sound"),
    _planted(SliceWithoutLimit, 1, "start, limit, stride", "input to output in bounds"),
    _planted(SliceWithoutStride, 1, "start, limit, stride", "input to output sound"),
    _planted(ConcatenateInPlace, 1, "dimension=0, 2 operands", "input to output 1 sound"),
    _planted(ConcatenateEqual, 1, "dimension=0, 2 operands", "output to input 1 sound"),
    _planted(PadWithoutStride, 1, "low, high, interior", "output to input 0 sound"),
    _planted(PadWithoutCrop, 1, "low, high, interior", "input to output 0 in bounds"),
    _planted(PadEverywhere, 1, "no interior", "coverage"),
    _planted(ReduceOtherDimension, 2, "dimensions=(0,)", "output to input 0 sound"),
    _planted(ReduceFirst, 1, "dimensions=(0,)", "output to input 0 complete"),
    _planted(DotContracted, 2, "batch (), (); contracting (0,), (1,)", "input to output 1 sound"),
    _planted(DotDiagonal, 2, "batch (), (); contracting (0,), (1,)", "output to input 0 sound"),
    _planted(DynamicSliceUnclamped, 1, "any window", "output to input 0 in bounds"),
    _planted(DynamicSliceUnwindowed, 1, "any window", "input to output 0 in bounds"),
    _planted(UpdateReadsAllOfTheSource, 1, "any update", "output to input 0 sound"),
    _planted(UpdateOneTooWide, 1, "any update", "coverage"),
    _planted(UpdateInPlace, 1, "any update", "input to output 1 sound"),
    _planted(GatherFromTheFront, 1, "start_index_map=(0,), collapsed ()", "output to input 0 sound"),
    _planted(GatherUnwindowed, 1, "start_index_map=(0,), collapsed ()", "input to output 0 in bounds"),
    _planted(
        ScatterClamped, 1, "scatter_dims_to_operand_dims=(0,), inserted ()", "input to output 2 in bounds"
    ),
    _planted(
        ScatterPastTheEnd, 1, "scatter_dims_to_operand_dims=(0,), inserted ()", "input to output 2 in bounds"
    ),
    _planted(ScatterKeepsTheOperand, 1, "replaces, windows at (0,)", "output to input 0 sound"),
    _planted(
        ScatterOneIndex, 1, "scatter_dims_to_operand_dims=(0,), inserted ()", "output to input 1 complete"
    ),
    _planted(SortInPlace, 1, "dimension=0", "output to input complete"),
    _planted(TopKOfAll, 1, "any k", "input to output in bounds"),
    _planted(FibresBeforeOnly, 1, "shared=(0,), along=0", "output to input complete"),
    _planted(FibresWhole, 1, "shared=(0,)", "output to input sound"),
    _planted(AllGatherInterleaved, 1, "dimension=0", "output to input sound"),
    _planted(AllGatherOwn, 1, "dimension=0", "input to output complete"),
    _planted(ReduceScatterFirst, 1, "dimension=0", "output to input sound"),
    _planted(AllToAllStraight, 1, "dimension=0", "output to input sound"),
    _planted(ExchangeAll, 1, "2 replicas", "coverage"),
    _planted(SelectAndScatterTooFar, 1, "any window", "input to output 0 sound"),
    _planted(SelectAndScatterBackwards, 1, "any window", "output to input 1 sound"),
    _planted(ReduceWindowWithoutLow, 1, "size and padding only", "output to input 0 sound"),
    _planted(ReduceWindowTooNarrow, 1, "size and padding only", "output to input 0 complete"),
    _planted(
        ConvolutionUngrouped,
        2,
        "(0, 1), (0, 1) to (0, 1); reversed (); groups of features",
        "output to input 0 sound",
    ),
    _planted(
        ConvolutionInterleaved,
        2,
        "(0, 1), (0, 1) to (0, 1); reversed (); groups of batches",
        "output to input 0 sound",
    ),
    _planted(ReshapeColumnMajor, 2, "[f0·f1] to [f0, f1]", "output to input sound"),
    _planted(ReshapeWrongStride, 2, "[f0·f1] to [f0, f1]", "input to output sound"),
    _planted(RollByQuotient, 1, "any shift", "output to input defined", Status.UNDEFINED),
    _planted(RollByPlace, 1, "any shift", "input to output defined at points", Status.UNDEFINED),
    _planted(RollOfWholeTurns, 1, "any shift", "reads defined", Status.UNDEFINED),
    _planted(RollHalved, 1, "any shift", "sizes defined", Status.UNDEFINED),
]
