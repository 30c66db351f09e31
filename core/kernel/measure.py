"""The termination order on forms: :func:`..rewrite.measure` of the expressions that they represent."""

from __future__ import annotations

from math import gcd
from typing import TypeAlias

from ..rewrite import measure
from .atoms import Atoms
from .form import OPAQUE, QUOTIENT, REMAINDER, VARIABLE, Form

__all__ = ["Measured", "Size"]

#: The components of the order.
Size: TypeAlias = "tuple[int, int, int, int, int]"


class Measured(Atoms):
    """Atoms with their sizes in the termination order, computed on demand."""

    def size(self, f: Form) -> Size:
        """Return the size of a sum: the sum of the sizes of its atoms."""
        w = d = n = b = u = 0
        for a, _ in f[1]:
            s = self.sizes.get(a)
            if s is None:
                s = self.sizes[a] = self._size(a)
            w += s[0]
            d += s[1]
            n += s[2]
            b += s[3]
            u += s[4]
        return w, d, n, b, u

    def _size(self, a: int) -> Size:
        of = self.kind[a]
        if of == VARIABLE:
            return 2, 0, 0, 0, 0
        if of == OPAQUE:
            e = self.expr[a]
            assert e is not None
            w, d, n, b, u = measure(e).values()
            return w, d, n, b, u
        if of == QUOTIENT or of == REMAINDER:
            return self.size_of_division(of, self.arg[a], self.divisor[a])
        return self.size_of_extremum(self.parts[a])

    def size_of_division(self, of: int, x: Form, by: int) -> Size:
        """Return the size of the quotient or the remainder of x by a positive number, before any rewrite."""
        w, d, n, b, u = self.size(x)
        backwards = sum([k < 0 for _, k in x[1]])
        excess = 1 if x[0] and x[0] // by else 0
        return (3 * w + (1 if of == QUOTIENT else 2), d + by, n, 3 * b + backwards, 3 * u + excess)

    def size_of_extremum(self, parts: tuple[Form, ...]) -> Size:
        """Return the size of a minimum or a maximum, before any rewrite."""
        w, d, n, b, u = self.added([self.size(x) for x in parts])
        common = all([x[0] for x in parts if x[1]])
        multiples = gcd(*[x[0] for x in parts], *[k for x in parts for _, k in x[1]]) > 1
        backwards = sum([k < 0 for x in parts for _, k in x[1]])
        return w + len(parts) - 1, d, n, 3 * b + backwards, 3 * u + (common + multiples) * len(parts)

    def added(self, sizes: list[Size]) -> Size:
        """Return the sum of sizes, component by component."""
        w, d, n, b, u = map(sum, zip((0, 0, 0, 0, 0), *sizes, strict=True))
        return w, d, n, b, u
