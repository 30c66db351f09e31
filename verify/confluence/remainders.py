"""Sets of remainders of one expression: whatever is done first, one remainder is left, or nothing.

Both sides of a pair may be constraints ``x % m = s`` on one expression ``x``, or *nowhere*.  Every rule is an equivalence,
so both sides have the same solutions among the integers, which are those of the pair itself.

- *No solutions.*  Congruences that can be satisfied two by two can be satisfied together (the Chinese remainder theorem, in
  its general form).  So in a set without solutions there is a remainder out of its range, and the rule for bounds that hold
  nowhere applies, or there are two that contradict each other modulo the greatest common divisor of their moduli, and the
  strategy of :func:`~indexproof.rules.constraints.remainders_contradict` proposes it.  Either way nothing is left, on both
  sides.
- *Solutions, and moduli above zero.*  Two remainders do not contradict each other, so the strategy of
  :func:`~indexproof.rules.constraints.remainders_merge` makes one of them, with a modulus above zero and a remainder in
  range.  So one is left on both sides.  Remainders in range with moduli above zero that have the same solutions are the
  same (:func:`same_solutions`, which is proved).  A remainder whose modulus divides that of another one on its side, and
  which that implies, vanishes before, whatever its sign.

Where one side is nowhere there are no solutions; if the other is one remainder in range, its conditions exclude each other.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from ...core.condition import Compare, Condition, all_of
from ...core.expr import Expr, Mod, integer, var
from ...core.rewrite import Bounded, ConstraintRule
from ...rules.constraints import NOWHERE
from ..obligations import Obligation
from ..solve import Budget, valid
from .constraint_posed import Posed, Side
from .joining import Known
from .tightening import empties

__all__ = ["CONTRADICTORY", "JOINED", "by_remainders", "same_solutions"]

JOINED = "joined"
CONTRADICTORY = "contradictory"


def same_solutions() -> Obligation:
    """Remainders in range with moduli above zero and the same solutions are the same.

    Both have solutions, ``s`` and ``t``; these, and the next ones above them, are solutions of the other one too.
    """
    m, n, s, t = (var(name, "const") for name in "mnst")
    given: tuple[Condition, ...] = (m > 0, n > 0, s.within(0, m - 1), t.within(0, n - 1))
    shared = ((s % n).eq(t), ((s + m) % n).eq(t), (t % m).eq(s), ((t + n) % m).eq(s))
    # what divides each other is the same; said as a step, because it is about products
    divides = (n.divides(m), m.divides(n))
    return Obligation(
        "confluence",
        "remainders",
        "the same solutions",
        (*given, *shared, *divides),
        all_of((m.eq(n), s.eq(t))),
    )


def moduli_divide() -> Obligation:
    """Two solutions that lie a modulus apart are one modulo the other, so that divides it."""
    m, n, s, t = (var(name, "const") for name in "mnst")
    given = (m > 0, n > 0, (s % n).eq(t), ((s + m) % n).eq(t))
    return Obligation("confluence", "remainders", "moduli divide each other", given, n.divides(m))


@cache
def _proved() -> bool:
    return all(valid(o, Budget()).proved for o in (moduli_divide(), same_solutions()))


def _remainders(side: Side) -> list[tuple[Expr, Expr, Expr]] | None:
    """The dividend, modulus and remainder of each constraint, if that is what they are."""
    found: list[tuple[Expr, Expr, Expr]] = []
    for b in side:
        if not isinstance(b.e, Mod) or b.lo is not b.hi:
            return None
        found.append((b.e.a, b.e.b, b.lo))
    return found


def _implied(
    one: tuple[Expr, Expr, Expr], other: tuple[Expr, Expr, Expr], given: Sequence[Condition], known: Known
) -> bool:
    """Whether a remainder says what another one implies: its modulus divides the other one."""
    (_, n, t), (_, m, s) = one, other
    while isinstance(t, Mod) and isinstance(t.a, Mod) and known.implies(t.b.divides(t.a.b)):
        t = t.a.a % t.b
    if t is not s % n:
        return False
    same = [(c.a, c.b) for c in given if isinstance(c, Compare) and c.op == "=="]
    written = [m, *(b for a, b in same if a is m), *(a for a, b in same if b is m)]
    return any(known.implies(n.divides(e)) for e in written)


def _left(
    side: Sequence[tuple[Expr, Expr, Expr]], given: Sequence[Condition], known: Known
) -> list[tuple[Expr, Expr, Expr]]:
    """The remainders of one side without those that others of it imply."""
    left = list(side)
    for r in side:
        others = [q for q in left if q is not r]
        if any(_implied(r, q, given, known) for q in others):
            left = others
    return left


def _drops(rule: ConstraintRule) -> bool:
    """Whether a rule lets a remainder vanish that another one implies, whatever the moduli are."""
    if len(rule.left) != 2 or rule.right != rule.left[:1] or rule.choose:
        return False
    p, q = rule.left
    if not isinstance(p.e, Mod) or not isinstance(q.e, Mod) or p.lo is not p.hi or q.lo is not q.hi:
        return False
    return set(rule.conditions) == {q.e.b.divides(p.e.b), q.lo.eq(p.lo % q.e.b)}


def _nowhere(side: Sequence[Bounded]) -> bool:
    return any(b == NOWHERE for b in side)


def by_remainders(p: Posed, rules: Sequence[ConstraintRule]) -> str:
    """What the argument above says of one case of a pair: :data:`JOINED`, :data:`CONTRADICTORY` or nothing."""
    pair = (p.overlap.outer, p.overlap.inner)
    if any(v.kind != "const" for r in pair for c in r.conditions for v in c.variables()):
        # what holds on the boxes only is no equivalence of remainders
        return ""
    strategies = {r.choose for r in rules}
    if not {"common_multiple", "greatest_common_divisor"} <= strategies or not any(map(empties, rules)):
        return ""
    empty = [_nowhere(side) for side in (p.first, p.second)]
    sides = [[] if none else _remainders(side) for none, side in zip(empty, (p.first, p.second), strict=True)]
    if any(of is None for of in sides) or all(empty):
        return ""
    known = Known(p.given)
    if any(map(_drops, rules)):
        sides = [_left(of or (), p.given, known) for of in sides]
    all_of_them = [r for of in sides for r in of or ()]
    if len({x for x, _, _ in all_of_them}) != 1 or not _proved():
        return ""
    if any(empty):
        if len(all_of_them) == 1:
            ((_, m, s),) = all_of_them
            return CONTRADICTORY if known.implies(s.within(integer(0), m - 1)) else ""
        return JOINED
    return JOINED if all(known.implies(m > 0) for _, m, _ in all_of_them) else ""
