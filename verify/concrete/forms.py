"""Linear forms ``constant + Σ coefficient·atom``, in which quotients and minima are atoms.

They share no code with the linear forms of the simplifier (:mod:`indexproof.core.kernel`), whose results are
checked with them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, TypeAlias

from ...core.expr import Var
from ...core.interval import Interval, is_infinite

#: The nonzero coefficient of every atom; atom 0 is the constant 1.
Form: TypeAlias = dict[int, int]
#: A form and the interval it lies in.
Row: TypeAlias = tuple[Form, Interval]


class NotQuasiAffine(Exception):
    """A product of variables or a divisor that is not a literal."""


def constant(n: int) -> Form:
    """Return the form ``n``."""
    return {0: n} if n else {}


def is_constant(f: Form) -> bool:
    """Return whether no atom but 0 occurs."""
    return not f or (len(f) == 1 and 0 in f)


def scaled(f: Form, k: int) -> Form:
    """Return ``k·f``."""
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
    """Return ``f + k·g``."""
    out = dict(f)
    add(out, g, k)
    return out


def combined(f: Form, values: Sequence[Any]) -> Any:
    """Return the value of ``f`` for ``values`` of the atoms, which are numbers or arrays; that of atom 0 is 1."""
    total = values[0] * f.get(0, 0)
    for m, k in f.items():
        if m:
            total = total + values[m] * k
    return total


class LinearAlgebra:
    """An algebra (see :func:`~indexproof.core.expr.interpret`) of linear forms over numbered atoms.

    Atom 0 is 1.  Subclasses define how variables, quotients and minima become atoms.
    """

    def __init__(self) -> None:
        self.variables: dict[Var, Form] = {}
        #: The bounds of every atom.
        self.lo: list[int | float] = [1]
        self.hi: list[int | float] = [1]
        #: Atoms created with an infinite bound.  Plain arithmetic with them would turn integers into floats.
        self.endless: set[int] = set()
        #: Dividend and divisor of each quotient atom, and the arguments of each minimum atom.
        self.quotients: dict[int, tuple[Form, int]] = {}
        self.minima: dict[int, list[Form]] = {}

    def new_atom(self, lo: int | float, hi: int | float) -> int:
        """Add an atom with bounds ``[lo, hi]`` and return its number."""
        self.lo.append(lo)
        self.hi.append(hi)
        atom = len(self.lo) - 1
        if is_infinite(lo) or is_infinite(hi):
            self.endless.add(atom)
        return atom

    def bounds(self, f: Form) -> Interval:
        """Return the interval of ``f`` over the bounds of its atoms."""
        lo, hi = self.lo, self.hi
        if not f.keys().isdisjoint(self.endless):
            total = Interval(0, 0)
            for m, k in f.items():
                total = total.plus(Interval(lo[m], hi[m]).scale(k))
            return total
        low: int | float = 0
        high: int | float = 0
        for m, k in f.items():
            if k > 0:
                low, high = low + k * lo[m], high + k * hi[m]
            else:
                low, high = low + k * hi[m], high + k * lo[m]
        return Interval(low, high)

    def quotient(self, a: Form, c: int) -> Form:
        """Return the form of ``a // c`` for ``c > 0``."""
        raise NotImplementedError

    def above(self, f: Form, g: Form) -> bool:
        """Return whether bounds imply ``f >= g``."""
        return self.bounds(plus(f, g, -1)).lo >= 0

    def least(self, forms: Iterable[Form]) -> list[Form]:
        """Return those of ``forms`` that no other one bounds from below, in order."""
        kept: list[Form] = []
        for f in forms:
            if not any(self.above(f, g) for g in kept):
                kept = [g for g in kept if not self.above(g, f)] + [f]
        return kept

    # -- the algebra
    def integer(self, n: int) -> Form:
        return constant(n)

    def variable(self, v: Var) -> Form:
        return self.variables[v]

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

    def floordiv(self, a: Form, b: Form) -> Form:
        if not is_constant(b) or not b:
            raise NotQuasiAffine
        d = b[0]
        return self.quotient(a, d) if d > 0 else self.quotient(scaled(a, -1), -d)

    def mod(self, a: Form, b: Form) -> Form:
        q = self.floordiv(a, b)
        # taking the quotient may split atoms of the dividend, so use the algebra's own sum
        return self.sum(0, [(a, 1), (q, -b[0])])

    def ceildiv(self, a: Form, b: Form) -> Form:
        return scaled(self.floordiv(scaled(a, -1), b), -1)

    def minimum(self, args: list[Form]) -> Form:
        raise NotImplementedError

    def maximum(self, args: list[Form]) -> Form:
        return scaled(self.minimum([scaled(f, -1) for f in args]), -1)
