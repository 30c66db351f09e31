"""Ranges of forms, from the ranges of atoms and from facts about sums, digits and remainders."""

from __future__ import annotations

from math import gcd
from typing import Any, Final

from .form import END, FAR, MAXIMUM, MINIMUM, QUOTIENT, REMAINDER, Form, Terms, atom, contains, lone, minus, times
from .measure import Measured

__all__ = ["Ranges"]

#: Known sums of at most this many atoms are also used for sums that are not multiples of them.
FEW: Final = 6
#: With more known sums than this no sums of digits are derived, so that the time for a map grows linearly.
MANY: Final = 64


class Ranges(Measured):
    """Atoms with the facts that constraints state about them."""

    def __init__(self, record: Any = None) -> None:
        super().__init__(record)
        #: the known ends of sums and of their negations; the same for sums with a positive first coefficient only; and
        #: the first atoms of those
        self.facts: dict[Terms, tuple[int, int]] = {}
        self.sums: dict[Terms, tuple[int, int]] = {}
        self.leading: set[int] = set()
        #: cache of the ends that follow for sums without constant; cleared when a fact is added
        self.sharp: dict[Terms, tuple[int, int]] = {}
        #: by dividend and modulus: the divisors and atoms of digits with known ends (:meth:`_digit`)
        self.coarse: dict[tuple[Form, int], list[tuple[int, int]]] = {}
        #: known remainders modulo d of sums without constant
        self.exact: dict[tuple[Terms, int], int] = {}
        #: atoms by kind and operands; maintained once facts exist
        self.index: dict[tuple[int, Form, int], int] | None = None
        #: atoms whose ranges became narrower, and the first atom of those created, since the last :meth:`.Kernel.know`
        self.narrower: list[int] = []
        self.later = 0

    # ---------------------------------------------------------------- of forms
    def range(self, f: Form) -> tuple[int, int]:
        """Return bounds of the form's values; infinite ends are ``±END`` or beyond."""
        c, terms = f
        lo, hi = self._span(c, terms)
        if self.facts and len(terms) > 1 and self._spoken_of(terms):
            return self._sharper(c, terms, lo, hi)
        return lo, hi

    def _spoken_of(self, terms: Terms) -> bool:
        """Return whether a fact may speak of a part of the sum."""
        leading = self.leading
        for t in terms:
            if t[0] in leading:
                return True
        return False

    def _span(self, c: int, terms: Terms) -> tuple[int, int]:
        """Return the bounds of a sum that follow from the ranges of its atoms."""
        los, his = self.lo, self.hi
        lo = hi = c
        for a, k in terms:
            if k > 0:
                lo += k * los[a]
                hi += k * his[a]
            else:
                lo += k * his[a]
                hi += k * los[a]
        return lo, hi

    def _sharper(self, c: int, terms: Terms, lo: int, hi: int) -> tuple[int, int]:
        """Narrow ``lo`` and ``hi``, the bounds of a sum from its atoms, by the facts about it and sums in it."""
        found = self.sharp.get(terms)
        if found is None:
            found = self.sharp[terms] = self._sharpened(terms, lo - c, hi - c)
        return c + found[0], c + found[1]

    def _sharpened(self, terms: Terms, lo: int, hi: int) -> tuple[int, int]:
        """Narrow the bounds of a sum without constant.

        Known sums that it contains are taken greedily, so that each summand is used once.
        """
        known = self.facts.get(terms)
        if known is not None:
            lo = max(lo, known[0])
            hi = min(hi, known[1])
        total = dict(terms)
        from_ = to = 0
        for part, (low, high) in self.sums.items():
            a, k = part[0]
            n = total.get(a, 0)
            g = n // k
            if not n or g * k != n or len(part) > len(total) or not contains(total, part, g, -1):
                continue
            least, most = self._span(0, part)
            if low <= least and most <= high:
                continue
            for a, _ in part:
                del total[a]
            low = max(low, least)
            high = min(high, most)
            if g < 0:
                low, high = high, low
            from_ += g * low
            to += g * high
        if len(total) < len(terms):
            low, high = self._span(0, tuple(total.items()))
            lo = max(lo, from_ + low)
            hi = min(hi, to + high)
        if len(terms) <= FEW:
            total = dict(terms)
            for part, (low, high) in self.sums.items():
                if len(part) <= FEW:
                    lo, hi = self._in_proportion(total, part, low, high, lo, hi)
        return lo, hi

    def _in_proportion(
        self, total: dict[int, int], part: Terms, low: int, high: int, lo: int, hi: int
    ) -> tuple[int, int]:
        """Narrow the bounds of a sum by those of a known sum, ``part``, with which it shares several atoms.

        ``q`` times the sum equals ``p·part`` plus a rest; p : q is chosen so that a shared atom cancels in the rest.
        """
        proportions: list[tuple[int, int]] = []
        shared = 0
        for a, q in part:
            p = total.get(a, 0)
            if p:
                shared += 1
                g = gcd(p, q)
                if q < 0:
                    g = -g
                if (p // g, q // g) not in proportions:
                    proportions.append((p // g, q // g))
        # one shared atom gives no more than its own range; multiples of the part have been handled
        if shared < 2 or (len(proportions) == 1 and shared == len(part) and proportions[0][1] == 1):
            return lo, hi
        los, his = self.lo, self.hi
        others = dict(total)
        for a, _ in part:
            others.pop(a, None)
        from_, to = self._span(0, tuple(others.items())) if others else (0, 0)
        for p, q in proportions:
            least, most = q * from_, q * to
            for a, k in part:
                k = q * total.get(a, 0) - p * k
                if k > 0:
                    least += k * los[a]
                    most += k * his[a]
                elif k:
                    least += k * his[a]
                    most += k * los[a]
            if p > 0:
                least += p * low
                most += p * high
            else:
                least += p * high
                most += p * low
            lo = max(lo, -(-least // q))
            hi = min(hi, most // q)
        return lo, hi

    def constant(self, f: Form) -> int | None:
        """Return the only value of a form, or ``None`` if its range has several."""
        if not f[1]:
            return f[0]
        lo, hi = self.range(f)
        return lo if lo == hi else None

    # ---------------------------------------------------------------- conditions of rules
    def within(self, f: Form, lo: int, hi: int) -> bool:
        """Return whether every value of the form lies between ``lo`` and ``hi``."""
        low, high = self.range(f)
        return lo <= low and high <= hi

    def equal(self, x: Form, y: Form) -> bool:
        """Return whether both forms are known to be equal."""
        return x == y or self.constant(minus(x, y, 1)) == 0

    def at_most(self, x: Form, y: Form) -> bool:
        """Return whether x is known never to exceed y."""
        f = minus(y, x, 1)
        lo, hi = self.range(f)
        return lo >= 0 or (hi >= 0 and self._with_one_argument(f, lo) >= 0)

    def _with_one_argument(self, f: Form, lo: int) -> int:
        """Raise the lower bound ``lo`` of a sum by replacing one extremum in it by each of its arguments."""
        for i, (a, k) in enumerate(f[1]):
            t = self.kind[a]
            if t == MINIMUM or t == MAXIMUM:
                rest = f[0], f[1][:i] + f[1][i + 1 :]
                ends = [self.range(minus(rest, p, -k))[0] for p in self.parts[a]]
                lo = max(lo, max(ends) if (t == MAXIMUM) == (k > 0) else min(ends))
        return lo

    def differ(self, x: Form, y: Form) -> bool:
        """Return whether x and y are known never to be equal."""
        f = minus(x, y, 1)
        lo, hi = self.range(f)
        if lo > 0 or hi < 0:
            return True
        g = gcd(*[k for _, k in f[1]])
        return f[0] % g != 0 if g else False

    def divides(self, d: int, f: Form) -> bool:
        """Return whether d is not zero and is known to divide the form."""
        if not d or f[0] % d:
            return False
        return all([not k % d or self._multiple(a, k, d) for a, k in f[1]])

    def _multiple(self, a: int, k: int, d: int) -> bool:
        """Return whether d is known to divide ``k`` times an extremum, by dividing all arguments, or a remainder."""
        t = self.kind[a]
        if t == MINIMUM or t == MAXIMUM:
            return all([self.divides(d, times(p, k)) for p in self.parts[a]])
        return t == REMAINDER and not k * self.divisor[a] % d and self.divides(d, times(self.arg[a], k))

    # ---------------------------------------------------------------- of atoms
    def _atom(self, kind: int, arg: Form, d: int) -> Form:
        """Return the quotient or the remainder of ``arg`` by ``d > 0``; its range follows from that of ``arg``."""
        lo, hi = self._span_of_division(kind, arg, d)
        if self.index is not None:
            a = len(self.kind)
            found = self.index.setdefault((kind, arg, d), a)
            if found != a:
                return self._again(found, lo, hi)
            if self.coarse:
                self._new(kind, arg, d, lo, hi)
                self._refine(a)
                return self._again(a, lo, hi)
        f = self._new(kind, arg, d, lo, hi)
        return f if lo < hi else self.settled(lone(f))

    def _span_of_division(self, kind: int, x: Form, d: int) -> tuple[int, int]:
        """Return bounds of ``x // d`` or of ``x % d`` for a positive d."""
        lo, hi = self.range(x)
        if kind == QUOTIENT:
            return lo // d, hi // d
        if lo // d == hi // d:
            return lo % d, hi % d
        m = self.known_remainder(x, d)
        return (0, d - 1) if m is None else (m, m)

    def _again(self, a: int, lo: int, hi: int) -> Form:
        """Narrow the range of an existing atom; return the atom, or its value if it has only one now."""
        lo, hi = max(lo, self.lo[a]), min(hi, self.hi[a])
        if lo > self.lo[a] or hi < self.hi[a]:
            self.lo[a], self.hi[a] = lo, hi
            self.narrower.append(a)
            self.sharp.clear()
        return atom(a) if lo < hi else self.settled(a)

    def settled(self, a: int) -> Form:
        """Return the value of an atom with only one value (:class:`.Kernel`)."""
        raise NotImplementedError("settled")

    # ---------------------------------------------------------------- what is known
    def _narrow(self, f: Form, lo: int, hi: int) -> None:
        """Add the fact ``lo <= f <= hi``, and propagate it to the atoms of the form and to dividends."""
        los, his = self.lo, self.hi
        todo = [(f, lo, hi)]
        while todo:
            (c, terms), lo, hi = todo.pop()
            if not terms:
                continue
            terms, lo, hi = self._know_sum(terms, lo - c, hi - c)
            least, most = self._span(0, terms)
            for a, k in terms:
                # the bounds of this summand that the others leave
                if k > 0:
                    low, high = lo - (most - k * his[a]), hi - (least - k * los[a])
                else:
                    low, high = lo - (most - k * los[a]), hi - (least - k * his[a])
                    low, high, k = -high, -low, -k
                low = -(-low // k)
                high = high // k
                narrower = False
                if low > los[a] and low > -FAR:
                    los[a] = low
                    narrower = True
                if high < his[a] and high < FAR:
                    his[a] = high
                    narrower = True
                if narrower:
                    self.narrower.append(a)
                    if self.kind[a] == QUOTIENT:
                        d = self.divisor[a]
                        todo.append((self.arg[a], los[a] * d, his[a] * d + d - 1))

    def _know_sum(self, terms: Terms, lo: int, hi: int) -> tuple[Terms, int, int]:
        """Record the ends of a sum without constant; return them after division by the signed common factor."""
        g = gcd(*[k for _, k in terms])
        if terms[0][1] < 0:
            g = -g
            lo, hi = hi, lo
        self.sharp.clear()
        lo = -(-lo // g)
        hi = hi // g
        if lo < -FAR:
            lo = min(lo, -END)
        if hi > FAR:
            hi = max(hi, END)
        terms = tuple([(a, k // g) for a, k in terms])
        if len(terms) > 1:
            old = self.facts.get(terms)
            if old is not None:
                lo, hi = max(lo, old[0]), min(hi, old[1])
            self.leading.add(terms[0][0])
            self.sums[terms] = self.facts[terms] = lo, hi
            self.facts[tuple([(a, -k) for a, k in terms])] = -hi, -lo
        return terms, lo, hi

    def _know_digits(self) -> None:
        """Derive ranges of fine digits from facts about coarser digits of the same dividend (:meth:`_refine`)."""
        self.coarse.clear()
        of_sums = {t[0] for part in self.sums for t in part}
        for a, t in enumerate(self.kind):
            if t == QUOTIENT or t == REMAINDER:
                x, n, m = self._digit(a)
                if n > 1 and (a in of_sums or (m and self.hi[a] - self.lo[a] < m // n - 1)):
                    self.coarse.setdefault((x, m), []).append((n, a))
        if self.coarse:
            for a, t in enumerate(self.kind):
                if t == QUOTIENT or t == REMAINDER:
                    self._refine(a)

    def _digit(self, a: int) -> tuple[Form, int, int]:
        """Return ``(x, n, m)`` such that the atom is ``x // n``, or ``x % m // n`` if m is not 0."""
        x, d = self.arg[a], self.divisor[a]
        if self.kind[a] == QUOTIENT:
            return x, d, 0
        q = lone(x)
        if q >= 0 and self.kind[q] == QUOTIENT:
            d *= self.divisor[q]
            return self.arg[q], self.divisor[q], d
        return x, 1, d

    def _refine(self, a: int) -> None:
        """Narrow the digit ``a = g·t + r``, ``0 <= r < g``, by the facts about coarser digits ``t``."""
        x, n, m = self._digit(a)
        for coarse, t in self.coarse.get((x, m), ()):
            g = coarse // n
            if g < 2 or coarse % n:
                continue
            self.lo[a] = max(self.lo[a], g * self.lo[t])
            self.hi[a] = min(self.hi[a], g * self.hi[t] + g - 1)
            self.narrower.append(a)
            if len(self.sums) > MANY:
                continue
            for part, (lo, hi) in list(self.sums.items()):
                if len(part) > FEW:
                    continue
                total = dict(part)
                k = total.pop(t, 0)
                if not k or a in total:
                    continue
                total = {b: g * j for b, j in total.items()}
                total[a] = k
                lo, hi = g * lo, g * hi
                if k > 0:
                    hi += k * (g - 1)
                else:
                    lo += k * (g - 1)
                self._know_sum(tuple(sorted(total.items())), lo, hi)

    def known_remainder(self, x: Form, d: int) -> int | None:
        """Return the value of ``x % d`` if d divides all coefficients or facts determine it, or else ``None``."""
        if not self.exact:
            for _, k in x[1]:
                if k % d:
                    return None
            return x[0] % d
        left, known = self.unknown_part(x, d)
        return None if left else x[0] % d if known < 0 else known

    def unknown_part(self, x: Form, d: int) -> tuple[dict[int, int], int]:
        """Return the summands of x whose remainder by d is unknown, and the remainder of the others or -1 for none.

        A sum that is r modulo n contributes ``j·r`` modulo d if x contains it j times and d divides ``j·n``.
        """
        c, terms = x
        left = {a: k for a, k in terms if k % d} if d > 1 else {}
        found = False
        for (body, n), r in self.exact.items():
            if not left:
                break
            j = 0
            for a, k in body:
                # the other coefficients vanish modulo d
                if k % d:
                    j = left.get(a, 0) // k
                    break
            if not j or j * n % d:
                continue
            for b, i in body:
                if (left.get(b, 0) - j * i) % d:
                    break
            else:
                for b, _ in body:
                    left.pop(b, None)
                c += j * r
                found = True
        return left, c % d if found else -1
