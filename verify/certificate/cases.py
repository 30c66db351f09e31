"""Cases of a claim by signs and definitions, down to the leaves at which solvers are asked."""

from __future__ import annotations

from ...core.condition import TRUE, Condition
from .check import CertificateRefused
from .claim import Claim
from .formulas import substituted, zero
from .polynomials import (
    Polynomial,
    constant,
    exact_quotient,
    names_of,
    plus,
    text_of,
    times,
    variable,
    with_values,
)
from .reading import Json, read_condition, read_polynomial
from .state import State, variable_name
from .steps import Steps

__all__ = ["Cases"]


class Cases:
    """The cases of one claim."""

    def __init__(self, claim: Claim) -> None:
        self.claim = claim

    def prove(self, node: Json, place: str) -> None:
        """Check that a node proves all goals."""
        state = State()
        state.names = {
            variable_name(v) for c in (*self.claim.known, *self.claim.goals) for v in c.variables()
        }
        self._case(node, state, place)

    def _case(self, node: Json, state: State, place: str) -> None:
        """Check a case that is divided further, makes definitions, or is a leaf."""
        step = node["step"]
        if step == "factor":
            self._signs(node, Steps(self.claim, state, place), {}, place)
            return
        state.rewrites = {}
        steps = Steps(self.claim, state, place)
        steps.run(node["steps"])
        match step:
            case "sign":
                self._signs(node, steps, node["excluded"], place)
            case "define":
                self._define(node, steps, place)
            case "leaf":
                self._leaf(node, steps, place)
            case _:
                raise CertificateRefused(place, f"there is no step {step!r}")

    def _signs(self, node: Json, steps: Steps, excluded: Json, place: str) -> None:
        p = read_polynomial(node["of"])
        steps.known_names(p)
        for s in (1, -1, 0):
            if str(s) in node["cases"]:
                state = steps.state.copy()
                state.signs.append((p, s))
                self._case(node["cases"][str(s)], state, f"{place}.cases[{s}]")
            elif s and str(s) in excluded:
                # p is not positive, or not negative
                steps.evidence(excluded[str(s)], times(p, constant(-s)))
            elif s == 0 and "divisor" in node:
                self._not_zero(p, read_polynomial(node["divisor"]), steps.state, place)
            else:
                raise CertificateRefused(place, f"the case in which {text_of(p)} has the sign {s} is missing")
        self.claim.check.lemma("sign split", place)

    def _not_zero(self, p: Polynomial, divisor: Polynomial, state: State, place: str) -> None:
        """``p`` is a factor of a divisor of the claim."""
        if exact_quotient(divisor, p) is None or not self.claim.divides_by(divisor, state):
            raise CertificateRefused(place, f"{text_of(p)} may be zero")

    def _define(self, node: Json, steps: Steps, place: str) -> None:
        state = steps.state.copy()
        state.facts = steps.established()
        defined: dict[str, Polynomial] = {}
        for d in node["define"]:
            name, value, equation = str(d["name"]), read_polynomial(d["value"]), d["equation"]
            if name in state.definitions or name in names_of(value) or name not in state.names:
                raise CertificateRefused(place, f"{name} cannot be defined as {text_of(value)}")
            if equation is None:
                # a new name for the negation
                fresh = names_of(value)
                if len(fresh) != 1 or value != {tuple(fresh): -1} or fresh & state.names:
                    raise CertificateRefused(place, f"{text_of(value)} is no negation of a new name")
                state.names |= fresh
            else:
                gap = zero(plus(variable(name), value, -1))
                shown = (
                    state.sign_facts() if equation == "sign" else {substituted(steps.fact(equation), defined)}
                )
                if gap not in shown:
                    raise CertificateRefused(
                        place, f"{name} = {text_of(value)} is not what the equation says"
                    )
            state.define(name, value)
            defined = {v: with_values(x, {name: value}) for v, x in defined.items()} | {name: value}
        self.claim.check.lemma("substitution", place)
        self._case(node["then"], state, f"{place}.then")

    def _leaf(self, node: Json, steps: Steps, place: str) -> None:
        done: list[Condition] = []
        for k, part in enumerate(node["parts"]):
            here = f"{place}.parts[{k}]"
            goal = read_condition(part["goal"], self.claim.check.terms) if "goal" in part else None
            if goal is not None and goal is not TRUE and goal not in self.claim.goals:
                raise CertificateRefused(here, f"{goal} is no goal")
            steps.goal, steps.place = goal, here
            steps.run(part["steps"])
            self.claim.check.contradictory([steps.fact(n, goal) for n in part["refute"]], here)
            self.claim.check.found.leaves += 1
            if goal is None:
                return
            done.append(goal)
            steps.shown.append(goal)
        missing = [g for g in self.claim.goals if g not in done]
        if missing:
            raise CertificateRefused(place, f"{missing[0]} is not shown")
