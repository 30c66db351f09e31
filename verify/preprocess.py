"""Equivalent rewriting of a question before it is given to a solver.

Equalities that define a variable are solved and substituted, conjunctive goals are split, and parts are dropped that
are hypotheses, or true by the canonical form of sums.  Each remaining part is asked with the hypotheses that are
connected to it by common variables.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from operator import itemgetter

from ..core.condition import (
    FALSE,
    TRUE,
    Compare,
    Condition,
    Divides,
    Within,
    all_exprs,
    all_of,
    compare,
    parts_of,
    substitute_conditions,
)
from ..core.expr import Expr, ExprLike, Int, Mul, Sum, Var, integer, linear, natural_key, postorder, var


@dataclass(frozen=True)
class Part:
    """One conjunct of a goal with the relevant hypotheses, in canonical names.

    ``all`` are the hypotheses connected to the goal by common variables: dimensions of an op are mostly independent of
    each other.  ``whole`` are the conjuncts of the goal over these variables, whose quotients are useful too (for
    instance the digits of one index).
    """

    all: tuple[Condition, ...]
    goal: Condition
    whole: Condition


@lru_cache(maxsize=1 << 14)
def mentioned(c: Condition) -> frozenset[Var]:
    """Return the variables in a condition.  Memoized, because every step from a claim to its questions needs them."""
    return frozenset(n for n in postorder(*all_exprs(c)) if isinstance(n, Var))


def substituted(conditions: Sequence[Condition], mapping: Mapping[Var, ExprLike]) -> list[Condition]:
    """Substitute in those conditions that mention a variable of ``mapping``.

    Raises :class:`ZeroDivisionError` if a divisor becomes a literal zero.
    """
    changed = [c for c in conditions if not mentioned(c).isdisjoint(mapping)]
    after = dict(zip(changed, substitute_conditions(changed, mapping), strict=True))
    return [after.get(c, c) for c in conditions]


def flattened(conditions: Sequence[Condition]) -> list[Condition]:
    """Split conjunctions, and remove parts that are trivially true."""
    return list(dict.fromkeys(p for c in conditions for p in parts_of(c) if p is not TRUE))


def definition(c: Condition, *, short: bool = True) -> tuple[Var, Expr] | None:
    """Solve an equation for a variable that occurs once: return ``v, e`` such that it is equivalent to ``v = e``."""
    if not isinstance(c, Compare) or c.op != "==":
        return None
    gap = c.a - c.b
    const, terms = (gap.const, gap.terms) if isinstance(gap, Sum) else (0, ((gap, 1),))
    # a long definition would be multiplied out in every bound, which is worse for a solver than the equation
    if short and (len(terms) > 3 or not all(isinstance(t, Var) for t, _ in terms)):
        return None
    for t, k in sorted(terms, key=lambda t: natural_key(str(t[0])), reverse=True):
        if isinstance(t, Var) and abs(k) == 1:
            rest = linear(const, [(u, j) for u, j in terms if u is not t])
            if t not in rest.variables():
                return t, rest * -k
    return None


def solved(hypotheses: Sequence[Condition], goal: Condition) -> tuple[list[Condition], Condition]:
    """Substitute all definitions of variables; the question is equivalent to the original.

    Hypotheses that make a divisor zero hold nowhere, since a claim is about points at which every divisor is nonzero.
    """
    known = flattened(hypotheses)
    while True:
        for n, h in enumerate(known):
            found = definition(h)
            if found is not None:
                v, e = found
                try:
                    *others, goal = substituted([*known[:n], *known[n + 1 :], goal], {v: e})
                except ZeroDivisionError:
                    return [FALSE], goal
                known = flattened(others)
                break
        else:
            return known, goal


def _implied(goal: Condition, known: Sequence[Condition]) -> bool:
    """Return whether ``goal`` is a hypothesis, or one bound of a range that is a hypothesis."""
    if goal in known:
        return True
    if isinstance(goal, Divides):
        return _multiple(goal, known)
    if isinstance(goal, Compare) and goal.op == "<=":
        gap = goal.b - goal.a
        for h in known:
            if isinstance(h, Within) and ((h.hi - h.e) is gap or (h.e - h.lo) is gap):
                return True
    return isinstance(goal, Compare) and compare(goal.op, integer(0), goal.b - goal.a) is TRUE


def _multiple(goal: Divides, known: Sequence[Condition]) -> bool:
    """Return whether a hypothesis writes the dividend as a multiple of the divisor, which is known to be nonzero."""
    if goal.d.ne(0) not in known and not positive(goal.d, lower_bounds(known)):
        return False
    for h in known:
        if isinstance(h, Compare) and h.op == "==":
            for side, other in ((h.a, h.b), (h.b, h.a)):
                if side is goal.e and (other is goal.d or (isinstance(other, Mul) and goal.d in other.factors)):
                    return True
    return False


def comparisons(goal: Condition) -> list[Condition]:
    """Split a goal into its parts, with each bound of an interval as a part of its own."""
    out: list[Condition] = []
    for g in parts_of(goal):
        if isinstance(g, Within):
            out += [g.lo <= g.e, g.e <= g.hi]
        else:
            out.append(g)
    return out


def conjuncts(hypotheses: Sequence[Condition], goal: Condition) -> tuple[list[Condition], list[Condition]]:
    """Return the hypotheses with definitions substituted, and the conjuncts of the goal that are not trivial."""
    known, goal = solved(hypotheses, goal)
    if all_of(known) is FALSE:
        return known, []
    return known, [g for g in comparisons(goal) if g is not TRUE and not _implied(g, known)]


def part(known: Sequence[Condition], goals: Sequence[Condition], goal: Condition) -> Part:
    """Return the question whether ``known`` implies ``goal``, one of ``goals``.

    Variables are renamed in natural order of their names.  So the same question about another dimension becomes
    identical, with the same answer at the same cost.
    """
    reached = _reached(known, goal)
    variables = {v for c in (*reached, goal) for v in mentioned(c)}
    numbered = sorted(variables, key=lambda v: (natural_key(v.name), v.kind))
    names = {v: var(f"v{k}") for k, v in enumerate(numbered)}
    whole = [g for g in goals if mentioned(g) <= variables]
    every = [*reached, *whole, goal]
    renamed = dict(zip(every, substituted(every, names), strict=True))
    return Part(ordered(renamed[h] for h in reached), renamed[goal], all_of(ordered(renamed[g] for g in whole)))


def ordered(conditions: Iterable[Condition]) -> tuple[Condition, ...]:
    """Sort conditions in an order that depends on them alone."""
    listed = [((type(c).__name__, [e.key for e in all_exprs(c)]), c) for c in conditions]
    listed.sort(key=itemgetter(0))
    # the first key separates most of them; their text, which is slower to build, breaks ties
    return tuple(
        c for _, alike in itertools.groupby(listed, key=itemgetter(0)) for c in _by_text([c for _, c in alike])
    )


def _by_text(conditions: list[Condition]) -> list[Condition]:
    return sorted(conditions, key=str) if len(conditions) > 1 else conditions


def _reached(known: Sequence[Condition], goal: Condition) -> list[Condition]:
    """Return the hypotheses connected to the goal by common variables, in order."""
    reached = mentioned(goal)
    left = {h: mentioned(h) for h in known}
    while more := {h: vs for h, vs in left.items() if not reached.isdisjoint(vs)}:
        reached = reached.union(*more.values())
        left = {h: vs for h, vs in left.items() if h not in more}
    return [h for h in known if h not in left]


def lower_bounds(known: Sequence[Condition]) -> dict[Var, int]:
    """Return constant lower bounds of variables that the hypotheses state, or imply because a range is not empty.

    ``i ∈ [0, n - 1]`` has a member, so ``n >= 1``.
    """
    found: dict[Var, int] = {}

    def at_least(e: Expr, least: int) -> None:
        """Record ``e >= least`` if ``e`` is a variable plus a constant."""
        const, terms = (e.const, e.terms) if isinstance(e, Sum) else (0, ((e, 1),))
        if len(terms) == 1 and isinstance(terms[0][0], Var) and terms[0][1] == 1:
            v = terms[0][0]
            found[v] = max(found.get(v, least - const), least - const)

    for h in known:
        match h:
            case Within(e, Int() as lo, hi):
                at_least(e, lo.value)
                at_least(hi, lo.value)
            case Compare("<=", a, b):
                at_least(b - a, 0)
            case Compare("<", a, b):
                at_least(b - a, 1)
    return found


def positive(e: Expr, least: dict[Var, int]) -> bool:
    """Return whether ``e >= 1`` follows from constant lower bounds of its variables, by monotonicity alone."""
    match e:
        case Int():
            return e.value > 0
        case Var():
            return least.get(e, 0) > 0
        case Mul():
            return all(positive(f, least) for f in e.factors)
        case Sum():
            total = e.const
            for t, k in e.terms:
                low = _least(t, least)
                if k < 0 or low is None:
                    return False
                total += k * low
            return total > 0
    return False


def _least(t: Expr, least: dict[Var, int]) -> int | None:
    """Return a constant lower bound of a summand, if one is known."""
    if isinstance(t, Var):
        return least.get(t)
    if isinstance(t, Mul):
        low = 1
        for f in t.factors:
            bound = _least(f, least)
            if bound is None or bound < 0:
                return None
            low *= bound
        return low
    return None
