"""Merges equal terms of a goal before it is proved.

``(x % c % d) // e == (x % d) // e`` where d divides c has two equal remainders; ``min(a, max(b, c))`` and
``max(min(a, b), min(a, c))`` are equal divisors.  The reduction names each quotient, and must then prove in every
case that dividends and divisors of two quotients are equal.  It is easier to prove such equalities first, from the
inside out.

Candidates are terms that agree at points that satisfy the hypotheses.  Their equality is proved like any goal.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from ...core.condition import Condition, all_exprs
from ...core.expr import Binary, Expr, Extremum, postorder
from ..linear.export import of_equal_terms
from ..linear.record import Node
from ..obligation import Obligation
from ..refute import sample
from .generalise import proof_by_generalisation
from .modular import Show, attempted

#: The name of this strategy.
EQUAL_TERMS = "equal terms"
#: Limits on the terms that are compared, and on the equalities that are tried.
_TERMS = 32
_ATTEMPTS = 8
#: The least number of points that suggest an equality.
_POINTS = 12


def proposals(hypotheses: Sequence[Condition], goal: Condition) -> Iterator[tuple[Expr, Expr]]:
    """Yield pairs of a term and its replacement that agree at all points tried, inner ones first.

    A term that occurs in the hypotheses is kept, otherwise the smaller of the two.
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
                # the replacement may be a part of the term, but must not contain it
                yield (goes, stays) if goes not in postorder(stays) else (stays, goes)


def _terms(goal: Condition) -> list[Expr]:
    """Return dividends and divisors, with the minima, maxima, quotients and remainders in them, inner ones first."""
    found: dict[Expr, None] = {}
    for e in postorder(*all_exprs(goal)):
        if isinstance(e, Binary):
            for t in postorder(e.a, e.b):
                if t in (e.a, e.b) or isinstance(t, (Binary, Extremum)):
                    found[t] = None
    return list(found)[:_TERMS]


def _is_compound(e: Expr) -> bool:
    return any(isinstance(n, (Binary, Extremum)) for n in postorder(e))


def proof_by_equal_terms(o: Obligation, show: Show) -> Node | None:
    """Prove the claim, or one of which it is an instance, after merging equal terms; return the proof, or ``None``."""
    steps, goal, shown = _replaced(o, show)
    if not steps:
        return None
    then = show(o.hypotheses, goal) or proof_by_generalisation(replace(o, goal=goal), show)
    return of_equal_terms(steps, [*shown, then]) if then else None


by_equal_terms = partial(attempted, proof_by_equal_terms)


def _replaced(o: Obligation, show: Show) -> tuple[list[tuple[Expr, Expr]], Condition, list[Any]]:
    """Return the replacements that are proved, the goal after them, and their proofs."""
    steps: list[tuple[Expr, Expr]] = []
    proofs: list[Any] = []
    goal = o.goal
    asked: set[tuple[Expr, Expr]] = set()
    while len(asked) < _ATTEMPTS:
        step = next((s for s in proposals(o.hypotheses, goal) if s not in asked), None)
        if step is None:
            break
        asked.add(step)
        if proof := show(o.hypotheses, step[0].eq(step[1])):
            proofs.append(proof)
            steps.append(step)
            goal = goal.substitute({step[0]: step[1]})
    return steps, goal, proofs
