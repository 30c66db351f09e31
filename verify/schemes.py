"""The lemmas: theorems about all integers, stated over metavariables, each proved once.

Instances of :data:`LEMMAS` are added by the reduction to a linear question.  :data:`STEPS` justify its rewrites, new
names and bounds.  Each lemma owes a proof without the reduction (:func:`lemma_obligations`), and is an entry of the
catalogue.
"""

from __future__ import annotations

from dataclasses import dataclass

from ..core.condition import Condition, all_of, any_of, negate
from ..core.expr import Expr, ceildiv, integer, maximum, minimum, var


@dataclass(frozen=True)
class Scheme:
    """``given`` implies ``then`` for all integers; ``text`` states it in one line.

    ``apart`` are the pairs ``b, d`` for which the proof uses *multiples are apart*.
    """

    name: str
    text: str
    given: tuple[Condition, ...]
    then: Condition
    apart: tuple[tuple[Expr, Expr], ...] = ()


def _implies(a: Condition, b: Condition) -> Condition:
    return any_of((negate(a), b))


a, b, c, d, e, f, g, h, m, p, q, r, t, u, x, y = (var(name) for name in "abcdefghmpqrtuxy")


def multiples_are_apart(b: Expr, d: Expr) -> Condition:
    """Return that a multiple ``b·d`` of ``b >= 1`` is zero or at least ``b`` away from zero."""
    return all_of((_implies(d >= 1, b * d >= b), _implies(d <= -1, b * d <= -b), _implies(d.eq(0), (b * d).eq(0))))


#: Lemmas whose instances are added to a linear question.
LEMMAS: dict[str, Scheme] = {
    s.name: s
    for s in (
        Scheme("product of an equation", "e = 0 → e·p = 0", (e.eq(0),), (e * p).eq(0)),
        Scheme("product of bounds", "e ≥ 0, p ≥ 0 → e·p ≥ 0", (e >= 0, p >= 0), e * p >= 0),
        Scheme("product of positives", "p ≥ 1, q ≥ 1 → p·q ≥ 1", (p >= 1, q >= 1), p * q >= 1),
        Scheme(
            "multiples are apart",
            "b ≥ 1 → (d ≥ 1 → b·d ≥ b) and (d ≤ -1 → b·d ≤ -b) and (d = 0 → b·d = 0)",
            (b >= 1,),
            multiples_are_apart(b, d),
        ),
        Scheme(
            "sign of a product",
            "e ≥ 0 → (d ≥ 0 → e·d ≥ 0) and (d ≤ 0 → e·d ≤ 0)",
            (e >= 0,),
            all_of((_implies(d >= 0, e * d >= 0), _implies(d <= 0, e * d <= 0))),
        ),
        Scheme(
            "zero product", "p·q = 0 → p = 0 or q = 0", ((p * q).eq(0),), any_of((p.eq(0), q.eq(0))), ((p, q), (-p, q))
        ),
        Scheme("square", "p·p ≥ p and p·p ≥ -p", (), all_of((p * p >= p, p * p >= -p))),
        Scheme("product of a choice", "(m = a → m·p = a·p)", (), _implies(m.eq(a), (m * p - a * p).eq(0))),
        Scheme(
            "certificate",
            "x ≤ y, e ≥ 0 → e·x ≤ e·y; sums and products of what is not negative are not negative",
            (x <= y, e >= 0, p >= 0, q >= 0),
            all_of((e * x <= e * y, p * q >= 0, p + q >= 0)),
        ),
    )
}

#: Lemmas for steps of a reading: each replaces a term by an equal one, or adds a fact about a new name.
STEPS: dict[str, Scheme] = {
    s.name: s
    for s in (
        Scheme(
            "unique quotient",
            "b ≥ 1, a = b·q + r, 0 ≤ r < b → a // b = q and a % b = r",
            (b >= 1, a.eq(b * q + r), r.within(0, b - 1)),
            all_of(((a // b).eq(q), (a % b).eq(r))),
            ((b, a // b - q),),
        ),
        Scheme(
            "multiple leaves quotient",
            "b ≠ 0 → (b·x + a) // b = x + a // b and (b·x + a) % b = a % b",
            (b.ne(0),),
            all_of((((b * x + a) // b).eq(x + a // b), ((b * x + a) % b).eq(a % b))),
            tuple((s * b, s * ((b * x + a) // b - x - a // b)) for s in (1, -1)),
        ),
        Scheme(
            "small dividend",
            "0 ≤ a < b → a // b = 0 and a % b = a;  -b ≤ a < 0 → a // b = -1 and a % b = a + b",
            (b >= 1,),
            all_of(
                (
                    _implies(a.within(0, b - 1), all_of(((a // b).eq(0), (a % b).eq(a)))),
                    _implies(a.within(-b, -1), all_of(((a // b).eq(-1), (a % b).eq(a + b)))),
                )
            ),
            ((b, a // b), (b, a // b + 1)),
        ),
        Scheme(
            "common factor",
            "g ≥ 1, h ≥ 1, 0 ≤ r < g → (g·x + r) // (g·h) = x // h and (g·x + r) % (g·h) = g·(x % h) + r",
            (g >= 1, h >= 1, r.within(0, g - 1)),
            all_of((((g * x + r) // (g * h)).eq(x // h), ((g * x + r) % (g * h)).eq(g * (x % h) + r))),
            (
                (g, x - h * (x // h) - x % h),
                (g, h),
                (g, x % h),
                (g, h - 1 - x % h),
                (g * h, x // h - (g * x + r) // (g * h)),
            ),
        ),
        Scheme(
            "negation",
            "b ≠ 0 → a // b = (-a) // (-b) and a % b = -((-a) % (-b)) and ⌈a / b⌉ = -((-a) // b)",
            (b.ne(0),),
            all_of(((a // b).eq((-a) // (-b)), (a % b).eq(-((-a) % (-b))), ceildiv(a, b).eq(-((-a) // b)))),
            ((b, a // b - (-a) // (-b)), (-b, a // b - (-a) // (-b))),
        ),
        Scheme(
            "ceiling",
            "b ≥ 1 → ⌈a / b⌉ = (a + b - 1) // b;  b ≤ -1 → ⌈a / b⌉ = (-a - b - 1) // (-b)",
            (b.ne(0),),
            all_of(
                (
                    _implies(b >= 1, ceildiv(a, b).eq((a + b - 1) // b)),
                    _implies(b <= -1, ceildiv(a, b).eq((-a - b - 1) // (-b))),
                )
            ),
            ((b, ceildiv(a, b) - (a + b - 1) // b), (-b, ceildiv(a, b) - (-a - b - 1) // (-b))),
        ),
        Scheme(
            "negated dividend",
            "b ≥ 1 → a // b = -((b - a - 1) // b) and a % b = b - (b - a - 1) % b - 1",
            (b >= 1,),
            all_of(((a // b).eq(-((b - a - 1) // b)), (a % b).eq(b - (b - a - 1) % b - 1))),
            ((b, a // b + (b - a - 1) // b),),
        ),
        Scheme(
            "remainder",
            "b ≥ 1 → a = b·(a // b) + a % b and 0 ≤ a % b < b",
            (b >= 1,),
            all_of((a.eq(b * (a // b) + a % b), (a % b).within(0, b - 1))),
        ),
        Scheme(
            "radix",
            "b ≥ 1 → some q and r with 0 ≤ r < b have a = b·q + r",
            (b >= 1,),
            all_of((a.eq(b * (a // b) + a % b), (a % b).within(0, b - 1))),
        ),
        Scheme("divisibility", "b ∣ a → a = b·(a // b)", (b.divides(a),), a.eq(b * (a // b))),
        Scheme(
            "quotient of a natural number", "a ≥ 0, b ≥ 1 → a // b ≥ 0", (a >= 0, b >= 1), a // b >= 0, ((b, a // b),)
        ),
        Scheme(
            "quotient of a bound",
            "a ≤ b·t + r, 0 ≤ r < b → a // b ≤ t",
            (a <= b * t + r, r.within(0, b - 1)),
            a // b <= t,
            ((b, a // b - t),),
        ),
        Scheme(
            "divided bound", "b ≥ 1, b·t + r ≥ 0, r < b → t ≥ 0", (b >= 1, b * t + r >= 0, r < b), t >= 0, ((b, t),)
        ),
        Scheme(
            "equal digits",
            "b ≥ 1, b·t + r = 0, -b < r < b → t = 0 and r = 0",
            (b >= 1, (b * t + r).eq(0), r.within(1 - b, b - 1)),
            all_of((t.eq(0), r.eq(0))),
            ((b, t),),
        ),
        Scheme(
            "extremum",
            "min(a, c) is a or c and not above them; max(a, c) likewise",
            (),
            all_of(
                (
                    any_of((minimum(a, c).eq(a), minimum(a, c).eq(c))),
                    minimum(a, c) <= a,
                    any_of((maximum(a, c).eq(a), maximum(a, c).eq(c))),
                    maximum(a, c) >= a,
                    _implies(all_of((t <= a, t <= c)), t <= minimum(a, c)),
                    _implies(all_of((a <= t, c <= t)), maximum(a, c) <= t),
                )
            ),
        ),
        Scheme(
            "decided extremum",
            "a ≤ c → min(a, c) = a and max(a, c) = c",
            (a <= c,),
            all_of((minimum(a, c).eq(a), maximum(a, c).eq(c))),
        ),
        Scheme("sign split", "d > 0 or d < 0 or d = 0", (), any_of((d > 0, d < 0, d.eq(0)))),
        Scheme("substitution", "x = y → f(x) = f(y), here for sums of products", (x.eq(y),), (x * e + f).eq(y * e + f)),
        # an odd v is 1 + 2·m, so v·1 = 1 + p·t for p = 2; then for p·p, and so on beyond any power of two
        Scheme(
            "inverse modulo a square",
            "v·u = 1 + p·t → (v·u)·(2 - v·u) = 1 - (p·p)·(t·t)",
            (),
            ((1 + p * t) * (2 - (1 + p * t))).eq(1 - p * p * (t * t)),
        ),
        Scheme(
            "invertible factor",
            "v·u = 1 + p·t, v·e = p·q → e·(v·u) = u·(v·e), that is e = p·(u·q - t·e)",
            ((e * (1 + p * t)).eq(u * (p * q)),),
            e.eq(p * (u * q - t * e)),
        ),
        Scheme("zero", "x - y = 0 → x = y", ((x - y).eq(integer(0)),), x.eq(y)),
    )
}
