"""Facts over polynomials in one sign case, with their reasons, and what digits and bounds of numbers say of each other."""

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

#: Longer facts than this are not divided.
_DIVIDED = 80
#: So many sums are tried as strides of an equation.
_STRIDES = 4


class CaseFacts(Ring, FormulaLogic):
    """The facts of one case.  Where a certificate is wanted the log has the reasons."""

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
        #: By dividend and positive divisor.  A proof that is recorded has one quotient for both: where facts contradict
        #: each other, another one would do as well later on.
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
        """Propagate lower bounds, and note where they come from."""
        self.bounds.settle()
        if self.log is not None:
            self.log.settle(self.bounds)
        self.bounds.settled.clear()

    def _made(
        self, step: str, natural: Mapping[str, Poly] = {}, positive: Poly | None = None, **data: Any
    ) -> Reason | None:
        """A reason, where a certificate is wanted, with why polynomials are ``natural``, and why one is ``positive``."""
        if self.log is None:
            return None
        data |= {k: self.bounds.evidence(p) for k, p in natural.items()}
        data |= {} if positive is None else {"one": self.at_least_one(positive)}
        made = {k: self.log.resolved(v) if isinstance(v, Evidence) else v for k, v in data.items()}
        return Reason(step, made)

    def _gaps(self, step: str, gaps: Iterable[Poly]) -> Reason | None:
        """The same for differences that are not negative.  Raises :class:`Unrecorded` where that is not at hand."""
        if self.log is None:
            return None
        gaps = [*gaps]
        for p in gaps:
            if not self.bounds.certain(p):
                raise Unrecorded(f"{p} is not negative")
        return Reason(step, {"gaps": [(p, self.log.resolved(self.bounds.evidence(p))) for p in gaps]})

    def _note(self, *entries: LinearFact | Reason | None) -> None:
        """Add to the log, where there is one."""
        for entry in entries:
            if self.log is not None and entry is not None:
                self.log.add(entry)

    def _note_named(self, step: str, w: Witness, equation: LinearFact, **data: Poly) -> None:
        """Note that a quotient has a name, and the equation of it."""
        if self.log is not None:
            parts = {"dividend": w.dividend, "divisor": w.divisor, "quotient": w.quotient, **data}
            self._note(self._made(step, {}, w.divisor, **parts), equation)
            self._equations.append(equation)

    def at_least_one(self, b: Poly) -> Evidence:
        """Why ``b >= 1``, for a ``b`` that has been found to be positive.  Raises :class:`Unrecorded`."""
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
        """Why ``0 <= r`` and ``r <= b - 1``.  Raises :class:`Unrecorded`."""
        if (r, b) not in self._ranges:
            if not r:
                self._ranges[r, b] = Evidence(), self.at_least_one(b)
            elif self.bounds.certain(r) and self.bounds.certain(b - r - ONE):
                self._ranges[r, b] = self.bounds.evidence(r), self.bounds.evidence(b - r - ONE)
            else:
                raise Unrecorded(f"{r} is a remainder by {b}")
        return self._ranges[r, b]

    def _rewrite(self, equation: Poly) -> None:
        """Use an equation of a product of variables to rewrite the product."""
        for m, c in sorted(equation.terms.items(), key=lambda t: (-len(t[0]), t[0])):
            rest = Poly({n: k for n, k in equation.terms.items() if n != m})
            inside = any(over(n, m) is not None for n in rest.terms)
            if len(m) == 2 and abs(c) == 1 and not any(map(rank, m)) and not inside:
                if m not in self.rewrites:
                    self.rewrites[m] = rest * -c
                    if self.log is not None:
                        # what is read from now on is read with the product replaced
                        self._memo.clear()
                return

    def rewritten(self, p: Poly) -> Poly:
        """``p`` with products replaced for which a hypothesis states an equation; only when eager."""
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
        """``b·t + r = 0`` with ``-b < r < b`` as ``t = 0`` and ``r = 0``: equal numbers have equal digits."""
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
        """Products of positive names that divide a term of ``p``, the longest first."""
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
        """Return the sums that names of ``p`` are multiplied with: strides with gaps, ``n·m + g``; longest first."""
        found: dict[Poly, None] = {}
        for v in sorted(p.names):
            terms = {m: c for m, c in p.terms.items() if v in m}
            if len(terms) > 1 and all(m.count(v) == 1 for m in terms):
                b = Poly({over(m, (v,)) or (): c for m, c in terms.items()})
                # of b and -b the one that is positive
                found.update({q: None for q in (b, -b) if self.bounds.certain(q - ONE)})
        return sorted(found, key=lambda b: (-b.degree, -len(b), b.key))[:_STRIDES]

    def divide_bounds(self) -> None:
        """``b·t + r ≥ 0`` with ``r < b`` as ``t ≥ 0``: in radix notation, bounds of numbers as bounds of digits."""
        if len(self.bounds.facts) == self._facts_seen:
            return
        seen = self._bounds_divided
        todo = [p for p in self.bounds.facts if p.degree > 1 and len(p) <= _DIVIDED and p not in seen]
        seen.update(todo)
        fuel = 200
        # a size that is padded itself is a sum where it divides, and that of a tile of tiles is a product
        whole = list(dict.fromkeys(w.divisor for w in self.witnesses if w.divisor.degree > 1 or len(w.divisor) > 1))
        while todo and fuel > 0:
            p = todo.pop()
            factors = sorted({v for m in p.terms if len(m) > 1 for v in m if self.bounds.low.get(v, 0) >= 1})
            for b in (*map(variable, factors), *(b for b in whole if b.names <= p.names)):
                t, r = p.divide(b)
                if t.is_constant:
                    continue
                if self.bounds.certain(-r - ONE):
                    # less than b·t is left: the digit is below its size, and not only no larger
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
        """The name of a value, or what it has been decided to be."""
        return self.names.of(stem, *meaning).substitute(self.case.definitions)


def shared_factor(b: Poly) -> Poly:
    """The greatest monomial that divides every term, with the sign of the first."""
    shared: tuple[str, ...] | None = None
    coefficient = 0
    for m, c in b.key:
        shared = m if shared is None else common(shared, m)
        coefficient = math.gcd(coefficient, c)
    sign = -1 if len(b) == 1 and b.key[0][1] < 0 else 1
    return Poly({shared or (): sign * coefficient})
