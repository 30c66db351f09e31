"""Lower the soundness of a rule of a rule file to ordinary obligations of the core language, case by case.

The obligations are *sound* (both sides are equal where both have a value; an equivalence of truth values in both
directions), *defined* (the right side has a value where the left one has) and *no overflow* (where overflow is undefined:
the right side fits where the left one does).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache

from ...core.condition import FALSE, TRUE, Condition, all_of, any_of, negate, show_condition
from ..obligations import Obligation
from ..verdict import Status
from .cases import Number, RuleCase, Truth2, cases
from .json_form import parse_json_rules, rules_to_json
from .rule import RuleFile, StatedRule

__all__ = ["FAMILY", "MACHINE_TYPES", "expanded", "failing_without", "occurs", "rule_of", "source_of"]

#: The family of these obligations.
FAMILY = "stated rule"
#: The widths of the machine types that the finding about overflow asks about, in bits.
MACHINE_TYPES = (32, 64)


def source_of(r: StatedRule) -> str:
    """A rule as text, without its name and place: what it states and nothing else."""
    return rules_to_json(RuleFile("", (replace(r, name="rule", doc="", where="", expected=Status.PROVED),)))


@lru_cache(maxsize=16)
def rule_of(source: str) -> StatedRule:
    """The rule of a source."""
    return parse_json_rules(source, "rule", derived=True).rules[0]


def expanded(r: StatedRule, *, total: bool = False) -> Iterator[Obligation]:
    """Soundness as ordinary obligations; none where every case is true by the laws of sums alone.

    Their expressions may divide by what is zero outside of their case, with ``total`` by nothing that ever is.
    Raises :class:`~indexproof.core.errors.TooLargeError` for a rule with too many cases.
    """
    for case in cases(r, total=total):
        place = _place(case)
        for kind, hypotheses, goal in _claims(r, case):
            given = (*case.decided, *case.given, *hypotheses)
            yield Obligation(
                FAMILY,
                r.name,
                kind + place,
                tuple(h for h in given if h is not TRUE),
                goal,
                where=r.where,
                claim=r.statement(),
            )


def occurs(r: StatedRule) -> Iterator[tuple[Condition, ...]]:
    """Yield, case by case, the hypotheses where the rule says something."""
    for case in cases(r):
        ok = _has_value(case.left)
        if r.semantics.overflow == "nowrap" and case.right is not None:
            ok = all_of((ok, negate(_lost(case.right))))
        yield tuple(c for c in (*case.decided, *case.given, ok) if c is not TRUE)


def _place(case: RuleCase) -> str:
    return f" where {', '.join(map(show_condition, case.decided))}" if case.decided else ""


def _has_value(side: Number | Truth2) -> Condition:
    """Where a side has a value."""
    if isinstance(side, Number):
        return FALSE if side.zero else side.fits
    return any_of((side.true, side.false)) if side.hole else negate(side.lost)


def _lost(side: Number | Truth2) -> Condition:
    """Where something in a side overflows that must not."""
    return negate(side.fits) if isinstance(side, Number) else side.lost


def _claims(r: StatedRule, case: RuleCase) -> Iterator[tuple[str, tuple[Condition, ...], Condition]]:
    """The obligations of one case: kind, hypotheses besides those of the case, goal."""
    left, right = case.left, case.right
    assert right is not None
    given = _has_value(left)
    if r.semantics.overflow == "nowrap":
        given = all_of((given, negate(_lost(right))))
    elif _lost(right) is not FALSE:
        yield "no overflow", (given,), negate(_lost(right))
    valued = _has_value(right)
    if right.zero if isinstance(right, Number) else right.hole:
        yield "defined", (given,), any_of((valued, _lost(right)))
    if valued is FALSE:
        return
    for kind, hypotheses, goal in _equal(left, right, case):
        if goal is not TRUE and all_of(hypotheses) is not FALSE:
            yield kind, (given, valued, *hypotheses), goal


def _equal(
    left: Number | Truth2, right: Number | Truth2, case: RuleCase
) -> Iterator[tuple[str, tuple[Condition, ...], Condition]]:
    if isinstance(left, Number):
        assert isinstance(right, Number)
        yield "sound", (), _same(left, right, case)
        return
    assert isinstance(right, Truth2)
    if left.true is TRUE or left.true is FALSE:
        yield "sound", (), right.true if left.true is TRUE else right.false
    elif right.true is TRUE or right.true is FALSE:
        yield "sound", (), left.true if right.true is TRUE else left.false
    elif left.true != right.true:
        yield "sound ⇒", (left.true,), right.true
        total = _has_value(left) is TRUE and _has_value(right) is TRUE
        yield ("sound ⇐", (right.true,), left.true) if total else ("sound ⇐", (left.false,), right.false)


def _same(left: Number, right: Number, case: RuleCase) -> Condition:
    equal = case.same(left, right)
    return TRUE if case.known.truth(equal) else equal


def failing_without(r: StatedRule, k: int) -> tuple[Condition, ...]:
    """Return the condition under which the rule would fail without its condition number ``k``."""
    alternatives = []
    for case in cases(r, without=k, total=True):
        fails = [all_of((*hypotheses, negate(goal))) for _, hypotheses, goal in _claims(r, case)]
        alternatives.append([*case.decided, *case.given, any_of(fails)])
    if not alternatives:
        return (FALSE,)
    common = [c for c in alternatives[0] if all(c in other for other in alternatives[1:])]
    rest = [all_of(c for c in a if c not in common) for a in alternatives]
    return (*common, any_of(rest))
