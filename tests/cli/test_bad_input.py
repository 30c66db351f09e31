"""Meaningless command lines: one line on standard error gives the reason, and the exit status is 3."""

from __future__ import annotations

import pytest

from .conftest import Run

MAP = "(d0) -> (d0), domain: d0 in [0, 9]"
CUT = "(d0) -> (d0 +), domain: d0 in [0, 9]"
ROWS = "(d0)[s0] -> (d0 * 24 + s0), domain: d0 in [0, 9], s0 in [0, 15]"
TILE = "(d0, d1){n, k} -> (d0 * k + d1), domain: d0 in [0, n - 1], d1 in [0, k - 1], n >= 1, k >= 1"
TRANSPOSE = "t = f32[3,2] transpose(f32[2,3] x), dimensions={1,0}"
ADD = "a = f32[4] add(f32[4] x, f32[4] y)"
SORT = "s = (f32[2], s32[2]) sort(f32[2] x, s32[2] y), dimensions={0}, to_apply=less"

#: The words of a command line separated by bars, and a part of the error line.
LINES = [
    ("nonsense", "No such command 'nonsense'"),
    ("prove|--nonsense", "No such option"),
    ("prove|--jobs|many", "--jobs"),
    ("prove|--jobs|0", "--jobs"),
    ("prove|--max-rank|7", "ops are proved up to rank 6, not 7: the number of cases grows with the factorial"),
    ("prove|transpose|--max-rank|7", "expected a rank from 0 to 6"),
    ("prove|--budget|0|interval_sum", "leaves the solver nothing"),
    ("prove|--budget|nan|interval_sum", "--budget"),
    ("prove|--confirm|yices|interval_sum", "no second opinion"),
    ("prove|--no-cache|--cache|x|interval_sum", "--no-cache contradicts --cache"),
    ("prove|--cache|/|interval_sum", "is a folder"),
    ("prove|--cache|/dev/null|interval_sum", "is no file"),
    ("prove|--cache|/dev/null/x|interval_sum", "cannot write"),
    (f"prove|--cache|{'x' * 300}|interval_sum", "is not the name of a file"),
    ("prove|--cache|x\0y|interval_sum", "embedded null"),
    ("prove|--cache|/proc/x.sqlite|interval_sum", "cannot write"),
    ("prove|--cache|no/such.sqlite|--read-only-cache|interval_sum", "there is no file"),
    ("prove|smal_remainder_vanishes", "did you mean `small_remainder_vanishes`"),
    ("prove|transpos", "did you mean `transpose`"),
    ("prove|no_such_thing_at_all_qqq", "`indexproof show` prints the names"),
    ("prove|quotient_by_one: sund", "does not owe `sund`"),
    ("prove|", "is called"),
    ("prove|no/such/file.py", "cannot read `no/such/file.py`"),
    ("prove|small_remainder_vanishes|--at|x", "`x` is no value"),
    ("prove|small_remainder_vanishes|--at|x=one", "is no value"),
    ("prove|small_remainder_vanishes|--at|x=1,,g=2", "is no value"),
    ("prove|small_remainder_vanishes|--at|q=1", "the claim has no variable `q`"),
    ("prove|small_remainder_vanishes|--at|x=1,x=2", "has a value already"),
    ("prove|small_remainder_vanishes|--at|x=1,g=2", "no value for"),
    ("prove|transpose permutation=(1, 0)|--at|n0=1", "no value for `n1`, `o0`, `o1`"),
    ("prove|transpose|--at|n0=1", "--at evaluates one claim"),
    ("show|transpos", "did you mean `transpose`"),
    ("show|transpose|--family|ops", "--family is about the list"),
    ("show|--max-rank|7", "expected a rank from 0 to 6"),
    ("show|--family|op", "there is no family `op`"),
    ("check", "nothing to check"),
    ("check|no/such/file", "no/such/file"),
    ("simplify|(d0) -> (d0", "line 1, column"),
    ("equal", "Missing argument"),
    (f"equal|{MAP}", "Missing argument"),
    (f"equal|{CUT}|{MAP}", "in the first map: line 1, column 14"),
    (f"equal|{MAP}|{{", "in the second map: line 1, column 2"),
    (f"equal|{MAP}|", "in the second map"),
    (f"equal|{MAP}|@/no/such/file", "cannot read `/no/such/file`"),
    (f"equal|{MAP}|@/", "cannot read `/`"),
    (f"equal|{TRANSPOSE}|c = f32[2,3] copy(f32[2,3] x)", "expected two instructions that make arrays of the same sizes"),
    (f"equal|{SORT}|{SORT.replace('[2]', '[3]')}", "expected two instructions that make arrays of the same sizes"),
    (f"equal|{TRANSPOSE}|b = f32[3,2] broadcast(f32[2] x), dimensions={{1}}", "operands of the same sizes in the same"),
    (f"equal|{TRANSPOSE}|{TRANSPOSE.replace('{1,0}', '{1,7}')}", "in the second instruction: line 1, column 1: transpose"),
    (f"equal|{TRANSPOSE}|(d0, d1) -> (d1, d0)", "in the second map: line 1, column 2: the variable `d0` has no bounds"),
    (f"equal|{ADD}|{MAP}|--pointwise", "--pointwise compares maps"),
    (f"equal|{ADD}|{MAP}", "expected an instruction with one operand"),
    (f"equal|{ADD}|n = f32[4] negate(f32[4] x)", "operands of the same sizes in the same"),
    ("equal|i = s32[4] iota(), iota_dimension=0|i = s32[4] iota(), iota_dimension=0", "`i` has no operands to compare"),
    (f"property|injectiv|{ROWS}", "there is no property `injectiv`; expected one of injective"),
    (f"property|injective|{ROWS}|{ROWS}", "injective is a property of 1 map, not of 2"),
    (f"property|inverse|{ROWS}", "inverse is a property of 2 maps, not of 1"),
    (f"property|covers|{ROWS}", "covers needs a shape"),
    (f"property|injective|{ROWS}|--width|3", "injective takes no width"),
    (f"property|injective|{ROWS}|--over|x", "no dimension or range `x`; expected one of d0, s0"),
    (f"property|covers|{ROWS}|--shape|4,x", "--shape: `x` is no number"),
    (f"property|covers|{TILE}|--shape|m", "unknown variable `m`"),
    (f"property|covers|{TILE}|--shape|4|--at|m=3", "the map has no parameter `m`"),
    (f"property|contiguous|{TILE}|--along|d1|--width|m", "unknown variable `m`; expected one of n, k"),
    (f"property|contiguous|{TILE}|--along|d1|--width|k-1", "`k - 1` may be less than 1: at k = 1, n = 1"),
    (f"property|contiguous|{TILE}|--along|d1|--width|k|--at|n=2,k=3", "--width: `k` is no number"),
    (f"property|contiguous|{ROWS}|--along|s0|--width|2,4", "--width: `2,4` is not one number"),
    (f"property|aligned|{ROWS}|--by|", "--by: `` is not one number"),
    (f"property|aligned|{ROWS}|--by|d0", "--by: `d0` is no number"),
    (f"simplify|{TILE}|--explain", "has the parameters n, k: this needs concrete sizes"),
    (f"width|{TILE}", "has the parameters n, k: this needs concrete sizes"),
    (f"convert|{TILE}|--to|c", "has the parameters n, k: this needs concrete sizes"),
    (f"width|{CUT}", "in the map: line 1, column 14"),
    (f"width|{MAP}|--bits|16", "expected 32 or 64"),
    (f"convert|{CUT}|--to|c", "in the map: line 1, column 14"),
    (f"convert|{MAP}", "Missing option '--to'"),
    (f"convert|{MAP}|--to|fortran", "there is no form `fortran`; expected one of text, json, mlir"),
    (f"convert|{MAP}|--to|json|--checked", "--checked is about functions; expected --to python or --to c"),
    (f"convert|{MAP}|--to|isl|--name|f", "--name is about functions"),
    (f"convert|{MAP}|--to|c|--name|while", "`while` is no name for a function"),
    (f"convert|{MAP}|--to|text|--domain|affine_set<() : (0 == 0)>", "--domain is for an affine_map"),
    ("convert|affine_map<(d0) -> (d0)>|--to|text", "line 1, column 13: the variable `d0` has no bounds"),
    ("convert|affine_map<(d0) -> (d0)>|--to|text|--domain|junk", "in the domain: line 1, column 1: unexpected `junk`"),
    ("convert|(d0) -> (min(d0, 3)), domain: d0 in [0, 9]|--to|mlir", "no `min`"),
    ("convert|(d0) -> (d0), domain: d0 in [0, 99999999999999999999]|--to|c", "64 bits are enough"),
    ("layout|bitcast|f32[3,4]|f32[13]", "expected as many elements"),
    ("layout|bitcast|f32[8]|s16[8]", "expected elements of one size"),
    ("layout|bitcast|f32[3,5]{1,0:T(2,2)}|f32[3,5]", "has 9 padding elements"),
    ("layout|bitcast|f32[8|f32[8]", "'[' is not closed"),
    ("layout|launch|f32[2", "is not closed"),
    ("layout|launch|(f32[2])", "is a tuple"),
    ("layout|launch|f32[2]|--threads|0", "threads (0)"),
    ("layout|launch|f32[2]|--threads|x", "--threads"),
    ("layout|launch|f32[2]|--blocks|1,2,3,4", "blocks (1, 2, 3, 4)"),
    ("layout|launch|f32[2]|--unroll|0", "unroll 0"),
    ("layout|launch|f32[2]|--operand|f32[2]", "--operand is the shape that --map leads to; expected --map"),
    ("layout|launch|f32[2]|--by|warp", "--by warp says whose reads --map asks for; expected --map"),
    ("layout|launch|f32[2]|--map|() -> ()", "a map of 0 dimensions"),
    (f"layout|launch|f32[10]|--map|{MAP}|--by|cluster", "thread, block or warp"),
    ("dev|nonsense", "No such command 'nonsense'"),
    ("dev|fuzz|-n|0", "there is nothing to examine"),
    ("dev|fuzz|-n|-3", "--count"),
    ("dev|fuzz|--corpus|/no/such/file", "cannot read"),
    ("dev|fuzz-hlo|-n|0", "there is nothing to examine"),
    ("dev|fuzz-hlo|-n|-3", "--count"),
    ("dev|fuzz-hlo|--corpus|/no/such/file", "cannot read"),
    ("dev|confluence|transpose", "`transpose` is no rule that the simplifier rewrites with"),
    ("dev|confluence|like_terms_combine", "`like_terms_combine` is no rule that the simplifier rewrites with"),
    ("dev|confluence|nothing.rules", "`nothing.rules` is no rule that the simplifier rewrites with"),
    ("dev|confluence|ceiling_of_positive|--page", "--page is about the whole catalogue"),
]  # fmt: skip


@pytest.mark.parametrize(("words", "said"), LINES)
def test_bad_input_is_one_line_and_status_3(run: Run, words: str, said: str) -> None:
    done = run(*words.split("|"))
    assert done.status == 3, done.err
    assert said in done.err.splitlines()[0]
    assert done.err.startswith("error: ")
    assert "Traceback" not in done.err
    assert not done.out
