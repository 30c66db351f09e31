"""The entries of a trace, which the simplifier records and from which derivations are made."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from .derivation import ConstraintChange, MapChange
from .expr import Expr
from .indexing_map import Constraint, IndexingMap
from .rewrite import Rule


@dataclass(frozen=True)
class Step:
    """One application: ``rule`` with ``binding`` rewrites ``before`` to ``after``.

    Steps with the same ``engine`` number hold on the same domain.
    """

    rule: Rule
    binding: tuple[Expr, ...]
    before: Expr
    after: Expr
    engine: int

    def bindings(self) -> dict[str, Expr]:
        """Return the binding by variable name."""
        return {v.name: e for v, e in zip(self.rule.variables, self.binding, strict=True)}

    def __str__(self) -> str:
        return f"{self.before}  →  {self.after}   by {self.rule.name}"


@dataclass(frozen=True)
class Rewritten:
    """The steps of an engine so far rewrite the constraint ``before`` to ``after``, which has another expression."""

    before: Constraint
    after: Constraint
    engine: int


#: All recorded entries, in order.
Trace: TypeAlias = list[Step | Rewritten | ConstraintChange | MapChange]


_ENGINES: Final = itertools.count()


def next_engine() -> int:
    """Return a number that no engine has."""
    return next(_ENGINES)


def applied(rule: Rule, binding: Sequence[Expr], engine: int) -> list[Step]:
    """Return the step of an instance of a rule; empty where the constructors make both sides the same expression."""
    at = dict(zip(rule.variables, binding, strict=True))
    before, after = rule.left.substitute(at), rule.right.substitute(at)
    return [] if before is after else [Step(rule, tuple(binding), before, after, engine)]


def length(trace: Trace | None) -> int:
    """Return the number of entries so far."""
    return len(trace or ())


def take_back(trace: Trace | None, length: int) -> None:
    """Roll back to the first ``length`` entries."""
    if trace is not None:
        del trace[length:]


def changed(trace: Trace | None, why: str, before: IndexingMap, after: IndexingMap) -> None:
    """Record a change of the whole map."""
    if trace is not None:
        trace.append(MapChange(why, before, after))
