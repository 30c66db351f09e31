"""The machine width of maps agrees with evaluation at every point of their domains."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from indexproof import IndexingMap, parse_map
from indexproof.core.codegen.program import Program, limits, width_bound
from indexproof.core.expr import Expr, Integers, Sum, interpret, linear, var
from indexproof.core.text import format_expr
from indexproof.verify.concrete.problem import counterexample_order
from indexproof.verify.verdict import Status
from indexproof.verify.width import TYPES, Overflow, Width, subexpression_widths, width


def by_enumeration(m: IndexingMap) -> tuple[int | None, list[Overflow]]:
    """Return the width by definition, with the first step that overflows anywhere, at its smallest point."""
    program = Program.of_map(m)
    exprs = program.exprs(range(len(program.steps)))
    order = [exprs[k] for k in range(len(program.steps))]
    points = [tuple(map(int, p)) for p in m.domain_points()]
    rows = [(p, interpret(order, Integers(dict(zip((v.expr for v in m.variables), p, strict=True))))) for p in points]
    overflows = []
    for bits in (32, 64):
        machine = limits(bits)
        bad = [k for k in range(len(order)) if any(not machine.lo <= row[k] <= machine.hi for _, row in rows)]
        if not bad:
            return bits, overflows
        p, row = min(
            ((p, row) for p, row in rows if not machine.lo <= row[bad[0]] <= machine.hi),
            key=lambda x: counterexample_order(x[0]),
        )
        values = dict(zip((v.name for v in m.variables), p, strict=True))
        overflows.append(Overflow(bits, order[bad[0]], row[bad[0]], values))
    return None, overflows


def some(maps: Any, count: int) -> Iterator[IndexingMap]:
    """Yield maps with few points and with coefficients large enough to affect the widths."""
    for k in range(count):
        scale = (9, 2**13, 2**29, 2**31, 2**61, 2**64)[k % 6]
        yield maps.map(scale=scale, size=(4, 2)[k % 2], depth=3, rank=1 + k % 2, runtime=False)


def test_random_maps_against_all_their_points(maps: Any) -> None:
    seen: dict[int | None, int] = {32: 0, 64: 0, None: 0}
    closer = 0
    for m in some(maps, 400):
        answer = width(m)
        bits, overflows = by_enumeration(m)
        assert answer.bits == bits, m
        assert list(answer.overflows) == overflows, m
        assert answer.verdict is (Status.REFUTED if bits is None else Status.PROVED)
        seen[bits] += 1
        bound = width_bound(m)
        assert bound is None or (bits is not None and bits <= bound), m
        closer += bound != bits
    assert min(seen.values()) > 15, seen
    assert closer > 20, "the exact answer is better than the intervals' now and then"


def types_by_enumeration(m: IndexingMap) -> dict[Expr, tuple[int | None, Overflow | None]]:
    """Return the smallest type of every subexpression, with the smallest point that overflows the next smaller type."""
    program = Program.of_map(m)
    exprs = program.exprs(range(len(program.steps)))
    points = sorted((tuple(map(int, p)) for p in m.domain_points()), key=counterexample_order)
    envs = [dict(zip((v.expr for v in m.variables), p, strict=True)) for p in points]
    found: dict[Expr, tuple[int | None, Overflow | None]] = {}
    for k in range(len(program.steps)):
        e = exprs[k]
        column = [int(interpret((e,), Integers(env))[0]) for env in envs]
        too_small = None
        for bits in TYPES:
            at = next((n for n, x in enumerate(column) if not limits(bits).lo <= x <= limits(bits).hi), None)
            if at is None:
                found.setdefault(e, (bits, too_small))
                break
            values = {v.name: envs[at][v.expr] for v in m.variables}
            too_small = Overflow(bits, e, column[at], values)
        else:
            found.setdefault(e, (None, too_small))
    return found


def test_types_of_subexpressions_against_all_points(maps: Any) -> None:
    seen = dict.fromkeys((*TYPES, None), 0)
    asked = 0
    for m in some(maps, 150):
        parts = subexpression_widths(m)
        assert {p.expr: (p.bits, p.overflow) for p in parts} == types_by_enumeration(m), m
        assert all((p.verdict is Status.PROVED) == (p.bits is not None) for p in parts)
        # the width of a map is the maximum over its subexpressions
        whole = [32 if p.bits is None else max(32, p.bits) for p in parts]
        assert width(m).bits == (None if any(p.bits is None for p in parts) else max(whole))
        for p in parts:
            seen[p.bits] += 1
        asked += sum(p.engine != "intervals" for p in parts)
    assert min(seen.values()) > 5, seen
    assert asked > 15, "intervals say too little now and then"


def test_the_type_of_a_subexpression_is_exact_where_intervals_are_not() -> None:
    m = parse_map("(d0, d1) -> (d0 * 100 - d1 * 100), domain: d0 in [0, 10000], d1 in [0, 10000], d0 - d1 in [0, 1]")
    types = {format_expr(p.expr, variables=m.dim_vars): p.bits for p in subexpression_widths(m)}
    assert types["d0 * 100"] == 32
    assert types["d0 * 100 - d1 * 100"] == 8
    empty = parse_map("(d0) -> (d0 * 65536), domain: d0 in [0, 99999], d0 * 2 in [7, 7]")
    assert {p.bits for p in subexpression_widths(empty)} == {8}


def overflow_text(answer: Width) -> list[str]:
    return [f"int{o.bits}: {format_expr(o.expr)} = {o.value} at {o.values}" for o in answer.overflows]


@pytest.mark.parametrize(("source", "bits", "overflows"), [
    ("(d0) -> (d0), domain: d0 in [-2147483648, 2147483647]", 32, []),
    ("(d0) -> (d0), domain: d0 in [-2147483649, 2147483647]", 64,
        ["int32: d0 = -2147483649 at {'d0': -2147483649}"]),
    # the result is small, but an intermediate value is not
    ("(d0, d1) -> ((d0 * 65536 + d1) mod 7), domain: d0 in [0, 40000], d1 in [0, 9]", 64,
        ["int32: d0 * 65536 = 2147483648 at {'d0': 32768, 'd1': 0}"]),
    # a partial sum overflows, although the whole sum does not
    ("(d0, d1) -> (d0 + d1 - 9), domain: d0 in [0, 2147483647], d1 in [0, 5], d0 + d1 * 2 in [0, 2147483650]", 64,
        ["int32: d0 + d1 = 2147483648 at {'d0': 2147483646, 'd1': 2}"]),
    # no constraint mentions the product, but it stays below the limit
    ("(d0, d1) -> (d0 * 65536 + d1 * 3), domain: d0 in [0, 99999], d1 in [0, 99999]," " d0 + d1 in [0, 32767]", 32,
        []),
    # the negated minimum
    ("(d0) -> (-d0), domain: d0 in [-2147483648, 0]", 64, ["int32: -d0 = 2147483648 at {'d0': -2147483648}"]),
    # its quotient by -1 overflows, but not its remainder
    ("(d0) -> (d0 mod -1, d0 floordiv -1), domain: d0 in [-2147483648, 0]", 64,
        ["int32: d0 floordiv -1 = 2147483648 at {'d0': -2147483648}"]),
    # a literal is a subexpression, but a bound is not
    ("(d0) -> (d0 mod 4294967296), domain: d0 in [0, 9], d0 * 2 in [0, 99999999999]", 64,
        ["int32: 4294967296 = 4294967296 at {'d0': 0}"]),
    ("(d0) -> (d0 * 4294967296), domain: d0 in [0, 9], d0 in [11, 12]", 32, []),
    ("(d0) -> (d0 * 4294967296), domain: d0 in [3, 2]", 32, []),
    ("() -> (99999999999999999999)", None, ["int32: 99999999999999999999 = 99999999999999999999 at {}",
        "int64: 99999999999999999999 = 99999999999999999999 at {}"]),
    # an unused variable, a constraint, an index of a runtime source
    ("(d0, d1) -> (d0), domain: d0 in [0, 1], d1 in [0, 2147483648]", 64,
        ["int32: d1 = 2147483648 at {'d0': 0, 'd1': 2147483648}"]),
    ("(d0) -> (d0), domain: d0 in [0, 2000000000], d0 * 2 in [0, 3000000000]", 64,
        ["int32: d0 * 2 = 2147483648 at {'d0': 1073741824}"]),
    ("(d0){rt0} -> (d0), domain: d0 in [0, 70000], rt0 in [0, 1]\n hlo: p\n (d0) -> (d0 * 65536)", 64,
        ["int32: d0 * 65536 = 2147483648 at {'d0': 32768, 'rt0': 0}"]),
])  # fmt: skip
def test_what_counts_as_a_subexpression(source: str, bits: int | None, overflows: list[str]) -> None:
    answer = width(parse_map(source), confirm=True)
    assert answer.bits == bits
    assert overflow_text(answer) == overflows


def test_large_domains_are_decided_exactly() -> None:
    """The limit is exact on domains that are far too large to enumerate."""
    for last, bits in ((2**31 - 1, 32), (2**31, 64)):
        m = parse_map(
            f"(d0, d1, d2) -> (d0 * 1000000 + d1 * 1000 + d2), domain: d0 in [0, 99999], d1 in [0, 999],"
            f" d2 in [0, 999], d0 * 1000000 + d1 * 1000 + d2 in [0, {last}]"
        )
        answer = width(m)
        assert answer.bits == bits
        if bits == 64:
            assert answer.overflows[0].value == 2**31
            assert answer.overflows[0].values == {"d0": 2147, "d1": 483, "d2": 648}


def test_the_answer_names_its_engines() -> None:
    assert width(parse_map("(d0) -> (d0 * 4), domain: d0 in [0, 9]")).engines == ("intervals",)
    exact = width(parse_map("(d0, d1) -> (d0 * 65536 + d1), domain: d0 in [0, 99999], d1 in [0, 9], d0 + d1 in [0, 9]"))
    assert exact.bits == 32
    assert exact.engines == ("normal form",)


def test_long_sums() -> None:
    """Of sixty summands, the first partial sum that overflows is reported."""
    names = [(f"d{k}", 0, 9) for k in range(60)]
    total = linear(0, [(var(name), 20_000 * k + 1) for k, (name, _, _) in enumerate(names)])
    assert width(IndexingMap.of(names, results=[total])).bits == 32
    answer = width(IndexingMap.of(names, results=[total * 16]))
    assert answer.bits == 64
    (first,) = answer.overflows
    assert isinstance(first.expr, Sum)
    largest = 9 * sum(k for _, k in first.expr.terms)
    without_the_last = largest - 9 * max(k for _, k in first.expr.terms)
    assert without_the_last < 2**31 <= largest
    assert first.value == first.expr.evaluate(first.values) >= 2**31
