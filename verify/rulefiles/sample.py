"""Chooses the points at which a rule is evaluated before it is proved.

These are all small points, random points, and for machine integers points next to the limits; then random points and
points next to the limits, moved so that conditions hold.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence

import numpy as np

from ..bounded import inside
from ..point_columns import Array, narrow
from ..refute import Points, box_of, nearest
from .lowering import core_variables, lowered
from .rule import StatedRule
from .table import Table
from .terms import below

_GRID = 4096
_RANDOM = 2500
_MACHINE = 2000
#: Limit on exhaustive evaluation: enough for two variables of eight bits, or one of sixteen.
_EVERY = 1 << 18
#: Limit on the points for each pair of variables and each combination of limits.
_LEAST = 16
#: Returns points for a rule, given the number of their coordinates and a seed.
_Draw = Callable[[StatedRule, int, int], Array]


def _literals(r: StatedRule) -> list[int]:
    """Return the literals of a rule, their neighbours and negations, and small integers."""
    found = {int(t.value) for t in below(r.left, r.right, *r.conditions) if t.op == "int"}
    near = {x + d for x in found for d in (-1, 0, 1)} | {-x for x in found} | {-1, 0, 1, 2}
    return sorted(near, key=lambda x: (abs(x), x < 0))


def _random(r: StatedRule, n: int, seed: int) -> Array:
    """Return random points with ``n`` coordinates; some of these are literals of the rule."""
    generator = np.random.default_rng(seed)
    scale = generator.choice([2, 3, 4, 8, 16, 64, 256], size=(_RANDOM, 1))
    base = np.rint(generator.uniform(-0.6, 1.0, size=(_RANDOM, n)) * scale).astype(np.int64)
    pool = narrow(np.array(_literals(r), dtype=object))
    picked = pool[generator.integers(0, len(pool), size=(_RANDOM, n))]
    return np.where(generator.random((_RANDOM, n)) < 0.15, picked, base)


def _limits(r: StatedRule, n: int, seed: int) -> Array:
    """Return points near the limits of machine integers; half of the coordinates are small, since overflow needs few."""
    generator = np.random.default_rng(seed)
    s = r.semantics
    top = s.hi + 1
    near = {0, 1, 2, 3, 4, 5, 7, 8, 16}
    near |= {top // 4, top // 3, top // 2 - 1, top // 2, top // 2 + 1, top - 2, top - 1}
    near |= {1 << (s.width // 2), (1 << (s.width // 2)) - 1, *(abs(x) for x in _literals(r))}
    ordered = sorted({x for m in near for x in (m, -m)} | {-top}, key=lambda v: (abs(v), v < 0))
    values = narrow(np.array(ordered, dtype=object))
    shape = (_MACHINE, n)
    small = generator.integers(-4, 11, size=shape)
    picked = values[generator.integers(0, len(values), size=shape)]
    points = np.where(generator.random(shape) < 0.5, small, picked)
    # pairs at limits: only the quotient of the least integer by -1 overflows, a sum of two halves overflows by one and its
    # negation fits, and both may be at one limit; half of the share of each pair has small other coordinates
    pairs = list(itertools.permutations(range(n), 2))
    share = max(2, min(_LEAST, _MACHINE // (2 * max(1, len(pairs)))))
    blocks = [points]
    for (v, w), ends in itertools.product(
        pairs, ((-top, -1), (-top, 0), (top - 1, 1), (top // 2, top // 2), (-top, -top), (top - 1, top - 1))
    ):
        block = points[:share].copy()
        block[::2] = generator.integers(-2, 3, size=block[::2].shape)
        block[:, [v, w]] = ends
        blocks.append(block)
    return np.concatenate(blocks)


def table_of(r: StatedRule) -> Table:
    """Return the table of a rule; it is deterministic."""
    radius, grid = nearest([*r.ranges().values()], _GRID)
    near = [(_limits, (r.semantics.width,) * 2)] if r.semantics.width else []
    return _table(r, [grid], [(_random, (20240229, 8128)), *near], radius)


def limits_table(r: StatedRule) -> Table:
    """Return a table of points near the limits of machine integers."""
    return _table(r, [], [(_limits, (r.semantics.width,) * 2)])


def _table(
    r: StatedRule, blocks: list[Array], draws: Sequence[tuple[_Draw, tuple[int, int]]], radius: int = 0
) -> Table:
    """Return the table of points in blocks and points drawn with the first seeds, and with the second ones for conditions.

    The latter are moved so that many conditions hold.
    """
    rule = lowered(r)
    names = [*core_variables(r).values()]
    points = Points(rule.conditions, names)
    for draw, (first, second) in draws:
        blocks.append(inside(names, rule.domain, draw(r, len(names), first)))
        moved = inside(points.free, [*rule.domain, *rule.conditions], draw(r, len(points.free), second))
        blocks.append(points.points(moved))
    return Table(r, np.concatenate(blocks), radius)


def every_point(r: StatedRule) -> Table | None:
    """Return the table of all points of a rule, or ``None`` if there are too many."""
    bounds = [(lo, hi) for lo, hi in r.ranges().values() if lo is not None and hi is not None]
    size = math.prod(max(0, hi - lo + 1) for lo, hi in bounds)
    if len(bounds) < len(r.variables) or size > _EVERY:
        return None
    points = box_of([range(lo, hi + 1) for lo, hi in bounds])
    return Table(r, points, max((abs(b) for pair in bounds for b in pair), default=0))
