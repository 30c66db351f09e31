"""Kernels with a wrong grid, block or index map, each with a correct twin."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import jax
import jax.numpy as jnp
from jax import export
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu

__all__ = ["MISTAKES", "SIZED", "Mistake", "array", "copied", "matmul", "sized", "sparse", "symbolic"]


def array(*shape: int, dtype: str = "float32") -> Any:
    """Return an example argument."""
    return jax.ShapeDtypeStruct(shape, dtype)


def symbolic(*shapes: str, constraints: tuple[str, ...] = ()) -> tuple[Any, ...]:
    """Return example arguments of symbolic sizes."""
    scope = export.SymbolicScope(constraints)
    return tuple(array(*export.symbolic_shape(s, scope=scope)) for s in shapes)


def copied(
    size: tuple[int, ...],
    block: Any,
    source: Any,
    target: Any,
    grid: tuple[int, ...],
    semantics: str = "",
    out: tuple[int, ...] | None = None,
    out_block: Any = None,
    specs: Any = None,
    **options: Any,
) -> Callable[..., Any]:
    """Return a function that copies blocks from one array to another by the index maps ``source`` and ``target``.

    ``semantics`` has one letter for each axis of the grid: ``p`` for parallel, ``a`` for arbitrary.
    """

    def kernel(x_ref: Any, o_ref: Any) -> None:
        o_ref[...] = jnp.zeros_like(o_ref) + x_ref[...].sum()

    words = {"p": "parallel", "a": "arbitrary"}
    if semantics:
        options["compiler_params"] = pltpu.CompilerParams(dimension_semantics=tuple(words[s] for s in semantics))
    return pl.pallas_call(
        kernel,
        grid=grid,
        in_specs=[specs[0] if specs else pl.BlockSpec(block, source)],
        out_specs=specs[1] if specs else pl.BlockSpec(block if out_block is None else out_block, target),
        out_shape=array(*(out or size)),
        **options,
    )


def sized(
    grid: Any = lambda n: (pl.cdiv(n, 8),),
    source: Any = lambda i, n: (i, 0),
    target: Any = lambda i, n: (i, 0),
    block: Any = (8, 128),
    **options: Any,
) -> Callable[..., Any]:
    """Return a function that copies blocks of an array of n × 128; grid and index maps may depend on n."""

    def run(x: Any) -> Any:
        n = x.shape[0]
        maps = [lambda *at: source(*at, n), lambda *at: target(*at, n)]
        return copied(x.shape, block, *maps, grid(n), **options)(x)

    return run


def matmul(order: str = "ijk", semantics: str = "ppa") -> Callable[..., Any]:
    """Return a matrix product in blocks of 128 × 128; ``order`` names the axes of the grid."""

    def at(*wanted: str) -> Callable[..., Any]:
        return lambda *point: tuple(point[order.index(w)] for w in wanted)

    def kernel(x_ref: Any, y_ref: Any, o_ref: Any) -> None:
        @pl.when(pl.program_id(order.index("k")) == 0)
        def _() -> None:
            o_ref[...] = jnp.zeros_like(o_ref)

        o_ref[...] += x_ref[...] @ y_ref[...]

    words = {"p": "parallel", "a": "arbitrary"}

    def run(x: Any, y: Any) -> Any:
        sizes = dict(zip("ikj", (*x.shape, y.shape[1]), strict=True))
        return pl.pallas_call(
            kernel,
            grid=tuple(pl.cdiv(sizes[a], 128) for a in order),
            in_specs=[pl.BlockSpec((128, 128), at("i", "k")), pl.BlockSpec((128, 128), at("k", "j"))],
            out_specs=pl.BlockSpec((128, 128), at("i", "j")),
            out_shape=array(sizes["i"], sizes["j"]),
            compiler_params=pltpu.CompilerParams(dimension_semantics=tuple(words[s] for s in semantics)),
        )(x, y)

    return run


def attention(kv: Any) -> Callable[..., Any]:
    """Return flash attention for 2 heads and 4 × 4 blocks; ``kv`` gives the block of keys and values."""

    def kernel(q_ref: Any, k_ref: Any, v_ref: Any, o_ref: Any, m_ref: Any) -> None:
        o_ref[...] = q_ref[...] + k_ref[...] + v_ref[...]

    q = pl.BlockSpec((None, 128, 64), lambda h, i, j: (h, i, 0))
    both = pl.BlockSpec((None, 128, 64), lambda h, i, j: (h, kv(i, j), 0))
    return pl.pallas_call(
        kernel,
        grid=(2, 4, 4),
        in_specs=[q, both, both],
        out_specs=q,
        out_shape=array(2, 512, 64),
        scratch_shapes=[pltpu.VMEM((128, 1), jnp.float32)],
        compiler_params=pltpu.CompilerParams(dimension_semantics=("parallel", "parallel", "arbitrary")),
    )


def sparse(index: Any = lambda i, j, table: (table[i, j], 0), target: Any = lambda i, j, table: (i, 0)) -> Any:
    """Return a kernel on blocks that a table of 4 × 3 indices selects; it writes 4 blocks."""

    def kernel(table: Any, x_ref: Any, o_ref: Any) -> None:
        o_ref[...] = x_ref[...]

    spec = pltpu.PrefetchScalarGridSpec(
        num_scalar_prefetch=1,
        grid=(4, 3),
        in_specs=[pl.BlockSpec((8, 128), index)],
        out_specs=pl.BlockSpec((8, 128), target),
    )
    return pl.pallas_call(kernel, grid_spec=spec, out_shape=array(32, 128))


def in_place(source: Any, semantics: str = "", grid: tuple[int, ...] = (4,)) -> Callable[..., Any]:
    """Return a kernel that writes block i of its aliased input in iteration i."""
    return copied((32, 128), (8, 128), source, lambda i: (i, 0), grid, semantics, input_output_aliases={0: 0})


def silent(x: Any, store: bool) -> Any:
    """Call a kernel that does not write its second output unless ``store``."""

    def kernel(x_ref: Any, a_ref: Any, b_ref: Any) -> None:
        a_ref[...] = x_ref[...]
        if store:
            b_ref[...] = x_ref[...]

    return pl.pallas_call(kernel, out_shape=[x, x])(x)


@dataclass(frozen=True)
class Mistake:
    """``wrong`` is refuted only by the claim of kind ``fails`` about the operand; ``right`` is proved."""

    name: str
    wrong: Callable[..., Any]
    right: Callable[..., Any]
    args: tuple[Any, ...]
    operand: str
    fails: str
    ranges: dict[str, tuple[int, int]] = field(default_factory=dict)


X = array(32, 128)


def _row(i: Any) -> Any:
    return (i, 0)


def _copy(**changes: Any) -> Callable[..., Any]:
    return copied(**{"size": (32, 128), "block": (8, 128), "source": _row, "target": _row, "grid": (4,), **changes})


MISTAKES = [
    Mistake("one too far", _copy(source=lambda i: (i + 1, 0)), _copy(), (X,), "x_ref", "in bounds"),
    Mistake("below zero", _copy(source=lambda i: (i - 1, 0)), _copy(), (X,), "x_ref", "in bounds"),
    Mistake("element index of a block", _copy(source=lambda i: (i * 8, 0)), _copy(source=lambda i: (i * 8, 0),
        block=(pl.Element(8), 128), out_block=(8, 128)), (X,), "x_ref", "in bounds"),
    Mistake("halo without padding", _copy(source=lambda i: (i * 8, 0), block=(pl.Element(10), 128), out_block=(8,
        128)), _copy(source=lambda i: (i * 8, 0), block=(pl.Element(10, (1, 1)), 128), out_block=(8, 128)), (X,),
        "x_ref", "in bounds"),
    Mistake("grid rounded up twice", _copy(size=(30, 128), grid=(5,), target=lambda i: (jnp.minimum(i, 3), 0)),
        _copy(size=(30, 128)), (array(30, 128),), "x_ref", "in bounds"),
    Mistake("grid rounded down", _copy(size=(30, 128), grid=(3,)), _copy(size=(30, 128)), (array(30, 128),),
        "o_ref", "written"),
    Mistake("always the first", _copy(target=lambda i: (0, 0)), _copy(), (X,), "o_ref", "written"),
    Mistake("transposed blocks of an array that is no square", copied((64, 32), (16, 16), lambda i, j: (i, j),
        lambda i, j: (j, i), (4, 2), out=(32, 32)), copied((64, 32), (16, 16), lambda i, j: (i, j), lambda i, j: (j,
        i), (4, 2), out=(32, 64)), (array(64, 32),), "o_ref", "in bounds"),
    Mistake("reduction outside", matmul("kij", "aaa"), matmul("ijk", "aaa"), (array(256, 384), array(384, 512)),
        "o_ref", "consecutive"),
    Mistake("parallel reduction", matmul("ijk", "ppp"), matmul("ijk", "ppa"), (array(256, 384), array(384, 512)),
        "o_ref", "no race"),
    Mistake("alternating blocks", copied((16, 128), (8, 128), lambda i: (i % 2, 0), lambda i: (i % 2, 0), (4,)),
        copied((16, 128), (8, 128), lambda i: (i // 2, 0), lambda i: (i // 2, 0), (4,)), (array(16, 128),), "o_ref",
        "consecutive"),
    Mistake("keys of the last block after the diagonal", attention(lambda i, j: jnp.where(j > i, j + 1, j)),
        attention(lambda i, j: jnp.where(j > i, 0, j)), (array(2, 512, 64),) * 3, "k_ref", "in bounds"),
    Mistake("reads what is overwritten", in_place(lambda i: (jnp.maximum(i - 1, 0), 0)), in_place(_row), (X,),
        "o_ref", "alias"),
    Mistake("reads what another overwrites", in_place(lambda i: (3 - i, 0), "p"), in_place(_row, "p"), (X,),
        "o_ref", "alias race"),
    Mistake("a value beyond the blocks", sparse(), sparse(), (array(4, 3, dtype="int32"), array(64, 128)), "x_ref",
        "in bounds", {"table": (0, 8)}),
    Mistake("an element beyond the table", sparse(lambda i, j, table: (table[i, j + 1], 0)), sparse(), (array(4, 3,
        dtype="int32"), array(64, 128)), "x_ref", "table", {"table": (0, 7)}),
    Mistake("an output that is forgotten", lambda x: silent(x, False), lambda x: silent(x, True), (X,), "b_ref",
        "stored"),
    Mistake("overlapping outputs", _copy(target=lambda i: (i * 7, 0), out_block=(pl.Element(8), 128), size=(32,
        128), out=(29, 128)), _copy(target=lambda i: (i * 8, 0), out_block=(pl.Element(8), 128)), (X,), "o_ref",
        "consecutive"),
]  # fmt: skip

_ALIAS: dict[str, Any] = {"input_output_aliases": {0: 0}}
_N = symbolic("n,128")
#: Mistakes at concrete sizes in calls of symbolic sizes.
SIZED = [
    Mistake("a block too many where n is a multiple", sized(lambda n: (n // 8 + 1,)), sized(), _N, "o_ref", "in bounds"),
    Mistake("grid rounded down", sized(lambda n: (n // 8,)), sized(), _N, "o_ref", "written"),
    Mistake("clamped one too low", sized(lambda n: (pl.cdiv(n, 8) + 1,), lambda i, n: (0, 0), lambda i, n: (jnp.maximum(i
        - 2, 0), 0)), sized(lambda n: (pl.cdiv(n, 8) + 1,), lambda i, n: (0, 0), lambda i, n: (jnp.maximum(i - 1, 0),
        0)), _N, "o_ref", "written"),
    Mistake("backwards and rounded down", sized(source=lambda i, n: (n // 8 - 1 - i, 0)), sized(source=lambda i, n:
        (pl.cdiv(n, 8) - 1 - i, 0)), _N, "x_ref", "in bounds"),
    Mistake("wraps one too late", sized(source=lambda i, n: ((i + 1) % (pl.cdiv(n, 8) + 1), 0)), sized(source=lambda i, n:
        ((i + 1) % pl.cdiv(n, 8), 0), target=lambda i, n: ((i + 1) % pl.cdiv(n, 8), 0)), _N, "x_ref", "in bounds"),
    Mistake("halo without padding", sized(lambda n: (n // 8,), lambda i, n: (i * 8, 0), block=(pl.Element(10), 128),
        out_block=(8, 128)), sized(lambda n: (n // 8,), lambda i, n: (i * 8, 0), block=(pl.Element(10, (1, 1)), 128),
        out_block=(8, 128)), symbolic("n,128", constraints=("mod(n, 8) == 0",)), "x_ref", "in bounds"),
    Mistake("reduction outside", matmul("kij", "aaa"), matmul("ijk", "aaa"), symbolic("m,k", "k,n"), "o_ref",
        "consecutive"),
    Mistake("parallel reduction", matmul("ijk", "ppp"), matmul("ijk", "ppa"), symbolic("m,k", "k,n"), "o_ref",
        "no race"),
    Mistake("back to the first block", sized(lambda n: (2, pl.cdiv(n, 8)), lambda k, i, n: (i, 0), lambda k, i, n: (i,
        0)), sized(lambda n: (pl.cdiv(n, 8), 2), lambda i, k, n: (i, 0), lambda i, k, n: (i, 0)), _N, "o_ref",
        "consecutive"),
    Mistake("reads what is overwritten", sized(source=lambda i, n: (jnp.maximum(i - 1, 0), 0), **_ALIAS),
        sized(**_ALIAS), _N, "o_ref", "alias"),
    Mistake("reads what another overwrites", sized(source=lambda i, n: (pl.cdiv(n, 8) - 1 - i, 0), semantics="p",
        **_ALIAS), sized(semantics="p", **_ALIAS), _N, "o_ref", "alias race"),
]  # fmt: skip
