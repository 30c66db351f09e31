"""Polynomials modulo a small number: one case for every residue of their variables.

``x·x % 4 <= 1`` holds because it does for ``x = 4·k + r`` with each r from 0 to 3: then multiples of 4 leave the remainder,
and what is left is linear.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence

from ...core.condition import Divides, all_exprs, atoms
from ...core.expr import Expr, FloorDiv, Int, Mod, Mul, Var, postorder, var
from .. import linear
from ..obligations import Obligation
from ..solve import reduced

__all__ = ["RESIDUES", "by_residues", "quotient", "values", "where"]

#: The name of this strategy.
RESIDUES = "residues"
#: More cases than this are not tried.
_CASES = 96


def by_residues(o: Obligation, limits: linear.ReductionBudget) -> tuple[bool, int]:
    """Whether the claim is proved in every case, and at what cost; where it has no such cases it is not."""
    modulus, variables = where(o)
    if not variables:
        return False, 0
    spent = 0
    for at in values(modulus, variables):
        hypotheses = [h.substitute(at) for h in o.hypotheses]
        outcome = reduced(hypotheses, o.goal.substitute(at), limits)
        spent += outcome.resources
        if not outcome.proved:
            return False, spent
    return True, spent


def values(modulus: int, variables: Sequence[Var]) -> Iterator[dict[Var, Expr]]:
    """What the variables are in each case; the last residue changes fastest."""
    for residues in itertools.product(range(modulus), repeat=len(variables)):
        yield {v: quotient(v, modulus) * modulus + r for v, r in zip(variables, residues, strict=True)}


def quotient(v: Var, modulus: int) -> Expr:
    """The variable for ``v // modulus``."""
    return var(f"{v.name}/{modulus}", v.kind)


def where(o: Obligation) -> tuple[int, list[Var]]:
    """The least common multiple of the divisors of polynomials, and the variables of these; none for too many cases.

    Where that has too many residues, the greatest common divisor: ``(x·x % 2^w) % 4`` depends on ``x % 4``.  Where that
    has too many as well, the largest power of two that divides it and has not: where ``2^w`` divides ``x·x - 4·y - 3``,
    so does 4.
    """
    moduli: list[int] = []
    found: set[Var] = set()

    def note(a: Expr, b: Expr) -> None:
        if isinstance(b, Int) and b.value:
            inside = {v for p in postorder(a) if isinstance(p, Mul) for v in p.variables()}
            if inside:
                moduli.append(abs(b.value))
                found.update(inside)

    for node in postorder(*(e for c in (*o.hypotheses, o.goal) for e in all_exprs(c))):
        if isinstance(node, (FloorDiv, Mod)):
            note(node.a, node.b)
    for c in (*o.hypotheses, o.goal):
        for atom in atoms(c):
            if isinstance(atom, Divides):
                note(atom.e, atom.d)
    variables = sorted(found, key=lambda v: v.name)
    common = math.gcd(*moduli)
    powers = (1 << k for k in range(_CASES.bit_length() - 1, 0, -1) if common % (1 << k) == 0)
    for modulus in (math.lcm(*moduli), common, *powers):
        if modulus >= 2 and modulus ** len(found) <= _CASES:
            return modulus, variables
    return common, []
