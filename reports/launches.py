"""What `indexproof layout launch` says of threads, blocks and warps."""

from __future__ import annotations

from dataclasses import dataclass

from ..core.indexing_map import IndexingMap
from ..core.launch import Launched
from ..core.text import format_map
from ..rules.simplifier import simplify
from ..verify.concrete import equal_maps
from ..verify.launches import verify_launch
from ..verify.layouts import CheckedClaim
from ..verify.verdict import Status, worst
from .layout import block, count, duration, joined
from .layouts import claims_keys
from .machine import ABSENT

__all__ = ["DescribedLaunch", "described_launch", "launch_text"]


@dataclass(frozen=True)
class DescribedLaunch:
    """A launch with its maps in simplified form, and what is proved of them, if that was asked."""

    at: Launched
    thread_map: IndexingMap
    block_map: IndexingMap
    warp_map: IndexingMap
    owners: IndexingMap
    reads: IndexingMap | None
    by: str
    checked: tuple[CheckedClaim, ...] = ()

    @property
    def verdict(self) -> Status:
        """The worst of the answers; `NOT CHECKED` without any."""
        return worst([c.answer.verdict for c in self.checked])


def described_launch(
    at: Launched, m: IndexingMap | None = None, by: str = "thread", verify: bool = False
) -> DescribedLaunch:
    """The simplified maps of a launch and what it reads by ``m``; with ``verify`` it is these that are checked."""
    thread, block_, warp = simplify(at.thread_map), simplify(at.block_map), simplify(at.warp_map)
    owners = simplify(at.owners)
    composed = None if m is None else at.reads(m, by)
    reads = None if composed is None else simplify(composed)
    checked: list[CheckedClaim] = []
    if verify:
        checked = verify_launch(
            at, simplify(at.places), owners, thread_map=thread, block_map=block_, warp_map=warp
        )
        if composed is not None and reads is not None:
            claim = f"a {by} reads what the map says of what it computes"
            checked.append(CheckedClaim(claim, equal_maps(composed, reads)))
    return DescribedLaunch(at, thread, block_, warp, owners, reads, by, tuple(checked))


def launch_text(d: DescribedLaunch) -> str:
    """What a person reads about a launch."""
    at = d.at
    launch = at.launch
    places = launch.size * launch.unroll * at.chunks
    idle = places - at.shape.size
    lines = [
        ("threads", f"{_by(launch.threads)} in a block, warps of {launch.warp}"),
        ("blocks", _by(launch.blocks)),
        (
            "elements",
            f"{at.shape.size:,}, {launch.unroll} at once by a thread, in {count(at.chunks, 'round')}; "
            f"{count(idle, 'place')} without one",
        ),
        ("thread", format_map(d.thread_map)),
        ("block", format_map(d.block_map)),
        ("warp", format_map(d.warp_map)),
        ("place", format_map(d.owners)),
    ]
    if d.reads is not None:
        lines.append((f"{d.by} reads", format_map(d.reads)))
    for c in d.checked:
        why = c.answer.counterexample
        lines.append((c.answer.verdict.value, c.claim + (f": {why}" if why is not None else "")))
    parts = [block(str(at.shape), lines)]
    if d.checked:
        false = sum(not c.proved for c in d.checked)
        said = f"{d.verdict.value}  {count(len(d.checked), 'claim')}"
        seconds = duration(sum(c.answer.seconds for c in d.checked))
        parts.append(joined([f"{said}, {f'{false} not proved' if false else 'all proved'}", f"in {seconds}"]))
    return "\n\n".join(parts)


claims_keys(
    DescribedLaunch,
    "shape=at.shape threads=at.launch.threads blocks=at.launch.blocks unroll=at.launch.unroll warp=at.launch.warp "
    "chunks=at.chunks thread_map block_map warp_map owners reads",
    reads=lambda d: ABSENT if d.reads is None else d.reads,
)


def _by(sizes: tuple[int, ...]) -> str:
    return " × ".join(map(str, sizes))
