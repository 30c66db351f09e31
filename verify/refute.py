"""Refutation: finds the smallest integers for which a claim fails.

It tries all small points, then seeded random ones, then points inside the bounds that the hypotheses state
(:mod:`.bounded`), all evaluated with numpy at once; a solver model comes last.  A counterexample is reported only after
evaluation with exact integers has confirmed it.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import lru_cache
from typing import Any, TypeVar

import numpy as np
import z3

from ..core.condition import FALSE, Compare, Condition, Divides, Within, all_exprs
from ..core.expr import Expr, Var, natural_key, var
from ..core.parametric import divisors_of
from .bounded import equations_of, inside
from .encode import Encoder, resources
from .point_columns import Array, PointColumns, narrow
from .preprocess import definition, flattened, mentioned, substituted

_EXHAUSTIVE = 20_000
_RADIUS = 40
_RANDOM = 4_000
_MACHINE = 1_000
#: Limit on numbers whose sums are exact in 64 bits if they have few summands.
_EXACT = 1 << 48


def variables_of(conditions: Iterable[Condition]) -> list[Var]:
    """Return the variables of several conditions, in natural order."""
    found = {v for c in conditions for v in mentioned(c)}
    return sorted(found, key=lambda v: (natural_key(v.name), v.kind))


def confirmed(point: Mapping[Var, int], hypotheses: Sequence[Condition], goal: Condition) -> bool:
    """Return whether exact integers satisfy the hypotheses and violate the goal, which must be defined there."""
    try:
        return all(h.evaluate(point) for h in hypotheses) and not goal.evaluate(point)
    except ZeroDivisionError:
        return False


def magnitude(point: Sequence[int]) -> tuple[int, int, list[int]]:
    """Return a sort key: the sum of absolute values first, then fewer negative ones, then a fixed order."""
    return sum(map(abs, point)), sum(x < 0 for x in point), [2 * abs(x) + (x < 0) for x in point]


def smallest(points: Array, n: int) -> list[list[int]]:
    """Return the ``n`` rows of least magnitude, in order."""
    if len(points) > n and points.dtype != object and -_EXACT < points.min() and points.max() < _EXACT:
        total = np.abs(points).sum(axis=1)
        points = points[total <= np.partition(total, n - 1)[n - 1]]
    rows: list[list[int]] = points.tolist()
    return sorted(rows, key=magnitude)[:n]


def box_of(axes: Sequence[range]) -> Array:
    """Return all points of a box, given by the values of each coordinate."""
    rest = np.arange(math.prod(map(len, axes)))
    columns: list[Array] = []
    for axis in reversed(axes):
        rest, at = np.divmod(rest, max(len(axis), 1))
        columns.append(narrow(np.array(axis, dtype=object))[at])
    return np.stack(columns[::-1], axis=1) if columns else np.zeros((1, 0), dtype=np.int64)


def nearest(domains: Sequence[tuple[int | None, int | None]], most: int) -> tuple[int, Array]:
    """Return the largest radius, and all points within it of their domains' points nearest to zero, ``most`` at most."""
    radius, axes = 0, [range(0)]
    for wider in range(1, _RADIUS + 1):
        wide = []
        for lo, hi in domains:
            near = max(lo or 0, 0) + min(hi or 0, 0)
            ends = near - wider, near + wider
            wide.append(
                range(ends[0] if lo is None else max(lo, ends[0]), (ends[1] if hi is None else min(hi, ends[1])) + 1)
            )
        if math.prod(map(len, wide)) > most:
            break
        radius, axes = wider, wide
    return radius, box_of(axes) if radius else np.zeros((0, len(domains)), dtype=np.int64)


@lru_cache(maxsize=32)
def _small(n: int) -> Array:
    """Return all points of the largest box around zero with at most ``_EXHAUSTIVE`` points."""
    return nearest([(None, None)] * n, _EXHAUSTIVE)[1]


@lru_cache(maxsize=32)
def _random(n: int) -> Array:
    generator = np.random.default_rng(20240229)
    scale = generator.choice([2, 4, 8, 16, 64], size=(_RANDOM, 1))
    points: Array = np.rint(generator.uniform(-0.35, 1.0, size=(_RANDOM, n)) * scale).astype(np.int64)
    return points


def failing_points(points: Array, names: Sequence[Var], hypotheses: Sequence[Condition], goal: Condition) -> Array:
    """Return the rows of ``points`` that satisfy the hypotheses and violate the goal."""
    for c, wanted in (*((h, True) for h in hypotheses), (goal, False)):
        if not len(points):
            break
        own = mentioned(c)
        algebra = PointColumns({v: points[:, k] for k, v in enumerate(names) if v in own}, len(points), [c])
        points = points[(algebra.truth(c) == wanted) & ~algebra.undefined]
    return points


def eliminated(hypotheses: Sequence[Condition]) -> list[tuple[Var, Expr]]:
    """Return definitions of variables in the hypotheses, to be evaluated in reverse order.

    Random points rarely satisfy equations, but they do if the defined variables are computed from the others.
    """
    found: list[tuple[Var, Expr]] = []
    known = flattened(hypotheses)
    while True:
        hit = next((d for h in known if (d := definition(h, short=False)) is not None), None)
        if hit is None:
            return found
        found.append(hit)
        try:
            known = flattened(substituted(known, {hit[0]: hit[1]}))
        except ZeroDivisionError:
            return found  # a divisor becomes zero for this value, so no point satisfies the hypotheses


def completed(points: Array, names: Sequence[Var], definitions: Sequence[tuple[Var, Expr]]) -> Array:
    """Compute the columns of defined variables in ``points`` from the others."""
    if not definitions or not len(points):
        return points
    columns = {v: points[:, k] for k, v in enumerate(names)}
    undefined = np.zeros(len(points), dtype=bool)
    for v, e in reversed(definitions):
        algebra = PointColumns({u: columns[u] for u in e.variables()}, len(points), [e])
        columns[v] = algebra.column(e)
        undefined |= algebra.undefined
    return np.stack([columns[v] for v in names], axis=1)[~undefined]


def _multiples(known: Sequence[Condition]) -> list[Condition]:
    """Return an equation with a new variable as the factor for each divisibility."""
    return [Compare("==", h.e, h.d * var(f"multiple {k}")) for k, h in enumerate(known) if isinstance(h, Divides)]


class Points:
    """Points at which equations and divisibilities hold: variables that they define are computed from the ``free`` ones."""

    def __init__(self, hypotheses: Sequence[Condition], names: Sequence[Var]) -> None:
        known = flattened(hypotheses)
        multiples = [m for m in _multiples(known) if definition(m, short=False) is not None]
        self._definitions = eliminated([*known, *multiples])
        self._names = list(names)
        self._all = [*dict.fromkeys([*names, *(v for m in multiples for v in variables_of([m]))])]
        self.free = [v for v in self._all if v not in dict(self._definitions)]

    def points(self, values: Array) -> Array:
        """Return the columns of all names, given those of the free variables."""
        points = np.zeros((len(values), len(self._all)), dtype=values.dtype)
        points[:, [self._all.index(v) for v in self.free]] = values
        return completed(points, self._all, self._definitions)[:, : len(self._names)]


def _first(
    points: Array, names: Sequence[Var], hypotheses: Sequence[Condition], goal: Condition
) -> dict[Var, int] | None:
    """Return the smallest of ``points`` that refutes the claim in exact arithmetic."""
    for row in smallest(failing_points(points, names, hypotheses, goal), 8):
        point = dict(zip(names, row, strict=True))
        if confirmed(point, hypotheses, goal):
            return point
    return None


def _tried(hypotheses: Sequence[Condition], names: Sequence[Var]) -> Iterator[Array]:
    """Yield small points, then random ones."""
    points = Points(hypotheses, names)
    for drawn in (_small, _random):
        yield points.points(drawn(len(points.free)))


def small_point(hypotheses: Sequence[Condition], goal: Condition) -> dict[Var, int] | None:
    """Return the smallest counterexample among small and random points, or ``None``."""
    names = variables_of([*hypotheses, goal])
    found = (_first(points, names, hypotheses, goal) for points in _tried(hypotheses, names))
    return next((point for point in found if point is not None), None)


def sample(hypotheses: Sequence[Condition], goal: Condition, most: int = 48) -> list[dict[Var, int]]:
    """Return points that satisfy the hypotheses and at which the goal is defined, half of them small, in no order."""
    names = variables_of([*hypotheses, goal])
    found: list[dict[Var, int]] = []
    for points in _tried(hypotheses, names):
        kept = failing_points(points, names, hypotheses, FALSE)
        for row in kept[:: max(1, 2 * len(kept) // most)].tolist()[: most // 2]:
            point = dict(zip(names, row, strict=True))
            with suppress(ZeroDivisionError):
                goal.evaluate(point)
                found.append(point)
    return found


def bounded_point(hypotheses: Sequence[Condition], goal: Condition) -> dict[Var, int] | None:
    """Return the smallest counterexample among points inside the bounds that the hypotheses state, or ``None``.

    Equations are satisfied as in :func:`small_point`: defined variables are computed from the others.
    """
    names = variables_of([*hypotheses, goal])
    points = Points(hypotheses, names)
    point = _first(points.points(inside(points.free, hypotheses)), names, hypotheses, goal)
    if point is None and equations_of(hypotheses):
        point = _first(inside(names, hypotheses, aimed=True), names, hypotheses, goal)
    return point


def machine_point(hypotheses: Sequence[Condition], goal: Condition, width: int) -> dict[Var, int] | None:
    """Return a counterexample among small integers and fractions of the largest one of a machine type, or ``None``.

    Far from zero few random points satisfy equations and bounds, and a point that overflows on one side only is near a
    bound of the other.  So each bound in turn is made an equation, which determines one variable.
    """
    known = flattened(hypotheses)
    multiples = _multiples(known)
    ends = [[*multiples, Compare("==", h.e, end)] for h in known if isinstance(h, Within) for end in (h.lo, h.hi)]
    top = 1 << (width - 1)
    parts = [top // k + more for k in (1, 2, 3, 4, 5, 6, 7, 8) for more in (-1, 0)]
    values = np.array([s * v for v in (*range(12), *parts) for s in (1, -1)], dtype=object)
    generator = np.random.default_rng(width)
    own = variables_of([*hypotheses, goal])
    found: list[dict[Var, int]] = []
    for end in ([], multiples, *ends):
        given = [*known, *end]
        names = variables_of([*given, goal])
        pick = generator.integers(0, len(values), size=(_MACHINE, len(names)))
        small = generator.integers(0, 24, size=pick.shape)
        points = values[np.where(generator.random(pick.shape) < 0.6, small, pick)]
        at = _first(completed(points, names, eliminated(given)), names, given, goal)
        if at is not None:
            found.append({v: at[v] for v in own})
    return min(found, key=lambda p: magnitude([p[v] for v in own]), default=None)


def _read(model: z3.ModelRef, encoder: Encoder, names: Sequence[Var]) -> dict[Var, int]:
    out = {}
    for v in names:
        symbol = encoder.symbols.get(v)
        out[v] = 0 if symbol is None else model.eval(symbol, model_completion=True).as_long()
    return out


def _violated(hypotheses: Sequence[Condition], goal: Condition) -> tuple[Encoder, list[Any]]:
    """Return a new encoder and the conditions on a counterexample, with all divisors nonzero."""
    encoder = Encoder(z3.Context(), "native")
    conditions = [*map(encoder.condition, hypotheses), z3.Not(encoder.condition(goal))]
    return encoder, conditions + [encoder.value(d) != 0 for d in divisors([*hypotheses, goal])]


def model(hypotheses: Sequence[Condition], goal: Condition, budget: int) -> tuple[dict[Var, int] | None, str, int]:
    """Search for a counterexample with the solver, in small boxes first.

    Returns ``(point, answer, resources)``; the answer is ``sat``, ``unsat`` (the claim is valid) or ``unknown``.
    """
    names = variables_of([*hypotheses, goal])
    spent = 0
    answer = "unknown"
    for radius in (2, 8, 64, None):
        encoder, conditions = _violated(hypotheses, goal)
        if radius is not None:
            conditions += [z3.And(-radius <= encoder.value(v), encoder.value(v) <= radius) for v in names]
        s = encoder.solver(conditions, budget)
        answer = str(s.check())
        spent += resources(s)
        if answer == "sat":
            point = _read(s.model(), encoder, names)
            if confirmed(point, hypotheses, goal):
                return point, "sat", spent
            return None, "unknown", spent
    return None, answer, spent


def divisors(conditions: Iterable[Condition]) -> list[Expr]:
    """Return all divisors below the conditions that are not literals."""
    return sorted(divisors_of(e for c in conditions for e in all_exprs(c)), key=str)


def minimised(
    point: Mapping[Var, int], hypotheses: Sequence[Condition], goal: Condition, budget: int
) -> dict[Var, int]:
    """Reduce the total magnitude of a counterexample, starting from ``point``.

    The solver finds smaller ones until it fails within ``budget``.  A local search over single and paired coordinates
    follows, so the result is never larger than ``point``.
    """
    names = sorted(point, key=lambda v: natural_key(v.name))
    best = dict(point)
    for _ in range(24):
        total = sum(abs(v) for v in best.values())
        if total == 0:
            break
        encoder, conditions = _violated(hypotheses, goal)
        sizes = []
        for v in names:
            a = encoder.fresh()
            conditions += [a >= encoder.value(v), a >= -encoder.value(v)]
            sizes.append(a)
        conditions.append(z3.Sum(sizes) <= total - 1)
        s = encoder.solver(conditions, budget)
        if str(s.check()) != "sat":
            break
        candidate = _read(s.model(), encoder, names)
        if not confirmed(candidate, hypotheses, goal):
            break
        best = candidate
    return descended(best, names, lambda p: confirmed(p, hypotheses, goal), halves=True)


K = TypeVar("K")


def descended(
    point: dict[K, int],
    names: Sequence[K],
    refutes: Callable[[dict[K, int]], bool],
    most: int = 6000,
    *,
    halves: bool = False,
) -> dict[K, int]:
    """Move one or two coordinates of a counterexample at a time while it becomes smaller, trying ``most`` points.

    With ``halves`` a coordinate may also be halved, which misleads the search near the limits of machine integers.
    """
    best = point
    least = magnitude([best[v] for v in names])
    tried = 0
    improved = True
    while improved:
        improved = False
        for candidate in _neighbours(best, names, halves=halves):
            size = magnitude([candidate[v] for v in names])
            if size >= least:
                continue
            tried += 1
            if refutes(candidate):
                best, least, improved = candidate, size, True
                break
            if tried > most:
                return best
    return best


def _neighbours(point: Mapping[K, int], names: Sequence[K], *, halves: bool) -> Iterator[dict[K, int]]:
    """Yield points with one or two coordinates at zero or ±1, negated, or moved by powers of two, the longest first."""
    for v in names:
        x = point[v]
        for y in (0, 1, -1, -x):
            if y != x:
                yield {**point, v: y}
        for k in reversed(range(abs(x).bit_length())):
            yield {**point, v: x - (1 << k) if x > 0 else x + (1 << k)}
        if halves:
            yield {**point, v: x // 2}
    for v, w in itertools.combinations(names, 2):
        for k in reversed(range(max(abs(point[v]), abs(point[w])).bit_length())):
            for a, b in ((-1, -1), (1, 1), (-1, 1), (1, -1)):
                yield {**point, v: point[v] + (a << k), w: point[w] + (b << k)}
