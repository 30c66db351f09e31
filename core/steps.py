"""The entries of a trace, which the simplifier records and derivations are made of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from .derivation import ConstraintChange, MapChange
from .expr import Expr
from .indexing_map import Constraint
from .rewrite import Rule

__all__ = ["Rewritten", "Step", "Trace"]


@dataclass(frozen=True)
class Step:
    """One application: ``rule`` with ``binding`` turned ``before`` into ``after``.

    Those with the same ``engine``, a number, hold on the same domain.
    """

    rule: Rule
    binding: tuple[Expr, ...]
    before: Expr
    after: Expr
    engine: int

    def bindings(self) -> dict[str, Expr]:
        """The binding by variable name."""
        return {v.name: e for v, e in zip(self.rule.variables, self.binding, strict=True)}

    def __str__(self) -> str:
        return f"{self.before}  →  {self.after}   by {self.rule.name}"


@dataclass(frozen=True)
class Rewritten:
    """The steps of an engine so far bring the constraint ``before`` to ``after``, which is about another expression."""

    before: Constraint
    after: Constraint
    engine: int


#: What happened, in order.
Trace: TypeAlias = list[Step | Rewritten | ConstraintChange | MapChange]
