"""A claim that is proved by cases: its hypotheses, its goals, and what it divides by."""

from __future__ import annotations

from functools import cached_property

from ...core.condition import Condition, all_exprs
from ...core.expr import CeilDiv, Expr, FloorDiv, Mod, postorder
from .check import Check
from .polynomials import Polynomial, plus
from .state import State, Unknown

__all__ = ["Claim"]


class Claim:
    """Hypotheses, goals, and the check that they are part of."""

    def __init__(self, check: Check, known: list[Condition], goals: list[Condition]) -> None:
        self.check = check
        self.known = known
        self.goals = goals

    @cached_property
    def divisors(self) -> list[Expr]:
        """The divisors of the claim; it is assumed that none is zero."""
        roots = [e for c in (*self.known, *self.goals) for e in all_exprs(c)]
        return list({n.b: None for n in postorder(*roots) if isinstance(n, (FloorDiv, Mod, CeilDiv))})

    def divides_by(self, divisor: Polynomial, state: State) -> bool:
        """Whether a divisor of the claim is this polynomial, up to its sign."""
        memo: dict[Expr, Polynomial] = {}
        for d in self.divisors:
            try:
                value = state.value(d, memo)
            except Unknown:
                continue
            if value in (divisor, plus({}, divisor, -1)):
                return True
        return False
