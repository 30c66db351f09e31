"""Instances whose variables depend on each other, cases of signs, and variables that stand on both sides of an equation."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType

import pytest

from indexproof.core.condition import FALSE
from indexproof.core.expr import var
from indexproof.rules.catalog import RULES
from indexproof.verify.confluence import Kind, critical_pairs, decide_pair
from indexproof.verify.confluence import analysis as analysis_module
from indexproof.verify.confluence import joining as joining_module
from indexproof.verify.confluence import unify as unify_module
from indexproof.verify.confluence.cases import signs, split
from indexproof.verify.confluence.dependent import dependents, examine_dependent
from indexproof.verify.confluence.ground import Move
from indexproof.verify.confluence.instances import Examined, Instance, examine
from indexproof.verify.confluence.joining import Known, join
from indexproof.verify.confluence.overlap import Overlap, matched, overlaps
from indexproof.verify.confluence.rewriting import Witness
from indexproof.verify.refute import failing_points


# ------------------------------------------------------------------------------------------------------------ instances
@pytest.mark.parametrize(
    "name",
    [
        "quotient_absorbs_negated / value_known at x // a #3",
        "exact_quotient_multiplies / quotient_absorbs_negated at x // d #2",
        "inner_remainder_vanishes / remainder_certified at x mod m #3",
    ],
)
def test_variables_that_depend_on_each_other_show_two_normal_forms(
    name: str,
    expression_overlaps: dict[str, Overlap],
    check_witness: Callable[[Witness[Instance, Move]], None],
) -> None:
    """Independent variables do not show them."""
    o, used = expression_overlaps[name], matched(RULES.rules)
    assert examine(o, used, {}).witness is None
    witness = examine_dependent(o, used, {}).witness
    assert witness is not None
    check_witness(witness)


def test_a_planted_set_needs_them(monkeypatch: pytest.MonkeyPatch, planted: ModuleType) -> None:
    # what is drawn would show it as well, and so would what is tried of open pairs
    monkeypatch.setattr(analysis_module, "examine_wide", lambda *_: Examined(0, 0, 0, None))
    monkeypatch.setattr(analysis_module, "ATTEMPTS", ())
    found = [decide_pair(o, planted.TOGETHER) for o in critical_pairs(planted.TOGETHER)]
    apart = {p.name for p in found if p.kind is Kind.NOT_JOINABLE}
    assert apart
    monkeypatch.setattr(analysis_module, "examine_dependent", lambda *_: Examined(0, 0, 0, None))
    without = [decide_pair(o, planted.TOGETHER) for o in critical_pairs(planted.TOGETHER)]
    assert {p.name for p in without if p.kind is Kind.NOT_JOINABLE} < apart


def test_they_come_smallest_first_and_over_two_variables(expression_overlaps: dict[str, Overlap]) -> None:
    for name in ("min_keeps_smaller / min_keeps_smaller #1", "quotient_certified / quotient_certified #1"):
        found = dependents(expression_overlaps[name])
        assert found
        assert [i.rank[:3] for i in found] == sorted(i.rank[:3] for i in found)
        assert {v.name for i in found for v in i.start.variables()} <= {"a", "b"}
        assert all({v for v, _ in i.boxes} == set(i.start.variables()) for i in found)


# ---------------------------------------------------------------------------------------------------------------- signs
def _pair(planted: ModuleType) -> Overlap:
    (o,) = overlaps(planted.quotient_is_remainder, planted.quotient_is_next_remainder)
    return o


def test_both_signs_must_join(planted: ModuleType) -> None:
    o = _pair(planted)
    assert join(o, planted.BOTH_SIGNS) is None
    both = join(o, planted.BOTH_SIGNS, signed=True)
    assert both is not None
    assert len(both.others) >= 1
    assert join(o, planted.ONE_SIGN, signed=True) is None


def test_a_sign_that_is_left_out_is_noticed(monkeypatch: pytest.MonkeyPatch, planted: ModuleType) -> None:
    """The check above fails for cases that forget the divisors below zero."""
    monkeypatch.setattr(joining_module, "signs", lambda given, sides: signs(given, sides)[:1])
    assert join(_pair(planted), planted.ONE_SIGN, signed=True) is not None


def test_signs_are_told_apart_where_they_are_not_known() -> None:
    x, d = var("x", "expr"), var("d", "const")
    sides = (x // d, x % d)
    above, below = signs((d.ne(0),), sides)
    assert (d > 0) in above[0]
    assert above[1] == sides
    (n,) = {v for e in below[1] for v in e.variables()} - {x}
    assert (n > 0) in below[0]
    assert below[1] == (x // -n, x % -n)
    more, one = signs((d.ne(0), d > 0), sides)
    assert (d > 1) in more[0]
    assert more[1] == sides
    assert one[1] == (x // 1, x % 1)
    assert not signs((d.ne(0), d > 0, d > 1), sides)
    assert not signs((d.ne(0),), (x, x + d))


def test_a_pair_joins_for_both_signs(expression_overlaps: dict[str, Overlap]) -> None:
    o = expression_overlaps["quotient_by_one / quotient_of_digit #1"]
    assert join(o, matched(RULES.rules)) is None
    found = join(o, matched(RULES.rules), signed=True)
    assert found is not None
    for part in (found, *found.others):
        for step in (*part.left, *part.right):
            known = Known(o.hypotheses, (*step.before.variables(), *step.after.variables()))
            assert not known.refutes(step.before.eq(step.after)), str(step)


def test_one_is_a_case_of_its_own(monkeypatch: pytest.MonkeyPatch, planted: ModuleType) -> None:
    """What joins only for divisors above one does not join for those above zero."""
    (o,) = overlaps(planted.positive_is_remainder, planted.positive_is_next_remainder)
    assert join(o, planted.ABOVE_ONE, signed=True) is None
    monkeypatch.setattr(joining_module, "signs", lambda given, sides: signs(given, sides)[:1])
    assert join(o, planted.ABOVE_ONE, signed=True) is not None


def test_a_complement_has_no_constant(monkeypatch: pytest.MonkeyPatch) -> None:
    """Everything is one less than the divisor, less something; the strategy looks for what has no constant."""
    x, d = var("x", "expr"), var("d", "const")
    rules = (RULES["complement_leaves_quotient"],)
    known = Known((d > 1, d > 0, d.ne(0)), (x, d))

    def made() -> set[str]:
        search = joining_module.Rewriter(rules, known)
        return {str(s.after) for e in ((-x) // d, (d - 1 - x) // d) for s in search.steps(e, x)}

    assert made() == {"-(x // d)"}
    monkeypatch.setattr(joining_module, "_complement", lambda _: True)
    assert len(made()) > 1


def test_what_divides_one_and_what_one_leaves() -> None:
    x, d, m = var("x", "expr"), var("d", "const"), var("m", "const")
    one, minus = split((d.divides(1),), (x // d,))
    assert {one[1][0], minus[1][0]} == {x // 1, x // -1}
    (only,) = split((d.divides(1), d > 0), (x // d,))
    assert only[1] == (x // 1,)
    ((_, (side,)),) = split(((x % 1).eq(m),), (x + m,))
    assert side is x
    # two leaves something, and two is divided by more than one
    ((_, (side,)),) = split(((x % 2).eq(m),), (x * 3 + m,))
    assert m in side.variables()
    assert len(split((d.divides(2),), (x // d,))) == 1


# ---------------------------------------------------------------------------------------------------------- unification
def _differing() -> int:
    """How many overlaps of two rules have a result without the value of the expression."""
    wrong = 0
    for name in ("remainder_subtracts_to_quotient", "quotient_subtracts_to_remainder"):
        for o in overlaps(RULES[name], RULES[name]):
            known = Known(o.hypotheses, o.variables)
            for side in (o.first, o.second):
                wrong += bool(len(failing_points(known.points, known.names, (), o.start.eq(side))))
    return wrong


def test_a_variable_on_both_sides_is_one_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    assert not _differing()
    monkeypatch.setattr(unify_module, "_less_common", lambda a, b: (a, b))
    assert _differing()


def test_no_case_of_signs_is_lost_to_a_contradiction() -> None:
    x, d = var("x", "expr"), var("d", "const")
    # only one sign is possible: the other case is no case
    assert all(FALSE not in given for given, _ in signs((d.ne(0), d.within(1, 5)), (x // d,)))
