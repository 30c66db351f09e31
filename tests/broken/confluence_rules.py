"""Rule sets in which the order of rewriting matters: every rule is true, and some expression has two normal forms."""

from __future__ import annotations

from dataclasses import dataclass

from indexproof.core.expr import Expr, ceildiv, integer, maximum, minimum
from indexproof.core.rewrite import (
    Bounded,
    Const,
    ConstraintRewrite,
    ConstraintRule,
    Rest,
    Rewrite,
    Rule,
    constraint_rule,
    rule,
)
from indexproof.rules.constraints import NOWHERE


@rule()
def divided_twice(x: Expr, a: Const, b: Const) -> Rewrite:
    """Dividing twice is dividing by the product."""
    return Rewrite((x // a) // b, x // (a * b), when=(a > 1, b > 1))


@rule()
def multiple_is_divided(x: Expr, a: Const) -> Rewrite:
    """A multiple of the divisor is divided exactly."""
    return Rewrite((x * a) // a, x, when=(a > 1,))


@rule()
def common_factor_cancels(x: Expr, a: Const, b: Const) -> Rewrite:
    """A factor that divides the divisor cancels."""
    return Rewrite((x * a) // b, x // (b // a), when=(a > 1, b > a, a.divides(b)))


@rule()
def min_keeps_smaller(x: Expr, y: Expr) -> Rewrite:
    """min(x, y) is x once x never exceeds y."""
    return Rewrite(minimum(x, y), x, when=(x <= y,))


@rule()
def remainder_becomes_difference(x: Expr, d: Const, w: Const, v: Const, r: Rest) -> Rewrite:
    """What is left of x without its whole divisors is the remainder."""
    return Rewrite(x * w + (x // d) * v + r, (x % d) * w + r, when=(d > 1, v.eq(-(d * w))))


@rule()
def value_is_known(x: Expr, k: Const) -> Rewrite:
    """An expression that has only one value is that value."""
    return Rewrite(x, k, when=(x.eq(k),), choose="single_value")


@rule()
def extrema_sum(x: Expr, y: Expr, r: Rest) -> Rewrite:
    """The smaller and the larger of two together are both."""
    return Rewrite(minimum(x, y) + maximum(x, y) + r, x + y + r)


@rule()
def quotient_is_remainder(x: Expr, d: Const) -> Rewrite:
    """Not true: a left side whose divisor may have either sign."""
    return Rewrite(x // d, x % d)


@rule()
def quotient_is_next_remainder(x: Expr, d: Const) -> Rewrite:
    """Not true: the same left side, and another right side."""
    return Rewrite(x // d, (x + 1) % d)


@rule()
def next_remainder_of_positive(x: Expr, d: Const) -> Rewrite:
    """Not true: joins both above zero."""
    return Rewrite((x + 1) % d, x % d, when=(d > 0,))


@rule()
def next_remainder_of_negative(x: Expr, d: Const) -> Rewrite:
    """Not true: joins both below zero."""
    return Rewrite((x + 1) % d, x % d, when=(d < 0,))


#: What joins above zero only, and what joins on both sides of it.
ONE_SIGN = (quotient_is_remainder, quotient_is_next_remainder, next_remainder_of_positive)
BOTH_SIGNS = (*ONE_SIGN, next_remainder_of_negative)


@rule()
def positive_is_remainder(x: Expr, d: Const) -> Rewrite:
    """Not true: the first left side, for divisors above zero."""
    return Rewrite(x // d, x % d, when=(d > 0,))


@rule()
def positive_is_next_remainder(x: Expr, d: Const) -> Rewrite:
    """Not true: the second, for divisors above zero."""
    return Rewrite(x // d, (x + 1) % d, when=(d > 0,))


@rule()
def next_remainder_above_one(x: Expr, d: Const) -> Rewrite:
    """Not true: joins both for divisors above one."""
    return Rewrite((x + 1) % d, x % d, when=(d > 1,))


#: What joins for all divisors but one.
ABOVE_ONE = (positive_is_remainder, positive_is_next_remainder, next_remainder_above_one)

#: Whether both meet depends on a value that two variables have only together.
TOGETHER = (value_is_known, extrema_sum)


@dataclass(frozen=True)
class Divided:
    """A rule set with the smallest expression that it leads to two ends, and with one that does not."""

    name: str
    rules: tuple[Rule, ...]
    witness: str
    forms: frozenset[str]
    #: the rules with one more, which joins what was apart
    healed: tuple[Rule, ...] = ()


BROKEN = (
    Divided(
        "a multiple is divided twice",
        (divided_twice, multiple_is_divided),
        "(2·a) // 2 // 2",
        frozenset({"(2·a) // 4", "a // 2"}),
        (divided_twice, multiple_is_divided, common_factor_cancels),
    ),
    Divided(
        "a quotient of a quotient is no longer a quotient of what stands beside it",
        (divided_twice, remainder_becomes_difference),
        "2·(a // 2 // 2) - a // 2",
        frozenset({"-(a // 2 mod 2)", "2·(a // 4) - a // 2"}),
    ),
    Divided("either of two equal ones", (min_keeps_smaller,), "min(a, b)", frozenset({"a", "b"})),
)

#: Confluent as they are.
SOUND: tuple[tuple[Rule, ...], ...] = ((divided_twice,), (multiple_is_divided,))


# ------------------------------------------------------------------------------------------- what combines with a rest
@rule()
def ceiling_rounds_up(x: Expr, d: Const, r: Rest) -> Rewrite:
    """A quotient rounded up is one of more, in a sum once."""
    return Rewrite(ceildiv(x, d) + r, (x + d - 1) // d + r, when=(d > 1,))


@rule()
def ceiling_alone_rounds_up(x: Expr, d: Const) -> Rewrite:
    """The same by itself."""
    return Rewrite(ceildiv(x, d), (x + d - 1) // d, when=(d > 1,))


@rule()
def ceiling_turns(x: Expr, d: Const) -> Rewrite:
    """A quotient rounded up is the negative of one of the negative."""
    return Rewrite(ceildiv(x, d), -((-x) // d), when=(d > 1,))


@rule()
def negative_quotient_turns(x: Expr, d: Const, v: Const, r: Rest) -> Rewrite:
    """What is taken away once is what is left of the divisor."""
    return Rewrite((x // d) * v + r, (d - 1 - x) // d + r, when=(d > 1, v.eq(-1)))


@rule()
def any_negative_quotient_turns(x: Expr, d: Const, v: Const, r: Rest) -> Rewrite:
    """The same however often it is taken away."""
    return Rewrite((x // d) * v + r, ((d - 1 - x) // d) * -v + r, when=(d > 1, v < 0))


#: Both ways from a ceiling meet with symbols, but not where the rest of the sum holds the quotient that one of them makes.
COMBINING: tuple[Rule, ...] = (ceiling_rounds_up, ceiling_turns, negative_quotient_turns)
#: The same rules where nothing stands beside the ceiling.
ALONE: tuple[Rule, ...] = (ceiling_alone_rounds_up, ceiling_turns, negative_quotient_turns)


# --------------------------------------------------------------------------------------------------- rules for constraints
@rule()
def outer_remainder_is_enough(x: Expr, m: Const, k: Const) -> Rewrite:
    """A remainder of a remainder is one of the dividend, where the outer divides the inner modulus."""
    return Rewrite((x % k) % m, x % m, when=(m.divides(k),))


@rule()
def large_outer_remainder_is_enough(x: Expr, m: Const, k: Const) -> Rewrite:
    """The same of large moduli only."""
    return Rewrite((x % k) % m, x % m, when=(m > 2, m.divides(k)))


@constraint_rule()
def remainder_is_below(x: Expr, m: Const, lo: Const, hi: Const) -> ConstraintRewrite:
    """No remainder reaches the modulus."""
    return ConstraintRewrite(
        (Bounded(x % m, lo, hi),), (Bounded(x % m, lo, m - 1),), when=(m > 0,), guard=(hi >= m,)
    )


@constraint_rule()
def remainder_is_natural(x: Expr, m: Const, lo: Const, hi: Const) -> ConstraintRewrite:
    """No remainder is negative."""
    return ConstraintRewrite(
        (Bounded(x % m, lo, hi),), (Bounded(x % m, integer(0), hi),), when=(m > 0,), guard=(lo < 0, -m < lo)
    )


@constraint_rule()
def remainder_is_not_zero(x: Expr, m: Const, lo: Const, hi: Const) -> ConstraintRewrite:
    """Not true: a remainder may be zero."""
    return ConstraintRewrite(
        (Bounded(x % m, lo, hi),), (Bounded(x % m, integer(1), hi),), when=(m > 0,), guard=(lo < 0,)
    )


@constraint_rule()
def remainder_is_far_above(x: Expr, m: Const, lo: Const, hi: Const) -> ConstraintRewrite:
    """No remainder is negative, which a bound far below says too: true, and no simpler."""
    return ConstraintRewrite(
        (Bounded(x % m, lo, hi),), (Bounded(x % m, -m, hi),), when=(m > 0,), guard=(lo < 0, -m < lo)
    )


@constraint_rule()
def far_is_natural(x: Expr, m: Const, lo: Const, hi: Const) -> ConstraintRewrite:
    """A bound far below is zero."""
    return ConstraintRewrite(
        (Bounded(x % m, lo, hi),), (Bounded(x % m, integer(0), hi),), when=(m > 0,), guard=(lo.eq(-m),)
    )


@constraint_rule()
def far_is_natural_for_some(x: Expr, m: Const, lo: Const, hi: Const) -> ConstraintRewrite:
    """The same, only where the other bound is above one hundred."""
    return ConstraintRewrite(
        (Bounded(x % m, lo, hi),),
        (Bounded(x % m, integer(0), hi),),
        when=(m > 0,),
        guard=(lo.eq(-m), hi > 100),
    )


@constraint_rule()
def both_ranges_are_one(x: Expr, a: Const, b: Const, c: Const, d: Const) -> ConstraintRewrite:
    """Two ranges of one expression are their intersection."""
    return ConstraintRewrite(
        (Bounded(x, a, b), Bounded(x, c, d)), (Bounded(x, maximum(a, c), minimum(b, d)),)
    )


@constraint_rule()
def remainder_of_remainder(x: Expr, m: Const, n: Const, s: Const, t: Const) -> ConstraintRewrite:
    """A remainder decides the remainder modulo a divisor."""
    return ConstraintRewrite(
        (Bounded(x % m, s, s), Bounded(x % n, t, t)),
        (Bounded(x % m, s, s),),
        when=(n.divides(m), t.eq(s % n)),
    )


#: Two rules for one constraint that join for all constants; one and a wrong one; two that do not join, with a rule
#: that joins them in all cases, or in some.
JOINING_CONSTRAINTS: tuple[ConstraintRule, ...] = (remainder_is_below, remainder_is_natural)
WRONG_CONSTRAINTS: tuple[ConstraintRule, ...] = (remainder_is_natural, remainder_is_not_zero)
APART_CONSTRAINTS: tuple[ConstraintRule, ...] = (remainder_is_natural, remainder_is_far_above)
HEALED_CONSTRAINTS: tuple[ConstraintRule, ...] = (*APART_CONSTRAINTS, far_is_natural)
HALF_HEALED_CONSTRAINTS: tuple[ConstraintRule, ...] = (*APART_CONSTRAINTS, far_is_natural_for_some)
#: Rules for two constraints that do not join where they have one in common.
SHARING_CONSTRAINTS: tuple[ConstraintRule, ...] = (both_ranges_are_one, remainder_of_remainder)


# ------------------------------------------------------------------------------------------- rules that narrow bounds
@constraint_rule()
def wide_ranges_are_raised(x: Expr, m: Const, s: Const, lo: Const, hi: Const) -> ConstraintRewrite:
    """A lower bound moves up to where a remainder is, but only of a range that is wide."""
    return ConstraintRewrite(
        (Bounded(x % m, s, s), Bounded(x, lo, hi)),
        (Bounded(x % m, s, s), Bounded(x, lo + (s - lo) % m, hi)),
        when=(m > 0,),
        guard=(lo + 6 <= hi, ((s - lo) % m).ne(0)),
    )


@constraint_rule()
def ranges_are_lowered(x: Expr, m: Const, s: Const, lo: Const, hi: Const) -> ConstraintRewrite:
    """An upper bound moves down to where a remainder is."""
    return ConstraintRewrite(
        (Bounded(x % m, s, s), Bounded(x, lo, hi)),
        (Bounded(x % m, s, s), Bounded(x, lo, hi - (hi - s) % m)),
        when=(m > 0,),
        guard=(lo <= hi, ((hi - s) % m).ne(0)),
    )


@constraint_rule()
def ranges_grow(x: Expr, m: Const, s: Const, lo: Const, hi: Const) -> ConstraintRewrite:
    """A lower bound moves down where the value below it has another remainder: the same solutions, and no narrower."""
    return ConstraintRewrite(
        (Bounded(x % m, s, s), Bounded(x, lo, hi)),
        (Bounded(x % m, s, s), Bounded(x, lo - 1, hi)),
        when=(m > 0, ((lo - 1 - s) % m).ne(0)),
    )


@constraint_rule()
def nothing_is_nowhere(x: Expr, lo: Const, hi: Const, a: Const, b: Const) -> ConstraintRewrite:
    """Bounds that no value reaches hold nowhere."""
    return ConstraintRewrite(
        (Bounded(x, lo, hi),),
        (NOWHERE,),
        when=(x.within(a, b), (hi < a) | (b < lo) | (hi < lo)),
        choose="whole_range",
    )


@constraint_rule()
def what_holds_vanishes(x: Expr, lo: Const, hi: Const) -> ConstraintRewrite:
    """A constraint that always holds says nothing."""
    return ConstraintRewrite((Bounded(x, lo, hi),), (), when=(x.within(lo, hi),))


#: Two rules that narrow bounds, one of them only where they are wide: which is first makes a difference.
HASTY_CONSTRAINTS: tuple[ConstraintRule, ...] = (
    wide_ranges_are_raised,
    ranges_are_lowered,
    both_ranges_are_one,
    nothing_is_nowhere,
    what_holds_vanishes,
)


# ---------------------------------------------------------------------------------------------------- rules for sums
@rule()
def four_quotients_are_a_multiple(x: Expr, d: Const, v: Const, w: Const, r: Rest) -> Rewrite:
    """Not without a factor: what is four times a quotient is no longer four times one."""
    return Rewrite(x * w + (x % d) * v + r, (x // d) * (d * w) + r, when=(v.eq(-w), v.eq(4)))


@rule()
def half_of_a_coefficient(x: Expr, y: Expr, d: Const, v: Const, w: Const, r: Rest) -> Rewrite:
    """Not with every factor: it need not divide what is said only of its multiple."""
    return Rewrite(x * w + (y % d) * v + r, x * w + (y % d) * v + r, when=(v.eq(2 * w),))


#: Rules for sums that do not commute with taking out a factor.
LOPSIDED: tuple[Rule, ...] = (four_quotients_are_a_multiple, half_of_a_coefficient)
