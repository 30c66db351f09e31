"""Sums of forms: quotients and remainders in them come together where they belong together."""

from __future__ import annotations

from typing import Any

from ..actions import Form
from .form import MAXIMUM, MINIMUM, QUOTIENT, REMAINDER, ZERO, contains, lone, without
from .ranges import Ranges

__all__ = ["Sums"]


class Sums(Ranges):
    """Sums and multiples in normal form."""

    def __init__(self, record: Any = None) -> None:
        super().__init__(record)
        #: the quotients that belong to remainders, by those: some are asked for often, and forms are dear to look up
        self.above: dict[int, Form] = {}
        #: remainders and quotients that have been seen not to belong together
        self.apart: set[tuple[int, int]] = set()

    def add(self, x: Form, y: Form) -> Form:
        """``x + y``."""
        if not x[1]:
            return (x[0] + y[0], y[1]) if x[0] else y
        if not y[1]:
            return (x[0] + y[0], x[1]) if y[0] else x
        total = dict(x[1])
        for a, k in y[1]:
            if a in total:
                k += total[a]
                if k:
                    total[a] = k
                else:
                    del total[a]
            else:
                total[a] = k
        return self.recombine(x[0] + y[0], total)

    def scale(self, x: Form, k: int) -> Form:
        """``k·x``."""
        if k == 1:
            return x
        if k == 0:
            return ZERO
        return x[0] * k, tuple([(a, j * k) for a, j in x[1]])

    def shift(self, x: Form, n: int) -> Form:
        """``x + n``."""
        return x[0] + n, x[1]

    def renewed(self, x: Form) -> Form:
        """The normal form of a sum of atoms that were not added up by :meth:`add`."""
        terms = x[1]
        if len(terms) > 1:
            kind = self.kind
            for t in terms:
                if kind[t[0]]:
                    f = self._joined(x[0], dict(terms))
                    return x if f is None else f
        return x

    def recombine(self, c: int, total: dict[int, int]) -> Form:
        """The form of a sum whose digits may belong together."""
        if len(total) > 1:
            f = self._joined(c, total)
            if f is not None:
                return f
            return c, tuple(sorted(total.items()))
        return c, tuple(total.items())

    def _joined(self, c: int, total: dict[int, int]) -> Form | None:
        """What a sum of at least two summands becomes where some of them belong together."""
        kind = self.kind
        remainders = []
        quotients = []
        least = False
        for a, k in total.items():
            t = kind[a]
            if t == REMAINDER:
                remainders.append(a)
            elif t == QUOTIENT:
                if not k % self.divisor[a]:
                    quotients.append(a)
            elif t == MINIMUM:
                least = True
        f = self._digits(c, total, remainders) if remainders else None
        if f is None and quotients:
            f = self._whole(c, total, quotients)
        if f is None and least:
            f = self._both_ends(c, total)
        return f

    def _whole(self, c: int, total: dict[int, int], quotients: list[int]) -> Form | None:
        """What a quotient in a sum becomes together with its own dividend, if that is there."""
        if len(quotients) > 1:
            # not by when they were met: what is read again is met in another order
            ranked = [(self.divisor[a], a) for a in quotients]
            ranked.sort()
            quotients = [a for _, a in ranked]
        for a in quotients:
            x = self.arg[a]
            d = self.divisor[a]
            v = total[a]
            w = -v // d
            if self.exact:
                m = self.known_remainder(x, d)
                if m is not None:
                    return self.exact_quotient_multiplies(d, m, without(c, total, (), a), v, -w, x)
            f = self._subtracted(c, total, a, v)
            if f is not None:
                return f
        return None

    def _subtracted(self, c: int, total: dict[int, int], a: int, v: int) -> Form | None:
        """The sum with a remainder where v times the quotient ``a`` and its dividend are part of it, if they are."""
        x, d = self.arg[a], self.divisor[a]
        w = -v // d
        if not x[1] or not contains(total, x[1], w, a):
            return None
        n, rest = without(c - w * x[0], total, x[1], a)
        more = total.get(a, 0) - v
        r = n, tuple(sorted([*rest, (a, more)])) if more else rest
        return self.quotient_subtracts_to_remainder(d, r, v, w, x)

    def _both_ends(self, c: int, total: dict[int, int]) -> Form | None:
        """What the smaller and the larger of the same two forms become together."""
        for a, w in sorted(total.items()):
            if self.kind[a] == MINIMUM and len(self.parts[a]) == 2:
                x, y = self.parts[a]
                for b, v in total.items():
                    if v == w and self.kind[b] == MAXIMUM and self.parts[b] == (x, y):
                        r = without(c, total, ((b, v),), a)
                        return self.min_and_max_sum(r, v, w, x, y)
        return None

    def _digits(self, c: int, total: dict[int, int], todo: list[int]) -> Form | None:
        """What remainders in a sum become together with what stands above them, if anything."""
        kind, arg, divisor = self.kind, self.arg, self.divisor
        # as in _whole: by what they are first, as the order in which they were met changes
        if len(todo) > 1:
            ranked = [(abs(total[a]), divisor[a], a) for a in todo]
            ranked.sort(reverse=True)
            todo = [a for _, _, a in ranked]
        while todo:
            a = todo.pop()
            w = total[a]
            x = arg[a]
            d = divisor[a]
            p = w * d
            if x[1] and contains(total, x[1], -w, a):
                r = without(c + w * x[0], total, x[1], a)
                return self.remainder_subtracts_to_quotient(d, r, w, -w, x)
            for b, v in total.items():
                if not v % p and b != a:
                    break
            else:
                continue  # no summand can belong to the quotient
            q = self.quotient_above(a)
            if not q[1]:
                continue
            if contains(total, q[1], p, a):
                r = without(c - p * q[0], total, q[1], a)
                return self.quotient_and_remainder_recombine(d, p, q, r, w, x)
            # the quotient of something congruent, which has the same remainder
            for b, v in total.items():
                if v != p or kind[b] != QUOTIENT or divisor[b] % d:
                    continue
                if divisor[b] == d:
                    if lone(self.mod(arg[b], d)) == a:
                        t: Form = (0, ((b, 1),))
                        r = without(c, total, t[1], a)
                        return self.quotient_and_congruent_remainder_recombine(d, p, r, w, arg[b], x)
                    continue
                more = self._divided_before(x, d, a, b)
                if more is not None:
                    n, ks = more
                    q = n, tuple(sorted([*ks, (b, 1)]))
                    left = dict(total)
                    del left[a], left[b]
                    for e, k in ks:
                        left[e] = left.get(e, 0) - p * k
                    r = c - p * n, tuple(sorted([t for t in left.items() if t[1]]))
                    f = self.quotient_and_remainder_recombine(d, p, q, r, w, x)
                    for e, k in ks:
                        if kind[e] == QUOTIENT and not p * k % divisor[e]:
                            f = self._subtracted(f[0], dict(f[1]), e, -p * k) or f
                    return f
            # the digit above: t = (x // d) % n, with a coefficient that fits
            tried: set[int] = set()
            # the remainder of a single summand is a sum only where that is a remainder itself
            single = len(q[1]) == 1 and q[1][0][1] == 1 and kind[q[1][0][0]] != REMAINDER
            for b in todo:
                v = total[b]
                if single and v != p:
                    continue
                n = v * divisor[b] // p
                if n <= 1 or n * p != v * divisor[b]:
                    continue
                if v == p:
                    # the digit may be that of x + d·z, whose remainder is the same
                    z = self.add(self.arg[b], self.scale(q, -1))
                    if len(z[1]) == len(self.arg[b][1]) - len(q[1]):
                        t = (0, ((b, 1),))
                        return self.digits_recombine(d, n, p, q, without(c, total, t[1], a), t, w, x, z)
                if n in tried:
                    continue
                tried.add(n)
                t = self.mod(q, n)
                if t[1] and contains(total, t[1], p, a):
                    r = without(c - p * t[0], total, t[1], a)
                    return self.digits_recombine(d, n, p, q, r, t, w, x, ZERO)
        return None

    def _divided_before(self, x: Form, d: int, a: int, b: int) -> Form | None:
        """The k with ``x // d = b + k`` where the quotient b is ``y // (d·n)`` and ``y // n`` has the remainder of x.

        ``a`` is ``x % d``; None where there is no such k.
        """
        if (a, b) in self.apart or any([t[0] == b for t in x[1]]):
            return None
        z = self.floordiv(self.arg[b], self.divisor[b] // d)
        if lone(self.mod(z, d)) != a or lone(self.floordiv(z, d)) != b:
            self.apart.add((a, b))
            return None
        n, terms = self.add(x, self.scale(z, -1))
        if n % d or any([k % d for _, k in terms]) or any([t[0] == b for t in terms]):
            return None
        return n // d, tuple([(e, k // d) for e, k in terms])

    def quotient_above(self, a: int) -> Form:
        """``x // d`` for the remainder ``x % d``."""
        f = self.above.get(a)
        if f is None:
            f = self.above[a] = self.floordiv(self.arg[a], self.divisor[a])
        return f

    # ---------------------------------------------------------------- of divisions (:class:`.Divisions`)
    def floordiv(self, x: Form, d: int) -> Form:
        """``x // d``."""
        raise NotImplementedError("floordiv")

    def mod(self, x: Form, d: int) -> Form:
        """``x % d``."""
        raise NotImplementedError("mod")
