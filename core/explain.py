"""From what a simplifier recorded to a derivation: of the recorded steps those that the result needs.

Nothing here is trusted: what comes out is checked by :mod:`indexproof.verify.derivation`.
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

__all__ = ["UnexplainedError", "explain", "explained", "replayed"]


class UnexplainedError(IndexproofError):
    """A trace does not lead from the map that was given to the result: the simplifier has recorded too little."""


def explain(m: IndexingMap, rules: RuleSet) -> Derivation:
    """Simplify ``m`` and say why the result equals it."""
    trace: Trace = []
    return explained(m, simplify_map(m, rules, trace), trace)


def explained(before: IndexingMap, after: IndexingMap, trace: Trace) -> Derivation:
    """The derivation that ``trace`` tells.

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
    """Each step with the map as it stands before it; for showing a derivation, not for believing it.

    The constraints of that map are those of the derivation, one by one, even where two speak of the same expression.  Of
    results and sources only the one that the step is about shows what was said before.
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
    """A map on its way through a derivation."""

    def __init__(self, m: IndexingMap) -> None:
        self.map = m
        self.boxes: dict[Var, Interval] = m.bounds
        self.fixed = set(m.rt_vars)
        self.constraints = list(m.constraints)
        self.results = list(m.results)
        self.sources = _sources(m)
        #: What steps have said of results and sources, and how much of that each of them shows.
        self.said: list[tuple[Expr, Expr]] = []
        self.shown: dict[Position, int] = {}

    def current(self) -> IndexingMap:
        """The map as it stands."""
        m = self.map
        new = iter(self.sources)
        rts = tuple(r if r.source is None else r.indexed(tuple(next(new) for _ in r.source.results)) for r in m.rts)
        results, constraints = tuple(self.results), tuple(self.constraints)
        return IndexingMap._trusted(m.dims, m.ranges, rts, results, constraints, merged=True)

    # -- expressions
    def rewrite(self, entry: Rewritten, recorded: Sequence[Step], steps: list[DerivationStep]) -> None:
        """Rewrite a constraint, and say by which of the recorded steps."""
        if entry.before not in self.constraints:
            raise UnexplainedError(f"{entry.before} is no constraint of the map when it is rewritten")
        k = self.constraints.index(entry.before)
        goals = [(Position("constraint", k), entry.before.expr, entry.after.expr)]
        found = _needed(goals, [s for s in recorded if s.engine == entry.engine])
        steps += found[:-1]
        steps.append(replace(found[-1], becomes=entry.after.expr))
        self.constraints[k] = entry.after

    def finish(self, goal: IndexingMap, recorded: Sequence[Step], steps: list[DerivationStep]) -> None:
        """Rewrite results and sources to those of ``goal``; everything else must be as there already."""
        if any(self.boxes.get(v.expr) != Interval(v.lo, v.hi) for v in goal.variables):
            raise UnexplainedError(f"the steps lead to the boxes {self.boxes}, not to those of {goal}")
        reached = {c.expr: c for c in IndexingMap._trusted((), (), (), (), self.constraints).constraints}
        if reached != {c.expr: c for c in goal.constraints}:
            left = ", ".join(f"{c.expr} in [{c.lo}, {c.hi}]" for c in reached.values())
            raise UnexplainedError(f"the steps lead to the constraints {left or 'none'}, not to those of {goal}")
        goals: list[tuple[Position, Expr, Expr]] = []
        parts: tuple[tuple[Part, Sequence[Expr], Sequence[Expr]], ...] = (
            ("result", self.results, goal.results),
            ("source", self.sources, _sources(goal)),
        )
        for part, have, want in parts:
            if len(have) != len(want):
                raise UnexplainedError("there are other expressions before than after")
            goals += [(Position(part, k), a, b) for k, (a, b) in enumerate(zip(have, want, strict=True))]
        steps += _needed([g for g in goals if g[1] is not g[2]], recorded)

    def say(self, step: RuleStep) -> None:
        """Note what a step says; the last one about a constraint rewrites it."""
        part, k = step.position
        if part != "constraint":
            self.said.append((step.before, step.after))
        elif step.becomes is not None:
            self.constraints[k] = replace(self.constraints[k], expr=step.becomes)

    def show(self, position: Position) -> None:
        """Put what steps have said into a result or a source, where it can be seen there."""
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
        """One application of a constraint rule."""
        taken: list[int] = []
        boxes: set[Var] = set()
        for n, b in enumerate(entry.before):
            v = self.box(b)
            if v in boxes:
                v = None
            # of two, the second is the box where it can be; a constraint may say the same
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
        """The variable whose box ``b`` states."""
        at = shifted_variable(b.expr)
        if at is None or self.boxes.get(at[0]) != box_of(b):
            return None
        return at[0]


def box_of(c: Constraint) -> Interval:
    """The box of v that a constraint on ``±v + n`` states."""
    at = shifted_variable(c.expr)
    assert at is not None
    _, sign, shift = at
    return Interval(c.lo, c.hi).shift(-shift).scale(sign)


def _sources(m: IndexingMap) -> list[Expr]:
    """The indices of all runtime sources."""
    return [e for r in m.rts if r.source is not None for e in r.source.results]


def _needed(goals: Sequence[tuple[Position, Expr, Expr]], recorded: Sequence[Step]) -> list[RuleStep]:
    """The recorded steps from which the goals follow, each with the place where it is needed first.

    Raises :class:`UnexplainedError` where they do not follow.
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
