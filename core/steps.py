"""What a derivation of the simplifier is made of: steps, and what the results are in between."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from .derivation import ConstraintChange, MapChange
from .expr import Expr
from .rewrite import Rule

__all__ = ["NormalForms", "Step", "Trace"]


@dataclass(frozen=True)
class Step:
    """One application: ``rule`` with ``binding`` turned ``before`` into ``after``."""

    rule: Rule
    binding: tuple[Expr, ...]
    before: Expr
    after: Expr
    #: whether it is a spelling of the finished normal form (:mod:`.sharing`) and not a step towards it
    spelling: bool = False

    def bindings(self) -> dict[str, Expr]:
        """The binding by variable name."""
        return {v.name: e for v, e in zip(self.rule.variables, self.binding, strict=True)}

    def __str__(self) -> str:
        return f"{self.before}  →  {self.after}   by {self.rule.name}"


@dataclass(frozen=True)
class NormalForms:
    """A waypoint of a derivation: what the results are at this moment.

    The first are the results as they are given, where there are constraints; then come the normal forms, and further ones
    after each round of turning remainders into differences.
    """

    results: tuple[Expr, ...]

    def __str__(self) -> str:
        return "normal forms " + ", ".join(map(str, self.results))


#: What happened, in order: equalities of expressions with waypoints, changes of constraints, and where the domain turns out
#: to be empty a change of the whole map.
Trace: TypeAlias = list[Step | NormalForms | ConstraintChange | MapChange]
