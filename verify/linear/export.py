"""Writes recorded proofs as certificates, in the steps that :mod:`..checker` checks.

A certificate is checked before it is returned.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Any

import z3

from ...core.condition import FALSE, Condition
from ...core.expr import Expr, Extremum, Int, Var
from ..budget import MAX_RLIMIT
from ..checker import (
    FORMAT,
    CertificateRefused,
    Check,
    Solver,
    check_certificate,
    cvc5_refutes,
    polynomials,
    read_formula,
    read_polynomial,
    solvers_at_hand,
    z3_refutes,
)
from ..checker import multiple as multiple_law
from ..checker import product as product_law
from ..checker import quotient as quotient_law
from ..checker import variable as variable_of
from ..preprocess import comparisons
from ..recombine import recombinations
from .case import name_of
from .instances import UNREAD, CertifiedTerms, Context, Instances, as_json, seen
from .polynomial import ONE, Poly, constant, product, variable
from .prover import prove
from .reading import Reading
from .record import Log, Node, Reason, Unrecorded

Json = Any

#: Solvers for a shortened proof.  Their low limits reject a proof that is shorter but slow to check; where the first
#: limits do, the whole proof is as a rule slower still.
_QUICK: tuple[dict[str, Solver], ...] = tuple(
    {"z3": z3_refutes, "cvc5": partial(cvc5_refutes, rlimit=limit)} for limit in (100_000, 300_000)
)


def certificate(name: str, hypotheses: Sequence[Condition], goal: Condition) -> Json:
    """Return a certificate that the hypotheses imply the goal if no divisor is zero, or ``None`` if none is found."""
    proof = recorded(hypotheses, goal)
    return None if proof is None else checked_json(name, hypotheses, goal, proof)


def recorded(hypotheses: Sequence[Condition], goal: Condition) -> Node | None:
    """Return a recorded proof of the goal, of its parts one by one, or of a contradiction in the hypotheses."""
    return _proof(hypotheses, goal) or _by_parts(hypotheses, goal) or _proof(hypotheses, FALSE)


def _proof(hypotheses: Sequence[Condition], goal: Condition) -> Node | None:
    return prove(hypotheses, goal, record=True).proof


def _by_parts(hypotheses: Sequence[Condition], goal: Condition) -> Node | None:
    """Prove the parts of a goal one after another."""
    shown: list[Condition] = []
    parts: list[Node] = []
    left = comparisons(goal)
    while left:
        hard = []
        for part in left:
            known = [*hypotheses, *shown]
            proof = _proof(known, part) or _with_recombined_digits(known, part)
            if proof is None:
                hard.append(part)
            else:
                parts.append({"goal": part, "proof": proof})
                shown.append(part)
        if len(hard) == len(left):
            return None
        left = hard
    return {"step": "goals", "parts": parts}


def _with_recombined_digits(hypotheses: Sequence[Condition], goal: Condition) -> Node | None:
    """Prove that digits in the goal recombine to numbers, then the goal about these numbers."""
    steps, left = recombinations(goal)
    if not steps:
        return None
    claims = [*(s.eq(v) for s, v in steps), left]
    plain = [h for h in hypotheses if not recombinations(h)[0]]
    return of_equal_terms(steps, [_proof(plain, c) for c in claims])


def of_equal_terms(steps: Sequence[tuple[Expr, Expr]], proofs: Sequence[Node | None]) -> Node | None:
    """Return the last proof inside one "equal terms" step for each replaced term, or ``None`` if a proof is missing."""
    if None in proofs:
        return None
    node = proofs[-1]
    for (term, value), equal in reversed(list(zip(steps, proofs[:-1], strict=True))):
        node = {"step": "equal terms", "term": term, "value": value, "equal": equal, "then": node}
    return node


def checked_json(name: str, hypotheses: Sequence[Condition], goal: Condition, proof: Node) -> Json:
    """Return a recorded proof as checked JSON, or ``None`` where it cannot be expressed or is refused."""
    for thorough in (False, True):
        with suppress(Unrecorded, CertificateRefused):
            found = certificate_json(name, hypotheses, goal, proof, thorough=thorough)
            if not found["proof"]:
                # there is nothing to shorten
                check_certificate(found, {"z3": z3_refutes})
                return found
            needed: set[str] = set()
            check = check_certificate(found, {"z3": partial(_refutes, needed, z3.Context())})
            shorter, _ = _without_the_rest(found["proof"], check, needed)
            for quick in _QUICK:
                with suppress(CertificateRefused):
                    # a step that z3 does not need may be needed by another solver
                    check_certificate({**found, "proof": shorter}, {name: quick[name] for name in solvers_at_hand()})
                    return {**found, "proof": shorter}
            return found
    return None


def _refutes(needed: set[str], own: z3.Context, script: str) -> bool:
    """Return whether the assertions are unsatisfiable, and add those of the unsatisfiable core to ``needed``.

    The core depends on earlier questions in the context, so each certificate has a context of its own.
    """
    lines = script.splitlines()
    asserted = [line[len("(assert ") : -1] for line in lines if line.startswith("(assert ")]
    tracked = [f"(declare-const a{k} Bool) (assert (=> a{k} {f}))" for k, f in enumerate(asserted)]
    solver = z3.SimpleSolver(ctx=own)
    solver.set("rlimit", MAX_RLIMIT)
    solver.from_string("\n".join([*(line for line in lines if line.startswith("(declare")), *tracked]))
    if solver.check(*(z3.Bool(f"a{k}", own) for k in range(len(asserted)))) != z3.unsat:
        return False
    needed.update(asserted[int(str(a)[1:])] for a in solver.unsat_core())
    return True


def _without_the_rest(proof: list[Json], check: Check, needed: set[str]) -> tuple[list[Json], set[str]]:
    """Return the steps that are needed, and the names that they mention."""
    kept: list[Json] = []
    mentioned: set[str] = set()

    def mention(*ps: Json) -> None:
        mentioned.update(v for p in ps for term in p for v in term[1:])

    for step in reversed(proof):
        law, *parts = step
        if law == "split":
            mention(parts[0])
            below = [_without_the_rest(case, check, needed) for case in parts[1:]]
            step = [law, parts[0], *(steps for steps, _ in below)]
            mentioned.update(*(names for _, names in below))
        elif law == "cut":
            f = read_formula(parts[0])
            if check.text(f) not in needed:
                continue
            shown, names = _without_the_rest(parts[1], check, needed)
            step = [law, parts[0], shown]
            mentioned.update(names, *(p.names for p in polynomials(f)))
        elif law in ("product", "multiple"):
            stated = product_law if law == "product" else multiple_law
            if check.text(stated(*map(read_polynomial, parts))) not in needed:
                continue
            mention(*parts)
        elif law == "name":
            q, r, a, b = parts
            f = quotient_law(read_polynomial(a), read_polynomial(b), *map(variable_of, (q, r)))
            if mentioned.isdisjoint((q, r)) and check.text(f) not in needed:
                continue
            mention(a, b)
        else:
            mention(parts[0])
        kept.append(step)
    return kept[::-1], mentioned


def certificate_json(
    name: str, hypotheses: Sequence[Condition], goal: Condition, proof: Node, *, thorough: bool = False
) -> Json:
    """Return a recorded proof as JSON.  Raises :class:`Unrecorded`.

    The values of terms are usually needed only after the last replacement; ``thorough`` writes them after each.
    """
    terms = CertifiedTerms([*hypotheses, goal], thorough)
    *known, claimed = terms.claimed
    claim = {"name": name, "hypotheses": known, "goal": claimed, "assumes": "no divisor in the claim is zero"}
    written = _Proof(terms, comparisons(goal)).node(proof, Context())
    return {"format": FORMAT, "claim": claim, "terms": terms.entries, "proof": written}


class _Proof:
    """Translates the nodes of a recorded proof into steps of a certificate."""

    def __init__(self, terms: CertifiedTerms, goals: Sequence[Condition]) -> None:
        self.terms = terms
        self.goals = goals

    def node(self, n: Node, c: Context) -> list[Json]:
        """Return steps that contradict the negated goal.  Raises :class:`Unrecorded`."""
        steps: list[Json] = []
        if (reading := n.get("reading")) is not None:
            c = self._extrema(c, reading, steps)
        if (log := n.get("log")) is not None:
            c = self._named(replace(c, logs=(*c.logs, log)), log, steps)
        match n["step"]:
            case "goals":
                return [["cut", self._goal(p["goal"], c), self.node(p["proof"], c)] for p in n["parts"]]
            case "inline":
                return self.node(n["then"], _viewed(c, {n["variable"]: n["term"]}))
            case "equal terms":
                one = {n["term"]: n["value"]}
                steps.append(["cut", self._goal(n["term"].eq(n["value"]), c), self.node(n["equal"], c)])
                c = replace(c, views=(*_viewed(c, one).views, *c.views))
            case "instance":
                for v, term, changed in n["of"]:
                    c = _viewed(self._quotients({v: term}, c, steps), changed)
                    c = replace(c, meant=(*c.meant, (name_of(v), self.terms.poly(term))))
            case "factor" | "sign":
                return [*steps, self._split(n, c)]
            case "define":
                for d in n["define"]:
                    if d["equation"] is None and not d["value"].names <= self.terms.names(c):
                        (name,) = d["value"].names
                        c = self._name(name, "", -variable(d["name"]), ONE, c, steps)
                defined = (*c.defined, *((d["name"], d["value"]) for d in n["define"]))
                c = replace(c, defined=defined, readings=(*c.readings, *([reading] if reading else [])))
            case "leaf":
                return [*steps, *self._leaf(n, c)]
            case "multiple":
                k, d = n["quotient"], n["divisor"]
                c = self._quotients({k: n["variable"] // d}, c, steps)
                c = _viewed(c, {n["variable"]: k * d})
            case "residues":
                m, quotients = n["modulus"], {v["variable"]: v["quotient"] for v in n["variables"]}
                c = self._quotients({k: v // m for v, k in quotients.items()}, c, steps)
                return [*steps, *self._residues(m, [*quotients.items()], n["cases"], c, {})]
            case "odd factors":
                steps += self._odd(n, c)
            case "roots":
                for part in n["solved"]:
                    steps += self._roots(part["of"], part["variable"], part["modulus"], part["classes"])
        return [*steps, *self.node(n["then"], c)]

    def _leaf(self, n: Node, c: Context) -> list[Json]:
        """Return the shared steps and one cut for each goal; a single goal needs no cut."""
        instances = Instances(self.terms, c, n["reading"])
        steps = instances.steps()
        for part in n["parts"]:
            own = instances.copy()
            for f in part["refute"]:
                own.fact(f)
            if len(n["parts"]) == 1:
                return [*steps, *own.steps()]
            steps.append(["cut", self._goal(part["goal"], c), own.steps()])
        return steps

    def _goal(self, goal: Condition, c: Context) -> Json:
        """Return the formula of a condition to be cut in, as the claim states it where it is one of its goals."""
        same = (g for view in c.views for g in self.goals if seen(g, view) == goal)
        return _formula(self.terms.formula(next(same, goal)))

    # -- names
    def _name(self, q: str, r: str, a: Poly, b: Poly, c: Context, steps: list[Json]) -> Context:
        """Add a step that names a quotient and a remainder."""
        r = r or f"{q}!r"
        steps.append(["name", q, r, as_json(a), as_json(b)])
        return replace(c, names=c.names | {q, r}, named=(*c.named, (a, b, variable(q), variable(r))))

    def _named(self, c: Context, log: Log, steps: list[Json]) -> Context:
        """Add steps that name the quotients and remainders that a log names."""
        for entry in log.entries:
            if isinstance(entry, Reason) and entry.step in ("name", "divisible"):
                a, b, q = (entry.data[key] for key in ("dividend", "divisor", "quotient"))
                r = entry.data.get("remainder")
                a, v = a - b * q.constant, q.without_constant().single
                names = self.terms.names(c)
                if v is not None and v not in names and a.names | b.names <= names:
                    rest = r.single if r is not None and r.single not in names else ""
                    c = self._name(v, rest, a, b, c, steps)
        return c

    def _extrema(self, c: Context, reading: Reading, steps: list[Json]) -> Context:
        """Add steps that name the extrema of the claim as a reading names them."""
        for e in [e for e in self.terms.numbers if isinstance(e, Extremum)]:
            for view in c.views:
                with suppress(*UNREAD):
                    v = reading.value(seen(e, view)).single
                    if v is not None and v not in self.terms.names(c):
                        c = self._name(v, "", self.terms.poly(e), ONE, c, steps)
        return c

    def _quotients(self, quotients: dict[Expr, Expr], c: Context, steps: list[Json]) -> Context:
        """Add steps that name variables introduced for quotients of the claim."""
        for k, term in quotients.items():
            assert isinstance(k, Var)
            self.terms.back[k] = term
            c = self._name(name_of(k), "", self.terms.poly(term), ONE, c, steps)
        return c

    # -- cases
    def _split(self, n: Node, c: Context) -> Json:
        p, cases = n["of"], {}
        for s in ("1", "-1", "0"):
            if s in n["cases"]:
                cases[s] = self.node(n["cases"][s], replace(c, signs=(*c.signs, p)))
                continue
            instances = Instances(self.terms, c, n["reading"])
            if s in n["excluded"]:
                instances.evidence(n["excluded"][s], p * -int(s))
            else:
                # a divisor of the claim, which is not zero, is a multiple
                instances.multiple(p, n["divisor"].divide(p)[0])
            cases[s] = instances.steps([p])
        others = [["split", as_json(-p - ONE), cases["-1"], cases["0"]]]
        return ["split", as_json(p - ONE), cases["1"], others]

    def _residues(
        self, m: int, left: Sequence[tuple[Expr, Expr]], cases: Sequence[Node], c: Context, at: dict[Expr, Expr]
    ) -> list[Json]:
        """Return steps that split into the residues of the remaining variables."""
        if not left:
            return self.node(cases[0], _viewed(c, at))
        (v, k), *others = left
        size = len(cases) // m
        rest, steps = self.terms.poly(v % m), list[Json]()
        for r in reversed(range(m)):
            case = self._residues(m, others, cases[r * size : (r + 1) * size], c, {**at, v: k * m + r})
            steps = [["split", as_json(rest - (r + 1)), steps, case]] if steps else case
        return steps

    # -- powers of two
    def _divided(self, e: Expr, d: int) -> tuple[Poly, Poly, Poly]:
        """Return a term, its quotient and its remainder as polynomials."""
        return self.terms.poly(e), self.terms.poly(e // d), self.terms.poly(e % d)

    def _odd(self, n: Node, c: Context) -> Iterator[Json]:
        """Yield steps: a power of two divides a product exactly if it divides the product without its odd factors."""
        for part in n["odd"]:
            yield ["cut", self._goal((part["factor"] % 2).eq(1), c), self.node(part["proof"], c)]
        powers = {(d.value, seen(e, view)) for d, e in self.terms.divided if isinstance(d, Int) for view in c.views}
        for part in n["shorter"]:
            odd = [n["odd"][k]["factor"] for k in part["factors"]]
            for d in sorted(d for d, e in powers if e == part["of"]):
                (e, q, r), (rest, left_over, s) = (self._divided(part[key], d) for key in ("of", "rest"))
                whole = product(map(self.terms.poly, odd))
                back = [["multiple", as_json(rest - left_over * d), as_json(whole)]]
                steps: list[Json] = []
                for k, v in enumerate(odd):
                    # e = v·left and e = d·q, and v·i = 1 + d·t: left = d·(q·i - t·left)
                    p, h = self.terms.poly(v), self.terms.poly(v // 2)
                    i, t = variable(f"i!{k}"), variable(f"t!{k}")
                    left = product([rest, *map(self.terms.poly, odd[k + 1 :])])
                    steps.append(["inverse", as_json(h), d.bit_length() - 1, i.single, t.single])
                    zeros = ((e - q * d, i), (p - h * 2 - ONE, i), (p * i - t * d - ONE, left))
                    steps += [["multiple", as_json(u), as_json(w)] for u, w in zeros]
                    e, q = left, q * i - t * left
                yield from _equivalent(r, [s], steps, [back])

    def _roots(self, e: Expr, v: Var, d: int, classes: Sequence[tuple[int, int]]) -> Iterator[Json]:
        """Yield steps, bit by bit: a power of two divides a polynomial exactly in some residue classes of its variable."""
        p, _, rest = self._divided(e, d)

        def in_class(r: int, m: int, y: Poly) -> list[Json]:
            instances = Instances(self.terms, Context(names=y.names), None)
            instances.value(name_of(v), y * m + r)
            return instances.steps([p])

        def of_bits(r: int, m: int, y: Poly) -> list[Json]:
            q = p.substitute({name_of(v): variable("y") * m + r})
            step = math.gcd(d, *q.without_constant().terms.values())
            if q.constant % step or step == d:
                return in_class(r, m, y)
            half, bit = f"y!{2 * m}", f"bit!{2 * m}"
            one, zero = (of_bits(r + b * m, 2 * m, variable(half)) for b in (1, 0))
            named = ["name", half, bit, as_json(y), as_json(constant(2))]
            return [named, ["split", as_json(variable(bit) - ONE), one, zero]]

        found = [self._divided(v - r, m) for r, m in classes]
        back = [in_class(r, m, q) for (r, m), (_, q, _) in zip(classes, found, strict=True)]
        yield from _equivalent(rest, [s for _, _, s in found], of_bits(0, 1, variable(name_of(v))), back)


def _equivalent(one: Poly, others: Sequence[Poly], steps: Json, back: Sequence[Json]) -> Iterator[Json]:
    """Yield cuts which state that ``one`` is zero if and only if one of ``others`` is."""
    equal = [["eq", as_json(p)] for p in (one, *others)]
    unequal = [["or", ["ge", as_json(p - ONE)], ["ge", as_json(-p - ONE)]] for p in (one, *others)]
    yield ["cut", ["or", unequal[0], *equal[1:]], steps]
    for other, shown in zip(unequal[1:], back, strict=True):
        yield ["cut", ["or", other, equal[0]], shown]


def _viewed(c: Context, one: dict[Expr, Expr]) -> Context:
    """Return the context after another replacement."""
    return replace(c, views=tuple((*view, one) for view in c.views))


def _formula(f: Any) -> Json:
    """Return a formula of the checker as JSON."""
    if f[0] in ("and", "or"):
        return [f[0], *map(_formula, f[1])]
    return [f[0], [[c, *m] for m, c in f[1].items()]]
