"""Random grids, blocks and index maps, right and wrong, and the mistakes that the Pallas interpreter for TPUs finds."""

from __future__ import annotations

import contextlib
import io
import random
from collections.abc import Callable
from dataclasses import dataclass
from math import prod
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu

from indexproof.pallas import pallas_calls
from indexproof.verify.pallas import verify_pallas
from indexproof.verify.verdict import Status

Dims = tuple[int, ...]


@dataclass(frozen=True)
class Spec:
    """A kernel that reads blocks of one array and fills blocks of another with ones."""

    grid: Dims
    semantics: tuple[str, ...]
    arrays: tuple[Dims, Dims]
    blocks: tuple[tuple[Any, ...], tuple[Any, ...]]
    maps: tuple[str, str]

    def call(self, **options: Any) -> Callable[[Any], Any]:
        """The function that calls the kernel."""

        def kernel(x: Any, o: Any) -> None:
            o[...] = jnp.ones_like(o)

        specs = [pl.BlockSpec(b, eval(f"lambda {self.axes}: {m}")) for b, m in zip(self.blocks, self.maps, strict=True)]
        return pl.pallas_call(
            kernel,
            grid=self.grid,
            in_specs=specs[:1],
            out_specs=specs[1],
            out_shape=jax.ShapeDtypeStruct(self.arrays[1], jnp.float32),
            compiler_params=pltpu.CompilerParams(dimension_semantics=self.semantics),
            **options,
        )

    @property
    def axes(self) -> str:
        return ", ".join("ijk"[: len(self.grid)])

    @property
    def argument(self) -> Any:
        return jax.ShapeDtypeStruct(self.arrays[0], jnp.float32)


def random_spec(seed: int) -> Spec:
    """Draw a specification; about half of them are right."""
    rng = random.Random(seed)
    rank = rng.randint(1, 3)
    grid = tuple(rng.randint(1, 4) for _ in range(rank))
    parallel = rng.choice([0, 0, rng.randint(0, rank)])
    semantics = tuple("parallel" if k < parallel else "arbitrary" for k in range(rank))
    arrays, blocks, maps = zip(*(_operand(rng, grid, output) for output in (False, True)), strict=True)
    return Spec(grid, semantics, arrays, blocks, maps)


def _operand(rng: random.Random, grid: Dims, output: bool) -> tuple[Dims, tuple[Any, ...], str]:
    """Draw an array, its block and an index map; the array is often as large as the map requires."""
    names = "ijk"[: len(grid)]
    rank = rng.randint(1, 2)
    used = rng.sample(range(len(grid)), min(rank, len(grid)))
    sizes, block, results = [], [], []
    for d in range(rank):
        axis = used[d] if d < len(used) else None
        a = "0" if axis is None else names[axis]
        n = 1 if axis is None else grid[axis]
        b, m = rng.choice(names), rng.choice([2, 3])
        kinds = {
            a: n,
            f"{n - 1} - {a}": n,
            f"{a} // {m}": (n - 1) // m + 1,
            f"{a} % {m}": min(m, n),
            f"jnp.where({a} > 1, 0, {a})": min(n, 2),
            f"jnp.minimum({a} + {b}, {n - 1})": n,
            f"{a} * {m} + {b} % {m}": n * m,
            f"({a} + {b}) % {n}": n,
            f"jax.lax.div({a} - {b}, {m})": n,
        }
        text, count = rng.choice([*kinds.items(), *[(a, n)] * 9])
        count = max(count + rng.choice([0, 0, 0, 0, 0, 1, -1]), 1)
        size = rng.randint(1, 3)
        kind = rng.choice(["blocked", "blocked", "blocked", "element", "squeezed"])
        if kind == "blocked":
            sizes.append(count * size - rng.choice([0, 0, size - 1]))
            block.append(size)
        elif kind == "element":
            # the interpreter pads to whole blocks, so the array consists of whole blocks; it does not notice overlaps
            sizes.append(count * size)
            block.append(pl.Element(size))
            text = f"({text}) * {size}" if output or rng.random() < 0.7 else text
        else:
            sizes.append(count)
            block.append(None)
            text = f"jnp.abs({text})"  # the interpreter counts a negative index from the end, as numpy does
        results.append(text)
    return tuple(sizes), tuple(block), f"({', '.join(results)},)"


def interpreted(spec: Spec) -> set[str]:
    """Interpret the kernel, each core with one coordinate of the parallel axes, and list its mistakes.

    ``in bounds`` and ``consecutive`` end the run and so hide other mistakes.
    """
    from jax._src.pallas.mosaic.interpret import interpret_pallas_call as interpreter

    cores = prod(n for n, s in zip(spec.grid, spec.semantics, strict=True) if s == "parallel")
    params = pltpu.InterpretParams(
        detect_races=True, out_of_bounds_reads="raise", uninitialized_memory="nan", num_cores_or_threads=cores
    )
    x = jnp.zeros(spec.arrays[0], jnp.float32)
    with contextlib.redirect_stdout(io.StringIO()):
        try:
            found = np.asarray(jax.jit(spec.call(interpret=params))(x))
        except Exception as error:
            text = str(error)
            pltpu.reset_tpu_interpret_mode_state()
            if "Revisited block" in text:
                return {"consecutive"}
            # the interpreter asserts that slices do not start below zero
            if "ut-of-bounds" in text or "AssertionError" in text:
                return {"in bounds"}
            raise
    wrong = {"written"} if np.isnan(found).any() else set()
    if interpreter.races is not None and interpreter.races.races_found:
        wrong.add("no race")
    return wrong


def compared_spec(seed: int) -> set[str]:
    """Check that the mistakes that interpretation finds are the refuted claims; return them, or ``right``."""
    spec = random_spec(seed)
    (call,) = pallas_calls(spec.call(), spec.argument)
    claims = verify_pallas(call).claims
    refuted = {c.kind for c in claims if c.answer.verdict is Status.REFUTED}
    found = interpreted(spec)
    if any(c.answer.verdict is Status.UNDECIDED for c in claims):
        return {"open"}
    # these end the run, which hides other mistakes
    if found & {"in bounds", "consecutive"}:
        assert found <= refuted, (seed, spec)
    else:
        assert found == refuted, (seed, spec)
    return found or {"right"}
