"""Constraints ``expression ∈ [lo, hi]``: the rewrites of XLA's indexing analysis, merging, and tightening.

The box of a variable is a constraint too.  Every rule decreases in the order of
:mod:`indexproof.core.constraint_order`.
"""

from __future__ import annotations

from ..core.expr import Expr, ceildiv, integer, maximum, minimum
from ..core.rewrite import Bounded, Const, ConstraintRewrite, Rest, constraint_rule

#: A constraint that is false everywhere.
NOWHERE = Bounded(integer(0), integer(1), integer(1))


# ------------------------------------------------------------------------------------------------- single constraints
@constraint_rule(fires={"a + 5 in [0, 20]": "a in [-5, 15]"})
def summand_moves_into_bounds(r: Rest, k: Const, lo: Const, hi: Const) -> ConstraintRewrite:
    """A constant summand shifts the bounds."""
    return ConstraintRewrite((Bounded(r + k, lo, hi),), (Bounded(r, lo - k, hi - k),), guard=(k.ne(0),))


@constraint_rule(fires={"3*a in [1, 20]": "a in [1, 6]", "2*a + 4*b in [1, 9]": "a + 2*b in [1, 4]"})
def positive_factor_divides_bounds(x: Expr, k: Const, lo: Const, hi: Const) -> ConstraintRewrite:
    """A positive factor divides the bounds, rounding inwards."""
    return ConstraintRewrite(
        (Bounded(x * k, lo, hi),),
        (Bounded(x, ceildiv(lo, k), hi // k),),
        when=(k > 0,),
        guard=(k > 1,),
        choose="content",
    )


@constraint_rule(
    fires={
        "-a in [1, 20]": "a in [-20, -1]",
        "-3*a in [1, 20]": "a in [-6, -1]",
        "a - b - c in [0, 4]": "-a + b + c in [-4, 0]",
    },
    keeps=["a + b - c in [0, 4]"],
)
def negative_factor_exchanges_bounds(x: Expr, k: Const, lo: Const, hi: Const) -> ConstraintRewrite:
    """A negative factor divides the bounds and exchanges them.

    It is applied if more summands are negative than positive.
    """
    return ConstraintRewrite(
        (Bounded(x * k, lo, hi),), (Bounded(x, ceildiv(hi, k), lo // k),), when=(k < 0,), choose="negative_content"
    )


@constraint_rule(fires={"a // 4 in [1, 2]": "a in [4, 11]", "(a + b) // 3 in [0, 0]": "a + b in [0, 2]"})
def positive_divisor_scales_bounds(x: Expr, d: Const, lo: Const, hi: Const) -> ConstraintRewrite:
    """A quotient lies in [lo, hi] exactly when the dividend lies in [lo·d, hi·d + d - 1]."""
    return ConstraintRewrite((Bounded(x // d, lo, hi),), (Bounded(x, lo * d, hi * d + d - 1),), when=(d > 0,))


@constraint_rule(
    fires={"min(a, b) in [2, 100] | a in [0, 9], b in [0, 9]": "a in [2, 9]; b in [2, 9]"},
    keeps=["min(a, b) in [0, 4] | a in [0, 9], b in [0, 9]"],
)
def minimum_from_below(x: Expr, y: Expr, lo: Const, hi: Const, b: Const, d: Const) -> ConstraintRewrite:
    """A minimum is at least lo exactly when both arguments are."""
    return ConstraintRewrite(
        (Bounded(minimum(x, y), lo, hi),),
        (Bounded(x, lo, b), Bounded(y, lo, d)),
        when=(x <= b, y <= d, minimum(x, y) <= hi),
        choose="both_ranges",
    )


@constraint_rule(
    fires={"max(a, b) in [-100, 7] | a in [0, 9], b in [0, 9]": "a in [0, 7]; b in [0, 7]"},
    keeps=["max(a, b) in [4, 9] | a in [0, 9], b in [0, 9]"],
)
def maximum_from_above(x: Expr, y: Expr, lo: Const, hi: Const, a: Const, c: Const) -> ConstraintRewrite:
    """A maximum is at most hi exactly when both arguments are."""
    return ConstraintRewrite(
        (Bounded(maximum(x, y), lo, hi),),
        (Bounded(x, a, hi), Bounded(y, c, hi)),
        when=(a <= x, c <= y, lo <= maximum(x, y)),
        choose="both_ranges",
    )


@constraint_rule(
    fires={
        "(a + 1) % 4 in [3, 3]": "a % 4 in [2, 2]",
        "(3*a + 1) % 7 in [0, 0]": "a % 7 in [2, 2]",
        "(a + b - 3) % 4 in [0, 0]": "(a + b) % 4 in [3, 3]",
    },
    keeps=["(2*a + b) % 4 in [1, 1]", "(a + 1) % 4 in [0, 2]"],
)
def residue_is_rescaled(x: Expr, y: Expr, m: Const, s: Const, t: Const, u: Const, v: Const) -> ConstraintRewrite:
    """x is congruent to s modulo m exactly when u·x is congruent to u·s, for a unit u.

    ``u·v`` is 1 modulo m and ``y - t`` is ``u·(x - s)``, so ``x - s`` is ``v·(y - t)``.
    """
    return ConstraintRewrite(
        (Bounded(x % m, s, s),),
        (Bounded(y % m, t, t),),
        when=(m > 0, s.within(0, m - 1), t.within(0, m - 1), m.divides(u * v - 1), m.divides(y - t - u * (x - s))),
        choose="residue",
        by=(
            m.divides(x - s),
            (u * (x - s)).eq(m * (u * ((x - s) // m))),
            (y - t).eq(m * ((y - t - u * (x - s)) // m) + m * (u * ((x - s) // m))),
            m.divides(y - t),
            (y % m).eq(t),
        ),
        back_by=(
            m.divides(y - t),
            (u * (x - s)).eq(m * ((y - t) // m) - m * ((y - t - u * (x - s)) // m)),
            (u * v * (x - s)).eq(m * (v * ((y - t) // m) - v * ((y - t - u * (x - s)) // m))),
            (u * v * (x - s)).eq(x - s + m * ((u * v - 1) // m * (x - s))),
            m.divides(x - s),
            (x % m).eq(s),
        ),
    )


@constraint_rule(
    fires={"a + b in [-5, 9] | a in [0, 5], b in [1, 8]": "a + b in [1, 9]", "a % 8 in [3, 12]": "a % 8 in [3, 7]"},
    keeps=["a + b in [2, 9] | a in [0, 5], b in [1, 8]"],
)
def bounds_meet_range(x: Expr, lo: Const, hi: Const, a: Const, b: Const) -> ConstraintRewrite:
    """Bounds are intersected with the range of the expression."""
    return ConstraintRewrite(
        (Bounded(x, lo, hi),),
        (Bounded(x, maximum(lo, a), minimum(hi, b)),),
        when=(x.within(a, b),),
        guard=(a <= b, lo <= b, a <= hi, (lo < a) | (b < hi)),
        choose="whole_range",
    )


@constraint_rule(
    fires={"a + b in [0, 20] | a in [0, 5], b in [1, 3]": ""}, keeps=["a + b in [0, 7] | a in [0, 5], b in [1, 3]"]
)
def satisfied_constraint_vanishes(x: Expr, lo: Const, hi: Const) -> ConstraintRewrite:
    """A constraint that always holds is dropped."""
    return ConstraintRewrite((Bounded(x, lo, hi),), (), when=(x.within(lo, hi),))


@constraint_rule(
    fires={
        "a + b in [20, 30] | a in [0, 5], b in [0, 5]": "a in [0, -1]; b in [0, -1]",
        "a % 4 in [5, 6]": "a in [0, -1]",
    },
    keeps=["a + b in [10, 30] | a in [0, 5], b in [0, 5]"],
)
def impossible_constraint_is_false(x: Expr, lo: Const, hi: Const, a: Const, b: Const) -> ConstraintRewrite:
    """A constraint that no value satisfies is false."""
    return ConstraintRewrite(
        (Bounded(x, lo, hi),), (NOWHERE,), when=(x.within(a, b), (hi < a) | (b < lo) | (hi < lo)), choose="whole_range"
    )


@constraint_rule(
    fires={
        "a % 2 * 3 + b in [3, 3] | b in [0, 2]": "a % 2 in [1, 1]; b in [0, 0]",
        "a % 8 * 4 + b % 4 in [12, 14]": "a % 8 in [3, 3]; b % 4 in [0, 2]",
    },
    keeps=["a % 2 * 3 + b in [3, 3] | b in [0, 3]", "a % 8 * 4 + b % 4 in [12, 16]"],
)
def multiple_and_rest_separate(
    x: Expr, g: Const, r: Rest, lo: Const, hi: Const, k: Const, p: Const, q: Const
) -> ConstraintRewrite:
    """If the range of the rest admits only one multiple k·g, x is k, and the rest lies in [lo - k·g, hi - k·g]."""
    return ConstraintRewrite(
        (Bounded(x * g + r, lo, hi),),
        (Bounded(x, k, k), Bounded(r, lo - k * g, hi - k * g)),
        when=(g > 0, r.within(p, q), k.eq(ceildiv(lo - q, g)), k.eq((hi - p) // g)),
        guard=(g > 1,),
        choose="multiple_and_rest",
    )


@constraint_rule(
    fires={"a % 2 * 3 + b in [4, 4] | b in [2, 3]": "a in [0, -1]; b in [0, -1]"},
    keeps=["a % 2 * 3 + b in [4, 5] | b in [2, 3]"],
)
def multiple_and_rest_contradict(
    x: Expr, g: Const, r: Rest, lo: Const, hi: Const, p: Const, q: Const
) -> ConstraintRewrite:
    """If the range of the rest admits no multiple of g, the constraint is false."""
    return ConstraintRewrite(
        (Bounded(x * g + r, lo, hi),),
        (NOWHERE,),
        when=(g > 0, r.within(p, q), (hi - p) // g < ceildiv(lo - q, g)),
        choose="multiple_and_rest",
        by=(ceildiv(lo - q, g) <= x, x <= (hi - p) // g),
    )


# --------------------------------------------------------------------------------------------------- two constraints
@constraint_rule(fires={"a in [0, 9]; a in [4, 12]": "a in [4, 9]"})
def same_expression_intersects(x: Expr, a: Const, b: Const, c: Const, d: Const) -> ConstraintRewrite:
    """Two constraints of one expression are one with the intersection of their bounds."""
    return ConstraintRewrite((Bounded(x, a, b), Bounded(x, c, d)), (Bounded(x, maximum(a, c), minimum(b, d)),))


@constraint_rule(
    fires={
        "a % 4 in [1, 1]; a % 6 in [3, 3]": "a % 12 in [9, 9]",
        "a % 2 in [0, 0]; a % 3 in [0, 0]": "a % 6 in [0, 0]",
        "a % 8 in [3, 3]; a % 4 in [3, 3]": "a % 8 in [3, 3]",
    },
    keeps=["a % 4 in [1, 1]; b % 6 in [3, 3]"],
)
def remainders_merge(
    x: Expr, m: Const, n: Const, s: Const, t: Const, k: Const, w: Const, a: Const, b: Const, u: Const, v: Const
) -> ConstraintRewrite:
    """Two remainders of x are one remainder modulo the least common multiple (Chinese remainder theorem).

    The multiple is ``k = m·a = n·b`` with coprime cofactors, ``u·a + v·b = 1``, and w solves both congruences.  Then
    ``x - w = m·X = n·Y`` implies ``x - w = (u·a + v·b)·(x - w) = k·(u·X + v·Y)``.
    """
    return ConstraintRewrite(
        (Bounded(x % m, s, s), Bounded(x % n, t, t)),
        (Bounded(x % k, w, w),),
        when=(
            m > 0,
            n > 0,
            k.eq(m * a),
            k.eq(n * b),
            (u * a + v * b).eq(1),
            (w % m).eq(s),
            (w % n).eq(t),
            w.within(0, k - 1),
        ),
        choose="common_multiple",
        by=(
            m.divides(x - w),
            n.divides(x - w),
            (m * ((x - w) // m)).eq(x - w),
            (n * ((x - w) // n)).eq(x - w),
            (u * a * (x - w)).eq(k * (u * ((x - w) // m))),
            (v * b * (x - w)).eq(k * (v * ((x - w) // n))),
            (x - w).eq(u * a * (x - w) + v * b * (x - w)),
            (x - w).eq(k * (u * ((x - w) // m) + v * ((x - w) // n))),
            k.divides(x - w),
        ),
        back_by=(
            (x - w).eq(m * (a * (x // k))),
            (x - w).eq(n * (b * (x // k))),
            m.divides(x - w),
            n.divides(x - w),
            (x % m).eq(w % m),
            (x % n).eq(w % n),
        ),
    )


@constraint_rule(fires={"a % 4 in [1, 1]; a % 6 in [2, 2]": "a in [0, -1]"}, keeps=["a % 4 in [1, 1]; a % 6 in [3, 3]"])
def remainders_contradict(x: Expr, m: Const, n: Const, s: Const, t: Const, g: Const) -> ConstraintRewrite:
    """Two remainders of x that differ modulo a common divisor of the moduli contradict each other."""
    return ConstraintRewrite(
        (Bounded(x % m, s, s), Bounded(x % n, t, t)),
        (NOWHERE,),
        when=(g.divides(m), g.divides(n), ~g.divides(s - t)),
        guard=(g.ne(0),),
        choose="greatest_common_divisor",
        by=(
            m.divides(x - s),
            n.divides(x - t),
            (x - s).eq(g * ((m // g) * ((x - s) // m))),
            (x - t).eq(g * ((n // g) * ((x - t) // n))),
            (s - t).eq(g * ((n // g) * ((x - t) // n)) - g * ((m // g) * ((x - s) // m))),
            g.divides(s - t),
        ),
    )


@constraint_rule(
    fires={
        "a % 4 in [2, 2]; a in [0, 16]": "a % 4 in [2, 2]; a in [2, 14]",
        "a % 8 in [2, 4]; a in [5, 20]": "a % 8 in [2, 4]; a in [10, 20]",
        "a % 8 in [2, 4]; a in [4, 24]": "a % 8 in [2, 4]; a in [4, 20]",
    },
    keeps=["a % 4 in [2, 2]; a in [2, 14]", "a % 8 in [2, 4]; a in [4, 20]", "a % 8 in [2, 4]; a in [4, 19]"],
)
def remainder_tightens_bounds(
    x: Expr, m: Const, s: Const, t: Const, lo: Const, hi: Const, a: Const, b: Const
) -> ConstraintRewrite:
    """A bound with a remainder outside [s, t] moves inwards: the lower one to remainder s, the upper one to t."""
    return ConstraintRewrite(
        (Bounded(x % m, s, t), Bounded(x, lo, hi)),
        (Bounded(x % m, s, t), Bounded(x, lo + a, hi - b)),
        when=(
            m > 0,
            a.eq(0) | (a.eq((s - lo) % m) & (t - s < (lo - s) % m)),
            b.eq(0) | (b.eq((hi - t) % m) & (t - s < (hi - s) % m)),
        ),
        guard=(lo <= hi, s <= t, (a + b).ne(0)),
        choose="window",
    )


@constraint_rule(
    fires={
        "2*a + b in [3, 9] | a in [0, 30], b in [0, 3]": "2*a + b in [3, 9]; a in [0, 4]",
        "b - 2*a in [-9, 1] | a in [0, 30], b in [0, 3]": "b - 2*a in [-9, 1]; a in [0, 6]",
    },
    keeps=["2*a + b in [3, 9] | a in [0, 4], b in [0, 3]", "b - 2*a in [-9, 1] | a in [0, 6], b in [0, 3]"],
)
def sum_bounds_summand(
    x: Expr, k: Const, r: Rest, lo: Const, hi: Const, a: Const, b: Const, p: Const, q: Const, s: Const, t: Const
) -> ConstraintRewrite:
    """The bounds of a sum minus the range of the rest bound ``k·x``: s gives the lower bound of x, and t the upper one."""
    return ConstraintRewrite(
        (Bounded(x * k + r, lo, hi), Bounded(x, a, b)),
        (Bounded(x * k + r, lo, hi), Bounded(x, maximum(a, ceildiv(s, k)), minimum(b, t // k))),
        when=(((k > 0) & s.eq(lo - q) & t.eq(hi - p)) | ((k < 0) & s.eq(hi - p) & t.eq(lo - q)), r.within(p, q)),
        guard=(a <= b, (a < ceildiv(s, k)) | (t // k < b)),
        choose="summand",
    )


@constraint_rule(
    fires={
        "a // 4 * 2 + b in [3, 9] | a in [0, 99], b in [0, 3]": "a // 4 * 2 + b in [3, 9]; a in [0, 19]",
        "b - a // 4 * 2 in [-9, 1] | a in [0, 99], b in [0, 3]": "b - a // 4 * 2 in [-9, 1]; a in [0, 27]",
    },
    keeps=[
        "a // 4 * 2 + b in [3, 9] | a in [0, 19], b in [0, 3]",
        "b - a // 4 * 2 in [-9, 1] | a in [0, 27], b in [0, 3]",
    ],
)
def sum_bounds_dividend(
    x: Expr,
    d: Const,
    k: Const,
    r: Rest,
    lo: Const,
    hi: Const,
    a: Const,
    b: Const,
    p: Const,
    q: Const,
    s: Const,
    t: Const,
) -> ConstraintRewrite:
    """The bounds of a sum bound the dividend of a quotient in it, by whole blocks of the divisor."""
    return ConstraintRewrite(
        (Bounded((x // d) * k + r, lo, hi), Bounded(x, a, b)),
        (Bounded((x // d) * k + r, lo, hi), Bounded(x, maximum(a, ceildiv(s, k) * d), minimum(b, t // k * d + d - 1))),
        when=(((k > 0) & s.eq(lo - q) & t.eq(hi - p)) | ((k < 0) & s.eq(hi - p) & t.eq(lo - q)), d > 0, r.within(p, q)),
        guard=(a <= b, (a < ceildiv(s, k) * d) | (t // k * d + d - 1 < b)),
        choose="dividend",
        by=((x // d).within(ceildiv(s, k), t // k), (ceildiv(s, k) * d) <= (x // d) * d, (x // d) * d <= (t // k) * d),
    )
