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
from .case import Definition, ImpossibleCase, NeedSign, SignCase, ValueNames, name_of
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
            or self._by_factors(hypotheses, goal)
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

    def _by_factors(self, hypotheses: Sequence[Condition], goal: Condition) -> Node | None:
        """Prove the goal separately for the signs of variables in products, the most frequent first."""
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
        """Prove all goals in every case, given the decided ``signs``."""
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
        """Return the case with definitions, and the node and key at which its proof is put."""
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
        """Return the node and key for the proof of a sign case: below the definitions that the sign adds, if any."""
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
