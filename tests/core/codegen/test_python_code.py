"""Generated Python and numpy code against evaluation."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import numpy as np
import pytest

from indexproof import InputError, parse_map
from indexproof.core.codegen import compile_map, python_source
from indexproof.core.expr import Expr, linear, var
from indexproof.core.indexing_map import IndexingMap
from indexproof.core.text import parse_expr


def test_compiled_maps_are_the_maps(maps: Any) -> None:
    inside = outside = 0
    for k in range(300):
        m = maps.map(scale=9 if k % 2 else 2**70)
        plain, checked = compile_map(m), compile_map(m, checked=True)
        for point in maps.points(m, 20):
            target = maps.target(m, point)
            assert checked(*point) == target
            if target is not None:
                assert plain(*point) == target
                inside += 1
            else:
                outside += 1
    assert inside > 1000
    assert outside > 300


def evaluate(m: IndexingMap, *arrays: Any) -> Any:
    rank, last = len(m.dims), len(m.dims) + len(m.ranges)
    return m.evaluate_many(arrays[:rank], arrays[rank:last], arrays[last:])


def test_maps_at_arrays_are_the_maps(maps: Any) -> None:
    types = set()
    for k in range(300):
        m = maps.map(scale=(9, 2**20, 2**31, 2**62, 2**80)[k % 5], size=(6, 2**16, 2**33)[k % 3])
        points = [*maps.points(m, 25)]
        columns = [np.array(c, dtype=object) for c in zip(*points, strict=True)]
        inside, results = evaluate(m, *columns)
        if not columns:
            assert maps.target(m, ()) == (tuple(map(int, results)) if inside else None)
            continue
        types.update(r.dtype.name for r in results)
        for i, point in enumerate(points):
            target = maps.target(m, point)
            assert bool(inside[i]) == (target is not None)
            if target is not None:
                assert tuple(int(r[i]) for r in results) == target
    assert types == {"int64", "object"}


def test_the_source_shares_subexpressions() -> None:
    m = parse_map(
        "(d0, d1)[s0] -> ((d0 * 4 + d1) floordiv 12, (d0 * 4 + d1) mod 12 + s0, min(d0, d1)),"
        " domain: d0 in [0, 9], d1 in [0, 3], s0 in [0, 1], d0 + s0 in [0, 5]"
    )
    assert python_source(m) == (
        "def indexing_map(d0, d1, s0):\n"
        "    t0 = d0 * 4 + d1\n"
        "    return (t0 // 12, t0 % 12 + s0, d0 if d0 < d1 else d1)\n"
    )
    assert python_source(m, checked=True, name="f") == (
        "def f(d0, d1, s0):\n"
        "    if not 0 <= d0 <= 9:\n"
        "        return None\n"
        "    if not 0 <= d1 <= 3:\n"
        "        return None\n"
        "    if not 0 <= s0 <= 1:\n"
        "        return None\n"
        "    if not 0 <= d0 + s0 <= 5:\n"
        "        return None\n"
        "    t0 = d0 * 4 + d1\n"
        "    return (t0 // 12, t0 % 12 + s0, d0 if d0 < d1 else d1)\n"
    )
    assert compile_map(m).__doc__ == python_source(m)


@pytest.mark.parametrize(("source", "code"), [
    ("a - (b - c)", "a + c - b"),
    ("-(a // 2)", "-(a // 2)"),
    ("(-a) // 2", "-a // 2"),
    ("ceildiv(a - b, 3)", "-(-(a - b) // 3)"),
    ("a * -3 mod -2", "a * -3 % -2"),
    ("max(a, b) + 1", "(a if a > b else b) + 1"),
])  # fmt: skip
def test_parentheses(source: str, code: str) -> None:
    e = parse_expr(source)
    text = python_source(IndexingMap.of([(v.name, -9, 9) for v in e.variables()], results=[e]))
    assert text.splitlines()[-1] == f"    return ({code},)"
    scope: dict[str, Any] = {}
    exec(text, scope)
    for point in [(7, 5, 2), (-7, 5, 3), (-1, -8, 3), (0, 3, 1)]:
        env = dict(zip("abc", point, strict=True))
        assert scope["indexing_map"](*(env[v.name] for v in e.variables())) == (e.evaluate(env),)


def test_names_that_python_claims() -> None:
    m = IndexingMap.of(
        [("lambda", 0, 9), ("np", 0, 9), ("t0", 0, 9), ("match", 0, 9), ("indexing_map", 0, 9)],
        results=[(var("lambda") + var("np")) // 2 + (var("lambda") + var("np")) % 2, var("t0")],
    )
    assert compile_map(m)(3, 4, 5, 0, 0) == (4, 5)
    with pytest.raises(InputError, match="no name for a function"):
        python_source(m, name="lambda")


def test_integers_of_other_kinds_are_taken_for_what_they_are() -> None:
    """numpy's integers are converted before they wrap around; texts, floats, None and arrays raise TypeError."""
    m = IndexingMap.of(
        [("index", 0, 2**40), ("index_", 0, 2**40)], results=[var("index") * 4 + var("index_"), var("index")]
    )
    for checked in (False, True):
        f = compile_map(m, checked=checked)
        assert f(np.int8(100), np.uint8(200)) == (600, 100)
        assert f(np.int32(2**30), index_=np.int64(2**40)) == (2**32 + 2**40, 2**30)
        assert [type(x) for x in f(np.int8(1), np.int8(1)) or ()] == [int, int]
        for wrong in ("1", 1.0, None, np.float32(1), np.arange(3)):
            with pytest.raises(TypeError):
                f(wrong, 0)


def test_depth_and_length() -> None:
    deep: Expr = var("x")
    for k in range(3_000):
        deep = (deep + k) // 2
    wide = linear(0, [(var("x"), 1), *((var("x") % (k + 2), 1) for k in range(3000))])
    m = IndexingMap.of([("x", 0, 10**6)], results=[deep, wide])
    expected = 12345
    for k in range(3_000):
        expected = (expected + k) // 2
    total = 12345 + sum(12345 % (k + 2) for k in range(3000))
    assert compile_map(m)(12345) == (expected, total)
    assert [int(r) for r in evaluate(m, 12345)[1]] == [expected, total]


def test_shared_subexpressions_are_computed_once() -> None:
    e: Expr = var("x")
    for _ in range(200):  # as a tree this would have 2^200 leaves
        e = (e // 2) * 3 + e % 5
    m = IndexingMap.of([("x", 0, 10**6)], results=[e])
    assert len(python_source(m).splitlines()) < 500
    assert compile_map(m)(77) == m.evaluate([77])


def test_long_constants() -> None:
    huge = 10**6000
    m = IndexingMap.of([("x", 0, huge)], results=[var("x") * huge - huge])
    assert compile_map(m, checked=True)(huge) == (huge * huge - huge,)
    assert compile_map(m, checked=True)(huge + 1) is None


def test_what_is_no_index_is_refused() -> None:
    m = parse_map("(d0, d1) -> (d0 + d1), domain: d0 in [0, 9], d1 in [0, 9]")
    with pytest.raises(InputError, match="2 dimension variables but 1 values"):
        evaluate(m, np.arange(3))
    with pytest.raises(InputError, match="must be integers, not float64"):
        evaluate(m, np.arange(3.0), 1)
    with pytest.raises(InputError, match="must be integers, not object"):
        evaluate(m, np.array([1, "a"], dtype=object), 1)


def test_arrays_of_any_integer_type_and_shape() -> None:
    m = parse_map("(d0, d1) -> (d0 - d1 * 300), domain: d0 in [0, 200], d1 in [0, 9]")
    inside, (r,) = evaluate(m, np.arange(250, dtype=np.uint8)[:, None], np.arange(12, dtype=np.uint64))
    assert r.shape == inside.shape == (250, 12)
    assert inside.sum() == 201 * 10
    assert int(r[200, 9]) == 200 - 9 * 300
    # values beyond the type of the computation lie outside the box
    inside, _ = evaluate(m, np.array([2**63, 3], dtype=np.uint64), 1)
    assert inside.tolist() == [False, True]
    inside, _ = evaluate(m, np.array([10**30, 3], dtype=object), 1)
    assert inside.tolist() == [False, True]


def test_an_empty_box() -> None:
    m = parse_map("(d0) -> (d0 floordiv 2), domain: d0 in [5, 4]")
    assert compile_map(m, checked=True)(5) is None
    inside, (r,) = evaluate(m, np.arange(7))
    assert not inside.any()
    assert r.shape == (7,)


def test_the_least_integer_is_divided_upwards() -> None:
    m = parse_map("(d0) -> (d0 ceildiv 4, d0 ceildiv -3), domain: d0 in [-2147483648, 5]")
    values = [-(2**31), -(2**31) + 1, -1, 0, 5]
    _, results = evaluate(m, np.array(values))
    assert [tuple(map(int, row)) for row in zip(*results, strict=True)] == [m.evaluate([x]) for x in values]


def test_importing_the_package_of_code_loads_no_numpy() -> None:
    code = "import sys, indexproof.core.codegen; assert 'numpy' not in sys.modules"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
