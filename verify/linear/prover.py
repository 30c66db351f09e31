"""Proof search: goals together or one by one, split into cases by signs and definitions (:mod:`.leaves` closes them)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Literal

from ...core.condition import Compare, Condition, all_exprs, all_of, parts_of
from ...core.expr import Expr, Extremum, Mul, Var, postorder
from ..preprocess import comparisons, lower_bounds, mentioned
from .case import ImpossibleCase, NeedSign, SignCase, ValueNames, name_of
from .leaves import Exhausted, Leaves, ReductionBudget
from .polynomial import Poly, variable
from .question import Leaf
from .reading import Reading, divides_somewhere
from .record import Log, Node, Unrecorded


@dataclass(frozen=True)
class Reduction:
    """The result of a search: whether the claim was proved, the leaves, and the cost in z3 resource units.

    ``strategy`` is ``identity`` if no solver was asked.  ``proof`` is set if it was to be recorded.
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

    The caller guarantees, by a proof of its own, that no divisor in the claim is zero.  With ``record`` the search is
    restricted to proofs that a certificate can express; it takes longer and proves fewer claims.
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
    """Return the hypotheses with at most ``strange`` variables that do not occur in the goal."""
    own = mentioned(goal)
    return [h for h in hypotheses if len(mentioned(h) - own) <= strange]


#: The ways of an attempt: with definitions of single names only, with all equations, or with larger pools of lemmas.
_Way = Literal["quick", "eager", "patient"]
#: Limit on the variables in products whose signs are split.
_SIGNED = 2


class _Search:
    def __init__(self, budget: ReductionBudget, record: bool) -> None:
        self.budget = budget
        self.record = record
        self.leaves = Leaves(budget, record)
        self.names = ValueNames()

    # -- attempts
    def prove(self, hypotheses: Sequence[Condition], goals: Sequence[Condition]) -> Node | None:
        """Prove all goals at once, or goal by goal, patiently and at last by the signs of factors."""
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
            # hypotheses about variables that the goal does not mention rarely help, and make questions larger
            close = _close_to(goal, hypotheses, strange)
            if len(close) < known and (node := self._attempt(close, [goal], "eager")):
                return node
            known = len(close)
        return (
            self._attempt(hypotheses, [goal], "eager")
            or self._attempt(hypotheses, [goal], "patient")
            or self._by_factors(hypotheses, goal, _factors([*hypotheses, goal])[:_SIGNED])
        )

    def _attempt(
        self,
        hypotheses: Sequence[Condition],
        goals: Sequence[Condition],
        way: _Way,
        signs: Sequence[tuple[Poly, int]] = (),
    ) -> Node | None:
        """Try to prove all goals in one way; the leaves of a failed attempt are rolled back."""
        before = len(self.leaves.closed)
        try:
            if node := self._claim(hypotheses, goals, way, signs):
                return node
        except Unrecorded:
            pass  # a certificate cannot express this proof
        del self.leaves.closed[before:]
        return None

    def _by_factors(
        self,
        hypotheses: Sequence[Condition],
        goal: Condition,
        names: Sequence[str],
        signs: Sequence[tuple[Poly, int]] = (),
    ) -> Node | None:
        """Prove the goal separately for the signs of the variables ``names``, after those that are decided already."""
        ways: tuple[_Way, ...] = ("quick", "patient") if signs else ()
        for way in ways:
            if node := self._attempt(hypotheses, [goal], way, signs):
                return node
        if not names:
            return None
        p = variable(names[0])
        before = len(self.leaves.closed)
        cases: dict[str, Node] = {}
        for s in (1, -1, 0):
            node = self._by_factors(hypotheses, goal, names[1:], (*signs, (p, s)))
            if node is None:
                del self.leaves.closed[before:]
                return None
            cases[str(s)] = node
        return {"step": "factor", "of": p, "cases": cases}

    # -- cases
    def _claim(
        self, hypotheses: Sequence[Condition], goals: Sequence[Condition], way: _Way, signs: Sequence[tuple[Poly, int]]
    ) -> Node | None:
        """Prove all goals in every case, given the decided ``signs``."""
        cases = [SignCase()]
        for p, s in signs:
            cases.append(cases[-1].with_sign(p, s))
        self.readings = 0
        node = self._case(cases[-1], hypotheses, goals, way)
        for before, after, (_, s) in reversed([*zip(cases, cases[1:], signs, strict=False)]):
            node = node and _signed(before, after, s, node)
        return node

    def _case(
        self, case: SignCase, hypotheses: Sequence[Condition], goals: Sequence[Condition], way: _Way
    ) -> Node | None:
        """Prove all goals in one case, which is split or gets definitions as its reading demands."""
        self.readings += 1
        if self.readings > self.budget.readings:
            return None
        log = Log() if self.record else None
        reading = None
        try:
            reading = Reading(case, self.names, refine=len(case.definitions) < 40, eager=way == "eager", log=log)
            refuted = reading.read(hypotheses, goals)
        except NeedSign as need:
            cases: dict[str, Node] = {}
            for s in need.options:
                after = case.with_sign(need.poly, s)
                node = self._case(after, hypotheses, goals, way)
                if node is None:
                    return None
                cases[str(s)] = _signed(case, after, s, node)
            excluded = {str(s): e for s, e in need.excluded.items() if s not in need.options}
            about = {"of": need.poly, "divisor": need.divisor, "excluded": excluded}
            return {"step": "sign", "log": log, "reading": reading, **about, "cases": cases}
        except ImpossibleCase as contradiction:
            self.leaves.add([contradiction.fact])
            parts: list[Node] | None = [{"refute": [contradiction.fact]}]
        else:
            if defining := reading.defining or reading.negative(refuted) or reading.solve():
                made = []
                for d in defining:
                    before, case = case, case.with_definition(d)
                    if d.name in case.definitions and d.name not in before.definitions:
                        made.append({"name": d.name, "value": case.definitions[d.name], "equation": d.equation})
                then = self._case(case, hypotheses, goals, way)
                return then and {"step": "define", "log": log, "define": made, "reading": reading, "then": then}
            parts = self.leaves.close(reading, goals, refuted, way == "patient")
            if parts is None:
                return None
        return {"step": "leaf", "log": log, "reading": reading, "parts": parts}


def _signed(before: SignCase, after: SignCase, s: int, node: Node) -> Node:
    """Return the proof of a sign case below the definitions that the sign adds, if any."""
    made = [
        {"name": v, "value": value, "equation": None if s else "sign"}
        for v, value in after.definitions.items()
        if v not in before.definitions
    ]
    return {"step": "define", "log": None, "define": made, "then": node} if made else node


def _factors(conditions: Sequence[Condition]) -> list[str]:
    """Return the variables in products that have no lower bound of 1, the most frequent first."""
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
    """Replace variables by terms with divisions that hypotheses equate them with.

    A dividend is then written in its digits, for which the equation would otherwise have to be solved.
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


#: Limit on the variables that are replaced by terms.
_INLINED = 12


def _term_of(h: Condition) -> tuple[Var, Expr] | None:
    """Return the variable and the term with divisions that a hypothesis equates, or ``None``."""
    if isinstance(h, Compare) and h.op == "==" and divides_somewhere(h):
        for v, e in ((h.a, h.b), (h.b, h.a)):
            if isinstance(v, Var) and v not in e.variables() and not isinstance(e, Extremum):
                return v, e
    return None
