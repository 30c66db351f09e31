"""Constraints ``expression ∈ [lo, hi]``: the rewrites that the indexing analysis names, merging, and tightening."""

from __future__ import annotations

from ..core.expr import Expr, ceildiv, maximum, minimum
from ..core.rewrite import Bounded, Const, ConstraintRewrite, Rest, constraint_rule


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


@constraint_rule(fires={"-a in [1, 20]": "a in [-20, -1]", "-3*a in [1, 20]": "a in [-6, -1]"})
def negative_factor_exchanges_bounds(x: Expr, k: Const, lo: Const, hi: Const) -> ConstraintRewrite:
    """A negative factor divides the bounds and exchanges them."""
    return ConstraintRewrite(
        (Bounded(x * k, lo, hi),), (Bounded(x, ceildiv(hi, k), lo // k),), when=(k < 0,), choose="content"
    )


@constraint_rule(fires={"a // 4 in [1, 2]": "a in [4, 11]", "(a + b) // 3 in [0, 0]": "a + b in [0, 2]"})
def positive_divisor_scales_bounds(x: Expr, d: Const, lo: Const, hi: Const) -> ConstraintRewrite:
    """A quotient lies between bounds exactly when the dividend lies in their blocks."""
    return ConstraintRewrite((Bounded(x // d, lo, hi),), (Bounded(x, lo * d, hi * d + d - 1),), when=(d > 0,))


@constraint_rule(fires={"a // -4 in [1, 2]": "a in [-11, -4]"})
def negative_divisor_scales_bounds(x: Expr, d: Const, lo: Const, hi: Const) -> ConstraintRewrite:
    """As for positive divisors, with the bounds exchanged."""
    return ConstraintRewrite((Bounded(x // d, lo, hi),), (Bounded(x, hi * d + d + 1, lo * d),), when=(d < 0,))


@constraint_rule(fires={"a in [0, 9]; a in [4, 12]": "a in [4, 9]"})
def same_expression_intersects(x: Expr, a: Const, b: Const, c: Const, d: Const) -> ConstraintRewrite:
    """Two ranges of one expression are their intersection."""
    return ConstraintRewrite(
        (Bounded(x, a, b), Bounded(x, c, d)), (Bounded(x, maximum(a, c), minimum(b, d)),)
    )


@constraint_rule(
    fires={"a % 8 in [3, 3]; a % 4 in [3, 3]": "a % 8 in [3, 3]"}, keeps=["a % 8 in [3, 3]; a % 4 in [2, 2]"]
)
def implied_remainder_vanishes(x: Expr, m: Const, n: Const, s: Const, t: Const) -> ConstraintRewrite:
    """A remainder modulo m decides the remainder modulo every divisor of m."""
    return ConstraintRewrite(
        (Bounded(x % m, s, s), Bounded(x % n, t, t)),
        (Bounded(x % m, s, s),),
        when=(n.divides(m), t.eq(s % n)),
    )


@constraint_rule(
    fires={
        "a % 4 in [1, 1]; a % 6 in [3, 3]": "a % 12 in [9, 9]",
        "a % 2 in [0, 0]; a % 3 in [0, 0]": "a % 6 in [0, 0]",
    },
    keeps=["a % 4 in [1, 1]; a % 6 in [2, 2]"],
)
def remainders_merge(
    x: Expr,
    m: Const,
    n: Const,
    s: Const,
    t: Const,
    k: Const,
    w: Const,
    a: Const,
    b: Const,
    u: Const,
    v: Const,
) -> ConstraintRewrite:
    """Two remainders of x are one remainder modulo the least common multiple (Chinese remainder theorem).

    The multiple is ``k = m·a = n·b`` with coprime cofactors, ``u·a + v·b = 1``, and w solves both congruences.  From
    ``x - w = m·X = n·Y`` follows ``x - w = (u·a + v·b)·(x - w) = k·(u·X + v·Y)``.
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
        choose="least_common_multiple",
        by=(
            m.divides(x - w),
            n.divides(x - w),
            (m * ((x - w) // m)).eq(x - w),
            (n * ((x - w) // n)).eq(x - w),
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


@constraint_rule(fires={"a % 4 in [2, 2]; a in [0, 16]": "a % 4 in [2, 2]; a in [2, 14]"})
def remainder_tightens_bounds(x: Expr, m: Const, s: Const, lo: Const, hi: Const) -> ConstraintRewrite:
    """Bounds move inwards to the nearest values with the right remainder."""
    return ConstraintRewrite(
        (Bounded(x % m, s, s), Bounded(x, lo, hi)),
        (Bounded(x % m, s, s), Bounded(x, lo + (s - lo) % m, hi - (hi - s) % m)),
        when=(m > 0,),
        guard=(((s - lo) % m + (hi - s) % m).ne(0),),
    )


@constraint_rule(
    fires={"a + b in [0, 20] | a in [0, 5], b in [1, 3]": ""},
    keeps=["a + b in [0, 7] | a in [0, 5], b in [1, 3]"],
)
def satisfied_constraint_vanishes(x: Expr, lo: Const, hi: Const) -> ConstraintRewrite:
    """A constraint that always holds says nothing."""
    return ConstraintRewrite((Bounded(x, lo, hi),), (), when=(x.within(lo, hi),))
