"""Perform each op with jax: the oracle that the ops are compared with."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from indexproof.core.op import Op
from indexproof.rules.ops.contraction import Dot
from indexproof.rules.ops.dynamic import DynamicSlice, DynamicUpdateSlice, Gather
from indexproof.rules.ops.folding import Reduce
from indexproof.rules.ops.movement import Broadcast, Concatenate, Pad, Reverse, Slice, Transpose
from indexproof.rules.ops.pointwise import Clamp, Compare, Constant, Convert, Copy, Elementwise, Iota, Rng, Select
from indexproof.rules.ops.reshape import Bitcast, Reshape
from indexproof.rules.ops.scatter import Scatter
from indexproof.rules.ops.sorting import Sort, TopK
from indexproof.rules.ops.window import Convolution, ReduceWindow, SelectAndScatter

lax = pytest.importorskip("jax").lax

#: HLO opcodes with another name in `jax.lax`.
NAMES = {"divide": "div", "exponential": "exp", "maximum": "max", "minimum": "min", "multiply": "mul"}
NAMES |= {"negate": "neg", "subtract": "sub"}


def perform(op: Op, *arrays: Any) -> Any:
    """Return the output of an op over these arrays, computed by ``jax.lax``."""
    return PERFORMED[type(op)](op, *arrays)


def broadcast(op: Broadcast, x: Any) -> Any:
    # lax requires increasing dimensions, HLO does not
    order = sorted(range(len(op.dimensions)), key=lambda k: op.dimensions[k])
    return lax.broadcast_in_dim(lax.transpose(x, order), op.sizes, [op.dimensions[k] for k in order])


def bitcast(op: Bitcast, x: Any) -> Any:
    physical = lax.transpose(x, tuple(reversed(op.source_layout)))
    cut = lax.reshape(physical, op._ordered(op.sizes, "target"))
    return lax.transpose(cut, op._logical(range(len(op.sizes)), "target"))


def vectors_last(op: Gather | Scatter, indices: Any) -> tuple[Any, tuple[int, ...]]:
    """Return the indices with vectors in the last dimension, as `jax.lax` requires, and their batching dimensions."""
    vector = op.index_vector_dim
    if vector == indices.ndim:
        indices = indices[..., None]
    order = [*(e for e in range(indices.ndim) if e != vector), vector]
    return lax.transpose(indices, order), tuple(e - (e > vector) for e in op._dims.indexed)


def gather(op: Gather, x: Any, indices: Any) -> Any:
    indices, batching = vectors_last(op, indices)
    numbers = lax.GatherDimensionNumbers(
        offset_dims=op.offset_dims,
        collapsed_slice_dims=op.collapsed_slice_dims,
        start_index_map=op.start_index_map,
        operand_batching_dims=op.operand_batching_dims,
        start_indices_batching_dims=batching,
    )
    return lax.gather(x, indices, numbers, op.slice_sizes, mode="clip")


def scatter(op: Scatter, operand: Any, indices: Any, updates: Any) -> Any:
    indices, batching = vectors_last(op, indices)
    numbers = lax.ScatterDimensionNumbers(
        update_window_dims=op.update_window_dims,
        inserted_window_dims=op.inserted_window_dims,
        scatter_dims_to_operand_dims=op.scatter_dims_to_operand_dims,
        operand_batching_dims=op.input_batching_dims,
        scatter_indices_batching_dims=batching,
    )
    by = lax.scatter if op.replaces else lax.scatter_add
    return by(operand, indices, updates, numbers, mode=lax.GatherScatterMode.FILL_OR_DROP)


def sort(op: Sort, *x: Any) -> Any:
    made = lax.sort(x, dimension=op.dimension, num_keys=1)
    return made[0] if op.count == 1 else made


def reduce(op: Reduce, *x: Any) -> Any:
    inputs, initial = x[: op.count], x[op.count :]
    return lax.reduce(inputs, initial, lambda a, b: tuple(map(lax.add, a, b)), op.dimensions)


def reduce_window(op: ReduceWindow, *x: Any) -> Any:
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


def select_and_scatter(op: SelectAndScatter, x: Any, source: Any, initial: Any) -> Any:
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


def convolution(op: Convolution, x: Any, y: Any) -> Any:
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


def dot(op: Dot, x: Any, y: Any) -> Any:
    numbers = ((op.lhs_contracting, op.rhs_contracting), (op.lhs_batch, op.rhs_batch))
    return lax.dot_general(x, y, numbers)


PERFORMED: dict[type[Op], Callable[..., Any]] = {
    Elementwise: lambda op, *x: getattr(lax, NAMES.get(op.function, op.function))(*x),
    Compare: lambda op, x, y: getattr(lax, op.direction.lower())(x, y),
    Select: lambda op, predicate, x, y: lax.select(predicate, x, y),
    Clamp: lambda op, low, x, high: lax.clamp(low, x, high),
    Convert: lambda op, x: lax.convert_element_type(x, {"f32": "float32"}[op.element_type]),
    Copy: lambda op, x: lax.convert_element_type(x, x.dtype),
    Constant: lambda op: lax.full(op.sizes, 1.0),
    Iota: lambda op: lax.broadcasted_iota("int32", op.sizes, op.dimension),
    Rng: lambda op, low, high: lax.rng_uniform(low, high, op.sizes),
    Transpose: lambda op, x: lax.transpose(x, op.permutation),
    Reverse: lambda op, x: lax.rev(x, op.dimensions),
    Broadcast: broadcast,
    Slice: lambda op, x: lax.slice(x, op.start, op.limit, op.stride),
    Concatenate: lambda op, *x: lax.concatenate(x, op.dimension),
    Pad: lambda op, x, value: lax.pad(x, value, list(zip(op.low, op.high, op.interior, strict=True))),
    Reshape: lambda op, x: lax.reshape(x, op.sizes),
    Bitcast: bitcast,
    # by default jax counts negative starts from the end, as numpy does
    DynamicSlice: lambda op, x, *at: lax.dynamic_slice(x, at, op.sizes, allow_negative_indices=False),
    DynamicUpdateSlice: lambda op, x, new, *at: lax.dynamic_update_slice(x, new, at, allow_negative_indices=False),
    Gather: gather,
    Scatter: scatter,
    Sort: sort,
    TopK: lambda op, x: lax.top_k(x, op.k),
    Reduce: reduce,
    ReduceWindow: reduce_window,
    SelectAndScatter: select_and_scatter,
    Convolution: convolution,
    Dot: dot,
}
