"""Malformed claims files give a one-line error with the place and the expected text."""

from __future__ import annotations

import pytest

from indexproof.core.errors import InputError
from indexproof.verify.claims import read_claims

HLO = """hlo h
  p0 = f32[4, 6] parameter(0)
  p1 = f32[] parameter(1)
  t = f32[6, 4] transpose(p0), dimensions={1, 0}
  two = (f32[4, 6], f32[6, 4]) tuple(p0, t)
  c = f32[] custom-call(p1), custom_call_target="x"
  ROOT a = f32[6, 4] negate(t)

"""
DS = """hlo h
  x = f32[10] parameter(0)
  i = s32[] parameter(1)
  a = f32[4] dynamic-slice(x, i), dynamic_slice_sizes={4}

a -> x : (d0){rt0} -> (d0 + rt0)
  rt0 in [0, 6]
"""
MAP = "(d0) -> (d0), d0 in [0, 9]"

#: text, line, column, part of the message
BAD = [
    ("", 1, 1, "makes no claim"),
    ("# nothing\n\n", 3, 1, "makes no claim"),
    ("section x\n", 2, 1, "makes no claim"),
    ("section\n", 1, 8, "without a heading"),
    ("section # no\n", 1, 8, "without a heading"),
    ("  claim a\n", 1, 3, "continues nothing"),
    ("\n\n   (d0)\n", 3, 4, "continues nothing"),
    ("clam a\n", 1, 1, "`clam` begins no statement"),
    (f"{MAP} == {MAP}\n", 1, 1, "begins no statement"),
    (f"claim a\n{MAP} == {MAP}\n", 1, 8, "says nothing"),
    ("claims\n", 1, 1, "`claims` begins no statement"),
    (": x\n", 1, 1, "begins no statement"),
    ("claim\n", 1, 6, "a claim without a name"),
    ("claim :\n", 1, 7, "a claim without a name"),
    (f"claim a {MAP}\n", 1, 9, "after the claim's name"),
    ("claim a\n", 1, 8, "says nothing"),
    ("claim a :\n\n", 1, 10, "says nothing"),
    (f"claim a\n  {MAP}\n", 2, 29, "ends after its first map"),
    (f"claim a\n  {MAP} = {MAP}\n", 2, 30, "unexpected `=`"),
    (f"claim a\n  {MAP} ==\n", 2, 32, "a map is missing"),
    (f"claim a\n  == {MAP}\n", 2, 3, "a map is missing"),
    (f"claim a\n  {MAP} == {MAP} == {MAP}\n", 2, 60, "unexpected"),
    (f"claim a\n  simplify {MAP}\n", 2, 38, "ends after its first map"),
    (f"claim a\n  simplify {MAP} to\n", 2, 41, "a map is missing"),
    (f"claim a\n  simplify to {MAP}\n", 2, 12, "a map is missing"),
    (f"claim a\n  simplify {MAP} == {MAP}\n", 2, 39, "unexpected"),
    (f"claim a\n  property wide : {MAP}\n", 2, 3, "there is no property `wide`"),
    (f"claim a\n  property injective shape=3 : {MAP}\n", 2, 3, "injective takes no shape"),
    (f"claim a\n  property covers shape=x : {MAP}\n", 2, 3, "`shape=x` gives no number"),
    (f"claim a\n  property aligned by=4,8 : {MAP}\n", 2, 3, "`by=4,8` gives several numbers"),
    (f"claim a\n  property injective over=x : {MAP}\n", 2, 3, "no dimension or range `x`"),
    (f"claim a\n  property disjoint : {MAP}\n", 2, 3, "of 2 maps, not of 1"),
    ("claim a\n  (d0) -> (d0) == (d0) -> (d0)\n", 2, 4, "no bounds"),
    (f"claim a\n  {MAP} == (d1) -> (d1)\n", 2, 34, "no bounds"),
    (f"claim a\n  (d0) -> (d1), d0 in [0, 9] == {MAP}\n", 2, 12, "unknown variable `d1`"),
    (f"claim a\n  (d0) -> (d0 floordiv 0),\n    d0 in [0, 9] == {MAP}\n", 2, 24, "division by zero"),
    (f"claim a\n  {MAP} ==\n    (d0, d1) -> (d0 * d1), d1 in [0, 3]\n", 3, 21, "not quasi-affine"),
    (f"claim a\n  {MAP} ==\n  (d0) -> (d0\n", 3, 14, "ends too early"),
    (f"claim a\n  {MAP} == (d0) - (d0)\n", 2, 38, "unexpected"),
    (f"claim a\n  (d0 -> (d0) == {MAP}\n", 2, 7, "unexpected `->`"),
    (f"claim a\n  (d0, d0) -> (d0), d0 in [0, 1] == {MAP}\n", 2, 8, "duplicate"),
    (f'claim a\n  {{"dims": 1}} == {MAP}\n', 2, 3, "dims"),
    (f'claim a\n  {{"dims": [}} == {MAP}\n', 2, 13, "unexpected `}`"),
    (f'claim a\n  {{"dims": [["d0", 0, 9]], "results": ["d7"]}} == {MAP}\n', 2, 3, "results[0]"),
    (f"claim a\n  {MAP} == {MAP}\nclaim a\n  {MAP} == {MAP}\n", 3, 7, "a second claim `a`"),
    ("expect REFUTED\n", 1, 1, "no claim above"),
    (f"claim a\n  {MAP} == {MAP}\nexpect\n", 3, 7, "no verdict"),
    (f"claim a\n  {MAP} == {MAP}\nexpect true\n", 3, 8, "`true` is no verdict"),
    (f"claim a\n  {MAP} == {MAP}\nexpect refuted\n", 3, 8, "`refuted` is no verdict"),
    (f"claim a\n  {MAP} == {MAP}\nexpect UNDECIDED\n", 3, 8, "`UNDECIDED` is no verdict"),
    (f"claim a\n  {MAP} == {MAP}\nexpect PROVED now\n", 3, 15, "unexpected `now`"),
    (f"claim a\n  {MAP} == {MAP}\nexpect PROVED\nexpect PROVED\n", 4, 1, "already has"),
    ("a -> b : (d0) -> (d0)\n", 1, 1, "no program above"),
    (f"{HLO}section s\na -> p0 : (d0, d1) -> (d1, d0)\n", 1, 1, "nothing is claimed about the program `h`"),
    ("hlo\n  p0 = f32[4] parameter(0)\n", 1, 4, "a program without a name"),
    ("hlo h p0 = f32[4] parameter(0)\n", 1, 7, "after the program's name"),
    ("hlo h\n", 1, 6, "is empty"),
    ("hlo h\nsection s\n", 1, 6, "is empty"),
    ("hlo h\n  p0 = f32[4] parameter(0)\n", 1, 1, "nothing is claimed"),
    ("hlo h\n  p0 = f32[4 parameter(0)\n", 2, 11, "'[' is not closed"),
    ("hlo h\n  p0 = f32[4] parameter(0)\n\n  n = f32[4] negate(p1)\n", 4, 21, "'p1' is not defined"),
    ("hlo h\n  # first\n  p0 = f32[4] parameter(0)\n  n f32[4] negate(p0)\n", 4, 5, "`=`"),
    ("hlo h\n  p0 = f32[4] parameter(0)\n  n = f32[5] negate(p0)\n", 3, 3, "f32[4]"),
    ("hlo h\n  p0 = f32[4] parameter(0)\n  n = f32[4] reverse(p0), dimensions={1}\n", 3, 3, "dimension 1"),
    ("hlo h\n  p0 = f32[4] parameter(0)\n  n = f32[4] reverse(p0)\n", 3, 3, "no attribute dimensions"),
    ("hlo h\n  p0 = f32[4] parameter(0)\n  n = reverse(p0), dimensions={1}\n", 3, 3, "dimension 1"),
    ("hlo h\n  n = f32[4] add(f32[4] x, f32[5] x)\n", 2, 1, "is written f32[4] and f32[5]"),
    ("hlo h\n  f {\n    p0 = f32[4] parameter(0)\n", 2, 5, "not closed"),
    (f"{HLO}a -> p0 : (d0, d1) -> (d1, d0)\nhlo h\n  p = f32[] parameter(0)\n", 10, 5, "a second program `h`"),
    (f"{HLO}a -> q : (d0, d1) -> (d1, d0)\n", 9, 6, "no instruction `q`"),
    (f"{HLO}q -> a : (d0, d1) -> (d1, d0)\n", 9, 1, "no instruction `q`"),
    (f"{HLO}a ->\n", 9, 5, "ends too early"),
    (f"{HLO}a -> : (d0, d1) -> (d1, d0)\n", 9, 6, "unexpected"),
    (f"{HLO}a -> p0\n", 9, 8, "ends too early"),
    (f"{HLO}a -> p0 (d0, d1) -> (d1, d0)\n", 9, 9, "unexpected `(d0,`"),
    (f"{HLO}a -> p0 is (d0, d1) -> (d1, d0)\n", 9, 9, "unexpected `is`"),
    (f"{HLO}a -> p0 :\n", 9, 10, "a map is missing"),
    (f"{HLO}a -> p0 within\n", 9, 15, "a map is missing"),
    (f"{HLO}a -> p0 : (d0, d1) -> (d1, d0) and\n", 9, 35, "a map is missing"),
    (f"{HLO}a -> p0 : and (d0, d1) -> (d1, d0)\n", 9, 11, "a map is missing"),
    (f"{HLO}a -> p0 : nothing at all\n", 9, 11, "unexpected `nothing`"),
    (f"{HLO}a -> p0 : (d0, d1)[s0] -> (s0, d0)\n", 9, 20, "`s0` has no bounds"),
    (f"{HLO}a -> p0 : (d0, d1, d2) -> (d1, d0)\n", 9, 20, "`d2` has no bounds"),
    (f"{HLO}a -> p0 :\n  (d0, d1) -> (d1, d0),\n  d0 in [0, x]\n", 11, 13, "unexpected `x`"),
    (f"{HLO}a -> a : (d0, d1) -> (d1, d0)\n", 9, 1, "to itself"),
    (f"{HLO}p0 -> p1 : (d0, d1) -> ()\n", 9, 1, "neither of"),
    (f"{HLO}a -> p1 : (d0, d1) -> ()\n", 9, 1, "neither of"),
    (f"{HLO}a -> () : (d0, d1) -> ()\n", 9, 1, "has operands"),
    (f"{HLO}p0 -> () : (d0, d1) -> ()\n", 9, 1, "has no operand"),
    (f"{HLO}() -> () : () -> ()\n", 9, 1, "itself"),
    (f"{HLO}a[0 -> p0 : (d0, d1) -> (d1, d0)\n", 9, 1, "begins no statement"),
    (f"{HLO}a[1] -> p0 : (d0, d1) -> (d1, d0)\n", 9, 1, "no array number 1"),
    (f"{HLO}a[x] -> p0 : (d0, d1) -> (d1, d0)\n", 9, 3, "`x` is no number"),
    (f"{HLO}a[] -> p0 : (d0, d1) -> (d1, d0)\n", 9, 3, "no number"),
    (f"{HLO}two -> p0 : (d0, d1) -> (d0, d1)\n", 9, 1, "makes 2 arrays"),
    (f"{HLO}two[2] -> p0 : (d0, d1) -> (d0, d1)\n", 9, 1, "no array number 2"),
    (f"{HLO}c -> p1 : () -> ()\n", 9, 1, "the map is not known"),
    (f"{HLO}a -> p0 : (d0, d1) -> (d1, d0)\na -> p0 : (d0, d1) -> (d1, d0)\n", 10, 1, "a second claim"),
    (f"{DS}  hlo: z\n  (d0) -> ()\n", 8, 8, "no instruction `z`"),
    (f"{DS}  hlo: i = s32[2] parameter(1)\n  (d0) -> ()\n", 8, 8, "another instruction"),
    (f"{DS}  hlo: i = s32[] parameter(2)\n  (d0) -> ()\n", 8, 8, "another instruction"),
    (f"{DS}  hlo: i = s32[] add(i)\n  (d0) -> ()\n", 8, 8, "another instruction"),
    (f"{DS}  hlo: i = s32[ parameter(1)\n  (d0) -> ()\n", 8, 15, "not closed"),
    (f"{DS}  hlo: i\n  (d0) -> (0)\n", 8, 8, "at 1 indices"),
    (f"{DS}  hlo:\n  (d0) -> ()\n", 8, 3, "empty `hlo:`"),
    (f"{DS}  hlo: i\n  (d0, d1) -> ()\n", 9, 3, "dimension variables"),
    (f"{DS}  hlo: i\n", 8, 9, "ends too early"),
]


@pytest.mark.parametrize(("text", "line", "column", "message"), BAD)
def test_a_bad_file_is_an_error_with_its_place(text: str, line: int, column: int, message: str) -> None:
    with pytest.raises(InputError) as caught:
        read_claims(text)
    error = caught.value
    assert message in str(error), str(error)
    assert (error.line, error.column) == (line, column), error.render()
    assert error.expected, str(error)
    assert "\n" not in str(error)
    shown = error.render().split("\n")
    if line <= len(text.split("\n")) and text:
        assert len(shown) == 3, error.render()
        assert shown[2].strip() == "^"


@pytest.mark.parametrize("text", [None, 3, b"claim a"])
def test_what_is_no_text(text: object) -> None:
    with pytest.raises(InputError, match="expected text"):
        read_claims(text)


def complaint(text: str) -> InputError | None:
    """Return the error of reading a file, or None."""
    try:
        read_claims(text)
    except InputError as error:
        return error
    return None


def test_every_beginning_of_a_file_is_read_or_is_an_error() -> None:
    text = (
        f"{HLO}a -> p0 :\n  (d0, d1) -> (d1, d0),\n  domain: d0 in [0, 5]\nexpect PROVED\nclaim z\n  {MAP} == {MAP}\n"
    )
    for end in range(len(text)):
        error = complaint(text[:end])
        assert error is None or (error.line and "\n" not in str(error)), text[:end]


def test_every_file_with_one_character_missing_is_read_or_is_an_error() -> None:
    text = f"{DS}  hlo: i = s32[] parameter(1)\n  (d0) -> ()\nclaim z\n  simplify {MAP} to (d0) -> (d0)\n"
    for at in range(len(text)):
        error = complaint(text[:at] + text[at + 1 :])
        assert error is None or (error.line and "\n" not in str(error)), at
