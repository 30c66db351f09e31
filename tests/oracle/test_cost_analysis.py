"""The bytes that XLA's cost analysis counts for single operations are those of the elements that we count."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from indexproof import module_maps
from indexproof.verify.access import utilization

jax = pytest.importorskip("jax")
jnp = jax.numpy


@pytest.mark.parametrize(("function", "shapes"), [
    (lambda x: x[::2, :10] * 2, [(10, 20)]),
    (lambda x: x[3:, 1:19:3], [(10, 20)]),
    (lambda x, y: x @ y, [(64, 32), (32, 16)]),
    (lambda x: jnp.broadcast_to(x[:, None], (8, 16)) + 1, [(8,)]),
    (lambda x, y: jnp.concatenate([x[:4], y]), [(8,), (8,)]),
    (lambda x: x.sum(0), [(32, 8)]),
    (lambda x: jax.lax.reduce_window(x, 0.0, jax.lax.add, (3,), (1,), "VALID"), [(32,)]),
    (lambda x: x.T[::-1], [(6, 4)]),
], ids=["strided slice", "slice", "dot", "broadcast", "concatenate", "reduce", "window", "reverse"])  # fmt: skip
def test_elements_read_are_the_bytes_that_xla_counts(function: Callable[..., Any], shapes: list[Any]) -> None:
    import indexproof.jax

    arrays = [jax.ShapeDtypeStruct(s, jnp.float32) for s in shapes]
    counted = jax.jit(function).lower(*arrays).compile().cost_analysis()
    module = indexproof.jax.module(function, *arrays)
    leaves = module_maps(module).computation(module.entry, "output_to_input").leaves
    read = [utilization(reads.maps, 1 << 20).distinct for reads in leaves.values()]
    # a fusion may take its operands in another order
    bytes_accessed = [counted[f"bytes accessed{k}{{}}"] for k in range(len(shapes))]
    assert sorted(4 * n for n in read if n is not None) == sorted(bytes_accessed)
