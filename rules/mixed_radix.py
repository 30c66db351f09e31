"""Mixed-radix digits: quotients and remainders of the same dividend recombine."""

from __future__ import annotations

from ..core.expr import Expr
from ..core.rewrite import Const, Rest, Rewrite, rule


@rule(
    fires={
        "(a // 4)*12 + (a % 4)*3": "a*3",
        "(a // 4)*4 + a % 4 + b": "a + b",
        "(a // 20)*20 + (a // 4 % 5)*4": "a // 4 * 4",
        "c + ((a + 4*b) // 4)*12 + (a % 4)*3": "a*3 + 12*b + c",
        "((a + 10*b) // 5)*5 + (a + 5*c) % 5": "a + 10*b",
    },
    keeps=["(a // 4)*4 + a % 3", "((a + 10*b) // 4)*4 + a % 4", "((a + b) // 5)*5 + a % 5"],
)
def quotient_and_remainder_recombine(x: Expr, y: Expr, q: Expr, d: Const, p: Const, w: Const, r: Rest) -> Rewrite:
    """Quotient times divisor plus remainder is the dividend.

    The quotient may be any q that equals ``x // d``, and the remainder that of any y congruent to x.
    """
    return Rewrite(
        q * p + (y % d) * w + r,
        x * w + r,
        when=(p.eq(d * w), q.eq(x // d), d.divides(x - y)),
        choose="quotient_below_remainder",
    )


@rule(
    fires={"b + (a // 4 % 5)*12 + (a % 4)*3": "(a % 20)*3 + b", "(a // 20 % 3)*20 + (a // 4 % 5)*4": "a // 4 % 15 * 4"},
    keeps=["(a // 4 % 5)*12 + (a % 3)*3"],
)
def digits_recombine(x: Expr, z: Expr, q: Expr, t: Expr, d: Const, n: Const, p: Const, w: Const, r: Rest) -> Rewrite:
    """Two adjacent mixed-radix digits of one number are one digit of the product radix.

    The number is ``x + d·z``, with lowest digit ``x % d`` and quotient ``q + z`` for any q that equals ``x // d``.  The
    next digit may be any t that equals ``(q + z) % n``.
    """
    return Rewrite(
        t * p + (x % d) * w + r,
        (x + z * d) % (d * n) * w + r,
        when=(n > 0, p.eq(d * w), q.eq(x // d), t.eq((q + z) % n)),
        choose="next_digit",
    )


@rule(fires={"a - (a % 4)": "a // 4 * 4", "3*a - 3*(a % 5) + b": "a // 5 * 15 + b"})
def remainder_subtracts_to_quotient(x: Expr, d: Const, w: Const, v: Const, r: Rest) -> Rewrite:
    """A dividend minus its remainder is the quotient times the divisor."""
    return Rewrite(x * w + (x % d) * v + r, (x // d) * (d * w) + r, when=(v.eq(-w),))


@rule(fires={"a - (a // 4)*4": "a % 4", "2*a - (a // 4)*8 + b": "(a % 4)*2 + b"})
def quotient_subtracts_to_remainder(x: Expr, d: Const, w: Const, v: Const, r: Rest) -> Rewrite:
    """A dividend minus its quotient times the divisor is the remainder."""
    return Rewrite(x * w + (x // d) * v + r, (x % d) * w + r, when=(v.eq(-(d * w)),))


@rule(fires={"(a // 4)*8 + b | a % 4 in [1, 1]": "2*a + b - 2"}, keeps=["(a // 4)*8 + b"])
def exact_quotient_multiplies(x: Expr, d: Const, m: Const, v: Const, w: Const, r: Rest) -> Rewrite:
    """A quotient times its divisor is the dividend minus the remainder, if that is known."""
    return Rewrite((x // d) * v + r, (x - m) * w + r, when=(v.eq(d * w), (x % d).eq(m)), choose="known_remainder")
