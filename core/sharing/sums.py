"""Sums of atoms as they are: nothing here looks for digits that belong together.

*Products* say how often an atom times a number stands in some sums: the same product is computed once, up to its sign.
"""

from __future__ import annotations

from typing import TypeAlias

from ..kernel.form import Form

__all__ = ["Products", "count", "difference", "gained", "instead", "plus", "single", "spent", "without"]

#: How often an atom times a number, that number without its sign, stands somewhere; no entry for 1.
Products: TypeAlias = dict[tuple[int, int], int]


def single(f: Form) -> bool:
    """Whether the form is a single atom, which costs nothing to write."""
    return not f[0] and len(f[1]) == 1 and f[1][0][1] == 1


def without(f: Form, a: int) -> Form:
    """The sum without the atom ``a``."""
    return f[0], tuple([t for t in f[1] if t[0] != a])


def instead(f: Form, a: int, by: Form) -> Form:
    """The sum with ``by`` for the atom ``a``."""
    for b, k in f[1]:
        if b == a:
            return plus(without(f, a), by, k)
    return f


def plus(x: Form, y: Form, k: int) -> Form:
    """``x + k·y``."""
    total = dict(x[1])
    for a, j in y[1]:
        j = total.get(a, 0) + k * j
        if j:
            total[a] = j
        else:
            total.pop(a, None)
    return x[0] + k * y[0], tuple(sorted(total.items()))


def difference(x: Form, q: Form, d: int) -> list[tuple[int, int]]:
    """The summands of ``x - d·q``."""
    if len(q[1]) == 1:
        b, k = q[1][0]
        if b not in [t[0] for t in x[1]]:
            return [*x[1], (b, -d * k)]
    total = dict(x[1])
    for b, k in q[1]:
        total[b] = total.get(b, 0) - d * k
    return list(total.items())


def spent(f: Form, products: Products, step: int) -> int:
    """What a sum costs that is added to others (``step`` 1) or taken from them (-1), whose products those are."""
    operations = len(f[1]) - 1
    opposite = True
    for t in f[1]:
        k = t[1]
        if k > 0:
            opposite = False
        if k != 1 and k != -1:
            if k < 0:
                t = t[0], -k
            n = products.get(t, 0)
            products[t] = n + step
            if not min(n, n + step):
                operations += 1
    if f[0] or opposite:
        operations += 1
    return operations


def gained(
    total: dict[int, int],
    constant: int,
    a: int,
    c: int,
    summands: list[tuple[int, int]],
    products: Products,
) -> int:
    """How many operations a sum gains when ``summands`` and the constant c take the place of the atom ``a`` in it."""
    w = total[a]
    operations = -1
    if w != 1 and w != -1 and products[a, abs(w)] == 1:
        operations -= 1
    for b, j in summands:
        j *= w
        old = total.get(b, 0)
        if old:
            if old != 1 and old != -1 and products[b, abs(old)] == 1:
                operations -= 1
            j += old
        else:
            operations += 1
        if not j:
            operations -= 1
        elif j != 1 and j != -1 and not products.get((b, abs(j)), 0):
            operations += 1
    if c:
        operations += (constant + w * c != 0) - (constant != 0)
    return operations


def count(a: int, k: int, step: int, products: Products) -> None:
    """``k·a`` stands in one more sum, or in one less; nothing is multiplied by 1 and -1."""
    if k < 0:
        k = -k
    if k != 1:
        products[a, k] = products.get((a, k), 0) + step
