"""The textual notation: all published maps are read, and canonical texts are printed unchanged."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from indexproof.core.errors import InputError, TooLargeError
from indexproof.core.expr import ceildiv, floordiv, integer, linear, maximum, minimum, mod, mul, var
from indexproof.core.indexing_map import IndexingMap, RuntimeSource
from indexproof.core.map_reader import read_map
from indexproof.core.numerals import MOST_DIGITS, parse_int
from indexproof.core.text import format_expr, format_map, parse_condition, parse_expr, parse_map

DATA = Path(__file__).parent / "data"
XLA = (DATA / "xla_maps.txt").read_text().splitlines()
PUBLISHED = (DATA / "published_maps.txt").read_text().rstrip("\n").split("\n\n")

d0, d1, d2, s0, x = map(var, ("d0", "d1", "d2", "s0", "x"))


def test_the_data_is_there() -> None:
    assert len(XLA) == 400
    assert len(PUBLISHED) == 92


def test_every_printed_map_is_reproduced_character_by_character() -> None:
    for line in XLA:
        assert format_map(parse_map(line), division="/") == line


@pytest.mark.parametrize("division", ["floordiv", "/", "//"])
@pytest.mark.parametrize("multiline", [False, True])
def test_reading_what_was_printed_gives_the_same_map(division: str, multiline: bool) -> None:
    for text in [*XLA, *PUBLISHED]:
        m = parse_map(text)
        assert parse_map(format_map(m, division, multiline)) == m, text


def test_published_maps_are_printed_as_published_where_their_text_is_canonical() -> None:
    reproduced = sum(format_map(parse_map(t), multiline=True) == t for t in PUBLISHED)
    assert reproduced == 41  # the others lack commas, have one too many, or order their summands differently


def test_commas_newlines_and_the_word_domain_are_optional() -> None:
    m = IndexingMap.of([("d0", 0, 9), ("d1", -1, 4)], [("s0", 0, 2)], [], [d0 + s0, d1], [(d0 + s0, 0, 5)])
    head = "(d0, d1)[s0] -> (d0 + s0, d1)"
    entries = ["d0 in [0, 9]", "d1 in [-1, 4]", "s0 in [0, 2]", "d0 + s0 in [0, 5]"]
    for start in (", domain: ", " domain: ", "\ndomain:\n", ",\ndomain:\n  ", " ", "\n", ", "):
        for between in (", ", "\n", ",\n", " "):
            for end in ("", ",", "\n", ", is_simplified: true", "\nis_simplified: false\n"):
                assert parse_map(head + start + between.join(entries) + end) == m


@pytest.mark.parametrize(("text", "expected"), [
    ("-d0 floordiv 2", floordiv(-d0, 2)),
    ("-d0 mod 2", mod(-d0, 2)),
    ("-d0 * 3", d0 * -3),
    ("3 - d0 mod 2", 3 - mod(d0, 2)),
    ("--d0", d0),
    ("d0 - -d1", d0 + d1),
    ("d0 * -3 floordiv 2", floordiv(d0 * -3, 2)),
    ("-(-11d0 - d1 + 109) floordiv 11 + 9", floordiv(-(d0 * -11 - d1 + 109), 11) + 9),
    ("100d0 + 10d1 + d2", d0 * 100 + d1 * 10 + d2),
    ("16d0 mod 4", mod(d0 * 16, 4)),
    ("-2d0 // 3", floordiv(d0 * -2, 3)),
    ("16 mod 5", integer(1)),
    ("7 floordiv -2", integer(-4)),
    ("d0 floorDiv 2 % 3", mod(floordiv(d0, 2), 3)),
    ("d0 / 2 * 3 mod 4", mod(floordiv(d0, 2) * 3, 4)),
    ("d0 ceildiv 4", ceildiv(d0, 4)),
    ("ceildiv(d0 + 1, 4)", ceildiv(d0 + 1, 4)),
    ("min(d0, 3, d1 + 1)", minimum(d0, 3, d1 + 1)),
    ("max(min(d0, 3), -1) * 2", maximum(minimum(d0, 3), -1) * 2),
    ("2 * (d0 + 3 * (d1 - 1))", d0 * 2 + d1 * 6 - 6),
    ("(((x)))", x),
    ("d0 * (2 + 1)", d0 * 3),
    ("0007d0", d0 * 7),
])  # fmt: skip
def test_reading_expressions(text: str, expected: object) -> None:
    assert parse_expr(text) is expected


@pytest.mark.parametrize(("expression", "text"), [
    (linear(6, [(d0, -1)]), "-d0 + 6"),
    (linear(-12, [(d0, 32), (d1, 1)]), "d0 * 32 + d1 - 12"),
    (d1 + mod(d0, 4) * 3, "(d0 mod 4) * 3 + d1"),
    (d0 - mod(d1, 4), "-(d1 mod 4) + d0"),
    (mod(d0, 9) - mod(d1, 3) - d1, "-(d1 mod 3) - d1 + d0 mod 9"),
    (mod(d0, 9) * 2 - mod(d1, 3) - d1, "(d0 mod 9) * 2 - d1 mod 3 - d1"),
    (d1 - d0 + 7, "d1 - d0 + 7"),
    (d1 - d0 * 2, "d0 * -2 + d1"),
    (d0 * 2 - mod(d1, 4), "-(d1 mod 4) + d0 * 2"),
    (floordiv(-d0, 2), "(-d0) floordiv 2"),
    (floordiv(d0 * 3, -2), "(d0 * 3) floordiv -2"),
    (d0 * -4 + 3, "d0 * -4 + 3"),
    (minimum(3, d1, d0 + 1), "min(d0 + 1, d1, 3)"),
    (maximum(d0, -1) * 2, "max(d0, -1) * 2"),
    (ceildiv(d0, 4) + 1, "d0 ceildiv 4 + 1"),
    (mul(d0, d1) * 3, "(d0 * d1) * 3"),
    (mod(d0, 2) + floordiv(d0, 2) + d0, "d0 mod 2 + d0 floordiv 2 + d0"),
    (integer(-3), "-3"),
])  # fmt: skip
def test_printing_expressions(expression: object, text: str) -> None:
    printed = format_expr(expression)
    assert printed == text
    assert parse_expr(printed) is expression


def test_round_trip_of_random_maps(maps: Any) -> None:
    for k in range(400):
        m = maps.map(empty=True, names=("d s rt", "th_ s rt")[k % 2])
        if k % 3 == 0:
            m = maps.sourced(m)
        for division in ("floordiv", "/"):
            for multiline in (False, True):
                assert parse_map(format_map(m, division, multiline)) == m
        assert parse_map(repr(m)) == m


def test_sources_of_runtime_variables_are_read_and_printed() -> None:
    gather = next(t for t in PUBLISHED if "[s0, s1] -> (d1 + s0" in t)
    m = parse_map(gather)
    assert [r.name for r in m.rts] == ["s0", "s1"]
    assert m.ranges == ()
    assert m.rts[1].source == RuntimeSource("indices = s32[1806,2]{1,0} parameter(1)", (d0, integer(1)))
    assert repr(m).splitlines()[0] == "(d0, d1, d2, d3){s0, s1} -> (d1 + s0, d2 + s1, d3),"
    assert "  hlo: indices = s32[1806,2]{1,0} parameter(1)\n  (d0, d1, d2, d3) -> (d0, 1)" in repr(m)


def test_the_map_of_a_source_names_variables_by_position() -> None:
    m = parse_map(
        "(d0, d1)[s0]{rt0, rt1} -> (d0 + rt0, s0 + rt1)\n"
        "d0 in [0, 1] d1 in [0, 1] s0 in [0, 3]\n"
        "rt0 in [0, 4]\n  hlo: a, with [odd: text\n  (d1, d0) -> (d1, 3)\n"
        "rt1 in [0, 4]\n  hlo: b\n  (i, j)[k]{p, q} -> (i + k, p)\n"
    )
    sources = [r.source for r in m.rts]
    assert sources[0] == RuntimeSource("a, with [odd: text", (d0, integer(3)))
    assert sources[1] == RuntimeSource("b", (d0 + s0, var("rt0")))
    assert parse_map(repr(m)) == m


def test_further_intervals_of_a_variable_are_constraints() -> None:
    m = parse_map("(d0) -> (d0), domain: d0 in [0, 9], d0 in [2, 4], d0 mod 2 in [0, 0], 5 in [0, 4], d0 in [3, 8]")
    assert [(str(c.expr), c.lo, c.hi) for c in m.constraints] == [("d0", 3, 4), (str(mod(d0, 2)), 0, 0), ("5", 0, 4)]
    assert parse_map(repr(m)) == m


def test_bounds_may_come_from_elsewhere() -> None:
    m = parse_map("(d0, d1) -> (d0 + d1 floordiv 16, d1 mod 16)", bounds={"d0": (0, 6), "d1": (0, 14)})
    assert [(v.lo, v.hi) for v in m.dims] == [(0, 6), (0, 14)]


def test_huge_integers() -> None:
    text = f"(d0) -> (d0 + {'9' * 9000}), domain: d0 in [-{'1' * 5001}, 3]"
    assert repr(parse_map(text)) == text


def test_deep_expressions() -> None:
    e = d0
    for _ in range(3_000):
        e = e // 2 + 1
    m = IndexingMap.of([("d0", 0, 9)], results=[e])
    assert parse_map(repr(m)) == m
    assert parse_expr("(" * 10_000 + "d0" + ")" * 10_000) is d0
    assert parse_expr("-" * 10_001 + "d0") is -d0
    assert parse_expr("min(d0 + 1, " * 10_000 + "d0" + ")" * 10_000) is not None


def test_long_sums_take_linear_time() -> None:
    e = linear(0, [(var(f"d{i}"), i + 1) for i in range(10_000)])
    assert parse_expr(format_expr(e)) is e


def test_brackets_in_sums_are_added_up_once() -> None:
    names = [f"d{i}" for i in range(5_000)]
    whole = linear(0, [(var(name), 1) for name in names])
    turned = linear(0, [(var(name), 1 - i % 2 * 2) for i, name in enumerate(names)])
    depth = len(names) - 1
    assert parse_expr("(" * depth + "d0" + "".join(f" + {name})" for name in names[1:])) is whole
    assert parse_expr("".join(f"{name} + (" for name in names[:-1]) + names[-1] + ")" * depth) is whole
    assert parse_expr("".join(f"{name} - (" for name in names[:-1]) + names[-1] + ")" * depth) is turned
    assert parse_expr("-(-(-(-(d0 - (d1 - 5)))))") is d0 - d1 + 5
    # parenthesised operands are sums in canonical form before an operator applies to them
    assert parse_expr("((d0 + (d1 - d1)) * (2 + 1) + (d1 - (d0 - 4))) floordiv (1 + 1)") is (d0 * 2 + d1 + 4) // 2
    with pytest.raises(InputError, match="not quasi-affine"):
        parse_expr("(d0 + 1) * (d1 + 0)", quasi_affine=True)
    with pytest.raises(InputError, match="division by zero"):
        parse_expr("d0 floordiv (2 - (1 + 1))")
    with pytest.raises(InputError, match="unexpected `\\)`"):
        parse_expr("max(d0, )")
    assert parse_expr("(d0 + 1) * (d1 - d1 + 3)", quasi_affine=True) is d0 * 3 + 3


def test_text_that_would_never_end_is_refused() -> None:
    e = d0
    for _ in range(80):
        e = e // 2 + e % 3
    m = IndexingMap.of([("d0", 0, 9)], results=[e])
    with pytest.raises(TooLargeError):
        format_map(m)
    assert "IndexingMap with 1 dims" in repr(m)


def test_conditions() -> None:
    names = {"a": d0, "b": d1}
    c = parse_condition("0 <= a < b and a in [0, b - 1], 3 divides a", names)
    assert c.evaluate({"d0": 3, "d1": 4})
    assert not c.evaluate({"d0": 2, "d1": 4})
    assert parse_condition("x ∈ [0, 3]") == parse_condition("x in [0, 3]")
    assert parse_condition("a != 1, b > 0").evaluate({"a": 2, "b": 1})
    with pytest.raises(InputError, match=r"line 1, column 3: the text ends too early; expected an operator"):
        parse_condition("a ", names)


def test_read_map_takes_every_form() -> None:
    text = "(d0) -> (d0), domain: d0 in [0, 1]"
    m = parse_map(text)
    assert read_map(text) == read_map(' {"dims": [["d0", 0, 1]], "results": ["d0"]}') == m
    assert read_map("affine_map<(d0) -> (d0)> affine_set<(d0) : (d0 >= 0, 1 - d0 >= 0)>") == m
    assert read_map(" affine_map<(d0) -> (d0)>", bounds={"d0": (0, 1)}) == m
    assert read_map("// of mlir-opt\n\n #map = affine_map<(d0) -> (d0)>", bounds={"d0": (0, 1)}) == m
    for wrong, column in (("affine_map<(d0) -> (d1)>", 21), ("affine_mop", 1), ("/ (d0) -> (d0)", 1), ("// only", 1)):
        with pytest.raises(InputError, match=f"line 7, column {column}: "):
            read_map("\n" * 6 + wrong)


def test_space_before_a_text_stands_it_in_its_place_in_a_file() -> None:
    before = "\n" * 11 + " " * 4
    with pytest.raises(InputError) as caught:
        parse_map(before + "(d0) ->\n (d1)")
    assert (caught.value.line, caught.value.column) == (13, 3)
    assert caught.value.render().endswith("\n   (d1)\n    ^")
    with pytest.raises(InputError) as caught:
        parse_map(before + "(d0) -> (d1)")
    assert (caught.value.line, caught.value.column) == (12, 14)
    assert caught.value.render().endswith("\n      (d0) -> (d1)\n               ^")


def test_numbers_of_more_digits_than_the_limit_are_refused_where_they_stand() -> None:
    long = "7" * (MOST_DIGITS + 1)
    assert parse_expr(f"d0 + {long[1:]}") == linear(parse_int(long[1:]), [(var("d0"), 1)])
    for text, column in (
        (f"(d0) -> (d0 + {long}), domain: d0 in [0, 1]", 15),
        (f'{{"dims": [["d0", 0, {long}]]}}', 21),
    ):
        with pytest.raises(InputError, match=f"column {column}: a number of 100001 digits; expected at most 100000"):
            read_map(text)
