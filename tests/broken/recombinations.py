"""Digits that do not recombine to the given number, each next to digits that do."""

from __future__ import annotations

from dataclasses import dataclass

from indexproof.core.expr import Expr, var

d, n, w, x, y = (var(name) for name in "dnwxy")


@dataclass(frozen=True)
class Recombination:
    """The digits of ``twin`` equal its number for positive d, n and w; those of ``wrong`` do not."""

    name: str
    wrong: tuple[Expr, Expr]
    twin: tuple[Expr, Expr]


BROKEN = [
    Recombination("the weight of another digit", (x // d * n + x % d, x), (x // d * d + x % d, x)),
    Recombination("the digits of two numbers", (x // d * d + y % d, x), (x // d * d + x % d, x)),
    Recombination("the digits of two divisors", (x // n * d + x % d, x), (x // d * d + x % d, x)),
    Recombination("the lowest digit subtracted", (x // d * d - x % d, x), (x // d * d + x % d, x)),
    Recombination("the weight of both lost", (x // d * d * w + x % d * w, x), (x // d * d * w + x % d * w, x * w)),
    Recombination("the highest digit left out", (x // d % n * d + x % d, x), (x // d % n * d + x % d, x % (d * n))),
    Recombination("a digit too many", (x // d % n * d + x % d, x % (n * n)), (x // d % n * d + x % d, x % (d * n))),
    Recombination("the middle digit twice", (x // (d * n) * (d * n) + 2 * (x // d % n * d) + x % d, x), (x // (d *
        n) * (d * n) + x // d % n * d + x % d, x)),
]  # fmt: skip
