"""Congruences that do not follow from a modular inverse, each next to ones that do."""

from __future__ import annotations

from dataclasses import dataclass

from indexproof.core.condition import Compare, Condition, Divides
from indexproof.core.expr import Expr, integer, var

c, d, e, n, x, y = (var(name) for name in "cdenxy")


@dataclass(frozen=True)
class Inverse:
    """The last condition of ``twin`` follows from the others for positive d and n; that of ``wrong`` does not."""

    name: str
    wrong: tuple[Condition, ...]
    twin: tuple[Condition, ...]


def leaves(k: Expr, p: Expr, by: Expr = d) -> Condition:
    """State that p modulo ``by`` is k."""
    return Compare("==", p % by, k)


one, two = integer(1), integer(2)
TRUE = (leaves(one, c * e), Divides(d, x * c), Divides(d, x))
BROKEN = [
    Inverse("the remainder is 2", (leaves(two, c * e), *TRUE[1:]), TRUE),
    Inverse("the remainder is a symbol", (leaves(n, c * e), *TRUE[1:]), TRUE),
    Inverse("an inverse by another divisor", (leaves(one, c * e, n), *TRUE[1:]), TRUE),
    Inverse("a multiple of another divisor", (TRUE[0], Divides(n, x * c), TRUE[2]), TRUE),
    Inverse("another divisor in the conclusion", (*TRUE[:2], Divides(n, x)), TRUE),
    Inverse("another factor", (TRUE[0], Divides(d, x * (c + 1)), TRUE[2]), TRUE),
    Inverse("another number", (*TRUE[:2], Divides(d, y)), TRUE),
    Inverse("no multiple", (TRUE[0], TRUE[2]), TRUE),
    Inverse("one more", (*TRUE[:2], Divides(d, x + 1)), TRUE),
]
