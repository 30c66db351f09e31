"""The entries of a trace, which the simplifier records and derivations are made of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from .derivation import ConstraintChange, MapChange
from .expr import Expr
from .rewrite import Rule

__all__ = ["Normalised", "Step", "Trace", "Written"]


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
class Normalised:
    """The steps of an engine so far bring ``before`` to ``after``."""

    before: Expr
    after: Expr
    engine: int


@dataclass(frozen=True)
class Written:
    """The results as they stand.

    Since they were written last, ``steps`` were applied wherever they do; or ``part`` was brought to another form by the
    steps of the engine so far; or all of them were.
    """

    results: tuple[Expr, ...]
    engine: int
    steps: tuple[Step, ...] = ()
    part: Normalised | None = None


#: What happened, in order.
Trace: TypeAlias = list[Step | Normalised | Written | ConstraintChange | MapChange]
