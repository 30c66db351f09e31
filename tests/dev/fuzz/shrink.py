"""Shrink a failing map: take parts away as long as it still fails in the same way."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import TypeVar

from indexproof.core.errors import InputError
from indexproof.core.expr import (
    Expr,
    Int,
    Max,
    Min,
    Sum,
    integer,
    linear,
    maximum,
    minimum,
    mul,
    postorder,
    rebuild,
)
from indexproof.core.indexing_map import Constraint, IndexingMap, RuntimeVariable, Variable

__all__ = ["shrunk"]

T = TypeVar("T")

#: So many smaller maps are tried.
ATTEMPTS = 2_000


def shrunk(m: IndexingMap, fails: Callable[[IndexingMap], bool], attempts: int = ATTEMPTS) -> IndexingMap:
    """A map that ``fails`` too, and from which nothing can be taken by itself.

    ``fails`` must not raise.  Tries at most ``attempts`` maps, in a fixed order.
    """
    progress = True
    while progress and attempts > 0:
        progress = False
        for smaller in _smaller(m):
            if _size(smaller) >= _size(m):
                continue
            attempts -= 1
            if fails(smaller):
                m = smaller
                progress = True
                break
            if attempts <= 0:
                break
    return m


def _size(m: IndexingMap) -> tuple[int, int]:
    """Measure how much there is to read, and how large the numbers are."""
    nodes = postorder(*m.roots)
    numbers = [n.value for n in nodes if isinstance(n, Int)]
    for n in nodes:
        if isinstance(n, Sum):
            numbers += [n.const, *(k for _, k in n.terms)]
    numbers += [x for v in m.variables for x in (v.lo, v.hi)]
    numbers += [x for c in m.constraints for x in (c.lo, c.hi)]
    things = len(nodes) + sum(len(n.children) for n in nodes)
    things += 2 * len(m.variables) + 2 * len(m.constraints) + len(m.results)
    things += sum(r.source is not None for r in m.rts)
    return things, sum(2 * abs(x).bit_length() + (x < 0) for x in numbers)


def _smaller(m: IndexingMap) -> Iterator[IndexingMap]:
    """Maps with a little less, the largest parts first; only those that make sense."""
    for make in _attempts(m):
        try:
            yield make()
        except (InputError, ZeroDivisionError):
            continue


def _attempts(m: IndexingMap) -> Iterator[Callable[[], IndexingMap]]:
    for k in range(len(m.constraints)):
        yield partial(m.with_, constraints=_without(m.constraints, k))
    for k in range(len(m.results)):
        yield partial(m.with_, results=_without(m.results, k))
    for k, r in enumerate(m.rts):
        if r.source is not None:
            plain = RuntimeVariable(r.name, r.lo, r.hi)
            yield partial(m.with_, rts=(*m.rts[:k], plain, *m.rts[k + 1 :]))
    used = set(postorder(*m.roots))
    groups: dict[str, tuple[Variable, ...]] = {"dims": m.dims, "ranges": m.ranges, "rts": m.rts}
    for group, variables in groups.items():
        for k, v in enumerate(variables):
            if v.expr not in used:
                yield partial(m.with_, **{group: _without(variables, k)})
                continue
            for x in dict.fromkeys((v.lo, v.hi, 0)):
                if v.lo <= x <= v.hi:
                    yield partial(_mapped, m, v.expr, integer(x))
    for node in reversed(postorder(*m.roots)):
        for child in node.children:
            if not isinstance(child, Int):
                yield partial(_mapped, m, node, child)
        if not isinstance(node, Int):
            yield partial(_mapped, m, node, integer(0))
        for other in _lighter(node):
            yield partial(_made, m, node, other)
    for group, variables in groups.items():
        for k, v in enumerate(variables):
            for lo, hi in _tighter(v.lo, v.hi):
                smaller = replace(v, lo=lo, hi=hi)
                yield partial(m.with_, **{group: (*variables[:k], smaller, *variables[k + 1 :])})
    for k, c in enumerate(m.constraints):
        for lo, hi in _tighter(c.lo, c.hi):
            changed = Constraint(c.expr, lo, hi)
            yield partial(m.with_, constraints=(*m.constraints[:k], changed, *m.constraints[k + 1 :]))


def _without(items: tuple[T, ...], k: int) -> tuple[T, ...]:
    return items[:k] + items[k + 1 :]


def _mapped(m: IndexingMap, old: Expr, new: Expr) -> IndexingMap:
    """``m`` with a subexpression replaced everywhere."""
    mapping = {old: new}
    rts = tuple(
        r
        if r.source is None
        else replace(
            r, source=replace(r.source, results=tuple(e.substitute(mapping) for e in r.source.results))
        )
        for r in m.rts
    )
    return m.with_(
        rts=rts,
        results=tuple(e.substitute(mapping) for e in m.results),
        constraints=tuple(Constraint(c.expr.substitute(mapping), c.lo, c.hi) for c in m.constraints),
    )


def _made(m: IndexingMap, old: Expr, new: Callable[[], Expr]) -> IndexingMap:
    return _mapped(m, old, new())


def _lighter(node: Expr) -> Iterator[Callable[[], Expr]]:
    """The node with a summand, an argument or part of a number less."""
    if isinstance(node, Sum):
        for k in range(len(node.terms)):
            yield partial(linear, node.const, _without(node.terms, k))
        for n in _fewer(node.const):
            yield partial(linear, n, node.terms)
        for k, (t, j) in enumerate(node.terms):
            for n in _fewer(j):
                yield partial(linear, node.const, [*node.terms[:k], (t, n), *node.terms[k + 1 :]])
        return
    kids = node.children
    if len(kids) > 2:
        fold = minimum if isinstance(node, Min) else maximum if isinstance(node, Max) else mul
        for k in range(len(kids)):
            yield partial(fold, *kids[:k], *kids[k + 1 :])
    for k, c in enumerate(kids):
        if isinstance(c, Int):
            for n in _fewer(c.value):
                yield partial(rebuild, node, (*kids[:k], integer(n), *kids[k + 1 :]))


def _fewer(n: int) -> Iterator[int]:
    """Numbers of smaller magnitude."""
    seen = {n}
    for x in (0, 1, 2, -1, -n, n // 2, n - 1 if n > 0 else n + 1):
        if x not in seen and abs(x) <= abs(n):
            seen.add(x)
            yield x


def _tighter(lo: int, hi: int) -> Iterator[tuple[int, int]]:
    """Intervals with smaller ends."""
    if lo == hi:
        yield from ((n, n) for n in _fewer(lo))
        return
    if lo != 0:
        yield (0, hi) if hi >= 0 else (lo // 2, hi // 2)
        yield 0, max(hi - lo, 0)
    for n in _fewer(hi):
        yield lo, n
    for n in _fewer(lo):
        yield n, hi
