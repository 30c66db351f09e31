"""The verdicts on claims of each kind."""

from __future__ import annotations

import pytest

from indexproof.verify.claims import ClaimResult, Dependence, check_claims, read_claims
from indexproof.verify.verdict import Status

PROVED, REFUTED = Status.PROVED, Status.REFUTED


def results(text: str) -> list[ClaimResult]:
    return check_claims(read_claims(text))


def result(text: str) -> ClaimResult:
    (only,) = results(text)
    return only


ADD = """
hlo add
  p0 = f32[4, 6] parameter(0)
  p1 = f32[4, 6] parameter(1)
  t = f32[6, 4] transpose(p1), dimensions={1, 0}
  u = f32[4, 6] transpose(t), dimensions={1, 0}
  ROOT a = f32[4, 6] add(p0, u)
"""


@pytest.mark.parametrize(("claim", "verdict"), [
    ("(d0) -> (d0 floordiv 2), d0 in [0, 9] == (i) -> (i / 2), i in [0, 9]", PROVED),
    ("(d0) -> (d0 floordiv 2), d0 in [0, 9] == (d0) -> (d0 floordiv 2)", PROVED),
    ("(d0) -> (d0), d0 in [0, 9] == (d0) -> (d0), d0 in [0, 10]", REFUTED),
    ("(d0) -> (d0), d0 in [0, 9] within (d0) -> (d0), d0 in [0, 10]", PROVED),
    ("(d0) -> (d0), d0 in [0, 9] ⊆ (d0) -> (d0), d0 in [0, 10]", PROVED),
    ("(d0) -> (d0), d0 in [0, 9] covers (d0) -> (d0), d0 in [0, 10]", REFUTED),
    ("(d0) -> (d0), d0 in [0, 10] ⊇ (d0) -> (d0), d0 in [0, 9]", PROVED),
    ("(d0)[s0] -> (s0), d0 in [0, 1], s0 in [0, 3] == (d0)[s0] -> (3 - s0)", PROVED),
    ("(d0){rt0} -> (d0 + rt0), d0 in [0, 1], rt0 in [0, 3] == (d0){rt0} -> (rt0 + d0)", PROVED),
    ("(d0){rt0} -> (d0 + rt0), d0 in [0, 1], rt0 in [0, 3] == (d0){rt0} -> (d0)", REFUTED),
    ("(d0) -> (d0), d0 in [0, -1] == (d0) -> (7)", PROVED),
    ("(d0) -> (d0), d0 in [0, 9] == (d0, d1) -> (d0), d1 in [0, 0]", REFUTED),
    ("(d0) -> (d0), d0 in [0, 9] == (d0) -> (d0, d0)", REFUTED),
    ("() -> () == () -> ()", PROVED),
    ('{"dims": [["d0", 0, 9]], "results": ["d0"]} == (d0) -> (d0)', PROVED),
    ('{"dims": [["d0", 0, 9]], "results": ["d0"]} == {"dims": [["d0", 0, 9]], "results": [1]}', REFUTED),
    # keywords of the format are valid names of variables
    ("(to) -> (to), to in [0, 9] == (within) -> (within), within in [0, 9]", PROVED),
    ("simplify (to) -> ((to * 8) floordiv 4), to in [0, 9] to (to) -> (to * 2)", PROVED),
    ("simplify (d0) -> ((d0 * 3) floordiv 4), d0 in [0, 9] to (d0) -> (d0)", REFUTED),
    ("simplify (d0) -> (d0 floordiv 16), d0 in [0, 15] to (d0) -> (0)", PROVED),
    # equal, but not the result of the simplifier
    ("simplify (d0) -> (d0), d0 in [0, 15] to (d0) -> (d0 mod 16)", REFUTED),
    ("simplify (d0, d1) -> (d0), d0 in [0, 1], d1 in [0, 1] to (d0) -> (d0)", REFUTED),
])  # fmt: skip
def test_claims_about_maps(claim: str, verdict: Status) -> None:
    r = result(f"claim x\n  {claim}\n")
    assert r.verdict is verdict, (r.headline, r.tried)
    assert bool(r.headline) == (verdict is REFUTED)


@pytest.mark.parametrize(("claim", "verdict", "headline"), [
    ("injective over=d0 : (d0)[s0] -> (d0 * 4 + s0), d0 in [0, 9], s0 in [0, 3]", PROVED, ""),
    ("injective: (d0)[s0] -> (d0 * 4 + s0), d0 in [0, 9], s0 in [0, 4]", REFUTED, "one target at d0 = 0"),
    ("covers shape=10,4 : (d0) -> (d0 floordiv 4, d0 mod 4), d0 in [0, 38]", REFUTED, "t0 = 9, t1 = 3"),
    ("contiguous along=s0 width=4 : (d0)[s0] -> (d0 * 8 + s0), d0 in [0, 9], s0 in [0, 3]", PROVED, ""),
    ("monotone strict : (d0) -> (d0 floordiv 2), d0 in [0, 9]", REFUTED, "no later target"),
    ("disjoint : (d0) -> (2d0), d0 in [0, 9] and (d0) -> (2d0 + 1), d0 in [0, 9]", PROVED, ""),
    ("disjoint : (d0) -> (2d0), d0 in [0, 9] and (d0) -> (2d0 + 4), d0 in [0, 9]", REFUTED, "(4)"),
])  # fmt: skip
def test_claims_about_properties(claim: str, verdict: Status, headline: str) -> None:
    r = result(f"claim x\n  property {claim}\n")
    assert r.verdict is verdict, (r.headline, r.tried)
    assert headline in r.headline
    assert bool(r.headline) == (verdict is REFUTED)


def test_a_claim_on_one_line() -> None:
    assert result("claim x : (d0) -> (d0), d0 in [0, 1] == (d0) -> (d0)").verdict is PROVED


@pytest.mark.parametrize(("claim", "verdict", "accuracy"), [
    ("a -> p0 : (d0, d1) -> (d0, d1)", PROVED, "exact"),
    ("output -> p1 : (d0, d1) -> (d0, d1)", PROVED, "exact"),
    ("output -> p1 : (d0, d1) -> (d1, d0)", REFUTED, "wrong"),
    ("a -> t : (x, y) -> (y, x)", PROVED, "exact"),
    ("t -> p1 : (d0, d1) -> (d1, d0)", PROVED, "exact"),
    ("p1 -> u : (d0, d1) -> (d0, d1)", PROVED, "exact"),
    ("p1 -> t : (d0, d1) -> (d1, d0)", PROVED, "exact"),
    ("a -> p0 : (d0, d1) -> (d0, d1), d0 in [0, 2]", REFUTED, "wrong"),
    ("a -> p0 : (d0, d1)[s0] -> (d0, s0), s0 in [0, 5]", REFUTED, "over-approximation"),
    ("a -> p0 : (d0, d1)[s0] -> (d0, s0), s0 in [0, 6]", REFUTED, "wrong"),
    ("a -> p0 within (d0, d1)[s0] -> (d0, s0), s0 in [0, 6]", PROVED, ""),
    ("a -> p0 within : (d0, d1) -> (d0, d1)", PROVED, "exact"),
    ("a -> p0 covers (d0, d1) -> (d0, d1), d0 in [0, 2]", PROVED, ""),
    ("a -> p0 ⊆ (d0, d1) -> (d0, d1), d0 in [0, 2]", REFUTED, ""),
    ("a -> p0 ⊇ (d0, d1)[s0] -> (d0, s0), s0 in [0, 5]", REFUTED, ""),
    ("a -> p0 : nothing", REFUTED, "wrong"),
    ("a -> p0 covers nothing", PROVED, ""),
    ("a -> p0 : (d0) -> (d0, 0)", REFUTED, "wrong"),
    ("a -> p0 : (d0, d1) -> (d0)", REFUTED, "wrong"),
    ("a -> p0 : (d0, d1) -> (d0, d1) and (d0, d1) -> (d0, d1)", PROVED, "exact"),
    ("a -> p0 : (d0, d1) -> (d0, d1), d0 in [0, 1] and (d0, d1) -> (d0, d1), d0 in [2, 3]", PROVED, "exact"),
    ("a -> p0 : (d0, d1) -> (d0, d1), d0 in [0, 1] and (d0, d1) -> (d0, d1), d0 in [3, 3]", REFUTED, "wrong"),
    ("a -> p0 : (d0, d1) -> (d0, d1) and (d0, d1) -> (0, d1)", REFUTED, "over-approximation"),
    ('a -> p0 : {"dims": [["d0", 0, 3], ["d1", 0, 5]], "results": ["d0", "d1"]}', PROVED, "exact"),
])  # fmt: skip
def test_claims_about_programs(claim: str, verdict: Status, accuracy: str) -> None:
    r = result(f"{ADD}\n{claim}\n")
    assert (r.verdict, r.accuracy) == (verdict, accuracy), (r.headline, r.explanation)
    if verdict is REFUTED:
        assert r.headline
        assert [str(m) for m in r.right] == ["(d0, d1) -> (d0, d1), domain: d0 in [0, 3], d1 in [0, 5]"]


def test_the_element_and_both_readings_are_named() -> None:
    r = result(f"{ADD}\noutput -> p1 : (d0, d1) -> (d1, d0)")
    assert r.headline == "output (0, 1): claimed that it reads p1 (1, 0), in truth it reads p1 (0, 1)"
    assert r.explanation == ("it names p1 (4, 0), but p1 is f32[4,6]", "it misses what it should name")
    r = result(f"{ADD}\np1 -> output : (d0, d1)[s0] -> (d0, s0)\n  s0 in [0, 4]")
    assert r.headline == (
        "p1 (0, 0): claimed that it is read by output (0, s0) for s0 in [0, 4], in truth it is read by output (0, 0)"
    )


SLICE = """
hlo slices
  x = f32[10] parameter(0)
  i = s32[] parameter(1)
  j = s32[] parameter(2)
  a = f32[4] dynamic-slice(x, i), dynamic_slice_sizes={4}
  b = f32[4] dynamic-slice(x, j), dynamic_slice_sizes={4}
  ROOT c = f32[4] add(a, b)
"""
BOTH = "  (d0){rt0} -> (d0 + rt0)\n  rt0 in [0, 6]\n  hlo: %s\n  (d0) -> ()\n"


@pytest.mark.parametrize(("claim", "verdict"), [
    ("a -> x :\n" + BOTH % "i", PROVED),
    ("a -> x :\n" + BOTH % "i = s32[] parameter(1)", PROVED),
    ("a -> x :\n" + BOTH % "j", REFUTED),
    ("a -> x :\n  (d0){any} -> (d0 + any), any in [0, 6]", PROVED),
    ("a -> x :\n  (d0){any} -> (d0 + any), any in [0, 7]", REFUTED),
    ("c -> x :\n" + BOTH % "i" + "  and\n" + BOTH % "j", PROVED),
    ("c -> x :\n" + BOTH % "j" + "  and\n" + BOTH % "i", PROVED),
    ("c -> x :\n" + BOTH % "i" + "  and\n" + BOTH % "i", REFUTED),
    ("c -> x :\n" + BOTH % "i", REFUTED),
    ("c -> x covers\n" + BOTH % "j", PROVED),
    ("c -> x within (d0)[s0] -> (s0), s0 in [0, 9]", PROVED),
    ("c -> i : (d0) -> ()", PROVED),
    ("i -> c : ()[s0] -> (s0), s0 in [0, 3]", PROVED),
])  # fmt: skip
def test_runtime_variables_by_provenance(claim: str, verdict: Status) -> None:
    r = result(f"{SLICE}\n{claim}\n")
    assert r.verdict is verdict, (r.headline, r.tried)


def test_runtime_values_are_named_in_the_element() -> None:
    r = result(f"{SLICE}\na -> x :\n  (d0) -> (d0)\n")
    assert r.headline == "a (0) with rt0 = 1: claimed that it reads x (0), in truth it reads x (1)"


def test_two_elements_of_one_instruction_are_two_values_in_the_element() -> None:
    second = """
hlo second
  x = f32[4] parameter(0)
  i = s32[2] parameter(1)
  k = s32[1] slice(i), slice={[1:2]}
  s = s32[] reshape(k)
  a = f32[2] dynamic-slice(x, s), dynamic_slice_sizes={2}

a -> x : (d0){rt0} -> (d0 + rt0), domain: rt0 in [0, 2]
  hlo: i
  (d0) -> (0)
"""
    r = result(second)
    assert r.verdict is REFUTED
    assert r.headline == "a (0) with rt0 = 0, rt0_ = 1: claimed that it reads x (0), in truth it reads x (1)"


def test_values_that_are_read_at_ranges_have_no_value_in_the_element() -> None:
    gather = """
hlo gather
  x = f32[6] parameter(0)
  i = s32[3, 1] parameter(1)
  g = f32[3] gather(x, i), offset_dims={}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1,
    slice_sizes={1}

x -> g : (d0) -> (0)
"""
    r = result(gather)
    assert r.verdict is REFUTED
    assert r.headline.startswith(
        "x (0): claimed that it is read by g (0), in truth it is read by g (s0) for s0 in [0, 2], "
    )
    assert r.headline.endswith("; only the claim has (0)")


def test_an_instruction_alone_with_shapes_in_place() -> None:
    text = "hlo t\n  t = f32[3,2] transpose(f32[2,3] x), dimensions={1,0}\n\nt -> x : (d0, d1) -> (d1, d0)\n"
    assert result(text).verdict is PROVED


def test_calls_and_tuples() -> None:
    text = """
hlo m
  inner {
    a = f32[6] parameter(0)
    b = f32[6] parameter(1)
    r = f32[6] reverse(a), dimensions={0}
    ROOT both = (f32[6], f32[6]) tuple(r, b)
  }
  ENTRY main {
    x = f32[2, 3] parameter(0)
    y = f32[6] reshape(x)
    f = (f32[6], f32[6]) fusion(y, y), kind=kLoop, calls=inner
    first = f32[6] get-tuple-element(f), index=0
    ROOT o = f32[6] negate(first)
  }

o -> x : (d0) -> ((5 - d0) floordiv 3, (5 - d0) mod 3)
f[0] -> y : (d0) -> (5 - d0)
f[1] -> y : (d0) -> (d0)
y -> f[1] : (d0) -> (d0)
"""
    assert [r.verdict for r in results(text)] == [PROVED] * 4


def test_zero_sized_arrays() -> None:
    text = "hlo z\n  x = f32[0, 3] parameter(0)\n  n = f32[0, 3] negate(x)\n\nn -> x : (d0, d1) -> (d1, d0)\n"
    assert result(text).verdict is PROVED


def test_comments_sections_and_expectations() -> None:
    f = read_claims(
        "# a comment\n"
        "section  One   heading # with a comment\n\n"
        "claim a # here\n"
        "  (d0) -> (d0) # and here\n"
        "\n"
        "  # and in between\n"
        "  domain: d0 in [0, 1]\n"
        "  == (d0) -> (d0)\n"
        "  expect PROVED\r\n"
        "section two\n"
        "claim b\n\t(d0) -> (d0), d0 in [0, 1]\n\t== (d0) -> (1)\n"
        "expect REFUTED # because\n",
        "name.claims",
    )
    assert f.filename == "name.claims"
    assert [(c.name, c.section, c.line, c.expected) for c in f.claims] == [
        ("a", "One heading", 4, PROVED),
        ("b", "two", 12, REFUTED),
    ]
    assert f.claims[0].text == "(d0) -> (d0)\ndomain: d0 in [0, 1]\n== (d0) -> (d0)"
    assert all(r.as_expected for r in check_claims(f))


def test_a_hash_inside_a_string_is_no_comment() -> None:
    text = (
        'hlo h\n  p = f32[2] parameter(0), metadata={op_name="a #1"}\n  ROOT n = f32[2] negate(p)\n\n'
        "n -> p : (d0) -> (d0)\n"
    )
    assert result(text).verdict is PROVED


def test_selection_and_progress() -> None:
    f = read_claims(f"{ADD}\na -> p0 : (d0, d1) -> (d0, d1)\na -> p1 : (d0, d1) -> (d0, d1)\n")
    seen: list[ClaimResult] = []
    found = check_claims(f, names=["add: a -> p1"], progress=seen.append)
    assert [r.name for r in found] == ["add: a -> p1"] == [r.name for r in seen]
    assert isinstance(found[0].claim.statement, Dependence)


CLAMPED = """
hlo clamped
  x = f32[10] parameter(0)
  i = s32[] parameter(1)
  a = f32[4] dynamic-slice(x, i), dynamic_slice_sizes={4}

a -> x : """


def test_a_claim_may_clamp_to_another_box() -> None:
    assert result(f"{CLAMPED}(d0){{rt0}} -> (d0 + min(rt0, 6)), domain: rt0 in [0, 9]").verdict is PROVED
    r = result(f"{CLAMPED}(d0){{rt0}} -> (d0 + rt0), domain: rt0 in [0, 9]")
    assert r.verdict is REFUTED
    assert "rt0 = 7: claimed that it reads x (7), in truth it reads x (6); rt0 is clamped to [0, 6]" in r.headline
