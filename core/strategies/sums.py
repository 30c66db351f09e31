"""Propose rules for sums and extrema: digits of one number to join, and common constants and factors.

Nothing here is trusted: the code of the rules checks every proposal.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import gcd
from typing import Any

from ..kernel.form import MINIMUM, QUOTIENT, REMAINDER, Form, contains, lone
from ..kernel.kernel import MATCHED, Bounds, Proposal
from .divisions import Divisions

__all__ = ["Sums"]


class Sums(Divisions):
    """Proposes rules for sums, minima and maxima."""

    def __init__(self, bounds: Bounds, *, keep_points: bool = False, record: Any = None) -> None:
        super().__init__(bounds, keep_points=keep_points, record=record)
        #: cache by remainder of the quotient that belongs to it, because hashing a form is expensive
        self.above: dict[int, Form] = {}
        #: pairs of a remainder and a quotient that are known not to belong to one number
        self.apart: set[tuple[int, int]] = set()

    def forget(self) -> None:
        """Clear the caches after a fact was added."""
        self.above.clear()
        self.apart.clear()

    def quotient_above(self, a: int) -> Form:
        """Return ``x // d`` for the remainder ``x % d``."""
        f = self.above.get(a)
        if f is None:
            f = self.above[a] = self.floordiv(self.arg[a], self.divisor[a])
        return f

    # ---------------------------------------------------------------- sums
    def propose_for_sum(self, f: Form, total: dict[int, int]) -> Iterator[Proposal]:
        """Propose to join quotients, remainders and digits of one number, small coefficients first."""
        kind = self.kind
        remainders = []
        structured = False
        for a, k in total.items():
            t = kind[a]
            if t == REMAINDER:
                remainders.append((abs(k), self.divisor[a], a))
            elif t == MINIMUM or (t == QUOTIENT and not k % self.divisor[a]):
                structured = True
        if remainders:
            yield from self._digits(total, remainders)
        if structured and self.exact:
            for a, k in self.atoms(f, QUOTIENT):
                if not k % self.divisor[a]:
                    yield "known_remainder", (a, k // self.divisor[a])
        if structured or remainders:
            yield MATCHED

    def _digits(self, total: dict[int, int], remainders: list[tuple[int, int, int]]) -> Iterator[Proposal]:
        kind, arg, divisor = self.kind, self.arg, self.divisor
        # sort by coefficient and divisor first: atom numbers depend on the order of reading
        remainders.sort()
        for i, (_, d, a) in enumerate(remainders):
            w = total[a]
            x = arg[a]
            p = w * d
            if all([v % p or b == a for b, v in total.items()]):
                continue  # no summand can belong to the quotient
            q = self.quotient_above(a)
            if not q[1]:
                continue
            if contains(total, q[1], p, a):
                yield "quotient_below_remainder", (a, q, w, x)
                continue
            for b, v in total.items():
                if v == p and kind[b] == QUOTIENT and not divisor[b] % d:
                    y = self._congruent(a, b)
                    if y is not None:
                        yield "quotient_below_remainder", (a, (0, ((b, 1),)), w, y)
            yield from self._next_digits(total, a, q, [b for _, _, b in remainders[i + 1 :]])

    def _congruent(self, a: int, b: int) -> Form | None:
        """Return a form whose quotient is b and whose remainder is a, or ``None``."""
        if (a, b) in self.apart:
            return None
        d = self.divisor[a]
        n = self.divisor[b] // d
        y = self.arg[b] if n == 1 else self.floordiv(self.arg[b], n)
        if lone(self.mod(y, d)) == a and lone(self.floordiv(y, d)) == b:
            return y
        self.apart.add((a, b))
        return None

    def _next_digits(self, total: dict[int, int], a: int, q: Form, others: list[int]) -> Iterator[Proposal]:
        """Propose the digit ``(x // d) % n`` above the remainder ``a`` of x, whose quotient is q."""
        w = total[a]
        p = w * self.divisor[a]
        tried: set[int] = set()
        # ``q % n`` of a single atom is a sum only if the atom is a remainder
        single = len(q[1]) == 1 and q[1][0][1] == 1 and self.kind[q[1][0][0]] != REMAINDER
        for b in reversed(others):
            v = total[b]
            if single and v != p:
                continue
            n = v * self.divisor[b] // p
            if n <= 1 or n * p != v * self.divisor[b]:
                continue
            if v == p:
                # the digit may belong to x + d·z, which has the same remainder
                z = self.add(self.arg[b], self.scale(q, -1))
                if len(z[1]) == len(self.arg[b][1]) - len(q[1]):
                    yield "next_digit", (a, n, w, z)
            if n not in tried:
                tried.add(n)
                t = self.mod(q, n)
                if t[1] and contains(total, t[1], p, a):
                    yield "next_digit", (a, n, w, (0, ()))

    # ---------------------------------------------------------------- extrema
    def propose_for_extremum(self, kind: int, args: list[Form]) -> Iterator[Proposal]:
        """Propose the constant or the factor that all arguments have in common."""
        constants = [f[0] for f in args if f[1]]
        if all(constants):
            yield "common_constant", (min(constants, key=lambda n: (abs(n), n)),)
        c, terms = args[0]
        factors = [k for f in args for _, k in f[1]]
        g = gcd(*factors, *[f[0] for f in args])
        if 2 * sum([k < 0 for k in factors]) > len(factors):
            g = -g
        if g != 1:
            yield "common_factor", (g, (c // g, tuple([(a, k // g) for a, k in terms])))
