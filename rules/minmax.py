"""Minimum and maximum."""

from __future__ import annotations

from ..core.expr import Expr, maximum, minimum
from ..core.rewrite import Const, Rest, Rewrite, rule


@rule(
    fires={"min(a, b) | a in [0, 3], b in [3, 9]": "a", "min(a, max(a, b))": "a"},
    keeps=["min(a, b) | a in [0, 4], b in [3, 9]"],
)
def min_keeps_smaller(x: Expr, y: Expr) -> Rewrite:
    """min(x, y) is x if x never exceeds y."""
    return Rewrite(minimum(x, y), x, when=(x <= y,))


@rule(
    fires={"max(a, b) | a in [3, 9], b in [0, 3]": "a", "max(a, min(a, b))": "a"},
    keeps=["max(a, b) | a in [0, 4], b in [3, 9]"],
)
def max_keeps_larger(x: Expr, y: Expr) -> Rewrite:
    """max(x, y) is x if x is never below y."""
    return Rewrite(maximum(x, y), x, when=(y <= x,))


@rule(fires={"min(a + 5, b + 5)": "min(a, b) + 5", "min(a + 5, 7)": "min(a, 2) + 5"}, keeps=["min(a, b + 5)"])
def min_shifts(x: Expr, y: Expr, k: Const) -> Rewrite:
    """A constant common to both arguments moves out."""
    return Rewrite(minimum(x, y), minimum(x - k, y - k) + k, choose="common_constant")


@rule(fires={"max(a + 5, b + 5)": "max(a, b) + 5"}, keeps=["max(a, b + 5)"])
def max_shifts(x: Expr, y: Expr, k: Const) -> Rewrite:
    """A constant common to both arguments moves out."""
    return Rewrite(maximum(x, y), maximum(x - k, y - k) + k, choose="common_constant")


@rule(
    fires={"min(6*a, 4*b)": "2*min(3*a, 2*b)", "min(4*a, 8)": "4*min(a, 2)"},
    keeps=["min(3*a, 2*b)", "max(4*a + 1, 4*b)"],
)
def min_distributes(x: Expr, y: Expr, g: Const) -> Rewrite:
    """A positive factor common to both arguments moves out."""
    return Rewrite(minimum(x * g, y * g), minimum(x, y) * g, when=(g > 0,), guard=(g > 1,), choose="common_factor")


@rule(fires={"max(4*a, 4*b) + c": "4*max(a, b) + c"}, keeps=["max(3*a, 2*b)"])
def max_distributes(x: Expr, y: Expr, g: Const) -> Rewrite:
    """A positive factor common to both arguments moves out."""
    return Rewrite(maximum(x * g, y * g), maximum(x, y) * g, when=(g > 0,), guard=(g > 1,), choose="common_factor")


@rule(
    fires={"min(-a, -b)": "-max(a, b)", "min(b - a - c, -4*b)": "-max(a + c - b, 4*b)"},
    keeps=["min(-a, b)", "min(a - b, c - b)"],
)
def min_turns(x: Expr, y: Expr, g: Const) -> Rewrite:
    """A negative factor common to both arguments moves out, and the minimum becomes a maximum."""
    return Rewrite(minimum(x * g, y * g), maximum(x, y) * g, when=(g < 0,), choose="common_factor")


@rule(fires={"max(-2*a, -4*b)": "-2*min(a, 2*b)"}, keeps=["max(-a, b)"])
def max_turns(x: Expr, y: Expr, g: Const) -> Rewrite:
    """A negative factor common to both arguments moves out, and the maximum becomes a minimum."""
    return Rewrite(maximum(x * g, y * g), minimum(x, y) * g, when=(g < 0,), choose="common_factor")


@rule(fires={"min(a, b) + max(a, b)": "a + b"})
def min_and_max_sum(x: Expr, y: Expr, w: Const, v: Const, r: Rest) -> Rewrite:
    """The minimum and the maximum of two expressions add up to their sum."""
    return Rewrite(minimum(x, y) * w + maximum(x, y) * v + r, x * w + y * w + r, when=(v.eq(w),))


@rule(
    fires={
        "min(6*a, b + b % 2) % 2": "0",
        "(min(6*a, b + b % 2) + c) % 2": "c % 2",
        "min(4*a + 1, 6*b - 5, 3) % 2": "1",
    },
    keeps=["min(6*a, 3*b) % 2", "min(6*a, 4*b + 1) % 2"],
)
def minimum_of_congruent_leaves_remainder(x: Expr, y: Expr, k: Const, d: Const, r: Rest) -> Rewrite:
    """If k·x and k·y are congruent modulo the divisor, k·min(x, y) has their remainder."""
    return Rewrite((minimum(x, y) * k + r) % d, (y * k + r) % d, when=(d.divides(x * k - y * k),))


@rule(
    fires={
        "max(6*a, b + b % 2) % 2": "0",
        "(max(6*a, b + b % 2) + c) % 2": "c % 2",
        "max(4*a + 1, 6*b - 5, 3) % 2": "1",
    },
    keeps=["max(6*a, 3*b) % 2", "max(6*a, 4*b + 1) % 2"],
)
def maximum_of_congruent_leaves_remainder(x: Expr, y: Expr, k: Const, d: Const, r: Rest) -> Rewrite:
    """If k·x and k·y are congruent modulo the divisor, k·max(x, y) has their remainder."""
    return Rewrite((maximum(x, y) * k + r) % d, (y * k + r) % d, when=(d.divides(x * k - y * k),))
