"""Simplification of whole indexing maps: results, constraints and the boxes of variables.

Constraints are brought to the form ``expression ∈ [lo, hi]`` without constants, common factors or outer divisions,
merged, turned into bounds where they speak of one variable, and dropped where they always hold.  Every such step is an
instance of a constraint rule.  The results are then simplified with what the constraints say.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from .choose import content, least_common_multiple
from .expr import Expr, Int, Mod, Sum, Var, integer
from .facts import Facts
from .indexing_map import Constraint, IndexingMap, RuntimeSource, Variable
from .interval import Interval
from .matcher import bindings
from .rewrite import Bounded, ConstraintRule, RuleSet
from .simplify import Simplifier, Step

__all__ = ["ConstraintStep", "simplify_map"]

#: No sequence of constraint rewrites is longer than this per constraint; the order makes it far shorter.
_LIMIT = 10_000


@dataclass(frozen=True)
class ConstraintStep:
    """One application of a constraint rule: the constraints ``before`` became ``after``."""

    rule: ConstraintRule
    binding: Mapping[str, Expr]
    before: tuple[Constraint, ...]
    after: tuple[Constraint, ...]

    def __str__(self) -> str:
        def text(constraints: Iterable[Constraint]) -> str:
            return " and ".join(f"{c.expr} ∈ [{c.lo}, {c.hi}]" for c in constraints) or "true"

        return f"{text(self.before)}  ⇔  {text(self.after)}   by {self.rule.name}"


Trace = list[Step | ConstraintStep]


class _Constraints:
    """The constraints of one map on their way to normal form."""

    def __init__(self, m: IndexingMap, rules: RuleSet, trace: Trace | None) -> None:
        self.rules = rules
        self.trace = trace
        self.boxes: dict[Var, Interval] = m.bounds
        #: Boxes that constraints may narrow; the box of a runtime variable is also what its value is clamped to.
        self.free = frozenset((*m.dim_vars, *m.range_vars))
        self.open = list(m.constraints)

    def run(self) -> None:
        for _ in range(_LIMIT):
            if self._empty() or not (self._each() or self._merge() or self._tighten()):
                return

    def _empty(self) -> bool:
        return any(i.empty for i in self.boxes.values()) or any(c.holds_never for c in self.open)

    def _each(self) -> bool:
        """Simplify, normalise and retire single constraints; whether anything changed."""
        steps: list[Step] | None = [] if self.trace is not None else None
        simplifier = Simplifier(self.rules, Facts(self.boxes), steps)
        kept: list[Constraint] = []
        changed = False
        for c in self.open:
            after = self._normal(Constraint(simplifier(c.expr), c.lo, c.hi), simplifier)
            if after is None:
                changed = True
                continue
            if isinstance(after.expr, Var) and after.expr in self.free:
                self._narrow(after.expr, Interval(after.lo, after.hi), after)
                changed = True
                continue
            changed = changed or after != c
            kept.append(after)
        if steps:
            assert self.trace is not None
            self.trace.extend(steps)
        self.open = kept
        return changed

    def _normal(self, c: Constraint, simplifier: Simplifier) -> Constraint | None:
        """One constraint in normal form; ``None`` if it always holds."""
        while True:
            if c.holds_never:
                return c
            if c.holds_always or simplifier.facts.interval(c.expr).inside(Interval(c.lo, c.hi)):
                self._record("satisfied_constraint_vanishes", {"x": c.expr, **_ends(c)}, (c,), ())
                return None
            for rule in self.rules.constraints:
                if len(rule.left) != 1 or not rule.right:
                    continue
                after = self._apply(rule, (c,), simplifier.facts)
                if after is not None:
                    (c,) = after
                    break
            else:
                return c
            c = Constraint(simplifier(c.expr), c.lo, c.hi)

    def _merge(self) -> bool:
        """Merge or drop one pair of constraints."""
        facts = Facts(self.boxes)
        for i, c in enumerate(self.open):
            for j, d in enumerate(self.open):
                if i == j:
                    continue
                for rule in self.rules.constraints:
                    if len(rule.left) == 2 and len(rule.right) == 1:
                        after = self._apply(rule, (c, d), facts)
                        if after is not None:
                            self.open = [k for n, k in enumerate(self.open) if n not in (i, j)]
                            self.open[min(i, j) : min(i, j)] = after
                            return True
        return False

    def _tighten(self) -> bool:
        """Move the ends of a box to values with the right remainder."""
        rule = self.rules["remainder_tightens_bounds"] if self._has("remainder_tightens_bounds") else None
        if not isinstance(rule, ConstraintRule):
            return False
        facts = Facts(self.boxes)
        for c in self.open:
            if not isinstance(c.expr, Mod) or c.lo != c.hi:
                continue
            x = c.expr.a
            at = _shifted_variable(x)
            if at is None or at[0] not in self.free:
                continue
            v, sign, shift = at
            span = self.boxes[v].scale(sign).shift(shift)
            if isinstance(span.lo, float) or isinstance(span.hi, float) or span.empty:
                continue
            after = self._apply(rule, (c, Constraint(x, span.lo, span.hi)), facts)
            if after is not None:
                box = Interval(after[1].lo, after[1].hi).shift(-shift).scale(sign)
                self._narrow(v, box, after[1])
                return True
        return False

    def _has(self, name: str) -> bool:
        return any(r.name == name for r in self.rules.constraints)

    def _narrow(self, v: Var, interval: Interval, c: Constraint) -> None:
        box = self.boxes[v]
        self.boxes[v] = box & interval
        if not isinstance(box.lo, float) and not isinstance(box.hi, float):
            ends = {"a": integer(c.lo), "b": integer(c.hi), "c": integer(box.lo), "d": integer(box.hi)}
            before = (c, Constraint(v, box.lo, box.hi))
            now = self.boxes[v]
            self._record(
                "same_expression_intersects",
                {"x": v, **ends},
                before,
                (Constraint(v, int(now.lo), int(now.hi)),),
            )

    def _record(
        self,
        name: str,
        binding: Mapping[str, Expr],
        before: tuple[Constraint, ...],
        after: tuple[Constraint, ...],
    ) -> None:
        if self.trace is not None and self._has(name):
            rule = self.rules[name]
            assert isinstance(rule, ConstraintRule)
            self.trace.append(ConstraintStep(rule, binding, before, after))

    def _apply(
        self, rule: ConstraintRule, constraints: tuple[Constraint, ...], facts: Facts
    ) -> tuple[Constraint, ...] | None:
        """The constraints that ``rule`` puts in place of ``constraints``; ``None`` where it does not apply."""
        for binding in _proposals(rule, constraints):
            values = {v: binding[v] for v in rule.variables if v in binding}
            if len(values) != len(rule.variables):
                continue
            try:
                if not all(_states(b, c, values) for b, c in zip(rule.left, constraints, strict=True)):
                    continue
                if not all(facts.holds(k.substitute(values)) for k in rule.conditions):
                    continue
                after = tuple(_instance(b, values) for b in rule.right)
            except ZeroDivisionError:
                continue
            if set(after) == set(constraints):
                continue
            self._record(rule.name, {v.name: e for v, e in values.items()}, constraints, after)
            return after
        return None


def _ends(c: Constraint) -> dict[str, Expr]:
    return {"lo": integer(c.lo), "hi": integer(c.hi)}


def _states(b: Bounded, c: Constraint, values: Mapping[Var, Expr]) -> bool:
    """Whether the pattern ``b`` under ``values`` is the constraint ``c``."""
    return (
        b.e.substitute(values) is c.expr
        and b.lo.substitute(values) is integer(c.lo)
        and b.hi.substitute(values) is integer(c.hi)
    )


def _instance(b: Bounded, values: Mapping[Var, Expr]) -> Constraint:
    e, lo, hi = (part.substitute(values) for part in (b.e, b.lo, b.hi))
    assert isinstance(lo, Int), "the bounds of a constraint rule are constants"
    assert isinstance(hi, Int), "the bounds of a constraint rule are constants"
    return Constraint(e, lo.value, hi.value)


def _proposals(rule: ConstraintRule, constraints: tuple[Constraint, ...]) -> Iterator[dict[Var, Expr]]:
    """Bindings under which the left side may be ``constraints``."""
    if rule.choose == "content":
        (b,), (c,) = rule.left, constraints
        by_name = {v.name: v for v in rule.variables}
        for found in content(c.expr):
            ends = {b.lo: integer(c.lo), b.hi: integer(c.hi)}
            yield {**{by_name[n]: e for n, e in found.items()}, **ends}  # type: ignore[dict-item]
        return
    partial: list[dict[Var, Expr]] = [{}]
    for b, c in zip(rule.left, constraints, strict=True):
        parts = ((b.lo, integer(c.lo)), (b.hi, integer(c.hi)), (b.e, c.expr))
        for pattern, target in parts:
            grown = []
            for bound in partial:
                grown += [
                    {**bound, **more}
                    for more in bindings(pattern, target)
                    if all(bound.get(v, e) is e for v, e in more.items())
                ]
            partial = grown
    for bound in partial:
        if rule.choose == "least_common_multiple":
            named = {v.name: e.value for v, e in bound.items() if isinstance(e, Int)}
            chosen = least_common_multiple(*(named[n] for n in "msnt"))
            if chosen is not None:
                yield {**bound, **{v: chosen[v.name] for v in rule.variables if v.name in chosen}}
        else:
            yield bound


def _shifted_variable(e: Expr) -> tuple[Var, int, int] | None:
    """``±v + n`` as ``(v, ±1, n)``."""
    if isinstance(e, Var):
        return e, 1, 0
    if (
        isinstance(e, Sum)
        and len(e.terms) == 1
        and isinstance(e.terms[0][0], Var)
        and abs(e.terms[0][1]) == 1
    ):
        return e.terms[0][0], e.terms[0][1], e.const
    return None


def simplify_map(m: IndexingMap, rules: RuleSet, trace: Trace | None = None) -> IndexingMap:
    """An equal map (same relation on every value of the runtime variables) in simpler form.

    Variables keep their names, order and number.  ``trace`` collects every step.  A map whose domain is seen to be empty
    is returned with the contradiction that was found.
    """
    constraints = _Constraints(m, rules, trace)
    constraints.run()
    boxes = constraints.boxes
    facts = Facts(boxes, [(c.expr, Interval(c.lo, c.hi)) for c in constraints.open])
    steps: list[Step] | None = [] if trace is not None else None
    simplifier = Simplifier(rules, facts, steps)
    results = [simplifier(e) for e in m.results]
    rts = []
    for r in m.rts:
        source = r.source
        if source is not None:
            source = RuntimeSource(source.hlo, tuple(simplifier(e) for e in source.results))
        rts.append(replace(r, source=source))
    if trace is not None and steps:
        trace.extend(steps)
    return IndexingMap(
        tuple(_boxed(v, boxes) for v in m.dims),
        tuple(_boxed(v, boxes) for v in m.ranges),
        tuple(rts),
        tuple(results),
        tuple(constraints.open),
    )


def _boxed(v: Variable, boxes: Mapping[Var, Interval]) -> Variable:
    """The variable with its narrowed box."""
    lo, hi = boxes[v.expr]
    return replace(v, lo=int(lo), hi=int(hi))
