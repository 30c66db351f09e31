"""Tightening: turn constraints on single variables into bounds of these variables.

Every step is an equivalence on the domain, so the map's relation stays the same.  The constant, the common divisor of
the coefficients and an outer ``floordiv`` or ``ceildiv`` are removed from each constraint.  If the remaining expression
is a variable, the constraint becomes a bound.  A constraint on a remainder moves the bounds to the first and the last
value that satisfies it, and is kept.  Constraints that the bounds imply are dropped.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

from .condition import FALSE, TRUE, And, Compare, Condition, Divides, Not, Or, Within, negate
from .expr import CeilDiv, Expr, FloorDiv, Int, Mod, Sum, Var, integer, linear, maximum, minimum, mod
from .facts import Facts
from .interval import Interval, is_infinite

End = int | float
#: The constraint ``lo <= expr <= hi``, whose ends may be infinite.
Bounded = tuple[Expr, End, End]
#: Limit on the search for the first and last value of a remainder whose coefficient is not ±1.
_SEARCH = 10_000


# ---------------------------------------------------------------------------------- conditions as constraints
def constraints_of(condition: Condition) -> list[Bounded]:
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


# ------------------------------------------------------------------------------------------------- tightening
def tighten(
    bounds: Mapping[Var, Interval], constraints: Iterable[Bounded]
) -> tuple[dict[Var, Interval], list[Bounded]]:
    """Return equivalent bounds and constraints, as tight as constraints on single variables make them.

    The ends of the returned constraints are finite.  Where the domain is found to be empty, the only constraint is ``0
    in [1, 1]``.
    """
    box = dict(bounds)
    left = [_stripped(*c) for c in constraints]
    while True:
        changed = False
        kept: list[Bounded] = []
        facts = Facts(box)
        for e, lo, hi in left:
            if isinstance(e, Var):
                new = box[e] & Interval(lo, hi)
                changed |= new != box[e]
                box[e] = new
                continue
            known = facts.interval(e)
            if known.empty or known.inside(Interval(lo, hi)):
                continue
            if lo > hi or (known & Interval(lo, hi)).empty:
                return box, [(integer(0), 1, 1)]
            found = _remainder(e, lo, hi, box)
            if found is not None:
                v, new = found
                changed |= new != box[v]
                box[v] = new
            kept.append((e, lo, hi))
        left = kept
        if not changed:
            break
    facts = Facts(box)
    return box, [(e, *_finite(facts.interval(e), lo, hi)) for e, lo, hi in left]


def _finite(known: Interval, lo: End, hi: End) -> tuple[End, End]:
    """Replace infinite ends by the ends that the bounds imply."""
    return known.lo if is_infinite(lo) else lo, known.hi if is_infinite(hi) else hi


def _down(a: End, k: int) -> End:
    """Return ``a // k`` for positive ``k``."""
    return a if isinstance(a, float) else a // k


def _up(a: End, k: int) -> End:
    """Return ``a / k`` rounded up, for positive ``k``."""
    return a if isinstance(a, float) else -(-a // k)


def _stripped(e: Expr, lo: End, hi: End) -> Bounded:
    """Return an equivalent constraint without outer constants, common factors and divisions."""
    while True:
        match e:
            case Sum(const=c, terms=terms):
                g = math.gcd(*(k for _, k in terms))
                sign = -1 if len(terms) == 1 and terms[0][1] < 0 else 1
                if c == 0 and g == 1 and sign == 1:
                    return e, lo, hi
                lo, hi = Interval(lo, hi).shift(-c)
                if sign < 0:
                    lo, hi = -hi, -lo
                e, lo, hi = linear(0, [(t, sign * k // g) for t, k in terms]), _up(lo, g), _down(hi, g)
            case FloorDiv(a=a, b=Int(value=d)):
                # lo <= a // d <= hi  iff  lo·d <= a <= hi·d + d - 1, for positive d
                e, (lo, hi) = (a, Interval(lo, hi).scale(d).plus(Interval(0, d - 1) if d > 0 else Interval(d + 1, 0)))
            case CeilDiv(a=a, b=Int(value=d)):
                # lo <= ceildiv(a, d) <= hi  iff  lo·d - d + 1 <= a <= hi·d, for positive d
                e, (lo, hi) = (a, Interval(lo, hi).scale(d).plus(Interval(1 - d, 0) if d > 0 else Interval(0, -d - 1)))
            case _:
                return e, lo, hi


def _remainder(e: Expr, lo: End, hi: End, box: Mapping[Var, Interval]) -> tuple[Var, Interval] | None:
    """Return ``v`` and its bounds from ``(k·v + c) mod m in [lo, hi]``: the first and last value that satisfies it."""
    match e:
        case Mod(a=Var() as v, b=Int(value=m)):
            k, c = 1, 0
        case Mod(a=Sum(const=c, terms=((Var() as v, k),)), b=Int(value=m)):
            pass
        case _:
            return None
    if m <= 0:
        return None
    first, last = int(max(lo, 0)), int(min(hi, m - 1))
    return v, Interval(_next(box[v].lo, k, c, m, first, last, 1), _next(box[v].hi, k, c, m, first, last, -1))


def _next(start: End, k: int, c: int, m: int, first: int, last: int, step: int) -> End:
    """Return the value nearest to ``start`` in the direction of ``step`` whose remainder is in ``[first, last]``."""
    if isinstance(start, float):
        return start
    at = (k * start + c) % m
    if first <= at <= last:
        return start
    move = k * step % m
    if move == 1:
        return start + step * ((first - at) % m)
    if move == m - 1:
        return start + step * ((at - last) % m)
    for n in range(1, min(m, _SEARCH) + 1):
        if first <= (at + n * move) % m <= last:
            return start + step * n
    return start


def tighten_around(
    free: Mapping[Var, Interval], fixed: Mapping[Var, Interval], constraints: Sequence[Bounded]
) -> tuple[dict[Var, Interval], list[Bounded]]:
    """Apply :func:`tighten`, but keep the bounds of variables in ``fixed``: constraints on one of them stay."""
    box, left = tighten({**free, **fixed}, constraints)
    kept: list[Bounded] = [(v, int(box[v].lo), int(box[v].hi)) for v, i in fixed.items() if box[v] != i]
    return {v: box[v] for v in free}, [*left, *kept]
