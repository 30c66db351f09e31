"""Integer polynomials in normal form: sums of distinct monomials, each a sorted tuple of names."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Generic, TypeAlias, TypeVar, overload

Monomial: TypeAlias = tuple[str, ...]


V = TypeVar("V")


class _Once(Generic[V]):
    """A cached property without the lock of the standard one, which costs more than computing most values."""

    def __init__(self, compute: Callable[[Any], V]) -> None:
        self.compute = compute
        self.name = compute.__name__
        self.__doc__ = compute.__doc__

    @overload
    def __get__(self, owner: None, cls: type) -> _Once[V]: ...
    @overload
    def __get__(self, owner: object, cls: type) -> V: ...
    def __get__(self, owner: object | None, cls: type) -> V | _Once[V]:
        if owner is None:
            return self
        found = owner.__dict__[self.name] = self.compute(owner)
        return found


class Poly:
    """``Σ coefficient · monomial`` with coefficients that are not zero; immutable, compared by value.

    A name may occur several times in a monomial; the empty monomial carries the constant.
    """

    def __init__(self, terms: dict[Monomial, int]) -> None:
        self.terms = terms

    # -- identity
    def __eq__(self, other: object) -> bool:
        return isinstance(other, Poly) and self.terms == other.terms

    @_Once
    def key(self) -> tuple[tuple[Monomial, int], ...]:
        """The terms in order, as a sort key: results must not depend on hash order."""
        return tuple(sorted(self.terms.items()))

    @_Once
    def _hash(self) -> int:
        return hash(frozenset(self.terms.items()))

    def __hash__(self) -> int:
        return self._hash

    def __bool__(self) -> bool:
        return bool(self.terms)

    def __len__(self) -> int:
        return len(self.terms)

    # -- arithmetic
    def plus(self, other: Poly, k: int = 1) -> Poly:
        """Return ``self + k·other``."""
        out = self.terms.copy()
        get = out.get
        for m, c in other.terms.items():
            total = get(m, 0) + k * c
            if total:
                out[m] = total
            else:
                del out[m]
        return Poly(out)

    def __add__(self, other: Poly | int) -> Poly:
        return self.plus(constant(other) if isinstance(other, int) else other)

    def __sub__(self, other: Poly | int) -> Poly:
        return self.plus(constant(other) if isinstance(other, int) else other, -1)

    def __neg__(self) -> Poly:
        return Poly({m: -c for m, c in self.terms.items()})

    def __mul__(self, other: Poly | int) -> Poly:
        if isinstance(other, int):
            return Poly({m: c * other for m, c in self.terms.items()}) if other else ZERO
        if len(other.terms) == 1:
            # products of distinct monomials with one monomial are distinct
            ((n, d),) = other.terms.items()
            if not n:
                return Poly({m: c * d for m, c in self.terms.items()})
            return Poly({tuple(sorted(m + n)) if m else n: c * d for m, c in self.terms.items()})
        out: dict[Monomial, int] = {}
        for m, c in self.terms.items():
            for n, d in other.terms.items():
                mono = tuple(sorted(m + n)) if m and n else m or n
                total = out.get(mono, 0) + c * d
                if total:
                    out[mono] = total
                else:
                    out.pop(mono, None)
        return Poly(out)

    # -- parts
    @property
    def constant(self) -> int:
        """The coefficient of the empty monomial."""
        return self.terms.get((), 0)

    @property
    def is_constant(self) -> bool:
        """Whether no name occurs."""
        return not self.terms or (len(self.terms) == 1 and () in self.terms)

    @_Once
    def degree(self) -> int:
        """The largest number of names in a monomial."""
        return max(map(len, self.terms), default=0)

    @_Once
    def names(self) -> frozenset[str]:
        """The names that occur."""
        return frozenset().union(*self.terms)

    @_Once
    def content(self) -> int:
        """The greatest common divisor of the coefficients of names; 0 for a constant."""
        return math.gcd(*self.without_constant().terms.values())

    @property
    def single(self) -> str | None:
        """The name, if the polynomial is a single name."""
        if len(self.terms) == 1:
            ((m, c),) = self.terms.items()
            if c == 1 and len(m) == 1:
                return m[0]
        return None

    def units(self) -> list[tuple[str, int]]:
        """Return the names for which ``p = 0`` can be solved: each occurs once, alone, with coefficient 1 or -1."""
        found = sorted([(m[0], c) for m, c in self.terms.items() if len(m) == 1 and -1 <= c <= 1])
        if self.degree == 1:
            return found
        several = [m for m in self.terms if len(m) > 1]
        return [(v, c) for v, c in found if not any(v in m for m in several)]

    def without(self, name: str) -> Poly:
        """Return the sum without the monomial ``name``."""
        return Poly({m: c for m, c in self.terms.items() if m != (name,)})

    def without_constant(self) -> Poly:
        """Return the sum without the constant."""
        if () not in self.terms:
            return self
        terms = self.terms.copy()
        del terms[()]
        return Poly(terms)

    # -- operations
    def substitute(self, values: Mapping[str, Poly]) -> Poly:
        """Substitute polynomials for names simultaneously."""
        if self.names.isdisjoint(values):
            return self
        out: dict[Monomial, int] = {}
        for m, c in self.terms.items():
            term = {tuple(v for v in m if v not in values): c}
            for v in m:
                value = values.get(v)
                if value is not None:
                    term = (Poly(term) * value).terms
            for n, d in term.items():
                total = out.get(n, 0) + d
                if total:
                    out[n] = total
                else:
                    out.pop(n, None)
        return Poly(out)

    def replace(self, m: Monomial, value: Poly) -> Poly:
        """Replace the monomial ``m`` by ``value``, once in every term that it divides."""
        kept: dict[Monomial, int] = {}
        moved: dict[Monomial, int] = {}
        for n, c in self.terms.items():
            rest = over(n, m)
            if rest is None:
                kept[n] = c
            else:
                moved[rest] = c
        return Poly(kept) + Poly(moved) * value if moved else self

    def divide(self, by: Poly, rounds: int = 8) -> tuple[Poly, Poly]:
        """Return ``(T, rest)`` with ``self = by·T + rest``.

        A single term ``by`` divides every term that it can.  For several terms, each of at most ``rounds`` rounds divides
        one term by the leading term of ``by``.  Raises :class:`ZeroDivisionError` for zero.
        """
        if not by:
            raise ZeroDivisionError("division by the zero polynomial")
        lead = max(by.terms, key=lambda m: (len(m), m))
        c = by.terms[lead]
        if len(by) == 1:
            quotient: dict[Monomial, int] = {}
            rest: dict[Monomial, int] = {}
            for m, k in self.terms.items():
                n = over(m, lead) if k % c == 0 else None
                if n is None:
                    rest[m] = k
                else:
                    quotient[n] = k // c
            return Poly(quotient), Poly(rest)
        total, left = ZERO, self
        for _ in range(rounds):
            for m, k in left.key:
                n = over(m, lead) if k % c == 0 else None
                if n is not None:
                    term = Poly({n: k // c})
                    total, left = total + term, left - by * term
                    break
            else:
                break
        return total, left

    def value(self, of: Mapping[Monomial, int]) -> int:
        """Return the value for given values of the monomials, which need not be products of their names' values."""
        total = 0
        for m, c in self.terms.items():
            total += c * of[m] if m else c
        return total

    def __str__(self) -> str:
        parts = []
        for m, c in sorted(self.terms.items(), key=lambda t: (-len(t[0]), t[0])):
            size = "" if abs(c) == 1 and m else str(abs(c))
            parts.append((" - " if c < 0 else " + ") + "·".join(x for x in (size, *m) if x))
        text = "".join(parts) or " + 0"
        return text[3:] if text.startswith(" + ") else "-" + text[3:]

    __repr__ = __str__


def over(m: Monomial, by: Monomial) -> Monomial | None:
    """Return ``m / by``, or ``None`` if ``by`` does not divide ``m``."""
    if not by:
        return m
    rest = list(m)
    for v in by:
        if v not in rest:
            return None
        rest.remove(v)
    return tuple(rest)


def common(m: Monomial, n: Monomial) -> Monomial:
    """Return the greatest common divisor of two monomials."""
    rest = list(n)
    out = []
    for v in m:
        if v in rest:
            rest.remove(v)
            out.append(v)
    return tuple(out)


class Values(dict[Monomial, int]):
    """Values of monomials; by default the product of the values of the names, which are 0 by default."""

    def __missing__(self, m: Monomial) -> int:
        found = self[m] = math.prod(self.get((v,), 0) for v in m)
        return found


def product(factors: Iterable[Poly]) -> Poly:
    """Return the product of all factors; 1 for none."""
    total = ONE
    for p in factors:
        total = total * p
    return total


def constant(n: int) -> Poly:
    """Return the polynomial ``n``."""
    return Poly({(): n}) if n else ZERO


def variable(name: str) -> Poly:
    """Return the polynomial ``name``."""
    return Poly({(name,): 1})


ZERO = Poly({})
ONE = Poly({(): 1})


class Ring:
    """Interpretation of sums and products as polynomials, for :func:`~indexproof.core.expr.interpret`."""

    def integer(self, n: int) -> Poly:
        return constant(n)

    def sum(self, const: int, terms: list[tuple[Poly, int]]) -> Poly:
        total = constant(const)
        for p, k in terms:
            total = total.plus(p, k)
        return total

    def product(self, factors: list[Poly]) -> Poly:
        total = factors[0]
        for p in factors[1:]:
            total = total * p
        return total
