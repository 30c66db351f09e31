"""Simplification of expressions on one domain by the engine of a rule set.

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

#: What costs so many operations more than what was found is still looked at further.
NEAR_BY: Final = 3
#: What is found is looked at again so often at most; nearly all comes to rest in two.
PASSES: Final = 32


class Simplifier:
    """A rule set made ready to run on one domain.

    A variable that has only one value is replaced by it unless ``keep_points``.  ``division_weight`` is what a division
    costs when any other operation costs one.  ``quick`` writes normal forms as they are.  ``trace`` collects the steps:
    equalities ``before = after`` from which it follows by congruence that an expression equals its result.  Raises
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
        #: of the steps in the trace that hold on this domain
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
        """The expressions of which more is known than from their variables."""
        constraints = self.facts.constraints
        return [(e, lo, hi) for e, (lo, hi) in constraints if lo != -math.inf or hi != math.inf]

    # not __call__: compiled, a class that can be called lays out its fields otherwise than its base
    def normal(self, e: Expr) -> Expr:
        """The normal form of ``e`` on the domain; ``e`` itself where its numbers are larger than any program's."""
        engine = self.engine
        if engine is None:
            return e
        try:
            engine.limited = False
            return engine.write(engine.read(e))
        except OverflowError:
            return e

    def each(self, es: Sequence[Expr]) -> list[Expr]:
        """The normal form of every one of ``es``; ``es`` where those cost more."""
        results = [self.normal(e) for e in es]
        larger = self.engine is not None and results != list(es) and self._larger(results, es)
        return list(es) if larger else results

    def all(self, es: Sequence[Expr]) -> list[Expr]:
        """The results of one map: normal forms, written so that together they cost least (:mod:`.extraction`).

        What comes out is what comes out again.  Never costs more than ``es``; where normal forms are far larger, ``es``
        come back as they are.
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
        """Like :meth:`all`, with everything as it was given that would leave ``[lo, hi]`` otherwise.

        ``es`` come back where the outcome is not ``allowed``.
        """
        given = list(es)
        try:
            return given if self.engine is None else self._narrow(given, lo, hi, allowed)
        except OverflowError:
            return given

    # ---------------------------------------------------------------- extraction
    def _extracted(self, es: list[Expr]) -> list[Expr]:
        """The results as they are written best, found again from what was found until nothing changes.

        Of results that take turns those with the least digests.
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
            elif not takes_sums_apart(engine, seen[-1]):
                # from the same forms the same is found
                return seen[-1]
            results, spent = self._once(seen[-1], search, spent)
            if results in seen:
                first = seen.index(results)
                best = min(range(first, len(seen)), key=lambda n: [e.key for e in seen[n]])
                return seen[best]
            seen.append(results)
        return seen[-1]

    def _read(self, es: list[Expr]) -> list[Form]:
        """The normal forms of the results.  Raises :class:`Excess` where they are far larger."""
        engine = self.engine
        assert engine is not None
        engine.spent = engine.volume = 0
        engine.limited = True
        engine.bodies.clear()
        forms = [engine.read(e) for e in es]
        engine.limited = False
        return forms

    def _less_deep(self, es: list[Expr]) -> list[Expr]:
        """The normal forms of what is nested deeply, which may be searched where they are not."""
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
        """Whether something that was read is nested so deeply that a ledger, which is recursive, is not for it."""
        engine = self.engine
        assert engine is not None
        return engine.deepest >= DEEPEST

    def _spent(self, es: list[Expr]) -> int:
        """No more than the cost of ``es``, which have just been read."""
        engine, weight = self.engine, self.division_weight
        assert engine is not None
        return engine.spent if weight == DIVISION_WEIGHT else cost(es).weighed(weight)

    def _once(self, es: list[Expr], search: Search, spent: int) -> tuple[list[Expr], int]:
        """Return the cheapest results from normal forms and from ``es``, which cost ``spent`` at most, with their cost."""
        engine, weight = self.engine, self.division_weight
        assert engine is not None
        if self._are_normal(es, search.ledger.forms):
            if not search.ledger.log:
                return es, spent
        elif search.ledger.spent > spent or takes_sums_apart(engine, es):
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
        """Whether results are what their normal forms are written as, so that as they are given they are the same."""
        engine = self.engine
        assert engine is not None
        # raw extrema are atoms of their own
        return not engine.parts and all(engine.write(f) is e for f, e in zip(forms, es, strict=True))

    def _plain(self, es: list[Expr]) -> list[Expr]:
        """The normal forms of the results as they are, and what is given where that costs less."""
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
        """Normal forms where those cost no more than ``es``, or some of them; and whether what comes out is at rest."""
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
        """Search from ``es`` and from normal forms, with sums that leave the ends at a high price."""
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
        """Whether ``after`` costs more than ``before``."""
        weight = self.division_weight
        return cost(after).weighed(weight) > cost(before).weighed(weight)

    # ---------------------------------------------------------------- the trace
    def _record(self, name: str, values: tuple[Any, ...]) -> None:
        """One application of a rule by the engine; what only shares work is told once it is chosen."""
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
        """Put the rules by which a ledger writes its forms into the trace."""
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
