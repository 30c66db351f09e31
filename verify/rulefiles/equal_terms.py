"""Terms of a goal that are the same number in other words, replaced by one of them before anything else is asked.

``(x % c % d) // e == (x % d) // e`` where d divides c has two remainders that are equal, and divisors
``min(a, max(b, c))`` and ``max(min(a, b), min(a, c))`` are one divisor.  The reduction looks into a quotient only once it
has named it, and then has to see in every case apart that two quotients have equal dividends and equal divisors.  That
the terms are equal is easily shown first, the inner ones before those around them.

What points that satisfy the hypotheses propose is proved like any goal.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ...core.condition import Condition, all_exprs
from ...core.expr import CeilDiv, Expr, Extremum, FloorDiv, Mod, postorder, var
from .. import linear
from ..evidence import ProofQuestion, note
from ..linear.export import of_equal_terms, recorded
from ..linear.record import Node
from ..obligation import Obligation
from ..refute import sample

#: The name of this strategy.
EQUAL_TERMS = "equal terms"
_DIVISIONS = (FloorDiv, Mod, CeilDiv)
#: So many terms are compared with each other, and so many proposals are tried.
_TERMS = 32
_ATTEMPTS = 8
#: What fewer points say is no proposal.
_POINTS = 12


def proposals(hypotheses: Sequence[Condition], goal: Condition) -> Iterator[tuple[Expr, Expr]]:
    """Terms of a goal and smaller ones that are equal to them at all points tried, inner ones first.

    Of two terms the one that hypotheses speak of stays, else the smaller.
    """
    points = sample(hypotheses, goal)
    if len(points) < _POINTS:
        return
    known = set(postorder(*(e for h in hypotheses for e in all_exprs(h))))
    terms = _terms(goal)
    at = {t: tuple(t.evaluate(p) for p in points) for t in terms}
    sizes = {t: sum(1 for _ in postorder(t)) for t in terms}
    for k, t in enumerate(terms):
        for other in terms[:k]:
            if at[t] == at[other] and (_is_compound(t) or _is_compound(other)):
                stays, goes = sorted((other, t), key=lambda e: (e not in known, sizes[e]))
                # what stays may be a part of what goes, but not the other way round
                yield (goes, stays) if goes not in postorder(stays) else (stays, goes)


def _terms(goal: Condition) -> list[Expr]:
    """Return dividends and divisors, with the minima, maxima, quotients and remainders in them, inner ones first."""
    found: dict[Expr, None] = {}
    for e in postorder(*all_exprs(goal)):
        if isinstance(e, _DIVISIONS):
            for t in postorder(e.a, e.b):
                if t in (e.a, e.b) or isinstance(t, (*_DIVISIONS, Extremum)):
                    found[t] = None
    return list(found)[:_TERMS]


def _is_compound(e: Expr) -> bool:
    return any(isinstance(n, (*_DIVISIONS, Extremum)) for n in postorder(e))


def by_equal_terms(o: Obligation, limits: linear.ReductionBudget) -> tuple[bool, int]:
    """Whether a case is proved once equal terms are one, and the cost.

    What has become of the goal is proved as it stands, or of any number in place of one of the terms that were found to
    be equal, of which there is often no more to say.
    """
    steps, goal, outcomes = _replaced(o.hypotheses, o.goal, limits)
    spent = sum(outcome.resources for outcome in outcomes)
    if not steps:
        return False, spent
    leaves = [leaf for outcome in outcomes if outcome.proved for leaf in outcome.leaves]
    for hypotheses, claim in ((list(o.hypotheses), goal), *_widened(o.hypotheses, goal, steps)):
        last = linear.prove(hypotheses, claim, budget=limits)
        spent += last.resources
        if last.proved:
            note(ProofQuestion("linear", leaf) for leaf in (*leaves, *last.leaves))
            return True, spent
    return False, spent


def _replaced(
    hypotheses: Sequence[Condition], goal: Condition, limits: linear.ReductionBudget
) -> tuple[list[tuple[Expr, Expr]], Condition, list[linear.Reduction]]:
    """The replacements that are proved, the goal after them, and all attempts to prove one."""
    steps: list[tuple[Expr, Expr]] = []
    outcomes: list[linear.Reduction] = []
    asked: set[tuple[Expr, Expr]] = set()
    while len(outcomes) < _ATTEMPTS:
        step = next((s for s in proposals(hypotheses, goal) if s not in asked), None)
        if step is None:
            break
        asked.add(step)
        outcomes.append(linear.prove(hypotheses, step[0].eq(step[1]), budget=limits))
        if outcomes[-1].proved:
            steps.append(step)
            goal = goal.substitute({step[0]: step[1]})
    return steps, goal, outcomes


def _widened(
    hypotheses: Sequence[Condition], goal: Condition, steps: Sequence[tuple[Expr, Expr]]
) -> Iterator[tuple[list[Condition], Condition]]:
    """The claim about any number where it speaks of a term, for each term that has replaced another.

    A claim about all numbers holds of every term, whose divisors are not zero where it stands.
    """
    taken = {v.name for c in (*hypotheses, goal) for v in c.variables()}
    anything = var(next(f"any{k}" for k in range(len(taken) + 1) if f"any{k}" not in taken))
    for term in dict.fromkeys(stays for _, stays in reversed(steps)):
        if _is_compound(term):
            at = {term: anything}
            yield [h.substitute(at) for h in hypotheses], goal.substitute(at)


def proof_by_equal_terms(
    hypotheses: Sequence[Condition], goal: Condition, limits: linear.ReductionBudget
) -> Node | None:
    """The same as a part of a certificate, where the goal is proved as it stands; otherwise ``None``."""
    steps, replaced, _ = _replaced(hypotheses, goal, limits)
    if not steps:
        return None
    claims = (*(a.eq(b) for a, b in steps), replaced)
    return of_equal_terms(steps, [recorded(hypotheses, c, limits) for c in claims])
