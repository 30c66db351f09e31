"""Conditions as facts over polynomials, in one sign case: quotients and remainders are named or computed.

A :class:`Case` is what has been decided so far: signs of divisors and definitions of names.  A
:class:`Reading` is one pass over the conditions under these decisions.  It may find that the sign of a
divisor must be known (:class:`NeedSign`), or that a name is better written as ``divisor·quotient +
remainder`` (``Reading.defining``); the conditions are then read again.  In the radix notation that results
most divisions are exact.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache

from ...core.condition import (
    And,
    Compare,
    Condition,
    Divides,
    Not,
    Or,
    all_exprs,
    all_of,
    any_of,
    condition_interpret,
    negate,
)
from ...core.expr import CeilDiv, Expr, FloorDiv, Int, Max, Min, Mod, Var, interpret, postorder
from .bounds import Bounds, Evidence
from .formula import (
    FALSE,
    TRUE,
    All,
    AtLeast,
    Formula,
    FormulaLogic,
    Some,
    Zero,
    at_least,
    atoms,
    either,
    nonzero,
    substitute,
    tight,
    zero,
)
from .formula import names as names_in
from .polynomial import ONE, ZERO, Monomial, Poly, Ring, common, constant, over, variable
from .record import Fact, Log, Reason, Resolved, Unrecorded

__all__ = ["Case", "Definition", "Fact", "NeedSign", "Reading", "Witness"]


@dataclass(frozen=True)
class Witness:
    """``dividend = divisor·quotient + remainder`` with ``0 <= remainder < divisor``."""

    dividend: Poly
    divisor: Poly
    quotient: Poly
    remainder: Poly

    def substitute(self, values: dict[str, Poly]) -> Witness:
        """The same equation after a substitution."""
        return Witness(
            self.dividend.substitute(values),
            self.divisor.substitute(values),
            self.quotient.substitute(values),
            self.remainder.substitute(values),
        )


@dataclass(frozen=True)
class Definition:
    """``name = value``, with the facts about the names in ``value`` that would otherwise be lost.

    ``equation`` is the fact that says so; a name that is only written differently needs none.
    """

    name: str
    value: Poly
    why: str
    facts: tuple[Fact, ...] = ()
    witness: Witness | None = None
    equation: Fact | None = None


@dataclass(frozen=True)
class Case:
    """Decisions under which conditions are read; no defined name is left in the value of a definition."""

    definitions: dict[str, Poly] = field(default_factory=dict)
    signs: tuple[tuple[Poly, int], ...] = ()
    facts: tuple[Fact, ...] = ()
    witnesses: tuple[Witness, ...] = ()
    steps: tuple[str, ...] = ()
    rejected: frozenset[str] = frozenset()

    def with_definition(self, d: Definition) -> Case:
        """The case with one more definition; unchanged where that would be circular."""
        value = d.value.substitute(self.definitions)
        if d.name in value.names or d.name in self.definitions:
            return replace(self, rejected=self.rejected | {d.name})
        one = {d.name: value}
        return replace(
            self,
            definitions={**{v: p.substitute(one) for v, p in self.definitions.items()}, d.name: value},
            facts=(*self.facts, *d.facts),
            witnesses=(*self.witnesses, *((d.witness,) if d.witness else ())),
            steps=(*self.steps, f"{d.why}: {d.name} = {d.value}"),
        )

    def with_sign(self, p: Poly, sign: int) -> Case:
        """The case in which ``p`` has this sign."""
        p = p.substitute(self.definitions)
        text = f"sign split: {p} {'>' if sign > 0 else '<' if sign else '='} 0"
        case = replace(self, steps=(*self.steps, text), signs=(*self.signs, (p, sign)))
        name = p.single
        if name is not None and sign < 0:
            # a negative divisor is the negation of a positive one: everything below has positive divisors
            # only
            return case.with_definition(Definition(name, -variable(f"{name}!neg"), "negation"))
        if sign == 0:
            for v, c in p.units():
                return case.with_definition(Definition(v, p.without(v) * -c, "zero"))
        return case


class Names:
    """Names for values that no polynomial denotes.  A name means the same in every reading of a claim."""

    def __init__(self) -> None:
        self._of: dict[tuple[object, ...], Poly] = {}

    def of(self, stem: str, *meaning: object) -> Poly:
        """The name of the value that ``meaning`` determines."""
        entry = stem, *meaning
        if entry not in self._of:
            self._of[entry] = variable(f"{stem}!{len(self._of) + 1}")
        return self._of[entry]


class Contradiction(Exception):
    """The hypotheses contradict the decisions of the case: ``fact`` is false."""

    def __init__(self, fact: Fact) -> None:
        super().__init__(fact.why)
        self.fact = fact


class NeedSign(Exception):
    """The sign of ``poly`` must be decided; ``options`` are the signs that are not excluded at a glance."""

    def __init__(
        self, poly: Poly, options: tuple[int, ...], divisor: Poly, excluded: dict[int, Resolved]
    ) -> None:
        super().__init__(str(poly))
        self.poly = poly
        self.options = options
        self.divisor = divisor
        self.excluded = excluded


_DIVISIONS = (FloorDiv, Mod, CeilDiv)


def conjuncts(conditions: Iterable[Condition]) -> list[Condition]:
    """Conjunctions as lists, without repetition."""
    joined = all_of(conditions)
    return list(joined.args) if isinstance(joined, And) else [joined]


@lru_cache(maxsize=1 << 14)
def divides_somewhere(c: Condition) -> bool:
    """Whether a division or a divisibility occurs in ``c``.  Remembered: every case is read from the same conditions."""
    if isinstance(c, Divides):
        return True
    if any(isinstance(n, _DIVISIONS) for n in postorder(*c.exprs())):
        return True
    return any(divides_somewhere(p) for p in c.parts())


def name_of(v: Var) -> str:
    """The polynomial name of a variable; the kind is part of a variable's identity.

    Names made here have one ``!`` and no variable's name has, so neither can be taken for the other.
    """
    name = v.name.replace("!", "!!").replace(":", "::")
    return f"{name}:{v.kind}" if v.kind else name


#: Longer facts than this are not divided.
_DIVIDED = 80
#: So many sums are tried as strides of an equation.
_STRIDES = 4


class Reading(Ring, FormulaLogic):
    """One pass over the conditions; also the algebra and the logic that interpret them."""

    def __init__(
        self,
        case: Case,
        names: Names,
        *,
        assume_defined: bool = False,
        refine: bool = True,
        eager: bool = False,
        log: Log | None = None,
    ) -> None:
        self.case = case
        self.log = log
        self.names = names
        self.eager = eager
        self.rewrites: dict[Monomial, Poly] = {}
        self.assume_defined = assume_defined
        self.refine = refine
        self.bounds = Bounds()
        self.facts: list[Fact] = []
        self.witnesses: list[Witness] = []
        self.choices: list[tuple[Poly, tuple[Poly, ...]]] = []
        self.defining: list[Definition] = []
        self.used: dict[str, None] = {}
        self._claimed: set[str] = set()
        self._fresh: set[str] = set()
        self._memo: dict[Expr, Poly] = {}
        self._divided: dict[tuple[Poly, Poly], tuple[Poly, Poly]] = {}
        self._without_value: dict[tuple[str, Poly], tuple[Poly, Poly]] = {}
        self._extrema: dict[tuple[str, tuple[Poly, ...]], Poly] = {}
        self._signs: dict[Poly, int] = {}
        self._bounds_divided: set[Poly] = set()
        self._facts_seen = 0
        self._divisor = ZERO
        self._ranges: dict[tuple[Poly, Poly], tuple[Evidence, Evidence]] = {}
        self._equations: list[Fact] = []
        #: By dividend and positive divisor.  A proof that is recorded has one quotient for both: where facts contradict
        #: each other, another one would do as well later on.
        self._logged: dict[tuple[Poly, Poly], tuple[Poly, Poly]] = {}
        self._carry()

    def _carry(self) -> None:
        values = self.case.definitions
        for p, s in self.case.signs:
            p = p.substitute(values)
            self._signs[p] = s
            self.state(at_least(p * s - ONE) if s else zero(p), "sign split", Reason("sign"))
        for f in self.case.facts:
            self.state(substitute(f.formula, values), f.why, Reason("kept"))
        for w in self.case.witnesses:
            w = w.substitute(values)
            self.witnesses.append(w)
            self._divided[w.dividend, w.divisor] = w.quotient, w.remainder

    # -- collecting
    def learn(self, p: Poly, why: str, reason: Reason | None = None) -> None:
        """State ``p >= 0``."""
        self.state(at_least(p), why, reason)

    def state(self, f: Formula, why: str, reason: Reason | None = None) -> None:
        """Add a fact."""
        fact = Fact(f, why, reason or Reason(why))
        match f:
            case All(parts):
                for g in parts:
                    self.state(g, why, reason)
                return
            case Some(()):
                if self.log is not None:
                    self.log.add(fact)
                raise Contradiction(fact)
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
            self._rewrite(f.p, fact)

    # -- recording
    def _settle(self) -> None:
        """Propagate lower bounds, and note where they come from."""
        self.bounds.settle()
        if self.log is not None:
            for p, evidence in self.bounds.settled.items():
                self.log.add(Fact(AtLeast(p), "combination", Reason("combination", self._why(evidence))))
        self.bounds.settled.clear()

    def _why(self, evidence: Evidence) -> dict[str, Resolved]:
        assert self.log is not None
        return {"evidence": self.log.resolved(evidence)}

    def _made(self, step: str, **data: object) -> Reason | None:
        """A reason, where a certificate is wanted; evidence is resolved."""
        if self.log is None:
            return None
        made = {k: self.log.resolved(v) if isinstance(v, Evidence) else v for k, v in data.items()}
        return Reason(step, made)

    def at_least_one(self, b: Poly) -> Evidence:
        """Why ``b >= 1``, for a ``b`` that has been found to be positive.  Raises :class:`Unrecorded`."""
        bounds = self.bounds
        if b.is_constant or bounds.certain(b - ONE):
            return bounds.evidence(b - ONE)
        shared = _shared_factor(b)
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

    def _log_division(self, a: Poly, b: Poly, q: Poly, r: Poly) -> None:
        """Note the quotient and the remainder of a positive divisor."""
        if self.log is None or (a, b) in self._logged:
            return
        self._logged[a, b] = q, r
        a = self.rewritten(a)
        low, high = self._range(r, b)
        gap = a - b * q - r
        equations: list[tuple[Poly, Fact]] = []
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
        self.log.add(
            Reason("quotient", {**parts, "low": self.log.resolved(low), "high": self.log.resolved(high)})
        )

    def _rewrite(self, equation: Poly, fact: Fact) -> None:
        """Use an equation of a product of variables to rewrite the product."""
        for m, c in sorted(equation.terms.items(), key=lambda t: (-len(t[0]), t[0])):
            rest = Poly({n: k for n, k in equation.terms.items() if n != m})
            inside = any(over(n, m) is not None for n in rest.terms)
            if len(m) == 2 and abs(c) == 1 and not any(map(rank, m)) and not inside:
                if m not in self.rewrites:
                    self.rewrites[m] = rest * -c
                    if self.log is not None:
                        parts = {"product": Poly({m: 1}), "value": rest * -c, "equation": fact}
                        self.log.add(Reason("rewrite", parts))
                        # what is read from now on is read with the product replaced
                        self._memo.clear()
                return

    def read(
        self, hypotheses: Sequence[Condition], goals: Sequence[Condition], *, goals_first: bool
    ) -> list[Formula]:
        """State the hypotheses and return the negated goals.

        Hypotheses without divisions come first: they tell the signs of divisors.  The first division of a
        name decides its radix, so it matters what comes next; either order proves claims that the other does
        not.
        """
        plain: list[Condition] = []
        rest: list[Condition] = []
        for h in hypotheses:
            (rest if divides_somewhere(h) else plain).append(h)
        for h in plain:
            self.state(self.formula(h), "hypothesis")
        self._settle()
        if goals_first:
            for g in goals:
                self.formula(negate(g))
        self._assume(sorted(rest, key=lambda h: not isinstance(h, Divides)))
        self.compare_digits()
        return [self.formula(negate(g)) for g in goals]

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
                    reason = None
                    if self.log is not None:
                        high, low = (self.bounds.evidence(x) for x in (b - r - ONE, b + r - ONE))
                        reason = self._made(
                            "equal digits", base=b, t=t, r=r, of=equation, one=high, high=high, low=low
                        )
                    for part in (t, r):
                        if part:
                            self.state(zero(part), "equal digits", reason)
                            todo += [
                                f for f in self.facts[-1:] if f.formula == zero(part) and part.degree > 1
                            ]
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
        """What names of ``p`` are multiplied with, where that is a sum: strides with gaps, ``n·m + g``; longest first."""
        found: dict[Poly, None] = {}
        for b in cofactors(p):
            # of b and -b the one that is positive
            for sign in (1, -1):
                if self.bounds.certain(b * sign - ONE):
                    found[b * sign] = None
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
        whole = list(
            dict.fromkeys(w.divisor for w in self.witnesses if w.divisor.degree > 1 or len(w.divisor) > 1)
        )
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
                    reason = None
                    if self.log is not None:
                        bound = self.bounds.evidence(p)
                        gap = self.bounds.evidence(b - r - ONE)
                        reason = self._made(
                            "divided bound", base=b, t=t, r=r, of=bound, gap=gap, one=self.at_least_one(b)
                        )
                    self.learn(t, "divided bound", reason)
                    if t.degree > 1:
                        todo.append(tight(t))
        self._facts_seen = len(self.bounds.facts)

    def _assume(self, hypotheses: Sequence[Condition]) -> None:
        for h in hypotheses:
            if isinstance(h, Divides):
                self._divisible(h)
            elif (found := _no_remainder(h)) is not None and (self.assume_defined or self._not_zero(found.d)):
                self._divisible(found, divided=True)
            else:
                self.state(self.formula(h), "hypothesis")
        self._settle()

    def used_lemma(self, name: str) -> None:
        """Note a step by name."""
        self.used[name] = None

    def _name(self, stem: str, *meaning: object) -> Poly:
        """The name of a value, or what it has been decided to be."""
        return self.names.of(stem, *meaning).substitute(self.case.definitions)

    def solve(self) -> Definition | None:
        """An equation among the hypotheses as a definition: that of the most dispensable name."""
        best: tuple[tuple[int, int, int, str], Fact, int] | None = None
        for f in self.facts:
            if isinstance(f.formula, Zero) and f.why in ("hypothesis", "equal digits") and self.refine:
                p = f.formula.p
                for v, c in p.units():
                    order = rank(v), p.degree, len(p), v
                    if v not in self.case.rejected and (best is None or order < best[0]):
                        best = order, f, c
        if best is None:
            return None
        name, equation, c = best[0][3], best[1], best[2]
        assert isinstance(equation.formula, Zero)
        value = equation.formula.p.without(name) * -c
        made = {v for v in value.names if rank(v)}
        known = [f for f in self.facts if f.why != "hypothesis" and isinstance(f.formula, AtLeast)]
        kept = [f for f in known if not made.isdisjoint(names_in(f.formula))]
        return Definition(name, value, "substitution", tuple(kept), equation=equation)

    def negative(self, refuted: Sequence[Formula]) -> list[Definition]:
        """Names that are not positive and occur in products, as negations: lemmas multiply with what is positive."""
        polynomials = [a.p for f in (*(x.formula for x in self.facts), *refuted) for a in atoms(f)]
        factors = {v for p in polynomials if p.degree > 1 for m in p.terms if len(m) > 1 for v in m}
        low, high = self.bounds.low, self.bounds.high
        return [
            Definition(v, -variable(f"{v}!neg"), "negation")
            for v in sorted(factors)
            if high.get(v, 1) <= 0 and low.get(v, -1) < 0 and not rank(v) and v not in self.case.rejected
        ]

    # -- expressions
    def value(self, e: Expr) -> Poly:
        """The polynomial of an expression."""
        return interpret((e,), self, self._memo)[0]

    def variable(self, v: Var) -> Poly:
        name = name_of(v)
        found = self.case.definitions.get(name)
        return variable(name) if found is None else found

    def product(self, factors: list[Poly]) -> Poly:
        return self.rewritten(super().product(factors))

    def rewritten(self, p: Poly) -> Poly:
        """``p`` with products replaced for which a hypothesis states an equation; only when eager."""
        for _ in range(8 if self.rewrites else 0):
            for m, value in self.rewrites.items():
                moved = p.replace(m, value)
                if moved != p:
                    p = moved
                    self.used_lemma("substitution")
                    break
            else:
                return p
        return p

    def floordiv(self, a: Poly, b: Poly) -> Poly:
        return self.divmod(a, b)[0]

    def mod(self, a: Poly, b: Poly) -> Poly:
        return self.divmod(a, b)[1]

    def ceildiv(self, a: Poly, b: Poly) -> Poly:
        self._divisor = b
        s = self.sign(b)
        if s == 0:
            return self._undefined(a, b, "ceiling")[0]
        self.used_lemma("ceiling")
        # for b > 0: the quotient of a + b - 1, rounded down
        return self._natural(a + b - ONE, b)[0] if s > 0 else self._natural(-a - b - ONE, -b)[0]

    def _undefined(self, a: Poly, b: Poly, rounding: str) -> tuple[Poly, Poly]:
        """Division by zero has no value: both are names of which nothing is known."""
        if self.assume_defined:
            fact = Fact(FALSE, "defined", Reason("defined", {"divisor": b}))
            if self.log is not None:
                self.log.add(fact)
            raise Contradiction(fact)
        if self.log is not None:
            raise Unrecorded("a division by zero")
        entry = rounding, a
        if entry not in self._without_value:
            quotient, remainder = (self._name("undefined", *entry, kind) for kind in ("//", "%"))
            self._without_value[entry] = quotient, remainder
        return self._without_value[entry]

    def minimum(self, args: list[Poly]) -> Poly:
        return self._extremum("min", args, 1)

    def maximum(self, args: list[Poly]) -> Poly:
        return self._extremum("max", args, -1)

    def _extremum(self, name: str, args: list[Poly], sign: int) -> Poly:
        kept = list(dict.fromkeys(args))
        dropped: list[tuple[Poly, Poly, Evidence]] = []
        for p in list(kept):
            # an argument that is certainly not the extreme one
            other = next((q for q in kept if q != p and self.bounds.certain((p - q) * sign)), None)
            if other is not None:
                kept.remove(p)
                dropped.append((p, other, self.bounds.evidence((p - other) * sign)))
                self.used_lemma("decided extremum")
        entry = name, tuple(kept)
        if len(kept) == 1:
            self._log_extremum(name, args, dropped, kept[0])
            return kept[0]
        if entry not in self._extrema:
            m = self._name(*entry)
            self._extrema[entry] = m
            self._log_extremum(name, args, dropped, m)
            named = self._made("extreme", name=name, value=m)
            for p in kept:
                self.learn((p - m) * sign, "extremum", named)
            lows = [self.bounds.least(p) for p in kept] if sign > 0 else []
            if lows and all(x is not None for x in lows):
                shared = [constant(min(x for x in lows if x is not None))]
            else:
                shared = self._shared_upper(kept) if sign < 0 else []
            for bound in shared:
                reason = None
                if self.log is not None:
                    each = [self.log.resolved(self._least_evidence((p - bound) * sign)) for p in kept]
                    reason = self._made(
                        "extremum bound", name=name, value=m, bound=bound, args=kept, each=each
                    )
                self.learn((m - bound) * sign, "extremum", reason)
            self.state(either(zero(m - p) for p in kept), "extremum", named)
            self.choices.append((m, tuple(kept)))
        else:
            self._log_extremum(name, args, dropped, self._extrema[entry])
        return self._extrema[entry]

    def _least_evidence(self, p: Poly) -> Evidence:
        """Why ``p >= 0``.  Raises :class:`Unrecorded` where that is not at hand."""
        if not self.bounds.certain(p):
            raise Unrecorded(f"{p} is not negative")
        return self.bounds.evidence(p)

    def _log_extremum(
        self, name: str, args: list[Poly], dropped: list[tuple[Poly, Poly, Evidence]], value: Poly
    ) -> None:
        if self.log is not None:
            without = [(p, q, self.log.resolved(e)) for p, q, e in dropped]
            self.log.add(Reason("extremum", {"name": name, "args": args, "dropped": without, "value": value}))

    def _shared_upper(self, args: list[Poly]) -> list[Poly]:
        candidates = [*args, *(u for p in args for u, _ in self.bounds.greatest(p))]
        return [u for u in dict.fromkeys(candidates) if all(self.bounds.certain(u - p) for p in args)][:2]

    # -- division
    def sign(self, b: Poly, *, total: bool = False) -> int:
        """The sign of ``b`` in this case.  Raises :class:`NeedSign` where the case must be split.

        Divisibility is ``total``: it says something of zero, even where no division is by zero.
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
        shared = _shared_factor(b)
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
                s: self.log.resolved(self.bounds.evidence(b * -s))
                for s in (1, -1)
                if self.bounds.certain(b * -s)
            }
        raise NeedSign(b, self._options(b, total), self._divisor, excluded)

    def _options(self, b: Poly, total: bool) -> tuple[int, ...]:
        options = [1, -1, 0] if total or not self.assume_defined else [1, -1]
        if self.bounds.certain(b):
            options.remove(-1)
        if self.bounds.certain(-b):
            options.remove(1)
        return tuple(options)

    def _not_zero(self, d: Expr) -> bool:
        return self.sign(self.value(d)) != 0

    def divmod(self, a: Poly, b: Poly) -> tuple[Poly, Poly]:
        """Quotient and remainder of floor division."""
        self._divisor = b
        if self._logged:
            if (a, b) in self._logged:
                return self._logged[a, b]
            if (-a, -b) in self._logged:
                q, r = self._logged[-a, -b]
                return q, -r
        s = self.sign(b)
        if s == 0:
            return self._undefined(a, b, "floor")
        if s < 0:
            # a // b = (-a) // (-b), and the remainders are opposite
            q, r = self._natural(-a, -b)
            return q, -r
        return self._natural(a, b)

    def _natural(self, a: Poly, b: Poly) -> tuple[Poly, Poly]:
        """Quotient and remainder of a positive divisor, noted."""
        if self._logged and (a, b) in self._logged:
            return self._logged[a, b]
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
        if whole:
            self.used_lemma("multiple leaves quotient")
        return whole + q, r

    def _fraction(self, a: Poly, b: Poly, whole: int = 0) -> tuple[Poly, Poly]:
        """Quotient and remainder of a dividend without multiples of the divisor.

        ``whole`` is the constant that will be added to the quotient: a name should stand for the sum.
        """
        if not a:
            return ZERO, ZERO
        if (a, b) in self._divided:
            return self._divided[a, b]
        certain = self.bounds.certain
        if certain(a):
            if certain(b - a - ONE):
                self.used_lemma("small dividend")
                return ZERO, a
        elif certain(a + b) and certain(-a - ONE):
            self.used_lemma("small dividend")
            return constant(-1), a + b
        if len(b) == 1:
            found = self._by_factor(a, b)
            if found is not None:
                return found
        if (a.degree > 1 or not b.is_constant) and len(self.bounds.facts) != self._facts_seen:
            # bounds of digits may tell what bounds of numbers do not
            self.divide_bounds()
            return self._fraction(a, b, whole)
        return self._named(a, b, whole)

    def _by_factor(self, a: Poly, b: Poly) -> tuple[Poly, Poly] | None:
        """``(g·A + r) // (g·h) = A // h`` where ``0 <= r < g``."""
        ((mono, k),) = b.terms.items()
        factors: dict[Poly, None] = {}
        for m, c in a.key:
            n, shared = common(m, mono), _gcd(c, k)
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
                self.used_lemma("common factor")
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
            # counts are natural numbers: -(-n // b) and (n + b - 1) // b are the same
            self.used_lemma("negated dividend")
            q, r = self._positive(b - a - ONE, b)
            self._divided[a, b] = -q, b - r - ONE
            if self.log is not None:
                low, high = self._range(r, b)
                self._ranges[b - r - ONE, b] = high, low
            return self._divided[a, b]
        elif a.constant < 0 and not b.is_constant:
            # (n - 1) // b + 1 is the count, as (n + b - 1) // b is
            whole = 1
        q, r = self._name("q", a + b * whole, b) - whole, self._name("r", a, b)
        self._fresh |= q.names | r.names
        self._divided[a, b] = q, r
        w = Witness(a, b, q, r)
        equation = Fact(zero(a - b * q - r), f"quotient {q} of {a} by {b}", Reason("named"))
        if self.log is not None:
            one = self.log.resolved(self.at_least_one(b))
            parts = {"dividend": a, "divisor": b, "quotient": q, "remainder": r, "one": one}
            self.log.add(Reason("name", parts))
            self.log.add(equation)
            self._equations.append(equation)
        named = Reason("named")
        facts = [Fact(at_least(r), "remainder", named), Fact(at_least(b - r - ONE), "remainder", named)]
        for f in facts:
            self.state(f.formula, f.why, f.reason)
        more = self._quotient_bounds(w)
        for f in more:
            self.state(f.formula, f.why, f.reason)
        facts += more
        self._settle()
        self.witnesses.append(w)
        if target is not None:
            name, c = target
            self._claimed.add(name)
            value = (b * q + r - a.without(name)) * c
            self.defining.append(Definition(name, value, "radix", tuple(facts), w, equation))
        self.facts.append(equation)
        return q, r

    def _quotient_bounds(self, w: Witness) -> list[Fact]:
        certain, q = self.bounds.certain, w.quotient
        found = []
        parts = {"dividend": w.dividend, "divisor": w.divisor, "quotient": q}
        if certain(w.dividend):
            natural = self.bounds.evidence(w.dividend) if self.log is not None else None
            reason = self._made("quotient of a natural number", **parts, natural=natural)
            found.append(Fact(at_least(q), "quotient of a natural number", reason))
        above = self.bounds.greatest(w.dividend)
        tops = self._divided_tops(above, w.divisor)
        if not tops:
            # n - 1 is not in radix notation, but what n is not above may be: a size is padded to c·b
            further = [(u, why + more) for top, why in above for u, more in self.bounds.greatest(top)]
            tops = self._divided_tops(further, w.divisor)
        for t, why in tops.items():
            # dividend <= divisor·(t + 1) - 1
            reason = self._made("quotient of a bound", **parts, t=t, below=why)
            found.append(Fact(at_least(t - q), "quotient of a bound", reason))
        return found

    def _divided_tops(self, above: Iterable[tuple[Poly, Evidence]], b: Poly) -> dict[Poly, Evidence]:
        """What a quotient by ``b`` is not above, for bounds of its dividend of which the quotient is known; and why."""
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
        """The name that ``a = b·q + r`` should define: the only one in ``a``, or any when eager."""
        # n and n + b - 1 are written in radix b; of a longer sum no name stands for the whole
        alone = a.degree == 1 and sum(bool(m) and not b.names.issuperset(m) for m in a.terms) == 1
        if not self.refine or not (self.eager or alone):
            return None
        # when eager, a variable of the claim rather than a name made here
        for name, c in sorted(a.units(), key=lambda u: rank(u[0])):
            if name in b.names or name in self._claimed or name in self.case.rejected:
                continue
            if rank(name) == 1 and any(w.divisor == b and w.remainder.single == name for w in self.witnesses):
                # a digit to the same radix again: its quotient is 0 but for a shift, and so on without end
                continue
            if self.defining and name in self._fresh:
                # its bounds are known only when the number of which it is a digit has been replaced
                continue
            return name, c
        return None

    def _divisible(self, h: Divides, *, divided: bool = False) -> None:
        """A hypothesis ``d ∣ e``: ``e = d·k``; it may be that ``e mod d``, in which e is ``divided``, is zero."""
        d, e = self.value(h.d), self.value(h.e)
        self._divisor = d
        s = self.sign(d, total=True)
        if s == 0:
            if divided:
                self._undefined(e, d, "floor")
            self.state(FALSE, "hypothesis")
            return
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
        equation = Fact(zero(rest - d * k), "hypothesis", Reason("named"))
        if self.log is not None:
            one = self.log.resolved(self.at_least_one(d))
            parts = {"dividend": rest, "divisor": d, "quotient": k, "given": given, "one": one}
            self.log.add(Reason("divisible", {**parts, "d": h.d, "e": h.e}))
            self.log.add(equation)
            self._equations.append(equation)
        facts = self._quotient_bounds(w)
        for f in facts:
            self.state(f.formula, f.why, f.reason)
        self.witnesses.append(w)
        target = self._definable(rest, d)
        if target is not None:
            name, c = target
            self._claimed.add(name)
            value = (d * k - rest.without(name)) * c
            self.defining.append(Definition(name, value, "divisibility", tuple(facts), w, equation))
        self.state(equation.formula, "hypothesis", equation.reason)

    # -- conditions
    def formula(self, c: Condition) -> Formula:
        """A condition as a formula over polynomials."""
        return condition_interpret(_positively(c), self.value, self)

    def divides(self, d: Poly, e: Poly) -> Formula:
        return FALSE if self.sign(d, total=True) == 0 else zero(self.divmod(e, d)[1])

    def neg(self, part: Formula) -> Formula:
        """Only divisibility keeps a negation: what is negated is that a remainder is zero."""
        match part:
            case Zero(p):
                return nonzero(p)
            case All(()):
                return FALSE
            case Some(()):
                return TRUE
        raise AssertionError(f"a negation of {part}")


def _positively(c: Condition) -> Condition:
    """Negations pushed inwards until only divisibility is negated."""
    match c:
        case Not(Divides()):
            return c
        case Not(arg):
            return _positively(negate(_positively(arg)))
        case And(args):
            return all_of(_positively(a) for a in args)
        case Or(args):
            return any_of(_positively(a) for a in args)
    return c


def _no_remainder(c: Condition) -> Divides | None:
    """``e % d = 0`` as ``d ∣ e``, which is the same for a divisor that is not zero."""
    if isinstance(c, Compare) and c.op == "==":
        for a, b in ((c.a, c.b), (c.b, c.a)):
            if isinstance(a, Mod) and isinstance(b, Int) and b.value == 0:
                return Divides(a.b, a.a)
    return None


def cofactors(p: Poly) -> Iterator[Poly]:
    """The sums that names of a polynomial are multiplied with."""
    for v in sorted(p.names):
        terms = {m: c for m, c in p.terms.items() if v in m}
        if len(terms) > 1 and all(m.count(v) == 1 for m in terms):
            yield Poly({over(m, (v,)) or (): c for m, c in terms.items()})


def extrema(conditions: Iterable[Condition]) -> list[Min | Max]:
    """Every minimum and maximum, innermost first, each once."""
    roots = [e for c in conditions for e in all_exprs(c)]
    return [n for n in postorder(*roots) if isinstance(n, (Min, Max))]


_RANKS = {"r": 1, "min": 1, "max": 1, "undefined": 1, "q": 2}


def rank(name: str) -> int:
    """Variables of the claim are eliminated first, quotients last: they are what dividends are written in."""
    stem, mark, number = name.rpartition("!")
    return _RANKS.get(stem, 0) if mark and number.isdecimal() else 0


def _gcd(a: int, b: int) -> int:
    while b:
        a, b = b, a % b
    return abs(a)


def _shared_factor(b: Poly) -> Poly:
    """The greatest monomial that divides every term, with the sign of the first."""
    shared: tuple[str, ...] | None = None
    coefficient = 0
    for m, c in b.key:
        shared = m if shared is None else common(shared, m)
        coefficient = _gcd(coefficient, c)
    sign = -1 if len(b) == 1 and b.key[0][1] < 0 else 1
    return Poly({shared or (): sign * coefficient})
