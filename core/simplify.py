"""Simplification of expressions on one domain: the engine for the catalogue, a plain driver for any other rule set.

A rule set that carries an engine (:attr:`~indexproof.core.rewrite.RuleSet.engine`) is run by it.  Any other set of
rules is run by :class:`Driver`, which applies compiled matchers bottom-up until nothing fires; it is slow and obvious,
and the engine is compared with it.  Either way every step is an instance of a declared rule, and a trace says which.
Termination follows from the order of :func:`~indexproof.core.rewrite.measure`, which every rule is proved to decrease.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from .actions import Form
from .cost import DIVISION_WEIGHT, cost
from .engine import Engine, Excess
from .errors import InputError
from .expr import (
    Binary,
    CeilDiv,
    Expr,
    FloorDiv,
    Int,
    Max,
    Min,
    Mod,
    Mul,
    Sum,
    Var,
    integer,
    postorder,
    rebuild,
)
from .facts import Facts
from .matcher import Matcher, matcher, pairs, rejoined
from .rewrite import Rule, RuleSet
from .sharing import Speller, with_differences

__all__ = ["Driver", "NormalForms", "Simplifier", "Step"]

#: Of so many expressions inside results it is seen whether they cost less in normal form: time grows with the map's size.
INSIDE: Final = 64


@dataclass(frozen=True)
class Step:
    """One application: ``rule`` with ``binding`` turned ``before`` into ``after``."""

    rule: Rule
    binding: tuple[Expr, ...]
    before: Expr
    after: Expr
    #: whether it is a spelling of the finished normal form (:mod:`.sharing`) and not a step towards it
    spelling: bool = False

    def bindings(self) -> dict[str, Expr]:
        """The binding by variable name."""
        return {v.name: e for v, e in zip(self.rule.variables, self.binding, strict=True)}

    def __str__(self) -> str:
        return f"{self.before}  →  {self.after}   by {self.rule.name}"


@dataclass(frozen=True)
class NormalForms:
    """A waypoint of a derivation: what the results are at this moment.

    The first are the results as they are given, where there are constraints; then come the normal forms, and further ones
    after each round of turning remainders into differences.
    """

    results: tuple[Expr, ...]

    def __str__(self) -> str:
        return "normal forms " + ", ".join(map(str, self.results))


class Simplifier:
    """A rule set made ready to run on one domain.

    A variable that has only one value is replaced by it unless ``keep_points``.  ``division_weight`` is what a division
    costs when any other operation costs one.  ``trace`` collects the steps: equalities ``before = after`` that together,
    read as congruences, lead from the expression to its normal form, and then those that spell it.  Raises
    :class:`InputError` for a weight below 1.
    """

    def __init__(
        self,
        rules: RuleSet | Iterable[Rule],
        facts: Facts,
        trace: list[Step | NormalForms] | None = None,
        *,
        keep_points: bool = False,
        division_weight: int = DIVISION_WEIGHT,
    ) -> None:
        # whoever calls this from Python may give anything
        if not isinstance(division_weight, int) or division_weight < 1:
            message = f"a division cannot weigh {division_weight} operations"
            raise InputError(message, expected="a whole number of at least 1: it is an operation itself")
        self.rules = rules
        self.division_weight = division_weight
        self.keep_points = keep_points
        self.facts = facts
        self.trace = trace
        self.engine: Engine | None = None
        #: whether the last pass has written atoms with other dividends than their own
        self.respelled = False
        #: whether what it has written is decided by what remainders become as differences
        self.decided = False
        #: whether several sums are divided in what it was written from
        self.several = False
        self._driver: Driver | None = None
        if isinstance(rules, RuleSet) and rules.engine is not None:
            self.engine = _engine(rules, rules.engine, facts, trace, keep_points)

    def _larger(
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

    def _spelled(self, forms: list[Form]) -> tuple[Speller, list[Expr]]:
        """The results as they are written, and what has chosen so: of two ways where there are two, the cheaper."""
        engine = self.engine
        assert engine is not None
        trace, weight = self.trace, self.division_weight
        start = len(trace) if trace is not None else 0
        speller = Speller(engine, weight, self._another)
        results = speller.spelled(forms)
        if speller.torn:
            record, engine.record = engine.record, None
            other = Speller(engine, weight, self._another, keep_digits=True)
            try:
                others = other.spelled(forms)
            finally:
                engine.record = record
            if self._larger(results, others, more=speller.promised - other.promised):
                if trace is None:
                    return other, others
                # once more, for the record
                del trace[start:]
                other = Speller(engine, weight, self._another, keep_digits=True)
                return other, other.spelled(forms)
        return speller, results

    def _mixed(self, before: Sequence[Expr], after: Sequence[Expr]) -> list[Expr]:
        """``before`` with each result of ``after`` that lowers the cost, one by one until none does."""
        chosen = list(before)
        changed = len(before) > 1
        weight = self.division_weight
        spent = cost(chosen).weighed(weight) if changed else 0
        while changed:
            changed = False
            for i, e in enumerate(after):
                if e is chosen[i]:
                    continue
                other = [*chosen[:i], e, *chosen[i + 1 :]]
                now = cost(other).weighed(weight)
                if now < spent:
                    chosen, spent = other, now
                    changed = True
        return chosen

    def _improved(self, es: list[Expr], results: list[Expr]) -> list[Expr]:
        """``es`` with what lowers the cost: some of ``results``, and normal forms of what is inside."""
        while True:
            before = es
            es = self._partly(self._mixed(before, results))
            if es == before:
                return es

    def _with_sums(self, es: list[Expr], results: list[Expr]) -> list[Expr]:
        """``results``, or where that is cheaper ``es`` with some of them and the sums in normal form that several divide.

        What a remainder or a quotient does not need of such a sum is gone from its normal form, and each has a sum of its
        own then.
        """
        engine = self.engine
        assert engine is not None
        nodes = postorder(*es)
        divided: set[Expr] = set()
        shared: dict[Expr, None] = {}
        for x in _dividends(nodes):
            if x in divided:
                shared[x] = None
            divided.add(x)
        if not shared or len({x.terms for x in _dividends(postorder(*results))}) < 2:
            return results
        chosen = self._normal(postorder(*shared))
        other = self._mixed(_replaced(es, nodes, chosen), results)
        if not self._larger(results, other):
            return results
        if self.trace is not None:
            self.trace.append(NormalForms(tuple(results)))
        return self._improved(self._recorded(es, nodes, chosen), results)

    def _normal(self, es: Sequence[Expr]) -> dict[Expr, Expr]:
        """The normal forms of those expressions that are not in normal form; nothing is recorded."""
        engine = self.engine
        assert engine is not None
        record, engine.record = engine.record, None
        engine.limited = False
        forms: dict[Expr, Expr] = {}
        for e in es:
            if e.children:
                n = engine.write(engine.read(e))
                if n is not e:
                    forms[e] = n
        engine.record = record
        return forms

    def _partly(self, es: list[Expr]) -> list[Expr]:
        """``es`` with what is inside them in normal form where that lowers the cost, until nothing does.

        Where several results divide one sum, each quotient may be dearer in normal form, and the sum cheaper.
        """
        weight = self.division_weight
        spent = cost(es).weighed(weight)
        changed = True
        while changed:
            changed = False
            nodes = postorder(*es)
            forms = self._normal(nodes[:INSIDE])
            chosen: dict[Expr, Expr] = {}
            for e in forms:
                # with what is inside of it, wherever that stands: the steps that lead there apply everywhere
                more = {x: forms[x] for x in postorder(e) if x in forms}
                now = cost(_replaced(es, nodes, chosen | more)).weighed(weight)
                if now < spent:
                    spent = now
                    changed = True
                    chosen |= more
            if changed:
                es = self._recorded(es, nodes, chosen)
        return es

    def _recorded(self, es: list[Expr], nodes: list[Expr], chosen: dict[Expr, Expr]) -> list[Expr]:
        """``es`` with other expressions inside, and the steps by which they are equal."""
        after = _replaced(es, nodes, chosen)
        if self.trace is not None:
            self.trace.append(NormalForms(tuple(es)))
            self._fresh()
            engine = self.engine
            assert engine is not None
            done: dict[Expr, Expr] = {}
            for e, n in chosen.items():
                engine.write(engine.read(e))
                done[e] = n
                if type(e) is Sum:
                    # a sum may become what others outside of it are read as next
                    self.trace.append(NormalForms(tuple(_replaced(es, nodes, done))))
            self.trace.append(NormalForms(tuple(after)))
            self._fresh()
        return after

    @property
    def driver(self) -> Driver:
        """The driver, for rule sets without an engine and for what an engine cannot do."""
        if self._driver is None:
            self._driver = Driver(self.rules, self.facts, self.trace)
        return self._driver

    def _driven(self, e: Expr) -> Expr:
        driver = self.driver
        return driver(e)

    def __call__(self, e: Expr) -> Expr:
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
        results = [self(e) for e in es]
        if self.engine is None or results == list(es) or not self._larger(results, es):
            return results
        if self.trace is not None:
            del self.trace[start:]
        self._fresh()
        return list(es)

    def all(self, es: Sequence[Expr]) -> list[Expr]:
        """The results of one map: normal forms, written so that together they cost least (:mod:`.sharing`).

        What comes out is what comes out again: a pass that changes how forms are written is followed by another, until
        nothing changes.  Never costs more than ``es``; where normal forms are far larger, ``es`` come back as they are.
        """
        if self.engine is None:
            return [self._driven(e) for e in es]
        start = len(self.trace) if self.trace is not None else 0
        try:
            return self._settled(list(es))
        except Excess:
            if self.trace is not None:
                del self.trace[start:]
            self._fresh()
            return list(es)
        except OverflowError:
            return [self._driven(e) for e in es]

    def _settled(self, es: list[Expr]) -> list[Expr]:
        """Passes over the results until one changes nothing; of results that take turns, the one with the least digests."""
        trace = self.trace
        start = len(trace) if trace is not None else 0
        forms = self._read(es)
        results, written = self._pass(es, forms)
        seen = [results]
        marks = [len(trace) if trace is not None else 0]
        while written is not None:
            before = forms
            end = len(trace) if trace is not None else 0
            if trace is None:
                forms = self._read(results) if self.respelled else self._renewed(written)
                known = forms in (before, written) or self._alike(forms, before, written)
            else:
                # another engine numbers its atoms in another way
                had = [self._plain(before), self._plain(written)]
                trace.append(NormalForms(tuple(results)))
                self._fresh()
                forms = self._read(results)
                known = self._plain(forms) in had
            if known:
                # what has been spelled so would be spelled so again
                if trace is not None:
                    del trace[end:]
                    self._fresh()
                break
            results, written = self._pass(results, forms)
            if results in seen:
                first = seen.index(results)
                best = min(range(first, len(seen)), key=lambda k: [e.key for e in seen[k]])
                results = seen[best]
                if trace is not None:
                    del trace[marks[best] :]
                    self._fresh()
                break
            seen.append(results)
            marks.append(len(trace) if trace is not None else 0)
        if self.several and results != es:
            # what has come out once comes out again
            results = self._with_sums(es, results)
        if results == es and trace is not None:
            del trace[start:]
            self._fresh()
        return results

    def _alike(self, forms: list[Form], before: list[Form], written: list[Form]) -> bool:
        """Whether forms of which some are as they were and others as they were written would be written alike.

        They are if their remainders become the same differences: what is tried after that has changed nothing in those.
        That they do is not certain, as one difference may have been cheaper for what another shared with it then.
        """
        engine = self.engine
        assert engine is not None
        if not self.decided or not all(f in (x, y) for f, x, y in zip(forms, before, written, strict=True)):
            return False
        return with_differences(engine, self.division_weight, forms) == written

    def _fresh(self) -> None:
        """Start with another engine: steps that an engine has taken before it does not record again."""
        self.engine = self._another()

    def _another(self) -> Engine:
        """An engine of the same domain that has not taken any steps."""
        assert isinstance(self.rules, RuleSet)
        assert self.rules.engine is not None
        start = len(self.trace) if self.trace is not None else 0
        engine = _engine(self.rules, self.rules.engine, self.facts, self.trace, self.keep_points)
        # what an engine does to know the constraints it does again when it meets them
        if self.trace is not None:
            del self.trace[start:]
        return engine

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
            self.trace.append(NormalForms(tuple(self._plain(forms))))
        speller, results = self._spelled(forms)
        self.several = speller.dividends.several
        if results == es:
            return es, None
        bound = speller.bound()
        if (
            bound > spent
            and not _reaches(es, bound, self.division_weight)
            and self._larger(results, es, bound)
        ):
            # a smaller order does not mean fewer operations: common subexpressions may have been lost
            mixed = self._improved(es, results)
            if mixed == es and self.trace is not None:
                del self.trace[start:]
                self._fresh()
            return mixed, None
        self.respelled = speller.respelled
        self.decided = speller.decided
        return results, speller.forms if speller.changed else None


def _dividends(nodes: list[Expr]) -> list[Sum]:
    """The sums of several summands that quotients and remainders divide, each as often as it is divided."""
    found = []
    for e in nodes:
        t = type(e)
        if t is FloorDiv or t is Mod:
            q: Binary = e  # type: ignore[assignment]
            x = q.a
            if type(x) is Sum:
                s: Sum = x
                if len(s.terms) > 1:
                    found.append(s)
    return found


def _replaced(es: list[Expr], nodes: list[Expr], by: dict[Expr, Expr]) -> list[Expr]:
    """The expressions with others inside.  ``nodes`` are what they are made of, operands first."""
    new: dict[Expr, Expr] = {}
    for e in nodes:
        n = by.get(e)
        if n is None:
            n = e
            inner: list[Expr] = []
            for x in e.children:
                y = new[x]
                if y is not x:
                    n = None
                inner.append(y)
            if n is None:
                n = rebuild(e, inner)
        new[e] = n
    return [new[e] for e in es]


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


class Driver:
    """Any rules, applied bottom-up until none fires."""

    def __init__(
        self, rules: RuleSet | Iterable[Rule], facts: Facts, trace: list[Step | NormalForms] | None = None
    ) -> None:
        self.facts = facts
        self.trace = trace
        self.by_head: dict[type[Expr], list[tuple[Rule, Matcher]]] = _indexed(
            tuple(rules.rules if isinstance(rules, RuleSet) else rules)
        )
        self.normal: dict[Expr, Expr] = {}
        self.rewritten: dict[Expr, Expr] = {}

    def __call__(self, e: Expr) -> Expr:
        """The normal form of ``e`` on the domain."""
        normal, rewritten = self.normal, self.rewritten
        stack = [e]
        while stack:
            at = stack[-1]
            if at in normal:
                stack.pop()
                continue
            waiting = rewritten.get(at)
            if waiting is not None:
                if waiting in normal:
                    normal[at] = normal[waiting]
                    stack.pop()
                else:
                    stack.append(waiting)
                continue
            kids = at.children
            missing = [c for c in kids if c not in normal]
            if missing:
                stack.extend(missing)
                continue
            inner = [normal[c] for c in kids]
            if any(a is not b for a, b in zip(kids, inner, strict=True)):
                rewritten[at] = rebuild(at, inner)
                continue
            after = self._step(at)
            if after is None:
                normal[at] = at
                stack.pop()
            else:
                rewritten[at] = after
        return normal[e]

    def _step(self, e: Expr) -> Expr | None:
        rules = self.by_head.get(type(e))
        if not rules:
            return None
        if isinstance(e, (Min, Max)) and len(e.args) > 2:
            return self._pairwise(e, rules)
        for rule, match in rules:
            found = match(e, self.facts)
            if found is not None:
                self._record(rule, found[1], e, found[0])
                return found[0]
        return None

    def _pairwise(self, e: Min | Max, rules: list[tuple[Rule, Matcher]]) -> Expr | None:
        """Minimum and maximum are associative: a rule for two arguments serves any two of many."""
        for x, y, others in pairs(e.args):
            both = rebuild(e, (x, y))
            for rule, match in rules:
                found = match(both, self.facts)
                if found is None:
                    continue
                after = rejoined(e, x, y, found[0], others)
                if after is not None:
                    self._record(rule, found[1], both, found[0])
                    return after
        return None

    def _record(self, rule: Rule, binding: tuple[Expr, ...], before: Expr, after: Expr) -> None:
        if self.trace is not None:
            self.trace.append(Step(rule, binding, before, after))


_HEADS = (Var, Sum, Mul, FloorDiv, Mod, CeilDiv, Min, Max)
_cache: dict[tuple[Rule, ...], dict[type[Expr], list[tuple[Rule, Matcher]]]] = {}


def _indexed(rules: tuple[Rule, ...]) -> dict[type[Expr], list[tuple[Rule, Matcher]]]:
    found = _cache.get(rules)
    if found is None:
        found = {}
        for r in rules:
            if not (r.structural or r.sharing):
                # a left side that is a bare variable is every expression
                for head in _HEADS if isinstance(r.left, Var) else (type(r.left),):
                    found.setdefault(head, []).append((r, matcher(r)))
        _cache[rules] = found
    return found
