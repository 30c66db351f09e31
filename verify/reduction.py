"""Reduction of parametric claims to *linear* integer arithmetic.

A claim with symbolic divisors and products is undecidable in general and fickle in practice.  This strategy never asks a
solver about products.  It

1. splits on the sign of every divisor whose sign is not known,
2. names quotients and remainders, ``a = b·q + r`` with r between 0 and b,
3. substitutes equalities in solved form,
4. brings everything to polynomial normal form, in which each nonlinear monomial is an opaque integer,
5. adds instances of the lemmas in :data:`LEMMAS`, which are true for all integers, and
6. asks one question of *linear* integer arithmetic per sign case, which is decidable.

If all of them are contradictory the claim is proved.  Otherwise nothing is known: the reduction never refutes.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import z3

from ..core.condition import And, Condition, Divides, Not, Or, all_of, any_of, condition_interpret, negate
from ..core.expr import Expr, Var, interpret
from . import polynomial as poly
from .polynomial import Poly
from .preprocess import lower_bounds

__all__ = ["LEMMAS", "Outcome", "prove"]

#: The lemma schemes, as they are used: name and statement.  Each is proved by the tests.
LEMMAS: dict[str, str] = {
    "product of an equation": "e = 0  →  e·p = 0",
    "product of a bound": "e >= 0 and p >= 1  →  e·p >= 0 and e·(p - 1) >= 0",
    "product of positives": "p >= 1 and q >= 1  →  p·q >= 1",
    "multiples are apart": "b >= 1  →  (D >= 1 → b·D >= b) and (D <= -1 → b·D <= -b) and (D = 0 → b·D = 0)",
}

# A formula in negation normal form over polynomial atoms: p <= 0 or p = 0.
Formula: TypeAlias = "tuple[Any, ...]"
_TRUE: Formula = ("and",)
_FALSE: Formula = ("or",)

#: (substitution, level of lemmas), in order; what succeeds is recorded in the outcome.
_ATTEMPTS = (("as stated", 0), ("as stated", 1), ("careful", 1), ("eager", 1))
_THOROUGH = (("as stated", 2), ("careful", 2), ("eager", 2))
_MAX_CASES = 64
_MAX_CANDIDATES = 48


@dataclass
class Outcome:
    """What the reduction found; ``steps`` names what was done in each sign case."""

    proved: bool
    resources: int = 0
    cases: int = 0
    steps: list[str] = field(default_factory=list)


class _NeedSign(Exception):
    def __init__(self, p: Poly, zero: bool) -> None:
        super().__init__()
        self.poly = p
        self.zero = zero


def prove(
    hypotheses: Sequence[Condition], goal: Condition, budget: int, *, thorough: bool = False
) -> Outcome:
    """Try to prove that ``hypotheses`` imply ``goal``; ``budget`` is the ``rlimit`` of each linear question.

    ``thorough`` adds lemmas of level 2: products of more facts.
    """
    out = Outcome(False)
    todo: list[dict[poly.Key, int]] = [{}]
    while todo:
        signs = todo.pop()
        case = _Case(signs)
        try:
            case.learn(hypotheses)
            known = [case.formula(h) for h in hypotheses]
            refuted = case.formula(_without_negation(negate(goal)))
        except _NeedSign as need:
            k = poly.key(need.poly)
            todo += [{**signs, k: s} for s in ((1, -1, 0) if need.zero else (1, -1))]
            if len(todo) + out.cases > _MAX_CASES:
                return out
            continue
        out.cases += 1
        if not _close(case, known, refuted, budget, out, _THOROUGH if thorough else _ATTEMPTS):
            return out
    out.proved = True
    return out


def _without_negation(c: Condition) -> Condition:
    """``not (d ∣ e)`` as ``d = 0 or e mod d ≠ 0``; every other negation has been pushed inwards already."""
    match c:
        case Not(Divides(d, e)):
            return any_of((d.eq(0), all_of((d.ne(0), (e % d).ne(0)))))
        case And(args):
            return all_of(_without_negation(a) for a in args)
        case Or(args):
            return any_of(_without_negation(a) for a in args)
    return c


# ---------------------------------------------------------------------------------------------------------- one case
class _Case:
    """The claim under one assignment of signs: polynomials, and the facts that define quotients and remainders."""

    def __init__(self, signs: dict[poly.Key, int]) -> None:
        self.signs = signs
        self.least: dict[str, int] = {}
        self.equations: list[tuple[Poly, Poly | None]] = []  # with the dividend, where it defines a quotient
        self.bounds: list[Poly] = []
        self.witnesses: list[tuple[Poly, Poly, str, str, int]] = []
        self.choices: list[Formula] = []
        self._memo: dict[Expr, Poly] = {}
        self._pairs: dict[tuple[poly.Key, poly.Key], tuple[Poly, Poly]] = {}
        self._extrema: dict[tuple[str, tuple[poly.Key, ...]], Poly] = {}
        self._fresh = 0
        for k, s in signs.items():
            if s:
                self.bounds.append(poly.add(poly.scale(dict(k), s), poly.constant(-1)))
            else:
                self.equations.append((dict(k), None))

    def fresh(self, stem: str) -> str:
        self._fresh += 1
        return f"{stem}!{self._fresh}"

    # -- expressions
    def value(self, e: Expr) -> Poly:
        return interpret((e,), self, self._memo)[0]

    def integer(self, n: int) -> Poly:
        return poly.constant(n)

    def variable(self, v: Var) -> Poly:
        return poly.variable(f"{v.name}:{v.kind}" if v.kind else v.name)

    def sum(self, const: int, terms: list[tuple[Poly, int]]) -> Poly:
        total = poly.constant(const)
        for p, k in terms:
            total = poly.add(total, p, k)
        return total

    def product(self, factors: list[Poly]) -> Poly:
        return poly.product(factors)

    def floordiv(self, a: Poly, b: Poly) -> Poly:
        return self.divmod(a, b)[0]

    def mod(self, a: Poly, b: Poly) -> Poly:
        return self.divmod(a, b)[1]

    def ceildiv(self, a: Poly, b: Poly) -> Poly:
        return poly.scale(self.divmod(poly.scale(a, -1), b)[0], -1)

    def minimum(self, args: list[Poly]) -> Poly:
        return self._extremum("min", args, 1)

    def maximum(self, args: list[Poly]) -> Poly:
        return self._extremum("max", args, -1)

    def _extremum(self, name: str, args: list[Poly], sign: int) -> Poly:
        entry = (name, tuple(poly.key(a) for a in args))
        if entry not in self._extrema:
            m = poly.variable(self.fresh(name))
            self.bounds += [poly.scale(poly.add(a, m, -1), sign) for a in args]
            self.choices.append(("or", *(("eq", poly.add(m, a, -1)) for a in args)))
            self._extrema[entry] = m
        return self._extrema[entry]

    def divmod(self, a: Poly, b: Poly) -> tuple[Poly, Poly]:
        """Quotient and remainder; the divisor is not zero (the *defined* obligation is another one)."""
        s = self.sign(b)
        if poly.is_constant(b) and abs(b.get((), 0)) == 1:
            return poly.scale(a, s), poly.constant(0)
        if poly.is_constant(a) and poly.is_constant(b):
            exact = divmod(a.get((), 0), b[()])
            return poly.constant(exact[0]), poly.constant(exact[1])
        entry = (poly.key(a), poly.key(b))
        found = self._pairs.get(entry)
        if found is None:
            q_name, r_name = self.fresh("q"), self.fresh("r")
            q, r = poly.variable(q_name), poly.variable(r_name)
            self.equations.append((poly.add(a, poly.add(poly.multiply(b, q), r), -1), a))
            if s > 0:
                self.bounds += [r, poly.add(poly.add(b, r, -1), poly.constant(-1))]
            else:
                self.bounds += [poly.scale(r, -1), poly.add(poly.add(r, b, -1), poly.constant(-1))]
            self.witnesses.append((a, b, q_name, r_name, s))
            found = self._pairs[entry] = q, r
        return found

    def sign(self, b: Poly, *, zero: bool = False) -> int:
        """The sign of a divisor in this case.  Raises :class:`_NeedSign` where the case must be split."""
        if poly.is_constant(b):
            c = b.get((), 0)
            return (c > 0) - (c < 0)
        for k, s in ((poly.key(b), 1), (poly.key(poly.scale(b, -1)), -1)):
            if k in self.signs:
                return s * self.signs[k]
        if self._positive(b):
            return 1
        if len(b) == 1:
            ((m, c),) = b.items()
            if len(m) > 1:
                s = 1 if c > 0 else -1
                for v in m:
                    s *= self.sign(poly.variable(v), zero=zero)
                return s
            if abs(c) != 1:
                return (1 if c > 0 else -1) * self.sign(poly.variable(m[0]), zero=zero)
        raise _NeedSign(b, zero)

    def _positive(self, p: Poly) -> bool:
        """Whether ``p >= 1`` follows from constant lower bounds, by monotonicity alone."""
        total = 0
        for m, c in p.items():
            lows = [self.least.get(v, -1) for v in m]
            if m and (c < 0 or min(lows) < 0):
                return False
            total += c * math.prod(lows)
        return total >= 1

    def learn(self, hypotheses: Sequence[Condition]) -> None:
        """Constant lower bounds of variables, which decide the sign of most divisors."""
        for v, low in lower_bounds(hypotheses).items():
            (name,) = poly.names(self.variable(v))
            self.least[name] = low

    # -- conditions, in negation normal form
    def formula(self, c: Condition) -> Formula:
        return condition_interpret(c, self.value, self)

    def const(self, value: bool) -> Formula:
        return _TRUE if value else _FALSE

    def compare(self, op: str, a: Poly, b: Poly) -> Formula:
        gap = poly.add(a, b, -1)
        match op:
            case "<=":
                return self._at_most(gap)
            case "<":
                return self._at_most(poly.add(gap, poly.constant(1)))
            case "==":
                return ("eq", gap)
        return ("or", ("le", poly.add(gap, poly.constant(1))), ("le", poly.add(poly.constant(1), gap, -1)))

    def _at_most(self, p: Poly) -> Formula:
        return ("le", p)

    def within(self, e: Poly, lo: Poly, hi: Poly) -> Formula:
        return ("and", ("le", poly.add(lo, e, -1)), ("le", poly.add(e, hi, -1)))

    def divides(self, d: Poly, e: Poly) -> Formula:
        if self.sign(d, zero=True) == 0:
            return _FALSE
        k = poly.variable(self.fresh("k"))
        return ("eq", poly.add(e, poly.multiply(d, k), -1))

    def conj(self, parts: list[Formula]) -> Formula:
        return ("and", *parts)

    def disj(self, parts: list[Formula]) -> Formula:
        return ("or", *parts)

    def neg(self, part: Formula) -> Formula:
        raise AssertionError("only divisibility keeps a negation, and it is rewritten before")


# ----------------------------------------------------------------------------------------------------------- a question
@dataclass
class _Question:
    """Facts whose contradiction closes a case."""

    equations: list[tuple[Poly, Poly | None]]
    bounds: list[Poly]
    formulas: list[Formula]
    refuted: Formula
    witnesses: list[tuple[Poly, Poly, Poly, int]]
    positive: list[Poly]

    def map(self, f: Callable[[Poly], Poly]) -> _Question:
        """The question after a substitution."""
        equations = [(f(p), None if d is None else f(d)) for p, d in self.equations]
        return _Question(
            [(p, d) for p, d in equations if p],
            [b for b in map(f, self.bounds) if not _satisfied(b)],
            [_map_formula(g, f) for g in self.formulas],
            _map_formula(self.refuted, f),
            [(f(a), f(b), f(q), s) for a, b, q, s in self.witnesses],
            [f(p) for p in self.positive],
        )


def _satisfied(bound: Poly) -> bool:
    return poly.is_constant(bound) and bound.get((), 0) >= 0


def _map_formula(g: Formula, f: Callable[[Poly], Poly]) -> Formula:
    if g[0] in ("le", "eq"):
        return (g[0], f(g[1]))
    return (g[0], *(_map_formula(x, f) for x in g[1:]))


def _atoms(g: Formula) -> list[Poly]:
    if g[0] in ("le", "eq"):
        return [g[1]]
    return [p for x in g[1:] for p in _atoms(x)]


def _close(
    case: _Case,
    known: Sequence[Formula],
    refuted: Formula,
    budget: int,
    out: Outcome,
    attempts: Sequence[tuple[str, int]],
) -> bool:
    """Whether the facts of one case contradict each other."""
    q = _Question(list(case.equations), list(case.bounds), [], refuted, [], [])
    todo = [*known, *case.choices]
    while todo:
        g = todo.pop(0)
        match g[0]:
            case "and":
                todo[:0] = g[1:]
            case "eq":
                q.equations.append((g[1], None))
            case "le":
                q.bounds.append(poly.scale(g[1], -1))
            case _:
                q.formulas.append(g)
    q.witnesses = [(a, b, poly.variable(qn), s) for a, b, qn, _, s in case.witnesses]
    q.positive = _positives(case, q.bounds)
    for mode, level in attempts:
        reduced = q if mode == "as stated" else _solved(q, eager=mode == "eager")
        if _contradiction(reduced, level, budget, out, depth=0):
            out.steps.append(f"case {out.cases}: substitution {mode}, lemmas of level {level}")
            return True
    return False


def _positives(case: _Case, bounds: Iterable[Poly]) -> list[Poly]:
    found: dict[poly.Key, Poly] = {}
    for k, s in case.signs.items():
        if s:
            p = poly.scale(dict(k), s)
            found[poly.key(p)] = p
    for name, low in sorted(case.least.items()):
        if low >= 1:
            found[(((name,), 1),)] = poly.variable(name)
    for b in bounds:
        # c·v - k >= 0 with k >= 1 is a sign fact about v
        if len(b) == 2 and b.get((), 0) <= -1:
            ((m, c),) = [(m, c) for m, c in b.items() if m]
            if len(m) == 1 and abs(c) == 1:
                found[((m, c),)] = {m: c}
    for _, b, _, _, s in case.witnesses:
        if not poly.is_constant(b) and len(b) > 1:
            p = poly.scale(b, s)
            found[poly.key(p)] = p
    return [found[k] for k in sorted(found)]


def _solved(q: _Question, *, eager: bool) -> _Question:
    """Equations with a variable of unit coefficient become substitutions.

    An equation that defines a quotient is solved for a variable of its dividend, so that dividends turn into
    ``divisor·quotient + remainder``; unless ``eager``, only where that does not tangle two definitions.
    """
    for _ in range(40):
        best: tuple[tuple[int, int, int, str], int, str, int] | None = None
        for n, (p, dividend) in enumerate(q.equations):
            for m, c in p.items():
                if len(m) != 1 or abs(c) != 1 or sum(m[0] in other for other in p) != 1:
                    continue
                if not eager and dividend is not None and not _may_solve(m[0], dividend):
                    continue
                kind = m[0].partition("!")[0] if "!" in m[0] else ""
                rank = (
                    {"": 0, "r": 1, "k": 1, "min": 1, "max": 1, "q": 2}[kind],
                    poly.degree(p),
                    len(p),
                    m[0],
                )
                if best is None or rank < best[0]:
                    best = (rank, n, m[0], c)
        if best is None:
            return _with_products(q) if eager else q
        _, n, name, c = best
        p, _ = q.equations[n]
        value = poly.scale({m: k for m, k in p.items() if m != (name,)}, -c)
        rest = _Question(
            q.equations[:n] + q.equations[n + 1 :], q.bounds, q.formulas, q.refuted, q.witnesses, q.positive
        )
        q = rest.map(lambda x, name=name, value=value: poly.substitute(x, name, value))  # type: ignore[misc]
    return q


def _with_products(q: _Question) -> _Question:
    """An equation ``a·b = …`` of products, not one that defines a quotient, rewrites ``a·b`` wherever it divides a term.

    Each equation is used once, so the rewriting ends.
    """
    used: list[tuple[Poly, Poly | None]] = []
    for p, dividend in list(q.equations):
        for m, c in sorted(p.items(), key=lambda t: ("!" in "".join(t[0]), -len(t[0]), t[0])):
            if dividend is None and len(m) == 2 and abs(c) == 1 and "!" not in "".join(m):
                value = poly.scale({k: v for k, v in p.items() if k != m}, -c)
                used.append((p, None))
                rest = _Question(
                    [e for e in q.equations if e[0] != p],
                    q.bounds,
                    q.formulas,
                    q.refuted,
                    q.witnesses,
                    q.positive,
                )
                q = rest.map(lambda x, m=m, value=value: poly.replace(x, m, value))  # type: ignore[misc]
                break
    q.equations += used
    return q


def _may_solve(name: str, dividend: Poly) -> bool:
    if dividend.get((name,)) not in (1, -1):
        return False
    others = [m for m in dividend if m not in ((name,), ())]
    if not others:
        return True
    return name[:2] not in ("q!", "r!") and all(v[:2] in ("q!", "r!") for m in others for v in m)


def _contradiction(q: _Question, level: int, budget: int, out: Outcome, depth: int) -> bool:
    linear = _Linear(budget, out)
    for p, _ in q.equations:
        linear.add(("eq", p))
    for b in q.bounds:
        linear.add(("le", poly.scale(b, -1)))
    for g in q.formulas:
        linear.add(g)
    linear.add(q.refuted)
    if level == 0:
        return linear.contradictory()
    candidates = _lemmas(q, level, linear)
    if linear.contradictory():
        return True
    if depth >= 2:
        return False
    # quotient identities that follow linearly become substitutions, and the rest simplifies
    derived = [d for d in candidates if _solvable(d) and linear.implies_zero(d)]
    if not derived:
        return False
    more = _Question(
        q.equations + [(d, None) for d in derived], q.bounds, q.formulas, q.refuted, q.witnesses, q.positive
    )
    return _contradiction(_solved(more, eager=True), level, budget, out, depth + 1)


def _solvable(p: Poly) -> bool:
    return len(p) >= 2 and any(
        len(m) == 1 and abs(c) == 1 and sum(m[0] in n for n in p) == 1 for m, c in p.items()
    )


def _lemmas(q: _Question, level: int, linear: _Linear) -> list[Poly]:
    """Instances of :data:`LEMMAS`; returns the quotient differences that were considered."""
    atoms = _atoms(q.refuted)
    positive = [p for p in q.positive if not poly.is_constant(p)]
    top = max(
        (poly.degree(p) for p in [*atoms, *(b for _, b, _, _ in q.witnesses), *(e for e, _ in q.equations)]),
        default=1,
    )
    factors = list(positive)
    if top >= 3 or level > 1:
        single = [p for p in positive if len(p) == 1]
        factors += [poly.multiply(x, y) for x, y in itertools.combinations(single, 2)]
    if top >= 4 and level > 1:
        single = [p for p in positive if len(p) == 1]
        factors += [poly.product(t) for t in itertools.combinations(single, 3)]
    for e, _ in q.equations:
        for p in positive:
            if poly.degree(e) + poly.degree(p) <= top + 1:
                linear.add(("eq", poly.multiply(e, p)))
    for b in q.bounds:
        for p in factors:
            if poly.degree(b) + poly.degree(p) <= top + 1:
                linear.lemma(poly.multiply(b, p))
                if p in positive:
                    linear.lemma(poly.multiply(b, poly.add(p, poly.constant(-1))))
    for x, y in itertools.combinations(positive, 2):
        linear.lemma(poly.add(poly.multiply(x, y), poly.constant(-1)))
    candidates = _differences(q, atoms, positive)
    scales = list(positive)
    for _, b, _, s in q.witnesses:
        scaled = poly.scale(b, s)
        if not poly.is_constant(b) and scaled not in scales:
            scales.append(scaled)
    scales += [p for p in _parameter_products(q, atoms, positive) if p not in scales]
    for d in candidates:
        for b in scales:
            multiple = poly.multiply(b, d)
            if poly.degree(multiple) > top + 1:
                continue
            linear.add(("or", ("le", d), ("le", poly.add(b, multiple, -1))))
            linear.add(("or", ("le", poly.scale(d, -1)), ("le", poly.add(b, multiple))))
            linear.add(
                (
                    "or",
                    ("le", poly.add(d, poly.constant(1))),
                    ("le", poly.add(poly.constant(1), d, -1)),
                    ("eq", multiple),
                )
            )
    return candidates


def _parameter_products(q: _Question, atoms: Sequence[Poly], positive: Sequence[Poly]) -> list[Poly]:
    """Products of positive variables that occur in the facts: the strides of mixed-radix numbers."""
    by_name = {next(iter(p))[0]: p for p in positive if len(p) == 1 and len(next(iter(p))) == 1}
    found: dict[poly.Key, Poly] = {}
    for e in [*q.bounds, *(e for e, _ in q.equations), *atoms]:
        for m in e:
            base = [v for v in m if v in by_name]
            if 2 <= len(base) <= 4:
                p = poly.product(by_name[v] for v in base)
                found.setdefault(poly.key(p), p)
    return [found[k] for k in sorted(found)][:12]


def _differences(q: _Question, atoms: Sequence[Poly], positive: Sequence[Poly]) -> list[Poly]:
    """Quotient differences worth a lemma: what polynomial division suggests that quotients are, and how they compare."""
    found: dict[poly.Key, Poly] = {}

    def consider(d: Poly) -> None:
        if d and not poly.is_constant(d) and len(found) < _MAX_CANDIDATES:
            k = poly.key(d)
            if poly.key(poly.scale(d, -1)) not in found:
                found.setdefault(k, d)

    for a, b, quotient, _ in q.witnesses:
        if not poly.is_constant(b):
            consider(poly.add(quotient, poly.divide(a, b)[0], -1))
    for one, two in itertools.combinations(q.witnesses, 2):
        if poly.key(one[1]) == poly.key(two[1]):
            for sign in (-1, 1):
                shift = poly.divide(poly.add(one[0], two[0], sign), one[1])[0]
                consider(poly.add(poly.add(one[2], two[2], sign), shift, -1))
        else:
            for x, y in ((one, two), (two, one)):
                k, rest = poly.divide(x[1], y[1])
                if k and not rest:
                    consider(poly.add(y[2], poly.multiply(k, x[2]), -1))
    for p in [*atoms, *(p for g in q.formulas for p in _atoms(g))]:
        consider(p)
    for p in [*atoms, *q.bounds, *(e for e, _ in q.equations)]:
        for b in positive:
            quotient, rest = poly.divide(p, b)
            if quotient and (poly.is_constant(rest) or p in q.bounds or len(b) == 1):
                consider(quotient)
    for one, two in itertools.combinations(q.witnesses, 2):
        consider(poly.add(one[2], two[2], -1))
    for d in list(found.values()):
        for b in positive:
            if len(b) == 1:
                quotient, rest = poly.divide(d, b)
                if quotient and rest:
                    consider(quotient)
    return list(found.values())


class _Linear:
    """A question to z3 about linear integer arithmetic; each nonlinear monomial is a variable of its own."""

    def __init__(self, budget: int, out: Outcome) -> None:
        self.context = z3.Context()
        self.solver = z3.SolverFor("QF_LIA", ctx=self.context)
        self.solver.set("rlimit", budget)
        self.out = out
        self.seen: set[poly.Key] = set()
        self._names: dict[poly.Monomial, Any] = {}
        self._spent = 0

    def add(self, g: Formula) -> None:
        """Assert a formula."""
        self.solver.add(self._formula(g))

    def lemma(self, bound: Poly) -> None:
        """Assert ``bound >= 0`` once."""
        k = poly.key(bound)
        if not poly.is_constant(bound) and k not in self.seen:
            self.seen.add(k)
            self.add(("le", poly.scale(bound, -1)))

    def contradictory(self) -> bool:
        """Whether no integers satisfy what was asserted."""
        answer = bool(self.solver.check() == z3.unsat)
        self._account()
        return answer

    def implies_zero(self, p: Poly) -> bool:
        """Whether what was asserted, without the refuted goal, would make ``p`` zero; asked in a scope."""
        self.solver.push()
        self.add(("or", ("le", poly.add(p, poly.constant(1))), ("le", poly.add(poly.constant(1), p, -1))))
        answer = bool(self.solver.check() == z3.unsat)
        self._account()
        self.solver.pop()
        return answer

    def _account(self) -> None:
        statistics = self.solver.statistics()
        if "rlimit count" in statistics.keys():  # noqa: SIM118
            total = int(statistics.get_key_value("rlimit count"))
            self.out.resources += total - self._spent
            self._spent = total

    def _variable(self, m: poly.Monomial) -> Any:
        found = self._names.get(m)
        if found is None:
            found = self._names[m] = z3.Int("*".join(m), self.context)
        return found

    def _poly(self, p: Poly) -> Any:
        parts = [self._variable(m) if c == 1 else c * self._variable(m) for m, c in p.items() if m]
        const = p.get((), 0)
        if not parts:
            return z3.IntVal(const, self.context)
        if const:
            parts.append(z3.IntVal(const, self.context))
        return parts[0] if len(parts) == 1 else z3.Sum(parts)

    def _formula(self, g: Formula) -> Any:
        match g[0]:
            case "le":
                return self._poly(g[1]) <= 0
            case "eq":
                return self._poly(g[1]) == 0
            case "and":
                return z3.And([self._formula(x) for x in g[1:]] or [z3.BoolVal(True, self.context)])
        return z3.Or([self._formula(x) for x in g[1:]] or [z3.BoolVal(False, self.context)])
