"""Commands on maps, instructions and layouts: exit status, and parts of the printed text."""

from __future__ import annotations

import pytest

from .conftest import Run

HALVES = "(d0) -> (d0 floordiv 2), domain: d0 in [0, 9]"
JSON_HALVES = '{"dims": [["a", 0, 9]], "ranges": [], "rts": [], "results": [["fdiv", "a", 2]], "constraints": []}'
POINT = "(d0, d1) -> (d0 + d1), domain: d0 in [2, 2], d1 in [0, 9]"
WORK = "(d0, d1) -> ((d0 * 4 + d1) floordiv 12, (d0 * 4 + d1) mod 4), domain: d0 in [0, 99], d1 in [0, 3]"
TIGHT = "(d0, d1) -> (d0 floordiv 4), domain: d0 in [0, 99], d1 in [0, 9], d0 + d1 in [0, 3], d0 mod 2 in [1, 1]"
WIDE = "(d0, d1) -> (d0 * 65536 + d1), domain: d0 in [0, 40000], d1 in [0, 9]"
TOO_WIDE = "(d0) -> (d0 * 4294967296), domain: d0 in [0, 4294967296]"
# interval bounds need 64 bits; under the constraint on the sum the product is small
SMALL = "(d0, d1) -> (d0 * 65536 + d1), domain: d0 in [0, 99999], d1 in [0, 9], d0 + d1 in [0, 9]"
SUMS = (
    "(d0, d1) -> ((d0 floordiv 1000 + d1) floordiv 1000 + d0 * 4 floordiv 8),"
    " domain: d0 in [0, 500000000], d1 in [0, 2000000000]"
)
SCALED = (
    "(d0, d1)[s0, s1] -> (d1 + s1), domain: d0 in [0, 3], d1 in [0, 4], s0 in [0, 30], s1 in [0, 20], "
    "(s1 - 2) mod 4 in [0, 0]"
)
TRANSPOSE = "t = f32[3,2] transpose(f32[2,3] x), dimensions={1,0}"
SQUARE = "t = f32[3,3] transpose(f32[3,3] x), dimensions={1,0}"
FUSED = """
HloModule m
f { p = f32[2,3] parameter(0)
    ROOT t = f32[3,2] transpose(p), dimensions={1,0} }
ENTRY e { x = f32[2,3] parameter(0)
          ROOT r = f32[3,2] fusion(x), kind=kLoop, calls=f }
"""
SORT = "s = (f32[2], s32[2]) sort(f32[2] x, s32[2] y), dimensions={0}, to_apply=less"
TURNED = "(d0, d1) -> (d1, d0), domain: d0 in [0, 2], d1 in [0, 1]"
ROWS = "(d0)[s0] -> (d0 * 24 + s0), domain: d0 in [0, 9], s0 in [0, 15]"
BACKWARDS = ROWS.replace("+ s0)", "+ 15 - s0)")
TILE = "(d0, d1){n, k} -> (d0 * k + d1), domain: d0 in [0, n - 1], d1 in [0, k - 1], n >= 1, k >= 1"
DIVIDED = TILE.replace("d0 * k + d1", "((d0 * k + d1) floordiv k) * k + d1")
TILED = "f32[3,5]{1,0:T(2,2)}"

#: The words of a command line separated by bars, the exit status, and parts of the answer.
ANSWERS: list[tuple[str, int, list[str]]] = [
    (f"equal|{HALVES}|{JSON_HALVES}", 0, ["PROVED  equal everywhere"]),
    ("equal|(a) -> (a), domain: a in [0, 8]|(b) -> (b), domain: b in [0, 9]", 1,
        ["  left     → nothing: the source is outside its domain", "  left     a = 9 is not in [0, 8]"]),
    ("equal|(d0)[s0] -> (d0 + s0), domain: d0 in [0, 3], s0 in [0, 2]"
        "|(d0)[s0] -> (d0 + s0), domain: d0 in [0, 3], s0 in [0, 1]", 1,
        ["does not reach this target from this source"]),
    (f"equal|{SQUARE}|c = f32[3,3] copy(f32[3,3] x)", 1,
        ["REFUTED  operand 0: the results differ at source (0, 1)\n", "take     d0 = 0, d1 = 1"]),
    (f"equal|{TRANSPOSE}|f32[3,2]{{1,0}} transpose(f32[2,3] x), dimensions={{1,0}}", 0, ["PROVED  operand 0: equal"]),
    (f"equal|{FUSED}|{TRANSPOSE}", 0, ["PROVED  operand 0: equal"]),
    (f"equal|{SORT}|{SORT}", 0, [f"PROVED  array {a}, operand {k}" for a in (0, 1) for k in (0, 1)]),
    (f"equal|{TRANSPOSE}|{TURNED}", 0, ["PROVED  operand 0: equal"]),
    (f"equal|{TURNED}|{TRANSPOSE}", 0, ["PROVED  operand 0: equal"]),
    (f"equal|{TRANSPOSE}|{TURNED.replace('(d1, d0)', '(d0, d1)')}", 1,
        ["REFUTED  operand 0: the results differ", "again    indexproof equal"]),
    (f"equal|{TURNED.replace('(d1, d0)', '(d0, d1)')}|{TRANSPOSE}", 1,
        ["REFUTED  operand 0: the results differ", "again    indexproof equal"]),
    (f"equal|{ROWS}|{BACKWARDS}", 0,
        ["PROVED  equal everywhere as relations, whatever the order of the ranges   by"]),
    (f"equal|{ROWS}|{BACKWARDS}|--pointwise", 1,
        ["REFUTED  the results differ at point (0, 0)\n", "indexproof equal --pointwise "]),
    (f"equal|{ROWS}|{ROWS}|--pointwise", 0, ["PROVED  equal at every point   by"]),
    (f"equal|{ROWS}|{ROWS.replace('[0, 15]', '[0, 14]')}|--pointwise", 1,
        ["point (0, 15) is in the domain of the left map only"]),
    (f"equal|{TILE}|{DIVIDED}", 0, ["PROVED  equal"]),
    (f"simplify|{DIVIDED}|--validate", 0, [f"{TILE}\n", "confirmed by cvc5"]),
    (f"simplify|{DIVIDED}|--at|n=4,k=3", 0, ["(d0, d1) -> (d0 * 3 + d1), domain: d0 in [0, 3], d1 in [0, 2]\n"]),
    (f"simplify|{POINT}", 0, ["(d0, d1) -> (d1 + 2)"]),
    (f"simplify|{POINT}|--keep-point-dims", 0, ["(d0, d1) -> (d0 + d1)"]),
    (f"simplify|{SCALED}|--remove-unused|--rescale-ranges", 0,
        ["(d0)[s0] -> (s0 * 4 + d0 + 2), domain: d0 in [0, 4], s0 in [0, 4]\n"
        "  removed  d0 in [0, 3]: nothing depends on it\n  d1       = d0\n"
        "  removed  s0 in [0, 30]: nothing depends on it\n  s1       = s0 * 4 + 2\n"]),
    (f"simplify|{HALVES}|--remove-unused", 0, ["\nno variable changed\n"]),
    (f"simplify|{SCALED}|--ranges-to-dims|--rescale-ranges|--remove-unused|--validate", 0,
        ["(d0, d1) -> (d1 * 4 + d0 + 2), domain: d0 in [0, 4], d1 in [0, 4]\n", "\nPROVED  equal everywhere"]),
    (f"simplify|{HALVES}|--explain", 0, ["no rule applies\n"]),
    (f"simplify|{TIGHT}|--explain", 0,
        ["in the constraints", "⇔", "(d0, d1) -> (0), domain: d0 in [1, 3], d1 in [0, 2]"]),
    ("simplify|(d0) -> (d0), domain: d0 in [0, 3], d0 + 5 in [0, 2]|--explain", 0,
        ["empty_domain", "\n(d0) -> (0), domain: d0 in [0, -1]\n"]),
    (f"simplify|{WORK}|--explain|--validate", 0, ["small_remainder_vanishes", "\nPROVED  equal everywhere"]),
    (f"width|{HALVES}", 0, ["PROVED  int32 is enough   by "]),
    (f"width|{WIDE}", 0, ["PROVED  int64 is enough, int32 is not   by ",
        "\n  int32    d0 * 65536 = 2147483648 overflows at d0 = 32768, d1 = 0\n"]),
    (f"width|{TOO_WIDE}", 1, ["REFUTED  not even int64 is enough\n", f"\n  map      {TOO_WIDE}\n",
        "\n  int32    d0 = 2147483648 overflows at d0 = 2147483648\n",
        "\n  int64    d0 * 4294967296 = 9223372036854775808 overflows at d0 = 2147483648\n"]),
    (f"width|{TILE}|--at|n=4,k=2", 0, ["PROVED"]),
    (f"convert|{TILE}|--to|text", 0, [TILE + "\n"]),
    (f"convert|{TILE}|--to|c|--at|n=4,k=2", 0, ["d0 * 2 + d1"]),
    (f"convert|{SMALL}|--to|c", 0, ["int32_t d0"]),
    (f"convert|{SMALL.replace(', d0 + d1 in [0, 9]', '')}|--to|c", 0, ["int64_t d0"]),
    (f"convert|{SUMS}|--to|c|--simplify", 0, ["result[0] = (d0 / 1000 + d1) / 1000 + d0 / 2;"]),
    (f"convert|{SUMS}|--to|text|--simplify", 0, ["d1 * 1000 + d0"]),
    (f"convert|{SUMS}|--to|text", 0, ["(d0 * 4) floordiv 8"]),
    (f"layout|show|{TILED}|--index|2, 3|--position|19", 0,
        ["  element   (2, 3) is at position 17; tile (1, 1), place (0, 1)\n", "  position  19 is padding\n"]),
    (f"layout|show|{TILED}|--position|17", 0, ["17 holds element (2, 3)"]),
    ("layout|show|f32[]{:T(8)}", 0, ["element   () is at position 0"]),
    ("layout|bitcast|f32[2,3,4]{0,2,1}|f32[12,2]{1,0}|--verify", 0,
        ["  is        transpose-reshape-transpose\n", "  steps     transpose(1,2,0) -> reshape[12,2]\n",
        "  backward  (d0, d1) -> (d1, d0 floordiv 4, d0 mod 4), domain: d0 in [0, 11], d1 in [0, 1]\n",
        "  forward   (d0, d1, d2) -> (d1 * 4 + d2, d0), domain: ", "\nPROVED  3 claims, all proved   in "]),
    ("layout|bitcast|f32[8]|s32[8]", 0, ["nothing moves"]),
]  # fmt: skip


@pytest.mark.parametrize(("words", "status", "parts"), ANSWERS)
def test_an_answer(run: Run, words: str, status: int, parts: list[str]) -> None:
    done = run(*words.split("|"))
    assert done.status == status, done.err
    for part in parts:
        assert part in done.out
    assert ("  again " in done.out) == (words.startswith("equal") and status == 1)
    assert not done.err
