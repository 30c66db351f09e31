"""Constraints on one number: whatever is done first, they end in what their solutions say.

Both sides of a pair may be constraints on one expression ``x``, which is ``c·z + k`` for a summand ``z`` and numbers ``c``
and ``k``, or a sum without its constant and that constant: remainders ``x % m = s`` with moduli above zero, and bounds.
Rules bring both into one form:

- A remainder loses the constant of its dividend, and its factor where that has nothing in common with the modulus
  (``residue``); what is in common is taken out of dividend and modulus, and of the bounds.  So it is one of ``z``, or a
  number, which is in its bounds or is not.
- Remainders of ``z`` merge, or contradict each other; so one is left, or *nowhere* (:mod:`.remainders`).
- Bounds lose constant and factor, and several are one, their intersection.
- A remainder moves bounds to the nearest solutions on both sides, or beyond each other, and then they hold nowhere.

So where there are solutions a side ends in the one remainder that has those of its remainders, and in bounds that are its
least and its greatest solution.  Of a pair of rules that are equivalences of integers, and rewrite remainders and bounds
each to the same with the same solutions, both sides have the same end.  What merges, or implies another remainder, is an
equivalence of remainders alone; what moves bounds leaves remainders alone.

*Multiples.*  Multiples of a modulus leave the dividend of a remainder, before its constant does or after it: what is
left has the summands of which the modulus divides no factor.

*In a block.*  Where a rule for expressions says that ``x % d`` is ``x - q·d``, as ``x`` stays within a block of ``d``, it
says the same on the other side, where the constraint still stands.  What the rules for bounds ask for then holds of all
values that ``x`` may have.  The values that a remainder admits lie in the block, or it admits none that ``x`` has, which is
nowhere; so both sides are bounds of ``x`` with the same solutions within its range, and end in these, met with that range.
"""

from __future__ import annotations

from collections.abc import Sequence

from ...core.expr import Expr, FloorDiv, Mod, Var
from ...core.rewrite import Bounded, ConstraintRule, Rule
from .constraint_posed import Posed
from .joining import Known
from .linear_form import BY_SUMMANDS, has_forms
from .tightening import empties, intersecting, narrows, satisfied
from .unify import flat

__all__ = ["joined_by_solutions", "joined_by_vanishing", "still_seen"]

#: Strategies of rules that rewrite remainders to remainders with the same solutions.
_OF_REMAINDERS = frozenset({"residue", "common_multiple"})


def _of_constants(rule: ConstraintRule) -> bool:
    """Whether a rule asks for nothing but numbers: then it is an equivalence of integers."""
    return all(v.kind == "const" for c in rule.conditions for v in c.variables())


def _moves_bounds(rule: ConstraintRule) -> bool:
    """Whether a rule narrows bounds of what a remainder is known of, and leaves that alone."""
    if len(rule.left) != 2 or not narrows(rule) or not _of_constants(rule):
        return False
    remainder, bounds = rule.left
    return isinstance(remainder.e, Mod) and remainder.e.a is bounds.e and remainder in rule.right


def _dividends(p: Posed) -> set[Expr]:
    """The expressions of which the pair constrains remainders or bounds."""
    return {b.e.a if isinstance(b.e, Mod) else b.e for b in p.overlap.start}


def _moduli(sides: Sequence[Bounded], known: Known) -> bool:
    """Whether all moduli are above zero."""
    return all(known.implies(b.e.b > 0) for b in sides if isinstance(b.e, Mod))


def joined_by_solutions(p: Posed, rules: Sequence[ConstraintRule], inside: Sequence[Rule]) -> bool:
    """Whether one case of a pair joins by the argument above."""
    outer, inner = p.overlap.outer, p.overlap.inner
    strategies = {r.choose for r in rules}
    needed = {"residue", "common_multiple", "greatest_common_divisor"} <= strategies and has_forms(rules)
    needed = needed and all(any(map(what, rules)) for what in (intersecting, empties, _moves_bounds))
    factors = any(r.choose == "common_factor" and isinstance(r.left, Mod) for r in inside)
    if not needed or not factors or len(_dividends(p)) != 1:
        return False
    known = Known(p.given)
    if not _moduli(p.overlap.start, known):
        return False
    if isinstance(inner, ConstraintRule):
        exact = all(b.lo is b.hi for b in p.overlap.start if isinstance(b.e, Mod))
        return exact and all(
            (r.choose in _OF_REMAINDERS and _equivalent(r)) or _moves_bounds(r) for r in (outer, inner)
        )
    if outer.choose == "residue":
        return inner.choose == "multiples" and outer.left[0].e is p.overlap.at
    # what is rewritten is the remainder, and stands on the other side as it is
    ((n, _),) = p.overlap.shared
    kept = p.overlap.start[n] in p.first and outer.left[n].e is p.overlap.at
    meets = any(r.choose == "whole_range" and narrows(r) for r in rules)
    return kept and meets and inner.choose == "block_of_range" and _moves_bounds(outer)


def _equivalent(rule: ConstraintRule) -> bool:
    """Whether a rule for remainders is an equivalence of integers; that of residues speaks of what it makes."""
    return _of_constants(rule) or rule.choose == "residue"


def joined_by_vanishing(p: Posed) -> bool:
    """Whether one rule lets a constraint vanish that always holds, and the other one that it implies.

    Both are equivalences, so what is left on either side always holds, and vanishes.
    """
    outer, inner = p.overlap.outer, p.overlap.inner
    if not isinstance(inner, ConstraintRule) or not satisfied(outer) or len(p.overlap.shared) != 1:
        return False
    ((n, k),) = p.overlap.shared
    drops = len(inner.left) == 2 and inner.right == (inner.left[k],)
    return drops and p.second == (p.overlap.start[n],)


def still_seen(p: Posed, rules: Sequence[ConstraintRule]) -> bool:
    """Whether a rule that bounds a dividend by a sum sees both on the other side, too, with the same ends for the others.

    The rule for expressions rewrites other summands of the sum, and what it makes of them is no quotient, so nothing
    combines with the one that is seen.  What is left of the sum without it has the same values as before, and so the
    same ends.  It applies on the side where the sum stands, too.  Where nothing is left beside the quotient but a number,
    bounds of the quotient are bounds of its dividend, and these are the same.
    """
    o = p.overlap
    if not isinstance(o.inner, Rule) or o.outer.choose != "dividend" or o.inner.choose not in BY_SUMMANDS:
        return False
    if (
        len(o.start) != 2
        or o.at is not o.outer.left[0].e
        or p.first[0] != o.start[0]
        or p.second[1] != o.start[1]
    ):
        return False
    rest = [t for k, t in flat(o.inner.left).items if isinstance(t, Var) and t.kind == "rest"]
    # a variable that is no summand by itself may hold some of what is seen
    single = o.inner.choose == "next_digit"
    if not single and any(isinstance(t, Var) and t not in rest for _, t in flat(o.inner.left).items):
        return False
    made = [t for _, t in flat(o.inner.right).items if t not in rest]
    if len(rest) != 1 or not made or not all(isinstance(t, Mod) for t in made):
        return False
    # the summand that is seen is none of those that are rewritten
    seen = o.mine["x"] // o.mine["d"]
    terms = [t for _, t in flat(o.start[0].e).items]
    rewritten = [t for t in terms if t not in [u for _, u in flat(p.second[0].e).items]]
    whole = has_forms(rules) and any(map(intersecting, rules))
    return whole and seen in terms and seen not in rewritten and _scales(rules)


def _scales(rules: Sequence[ConstraintRule]) -> bool:
    """Whether bounds of a quotient become bounds of its dividend."""
    return any(len(r.left) == 1 and isinstance(r.left[0].e, FloorDiv) and not r.choose for r in rules)
