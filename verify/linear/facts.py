"""Facts over polynomials in one sign case, with their reasons, and inferences between numbers and their digits."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

from ...core.expr import Expr
from .bounds import Bounds, Evidence
from .case import Definition, ImpossibleCase, SignCase, ValueNames, Witness, rank
from .formula import All, AtLeast, Formula, FormulaLogic, Some, Zero, at_least, substitute, tight, zero
from .polynomial import ONE, ZERO, Monomial, Poly, Ring, common, over, variable
from .record import LinearFact, Log, Reason, Unrecorded

#: Limit on the terms of a fact that is divided.
_DIVIDED = 80
#: Limit on the sums that are tried as strides of an equation.
_STRIDES = 4


class CaseFacts(Ring, FormulaLogic):
    """The facts of one case.  If a certificate is wanted, ``log`` collects their reasons."""

    def __init__(
        self, case: SignCase, names: ValueNames, *, refine: bool = True, eager: bool = False, log: Log | None = None
    ) -> None:
        self.case = case
        self.log = log
        self.names = names
        self.eager = eager
        self.rewrites: dict[Monomial, Poly] = {}
        self.refine = refine
        self.bounds = Bounds()
        self.facts: list[LinearFact] = []
        self.witnesses: list[Witness] = []
        self.choices: list[tuple[Poly, tuple[Poly, ...]]] = []
        self.defining: list[Definition] = []
        self._claimed: set[str] = set()
        self._fresh: set[str] = set()
        self._memo: dict[Expr, Poly] = {}
        self._divided: dict[tuple[Poly, Poly], tuple[Poly, Poly]] = {}
        self._extrema: dict[tuple[str, tuple[Poly, ...]], Poly] = {}
        self._signs: dict[Poly, int] = {}
        self._bounds_divided: set[Poly] = set()
        self._facts_seen = 0
        self._divisor = ZERO
        self._ranges: dict[tuple[Poly, Poly], tuple[Evidence, Evidence]] = {}
        self._equations: list[LinearFact] = []
        #: Quotient and remainder by dividend and positive divisor, in recorded proofs only.  The first result is kept:
        #: contradictory facts could give another one later.
        self.divisions: dict[tuple[Poly, Poly], tuple[Poly, Poly]] = {}
        self._carry()

    def _carry(self) -> None:
        values = self.case.definitions
        for p, s in self.case.signs:
            p = p.substitute(values)
            self._signs[p] = s
            self.state(at_least(p * s - ONE) if s else zero(p), "sign split")
        for f in self.case.facts:
            self.state(substitute(f.formula, values), f.why)
        for w in self.case.witnesses:
            w = w.substitute(values)
            self.witnesses.append(w)
            self._divided[w.dividend, w.divisor] = w.quotient, w.remainder

    def learn(self, p: Poly, why: str, reason: Reason | None = None) -> None:
        """State ``p >= 0``."""
        self.state(at_least(p), why, reason)

    def state(self, f: Formula, why: str, reason: Reason | None = None) -> None:
        """Add a fact."""
        fact = LinearFact(f, why, reason)
        match f:
            case All(parts):
                for g in parts:
                    self.state(g, why, reason)
                return
            case Some(()):
                self._note(fact)
                raise ImpossibleCase(fact)
            case AtLeast(p):
                if p in self.bounds.facts:
                    return
                self.bounds.learn(p)
        self.facts.append(fact)
        if self.log is not None:
            self.log.add(fact)
            if isinstance(f, Zero):
                self._equations.append(fact)
        if isinstance(f, Zero) and self.eager and why == "hypothesis":
            self._rewrite(f.p)

    def _settle(self) -> None:
        """Propagate lower bounds, and log their evidence."""
        self.bounds.settle()
        if self.log is not None:
            self.log.settle(self.bounds)
        self.bounds.settled.clear()

    def _made(
        self, step: str, natural: Mapping[str, Poly] = {}, positive: Poly | None = None, **data: Any
    ) -> Reason | None:
        """Return a reason if a certificate is wanted, with evidence for ``natural`` and ``positive`` polynomials."""
        if self.log is None:
            return None
        data |= {k: self.bounds.evidence(p) for k, p in natural.items()}
        data |= {} if positive is None else {"one": self.at_least_one(positive)}
        made = {k: self.log.resolved(v) if isinstance(v, Evidence) else v for k, v in data.items()}
        return Reason(step, made)

    def _gaps(self, step: str, gaps: Iterable[Poly]) -> Reason | None:
        """Return a reason with evidence that ``gaps`` are not negative.  Raises :class:`Unrecorded` if it is unknown."""
        if self.log is None:
            return None
        gaps = [*gaps]
        for p in gaps:
            if not self.bounds.certain(p):
                raise Unrecorded(f"{p} is not negative")
        return Reason(step, {"gaps": [(p, self.log.resolved(self.bounds.evidence(p))) for p in gaps]})

    def _note(self, *entries: LinearFact | Reason | None) -> None:
        """Add entries to the log, if any."""
        for entry in entries:
            if self.log is not None and entry is not None:
                self.log.add(entry)

    def _note_named(self, step: str, w: Witness, equation: LinearFact, **data: Poly) -> None:
        """Log the name of a quotient, and its defining equation."""
        if self.log is not None:
            parts = {"dividend": w.dividend, "divisor": w.divisor, "quotient": w.quotient, **data}
            self._note(self._made(step, {}, w.divisor, **parts), equation)
            self._equations.append(equation)

    def at_least_one(self, b: Poly) -> Evidence:
        """Return the evidence of ``b >= 1`` for a ``b`` that was found positive.  Raises :class:`Unrecorded`."""
        bounds = self.bounds
        if b.is_constant or bounds.certain(b - ONE):
            return bounds.evidence(b - ONE)
        shared = shared_factor(b)
        if shared != ONE and shared != b:
            whole, _ = b.divide(shared)
            for factor, rest in ((shared, whole), (-shared, -whole)):
                if bounds.certain(factor - ONE):
                    # f·w - 1 = f·(w - 1) + (f - 1)
                    part = self.at_least_one(rest).times(factor, bounds.natural(factor))
                    return part + bounds.evidence(factor - ONE)
        raise Unrecorded(f"{b} is positive")

    def _range(self, r: Poly, b: Poly) -> tuple[Evidence, Evidence]:
        """Return the evidence of ``0 <= r`` and of ``r <= b - 1``.  Raises :class:`Unrecorded`."""
        if (r, b) not in self._ranges:
            if not r:
                self._ranges[r, b] = Evidence(), self.at_least_one(b)
            elif self.bounds.certain(r) and self.bounds.certain(b - r - ONE):
                self._ranges[r, b] = self.bounds.evidence(r), self.bounds.evidence(b - r - ONE)
            else:
                raise Unrecorded(f"{r} is a remainder by {b}")
        return self._ranges[r, b]

    def _rewrite(self, equation: Poly) -> None:
        """Turn an equation with a product of two variables of the claim into a rewrite of the product."""
        for m, c in sorted(equation.terms.items(), key=lambda t: (-len(t[0]), t[0])):
            rest = Poly({n: k for n, k in equation.terms.items() if n != m})
            inside = any(over(n, m) is not None for n in rest.terms)
            if len(m) == 2 and abs(c) == 1 and not any(map(rank, m)) and not inside:
                if m not in self.rewrites:
                    self.rewrites[m] = rest * -c
                    if self.log is not None:
                        # terms that were read before must be read again, with the product replaced
                        self._memo.clear()
                return

    def rewritten(self, p: Poly) -> Poly:
        """Replace the products in ``p`` for which a hypothesis states an equation; only when eager."""
        for _ in range(8 if self.rewrites else 0):
            for m, value in self.rewrites.items():
                moved = p.replace(m, value)
                if moved != p:
                    p = moved
                    break
            else:
                return p
        return p

    def compare_digits(self) -> None:
        """Infer ``t = 0`` and ``r = 0`` from ``b·t + r = 0`` and ``-b < r < b``: equal numbers have equal digits."""
        todo = [f for f in self.facts if isinstance(f.formula, Zero) and f.formula.p.degree > 1]
        if todo:
            self.divide_bounds()
        certain = self.bounds.certain
        fuel = 60
        while todo and fuel > 0:
            equation = todo.pop()
            assert isinstance(equation.formula, Zero)
            p = equation.formula.p
            for b in self._strides(p):
                t, r = p.divide(b)
                if t.is_constant:
                    continue
                fuel -= 1
                if not r or (certain(b - r - ONE) and certain(b + r - ONE)):
                    sides = {"high": b - r - ONE, "low": b + r - ONE}
                    reason = self._made("equal digits", sides, base=b, t=t, r=r, of=equation)
                    for part in (t, r):
                        if part:
                            self.state(zero(part), "equal digits", reason)
                            todo += [f for f in self.facts[-1:] if f.formula == zero(part) and part.degree > 1]
                    break
                if fuel <= 0:
                    break

    def _strides(self, p: Poly) -> list[Poly]:
        """Return candidate strides: products of positive names that divide a term of ``p``, longest first, then sums."""
        found: dict[Monomial, None] = {}
        for m in p.terms:
            base = tuple(v for v in m if self.bounds.low.get(v, 0) >= 1)
            for k in range(len(m)) if len(base) == len(m) else ():
                found[m[:k] + m[k + 1 :]] = None
            if base:
                found[base] = None
        products = [Poly({m: 1}) for m in sorted(found, key=lambda m: (-len(m), m)) if m]
        return [*products, *self._cofactors(p)]

    def _cofactors(self, p: Poly) -> list[Poly]:
        """Return the positive sums that ``p`` multiplies a name by, the longest first: padded strides ``n·m + g``."""
        found: dict[Poly, None] = {}
        for v in sorted(p.names):
            terms = {m: c for m, c in p.terms.items() if v in m}
            if len(terms) > 1 and all(m.count(v) == 1 for m in terms):
                b = Poly({over(m, (v,)) or (): c for m, c in terms.items()})
                # keep the sign with which it is positive
                found.update({q: None for q in (b, -b) if self.bounds.certain(q - ONE)})
        return sorted(found, key=lambda b: (-b.degree, -len(b), b.key))[:_STRIDES]

    def divide_bounds(self) -> None:
        """Infer ``t ≥ 0`` from ``b·t + r ≥ 0`` and ``r < b``: bounds of numbers give bounds of digits."""
        if len(self.bounds.facts) == self._facts_seen:
            return
        seen = self._bounds_divided
        todo = [p for p in self.bounds.facts if p.degree > 1 and len(p) <= _DIVIDED and p not in seen]
        seen.update(todo)
        fuel = 200
        # a padded size is a sum, the size of nested tiles is a product
        whole = list(dict.fromkeys(w.divisor for w in self.witnesses if w.divisor.degree > 1 or len(w.divisor) > 1))
        while todo and fuel > 0:
            p = todo.pop()
            factors = sorted({v for m in p.terms if len(m) > 1 for v in m if self.bounds.low.get(v, 0) >= 1})
            for b in (*map(variable, factors), *(b for b in whole if b.names <= p.names)):
                t, r = p.divide(b)
                if t.is_constant:
                    continue
                if self.bounds.certain(-r - ONE):
                    # r < 0 strengthens the bound to t >= 1
                    t, r = t - ONE, r + b
                if t in seen:
                    continue
                fuel -= 1
                if not self.bounds.certain(b - r - ONE):
                    continue
                seen.add(t)
                if not self.bounds.certain(t):
                    known = {"of": p, "gap": b - r - ONE}
                    self.learn(t, "divided bound", self._made("divided bound", known, b, base=b, t=t, r=r))
                    if t.degree > 1:
                        todo.append(tight(t))
        self._facts_seen = len(self.bounds.facts)

    def _name(self, stem: str, *meaning: object) -> Poly:
        """Return the name of a value, or its definition in this case."""
        return self.names.of(stem, *meaning).substitute(self.case.definitions)


def shared_factor(b: Poly) -> Poly:
    """Return the greatest monomial that divides every term; it is negative for a single negative term only."""
    shared: tuple[str, ...] | None = None
    coefficient = 0
    for m, c in b.key:
        shared = m if shared is None else common(shared, m)
        coefficient = math.gcd(coefficient, c)
    sign = -1 if len(b) == 1 and b.key[0][1] < 0 else 1
    return Poly({shared or (): sign * coefficient})
