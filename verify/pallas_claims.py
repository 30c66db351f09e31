"""The claims of a ``pallas_call`` as implications between conditions, for sizes that are numbers or expressions.

Two iterations *meet* in an array if the block of it (or of the array aliased to it) at the first shares an element with
the block at the second.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from ..core.condition import FALSE, Condition, all_of
from ..core.expr import Expr, Var, substitute_all, var
from ..core.indexing_map import unused_name
from ..core.pallas_call import BlockedOperand, PallasCall, Size
from ..core.parametric import ParametricMap
from .size_claims import Claim


def index_map(o: BlockedOperand) -> ParametricMap:
    """Return the index map, which reads no table."""
    assert o.index is not None
    return ParametricMap.of(o.index)


def elements(o: BlockedOperand) -> tuple[ParametricMap, list[Size]]:
    """Return the map from iterations to the blocks (elements, if blocks may overlap) that they cover, and its sizes."""
    m = index_map(o)
    taken = {*m.dims, *m.parameters}
    results, ranges, inside = [], [], []
    for k, (e, d) in enumerate(zip(m.results, o.dims, strict=True)):
        if not d.aligned:
            ranges.append(unused_name(f"s{k}", taken))
            s = var(ranges[-1])
            e = e * d.step - d.low + s
            inside += [s.within(0, d.size - 1), e.within(0, d.array - 1)]
        results.append(e)
    sizes = [n if d.aligned else d.array for n, d in zip(o.blocks, o.dims, strict=True)]
    return replace(m, ranges=tuple(ranges), results=tuple(results), conditions=(*m.conditions, *inside)), sizes


def pair_claims(call: PallasCall, kind: str, o: BlockedOperand, other: BlockedOperand) -> Iterator[Claim]:
    """Yield what a claim says of two iterations in the grid: one has the block of ``other``, a primed one that of ``o``."""
    one, two = index_map(other), index_map(o)
    first, second, known = [*one.variables], [var(v.name + "'") for v in two.variables], list[Condition]()
    moved = substitute_all(two.results, dict(zip(two.variables, second, strict=True)))
    for a, b, d, e in zip(moved, one.results, o.dims, other.dims, strict=True):
        if d == e and d.aligned:
            known.append(a.eq(b))
            continue
        there, here = a * d.step - d.low, b * e.step - e.low
        known.append((here - there).within(1 - e.size, d.size - 1))
        # the shared element is in the array, not in its padding
        known += [there.within(1 - d.size, d.array - 1), here.within(1 - e.size, e.array - 1)]
    if "race" in kind:
        yield from _races(call, o is other, first, second, known)
    else:
        yield from _returns(call, one, first, second, known)


def _races(
    call: PallasCall, alike: bool, first: list[Var], second: list[Var], known: list[Condition]
) -> Iterator[Claim]:
    """Yield that iterations which meet do not differ along a parallel axis; if they are ``alike``, in one order."""
    for k in call.parallel:
        yield (*known, first[k] > second[k]), FALSE
        if not alike:
            yield (*known, first[k] < second[k]), FALSE


def _returns(
    call: PallasCall, one: ParametricMap, first: list[Var], second: list[Var], known: list[Condition]
) -> Iterator[Claim]:
    """Yield that an iteration that meets an earlier one of its core continues its predecessor's block.

    There is one claim for each first axis along which the two differ, and each axis along which the later iteration
    differs from its predecessor: it is at the start of all axes after that.
    """
    ends = one.upper_bounds
    long = [k for k, n in enumerate(call.grid) if n != 1]
    for changed in long:
        if changed in call.parallel:
            continue
        equal = [k for k in range(len(first)) if k in call.parallel or k < changed]
        where = [*known, *(first[k].eq(second[k]) for k in equal), first[changed] > second[changed]]
        for moved in long:
            if moved < changed:
                continue
            after = range(moved + 1, len(first))
            before: dict[Expr, Expr] = {first[moved]: first[moved] - 1, **{first[k]: ends[first[k]] for k in after}}
            same = zip(one.results, substitute_all(one.results, before), strict=True)
            starts = (*(first[k].eq(0) for k in after), first[moved] >= 1)
            yield (*where, *starts), all_of(a.eq(b) for a, b in same)
