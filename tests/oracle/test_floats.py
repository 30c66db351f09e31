"""Both evaluators of `f32` against jax, bit by bit; each operation alone, so that none is fused with another."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from indexproof.core.analysis.values import values_of
from indexproof.core.hlo import read_module
from indexproof.verify.analysed import module_maps
from indexproof.verify.modules import ModuleVerifier
from indexproof.verify.values import Bits, evaluate

jax = pytest.importorskip("jax")
jnp, lax = jax.numpy, jax.lax

COUNT = 200
OPERATIONS: dict[str, tuple[str, str, Callable[..., Any]]] = {
    name: ("ff", "f", getattr(lax, name[:3]))
    for name in ("add", "subtract", "multiply", "divide", "maximum", "minimum")
}
OPERATIONS |= {name: ("f", "f", getattr(lax, name)) for name in ("abs", "floor", "ceil")}
OPERATIONS |= {
    f"compare, direction={d}": ("ff", "p", getattr(lax, d.lower())) for d in ("EQ", "NE", "LT", "LE", "GT", "GE")
}
OPERATIONS |= {
    "clamp": ("fff", "f", lax.clamp),
    "negate": ("f", "f", lax.neg),
    "round-nearest-afz": ("f", "f", lambda a: lax.round(a, lax.RoundingMethod.AWAY_FROM_ZERO)),
    "round-nearest-even": ("f", "f", lambda a: lax.round(a, lax.RoundingMethod.TO_NEAREST_EVEN)),
    "select": ("pff", "f", lax.select),
    "convert to s32": ("f", "s", lambda a: a.astype(np.int32)),
    "convert to u8": ("f", "u", lambda a: a.astype(np.uint8)),
    "convert": ("s", "f", lambda a: a.astype(np.float32)),
}
TYPES = {"f": ("f32", np.float32), "s": ("s32", np.int32), "u": ("u8", np.uint8), "p": ("pred", np.bool_)}
WORDS = {np.float32: np.uint32, np.int32: np.uint32, np.uint8: np.uint8, np.bool_: np.uint8}
EDGES = (0.0, 0.5, 1.5, 2.5, -0.5, 0.49999997, 8388607.5, 16777217.0, 3e38, 2e-38, 255.0, 256.0, 2147483520.0, np.inf)
EDGES += tuple(-e for e in EDGES)


def drawn(kind: str, rng: np.random.Generator) -> np.ndarray[Any, Any]:
    if kind == "p":
        return rng.integers(0, 2, COUNT).astype(bool)
    if kind == "s":
        return rng.integers(-(2**31), 2**31, COUNT).astype(np.int32) >> rng.integers(0, 31, COUNT).astype(np.int32)
    numbers = rng.choice([-1, 1], COUNT) * rng.random(COUNT) * 2.0 ** rng.integers(-9, 40, COUNT)
    numbers = np.where(rng.random(COUNT) < 0.3, rng.choice(EDGES, COUNT), numbers)
    return np.where(rng.random(COUNT) < 0.2, np.round(numbers * 2) / 2, numbers).astype(np.float32)


def undecided(operation: str, arrays: list[np.ndarray[Any, Any]], made: np.ndarray[Any, Any]) -> bool:
    """Return whether the result depends on the platform: signs of zeros, NaNs, subnormals, overflow of a conversion."""
    for a in (*arrays, made):
        if a.dtype == np.float32 and (np.isnan(a) | ((a != 0) & (np.abs(a) < np.finfo(np.float32).tiny))).any():
            return True
    if operation in ("multiply", "divide") and made[0] == 0:
        # jax may have flushed it; a quotient by infinity is zero
        return all(a[0] != 0 for a in arrays)
    if operation in ("maximum", "minimum"):
        return zeros(*arrays)
    if operation == "clamp":
        return zeros(arrays[0], arrays[1]) or zeros(np.maximum(arrays[0], arrays[1]), arrays[2])
    if operation.startswith("convert to"):
        return bool(np.trunc(arrays[0][0]) != made[0]) or abs(arrays[0][0]) >= 2.0**31
    return False


def zeros(a: np.ndarray[Any, Any], b: np.ndarray[Any, Any]) -> bool:
    """Return whether one is 0.0 and the other -0.0."""
    return bool(a[0] == b[0] == 0 and np.signbit(a[0]) != np.signbit(b[0]))


@pytest.mark.parametrize("operation", OPERATIONS)
def test_numbers_are_those_of_jax(operation: str) -> None:
    given, result, run = OPERATIONS[operation]
    rng = np.random.default_rng(len(operation))
    arrays = [drawn(kind, rng) for kind in given]
    made = np.asarray(jax.jit(run)(*arrays))
    name, _, attributes = operation.partition(",")
    lines = [f"p{k} = {TYPES[kind][0]}[1] parameter({k})" for k, kind in enumerate(given)]
    named = ", ".join(f"p{k}" for k in range(len(given)))
    lines.append(f"ROOT r = {TYPES[result][0]}[1] {name.split(' ')[0]}({named}){',' * bool(attributes)}{attributes}")
    entry = read_module("ENTRY e {\n" + "\n".join(lines) + "\n}").entry
    known = 0
    for k in range(COUNT):
        ones = [a[k : k + 1] for a in arrays]
        words = [int(a.view(WORDS[a.dtype.type])[0]) for a in ones]
        signed = [int(a[0]) if a.dtype == np.int32 else w for a, w in zip(ones, words, strict=True)]
        first = values_of({}, entry, {(j, ()): (w,) for j, w in enumerate(signed)}, asked="r").get("r")
        widths = [{"p": 1, "f": 33}.get(kind, 32) for kind in given]
        bits = {(j, ()): Bits(n, [w]) for j, (n, w) in enumerate(zip(widths, words, strict=True))}
        second = evaluate({}, entry, bits).get("r")
        if undecided(operation, ones, made[k : k + 1]):
            # an operand that is not selected does not matter
            assert (first is None and second is None) or operation in ("select", "divide")
            continue
        assert first is not None, (operation, ones)
        assert second is not None, (operation, ones)
        wanted = made[k : k + 1].view(WORDS[made.dtype.type])
        # the bit above the 32 bits of a number flags a rounded product
        assert [v % (1 << 32) for v in second[()].words] == wanted.tolist(), (operation, ones)
        assert [v % (1 << 32) for v in first[()]] == wanted.tolist(), (operation, ones)
        known += 1
    assert known > COUNT // 10


@pytest.mark.parametrize("sizes", [(5, 8), (6, 9), (37, 101), (100, 37), (14, 21), (224, 512), (3, 1)])
def test_nearest_elements_are_those_of_jax(sizes: tuple[int, int]) -> None:
    before, after = sizes
    resized = jax.jit(lambda x: jax.image.resize(x, (after,), "nearest"))
    place = np.asarray(resized(np.arange(before, dtype=np.float32))).astype(int).tolist()
    text = resized.lower(jax.ShapeDtypeStruct((before,), np.float32)).compile().as_text()
    module = read_module(text)
    verifier = ModuleVerifier(module)
    assert not [c for computation in module.callees_first for c in verifier.check(computation).failed]
    (m,) = module_maps(module).computation(module.entry, "output_to_input")[0, 0]
    assert m.relation() == {((o,), (i,)) for o, i in enumerate(place)}


def test_a_product_that_is_added_to_may_not_be_rounded() -> None:
    """A product inside a sum may be rounded or fused: for 0.7 · 10 - 7 jax computes either result."""

    def places(x: Any, numbers: Any) -> Any:
        return x[(jnp.floor(numbers * 0.7 - 7) + 7).astype(int)]

    numbers, x = np.arange(12, dtype=np.float32), np.arange(9, dtype=np.float32)
    run = jax.jit(lambda x: places(x, jnp.arange(12, dtype=np.float32)))
    either = {(10, int(found[10])) for found in (jax.jit(places)(x, numbers), run(x))}
    assert either == {(10, 6), (10, 7)}
    lowered = run.lower(jax.ShapeDtypeStruct((9,), np.float32))
    for text in (lowered.as_text("hlo"), lowered.compile().as_text()):
        module = read_module(text)
        (m,) = module_maps(module).computation(module.entry, "output_to_input")[0, 0]
        assert either <= {(o, i) for (o,), (i,) in m.relation()}


def test_what_no_definition_says_is_not_known() -> None:
    text = """
ENTRY e {
  a = f32[4] constant({1, 2, nan, 4})
  b = f32[2] constant({1e-40, 2})
  c = f32[2] constant({3, 2e10})
  d = s32[2] convert(c)
  s = f32[2] sine(c)
  t = pred[2] compare(c, c), direction=LT, type=TOTALORDER
  h = bf16[2] convert(c)
  ROOT r = tuple(a, b, d, s, t, h)
}
"""
    entry = read_module(text).entry
    assert evaluate({}, entry, {}).keys() == {"c"}
    assert values_of({}, entry, {}, asked="r").keys() == {"c"}
