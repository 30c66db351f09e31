"""Pallas kernels: the interpreter for TPUs finds all refuted claims of random specifications; jax's kernels are right.

`python -m dev.enumeration pallas` compares more of them (with `PYTHONPATH=tests`).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

pytest.importorskip("jax")

import jax
import jax.numpy as jnp
from broken.pallas_calls import array
from jax.experimental.pallas.ops.gpu import attention, decode_attention, layer_norm, rms_norm, softmax
from jax.experimental.pallas.ops.gpu import paged_attention as gpu_paged_attention
from jax.experimental.pallas.ops.tpu import example_kernel, flash_attention, matmul
from jax.experimental.pallas.ops.tpu.megablox import gmm
from jax.experimental.pallas.ops.tpu.paged_attention import paged_attention
from jax.experimental.pallas.ops.tpu.ragged_paged_attention import ragged_paged_attention
from jax.experimental.pallas.ops.tpu.random import philox, threefry
from jax.experimental.pallas.ops.tpu.splash_attention import splash_attention_kernel, splash_attention_mask
from oracle.pallas_specs import compared_spec

import indexproof.pallas
from indexproof.verify.pallas import verify_pallas
from indexproof.verify.verdict import Status

#: Seeds that cover each kind of mistake that random specifications make.
SEEDS = (19, 23, 3, 6, 37)


def test_the_interpreter_agrees() -> None:
    found = [{*compared_spec(seed)} for seed in SEEDS]
    assert set().union(*found) == {"right", "in bounds", "written", "consecutive", "no race"}


# ------------------------------------------------------------------------------------------- the kernels of jax itself
def scalar(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return the gradient of the sum of the results."""
    return jax.grad(lambda *args: function(*args).sum().astype("float32"), argnums=(0, 1, 2))


def flash(q: Any, k: Any, v: Any) -> Any:
    return flash_attention.flash_attention(q, k, v, causal=True)


def splash(q: Any, k: Any, v: Any) -> Any:
    mask = splash_attention_mask.MultiHeadMask([splash_attention_mask.CausalMask((512, 512)) for _ in range(4)])
    return jax.vmap(splash_attention_kernel.make_splash_mha(mask=mask, head_shards=1, q_seq_shards=1))(q, k, v)


def grouped(a: Any, b: Any, sizes: Any) -> Any:
    return gmm(a, b, sizes, preferred_element_type=jnp.float32)


def grouped_grad(a: Any, b: Any, sizes: Any) -> Any:
    return jax.grad(lambda a, b: grouped(a, b, sizes).sum(), argnums=(0, 1))(a, b)


def mha(q: Any, k: Any, v: Any) -> Any:
    return attention.mha(q, k, v, segment_ids=None, causal=True)


def i32(*shape: int) -> Any:
    return array(*shape, dtype="int32")


def f16(*shape: int) -> Any:
    return array(*shape, dtype="float16")


HEADS = (array(2, 4, 512, 128, dtype="bfloat16"),) * 3
SIZES = np.array([100, 0, 200, 212], np.int32)
NORM = (array(4, 384, 192), array(192), array(192))
#: The number of calls, the function, its arguments.
OPS: dict[str, tuple[int, Callable[..., Any], tuple[Any, ...]]] = {
    "flash attention": (1, flash, HEADS),
    "flash attention, gradient": (3, scalar(flash), HEADS),
    "splash attention": (1, splash, HEADS),
    "splash attention, gradient": (3, scalar(splash), HEADS),
    "grouped matmul": (1, grouped, (array(512, 256), array(4, 256, 512), SIZES)),
    "grouped matmul, gradient": (3, grouped_grad, (array(512, 256), array(4, 256, 512), SIZES)),
    "matmul": (1, lambda a, b: matmul.matmul(a, b, block_shape=(256, 256)), (array(1024, 1024), array(1024, 1024))),
    "paged attention": (1, lambda *a: paged_attention(*a, pages_per_compute_block=4), (array(4, 8, 128), array(4,
        64, 16, 128), array(4, 64, 16, 128), i32(4), i32(4, 16))),
    "ragged paged attention": (1, lambda *a: ragged_paged_attention(*a, num_kv_pages_per_block=4,
        num_queries_per_block=32), (array(256, 8, 128, dtype="bfloat16"), array(64, 16, 8, 128, dtype="bfloat16"),
        *(i32(8), i32(8, 16), i32(9), i32(1)))),
    "threefry": (1, lambda k: threefry.threefry_2x32_count(k, (1024, 1024), (1024, 1024), (256, 256)), (array(2,
        dtype="uint32"),)),
    "philox": (1, lambda k: philox.philox_4x32_kernel(k, (1024, 1024), (1024, 1024), (256, 256)), (array(2,
        dtype="uint32"),)),
    "example": (1, example_kernel.double, (array(8, 128),)),
    "attention": (1, mha, (f16(2, 512, 4, 64),) * 3),
    "attention, gradient": (3, scalar(mha), (f16(2, 512, 4, 64),) * 3),
    "decoding, one head": (1, decode_attention.mqa, (f16(2, 16, 64), f16(2, 1024, 64), f16(2, 1024, 64))),
    "decoding, groups": (1, decode_attention.gqa, (f16(2, 16, 64), f16(2, 1024, 2, 64), f16(2, 1024, 2, 64))),
    "rms norm": (1, rms_norm.rms_norm, NORM),
    "rms norm, gradient": (3, scalar(rms_norm.rms_norm), NORM),
    "layer norm": (1, layer_norm.layer_norm, NORM),
    "layer norm, gradient": (3, scalar(layer_norm.layer_norm), NORM),
    "softmax": (1, softmax.softmax, (array(1024, 125),)),
    "paged attention on a GPU": (1, gpu_paged_attention.paged_attention, (f16(2, 8, 64), f16(2, 64, 16, 64), f16(2,
        64, 16, 64), i32(2, 16), i32(2))),
}  # fmt: skip
#: Kernels whose programs store to different elements of one block, which block maps cannot express.
OPEN = {"ln_backward_dw_db"}


def checked() -> Iterator[tuple[str, Status, float]]:
    for name, (count, function, args) in OPS.items():
        calls = indexproof.pallas.pallas_calls(function, *args)
        assert len(calls) == count, name
        for call in calls:
            start = time.process_time()
            verdict = verify_pallas(call).verdict
            yield call.name, verdict, time.process_time() - start


def test_the_kernels_of_jax_are_proved() -> None:
    found = list(checked())
    assert {name for name, verdict, _ in found if verdict is not Status.PROVED} == OPEN
    assert {verdict for _, verdict, _ in found} == {Status.PROVED, Status.UNDECIDED}
    assert sum(verdict is Status.PROVED for _, verdict, _ in found) >= 0.9 * len(found)
    assert max(seconds for *_, seconds in found) < 1
