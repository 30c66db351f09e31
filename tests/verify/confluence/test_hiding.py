"""Instances and domains that hide something from the rules, and arguments for pairs that join whatever they hide."""

from __future__ import annotations

import itertools
from collections.abc import Callable

import numpy as np
import pytest

from indexproof.core.expr import Expr, maximum, minimum, var
from indexproof.core.rewrite import Rule
from indexproof.rules.catalog import RULES
from indexproof.verify.confluence import Kind, decide_pair
from indexproof.verify.confluence import constraint_again as again_module
from indexproof.verify.confluence.again import join_again
from indexproof.verify.confluence.analysis import Pair, _refuted, further_pair
from indexproof.verify.confluence.constraint_again import IN_RANGE, _cases
from indexproof.verify.confluence.constraint_again import join_again as join_constraints_again
from indexproof.verify.confluence.constraint_overlap import ConstraintOverlap
from indexproof.verify.confluence.constraint_posed import Posed, posed
from indexproof.verify.confluence.domains import Domain, Domains
from indexproof.verify.confluence.draws import HIDING, Pick
from indexproof.verify.confluence.ground import Exact, Move
from indexproof.verify.confluence.hiding import examine_hiding, pieces
from indexproof.verify.confluence.instances import ExpressionTrial, Instance
from indexproof.verify.confluence.linear_form import commutes, commutes_with_constants
from indexproof.verify.confluence.overlap import Overlap, matched
from indexproof.verify.confluence.proposals import narrowed
from indexproof.verify.confluence.remainders import JOINED, by_remainders
from indexproof.verify.confluence.rewriting import Witness
from indexproof.verify.confluence.solutions import joined_by_solutions, joined_by_vanishing, still_seen

A, B, C = var("a"), var("b"), var("c")
_BOX = ((A, (0, 7)), (B, (0, 3)))
_X = minimum(A * 4, B * 4)
#: Expressions to which both rules apply, with two normal forms, each with a thing that a rule does not see.
_INSTANCES: dict[str, tuple[Expr, dict[str, tuple[int, int]]]] = {
    # a constant sum with factors of its own: another quotient is proposed
    "remainder_certified / common_factor_leaves_remainder #1": (
        (B * 5 + A % 2 * 3 + (A + 1) % 2 * 4) % 5,
        {"a": (0, 5), "b": (0, 5)},
    ),
    # a quotient that is there besides
    "quotient_and_remainder_recombine / exact_quotient_multiplies #1": (
        _X // 4 * 4 + _X // 2 % 2 * 2 + _X // 2,
        {"a": (0, 1), "b": (0, 1)},
    ),
}
#: Expressions of pairs that were said to join.
_FELL: dict[str, tuple[Expr, dict[str, tuple[int, int]]]] = {
    # the quotient that a step makes is there already
    "quotient_absorbs_summand / quotient_absorbs_summand at x // a #4": (
        (A // 2 + A // 2 // 2) // 2,
        {"a": (0, 4)},
    ),
    "remainder_subtracts_to_quotient / remainder_subtracts_to_quotient #1": (
        (B * 2) % 3 - (-B) % 2 * 2 - B * 2,
        {"b": (0, 2)},
    ),
}
#: The same of constraints.
_DOMAINS: dict[str, tuple[list[tuple[Expr, int, int]], dict[str, tuple[int, int]]]] = {
    # what is a multiple loses its dividend
    "implied_remainder_vanishes / complement_leaves_remainder inside x mod m #1": (
        [((3 - A * 2 - B) % 4, 1, 1), ((3 - A * 2 - B) % 2, 1, 1)],
        {"a": (0, 3), "b": (0, 3)},
    ),
    # blocks of a negative modulus begin elsewhere
    "implied_remainder_vanishes / remainder_known inside x mod n #1": (
        [((A + B) % (-6), -5, -5), ((A + B) % 3, 1, 1)],
        {"a": (0, 1), "b": (0, 1)},
    ),
    # the summand is hidden in an extremum
    "sum_bounds_summand / exact_quotient_multiplies inside x·k + r… #3": (
        [((maximum(A, A + B * 2) - A) // 2 * 2 + A, 6, 8), (A, 0, 6)],
        {"a": (0, 6), "b": (-1, 1)},
    ),
    "sum_bounds_dividend / quotient_of_quotient inside x // d #2": (
        [(A // 2 // 2 - A // 4 + maximum(A // 4, A // 4 + B), 2, 3), (A // 2, 0, 5)],
        {"a": (0, 11), "b": (-1, 1)},
    ),
}


def _base(o: Overlap) -> Pair:
    return Pair(o.name, o.outer.name, o.inner.name, "", o.statement(), Kind.UNDECIDED)


def _posed(o: ConstraintOverlap) -> list[Posed]:
    return [p for p in posed(o) if not p.never]


# ------------------------------------------------------------------------------------------------- what can be hidden
def test_what_is_added_hides_a_summand_or_is_nothing_or_constant() -> None:
    pick = Pick(np.random.default_rng(7), HIDING)
    t = A // 2
    facts = Exact(dict(_BOX))
    found = list(itertools.islice(pieces([(t, 3)], [2, 4], pick), 200))
    assert any(isinstance(n, type(maximum(A, B))) for e in found for n in e.children)
    nothing = {e for e in found if facts.range(e).interval.constant == 0}
    assert nothing
    for e in nothing:
        assert e.variables() == (B,)


@pytest.mark.parametrize("name", [*_INSTANCES, *_FELL])
def test_expressions_that_hide_something_have_two_normal_forms(
    name: str,
    expression_overlaps: dict[str, Overlap],
    check_witness: Callable[[Witness[Instance, Move]], None],
) -> None:
    start, boxes = {**_INSTANCES, **_FELL}[name]
    trial = ExpressionTrial(expression_overlaps[name], matched(RULES.rules), {})
    i = Instance(start, start, tuple((v, boxes[v.name]) for v in sorted(start.variables(), key=str)))
    assert trial.witness(i)
    assert trial.found is not None
    check_witness(trial.found)


@pytest.mark.parametrize("name", _DOMAINS)
def test_domains_that_hide_something_have_two_normal_forms(
    name: str, overlaps_with_constraints: dict[str, ConstraintOverlap]
) -> None:
    o = overlaps_with_constraints[name]
    constraints, boxes = _DOMAINS[name]
    domains = Domains(RULES.constraints, matched(RULES.rules))
    d = Domain.of({var(n): b for n, b in boxes.items()}, constraints)
    assert isinstance(o.inner, Rule)
    pairs = list(itertools.product(domains.applied(o.outer, d), domains.inside(d, o.inner)))
    assert any(not domains.meet(x.after, y.after) for x, y in pairs)


@pytest.mark.parametrize("name", list(_INSTANCES)[1:])
def test_such_expressions_are_found(
    name: str,
    expression_overlaps: dict[str, Overlap],
    check_witness: Callable[[Witness[Instance, Move]], None],
) -> None:
    o = expression_overlaps[name]
    cases = [c for c in narrowed(o).overlaps if not _refuted(c)[0]]
    found = examine_hiding(o, cases, matched(RULES.rules), {})
    assert found.witness is not None
    check_witness(found.witness)


def test_a_pair_that_joins_with_symbols_does_not_where_a_rest_is_nothing(
    expression_overlaps: dict[str, Overlap],
) -> None:
    pair = decide_pair(
        expression_overlaps["exact_quotient_multiplies / quotient_known at x // d #3"], RULES.rules
    )
    assert pair.kind is Kind.NOT_JOINABLE


# ------------------------------------------------------------------------------------------------- joining once more
@pytest.mark.parametrize(
    "name",
    [
        "small_remainder_vanishes / complement_leaves_quotient #1",
        "remainder_known / complement_leaves_remainder #1",
        "common_factor_leaves_remainder / complement_leaves_remainder #1",
        "complement_leaves_remainder / digits_recombine at d - x - 1 #2",
    ],
)
def test_pairs_join_with_more_that_is_known_of_them(
    name: str, expression_overlaps: dict[str, Overlap]
) -> None:
    o = expression_overlaps[name]
    assert join_again(o, matched(RULES.rules))
    pair = further_pair(o, _base(o), RULES.rules, attempts=())
    assert pair.kind is Kind.JOINABLE
    assert pair.tried


def test_what_a_common_factor_leaves_of_the_constant_is_below_it(
    expression_overlaps: dict[str, Overlap],
) -> None:
    o = expression_overlaps["small_remainder_vanishes / complement_leaves_quotient #1"]
    (plain,), (sharp,) = (narrowed(o, sharp=sharp).overlaps for sharp in (False, True))
    assert set(plain.hypotheses) < set(sharp.hypotheses)


# ------------------------------------------------------------------------------------------------------- constraints
_SOLVED = [
    "residue_is_rescaled / remainders_merge at 1=1 #1",
    "residue_is_rescaled / remainder_tightens_bounds at 1=1 #1",
    "remainders_merge / window_raises_lower_bound at 2=1 #1",
    "residue_is_rescaled / multiple_leaves_remainder inside x mod m #1",
    "window_lowers_upper_bound / remainder_known inside x mod m #1",
]


@pytest.mark.parametrize("name", _SOLVED)
def test_constraints_on_one_expression_end_in_their_solutions(
    name: str, overlaps_with_constraints: dict[str, ConstraintOverlap]
) -> None:
    (p,) = _posed(overlaps_with_constraints[name])
    assert joined_by_solutions(p, RULES.constraints, RULES.rules)
    for lost in ("residue", "common_multiple", "content", "greatest_common_divisor"):
        assert not joined_by_solutions(p, [r for r in RULES.constraints if r.choose != lost], RULES.rules)
    assert not joined_by_solutions(
        p, RULES.constraints, [r for r in RULES.rules if r.name != "common_factor_leaves_remainder"]
    )


def test_blocks_of_another_modulus_are_no_such_pair(
    overlaps_with_constraints: dict[str, ConstraintOverlap],
) -> None:
    name = "implied_remainder_vanishes / remainder_known inside x mod n #1"
    assert not any(
        joined_by_solutions(p, RULES.constraints, RULES.rules)
        for p in _posed(overlaps_with_constraints[name])
    )


def test_an_implied_remainder_vanishes_whatever_its_sign(
    overlaps_with_constraints: dict[str, ConstraintOverlap],
) -> None:
    (p,) = _posed(overlaps_with_constraints["implied_remainder_vanishes / remainders_merge at 1=2 #1"])
    assert by_remainders(p, RULES.constraints) == JOINED
    without = [r for r in RULES.constraints if r.name != "implied_remainder_vanishes"]
    assert by_remainders(p, without) == ""


def test_what_always_holds_vanishes_on_both_sides(
    overlaps_with_constraints: dict[str, ConstraintOverlap],
) -> None:
    joined = {
        n
        for n, o in overlaps_with_constraints.items()
        if all(map(joined_by_vanishing, _posed(o))) and _posed(o)
    }
    assert "satisfied_constraint_vanishes / implied_remainder_vanishes at 1=1 #1" in joined
    assert all("satisfied_constraint_vanishes / implied" in n for n in joined)


def test_a_quotient_is_still_seen_beside_remainders_only(
    overlaps_with_constraints: dict[str, ConstraintOverlap],
) -> None:
    """What makes quotients, or takes in what may hold the one that is seen, may take it away."""
    found = {
        n
        for n, o in overlaps_with_constraints.items()
        if o.at is not None and (cases := _posed(o)) and all(still_seen(p, RULES.constraints) for p in cases)
    }
    assert found
    assert all("digits_recombine inside (x // d)" in n for n in found)


def test_sums_with_other_constants_are_rewritten_alike() -> None:
    by_name = {r.name: r for r in RULES.rules}
    exact = by_name["exact_quotient_multiplies"]
    assert commutes_with_constants(exact)
    assert not commutes(exact)
    assert not commutes_with_constants(by_name["multiple_leaves_quotient"])


@pytest.mark.parametrize(
    "name",
    [
        "positive_divisor_scales_bounds / quotient_known inside x // d #1",
        "minimum_from_below / min_shifts inside min(x, y) #1",
        "same_expression_intersects / implied_remainder_vanishes at 1=1 and 2=2 #1",
        "remainders_merge / remainder_by_one inside x mod m #1",
        "negative_divisor_scales_bounds / exact_quotient_multiplies inside x // d #1",
    ],
)
def test_constraints_join_in_every_case_of_signs_and_quotients(
    name: str, overlaps_with_constraints: dict[str, ConstraintOverlap], monkeypatch: pytest.MonkeyPatch
) -> None:
    cases = [
        join_constraints_again(p, RULES.constraints, matched(RULES.rules))
        for p in _posed(overlaps_with_constraints[name])
    ]
    assert all(made is not None for made in cases)
    if "quotient_known" in name:
        monkeypatch.setattr(again_module, "_cases", lambda _: [()])
        for p in _posed(overlaps_with_constraints[name]):
            assert join_constraints_again(p, RULES.constraints, matched(RULES.rules)) is None


def test_bounds_that_are_the_same_as_far_as_the_range_meet_it(
    overlaps_with_constraints: dict[str, ConstraintOverlap],
) -> None:
    (p,) = _posed(overlaps_with_constraints["satisfied_constraint_vanishes / sum_bounds_dividend at 1=1 #1"])
    assert len(_cases(p)) > 1
    made = join_constraints_again(p, RULES.constraints, matched(RULES.rules))
    assert made
    assert all(j.left[-1].rule == j.right[-1].rule == IN_RANGE for j in made)
    without = [r for r in RULES.constraints if r.name != "bounds_meet_range"]
    assert join_constraints_again(p, without, matched(RULES.rules)) is None


@pytest.mark.parametrize(
    "name",
    [
        "sum_bounds_summand / exact_quotient_multiplies inside x·k + r… #3",
        "sum_bounds_dividend / quotient_of_quotient inside x // d #2",
    ],
)
def test_symbols_say_nothing_where_what_is_made_may_combine_with_what_is_seen(
    name: str, overlaps_with_constraints: dict[str, ConstraintOverlap]
) -> None:
    for p in _posed(overlaps_with_constraints[name]):
        assert join_constraints_again(p, RULES.constraints, matched(RULES.rules)) is None
