"""The single transforms, each an instance of one law of :mod:`indexproof.rules.transforms`.

Each takes a map and returns a :class:`~.record.Reduced`, which is false where nothing changed.  The relation stays the
same, in the sense of :meth:`~.record.Reduced.restored`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import count
from typing import TypeVar

from ..constraint_normal import shifted_variable
from ..expr import Expr, Int, Mod, Sum, Var, integer, linear, postorder, substitute_all, var
from ..indexing_map import Constraint, IndexingMap, RuntimeSource, RuntimeVariable, Variable
from .record import Reduced, changed

V = TypeVar("V", bound=Variable)


def renamed(
    m: IndexingMap,
    names: Mapping[str, str],
    *,
    ranges: tuple[Variable, ...] | None = None,
    rts: tuple[RuntimeVariable, ...] | None = None,
) -> Reduced:
    """Rename some variables simultaneously, and put ranges and runtime variables in this order."""
    values: dict[str, Expr] = {old: var(new) for old, new in names.items()}

    def called(v: V) -> V:
        return v.named(names.get(v.name, v.name))

    after = m.rewritten(
        {var(old): new for old, new in values.items()},
        dims=tuple(map(called, m.dims)),
        ranges=tuple(map(called, m.ranges if ranges is None else ranges)),
        rts=tuple(map(called, m.rts if rts is None else rts)),
    )
    return changed("names_do_not_matter", m, after, values, kept=dict(names))


def remove_unused(m: IndexingMap, *, dims: bool = False, ranges: bool = True, rts: bool = True) -> Reduced:
    """Remove the variables that nothing depends on.

    A variable is used where a result, a constraint, or the source of a used runtime variable mentions it.  One whose
    box is empty is kept, because it makes the domain empty.  Removing a dimension changes the source of the map, so it
    happens only on request.
    """
    used = _needed(m, *m.results, *(c.expr for c in m.constraints))
    asked = [(m.dims, dims), (m.ranges, ranges), (m.rts, rts)]
    gone = [v for of, wanted in asked if wanted for v in of if v.expr not in used and v.size > 0]
    if not gone:
        return Reduced.of(m)
    names = {v.name for v in gone}
    after = IndexingMap._trusted(
        tuple(v for v in m.dims if v.name not in names),
        tuple(v for v in m.ranges if v.name not in names),
        tuple(v for v in m.rts if v.name not in names),
        m.results,
        m.constraints,
        merged=True,
    )
    return changed("unused_variable_leaves", m, after, {v.name: integer(v.lo) for v in gone}, unused=gone)


def merge_runtime(m: IndexingMap) -> Reduced:
    """Merge the runtime variables that read the same element within the same bounds."""
    if len(m.rts) < 2:
        return Reduced.of(m)
    mapping: dict[Expr, Expr] = {}
    first: dict[tuple[int, int, RuntimeSource], RuntimeVariable] = {}
    # sources are visited after the variables that they need, so that equal sources are recognised
    for v in m.runtime_order():
        if v.source is not None:
            source = RuntimeSource(v.source.hlo, tuple(substitute_all(v.source.results, mapping)))
            same = first.setdefault((v.lo, v.hi, source), v)
            if same is not v:
                mapping[v.expr] = same.expr
    if not mapping:
        return Reduced.of(m)
    after = m.rewritten(mapping, rts=[v for v in m.rts if v.expr not in mapping])
    gone = {v.name: mapping[v.expr] for v in m.rts if v.expr in mapping}
    return changed("same_element_has_one_value", m, after, gone, kept=dict.fromkeys(gone))


def rescale_ranges(m: IndexingMap) -> Reduced:
    """Replace ranges whose remainder a constraint fixes by ranges over all integers of a box.

    ``s0 mod 6 in [2, 2]`` with s0 in ``[0, 30]`` becomes a new s0 in ``[0, 4]``; the old s0 becomes ``6·s0 + 2``. The
    range keeps its name.
    """
    mapping: dict[Expr, Expr] = {}
    values: dict[str, Expr] = {}
    ranges = []
    without: list[Constraint] = []
    for v in m.ranges:
        found = max(_residues(m, v.expr), default=None, key=lambda f: f[0])
        if found is None:
            ranges.append(v)
            continue
        n, r, c = found
        # if the lower bound has this remainder, use it as r, so that the new range begins at zero
        r = v.lo if (v.lo - r) % n == 0 else r
        mapping[v.expr] = values[v.name] = linear(r, ((v.expr, n),))
        ranges.append(v.boxed(*rescaled_box(n, r, v.lo, v.hi)))
        without.append(c)
    if not mapping:
        return Reduced.of(m)
    after = m.rewritten(mapping, ranges=tuple(ranges), without=without)
    return changed("range_rescales", m, after, values)


def rescaled_box(m: int, r: int, lo: int, hi: int) -> tuple[int, int]:
    """Return the values of t for which ``m·t + r`` lies in ``[lo, hi]``."""
    return -((r - lo) // m), (hi - r) // m


def _residues(m: IndexingMap, v: Var) -> Iterable[tuple[int, int, Constraint]]:
    """Yield ``(n, r, constraint)`` for every constraint equivalent to ``v`` being r modulo n, for n above one."""
    for c in m.constraints:
        e = c.expr
        if type(e) is Mod and c.lo == c.hi and type(e.b) is Int and e.b.value > 1 and 0 <= c.lo < e.b.value:
            at = shifted_variable(e.a)
            if at is not None and at[0] is v:
                _, sign, shift = at
                yield e.b.value, sign * (c.lo - shift) % e.b.value, c


def reset_ranges(m: IndexingMap) -> Reduced:
    """Make ranges start at zero, and increase where the first result with one of them increases."""
    falling = {v for v, k in _directions(m).items() if k < 0}
    turned: dict[Expr, Expr] = {
        v.expr: linear(v.hi, ((v.expr, -1),)) for v in m.ranges if v.expr in falling and v.size > 0
    }
    done = _counted(m, "range_turns_round", turned)
    shifted: dict[Expr, Expr] = {
        v.expr: linear(v.lo, ((v.expr, 1),)) for v in done.map.ranges if v.lo != 0 and v.size > 0
    }
    return done.then(lambda n: _counted(n, "range_starts_at_zero", shifted))


def _counted(m: IndexingMap, why: str, mapping: Mapping[Expr, Expr]) -> Reduced:
    """Replace the ranges in ``mapping`` by ranges that start at zero."""
    if not mapping:
        return Reduced.of(m)
    ranges = tuple(v.boxed(0, v.hi - v.lo) if v.expr in mapping else v for v in m.ranges)
    values = {v.name: mapping[v.expr] for v in m.ranges if v.expr in mapping}
    return changed(why, m, m.rewritten(mapping, ranges=ranges), values)


def _directions(m: IndexingMap) -> dict[Expr, int]:
    """Return, for each range that is a summand of a result, its coefficient in the first such result."""
    ranges = set(m.range_vars)
    found: dict[Expr, int] = {}
    for e in m.results:
        for t, k in e.terms if type(e) is Sum else ((e, 1),):
            if t in ranges:
                found.setdefault(t, k)
    return found


def eliminate_ranges(m: IndexingMap) -> Reduced:
    """Remove a range that an equation gives as an expression over other variables.

    ``s0 - 2·d0 in [3, 3]`` makes ``s0`` the expression ``2·d0 + 3``, and its box a constraint on that.
    """
    ranges = {v.expr: v for v in m.ranges}
    for c in m.constraints:
        if c.lo != c.hi or type(c.expr) is not Sum:
            continue
        for t, k in c.expr.terms:
            if t not in ranges or abs(k) != 1:
                continue
            others = [(u, -k * j) for u, j in c.expr.terms if u is not t]
            value = linear(k * (c.lo - c.expr.const), others)
            if t in _needed(m, value):
                continue
            v = ranges[t]
            after = m.rewritten(
                {t: value},
                ranges=tuple(u for u in m.ranges if u is not v),
                without=[c],
                also=[Constraint.trusted(value, v.lo, v.hi)],
            )
            return changed("equation_gives_range", m, after, {v.name: value}, kept={v.name: None})
    return Reduced.of(m)


def _needed(m: IndexingMap, *roots: Expr) -> set[Expr]:
    """Return the variables that ``roots`` depend on, also through the sources of runtime variables."""
    sources = {r.expr: r.source.results for r in m.rts if r.source is not None}
    found: set[Expr] = {n for n in postorder(*roots) if type(n) is Var}
    todo = [v for v in sources if v in found]
    while todo:
        new = {n for n in postorder(*sources[todo.pop()]) if type(n) is Var} - found
        found |= new
        todo += new & sources.keys()
    return found


def ranges_to_dims(m: IndexingMap) -> Reduced:
    """Turn every range into a dimension after the others, continuing their numbering."""
    if not m.ranges:
        return Reduced.of(m)
    taken = {v.name for v in m.dims + m.rts}
    free = (name for number in count(len(m.dims)) if (name := f"d{number}") not in taken)
    new = {v.name: name for v, name in zip(m.ranges, free, strict=False)}
    values: dict[str, Expr] = {old: var(name) for old, name in new.items()}
    dims = m.dims + tuple(v.named(new[v.name]) for v in m.ranges)
    after = m.rewritten({v.expr: values[v.name] for v in m.ranges}, dims=dims, ranges=())
    return changed("range_becomes_dimension", m, after, values, kept=dict(new), new_dims=tuple(new.values()))
