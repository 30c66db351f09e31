"""Instances of an overlap drawn at random from many more constants, boxes and forms, and those that have two normal forms.

What is listed smallest first (:mod:`.instances`) has small constants on small boxes, and there digits are often constants
or whole quotients, which hides that two rules go different ways.  Here constants have factors in common, so that divisors
divide what they should and leave something over, boxes are larger than divisors, and variables stand for multiples,
quotients and sums.  The draws have a fixed seed, so that the answer is the same on every machine.  An instance with two
normal forms is made smaller, number by number, as long as it has two.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ...core.condition import FALSE, Condition, Within
from ...core.expr import Expr, Int, Var, integer, var
from ...core.rewrite import Rule
from .drawn import SEED, DrawnCase
from .ground import Ground, Move, point_count
from .instances import ExpressionTrial, Instance
from .overlap import Overlap
from .rewriting import Examined
from .unify import tidy

__all__ = ["APART", "GIVEN_UP", "examine_wide"]

_SIZES = (2, 3, 4, 5, 6, 8, 9, 12, 16, 24, 40)
_FACTORS = (1, 1, 1, 2, 3, 4, 6, -1)
_NAMES = "abcdefgh"
#: Points of a domain.
_POINTS = 3_000
#: Instances with two results that are rewritten; those that reach too much, after which others would too; smaller
#: instances that are tried once one has two normal forms.
APART = 100
GIVEN_UP = 12
_SMALLER = 200


@dataclass(frozen=True)
class _Form:
    """What a variable stands for: ``(factor·v + shift) // divisor`` on a box, or nothing."""

    lo: int = 0
    hi: int = 1
    factor: int = 1
    shift: int = 0
    divisor: int = 1
    absent: bool = False

    def of(self, v: Var) -> Expr:
        """The expression."""
        e = v * self.factor + self.shift
        return e if self.divisor == 1 else e // self.divisor

    def smaller(self) -> Iterator[_Form]:
        """Forms that are simpler."""
        if self.absent:
            return
        if self.divisor != 1:
            yield replace(self, divisor=1)
        if self.shift:
            yield replace(self, shift=0)
        for k in dict.fromkeys((1, 2, 3, -self.factor)):
            if abs(k) < abs(self.factor) or (self.factor < 0 < k <= -self.factor):
                yield replace(self, factor=k)
        width = self.hi - self.lo
        if self.lo:
            yield replace(self, lo=0, hi=width)
        for n in dict.fromkeys((1, 2, 3, width // 2, width - 1)):
            if 0 < n < width:
                yield replace(self, hi=self.lo + n)
                yield replace(self, lo=self.hi - n)


@dataclass(frozen=True)
class _Draw:
    """Numbers for the constants of an overlap, and forms for its other variables."""

    numbers: tuple[int, ...]
    forms: tuple[_Form, ...]


class _Draws(DrawnCase):
    """Instances of one overlap."""

    def __init__(self, o: Overlap, batch: int) -> None:
        super().__init__(o)
        self.generator = np.random.default_rng(SEED + batch)

    def __iter__(self) -> Iterator[_Draw]:
        if len(self.loose) > len(_NAMES):
            return
        for row in self.rows(self.generator):
            yield _Draw(tuple(row), tuple(self._form(v) for v in self.loose))

    def _form(self, v: Var) -> _Form:
        draw = self.generator
        if v.kind == "rest" and draw.random() < 0.4:
            return _Form(absent=True)
        size = int(draw.choice(_SIZES))
        lo = int(draw.choice((0, 0, 0, -3, -size // 2, 1)))
        form = _Form(lo, lo + size - 1, int(draw.choice(_FACTORS)))
        kind = draw.random()
        if kind < 0.1:
            return replace(form, factor=1, divisor=int(draw.choice((2, 3))))
        return replace(form, shift=int(draw.choice((1, 2, -1)))) if kind < 0.2 else form

    def instance(self, d: _Draw) -> Instance | None:
        """The instance, if what is known of the constants holds and the domain is small enough."""
        at = self.numbers(d.numbers)
        try:
            known = [h.substitute(at) for h in self.facts]
            if FALSE in known:
                return None
            boxes: dict[Var, tuple[int, int]] = {}
            names = iter(_NAMES)
            for v, form in zip(self.loose, d.forms, strict=True):
                if form.absent:
                    at[v] = integer(0)
                    continue
                a = var(next(names))
                within = _box(v, known)
                boxes[a] = (form.lo, form.hi) if within is None else within
                at[v] = form.of(a) if within is None else a
            start, spot = tidy(self.start.substitute(at)), tidy(self.spot.substitute(at))
        except ZeroDivisionError:
            return None
        inside = start.variables()
        kept = tuple((v, b) for v, b in sorted(boxes.items(), key=lambda b: b[0].name) if v in inside)
        if not kept or any(lo > hi for _, (lo, hi) in kept) or point_count(dict(kept)) > _POINTS:
            return None
        return Instance(start, spot, kept)

    def smaller(self, d: _Draw) -> Iterator[_Draw]:
        """Draws in which one number or one form is simpler."""
        for i, n in enumerate(d.numbers):
            for k in dict.fromkeys((0, 1, 2, 3, 4, 5, n // 2, n // 3, abs(n), n - 1)):
                if abs(k) < abs(n) or (n < 0 and k == -n):
                    yield replace(d, numbers=(*d.numbers[:i], k, *d.numbers[i + 1 :]))
        for i, form in enumerate(d.forms):
            options = list(form.smaller())
            if self.loose[i].kind == "rest" and not form.absent:
                options.insert(0, _Form(absent=True))
            for f in options:
                yield replace(d, forms=(*d.forms[:i], f, *d.forms[i + 1 :]))


def _box(v: Var, known: Sequence[Condition]) -> tuple[int, int] | None:
    """The box that a condition demands of a variable, no wider than what is drawn."""
    for h in known:
        if isinstance(h, Within) and h.e is v and isinstance(h.lo, Int) and isinstance(h.hi, Int):
            return h.lo.value, min(h.hi.value, h.lo.value + _SIZES[-1])
    return None


def examine_wide(
    o: Overlap, rules: Sequence[Rule], worlds: dict[Any, Ground], limit: int = APART, batch: int = 0
) -> Examined[Instance, Move]:
    """Rewrite instances that are drawn until one has two normal forms, and then smaller ones.

    Another ``batch`` has others.

    Raises :class:`.rewriting.Circle` where steps lead back to where they came from.
    """
    draws = _Draws(o, batch)
    trial = ExpressionTrial(o, rules, worlds)
    for d in draws:
        if trial.apart >= limit or trial.given_up >= GIVEN_UP:
            break
        i = draws.instance(d)
        if i is not None and trial.witness(i):
            trial.shrink(d, draws.smaller, draws.instance, _SMALLER)
            break
    return trial.examined()
