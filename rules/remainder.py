"""Floor modulo: terms that leave a remainder, and remainders that ranges determine."""

from __future__ import annotations

from ..core.expr import Expr
from ..core.rewrite import Const, Rest, Rewrite, rule


@rule(fires={"a % 1": "0", "a % -1": "0"})
def remainder_by_one(x: Expr, d: Const) -> Rewrite:
    """Every integer is a multiple of 1 and of -1."""
    return Rewrite(x % d, 0, when=(d.eq(1) | d.eq(-1),))


@rule(
    fires={"a % 8 | a in [0, 7]": "a", "a % 8 | a in [8, 15]": "a - 8", "a % -4 | a in [-3, 0]": "a"},
    keeps=["a % 8 | a in [0, 8]"],
)
def remainder_known(x: Expr, d: Const, q: Const) -> Rewrite:
    """A dividend that stays within one block of the divisor has the remainder x - q·d, where q is its quotient."""
    return Rewrite(
        x % d,
        x - q * d,
        when=(((d > 0) & (x - q * d).within(0, d - 1)) | ((d < 0) & (x - q * d).within(d + 1, 0)),),
        choose="block_of_range",
    )


@rule(
    fires={
        "(100*a + 10*b + c) % 100 | b in [0, 9], c in [0, 9]": "10*b + c",
        "(15*a + b) % 16 | a in [0, 1], b in [1, 1]": "b - a",
    },
    keeps=["(6*a + b) % 4 | a in [0, 3], b in [0, 3]"],
)
def remainder_certified(x: Expr, q: Expr, d: Const) -> Rewrite:
    """If x - q·d lies in [0, d - 1] everywhere, it is the remainder."""
    return Rewrite(x % d, x - q * d, when=((x - q * d).within(0, d - 1),), choose="coefficient_quotients")


@rule(
    fires={"(6*a + b) % 3": "b % 3", "(a + 7) % 3": "(a + 1) % 3", "(a - 7) % 3": "(a + 2) % 3"},
    keeps=["(6*a + b) % 4", "(a + 2) % 3"],
)
def multiple_leaves_remainder(x: Expr, d: Const, r: Rest) -> Rewrite:
    """Multiples of the divisor, summands and constants, do not change the remainder."""
    return Rewrite((x * d + r) % d, r % d, choose="multiples")


@rule(
    fires={
        "(4*a + b) % 12 | b in [0, 3]": "a % 3 * 4 + b",
        "(4*a + b + 1) % 12 | b in [0, 2]": "a % 3 * 4 + b + 1",
        "(16*a + 8*b + c) % 24 | c in [0, 7]": "(2*a + b) % 3 * 8 + c",
        "(6*a + 4*b + 1) % 8": "(3*a + 2*b) % 4 * 2 + 1",
    },
    keeps=["(6*a + 3*b) % 4", "(4*a + b) % 10 | b in [0, 3]", "(4*a + b) % 12 | b in [0, 4]"],
)
def common_factor_leaves_remainder(x: Expr, g: Const, d: Const, r: Rest) -> Rewrite:
    """A factor g common to divisor and summands moves out if the rest lies in [0, g - 1]."""
    return Rewrite(
        (x * g + r) % d,
        x % (d // g) * g + r,
        when=(d > 0, g.divides(d), r.within(0, g - 1)),
        guard=(g > 1,),
        choose="common_factor",
    )


@rule(
    fires={"(a + b) % 4 | a % 4 in [1, 1]": "(b + 1) % 4", "(a + 2*b) % 4 | a % 8 in [3, 3]": "(2*b + 3) % 4"},
    keeps=["(a + b) % 4 | a % 2 in [1, 1]"],
)
def known_residue_is_constant(x: Expr, d: Const, m: Const, r: Rest) -> Rewrite:
    """Summands may be replaced by their remainder modulo the divisor, if that is known."""
    return Rewrite((x + r) % d, (r + m) % d, when=((x % d).eq(m),), choose="known_residue")


@rule(fires={"(a % 12) % 4": "a % 4", "(a % 12 * 3 + b) % 9": "(3*a + b) % 9"}, keeps=["(a % 6) % 4"])
def inner_remainder_vanishes(x: Expr, m: Const, c: Const, d: Const, r: Rest) -> Rewrite:
    """An inner remainder modulo m, times c, may be dropped if the divisor divides c·m."""
    return Rewrite((x % m * c + r) % d, (x * c + r) % d, when=(d.divides(c * m),))


@rule(
    fires={"(7 - a) % 8": "7 - a % 8", "(11 - 4*a - b) % 12": "11 - (4*a + b) % 12"},
    keeps=["(6 - a) % 8", "(a + 7) % 8"],
)
def complement_leaves_remainder(x: Expr, d: Const) -> Rewrite:
    """The complement of x in one block has the complementary remainder."""
    return Rewrite((d - 1 - x) % d, d - 1 - x % d, when=(d > 0,), choose="complement")


@rule(fires={"a % -3": "-(-a % 3)"})
def negative_modulus_moves_out(x: Expr, d: Const) -> Rewrite:
    """A remainder takes the sign of its modulus."""
    return Rewrite(x % d, -((-x) % (-d)), guard=(d < 0,))
