"""Loops, branches, scatters and sorts of compiled jax functions: every observed dependence is in a map.

One element of one argument is changed at a time. Where the analysis says `at_most`, or a value decides, maps may name
more than one run shows, but never less. Programs are analysed before and after optimization.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from computation_maps import computation_maps
from oracle.dependence import dependence

from indexproof.core.analysis.catalogue import OpCatalogue
from indexproof.core.hlo import read_module
from indexproof.core.indexing_map import IndexingMap
from indexproof.core.op import DIRECTIONS
from indexproof.core.simplify_map import simplify_map
from indexproof.rules.catalog import RULES
from indexproof.rules.ops import op_reader, why_not

jax = pytest.importorskip("jax")
jnp, lax = jax.numpy, jax.lax

A, B, V = (4, 3), (3, 3), (5,)


def steps_of_two(v: Any) -> Any:
    def body(s: Any) -> Any:
        i, u = s
        return i + 2, lax.cond(i > 2, lambda a: a[::-1], lambda a: jnp.roll(a, 1), u)

    return lax.while_loop(lambda s: s[0] < 7, body, (jnp.int32(-1), v))[1]


def nested(x: Any) -> Any:
    def row(i: Any, y: Any) -> Any:
        return lax.fori_loop(0, 3, lambda j, z: z.at[i, j].set(x[3 - i, (i + j) % 3]), y)

    return lax.fori_loop(0, 4, row, jnp.zeros((4, 3)))


def pooled(x: Any) -> Any:
    return jax.grad(lambda a: (lax.reduce_window(a, -jnp.inf, lax.max, (2, 2), (1, 1), "VALID") ** 2).sum())(x)


def branches(v: Any, w: Any) -> Any:
    return lax.switch(jnp.int32(v[0]) % 3, [lambda a: a[::-1], lambda a: a * 2, lambda a: jnp.roll(a, 1)], w)


Case = tuple[Callable[..., Any], list[tuple[int, ...]]]
#: Functions whose dependences do not vary with values or with the number of runs, so that maps must be exact.
EXACT: dict[str, Case] = {
    "scan_rows": (lambda x: lax.scan(lambda h, row: (h + row, h * 2.0), jnp.zeros(3), x), [A]),
    "power": (lambda x, m: lax.fori_loop(0, 3, lambda _, v: v @ m, x), [A, B]),
    "rotated": (lambda v: lax.fori_loop(0, 2, lambda _, u: jnp.roll(u, 1), v), [V]),
    "rows_backwards": (
        lambda x: lax.fori_loop(0, 4, lambda i, y: y.at[i].set(x[3 - i] * 2), jnp.zeros((4, 3))), [A]),
    "chosen_by_counter": (lambda v, w: lax.fori_loop(
        0, 5, lambda i, u: u.at[4 - i].set(jnp.where(i % 2 == 0, v[i], w[(i * 3) % 5])), w), [V, V]),
    "steps_of_two": (steps_of_two, [V]),
    "nested": (nested, [A]),
    "backwards": (
        lambda x: lax.scan(lambda h, row: (h + row, h + 2 * row), jnp.zeros(3), x, reverse=True), [A]),
    "over_numbers": (lambda v: lax.scan(lambda h, i: (h + v[i], h), 0.0, jnp.array([4, 0, 3, 0])), [V]),
    "unrolled_by_two": (
        lambda x: lax.scan(lambda h, row: (h + row, h[::-1] + row), jnp.zeros(3), x, unroll=2), [A]),
    "sorted_rows": (lambda x: (jnp.sort(x, axis=1), jnp.argsort(x, axis=0)), [A]),
}  # fmt: skip
CASES: dict[str, Case] = {
    **EXACT,
    "until_large": (lambda v, w: lax.while_loop(
        lambda s: s[0][0] < 100.0, lambda s: (abs(s[0]) * 2.0 + 1, s[1]), (v, w)), [V, V]),
    "branches": (branches, [V, V]),
    "picked": (lambda x, v: lax.cond(v[0] > 2.0, lambda a: a.T[:, :3].sum(0), lambda a: a[0], x), [A, V]),
    "top": (lambda x: lax.top_k(x, 2)[0], [A]),
    "added": (lambda x, v: x.at[jnp.array([1, 1, 3])].add(v[:3, None]), [A, V]),
    "pooled": (pooled, [A]),
}  # fmt: skip


def observed(function: Callable[..., Any], shapes: list[tuple[int, ...]]) -> dict[tuple[int, int], set[Any]]:
    """Return the observed pairs (output element, argument element), by output and argument."""
    rng = np.random.default_rng(7)
    counted = [np.arange(1.0, 1 + math.prod(x), dtype=np.float32) for x in shapes]
    draws = [[rng.permutation(a).reshape(x) for a, x in zip(counted, shapes, strict=True)] for _ in range(4)]
    return dependence(function, draws, (-7.5, 9.0))


def simplify(m: IndexingMap) -> IndexingMap:
    return simplify_map(m, RULES)


@pytest.mark.parametrize("optimized", [False, True])
@pytest.mark.parametrize("name", CASES)
def test_what_depends_is_in_a_map(name: str, optimized: bool) -> None:
    function, shapes = CASES[name]
    run = jax.jit(function)
    lowered = run.lower(*(jax.ShapeDtypeStruct(x, np.float32) for x in shapes))
    text = lowered.compile().as_text() if optimized else lowered.compiler_ir("hlo").as_hlo_text()
    module = read_module(text)
    seen = observed(run, shapes)
    for direction in DIRECTIONS:
        maps = computation_maps(module, OpCatalogue(op_reader(module), why_not), simplify, direction=direction)
        # an unknown map would pass the checks below
        assert maps.unknown == {}
        for (output, k), pairs in seen.items():
            named = set().union(*(m.relation() for m in maps.get((output, k), [])))
            if direction == "input_to_output":
                named = {(o, i) for i, o in named}
            assert pairs <= named, (output, k, sorted(pairs - named)[:5])
            if name in EXACT:
                assert pairs == named, (output, k, sorted(named - pairs)[:5])
