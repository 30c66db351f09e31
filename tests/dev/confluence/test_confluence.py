"""The search for results that depend on the order of rules."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from random import Random

import pytest

from dev.confluence import Found, OverlapSearch, examine, pairs_of
from dev.confluence.instances import AnyRule, Miss, instance, overlap
from dev.confluence.search import _work
from indexproof.core.expr import Expr, Var
from indexproof.core.facts import Facts
from indexproof.core.indexing_map import IndexingMap
from indexproof.core.kernel.generate import engine_of
from indexproof.core.rewrite import Const, Rewrite, Rule, RuleSet, rule
from indexproof.core.simplify_map import simplify_map
from indexproof.rules.catalog import RULES
from indexproof.rules.simplifier import simplify
from indexproof.verify.pool import each

CATALOGUE = list({r.name: r for pair in pairs_of() for r in pair}.values())


def named(name: str) -> Rule:
    found = RULES[name]
    assert isinstance(found, Rule)
    return found


@rule()
def nested(x: Expr, a: Const, b: Const) -> Rewrite:
    """Dividing twice is dividing by the product."""
    return Rewrite((x // a) // b, x // (a * b), when=(b > 0,))


@rule()
def whole(x: Expr, c: Const) -> Rewrite:
    """A multiple of the divisor has no remainder."""
    return Rewrite((x * c) // c, x, when=(c > 1,))


@rule()
def off_by_one(x: Expr, d: Const) -> Rewrite:
    """A false rule: the remainder becomes one larger."""
    return Rewrite(x % d, x % d + 1, when=(d > 1,))


def by_rules(*rules: Rule) -> Callable[..., IndexingMap]:
    """Return a simplifier with these rules only."""
    known = RuleSet("planted", rules, engine=engine_of(rules))  # type: ignore[arg-type]
    return lambda m, *, quick=False: simplify_map(m, known, quick=quick)


def test_planted_rules_that_are_not_confluent_are_found() -> None:
    found = examine(nested, whole, simplify=by_rules(nested, whole))
    assert found.verdict == "ORDER MATTERS"
    example = found.example
    assert example is not None
    assert example.way == "nested first"
    assert example.results[0] != example.results[1]
    assert found.counts["rewritten"][Found.COST] >= 1
    # overlaps of one of the rules with itself cause no differences
    whole_alone = examine(whole, whole, simplify=by_rules(nested, whole))
    assert whole_alone.verdict.startswith("none found (")
    assert whole_alone.instances > 0


def test_a_planted_dependence_on_the_order_of_results_is_found() -> None:
    def first_only(m: IndexingMap, *, quick: bool = False) -> IndexingMap:
        """Simplify the first result alone."""
        done = simplify(m.with_(results=m.results[:1]), quick=quick)
        return done.with_(results=(*done.results, *m.results[1:]))

    found = examine(named("quotient_of_quotient"), named("multiple_leaves_quotient"), simplify=first_only)
    assert "reordered" in found.counts
    assert found.examples["reordered"].way == "other order"


def test_a_planted_dependence_on_names_is_found() -> None:
    def shy(m: IndexingMap, *, quick: bool = False) -> IndexingMap:
        """Leave a map with a variable called `a` unchanged."""
        return m if any(v.name == "a" for v in m.dims) else simplify(m, quick=quick)

    found = examine(named("quotient_by_one"), named("quotient_of_quotient"), simplify=shy)
    assert "renamed" in found.counts
    assert found.examples["renamed"].way == "other names"


@pytest.mark.parametrize("order", [(off_by_one, named("inner_remainder_vanishes")), (off_by_one, off_by_one)])
def test_a_wrong_claim_is_wrong_and_no_matter_of_order(order: tuple[Rule, Rule]) -> None:
    found = examine(*order)
    assert found.verdict == "WRONG"
    assert OverlapSearch(12, 1, [found]).verdict == "WRONG"
    assert OverlapSearch(12, 1, [found]).exit_status == 1


def test_a_wrong_simplifier_is_wrong() -> None:
    def off(m: IndexingMap, *, quick: bool = False) -> IndexingMap:
        done = simplify(m, quick=quick)
        return done.with_(results=[e + 1 for e in done.results]) if quick else done

    found = examine(named("min_keeps_smaller"), named("min_keeps_smaller"), 2, simplify=off)
    assert found.verdict == "WRONG"
    assert found.example is not None
    assert found.example.quick


def test_nothing_that_was_not_examined_counts_as_examined() -> None:
    nothing = examine(named("min_keeps_smaller"), named("remainder_by_one"))
    assert (nothing.instances, nothing.verdict) == (0, "no instance")
    assert OverlapSearch(12, 1, [nothing]).verdict == "NOT CHECKED"
    assert OverlapSearch(12, 1, [nothing]).exit_status == 2
    clean = replace(nothing, instances=3)
    assert clean.verdict == "none found (3 instances)"
    assert OverlapSearch(12, 1, [clean]).exit_status == 0
    assert OverlapSearch(12, 2, [clean], interrupted=True).verdict == "NOT CHECKED"


def test_the_same_in_another_process() -> None:
    """A search in another process, with another hash order, has the same result."""
    among = ("quotient_of_remainder",)
    number = [b.name for _, b in pairs_of(among=among)].index("inner_remainder_vanishes")
    here = _work((number,), among, 4)
    assert here[0][1].instances
    ((_, there),) = each(partial(_work, among=among, count=4), [(number,)], 1)
    assert there == here
    a, b = pairs_of(among=among)[number]
    assert examine(a, b, 4) == here[0][1]


def test_a_pair_is_examined_alike_alone_and_in_the_catalogue() -> None:
    everything = pairs_of()
    assert len(everything) == len(CATALOGUE) * (len(CATALOGUE) + 1) // 2
    some = pairs_of(among=["min_shifts"])
    assert len(some) == len(CATALOGUE)
    assert set(some) <= set(everything)


@pytest.mark.parametrize("r", CATALOGUE, ids=lambda r: r.name)
def test_every_rule_has_instances(r: AnyRule) -> None:
    """Every rule has instances without pattern variables that satisfy all its conditions."""
    found = [i for number in range(3) if (i := instance(r, number)) is not None]
    assert found
    for values, world in found:
        assert set(values) == set(r.variables)
        assert not any(isinstance(v, Var) and v.kind for e in values.values() for v in e.variables())
        assert all(Facts(world.boxes).holds(c.substitute(values)) for c in r.conditions)


def test_overlaps_are_one_map_written_in_three_ways() -> None:
    for outer, inner in (
        ("quotient_of_quotient", "quotient_of_remainder"),
        ("digits_recombine", "remainder_subtracts_to_quotient"),
        ("sum_bounds_summand", "same_expression_intersects"),
        ("residue_is_rescaled", "inner_remainder_vanishes"),
    ):
        made = 0
        for number in range(60):
            try:
                at = overlap(RULES[outer], RULES[inner], Random(number))
            except Miss:
                continue
            made += 1
            assert at.start not in (at.first, at.second)
            rng = Random(0)
            for _ in range(40):
                point = [rng.randint(v.lo, v.hi) for v in at.start.dims]
                here = at.start.evaluate(point)
                assert at.first.evaluate(point) == here, (outer, inner, number)
                assert at.second.evaluate(point) == here, (outer, inner, number)
        assert made > 2, (outer, inner)
