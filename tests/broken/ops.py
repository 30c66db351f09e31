"""Wrong op maps: the real ops with one method replaced."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from indexproof.core.condition import Condition
from indexproof.core.expr import Expr, ExprLike, lift
from indexproof.core.op import Case, Coordinates, Map, Op, Range, Sizes, op, quotient, symbols
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

from .planted import Planted, instance, mistaken

# A replaced method gets the arguments of the op's method: op, operand, coordinates, runtime values and sizes.
IN_PLACE = {"output_to_input": lambda op, k, o, *rest: Map(o)}
OUT_IN_PLACE = {"input_to_output": lambda op, k, i, *rest: Map(i)}


def op_(right: type[Op], rank: int, label: str, fails: str, says: str, **methods: Any) -> Planted:
    wrong = mistaken(right, says, methods)
    return Planted(wrong.__name__, instance(wrong, rank, label), fails, instance(right, rank, label))


def altered(right: type[Op], method: str, change: Callable[..., Map], operand: Any = None) -> dict[str, Any]:
    """Replace ``method`` by one whose map is changed by ``change``, for one operand or for all."""

    def changed(op: Op, k: int, v: Coordinates, rt: Coordinates, *x: Sizes) -> Map:
        m = getattr(right, method)(op, k, v, rt, *x)
        return change(op, m, v, x) if operand in (None, k) else m

    return {method: changed}


def instead(right: type[Op], method: str, **other: Callable[..., Any]) -> dict[str, Any]:
    """Replace ``method`` by the same method on an op with other attributes."""

    def changed(op: Op, k: int, v: Coordinates, rt: Coordinates, *x: Sizes) -> Map:
        return getattr(right, method)(
            replace(op, **{name: value(op, x) for name, value in other.items()}), k, v, rt, *x
        )

    return {method: changed}


def first(m: Map) -> Map:
    """Keep the first element of each fibre: set all ranges to zero."""
    return Map([e.substitute({q.index: 0 for q in m.ranges}) for e in m.results])


def _flipped(op: Any, v: Coordinates, x: Sizes) -> Map:
    return Map([n - a if d in op.dimensions else a for d, (a, n) in enumerate(zip(v, x, strict=True))])


def _once(op: Any, k: int, i: Coordinates, rt: Coordinates, x: Sizes) -> Map:
    at = op.dimensions
    return Map([i[at.index(d)] if d in at else lift(0) for d in range(len(op.sizes))])


def _earlier(op: Any, m: Map, o: Coordinates, x: Sequence[Sizes]) -> Map:
    pairs = zip(m.results, op.shared[0] or (), strict=True)
    return Map(m.results, [o[p] < e for e, p in pairs if p == op.along], m.ranges)


def _interleaved(op: Any, m: Map, o: Coordinates, x: Sequence[Sizes]) -> Map:
    outputs, _, _ = op._per_group(*x)
    batch, feature, *_ = (o[d] for d in op.out_dims)
    results = list(m.results)
    results[op.lhs_dims[0]] = batch * op.batch_groups + quotient(feature, outputs)
    return Map(results, m.where, m.ranges)


def _backwards(op: Any, k: int, *rest: Any) -> Map:
    moved = replace(op, window=tuple(replace(w, low=0, high=w.low + w.high) for w in op.window))
    return SelectAndScatter.output_to_input(moved if k == 1 else op, k, *rest)


# ---------------------------------------------------------------------------------------------------------------- rolls
@op
class RollRows(Op):
    """Output element o is input element (o + shift) mod n, as numpy's roll by -shift has it.

    An array may be empty: then the divisor n is zero, but there are no elements to compute.
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
    """Divides the shift by itself, which may be zero."""

    def output_to_input(self, k: int, o: Coordinates, rt: Coordinates, x: Sizes) -> Map:
        return Map(self._turned(o, x, lift(self.shift) // lift(self.shift) * self.shift))


@op
class RollByPlace(RollRows):
    """Divides by the coordinate, which may be zero."""

    def input_to_output(self, k: int, i: Coordinates, rt: Coordinates, x: Sizes) -> Map:
        return Map([a // a * e for a, e in zip(i, self._turned(i, x, -lift(self.shift)), strict=True)])


@op
class RollOfWholeTurns(RollRows):
    """Relates elements that are congruent modulo the shift, which may be zero."""

    def reads(self, k: int, o: Coordinates, i: Coordinates, rt: Coordinates, x: Sizes) -> list[Condition]:
        return [(a % lift(self.shift)).eq(b % lift(self.shift)) for a, b in zip(o, i, strict=True)]


@op
class RollHalved(RollRows):
    """Declares an output size that is a quotient by the shift."""

    def shape(self, x: Sizes) -> list[Expr]:
        return [lift(n) // lift(self.shift) * self.shift for n in x]


def _undefined(wrong: type[Op], fails: str) -> Planted:
    case, twin = instance(wrong, 1, "any shift"), instance(RollRows, 1, "any shift")
    return Planted(wrong.__name__, case, fails, twin, Status.UNDEFINED)


O2I, I2O = "output_to_input", "input_to_output"
CUT, SPLIT = "start, limit, stride", "[f0·f1] to [f0, f1]"
CONTRACTED = "batch (), (); contracting (0,), (1,)"
INDEXED, SCATTERED = "start_index_map=(0,), collapsed ()", "scatter_dims_to_operand_dims=(0,), inserted ()"
CONVOLVED = "(0, 1), (0, 1) to (0, 1); reversed (); groups of "

BROKEN: Sequence[Planted] = [
    # ---- movement
    op_(Transpose, 3, "permutation=(1, 2, 0)", "output to input sound", "applies the inverse permutation",
        output_to_input=lambda op, k, o, rt, x: Map([o[p] for p in op.permutation])),
    op_(Transpose, 2, "permutation=(1, 0)", "input to output sound", "leaves coordinates in place", **OUT_IN_PLACE),
    op_(Reverse, 1, "dimensions=(0,)", "output to input in bounds", "counts from the size, not from the last element",
        output_to_input=lambda op, k, o, rt, x: _flipped(op, o, x)),
    op_(Broadcast, 2, "dimensions=(1, 0)", "output to input sound", "takes the dimensions in increasing order",
        output_to_input=lambda op, k, o, rt, x: Map([o[d] for d in sorted(op.dimensions)])),
    op_(Broadcast, 2, "dimensions=(1,)", "input to output complete", "writes only the first of the repeated elements",
        input_to_output=_once),
    op_(Slice, 1, CUT, "output to input sound", "reads from the beginning",
        output_to_input=lambda op, k, o, rt, x: Map([a * s for a, s in zip(o, op.stride, strict=True)])),
    op_(Slice, 1, CUT, "input to output in bounds", "sends elements beyond the limit to the output",
        **instead(Slice, I2O, limit=lambda op, x: tuple(x[0]))),
    op_(Slice, 1, CUT, "input to output sound", "sends elements between the steps to the output",
        **altered(Slice, I2O, lambda op, m, v, x: Map(m.results, m.where[::2]))),
    op_(Concatenate, 1, "dimension=0, 2 operands", "input to output 1 sound", "writes every operand to the front",
        **OUT_IN_PLACE),
    op_(Concatenate, 1, "dimension=0, 2 operands", "output to input 1 sound", "takes all operands to be as long as one",
        output_to_input=lambda op, k, o, rt, *x: Concatenate.output_to_input(op, k, o, rt, *[x[k]] * op.count)),
    op_(Pad, 1, "low, high, interior", "output to input 0 sound", "reads an element for every position between two",
        **altered(Pad, O2I, lambda op, m, v, x: Map(m.results, m.where[::2]), 0)),
    op_(Pad, 1, "low, high, interior", "input to output 0 in bounds", "writes cropped elements outside the output",
        **altered(Pad, I2O, lambda op, m, v, x: Map(m.results), 0)),
    op_(Pad, 1, "no interior", "coverage", "reads the padding value for every element",
        **altered(Pad, O2I, lambda op, m, v, x: Map([]), 1)),
    # ---- folding and contraction
    op_(Reduce, 2, "dimensions=(0,)", "output to input 0 sound", "folds the dimensions counted from the end",
        **instead(Reduce, O2I, dimensions=lambda op, x: tuple(len(x[0]) - 1 - d for d in op.dimensions))),
    op_(Reduce, 1, "dimensions=(0,)", "output to input 0 complete", "reads the first element of every fibre",
        **altered(Reduce, O2I, lambda op, m, v, x: first(m))),
    op_(Dot, 2, CONTRACTED, "input to output 1 sound", "places the contracting dimension of operand 1 in the output",
        **altered(Dot, I2O, lambda op, m, i, x: Map([Range(op.shape(*x)[0]), i[op.rhs_contracting[0]]]), 1)),
    op_(Dot, 2, CONTRACTED, "output to input 0 sound", "takes a free dimension of operand 0 for the contracting one",
        **altered(Dot, O2I, lambda op, m, o, x: Map(o), 0)),
    # ---- dynamic
    op_(DynamicSlice, 1, "any window", "output to input 0 in bounds", "starts anywhere, however large the window",
        runtime=lambda op, o, *x: [
            replace(r, hi=lift(n)) for r, n in zip(DynamicSlice.runtime(op, o, *x), x[0], strict=True)
        ]),
    op_(DynamicSlice, 1, "any window", "input to output 0 in bounds", "sends every element of the operand to the output",
        **altered(DynamicSlice, I2O, lambda op, m, v, x: Map(m.results), 0)),
    op_(DynamicUpdateSlice, 1, "any update", "output to input 0 sound", "reads the source where it is replaced",
        **altered(DynamicUpdateSlice, O2I, lambda op, m, o, x: Map(o), 0)),
    op_(DynamicUpdateSlice, 1, "any update", "coverage", "takes one element more than the update has",
        **altered(DynamicUpdateSlice, O2I, lambda op, m, o, x: Map(
            m.results, [b.within(0, n) for b, n in zip(m.results, x[1], strict=True)]), 1)),
    op_(DynamicUpdateSlice, 1, "any update", "input to output 1 sound", "writes the update to the front",
        **altered(DynamicUpdateSlice, I2O, lambda op, m, i, x: Map(i), 1)),
    op_(Gather, 1, INDEXED, "output to input 0 sound", "forgets to add the start index",
        output_to_input=lambda op, k, o, rt, *x: Gather.output_to_input(op, k, o, [lift(0)] * len(rt), *x)),
    op_(Gather, 1, INDEXED, "input to output 0 in bounds", "sends elements outside the window to the output",
        **altered(Gather, I2O, lambda op, m, v, x: Map(m.results, ranges=m.ranges), 0)),
    # ---- scatter and sorting
    op_(Scatter, 1, SCATTERED, "input to output 2 in bounds", "lets windows land at the edge, as a gather does",
        _inside=lambda op, rt, x: []),
    op_(Scatter, 1, SCATTERED, "input to output 2 in bounds", "takes a window for inside that begins one place too far",
        **altered(Scatter, I2O, lambda op, m, v, x: Map(m.results), 2)),
    op_(Scatter, 1, "replaces, windows at (0,)", "output to input 0 sound", "reads the operand where it is replaced",
        **altered(Scatter, O2I, lambda op, m, o, x: Map(o), 0)),
    op_(Scatter, 1, SCATTERED, "output to input 1 complete", "reads only the first index vector",
        **altered(Scatter, O2I, lambda op, m, v, x: first(m), 1)),
    op_(Sort, 1, "dimension=0", "output to input complete", "leaves every element where it is", **IN_PLACE),
    op_(TopK, 1, "any k", "input to output in bounds", "sends elements to places beyond the k-th",
        input_to_output=lambda op, k, i, rt, x: Map(
            [Range(x[d]) if d == op.dimension else a for d, a in enumerate(i)])),
    op_(Fibres, 1, "shared=(0,), along=0", "output to input complete", "leaves out the element's own place in the order",
        **altered(Fibres, O2I, _earlier)),
    op_(Fibres, 1, "shared=(0,)", "output to input sound", "reads a dimension whole that is shared",
        output_to_input=lambda op, k, o, rt, *x: Map([Range(n) for n in x[k]])),
    # ---- collectives
    op_(AllGather, 1, "dimension=0", "output to input sound", "takes the elements of the replicas in turn",
        output_to_input=lambda op, k, o, rt, x: Map(op._along(o, o[op.dimension] // op.group))),
    op_(AllGather, 1, "dimension=0", "input to output complete", "sends every element to the first piece", **OUT_IN_PLACE),
    op_(ReduceScatter, 1, "dimension=0", "output to input sound", "keeps the first piece on every replica", **IN_PLACE),
    op_(AllToAll, 1, "dimension=0", "output to input sound", "sends every piece back to its sender", **IN_PLACE),
    op_(Exchange, 1, "2 replicas", "coverage", "reads every operand, not the one for this replica", **IN_PLACE),
    # ---- windows
    op_(SelectAndScatter, 1, "any window", "input to output 0 sound", "lets elements of different windows compete",
        **altered(SelectAndScatter, I2O, lambda op, m, v, x: Map(m.results, m.where[1:], m.ranges), 0)),
    op_(SelectAndScatter, 1, "any window", "output to input 1 sound", "forgets the padding in front of an element's window",
        output_to_input=_backwards),
    op_(ReduceWindow, 1, "size and padding only", "output to input 0 sound", "forgets the padding at the low end",
        **instead(ReduceWindow, O2I, window=lambda op, x: tuple(replace(w, low=0) for w in op.window))),
    op_(ReduceWindow, 1, "size and padding only", "output to input 0 complete", "misses the last element of every window",
        **instead(ReduceWindow, O2I, window=lambda op, x: tuple(
            replace(w, size=lift(w.size) - 1) for w in op.window))),
    op_(Convolution, 2, CONVOLVED + "features", "output to input 0 sound", "reads the first group for every feature",
        **instead(Convolution, O2I, feature_groups=lambda op, x: 1)),
    op_(Convolution, 2, CONVOLVED + "batches", "output to input 0 sound", "interleaves groups one after the other",
        **altered(Convolution, O2I, _interleaved, 0)),
    # ---- reshape
    op_(Reshape, 2, SPLIT, "output to input sound", "lets the first dimension vary fastest",
        output_to_input=lambda op, k, o, rt, x: Map([o[1] * op.sizes[0] + o[0]])),
    op_(Reshape, 2, SPLIT, "input to output sound", "steps by the size of the first dimension",
        input_to_output=lambda op, k, i, rt, x: Map([i[0] // op.sizes[0], i[0] % op.sizes[0]])),
    # ---- rolls
    _undefined(RollByQuotient, "output to input defined"),
    _undefined(RollByPlace, "input to output defined at points"),
    _undefined(RollOfWholeTurns, "reads defined"),
    _undefined(RollHalved, "sizes defined"),
]  # fmt: skip
