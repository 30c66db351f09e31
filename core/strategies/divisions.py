"""Propose rules for quotients and remainders by constants.

One pass over the summands of a dividend proposes, in this order: a known residue, a range within one block of the
divisor, a quotient that leaves such a range, multiples that leave the division, a common factor.  Nothing here is
trusted: the code of the rules checks every proposal.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import gcd
from typing import Any, Final

from ..kernel.form import QUOTIENT, REMAINDER, VARIABLE, Form, Terms, minus
from ..kernel.kernel import MATCHED, Bounds, Kernel, Proposal

__all__ = ["Divisions"]

#: Limit on the two-valued variables that :meth:`Divisions._straight` tries in both ways.
PAIRS: Final = 3


def magnitude(t: tuple[int, int]) -> int:
    return -abs(t[1])


class Divisions(Kernel):
    """Proposes rules for quotients and remainders."""

    def __init__(self, bounds: Bounds, *, keep_points: bool = False, record: Any = None) -> None:
        super().__init__(bounds, keep_points=keep_points, record=record)
        #: the dividend left after multiples of the divisor were taken out, and whether its quotient may be linear
        self.left: tuple[int, Terms, int, int] = (0, (), 0, 0)
        self.narrow = False

    def propose_for_division(self, kind: int, x: Form, d: int) -> Iterator[Proposal]:
        """Propose rules for a quotient or a remainder."""
        c, terms = x
        if d <= 1:
            yield MATCHED
            return
        if self.left == (kind, terms, c, d):
            narrow = self.narrow
        else:
            if kind == REMAINDER and self.exact:
                unknown, m = self.unknown_part(x, d)
                if m >= 0 and not unknown:
                    return
                if m >= 0:
                    yield "known_residue", (minus(x, (0, tuple(sorted(unknown.items()))), 1),)
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
            facts = False
            if q != hi // d and self.facts and len(rest) > 1 and self._spoken_of(rest):
                facts = True
                lo, hi = self.range((c, rest))
                q = lo // d
            if q == hi // d:
                # the rest stays within one block of the divisor
                if out:
                    yield "coefficient_quotients", ((q, out),)
                else:
                    yield "block_of_range", (q,)
            # without facts, the nearest remainders give the narrowest rest
            narrow = near < d
            if reducible and (narrow or facts):
                f = self._certified(c, rest, d, facts)
                if f is not None:
                    yield "coefficient_quotients", ((f[0], tuple(sorted([*out, *f[1]]))),)
            n = c // d
            if out or n:
                # none of the above applies to the rest
                self.left = kind, rest, c - n * d, d
                self.narrow = narrow
                yield "multiples", ((n, out),)
        kinds = self.kind
        structured = any([kinds[a] != VARIABLE for a, _ in terms])
        if structured and kind == REMAINDER:
            yield MATCHED
        low = self._low_part(x, d)
        if low is not None:
            yield "common_factor", low
        if structured and kind == QUOTIENT:
            yield MATCHED
        if c == d - 1 and all([k < 0 for _, k in terms]):
            yield "complement", ()
        line = self._straight(x, d) if narrow else None
        if line is not None:
            yield "coefficient_quotients", (line,)

    def _certified(self, c: int, terms: Terms, d: int, facts: bool) -> tuple[int, list[tuple[int, int]]] | None:
        """Return ``(q, quotient terms)`` if some choice of coefficient quotients leaves a rest within one block.

        ``facts`` says whether facts may speak of sums of these terms.
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
                    lo, hi = self.range((c, tuple(rs)))
                    q = lo // d
                    if q == hi // d:
                        return q, qs
            if same:
                break
        return None

    def _straight(self, x: Form, d: int) -> Form | None:
        """Return the quotient ``x // d`` if it is linear because some variables have only two values.

        Any function of such a variable is linear, so both remainders of its coefficient are tried.  The other
        coefficients use their nearest remainder.
        """
        los, his = self.lo, self.hi
        if all([his[a] - los[a] != 1 for a, _ in x[1]]):
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

    def _low_part(self, x: Form, d: int) -> tuple[int, Form] | None:
        """Return ``(g, y)`` such that g divides d and ``0 <= x - g·y < g``, or ``None``."""
        los, his = self.lo, self.hi
        c, terms = x
        if len(terms) == 1:
            k = terms[0][1]
            # a fast path for a single variable
            g = 1 if k == 1 else gcd(d, k)
            if g == 1:
                return None
            n = c // g
            return g, (n, ((terms[0][0], k // g),))
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
        # a smallest summand without common factor belongs to the rest, which is too wide then
        if smallest * (his[last] - los[last]) >= g and (smallest == 1 or gcd(g, smallest) == 1) and not facts:
            return None
        if len(terms) > 2:
            ordered = sorted(terms, key=magnitude)
        else:
            ordered = list(terms)
            if first != terms[0][0]:
                ordered.reverse()
        # the greatest common divisors of the prefixes
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
        # the longest prefix has the smallest factor; a shorter one has a larger factor, with room for a wider rest
        while i:
            g = gs[i - 1]
            m = (c + lo) // g
            room = m == (c + hi) // g
            if facts and not room and len(ordered) - i > 1:
                low, high = self.range((c, tuple(sorted(ordered[i:]))))
                m = low // g
                room = m == high // g
            if room:
                return g, (m, tuple(sorted([(a, k // g) for a, k in ordered[:i]])))
            i -= 1
            a, k = ordered[i]
            if k > 0:
                lo += k * los[a]
                hi += k * his[a]
            else:
                lo += k * his[a]
                hi += k * los[a]
        return None
