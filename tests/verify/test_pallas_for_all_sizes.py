"""Claims about Pallas kernels of symbolic sizes agree with claims about the same kernels at concrete sizes."""

from __future__ import annotations

import itertools
import random
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import pytest

pytest.importorskip("jax")

import jax
import jax.export
import jax.numpy as jnp
from broken.pallas_calls import SIZED, Mistake, array, copied, sized, sparse, symbolic
from jax.experimental import pallas as pl
from jax.experimental.pallas import triton as plgpu

import indexproof.pallas
from indexproof import InputError
from indexproof.core.expr import lift
from indexproof.core.pallas_call import PallasCall
from indexproof.reports.pallas import assert_pallas_ok, pallas_json, pallas_text
from indexproof.verify.concrete import equal_maps
from indexproof.verify.pallas import CLAIMS, CheckedPallasCall, verify_pallas
from indexproof.verify.pallas_claims import elements
from indexproof.verify.verdict import Status

TOP = f"n ≤ {2**31 - 1}"


def call_of(function: Callable[..., Any], *args: Any) -> PallasCall:
    (call,) = indexproof.pallas.pallas_calls(function, *args)
    return call


def checked_at(function: Callable[..., Any], args: tuple[Any, ...], values: dict[str, int]) -> CheckedPallasCall:
    """Check the call that the function makes for arguments of concrete sizes."""
    shapes = [tuple(n if isinstance(n, int) else values[str(n)] for n in a.shape) for a in args]
    return verify_pallas(call_of(function, *(array(*s, dtype=a.dtype) for s, a in zip(shapes, args, strict=True))))


def refuted(checked: CheckedPallasCall) -> dict[tuple[str, str], dict[str, int]]:
    found = [c for c in checked.claims if c.answer.verdict is Status.REFUTED]
    return {(c.operand, c.kind): dict(c.answer.counterexample.values) for c in found if c.answer.counterexample}


# --------------------------------------------------------------------------------------------------- planted mistakes
@pytest.mark.parametrize("mistake", SIZED, ids=lambda m: m.name)
def test_mistakes_are_found(mistake: Mistake) -> None:
    call = call_of(mistake.wrong, *mistake.args)
    checked = verify_pallas(call)
    assert {kind for _, kind in refuted(checked)} == {mistake.fails}
    found = refuted(checked)[mistake.operand, mistake.fails]
    values = {p: found.pop(p) for p in call.parameters}
    assert (
        found.keys() == refuted(checked_at(mistake.wrong, mistake.args, values))[mistake.operand, mistake.fails].keys()
    )
    claim = next(c for c in checked.claims if (c.operand, c.kind) == (mistake.operand, mistake.fails))
    assert claim.answer.counterexample is not None
    if claim.answer.counterexample.minimal and len(values) == 1:
        ((name, least),) = values.items()
        for n in range(max(1, least - 20), least):
            assert (mistake.operand, mistake.fails) not in refuted(checked_at(mistake.wrong, mistake.args, {name: n}))
    with pytest.raises(AssertionError, match="REFUTED"):
        assert_pallas_ok(mistake.wrong, *mistake.args)
    assert_pallas_ok(mistake.right, *mistake.args)


def test_every_kind_of_claim_has_a_mistake() -> None:
    # tables and the stores of a kernel do not depend on sizes
    assert {m.fails for m in SIZED} == set(CLAIMS) - {"table", "stored"}


def late(usual: Callable[..., Any], then: int) -> Callable[..., Any]:
    """Return an index map with the index ``then`` in iteration 600."""
    return lambda i, *rest: (jnp.where(i == 600, then, usual(i)), 0)


TWICE = {"grid": lambda n: (pl.cdiv(n, 8), 2), "source": lambda i, j, n: (i, 0)}
ELEMENTS = {"block": (8, 128), "out_block": (pl.Element(8, (8, 8)), 128)}


@pytest.mark.parametrize(("kind", "options"), [
    ("in bounds", {"target": lambda i, n: (i + i // 600, 0)}),
    ("in bounds", {"target": late(lambda i: i, -1)}),
    ("consecutive", {"target": lambda i, n: (i % 600, 0)}),
    ("consecutive", {"target": lambda i, j, n: (jnp.where((i == 600) & (j == 0), 1001, 2 * i + j), 0), **TWICE}),
    # the later block starts before the earlier one, or outside the array
    ("consecutive", {"target": late(lambda i: 8 * i + 13, 8), **ELEMENTS}),
    ("consecutive", {"target": late(lambda i: 8 * i + 8, 5), **ELEMENTS}),
    ("no race", {"target": lambda i, n: (jnp.minimum(i, 600), 0), "semantics": "p"}),
    # the element that is read was written as part of a larger block
    ("alias", {"source": late(lambda i: i + 2, 400), "target": lambda i, n: (i // 2, 0), "out_block": (16, 128),
        "input_output_aliases": {0: 0}}),
])  # fmt: skip
def test_what_is_false_only_at_large_sizes_is_refuted(kind: str, options: dict[str, Any]) -> None:
    (x,) = symbolic("n,128", constraints=("n <= 100000",))
    run = sized(**options)
    values = refuted(verify_pallas(call_of(run, x)))["o_ref", kind]
    assert values["n"] > 8 * 599
    assert ("o_ref", kind) in refuted(checked_at(run, (x,), {"n": values["n"]}))


INDICES: list[tuple[dict[str, Any], Status]] = [
    ({"target": lambda i, n: (jnp.minimum(i, pl.cdiv(n, 8) - 1), 0)}, Status.PROVED),
    ({"target": lambda i, n: (jnp.maximum(i - 2, 0), 0)}, Status.PROVED),
    ({"target": lambda i, n: (jnp.clip(pl.cdiv(n, 8) - i, 0, pl.cdiv(n, 8) - 1), 0)}, Status.PROVED),
    ({"target": lambda i, n: (jnp.where(i == 0, 0, i - 1), 0)}, Status.PROVED),
    ({"target": lambda i, n: (jnp.where(i < pl.cdiv(n, 8), i, pl.cdiv(n, 8) - 1), 0)}, Status.PROVED),
    (
        {"target": lambda i, n: (jnp.minimum(i * 8, n - 8), 0), **ELEMENTS, "out_block": (pl.Element(8), 128)},
        Status.PROVED,
    ),
    # with one argument of the minimum alone, the iteration may not exist
    ({**TWICE, "target": lambda i, j, n: (jnp.minimum(pl.cdiv(n, 8) - 1 - j, i), 0)}, Status.PROVED),
    ({"target": lambda i, n: (jnp.minimum(i, pl.cdiv(n, 8) - 2), 0)}, Status.REFUTED),
    ({"target": lambda i, n: (jnp.maximum(i - 3, 0), 0)}, Status.REFUTED),
    ({"target": lambda i, n: (jnp.minimum(i, 600), 0)}, Status.REFUTED),
    ({"target": lambda i, n: (jnp.minimum(2 * i, pl.cdiv(n, 8) - 1), 0)}, Status.REFUTED),
    (
        {"target": lambda i, n: (jnp.maximum(n - 8 - 8 * i, 0), 0), **ELEMENTS, "out_block": (pl.Element(8), 128)},
        Status.PROVED,
    ),
    (
        {"target": lambda i, n: (jnp.maximum(n - 8 - 9 * i, 0), 0), **ELEMENTS, "out_block": (pl.Element(8), 128)},
        Status.REFUTED,
    ),
    # a rotation writes each block once, even though it wraps around
    ({"target": lambda i, n: ((i + 1) % pl.cdiv(n, 8), 0)}, Status.PROVED),
    ({"target": lambda i, n: ((i - 3) % pl.cdiv(n, 8), 0)}, Status.PROVED),
    ({"target": lambda i, n: ((pl.cdiv(n, 8) // 2 - i) % pl.cdiv(n, 8), 0)}, Status.PROVED),
    ({"target": lambda i, n: ((i + 1) % jnp.maximum(n // 8, 1), 0)}, Status.REFUTED),
    ({"target": lambda i, n: (jax.lax.rem(i + 1, pl.cdiv(n, 8)), 0)}, Status.PROVED),
    ({"target": lambda i, n: (jax.lax.rem(i + 1, pl.cdiv(n, 8) + 3), 0)}, Status.REFUTED),
    # even places first, then odd places
    ({"target": lambda i, n: (jnp.where(i % 2 == 0, i // 2, (pl.cdiv(n, 8) + 1) // 2 + i // 2), 0)}, Status.PROVED),
    ({"target": lambda i, n: (i // 2 + i % 2 * ((pl.cdiv(n, 8) + 1) // 2), 0)}, Status.PROVED),
    ({"target": lambda i, n: (jnp.where(i % 2 == 0, i // 2, (pl.cdiv(n, 8) + 5) // 2 + i // 2), 0)}, Status.REFUTED),
    # even places from the beginning, odd places from the end
    ({"target": lambda i, n: (jnp.where(i % 2 == 0, i // 2, pl.cdiv(n, 8) - 1 - i // 2), 0)}, Status.UNDECIDED),
]


@pytest.mark.parametrize(("options", "verdict"), INDICES)
def test_whether_the_blocks_of_an_index_are_written(options: dict[str, Any], verdict: Status) -> None:
    (x,) = symbolic("n,128", constraints=("n >= 8", "n <= 1000000"))
    run = sized(**{"grid": lambda n: (pl.cdiv(n, 8) + 2,), "source": lambda i, n: (0, 0), **options})
    checked = verify_pallas(call_of(run, x))
    answer = next(c.answer for c in checked.claims if c.kind == "written")
    assert answer.verdict is verdict
    if verdict is Status.REFUTED:
        assert ("o_ref", "written") in refuted(checked_at(run, (x,), {"n": refuted(checked)["o_ref", "written"]["n"]}))
    if verdict is Status.UNDECIDED:
        assert re.fullmatch(r"is not proved for all sizes, no counterexample at \d+ sizes", answer.tried[-1])
    for n in (8, 9, 16, 23, 40) if verdict is Status.PROVED else ():
        assert ("o_ref", "written") not in refuted(checked_at(run, (x,), {"n": n}))


def test_the_smallest_size_is_found() -> None:
    (x,) = symbolic("n,128", constraints=("mod(n, 3) == 0",))
    checked = verify_pallas(call_of(sized(lambda n: (pl.cdiv(n, 8) + n // 70,)), x))
    found = next(c.answer.counterexample for c in checked.claims if (c.operand, c.kind) == ("x_ref", "in bounds"))
    assert found is not None
    assert (found.values["n"], found.minimal) == (72, True)


def test_elements_are_those_of_concrete_sizes() -> None:
    (x,) = symbolic("n,128")
    call = call_of(sized(target=lambda i, n: (i * 6 + 5, 0), **ELEMENTS), x)
    m, shape = elements(call.operand("o_ref"))
    for n in (3, 16, 17):
        concrete, sizes = elements(call.at({"n": n}).operand("o_ref"))
        assert equal_maps(m.at({"n": n}), concrete.at({})).proved
        assert [lift(e).evaluate({"n": n}) for e in shape] == sizes


# ------------------------------------------------------------------------------------------------- concrete sizes agree
@dataclass(frozen=True)
class Spec:
    """A kernel on arrays of n × m elements with blocks of 8 × 4, for random grids, index maps and options."""

    grid: tuple[str, ...]
    semantics: tuple[str, ...]
    maps: tuple[str, str]
    element: bool
    alias: bool

    def __call__(self, x: Any) -> Any:
        names = {"n": x.shape[0], "m": x.shape[1], "cdiv": pl.cdiv, "min": jnp.minimum, "where": jnp.where}
        axes = ", ".join("ij"[: len(self.grid)])
        first: Any = pl.Element(8) if self.element else 8
        specs = [pl.BlockSpec((first, 4), eval(f"lambda {axes}: {text}", names)) for text in self.maps]
        grid = tuple(eval(g, names) for g in self.grid)
        return copied(x.shape, (8, 4), None, None, grid, "".join(s[0] for s in self.semantics), specs=specs,
            **({"input_output_aliases": {0: 0}} if self.alias else {}))(x)  # fmt: skip


def random_spec(seed: int) -> Spec:
    rng = random.Random(seed)
    rank = rng.choice([1, 2, 2])
    grid = (rng.choice(["cdiv(n, 8)", "cdiv(n, 8)", "n // 8", "n // 8 + 1"]), rng.choice(["cdiv(m, 4)", "m // 4", "3"]))
    element = rng.random() < 0.15
    first = ["i", "i", "n // 8 - 1 - i", "i // 2", "i % 3", "min(i, n // 8)", "where(i > 2, 0, i)", "0"]
    second = ["j", "j", "cdiv(m, 4) - 1 - j", "j // 2", "0"] if rank == 2 else ["0", "i // 4", "m // 4"]
    if element:
        first = ["i * 8", "i * 7", "where(i * 8 < n, i * 8, 0)"]
    maps = [f"({rng.choice(first)}, {rng.choice(second)})" for _ in range(2)]
    if rng.random() < 0.4:
        rank, grid = 2, ("cdiv(n, 8)", "cdiv(m, 4)")
        maps[1] = rng.choice(["(i * 8, j)"] if element else ["(i, j)", "(i, cdiv(m, 4) - 1 - j)"])
    semantics = tuple(rng.choice(["arbitrary", "arbitrary", "parallel"]) for _ in range(rank))
    if rank == 2 and rng.random() < 0.3:
        grid, maps = grid[::-1], [re.sub(r"\b[ij]\b", lambda a: "ji"["ij".index(a[0])], m) for m in maps]
    return Spec(grid[:rank], semantics, (maps[0], maps[1]), element, rng.random() < 0.2)


def outcomes(spec: Spec) -> Iterator[tuple[str, Status]]:
    (x,) = symbolic("n,m")
    call = call_of(spec, x)
    checked = verify_pallas(call)
    false = [
        refuted(checked_at(spec, (x,), {"n": n, "m": m})) for n, m in itertools.product((1, 7, 8, 17, 40), (1, 8, 13))
    ]
    for c in checked.claims:
        at = (c.operand, c.kind)
        if c.answer.proved:
            assert not any(at in f for f in false), (spec, c)
        if c.answer.counterexample is not None:
            values = {p: c.answer.counterexample.values[p] for p in call.parameters}
            assert at in refuted(checked_at(spec, (x,), values)), (spec, c)
        yield c.kind, c.answer.verdict


@pytest.mark.parametrize("part", range(4))
def test_concrete_sizes_agree_on_random_specifications(part: int) -> None:
    found = [x for seed in range(part * 12, part * 12 + 12) for x in outcomes(random_spec(seed))]
    assert set(found) >= {(k, v) for k in ("in bounds", "written") for v in (Status.PROVED, Status.REFUTED)}
    assert sum(v is Status.UNDECIDED for _, v in found) <= len(found) // 10


def test_sizes_are_machine_integers() -> None:
    # a selection is only understood if sizes are machine integers
    maps = ("(i * 8, m // 4)", "(where(i * 8 < n, i * 8, 0), m // 4)")
    assert ("no race", Status.PROVED) in outcomes(Spec(("n // 8",), ("parallel",), maps, element=True, alias=False))


# --------------------------------------------------------------------------------------------- what is read of a function
def test_constraints_are_read_from_the_scope_of_the_sizes() -> None:
    (x,) = symbolic("n,128", constraints=("mod(n, 8) == 0", "n <= 4096", "n >= 16"))
    call = call_of(sized(lambda n: (n // 8,)), x)
    assert (call.parameters, [*map(str, call.conditions)]) == (
        ("n",),
        ["1 ≤ n", TOP, "n mod 8 = 0", "n ≤ 4096", "16 ≤ n"],
    )
    assert verify_pallas(call).verdict is Status.PROVED
    (x,) = symbolic("n,128", constraints=("n >= 16",))
    assert refuted(verify_pallas(call_of(sized(lambda n: (n // 8,)), x)))["o_ref", "written"]["n"] == 17
    (x,) = symbolic("n,128", constraints=("n >= 16", "n <= 3"))
    with pytest.raises(InputError, match="contradict each other"):
        verify_pallas(call_of(sized(), x))


def test_sizes_of_jax_are_expressions() -> None:
    (x,) = symbolic("2*n + 3*m,128")
    call = call_of(
        sized(lambda n: (n * n, jax.core.max_dim(n % 8 - n // 4, 2)), lambda i, j, n: (i, 0), lambda i, j, n: (j, 0)), x
    )
    for n, m in ((3, 4), (1, 1), (2, 1)):
        at, size = call.at({"n": n, "m": m}), 2 * n + 3 * m
        assert at.grid == (size * size, max(size % 8 - size // 4, 2))
        assert at.operands[0].shape == (size, 128)


def test_index_maps_with_sizes_mean_what_jax_computes() -> None:
    def index(i: Any, n: Any) -> Any:
        return (i * (n // 8) + i // (n // 8 + 1) - i % n) % 5 + jnp.where(i < n // 2, n % 3, -i), jnp.maximum(i, n) - n

    (x,) = symbolic("n,128", constraints=("n <= 1000",))
    call = call_of(sized(lambda n: (n,), index), x)
    for n in (1, 7, 8, 30):
        m = call.at({"n": n}).operands[0].index
        assert m is not None
        for i in range(n):
            assert m.evaluate((i,)) == tuple(int(e) for e in index(jnp.int32(i), n))


def test_a_size_that_divides_is_not_zero() -> None:
    for text, index in ((1, lambda i, n: 3 % (n - 1)), (2, lambda i, n: 3 // (n - 2))):
        for least, why in ((text, f"the divisor n - {text} may be zero"), (text + 1, "")):
            (x,) = symbolic("n,128", constraints=(f"n >= {least}", "n <= 1000"))
            call = call_of(sized(lambda n: (n,), lambda i, n, f=index: (f(i, n), 0)), x)
            assert call.operands[0].why == why
            assert {c.answer.verdict for c in verify_pallas(call).claims if c.operand == "x_ref"} == {
                Status.UNDECIDED if why else Status.REFUTED
            }


def test_symbols_and_axes_of_one_name() -> None:
    (x,) = symbolic("i,128")

    def run(x: Any) -> Any:
        spec = pl.BlockSpec((8, 128), lambda i: (i, 0))
        return copied(x.shape, None, None, None, (pl.cdiv(x.shape[0], 8),), specs=[spec, spec])(x)

    call = call_of(run, x)
    assert (call.parameters, call.axes) == (("i",), ("i_",))
    assert verify_pallas(call).verdict is Status.PROVED


@pytest.mark.parametrize(("grid", "said"), [
    (lambda n: (n // 8,), "o_ref has (0, 0) at t0 = 1: no iteration has it"),
    (lambda n: (pl.cdiv(n, 8) - n // 70,), "o_ref has (8, 0) at t0 = 70: no iteration has it"),
])  # fmt: skip
def test_a_symbol_may_have_the_name_of_what_is_not_written(grid: Any, said: str) -> None:
    (x,) = symbolic("t0,128")
    assert said in pallas_text([verify_pallas(call_of(sized(grid), x))])


def test_calls_in_nested_functions() -> None:
    (x,) = symbolic("n,128")

    def nested(x: Any) -> Any:
        y = jax.jit(sized())(x)
        return jax.vmap(sized())(jnp.stack([x, y]))

    one, two = indexproof.pallas.pallas_calls(nested, x)
    assert (one.parameters, len(one.grid), two.grid[0]) == (("n",), 1, 2)
    assert_pallas_ok(nested, x)
    (many,) = symbolic("b,n,128")
    assert call_of(jax.vmap(sized(lambda n: (n // 8 + 1,))), many).semantics == ("parallel", "arbitrary")
    assert (
        refuted(verify_pallas(call_of(jax.vmap(sized(lambda n: (n // 8 + 1,))), many)))["o_ref", "in bounds"]["n"] == 8
    )


@pytest.mark.parametrize(("index", "why"), [
    (lambda i, n: (i * n, 0), "may overflow int32"),
    (lambda i, n: (i // (n - 1), 0), "the divisor n - 1 may be zero"),
    (lambda i, n: (i * i, 0), "multiplies"),
])  # fmt: skip
def test_what_is_no_parametric_map_is_undecided(index: Any, why: str) -> None:
    (x,) = symbolic("n,128")
    checked = verify_pallas(call_of(sized(source=index), x))
    answer = next(c.answer for c in checked.claims if (c.operand, c.kind) == ("x_ref", "in bounds"))
    assert answer.verdict is Status.UNDECIDED
    assert why in answer.tried[-1]


def test_scalar_prefetch_needs_concrete_sizes() -> None:
    scope = jax.export.SymbolicScope()
    rows = array(*jax.export.symbolic_shape("n,128", scope=scope))
    checked = verify_pallas(call_of(sparse(), array(4, 3, dtype="int32"), rows))
    found = {(c.operand, c.kind): c.answer for c in checked.claims}
    assert found["x_ref", "in bounds"].tried == ("scalar prefetch needs concrete sizes",)
    assert found["o_ref", "written"].proved


def test_programs_of_triton_may_share_a_block() -> None:
    (x,) = symbolic("n,128")
    run = sized(target=lambda i, n: (i // 2, 0), compiler_params=plgpu.CompilerParams())
    checked = verify_pallas(call_of(run, x))
    answer = next(c.answer for c in checked.claims if c.kind == "no race")
    assert answer.tried == ("the kernel stores to the array itself, and programs may share a block",)


def test_an_output_that_is_forgotten() -> None:
    def run(x: Any) -> Any:
        spec = pl.BlockSpec((8, 128), lambda i: (i, 0))
        grid = (pl.cdiv(x.shape[0], 8),)
        return pl.pallas_call(lambda x, o: None, grid=grid, in_specs=[spec], out_specs=spec, out_shape=x)(x)

    (x,) = symbolic("n,128")
    assert refuted(verify_pallas(call_of(run, x))) == {("o", "stored"): {}}
    with pytest.raises(AssertionError, match="never mentions"):
        assert_pallas_ok(run, x)


def test_a_grid_that_is_computed_of_sizes_is_data() -> None:
    def run(x: Any, number: Any) -> Any:
        return sized(lambda n: (number(n),))(x)

    (x,) = symbolic("n,128")
    for number in (
        lambda n: jnp.int32(n) // 8,
        lambda n: jnp.arange(n).sum(),
        lambda n: jax.jit(lambda: n + jnp.int32(1))(),
    ):
        call = call_of(lambda x, number=number: run(x, number), x)
        assert call.grid == (None,)
        assert {c.answer.tried for c in verify_pallas(call).claims} == {
            ("a size of the grid is only known at run time",)
        }


def test_a_grid_of_less_than_nothing_has_no_iterations() -> None:
    (x,) = symbolic("n,128")
    call = call_of(sized(lambda n: (n // 8 - 1,)), x)
    assert call.at({"n": 1}).grid == (0,)
    assert set(refuted(verify_pallas(call))) == {("o_ref", "written")}
    with pytest.raises(AssertionError, match="at n = 1: how many iterations have each of the 1 × 1 blocks"):
        assert_pallas_ok(sized(lambda n: (n // 8 - 1,)), x)


@pytest.mark.parametrize(("grid", "target", "visits"), [
    (lambda n: (pl.cdiv(n, 8),), lambda i, n: (i, 0), ["1", "1"]),
    (lambda n: (pl.cdiv(n, 8), n), lambda i, j, n: (i, 0), ["n", "n"]),
    (lambda n: (2 * pl.cdiv(n, 8),), lambda i, n: (i // 2, 0), None),
    (lambda n: (pl.cdiv(n, 8) - 1, 2), lambda i, j, n: (i + j, 0), None),
    (lambda n: (n // 8 + 1,), lambda i, n: (i, 0), None),
])  # fmt: skip
def test_how_often_blocks_are_visited(grid: Any, target: Any, visits: list[str] | None) -> None:
    (x,) = symbolic("n,128", constraints=("n >= 9",))
    source = (lambda i, n: (0, 0)) if len(grid(8)) == 1 else lambda i, j, n: (0, 0)
    checked = [verify_pallas(call_of(sized(grid, source, target), x))]
    assert pallas_json(checked, 0)["calls"][0]["visits"].get("o_ref") == visits
    assert ("visited" in pallas_text(checked)) == (visits is not None)
