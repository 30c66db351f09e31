"""Composition of maps: it composes the relations for every value of every runtime variable, and is associative."""

from __future__ import annotations

from itertools import pairwise, product

import numpy as np
from hypothesis import HealthCheck, assume, example, given, settings
from hypothesis import strategies as st

from indexproof import strategies
from indexproof.core.expr import Expr, var
from indexproof.core.indexing_map import IndexingMap, RuntimeSource
from indexproof.core.simplify_map import simplify_map
from indexproof.core.text import parse_map
from indexproof.core.transform import merge_runtime
from indexproof.rules.catalog import RULES

Pairs = set[tuple[tuple[int, ...], tuple[int, ...]]]
CHECK = settings(deadline=None, max_examples=80, derandomize=True, suppress_health_check=list(HealthCheck))

#: Instructions that runtime variables read, with their values: a scalar, a vector, a matrix.
OPERANDS = {"a": np.array(2), "b": np.array([3, -1, 0, 1]), "c": np.array([[0, 1], [2, -5], [9, 1]])}
#: Names of dimensions, ranges and runtime variables: the usual ones, exchanged ones, arbitrary ones.
NAMES = (("d", "s", "rt"), ("s", "d", "rt"), ("rt", "s", "d"), ("s", "rt", "x"), ("row", "d", "s"))


def expressions(atoms: list[Expr]) -> st.SearchStrategy[Expr]:
    return strategies.expressions(atoms, (2, 3, 4), 2)


@st.composite
def indexing_maps(draw: st.DrawFn, dims: int, results: int, sources: bool = False) -> IndexingMap:
    d, s, r = draw(st.sampled_from(NAMES))
    boxes = []
    for k in range(dims):
        lo = draw(st.sampled_from([0, 0, 0, -1, 2]))
        boxes.append((f"{d}{k}", lo, lo + draw(st.sampled_from([3, 2, 5, 0, -1]))))
    ranges = [(f"{s}{k}", 0, draw(st.integers(0, 2))) for k in range(draw(st.integers(0, 2)))]
    atoms: list[Expr] = [var(name) for name, _, _ in (*boxes, *ranges)]
    rts = []
    for k in range(draw(st.integers(0, 2))):
        source = None
        if sources:
            name = draw(st.sampled_from(sorted(OPERANDS)))
            known = [*atoms, *(var(v[0]) for v in rts)]
            index = tuple(draw(expressions(known)) for _ in range(OPERANDS[name].ndim))
            source = RuntimeSource(name, index)
        rts.append((f"{r}{k}", 0, draw(st.integers(0, 2)), source))
    atoms += [var(v[0]) for v in rts]
    constraints = []
    for _ in range(draw(st.sampled_from([0, 0, 1, 2]))):
        lo = draw(st.integers(-3, 2))
        constraints.append((draw(expressions(atoms)), lo, lo + draw(st.integers(0, 9))))
    return IndexingMap.of(boxes, ranges, rts, [draw(expressions(atoms)) for _ in range(results)], constraints)


@st.composite
def chains(draw: st.DrawFn, length: int, sources: bool = False) -> list[IndexingMap]:
    """Sequences of maps of which each composes with the next."""
    ranks = [draw(st.integers(0, 2)) for _ in range(length + 1)]
    return [draw(indexing_maps(a, b, sources)) for a, b in pairwise(ranks)]


def composed(first: Pairs, second: Pairs) -> Pairs:
    following: dict[tuple[int, ...], list[tuple[int, ...]]] = {}
    for b, c in second:
        following.setdefault(b, []).append(c)
    return {(a, c) for a, b in first for c in following.get(b, ())}


def values(*maps: IndexingMap) -> list[tuple[tuple[int, ...], ...]]:
    """Return every choice of values for the runtime variables of several maps."""
    of = [list(product(*(range(v.lo, v.hi + 1) for v in m.rts))) for m in maps]
    return list(product(*of))


@CHECK
@given(chains(2))
def test_a_composition_is_one_for_every_value_of_the_runtime_variables(chain: list[IndexingMap]) -> None:
    f, g = chain
    h = f.compose(g)
    assert [v.lo for v in h.rts] == [v.lo for v in (*f.rts, *g.rts)]
    assert len({v.name for v in h.variables}) == len(f.variables) + len(g.ranges) + len(g.rts)
    for a, b in values(f, g):
        assert h.relation(rts=a + b) == composed(f.relation(rts=a), g.relation(rts=b))


@CHECK
@given(chains(2))
def test_a_composition_agrees_with_evaluation_at_points(chain: list[IndexingMap]) -> None:
    f, g = chain
    h = f.compose(g)
    points = list(product(*(range(v.lo, v.hi + 1) for v in h.variables)))
    i, j = len(h.dims), len(h.dims) + len(h.ranges)
    for p in points[:: max(1, len(points) // 60)]:
        dims, ranges, rts = p[:i], p[i:j], p[j:]
        middle = f.evaluate(dims, ranges[: len(f.ranges)], rts[: len(f.rts)])
        expected = None
        if middle is not None:
            expected = g.evaluate(middle, ranges[len(f.ranges) :], rts[len(f.rts) :])
        assert h.evaluate(dims, ranges, rts) == expected


@CHECK
@given(chains(3))
def test_composition_is_associative(chain: list[IndexingMap]) -> None:
    f, g, h = chain
    left, right = f.compose(g).compose(h), f.compose(g.compose(h))
    # the runtime variables of the three, in the same order on both sides
    assert [(v.lo, v.hi) for v in left.rts] == [(v.lo, v.hi) for v in right.rts]
    for parts in values(f, g, h):
        rts = sum(parts, ())
        assert left.relation(rts=rts) == right.relation(rts=rts)


@CHECK
@given(chains(3, sources=True))
def test_it_is_associative_when_the_values_are_read_from_operands(chain: list[IndexingMap]) -> None:
    f, g, h = chain
    left, right = f.compose(g).compose(h), f.compose(g.compose(h))
    truth = composed(
        composed(f.relation(operands=OPERANDS), g.relation(operands=OPERANDS)), h.relation(operands=OPERANDS)
    )
    for m in (left, right, simplify_map(left, RULES), merge_runtime(right).map):
        assert m.relation(operands=OPERANDS) == truth


@CHECK
@given(chains(2))
def test_simplifying_before_or_after_makes_no_difference(chain: list[IndexingMap]) -> None:
    f, g = chain
    whole = simplify_map(f.compose(g), RULES)
    parts = simplify_map(f, RULES).compose(simplify_map(g, RULES))
    for a, b in values(f, g):
        truth = composed(f.relation(rts=a), g.relation(rts=b))
        assert whole.relation(rts=a + b) == truth
        assert parts.relation(rts=a + b) == truth


@CHECK
@given(indexing_maps(2, 2, sources=True))
def test_the_identity_changes_nothing(m: IndexingMap) -> None:
    assume(all(v.size > 0 for v in m.dims))
    m = m.with_(constraints=tuple(c for c in m.constraints if not c.holds_always))
    before = IndexingMap.of(m.dims, results=m.dim_vars)
    assert before.compose(m) == m.rename(
        {v.name: n.name for v, n in zip(m.variables, before.compose(m).variables, strict=True)}
    )
    wide = [(f"d{k}", -1000, 1000) for k in range(2)]
    assert m.compose(IndexingMap.of(wide, results=[var("d0"), var("d1")])) == m


def test_one_element_read_by_both_maps_is_one_value() -> None:
    """Runtime variables that read the same element are merged: two values would give four targets instead of one."""
    f = parse_map("(d0){rt0} -> (rt0), domain: d0 in [0, 0], rt0 in [0, 3]\n hlo: a\n (d0) -> ()")
    g = parse_map("(d0){rt0} -> (d0 - rt0), domain: d0 in [0, 3], rt0 in [0, 3]\n hlo: a\n (d0) -> ()")
    h = f.compose(g)
    assert [v.name for v in h.rts] == ["rt0", "rt1"]
    merged = merge_runtime(h)
    assert [v.name for v in merged.map.rts] == ["rt0"]
    assert merged.map.relation() == {((0,), (0,))}
    assert len(h.relation()) > 1
    for a in range(-1, 5):
        assert h.relation(operands={"a": np.array(a)}) == {((0,), (0,))}


def test_the_same_element_at_another_place_is_another_value() -> None:
    text = "(d0){rt0} -> (rt0), domain: d0 in [0, 3], rt0 in [0, 3]\n hlo: b\n (d0) -> (d0)"
    h = parse_map(text).compose(parse_map(text))
    assert [v.source for v in h.rts] == [RuntimeSource("b", (var("d0"),)), RuntimeSource("b", (var("rt0"),))]
    assert merge_runtime(h).map is h
    operands = {"b": np.array([1, 3, 0, 2])}
    assert h.relation(operands=operands) == {((i,), (j,)) for i, j in enumerate((3, 2, 1, 0))}


@CHECK
@given(chains(2))
@example(
    [
        parse_map("(d0, d1) -> (), domain: d0 in [0, -1], d1 in [0, 3]"),
        parse_map("()[s0] -> (s0), domain: s0 in [0, 2]"),
    ]
)
@example([parse_map("() -> ()"), parse_map("()[s0] -> (s0, s0), domain: s0 in [0, -1]")])
def test_an_empty_map_makes_the_composition_empty(chain: list[IndexingMap]) -> None:
    f, g = chain
    h = f.compose(g)
    empty = any(not f.relation(rts=a) or not g.relation(rts=b) for a, b in values(f, g))
    if empty:
        assert any(not h.relation(rts=a + b) for a, b in values(f, g))
    if f.is_trivially_empty or any(v.size == 0 for v in (*g.ranges, *g.rts)):
        assert h.relation() == set()
