"""Conversion of the native core's entries to a trace.  Nothing here is trusted: derivations are checked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..derivation import ConstraintChange, MapChange
from ..expr import Expr
from ..indexing_map import Constraint, IndexingMap
from ..rewrite import RuleSet
from ..steps import Rewritten, Trace, applied, next_engine

__all__ = ["entries"]


def entries(said: Sequence[tuple[Any, ...]], rules: RuleSet, empty: IndexingMap) -> Trace:
    """Return the entries that the native core recorded; ``empty`` is the map that results from a contradiction.

    Each input is a tuple: the kind of entry, the name of the rule or the reason of the change, the values of the rule's
    variables, the number of the engine, and constraints or maps before and after.
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
