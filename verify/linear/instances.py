"""Instances of the two product laws that a leaf of a recorded proof needs in a certificate.

The reduction replaces names by polynomials.  A certificate does not: it derives the effect on products from instances, as
``x·y = q·b·y + r·y`` from ``x = q·b + r``.  Each recorded reason (:mod:`.record`) determines the products that it needs.
"""

from __future__ import annotations

import copy
import itertools
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from ...core.condition import Condition, Divides, atoms
from ...core.expr import Binary, CeilDiv, Expr, Extremum, Var
from ..certificate import ClaimReader
from ..checker import Formula as CheckedFormula
from ..checker import Polynomial, Terms, polynomials
from .case import ImpossibleCase, NeedSign, name_of
from .formula import AtLeast, Formula
from .formula import atoms as atoms_of
from .polynomial import ONE, ZERO, Monomial, Poly, over, variable
from .reading import Reading
from .record import LinearFact, Log, Reason, Resolved, Unrecorded

#: Exceptions with which a reading rejects a term.
UNREAD = (NeedSign, ImpossibleCase, Unrecorded, ZeroDivisionError)
#: Limit on the products in which names are replaced.
_MONOMIALS = 4000

Json = Any


@dataclass(frozen=True)
class Context:
    """A node of a proof: the logs above it, the names in scope, and the replacements made in the claim."""

    logs: tuple[Log, ...] = ()
    names: frozenset[str] = frozenset()
    #: Alternative sequences of replacements in the claim.
    views: tuple[tuple[dict[Expr, Expr], ...], ...] = ((),)
    #: Polynomials whose signs have been decided.
    signs: tuple[Poly, ...] = ()
    #: Dividend, divisor, quotient and remainder of each named division.
    named: tuple[tuple[Poly, Poly, Poly, Poly], ...] = ()
    #: Definitions of names, and the readings after which they were made.
    defined: tuple[tuple[str, Poly], ...] = ()
    #: The terms of the claim for which variables stand.
    meant: tuple[tuple[str, Poly], ...] = ()
    readings: tuple[Reading, ...] = ()


class CertifiedTerms(ClaimReader):
    """The terms of a certificate while it is written."""

    def __init__(self, claim: Sequence[Condition], thorough: bool) -> None:
        super().__init__(Terms())
        self.thorough = thorough
        #: Terms of the claim for variables that the proof introduced.
        self.back: dict[Expr, Expr] = {}
        self.divided = [(c.d, c.e) for part in claim for c in atoms(part) if isinstance(c, Divides)]
        self.claimed = [self.json(c) for c in claim]
        self.claim = [self.terms.condition(c) for c in self.claimed]

    def formula(self, c: Condition) -> CheckedFormula:
        """Return a condition as a formula of the checker."""
        return self.condition(c.substitute(self.back))

    def poly(self, e: Expr) -> Poly:
        """Return an expression as a polynomial over the names of the checker."""
        return Poly(dict(self.term(e.substitute(self.back))))

    def quotient(self, a: Poly, b: Poly, *, defined: bool = True) -> tuple[Poly, Poly]:
        """Return the names of a quotient and a remainder."""
        q, r = self.terms.divided(Polynomial(a.terms), Polynomial(b.terms), defined)
        return Poly(dict(q)), Poly(dict(r))

    def names(self, c: Context) -> set[str]:
        """Return the names that a step may use in this context."""
        return {*c.names, *self.terms.variables, *self.terms.meaning}


def seen(x: Any, view: Sequence[dict[Expr, Expr]]) -> Any:
    """Return a term or a condition after a sequence of replacements."""
    for one in view:
        x = x.substitute(one)
    return x


def as_json(p: Poly) -> Json:
    """Return a polynomial as JSON."""
    return [[c, *m] for m, c in p.key]


class Instances:
    """The instances that the facts in the logs need, and those that :meth:`fact` and :meth:`evidence` add."""

    def __init__(self, terms: CertifiedTerms, context: Context, reading: Reading | None) -> None:
        self.terms, self.context = terms, context
        self._found: dict[tuple[str, Poly, Poly], None] = {}
        self._written: set[tuple[str, Poly, Poly]] = set()
        self._values: dict[str, dict[Poly, None]] = {}
        self._rewrites: dict[Monomial, Poly] = {}
        self._facts: set[int] = set()
        self._polys = [*context.signs, *(b * q for _, b, q, _ in context.named)]
        entries = [entry for log in context.logs for entry in log.entries]
        for v, p in context.meant:
            self.value(v, p)
        if reading is not None:
            now = reading.case.definitions
            self._multiples = self._divisible(entries, now)
            for v, p in context.defined if terms.thorough else now.items():
                self.value(v, p)
            self._rewrites.update(reading.rewrites)
            for r in (*(context.readings if terms.thorough else ()), reading):
                self._link(r)
        for entry in entries:
            if isinstance(entry, LinearFact):
                self.fact(entry)
            else:
                self._reason(entry, ZERO)

    def copy(self) -> Instances:
        """Return a copy to which instances for one goal can be added."""
        out = copy.copy(self)
        for name, value in vars(self).items():
            if name.startswith("_"):
                setattr(out, name, copy.copy(value))
        return out

    def steps(self, polys: Sequence[Poly] = ()) -> list[Json]:
        """Return the instances that were not returned before, as steps of a certificate."""
        self._replace_in_products(polys)
        names = self.terms.names(self.context)
        new = [f for f in self._found if f not in self._written and f[1].names | f[2].names <= names]
        self._written.update(new)
        return [[law, as_json(u), as_json(v)] for law, u, v in new]

    # -- laws
    def product(self, u: Poly, v: Poly) -> None:
        """Request ``u >= 0 ∧ v >= 0 ⇒ u·v >= 0``; with a constant factor linear arithmetic knows it."""
        if not (u.is_constant or v.is_constant):
            self._found["product", u, v] = None

    def multiple(self, u: Poly, v: Poly) -> None:
        """Request ``u = 0 ⇒ u·v = 0``."""
        if not (u.is_constant or v.is_constant):
            self._found["multiple", u, v] = None

    def apart(self, d: Poly, b: Poly) -> None:
        """Request the instances which imply ``d = 0`` if ``-b < b·d < b``."""
        self.product(d - ONE, b)
        self.product(-d - ONE, b)
        self.multiple(d, b)

    def value(self, name: str, p: Poly) -> None:
        """Record that a name equals a polynomial; only the first value is kept unless the proof is thorough."""
        if self.terms.thorough or name not in self._values or name in dict(self.context.meant):
            self._values[name] = {**self._values.get(name, {}), p: None}

    def _replace_in_products(self, polys: Sequence[Poly]) -> None:
        """Request the instances that replace names by their values inside products."""
        said = (*self.terms.claim, *self.terms.terms.facts(self.terms.claim))
        todo: list[Monomial] = [m for f in said for p in polynomials(f) for m in p]
        for p in (*self._polys, *polys, *(p for _, u, v in self._found for p in (u * v, u, v))):
            todo += p.terms
        done: set[Monomial] = set()
        while todo and len(done) < _MONOMIALS:
            m = todo.pop()
            if len(m) < 2 or m in done:
                continue
            done.add(m)
            for name, p in self.context.meant:
                others = over(m, max(p.terms, key=lambda n: (len(n), n)))
                if others:
                    self.multiple(variable(name) - p, Poly({others: 1}))
                    todo.append(tuple(sorted((name, *others))))
            v = next((v for v in m if v in self._values), None)
            factor: Monomial = (v,) if v else ()
            values = self._values.get(v or "", {})
            if v is None:
                factor = next((k for k in self._rewrites if over(m, k) is not None), ())
                values = {self._rewrites[factor]: None} if factor else {}
            rest = Poly({over(m, factor) or (): 1})
            for value in values:
                self.multiple(Poly({factor: 1}) - value, rest)
                todo += (value * rest).terms

    # -- terms of the claim
    def _divisible(self, entries: Sequence[LinearFact | Reason], now: dict[str, Poly]) -> dict[tuple[Poly, Poly], Poly]:
        """Return the quotients that divisibility hypotheses name, by dividend and divisor, before and after definitions."""
        found = {}
        for entry in entries:
            if isinstance(entry, Reason) and entry.step == "divisible":
                a, b, d, k = (entry.data[key] for key in ("given", "divisor", "dividend", "quotient"))
                k = k + (a - d).divide(b)[0]
                found[a, b] = k
                found[a.substitute(now), b.substitute(now)] = k.substitute(now)
        return found

    def _link(self, reading: Reading) -> None:
        """Request the instances which imply that terms of the claim equal their values in a reading."""
        terms = self.terms
        compound = (Binary, Extremum, Var)
        for e, view in itertools.product([*terms.numbers], self.context.views):
            if isinstance(e, compound):
                with suppress(*UNREAD):
                    self._link_term(e, seen(e, view), reading)
        for (d, e), view in itertools.product(terms.divided, self.context.views):
            with suppress(*UNREAD):
                names = terms.quotient(terms.poly(e), terms.poly(d), defined=False)
                self._link_quotient(
                    names, terms.poly(d), reading.value(seen(e, view)), reading.value(seen(d, view)), reading
                )

    def _link_term(self, e: Any, now: Expr, reading: Reading) -> None:
        if isinstance(e, Binary) and isinstance(now, Binary):
            sign = -1 if isinstance(e, CeilDiv) else 1
            a, d = self.terms.poly(e.a) * sign, self.terms.poly(e.b)
            value = reading.value(now.a) * sign
            self._link_quotient(self.terms.quotient(a, d), d, value, reading.value(now.b), reading)
        elif now is not e or isinstance(e, Extremum):
            name = name_of(e) if isinstance(e, Var) else self.terms.poly(e).single
            if name is not None:
                self.value(name, reading.value(now))

    def _link_quotient(self, names: tuple[Poly, Poly], d: Poly, a: Poly, b: Poly, reading: Reading) -> None:
        """Request the instances which imply that the ``names`` of a division by ``d`` equal ``a // b`` and ``a % b``."""
        found = self._values_of(a, b, reading)
        if found is None:
            return
        for name, value in zip(names, found, strict=True):
            if name.single and value is not None:
                self.value(name.single, value)
        gap = names[0] - found[0]
        self.apart(gap, d)
        self.apart(gap, -d)

    def _values_of(self, a: Poly, b: Poly, reading: Reading) -> tuple[Poly, Poly | None] | None:
        logged = reading.divisions
        whole, rest = a.divide(b) if b else (ZERO, ONE)
        for s in (1, -1):
            if (a * s, b * s) in logged:
                q, r = logged[a * s, b * s]
                return q, r * s
        for s in (1, -1):
            # a ceiling is logged as a floor: -((-a) // b) = (a + b - 1) // b
            if (up := (b * s - a * s - ONE, b * s)) in logged:
                return -logged[up][0], None
            if (a, b * s) in self._multiples:
                return self._multiples[a, b * s] * s, ZERO
        return None if rest else (whole, ZERO)

    # -- reasons
    def fact(self, f: LinearFact) -> None:
        """Request the instances that a fact depends on."""
        if id(f) not in self._facts:
            self._facts.add(id(f))
            self._polys += [a.p for a in atoms_of(f.formula)]
            if f.reason is not None:
                self._reason(f.reason, _bounded(f.formula))

    def evidence(self, e: Resolved, p: Poly) -> None:
        """Request the products whose sum is ``p >= 0``."""
        starts: dict[str, Poly] = {}
        for f in e.shifts:
            self.fact(f)
            bound = _bounded(f.formula)
            ((v, k),) = bound.units()
            if v not in starts or k > 0:
                starts[v] = bound

        # write every name by its distance from its bound, which is a natural number
        def as_natural(v: str) -> Poly:
            bound = starts[v]
            return (variable(f"{v} bound") - bound.constant) * bound.terms[v,]

        values = {v: as_natural(v) for v in starts}
        bounds = {f"{v} bound": bound for v, bound in starts.items()}

        def factors(q: Poly) -> list[Poly]:
            out = []
            for m in q.substitute(values).terms:
                whole = ONE
                for v in m:
                    bound = bounds.get(v, variable(v))
                    self.product(whole, bound)
                    whole = whole * bound
                out.append(whole)
            return out

        for cofactor, f in e.parts:
            self.fact(f)
            q = _bounded(f.formula)
            p = p - cofactor * q
            for factor in factors(cofactor):
                self.product(factor, q)
        factors(p)

    def _reason(self, r: Reason, p: Poly) -> None:
        """Request the instances that the reason for ``p >= 0`` depends on."""
        d = r.data
        match r.step:
            case "combination":
                self.evidence(d["evidence"], d.get("of") or p)
            case "name" | "divisible":
                self._named(d)
            case "quotient":
                self.evidence(d["low"], d["remainder"])
                self.evidence(d["high"], d["divisor"] - d["remainder"] - ONE)
                for cofactor, f in d["equations"]:
                    self.fact(f)
                    self.multiple(f.formula.p, cofactor)
            case "quotient of a natural number":
                self.evidence(d["natural"], d["dividend"])
                self.product(-d["quotient"] - ONE, d["divisor"])
            case "quotient of a bound":
                self.evidence(d["below"], d["divisor"] * (d["t"] + ONE) - ONE - d["dividend"])
                self.product(d["quotient"] - d["t"] - ONE, d["divisor"])
            case "divided bound":
                b, t, rest = d["base"], d["t"], d["r"]
                self.evidence(d["one"], b - ONE)
                self.evidence(d["of"], b * t + rest)
                self.evidence(d["gap"], b - rest - ONE)
                self.product(-t - ONE, b)
            case "equal digits":
                b, t, rest = d["base"], d["t"], d["r"]
                self.fact(d["of"])
                self.evidence(d["high"], b - rest - ONE)
                self.evidence(d["low"], b + rest - ONE)
                self.apart(t, b)
            case "extremum" | "extremum bound":
                for gap, why in d["gaps"]:
                    self.evidence(why, gap)
            case "substitution":
                self.fact(d["equation"])
                self.fact(d["of"])
                for v, value in d["values"].items():
                    self.value(v, value)
            case "lemma":
                self._lemma(d["lemma"], d["with"], d["given"])

    def _named(self, d: dict[str, Any]) -> None:
        """Request the instances which equate this quotient with a named one whose dividend differs by a multiple."""
        self.evidence(d["one"], d["divisor"] - ONE)
        for a, b, q, r in self.context.named:
            if b == d["divisor"] and (q.names == d["quotient"].names or d.get("remainder", r) == r):
                more, left = (d["dividend"] - a).divide(b)
                if not left:
                    self.apart(d["quotient"] - q - more, b)

    def _lemma(self, name: str, w: dict[str, Poly], given: Sequence[tuple[Poly, Resolved | LinearFact]]) -> None:
        for p, why in given:
            if isinstance(why, LinearFact):
                self.fact(why)
            else:
                self.evidence(why, p)
        match name:
            case "product of an equation":
                self.multiple(w["e"], w["p"])
            case "product of bounds":
                self.product(w["e"], w["p"])
            case "product of positives":
                self.product(w["p"] - ONE, w["q"] - ONE)
            case "multiples are apart":
                self.apart(w["d"], w["b"])
            case "sign of a product":
                self.product(w["e"], w["d"])
                self.product(w["e"], -w["d"])
            case "zero product":
                for s, t in itertools.product((1, -1), repeat=2):
                    self.product(w["p"] * s - ONE, w["q"] * t - ONE)
            case "square":
                for p in (w["p"], -w["p"]):
                    self.product(p - ONE, p)
                    self.product(p, p + ONE)
            case "product of a choice":
                self.multiple(w["m"] - w["a"], w["p"])


def _bounded(f: Formula) -> Poly:
    return f.p if isinstance(f, AtLeast) else ZERO
