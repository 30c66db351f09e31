"""Odd factors modulo a power of two: for odd ``v``, ``2^w ∣ v·e`` where ``2^w ∣ e``.

An odd ``v = 1 + 2·m`` has an inverse: ``1 - (2·m)^K`` is a multiple of ``1 + 2·m`` for even K, and ``2^w`` divides
``(2·m)^K`` for ``K >= w``, so ``v·u = 1 + 2^w·t`` for some u and t.  Where ``v·e = 2^w·q``, ``e`` is therefore
``2^w·(u·q - t·e)``.  That v is odd is a claim of its own, which the reduction to linear arithmetic proves like any other
from the hypotheses, and that the divided number is ``v·e`` is compared as polynomials.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from ...core.condition import And, Condition, Divides, Not, Or, all_of, any_of, divides, negate
from ...core.expr import Expr, Int, Mul, Sum, Var, linear, mod, mul, var
from .. import linear as reduction
from ..obligations import Obligation
from ..solve import reduced
from .known import Polynomials

__all__ = ["ODD", "by_odd_factors"]

#: The name of this strategy.
ODD = "odd factors"


def by_odd_factors(o: Obligation, limits: reduction.Budget) -> tuple[bool, int]:
    """Whether the claim is proved once odd factors are left out, and at what cost; where there are none it is not."""
    # where c divides d, d is a multiple of c
    factors = {
        h.e: h.d * var(f"{h.e.name}/{h.d.name}", h.e.kind)
        for h in o.hypotheses
        if isinstance(h, Divides) and isinstance(h.d, Var) and isinstance(h.e, Var) and h.d is not h.e
    }
    if len(factors) == 1:
        o = replace(
            o, hypotheses=tuple(h.substitute(factors) for h in o.hypotheses), goal=o.goal.substitute(factors)
        )
    shorter = _Shorter(o, limits)
    hypotheses = [shorter.of(h) for h in o.hypotheses]
    goal = shorter.of(o.goal)
    if not shorter.found:
        return False, shorter.spent
    # what was there may have served to prove something odd, and may serve again
    outcome = reduced((*o.hypotheses, *hypotheses), goal, limits)
    return outcome.proved, shorter.spent + outcome.resources


class _Shorter:
    """Conditions without odd factors, equivalent to those that were there wherever the hypotheses hold."""

    def __init__(self, o: Obligation, limits: reduction.Budget) -> None:
        self.hypotheses = o.hypotheses
        self.limits = limits
        self.spent = 0
        self.found = False
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
        searching = True
        while searching:
            searching = False
            for v, rest in _common(e):
                if self._is_odd(v) and polynomials.of(e) == polynomials.of(mul(v, rest)):
                    e, searching, self.found = rest, True, True
                    break
        return e

    def _is_odd(self, v: Expr) -> bool:
        if v not in self._odd:
            outcome = reduced(self.hypotheses, mod(v, 2).eq(1), self.limits)
            self.spent += outcome.resources
            self._odd[v] = outcome.proved
        return self._odd[v]


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
