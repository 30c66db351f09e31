"""Maps with parameters: reading, printing, JSON, values at given sizes and composition."""

from __future__ import annotations

import itertools
import json
import pickle

import pytest

from indexproof.core.errors import InputError
from indexproof.core.indexing_map import IndexingMap
from indexproof.core.map_reader import read_any_map, read_map
from indexproof.core.parametric import ParametricMap

MAPS = [
    "(d0, d1)[s0]{n, k} -> (d0 * k + d1), domain: d1 in [0, k - 1], n >= 1",
    "(d0, d1)[s0]{n, k} -> (d0 * k + d1, s0), domain: d0 in [0, n - 1], d1 in [0, k - 1], s0 in [0, d0 floordiv 2]",
    "(d0){n, k} -> (d0 floordiv k, d0 mod k), domain: d0 in [0, n * k - 1], k >= 1, k divides n",
    "(d0){n} -> (min(n - 1, d0)), domain: d0 >= 0, d0 < n + 2",
    "(i)[j]{a, b} -> (-b + (i + j) ceildiv a), domain: i * 2 + j <= a + b, i in [-1, a], j in [b - 1, b], a > 0",
    "(d0){k} -> (d0 * k), domain: d0 in [0, 9], 3 divides d0, d0 + k in [0, 8]",
    "(){n} -> (n), domain: n in [0, n]",
]


def read(text: str) -> ParametricMap:
    m = read_any_map(text)
    assert isinstance(m, ParametricMap)
    return m


@pytest.mark.parametrize("text", MAPS)
def test_every_form_reads_back(text: str) -> None:
    m = read(text)
    assert str(m) == text
    assert read(json.dumps(m.to_json())) == m
    assert pickle.loads(pickle.dumps(m)) == m
    assert read(text.replace(", domain:", "\ndomain:\n ").replace("], ", "]\n")) == m


@pytest.mark.parametrize("text", MAPS[1:])
def test_a_map_at_given_sizes_is_the_same_at_every_point(text: str) -> None:
    m = read(text)
    seen = 0
    for values in itertools.product(range(-1, 4), repeat=len(m.parameters)):
        points = [*itertools.product(range(-3, 10), repeat=len(m.variables))]
        try:
            there = m.at(dict(zip(m.parameters, values, strict=True)))
        except InputError:
            # the conditions exclude these sizes
            assert not any(inside(m, p, values) for p in points)
            continue
        for point in points:
            rank = len(m.dims)
            assert there.evaluate(point[:rank], point[rank:]) == m.evaluate(point, (), values), (values, point)
            seen += 1
    assert seen


def inside(m: ParametricMap, point: tuple[int, ...], values: tuple[int, ...]) -> bool:
    try:
        return m.evaluate(point, (), values) is not None
    except ZeroDivisionError:
        return False


def test_a_part_of_the_parameters_may_have_values() -> None:
    m = read(MAPS[1])
    some = m.fixed({"k": 3})
    assert isinstance(some, ParametricMap)
    assert some.parameters == ("n",)
    assert some.at({"n": 2}) == m.fixed({"n": 2, "k": 3}) == m.at({"n": 2, "k": 3})


def test_composition_relates_what_both_relate() -> None:
    one, two = (read(MAPS[1]), read("(d0, t)[s0]{k} -> (d0 - t + s0), domain: s0 in [0, k], d0 in [0, 9], t in [0, 9]"))
    both = one.compose(two)
    for n, k in itertools.product(range(4), repeat=2):
        there = both.at({"n": n, "k": k})
        assert there.relation() == one.at({"n": n, "k": k}).compose(two.at({"k": k})).relation()


def test_a_map_whose_parameters_have_values_is_concrete() -> None:
    m = read_map("(d0){n, k} -> (d0 * k), domain: d0 in [0, n], n = 4, k = 2")
    assert m == read_map("(d0) -> (d0 * 2), domain: d0 in [0, 4]")
    # a symbol with a box of integers is still a runtime variable
    assert isinstance(read_any_map("(d0){rt0} -> (d0 + rt0), domain: d0 in [0, 4], rt0 in [0, 1]"), IndexingMap)


@pytest.mark.parametrize(("text", "message"), [
    ("(d0, d1){n} -> (d0 * d1), domain: d0 in [0, n]", "`d0 * d1` is not quasi-affine"),
    ("(d0, d1){n} -> (d0 mod d1), domain: d0 in [0, n]", "`d0 mod d1` is not quasi-affine"),
    ("(d0){n} -> (d0), domain: d0 in [0, m]", "unknown variable `m`"),
    ("(d0){n, n} -> (d0)", "duplicate variable `n`"),
    ("(d0){n} -> (d0), domain: d0 in [0, n", "the text ends too early"),
    ("(d0){n} -> (d0 floordiv (n - n))", "division by zero"),
    ("(d0){n} -> (d0), domain: d0 in [0, n], n = 2, n = 3", "`n = 2` does not hold there"),
    ("(d0){n} -> (d0 mod n), domain: d0 in [0, n], n = 0", "a divisor is zero there"),
    ("(d0){n} -> (d0), n = 2", "`d0` has no bounds"),
    ("(d0){n} -> (d0), domain: d0 in [0, n], d0 != 1, n = 2", "is no condition of a domain"),
    ("(d0){n} -> (d0), domain: d0 in [0, n]", "the map has the parameters n: this needs concrete sizes"),
    ('{"dims": ["d0"], "parameters": ["n"], "results": ["n"]}', "the key `ranges` is missing"),
    ('{"dims": ["d 0"], "ranges": [], "parameters": ["n"], "results": ["n"], "conditions": []}',
        "`d 0` is no name for a variable"),
    ('{"dims": [], "ranges": [], "parameters": ["n"], "results": ["n"], "conditions": ["n <> 1"]}',
        "unexpected `>`"),
    ('{"dims": [], "ranges": [], "parameters": ["n"], "results": ["n"], "conditions": [["<", 1, 2]]}',
        "expected text, not list"),
    ('{"dims": [], "ranges": [], "parameters": ["n"], "results": ["m"], "conditions": []}', "unknown variable `m`"),
])  # fmt: skip
def test_what_is_refused(text: str, message: str) -> None:
    with pytest.raises(InputError) as info:
        read_map(text)
    assert message in str(info.value)


def test_values_must_be_those_of_parameters() -> None:
    for values in ({"n": 1}, {"n": 1, "k": 1, "m": 1}):
        with pytest.raises(InputError, match="value"):
            read(MAPS[0]).at(values)
    with pytest.raises(InputError, match="do not compose"):
        read(MAPS[0]).compose(read(MAPS[1]))
    with pytest.raises(InputError, match="a variable of the first map and a parameter"):
        read("(n){k} -> (n)").compose(read("(d0){n} -> (d0)"))
