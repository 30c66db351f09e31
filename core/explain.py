"""Turn the trace of a simplification into a derivation, keeping only the recorded steps that the result needs.

Nothing here is trusted: :mod:`indexproof.verify.derivation` checks the derivations.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from .congruence import Congruence
from .constraint_normal import shifted_variable
from .derivation import ConstraintChange, Derivation, DerivationStep, MapChange, Part, Position, RuleStep
from .errors import IndexproofError
from .expr import Expr, Var, postorder
from .indexing_map import Constraint, IndexingMap
from .interval import Interval
from .rewrite import RuleSet
from .simplify_map import simplify_map
from .steps import Rewritten, Step, Trace


class UnexplainedError(IndexproofError):
    """The trace does not lead from the given map to the result: the simplifier recorded too little."""


def explain(m: IndexingMap, rules: RuleSet) -> Derivation:
    """Simplify ``m`` and return a derivation of the result."""
    trace: Trace = []
    return explained(m, simplify_map(m, rules, trace), trace)


def explained(before: IndexingMap, after: IndexingMap, trace: Trace) -> Derivation:
    """Return the derivation that ``trace`` implies.

    Raises :class:`UnexplainedError` where the trace does not lead from ``before`` to ``after``.
    """
    steps: list[DerivationStep] = []
    state = _State(before)
    recorded: list[Step] = []
    for entry in trace:
        match entry:
            case Step():
                recorded.append(entry)
            case Rewritten():
                state.rewrite(entry, recorded, steps)
            case ConstraintChange():
                entry = replace(entry, binding=dict(sorted(entry.binding.items())))
                state.change(entry)
                steps.append(entry)
            case MapChange():
                state.finish(entry.before, recorded, steps)
                steps.append(entry)
                state = _State(entry.after)
                recorded = []
    state.finish(after, recorded, steps)
    return Derivation(before, after, tuple(steps))


def replayed(derivation: Derivation) -> Iterator[tuple[DerivationStep, IndexingMap]]:
    """Yield each step with the map before it, to show a derivation; nothing is checked.

    The constraints of that map are those of the derivation, not merged even where two have the same expression.
    Equations of earlier steps are applied only to the result or source that the current step is about.
    """
    state = _State(derivation.before)
    for step in derivation.steps:
        if isinstance(step, RuleStep):
            state.show(step.position)
        yield step, state.current()
        match step:
            case RuleStep():
                state.say(step)
            case ConstraintChange():
                state.change(step)
            case MapChange():
                state = _State(step.after)


class _State:
    """The intermediate map at some point of a derivation."""

    def __init__(self, m: IndexingMap) -> None:
        self.map = m
        self.boxes: dict[Var, Interval] = m.bounds
        self.fixed = set(m.rt_vars)
        self.constraints = list(m.constraints)
        self.results = list(m.results)
        self.sources = m.source_indices
        #: the equations about results and sources so far, and how many of them each position shows
        self.said: list[tuple[Expr, Expr]] = []
        self.shown: dict[Position, int] = {}

    def current(self) -> IndexingMap:
        """Return the intermediate map."""
        m = self.map
        new = iter(self.sources)
        rts = tuple(r if r.source is None else r.indexed(tuple(next(new) for _ in r.source.results)) for r in m.rts)
        results, constraints = tuple(self.results), tuple(self.constraints)
        return IndexingMap._trusted(m.dims, m.ranges, rts, results, constraints, merged=True)

    # -- expressions
    def rewrite(self, entry: Rewritten, recorded: Sequence[Step], steps: list[DerivationStep]) -> None:
        """Rewrite a constraint and append the recorded steps that this needs."""
        if entry.before not in self.constraints:
            raise UnexplainedError(f"{entry.before} is no constraint of the map when it is rewritten")
        k = self.constraints.index(entry.before)
        goals = [(Position("constraint", k), entry.before.expr, entry.after.expr)]
        found = _needed(goals, [s for s in recorded if s.engine == entry.engine])
        steps += found[:-1]
        steps.append(replace(found[-1], becomes=entry.after.expr))
        self.constraints[k] = entry.after

    def finish(self, goal: IndexingMap, recorded: Sequence[Step], steps: list[DerivationStep]) -> None:
        """Derive the results and sources of ``goal``; the boxes and constraints must agree with it already."""
        if any(self.boxes.get(v.expr) != Interval(v.lo, v.hi) for v in goal.variables):
            raise UnexplainedError(f"the steps lead to the boxes {self.boxes}, not to those of {goal}")
        reached = {c.expr: c for c in IndexingMap._trusted((), (), (), (), self.constraints).constraints}
        if reached != {c.expr: c for c in goal.constraints}:
            left = ", ".join(f"{c.expr} in [{c.lo}, {c.hi}]" for c in reached.values())
            raise UnexplainedError(f"the steps lead to the constraints {left or 'none'}, not to those of {goal}")
        goals: list[tuple[Position, Expr, Expr]] = []
        parts: tuple[tuple[Part, Sequence[Expr], Sequence[Expr]], ...] = (
            ("result", self.results, goal.results),
            ("source", self.sources, goal.source_indices),
        )
        for part, have, want in parts:
            if len(have) != len(want):
                raise UnexplainedError("there are other expressions before than after")
            goals += [(Position(part, k), a, b) for k, (a, b) in enumerate(zip(have, want, strict=True))]
        steps += _needed([g for g in goals if g[1] is not g[2]], recorded)

    def say(self, step: RuleStep) -> None:
        """Record the equation of a step; the last step about a constraint rewrites the constraint."""
        part, k = step.position
        if part != "constraint":
            self.said.append((step.before, step.after))
        elif step.becomes is not None:
            self.constraints[k] = replace(self.constraints[k], expr=step.becomes)

    def show(self, position: Position) -> None:
        """Apply the equations so far to the result or source at ``position``."""
        part, k = position
        if part == "constraint":
            return
        roots = self.results if part == "result" else self.sources
        inside = set(postorder(roots[k]))
        for before, after in self.said[self.shown.get(position, 0) :]:
            if before in inside:
                roots[k] = roots[k].substitute({before: after})
                inside = set(postorder(roots[k]))
        self.shown[position] = len(self.said)

    # -- constraints
    def change(self, entry: ConstraintChange) -> None:
        """Apply one instance of a constraint rule."""
        taken: list[int] = []
        boxes: set[Var] = set()
        for n, b in enumerate(entry.before):
            v = self.box(b)
            if v in boxes:
                v = None
            # the second premise refers to the box where possible, even where an equal constraint exists
            second = n > 0 and v is not None and v not in self.fixed
            k = next((k for k, c in enumerate(self.constraints) if c == b and k not in taken), None)
            if k is not None and not second:
                taken.append(k)
            elif v is not None:
                boxes.add(v)
            else:
                raise UnexplainedError(f"{b.expr} in [{b.lo}, {b.hi}] is no constraint of the map when {entry} happens")
        stay = []
        for c in entry.after:
            at = shifted_variable(c.expr)
            if at is not None and at[0] in boxes and at[0] not in self.fixed:
                self.boxes[at[0]] = box_of(c)
            else:
                stay.append(c)
        if boxes - self.fixed:
            m = self.map
            dims, ranges = (
                tuple(v.boxed(int(i.lo), int(i.hi)) for v in g for i in [self.boxes[v.expr]])
                for g in (m.dims, m.ranges)
            )
            self.map = IndexingMap._trusted(dims, ranges, m.rts, m.results, m.constraints, merged=True)
        place = min(taken, default=len(self.constraints))
        rest = [c for k, c in enumerate(self.constraints) if k > place and k not in taken]
        self.constraints = [*self.constraints[:place], *stay, *rest]

    def box(self, b: Constraint) -> Var | None:
        """Return the variable whose box ``b`` states, or ``None``."""
        at = shifted_variable(b.expr)
        if at is None or self.boxes.get(at[0]) != box_of(b):
            return None
        return at[0]


def box_of(c: Constraint) -> Interval:
    """Return the box of v that a constraint on ``±v + n`` states."""
    at = shifted_variable(c.expr)
    assert at is not None
    _, sign, shift = at
    return Interval(c.lo, c.hi).shift(-shift).scale(sign)


def _needed(goals: Sequence[tuple[Position, Expr, Expr]], recorded: Sequence[Step]) -> list[RuleStep]:
    """Return the recorded steps that imply the goals, each with the first position that needs it.

    Raises :class:`UnexplainedError` where they do not imply the goals.
    """
    steps = list({(s.before, s.after): s for s in recorded}.values())
    while True:
        known = Congruence((s.before, s.after) for s in steps)
        places: dict[int, Position] = {}
        for place, before, after in goals:
            because = known.reasons(before, after)
            if because is None:
                raise UnexplainedError(f"the steps do not lead from {place}, {before}, to {after}")
            for n in because:
                places.setdefault(n, place)
        if len(places) == len(steps):
            return [
                RuleStep(s.rule, dict(sorted(s.bindings().items())), places[n], s.before, s.after)
                for n, s in enumerate(steps)
            ]
        steps = [steps[n] for n in sorted(places)]
