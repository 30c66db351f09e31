"""Bounds of expressions, from conditions and to the boxes and constraints of a map.

Every step is an equivalence on the domain.  The rules of :mod:`indexproof.rules.constraints` simplify the result.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping

from .condition import FALSE, TRUE, And, Compare, Condition, Divides, Not, Or, Within, negate
from .expr import Expr, Int, Var, as_sum, integer, linear, maximum, minimum, mod
from .facts import Facts
from .interval import LINE, End, Interval, is_infinite
from .variables import Constraint

#: The constraint ``lo <= expr <= hi``, whose ends may be infinite.
Inequality = tuple[Expr, End, End]


def constraints_of(condition: Condition) -> list[Inequality]:
    """Return constraints ``expr in [lo, hi]`` whose conjunction is equivalent to the condition.

    A disjunction becomes one constraint on a maximum: ``a or b`` is ``max(a', b') >= 1``, where ``a' >= 1`` is
    equivalent to ``a``.
    """
    if condition is TRUE:
        return []
    if condition is FALSE:
        return [(integer(0), 1, 1)]
    match condition:
        case And(args):
            return [c for part in args for c in constraints_of(part)]
        case Within(e, Int(value=lo), Int(value=hi)):
            return [(e, lo, hi)]
        case Within(e, lo, hi):
            return [(e - lo, 0, math.inf), (hi - e, 0, math.inf)]
        case Compare("<=", a, b):
            return [(b - a, 0, math.inf)]
        case Compare("<", a, b):
            return [(b - a, 1, math.inf)]
        case Compare("==", a, b):
            return [(a - b, 0, 0)]
        case Divides(d, e):
            return [(mod(e, d), 0, 0)]
    return [(_truth(condition), 1, math.inf)]


def _truth(condition: Condition) -> Expr:
    """Return an expression that is at least 1 exactly where the condition holds."""
    if condition is TRUE:
        return integer(1)
    if condition is FALSE:
        return integer(0)
    match condition:
        case Or(args):
            return maximum(*map(_truth, args))
        case And(args):
            return minimum(*map(_truth, args))
        case Within(e, lo, hi):
            return minimum(e - lo, hi - e) + 1
        case Compare("<=", a, b):
            return b - a + 1
        case Compare("<", a, b):
            return b - a
        case Compare("==", a, b):
            return minimum(a - b, b - a) + 1
        case Compare("!=", a, b):
            return maximum(a - b, b - a)
        case Divides(d, e):
            return 1 - _distance(d, e)
        case Not(Divides(d, e)):
            return _distance(d, e)
        case Not(arg):
            return _truth(negate(arg))
    raise AssertionError(f"no constraint for {type(condition).__name__}")


def _distance(d: Expr, e: Expr) -> Expr:
    # a remainder has the sign of the divisor
    if isinstance(d, Int):
        return mod(e, abs(d.value))
    return maximum(mod(e, d), -mod(e, d))


def merged(
    bounded: Iterable[Inequality], boxes: Mapping[Var, tuple[End, End]]
) -> tuple[dict[Var, Interval], list[Inequality]]:
    """Return the boxes, narrowed by bounds of their variables, and the other bounds, one for each expression.

    Expressions lose their constant, and those that differ by the sign are one expression.  Where the bounds of a
    constant are violated, the first bound is ``0 in [1, 1]``.
    """
    found: dict[Expr, Interval] = {v: Interval(*ends) for v, ends in boxes.items()}
    bounds: dict[Expr, Interval] = {}
    never: list[Inequality] = []
    for e, lo, hi in bounded:
        const, terms = as_sum(e)
        said = Interval(lo, hi).shift(-const)
        if not terms:
            never = never if said.lo <= 0 <= said.hi else [(integer(0), 1, 1)]
            continue
        body, negative = linear(0, terms), linear(0, [(t, -k) for t, k in terms])
        alone, k = terms[0]
        if len(terms) == 1 and alone in found:
            lo, hi = said if k > 0 else said.scale(-1)
            size = abs(k)
            found[alone] &= Interval(lo if is_infinite(lo) else -(-lo // size), hi if is_infinite(hi) else hi // size)
        elif negative in bounds or (all(k < 0 for _, k in terms) and body not in bounds):
            bounds[negative] = bounds.get(negative, LINE) & said.scale(-1)
        else:
            bounds[body] = bounds.get(body, LINE) & said
    return {v: found[v] for v in boxes}, [*never, *((e, lo, hi) for e, (lo, hi) in bounds.items())]


def constrained(bounded: Iterable[Inequality], boxes: Mapping[Var, tuple[End, End]]) -> list[Constraint]:
    """Return the bounds that do not always hold as constraints.

    An infinite end becomes the end of the expression's range in the boxes.
    """
    facts = Facts(boxes)
    found: list[Constraint] = []
    for e, lo, hi in bounded:
        i = facts.interval(e)
        if not i.inside(Interval(lo, hi)):
            found.append(Constraint(e, int(i.lo if is_infinite(lo) else lo), int(i.hi if is_infinite(hi) else hi)))
    return found
