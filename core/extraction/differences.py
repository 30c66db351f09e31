"""Write the remainder of a dividend as a difference with its quotient, or the quotient with the remainder."""

from __future__ import annotations

from typing import Final

from ..kernel.form import QUOTIENT, REMAINDER, Form, atom, lone, minus, times
from .ledger import ARGUMENT, Choice
from .proposals import Proposals

__all__ = ["MOST", "Differences"]

#: Limit on the candidates that one way tries, so that its time grows linearly with the map: remainders inside dividends,
#: dividends that may become those of others, constants.
MOST: Final = 16


class Differences(Proposals):
    """Chooses between remainders, multiples of quotients, and differences."""

    def differences(self) -> None:
        """Write remainders as ``x - d·(x // d)`` where the quotient is written already, or is the only new atom."""
        ledger = self.ledger
        again = True
        while again:
            again = False
            for a in self.divisions(REMAINDER):
                if a not in ledger.users:
                    continue
                q = self.quotient(a)
                new = [b for b, _ in ledger.resolved(q)[1] if self.engine.kind[b] and b not in ledger.users]
                if new and (len(new) > 1 or not self._pays(a, new[0])):
                    continue
                ways = [self.instead(a, "needed_quotient", q), self._without(a, q), self._same_dividend(a, q)]
                if ledger.best([c for c in ways if c]) and new:
                    # the new quotient may be the one that another remainder needs
                    again = True

    def _without(self, a: int, q: Form) -> list[Choice]:
        """Write the quotient by the remainder, if every sum with it takes a multiple of the divisor."""
        engine, ledger = self.engine, self.ledger
        b = lone(q)
        sums = list(ledger.users[b].values()) if b in ledger.users else []
        if not all([not engine.coefficient(f, b) % engine.divisor[a] for f in sums]):
            return []
        return [c for f in sums for c in self.everywhere(f, "needed_remainder", b, atom(a))]

    def _same_dividend(self, a: int, q: Form) -> list[Choice]:
        """Write the quotient that belongs to a remainder as a quotient of the remainder's dividend."""
        b = lone(q)
        if b not in self.ledger.users or self.engine.kind[b] != QUOTIENT:
            return []
        return self.released(b, self.ledger.written[a])

    def released(self, a: int, x: Form) -> list[Choice]:
        """Write a quotient of ``y + e·s`` as one of ``x = y // e + s``."""
        ledger, engine = self.ledger, self.engine
        for b, k in x[1]:
            if k != 1 or engine.kind[b] != QUOTIENT or engine.divisor[a] % engine.divisor[b]:
                continue
            e = engine.divisor[b]
            inside = ledger.written[b]
            if minus(minus(inside, x, -e), atom(b), e) == ledger.written[a]:
                return self.instead(a, "divided_part", e, atom(b), inside)
        return []

    def _pays(self, a: int, q: int) -> bool:
        """Return whether writing a remainder by its quotient may pay: summands of the dividend combine with others."""
        engine, ledger = self.engine, self.ledger
        if engine.kind[q] != QUOTIENT or not self.there(engine.arg[q]):
            return False
        x = ledger.written[a]
        for f in ledger.users[a].values():
            total = dict(f[1])
            for b, k in x[1]:
                j = total.get(b, 0)
                if j and (j + k * total[a] == 0 or (j not in (1, -1) and abs(j + k * total[a]) == 1)):
                    return True
        return False

    def differences_inside(self) -> None:
        """Write remainders inside dividends as differences and normalize the dividends; keep the cheapest prefix."""
        ledger, engine = self.ledger, self.engine
        kind = engine.kind
        inner: list[int] = []
        for r, users in ledger.users.items():
            if kind[r] == REMAINDER:
                if any([0 <= o < ARGUMENT for f in users.values() for o in ledger.owners[f]]):
                    inner.append(r)
        if len(inner) > 1:
            self.sort(inner)
        mark = len(ledger.log)
        cost = ledger.cost
        for r in inner[:MOST]:
            if r not in ledger.users:
                continue
            q = self.quotient(r)
            if not self.there(q):
                continue
            before = len(ledger.log)
            dividends = [o for f in ledger.users[r].values() for o in ledger.owners[f] if 0 <= o < ARGUMENT]
            choices = self.instead(r, "needed_quotient", q)
            if not choices or not ledger.choose(choices[0]):
                ledger.undo(before)
                continue
            for b in sorted(dividends):
                if b not in ledger.users:
                    continue
                for choice in self.read_again(b):
                    if not ledger.reaches(choice[1], r):
                        ledger.choose(choice)
            if ledger.cost < cost:
                cost, mark = ledger.cost, len(ledger.log)
        ledger.undo(mark)

    def inner_remainders(self) -> None:
        """Remove remainders from the dividends of quotients."""
        ledger, engine = self.ledger, self.engine
        kind, divisor = engine.kind, engine.divisor
        together: dict[int, list[Choice]] = {}
        quotients = self.divisions(QUOTIENT)
        divisors: dict[int, list[int]] = {}
        for a in quotients:
            divisors.setdefault(divisor[a], []).append(a)
        for a in quotients:
            if a not in ledger.users:
                continue
            y, d = ledger.written[a], divisor[a]
            remainders = [b for b, _ in y[1] if kind[b] == REMAINDER]
            if len(remainders) > 1:
                self.sort(remainders)
            for b in remainders:
                m, k = divisor[b], engine.coefficient(y, b)
                q = self.quotient(b)
                r = engine.normal(minus(y, atom(b), k))
                j = (k * m + d // 2) // d
                exact = k * m == j * d
                if exact:
                    # pays only if a division disappears: the remainder's, or this one because it equals another
                    if not self.there(q) and len(divisors[d]) < 2:
                        continue
                else:
                    if not self.there(q):
                        continue
                    # the nearest multiple of the divisor leaves the division, unless the quotient combines with the rest
                    inside = [t[0] for t in r[1]]
                    if any([t[0] in inside for t in q[1]]):
                        j = 0
                z = engine.add(times(engine.normal(engine.arg[b]), k), r)
                if not exact:
                    z = engine.add(z, times(engine.normal(q), j * d - k * m))
                choices = self.instead(a, "inner_remainder", b, j, engine.floordiv(z, d), q)
                if not choices:
                    continue
                if ledger.attempt(choices):
                    break
                together.setdefault(b, []).extend(choices)
        for choices in together.values():
            if len(choices) > 1:
                ledger.attempt([c for c in choices if c[0] in ledger.users])

    def multiples(self) -> None:
        """Write multiples of ``d·(x // d)`` as differences of x and a remainder."""
        ledger, engine = self.ledger, self.engine
        kind, divisor = engine.kind, engine.divisor
        found: dict[int, list[Form]] = {}
        for f in ledger.owners:
            for a, v in f[1]:
                if kind[a] == QUOTIENT and not v % divisor[a]:
                    found.setdefault(a, []).append(f)
        candidates = list(found)
        if len(candidates) > 1:
            self.sort(candidates)
        for a in candidates:
            if a not in ledger.users:
                continue
            x, d = engine.arg[a], divisor[a]
            if lone(x) < 0 and not self._joins(a, x):
                continue
            t = engine.mod(engine.normal(x), d)
            if a in engine.normals:
                b = engine.raws.get((REMAINDER, x, d), -1)
                if b in ledger.users:
                    t = atom(b)
            choices: list[Choice] = []
            failed = 0
            for f in found[a]:
                if f not in ledger.owners:
                    continue
                mine = self.everywhere(f, "needed_remainder", a, t)
                if mine and not ledger.attempt(mine):
                    choices += mine
                    failed += 1
            if failed > 1:
                ledger.attempt(choices)

    def _joins(self, a: int, x: Form) -> bool:
        """Return whether a sum with the quotient has its dividend too, or the remainder is written anywhere."""
        ledger, engine = self.ledger, self.engine
        for f in ledger.users[a].values():
            there = [t[0] for t in f[1]]
            if all([t[0] in there for t in x[1]]):
                return True
        for owner in ledger.owners.get(ledger.written[a], ()):
            if 0 <= owner < ARGUMENT and engine.kind[owner] == REMAINDER:
                if engine.divisor[owner] == engine.divisor[a]:
                    return True
        return False

    def known_digits(self) -> None:
        """Join multiples of quotients and digits with the digit below them, where that digit is known."""
        ledger, engine = self.ledger, self.engine
        kind, arg, divisor = engine.kind, engine.arg, engine.divisor
        for f in self.sums():
            if f not in ledger.owners:
                continue
            todo = list(f[1])
            mark, cost = len(ledger.log), ledger.cost
            g = f
            while todo:
                a, v = todo.pop()
                choices: list[Choice] = []
                if kind[a] == QUOTIENT:
                    choices = self._above_known(g, a, v)
                elif kind[a] == REMAINDER:
                    b = lone(arg[a])
                    if b >= 0 and kind[b] == QUOTIENT and not v % divisor[b]:
                        e, n, x = divisor[b], divisor[a], engine.normal(arg[b])
                        if not engine.mod(x, e)[1]:
                            choices = self.everywhere(g, "digit_above_known", a, e, engine.mod(x, e * n), x)
                if choices:
                    owner = next(iter(ledger.owners[g]))
                    if not all([ledger.choose(c) for c in choices]):
                        break
                    g = ledger.written.get(owner, g)
                    if g not in ledger.owners:
                        break
                    todo = list(g[1])
            if len(ledger.log) > mark:
                self.differences()
                if ledger.cost >= cost:
                    ledger.undo(mark)

    def _above_known(self, f: Form, a: int, v: int) -> list[Choice]:
        engine = self.engine
        x, e = engine.normal(engine.arg[a]), engine.divisor[a]
        if not v % e and engine.known_remainder(x, e) is not None:
            return self.everywhere(f, "known_remainder", a, v // e)
        for terms, n in engine.exact:
            if v % n or e % n or n < 2 or n == e:
                continue
            q = engine.floordiv(x, e // n)
            if q[1] == terms and engine.known_remainder(q, n) is not None:
                return self.everywhere(f, "known_digit", a, e // n, q)
        return []
