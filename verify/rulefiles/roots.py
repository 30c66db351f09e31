"""Polynomials in one variable modulo a power of two: the roots of each are a few residue classes.

``2^w ∣ p(x)`` for ``x·x - x`` where ``2^w`` divides x or ``x - 1``, and for ``x·x`` where ``2^⌈w/2⌉`` divides x.  The
classes are found bit by bit, as in Hensel's lifting.  With ``p(r + 2^k·y) = a + b·y + c·y² + …``, all integers of the
class of r modulo ``2^k`` are roots where ``2^w`` divides every coefficient, and none is where some power of two divides
all coefficients but a; otherwise the class is that of r and that of ``r + 2^k`` modulo ``2^(k+1)``.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from ...core.condition import And, Condition, Divides, Not, Or, all_of, any_of, divides, negate
from ...core.expr import Expr, Int, Mul, Sum, Var, integer, postorder
from .. import linear
from ..obligations import Obligation
from ..solve import reduced

__all__ = ["ROOTS", "Solved", "by_roots", "coefficients", "roots", "solved"]

#: The name of this strategy.
ROOTS = "roots"
#: With more classes than this, or more to look at on the way, nothing is gained.
_CLASSES = 16
_VISITS = 4096
#: Polynomials of a higher degree are left alone.
_DEGREE = 12


@dataclass(frozen=True)
class Solved:
    """A claim in which classes stand for polynomials: with ``(d, e)`` the classes ``(r, m)`` where d divides e."""

    classes: dict[tuple[Int, Expr], tuple[Var, list[tuple[int, int]]]]
    hypotheses: tuple[Condition, ...]
    goal: Condition


def by_roots(o: Obligation, limits: linear.ReductionBudget) -> tuple[bool, int]:
    """Whether the claim is proved once roots stand for polynomials, and at what cost; without any it is not."""
    found = solved(o)
    if found is None:
        return False, 0
    outcome = reduced(found.hypotheses, found.goal, limits)
    return outcome.proved, outcome.resources


def solved(o: Obligation) -> Solved | None:
    """The claim with classes for polynomials, ``None`` where there are none or other products would remain."""
    found: dict[tuple[Int, Expr], tuple[Var, list[tuple[int, int]]]] = {}
    left: list[Expr] = []

    def of(c: Condition) -> Condition:
        match c:
            case And(args):
                return all_of(of(a) for a in args)
            case Or(args):
                return any_of(of(a) for a in args)
            case Not(arg):
                return negate(of(arg))
            case Divides(Int() as d, e) if d.value > 1 and not d.value & (d.value - 1):
                if not any(isinstance(n, Mul) for n in postorder(e)):
                    return c
                p = coefficients(e)
                classes = None if p is None else roots(p[1], d.value)
                if p is None or classes is None:
                    left.append(e)
                    return c
                found[d, e] = p[0], classes
                return any_of(divides(integer(m), p[0] - r) for r, m in classes)
        return c

    hypotheses, goal = tuple(map(of, o.hypotheses)), of(o.goal)
    return Solved(found, hypotheses, goal) if found and not left else None


def coefficients(e: Expr) -> tuple[Var, list[int]] | None:
    """The variable of a polynomial in one variable and its coefficients, that of least degree first."""
    names = e.variables()
    if len(names) != 1 or not all(isinstance(n, (Int, Var, Sum, Mul)) for n in postorder(e)):
        return None
    found: dict[Expr, list[int]] = {}
    for n in postorder(e):
        match n:
            case Int():
                found[n] = [n.value]
            case Var():
                found[n] = [0, 1]
            case Sum():
                total = [n.const]
                for t, k in n.terms:
                    other = found[t]
                    total += [0] * (len(other) - len(total))
                    for i, a in enumerate(other):
                        total[i] += k * a
                found[n] = total
            case Mul():
                product = [1]
                for f in n.factors:
                    product = _times(product, found[f])
                found[n] = product
        if len(found[n]) > _DEGREE + 1:
            return None
    (v,) = names
    return v, found[e]


def _times(p: Sequence[int], q: Sequence[int]) -> list[int]:
    out = [0] * (len(p) + len(q) - 1)
    for i, a in enumerate(p):
        for j, b in enumerate(q):
            out[i + j] += a * b
    return out


def roots(p: Sequence[int], modulus: int) -> list[tuple[int, int]] | None:
    """The classes ``r + m·k`` of the integers at which a power of two divides a polynomial; ``None`` for too many.

    They exclude each other, and each is ``(r, m)`` with ``0 <= r < m``, in order.
    """
    found: list[tuple[int, int]] = []
    todo = [([a % modulus for a in p], 0, 1)]
    visits = 0
    while todo:
        # the class of r modulo m, and the coefficients of p(r + m·y)
        q, r, m = todo.pop()
        visits += 1
        if visits > _VISITS or len(found) > _CLASSES:
            return None
        step = math.gcd(modulus, *q[1:])
        if q[0] % step:
            continue
        if step == modulus:
            found.append((r, m))
            continue
        todo += [(_halved(q, b, modulus), r + b * m, 2 * m) for b in (0, 1)]
    return sorted(found) if len(found) <= _CLASSES else None


def _halved(q: Sequence[int], b: int, modulus: int) -> list[int]:
    """The coefficients of ``q(2·y + b)``, by Horner's rule."""
    out: list[int] = []
    for a in reversed(q):
        out = [c % modulus for c in _times(out, [b, 2])] if out else [0]
        out[0] = (out[0] + a) % modulus
    return out
