"""The search for a proof: goals together and one by one, in cases by signs and definitions (:mod:`.leaves` closes them)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Literal

from ...core.condition import Compare, Condition, all_exprs, all_of, parts_of
from ...core.expr import Expr, Extremum, Mul, Var, postorder
from ..preprocess import comparisons, lower_bounds, mentioned
from .case import Definition, ImpossibleCase, NeedSign, SignCase, ValueNames, name_of
from .leaves import Exhausted, Leaves, ReductionBudget
from .polynomial import Poly, variable
from .question import Leaf
from .reading import Reading, divides_somewhere
from .record import Log, Node, Unrecorded


@dataclass(frozen=True)
class Reduction:
    """Whether the claim was proved, by which leaves and at what cost (z3 resource units).

    ``strategy`` is ``identity`` where no solver was asked.  ``proof`` is there if it was to be recorded.
    """

    proved: bool
    strategy: str
    leaves: tuple[Leaf, ...]
    resources: int
    proof: Node | None = field(default=None, compare=False, repr=False)


def prove(
    hypotheses: Sequence[Condition], goal: Condition, *, budget: ReductionBudget | None = None, record: bool = False
) -> Reduction:
    """Try to prove that the hypotheses imply the goal for all integers.

    The caller vouches, by a proof of its own, that no divisor in the claim is zero.  With ``record`` a proof is found
    of which a certificate can be written; that takes longer, and there are claims that can be proved in other ways only.
    """
    search = _Search(budget or ReductionBudget(), record)
    known, shown, inlined = _inlined([*parts_of(all_of(hypotheses))], goal)
    proof: Node | None = None
    with suppress(Exhausted):
        proof = search.prove(known, comparisons(shown))
    for v, e in reversed(inlined):
        proof = proof and {"step": "inline", "variable": v, "term": e, "then": proof}
    leaves = search.leaves
    strategy = "linear" if leaves.meter.questions else "identity"
    return Reduction(proof is not None, strategy, tuple(leaves.closed), leaves.meter.spent, proof if record else None)


def _close_to(goal: Condition, hypotheses: Sequence[Condition], strange: int) -> list[Condition]:
    """Hypotheses with at most so many variables that the goal does not have; fewer facts also prove it."""
    own = mentioned(goal)
    return [h for h in hypotheses if len(mentioned(h) - own) <= strange]


#: How an attempt is made: as the claim stands, with every equation used, or with longer pools of lemmas.
_Way = Literal["quick", "eager", "patient"]
#: The signs of at most so many factors are told apart.
_SIGNED = 2


class _Search:
    def __init__(self, budget: ReductionBudget, record: bool) -> None:
        self.budget = budget
        self.record = record
        self.leaves = Leaves(budget, record)
        self.names = ValueNames()

    # -- attempts
    def prove(self, hypotheses: Sequence[Condition], goals: Sequence[Condition]) -> Node | None:
        """Everything at once; then goal by goal, patiently, and last by the signs of factors."""
        if node := self._attempt(hypotheses, goals, "quick"):
            return node
        if not self.budget.patient:
            return None
        if len(goals) == 1:
            return self._one(hypotheses, goals[0])
        shown: list[Condition] = []
        parts: list[Node] = []
        open_ = list(goals)
        while open_:
            left = []
            for g in open_:
                known = [*hypotheses, *shown]
                if node := self._attempt(known, [g], "quick") or self._one(known, g):
                    shown.append(g)
                    parts.append({"goal": g, "proof": node})
                else:
                    left.append(g)
            if len(left) == len(open_):
                return None
            open_ = left
        return {"step": "goals", "parts": parts}

    def _one(self, hypotheses: Sequence[Condition], goal: Condition) -> Node | None:
        known = len(hypotheses)
        for strange in (1, 0):
            # what a size divides besides says nothing of a goal in which it does not occur, and is in the way
            close = _close_to(goal, hypotheses, strange)
            if len(close) < known and (node := self._attempt(close, [goal], "eager")):
                return node
            known = len(close)
        return (
            self._attempt(hypotheses, [goal], "eager")
            or self._attempt(hypotheses, [goal], "patient")
            or self._by_factors(hypotheses, goal)
        )

    def _attempt(
        self,
        hypotheses: Sequence[Condition],
        goals: Sequence[Condition],
        way: _Way,
        signs: Sequence[tuple[Poly, int]] = (),
    ) -> Node | None:
        """One way to prove all goals; what it leaves behind is kept only if it succeeds."""
        before = len(self.leaves.closed)
        try:
            if node := self._claim(hypotheses, goals, way, signs):
                return node
        except Unrecorded:
            pass  # a certificate cannot say it
        del self.leaves.closed[before:]
        return None

    def _by_factors(self, hypotheses: Sequence[Condition], goal: Condition) -> Node | None:
        """Apart for the signs of variables in products, those that occur most often first."""
        names = _factors([*hypotheses, goal])
        before = len(self.leaves.closed)
        found: dict[str, Node] = {}
        todo: list[tuple[tuple[tuple[Poly, int], ...], dict[str, Node], str]] = [((), found, "root")]
        while todo:
            signs, place, key = todo.pop()
            ways: tuple[_Way, ...] = ("quick", "patient") if signs else ()
            if node := next(filter(None, (self._attempt(hypotheses, [goal], w, signs) for w in ways)), None):
                place[key] = node
                continue
            if len(signs) == min(len(names), _SIGNED):
                del self.leaves.closed[before:]
                return None
            p = variable(names[len(signs)])
            cases: dict[str, Node] = {}
            place[key] = {"step": "factor", "of": p, "cases": cases}
            todo += [((*signs, (p, s)), cases, str(s)) for s in (0, -1, 1)]
        return found["root"]

    # -- cases
    def _claim(
        self, hypotheses: Sequence[Condition], goals: Sequence[Condition], way: _Way, signs: Sequence[tuple[Poly, int]]
    ) -> Node | None:
        """All sign cases of all goals, those of the polynomials in ``signs`` decided."""
        found: dict[str, Node] = {}
        first = SignCase()
        place, key = found, "root"
        for p, s in signs:
            before, first = first, first.with_sign(p, s)
            place, key = self._signed(before, first, s, place, key)
        todo: list[tuple[SignCase, dict[str, Node], str]] = [(first, place, key)]
        read = 0
        while todo:
            case, place, key = todo.pop()
            read += 1
            if read > self.budget.readings:
                return None
            refine = len(case.definitions) < 40
            log = Log() if self.record else None
            seen: Node = {"log": log, "reading": None}
            try:
                reading = Reading(case, self.names, refine=refine, eager=way == "eager", log=log)
                seen["reading"] = reading
                refuted = reading.read(hypotheses, goals)
            except NeedSign as need:
                cases: dict[str, Node] = {}
                excluded = {str(s): e for s, e in need.excluded.items() if s not in need.options}
                about = {"of": need.poly, "divisor": need.divisor, "excluded": excluded}
                place[key] = {"step": "sign", **seen, **about, "cases": cases}
                for s in reversed(need.options):
                    after = case.with_sign(need.poly, s)
                    todo.append((after, *self._signed(case, after, s, cases, str(s))))
                continue
            except ImpossibleCase as contradiction:
                self.leaves.add([contradiction.fact])
                place[key] = {"step": "leaf", **seen, "parts": [{"refute": [contradiction.fact]}]}
                continue
            defining = reading.defining or reading.negative(refuted) or reading.solve()
            if defining:
                todo.append(self._defined(case, defining, log, place, key))
                place[key]["reading"] = reading
                continue
            parts = self.leaves.close(reading, goals, refuted, way == "patient")
            if parts is None:
                return None
            place[key] = {"step": "leaf", **seen, "parts": parts}
        return found["root"]

    def _defined(
        self, case: SignCase, definitions: Sequence[Definition], log: Log | None, place: dict[str, Node], key: str
    ) -> tuple[SignCase, dict[str, Node], str]:
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
        self, before: SignCase, after: SignCase, s: int, place: dict[str, Node], key: str
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


def _factors(conditions: Sequence[Condition]) -> list[str]:
    """The names of variables in products whose sign is not plain, the commonest first."""
    found: Counter[str] = Counter()
    for node in postorder(*(e for c in conditions for e in all_exprs(c))):
        if isinstance(node, Mul):
            found.update(name_of(v) for v in node.factors if isinstance(v, Var))
    plain = {name_of(v) for v, least in lower_bounds(conditions[:-1]).items() if least >= 1}
    ordered = sorted(found.items(), key=lambda item: (-item[1], item[0]))
    return [name for name, _ in ordered if name not in plain]


# --------------------------------------------------------------------------------------------------------
# substitution
def _inlined(hypotheses: list[Condition], goal: Condition) -> tuple[list[Condition], Condition, list[tuple[Var, Expr]]]:
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
        others = known[:n] + known[n + 1 :]
        try:
            known, goal = [*parts_of(all_of(h.substitute(one) for h in others))], goal.substitute(one)
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
            if isinstance(v, Var) and v not in e.variables() and not isinstance(e, Extremum):
                return v, e
    return None
