"""Strategies that propose values for the variables of constraint rules (``choose=``, :func:`~.rewrite.constraint_rule`).

A strategy is given the constraints to match with the left side of a rule, and a function that bounds the values of an
expression on the domain.  The compiled rule checks every proposal.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final, TypeAlias

from .constraint_order import Bound, summands, upright
from .expr import Expr, FloorDiv, Int, Max, Min, Mod, linear, maximum, minimum
from .interval import End

#: Bounds of an expression's values on the domain, infinite floats where there are none or they are too large.
Ends: TypeAlias = Callable[[Expr], tuple[End, End]]
Proposal: TypeAlias = Mapping[str, "Expr | int"]
Strategy: TypeAlias = Callable[[Sequence[Bound], Ends], Iterable[Proposal]]


def _scaled(cs: Sequence[Bound], negative: bool) -> list[Proposal]:
    e, lo, hi = cs[0]
    const, terms = summands(e)
    if const or not terms:
        return []
    g = math.gcd(*[k for _, k in terms])
    if negative:
        if upright(terms):
            return []
        g = -g
    elif g == 1:
        return []
    return [{"x": linear(0, [(t, k // g) for t, k in terms]), "k": g, "lo": lo, "hi": hi}]


def content(cs: Sequence[Bound], ends: Ends) -> list[Proposal]:
    """Propose the greatest common divisor of a sum's coefficients."""
    return _scaled(cs, False)


def negative_content(cs: Sequence[Bound], ends: Ends) -> list[Proposal]:
    """Propose its negation if that makes fewer summands negative, or as many but not the leading one."""
    return _scaled(cs, True)


def whole_range(cs: Sequence[Bound], ends: Ends) -> list[Proposal]:
    """Propose the range of the expression."""
    x, lo, hi = cs[0]
    a, b = ends(x)
    if type(a) is not int or type(b) is not int:
        return []
    return [{"x": x, "lo": lo, "hi": hi, "a": a, "b": b}]


def both_ranges(cs: Sequence[Bound], ends: Ends) -> list[Proposal]:
    """Propose one argument of a minimum or maximum, the others, and the ranges of both.

    Only if the range implies the bound on the other side.
    """
    e, lo, hi = cs[0]
    if not isinstance(e, (Min, Max)):
        return []
    least, most = ends(e)
    x = e.args[0]
    if type(e) is Min and most <= hi:
        y = minimum(*e.args[1:])
        b, d = ends(x)[1], ends(y)[1]
        if type(b) is int and type(d) is int:
            return [{"x": x, "y": y, "lo": lo, "hi": hi, "b": b, "d": d}]
    if type(e) is Max and lo <= least:
        y = maximum(*e.args[1:])
        a, c = ends(x)[0], ends(y)[0]
        if type(a) is int and type(c) is int:
            return [{"x": x, "y": y, "lo": lo, "hi": hi, "a": a, "c": c}]
    return []


def residue_of(e: Mod, s: int) -> tuple[Expr, int, int, int, int] | None:
    """Return ``(y, m, t, u, v)`` such that ``e == s`` exactly if ``y % m == t``, with y as simple as possible.

    y has no constant.  A single summand loses its coefficient v if that is invertible: ``u·v`` is 1 modulo m, and
    y - t is congruent to u times (dividend of e) - s.
    """
    if type(e.b) is not Int or e.b.value <= 0 or not 0 <= s < e.b.value:
        return None
    m = e.b.value
    const, terms = summands(e.a)
    if not terms:
        return None
    u = v = 1
    t = (s - const) % m
    y = linear(0, terms) if const else e.a
    if len(terms) == 1 and terms[0][1] != 1 and math.gcd(terms[0][1], m) == 1:
        y, v = terms[0][0], terms[0][1]
        u = pow(v, -1, m)
        t = t * u % m
    return y, m, t, u, v


def residue(cs: Sequence[Bound], ends: Ends) -> list[Proposal]:
    """Propose the simplest form of a constraint that fixes a remainder."""
    e, lo, hi = cs[0]
    if lo != hi or type(e) is not Mod:
        return []
    found = residue_of(e, lo)
    if found is None or found[0] is e.a:
        return []
    y, m, t, u, v = found
    return [{"x": e.a, "y": y, "m": m, "s": lo, "t": t, "u": u, "v": v}]


def shifted_remainder(c: Bound, y: Expr) -> Proposal:
    """Propose the dividend ``y``, which differs by a constant, for a constraint that fixes a remainder."""
    e, s, _ = c
    assert isinstance(e, Mod)
    assert isinstance(e.b, Int)
    return {"y": y, "t": (s - summands(e.a)[0] + summands(y)[0]) % e.b.value, "u": 1, "v": 1}


def _remainders(cs: Sequence[Bound]) -> tuple[Expr, int, int, int, int] | None:
    """Return ``(x, m, s, n, t)`` for the constraints ``x % m in [s, s]`` and ``x % n in [t, t]``."""
    e, s, s_ = cs[0]
    f, t, t_ = cs[1]
    if type(e) is not Mod or type(f) is not Mod or e.a is not f.a or s != s_ or t != t_:
        return None
    if type(e.b) is not Int or type(f.b) is not Int:
        return None
    return e.a, e.b.value, s, f.b.value, t


def _least_common_multiple(m: int, s: int, n: int, t: int) -> tuple[int, int, int, int, int, int] | None:
    """Return the least common multiple, the common remainder, the cofactors and the Bézout coefficients."""
    if m <= 0 or n <= 0:
        return None
    g = math.gcd(m, n)
    if (s - t) % g or not 0 <= s < m or not 0 <= t < n:
        return None
    a, b = n // g, m // g
    u = pow(a, -1, b) if b > 1 else 0
    v = (1 - u * a) // b
    w = (s + m * ((t - s) // g * pow(b, -1, a) % a if a > 1 else 0)) % (m * a)
    return m * a, w, a, b, u, v


def common_multiple(cs: Sequence[Bound], ends: Ends) -> list[Proposal]:
    """Propose the values that join two fixed remainders into one (the Chinese remainder theorem)."""
    found = _remainders(cs)
    if found is None:
        return []
    x, m, s, n, t = found
    chosen = _least_common_multiple(m, s, n, t)
    if chosen is None:
        return []
    k, w, a, b, u, v = chosen
    return [{"x": x, "m": m, "s": s, "n": n, "t": t, "k": k, "w": w, "a": a, "b": b, "u": u, "v": v}]


def greatest_common_divisor(cs: Sequence[Bound], ends: Ends) -> list[Proposal]:
    """Propose the greatest common divisor of the moduli of two remainders, for which they may contradict."""
    found = _remainders(cs)
    if found is None:
        return []
    x, m, s, n, t = found
    return [{"x": x, "m": m, "s": s, "n": n, "t": t, "g": math.gcd(m, n)}]


def window(cs: Sequence[Bound], ends: Ends) -> list[Proposal]:
    """Propose the distances from the bounds of a dividend to the nearest values whose remainder is allowed."""
    e, s, t = cs[0]
    x, lo, hi = cs[1]
    if type(e) is not Mod or type(e.b) is not Int or e.b.value <= 0:
        return []
    m = e.b.value
    a = (s - lo) % m if (lo - s) % m > t - s else 0
    b = (hi - t) % m if (hi - s) % m > t - s else 0
    return [{"x": x, "m": m, "s": s, "t": t, "lo": lo, "hi": hi, "a": a, "b": b}]


def summand(cs: Sequence[Bound], ends: Ends) -> list[Proposal]:
    """Propose a summand of the first constraint that the second bounds, and the range of the others."""
    return _others(cs, cs[1][0], 0, ends)


def _others(cs: Sequence[Bound], x: Expr, d: int, ends: Ends) -> list[Proposal]:
    """Propose the coefficient of ``x`` in a sum, the range of the other summands, and the range they leave for ``x``."""
    e, lo, hi = cs[0]
    y, a, b = cs[1]
    const, terms = summands(e)
    found: list[Proposal] = []
    for t, k in terms:
        if t is x and len(terms) > 1:
            r = linear(const, [(u, j) for u, j in terms if u is not t])
            p, q = ends(r)
            if type(p) is int and type(q) is int:
                s, o = (lo - q, hi - p) if k > 0 else (hi - p, lo - q)
                found.append(
                    {"x": y, "d": d, "k": k, "r": r, "lo": lo, "hi": hi, "a": a, "b": b, "p": p, "q": q, "s": s, "t": o}
                )
    return found


def multiple_and_rest(cs: Sequence[Bound], ends: Ends) -> list[Proposal]:
    """Propose the multiples of a coefficient among the summands and the rest, if that leaves at most one multiple."""
    e, lo, hi = cs[0]
    const, terms = summands(e)
    found: list[Proposal] = []
    for g in sorted({abs(k) for _, k in terms if abs(k) != 1 and len(terms) > 1}):
        r = linear(const, [(t, k) for t, k in terms if k % g])
        p, q = ends(r)
        if type(p) is int and type(q) is int:
            k = -((q - lo) // g)
            if k >= (hi - p) // g:
                x = linear(0, [(t, j // g) for t, j in terms if not j % g])
                found.append({"x": x, "g": g, "r": r, "lo": lo, "hi": hi, "k": k, "p": p, "q": q})
    return found


def dividend(cs: Sequence[Bound], ends: Ends) -> list[Proposal]:
    """Propose a quotient in the first constraint whose dividend the second bounds, and the range of the others."""
    found: list[Proposal] = []
    for t, _ in summands(cs[0][0])[1]:
        if type(t) is FloorDiv and t.a is cs[1][0] and type(t.b) is Int:
            found += _others(cs, t, t.b.value, ends)
    return found


#: Strategies by the name that a constraint rule gives in ``choose=``.
CONSTRAINT_STRATEGIES: Final[dict[str, Strategy]] = {
    "both_ranges": both_ranges,
    "common_multiple": common_multiple,
    "content": content,
    "dividend": dividend,
    "greatest_common_divisor": greatest_common_divisor,
    "multiple_and_rest": multiple_and_rest,
    "negative_content": negative_content,
    "residue": residue,
    "summand": summand,
    "whole_range": whole_range,
    "window": window,
}
