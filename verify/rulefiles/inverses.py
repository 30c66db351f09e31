"""Strategy for congruences by one divisor if a hypothesis states that a product has the remainder 1.

If ``c·e ≡ 1`` modulo d, then ``d ∣ x·c`` implies ``d ∣ x``, since ``x ≡ x·c·e``.  So a polynomial P is a multiple of d if
``P·(c·e)`` is.  This is checked by polynomial division by d and by the multiples of d that hypotheses state, among them
``c·e - 1``.
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

#: Limits on the terms of divided polynomials, on the multiples known for a divisor, and on rounds of reduction.
_TERMS = 24
_MULTIPLES = 4
_ROUNDS = 6


def by_inverses(o: Obligation, limits: linear.ReductionBudget) -> tuple[bool, int]:
    """Return whether the claim is proved, and the cost; only if a hypothesis states that a product has the remainder 1."""
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
    """Yield a divisor and a polynomial if ``c`` is equivalent to the polynomial being a multiple of the divisor."""
    match c:
        case Divides(d, e):
            yield _size(d, ring), ring.of(e)
        case Compare("==", Mod(a=a, b=d), Mod(a=b, b=e)) if d == e:
            yield _size(d, ring), ring.of(a) - ring.of(b)


def _size(d: Expr, ring: Polynomials) -> Poly:
    """Return a canonical one of a divisor and its negation, which have the same multiples."""
    p = ring.of(d)
    return max(p, -p, key=lambda q: q.key)


def _said(c: Condition, ring: Polynomials) -> Iterator[tuple[Poly, Poly]]:
    """Yield a divisor and a multiple of it that follow from an equation with a remainder."""
    if isinstance(c, Compare) and c.op == "==":
        for r, e in ((c.a, c.b), (c.b, c.a)):
            if isinstance(r, Mod):
                yield _size(r.b, ring), ring.of(r.a) - ring.of(e)


def _inverted(p: Poly) -> Poly | None:
    """Return the polynomial with remainder 1 if ``p`` or ``-p`` is such a polynomial minus 1, else ``None``."""
    for q in (p, -p):
        if q.constant == -1 and len(q) > 1:
            return q + ONE
    return None


def _is_multiple(p: Poly, d: Poly, known: Sequence[Poly]) -> bool:
    """Return whether division shows ``p`` to be a multiple of ``d``, given ``known`` multiples."""
    if len(known) > _MULTIPLES:
        return False
    candidates = [p, *(p * unit for q in known if (unit := _inverted(q)) is not None and len(p) * len(unit) <= _TERMS)]
    return any(not _rest(candidate, [d, *order]) for candidate in candidates for order in itertools.permutations(known))


def _rest(p: Poly, divisors: Sequence[Poly]) -> Poly:
    """Return the rest of repeated division of ``p`` by the divisors, each in turn."""
    for _ in range(_ROUNDS):
        before = p
        for d in divisors:
            if d and not d.is_constant and len(p) <= _TERMS:
                p = p.divide(d)[1]
        if not p or p == before:
            break
    return p
