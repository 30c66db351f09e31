"""Factors in dividends that nothing else divides, as numbers that cost less.

For a remainder, multiples of the divisor are of no use: ``(7·x + y) % 3`` is ``(x + y) % 3``.  What stands beside a
quotient can join what is in its dividend already: ``(7·x + y) // 3 - 2·x`` is ``(x + y) // 3``.  What is divided and never
negative stays so: then division needs no correction on any machine.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from ..engine import Engine
from ..kernel.form import REMAINDER, Form, Terms
from .order import Order
from .spelling import Spelling
from .sums import Products, plus, spent
from .survey import Survey

__all__ = ["Factors"]

#: The rules by which a dividend is written that differs from its own by a constant at most.
_SAME: Final = ("summand_joins_quotient", "remainder_takes_congruent")

#: Numbers that are less than half of what 32 bits hold are not made wider than that by what is added on the way.
_NARROW: Final = 1 << 30


class Factors:
    """Chooses factors for atoms whose dividends are written as they are, but for constants.

    ``moved`` are the constants of sums after some have moved to dividends.
    """

    def __init__(
        self, engine: Engine, order: Order, spelling: Spelling, survey: Survey, moved: dict[Form, int]
    ) -> None:
        self.engine = engine
        self.order = order
        self.spelling = spelling
        self.survey = survey
        self.moved = moved
        #: sums as they are written after something in them has joined a dividend
        self.now: dict[Form, Form] = {}

    def choose(self, forms: list[Form]) -> None:
        """Choose the factors in all dividends of the forms."""
        remainders = self._remainders() if self.survey.remainders else []
        shared = self._shared()
        if not remainders and not shared:
            return
        dividend, reason = self.spelling.dividend, self.spelling.reason
        arg, divisor = self.engine.arg, self.engine.divisor
        # constants aside, what stands elsewhere too or is what other dividends are written as has the factors it has
        taken = {f[1] for f in [*forms, *self.survey.arguments(self.engine)]}
        for a, (x, _) in dividend.items():
            if reason[a][0] not in _SAME:
                taken.add(x[1])
        groups: dict[Terms, list[int]] = {}
        for y, users in self.survey.dividends.items():
            groups[y[1]] = groups.get(y[1], []) + users
        products = dict(self.survey.products)
        for a in remainders:
            y = arg[a]
            if y[1] not in taken and len(groups[y[1]]) == 1:
                x = y[0], self._reduced(y, divisor[a], products)
                if x != y:
                    dividend[a] = x, divisor[a]
                    reason[a] = "remainder_takes_congruent", ()
        for y in self.order.widest(list(dict.fromkeys([(0, x[1]) for x in shared]))):
            users = groups[y[1]]
            if y[1] not in taken and all([self._as_it_is(a) for a in users]):
                self._take_summands(y, users, products)

    def _as_it_is(self, a: int) -> bool:
        """Whether an atom is written with its own dividend, but for a constant or multiples of the divisor."""
        spelling = self.spelling
        if a in spelling.negated:
            return False
        return a not in spelling.dividend or spelling.reason[a][0] in _SAME

    def _remainders(self) -> list[int]:
        """The remainders whose dividends have factors that can be 1 or -1, or nothing to subtract from."""
        kind, divisor = self.engine.kind, self.engine.divisor
        found = []
        for y, users in self.survey.dividends.items():
            a = users[0]
            if len(users) > 1 or kind[a] != REMAINDER or a in self.spelling.dividend:
                continue
            d = divisor[a]
            opposite = not y[0]
            saves = False
            for _, k in y[1]:
                if k > 0:
                    opposite = False
                if k != 1 and k != -1 and (k % d == 1 or k % d == d - 1):
                    saves = True
            if saves or opposite:
                found.append(a)
        return found

    def _reduced(self, y: Form, d: int, products: Products) -> Terms:
        """The summands of y with other factors that leave the same remainder, each of which costs less or as much."""
        terms: dict[int, int] = {}
        opposite = not y[0]
        negative = self.engine.range(y)[0] < 0
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
            terms[a] = k
        if opposite:
            # one that is multiplied anyway, the same whatever the order of the atoms is
            free = [a for a, k in terms.items() if k != -1 and d <= -2 * k and products[a, -k] == 1]
            if free:
                a = min(free, key=lambda a: (terms[a], self.order.digest((0, ((a, 1),)))))
                terms[a] %= d
        return tuple(terms.items())

    def _shared(self) -> list[Form]:
        """Dividends with quotients that stand beside something that is in the dividend too."""
        places = self.survey.places
        found = []
        for y, users in self.survey.dividends.items():
            if len(y[1]) < 2:
                continue
            inside = [t[0] for t in y[1]]
            if any([self._beside(inside, places[a]) for a in users if a in places]):
                found.append(y)
        return found

    @staticmethod
    def _beside(inside: list[int], places: list[tuple[Form, int]]) -> bool:
        """Whether one of the atoms stands in one of the sums, as often as the quotient or a multiple of that."""
        for f, v in places:
            for b, w in f[1]:
                if b in inside and not w % v:
                    return True
        return False

    def _take_summands(self, y: Form, users: list[int], products: Products) -> None:
        """Move what stands beside quotients, and is in their dividend too, into that where it costs less."""
        divisor, spelling, places = self.engine.divisor, self.spelling, self.survey.places
        arg = self.engine.arg
        dividends = {a: spelling.dividend.get(a, (arg[a], 0))[0] for a in users}
        sums = {f: self._now(f) for a in users if a in places for f, _ in places[a]}
        joined: dict[int, Form] = {}
        for b, s in self._candidates(y, users, sums):
            if not self._harmless(dict.fromkeys(dividends.values()), b, s):
                continue
            wider = {a: plus(x, (0, ((b, s),)), 1) for a, x in dividends.items()}
            others = dict(sums)
            for a in users:
                for f, v in places.get(a, ()):
                    others[f] = plus(others[f], (0, ((b, s // divisor[a]),)), -v)
            before = [*sums.values(), *dict.fromkeys(dividends.values())]
            after = [*others.values(), *dict.fromkeys(wider.values())]
            cost = sum([spent(f, products, -1) for f in before])
            if sum([spent(f, products, 1) for f in after]) < cost:
                dividends, sums = wider, others
                for a in users:
                    joined[a] = plus(joined.get(a, (0, ())), (0, ((b, s // divisor[a]),)), 1)
            else:
                for f in after:
                    spent(f, products, -1)
                for f in before:
                    spent(f, products, 1)
        self.now.update(sums)
        for a, t in joined.items():
            spelling.dividend[a] = dividends[a], divisor[a]
            if a in places:
                spelling.reason.setdefault(a, ("summand_joins_quotient", ()))
                spelling.offset[a] = plus(spelling.offset.get(a, (0, ())), t, 1)
            else:
                spelling.reason[a] = "remainder_takes_congruent", ()

    def _now(self, f: Form) -> Form:
        """The sum as it is written so far."""
        return self.now.get(f, (self.moved.get(f, f[0]), f[1]))

    def _candidates(self, y: Form, users: list[int], sums: dict[Form, Form]) -> list[tuple[int, int]]:
        """What may be added to a dividend: an atom of it, so often that a sum does not need it any more."""
        divisor, places = self.engine.divisor, self.survey.places
        found: dict[tuple[int, int], None] = {}
        for a in users:
            for f, v in places.get(a, ()):
                there = dict(sums[f][1])
                for b, _ in y[1]:
                    w = there.get(b, 0)
                    if w and not w % v:
                        s = w // v * divisor[a]
                        if not any([s % divisor[u] for u in users]):
                            found[b, s] = None
        candidates = list(found)
        if len(candidates) > 1:
            # the first that pays is taken: not by when atoms were met
            candidates.sort(key=lambda t: (abs(t[1]), t[1], self.order.digest((0, ((t[0], 1),)))))
        return candidates

    def _harmless(self, dividends: Iterable[Form], b: int, s: int) -> bool:
        """Whether ``s·b`` can be added: nothing becomes negative that was not, and no number wide that was not."""
        engine = self.engine
        for x in dividends:
            lo, hi = engine.range(x)
            low, high = engine.range(plus(x, (0, ((b, s),)), 1))
            if low < 0 <= lo:
                return False
            k = dict(x[1]).get(b, 0)
            if abs(k + s) > abs(k):
                a, c = engine.range((0, ((b, k + s),)))
                if min(low, a) < min(lo, -_NARROW) or max(high, c) > max(hi, _NARROW):
                    return False
        return True
