"""Laws of map transforms are proved, production code computes what they state, and instances are proved equal."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import pytest

from indexproof.core.expr import Expr, lift, var
from indexproof.core.indexing_map import IndexingMap
from indexproof.core.text import parse_map
from indexproof.core.transform import (
    Reduced,
    eliminate_ranges,
    merge_runtime,
    ranges_to_dims,
    reduce_map,
    remove_unused,
    rescale_ranges,
    reset_ranges,
)
from indexproof.reports.selection import catalogue
from indexproof.rules.catalog import RULES
from indexproof.rules.transforms import TRANSFORM_LAWS, TransformLaw
from indexproof.verify.concrete import equal_maps
from indexproof.verify.solve import decide
from indexproof.verify.transforms import transform_obligations
from indexproof.verify.verdict import Status

LAWS = {law.name: law for law in TRANSFORM_LAWS}


@pytest.mark.parametrize("law", TRANSFORM_LAWS, ids=lambda law: law.name)
def test_every_law_is_proved(law: TransformLaw) -> None:
    owed = list(transform_obligations(law))
    assert [o.kind for o in owed] == ["into", "back", "defined", "not vacuous"]
    assert not [o.kind for o in owed if not decide(o).proved]


def test_the_catalogue_has_them() -> None:
    assert {o.subject for o in catalogue(["transforms"])} == set(LAWS)
    assert len({o.name for o in catalogue(["transforms"])}) == 4 * len(LAWS)


def test_production_code_computes_the_law() -> None:
    computed = [law for law in TRANSFORM_LAWS if law.compute is not None]
    assert computed
    for law in computed:
        assert law.compute is not None
        ((_, lo, hi),) = law.new
        for values in product(*[range(-3, 5)] * len(law.parameters)):
            env: dict[Expr, int] = dict(zip(law.parameters, values, strict=True))
            if all(c.evaluate(env) for c in law.when):
                expected = lift(lo).evaluate(env), lift(hi).evaluate(env)
                assert law.compute(*values) == expected, (law.name, values)


#: For each transform a map to apply it to.
INSTANCES = {
    "unused_variable_leaves": (lambda m: remove_unused(m, dims=True),
        "(d0, d1)[s0]{rt0} -> (d1), domain: d0 in [2, 9], d1 in [0, 9], s0 in [-3, 4], rt0 in [0, 7]"),
    "same_element_has_one_value": (merge_runtime, "(d0){rt0, rt1} -> (rt0 * 4 + rt1), domain: d0 in [0, 3]\n"
        "rt0 in [0, 3]\n hlo: a\n (d0) -> (d0)\nrt1 in [0, 3]\n hlo: a\n (d0) -> (d0)"),
    "range_rescales": (rescale_ranges,
        "(d0)[s0] -> (s0 floordiv 4 + d0, s0 mod 5), domain: d0 in [0, 5], s0 in [-7, 40], (2 - s0) mod 6 in [1, 1]"),
    "range_starts_at_zero": (reset_ranges, "(d0)[s0] -> (d0 + s0 mod 3), domain: d0 in [0, 5], s0 in [-2, 4]"),
    "range_turns_round": (reset_ranges, "(d0)[s0] -> (d0 - s0), domain: d0 in [0, 5], s0 in [0, 4]"),
    "equation_gives_range": (eliminate_ranges,
        "(d0)[s0] -> (s0 mod 3, s0), domain: d0 in [0, 5], s0 in [2, 30], d0 * 2 - s0 in [-3, -3]"),
    "range_becomes_dimension": (ranges_to_dims, "(d0)[s0] -> (d0 + s0), domain: d0 in [0, 5], s0 in [0, 4]"),
}  # fmt: skip


@pytest.mark.parametrize("name", INSTANCES)
def test_an_instance_is_proved_equal(name: str) -> None:
    transform, text = INSTANCES[name]
    r = transform(parse_map(text))
    assert name in [s.why for s in r.steps]
    assert equal_maps(r.before, r.restored(), confirm=True).proved


@pytest.mark.parametrize("name", INSTANCES)
def test_a_wrong_instance_is_refuted(name: str) -> None:
    """A record whose box is too long by one, or whose map has a result off by one, is refuted."""
    transform, text = INSTANCES[name]
    r = transform(parse_map(text))
    for wrong in _mutants(r):
        answer = equal_maps(wrong.before, wrong.restored())
        assert answer.verdict is Status.REFUTED, (wrong.map, wrong.restored())
        assert answer.counterexample is not None


def _mutants(r: Reduced) -> list[Reduced]:
    m = r.map
    found = [replace(r, map=m.with_(results=(m.results[0] + 1, *m.results[1:])))]
    if m.dims:
        last = m.dims[-1]
        found.append(replace(r, map=m.with_(dims=(*m.dims[:-1], last.boxed(last.lo, last.hi + 1)))))
    return found


def test_composition_is_an_instance_of_its_law() -> None:
    """Composition keeps the inner map; its dimensions become ranges that constraints equate with the outer results."""
    outer = parse_map("(d0)[s0] -> (d0 * 2 + s0, d0), domain: d0 in [0, 9], s0 in [0, 3]")
    inner = parse_map(
        "(a, b)[s0] -> (a + b + s0 mod 3, s0), domain: a in [2, 12], b in [1, 30], s0 in [0, 2], a - b in [0, 9]"
    )
    h = outer.compose(inner)
    a, b = var("m0"), var("m1")
    moved = inner.rename({"a": "m0", "b": "m1", "s0": "s1"})
    spelled = IndexingMap.of(
        outer.dims,
        [*outer.ranges, *moved.dims, *moved.ranges],
        results=moved.results,
        constraints=[*moved.constraints, (a - outer.results[0], 0, 0), (b - outer.results[1], 0, 0)],
    )
    assert equal_maps(h, spelled, confirm=True).proved
    assert equal_maps(h, eliminate_ranges(spelled).then(eliminate_ranges).map).proved
    assert equal_maps(h.with_(constraints=h.constraints[1:]), spelled).verdict is Status.REFUTED


def test_everything_at_once() -> None:
    m = parse_map(
        "(d0, d1, d2)[s0, s1, s2]{rt0, rt1} -> ((d0 * 8 + s1) floordiv 4, s2 + rt1), "
        "domain: d0 in [0, 3], d1 in [0, 4], d2 in [2, 2], s0 in [0, 9], s1 in [0, 7], s2 in [0, 40], "
        "rt0 in [0, 3], rt1 in [0, 5], s1 mod 4 in [0, 0], s2 - d0 in [0, 0]"
    )
    r = reduce_map(m, RULES, unused_dims=True, to_dims=True)
    assert repr(r.map) == "(d0, d1){rt0} -> (d0 * 2 + d1, d0 + rt0), domain: d0 in [0, 3], d1 in [0, 1], rt0 in [0, 5]"
    assert equal_maps(r.before, r.restored(), confirm=True).proved
