"""The record of a transform: the new map, and the values of the old variables in it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from ..blocks import table
from ..derivation import MapChange
from ..display import Shown
from ..expr import Expr, substitute_all
from ..indexing_map import IndexingMap, Variable, unused_name
from ..text_printer import format_expr


@dataclass(frozen=True)
class Reduced(Shown):
    """The map ``before`` as ``map``, with other variables.

    ``kept`` maps every variable of ``before`` that still exists, by name, to its name in ``map``. ``values`` gives
    every variable of ``before`` as an expression over the variables of ``map``: itself where it is unchanged, another
    name where it was renumbered, ``6·s0 + 2`` where it was rescaled, a number where it has only one value.  At these
    values the old map has the same point as the new one.  ``unused`` are the variables that nothing depended on, with
    their boxes; the value of such a variable is only one of many.  Dimensions of ``map`` that were ranges of ``before``
    are listed in ``new_dims``.

    The relation of ``before`` is that of :meth:`restored`: the unused dimensions take any value of their box, and the
    new dimensions are ranges.  ``steps`` are the transforms, each with the law that it is an instance of.
    """

    before: IndexingMap
    map: IndexingMap
    kept: Mapping[str, str]
    values: Mapping[str, Expr]
    unused: Mapping[str, Variable] = field(default_factory=dict)
    new_dims: tuple[str, ...] = ()
    steps: tuple[MapChange, ...] = ()

    @staticmethod
    def of(m: IndexingMap) -> Reduced:
        """Return the record of no transform."""
        return Reduced(m, m, {v.name: v.name for v in m.variables}, {v.name: v.expr for v in m.variables})

    def __str__(self) -> str:
        return "\n".join(filter(None, (repr(self.map), record_text(self))))

    def __bool__(self) -> bool:
        """Return whether anything changed."""
        return bool(self.steps)

    # -- reading the new map as the old one
    def restored(self) -> IndexingMap:
        """Return a map with the dimensions of ``before`` and the same relation, made from ``map`` and the record.

        Runtime variables get their old names back.
        """
        rts = {v.name for v in self.map.rts}
        back = {now: old for old, now in self.kept.items() if now in rts and old != now}
        taken = {v.name for v in self.map.variables} | set(back.values())
        clashes = [v.name for v in self.map.variables if v.name not in rts and v.name in back.values()]
        back |= {name: unused_name(name, taken) for name in clashes}
        m = self.map.rename(back) if back else self.map
        new = {back.get(name, name) for name in self.new_dims}
        own = {v.name: v for v in m.dims if v.name not in new}
        taken = {v.name for v in m.variables}
        dims = []
        for v in self.before.dims:
            name = self.kept.get(v.name, "")
            found = own.get(back.get(name, name))
            if found is None:
                # nothing mentions it, so any name and any value of its box will do
                found = self.unused.get(v.name, v).named(unused_name(v.name, taken))
            dims.append(found)
        ranges = tuple(v for v in m.dims if v.name in new)
        return m.with_(dims=tuple(dims), ranges=ranges + m.ranges)

    # -- composition
    def then(self, step: Callable[[IndexingMap], Reduced]) -> Reduced:
        """Apply another transform to ``map``; the record still starts from ``before``."""
        return self.followed_by(step(self.map))

    def followed_by(self, later: Reduced) -> Reduced:
        """Return the composition of this record with ``later``, which starts from ``map``."""
        if not later.steps:
            return self
        mapping = {v.expr: later.values[v.name] for v in self.map.variables}
        values = dict(zip(self.values, substitute_all(list(self.values.values()), mapping), strict=True))
        left = {old: later.unused[now].named(old) for old, now in self.kept.items() if now in later.unused}
        kept = {old: later.kept[now] for old, now in self.kept.items() if now in later.kept}
        still = [later.kept[name] for name in self.new_dims if name in later.kept]
        return Reduced(
            self.before,
            later.map,
            kept,
            values,
            {**self.unused, **left},
            (*still, *later.new_dims),
            self.steps + later.steps,
        )


def changed(
    why: str,
    before: IndexingMap,
    after: IndexingMap,
    values: Mapping[str, Expr],
    *,
    kept: Mapping[str, str | None] | None = None,
    unused: Iterable[Variable] = (),
    new_dims: Sequence[str] = (),
) -> Reduced:
    """Return the record of one transform; ``values`` and ``kept`` may omit unchanged variables."""
    gone = {v.name: v for v in unused}
    names: dict[str, str] = {}
    for v in before.variables:
        name = (kept or {}).get(v.name, v.name)
        if v.name not in gone and name is not None:
            names[v.name] = name
    all_values = {v.name: values.get(v.name, v.expr) for v in before.variables}
    step = MapChange(why, before, after)
    return Reduced(before, after, names, all_values, gone, tuple(new_dims), (step,))


def record_text(r: Reduced) -> str:
    """Describe the variables of a map that a transform changed, one line for each."""
    rows: list[tuple[str, str]] = []
    order = [v.expr for v in r.map.variables]
    for v in r.before.variables:
        if v.name in r.unused:
            box = r.unused[v.name]
            rows.append(("removed", f"{v.name} in [{box.lo}, {box.hi}]: nothing depends on it"))
        elif r.values[v.name] is not v.expr:
            rows.append((v.name, f"= {format_expr(r.values[v.name], variables=order)}"))
    return "\n".join(table([(f"  {a}", b) for a, b in rows]))
