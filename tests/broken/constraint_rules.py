"""Equivalences between constraints that hold in one direction only, or in none."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from indexproof.core.condition import show_condition
from indexproof.core.expr import Expr, ceildiv, integer, maximum, minimum
from indexproof.core.rewrite import Bounded, Const, ConstraintRewrite, ConstraintRule, Rest, constraint_rule
from indexproof.rules import constraints

from .planted import Planted

BROKEN: list[Planted] = []


def mistake(twin: ConstraintRule, fails: str) -> Callable[..., ConstraintRule]:
    """Declare a wrong rule with its correct twin and the obligation that it fails."""

    def declare(function: Callable[..., ConstraintRewrite]) -> ConstraintRule:
        wrong = constraint_rule()(function)
        BROKEN.append(Planted(wrong.name, wrong, fails, twin))
        return wrong

    return declare


@mistake(constraints.summand_moves_into_bounds, "sound ⇒")
def summand_moves_the_wrong_way(r: Rest, k: Const, lo: Const, hi: Const) -> ConstraintRewrite:
    """Adds a constant to the bounds where it must be subtracted."""
    return ConstraintRewrite((Bounded(r + k, lo, hi),), (Bounded(r, lo + k, hi + k),))


@mistake(constraints.positive_factor_divides_bounds, "sound ⇐")
def factor_rounds_outwards(x: Expr, k: Const, lo: Const, hi: Const) -> ConstraintRewrite:
    """Rounds the divided bounds outwards, so that the range grows."""
    return ConstraintRewrite(
        (Bounded(x * k, lo, hi),), (Bounded(x, lo // k, ceildiv(hi, k)),), when=(k > 0,), choose="content"
    )


@mistake(constraints.negative_factor_exchanges_bounds, "sound ⇒")
def negative_factor_keeps_bounds(x: Expr, k: Const, lo: Const, hi: Const) -> ConstraintRewrite:
    """Divides by a negative factor without exchanging the bounds."""
    return ConstraintRewrite(
        (Bounded(x * k, lo, hi),), (Bounded(x, ceildiv(lo, k), hi // k),), when=(k < 0,), choose="content"
    )


@mistake(constraints.positive_divisor_scales_bounds, "sound ⇒")
def divisor_forgets_the_last_block(x: Expr, d: Const, lo: Const, hi: Const) -> ConstraintRewrite:
    """Takes the first element of the last block for its last one."""
    return ConstraintRewrite((Bounded(x // d, lo, hi),), (Bounded(x, lo * d, hi * d),), when=(d > 0,))


@mistake(constraints.multiple_and_rest_separate, "sound ⇒")
def rest_leaves_several_multiples(
    x: Expr, g: Const, r: Rest, lo: Const, hi: Const, k: Const, p: Const, q: Const
) -> ConstraintRewrite:
    """Takes the largest of several possible multiples for the only one."""
    return ConstraintRewrite(
        (Bounded(x * g + r, lo, hi),),
        (Bounded(x, k, k), Bounded(r, lo - k * g, hi - k * g)),
        when=(g > 0, r.within(p, q), k.eq((hi - p) // g)),
        guard=(g > 1,),
        choose="multiple_and_rest",
    )


@mistake(constraints.multiple_and_rest_contradict, "sound ⇒")
def rest_leaves_one_multiple(x: Expr, g: Const, r: Rest, lo: Const, hi: Const, p: Const, q: Const) -> ConstraintRewrite:
    """Calls the constraint false although one multiple is possible."""
    return ConstraintRewrite(
        (Bounded(x * g + r, lo, hi),),
        (Bounded(integer(0), integer(1), integer(1)),),
        when=(g > 0, r.within(p, q), (hi - p) // g <= ceildiv(lo - q, g)),
        choose="multiple_and_rest",
    )


@mistake(constraints.same_expression_intersects, "sound ⇐")
def ranges_unite(x: Expr, a: Const, b: Const, c: Const, d: Const) -> ConstraintRewrite:
    """Takes the union of two ranges instead of the intersection."""
    return ConstraintRewrite((Bounded(x, a, b), Bounded(x, c, d)), (Bounded(x, minimum(a, c), maximum(b, d)),))


@mistake(constraints.remainders_merge, "sound ⇐")
def any_remainder_is_implied(x: Expr, m: Const, n: Const, s: Const, t: Const) -> ConstraintRewrite:
    """Drops a remainder although its modulus does not divide the other one."""
    return ConstraintRewrite(
        (Bounded(x % m, s, s), Bounded(x % n, t, t)), (Bounded(x % m, s, s),), when=(n > 0, t.eq(s % n))
    )


@mistake(constraints.remainder_tightens_bounds, "sound ⇒")
def remainder_tightens_too_far(x: Expr, m: Const, s: Const, lo: Const, hi: Const) -> ConstraintRewrite:
    """Subtracts the distance to the next member of the residue class instead of the previous one."""
    return ConstraintRewrite(
        (Bounded(x % m, s, s), Bounded(x, lo, hi)),
        (Bounded(x % m, s, s), Bounded(x, lo + (s - lo) % m, hi - (s - hi) % m)),
        when=(m > 0,),
    )


@mistake(constraints.satisfied_constraint_vanishes, "sound ⇐")
def half_satisfied_constraint_vanishes(x: Expr, lo: Const, hi: Const) -> ConstraintRewrite:
    """Checks the lower bound only."""
    return ConstraintRewrite((Bounded(x, lo, hi),), (), when=(lo <= x,))


@mistake(constraints.minimum_from_below, "sound ⇒")
def maximum_from_below(x: Expr, y: Expr, lo: Const, hi: Const, b: Const, d: Const) -> ConstraintRewrite:
    """Treats a maximum like a minimum."""
    return ConstraintRewrite(
        (Bounded(maximum(x, y), lo, hi),),
        (Bounded(x, lo, b), Bounded(y, lo, d)),
        when=(x <= b, y <= d, maximum(x, y) <= hi),
        choose="both_ranges",
    )


@mistake(constraints.residue_is_rescaled, "sound ⇐")
def any_multiple_rescales(x: Expr, y: Expr, m: Const, s: Const, t: Const, u: Const) -> ConstraintRewrite:
    """Multiplies by a number that need not be invertible."""
    return ConstraintRewrite(
        (Bounded(x % m, s, s),),
        (Bounded(y % m, t, t),),
        when=(m > 0, s.within(0, m - 1), t.within(0, m - 1), m.divides(y - t - u * (x - s))),
        choose="residue",
    )


@mistake(constraints.bounds_meet_range, "sound ⇐")
def range_widens_bounds(x: Expr, lo: Const, hi: Const, a: Const, b: Const) -> ConstraintRewrite:
    """Replaces the bounds by the range even where the bounds are narrower."""
    return ConstraintRewrite((Bounded(x, lo, hi),), (Bounded(x, a, b),), when=(x.within(a, b),), choose="whole_range")


@mistake(constraints.impossible_constraint_is_false, "sound ⇒")
def half_out_of_reach_is_false(x: Expr, lo: Const, hi: Const, a: Const, b: Const) -> ConstraintRewrite:
    """Calls bounds impossible although only the lower one is outside the range."""
    return ConstraintRewrite(
        (Bounded(x, lo, hi),), (constraints.NOWHERE,), when=(x.within(a, b), lo < a), choose="whole_range"
    )


@mistake(constraints.remainders_contradict, "sound ⇒")
def different_remainders_contradict(x: Expr, m: Const, n: Const, s: Const, t: Const) -> ConstraintRewrite:
    """Takes different remainders for a contradiction although the moduli may be coprime."""
    return ConstraintRewrite(
        (Bounded(x % m, s, s), Bounded(x % n, t, t)), (constraints.NOWHERE,), when=(m > 0, n > 0, s.ne(t))
    )


@mistake(constraints.remainder_tightens_bounds, "sound ⇒")
def window_raises_any_lower_bound(x: Expr, m: Const, s: Const, t: Const, lo: Const, hi: Const) -> ConstraintRewrite:
    """Moves a lower bound although it may lie in the window of remainders already."""
    return ConstraintRewrite(
        (Bounded(x % m, s, t), Bounded(x, lo, hi)),
        (Bounded(x % m, s, t), Bounded(x, lo + (s - lo) % m, hi)),
        when=(m > 0, s.within(0, m - 1), t.within(s, m - 1)),
    )


@mistake(constraints.remainder_tightens_bounds, "sound ⇒")
def window_lowers_to_its_begin(x: Expr, m: Const, s: Const, t: Const, lo: Const, hi: Const) -> ConstraintRewrite:
    """Moves the upper bound to the first remainder of the window instead of the last."""
    return ConstraintRewrite(
        (Bounded(x % m, s, t), Bounded(x, lo, hi)),
        (Bounded(x % m, s, t), Bounded(x, lo, hi - (hi - s) % m)),
        when=(m > 0, t - s < (hi - s) % m),
        guard=(lo <= hi, s <= t),
    )


@mistake(constraints.sum_bounds_summand, "sound ⇒")
def sum_bounds_summand_by_the_wrong_end(
    x: Expr, k: Const, r: Rest, lo: Const, hi: Const, a: Const, b: Const, p: Const, q: Const
) -> ConstraintRewrite:
    """Subtracts the lower bound of the other summands where their upper bound is needed, and vice versa."""
    return ConstraintRewrite(
        (Bounded(x * k + r, lo, hi), Bounded(x, a, b)),
        (Bounded(x * k + r, lo, hi), Bounded(x, maximum(a, ceildiv(lo - p, k)), minimum(b, (hi - q) // k))),
        when=(k > 0, r.within(p, q)),
        choose="summand",
    )


@mistake(constraints.sum_bounds_dividend, "sound ⇒")
def sum_bounds_dividend_by_multiples(
    x: Expr, d: Const, k: Const, r: Rest, lo: Const, hi: Const, a: Const, b: Const, p: Const, q: Const
) -> ConstraintRewrite:
    """Takes the first element of the last block for its last one."""
    return ConstraintRewrite(
        (Bounded((x // d) * k + r, lo, hi), Bounded(x, a, b)),
        (
            Bounded((x // d) * k + r, lo, hi),
            Bounded(x, maximum(a, ceildiv(lo - q, k) * d), minimum(b, (hi - p) // k * d)),
        ),
        when=(k > 0, d > 0, r.within(p, q)),
        choose="dividend",
    )


@mistake(constraints.remainder_tightens_bounds, "progress")
def remainder_tightens_forever(x: Expr, m: Const, s: Const, lo: Const, hi: Const) -> ConstraintRewrite:
    """Applies even to bounds that it cannot move."""
    return ConstraintRewrite(
        (Bounded(x % m, s, s), Bounded(x, lo, hi)),
        (Bounded(x % m, s, s), Bounded(x, lo + (s - lo) % m, hi - (hi - s) % m)),
        when=(m > 0,),
        guard=(lo <= hi,),
    )


@mistake(constraints.positive_factor_divides_bounds, "progress")
def any_factor_divides_bounds(x: Expr, k: Const, lo: Const, hi: Const) -> ConstraintRewrite:
    """Applies with the factor one, so that it never stops."""
    return ConstraintRewrite(
        (Bounded(x * k, lo, hi),), (Bounded(x, ceildiv(lo, k), hi // k),), when=(k > 0,), choose="content"
    )


@mistake(constraints.positive_divisor_scales_bounds, "progress")
def bounds_become_a_quotient(x: Expr, lo: Const, hi: Const) -> ConstraintRewrite:
    """Reverses another rule."""
    return ConstraintRewrite((Bounded(x, lo * 4, hi * 4 + 3),), (Bounded(x // 4, lo, hi),), guard=(integer(4) > 0,))


_merge = constraints.remainders_merge
_x, _w, _k, _u, _m = (next(v for v in _merge.variables if v.name == name) for name in "xwkum")
_STEP = (_x - _w).eq(_k * (_u * ((_x - _w) // _m)))
#: Uses one of the two congruences where both are needed.
remainders_merge_by_half = replace(_merge, name="remainders_merge_by_half", by=(*_merge.by[:4], _STEP, *_merge.by[4:]))
BROKEN.append(
    Planted(remainders_merge_by_half.name, remainders_merge_by_half, f"step 5: {show_condition(_STEP)}", _merge)
)
