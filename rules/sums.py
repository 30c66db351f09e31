"""Sums and products: the laws of the canonical form.

The constructors of expressions apply the structural laws.  These are stated as rules so that they are proved, and are
never matched.
"""

from __future__ import annotations

from ..core.expr import Expr
from ..core.rewrite import Const, Rest, Rewrite, rule


@rule(structural=True, fires={"2*a + 3*a + b": "5*a + b", "a - a": "0"})
def like_terms_combine(x: Expr, a: Const, b: Const, r: Rest) -> Rewrite:
    """Coefficients of the same term add up."""
    return Rewrite(x * a + x * b + r, x * (a + b) + r)


@rule(structural=True, fires={"3*(a + 2*b)": "3*a + 6*b"})
def factor_distributes(x: Expr, c: Const, r: Rest) -> Rewrite:
    """A constant factor distributes over the summands."""
    return Rewrite((x + r) * c, x * c + r * c)


@rule(structural=True, fires={"a + 0*b": "a"})
def zero_coefficient_vanishes(x: Expr, z: Const, r: Rest) -> Rewrite:
    """A term with coefficient zero vanishes."""
    return Rewrite(x * z + r, r, when=(z.eq(0),))


@rule(structural=True, fires={"1*a": "a"})
def unit_coefficient_vanishes(x: Expr, u: Const) -> Rewrite:
    """A coefficient of one vanishes."""
    return Rewrite(x * u, x, when=(u.eq(1),))


@rule(structural=True, fires={"-(a - b)": "b - a", "-(-a)": "a"})
def negation_distributes(x: Expr, r: Rest) -> Rewrite:
    """The negative of a sum negates every summand."""
    return Rewrite(-(x + r), -x - r)


@rule(fires={"2*a + b | a in [3, 3]": "b + 6"}, keeps=["a // 4 | a in [4, 8]"])
def value_known(x: Expr, k: Const) -> Rewrite:
    """An expression with a single value on the domain is that value."""
    return Rewrite(x, k, when=(x.eq(k),), choose="single_value")
