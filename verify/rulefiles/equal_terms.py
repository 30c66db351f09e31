"""Terms of a goal that are the same number in other words, replaced by one of them before anything else is asked.

``(x % c % d) // e == (x % d) // e`` where d divides c has two remainders that are equal, and divisors
``min(a, max(b, c))`` and ``max(min(a, b), min(a, c))`` are one divisor.  The reduction looks into a quotient only once it
has named it, and then has to see in every case apart that two quotients have equal dividends and equal divisors.  That
the terms are equal is easily shown first, the inner ones before those around them.

What points that satisfy the hypotheses propose is proved like any goal.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

from ...core.condition import Condition, all_exprs
from ...core.expr import Binary, Expr, Extremum, postorder, var
from ..linear.export import of_equal_terms
from ..linear.record import Node
from ..obligation import Obligation
from ..refute import sample
from .modular import Show, attempted

#: The name of this strategy.
EQUAL_TERMS = "equal terms"
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
        if isinstance(e, Binary):
            for t in postorder(e.a, e.b):
                if t in (e.a, e.b) or isinstance(t, (Binary, Extremum)):
                    found[t] = None
    return list(found)[:_TERMS]


def _is_compound(e: Expr) -> bool:
    return any(isinstance(n, (Binary, Extremum)) for n in postorder(e))


def proof_by_equal_terms(o: Obligation, show: Show) -> Node | None:
    """A proof of the claim once equal terms are one, where it is proved as it stands; ``None`` where there is none."""
    steps, goal, shown = _replaced(o, show)
    then = show(o.hypotheses, goal) if steps else None
    return of_equal_terms(steps, [*shown, then]) if then else None


def _once_equal(o: Obligation, show: Show) -> bool:
    """Whether a case is proved once equal terms are one.

    What has become of the goal is proved as it stands, or of any number in place of one of the terms that were found to
    be equal, of which there is often no more to say.
    """
    steps, goal, _ = _replaced(o, show)
    claims = ((o.hypotheses, goal), *_widened(o.hypotheses, goal, steps))
    return bool(steps) and any(show(*claim) for claim in claims)


by_equal_terms = partial(attempted, _once_equal)


def _replaced(o: Obligation, show: Show) -> tuple[list[tuple[Expr, Expr]], Condition, list[Any]]:
    """The replacements that are proved, the goal after them, and their proofs."""
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
