"""Reading of conditions as facts over polynomials in one sign case: quotients and remainders are computed or named.

A :class:`SignCase` holds the decisions so far: signs of divisors and definitions of names.  A :class:`Reading` is
one pass over the conditions under these decisions.  It may find that the sign of a divisor must be decided
(:class:`NeedSign`), or that a name should be replaced by ``divisor·quotient + remainder`` (``Reading.defining``).
The conditions are then read again.  In the resulting radix notation most divisions are exact.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from ...core.condition import Compare, Condition, Divides, condition_interpret, negate
from ...core.expr import Binary, Expr, Int, Mod, interpret, postorder
from .case import Definition, Witness, best_definition, rank
from .divisions import DivisionReading
from .formula import FALSE, AtLeast, Formula, atoms, either, zero
from .formula import names as names_in
from .polynomial import ZERO, Poly, constant, variable
from .record import LinearFact


@lru_cache(maxsize=1 << 14)
def divides_somewhere(c: Condition) -> bool:
    """Return whether ``c`` has a division or divisibility.  Cached, since every case reads the same conditions."""
    if isinstance(c, Divides):
        return True
    if any(isinstance(n, Binary) for n in postorder(*c.exprs())):
        return True
    return any(divides_somewhere(p) for p in c.parts())


class Reading(DivisionReading):
    """One pass over the conditions, and the interpretation of their expressions and conditions."""

    def read(self, hypotheses: Sequence[Condition], goals: Sequence[Condition]) -> list[Formula]:
        """State the hypotheses and return the negated goals.

        Hypotheses without divisions come first, since they may determine the signs of divisors.
        """
        plain: list[Condition] = []
        rest: list[Condition] = []
        for h in hypotheses:
            (rest if divides_somewhere(h) else plain).append(h)
        for h in plain:
            self.state(self.formula(h), "hypothesis")
        self._settle()
        self._assume(sorted(rest, key=lambda h: not isinstance(h, Divides)))
        self.compare_digits()
        return [self.formula(negate(g)) for g in goals]

    def _assume(self, hypotheses: Sequence[Condition]) -> None:
        for h in hypotheses:
            divided = h if isinstance(h, Divides) else _no_remainder(h)
            if divided is None:
                self.state(self.formula(h), "hypothesis")
            else:
                self._divisible(divided)
        self._settle()

    def solve(self) -> list[Definition]:
        """Solve one equation for the name of lowest rank, and return it as a definition; none if there is no equation."""
        usable = (f for f in self.facts if f.why in ("hypothesis", "equal digits"))
        best = best_definition(usable, self.case.rejected) if self.refine else None
        if best is None:
            return []
        name, value, equation = best
        made = {v for v in value.names if rank(v)}
        known = [f for f in self.facts if f.why != "hypothesis" and isinstance(f.formula, AtLeast)]
        kept = [f for f in known if not made.isdisjoint(names_in(f.formula))]
        return [Definition(name, value, tuple(kept), equation=equation)]

    def negative(self, refuted: Sequence[Formula]) -> list[Definition]:
        """Define names in products that are at most 0 as negations, since lemmas multiply by positive factors."""
        polynomials = [a.p for f in (*(x.formula for x in self.facts), *refuted) for a in atoms(f)]
        factors = {v for p in polynomials if p.degree > 1 for m in p.terms if len(m) > 1 for v in m}
        low, high = self.bounds.low, self.bounds.high
        return [
            Definition(v, -variable(f"{v}!neg"))
            for v in sorted(factors)
            if high.get(v, 1) <= 0 and low.get(v, -1) < 0 and not rank(v) and v not in self.case.rejected
        ]

    def value(self, e: Expr) -> Poly:
        """Return the polynomial of an expression."""
        return interpret((e,), self, self._memo)[0]

    def minimum(self, args: list[Poly]) -> Poly:
        return self._extremum("min", args, 1)

    def maximum(self, args: list[Poly]) -> Poly:
        return self._extremum("max", args, -1)

    def _extremum(self, name: str, args: list[Poly], sign: int) -> Poly:
        kept = list(dict.fromkeys(args))
        for p in list(kept):
            # drop an argument that another one bounds
            other = next((q for q in kept if q != p and self.bounds.certain((p - q) * sign)), None)
            if other is not None:
                kept.remove(p)
                self._note(self._gaps("extremum", [(p - other) * sign]))
        entry = name, tuple(kept)
        if len(kept) == 1:
            return kept[0]
        if entry not in self._extrema:
            m = self._name(*entry)
            self._extrema[entry] = m
            for p in kept:
                self.learn((p - m) * sign, "extremum")
            shared = self._shared_upper(kept) if sign < 0 else self._shared_lower(kept)
            for bound in shared:
                reason = self._gaps("extremum bound", ((p - bound) * sign for p in kept))
                self.learn((m - bound) * sign, "extremum", reason)
            self.state(either(zero(m - p) for p in kept), "extremum")
            self.choices.append((m, tuple(kept)))
        return self._extrema[entry]

    def _shared_upper(self, args: list[Poly]) -> list[Poly]:
        candidates = [*args, *(u for p in args for u, _ in self.bounds.greatest(p))]
        return [u for u in dict.fromkeys(candidates) if all(self.bounds.certain(u - p) for p in args)][:2]

    def _shared_lower(self, args: list[Poly]) -> list[Poly]:
        lows = [self.bounds.least(p) for p in args]
        known = [x for x in lows if x is not None]
        return [constant(min(known))] if len(known) == len(lows) else []

    def _divisible(self, h: Divides) -> None:
        """State a hypothesis ``d ∣ e`` as ``e = d·k``."""
        d, e = self.value(h.d), self.value(h.e)
        self._divisor = d
        s = self.sign(d, total=True)
        if s == 0:
            return self.state(FALSE, "hypothesis")
        if s < 0:
            d = -d
        given = e
        _, rest = e.divide(d)
        if d.is_constant:
            rest = rest.plus(constant(rest.constant // d.constant * d.constant), -1)
        if not rest:
            return
        if (rest, d) in self._divided:
            q, r = self._divided[rest, d]
            self._log_division(given, d, (given - rest).divide(d)[0] + q, r)
            self.state(zero(r), "hypothesis")
            return
        k = self._name("q", rest, d)
        self._divided[rest, d] = k, ZERO
        self._divided[-rest, d] = -k, ZERO
        w = Witness(rest, d, k, ZERO)
        equation = LinearFact(zero(rest - d * k), "hypothesis")
        self._note_named("divisible", w, equation, given=given)
        facts = self._quotient_bounds(w)
        self.witnesses.append(w)
        target = self._definable(rest, d)
        if target is not None:
            name, c = target
            self._claimed.add(name)
            value = (d * k - rest.without(name)) * c
            self.defining.append(Definition(name, value, tuple(facts), w, equation))
        self.state(equation.formula, "hypothesis", equation.reason)

    def formula(self, c: Condition) -> Formula:
        """Return a condition as a formula over polynomials."""
        return condition_interpret(c, self.value, self)

    def divides(self, d: Poly, e: Poly) -> Formula:
        return FALSE if self.sign(d, total=True) == 0 else zero(self.divmod(e, d)[1])


def _no_remainder(c: Condition) -> Divides | None:
    """Return ``d ∣ e`` for ``e % d = 0``, which is equivalent for a nonzero divisor, or ``None``."""
    if isinstance(c, Compare) and c.op == "==":
        for a, b in ((c.a, c.b), (c.b, c.a)):
            if isinstance(a, Mod) and isinstance(b, Int) and b.value == 0:
                return Divides(a.b, a.a)
    return None
