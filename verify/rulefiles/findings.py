"""Findings about a proved rule: the conditions that it needs, and whether it overflows machine integers.

Only quick attempts are made, since no verdict on a rule depends on findings.

A compiler may apply a rule about unbounded integers to machine integers.  A sound rule then fails where its right side
overflows and its left side does not.  The rule is read once more over machine integers that must not overflow.  Since
it is sound, the counterexamples are exactly those overflows.
"""

from __future__ import annotations

import itertools
from collections.abc import Collection
from dataclasses import replace
from functools import lru_cache

from ...core.errors import TooLargeError
from .. import linear
from ..budget import Budget
from ..linearised import LINEARISED
from ..preprocess import flattened, part
from ..solve import linear_limits, reduced
from ..verdict import Status, Verdict
from .cases import expanded, is_involved
from .lowering import lowered, rule_of
from .prove import (
    CASES,
    EVERY,
    INSIDE,
    LIMITS,
    MANY_VARIABLES,
    POINTS,
    as_a_whole,
    at_once,
    every_point_of,
    inside,
    smaller_point,
    table_for,
)
from .rule import StatedRule, widened
from .sample import limits_table
from .terms import DIVISIONS, Term, alike, below, evaluated

#: Limit on the cases of a finding.
_QUICK_CASES = 24
#: Limit on the points that the local search for a smaller counterexample tries.
_TRIED = 3000
_BRIEF = linear.ReductionBudget(rlimit=100_000, questions=2, patient=False)
#: The least number of variables for which a table has too few points, and the limit on conditions examined one by one.
_SEVERAL_VARIABLES = 4
_ASKED_APART = 64
#: Number of conditions beyond which they are dropped in groups, and the limit on all attempts.
_MANY = 24
_ATTEMPTS = 32
#: Operators whose result may not fit into the machine type of their arguments.
_OVERFLOWING = DIVISIONS | {"add", "sub", "mul", "neg"}


def _quickly(r: StatedRule, budget: Budget, *, patient: bool) -> tuple[bool, int, str]:
    """Return whether quick attempts prove every case of a rule, their cost, and why they were not possible, if so."""
    spent = 0
    try:
        for n, o in enumerate(expanded(r)):
            strategy, cost = at_once(o, budget.scaled(0.1), patient=patient) if n < _QUICK_CASES else ("", 0)
            spent += cost
            if not strategy:
                return False, spent, ""
    except TooLargeError as large:
        return False, spent, str(large)
    return True, spent, ""


# --------------------------------------------------------------------------------------------------------- overflow
def decide_overflow(source: str, bits: int, budget: Budget) -> Verdict:
    """Decide whether integers of ``bits`` bits overflow on the right side only where they do on the left side.

    A refutation has a point.  Only quick attempts are made.  An unsound rule may be refuted for another reason.
    """
    r = rule_of(source)
    if cannot_overflow(r, bits):
        return Verdict(Status.PROVED, "identity")
    machine = widened(r, bits)
    point = limits_table(machine).counterexample()
    if point is not None:
        return Verdict(Status.REFUTED, LIMITS, 0, smaller_point(machine, dict(point), _TRIED))
    proved, spent, why = _quickly(machine, budget, patient=False)
    if proved:
        return Verdict(Status.PROVED, "linear" if spent else "identity", spent, tried=(LIMITS,))
    tried = (LIMITS,) if why else (LIMITS, "linear")
    return Verdict(Status.UNDECIDED, "", spent, tried=tried, detail=why or "a finding, not a gate")


def cannot_overflow(r: StatedRule, width: int) -> bool:
    """Return whether the left side evaluates every term of the right side that may overflow."""
    terms = [*below(r.left), *below(r.right)]
    number = alike(terms)
    computed = {number[id(t)] for t in evaluated(r.left)}
    most = 1 << (width - 1)
    return not any(
        t.op in _OVERFLOWING or (t.op == "int" and not -most <= int(t.value) < most)
        for t in below(r.right)
        if number[id(t)] not in computed
    )


# ------------------------------------------------------------------------------------------------------- conditions
def decide_needed(source: str, k: int, budget: Budget) -> Verdict:
    """Decide whether condition ``k`` is needed: PROVED by a point, VACUOUS if the rule is proved without it."""
    r, table = rule_of(source), table_for(source)
    if table.needs(k):
        return Verdict(Status.PROVED, POINTS)
    if _implied(source, k):
        return Verdict(Status.VACUOUS, "linear")
    if _violating(source, k):
        return Verdict(Status.PROVED, INSIDE)
    found, spent = _without_many(source, budget)
    detail = "" if k in found else f"more than {_ATTEMPTS} attempts to do without some of many conditions"
    if found.get(k):
        return Verdict(Status.VACUOUS, "linear", spent)
    if len(r.variables) < MANY_VARIABLES and not r.semantics.width:
        whole = as_a_whole(_weaker(r, (k,)), linear_limits(budget).rlimit // 10)
        spent += whole.resources
        if whole.proved or whole.found is not None:
            return Verdict(Status.VACUOUS if whole.proved else Status.PROVED, LINEARISED, spent)
    everything = every_point_of(source)
    if everything is not None:
        return Verdict(Status.PROVED if everything.needs(k) else Status.VACUOUS, EVERY, spent)
    tried = (POINTS,) if detail else (POINTS, "linear")
    return Verdict(Status.UNDECIDED, "", spent, tried=tried, detail=detail or "a finding, not a gate")


def _weaker(r: StatedRule, ks: Collection[int]) -> StatedRule:
    """Return the rule without some of its conditions."""
    return replace(r, conditions=tuple(c for k, c in enumerate(r.conditions) if k not in ks))


@lru_cache(maxsize=128)
def _implied(source: str, k: int) -> bool:
    """Return whether conditions without divisions on related variables imply this one, as ``0 <= i < n`` does ``n > 0``."""
    rule = lowered(rule_of(source))
    asked = rule.conditions[k]
    plain = [c for n, c in enumerate(rule.conditions) if n != k and not is_involved(c)]
    if is_involved(asked) or len(plain) >= _ASKED_APART:
        return False
    question = part([*rule.domain, *flattened(plain)], [asked], asked)
    return bool(question.all) and reduced(question.all, question.goal, _BRIEF).proved


@lru_cache(maxsize=128)
def _violating(source: str, k: int) -> bool:
    """Return whether a point is found that satisfies the other conditions but not this one and refutes the rule."""
    r = rule_of(source)
    if len(r.variables) < _SEVERAL_VARIABLES or len(r.conditions) > _ASKED_APART:
        return False
    others = tuple(c for n, c in enumerate(r.conditions) if n != k)
    opposite = replace(r, conditions=(*others, Term("not", (r.conditions[k],))))
    try:
        return inside(opposite, list(itertools.islice(expanded(opposite), CASES))) is not None
    except TooLargeError:
        return False


@lru_cache(maxsize=4)
def _without_many(source: str, budget: Budget) -> tuple[dict[int, bool], int]:
    """Return, for conditions that no point needs, whether the rule is proved without them; and the total cost.

    A rule that is proved without several conditions is proved without each of them.  If there are many,
    conditions are dropped in groups, and a group without which the rule is not proved is halved.
    """
    r, table = rule_of(source), table_for(source)
    asked = range(len(r.conditions))
    groups = [[k for k in asked if not (table.needs(k) or _implied(source, k) or _violating(source, k))]]
    found: dict[int, bool] = {}
    spent = 0
    for _ in range(_ATTEMPTS):
        if not groups:
            break
        group = groups.pop(0)
        proved, cost, _ = _quickly(_weaker(r, group), budget, patient=len(r.conditions) < 4)
        spent += cost
        if proved or len(group) == 1:
            found |= dict.fromkeys(group, proved)
        elif len(r.conditions) <= _MANY:
            groups = [[k] for k in group]
        else:
            half = len(group) // 2
            groups += [group[:half], group[half:]]
    return found, spent
