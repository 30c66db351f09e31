"""Maps with common runtime variables, and the targets of one element as text."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from ...core.expr import Expr, Int, integer, substitute_all
from ...core.indexing_map import IndexingMap, RuntimeVariable, unused_name
from ...core.text import format_expr


# ----------------------------------------------------------------------------------------- runtime variables
def aligned(maps: Sequence[IndexingMap], model: Sequence[IndexingMap]) -> list[IndexingMap]:
    """Rename the runtime variables of ``maps`` to those of ``model`` that read the same value.

    Variables correspond if they read the same element of the same instruction.  If one of them does not say what it reads,
    they correspond if they have the same name, or else the same position.  Variables without a partner get names of their
    own.
    """
    theirs = [(m, x) for m in model for x in m.rts]
    taken = {v.name for m in (*model, *maps) for v in m.variables}
    out = []
    for m in maps:
        names: dict[str, str] = {}
        used: set[str] = set()
        for alike in (_same_element, _same_name, _same_place):
            for y in m.rts:
                if y.name in names:
                    continue
                for other, x in theirs:
                    if x.name not in used and alike(other, x, m, y):
                        names[y.name] = x.name
                        used.add(x.name)
                        break
        clash = {v.name for v in (*m.dims, *m.ranges)} | used
        for y in m.rts:
            if y.name not in names:
                name = y.name
                while name in clash or any(name == x.name for _, x in theirs):
                    name += "_"
                names[y.name] = name
                clash.add(name)
        changed = {a: b for a, b in names.items() if a != b}
        # a dimension or range with the name of a partner is renamed
        for v in (*m.dims, *m.ranges):
            if v.name in used:
                changed[v.name] = unused_name(v.name, taken)
        out.append(m.rename(changed) if changed else m)
    return out


def sharing_runtime(maps: Sequence[IndexingMap], others: Sequence[IndexingMap]) -> list[IndexingMap]:
    """Add the runtime variables of ``others`` that ``maps`` lack, which do not depend on them.

    A counterexample then has values for all of them, but not for what is read at ranges that a map does not have.
    """
    missing = {v.name: v for m in others for v in m.rts}
    out = []
    for m in maps:
        own = {v.name for v in m.variables}
        more = [v for v in missing.values() if v.name not in own and _read_at(v) <= own | missing.keys()]
        out.append(m.with_(rts=(*m.rts, *more)) if more else m)
    return out


def _read_at(v: RuntimeVariable) -> set[str]:
    return {x.name for e in (v.source.results if v.source else ()) for x in e.variables()}


def _same_element(other: IndexingMap, x: RuntimeVariable, m: IndexingMap, y: RuntimeVariable) -> bool:
    if x.source is None or y.source is None or x.source.hlo != y.source.hlo:
        return False
    place: dict[Expr, Expr] = dict(zip(m.dim_vars, other.dim_vars, strict=False))
    place.update(zip(m.range_vars, other.range_vars, strict=False))
    return tuple(substitute_all(y.source.results, place)) == x.source.results


def _same_name(other: IndexingMap, x: RuntimeVariable, m: IndexingMap, y: RuntimeVariable) -> bool:
    return x.name == y.name and not (x.source and y.source)


def _same_place(other: IndexingMap, x: RuntimeVariable, m: IndexingMap, y: RuntimeVariable) -> bool:
    return other.rts.index(x) == m.rts.index(y) and not (x.source and y.source)


# --------------------------------------------------------------------------------------------- at an element
def targets_of(maps: Iterable[IndexingMap], source: Sequence[int], values: Mapping[str, int]) -> list[str]:
    """Describe all targets of one source element; ``values`` are those of runtime variables by name.

    Ranges remain symbolic: ``(0, s0) for s0 in [0, 63]``.
    """
    found: dict[str, None] = {}
    for m in maps:
        said = _targets(m, source, values)
        if said:
            found.setdefault(said)
    return [*found]


def _targets(m: IndexingMap, source: Sequence[int], values: Mapping[str, int]) -> str:
    if len(source) != len(m.dims):
        return ""
    at: dict[Expr, Expr] = {}
    for v, x in zip(m.dims, source, strict=True):
        if not v.lo <= x <= v.hi:
            return ""
        at[v.expr] = integer(x)
    at |= {r.expr: integer(min(max(values[r.name], r.lo), r.hi)) for r in m.rts if r.name in values}
    results = substitute_all(m.results, at)
    where = []
    for e, c in zip(substitute_all([c.expr for c in m.constraints], at), m.constraints, strict=True):
        if isinstance(e, Int):
            if not c.lo <= e.value <= c.hi:
                return ""
        else:
            where.append((e, c.lo, c.hi))
    order = [v.expr for v in m.variables]
    text = f"({', '.join(format_expr(e, variables=order) for e in results)})"
    mentioned = {v for e in (*results, *(e for e, _, _ in where)) for v in e.variables()}
    if any(v.hi < v.lo for v in m.ranges):
        return ""
    boxes = [f"{v.name} in [{v.lo}, {v.hi}]" for v in m.ranges if v.expr in mentioned]
    boxes += [f"{format_expr(e, variables=order)} in [{lo}, {hi}]" for e, lo, hi in where]
    return text + (f" for {', '.join(boxes)}" if boxes else "")
