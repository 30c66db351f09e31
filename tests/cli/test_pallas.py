"""`indexproof pallas`."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from json_forms import FORMS

pytest.importorskip("jax")

Run = Callable[..., Any]

KERNELS = """\
import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu


def kernel(x, o):
    o[...] = x[...]


def shifted(x, by=0):
    spec = pl.BlockSpec((8, 128), lambda i: (i + by, 0))
    return pl.pallas_call(kernel, grid=(4,), in_specs=[spec], out_specs=spec, out_shape=x)(x)


def matmul(x, y):
    sizes = [pl.cdiv(n, 128) for n in (*x.shape, y.shape[1])]
    return pl.pallas_call(
        lambda x, y, o: kernel(x, o), grid=(sizes[0], sizes[2], sizes[1]),
        in_specs=[pl.BlockSpec((128, 128), lambda i, j, k: (i, k)), pl.BlockSpec((128, 128), lambda i, j, k: (k, j))],
        out_specs=pl.BlockSpec((128, 128), lambda i, j, k: (i, j)),
        out_shape=jax.ShapeDtypeStruct((x.shape[0], y.shape[1]), x.dtype),
    )(x, y)


def whole(x):
    return pl.pallas_call(kernel, in_specs=[pl.BlockSpec(x.shape)], out_shape=x)(x)


def gather(rows, x):
    spec = pltpu.PrefetchScalarGridSpec(
        num_scalar_prefetch=1, grid=(3,),
        in_specs=[pl.BlockSpec((8, 128), lambda i, rows: (rows[i], 0))],
        out_specs=pl.BlockSpec((8, 128), lambda i, rows: (i, 0)),
    )
    return pl.pallas_call(lambda rows, x, o: kernel(x, o), grid_spec=spec, out_shape=x)(rows, x)


def fails(x):
    raise KeyError("no such thing")


NUMBER = 3
"""


@pytest.fixture
def file(tmp_path: Path) -> str:
    path = tmp_path / "kernels.py"
    path.write_text(KERNELS, "utf-8")
    return str(path)


def test_a_right_kernel(run: Run, file: str) -> None:
    done = run("pallas", f"{file}:shifted", "f32[32,128]")
    assert done.status == 0
    lines = done.out.splitlines()
    assert lines[0] == "kernel  kernels.py:7"
    assert "  grid     i 4 arbitrary" in lines
    assert lines[-1].startswith("PROVED  4 claims, all proved")


def test_a_wrong_kernel_and_its_picture(run: Run, file: str) -> None:
    done = run("pallas", f"{file}:shifted", "f32[32,128]", "1")
    assert done.status == 1
    assert "x has block (4, 0) at i = 3: result 0 is 4, which is not in [0, 3]" in done.out
    assert "o has (0, 0): no iteration has it" in done.out
    assert done.out.split("\n\n")[1].splitlines() == [
        "x: how many iterations have each of the 4 × 1 blocks; x is outside",
        "        0",
        "    0  0",
        "    1  1",
        "    2  1",
        "    3  1",
        "    4 [x]",
    ]


def test_scalar_prefetch(run: Run, file: str) -> None:
    words = ("pallas", f"{file}:gather", "s32[3]", "f32[24,128]")
    assert run(*words).status == 2
    assert "needs rows_0 in [0, 2]" in run(*words).out
    assert run(*words, "--range", "rows=0,2").status == 0
    assert run(*words, "--range", "rows=0,3").status == 1
    assert run("pallas", f"{file}:gather", "s32[3]=2,0,1", "f32[24,128]").status == 0
    assert run("pallas", f"{file}:gather", "s32[3]=2,0,-1", "f32[24,128]").status == 1


def test_symbolic_sizes(run: Run, file: str) -> None:
    done = run("pallas", f"{file}:shifted", "f32[n,128]")
    assert done.status == 1
    assert "x has block (1, 0) at n = 1, i = 1: result 0 is 1, which is not in [0, 0]" in done.out
    assert "o has (4, 0) at n = 33: no iteration has it" in done.out
    assert "o at n = 1: how many iterations have each of the 1 × 1 blocks; x is outside" in done.out
    words = ("pallas", f"{file}:shifted", "f32[8*n,128]", "--constraint", "n == 4")
    assert run(*words).status == 0
    done = run("pallas", f"{file}:shifted", "f32[n,128]", "--constraint", "n >= 25", "--constraint", "n <= 32")
    assert done.status == 0
    assert "  sizes    n >= 1, n <= 2147483647, n >= 25, n <= 32" in done.out.splitlines()


def test_symbolic_sizes_in_text_and_json(run: Run, file: str) -> None:
    words = ("pallas", f"{file}:matmul", "f32[m,k]", "f32[k,256]", "--constraint", "mod(m, 128) == 0")
    done = run(*words)
    assert done.status == 0
    assert done.out.splitlines()[1:6] == [
        "  sizes    m >= 1, m <= 2147483647, k >= 1, k <= 2147483647, m mod 128 = 0",
        "  grid     i (m + 127) // 128 arbitrary, j 2 arbitrary, k_ (k + 127) // 128 arbitrary",
        "  x        float32[m,k]   blocks (128, 128 with overhang (-k) mod 128)   (i, j, k_) -> (i, k_)",
        "  y        float32[k,256]   blocks (128 with overhang (-k) mod 128, 128)   (i, j, k_) -> (k_, j)",
        "  o        float32[m,256]   blocks (128, 128)   (i, j, k_) -> (i, j)   2·((m + 127) // 128) blocks, "
        "each visited (k + 127) // 128 times",
    ]
    (call,) = json.loads(run(*words, "--json").out)["calls"]
    assert call["sizes"] == ["1 ≤ m", "m ≤ 2147483647", "1 ≤ k", "k ≤ 2147483647", "m mod 128 = 0"]
    assert call["grid"] == ["(m + 127) // 128", 2, "(k + 127) // 128"]
    assert call["visits"] == {"o": ["(k + 127) // 128"] * 2}
    assert call["operands"][0]["shape"] == ["m", "k"]
    assert call["operands"][0]["index"]["map"]["parameters"] == ["m", "k"]


def test_json(run: Run, file: str) -> None:
    done = run("pallas", f"{file}:shifted", "f32[32,128]", "1", "--json")
    data = json.loads(done.out)
    assert done.status == data["exit_status"] == 1
    assert set(data) == set(FORMS["pallas"])
    (call,) = data["calls"]
    assert (call["grid"], call["axes"], call["semantics"]) == ([4], ["i"], ["arbitrary"])
    assert call["visits"] == {"o": [0, 1]}
    x, o = call["operands"]
    assert (x["output"], o["output"], x["shape"]) == (False, True, [32, 128])
    assert x["blocks"][0] == {"array": 32, "size": 8, "step": 8, "low": 0, "high": 0, "indices": [0, 3]}
    assert x["index"]["text"] == "(i) -> (i + 1, 0), domain: i in [0, 3]"
    wrong = [c for c in call["claims"] if c["verdict"] != "PROVED"]
    assert [(c["operand"], c["kind"], c["counterexample"]) for c in wrong] == [
        ("x", "in bounds", {"i": 3}),
        ("o", "in bounds", {"i": 3}),
        ("o", "written", {"t0": 0, "t1": 0}),
    ]


@pytest.mark.parametrize(("words", "message"), [
    (("{}",), "names no function"),
    (("{}:shift",), "has no function `shift`"),
    (("{}:NUMBER",), "has no function `NUMBER`"),
    (("{}:fails", "f32[2]"), "KeyError: 'no such thing'"),
    (("{}:shifted", "f32[32,128]", "f32["), "f32["),
    (("{}:shifted", "q7[3]"), "q7"),
    (("{}:gather", "s32[3]=1,2", "f32[24,128]"), "does not list 3 elements"),
    (("{}:gather", "s32[3]=1,2,x", "f32[24,128]"), "does not list 3 elements"),
    (("{}:gather", "s32[3]", "f32[24,128]", "--range", "rows=1"), "is no range"),
    (("{}:gather", "s32[3]", "f32[24,128]", "--range", "row=1,2"), "no scalar prefetch operand is called row"),
    (("nothing.py:f",), "cannot read"),
    (("{}:shifted", "f32[n,128]", "--constraint", "m >= 8"), "no size is called `m`; expected one of n"),
    (("{}:shifted", "f32[8,128]", "--constraint", "m >= 8"), "no size is called `m`; expected an argument such as"),
    (("{}:shifted", "f32[n,128]", "--constraint", "n"), "must contain one of"),
    (("{}:shifted", "f32[n;2,128]"), "syntax error in symbolic shape"),
    (("{}:shifted", "q7[n]"), "q7"),
    (("{}:shifted", "f32[n,128]", "--constraint", "n <= 0"), "contradict each other"),
    (("{}:gather", "s32[n]=1,2", "f32[24,128]"), "a dimension size"),
    (("{}:whole", "f32[n,128]"), "does not support dynamically-shaped blocks"),
])  # fmt: skip
def test_bad_input(run: Run, file: str, words: tuple[str, ...], message: str) -> None:
    done = run("pallas", *(w.format(file) for w in words))
    assert done.status == 3
    assert message in done.err
