"""A rule evaluated on many points at once, in its own arithmetic.

One table answers three questions: where the rule fails, whether it says anything at all, and without which of its
conditions it would fail.  Whatever is reported is confirmed by :func:`.evaluate.judge`.
"""

from __future__ import annotations

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

__all__ = ["EXACT", "Array", "Columns", "Table", "largest_value", "sizes"]

Array: TypeAlias = "np.ndarray[Any, Any]"

#: Absolute values below this are exact in 64 bits.
EXACT = (1 << 63) - 1


class Columns(Interpretation):
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


def largest_value(roots: Sequence[Term], largest: Mapping[str, int], s: Semantics, *, machine: bool) -> int:
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


def sizes(columns: Mapping[str, Array]) -> dict[str, int]:
    """The largest absolute value of every column."""
    return {v: max(int(a.max()), -int(a.min())) if len(a) else 0 for v, a in columns.items()}


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
        largest = sizes(columns)
        exact = max(
            largest_value((r.left, r.right), largest, s, machine=bool(s.width)),
            largest_value(r.conditions, largest, s, machine=False) if r.conditions else 0,
        )
        kind = np.int64 if exact < EXACT else object
        typed = {v: a.astype(kind, copy=False) for v, a in columns.items()}
        plain = Columns(typed, s, machine=False)
        self.conditions: list[Array] = [self._full(plain.holds(c)) for c in r.conditions]
        sides = Columns(typed, s, machine=bool(s.width))
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
        exact = largest_value((condition,), sizes(self.columns), self.rule.semantics, machine=False) < EXACT
        return {v: a.astype(np.int64 if exact else object, copy=False) for v, a in self.columns.items()}

    def saved_by(self, condition: Term) -> Array | None:
        """Where the rule says something and ``condition`` holds; ``None`` if that is nowhere, or the rule still fails."""
        reader = Columns(self._typed_for(condition), self.rule.semantics, machine=False)
        holds = self._full(reader.holds(condition)) & self._all() & self.concerned
        return holds if holds.any() and not (holds & self.fails).any() else None
