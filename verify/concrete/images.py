"""Counterexamples among relations with long ranges: whole images of single sources compared with each other.

That a target is not reached by *any* value of a range takes one evaluation for each, so where ranges are long no point
can be tried by itself.  But the two sides of ``f(source, ranges) = g(source, unknowns)`` can be evaluated apart, and the
values of f that g never takes are then found at once: as much work as both ranges are long, and not as their product.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ...core.expr import Expr, Integers, Sum, Var, interpret, linear
from ...core.interval import Interval, is_infinite
from .enumerate import _dtype, _simplex, _within, size
from .problem import HOLDS, Box, Fact, Outcome, Problem, counterexample_order

__all__ = ["BUDGET", "NAME", "decide"]

NAME = "images"
#: So many values are computed, those of both sides together.
BUDGET = 1 << 20
_LONGEST = 1 << 22  # what is held in memory
_SOURCES = 4096


class _Sides(NamedTuple):
    """An option with its equations taken apart: ``lefts[k] = rights[k]``, and what else the unknowns must satisfy."""

    shared: Box
    own: Box
    lefts: list[Expr]
    rights: list[Expr]
    facts: list[Fact]


def decide(problem: Problem, budget: int = BUDGET) -> Outcome:
    """Compare the images of as many sources as the budget allows, the smallest first.

    ``holds`` where these are all the sources there are.  A counterexample is hardly the smallest.
    """
    sides = _sides(problem)
    if sides is None:
        return Outcome("open", note="not tried")
    unknowns = problem.options[0].unknowns
    values = int(size(sides.own) + size(unknowns))
    if values > _LONGEST:
        return Outcome("open", note="too many values")
    count = min(budget // max(values, 1), _SOURCES)
    if not count:
        return Outcome("open", note="out of budget")
    if (
        _dtype((*problem.variables, *unknowns), [*sides.lefts, *sides.rights, *problem.exprs()])
        is not np.int64
    ):
        return Outcome("open", note="integers too large")
    columns = _simplex([i for _, i in sides.shared], count) if sides.shared else []
    sources = sorted(zip(*(c.tolist() for c in columns), strict=True), key=counterexample_order) or [()]
    for source in sources:
        at = {v: np.int64(x) for (v, _), x in zip(sides.shared, source, strict=True)}
        try:
            found = _missing(problem, sides, at)
        except ZeroDivisionError:
            return Outcome("open", note="a divisor can be zero")
        if found is not None:
            return Outcome("fails", found, minimal=False, note="not minimised")
    if len(sources) == size(sides.shared):
        return HOLDS
    return Outcome("open", note=f"out of budget: no counterexample among {len(sources)} sources")


def _sides(problem: Problem) -> _Sides | None:
    """The only option of a problem taken apart, or ``None``."""
    if len(problem.options) != 1 or not problem.options[0].unknowns:
        return None
    option = problem.options[0]
    boxes = (*problem.variables, *option.unknowns)
    if any(is_infinite(x) for _, i in boxes for x in i) or any(i.empty for _, i in boxes):
        return None
    unknown = {v for v, _ in option.unknowns}
    lefts: list[Expr] = []
    rights: list[Expr] = []
    facts: list[Fact] = []
    shared: set[Var] = set()
    for f in option.facts:
        if f.within.lo == f.within.hi and isinstance(f.expr, Sum):
            with_unknowns = [(t, k) for t, k in f.expr.terms if not unknown.isdisjoint(t.variables())]
            others = [(t, -k) for t, k in f.expr.terms if unknown.isdisjoint(t.variables())]
            rights.append(linear(0, with_unknowns))
            lefts.append(linear(int(f.within.lo) - f.expr.const, others))
            shared.update(v for t, _ in with_unknowns for v in t.variables())
        else:
            facts.append(f)
            shared.update(f.expr.variables())
    if not lefts:
        return None
    shared -= unknown
    return _Sides(
        tuple((v, i) for v, i in problem.variables if v in shared),
        tuple((v, i) for v, i in problem.variables if v not in shared),
        lefts,
        rights,
        facts,
    )


def _missing(problem: Problem, sides: _Sides, at: dict[Var, Any]) -> tuple[int, ...] | None:
    """The smallest point above one source at which no values of the unknowns will do."""
    own, lefts = _rows(sides.own, at, sides.lefts, problem.where)
    _, rights = _rows(problem.options[0].unknowns, at, sides.rights, sides.facts)
    left, right = _keys(lefts, rights)
    rows = np.flatnonzero(~np.isin(left, right))
    if not len(rows):
        return None
    magnitude = sum((np.abs(own[v][rows]) for v in own), start=np.zeros(len(rows), dtype=np.int64))
    row = rows[int(np.argmin(magnitude))]
    return tuple(int(own[v][row]) if v in own else int(at[v]) for v, _ in problem.variables)


def _rows(
    box: Box, at: dict[Var, Any], exprs: Sequence[Expr], facts: Sequence[Fact]
) -> tuple[dict[Var, Any], list[Any]]:
    """All points of a box where ``facts`` hold, and the values of ``exprs`` there, as columns."""
    axes = [np.arange(int(i.hi - i.lo) + 1, dtype=np.int64) + int(i.lo) for _, i in box]
    grid = np.meshgrid(*axes, indexing="ij") if axes else []
    columns = {v: g.ravel() for (v, _), g in zip(box, grid, strict=True)}
    count = len(next(iter(columns.values()))) if columns else 1
    values = interpret([*exprs, *(f.expr for f in facts)], Integers({**at, **columns}))
    kept = np.ones(count, dtype=bool)
    for f, x in zip(facts, values[len(exprs) :], strict=True):
        kept &= np.broadcast_to(_within(np.asarray(x), Interval(*f.within)), (count,))
    own = {v: c[kept] for v, c in columns.items()}
    return own, [np.broadcast_to(np.asarray(x), (count,))[kept] for x in values[: len(exprs)]]


def _keys(lefts: Sequence[Any], rights: Sequence[Any]) -> tuple[Any, Any]:
    """Rows of values as single integers: equal where all columns are."""
    n = len(lefts[0]) if lefts else 0
    key: Any = None
    for a, b in zip(lefts, rights, strict=True):
        codes = np.unique(np.concatenate((a, b)), return_inverse=True)[1]
        # at most as many different rows as there are, so that the next step stays small
        key = (
            codes
            if key is None
            else np.unique(key * (codes.max(initial=0) + 1) + codes, return_inverse=True)[1]
        )
    return key[:n], key[n:]
