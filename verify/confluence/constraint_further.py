"""Further domains for pairs that nothing else decides: what hides that it is a multiple, and variables that equations give.

The domains of :mod:`.constraint_instances` give every variable of an overlap an expression of its own, so that they hardly
ever satisfy an equation between expressions, as rules for sums have them (``k + r = x // d``).  Here constants are drawn
first, then every equation that gives a variable by others is solved, what must be a multiple, or lie in a block, is written
as one (:func:`.instances._written`), and only what is left is drawn.  It is drawn from expressions which have a property
that no rule sees: ``min(2·a, 2·b)`` is even, ``(a + 1) // 2 + (-a) // 2`` is nothing.  Small constants come first.

What is found is made smaller in the same way as there.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from ...core.condition import FALSE, TRUE, Compare, Condition, Within
from ...core.expr import Expr, Var, integer, maximum, minimum
from .constraint_instances import (
    _A,
    _B,
    _BOXES,
    _WIDE_BOXES,
    _Choices,
    _DomainTrial,
    smaller_domains,
)
from .constraint_joining import Posed
from .constraint_overlap import ConstraintOverlap
from .dependent import _short
from .domains import Domain, DomainMove, Domains
from .ground import Exact
from .instances import _definition, _written
from .rewriting import Examined
from .unify import is_const, tidy
from .wide import SEED, drawn_numbers

__all__ = ["examine_further", "further_domains"]

#: Constants of the first batch; those of others are drawn as elsewhere.
_SMALL = (1, 2, 2, 3, 3, 4, 6, -1, -2, -3)
_FACTORS = (1, 1, 1, 2, 3, 4, 6, -1, -2, 0)
_SHIFTS = (0, 0, 0, 1, -1, 2)
#: Sums that are nothing, though no rule sees it inside a larger one.
_NOTHING: tuple[Expr, ...] = tuple(
    e for t in (_A, _B) for e in ((t + 1) // 2 + (-t) // 2, t - t // 2 - (t + 1) // 2)
)
#: What the batches draw from, each with a seed of its own.
_KINDS = ("", "", "remainders", "short")
#: Counts: draws of a batch; domains of a draw; domains with different results that are rewritten
#: of a batch, and domains that are looked at; smaller ones that are tried of one that has two normal forms.
_ROWS = 2_000
_EACH = 3
_APART = 50
#: Such domains and those whose results are the same, of a batch.
_TRIED = 150
_LOOKED = 1_200
_SMALLER = 200
#: Where so many reach too much, the others of the batch are left out.
_GIVEN_UP = 4
#: So many equations are solved.
_SOLVED = 8


@dataclass
class _Pick:
    """Draws members of lists."""

    generator: np.random.Generator
    #: whether to draw remainders of multiples of one variable, or expressions over few of them
    kind: str = ""
    modulus: int = 5

    def of(self, pool: Sequence[int]) -> int:
        """One of the numbers."""
        return pool[int(self.generator.integers(len(pool)))]

    def chance(self) -> float:
        """A number between nothing and one."""
        return float(self.generator.random())

    def sum(self, factor: int = 1) -> Expr:
        """A sum of multiples of ``a`` and ``b``."""
        return _A * (self.of(_FACTORS) * factor) + _B * (self.of(_FACTORS) * factor)

    def extremum(self, factor: int) -> Expr:
        """A minimum or maximum of multiples."""
        x, y = _A * (self.of((1, 1, 2, 3)) * factor), _B * (self.of((1, 1, -1, 2)) * factor)
        return minimum(x, y) if self.chance() < 0.5 else maximum(x, y)

    def expression(self, rest: bool) -> Expr:
        """What a variable may stand for; the rest of a sum is often nothing."""
        kind = self.chance()
        if rest and kind < 0.3:
            return integer(0)
        if self.kind == "remainders" and kind < 0.9:
            return (_A * self.of((1, 2, 3, 4, 5, -1, -2)) + self.of((0, 0, 1, 2))) % self.modulus
        if self.kind == "short" and kind < 0.9:
            short = _short()
            return short[self.of(range(len(short)))]
        if kind < 0.5:
            return self.sum() + self.of(_SHIFTS)
        if kind < 0.57:
            return (self.sum() + self.of(_SHIFTS)) // self.of((2, 3, 4))
        if kind < 0.65:
            return self.sum() % self.of((2, 3, 4, 5, 8))
        factor = self.of((1, 2, 2, 3, 4, 6))
        if kind < 0.8:
            hidden = _NOTHING[self.of(range(len(_NOTHING)))]
            return self.sum(factor) + hidden * self.of((1, 1, -1, 2, 3)) + self.of((0, 0, 1))
        if kind < 0.95:
            return self.extremum(factor) + self.of((0, 0, 0, 1, factor))
        return self.extremum(factor) + self.sum(factor)


class _Further(_Choices):
    """Domains of one case of an overlap."""

    def __init__(self, p: Posed, number: int) -> None:
        super().__init__(p, number)
        #: constants that others give, each by those that come before it in the list reversed
        self.given_by: list[tuple[Var, Expr]] = []
        facts = list(self.given)
        while (d := next((d for c in facts if (d := self._constant(c)) is not None), None)) is not None:
            self.given_by.append(d)
            facts = [c.substitute({d[0]: d[1]}) for c in facts]
        gone = {v for v, _ in self.given_by}
        self.free = [v for v in self.numbers if v not in gone]
        mine = set(self.free)
        self.known = [c for c in facts if set(c.variables()) <= mine]

    def _constant(self, c: Condition) -> tuple[Var, Expr] | None:
        """A constant of an expression that other constants of expressions give."""
        found = _definition(c)
        if (
            found is None
            or found[0] not in self.numbers
            or not set(found[1].variables()) <= set(self.numbers)
        ):
            return None
        return found

    def batch(self, batch: int) -> Iterator[Domain]:
        """The domains of a batch, in the order in which they are drawn."""
        pick = _Pick(np.random.default_rng(SEED + 1000 * (batch + 1) + self.number), _KINDS[batch])
        rows = drawn_numbers(self.free, self.known, pick.generator, _SMALL if batch != 1 else None)
        for row in itertools.islice(itertools.cycle(rows), _ROWS):
            pick.modulus = pick.of((3, 4, 5, 5, 6, 7, 8, 9))
            numbers: dict[Var, Expr] = {v: integer(n) for v, n in zip(self.free, row, strict=True)}
            try:
                for v, e in reversed(self.given_by):
                    numbers[v] = tidy(e.substitute(numbers))
                values = self._values(numbers, pick)
            except ZeroDivisionError:
                continue
            if values is not None:
                box = (*_BOXES, *_WIDE_BOXES)[pick.of(range(len(_BOXES) + len(_WIDE_BOXES)))]
                yield from itertools.islice(self._written({**numbers, **values}, box), _EACH)

    def _values(self, numbers: dict[Var, Expr], pick: _Pick) -> dict[Var, Expr] | None:
        """Expressions for the other variables, or nothing where equations contradict each other."""
        todo = [c.substitute(numbers) for c in self.given]
        mine = set(self.loose)
        form: dict[Var, Expr] = {v: v for v in self.loose}
        for _ in range(_SOLVED):
            if FALSE in todo:
                return None
            todo = [c for c in todo if c != TRUE and not all(v.kind == "const" for v in c.variables())]
            found = next((d for c in todo if (d := self._defined(c, mine)) is not None), None)
            if found is None:
                found = next((d for c in todo if (d := self._shaped(c, mine, pick)) is not None), None)
            if found is None:
                break
            v, e = found
            mine |= set(e.variables())
            form = {w: x.substitute({v: e}) for w, x in form.items()}
            todo = [c.substitute({v: e}) for c in todo]
        free = dict.fromkeys(v for e in form.values() for v in e.variables())
        drawn = {v: pick.expression(v.kind == "rest") for v in free}
        return {v: tidy(e.substitute(drawn)) for v, e in form.items()}

    def _of_bounds(self, known: Sequence[Condition], facts: Exact) -> list[Condition]:
        """Also what conditions on expressions say of bounds: what always lies between two, or always is one."""
        found = super()._of_bounds(known, facts)
        for c in known:
            match c:
                case Within(e, lo, hi) if is_const(lo) and is_const(hi) and self._plain(e):
                    of = facts.range(e).interval
                    found += [lo <= int(of.lo), integer(int(of.hi)) <= hi]
                case Compare("==", e, m) if is_const(m) and self._plain(e):
                    of = facts.range(e).interval
                    found.append(m.eq(int(of.lo)) if of.lo == of.hi else FALSE)
        return [c for c in found if c != TRUE]

    @staticmethod
    def _plain(e: Expr) -> bool:
        """Whether what ``e`` may be is known."""
        return all(not v.kind for v in e.variables()) and bool(e.variables())

    @staticmethod
    def _defined(c: Condition, mine: set[Var]) -> tuple[Var, Expr] | None:
        """A variable that an equation gives by others."""
        found = _definition(c)
        if found is None or found[0] not in mine or not set(found[1].variables()) <= mine:
            return None
        return found

    @staticmethod
    def _shaped(c: Condition, mine: set[Var], pick: _Pick) -> tuple[Var, Expr] | None:
        """A variable in a form with which a condition on it holds, most of the time."""
        found = _written(c)
        if found is None or found[0] not in mine or pick.chance() > 0.8:
            return None
        v, e, _ = found
        # a bound, which is chosen when the values are known
        bounds: dict[Var, Expr] = {w: integer(pick.of((0, 0, 1, 2))) for w in e.variables() if is_const(w)}
        return v, e.substitute(bounds)


def further_domains(p: Posed, number: int, batch: int) -> Iterator[Domain]:
    """The domains of one case of an overlap in one batch."""
    return _Further(p, number).batch(batch)


def examine_further(
    o: ConstraintOverlap, cases: Sequence[Posed], domains: Domains
) -> Examined[Domain, DomainMove]:
    """Rewrite further domains until one has two normal forms, and then smaller ones.

    Raises :class:`.rewriting.Circle` where steps lead back to where they came from.
    """
    trial = _DomainTrial(o, domains)
    for batch, (number, p) in itertools.product(range(len(_KINDS)), enumerate(cases)):
        apart, tried, looked, given_up = trial.apart, trial.tried, len(trial.seen), trial.given_up
        for d in further_domains(p, number, batch):
            done = trial.apart - apart, len(trial.seen) - looked, trial.given_up - given_up
            if (
                done[0] >= _APART
                or done[1] >= _LOOKED
                or done[2] >= _GIVEN_UP
                or trial.tried - tried >= _TRIED
            ):
                break
            if trial.witness(d):
                trial.shrink(d, _smaller, lambda e: e, _SMALLER)
                return trial.examined()
    return trial.examined()


def _smaller(d: Domain) -> Iterator[Domain]:
    """Simpler domains; bounds move far at once, and each end on its own."""
    for n, (e, lo, hi) in enumerate(d.constraints):
        for least, most in ((0, 0), (1, 1), (lo, lo + 1), (hi - 1, hi), (0, 1), (1, 2)):
            if least <= most and (least, most) != (lo, hi):
                yield Domain.of(
                    dict(d.boxes), [*d.constraints[:n], (e, least, most), *d.constraints[n + 1 :]]
                )
    yield from smaller_domains(d)
