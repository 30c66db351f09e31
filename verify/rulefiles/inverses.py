"""Congruences by one divisor, of which one says that a product leaves the remainder 1: what it multiplies can be left out.

Where ``c·e`` leaves the remainder 1 by d, ``d ∣ x·c`` implies ``d ∣ x``: x is ``x·c·e`` up to a multiple of d.  So a
polynomial P is a multiple of d if ``P·(c·e)`` is one, which is seen by dividing it by the polynomials that hypotheses say
to be multiples of d, ``c·e - 1`` among them.  Nothing but polynomial division is needed.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence

from ...core.condition import Compare, Condition, Divides
from ...core.expr import Expr, Mod
from .. import linear
from ..linear.polynomial import ONE, Poly
from ..obligation import Obligation
from ..preprocess import conjuncts
from ..solve import reduced
from .known import Polynomials

#: The name of this strategy.
INVERSES = "inverses"

#: Polynomials of so many terms are divided, so many of them, so often.
_TERMS = 24
_MULTIPLES = 4
_ROUNDS = 6


def by_inverses(o: Obligation, limits: linear.ReductionBudget) -> tuple[bool, int]:
    """Whether the claim is proved, and at what cost; only where a hypothesis says that something leaves the remainder 1."""
    known, goals = conjuncts(o.hypotheses, o.goal)
    ring = Polynomials()
    multiples: dict[Poly, list[Poly]] = {}
    for h in known:
        for d, p in itertools.chain(_congruence(h, ring), _said(h, ring)):
            multiples.setdefault(d, []).append(p)
    if not any(_inverted(p) is not None for ps in multiples.values() for p in ps):
        return False, 0
    shown: list[Condition] = []
    left: list[Condition] = []
    for goal in goals:
        found = any(_is_multiple(p, d, multiples.get(d, [])) for d, p in _congruence(goal, ring))
        (shown if found else left).append(goal)
    if not shown:
        return False, 0
    spent = 0
    for goal in left:
        outcome = reduced([*known, *shown], goal, limits)
        spent += outcome.resources
        if not outcome.proved:
            return False, spent
    return True, spent


def _congruence(c: Condition, ring: Polynomials) -> Iterator[tuple[Poly, Poly]]:
    """A divisor and that of which ``c`` says that it is a multiple, and no more."""
    match c:
        case Divides(d, e):
            yield _size(d, ring), ring.of(e)
        case Compare("==", Mod(a=a, b=d), Mod(a=b, b=e)) if d == e:
            yield _size(d, ring), ring.of(a) - ring.of(b)


def _size(d: Expr, ring: Polynomials) -> Poly:
    """A divisor or its opposite, which have the same multiples."""
    p = ring.of(d)
    return max(p, -p, key=lambda q: q.key)


def _said(c: Condition, ring: Polynomials) -> Iterator[tuple[Poly, Poly]]:
    """Return the facts that follow from an equation with one remainder."""
    if isinstance(c, Compare) and c.op == "==":
        for r, e in ((c.a, c.b), (c.b, c.a)):
            if isinstance(r, Mod):
                yield _size(r.b, ring), ring.of(r.a) - ring.of(e)


def _inverted(p: Poly) -> Poly | None:
    """Return the expressions that leave the remainder 1 where ``p`` is a multiple."""
    for q in (p, -p):
        if q.constant == -1 and len(q) > 1:
            return q + ONE
    return None


def _is_multiple(p: Poly, d: Poly, known: Sequence[Poly]) -> bool:
    """Whether ``p`` is a multiple of ``d`` because these are."""
    if len(known) > _MULTIPLES:
        return False
    candidates = [p, *(p * unit for q in known if (unit := _inverted(q)) is not None and len(p) * len(unit) <= _TERMS)]
    return any(not _rest(candidate, [d, *order]) for candidate in candidates for order in itertools.permutations(known))


def _rest(p: Poly, divisors: Sequence[Poly]) -> Poly:
    """Reduce ``p`` by these, each in turn."""
    for _ in range(_ROUNDS):
        before = p
        for d in divisors:
            if d and not d.is_constant and len(p) <= _TERMS:
                p = p.divide(d)[1]
        if not p or p == before:
            break
    return p
