"""The entries of a trace, which the simplifier records and derivations are made of."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from .derivation import ConstraintChange, MapChange
from .expr import Expr
from .indexing_map import Constraint, IndexingMap
from .rewrite import Rule

__all__ = ["Rewritten", "Step", "Trace", "applied", "changed", "length", "next_engine", "take_back"]


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


_ENGINES: Final = itertools.count()


def next_engine() -> int:
    """A number that no engine has."""
    return next(_ENGINES)


def applied(rule: Rule, binding: Sequence[Expr], engine: int) -> list[Step]:
    """The step that an instance of a rule is; none where the constructors of expressions make the same of both sides."""
    at = dict(zip(rule.variables, binding, strict=True))
    before, after = rule.left.substitute(at), rule.right.substitute(at)
    return [] if before is after else [Step(rule, tuple(binding), before, after, engine)]


def length(trace: Trace | None) -> int:
    """How many entries there are so far."""
    return len(trace or ())


def take_back(trace: Trace | None, length: int) -> None:
    """Forget all entries but the first ones."""
    if trace is not None:
        del trace[length:]


def changed(trace: Trace | None, why: str, before: IndexingMap, after: IndexingMap) -> None:
    """Record a change of the whole map."""
    if trace is not None:
        trace.append(MapChange(why, before, after))
