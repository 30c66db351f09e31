"""Recorded proofs as JSON: what :mod:`..certificate` reads.

Terms stand in one table, as in derivations, so that no depth of nesting is too much.  Polynomials are lists of
``[coefficient, name, …]``, formulas ``["ge", p]``, ``["eq", p]``, ``["and", …]`` and ``["or", …]``.  Facts have
numbers; a step names facts by theirs, and those come before it.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

from ...core.condition import FALSE, And, Compare, Condition, Divides, Not, Or, Truth, Within, all_exprs
from ...core.expr import Expr, Int, Sum, Var, postorder, var
from ...core.operators import NAME_OF
from ..equate import equated
from ..preprocess import comparisons, unquotienting
from ..recombine import recombinations
from .formula import All, AtLeast, Formula, Some, Zero
from .leaves import ReductionBudget
from .polynomial import Poly
from .prover import Reduction, prove
from .record import LinearFact, Log, Node, Reason, Resolved

__all__ = ["FORMAT", "certificate", "certificate_json", "of_equal_terms", "recorded"]

FORMAT = "indexproof certificate 2"

Json = Any


def certificate(
    name: str, hypotheses: Sequence[Condition], goal: Condition, budget: ReductionBudget | None = None
) -> tuple[Json, Reduction]:
    """A certificate that the hypotheses imply the goal where no divisor is zero, or ``None`` where none is found."""
    outcome = prove(hypotheses, goal, budget=budget, assume_defined=True, record=True)
    proof = outcome.proof or _otherwise(hypotheses, goal, budget)
    if proof is None:
        return None, outcome
    return certificate_json(name, hypotheses, goal, proof), outcome


def recorded(
    hypotheses: Sequence[Condition], goal: Condition, budget: ReductionBudget | None = None
) -> Node | None:
    """A recorded proof: of the goal, of its parts one by one, or that the hypotheses contradict each other."""
    proof = prove(hypotheses, goal, budget=budget, assume_defined=True, record=True).proof
    return proof or _otherwise(hypotheses, goal, budget)


def _otherwise(
    hypotheses: Sequence[Condition], goal: Condition, budget: ReductionBudget | None
) -> Node | None:
    proof = _with_quotient_bounds(hypotheses, goal, budget)
    if proof is None and goal is not FALSE:
        nothing = prove(hypotheses, FALSE, budget=budget, assume_defined=True, record=True).proof
        proof = nothing and {"step": "contradiction", "then": nothing}
    return proof


def _with_quotient_bounds(
    hypotheses: Sequence[Condition], goal: Condition, budget: ReductionBudget | None
) -> Node | None:
    """A proof of the parts of a goal one after another, some of them as bounds of dividends instead of quotients."""
    shown: list[Condition] = []
    parts: list[Node] = []
    left = comparisons(goal)
    while left:
        hard = []
        for part in left:
            known = [*hypotheses, *shown]
            proof = prove(known, part, budget=budget, assume_defined=True, record=True).proof
            steps = list(unquotienting(known, part)) if proof is None else []
            if steps:
                then = prove(known, steps[-1][1], budget=budget, assume_defined=True, record=True).proof
                if then is not None:
                    before = [part, *(goal for _, goal in steps)]
                    sides = [[side, _side(c, side)] for (side, _), c in zip(steps, before, strict=False)]
                    proof = {"step": "quotient bound", "sides": sides, "then": then}
            if proof is None:
                proof = _with_recombined_digits(known, part, budget) or _with_equated_dividends(
                    known, part, budget
                )
            if proof is None:
                hard.append(part)
            else:
                parts.append({"goal": part, "proof": proof})
                shown.append(part)
        if len(hard) == len(left):
            return None
        left = hard
    return {"step": "goals", "parts": parts}


def _side(bound: Condition, side: str) -> Expr:
    """Return the smaller or the larger side of a comparison."""
    assert isinstance(bound, Compare)
    return bound.a if side == "small" else bound.b


def _with_recombined_digits(
    hypotheses: Sequence[Condition], goal: Condition, budget: ReductionBudget | None
) -> Node | None:
    """A proof of the goal about the numbers that its digits make up, after one that they do."""
    steps, left = recombinations(goal)
    if not steps:
        return None
    claims = [*(s.eq(v) for s, v in steps), left]
    plain = [h for h in hypotheses if not recombinations(h)[0]]
    proofs = [prove(plain, c, budget=budget, assume_defined=True, record=True).proof for c in claims]
    return of_equal_terms(goal, steps, proofs)


def _with_equated_dividends(
    hypotheses: Sequence[Condition], goal: Condition, budget: ReductionBudget | None
) -> Node | None:
    """A proof of the goal about what hypotheses say that its dividends are."""
    steps, rest, left = equated(hypotheses, goal)
    if not steps:
        return None
    claims = [*((hypotheses, s.eq(v)) for s, v in steps), (rest, left)]
    proofs = [prove(known, c, budget=budget, assume_defined=True, record=True).proof for known, c in claims]
    return of_equal_terms(goal, steps, proofs)


def of_equal_terms(
    goal: Condition, steps: Sequence[tuple[Expr, Expr]], proofs: Sequence[Node | None]
) -> Node | None:
    """Return the last proof, below one step for each term of the goal that is replaced by an equal one."""
    if None in proofs:
        return None
    nodes: list[Node] = []
    for (term, value), shown in zip(steps, proofs[:-1], strict=True):
        taken = {v.name for e in (term, value, *all_exprs(goal)) for v in e.variables()}
        x = var(next(name for k in itertools.count() if (name := f"x{k}") not in taken))
        said = {"term": term, "value": value, "variable": x, "goals": [goal.substitute({term: x})]}
        nodes.append({"step": "equal terms", **said, "equal": shown})
        goal = goal.substitute({term: value})
    node = proofs[-1]
    for outer in reversed(nodes):
        node = {**outer, "then": node}
    return node


def certificate_json(name: str, hypotheses: Sequence[Condition], goal: Condition, proof: Node) -> Json:
    """A recorded proof as JSON."""
    writer = _Writer()
    claim = {
        "name": name,
        "hypotheses": [writer.condition(h) for h in hypotheses],
        "goal": writer.condition(goal),
        "assumes": "no divisor in the claim is zero",
    }
    written = writer.node(proof)
    return {"format": FORMAT, "claim": claim, "terms": writer.terms, "proof": written}


class _Writer:
    def __init__(self) -> None:
        self.terms: list[Json] = []
        self._terms: dict[Expr, int] = {}
        self._facts: dict[int, int] = {}
        self._alive: list[LinearFact] = []

    # -- the claim
    def term(self, root: Expr) -> int:
        for e in postorder(root):
            if e in self._terms:
                continue
            self._terms[e] = len(self.terms)
            match e:
                case Int():
                    entry: Json = e.value
                case Var():
                    entry = ["var", e.name, e.kind]
                case Sum():
                    entry = ["sum", e.const, [[self._terms[t], k] for t, k in e.terms]]
                case _:
                    entry = [NAME_OF[type(e)], *(self._terms[c] for c in e.children)]
            self.terms.append(entry)
        return self._terms[root]

    def condition(self, c: Condition) -> Json:
        match c:
            case Truth(value):
                return value
            case Compare(op, a, b):
                return [op, self.term(a), self.term(b)]
            case Within(e, lo, hi):
                return ["within", self.term(e), self.term(lo), self.term(hi)]
            case Divides(d, e):
                return ["divides", self.term(d), self.term(e)]
            case Not(arg):
                return ["not", self.condition(arg)]
            case And(args):
                return ["and", *map(self.condition, args)]
            case Or(args):
                return ["or", *map(self.condition, args)]
        raise TypeError(type(c).__name__)

    # -- the proof
    def node(self, n: Node) -> Json:
        """A node as JSON; the facts of its log are numbered first, so that the rest can name them."""
        steps = self._log(n["log"]) if "log" in n else []
        out: dict[str, Json] = {"step": n["step"]}
        if "log" in n:
            out["steps"] = steps
        for key, value in n.items():
            if n["step"] == "leaf" and key == "parts":
                out[key] = [self._part(part) for part in value]
            elif key not in ("step", "log"):
                out[key] = self._datum(value, steps)
        return out

    def _part(self, part: Node) -> Json:
        """The refutation of one goal, with steps of its own."""
        steps: list[Json] = []
        return {**{key: self._datum(value, steps) for key, value in part.items()}, "steps": steps}

    def _log(self, log: Log | None) -> list[Json]:
        steps: list[Json] = []
        for entry in log.entries if log is not None else ():
            if isinstance(entry, LinearFact):
                self._fact(entry, steps)
            else:
                steps.append(self._reason(entry, steps))
        return steps

    def _fact(self, f: LinearFact, steps: list[Json]) -> int:
        """The number of a fact, after the steps that lead to it."""
        # a chain of substitutions is long, so this does not recurse along it
        chain: list[LinearFact] = []
        while id(f) not in self._facts:
            chain.append(f)
            before = f.reason.data.get("of") if f.reason is not None else None
            if not isinstance(before, LinearFact):
                break
            f = before
        for f in reversed(chain):
            assert f.reason is not None, f.why
            entry = {**self._reason(f.reason, steps), "fact": _formula(f.formula)}
            self._facts[id(f)] = entry["number"] = len(self._alive)
            self._alive.append(f)
            steps.append(entry)
        return self._facts[id(chain[0] if chain else f)]

    def _reason(self, r: Reason, steps: list[Json]) -> dict[str, Json]:
        return {"by": r.step, **{k: self._datum(v, steps) for k, v in r.data.items()}}

    def _datum(self, v: Any, steps: list[Json]) -> Json:
        match v:
            case Poly():
                return _poly(v)
            case Resolved():
                parts = [[_poly(c), self._fact(f, steps)] for c, f in v.parts]
                return {"parts": parts, "shifts": [self._fact(f, steps) for f in v.shifts]}
            case LinearFact():
                return self._fact(v, steps)
            case Condition():
                return self.condition(v)
            case Expr():
                return self.term(v)
            case {"step": str()}:
                return self.node(v)
            case dict():
                return {k: self._datum(x, steps) for k, x in v.items()}
            case list() | tuple():
                return [self._datum(x, steps) for x in v]
        assert v is None or isinstance(v, (str, int)), type(v)
        return v


def _poly(p: Poly) -> Json:
    return [[c, *m] for m, c in p.key]


def _formula(f: Formula) -> Json:
    match f:
        case AtLeast(p):
            return ["ge", _poly(p)]
        case Zero(p):
            return ["eq", _poly(p)]
        case All(parts):
            return ["and", *map(_formula, parts)]
        case Some(parts):
            return ["or", *map(_formula, parts)]
