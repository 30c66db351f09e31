"""Simplification of expressions on one domain: the engine for the catalogue, a plain driver for any other rule set.

A rule set that carries an engine (:attr:`~indexproof.core.rewrite.RuleSet.engine`) is run by it.  Any other set of
rules is run by :class:`.Driver`, which applies compiled matchers bottom-up until nothing fires; it is slow and obvious,
and the engine is compared with it.  Either way every step is an instance of a declared rule, and a trace says which.
Termination follows from the order of :func:`~indexproof.core.rewrite.measure`, which every rule is proved to decrease.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from .cost import DIVISION_WEIGHT, cost, expect_weight
from .driver import Driver
from .expr import Binary, CeilDiv, Expr, FloorDiv, Int, Max, Min, Mod, Mul, Sum, Var
from .facts import Facts
from .kept import improved, mixed, with_sums, without_remainders
from .kernel.atoms import Excess
from .kernel.form import Form
from .on_domain import OnDomain
from .rewrite import Rule, RuleSet
from .sharing import Speller, with_differences
from .steps import NormalForms, Step

__all__ = ["Simplifier"]


class Simplifier(OnDomain):
    """A rule set made ready to run on one domain.

    A variable that has only one value is replaced by it unless ``keep_points``.  ``division_weight`` is what a division
    costs when any other operation costs one.  ``quick`` writes normal forms as they are.  ``trace`` collects the steps:
    equalities ``before = after`` that together, read as congruences, lead from the expression to its normal form, and
    then those that spell it.  Raises :class:`InputError` for a weight below 1.
    """

    def __init__(
        self,
        rules: RuleSet | Iterable[Rule],
        facts: Facts,
        trace: list[Step | NormalForms] | None = None,
        *,
        keep_points: bool = False,
        division_weight: int = DIVISION_WEIGHT,
        quick: bool = False,
    ) -> None:
        expect_weight(division_weight)
        super().__init__(
            rules if isinstance(rules, RuleSet) else None, facts, trace, keep_points, division_weight
        )
        self.rules = rules
        self.quick = quick
        #: whether the last pass has written atoms with other dividends than their own
        self.respelled = False
        #: whether what it has written is decided by what remainders become as differences
        self.decided = False
        #: whether several sums are divided in what it was written from
        self.several = False
        #: whether remainders may stay whose quotients are there
        self.beside = False
        #: whether sums were kept that nothing has been made of since
        self.kept = False
        #: for the record, the forms of the last pass and those that were written in the end, each atom as it is
        self.had: list[list[Expr]] = []
        self._driver: Driver | None = None

    def _spelled(self, forms: list[Form]) -> tuple[Speller, list[Expr]]:
        """The results as they are written, and what has chosen so: of two ways where there are two, the cheaper."""
        engine = self.engine
        assert engine is not None
        trace, weight = self.trace, self.division_weight
        start = len(trace) if trace is not None else 0
        speller = Speller(engine, weight, self.another)
        results = speller.spelled(forms)
        if speller.torn:
            record, engine.record = engine.record, None
            other = Speller(engine, weight, self.another, keep_digits=True)
            try:
                others = other.spelled(forms)
            finally:
                engine.record = record
            if self.larger(results, others, more=speller.promised - other.promised):
                if trace is None:
                    return other, others
                # once more, for the record
                del trace[start:]
                other = Speller(engine, weight, self.another, keep_digits=True)
                return other, other.spelled(forms)
        return speller, results

    @property
    def driver(self) -> Driver:
        """The driver, for rule sets without an engine and for what an engine cannot do."""
        if self._driver is None:
            self._driver = Driver(self.rules, self.facts, self.trace)
        return self._driver

    def _driven(self, e: Expr) -> Expr:
        driver = self.driver
        return driver(e)

    # not __call__: compiled, a class that can be called lays out its fields otherwise than its base
    def normal(self, e: Expr) -> Expr:
        """The normal form of ``e`` on the domain."""
        engine = self.engine
        if engine is None:
            return self._driven(e)
        try:
            engine.spelling = engine.limited = False
            return engine.write(engine.read(e))
        except OverflowError:
            # numbers larger than any program's, with unbounded variables
            return self._driven(e)

    def each(self, es: Sequence[Expr]) -> list[Expr]:
        """The normal form of every one of ``es``; ``es`` where those cost more."""
        start = len(self.trace) if self.trace is not None else 0
        results = [self.normal(e) for e in es]
        if self.engine is None or results == list(es) or not self.larger(results, es):
            return results
        if self.trace is not None:
            del self.trace[start:]
        self.renew_engine()
        return list(es)

    def all(self, es: Sequence[Expr]) -> list[Expr]:
        """The results of one map: normal forms, written so that together they cost least (:mod:`.sharing`).

        What comes out is what comes out again: a pass that changes how forms are written is followed by another, until
        nothing changes.  Never costs more than ``es``; where normal forms are far larger, ``es`` come back as they are.
        """
        if self.engine is None:
            return [self._driven(e) for e in es]
        try:
            if self.quick:
                return self._plainly(list(es))
            return self._repeated(self._bounded(list(es)))
        except OverflowError:
            return [self._driven(e) for e in es]

    def _repeated(self, results: list[Expr]) -> list[Expr]:
        """The results with differences for remainders that are left, and what that comes to, until nothing changes."""
        trace = self.trace
        seen: list[list[Expr]] = []
        marks: list[int] = []
        while self.beside or self.kept:
            seen.append(results)
            marks.append(len(trace) if trace is not None else 0)
            if self.beside:
                results = without_remainders(self, results)
            if not self.kept and results == seen[-1]:
                break
            # what has differences inside dividends may have other normal forms, and is met in another order; and what was
            # kept is read as it stands now
            self.renew_engine()
            results = self._bounded(results)
            if results in seen:
                results = self._of_turns(seen, marks, seen.index(results))
                break
        return results

    def _of_turns(self, seen: list[list[Expr]], marks: list[int], first: int) -> list[Expr]:
        """Of results that take turns, from ``first`` on, those with the least digests; ``marks`` end the traces."""
        best = min(range(first, len(seen)), key=lambda k: [e.key for e in seen[k]])
        if self.trace is not None:
            del self.trace[marks[best] :]
            self.renew_engine()
        return seen[best]

    def _plainly(self, es: list[Expr]) -> list[Expr]:
        """The normal forms of the results as they are, and of ``es`` those that cost less."""
        trace = self.trace
        start = len(trace) if trace is not None else 0
        try:
            results = self._plain(self._read(es))
            if results != es and self._dearer(results, es):
                results = mixed(self, es, results)
            if results != es:
                return results
        except Excess:
            # what was being read was not finished
            self.renew_engine()
        if trace is not None:
            del trace[start:]
            self.renew_engine()
        return es

    def _dearer(self, results: list[Expr], es: list[Expr]) -> bool:
        """Whether the results that were read last cost more than ``es``, what they were read from."""
        engine, weight = self.engine, self.division_weight
        assert engine is not None
        if weight == DIVISION_WEIGHT and engine.written <= engine.spent:
            return False
        return not _reaches(es, cost(results).weighed(weight), weight) and self.larger(results, es)

    def _bounded(self, es: list[Expr]) -> list[Expr]:
        """:meth:`_settled`, but ``es`` as they are where normal forms are far larger."""
        start = len(self.trace) if self.trace is not None else 0
        try:
            return self._settled(es)
        except Excess:
            if self.trace is not None:
                del self.trace[start:]
            self.renew_engine()
            self.beside = True
            return es

    def _settled(self, es: list[Expr]) -> list[Expr]:
        """Passes over the results until one changes nothing; of results that take turns, the one with the least digests."""
        trace = self.trace
        start = len(trace) if trace is not None else 0
        self.kept = False
        forms = self._read(es)
        results, written = self._pass(es, forms)
        seen = [results]
        marks = [len(trace) if trace is not None else 0]
        while written is not None:
            before = forms
            end = len(trace) if trace is not None else 0
            if trace is None:
                forms = self._read(results) if self.respelled else self._renewed(written)
                known = forms == before or self._alike(forms, before, written)
            else:
                # another engine numbers its atoms in another way
                trace.append(NormalForms(tuple(results)))
                self.renew_engine()
                forms = self._read(results)
                now = self._plain(forms)
                known = now == self.had[0] or (now == self.had[1] and self._differing(forms) == forms)
            if known:
                # what has been spelled so would be spelled so again
                if trace is not None:
                    del trace[end:]
                    self.renew_engine()
                break
            results, written = self._pass(results, forms)
            if results in seen:
                results = self._of_turns(seen, marks, seen.index(results))
                break
            seen.append(results)
            marks.append(len(trace) if trace is not None else 0)
        if self.several and results != es:
            # what has come out once comes out again
            before_kept = results
            results = with_sums(self, es, results)
            self.kept = results != before_kept
            self.beside = True
        if results == es and trace is not None:
            del trace[start:]
            self.renew_engine()
        return results

    def _alike(self, forms: list[Form], before: list[Form], written: list[Form]) -> bool:
        """Whether forms of which some are as they were and others as they were written would be written alike.

        They are if their remainders become the same differences: what is tried after that has changed nothing in those.
        That they do is not certain, as one difference may have been cheaper for what another shared with it then, and
        what has been written last may have made another one pay.
        """
        if forms != written and (
            not self.decided or not all(f in (x, y) for f, x, y in zip(forms, before, written, strict=True))
        ):
            return False
        return self._differing(forms) == written

    def _differing(self, forms: list[Form]) -> list[Form] | None:
        """:func:`.with_differences` of the forms; nothing is recorded."""
        engine = self.engine
        assert engine is not None
        record, engine.record = engine.record, None
        after = with_differences(engine, self.division_weight, forms)
        engine.record = record
        return after

    def _read(self, es: list[Expr]) -> list[Form]:
        """The normal forms of the results."""
        engine = self.engine
        assert engine is not None
        engine.spelling = False
        engine.spent = engine.volume = 0
        engine.limited = True
        engine.bodies.clear()
        return [engine.read(e) for e in es]

    def _plain(self, forms: list[Form]) -> list[Expr]:
        """The forms as expressions, each atom written as it is."""
        engine = self.engine
        assert engine is not None
        return [engine.write(f) for f in forms]

    def _renewed(self, written: list[Form]) -> list[Form]:
        """What :meth:`_read` makes of results whose atoms are those of the forms."""
        engine = self.engine
        assert engine is not None
        engine.spent = 0
        return [engine.renewed(f) for f in written]

    def _pass(self, es: list[Expr], forms: list[Form]) -> tuple[list[Expr], list[Form] | None]:
        """The results as their forms are spelled, and the forms that were written in the end.

        ``None`` where another pass would certainly make the same of the results.
        """
        engine = self.engine
        assert engine is not None
        start = len(self.trace) if self.trace is not None else 0
        # which counts a division as three: no bound where it weighs less
        spent = engine.spent if self.division_weight >= DIVISION_WEIGHT else 0
        if self.trace is not None:
            self.had = [self._plain(forms)]
            self.trace.append(NormalForms(tuple(self.had[0])))
        speller, results = self._spelled(forms)
        if self.trace is not None:
            self.had.append(self._plain(speller.forms))
        self.several = speller.dividends.several
        self.beside = speller.beside
        if results == es:
            return es, None
        bound = speller.bound()
        if (
            bound > spent
            and not _reaches(es, bound, self.division_weight)
            and self.larger(results, es, bound)
        ):
            # a smaller order does not mean fewer operations: common subexpressions may have been lost
            mixed = improved(self, es, results)
            self.beside = True
            if mixed != es:
                # what was taken over of the results may be written in yet another way when it is read again
                self.respelled = True
                self.decided = False
                return mixed, speller.forms
            if self.trace is not None:
                del self.trace[start:]
                self.renew_engine()
            return es, None
        self.respelled = speller.respelled
        self.decided = speller.decided
        return results, speller.forms if speller.changed else None


def _reaches(es: Sequence[Expr], bound: int, division_weight: int) -> bool:
    """Whether ``es`` certainly cost ``bound`` or more: :func:`.cost` as far as needed to see it, which is seldom all."""
    spent = 0
    seen: set[Expr] = set()
    products: set[tuple[Expr, int]] = set()
    bodies: set[tuple[tuple[Expr, int], ...]] = set()
    todo = list(es)
    while todo:
        e = todo.pop()
        if e in seen:
            continue
        seen.add(e)
        t = type(e)
        if t is Sum:
            s: Sum = e  # type: ignore[assignment]
            terms = s.terms
            if s.const:
                spent += 1
            opposite = True
            for a, k in terms:
                if k > 0:
                    opposite = False
                if k != 1 and k != -1:
                    products.add((a, abs(k)))
                if type(a) is not Var:
                    todo.append(a)
            body = tuple([(a, -k) for a, k in terms]) if opposite else terms
            if body not in bodies:
                bodies.add(body)
                spent += len(body) - 1
        elif t is FloorDiv or t is Mod or t is CeilDiv:
            q: Binary = e  # type: ignore[assignment]
            spent += division_weight
            todo.append(q.a)
            if type(q.b) is not Int:
                todo.append(q.b)
        elif t is Min or t is Max or t is Mul:
            kids = e.children
            spent += len(kids) - 1
            todo += kids
        if spent + len(products) >= bound:
            return True
    return False
