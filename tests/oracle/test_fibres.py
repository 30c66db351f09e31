"""Ops that read whole fibres, against jax: all observed dependences are in the maps, and exact maps name no others.

A jax function computes the same as the instruction; one element of an operand is changed, and the output elements that
change depend on it. The last column tells whether the maps are exact.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from oracle.dependence import dependence

from indexproof.core.analysis import OpCatalogue
from indexproof.core.hlo import leaves, read_module
from indexproof.core.op import DIRECTIONS
from indexproof.rules.ops import OPCODES, op_reader, why_not
from indexproof.rules.ops.fibres import Fibres, Several

jax = pytest.importorskip("jax")
jnp, lax = jax.numpy, jax.lax

Function = Callable[..., Any]
ADD = """add {
  x = f32[3] parameter(0)
  c = f32[3] parameter(1)
  s = f32[3] add(x, c)
  ROOT t = (f32[3], f32[3]) tuple(s, s)
}"""


def normalized(x: Any, scale: Any, offset: Any) -> Any:
    mean, var = jnp.mean(x, (0, 1)), jnp.var(x, (0, 1))
    return (x - mean) / jnp.sqrt(var + 0.1) * scale + offset, mean, var


def applied(x: Any, scale: Any, offset: Any, mean: Any, var: Any) -> Any:
    return (x - mean) / jnp.sqrt(var + 0.1) * scale + offset


def gradient(x: Any, scale: Any, mean: Any, var: Any, made: Any) -> Any:
    n, inverse = x.shape[0] * x.shape[1], 1 / jnp.sqrt(var + 0.1)
    offset, products = made.sum((0, 1)), (made * (x - mean)).sum((0, 1))
    grad = scale * inverse / n * (n * made - offset - (x - mean) * inverse**2 * products)
    return grad, products * inverse, offset


def positive(a: Any) -> Any:
    """Return a positive definite matrix that depends on the lower triangle of ``a`` alone."""
    low = jnp.tril(a)
    return low + jnp.swapaxes(jnp.tril(a, -1), -1, -2) + 40 * jnp.eye(a.shape[-1])


def prefixes(x: Any, c: Any, reverse: bool = False) -> Any:
    last, sums = lax.scan(lambda s, row: (s + row, s + row), c, x, reverse=reverse)
    return sums, last


def grouped(x: Any, y: Any, _: Any) -> Any:
    return lax.ragged_dot(x, y, jnp.array([2, 1, 3], np.int32))


CASES: dict[str, tuple[str, Function, bool]] = {
    "batch-norm-training":
        ("(f32[2,3,4], f32[4], f32[4]) batch-norm-training(f32[2,3,4] a, f32[4] b, f32[4] c), epsilon=0.1, feature_index=2",
        normalized, True),
    "batch-norm-inference":
        ("f32[2,3,4] batch-norm-inference(f32[2,3,4] a, f32[4] b, f32[4] c, f32[4] d, f32[4] e), "
        "epsilon=0.1, feature_index=2", applied, True),
    "batch-norm-grad":
        ("(f32[2,3,4], f32[4], f32[4]) batch-norm-grad(f32[2,3,4] a, f32[4] b, f32[4] c, f32[4] d, f32[2,3,4] e), "
        "epsilon=0.1, feature_index=2", gradient, True),
    "bitcast-convert": ("s16[3,2] bitcast-convert(f32[3] a)", lambda a: lax.bitcast_convert_type(a, jnp.int16), True),
    "bitcast-convert to wider ones": ("s32[3] bitcast-convert(s16[3,2] a)",
        lambda a: lax.bitcast_convert_type(a.astype(jnp.int16), jnp.int32) % 977, True),
    "cholesky": ("f32[2,3,3] cholesky(f32[2,3,3] a), lower=true", lambda a: jnp.linalg.cholesky(positive(a)),
        False),
    "triangular-solve":
        ("f32[2,3,4] triangular-solve(f32[2,3,3] a, f32[2,3,4] b), left_side=true, lower=true, transpose_a=NO_TRANSPOSE",
        lambda a, b: lax.linalg.triangular_solve(a, b, left_side=True, lower=True), False),
    "triangular-solve from the right":
        ("f32[4,3] triangular-solve(f32[3,3] a, f32[4,3] b), left_side=false, lower=false, transpose_a=TRANSPOSE",
        lambda a, b: lax.linalg.triangular_solve(a, b, transpose_a=True), False),
    "fft": ("c64[3,4,5] fft(c64[3,4,5] a), fft_type=FFT, fft_length={4,5}", jnp.fft.fft2, True),
    "fft of reals": ("c64[3,5] fft(f32[3,8] a), fft_type=RFFT, fft_length={8}", jnp.fft.rfft, True),
    "fft to reals": ("f32[3,7] fft(c64[3,4] a), fft_type=IRFFT, fft_length={7}", lambda a: jnp.fft.irfft(a, 7),
        True),
    "ragged-dot":
        ("f32[6,5] ragged-dot(f32[6,4] a, f32[3,4,5] b, s32[3] c), lhs_contracting_dims={1}, rhs_contracting_dims={1}, "
        "lhs_ragged_dims={0}, rhs_group_dims={0}", grouped, False),
    "scan": ("(f32[4,3], f32[3]) scan(f32[4,3] a, f32[3] b), to_apply=add, dimensions={0}, num_carries=1", prefixes,
        False),
    "scan backwards":
        ("(f32[4,3], f32[3]) scan(f32[4,3] a, f32[3] b), to_apply=add, dimensions={0}, num_carries=1, is_reverse=true",
        lambda a, b: prefixes(a, b, True), False),
    "scaled-dot": ("f32[3,2] scaled-dot(f32[3,8] a, f32[8,2] b, f32[3,4] c, f32[4,2] d), lhs_contracting_dims={1}, "
        "rhs_contracting_dims={0}", lambda a, b, c, d: (a * jnp.repeat(c, 2, 1)) @ (b * jnp.repeat(d, 2, 0)), True),
    "scaled-dot, scales after operands":
        ("f32[3,2] scaled-dot(f32[3,8] a, f32[3,4] c, f32[8,2] b, f32[4,2] d), lhs_contracting_dims={1}, "
        "rhs_contracting_dims={0}", lambda a, c, b, d: (a * jnp.repeat(c, 2, 1)) @ (b * jnp.repeat(d, 2, 0)), True),
}  # fmt: skip


def differ(before: np.ndarray, after: np.ndarray) -> np.ndarray:
    """Return where values differ by more than rounding."""
    return ~np.isclose(before, after, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("name", CASES)
def test_dependence_is_what_the_maps_say(name: str) -> None:
    text, function, exact = CASES[name]
    module = read_module(f"{ADD}\nENTRY e {{ ROOT r = {text} }}")
    root, rng = module.entry.root, np.random.default_rng(0)
    sizes = [a.dims for a in root.operand_arrays]
    kind = np.complex64 if root.operand_arrays[0].element_type == "c64" else np.float32
    arrays = [np.array(rng.uniform(1, 3, x), dtype=kind) for x in sizes]
    catalogue = OpCatalogue(op_reader(module), why_not)
    tried = range(len(arrays) if name != "ragged-dot" else 2)
    found = dependence(jax.jit(function), [arrays], (3 if kind is np.float32 else 3 + 5j,), differ, tried)
    for direction in DIRECTIONS:
        maps = catalogue.maps(root, direction)
        assert exact is not any(reads.at_most for row in maps for reads in row)
        assert root.shape is not None
        assert len(maps) == len(list(leaves(root.shape)))
        for k in tried:
            for output in range(len(maps)):
                seen = found.get((output, k), set())
                said = set().union(*(m.relation() for m in maps[output][k].maps))
                said = said if direction == "output_to_input" else {(o, i) for i, o in said}
                assert seen <= said, (output, k)
                assert not exact or seen == said, (output, k)


def test_every_opcode_of_the_table_is_tried() -> None:
    elsewhere = {"dynamic-reshape", "ragged-all-to-all", "rng-bit-generator"}
    assert {name.split()[0].rstrip(",") for name in CASES} | elsewhere == {*Fibres.opcodes, *Several.opcodes}
    assert all(opcode in OPCODES for opcode in elsewhere)
