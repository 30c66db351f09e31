"""Points at which a rule is tried before anything is proved, all at once, in the rule's own arithmetic.

Every small point, random ones, the same with their coordinates set so that conditions hold, and for machine integers
points next to the limits.  One table answers three questions: where the rule fails, whether it says anything at all, and
without which of its conditions it would fail.  Whatever is reported is confirmed by :func:`.evaluate.judge`.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from functools import reduce
from typing import Any, Final, TypeAlias

import numpy as np

from ..refute import magnitude
from .evaluate import judge, refutes
from .interpretation import Interpretation
from .rule import StatedRule
from .semantics import Rounding, Semantics
from .terms import Term, below

__all__ = ["Table", "every_point", "limits_table", "table_of"]

Array: TypeAlias = "np.ndarray[Any, Any]"

_GRID = 4096
_RANDOM = 2500
_MACHINE = 2000
_CORNERS = 1000
#: A rule that has no more points than this can be tried at all of them: two variables of eight bits, one of sixteen.
_EVERY = 1 << 18
#: Points for each pair of variables of which one is the least machine integer and the other -1, at most.
_LEAST = 16
#: Absolute values below this are exact in 64 bits.
_EXACT = (1 << 63) - 1


# --------------------------------------------------------------------------------------------------- evaluation
class _Columns(Interpretation):
    """Terms on columns of points.  A meaning is a column, or one row or a scalar where it is the same everywhere."""

    def __init__(self, columns: Mapping[str, Array], s: Semantics, *, machine: bool) -> None:
        super().__init__(s, machine=machine)
        self.columns = columns
        self._kind = object if not columns or any(a.dtype == object for a in columns.values()) else np.int64

    def number(self, n: int) -> Any:
        # one row: of scalars alone numpy would make integers of 64 bits, or refuse
        return np.full(1, n, dtype=self._kind)

    def variable(self, name: str) -> Any:
        return self.columns[name]

    def truth(self, value: bool) -> Any:
        return np.bool_(value)

    def conj(self, *parts: Any) -> Any:
        return reduce(np.logical_and, parts)

    def disj(self, *parts: Any) -> Any:
        return reduce(np.logical_or, parts)

    def neg(self, part: Any) -> Any:
        return np.logical_not(part)

    def less(self, a: Any, b: Any) -> Any:
        return np.less(a, b).astype(bool)

    def equal(self, a: Any, b: Any) -> Any:
        return np.equal(a, b).astype(bool)

    def either(self, c: Any, a: Any, b: Any) -> Any:
        return np.where(c, np.asarray(a, dtype=self._kind), np.asarray(b, dtype=self._kind))

    def extreme(self, op: str, a: Any, b: Any) -> Any:
        return np.minimum(a, b) if op == "min" else np.maximum(a, b)

    def wrapped(self, a: Any) -> Any:
        return (a - self.semantics.lo) % self.semantics.modulus + self.semantics.lo

    def divided(self, rounding: Rounding, a: Any, b: Any, *, whole: bool) -> Any:
        zero = self.equal(b, 0)
        d = self.either(zero, 1, b)
        size = np.abs(d)
        match rounding.removesuffix("0"):
            case "floor":
                value = a // d if whole else a % d
            case "trunc":
                value = np.abs(a) // size if whole else np.abs(a) % size
                flip = np.less(a, 0) != np.less(d, 0) if whole else np.less(a, 0)
                value = self.either(flip, -value, value)
            case _:
                value = a % size if not whole else self.either(np.greater(d, 0), a // size, -(a // size))
        return self.either(zero, 0, value)


def _largest(roots: Sequence[Term], largest: Mapping[str, int], s: Semantics, *, machine: bool) -> int:
    """A bound on every absolute value on the way to the values of ``roots``."""
    peak = 1
    done: dict[int, int] = {}
    limit = 1 << (s.width - 1) if machine and s.overflow == "wrap" else None
    for t in below(*roots):
        args = [done[id(a)] for a in t.args]
        match t.op:
            case "int":
                n = abs(int(t.value))
            case "var" | "flag":
                n = largest[t.name]
            case "add" | "sub":
                n = sum(args)
            case "mul":
                n = max(args[0], 1) * max(args[1], 1)
            case _:
                n = max([1, *args])
        peak = max(peak, n)
        done[id(t)] = n if limit is None else min(n, limit)
    if s.width:
        peak += s.modulus
    return peak


# ------------------------------------------------------------------------------------------------------- points
def _domains(r: StatedRule) -> dict[str, tuple[int | None, int | None]]:
    """The bounds of every variable, none where there are none."""
    s = r.semantics
    out: dict[str, tuple[int | None, int | None]] = {}
    for v, kind in r.variables.items():
        lo, hi = (0, 1) if kind.name == "bool" else (kind.lo, kind.hi)
        if s.width and kind.name != "bool":
            lo = s.lo if lo is None else max(lo, s.lo)
            hi = s.hi if hi is None else min(hi, s.hi)
        out[v] = lo, hi
    return out


def _near_zero(lo: int | None, hi: int | None, count: int) -> list[int]:
    """The values of a range nearest to zero."""
    start = 0 if (lo is None or lo <= 0) and (hi is None or hi >= 0) else lo if lo and lo > 0 else hi or 0
    out = [start]
    for step in range(1, count):
        out += [
            x for x in (start + step, start - step) if (lo is None or x >= lo) and (hi is None or x <= hi)
        ]
    return out[:count]


def _grid(domains: Mapping[str, tuple[int | None, int | None]], kind: Any) -> tuple[int, list[Array]]:
    """The largest radius so that not too many points have no larger coordinate, and (at least) all of these."""
    if not domains:
        return 0, []
    radius = 0
    for wider in range(1, 40):
        sizes = [len(_near_zero(lo, hi, 2 * wider + 1)) for lo, hi in domains.values()]
        if np.prod(np.array(sizes, dtype=float)) > _GRID:
            break
        radius = wider
    if not radius:
        return 0, [np.zeros(0, dtype=kind) for _ in domains]
    axes = [np.array(_near_zero(lo, hi, 2 * radius + 1), dtype=kind) for lo, hi in domains.values()]
    return radius, [g.ravel() for g in np.meshgrid(*axes, indexing="ij")]


def _cast(column: Array, lo: int | None, hi: int | None) -> Array:
    """The column moved into its range."""
    if lo is not None and hi is not None:
        inside = (column >= lo) & (column <= hi)
        return np.where(inside, column, lo + (column - lo) % (hi - lo + 1))
    return column


def _literals(r: StatedRule) -> list[int]:
    """The integers of a rule and those next to them."""
    found = {int(t.value) for t in below(r.left, r.right, *r.conditions) if t.op == "int"}
    near = {x + d for x in found for d in (-1, 0, 1)} | {-x for x in found} | {-1, 0, 1, 2}
    return sorted(near, key=lambda x: (abs(x), x < 0))


def _random(r: StatedRule, count: int, seed: int, kind: Any) -> dict[str, Array]:
    generator = np.random.default_rng(seed)
    n = len(r.variables)
    scale = generator.choice([2, 3, 4, 8, 16, 64, 256], size=(count, 1))
    base = np.rint(generator.uniform(-0.6, 1.0, size=(count, n)) * scale).astype(np.int64)
    pool = np.array(_literals(r), dtype=kind)
    picked = pool[generator.integers(0, len(pool), size=(count, n))]
    points = np.where(generator.random((count, n)) < 0.15, picked, base)
    return {v: points[:, k] for k, v in enumerate(r.variables)}


def _corners(r: StatedRule, count: int, seed: int) -> dict[str, Array]:
    """Points that stand at a bound in every coordinate once conditions are followed: claims off by one fail there."""
    points = np.random.default_rng(seed).integers(-1, 2, size=(count, len(r.variables)))
    return {v: points[:, k] for k, v in enumerate(r.variables)}


def _limits(r: StatedRule, count: int, kind: Any) -> dict[str, Array]:
    """Points next to the limits of machine integers; half of the coordinates small, as overflow needs few large ones."""
    s = r.semantics
    top = s.hi + 1
    near = {
        0,
        1,
        2,
        3,
        4,
        5,
        7,
        8,
        16,
        top // 4,
        top // 3,
        top // 2 - 1,
        top // 2,
        top // 2 + 1,
        top - 2,
        top - 1,
    }
    near |= {1 << (s.width // 2), (1 << (s.width // 2)) - 1, *(abs(x) for x in _literals(r))}
    values = np.array(
        sorted({x for n in near for x in (n, -n)} | {-top}, key=lambda v: (abs(v), v < 0)), dtype=kind
    )
    generator = np.random.default_rng(s.width)
    shape = (count, len(r.variables))
    small = generator.integers(-4, 11, size=shape)
    picked = values[generator.integers(0, len(values), size=shape)]
    points = np.where(generator.random(shape) < 0.5, small, picked)
    columns = {v: points[:, k] for k, v in enumerate(r.variables)}
    # the only quotient that overflows is that of the least integer by -1: every pair of variables has its share of it
    pairs = list(itertools.permutations(r.variables, 2))
    share = min(_LEAST, max(1, count // (2 * len(pairs)))) if pairs else 0
    for n, (dividend, divisor) in enumerate(pairs):
        rows = slice(n * share, (n + 1) * share)
        columns[dividend][rows] = -top
        columns[divisor][rows] = -1
        # half of the time nothing else is large
        near_zero = slice(rows.start, rows.start + share // 2)
        for u in r.variables:
            if u not in (dividend, divisor):
                columns[u][near_zero] = generator.integers(-1, 3, size=share // 2)
    # and a sum that overflows by one fits once it is negated: every two variables have their share of its halves
    for n, (v, w) in enumerate(itertools.combinations(r.variables, 2)):
        rows = slice(count - (n + 1) * share, count - n * share)
        if share and rows.start >= len(pairs) * share:
            columns[v][rows] = columns[w][rows] = top // 2
            for u in r.variables:
                if u not in (v, w):
                    columns[u][rows] = generator.integers(-2, 3, size=share)
    return columns


def _alike(r: StatedRule, kind: Any) -> dict[str, Array] | None:
    """Points at which two variables stand at the same limit of machine integers, and the others near zero."""
    s = r.semantics
    pairs = list(itertools.combinations(r.variables, 2))
    share = max(1, min(_LEAST, _CORNERS // max(1, len(pairs))))
    generator = np.random.default_rng(s.width)
    points = generator.integers(-2, 4, size=(share * len(pairs), len(r.variables))).astype(kind)
    columns = {v: points[:, k] for k, v in enumerate(r.variables)}
    limits = np.array([s.lo, s.hi], dtype=kind)[np.arange(share) % 2]
    for n, pair in enumerate(pairs):
        for v in pair:
            columns[v][n * share : (n + 1) * share] = limits
    return columns if pairs else None


# -------------------------------------------------------------------------------------- points of the conditions
def _variables(*terms: Term) -> set[str]:
    return {t.name for t in below(*terms) if t.op in ("var", "flag")}


def _solved(a: Term, b: Term) -> Iterator[tuple[Term, Term]]:
    """Ways to write ``a = b`` as a variable and its value: by moving summands to the other side."""
    todo = [(a, b), (b, a)]
    while todo:
        one, two = todo.pop()
        match one.op:
            case "var":
                yield one, two
            case "add":
                todo += [(x, Term("sub", (two, y))) for x, y in (one.args, one.args[::-1])]
            case "sub":
                todo.append((one.args[0], Term("add", (two, one.args[1]))))
                todo.append((one.args[1], Term("sub", (one.args[0], two))))
            case "neg":
                todo.append((one.args[0], Term("neg", (two,))))


def _recipes(r: StatedRule, among: Sequence[Term]) -> list[tuple[str, str, tuple[Term, ...]]]:
    """Ways to set one variable from others so that a condition holds, in an order in which they can be followed."""
    found: dict[str, tuple[int, str, tuple[Term, ...]]] = {}
    lows: dict[str, tuple[Term, Term]] = {}
    highs: dict[str, Term] = {}

    def offer(rank: int, v: Term, how: str, *terms: Term) -> None:
        better = v.name not in found or rank < found[v.name][0]
        if v.op == "var" and better and v.name not in _variables(*terms):
            found[v.name] = rank, how, terms

    for c in among:
        a = c.args
        match c.op:
            case "eq":
                for v, value in _solved(a[0], a[1]):
                    offer(0, v, "equal", value)
                for one, two in ((a[0], a[1]), (a[1], a[0])):
                    zero = two.op == "int" and not two.value
                    if zero and one.op in ("mod", "floormod", "truncmod", "euclidmod"):
                        offer(1, one.args[0], "multiple", one.args[1])
            case "divides":
                offer(1, a[1], "multiple", a[0])
            case "within":
                offer(2, a[0], "within", a[1], a[2])
            case "lt" | "le" | "gt" | "ge":
                small, large = a if c.op in ("lt", "le") else a[::-1]
                strict = (Term("int", (), int(c.op in ("lt", "gt"))),)
                offer(3, small, "below", large)
                offer(3, large, "above", small)
                if large.op == "var":
                    lows.setdefault(large.name, (large, Term("add", (small, *strict))))
                if small.op == "var":
                    highs.setdefault(small.name, Term("sub", (large, *strict)))
    for name, (v, low) in lows.items():
        if name in highs:
            offer(2, v, "within", low, highs[name])
    order: list[tuple[str, str, tuple[Term, ...]]] = []
    left = dict(found)
    while left:
        ready = [v for v, (_, _, terms) in left.items() if not (_variables(*terms) & set(left))]
        if not ready:  # a circle: give up the weakest of it
            worst = max(left, key=lambda v: (left[v][0], v))
            del left[worst]
            continue
        for name in ready:
            _, how, terms = left.pop(name)
            order.append((name, how, terms))
    return order


def _sizes(columns: Mapping[str, Array]) -> dict[str, int]:
    """The largest absolute value of every column."""
    return {v: max(int(a.max()), -int(a.min())) if len(a) else 0 for v, a in columns.items()}


def _follow(r: StatedRule, columns: dict[str, Array], among: Sequence[Term]) -> dict[str, Array]:
    """The points with variables set so that as many as possible of some conditions hold."""
    out = dict(columns)
    domains = _domains(r)
    kind = object if any(a.dtype == object for a in columns.values()) else np.int64
    for v, how, terms in _recipes(r, among):
        size = len(out[v])
        if kind is not object and _largest(terms, _sizes(out), r.semantics, machine=False) >= _EXACT >> 20:
            continue
        reader = _Columns(out, r.semantics, machine=False)
        values = [np.broadcast_to(np.asarray(reader.of(t).value, dtype=kind), (size,)) for t in terms]
        own = out[v]
        match how:
            case "equal":
                new = values[0]
            case "multiple":
                new = _multiple(own, values[0], *domains[v])
            case "within":
                width = values[1] - values[0] + 1
                new = np.where(width > 0, values[0] + own % np.where(width > 0, width, 1), values[0])
            case "below":
                new = np.where(own < values[0], own, values[0] - 1 - abs(own))
            case _:
                new = np.where(own > values[0], own, values[0] + 1 + abs(own))
        out[v] = _cast(new, *domains[v])
    return out


def _multiple(own: Array, of: Array, lo: int | None, hi: int | None) -> Array:
    """Multiples of ``of``, by factors near zero where the range of a variable has no others."""
    if lo is None or hi is None:
        return own * of
    most = max(abs(lo), abs(hi)) // np.where(of == 0, 1, np.abs(of))
    return of * np.where(np.abs(own) <= most, own, own % (most + 1))


_LARGE: Final = float(np.finfo(float).max) / 2**40


def _rough(column: Array) -> Array:
    """The column as floating point numbers; what is too large for these is so large that some of it can be added up."""
    try:
        rough = column.astype(float)
    except OverflowError:
        top = int(_LARGE)
        return np.array([float(max(-top, min(top, int(x)))) for x in column])
    clipped: Array = np.clip(rough, -_LARGE, _LARGE)
    return clipped


# -------------------------------------------------------------------------------------------------------- table
class Table:
    """A rule on many points.

    ``conditions`` has a row of truth values for each condition; ``concerned`` says where the left side has a value (and,
    where overflow is assumed not to occur, nothing overflows), ``fails`` where besides the right side has none or another.
    Every point of the rule without a coordinate larger than ``radius`` is there.
    """

    def __init__(self, r: StatedRule, columns: Mapping[str, Array], size: int, radius: int = 0) -> None:
        self.rule = r
        self.radius = radius
        self.columns = columns
        self.size = size
        s = r.semantics
        largest = _sizes(columns)
        exact = max(
            _largest((r.left, r.right), largest, s, machine=bool(s.width)),
            _largest(r.conditions, largest, s, machine=False) if r.conditions else 0,
        )
        kind = np.int64 if exact < _EXACT else object
        typed = {v: a.astype(kind, copy=False) for v, a in columns.items()}
        plain = _Columns(typed, s, machine=False)
        self.conditions: list[Array] = [self._full(plain.holds(c)) for c in r.conditions]
        sides = _Columns(typed, s, machine=bool(s.width))
        left, right = sides.of(r.left), sides.of(r.right)
        concerned = ~self._full(left.zero | left.lost)
        if s.overflow == "nowrap":
            concerned &= ~self._full(right.lost)
        self.concerned: Array = concerned
        differs = right.zero | right.lost | np.not_equal(left.value, right.value)
        self.fails: Array = concerned & self._full(differs)

    def _full(self, a: Any) -> Array:
        return np.broadcast_to(np.asarray(a, dtype=bool), (self.size,))

    def _points(self, where: Array, most: int) -> Iterator[dict[str, int]]:
        rows = np.flatnonzero(where)
        if not len(rows):
            return
        total = sum((np.abs(_rough(self.columns[v][rows])) for v in self.columns), start=np.zeros(len(rows)))
        if len(rows) > 64:
            rows = rows[np.argsort(total, kind="stable")[:64]]
        names = list(self.columns)
        found = [[int(self.columns[v][k]) for v in names] for k in rows]
        for row in sorted(found, key=magnitude)[:most]:
            yield dict(zip(names, row, strict=True))

    def _all(self, without: int | None = None) -> Array:
        kept = np.ones(self.size, dtype=bool)
        for k, c in enumerate(self.conditions):
            if k != without:
                kept &= c
        return kept

    def counterexample(self) -> dict[str, int] | None:
        """The smallest point of the table at which the rule fails."""
        for point in self._points(self._all() & self.fails, 8):
            if refutes(self.rule, point):
                return point
        return None

    def example(self) -> dict[str, int] | None:
        """The smallest point of the table at which the rule says something."""
        for point in self._points(self._all() & self.concerned, 8):
            if judge(self.rule, point) != "not concerned":
                return point
        return None

    def needs(self, k: int) -> bool:
        """Whether at some point only condition ``k`` keeps the rule from failing."""
        return bool((self._all(without=k) & self.fails).any())

    def _typed_for(self, condition: Term) -> Mapping[str, Array]:
        exact = _largest((condition,), _sizes(self.columns), self.rule.semantics, machine=False) < _EXACT
        return {v: a.astype(np.int64 if exact else object, copy=False) for v, a in self.columns.items()}

    def saved_by(self, condition: Term) -> Array | None:
        """Where the rule says something and ``condition`` holds; ``None`` if that is nowhere, or the rule still fails."""
        reader = _Columns(self._typed_for(condition), self.rule.semantics, machine=False)
        holds = self._full(reader.holds(condition)) & self._all() & self.concerned
        return holds if holds.any() and not (holds & self.fails).any() else None


def table_of(r: StatedRule) -> Table:
    """The table of a rule; the same every time."""
    domains = _domains(r)
    if any(lo is not None and hi is not None and lo > hi for lo, hi in domains.values()):
        return Table(r, {v: np.zeros(0, dtype=np.int64) for v in domains}, 0)
    kind = _kind_of(r, domains)
    radius, grid = _grid(domains, kind)
    blocks: list[dict[str, Array]] = [dict(zip(r.variables, grid, strict=True))] if grid else []
    blocks += [
        _random(r, _RANDOM, 20240229, kind),
        _follow(r, _random(r, _RANDOM, 8128, kind), r.conditions),
        _follow(r, _corners(r, _CORNERS, 28), r.conditions),
    ]
    equations = [t for t in below(r.left) if t.op == "eq"]
    if equations:  # an equivalence is tried where its left side holds
        blocks.append(_follow(r, _random(r, _RANDOM, 496, kind), (*equations, *r.conditions)))
    if r.semantics.width:
        near = _limits(r, _MACHINE, kind)
        blocks += [near, _follow(r, near, r.conditions)]
        alike = _alike(r, kind)
        if alike is not None:
            blocks += [alike, _follow(r, alike, r.conditions)]
    columns = {v: _cast(np.concatenate([b[v] for b in blocks]), *domains[v]) for v in r.variables}
    size = len(next(iter(columns.values()))) if columns else 1
    return Table(r, columns, size, radius)


def limits_table(r: StatedRule) -> Table:
    """Points next to the limits of machine integers, and few others."""
    domains = _domains(r)
    if any(lo is not None and hi is not None and lo > hi for lo, hi in domains.values()):
        return Table(r, {v: np.zeros(0, dtype=np.int64) for v in domains}, 0)
    kind = _kind_of(r, domains)
    near = _limits(r, _MACHINE, kind)
    blocks = [near, _follow(r, near, r.conditions)] if r.conditions else [near]
    columns = {v: _cast(np.concatenate([b[v] for b in blocks]), *domains[v]) for v in r.variables}
    return Table(r, columns, len(next(iter(columns.values()))) if columns else 1)


def every_point(r: StatedRule) -> Table | None:
    """The table of all points of a rule; ``None`` where there are too many."""
    bounds = [(lo, hi) for lo, hi in _domains(r).values() if lo is not None and hi is not None]
    size = math.prod(max(0, hi - lo + 1) for lo, hi in bounds)
    if len(bounds) < len(r.variables) or size > _EVERY:
        return None
    kind = _kind_of(r, _domains(r))
    grid = np.meshgrid(*(np.array(range(lo, hi + 1), dtype=kind) for lo, hi in bounds), indexing="ij")
    columns = {v: g.ravel() for v, g in zip(r.variables, grid, strict=True)}
    return Table(r, columns, size, max((abs(b) for pair in bounds for b in pair), default=0))


def _kind_of(r: StatedRule, domains: Mapping[str, tuple[int | None, int | None]]) -> Any:
    """Machine integers for the points themselves where all are small, else Python's."""
    bounds = [abs(b) for pair in domains.values() for b in pair if b is not None]
    return np.int64 if max([0, *bounds, *map(abs, _literals(r))]) <= 1 << 33 else object
