"""Recorded proofs as JSON: what :mod:`..certificate` reads.

Terms stand in one table, as in derivations, so that no depth of nesting is too much.  Polynomials are lists of
``[coefficient, name, …]``, formulas ``["ge", p]``, ``["eq", p]``, ``["and", …]`` and ``["or", …]``.  Facts have
numbers; a step names facts by theirs, and those come before it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...core.condition import FALSE, And, Compare, Condition, Divides, Not, Or, Truth, Within
from ...core.expr import Expr, Int, Sum, Var, postorder
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

FORMAT = "indexproof certificate 1"

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
                    proof = {"step": "quotient bound", "sides": [side for side, _ in steps], "then": then}
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
    return of_equal_terms(steps, proofs)


def _with_equated_dividends(
    hypotheses: Sequence[Condition], goal: Condition, budget: ReductionBudget | None
) -> Node | None:
    """A proof of the goal about what hypotheses say that its dividends are."""
    steps, rest, left = equated(hypotheses, goal)
    if not steps:
        return None
    claims = [*((hypotheses, s.eq(v)) for s, v in steps), (rest, left)]
    proofs = [prove(known, c, budget=budget, assume_defined=True, record=True).proof for known, c in claims]
    return of_equal_terms(steps, proofs)


def of_equal_terms(steps: Sequence[tuple[Expr, Expr]], proofs: Sequence[Node | None]) -> Node | None:
    """The last proof, below one step for each term that is replaced by an equal one."""
    if None in proofs:
        return None
    node = proofs[-1]
    for (s, v), shown in reversed(list(zip(steps, proofs[:-1], strict=True))):
        node = {"step": "equal terms", "term": s, "value": v, "equal": shown, "then": node}
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
        step = n["step"]
        out: dict[str, Json] = {"step": step}
        match step:
            case "inline":
                out |= {"variable": self.term(n["variable"]), "term": self.term(n["term"])}
                out["then"] = self.node(n["then"])
            case "goals":
                out["parts"] = [
                    {"goal": self.condition(p["goal"]), "proof": self.node(p["proof"])} for p in n["parts"]
                ]
            case "quotient bound":
                out |= {"sides": n["sides"], "then": self.node(n["then"])}
            case "equal terms":
                out |= {"term": self.term(n["term"]), "value": self.term(n["value"])}
                out |= {"equal": self.node(n["equal"]), "then": self.node(n["then"])}
            case "odd factors":
                out["odd"] = [
                    {"factor": self.term(p["factor"]), "proof": self.node(p["proof"])} for p in n["odd"]
                ]
                out["shorter"] = [
                    {"of": self.term(p["of"]), "factors": p["factors"], "rest": self.term(p["rest"])}
                    for p in n["shorter"]
                ]
                out["then"] = self.node(n["then"])
            case "roots":
                out["solved"] = [
                    {
                        "of": self.term(p["of"]),
                        "variable": self.term(p["variable"]),
                        "modulus": p["modulus"],
                        "classes": [list(c) for c in p["classes"]],
                    }
                    for p in n["solved"]
                ]
                out["then"] = self.node(n["then"])
            case "multiple":
                out |= {k: self.term(n[k]) for k in ("variable", "divisor", "quotient")}
                out["then"] = self.node(n["then"])
            case "residues":
                out["modulus"] = n["modulus"]
                out["variables"] = [
                    {"variable": self.term(v), "quotient": self.term(q)} for v, q in n["variables"]
                ]
                out["cases"] = [self.node(c) for c in n["cases"]]
            case "contradiction":
                out["then"] = self.node(n["then"])
            case "factor":
                out |= {"of": _poly(n["of"]), "cases": {s: self.node(c) for s, c in n["cases"].items()}}
            case "sign":
                out |= {"steps": self._log(n["log"]), "of": _poly(n["of"]), "divisor": _poly(n["divisor"])}
                out["excluded"] = {s: self._evidence(e) for s, e in n["excluded"].items()}
                out["cases"] = {s: self.node(c) for s, c in n["cases"].items()}
            case "define":
                steps = self._log(n["log"])
                out["define"] = [self._definition(d, steps) for d in n["define"]]
                out |= {"steps": steps, "then": self.node(n["then"])}
            case "leaf":
                out |= {"steps": self._log(n["log"]), "parts": [self._part(p) for p in n["parts"]]}
        return out

    def _definition(self, d: Node, steps: list[Json]) -> Json:
        equation = d["equation"]
        number = self._fact(equation, steps) if isinstance(equation, LinearFact) else equation
        return {"name": d["name"], "value": _poly(d["value"]), "equation": number}

    def _part(self, p: Node) -> Json:
        steps: list[Json] = []
        refuted = [self._fact(f, steps) for f in p["refute"]]
        out: dict[str, Json] = {"steps": steps, "refute": refuted}
        if "goal" in p:
            out["goal"] = self.condition(p["goal"])
        return out

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
                return self._evidence(v, steps)
            case LinearFact():
                return self._fact(v, steps)
            case Condition():
                return self.condition(v)
            case Expr():
                return self.term(v)
            case dict():
                return {k: self._datum(x, steps) for k, x in v.items()}
            case list() | tuple():
                return [self._datum(x, steps) for x in v]
        assert isinstance(v, (str, int)), type(v)
        return v

    def _evidence(self, e: Resolved, steps: list[Json] | None = None) -> Json:
        into = steps if steps is not None else []
        return {
            "parts": [[_poly(c), self._fact(f, into)] for c, f in e.parts],
            "shifts": [self._fact(f, into) for f in e.shifts],
        }


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
