"""Integer polynomials in normal form, for the reduction to linear arithmetic.

A polynomial is a mapping from monomials (sorted tuples of variable names, with repetition) to non-zero coefficients.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TypeAlias

__all__ = [
    "Monomial",
    "Poly",
    "add",
    "constant",
    "degree",
    "divide",
    "key",
    "multiply",
    "replace",
    "scale",
    "substitute",
    "variable",
]

Monomial: TypeAlias = tuple[str, ...]
Poly: TypeAlias = Mapping[Monomial, int]
Key: TypeAlias = tuple[tuple[Monomial, int], ...]

ZERO: Poly = {}


def constant(n: int) -> Poly:
    """The constant polynomial."""
    return {(): n} if n else ZERO


def variable(name: str) -> Poly:
    """The polynomial ``name``."""
    return {(name,): 1}


def add(p: Poly, q: Poly, k: int = 1) -> Poly:
    """``p + k·q``."""
    out = dict(p)
    for m, c in q.items():
        total = out.get(m, 0) + k * c
        if total:
            out[m] = total
        else:
            del out[m]
    return out


def scale(p: Poly, k: int) -> Poly:
    """``k·p``."""
    return {m: c * k for m, c in p.items()} if k else ZERO


def multiply(p: Poly, q: Poly) -> Poly:
    """``p·q``."""
    out: dict[Monomial, int] = {}
    for m, c in p.items():
        for n, d in q.items():
            mono = tuple(sorted(m + n)) if m and n else m or n
            total = out.get(mono, 0) + c * d
            if total:
                out[mono] = total
            else:
                out.pop(mono, None)
    return out


def product(ps: Iterable[Poly]) -> Poly:
    """The product of all."""
    total: Poly = constant(1)
    for p in ps:
        total = multiply(total, p)
    return total


def key(p: Poly) -> Key:
    """A hashable normal form."""
    return tuple(sorted(p.items()))


def degree(p: Poly) -> int:
    """The largest number of variables in a monomial."""
    return max(map(len, p), default=0)


def is_constant(p: Poly) -> bool:
    """Whether no variable occurs."""
    return not p or (len(p) == 1 and () in p)


def names(p: Poly) -> set[str]:
    """The variables that occur."""
    return {v for m in p for v in m}


def substitute(p: Poly, name: str, value: Poly) -> Poly:
    """``p`` with ``value`` for the variable ``name``."""
    if not any(name in m for m in p):
        return p
    out: Poly = {}
    for m, c in p.items():
        count = m.count(name)
        if not count:
            out = add(out, {m: c})
            continue
        term: Poly = {tuple(v for v in m if v != name): c}
        for _ in range(count):
            term = multiply(term, value)
        out = add(out, term)
    return out


def _over(m: Monomial, by: Monomial) -> Monomial | None:
    """``m / by``, or ``None``."""
    rest = list(m)
    for v in by:
        if v not in rest:
            return None
        rest.remove(v)
    return tuple(rest)


def divide(p: Poly, by: Poly) -> tuple[Poly, Poly]:
    """``(T, rest)`` with ``p = by·T + rest``: every term that the leading monomial of ``by`` divides is divided once."""
    if not by:
        return ZERO, p
    lead = max(by, key=lambda m: (len(m), m))
    c = by[lead]
    quotient: Poly = {}
    rest = dict(p)
    if len(by) == 1:
        for m, k in p.items():
            n = _over(m, lead)
            if n is not None and k % c == 0:
                quotient = add(quotient, {n: k // c})
                del rest[m]
        return quotient, rest
    for _ in range(8):
        hit = next(
            (
                (n, k // c)
                for m, k in sorted(rest.items())
                if k % c == 0 and (n := _over(m, lead)) is not None
            ),
            None,
        )
        if hit is None:
            break
        term = {hit[0]: hit[1]}
        quotient = add(quotient, term)
        rest = dict(add(rest, multiply(by, term), -1))
    return quotient, rest


def replace(p: Poly, m: Monomial, value: Poly) -> Poly:
    """``p`` with ``value`` for the monomial ``m`` in every term that it divides, once."""
    out: Poly = {}
    for n, c in p.items():
        rest = _over(n, m)
        out = add(out, {n: c} if rest is None else multiply({rest: c}, value))
    return out


def show(p: Poly) -> str:
    """For reports: ``2·a·b + c - 1``."""
    parts = []
    for m, c in sorted(p.items(), key=lambda t: (-len(t[0]), t[0])):
        body = "·".join(m)
        size = "" if abs(c) == 1 and body else str(abs(c))
        text = "·".join(x for x in (size, body) if x)
        parts.append((" - " if c < 0 else " + ") + text)
    joined = "".join(parts) or " + 0"
    return joined[3:] if joined.startswith(" + ") else "-" + joined[3:]
