"""Refutation: finds the smallest integers for which a claim fails.

It tries all small points, then seeded random ones, then points inside the bounds that the hypotheses state
(:mod:`.bounded`), all evaluated with numpy at once; a solver model comes last.  A counterexample is reported only after
evaluation with exact integers has confirmed it.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, TypeVar

import numpy as np
import z3

from ..core.condition import FALSE, Compare, Condition, Divides, Within, all_exprs
from ..core.expr import Expr, Int, Sum, Var, interpret, natural_key, postorder, var
from ..core.parametric import divisors_of
from .bounded import equations_of, inside
from .encode import Encoder, resources
from .point_columns import PointColumns
from .preprocess import definition, flattened, mentioned, substituted

_EXHAUSTIVE = 20_000
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


def smallest(points: np.ndarray[Any, Any], n: int) -> list[list[int]]:
    """Return the ``n`` rows of least magnitude, in order."""
    if len(points) > n and points.dtype != object and -_EXACT < points.min() and points.max() < _EXACT:
        total = np.abs(points).sum(axis=1)
        points = points[total <= np.partition(total, n - 1)[n - 1]]
    rows: list[list[int]] = points.tolist()
    return sorted(rows, key=magnitude)[:n]


@lru_cache(maxsize=32)
def _small(n: int) -> np.ndarray[Any, Any]:
    """Return all points of the largest box around zero with at most ``_EXHAUSTIVE`` points."""
    radius = 1
    while (2 * radius + 3) ** n <= _EXHAUSTIVE and radius < 40:
        radius += 1
    if 3**n > _EXHAUSTIVE:
        return np.empty((0, n), dtype=np.int64)
    if n == 0:
        return np.zeros((1, 0), dtype=np.int64)
    grid = np.meshgrid(*[np.arange(-radius, radius + 1)] * n, indexing="ij")
    return np.stack([g.ravel() for g in grid], axis=1)


@lru_cache(maxsize=32)
def _random(n: int) -> np.ndarray[Any, Any]:
    generator = np.random.default_rng(20240229)
    scale = generator.choice([2, 4, 8, 16, 64], size=(_RANDOM, 1))
    points: np.ndarray[Any, Any] = np.rint(generator.uniform(-0.35, 1.0, size=(_RANDOM, n)) * scale).astype(np.int64)
    return points


def failing_points(
    points: np.ndarray[Any, Any], names: Sequence[Var], hypotheses: Sequence[Condition], goal: Condition
) -> np.ndarray[Any, Any]:
    """Return the rows of ``points`` that satisfy the hypotheses and violate the goal."""
    for c, wanted in (*((h, True) for h in hypotheses), (goal, False)):
        if not len(points):
            break
        algebra = PointColumns({v: points[:, k] for k, v in enumerate(names)}, len(points))
        keep = (algebra.truth(c) == wanted) & ~algebra.undefined
        points = points[np.broadcast_to(keep, (len(points),))]
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


def completed(
    points: np.ndarray[Any, Any], names: Sequence[Var], definitions: Sequence[tuple[Var, Expr]]
) -> np.ndarray[Any, Any]:
    """Compute the columns of defined variables in ``points`` from the others."""
    if not definitions or not len(points):
        return points
    columns = {v: points[:, k] for k, v in enumerate(names)}
    algebra = PointColumns(columns, len(points))
    for v, e in reversed(definitions):
        columns[v] = np.broadcast_to(np.asarray(interpret((e,), algebra)[0], dtype=points.dtype), (len(points),))
    kept = np.stack([columns[v] for v in names], axis=1)
    return kept[~algebra.undefined]


def _kind(conditions: Sequence[Condition]) -> Any:
    """Return the dtype of columns: 64 bits, or Python integers if literals need more than 48 bits."""
    for n in postorder(*(e for c in conditions for e in all_exprs(c))):
        match n:
            case Int():
                largest = abs(n.value)
            case Sum():
                largest = max(abs(n.const), *(abs(k) for _, k in n.terms))
            case _:
                continue
        if largest >> 48:
            return object
    return np.int64


class _Columns:
    """Points of a claim, with a column for each variable; defined variables are computed from the ``free`` ones."""

    def __init__(self, hypotheses: Sequence[Condition], goal: Condition, kind: Any = None) -> None:
        self.hypotheses, self.goal = hypotheses, goal
        self.names = variables_of([*hypotheses, goal])
        self.definitions = eliminated(hypotheses)
        self.free = [v for v in self.names if v not in dict(self.definitions)]
        self.kind = kind or _kind([*hypotheses, goal])

    def points(self, values: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        """Return all columns, given those of the free variables."""
        points = np.zeros((len(values), len(self.names)), dtype=self.kind)
        points[:, [self.names.index(v) for v in self.free]] = values
        return completed(points, self.names, self.definitions)

    def first(self, points: np.ndarray[Any, Any]) -> dict[Var, int] | None:
        """Return the smallest of ``points`` that refutes the claim in exact arithmetic."""
        for row in smallest(failing_points(points, self.names, self.hypotheses, self.goal), 8):
            point = dict(zip(self.names, row, strict=True))
            if confirmed(point, self.hypotheses, self.goal):
                return point
        return None


def small_point(hypotheses: Sequence[Condition], goal: Condition) -> dict[Var, int] | None:
    """Return the smallest counterexample among small and random points, or ``None``."""
    columns = _Columns(hypotheses, goal)
    for tried in (_small(len(columns.free)), _random(len(columns.free))):
        point = columns.first(columns.points(tried))
        if point is not None:
            return point
    return None


def sample(hypotheses: Sequence[Condition], goal: Condition, most: int = 48) -> list[dict[Var, int]]:
    """Return points that satisfy the hypotheses and at which the goal is defined, half of them small, in no order."""
    columns = _Columns(hypotheses, goal)
    names = columns.names
    found: list[dict[Var, int]] = []
    for tried in (_small(len(columns.free)), _random(len(columns.free))):
        points = columns.points(tried)
        kept = failing_points(points, names, hypotheses, FALSE)
        for row in kept[:: max(1, 2 * len(kept) // most)].tolist()[: most // 2]:
            point = dict(zip(names, row, strict=True))
            try:
                goal.evaluate(point)
                # computed with 64 bits before, so evaluate it exactly
                if all(h.evaluate(point) for h in hypotheses):
                    found.append(point)
            except ZeroDivisionError:
                continue
    return found


def bounded_point(hypotheses: Sequence[Condition], goal: Condition) -> dict[Var, int] | None:
    """Return the smallest counterexample among points inside the bounds that the hypotheses state, or ``None``.

    Equations are satisfied as in :func:`small_point`: defined variables are computed from the others.
    """
    columns = _Columns(hypotheses, goal)
    point = columns.first(columns.points(inside(columns.free, hypotheses)))
    if point is None and equations_of(hypotheses):
        point = columns.first(inside(columns.names, hypotheses, aimed=True))
    return point


def machine_point(hypotheses: Sequence[Condition], goal: Condition, width: int) -> dict[Var, int] | None:
    """Return a counterexample among small integers and fractions of the largest one of a machine type, or ``None``.

    Far from zero few random points satisfy equations and bounds, and a point that overflows on one side only is near a
    bound of the other.  So each bound in turn is made an equation, which determines one variable.  Divisibility is
    written as a product with a new variable.  The evaluation is exact.
    """
    known = flattened(hypotheses)
    multiples = [Compare("==", h.e, h.d * var(f"multiple {k}")) for k, h in enumerate(known) if isinstance(h, Divides)]
    ends = [[*multiples, Compare("==", h.e, end)] for h in known if isinstance(h, Within) for end in (h.lo, h.hi)]
    top = 1 << (width - 1)
    parts = [top // k + more for k in (1, 2, 3, 4, 5, 6, 7, 8) for more in (-1, 0)]
    values = np.array([s * v for v in (*range(12), *parts) for s in (1, -1)], dtype=object)
    generator = np.random.default_rng(width)
    own = variables_of([*hypotheses, goal])
    found: list[dict[Var, int]] = []
    for end in ([], multiples, *ends):
        columns = _Columns([*known, *end], goal, object)
        pick = generator.integers(0, len(values), size=(_MACHINE, len(columns.names)))
        small = generator.integers(0, 24, size=pick.shape)
        points = values[np.where(generator.random(pick.shape) < 0.6, small, pick)]
        at = columns.first(completed(points, columns.names, columns.definitions))
        if at is not None and confirmed(at, hypotheses, goal):
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
