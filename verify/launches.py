"""The obligations of launches: the order of the grid for all sizes, and every single launch.

For all sizes, :class:`GridOrder` owes what every op owes (`reports/semantics.md`, "Ops"). As its map from elements to
places has neither ranges nor conditions, *complete* and *sound* say that every element is computed at exactly one place
and that no place computes two.

For one launch the claims are Presburger and always decided: :func:`verify_launch`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from math import prod

from ..core.indexing_map import IndexingMap, Variable
from ..core.launch import GRID, GridOrder, Launched
from ..core.op import Case
from .concrete import covers, equal_maps, in_bounds, inverse
from .layouts import CheckedClaim
from .properties import injective

__all__ = ["launch_cases", "verify_launch"]


def launch_cases(rank: int) -> Iterator[Case]:
    """Every symbolic instance of a grid over arrays of this rank."""
    yield from GridOrder.cases(rank)


def verify_launch(
    at: Launched,
    places: IndexingMap | None = None,
    owners: IndexingMap | None = None,
    *,
    thread_map: IndexingMap | None = None,
    block_map: IndexingMap | None = None,
    warp_map: IndexingMap | None = None,
    confirm: bool = False,
) -> list[CheckedClaim]:
    """Everything that is claimed of one launch, for its own maps or for other forms of them."""
    there = places if places is not None else at.places
    back = owners if owners is not None else at.owners
    by_thread = thread_map if thread_map is not None else at.thread_map
    by_block = block_map if block_map is not None else at.block_map
    by_warp = warp_map if warp_map is not None else at.warp_map
    threads = at.launch.threads
    return [
        CheckedClaim(
            "every place computes an element of the output", in_bounds(there, at.shape.dims, confirm=confirm)
        ),
        CheckedClaim("every element is computed", covers(there, at.shape.dims, confirm=confirm)),
        CheckedClaim(
            "no element is computed twice", injective(there, [v.name for v in there.dims], confirm=confirm)
        ),
        CheckedClaim("the places of elements are in the grid", in_bounds(back, at.grid, confirm=confirm)),
        CheckedClaim("both maps are inverse to each other", inverse(there, back, confirm=confirm)),
        CheckedClaim(
            "threads take what is computed at their places",
            equal_maps(_by_places(at, GRID[:6], there), by_thread, confirm=confirm),
        ),
        CheckedClaim(
            "blocks take what is computed at their places",
            equal_maps(_by_places(at, GRID[3:6], there), by_block, confirm=confirm),
        ),
        CheckedClaim(
            "every thread of a block is one lane of one warp",
            inverse(_lanes(at), at.warps_of_threads, confirm=confirm),
        ),
        CheckedClaim(
            "warps take what their threads take",
            equal_maps(at.threads_of_warps.compose(by_thread), by_warp, confirm=confirm),
        ),
        CheckedClaim(
            "lanes are threads of the block",
            in_bounds(at.threads_of_warps, (*threads, *at.launch.blocks), confirm=confirm),
        ),
    ]


def _by_places(at: Launched, names: tuple[str, ...], places: IndexingMap) -> IndexingMap:
    """The coordinates that have these names to elements, by way of all places that agree with them."""
    variables = {name: Variable(name, 0, n - 1) for name, n in zip(GRID, at.grid, strict=True)}
    spread = IndexingMap(
        tuple(variables[name] for name in names),
        tuple(v for name, v in variables.items() if name not in names),
        (),
        tuple(v.expr for v in variables.values()),
    )
    return spread.compose(places)


def _lanes(at: Launched) -> IndexingMap:
    """Warp and lane to the thread of a block, from the map of warps."""
    m = at.threads_of_warps
    lane = m.ranges or (Variable("lane_id", 0, 0),)
    first = replace(m, dims=(m.dims[0], *lane), ranges=(), results=m.results[:3])
    assert prod(v.size for v in first.dims) >= prod(at.launch.threads)
    return first
