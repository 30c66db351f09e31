"""Replacement of dividends by equal expressions, as given by hypotheses.

``(i·n + j) // m`` becomes ``(k·m + l) // m`` if ``i·n + j = k·m + l``, and its digits can be read off.  The reduction
would solve the equation for one variable, and then have to recover both numbers from the digits after substitution.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..core.condition import Compare, Condition
from ..core.expr import Binary, Expr, Sum, postorder
from .recombine import divided


def equated(
    hypotheses: Sequence[Condition], goal: Condition
) -> tuple[list[tuple[Expr, Expr]], list[Condition], Condition]:
    """Return the pairs of a dividend and its replacement, the remaining hypotheses, and the goal after replacement."""
    found: list[tuple[Expr, Expr]] = []
    left = list(hypotheses)
    for h in hypotheses:
        if not isinstance(h, Compare) or h.op != "==" or _divides(h.a, h.b):
            continue
        dividends = set(divided(goal))
        sides = [side for side in (h.a, h.b) if side in dividends]
        # if the goal divides both sides, keep the equation, since neither side is the better one
        if len(sides) == 1 and isinstance(h.a, Sum) and isinstance(h.b, Sum):
            one = sides[0]
            other = h.b if one is h.a else h.a
            found.append((one, other))
            left.remove(h)
            goal = goal.substitute({one: other})
    return found, left, goal


def _divides(*exprs: Expr) -> bool:
    return any(isinstance(n, Binary) for n in postorder(*exprs))
