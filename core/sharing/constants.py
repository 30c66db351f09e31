"""Constants that stand in sums with quotients or in what those divide, moved to where they cost least."""

from __future__ import annotations

from ..engine import Engine
from ..kernel.form import QUOTIENT, REMAINDER, Form, Terms
from .order import Order
from .spelling import Spelling
from .survey import Survey

__all__ = ["Constants", "in_place"]


def in_place(spelling: Spelling, survey: Survey) -> bool:
    """Whether no constant can be moved with gain: no dividend has one, and at most one sum.

    To move the constant of one sum makes one in a dividend, which costs as much.
    """
    for x in survey.dividends:
        if x[0]:
            return False
    for y, _ in spelling.dividend.values():
        if y[0]:
            return False
    found: Form | None = None
    for at in survey.places.values():
        for f, _ in at:
            if f[0]:
                if found is not None and f != found:
                    return False
                found = f
    return True


class Constants:
    """Moves constants from sums into the dividends of the quotients in them where that saves an addition.

    ``(x + c) // d - j`` is ``(x + c - j·d) // d``, and dividends that differ by a constant only are the same one then.
    """

    def __init__(
        self, engine: Engine, order: Order, spelling: Spelling, survey: Survey, forms: list[Form]
    ) -> None:
        self.engine = engine
        self.order = order
        self.spelling = spelling
        self.survey = survey
        #: by their summands, the constants of sums that are needed whatever divides them
        self.there: dict[Terms, set[int]] = {}
        for f in [*forms, *survey.arguments(engine)]:
            if f[0]:
                self.there.setdefault(f[1], set()).add(f[0])
        #: the constants and divisors that atoms are written with so far
        self.first: dict[int, tuple[int, int]] = {}
        #: the constants of sums after what was moved so far, where those are not their own
        self.now: dict[Form, int] = {}

    def move(self) -> None:
        """Choose where the constants stand; :attr:`now` says what is left of them in sums."""
        groups = [g for g in self._groups().items() if len(g[1]) > 1 or self.first[g[1][0]][0]]
        if len(groups) > 1:
            # the first takes what it can use: what is first must not depend on where the constants are
            groups.sort(key=self._rank)
        kind = self.engine.kind
        for terms, users in groups:
            if len(users) > 1:
                self.order.sort(users)
            if self._settled(users):
                continue
            options = [{self.first[a][0]: 0} if kind[a] == REMAINDER else self._options(a) for a in users]
            if len(users) > 1 or len(options[0]) > 1:
                self._write(users, terms, self._cheapest(users, options, self.there.get(terms)))

    def _rank(self, group: tuple[Terms, list[int]]) -> int:
        """An order of dividends without their constants that does not depend on when their atoms were met."""
        return self.order.digest((0, group[0]))

    def _groups(self) -> dict[Terms, list[int]]:
        """The quotients and remainders of dividends that differ in their constants at most, by those."""
        divisor, spelling = self.engine.divisor, self.spelling
        groups: dict[Terms, list[int]] = {}
        for x, users in self.survey.dividends.items():
            for a in users:
                y, d = x, divisor[a]
                if a in spelling.dividend:
                    if spelling.reason[a][0] != "quotient_releases_summand":
                        continue
                    y, d = spelling.dividend[a]
                self.first[a] = y[0], d
                if y[1] in groups:
                    groups[y[1]].append(a)
                else:
                    groups[y[1]] = [a]
        return groups

    def _settled(self, users: list[int]) -> bool:
        """:func:`in_place` for the users of one group, as the constants are now."""
        now, places = self.now, self.survey.places
        found: Form | None = None
        for a in users:
            if self.first[a][0]:
                return False
            for f, _ in places.get(a, ()):
                if now.get(f, f[0]):
                    if found is not None and f != found:
                        return False
                    found = f
        return True

    def _options(self, a: int) -> dict[int, int]:
        """The constants with which a quotient may be written, and how many of its sums have one then."""
        c, d = self.first[a]
        now, at = self.now, self.survey.places.get(a, [])
        shifts = [0]
        for f, k in at:
            n = now.get(f, f[0])
            if n and not n % k and n // k not in shifts:
                shifts.append(n // k)
        found = {}
        for j in shifts:
            spent = 0
            for f, k in at:
                if now.get(f, f[0]) != k * j:
                    spent += 1
            found[c + j * d] = spent
        return found

    def _write(self, users: list[int], terms: Terms, chosen: list[int]) -> None:
        """Write the users of a dividend with the constants that were chosen."""
        kind, now, spelling = self.engine.kind, self.now, self.spelling
        for a, n in zip(users, chosen, strict=True):
            c, d = self.first[a]
            if n == c:
                continue
            spelling.dividend[a] = (n, terms), d
            if kind[a] == REMAINDER:
                spelling.reason[a] = "remainder_takes_congruent", ()
                continue
            j = (n - c) // d
            spelling.reason.setdefault(a, ("summand_joins_quotient", ()))
            spelling.offset[a] = j, ()
            for f, k in self.survey.places.get(a, []):
                now[f] = now.get(f, f[0]) - k * j

    def _cheapest(self, users: list[int], options: list[dict[int, int]], there: set[int] | None) -> list[int]:
        """For each user the constant to write its dividend with; few different constants, few left in sums.

        Those that are ``there`` anyway cost nothing.
        """
        kind, now = self.engine.kind, self.now
        firsts = [self.first[a] for a in users]
        #: constants of the sums that the quotients stand in, and for each user in which and how often
        constants: list[int] = []
        stands: list[list[tuple[int, int]]] = []
        numbers: dict[Form, int] = {}
        for a in users:
            mine = []
            for f, k in self.survey.places.get(a, ()):
                i = numbers.get(f, -1)
                if i < 0:
                    i = numbers[f] = len(constants)
                    constants.append(now.get(f, f[0]))
                mine.append((i, k))
            stands.append(mine)
        #: what is spent at least: a dividend keeps its constant up to multiples of the divisor
        least = 0
        if any([c % d for c, d in firsts]) or (any(constants) and not any([c for c, _ in firsts])):
            least = 1
        best = -1
        result: list[int] = []
        if there:
            # as it is, unless another choice costs less
            least = 0
            result = [c for c, _ in firsts]
            best = len(set(result) - there - {0})
            for n in constants:
                if n:
                    best += 1
            if not best:
                return result
        for wanted in self._wanted(firsts, options):
            for everywhere in (False, True):
                chosen = []
                used = {0, *there} if there else {0}
                free = len(used)
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
                spent = len(used) - free
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

    @staticmethod
    def _wanted(firsts: list[tuple[int, int]], options: list[dict[int, int]]) -> list[int]:
        """The constants that all users may have, the smallest first."""
        found = {n for o in options for n in o}
        if len(firsts) > 1:
            for c, d in firsts:
                if c - d not in found:
                    # the same number below zero may serve several divisors
                    fitting = 0
                    for other, by in firsts:
                        if not (c - d - other) % by:
                            fitting += 1
                    if fitting > 1:
                        found.add(c - d)
        candidates = sorted(found)
        candidates.sort(key=abs)
        return candidates
