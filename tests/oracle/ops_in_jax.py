"""What jax computes for each op: the oracle that the ops are compared with."""

from __future__ import annotations

from functools import singledispatch
from typing import Any

import pytest

from indexproof.core.expr import lift
from indexproof.core.op import Op
from indexproof.rules.ops.contraction import Dot
from indexproof.rules.ops.dynamic import DynamicSlice, DynamicUpdateSlice, Gather
from indexproof.rules.ops.folding import Reduce
from indexproof.rules.ops.movement import Broadcast, Concatenate, Pad, Reverse, Slice, Transpose
from indexproof.rules.ops.pointwise import (
    Clamp,
    Compare,
    Constant,
    Convert,
    Copy,
    Elementwise,
    Iota,
    Rng,
    Select,
)
from indexproof.rules.ops.reshape import Bitcast, BitcastConvert, Reshape
from indexproof.rules.ops.scatter import Scatter
from indexproof.rules.ops.sorting import Sort, TopK
from indexproof.rules.ops.window import Convolution, ReduceWindow, SelectAndScatter

lax = pytest.importorskip("jax").lax

#: HLO opcodes that `jax.lax` calls otherwise.
NAMES = {
    "divide": "div",
    "exponential": "exp",
    "maximum": "max",
    "minimum": "min",
    "multiply": "mul",
    "negate": "neg",
    "subtract": "sub",
}


@singledispatch
def perform(op: Op, *arrays: Any) -> Any:
    """The output of an op over these arrays, by ``jax.lax``."""
    raise NotImplementedError(f"{op.name} has no counterpart in jax.lax")


@perform.register
def _(op: Elementwise, *x: Any) -> Any:
    return getattr(lax, NAMES.get(op.function, op.function))(*x)


@perform.register
def _(op: Compare, x: Any, y: Any) -> Any:
    return getattr(lax, op.direction.lower())(x, y)


@perform.register
def _(op: Select, predicate: Any, x: Any, y: Any) -> Any:
    return lax.select(predicate, x, y)


@perform.register
def _(op: Clamp, low: Any, x: Any, high: Any) -> Any:
    return lax.clamp(low, x, high)


@perform.register
def _(op: Convert, x: Any) -> Any:
    assert op.element_type == "f32"
    return lax.convert_element_type(x, "float32")


@perform.register
def _(op: Copy, x: Any) -> Any:
    return lax.convert_element_type(x, x.dtype)


@perform.register
def _(op: Constant) -> Any:
    return lax.full(op.sizes, 1.0)


@perform.register
def _(op: Iota) -> Any:
    return lax.broadcasted_iota("int32", op.sizes, op.dimension)


@perform.register
def _(op: Rng, low: Any, high: Any) -> Any:
    return lax.rng_uniform(low, high, op.sizes)


@perform.register
def _(op: Transpose, x: Any) -> Any:
    return lax.transpose(x, op.permutation)


@perform.register
def _(op: Reverse, x: Any) -> Any:
    return lax.rev(x, op.dimensions)


@perform.register
def _(op: Broadcast, x: Any) -> Any:
    # lax wants increasing dimensions, HLO does not
    order = sorted(range(len(op.dimensions)), key=lambda k: op.dimensions[k])
    return lax.broadcast_in_dim(lax.transpose(x, order), op.sizes, [op.dimensions[k] for k in order])


@perform.register
def _(op: Slice, x: Any) -> Any:
    return lax.slice(x, op.start, op.limit, op.stride)


@perform.register
def _(op: Concatenate, *x: Any) -> Any:
    return lax.concatenate(x, op.dimension)


@perform.register
def _(op: Pad, x: Any, value: Any) -> Any:
    return lax.pad(x, value, list(zip(op.low, op.high, op.interior, strict=True)))


@perform.register
def _(op: Reshape, x: Any) -> Any:
    return lax.reshape(x, op.sizes)


@perform.register
def _(op: Bitcast, x: Any) -> Any:
    physical = lax.transpose(x, tuple(reversed(op.source_layout)))
    cut = lax.reshape(physical, op._ordered(op.sizes, "target"))
    return lax.transpose(cut, op._logical(range(len(op.sizes)), "target"))


@perform.register
def _(op: BitcastConvert, x: Any) -> Any:
    # the tests' arrays are of 32 bits when they are narrowed, and come to have 32 when they are widened
    narrower = {2: "int16", 4: "int8"}
    wanted = narrower[int(lift(op.ratio).evaluate({}))] if op.change == "narrower" else "int32"
    return lax.bitcast_convert_type(x, wanted)


@perform.register
def _(op: DynamicSlice, x: Any, *start: Any) -> Any:
    # jax on its own would count negative starts from the end, as numpy does
    return lax.dynamic_slice(x, start, op.sizes, allow_negative_indices=False)


@perform.register
def _(op: DynamicUpdateSlice, x: Any, update: Any, *start: Any) -> Any:
    return lax.dynamic_update_slice(x, update, start, allow_negative_indices=False)


def vectors_last(op: Gather | Scatter, indices: Any) -> tuple[Any, tuple[int, ...]]:
    """The indices as `jax.lax` wants them, vectors in the last dimension, and their batching dimensions."""
    vector = op.index_vector_dim
    if vector == indices.ndim:
        indices = indices[..., None]
    order = [*(e for e in range(indices.ndim) if e != vector), vector]
    return lax.transpose(indices, order), tuple(e - (e > vector) for e in op._role(4))


@perform.register
def _(op: Gather, x: Any, indices: Any) -> Any:
    indices, batching = vectors_last(op, indices)
    numbers = lax.GatherDimensionNumbers(
        offset_dims=op.offset_dims,
        collapsed_slice_dims=op.collapsed_slice_dims,
        start_index_map=op.start_index_map,
        operand_batching_dims=op.operand_batching_dims,
        start_indices_batching_dims=batching,
    )
    return lax.gather(x, indices, numbers, op.slice_sizes, mode="clip")


@perform.register
def _(op: Scatter, *x: Any) -> Any:
    operand, indices, updates = x
    indices, batching = vectors_last(op, indices)
    numbers = lax.ScatterDimensionNumbers(
        update_window_dims=op.update_window_dims,
        inserted_window_dims=op.inserted_window_dims,
        scatter_dims_to_operand_dims=op.scatter_dims_to_operand_dims,
        operand_batching_dims=op.input_batching_dims,
        scatter_indices_batching_dims=batching,
    )
    scatter = lax.scatter if op.replaces else lax.scatter_add
    return scatter(operand, indices, updates, numbers, mode=lax.GatherScatterMode.FILL_OR_DROP)


@perform.register
def _(op: Sort, *x: Any) -> Any:
    made = lax.sort(x, dimension=op.dimension, num_keys=1)
    return made[0] if op.count == 1 else made


@perform.register
def _(op: TopK, x: Any) -> Any:
    return lax.top_k(x, op.k)


@perform.register
def _(op: Reduce, *x: Any) -> Any:
    inputs, initial = x[: op.count], x[op.count :]
    return lax.reduce(inputs, initial, lambda a, b: tuple(map(lax.add, a, b)), op.dimensions)


@perform.register
def _(op: ReduceWindow, *x: Any) -> Any:
    window = op.window
    inputs, initial = x[: op.count], x[op.count :]
    return lax.reduce_window(
        inputs,
        initial,
        lambda a, b: tuple(map(lax.add, a, b)),
        tuple(w.size for w in window),
        tuple(w.stride for w in window),
        tuple((w.low, w.high) for w in window),
        tuple(w.base_dilation for w in window),
        tuple(w.window_dilation for w in window),
    )


@perform.register
def _(op: SelectAndScatter, x: Any, source: Any, initial: Any) -> Any:
    window = op.window
    scattered = lax.select_and_scatter_add_p.bind(
        source,
        x,
        select_prim=lax.ge_p,
        window_dimensions=tuple(w.size for w in window),
        window_strides=tuple(w.stride for w in window),
        padding=tuple((w.low, w.high) for w in window),
    )
    return scattered + initial


@perform.register
def _(op: Convolution, x: Any, y: Any) -> Any:
    window = op.window
    # lax has no reversal: reverse the kernel
    y = lax.rev(y, [d for w, d in zip(window, op.rhs_dims[2:], strict=True) if w.reversed])
    return lax.conv_general_dilated(
        x,
        y,
        [w.stride for w in window],
        [(w.low, w.high) for w in window],
        [w.base_dilation for w in window],
        [w.window_dilation for w in window],
        lax.ConvDimensionNumbers(op.lhs_dims, op.rhs_dims, op.out_dims),
        op.feature_groups,
        op.batch_groups,
    )


@perform.register
def _(op: Dot, x: Any, y: Any) -> Any:
    numbers = ((op.lhs_contracting, op.rhs_contracting), (op.lhs_batch, op.rhs_batch))
    return lax.dot_general(x, y, numbers)
