"""Equivalences between constraints that hold in one direction only, or in none."""

from __future__ import annotations

from indexproof.core.expr import Expr, ceildiv, maximum, minimum
from indexproof.core.rewrite import Bounded, Const, ConstraintRewrite, Rest, constraint_rule
from indexproof.rules import constraints

from .planted import Planted


@constraint_rule()
def summand_moves_the_wrong_way(r: Rest, k: Const, lo: Const, hi: Const) -> ConstraintRewrite:
    """Adds a constant to the bounds that should be taken away."""
    return ConstraintRewrite((Bounded(r + k, lo, hi),), (Bounded(r, lo + k, hi + k),))


@constraint_rule()
def factor_rounds_outwards(x: Expr, k: Const, lo: Const, hi: Const) -> ConstraintRewrite:
    """Rounds divided bounds so that the range grows."""
    return ConstraintRewrite(
        (Bounded(x * k, lo, hi),), (Bounded(x, lo // k, ceildiv(hi, k)),), when=(k > 0,), choose="content"
    )


@constraint_rule()
def negative_factor_keeps_bounds(x: Expr, k: Const, lo: Const, hi: Const) -> ConstraintRewrite:
    """Divides by a negative factor without exchanging the bounds."""
    return ConstraintRewrite(
        (Bounded(x * k, lo, hi),), (Bounded(x, ceildiv(lo, k), hi // k),), when=(k < 0,), choose="content"
    )


@constraint_rule()
def divisor_forgets_the_last_block(x: Expr, d: Const, lo: Const, hi: Const) -> ConstraintRewrite:
    """Ends at the first element of the last block."""
    return ConstraintRewrite((Bounded(x // d, lo, hi),), (Bounded(x, lo * d, hi * d),), when=(d > 0,))


@constraint_rule()
def negative_divisor_keeps_bounds(x: Expr, d: Const, lo: Const, hi: Const) -> ConstraintRewrite:
    """Scales by a negative divisor as by a positive one."""
    return ConstraintRewrite((Bounded(x // d, lo, hi),), (Bounded(x, lo * d, hi * d + d - 1),), when=(d < 0,))


@constraint_rule()
def ranges_unite(x: Expr, a: Const, b: Const, c: Const, d: Const) -> ConstraintRewrite:
    """Joins two ranges that hold both."""
    return ConstraintRewrite(
        (Bounded(x, a, b), Bounded(x, c, d)), (Bounded(x, minimum(a, c), maximum(b, d)),)
    )


@constraint_rule()
def any_remainder_is_implied(x: Expr, m: Const, n: Const, s: Const, t: Const) -> ConstraintRewrite:
    """Drops a remainder whose modulus does not divide the other."""
    return ConstraintRewrite(
        (Bounded(x % m, s, s), Bounded(x % n, t, t)), (Bounded(x % m, s, s),), when=(n > 0, t.eq(s % n))
    )


@constraint_rule()
def remainder_tightens_too_far(x: Expr, m: Const, s: Const, lo: Const, hi: Const) -> ConstraintRewrite:
    """Moves the upper bound by the distance to the next member, not from the last."""
    return ConstraintRewrite(
        (Bounded(x % m, s, s), Bounded(x, lo, hi)),
        (Bounded(x % m, s, s), Bounded(x, lo + (s - lo) % m, hi - (s - hi) % m)),
        when=(m > 0,),
    )


@constraint_rule()
def half_satisfied_constraint_vanishes(x: Expr, lo: Const, hi: Const) -> ConstraintRewrite:
    """Looks at the lower bound only."""
    return ConstraintRewrite((Bounded(x, lo, hi),), (), when=(lo <= x,))


def _planted(wrong, fails, twin) -> Planted:  # type: ignore[no-untyped-def]
    return Planted(wrong.name, wrong=wrong, fails=fails, twin=twin)


BROKEN = [
    _planted(summand_moves_the_wrong_way, "sound ⇒", constraints.summand_moves_into_bounds),
    _planted(factor_rounds_outwards, "sound ⇐", constraints.positive_factor_divides_bounds),
    _planted(negative_factor_keeps_bounds, "sound ⇒", constraints.negative_factor_exchanges_bounds),
    _planted(divisor_forgets_the_last_block, "sound ⇒", constraints.positive_divisor_scales_bounds),
    _planted(negative_divisor_keeps_bounds, "sound ⇒", constraints.negative_divisor_scales_bounds),
    _planted(ranges_unite, "sound ⇐", constraints.same_expression_intersects),
    _planted(any_remainder_is_implied, "sound ⇐", constraints.implied_remainder_vanishes),
    _planted(remainder_tightens_too_far, "sound ⇒", constraints.remainder_tightens_bounds),
    _planted(half_satisfied_constraint_vanishes, "sound ⇐", constraints.satisfied_constraint_vanishes),
]
