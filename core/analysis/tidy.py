"""One form for maps that differ only in variables that do not matter.

Composition leaves ranges behind that nothing mentions any more: a sum over a dimension that an earlier map
does not keep, say. Their number grows with every step, and without them most maps of a deep computation turn
out the same.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import TypeVar

from ..expr import Expr, Var, postorder, substitute_all
from ..indexing_map import Constraint, IndexingMap, RuntimeSource, RuntimeVariable, Variable

V = TypeVar("V", bound=Variable)


def tidy(m: IndexingMap) -> IndexingMap:
    """The same relation without unused ranges and runtime values, the others numbered as they appear.

    A range that no expression mentions can take any value of its box, so it says only that the box is not
    empty: it is dropped when that is so. A runtime value has a value always, so an unused one is dropped when
    its box is not empty. Runtime values that read the same element within the same bounds are one. Variables
    that do not have their standard names `s0`, `rt0`, … keep names and places.
    """
    m = _without_copies(m)
    order: dict[Expr, int] = {}
    _appear(order, m.results)
    _appear(order, (c.expr for c in m.constraints))
    # Sources are needed only for values that are used, which may bring further ones into use.
    pending = [v for v in m.rts if v.expr in order or v.size == 0]
    needed = {v.name for v in pending}
    by_var = {v.expr: v for v in m.rts}
    while pending:
        v = pending.pop(0)
        if v.source is None:
            continue
        _appear(order, v.source.results)
        for node in postorder(*v.source.results):
            other = by_var.get(node) if isinstance(node, Var) else None
            if other is not None and other.name not in needed:
                needed.add(other.name)
                pending.append(other)
    ranges = [v for v in m.ranges if v.expr in order or v.size == 0]
    rts = [v for v in m.rts if v.name in needed]
    names: dict[str, str] = {}
    ranges = _numbered(ranges, "s", order, names)
    rts = _numbered(rts, "rt", order, names)
    if len(ranges) == len(m.ranges) and len(rts) == len(m.rts) and not names:
        return m
    kept = m.with_(ranges=tuple(ranges), rts=tuple(rts))
    return kept.rename(names) if names else kept


def _without_copies(m: IndexingMap) -> IndexingMap:
    """One runtime variable for each element that is read within the same bounds."""
    if len(m.rts) < 2:
        return m
    mapping: dict[Expr, Expr] = {}
    first: dict[tuple[int, int, RuntimeSource], RuntimeVariable] = {}
    # Those that a source needs come before it, so that equal sources are seen to be equal.
    for v in m.runtime_order():
        if v.source is None:
            continue
        source = RuntimeSource(v.source.hlo, tuple(substitute_all(v.source.results, mapping)))
        same = first.setdefault((v.lo, v.hi, source), v)
        if same is not v:
            mapping[v.expr] = same.expr
    if not mapping:
        return m
    rts = []
    for v in m.rts:
        if v.expr not in mapping:
            read = v.source
            if read is not None:
                read = RuntimeSource(read.hlo, tuple(substitute_all(read.results, mapping)))
            rts.append(RuntimeVariable(v.name, v.lo, v.hi, read))
    constraints = substitute_all([c.expr for c in m.constraints], mapping)
    return m.with_(
        rts=tuple(rts),
        results=tuple(substitute_all(m.results, mapping)),
        constraints=tuple(Constraint(e, c.lo, c.hi) for e, c in zip(constraints, m.constraints, strict=True)),
    )


def _appear(order: dict[Expr, int], exprs: Iterable[Expr]) -> None:
    """Number each variable by the first expression that mentions it, after those numbered before."""
    # Within one expression the order of terms depends on names, so it cannot decide about names.
    for number, e in enumerate(exprs, max(order.values(), default=0) + 1):
        for node in postorder(e):
            if isinstance(node, Var):
                order.setdefault(node, number)


def _numbered(variables: Sequence[V], prefix: str, order: dict[Expr, int], names: dict[str, str]) -> list[V]:
    """The variables by appearance; `names` gets the standard names that this changes."""
    standard = re.compile(prefix + r"\d+\Z")
    if not all(standard.match(v.name) for v in variables):
        return list(variables)
    placed = sorted(variables, key=lambda v: order.get(v.expr, 0))
    for k, v in enumerate(placed):
        if v.name != f"{prefix}{k}":
            names[v.name] = f"{prefix}{k}"
    return placed
