"""Integers do not widen unasked."""

from __future__ import annotations

from indexproof.core.codegen import width_bound
from indexproof.core.text import format_map, parse_map
from indexproof.rules.simplifier import simplify


def nested(depth: int) -> str:
    """A linear congruential generator, so many times."""
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
