"""Closed forms of tables: elements as expressions of their index, and domains of predicates as constraints."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations, pairwise
from typing import TYPE_CHECKING

from ..expr import Expr, Int, floordiv, integer, linear, maximum, minimum
from ..indexing_map import Constraint

if TYPE_CHECKING:
    import numpy as np

# Limit on the bends of a table of one dimension; with more its form is longer than the table is worth.
_BENDS = 8
# Limit on the boxes into which a table of predicates is divided.
_MOST_BOXES = 64


def table_element(values: Sequence[int], dims: Sequence[int], index: Sequence[Expr]) -> Expr | None:
    """Return the element of a table, in row-major order, at an index within it; None if no short form is found.

    Sums of tables of one dimension each have a short form.
    """
    import numpy as np

    table = np.array(values, object).reshape(dims)
    for axis, e in enumerate(index):
        if isinstance(e, Int):
            if not 0 <= e.value < dims[axis]:
                return None
            table = table.take([e.value], axis)
    if table.size == 0:
        return None
    first = table.flat[0]
    rows = [
        table[tuple([slice(None) if d == axis else 0 for d in range(table.ndim)])] - first for axis in range(table.ndim)
    ]
    if (sum(np.ix_(*rows), first) != table).any():
        return None
    total: Expr = integer(int(first))
    for row, e in zip(rows, index, strict=True):
        form = _form(row.tolist(), e)
        if form is None:
            return None
        total = total + form
    return total


Domain = tuple[Constraint, ...]


def predicate_domains(
    values: Sequence[int], dims: Sequence[int], index: Sequence[Expr]
) -> tuple[tuple[Domain, ...], tuple[Domain, ...]] | None:
    """Return the domains where a table of predicates is true, and where it is false, each as alternatives.

    One side should follow from bounds on indices, on sums and differences of two of them, and on their remainders.
    Otherwise the table is divided into boxes; None if these are many.
    """
    import numpy as np

    table = np.array(values, bool).ravel()
    axes = [a.ravel() for a in np.indices(dims)] if dims else []
    forms = list(zip(index, axes, strict=True))
    forms += [(x + y * sign, a + b * sign) for (x, a), (y, b) in combinations(forms, 2) for sign in (-1, 1)]
    for side in (True, False):
        chosen = table == side
        if not chosen.any():
            continue
        rows = list(forms)
        for e, row in forms:
            step = int(np.gcd.reduce(row[chosen] - row[chosen][0]))
            rows += [(e % step, row % step)] if step > 1 else []
        bounds = [(Constraint(e, int(row[chosen].min()), int(row[chosen].max())), row) for e, row in rows]
        within = [(c.lo <= row) & (row <= c.hi) for c, row in bounds]
        # drop redundant bounds greedily, remainders, sums and differences first
        needed = list(range(len(bounds)))
        for k in reversed(range(len(bounds))):
            fewer = [j for j in needed if j != k]
            if np.logical_and.reduce([within[j] for j in fewer], initial=True).sum() == chosen.sum():
                needed = fewer
        inside: Domain = tuple([bounds[k][0] for k in needed])
        # outside: points that violate a bound and none before it
        before: Domain = ()
        outside: list[Domain] = []
        left = np.full(table.shape, True)
        for k in needed:
            c, row = bounds[k]
            for beyond in (left & (row < c.lo), left & (row > c.hi)):
                if beyond.any():
                    reached = row[beyond]
                    outside.append((*before, Constraint(c.expr, int(reached.min()), int(reached.max()))))
            left, before = left & within[k], (*before, c)
        if (left == chosen).all():
            return ((inside,), tuple(outside)) if side else (tuple(outside), (inside,))
    boxes = _boxes(np.array(values, bool).reshape(dims), index) if table.size else {}
    if not 0 < sum(map(len, boxes.values())) <= _MOST_BOXES:
        return None
    return tuple(boxes.get(True, ())), tuple(boxes.get(False, ()))


def _boxes(table: np.ndarray, index: Sequence[Expr]) -> dict[bool, list[Domain]]:
    """Divide a table into boxes where it is true and where it is false, by runs of an index with equal slices."""
    if not table.ndim:
        return {bool(table): [()]}
    found: dict[bool, list[Domain]] = {}
    at, last = 0, len(table) - 1
    while at <= last:
        end = next((k for k in range(at, last) if (table[k + 1] != table[at]).any()), last)
        run: Domain = () if (at, end) == (0, last) else (Constraint(index[0], at, end),)
        for side, domains in _boxes(table[at], index[1:]).items():
            found.setdefault(side, []).extend([(*run, *domain) for domain in domains])
        at = end + 1
    return found


def _form(row: Sequence[int], e: Expr) -> Expr | None:
    """Return the value of a row at an index if it is piecewise linear, a quotient, or periodic; else None."""
    slopes = [b - a for a, b in pairwise(row)] or [0]
    bends = [k for k in range(1, len(slopes)) if slopes[k] != slopes[k - 1]]
    if len(bends) > 1:
        found = quotient(e, range(len(row)), 1, row)
        if found is not None:
            return found
        for period in range(2, len(row) // 2 + 1):
            if all(row[k] == row[k - period] for k in range(period, len(row))):
                return _form(row[:period], e % period)
    if len(bends) > _BENDS:
        found = _digital_line(row, e)
        return _of_digits(row, e) if found is None else found
    parts: list[tuple[Expr, int]] = [(e, slopes[0])]
    while bends:
        k, *bends = bends
        change = slopes[k] - slopes[k - 1]
        if bends and slopes[bends[0]] - slopes[bends[0] - 1] == -change:
            # the old slope returns at the next bend
            parts.append((minimum(maximum(e, k), bends.pop(0)) - k, change))
        else:
            parts.append((maximum(e - k, 0), change))
    return linear(row[0], parts)


def _of_digits(row: Sequence[int], e: Expr) -> Expr | None:
    """Return a row as a table of the quotient and the remainder of its index, as for a bit reversal."""
    for n in range(2, len(row) // 2 + 1):
        if len(row) % n == 0 and (found := table_element(row, (len(row) // n, n), (e // n, e % n))) is not None:
            return found
    return None


def _digital_line(row: Sequence[int], e: Expr) -> Expr | None:
    """Return `(a·e + b) // c` with the values of a row, for the smallest c up to twice their number."""
    import numpy as np

    last, rise = len(row) - 1, row[-1] - row[0]
    if max(map(abs, row)) >> 32:
        return None
    values, places = np.array(row), np.arange(len(row))
    for c in range(1, 2 * len(row) + 1):
        # the rise between the ends differs by less than one from slope times distance
        for a in range((rise - 1) * c // last + 1, -(-(rise + 1) * c // last)):
            over = c * values - a * places
            if over.max() - over.min() < c:
                return floordiv(e * a + int(over.max()), c)
    return None


def quotient(x: Expr, indices: Sequence[int], step: int, values: Sequence[int]) -> Expr | None:
    """Return `(a·x + b) // c` with these values at equal steps, with three periods, for the smallest c."""
    count = len(values)
    for c in range(1, max(count // 3, 1) + 1):
        a = values[c] - values[0] if count > c else 0
        if any(values[t + c] - values[t] != a for t in range(count - c)):
            continue
        # c·v <= a·t + b < c·v + c
        least, most = (
            pick(c * v - a * t + more for t, v in enumerate(values)) for pick, more in ((max, 0), (min, c - 1))
        )
        if least <= most:
            return floordiv(x * a + (step * least - a * indices[0]), c * step)
    return None
