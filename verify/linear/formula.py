"""Formulas in negation normal form over ``p >= 0`` and ``p = 0``, with conjunction and disjunction."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from ...core.condition import Relation
from .polynomial import ONE, Monomial, Poly


@dataclass(frozen=True, slots=True)
class AtLeast:
    """``p >= 0``."""

    p: Poly


@dataclass(frozen=True, slots=True)
class Zero:
    """``p = 0``."""

    p: Poly


@dataclass(frozen=True, slots=True)
class All:
    """Every part holds."""

    parts: tuple[Formula, ...]


@dataclass(frozen=True, slots=True)
class Some:
    """At least one part holds."""

    parts: tuple[Formula, ...]


Formula: TypeAlias = AtLeast | Zero | All | Some
TRUE = All(())
FALSE = Some(())


def at_least(p: Poly) -> Formula:
    """Return ``p >= 0``, divided by the common divisor of the coefficients, with the constant rounded down."""
    if p.is_constant:
        return TRUE if p.constant >= 0 else FALSE
    return AtLeast(tight(p))


def tight(p: Poly) -> Poly:
    """Divide ``p`` by the common divisor of its coefficients, rounding the constant down: an equivalent bound."""
    g = p.content
    if g <= 1:
        return p
    return Poly({m: c // g for m, c in p.terms.items() if m or c // g})


def zero(p: Poly) -> Formula:
    """Return ``p = 0``, or false if the common divisor of the coefficients does not divide the constant."""
    if p.is_constant:
        return FALSE if p else TRUE
    g = p.content
    if p.constant % g:
        return FALSE
    return Zero(p if g == 1 else Poly({m: c // g for m, c in p.terms.items()}))


def nonzero(p: Poly) -> Formula:
    """Return ``p >= 1`` or ``p <= -1``."""
    return either((at_least(p - ONE), at_least(-p - ONE)))


def both(parts: Iterable[Formula]) -> Formula:
    """Return the flattened conjunction."""
    kept: list[Formula] = []
    for f in parts:
        for g in f.parts if isinstance(f, All) else (f,):
            if g == FALSE:
                return FALSE
            if g not in kept:
                kept.append(g)
    return kept[0] if len(kept) == 1 else All(tuple(kept))


def either(parts: Iterable[Formula]) -> Formula:
    """Return the flattened disjunction."""
    kept: list[Formula] = []
    for f in parts:
        for g in f.parts if isinstance(f, Some) else (f,):
            if g == TRUE:
                return TRUE
            if g not in kept:
                kept.append(g)
    return kept[0] if len(kept) == 1 else Some(tuple(kept))


def negated(f: Formula) -> Formula:
    """Return the negation of ``f``."""
    match f:
        case AtLeast(p):
            return at_least(-p - ONE)
        case Zero(p):
            return nonzero(p)
        case All(parts):
            return either(map(negated, parts))
        case Some(parts):
            return both(map(negated, parts))


def substitute(f: Formula, values: Mapping[str, Poly]) -> Formula:
    """Substitute polynomials for names."""
    match f:
        case AtLeast(p):
            return at_least(p.substitute(values))
        case Zero(p):
            return zero(p.substitute(values))
        case All(parts):
            return both(substitute(g, values) for g in parts)
        case Some(parts):
            return either(substitute(g, values) for g in parts)


def atoms(f: Formula) -> Iterator[AtLeast | Zero]:
    """Yield the atoms, in order."""
    if isinstance(f, (All, Some)):
        for g in f.parts:
            yield from atoms(g)
    else:
        yield f


def names(f: Formula) -> set[str]:
    """Return the names that occur."""
    return {v for a in atoms(f) for v in a.p.names}


def holds(f: Formula, of: Mapping[Monomial, int]) -> bool:
    """Return the truth value for given values of the monomials."""
    match f:
        case AtLeast(p):
            return p.value(of) >= 0
        case Zero(p):
            return p.value(of) == 0
        case All(parts):
            return all(holds(g, of) for g in parts)
        case Some(parts):
            return any(holds(g, of) for g in parts)


class FormulaLogic:
    """Interpretation of conditions as formulas, for :func:`~indexproof.core.condition.condition_interpret`."""

    def const(self, value: bool) -> Formula:
        return TRUE if value else FALSE

    def compare(self, op: Relation, a: Poly, b: Poly) -> Formula:
        match op:
            case "<=":
                return at_least(b - a)
            case "<":
                return at_least(b - a - ONE)
            case "==":
                return zero(a - b)
            case "!=":
                return nonzero(a - b)

    def within(self, e: Poly, lo: Poly, hi: Poly) -> Formula:
        return both((at_least(e - lo), at_least(hi - e)))

    def conj(self, parts: list[Formula]) -> Formula:
        return both(parts)

    def disj(self, parts: list[Formula]) -> Formula:
        return either(parts)

    def neg(self, part: Formula) -> Formula:
        return negated(part)
