"""Which forms are written: sums of other atoms with the same value, where those cost less.

The choices come in rounds, each an instance of rules of the set *sharing*; what a round has changed is kept, to be told
with the derivation.
"""

from __future__ import annotations

from typing import Final

from ..engine import Engine
from ..kernel.form import MAXIMUM, MINIMUM, QUOTIENT, REMAINDER, VARIABLE, Form
from .differences import Change, Differences
from .order import Order
from .sums import instead, plus, single, spent, without
from .survey import Survey

__all__ = ["Rounds"]

#: So many remainders inside dividends are tried as differences: what is spent on a map grows with its size and not faster.
MOST: Final = 16


class Rounds:
    """Chooses the forms to write.  ``weight`` is what a division costs; see :class:`.Differences` for ``keep_digits``."""

    def __init__(self, engine: Engine, weight: int, order: Order, keep_digits: bool) -> None:
        self.engine = engine
        self.weight = weight
        self.order = order
        self.differences = Differences(engine, weight, order, keep_digits)
        #: whether there has been a remainder inside a dividend whose quotient is there too
        self.beside = False
        #: what the forms cost with the atoms as they are, where it is known
        self.spent = -1
        #: how the round at work changes the forms, and what the finished ones have made of them
        self.changes: list[Change] = []
        self.done: list[tuple[list[Change], list[Form]]] = []

    def chosen(self, forms: list[Form]) -> tuple[list[Form], Survey]:
        """The forms to write, and what they are made of."""
        engine, differences = self.engine, self.differences
        if engine.exact:
            forms = self._cheaper(forms, self._by_known_digits(forms))
        while True:
            after = differences.written(forms)
            self.changes += differences.changes
            forms = self._round(forms, after)
            if differences.deeper:
                continue
            before = surveyed = forms
            survey = Survey(engine, self.weight, forms)
            if differences.quotients:
                if survey.inner:
                    forms = self._round(
                        forms, self._without_inner_remainders(forms, survey.atoms, survey.cost)
                    )
                if engine.exact:
                    forms = self._round(forms, [self._exact(f) for f in forms])
                    forms = self._cheaper(forms, self._by_known_digits(forms))
                if forms != before:
                    surveyed = forms
                    survey = Survey(engine, self.weight, forms)
                forms = self._cheaper(forms, self._as_multiples(forms, survey))
                forms = self._beside_dividends(forms, survey)
            if (survey.opposites or survey.complements) and (forms is surveyed or forms == surveyed):
                forms = self._turned(forms, survey)
            if survey.inner:
                now = survey.cost if forms is surveyed else -1
                forms = self._differences_inside(forms, survey, now)
                forms = self._cheaper(forms, self._whole_digits(forms))
            if forms is before or forms == before:
                break
        if forms is surveyed or forms == surveyed:
            self.spent = survey.cost
        return forms, survey

    def bound(self, forms: list[Form]) -> int:
        """What the chosen forms cost at most as they are written."""
        if self.spent < 0:
            self.spent = self._cost(forms)
        return self.spent

    def _cost(self, forms: list[Form]) -> int:
        """The cost of everything that the forms need, written as they are."""
        return Survey(self.engine, self.weight, forms).cost

    def _round(self, before: list[Form], after: list[Form]) -> list[Form]:
        """Remember what one pass over the forms has changed."""
        if after is not before and after != before:
            self.done.append((self.changes, after))
        self.changes = []
        return after

    def _cheaper(self, before: list[Form], after: list[Form]) -> list[Form]:
        """Those of the forms that cost less once remainders are differences."""
        if after is not before and after != before:
            differences = self.differences
            now, then = self._cost(differences.written(before)), self._cost(differences.written(after))
            if then >= now:
                after = before
        return self._round(before, after)

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
                r = without(f, a)
                w = v // n
                self.changes.append(("known_digit_joins_quotient", (e // n, e, m, n, q, r, v, w, x)))
                return plus(r, (q[0] - m, q[1]), w)
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
        r = without(f, a)
        w = v // e
        t = engine.mod(x, e * n)
        self.changes.append(("known_digit_joins_digit", (e, m, n, q, r, t, v, w, x)))
        return plus(r, (t[0] - m, t[1]), w)

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
                    if single(t):
                        pairs[a] = t
        if not pairs:
            return forms
        out = []
        for f in forms:
            for a, v in f[1]:
                if a in pairs:
                    x, d, t = arg[a], divisor[a], pairs[a]
                    r = without(f, a)
                    w = v // d
                    self.changes.append(("multiple_is_difference", (d, r, t, v, w, x)))
                    f = plus(plus(r, x, w), t, -w)
            out.append(f)
        return out

    def _beside_dividends(self, forms: list[Form], survey: Survey) -> list[Form]:
        """Multiples of ``d·(x // d)`` that stand beside x, however often that is taken, as multiples of x and a remainder.

        ``2·x - d·(x // d)`` is ``x + x % d``, and ``2·x + d·(x // d)`` is ``3·x - x % d``.
        """
        engine = self.engine
        arg, divisor = engine.arg, engine.divisor
        candidates = []
        for a, at in survey.places.items():
            f, v = at[0]
            if len(at) == 1 and not v % divisor[a] and len(arg[a][1]) < len(f[1]):
                there = [t[0] for t in f[1]]
                if all([t[0] in there for t in arg[a][1]]):
                    candidates.append(a)
        if not candidates:
            return forms
        if len(candidates) > 1:
            self.order.sort(candidates)
        products = dict(survey.products)
        for a in candidates:
            x, d = arg[a], divisor[a]
            for i, f in enumerate(forms):
                v = dict(f[1]).get(a, 0)
                if not v or v % d:
                    continue
                r = without(f, a)
                w = v // d
                # the remainder takes the place of the quotient, whatever atom that will be
                g = plus(plus(r, x, w), (0, ((a, 1),)), -w)
                now = spent(f, products, -1)
                if spent(g, products, 1) < now:
                    t = engine.mod(x, d)
                    self.changes.append(("multiple_is_difference", (d, r, t, v, w, x)))
                    after = list(forms)
                    after[i] = plus(plus(r, x, w), t, -w)
                    forms = self._cheaper(forms, after)
                else:
                    spent(g, products, -1)
                    spent(f, products, 1)
        return forms

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
                    s = without(x, q)
                    z = engine.add(engine.scale(arg[b], k), without(y, b))
                    t = new[a] = engine.mod(engine.add(engine.scale(engine.floordiv(z, d), v), s), n)
                    self.changes.append(("digit_takes_congruent", (d, n, s, t, v, y, z)))
                    break
                if a in new:
                    break
        out = []
        for f in forms if new else ():
            for a, k in f[1]:
                if a in new:
                    f = plus(without(f, a), new[a], k)
            out.append(f)
        return out or forms

    def _without_inner_remainders(self, forms: list[Form], atoms: set[int], now: int) -> list[Form]:
        """Quotients with a remainder inside, as quotients without it where that is cheaper.

        ``((x % m)·k + r) // d`` is ``(x·k - (x // m)·(k·m - j·d) + r) // d - (x // m)·j``.  Where d does not divide k·m
        something of ``x // m`` stays inside, which is of use only where that is there already.  Quotients with the same
        remainder inside may only be cheaper together: what is subtracted from one is what another loses.  ``atoms`` are
        what the forms are made of, and ``now`` is what they cost.
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
            remainders = [b for b, k in y[1] if kind[b] == REMAINDER]
            if len(remainders) > 1:
                # not by when they were met: what is read again is met in another order
                self.order.sort(remainders)
            for b in remainders:
                x, m, k = arg[b], divisor[b], dict(y[1])[b]
                q = engine.floordiv(x, m)
                r = without(y, b)
                j = (k * m + d // 2) // d
                if k * m != j * d:
                    if not self._there(q, atoms):
                        continue
                    # the nearest multiple of the divisor leaves, unless all of it adds up with what is there
                    inside = [t[0] for t in r[1]]
                    if any([t[0] in inside for t in q[1]]):
                        j = 0
                stays = k * m - j * d
                z = engine.add(engine.scale(x, k), r)
                if stays:
                    z = engine.add(z, engine.scale(q, -stays))
                opened = engine.floordiv(z, d)
                change: Change = ("inner_remainder_leaves_quotient", (d, j, k, m, opened, q, r, x))
                option = (a, plus(opened, q, -j), change)
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
                changed = [instead(f, a, other) for f in changed]
            if changed == forms:
                continue
            after = self._cost(changed)
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
                r = without(f, a)
                self.changes.append(("exact_quotient_multiplies", (d, m, r, v, v // d, x)))
                return self._exact(plus(r, (x[0] - m, x[1]), v // d))
        return f

    def _differences_inside(self, forms: list[Form], survey: Survey, now: int) -> list[Form]:
        """The forms without those remainders inside dividends that cost less as differences.

        Only where the quotient is there already.  ``now`` is what the forms cost, -1 where that is not known.
        """
        engine = self.engine
        atoms = survey.atoms
        inner = list(survey.inner)
        if len(inner) > 1:
            self.order.sort(inner)
        tried = forms
        rounds: list[tuple[list[Change], list[Form]]] = []
        kept = 0
        for r in inner[:MOST]:
            x, d = engine.arg[r], engine.divisor[r]
            q = engine.floordiv(x, d)
            if r not in atoms or not self._there(q, atoms):
                continue
            self.beside = True
            changes: list[Change] = [("remainder_is_difference", (d, q, x))]
            after = self._replaced(tried, sorted(atoms), r, plus(x, q, -d), changes)
            if after is None:
                continue
            if now < 0:
                now = self._cost(forms)
            # what does not pay by itself may pay together with the next
            tried = after
            other = Survey(engine, self.weight, tried)
            atoms = other.atoms
            # each by itself: the next may change what this one has made
            rounds.append((changes, tried))
            if other.cost < now:
                now = other.cost
                forms = tried
                kept = len(rounds)
        self.done += rounds[:kept]
        return forms

    def _turned(self, forms: list[Form], survey: Survey) -> list[Form]:
        """The forms without those quotients and remainders that are others turned round, where that is cheaper.

        ``x // d`` is minus ``(d - 1 - x) // d``, and ``x % d`` with ``(d - 1 - x) % d`` is d - 1.
        """
        engine = self.engine
        kind, arg, divisor = engine.kind, engine.arg, engine.divisor
        while survey.opposites or survey.complements:
            candidates = [
                a
                for x, users in survey.dividends.items()
                for a in users
                if a in survey.complements or (kind[a] == QUOTIENT and x[1] in survey.opposites)
            ]
            if len(candidates) > 1:
                self.order.sort(candidates)
            best: tuple[Survey, list[Form], list[Change]] | None = None
            for a in candidates[:MOST]:
                x, d = arg[a], divisor[a]
                if kind[a] == QUOTIENT:
                    t = engine.floordiv(engine.shift(engine.scale(x, -1), d - 1), d)
                    if not self._there(t, survey.atoms) or a in [b for b, _ in t[1]]:
                        continue
                    by = plus((0, ()), t, -1)
                    changes: list[Change] = [("quotient_turns", (d, t, x))]
                else:
                    t = 0, ((survey.complements[a], 1),)
                    by = d - 1, ((survey.complements[a], -1),)
                    changes = [("remainder_turns", (d, t, x))]
                after = self._replaced(forms, sorted(survey.atoms), a, by, changes)
                if after is not None:
                    other = Survey(engine, self.weight, after)
                    if other.cost < (best[0] if best else survey).cost:
                        best = other, after, changes
            if best is None:
                break
            survey, forms, changes = best
            self.done.append((changes, forms))
        return forms

    def _there(self, q: Form, atoms: set[int]) -> bool:
        """Whether everything that a sum needs is among the atoms."""
        kind = self.engine.kind
        for a, _ in q[1]:
            if a not in atoms and kind[a] != VARIABLE:
                return False
        return True

    def _replaced(
        self, forms: list[Form], atoms: list[int], r: int, by: Form, changes: list[Change]
    ) -> list[Form] | None:
        """The forms with ``by`` for the atom ``r``, or ``None`` where that stays in a minimum, a maximum or a dividend.

        To ``changes`` are added quotients and remainders that come to another normal form.
        """
        engine = self.engine
        kind, arg, divisor = engine.kind, engine.arg, engine.divisor
        new: dict[int, Form] = {r: by}

        def changed(f: Form) -> Form:
            hit = [t for t in f[1] if t[0] in new]
            if hit:
                f = f[0], tuple([t for t in f[1] if t[0] not in new])
                for a, k in hit:
                    f = plus(f, new[a], k)
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
                changes.append(("", (t, z, d)))
                z = engine.renewed(z)
                if r in [b for b, _ in z[1]]:
                    return None
                new[a] = engine.floordiv(z, d) if t == QUOTIENT else engine.mod(z, d)
            elif t == MINIMUM or t == MAXIMUM:
                for f in engine.parts[a]:
                    if changed(f) != f:
                        return None
        return [changed(f) for f in forms]
