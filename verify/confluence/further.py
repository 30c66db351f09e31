"""Further instances for pairs of rules for expressions that nothing else decides.

They are drawn as the domains of :mod:`.constraint_further` are: constants first, then every equation that gives a variable
by others is solved, what must be a multiple or lie in a block is written as one, and only what is left is drawn, from
expressions which have a property that no rule sees.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from ...core.expr import Sum, integer, postorder
from ...core.rewrite import Rule
from .constraint_instances import _simpler
from .drawn import SEED, DrawnCase
from .draws import BOXES, KINDS, SHIFTED, SMALL, Pick, drawn_values
from .ground import Ground, Move, point_count
from .instances import ExpressionTrial, Instance
from .overlap import Overlap
from .rewriting import Examined, Patience
from .unify import tidy

__all__ = ["examine_further", "further_instances", "smaller_instances"]

_BATCHES = (SHIFTED, *KINDS)
#: Counts: draws of a batch; points of a domain; smaller instances that are tried of one that has two normal forms.
_ROWS = 1_500
_POINTS = 400
_SMALLER = 150
#: With the instances of one batch.
_PATIENCE = Patience(apart=60, tried=120, looked=1_000, given_up=3)


def further_instances(o: Overlap, batch: int) -> Iterator[Instance]:
    """The instances of a batch, in the order in which they are drawn."""
    case = DrawnCase(o)
    pick = Pick(np.random.default_rng(SEED + 1000 * (batch + 1)), _BATCHES[batch])
    for values, _ in drawn_values(case, pick, SMALL if batch != 2 else None, _ROWS):
        try:
            here, there = tidy(case.start.substitute(values)), tidy(case.spot.substitute(values))
        except ZeroDivisionError:
            continue
        box = pick.boxes or dict(BOXES[pick.of(range(len(BOXES)))])
        boxes = {v: box[v] for v in here.variables() if v in box}
        if boxes and len(boxes) == len(here.variables()) and point_count(boxes) <= _POINTS:
            yield Instance(here, there, tuple(sorted(boxes.items(), key=lambda b: b[0].name)))


def examine_further(
    o: Overlap, cases: Sequence[Overlap], rules: Sequence[Rule], worlds: dict[Any, Ground]
) -> Examined[Instance, Move]:
    """Rewrite further instances until one has two normal forms, and then smaller ones.

    Raises :class:`.rewriting.Circle` where steps lead back to where they came from.
    """
    trial = ExpressionTrial(o, rules, worlds)
    batches = (further_instances(c, batch) for batch, c in itertools.product(range(len(_BATCHES)), cases))
    return trial.search(batches, _PATIENCE, smaller_instances, _SMALLER)


def smaller_instances(i: Instance) -> Iterator[Instance]:
    """The same on smaller boxes, with simpler expressions, and with fewer summands beside what the inner rule rewrites."""
    boxes = dict(i.boxes)
    for node in dict.fromkeys(reversed(postorder(i.spot, i.start))):
        for new in _simpler(node):
            try:
                start, spot = (tidy(e.substitute({node: new})) for e in (i.start, i.spot))
            except ZeroDivisionError:
                continue
            inside = start.variables()
            if inside:
                kept = tuple((v, b) for v, b in i.boxes if v in inside)
                yield Instance(start, spot, kept)
    for v, (lo, hi) in i.boxes:
        width = hi - lo
        ends = [(0, width)] if lo else []
        ends += [(lo, lo + n) for n in dict.fromkeys((1, 2, 3, width // 2, width - 1)) if 0 < n < width]
        ends += [(lo + 1, hi)] if width > 1 else []
        for end in ends:
            yield Instance(i.start, i.spot, tuple(sorted({**boxes, v: end}.items(), key=lambda b: b[0].name)))
    if isinstance(i.start, Sum) and not i.start.const and i.spot is not i.start:
        factor = math.gcd(*(k for _, k in i.start.terms))
        for k in dict.fromkeys((factor, -factor)):
            if k != 1:
                made = sum((t * (j // k) for t, j in i.start.terms), integer(0))
                yield Instance(made, i.spot, i.boxes)
    if isinstance(i.start, Sum) and i.spot is not i.start:
        for t, k in i.start.terms:
            made = i.start - t * k
            if t is not i.spot and set(made.variables()) == set(i.start.variables()):
                yield Instance(made, i.spot, i.boxes)
