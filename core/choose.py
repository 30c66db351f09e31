"""Strategies that supply values for pattern variables which the left side of a rule does not bind.

A strategy only proposes.  The driver checks every proposal against the rule: the instance of the left side must be the
redex itself, the conditions must hold, and the result must be smaller in the documented order.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from typing import TypeAlias

from .expr import Expr, FloorDiv, Int, Max, Min, Mod, Sum, floordiv, integer, linear, mod
from .facts import Facts

__all__ = ["STRATEGIES", "Binding", "least_common_multiple"]

Binding: TypeAlias = Mapping[str, Expr]


def _as_sum(e: Expr) -> tuple[int, tuple[tuple[Expr, int], ...]]:
    if isinstance(e, Sum):
        return e.const, e.terms
    if isinstance(e, Int):
        return e.value, ()
    return 0, ((e, 1),)


def _division(e: Expr) -> tuple[Expr, int] | None:
    if isinstance(e, (FloorDiv, Mod)) and isinstance(e.b, Int):
        return e.a, e.b.value
    return None


def block_of_range(e: Expr, facts: Facts) -> Iterator[Binding]:
    """The quotient that both ends of the dividend's range have."""
    parts = _division(e)
    if parts:
        x, d = parts
        lo, hi = facts.interval(x)
        if lo <= hi and not isinstance(lo, float) and not isinstance(hi, float) and lo // d == hi // d:
            yield {"x": x, "d": integer(d), "q": integer(lo // d)}


def coefficient_quotients(e: Expr, facts: Facts) -> Iterator[Binding]:
    """From every summand, the multiple of the divisor nearest to its coefficient, or the one below it.

    The constant part of the quotient is then fixed by the range of what is left.
    """
    parts = _division(e)
    if not parts or parts[1] <= 1:
        return
    x, d = parts
    const, terms = _as_sum(x)
    tried = set()
    for nearest in (True, False):
        quotients: list[tuple[Expr, int]] = []
        lo: float = const
        hi: float = const
        for t, k in terms:
            q, r = divmod(k, d)
            if nearest and 2 * r > d:
                q, r = q + 1, r - d
            if q:
                quotients.append((t, q))
            if r:
                span = facts.interval(t)
                ends = (span.lo, span.hi) if r > 0 else (span.hi, span.lo)
                if any(isinstance(v, float) for v in ends):
                    lo, hi = 0, d
                    break
                lo += r * ends[0]
                hi += r * ends[1]
        if not quotients or tuple(quotients) in tried:
            continue
        tried.add(tuple(quotients))
        if lo // d == hi // d:
            yield {"x": x, "d": integer(d), "q": linear(int(lo // d), quotients)}
        else:
            # a constraint may know more about what is left than its terms do
            rest = linear(const, [*terms, *[(t, -q * d) for t, q in quotients]])
            span = facts.interval(rest)
            if (
                not isinstance(span.lo, float)
                and not isinstance(span.hi, float)
                and span.lo // d == span.hi // d
            ):
                yield {"x": x, "d": integer(d), "q": linear(int(span.lo // d), quotients)}


def common_factor(e: Expr, facts: Facts) -> Iterator[Binding]:
    """Largest coefficients first: a prefix whose greatest common divisor with d exceeds the range of the others.

    Of extrema the greatest common divisor, negative where most summands are.
    """
    if isinstance(e, (Min, Max)) and len(e.args) == 2:
        sums = [_as_sum(a) for a in e.args]
        factors = [k for _, terms in sums for _, k in terms]
        g = math.gcd(*factors, *[c for c, _ in sums])
        if 2 * sum(k < 0 for k in factors) > len(factors):
            g = -g
        if g != 1:
            x, y = (linear(c // g, [(t, k // g) for t, k in terms]) for c, terms in sums)
            yield {"x": x, "y": y, "g": integer(g)}
        return
    parts = _division(e)
    if not parts or parts[1] <= 1:
        return
    whole, d = parts
    const, terms = _as_sum(whole)
    ordered = sorted(terms, key=lambda t: (-abs(t[1]), t[0].key))
    g = d
    for i, (_, k) in enumerate(ordered):
        g = math.gcd(g, k)
        if g == 1:
            return
        rest = linear(const % g, ordered[i + 1 :])
        span = facts.interval(rest)
        if 0 <= span.lo and span.hi <= g - 1:
            x = linear(const // g, [(t, k // g) for t, k in ordered[: i + 1]])
            yield {"x": x, "g": integer(g), "d": integer(d), "r": rest}
            return


def common_constant(e: Expr, facts: Facts) -> Iterator[Binding]:
    """The constant of smallest magnitude among two arguments that both carry one."""
    if not isinstance(e, (Min, Max)) or len(e.args) != 2:
        return
    compound = [a for a in e.args if not isinstance(a, Int)]
    constants = [a.const if isinstance(a, Sum) else 0 for a in compound]
    if constants and all(constants):
        k = min(constants, key=lambda c: (abs(c), c))
        yield {"x": e.args[0], "y": e.args[1], "k": integer(k)}


def least_common_multiple(m: int, s: int, n: int, t: int) -> tuple[int, int, int, int, int, int] | None:
    """Everything that makes two remainders one: the multiple, the common remainder, cofactors, Bézout coefficients."""
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


def multiples(e: Expr, facts: Facts) -> Iterator[Binding]:
    """The summands whose coefficient the divisor divides, and the multiples of the divisor in the constant."""
    parts = _division(e)
    if not parts or parts[1] <= 1:
        return
    whole, d = parts
    const, terms = _as_sum(whole)
    x = linear(const // d, [(t, k // d) for t, k in terms if k % d == 0])
    if x is not integer(0):
        r = linear(const % d, [(t, k) for t, k in terms if k % d])
        yield {"x": x, "d": integer(d), "r": r}


def complement(e: Expr, facts: Facts) -> Iterator[Binding]:
    """``d - 1`` minus a sum without constant or negative coefficient."""
    parts = _division(e)
    if parts and parts[1] > 1:
        const, terms = _as_sum(parts[0])
        if const == parts[1] - 1 and all(k < 0 for _, k in terms):
            yield {"x": linear(0, [(t, -k) for t, k in terms]), "d": integer(parts[1])}


def single_value(e: Expr, facts: Facts) -> Iterator[Binding]:
    """The only value in the range."""
    n = facts.interval(e).constant
    if n is not None and not isinstance(e, Int):
        yield {"x": e, "k": integer(n)}


def _quotient(x: Expr, d: int) -> list[Expr]:
    """Ways in which ``x // d`` may be written."""
    found = [floordiv(x, d)]
    if isinstance(x, FloorDiv) and isinstance(x.b, Int):
        found.append(floordiv(x.a, x.b.value * d))
    return found


def quotient_below_remainder(e: Expr, facts: Facts) -> Iterator[Binding]:
    """A remainder in a sum, and with the right coefficient the quotient of its dividend or of something congruent."""
    const, terms = _as_sum(e)
    have = dict(terms)
    for t, w in terms:
        if not (isinstance(t, Mod) and isinstance(t.b, Int)):
            continue
        d = t.b.value
        pairs = [(q, t.a) for q in _quotient(t.a, d) if have.get(q) == d * w]
        pairs += [(u, u.a) for u, k in terms if isinstance(u, FloorDiv) and u.b is t.b and k == d * w]
        for q, x in pairs:
            rest = linear(const, [(u, k) for u, k in terms if u is not t and u is not q])
            yield {"x": x, "y": t.a, "q": q, "d": t.b, "p": integer(d * w), "w": integer(w), "r": rest}


def known_residue(e: Expr, facts: Facts) -> Iterator[Binding]:
    """Each summand of a dividend whose remainder has only one value."""
    parts = _division(e)
    if not isinstance(e, Mod) or not parts or parts[1] <= 1:
        return
    whole, d = parts
    const, terms = _as_sum(whole)
    for t, k in terms:
        x = linear(0, [(t, k)])
        m = facts.interval(mod(x, d)).constant
        if len(terms) > 1 and k % d and m is not None:
            rest = linear(const, [(u, j) for u, j in terms if u is not t])
            yield {"x": x, "d": integer(d), "m": integer(m), "r": rest}


def next_digit(e: Expr, facts: Facts) -> Iterator[Binding]:
    """A remainder in a sum, and the digit above it with the right coefficient."""
    const, terms = _as_sum(e)
    for t, w in terms:
        if not (isinstance(t, Mod) and isinstance(t.b, Int)):
            continue
        d = t.b.value
        quotients = _quotient(t.a, d)
        for u, p in terms:
            if p == d * w and isinstance(u, Mod) and isinstance(u.b, Int) and u.a in quotients:
                rest = linear(const, [(v, k) for v, k in terms if v is not t and v is not u])
                yield {
                    "x": t.a,
                    "z": integer(0),
                    "q": u.a,
                    "t": u,
                    "d": t.b,
                    "n": u.b,
                    "p": integer(p),
                    "w": integer(w),
                    "r": rest,
                }


def known_remainder(e: Expr, facts: Facts) -> Iterator[Binding]:
    """A quotient in a sum, scaled by its divisor, whose remainder has only one value."""
    const, terms = _as_sum(e)
    for t, v in terms:
        parts = _division(t)
        if isinstance(t, FloorDiv) and parts and v % parts[1] == 0:
            x, d = parts
            m = facts.interval(mod(x, d)).constant
            if m is not None:
                rest = linear(const, [(u, k) for u, k in terms if u is not t])
                values = {"d": d, "m": m, "v": v, "w": v // d}
                yield {"x": x, "r": rest, **{name: integer(n) for name, n in values.items()}}


Strategy: TypeAlias = Callable[[Expr, Facts], Iterator[Binding]]

#: Strategies by the name a rule gives in ``choose=``.
STRATEGIES: dict[str, Strategy] = {
    "block_of_range": block_of_range,
    "coefficient_quotients": coefficient_quotients,
    "common_factor": common_factor,
    "common_constant": common_constant,
    "complement": complement,
    "known_remainder": known_remainder,
    "known_residue": known_residue,
    "multiples": multiples,
    "next_digit": next_digit,
    "quotient_below_remainder": quotient_below_remainder,
    "single_value": single_value,
}
