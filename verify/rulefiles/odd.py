"""Odd factors modulo a power of two: for odd ``v``, ``2^w ∣ v·e`` where ``2^w ∣ e``.

An odd ``v = 1 + 2·m`` has an inverse: ``1 - (2·m)^K`` is a multiple of ``1 + 2·m`` for even K, and ``2^w`` divides
``(2·m)^K`` for ``K >= w``, so ``v·u = 1 + 2^w·t`` for some u and t.  Where ``v·e = 2^w·q``, ``e`` is therefore
``2^w·(u·q - t·e)``.  That v is odd is a claim of its own, which the reduction to linear arithmetic proves like any other
from the hypotheses, or its residues modulo 2 do, and that the divided number is ``v·e`` is compared as polynomials.

An odd factor is one that all summands share, or what another sum in the claim is multiplied with: ``x³ - y³`` is
``x·x + x·y + y·y`` times ``x - y``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

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
    atoms,
    divides,
    negate,
)
from ...core.expr import Expr, Int, Mul, Sum, Var, linear, mod, mul, postorder, var
from .. import linear as reduction
from ..linear.polynomial import Monomial, Poly, over
from ..obligations import Obligation
from ..solve import reduced
from .known import Polynomials
from .residues import by_residues

__all__ = ["ODD", "Shortened", "by_odd_factors", "without_odd_factors"]

#: The name of this strategy.
ODD = "odd factors"
#: Polynomials of a higher degree or with more terms are not divided by others.
_DEGREE = 8
_TERMS = 64


@dataclass(frozen=True)
class Shortened:
    """A claim without its odd factors, and what was done.

    ``multiple`` is ``d, c, k`` where d was replaced by ``c·k`` first, because c divides it.  ``shorter`` says of terms
    that were divided which numbers of ``odd`` were left out of them and what remained.
    """

    given: Obligation
    multiple: tuple[Var, Var, Var] | None
    odd: tuple[Expr, ...]
    shorter: tuple[tuple[Expr, tuple[int, ...], Expr], ...]
    hypotheses: tuple[Condition, ...]
    goal: Condition


def by_odd_factors(o: Obligation, limits: reduction.ReductionBudget) -> tuple[bool, int]:
    """Whether the claim is proved once odd factors are left out, and at what cost; where there are none it is not."""
    found, spent = without_odd_factors(o, limits)
    if found is None:
        return False, spent
    outcome = reduced(found.hypotheses, found.goal, limits)
    return outcome.proved, spent + outcome.resources


def without_odd_factors(o: Obligation, limits: reduction.ReductionBudget) -> tuple[Shortened | None, int]:
    """The claim without odd factors, and what it cost to show that they are odd; ``None`` where there are none."""
    # where c divides d, d is a multiple of c
    factors = {
        h.e: (h.d, var(f"{h.e.name}/{h.d.name}", h.e.kind))
        for h in o.hypotheses
        if isinstance(h, Divides) and isinstance(h.d, Var) and isinstance(h.e, Var) and h.d is not h.e
    }
    multiple = None
    if len(factors) == 1:
        ((d, (c, k)),) = factors.items()
        assert isinstance(k, Var)
        multiple, one = (d, c, k), {d: c * k}
        hypotheses = tuple(h.substitute(one) for h in o.hypotheses)
        o = replace(o, hypotheses=hypotheses, goal=o.goal.substitute(one))
    shorter = _Shorter(o, limits)
    found = tuple(shorter.of(h) for h in o.hypotheses)
    goal = shorter.of(o.goal)
    if not shorter.without:
        return None, shorter.spent
    odd = {v: n for n, v in enumerate(dict.fromkeys(v for vs, _ in shorter.without.values() for v in vs))}
    left = tuple((e, tuple(odd[v] for v in vs), rest) for e, (vs, rest) in shorter.without.items())
    # what was there may have served to prove something odd, and may serve again
    return Shortened(o, multiple, tuple(odd), left, (*o.hypotheses, *found), goal), shorter.spent


class _Shorter:
    """Conditions without odd factors, equivalent to those that were there wherever the hypotheses hold."""

    def __init__(self, o: Obligation, limits: reduction.ReductionBudget) -> None:
        self.hypotheses = o.hypotheses
        self.obligation = o
        self.limits = limits
        #: What is divided by a power of two may be a multiple of one of these.
        self.vanishing = list(dict.fromkeys(e for c in (*o.hypotheses, o.goal) for e in _vanishing(c)))
        self.spent = 0
        #: Terms with odd factors: these, and what is left.
        self.without: dict[Expr, tuple[list[Expr], Expr]] = {}
        self._odd: dict[Expr, bool] = {}

    def of(self, c: Condition) -> Condition:
        """The condition in shorter words; conditions stay shallow, so this may recurse."""
        match c:
            case And(args):
                return all_of(self.of(a) for a in args)
            case Or(args):
                return any_of(self.of(a) for a in args)
            case Not(arg):
                return negate(self.of(arg))
            case Divides(Int() as d, e) if d.value > 1 and not d.value & (d.value - 1):
                return divides(d, self._without(e))
        return c

    def _without(self, e: Expr) -> Expr:
        """An expression without its odd factors."""
        polynomials = Polynomials()
        whole, left_out = e, []
        searching = True
        while searching:
            searching = False
            for v, rest in (*_common(e), *_cofactors(e, self.vanishing)):
                if self._is_odd(v) and polynomials.of(e) == polynomials.of(mul(v, rest)):
                    e, searching = rest, True
                    left_out.append(v)
                    break
        if left_out:
            self.without[whole] = left_out, e
        return e

    def _is_odd(self, v: Expr) -> bool:
        if v not in self._odd:
            self._odd[v] = False
            for claim in claims_of_oddness(v, self.obligation):
                outcome = reduced(claim.hypotheses, claim.goal, self.limits)
                proved, cost = (True, 0) if outcome.proved else by_residues(claim, self.limits)
                self.spent += outcome.resources + cost
                if proved:
                    self._odd[v] = True
                    break
        return self._odd[v]


def claims_of_oddness(v: Expr, o: Obligation) -> list[Obligation]:
    """What may be proved to show that ``v`` is odd: from the hypotheses without products, then from all."""
    goal = mod(v, 2).eq(1)
    light = tuple(h for h in o.hypotheses if not any(isinstance(n, Mul) for n in postorder(*all_exprs(h))))
    every = [light] if light == o.hypotheses else [light, o.hypotheses]
    return [replace(o, hypotheses=h, goal=goal) for h in every]


def _vanishing(c: Condition) -> Iterator[Sum]:
    """The sums of which a condition says that they are zero, or that a power of two divides them, or that not."""
    for atom in atoms(c):
        match atom:
            case Divides(Int() as d, Sum() as e) if d.value > 1 and not d.value & (d.value - 1):
                yield e
            case Compare("==" | "!=", a, b) if isinstance(a - b, Sum):
                yield a - b  # type: ignore[misc]


def _cofactors(e: Expr, others: Sequence[Sum]) -> Iterator[tuple[Expr, Expr]]:
    """What some of ``others`` are multiplied with to give ``e``: ``x·x + x·y + y·y`` with ``x - y`` for ``x³ - y³``."""
    atoms: dict[str, Expr] = {}
    whole = _polynomial(e, atoms)
    for other in others:
        if other is e or whole is None:
            continue
        part = _polynomial(other, atoms)
        quotient = None if part is None else _quotient(whole, part)
        if quotient is not None and not quotient.is_constant:
            yield _expression(quotient, atoms), other


def _polynomial(e: Expr, atoms: dict[str, Expr]) -> Poly | None:
    """A polynomial in variables, ``None`` for any other expression; ``atoms`` are the variables by their names."""
    if not all(isinstance(n, (Int, Var, Sum, Mul)) for n in postorder(e)):
        return None
    atoms |= {f"{v.name}:{v.kind}": v for v in e.variables()}
    p = Polynomials().of(e)
    return p if p.degree <= _DEGREE and len(p) <= _TERMS else None


def _quotient(p: Poly, by: Poly) -> Poly | None:
    """``p / by`` where that is a polynomial: one leading term after another, in the order of degrees and names."""
    total, left = Poly({}), p
    lead = max(by.terms, key=_leading)
    for _ in range(_TERMS):
        if not left:
            return total
        m = max(left.terms, key=_leading)
        n = over(m, lead)
        if n is None or left.terms[m] % by.terms[lead]:
            return None
        term = Poly({n: left.terms[m] // by.terms[lead]})
        total, left = total + term, left - by * term
    return None


def _leading(m: Monomial) -> tuple[int, list[tuple[str, int]]]:
    """An order of monomials that products keep: by degree, then by how often each name occurs."""
    return len(m), sorted(((v, m.count(v)) for v in set(m)), reverse=True)


def _expression(p: Poly, atoms: dict[str, Expr]) -> Expr:
    return linear(p.constant, [(mul(*(atoms[v] for v in m)), c) for m, c in p.key if m])


def _common(e: Expr) -> Iterator[tuple[Expr, Expr]]:
    """The factors that all summands share, each with what remains of the sum without it."""
    terms = e.terms if isinstance(e, Sum) else ((e, 1),)
    if isinstance(e, Int) or (isinstance(e, Sum) and e.const):
        return
    products = [(t.factors if isinstance(t, Mul) else (t,), k) for t, k in terms]
    for v in dict.fromkeys(products[0][0]):
        if all(v in factors for factors, _ in products):
            left = []
            for factors, k in products:
                others = list(factors)
                others.remove(v)
                left.append((mul(*others), k))
            yield v, linear(0, left)
