"""Odd factors modulo a power of two: for odd ``v``, ``2^w ∣ v·e`` where ``2^w ∣ e``.

An odd ``v = 1 + 2·m`` has an inverse: ``1 - (2·m)^K`` is a multiple of ``1 + 2·m`` for even K, and ``2^w`` divides
``(2·m)^K`` for ``K >= w``, so ``v·u = 1 + 2^w·t`` for some u and t.  Where ``v·e = 2^w·q``, ``e`` is therefore
``2^w·(u·q - t·e)``.  That v is odd is a claim of its own, which the reduction to linear arithmetic proves like any other
from the hypotheses, and that the divided number is ``v·e`` is compared as polynomials.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from ...core.condition import And, Condition, Divides, Not, Or, all_of, any_of, divides, negate
from ...core.expr import Expr, Int, Mul, Sum, Var, linear, mod, mul, var
from .. import linear as reduction
from ..obligations import Obligation
from ..solve import reduced
from .known import Polynomials

__all__ = ["ODD", "Shortened", "by_odd_factors", "without_odd_factors"]

#: The name of this strategy.
ODD = "odd factors"


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


def by_odd_factors(o: Obligation, limits: reduction.Budget) -> tuple[bool, int]:
    """Whether the claim is proved once odd factors are left out, and at what cost; where there are none it is not."""
    found, spent = without_odd_factors(o, limits)
    if found is None:
        return False, spent
    outcome = reduced(found.hypotheses, found.goal, limits)
    return outcome.proved, spent + outcome.resources


def without_odd_factors(o: Obligation, limits: reduction.Budget) -> tuple[Shortened | None, int]:
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

    def __init__(self, o: Obligation, limits: reduction.Budget) -> None:
        self.hypotheses = o.hypotheses
        self.limits = limits
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
            for v, rest in _common(e):
                if self._is_odd(v) and polynomials.of(e) == polynomials.of(mul(v, rest)):
                    e, searching = rest, True
                    left_out.append(v)
                    break
        if left_out:
            self.without[whole] = left_out, e
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
