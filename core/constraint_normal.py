"""Constraints of one map on their way to normal form, and the boxes that they narrow.

Each constraint is brought to a normal form without constants, common factors or outer divisions, merged with the others,
turned into bounds where it speaks of one variable, and dropped where it always holds; what is left narrows the boxes of its
variables, also through sums.  Every such step is an instance of a proved constraint rule.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

from .constraint_choose import Ends
from .constraint_matcher import CompiledConstraintRule, Values, compiled_constraint_rule
from .constraint_order import Bound
from .derivation import ConstraintChange
from .expr import Expr, FloorDiv, Int, Mod, Sum, Var, integer, lift, linear, mod, postorder
from .facts import Facts
from .indexing_map import Constraint, IndexingMap, Variable
from .interval import Interval
from .rewrite import ConstraintRule, RuleSet
from .simplify import Simplifier
from .steps import Trace

__all__ = ["ROUNDS", "Constraints", "Contradiction", "shifted_variable"]

#: Boxes are narrowed through constraints on several variables in at most this many rounds.  Narrowing that has not come to
#: an end by then is taken back: it may need as many rounds as the boxes have points.
ROUNDS: Final = 24


@dataclass(frozen=True, eq=False)
class _Rules:
    """The constraint rules of a rule set, by what the driver does with them."""

    #: on one constraint, by the class of its expression
    single: Mapping[type[Expr], tuple[CompiledConstraintRule, ...]]
    #: on two constraints: what merges or drops one of them, what narrows a box, and what does so through a sum
    pairs: tuple[CompiledConstraintRule, ...]
    windows: tuple[CompiledConstraintRule, ...]
    sums: tuple[CompiledConstraintRule, ...]
    #: the plain form of residues, which is undone at the end where the results have a quotient to go with
    residues: ConstraintRule | None
    named: Mapping[str, ConstraintRule]


@cache
def _rules(constraints: tuple[ConstraintRule, ...]) -> _Rules:
    all_of = [compiled_constraint_rule(r) for r in constraints]
    single = [c for c in all_of if len(c.rule.left) == 1 and c.rule.right and c.rule.name not in _BUILT_IN]
    two = [c for c in all_of if len(c.rule.left) == 2 and c.rule.name not in _BUILT_IN]
    boxes = [c for c in two if len(c.rule.right) == 2]
    return _Rules(
        {t: tuple(c for c in single if c.head in (None, t)) for t in _classes(Expr)},
        tuple(c for c in two if len(c.rule.right) == 1),
        tuple(c for c in boxes if c.rule.choose not in _SUMS),
        tuple(c for c in boxes if c.rule.choose in _SUMS),
        next((c.rule for c in single if c.rule.choose == "residue"), None),
        {c.rule.name: c.rule for c in all_of},
    )


def _classes(base: type[Expr]) -> Iterator[type[Expr]]:
    for c in base.__subclasses__():
        yield c
        yield from _classes(c)


#: Laws that the driver applies as it goes: dropping what holds, merging what speaks of the same expression, refusing what
#: cannot hold.
_BUILT_IN: Final = frozenset(
    {"satisfied_constraint_vanishes", "same_expression_intersects", "impossible_constraint_is_false"}
)


#: Strategies of rules that narrow boxes through sums.
_SUMS: Final = ("summand", "dividend")


class Contradiction(Exception):
    """The domain is empty."""


class Constraints:
    """The constraints of one map on their way to normal form."""

    def __init__(
        self,
        m: IndexingMap,
        rules: RuleSet,
        trace: Trace | None,
        keep_points: bool,
        division_weight: int,
        quick: bool,
    ) -> None:
        self.map = m
        self.rules = rules
        self.trace = trace
        self.keep_points = keep_points
        self.division_weight = division_weight
        self.quick = quick
        self.boxes = _boxes(m)
        #: Whether the box of a dimension or a range is no longer the given one.
        self.narrowed = False
        self.kept: dict[Expr, tuple[int, int]] = {}
        self.todo: list[Bound] = []
        #: Whether a box has become smaller since the simplifier was made.
        self.stale = False
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
        engine = self.simplifier.engine
        if engine is not None and self.trace is None:
            # most constraints of a compiler's maps hold anyway, which ends here
            open_ = []
            for c in given:
                lo, hi = engine.range(engine.read(c.expr))
                if lo < c.lo or c.hi < hi:
                    open_.append((c.expr, c.lo, c.hi))
            if not open_:
                return
            open_.reverse()
            self.todo = open_
        else:
            self.todo = [(c.expr, c.lo, c.hi) for c in reversed(given)]
        self.settle()
        before: tuple[Any, ...] | None = None
        rounds = 0
        while self.kept:
            if self.stale:
                self.again()
            elif not self.merge():
                if before is None:
                    before = (dict(self.boxes), self.narrowed, dict(self.kept), len(self.trace or ()))
                rounds += 1
                if rounds > ROUNDS:
                    self.boxes, self.narrowed, self.kept, length = before
                    if self.trace is not None:
                        del self.trace[length:]
                    self.renew()
                    return
                if not self.tighten():
                    return

    # -- what is looked up only by maps with constraints to work on
    def free(self, v: Var) -> bool:
        """Whether the box of a variable may become narrower; that of a runtime variable says how a value is clamped."""
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
        """A simplifier for the boxes as they were when it was made; they have not grown since."""
        if self._simplifier is None:
            self._simplifier = self.made(Facts(self.boxes))
        return self._simplifier

    def made(self, facts: Facts) -> Simplifier:
        """A simplifier for what is known."""
        return Simplifier(
            self.rules,
            facts,
            self.trace,  # type: ignore[arg-type]
            keep_points=self.keep_points,
            division_weight=self.division_weight,
            quick=self.quick,
        )

    def renew(self) -> None:
        """Forget what was computed for larger boxes."""
        self._simplifier = self._ends = None
        self.stale = False

    @property
    def ends(self) -> Ends:
        """Enclosures of expressions on the boxes."""
        if self._ends is None:
            self._ends = _ends(self.simplifier)
        return self._ends

    def state(self) -> IndexingMap:
        """The map as it stands."""
        open_ = [(e, lo, hi) for e, (lo, hi) in self.kept.items()] + self.todo[::-1]
        m = self.map
        return IndexingMap._trusted(
            self.boxed(m.dims),
            self.boxed(m.ranges),
            m.rts,
            m.results,
            [Constraint.trusted(*c) for c in open_],
        )

    def boxed(self, variables: tuple[Variable, ...]) -> tuple[Variable, ...]:
        """The variables with their boxes as they are now."""
        boxes = self.boxes
        return tuple([v.boxed(*boxes[v.expr]) for v in variables])

    # -- single constraints
    def settle(self) -> None:
        """Bring the constraints in ``todo`` to normal form and keep what is left of them."""
        todo, kept = self.todo, self.kept
        while todo:
            e, lo, hi = todo.pop()
            done = self.normal(e, lo, hi)
            if done is None:
                continue
            e, lo, hi = done
            if type(e) is Var:
                if self.free(e):
                    self.narrow(e, lo, hi)
                    continue
                # a runtime variable keeps its box; what is demanded of it stays a constraint, and is known
                lo, hi = self.within_box(e, lo, hi)
            have = kept.get(e)
            if have is not None:
                both = max(have[0], lo), min(have[1], hi)
                self.record_named(
                    "same_expression_intersects",
                    {"x": e, "a": have[0], "b": have[1], "c": lo, "d": hi},
                    ((e, *have), (e, lo, hi)),
                    ((e, *both),),
                )
                kept[e] = both
                if both[0] > both[1]:
                    raise Contradiction
            else:
                kept[e] = lo, hi
            if type(e) is Var:
                self.shrink(e, *kept[e])

    def again(self) -> None:
        """Bring everything to normal form for the boxes as they are now."""
        self.renew()
        runtime: dict[Expr, tuple[int, int]] = {v: ends for v, ends in self.kept.items() if type(v) is Var}
        self.todo = [(e, lo, hi) for e, (lo, hi) in self.kept.items() if e not in runtime]
        self.todo.reverse()
        self.kept = runtime
        self.settle()

    def normal(self, e: Expr, lo: int, hi: int) -> Bound | None:
        """One constraint in normal form; ``None`` if it always holds."""
        simplifier = self.simplifier
        engine = simplifier.engine
        while True:
            a: Any
            b: Any
            if engine is not None:
                form = engine.read(e)
                a, b = engine.range(form)
                if lo <= a and b <= hi:
                    if self.trace is not None:
                        self.satisfied(engine.write(form), lo, hi)
                    return None
                e = engine.write(form)
            else:
                e = simplifier.normal(e)
                a, b = simplifier.facts.interval(e)
                if lo <= a and b <= hi:
                    self.satisfied(e, lo, hi)
                    return None
            if b < lo or hi < a or hi < lo:
                self.refuse(e, lo, hi, a, b)
            if type(e) is Var:
                return e, lo, hi
            for rule in self.compiled.single.get(type(e), ()):
                before = (e, lo, hi)
                found = rule.after((before,), self.ends, simplifier.facts)
                if found is not None:
                    after, values = found
                    if self.trace is not None:
                        self.record(rule.rule, values, (before,), after)
                    e, lo, hi = after[0]
                    self.todo.extend(after[:0:-1])
                    break
            else:
                return e, lo, hi

    def satisfied(self, e: Expr, lo: int, hi: int) -> None:
        self.record_named("satisfied_constraint_vanishes", {"x": e, "lo": lo, "hi": hi}, ((e, lo, hi),), ())

    def refuse(self, e: Expr, lo: int, hi: int, a: int, b: int) -> None:
        """Nothing satisfies the constraint.  Raises :class:`Contradiction`."""
        false = (integer(0), 1, 1)
        if (e, lo, hi) != false:
            self.record_named(
                "impossible_constraint_is_false",
                {"x": e, "lo": lo, "hi": hi, "a": a, "b": b},
                ((e, lo, hi),),
                (false,),
            )
        self.todo.append(false)
        raise Contradiction

    def narrow(self, v: Var, lo: int, hi: int) -> None:
        """Intersect the box of a variable.  Raises :class:`Contradiction` when nothing is left of it."""
        a, b = self.box(v)
        low, high = max(a, lo), min(b, hi)
        values: Values = {"x": v, "a": lo, "b": hi, "c": a, "d": b}
        self.record_named("same_expression_intersects", values, ((v, lo, hi), (v, a, b)), ((v, low, high),))
        self.shrink(v, low, high)

    def box(self, v: Var) -> tuple[int, int]:
        """The box of a variable as it is now; boxes of maps have integers for ends."""
        return self.boxes[v]

    def within_box(self, v: Var, lo: int, hi: int) -> tuple[int, int]:
        """Bounds of a runtime variable that reach no further than its box."""
        a, b = next((r.lo, r.hi) for r in self.map.rts if r.expr is v)
        low, high = max(a, lo), min(b, hi)
        if (low, high) != (lo, hi):
            values: Values = {"x": v, "lo": lo, "hi": hi, "a": a, "b": b}
            self.record_named("bounds_meet_range", values, ((v, lo, hi),), ((v, low, high),))
        return low, high

    def shrink(self, v: Var, lo: int, hi: int) -> None:
        if (lo, hi) != self.boxes[v]:
            self.boxes[v] = lo, hi
            self.stale = True
            if self.free(v):
                self.narrowed = True
        if lo > hi:
            raise Contradiction

    # -- several constraints
    def merge(self) -> bool:
        """Merge two remainders of one dividend, or drop one of them; whether there were any such."""
        if not self.compiled.pairs:
            return False
        by_subject: dict[Expr, list[Bound]] = {}
        for e, (lo, hi) in self.kept.items():
            by_subject.setdefault(e.a if type(e) is Mod else e, []).append((e, lo, hi))
        for group in by_subject.values():
            if len(group) < 2:
                continue
            for i, c in enumerate(group):
                for j, d in enumerate(group):
                    if i != j and self.merged(c, d):
                        return True
        return False

    def merged(self, c: Bound, d: Bound) -> bool:
        for rule in self.compiled.pairs:
            found = rule.after((c, d), self.ends, self.simplifier.facts)
            if found is not None:
                after, values = found
                self.record(rule.rule, values, (c, d), after)
                place = min(list(self.kept).index(x[0]) for x in (c, d))
                rest = [(e, *ends) for e, ends in self.kept.items() if e not in (c[0], d[0])]
                self.todo = [*rest[:place], *after, *rest[place:]][::-1]
                self.kept = {}
                if any(e is integer(0) for e, _, _ in after):
                    raise Contradiction
                self.settle()
                return True
        return False

    def tighten(self) -> bool:
        """Narrow the boxes of variables to what remainders and sums allow; whether any became narrower."""
        for e, (lo, hi) in list(self.kept.items()):
            if type(e) is Mod:
                self.window(e, lo, hi)
            elif type(e) is Sum and self.compiled.sums:
                self.through_sum(e, lo, hi)
        return self.stale

    def window(self, e: Mod, lo: int, hi: int) -> None:
        at = shifted_variable(e.a)
        if at is None or not self.free(at[0]):
            return
        v, sign, shift = at
        for rule in self.compiled.windows:
            c, box = (e, lo, hi), (e.a, *_moved(self.box(v), sign, shift))
            found = rule.after((c, box), self.ends, self.simplifier.facts)
            if found is not None:
                after, values = found
                self.record(rule.rule, values, (c, box), after)
                self.shrink(v, *_moved_back(after[1], sign, shift))

    def through_sum(self, e: Sum, lo: int, hi: int) -> None:
        """Narrow the boxes of the variables in a sum, and of those whose quotients are in it."""
        terms = []
        ends = self.ends
        # the ends of what has very large numbers in it are infinite
        a: Any
        b: Any
        low: Any = e.const
        high: Any = e.const
        for t, k in e.terms:
            a, b = self.boxes[t] if type(t) is Var else ends(t)
            p, q = (k * a, k * b) if k > 0 else (k * b, k * a)
            low += p
            high += q
            terms.append((t, k, p, q))
        for n, (t, k, p, q) in enumerate(terms):
            # the others lie between p_ and q_, which leaves [lo - q_, hi - p_] for this summand
            p_, q_ = low - p, high - q
            if lo - q_ <= p and q <= hi - p_:
                continue
            subject = t.a if type(t) is FloorDiv else t
            at = shifted_variable(subject)
            if at is None or not self.free(at[0]):
                continue
            v, sign, shift = at
            span = _moved(self.box(v), sign, shift)
            box = (subject, *span)
            values: dict[str, Any] = {"x": subject, "k": k, "lo": lo, "hi": hi, "p": p_, "q": q_}
            values["a"], values["b"] = span
            chosen = "summand"
            if type(t) is FloorDiv:
                chosen = "dividend"
                values["d"] = t.b.value if type(t.b) is Int else 0
            for rule in self.compiled.sums:
                if rule.rule.choose != chosen:
                    continue
                after = rule.build(values, (e, subject))
                if after is None:
                    continue
                if self.trace is not None:
                    values["r"] = linear(e.const, [(u, j) for u, j in e.terms if u is not t])
                    self.record(rule.rule, values, ((e, lo, hi), box), after)
                self.shrink(v, *_moved_back(after[1], sign, shift))
                a, b = self.boxes[v] if t is v else (values["a"], values["b"])
                if t is v:
                    new = (k * a, k * b) if k > 0 else (k * b, k * a)
                    low, high = low - p + new[0], high - q + new[1]
                    terms[n] = (t, k, *new)
                break

    # -- what remains
    def simplifier_of_results(self) -> Simplifier:
        """A simplifier for boxes and constraints together."""
        if not self.kept:
            if self.stale:
                self.renew()
            return self.simplifier
        known = [(e, Interval(lo, hi)) for e, (lo, hi) in self.kept.items() if type(e) is not Var]
        residues = self.residues()
        if residues:
            simplifier = self.simplifier
            moduli = [m for pairs in residues.values() for m, _ in pairs]
            roots = [*self.map.results, *(e for v in self.map.rts if v.source for e in v.source.results)]
            for node in postorder(*roots):
                if isinstance(node, (Mod, FloorDiv)) and isinstance(node.b, Int):
                    n = node.b.value
                    if self.trace is None and (n < 1 or not [m for m in moduli if m % n == 0]):
                        # whatever the dividend is; a trace says what it is all the same
                        continue
                    value = _residue(simplifier.normal(node.a), n, residues)
                    if value is not None:
                        known.append((mod(node.a, node.b), Interval(value, value)))
        return self.made(Facts(self.boxes, known))

    def residues(self) -> dict[Expr, list[tuple[int, int]]]:
        """Modulus and remainder of every dividend without constant whose remainder is known."""
        found: dict[Expr, list[tuple[int, int]]] = {}
        for e, (lo, hi) in self.kept.items():
            if type(e) is Mod and lo == hi and type(e.b) is Int and e.b.value > 0:
                x, c = _without_constant(e.a)
                found.setdefault(x, []).append((e.b.value, (lo - c) % e.b.value))
        return found

    def finished(self, results: Sequence[Expr]) -> tuple[Constraint, ...]:
        """The constraints that remain."""
        if not self.kept:
            return ()
        given = {c.expr: c for c in self.map.constraints}
        quotients: dict[tuple[Expr, int], Expr] | None = None
        out: dict[Expr, Constraint] = {}
        for e, (lo, hi) in self.kept.items():
            if self.compiled.residues is not None and type(e) is Mod and lo == hi and type(e.b) is Int:
                if quotients is None:
                    quotients = _quotients(results)
                e, lo, hi = self.spelled(e, lo, quotients)
            c = given.get(e)
            out[e] = c if c is not None and (c.lo, c.hi) == (lo, hi) else Constraint.trusted(e, lo, hi)
        return tuple(out.values())

    def spelled(self, e: Mod, s: int, quotients: Mapping[tuple[Expr, int], Expr]) -> Bound:
        """A residue with the dividend of the quotient that the results have: one subtraction serves both."""
        assert isinstance(e.b, Int)
        m = e.b.value
        x, c = _without_constant(e.a)
        y = quotients.get((x, m), e.a)
        if y is e.a or m <= 0:
            return e, s, s
        t = (s - c + _without_constant(y)[1]) % m
        after = (mod(y, m), t, t)
        if self.trace is not None and self.compiled.residues is not None:
            values: Values = {"x": e.a, "y": y, "m": m, "s": s, "t": t, "u": 1, "v": 1}
            self.record(self.compiled.residues, values, ((e, s, s),), (after,))
        return after

    # -- the trace
    def record_named(
        self, name: str, values: Values, before: Sequence[Bound], after: Sequence[Bound]
    ) -> None:
        if self.trace is not None:
            rule = self.compiled.named.get(name)
            if rule is not None:
                self.record(rule, values, before, after)

    def record(
        self, rule: ConstraintRule, values: Values, before: Sequence[Bound], after: Sequence[Bound]
    ) -> None:
        if self.trace is None:
            return
        binding = {v.name: lift(values[v.name]) for v in rule.variables}
        then, now = ([Constraint.trusted(*c) for c in side] for side in (before, after))
        self.trace.append(ConstraintChange(rule, binding, tuple(then), tuple(now)))


def _boxes(m: IndexingMap) -> dict[Var, tuple[int, int]]:
    """:attr:`~indexproof.core.indexing_map.IndexingMap.bounds` as pairs; compiled, without a call of Python code."""
    boxes: dict[Var, tuple[int, int]] = {}
    groups: tuple[tuple[Variable, ...], ...] = (m.dims, m.ranges, m.rts)
    for variables in groups:
        for v in variables:
            try:
                e = v._expr
            except AttributeError:
                e = v.expr
            boxes[e] = v.lo, v.hi
    return boxes


def _ends(simplifier: Simplifier) -> Ends:
    """The enclosures that a simplifier's domain gives."""
    engine = simplifier.engine
    return simplifier.facts.interval if engine is None else engine.ends


def _moved(box: tuple[int, int], sign: int, shift: int) -> tuple[int, int]:
    """The bounds of ``±v + shift`` for the box of v."""
    lo, hi = box if sign > 0 else (-box[1], -box[0])
    return lo + shift, hi + shift


def _moved_back(c: Bound, sign: int, shift: int) -> tuple[int, int]:
    """The box of v that bounds of ``±v + shift`` state."""
    lo, hi = c[1] - shift, c[2] - shift
    return (lo, hi) if sign > 0 else (-hi, -lo)


def _without_constant(e: Expr) -> tuple[Expr, int]:
    if type(e) is Sum and e.const:
        return linear(0, e.terms), e.const
    return e, 0


def _residue(e: Expr, n: int, residues: Mapping[Expr, Sequence[tuple[int, int]]]) -> int | None:
    """The remainder of ``e`` modulo ``n``, if a known one decides it."""
    x, c = _without_constant(e)
    for m, r in residues.get(x, ()):
        if n > 0 and m % n == 0:
            return (r + c) % n
    return None


def _quotients(roots: Sequence[Expr]) -> dict[tuple[Expr, int], Expr]:
    """The dividends of all quotients in ``roots``, by dividend without constant and divisor."""
    found: dict[tuple[Expr, int], Expr] = {}
    for node in postorder(*roots):
        if type(node) is FloorDiv and type(node.b) is Int:
            found.setdefault((_without_constant(node.a)[0], node.b.value), node.a)
    return found


def shifted_variable(e: Expr) -> tuple[Var, int, int] | None:
    """``±v + n`` as ``(v, ±1, n)``."""
    if type(e) is Var:
        return e, 1, 0
    if type(e) is Sum and len(e.terms) == 1:
        t, k = e.terms[0]
        if type(t) is Var and (k == 1 or k == -1):
            return t, k, e.const
    return None
