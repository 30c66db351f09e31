"""Reduction of a map to as few variables as possible."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from ..cost import DIVISION_WEIGHT
from ..derivation import MapChange
from ..expr import integer
from ..indexing_map import IndexingMap, Variable
from ..rewrite import RuleSet
from ..simplify_map import empty_domain, simplify_map
from ..steps import Trace
from .record import Reduced, changed
from .variables import eliminate_ranges, merge_runtime, ranges_to_dims, remove_unused, renamed, rescale_ranges


def reduce_map(
    m: IndexingMap,
    rules: RuleSet,
    trace: Trace | None = None,
    *,
    unused: bool = True,
    unused_dims: bool = False,
    rescale: bool = True,
    eliminate: bool = True,
    to_dims: bool = False,
    renumber: bool = True,
    keep_points: bool = False,
    division_weight: int = DIVISION_WEIGHT,
    quick: bool = False,
    keep_width: bool = False,
) -> Reduced:
    """Simplify ``m`` and remove every variable that it does not need.

    With ``unused``, ranges and runtime variables that nothing depends on are removed, and runtime variables that read
    the same element are merged; ``unused_dims`` removes dimensions too.  With ``rescale``, ranges with a fixed
    remainder become ranges over all integers of a box.  With ``eliminate``, ranges that an equation determines are
    replaced. ``to_dims`` turns the remaining ranges into dimensions.  With ``renumber``, variables called `d0`, `s0`,
    `rt0` and so on are renumbered after removals.  Variables with only one value are replaced by it unless
    ``keep_points``.  In cost comparisons a division weighs as much as ``division_weight`` other operations.  ``quick``
    and ``keep_width`` are as in :func:`~indexproof.core.simplify_map.simplify_map`.

    With ``unused``, the map of an empty domain depends only on its dimensions and rank: it has no ranges and no runtime
    variables (:func:`~indexproof.core.simplify_map.empty_domain`).
    """
    done = Reduced.of(m)

    def simplified(r: Reduced) -> Reduced:
        after = simplify_map(
            r.map,
            rules,
            trace,
            keep_points=keep_points,
            division_weight=division_weight,
            quick=quick,
            keep_width=keep_width,
        )
        if after == r.map:
            return r
        unchanged = {v.name: v.expr for v in after.variables}
        kept = {v.name: v.name for v in after.variables}
        return r.followed_by(Reduced(r.map, after, kept, unchanged, steps=(MapChange("simplified", r.map, after),)))

    def apply(r: Reduced, step: Callable[[IndexingMap], Reduced]) -> Reduced:
        later = r.then(step)
        if trace is not None:
            trace.extend(later.steps[len(r.steps) :])
        return later

    done = simplified(done)
    while True:
        before = done.map
        if unused:
            done = apply(done, merge_runtime)
        if rescale:
            done = apply(done, rescale_ranges)
        if eliminate:
            done = apply(done, eliminate_ranges)
        if done.map is before:
            break
        done = simplified(done)
    if unused and done.map.is_trivially_empty:
        given = {done.kept[v.name]: v for v in done.before.variables if v.name in done.kept}
        done = apply(done, lambda n: _nothing(n, unused_dims, given))
    done = apply(done, lambda n: remove_unused(n, dims=unused_dims, ranges=unused, rts=unused))
    if renumber:
        done = apply(done, _renumbered)
    if to_dims:
        done = apply(done, ranges_to_dims)
    # the form of some expressions depends on names
    return simplified(done)


def _nothing(m: IndexingMap, unused_dims: bool, given: Mapping[str, Variable]) -> Reduced:
    """Return the empty map for the dimensions and the rank of ``m``.

    Simplification has made all boxes empty; the record contains the ``given`` ones.
    """
    removed: tuple[Variable, ...] = (*(m.dims if unused_dims else ()), *m.ranges, *m.rts)
    gone = [given.get(v.name, v).named(v.name) for v in removed]
    zeros = (integer(0),) * len(m.results)
    after = empty_domain(IndexingMap(() if unused_dims else m.dims, results=zeros))
    return changed("empty_domain", m, after, {v.name: integer(v.lo) for v in gone}, unused=gone)


def _renumbered(m: IndexingMap) -> Reduced:
    """Number the standard names of each kind of variable without gaps, in the order of the variables."""
    names: dict[str, str] = {}
    taken = {v.name for v in m.variables if re.fullmatch(r"(d|s|rt)\d+", v.name) is None}
    for variables, prefix in ((m.dims, "d"), (m.ranges, "s"), (m.rts, "rt")):
        own = [v.name for v in variables if re.fullmatch(prefix + r"\d+", v.name)]
        others = taken | {v.name for v in m.variables if v.name not in own}
        if any(f"{prefix}{k}" in others for k in range(len(own))):
            continue
        names.update((old, new) for k, old in enumerate(own) if old != (new := f"{prefix}{k}"))
    return renamed(m, names) if names else Reduced.of(m)
