"""Bounds of names, and proofs of ``p >= 0`` that need no solver.

A proof rewrites the polynomial over natural numbers until no coefficient is negative.  In terms with a negative
coefficient it replaces a name by an upper bound of it; then it replaces every name by its least value plus a
natural number.  Sizes ``n = 1 + n'`` and coordinates ``i <= n - 1`` turn mixed-radix inequalities of any rank
into such polynomials.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from .formula import tight
from .polynomial import ONE, Monomial, Poly, constant, variable

#: Limits on the upper bounds kept for a name, on the replacements that a search tries, on those that a second search
#: tries with the shortest bounds first, and on the terms of a polynomial during the search.
_UPPER = 6
_FUEL = 40
_MORE_FUEL = 16
_TERMS = 120


@dataclass(frozen=True)
class Evidence:
    """Why ``p >= 0``: ``p`` is ``Σ cofactor · fact`` and a rest.

    Cofactors and the rest have no negative coefficient once every name is replaced by its least value plus, or its
    greatest value minus, a natural number.  ``shifts`` are the facts that state these values.  A fact ``q >= 0`` is
    given as ``q``.
    """

    parts: tuple[tuple[Poly, Poly], ...] = ()
    shifts: tuple[Poly, ...] = ()

    def __add__(self, other: Evidence) -> Evidence:
        """Return the evidence for the sum of the two polynomials."""
        return Evidence((*self.parts, *other.parts), tuple(dict.fromkeys((*self.shifts, *other.shifts))))

    def times(self, factor: Poly, natural: Evidence) -> Evidence:
        """Return the evidence for the product with ``factor``, given the evidence about its names."""
        parts = tuple((c * factor, p) for c, p in self.parts)
        return Evidence(parts, self.shifts) + Evidence((), natural.shifts)


Path = tuple[tuple[str, Poly], ...]


class Bounds:
    """Facts ``p >= 0``, indexed by name.

    ``settled`` has the lower bounds of names that :meth:`settle` derived, with their evidence.
    """

    def __init__(self) -> None:
        self.low: dict[str, int] = {}
        self.high: dict[str, int] = {}
        self.settled: dict[Poly, Evidence] = {}
        self.upper: dict[str, list[Poly]] = {}
        self.facts: dict[Poly, None] = {}
        self._by_shape: dict[Poly, int] = {}
        self._memo: dict[Poly, tuple[int | None, Path]] = {}
        self._fuel = 0

    def learn(self, p: Poly) -> None:
        """Add ``p >= 0``."""
        p = tight(p)
        if p.is_constant or p in self.facts:
            return
        self.facts[p] = None
        shape = p.without_constant()
        known = self._by_shape.get(shape)
        self._by_shape[shape] = p.constant if known is None else min(known, p.constant)
        self._memo.clear()
        for v, c in p.units():
            rest = p.without(v)
            if c == -1:
                bounds = self.upper.setdefault(v, [])
                if rest not in bounds and len(bounds) < _UPPER:
                    bounds.append(rest)
                if rest.is_constant:
                    self.high[v] = min(self.high.get(v, rest.constant), rest.constant)
            elif rest.is_constant:
                self.low[v] = max(self.low.get(v, -rest.constant), -rest.constant)

    def settle(self) -> None:
        """Propagate constant lower bounds: ``n >= i + 1`` and ``i >= 0`` give ``n >= 1``."""
        for _ in range(3):
            changed = False
            for p in self.facts:
                if len(p) < 2:
                    continue
                for v, c in p.units():
                    if c == 1 and v not in self.high and self.low.get(v, 0) <= 0:
                        least = self._shifted(-p.without(v))
                        if least is not None and least > self.low.get(v, least - 1):
                            bound = variable(v) - least
                            if bound not in self.facts:
                                names = p.without(v).names
                                self.settled[bound] = Evidence(((ONE, p),), self._shifts(names))
                            self.low[v] = least
                            self._memo.clear()
                            changed = True
            if not changed:
                return

    # -- certificates
    def certain(self, p: Poly) -> bool:
        """Return whether ``p >= 0`` is implied by one fact, or is found by the search."""
        if p.is_constant:
            return p.constant >= 0
        known = self._by_shape.get(p.without_constant())
        if known is not None and known <= p.constant:
            return True
        least = self.least(p)
        return least is not None and least >= 0

    def least(self, p: Poly) -> int | None:
        """Return a constant lower bound of ``p``, or ``None``."""
        return self._least(p)[0]

    def _least(self, p: Poly) -> tuple[int | None, Path]:
        if p not in self._memo:
            self._fuel = _FUEL
            found = self._search(p, set(), ())
            if self._fuel <= 0 and (found[0] is None or found[0] < 0):
                # a digit is bounded by its size and by the rest of the number: the shorter bound is usually the useful one
                self._fuel = _MORE_FUEL
                found = self._search(p, set(), (), shortest_first=True)
            self._memo[p] = found
        return self._memo[p]

    def evidence(self, p: Poly) -> Evidence:
        """Return the evidence of ``p >= 0``, for a ``p`` that is :meth:`certain`."""
        if p.is_constant:
            return Evidence()
        shape = p.without_constant()
        known = self._by_shape.get(shape)
        if known is not None and known <= p.constant:
            return Evidence(((ONE, shape + known),))
        parts = []
        names = set[str]()
        least, path = self._least(p)
        assert least is not None, p
        assert least >= 0, p
        for name, bound in path:
            cofactor = -Poly(self._moved(p, name)[1])
            parts.append((cofactor, bound - variable(name)))
            names |= cofactor.names
            p = self._replaced(p, name, bound)
        return Evidence(tuple(parts), self._shifts(names | p.names))

    def replacement(self, p: Poly, name: str, bound: Poly) -> Evidence:
        """Return the evidence that replacing ``name`` by ``bound`` in negative terms does not increase ``p``."""
        cofactor = -Poly(self._moved(p, name)[1])
        return Evidence(((cofactor, bound - variable(name)),), self._shifts(cofactor.names))

    def natural(self, p: Poly) -> Evidence:
        """Return the facts that bound the names of ``p`` by constants, as evidence."""
        return Evidence((), self._shifts(p.names))

    def _shifts(self, names: Iterable[str]) -> tuple[Poly, ...]:
        found = []
        for v in sorted(names):
            if v in self.low:
                found.append(variable(v) - self.low[v])
            elif v in self.high:
                found.append(constant(self.high[v]) - variable(v))
        return tuple(found)

    def _search(self, p: Poly, seen: set[Poly], path: Path, *, shortest_first: bool = False) -> tuple[int | None, Path]:
        best, way = self._shifted(p), path
        if best is not None and best >= 0:
            return best, way
        seen.add(p)
        for name in self._replaceable(p):
            if self._fuel <= 0:
                break
            bounds = self.upper[name]
            kept, moved = self._moved(p, name)
            for bound in sorted(bounds, key=_length) if shortest_first else bounds:
                if name in bound.names or self._fuel <= 0:
                    continue
                weaker = _sum(kept, moved, bound)
                if weaker in seen or len(weaker) > max(_TERMS, len(p)):
                    continue
                self._fuel -= 1
                found, along = self._search(weaker, seen, (*path, (name, bound)), shortest_first=shortest_first)
                if found is not None and (best is None or found > best):
                    best, way = found, along
                if best is not None and best >= 0:
                    return best, way
        return best, way

    def _shifted(self, p: Poly) -> int | None:
        """Return the constant of ``p`` written over natural numbers, or ``None`` if another coefficient is negative."""
        low, high = self.low, self.high
        shifts: list[tuple[str, int, int]] = []
        turned: set[str] = set()
        for v in p.names:
            if v in low:
                if low[v]:
                    shifts.append((v, low[v], 1))
            elif v in high:
                shifts.append((v, high[v], -1))
                turned.add(v)
            else:
                return None
        # the shift leaves the coefficients of highest degree as they are, up to sign: this test rejects most polynomials
        degree = p.degree
        for m, c in p.terms.items():
            if len(m) == degree and m:
                odd = turned and sum(v in turned for v in m) % 2
                if (c > 0) if odd else (c < 0):
                    return None
        terms: Mapping[Monomial, int] = p.terms
        for v, start, sign in shifts:
            terms = _started(terms, v, start, sign)
        for m, c in terms.items():
            if c < 0 and m:
                return None
        return terms.get((), 0)

    def _natural(self, names: Monomial, but: str = "") -> bool:
        """Return whether all names except ``but`` have a lower bound of at least 0."""
        low = self.low
        for v in names:  # noqa: SIM110 - a generator costs more than what it says
            if v != but and low.get(v, -1) < 0:
                return False
        return True

    def _replaceable(self, p: Poly) -> list[str]:
        """Return the names in negative terms that have an upper bound and a cofactor that is not negative, in order."""
        found: dict[str, None] = {}
        upper = self.upper
        negative = sorted([m for m, c in p.terms.items() if c < 0])
        negative.sort(key=len, reverse=True)
        for m in negative:
            for v in m:
                if v in upper and v not in found and m.count(v) == 1 and self._natural(m, v):
                    found[v] = None
        return list(found)

    def _replaced(self, p: Poly, name: str, bound: Poly) -> Poly:
        """Replace ``name`` by ``bound`` in the negative terms of ``p`` where that does not increase it."""
        return _sum(*self._moved(p, name), bound)

    def _moved(self, p: Poly, name: str) -> tuple[dict[Monomial, int], dict[Monomial, int]]:
        """Return the terms of ``p`` in which ``name`` is kept, and those in which it is replaced, without the name."""
        kept: dict[Monomial, int] = {}
        moved: dict[Monomial, int] = {}
        for m, c in p.terms.items():
            if c < 0 and name in m and m.count(name) == 1 and self._natural(m, name):
                at = m.index(name)
                moved[m[:at] + m[at + 1 :]] = c
            else:
                kept[m] = c
        return kept, moved

    def greatest(self, p: Poly) -> list[tuple[Poly, Evidence]]:
        """Return upper bounds ``u`` of ``p``, got by replacing one name, each with the evidence of ``u - p >= 0``."""
        name = p.single
        if name is not None:
            return [(u, Evidence(((ONE, u - p),))) for u in self.upper.get(name, ()) if name not in u.names]
        negated = -p
        found = [
            (-self._replaced(negated, v, bound), self.replacement(negated, v, bound))
            for v in self._replaceable(negated)
            for bound in self.upper[v][:2]
            if v not in bound.names
        ]
        return found[:4]


def _sum(kept: Mapping[Monomial, int], moved: Mapping[Monomial, int], bound: Poly) -> Poly:
    """Return ``kept + moved·bound``."""
    out = dict(kept)
    get = out.get
    for m, c in moved.items():
        for n, d in bound.terms.items():
            product = tuple(sorted(m + n)) if m and n else m or n
            total = get(product, 0) + c * d
            if total:
                out[product] = total
            else:
                del out[product]
    return Poly(out)


def _length(p: Poly) -> tuple[int, int]:
    return len(p), p.degree


def _started(terms: Mapping[Monomial, int], v: str, start: int, sign: int) -> dict[Monomial, int]:
    """Substitute ``start + sign·v`` for ``v``; coefficients of the result may be zero."""
    out: dict[Monomial, int] = {}
    get = out.get
    for m, c in terms.items():
        if v not in m:
            out[m] = get(m, 0) + c
            continue
        at = m.index(v)
        n = m.count(v)
        if n == 1:
            less = m[:at] + m[at + 1 :]
            out[less] = get(less, 0) + c * start
            out[m] = get(m, 0) + c * sign
            continue
        for k in range(n + 1):
            less = m[:at] + m[at + n - k :]
            out[less] = get(less, 0) + c * math.comb(n, k) * start ** (n - k) * sign**k
    return out
