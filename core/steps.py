"""The entries of a trace, which the simplifier records and derivations are made of."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from .derivation import ConstraintChange, MapChange
from .expr import Expr
from .indexing_map import Constraint, IndexingMap
from .rewrite import Rule, RuleSet

__all__ = [
    "Rewritten",
    "Step",
    "Trace",
    "applied",
    "changed",
    "entries",
    "length",
    "next_engine",
    "take_back",
]


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


def entries(said: Sequence[tuple[Any, ...]], rules: RuleSet, empty: IndexingMap) -> Trace:
    """The entries that the native core recorded; ``empty`` is the map that a contradiction leaves.

    Each is a tuple: what it is, the name of the rule or why the map changes, the values of the rule's variables, the number
    of the engine, and constraints or maps before and after.
    """
    trace: Trace = []
    engines: dict[int, int] = {}
    of_expressions = {r.name: r for r in rules.rules}
    of_constraints = {r.name: r for r in rules.constraints}

    def constraints(side: Sequence[tuple[Expr, int, int]]) -> tuple[Constraint, ...]:
        return tuple([Constraint.trusted(*c) for c in side])

    for what, name, values, number, before, after in said:
        engine = engines.setdefault(number, next_engine())
        if what == "step":
            trace += applied(of_expressions[name], values, engine)
        elif what == "rewritten":
            (said_,), (now,) = constraints(before), constraints(after)
            trace.append(Rewritten(said_, now, engine))
        elif what == "constraints":
            rule = of_constraints[name]
            binding = {v.name: e for v, e in zip(rule.variables, values, strict=True)}
            trace.append(ConstraintChange(rule, binding, constraints(before), constraints(after)))
        elif after is not None:
            trace.append(MapChange(name, before, after))
        elif (state := before.with_(constraints=before.constraints)) != empty:
            trace.append(MapChange(name, state, empty))
    return trace


def length(trace: Trace | None) -> int:
    """How many entries there are so far."""
    return 0 if trace is None else len(trace)


def take_back(trace: Trace | None, length: int) -> None:
    """Forget all entries but the first ones."""
    if trace is not None:
        del trace[length:]


def changed(trace: Trace | None, why: str, before: IndexingMap, after: IndexingMap) -> None:
    """Record a change of the whole map."""
    if trace is not None:
        trace.append(MapChange(why, before, after))
