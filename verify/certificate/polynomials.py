"""Polynomials with whole coefficients over names, and what the checker calculates with them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

__all__ = [
    "Key",
    "Monomial",
    "Polynomial",
    "collected",
    "constant",
    "exact_quotient",
    "key_of",
    "names_of",
    "plus",
    "split",
    "text_of",
    "times",
    "variable",
    "with_values",
]

#: Names in order, each as often as it is a factor.
Monomial = tuple[str, ...]
#: Coefficients that are not zero.
Polynomial = dict[Monomial, int]
#: A polynomial as what can be a key: the same for equal ones.
Key = tuple[tuple[Monomial, int], ...]


def collected(terms: Iterable[tuple[Monomial, int]]) -> Polynomial:
    """The sum of terms, of which several may have the same monomial."""
    out: Polynomial = {}
    for m, c in terms:
        out[m] = out.get(m, 0) + c
    return {m: c for m, c in out.items() if c}


def plus(a: Polynomial, b: Polynomial, k: int = 1) -> Polynomial:
    """``a + k·b``."""
    return collected([*a.items(), *((m, k * c) for m, c in b.items())])


def times(a: Polynomial, b: Polynomial) -> Polynomial:
    """``a·b``."""
    return collected((tuple(sorted(m + n)), c * d) for m, c in a.items() for n, d in b.items())


def constant(n: int) -> Polynomial:
    """A number."""
    return {(): n} if n else {}


def variable(v: str) -> Polynomial:
    """A name."""
    return {(v,): 1}


def with_values(p: Polynomial, values: Mapping[str, Polynomial]) -> Polynomial:
    """``p`` with polynomials for names."""
    if not any(v in values for m in p for v in m):
        return p
    total: Polynomial = {}
    for m, c in p.items():
        term = {tuple(v for v in m if v not in values): c}
        for v in m:
            if v in values:
                term = times(term, values[v])
        total = plus(total, term)
    return total


def names_of(p: Polynomial) -> set[str]:
    """The names in ``p``."""
    return {v for m in p for v in m}


def key_of(p: Polynomial) -> Key:
    """``p`` as a key."""
    return tuple(sorted(p.items()))


def exact_quotient(p: Polynomial, d: Polynomial) -> Polynomial | None:
    """``p / d`` where that is a polynomial."""
    if not d:
        return None
    lead = max(d, key=lambda m: (len(m), m))
    out: Polynomial = {}
    rest = p
    for _ in range(len(p) * 4 + 8):
        if not rest:
            return out
        m = max(rest, key=lambda m: (len(m), m))
        left = list(m)
        for v in lead:
            if v not in left:
                return None
            left.remove(v)
        if rest[m] % d[lead]:
            return None
        term = {tuple(left): rest[m] // d[lead]}
        out = plus(out, term)
        rest = plus(rest, times(term, d), -1)
    return None


def split(p: Polynomial, product: Monomial) -> tuple[Polynomial, Polynomial]:
    """``kept`` and ``moved`` with ``p = kept + moved·product``; every term that the product divides is moved, once."""
    kept: Polynomial = {}
    moved: Polynomial = {}
    for m, c in p.items():
        rest = list(m)
        try:
            for v in product:
                rest.remove(v)
        except ValueError:
            kept[m] = c
        else:
            moved[tuple(rest)] = c
    return kept, moved


def text_of(p: Polynomial) -> str:
    """``p`` for a person."""
    return (
        " + ".join("·".join(map(str, (*((c,) if c != 1 or not m else ()), *m))) for m, c in sorted(p.items()))
        or "0"
    )
