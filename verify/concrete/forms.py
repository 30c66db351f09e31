"""Linear forms ``constant + Σ coefficient·atom``: what expressions become once their quotients have names."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

from ...core.interval import Interval

__all__ = [
    "Form",
    "LinearAlgebra",
    "NotQuasiAffine",
    "Row",
    "add",
    "add_term",
    "combined",
    "constant",
    "is_constant",
    "plus",
    "scaled",
]

#: Coefficient of every atom, none of them zero; atom 0 stands for the constant 1.
Form: TypeAlias = dict[int, int]
#: A form and the interval it lies in.
Row: TypeAlias = tuple[Form, Interval]


class NotQuasiAffine(Exception):
    """A product of variables or a divisor that is not a literal."""


def constant(n: int) -> Form:
    """The form ``n``."""
    return {0: n} if n else {}


def is_constant(f: Form) -> bool:
    """Whether no atom occurs."""
    return not f or (len(f) == 1 and 0 in f)


def scaled(f: Form, k: int) -> Form:
    """``k·f``."""
    return {m: k * c for m, c in f.items()} if k else {}


def add_term(f: Form, m: int, k: int) -> None:
    """Add ``k·m`` to ``f``, in place."""
    total = f.get(m, 0) + k
    if total:
        f[m] = total
    else:
        f.pop(m, None)


def add(f: Form, g: Form, k: int) -> None:
    """Add ``k·g`` to ``f``, in place."""
    for m, c in g.items():
        add_term(f, m, k * c)


def plus(f: Form, g: Form, k: int) -> Form:
    """``f + k·g``."""
    out = dict(f)
    add(out, g, k)
    return out


def combined(f: Form, values: Sequence[Any]) -> Any:
    """The values of ``f`` where atoms have ``values``, one each or an array; those of atom 0 are 1."""
    total = values[0] * f.get(0, 0)
    for m, k in f.items():
        if m:
            total = total + values[m] * k
    return total


class LinearAlgebra:
    """What every algebra (see :func:`~indexproof.core.expr.interpret`) of linear forms has in common."""

    def integer(self, n: int) -> Form:
        return constant(n)

    def sum(self, const: int, terms: list[tuple[Form, int]]) -> Form:
        out = constant(const)
        for f, k in terms:
            add(out, f, k)
        return out

    def product(self, factors: list[Form]) -> Form:
        total = constant(1)
        for f in factors:
            if not is_constant(f) and not is_constant(total):
                raise NotQuasiAffine
            total = scaled(total, f.get(0, 0)) if is_constant(f) else scaled(f, total.get(0, 0))
        return total
