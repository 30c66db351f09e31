"""The obligations of launches: the order of the grid for all sizes, and the claims of a single launch.

For all sizes, :class:`GridOrder` owes what every op owes (`reports/semantics.md`, "Ops"). Its map from elements to
places has neither ranges nor conditions, so *complete* and *sound* mean that every element is computed at exactly one
place and that no place computes two.

For one launch the claims are in Presburger arithmetic and always decided: :func:`verify_launch`.
"""

from __future__ import annotations

from dataclasses import replace
from math import prod

from ..core.indexing_map import IndexingMap, Variable
from ..core.launch import GRID, Launched
from .concrete import covers, equal_maps, in_bounds, inverse
from .layouts import CheckedClaim
from .properties import injective


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
    """Check all claims of one launch, for its own maps or for the given ones."""
    there, back = places or at.places, owners or at.owners
    by_thread, by_block = thread_map or at.thread_map, block_map or at.block_map
    by_warp = warp_map or at.warp_map
    lanes, grid = at.threads_of_warps, (*at.launch.threads, *at.launch.blocks)
    once = [v.name for v in there.dims]
    threads, blocks = (_by_places(at, names, there) for names in (GRID[:6], GRID[3:6]))
    claims = {
        "every place computes an element of the output": in_bounds(there, at.shape.dims, confirm=confirm),
        "every element is computed": covers(there, at.shape.dims, confirm=confirm),
        "no element is computed twice": injective(there, once, confirm=confirm),
        "the places of elements are in the grid": in_bounds(back, at.grid, confirm=confirm),
        "both maps are inverse to each other": inverse(there, back, confirm=confirm),
        "threads take what is computed at their places": equal_maps(threads, by_thread, confirm=confirm),
        "blocks take what is computed at their places": equal_maps(blocks, by_block, confirm=confirm),
        "every thread of a block is one lane of one warp": inverse(_lanes(at), at.warps_of_threads, confirm=confirm),
        "warps take what their threads take": equal_maps(lanes.compose(by_thread), by_warp, confirm=confirm),
        "lanes are threads of the block": in_bounds(lanes, grid, confirm=confirm),
    }
    return [CheckedClaim(claim, answer) for claim, answer in claims.items()]


def _by_places(at: Launched, names: tuple[str, ...], places: IndexingMap) -> IndexingMap:
    """Return the map from the coordinates with these names to the elements at all places that have such coordinates."""
    variables = {name: Variable(name, 0, n - 1) for name, n in zip(GRID, at.grid, strict=True)}
    spread = IndexingMap(
        tuple(variables[name] for name in names),
        tuple(v for name, v in variables.items() if name not in names),
        (),
        tuple(v.expr for v in variables.values()),
    )
    return spread.compose(places)


def _lanes(at: Launched) -> IndexingMap:
    """Return the map from warp and lane to the thread of a block."""
    m = at.threads_of_warps
    lane = m.ranges or (Variable("lane_id", 0, 0),)
    first = replace(m, dims=(m.dims[0], *lane), ranges=(), results=m.results[:3])
    assert prod(v.size for v in first.dims) >= prod(at.launch.threads)
    return first
