"""Whole programs for measurements and tests: functions of jax as they are lowered, and as XLA compiles them.

``make bench-programs`` measures reading, all maps of the entry, all proofs, and one query of each
program, each in a separate process, and prints the table of ``reports/benchmarks.md``.
"""

from __future__ import annotations

import math
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

#: Limit on the seconds of wall time for one command.
_PATIENCE = 300

Program = tuple[Callable[..., Any], tuple[Any, ...]]


def _array(*dims: int) -> Any:
    return jax.ShapeDtypeStruct(dims, jnp.float32)


# ------------------------------------------------------------------------------------------------------------ decoders
def _scaled(x: Any, gain: Any) -> Any:
    return x * lax.rsqrt(jnp.mean(x * x, -1, keepdims=True) + 1e-6) * gain


def _rotated(x: Any) -> Any:
    size, depth = x.shape[1], x.shape[-1]
    angles = jnp.arange(size)[:, None] / 10000 ** (jnp.arange(depth // 2) / (depth // 2))
    cos, sin = jnp.cos(angles)[None, :, None], jnp.sin(angles)[None, :, None]
    a, b = jnp.split(x, 2, -1)
    return jnp.concatenate([a * cos - b * sin, b * cos + a * sin], -1)


def _layer(x: Any, p: dict[str, Any], heads: int = 8, shared: int = 4) -> Any:
    batch, size, width = x.shape
    y, depth = _scaled(x, p["norm1"]), width // heads
    q = _rotated((y @ p["q"]).reshape(batch, size, heads, depth))
    k = _rotated((y @ p["k"]).reshape(batch, size, heads // shared, depth))
    v = (y @ p["v"]).reshape(batch, size, heads // shared, depth)
    k, v = (jnp.repeat(a, shared, 2) for a in (k, v))
    logits = jnp.einsum("bqhd,bkhd->bhqk", q, k) / depth**0.5
    logits = jnp.where(jnp.tril(jnp.ones((size, size), bool)), logits, -1e9)
    seen = jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(logits, -1), v)
    x = x + seen.reshape(batch, size, width) @ p["o"]
    y = _scaled(x, p["norm2"])
    if "gate" not in p:
        return x + (jax.nn.silu(y @ p["w1"]) * (y @ p["w3"])) @ p["w2"]
    weight, chosen = lax.top_k(jax.nn.softmax(y @ p["gate"]), 2)
    for expert in range(p["gate"].shape[-1]):
        share = jnp.sum(jnp.where(chosen == expert, weight, 0), -1, keepdims=True)
        x = x + share * ((jax.nn.silu(y @ p["w1"][expert]) * (y @ p["w3"][expert])) @ p["w2"][expert])
    return x


def _weights(width: int = 64, hidden: int = 128, experts: int = 0, layers: tuple[int, ...] = ()) -> dict[str, Any]:
    some = (experts,) if experts else ()
    sizes: dict[str, tuple[int, ...]] = {"norm1": (width,), "norm2": (width,)}
    sizes |= {"q": (width, width), "k": (width, width // 4), "v": (width, width // 4), "o": (width, width)}
    sizes |= {"w1": (*some, width, hidden), "w3": (*some, width, hidden), "w2": (*some, hidden, width)}
    sizes |= {"gate": (width, experts)} if experts else {}
    return {name: _array(*layers, *dims) for name, dims in sizes.items()}


def _decoded(weights: Any, tokens: Any, table: Any) -> Any:
    x = table[tokens]
    if isinstance(weights, list):
        for p in weights:
            x = _layer(x, p)
    else:
        x, _ = lax.scan(lambda x, p: (_layer(x, p), None), x, weights)
    return x @ table.T


def _decoder(weights: Any) -> Program:
    return _decoded, (weights, jax.ShapeDtypeStruct((2, 32), jnp.int32), _array(256, 64))


def _gradient(weights: Any) -> Program:
    _, arguments = _decoder(weights)
    return jax.grad(lambda w, tokens, table: _decoded(w, tokens, table).sum()), arguments


# --------------------------------------------------------------------------------------------------------- others
def _scan(rows: int) -> Program:
    def combined(a: Any, b: Any) -> Any:
        return a[0] * b[0], a[1] * b[0] + b[1]

    return lambda a, b: lax.associative_scan(combined, (a, b)), (_array(rows, 8), _array(rows, 8))


#: Expansion, channels, blocks and stride of each stage.
_STAGES = ((1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1))


def _convnet() -> Program:
    """A mobile network: inverted residual blocks with depthwise convolutions, normalized over the batch."""

    def conv(x: Any, kernel: Any, stride: int, groups: int = 1) -> Any:
        layout = ("NHWC", "HWIO", "NHWC")
        return lax.conv_general_dilated(
            x, kernel, (stride, stride), "SAME", dimension_numbers=layout, feature_group_count=groups
        )

    def normalized(x: Any, gain: Any) -> Any:
        mean = x.mean((0, 1, 2))
        return (x - mean) * lax.rsqrt(((x - mean) ** 2).mean((0, 1, 2)) + 1e-5) * gain

    blocks = [(e, c, stride if k == 0 else 1) for e, c, n, stride in _STAGES for k in range(n)]
    weights, channels = [], 32
    for expansion, out, _ in blocks:
        wide = channels * expansion
        kernels = _array(1, 1, channels, wide), _array(3, 3, 1, wide), _array(1, 1, wide, out)
        weights.append((*kernels, _array(wide), _array(wide), _array(out)))
        channels = out

    def network(x: Any, first: Any, weights: Any) -> Any:
        x = jax.nn.relu6(conv(x, first, 2))
        for (_, _, stride), (a, b, c, *gains) in zip(blocks, weights, strict=True):
            y = jax.nn.relu6(normalized(conv(x, a, 1), gains[0]))
            y = jax.nn.relu6(normalized(conv(y, b, stride, y.shape[-1]), gains[1]))
            y = normalized(conv(y, c, 1), gains[2])
            x = x + y if y.shape == x.shape else y
        return x.mean((1, 2))

    return network, (_array(1, 96, 96, 3), _array(3, 3, 3, 32), weights)


PROGRAMS: dict[str, Callable[[], Program]] = {
    "decoder, 32 layers": lambda: _decoder([_weights()] * 32),
    "decoder, 32 layers in a scan": lambda: _decoder(_weights(layers=(32,))),
    "decoder, 32 layers of 8 experts": lambda: _decoder([_weights(experts=8)] * 32),
    "decoder, 112 layers of 8 experts": lambda: _decoder([_weights(experts=8)] * 112),
    "gradient of a decoder, 8 layers": lambda: _gradient([_weights()] * 8),
    "associative scan, 64 rows": partial(_scan, 64),
    "associative scan, 1,000 rows": partial(_scan, 1000),
    "mobile network": _convnet,
}


def text_of(program: Program, compiled: bool = False) -> str:
    """Return the HLO of a program, as jax lowers it, or as XLA compiles it on this machine."""
    function, arguments = program
    lowered = jax.jit(function).lower(*arguments)
    return str(lowered.compile().as_text() if compiled else lowered.compiler_ir("hlo").as_hlo_text())


def measured(path: Path, *arguments: str) -> tuple[str, float, int]:
    """Run ``indexproof hlo`` on a file; return its last line, its processor seconds and its peak memory in MiB."""
    code = (
        "import resource, sys\nfrom indexproof.cli import main\ntry:\n    main()\nexcept SystemExit:\n    pass\n"
        "used = resource.getrusage(resource.RUSAGE_SELF)\n"
        "status = open('/proc/self/status').read()\n"
        "print(used.ru_utime + used.ru_stime, status.split('VmHWM:')[1].split()[0])\n"
    )
    # An installed package has its bytecode.
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    command = [sys.executable, "-c", code, "hlo", str(path), *arguments]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment, timeout=_PATIENCE)
    except subprocess.TimeoutExpired:
        return "not finished", math.inf, 0
    *_, said, figures = [line for line in done.stdout.splitlines() if line]
    seconds, kib = figures.split()
    return said, float(seconds), int(kib) // 1024


def main() -> None:
    """Print the table."""
    print("| program | instructions | entry, s | `--verify`, s | MiB | `--from` … `--to`, s | verdict |")
    print("| --- " + "| ---: " * 5 + "| --- |")
    with tempfile.TemporaryDirectory() as folder:
        for name, program in PROGRAMS.items():
            for compiled in (False, True):
                if compiled and "112" in name:
                    continue  # XLA takes minutes
                path = Path(folder) / "m.hlo"
                text = text_of(program(), compiled)
                path.write_text(text, "utf-8")
                entry = text[text.index("\nENTRY ") :]
                made = re.findall(r"^  (?:ROOT )?%?([\w.-]+) = ", entry, re.MULTILINE)
                _, whole, _ = measured(path)
                _, query, _ = measured(path, "--from", made[len(made) // 2], "--to", made[len(made) * 3 // 4])
                said, verified, most = measured(path, "--verify")
                verdict = said.split("  ")[0]
                label = f"{name}{', compiled' if compiled else ''}"
                cells = [
                    label,
                    f"{text.count(' = '):,}",
                    f"{whole:.1f}",
                    f"{verified:.1f}",
                    str(most),
                    f"{query:.1f}",
                    verdict,
                ]
                print(f"| {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
