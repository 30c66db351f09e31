"""Solves the results of a map for its variables, to find a candidate for its inverse.

``d0·k + d1 = t`` is solved digit by digit, quotient and remainder of one dividend are joined, and variables that remain
get their lower bounds.  The candidate is proved afterwards; nothing here is trusted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from math import gcd

from ..core.expr import (
    Expr,
    FloorDiv,
    Int,
    Max,
    Min,
    Mod,
    Mul,
    Sum,
    Var,
    add,
    floordiv,
    integer,
    lift,
    minimum,
    mod,
    mul,
    postorder,
    substitute_all,
)

Equation = tuple[Expr, Expr]


def solutions(
    equations: Sequence[Equation],
    unknown: Sequence[Var],
    least: Mapping[Var, Expr],
    most: Mapping[Var, Expr] | None = None,
) -> Iterator[dict[Expr, Expr]]:
    """Yield the solutions of :func:`solved` with each extremum replaced by one of its arguments.

    Variables in extrema are solved first and then the others, because the position of a clamped window comes first.
    """
    lefts = [e for e, _ in equations]
    clamped = {v for e in postorder(*lefts) if isinstance(e, Min | Max) for v in e.variables()}
    rest = [v for v in unknown if v not in clamped]
    for branch in _branches(lefts, {*unknown}):
        found = solved([(e, t) for e, (_, t) in zip(branch, equations, strict=True)], unknown, least, most)
        first: dict[Expr, Expr] = {v: found[v] for v in unknown if v in clamped}
        yield first | solved(_with(equations, first), rest, least, most) if first else found


def _branches(lefts: list[Expr], unknown: set[Var]) -> Iterator[list[Expr]]:
    """Yield the expressions with each extremum replaced by an argument, first by those with ``unknown`` variables."""
    for e in reversed(postorder(*lefts)):
        if isinstance(e, Min | Max) and not unknown.isdisjoint(e.variables()):
            for a in sorted(e.args, key=lambda a: unknown.isdisjoint(a.variables())):
                yield from _branches(substitute_all(lefts, {e: a}), unknown)
            return
    yield lefts


def _with(equations: Sequence[Equation], values: Mapping[Expr, Expr]) -> list[Equation]:
    """Substitute values in the left sides of equations."""
    lefts = substitute_all([e for e, _ in equations], values)
    return [(e, t) for e, (_, t) in zip(lefts, equations, strict=True)]


def solved(
    equations: Sequence[Equation],
    unknown: Sequence[Var],
    least: Mapping[Var, Expr],
    most: Mapping[Var, Expr] | None = None,
) -> dict[Expr, Expr]:
    """Return candidate values of ``unknown`` for which the left sides equal the right sides, which do not contain them.

    ``least`` has the lower bounds that are known.  With upper bounds, digits may overlap, as in a sliding window: then
    each digit, from the largest weight, is taken as large as possible.
    """
    found: dict[Expr, Expr] = {}
    open_ = [*equations]
    while len(found) < len(unknown):
        # values found may occur in other equations, including those of a pair
        open_ = [eq for eq in _with(open_, found) if not {*unknown}.isdisjoint(eq[0].variables())]
        step = next((s for e, t in open_ if (s := _step(e, t, unknown, least, most, open_))), None)
        if step is None:
            step = next((s for e, t in open_ if (s := _guess(e, t, {*unknown}, least))), None)
        if step is None:
            break
        used, made = step
        for v, t in (m for m in made if isinstance(m[0], Var)):
            found.setdefault(v, t)
        open_ = [eq for eq in open_ if eq[0] not in used] + [m for m in made if not isinstance(m[0], Var)]
    return found | {v: least.get(v, integer(0)) for v in unknown if v not in found}


def _step(
    e: Expr,
    t: Expr,
    unknown: Sequence[Var],
    least: Mapping[Var, Expr],
    most: Mapping[Var, Expr] | None,
    among: Sequence[Equation],
) -> tuple[list[Expr], list[Equation]] | None:
    """Return the equations used, and those that follow from them."""
    if isinstance(e, Var):
        return [e], [(e, t)]
    if isinstance(e, (FloorDiv, Mod)):
        for other, u in among:
            if isinstance(other, (FloorDiv, Mod)) and other.b is e.b and type(other) is not type(e):
                (over, quotient), (under, rest) = [(e, t), (other, u)][:: 1 if isinstance(e, FloorDiv) else -1]
                if under.a is over.a:
                    return [e, other], [(e.a, mul(quotient, e.b) + rest)]
                # the remainder of a shifted dividend gives that of the dividend
                for shift, turned in ((under.a - over.a, 1), (under.a + over.a, -1)):
                    if {*unknown}.isdisjoint(shift.variables()):
                        return [e, other], [(over.a, mul(quotient, e.b) + mod((rest - shift) * turned, e.b))]
            inner = e.a
            if (
                isinstance(e, Mod)
                and isinstance(inner, FloorDiv)
                and isinstance(other, FloorDiv)
                and other.a is inner.a
                and other.b is mul(inner.b, e.b)
            ):
                # x // a mod b and x // (a·b) give x // a
                return [e, other], [(inner, mul(u, e.b) + t)]
        return None
    if not isinstance(e, (Sum, Mul)):
        return None
    digits: list[tuple[Expr, Expr]] = []
    for part, times in _apart(e).terms if isinstance(e, Sum) else ((e, 1),):
        factors = part.factors if isinstance(part, Mul) else (part,)
        inside = [f for f in factors if not {*unknown}.isdisjoint(f.variables())]
        if not inside:
            t = t - part * times
        elif len(inside) > 1:
            return None
        else:
            weight = mul(times, *[f for f in factors if f is not inside[0]])
            low = _low(inside[0], least)
            t = t - mul(low, weight)
            digits.append((inside[0], weight))
    t = t - e.const if isinstance(e, Sum) else t
    digits.sort(key=lambda d: _size(d[1]))
    made: list[Equation] = []
    if most is not None:
        for x, weight in reversed(digits):
            low = _low(x, least)
            value = _over(t, weight)
            if isinstance(x, Var) and x in most and len(made) + 1 < len(digits):
                value = minimum(value, most[x] - low)
            made.append((x, value + low))
            t = t - mul(value, weight)
        return [e], made
    for (x, weight), (_, above) in pairwise([*digits, (e, integer(0))]):
        value = _over(t, weight)
        if above is not integer(0):
            step = _upward(above)
            digit = ratio(step, _upward(weight))
            value = mod(value, digit) if digit is not None else _over(mod(t, step), weight)
        made.append((x, value + _low(x, least)))
        if weight is not _upward(weight):
            # a reversed digit is not positive, so it borrows from those above
            t = t - mul(value, weight)
    return [e], made


def _apart(e: Sum) -> Sum:
    """Replace a variable that occurs beside its remainder by multiples of the divisor and this remainder."""
    remainders = {r.a: r for x, _ in e.terms for r in (x.factors if isinstance(x, Mul) else (x,)) if isinstance(r, Mod)}
    apart = {x: mul(floordiv(x, r.b), r.b) + r for x, _ in e.terms if (r := remainders.get(x)) is not None}
    made = add(e.const, *(mul(apart.get(x, x), k) for x, k in e.terms))
    return made if isinstance(made, Sum) else e


def _low(x: Expr, least: Mapping[Var, Expr]) -> Expr:
    return least.get(x, integer(0)) if isinstance(x, Var) else integer(0)


def _guess(e: Expr, t: Expr, unknown: set[Var], least: Mapping[Var, Expr]) -> tuple[list[Expr], list[Equation]] | None:
    """Solve a single quotient for the smallest dividend, or a remainder for the first one from a known end."""
    if isinstance(e, FloorDiv):
        return [e], [(e.a, mul(t, e.b))]
    if not isinstance(e, Mod):
        return None
    end = e.a.substitute({v: least.get(v, integer(0)) for v in unknown})
    if isinstance(e.a, Sum) and any(k < 0 for x, k in e.a.terms if not unknown.isdisjoint(x.variables())):
        return [e], [(e.a, end - mod(end - t, e.b))]
    first = t if end is integer(0) else mod(t - end, e.b)
    return [e], [(e.a, end + first + mul(_turns(e.a, e.b, first, unknown), e.b))]


def _turns(a: Expr, b: Expr, first: Expr, unknown: set[Var]) -> Expr:
    """Return after how many periods b a dividend in steps of c has a value, if b is next to a multiple of c."""
    terms = a.terms if isinstance(a, Sum) else ((a, 1),)
    step = gcd(*(k for x, k in terms if not unknown.isdisjoint(x.variables())))
    residues = {b.const % step} if isinstance(b, Sum) and all(k % step == 0 for _, k in b.terms) else {1, step - 1}
    # first + turns * b is a multiple of the step
    turned = next((sign for sign in (1, -1) if residues == {-sign % step}), 0)
    return mod(first * turned, step) if turned and step > 1 else integer(0)


def _over(t: Expr, weight: Expr) -> Expr:
    if weight is not (step := _upward(weight)):
        # a decreasing term: the number of whole steps, negated
        return _over(t, step) * -1
    return t if weight is integer(1) else floordiv(t, weight)


def _monomial(weight: Expr) -> tuple[int, Counter[Expr]]:
    """Return a product as its integer and its factors."""
    times = 1
    if isinstance(weight, Sum) and not weight.const and len(weight.terms) == 1:
        weight, times = weight.terms[0]
    if isinstance(weight, Int):
        return weight.value, Counter()
    return times, Counter(weight.factors if isinstance(weight, Mul) else (weight,))


def _upward(weight: Expr) -> Expr:
    return weight * -1 if _monomial(weight)[0] < 0 else weight


def _size(weight: Expr) -> tuple[int, int, str]:
    times, factors = _monomial(weight)
    return sum(factors.values()), abs(times), str(weight)


def reduced(large: Expr, small: Expr) -> tuple[Expr, Expr]:
    """Return two products without their common factors."""
    (a, more), (b, fewer) = _monomial(large), _monomial(small)
    common = gcd(a, b) or 1
    return mul(lift(a // common), *(more - fewer).elements()), mul(lift(b // common), *(fewer - more).elements())


def ratio(large: Expr, small: Expr) -> Expr | None:
    """Return the quotient of two products, if it is a product."""
    whole, rest = reduced(large, small)
    return whole if rest is integer(1) else None
