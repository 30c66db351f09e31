"""Maps as tables: vectorised evaluation, enumeration of the domain, relations as sets of pairs.

The only module of core that needs numpy.  Results are exact: ``int64`` where no intermediate value can overflow, Python
integers in object arrays otherwise.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import prod
from operator import index
from typing import TYPE_CHECKING, Any

import numpy as np

from .errors import InputError, TooLargeError
from .expr import Expr, Integers, Var, interpret

if TYPE_CHECKING:
    from .condition import Condition
    from .indexing_map import IndexingMap

_INT32, _INT64 = 2**31 - 1, 2**63 - 1
_TO_INTEGERS = np.frompyfunc(index, 1, 1)
_CHUNK = 1 << 18  # number of points of a box that are tested at once


class Magnitude:
    """An algebra that bounds the absolute value of a result and of every intermediate value.

    Divisors are nonzero, so a quotient is no larger than its dividend and a remainder no larger than its divisor.
    """

    def __init__(self, largest: Mapping[Var, int] | Mapping[Expr, int]) -> None:
        self.largest = largest
        self.peak = 0

    def _seen(self, n: int) -> int:
        self.peak = max(self.peak, n)
        return n

    def integer(self, n: int) -> int:
        return self._seen(abs(n))

    def variable(self, v: Var) -> int:
        return self._seen(self.largest[v])

    def sum(self, const: int, terms: list[tuple[int, int]]) -> int:
        # the coefficient itself becomes a machine integer too, even where its term is always zero
        return self._seen(abs(const) + sum(abs(k) * max(n, 1) for n, k in terms))

    def product(self, factors: list[int]) -> int:
        return self._seen(prod(max(n, 1) for n in factors))

    def floordiv(self, a: int, b: int) -> int:
        return max(a, 1)

    def mod(self, a: int, b: int) -> int:
        return b

    def ceildiv(self, a: int, b: int) -> int:
        return max(a, 1)

    def minimum(self, args: list[int]) -> int:
        return max(args)

    maximum = minimum

    def select(self, c: Condition, value_of: Callable[[Expr], int], a: int, b: int) -> int:
        return max(a, b)


def index_array(value: Any) -> np.ndarray:
    """Return ``value`` as an array of machine integers, or of Python integers if it contains larger ones."""
    array = np.asarray(value)
    if array.dtype.kind in "iu":
        return array
    if array.size == 0:
        return array.astype(np.int64)
    try:
        if array.dtype.kind == "O":
            return np.asarray(_TO_INTEGERS(array), dtype=object)
    except TypeError:
        pass
    raise InputError(f"index values must be integers, not {array.dtype}")


def _largest(array: np.ndarray) -> int:
    return max(abs(int(array.min())), abs(int(array.max()))) if array.size else 0


def peak(exprs: Sequence[Expr], largest: Mapping[Var, int] | Mapping[Expr, int]) -> int:
    """Return a bound on the absolute values of variables and of all intermediate values in the evaluation of ``exprs``."""
    magnitude = Magnitude(largest)
    interpret(exprs, magnitude)
    return max([magnitude.peak, *largest.values()])


def exact_type(exprs: Sequence[Expr], env: Mapping[Any, np.ndarray]) -> Any:
    """Return ``int64`` if no intermediate value of ``exprs`` overflows there, else ``object`` for Python integers."""
    return np.int64 if peak(exprs, {v: _largest(a) for v, a in env.items()}) <= _INT64 else object


def computed(
    exprs: Sequence[Expr], env: Mapping[Expr, np.ndarray], shape: tuple[int, ...] | None = None
) -> list[np.ndarray]:
    """Return the values of ``exprs`` as arrays, in ``int64`` where no intermediate value can overflow.

    They have the given ``shape``, or else the shape of their variables.  They are computed in ``int32`` where that
    suffices, because divisions then take a third of the time.
    """
    most = peak(exprs, {v: _largest(a) for v, a in env.items()})
    dtype = np.int32 if most <= _INT32 else np.int64 if most <= _INT64 else object
    values = interpret(exprs, Integers({v: a.astype(dtype, copy=False) for v, a in env.items()}))
    made = object if dtype is object else np.int64
    arrays = [np.asarray(x, dtype=dtype).astype(made, copy=False) for x in values]
    return arrays if shape is None else [np.broadcast_to(a, shape) for a in arrays]


def between(array: np.ndarray, lo: int | float, hi: int | float) -> Any:
    """Return a mask of the values in ``[lo, hi]``; the ends may be infinite."""
    if array.dtype != object:
        # bounds beyond int64 do not compare with such an array; clipping them to its range keeps the result
        lo, hi = max(lo, -_INT64 - 1), min(hi, _INT64)
        if lo > hi:
            return np.zeros(array.shape, dtype=bool)
    return np.asarray((array >= lo) & (array <= hi), dtype=bool)


def evaluate_many(m: IndexingMap, env: Mapping[Expr, Any]) -> tuple[np.ndarray, tuple[np.ndarray, ...]]:
    """Implement :meth:`IndexingMap.evaluate_many`."""
    arrays = {v: index_array(x) for v, x in env.items()}
    shape = np.broadcast_shapes(*(a.shape for a in arrays.values()))
    inside = np.ones(shape, dtype=bool)
    for v in m.variables:
        inside &= between(arrays[v.expr], v.lo, v.hi)
    values = computed((*m.results, *(c.expr for c in m.constraints)), arrays, shape)
    for c, a in zip(m.constraints, values[len(m.results) :], strict=True):
        inside &= between(a, c.lo, c.hi)
    return inside, tuple(values[: len(m.results)])


def _boxes(sizes: Sequence[int], lows: Sequence[int], limit: int) -> Any:
    """Yield the points of a box in row-major order, in chunks: their number and their columns."""
    total = prod(sizes)
    if total > limit:
        raise TooLargeError(f"the box of the domain has {total} points, more than the limit of {limit}")
    for start in range(0, total, _CHUNK):
        flat = np.arange(start, min(start + _CHUNK, total))
        columns: list[np.ndarray] = []
        for size, lo in zip(reversed(sizes), reversed(lows), strict=True):
            flat, digit = np.divmod(flat, size)
            columns.append(digit + lo if abs(lo) + size <= _INT64 else digit.astype(object) + lo)
        yield min(_CHUNK, total - start), columns[::-1]


def _chunks(m: IndexingMap, rts: Sequence[int] | None, operands: Mapping[str, Any] | None, limit: int) -> Any:
    """Yield each chunk of the domain: columns (dims, ranges, runtime variables), results and number of points."""
    if rts is not None and operands is not None:
        raise InputError("give either values of the runtime variables or operands to read them from, not both")
    if rts is not None and len(rts) != len(m.rts):
        raise InputError(f"the map has {len(m.rts)} runtime variables but {len(rts)} values were given")
    free = m.dims + m.ranges + (m.rts if rts is None and operands is None else ())
    if any(v.size == 0 for v in m.variables):
        return
    for count, columns in _boxes([v.size for v in free], [v.lo for v in free], limit):
        env: dict[Expr, Any] = {v.expr: column for v, column in zip(free, columns, strict=True)}
        if rts is not None:
            env.update((v.expr, x) for v, x in zip(m.rts, rts, strict=True))
        elif operands is not None:
            _read_runtime(m, operands, env, (count,))
        inside, results = evaluate_many(m, env)
        inside = np.broadcast_to(inside, (count,))
        ordered = [np.broadcast_to(index_array(env[v.expr]), (count,))[inside] for v in m.variables]
        yield ordered, [np.broadcast_to(r, (count,))[inside] for r in results], int(inside.sum())


def _read_runtime(m: IndexingMap, operands: Mapping[str, Any], env: dict[Expr, Any], shape: tuple[int, ...]) -> None:
    """Add to ``env`` each runtime variable: the clamped element of its operand.

    An index outside the operand belongs to a point outside the domain; it is clipped to the operand's edge so that the
    whole column can be read.
    """
    for r in m.runtime_order():
        if r.source is None:
            raise InputError(f"the runtime variable `{r.name}` has no source to read its value from")
        if r.source.hlo not in operands:
            raise InputError(f"no operand was given for `{r.source.hlo}`, the source of `{r.name}`")
        operand = np.asarray(operands[r.source.hlo])
        if operand.ndim != len(r.source.results):
            raise InputError(
                f"`{r.source.hlo}` is read with {len(r.source.results)} indices but has rank {operand.ndim}"
            )
        at = computed(r.source.results, {v: index_array(x) for v, x in env.items()}, shape)
        cut = tuple(np.clip(i, 0, n - 1).astype(np.int64) for i, n in zip(at, operand.shape, strict=True))
        raw = operand[cut] if operand.size else np.zeros(shape, dtype=np.int64)
        env[r.expr] = np.clip(np.broadcast_to(raw, shape).astype(object), r.lo, r.hi)


def domain_points(m: IndexingMap, rts: Sequence[int] | None, limit: int) -> np.ndarray:
    """Implement :meth:`IndexingMap.domain_points`."""
    width = len(m.dims) + len(m.ranges) + (len(m.rts) if rts is None else 0)
    parts = []
    for columns, _, count in _chunks(m, rts, None, limit):
        parts.append(np.stack(columns[:width], axis=1) if width else np.zeros((count, 0), dtype=np.int64))
    return np.concatenate(parts) if parts else np.zeros((0, width), dtype=np.int64)


def domain_values(m: IndexingMap, exprs: Sequence[Expr], limit: int) -> list[np.ndarray] | None:
    """Return the values of expressions at the points of a domain without runtime variables; ``None`` for too many.

    Each variable takes only the values that the constraints on it alone allow.  ``limit`` bounds the size of each box and
    the number of points that are tried.
    """
    spoken = [{*c.expr.variables()} for c in m.constraints]
    needed = set().union(*spoken, *(e.variables() for e in exprs))
    axes: dict[Expr, np.ndarray] = {}
    for v in (*m.dims, *m.ranges):
        if v.expr not in needed:
            continue
        if v.size > limit:
            return None
        values = np.arange(v.lo, v.hi + 1)
        for c, of in zip(m.constraints, spoken, strict=True):
            if of == {v.expr}:
                (x,) = computed([c.expr], {v.expr: values}, values.shape)
                values = values[between(x, c.lo, c.hi)]
        axes[v.expr] = values
    shape = tuple(len(a) for a in axes.values()) or (1,)
    if prod(shape) > limit:
        return None
    grid = dict(zip(axes, np.meshgrid(*axes.values(), indexing="ij", sparse=True), strict=True))
    inside = np.ones(shape, dtype=bool)
    for c, of in zip(m.constraints, spoken, strict=True):
        if len(of) != 1:
            (x,) = computed([c.expr], grid, shape)
            inside &= between(x, c.lo, c.hi)
    at = np.nonzero(inside)
    return computed(exprs, {v: a[i] for (v, a), i in zip(axes.items(), at, strict=False)}, at[0].shape)


def relation(
    m: IndexingMap, rts: Sequence[int] | None, operands: Mapping[str, Any] | None, limit: int
) -> set[tuple[tuple[int, ...], tuple[int, ...]]]:
    """Implement :meth:`IndexingMap.relation`."""
    rank = len(m.dims)
    pairs: set[tuple[tuple[int, ...], tuple[int, ...]]] = set()
    for columns, results, count in _chunks(m, rts, operands, limit):
        sources = zip(*(c.tolist() for c in columns[:rank]), strict=True) if rank else [()] * count
        targets = zip(*(r.tolist() for r in results), strict=True) if results else [()] * count
        pairs.update(zip(sources, targets, strict=True))
    return pairs
