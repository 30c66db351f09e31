"""Writing normal forms so that together they cost least: the last pass of the simplifier.

Normal forms are best for finding what is equal; as programs they can be written better.  A remainder is a difference where
its quotient is needed anyway; quotients and remainders can be those of another dividend that is there already; constants
can stand inside a quotient.  Each spelling is an instance of a rule of the set *sharing*, chosen where it lowers the cost

    number of operations + (division weight - 1) · number of divisions,

operations and divisions counted once for all results.  The choices are greedy and made in a fixed order; the sums that
are compared are small, so an estimate of the change is enough.
"""

from __future__ import annotations

from math import gcd
from typing import Any, Final, TypeAlias

from .actions import Form
from .cost import DIVISION_WEIGHT
from .engine import DEEPEST, MAXIMUM, MINIMUM, OPAQUE, QUOTIENT, REMAINDER, VARIABLE, Engine, Terms
from .expr import Expr, distinct_sum, floordiv, integer, linear, maximum, minimum, mod

__all__ = ["Speller"]

#: So many of the widest dividends are tried as spellings of others, and below so many atoms it is seen whether one can
#: be written with another: what is spent on a map grows with its size and not faster.
WIDEST: Final = 16
REACH: Final = 48
#: What one dividend has more than another it is a multiple of has at most so many summands.
NARROW: Final = 8

#: A rule and its values in the order of ``Rule.variables``.
Change: TypeAlias = tuple[str, tuple[int | Form, ...]]


def _plain(f: Form) -> bool:
    """Whether the form is a single atom, which costs nothing to write."""
    return not f[0] and len(f[1]) == 1 and f[1][0][1] == 1


class Survey:
    """What forms are made of, each sum and each atom looked at once."""

    def __init__(self, engine: Engine, weight: int, forms: list[Form]) -> None:
        #: the atoms but variables and what is opaque
        self.atoms: set[int] = set()
        #: who divides what
        self.dividends: dict[Form, list[int]] = {}
        #: the sums that quotients stand in
        self.places: dict[int, list[tuple[Form, int]]] = {}
        #: whether there are remainders, some of them times a number in a sum with others, and those inside dividends
        self.remainders = False
        self.joinable = False
        self.inner: set[int] = set()
        #: the cost of everything that the forms need, written as they are
        self.cost = self._walk(engine, weight, forms)
        if self.remainders:
            kind = engine.kind
            self.inner = {t[0] for x in self.dividends for t in x[1] if kind[t[0]] == REMAINDER}

    def _walk(self, engine: Engine, weight: int, forms: list[Form]) -> int:
        kind = engine.kind
        # compiled, a form is taken apart where its type is known and put together where it is a key: these stay whole
        arg: list[Any] = engine.arg
        todo: list[Any] = list(forms)
        done: set[Any] = set()
        atoms, dividends, places = self.atoms, self.dividends, self.places
        products: set[tuple[int, int]] = set()
        spent = 0
        while todo:
            whole = todo.pop()
            known = len(done)
            done.add(whole)
            if len(done) == known:
                continue
            f: Form = whole
            c, terms = f
            if not terms:
                continue
            spent += len(terms) - 1
            opposite = True
            for t in terms:
                a, k = t
                if k > 0:
                    opposite = False
                if k < 0:
                    if k != -1:
                        products.add((a, -k))
                elif k != 1:
                    products.add(t)
                of = kind[a]
                if of == VARIABLE or of == OPAQUE:
                    continue
                if of == QUOTIENT:
                    if a in places:
                        places[a].append((whole, k))
                    else:
                        places[a] = [(whole, k)]
                elif of == REMAINDER and k != 1 and k != -1 and len(terms) > 1:
                    self.joinable = True
                if a in atoms:
                    continue
                atoms.add(a)
                if of == QUOTIENT or of == REMAINDER:
                    if of == REMAINDER:
                        self.remainders = True
                    spent += weight
                    x = arg[a]
                    if x in dividends:
                        dividends[x].append(a)
                    else:
                        dividends[x] = [a]
                    todo.append(x)
                else:
                    parts = engine.parts[a]
                    spent += len(parts) - 1
                    todo += parts
            if c or opposite:
                spent += 1
        return spent + len(products)


class Speller:
    """Writes forms of one engine.  ``weight`` is what a division costs in units of other operations."""

    def __init__(self, engine: Engine, weight: int = DIVISION_WEIGHT, *, keep_digits: bool = False) -> None:
        self.engine = engine
        self.weight = weight
        #: whether remainders stay that might take in what they stand with, and whether there was one
        self.keep_digits = keep_digits
        self.torn = False
        self.forms: list[Form] = []
        #: what those cost with the atoms as they are, where it is known
        self.spent = -1
        self.joins = False
        #: whether a remainder has left a sum with remainders that were inside it, which may be differences now
        self.deeper = False
        #: whether there may be quotients among the summands
        self.quotients = False
        #: dividends that are there anyway, the widest first, and what variables are in them
        self.wide: list[Form] = []
        self.inside: list[int] = []
        self.sets: dict[int, int] = {}
        #: digests of forms
        self.keys: dict[Form, int] = {}
        #: atoms written with another dividend and divisor, and what must be subtracted from them then
        self.spelling: dict[int, tuple[Form, int]] = {}
        self.offset: dict[int, int] = {}
        #: atoms written as minus the quotient of another dividend
        self.negated: dict[int, Form] = {}
        self.reason: dict[int, tuple[str, tuple[object, ...]]] = {}
        #: sums that are written as one remainder: which of theirs, with what factors, and of what dividend
        self.whole: dict[Form, tuple[int, int, int, Form]] = {}
        #: how the pass at work changes the forms, and what the finished ones have made of them
        self.changes: list[Change] = []
        self.rounds: list[tuple[list[Change], list[Form]]] = []
        self.done: dict[int, Expr] = {}

    def spelled(self, forms: list[Form]) -> list[Expr]:
        """The expressions of the forms; :attr:`forms` are then what was written."""
        self.forms = forms
        kind = self.engine.kind
        found = False
        for f in forms:
            for t in f[1]:
                of = kind[t[0]]
                if of == QUOTIENT:
                    self.quotients = True
                elif of:
                    found = True
        if not (found or self.quotients) or self.engine.deepest == DEEPEST:
            return [self.engine.write(f) for f in forms]
        engine = self.engine
        # what is tried here is no part of the derivation
        record, engine.record = engine.record, None
        try:
            forms = self._chosen(forms)
        finally:
            engine.record = record
        self.forms = forms
        if record is not None:
            engine.spelling = True
            self._record_rounds()
        if self.respelled or self.wide:
            return [self.write(f) for f in forms]
        return [engine.write(f) for f in forms]

    def differences(self, forms: list[Form]) -> list[Form] | None:
        """The forms with those remainders as differences that cost less so, where that is all there is to it."""
        after = self._as_differences(forms)
        return None if self.deeper or self.torn else after

    @property
    def changed(self) -> bool:
        """Whether anything but the plain normal forms was written."""
        return bool(self.rounds) or self.respelled

    @property
    def respelled(self) -> bool:
        """Whether atoms were written with other dividends than their own."""
        return bool(self.spelling or self.joins or self.negated or self.whole)

    def _chosen(self, forms: list[Form]) -> list[Form]:
        """The forms to write, after choosing how to write their atoms."""
        engine = self.engine
        if engine.exact:
            forms = self._cheaper(forms, self._by_known_digits(forms))
        while True:
            forms = self._round(forms, self._as_differences(forms))
            if self.deeper:
                continue
            before = surveyed = forms
            survey = Survey(engine, self.weight, forms)
            if self.quotients:
                if survey.inner:
                    forms = self._round(forms, self._without_inner_remainders(forms, survey.cost))
                if engine.exact:
                    forms = self._round(forms, [self._exact(f) for f in forms])
                    forms = self._cheaper(forms, self._by_known_digits(forms))
                if forms != before:
                    surveyed = forms
                    survey = Survey(engine, self.weight, forms)
                forms = self._cheaper(forms, self._as_multiples(forms, survey))
            if survey.inner:
                now = survey.cost if forms is surveyed else -1
                forms = self._round(forms, self._differences_inside(forms, survey, now))
                forms = self._cheaper(forms, self._whole_digits(forms))
            if forms is before or forms == before:
                break
        if forms is surveyed or forms == surveyed:
            self.spent = survey.cost
        self._choose(forms, survey)
        return forms

    def _round(self, before: list[Form], after: list[Form]) -> list[Form]:
        """Remember what one pass over the forms has changed."""
        if after is not before and after != before:
            self.rounds.append((self.changes, after))
        self.changes = []
        return after

    # ---------------------------------------------------------------- multiples of quotients
    def _cheaper(self, before: list[Form], after: list[Form]) -> list[Form]:
        """Those of the forms that cost less once remainders are differences."""
        changes, self.changes = self.changes, []
        if after is before or after == before:
            return before
        now, then = self.cost(self._as_differences(before)), self.cost(self._as_differences(after))
        self.changes = changes
        return self._round(before, after if then < now else before)

    def _by_known_digits(self, forms: list[Form]) -> list[Form]:
        """The forms with multiples of quotients and digits that have a known digit below them written with that digit.

        ``x // (a·n)`` is ``x // a`` without it where ``x // a % n`` is known, ``x // a % n`` is ``x % (a·n)`` without it
        where ``x % a`` is known.
        """
        kind = self.engine.kind
        out = []
        for f in forms:
            todo = list(f[1])
            while todo:
                a, v = todo.pop()
                g = None
                if kind[a] == QUOTIENT:
                    g = self._above_known(f, a, v)
                elif kind[a] == REMAINDER:
                    g = self._digit_above_known(f, a, v)
                if g is not None:
                    f = g
                    todo = list(f[1])
            out.append(f)
        return out

    def _above_known(self, f: Form, a: int, v: int) -> Form | None:
        """The sum f with another quotient in place of ``v·a``, if a known digit permits."""
        engine = self.engine
        x, e = engine.arg[a], engine.divisor[a]
        for terms, n in engine.exact:
            if v % n or e % n or n < 2 or n == e:
                continue
            q = engine.floordiv(x, e // n)
            m = engine.known_remainder(q, n) if q[1] == terms else None
            if m is not None:
                r = _other(f, a)
                w = v // n
                self.changes.append(("known_digit_joins_quotient", (e // n, e, m, n, q, r, v, w, x)))
                return _plus(r, (q[0] - m, q[1]), w)
        return None

    def _digit_above_known(self, f: Form, a: int, v: int) -> Form | None:
        """The sum f with another remainder in place of ``v·a``, if a known digit permits."""
        engine = self.engine
        q, n = engine.arg[a], engine.divisor[a]
        b, k = q[1][0]
        if len(q[1]) > 1 or k != 1 or engine.kind[b] != QUOTIENT:
            return None
        e = engine.divisor[b]
        x = engine.shift(engine.arg[b], q[0] * e)
        known = engine.mod(x, e) if not v % e else q
        if known[1]:
            return None
        m = known[0]
        r = _other(f, a)
        w = v // e
        t = engine.mod(x, e * n)
        self.changes.append(("known_digit_joins_digit", (e, m, n, q, r, t, v, w, x)))
        return _plus(r, (t[0] - m, t[1]), w)

    def _as_multiples(self, forms: list[Form], survey: Survey) -> list[Form]:
        """Multiples of ``d·(x // d)`` as differences of x and a remainder.

        Only of quotients whose remainder stands somewhere, or that stand twice and once beside their dividend.
        """
        engine = self.engine
        kind, arg, divisor = engine.kind, engine.arg, engine.divisor
        pairs: dict[int, Form] = {}
        for a, at in survey.places.items():
            if len(at) < 2 and not survey.remainders:
                continue
            d = divisor[a]
            for _, k in at:
                if k % d:
                    break
            else:
                x = arg[a]
                b, j = x[1][0]
                if any([kind[c] == REMAINDER and divisor[c] == d for c in survey.dividends[x]]) or (
                    len(at) > 1 and any([(b, -k // d * j) in f[1] for f, k in at])
                ):
                    t = engine.mod(x, d)
                    if _plain(t):
                        pairs[a] = t
        if not pairs:
            return forms
        out = []
        for f in forms:
            for a, v in f[1]:
                if a in pairs:
                    x, d, t = arg[a], divisor[a], pairs[a]
                    r = _other(f, a)
                    w = v // d
                    self.changes.append(("multiple_is_difference", (d, r, t, v, w, x)))
                    f = _plus(_plus(r, x, w), t, -w)
            out.append(f)
        return out

    def _whole_digits(self, forms: list[Form]) -> list[Form]:
        """Digits of sums with a remainder in them as digits of the sums without, where that makes no difference."""
        engine = self.engine
        kind, arg, divisor = engine.kind, engine.arg, engine.divisor
        new: dict[int, Form] = {}
        for a in sorted({t[0] for f in forms for t in f[1] if kind[t[0]] == REMAINDER}):
            x, n = arg[a], divisor[a]
            for q, v in x[1]:
                if kind[q] != QUOTIENT:
                    continue
                y, d = arg[q], divisor[q]
                for b, k in y[1]:
                    if kind[b] != REMAINDER or k * divisor[b] % (d * n):
                        continue
                    s = _other(x, q)
                    z = engine.add(engine.scale(arg[b], k), _other(y, b))
                    t = new[a] = engine.mod(engine.add(engine.scale(engine.floordiv(z, d), v), s), n)
                    self.changes.append(("digit_takes_congruent", (d, n, s, t, v, y, z)))
                    break
                if a in new:
                    break
        out = []
        for f in forms if new else ():
            for a, k in f[1]:
                if a in new:
                    f = _plus(_other(f, a), new[a], k)
            out.append(f)
        return out or forms

    # ---------------------------------------------------------------- remainders as differences
    def _as_differences(self, forms: list[Form]) -> list[Form]:
        """The forms with ``x % d`` as ``x - d·(x // d)`` where that is cheaper.

        A remainder that stands inside another atom stays.
        """
        engine = self.engine
        kind, arg, divisor = engine.kind, engine.arg, engine.divisor
        self.deeper = False
        #: the forms that remainders stand in
        uses: dict[int, list[int]] = {}
        #: how often each product that takes a multiplication stands somewhere
        products: dict[tuple[int, int], int] = {}
        seen: set[int] = set()
        inside: list[Terms] = []
        for i, f in enumerate(forms):
            for t in f[1]:
                a, k = t
                if k < 0:
                    t = a, -k
                if k != 1 and k != -1:
                    products[t] = products.get(t, 0) + 1
                of = kind[a]
                if of == REMAINDER:
                    if a in uses:
                        uses[a].append(i)
                    else:
                        uses[a] = [i]
                if a not in seen:
                    seen.add(a)
                    if of:
                        self._add_inside(a, inside)
        if not uses:
            return forms
        nested: set[int] = set()
        while inside:
            for t in inside.pop():
                a, k = t
                if k < 0:
                    t = a, -k
                if k != 1 and k != -1:
                    products[t] = products.get(t, 0) + 1
                if a in uses:
                    nested.add(a)
                if a not in seen:
                    seen.add(a)
                    if kind[a]:
                        self._add_inside(a, inside)
        candidates = [a for a in uses if a not in nested] if nested else list(uses)
        if not candidates:
            return forms
        # large divisors first: their quotients are what smaller remainders may be differences of
        if len(candidates) > 1:
            self._sort(candidates)
        #: the sums with candidates, as they become
        sums: dict[int, dict[int, int]] = {}
        constants: dict[int, int] = {}
        for a in candidates:
            for i in uses[a]:
                if i not in sums:
                    f = forms[i]
                    constants[i] = f[0]
                    sums[i] = dict(f[1])
        changed: set[int] = set()
        gone: set[int] = set()
        returned: set[int] = set()
        known: dict[int, tuple[Form, list[tuple[int, int]]]] = {}
        again = True
        while again and candidates:
            again = False
            left = []
            for n, a in enumerate(candidates):
                x = arg[a]
                d = divisor[a]
                if a in known:
                    q, difference = known[a]
                else:
                    q = engine.quotient_above(a)
                    difference = _difference(x, q, d)
                    known[a] = q, difference
                new = [t[0] for t in q[1] if t[0] not in seen]
                if new and not self._ready(new, seen):
                    left.append(a)
                    continue
                divisions = len(new) - 1
                operations = divisions
                at = uses[a]
                c = x[0] - d * q[0]
                for i in at:
                    operations += _gained(sums[i], constants[i], a, c, difference, products)
                    if c and not constants[i] and self._joins_dividend(sums[i], a, c, difference):
                        operations -= 1
                change = operations + (self.weight - 1) * divisions
                if not change and divisions < 0 and self.weight == 1:
                    # as many operations, but fewer of the dear ones
                    change = -1
                if change >= 0 and (
                    change >= len(x[1]) - (not x[0]) or self._needed_otherwise(x, a, q, seen - gone, forms)
                ):
                    left.append(a)
                    continue
                if not new and len(at) == 1:
                    i = at[0]
                    saved = self._taking_in(constants[i], sums[i], a, products)
                    if change + saved >= 0 and x not in forms:
                        self.torn = True
                        if self.keep_digits:
                            left.append(a)
                            continue
                if gone:
                    # what has become a difference elsewhere may come back with this one, once
                    back = [b for b, _ in difference if b in gone and b not in returned]
                    returned.update(back)
                    left += back
                # what is counted decides about the candidates that are left
                count = bool(left) or n + 1 < len(candidates)
                again = count
                if not self.deeper:
                    for t in x[1]:
                        if kind[t[0]] == REMAINDER and t[0] not in uses:
                            self.deeper = True
                for i in at:
                    changed.add(i)
                    total = sums[i]
                    w = total.pop(a)
                    if count:
                        _count(a, w, -1, products)
                    constants[i] += w * c
                    for b, j in difference:
                        old = total.get(b, 0)
                        if old and count:
                            _count(b, old, -1, products)
                        j = old + w * j
                        if j:
                            total[b] = j
                            if count:
                                _count(b, j, 1, products)
                            if kind[b] == REMAINDER:
                                if b in gone:
                                    gone.discard(b)
                                    uses[b] = [i]
                                elif b not in uses:
                                    uses[b] = [i]
                                elif i not in uses[b]:
                                    uses[b].append(i)
                        elif old:
                            del total[b]
                if count:
                    for b, j in x[1]:
                        _count(b, j, -1, products)
                    for e in new:
                        seen.add(e)
                        for b, j in arg[e][1]:
                            _count(b, j, 1, products)
                gone.add(a)
                self.changes.append(("remainder_is_difference", (d, q, x)))
            candidates = left
        if not changed:
            return forms
        self.quotients = True
        out = list(forms)
        for i in changed:
            out[i] = constants[i], tuple(sorted(sums[i].items()))
        return out

    def _joins_dividend(
        self, total: dict[int, int], a: int, c: int, difference: list[tuple[int, int]]
    ) -> bool:
        """Whether the constant that a difference brings can stand in a dividend that has one anyway (:meth:`_constants`).

        ``a`` is the remainder that becomes the difference, whose constant is c.
        """
        engine = self.engine
        w = total[a]
        for b, j in difference:
            if engine.kind[b] == QUOTIENT and engine.arg[b][0]:
                k = total.get(b, 0) + w * j
                if k and not w * c % k:
                    return True
        return False

    def _needed_otherwise(self, x: Form, a: int, q: Form, seen: set[int], forms: list[Form]) -> bool:
        """Whether x is there also where ``a``, a remainder of it, is written with its quotient q."""
        kind, arg = self.engine.kind, self.engine.arg
        for atoms in (seen, [t[0] for t in q[1]]):
            for b in atoms:
                if b != a and (kind[b] == QUOTIENT or kind[b] == REMAINDER) and arg[b] == x:
                    return True
        return x in forms

    def _add_inside(self, a: int, found: list[Terms]) -> None:
        """The sums that an atom is made of, without their constants, and none for a variable."""
        of = self.engine.kind[a]
        if of == QUOTIENT or of == REMAINDER:
            found.append(self.engine.arg[a][1])
        elif of == MINIMUM or of == MAXIMUM:
            found += [f[1] for f in self.engine.parts[a]]

    def _sort(self, atoms: list[int]) -> None:
        """Sort quotients and remainders, large divisors first."""
        divisor = self.engine.divisor
        arg: list[Any] = self.engine.arg
        order = self._order([-divisor[a] for a in atoms], [arg[a] for a in atoms])
        if order:
            atoms[:] = [atoms[i] for i in order]

    def _order(self, ranks: list[int], forms: list[Any]) -> list[int]:
        """The positions of the forms by their ranks, none where they are in order.

        Where ranks are equal, digests decide: the order must not depend on when the atoms were met.
        """
        last = ranks[0]
        ordered = True
        for n in ranks[1:]:
            if n <= last:
                ordered = False
                break
            last = n
        if ordered:
            return []
        count = len(ranks)
        if count == 2:
            if ranks[0] == ranks[1] and self._key(forms[0]) <= self._key(forms[1]):
                return []
            return [1, 0]
        order = sorted(range(count), key=ranks.__getitem__)
        i = 0
        for j in range(1, count + 1):
            if j == count or ranks[order[j]] != ranks[order[i]]:
                if j - i > 1:
                    order[i:j] = sorted(order[i:j], key=lambda n: self._key(forms[n]))
                i = j
        return order

    def _widest(self, forms: list[Form]) -> list[Form]:
        """The forms with most summands first."""
        if len(forms) < 2:
            return forms
        order = self._order([-len(f[1]) for f in forms], forms)
        return [forms[i] for i in order] if order else forms

    def _key(self, x: Form) -> int:
        """The digest of a form with its atoms as they are."""
        key = self.keys.get(x)
        if key is None:
            key = self.keys[x] = self.engine.write(x).key
        return key

    def _by_terms(self, group: tuple[Terms, list[int]]) -> int:
        """An order of dividends without their constants that does not depend on when their atoms were met."""
        return self._key((0, group[0]))

    def _ready(self, new: list[int], seen: set[int]) -> bool:
        """Whether at most one new quotient is needed, and nothing else that is new."""
        if not new:
            return True
        a = new[0]
        if len(new) > 1 or self.engine.kind[a] != QUOTIENT:
            return False
        for b, _ in self.engine.arg[a][1]:
            if b not in seen:
                return False
        return True

    def _without_inner_remainders(self, forms: list[Form], now: int) -> list[Form]:
        """Quotients with a remainder of a multiple of the divisor inside, without it where that is cheaper.

        ``((x % m)·k + r) // d`` is ``(x·k + r) // d - (x // m)·(k·m // d)`` where d divides k·m.  Quotients with the same
        remainder inside may only be cheaper together: what is subtracted from one is what another loses.  ``now`` is what
        the forms cost.
        """
        engine = self.engine
        kind, arg, divisor = engine.kind, engine.arg, engine.divisor
        #: by remainder, the quotients it is in and what they become
        inner: dict[int, list[tuple[int, Form, Change]]] = {}
        singles: list[list[tuple[int, Form, Change]]] = []
        for a in sorted({t[0] for f in forms for t in f[1]}):
            if kind[a] != QUOTIENT:
                continue
            y, d = arg[a], divisor[a]
            remainders = [b for b, k in y[1] if kind[b] == REMAINDER and not k * divisor[b] % d]
            if len(remainders) > 1:
                # not by when they were met: what is read again is met in another order
                self._sort(remainders)
            for b in remainders:
                x, m, k = arg[b], divisor[b], dict(y[1])[b]
                q = engine.floordiv(x, m)
                r = _other(y, b)
                opened = engine.floordiv(engine.add(engine.scale(x, k), r), d)
                change: Change = ("inner_remainder_leaves_quotient", (d, k, m, opened, q, r, x))
                option = (a, _plus(opened, q, -(k * m // d)), change)
                singles.append([option])
                if b in inner:
                    inner[b].append(option)
                else:
                    inner[b] = [option]
        if not singles:
            return forms
        for options in singles + [group for group in inner.values() if len(group) > 1]:
            changed = forms
            for a, other, _ in options:
                changed = [_instead(f, a, other) for f in changed]
            if changed == forms:
                continue
            after = self.cost(changed)
            if after < now:
                now = after
                forms = changed
                self.changes += [option[2] for option in options]
        return forms

    def _exact(self, f: Form) -> Form:
        """A sum without quotients whose remainder is known and that are taken times their divisor."""
        engine = self.engine
        for a, v in f[1]:
            if engine.kind[a] != QUOTIENT or v % engine.divisor[a]:
                continue
            x, d = engine.arg[a], engine.divisor[a]
            m = engine.known_remainder(x, d)
            if m is not None:
                r = _other(f, a)
                self.changes.append(("exact_quotient_multiplies", (d, m, r, v, v // d, x)))
                return self._exact(_plus(r, (x[0] - m, x[1]), v // d))
        return f

    def cost(self, forms: list[Form]) -> int:
        """The cost of everything that the forms need, written as they are."""
        return Survey(self.engine, self.weight, forms).cost

    def bound(self) -> int:
        """What :attr:`forms` cost at most as they were written."""
        if self.spent < 0:
            self.spent = self.cost(self.forms)
        return self.spent

    def _record_rounds(self) -> None:
        """Report what :meth:`_chosen` has changed; an empty name reports the forms as they are after a round."""
        record, write = self.engine.record, self.engine.write
        for changes, forms in self.rounds:
            for name, values in changes:
                record(name, tuple([v if isinstance(v, int) else write(v) for v in values]))
            record("", tuple(write(f) for f in forms))

    # ---------------------------------------------------------------- remainders inside dividends
    def _differences_inside(self, forms: list[Form], survey: Survey, now: int) -> list[Form]:
        """The forms without those remainders inside dividends that cost less as differences.

        Only where the quotient is there already, and where what is divided then is in normal form as it is.  ``now`` is
        what the forms cost, -1 where that is not known.
        """
        engine = self.engine
        kind = engine.kind
        atoms = survey.atoms
        inner = list(survey.inner)
        if len(inner) > 1:
            self._sort(inner)
        tried = forms
        changes: list[Change] = []
        kept = 0
        for r in inner[:WIDEST]:
            x, d = engine.arg[r], engine.divisor[r]
            q = engine.floordiv(x, d)
            if any([t[0] not in atoms and kind[t[0]] != VARIABLE for t in q[1]]):
                continue
            after = self._replaced(tried, sorted(atoms), r, _plus(x, q, -d))
            if after is None:
                continue
            if now < 0:
                now = self.cost(forms)
            # what does not pay by itself may pay together with the next
            tried = after
            other = Survey(engine, self.weight, tried)
            atoms = other.atoms
            changes.append(("remainder_is_difference", (d, q, x)))
            if other.cost < now:
                now = other.cost
                forms = tried
                kept = len(changes)
        self.changes += changes[:kept]
        return forms

    def _replaced(self, forms: list[Form], atoms: list[int], r: int, by: Form) -> list[Form] | None:
        """The forms with ``by`` for the atom ``r``, or ``None`` where a dividend is not in normal form then."""
        engine = self.engine
        kind, arg, divisor = engine.kind, engine.arg, engine.divisor
        new: dict[int, Form] = {r: by}

        def changed(f: Form) -> Form:
            hit = [t for t in f[1] if t[0] in new]
            if hit:
                f = f[0], tuple([t for t in f[1] if t[0] not in new])
                for a, k in hit:
                    f = _plus(f, new[a], k)
            return f

        # an atom is newer than those it is made of
        for a in atoms:
            if a <= r:
                continue
            t = kind[a]
            if t == QUOTIENT or t == REMAINDER:
                y, d = arg[a], divisor[a]
                z = changed(y)
                if z == y:
                    continue
                if engine.renewed(z) != z:
                    return None
                f = engine.floordiv(z, d) if t == QUOTIENT else engine.mod(z, d)
                if not _plain(f):
                    return None
                b = f[1][0][0]
                if kind[b] != t or arg[b] != z or divisor[b] != d:
                    return None
                new[a] = f
            elif t == MINIMUM or t == MAXIMUM:
                for f in engine.parts[a]:
                    if changed(f) != f:
                        return None
        return [changed(f) for f in forms]

    # ---------------------------------------------------------------- dividends
    def _choose(self, forms: list[Form], survey: Survey) -> None:
        """Choose the dividends and constants that quotients and remainders are written with."""
        dividends, places = survey.dividends, survey.places
        costly = [x for x in dividends if not _plain(x)]
        if not costly:
            return
        wide: list[Form] = []
        if len(dividends) > 1:
            wide = [x for x in costly if len(x[1]) > 1 or x[1][0][1] != 1]
            if len(wide) > WIDEST or (len(wide) > 1 and (len(costly) > 2 or survey.joinable)):
                wide = self._widest(wide)[:WIDEST]
        if wide and len(costly) > 1:
            # of two, one is near the other at most: their order is of no use
            inside = [self._variables(x) for x in wide]
            for y in costly:
                mine = self._variables(y)
                near = [x for i, x in enumerate(wide) if not mine & ~inside[i] and x != y]
                if near:
                    self._widen(y, dividends[y], near)
        if survey.remainders:
            self._take_in(forms, survey)
        if survey.joinable or self.whole:
            for x in self._widest(wide) if self.whole else wide:
                if len(x[1]) > 1 or x[0]:
                    self.wide.append(x)
                    self.inside.append(self._variables(x))
        moved = self._constants(dividends, places)
        if self.engine.exact:
            self._negate(dividends, places, moved)

    def _widen(self, y: Form, users: list[int], wide: list[Form]) -> None:
        """Write what is divided with the dividend y by another dividend instead, if there is one."""
        engine = self.engine
        kind, divisor = engine.kind, engine.divisor
        for x in wide:
            g = self._multiple(x, y)
            if g:
                for a in users:
                    if kind[a] == QUOTIENT and self._free_of(x, a):
                        self.spelling[a] = x, g * divisor[a]
                        self.reason[a] = "quotient_widens", (g, self._rest(x, y, g))
                return
        if len(users) > 1:
            return
        a = users[0]
        d = divisor[a]
        if kind[a] == REMAINDER:
            for x in wide:
                if self._free_of(x, a) and engine.mod(x, d) == (0, ((a, 1),)):
                    self.spelling[a] = x, d
                    self.reason[a] = "remainder_takes_congruent", ()
                    return
            return
        for x in wide:
            for i, (b, k) in enumerate(x[1]):
                if k != 1 or kind[b] != QUOTIENT or d % divisor[b]:
                    continue
                r = x[0], x[1][:i] + x[1][i + 1 :]
                if _plus(engine.arg[b], r, divisor[b]) == y and self._free_of(x, a):
                    self.spelling[a] = x, d // divisor[b]
                    self.reason[a] = "quotient_releases_summand", (divisor[b], r, engine.arg[b])
                    return

    def _take_in(self, forms: list[Form], survey: Survey) -> None:
        """Choose results that are multiples of a remainder with something small to be written as a remainder.

        ``g·(y % e) + r`` is ``(g·y + r) % (e·g)``, and what else divides y divides the new dividend too.
        """
        engine = self.engine
        kind, arg = engine.kind, engine.arg
        atoms, dividends = survey.atoms, survey.dividends
        found = []
        for f in forms:
            option = self._digit_with_rest(f)
            if option is not None and (f, option) not in found:
                y = arg[option[0]]
                # another remainder, or a result, would still need y
                if y not in forms and sum([kind[a] == REMAINDER for a in dividends[y]]) == 1:
                    found.append((f, option))
        if not found:
            return
        sums = list(dict.fromkeys([*forms, *dividends]))
        for a in atoms:
            if kind[a] == MINIMUM or kind[a] == MAXIMUM:
                sums += engine.parts[a]
        products: dict[tuple[int, int], int] = {}
        places: dict[int, int] = {}
        for f in sums:
            for t in f[1]:
                a, k = t
                if k < 0:
                    t = a, -k
                products[t] = products.get(t, 0) + 1
                places[a] = places.get(a, 0) + 1
        if len(found) > 1:
            options = dict(found)
            found = [(f, options[f]) for f in self._widest(list(options))]
        for f, (a, g, h, x) in found:
            y = arg[a]
            users = dividends[y]
            if places[a] > 1 or any([u in self.spelling or not self._free_of(x, u) for u in users]):
                continue
            gone = {**products}
            if self._gain(f, (a, g, h, x), gone) <= 0:
                continue
            products = gone
            self.whole[f] = a, g, h, x
            for u in users:
                if u != a:
                    self.spelling[u] = x, g * engine.divisor[u]
                    # they may have atoms in common, which add up in x
                    self.reason[u] = "quotient_widens", (g, _plus(x, y, -g))

    def _taking_in(self, c: int, total: dict[int, int], a: int, products: dict[tuple[int, int], int]) -> int:
        """How many operations it saves that the remainder ``a`` takes in what it stands with; 0 where it cannot."""
        if not c and len(total) == 1:
            return 0
        w = total[a]
        if w == 1 or w == -1:
            return 0
        most = w if w > 0 else -w
        for k in total.values():
            if k > most or -k > most:
                # what is below a remainder is smaller than what it is taken times
                return 0
        f = c, tuple(total.items())
        option = self._digit_with_rest(f)
        return self._gain(f, option, {**products}) if option is not None and option[0] == a else 0

    def _gain(self, f: Form, option: tuple[int, int, int, Form], products: dict[tuple[int, int], int]) -> int:
        """How many operations it saves to write the sum as one remainder; ``products`` are changed accordingly."""
        a, _, h, x = option
        before = _spent(f, products, -1) + _spent(self.engine.arg[a], products, -1)
        return before - _spent(x, products, 1) - _spent((0, ((a, h),)), products, 1)

    def _digit_with_rest(self, f: Form) -> tuple[int, int, int, Form] | None:
        """``(a, g, h, g·y + r)`` where the sum is ``h·(g·a + r)`` with a remainder ``a = y % e`` and r below g."""
        engine = self.engine
        c, terms = f
        if not terms or (not c and len(terms) == 1):
            return None
        a, k = terms[0]
        for t in terms:
            if abs(t[1]) > abs(k):
                a, k = t
        if k == 1 or k == -1 or engine.kind[a] != REMAINDER:
            return None
        h = c
        for _, j in terms:
            h = gcd(h, j)
            if h == 1:
                break
        if k < 0:
            h = -h
        g = k // h
        r = c // h, tuple([(b, j // h) for b, j in terms if b != a])
        lo, hi = engine.range(r)
        return (a, g, h, _plus(r, engine.arg[a], g)) if lo >= 0 and hi < g else None

    def _variables(self, f: Form) -> int:
        """The variables in a form, as the bits of a number."""
        engine, sets = self.engine, self.sets
        found = 0
        for t in f[1]:
            a = t[0]
            known = sets.get(a, -1)
            if known < 0:
                of = engine.kind[a]
                if of == VARIABLE or of == OPAQUE:
                    known = 1 << a
                elif of == QUOTIENT or of == REMAINDER:
                    known = self._variables(engine.arg[a])
                else:
                    known = 0
                    for g in engine.parts[a]:
                        known |= self._variables(g)
                sets[a] = known
            found |= known
        return found

    def _free_of(self, f: Form, a: int) -> bool:
        """Whether the atom ``a`` is certainly not needed to write the form, as things are spelled so far."""
        engine = self.engine
        kind, arg = engine.kind, engine.arg
        todo: list[Terms] = [f[1]]
        seen: set[int] = set()
        while todo:
            for t in todo.pop():
                b = t[0]
                if b == a:
                    return False
                of = kind[b]
                if of == VARIABLE or of == OPAQUE or b in seen:
                    continue
                seen.add(b)
                if len(seen) > REACH:
                    return False
                if b in self.spelling:
                    todo.append(self.spelling[b][0][1])
                elif of == QUOTIENT or of == REMAINDER:
                    todo.append(arg[b][1])
                else:
                    todo += [g[1] for g in engine.parts[b]]
        return True

    def _multiple(self, x: Form, y: Form) -> int:
        """The g with ``x = g·y + r`` and ``0 <= r < g``, or 0."""
        if len(x[1]) < len(y[1]):
            return 0
        g = 0
        # both are in the order of their atoms
        n = 0
        terms = x[1]
        for a, k in y[1]:
            while n < len(terms) and terms[n][0] < a:
                n += 1
            if n == len(terms) or terms[n][0] != a:
                return 0
            j = terms[n][1]
            if not g:
                g = j // k
                if g < 2:
                    return 0
            if g * k != j:
                return 0
        if len(x[1]) - len(y[1]) > NARROW:
            return 0
        lo, hi = self.engine.range(self._rest(x, y, g))
        return g if lo >= 0 and hi < g else 0

    def _rest(self, x: Form, y: Form, g: int) -> Form:
        """``x - g·y`` where y's atoms are x's."""
        gone = {a for a, _ in y[1]}
        return x[0] - g * y[0], tuple([t for t in x[1] if t[0] not in gone])

    # ---------------------------------------------------------------- constants
    def _constants(
        self, dividends: dict[Form, list[int]], places: dict[int, list[tuple[Form, int]]]
    ) -> dict[Form, int]:
        """Move constants from sums into the quotients in them where that saves an addition; what constants are left."""
        if self._in_place(dividends, places):
            return {}
        engine = self.engine
        kind, divisor = engine.kind, engine.divisor
        groups: dict[Terms, list[int]] = {}
        #: the constants and divisors that atoms are written with so far
        at_first: dict[int, tuple[int, int]] = {}
        for x, users in dividends.items():
            for a in users:
                y, d = x, divisor[a]
                if a in self.spelling:
                    if self.reason[a][0] != "quotient_releases_summand":
                        continue
                    y, d = self.spelling[a]
                at_first[a] = y[0], d
                if y[1] in groups:
                    groups[y[1]].append(a)
                else:
                    groups[y[1]] = [a]
        #: constants of sums after what was moved so far
        now: dict[Form, int] = {}
        open_groups = [g for g in groups.items() if len(g[1]) > 1 or at_first[g[1][0]][0]]
        if len(open_groups) > 1:
            # the first takes what it can use: what is first must not depend on where the constants are
            open_groups.sort(key=self._by_terms)
        for terms, users in open_groups:
            if len(users) > 1:
                self._sort(users)
            if self._settles(users, at_first, places, now):
                continue
            options: list[dict[int, int]] = []
            open_ = False
            for a in users:
                c, d = at_first[a]
                if kind[a] == REMAINDER:
                    options.append({c: 0})
                    continue
                at = places.get(a, [])
                found = {}
                for j in self._shifts(at, now):
                    spent = 0
                    for f, k in at:
                        if now.get(f, f[0]) != k * j:
                            spent += 1
                    found[c + j * d] = spent
                if len(found) > 1:
                    open_ = True
                options.append(found)
            if not open_ and len(users) == 1:
                continue
            chosen = self._cheapest(users, at_first, options, places, now)
            for a, n in zip(users, chosen, strict=True):
                c, d = at_first[a]
                if n == c:
                    continue
                j = (n - c) // d
                self.spelling[a] = (n, terms), d
                if kind[a] == QUOTIENT:
                    self.reason.setdefault(a, ("constant_joins_quotient", ()))
                    self.offset[a] = j
                    for f, k in places.get(a, []):
                        now[f] = now.get(f, f[0]) - k * j
                else:
                    self.reason[a] = "remainder_takes_congruent", ()
        return now

    def _settles(
        self,
        users: list[int],
        at_first: dict[int, tuple[int, int]],
        places: dict[int, list[tuple[Form, int]]],
        now: dict[Form, int],
    ) -> bool:
        """:meth:`_in_place` for the users of dividends that differ in their constants, as those are now."""
        found: Form | None = None
        for a in users:
            if at_first[a][0]:
                return False
            for f, _ in places.get(a, ()):
                if now.get(f, f[0]):
                    if found is not None and f != found:
                        return False
                    found = f
        return True

    def _in_place(self, dividends: dict[Form, list[int]], places: dict[int, list[tuple[Form, int]]]) -> bool:
        """Whether no constant can be moved with gain: no dividend has one, and at most one sum.

        To move the constant of one sum makes one in a dividend, which costs as much.
        """
        for x in dividends:
            if x[0]:
                return False
        for y, _ in self.spelling.values():
            if y[0]:
                return False
        found: Form | None = None
        for at in places.values():
            for f, _ in at:
                if f[0]:
                    if found is not None and f != found:
                        return False
                    found = f
        return True

    def _negate(
        self,
        dividends: dict[Form, list[int]],
        places: dict[int, list[tuple[Form, int]]],
        moved: dict[Form, int],
    ) -> None:
        """Quotients with a known remainder as those of the negated dividend, where a sum has nothing to subtract from."""
        engine = self.engine
        for y, users in dividends.items():
            if len(users) > 1 or users[0] not in places or len(places[users[0]]) > 1:
                continue
            a = users[0]
            f, _ = places[a][0]
            if moved.get(f, f[0]) or any([k > 0 for _, k in f[1]]):
                continue
            x, d = self.spelling.get(a, (y, engine.divisor[a]))
            m = engine.known_remainder(x, d) if x[0] and d == engine.divisor[a] else None
            if m is not None and m != x[0]:
                self.negated[a] = m - x[0], tuple([(b, -k) for b, k in x[1]])

    def _shifts(self, at: list[tuple[Form, int]], now: dict[Form, int]) -> list[int]:
        """By how many divisors a quotient can be shifted so that a sum loses its constant; 0 among them."""
        shifts = [0]
        for f, k in at:
            n = now.get(f, f[0])
            if n and not n % k and n // k not in shifts:
                shifts.append(n // k)
        return shifts

    def _cheapest(
        self,
        users: list[int],
        at_first: dict[int, tuple[int, int]],
        options: list[dict[int, int]],
        places: dict[int, list[tuple[Form, int]]],
        now: dict[Form, int],
    ) -> list[int]:
        """For each user the constant to write its dividend with; few different constants, few left in sums."""
        kind = self.engine.kind
        firsts = [at_first[a] for a in users]
        #: constants of the sums that the quotients stand in, and for each user in which and how often
        constants: list[int] = []
        stands: list[list[tuple[int, int]]] = []
        numbers: dict[Form, int] = {}
        for a in users:
            mine = []
            for f, k in places.get(a, ()):
                i = numbers.get(f, -1)
                if i < 0:
                    i = numbers[f] = len(constants)
                    constants.append(now.get(f, f[0]))
                mine.append((i, k))
            stands.append(mine)
        found = {n for o in options for n in o}
        kept = anything = False
        for c, d in firsts:
            if c:
                anything = True
                if c % d:
                    kept = True
            if len(users) > 1 and c - d not in found:
                # the same number below zero may serve several divisors
                fitting = 0
                for other, by in firsts:
                    if not (c - d - other) % by:
                        fitting += 1
                if fitting > 1:
                    found.add(c - d)
        #: what is spent at least: a dividend keeps its constant up to multiples of the divisor
        least = 1 if kept or (not anything and any(constants)) else 0
        candidates = sorted(found)
        candidates.sort(key=abs)
        best = -1
        result: list[int] = []
        for wanted in candidates:
            for everywhere in (False, True):
                chosen = []
                used = {0}
                left = list(constants)
                again = False
                for i, a in enumerate(users):
                    c, d = firsts[i]
                    o = options[i]
                    fits = not (wanted - c) % d
                    if wanted in o or (fits and (everywhere or kind[a] == REMAINDER)):
                        n = wanted
                    elif len(o) == 1:
                        n = c
                    else:
                        n = min(o, key=lambda m: (o[m] + (m not in used), abs(m), m))
                    if fits and n != wanted:
                        again = True
                    if n != c and kind[a] == QUOTIENT:
                        for at, k in stands[i]:
                            left[at] -= k * ((n - c) // d)
                    used.add(n)
                    chosen.append(n)
                spent = len(used) - 1
                for n in left:
                    if n:
                        spent += 1
                if best < 0 or spent < best:
                    best = spent
                    result = chosen
                    if best == least:
                        return result
                if not again:
                    break
        return result

    # ---------------------------------------------------------------- writing
    def write(self, f: Form) -> Expr:
        """The expression of a form, with the spellings that were chosen."""
        c, terms = f
        if not terms:
            return integer(c)
        if f in self.whole:
            return self._as_remainder(f)
        if self.wide and len(terms) > 1:
            e = self._joined(f)
            if e is not None:
                return e
        return self._sum(f)

    def _sum(self, f: Form) -> Expr:
        c, terms = f
        parts = []
        done, offset, negated = self.done, self.offset, self.negated
        for a, k in terms:
            e = done.get(a)
            if e is None:
                e = self._atom(a)
            if offset and a in offset:
                c -= k * offset[a]
            if negated and a in negated:
                k = -k
            parts.append((e, k))
        if len(parts) < 2 or len({e for e, _ in parts}) == len(parts):
            return distinct_sum(c, parts)
        return linear(c, parts)

    def _atom(self, a: int) -> Expr:
        engine = self.engine
        t = engine.kind[a]
        if t == VARIABLE or t == OPAQUE:
            made = engine.expr[a]
            assert made is not None
            e = made
        elif t == QUOTIENT or t == REMAINDER:
            x, d = self.spelling[a] if a in self.spelling else (engine.arg[a], engine.divisor[a])
            if engine.record is not None and a in self.spelling:
                self._record(a)
            if a in self.negated:
                if engine.record is not None:
                    m = engine.known_remainder(x, d)
                    assert m is not None
                    engine.record("exact_quotient_negates", (d, m, self.write(x)))
                x = self.negated[a]
            e = floordiv(self.write(x), d) if t == QUOTIENT else mod(self.write(x), d)
        elif t == MINIMUM:
            e = minimum(*[self.write(f) for f in engine.parts[a]])
        else:
            e = maximum(*[self.write(f) for f in engine.parts[a]])
        self.done[a] = e
        return e

    def _record(self, a: int) -> None:
        """Report how an atom is spelled."""
        engine = self.engine
        y = self.write(engine.arg[a])
        d = engine.divisor[a]
        name, more = self.reason[a]
        if name == "quotient_widens":
            g, r = more
            engine.record(name, (d, g, self.write(r), y))  # type: ignore[arg-type]
        elif name == "remainder_takes_congruent":
            engine.record(name, (d, y, self.write(self.spelling[a][0])))
        elif name == "quotient_releases_summand":
            b, r, x = more
            engine.record(name, (b, d // b, self.write(r), self.write(x)))  # type: ignore[arg-type, operator]
        if a in self.offset:
            (c, terms), d = self.spelling[a]
            j = self.offset[a]
            engine.record("constant_joins_quotient", (d, j, self.write((c - j * d, terms))))

    def _as_remainder(self, f: Form) -> Expr:
        """A sum that is written as one remainder."""
        engine = self.engine
        a, g, h, x = self.whole[f]
        e = engine.divisor[a]
        if engine.record is not None:
            y = engine.arg[a]
            r = self.write(_plus(x, y, -g))
            engine.record("remainder_widens", (e, g, h, g * h, r, 0, self.write(y)))
        return linear(0, [(mod(self.write(x), g * e), h)])

    def _joined(self, f: Form) -> Expr | None:
        """A sum with a remainder and what stands below it, written as the remainder of a shared dividend."""
        engine = self.engine
        c, terms = f
        for a, k in terms:
            if engine.kind[a] != REMAINDER or k == 1 or k == -1:
                continue
            y = engine.arg[a]
            mine = self._variables(y)
            for x, theirs in zip(self.wide, self.inside, strict=True):
                if mine & ~theirs or len(x[1]) < len(y[1]) or x == y:
                    continue
                g = self._multiple(x, y)
                if not g or k % g or not self._free_of(x, a):
                    continue
                h = k // g
                total = dict(terms)
                del total[a]
                r = self._rest(x, y, g)
                for b, j in r[1]:
                    if total.get(b) != h * j:
                        break
                    del total[b]
                else:
                    self.joins = True
                    s = c - h * r[0], tuple(sorted(total.items()))
                    e = engine.divisor[a]
                    if engine.record is not None:
                        parts = (e, g, h, k, self.write(r), self.write(s), self.write(y))
                        engine.record("remainder_widens", parts)
                    return linear(0, [(mod(self.write(x), g * e), h), (self.write(s), 1)])
        return None


def _spent(f: Form, products: dict[tuple[int, int], int], step: int) -> int:
    """What a sum costs that is added to others (``step`` 1) or taken from them (-1), whose products those are."""
    spent = len(f[1]) - 1
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
                spent += 1
    if f[0] or opposite:
        spent += 1
    return spent


def _other(f: Form, a: int) -> Form:
    """The sum without the atom ``a``."""
    return f[0], tuple([t for t in f[1] if t[0] != a])


def _instead(f: Form, a: int, by: Form) -> Form:
    """The sum with ``by`` for the atom ``a``."""
    for b, k in f[1]:
        if b == a:
            return _plus(_other(f, a), by, k)
    return f


def _plus(x: Form, y: Form, k: int) -> Form:
    """``x + k·y``, without looking for digits that belong together."""
    total = dict(x[1])
    for a, j in y[1]:
        j = total.get(a, 0) + k * j
        if j:
            total[a] = j
        else:
            total.pop(a, None)
    return x[0] + k * y[0], tuple(sorted(total.items()))


def _difference(x: Form, q: Form, d: int) -> list[tuple[int, int]]:
    """The summands of ``x - d·q``."""
    if len(q[1]) == 1:
        b, k = q[1][0]
        if b not in [t[0] for t in x[1]]:
            return [*x[1], (b, -d * k)]
    total = dict(x[1])
    for b, k in q[1]:
        total[b] = total.get(b, 0) - d * k
    return list(total.items())


def _gained(
    total: dict[int, int],
    constant: int,
    a: int,
    c: int,
    difference: list[tuple[int, int]],
    products: dict[tuple[int, int], int],
) -> int:
    """How many operations a sum gains when the remainder ``a`` in it becomes a difference, whose constant is c."""
    w = total[a]
    operations = -1
    if w != 1 and w != -1 and products[a, abs(w)] == 1:
        operations -= 1
    for b, j in difference:
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


def _count(a: int, k: int, step: int, products: dict[tuple[int, int], int]) -> None:
    """``k·a`` stands in one more sum, or in one less; nothing is multiplied by 1 and -1."""
    if k < 0:
        k = -k
    if k != 1:
        products[a, k] = products.get((a, k), 0) + step
