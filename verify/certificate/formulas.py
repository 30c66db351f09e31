"""Formulas over polynomials, in a form that is the same for the same formula."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from .polynomials import Polynomial, collected, constant, key_of, plus, with_values

__all__ = [
    "CONTRADICTION",
    "TAUTOLOGY",
    "Formula",
    "atoms",
    "conjunction",
    "disjunction",
    "nonnegative",
    "nonzero",
    "parts_of",
    "substituted",
    "zero",
]

#: ``("ge", p)``, ``("eq", p)``, ``("and", …)`` or ``("or", …)`` in a form that is the same for the same formula.
Formula = tuple[Any, ...]
TAUTOLOGY: Formula = ("and",)
CONTRADICTION: Formula = ("or",)


def nonnegative(p: Polynomial) -> Formula:
    """``p >= 0``."""
    g = math.gcd(*(c for m, c in p.items() if m))
    if not g:
        return TAUTOLOGY if p.get((), 0) >= 0 else CONTRADICTION
    return ("ge", key_of(collected((m, c // g) for m, c in p.items())))


def zero(p: Polynomial) -> Formula:
    """``p = 0``; the sign of ``p`` does not matter."""
    g = math.gcd(*(c for m, c in p.items() if m))
    if not g:
        return CONTRADICTION if p else TAUTOLOGY
    if p.get((), 0) % g:
        return CONTRADICTION
    made = key_of({m: c // g for m, c in p.items()})
    turned = key_of({m: -c // g for m, c in p.items()})
    return ("eq", max(made, turned))


def nonzero(p: Polynomial) -> Formula:
    """``p != 0``."""
    one = constant(1)
    return disjunction([nonnegative(plus(p, one, -1)), nonnegative(plus(plus({}, p, -1), one, -1))])


def conjunction(parts: Iterable[Formula]) -> Formula:
    """All of the parts."""
    kept = {g for f in parts for g in (f[1:] if f[0] == "and" else (f,))}
    if CONTRADICTION in kept:
        return CONTRADICTION
    return next(iter(kept)) if len(kept) == 1 else ("and", *sorted(kept))


def disjunction(parts: Iterable[Formula]) -> Formula:
    """Any of the parts."""
    kept = {g for f in parts for g in (f[1:] if f[0] == "or" else (f,))}
    if TAUTOLOGY in kept:
        return TAUTOLOGY
    return next(iter(kept)) if len(kept) == 1 else ("or", *sorted(kept))


def parts_of(f: Formula) -> tuple[Formula, ...]:
    """The parts of a conjunction."""
    return f[1:] if f[0] == "and" else (f,)


def substituted(f: Formula, values: Mapping[str, Polynomial]) -> Formula:
    """``f`` with polynomials for names."""
    match f[0]:
        case "ge":
            return nonnegative(with_values(dict(f[1]), values))
        case "eq":
            return zero(with_values(dict(f[1]), values))
        case "and":
            return conjunction(substituted(g, values) for g in f[1:])
    return disjunction(substituted(g, values) for g in f[1:])


def atoms(f: Formula) -> Iterator[Polynomial]:
    """The polynomials that a formula compares with zero."""
    if f[0] in ("and", "or"):
        for g in f[1:]:
            yield from atoms(g)
    else:
        yield dict(f[1])
