"""How a normal form is written: other spellings of quotients and remainders that share divisions and sums.

These rules do not descend in the order of the others; they are applied once, to the finished normal forms, where the
documented cost of all results together becomes smaller.  In their examples several results are separated by semicolons.
"""

from __future__ import annotations

from ..core.expr import Expr
from ..core.rewrite import Const, Rest, Rewrite, rule


@rule(sharing=True, fires={"a // 4; a % 4 + b": "a // 4; a - a // 4 * 4 + b"}, keeps=["a % 4"])
def remainder_is_difference(x: Expr, q: Expr, d: Const) -> Rewrite:
    """A remainder costs no division where the quotient is needed anyway; it may be written in any way."""
    return Rewrite(x % d, x - q * d, when=(q.eq(x // d),), choose="needed_quotient")


@rule(
    sharing=True,
    fires={"a // 4 * 4; a % 4 + b": "a - a % 4; a % 4 + b", "2*a - a // 4 * 4": "a + a % 4"},
    keeps=["a // 4 * 4 + c; a % 4; a // 4"],
)
def multiple_is_difference(x: Expr, t: Expr, d: Const, v: Const, w: Const, r: Rest) -> Rewrite:
    """A whole number of divisors costs no division where the remainder is needed anyway, which may be written in any way.

    Beside the dividend it may cost no multiplication either.
    """
    return Rewrite((x // d) * v + r, x * w - t * w + r, when=(v.eq(d * w), t.eq(x % d)), choose="needed_remainder")


@rule(
    sharing=True,
    fires={"a // 32 * 4 | a // 8 % 4 in [0, 0]": "a // 8"},
    keeps=["a // 32 * 4", "a // 32 * 2 | a // 8 % 4 in [0, 0]"],
)
def known_digit_joins_quotient(
    x: Expr, q: Expr, a: Const, n: Const, e: Const, m: Const, v: Const, w: Const, r: Rest
) -> Rewrite:
    """A quotient below which a digit is known, times the radix of the digit, is the quotient with the digit less that.

    That quotient may be written in any way.
    """
    return Rewrite(
        (x // e) * v + r,
        q * w - m * w + r,
        when=(n > 0, e.eq(a * n), v.eq(n * w), q.eq(x // a), (q % n).eq(m)),
        choose="known_digit",
    )


@rule(
    sharing=True,
    fires={"(a + 5) // 2 % 4 * 4 | a % 2 in [1, 1]": "(a + 5) % 8 * 2"},
    keeps=["(a + 5) // 2 % 4 * 4", "(a + 5) // 2 % 4 | a % 2 in [1, 1]"],
)
def known_digit_joins_digit(
    x: Expr, q: Expr, t: Expr, a: Const, n: Const, m: Const, v: Const, w: Const, r: Rest
) -> Rewrite:
    """A digit above a known one, times the radix of the known one, is both digits together, less the known one.

    The quotient and the two digits together may be written in any way.
    """
    return Rewrite(
        (q % n) * v + r,
        t * w - m * w + r,
        when=(n > 0, q.eq(x // a), v.eq(a * w), t.eq(x % (a * n)), (x % a).eq(m)),
        choose="digit_above_known",
    )


@rule(
    sharing=True,
    fires={"-((a - 3) // 4) - b | a % 4 in [1, 1]": "(-a + 5) // 4 - b"},
    keeps=["-((a - 3) // 4) - b", "c - ((a - 3) // 4) | a % 4 in [1, 1]"],
)
def exact_quotient_negates(x: Expr, d: Const, m: Const) -> Rewrite:
    """A quotient whose remainder is known is minus that of what is left to the remainder."""
    return Rewrite(x // d, -((m - x) // d), when=((x % d).eq(m),), choose="negated")


@rule(
    sharing=True,
    fires={"(a - b) // 4; (b - a + 3) // 4 + c": "(a - b) // 4; -((a - b) // 4) + c"},
    keeps=["(a - b) // 4; (b - a + 2) // 4 + c", "(b - a + 3) // 4 + c"],
)
def quotient_turns(x: Expr, t: Expr, d: Const) -> Rewrite:
    """A quotient is minus that of what is left to the divisor less one, which may be written in any way."""
    return Rewrite(x // d, -t, when=(d > 0, t.eq((d - 1 - x) // d)), choose="turned")


@rule(
    sharing=True,
    fires={"(a - b) % 4; (b - a + 3) % 4 + c": "(a - b) % 4; 3 - (a - b) % 4 + c"},
    keeps=["(a - b) % 4; (b - a + 2) % 4 + c", "(b - a + 3) % 4 + c"],
)
def remainder_turns(x: Expr, t: Expr, d: Const) -> Rewrite:
    """A remainder and that of what is left to the divisor less one add up to it; the other may be written in any way."""
    return Rewrite(x % d, d - 1 - t, when=(d > 0, t.eq((d - 1 - x) % d)), choose="turned")


@rule(
    sharing=True,
    fires={"(a - b) // 8; (a - b) // 64 + c | a in [0, 5], b in [0, 5]": "(a - b) // 8; (a - b) // 8 + c"},
    keeps=["(a - b) // 4; (a - b) // 64 + c | a in [0, 5], b in [0, 5]"],
)
def quotient_is_sign(x: Expr, d: Const, e: Const) -> Rewrite:
    """A quotient that is 0 or -1 says whether the dividend is negative, and so it is by every divisor large enough."""
    return Rewrite(
        x // d, x // e, when=(d > 0, e > 0, x.within(-d, d - 1), x.within(-e, e - 1)), choose="other_divisor"
    )


@rule(
    sharing=True,
    fires={"(12*a + 4*c + b) // 5; (3*a + c) // 2 | b in [0, 3]": "(12*a + 4*c + b) // 5; (12*a + 4*c + b) // 8"},
    keeps=["a // 2"],
)
def quotient_widens(y: Expr, e: Const, g: Const, r: Rest) -> Rewrite:
    """A quotient can be that of a larger number, which something else divides."""
    return Rewrite(y // e, (y * g + r) // (e * g), when=(e > 0, g > 0, r.within(0, g - 1)), choose="wider")


@rule(
    sharing=True,
    fires={
        "(12*a + 4*c + b) // 5; (3*a + c) % 2 * 4 + b | b in [0, 3]": "(12*a + 4*c + b) // 5; (12*a + 4*c + b) % 8",
        "(a - 1) % 2 * 5 + 2": "(5*a + 7) % 10",
    },
    keeps=["a % 2 * 4 + b | b in [0, 3]", "a % 2 * 5 + 2"],
)
def remainder_widens(y: Expr, e: Const, g: Const, h: Const, k: Const, r: Rest, s: Rest) -> Rewrite:
    """A digit and what stands below it are the remainder of one number, which may be divided already."""
    return Rewrite(
        (y % e) * k + r * h + s,
        (y * g + r) % (e * g) * h + s,
        when=(e > 0, g > 0, k.eq(g * h), r.within(0, g - 1)),
        choose="wider_digit",
    )


@rule(
    sharing=True,
    fires={"(a + 1) // 2 - 1": "(a - 1) // 2", "(a * 7 + b) // 3 - a * 3": "(b - a * 2) // 3"},
    keeps=["(a + 1) // 2", "(a * 7 + b) // 3 - c", "(a * 7 + b) // 3 - a * 3; a * 7 + b"],
)
def summand_joins_quotient(x: Expr, t: Expr, d: Const) -> Rewrite:
    """A summand beside a quotient, a constant for one, can stand inside it."""
    return Rewrite(x // d, (x + t * d) // d - t, choose="summand")


@rule(sharing=True, fires={"(a - 1) // 2; (a + 1) % 2": "(a - 1) // 2; (a - 1) % 2"}, keeps=["(a + 1) % 2"])
def remainder_takes_congruent(x: Expr, y: Expr, d: Const) -> Rewrite:
    """A remainder is that of any congruent number."""
    return Rewrite(x % d, y % d, when=(d.divides(x - y),), choose="congruent")


@rule(
    sharing=True,
    fires={"(a // 2 + b) % 5; (a + 2*b) // 6": "(a // 2 + b) % 5; (a // 2 + b) // 3"},
    keeps=["(a // 2 + b) // 3"],
)
def quotient_releases_summand(x: Expr, q: Expr, a: Const, b: Const, r: Rest) -> Rewrite:
    """The dividend can stay divided where that is needed anyway, in whatever way that is written."""
    return Rewrite((x + r * a) // (a * b), (q + r) // b, when=(b > 0, q.eq(x // a)), choose="divided_part")


@rule(
    sharing=True,
    fires={"(a % 14 + b) // 2; (a + b) // 2": "(a + b) // 2 - 7*(a // 14); (a + b) // 2"},
    keeps=["(a % 14 + b) // 2"],
)
def inner_remainder_leaves_quotient(
    x: Expr, q: Expr, o: Expr, j: Const, k: Const, m: Const, d: Const, r: Rest
) -> Rewrite:
    """A remainder inside a quotient is a difference, of which a multiple of the divisor leaves the quotient.

    Both quotients may be written in any way.
    """
    return Rewrite(
        ((x % m) * k + r) // d,
        o - q * j,
        when=(q.eq(x // m), o.eq((x * k - q * (k * m - j * d) + r) // d)),
        choose="inner_remainder",
    )
