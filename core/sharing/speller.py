"""Writes the forms that were chosen, with the dividends that were chosen."""

from __future__ import annotations

from collections.abc import Callable

from ..engine import DEEPEST, Engine
from ..expr import Expr, distinct_sum, floordiv, integer, linear, maximum, minimum, mod
from ..kernel.form import MINIMUM, OPAQUE, QUOTIENT, REMAINDER, VARIABLE, Form
from .differences import Differences
from .dividends import Dividends
from .order import Order
from .rounds import Rounds
from .sums import plus

__all__ = ["Speller", "with_differences"]


def with_differences(engine: Engine, weight: int, forms: list[Form]) -> list[Form] | None:
    """The forms with those remainders as differences that cost less so, where that is all there is to it."""
    differences = Differences(engine, weight, Order(engine))
    after = differences.written(forms)
    return None if differences.deeper or differences.torn else after


class Speller:
    """Writes forms of one engine so that together they cost least.

    ``weight`` is what a division costs in units of other operations; ``another`` makes an engine that has not taken any
    steps, for the record; ``keep_digits`` leaves remainders alone that might take in what they stand with (:attr:`torn`
    says whether there was one).
    """

    def __init__(
        self, engine: Engine, weight: int, another: Callable[[], Engine], *, keep_digits: bool = False
    ) -> None:
        order = Order(engine)
        self.engine = engine
        self.another = another
        self.rounds = Rounds(engine, weight, order, keep_digits)
        self.dividends = Dividends(engine, order)
        self.spelling = self.dividends.spelling
        self.forms: list[Form] = []
        self.joins = False
        self.done: dict[int, Expr] = {}

    def spelled(self, forms: list[Form]) -> list[Expr]:
        """The expressions of the forms; :attr:`forms` are then what was written."""
        self.forms = forms
        engine = self.engine
        kind = engine.kind
        found = quotients = False
        for f in forms:
            for t in f[1]:
                of = kind[t[0]]
                if of == QUOTIENT:
                    quotients = True
                elif of:
                    found = True
        self.rounds.differences.quotients = quotients
        if not (found or quotients) or engine.deepest == DEEPEST:
            return [engine.write(f) for f in forms]
        # what is tried here is no part of the derivation, and may be large
        record, engine.record = engine.record, None
        engine.limited = False
        try:
            forms, survey = self.rounds.chosen(forms)
            self.dividends.choose(forms, survey)
        finally:
            engine.record = record
        self.forms = forms
        if record is not None:
            engine.spelling = True
            self._record_rounds()
        if self.spelling or self.dividends.wide:
            return [self.write(f) for f in forms]
        return [engine.write(f) for f in forms]

    @property
    def changed(self) -> bool:
        """Whether anything but the plain normal forms was written."""
        return bool(self.rounds.done) or self.respelled

    @property
    def respelled(self) -> bool:
        """Whether atoms were written with other dividends than their own."""
        return self.joins or bool(self.spelling)

    @property
    def torn(self) -> bool:
        """Whether there was a remainder that might take in what it stands with, or become a difference."""
        return self.rounds.differences.torn

    @property
    def beside(self) -> bool:
        """Whether there was a remainder that is no difference though its quotient is there."""
        return self.rounds.beside or self.torn

    @property
    def decided(self) -> bool:
        """Whether what was written is decided by what remainders become as differences."""
        return self.rounds.differences.quotients and not self.torn and not self.engine.exact

    @property
    def promised(self) -> int:
        """How many operations less it will be once what was written is read again."""
        return self.dividends.promised

    def bound(self) -> int:
        """What :attr:`forms` cost at most as they were written."""
        return self.rounds.bound(self.forms)

    def _record_rounds(self) -> None:
        """Report what has changed the forms; an empty name reports the forms as they are after a round."""
        record, write = self.engine.record, self.engine.write
        for changes, forms in self.rounds.done:
            for name, values in changes:
                if name:
                    record(name, tuple([v if isinstance(v, int) else write(v) for v in values]))
                else:
                    self._record_steps(*values)
            record("", tuple(write(f) for f in forms))

    def _record_steps(self, of: int, x: Form, d: int) -> None:
        """Report how a quotient or a remainder of a sum comes to its normal form."""
        engine = self.another()
        engine.spelling = True
        y = self.engine.write(x)
        engine.read(floordiv(y, d) if of == QUOTIENT else mod(y, d))

    def write(self, f: Form) -> Expr:
        """The expression of a form, with the spellings that were chosen."""
        c, terms = f
        if not terms:
            return integer(c)
        if f in self.spelling.whole:
            return self._as_remainder(f)
        if self.dividends.wide and len(terms) > 1:
            e = self._joined(f)
            if e is not None:
                return e
        return self._sum(f)

    def _sum(self, f: Form) -> Expr:
        c, terms = f
        parts = []
        done, offset, negated = self.done, self.spelling.offset, self.spelling.negated
        todo = list(terms)
        for a, k in todo:
            e = done.get(a)
            if e is None:
                e = self._atom(a)
            if offset and a in offset:
                j, others = offset[a]
                c -= k * j
                # which may be written with an offset themselves
                todo += [(b, -k * i) for b, i in others]
            if negated and a in negated:
                k = -k
            parts.append((e, k))
        if len(parts) < 2 or len({e for e, _ in parts}) == len(parts):
            return distinct_sum(c, parts)
        return linear(c, parts)

    def _atom(self, a: int) -> Expr:
        engine, spelling = self.engine, self.spelling
        t = engine.kind[a]
        if t == VARIABLE or t == OPAQUE:
            made = engine.expr[a]
            assert made is not None
            e = made
        elif t == QUOTIENT or t == REMAINDER:
            x, d = engine.arg[a], engine.divisor[a]
            if a in spelling.dividend:
                x, d = spelling.dividend[a]
                if engine.record is not None:
                    self._record(a)
            if a in spelling.negated:
                if engine.record is not None:
                    m = engine.known_remainder(x, d)
                    assert m is not None
                    engine.record("exact_quotient_negates", (d, m, self.write(x)))
                x = spelling.negated[a]
            e = floordiv(self.write(x), d) if t == QUOTIENT else mod(self.write(x), d)
        elif t == MINIMUM:
            e = minimum(*[self.write(f) for f in engine.parts[a]])
        else:
            e = maximum(*[self.write(f) for f in engine.parts[a]])
        self.done[a] = e
        return e

    def _record(self, a: int) -> None:
        """Report how an atom is spelled."""
        engine, spelling = self.engine, self.spelling
        y = self.write(engine.arg[a])
        d = engine.divisor[a]
        x, e = spelling.dividend[a]
        name, more = spelling.reason[a]
        if name == "quotient_widens":
            g, r = more
            engine.record(name, (d, g, self.write(r), y))
        elif name == "remainder_takes_congruent":
            engine.record(name, (d, y, self.write(x)))
        elif name == "quotient_releases_summand":
            b, r, z = more
            engine.record(name, (b, d // b, self.write(r), self.write(z)))
        if a in spelling.offset:
            t = spelling.offset[a]
            engine.record("summand_joins_quotient", (e, self.write(t), self.write(plus(x, t, -e))))

    def _as_remainder(self, f: Form) -> Expr:
        """A sum that is written as one remainder."""
        engine = self.engine
        a, g, h, x = self.spelling.whole[f]
        e = engine.divisor[a]
        if engine.record is not None:
            y = engine.arg[a]
            r = self.write(plus(x, y, -g))
            engine.record("remainder_widens", (e, g, h, g * h, r, 0, self.write(y)))
        return linear(0, [(mod(self.write(x), g * e), h)])

    def _joined(self, f: Form) -> Expr | None:
        """A sum with a remainder and what stands below it, written as the remainder of a shared dividend."""
        found = self.dividends.joining(f)
        if found is None:
            return None
        self.joins = True
        engine = self.engine
        a, g, h, x, r, s = found
        e = engine.divisor[a]
        if engine.record is not None:
            parts = (e, g, h, g * h, self.write(r), self.write(s), self.write(engine.arg[a]))
            engine.record("remainder_widens", parts)
        return linear(0, [(mod(self.write(x), g * e), h), (self.write(s), 1)])
