"""The lemma schemes: what is true of all integers and turns questions about products into linear ones.

Each scheme is stated over metavariables, so that it can be proved once and for all; an instance puts
polynomials for them.  A pool of instances is chosen by the shape of the facts and never depends on a solver.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from ...core.condition import Condition, all_of, any_of, negate
from ...core.expr import ceildiv, integer, maximum, minimum, var
from .formula import TRUE, Formula, at_least, atoms, both, either, holds, names, nonzero, zero
from .polynomial import ONE, Monomial, Poly, over, product, variable
from .reading import Fact, Witness

__all__ = ["LEMMAS", "STEPS", "Instance", "Scheme", "Setting", "pool"]


@dataclass(frozen=True)
class Scheme:
    """``given`` implies ``then`` for all integers; ``text`` says it in one line."""

    name: str
    text: str
    given: tuple[Condition, ...]
    then: Condition


def _implies(a: Condition, b: Condition) -> Condition:
    return any_of((negate(a), b))


a, b, c, d, e, f, g, h, m, p, q, r, t, x, y = (var(name) for name in "abcdefghmpqrtxy")

#: Schemes whose instances are added to a linear question.
LEMMAS: dict[str, Scheme] = {
    s.name: s
    for s in (
        Scheme("product of an equation", "e = 0 → e·p = 0", (e.eq(0),), (e * p).eq(0)),
        Scheme("product of bounds", "e ≥ 0, p ≥ 0 → e·p ≥ 0", (e >= 0, p >= 0), e * p >= 0),
        Scheme("product of positives", "p ≥ 1, q ≥ 1 → p·q ≥ 1", (p >= 1, q >= 1), p * q >= 1),
        Scheme(
            "multiples are apart",
            "b ≥ 1 → (d ≥ 1 → b·d ≥ b) and (d ≤ -1 → b·d ≤ -b) and (d = 0 → b·d = 0)",
            (b >= 1,),
            all_of(
                (
                    _implies(d >= 1, b * d >= b),
                    _implies(d <= -1, b * d <= -b),
                    _implies(d.eq(0), (b * d).eq(0)),
                )
            ),
        ),
        Scheme(
            "sign of a product",
            "e ≥ 0 → (d ≥ 0 → e·d ≥ 0) and (d ≤ 0 → e·d ≤ 0)",
            (e >= 0,),
            all_of((_implies(d >= 0, e * d >= 0), _implies(d <= 0, e * d <= 0))),
        ),
        Scheme("square", "p·p ≥ p and p·p ≥ -p", (), all_of((p * p >= p, p * p >= -p))),
        Scheme("product of a choice", "(m = a → m·p = a·p)", (), _implies(m.eq(a), (m * p - a * p).eq(0))),
        Scheme(
            "certificate",
            "x ≤ y, e ≥ 0 → e·x ≤ e·y; sums and products of what is not negative are not negative",
            (x <= y, e >= 0, p >= 0, q >= 0),
            all_of((e * x <= e * y, p * q >= 0, p + q >= 0)),
        ),
    )
}

#: Steps of a reading: each replaces a term by an equal one, or adds what holds of a name it introduces.
STEPS: dict[str, Scheme] = {
    s.name: s
    for s in (
        Scheme(
            "multiple leaves quotient",
            "b ≠ 0 → (b·x + a) // b = x + a // b and (b·x + a) % b = a % b",
            (b.ne(0),),
            all_of((((b * x + a) // b).eq(x + a // b), ((b * x + a) % b).eq(a % b))),
        ),
        Scheme(
            "small dividend",
            "0 ≤ a < b → a // b = 0 and a % b = a;  -b ≤ a < 0 → a // b = -1 and a % b = a + b",
            (b >= 1,),
            all_of(
                (
                    _implies(a.within(0, b - 1), all_of(((a // b).eq(0), (a % b).eq(a)))),
                    _implies(a.within(-b, -1), all_of(((a // b).eq(-1), (a % b).eq(a + b)))),
                )
            ),
        ),
        Scheme(
            "common factor",
            "g ≥ 1, h ≥ 1, 0 ≤ r < g → (g·x + r) // (g·h) = x // h and (g·x + r) % (g·h) = g·(x % h) + r",
            (g >= 1, h >= 1, r.within(0, g - 1)),
            all_of((((g * x + r) // (g * h)).eq(x // h), ((g * x + r) % (g * h)).eq(g * (x % h) + r))),
        ),
        Scheme(
            "negation",
            "b ≠ 0 → a // b = (-a) // (-b) and a % b = -((-a) % (-b)) and ⌈a / b⌉ = -((-a) // b)",
            (b.ne(0),),
            all_of(((a // b).eq((-a) // (-b)), (a % b).eq(-((-a) % (-b))), ceildiv(a, b).eq(-((-a) // b)))),
        ),
        Scheme(
            "remainder",
            "b ≥ 1 → a = b·(a // b) + a % b and 0 ≤ a % b < b",
            (b >= 1,),
            all_of((a.eq(b * (a // b) + a % b), (a % b).within(0, b - 1))),
        ),
        Scheme(
            "radix",
            "b ≥ 1 → some q and r with 0 ≤ r < b have a = b·q + r",
            (b >= 1,),
            all_of((a.eq(b * (a // b) + a % b), (a % b).within(0, b - 1))),
        ),
        Scheme("divisibility", "b ∣ a → a = b·(a // b)", (b.divides(a),), a.eq(b * (a // b))),
        Scheme("quotient of a natural number", "a ≥ 0, b ≥ 1 → a // b ≥ 0", (a >= 0, b >= 1), a // b >= 0),
        Scheme(
            "quotient of a bound",
            "a ≤ b·t + r, 0 ≤ r < b → a // b ≤ t",
            (a <= b * t + r, r.within(0, b - 1)),
            a // b <= t,
        ),
        Scheme(
            "divided bound",
            "b ≥ 1, b·t + r ≥ 0, r < b → t ≥ 0",
            (b >= 1, b * t + r >= 0, r < b),
            t >= 0,
        ),
        Scheme(
            "extremum",
            "min(a, c) is a or c and not above them; max(a, c) likewise",
            (),
            all_of(
                (
                    any_of((minimum(a, c).eq(a), minimum(a, c).eq(c))),
                    minimum(a, c) <= a,
                    any_of((maximum(a, c).eq(a), maximum(a, c).eq(c))),
                    maximum(a, c) >= a,
                    _implies(all_of((t <= a, t <= c)), t <= minimum(a, c)),
                    _implies(all_of((a <= t, c <= t)), maximum(a, c) <= t),
                )
            ),
        ),
        Scheme(
            "decided extremum",
            "a ≤ c → min(a, c) = a and max(a, c) = c",
            (a <= c,),
            all_of((minimum(a, c).eq(a), maximum(a, c).eq(c))),
        ),
        Scheme("sign split", "d > 0 or d < 0 or d = 0", (), any_of((d > 0, d < 0, d.eq(0)))),
        Scheme(
            "substitution",
            "x = y → f(x) = f(y), here for sums of products",
            (x.eq(y),),
            (x * e + f).eq(y * e + f),
        ),
        Scheme("zero", "x - y = 0 → x = y", ((x - y).eq(integer(0)),), x.eq(y)),
    )
}


# -----------------------------------------------------------------------------------------------------------
# instances
class Instance:
    """An instance of the scheme ``name``: one fact ``p >= 0`` or ``p = 0``, or a clause."""

    def __init__(self, name: str, formula: Formula) -> None:
        self.name = name
        self.formula = formula

    @property
    def fact(self) -> Fact:
        """For a leaf."""
        return Fact(self.formula, f"lemma: {self.name}")

    def holds(self, values: Mapping[Monomial, int]) -> bool:
        """Whether these values of the monomials satisfy it."""
        return holds(self.formula, values)

    def polynomials(self) -> Iterator[Poly]:
        """Polynomials whose monomials are those of the instance."""
        for x in atoms(self.formula):
            yield x.p


class Apart(Instance):
    """Multiples of ``b >= 1`` are apart; the formula is built only when it is asked for."""

    def __init__(self, b: Poly, d: Poly) -> None:
        self.name = "multiples are apart"
        self.b, self.d, self.multiple = b, d, b * d

    @cached_property
    def formula(self) -> Formula:  # type: ignore[override]
        """The three implications."""
        b, d, multiple = self.b, self.d, self.multiple
        return both(
            (
                either((at_least(-d), at_least(multiple - b))),
                either((at_least(d), at_least(-multiple - b))),
                either((nonzero(d), zero(multiple))),
            )
        )

    def holds(self, values: Mapping[Monomial, int]) -> bool:
        d, multiple = self.d.value(values), self.multiple.value(values)
        if d == 0:
            return multiple == 0
        b = self.b.value(values)
        return multiple >= b if d > 0 else multiple <= -b

    def polynomials(self) -> Iterator[Poly]:
        yield from (self.b, self.d, self.multiple)


@dataclass
class Setting:
    """The facts of a leaf, sorted by shape, as the choice of instances needs them."""

    equations: list[Poly]
    bounds: list[Poly]
    clauses: list[Formula]
    refuted: Formula
    witnesses: list[Witness]
    low: dict[str, int]
    choices: list[tuple[Poly, tuple[Poly, ...]]]

    def near(self) -> Setting:
        """What has to do with the negated goal: facts about its names and the names these facts mention."""
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
        )

    @cached_property
    def atoms(self) -> list[Poly]:
        """The atoms of the negated goal and of the disjunctions."""
        return list(dict.fromkeys(x.p for f in (self.refuted, *self.clauses) for x in atoms(f)))

    @cached_property
    def nonlinear(self) -> dict[Monomial, None]:
        """The monomials of more than one name."""
        everything = [*self.equations, *self.bounds, *self.atoms]
        return dict.fromkeys(m for p in everything if p.degree > 1 for m in sorted(p.terms) if len(m) > 1)

    @cached_property
    def positive(self) -> list[Poly]:
        """What is known to be at least 1 and worth multiplying with: factors and divisors."""
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
        """Names that are squared in the facts, and sums and differences of two whose product is there too."""
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
    def top(self) -> int:
        """The largest degree of a fact."""
        everything = [
            *self.equations,
            *self.bounds,
            *self.atoms,
            *(w.divisor * w.quotient for w in self.witnesses),
        ]
        return max((p.degree for p in everything), default=1)


#: How many differences are considered.
_CANDIDATES = 60


def pool(s: Setting, level: int) -> tuple[list[Instance], list[Poly]]:
    """Instances worth knowing, most promising first, and the differences that were considered.

    Level 1 multiplies facts with positive factors; level 2 also facts with each other, within one more
    degree.
    """
    limit = s.top if level == 1 else s.top + 1
    differences = _differences(s)
    scales = dict.fromkeys(
        [*s.positive, *(w.divisor for w in s.witnesses if not w.divisor.is_constant), *s.strides]
    )
    found: list[Instance] = [Apart(b, d) for d in differences for b in scales if d.degree + b.degree <= limit]
    if level > 1:
        shifted = [x for d in differences for x in (d + ONE, d - ONE)]
        found += [Apart(b, d) for d in shifted for b in scales if d.degree + b.degree <= limit]
    found += _products(s, level, limit)
    return _connected(found, s), differences


def _products(s: Setting, level: int, limit: int) -> list[Instance]:
    """Facts multiplied with factors, and with each other."""
    found: dict[Formula, str] = {}

    def add(name: str, formula: Formula) -> None:
        if formula != TRUE:
            found.setdefault(formula, name)

    for e in s.equations:
        for p in s.positive if level == 1 else s.multipliers:
            if e.degree + p.degree <= limit:
                add("product of an equation", zero(e * p))
        for p in _cofactors(e, s):
            add("product of an equation", zero(e * p))
    factors = list(s.positive)
    if level > 1:
        singles = [p for p in s.positive if p.single]
        factors += [x * y for x, y in itertools.combinations(singles, 2)]
        if s.top >= 4:
            factors += [product(t) for t in itertools.combinations(singles, 3)]
    for e in s.bounds:
        for p in factors:
            if e.degree + p.degree <= limit:
                multiple = e * p
                add("product of bounds", at_least(multiple))
                if p in s.positive:
                    add("product of bounds", at_least(multiple - e))
    for x, y in itertools.combinations(s.positive, 2):
        add("product of positives", at_least(x * y - ONE))
    for x in s.squares:
        add("square", both((at_least(x * x - x), at_least(x * x + x))))
    for m, options in s.choices:
        for p in s.multipliers:
            for o in options:
                gap = m - o
                if gap.degree + p.degree <= limit:
                    add("product of a choice", either((nonzero(gap), zero(gap * p))))
    if level > 1:
        short = [e for e in s.bounds if len(e) <= 4]
        for x, y in itertools.combinations_with_replacement(short, 2):
            if x.degree + y.degree <= limit:
                add("product of bounds", at_least(x * y))
        for e in short:
            for d in s.multipliers:
                if e.degree + d.degree <= limit:
                    add("sign of a product", either((at_least(-d - ONE), at_least(e * d))))
                    add("sign of a product", either((at_least(d - ONE), at_least(-(e * d)))))
    return [Instance(name, f) for f, name in found.items()]


def _cofactors(e: Poly, s: Setting) -> list[Poly]:
    """What turns a product in an equation into a product in the negated goal."""
    goal = sorted({m for x in atoms(s.refuted) for m in x.p.terms if len(m) > 1})
    found = {rest: None for m in sorted(e.terms) for t in goal if len(m) > 1 and (rest := over(t, m))}
    return [Poly({m: 1}) for m in found][:12]


def _differences(s: Setting) -> list[Poly]:
    """Differences of quotients that may be small: what polynomial division suggests that quotients are."""
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
    """Without instances that a product can satisfy which occurs nowhere else: they exclude nothing."""
    strange = [
        (i, {m for p in i.polynomials() for m in p.terms if len(m) > 1 and m not in s.nonlinear})
        for i in instances
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
