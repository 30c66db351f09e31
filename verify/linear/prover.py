"""The search: sign cases, goals one by one, lemmas as models violate them, and splits as a last resort."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from ...core.condition import FALSE as FALSE_CONDITION
from ...core.condition import Compare, Condition, Within, all_exprs
from ...core.expr import Expr, Max, Min, Mul, Var, postorder
from ..preprocess import lower_bounds, mentioned
from .bounds import Bounds
from .case import Case, Contradiction, Definition, Names, NeedSign, Witness, name_of, rank
from .facts import cofactors
from .formula import (
    FALSE,
    TRUE,
    All,
    AtLeast,
    Formula,
    Some,
    Zero,
    at_least,
    nonzero,
    substitute,
    zero,
)
from .leaf import Leaf
from .lemmas import Instance, Setting, pool
from .polynomial import ONE, Monomial, Poly, variable
from .question import Meter, Question
from .reading import (
    Reading,
    conjuncts,
    divides_somewhere,
    extrema,
)
from .record import Fact, Log, Node, Reason, Resolved, Unrecorded

__all__ = ["Budget", "Outcome", "explain", "prove"]


@dataclass(frozen=True)
class Budget:
    """Limits that do not depend on the machine: z3 resource units for one question, and counts.

    ``patient`` allows further ways of reading a claim where the first one leaves it open.
    """

    rlimit: int = 3_000_000
    questions: int = 200
    instances: int = 20_000
    readings: int = 400
    leaves: int = 96
    splits: int = 6
    rounds: int = 30
    patient: bool = True


@dataclass(frozen=True)
class Outcome:
    """Whether the claim was proved, by which leaves and at what cost (z3 resource units).

    ``strategy`` is ``identity`` where no solver was asked.  ``steps`` names what was done, each once, in
    order.  ``proof`` is there if it was to be recorded.
    """

    proved: bool
    strategy: str
    leaves: tuple[Leaf, ...]
    steps: tuple[str, ...]
    resources: int
    questions: int
    reason: str = ""
    proof: Node | None = field(default=None, compare=False, repr=False)


class _Exhausted(Exception):
    """A count of the budget has been reached."""


def prove(
    hypotheses: Sequence[Condition],
    goal: Condition,
    *,
    budget: Budget | None = None,
    assume_defined: bool = False,
    record: bool = False,
) -> Outcome:
    """Try to prove that the hypotheses imply the goal for all integers.

    A division by zero is an unknown integer; with ``assume_defined`` the caller vouches, by a proof of its
    own, that no divisor in the claim is zero.  With ``record`` a proof is found of which a certificate can be
    written; that takes longer, and there are claims that can be proved in other ways only.
    """
    search = _Search(budget or Budget(), assume_defined, record)
    reason = ""
    known, shown, inlined = _inlined(conjuncts(hypotheses), goal)
    proof: Node | None = None
    try:
        proof = search.prove(known, _goals(shown), 0)
    except _Exhausted as limit:
        reason = str(limit)
    proved = proof is not None
    if not proved and not reason:
        reason = search.reason
    for v, e in reversed(inlined):
        proof = proof and {"step": "inline", "variable": v, "term": e, "then": proof}
    asked = search.meter.questions
    steps = dict.fromkeys(s.partition(":")[0] for leaf in search.leaves for s in (*leaf.steps, *leaf.lemmas))
    return Outcome(
        proved,
        "linear" if asked else "identity",
        tuple(search.leaves),
        tuple(steps),
        search.meter.spent,
        asked,
        reason,
        proof if record else None,
    )


def explain(outcome: Outcome) -> str:
    """The proof, or how far it came, as text."""
    counts = (
        f"{len(outcome.leaves)} leaves, {outcome.questions} questions, {outcome.resources:,} resource units"
    )
    lines = [f"{'proved' if outcome.proved else 'not proved'} by {outcome.strategy}: {counts}"]
    if outcome.reason:
        lines.append(f"  because {outcome.reason}")
    for n, leaf in enumerate(outcome.leaves):
        lines.append(f"leaf {n + 1}, closed by {leaf.closed}")
        lines += [f"  step   {s}" for s in leaf.steps]
        lines += [f"  fact   {f.formula}   ({f.why})" for f in leaf.facts[:-1]]
        lines += [f"  refute {f.formula}" for f in leaf.facts[-1:]]
    return "\n".join(lines)


def _goals(goal: Condition) -> list[Condition]:
    out: list[Condition] = []
    for g in conjuncts((goal,)):
        if isinstance(g, Within):
            out += [g.lo <= g.e, g.e <= g.hi]
        else:
            out.append(g)
    return out


def _close_to(goal: Condition, hypotheses: Sequence[Condition], strange: int) -> list[Condition]:
    """Hypotheses with at most so many variables that the goal does not have; fewer facts also prove it."""
    own = mentioned(goal)
    return [h for h in hypotheses if len(mentioned(h) - own) <= strange]


@dataclass
class _State:
    """The facts of a leaf; equations that define quotients apart."""

    facts: list[Fact]
    witnesses: list[Witness]
    choices: list[tuple[Poly, tuple[Poly, ...]]]
    steps: list[str]

    def substituted(self, values: dict[str, Poly], dropped: Fact, step: str) -> _State:
        """The state after an equation has been used up."""
        moved = (_substituted(f, values, dropped) for f in self.facts if f is not dropped)
        facts = [f for f in moved if f.formula != TRUE]
        choices = [(m.substitute(values), tuple(o.substitute(values) for o in os)) for m, os in self.choices]
        return _State(facts, [w.substitute(values) for w in self.witnesses], choices, [*self.steps, step])


def _substituted(f: Fact, values: dict[str, Poly], equation: Fact) -> Fact:
    """A fact after an equation has been used."""
    g = substitute(f.formula, values)
    if g == f.formula:
        return f
    return Fact(g, f.why, Reason("substitution", {"values": values, "equation": equation, "of": f}))


@dataclass(frozen=True)
class _Way:
    """How an attempt reads and how long its pools of lemmas are."""

    eager: bool = False
    goals_first: bool = False
    patient: bool = False


_QUICK = _Way()
_PATIENT = _Way(patient=True)
#: The signs of at most so many factors are told apart.
_SIGNED = 2
_WAYS = (
    _Way(eager=True),
    _Way(eager=True, goals_first=True),
    _PATIENT,
    _Way(eager=True, patient=True),
)


class _Search:
    def __init__(self, budget: Budget, assume_defined: bool, record: bool = False) -> None:
        self.budget = budget
        self.assume_defined = assume_defined
        self.record = record
        self.meter = Meter(budget.rlimit)
        self.leaves: list[Leaf] = []
        self.names = Names()
        self._instances = 0
        self.reason = ""

    # -- attempts
    def prove(self, hypotheses: Sequence[Condition], goals: Sequence[Condition], depth: int) -> Node | None:
        """Everything at once; then goal by goal, patiently; then by cases of a minimum or maximum."""
        if node := self._attempt(hypotheses, goals, _QUICK):
            return node
        if not self.budget.patient:
            return None
        if len(goals) == 1:
            return self._one(hypotheses, goals[0], depth)
        shown: list[Condition] = []
        parts: list[Node] = []
        open_ = list(goals)
        while open_:
            left = []
            for g in open_:
                known = [*hypotheses, *shown]
                if node := self._attempt(known, [g], _QUICK) or self._one(known, g, depth):
                    shown.append(g)
                    parts.append({"goal": g, "proof": node})
                else:
                    left.append(g)
            if len(left) == len(open_):
                return None
            open_ = left
        return {"step": "goals", "parts": parts}

    def _one(self, hypotheses: Sequence[Condition], goal: Condition, depth: int) -> Node | None:
        known = len(hypotheses)
        for strange in (1, 0):
            # what a size divides besides says nothing of a goal in which it does not occur, and is in the way
            close = _close_to(goal, hypotheses, strange)
            if len(close) < known and (node := self._attempt(close, [goal], _WAYS[0])):
                return node
            known = len(close)
        for way in _WAYS:
            if node := self._attempt(hypotheses, [goal], way):
                return node
        return self._split(hypotheses, goal, depth) or (None if depth else self._by_factors(hypotheses, goal))

    def _attempt(
        self,
        hypotheses: Sequence[Condition],
        goals: Sequence[Condition],
        way: _Way,
        signs: Sequence[tuple[Poly, int]] = (),
    ) -> Node | None:
        """One way to prove all goals; what it leaves behind is kept only if it succeeds."""
        before = len(self.leaves)
        try:
            if node := self._claim(hypotheses, goals, way, signs):
                return node
        except Unrecorded as gap:
            self.reason = f"a certificate cannot say that {gap}"
        del self.leaves[before:]
        return None

    def _by_factors(self, hypotheses: Sequence[Condition], goal: Condition) -> Node | None:
        """Apart for the signs of variables in products, those that occur most often first."""
        names = _factors([*hypotheses, goal])
        before = len(self.leaves)
        found: dict[str, Node] = {}
        todo: list[tuple[tuple[tuple[Poly, int], ...], dict[str, Node], str]] = [((), found, "root")]
        while todo:
            signs, place, key = todo.pop()
            if signs:
                for way in (_QUICK, _PATIENT):
                    if node := self._attempt(hypotheses, [goal], way, signs):
                        place[key] = node
                        break
                else:
                    node = None
                if node:
                    continue
            if len(signs) == min(len(names), _SIGNED):
                del self.leaves[before:]
                return None
            p = variable(names[len(signs)])
            cases: dict[str, Node] = {}
            place[key] = {"step": "factor", "of": p, "cases": cases}
            todo += [((*signs, (p, s)), cases, str(s)) for s in (0, -1, 1)]
        return found["root"]

    def _split(self, hypotheses: Sequence[Condition], goal: Condition, depth: int) -> Node | None:
        """Apart for each argument of a minimum or maximum as the extreme one."""
        if depth >= self.budget.splits:
            return None
        for node in extrema([*hypotheses, goal]):
            before = len(self.leaves)
            cases: list[Node] = []
            for k, chosen in enumerate(node.args):
                others = [x for n, x in enumerate(node.args) if n != k]
                given = [chosen <= x if isinstance(node, Min) else chosen >= x for x in others]
                one: dict[Expr, Expr] = {node: chosen}
                try:
                    assumed = conjuncts([*(h.substitute(one) for h in hypotheses), *given])
                    chosen_goals = _goals(goal.substitute(one))
                except ZeroDivisionError:
                    # the extreme argument is a literal zero, and a divisor
                    chosen_goals = [FALSE_CONDITION]
                    assumed = conjuncts(given)
                proof = self.prove(assumed, chosen_goals, depth + 1)
                if proof is None:
                    del self.leaves[before:]
                    return None
                cases.append(proof)
            return {"step": "choice", "term": node, "cases": cases}
        return None

    # -- cases
    def _claim(
        self,
        hypotheses: Sequence[Condition],
        goals: Sequence[Condition],
        way: _Way,
        signs: Sequence[tuple[Poly, int]],
    ) -> Node | None:
        """All sign cases of all goals, those of the polynomials in ``signs`` decided."""
        found: dict[str, Node] = {}
        first = Case()
        place, key = found, "root"
        for d in _defined_by_equations(hypotheses, goals):
            first, place, key = self._defined(first, [d], None, place, key)
        for p, s in signs:
            before, first = first, first.with_sign(p, s)
            place, key = self._signed(before, first, p, s, place, key)
        todo: list[tuple[Case, dict[str, Node], str]] = [(first, place, key)]
        read = 0
        while todo:
            case, place, key = todo.pop()
            read += 1
            if read > self.budget.readings:
                self.reason = f"more than {self.budget.readings} sign cases and definitions"
                return None
            refine = len(case.definitions) < 40
            log = Log() if self.record else None
            try:
                reading = Reading(
                    case,
                    self.names,
                    assume_defined=self.assume_defined,
                    refine=refine,
                    eager=way.eager,
                    log=log,
                )
                refuted = reading.read(hypotheses, goals, goals_first=way.goals_first)
            except NeedSign as need:
                cases: dict[str, Node] = {}
                place[key] = {
                    "step": "sign",
                    "log": log,
                    "of": need.poly,
                    "divisor": need.divisor,
                    "excluded": {str(s): e for s, e in need.excluded.items() if s not in need.options},
                    "cases": cases,
                }
                for s in reversed(need.options):
                    after = case.with_sign(need.poly, s)
                    todo.append((after, *self._signed(case, after, need.poly, s, cases, str(s))))
                continue
            except Contradiction as contradiction:
                self._leaf([contradiction.fact], case.steps, "identity")
                place[key] = {"step": "leaf", "log": log, "parts": [{"refute": [contradiction.fact]}]}
                continue
            found_definitions = (
                reading.defining or reading.negative(refuted) or [d for d in (reading.solve(),) if d]
            )
            if found_definitions:
                todo.append(self._defined(case, found_definitions, log, place, key))
                continue
            parts = self._close(reading, goals, refuted, way.patient)
            if parts is None:
                return None
            place[key] = {"step": "leaf", "log": log, "parts": parts}
        return found["root"]

    def _defined(
        self, case: Case, definitions: Sequence[Definition], log: Log | None, place: dict[str, Node], key: str
    ) -> tuple[Case, dict[str, Node], str]:
        """The case with definitions, and where its proof goes."""
        made = []
        for d in definitions:
            before, case = case, case.with_definition(d)
            if d.name in case.definitions and d.name not in before.definitions:
                made.append({"name": d.name, "value": case.definitions[d.name], "equation": d.equation})
        node: Node = {"step": "define", "log": log, "define": made}
        place[key] = node
        return case, node, "then"

    def _signed(
        self, before: Case, after: Case, p: Poly, s: int, place: dict[str, Node], key: str
    ) -> tuple[dict[str, Node], str]:
        """Where the proof of a sign case goes: below the definition that the sign makes."""
        made = [
            {"name": v, "value": value, "equation": None if s else "sign"}
            for v, value in after.definitions.items()
            if v not in before.definitions
        ]
        if not made:
            return place, key
        node: Node = {"step": "define", "log": None, "define": made}
        place[key] = node
        return node, "then"

    def _leaf(self, facts: Iterable[Fact], steps: Iterable[str], closed: str) -> None:
        kept = tuple(facts)
        lemmas = dict.fromkeys(f.why.removeprefix("lemma: ") for f in kept if f.why.startswith("lemma: "))
        self.leaves.append(Leaf(kept, tuple(steps), tuple(lemmas), closed))
        if len(self.leaves) > self.budget.leaves:
            raise _Exhausted(f"more than {self.budget.leaves} leaves")

    def _close(
        self, reading: Reading, goals: Sequence[Condition], refuted: Sequence[Formula], patient: bool
    ) -> list[Node] | None:
        steps = [*reading.case.steps, *reading.used]
        parts: list[Node] = []
        open_ = []
        for goal, negated in zip(goals, refuted, strict=True):
            found = self._certified(negated, reading, steps)
            if found is None:
                open_.append((goal, negated))
            else:
                parts.append({"goal": goal, "refute": found})
        if not open_:
            return parts
        reading.divide_bounds()
        state = _State(reading.facts, reading.witnesses, reading.choices, steps)
        shown: list[Fact] = []
        for goal, negated in open_:
            found = self._certified(negated, reading, steps)
            if found is None:
                known = replace(state, facts=[*state.facts, *shown])
                found = self._refuted(known, negated, patient)
                if found is None:
                    self.reason = f"a leaf is left open: {negated}"
                    return None
                shown.append(Fact(reading.formula(goal), "shown", Reason("shown", {"goal": goal})))
            parts.append({"goal": goal, "refute": found})
        return parts

    # -- one leaf
    def _certified(self, refuted: Formula, reading: Reading, steps: Sequence[str]) -> list[Fact] | None:
        """What shows that the negated goal is false, if certificates alone do."""
        shown: list[Fact] = []
        if not _impossible(refuted, reading.bounds, shown, reading.log):
            return None
        facts = [*shown, Fact(refuted, "negated goal", Reason("negated goal"))]
        self._leaf(facts, steps, "certificate" if shown else "identity")
        return facts

    def _refuted(self, state: _State, refuted: Formula, patient: bool) -> list[Fact] | None:
        """Facts that contradict the negated goal, with it."""
        levels = (2,) if patient else (0, 1)
        negated = Fact(refuted, "negated goal", Reason("negated goal"))
        careful = _solved(state, negated, eager=False)
        found = self._ask(*careful, levels=levels)
        if found is not None:
            return found
        eager = _solved(state, negated, eager=True)
        return self._ask(*eager, levels=levels) if eager[0].steps != careful[0].steps else None

    def _ask(self, state: _State, negated: Fact, levels: Sequence[int], nested: int = 0) -> list[Fact] | None:
        refuted = negated.formula
        if refuted == FALSE or any(f.formula == FALSE for f in state.facts):
            facts = [*(f for f in state.facts if f.formula == FALSE), negated]
            self._leaf(facts, state.steps, "identity")
            return facts
        if self.meter.questions > self.budget.questions:
            raise _Exhausted(f"more than {self.budget.questions} questions")
        question = Question(self.meter)
        question.add(f.formula for f in state.facts)
        question.add([refuted])
        if question.contradictory():
            facts = [*state.facts, negated]
            self._leaf(facts, state.steps, "solver")
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
            instances, differences = pool(setting if level else near, max(level, 1))
            self._instances += len(instances)
            if self._instances > self.budget.instances:
                raise _Exhausted(f"more than {self.budget.instances:,} instances of lemmas")
            closed, values = self._violated(question, instances, used)
            if closed:
                facts = [*state.facts, *(_instance(i, bounds, log) for i in used), negated]
                self._leaf(facts, state.steps, "solver")
                return facts
            if values is None or nested >= 2:
                continue
            derived = self._derived(question, differences, values, state, used, negated, bounds, log)
            if derived:
                facts = [*state.facts, *derived]
                more = replace(state, facts=facts)
                found = self._ask(*_solved(more, negated, eager=True), levels=(level,), nested=nested + 1)
                if found is not None:
                    return found
        return None

    def _violated(
        self, question: Question, instances: Sequence[Instance], used: list[Instance]
    ) -> tuple[bool, dict[Monomial, int] | None]:
        """Add instances that the current model violates until none is left, or there is no model."""
        left = list(instances)
        wanted = sorted({m for i in left for p in i.polynomials() for m in p.terms if m})
        batch = 10
        for _ in range(self.budget.rounds):
            if not self.budget.patient and self.meter.questions > self.budget.questions:
                raise _Exhausted(f"more than {self.budget.questions} questions")
            if question.undecided:
                return False, None
            values = _completed(question.model(), wanted)
            violated: list[Instance] = []
            kept: list[Instance] = []
            for n, i in enumerate(left):
                if len(violated) >= batch:
                    kept += left[n:]
                    break
                (kept if i.holds(values) else violated).append(i)
            if not violated:
                return False, values
            left = kept
            used += violated
            question.add(i.formula for i in violated)
            if question.contradictory():
                return True, None
            batch = batch + batch // 2
        used += left
        question.add(i.formula for i in left)
        if question.contradictory():
            return True, None
        return False, None if question.undecided else _completed(question.model(), wanted)

    def _derived(
        self,
        question: Question,
        differences: Sequence[Poly],
        values: dict[Monomial, int],
        state: _State,
        used: Sequence[Instance],
        negated: Fact,
        bounds: Bounds,
        log: Log | None,
    ) -> list[Fact]:
        """Differences that the facts force to be zero; each leaves a leaf of its own."""
        found: list[Fact] = []
        facts: list[Fact] = []
        for d in differences:
            if len(d) < 2 or any(m and m not in values for m in d.terms) or d.value(values):
                continue
            if question.contradictory_with([nonzero(d)]):
                facts = facts or [*state.facts, negated, *(_instance(i, bounds, log) for i in used)]
                self._leaf([*facts, Fact(nonzero(d), "negated goal")], state.steps, "solver")
                found.append(Fact(zero(d), "derived", Reason("derived", {"zero": d, "from": facts})))
        return found


def _instance(i: Instance, bounds: Bounds, log: Log | None) -> Fact:
    """An instance of a lemma as a fact; why its premises hold, where that is recorded."""
    if log is None:
        return i.fact
    given: list[Resolved | Fact] = []
    for p, relation in i.premises:
        if relation == "=":
            equal = next((f for f in log.entries if isinstance(f, Fact) and f.formula == zero(p)), None)
            if equal is None:
                raise Unrecorded(f"{p} = 0")
            given.append(equal)
        elif bounds.certain(p):
            given.append(_with_settled(bounds, log).resolved(bounds.evidence(p)))
        else:
            raise Unrecorded(f"{p} is not negative")
    data = {"lemma": i.name, "with": i.binding, "given": given}
    return Fact(i.formula, f"lemma: {i.name}", Reason("lemma", data))


def _with_settled(bounds: Bounds, log: Log) -> Log:
    """A log to which the bounds of names that follow from facts have been added."""
    for p, evidence in bounds.settled.items():
        data = {"evidence": log.resolved(evidence)}
        log.add(Fact(AtLeast(p), "combination", Reason("combination", data)))
    bounds.settled.clear()
    return log


def _factors(conditions: Sequence[Condition]) -> list[str]:
    """The names of variables in products whose sign is not plain, the commonest first."""
    found: Counter[str] = Counter()
    for node in postorder(*(e for c in conditions for e in all_exprs(c))):
        if isinstance(node, Mul):
            found.update(name_of(v) for v in node.factors if isinstance(v, Var))
    plain = {name_of(v) for v, least in lower_bounds(conditions[:-1]).items() if least >= 1}
    ordered = sorted(found.items(), key=lambda item: (-item[1], item[0]))
    return [name for name, _ in ordered if name not in plain]


def _completed(model: dict[Monomial, int], wanted: Iterable[Monomial]) -> dict[Monomial, int]:
    """Values for all monomials: products where the question leaves them open."""
    values = dict(model)
    for m in wanted:
        if m not in values:
            total = 1
            for v in m:
                total *= values.get((v,), 0)
            values[m] = total
    return values


def _impossible(f: Formula, bounds: Bounds, shown: list[Fact], log: Log | None) -> bool:
    """Whether ``f`` is false by certificates, which are added to ``shown``."""
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
            reason = None
            if log is not None:
                reason = Reason("combination", {"evidence": log.resolved(bounds.evidence(side)), "of": side})
            shown.append(Fact(at_least(side), "lemma: certificate", reason))
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


# --------------------------------------------------------------------------------------------------------
# substitution
def _inlined(
    hypotheses: list[Condition], goal: Condition
) -> tuple[list[Condition], Condition, list[tuple[Var, Expr]]]:
    """The claim with variables replaced that a hypothesis says to be a term with divisions.

    What is then divided is known by its digits, where the equation would have to be solved for them.
    """
    known = hypotheses
    replaced: list[tuple[Var, Expr]] = []
    for _ in range(_INLINED):
        found = next(((n, d) for n, h in enumerate(known) if (d := _term_of(h)) is not None), None)
        if found is None:
            break
        n, (v, e) = found
        one: dict[Expr, Expr] = {v: e}
        try:
            known, goal = (
                conjuncts(h.substitute(one) for k, h in enumerate(known) if k != n),
                goal.substitute(one),
            )
        except ZeroDivisionError:
            break
        replaced.append((v, e))
    return known, goal, replaced


#: So many variables are replaced by terms.
_INLINED = 12


def _term_of(h: Condition) -> tuple[Var, Expr] | None:
    """The variable and the term with divisions that an equation says to be equal."""
    if isinstance(h, Compare) and h.op == "==" and divides_somewhere(h):
        for v, e in ((h.a, h.b), (h.b, h.a)):
            if isinstance(v, Var) and v not in e.variables() and not isinstance(e, _CHOICES):
                return v, e
    return None


_CHOICES = (Min, Max)


def _defined_by_equations(
    hypotheses: Sequence[Condition], goals: Sequence[Condition]
) -> Iterator[Definition]:
    """Division-free equations among the hypotheses, as definitions."""
    case = Case()
    equations = [
        h
        for h in hypotheses
        if getattr(h, "op", "") == "==" and not divides_somewhere(h) and not extrema((h,))
    ]
    if not equations:
        return
    uses: dict[str, int] = {}
    for c in (*hypotheses, *goals):
        for v in mentioned(c):
            uses[name_of(v)] = uses.get(name_of(v), 0) + 1
    for h in equations:
        a, b = (Reading(case, Names()).value(e) for e in h.exprs())
        gap = a - b
        if _of_digits(gap):
            continue
        bare = {p.single for p in (a, b)}
        units = sorted(gap.units(), key=lambda u: (u[0] not in bare, uses.get(u[0], 0), u[0]))
        if units:
            name, sign = units[0]
            equation = Fact(zero(gap), "hypothesis", Reason("equation"))
            d = Definition(name, gap.without(name) * -sign, "substitution", equation=equation)
            case = case.with_definition(d)
            yield d


def _of_digits(p: Poly) -> bool:
    """Whether two names have one sum as their stride, but for its sign: digits are compared before they are eliminated."""
    sums = [b for b in cofactors(p) if b.degree]
    return any(one in (two, -two) for one, two in itertools.combinations(sums, 2))


def _solved(state: _State, refuted: Fact, *, eager: bool) -> tuple[_State, Fact]:
    """Equations solved for a name and substituted; those that define quotients only when ``eager``."""
    for _ in range(40):
        best: tuple[tuple[int, int, int, str], Fact, int] | None = None
        for f in state.facts:
            if isinstance(f.formula, Zero) and (eager or not f.why.startswith("quotient")):
                p = f.formula.p
                for v, c in p.units():
                    order = rank(v), p.degree, len(p), v
                    if best is None or order < best[0]:
                        best = order, f, c
        if best is None:
            break
        (_, _, _, v), equation, c = best
        assert isinstance(equation.formula, Zero)
        value = equation.formula.p.without(v) * -c
        state = state.substituted({v: value}, equation, f"substitution: {v} = {value}")
        refuted = _substituted(refuted, {v: value}, equation)
    return state, refuted
