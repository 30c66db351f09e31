"""The tree of a proof: nodes that reduce a claim to others, nodes that divide it into cases, and the leaves."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence

from ...core.condition import FALSE, TRUE, Compare, Condition, Divides, all_exprs, any_of, divides
from ...core.expr import Expr, FloorDiv, Int, Mul, Sum, Var, integer, linear, mod, mul
from .check import CertificateRefused, CertifiedClaim, Check
from .conditions import conjuncts, divisors_in, is_natural, mapped, opaque, read_condition, shortened
from .polynomials import (
    Json,
    Polynomial,
    exact_quotient,
    read_polynomial,
    substituted,
    variable,
    with_values,
    zero,
)
from .state import State, variable_name
from .steps import Steps

__all__ = ["Tree"]

#: So many classes are looked at to see that there are no other roots than those that are named.
_LOOKED_AT = 4096


class Tree:
    """The proof of the claim of one check."""

    def __init__(self, check: Check) -> None:
        self.check = check

    def prove(self, node: Json, known: list[Condition], goals: list[Condition], place: str) -> None:
        """Check that a node proves that ``known`` implies all ``goals``."""
        match node["step"]:
            case "inline":
                self._inline(node, known, goals, place)
            case "goals":
                self._goals(node, known, goals, place)
            case "quotient bound":
                self._quotient_bound(node, known, goals, place)
            case "equal terms":
                self._equal_terms(node, known, goals, place)
            case "odd factors":
                self._odd_factors(node, known, goals, place)
            case "roots":
                self._roots(node, known, goals, place)
            case "multiple":
                self._multiple(node, known, goals, place)
            case "residues":
                self._residues(node, known, goals, place)
            case "contradiction":
                self.prove(node["then"], known, [FALSE], f"{place}.then")
            case _:
                _Cases(CertifiedClaim(self.check, known, goals)).prove(node, place)

    def _goals(self, node: Json, known: list[Condition], goals: list[Condition], place: str) -> None:
        """Goals are shown one after another; each may be used for those that come later."""
        shown: list[Condition] = []
        for k, part in enumerate(node["parts"]):
            goal = read_condition(part["goal"], self.check.terms)
            if goal is not TRUE and goal not in goals:
                raise CertificateRefused(f"{place}.parts[{k}]", f"{goal} is no goal")
            self.prove(part["proof"], [*known, *shown], [goal], f"{place}.parts[{k}]")
            shown.append(goal)
        missing = [g for g in goals if g not in shown]
        if missing:
            raise CertificateRefused(place, f"{missing[0]} is not shown")

    def _inline(self, node: Json, known: list[Condition], goals: list[Condition], place: str) -> None:
        v, e = self.check.terms[node["variable"]], self.check.terms[node["term"]]
        equations = [h for h in known if isinstance(h, Compare) and h.op == "==" and {h.a, h.b} == {v, e}]
        if not isinstance(v, Var) or not equations or v in e.variables():
            raise CertificateRefused(place, f"{v} = {e} is no hypothesis that defines a variable")
        try:
            rest = [p for h in known if h not in equations for p in conjuncts(h.substitute({v: e}))]
            goals = [p for g in goals for p in conjuncts(g.substitute({v: e}))]
        except ZeroDivisionError as error:
            raise CertificateRefused(place, f"{v} = {e} divides by zero") from error
        self.prove(node["then"], rest, goals, f"{place}.then")

    def _quotient_bound(self, node: Json, known: list[Condition], goals: list[Condition], place: str) -> None:
        """A bound of a quotient is shown if that of its dividend is: ``a // d <= t`` by ``a <= d·t + d - 1``, and
        ``t <= a // d`` by ``d·t <= a``.
        """
        if len(goals) != 1 or not node["sides"]:
            raise CertificateRefused(place, "there is no one goal with a quotient")
        goal = goals[0]
        for side in node["sides"]:
            if not isinstance(goal, Compare) or goal.op not in ("<=", "<"):
                raise CertificateRefused(place, f"{goal} is no bound")
            gap = 1 if goal.op == "<" else 0
            quotient, t = (goal.a, goal.b - gap) if side == "small" else (goal.b, goal.a + gap)
            if side not in ("small", "large") or not isinstance(quotient, FloorDiv):
                raise CertificateRefused(place, f"{quotient} is no quotient")
            a, d = quotient.a, quotient.b
            # it is no zero, because it is a divisor of the claim
            if not is_natural(d, known):
                raise CertificateRefused(place, f"{d} may be negative")
            goal = a <= d * t + d - 1 if side == "small" else d * t <= a
            self.check.lemma(
                "quotient of a bound" if side == "small" else "quotient of a natural number", place
            )
            if side == "large":
                self.check.lemma("multiple leaves quotient", place)
            self.check.found.steps += 1
        self.prove(node["then"], known, conjuncts(goal), f"{place}.then")

    def _equal_terms(self, node: Json, known: list[Condition], goals: list[Condition], place: str) -> None:
        """A goal is shown if it is shown with a term replaced by another one that is shown to be equal to it."""
        term, value = self.check.terms[node["term"]], self.check.terms[node["value"]]
        if not divisors_in([value]) <= divisors_in(e for c in (*known, *goals) for e in all_exprs(c)):
            raise CertificateRefused(place, f"{value} divides by what the claim does not")
        self.prove(node["equal"], known, conjuncts(term.eq(value)), f"{place}.equal")
        try:
            replaced = [p for g in goals for p in conjuncts(g.substitute({term: value}))]
        except ZeroDivisionError as error:
            raise CertificateRefused(place, f"{term} = {value} divides by zero") from error
        self.check.found.steps += 1
        self.prove(node["then"], known, replaced, f"{place}.then")

    def _odd_factors(self, node: Json, known: list[Condition], goals: list[Condition], place: str) -> None:
        """Where ``v`` is odd, ``2^w`` divides ``v·e`` where it divides ``e``.

        ``v·1 = 1 + 2·(v // 2)``, so v has an inverse modulo 2, hence modulo 4, 16, … and whatever divides one of these;
        and what has an inverse can be left out.
        """
        divisors = divisors_in(e for c in (*known, *goals) for e in all_exprs(c))
        odd: list[Expr] = []
        for k, part in enumerate(node["odd"]):
            v = self.check.terms[part["factor"]]
            if not divisors_in([v]) <= divisors:
                raise CertificateRefused(f"{place}.odd[{k}]", f"{v} divides by what the claim does not")
            self.prove(part["proof"], known, [Compare("==", mod(v, 2), integer(1))], f"{place}.odd[{k}]")
            odd.append(v)
        shorter: dict[Expr, Expr] = {}
        for k, part in enumerate(node["shorter"]):
            e, rest = self.check.terms[part["of"]], self.check.terms[part["rest"]]
            names: dict[Expr, Polynomial] = {}
            product = opaque(rest, names)
            for n in part["factors"]:
                if not 0 <= n < len(odd):
                    raise CertificateRefused(f"{place}.shorter[{k}]", f"there is no odd factor {n}")
                product = product * opaque(odd[n], names)
            if not divisors_in([rest]) <= divisors:
                raise CertificateRefused(
                    f"{place}.shorter[{k}]", f"{rest} divides by what the claim does not"
                )
            if product != opaque(e, names):
                raise CertificateRefused(f"{place}.shorter[{k}]", f"{e} is no such product")
            shorter[e] = rest
            self.check.found.steps += 1
        for name in ("remainder", "inverse modulo a square", "invertible factor"):
            self.check.lemma(name, place)
        # where the hypotheses hold, the shorter conditions are equivalent to what they replace
        here = [*known, *(p for h in known for p in conjuncts(shortened(h, shorter)) if p not in known)]
        wanted = [p for g in goals for p in conjuncts(shortened(g, shorter))]
        self.prove(node["then"], here, wanted, f"{place}.then")

    def _roots(self, node: Json, known: list[Condition], goals: list[Condition], place: str) -> None:
        """Where ``2^w`` divides a polynomial in one variable, by classes ``r + m·k`` of that variable.

        That there is a root everywhere in each class, and none anywhere else, is calculated here: every integer is
        ``2·k`` or ``2·k + 1``.
        """
        classes: dict[Condition, Condition] = {}
        for k, part in enumerate(node["solved"]):
            e, v, modulus = self.check.terms[part["of"]], self.check.terms[part["variable"]], part["modulus"]
            if type(modulus) is not int or modulus < 2 or modulus & (modulus - 1):
                raise CertificateRefused(f"{place}.solved[{k}]", f"{modulus} is no power of two")
            found = [(int(r), int(m)) for r, m in part["classes"]]
            names: dict[Expr, Polynomial] = {}
            p = opaque(e, names)
            if not isinstance(v, Var) or {n for n in names if not isinstance(n, (Int, Sum, Mul))} != {v}:
                raise CertificateRefused(f"{place}.solved[{k}]", f"{e} is no polynomial in {v}")
            coefficients = [0] * (1 + max(map(len, p)))
            for monomial, a in p.items():
                coefficients[len(monomial)] = a
            if not _are_roots(coefficients, modulus, found):
                raise CertificateRefused(f"{place}.solved[{k}]", f"these are not the roots of {e}")
            classes[divides(integer(modulus), e)] = any_of(divides(integer(m), v - r) for r, m in found)
            self.check.found.steps += 1
        self.check.lemma("radix", place)

        def of(c: Condition) -> Condition:
            return classes.get(c, c)

        here = [p for h in known for p in conjuncts(mapped(h, of))]
        wanted = [p for g in goals for p in conjuncts(mapped(g, of))]
        self.prove(node["then"], here, wanted, f"{place}.then")

    def _fresh(self, v: Expr, known: Sequence[Condition], goals: Sequence[Condition], place: str) -> Var:
        """A variable that the claim does not mention."""
        if not isinstance(v, Var) or any(v in c.variables() for c in (*known, *goals)):
            raise CertificateRefused(place, f"{v} is no new variable")
        return v

    def _multiple(self, node: Json, known: list[Condition], goals: list[Condition], place: str) -> None:
        """Where ``c`` divides a variable ``d``, ``d = c·k`` for a new k."""
        d, c = self.check.terms[node["variable"]], self.check.terms[node["divisor"]]
        k = self._fresh(self.check.terms[node["quotient"]], known, goals, place)
        if not isinstance(d, Var) or Divides(c, d) not in known or d in c.variables():
            raise CertificateRefused(place, f"no hypothesis says that {c} divides {d}")
        self.check.lemma("divisibility", place)
        self._instead(node["then"], {d: mul(c, k)}, known, goals, f"{place}.then")

    def _residues(self, node: Json, known: list[Condition], goals: list[Condition], place: str) -> None:
        """Every integer is ``m·k + r`` for some k and an r below m."""
        m = node["modulus"]
        if type(m) is not int or not 1 <= m <= len(node["cases"]):
            raise CertificateRefused(place, f"{m} is no modulus")
        variables = [self.check.terms[v["variable"]] for v in node["variables"]]
        quotients = [
            self._fresh(self.check.terms[v["quotient"]], known, goals, place) for v in node["variables"]
        ]
        if len({*variables, *quotients}) != 2 * len(variables):
            raise CertificateRefused(place, "a variable is named twice")
        if not all(isinstance(v, Var) for v in variables):
            raise CertificateRefused(place, "only variables have residues here")
        if len(node["cases"]) != m ** len(variables):
            raise CertificateRefused(
                place, f"there are {m ** len(variables)} cases, not {len(node['cases'])}"
            )
        self.check.lemma("radix", place)
        residues = itertools.product(range(m), repeat=len(variables))
        for k, (rs, case) in enumerate(zip(residues, node["cases"], strict=True)):
            at = {v: linear(r, [(q, m)]) for v, q, r in zip(variables, quotients, rs, strict=True)}
            self._instead(case, at, known, goals, f"{place}.cases[{k}]")

    def _instead(
        self,
        node: Json,
        values: Mapping[Expr, Expr],
        known: Sequence[Condition],
        goals: Sequence[Condition],
        place: str,
    ) -> None:
        """The proof of the claim with terms for variables."""
        try:
            here = [p for h in known for p in conjuncts(h.substitute(values))]
            wanted = [p for g in goals for p in conjuncts(g.substitute(values))]
        except ZeroDivisionError:
            return  # a divisor of the claim would be zero
        self.prove(node, here, wanted, place)


class _Cases:
    """The cases of one claim."""

    def __init__(self, claim: CertifiedClaim) -> None:
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
                steps.evidence(excluded[str(s)], p * -s)
            elif s == 0 and "divisor" in node:
                self._not_zero(p, read_polynomial(node["divisor"]), steps.state, place)
            else:
                raise CertificateRefused(place, f"the case in which {p} has the sign {s} is missing")
        self.claim.check.lemma("sign split", place)

    def _not_zero(self, p: Polynomial, divisor: Polynomial, state: State, place: str) -> None:
        """``p`` is a factor of a divisor of the claim."""
        if exact_quotient(divisor, p) is None or not self.claim.divides_by(divisor, state):
            raise CertificateRefused(place, f"{p} may be zero")

    def _define(self, node: Json, steps: Steps, place: str) -> None:
        state = steps.state.copy()
        state.facts = steps.established()
        defined: dict[str, Polynomial] = {}
        for d in node["define"]:
            name, value, equation = str(d["name"]), read_polynomial(d["value"]), d["equation"]
            if name in state.definitions or name in value.names or name not in state.names:
                raise CertificateRefused(place, f"{name} cannot be defined as {value}")
            if equation is None:
                # a new name for the negation
                fresh = value.names
                if len(fresh) != 1 or value != {tuple(fresh): -1} or fresh & state.names:
                    raise CertificateRefused(place, f"{value} is no negation of a new name")
                state.names |= fresh
            else:
                gap = zero(variable(name) - value)
                shown = (
                    state.sign_facts() if equation == "sign" else {substituted(steps.fact(equation), defined)}
                )
                if gap not in shown:
                    raise CertificateRefused(place, f"{name} = {value} is not what the equation says")
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


def _are_roots(p: Sequence[int], modulus: int, classes: Sequence[tuple[int, int]]) -> bool:
    """Whether a power of two divides a polynomial exactly at the integers of classes ``r + m·k``."""

    def at(r: int, m: int) -> list[int]:
        """The coefficients of ``p(r + m·y)``, by the binomial theorem."""
        return [
            sum(a * math.comb(i, j) * r ** (i - j) for i, a in enumerate(p) if i >= j) * m**j
            for j in range(len(p))
        ]

    if any(m < 1 or m & (m - 1) or any(a % modulus for a in at(r, m)) for r, m in classes):
        return False
    todo = [(0, 1)]
    for _ in range(_LOOKED_AT):
        if not todo:
            return True
        r, m = todo.pop()
        if any(m % other == 0 and (r - s) % other == 0 for s, other in classes):
            continue
        free, *rest = at(r, m)
        step = math.gcd(modulus, *rest)
        if free % step:
            continue  # some power of two divides all coefficients but this one
        if step == modulus:
            return False
        todo += [(r, 2 * m), (r + m, 2 * m)]
    return False
