"""Wrong rewrite rules: a forgotten condition, a wrong sign or constant, or no progress."""

from __future__ import annotations

from collections.abc import Callable

from indexproof.core.expr import Expr, ceildiv, maximum, minimum
from indexproof.core.rewrite import Const, Rest, Rewrite, Rule, rule
from indexproof.rules import division, minmax, mixed_radix, remainder, sharing
from indexproof.verify.verdict import Status

from .planted import Planted, Undeclarable

BROKEN: list[Planted] = []


def mistake(twin: Rule, fails: str = "sound", status: Status = Status.REFUTED) -> Callable[..., Rule]:
    """Declare a wrong rule with its correct twin, the obligation that it fails and the verdict."""

    def declare(function: Callable[..., Rewrite]) -> Rule:
        wrong = rule()(function)
        BROKEN.append(Planted(wrong.name, wrong, fails, twin, status))
        return wrong

    return declare


# ------------------------------------------------------------------------------------------------------------ quotients
@mistake(division.small_remainder_vanishes)
def remainder_vanishes_without_divisibility(x: Expr, g: Const, d: Const, r: Rest) -> Rewrite:
    """Forgets that g must divide d."""
    return Rewrite((x * g + r) // d, x // (d // g), when=(d >= g, r.within(0, g - 1)), guard=(g > 1,))


@mistake(division.small_remainder_vanishes)
def remainder_vanishes_one_too_large(x: Expr, g: Const, d: Const, r: Rest) -> Rewrite:
    """Admits a remainder as large as g."""
    return Rewrite((x * g + r) // d, x // (d // g), when=(d > 0, g > 0, g.divides(d), r.within(0, g)), guard=(g > 1,))


@mistake(division.small_remainder_vanishes)
def remainder_vanishes_below_zero(x: Expr, g: Const, d: Const, r: Rest) -> Rewrite:
    """Admits a negative remainder."""
    return Rewrite((x * g + r) // d, x // (d // g), when=(d > 0, g.divides(d), r.within(-1, g - 1)), guard=(g > 1,))


@mistake(division.multiple_leaves_quotient)
def multiple_leaves_quotient_always(x: Expr, c: Const, d: Const, r: Rest) -> Rewrite:
    """Moves a coefficient out of a quotient although the divisor need not divide it."""
    return Rewrite((x * c + r) // d, x * (c // d) + r // d)


@mistake(division.quotient_of_quotient)
def quotient_of_quotient_any_sign(x: Expr, a: Const, b: Const) -> Rewrite:
    """Combines two divisions even for negative divisors, where the rounding differs."""
    return Rewrite((x // a) // b, x // (a * b))


@mistake(division.quotient_absorbs_summand)
def quotient_absorbs_unscaled_summand(x: Expr, a: Const, b: Const, r: Rest) -> Rewrite:
    """Moves a summand into the inner dividend without scaling it."""
    return Rewrite((x // a + r) // b, (x + r) // (a * b), when=(b > 0,))


@mistake(division.quotient_of_remainder)
def quotient_of_remainder_wrong_radix(x: Expr, m: Const, d: Const) -> Rewrite:
    """Reduces the high digit modulo the whole radix."""
    return Rewrite((x % m) // d, x // d % m, when=(d > 0, m > 0, d.divides(m)))


@mistake(division.quotient_of_remainder, "defined", Status.UNDEFINED)
def quotient_of_remainder_undefined(x: Expr, m: Const, d: Const) -> Rewrite:
    """Divides by m // d, which is zero where d exceeds m."""
    return Rewrite((x % m) // d, x // d % (m // d), when=(d > 0, m > 0))


@mistake(division.negative_divisor_moves_up)
def sign_moves_out_of_quotient(x: Expr, d: Const) -> Rewrite:
    """Treats floor division as if it rounded towards zero."""
    return Rewrite(x // d, -(x // (-d)), guard=(d < 0,))


@mistake(division.ceiling_of_positive)
def ceiling_adds_the_whole_divisor(x: Expr, d: Const) -> Rewrite:
    """Adds d where d - 1 is right."""
    return Rewrite(ceildiv(x, d), (x + d) // d, when=(d > 0,))


@mistake(division.ceiling_of_positive)
def ceiling_for_any_sign(x: Expr, d: Const) -> Rewrite:
    """Rounds up by a negative divisor as if it were positive."""
    return Rewrite(ceildiv(x, d), (x + d - 1) // d)


@mistake(division.multiple_leaves_quotient)
def constant_is_lost(k: Const, d: Const, r: Rest) -> Rewrite:
    """Reduces a constant modulo the divisor and drops its quotient."""
    return Rewrite((r + k) // d, (r + k % d) // d, guard=(d > 0, k >= d))


@mistake(division.quotient_known)
def quotient_known_for_any_sign(x: Expr, d: Const, q: Const) -> Rewrite:
    """Counts blocks upwards even for negative divisors."""
    block = (x - q * d).within(0, maximum(d, -d) - 1)
    return Rewrite(x // d, q, when=(block,), choose="block_of_range")


# ----------------------------------------------------------------------------------------------------------- remainders
@mistake(remainder.remainder_known)
def remainder_known_one_too_large(x: Expr, d: Const, q: Const) -> Rewrite:
    """Admits the first element of the next block."""
    return Rewrite(x % d, x - q * d, when=(d > 0, (x - q * d).within(0, d)), choose="block_of_range")


@mistake(remainder.common_factor_leaves_remainder)
def summand_leaves_remainder_without_divisibility(x: Expr, g: Const, d: Const, r: Rest) -> Rewrite:
    """Moves a summand out of a remainder although g need not divide the modulus."""
    return Rewrite((x * g + r) % d, x % (d // g) * g + r, when=(d >= g, r.within(0, g - 1)), guard=(g > 1,))


@mistake(remainder.inner_remainder_vanishes)
def inner_remainder_of_divisor_vanishes(x: Expr, m: Const, d: Const, r: Rest) -> Rewrite:
    """Drops an inner modulus that divides the outer one, where only the converse is sound."""
    return Rewrite((x % m + r) % d, (x + r) % d, when=(m.divides(d),))


@mistake(remainder.negative_modulus_moves_out)
def negative_modulus_loses_its_sign(x: Expr, d: Const) -> Rewrite:
    """Changes the signs of both dividend and modulus without negating the remainder."""
    return Rewrite(x % d, (-x) % (-d), guard=(d < 0,))


@mistake(remainder.multiple_leaves_remainder)
def multiple_leaves_remainder_always(x: Expr, c: Const, d: Const, r: Rest) -> Rewrite:
    """Drops summands that need not be multiples of the modulus."""
    return Rewrite((x * c + r) % d, r % d)


# --------------------------------------------------------------------------------------------------------------- digits
@mistake(mixed_radix.quotient_and_remainder_recombine)
def digits_recombine_at_wrong_scale(x: Expr, d: Const, p: Const, w: Const, r: Rest) -> Rewrite:
    """Gives quotient and remainder the same coefficient."""
    return Rewrite((x // d) * p + (x % d) * w + r, x * w + r, when=(p.eq(w),))


@mistake(mixed_radix.remainder_subtracts_to_quotient)
def remainder_adds_to_quotient(x: Expr, d: Const, w: Const, v: Const, r: Rest) -> Rewrite:
    """Adds the remainder where it must be subtracted."""
    return Rewrite(x * w + (x % d) * v + r, (x // d) * (d * w) + r, when=(v.eq(w),))


# -------------------------------------------------------------------------------------------------- minimum and maximum
@mistake(minmax.min_keeps_smaller)
def min_keeps_larger(x: Expr, y: Expr) -> Rewrite:
    """Keeps the wrong argument."""
    return Rewrite(minimum(x, y), x, when=(y <= x,))


@mistake(minmax.max_keeps_larger)
def max_keeps_smaller(x: Expr, y: Expr) -> Rewrite:
    """Keeps the wrong argument."""
    return Rewrite(maximum(x, y), x, when=(x <= y,))


@mistake(minmax.min_keeps_smaller)
def max_absorbs_max(x: Expr, y: Expr) -> Rewrite:
    """Replaces min(x, min(x, y)) by x, which is false where y < x."""
    return Rewrite(minimum(x, minimum(x, y)), x, when=(y <= maximum(x, y),))


# ------------------------------------------------------------------------------------------- mistakes of other kinds
@mistake(minmax.min_keeps_smaller, "not vacuous", Status.VACUOUS)
def min_keeps_smaller_never(x: Expr, y: Expr) -> Rewrite:
    """The conditions contradict each other, so that the rule never applies."""
    return Rewrite(minimum(x, y), x, when=(x <= y, y < x))


@mistake(minmax.min_keeps_smaller, "needs x ≤ y + 1", Status.VACUOUS)
def min_keeps_smaller_twice(x: Expr, y: Expr) -> Rewrite:
    """The second condition follows from the first."""
    return Rewrite(minimum(x, y), x, when=(x <= y, x <= y + 1))


@mistake(division.multiple_leaves_quotient, "progress")
def constant_enters_quotient(x: Expr, d: Const, r: Rest) -> Rewrite:
    """True, but the result is larger, so that the rule would apply for ever."""
    return Rewrite((x + r) // d, (x + r + d) // d - 1)


@mistake(division.negative_divisor_moves_up, "progress")
def sign_changes_back_and_forth(x: Expr, d: Const) -> Rewrite:
    """True for both signs, so that the rule reverses itself."""
    return Rewrite(x // d, (-x) // (-d))


def _unbound() -> object:
    @rule()
    def quotient_from_nowhere(x: Expr, d: Const, q: Const) -> Rewrite:
        """Nothing determines q."""
        return Rewrite(x // d, q, when=((x - q * d).within(0, d - 1),))

    return quotient_from_nowhere


def _undocumented() -> object:
    @rule()
    def quotient_by_one(x: Expr) -> Rewrite:
        return Rewrite(x // 1, x)

    return quotient_by_one


@mistake(division.quotient_absorbs_negated)
def quotient_absorbs_negated_rounding_down(x: Expr, a: Const, b: Const, v: Const, r: Rest) -> Rewrite:
    """Rounds a negated quotient down where it must be rounded up."""
    return Rewrite((x // a * v + r) // b, (r * a - x) // (a * b), when=(a > 0, b > 0, v.eq(-1)))


@mistake(division.quotient_absorbs_digit)
def quotient_absorbs_digit_with_its_modulus(
    x: Expr, a: Const, b: Const, m: Const, n: Const, v: Const, r: Rest
) -> Rewrite:
    """Takes the remainder modulo n where it must be modulo a·n."""
    return Rewrite(
        ((x // a) % n + (x // m) * v + r) // b,
        (x % n + (x // m) * (v * a) + r * a) // (a * b),
        when=(n > 0, b > 0),
        guard=(m.eq(a * n), n.divides(v)),
    )


@mistake(division.quotient_of_digit)
def quotient_of_digit_with_its_modulus(x: Expr, a: Const, b: Const, n: Const) -> Rewrite:
    """Takes the remainder modulo n where it must be modulo a·n."""
    return Rewrite(((x // a) % n) // b, (x % n) // (a * b), when=(n > 0, b > 0))


@mistake(mixed_radix.quotient_and_remainder_recombine)
def remainder_of_anything_recombines(x: Expr, y: Expr, d: Const, p: Const, w: Const, r: Rest) -> Rewrite:
    """Recombines the digits of different numbers, which need not be congruent."""
    return Rewrite(x // d * p + (y % d) * w + r, x * w + r, when=(p.eq(d * w),))


@mistake(sharing.multiple_is_difference)
def multiple_is_difference_of_any_scale(x: Expr, t: Expr, d: Const, v: Const, w: Const, r: Rest) -> Rewrite:
    """Forgets the divisor in the coefficient of the quotient."""
    return Rewrite((x // d) * v + r, x * w - t * w + r, when=(v.eq(w), t.eq(x % d)), choose="sharing")


@mistake(sharing.known_digit_joins_quotient)
def known_digit_stays(x: Expr, q: Expr, a: Const, n: Const, e: Const, m: Const, v: Const, w: Const, r: Rest) -> Rewrite:
    """Forgets to subtract the known digit."""
    return Rewrite(
        (x // e) * v + r,
        q * w + r,
        when=(n > 0, e.eq(a * n), v.eq(n * w), q.eq(x // a), (q % n).eq(m)),
        choose="sharing",
    )


@mistake(sharing.known_digit_joins_quotient)
def known_digit_below_any_sign(
    x: Expr, q: Expr, a: Const, n: Const, e: Const, m: Const, v: Const, w: Const, r: Rest
) -> Rewrite:
    """Merges two divisions even where the outer divisor is negative."""
    return Rewrite(
        (x // e) * v + r,
        q * w - m * w + r,
        when=(e.eq(a * n), v.eq(n * w), q.eq(x // a), (q % n).eq(m)),
        choose="sharing",
    )


@mistake(sharing.known_digit_joins_digit)
def any_digit_joins_digit(x: Expr, t: Expr, a: Const, n: Const, v: Const, w: Const, r: Rest) -> Rewrite:
    """Forgets that the lower digit must be known."""
    return Rewrite(((x // a) % n) * v + r, t * w + r, when=(n > 0, v.eq(a * w), t.eq(x % (a * n))), choose="sharing")


@mistake(sharing.quotient_releases_summand)
def quotient_releases_what_is_not_divided(x: Expr, q: Expr, a: Const, b: Const, r: Rest) -> Rewrite:
    """Divides the other summands by a·b where they must be divided by a."""
    return Rewrite((x + r * a) // (a * b), (q + r) // b, when=(b > 0, q.eq(x // (a * b))), choose="divided_part")


@mistake(sharing.exact_quotient_negates)
def any_quotient_negates(x: Expr, d: Const) -> Rewrite:
    """Forgets that a quotient is rounded down on both sides of zero."""
    return Rewrite(x // d, -((-x) // d))


@mistake(sharing.quotient_turns)
def quotient_turns_for_any_sign(x: Expr, t: Expr, d: Const) -> Rewrite:
    """Uses the complement to d - 1 even for negative divisors."""
    return Rewrite(x // d, -t, when=(t.eq((d - 1 - x) // d),), choose="sharing")


@mistake(sharing.remainder_turns)
def remainder_turns_about_the_divisor(x: Expr, t: Expr, d: Const) -> Rewrite:
    """Takes the complement to d instead of d - 1."""
    return Rewrite(x % d, d - t, when=(d > 0, t.eq((d - x) % d)), choose="sharing")


def _unannotated() -> object:
    @rule()
    def quotient_by_one(x) -> Rewrite:
        """The annotation of x is missing."""
        return Rewrite(x // 1, x)

    return quotient_by_one


UNDECLARABLE = [
    Undeclarable("unbound", _unbound, "q does not occur on the left", division.quotient_known),
    Undeclarable("undocumented", _undocumented, "say in a docstring", division.quotient_by_one),
    Undeclarable("unannotated", _unannotated, "annotate `x`", division.quotient_by_one),
]
