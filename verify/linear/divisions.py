"""Quotients and remainders of polynomials: computed where facts determine them, otherwise named."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any, NoReturn

from ...core.expr import Var
from .bounds import Evidence
from .case import Definition, ImpossibleCase, NeedSign, Witness, name_of, rank
from .facts import CaseFacts, shared_factor
from .formula import FALSE, Zero, at_least, zero
from .polynomial import ONE, ZERO, Poly, common, constant, variable
from .record import LinearFact, Reason, Unrecorded


class DivisionReading(CaseFacts):
    """Division in one sign case, as an algebra (:func:`~indexproof.core.expr.interpret`)."""

    def floordiv(self, a: Poly, b: Poly) -> Poly:
        return self.divmod(a, b)[0]

    def mod(self, a: Poly, b: Poly) -> Poly:
        return self.divmod(a, b)[1]

    def ceildiv(self, a: Poly, b: Poly) -> Poly:
        self._divisor = b
        s = self.sign(b)
        if s == 0:
            self._undefined()
        # for b > 0: the quotient of a + b - 1, rounded down
        return self._natural(a + b - ONE, b)[0] if s > 0 else self._natural(-a - b - ONE, -b)[0]

    def _undefined(self) -> NoReturn:
        """Close the case: the caller has proved that no divisor is zero."""
        fact = LinearFact(FALSE, "defined")
        self._note(fact)
        raise ImpossibleCase(fact)

    def sign(self, b: Poly, *, total: bool = False) -> int:
        """Return the sign of ``b`` in this case.  Raises :class:`NeedSign` where the case must be split.

        ``total`` includes the case of zero: divisibility is defined there, division is not.
        """
        if b.is_constant:
            return (b.constant > 0) - (b.constant < 0)
        for p, s in ((b, 1), (-b, -1)):
            if p in self._signs:
                return s * self._signs[p]
        if self.bounds.certain(b - ONE):
            return 1
        if self.bounds.certain(-b - ONE):
            return -1
        shared = shared_factor(b)
        if shared != ONE and (len(b) > 1 or b.degree > 1 or b.content > 1):
            ((m, c),) = shared.terms.items()
            s = 1 if c > 0 else -1
            for v in m:
                s *= self.sign(variable(v), total=total)
            whole, _ = b.divide(shared)
            return s * self.sign(whole, total=total)
        excluded = {}
        if self.log is not None:
            excluded = {
                s: self.log.resolved(self.bounds.evidence(b * -s)) for s in (1, -1) if self.bounds.certain(b * -s)
            }
        raise NeedSign(b, self._options(b, total), self._divisor, excluded)

    def _options(self, b: Poly, total: bool) -> tuple[int, ...]:
        options = [1, -1, 0] if total else [1, -1]
        if self.bounds.certain(b):
            options.remove(-1)
        if self.bounds.certain(-b):
            options.remove(1)
        return tuple(options)

    def divmod(self, a: Poly, b: Poly) -> tuple[Poly, Poly]:
        """Return the quotient and the remainder of floor division."""
        self._divisor = b
        if self.divisions:
            if (a, b) in self.divisions:
                return self.divisions[a, b]
            if (-a, -b) in self.divisions:
                q, r = self.divisions[-a, -b]
                return q, -r
        s = self.sign(b)
        if s == 0:
            self._undefined()
        if s < 0:
            # a // b = (-a) // (-b), and the remainders are opposite
            q, r = self._natural(-a, -b)
            return q, -r
        return self._natural(a, b)

    def _natural(self, a: Poly, b: Poly) -> tuple[Poly, Poly]:
        """Return the quotient and the remainder by a positive divisor, and log them."""
        if self.divisions and (a, b) in self.divisions:
            return self.divisions[a, b]
        q, r = self._positive(a, b)
        self._log_division(a, b, q, r)
        return q, r

    def _positive(self, a: Poly, b: Poly) -> tuple[Poly, Poly]:
        if b.is_constant and b.constant == 1:
            return a, ZERO
        a = self.rewritten(a)
        whole, rest = a.divide(b)
        if len(b) > 1 and rest and len(rest) >= len(a):
            whole, rest = ZERO, a
        if b.is_constant and rest.constant:
            k, left = divmod(rest.constant, b.constant)
            whole, rest = whole + k, rest + (left - rest.constant)
        q, r = self._fraction(rest, b, whole.constant if whole.is_constant else 0)
        return whole + q, r

    def _fraction(self, a: Poly, b: Poly, whole: int = 0) -> tuple[Poly, Poly]:
        """Return the quotient and the remainder of a dividend from which multiples of the divisor are removed.

        ``whole`` is the constant that the caller adds to the quotient: a new name denotes the sum of both.
        """
        if not a:
            return ZERO, ZERO
        if (a, b) in self._divided:
            return self._divided[a, b]
        certain = self.bounds.certain
        if certain(a):
            if certain(b - a - ONE):
                return ZERO, a
        elif certain(a + b) and certain(-a - ONE):
            return constant(-1), a + b
        if len(b) == 1:
            found = self._by_factor(a, b)
            if found is not None:
                return found
        if (a.degree > 1 or not b.is_constant) and len(self.bounds.facts) != self._facts_seen:
            # bounds of digits may determine a quotient that bounds of numbers do not
            self.divide_bounds()
            return self._fraction(a, b, whole)
        return self._named(a, b, whole)

    def _by_factor(self, a: Poly, b: Poly) -> tuple[Poly, Poly] | None:
        """Divide by a common factor ``g`` first: ``(g·A + r) // (g·h) = A // h`` if ``0 <= r < g``."""
        ((mono, k),) = b.terms.items()
        factors: dict[Poly, None] = {}
        for m, c in a.key:
            n, shared = common(m, mono), math.gcd(c, k)
            if n or shared > 1:
                factors[Poly({n: shared})] = None
        for g in sorted(factors, key=lambda g: (-g.degree, g.key)):
            whole, rest = a.divide(g)
            if g == b or not whole or not self.bounds.certain(g - ONE):
                continue
            if not rest or (self.bounds.certain(rest) and self.bounds.certain(g - rest - ONE)):
                h, _ = b.divide(g)
                if not self.bounds.certain(h - ONE):
                    continue
                q, r = self._positive(whole, h)
                if self.log is not None:
                    natural, gap = self.bounds.natural(g), self.bounds.evidence(g - rest - ONE)
                    low, high = (e.times(g, natural) for e in self._range(r, h))
                    self._ranges[g * r + rest, b] = low + self.bounds.evidence(rest), high + gap
                return q, g * r + rest
        return None

    def _named(self, a: Poly, b: Poly, whole: int) -> tuple[Poly, Poly]:
        target = self._definable(a, b)
        if target is None:
            whole = 0
        elif target[1] < 0 and not self.eager:
            # prefer counts, which are natural numbers: -(-n // b) = (n + b - 1) // b
            q, r = self._positive(b - a - ONE, b)
            self._divided[a, b] = -q, b - r - ONE
            if self.log is not None:
                low, high = self._range(r, b)
                self._ranges[b - r - ONE, b] = high, low
            return self._divided[a, b]
        elif a.constant < 0 and not b.is_constant:
            # name the count (n - 1) // b + 1 = (n + b - 1) // b
            whole = 1
        q, r = self._name("q", a + b * whole, b) - whole, self._name("r", a, b)
        self._fresh |= q.names | r.names
        self._divided[a, b] = q, r
        w = Witness(a, b, q, r)
        equation = LinearFact(zero(a - b * q - r), f"quotient {q} of {a} by {b}")
        self._note_named("name", w, equation, remainder=r)
        facts = [LinearFact(at_least(p), "remainder") for p in (r, b - r - ONE)]
        for f in facts:
            self.state(f.formula, f.why)
        facts += self._quotient_bounds(w)
        self._settle()
        self.witnesses.append(w)
        if target is not None:
            name, c = target
            self._claimed.add(name)
            value = (b * q + r - a.without(name)) * c
            self.defining.append(Definition(name, value, tuple(facts), w, equation))
        self.facts.append(equation)
        return q, r

    def _log_division(self, a: Poly, b: Poly, q: Poly, r: Poly) -> None:
        """Log the quotient and the remainder by a positive divisor, once.  Raises :class:`Unrecorded`."""
        if self.log is None or (a, b) in self.divisions:
            return
        self.divisions[a, b] = q, r
        a = self.rewritten(a)
        low, high = self._range(r, b)
        gap = a - b * q - r
        equations: list[tuple[Poly, LinearFact]] = []
        for f in reversed(self._equations) if gap else ():
            assert isinstance(f.formula, Zero)
            cofactor, rest = gap.divide(f.formula.p)
            if not rest:
                equations = [(cofactor, f)]
                break
        else:
            if gap:
                raise Unrecorded(f"{a} = ({b})·({q}) + {r}")
        parts = {"dividend": a, "divisor": b, "quotient": q, "remainder": r, "equations": equations}
        self.log.add(Reason("quotient", {**parts, "low": self.log.resolved(low), "high": self.log.resolved(high)}))

    def _quotient_bounds(self, w: Witness) -> list[LinearFact]:
        """State the bounds of the quotient that follow from bounds of the dividend, and return them."""
        q = w.quotient
        found = []
        parts: dict[str, Any] = {"dividend": w.dividend, "divisor": w.divisor, "quotient": q}
        if self.bounds.certain(w.dividend):
            reason = self._made("quotient of a natural number", {"natural": w.dividend}, **parts)
            found.append(LinearFact(at_least(q), "quotient of a natural number", reason))
        above = self.bounds.greatest(w.dividend)
        tops = self._divided_tops(above, w.divisor)
        if not tops:
            # n - 1 may have no known quotient where an upper bound of n does: n <= c·b for a padded size c·b
            further = [(u, why + more) for top, why in above for u, more in self.bounds.greatest(top)]
            tops = self._divided_tops(further, w.divisor)
        for t, why in tops.items():
            # dividend <= divisor·(t + 1) - 1
            reason = self._made("quotient of a bound", **parts, t=t, below=why)
            found.append(LinearFact(at_least(t - q), "quotient of a bound", reason))
        for f in found:
            self.state(f.formula, f.why, f.reason)
        return found

    def _divided_tops(self, above: Iterable[tuple[Poly, Evidence]], b: Poly) -> dict[Poly, Evidence]:
        """Return upper bounds of a quotient by ``b``, with evidence, from dividend bounds whose quotient is known."""
        certain = self.bounds.certain
        tops: dict[Poly, Evidence] = {}
        for top, why in above:
            whole, rest = (top + ONE).divide(b)
            if not rest:
                tops.setdefault(whole - ONE, why)
                continue
            whole, rest = top.divide(b)
            if whole and certain(b - rest - ONE):
                tops.setdefault(whole, why + self.bounds.evidence(b - rest - ONE))
        return tops

    def _definable(self, a: Poly, b: Poly) -> tuple[str, int] | None:
        """Return the name, with its sign, that ``a = b·q + r`` should define: the only one in ``a``, or any when eager."""
        # n and n + b - 1 are written in radix b; a sum of several names is not determined by one of them
        alone = a.degree == 1 and sum(bool(m) and not b.names.issuperset(m) for m in a.terms) == 1
        if not self.refine or not (self.eager or alone):
            return None
        # when eager, prefer a variable of the claim to a name of a value
        for name, c in sorted(a.units(), key=lambda u: rank(u[0])):
            if name in b.names or name in self._claimed or name in self.case.rejected:
                continue
            if rank(name) == 1 and any(w.divisor == b and w.remainder.single == name for w in self.witnesses):
                # dividing a remainder by its own divisor again would repeat without end
                continue
            if self.defining and name in self._fresh:
                # its bounds are known only after the number of which it is a digit has been replaced
                continue
            return name, c
        return None

    def product(self, factors: list[Poly]) -> Poly:
        return self.rewritten(super().product(factors))

    def variable(self, v: Var) -> Poly:
        name = name_of(v)
        found = self.case.definitions.get(name)
        return variable(name) if found is None else found
