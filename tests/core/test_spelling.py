"""The choice of the cheapest spelling of all results together, which depends on the whole map."""

from __future__ import annotations

import pytest

from indexproof.core.cost import cost
from indexproof.core.text import format_map, parse_map
from indexproof.rules.catalog import RULES
from indexproof.rules.simplifier import simplify
from indexproof.verify.concrete import equal_maps
from indexproof.verify.derivation import check_derivation

PLACE = "th_x * 8 + bl_x * 512 + s0 * 4 + th_y"
TURNED = f"-(({PLACE}) mod 240) + (({PLACE}) floordiv 240) * 240 + 239"

#: Map, weight of a division, and the operations and divisions of the results.
CASES = {
    # 5 * ((d0 - 1) mod 2) + 2 is a remainder itself, and its dividend serves the quotient too
    "takes in": ("(d0) -> (((d0 * 5 + 287) floordiv 10) mod 2 * -1 + 1, (d0 * 5 + 287) mod 10,"
        " (d0 * 5 + 287) floordiv 20), domain: d0 in [0, 2]", 2, (5, 2)),
    # a difference saves a division but costs more in total: both spellings are tried, and the cheaper is kept
    "torn": ("(d0, d1, d2) -> ((d1 * 6 + d2) mod 16 * 2 + (d0 * 3 + (d1 * 6 + d2) floordiv 16) floordiv 8,"
        " ((d0 * 3 + (d1 * 6 + d2) floordiv 16) mod 8 * 6 + 5) floordiv 16,"
        " ((d1 * 6 + d2) floordiv 16 * 6 + d0 * 18 + 5) mod 16), domain: d0 in [0, 0], d1 in [0, 7],"
        " d2 in [0, 5], d0 * 3 + (d1 * 6 + d2) floordiv 16 in [0, 2]", 3, (9, 4)),
    # the quotient releases d0 floordiv 432 from its dividend, and takes in the constant beside it afterwards
    "constant of a released dividend":
        ("(d0)[s0, s1, s2] -> ((((d0 mod 8) floordiv 4) * 2 + s2) floordiv 2, (((d0 mod 8) floordiv 4) * 2 + s2) mod 2,"
        " ((((d0 floordiv 8) mod 54 + s1 - 3) floordiv 2) * 8 + s0 * 2 + d0 floordiv 432 - 1) floordiv 112,"
        " ((((d0 floordiv 8) mod 54 + s1 - 3) floordiv 2) * 8 + s0 * 2 + d0 floordiv 432 - 1) mod 112),"
        " domain: d0 in [0, 3887], s0 in [0, 1], s1 in [0, 4], s2 in [0, 1],"
        " s0 * 2 + d0 floordiv 432 - 1 in [-1, 8], (d0 floordiv 8) mod 54 + s1 - 3 in [0, 54],"
        " ((d0 floordiv 8) mod 54 + s1 - 3) mod 2 in [0, 0]", 2, (14, 6)),
    # the normal form of one result is larger than the result, that of another is smaller
    "each for itself": ("(th_x, bl_x)[s1] -> (((bl_x * 128 + s1 * 384 + th_x) floordiv 16) mod 10,"
        " ((bl_x * 128 + s1 * 384 + th_x) floordiv 160) mod 2, (bl_x * 128 + s1 * 384 + th_x) mod 16,"
        " (bl_x * 128 + s1 * 384 + th_x) floordiv 320), domain: th_x in [0, 127], bl_x in [0, 2], s1 in [0, 3],"
        " bl_x * 128 + s1 * 384 + th_x in [0, 1279]", 3, (12, 4)),
    # each digit in normal form has a separate sum; the sum that all digits divide has summands that are zero
    "the sum inside":
        ("(d0, d1, d2, d3, d4) -> ((d0 * 1344 + d1 * 448 + d2 * 8 + d3 * 3 + d4 * 48 + 4144) floordiv 28 mod 10,"
        " (d0 * 1344 + d1 * 448 + d2 * 8 + d3 * 3 + d4 * 48 + 4144) mod 7,"
        " (d0 * 1344 + d1 * 448 + d2 * 8 + d3 * 3 + d4 * 48 + 4144) floordiv 280 mod 8,"
        " (d0 * 1344 + d1 * 448 + d2 * 8 + d3 * 3 + d4 * 48 + 4144) floordiv 2240),"
        " domain: d0 in [0, 6], d1 in [0, 2], d2 in [0, 0], d3 in [0, 1], d4 in [0, 2]", 3, (16, 4)),
    # 1 - (d0 * 8 + 2) floordiv 3 without its 1 would have a separate dividend
    "a sum that is there": ("(d0) -> ((d0 * 8 - 1) ceildiv -3, d0 * 8 + 2), domain: d0 in [0, 3]", 12, (4, 1)),
    # a remainder needs one multiplication less than the quotient times the divisor, also beside other parts of the dividend
    "beside its dividend": ("(d0) -> (d0 * 2 - (d0 floordiv 128) * 128), domain: d0 in [0, 3071]", 3, (2, 1)),
    "beside its dividend, added":
        ("(d0) -> (d0 * 2 + (d0 floordiv 64) * 64 - (d0 floordiv 32) * 63), domain: d0 in [0, 159]", 3, (6, 2)),
    "beside its dividend, a sum":
        ("(d0, d1) -> (((d0 * 3 + d1) floordiv 2) * 8 - d0 * 15 - d1 * 5 + 9), domain: d0 in [0, 9], d1 in [0, 9]",
        3, (7, 1)),
    # the summands below 16 * d0 are known to be less than 16 only as a sum
    "less than a step by a constraint":
        ("(d0, d1)[s0, s1] -> ((d0 * 32 + d1 * 2 + s0 * 2 + s1 - 8) floordiv 128, (d0 * 16 + d1 + s0 - 4) mod 64),"
        " domain: d0 in [0, 7], d1 in [0, 15], s0 in [0, 6], s1 in [0, 1], d1 + s0 in [4, 19]", 3, (7, 1)),
    # one dividend for all digits costs less than one for each, but only once a digit is a difference
    "one dividend, and a difference":
        ("(d0, d1, d2, d3, d4) -> (((d0 * 42 + d1 * 6 + d2 * 6 + d3 * 2 + d4) floordiv 3) mod 4,"
        " (d0 * 42 + d1 * 6 + d2 * 6 + d3 * 2 + d4) floordiv 12), domain: d0 in [0, 1], d1 in [0, 6], d2 in [0, 0],"
        " d3 in [0, 2], d4 in [0, 1]", 3, (10, 2)),
    # nothing else uses the dividend of the remainder, so its sum disappears too
    "dividend goes": ("(d0, d1, d2) -> ((d0 * 12 + d1) floordiv 8, (d0 * 18 + (d1 * 6 + d2) floordiv 4) mod 12),"
        " domain: d0 in [0, 47], d1 in [0, 11], d2 in [0, 5]", 3, (10, 2)),
    # the constant of the difference joins that of a dividend
    "constant joins": ("(d0, d1) -> ((d0 * 23 + d1 + 446) floordiv 256, ((d0 * 23 + d1 + 446) floordiv 128) mod 2,"
        " ((d0 * 23 + d1 + 446) floordiv 64) mod 2), domain: d0 in [0, 13], d1 in [0, 22]", 3, (10, 3)),
    # rewriting one of the two inner remainders as a difference pays only if both are rewritten
    "only together":
        (f"(th_x, bl_x, th_y)[s0] -> (({TURNED}) floordiv 30, (({TURNED}) floordiv 3) mod 10, ({TURNED}) mod 3),"
        f" domain: th_x in [0, 63], bl_x in [0, 1], th_y in [0, 3], s0 in [0, 1], {PLACE} in [0, 959]", 3, (17, 4)),
    # digits that cancel, of which one is written as a linear function because it has two values
    "lines and digits cancel":
        ("(d0)[s0] -> ((((s0 * -2 + d0) ceildiv 2) floordiv 8) mod 5 * -8 - ((s0 * -2 + d0) ceildiv 2) mod 8 + s0 * 8"
        " + ((s0 * -2 + d0) ceildiv 2) mod 40), domain: d0 in [0, 9], s0 in [0, 3]", 3, (1, 0)),
    # d0 mod 5 must stay a remainder to be absorbed: with the quotient beside it, it forms one digit
    "taken in with its digit":
        ("(d0) -> (((d0 floordiv 105) * 35 + d0 mod 35) floordiv 10, ((d0 floordiv 105) * 35 + d0 mod 35) mod 10),"
        " domain: d0 in [0, 209]", 3, (6, 4)),
    # absorbed expressions are read again, after their atoms have been respelled
    "taken in, and read again":
        ("(d0, d1, d2, d3) -> (((d1 * 6 + d2) floordiv 10 * 30 + (d1 * 6 + d2) mod 10 + d0 * 90 + 10) floordiv 725,"
        " ((((d1 * 6 + d2) mod 10 * 8 + d3) floordiv 5 + (d1 * 6 + d2) floordiv 10 * 48 + d0 * 144 + 16) mod 1160) * 5"
        " + (d1 * 48 + d2 * 8 + d3) mod 5), domain: d0 in [0, 15], d1 in [0, 4], d2 in [0, 5], d3 in [0, 7]", 3,
        (13, 3)),
    # a remainder that was rewritten as a difference is reintroduced with another one, and rewritten again
    "comes back": ("(d0, d1, d2, d3)[s0] -> (((d1 * 16 + d2) floordiv 5) mod 8 + (d0 * 5 + s0) floordiv 2 * 8,"
        " ((d1 * 16 + d2) floordiv 40 + (d0 * 5 + s0) mod 2 * 4 + d1 * 1280 + d2 * 80 + d3 * 8) mod 50"
        " + (((d1 * 16 + d2) mod 40 * 200 + (d0 * 5 + s0) mod 2 * 10 + d3 * 20 + d1) floordiv 125) mod 8 * 50),"
        " domain: d0 in [0, 15], d1 in [0, 9], d2 in [0, 15], d3 in [0, 9], s0 in [0, 4]", 3, (23, 6)),
    # in a dividend used for its remainder only, multiples of the divisor are dropped
    "factors of a remainder": ("(d0, d1, d2) -> ((d0 * 15 + d1 * 28 - d2 * 8) mod 7, (d0 * -4 - d1 * 5) mod 6),"
        " domain: d0 in [0, 99], d1 in [0, 99], d2 in [0, 99]", 3, (5, 2)),
    # the summand beside the quotient joins the common dividend
    "summand joins":
        ("(d0, d1) -> ((d0 * 150 + d1 * 11 + 1) floordiv 16 - d0 * 8, ((d0 * 150 + d1 * 11 + 1) floordiv 4) mod 4,"
        " (d0 * 150 + d1 * 11 + 1) mod 4), domain: d0 in [0, 9], d1 in [0, 40]", 3, (9, 3)),
    # the same, where the dividend would become negative
    "summand stays beside":
        ("(d0, d1) -> ((d0 * 150 + d1 * 11 + 1) floordiv 16 - d0 * 12), domain: d0 in [0, 9], d1 in [0, 40]", 3, (7,
        1)),
    # the same, where numbers would become wider
    "summand stays": ("(d0, d1, d2) -> ((d0 * 36 + d1 * 3 + d2) floordiv 14 + d0 * 20736),"
        " domain: d0 in [0, 9999], d1 in [0, 11], d2 in [0, 2]", 3, (7, 1)),
}  # fmt: skip


@pytest.mark.parametrize(("text", "weight", "most"), CASES.values(), ids=CASES)
def test_written_with_the_whole_map_in_view(text: str, weight: int, most: tuple[int, int]) -> None:
    m = parse_map(text)
    after = simplify(m, minimize=weight)
    spent = cost(after.results)
    assert (spent.operations, spent.divisions) == most, format_map(after)
    assert equal_maps(m, after).proved
    assert simplify(after.with_(), minimize=weight) == after
    told = simplify(m, minimize=weight, explain=True)
    assert told.after == after
    check_derivation(told, RULES)
