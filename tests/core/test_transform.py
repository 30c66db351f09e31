"""Transforms that change variables: the relation is kept, and the record relates the new map to the old one."""

from __future__ import annotations

import random
from itertools import islice, product
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from indexproof import strategies
from indexproof.core.expr import integer, var
from indexproof.core.indexing_map import IndexingMap, RuntimeSource
from indexproof.core.simplify_map import simplify_map
from indexproof.core.text import parse_map
from indexproof.core.transform import (
    Reduced,
    canonical,
    distinct,
    eliminate_ranges,
    merge_runtime,
    number_variables,
    ranges_to_dims,
    reduce_map,
    remove_unused,
    rescale_ranges,
    reset_ranges,
)
from indexproof.rules.catalog import RULES

CHECK = settings(deadline=None, max_examples=120, derandomize=True, suppress_health_check=list(HealthCheck))
d0, d1, s0, s1, rt0, rt1, rt2 = map(var, ("d0", "d1", "s0", "s1", "rt0", "rt1", "rt2"))


#: Maps with unused variables, variables with one value, remainders and equations.
MAPS = strategies.maps(rts=2, facts=6, depth=2, empty=True, of=(2, 3, 4))


def same_relation(r: Reduced) -> bool:
    """Return whether the restored map has the relation of the old one for every value of the old runtime variables."""
    restored = r.restored()
    assert len(restored.dims) == len(r.before.dims)
    for rts in product(*(range(v.lo, v.hi + 1) for v in r.before.rts)):
        named = dict(zip((v.name for v in r.before.rts), rts, strict=True))
        if r.before.relation(rts=rts) != restored.relation(rts=[named[v.name] for v in restored.rts]):
            return False
    return True


def removed(r: Reduced) -> tuple[str, ...]:
    """Return the old variables that are no variables of the same kind in the new map."""
    kinds = (r.before.dims, r.map.dims), (r.before.ranges, r.map.ranges), (r.before.rts, r.map.rts)
    return tuple(v.name for old, new in kinds for v in old if r.kept.get(v.name) not in {w.name for w in new})


def values_agree(r: Reduced) -> bool:
    """Return whether the new map at each point equals the old map at the values that the record gives."""
    boxes = [range(v.lo, v.hi + 1) for v in r.map.variables]
    for point in islice(product(*boxes), 300):
        now = dict(zip((v.name for v in r.map.variables), point, strict=True))
        i, j = len(r.map.dims), len(r.map.dims) + len(r.map.ranges)
        then = [r.values[v.name].evaluate(now) for v in r.before.variables]
        m, n = len(r.before.dims), len(r.before.dims) + len(r.before.ranges)
        if r.map.evaluate(point[:i], point[i:j], point[j:]) != r.before.evaluate(then[:m], then[m:n], then[n:]):
            return False
    return True


EVERY: dict[str, Any] = {
    "remove_unused": remove_unused,
    "remove_unused_dims": lambda m: remove_unused(m, dims=True),
    "rescale_ranges": rescale_ranges,
    "reset_ranges": reset_ranges,
    "eliminate_ranges": eliminate_ranges,
    "ranges_to_dims": ranges_to_dims,
    "number_variables": number_variables,
    "reduce_map": lambda m: reduce_map(m, RULES),
    "reduce_map_with_dims": lambda m: reduce_map(m, RULES, unused_dims=True, to_dims=True),
    "chain": lambda m: remove_unused(m).then(rescale_ranges).then(ranges_to_dims).then(remove_unused),
}


@pytest.mark.parametrize("name", EVERY)
@CHECK
@given(m=MAPS)
def test_the_relation_stays_and_the_record_is_true(name: str, m: IndexingMap) -> None:
    r = EVERY[name](m)
    assert same_relation(r), (m, r.map, [s.why for s in r.steps])
    assert values_agree(r), (m, r.map, r.values)
    assert set(r.values) == {v.name for v in m.variables}
    assert bool(r) == (r.map is not m)
    assert len(m.variables) - len(removed(r)) + len(r.new_dims) == len(r.map.variables)


@pytest.mark.parametrize("name", ["reduce_map", "reduce_map_with_dims"])
@CHECK
@given(m=MAPS)
@example(m=parse_map("(d0)[s0] -> (), domain: d0 in [0, 3], s0 in [0, 5], s0 mod 6 in [2, 2]"))
def test_reducing_twice_changes_nothing(name: str, m: IndexingMap) -> None:
    once = EVERY[name](m).map
    # a copy, for which nothing is cached
    assert EVERY[name](once.with_()).map == once


# ------------------------------------------------------------------------------------------------- one by one
def test_unused_variables_leave_with_their_places() -> None:
    m = parse_map(
        "(d0, d1)[s0, s1]{rt0, rt1} -> (d1 + s1, rt1), "
        "domain: d0 in [0, 3], d1 in [0, 4], s0 in [2, 5], s1 in [0, 1], rt0 in [0, 9], rt1 in [0, 2]"
    )
    r = remove_unused(m)
    assert repr(r.map) == (
        "(d0, d1)[s1]{rt1} -> (d1 + s1, rt1), domain: d0 in [0, 3], d1 in [0, 4], s1 in [0, 1], rt1 in [0, 2]"
    )
    assert removed(r) == ("s0", "rt0")
    assert [(n, v.lo, v.hi) for n, v in r.unused.items()] == [("s0", 2, 5), ("rt0", 0, 9)]
    r = remove_unused(m, dims=True)
    assert removed(r) == ("d0", "s0", "rt0")
    assert r.restored().relation() == m.relation()
    r = reduce_map(m, RULES)
    assert repr(r.map).startswith("(d0, d1)[s0]{rt0} -> (d1 + s0, rt0)")
    assert r.kept == {"d0": "d0", "d1": "d1", "s1": "s0", "rt1": "rt0"}


def test_a_range_with_an_empty_box_is_needed() -> None:
    m = parse_map("(d0)[s0] -> (d0), domain: d0 in [0, 3], s0 in [0, -1]")
    assert not remove_unused(m)
    r = reduce_map(m, RULES)
    assert repr(r.map) == "(d0) -> (0), domain: d0 in [0, -1]"
    assert removed(r) == ("s0",)


def test_what_only_a_constraint_mentions_is_used() -> None:
    m = parse_map("(d0)[s0] -> (d0), domain: d0 in [0, 9], s0 in [0, 3], d0 + s0 in [2, 3]")
    assert not remove_unused(m, dims=True)


def test_a_runtime_variable_that_a_source_needs_stays() -> None:
    rts = [
        ("rt0", 0, 3, RuntimeSource("a", ())),
        ("rt1", 0, 3, RuntimeSource("b", (rt0 + d0,))),
        ("rt2", 0, 3, RuntimeSource("b", (d1,))),
    ]
    m = IndexingMap.of([("d0", 0, 1), ("d1", 0, 1)], [], rts, [rt1])
    r = remove_unused(m, dims=True)
    assert [v.name for v in r.map.rts] == ["rt0", "rt1"]
    assert removed(r) == ("d1", "rt2")


def test_a_range_that_a_source_needs_is_not_replaced_by_what_is_read_there() -> None:
    rts = [("rt0", 0, 3, RuntimeSource("a", (s0 + d0,))), ("rt1", 0, 3, RuntimeSource("b", (rt0,)))]
    dims, ranges = [("d0", 0, 1)], [("s0", 0, 5)]
    for read in (rt0, rt1):
        m = IndexingMap.of(dims, ranges, rts, [d0 + s0], [(s0 - read, 0, 0)])
        assert not eliminate_ranges(m)
        assert [v.name for v in reduce_map(m, RULES).map.ranges] == ["s0"]
    other = IndexingMap.of(dims, ranges, rts, [d0 + rt0], [(s0 - d0, 1, 1)])
    assert eliminate_ranges(other).values["s0"] is d0 + 1


def test_equal_elements_are_one_runtime_variable() -> None:
    rts = [("rt0", 0, 3, RuntimeSource("a", (d0,))), ("rt1", 0, 3, RuntimeSource("a", (d0,)))]
    m = IndexingMap.of([("d0", 0, 1)], [], rts, [rt0 - rt1])
    r = merge_runtime(m)
    assert r.values["rt1"] is rt0
    assert removed(r) == ("rt1",)
    assert repr(reduce_map(m, RULES).map) == "(d0) -> (0), domain: d0 in [0, 1]"
    # variables with different bounds may have different values of the same element
    rts[1] = ("rt1", 0, 2, RuntimeSource("a", (d0,)))
    assert not merge_runtime(IndexingMap.of([("d0", 0, 1)], [], rts, [rt0 - rt1]))


RESCALED = """
(d0)[s0] -> (d0 + s0), domain: d0 in [0, 3], s0 in [0, 30], s0 mod 6 in [0, 0]
(d0)[s0] -> (s0 * 6 + d0), domain: d0 in [0, 3], s0 in [0, 5]
s0 = 6·s0

(d0)[s0] -> (d0 + s0), domain: d0 in [0, 3], s0 in [0, 30], (s0 - 2) mod 6 in [0, 0]
(d0)[s0] -> (s0 * 6 + d0 + 2), domain: d0 in [0, 3], s0 in [0, 4]
s0 = 6·s0 + 2

(d0)[s0] -> (d0 + s0), domain: d0 in [0, 3], s0 in [13, 30], (4 - s0) mod 6 in [3, 3]
(d0)[s0] -> (s0 * 6 + d0 + 13), domain: d0 in [0, 3], s0 in [0, 2]
s0 = 6·s0 + 13

(d0)[s0] -> (s0 floordiv 4, s0 mod 4), domain: d0 in [0, 3], s0 in [0, 63], s0 mod 4 in [1, 1]
(d0)[s0] -> (s0, 1), domain: d0 in [0, 3], s0 in [0, 15]
s0 = 4·s0 + 1

(d0)[s0] -> (s0), domain: d0 in [0, 3], s0 in [0, 99], s0 mod 4 in [1, 1], s0 mod 6 in [3, 3], s0 + d0 in [0, 50]
(d0)[s0] -> (s0 * 12 + 9), domain: d0 in [0, 3], s0 in [0, 3], s0 * 12 + d0 in [0, 41]
s0 = 12·s0 + 9

(d0)[s0] -> (s0), domain: d0 in [0, 3], s0 in [0, 99], (s0 + d0) mod 4 in [1, 1]
(d0)[s0] -> (s0), domain: d0 in [0, 3], s0 in [0, 99], (d0 + s0) mod 4 in [1, 1]
s0 = s0
"""


@pytest.mark.parametrize("case", RESCALED.strip().split("\n\n"))
def test_ranges_rescale(case: str) -> None:
    before, after, value = case.split("\n")
    r = reduce_map(parse_map(before), RULES)
    # narrowing has made `s0 * 12 + d0 in [0, 41]` hold for all but the last value
    assert r.map == simplify_map(parse_map(after), RULES), r.map
    assert f"s0 = {r.values['s0']}" == value
    assert same_relation(r)


def test_an_equation_gives_a_range() -> None:
    m = parse_map("(d0)[s0, s1] -> (s0, s1), domain: d0 in [0, 9], s0 in [0, 12], s1 in [0, 3], s0 - d0 * 2 in [1, 1]")
    r = reduce_map(m, RULES)
    assert repr(r.map) == "(d0)[s0] -> (d0 * 2 + 1, s0), domain: d0 in [0, 5], s0 in [0, 3]"
    assert str(r.values["s0"]) == "2·d0 + 1"
    assert removed(r) == ("s0",)
    assert same_relation(r)


def test_ranges_become_dimensions() -> None:
    m = parse_map("(d0, d2)[s0, s1] -> (d0 + s0, s1), domain: d0 in [0, 3], d2 in [0, 1], s0 in [0, 1], s1 in [2, 4]")
    r = ranges_to_dims(m)
    assert [v.name for v in r.map.dims] == ["d0", "d2", "d3", "d4"]
    assert (r.map.ranges, r.new_dims, removed(r)) == ((), ("d3", "d4"), ("s0", "s1"))
    assert {(d[:2], t) for d, t in r.map.relation()} == m.relation()


def test_the_record_of_an_empty_map_tells_the_boxes_that_were_given() -> None:
    m = parse_map(
        "(d0, d1)[s0, s1]{rt0} -> (d0 + s0 + rt0), domain: d0 in [0, 3], d1 in [0, -1], s0 in [2, 90], s1 in [4, 5], "
        "rt0 in [1, 2], s0 mod 6 in [2, 2]"
    )
    r = reduce_map(m, RULES, unused_dims=True)
    assert {v.name: (v.lo, v.hi) for v in r.unused.values()} == {v.name: (v.lo, v.hi) for v in m.variables}
    assert not list(r.restored().relation())
    r = reduce_map(m, RULES)
    assert {name: (v.lo, v.hi) for name, v in r.unused.items()} == {"s0": (2, 90), "s1": (4, 5), "rt0": (1, 2)}


def test_the_empty_map_is_one_for_its_dimensions_and_rank() -> None:
    texts = [
        "(d0, d1)[s0] -> (d0 + s0), domain: d0 in [0, 3], d1 in [0, 3], s0 in [0, -1]",
        "(d0, d1){rt0} -> (d0 - rt0), domain: d0 in [0, 3], d1 in [0, 3], rt0 in [0, 4], d0 + d1 in [7, 9]",
        "(d0, d1) -> (d1), domain: d0 in [0, 3], d1 in [0, 3], d0 mod 4 in [1, 1], d0 mod 2 in [0, 0]",
        "(d0, d1) -> (5), domain: d0 in [0, 3], d1 in [0, 3], 0 in [1, 1]",
    ]
    found = {reduce_map(parse_map(t), RULES).map for t in texts}
    assert found == {parse_map("(d0, d1) -> (0), domain: d0 in [0, -1], d1 in [0, -1]")}
    gone = {reduce_map(parse_map(t), RULES, unused_dims=True).map for t in texts}
    assert gone == {parse_map("() -> (0), domain: 0 in [1, 1]")}


# --------------------------------------------------------------------------------------------- deduplication
def shuffled(rng: random.Random, m: IndexingMap) -> IndexingMap:
    """The same map with other names and another order of ranges, runtime variables and constraints."""
    names = [v.name for v in m.variables]
    new = [f"v{k}" for k in range(len(names))]
    rng.shuffle(new)
    n = m.rename(dict(zip(names, new, strict=True)))
    parts = [list(n.ranges), list(n.rts), list(n.constraints)]
    for p in parts:
        rng.shuffle(p)
    return n.with_(ranges=tuple(parts[0]), rts=tuple(parts[1]), constraints=tuple(parts[2]))


@CHECK
@given(MAPS, st.integers(0, 2**30))
def test_canonical_forms_do_not_depend_on_names_or_order(m: IndexingMap, seed: int) -> None:
    form = canonical(m, RULES)
    assert canonical(shuffled(random.Random(seed), m), RULES) == form
    assert canonical(form.with_(), RULES) == form
    if not m.rts:
        assert form.relation() == m.relation()


#: Maps whose simplified form depends on names: which summand comes first, which sign a constraint has.
NAMES_MATTER = [
    "()[s0, s1] -> (s0 * 3 + s1), domain: s0 in [0, 1], s1 in [0, 4], s0 * 7 - s1 * 4 in [-5, 3]",
    "(){rt0, rt1} -> (0), domain: rt0 in [0, 4], rt1 in [-3, 4], rt1 - rt0 * 2 in [-3, 5]",
    "()[s0] -> (max(s0 * 5 + 2, s0 - 7) + s0, (min(s0, s0 * 5 + 12) + s0 floordiv -3 - s0 ceildiv -2) ceildiv -2),"
    " domain: s0 in [0, 3]",
    "(){rt0, rt1} -> (((rt0 * 6 + rt1 * 72) mod 48) floordiv 4 * 4 + (rt0 * 6 + rt1 * 72) mod 4),"
    " domain: rt0 in [0, 1], rt1 in [0, 7], rt1 - rt0 * 2 in [4, 4]",
]


@pytest.mark.parametrize("text", NAMES_MATTER)
def test_canonical_forms_and_names_that_decide_how_a_map_is_simplified(text: str) -> None:
    m = parse_map(text)
    form = canonical(m, RULES)
    assert canonical(form.with_(), RULES) == form
    others = [shuffled(random.Random(seed), m) for seed in range(12)]
    assert {canonical(n, RULES) for n in others} == {form}
    assert set(distinct([m, *others, simplify_map(m, RULES)], RULES).index) == {0}


def test_an_operand_that_is_read_twice() -> None:
    maps = [
        parse_map("(d0, d1)[s0] -> (d0, d1 * 4 + s0), domain: d0 in [0, 3], d1 in [0, 7], s0 in [0, 3]"),
        parse_map("(x, y)[k] -> (x, (y * 8 + k * 2) floordiv 2 + 0), domain: x in [0, 3], y in [0, 7], k in [0, 3]"),
        parse_map("(d0, d1)[s0] -> (d0, d1 * 4 - s0 + 3), domain: d0 in [0, 3], d1 in [0, 7], s0 in [0, 3]"),
        parse_map("(d0, d1)[s0, s1] -> (d0, d1 * 4 + s1 - 1), domain: d0 in [0, 3], d1 in [0, 7], s0 in [0, 9],"
            " s1 in [1, 4]"),
        parse_map("(d0, d1)[s0] -> (d1, d0 * 4 + s0), domain: d0 in [0, 3], d1 in [0, 7], s0 in [0, 3]"),
    ]  # fmt: skip
    found = distinct(maps, RULES)
    assert found.index == (0, 0, 0, 0, 1)
    assert found.maps == (simplify_map(maps[0], RULES), simplify_map(maps[4], RULES))
    assert all(m.relation() == maps[0].relation() for m in maps[:4])


def test_ranges_that_differ_in_what_they_do_are_told_apart() -> None:
    one = parse_map("()[s0, s1] -> (s0 floordiv 2 + s1 mod 2), domain: s0 in [0, 3], s1 in [0, 3]")
    two = parse_map("()[s0, s1] -> (s1 floordiv 2 + s0 mod 2), domain: s0 in [0, 3], s1 in [0, 3]")
    three = parse_map("()[s0, s1] -> (s0 floordiv 2 + s0 mod 2), domain: s0 in [0, 3], s1 in [0, 3]")
    assert canonical(one, RULES) == canonical(two, RULES)
    assert canonical(one, RULES) != canonical(three, RULES)


def test_facade() -> None:
    import indexproof

    m = parse_map(RESCALED.strip().split("\n", maxsplit=1)[0])
    assert indexproof.simplify(m) == simplify_map(m, RULES)
    assert indexproof.simplifier.reduce(m).map == reduce_map(m, RULES).map
    assert indexproof.simplifier.reduce(m, rescale=False).map == simplify_map(m, RULES)
    assert indexproof.simplifier.canonical(m) == canonical(m, RULES)
    assert indexproof.simplifier.distinct([m, m]).index == (0, 0)
    e = (d0 * 4 + d1) // 4
    assert indexproof.simplifier.simplify_expr(e, {"d0": (0, 9), "d1": (0, 3)}) is d0
    assert indexproof.simplifier.simplify_expr(e, {"d0": (0, 9)}) is d0 + d1 // 4
    assert indexproof.simplifier.simplify_expr((d0 - d1) // 8, {}, [(d0 - d1, 16, 23)]) is integer(2)
