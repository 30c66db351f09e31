"""Mixed-radix digits: quotients and remainders of the same x come together again."""

from __future__ import annotations

from ..core.expr import Expr
from ..core.rewrite import Const, Rest, Rewrite, rule


@rule(
    fires={"(a // 4)*12 + (a % 4)*3": "a*3", "(a // 4)*4 + a % 4 + b": "a + b"}, keeps=["(a // 4)*4 + a % 3"]
)
def quotient_and_remainder_recombine(x: Expr, d: Const, p: Const, w: Const, r: Rest) -> Rewrite:
    """Quotient times divisor plus remainder is the dividend."""
    return Rewrite((x // d) * p + (x % d) * w + r, x * w + r, when=(p.eq(d * w),))


@rule(fires={"b + (a // 4 % 5)*12 + (a % 4)*3": "(a % 20)*3 + b"}, keeps=["(a // 4 % 5)*12 + (a % 3)*3"])
def digits_recombine(x: Expr, d: Const, n: Const, p: Const, w: Const, r: Rest) -> Rewrite:
    """Two adjacent mixed-radix digits of x are one digit of the product radix."""
    return Rewrite((x // d % n) * p + (x % d) * w + r, (x % (d * n)) * w + r, when=(n > 0, p.eq(d * w)))


@rule(fires={"(a // 20)*20 + (a // 4 % 5)*4": "a // 4 * 4"})
def high_digits_recombine(x: Expr, a: Const, n: Const, b: Const, p: Const, w: Const, r: Rest) -> Rewrite:
    """The quotient above a digit joins it."""
    return Rewrite(
        (x // b) * p + (x // a % n) * w + r,
        (x // a) * w + r,
        when=(n > 0, b.eq(a * n), p.eq(n * w)),
    )


@rule(fires={"(a // 20 % 3)*20 + (a // 4 % 5)*4": "a // 4 % 15 * 4"})
def inner_digits_recombine(
    x: Expr, a: Const, n: Const, b: Const, m: Const, p: Const, w: Const, r: Rest
) -> Rewrite:
    """Two adjacent digits above the lowest are one digit."""
    return Rewrite(
        (x // b % m) * p + (x // a % n) * w + r,
        (x // a % (n * m)) * w + r,
        when=(a > 0, n > 0, m > 0, b.eq(a * n), p.eq(n * w)),
    )


@rule(fires={"a - (a % 4)": "a // 4 * 4", "3*a - 3*(a % 5) + b": "a // 5 * 15 + b"})
def remainder_subtracts_to_quotient(x: Expr, d: Const, w: Const, v: Const, r: Rest) -> Rewrite:
    """What is left of x without its remainder is a whole number of divisors."""
    return Rewrite(x * w + (x % d) * v + r, (x // d) * (d * w) + r, when=(v.eq(-w),))


@rule(fires={"a - (a // 4)*4": "a % 4", "2*a - (a // 4)*8 + b": "(a % 4)*2 + b"})
def quotient_subtracts_to_remainder(x: Expr, d: Const, w: Const, v: Const, r: Rest) -> Rewrite:
    """What is left of x without its whole divisors is the remainder."""
    return Rewrite(x * w + (x // d) * v + r, (x % d) * w + r, when=(v.eq(-(d * w)),))
