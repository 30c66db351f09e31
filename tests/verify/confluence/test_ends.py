"""Pairs that join because of what both sides end in: bounds that only get narrower, and sets of remainders."""

from __future__ import annotations

import itertools
import random
from types import ModuleType

import pytest

from indexproof.core.constraint_choose import CONSTRAINT_STRATEGIES
from indexproof.core.expr import Expr, maximum, minimum, var
from indexproof.rules.catalog import RULES
from indexproof.verify.confluence import Kind, tightening
from indexproof.verify.confluence.constraint_overlap import ConstraintOverlap, constraint_overlaps
from indexproof.verify.confluence.constraint_pairs import decide_constraint_pair
from indexproof.verify.confluence.constraint_posed import Posed, posed
from indexproof.verify.confluence.domains import Domain, Domains
from indexproof.verify.confluence.remainders import (
    CONTRADICTORY,
    JOINED,
    by_remainders,
    moduli_divide,
    same_solutions,
)
from indexproof.verify.confluence.tightening import facts_of, joined_by_tightening, monotone, narrows
from indexproof.verify.solve import Budget, valid
from indexproof.verify.verdict import Status

A, B = var("a"), var("b")
#: The rules of the catalogue that only make bounds narrower.
NARROWING = {
    "bounds_meet_range",
    "same_expression_intersects",
    "remainder_tightens_bounds",
    "window_raises_lower_bound",
    "window_lowers_upper_bound",
    "sum_bounds_summand",
    "sum_bounds_negative_summand",
    "sum_bounds_dividend",
    "sum_bounds_negative_dividend",
}


# ------------------------------------------------------------------------------------------------------ narrower bounds
def test_the_rules_that_narrow_bounds_are_monotone() -> None:
    assert {r.name for r in RULES.constraints if narrows(r)} == NARROWING
    for r in RULES.constraints:
        assert monotone(r) == (r.name in NARROWING), r.name
        assert bool(facts_of(r)) == (r.name in NARROWING), r.name


def test_a_rule_that_is_not_monotone_is_refuted(planted: ModuleType) -> None:
    """It raises a lower bound only of a wide range: of a narrower one it leaves more."""
    contracts, both, wider = facts_of(planted.wide_ranges_are_raised)
    assert valid(contracts, Budget()).proved
    assert valid(both, Budget()).proved
    assert valid(wider, Budget()).status is Status.REFUTED
    assert not monotone(planted.wide_ranges_are_raised)
    assert monotone(planted.ranges_are_lowered)


def test_a_rule_that_does_not_contract_is_refuted(planted: ModuleType) -> None:
    assert narrows(planted.ranges_grow)
    assert valid(facts_of(planted.ranges_grow)[0], Budget()).status is Status.REFUTED
    assert not monotone(planted.ranges_grow)


def test_rules_that_are_not_monotone_do_not_join_by_that(
    planted: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without the proof a pair that has two normal forms would be said to join."""
    rules = planted.HASTY_CONSTRAINTS
    o = next(
        o for o in constraint_overlaps(rules[:2]) if o.outer is not o.inner and o.shared == ((0, 0), (1, 1))
    )
    assert decide_constraint_pair(o, (), rules, {}).kind is Kind.NOT_JOINABLE
    assert not joined_by_tightening(o, rules)
    monkeypatch.setattr(tightening, "monotone", lambda rule: True)
    assert joined_by_tightening(o, rules)
    for n in range(2, len(rules)):
        assert not joined_by_tightening(o, rules[:n] + rules[n + 1 :]), rules[n].name


_SUMS: tuple[Expr, ...] = (A + B * 2, A // 2 + B, B - A * 3, A - A // 3 + B, maximum(A, B) + minimum(A, 2))


@pytest.mark.parametrize("seed", range(24))
def test_rules_that_narrow_bounds_have_one_end(seed: int) -> None:
    """In whatever order they are applied."""
    needed = [
        r for r in RULES.constraints if r.name in NARROWING or r.name == "impossible_constraint_is_false"
    ]
    domains = Domains(needed)
    whole = _SUMS[seed % len(_SUMS)]
    lo = seed % 7 - 3
    bounds = [(whole, lo, lo + 4), (whole % 4, seed % 3, 2), (A, 1, 6), (A % 3, seed % 3, seed % 3)]
    start = Domain.of({A: (0, 9), B: (-2, 5)}, bounds[seed % 2 :])
    ends = set()
    for order in range(8):
        draw = random.Random(order)
        at = start
        while moves := domains.moves(at):
            at = moves[draw.randrange(len(moves))].after
        # what says the same as the box is satisfied, and vanishes
        ends.add((at.boxes, tuple(c for c in at.constraints if dict(at.boxes).get(c[0]) != c[1:])))
    assert len(ends) == 1, start


def test_every_pair_of_rules_that_narrow_bounds_is_said_to_join(
    overlaps_with_constraints: dict[str, ConstraintOverlap],
) -> None:
    for o in overlaps_with_constraints.values():
        assert joined_by_tightening(o, RULES.constraints) == ({o.outer.name, o.inner.name} <= NARROWING), (
            o.name
        )


# ---------------------------------------------------------------------------------------------------------- remainders
def test_what_the_argument_about_remainders_needs_is_proved() -> None:
    assert valid(moduli_divide(), Budget()).proved
    assert valid(same_solutions(), Budget()).proved


def test_two_remainders_are_merged_or_contradict_each_other() -> None:
    """Of moduli above zero and remainders in range one of both strategies proposes something, and of others the second
    where there are no solutions."""
    merge = CONSTRAINT_STRATEGIES["common_multiple"]
    divide = CONSTRAINT_STRATEGIES["greatest_common_divisor"]

    def ends(e: Expr) -> tuple[int, int]:
        raise AssertionError(e)

    for m, n in itertools.product([-6, -4, -3, -1, 1, 2, 3, 4, 6, 9], repeat=2):
        for s, t in itertools.product(range(min(m + 1, 0), max(m, 1)), range(min(n + 1, 0), max(n, 1))):
            pair = ((A % m, s, s), (A % n, t, t))
            (shown,) = divide(pair, ends)
            solutions = [x for x in range(abs(m * n)) if x % m == s and x % n == t]
            assert bool(solutions) == ((s - t) % int(str(shown["g"])) == 0), pair
            if m > 0 and n > 0:
                assert bool(list(merge(pair, ends))) == bool(solutions), pair


def _said(o: ConstraintOverlap) -> set[str]:
    cases: list[Posed] = [p for p in posed(o) if not p.never]
    return {by_remainders(p, RULES.constraints) for p in cases}


def test_sets_of_remainders_end_in_one(overlaps_with_constraints: dict[str, ConstraintOverlap]) -> None:
    found = overlaps_with_constraints
    assert _said(found["remainders_merge / remainders_merge at 1=1 #1"]) == {JOINED}
    assert _said(found["remainders_merge / remainders_contradict at 2=2 #1"]) == {JOINED}
    assert _said(found["remainders_merge / remainders_contradict at 1=2 and 2=1 #1"]) == {CONTRADICTORY}


@pytest.mark.parametrize(
    "name",
    [
        # what always holds on a box need not hold elsewhere
        "satisfied_constraint_vanishes / remainders_contradict at 1=1 #1",
        # the remainders are not of one expression
        "residue_is_rescaled / remainders_merge at 1=1 #1",
    ],
)
def test_other_sets_are_not_said_to(
    name: str, overlaps_with_constraints: dict[str, ConstraintOverlap]
) -> None:
    assert _said(overlaps_with_constraints[name]) == {""}


def test_the_argument_needs_its_rules(overlaps_with_constraints: dict[str, ConstraintOverlap]) -> None:
    o = overlaps_with_constraints["remainders_merge / remainders_merge at 1=1 #1"]
    (p,) = (p for p in posed(o) if not p.never)
    for name in ("remainders_merge", "remainders_contradict", "impossible_constraint_is_false"):
        assert not by_remainders(p, [r for r in RULES.constraints if r.name != name]), name
