"""Dividends that a hypothesis says to be equal to something else, replaced by that.

``(i·n + j) // m`` where ``i·n + j = k·m + l`` is ``(k·m + l) // m``, whose digits are plain.  The reduction solves the
equation for one of its variables instead, and then has to find both numbers again in what has become of their digits.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..core.condition import Compare, Condition
from ..core.expr import Binary, Expr, Sum, postorder
from .recombine import divided


def equated(
    hypotheses: Sequence[Condition], goal: Condition
) -> tuple[list[tuple[Expr, Expr]], list[Condition], Condition]:
    """Dividends of a goal and what equations say they are, the other hypotheses, and the goal with them replaced."""
    found: list[tuple[Expr, Expr]] = []
    left = list(hypotheses)
    for h in hypotheses:
        if not isinstance(h, Compare) or h.op != "==" or _divides(h.a, h.b):
            continue
        dividends = set(divided(goal))
        sides = [side for side in (h.a, h.b) if side in dividends]
        # where the goal divides both, neither is the one to go
        if len(sides) == 1 and isinstance(h.a, Sum) and isinstance(h.b, Sum):
            one = sides[0]
            other = h.b if one is h.a else h.a
            found.append((one, other))
            left.remove(h)
            goal = goal.substitute({one: other})
    return found, left, goal


def _divides(*exprs: Expr) -> bool:
    return any(isinstance(n, Binary) for n in postorder(*exprs))
