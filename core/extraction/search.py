"""Search for the choices in a ledger that lower its cost."""

from __future__ import annotations

from collections.abc import Callable
from math import gcd
from typing import Final

from ..kernel.form import QUOTIENT, REMAINDER, Form, Terms, atom, lone, minus, times
from .differences import MOST, Differences
from .ledger import ARGUMENT, Choice

__all__ = ["Search"]

#: Limit on the extra summands of a dividend that is nearly a multiple of another.
NARROW: Final = 8
#: Sums that stay within half of the 32-bit range are not widened beyond it by a summand that is moved into them.
_NARROW: Final = 1 << 30
#: The first number that a signed 32-bit integer does not hold.
_MACHINE: Final = 1 << 31
#: Limit on the passes over all ways.
ROUNDS: Final = 4


class Search(Differences):
    """Tries one kind of choice after another, singly and in groups, and keeps those that lower the cost."""

    def improve(self) -> None:
        """Make choices until none lowers the cost, in at most :data:`ROUNDS` passes."""
        kind = self.engine.kind
        if not any([kind[a] in (QUOTIENT, REMAINDER) for a in self.ledger.users]):
            return
        log, exact = self.ledger.log, bool(self.engine.exact)
        ways: list[Callable[[], None]] = [
            self.digits_with_rest,
            self.differences,
            self.inner_remainders,
            self.multiples,
            self.signs,
            self.turned,
            self.differences_inside,
            self.wider,
            self.constants,
            self.factors,
        ]
        if exact:
            ways = [self.known_digits, *ways, self.negated]
        # stop once every way has failed since the last choice
        idle = 0
        for _ in range(ROUNDS):
            for way in ways:
                mark = len(log)
                way()
                idle = idle + 1 if len(log) == mark else 0
                if idle == len(ways):
                    return

    def normal_forms(self) -> None:
        """Replace raw sums and atoms by their normal forms where that lowers the cost."""
        ledger = self.ledger
        for x in list(self.dividends()):
            if x in ledger.owners:
                ledger.attempt(self.normal_sum(x))
        for i in range(len(ledger.forms)):
            ledger.attempt(self.normal_sum(ledger.written[-1 - i]))
        for a in sorted(self.engine.normals):
            if a in ledger.users:
                ledger.attempt(self.normal_atom(a))

    # ---------------------------------------------------------------- dividends of others
    def wider(self) -> None:
        """Divide ``x = g·y + r`` instead of y where x is divided already (``0 <= r < g``)."""
        ledger = self.ledger
        dividends = self.dividends()
        costly = [x for x in dividends if lone(x) < 0]
        if len(dividends) < 2 or not costly:
            return
        wide = [x for x in costly if len(x[1]) > 1 or x[1][0][1] != 1]
        if len(wide) > 1:
            wide = self.widest(wide)[:MOST]
        for y in self.widest(costly):
            for x in wide:
                if x == y or x not in ledger.owners or y not in ledger.owners:
                    continue
                users = [a for a in dividends[y] if a in ledger.users and ledger.written[a] == y]
                if users and self._wider(y, users, x):
                    break

    def _wider(self, y: Form, users: list[int], x: Form) -> bool:
        ledger, engine = self.ledger, self.engine
        kind = engine.kind
        g = self._multiple(x, y)
        if g:
            r = minus(x, y, g)
            quotients: list[Choice] = []
            rest: list[Choice] = []
            for a in users:
                if kind[a] == QUOTIENT:
                    quotients += self.instead(a, "wider", g, r)
                else:
                    for f in ledger.users[a].values():
                        if not engine.coefficient(f, a) % g:
                            rest += self.everywhere(f, "wider_digit", a, g, r)
            return ledger.best([c for c in (quotients + rest, quotients, rest) if c])
        if len(users) > 1:
            return False
        a = users[0]
        if kind[a] == REMAINDER:
            if len(x[1]) >= len(y[1]) and not {b for b, _ in y[1]}.isdisjoint([b for b, _ in x[1]]):
                return ledger.attempt(self.instead(a, "congruent", x))
            return False
        return ledger.attempt(self.released(a, x))

    def _multiple(self, x: Form, y: Form) -> int:
        """Return the g with ``x = g·y + r`` and ``0 <= r < g``, or 0."""
        if len(x[1]) < len(y[1]) or len(x[1]) - len(y[1]) > NARROW:
            return 0
        there = dict(x[1])
        g = 0
        for a, k in y[1]:
            j = there.get(a, 0)
            if not g:
                g = j // k
                if g < 2:
                    return 0
            if g * k != j:
                return 0
        lo, hi = self.engine.range(minus(x, y, g)) if g else (0, 0)
        return g if g and lo >= 0 and hi < g else 0

    # ---------------------------------------------------------------- constants
    def constants(self) -> None:
        """Move constants into dividends, or out of them, where sums or divisions become equal."""
        ledger = self.ledger
        kind, users_of = self.engine.kind, ledger.users
        groups: dict[Terms, list[int]] = {}
        sums = 0
        inside = False
        for f, owners in ledger.owners.items():
            atoms = [a for a in owners if 0 <= a < ARGUMENT]
            if atoms:
                if f[1] in groups:
                    groups[f[1]] += atoms
                else:
                    groups[f[1]] = atoms
                if f[0]:
                    inside = True
            if f[0] and any([kind[a] == QUOTIENT for a, _ in f[1]]):
                sums += 1
        if not inside and sums < 2:
            return
        todo = list(groups.items())
        if len(todo) > 1:
            todo.sort(key=lambda g: self.digest((0, g[0])))
        for terms, atoms in todo:
            while True:
                atoms = [a for a in atoms if a in users_of and ledger.written[a][1] == terms]
                mark = len(ledger.log)
                options = self._shifts(atoms) if self._with_constants(atoms) else []
                if not options or not ledger.best(options):
                    break
                # the choices introduced other atoms
                for choice, _, _ in ledger.log[mark:]:
                    atoms += [a for a, _ in choice[1][1] if kind[a] in (QUOTIENT, REMAINDER) and a not in atoms]

    def _with_constants(self, atoms: list[int]) -> bool:
        """Return whether a dividend, or a sum with a quotient in it, has a constant."""
        ledger, kind = self.ledger, self.engine.kind
        for a in atoms:
            if ledger.written[a][0]:
                return True
            if kind[a] == QUOTIENT:
                for f in ledger.users[a].values():
                    if f[0]:
                        return True
        return False

    def _shifts(self, atoms: list[int]) -> list[list[Choice]]:
        """Return the options for other constants in dividends with the same summands."""
        ledger = self.ledger
        kind, divisor = self.engine.kind, self.engine.divisor
        if len(atoms) > 1:
            self.sort(atoms)
        wanted: set[int] = set()
        alone: dict[tuple[int, int], None] = {}
        for a in atoms:
            c, d = ledger.written[a][0], divisor[a]
            wanted.add(c)
            if kind[a] == QUOTIENT:
                for f in ledger.users[a].values():
                    if f[0]:
                        k = self.engine.coefficient(f, a)
                        if not f[0] % k:
                            n = c + f[0] // k * d
                            wanted.add(n)
                            if len(atoms) > 1:
                                alone[n, a] = None
            if len(atoms) > 1 or c:
                wanted.add(c - d)
                wanted.add(c % d)
        nearest = sorted(wanted, key=lambda n: (abs(n), n))[:MOST]
        tried = [(n, atoms) for n in nearest]
        ones = list(alone)
        if len(ones) > MOST:
            ones = sorted(ones, key=lambda t: abs(t[0]))[:MOST]
        tried += [(n, [a]) for n, a in ones]
        options = [self._shifted(some, n) for n, some in tried if self._may_pay(some, n)]
        return [o for o in options if o]

    def _may_pay(self, atoms: list[int], n: int) -> bool:
        """Return whether dividends with the constant n may cost less.  Sums that become equal to others are not counted."""
        ledger, engine = self.ledger, self.engine
        gain = 0
        before: set[int] = set()
        after: set[int] = set()
        same: set[tuple[int, int]] = set()
        changed: dict[Form, int] = {}
        for a in atoms:
            c, d = ledger.written[a][0], engine.divisor[a]
            before.add(c)
            if (n - c) % d:
                after.add(c)
                continue
            after.add(n)
            if (engine.kind[a], d) in same:
                return True
            same.add((engine.kind[a], d))
            if n != c and engine.kind[a] == QUOTIENT:
                for f in ledger.users[a].values():
                    changed[f] = changed.get(f, f[0]) - (n - c) // d * engine.coefficient(f, a)
        for c in before:
            gain += c != 0
        for c in after:
            gain -= c != 0
        for f, c in changed.items():
            gain += (f[0] != 0) - (c != 0)
        return gain > 0

    def _shifted(self, atoms: list[int], n: int) -> list[Choice]:
        """Give dividends the constant n where it differs from theirs by a multiple of the divisor."""
        engine = self.engine
        choices: list[Choice] = []
        for a in atoms:
            (c, terms), d = self.ledger.written[a], engine.divisor[a]
            if n != c and not (n - c) % d:
                if engine.kind[a] == QUOTIENT:
                    choices += self.instead(a, "summand", ((n - c) // d, ()))
                else:
                    choices += self.instead(a, "congruent", (n, terms))
        return choices

    # ---------------------------------------------------------------- signs
    def signs(self) -> None:
        """Give quotients of one dividend that are 0 or -1 the smallest of their divisors."""
        engine = self.engine
        for atoms in self.dividends().values():
            same = [a for a in atoms if engine.kind[a] == QUOTIENT and engine.lo[a] == -1 and engine.hi[a] == 0]
            if len(same) > 1:
                d = min([engine.divisor[a] for a in same])
                larger = [a for a in same if engine.divisor[a] != d]
                self.ledger.attempt([c for a in larger for c in self.instead(a, "other_divisor", d)])

    def turned(self) -> None:
        """Write a quotient or remainder of x by one of ``d - 1 - x``, or the other way round."""
        ledger = self.ledger
        kind, divisor = self.engine.kind, self.engine.divisor
        dividends = self.dividends()
        if len(dividends) < 2:
            return
        at: dict[tuple[int, int, Terms, int], list[int]] = {}
        candidates: list[tuple[int, int]] = []
        for x, atoms in dividends.items():
            terms = x[1]
            if not terms:
                continue
            for a in atoms:
                d = divisor[a]
                if kind[a] == QUOTIENT:
                    for b in at.get((1, d, tuple([(e, -k) for e, k in terms]), d - 1 - x[0]), ()):
                        candidates += [(a, b), (b, a)]
                    at.setdefault((1, d, terms, x[0]), []).append(a)
                else:
                    opposite = tuple([(e, -k % d) for e, k in terms])
                    for b in at.get((2, d, opposite, (-x[0] - 1) % d), ()):
                        candidates += [(a, b), (b, a)]
                    at.setdefault((2, d, tuple([(e, k % d) for e, k in terms]), x[0] % d), []).append(a)
        for a, b in candidates[:MOST]:
            if a in ledger.users and b in ledger.users:
                ledger.attempt(self._turned(a, b))

    def _turned(self, a: int, b: int) -> list[Choice]:
        """Write the quotient or remainder a of x by b, that of ``d - 1 - x``."""
        ledger, engine = self.ledger, self.engine
        x, d = ledger.written[a], engine.divisor[a]
        t = engine.raw(engine.kind[a], (d - 1 - x[0], times(x, -1)[1]), d)
        choices = self.instead(a, "turned", t)
        if t != atom(b):
            other = lone(t)
            same = self.instead(other, "congruent", ledger.written[b]) if engine.kind[other] == REMAINDER else []
            return choices + same if same else []
        return choices

    def negated(self) -> None:
        """Negate the dividends of quotients whose remainder is known, where that lowers the cost."""
        ledger = self.ledger
        for a in self.divisions(QUOTIENT):
            if a in ledger.users and ledger.written[a][0]:
                if any([all([k < 0 for _, k in f[1]]) for f in ledger.users[a].values()]):
                    ledger.attempt(self.instead(a, "negated"))

    # ---------------------------------------------------------------- digits
    def digits_with_rest(self) -> None:
        """Write ``g·(x mod d) + r`` with ``0 <= r < g`` as one remainder of ``g·x + r``."""
        ledger, engine = self.ledger, self.engine
        kind = engine.kind
        for f in list(ledger.owners):
            c, terms = f
            a, k = 0, 1
            for t in terms:
                if abs(t[1]) > abs(k):
                    a, k = t
            if k == 1 or kind[a] != REMAINDER or (not c and len(terms) == 1) or f not in ledger.owners:
                continue
            h = gcd(c, *[j for _, j in terms])
            if k < 0:
                h = -h
            g = k // h
            r = c // h, tuple([(b, j // h) for b, j in terms if b != a])
            choices = self.everywhere(f, "wider_digit", a, g, r)
            if not choices:
                continue
            for u in list(ledger.owners[ledger.written[a]]):
                if 0 <= u < ARGUMENT and kind[u] == QUOTIENT:
                    choices += self.instead(u, "wider", g, r)
            ledger.attempt(choices)

    # ---------------------------------------------------------------- factors
    def factors(self) -> None:
        """Make coefficients in dividends cheaper: those of a remainder matter only modulo the divisor."""
        ledger, engine = self.ledger, self.engine
        kind, divisor = engine.kind, engine.divisor
        for atoms in self.dividends().values():
            a = atoms[0]
            if len(atoms) == 1 and kind[a] == REMAINDER and a in ledger.users:
                y = self._reduced(ledger.written[a], divisor[a])
                if y is not None:
                    ledger.attempt(self.instead(a, "congruent", y))
                y = self._smaller(ledger.written[a], divisor[a]) if a in ledger.users else None
                if y is not None:
                    ledger.attempt(self.instead(a, "congruent", y), even=True)
        for x, atoms in self.dividends().items():
            if len(x[1]) > 1 and x in ledger.owners:
                self._take_summands(x, atoms)

    def _reduced(self, y: Form, d: int) -> Form | None:
        """Return a congruent sum modulo d none of whose coefficients costs more, or ``None``."""
        if all([k == 1 for _, k in y[1]]):
            return None
        terms = []
        negative = self.engine.range(y)[0] < 0
        products = self.ledger.products
        opposite = not y[0]
        for a, k in y[1]:
            if k == -1:
                if d == 2:
                    k = 1
            elif k != 1 and products[a, abs(k)] == 1:
                if k % d == 1:
                    k = 1
                elif k % d == d - 1 and negative:
                    k = -1
            if k > 0:
                opposite = False
            terms.append((a, k))
        if opposite:
            free = [(k, self.digest(atom(a)), a) for a, k in terms if k != -1 and d <= -2 * k]
            if free:
                at = min(free)[2]
                terms = [(a, k % d if a == at else k) for a, k in terms]
        x = y[0], tuple(terms)
        return x if x != y else None

    def _smaller(self, y: Form, d: int) -> Form | None:
        """Reduce the coefficients of a sum that may exceed 32 bits modulo d, unless it may become negative then."""
        if not any([abs(k) >= d for _, k in y[1]]):
            return None
        lo, hi = self.engine.range(y)
        if lo >= -_MACHINE and hi < _MACHINE:
            return None
        terms = [(a, k % d if k > 0 else -(-k % d)) for a, k in y[1]]
        x = y[0], tuple([t for t in terms if t[1]])
        return x if lo < 0 or self.engine.range(x)[0] >= 0 else None

    def _take_summands(self, y: Form, atoms: list[int]) -> None:
        """Move summands beside a quotient into its dividend if their atom occurs there and the cost falls."""
        ledger, engine = self.ledger, self.engine
        kind, divisor = engine.kind, engine.divisor
        found: dict[tuple[int, int], None] = {}
        inside = {t[0] for t in y[1]}
        for a in atoms:
            if kind[a] == QUOTIENT and ledger.written.get(a) == y:
                for f in ledger.users[a].values():
                    v = engine.coefficient(f, a)
                    for b, w in f[1]:
                        if b in inside and not w % v:
                            s = w // v * divisor[a]
                            if not any([s % divisor[u] for u in atoms]):
                                found[b, s] = None
        candidates = list(found)
        if len(candidates) > 1:
            candidates.sort(key=lambda t: (abs(t[1]), t[1], self.digest(atom(t[0]))))
        for b, s in candidates:
            if not self._harmless(y, b, s):
                continue
            choices: list[Choice] = []
            for a in atoms:
                d = divisor[a]
                if a not in ledger.users or ledger.written[a] != y:
                    continue
                if kind[a] == QUOTIENT:
                    choices += self.instead(a, "summand", (0, ((b, s // d),)))
                else:
                    choices += self.instead(a, "congruent", minus(y, atom(b), -s))
            if ledger.attempt(choices):
                return

    def _harmless(self, x: Form, b: int, s: int) -> bool:
        """Return whether adding ``s·b`` makes no sum negative or wide that was not so before."""
        engine = self.engine
        lo, hi = engine.range(x)
        low, high = engine.range(minus(x, atom(b), -s))
        if low < 0 <= lo:
            return False
        k = engine.coefficient(x, b)
        if abs(k + s) > abs(k):
            a, c = engine.range((0, ((b, k + s),)))
            if min(low, a) < min(lo, -_NARROW) or max(high, c) > max(hi, _NARROW):
                return False
        return True
