"""The engine: one bottom-up pass over linear forms, with ranges.

A *form* is ``(constant, ((atom, coefficient), ...))`` with atoms as integers in increasing order; an atom is a variable,
a quotient, a remainder, a minimum, a maximum or something opaque.  Forms are plain tuples of integers, so equality and
hashing are those of tuples, and every form that leaves :meth:`Engine.add`, :meth:`Engine.floordiv` and
:meth:`Engine.mod` is in normal form.

The engine *finds*: it looks for a rule whose left side the form at hand is, and for the values of the rule's variables.
The rules *act*: what happens then is a method compiled from the declaration (:mod:`.compiler`), which evaluates the
rule's right side with :meth:`add`, :meth:`scale`, :meth:`floordiv` and :meth:`mod`, so that nothing is visited twice.
Conditions on ranges are what the engine has just computed; a recorded run is checked against the declarations by
:mod:`indexproof.verify.derivation`.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import gcd, inf
from typing import Any, Final, TypeAlias

from .actions import Actions, Form
from .expr import (
    Binary,
    CeilDiv,
    Expr,
    Extremum,
    FloorDiv,
    Int,
    Max,
    Min,
    Mod,
    Sum,
    Var,
    distinct_sum,
    floordiv,
    integer,
    maximum,
    minimum,
    mod,
    postorder,
    rebuild,
)

__all__ = ["Engine", "Excess", "Form"]

Terms: TypeAlias = tuple[tuple[int, int], ...]

VARIABLE: Final = 0
QUOTIENT: Final = 1
REMAINDER: Final = 2
MINIMUM: Final = 3
MAXIMUM: Final = 4
OPAQUE: Final = 5
ZERO: Final[Form] = (0, ())

#: Expressions nested deeper than this are read without recursion, and written as they are.
DEEPEST: Final = 200

#: So many more summands than twice the cost of what was read the quotients and remainders of its normal form may have.
EXCESS: Final = 64

#: Of so many variables with two values a linear quotient is looked for.
PAIRS: Final = 3

#: Sums of so many atoms are used for sums that are no multiples of them, in so many proportions.
FEW: Final = 6
#: Where more sums are known nothing is added about digits, so that time grows with the size of a map and not faster.
MANY: Final = 64

#: Ranges are pairs of integers.  What has no end, or one farther than ``_FAR``, ends at ``_END``; constants and divisors
#: beyond ``_LARGE`` are refused there, so no sum or quotient brings an end back to where numbers are.
_LARGE: Final = 1 << 1024
_FAR: Final = 1 << 4096
_END: Final = 1 << 8192
#: Nearly all ends are nearer than this, which takes no arithmetic of long integers to see.
_NEAR: Final = 1 << 60


def _lone(f: Form) -> int:
    """The atom that is all of the form, or -1."""
    if f[0] or len(f[1]) != 1 or f[1][0][1] != 1:
        return -1
    return f[1][0][0]


def _contains(total: dict[int, int], terms: Terms, k: int, without: int) -> bool:
    """Whether ``k·terms`` is part of the sum, not counting the atom ``without``; k is not zero."""
    for a, j in terms:
        if total.get(a, 0) != k * j or a == without:
            return False
    return True


def _without(c: int, total: dict[int, int], terms: Terms, a: int) -> Form:
    """The rest of the sum when ``terms`` and the atom ``a`` are taken out."""
    gone = {t[0] for t in terms}
    gone.add(a)
    return c, tuple(sorted([t for t in total.items() if t[0] not in gone]))


def _finite(end: int | float) -> int:
    """The end of a range, infinite ends as numbers."""
    if isinstance(end, float):
        return _END if end > 0 else -_END
    return end


def _magnitude(t: tuple[int, int]) -> int:
    return -abs(t[1])


class Excess(Exception):
    """What is read has normal forms that are much larger than it is."""


class Engine(Actions):
    """Forms over one domain.

    ``bounds`` maps variables to pairs of ends, integers or infinite floats.  Raises :class:`OverflowError` where a variable
    is unbounded and a number larger than any program's meets it.  A variable with a single value is replaced
    by it unless ``keep_points``.  A subclass supplies the actions.
    """

    def __init__(self, bounds: dict[Any, Any], *, keep_points: bool = False, record: Any = None) -> None:
        #: per atom: kind, range, and of quotients and remainders what is divided by what
        self.kind: list[int] = []
        self.lo: list[int] = []
        self.hi: list[int] = []
        self.arg: list[Form] = []
        self.divisor: list[int] = []
        #: the arguments of minima and maxima
        self.parts: dict[int, tuple[Form, ...]] = {}
        #: whether some atom has no lower or no upper end
        self.unbounded = False
        self.expr: list[Expr | None] = []
        self.bounds = bounds
        #: called with the name of a rule and its values in the order of ``Rule.variables``
        self.record = record
        #: no more than the cost of what was read, a division counted as three operations (:mod:`.cost`)
        self.spent = 0
        #: how many summands the atoms made since then have, and whether more than :data:`EXCESS` allows are refused
        self.volume = 0
        self.limited = False
        self.bodies: set[Any] = set()
        #: whether what is recorded is a spelling of finished normal forms
        self.spelling = False
        self.keep_points = keep_points
        #: how many divisions and extrema the expression at hand is inside of, and how many any has been
        self.level = 0
        self.deepest = 0
        #: what is known about sums and their opposites; the same of those alone that begin with a positive coefficient, and
        #: the atoms that they begin with
        self.facts: dict[Terms, tuple[int, int]] = {}
        self.sums: dict[Terms, tuple[int, int]] = {}
        self.leading: set[int] = set()
        #: digits about which something is known, with what they are above: by what they are digits of
        self.coarse: dict[tuple[Form, int], list[tuple[int, int]]] = {}
        self.memo: dict[Expr, Form] = {}
        self.extrema: dict[tuple[bool, tuple[Form, ...]], Form] = {}
        #: by the terms and the constant of the dividend and the divisor
        self.quotients: dict[tuple[Terms, int, int], Form] = {}
        self.remainders: dict[tuple[Terms, int, int], Form] = {}
        #: the quotients that belong to remainders, by those: some are asked for often, and forms are dear to look up
        self.above: dict[int, Form] = {}
        #: remainders and quotients that have been seen not to belong together
        self.apart: set[tuple[int, int]] = set()
        self.opaque: dict[Expr, Form] = {}
        #: remainders modulo d that sums without their constant are known to have
        self.exact: dict[tuple[Terms, int], int] = {}
        #: atoms by what they are made of; kept once something is known about atoms
        self.index: dict[tuple[int, Any, int], int] | None = None

    def refuse(self, rule: str, values: tuple[Any, ...]) -> None:
        """Raise :class:`AssertionError`: the engine has proposed something that is no instance of the rule."""
        raise AssertionError(f"{rule} does not apply to {values}")

    # ---------------------------------------------------------------- reading
    def read(self, e: Expr) -> Form:
        """The normal form of ``e``."""
        found = self.memo.get(e)
        if found is not None:
            return found
        try:
            return self._read(e)
        except RecursionError:
            self.level = 0
            self.deepest = DEEPEST
            for node in postorder(e, known=self.memo):
                self._read(node)
            return self.memo[e]

    def _read(self, e: Expr) -> Form:
        t = type(e)
        memo = self.memo
        if t is Sum:
            # the class is known: compiled, an assignment checks it and what follows is native
            s: Sum = e  # type: ignore[assignment]
            c = s.const
            terms = s.terms
            if c:
                self.spent += 1
            bodies = self.bodies
            had = len(bodies)
            bodies.add(terms)
            if len(bodies) > had:
                self.spent += len(terms) - 1
            total: dict[int, int] = {}
            interesting = 0
            kind = self.kind
            for a, k in terms:
                f = memo.get(a)
                if f is None:
                    f = self._read(a)
                n, ts = f
                if n:
                    c += k * n
                for b, j in ts:
                    if kind[b]:
                        interesting += 1
                    if b in total:
                        j = total[b] + j * k
                        if j:
                            total[b] = j
                        else:
                            del total[b]
                    else:
                        total[b] = j * k
            if interesting and len(total) > 1:
                f = self.recombine(c, total)
            else:
                f = (c, tuple(sorted(total.items())))
        elif t is FloorDiv or t is Mod:
            self.spent += 3
            q: Binary = e  # type: ignore[assignment]
            by = q.b
            f = memo.get(q.a) or self._below(q.a)
            if type(by) is Int:
                f = self.floordiv(f, by.value) if t is FloorDiv else self.mod(f, by.value)
            else:
                f = self._opaque(e)
        elif t is Var:
            box = self.bounds.get(e)
            lo, hi = (-_END, _END) if box is None else (_finite(box[0]), _finite(box[1]))
            if lo == hi and not self.keep_points:
                memo[e] = f = self._pinned(e, lo)
                return f
            f = self._new(VARIABLE, ZERO, 0, lo, hi)
            self.expr[-1] = e
        elif t is Int:
            literal: Int = e  # type: ignore[assignment]
            f = (literal.value, ())
        elif t is Min or t is Max:
            of: Extremum = e  # type: ignore[assignment]
            f = self.extremum(t is Min, [memo.get(a) or self._below(a) for a in of.args])
        elif t is CeilDiv:
            up: CeilDiv = e  # type: ignore[assignment]
            by = up.b
            if type(by) is Int:
                f = memo.get(up.a) or self._below(up.a)
                d = by.value
                f = self.ceiling_of_positive(d, f) if d > 0 else self.ceiling_of_negative(d, f)
            else:
                f = self._opaque(e)
        else:
            f = self._opaque(e)
        memo[e] = f
        return f

    def _below(self, e: Expr) -> Form:
        """:meth:`_read` one level down.  Raises :class:`RecursionError` where that would be too deep."""
        self.level += 1
        if self.level > self.deepest:
            if self.level > DEEPEST:
                raise RecursionError
            self.deepest = self.level
        f = self._read(e)
        self.level -= 1
        return f

    def _pinned(self, e: Expr, n: int) -> Form:
        """The constant that an expression is known to be."""
        if self.record is not None:
            self.record("value_known", (n, e))
        return n, ()

    def know(self, e: Expr, lo: int | float, hi: int | float, *, more: bool = False) -> None:
        """From now on ``lo <= e <= hi``.  Call it before :meth:`read`; what was read before is forgotten.

        ``more`` says that it is called again at once, and what follows for digits can wait.
        """
        self._narrow(self.read(e), _finite(lo), _finite(hi))
        self.index = {}
        for a, t in enumerate(self.kind):
            if t == QUOTIENT or t == REMAINDER:
                self.index.setdefault((t, self.arg[a], self.divisor[a]), a)
        kept: dict[Expr, Form] = {}
        for v, f in self.memo.items():
            if type(v) is Var:
                if f[1] and not self.keep_points:
                    a = f[1][0][0]
                    if self.lo[a] == self.hi[a]:
                        f = self._pinned(v, self.lo[a])
                kept[v] = f
        self.memo = kept
        for a, t in enumerate(self.kind):
            if t == REMAINDER and self.lo[a] == self.hi[a]:
                x, d = self.arg[a], self.divisor[a]
                self.exact[x[1], d] = (self.lo[a] - x[0]) % d
        self.quotients.clear()
        self.remainders.clear()
        self.above.clear()
        self.apart.clear()
        if not more:
            self._know_digits()

    def _know_digits(self) -> None:
        """Prepare what is known about digits for the digits that have more to them (:meth:`_refine`)."""
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
        """``(x, n, m)`` where the quotient or remainder is ``x // n``, or ``x % m // n`` where m is not 0."""
        x, d = self.arg[a], self.divisor[a]
        if self.kind[a] == QUOTIENT:
            return x, d, 0
        q = _lone(x)
        if q >= 0 and self.kind[q] == QUOTIENT:
            d *= self.divisor[q]
            return self.arg[q], self.divisor[q], d
        return x, 1, d

    def _refine(self, a: int) -> None:
        """What is known about the digit ``t`` is known about ``a = g·t + r`` with ``0 <= r < g``."""
        x, n, m = self._digit(a)
        for coarse, t in self.coarse.get((x, m), ()):
            g = coarse // n
            if g < 2 or coarse % n:
                continue
            self.lo[a] = max(self.lo[a], g * self.lo[t])
            self.hi[a] = min(self.hi[a], g * self.hi[t] + g - 1)
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

    def _know_sum(self, terms: Terms, lo: int, hi: int) -> tuple[Terms, int, int]:
        """Remember the ends of a sum without constant; they and the sum without common factors, first a positive one."""
        g = gcd(*[k for _, k in terms])
        if terms[0][1] < 0:
            g = -g
            lo, hi = hi, lo
        lo = -(-lo // g)
        hi = hi // g
        if lo < -_FAR:
            lo = -_END
        if hi > _FAR:
            hi = _END
        terms = tuple([(a, k // g) for a, k in terms])
        if len(terms) > 1:
            old = self.facts.get(terms)
            if old is not None:
                lo, hi = max(lo, old[0]), min(hi, old[1])
            self.leading.add(terms[0][0])
            self.sums[terms] = self.facts[terms] = lo, hi
            self.facts[tuple([(a, -k) for a, k in terms])] = -hi, -lo
        return terms, lo, hi

    def known_remainder(self, x: Form, d: int) -> int | None:
        """The only value of ``x % d``, where a constraint says so, perhaps of a multiple of d."""
        left, known = self.unknown_part(x, d)
        return known if not left and known >= 0 else None

    def unknown_part(self, x: Form, d: int) -> tuple[dict[int, int], int]:
        """The summands of x of whose remainders by d nothing is known, and the remainder of the others; -1 for none.

        A sum that is r modulo n is ``j·r`` modulo d when it is taken j times and d divides ``j·n``.
        """
        c, terms = x
        left = {a: k for a, k in terms if k % d} if d > 1 else {}
        found = False
        for (body, n), r in self.exact.items():
            if not left:
                break
            a, k = body[0]
            j = left.get(a, 0) // k
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

    def _narrow(self, f: Form, lo: int, hi: int) -> None:
        """Use ``lo <= f <= hi`` for the form, for its atoms, and for what they are made of."""
        los, his = self.lo, self.hi
        todo = [(f, lo, hi)]
        while todo:
            (c, terms), lo, hi = todo.pop()
            if not terms:
                continue
            terms, lo, hi = self._know_sum(terms, lo - c, hi - c)
            least, most = self._span(0, terms)
            for a, k in terms:
                # what the other summands leave for this one
                if k > 0:
                    low, high = lo - (most - k * his[a]), hi - (least - k * los[a])
                else:
                    low, high = lo - (most - k * los[a]), hi - (least - k * his[a])
                    low, high, k = -high, -low, -k
                low = -(-low // k)
                high = high // k
                narrower = False
                if low > los[a] and low > -_FAR:
                    los[a] = low
                    narrower = True
                if high < his[a] and high < _FAR:
                    his[a] = high
                    narrower = True
                if narrower and self.kind[a] == QUOTIENT:
                    d = self.divisor[a]
                    todo.append((self.arg[a], los[a] * d, his[a] * d + d - 1))

    # ---------------------------------------------------------------- sums
    def ends(self, e: Expr) -> tuple[int | float, int | float]:
        """Bounds of every value the expression takes, infinite where there are none."""
        lo, hi = self.range(self.read(e))
        return -inf if lo < -_FAR else lo, inf if hi > _FAR else hi

    def range(self, f: Form) -> tuple[int, int]:
        """Bounds of every value the form takes; what is unbounded has ends farther than any number."""
        c, terms = f
        lo, hi = self._span(c, terms)
        if self.facts and len(terms) > 1 and self._spoken_of(terms):
            return self._sharper(c, terms, lo, hi)
        return lo, hi

    def _spoken_of(self, terms: Terms) -> bool:
        """Whether something may be known about a part of the sum."""
        leading = self.leading
        for t in terms:
            if t[0] in leading:
                return True
        return False

    def _span(self, c: int, terms: Terms) -> tuple[int, int]:
        """Bounds of a sum from those of its atoms."""
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
        """Bounds of a sum, ``lo`` and ``hi`` from its atoms, with what is known about it and about sums in it.

        Of the sums that it is made of each summand is used once.
        """
        known = self.facts.get(terms)
        if known is not None:
            lo = max(lo, known[0] + c)
            hi = min(hi, known[1] + c)
        total = dict(terms)
        from_ = to = c
        for part, (low, high) in self.sums.items():
            a, k = part[0]
            n = total.get(a, 0)
            g = n // k
            if not n or g * k != n or len(part) > len(total) or not _contains(total, part, g, -1):
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
                    lo, hi = self._in_proportion(c, total, part, low, high, lo, hi)
        return lo, hi

    def _in_proportion(
        self, c: int, total: dict[int, int], part: Terms, low: int, high: int, lo: int, hi: int
    ) -> tuple[int, int]:
        """Bounds of a sum, ``lo`` and ``hi`` so far, from those of another one of which it has several atoms.

        ``q`` times the sum is ``p·part`` and what is left of both, where p : q is such that an atom is not left.
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
        # of a single one all is known by its own ends; in one proportion it is a multiple, or nearly
        if shared < 2 or (len(proportions) == 1 and shared == len(part) and proportions[0][1] == 1):
            return lo, hi
        for p, q in proportions:
            left = {b: q * j for b, j in total.items()}
            for b, j in part:
                left[b] = left.get(b, 0) - p * j
            least, most = self._span(0, tuple(left.items()))
            if p > 0:
                least += p * low
                most += p * high
            else:
                least += p * high
                most += p * low
            lo = max(lo, c - -least // q)
            hi = min(hi, c + most // q)
        return lo, hi

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
                    return self.exact_quotient_multiplies(d, m, _without(c, total, (), a), v, -w, x)
            f = self._subtracted(c, total, a, v)
            if f is not None:
                return f
        return None

    def _subtracted(self, c: int, total: dict[int, int], a: int, v: int) -> Form | None:
        """The sum with a remainder where v times the quotient ``a`` and its dividend are part of it, if they are."""
        x, d = self.arg[a], self.divisor[a]
        w = -v // d
        if not x[1] or not _contains(total, x[1], w, a):
            return None
        n, rest = _without(c - w * x[0], total, x[1], a)
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
                        r = _without(c, total, ((b, v),), a)
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
            if x[1] and _contains(total, x[1], -w, a):
                r = _without(c + w * x[0], total, x[1], a)
                return self.remainder_subtracts_to_quotient(d, r, w, -w, x)
            for b, v in total.items():
                if not v % p and b != a:
                    break
            else:
                continue  # no summand can belong to the quotient
            q = self.quotient_above(a)
            if not q[1]:
                continue
            if _contains(total, q[1], p, a):
                r = _without(c - p * q[0], total, q[1], a)
                return self.quotient_and_remainder_recombine(d, p, q, r, w, x)
            # the quotient of something congruent, which has the same remainder
            for b, v in total.items():
                if v != p or kind[b] != QUOTIENT or divisor[b] % d:
                    continue
                if divisor[b] == d:
                    if _lone(self.mod(arg[b], d)) == a:
                        t: Form = (0, ((b, 1),))
                        r = _without(c, total, t[1], a)
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
                        return self.digits_recombine(d, n, p, q, _without(c, total, t[1], a), t, w, x, z)
                if n in tried:
                    continue
                tried.add(n)
                t = self.mod(q, n)
                if t[1] and _contains(total, t[1], p, a):
                    r = _without(c - p * t[0], total, t[1], a)
                    return self.digits_recombine(d, n, p, q, r, t, w, x, ZERO)
        return None

    def _divided_before(self, x: Form, d: int, a: int, b: int) -> Form | None:
        """The k with ``x // d = b + k`` where the quotient b is ``y // (d·n)`` and ``y // n`` has the remainder of x.

        ``a`` is ``x % d``; None where there is no such k.
        """
        if (a, b) in self.apart or any([t[0] == b for t in x[1]]):
            return None
        z = self.floordiv(self.arg[b], self.divisor[b] // d)
        if _lone(self.mod(z, d)) != a or _lone(self.floordiv(z, d)) != b:
            self.apart.add((a, b))
            return None
        n, terms = self.add(x, self.scale(z, -1))
        if n % d or any([k % d for _, k in terms]) or any([t[0] == b for t in terms]):
            return None
        return n // d, tuple([(e, k // d) for e, k in terms])

    def floordiv(self, x: Form, d: int) -> Form:
        """``x // d``."""
        # of any type: compiled, it is made once and not at each use
        key: Any = (x[1], x[0], d)
        f = self.quotients.get(key)
        if f is None:
            f = self.quotients[key] = self._floordiv(x, d)
        return f

    def quotient_above(self, a: int) -> Form:
        """``x // d`` for the remainder ``x % d``."""
        f = self.above.get(a)
        if f is None:
            f = self.above[a] = self.floordiv(self.arg[a], self.divisor[a])
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
        # the smallest one belongs to what is left, for which there may be no room, unless it has a factor in common as well
        if smallest * (his[last] - los[last]) >= g and (smallest == 1 or gcd(g, smallest) == 1):
            return None
        if len(terms) > 2:
            ordered = sorted(terms, key=_magnitude)
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
            if m == (c + hi) // g:
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
                    q = _lone(self.arg[a])
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
            q = _lone(arg[a])
            if q < 0 or kind[q] != QUOTIENT:
                continue
            e, n, y = divisor[q], divisor[a], arg[q]
            for b, v in terms:
                if kind[b] == QUOTIENT and divisor[b] == e * n and arg[b] == y and not v % n:
                    r = c, tuple([t for t in terms if t[0] != a and t[0] != b])
                    return self.quotient_absorbs_digit(e, d, e * n, n, r, v, y)
        return None

    def _atom(self, kind: int, arg: Form, d: int, lo: int, hi: int) -> Form:
        """The quotient or the remainder ``arg`` by ``d``."""
        if self.index is not None:
            a = len(self.kind)
            found = self.index.setdefault((kind, arg, d), a)
            if found != a:
                return self._again(found, lo, hi)
            if self.coarse:
                f = self._new(kind, arg, d, lo, hi)
                self._refine(a)
                return f if self.lo[a] < self.hi[a] else self._again(a, lo, hi)
        return self._new(kind, arg, d, lo, hi)

    def _again(self, a: int, lo: int, hi: int) -> Form:
        """An atom that was there before something became known, and what it is known to be now."""
        lo, hi = max(lo, self.lo[a]), min(hi, self.hi[a])
        self.lo[a], self.hi[a] = lo, hi
        if lo < hi:
            return 0, ((a, 1),)
        if self.record is not None:
            e = self.write((0, ((a, 1),)))
            # what is written is remembered as the atom that it is
            self.memo[e] = self._pinned(e, lo)
        return lo, ()

    def _new(self, kind: int, arg: Form, d: int, lo: int, hi: int) -> Form:
        if lo < -_NEAR and lo < -_FAR:
            lo = -_END
            self.unbounded = True
        if hi > _NEAR and hi > _FAR:
            hi = _END
            self.unbounded = True
        self.volume += len(arg[1])
        if self.limited and self.volume > EXCESS + 2 * self.spent:
            raise Excess
        a = len(self.kind)
        self.kind.append(kind)
        self.lo.append(lo)
        self.hi.append(hi)
        self.arg.append(arg)
        self.divisor.append(d)
        self.expr.append(None)
        return 0, ((a, 1),)

    def _refuse_large(self, x: Form, d: int) -> None:
        """Raise :class:`OverflowError` for numbers that reach the ends of what is unbounded."""
        if d > _LARGE or d < -_LARGE or abs(x[0]) > _LARGE or any([abs(k) > _LARGE for _, k in x[1]]):
            raise OverflowError("numbers of more than 300 digits with unbounded variables")

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

    # ---------------------------------------------------------------- minimum and maximum
    def extremum(self, least: bool, forms: Iterable[Form]) -> Form:
        """The smallest (``least``) or the largest of several forms."""
        own, other = (MINIMUM, MAXIMUM) if least else (MAXIMUM, MINIMUM)
        # nested extrema and literals are merged first, as the constructors of expressions do
        flat: list[Form] = []
        literal: int | None = None
        stack = list(forms)
        stack.reverse()
        while stack:
            f = stack.pop()
            a = _lone(f)
            if a >= 0 and self.kind[a] == own:
                stack.extend(reversed(self.parts[a]))
            elif not f[1]:
                n = f[0]
                if literal is None or (n < literal) == least:
                    literal = n
            else:
                flat.append(f)
        if literal is not None:
            flat.append((literal, ()))
        args: list[Form] = []
        todo = flat
        todo.reverse()
        while todo:
            f = todo.pop()
            for g in args:
                winner = self._winner(least, own, other, g, f)
                if winner is not None:
                    break
            else:
                args.append(f)
                continue
            if winner != g:
                args.remove(g)
                todo.append(winner)
        if len(args) == 1:
            return args[0]
        constants = [f[0] for f in args if f[1]]
        if all(constants):
            c = min(constants, key=lambda n: (abs(n), n))
            x, y = args[0], self.extremum(least, args[1:])
            return self.min_shifts(c, x, y) if least else self.max_shifts(c, x, y)
        args.sort()
        key = (least, tuple(args))
        found = self.extrema.get(key)
        if found is not None and self.index is None:
            return found
        ranges = [self.range(f) for f in args]
        lows, highs = [r[0] for r in ranges], [r[1] for r in ranges]
        lo, hi = (min(lows), min(highs)) if least else (max(lows), max(highs))
        if found is not None:
            return self._again(found[1][0][0], lo, hi)
        found = self.extrema[key] = self._new(own, ZERO, 0, lo, hi)
        self.parts[found[1][0][0]] = key[1]
        return found

    def _winner(self, least: bool, own: int, other: int, x: Form, y: Form) -> Form | None:
        """Which of two arguments the extremum of both always is, if it is one of them."""
        if x == y:
            return x
        if self.unbounded:
            self._refuse_large(x, 0)
            self._refuse_large(y, 0)
        apart = self.add(y, self.scale(x, -1))
        lo, hi = self.range(apart)
        if lo < 0 < hi:
            for f, g in ((x, y), (y, x)):
                a = _lone(g)
                if a >= 0 and self.kind[a] == other and f in self.parts[a]:
                    rest = [h for h in self.parts[a] if h != f]
                    h = rest[0] if len(rest) == 1 else self._extremum_of(other, tuple(rest))
                    return self.min_absorbs_max(f, h) if least else self.max_absorbs_min(f, h)
            lo, hi = self._distance(apart, lo, hi)
        if least:
            if lo >= 0:
                return self.min_keeps_smaller(x, y)
            if hi <= 0:
                return self.min_keeps_smaller(y, x)
        else:
            if hi <= 0:
                return self.max_keeps_larger(x, y)
            if lo >= 0:
                return self.max_keeps_larger(y, x)
        return None

    def _distance(self, f: Form, lo: int, hi: int) -> tuple[int, int]:
        """The range of a difference, whose sign is not seen, from those with one argument in place of an extremum."""
        for i, (a, k) in enumerate(f[1]):
            if lo >= 0 or hi <= 0:
                break
            t = self.kind[a]
            if t == MINIMUM or t == MAXIMUM:
                rest = f[0], f[1][:i] + f[1][i + 1 :]
                ranges = [self.range(self.add(rest, self.scale(p, k))) for p in self.parts[a]]
                pick = max if (t == MAXIMUM) == (k > 0) else min
                lo, hi = max(lo, pick([r[0] for r in ranges])), min(hi, pick([r[1] for r in ranges]))
        return lo, hi

    def _extremum_of(self, kind: int, parts: tuple[Form, ...]) -> Form:
        """The minimum or the maximum of forms as they are: some of the arguments of one that is in normal form."""
        ranges = [self.range(f) for f in parts]
        pick = min if kind == MINIMUM else max
        made = self._new(kind, ZERO, 0, pick([r[0] for r in ranges]), pick([r[1] for r in ranges]))
        self.parts[made[1][0][0]] = parts
        return made

    def _opaque(self, e: Expr) -> Form:
        kids = [self.write(self.memo.get(c) or self._below(c)) for c in e.children]
        new = rebuild(e, kids)
        if type(new) is Int:
            return new.value, ()
        found = self.opaque.get(new)
        if found is None:
            found = self.opaque[new] = self._new(OPAQUE, ZERO, 0, -_END, _END)
            self.expr[-1] = new
        elif self.index is not None:
            return self._again(found[1][0][0], -_END, _END)
        return found

    # ---------------------------------------------------------------- writing
    def write(self, f: Form) -> Expr:
        """The expression of a form."""
        c, terms = f
        if not terms:
            return integer(c)
        expr = self.expr
        parts: list[tuple[Expr, int]] = []
        for a, k in terms:
            e = expr[a]
            if k == 1 and not c and len(terms) == 1:
                return self._write(a) if e is None else e
            parts.append((self._write(a) if e is None else e, k))
        return distinct_sum(c, parts)

    def _write(self, a: int) -> Expr:
        """The expression of an atom; those in it are older than it is, which makes recursion needless."""
        expr = self.expr
        needed = {a}
        todo = [a]
        while todo:
            for f in self._inside(todo.pop()):
                for t in f[1]:
                    b = t[0]
                    if expr[b] is None and b not in needed:
                        needed.add(b)
                        todo.append(b)
        for b in sorted(needed) if len(needed) > 1 else [a]:
            of = self.kind[b]
            inside = [self.write(f) for f in self._inside(b)]
            if of == QUOTIENT:
                e = floordiv(inside[0], self.divisor[b])
            elif of == REMAINDER:
                e = mod(inside[0], self.divisor[b])
            else:
                e = minimum(*inside) if of == MINIMUM else maximum(*inside)
            expr[b] = e
            # what is in normal form is read as it was written
            self.memo.setdefault(e, (0, ((b, 1),)))
        made = expr[a]
        assert made is not None
        return made

    def _inside(self, a: int) -> tuple[Form, ...]:
        """The forms that a quotient, a remainder, a minimum or a maximum is made of."""
        of = self.kind[a]
        return (self.arg[a],) if of == QUOTIENT or of == REMAINDER else self.parts[a]
