"""Simplification with ``keep_width``: integers do not become wider."""

from __future__ import annotations

import random

import pytest

from indexproof.core.codegen import c_source, width_bound
from indexproof.core.codegen.program import Program, fits
from indexproof.core.cost import map_cost
from indexproof.core.expr import Expr, Integers, ceildiv, interpret, maximum, minimum, var
from indexproof.core.extraction.narrow import NarrowLedger
from indexproof.core.indexing_map import IndexingMap, RuntimeSource
from indexproof.core.interval import Interval
from indexproof.core.room import Room, widening
from indexproof.core.text import format_map, parse_map
from indexproof.rules.catalog import RULES
from indexproof.rules.simplifier import reduce, simplify, simplify_expr
from indexproof.verify.derivation import check_derivation
from indexproof.verify.width import width

#: Fits int32; its normal form, (d1 * 1000 + d0) floordiv 1000000, does not.
DIGITS = "(d0 floordiv 1000 + d1) floordiv 1000"
BOXES = "domain: d0 in [0, 2000000000], d1 in [0, 2000000000]"


def nested(depth: int) -> str:
    """Return a linear congruential generator, iterated ``depth`` times."""
    e = "d0"
    for _ in range(depth):
        e = f"({e} * 3 + 1) mod 1000003"
    return f"(d0) -> ({e}), domain: d0 in [0, 1000000]"


def test_factors_inside_a_remainder_are_reduced_where_32_bits_may_not_be_enough() -> None:
    after = simplify(parse_map(nested(36)))
    assert format_map(after) == ("(d0) -> ((d0 * 444079 + 222039) mod 1000003), domain: d0 in [0, 1000000]")
    assert width_bound(after) == 64
    assert simplify(after.with_()) == after
    m = parse_map("(d0) -> ((d0 * 1000004 + 5000000) mod 1000003), domain: d0 in [0, 1000000]")
    assert str(simplify(m).results[0]) == "(d0 + 999988) mod 1000003"


def test_factors_are_not_reduced_where_that_makes_a_dividend_negative_or_something_else_divides_it() -> None:
    for text in (
        "(d0, d1) -> ((d0 * 1000006 - d1) mod 1000003), domain: d0 in [1, 999999], d1 in [0, 1000003]",
        "(d0, d1) -> ((d0 * 1000006 + d1) mod 1000003, (d0 * 1000006 + d1) floordiv 13),"
        " domain: d0 in [0, 999999], d1 in [0, 9]",
    ):
        m = parse_map(text)
        assert simplify(m) == m


def random_wide_map(seed: int) -> IndexingMap:
    """Return a random map with large boxes; intervals show that its type suffices for the results."""
    pick = random.Random(seed)
    bits = pick.choice([32, 32, 64])
    top = 2 ** (bits - 1) - 1
    boxes = {f"d{i}": (0, pick.choice([top, top // 2, top // 3, 10**6, 100])) for i in range(pick.randint(1, 3))}
    variables = [var(name) for name in boxes]
    bounds = {var(name): Interval(*ends) for name, ends in boxes.items()}

    def number() -> int:
        return pick.choice([2, 3, 7, 10, 999, 1000, 4096, 1000003, pick.randint(2, 3 * 10**6)])

    def made(depth: int) -> Expr:
        if not depth or pick.random() < 0.1:
            return pick.choice(variables)
        for _ in range(20):
            a, way = made(depth - 1), pick.randrange(10)
            if way < 4:
                a = a * pick.choice([1, 1, -3, number()]) + made(depth - 1) * pick.choice([1, -1, 3, 1000])
                e = a + pick.choice([0, 0, 1, -5])
            elif way < 8:
                e = a // number() if way < 6 else a % number()
            elif way < 9:
                e = ceildiv(a, number())
            else:
                e = pick.choice([minimum, maximum])(a, made(depth - 1))
            if (fits(Program.of((e,), variables).ranges(bounds)) or 99) <= bits:
                return e
        return pick.choice(variables)

    results = [made(pick.randint(2, 5)) for _ in range(pick.randint(1, 3))]
    constraints = [(made(2), pick.randint(0, 3), pick.choice([10**3, 10**9]))] if pick.random() < 0.2 else []
    return IndexingMap.of([(v, *ends) for v, ends in boxes.items()], results=results, constraints=constraints)


def bits(m: IndexingMap) -> int:
    return width_bound(m) or 99


def broken_promises(m: IndexingMap, after: IndexingMap) -> list[str]:
    """Return the promises that ``after``, simplified from ``m`` with its width kept, breaks."""
    found = ["shown"] if bits(after) > bits(m) else []
    if not Room.of_map(m).allows(Room.of_map(after)):
        found.append("step")
    if map_cost(after).weight > map_cost(m).weight:
        found.append("cost")
    pick = random.Random(1)
    for _ in range(20):
        at: dict[Expr, int] = {v.expr: pick.choice([v.lo, v.hi, pick.randint(v.lo, v.hi)]) for v in m.variables}
        inside = interpret([c.expr for c in m.constraints], Integers(at))
        if not all(c.lo <= x <= c.hi for c, x in zip(m.constraints, inside, strict=True)):
            continue
        if interpret(m.results, Integers(at)) != interpret(after.results, Integers(at)):
            found.append("value")
    return found


@pytest.mark.parametrize("quick", [False, True])
def test_the_type_of_the_input_is_kept(quick: bool) -> None:
    wide = cheaper = 0
    for seed in range(200):
        m = random_wide_map(seed)
        plain, after = simplify(m, quick=quick), simplify(m, quick=quick, keep_width=True)
        assert not broken_promises(m, after), format_map(m)
        assert simplify(after.with_(), quick=quick, keep_width=True) == after, format_map(m)
        if Room.of_map(m).allows(Room.of_map(plain)):
            assert after == plain, format_map(m)
            continue
        wide += 1
        cheaper += map_cost(after).weight < map_cost(m).weight
        derivation = simplify(m, quick=quick, keep_width=True, explain=True)
        assert derivation.after == after, format_map(m)
        check_derivation(derivation, RULES)
        exact = [w.bits or 99 for w in (width(m), width(after))]
        assert exact[1] <= exact[0], format_map(m)
    assert wide > 12
    assert cheaper > wide / 3


def test_it_shows_where_the_type_is_not_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    # the result of the ledger is checked again, so both checks have to fail
    monkeypatch.setattr(Room, "allows", lambda self, other: True)
    monkeypatch.setattr(NarrowLedger, "_fits", lambda self, f: True)
    maps = [random_wide_map(seed) for seed in range(100)]
    assert any("shown" in broken_promises(m, simplify(m, keep_width=True)) for m in maps)


def test_the_examples_of_wide_normal_forms() -> None:
    m = parse_map(f"(d0, d1) -> ({DIGITS}), {BOXES}")
    assert (bits(m), bits(simplify(m))) == (32, 64)
    assert simplify(m, keep_width=True) == m
    assert simplify(m, keep_width=True, explain=True).after == m
    assert simplify_expr(m.results[0], {v.name: (v.lo, v.hi) for v in m.dims}, keep_width=True) == m.results[0]
    assert reduce(m, keep_width=True).map == m
    assert widening(m, simplify(m)) == "needs int64 where the input fits int32"
    assert simplify(m, explain=True).wider == widening(m, simplify(m))
    assert not simplify(m, keep_width=True, explain=True).wider
    deep = parse_map(nested(36))
    after = simplify(deep, keep_width=True)
    assert width(after).bits == 32
    assert map_cost(after).weight < map_cost(deep).weight
    assert "int32_t *result" in c_source(after)


def test_what_does_not_widen_is_simplified_beside_what_does() -> None:
    m = parse_map(
        f"(d0, d1) -> ({DIGITS} + d0 * 4 floordiv 8, ((d0 ceildiv 7) ceildiv 3) * 2, d0 * 6 floordiv 3),"
        " domain: d0 in [0, 300000000], d1 in [0, 2000000000]"
    )
    after = simplify(m, keep_width=True)
    assert str(after.results[0]) == "(d0 // 1000 + d1) // 1000 + d0 // 2"
    assert str(after.results[2]) == "2·d0"
    top = parse_map("(d0) -> (d0 ceildiv 7, d0 floordiv 3 floordiv 5), domain: d0 in [0, 2147483647]")
    assert [str(e) for e in simplify(top, keep_width=True).results] == ["ceildiv(d0, 7)", "d0 // 15"]


def test_the_promise_is_one_about_points_where_intervals_know_less() -> None:
    # the sum never exceeds 2000000000, but intervals cannot show that
    m = parse_map(f"(d0, d1) -> ({DIGITS}, d0 + max(d0 * -1 + 2000000000, 0)), {BOXES}")
    assert (bits(m), width(m).bits) == (64, 32)
    assert width(simplify(m)).bits == 64
    assert width(simplify(m, keep_width=True)).bits == 32


def test_constraints_and_runtime_indices_are_kept_too() -> None:
    e = parse_map(f"(d0, d1) -> ({DIGITS}), {BOXES}").results[0]
    dims = [("d0", 0, 500000000), ("d1", 0, 2000000000)]
    source = RuntimeSource("%p = s32[3000000] parameter(0)", (e,))
    constrained = IndexingMap.of(dims, results=[var("d0") * 4 // 8], constraints=[(e % 7, 5, 6)])
    indexed = IndexingMap.of(dims, rts=[("rt0", 0, 9, source)], results=[var("rt0")])
    for m in (constrained, indexed):
        assert (bits(m), bits(simplify(m))) == (32, 64)
        after = simplify(m, keep_width=True)
        assert width(after).bits == 32
        assert simplify(after.with_(), keep_width=True) == after
        check_derivation(simplify(m, keep_width=True, explain=True), RULES)


def test_there_is_no_limit_without_bounds() -> None:
    e = parse_map(f"(d0, d1) -> ({DIGITS}), {BOXES}").results[0]
    assert simplify_expr(e, {}, keep_width=True) == simplify_expr(e, {})
