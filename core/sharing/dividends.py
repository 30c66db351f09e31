"""Which dividends quotients and remainders are written with: of two that are near each other one is enough."""

from __future__ import annotations

from typing import Final

from ..engine import Engine
from ..kernel.form import OPAQUE, QUOTIENT, REMAINDER, VARIABLE, Form
from .constants import Constants, in_place
from .digit_with_rest import digit_with_rest, saved
from .factors import Factors
from .order import Order
from .spelling import Spelling
from .sums import plus, single
from .survey import Survey

__all__ = ["Dividends"]

#: So many of the widest dividends are tried as spellings of others: time grows with the size of a map and not faster.
WIDEST: Final = 16
#: What one dividend has more than another it is a multiple of has at most so many summands.
NARROW: Final = 8


class Dividends:
    """Chooses dividends, the constants in them among the rest, and sums that are written as one remainder."""

    def __init__(self, engine: Engine, order: Order) -> None:
        self.engine = engine
        self.order = order
        self.spelling = Spelling()
        #: how many operations less it will be once what is written is read again
        self.promised = 0
        #: whether several sums are divided that differ in more than a constant
        self.several = False
        #: dividends that are there anyway, the widest first, and what variables are in them
        self.wide: list[Form] = []
        self.inside: list[int] = []
        #: the variables in atoms, as the bits of a number
        self.variables: dict[int, int] = {}

    def choose(self, forms: list[Form], survey: Survey) -> None:
        """Choose how the atoms of the forms are written."""
        dividends = survey.dividends
        costly = [x for x in dividends if not single(x)]
        if not costly:
            return
        if len(costly) > 1:
            self.several = len({x[1] for x in costly if len(x[1]) > 1}) > 1
        wide: list[Form] = []
        if len(dividends) > 1:
            wide = [x for x in costly if len(x[1]) > 1 or x[1][0][1] != 1]
            if len(wide) > WIDEST or (len(wide) > 1 and (len(costly) > 2 or survey.joinable)):
                wide = self.order.widest(wide)[:WIDEST]
        if wide and len(costly) > 1:
            # of two, one is near the other at most: their order is of no use
            inside = [self._variables(x) for x in wide]
            for y in costly:
                mine = self._variables(y)
                near = [x for i, x in enumerate(wide) if not mine & ~inside[i] and x != y]
                if near:
                    self._widen(y, dividends[y], near)
        spelling = self.spelling
        if survey.remainders:
            self._take_in(forms, survey)
        if survey.joinable or spelling.whole:
            for x in self.order.widest(wide) if spelling.whole else wide:
                if len(x[1]) > 1 or x[0]:
                    self.wide.append(x)
                    self.inside.append(self._variables(x))
        moved: dict[Form, int] = {}
        if not in_place(spelling, survey):
            constants = Constants(self.engine, self.order, spelling, survey, forms)
            constants.move()
            moved = constants.now
        if self.engine.exact:
            self._negate(survey, moved)
        Factors(self.engine, self.order, spelling, survey, moved).choose(forms)

    def _widen(self, y: Form, users: list[int], wide: list[Form]) -> None:
        """Write what is divided with the dividend y by another dividend instead, if there is one."""
        engine, spelling = self.engine, self.spelling
        kind, divisor = engine.kind, engine.divisor
        for x in wide:
            g = self._multiple(x, y)
            if g:
                for a in users:
                    if kind[a] == QUOTIENT and spelling.free_of(engine, x, a):
                        spelling.dividend[a] = x, g * divisor[a]
                        spelling.reason[a] = "quotient_widens", (g, _rest(x, y, g))
                return
        if len(users) > 1:
            return
        a = users[0]
        d = divisor[a]
        if kind[a] == REMAINDER:
            for x in wide:
                if spelling.free_of(engine, x, a) and engine.mod(x, d) == (0, ((a, 1),)):
                    spelling.dividend[a] = x, d
                    spelling.reason[a] = "remainder_takes_congruent", ()
                    return
            return
        for x in wide:
            for i, (b, k) in enumerate(x[1]):
                if k != 1 or kind[b] != QUOTIENT or d % divisor[b]:
                    continue
                r = x[0], x[1][:i] + x[1][i + 1 :]
                if plus(engine.arg[b], r, divisor[b]) == y and spelling.free_of(engine, x, a):
                    spelling.dividend[a] = x, d // divisor[b]
                    spelling.reason[a] = "quotient_releases_summand", (divisor[b], r, engine.arg[b])
                    return

    def _take_in(self, forms: list[Form], survey: Survey) -> None:
        """Choose results that are multiples of a remainder with something small to be written as a remainder.

        What else divides the dividend of that remainder divides the new dividend too.
        """
        engine, spelling = self.engine, self.spelling
        arg = engine.arg
        dividends = survey.dividends
        found = []
        for f in forms:
            option = digit_with_rest(engine, f)
            if option is not None and (f, option) not in found:
                y = arg[option[0]]
                # another remainder, or a result, would still need y
                if y not in forms and sum([engine.kind[a] == REMAINDER for a in dividends[y]]) == 1:
                    found.append((f, option))
        if not found:
            return
        products = survey.products
        sums = survey.sums(engine, forms)
        if len(found) > 1:
            options = dict(found)
            found = [(f, options[f]) for f in self.order.widest(list(options))]
        for f, option in found:
            a, g, h, x = option
            y = arg[a]
            users = dividends[y]
            if any([u in spelling.dividend or not spelling.free_of(engine, x, u) for u in users]):
                continue
            if sum([a in [t[0] for t in other[1]] for other in sums]) > 1:
                continue
            gone = {**products}
            gain = saved(engine, f, option, gone)
            # a dividend of its own is read again, and digits in it that belong together come together then
            own = engine.renewed(x) if len(users) == 1 else x
            if own != x:
                later = saved(engine, f, (a, g, h, own), {**products}, own in dividends)
                self.promised += later - gain
                gain = later
            if gain <= 0:
                continue
            products = gone
            spelling.whole[f] = option
            for u in users:
                if u != a:
                    spelling.dividend[u] = x, g * engine.divisor[u]
                    # they may have atoms in common, which add up in x
                    spelling.reason[u] = "quotient_widens", (g, plus(x, y, -g))

    def _negate(self, survey: Survey, moved: dict[Form, int]) -> None:
        """Quotients with a known remainder as those of the negated dividend, where a sum has nothing to subtract from."""
        engine, places = self.engine, survey.places
        for y, users in survey.dividends.items():
            if len(users) > 1 or users[0] not in places or len(places[users[0]]) > 1:
                continue
            a = users[0]
            f, _ = places[a][0]
            if moved.get(f, f[0]) or any([k > 0 for _, k in f[1]]):
                continue
            x, d = self.spelling.dividend.get(a, (y, engine.divisor[a]))
            m = engine.known_remainder(x, d) if x[0] and d == engine.divisor[a] else None
            if m is not None and m != x[0]:
                self.spelling.negated[a] = m - x[0], tuple([(b, -k) for b, k in x[1]])

    def joining(self, f: Form) -> tuple[int, int, int, Form, Form, Form] | None:
        """A remainder and what stands below it in a sum, as a multiple of the remainder of a shared dividend.

        ``(a, g, h, x, r, s)`` where f is ``h·(g·a + r) + s`` and x, which is there anyway, g times the dividend of ``a``
        and r; None where there is no such dividend.
        """
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
                if not g or k % g or not self.spelling.free_of(engine, x, a):
                    continue
                h = k // g
                total = dict(terms)
                del total[a]
                r = _rest(x, y, g)
                for b, j in r[1]:
                    if total.get(b) != h * j:
                        break
                    del total[b]
                else:
                    return a, g, h, x, r, (c - h * r[0], tuple(sorted(total.items())))
        return None

    def _variables(self, f: Form) -> int:
        """The variables in a form, as the bits of a number."""
        engine, sets = self.engine, self.variables
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
        lo, hi = self.engine.range(_rest(x, y, g))
        return g if lo >= 0 and hi < g else 0


def _rest(x: Form, y: Form, g: int) -> Form:
    """``x - g·y`` where y's atoms are x's."""
    gone = {a for a, _ in y[1]}
    return x[0] - g * y[0], tuple([t for t in x[1] if t[0] not in gone])
