"""Sums that are one remainder: ``g·(y % e) + r`` with ``0 <= r < g`` is ``(g·y + r) % (e·g)``."""

from __future__ import annotations

from math import gcd
from typing import TypeAlias

from ..engine import Engine
from ..kernel.form import REMAINDER, Form
from .sums import Products, plus, spent

__all__ = ["DigitWithRest", "digit_with_rest", "saved", "saved_by_taking_in"]

#: ``(a, g, h, g·y + r)`` of the sum ``h·(g·a + r)`` with the remainder ``a = y % e``.
DigitWithRest: TypeAlias = tuple[int, int, int, Form]


def digit_with_rest(engine: Engine, f: Form) -> DigitWithRest | None:
    """What the sum is as a multiple of one remainder, if it is one."""
    c, terms = f
    if not terms or (not c and len(terms) == 1):
        return None
    a, k = terms[0]
    for t in terms:
        if abs(t[1]) > abs(k):
            a, k = t
    if k == 1 or k == -1 or engine.kind[a] != REMAINDER:
        return None
    h = c
    for _, j in terms:
        h = gcd(h, j)
        if h == 1:
            break
    if k < 0:
        h = -h
    g = k // h
    r = c // h, tuple([(b, j // h) for b, j in terms if b != a])
    lo, hi = engine.range(r)
    return (a, g, h, plus(r, engine.arg[a], g)) if lo >= 0 and hi < g else None


def saved(engine: Engine, f: Form, found: DigitWithRest, products: Products, there: bool = False) -> int:
    """How many operations it saves to write the sum as one remainder; ``products`` are changed accordingly.

    ``there`` says that the new dividend is needed anyway.
    """
    a, _, h, x = found
    before = spent(f, products, -1) + spent(engine.arg[a], products, -1)
    after = 0 if there else spent(x, products, 1)
    return before - after - spent((0, ((a, h),)), products, 1)


def saved_by_taking_in(engine: Engine, c: int, total: dict[int, int], a: int, products: Products) -> int:
    """How many operations it saves that a remainder takes in what it stands with, ``a`` among that; 0 if none does."""
    if not c and len(total) == 1:
        return 0
    most = largest = 0
    for b, k in total.items():
        if k < 0:
            k = -k
        if k > most:
            most, largest = k, b
    # what is below a remainder is smaller than what it is taken times
    if most == 1 or engine.kind[largest] != REMAINDER:
        return 0
    f = c, tuple(total.items())
    found = digit_with_rest(engine, f)
    if found is None:
        return 0
    b, g, h, x = found
    return saved(engine, f, (b, g, h, engine.renewed(x)), {**products})
