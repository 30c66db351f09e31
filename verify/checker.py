"""Check certificates: a second implementation on purpose, in one file that imports nothing of the package.

A certificate (``indexproof prove --certificates``) says how a claim was reduced to questions of linear arithmetic.
reports/certificates.md specifies the format and every step.  Nothing that a certificate says is believed: each fact must
follow from the claim by the step that it names, and the facts of every leaf must contradict each other for every solver
that is asked, with products as opaque integers.  Divisors of the claim are assumed not to be zero.

Run it as ``indexproof-check DIR``, or as ``python checker.py DIR``; it needs Python and z3, and asks cvc5 as well where
that is installed.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import math
import sys
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext, suppress
from dataclasses import dataclass, field
from functools import partial
from multiprocessing import Pool
from pathlib import Path
from typing import Any

Json = Any
#: Names in order, each as often as it is a factor.
Monomial = tuple[str, ...]
#: ``("ge", p)`` and ``("eq", p)``; of terms ``("==", p)``, ``("!=", p)``, ``("div", d, e)`` and ``("ndiv", d, e)``; and
#: ``("and", parts)`` and ``("or", parts)`` of a set.
Formula = tuple[Any, ...]
#: Whether a question in SMT-LIB is contradictory.
Solver = Callable[[str], bool]

FORMAT, FILE_FORMAT = "indexproof certificate 2", "indexproof certificates 2"
MANIFEST, MANIFEST_FORMAT = "manifest.json", "indexproof manifest of certificates 1"
_DIVISIONS = ("fdiv", "mod", "cdiv")
#: How often products are replaced in one term, and how many classes are looked at to see that no root is missing.
_REWRITTEN, _LOOKED_AT = 8, 4096
#: So many files are given to a process at once.
FEW = 16


class CertificateRefused(Exception):
    """A certificate that proves nothing: what is wrong, and where."""

    def __init__(self, place: str, reason: str) -> None:
        self.place, self.reason = place, reason
        super().__init__(f"{place}: {reason}")


class Unknown(Exception):
    """A division or an extremum of which nothing has been shown yet."""


def require(holds: object, place: str, reason: str) -> None:
    """Refuse the certificate unless something holds."""
    if not holds:
        raise CertificateRefused(place, reason)


# -------------------------------------------------------------------------------------------------------- polynomials
class Polynomial(dict[Monomial, int]):
    """Integer coefficients by monomial; none is zero.  Never changed once it is made."""

    @classmethod
    def of(cls, terms: Iterable[tuple[Monomial, int]]) -> Polynomial:
        """Return the sum of terms, of which several may have the same monomial."""
        out: dict[Monomial, int] = {}
        for m, c in terms:
            out[m] = out.get(m, 0) + c
        return cls({m: c for m, c in out.items() if c})

    def __hash__(self) -> int:  # type: ignore[override]
        return hash(frozenset(self.items()))

    def __add__(self, other: Polynomial | int) -> Polynomial:
        added = constant(other) if isinstance(other, int) else other
        return Polynomial.of([*self.items(), *added.items()])

    def __neg__(self) -> Polynomial:
        return self * -1

    def __sub__(self, other: Polynomial | int) -> Polynomial:
        return self + -other

    def __mul__(self, other: Polynomial | int) -> Polynomial:
        by = constant(other) if isinstance(other, int) else other
        return Polynomial.of((tuple(sorted(m + n)), c * d) for m, c in self.items() for n, d in by.items())

    @property
    def names(self) -> set[str]:
        """The names that occur."""
        return {v for m in self for v in m}

    @property
    def literal(self) -> int | None:
        """The integer that this is; ``None`` where a name occurs."""
        return None if any(self) else self.get((), 0)

    @property
    def name(self) -> str | None:
        """The one name that this is, ``None`` for anything else."""
        return (
            next(iter(self))[0] if len(self) == 1 and {*map(len, self)} == {1} == {*self.values()} else None
        )

    def __str__(self) -> str:
        terms = (
            "·".join(map(str, (*((c,) if c != 1 or not m else ()), *m))) for m, c in sorted(self.items())
        )
        return (" + ".join(terms) or "0").replace("\0", "#")


def constant(n: int) -> Polynomial:
    """Return the polynomial ``n``."""
    return Polynomial({(): n} if n else {})


def variable(v: str) -> Polynomial:
    """Return the polynomial ``v``."""
    return Polynomial({(v,): 1})


def with_values(p: Polynomial, values: Mapping[str, Polynomial]) -> Polynomial:
    """Return ``p`` with polynomials for names."""
    if not any(v in values for m in p for v in m):
        return p
    total: list[tuple[Monomial, int]] = []
    for m, c in p.items():
        term = Polynomial({tuple(v for v in m if v not in values): c})
        for v in m:
            term = term * values[v] if v in values else term
        total += term.items()
    return Polynomial.of(total)


def _over(m: Monomial, by: Monomial) -> Monomial | None:
    """Return ``m / by``, or ``None`` where ``by`` does not divide ``m``."""
    left = list(m)
    for v in by:
        if v not in left:
            return None
        left.remove(v)
    return tuple(left)


def exact_quotient(p: Polynomial, d: Polynomial) -> Polynomial | None:
    """Return ``p / d`` where that is a polynomial with integer coefficients, else ``None``."""
    if not d:
        return None
    lead = max(d, key=lambda m: (len(m), m))
    out, rest = Polynomial(), p
    for _ in range(len(p) * 4 + 8):
        if not rest:
            return out
        m = max(rest, key=lambda m: (len(m), m))
        left = _over(m, lead)
        if left is None or rest[m] % d[lead]:
            return None
        term = Polynomial({left: rest[m] // d[lead]})
        out, rest = out + term, rest - term * d
    return None


def read_polynomial(p: Json) -> Polynomial:
    """Return a polynomial from JSON, where it must be in normal form.  Raises :class:`ValueError`."""
    out = Polynomial({tuple(str(v) for v in t[1:]): int(t[0]) for t in p})
    if any(list(m) != sorted(m) for m in out) or not all(out.values()) or len(out) != len(p):
        raise ValueError("no polynomial in normal form")
    return out


# ----------------------------------------------------------------------------------------------------------- formulas
TAUTOLOGY: Formula = ("and", frozenset())
CONTRADICTION: Formula = ("or", frozenset())


def nonnegative(p: Polynomial) -> Formula:
    """Return ``p >= 0``."""
    g = math.gcd(*(c for m, c in p.items() if m))
    if not g:
        return TAUTOLOGY if p.get((), 0) >= 0 else CONTRADICTION
    return ("ge", Polynomial.of((m, c // g) for m, c in p.items()))


def zero(p: Polynomial) -> Formula:
    """Return ``p = 0``; the sign of ``p`` does not matter."""
    g = math.gcd(*(c for m, c in p.items() if m))
    if not g or p.get((), 0) % g:
        return CONTRADICTION if p else TAUTOLOGY
    return ("eq", Polynomial.of((m, c // g if max(p.items())[1] > 0 else -c // g) for m, c in p.items()))


def nonzero(p: Polynomial) -> Formula:
    """Return ``p != 0``."""
    return joined("or", [nonnegative(p - 1), nonnegative(-p - 1)])


def compared(op: str, p: Polynomial) -> Formula:
    """Return ``p == 0`` or ``p != 0`` of terms, which stays one condition; the sign of ``p`` does not matter."""
    if p.literal is not None:
        return CONTRADICTION if (op == "==") == bool(p) else TAUTOLOGY
    return (op, p if max(p.items())[1] > 0 else -p)


def divisible(d: Polynomial, e: Polynomial) -> Formula:
    """Return that ``d`` divides ``e``, which zero never does."""
    if not d:
        return CONTRADICTION
    if d.literal in (1, -1):
        return TAUTOLOGY
    if d.literal is not None and e.literal is not None:
        return CONTRADICTION if e.literal % d.literal else TAUTOLOGY
    return ("div", d, e)


def joined(kind: str, parts: Iterable[Formula]) -> Formula:
    """Return the conjunction (``and``) or disjunction (``or``) of the parts."""
    kept = frozenset(g for f in parts for g in (f[1] if f[0] == kind else (f,)))
    absorbing = CONTRADICTION if kind == "and" else TAUTOLOGY
    return absorbing if absorbing in kept else next(iter(kept)) if len(kept) == 1 else (kind, kept)


def conjuncts(f: Formula) -> list[Formula]:
    """Return the parts of a conjunction."""
    return list(f[1]) if f[0] == "and" else [f]


def mapped(f: Formula, of: Callable[[Formula], Formula]) -> Formula:
    """Return the formula with ``of`` applied to each part that and, or do not put together."""
    return joined(f[0], (mapped(g, of) for g in f[1])) if f[0] in ("and", "or") else of(f)


def at(f: Formula, of: Callable[[Polynomial], Polynomial]) -> Formula:
    """Return the formula about other polynomials."""
    made: dict[str, Callable[..., Formula]] = {"ge": nonnegative, "eq": zero, "div": divisible}
    made |= {op: partial(compared, op) for op in ("==", "!=")}
    made["ndiv"] = lambda d, e: negation(divisible(d, e))
    return mapped(f, lambda leaf: made[leaf[0]](*map(of, leaf[1:])))


def negation(f: Formula) -> Formula:
    """Return that ``f`` does not hold."""
    match f:
        case ["ge", p]:
            return nonnegative(-p - 1)
        case ["==" | "!=" as op, p]:
            return ("!=" if op == "==" else "==", p)
        case ["div" | "ndiv", d, e]:
            return ("ndiv" if f[0] == "div" else "div", d, e)
    return joined("or" if f[0] == "and" else "and", map(negation, f[1]))


def polynomials(f: Formula) -> Iterator[Polynomial]:
    """Yield the polynomials that a formula speaks of."""
    for part in f[1] if f[0] in ("and", "or") else ():
        yield from polynomials(part)
    yield from f[1:] if f[0] not in ("and", "or") else ()


def read_formula(f: Json) -> Formula:
    """Return a formula over polynomials from JSON.  Raises :class:`ValueError`."""
    match f:
        case ["ge", p]:
            return nonnegative(read_polynomial(p))
        case ["eq", p]:
            return zero(read_polynomial(p))
        case ["and" | "or" as kind, *parts]:
            return joined(kind, map(read_formula, parts))
    raise ValueError(f"no formula: {f}")


# -------------------------------------------------------------------------------------------------------------- terms
class Terms:
    """The terms of a certificate as polynomials, in which a division or an extremum is a name of its own.

    Such names begin with a zero byte, which no variable does; equal terms have equal ones.
    """

    def __init__(self, table: Sequence[Json] = ()) -> None:
        self.operations: dict[str, tuple[str, tuple[Polynomial, ...]]] = {}
        self._names: dict[tuple[str, tuple[Polynomial, ...]], str] = {}
        self.table: list[Polynomial] = []
        for entry in table:
            self.add(entry)

    def add(self, entry: Json) -> int:
        """Read one more term of the table; its number."""
        self.table.append(self._read(entry))
        return len(self.table) - 1

    def _read(self, entry: Json) -> Polynomial:
        table = self.table
        match entry:
            case int():
                return constant(exactly(entry))
            case ["var", str(name), str(kind)] if (not kind or kind.isidentifier()) and name[:1] != "\0":
                # made names have one `!`, which no name of a variable of a claim is given
                name = name.replace("!", "!!").replace(":", "::")
                return variable(f"{name}:{kind}" if kind else name)
            case ["sum", int(const), list(terms)]:
                return Polynomial.of(
                    [
                        ((), exactly(const)),
                        *((m, c * exactly(k)) for t, k in terms for m, c in table[t].items()),
                    ]
                )
            case ["mul", *args] if args:
                return math.prod((table[a] for a in args), start=constant(1))
            case [str(op), *args] if op in ("min", "max") or (op in _DIVISIONS and len(args) == 2):
                return self.apply(op, [table[a] for a in args])
        raise ValueError(f"no term: {entry}")

    def apply(self, op: str, args: Sequence[Polynomial]) -> Polynomial:
        """Return the term ``op`` of terms.  Raises :class:`ZeroDivisionError` for a divisor that is zero."""
        if op in _DIVISIONS:
            x, y = (p.literal for p in args)
            if y == 0:
                raise ZeroDivisionError("division by zero")
            if x is not None and y is not None:
                return constant(x // y if op == "fdiv" else x % y if op == "mod" else -(-x // y))
        else:
            parts = {q for p in args for q in (self._arguments(op, p) or (p,))}
            literals = {n for p in parts if (n := p.literal) is not None}
            parts = {p for p in parts if p.literal is None}
            if literals:
                parts.add(constant(min(literals) if op == "min" else max(literals)))
            args = sorted(parts, key=lambda p: sorted(p.items()))
            if len(args) == 1:
                return args[0]
        entry = op, tuple(args)
        name = self._names.setdefault(entry, f"\0{len(self._names)}")
        self.operations[name] = entry
        return variable(name)

    def _arguments(self, op: str, p: Polynomial) -> Sequence[Polynomial]:
        """Return the arguments of an extremum, none for another term."""
        inner, args = self.operations.get(p.name or "", ("", ()))
        return args if inner == op else ()

    def condition(self, c: Json) -> Formula:
        """Return a condition, whose terms are numbers in the table.  Raises :class:`ValueError`."""
        t = self.table
        match c:
            case bool():
                return TAUTOLOGY if c else CONTRADICTION
            case ["<=" | "<" as op, a, b]:
                return nonnegative(t[b] - t[a] - (1 if op == "<" else 0))
            case ["==" | "!=" as op, a, b]:
                return compared(op, t[b] - t[a])
            case ["within", e, lo, hi]:
                return joined("and", [nonnegative(t[e] - t[lo]), nonnegative(t[hi] - t[e])])
            case ["divides", d, e]:
                return divisible(t[d], t[e])
            case ["not", arg]:
                return negation(self.condition(arg))
            case ["and" | "or" as kind, *args]:
                return joined(kind, map(self.condition, args))
        raise ValueError(f"no condition: {c}")

    def below(self, roots: Iterable[Polynomial]) -> set[str]:
        """Return all names in terms, those within divisions and extrema too."""
        seen: set[str] = set()
        todo = [v for p in roots for v in p.names]
        while todo:
            v = todo.pop()
            if v not in seen:
                seen.add(v)
                todo += [u for p in self.operations.get(v, ("", ()))[1] for u in p.names]
        return seen

    def variables(self, fs: Iterable[Formula]) -> set[str]:
        """Return the variables in formulas about terms."""
        return self.below(p for f in fs for p in polynomials(f)) - set(self.operations)

    def divisors(self, roots: Iterable[Polynomial]) -> set[Polynomial]:
        """Return the divisors in terms, except numbers."""
        inside = (self.operations[v] for v in self.below(roots) if v in self.operations)
        return {args[1] for op, args in inside if op in _DIVISIONS and args[1].literal is None}

    def substituted(self, f: Formula, values: Mapping[str, Polynomial]) -> Formula:
        """Return a formula with terms for variables.  Raises :class:`ZeroDivisionError`."""
        memo = dict(values)

        def of(p: Polynomial) -> Polynomial:
            for v in p.names:
                if v in self.operations and v not in memo:
                    op, args = self.operations[v]
                    memo[v] = self.apply(op, [of(a) for a in args])
            return with_values(p, memo)

        return at(f, of)


def exactly(n: Json) -> int:
    """Return an integer; ``true`` and ``1.0`` are equal to one, and would take its place wherever it is used."""
    if type(n) is not int:
        raise ValueError(f"no integer: {n}")
    return n


def is_natural(e: Polynomial, known: Sequence[Formula]) -> bool:
    """Return whether hypotheses say that ``e``, or all that it is a product or a sum of, is not negative."""
    bounds = [f[1] for f in known if f[0] == "ge"]

    def said(p: Polynomial) -> bool:
        # p = bound + n for some n >= 0, or the sum of two bounds: the ends of a range that something lies in
        sums = itertools.chain(bounds, (x + y for x, y in itertools.combinations(bounds, 2)))
        return any((n := (p - b).literal) is not None and n >= 0 for b in sums)

    return said(e) or all(c > 0 and all(said(variable(v)) for v in m) for m, c in e.items())


# ------------------------------------------------------------------------------------------------------------- lemmas
def _lemmas() -> dict[str, tuple[list[tuple[str, Polynomial]], Formula]]:
    """Return the premises and the conclusion of each lemma whose instances a certificate may use."""
    b, d, e, p, q, m, a, x, y = map(variable, "bdepqmaxy")

    def either(*parts: Formula) -> Formula:
        return joined("or", parts)

    def every(*parts: Formula) -> Formula:
        return joined("and", parts)

    ge, eq = nonnegative, zero
    apart = (either(ge(-d), ge(b * d - b)), either(ge(d), ge(-b * d - b)), either(nonzero(d), eq(b * d)))
    signs = (either(ge(-d - 1), ge(e * d)), either(ge(d - 1), ge(-e * d)))
    return {
        "product of an equation": ([("eq", e)], eq(e * p)),
        "product of bounds": ([("ge", e), ("ge", p)], ge(e * p)),
        "product of positives": ([("ge", p - 1), ("ge", q - 1)], ge(p * q - 1)),
        "multiples are apart": ([("ge", b - 1)], every(*apart)),
        "sign of a product": ([("ge", e)], every(*signs)),
        "zero product": ([("eq", p * q)], either(eq(p), eq(q))),
        "square": ([], every(ge(p * p - p), ge(p * p + p))),
        "product of a choice": ([], either(nonzero(m - a), eq(m * p - a * p))),
        "certificate": (
            [("ge", y - x), ("ge", e), ("ge", p), ("ge", q)],
            every(ge(e * y - e * x), ge(p * q), ge(p + q)),
        ),
    }


LEMMAS = _lemmas()


# -------------------------------------------------------------------------------------------------------------- cases
@dataclass
class Check:
    """One check: the claim, the solvers that are asked, and how many steps, leaves and uses of lemmas it took."""

    name: str
    terms: Terms
    solvers: Mapping[str, Solver]
    hypotheses: tuple[Formula, ...] = ()
    goal: Formula = TAUTOLOGY
    steps: int = 0
    leaves: int = 0
    lemmas: Counter[str] = field(default_factory=Counter)

    def contradictory(self, formulas: Sequence[Formula], place: str) -> None:
        """Refuse unless every solver says that the formulas contradict each other."""
        script = linear_question(formulas)
        for name, refutes in self.solvers.items():
            require(refutes(script), place, f"{name} does not say that these facts contradict each other")


class State:
    """One case: its definitions, signs, facts, and the values of divisions and extrema."""

    def __init__(self, terms: Terms, names: Iterable[str] = ()) -> None:
        self.terms = terms
        self.definitions: dict[str, Polynomial] = {}
        self.signs: list[tuple[Polynomial, int]] = []
        #: What equations among the facts say of products, in the order in which they replace them.
        self.rewrites: dict[Monomial, Polynomial] = {}
        self.facts: set[Formula] = set()
        self.named: set[Formula] = set()
        self.divisions: dict[tuple[Polynomial, Polynomial], tuple[Polynomial, Polynomial]] = {}
        self.extrema: dict[tuple[str, frozenset[Polynomial]], Polynomial] = {}
        #: What names were introduced for, and the names; substitution may leave several for the same.
        self.made: set[tuple[str, tuple[Polynomial, ...], tuple[Polynomial, ...]]] = set()
        self.names = set(names)

    def copy(self) -> State:
        """Return a copy for one of several cases."""
        out = State(self.terms)
        vars(out).update({k: v if k == "terms" else v.copy() for k, v in vars(self).items()})
        return out

    def define(self, name: str, value: Polynomial) -> None:
        """Replace a name everywhere."""
        of = partial(with_values, values={name: value})

        def all_of(ps: Iterable[Polynomial]) -> tuple[Polynomial, ...]:
            return tuple(map(of, ps))

        self.definitions = {v: of(p) for v, p in self.definitions.items()} | {name: value}
        self.signs = [(of(p), s) for p, s in self.signs]
        self.facts, self.named = ({at(f, of) for f in fs} for fs in (self.facts, self.named))
        self.divisions = {(of(a), of(b)): (of(q), of(r)) for (a, b), (q, r) in self.divisions.items()}
        self.extrema = {(op, frozenset(all_of(args))): of(v) for (op, args), v in self.extrema.items()}
        self.made = {(kind, all_of(entry), all_of(names)) for kind, entry, names in self.made}

    def sign_facts(self) -> set[Formula]:
        """Return the facts that the decided signs state."""
        return {nonnegative(p * s - 1) if s else zero(p) for p, s in self.signs}

    def is_zero(self, b: Polynomial) -> bool:
        """Return whether ``b`` is zero in this case."""
        return not b or any(s == 0 and exact_quotient(b, p) is not None for p, s in self.signs)

    def value(self, p: Polynomial, memo: dict[str, Polynomial]) -> Polynomial:
        """Return the polynomial of a term.  Raises :class:`Unknown` where a division is not known."""
        for v in p.names - set(memo):
            if v in self.terms.operations:
                op, args = self.terms.operations[v]
                memo[v] = self._meaning(op, [self.value(a, memo) for a in args])
            else:
                memo[v] = self.definitions.get(v, variable(v))
        parts = (with_values(Polynomial({m: c}), memo) for m, c in p.items() if len(m) > 1)
        sums = with_values(Polynomial({m: c for m, c in p.items() if len(m) < 2}), memo)
        return Polynomial.of(t for part in (sums, *map(self._rewritten, parts)) for t in part.items())

    def _meaning(self, op: str, args: Sequence[Polynomial]) -> Polynomial:
        if op in ("fdiv", "mod"):
            return self.quotient(args[0], args[1])[op == "mod"]
        found = None
        for a, b in [args, [-p for p in args]] if op == "cdiv" else ():
            found = found or self.divisions.get((a + b - 1, b))
        if found is not None:
            return found[0]
        if (op, frozenset(args)) not in self.extrema:
            raise Unknown
        return self.extrema[op, frozenset(args)]

    def _rewritten(self, p: Polynomial) -> Polynomial:
        """Return ``p`` with products replaced by what equations say that they are."""
        for _ in range(_REWRITTEN if self.rewrites else 0):
            for product, value in self.rewrites.items():
                moved = {m: rest for m in p if (rest := _over(m, product)) is not None}
                if moved:
                    kept = Polynomial({m: c for m, c in p.items() if m not in moved})
                    p = kept + Polynomial({rest: p[m] for m, rest in moved.items()}) * value
                    break
            else:
                break
        return p

    def quotient(self, a: Polynomial, b: Polynomial) -> tuple[Polynomial, Polynomial]:
        """Return quotient and remainder of floor division.  Raises :class:`Unknown`."""
        a = self._rewritten(a)
        if (a, b) in self.divisions:
            return self.divisions[a, b]
        if (-a, -b) in self.divisions:
            q, r = self.divisions[-a, -b]
            return q, -r
        raise Unknown

    def formula(self, f: Formula, memo: dict[str, Polynomial]) -> Formula:
        """Return a formula about terms over the names of this case.  Raises :class:`Unknown`."""

        def of(leaf: Formula) -> Formula:
            if leaf[0] not in ("div", "ndiv"):
                made = {"ge": nonnegative, "==": zero, "!=": nonzero}
                return made[leaf[0]](self.value(leaf[1], memo))
            divisor = self.value(leaf[1], memo)
            if self.is_zero(divisor):
                return CONTRADICTION if leaf[0] == "div" else TAUTOLOGY
            rest = self.quotient(self.value(leaf[2], memo), divisor)[1]
            return zero(rest) if leaf[0] == "div" else nonzero(rest)

        return mapped(f, of)


class Steps:
    """The steps of one case, in order; each adds facts that its name and its premises justify."""

    def __init__(self, claim: CertifiedClaim, state: State, place: str) -> None:
        self.claim, self.state, self.place = claim, state, place
        self.goal: Formula | None = None
        self.shown: list[Formula] = []
        #: Facts by number, each with the goal on whose negation it rests.
        self._facts: dict[int, tuple[Formula, Formula | None]] = {}
        self._rests: Formula | None = None
        self._known: set[Formula] = set()
        self._unread = True

    def unless(self, holds: object, reason: str) -> None:
        """Refuse the step at hand unless something holds."""
        require(holds, self.place, reason)

    def lemma(self, name: str) -> None:
        """Count a use of a lemma."""
        self.claim.check.lemmas[name] += 1

    def established(self) -> set[Formula]:
        """Return the facts that do not depend on a negated goal."""
        return self.state.facts | {f for f, of in self._facts.values() if of is None}

    def fact(self, number: Json) -> Formula:
        """Return a fact by its number; one that rests on a negated goal serves the refutation of that goal alone."""
        f, of = self._facts[number]
        self.unless(of is None or of == self.goal, "a fact rests on the negation of another goal")
        self._rests = of or self._rests
        return f

    def known_names(self, *ps: Polynomial) -> None:
        """Refuse a name that means nothing."""
        unknown = {v for p in ps for v in p.names} - self.state.names
        self.unless(not unknown, f"{min(unknown, default='')} means nothing here")

    def read(self, step: Json, *keys: str) -> list[Polynomial]:
        """Return polynomials of a step."""
        return [read_polynomial(step[key]) for key in keys]

    def run(self, steps: Sequence[Json]) -> None:
        """Check steps one after another."""
        place = self.place
        for k, step in enumerate(steps):
            self.place = f"{place}.steps[{k}]"
            self.claim.check.steps += 1
            self._rests = None
            made = getattr(self, "_by_" + str(step["by"]).replace(" ", "_"), None)
            self.unless(made, f"there is no step {step['by']!r}")
            assert made is not None
            if "fact" not in step:
                made(step)
                self.unless(self._rests is None, "what is named must not rest on the negation of a goal")
                self._unread = True
                continue
            f = read_formula(step["fact"])
            self.known_names(*polynomials(f))
            made(step, f)
            self._facts[step["number"]] = f, self._rests
        self.place = place

    # -- facts of the claim
    def _by_known(self, step: Json, f: Formula) -> None:
        """A hypothesis with what is known of divisions, a sign, or what has been shown or introduced before."""
        if f not in self._known and self._unread:
            memo: dict[str, Polynomial] = {}
            for h in (*self.claim.known, *self.shown):
                with suppress(Unknown):
                    self._known.update(conjuncts(self.state.formula(h, memo)))
            self._unread = False
        known = (self._known, self.state.sign_facts(), self.state.facts, self.state.named)
        self.unless(any(f in fs for fs in known), f"this is not known ({step['by']})")

    _by_hypothesis = _by_equation = _by_shown = _by_sign = _by_kept = _by_named = _by_extreme = _by_known

    def show(self, goal: Formula) -> None:
        """Let the steps that follow use a goal that has been shown."""
        self.shown.append(goal)
        self._unread = True

    def _by_negated_goal(self, step: Json, f: Formula) -> None:
        denied = self.goal is not None and self.state.formula(negation(self.goal), {})
        self.unless(f == denied, "this is not the negation of the goal")
        self._rests = self.goal

    def _by_defined(self, step: Json, f: Formula) -> None:
        (divisor,) = self.read(step, "divisor")
        zero_here = self.state.is_zero(divisor) and self.claim.divides_by(divisor, self.state)
        self.unless(f == CONTRADICTION and zero_here, "no divisor of the claim is zero here")

    # -- evidence
    def evidence(self, e: Json, p: Polynomial) -> None:
        """``p >= 0``, because it is a combination of facts and a rest with no negative coefficient."""
        shifts: dict[str, Polynomial] = {}
        for number in e["shifts"]:
            f = self.fact(number)
            bound: Polynomial = f[1] if f[0] == "ge" else Polynomial()
            (m,) = [m for m in bound if m] if len(bound) - (() in bound) == 1 else ((),)
            self.unless(len(m) == 1 and abs(bound[m]) == 1, "a bound of a name is a bound of one name")
            if bound[m] > 0:
                shifts[m[0]] = variable(m[0]) - bound.get((), 0)
            elif m[0] not in shifts:
                shifts[m[0]] = -variable(m[0]) + bound.get((), 0)

        def natural(q: Polynomial) -> bool:
            return q.names <= set(shifts) and all(c >= 0 for c in with_values(q, shifts).values())

        rest = p
        for cofactor, number in e["parts"]:
            k, f = read_polynomial(cofactor), self.fact(number)
            self.unless(f[0] == "ge", "only inequalities are combined")
            self.unless(natural(k), f"the factor {k} may be negative")
            rest = rest - k * f[1]
        self.unless(natural(rest), f"{p} >= 0 does not follow from the facts that are named")
        self.lemma("certificate")

    def _by_combination(self, step: Json, f: Formula) -> None:
        p = read_polynomial(step["of"]) if "of" in step else f[1]
        self.unless(nonnegative(p) == f, "the combination shows something else")
        self.evidence(step["evidence"], p)

    # -- quotients
    def _new(self, kind: str, entry: Sequence[Polynomial], names: Sequence[Polynomial]) -> None:
        """Refuse names, up to a constant, that are not new, unless they mean this already."""
        meaning = kind, tuple(entry), tuple(names)
        for n in names if meaning not in self.state.made else ():
            v = (n - n.get((), 0)).name
            self.unless(v is not None and v not in self.state.names, f"{n} is no new name")
            self.state.names.add(str(v))
        self.state.made.add(meaning)

    def _by_name(self, step: Json) -> None:
        a, b, q, r = self.read(step, "dividend", "divisor", "quotient", "remainder")
        self.known_names(a, b)
        self.evidence(step["one"], b - 1)
        # quotients with this remainder, from names that were introduced for dividends that differ by multiples
        made = [
            names[0] + more
            for kind, entry, names in self.state.made
            if kind == "quotient" and entry[1] == b and names[1] == r
            if (more := exact_quotient(a - entry[0], b)) is not None
        ]
        if not made:
            self._new("quotient", (a, b), (q, r))
        elif q not in made:
            self._new("the same quotient", (a, b), (q,))
        self.state.named |= {zero(a - b * q - r), nonnegative(r), nonnegative(b - r - 1)}
        self.state.divisions[a, b] = q, r
        self.lemma("radix")

    def _by_divisible(self, step: Json) -> None:
        a, b, k, given = self.read(step, "dividend", "divisor", "quotient", "given")
        self.known_names(a, b)
        terms = self.claim.check.terms
        d, e = terms.table[step["d"]], terms.table[step["e"]]
        stated = (
            divisible(d, e) in self.claim.known
            or compared("==", terms.apply("mod", [e, d])) in self.claim.known
        )
        self.unless(stated, f"no hypothesis says that {d} divides {e}")
        memo: dict[str, Polynomial] = {}
        same = self.state.value(d, memo) in (b, -b) and self.state.value(e, memo) == given
        self.unless(same, "the hypothesis speaks of other terms")
        differ = exact_quotient(given - a, b) is not None
        self.unless(differ, "the dividends do not differ by a multiple of the divisor")
        self.evidence(step["one"], b - 1)
        if self.state.divisions.get((a, b), (None,))[0] == k:
            # the quotient that has been named: what the divisor divides leaves nothing
            self.lemma("unique quotient")
        else:
            self._new("multiple", (a, b), (k,))
        self.state.named.add(zero(a - b * k))
        self.state.divisions[a, b] = k, Polynomial()
        self.state.divisions[-a, b] = -k, Polynomial()
        self.lemma("divisibility")

    def _by_quotient(self, step: Json) -> None:
        a, b, q, r = self.read(step, "dividend", "divisor", "quotient", "remainder")
        self.known_names(a, b, q, r)
        gap = a - b * q - r
        for cofactor, number in step["equations"]:
            f = self.fact(number)
            self.unless(f[0] == "eq", "only equations are multiplied with anything")
            product = read_polynomial(cofactor) * f[1]
            # an equation is kept up to its sign
            gap = min((gap - product, gap + product), key=len)
        self.unless(not gap, f"{a} is not ({b})·({q}) + {r}")
        self.evidence(step["low"], r)
        self.evidence(step["high"], b - r - 1)
        self.state.divisions[a, b] = q, r
        self.lemma("unique quotient")

    def _by_rewrite(self, step: Json) -> None:
        product, value = self.read(step, "product", "value")
        self.unless([*product.values()] == [1], f"{product} is no product")
        equation = self.fact(step["equation"])
        self.unless(equation == zero(product - value), f"no equation says that {product} = {value}")
        self.known_names(product, value)
        self.state.rewrites[next(iter(product))] = value
        self.lemma("substitution")

    def _known_quotient(self, step: Json) -> list[Polynomial]:
        a, b, q = self.read(step, "dividend", "divisor", "quotient")
        self.unless(self.state.divisions.get((a, b), (None,))[0] == q, "this is not the quotient")
        return [a, b, q]

    def _by_quotient_of_a_natural_number(self, step: Json, f: Formula) -> None:
        a, _, q = self._known_quotient(step)
        self.unless(f in (nonnegative(q), TAUTOLOGY), "the quotient is another one")
        self.evidence(step["natural"], a)
        self.lemma("quotient of a natural number")

    def _by_quotient_of_a_bound(self, step: Json, f: Formula) -> None:
        a, b, q = self._known_quotient(step)
        (t,) = self.read(step, "t")
        self.unless(f == nonnegative(t - q), "the bound is another one")
        self.evidence(step["below"], b * (t + 1) - 1 - a)
        self.lemma("quotient of a bound")

    def _by_divided_bound(self, step: Json, f: Formula) -> None:
        b, t, r = self.read(step, "base", "t", "r")
        self.unless(f == nonnegative(t), "the bound is another one")
        self.evidence(step["one"], b - 1)
        self.evidence(step["of"], b * t + r)
        self.evidence(step["gap"], b - r - 1)
        self.lemma("divided bound")

    def _by_equal_digits(self, step: Json, f: Formula) -> None:
        b, t, r = self.read(step, "base", "t", "r")
        said = self.fact(step["of"]) == zero(b * t + r) and f in (zero(t), zero(r))
        self.unless(said, "the equation says something else")
        self.evidence(step["high"], b - r - 1)
        self.evidence(step["low"], b + r - 1)
        self.lemma("equal digits")

    # -- extrema
    def _by_extremum(self, step: Json) -> None:
        op, args = str(step["name"]), [read_polynomial(a) for a in step["args"]]
        sign = {"min": 1, "max": -1}[op]
        kept = list(dict.fromkeys(args))
        self.unless(kept, "an extremum has arguments")
        self.known_names(*kept)
        for less, other, why in step["dropped"]:
            p, q = read_polynomial(less), read_polynomial(other)
            there = p in kept and q in kept and p != q
            self.unless(there, "an argument is left out for one that is not there")
            self.evidence(why, (p - q) * sign)
            kept.remove(p)
            self.lemma("decided extremum")
        (value,) = self.read(step, "value")
        if len(kept) == 1:
            self.unless(value == kept[0], "the extremum is the argument that is left")
        else:
            self._new(op, kept, (value,))
            self.state.named |= {nonnegative((p - value) * sign) for p in kept}
            self.state.named.add(joined("or", (zero(p - value) for p in kept)))
            self.lemma("extremum")
        for of in (args, kept):
            self.state.extrema[op, frozenset(of)] = value

    def _by_extremum_bound(self, step: Json, f: Formula) -> None:
        op, (value, bound) = str(step["name"]), self.read(step, "value", "bound")
        sign = {"min": 1, "max": -1}[op]
        args = [read_polynomial(a) for a in step["args"]]
        known = self.state.extrema.get((op, frozenset(args))) == value
        self.unless(known, "this is not the extremum of these arguments")
        complete = f == nonnegative((value - bound) * sign) and len(step["each"]) == len(args)
        self.unless(complete, "the bound is another one")
        for p, why in zip(args, step["each"], strict=True):
            self.evidence(why, (p - bound) * sign)
        self.lemma("extremum")

    # -- leaves
    def _by_substitution(self, step: Json, f: Formula) -> None:
        ((v, value),) = ((str(v), read_polynomial(p)) for v, p in step["values"].items())
        equal = v not in value.names and self.fact(step["equation"]) == zero(variable(v) - value)
        self.unless(equal, f"no equation says that {v} = {value}")
        replaced = at(self.fact(step["of"]), partial(with_values, values={v: value}))
        self.unless(replaced == f, "the substitution gives something else")
        self.lemma("substitution")

    def _by_lemma(self, step: Json, f: Formula) -> None:
        name = str(step["lemma"])
        self.unless(name in LEMMAS, f"there is no lemma {name!r}")
        self.lemma(name)
        given, then = LEMMAS[name]
        values = {str(v): read_polynomial(p) for v, p in step["with"].items()}
        self.known_names(*values.values())
        mentioned = {v for p in (*polynomials(then), *(p for _, p in given)) for v in p.names}
        self.unless(mentioned <= set(values), f"the instance of {name!r} leaves a variable open")
        self.unless(len(step["given"]) == len(given), f"the premises of {name!r} are not all there")
        of = partial(with_values, values=values)
        for (kind, p), why in zip(given, step["given"], strict=True):
            if kind == "ge":
                self.evidence(why, of(p))
            else:
                self.unless(self.fact(why) == zero(of(p)), f"a premise of {name!r} is not shown")
        concluded = at(then, of)
        self.unless(f == concluded or f in conjuncts(concluded), f"this is no instance of {name!r}")

    def _by_derived(self, step: Json, f: Formula) -> None:
        (p,) = self.read(step, "zero")
        self.unless(f == zero(p), "something else is derived")
        self.known_names(p)
        self.claim.check.contradictory([*(self.fact(n) for n in step["from"]), nonzero(p)], self.place)


# -------------------------------------------------------------------------------------------------- the tree of a proof
@dataclass
class CertifiedClaim:
    """Hypotheses and goals; each node of a proof reduces them to others, divides them into cases, or ends in a leaf."""

    check: Check
    known: list[Formula]
    goals: list[Formula]

    def divides_by(self, divisor: Polynomial, state: State) -> bool:
        """Return whether a divisor of the claim, which is assumed not to be zero, is this polynomial up to its sign."""
        memo: dict[str, Polynomial] = {}
        for d in self._divisors():
            try:
                if state.value(d, memo) in (divisor, -divisor):
                    return True
            except Unknown:
                continue
        return False

    def _divisors(self) -> set[Polynomial]:
        return self.check.terms.divisors(p for f in (*self.known, *self.goals) for p in polynomials(f))

    def _no_other_divisors(self, p: Polynomial, place: str) -> None:
        known = self.check.terms.divisors([p]) <= self._divisors()
        require(known, place, f"{p} divides by what the claim does not")

    def _fresh(self, p: Polynomial, place: str, fs: Iterable[Formula] = ()) -> str:
        """Return the name of a variable that the claim does not mention."""
        terms = self.check.terms
        taken = terms.variables((*self.known, *self.goals, *fs)) | set(terms.operations)
        require(p.name is not None and p.name not in taken, place, f"{p} is no new variable")
        return str(p.name)

    def _variable(self, p: Polynomial) -> str | None:
        return None if p.name in self.check.terms.operations else p.name

    def _with(self, values: Mapping[str, Polynomial], skipped: Collection[Formula] = ()) -> CertifiedClaim:
        """Return the claim with terms for variables.  Raises :class:`ZeroDivisionError`."""
        terms = self.check.terms
        known, goals = (
            [c for f in fs if f not in skipped for c in conjuncts(terms.substituted(f, values))]
            for fs in (self.known, self.goals)
        )
        return CertifiedClaim(self.check, known, goals)

    def prove(self, node: Json, place: str) -> None:
        """Check that a node proves all goals."""
        reduce = getattr(self, "_node_" + str(node["step"]).replace(" ", "_"), None)
        if reduce is not None:
            reduce(node, place)
            return
        # a variable that cancels in the claim may be any integer
        names = self.check.terms.below(self.check.terms.table) - set(self.check.terms.operations)
        self._case(node, State(self.check.terms, names), place)

    def _require_all(self, shown: Collection[Formula], place: str) -> None:
        missing = [g for g in self.goals if g not in shown]
        require(not missing, place, f"{len(missing)} goals are not shown")

    def _goal(self, c: Json, place: str) -> Formula:
        """Return a condition that must be a goal."""
        goal = self.check.terms.condition(c)
        require(goal == TAUTOLOGY or goal in self.goals, place, f"{c} is no goal")
        return goal

    def _node_contradiction(self, node: Json, place: str) -> None:
        """The hypotheses contradict each other."""
        CertifiedClaim(self.check, self.known, [CONTRADICTION]).prove(node["then"], f"{place}.then")

    def _node_goals(self, node: Json, place: str) -> None:
        """Goals are shown one after another; each may be used for those that come later."""
        shown: list[Formula] = []
        for k, part in enumerate(node["parts"]):
            goal = self._goal(part["goal"], f"{place}.parts[{k}]")
            CertifiedClaim(self.check, [*self.known, *shown], [goal]).prove(
                part["proof"], f"{place}.parts[{k}]"
            )
            shown.append(goal)
        self._require_all(shown, place)

    def _node_inline(self, node: Json, place: str) -> None:
        """A hypothesis ``v = e`` says what a variable is."""
        terms = self.check.terms
        v, e = terms.table[node["variable"]], terms.table[node["term"]]
        name, said = self._variable(v), compared("==", v - e)
        defines = name is not None and said in self.known and name not in terms.below([e])
        require(defines, place, f"{v} = {e} is no hypothesis that defines a variable")
        self._with({str(name): e}, [said]).prove(node["then"], f"{place}.then")

    def _node_quotient_bound(self, node: Json, place: str) -> None:
        """A bound of a quotient is shown if that of its dividend is: ``a // d <= t`` by ``a <= d·t + d - 1``, and
        ``t <= a // d`` by ``d·t <= a``.
        """
        require(len(self.goals) == 1 and node["sides"], place, "there is no one goal with a quotient")
        terms, goal = self.check.terms, self.goals[0]
        for side, number in node["sides"]:
            sign = {"small": -1, "large": 1}.get(side, 0)
            q = terms.table[number]
            op, args = terms.operations.get(q.name or "", ("", ()))
            is_side = op == "fdiv" and goal[0] == "ge" and sign and goal[1].get((q.name,)) == sign
            require(is_side, place, f"{q} is no quotient that is the {side} side of the goal")
            (a, d), t = args, q - goal[1] * sign
            # it is no zero, because it is a divisor of the claim
            require(is_natural(d, self.known), place, f"{d} may be negative")
            goal = nonnegative(d * t + d - 1 - a if side == "small" else a - d * t)
            small = ("quotient of a bound",)
            large = ("quotient of a natural number", "multiple leaves quotient")
            for name in small if side == "small" else large:
                self.check.lemmas[name] += 1
            self.check.steps += 1
        CertifiedClaim(self.check, self.known, conjuncts(goal)).prove(node["then"], f"{place}.then")

    def _node_equal_terms(self, node: Json, place: str) -> None:
        """Goals that speak of a term are shown if they are shown of one that is equal to it.

        ``goals`` say them of a new variable that stands for either.
        """
        terms = self.check.terms
        term, value, x = (terms.table[node[key]] for key in ("term", "value", "variable"))
        goals = [c for g in node["goals"] for c in conjuncts(terms.condition(g))]
        self._no_other_divisors(value, place)
        name = self._fresh(x, place)
        of_term = [c for g in goals for c in conjuncts(terms.substituted(g, {name: term}))]
        same = set(of_term) == set(self.goals) and name not in terms.below([term, value])
        require(same, place, "these are not the goals")
        equal = CertifiedClaim(self.check, self.known, conjuncts(compared("==", term - value)))
        equal.prove(node["equal"], f"{place}.equal")
        self.check.steps += 1
        then = [c for g in goals for c in conjuncts(terms.substituted(g, {name: value}))]
        CertifiedClaim(self.check, self.known, then).prove(node["then"], f"{place}.then")

    def _node_odd_factors(self, node: Json, place: str) -> None:
        """Where ``v`` is odd, ``2^w`` divides ``v·e`` where it divides ``e``.

        ``v·1 = 1 + 2·(v // 2)``, so v has an inverse modulo 2, hence modulo 4, 16, … and whatever divides one of these;
        and what has an inverse can be left out.
        """
        terms = self.check.terms
        odd: list[Polynomial] = []
        for k, part in enumerate(node["odd"]):
            v, here = terms.table[part["factor"]], f"{place}.odd[{k}]"
            self._no_other_divisors(v, here)
            is_odd = compared("==", terms.apply("mod", [v, constant(2)]) - 1)
            CertifiedClaim(self.check, self.known, conjuncts(is_odd)).prove(part["proof"], here)
            odd.append(v)
        shorter: dict[Polynomial, Polynomial] = {}
        for k, part in enumerate(node["shorter"]):
            e, rest, here = terms.table[part["of"]], terms.table[part["rest"]], f"{place}.shorter[{k}]"
            product = rest
            for n in part["factors"]:
                require(0 <= n < len(odd), here, f"there is no odd factor {n}")
                product = product * odd[n]
            require(product == e, here, f"{e} is no such product")
            shorter[e] = rest
            self.check.steps += 1
        for name in ("remainder", "inverse modulo a square", "invertible factor"):
            self.check.lemmas[name] += 1

        def of(leaf: Formula) -> Formula:
            n = leaf[1].literal if leaf[0] in ("div", "ndiv") else None
            if n is None or n < 2 or n & (n - 1):
                return leaf
            e: Polynomial = leaf[2]
            left = divisible(leaf[1], shorter.get(e, e))
            return left if leaf[0] == "div" else negation(left)

        # where the hypotheses hold, the shorter conditions are equivalent to what they replace
        short = [c for h in self.known for c in conjuncts(mapped(h, of))]
        wanted = [c for g in self.goals for c in conjuncts(mapped(g, of))]
        known = list(dict.fromkeys([*self.known, *short]))
        CertifiedClaim(self.check, known, wanted).prove(node["then"], f"{place}.then")

    def _node_roots(self, node: Json, place: str) -> None:
        """Where ``2^w`` divides a polynomial in one variable, by classes ``r + m·k`` of that variable.

        That there is a root everywhere in each class, and none anywhere else, is calculated here: every integer is
        ``2·k`` or ``2·k + 1``.
        """
        terms = self.check.terms
        classes: dict[Formula, Formula] = {}
        for k, part in enumerate(node["solved"]):
            e, v, modulus = terms.table[part["of"]], terms.table[part["variable"]], part["modulus"]
            here = f"{place}.solved[{k}]"
            power = type(modulus) is int and modulus > 1 and not modulus & (modulus - 1)
            require(power, here, f"{modulus} is no power of two")
            found = [(exactly(r), exactly(m)) for r, m in part["classes"]]
            name = self._variable(v)
            require(name is not None and e.names == {name}, here, f"{e} is no polynomial in {v}")
            coefficients = [e.get((str(name),) * n, 0) for n in range(1 + max(map(len, e)))]
            require(_are_roots(coefficients, modulus, found), here, f"these are not the roots of {e}")
            instead = joined("or", (divisible(constant(m), v - r) for r, m in found))
            divided = divisible(constant(modulus), e)
            classes |= {divided: instead, negation(divided): negation(instead)}
            self.check.steps += 1
        self.check.lemmas["radix"] += 1
        known, goals = (
            [c for f in fs for c in conjuncts(mapped(f, lambda leaf: classes.get(leaf, leaf)))]
            for fs in (self.known, self.goals)
        )
        CertifiedClaim(self.check, known, goals).prove(node["then"], f"{place}.then")

    def _node_multiple(self, node: Json, place: str) -> None:
        """Where ``c`` divides a variable ``d``, ``d = c·k`` for a new k."""
        terms = self.check.terms
        d, c, k = (terms.table[node[key]] for key in ("variable", "divisor", "quotient"))
        self._fresh(k, place)
        name = self._variable(d)
        said = name is not None and divisible(c, d) in self.known and name not in terms.below([c])
        require(said, place, f"no hypothesis says that {c} divides {d}")
        self.check.lemmas["divisibility"] += 1
        self._instead(node["then"], {str(name): c * k}, f"{place}.then")

    def _node_residues(self, node: Json, place: str) -> None:
        """Every integer is ``m·k + r`` for some k and an r below m."""
        m, cases, table = node["modulus"], node["cases"], self.check.terms.table
        require(type(m) is int and 1 <= m <= len(cases), place, f"{m} is no modulus")
        variables = [self._variable(table[v["variable"]]) for v in node["variables"]]
        quotients = [table[v["quotient"]] for v in node["variables"]]
        fresh = [self._fresh(k, place) for k in quotients]
        require(len({*variables, *fresh}) == 2 * len(variables), place, "a variable is named twice")
        count = m ** len(variables)
        require(len(cases) == count and None not in variables, place, f"there are {count} cases")
        self.check.lemmas["radix"] += 1
        residues = itertools.product(range(m), repeat=len(variables))
        for k, (rs, case) in enumerate(zip(residues, cases, strict=True)):
            values = {str(v): q * m + r for v, q, r in zip(variables, quotients, rs, strict=True)}
            self._instead(case, values, f"{place}.cases[{k}]")

    def _instead(self, node: Json, values: Mapping[str, Polynomial], place: str) -> None:
        """Check a proof of the claim with terms for variables."""
        try:
            claim = self._with(values)
        except ZeroDivisionError:
            return  # a divisor of the claim would be zero
        claim.prove(node, place)

    # -- cases
    def _case(self, node: Json, state: State, place: str) -> None:
        """Check a case that is divided further, makes definitions, or is a leaf."""
        steps = Steps(self, state, place)
        if node["step"] == "factor":
            return self._signs(node, steps, {}, place)
        state.rewrites = {}
        steps.run(node["steps"])
        match node["step"]:
            case "sign":
                return self._signs(node, steps, node["excluded"], place)
            case "define":
                return self._define(node, steps, place)
            case "leaf":
                return self._leaf(node, steps, place)
        raise CertificateRefused(place, f"there is no step {node['step']!r}")

    def _signs(self, node: Json, steps: Steps, excluded: Json, place: str) -> None:
        p = read_polynomial(node["of"])
        steps.known_names(p)
        for s in (1, -1, 0):
            if str(s) in node["cases"]:
                state = steps.state.copy()
                state.signs.append((p, s))
                self._case(node["cases"][str(s)], state, f"{place}.cases[{s}]")
            elif s and str(s) in excluded:
                # p is not positive, or not negative
                steps.evidence(excluded[str(s)], p * -s)
            elif s == 0 and "divisor" in node:
                # p is a factor of a divisor of the claim
                divisor = read_polynomial(node["divisor"])
                divides = exact_quotient(divisor, p) is not None and self.divides_by(divisor, steps.state)
                require(divides, place, f"{p} may be zero")
            else:
                raise CertificateRefused(place, f"the case in which {p} has the sign {s} is missing")
        self.check.lemmas["sign split"] += 1

    def _define(self, node: Json, steps: Steps, place: str) -> None:
        state = steps.state.copy()
        state.facts = steps.established()
        defined: dict[str, Polynomial] = {}
        for d in node["define"]:
            name, value, equation = str(d["name"]), read_polynomial(d["value"]), d["equation"]
            free = name in state.names and name not in state.definitions and name not in value.names
            require(free, place, f"{name} cannot be defined as {value}")
            if equation is None:
                # a new name for the negation
                fresh = (-value).name
                new = fresh is not None and fresh not in state.names
                require(new, place, f"{value} is no negation of a new name")
                state.names.add(str(fresh))
            else:
                of = partial(with_values, values=defined)
                shown = state.sign_facts() if equation == "sign" else {at(steps.fact(equation), of)}
                said = zero(variable(name) - value) in shown
                require(said, place, f"{name} = {value} is not what the equation says")
            state.define(name, value)
            defined = {v: with_values(x, {name: value}) for v, x in defined.items()} | {name: value}
        self.check.lemmas["substitution"] += 1
        self._case(node["then"], state, f"{place}.then")

    def _leaf(self, node: Json, steps: Steps, place: str) -> None:
        for k, part in enumerate(node["parts"]):
            steps.place = here = f"{place}.parts[{k}]"
            steps.goal = self._goal(part["goal"], here) if "goal" in part else None
            steps.run(part["steps"])
            self.check.contradictory([steps.fact(n) for n in part["refute"]], here)
            self.check.leaves += 1
            if steps.goal is None:
                return
            steps.show(steps.goal)
        self._require_all(steps.shown, place)


def _are_roots(p: Sequence[int], modulus: int, classes: Sequence[tuple[int, int]]) -> bool:
    """Return whether a power of two divides a polynomial exactly at the integers of classes ``r + m·k``."""

    def of_class(r: int, m: int) -> list[int]:
        """Return the coefficients of ``p(r + m·y)``, by the binomial theorem."""
        return [
            sum(a * math.comb(i, j) * r ** (i - j) for i, a in enumerate(p) if i >= j) * m**j
            for j in range(len(p))
        ]

    if any(m < 1 or m & (m - 1) or any(a % modulus for a in of_class(r, m)) for r, m in classes):
        return False
    todo = [(0, 1)]
    for _ in range(_LOOKED_AT):
        if not todo:
            return True
        r, m = todo.pop()
        if any(m % other == 0 and (r - s) % other == 0 for s, other in classes):
            continue
        free, *rest = of_class(r, m)
        step = math.gcd(modulus, *rest)
        if free % step:
            continue  # some power of two divides all coefficients but this one
        if step == modulus:
            return False
        todo += [(r, 2 * m), (r + m, 2 * m)]
    return False


# ------------------------------------------------------------------------------------------------------------ solvers
def linear_question(formulas: Sequence[Formula]) -> str:
    """Return the question whether the formulas contradict each other, every monomial a variable, as SMT-LIB."""
    symbols: dict[Monomial, str] = {}

    def total(p: Polynomial) -> str:
        terms = ["0"]
        for m, c in sorted(p.items()):
            number = str(c) if c >= 0 else f"(- {-c})"
            terms.append(f"(* {number} {symbols.setdefault(m, f'm{len(symbols)}')})" if m else number)
        return f"(+ {' '.join(terms)} 0)"

    def text(f: Formula) -> str:
        if f[0] in ("ge", "eq"):
            return f"({'>=' if f[0] == 'ge' else '='} {total(f[1])} 0)"
        # in an order that does not depend on hashes
        parts = sorted(f[1], key=lambda g: repr(_sorted(g)))
        return f"({f[0]} {' '.join(map(text, parts))} {'true' if f[0] == 'and' else 'false'})"

    asserted = [f"(assert {text(f)})" for f in formulas]
    declared = [f"(declare-const {s} Int)" for s in symbols.values()]
    return "\n".join(["(set-logic QF_LIA)", *declared, *asserted, "(check-sat)", ""])


def _sorted(f: Formula) -> Json:
    return [f[0], sorted(map(_sorted, f[1]), key=repr) if f[0] in ("and", "or") else sorted(f[1].items())]


def z3_refutes(script: str) -> bool:
    """Return whether z3 says that the assertions contradict each other."""
    import z3

    solver = z3.SimpleSolver()
    solver.set("rlimit", 50_000_000)
    solver.from_string(script)
    return bool(solver.check() == z3.unsat)


def cvc5_refutes(script: str) -> bool:
    """Return the same by cvc5.  Raises :class:`ImportError` where it is not installed."""
    import cvc5

    manager = cvc5.TermManager() if hasattr(cvc5, "TermManager") else None
    solver = cvc5.Solver(manager) if manager is not None else cvc5.Solver()
    solver.setOption("rlimit", "5000000")
    parser = cvc5.InputParser(solver)
    parser.setStringInput(cvc5.InputLanguage.SMT_LIB_2_6, script, "question")
    symbols = parser.getSymbolManager()
    answers = []
    while not (command := parser.nextCommand()).isNull():
        answers.append(str(command.invoke(solver, symbols)).strip())
    return [a for a in answers if a] == ["unsat"]


def solvers_at_hand() -> dict[str, Solver]:
    """Return z3, and cvc5 where it is installed."""
    try:
        import cvc5  # noqa: F401
    except ImportError:
        return {"z3": z3_refutes}
    return {"z3": z3_refutes, "cvc5": cvc5_refutes}


# ------------------------------------------------------------------------------------------------------- certificates
def check_certificate(data: Json, solvers: Mapping[str, Solver] | None = None) -> Check:
    """Check every step of a certificate; all of ``solvers`` are asked about every leaf.

    Raises :class:`CertificateRefused`.
    """
    asked = solvers_at_hand() if solvers is None else solvers
    require(asked, "certificate", "no solver was asked")
    try:
        require(data["format"] == FORMAT, "certificate", f"the format is not {FORMAT!r}")
        terms = Terms(data["terms"])
        hypotheses = tuple(terms.condition(h) for h in data["claim"]["hypotheses"])
        goal = terms.condition(data["claim"]["goal"])
        check = Check(str(data["claim"]["name"]), terms, asked, hypotheses, goal)
        known = [c for h in hypotheses for c in conjuncts(h)]
        CertifiedClaim(check, known, conjuncts(goal)).prove(data["proof"], "proof")
    except RecursionError as error:
        raise CertificateRefused("certificate", "nested too deep") from error
    except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError, Unknown) as error:
        raise CertificateRefused("certificate", f"not of the documented form ({error!r})") from error
    return check


# -------------------------------------------------------------------------------------------------------------- files
def listed(folder: Path) -> list[Path]:
    """Return the certificates in a folder, which must be those that its manifest lists, unchanged and all of them.

    Raises :class:`CertificateRefused`.
    """
    try:
        manifest = json.loads((folder / MANIFEST).read_text("utf-8"))
        digests = {str(entry["file"]): entry["sha256"] for entry in manifest["certificates"]}
        known = manifest["format"] == MANIFEST_FORMAT
    except (OSError, ValueError, LookupError, TypeError, RecursionError) as error:
        raise CertificateRefused(str(folder / MANIFEST), f"there is no manifest ({error})") from error
    require(known, str(folder / MANIFEST), f"the format is not {MANIFEST_FORMAT!r}")
    there = {file.name for file in folder.glob("*.json")} - {MANIFEST}
    for name in sorted(there | set(digests)):
        require(name in digests, str(folder / name), "the manifest does not list it")
        require(name in there, str(folder / name), "it is missing, and the manifest lists it")
        digest = hashlib.sha256((folder / name).read_bytes()).hexdigest()
        require(digest == digests[name], str(folder / name), "it is not the file that the manifest lists")
    return [folder / name for name in digests]


def check_parts(data: Json, solvers: Mapping[str, Solver] | None = None) -> list[Check]:
    """Check the certificates in one file, of the cases of one claim.  Raises :class:`CertificateRefused`."""
    well_formed = isinstance(data, dict) and isinstance(data.get("parts"), list)
    require(well_formed and data.get("format") == FILE_FORMAT, "file", f"the format is not {FILE_FORMAT!r}")
    checks = [check_certificate(part, solvers) for part in data["parts"]]
    for check in checks:
        require(check.name == data.get("obligation"), "claim", f"it is one of {check.name!r}")
    return checks


def _checked(file: Path) -> tuple[int, int, int, str]:
    """How many parts, steps and leaves of a file were checked, and what is said where it is refused."""
    try:
        checks = check_parts(json.loads(file.read_text("utf-8")), solvers_at_hand())
    except (CertificateRefused, OSError, ValueError, RecursionError) as error:
        return 0, 0, 0, f"REFUSED  {file}\n  because  {error}"
    return len(checks), sum(c.steps for c in checks), sum(c.leaves for c in checks), ""


def main(arguments: Sequence[str] | None = None) -> int:
    """Check the files and folders named on the command line; 0 where all hold, 1 otherwise, 3 for nothing to check."""
    bad = empty = steps = leaves = 0
    files = list[Path]()
    for path in map(Path, sys.argv[1:] if arguments is None else arguments):
        try:
            files += listed(path) if path.is_dir() else [path]
        except CertificateRefused as error:
            bad += 1
            print(f"REFUSED  {error}")
    with Pool() if len(files) > 2 * FEW else nullcontext() as pool:
        for found, more, last, refused in pool.imap(_checked, files, FEW) if pool else map(_checked, files):
            steps, leaves = steps + more, leaves + last
            bad += bool(refused)
            empty += not found and not refused
            print(refused, end="\n" if refused else "")
    if not files and not bad:
        print("usage: indexproof-check DIR or FILE..., as `indexproof prove --certificates DIR` wrote them")
        return 3
    counts = f"{steps:,} steps, {leaves:,} leaves confirmed by {' and '.join(solvers_at_hand())}"
    said = f"{len(files)} files, {bad} refused, {empty} without a part: {counts}"
    print(f"{'REFUSED' if bad else 'PROVED'}  {said}")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
