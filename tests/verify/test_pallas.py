"""Claims about Pallas kernels: planted mistakes, kernels of tutorials, index maps, and both ways of deciding."""

from __future__ import annotations

import itertools
import random
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

pytest.importorskip("jax")

import jax
import jax.numpy as jnp
from broken.pallas_calls import MISTAKES, Mistake, array, copied, matmul, sparse
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu
from jax.experimental.pallas import triton as plgpu
from oracle.pallas_specs import random_spec

import indexproof.pallas
from indexproof import InputError
from indexproof.core.pallas_call import PallasCall
from indexproof.reports.pallas import assert_pallas_ok
from indexproof.verify.pallas import CheckedPallasCall, PallasClaim, enumerated, verify_pallas
from indexproof.verify.pallas_iterations import visits
from indexproof.verify.verdict import Status

Ranges = dict[str, tuple[int, int]]


def call_of(function: Callable[..., Any], *args: Any, ranges: Ranges | None = None) -> PallasCall:
    (call,) = indexproof.pallas.pallas_calls(function, *args, ranges=ranges)
    return call


def answers(checked: CheckedPallasCall) -> dict[tuple[str, str], Status]:
    return {(c.operand, c.kind): c.answer.verdict for c in checked.claims}


def of_kind(checked: CheckedPallasCall, kind: str) -> PallasClaim:
    return next(c for c in checked.claims if c.kind == kind)


# --------------------------------------------------------------------------------------------------- planted mistakes
@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda m: m.name)
def test_mistakes_are_found(mistake: Mistake) -> None:
    call = call_of(mistake.wrong, *mistake.args, ranges=mistake.ranges)
    checked = verify_pallas(call)
    refuted = {c.kind: c for c in reversed(checked.claims) if c.answer.verdict is Status.REFUTED}
    assert refuted.keys() == {mistake.fails}
    assert (mistake.operand, mistake.fails) in {(c.operand, c.kind) for c in refuted.values()}
    assert refuted[mistake.fails].answer.counterexample is not None
    with pytest.raises(AssertionError, match="REFUTED"):
        assert_pallas_ok(mistake.wrong, *mistake.args, ranges=mistake.ranges)
    ranges = dict.fromkeys(mistake.ranges, (0, 7))
    assert_pallas_ok(mistake.right, *mistake.args, ranges=ranges)
    if not call.tables:
        assert answers(enumerated(call)) == answers(checked)
        assert enumerated(call_of(mistake.right, *mistake.args)).verdict is Status.PROVED


def test_every_kind_of_claim_has_a_mistake() -> None:
    from indexproof.verify.pallas import CLAIMS

    assert {m.fails for m in MISTAKES} == set(CLAIMS)


# -------------------------------------------------------------------------------------------------- both ways to decide
@pytest.mark.parametrize("part", range(4))
def test_both_ways_agree_on_random_specifications(part: int) -> None:
    found = set()
    for seed in range(part * 40, part * 40 + 40):
        spec = random_spec(seed)
        call = call_of(spec.call(), spec.argument)
        checked = verify_pallas(call)
        assert answers(checked) == answers(enumerated(call)), seed
        for c in checked.claims:
            found.add((c.kind, c.answer.verdict))
            if c.answer.verdict is Status.REFUTED:
                assert goes_wrong(call, c), (seed, c)
    assert {v for _, v in found} == {Status.PROVED, Status.REFUTED}


def test_both_ways_agree_on_outputs_that_overwrite_inputs() -> None:
    found = set()
    for seed in range(200):
        spec = random_spec(seed)
        if len(spec.arrays[0]) != len(spec.arrays[1]):
            continue
        rng = random.Random(seed)
        semantics = tuple(rng.choice(["parallel", "arbitrary"]) for _ in spec.grid)
        blocks = spec.blocks if rng.random() < 0.7 else (spec.blocks[1],) * 2
        maps = spec.maps if rng.random() < 0.8 else (spec.maps[1],) * 2
        spec = replace(spec, arrays=(spec.arrays[1],) * 2, blocks=blocks, maps=maps, semantics=semantics)
        call = call_of(spec.call(input_output_aliases={0: 0}), spec.argument)
        checked = verify_pallas(call)
        assert answers(checked) == answers(enumerated(call)), seed
        found |= {(c.kind, c.answer.verdict) for c in checked.claims}
    assert {(k, v) for k in ("alias", "alias race") for v in (Status.PROVED, Status.REFUTED)} <= found


def goes_wrong(call: PallasCall, claim: PallasClaim) -> bool:
    """Return whether the counterexample is right, by evaluating the index map in plain loops."""
    o, found = call.operand(claim.operand), claim.answer.counterexample
    grid = list(itertools.product(*(range(n or 0) for n in call.grid)))
    blocks = {p: o.index.evaluate(p) for p in grid}
    if claim.kind == "written":
        missing = tuple(found.values.values())

        def has(block: tuple[int, ...] | None) -> bool:
            assert block is not None
            for b, x, d in zip(block, missing, o.dims, strict=True):
                start = b * d.step - d.low
                if not (b == x if d.aligned else start <= x < start + d.size):
                    return False
            return True

        return not any(map(has, blocks.values()))
    here = tuple(found.values[a] for a in call.axes)
    if claim.kind == "in bounds":
        block = blocks[here]
        return block is not None and any(x not in d.indices for x, d in zip(block, o.dims, strict=True))
    there = tuple(found.values[f"{a}'"] for a in call.axes)
    if blocks[here] != blocks[there]:
        return False
    if claim.kind == "no race":
        return any(here[k] != there[k] for k in call.parallel)
    between = grid[grid.index(there) + 1 : grid.index(here)]
    return there < here and any(blocks[p] != blocks[here] for p in between)


def test_grids_of_any_size_are_decided() -> None:
    n = 1 << 14
    for target, verdict in (
        (lambda i, j: (i, j // 2), Status.PROVED),
        (lambda i, j: (i, j % 2), Status.REFUTED),
        (lambda i, j: (i // 2, j), Status.REFUTED),
    ):
        start = time.process_time()
        run = copied((n, n // 2), (1, 1), lambda i, j: (i, 0), target, (n, n))
        checked = verify_pallas(call_of(run, array(n, n // 2)))
        assert of_kind(checked, "consecutive").answer.verdict is verdict
        assert time.process_time() - start < 5
    assert enumerated(checked.call).verdict is Status.UNDECIDED


# ---------------------------------------------------------------------------------------------------------- index maps
MAPS: list[Callable[..., Any]] = [
    lambda i, j: i * 3 - j + 2,
    lambda i, j: (i - 2) // 2 + (j - 3) % 2 + i // -2 - (j - 1) % -3,
    lambda i, j: jax.lax.div(i - 3, 2) + jax.lax.rem(j - 2, 3) + jax.lax.div(i - 1, -2),
    lambda i, j: jnp.where(i > j, i, j * 2) + jnp.where((i == 2) & (j != 1), 5, -i),
    lambda i, j: jax.lax.select((i >= 2) | ~(j <= 1), i - j, j - i),
    lambda i, j: jnp.clip(i + j, 1, 4) + jnp.minimum(i, j) + jnp.maximum(2, j) + jnp.abs(i - j),
    lambda i, j: (i & 3) + (j << 2) + (i >> 1) + jnp.sign(i - j) + pl.cdiv(i + j, 3),
    lambda i, j: jax.lax.cond(i < 2, lambda: j, lambda: -j) + (i > j).astype(jnp.int32) * j,
    lambda i, j: jax.lax.switch(i - 1, [lambda x: x, lambda x: 2 * x, lambda x: x + 7], j),
    lambda i, j: jax.jit(lambda a, b: a * 2 + b)(i, j) + (-i) % 4 + jnp.int32(~j),
    lambda i, j: (i.astype(jnp.int16) + j.astype(jnp.int16)).astype(jnp.int32) + jax.lax.clamp(0, i, 2),
    lambda i, j: (i - 1).astype(bool).astype(jnp.int32) + jnp.where(j, i, 2),
]


@pytest.mark.parametrize("number", range(len(MAPS)))
def test_index_maps_mean_what_jax_computes(number: int) -> None:
    function = MAPS[number]
    call = call_of(copied((8,), (1,), lambda i, j: (function(i, j),), lambda i, j: (j,), (4, 5)), array(8))
    m = call.operands[0].index
    assert m is not None, call.operands[0].why
    points = jnp.arange(4)[:, None] + 0 * jnp.arange(5), 0 * jnp.arange(4)[:, None] + jnp.arange(5)
    expected = jax.vmap(jax.vmap(function))(*points)
    assert [[m.evaluate((i, j)) for j in range(5)] for i in range(4)] == [[(int(x),) for x in row] for row in expected]


@pytest.mark.parametrize(("function", "why"), [
    (lambda i, j: i * j, "multiplies i and j"),
    (lambda i, j: i // (j + 1), "neither a constant nor a size"),
    (lambda i, j: (i * 2.5).astype(jnp.int32), "not an integer"),
    (lambda i, j: i * (1 << 30) * 4, "may overflow int32"),
    (lambda i, j: i | j, "computes `or`"),
    (lambda i, j: jax.lax.fori_loop(0, 3, lambda _, x: x + i, j), "the index map computes `scan`"),
    (lambda i, j: jnp.arange(4)[i], "computes `iota`"),
    (lambda i, j: jnp.maximum(-jnp.inf, 1.5).astype(jnp.int32) + i, "a constant of the index map is -inf"),
    (lambda i, j: jnp.real(jnp.complex64(1j)).astype(jnp.int32) + i, "a constant of the index map is 1j"),
])  # fmt: skip
def test_what_is_no_indexing_map_is_undecided(function: Callable[..., Any], why: str) -> None:
    call = call_of(copied((8,), (1,), lambda i, j: (function(i, j),), lambda i, j: (j,), (4, 5)), array(8))
    assert call.operands[0].index is None
    assert why in call.operands[0].why
    assert answers(verify_pallas(call))["x_ref", "in bounds"] is Status.UNDECIDED
    with pytest.raises(AssertionError, match="UNDECIDED"):
        assert_pallas_ok(copied((8,), (1,), lambda i, j: (function(i, j),), lambda i, j: (j,), (4, 5)), array(8))


# ---------------------------------------------------------------------------------------------------- scalar prefetch
TABLE = array(4, 3, dtype="int32")
ROWS = array(64, 128)


def test_scalar_prefetch_is_undecided_without_range_or_values() -> None:
    checked = verify_pallas(call_of(sparse(), TABLE, ROWS))
    assert answers(checked)["x_ref", "in bounds"] is Status.UNDECIDED
    assert of_kind(checked, "in bounds").answer.tried == ("depends on the elements of table: needs table_0 in [0, 7]",)
    assert answers(checked)["x_ref", "table"] is answers(checked)["o_ref", "written"] is Status.PROVED


def test_what_is_read_in_a_branch_is_undecided() -> None:
    def index(i: Any, j: Any, table: Any) -> Any:
        return jax.lax.cond(j < 2, lambda: table[i, j + 1], lambda: jnp.int32(0)), 0

    call = call_of(sparse(index), TABLE, ROWS, ranges={"table": (0, 7)})
    assert call.operand("x_ref").why == "scalar prefetch that is read in a branch"
    assert verify_pallas(call).verdict is Status.UNDECIDED


def test_what_is_read_may_not_matter() -> None:
    for function, right in ((lambda i: i, True), (lambda i: i % 3, False)):
        run = sparse(target=lambda i, j, table, f=function: (f(i) + 0 * table[i, j], 0))
        checked = verify_pallas(call_of(run, TABLE, ROWS, ranges={"table": (0, 7)}))
        refuted = {c.kind for c in checked.claims if c.answer.verdict is Status.REFUTED}
        assert refuted == (set() if right else {"written", "consecutive"})
        assert all(c.answer.verdict is not Status.UNDECIDED for c in checked.claims)


def test_one_element_read_twice_has_one_value() -> None:
    run = sparse(lambda i, j, table: (table[i, 0] - table[i, jnp.minimum(j, 0)], 0))
    ranges = {"table": (0, 7)}
    claim = of_kind(verify_pallas(call_of(run, TABLE, ROWS, ranges=ranges)), "in bounds")
    assert claim.answer.verdict is Status.PROVED
    other = sparse(lambda i, j, table: (table[i, 0] - table[i, 1], 0))
    claim = of_kind(verify_pallas(call_of(other, TABLE, ROWS, ranges=ranges)), "in bounds")
    assert claim.answer.verdict is Status.REFUTED


def test_scalar_prefetch_with_values() -> None:
    def scattered(values: Any) -> CheckedPallasCall:
        run = sparse(target=lambda i, j, table: (table[i, 0], 0))
        return verify_pallas(call_of(run, np.asarray(values, np.int32), ROWS))

    rows = [[0, 7, 3], [1, 1, 1], [2, 0, 0], [3, 5, 6]]
    assert scattered(rows).verdict is Status.PROVED
    twice = scattered([*rows[:3], rows[0]])
    assert {c.kind for c in twice.claims if not c.answer.proved} == {"written", "consecutive"}
    assert of_kind(twice, "in bounds").answer.engine == "enumeration"
    below = scattered([*rows[:3], [3, -1, 0]])
    found = of_kind(below, "in bounds").answer.counterexample
    assert found.values == {"i": 3, "j": 1}
    assert found.left == (-1, 0)


def test_a_range_stands_for_all_tables_within_it() -> None:
    indices = ["t[i]", "t[0] * 2 - j", "t[i] + t[j]", "jnp.minimum(t[j], 1)", "jnp.where(t[i] > i, t[i], j)", "i", "j"]
    indices += [
        "(t[0] + i) % 2",
        "i - t[i]",
        "t[i + j]",
        "t[jnp.clip(t[i], 0, 1)]",
        "i + 0 * t[j]",
        "2 * i + t[1] // 3",
    ]
    found = set()
    for seed in range(40):
        rng = random.Random(seed)
        read, written = (eval(f"lambda i, j, t: ({rng.choice(indices)},)", {"jnp": jnp}) for _ in range(2))
        scalars = {"num_scalar_prefetch": 1, "grid": (2, 2), "in_specs": [pl.BlockSpec((1,), read)]}
        run = pl.pallas_call(
            lambda t, x, o: o.__setitem__(..., x[...]),
            grid_spec=pltpu.PrefetchScalarGridSpec(**scalars, out_specs=pl.BlockSpec((1,), written)),
            out_shape=array(rng.randint(1, 3)),
        )
        call = call_of(run, array(2, dtype="int32"), array(rng.randint(1, 4)), ranges={"t": (0, 2)})
        tables = [replace(call.tables["t"], values=np.array(v)) for v in itertools.product(range(3), repeat=2)]
        each = [answers(enumerated(replace(call, tables={"t": t}))) for t in tables]
        for claim, verdict in answers(verify_pallas(call)).items():
            found.add(verdict)
            if verdict is not Status.UNDECIDED:
                assert (verdict is Status.REFUTED) == any(a[claim] is Status.REFUTED for a in each), (seed, claim)
    assert found == {Status.PROVED, Status.REFUTED, Status.UNDECIDED}


def test_values_are_computed_where_arguments_determine_them() -> None:
    @jax.jit
    def run(sizes: Any, x: Any) -> Any:
        starts = jnp.cumsum(sizes)[:, None] + jnp.arange(3)
        return sparse()(starts.astype(jnp.int32), x)

    assert verify_pallas(call_of(run, np.array([0, 1, 2, 2], np.int32), ROWS)).verdict is Status.PROVED
    assert verify_pallas(call_of(run, np.array([0, 1, 2, 3], np.int32), ROWS)).verdict is Status.REFUTED
    assert verify_pallas(call_of(run, array(4, dtype="int32"), ROWS)).verdict is Status.UNDECIDED


def test_a_shard_of_a_table_is_not_the_table() -> None:
    mesh = jax.sharding.AbstractMesh((2,), ("a",), axis_types=(jax.sharding.AxisType.Auto,))
    rows, whole = jax.sharding.PartitionSpec("a"), jax.sharding.PartitionSpec()
    run = jax.shard_map(sparse(), mesh=mesh, in_specs=(rows, whole), out_specs=rows, check_vma=False)
    table = np.array([[0] * 3] * 4 + [[9] * 3] * 4, np.int32)
    assert verify_pallas(call_of(run, table, ROWS)).verdict is Status.UNDECIDED


def test_a_grid_whose_size_is_data() -> None:
    def run(n: Any, x: Any) -> Any:
        return copied((32, 128), (8, 128), lambda i: (i, 0), lambda i: (i, 0), (n,))(x)

    assert call_of(run, array(dtype="int32"), array(32, 128)).grid == (None,)
    assert verify_pallas(call_of(run, array(dtype="int32"), array(32, 128))).verdict is Status.UNDECIDED
    assert verify_pallas(call_of(run, np.int32(4), array(32, 128))).verdict is Status.PROVED
    assert verify_pallas(call_of(run, np.int32(5), array(32, 128))).verdict is Status.REFUTED


def test_a_range_for_nothing() -> None:
    with pytest.raises(InputError, match="no scalar prefetch operand is called tabel"):
        call_of(sparse(), TABLE, ROWS, ranges={"tabel": (0, 7)})


# ---------------------------------------------------------------------------------------------------- what calls there are
def test_calls_in_nested_functions() -> None:
    run = copied((32, 128), (8, 128), lambda i: (i, 0), lambda i: (i, 0), (4,))

    def nested(x: Any) -> Any:
        y = jax.jit(run)(x)
        z, _ = jax.lax.scan(lambda c, _: (run(c), None), y, None, length=3)
        return jax.lax.cond(z[0, 0] > 0, run, lambda a: a, z)

    assert len(indexproof.pallas.pallas_calls(nested, array(32, 128))) == 3
    assert_pallas_ok(nested, array(32, 128))
    with pytest.raises(InputError, match="makes no pallas_call"):
        assert_pallas_ok(lambda x: x + 1, array(32, 128))


def test_axes_of_vmap_are_parallel() -> None:
    run = copied((32, 128), (8, 128), lambda i: (i, 0), lambda i: (i, 0), (4,), "a")
    call = call_of(jax.vmap(run), array(5, 32, 128))
    assert (call.grid, call.semantics) == ((5, 4), ("parallel", "arbitrary"))
    assert verify_pallas(call).verdict is Status.PROVED


def test_an_output_that_nobody_uses_may_be_anything() -> None:
    def kernel(x: Any, o: Any, left: Any) -> None:
        o[...] = x[...]
        left[...] = x[...]

    spec = pl.BlockSpec((8, 128), lambda i: (i, 0))
    run = pl.pallas_call(
        kernel,
        grid=(4,),
        in_specs=[spec],
        out_specs=[spec, pl.BlockSpec((8, 128), lambda i: (0, 0))],
        out_shape=[array(32, 128)] * 2,
        compiler_params=pltpu.CompilerParams(dimension_semantics=("parallel",)),
    )
    checked = verify_pallas(call_of(lambda x: run(x)[0], array(32, 128)))
    assert checked.verdict is Status.PROVED
    assert not checked.call.operand("left").used
    assert verify_pallas(call_of(run, array(32, 128))).verdict is Status.REFUTED


def test_blocks_may_be_taken_up_again_where_that_is_asked_for() -> None:
    mode = pl.Buffered(3, revisit=pl.RevisitMode.ANY) if hasattr(pl, "RevisitMode") else None
    if mode is None:
        from jax._src.pallas.core import RevisitMode

        mode = pl.Buffered(3, revisit=RevisitMode.ANY)

    def run(pipeline_mode: Any) -> Callable[..., Any]:
        return pl.pallas_call(
            lambda o: o.__setitem__(..., jnp.zeros_like(o)),
            grid=(4,),
            out_specs=pl.BlockSpec((8, 128), lambda i: (i % 2, 0), pipeline_mode=pipeline_mode),
            out_shape=array(16, 128),
        )

    assert verify_pallas(call_of(run(None))).verdict is Status.REFUTED
    assert verify_pallas(call_of(run(mode))).verdict is Status.PROVED


def test_arrays_that_the_kernel_copies_itself() -> None:
    whole = pl.BlockSpec(memory_space=pl.ANY)
    run = pl.pallas_call(pltpu.sync_copy, grid=(4,), in_specs=[whole], out_specs=whole, out_shape=array(32, 128))
    checked = verify_pallas(call_of(run, array(32, 128)))
    assert all(o.whole for o in checked.call.operands)
    assert (checked.claims, checked.verdict) == ((), Status.NOT_CHECKED)


def test_every_axis_is_parallel_on_a_gpu() -> None:
    def kernel(x: Any, o: Any) -> None:
        o[...] = x[...]

    def run(target: Any) -> Callable[..., Any]:
        return pl.pallas_call(
            kernel,
            grid=(4,),
            in_specs=[pl.BlockSpec((8, 128), lambda i: (i, 0))],
            out_specs=pl.BlockSpec((8, 128), target),
            out_shape=array(32, 128),
            compiler_params=plgpu.CompilerParams(),
        )

    call = call_of(run(lambda i: (i, 0)), array(32, 128))
    assert call.semantics == ("parallel",)
    assert call.direct
    assert verify_pallas(call).verdict is Status.PROVED
    # several programs may write to different elements of one block
    shared = verify_pallas(call_of(run(lambda i: (i // 2, 0)), array(32, 128)))
    answer = of_kind(shared, "no race").answer
    assert answer.verdict is Status.UNDECIDED
    assert answer.tried == ("the kernel stores to the array itself, and programs share a block at i = 1, i' = 0",)


def test_how_often_each_block_is_visited() -> None:
    call = call_of(matmul(), array(256, 384), array(384, 512))
    assert (visits(call, call.operand("o_ref")) == 3).all()
    assert visits(call, call.operand("x_ref")).tolist() == [[4] * 3] * 2
    halo = copied((32, 4), (pl.Element(10, (1, 1)), 4), lambda i: (i * 8, 0), lambda i: (i, 0), (4,), out_block=(8, 4))
    call = call_of(halo, array(32, 4))
    assert visits(call, call.operand("x_ref"))[:, 0].tolist() == [1] * 7 + ([2] * 2 + [1] * 6) * 3 + [1]


def test_sizes_of_zero_and_one() -> None:
    assert (
        verify_pallas(call_of(copied((8,), (8,), lambda i: (i,), lambda i: (i,), (1,), "p"), array(8))).verdict
        is Status.PROVED
    )
    empty = verify_pallas(call_of(copied((8,), (8,), lambda i: (i,), lambda i: (i,), (0,)), array(8)))
    assert answers(empty) == answers(enumerated(empty.call))
    assert answers(empty)["o_ref", "written"] is Status.REFUTED


def test_another_jax_is_an_input_error(monkeypatch: pytest.MonkeyPatch) -> None:
    run = copied((32, 128), (8, 128), lambda i: (i, 0), lambda i: (i, 0), (4,))
    traced = jax.make_jaxpr(run)(array(32, 128))
    del traced.jaxpr.eqns[0].params["grid_mapping"]
    monkeypatch.setattr(jax, "make_jaxpr", lambda function: lambda *args: traced)
    with pytest.raises(InputError, match="describes a pallas_call in another way"):
        indexproof.pallas.pallas_calls(run, array(32, 128))


def test_random_order_of_axes_needs_the_reduction_inside() -> None:
    orders = ["".join(p) for p in itertools.permutations("ijk")]
    for order in random.Random(0).sample(orders, len(orders)):
        checked = verify_pallas(call_of(matmul(order, "aaa"), array(256, 384), array(384, 512)))
        assert (checked.verdict is Status.PROVED) is order.endswith("k")
