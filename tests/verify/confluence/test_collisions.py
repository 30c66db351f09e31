"""Instances in which summands combine, and domains of expressions that hardly any rule rewrites."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import replace
from types import ModuleType

import pytest

from indexproof.core.condition import Divides
from indexproof.core.expr import var
from indexproof.core.rewrite import Bounded
from indexproof.reports.confluence import PAGE
from indexproof.rules.catalog import RULES
from indexproof.verify.confluence import Kind, critical_pairs, decide_pair
from indexproof.verify.confluence import analysis as analysis_module
from indexproof.verify.confluence import joining as joining_module
from indexproof.verify.confluence.analysis import Pair, _refuted, further_pair, held_against
from indexproof.verify.confluence.collisions import collisions, examine_collisions, summands_of
from indexproof.verify.confluence.constraint_again import IN_FORM, _formed, join_again
from indexproof.verify.confluence.constraint_further import examine_opaque, opaque_domains
from indexproof.verify.confluence.constraint_overlap import ConstraintOverlap, constraint_overlaps
from indexproof.verify.confluence.constraint_pairs import further_verdict
from indexproof.verify.confluence.constraint_posed import posed
from indexproof.verify.confluence.domains import NOWHERE, Domains
from indexproof.verify.confluence.ground import Ground, Move
from indexproof.verify.confluence.instances import ExpressionTrial, Instance
from indexproof.verify.confluence.joining import Known, join
from indexproof.verify.confluence.overlap import Overlap, matched
from indexproof.verify.confluence.proposals import narrowed
from indexproof.verify.confluence.rewriting import Examined, Witness

A = var("a")

_COMBINING = [
    "multiple_leaves_remainder / quotient_subtracts_to_remainder at x·d + r… #1",
]
#: Pairs that join with symbols, and not where a rest holds what a step makes, or hides it.
_HIDDEN = [
    "max_keeps_larger / max_keeps_larger #3",
    "quotient_absorbs_summand / quotient_of_quotient at x // a #3",
    "quotient_of_quotient / multiple_leaves_quotient at x // a #3",
]
_OPAQUE = [
    "remainders_contradict / remainder_certified inside x mod m #1",
    "window_raises_lower_bound / remainder_certified inside x mod m #1",
    "remainder_tightens_bounds / remainder_certified inside x mod m #1",
]


def _cases(o: Overlap) -> list[Overlap]:
    return [c for c in narrowed(o).overlaps if not _refuted(c)[0]]


def _base(o: ConstraintOverlap | Overlap, kind: Kind = Kind.UNDECIDED) -> Pair:
    return Pair(o.name, o.outer.name, o.inner.name, "", o.statement(), kind)


# --------------------------------------------------------------------------------------------- what a rest combines with
@pytest.mark.parametrize("name", _COMBINING)
def test_summands_that_combine_show_two_normal_forms(
    name: str,
    expression_overlaps: dict[str, Overlap],
    check_witness: Callable[[Witness[Instance, Move]], None],
) -> None:
    """Whatever stands there for the rest by chance, both results of such a pair meet."""
    o = expression_overlaps[name]
    pair = further_pair(o, _base(o), RULES.rules)
    assert pair.kind is Kind.NOT_JOINABLE
    witness = examine_collisions(o, _cases(o), matched(RULES.rules), {}).witness
    assert witness is not None
    check_witness(witness)
    assert pair.witness == str(witness.instance.start)
    assert pair.forms == tuple(map(str, witness.forms))


def test_a_rest_holds_what_a_step_makes(expression_overlaps: dict[str, Overlap]) -> None:
    """After an instance come the same with summands that its results have and it has not."""
    o = expression_overlaps[_COMBINING[0]]
    (case,) = _cases(o)
    trial = ExpressionTrial(o, matched(RULES.rules), {})
    found = list(itertools.islice(collisions(case, 0, trial), 40))
    assert found == list(
        itertools.islice(collisions(case, 0, ExpressionTrial(o, matched(RULES.rules), {})), 40)
    )
    first, *others = found
    _, both = trial.both(first)
    made = {t for x, y in both for s in (x, y) for t, _ in summands_of(s.after)}
    new = made - {t for t, _ in summands_of(first.start)}
    assert new
    assert any(t in new for i in others for t, _ in summands_of(i.start))


def _joined(rules: tuple[object, ...]) -> list[Overlap]:
    """Pairs of planted rules that meet with symbols, whatever a strategy may propose."""
    found = []
    for o in critical_pairs(rules):  # type: ignore[arg-type]
        made = join(o, rules)  # type: ignore[arg-type]
        if made is not None and not made.chosen and o.first is not o.second:
            found.append(o)
    return found


def test_symbols_do_not_see_that_summands_combine(
    planted: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    """``ceildiv(a, 2) + (-a) // 2`` is nothing on one way, and a sum of two quotients on the other."""
    rules = planted.COMBINING
    name = "ceiling_rounds_up / ceiling_turns at ceildiv(x, d) #2"
    (o,) = [o for o in _joined(rules) if o.name == name]
    pair = decide_pair(o, rules)
    assert pair.kind is Kind.NOT_JOINABLE
    assert "0" in pair.forms
    # without these instances the pair would be said to join
    for looked in ("examine_collisions", "examine_hiding"):
        monkeypatch.setattr(analysis_module, looked, lambda *_, **__: Examined(0, 0, 0, None))
    assert decide_pair(o, rules).kind is Kind.JOINABLE


def test_rules_without_a_rest_are_left_alone(planted: ModuleType) -> None:
    rules = planted.ALONE
    pairs = [decide_pair(o, rules) for o in _joined(rules)]
    assert pairs
    assert all(p.kind is Kind.JOINABLE for p in pairs)


def test_pairs_that_join_with_symbols_are_held_against_them(
    expression_overlaps: dict[str, Overlap],
) -> None:
    used = matched(RULES.rules)
    o = expression_overlaps["multiple_leaves_remainder / remainder_subtracts_to_quotient at x·d + r… #2"]
    assert decide_pair(o, RULES.rules).kind is Kind.NOT_JOINABLE
    apart = held_against(o, _base(o, Kind.JOINABLE), used)
    assert apart.kind is Kind.NOT_JOINABLE
    assert apart.witness
    assert not apart.meets
    o = expression_overlaps["quotient_of_quotient / exact_quotient_multiplies #1"]
    assert held_against(o, _base(o, Kind.JOINABLE), used).kind is Kind.JOINABLE


@pytest.mark.parametrize("name", _HIDDEN)
def test_pairs_that_join_with_symbols_fall(
    name: str, expression_overlaps: dict[str, Overlap], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Symbols join them, instances in which summands combine or hide do not."""
    o = expression_overlaps[name]
    assert join(o, matched(RULES.rules)) is not None
    pair = decide_pair(o, RULES.rules)
    assert pair.kind is Kind.NOT_JOINABLE
    # the page shows this expression, or a smaller one of the same rules and place
    where = name.rpartition(" #")[0]
    assert any(line.endswith("|") and f"| {where} #" in line for line in PAGE.read_text("utf-8").splitlines())
    for looked in ("examine_collisions", "examine_hiding"):
        monkeypatch.setattr(analysis_module, looked, lambda *_, **__: Examined(0, 0, 0, None))
    assert decide_pair(o, RULES.rules).kind is Kind.JOINABLE


def test_what_leaves_no_smaller_expression_need_not_be_noted() -> None:
    """The steps are the same; only whether they are weighed differs."""
    e = (A % 4) // 2 + 3 * (A // 2) - A % 2
    one, two = (Ground(matched(RULES.rules), {A: (0, 9)}, weighs=w) for w in (True, False))
    assert one.moves(e) == two.moves(e)
    assert one.normal_forms(e) == two.normal_forms(e)
    assert not two.risen


# ------------------------------------------------------------------------------------------------------- opaque domains
@pytest.mark.parametrize("name", _OPAQUE)
def test_opaque_domains_show_two_normal_forms(
    name: str, overlaps_with_constraints: dict[str, ConstraintOverlap]
) -> None:
    o, used = overlaps_with_constraints[name], matched(RULES.rules)
    cases = [p for p in posed(o) if not p.never]
    witness = examine_opaque(o, cases, RULES.constraints, used).witness
    assert witness is not None
    # nothing is known here of what was met on the way to the witness, so more is reached
    domains = Domains(RULES.constraints, used, 10_000)
    for form in witness.forms:
        assert form is NOWHERE or not domains.moves(form)
    ends = [domains.normal_forms(side[0].after) for side in (witness.left, witness.right)]
    assert not ends[0] & ends[1]
    assert witness.left[0].before == witness.right[0].before == witness.instance


def test_opaque_domains_are_the_same_every_time(
    overlaps_with_constraints: dict[str, ConstraintOverlap],
) -> None:
    (p,) = [p for p in posed(overlaps_with_constraints[_OPAQUE[0]]) if not p.never]
    first, second = (list(itertools.islice(opaque_domains(p, 0), 40)) for _ in range(2))
    assert first == second
    assert len(set(first)) > 30


def test_a_planted_rule_that_applies_to_some_moduli_only(planted: ModuleType) -> None:
    """One remainder is rewritten, and the rule for two no longer sees the same dividend, unless the other is too."""
    constraints = (planted.remainder_of_remainder, planted.what_holds_vanishes, planted.nothing_is_nowhere)

    def witness(rule: object) -> object:
        o = next(
            o
            for o in constraint_overlaps(constraints, [rule], ["remainder_of_remainder"])  # type: ignore[list-item]
            if o.at is not None
        )
        cases = [p for p in posed(o) if not p.never]
        return examine_opaque(o, cases, constraints, [rule]).witness  # type: ignore[list-item]

    assert witness(planted.large_outer_remainder_is_enough) is not None
    assert witness(planted.outer_remainder_is_enough) is None


def test_verdicts_by_opaque_domains(overlaps_with_constraints: dict[str, ConstraintOverlap]) -> None:
    o = overlaps_with_constraints["remainders_contradict / remainder_certified inside x mod n #1"]
    pair = further_verdict(o, _base(o), RULES.rules, RULES.constraints)
    assert pair.kind is Kind.NOT_JOINABLE
    assert pair.witness
    assert pair.forms[0] != pair.forms[1]


# ------------------------------------------------------------------------------------------- divisors of products
_DIVISIBLE = "inner_remainder_vanishes / inner_remainder_vanishes at x mod m #4"


def test_a_chain_of_divisors() -> None:
    """``d`` divides ``c·e`` and ``e`` divides ``f·m``, so ``d`` divides ``c·f·m``; not the other way round."""
    c, d, e, f, m = (var(n, "const") for n in "cdefm")
    chain = (d.divides(c * e), e.divides(f * m))
    assert Known((d.ne(0), *chain)).implies(d.divides(c * f * m))
    assert Known((d.ne(0), *chain)).implies(d.divides(c * f * m * 3 + c * e))
    # what divides may not be zero
    zero = Known(())
    assert not zero._divides(d.divides(d * c))
    for broken in (
        (d.divides(c * e),),
        (e.divides(f * m),),
        ((c * e).divides(d), e.divides(f * m)),
        (d.divides(c * e), (f * m).divides(e)),
        (d.divides(c * e), e.divides(f + m)),
    ):
        assert not Known((d.ne(0), *broken))._divides(d.divides(c * f * m)), broken


@pytest.mark.parametrize("name", [_DIVISIBLE])
def test_remainders_without_what_divides_them_join(
    name: str, expression_overlaps: dict[str, Overlap], monkeypatch: pytest.MonkeyPatch
) -> None:
    o, used = expression_overlaps[name], matched(RULES.rules)
    made = join(o, used)
    assert made is not None
    assert {s.rule for j in (made, *made.others) for s in (*j.left, *j.right)} <= {
        "inner_remainder_vanishes",
        "multiple_leaves_remainder",
    }
    # with nothing known of divisors they do not
    lost = replace(o, hypotheses=tuple(c for c in o.hypotheses if not isinstance(c, Divides)))
    assert join(lost, used) is None
    if name == _DIVISIBLE:
        monkeypatch.setattr(joining_module, "divides_product", lambda *_: False)
    else:
        monkeypatch.setattr(joining_module.Rewriter, "_without_multiples", lambda *_: iter(()))
    assert join(o, used) is None


# ------------------------------------------------------------------------------------------------- one form of sums
@pytest.mark.parametrize(
    "name",
    [
        "positive_divisor_scales_bounds / complement_leaves_quotient inside x // d #1",
        "negative_divisor_scales_bounds / negative_divisor_moves_up inside x // d #1",
    ],
)
def test_sides_that_differ_by_constants_and_signs_meet(
    name: str, overlaps_with_constraints: dict[str, ConstraintOverlap]
) -> None:
    (p,) = [p for p in posed(overlaps_with_constraints[name]) if not p.never]
    (made,) = join_again(p, RULES.constraints) or [None]
    assert made is not None
    assert made.left[-1].rule == made.right[-1].rule == IN_FORM
    for lost in ("negative_factor_exchanges_bounds", "summand_moves_into_bounds"):
        assert join_again(p, [r for r in RULES.constraints if r.name != lost]) is None, lost


def test_bounds_change_places_where_a_sum_is_turned() -> None:
    x, lo, hi = var("x", "expr"), var("lo", "const"), var("hi", "const")
    one = _formed((Bounded(3 - x, lo, hi),))
    assert one == _formed((Bounded(x, 3 - hi, 3 - lo),))
    assert one != _formed((Bounded(x, 3 - lo, 3 - hi),))
    assert one != _formed((Bounded(x, -hi, -lo),))
