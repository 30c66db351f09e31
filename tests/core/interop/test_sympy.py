"""Conversion to and from sympy."""

from __future__ import annotations

from typing import Any

import pytest

from indexproof import IndexingMap, InputError, parse_map
from indexproof.core.expr import CeilDiv, Expr, FloorDiv, ceildiv, maximum, minimum, mod, postorder, var
from indexproof.core.interop import SympyMap, from_sympy, to_sympy
from indexproof.core.interop.sympy_form import sympy_source
from indexproof.core.text import parse_expr

sympy = pytest.importorskip("sympy")
X, Y = sympy.symbols("x y", integer=True)
x, y = var("x"), var("y")

MAP = parse_map(
    "(d0, d1)[s0]{rt0} -> ((d0 * 4 + d1 - s0 * 3 - 7) floordiv 12, (d0 * 4 + d1) mod 4, min(d0, 3)),"
    " domain: d0 in [0, 99], d1 in [0, 3], s0 in [0, 1], rt0 in [0, 5]\n hlo: p\n (d0, d1) -> (d0 mod 3),"
    " d0 * 4 + d1 in [0, 50]"
)


def value(e: Any, env: dict[str, int]) -> int:
    """Evaluate an expression at a point with sympy."""
    found = e.subs({s: env[s.name] for s in e.free_symbols}) if e.free_symbols else e
    assert found.is_Integer, found
    return int(found)


@pytest.mark.parametrize("evaluate", [True, False])
@pytest.mark.parametrize("text", [
    "x mod 4 * 2 mod 7",
    "(x mod 4 * 3 + y) mod 5",
    "(x mod 6 * -2 + y mod 3 * 4) mod 9",
    "(0 - x mod 4) mod 7",
    # sympy takes an even minimum or maximum for a multiple of six
    "min(x * 6, y * 2) floordiv 6",
    "(min(x * 6, y * 2 + 4) + 3) floordiv 6 + max(x * 4, -2) floordiv 6",
    "max(x * 4 + y * 6 - 2, -2) mod 6",
    "min(max(x * 4 + y * 6 - 2, -2), 8) mod 6 * 2 mod 5",
    "max(y * 6, x * 2) ceildiv 6",
    "(y + max(x * -2, y * 6) floordiv -6) floordiv 2",
])  # fmt: skip
def test_what_sympy_itself_evaluates_wrongly(text: str, evaluate: bool) -> None:
    e = parse_expr(text)
    m = IndexingMap.of(dims=[("x", -3, 20), ("y", 0, 9)], results=[e])
    f = to_sympy(m, evaluate=evaluate)
    again = from_sympy(f)
    space: dict[str, Any] = {}
    exec(sympy_source(f), space)
    for a in range(-3, 21):
        for b in (0, 1, 5):
            env = {"x": a, "y": b}
            want = e.evaluate(env)
            assert again.results[0].evaluate(env) == want
            printed = space["results"][0]
            # substitution without intermediate evaluation
            assert int(printed.xreplace({X: sympy.Integer(a), Y: sympy.Integer(b)})) == want


@pytest.mark.parametrize("evaluate", [True, False])
def test_both_ways_keep_the_meaning(maps: Any, evaluate: bool) -> None:
    """Converted expressions have the same values at points, evaluated by sympy and after reading back."""
    points = unchanged = 0
    for _ in range(60):
        m = maps.map(depth=3)
        f = to_sympy(m, evaluate=evaluate)
        back = from_sympy(f)
        assert back.variables == m.variables
        if not evaluate and not any(isinstance(n, FloorDiv | CeilDiv) and n.b.value < 2 for n in postorder(*m.roots)):
            unchanged += 1
            assert back == m
        for point in maps.points(m, 4, outside=False):
            env = dict(zip((v.name for v in m.variables), point, strict=True))
            for mine, theirs, again in zip(m.results, f.results, back.results, strict=True):
                assert value(theirs, env) == mine.evaluate(env) == again.evaluate(env)
            for c, (e, lo, hi) in zip(m.constraints, f.constraints, strict=True):
                assert (lo, hi) == (c.lo, c.hi)
                assert value(e, env) == c.expr.evaluate(env)
            points += 1
    assert points > 100
    assert evaluate or unchanged > 20


def test_a_map_keeps_its_variables_and_sources() -> None:
    f = to_sympy(MAP, evaluate=False)
    assert [(v.name, v.is_integer, lo, hi) for v, lo, hi in f.variables] == [
        ("d0", True, 0, 99),
        ("d1", True, 0, 3),
        ("s0", True, 0, 1),
        ("rt0", True, 0, 5),
    ]
    assert f.sources[0][0] == "p"
    assert from_sympy(f) == MAP


@pytest.mark.parametrize(("theirs", "ours"), [
    (sympy.floor(X / 4 + sympy.Rational(1, 2)), (x + 2) // 4),
    (sympy.floor((4 * X + 1) / 4), x),
    (sympy.floor(-X / 3), (-x) // 3),
    (sympy.ceiling(X / 3), ceildiv(x, 3)),
    (sympy.floor(X / Y), x // y),
    (sympy.Mod(X, -3), x % -3),
    (sympy.Mod(X / 2, 3, evaluate=False) * 2, x % 6),
    (sympy.Min(X, Y, 3), minimum(x, y, 3)),
    (sympy.Max(X / 2, Y / 3) * 6, maximum(3 * x, 2 * y)),
    (sympy.Abs(X), maximum(x, -x)),
    (X**2 - X * Y, x * x - x * y),
    (sympy.Integer(7), parse_expr("7")),
    (7, parse_expr("7")),
    ((2 * X + 4) / 2, x + 2),
])  # fmt: skip
def test_what_sympy_writes_is_read(theirs: Any, ours: Expr) -> None:
    assert from_sympy(theirs) is ours


def function(name: str, *args: Any) -> Any:
    """Return a function that only its name identifies, like PyTorch's."""
    return sympy.Function(name)(*args)


@pytest.mark.parametrize(("theirs", "ours"), [
    (function("FloorDiv", X + Y, 3), (x + y) // 3),
    (function("CleanDiv", 6 * X, 3), (6 * x) // 3),
    (function("CeilDiv", X, 3), ceildiv(x, 3)),
    (function("ModularIndexing", X, 4, 8), mod(x // 4, 8)),
    (function("PythonMod", X, -4), x % -4),
    (function("LShift", X, 3), x * 8),
    (function("RShift", X, 3), x // 8),
    (function("Identity", X), x),
    (function("FloorToInt", function("IntTrueDiv", X, 5)), x // 5),
    (function("CeilToInt", function("IntTrueDiv", X, 5)), ceildiv(x, 5)),
    (function("PowByNatural", X, 2), x * x),
])  # fmt: skip
def test_functions_of_pytorch_are_known_by_name(theirs: Any, ours: Expr) -> None:
    assert from_sympy(theirs) is ours


def test_the_functions_of_pytorch_itself(maps: Any) -> None:
    functions = pytest.importorskip("torch.utils._sympy.functions")
    a, b = sympy.symbols("a b", integer=True, nonnegative=True)
    for e in (
        functions.FloorDiv(a + 5, 3) + functions.ModularIndexing(a * 2 + b, 4, 8),
        functions.CleanDiv(a * 12, 4) - functions.PythonMod(a - b, 7),
        functions.Mod(a + b, 6) * functions.CeilDiv(a + 1, 2),
        functions.Max(a, b) - functions.Min(a, b, 3),
    ):
        mine = from_sympy(e)
        for point in ((0, 0), (1, 5), (17, 3), (100, 99)):
            env = dict(zip("ab", point, strict=True))
            assert mine.evaluate(env) == int(e.subs({a: point[0], b: point[1]}))


@pytest.mark.parametrize(("theirs", "said"), [
    (X / 2, "`x/2` is no integer"),
    (1 / X, "is no integer"),
    (sympy.sqrt(X), "no polynomial"),
    (X**Y, "no polynomial"),
    (X**1000, "no polynomial"),
    (sympy.Symbol("z") + 1, "the symbol `z` is no integer"),
    (sympy.Symbol("a b", integer=True), "no name for a variable"),
    (sympy.Symbol("x", integer=True, positive=True) + X, "two different symbols are called `x`"),
    (sympy.sin(X), "`sin` has no meaning here"),
    (X < Y, "`StrictLessThan` has no meaning here"),
    (sympy.Float(1.5), "`Float` has no meaning here"),
    (sympy.oo, "has no meaning here"),
    (sympy.Mod(X, 0, evaluate=False), "division by the constant zero"),
    (function("FloorDiv", X, 0), "division by the constant zero"),
    (function("LShift", X, Y), "a shift by `y`"),
    (function("FloorDiv", X), "has no meaning"),
    ("x", "no sympy expression"),
    (True, "no sympy expression"),
])  # fmt: skip
def test_what_has_no_meaning_is_refused(theirs: Any, said: str) -> None:
    with pytest.raises(InputError, match=said):
        from_sympy(theirs)


def test_given_symbols_and_variables() -> None:
    n = sympy.Symbol("n")
    assert from_sympy(n + 1, {"n": "d0"}) is var("d0") + 1
    assert from_sympy(n + X, {n: x // 2}) is x // 2 + x
    assert to_sympy(x + y, {"x": n}) == n + Y
    assert to_sympy(x + y, {y: n}) == n + X


def test_maps_written_by_hand() -> None:
    i, j = sympy.symbols("i in", integer=True)
    m = from_sympy(SympyMap(((i, 0, 9), (j, 0, 4)), results=(5 * i + j,), constraints=((i - j, 0, 9),)))
    # `in` is a word of the notation, and cannot be a name
    assert m == parse_map("(i, d0) -> (i * 5 + d0), domain: i in [0, 9], d0 in [0, 4], i - d0 in [0, 9]")
    with pytest.raises(InputError, match="unknown variable `x`"):
        from_sympy(SympyMap(((i, 0, 9),), results=(i + X,)))
    with pytest.raises(InputError, match="quasi-affine"):
        from_sympy(SympyMap(((i, 0, 9),), results=(i * i,)))
    # two symbols of one name are two variables
    k = sympy.Symbol("i", integer=True, positive=True)
    twins = from_sympy(SympyMap(((i, 0, 9), (k, 1, 4)), results=(i - k,)))
    assert twins == parse_map("(i, d0) -> (i - d0), domain: i in [0, 9], d0 in [1, 4]")


def test_depth() -> None:
    e: Expr = x
    for _ in range(3_000):
        e = (e + 1) // 2
    assert from_sympy(to_sympy(e, evaluate=False)) is e
    with pytest.raises(InputError, match="no integer"):
        from_sympy(to_sympy(e, evaluate=False) / 2)


@pytest.mark.parametrize("evaluate", [True, False])
@pytest.mark.parametrize("text", [
    "x floordiv 3 + x mod 5",
    "(x * 3 + x floordiv 2) mod 7000",
    "min(x floordiv 2 + 9, x mod 90) + 1",
    "max(x, -x) ceildiv 2 + max(3, x)",
])  # fmt: skip
def test_what_is_shared_stays_shared(text: str, evaluate: bool) -> None:
    step = parse_expr(text)
    e = step
    for _ in range(63):  # written out, it has more than 2**64 nodes
        e = step.substitute({x: e})
    f = to_sympy(IndexingMap.of([("x", -9, 99)], results=[e]), evaluate=evaluate)
    seen: set[int] = set()
    todo = [f.results[0]]
    while todo:
        node = todo.pop()
        if id(node) not in seen:
            seen.add(id(node))
            todo += node.args
    assert len(seen) < 8 * len(postorder(e))
    back = from_sympy(f).results[0]
    assert all(back.evaluate({"x": n}) == e.evaluate({"x": n}) for n in range(-9, 100))


def test_a_long_sum_is_divided_in_no_time() -> None:
    total = parse_expr(" + ".join(f"v{k} * {k + 2}" for k in range(400)))
    assert from_sympy(to_sympy(total % 7)) is total % 7
