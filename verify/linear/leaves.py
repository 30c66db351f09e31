"""Closing leaves of a proof: the facts of a case contradict the negated goals, by bounds alone or by linear questions.

Instances of lemmas are added lazily: those that a model of the question violates.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from ...core.condition import Condition
from .bounds import Bounds
from .case import Witness, best_definition
from .formula import FALSE, TRUE, All, AtLeast, Formula, Some, Zero, at_least, substitute, zero
from .lemmas import Instance, Setting, pool
from .polynomial import ONE, Monomial, Poly, Values
from .question import Leaf, LinearQuestion, Meter
from .reading import Reading
from .record import LinearFact, Log, Node, Reason, Resolved, Unrecorded


@dataclass(frozen=True)
class ReductionBudget:
    """Machine-independent limits: z3 resource units for one question, and counts.

    ``patient`` allows further attempts where the first one does not prove a claim.
    """

    rlimit: int = 3_000_000
    questions: int = 200
    instances: int = 20_000
    readings: int = 400
    leaves: int = 96
    rounds: int = 30
    patient: bool = True


class Exhausted(Exception):
    """A limit of the budget has been exceeded."""


@dataclass
class _State:
    """The facts, divisions and extrema of a leaf."""

    facts: list[LinearFact]
    witnesses: list[Witness]
    choices: list[tuple[Poly, tuple[Poly, ...]]]

    def substituted(self, values: dict[str, Poly], dropped: LinearFact) -> _State:
        """Return the state after a substitution, without the equation that gave it."""
        moved = (_substituted(f, values, dropped) for f in self.facts if f is not dropped)
        facts = [f for f in moved if f.formula != TRUE]
        choices = [(m.substitute(values), tuple(o.substitute(values) for o in os)) for m, os in self.choices]
        return _State(facts, [w.substitute(values) for w in self.witnesses], choices)


def _substituted(f: LinearFact, values: dict[str, Poly], equation: LinearFact) -> LinearFact:
    """Return a fact after a substitution, with the reason if it changed."""
    g = substitute(f.formula, values)
    if g == f.formula:
        return f
    return LinearFact(g, f.why, Reason("substitution", {"values": values, "equation": equation, "of": f}))


class Leaves:
    """The closed leaves, the solver that closed them, and the budget."""

    def __init__(self, budget: ReductionBudget, record: bool) -> None:
        self.budget = budget
        self.record = record
        self.meter = Meter(budget.rlimit)
        self.closed: list[Leaf] = []
        self._instances = 0

    def add(self, facts: Iterable[LinearFact]) -> None:
        """Add a closed leaf.  Raises :class:`Exhausted` if there are too many."""
        self.closed.append(tuple(facts))
        if len(self.closed) > self.budget.leaves:
            raise Exhausted

    def close(
        self, reading: Reading, goals: Sequence[Condition], refuted: Sequence[Formula], patient: bool
    ) -> list[Node] | None:
        """Return a proof of each goal in the case that was read, or ``None``; proved goals are facts for later ones."""
        parts: list[Node] = []
        open_ = []
        for goal, negated in zip(goals, refuted, strict=True):
            found = self._certified(negated, reading)
            if found is None:
                open_.append((goal, negated))
            else:
                parts.append({"goal": goal, "refute": found})
        if not open_:
            return parts
        reading.divide_bounds()
        state = _State(reading.facts, reading.witnesses, reading.choices)
        shown: list[LinearFact] = []
        for goal, negated in open_:
            found = self._certified(negated, reading)
            if found is None:
                known = replace(state, facts=[*state.facts, *shown])
                found = self._refuted(known, negated, patient)
                if found is None:
                    return None
                shown.append(LinearFact(reading.formula(goal), "shown"))
            parts.append({"goal": goal, "refute": found})
        return parts

    # -- one leaf
    def _certified(self, refuted: Formula, reading: Reading) -> list[LinearFact] | None:
        """Return facts that refute the negated goal by bounds alone, with it, or ``None``."""
        shown: list[LinearFact] = []
        if not _impossible(refuted, reading.bounds, shown, reading.log):
            return None
        facts = [*shown, LinearFact(refuted, "negated goal")]
        self.add(facts)
        return facts

    def _refuted(self, state: _State, refuted: Formula, patient: bool) -> list[LinearFact] | None:
        """Return facts that contradict the negated goal in linear arithmetic, with it, or ``None``."""
        levels = (2,) if patient else (0, 1)
        negated = LinearFact(refuted, "negated goal")
        careful = _solved(state, negated, eager=False)
        found = self._ask(*careful, levels=levels)
        if found is not None:
            return found
        eager = _solved(state, negated, eager=True)
        return self._ask(*eager, levels=levels) if eager[0].facts != careful[0].facts else None

    def _ask(self, state: _State, negated: LinearFact, levels: Sequence[int]) -> list[LinearFact] | None:
        refuted = negated.formula
        if refuted == FALSE or any(f.formula == FALSE for f in state.facts):
            facts = [*(f for f in state.facts if f.formula == FALSE), negated]
            self.add(facts)
            return facts
        if self.meter.questions > self.budget.questions:
            raise Exhausted
        question = LinearQuestion(self.meter)
        question.add(f.formula for f in state.facts)
        question.add([refuted])
        if question.contradictory():
            facts = [*state.facts, negated]
            self.add(facts)
            return facts
        setting, bounds = _setting(state, refuted)
        log = None
        if self.record:
            log = Log()
            for f in state.facts:
                log.add(f)
        near = setting.near()
        used: list[Instance] = []
        for level in levels:
            instances = pool(setting if level else near, max(level, 1))
            self._instances += len(instances)
            if self._instances > self.budget.instances:
                raise Exhausted
            if self._contradicted(question, instances, used):
                facts = [*state.facts, *(_instance(i, bounds, log) for i in used), negated]
                self.add(facts)
                return facts
        return None

    def _contradicted(self, question: LinearQuestion, instances: Sequence[Instance], used: list[Instance]) -> bool:
        """Return whether adding violated instances makes the question unsatisfiable."""
        left = list(instances)
        wanted = sorted({m for i in left for p in i.polynomials() for m in p.terms if m})
        batch = 10
        for _ in range(self.budget.rounds):
            if not self.budget.patient and self.meter.questions > self.budget.questions:
                raise Exhausted
            if question.undecided:
                return False
            values = _completed(question.model(), wanted)
            violated: list[Instance] = []
            kept: list[Instance] = []
            for n, i in enumerate(left):
                if len(violated) >= batch:
                    kept += left[n:]
                    break
                (kept if i.holds(values) else violated).append(i)
            if not violated:
                return False
            left = kept
            used += violated
            question.add(i.formula for i in violated)
            if question.contradictory():
                return True
            batch = batch + batch // 2
        used += left
        question.add(i.formula for i in left)
        return question.contradictory()


def _instance(i: Instance, bounds: Bounds, log: Log | None) -> LinearFact:
    """Return an instance of a lemma as a fact, with the evidence of its premises if a log is kept."""
    if log is None:
        return i.fact
    given: list[tuple[Poly, Resolved | LinearFact]] = []
    for p, relation in i.premises:
        if relation == "=":
            equal = next((f for f in log.entries if isinstance(f, LinearFact) and f.formula == zero(p)), None)
            if equal is None:
                raise Unrecorded(f"{p} = 0")
            given.append((p, equal))
        elif bounds.certain(p):
            log.settle(bounds)
            given.append((p, log.resolved(bounds.evidence(p))))
        else:
            raise Unrecorded(f"{p} is not negative")
    data = {"lemma": i.name, "with": i.binding, "given": given}
    return LinearFact(i.formula, f"lemma: {i.name}", Reason("lemma", data))


def _completed(model: dict[Monomial, int], wanted: Iterable[Monomial]) -> dict[Monomial, int]:
    """Complete a model: a monomial that the question does not mention is the product of its names' values."""
    values = Values(model)
    return model | {m: values[m] for m in wanted}


def _impossible(f: Formula, bounds: Bounds, shown: list[LinearFact], log: Log | None) -> bool:
    """Return whether bounds refute ``f``; the refuting facts are added to ``shown``."""
    sides: tuple[Poly, ...] = ()
    match f:
        case AtLeast(p):
            sides = (-p - ONE,)
        case Zero(p):
            sides = (p - ONE, -p - ONE)
        case All(parts):
            return any(_impossible(g, bounds, shown, log) for g in parts)
        case Some(parts):
            return all(_impossible(g, bounds, shown, log) for g in parts)
    for side in sides:
        if bounds.certain(side):
            why = {} if log is None else {"evidence": log.resolved(bounds.evidence(side)), "of": side}
            reason = Reason("combination", why) if why else None
            shown.append(LinearFact(at_least(side), "lemma: certificate", reason))
            return True
    return False


def _setting(state: _State, refuted: Formula) -> tuple[Setting, Bounds]:
    bounds = Bounds()
    for f in state.facts:
        if isinstance(f.formula, AtLeast):
            bounds.learn(f.formula.p)
    bounds.settle()
    formulas = [f.formula for f in state.facts]
    setting = Setting(
        [f.p for f in formulas if isinstance(f, Zero)],
        [f.p for f in formulas if isinstance(f, AtLeast)],
        [f for f in formulas if isinstance(f, (All, Some))],
        refuted,
        state.witnesses,
        bounds.low,
        state.choices,
        bounds.certain,
    )
    return setting, bounds


def _solved(state: _State, refuted: LinearFact, *, eager: bool) -> tuple[_State, LinearFact]:
    """Solve equations for names and substitute; equations that define quotients only when ``eager``."""
    for _ in range(40):
        usable = (f for f in state.facts if eager or not f.why.startswith("quotient"))
        best = best_definition(usable)
        if best is None:
            break
        v, value, equation = best
        state = state.substituted({v: value}, equation)
        refuted = _substituted(refuted, {v: value}, equation)
    return state, refuted
