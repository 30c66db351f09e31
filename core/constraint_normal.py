"""Bring the constraints of a map to normal form and narrow the boxes of its variables.

Each constraint loses constants, common factors and outer divisions.  It is merged with others on the same expression,
becomes a bound if it constrains one variable, and is dropped if it always holds.  The rest narrow the boxes of their
variables.  The code generated from a rule makes every such step (:mod:`.constraint_matcher`); this module only decides
which rules to try, by their shape, on which constraints and when.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Final, TypeAlias

from .constraint_choose import Ends, shifted_remainder
from .constraint_matcher import Applied, CompiledConstraintRule, compiled_constraint_rule
from .constraint_order import Bound
from .derivation import ConstraintChange
from .expr import Expr, FloorDiv, Int, Mod, Sum, Var, lift, linear, postorder
from .facts import Facts
from .indexing_map import Constraint, IndexingMap, Variable
from .interval import End, Interval
from .rewrite import ConstraintRule, RuleSet
from .simplify import Simplifier
from .steps import Rewritten, Trace, changed, length, take_back

#: Limit on the rounds of narrowing through constraints on several variables.  Narrowing that has not reached a fixpoint by
#: then is undone: it may need as many rounds as the boxes have points.
ROUNDS: Final = 24

Rules: TypeAlias = tuple[CompiledConstraintRule, ...]


@dataclass(frozen=True, eq=False)
class _Rules:
    """The constraint rules of a rule set, by shape."""

    #: for one constraint, deciding that it holds everywhere or nowhere
    final: Rules
    #: for one constraint otherwise, by the class of its expression
    single: Mapping[type[Expr], Rules]
    #: for two constraints on the same expression
    twins: Rules
    #: for a constraint that narrows another one
    narrowing: Mapping[type[Expr], Rules]
    #: for two constraints otherwise
    pairs: Rules
    #: replacing a constraint on a remainder by another one
    remainders: Rules


@cache
def _rules(constraints: tuple[ConstraintRule, ...]) -> _Rules:
    all_of = [compiled_constraint_rule(r) for r in constraints]
    one = [c for c in all_of if len(c.rule.left) == 1]
    two = [c for c in all_of if len(c.rule.left) == 2]
    final = tuple(c for c in one if all(type(b.e) is Int for b in c.rule.right))
    twins = tuple(c for c in two if [b.e for b in c.rule.right] == [c.rule.left[0].e] == [c.rule.left[1].e])
    narrowing = tuple(c for c in two if _narrows(c.rule))
    return _Rules(
        final,
        _by_head([c for c in one if c not in final]),
        twins,
        _by_head(narrowing),
        tuple(c for c in two if c not in twins and c not in narrowing),
        tuple(c for c in one if [type(b.e) for b in (*c.rule.left, *c.rule.right)] == [Mod, Mod]),
    )


def _narrows(rule: ConstraintRule) -> bool:
    one, other = rule.left
    return len(rule.right) == 2 and rule.right[0] == one and rule.right[1].e is other.e


def _by_head(rules: Sequence[CompiledConstraintRule]) -> Mapping[type[Expr], Rules]:
    return {t: tuple(c for c in rules if c.head in (None, t)) for t in _classes(Expr)}


def _classes(base: type[Expr]) -> Iterator[type[Expr]]:
    for c in base.__subclasses__():
        yield c
        yield from _classes(c)


class Contradiction(Exception):
    """The domain is empty."""


class Constraints:
    """The state of bringing the constraints of one map to normal form."""

    def __init__(
        self, m: IndexingMap, rules: RuleSet, trace: Trace | None, keep_points: bool, division_weight: int, quick: bool
    ) -> None:
        self.map = m
        self.rules = rules
        self.trace = trace
        self.keep_points = keep_points
        self.division_weight = division_weight
        self.quick = quick
        self.boxes = _boxes(m)
        #: whether the box of a dimension or a range has become narrower
        self.narrowed = False
        #: constraints in normal form, and the position of the last one on each expression
        self.kept: list[Bound] = []
        self.place: dict[Expr, int] = {}
        self.todo: list[Bound] = []
        #: whether a box has become narrower since the constraints were brought to normal form, and since the
        #: simplifier was made
        self.stale = self.outdated = False
        self._simplifier: Simplifier | None = None
        self._ends: Ends | None = None
        self._compiled: _Rules | None = None

    def run(self) -> None:
        """Bring all constraints to normal form.  Raises :class:`Contradiction` when nothing satisfies them."""
        given = self.map.constraints
        for lo, hi in self.boxes.values():
            if lo > hi:
                self.todo = [(c.expr, c.lo, c.hi) for c in reversed(given)]
                raise Contradiction
        if not given:
            return
        self.todo = [(c.expr, c.lo, c.hi) for c in reversed(given)]
        self.settle()
        boxes, kept, narrowed, rounds = self.boxes, self.kept, self.narrowed, 0
        mark = length(self.trace)
        while self.kept:
            if self.stale:
                self.again()
            elif not self.merge():
                if not rounds:
                    boxes, kept, narrowed = dict(self.boxes), list(self.kept), self.narrowed
                    mark = length(self.trace)
                rounds += 1
                if rounds > ROUNDS:
                    self.boxes, self.kept, self.narrowed = boxes, kept, narrowed
                    take_back(self.trace, mark)
                    self.outdated = True
                    self.renew()
                    return
                if not self.tighten():
                    return

    # -- looked up only for maps with constraints
    def free(self, v: Var) -> bool:
        """Return whether the box of a variable may be narrowed.  That of a runtime variable states how it is clamped."""
        for r in self.map.rts:
            if r.expr is v:
                return False
        return v in self.boxes

    @property
    def compiled(self) -> _Rules:
        """The constraint rules."""
        found = self._compiled
        if found is None:
            found = self._compiled = _rules(self.rules.constraints)
        return found

    # -- the domain so far
    @property
    def simplifier(self) -> Simplifier:
        """A simplifier for the boxes at the time it was made, which contain those of now."""
        if self._simplifier is None:
            self._simplifier = self.made([])
        return self._simplifier

    def made(self, known: list[Bound]) -> Simplifier:
        """Return a simplifier for the boxes and further facts."""
        return Simplifier(
            self.rules,
            Facts(self.boxes, [(e, Interval(lo, hi)) for e, lo, hi in known]),
            self.trace,
            keep_points=self.keep_points,
            division_weight=self.division_weight,
            quick=self.quick,
        )

    def renew(self) -> None:
        """Drop the simplifier that was made for larger boxes."""
        if self.outdated:
            self._simplifier = self._ends = None
            self.outdated = False

    @property
    def ends(self) -> Ends:
        """The function that bounds expressions on the boxes."""
        if self._ends is None:
            self._ends = _ends(self.simplifier)
        return self._ends

    def state(self) -> IndexingMap:
        """Return the map with its current boxes and constraints."""
        open_ = self.kept + self.todo[::-1]
        m = self.map
        return IndexingMap._trusted(
            self.boxed(m.dims), self.boxed(m.ranges), m.rts, m.results, [Constraint.trusted(*c) for c in open_]
        )

    def boxed(self, variables: tuple[Variable, ...]) -> tuple[Variable, ...]:
        """Return the variables with their current boxes."""
        boxes = self.boxes
        return tuple([v.boxed(boxes[v.expr][0], boxes[v.expr][1]) for v in variables])

    # -- one application
    def applied(self, rule: CompiledConstraintRule, before: Sequence[Bound]) -> tuple[Bound, ...] | None:
        """Apply a rule to constraints; return ``None`` if it does not apply."""
        found = rule.after(before, self.ends)
        if found is None:
            return None
        return self.recorded(rule, before, found)

    def recorded(self, rule: CompiledConstraintRule, before: Sequence[Bound], found: Applied) -> tuple[Bound, ...]:
        """Record an application in the trace and return its right side."""
        after, values = found
        if self.trace is not None:
            binding = {name: lift(e) for name, e in values.items()}
            then, now = (tuple([Constraint.trusted(*c) for c in side]) for side in (before, after))
            self.trace.append(ConstraintChange(rule.rule, binding, then, now))
        return after

    def rewritten(self, c: Bound, e: Expr) -> None:
        """Record that the simplifier rewrote the expression of a constraint to ``e``."""
        if self.trace is not None:
            said, now = Constraint.trusted(*c), Constraint.trusted(e, c[1], c[2])
            self.trace.append(Rewritten(said, now, self.simplifier.number))

    def contradicted(self, empty: IndexingMap) -> None:
        """Record that the current constraints are unsatisfiable."""
        if self.trace is not None and (state := self.state()) != empty:
            changed(self.trace, "empty_domain", state, empty)

    # -- single constraints
    def settle(self) -> None:
        """Bring the constraints in ``todo`` to normal form and merge them into ``kept`` or the boxes."""
        todo = self.todo
        while todo:
            c = self.normal(todo.pop())
            if c is None:
                continue
            e = c[0]
            if type(e) is Var and self.free(e):
                lo, hi = self.boxes[e]
                box = self.twin(c, (e, lo, hi))
                if box is not None:
                    self.shrink(e, box[1], box[2])
                    continue
            at = self.place.get(e)
            both = self.twin(self.kept[at], c) if at is not None else None
            if at is not None and both is not None:
                c = both
                self.kept[at] = c
                if c[1] > c[2]:
                    raise Contradiction
            else:
                self.place[e] = len(self.kept)
                self.kept.append(c)
            if type(e) is Var and not self.free(e):
                # a constraint on a runtime variable is kept, and its box narrows only as a fact
                self.shrink(e, c[1], c[2])

    def twin(self, c: Bound, d: Bound) -> Bound | None:
        """Join two constraints on one expression; return ``None`` if no rule does."""
        for rule in self.compiled.twins:
            after = self.applied(rule, (c, d))
            if after is not None:
                return after[0]
        return None

    def again(self) -> None:
        """Bring all constraints to normal form again, for the current boxes."""
        self.stale = False
        self.renew()
        self.restart(self.kept)

    def restart(self, todo: list[Bound]) -> None:
        """Bring ``todo`` to normal form, but for constraints on runtime variables, which are facts already."""
        self.kept = [c for c in todo if type(c[0]) is Var]
        self.todo = [c for c in reversed(todo) if type(c[0]) is not Var]
        self.place = {c[0]: n for n, c in enumerate(self.kept)}
        self.settle()

    def normal(self, c: Bound) -> Bound | None:
        """Return a constraint in normal form, or ``None`` if it is dropped or replaced by constraints in ``todo``."""
        rules = self.compiled
        while True:
            e, lo, hi = c
            if type(e) is Int and not lo <= e.value <= hi:
                self.todo.append(c)
                raise Contradiction
            for rule in rules.final:
                after = self.applied(rule, (c,))
                if after is not None:
                    self.todo.extend(reversed(after))
                    return None
            e = self.simplifier.normal(e)
            if e is not c[0]:
                self.rewritten(c, e)
                c = (e, lo, hi)
            if type(e) is Var and self.free(e):
                return c
            for rule in rules.single.get(type(e), ()):
                after = self.applied(rule, (c,))
                if after is not None:
                    c = after[0]
                    self.todo.extend(reversed(after[1:]))
                    break
            else:
                return c

    def shrink(self, v: Var, lo: int, hi: int) -> None:
        if (lo, hi) != self.boxes[v]:
            self.boxes[v] = lo, hi
            self.stale = self.outdated = True
            if self.free(v):
                self.narrowed = True
        if lo > hi:
            raise Contradiction

    # -- several constraints
    def merge(self) -> bool:
        """Apply a rule to two constraints, for instance on remainders of one dividend; return whether one applied."""
        if not self.compiled.pairs:
            return False
        by_subject: dict[Expr, list[Bound]] = {}
        for c in self.kept:
            by_subject.setdefault(c[0].a if type(c[0]) is Mod else c[0], []).append(c)
        for group in by_subject.values():
            for c in group:
                for d in group:
                    if c is not d and self.merged(c, d):
                        return True
        return False

    def merged(self, c: Bound, d: Bound) -> bool:
        for rule in self.compiled.pairs:
            after = self.applied(rule, (c, d))
            if after is not None:
                first = min(self.kept.index(c), self.kept.index(d))
                rest = [b for b in self.kept if b not in (c, d)]
                self.restart([*rest[:first], *after, *rest[first:]])
                return True
        return False

    def tighten(self) -> bool:
        """Narrow the boxes of variables by constraints on remainders and sums; return whether any became narrower."""
        for c in list(self.kept):
            rules = self.compiled.narrowing.get(type(c[0]), ())
            if not rules:
                continue
            self.renew()
            for x in self.subjects(c):
                at = shifted_variable(x)
                if at is None or not self.free(at[0]):
                    continue
                v, sign, shift = at
                for rule in rules:
                    lo, hi = _moved(self.boxes[v], sign, shift)
                    after = self.applied(rule, (c, (x, lo, hi)))
                    if after is not None:
                        lo, hi = _moved_back(after[1], sign, shift)
                        self.shrink(v, lo, hi)
        return self.stale

    def subjects(self, c: Bound) -> list[Expr]:
        """Return the expressions that a constraint may narrow: the dividend of a remainder, or summands of a sum.

        Quotients among the summands give their dividends.  Summands that the others cannot narrow are left out.
        """
        e, lo, hi = c
        if type(e) is Mod:
            return [e.a]
        if type(e) is not Sum:
            return []
        terms: list[tuple[Expr, End, End]] = []
        # ends are infinite floats where numbers are very large
        low: End = e.const
        high: End = e.const
        try:
            for t, k in e.terms:
                a, b = self.ends(t)
                p, q = (k * a, k * b) if k > 0 else (k * b, k * a)
                low += p
                high += q
                terms.append((t, p, q))
            # the other summands lie between low - p and high - q
            found = [t for t, p, q in terms if not (lo - (high - q) <= p and q <= hi - (low - p))]
        except OverflowError:
            # a very large integer and an infinite float cannot be added
            found = [t for t, _ in e.terms]
        return [t.a if type(t) is FloorDiv else t for t in found]

    # -- results
    def simplifier_of_results(self) -> Simplifier:
        """Return a new simplifier for boxes and constraints.  Its results do not depend on what was read before."""
        return self.made([(e, lo, hi) for e, lo, hi in self.kept if type(e) is not Var])

    def finished(self, results: Sequence[Expr]) -> tuple[Constraint, ...]:
        """Return the constraints that remain."""
        if not self.kept:
            return ()
        given = {c.expr: c for c in self.map.constraints}
        quotients: dict[tuple[Expr, int], Expr] | None = None
        out: dict[Expr, Constraint] = {}
        for b in self.kept:
            if type(b[0]) is Mod and b[1] == b[2]:
                if quotients is None:
                    quotients = _quotients(results)
                b = self.spelled(b, quotients)
            e, lo, hi = b
            c = given.get(e)
            if e in out:
                # a map has at most one constraint on an expression
                lo, hi = max(lo, out[e].lo), min(hi, out[e].hi)
            out[e] = c if c is not None and (c.lo, c.hi) == (lo, hi) else Constraint.trusted(e, lo, hi)
        return tuple(out.values())

    def spelled(self, c: Bound, quotients: dict[tuple[Expr, int], Expr]) -> Bound:
        """Give a fixed remainder the dividend of a quotient in the results, so that both share it."""
        x = _dividend(c)
        y = quotients.get((_without_constant(x), _modulus(c)), x)
        if y is not x:
            for rule in self.compiled.remainders:
                # this step ascends in the termination order, but is made once
                found = rule.check((c,), self.ends, shifted_remainder(c, y))
                if found is not None:
                    return self.recorded(rule, (c,), found)[0]
        return c


def _boxes(m: IndexingMap) -> dict[Var, tuple[int, int]]:
    """Return :attr:`~indexproof.core.indexing_map.IndexingMap.bounds` as pairs."""
    return {v.expr: (v.lo, v.hi) for v in m.variables}


def _ends(simplifier: Simplifier) -> Ends:
    """Return the function that bounds expressions on a simplifier's domain."""
    engine = simplifier.engine
    return simplifier.facts.interval if engine is None else engine.ends


def _moved(box: tuple[int, int], sign: int, shift: int) -> tuple[int, int]:
    """Return the bounds of ``±v + shift`` for the box of v."""
    lo, hi = box if sign > 0 else (-box[1], -box[0])
    return lo + shift, hi + shift


def _moved_back(c: Bound, sign: int, shift: int) -> tuple[int, int]:
    """Return the box of v for the bounds of ``±v + shift``."""
    lo, hi = c[1] - shift, c[2] - shift
    return (lo, hi) if sign > 0 else (-hi, -lo)


def _without_constant(e: Expr) -> Expr:
    return linear(0, e.terms) if type(e) is Sum and e.const else e


def _dividend(c: Bound) -> Expr:
    """Return the dividend of a constraint on a remainder."""
    e = c[0]
    assert type(e) is Mod
    return e.a


def _modulus(c: Bound) -> int:
    """Return the modulus of a constraint on a remainder, 0 if it is no literal."""
    e = c[0]
    return e.b.value if type(e) is Mod and type(e.b) is Int else 0


def _quotients(roots: Sequence[Expr]) -> dict[tuple[Expr, int], Expr]:
    """Return the dividends of all quotients in ``roots``, by dividend without constant and divisor."""
    found: dict[tuple[Expr, int], Expr] = {}
    for node in postorder(*roots):
        if type(node) is FloorDiv and type(node.b) is Int:
            found.setdefault((_without_constant(node.a), node.b.value), node.a)
    return found


def shifted_variable(e: Expr) -> tuple[Var, int, int] | None:
    """Return ``(v, ±1, n)`` for an expression ``±v + n``, or else ``None``."""
    if type(e) is Var:
        return e, 1, 0
    if type(e) is Sum and len(e.terms) == 1:
        t, k = e.terms[0]
        if type(t) is Var and (k == 1 or k == -1):
            return t, k, e.const
    return None
