"""Chooses the points at which a rule is evaluated before it is proved.

These are all small points, random points, random points adjusted so that conditions hold, and for machine integers
points next to the limits.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...core.condition import Compare, Condition, Divides
from ...core.expr import Expr, Var
from ..bounded import bounds_of, units
from ..preprocess import flattened
from .lowering import lowered
from .rule import StatedRule
from .table import Array, Table, reader
from .terms import below

_GRID = 4096
_RANDOM = 2500
_MACHINE = 2000
#: Limit on exhaustive evaluation: enough for two variables of eight bits, or one of sixteen.
_EVERY = 1 << 18
#: Limit on the points for each pair of variables and each combination of limits.
_LEAST = 16


# ------------------------------------------------------------------------------------------------------- points
def _near_zero(lo: int | None, hi: int | None, count: int) -> list[int]:
    """Return the ``count`` values of a range nearest to zero."""
    start = 0 if (lo is None or lo <= 0) and (hi is None or hi >= 0) else lo if lo and lo > 0 else hi or 0
    out = [start]
    for step in range(1, count):
        out += [x for x in (start + step, start - step) if (lo is None or x >= lo) and (hi is None or x <= hi)]
    return out[:count]


def _grid(domains: Mapping[str, tuple[int | None, int | None]], kind: Any) -> tuple[int, Array]:
    """Return the largest radius within the limit of points, and a grid with all points within it."""
    radius = 0
    for wider in range(1, 40):
        sizes = [len(_near_zero(lo, hi, 2 * wider + 1)) for lo, hi in domains.values()]
        if np.prod(np.array(sizes, dtype=float)) > _GRID:
            break
        radius = wider
    if not radius or not domains:
        return 0, np.zeros((0, len(domains)), dtype=kind)
    axes = [np.array(_near_zero(lo, hi, 2 * radius + 1), dtype=kind) for lo, hi in domains.values()]
    return radius, np.stack([g.ravel() for g in np.meshgrid(*axes, indexing="ij")], axis=1)


def _cast(column: Array, lo: int | None, hi: int | None) -> Array:
    """Move the values of a column into its range, modulo its size."""
    if lo is not None and hi is not None:
        if hi - lo >= 1 << 62:
            column = column.astype(object)
        inside = (column >= lo) & (column <= hi)
        return np.where(inside, column, lo + (column - lo) % (hi - lo + 1))
    return column


def _literals(r: StatedRule) -> list[int]:
    """Return the literals of a rule, their neighbours and negations, and small integers."""
    found = {int(t.value) for t in below(r.left, r.right, *r.conditions) if t.op == "int"}
    near = {x + d for x in found for d in (-1, 0, 1)} | {-x for x in found} | {-1, 0, 1, 2}
    return sorted(near, key=lambda x: (abs(x), x < 0))


def _random(r: StatedRule, count: int, seed: int, kind: Any) -> Array:
    generator = np.random.default_rng(seed)
    n = len(r.variables)
    scale = generator.choice([2, 3, 4, 8, 16, 64, 256], size=(count, 1))
    base = np.rint(generator.uniform(-0.6, 1.0, size=(count, n)) * scale).astype(np.int64)
    pool = np.array(_literals(r), dtype=kind)
    picked = pool[generator.integers(0, len(pool), size=(count, n))]
    points: Array = np.where(generator.random((count, n)) < 0.15, picked, base)
    return points


def _limits(r: StatedRule, count: int, kind: Any) -> Array:
    """Return points near the limits of machine integers; half of the coordinates are small, since overflow needs few."""
    s = r.semantics
    top = s.hi + 1
    near = {0, 1, 2, 3, 4, 5, 7, 8, 16}
    near |= {top // 4, top // 3, top // 2 - 1, top // 2, top // 2 + 1, top - 2, top - 1}
    near |= {1 << (s.width // 2), (1 << (s.width // 2)) - 1, *(abs(x) for x in _literals(r))}
    values = np.array(sorted({x for n in near for x in (n, -n)} | {-top}, key=lambda v: (abs(v), v < 0)), dtype=kind)
    generator = np.random.default_rng(s.width)
    shape = (count, len(r.variables))
    small = generator.integers(-4, 11, size=shape)
    picked = values[generator.integers(0, len(values), size=shape)]
    points: Array = np.where(generator.random(shape) < 0.5, small, picked)
    # pairs at limits: only the quotient of the least integer by -1 overflows, a sum of two halves overflows by one and its
    # negation fits, and both may be at one limit; half of the share of each pair has small other coordinates
    pairs = list(itertools.permutations(range(len(r.variables)), 2))
    share = max(2, min(_LEAST, count // (2 * max(1, len(pairs)))))
    blocks = [points]
    for (v, w), ends in itertools.product(
        pairs, ((-top, -1), (-top, 0), (top - 1, 1), (top // 2, top // 2), (-top, -top), (top - 1, top - 1))
    ):
        block = points[:share].copy()
        block[::2] = generator.integers(-2, 3, size=block[::2].shape)
        block[:, [v, w]] = np.array(ends, dtype=kind)
        blocks.append(block)
    return np.concatenate(blocks)


# -------------------------------------------------------------------------------------- points of the conditions
@dataclass(frozen=True)
class _Recipe:
    """A way to set one variable from others so that a condition holds; the least rank is preferred."""

    rank: int
    how: str
    values: tuple[Expr, ...]


def _recipes(conditions: Sequence[Condition]) -> list[tuple[Var, _Recipe]]:
    """Return a recipe for each variable where there is one, in order of dependency."""
    found: dict[Var, _Recipe] = {}
    ends: dict[Var, dict[bool, Expr]] = {}

    def offer(rank: int, how: str, v: Expr, *values: Expr) -> None:
        if not isinstance(v, Var) or any(v in e.variables() for e in values):
            return
        if v not in found or rank < found[v].rank:
            found[v] = _Recipe(rank, how, values)

    for c in flattened(conditions):
        match c:
            case Compare("==", a, b):
                for v, value in units(a - b):
                    offer(0, "equal", v, value)
            case Divides(d, e):
                offer(1, "multiple", e, d)
    for ways in bounds_of(conditions):
        for bound in ways:
            offer(3, "below" if bound.upper else "above", bound.v, bound.e)
            ends.setdefault(bound.v, {}).setdefault(bound.upper, bound.e)
    for v, both in ends.items():
        if len(both) == 2:
            offer(2, "within", v, both[False], both[True])
    order: list[tuple[Var, _Recipe]] = []
    while found:
        ready = [v for v, r in found.items() if found.keys().isdisjoint(w for e in r.values for w in e.variables())]
        if not ready:  # a cycle: drop the recipe of the highest rank
            del found[max(found, key=lambda v: (found[v].rank, v.name))]
        order += ((v, found.pop(v)) for v in ready)
    return order


def _follow(r: StatedRule, points: Array, among: Sequence[Condition]) -> Array:
    """Return the points with variables set so that many of the conditions hold."""
    out: dict[str, Array] = dict(zip(r.variables, points.T, strict=True))
    ranges = r.ranges()
    small = points.dtype != object
    for v, recipe in _recipes(among):
        columns, exact = reader(r, out, [e.eq(0) for e in recipe.values])
        if small and not exact:
            continue
        own = out[v.name]
        kind = np.int64 if small else object
        values = [np.broadcast_to(np.asarray(columns.value(e), dtype=kind), (len(own),)) for e in recipe.values]
        match recipe.how:
            case "equal":
                new = values[0]
            case "multiple":
                new = _multiple(own, values[0], *ranges[v.name])
            case "within":
                width = values[1] - values[0] + 1
                new = np.where(width > 0, values[0] + own % np.where(width > 0, width, 1), values[0])
            case "below":
                new = np.where(own <= values[0], own, values[0] - abs(own))
            case _:
                new = np.where(own >= values[0], own, values[0] + abs(own))
        out[v.name] = _cast(new, *ranges[v.name])
    return np.stack([*out.values()], axis=1) if out else points


def _multiple(own: Array, of: Array, lo: int | None, hi: int | None) -> Array:
    """Return multiples of ``of``, with the factors reduced to fit a bounded range."""
    if lo is None or hi is None:
        return own * of
    most = max(abs(lo), abs(hi)) // np.where(of == 0, 1, np.abs(of))
    return of * np.where(np.abs(own) <= most, own, own % (most + 1))


# ------------------------------------------------------------------------------------------------------- tables
def table_of(r: StatedRule) -> Table:
    """Return the table of a rule; it is deterministic."""
    domains = r.ranges()
    if _is_empty(domains):
        return _joined(r, [])
    kind = _kind_of(r, domains)
    radius, grid = _grid(domains, kind)
    given = lowered(r).conditions
    blocks = [grid, _random(r, _RANDOM, 20240229, kind), _follow(r, _random(r, _RANDOM, 8128, kind), given)]
    if r.semantics.width:
        near = _limits(r, _MACHINE, kind)
        blocks += [near, _follow(r, near, given)]
    return _joined(r, blocks, radius)


def limits_table(r: StatedRule) -> Table:
    """Return a table of points near the limits of machine integers."""
    domains = r.ranges()
    if _is_empty(domains):
        return _joined(r, [])
    near = _limits(r, _MACHINE, _kind_of(r, domains))
    return _joined(r, [near, _follow(r, near, lowered(r).conditions)] if r.conditions else [near])


def _joined(r: StatedRule, blocks: Sequence[Array], radius: int = 0) -> Table:
    """Return the table of several blocks of points, each point moved into the bounds of the variables."""
    points = np.concatenate([np.zeros((0, len(r.variables)), dtype=np.int64), *blocks])
    domains = r.ranges()
    columns = {v: _cast(a, *domains[v]) for v, a in zip(r.variables, points.T, strict=True)}
    return Table(r, columns, len(points) if columns else 1, radius)


def _is_empty(domains: Mapping[str, tuple[int | None, int | None]]) -> bool:
    """Return whether some variable has no value, since its bounds lie outside the machine type."""
    return any(lo is not None and hi is not None and lo > hi for lo, hi in domains.values())


def every_point(r: StatedRule) -> Table | None:
    """Return the table of all points of a rule, or ``None`` if there are too many."""
    bounds = [(lo, hi) for lo, hi in r.ranges().values() if lo is not None and hi is not None]
    size = math.prod(max(0, hi - lo + 1) for lo, hi in bounds)
    if len(bounds) < len(r.variables) or size > _EVERY:
        return None
    kind = _kind_of(r, r.ranges())
    grid = np.meshgrid(*(np.array(range(lo, hi + 1), dtype=kind) for lo, hi in bounds), indexing="ij")
    columns = {v: g.ravel() for v, g in zip(r.variables, grid, strict=True)}
    return Table(r, columns, size, max((abs(b) for pair in bounds for b in pair), default=0))


def _kind_of(r: StatedRule, domains: Mapping[str, tuple[int | None, int | None]]) -> Any:
    """Return ``int64`` as the type of coordinates if all bounds and literals are small, else ``object``."""
    bounds = [abs(b) for pair in domains.values() for b in pair if b is not None]
    return np.int64 if max([0, *bounds, *map(abs, _literals(r))]) <= 1 << 33 else object
