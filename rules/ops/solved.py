"""The maps of an op, as solutions of the equations that say what it reads."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence, Set
from typing import Any, ClassVar

from ...core.condition import Compare, Condition
from ...core.expr import Expr, ExprLike, Mul, Var, as_sum, integer, lift, linear, mul, var
from ...core.op import Map, Op, Range, Sizes, quotient


class Solved(Op):
    """The base of ops that only state `reads`: both maps are its solutions.

    An equation with one target coordinate, or a multiple of one, gives that coordinate.  A coordinate without an
    equation takes every value in its dimension.  All other conditions become conditions of the map.  The solutions are
    not trusted: the maps are proved like those of any op.
    """

    #: The directions in which solutions may lie outside of the target, which the map then excludes.
    partial: ClassVar[Collection[str]] = ("input_to_output",)

    def output_to_input(self, *args: Any, **kwargs: Any) -> Map:
        k, o, rt, *x = args
        i = _unknowns(len(x[k]))
        inside = dict(zip(o, self.shape(*x), strict=True)) if "output_to_input" in self.partial else None
        return _solution(i, x[k], self.reads(k, o, i, rt, *x), inside)

    def input_to_output(self, *args: Any, **kwargs: Any) -> Map:
        k, i, rt, *x = args
        sizes = self.shape(*x)
        o = _unknowns(len(sizes))
        inside = dict(zip(i, map(lift, x[k]), strict=True)) if "input_to_output" in self.partial else None
        return _solution(o, sizes, self.reads(k, o, i, rt, *x), inside)


def nth(distance: Expr, count: ExprLike, step: ExprLike = 1) -> tuple[Expr, list[Condition]]:
    """Return the index of the element at a distance from the first of `count` elements `step` apart, and its conditions."""
    step = lift(step)
    return quotient(distance, step), [distance.within(0, (lift(count) - 1) * step), step.divides(distance)]


def _unknowns(count: int) -> list[Var]:
    return [var(f"target{d}", "unknown") for d in range(count)]


def _solution(
    unknowns: Sequence[Var], sizes: Sizes, conditions: Sequence[Condition], inside: Mapping[Expr, Expr] | None
) -> Map:
    """Return the map to the unknowns, within ``sizes``, that satisfy the conditions.

    With ``inside``, the sizes of the source's dimensions by coordinate, solutions that lie outside are excluded.
    """
    extent = dict(zip(unknowns, sizes, strict=True))
    found: dict[Var, Expr] = {}
    where: list[Condition] = []
    left: list[Condition] = []
    for c in conditions:
        if (solved := _solved(c, extent.keys() - found.keys())) is None:
            left.append(c)
            continue
        v, distance, step = solved
        if inside is None or (step is integer(1) and inside.get(distance) is lift(extent[v])):
            found[v] = quotient(distance, step)
            where.append(step.divides(distance))
        else:
            found[v], lands = nth(distance, extent[v], step)
            where += lands
    results = [found[v] if v in found else Range(n) for v, n in extent.items()]
    values = {v: r.index if isinstance(r, Range) else r for v, r in zip(unknowns, results, strict=True)}
    return Map(results, [*where, *(c.substitute(values) for c in left)])


def _solved(c: Condition, unknown: Set[Var]) -> tuple[Var, Expr, Expr] | None:
    """Return the only unknown of an equation as a distance divided by a step; ``None`` for any other condition."""
    if not isinstance(c, Compare) or c.op != "==":
        return None
    for v, e in ((c.a, c.b), (c.b, c.a)):
        if isinstance(v, Var) and v in unknown and unknown.isdisjoint(e.variables()):
            return v, e, integer(1)
    const, terms = as_sum(c.a - c.b)
    mine = [(e, k, v) for e, k in terms for v in e.variables() if v in unknown]
    if len(mine) != 1:
        return None
    (e, k, v), *_ = mine
    factors = list(e.factors) if isinstance(e, Mul) else [e]
    if factors.count(v) != 1 or any(v in f.variables() for f in factors if f is not v):
        return None
    factors.remove(v)
    sign = 1 if k > 0 else -1
    distance = linear(-sign * const, [(t, -sign * n) for t, n in terms if t is not e])
    return v, distance, mul(abs(k), *factors)
