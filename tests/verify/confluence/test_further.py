"""What decides pairs that are open else: further instances and domains, the form of sums, and joining once more."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from types import ModuleType

import pytest

from indexproof.core.choose import STRATEGIES
from indexproof.core.expr import var
from indexproof.rules.catalog import RULES
from indexproof.verify.confluence import Kind
from indexproof.verify.confluence import constraint_again as again_module
from indexproof.verify.confluence import linear_form as form_module
from indexproof.verify.confluence.analysis import Pair, _refuted, further_pair
from indexproof.verify.confluence.constraint_again import BETWEEN, _Again, _Alike, _ranges, join_again
from indexproof.verify.confluence.constraint_further import examine_further as examine_domains
from indexproof.verify.confluence.constraint_further import further_domains
from indexproof.verify.confluence.constraint_overlap import ConstraintOverlap
from indexproof.verify.confluence.constraint_pairs import decide_constraint_pair, further_verdict
from indexproof.verify.confluence.constraint_posed import Posed, posed
from indexproof.verify.confluence.domains import NOWHERE, Domains
from indexproof.verify.confluence.draws import KINDS
from indexproof.verify.confluence.further import examine_further, further_instances
from indexproof.verify.confluence.ground import Exact, Move
from indexproof.verify.confluence.instances import Instance
from indexproof.verify.confluence.linear_form import (
    BY_COEFFICIENTS,
    commutes,
    facts_of,
    joined_by_linear_form,
)
from indexproof.verify.confluence.overlap import Overlap, matched
from indexproof.verify.confluence.proposals import narrowed
from indexproof.verify.confluence.rewriting import Witness
from indexproof.verify.solve import Budget, valid
from indexproof.verify.verdict import Status

A, B = var("a"), var("b")


def _live(o: ConstraintOverlap) -> list[Posed]:
    return [p for p in posed(o) if not p.never]


# ----------------------------------------------------------------------------------------------------------- instances
@pytest.mark.parametrize(
    "name", ["max_keeps_larger / max_shifts #3", "min_and_max_sum / min_shifts at min(x, y) #2"]
)
def test_further_instances_show_two_normal_forms(
    name: str,
    expression_overlaps: dict[str, Overlap],
    check_witness: Callable[[Witness[Instance, Move]], None],
) -> None:
    """Three arguments with a constant each: those that are listed or drawn elsewhere hardly ever have that."""
    o, used = expression_overlaps[name], matched(RULES.rules)
    cases = [c for c in narrowed(o).overlaps if not _refuted(c)[0]]
    witness = examine_further(o, cases, used, {}).witness
    assert witness is not None
    check_witness(witness)
    again = examine_further(o, cases, used, {}).witness
    assert again is not None
    assert again.instance == witness.instance


def test_further_instances_have_values_that_satisfy_equations(
    expression_overlaps: dict[str, Overlap],
) -> None:
    """A rest that a quotient gives is that quotient, so that both rules apply to many."""
    o = expression_overlaps["quotient_and_remainder_recombine / exact_quotient_multiplies #1"]
    found = [i for batch in range(2) for i in itertools.islice(further_instances(o, batch), 40)]
    assert len(found) == 80
    assert len({i.start for i in found}) > 40


def _domain_witness(o: ConstraintOverlap) -> tuple[Domains, Witness]:  # type: ignore[type-arg]
    domains = Domains(RULES.constraints, matched(RULES.rules))
    witness = examine_domains(o, _live(o), domains).witness
    assert witness is not None, o.name
    return domains, witness


@pytest.mark.parametrize(
    "name",
    [
        "satisfied_constraint_vanishes / remainders_contradict at 1=1 #1",
        "satisfied_constraint_vanishes / remainder_tightens_bounds at 1=1 #1",
        "minimum_from_below / impossible_constraint_is_false #1",
        "maximum_from_above / impossible_constraint_is_false #1",
    ],
)
def test_further_domains_show_two_normal_forms(
    name: str, overlaps_with_constraints: dict[str, ConstraintOverlap]
) -> None:
    """What is even, or known, and no rule sees it."""
    domains, witness = _domain_witness(overlaps_with_constraints[name])
    one, two = witness.forms
    for form in (one, two):
        assert form is NOWHERE or not domains.moves(form)
    assert not domains.normal_forms(witness.left[0].after) & domains.normal_forms(witness.right[0].after)
    assert witness.left[0].before == witness.right[0].before == witness.instance


def test_further_domains_are_the_same_every_time(
    overlaps_with_constraints: dict[str, ConstraintOverlap],
) -> None:
    o = overlaps_with_constraints["satisfied_constraint_vanishes / remainder_tightens_bounds at 1=1 #1"]
    (p,) = _live(o)
    for batch in range(len(KINDS)):
        first, second = (list(itertools.islice(further_domains(p, 0, batch), 20)) for _ in range(2))
        assert first == second


# ---------------------------------------------------------------------------------------------------- the form of sums
def test_rules_for_sums_that_commute_with_factors() -> None:
    found = {r.name for r in matched(RULES.rules) if commutes(r)}
    assert found == {
        "quotient_and_remainder_recombine",
        "digits_recombine",
        "remainder_subtracts_to_quotient",
        "min_and_max_sum",
    }


def test_strategies_that_look_at_coefficients_propose_the_same_of_multiples() -> None:
    """Quotients, remainders and digits of ``a`` and ``b`` with all kinds of coefficients, among others."""
    atoms = [A, B, A // 3, A % 3, A // 3 % 2, A // 6, B // 2, B % 2, (A // 2) % 3, A // 6 % 4]
    box = Exact({A: (0, 23), B: (-3, 4)})
    met = 0
    for t, u, v in itertools.permutations(atoms, 3):
        for k, j, n in ((1, 3, 1), (3, 1, 2), (2, 6, -1), (-1, -3, 5), (2, 1, 1), (1, 2, 0)):
            e = t * k + u * j + v * n + 1
            for name in BY_COEFFICIENTS:
                proposed = list(STRATEGIES[name](e, box))
                met += len(proposed)
                for factor in (2, -1, -6):
                    of_multiple = [
                        {
                            m: x if m in ("x", "y", "q", "d", "n", "t", "z") else x * factor
                            for m, x in b.items()
                        }
                        for b in proposed
                    ]
                    assert list(STRATEGIES[name](e * factor, box)) == of_multiple
    assert met > 50
    # one that looks at constants does not
    e = 3 - A * 2
    assert list(STRATEGIES["complement"](e % 4, box))
    assert not list(STRATEGIES["complement"]((e * 2) % 4, box))


def test_a_factor_need_not_divide_what_only_a_multiple_of_is_written() -> None:
    """``x`` may be a sum with a factor: only all of ``x·w`` has it."""
    r = RULES["quotient_subtracts_to_remainder"]
    factor, without = facts_of(r)  # type: ignore[arg-type]
    assert valid(factor, Budget()).status is Status.REFUTED
    assert valid(without, Budget()).proved


def test_planted_rules_for_sums_do_not_commute(
    planted: ModuleType,
    overlaps_with_constraints: dict[str, ConstraintOverlap],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    whole, half = planted.LOPSIDED
    assert valid(facts_of(whole)[1], Budget()).status is Status.REFUTED
    assert valid(facts_of(half)[0], Budget()).status is Status.REFUTED
    assert not commutes(whole)
    assert not commutes(half)
    o = overlaps_with_constraints["positive_factor_divides_bounds / exact_quotient_multiplies inside x·k #1"]
    assert not joined_by_linear_form(o, RULES.constraints)
    monkeypatch.setattr(form_module, "commutes", lambda rule: True)
    # without the proof a pair would be said to join that has two normal forms
    assert joined_by_linear_form(o, RULES.constraints)
    _, witness = _domain_witness(o)
    assert witness.forms[0] != witness.forms[1]


def test_the_form_of_sums_needs_its_rules(overlaps_with_constraints: dict[str, ConstraintOverlap]) -> None:
    o = overlaps_with_constraints["positive_factor_divides_bounds / min_and_max_sum inside x·k #1"]
    assert joined_by_linear_form(o, RULES.constraints)
    for name in (
        "summand_moves_into_bounds",
        "positive_factor_divides_bounds",
        "negative_factor_exchanges_bounds",
        "impossible_constraint_is_false",
        "satisfied_constraint_vanishes",
    ):
        assert not joined_by_linear_form(o, [r for r in RULES.constraints if r.name != name]), name


# ------------------------------------------------------------------------------------------------------ joining again
def _again(o: ConstraintOverlap) -> tuple[Posed, list[again_module.ConstraintJoin] | None]:
    (p,) = _live(o)
    return p, join_again(p, RULES.constraints)


def test_few_rules_are_asked_with_patience(overlaps_with_constraints: dict[str, ConstraintOverlap]) -> None:
    _, found = _again(overlaps_with_constraints["implied_remainder_vanishes / sum_bounds_dividend at 1=2 #1"])
    assert found is not None
    assert {s.rule for j in found for s in (*j.left, *j.right)} == {
        "sum_bounds_dividend",
        "impossible_constraint_is_false",
    }


def test_bounds_between_each_other_end_in_the_same(
    overlaps_with_constraints: dict[str, ConstraintOverlap], monkeypatch: pytest.MonkeyPatch
) -> None:
    """One side merges remainders and then raises the bound, the other has raised it before by less."""
    o = overlaps_with_constraints["remainders_merge / window_raises_lower_bound at 1=1 #1"]
    monkeypatch.setattr(again_module, "_QUESTIONS", 20)
    p, found = _again(o)
    assert found is not None
    assert all(j.left[-1].rule == j.right[-1].rule == BETWEEN for j in found)
    # each side has to lie within the other: not only one
    search = _Again(p, _ranges(p), tuple(RULES.constraints), (), ended=True)
    known = search.known(p.given, (p.first, p.second))
    assert search._within(known, p.first, p.first)
    assert not search._within(known, p.first, p.second)
    asked: list[bool] = []

    def never(self: _Again, *_: object) -> bool:
        asked.append(True)
        return False

    monkeypatch.setattr(_Again, "_within", never)
    assert _again(o)[1] is None
    assert asked


def test_bounds_are_followed_to_their_end_only_with_the_rules_it_takes(
    overlaps_with_constraints: dict[str, ConstraintOverlap], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(again_module, "_QUESTIONS", 20)
    o = overlaps_with_constraints["remainders_merge / window_raises_lower_bound at 1=1 #1"]
    (p,) = _live(o)
    assert join_again(p, [r for r in RULES.constraints if r.name != "same_expression_intersects"]) is None


def test_what_is_left_of_the_same_value_has_the_same_ends() -> None:
    x, y, z = var("x", "expr"), var("y", "expr"), var("z", "expr")
    ranges = _Alike(frozenset())
    lo, hi = ranges.of(x)
    assert ranges.of(z)[0] is not lo
    ranges = _Alike(frozenset(), alike=[(x + y, y + z)])
    lo, hi = ranges.of(x)
    # x + y was rewritten to y + z, so z without y is x without y
    assert ranges.of(z) == (lo, hi)
    assert ranges.of(z + 3) == (lo + 3, hi + 3)
    assert ranges.of(y)[0] is not lo


# ------------------------------------------------------------------------------------------------------------- verdicts
def test_verdicts_of_open_pairs(
    overlaps_with_constraints: dict[str, ConstraintOverlap], expression_overlaps: dict[str, Overlap]
) -> None:
    def base(o: ConstraintOverlap | Overlap) -> Pair:
        return Pair(o.name, o.outer.name, o.inner.name, "", o.statement(), Kind.UNDECIDED)

    for name, kind in {
        "positive_factor_divides_bounds / min_and_max_sum inside x·k #1": Kind.JOINABLE,
        "remainders_merge / remainders_merge at 1=1 #1": Kind.JOINABLE,
        "remainders_merge / remainders_contradict at 1=2 and 2=1 #1": Kind.CONTRADICTORY,
        "satisfied_constraint_vanishes / remainders_contradict at 1=1 #1": Kind.NOT_JOINABLE,
        "remainders_contradict / sum_bounds_summand at 1=2 #1": Kind.JOINABLE,
    }.items():
        o = overlaps_with_constraints[name]
        pair = further_verdict(o, base(o), RULES.rules, RULES.constraints)
        assert pair.kind is kind, name
        assert Pair.from_json(pair.to_json()) == pair
        assert bool(pair.first and pair.meets) == (kind is Kind.JOINABLE), name
    e = expression_overlaps["max_keeps_larger / max_shifts #3"]
    assert further_pair(e, base(e), RULES.rules).kind is Kind.NOT_JOINABLE


def test_a_domain_decides_against_symbols(overlaps_with_constraints: dict[str, ConstraintOverlap]) -> None:
    o = overlaps_with_constraints["sum_bounds_summand / min_and_max_sum inside x·k + r… #9"]
    pair = decide_constraint_pair(o, RULES.rules, RULES.constraints, {})
    assert pair.kind is Kind.NOT_JOINABLE
    assert len(set(pair.forms)) == 2
