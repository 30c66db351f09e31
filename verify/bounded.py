"""Points inside the bounds that hypotheses state, for claims of so many variables that random points violate them.

Hardly any random point satisfies ``0 <= i < n`` for eight coordinates.  So variables get their values one after the
other, each between the bounds that earlier variables imply: sizes first, then the indices below them.  Half of the
points are corners, with every variable at a bound or a fixed distance from it, because off-by-one claims fail there.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ..core.condition import Compare, Condition, Within
from ..core.expr import Expr, Int, Sum, Var, ceildiv, linear, natural_key
from .point_columns import Array, PointColumns
from .preprocess import flattened

_ROWS = 3_000
#: Limits on the distance of a variable from its bound, for equal shares of the points.
_STEPS = (0, 1, 2, 6)


@dataclass(frozen=True)
class Bound:
    """``v >= e`` or, with ``upper``, ``v <= e``, where ``e`` does not mention ``v``."""

    v: Var
    e: Expr
    upper: bool


def bounds_of(hypotheses: Sequence[Condition]) -> list[tuple[Bound, ...]]:
    """Return, for every inequality, the bounds on single variables that it gives; an empty tuple if it gives none."""
    return [tuple(_isolated(gap)) for gap in _natural(flattened(hypotheses))]


def equations_of(hypotheses: Sequence[Condition]) -> list[Expr]:
    """Return the expressions in at least three variables that the hypotheses state to be zero."""
    gaps = [h.a - h.b for h in flattened(hypotheses) if isinstance(h, Compare) and h.op == "=="]
    return [e for e in gaps if len(e.variables()) > 2]


def _natural(known: Sequence[Condition]) -> Iterator[Expr]:
    """Yield the expressions that the hypotheses state to be non-negative."""
    for h in known:
        match h:
            case Compare("<=", a, b):
                yield b - a
            case Compare("<", a, b):
                yield b - a - 1
            case Within(e, lo, hi):
                yield e - lo
                yield hi - e


def _isolated(gap: Expr) -> Iterator[Bound]:
    """Yield the bounds on variables that occur once in a sum that is not negative."""
    const, terms = (gap.const, gap.terms) if isinstance(gap, Sum) else (0, ((gap, 1),))
    for t, k in terms:
        if isinstance(t, Var):
            rest = linear(const, [(u, j) for u, j in terms if u is not t])
            if t not in rest.variables():
                end = rest if k < 0 else -rest
                if abs(k) != 1:
                    end = end // -k if k < 0 else ceildiv(end, k)
                yield Bound(t, end, upper=k < 0)


def assignment_order(names: Sequence[Var], bounds: Sequence[tuple[Bound, ...]]) -> list[Var]:
    """Order the variables so that each comes after those that its bounds mention, as far as possible.

    An inequality that bounds several variables belongs to the one that also has a bound on the other side: ``i < n`` is
    a bound on i, not on n.
    """
    sides: dict[Var, set[bool]] = {v: set() for v in names}
    for ways in bounds:
        for b in ways:
            sides[b.v].add(b.upper)
    after: dict[Var, set[Var]] = {v: set() for v in names}
    for ways in bounds:
        owners = [b for b in ways if len(sides[b.v]) == 2] or list(ways)
        # if several variables could own the inequality, none waits, which would make a cycle
        if len(owners) == 1:
            after[owners[0].v].update(owners[0].e.variables())
    order: list[Var] = []
    left = sorted(names, key=lambda v: (natural_key(v.name), v.kind))
    while left:
        chosen = min(left, key=lambda v: len(after[v] & set(left) - {v}))
        order.append(chosen)
        left.remove(chosen)
    return order


def _at_least(b: Bound, v: Var, least: Mapping[Var, int], columns: Mapping[Var, Array]) -> int | None:
    """Return a lower bound on ``v`` from an inequality whose other variables have no values yet."""
    if b.v is not v or b.upper or columns.keys() >= set(b.e.variables()):
        return None
    const, terms = (b.e.const, b.e.terms) if isinstance(b.e, Sum) else (0, ((b.e, 1),))
    if any(k < 0 or not isinstance(t, Var) or t not in least for t, k in terms):
        return None
    return const + sum(least[t] * k for t, k in terms if isinstance(t, Var))


def _aims(
    order: list[Var], equations: Sequence[Expr], bounds: Sequence[tuple[Bound, ...]]
) -> dict[Var, tuple[Expr, bool]]:
    """Find variables to solve equations for, and whether each is the last of one; move them to the end of ``order``.

    They are the later half of those with bounds on both sides: of two positions, the coordinates of the second.
    """
    sides = {(b.v, b.upper) for ways in bounds for b in ways}
    aims: dict[Var, tuple[Expr, bool]] = {}
    for e in equations:
        between = [v for v in e.variables() if {(v, True), (v, False)} <= sides and v in order]
        between.sort(key=lambda v: natural_key(v.name))
        for v in between[(len(between) + 1) // 2 :]:
            aims.setdefault(v, (e, v is between[-1]))
    order.sort(key=lambda v: list(aims).index(v) if v in aims else -1)
    return aims


class _Corners:
    """Draws variables at their bounds or a fixed distance from them, or in half of the points a random one."""

    def __init__(self, count: int) -> None:
        generator = np.random.default_rng(8191)
        # half of the points are corners, where every step is either 0 or the whole reach
        reach = generator.choice(_STEPS, size=(_ROWS, 1))
        steps = generator.integers(0, reach + 1, size=(_ROWS, count))
        corner = generator.random((_ROWS, 1)) < 0.5
        self.steps = np.where(corner, np.where(steps * 2 > reach, reach, 0), steps)
        self.from_above = generator.random(steps.shape) < 0.4
        self.negative = generator.random(steps.shape) < 0.3
        self.off = generator.choice((0, 0, 0, 0, -1, 1), size=steps.shape)

    def column(self, k: int, low: Sequence[Array], high: Sequence[Array]) -> Array:
        """Return column ``k`` between lower and upper bounds."""
        step: Array = self.steps[:, k]
        if low and high:
            bottom, top = np.maximum.reduce(low), np.minimum.reduce(high)
            step = np.minimum(step, np.maximum(top - bottom, 0))
            step = np.where(self.from_above[:, k], np.maximum(top, bottom) - step, bottom + step)
        elif low:
            step = np.maximum.reduce(low) + step
        elif high:
            step = np.minimum.reduce(high) - step
        else:
            step = np.where(self.negative[:, k], -step, step)
        return step


def _moved(own: Array, low: Sequence[Array], high: Sequence[Array]) -> Array:
    """Return a column moved between bounds: values beyond a bound become their magnitude's distance from it."""
    bottom = np.maximum.reduce(low) if low else own
    top = np.minimum.reduce(high) if high else own
    step = np.abs(own)
    if low and high:
        step = step % (np.maximum(top - bottom, 0) + 1)
    return np.where(own < bottom, bottom + step, np.where(own > top, top - step, own))


def inside(
    names: Sequence[Var], hypotheses: Sequence[Condition], points: Array | None = None, *, aimed: bool = False
) -> Array:
    """Return points with a column for each of ``names``, inside the bounds of the variables; deterministic.

    They are the given ones moved into the bounds, or drawn near the bounds.  With ``aimed``, variables are also chosen to
    satisfy equations, greedily one after the other.
    """
    bounds = [tuple(b for b in ways if b.v in names) for ways in bounds_of(hypotheses)]
    columns: dict[Var, Array] = {}
    corners = _Corners(len(names))
    rows = _ROWS if points is None else len(points)
    order = assignment_order(names, bounds)
    least = {
        b.v: b.e.value for ways in bounds for b in ways if not b.upper and isinstance(b.e, Int) and abs(b.e.value) < 64
    }
    aims = _aims(order, equations_of(hypotheses), bounds) if aimed else {}

    def values(e: Expr, at: Mapping[Var, Array]) -> Array:
        return PointColumns({u: at[u] for u in e.variables()}, rows, [e]).column(e)

    for k, v in enumerate(order):
        known = [b for ways in bounds for b in ways if b.v is v and columns.keys() >= set(b.e.variables())]
        low, high = ([values(b.e, columns) for b in known if b.upper is upper] for upper in (False, True))
        # a later variable that has to be at most v bounds v from below by its own least value
        low += [np.full(rows, n) for ways in bounds for b in ways if (n := _at_least(b, v, least, columns)) is not None]
        if points is None:
            columns[v] = corners.column(k, low, high)
        else:
            # one variable is left as it is in half of the points, which then violate few conditions
            own = points[:, names.index(v)]
            columns[v] = np.where(np.arange(rows) % (2 * len(names)) == k, own, _moved(own, low, high))
        if v in aims:
            e, last = aims[v]
            there = {u: columns.get(u, np.zeros(rows, dtype=np.int64)) for u in e.variables()}
            none, one = (values(e, {**there, v: np.full(rows, n)}) for n in (0, 1))
            factor = one - none
            digit = np.where(factor == 0, columns[v], -none // np.where(factor == 0, 1, factor))
            digit = digit if last else digit + corners.off[:, k]
            for end in low:
                digit = np.maximum(digit, end)
            for end in high:
                digit = np.minimum(digit, end)
            columns[v] = digit
    return np.stack([columns[v] for v in names], axis=1) if names else np.zeros((1, 0), dtype=np.int64)
