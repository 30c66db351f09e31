"""Floor division: terms that leave a quotient, and quotients that ranges determine."""

from __future__ import annotations

from ..core.expr import Expr, ceildiv
from ..core.rewrite import Const, Rest, Rewrite, rule


@rule(fires={"a // 1": "a"})
def quotient_by_one(x: Expr) -> Rewrite:
    """Dividing by one changes nothing."""
    return Rewrite(x // 1, x)


@rule(
    fires={"a // 8 | a in [0, 7]": "0", "(a + 24) // 8 | a in [0, 7]": "3", "a // -4 | a in [1, 4]": "-1"},
    keeps=["a // 8 | a in [0, 8]"],
)
def quotient_known(x: Expr, d: Const, q: Const) -> Rewrite:
    """A dividend that stays within one block of the divisor has a constant quotient.

    ``(x - q·d)·sgn d`` must lie in ``[0, |d| - 1]``; both signs of the divisor are covered.
    """
    return Rewrite(
        x // d,
        q,
        when=(((d > 0) & (x - q * d).within(0, d - 1)) | ((d < 0) & (x - q * d).within(d + 1, 0)),),
        choose="block_of_range",
    )


@rule(
    fires={
        "(100*a + 10*b + c) // 100 | b in [0, 9], c in [0, 9]": "a",
        "(11*a + b - 109) // 11 | b in [10, 20]": "a - 9",
        "(15*a + b) // 16 | a in [0, 1], b in [1, 1]": "a",
    },
    keeps=["(6*a + b) // 4 | a in [0, 3], b in [0, 3]"],
)
def quotient_certified(x: Expr, q: Expr, d: Const) -> Rewrite:
    """If x lies between q·d and q·d + d - 1 everywhere, then q is the quotient.

    The candidates for q divide every coefficient of x by d, rounding down or to the nearest.  The rule is proved for
    every q.
    """
    return Rewrite(x // d, q, when=((x - q * d).within(0, d - 1),), choose="coefficient_quotients")


@rule(
    fires={"(6*a + b) // 3": "2*a + b // 3", "(a + 7) // 3": "(a + 1) // 3 + 2", "(a - 7) // 3": "(a + 2) // 3 - 3"},
    keeps=["(6*a + b) // 4", "(a + 2) // 3"],
)
def multiple_leaves_quotient(x: Expr, d: Const, r: Rest) -> Rewrite:
    """Multiples of the divisor leave the quotient exactly.

    They are the summands that the divisor divides, and the constant up to its remainder.
    """
    return Rewrite((x * d + r) // d, x + r // d, choose="multiples")


@rule(
    fires={
        "(4*a + b) // 12 | b in [0, 3]": "a // 3",
        "(4*a + b + 1) // 12 | b in [0, 2]": "a // 3",
        "(16*a + 8*b + c) // 24 | c in [0, 7]": "(2*a + b) // 3",
        "(6*a + 4*b + 1) // 8": "(3*a + 2*b) // 4",
    },
    keeps=["(6*a + 3*b) // 4", "(4*a + b) // 10 | b in [0, 3]", "(4*a + b) // 12 | b in [0, 4]"],
)
def small_remainder_vanishes(x: Expr, g: Const, d: Const, r: Rest) -> Rewrite:
    """A factor g common to divisor and summands cancels if the rest lies in [0, g - 1].

    Less than one step of x cannot carry x over a multiple of d.
    """
    return Rewrite(
        (x * g + r) // d,
        x // (d // g),
        when=(d > 0, g.divides(d), r.within(0, g - 1)),
        guard=(g > 1,),
        choose="common_factor",
    )


@rule(fires={"(a // 3) // 4": "a // 12", "((a + 1) // 2) // 5": "(a + 1) // 10"})
def quotient_of_quotient(x: Expr, a: Const, b: Const) -> Rewrite:
    """Dividing twice is dividing by the product, if the second divisor is positive."""
    return Rewrite((x // a) // b, x // (a * b), when=(b > 0,))


@rule(fires={"(a // 3 + b) // 4": "(a + 3*b) // 12", "(a // 3 + 2) // 4": "(a + 6) // 12"})
def quotient_absorbs_summand(x: Expr, a: Const, b: Const, r: Rest) -> Rewrite:
    """A summand between two divisions moves into the dividend, times the first divisor."""
    return Rewrite((x // a + r) // b, (x + r * a) // (a * b), when=(b > 0,))


@rule(fires={"(2 - a // 3) // 4": "(8 - a) // 12", "(b - a // 3) // 4": "(2 - a + 3*b) // 12"})
def quotient_absorbs_negated(x: Expr, a: Const, b: Const, v: Const, r: Rest) -> Rewrite:
    """A negated quotient between two divisions is absorbed too: -(x // a) is (a - 1 - x) // a."""
    return Rewrite((x // a * v + r) // b, (r * a - x + a - 1) // (a * b), when=(a > 0, b > 0, v.eq(-1)))


@rule(
    fires={"(a // 4 % 3 - a // 12 * 3 + b) // 8": "(a % 12 - a // 12 * 12 + 4*b) // 32"},
    keeps=["(a // 4 % 3 - a // 12 * 2 + b) // 8", "(a // 4 % 3 - a // 16 * 3 + b) // 8"],
)
def quotient_absorbs_digit(x: Expr, a: Const, b: Const, m: Const, n: Const, v: Const, r: Rest) -> Rewrite:
    """A digit between two divisions, times the first divisor, is a remainder x % (a·n) without a division of its own.

    The rule is true of every digit.  It is applied if the sum has the digits above, with which the remainder may recombine.
    """
    return Rewrite(
        ((x // a) % n + (x // m) * v + r) // b,
        (x % (a * n) + (x // m) * (v * a) + r * a) // (a * b),
        when=(n > 0, b > 0),
        guard=(m.eq(a * n), n.divides(v)),
    )


@rule(fires={"(a % 12) // 4": "a // 4 % 3"}, keeps=["(a % 10) // 4"])
def quotient_of_remainder(x: Expr, m: Const, d: Const) -> Rewrite:
    """The high digit of a remainder is a digit of x."""
    return Rewrite((x % m) // d, x // d % (m // d), when=(d > 0, m > 0, d.divides(m)))


@rule(fires={"(a // 4 % 5) // 2": "(a % 20) // 8"}, keeps=["(a // 4 % 5 + b) // 2"])
def quotient_of_digit(x: Expr, a: Const, b: Const, n: Const) -> Rewrite:
    """A quotient of a digit is a quotient of the remainder x % (a·n), without the division in between."""
    return Rewrite(((x // a) % n) // b, (x % (a * n)) // (a * b), when=(n > 0, b > 0))


@rule(
    fires={"(7 - a) // 8": "-(a // 8)", "(11 - 4*a - b) // 12": "-((4*a + b) // 12)"},
    keeps=["(6 - a) // 8", "(a + 7) // 8"],
)
def complement_leaves_quotient(x: Expr, d: Const) -> Rewrite:
    """The complement d - 1 - x has the negated quotient: it counts blocks from the end."""
    return Rewrite((d - 1 - x) // d, -(x // d), when=(d > 0,), choose="complement")


@rule(fires={"a // -3": "(-a) // 3"})
def negative_divisor_moves_up(x: Expr, d: Const) -> Rewrite:
    """Dividend and divisor may both change sign."""
    return Rewrite(x // d, (-x) // (-d), guard=(d < 0,))


@rule(fires={"ceildiv(a, 4)": "(a + 3) // 4"})
def ceiling_of_positive(x: Expr, d: Const) -> Rewrite:
    """Rounding up by a positive divisor is rounding down after adding d - 1."""
    return Rewrite(ceildiv(x, d), (x + d - 1) // d, when=(d > 0,))


@rule(fires={"ceildiv(a, -4)": "-(a // 4)"})
def ceiling_of_negative(x: Expr, d: Const) -> Rewrite:
    """Rounding up by a negative divisor d is the negative of rounding down by -d."""
    return Rewrite(ceildiv(x, d), -(x // (-d)), guard=(d < 0,))
