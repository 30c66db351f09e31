"""What further instances draw: expressions which have a property that no rule sees, and values that satisfy equations.

``min(2·a, 2·b)`` is even, ``(a + 1) // 2 + (-a) // 2`` is nothing, and two remainders of multiples of one number know of
each other.  An equation that gives a variable by others is solved, and what must be a multiple, or lie in a block, is
written as one; only what is left is drawn.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from ...core.condition import FALSE, TRUE, Compare, Condition, Divides
from ...core.expr import Expr, Int, Mod, Var, integer, maximum, minimum, var
from .constraint_instances import _A, _B, _BOXES, _WIDE_BOXES
from .dependent import _short
from .drawn import DrawnCase
from .instances import _definition, _written
from .unify import expanded, is_const, tidy

__all__ = [
    "BOXES",
    "COPRIME",
    "HIDING",
    "HIDING_BOXES",
    "KINDS",
    "OPAQUE",
    "OPAQUE_BOXES",
    "PLAIN",
    "PLAIN_BOXES",
    "SHIFTED",
    "SMALL",
    "Box",
    "Pick",
    "drawn_values",
    "values_for",
]

#: Variables, each with its least and its greatest value.
Box = tuple[tuple[Var, tuple[int, int]], ...]
#: Constants of all batches but the second, whose constants are drawn as elsewhere.
SMALL = (1, 2, 2, 3, 3, 4, 6, -1, -2, -3)
#: What the batches draw from, each with a seed of its own.
KINDS = ("", "", "remainders", "short")
#: What is drawn for rules for expressions besides: a variable of its own for each, with a constant.
SHIFTED = "shifted"
#: Variables almost by themselves, on wide boxes, with constants that hardly divide one another.
PLAIN = "plain"
COPRIME = (2, 3, 3, 4, 5, 7, 8, 9, 11, 1, -1, -2)
PLAIN_BOXES: tuple[Box, ...] = tuple(
    ((_A, a), (_B, b))
    for a, b in (((0, 59), (0, 1)), ((0, 99), (0, 0)), ((-20, 39), (0, 3)), ((0, 23), (0, 9)))
)
#: Expressions that hardly any rule rewrites, on boxes of their own: what one rule takes away no other one brings back.
OPAQUE = "opaque"
#: Expressions that show little: extrema on wide boxes, multiples, sums; a second variable that is above and below one.
HIDING = "hiding"
HIDING_BOXES: tuple[Box, ...] = tuple(
    ((_A, a), (_B, b))
    for a, b in (
        ((0, 7), (0, 7)),
        ((0, 11), (0, 3)),
        ((0, 6), (0, 2)),
        ((0, 4), (0, 3)),
        ((0, 3), (0, 3)),
        ((-3, 8), (0, 4)),
        ((0, 1), (0, 1)),
        ((0, 1), (0, 2)),
    )
)
_NAMES = "abcde"
#: Boxes of both variables.
BOXES: tuple[Box, ...] = tuple(((_A, a), (_B, b)) for a, b in (*_BOXES, *_WIDE_BOXES))
OPAQUE_BOXES: tuple[Box, ...] = tuple(
    ((_A, a), (_B, b))
    for a, b in (
        ((0, 5), (0, 1)),
        ((0, 7), (0, 5)),
        ((0, 11), (0, 1)),
        ((-3, 6), (0, 3)),
        ((0, 3), (0, 3)),
        ((0, 15), (0, 1)),
        ((-1, 9), (0, 4)),
    )
)
_FACTORS = (1, 1, 1, 2, 3, 4, 6, -1, -2, 0)
_SHIFTS = (0, 0, 0, 1, -1, 2)
_MODULI = (3, 4, 5, 5, 6, 7, 8, 9)
#: Sums that are nothing, though no rule sees it inside a larger one.
_NOTHING: tuple[Expr, ...] = tuple(
    e for t in (_A, _B) for e in ((t + 1) // 2 + (-t) // 2, t - t // 2 - (t + 1) // 2)
)
#: So many equations are solved.
_SOLVED = 8


@dataclass
class Pick:
    """Draws members of lists."""

    generator: np.random.Generator
    #: one of :data:`KINDS`: what most of the expressions are
    kind: str = ""
    modulus: int = 5
    #: boxes of variables that were drawn for one variable of a rule each
    boxes: dict[Var, tuple[int, int]] = field(default_factory=dict)

    def begin(self) -> None:
        """Begin with another instance: remainders of one instance have one modulus."""
        self.modulus = self.of(_MODULI)
        self.boxes = {}

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

    def opaque(self, rest: bool) -> Expr:
        """A remainder that is not known, an extremum of multiples, or a multiple; the rest of a sum is often nothing."""
        kind = self.chance()
        if rest and kind < 0.75:
            if kind < 0.55:
                return integer(0)
            return _B * self.of((1, 2, -1, 4)) if kind < 0.7 else integer(self.of((1, 2, 3, -1)))
        kind = self.chance()
        one = _B if self.chance() < 0.25 else _A
        if kind < 0.45:
            return (one * self.of((1, 1, 1, 2)) + self.of((0, 0, 1))) % self.of((3, 5, 5, 7))
        if kind < 0.65:
            return one * self.of((1, 1, 1, 2, 3, -1)) + self.of((0, 0, 0, 1))
        if kind < 0.92:
            return self.extremum(self.of((1, 2, 3, 4, 6))) + self.of((0, 0, 1))
        return _A * self.of((1, 2, 3)) + _B * self.of((1, -1, 2))

    @property
    def narrow(self) -> Var:
        """The variable of which there are few values."""
        return _B

    def hiding(self, rest: bool) -> Expr:
        """An extremum, a multiple or a sum; the rest of a sum is often nothing, or a variable."""
        kind = self.chance()
        if rest and kind < 0.75:
            return integer(0) if kind < 0.5 else _B * self.of((1, 1, -1, 2))
        kind = self.chance()
        if kind < 0.2:
            return self.extremum(self.of((1, 1, 2, 3, 4))) + self.of((0, 0, 0, 1))
        if kind < 0.7:
            return _A * self.of((1, 1, 1, 2, 3, -1)) + self.of((0, 0, 0, 1))
        if kind < 0.9:
            return _A * self.of((1, 2, 3)) + _B * self.of((1, 1, -1, 2))
        return (_A * self.of((1, 1, 3)) + self.of((0, 1))) % self.of((3, 5, 7))

    def plain(self, rest: bool) -> Expr:
        """A variable, sometimes with a constant or a factor; the rest of a sum is often nothing."""
        kind = self.chance()
        if rest and kind < 0.6:
            return integer(0)
        one = _A if self.chance() < 0.6 else _B
        return one * self.of((1, 1, 1, 1, -1, 2, 3)) + self.of((0, 0, 0, 0, 1, -1))

    def expression(self, rest: bool) -> Expr:
        """What a variable may stand for; the rest of a sum is often nothing."""
        if self.kind == OPAQUE:
            return self.opaque(rest)
        if self.kind == PLAIN:
            return self.plain(rest)
        if self.kind == HIDING:
            return self.hiding(rest)
        kind = self.chance()
        if rest and kind < (0.7 if self.kind == SHIFTED else 0.3):
            return integer(0)
        if self.kind == SHIFTED and len(self.boxes) < len(_NAMES):
            own = var(_NAMES[len(self.boxes)])
            lo = self.of(range(-3, 3))
            self.boxes[own] = lo, lo + self.of((1, 1, 2, 3))
            return own * self.of((1, 1, 1, 2, -1)) + self.of(range(-2, 4))
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


def drawn_values(
    case: DrawnCase, pick: Pick, pool: Sequence[int] | None, count: int, boxes: Sequence[Box] = ()
) -> Iterator[tuple[dict[Var, Expr], dict[Var, tuple[int, int]]]]:
    """What all variables of a case stand for, and one of the boxes, in the order in which they are drawn.

    So many draws are made, of constants from ``pool``; those in which nothing satisfies what is known are left out.
    """
    for row in itertools.islice(itertools.cycle(case.rows(pick.generator, pool)), count):
        pick.begin()
        numbers = case.numbers(row)
        box = dict(boxes[pick.of(range(len(boxes)))]) if boxes else {}
        try:
            values = values_for(case.loose, [c.substitute(numbers) for c in case.facts], pick)
        except ZeroDivisionError:
            continue
        if values is not None:
            yield {**numbers, **values}, box


def values_for(loose: Iterable[Var], given: Sequence[Condition], pick: Pick) -> dict[Var, Expr] | None:
    """Expressions for the variables, or nothing where equations contradict each other.

    Constants that are left in ``given`` are bounds, which are chosen when the values are known.
    """
    todo = list(given)
    mine = set(loose)
    form: dict[Var, Expr] = {v: v for v in loose}
    for _ in range(_SOLVED):
        if FALSE in todo:
            return None
        todo = [c for c in todo if c != TRUE and not all(v.kind == "const" for v in c.variables())]
        found = next((d for c in todo if (d := _defined(c, mine)) is not None), None)
        if found is None:
            found = next((d for c in todo if (d := _shaped(c, mine, pick)) is not None), None)
        if found is None:
            break
        v, e = found
        mine |= set(e.variables())
        form = {w: x.substitute({v: e}) for w, x in form.items()}
        todo = [c.substitute({v: e}) for c in todo]
    free = dict.fromkeys(v for e in form.values() for v in e.variables())
    drawn = {v: pick.expression(v.kind == "rest") for v in free}
    return {v: tidy(e.substitute(drawn)) for v, e in form.items()}


def _defined(c: Condition, mine: set[Var]) -> tuple[Var, Expr] | None:
    """A variable that an equation gives by others."""
    found = _definition(c)
    if found is None or found[0] not in mine or not set(found[1].variables()) <= mine:
        return None
    return found


def _shaped(c: Condition, mine: set[Var], pick: Pick) -> tuple[Var, Expr] | None:
    """A variable in a form with which a condition on it holds, most of the time."""
    found = _written(c)
    if found is None and pick.kind in (OPAQUE, HIDING) and isinstance(c, Divides):
        # what divides a difference divides it either way round
        found = _written(c.d.divides(expanded(-c.e)))
    if found is None or found[0] not in mine or pick.chance() > 0.8:
        return None
    v, e, _ = found
    bounds: dict[Var, Expr] = {w: integer(pick.of((0, 0, 1, 2))) for w in e.variables() if is_const(w)}
    return v, _hidden(c, e.substitute(bounds), pick)


def _hidden(c: Condition, e: Expr, pick: Pick) -> Expr:
    """``e``, in which the multiple that a condition asks for is sometimes one that no rule sees."""
    match c:
        case (
            Divides(Int(value=d)) | Compare("==", Mod(b=Int(value=d))) | Compare("==", _, Mod(b=Int(value=d)))
        ):
            multiple = next((w for w in e.variables() if w.name.endswith("~")), None)
            if pick.kind in (OPAQUE, HIDING) and multiple is not None and pick.chance() < 0.5:
                nothing = pick.kind == HIDING and pick.chance() < 0.5
                return tidy(e.substitute({multiple: integer(0)}) + (0 if nothing else pick.extremum(d)))
    return e
