"""Quotients and remainders of forms by constants."""

from __future__ import annotations

from math import gcd
from typing import Any, Final

from ..actions import Form
from .form import QUOTIENT, REMAINDER, Terms, lone
from .sums import Sums

__all__ = ["Divisions"]

#: Of so many variables with two values a linear quotient is looked for.
PAIRS: Final = 3


def magnitude(t: tuple[int, int]) -> int:
    return -abs(t[1])


class Divisions(Sums):
    """Quotients and remainders in normal form."""

    def __init__(self, record: Any = None) -> None:
        super().__init__(record)
        #: by the terms and the constant of the dividend and the divisor
        self.quotients: dict[tuple[Terms, int, int], Form] = {}
        self.remainders: dict[tuple[Terms, int, int], Form] = {}

    # ---------------------------------------------------------------- quotients
    def floordiv(self, x: Form, d: int) -> Form:
        """``x // d``."""
        # of any type: compiled, it is made once and not at each use
        key: Any = (x[1], x[0], d)
        f = self.quotients.get(key)
        if f is None:
            f = self.quotients[key] = self._floordiv(x, d)
        return f

    def _floordiv(self, x: Form, d: int) -> Form:
        if self.unbounded:
            self._refuse_large(x, d)
        c, terms = x
        if not terms and d:
            return c // d, ()
        if d <= 1:
            if d == 0:
                raise ZeroDivisionError("division by the constant zero has no value")
            return self.quotient_by_one(x) if d == 1 else self.negative_divisor_moves_up(d, x)
        los, his = self.lo, self.hi
        lo = hi = c
        near = multiples = 0
        reducible = False
        for a, k in terms:
            r = k % d
            if not r:
                multiples += 1
                continue
            if k > 0:
                lo += k * los[a]
                hi += k * his[a]
                if k + k > d:
                    reducible = True
            else:
                lo += k * his[a]
                hi += k * los[a]
                reducible = True
            near += (r if r + r <= d else d - r) * (his[a] - los[a])
        out: Terms = ()
        rest = terms
        if multiples:
            out = tuple([(a, k // d) for a, k in terms if not k % d])
            rest = tuple([t for t in terms if t[1] % d])
        q = lo // d
        known = False
        if q != hi // d and self.facts and len(rest) > 1 and self._spoken_of(rest):
            known = True
            lo, hi = self._sharper(c, rest, lo, hi)
            q = lo // d
        if q == hi // d:
            # what is left stays within one block
            return self.quotient_certified(d, (q, out), x) if out else self.quotient_known(d, q, x)
        # without facts, no choice of remainders makes what is left narrower than the nearest ones do
        narrow = near < d
        f = self._certified(c, rest, d, known) if reducible and (narrow or known) else None
        if f is not None:
            return self.quotient_certified(d, (f[0], tuple(sorted([*out, *f[1]]))), x)
        n = c // d
        if out or n:
            y = c - n * d, rest
            if self.record is None:
                # all of the above would be found again
                key: Any = (rest, c - n * d, d)
                if key not in self.quotients:
                    self.quotients[key] = self._quotient(y, d, lo - n * d, hi - n * d, narrow)
            return self.multiple_leaves_quotient(d, y, (n, out))
        return self._quotient(x, d, lo, hi, narrow)

    def _quotient(self, x: Form, d: int, lo: int, hi: int, narrow: bool) -> Form:
        """``x // d`` where no coefficient is a multiple of d and the constant lies in ``[0, d - 1]``.

        ``lo`` and ``hi`` are the ends of x; ``narrow`` says whether the nearest remainders of its coefficients leave fewer
        than d values.
        """
        c, terms = x
        low = self._low_part(x, d)
        if low is not None:
            g, y, r = low
            return self.small_remainder_vanishes(d, g, r, y)
        kind = self.kind
        if len(terms) == 1:
            a, k = terms[0]
            if k == 1:
                t = kind[a]
                if t == QUOTIENT:
                    if c:
                        return self.quotient_absorbs_summand(self.divisor[a], d, (c, ()), self.arg[a])
                    return self.quotient_of_quotient(self.divisor[a], d, self.arg[a])
                if t == REMAINDER and c == 0:
                    if self.divisor[a] % d == 0:
                        return self.quotient_of_remainder(d, self.divisor[a], self.arg[a])
                    q = lone(self.arg[a])
                    if q >= 0 and kind[q] == QUOTIENT:
                        return self.quotient_of_digit(self.divisor[q], d, self.divisor[a], self.arg[q])
            elif k == -1 and kind[a] == QUOTIENT:
                return self.quotient_absorbs_negated(self.divisor[a], d, (c, ()), k, self.arg[a])
        else:
            found = -1
            for i, (a, k) in enumerate(terms):
                if (k == 1 or k == -1) and kind[a] == QUOTIENT:
                    # not by when they were met: what is read again is met in another order
                    if found < 0 or self._absorbed_before(a, terms[found][0]):
                        found = i
            if found >= 0:
                a, k = terms[found]
                r = c, terms[:found] + terms[found + 1 :]
                if k == 1:
                    return self.quotient_absorbs_summand(self.divisor[a], d, r, self.arg[a])
                return self.quotient_absorbs_negated(self.divisor[a], d, r, k, self.arg[a])
            f = self._with_digit(x, d)
            if f is not None:
                return f
        if c == d - 1 and all([k < 0 for _, k in terms]):
            return self.complement_leaves_quotient(d, (0, tuple([(a, -k) for a, k in terms])))
        line = self._straight(x, d) if narrow else None
        if line is not None:
            return self.quotient_certified(d, line, x)
        return self._atom(QUOTIENT, x, d, lo // d, hi // d)

    def _absorbed_before(self, a: int, b: int) -> bool:
        """Whether the quotient a in a dividend is absorbed rather than b: the smaller divisor, then the longer dividend."""
        d = self.divisor[a] - self.divisor[b]
        if d:
            return d < 0
        x, y = self.arg[a], self.arg[b]
        if len(x[1]) != len(y[1]):
            return len(x[1]) > len(y[1])
        kind, lo, hi = self.kind, self.lo, self.hi
        left = sorted([(k, kind[t], lo[t], hi[t]) for t, k in x[1]])
        right = sorted([(k, kind[t], lo[t], hi[t]) for t, k in y[1]])
        return left < right if left != right else x[0] < y[0]

    def _with_digit(self, x: Form, d: int) -> Form | None:
        """``x // d`` where a remainder in x is a digit and the quotient above it is there too."""
        kind, arg, divisor = self.kind, self.arg, self.divisor
        c, terms = x
        for a, k in terms:
            if k != 1 or kind[a] != REMAINDER:
                continue
            q = lone(arg[a])
            if q < 0 or kind[q] != QUOTIENT:
                continue
            e, n, y = divisor[q], divisor[a], arg[q]
            for b, v in terms:
                if kind[b] == QUOTIENT and divisor[b] == e * n and arg[b] == y and not v % n:
                    r = c, tuple([t for t in terms if t[0] != a and t[0] != b])
                    return self.quotient_absorbs_digit(e, d, e * n, n, r, v, y)
        return None

    # ---------------------------------------------------------------- remainders
    def mod(self, x: Form, d: int) -> Form:
        """``x % d``."""
        key: Any = (x[1], x[0], d)
        f = self.remainders.get(key)
        if f is None:
            f = self.remainders[key] = self._mod(x, d)
        return f

    def _mod(self, x: Form, d: int) -> Form:
        if self.unbounded:
            self._refuse_large(x, d)
        c, terms = x
        if not terms and d:
            return c % d, ()
        if self.exact and d > 1:
            left, m = self.unknown_part(x, d)
            if m >= 0:
                if not left:
                    return self.value_known(m, self._atom(REMAINDER, x, d, m, m))
                y = m, tuple(sorted(left.items()))
                if self.record is not None:
                    # a rule about what is congruent, which may as well be used in the other direction
                    self.record("remainder_takes_congruent", (d, x, y))
                return self.mod(y, d)
        if d <= 1:
            if d == 0:
                raise ZeroDivisionError("division by the constant zero has no value")
            return self.remainder_by_one(d, x) if d >= -1 else self.negative_modulus_moves_out(d, x)
        los, his = self.lo, self.hi
        kind, divisor = self.kind, self.divisor
        lo = hi = c
        near = multiples = 0
        inner = -1
        reducible = False
        for a, k in terms:
            r = k % d
            if not r:
                multiples += 1
                continue
            if k > 0:
                lo += k * los[a]
                hi += k * his[a]
                if k + k > d:
                    reducible = True
            else:
                lo += k * his[a]
                hi += k * los[a]
                reducible = True
            near += (r if r + r <= d else d - r) * (his[a] - los[a])
            if kind[a] == REMAINDER and not k * divisor[a] % d:
                inner = a
        out: Terms = ()
        rest = terms
        if multiples:
            out = tuple([(a, k // d) for a, k in terms if not k % d])
            rest = tuple([t for t in terms if t[1] % d])
        q = lo // d
        known = False
        if q != hi // d and self.facts and len(rest) > 1 and self._spoken_of(rest):
            known = True
            lo, hi = self._sharper(c, rest, lo, hi)
            q = lo // d
        if q == hi // d:
            if out or known:
                return self.remainder_certified(d, self.renewed((q, out)), x)
            return self.remainder_known(d, q, x)
        # as in _floordiv
        narrow = near < d
        f = self._certified(c, rest, d, known) if reducible and (narrow or known) else None
        if f is not None:
            # in normal form already when it is recorded: in the difference its digits could not be put together
            return self.remainder_certified(d, self.renewed((f[0], tuple(sorted([*out, *f[1]])))), x)
        n = c // d
        if out or n:
            y = c - n * d, rest
            if self.record is None and not self.exact:
                key: Any = (rest, c - n * d, d)
                if key not in self.remainders:
                    self.remainders[key] = self._remainder(y, d, inner, narrow)
            return self.multiple_leaves_remainder(d, y, (n, out))
        return self._remainder(x, d, inner, narrow)

    def _remainder(self, x: Form, d: int, inner: int, narrow: bool) -> Form:
        """``x % d``, with x and ``narrow`` as in :meth:`_quotient`; ``inner`` is a remainder that need not be taken."""
        c, terms = x
        if inner >= 0:
            for i, (a, k) in enumerate(terms):
                if a == inner:
                    others = terms[:i] + terms[i + 1 :]
                    return self.inner_remainder_vanishes(k, d, self.divisor[a], (c, others), self.arg[a])
        low = self._low_part(x, d)
        if low is not None:
            g, y, r = low
            return self.common_factor_leaves_remainder(d, g, r, y)
        if c == d - 1 and all([k < 0 for _, k in terms]):
            return self.complement_leaves_remainder(d, (0, tuple([(a, -k) for a, k in terms])))
        line = self._straight(x, d) if narrow else None
        if line is not None:
            return self.remainder_certified(d, self.renewed(line), x)
        return self._atom(REMAINDER, x, d, 0, d - 1)

    # ---------------------------------------------------------------- of either
    def _certified(
        self, c: int, terms: Terms, d: int, facts: bool
    ) -> tuple[int, list[tuple[int, int]]] | None:
        """``(q, quotient terms)`` when some choice of coefficient quotients leaves a rest within one block.

        ``facts`` says whether something may be known about sums of these terms.
        """
        los, his = self.lo, self.hi
        for nearest in (True, False):
            lo = hi = c
            qs = []
            rs = []
            same = True
            for a, k in terms:
                r = k % d
                if nearest and r + r > d:
                    r -= d
                    same = False
                if r != k:
                    qs.append((a, (k - r) // d))
                    if not r:
                        continue
                if facts:
                    rs.append((a, r))
                if r > 0:
                    lo += r * los[a]
                    hi += r * his[a]
                else:
                    lo += r * his[a]
                    hi += r * los[a]
            if qs:
                q = lo // d
                if q == hi // d:
                    return q, qs
                if facts and len(rs) > 1:
                    lo, hi = self._sharper(c, tuple(rs), lo, hi)
                    q = lo // d
                    if q == hi // d:
                        return q, qs
            if same:
                break
        return None

    def _straight(self, x: Form, d: int) -> Form | None:
        """The quotient ``x // d`` where it is linear because some variables have only two values.

        What such a variable contributes is a line through two points: it is tried with both remainders of its
        coefficient, and whatever else there is with the nearest.
        """
        los, his = self.lo, self.hi
        for a, _ in x[1]:
            if his[a] - los[a] == 1:
                break
        else:
            return None
        pairs: list[tuple[int, int]] = []
        others: list[tuple[int, int]] = []
        rest: list[tuple[int, int]] = []
        for t in x[1]:
            a, k = t
            if his[a] - los[a] == 1 and len(pairs) < PAIRS:
                pairs.append(t)
                continue
            r = k % d
            if r + r > d:
                r -= d
            others.append((a, r))
            if r != k:
                rest.append((a, (k - r) // d))
        lo, hi = self._span(x[0], tuple(others))
        if hi - lo >= d:
            return None
        for choice in range(1 << len(pairs)):
            low, high = lo, hi
            qs = list(rest)
            for a, k in pairs:
                r = k % d
                if choice & 1:
                    r -= d
                    low += r * his[a]
                    high += r * los[a]
                else:
                    low += r * los[a]
                    high += r * his[a]
                choice >>= 1
                if r != k:
                    qs.append((a, (k - r) // d))
            q = low // d
            if q == high // d:
                return q, tuple(sorted(qs))
        return None

    def _low_part(self, x: Form, d: int) -> tuple[int, Form, Form] | None:
        """``(g, y, r)`` with ``x = g·y + r``, g a divisor of d and ``0 <= r < g``; or ``None``."""
        los, his = self.lo, self.hi
        c, terms = x
        if len(terms) == 1:
            k = terms[0][1]
            # most are variables
            g = 1 if k == 1 else gcd(d, k)
            if g == 1:
                return None
            n = c // g
            return g, (n, ((terms[0][0], k // g),)), (c - n * g, ())
        largest = smallest = 0
        first = last = -1
        for a, k in terms:
            if k < 0:
                k = -k
            if k > largest:
                largest, first = k, a
            if not smallest or k <= smallest:
                smallest, last = k, a
        g = gcd(d, largest)
        if g == 1:
            return None
        facts = bool(self.facts) and self._spoken_of(terms)
        # the smallest one belongs to what is left, for which there may be no room, unless it has a factor in common as well
        if smallest * (his[last] - los[last]) >= g and (smallest == 1 or gcd(g, smallest) == 1) and not facts:
            return None
        if len(terms) > 2:
            ordered = sorted(terms, key=magnitude)
        else:
            ordered = list(terms)
            if first != terms[0][0]:
                ordered.reverse()
        # ranges of the tails
        gs = [g]
        for _, k in ordered[1:]:
            if k == 1:
                break
            g = gcd(g, k)
            if g == 1:
                break
            gs.append(g)
        i = len(gs)
        lo = hi = 0
        for a, k in ordered[i:]:
            if k > 0:
                lo += k * los[a]
                hi += k * his[a]
            else:
                lo += k * his[a]
                hi += k * los[a]
        # the longest prefix has the smallest factor; a shorter one may leave room for the rest
        while i:
            g = gs[i - 1]
            m = (c + lo) // g
            room = m == (c + hi) // g
            if facts and not room and len(ordered) - i > 1:
                low, high = self._sharper(c, tuple(sorted(ordered[i:])), c + lo, c + hi)
                m = low // g
                room = m == high // g
            if room:
                head = ordered[:i]
                tail = ordered[i:]
                return (
                    g,
                    (m, tuple(sorted([(a, k // g) for a, k in head]))),
                    (c - m * g, tuple(sorted(tail))),
                )
            i -= 1
            a, k = ordered[i]
            if k > 0:
                lo += k * los[a]
                hi += k * his[a]
            else:
                lo += k * his[a]
                hi += k * los[a]
        return None
