"""Conversion to and from TVM.  Skipped where TVM is not installed."""

from __future__ import annotations

import itertools
from typing import Any

import pytest

from indexproof import IndexingMap, InputError, parse_map
from indexproof.core.expr import Expr, mul, var
from indexproof.core.interop import TvmMap, from_tvm, to_tvm
from indexproof.core.text import parse_expr

tvm = pytest.importorskip("tvm")
tir = tvm.tir if hasattr(tvm, "tir") else tvm.tirx
x, y = var("x"), var("y")
X, Y, L = tir.Var("x", "int32"), tir.Var("y", "int32"), tir.Var("l", "int64")

MAP = parse_map(
    "(d0, d1)[s0]{rt0} -> ((d0 * 4 + d1 - s0 * 3 - 7) floordiv 12, (d0 * 4 + d1) mod 4, min(d0, 3)),"
    " domain: d0 in [0, 99], d1 in [0, 3], s0 in [0, 1], rt0 in [0, 5]\n hlo: p\n (d0, d1) -> (d0 mod 3),"
    " d0 * 4 + d1 in [0, 50]"
)


def dtype(e: Any) -> str:
    return str(e.ty.dtype if hasattr(e, "ty") else e.dtype)


def test_both_ways_keep_the_map(maps: Any) -> None:
    same = 0
    for _ in range(150):
        m = maps.map()
        back = from_tvm(to_tvm(m))
        assert back.variables == m.variables
        for point in maps.points(m, 5):
            assert maps.target(back, point) == maps.target(m, point)
        plain = maps.map(("add", "sub", "mul", "div", "mod", "min", "max"))
        # TVM has no division that rounds up; all other operators come back unchanged
        assert from_tvm(to_tvm(plain)) == plain
        same += 1
    assert same == 150


def test_the_values_are_those_that_tvm_computes(maps: Any) -> None:
    points = 0
    for k in range(60):
        m = maps.map(scale=9 if k % 2 else 2**28)
        try:
            f = to_tvm(m)
        except InputError:
            continue
        for point in maps.points(m, 3, outside=False):
            analyzer = (tvm.arith if hasattr(tvm, "arith") else tvm.sym).Analyzer()
            for (v, _, _), n in zip(f.variables, point, strict=True):
                analyzer.bind(v, tir.IntImm(dtype(v), n))
            env = dict(zip((v.name for v in m.variables), point, strict=True))
            for mine, theirs in zip(m.results, f.results, strict=True):
                assert int(analyzer.simplify(theirs, 4).value) == mine.evaluate(env)
                points += 1
    assert points > 100


def test_a_map_keeps_its_variables_and_sources() -> None:
    f = to_tvm(MAP)
    assert [(str(v.name), dtype(v), lo, hi) for v, lo, hi in f.variables] == [
        ("d0", "int32", 0, 99),
        ("d1", "int32", 0, 3),
        ("s0", "int32", 0, 1),
        ("rt0", "int32", 0, 5),
    ]
    assert from_tvm(f) == MAP


def test_the_type_is_one_in_which_nothing_overflows() -> None:
    small = parse_map("(d0) -> (d0 * 65536 mod 7), domain: d0 in [0, 32767]")
    large = parse_map("(d0) -> (d0 * 65536 mod 7), domain: d0 in [0, 32768]")
    assert dtype(to_tvm(small).results[0]) == "int32"
    assert dtype(to_tvm(large).results[0]) == "int64"
    assert dtype(to_tvm(small, "int64").results[0]) == "int64"
    # rounding up adds to the dividend first
    upwards = parse_map("(d0) -> (d0 ceildiv 100), domain: d0 in [0, 2147483647]")
    assert dtype(to_tvm(upwards).results[0]) == "int64"
    with pytest.raises(InputError, match="64 bits are enough"):
        to_tvm(parse_map("(d0) -> (d0 * 3), domain: d0 in [0, 9223372036854775807]"))
    with pytest.raises(InputError, match="`4294967296` is no int32"):
        to_tvm(parse_map("(d0) -> (d0 mod 4294967296), domain: d0 in [0, 9]"), "int32")
    with pytest.raises(InputError, match="no type of indices"):
        to_tvm(small, "uint8")


def test_the_analyzer_knows_the_bounds() -> None:
    f = to_tvm(MAP)
    (d0, _, _), (d1, _, _) = f.dims
    analyzer = f.analyzer()
    assert analyzer.can_prove(d0 <= 99)
    assert not analyzer.can_prove(d0 <= 98)
    assert not analyzer.can_prove(d0 * 4 + d1 <= 50)
    assert from_tvm(analyzer.simplify(f.results[1])) is var("d1")


def test_wide_and_empty_ranges() -> None:
    wide = to_tvm(parse_map("(d0) -> (d0), domain: d0 in [-2147483648, 2147483647]"))
    bound = wide.analyzer().const_int_bound(wide.results[0])
    assert (bound.min_value, bound.max_value) == (-(2**31), 2**31 - 1)
    empty = to_tvm(parse_map("(d0) -> (d0), domain: d0 in [3, 2], d0 in [0, 99999999999]"))
    assert empty.analyzer() is not None


@pytest.mark.parametrize(("theirs", "ours"), [
    (tir.FloorDiv(X + 4, tir.IntImm("int32", 4)), (x + 4) // 4),
    (X * 3 - Y, x * 3 - y),
    (X % 5, x % 5),
    (tir.Min(X, tir.Max(Y, X + 1)), parse_expr("min(x, max(y, x + 1))")),
    (X * Y // (Y + 1), mul(x, y) // (y + 1)),
    (tir.Cast("int64", X) + L, x + var("l")),
    (tir.IntImm("int64", -5), parse_expr("-5")),
    (12, parse_expr("12")),
])  # fmt: skip
def test_expressions(theirs: Any, ours: Expr) -> None:
    assert from_tvm(theirs) is ours


def towards_zero(a: int, b: int) -> tuple[int, int]:
    """Return the truncating quotient and remainder: those of C and of TVM's ``truncdiv`` and ``truncmod``."""
    quotient = abs(a) // abs(b) * (1 if a * b >= 0 else -1)
    return quotient, a - b * quotient


@pytest.mark.parametrize(("numerator", "divisor", "bounds", "quotient"), [
    (X, 4, {X: (0, 9)}, "x floordiv 4"),
    (X, 4, {"x": tvm.ir.Range(0, 9)}, "x floordiv 4"),
    (X - 9, -4, {X: (0, 9)}, "(x - 9) floordiv -4"),
    (X * 8 - 8, 4, {}, "(x * 8 - 8) floordiv 4"),
    (X, 4, {X: (-9, 0)}, "-((-x) floordiv 4)"),
    (X, -4, {X: (0, 9)}, "-(x floordiv 4)"),
    (X, 4, {}, "max(x, 0) floordiv 4 - max(-x, 0) floordiv 4"),
    (X, -4, {}, "max(-x, 0) floordiv 4 - max(x, 0) floordiv 4"),
    (X, 4, {X: (-1, 9)}, "max(x, 0) floordiv 4 - max(-x, 0) floordiv 4"),
    (X * 8 - 6, 4, {}, "max(x * 8 - 6, 0) floordiv 4 - max(-x * 8 + 6, 0) floordiv 4"),
    (X, 1, {}, "x floordiv 1"),
])  # fmt: skip
def test_division_that_rounds_towards_zero(numerator: Any, divisor: int, bounds: dict[Any, Any], quotient: str) -> None:
    d = tir.IntImm("int32", divisor)
    divided, left = from_tvm(tir.Div(numerator, d), bounds), from_tvm(tir.Mod(numerator, d), bounds)
    assert divided is parse_expr(quotient)
    (within,) = bounds.values() or [(-30, 30)]
    lo, hi = within if isinstance(within, tuple) else (0, 8)
    for n in range(lo, hi + 1):
        a = from_tvm(numerator).evaluate({"x": n})
        assert (divided.evaluate({"x": n}), left.evaluate({"x": n})) == towards_zero(a, divisor)


def test_division_by_what_has_a_sign() -> None:
    for sign in (1, -1):
        bounds = {Y: (1, 5) if sign > 0 else (-5, -1)}
        divided, left = from_tvm(tir.Div(X, Y), bounds), from_tvm(tir.Mod(X, Y), bounds)
        for a, b in itertools.product(range(-12, 13), range(1, 6)):
            at = {"x": a, "y": sign * b}
            assert (divided.evaluate(at), left.evaluate(at)) == towards_zero(a, sign * b)
    for theirs, name in ((tir.Div(X, Y), "truncdiv"), (tir.Mod(X, Y), "truncmod")):
        with pytest.raises(InputError, match=f"{name} of .* the divisor may have both signs"):
            from_tvm(theirs, {Y: (0, 5)})


def test_division_in_a_map_uses_its_bounds() -> None:
    i = tir.Var("i", "int32")
    m = from_tvm(TvmMap(((i, 0, 9),), results=(tir.truncdiv(i, 4), tir.truncmod(i, 4))))
    assert m == parse_map("(i) -> (i floordiv 4, i mod 4), domain: i in [0, 9]")
    m = from_tvm(TvmMap(((i, -9, 9),), results=(tir.truncdiv(i, 4), tir.truncmod(i, 4))))
    assert [m.evaluate([n]) for n in range(-9, 10)] == [towards_zero(n, 4) for n in range(-9, 10)]


@pytest.mark.parametrize(("theirs", "said"), [
    (tir.Cast("int8", X), "the cast of `x` to int8 may change its value"),
    (tir.Cast("float32", X), "has the type float32"),
    (tir.Var("u", "uint32") + 1, "has the type uint32"),
    (tir.IntImm("bool", 1), "has the type bool"),
    (tir.Select(X < 4, X, Y), "`Select` has no meaning here"),
    (X < 4, "`LT` has no meaning here"),
    (tir.Var("x", "int32") + X, "two different variables are called `x`"),
    ("x", "no TVM expression"),
])  # fmt: skip
def test_what_has_no_meaning_is_refused(theirs: Any, said: str) -> None:
    with pytest.raises(InputError, match=said):
        from_tvm(theirs)


def test_a_cast_that_keeps_the_value() -> None:
    assert from_tvm(tir.Cast("int8", X), {X: (0, 99)}) is x
    with pytest.raises(InputError, match="may change its value"):
        from_tvm(tir.Cast("int8", X), {X: (0, 128)})


def test_index_maps() -> None:
    i, j = tir.Var("i", "int32"), tir.Var("j", "int32")
    f = tir.IndexMap([i, j], [i * 4 + j // 2, j % 2], None)
    assert from_tvm(f, {"i": (0, 3), j: tvm.ir.Range(0, 8)}) == parse_map(
        "(i, j) -> (i * 4 + j floordiv 2, j mod 2), domain: i in [0, 3], j in [0, 7]"
    )
    for wrong in (5, (0,), (0, 1, 2), (0.5, 3), "0"):
        with pytest.raises(InputError, match="is no range; expected a Range or"):
            from_tvm(f, {"i": (0, 3), "j": wrong})
    with pytest.raises(InputError, match="the variable `j` has no bounds"):
        from_tvm(f, {"i": (0, 3)})


def test_variables_of_one_name_are_two_variables() -> None:
    a, b = tir.Var("i", "int32"), tir.Var("i", "int32")
    m = from_tvm(TvmMap(((a, 0, 9), (b, 0, 4)), results=(a - b,)))
    assert m == parse_map("(i, d0) -> (i - d0), domain: i in [0, 9], d0 in [0, 4]")
    with pytest.raises(InputError, match="unknown variable `x`"):
        from_tvm(TvmMap(((a, 0, 9),), results=(a + X,)))


def test_depth() -> None:
    e: Expr = x
    for _ in range(3_000):
        e = (e + 1) // 2
    m = IndexingMap.of([("x", 0, 10**6)], results=[e])
    assert from_tvm(to_tvm(m)) == m
