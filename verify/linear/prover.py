"""The search: sign cases, goals one by one, lemmas as models violate them, and splits as a last resort."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from ...core.condition import FALSE as FALSE_CONDITION
from ...core.condition import Condition, Within, all_exprs
from ...core.expr import Expr, Min, Mul, Var, postorder
from ..preprocess import lower_bounds
from .bounds import Bounds
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
    Case,
    Contradiction,
    Definition,
    Fact,
    Names,
    NeedSign,
    Reading,
    Witness,
    conjuncts,
    divides_somewhere,
    extrema,
    name_of,
    rank,
)

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
    order.
    """

    proved: bool
    strategy: str
    leaves: tuple[Leaf, ...]
    steps: tuple[str, ...]
    resources: int
    questions: int
    reason: str = ""


class _Exhausted(Exception):
    """A count of the budget has been reached."""


def prove(
    hypotheses: Sequence[Condition],
    goal: Condition,
    *,
    budget: Budget | None = None,
    assume_defined: bool = False,
) -> Outcome:
    """Try to prove that the hypotheses imply the goal for all integers.

    A division by zero is an unknown integer; with ``assume_defined`` the caller vouches, by a proof of its
    own, that no divisor in the claim is zero.
    """
    search = _Search(budget or Budget(), assume_defined)
    reason = ""
    try:
        proved = search.prove(conjuncts(hypotheses), _goals(goal), 0)
    except _Exhausted as limit:
        proved, reason = False, str(limit)
    if not proved and not reason:
        reason = search.reason
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


def _close_to(goal: Condition, hypotheses: Sequence[Condition]) -> list[Condition]:
    """Hypotheses with at most one variable that the goal does not have; fewer facts also prove it."""
    own = set(goal.variables())
    return [h for h in hypotheses if len(set(h.variables()) - own) <= 1]


@dataclass
class _State:
    """The facts of a leaf; equations that define quotients apart."""

    facts: list[Fact]
    witnesses: list[Witness]
    choices: list[tuple[Poly, tuple[Poly, ...]]]
    steps: list[str]

    def substituted(self, values: dict[str, Poly], dropped: Fact, step: str) -> _State:
        """The state after an equation has been used up."""
        facts = [
            Fact(g, f.why)
            for f in self.facts
            if f is not dropped and (g := substitute(f.formula, values)) != TRUE
        ]
        choices = [(m.substitute(values), tuple(o.substitute(values) for o in os)) for m, os in self.choices]
        return _State(facts, [w.substitute(values) for w in self.witnesses], choices, [*self.steps, step])


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
    def __init__(self, budget: Budget, assume_defined: bool) -> None:
        self.budget = budget
        self.assume_defined = assume_defined
        self.meter = Meter(budget.rlimit)
        self.leaves: list[Leaf] = []
        self.names = Names()
        self._instances = 0
        self.reason = ""

    # -- attempts
    def prove(self, hypotheses: Sequence[Condition], goals: Sequence[Condition], depth: int) -> bool:
        """Everything at once; then goal by goal, patiently; then by cases of a minimum or maximum."""
        if self._attempt(hypotheses, goals, _QUICK):
            return True
        if not self.budget.patient:
            return False
        if len(goals) == 1:
            return self._one(hypotheses, goals[0], depth)
        shown: list[Condition] = []
        open_ = list(goals)
        while open_:
            left = []
            for g in open_:
                known = [*hypotheses, *shown]
                if self._attempt(known, [g], _QUICK) or self._one(known, g, depth):
                    shown.append(g)
                else:
                    left.append(g)
            if len(left) == len(open_):
                return False
            open_ = left
        return True

    def _one(self, hypotheses: Sequence[Condition], goal: Condition, depth: int) -> bool:
        close = _close_to(goal, hypotheses)
        if len(close) < len(hypotheses) and self._attempt(close, [goal], _WAYS[0]):
            return True
        return (
            any(self._attempt(hypotheses, [goal], way) for way in _WAYS)
            or self._split(hypotheses, goal, depth)
            or (not depth and self._by_factors(hypotheses, goal))
        )

    def _attempt(
        self,
        hypotheses: Sequence[Condition],
        goals: Sequence[Condition],
        way: _Way,
        signs: Sequence[tuple[Poly, int]] = (),
    ) -> bool:
        """One way to prove all goals; what it leaves behind is kept only if it succeeds."""
        before = len(self.leaves)
        if self._claim(hypotheses, goals, way, signs):
            return True
        del self.leaves[before:]
        return False

    def _by_factors(self, hypotheses: Sequence[Condition], goal: Condition) -> bool:
        """Apart for the signs of variables in products, those that occur most often first."""
        names = _factors([*hypotheses, goal])
        before = len(self.leaves)
        todo: list[tuple[tuple[Poly, int], ...]] = [()]
        while todo:
            signs = todo.pop()
            if signs and any(self._attempt(hypotheses, [goal], way, signs) for way in (_QUICK, _PATIENT)):
                continue
            if len(signs) == min(len(names), _SIGNED):
                del self.leaves[before:]
                return False
            p = variable(names[len(signs)])
            todo += [(*signs, (p, s)) for s in (0, -1, 1)]
        return True

    def _split(self, hypotheses: Sequence[Condition], goal: Condition, depth: int) -> bool:
        """Apart for each argument of a minimum or maximum as the extreme one."""
        if depth >= self.budget.splits:
            return False
        for node in extrema([*hypotheses, goal]):
            before = len(self.leaves)
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
                if not self.prove(assumed, chosen_goals, depth + 1):
                    del self.leaves[before:]
                    return False
            return True
        return False

    # -- cases
    def _claim(
        self,
        hypotheses: Sequence[Condition],
        goals: Sequence[Condition],
        way: _Way,
        signs: Sequence[tuple[Poly, int]],
    ) -> bool:
        """All sign cases of all goals, those of the polynomials in ``signs`` decided."""
        first = _defined_by_equations(hypotheses, goals)
        for p, s in signs:
            first = first.with_sign(p, s)
        todo = [first]
        read = 0
        while todo:
            case = todo.pop()
            read += 1
            if read > self.budget.readings:
                self.reason = f"more than {self.budget.readings} sign cases and definitions"
                return False
            refine = len(case.definitions) < 40
            try:
                reading = Reading(
                    case, self.names, assume_defined=self.assume_defined, refine=refine, eager=way.eager
                )
                refuted = reading.read(hypotheses, goals, goals_first=way.goals_first)
            except NeedSign as need:
                todo += [case.with_sign(need.poly, s) for s in reversed(need.options)]
                continue
            except Contradiction as found:
                self._leaf([found.fact], case.steps, "identity")
                continue
            found_definitions = (
                reading.defining or reading.negative(refuted) or [d for d in (reading.solve(),) if d]
            )
            if found_definitions:
                for d in found_definitions:
                    case = case.with_definition(d)
                todo.append(case)
                continue
            if not self._close(reading, goals, refuted, way.patient):
                return False
        return True

    def _leaf(self, facts: Iterable[Fact], steps: Iterable[str], closed: str) -> None:
        kept = tuple(facts)
        lemmas = dict.fromkeys(f.why.removeprefix("lemma: ") for f in kept if f.why.startswith("lemma: "))
        self.leaves.append(Leaf(kept, tuple(steps), tuple(lemmas), closed))
        if len(self.leaves) > self.budget.leaves:
            raise _Exhausted(f"more than {self.budget.leaves} leaves")

    def _close(
        self, reading: Reading, goals: Sequence[Condition], refuted: Sequence[Formula], patient: bool
    ) -> bool:
        steps = [*reading.case.steps, *reading.used]
        open_ = [
            (goal, negated)
            for goal, negated in zip(goals, refuted, strict=True)
            if not self._certified(negated, reading.bounds, steps)
        ]
        if not open_:
            return True
        reading.divide_bounds()
        state = _State(reading.facts, reading.witnesses, reading.choices, steps)
        shown: list[Fact] = []
        for goal, negated in open_:
            if self._certified(negated, reading.bounds, steps):
                continue
            known = replace(state, facts=[*state.facts, *shown])
            if not self._refuted(known, negated, patient):
                self.reason = f"a leaf is left open: {negated}"
                return False
            shown.append(Fact(reading.formula(goal), "shown"))
        return True

    # -- one leaf
    def _certified(self, refuted: Formula, bounds: Bounds, steps: Sequence[str]) -> bool:
        """Whether certificates alone show that the negated goal is false."""
        shown: list[Fact] = []
        if not _impossible(refuted, bounds, shown):
            return False
        self._leaf([*shown, Fact(refuted, "negated goal")], steps, "certificate" if shown else "identity")
        return True

    def _refuted(self, state: _State, refuted: Formula, patient: bool) -> bool:
        """Whether the facts contradict the negated goal."""
        levels = (2,) if patient else (0, 1)
        careful = _solved(state, refuted, eager=False)
        if self._ask(*careful, levels=levels):
            return True
        eager = _solved(state, refuted, eager=True)
        return eager[0].steps != careful[0].steps and self._ask(*eager, levels=levels)

    def _ask(self, state: _State, refuted: Formula, levels: Sequence[int], nested: int = 0) -> bool:
        negated = Fact(refuted, "negated goal")
        if refuted == FALSE or any(f.formula == FALSE for f in state.facts):
            self._leaf([*(f for f in state.facts if f.formula == FALSE), negated], state.steps, "identity")
            return True
        if self.meter.questions > self.budget.questions:
            raise _Exhausted(f"more than {self.budget.questions} questions")
        question = Question(self.meter)
        question.add(f.formula for f in state.facts)
        question.add([refuted])
        if question.contradictory():
            self._leaf([*state.facts, negated], state.steps, "solver")
            return True
        setting = _setting(state, refuted)
        near = setting.near()
        used: list[Instance] = []
        for level in levels:
            instances, differences = pool(setting if level else near, max(level, 1))
            self._instances += len(instances)
            if self._instances > self.budget.instances:
                raise _Exhausted(f"more than {self.budget.instances:,} instances of lemmas")
            closed, values = self._violated(question, instances, used)
            if closed:
                self._leaf([*state.facts, *(i.fact for i in used), negated], state.steps, "solver")
                return True
            if values is None or nested >= 2:
                continue
            derived = self._derived(question, differences, values, state, used, refuted)
            if derived:
                facts = [*state.facts, *derived]
                more = replace(state, facts=facts)
                if self._ask(*_solved(more, refuted, eager=True), levels=(level,), nested=nested + 1):
                    return True
        return False

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
        refuted: Formula,
    ) -> list[Fact]:
        """Differences that the facts force to be zero; each leaves a leaf of its own."""
        found = []
        for d in differences:
            if len(d) < 2 or any(m and m not in values for m in d.terms) or d.value(values):
                continue
            if question.contradictory_with([nonzero(d)]):
                facts = [*state.facts, Fact(refuted, "negated goal"), *(i.fact for i in used)]
                self._leaf([*facts, Fact(nonzero(d), "negated goal")], state.steps, "solver")
                found.append(Fact(zero(d), "derived"))
        return found


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


def _impossible(f: Formula, bounds: Bounds, shown: list[Fact]) -> bool:
    """Whether ``f`` is false by certificates, which are added to ``shown``."""
    sides: tuple[Poly, ...] = ()
    match f:
        case AtLeast(p):
            sides = (-p - ONE,)
        case Zero(p):
            sides = (p - ONE, -p - ONE)
        case All(parts):
            return any(_impossible(g, bounds, shown) for g in parts)
        case Some(parts):
            return all(_impossible(g, bounds, shown) for g in parts)
    for side in sides:
        if bounds.certain(side):
            shown.append(Fact(at_least(side), "lemma: certificate"))
            return True
    return False


def _setting(state: _State, refuted: Formula) -> Setting:
    bounds = Bounds()
    for f in state.facts:
        if isinstance(f.formula, AtLeast):
            bounds.learn(f.formula.p)
    bounds.settle()
    formulas = [f.formula for f in state.facts]
    return Setting(
        [f.p for f in formulas if isinstance(f, Zero)],
        [f.p for f in formulas if isinstance(f, AtLeast)],
        [f for f in formulas if isinstance(f, (All, Some))],
        refuted,
        state.witnesses,
        bounds.low,
        state.choices,
    )


# --------------------------------------------------------------------------------------------------------
# substitution
def _defined_by_equations(hypotheses: Sequence[Condition], goals: Sequence[Condition]) -> Case:
    """Division-free equations among the hypotheses, as definitions."""
    case = Case()
    equations = [
        h
        for h in hypotheses
        if getattr(h, "op", "") == "==" and not divides_somewhere(h) and not extrema((h,))
    ]
    if not equations:
        return case
    uses: dict[str, int] = {}
    for c in (*hypotheses, *goals):
        for v in c.variables():
            uses[name_of(v)] = uses.get(name_of(v), 0) + 1
    for h in equations:
        a, b = (Reading(case, Names()).value(e) for e in h.exprs())
        gap = a - b
        bare = {p.single for p in (a, b)}
        units = sorted(gap.units(), key=lambda u: (u[0] not in bare, uses.get(u[0], 0), u[0]))
        if units:
            name, sign = units[0]
            case = case.with_definition(Definition(name, gap.without(name) * -sign, "substitution"))
    return case


def _solved(state: _State, refuted: Formula, *, eager: bool) -> tuple[_State, Formula]:
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
        refuted = substitute(refuted, {v: value})
    return state, refuted
