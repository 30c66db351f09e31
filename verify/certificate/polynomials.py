"""Polynomials and formulas over them, as the checker calculates with them: a second implementation on purpose.

A formula is ``("ge", key)``, ``("eq", key)``, ``("and", …)`` or ``("or", …)``, the same for the same formula.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

__all__ = [
    "CONTRADICTION",
    "ONE",
    "TAUTOLOGY",
    "Formula",
    "Json",
    "Key",
    "Monomial",
    "Polynomial",
    "atoms",
    "conjunction",
    "constant",
    "disjunction",
    "exact_quotient",
    "nonnegative",
    "nonzero",
    "parts_of",
    "read_formula",
    "read_polynomial",
    "split",
    "substituted",
    "variable",
    "with_values",
    "zero",
]

Json = Any

#: Names in order, each as often as it is a factor.
Monomial = tuple[str, ...]
#: A polynomial as a dictionary key: the same for equal ones.
Key = tuple[tuple[Monomial, int], ...]


class Polynomial(dict[Monomial, int]):
    """Integer coefficients by monomial; none is zero."""

    @classmethod
    def of(cls, terms: Iterable[tuple[Monomial, int]]) -> Polynomial:
        """The sum of terms, of which several may have the same monomial."""
        out: dict[Monomial, int] = {}
        for m, c in terms:
            out[m] = out.get(m, 0) + c
        return cls({m: c for m, c in out.items() if c})

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
    def key(self) -> Key:
        """The terms in order."""
        return tuple(sorted(self.items()))

    @property
    def names(self) -> set[str]:
        """The names that occur."""
        return {v for m in self for v in m}

    def __str__(self) -> str:
        terms = (
            "·".join(map(str, (*((c,) if c != 1 or not m else ()), *m))) for m, c in sorted(self.items())
        )
        return " + ".join(terms) or "0"


def constant(n: int) -> Polynomial:
    """The polynomial ``n``."""
    return Polynomial({(): n} if n else {})


ONE = constant(1)


def variable(v: str) -> Polynomial:
    """The polynomial ``v``."""
    return Polynomial({(v,): 1})


def with_values(p: Polynomial, values: Mapping[str, Polynomial]) -> Polynomial:
    """``p`` with polynomials for names."""
    if not any(v in values for m in p for v in m):
        return p
    total = Polynomial()
    for m, c in p.items():
        term = Polynomial({tuple(v for v in m if v not in values): c})
        for v in m:
            if v in values:
                term = term * values[v]
        total = total + term
    return total


def _over(m: Monomial, by: Monomial) -> Monomial | None:
    """``m / by``, or ``None`` where ``by`` does not divide ``m``."""
    left = list(m)
    for v in by:
        if v not in left:
            return None
        left.remove(v)
    return tuple(left)


def exact_quotient(p: Polynomial, d: Polynomial) -> Polynomial | None:
    """``p / d`` where that is a polynomial with integer coefficients, else ``None``."""
    if not d:
        return None

    def leading(q: Polynomial) -> Monomial:
        return max(q, key=lambda m: (len(m), m))

    lead = leading(d)
    out, rest = Polynomial(), p
    for _ in range(len(p) * 4 + 8):
        if not rest:
            return out
        m = leading(rest)
        left = _over(m, lead)
        if left is None or rest[m] % d[lead]:
            return None
        term = Polynomial({left: rest[m] // d[lead]})
        out, rest = out + term, rest - term * d
    return None


def split(p: Polynomial, product: Monomial) -> tuple[Polynomial, Polynomial]:
    """``kept`` and ``moved`` with ``p = kept + moved·product``; every term that the product divides is moved, once."""
    kept, moved = Polynomial(), Polynomial()
    for m, c in p.items():
        rest = _over(m, product)
        if rest is None:
            kept[m] = c
        else:
            moved[rest] = c
    return kept, moved


# ------------------------------------------------------------------------------------------------------- formulas
Formula = tuple[Any, ...]
TAUTOLOGY: Formula = ("and",)
CONTRADICTION: Formula = ("or",)


def nonnegative(p: Polynomial) -> Formula:
    """``p >= 0``."""
    g = math.gcd(*(c for m, c in p.items() if m))
    if not g:
        return TAUTOLOGY if p.get((), 0) >= 0 else CONTRADICTION
    return ("ge", Polynomial.of((m, c // g) for m, c in p.items()).key)


def zero(p: Polynomial) -> Formula:
    """``p = 0``; the sign of ``p`` does not matter."""
    g = math.gcd(*(c for m, c in p.items() if m))
    if not g:
        return CONTRADICTION if p else TAUTOLOGY
    if p.get((), 0) % g:
        return CONTRADICTION
    return ("eq", max(Polynomial({m: c // d for m, c in p.items()}).key for d in (g, -g)))


def nonzero(p: Polynomial) -> Formula:
    """``p != 0``."""
    return disjunction([nonnegative(p - 1), nonnegative(-p - 1)])


def _joined(kind: str, parts: Iterable[Formula], absorbing: Formula) -> Formula:
    kept = {g for f in parts for g in (f[1:] if f[0] == kind else (f,))}
    if absorbing in kept:
        return absorbing
    return next(iter(kept)) if len(kept) == 1 else (kind, *sorted(kept))


def conjunction(parts: Iterable[Formula]) -> Formula:
    """All of the parts."""
    return _joined("and", parts, CONTRADICTION)


def disjunction(parts: Iterable[Formula]) -> Formula:
    """Any of the parts."""
    return _joined("or", parts, TAUTOLOGY)


def parts_of(f: Formula) -> tuple[Formula, ...]:
    """The parts of a conjunction."""
    return f[1:] if f[0] == "and" else (f,)


def substituted(f: Formula, values: Mapping[str, Polynomial]) -> Formula:
    """``f`` with polynomials for names."""
    match f[0]:
        case "ge":
            return nonnegative(with_values(Polynomial(f[1]), values))
        case "eq":
            return zero(with_values(Polynomial(f[1]), values))
    join = conjunction if f[0] == "and" else disjunction
    return join(substituted(g, values) for g in f[1:])


def atoms(f: Formula) -> Iterator[Polynomial]:
    """The polynomials that a formula compares with zero."""
    if f[0] in ("and", "or"):
        for g in f[1:]:
            yield from atoms(g)
    else:
        yield Polynomial(f[1])


# ----------------------------------------------------------------------------------------------------- as JSON
def read_polynomial(p: Json) -> Polynomial:
    """A polynomial from JSON, where it must be in normal form.  Raises :class:`ValueError`."""
    out = Polynomial({tuple(str(v) for v in t[1:]): int(t[0]) for t in p})
    if any(list(m) != sorted(m) for m in out) or not all(out.values()) or len(out) != len(p):
        raise ValueError("no polynomial in normal form")
    return out


def read_formula(f: Json) -> Formula:
    """A formula from JSON.  Raises :class:`ValueError`."""
    match f:
        case ["ge", p]:
            return nonnegative(read_polynomial(p))
        case ["eq", p]:
            return zero(read_polynomial(p))
        case ["and", *parts]:
            return conjunction(map(read_formula, parts))
        case ["or", *parts]:
            return disjunction(map(read_formula, parts))
    raise ValueError(f"no formula: {f}")
