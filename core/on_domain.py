"""An engine on one domain, and the trace of its steps: what the passes over results and what they choose from share."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from .cost import cost
from .engine import Engine
from .expr import Expr, integer
from .facts import Facts
from .rewrite import Rule, RuleSet
from .steps import NormalForms, Step

__all__ = ["OnDomain"]


class OnDomain:
    """The engine of a rule set on one domain.

    ``trace``, where there is one, collects what the engine does.  A rule set without an engine has none here.
    """

    def __init__(
        self,
        rules: RuleSet | None,
        facts: Facts,
        trace: list[Step | NormalForms] | None,
        keep_points: bool,
        division_weight: int,
    ) -> None:
        self.facts = facts
        self.trace = trace
        self.keep_points = keep_points
        self.division_weight = division_weight
        self.engine: Engine | None = None
        self._of = rules
        if rules is not None and rules.engine is not None:
            self.engine = _engine(rules, rules.engine, facts, trace, keep_points)

    def larger(
        self, after: Sequence[Expr], before: Sequence[Expr], bound: int | None = None, *, more: int = 0
    ) -> bool:
        """Whether ``after``, which costs ``bound`` at most, costs more than ``before`` and ``more`` operations."""
        weight = self.division_weight - 1
        old = cost(before)
        had = old.operations + weight * old.divisions + more
        if bound is not None and bound <= had:
            return False
        new = cost(after)
        return new.operations + weight * new.divisions > had

    def renew_engine(self) -> None:
        """Start with another engine: steps that an engine has taken before it does not record again."""
        self.engine = self.another()

    def another(self) -> Engine:
        """An engine of the same domain that has not taken any steps."""
        assert self._of is not None
        assert self._of.engine is not None
        start = len(self.trace) if self.trace is not None else 0
        engine = _engine(self._of, self._of.engine, self.facts, self.trace, self.keep_points)
        # what an engine does to know the constraints it does again when it meets them
        if self.trace is not None:
            del self.trace[start:]
        return engine

    def normal_form(self, e: Expr) -> Expr:
        """The normal form of an expression; nothing is recorded."""
        engine = self.engine
        assert engine is not None
        record, engine.record = engine.record, None
        engine.limited = False
        n = engine.write(engine.read(e))
        engine.record = record
        return n

    def normal_forms(self, es: Sequence[Expr]) -> dict[Expr, Expr]:
        """The normal forms of those expressions that are not in normal form; nothing is recorded."""
        forms: dict[Expr, Expr] = {}
        for e in es:
            n = self.normal_form(e)
            if n is not e:
                forms[e] = n
        return forms


def _engine(
    rules: RuleSet,
    make: type[Engine],
    facts: Facts,
    trace: list[Step | NormalForms] | None,
    keep_points: bool,
) -> Engine:
    engine = make(facts.boxes, keep_points=keep_points)
    if trace is not None:
        steps = trace

        def record(name: str, values: tuple[Any, ...]) -> None:
            if not name:
                steps.append(NormalForms(values))
                return
            rule = rules[name]
            assert isinstance(rule, Rule)
            binding = tuple(
                integer(v) if isinstance(v, int) else v if isinstance(v, Expr) else engine.write(v)
                for v in values
            )
            at = dict(zip(rule.variables, binding, strict=True))
            before = rule.left.substitute(at)
            after = rule.right.substitute(at)
            if before is not after:  # the constructors may have done it already
                steps.append(Step(rule, binding, before, after, engine.spelling))

        engine.record = record
    known = [(e, lo, hi) for e, (lo, hi) in facts.constraints if lo != -math.inf or hi != math.inf]
    for n, (e, lo, hi) in enumerate(known, 1):
        engine.know(e, lo, hi, more=n < len(known))
    return engine
