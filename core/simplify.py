"""Simplify expressions on one domain with the engine of a rule set.

The engine (:attr:`~indexproof.core.rewrite.RuleSet.engine`) is the code generated from the rules; a set without one leaves
expressions as they are.  Every step is an instance of a declared rule, and a trace says which.  Termination follows from
the order of :func:`~indexproof.core.rewrite.measure`, which every rule is proved to decrease.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, Final

from . import native
from .cost import DIVISION_WEIGHT, cost, expect_weight
from .engine import DEEPEST, Engine
from .errors import InputError
from .expr import Expr, Sum, integer, postorder
from .extraction import Ledger, NarrowLedger, Search, as_given, takes_sums_apart
from .facts import Facts
from .interval import End
from .kernel.atoms import Excess
from .kernel.form import Form
from .rewrite import Rule, RuleSet
from .steps import Trace, applied, next_engine

__all__ = ["Simplifier"]

#: A second search starts from the given form if that costs at most this many operations more than the first result.
NEAR_BY: Final = 3
#: Limit on the passes until a fixpoint; nearly all maps need two.
PASSES: Final = 32


class Simplifier:
    """A rule set made ready to run on one domain.

    A variable that has only one value is replaced by it unless ``keep_points``.  A division costs ``division_weight``
    and any other operation one.  ``quick`` writes normal forms without a search.  ``trace`` collects the steps:
    equalities ``before = after`` that imply by congruence that an expression equals its result.  Raises
    :class:`InputError` for a weight below 1, and for rules without an engine.
    """

    def __init__(
        self,
        rules: RuleSet,
        facts: Facts,
        trace: Trace | None = None,
        *,
        keep_points: bool = False,
        division_weight: int = DIVISION_WEIGHT,
        quick: bool = False,
    ) -> None:
        expect_weight(division_weight)
        if rules.rules and rules.engine is None:
            raise InputError(f"nothing applies the rules of {rules.name}: engine_of generates their engine")
        self.rules = rules
        self.facts = facts
        self.trace = trace
        #: identifies this domain in the steps of the trace
        self.number = next_engine()
        self.division_weight = division_weight
        self.quick = quick
        self.keep_points = keep_points
        self._make = rules.engine
        self._engine: Engine | None = None

    @property
    def engine(self) -> Engine | None:
        """An engine that knows the facts; ``None`` for rule sets without one."""
        if self._engine is None and self._make is not None:
            self._engine = engine = self._make(self.facts.boxes, keep_points=self.keep_points)
            if self.trace is not None:
                engine.record = self._record
            known = self._known()
            for n, (e, lo, hi) in enumerate(known, 1):
                engine.know(e, lo, hi, more=n < len(known))
        return self._engine

    def _known(self) -> list[tuple[Expr, End, End]]:
        """Return the constraints of the domain with a finite end."""
        constraints = self.facts.constraints
        return [(e, lo, hi) for e, (lo, hi) in constraints if lo != -math.inf or hi != math.inf]

    # a named method, which the translator to C++ supports
    def normal(self, e: Expr) -> Expr:
        """Return the normal form of ``e`` on the domain, or ``e`` if its numbers have more than 300 digits."""
        engine = self.engine
        if engine is None:
            return e
        try:
            engine.limited = False
            return engine.write(engine.read(e))
        except OverflowError:
            return e

    def each(self, es: Sequence[Expr]) -> list[Expr]:
        """Return the normal forms of ``es``, or ``es`` if the normal forms cost more."""
        results = [self.normal(e) for e in es]
        larger = self.engine is not None and self._larger(results, list(es))
        return list(es) if larger else results

    def all(self, es: Sequence[Expr]) -> list[Expr]:
        """Return the results of one map, written so that together they cost least (:mod:`.extraction`).

        The operation is idempotent.  The results never cost more than ``es``, and are ``es`` if the normal forms are far
        larger.
        """
        if self._make is None:
            return [self.normal(e) for e in es]
        if self.trace is None:
            weight, boxes, keep = self.division_weight, self.facts.boxes, self.keep_points
            found = native.simplified(self._make, tuple(es), boxes, self._known(), weight, self.quick, keep)
            if found is not None:
                return found
        try:
            return self._plain(list(es)) if self.quick else self._extracted(list(es))
        except OverflowError:
            return list(es)

    def within(self, es: Sequence[Expr], lo: int, hi: int, allowed: Callable[[list[Expr]], bool]) -> list[Expr]:
        """Simplify like :meth:`all`, but keep the parts of ``es`` whose rewritten form might leave ``[lo, hi]``.

        Results that are not ``allowed`` are given up, and ``es`` returned.
        """
        given = list(es)
        try:
            return given if self.engine is None else self._narrow(given, lo, hi, allowed)
        except OverflowError:
            return given

    # ---------------------------------------------------------------- extraction
    def _extracted(self, es: list[Expr]) -> list[Expr]:
        """Extract the cheapest results, repeatedly until a fixpoint.

        If results alternate, those with the smallest keys are taken, so that the choice is deterministic.
        """
        engine = self.engine
        assert engine is not None
        seen = [es]
        forms: list[Form] = []
        search: Search | None = None
        spent = 0
        while len(seen) < PASSES:
            try:
                now = self._read(seen[-1])
            except Excess:
                return seen[-1]
            if self._deep():
                return self._less_deep(seen[-1])
            if len(seen) == 1:
                spent = self._spent(es)
            if search is None or now != forms:
                forms = now
                search = Search(Ledger(engine, self.division_weight, forms))
                search.improve()
            elif search.ledger.spent <= spent and not takes_sums_apart(search.ledger, seen[-1]):
                # the same search would lead to the same results
                return seen[-1]
            results, spent = self._once(seen[-1], search, spent)
            if results in seen:
                first = seen.index(results)
                best = min(range(first, len(seen)), key=lambda n: [e.key for e in seen[n]])
                return seen[best]
            seen.append(results)
        return seen[-1]

    def _read(self, es: list[Expr]) -> list[Form]:
        """Return the normal forms of the results.  Raises :class:`Excess` if they are far larger."""
        engine = self.engine
        assert engine is not None
        engine.spent = engine.volume = 0
        engine.limited = True
        engine.bodies.clear()
        forms = [engine.read(e) for e in es]
        engine.limited = False
        return forms

    def _less_deep(self, es: list[Expr]) -> list[Expr]:
        """Return the normal forms of deeply nested results, and search those if they are less deep."""
        engine = self.engine
        assert engine is not None
        results = self._plain(es)
        if results == es:
            return es
        engine.forget_read()
        try:
            self._read(results)
        except Excess:
            return results
        return results if self._deep() else self._extracted(results)

    def _deep(self) -> bool:
        """Return whether an expression that was read is nested too deeply for the ledger, which is recursive."""
        engine = self.engine
        assert engine is not None
        return engine.deepest >= DEEPEST

    def _spent(self, es: list[Expr]) -> int:
        """Return a lower bound of the cost of ``es``, which have just been read."""
        engine, weight = self.engine, self.division_weight
        assert engine is not None
        return engine.spent if weight == DIVISION_WEIGHT else cost(es).weighed(weight)

    def _once(self, es: list[Expr], search: Search, spent: int) -> tuple[list[Expr], int]:
        """Return the cheaper results of searches from the normal forms and from ``es``, and their cost."""
        engine, weight = self.engine, self.division_weight
        assert engine is not None
        if self._are_normal(es, search.ledger.forms):
            if not search.ledger.log:
                return es, spent
        elif search.ledger.spent > spent or takes_sums_apart(search.ledger, es):
            other = Search(Ledger(engine, weight, as_given(engine, es)))
            other.normal_forms()
            if other.ledger.spent <= search.ledger.spent + NEAR_BY:
                other.improve()
                if other.ledger.cost < search.ledger.cost:
                    search = other
        ledger = search.ledger
        results = ledger.expressions()
        if results == es or (ledger.spent > spent and self._larger(results, es)):
            return es, spent
        self._tell(ledger)
        return results, ledger.spent

    def _are_normal(self, es: list[Expr], forms: list[Form]) -> bool:
        """Return whether writing the normal forms gives ``es`` back, so that a search from ``es`` is the same."""
        engine = self.engine
        assert engine is not None
        # raw extrema are new atoms
        return not engine.parts and all(engine.write(f) is e for f, e in zip(forms, es, strict=True))

    def _plain(self, es: list[Expr]) -> list[Expr]:
        """Return normal forms without a search, and given expressions where those cost less."""
        seen = [es]
        while len(seen) < PASSES:
            results, settled = self._plain_once(seen[-1])
            if results in seen:
                return results
            if settled:
                return results
            seen.append(results)
        return seen[-1]

    def _plain_once(self, es: list[Expr]) -> tuple[list[Expr], bool]:
        """Return results in normal form, all or some, that cost no more than ``es``, and whether that is a fixpoint."""
        engine, weight = self.engine, self.division_weight
        assert engine is not None
        try:
            forms = self._read(es)
        except Excess:
            return es, True
        spent = engine.spent
        results = [engine.write(f) for f in forms]
        if (weight == DIVISION_WEIGHT and engine.written <= spent) or not self._larger(results, es):
            return results, True
        if self._deep():
            return es, True
        search = Search(Ledger(engine, weight, as_given(engine, es)))
        search.normal_forms()
        results = search.ledger.expressions()
        if self._larger(results, es):
            return es, True
        self._tell(search.ledger)
        return results, False

    def _narrow(self, es: list[Expr], lo: int, hi: int, allowed: Callable[[list[Expr]], bool]) -> list[Expr]:
        """Search from ``es`` and from normal forms with ledgers that penalize sums outside the ends."""
        engine, weight = self.engine, self.division_weight
        assert engine is not None
        try:
            forms = self._read(es)
        except Excess:
            return es
        if self._deep():
            return es
        sums = set(as_given(engine, [e for e in postorder(*es) if type(e) is Sum]))
        given = NarrowLedger(engine, weight, as_given(engine, es), lo, hi, sums)
        ledgers = [given, NarrowLedger(engine, weight, forms, lo, hi, sums)]
        Search(given).normal_forms()
        if not self.quick:
            for ledger in ledgers:
                Search(ledger).improve()
        if ledgers[1].cost < given.cost:
            ledgers.reverse()
        for ledger in ledgers:
            results = ledger.expressions()
            if not allowed(results):
                results = [r if allowed([*es[:i], r, *es[i + 1 :]]) else es[i] for i, r in enumerate(results)]
            if results != es and allowed(results) and not self._larger(results, es):
                self._tell(ledger)
                return results
        return es

    def _larger(self, after: Sequence[Expr], before: Sequence[Expr]) -> bool:
        """Return whether ``after`` costs more than ``before``."""
        weight = self.division_weight
        return after != before and cost(after).weighed(weight) > cost(before).weighed(weight)

    # ---------------------------------------------------------------- the trace
    def _record(self, name: str, values: tuple[Any, ...]) -> None:
        """Record an application of a rule by the engine; those of extraction are recorded when chosen (:meth:`_tell`)."""
        if not self._rule(name).sharing:
            self._note(name, values)

    def _note(self, name: str, values: tuple[Any, ...]) -> None:
        engine, rule = self.engine, self._rule(name)
        assert engine is not None
        assert self.trace is not None
        binding = [integer(v) if isinstance(v, int) else engine.write(v) for v in values]
        self.trace += applied(rule, binding, self.number)

    def _rule(self, name: str) -> Rule:
        rule = self.rules[name]
        assert isinstance(rule, Rule)
        return rule

    def _tell(self, ledger: Ledger) -> None:
        """Record the rules by which a ledger writes its forms in the trace."""
        engine = self.engine
        if self.trace is None:
            return
        assert engine is not None
        engine.record = self._note
        for choice, _, _ in ledger.log:
            rule, values = choice[2]
            if rule is not None:
                rule(engine, *values)
        engine.record = self._record
