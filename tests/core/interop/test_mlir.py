"""MLIR's affine maps and integer sets as text, both ways.  tests/oracle/test_mlir.py asks MLIR itself;
tests/test_bad_input_maps.py reads mutated text.
"""

from __future__ import annotations

from typing import Any

import pytest

from indexproof import IndexingMap, InputError, parse_map
from indexproof.core.expr import Expr, var
from indexproof.core.interop import from_mlir, to_mlir, to_mlir_set

#: The operators of affine expressions.
AFFINE = ("add", "sub", "mul", "div", "mod", "ceil")


def test_both_ways_keep_the_meaning(maps: Any) -> None:
    points = inside = 0
    for _ in range(300):
        m = maps.map(AFFINE)
        back = from_mlir(to_mlir(m), to_mlir_set(m), runtime=len(m.rts))
        assert [len(g) for g in (back.dims, back.ranges, back.rts)] == [len(g) for g in (m.dims, m.ranges, m.rts)]
        for point in maps.points(m, 10):
            target = maps.target(m, point)
            assert maps.target(back, point) == target
            points += 1
            inside += target is not None
    assert points > inside > 500


def test_what_was_read_is_written_as_it_was(maps: Any) -> None:
    """Printing and reading is a fixpoint from the second text on."""
    for _ in range(200):
        m = maps.map(AFFINE)
        once = from_mlir(to_mlir(m), to_mlir_set(m), runtime=len(m.rts))
        again = from_mlir(to_mlir(once), to_mlir_set(once), runtime=len(m.rts))
        assert to_mlir(again) == to_mlir(once)
        assert again == once


@pytest.mark.parametrize(("source", "affine_map", "affine_set"), [
    ("(a, b)[c]{r} -> ((a * 4 + b - c * 3) floordiv 12, -a + 7, r), domain: a in [0, 9], b in [2, 2],"
        " c in [-1, 3], r in [0, 5], a * 2 - c in [3, 8], b mod 3 in [1, 1]",
        "affine_map<(d0, d1)[s0, s1] -> ((d0 * 4 - s0 * 3 + d1) floordiv 12, -d0 + 7, s1)>",
        "affine_set<(d0, d1)[s0, s1] : (d0 >= 0, -d0 + 9 >= 0, d1 - 2 == 0, s0 + 1 >= 0, -s0 + 3 >= 0,"
        " s1 >= 0, -s1 + 5 >= 0, d0 * 2 - s0 - 3 >= 0, d0 * -2 + s0 + 8 >= 0, d1 mod 3 - 1 == 0)>"),
    ("() -> ()", "affine_map<() -> ()>", "affine_set<() : (0 == 0)>"),
    # no symbol is printed to the left of a dimension
    ("(d0)[s0, s1] -> (s0 * 4 + s1 mod 2 + d0, d0 * 2 + s0), domain: d0 in [0, 1], s0 in [0, 1], s1 in [0, 1]",
        "affine_map<(d0)[s0, s1] -> (d0 + s0 * 4 + s1 mod 2, d0 * 2 + s0)>",
        "affine_set<(d0)[s0, s1] : (d0 >= 0, -d0 + 1 >= 0, s0 >= 0, -s0 + 1 >= 0, s1 >= 0, -s1 + 1 >= 0)>"),
    # negative divisors become positive ones
    ("(d0) -> (d0 mod -3, d0 floordiv -3, d0 ceildiv -3), domain: d0 in [0, 1]",
        "affine_map<(d0) -> (-((-d0) mod 3), (-d0) floordiv 3, (-d0) ceildiv 3)>",
        "affine_set<(d0) : (d0 >= 0, -d0 + 1 >= 0)>"),
])  # fmt: skip
def test_what_is_written(source: str, affine_map: str, affine_set: str) -> None:
    m = parse_map(source)
    assert to_mlir(m) == affine_map
    assert to_mlir_set(m) == affine_set
    assert len(from_mlir(affine_map, affine_set, runtime=len(m.rts)).variables) == len(m.variables)


@pytest.mark.parametrize(("text", "names", "read"), [
    ("affine_map<(d0, d1) -> (d1 - d0, d0 * 2)>", "d0 d1", "(d0, d1) -> (d1 - d0, d0 * 2)"),
    ("affine_map<(i)[N] -> (2 * i + N * -3 - -4)>", "i N", "(i)[N] -> (i * 2 - N * 3 + 4)"),
    ("#m = affine_map<(d0)[] -> (-(d0 + 1) floordiv 3)>", "d0", "(d0) -> ((-d0 - 1) floordiv 3)"),
    ("affine_map< ( d0 ) // a comment\n -> ( 0x1F * d0 mod 7 ) >", "d0", "(d0) -> ((d0 * 31) mod 7)"),
    ("affine_map<(d0) -> (- - d0, 5 ceildiv 2, 7 mod 4)>", "d0", "(d0) -> (d0, 3, 3)"),
    ("affine_map<(d0) -> (d0 * 2 floordiv 3 ceildiv 4 mod 5)>", "d0", "(d0) -> ((d0 * 2) // 3 ceildiv 4 mod 5)"),
    ("affine_map<(d0) -> ((((d0))))>", "d0", "(d0) -> (d0)"),
    # names that are not valid in maps
    ("affine_map<(a.b, in)[x$] -> (a.b + in + x$)>", "a.b in x$", "(d0, d1)[s0] -> (d0 + d1 + s0)"),
    ("affine_map<(d1, in) -> (in - d1)>", "d1 in", "(d1, d0) -> (d0 - d1)"),
])  # fmt: skip
def test_what_is_read(text: str, names: str, read: str) -> None:
    m = from_mlir(text, bounds=dict.fromkeys(names.split(), (0, 9)))
    assert m == parse_map(read, bounds={v.name: (0, 9) for v in m.variables})


@pytest.mark.parametrize(
    ("text", "domain"),
    [
        ("affine_set<(d0) : (d0 >= 0, d0 <= 9)>", "d0 in [0, 9]"),
        ("affine_set<(d0) : (9 >= d0, 2 * d0 >= 3)>", "d0 in [2, 9]"),
        ("affine_set<(d0) : (d0 * -3 + 10 >= 0, d0 * 3 + 10 >= 0)>", "d0 in [-3, 3]"),
        ("affine_set<(d0) : (d0 * 2 == 6)>", "d0 in [3, 3]"),
        ("affine_set<(d0) : (d0 * -2 == 7)>", "d0 in [-3, -4]"),
        ("affine_set<(d0, d1) : (d0 >= 0, d0 <= 9, d1 == 4, d0 >= d1)>", "d0 in [0, 9], d1 in [4, 4], d0 - d1 in [0, 5]"),
        (
            "affine_set<(d0) : (d0 >= 0, d0 <= 9, d0 mod 4 <= 2, d0 mod 4 >= 1, d0 floordiv 2 == 1)>",
            "d0 in [0, 9], d0 mod 4 in [1, 2], d0 floordiv 2 in [1, 1]",
        ),
        ("affine_set<(d0) : (d0 >= 0, d0 <= 9, 0 == 0, 3 >= 2)>", "d0 in [0, 9]"),
        ("affine_set<(d0) : (d0 >= 0, d0 <= 9, 1 == 0)>", "d0 in [0, 9], 0 in [1, 1]"),
        ("affine_set<(d0, d1) : (d0 >= 0, d0 <= 9, d1 >= 0, d1 <= 9, -d0 - d1 + 5 >= 0)>",
         "d0 in [0, 9], d1 in [0, 9], d0 + d1 in [0, 5]"),
    ],
)  # fmt: skip
def test_domains(text: str, domain: str) -> None:
    m = from_mlir(text)
    dims = ", ".join(v.name for v in m.dims)
    assert m == parse_map(f"({dims}) -> (), domain: {domain}")


@pytest.mark.parametrize(("text", "column", "said"), [
    ("affine_map<(d0) -> (d0 / 2)>", 24, "stray character `/`; expected an operator, `,` or `)`"),
    ("affine_map<(d0) -> (d0 floordiv 0)>", 33, "division by zero; expected a divisor other than 0"),
    ("affine_map<(d0) -> (d0 mod -3)>", 28, "`mod` by a negative number has no value in MLIR"),
    ("affine_map<(d0) -> (d0,)>", 24, "unexpected `)`; expected an expression"),
    ("affine_map<(d0,) -> (d0)>", 16, "unexpected `)`; expected a variable name"),
    ("affine_map<(d0)[s0 -> (d0)>", 20, "unexpected `->`; expected `,` or `]`"),
    ("affine_map<(d0) (d0)>", 17, "unexpected `(`; expected `[` or `->`"),
    ("affine_map<(d0)[s0] : (d0)>", 21, "unexpected `:`; expected `->`"),
    ("affine_map<(d0, d0) -> (d0)>", 17, "duplicate variable `d0`"),
    ("affine_map<(d0)[d0] -> (d0)>", 17, "duplicate variable `d0`"),
    ("affine_map<(d0) -> (d0 * d0)>", 24, "a product of two variables is not quasi-affine"),
    ("affine_map<(d0)[s0] -> (d0 mod s0)>", 32, "the divisor is not a constant"),
    ("affine_map<(d0) -> (d1)>", 21, "unknown variable `d1`; expected `d0`"),
    ("affine_map<(d0) -> (d0)", 24, "the text ends too early; expected `>`"),
    ("affine_map<(d0) -> (d0)> x", 26, "unexpected `x`; expected `affine_set<` or the end of the text"),
    ("affine_map<(d0) -> (9223372036854775808)>", 21, "the constant is too large for an index"),
    ("affine_map<(d0) -> (2 d0)>", 23, "unexpected `d0`; expected an operator, `,` or `)`"),
    ("affine_map<(d0) -> (2d0)>", 22, "unexpected `d0`; expected an operator, `,` or `)`"),
    ("affine_map<(d0) -> (min(d0, 3))>", 21, "unknown variable `min`"),
    ("affine_map<(d0) -> ((d0 + 1)>", 29, "unexpected `>`; expected an operator, `,` or `)`"),
    ("affine_map<(d0) -> ((d0 + 1>", 28, "unexpected `>`; expected an operator or `)`"),
    ("affine_map<(floordiv) -> ()>", 13, "`floordiv` is an operator"),
    ("affine_map<(#a) -> ()>", 13, "unexpected `#a`; expected a variable name or `)`"),
    ("affine_set<(d0) : (d0 > 0)>", 23, "unexpected `>`; expected an operator, `>=`, `<=` or `==`"),
    ("affine_set<(d0) : (d0 >= 0,)>", 28, "unexpected `)`; expected a constraint"),
    ("affine_set<(d0) -> (d0 >= 0)>", 17, "unexpected `->`; expected `[` or `:`"),
    ("affine_relation<(d0) -> (d0)>", 1, "expected `affine_map<` or `affine_set<`"),
    ("", 1, "there is no text"),
    ("affine_map<(d0) -> (d0)>", 13, "the variable `d0` has no bounds; expected a domain that bounds it"),
    ("affine_set<(d0, d1) : (d0 >= 0)>", 13, "the variable `d0` has no upper bound"),
])  # fmt: skip
def test_malformed_text(text: str, column: int, said: str) -> None:
    with pytest.raises(InputError) as caught:
        from_mlir(text)
    assert str(caught.value).startswith(f"line 1, column {column}: ")
    assert said in str(caught.value)
    assert caught.value.render().splitlines()[-1] == "  " + " " * (column - 1) + "^"


def test_a_place_in_a_later_line() -> None:
    with pytest.raises(InputError, match=r"^line 7, column 3: unexpected `\+`"):
        from_mlir("\n" * 5 + " " * 39 + "affine_map<(d0) ->\n  + d0)>")


@pytest.mark.parametrize(
    ("domain", "said"),
    [
        ("affine_set<(a, b) : (a >= 0)>", "line 1, column 12: the domain has 2 dimensions; expected 1 as in the map"),
        ("affine_set<(a)[s] : (a >= 0)>", "line 1, column 12: the domain has 1 symbols; expected 0 as in the map"),
        ("affine_set<(a) : (a => 0)>", "line 1, column 21: unexpected `=`"),
        ("affine_map<(a) -> (a)>", "line 1, column 1: unexpected `affine_map`; expected `affine_set<`"),
    ],
)  # fmt: skip
def test_a_domain_that_does_not_fit(domain: str, said: str) -> None:
    with pytest.raises(InputError) as caught:
        from_mlir("affine_map<(d0) -> (d0)>", domain)
    assert said in str(caught.value)
    assert caught.value.__notes__ == ["in the domain"]


def test_wrong_requests() -> None:
    text = "affine_map<(d0)[s0] -> (d0)>"
    with pytest.raises(
        InputError, match="bounds for `d7`, which is not a variable of this map; expected one of d0, s0"
    ):
        from_mlir(text, bounds={"d7": (0, 1)})
    with pytest.raises(InputError, match="2 of 1 symbols cannot be runtime variables"):
        from_mlir(text, bounds={"d0": (0, 1), "s0": (0, 1)}, runtime=2)


@pytest.mark.parametrize(("source", "said"), [
    ("(d0) -> (min(d0, 3)), domain: d0 in [0, 9]", "no `min`"),
    ("(d0) -> (max(d0, 3) + 1), domain: d0 in [0, 9]", "no `max`"),
    ("(d0) -> (d0 * 9223372036854775808), domain: d0 in [0, 9]", "constants of 64 bits"),
    ("(d0) -> (d0 mod 9223372036854775808), domain: d0 in [0, 9]", "constants of 64 bits"),
])  # fmt: skip
def test_what_mlir_does_not_have(source: str, said: str) -> None:
    with pytest.raises(InputError, match=said):
        to_mlir(parse_map(source))


def test_a_bound_that_mlir_does_not_have() -> None:
    with pytest.raises(InputError, match="constants of 64 bits"):
        to_mlir_set(parse_map("(d0) -> (), domain: d0 in [0, 9223372036854775808]"))


def test_depth() -> None:
    e: Expr = var("x")
    for _ in range(3_000):
        e = (e + 1) // 2
    m = IndexingMap.of([("x", 0, 10**6)], results=[e])
    back = from_mlir(to_mlir(m), to_mlir_set(m))
    assert back.results[0] is e.substitute({"x": var("d0"), var("x"): var("d0")})
