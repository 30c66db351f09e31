"""Indexing maps: meaning, enumeration, composition, identity."""

from __future__ import annotations

import io
import pickle
import subprocess
import sys
import threading
from itertools import product
from typing import Any

import numpy as np
import pytest

from indexproof.core.errors import IndexproofError, InputError, TooLargeError
from indexproof.core.expr import floordiv, integer, minimum, mul, var
from indexproof.core.indexing_map import Constraint, IndexingMap, RuntimeSource, RuntimeVariable, Variable
from indexproof.core.text import parse_map

d0, d1, s0, rt0 = map(var, ("d0", "d1", "s0", "rt0"))
Pairs = set[tuple[tuple[int, ...], tuple[int, ...]]]


def brute_force(m: IndexingMap) -> Pairs:
    """The relation straight from its definition."""
    pairs: Pairs = set()
    boxes = [range(v.lo, v.hi + 1) for v in m.variables]
    for point in product(*boxes):
        env = {v.name: x for v, x in zip(m.variables, point, strict=True)}
        if all(c.lo <= c.expr.evaluate(env) <= c.hi for c in m.constraints):
            pairs.add((point[: len(m.dims)], tuple(e.evaluate(env) for e in m.results)))
    return pairs


def composed(first: Pairs, second: Pairs) -> Pairs:
    following: dict[tuple[int, ...], list[tuple[int, ...]]] = {}
    for b, c in second:
        following.setdefault(b, []).append(c)
    return {(a, c) for a, b in first for c in following.get(b, ())}


# --------------------------------------------------------------------------------------------------- meaning
def test_values_that_are_no_python_integers() -> None:
    m = parse_map("(d0) -> (d0 * 4, d0 floordiv -3), domain: d0 in [0, 4611686018427387904]")
    found = m.evaluate([np.int64(2**61)])
    assert found == (2**63, -(2**61) // 3)
    assert found is not None
    assert all(type(x) is int for x in found)
    assert m.evaluate(np.array([7])) == (28, -3)
    for wrong in (1.5, "1", None, True):
        with pytest.raises(InputError, match="the value of `d0` must be an integer"):
            m.evaluate([wrong])


def test_evaluate() -> None:
    m = parse_map(
        "(d0, d1)[s0]{rt0} -> (d0 + s0, d1 - rt0), domain: d0 in [0, 3], d1 in [2, 5], s0 in [0, 1], rt0 "
        "in [0, 2], d0 + s0 in [0, 3]"
    )
    assert m.evaluate((1, 2), (1,), (2,)) == (2, 0)
    assert m.evaluate((3, 2), (1,), (2,)) is None, "the constraint"
    assert m.evaluate((1, 1), (1,), (2,)) is None, "the box of a dimension"
    assert m.evaluate((1, 2), (2,), (2,)) is None, "the box of a range"
    assert m.evaluate((1, 2), (1,), (3,)) is None, "the box of a runtime variable"
    with pytest.raises(InputError, match="2 dimension variables but 1 values"):
        m.evaluate((1,), (1,), (2,))


def test_evaluation_and_enumeration_agree_with_the_definition(maps: Any) -> None:
    for k in range(150):
        m = maps.map(rank=k % 3, size=2, depth=2, scale=4, empty=True)
        truth = brute_force(m)
        assert m.relation() == truth
        boxes = [range(v.lo - 1, v.hi + 2) for v in m.variables]
        points = list(product(*boxes))
        columns = [np.array(c) for c in zip(*points, strict=True)]
        a, b = len(m.dims), len(m.dims) + len(m.ranges)
        inside, results = m.evaluate_many(columns[:a], columns[a:b], columns[b:])
        for i, p in enumerate(points):
            one = m.evaluate(p[:a], p[a:b], p[b:])
            at = () if not columns else i
            assert (one is not None) == bool(inside[at])
            if one is not None:
                assert one == tuple(int(r[at]) for r in results)
        expected = [p for p in points if m.evaluate(p[:a], p[a:b], p[b:]) is not None]
        assert [tuple(row) for row in m.domain_points().tolist()] == expected
        by_value = [m.relation(rts=p) for p in product(*(range(v.lo, v.hi + 1) for v in m.rts))]
        assert set().union(*by_value) == truth


def test_empty_domains_and_rank_zero() -> None:
    scalar = IndexingMap.of()
    assert repr(scalar) == "() -> ()"
    assert scalar.evaluate(()) == ()
    assert scalar.relation() == {((), ())}
    assert scalar.domain_points().shape == (1, 0)
    empty = IndexingMap.of([("d0", 0, -1), ("d1", 0, 3)], results=[d0 + d1])
    assert repr(empty) == "(d0, d1) -> (d0 + d1), domain: d0 in [0, -1], d1 in [0, 3]"
    assert empty.is_trivially_empty
    assert empty.relation() == set()
    assert empty.domain_points().shape == (0, 2)
    assert empty.evaluate((0, 0)) is None
    assert scalar.with_(constraints=(Constraint(integer(5), 0, 4),)).is_trivially_empty
    assert scalar.with_(constraints=(Constraint(integer(5), 0, 4),)).relation() == set()
    assert IndexingMap.of([("d0", 0, 3)], constraints=[(d0, 2, 1)]).is_trivially_empty
    assert empty.compose(IndexingMap.of([("d0", 0, 9)], results=[d0])).relation() == set()


def test_arrays_are_machine_integers_exactly_when_that_is_safe() -> None:
    top = 2**63 - 1
    m = IndexingMap.of([("d0", 0, 2)], results=[d0 + (top - 2)])
    _, (r,) = m.evaluate_many([np.arange(3)])
    assert r.dtype == np.int64
    assert r.tolist() == [top - 2, top - 1, top]
    m = IndexingMap.of([("d0", 0, 3)], results=[d0 + (top - 2)])
    _, (r,) = m.evaluate_many([np.arange(4)])
    assert r.dtype == object
    assert r.tolist() == [top - 2, top - 1, top, top + 1]
    cancels = IndexingMap.of([("d0", 0, 3)], results=[(d0 * 2**62) % 7])
    assert cancels.evaluate_many([np.arange(4)])[1][0].tolist() == [i * 2**62 % 7 for i in range(4)]
    far = IndexingMap.of([("d0", 2**70, 2**70 + 2)], results=[d0 - 2**70], constraints=[(d0, -(2**90), 2**90)])
    assert far.relation() == {((2**70 + i,), (i,)) for i in range(3)}
    wide = IndexingMap.of([("d0", -(2**80), 2**80)], results=[d0], constraints=[(d0, 2**70, 2**80)])
    assert not wide.evaluate_many([np.arange(4)])[0].any()
    small = IndexingMap.of([("d0", 0, 200)], results=[d0 * 1000])
    assert small.evaluate_many([np.arange(200, dtype=np.uint8)])[1][0][-1] == 199_000
    assert far.evaluate_many([np.array([np.int64(3), 2**70], dtype=object)])[0].tolist() == [False, True]
    assert far.evaluate_many([2**70 + 1])[1][0].tolist() == 1
    assert small.evaluate_many([np.array([])])[0].shape == (0,)
    for wrong in (np.array([0.5]), np.array([None]), ["a"], [True]):
        with pytest.raises(InputError, match="must be integers"):
            small.evaluate_many([wrong])


def test_enumeration_has_a_limit() -> None:
    with pytest.raises(TooLargeError, match="10000000000 points"):
        IndexingMap.of([("d0", 0, 10**10 - 1)]).domain_points()
    m = IndexingMap.of([("d0", 0, 699), ("d1", 0, 799)], results=[d0], constraints=[((d0 * 800 + d1) % 100_000, 0, 0)])
    assert len(m.domain_points()) == 6, "boxes larger than one chunk are enumerated completely"


def test_runtime_values_are_clamped_elements_of_their_operands() -> None:
    gather = parse_map(
        "(d0, d1){rt0} -> (d1 + rt0)\nd0 in [0, 3] d1 in [0, 1]\nrt0 in [0, 4]\n  hlo: idx = s32[4,1] "
        "parameter(1)\n  (d0, d1) -> (d0, 0)"
    )
    raw = np.array([[2], [-7], [9], [4]])
    starts = [2, 0, 4, 4]
    assert gather.relation(operands={"idx = s32[4,1] parameter(1)": raw}) == {
        ((i, j), (starts[i] + j,)) for i in range(4) for j in range(2)
    }
    with pytest.raises(InputError, match="no operand was given"):
        gather.relation(operands={})


# ----------------------------------------------------------------------------------------------- composition
def test_composition_keeps_sources_of_runtime_values() -> None:
    outer = parse_map(
        "(d0)[s0]{rt0} -> (d0 + rt0, s0)\nd0 in [0, 2] s0 in [0, 1]\nrt0 in [0, 1]\n  hlo: a = s32[] "
        "parameter(0)\n  (d0) -> ()"
    )
    inner = parse_map(
        "(d0, d1)[s0]{rt0} -> (rt0 + d1, s0)\nd0 in [0, 3] d1 in [0, 1] s0 in [0, 1]\n"
        "rt0 in [0, 5]\n  hlo: b = s32[4] parameter(1)\n  (d0, d1) -> (d0)"
    )
    h = outer.compose(inner)
    assert [v.name for v in h.variables] == ["d0", "s0", "s1", "rt0", "rt1"]
    assert h.rts[1].source == RuntimeSource("b = s32[4] parameter(1)", (d0 + rt0,))
    assert [(c.expr, c.lo, c.hi) for c in h.constraints] == []
    for a in (-3, 0, 1, 8):
        operands = {"a = s32[] parameter(0)": np.array(a), "b = s32[4] parameter(1)": np.array([5, -2, 1, 9])}
        truth = composed(outer.relation(operands=operands), inner.relation(operands=operands))
        assert h.relation(operands=operands) == truth


def test_boxes_of_the_inner_map_become_constraints_unless_intervals_imply_them() -> None:
    f = parse_map("(d0) -> (d0 * 2, d0), domain: d0 in [0, 9]")
    g = parse_map("(a, b) -> (a + b), domain: a in [0, 18], b in [0, 8], a + b in [3, 20]")
    h = f.compose(g)
    assert [(repr(c.expr), c.lo, c.hi) for c in h.constraints] == [(repr(d0), 0, 8), (repr(d0 * 3), 3, 20)]
    # the same expression twice: the intersection, and nothing is lost
    g = parse_map("(a, b) -> (a), domain: a in [4, 30], b in [0, 9], a in [0, 12]")
    assert [(c.lo, c.hi) for c in f.compose(g).constraints] == [(4, 12)]


def test_composition_never_captures_variables() -> None:
    f = parse_map("(d1, d0)[s1, x] -> (d0 + s1 * 4, x), domain: d1 in [0, 1], d0 in [0, 3], s1 in [0, 1], x in [0, 2]")
    g = parse_map(
        "(d0, d1)[x, s1, d9] -> (d1, d0, x, s1, d9), domain: d0 in [0, 7], d1 in [0, 2], x in [5, 6], s1 "
        "in [0, 1], d9 in [0, 1]"
    )
    h = f.compose(g)
    assert [v.name for v in h.ranges] == ["s1", "x", "x_1", "s2", "d9"]
    assert repr(h).startswith("(d1, d0)[s1, x, x_1, s2, d9] -> (x, s1 * 4 + d0, x_1, s2, d9)")
    with pytest.raises(InputError, match="the first has 2 results, the second 1 dimension"):
        f.compose(parse_map("(d0) -> (d0), domain: d0 in [0, 1]"))


# --------------------------------------------------------------------------------------------- other changes
def test_substitution_is_simultaneous_and_keeps_the_box() -> None:
    m = parse_map("(d0, d1)[s0] -> (d0 - d1, s0), domain: d0 in [0, 3], d1 in [0, 3], s0 in [2, 5], d0 + s0 in [0, 7]")
    fixed = m.substitute({"s0": 3})
    assert repr(fixed) == "(d0, d1) -> (d0 - d1, 3), domain: d0 in [0, 3], d1 in [0, 3], d0 + 3 in [0, 7]"
    assert m.substitute({s0: 9}).relation() == set()
    swapped = m.rewritten({d0: d1, d1: d0})
    assert swapped.results[0] is d1 - d0
    assert swapped.relation() == {((b, a), t) for (a, b), t in m.relation()}
    with pytest.raises(InputError, match="no variable `q`"):
        m.substitute({"q": 1})
    with pytest.raises(InputError, match="unknown variable `q`"):
        m.substitute({"d0": var("q")})


def test_renaming() -> None:
    m = parse_map("(d0, d1){rt0} -> (d0 - d1)\nd0 in [0, 3] d1 in [0, 1] rt0 in [0, 2]\n hlo: a\n (d0, d1) -> (d1, d0)")
    n = m.rename({"d0": "d1", "d1": "d0", "rt0": "start"})
    assert n.results[0] is d1 - d0
    assert [v.name for v in n.variables] == ["d1", "d0", "start"]
    assert n.rts[0].source == RuntimeSource("a", (d0, d1))
    assert n != m
    assert n.rename({"d0": "d1", "d1": "d0", "start": "rt0"}) == m
    with pytest.raises(InputError, match="duplicate variable `d1`"):
        m.rename({"d0": "d1"})


def test_constraints_on_one_expression_are_merged_in_place() -> None:
    m = IndexingMap.of([("d0", 0, 9)], results=[], constraints=[(d0 * 2, 0, 9), (d0 % 3, 0, 1), (2 * d0, 3, 20)])
    assert m.constraints == (Constraint(d0 * 2, 3, 9), Constraint(d0 % 3, 0, 1))


# -------------------------------------------------------------------------------------------------- identity
def test_equality_and_hash_are_structural() -> None:
    text = "(d0)[s0] -> (d0 * 3 + s0), domain: d0 in [0, 3], s0 in [0, 2], d0 + s0 in [0, 4]"
    a, b = parse_map(text), parse_map(text)
    assert a == b
    assert hash(a) == hash(b)
    assert {a: 1}[b] == 1
    assert a != b.rename({"s0": "x"})
    assert a != b.with_(constraints=())
    assert a != "something else"


def test_maps_survive_pickling_into_another_process() -> None:
    e = d0
    for _ in range(10_000):
        e = e // 2 + 1
    m = IndexingMap.of(
        [("d0", 0, 9)],
        rts=[RuntimeVariable("rt0", 0, 3, RuntimeSource("p", (e,)))],
        results=[e + rt0],
        constraints=[(e, 0, 5)],
    )
    assert pickle.loads(pickle.dumps(m)) == m
    program = "import pickle, sys; m = pickle.load(sys.stdin.buffer); sys.stdout.write(repr(m))"
    out = subprocess.run([sys.executable, "-c", program], input=pickle.dumps(m), capture_output=True, check=True)
    assert parse_map(out.stdout.decode()) == m


def test_deep_expressions_never_hit_the_recursion_limit() -> None:
    e = d0
    for i in range(10_000):
        e = minimum(e * 2 + 1, 1000 + i) if i % 2 else e // 3
    m = IndexingMap.of([("d0", 0, 9)], results=[e], constraints=[(e, 0, 10**6)])
    assert m.evaluate((5,)) is not None
    assert m.compose(m).evaluate((5,)) is not None
    assert m.evaluate_many([np.arange(10)])[0].all()
    assert hash(m.substitute({"d0": 3})) is not None


def test_maps_may_be_built_in_many_threads() -> None:
    built: list[IndexingMap] = []

    def build() -> None:
        built.extend(parse_map(f"(d0) -> ((d0 * {i} + 3) mod 7), domain: d0 in [0, {i}]") for i in range(50))

    threads = [threading.Thread(target=build) for _ in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert len(set(built)) == 50


# ---------------------------------------------------------------------------------------------------- errors
@pytest.mark.parametrize(("build", "message"), [
    (lambda: IndexingMap.of([("d0", 0, 1)], [("d0", 0, 1)]), "duplicate variable `d0`"),
    (lambda: IndexingMap.of(results=[d0]), "unknown variable `d0`"),
    (lambda: IndexingMap.of([("d0", 0, 1), ("d1", 0, 1)], results=[mul(d0, d1)]), "product of two variables"),
    (lambda: IndexingMap.of([("d0", 0, 1)], results=[floordiv(5, d0)]), "divisor is not a constant"),
    (lambda: IndexingMap.of([("d0", 0, 1)], results=[var("d0", "const")]), "unknown variable"),
    (lambda: Variable("", 0, 1), "no name for a variable"),
    (lambda: Variable("2d", 0, 1), "no name for a variable"),
    (lambda: Variable("mod", 0, 1), "no name for a variable"),
    (lambda: Variable("d0", 0, 1.5), "upper bound of `d0` must be an integer"),
    (lambda: Variable("d0", "0", 1), "lower bound of `d0` must be an integer"),
    (lambda: Variable("d0", True, 1), "must be an integer, not True"),
    (lambda: Constraint(d0, 0, None), "must be an integer"),
    (lambda: RuntimeSource("two\nlines", ()), "on one line"),
    (lambda: RuntimeSource(" ", ()), "one HLO instruction"),
    (lambda: IndexingMap.of(rts=[("a", 0, 1, RuntimeSource("p", (var("b"),))), ("b", 0, 1, RuntimeSource("q",
        (var("a"),)))]), "a, b need each other in a circle"),
])  # fmt: skip
def test_impossible_maps(build: object, message: str) -> None:
    with pytest.raises(InputError, match=message) as caught:
        build()
    assert isinstance(caught.value, IndexproofError)
    assert isinstance(caught.value, ValueError)
    assert "\n" not in str(caught.value)


def test_errors_survive_pickling() -> None:
    with pytest.raises(InputError) as caught:
        parse_map("(d0) -> (d1)")
    again = pickle.loads(pickle.dumps(caught.value))
    assert str(again) == str(caught.value)
    assert again.render() == caught.value.render()


def test_numpy_integers_are_bounds() -> None:
    assert type(IndexingMap.of([("d0", np.int64(0), np.int32(3))], results=[d0]).dims[0].hi) is int


# --------------------------------------------------------------------------------------------------- display
def test_display_on_a_terminal_and_in_a_notebook() -> None:
    from rich.console import Console

    m = parse_map(
        "(d0)[s0]{rt0} -> (d0 + s0 - rt0)\nd0 in [0, 3] s0 in [0, 1] rt0 in [0, 2]\n hlo: a < b[0]\n (d0) -> ()"
    )
    console = Console(width=120, record=True, file=io.StringIO())
    console.print(m)
    assert parse_map(console.export_text()) == m
    page = m._repr_html_()
    assert page.startswith("<pre")
    assert "a &lt; b[0]" in page
    assert '<span style="color:#2b8a3e">s0</span>' in page


def test_importing_maps_loads_neither_numpy_nor_rich() -> None:
    program = (
        "import sys, indexproof.core.text as t; t.parse_map('() -> ()');"
        "print(*[n for n in ('numpy', 'rich', 'z3', 'islpy', 'jax', 'sympy') if n in sys.modules])"
    )
    out = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == ""
