"""Instances in which the rest of a sum holds what a step makes.

Two results may meet whatever the variables are, and yet not where summands combine: ``2·(x // (-2)) + r`` becomes
``-x + r`` where ``x`` is even, and ``2·((-x) // 2) + r`` becomes the same, but not if ``r`` holds ``(-x) // 2``, whose
factor is then 3.  So instances are drawn from expressions that hardly any rule rewrites, the smallest of them are
rewritten a little way, and summands that are met there and are not in the instance are added to what its variables for
rests, and for expressions, stand for: once, twice, or as often as makes them vanish.  Both rules must still apply; that
is for them to say.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from ...core.expr import Expr, FloorDiv, Int, Mod, Sum, Var, postorder
from ...core.rewrite import Rule
from .drawn import SEED, DrawnCase
from .draws import COPRIME, OPAQUE, OPAQUE_BOXES, PLAIN, PLAIN_BOXES, SMALL, Pick, drawn_values
from .further import smaller_instances
from .ground import Exact, Ground, Move, point_count
from .instances import ExpressionTrial, Instance
from .overlap import Overlap
from .rewriting import Examined, Patience
from .unify import tidy

__all__ = ["collisions", "examine_collisions", "examine_coprime", "instance_on", "summands_of"]

#: Counts: batches; draws of a case in a batch; instances that both rules rewrite; of these the smallest that are taken,
#: and all that are; draws of a case where constants hardly divide one another; expressions that are reached from each
#: result; summands that are added, and how often; points of a domain; smaller instances of one that has two normal forms.
_BATCHES = 3
_ROWS = 1_500
_DRAWN = 40
_SMALLEST = 6
_TAKEN = 22
_COPRIME_ROWS = 6_000
_REACHED = 24
_SUMMANDS = 8
_TIMES = 3
_POINTS = 400
_SMALLER = 200
#: Where summands do not combine as usual, more is reached; so much of all cases and batches together is given up.
_LIMIT = 900
_GIVEN_UP = 6
_PATIENCE = Patience(apart=400, tried=500, looked=2_000, given_up=2)
#: With the instances whose constants hardly divide one another.
_COPRIME = Patience(apart=150, tried=400, looked=1_500, given_up=2)


class _Made(NamedTuple):
    """An instance, and what the variables of the overlap stand for in it."""

    instance: Instance
    values: Mapping[Var, Expr]
    box: Mapping[Var, tuple[int, int]]


def instance_on(
    start: Expr, spot: Expr, values: Mapping[Var, Expr], box: Mapping[Var, tuple[int, int]]
) -> Instance | None:
    """The instance with these values on a box, if it has a value, variables in the box and few points."""
    try:
        here, there = tidy(start.substitute(values)), tidy(spot.substitute(values))
    except ZeroDivisionError:
        return None
    inside = here.variables()
    boxes = {v: b for v, b in box.items() if v in inside}
    if not boxes or len(boxes) != len(inside) or point_count(boxes) > _POINTS:
        return None
    return Instance(here, there, tuple(sorted(boxes.items(), key=lambda b: b[0].name)))


class _Drawn(DrawnCase):
    """Instances of one case of an overlap."""

    def __init__(self, o: Overlap, seed: int, kind: str = OPAQUE) -> None:
        super().__init__(o)
        #: what may hold more: rests first
        self.open = sorted(self.loose, key=lambda v: v.kind != "rest")
        self.pick = Pick(np.random.default_rng(SEED + seed), kind)

    def made(self, count: int) -> Iterator[_Made]:
        """The instances in the order in which they are drawn."""
        pool, boxes = (SMALL, OPAQUE_BOXES) if self.pick.kind == OPAQUE else (COPRIME, PLAIN_BOXES)
        for values, box in drawn_values(self, self.pick, pool, count, boxes):
            made = self.instance(values, box)
            if made is not None:
                yield made

    def instance(self, values: Mapping[Var, Expr], box: Mapping[Var, tuple[int, int]]) -> _Made | None:
        """The instance with these values on a box, if it has variables and few points."""
        found = instance_on(self.start, self.spot, values, box)
        return None if found is None else _Made(found, values, box)

    def holding(self, m: _Made, summands: Mapping[Expr, Sequence[int]]) -> Iterator[Instance]:
        """The same with summands added to what one variable stands for."""
        for (t, coefficients), v in itertools.product(summands.items(), self.open):
            times = dict.fromkeys((*(-k for k in coefficients), 1, -1, 2))
            for j in itertools.islice(times, _TIMES):
                try:
                    value = tidy(m.values[v] + t * j)
                except ZeroDivisionError:
                    continue
                made = self.instance({**m.values, v: value}, m.box)
                if made is not None:
                    yield made.instance


def _sums(e: Expr) -> Iterator[Expr]:
    """Everything in ``e`` that is a sum, or stands where one may stand."""
    if not isinstance(e, Sum):
        yield e
    for n in postorder(e):
        if isinstance(n, Sum):
            yield n
        elif isinstance(n, (FloorDiv, Mod)) and not isinstance(n.a, Sum):
            yield n.a


def summands_of(e: Expr) -> Iterator[tuple[Expr, int]]:
    """The summands, with their factors, of all sums in ``e``, and what stands where a sum may stand."""
    for s in _sums(e):
        if isinstance(s, Sum):
            yield from s.terms
        elif not isinstance(s, Int):
            yield s, 1


def _reached(ground: Ground, e: Expr) -> list[Expr]:
    """The first expressions that ``e`` can be rewritten to, itself among them."""
    order, seen = [e], {e}
    for at in order:
        if len(order) >= _REACHED:
            break
        for m in ground.moves(at):
            if m.after not in seen:
                seen.add(m.after)
                order.append(m.after)
    return order[:_REACHED]


def _new(ground: Ground, start: Expr, results: Sequence[Expr]) -> dict[Expr, list[int]]:
    """Summands that are met on the way from both results and are not in the start, with their coefficients."""
    old = {t for t, _ in summands_of(start)}
    found: dict[Expr, list[int]] = {}
    for result in results:
        for e in _reached(ground, result):
            for t, k in summands_of(e):
                if t not in old and k not in found.setdefault(t, []):
                    found[t].append(k)
    return dict(itertools.islice(found.items(), _SUMMANDS))


def _units(i: Instance) -> int:
    """How often something is divided by one."""
    return sum(
        isinstance(n, (FloorDiv, Mod)) and isinstance(n.b, Int) and abs(n.b.value) == 1
        for n in postorder(i.start)
    )


def collisions(o: Overlap, seed: int, trial: ExpressionTrial) -> Iterator[Instance]:
    """Some of the instances that are drawn of a case, each followed by those whose rests hold what is made.

    First come the smallest, of which many hide nothing, then those in which hardly anything is divided by one.
    """
    drawn = _Drawn(o, seed)
    usable: dict[Instance, _Made] = {}
    for m in drawn.made(_ROWS):
        if m.instance not in usable and trial.both(m.instance)[1]:
            usable[m.instance] = m
            if len(usable) >= _DRAWN:
                break
    smallest = sorted(usable, key=lambda i: i.rank)[:_SMALLEST]
    others = sorted(usable, key=_units)
    for m in [usable[i] for i in dict.fromkeys((*smallest, *others))][:_TAKEN]:
        yield m.instance
        ground, both = trial.both(m.instance)
        results = list(dict.fromkeys(s.after for x, y in both for s in (x, y)))
        if len(results) > 1:
            yield from drawn.holding(m, _new(ground, m.instance.start, results))


def examine_collisions(
    o: Overlap,
    cases: Sequence[Overlap],
    rules: Sequence[Rule],
    worlds: dict[Any, Ground],
    *,
    brief: bool = False,
) -> Examined[Instance, Move]:
    """Rewrite such instances until one has two normal forms, and then smaller ones; one batch if it is to be ``brief``.

    Raises :class:`.rewriting.Circle` where steps lead back to where they came from.
    """
    trial = ExpressionTrial(o, rules, worlds, _LIMIT, weighs=False)
    numbered = itertools.product(range(1 if brief else _BATCHES), enumerate(cases))
    batches = (
        collisions(case, 1000 * batch + number, trial)
        for batch, (number, case) in itertools.takewhile(lambda _: trial.given_up < _GIVEN_UP, numbered)
    )
    return trial.search(batches, _PATIENCE, smaller_instances, _SMALLER)


def _divides_something(i: Instance) -> bool:
    """Whether every quotient has two values, and no remainder is known from what its dividend may be."""
    facts = Exact(dict(i.boxes))
    for n in postorder(i.start):
        if isinstance(n, (FloorDiv, Mod)) and isinstance(n.b, Int):
            of = facts.range(n.a).interval
            if of.lo // n.b.value == of.hi // n.b.value:
                return False
    return True


def examine_coprime(
    o: Overlap, cases: Sequence[Overlap], rules: Sequence[Rule], worlds: dict[Any, Ground]
) -> Examined[Instance, Move]:
    """The same of instances whose constants hardly divide one another, on wide boxes.

    Elsewhere divisors that divide each other are likely, because otherwise few rules apply; but then many join.

    Raises :class:`.rewriting.Circle` where steps lead back to where they came from.
    """
    trial = ExpressionTrial(o, rules, worlds, _LIMIT, weighs=False)
    batches = (
        (
            m.instance
            for m in _Drawn(case, number, PLAIN).made(_COPRIME_ROWS)
            if _divides_something(m.instance)
        )
        for number, case in enumerate(cases)
    )
    return trial.search(batches, _COPRIME, smaller_instances, _SMALLER)
