"""Instances of lemmas, which turn questions about products into linear ones.

An instance substitutes polynomials for the metavariables of a scheme (:mod:`..schemes`).  The pool of instances
depends on the facts alone, never on a solver.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from .case import Witness
from .formula import TRUE, Formula, at_least, atoms, both, either, holds, names, nonzero, zero
from .polynomial import ONE, ZERO, Monomial, Poly, variable
from .record import LinearFact


# -----------------------------------------------------------------------------------------------------------
# instances
@dataclass(frozen=True, eq=False)
class Instance:
    """An instance of the scheme ``name``: one fact ``p >= 0`` or ``p = 0``, or a clause."""

    name: str
    formula: Formula
    binding: dict[str, Poly]
    #: Premises of the scheme: polynomials that are not negative (``>=``) or zero (``=``).
    premises: tuple[tuple[Poly, str], ...]

    @property
    def fact(self) -> LinearFact:
        """The instance as a fact of a leaf."""
        return LinearFact(self.formula, f"lemma: {self.name}")

    def holds(self, values: Mapping[Monomial, int]) -> bool:
        """Return whether these values of the monomials satisfy the instance."""
        return holds(self.formula, values)

    def polynomials(self) -> Iterator[Poly]:
        """Yield the polynomials of the atoms."""
        for x in atoms(self.formula):
            yield x.p


def _apart(b: Poly, d: Poly) -> Instance:
    """Return the instance: if ``b >= 1``, then ``b·d >= b`` for ``d > 0``, ``b·d <= -b`` for ``d < 0``, else 0."""
    multiple = b * d
    formula = both(
        (
            either((at_least(-d), at_least(multiple - b))),
            either((at_least(d), at_least(-multiple - b))),
            either((nonzero(d), zero(multiple))),
        )
    )
    return Instance("multiples are apart", formula, {"b": b, "d": d}, ((b - ONE, ">="),))


@dataclass
class Setting:
    """The facts of a leaf, grouped by shape for the choice of instances."""

    equations: list[Poly]
    bounds: list[Poly]
    clauses: list[Formula]
    refuted: Formula
    witnesses: list[Witness]
    low: dict[str, int]
    choices: list[tuple[Poly, tuple[Poly, ...]]]
    #: Returns whether bounds prove that a polynomial is not negative.
    certain: Callable[[Poly], bool]

    def near(self) -> Setting:
        """Return the facts whose names all occur in the negated goal or share a fact with one of its names."""
        goal = names(self.refuted)
        reached = set(goal)
        for p in (*self.equations, *self.bounds, *(x.p for f in self.clauses for x in atoms(f))):
            if not goal.isdisjoint(p.names):
                reached |= p.names
        return Setting(
            [p for p in self.equations if p.names <= reached],
            [p for p in self.bounds if p.names <= reached],
            [f for f in self.clauses if names(f) <= reached],
            self.refuted,
            [w for w in self.witnesses if w.dividend.names | w.divisor.names | w.quotient.names <= reached],
            self.low,
            [(m, os) for m, os in self.choices if m.names <= reached and all(o.names <= reached for o in os)],
            self.certain,
        )

    @cached_property
    def atoms(self) -> list[Poly]:
        """The atoms of the negated goal and of the disjunctions."""
        return list(dict.fromkeys(x.p for f in (self.refuted, *self.clauses) for x in atoms(f)))

    @cached_property
    def differences(self) -> list[Poly]:
        """Polynomials ``p`` for which atoms state ``p = 0``, ``p >= 0`` or ``p - 1 >= 0``, up to sign."""
        found: dict[Poly, None] = {}
        for p in self.atoms:
            for d in (p, p + ONE):
                if not d.is_constant and -d not in found:
                    found[d] = None
        return list(found)

    @cached_property
    def nonlinear(self) -> dict[Monomial, None]:
        """The monomials of more than one name."""
        everything = [*self.equations, *self.bounds, *self.atoms]
        return dict.fromkeys(m for p in everything if p.degree > 1 for m in sorted(p.terms) if len(m) > 1)

    @cached_property
    def positive(self) -> list[Poly]:
        """Factors of products that are at least 1, and divisors."""
        found: dict[Poly, None] = {}
        factors = {v for m in self.nonlinear for v in m}
        factors |= {v for w in self.witnesses for v in w.divisor.names}
        for v in sorted(factors):
            if self.low.get(v, 0) >= 1:
                found[variable(v)] = None
        for w in self.witnesses:
            if len(w.divisor) > 1 and not w.divisor.is_constant:
                found[w.divisor] = None
        return list(found)

    @cached_property
    def multipliers(self) -> list[Poly]:
        """Names that occur in products."""
        return [variable(v) for v in sorted({v for m in self.nonlinear for v in m})]

    @cached_property
    def squares(self) -> list[Poly]:
        """Names that are squared in the facts, and sums and differences of two whose product also occurs."""
        squared = sorted({v for m in self.nonlinear for v, w in itertools.pairwise(m) if v == w})
        found = [variable(v) for v in squared]
        for v, w in itertools.combinations(squared, 2):
            if (v, w) in self.nonlinear:
                found += [variable(v) - variable(w), variable(v) + variable(w)]
        return found[:12]

    @cached_property
    def strides(self) -> list[Poly]:
        """Products of positive names that occur in the facts: the strides of mixed-radix numbers."""
        singles = {p.single for p in self.positive if p.single}
        found: dict[Monomial, None] = {}
        for m in self.nonlinear:
            base = tuple(v for v in m if v in singles)
            if 2 <= len(base) <= 5:
                found[base] = None
        return [Poly({m: 1}) for m in sorted(found, key=lambda m: (len(m), m))][:14]

    @cached_property
    def cofactors(self) -> list[tuple[Poly, Poly]]:
        """Sums that are at least 1, with the atoms that facts multiply by them: ``c + 1`` in ``x·(c + 1) <= y·(c + 1)``."""
        found: dict[tuple[Poly, Poly], None] = {}
        for e in (*self.bounds, *self.equations, *self.atoms):
            for d in self.atoms if e.degree > 1 else ():
                if d is e or d.is_constant or not d.names <= e.names:
                    continue
                whole, rest = e.divide(d)
                if len(whole) > 1 and rest.degree < e.degree:
                    found.update({(b, d): None for b in (whole, -whole) if self.certain(b - ONE)})
        return list(found)[:_COFACTORS]

    @cached_property
    def top(self) -> int:
        """The largest degree of a fact."""
        everything = [*self.equations, *self.bounds, *self.atoms, *(w.divisor * w.quotient for w in self.witnesses)]
        return max((p.degree for p in everything), default=1)


#: Limits on differences of quotients, and on pairs of a sum and an atom that is multiplied by it.
_CANDIDATES = 60
_COFACTORS = 12


def pool(s: Setting, level: int) -> list[Instance]:
    """Return instances that may be useful, the most promising first.

    Level 1 multiplies facts by positive factors.  Level 2 also multiplies facts with each other, and allows one degree
    more.
    """
    limit = s.top if level == 1 else s.top + 1
    differences = _differences(s)
    scales = dict.fromkeys([*s.positive, *(w.divisor for w in s.witnesses if not w.divisor.is_constant), *s.strides])
    found: list[Instance] = [_apart(b, d) for d in differences for b in scales if d.degree + b.degree <= limit]
    found += [_apart(b, d) for b, d in s.cofactors]
    if level > 1:
        shifted = [x for d in differences for x in (d + ONE, d - ONE)]
        found += [_apart(b, d) for d in shifted for b in scales if d.degree + b.degree <= limit]
    found += _products(s, level, limit)
    return _connected(found, s)


def _products(s: Setting, level: int, limit: int) -> list[Instance]:
    """Return facts multiplied by factors and, at level 2, with each other."""
    found: dict[Formula, Instance] = {}

    def add(name: str, formula: Formula, binding: dict[str, Poly], premises: tuple[tuple[Poly, str], ...] = ()) -> None:
        if formula != TRUE and formula not in found:
            found[formula] = Instance(name, formula, binding, premises)

    def both_natural(e: Poly, p: Poly) -> None:
        add("product of bounds", at_least(e * p), {"e": e, "p": p}, ((e, ">="), (p, ">=")))

    for e in s.equations:
        for p in s.positive if level == 1 else s.multipliers:
            if e.degree + p.degree <= limit:
                add("product of an equation", zero(e * p), {"e": e, "p": p}, ((e, "="),))
        for p, q in _factors(e, s):
            add("zero product", either((zero(p), zero(q))), {"p": p, "q": q}, ((e, "="),))
    for e in s.differences:
        for p, q in _factors(e, s):
            add("product of a choice", either((nonzero(p), zero(e))), {"m": p, "a": ZERO, "p": q})
    factors = list(s.positive)
    if level > 1:
        singles = [p for p in s.positive if p.single]
        factors += [x * y for x, y in itertools.combinations(singles, 2)]
    for e in s.bounds:
        for p in factors:
            if e.degree + p.degree <= limit:
                both_natural(e, p)
                if p in s.positive:
                    both_natural(e, p - ONE)
    for x, y in itertools.combinations(s.positive, 2):
        premises = ((x - ONE, ">="), (y - ONE, ">="))
        add("product of positives", at_least(x * y - ONE), {"p": x, "q": y}, premises)
    for x in s.squares:
        add("square", both((at_least(x * x - x), at_least(x * x + x))), {"p": x})
    for m, options in s.choices:
        for p in s.multipliers:
            for o in options:
                gap = m - o
                if gap.degree + p.degree <= limit:
                    binding = {"m": m, "a": o, "p": p}
                    add("product of a choice", either((nonzero(gap), zero(gap * p))), binding)
    if level > 1:
        short = [e for e in s.bounds if len(e) <= 4]
        for x, y in itertools.combinations_with_replacement(short, 2):
            if x.degree + y.degree <= limit:
                both_natural(x, y)
        for e in short:
            for d in s.multipliers:
                if e.degree + d.degree <= limit:
                    for formula in (
                        either((at_least(-d - ONE), at_least(e * d))),
                        either((at_least(d - ONE), at_least(-(e * d)))),
                    ):
                        add("sign of a product", formula, {"e": e, "d": d}, ((e, ">="),))
    return list(found.values())


def _factors(e: Poly, s: Setting) -> Iterator[tuple[Poly, Poly]]:
    """Yield factorisations ``e = p·q``: ``e`` is zero if and only if ``p`` or ``q`` is."""
    for p in s.differences if e.degree > 1 else ():
        if p.names <= e.names:
            q, rest = e.divide(p)
            if not rest and not q.is_constant:
                yield p, q


def _differences(s: Setting) -> list[Poly]:
    """Return differences that may be small: mainly between quotients and the values that polynomial division suggests."""
    found: dict[Poly, None] = {}

    def consider(d: Poly) -> None:
        if not d.is_constant and len(found) < _CANDIDATES and d not in found and -d not in found:
            found[d] = None

    for p in s.atoms:
        consider(p)
        for b in s.positive:
            whole, rest = p.divide(b)
            if whole and rest.is_constant:
                consider(whole)
    for w in s.witnesses:
        if not w.divisor.is_constant:
            consider(w.quotient - w.dividend.divide(w.divisor)[0])
            for e in s.equations:
                for sign in (-1, 1):
                    whole, rest = w.dividend.plus(e, sign).divide(w.divisor)
                    if whole and not rest:
                        consider(w.quotient - whole)
    for one, two in itertools.combinations(s.witnesses, 2):
        if one.divisor == two.divisor:
            for sign in (-1, 1):
                shift = one.dividend.plus(two.dividend, sign).divide(one.divisor)[0]
                consider(one.quotient.plus(two.quotient, sign) - shift)
        else:
            for x, y in ((one, two), (two, one)):
                ratio, rest = x.divisor.divide(y.divisor) if y.divisor else (ONE, ONE)
                if not rest:
                    consider(y.quotient - ratio * x.quotient)
    for e in (*s.bounds, *s.equations):
        for b in s.positive:
            whole, _ = e.divide(b)
            if whole:
                consider(whole)
    for one, two in itertools.combinations(s.witnesses, 2):
        consider(one.quotient - two.quotient)
    for d in list(found):
        for b in s.positive:
            if b.single:
                whole, rest = d.divide(b)
                if whole and rest:
                    consider(whole)
    return list(found)


def _connected(instances: Iterable[Instance], s: Setting) -> list[Instance]:
    """Drop instances with a product that occurs nowhere else: its value can be chosen to satisfy them."""
    strange = [
        (i, {m for p in i.polynomials() for m in p.terms if len(m) > 1 and m not in s.nonlinear}) for i in instances
    ]
    seen = Counter(m for _, ms in strange for m in ms)
    while True:
        kept = []
        for i, ms in strange:
            if all(seen[m] > 1 for m in ms):
                kept.append((i, ms))
            else:
                seen.subtract(ms)
        if len(kept) == len(strange):
            return [i for i, _ in kept]
        strange = kept
