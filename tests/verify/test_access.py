"""Numbers of elements and memory requests agree with counting them one by one."""

from __future__ import annotations

import itertools
import random
import sys
from collections import defaultdict
from dataclasses import replace
from pathlib import Path

import pytest
from broken.analyses import ELEMENTS, ELEMENTS_FOR_ALL_SIZES, REQUESTS

from dev.enumeration import compared, compared_requests
from indexproof import IndexingMap, InputError, memory, parse_map
from indexproof.core.expr import var
from indexproof.core.launch import Launch
from indexproof.core.parametric import ParametricMap, parse_parametric
from indexproof.verify import access
from indexproof.verify.access import requests, utilization
from indexproof.verify.access_for_all_sizes import utilization_for_all_sizes

TESTS = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(TESTS / "bench"))

import xla_coalescing  # noqa: E402


# ----------------------------------------------------------------------------------------------------- utilization
def _expression(rng: random.Random, names: list[str]) -> str:
    some = rng.sample(names, rng.randint(1, min(2, len(names))))
    text = " + ".join(f"{rng.choice([1, 1, 2, 3, 4, -1])} * {v}" for v in some)
    divisor = rng.choice([2, 3, 4])
    return rng.choice([text, text, f"({text}) floordiv {divisor}", f"({text}) mod {divisor}"])


def _random_maps(rng: random.Random) -> list[IndexingMap]:
    dims, ranges, rts = rng.randint(1, 3), rng.randint(0, 2), rng.choice([0, 0, 0, 1])
    groups = [[f"{p}{k}" for k in range(n)] for p, n in (("d", dims), ("s", ranges), ("rt", rts))]
    names = [v for g in groups for v in g]
    boxes = [f"{v} in [0, {rng.randint(0, 4)}]" for v in names]
    rank = rng.randint(0, 3)
    maps = []
    for _ in range(rng.choice([1, 1, 1, 2])):
        results = ", ".join(_expression(rng, names) for _ in range(rank))
        cut = [
            f"{_expression(rng, names)} in [{rng.randint(-2, 1)}, {rng.randint(0, 6)}]"
            for _ in range(rng.choice([0, 0, 1, 2]))
        ]
        d, s, rt = (", ".join(g) for g in groups)
        head = f"({d})" + (f"[{s}]" if s else "") + (f"{{{rt}}}" if rt else "")
        maps.append(parse_map(f"{head} -> ({results}), domain: {', '.join(boxes + cut)}"))
    return maps


@pytest.mark.parametrize("seed", range(4))
def test_elements_and_reads_are_counted_exactly(seed: int) -> None:
    rng = random.Random(seed)
    for _ in range(100):
        maps = _random_maps(rng)
        found = utilization(maps, 1000)
        by_runtime = defaultdict(set)
        for m in maps:
            d, s = len(m.dims), len(m.dims) + len(m.ranges)
            for at in itertools.product(*(range(v.lo, v.hi + 1) for v in m.variables)):
                target = m.evaluate(at[:d], at[d:s], at[s:])
                if target is not None:
                    by_runtime[at[s:]].add((at[:d], target))
        pairs = max(map(len, by_runtime.values()), default=0)
        ever = {t for some in by_runtime.values() for _, t in some}
        assert found.reads is not None
        assert found.distinct is not None
        if found.at_most:
            most = max((len({t for _, t in some}) for some in by_runtime.values()), default=0)
            assert found.reads >= pairs, maps
            assert most <= found.distinct <= len(ever), maps
        else:
            assert (found.reads, found.distinct) == (pairs, len(ever)), maps


def test_large_operands_are_counted_in_parts() -> None:
    product = parse_map(
        "(d0, d1, d2)[s0] -> (d0, d1, s0), domain: d0 in [0, 31], d1 in [0, 4095], d2 in [0, 4095], s0 in [0, 4095]"
    )
    found = utilization([product], 32 * 4096 * 4096)
    assert (found.distinct, found.reads, found.fraction, found.reuse) == (2**29, 2**41, 1.0, 4096.0)


def test_a_set_too_large_to_walk_through_is_not_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(access, "LIMIT", 10)
    m = parse_map("(d0, d1) -> (d0, d0 + d1), domain: d0 in [0, 99], d1 in [0, 9]")
    found = utilization([m], 99 * 109)
    assert (found.distinct, found.reads) == (None, 1000)
    assert (found.fraction, found.reuse) == (None, None)


# ------------------------------------------------------------------------------------------------------- requests
def test_requests_are_counted_exactly() -> None:
    found = compared("coalescing", range(100))
    assert min(found["coalesced"], found["not coalesced"]) > 20
    assert not found["open"]


def test_a_carry_that_samples_miss_ends_a_period() -> None:
    """A single step in 512 differs from the others, so that only a proof finds that blocks do not repeat."""
    at = Launch((32,), (512,)).over("f32[16384]")
    m = parse_map("(d0) -> (d0 + d0 floordiv 16007), domain: d0 in [0, 16383]")
    operand = memory("f32[16400]")
    assert compared_requests(at, m, operand) != "open"


def test_periods_stand_for_all_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """A million elements are counted by a few thousand lanes."""
    monkeypatch.setattr(access, "LIMIT", 1 << 16)
    at = Launch((128,), (7813,)).over("f32[1000,1000]")
    m = parse_map("(d0, d1) -> (d1, d0), domain: d0 in [0, 999], d1 in [0, 999]")
    found = requests(at, m, memory("f32[1000,1000]"))
    assert (found.requests, found.sectors, found.packed, found.coalesced) == (31250, 10**6, 125000, False)
    monkeypatch.setattr(access, "LIMIT", 1 << 6)
    assert requests(at, m, memory("f32[1000,1000]")) is None


def test_neighbours_are_one_vector() -> None:
    at = Launch((32,), (8,), 4).over("f32[32,32]")
    m = parse_map("(d0, d1) -> (d0, d1), domain: d0 in [0, 31], d1 in [0, 31]")
    found = requests(at, m, memory("f32[32,32]"))
    assert (found.vector, found.requests, found.sectors, found.stride, found.coalesced) == (4, 8, 128, 16, True)
    across = requests(at, m, memory("f32[32,32]{0,1}"))
    assert (across.vector, across.requests, across.stride, across.dimensions) == (1, 32, None, (0, 1))


def test_broadcast_has_no_bank_conflict() -> None:
    at = Launch((32,), (32,)).over("f32[32,32]")
    counted = []
    for text in ("(d0, d1) -> (d0)", "(d0, d1) -> (d1 * 32)", "(d0, d1) -> (d1 * 33)"):
        found = requests(at, parse_map(f"{text}, domain: d0 in [0, 31], d1 in [0, 31]"), memory("f32[1056]"))
        counted.append(found.wavefronts)
    assert counted == [32, 32 * 32, 32]


def test_where_xla_says_otherwise_is_what_the_page_has() -> None:
    assert xla_coalescing.table() in (TESTS.parent / "reports" / "benchmarks.md").read_text()
    # XLA's interval for neighbours that overlap backwards ends before it begins
    thread, loop = xla_coalescing.THREAD, xla_coalescing.LOOP
    assert xla_coalescing._intervals(thread * -4, True, 4) == ("neighbours overlap", [(0, -121)])
    assert xla_coalescing.xla_coalesced(thread * -4 + loop, 4, 4) == ("neighbours overlap", False)
    assert xla_coalescing.exact(thread * -4 + loop, 4, 4).coalesced


def test_runtime_variables_have_no_addresses() -> None:
    at = Launch((32,), (1,)).over("f32[32]")
    m = parse_map("(d0){rt0} -> (d0 + rt0), domain: d0 in [0, 31], rt0 in [0, 7]")
    with pytest.raises(InputError, match="no fixed addresses"):
        requests(at, m, memory("f32[64]"))


def _random_map_for_all_sizes(rng: random.Random) -> ParametricMap:
    dims, ranges = ["d0", "d1"][: rng.randint(1, 2)], ["s0", "s1"][: rng.randint(0, 2)]
    names = [*dims, *ranges]
    boxes = [f"{v} in [{rng.choice(['0', '0', '1', 'k'])}, {rng.choice(['n - 1', 'k - 1', '2'])}]" for v in names]
    v, w = rng.choice(names), rng.choice(names)
    tied = [f", {v} <= k", f", {v} + {w} <= k", f", {v} <= {w}", f", 2 divides {v}"]
    more = rng.choice(["", "", "", ", n >= 2", ", n = k", ", d0 + k in [1, n]", *tied])

    def result() -> str:
        v, w = rng.choice(names), rng.choice(names)
        forms = [v, v, v, f"n - {v}", f"{v} + {w}", f"{v} - {w}", f"{v} * k + {w}", f"{v} * 3 + {w}", "k"]
        return rng.choice([*forms, f"{v} floordiv 2", f"{v} mod 3"])

    results = ", ".join(result() for _ in range(rng.randint(1, 3)))
    text = f"({', '.join(dims)})[{', '.join(ranges)}]{{n, k}} -> ({results}), domain: {', '.join(boxes)}{more}"
    m = parse_parametric(text.replace("[]", "", 1) if not ranges else text)
    assert m is not None
    return m


@pytest.mark.parametrize("seed", range(4))
def test_elements_and_reads_are_counted_for_all_sizes(seed: int) -> None:
    rng = random.Random(seed)
    counted = 0
    for _ in range(30):
        maps = [_random_map_for_all_sizes(rng)]
        if rng.random() < 0.2 and "k" not in str(maps[0].results):
            # a second map, which may read the same places
            (m,) = maps
            by = rng.choice([var("n") * 3 + var("k"), var("k")])
            maps.append(replace(m, results=(m.results[0] + by, *m.results[1:])))
        found = utilization_for_all_sizes(maps, [var("n") + 100])
        assert (found.distinct is None) == (found.reads is None) == bool(found.reason), maps
        if found.distinct is None or found.reads is None:
            continue
        counted += 1
        for n, k in itertools.product(range(5), repeat=2):
            env = {"n": n, "k": k}
            if all(c.evaluate(env) for c in found.conditions):
                exact = utilization([m.at(env) for m in maps], n + 100)
                both = found.distinct.evaluate(env), found.reads.evaluate(env)
                assert both == (exact.distinct, exact.reads), (maps, env, found)
    assert counted > 8


@pytest.mark.parametrize("seed", range(3))
def test_every_so_many_elements_are_counted_for_all_sizes(seed: int) -> None:
    rng = random.Random(seed)
    read = set()
    for _ in range(12):
        by, rest, low = rng.randint(2, 5), rng.randint(-4, 6), rng.randint(-2, 3)
        high = rng.choice(["n", "n - 2", "n * 3", "max(n, k) + 1"])
        result = rng.choice(["d0", f"(d0 - {rest}) floordiv {by}"])
        forms = [f"d0 - {rest}", f"{rest} - d0", "n - d0"]
        step = rng.choice([f"{by} divides {e}" for e in forms] + ["k divides d0 - n"])
        more = rng.choice(["", ", d0 <= k * 2", ", d0 >= k"])
        m = parse_parametric(f"(d0){{n, k}} -> ({result}), domain: d0 in [{low}, {high}], k >= 1, {step}{more}")
        assert m is not None
        found = utilization_for_all_sizes([m], [var("n") + 100])
        if found.distinct is None or found.reads is None:
            # two numbers with different remainders may have the same quotient
            assert found.reason == "one element may be read in several places"
            assert "floordiv" in result
            assert "n" in step or "k" in step
            continue
        for n, k in itertools.product(range(9), range(1, 5)):
            env = {"n": n, "k": k}
            points = [p for p in range(-2, 40) if all(c.evaluate({**env, "d0": p}) for c in m.conditions)]
            targets = {m.results[0].evaluate({**env, "d0": p}) for p in points}
            both = found.distinct.evaluate(env), found.reads.evaluate(env)
            assert both == (len(targets), len(points)), (m, env)
            read.add(len(points))
    assert len(read) > 6


@pytest.mark.parametrize(("place", "name", "wrong"), [*ELEMENTS, *REQUESTS], ids=lambda x: getattr(x, "__name__", ""))
def test_planted_mistakes_contradict_enumeration(
    place: object, name: str, wrong: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(place, name, wrong)
    with pytest.raises(AssertionError):
        _compare(counts=(place, name, wrong) in REQUESTS)


@pytest.mark.parametrize(("place", "name", "wrong"), ELEMENTS_FOR_ALL_SIZES)
def test_planted_mistakes_contradict_enumeration_at_some_size(
    place: object, name: str, wrong: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(place, name, wrong)
    with pytest.raises(AssertionError, match="At index"):
        _count_at_sizes()


def _count_at_sizes() -> None:
    for seed in range(4):
        test_elements_and_reads_are_counted_for_all_sizes(seed)
        test_every_so_many_elements_are_counted_for_all_sizes(seed)


def _compare(counts: bool) -> None:
    if counts:
        test_a_carry_that_samples_miss_ends_a_period()
        test_requests_are_counted_exactly()
    else:
        for seed in range(4):
            test_elements_and_reads_are_counted_exactly(seed)
