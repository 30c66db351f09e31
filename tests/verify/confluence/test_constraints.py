"""Critical pairs of rules for constraints: overlaps, domains with two normal forms, and joins for all constants."""

from __future__ import annotations

import itertools
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from indexproof.core.condition import FALSE, TRUE, Condition, all_of
from indexproof.core.constraint_order import Bound
from indexproof.core.expr import Expr, Var, integer, maximum, minimum, var
from indexproof.core.rewrite import Bounded
from indexproof.reports.confluence import confluence_text, page
from indexproof.rules.catalog import RULES
from indexproof.verify.confluence import Kind, confluence, constraint_posed
from indexproof.verify.confluence.constraint_instances import (
    DomainExamination,
    domain_instances,
    smaller_domains,
)
from indexproof.verify.confluence.constraint_joining import (
    _Known,
    _Search,
    _without_extrema,
    join_constraints,
)
from indexproof.verify.confluence.constraint_overlap import ConstraintOverlap, constraint_overlaps
from indexproof.verify.confluence.constraint_pairs import decide_constraint_pair
from indexproof.verify.confluence.constraint_posed import Posed, Ranges, posed
from indexproof.verify.confluence.domains import NOWHERE, Domain, Domains
from indexproof.verify.confluence.ground import Exact
from indexproof.verify.confluence.joining import Known
from indexproof.verify.confluence.overlap import matched
from indexproof.verify.refute import failing_points

A, B = var("a"), var("b")


def points(d: Domain, boxes: tuple[tuple[object, tuple[int, int]], ...]) -> set[tuple[int, ...]]:
    """The points of the given boxes that a domain holds."""
    if d is NOWHERE:
        return set()
    mine = dict(d.boxes)
    found = set()
    for at in itertools.product(*(range(lo, hi + 1) for _, (lo, hi) in boxes)):
        env = dict(zip((v for v, _ in boxes), at, strict=True))
        inside = all(lo <= env[v] <= hi for v, (lo, hi) in mine.items())
        if inside and all(lo <= e.evaluate(env) <= hi for e, lo, hi in d.constraints):
            found.add(at)
    return found


# ------------------------------------------------------------------------------------------------------- planted sets
def test_two_rules_that_join_do_so_for_all_constants(planted: ModuleType) -> None:
    run = confluence(planted.JOINING_CONSTRAINTS, jobs=1)
    assert run.exit_status == 0
    (pair,) = (p for p in run.pairs if p.kind is Kind.JOINABLE)
    assert pair.tried
    assert pair.tried == pair.joined
    assert "m′ - 1" in pair.meets
    assert not pair.chosen


@pytest.mark.parametrize(
    ("name", "forms"),
    [
        ("WRONG_CONSTRAINTS", ("a mod 2 ∈ [0, 0]", "a mod 2 ∈ [1, 0]")),
        ("APART_CONSTRAINTS", ("a mod 2 ∈ [0, 0]", "a mod 2 ∈ [-2, 0]")),
        ("HALF_HEALED_CONSTRAINTS", ("a mod 2 ∈ [0, 0]", "a mod 2 ∈ [-2, 0]")),
    ],
)
def test_two_rules_that_do_not_are_found_with_the_smallest_domain(
    planted: ModuleType, name: str, forms: tuple[str, str]
) -> None:
    run = confluence(getattr(planted, name), jobs=1)
    (pair,) = (p for p in run.pairs if p.kind is Kind.NOT_JOINABLE)
    assert run.exit_status == 1
    assert (pair.witness, pair.domain, pair.forms) == ("a mod 2 ∈ [-1, 0]", "a ∈ [0, 1]", forms)
    assert (pair.first[0][0], pair.second[0][0]) == (pair.outer, pair.inner)
    text = "\n".join(confluence_text(run, seconds=0))
    assert f"take     {pair.witness}   where a ∈ [0, 1]" in text


def test_one_rule_more_heals_them(planted: ModuleType) -> None:
    assert confluence(planted.HEALED_CONSTRAINTS, jobs=1).exit_status == 0


def _middle(rules: tuple[object, ...]) -> tuple[Posed, ...]:
    o = next(o for o in constraint_overlaps(rules) if o.outer is rules[0] and o.inner is rules[1])  # type: ignore[arg-type]
    return tuple(posed(o))


def test_all_cases_must_join(planted: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a rule joins where its condition holds is no join: the other case is missing."""
    rules = planted.HALF_HEALED_CONSTRAINTS
    (p,) = _middle(rules)
    assert join_constraints(p, rules) is None
    (healed,) = _middle(planted.HEALED_CONSTRAINTS)
    assert join_constraints(healed, planted.HEALED_CONSTRAINTS)
    real = _Search.cases

    def forgetful(self: _Search, given: tuple[Condition, ...], *more: object) -> object:
        if len(given) > len(p.given) and given[-1] == ~(var("hi′", "const") > 100):
            return []
        return real(self, given, *more)  # type: ignore[arg-type]

    monkeypatch.setattr(_Search, "cases", forgetful)
    assert join_constraints(p, rules)


def test_a_step_needs_its_conditions(planted: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    """If everything were implied, the half-healed pair would join."""
    rules = planted.HALF_HEALED_CONSTRAINTS
    (p,) = _middle(rules)
    monkeypatch.setattr(Known, "implies", lambda self, goal: True)
    assert join_constraints(p, rules)


def test_rules_for_two_constraints_meet_in_one_or_both(planted: ModuleType) -> None:
    found = [o for o in constraint_overlaps(planted.SHARING_CONSTRAINTS) if o.outer is not o.inner]
    assert {o.shared for o in found} == {
        ((0, 0),),
        ((0, 1),),
        ((1, 0),),
        ((1, 1),),
        ((0, 0), (1, 1)),
        ((0, 1), (1, 0)),
    }
    assert {len(o.start) for o in found} == {2, 3}
    domains = Domains(planted.SHARING_CONSTRAINTS)
    shared = next(o for o in found if o.shared == ((1, 1),))
    witness = DomainExamination(shared, posed(shared), domains).until().witness
    assert witness is not None
    one, two = witness.left[-1].after, witness.right[-1].after
    assert one != two
    assert not domains.moves(one)
    assert not domains.moves(two)
    boxes = witness.instance.boxes
    assert points(one, boxes) == points(two, boxes) == points(witness.instance, boxes)


# ----------------------------------------------------------------------------------------------------------- overlaps
def test_both_results_of_an_overlap_hold_where_its_constraints_do(
    overlaps_with_constraints: dict[str, ConstraintOverlap],
) -> None:
    """At points where all conditions hold the three sides are equivalent."""
    compared = 0
    for o in list(overlaps_with_constraints.values())[::23]:
        known = Known(o.hypotheses, o.variables)
        if not len(known.points):
            continue
        start, first, second = (all_of(b.condition() for b in side) for side in (o.start, o.first, o.second))
        if o.at is None or not o.inner.choose:
            for side in (first, second):
                same = (start & side) | (~start & ~side)
                compared += len(known.points)
                assert not len(failing_points(known.points, known.names, (), same)), o.statement()
    assert compared > 500


def test_overlaps_are_counted_once() -> None:
    found = list(constraint_overlaps(RULES.constraints))
    assert len({o.name for o in found}) == len(found)
    pairs = {(o.outer.name, o.inner.name) for o in found}
    assert all((b, a) not in pairs for a, b in pairs if a != b)
    assert all(FALSE not in o.hypotheses for o in found)
    some = list(constraint_overlaps(RULES.constraints, (), ["bounds_meet_range"]))
    assert {o.name for o in some} == {
        o.name for o in found if "bounds_meet_range" in (o.outer.name, o.inner.name)
    }


# ------------------------------------------------------------------------------------------------------------ domains
@pytest.mark.parametrize(
    ("boxes", "constraints"),
    [
        ({A: (0, 9)}, [(A % 4, 1, 1), (A % 6, 3, 3)]),
        ({A: (0, 7), B: (0, 3)}, [(minimum(A, B), 1, 9), (A * 2 + B * 4, 1, 9)]),
        ({A: (0, 7), B: (0, 3)}, [(A + B, 2, 9), (A % 4, 1, 1)]),
        ({A: (0, 5)}, [(A % 4, 1, 1), (A % 2, 0, 0)]),
        ({A: (-3, 3)}, [(A * -3 + 1, -2, 8), (A, 0, 2)]),
    ],
    ids=str,
)
def test_rewriting_keeps_the_points_of_a_domain(
    boxes: dict[Expr, tuple[int, int]], constraints: list[Bound]
) -> None:
    domains = Domains(RULES.constraints, matched(RULES.rules))
    start = Domain.of(boxes, constraints)  # type: ignore[arg-type]
    inside = points(start, start.boxes)
    for form in domains.normal_forms(start):
        assert not domains.moves(form)
        assert points(form, start.boxes) == inside
    for move in domains.moves(start):
        assert points(move.after, start.boxes) == inside


def test_the_empty_domain_is_one() -> None:
    assert Domain.of({A: (1, 0)}, []) is NOWHERE
    assert Domain.of({A: (0, 1)}, [(integer(0), 1, 1)]) is NOWHERE
    assert Domain.of({A: (0, 1)}, [(A, 0, 0), (A, 0, 0)]) == Domain.of({A: (0, 1)}, [(A, 0, 0)])


def test_instances_of_an_overlap_come_smallest_first_and_fit_it(
    overlaps_with_constraints: dict[str, ConstraintOverlap],
) -> None:
    o = overlaps_with_constraints["implied_remainder_vanishes / remainder_tightens_bounds at 2=2 #1"]
    found = domain_instances(posed(o))
    assert [f.domain.rank for f in found] == sorted(f.domain.rank for f in found)
    assert any(len(f.domain.constraints) == len(o.start) for f in found)


# ------------------------------------------------------------------------------------------------------- the catalogue
@pytest.mark.parametrize(
    "name",
    [
        "positive_factor_divides_bounds / bounds_meet_range #1",
        "positive_divisor_scales_bounds / bounds_meet_range #1",
        "summand_moves_into_bounds / bounds_meet_range #1",
        "minimum_from_below / bounds_meet_range #1",
        "positive_divisor_scales_bounds / sum_bounds_summand at 1=2 #1",
        # a variable that has no constant, and one that is turned round
        "positive_factor_divides_bounds / sum_bounds_summand at 1=1 #1",
        # a factor below zero, written as the negative of one above
        "negative_factor_exchanges_bounds / sum_bounds_negative_summand at 1=1 #1",
        # a rule for expressions joins two of constraints
        "positive_divisor_scales_bounds / sum_bounds_dividend at 1=2 #1",
        # only what both bounds are worth is the same
        "same_expression_intersects / remainder_tightens_bounds at 1=1 #1",
    ],
)
def test_a_pair_of_the_catalogue_joins_in_every_case(
    name: str, overlaps_with_constraints: dict[str, ConstraintOverlap]
) -> None:
    """Every step keeps what holds, at points where the conditions of its case hold."""
    compared = 0
    for p in posed(overlaps_with_constraints[name]):
        joins = join_constraints(p, RULES.constraints, matched(RULES.rules))
        assert joins
        for j in joins:
            assert p.ranges is not None
            sides = [(p.first, j.left), (p.second, j.right)]
            for side, steps in sides:
                for before, after in itertools.pairwise((side, *(s.after for s in steps))):
                    names = [v for b in (*before, *after) for e in (b.e, b.lo, b.hi) for v in e.variables()]
                    search = _Search(p.overlap, p.ranges, (), (), 0)
                    known = _Known((*j.given, *p.ranges.facts), tuple(dict.fromkeys(names)), search)
                    one, two = (_held(known, s) for s in (before, after))
                    compared += len(known.points)
                    assert np.array_equal(one, two), (name, steps)
    assert compared > 50


def _held(known: Known, side: tuple[Bounded, ...]) -> np.ndarray:
    """At which points of the sample constraints hold."""
    whole = all_of(b.condition() for b in side)
    failing = failing_points(known.points, known.names, (), whole)
    bad = {tuple(row) for row in failing.tolist()}
    return np.array([tuple(row) not in bad for row in known.points.tolist()])


def test_what_strategies_propose_excludes_pairs(
    overlaps_with_constraints: dict[str, ConstraintOverlap],
) -> None:
    """A sum with a constant has no factor taken out, and a quotient is no sum."""
    for name in (
        "summand_moves_into_bounds / positive_divisor_scales_bounds #1",
        "positive_factor_divides_bounds / minimum_from_below #1",
    ):
        assert all(p.never for p in posed(overlaps_with_constraints[name])), name


def test_a_pair_that_is_written_more_simply_is_the_same_pair(
    monkeypatch: pytest.MonkeyPatch, overlaps_with_constraints: dict[str, ConstraintOverlap]
) -> None:
    """A variable becomes itself and a constant, or its negative; a constant the negative of one above zero."""
    met: dict[str, int] = {}
    for name in ("_turned", "_without_constant", "_positive"):
        real = getattr(constraint_posed, name)

        def seen(o: ConstraintOverlap, *given: Any, name: str = name, real: Any = real) -> dict[Any, Expr]:
            found: dict[Any, Expr] = real(o, *given)
            for v, e in found.items():
                met[name] = met.get(name, 0) + 1
                if name == "_without_constant":
                    assert all(w.kind == "const" for w in (e - v).variables()), (o.name, str(v), str(e))
                elif name == "_turned":
                    assert e is -v, (o.name, str(v), str(e))
                else:
                    (w,) = e.variables()
                    assert e is -w, (o.name, str(v), str(e))
                    known = Known(given[0], o.variables)
                    assert not known.refutes(v < 0), (o.name, str(v))
            return found

        monkeypatch.setattr(constraint_posed, name, seen)
    for o in list(overlaps_with_constraints.values())[:600:3]:
        for p in posed(o):
            if not p.never:
                assert p.ranges is not None
                search = _Search(p.overlap, p.ranges, (), (), 0)
                known = _Known((*p.given, *p.ranges.facts), p.overlap.variables, search)
                one, two = (_held(known, side) for side in (p.first, p.second))
                assert np.array_equal(one, two), o.name
    assert min(met.values()) > 1, met
    assert len(met) == 3


@pytest.mark.parametrize(
    "name",
    [
        # what is one of the summands is no sum itself
        "sum_bounds_summand / sum_bounds_summand at 1=2 #1",
        # a domain has every constraint once
        "same_expression_intersects / remainders_merge at 1=1 and 2=2 #1",
        # two remainders that agree do not contradict each other
        "implied_remainder_vanishes / remainders_contradict at 1=1 and 2=2 #1",
    ],
)
def test_no_domain_has_what_both_rules_want(
    name: str, overlaps_with_constraints: dict[str, ConstraintOverlap]
) -> None:
    pair = decide_constraint_pair(overlaps_with_constraints[name], RULES.rules, RULES.constraints, {})
    assert pair.kind is Kind.CONTRADICTORY, pair.reason


def test_bounds_are_chosen_by_what_both_rules_ask(
    overlaps_with_constraints: dict[str, ConstraintOverlap],
) -> None:
    """Of the domains of a pair more than half are rewritten by both rules, and one has two normal forms."""
    o = overlaps_with_constraints["positive_factor_divides_bounds / window_lowers_upper_bound at 1=2 #1"]
    domains = Domains(RULES.constraints, matched(RULES.rules))
    examination = DomainExamination(o, posed(o), domains)
    found = examination.until()
    assert found.tried * 2 > len(examination.trial.seen)
    assert found.witness is not None
    one, two = found.witness.forms
    boxes = found.witness.instance.boxes
    assert not domains.moves(one)
    assert not domains.moves(two)
    assert one != two
    assert points(one, boxes) == points(two, boxes) == points(found.witness.instance, boxes)


def test_the_page_has_a_part_on_constraints(planted: ModuleType) -> None:
    run = confluence(planted.APART_CONSTRAINTS, jobs=1)
    text = page(run, planted.APART_CONSTRAINTS)
    assert "3 critical pairs of 2 rules for constraints" in text
    assert "| `a mod 2 ∈ [-1, 0]` | a ∈ [0, 1] | `a mod 2 ∈ [0, 0]` and `a mod 2 ∈ [-2, 0]` |" in text


# ---------------------------------------------------------------------------------------------- domains that are drawn
@pytest.mark.parametrize("name", ["residue_is_rescaled / remainders_contradict at 1=1 #1"])
def test_domains_that_are_drawn_show_two_normal_forms(
    name: str, overlaps_with_constraints: dict[str, ConstraintOverlap]
) -> None:
    o = overlaps_with_constraints[name]
    domains = Domains(RULES.constraints, matched(RULES.rules))
    examination = DomainExamination(o, [p for p in posed(o) if not p.never], domains)
    assert examination.until(20).witness is None
    witness = examination.wide().witness
    assert witness is not None
    left, right = witness.left[-1].after, witness.right[-1].after
    assert left != right
    assert not domains.moves(left)
    assert not domains.moves(right)
    boxes = witness.instance.boxes
    for form in (left, right):
        assert points(form, boxes) == points(witness.instance, boxes)


def test_smaller_domains_are_of_the_same_kind() -> None:
    constraints: list[Bound] = [((A * 6 + B + 2) % 12, 1, 5), (maximum(A, B) // 4, 0, 2)]
    d = Domain.of({A: (-3, 12), B: (0, 5)}, constraints)
    found = list(smaller_domains(d))
    assert any(len(e.boxes) < len(d.boxes) for e in found)
    assert any(e.boxes == d.boxes and e.constraints != d.constraints for e in found)
    assert any(e.constraints == d.constraints and e.boxes != d.boxes for e in found)
    assert sum(e.rank < d.rank for e in found) > 20


# ------------------------------------------------------------------------------------------------------ ends of sums
def test_ends_of_a_sum_and_of_its_parts_are_related_as_stated() -> None:
    """For expressions on boxes, with the least and greatest values that they have there."""
    x, r, k = var("x", "expr"), var("r", "rest"), var("k", "const")
    facts = Exact({A: (-3, 5), B: (0, 4)})
    some = (A, A // 2 - B, A * 2 % 5, minimum(A, B), 3 - A, A + B)
    held = 0
    for sign, numbers in ((k > 0, (1, 3)), (k < 0, (-1, -4))):
        ranges = Ranges(frozenset((sign,)))
        for e in (x * k + r, x, r):
            ranges.of(e)
        found = ranges.relations()
        assert len(found) == 6
        for n, p, q in itertools.product(numbers, some, some):
            at: dict[Var, Expr] = {x: p, r: q, k: integer(n)}
            ends: dict[Var, Expr] = {}
            for e, lo, hi in ranges.symbols():
                interval = facts.range(e.substitute(at)).interval
                ends |= {lo: integer(int(interval.lo)), hi: integer(int(interval.hi))}
            for c in found:
                assert c.substitute({**ends, k: integer(n)}) == TRUE, (c, p, q, n)
                held += 1
    assert held > 800


def test_a_relation_of_ends_that_does_not_hold_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """A sum reaches the sum of the least values only where both are least at once."""
    right = Ranges.relations
    monkeypatch.setattr(Ranges, "relations", lambda self: [c.b <= c.a for c in right(self)][:6])  # type: ignore[attr-defined]
    with pytest.raises(AssertionError):
        test_ends_of_a_sum_and_of_its_parts_are_related_as_stated()


def test_a_condition_without_maxima_says_the_same() -> None:
    a, b, c, d = (var(n, "const") for n in "abcd")
    for condition in (
        maximum(a, b) <= minimum(c, d),
        maximum(a, b) < c,
        a.within(maximum(b, c), minimum(c, d)),
        (maximum(a, b) <= c) & (d < minimum(a, b)),
        minimum(a, b) <= c,
    ):
        parts = _without_extrema(condition)
        for p in itertools.product(range(3), repeat=4):
            at = dict(zip("abcd", p, strict=True))
            assert condition.evaluate(at) == all(part.evaluate(at) for part in parts)
    assert len(_without_extrema(maximum(a, b) <= minimum(c, d))) == 4
