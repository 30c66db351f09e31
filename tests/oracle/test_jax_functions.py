"""jax functions before and after optimization: every observed dependence is in a map, and every pair of a map is
observed where dependences do not vary with values.

One element of one argument is changed at a time.  Arguments that are addresses are redrawn a few times instead.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from oracle.dependence import dependence

from indexproof import module_maps
from indexproof.core.analysis import ComputationMaps
from indexproof.core.hlo import read_module
from indexproof.core.op import DIRECTIONS

jax = pytest.importorskip("jax")
jnp, lax = jax.numpy, jax.lax

Sizes = tuple[int, ...]
#: A function, the sizes of its arguments (`i` after them: an address), whether every pair of a map can be observed.
Case = tuple[Callable[..., Any], list[Any], bool]
DRAWN = 2


def einsums() -> Iterator[tuple[str, Case]]:
    for equation, *shapes in (
        ("ij,jk->ik", (2, 3), (3, 4)),
        ("bij,bjk->bik", (2, 2, 3), (2, 3, 2)),
        ("bhqd,bhkd->bhqk", (1, 2, 2, 2), (1, 2, 3, 2)),
        ("ijk,kji->j", (2, 3, 2), (2, 3, 2)),
        ("abc,cd,de->abe", (1, 2, 2), (2, 3), (3, 2)),
        ("ij,kj->ikj", (2, 3), (2, 3)),
    ):
        yield f"einsum {equation}", (lambda *a, e=equation: jnp.einsum(e, *a), shapes, True)


def convolutions() -> Iterator[tuple[str, Case]]:
    dilated = {"padding": [(2, 3), (1, 0)], "lhs_dilation": (2, 2), "rhs_dilation": (2, 3)}
    swapped = {"padding": [(1, 2)], "dimension_numbers": ("WNC", "IOW", "CWN")}
    for name, x, w, strides, options in (
        ("same", (1, 2, 4, 5), (3, 2, 3, 3), (1, 1), {"padding": "SAME"}),
        ("strides", (1, 2, 5, 6), (2, 2, 2, 3), (2, 3), {"padding": [(1, 0), (2, 1)]}),
        ("dilated", (1, 1, 4, 4), (1, 1, 2, 2), (2, 1), dilated),
        ("groups of features", (2, 4, 3), (6, 2, 2), (1,), {"padding": "VALID", "feature_group_count": 2}),
        ("depthwise", (1, 3, 4), (6, 1, 2), (1,), {"padding": "SAME", "feature_group_count": 3}),
        ("groups of the batch", (4, 2, 4), (6, 2, 2), (1,), {"padding": "VALID", "batch_group_count": 2}),
        ("cropped", (1, 1, 6, 6), (1, 1, 2, 2), (1, 1), {"padding": [(-1, 0), (1, -2)]}),
        ("other order", (4, 2, 3), (3, 2, 2), (2,), swapped),
    ):

        def run(a: Any, b: Any, strides: Sizes = strides, options: dict[str, Any] = options) -> Any:
            return lax.conv_general_dilated(a, b, strides, **options)

        def back(a: Any, b: Any, c: Any, run: Callable[..., Any] = run) -> Any:
            return jax.vjp(run, a, b)[1](c)

        made = jax.eval_shape(run, *(jax.ShapeDtypeStruct(s, np.float32) for s in (x, w))).shape
        yield f"convolution {name}", (run, [x, w], True)
        if name not in ("other order", "cropped"):
            yield f"gradient of convolution {name}", (back, [x, w, made], True)


def windows() -> Iterator[tuple[str, Case]]:
    for name, x, options in (
        ("same", (5, 6), ((2, 3), (2, 2), "SAME")),
        ("base dilation", (4, 3), ((3, 2), (1, 2), [(1, 2), (0, 3)], (2, 3))),
        ("window dilation", (7, 6), ((3, 2), (2, 1), [(1, 2), (0, 3)], None, (2, 3))),
        ("both", (4, 5), ((3, 2), (2, 1), [(1, 2), (2, 3)], (2, 1), (2, 3))),
    ):
        yield (f"window {name}", (lambda a, o=options: lax.reduce_window(a, np.float32(0), lax.add, *o), [x], True))
    yield "gradient of a pool", (lambda a, c: jax.vjp(_pool, a)[1](c), [(6,), (3,)], False)
    yield "cumsum", (lambda a: lax.cumsum(a, 1, reverse=True), [(2, 5)], True)
    yield "long cumsum", (jnp.cumsum, [(40,)], True)
    yield "scan by halves", (lambda a: lax.associative_scan(jnp.add, a), [(9,)], True)


def _pool(a: Any) -> Any:
    return lax.reduce_window(a, -np.inf, lax.max, (3,), (2,), [(1, 1)])


def addressed() -> Iterator[tuple[str, Case]]:
    c = jnp.array
    numbers = lax.ScatterDimensionNumbers((1,), (0,), (0,))
    odd = lax.GatherDimensionNumbers((0, 2), (1,), (1, 0))
    batched = lax.GatherDimensionNumbers((1,), (), (1,), (0,), (0,))
    yield "take", (lambda x, i: jnp.take(x, i, axis=0), [(4, 2), (3, "i")], False)
    yield "take along", (lambda x, i: jnp.take_along_axis(x, i, axis=1), [(3, 4), (3, 2, "i")], False)
    yield "take these", (lambda x: jnp.take(x, c([2, 0, 1]), axis=1), [(2, 4)], True)
    yield "index arrays", (lambda x, i, k: x[i, :, k], [(3, 2, 4), (2, "i"), (2, "i")], False)
    yield "gather", (lambda x, i: lax.gather(x, i, odd, (2, 1, 3)), [(4, 5, 3), (3, 2, "i")], False)
    yield "batched gather", (lambda x, i: lax.gather(x, i, batched, (1, 2)), [(3, 5), (3, 1, "i")], False)
    yield "set", (lambda x, i, u: x.at[i].set(u), [(4,), (2, "i"), (2,)], False)
    yield "add", (lambda x, i, u: x.at[i].add(u), [(4, 2), (3, "i"), (3, 2)], False)
    yield "set a slice", (lambda x, u: x.at[1:3, ::2].set(u), [(4, 5), (2, 3)], False)
    yield "set backwards", (lambda x, u: x.at[::-1].set(u), [(5,), (5,)], False)
    yield "add outside", (lambda x, u: x.at[c([0, 9, -1])].add(u), [(4,), (3,)], False)
    yield "scatter", (lambda x, i, u: lax.scatter_add(x, i, u, numbers), [(4, 3), (2, 1, "i"), (2, 3)], False)
    yield "sums of segments", (lambda x, i: jax.ops.segment_sum(x, i, 3), [(5, 2), (5, "i")], False)
    yield "slice", (lambda x, k: lax.dynamic_slice(x, (k, 1), (2, 2)), [(5, 4), ("i",)], False)
    yield "slice beyond", (lambda x: lax.dynamic_slice(x, (9, -3), (2, 2)), [(5, 4)], True)
    yield "update beyond", (lambda x, u: lax.dynamic_update_slice(x, u, (4, 1)), [(5, 4), (2, 2)], True)
    rows = jax.vmap(lambda x, k: lax.dynamic_slice(x, (k,), (2,)))
    yield "slice each row", (rows, [(3, 5), (3, "i")], False)
    yield "gradient of a slice", (lambda x, k, u: jax.vjp(_two(k), x)[1](u), [(5,), ("i",), (2,)], False)
    yield "roll by", (jnp.roll, [(5,), ("i",)], False)


def static() -> Iterator[tuple[str, Case]]:
    """Yield functions with indices that depend on no input: counted, computed, joined, or listed."""
    n, c = jnp.arange, jnp.array
    yield "hankel", (lambda x: x[n(5)[:, None] + n(4)[None]], [(8,)], True)
    yield "windows by stride", (lambda x: x[:, n(3)[:, None] * 2 + n(3)], [(2, 8)], True)
    yield "diagonal", (lambda x: jnp.diagonal(x, 1), [(4, 6)], True)
    yield "corners", (lambda x: x[c([0, 3])[:, None], c([0, 4])], [(4, 5)], True)
    yield "edges", (lambda x: x[jnp.pad(n(5), (2, 1), mode="edge")], [(5,)], True)
    yield "two runs", (lambda x: x[jnp.concatenate([n(3), n(3) + 4])], [(8,)], True)
    yield "held", (lambda x: x[jnp.clip(n(8) - 2, 0, 4)], [(6,)], True)
    yield "listed", (lambda x: x[c([3, 1, 4, 1, 5, 2, 6])], [(8,)], True)
    yield "backwards", (lambda x: x[n(9)[::-2]], [(9,)], True)
    yield "again and again", (lambda x: x[n(9) % 3], [(5,)], True)
    yield "halves", (lambda x: x[n(12).reshape(3, 4).T // 2], [(6,)], True)
    yield "lower triangle", (jnp.tril, [(4, 4)], True)
    yield "upper triangles", (lambda x: jnp.triu(x, 1), [(2, 4, 5)], True)
    causal = lambda s, n=17: jnp.where(jnp.tril(jnp.ones((n, n), bool)), s, 0)  # noqa: E731
    yield "causal", (causal, [(3, 17, 17)], True)
    yield "eye", (lambda x, y: jnp.where(jnp.eye(4, dtype=bool), x, y), [(4, 4), (4, 4)], True)
    for name, mask in (
        ("band", lambda r, c: abs(r - c) <= 1),
        ("middle", lambda r, c: (r % 4 > 0) & (c > 1) & (c < 4)),
        ("chess", lambda r, c: (r + c) % 2 == 0),
        ("every third", lambda r, c: c % 3 == 1),
        ("all", lambda r, c: r >= 0),
        ("none", lambda r, c: r > 9),
    ):
        yield f"where {name}", (_where(mask), [(5, 6), (5, 6)], True)
    front = lax.ScatterDimensionNumbers((0, 1), (), ())
    nowhere = np.zeros((0,), np.int32)
    yield "set the front", (lambda x, u: lax.scatter(x, nowhere, u, front), [(4, 5), (2, 3)], True)
    yield "set every other", (lambda x, u: x.at[n(7) * 2].set(u), [(16, 2), (7, 2)], True)
    yield "set in reverse", (lambda x, u: x.at[8 - n(8)].set(u), [(12,), (8,)], True)
    yield "set a hundred", (lambda x, u: x.at[n(100) + 9].set(u), [(120,), (100,)], True)
    yield "set listed", (lambda x, u: x.at[c([3, 17, 1, 19, 9, 12, 5])].set(u), [(20,), (7,)], True)
    yield "set crossings", (lambda x, u: x.at[c([3, 1, 4])[:, None], n(3) * 2].set(u), [(6, 7), (3, 3)], True)
    yield "nearest", (lambda x: jax.image.resize(x, (5, 9), "nearest"), [(7, 6)], True)
    yield "linear", (lambda x: jax.image.resize(x, (3, 8), "linear"), [(3, 5)], False)
    yield "where floats tell", (_where(lambda r, c: (r * 0.5 + c) / 3.0 < 1.25), [(5, 6), (5, 6)], True)
    yield "where listed", (lambda x, y: jnp.where(c([True, False, False, True]), x, y), [(4,), (4,)], True)


def _where(mask: Callable[..., Any]) -> Callable[..., Any]:
    def run(x: Any, y: Any) -> Any:
        return jnp.where(mask(*(lax.broadcasted_iota(np.int32, x.shape, k) for k in (0, 1))), x, y)

    return run


def _two(k: Any) -> Callable[..., Any]:
    return lambda x: lax.dynamic_slice(x, (k,), (2,))


def moved() -> Iterator[tuple[str, Case]]:
    yield "depth to space", (_depth_to_space, [(1, 2, 2, 12)], True)
    yield "reshapes", (lambda a: a.reshape(4, 6).T.reshape(3, 8)[:, ::3], [(2, 12)], True)
    yield "windows by slices", (lambda a: jnp.stack([a[k : k + 3] for k in range(4)]), [(6,)], True)
    yield "reflected", (lambda a: jnp.pad(a, (1, 2), mode="reflect"), [(4,)], True)
    yield "wrapped", (lambda a: jnp.pad(a, (3, 2), mode="wrap"), [(4,)], True)
    yield "rolled", (lambda a: jnp.roll(a, (1, -2), (0, 1)), [(3, 5)], True)
    yield "tiled", (lambda a: jnp.repeat(jnp.tile(a, (2, 3)), 2, axis=1), [(2, 2)], True)
    yield "turned", (jnp.rot90, [(2, 3)], True)
    yield "every other backwards", (lambda a: a[::-2, 1], [(5, 2)], True)
    yield "kronecker", (jnp.kron, [(2, 2), (2, 3)], True)
    yield "convolved", (lambda a, b: jnp.convolve(a, b, "same"), [(6,), (3,)], True)
    yield "softmax", (lambda a: jax.nn.softmax(a * 0.01, axis=1), [(2, 4)], True)
    yield "barrier", (lambda a, b: lax.optimization_barrier((a.T, b)), [(2, 3), (2,)], True)
    yield "gradient through a checkpoint", (lambda a: jax.grad(_again)(a * 0.01), [(3,)], True)


def _depth_to_space(a: Any) -> Any:
    return a.reshape(1, 2, 2, 2, 2, 3).transpose(0, 1, 3, 2, 4, 5).reshape(1, 4, 4, 3)


def _again(a: Any) -> Any:
    return jax.checkpoint(lambda v: jnp.sin(v) @ jnp.ones(3) * v.sum())(a)


def decided() -> Iterator[tuple[str, Case]]:
    yield "reduce of pairs", (_largest, [(4, 2), (4, 2)], False)
    yield "reduce of two", (_sums, [(2, 3), (2, 3)], True)
    yield "sort of pairs", (lambda a, b: lax.sort((a, b), num_keys=1), [(2, 4), (2, 4)], False)
    yield "argmax", (lambda a: jnp.argmax(a, axis=1), [(2, 4)], False)
    yield "median", (lambda a: jnp.median(a, axis=1), [(2, 5)], False)
    yield "clamp", (lax.clamp, [(), (4,), ()], False)
    yield "map", (lambda a, b: lax.map(lambda t: t[0] @ t[1], (a, b)), [(2, 2, 2), (2, 2, 3)], False)
    yield ("scan", (lambda w, x: lax.scan(lambda h, u: (h @ w + u, h), jnp.zeros(2), x), [(2, 2), (3, 2)], False))
    yield ("swap", (lambda a, b: lax.fori_loop(0, 3, lambda k, s: (s[1], s[0] + 1), (a, b)), [(3,), (3,)], False))
    yield "loop in a loop", (_nested, [(3, 2)], False)


def _largest(a: Any, b: Any) -> Any:
    def larger(x: Any, y: Any) -> Any:
        return jnp.where(x[0] > y[0], x[0], y[0]), jnp.where(x[0] > y[0], x[1], y[1])

    return lax.reduce((a, b), (np.float32(-1e9), np.float32(0)), larger, (0,))


def _sums(a: Any, b: Any) -> Any:
    zero = np.float32(0)
    return lax.reduce((a, b), (zero, zero), lambda x, y: (x[0] + y[0], x[1] + y[1]), (1,))


def _nested(a: Any) -> Any:
    return lax.fori_loop(0, 2, lambda k, y: lax.fori_loop(0, 3, _cell(a, k), y), jnp.zeros((2, 3)))


def _cell(a: Any, k: Any) -> Callable[..., Any]:
    return lambda j, z: z.at[k, j].set(a[j, k])


CASES: dict[str, Case] = {
    name: case for made in (einsums, convolutions, windows, addressed, static, moved, decided) for name, case in made()
}


def differ(old: np.ndarray, new: np.ndarray) -> np.ndarray:
    """Return where values differ.  Elements outside are filled with NaN, and two NaNs count as equal."""
    return (old != new) & ~(np.isnan(old) & np.isnan(new))


def _distinct(rng: np.random.Generator, shape: Sizes) -> np.ndarray:
    count = math.prod(shape)
    return np.asarray(rng.permutation(3 * count)[:count].reshape(shape) + 1.0, dtype=np.float32)


def named(maps: ComputationMaps, key: tuple[int, int]) -> set[Any]:
    """Return the pairs that the maps of two arrays relate, for all values of runtime variables."""
    pairs = set().union(*(m.relation() for m in maps.get(key, [])))
    return pairs if maps.direction == "output_to_input" else {(o, i) for i, o in pairs}


@pytest.mark.parametrize("name", CASES)
def test_what_depends_is_named(name: str) -> None:
    function, given, exact = CASES[name]
    addresses = {k for k, x in enumerate(given) if x and x[-1] == "i"}
    shapes = [tuple(n for n in x if n != "i") for x in given]
    run = jax.jit(function, keep_unused=True)
    kinds = [np.int32 if k in addresses else np.float32 for k in range(len(shapes))]
    lowered = run.lower(*(jax.ShapeDtypeStruct(x, kind) for x, kind in zip(shapes, kinds, strict=True)))
    rng = np.random.default_rng(3)
    draws = [
        [rng.integers(0, 6, x).astype(np.int32) if k in addresses else _distinct(rng, x) for k, x in enumerate(shapes)]
        for _ in range(DRAWN)
    ]
    seen = dependence(run, draws, (-7, 9, 1000), differ, {*range(len(shapes))} - addresses)
    assert seen
    for text in (lowered.compiler_ir("hlo").as_hlo_text(), lowered.compile().as_text()):
        module = read_module(text)
        made = module_maps(module)
        there, back = (made.computation(module.entry, direction) for direction in DIRECTIONS)
        assert there.unknown == back.unknown == {}
        for key in {*seen, *there, *back}:
            if key[1] in addresses:
                continue
            pairs = named(there, key)
            assert named(back, key) == pairs, key
            assert seen.get(key, set()) <= pairs, (key, sorted(seen[key] - pairs)[:5])
            if exact:
                assert not there.at_most
                assert seen.get(key, set()) == pairs, (key, sorted(pairs - seen.get(key, set()))[:5])
