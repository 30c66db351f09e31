"""Reports of what maps read: the use of operands, and the memory requests of warps."""

from __future__ import annotations

from collections.abc import Iterator

from ..verify.access import LINE, SECTOR, Requests, Utilization
from .machine import written_as

__all__ = ["request_lines", "use_text"]

written_as(Utilization, "elements distinct reads fraction reuse at_most")
written_as(
    Requests,
    "requests sectors lines packed coalesced wavefronts vector stride dimensions worst",
    worst=lambda r: {"at": r.worst[0], "sectors": r.worst[1]},
)


def use_text(u: Utilization) -> str:
    """Say in one line how much of an operand is read, and how often."""
    most = "at most " if u.at_most else ""
    if u.distinct is None or u.reads is None:
        return "not counted: there are too many elements to walk through"
    part = "all" if u.distinct == u.elements else f"{u.distinct:,} of"
    share = "" if u.distinct == u.elements else f" ({u.fraction:.1%})"
    often = "" if u.reuse is None else ", each once" if u.reuse == 1 else f", each {u.reuse:,.4g} times"
    return f"reads {most}{part} {u.elements:,} elements{share}{often}"


def request_lines(r: Requests | None) -> Iterator[tuple[str, str]]:
    """Yield the lines about the memory requests for an operand, each with its heading."""
    if r is None:
        yield "requests", "not counted: there are too many lanes to look at"
        return
    yield (
        "requests",
        f"{r.requests:,} loads of warps: {r.sectors:,} sectors of {SECTOR} bytes, {r.lines:,} lines of {LINE} bytes",
    )
    if r.coalesced:
        yield "coalesced", "yes: no load touches more sectors than its bytes fill"
    else:
        at, sectors = r.worst
        apart = "at changing distances" if r.stride is None else f"{r.stride:,} bytes apart"
        along = ", ".join(map(str, r.dimensions))
        yield (
            "coalesced",
            f"no: {r.packed:,} sectors would do; neighbouring lanes are {apart}, along dimension {along} of the operand",
        )
        yield "worst", f"{sectors} sectors at {', '.join(f'{k} = {v}' for k, v in at.items())}"
    if r.vector > 1:
        yield "vector", f"a thread can load {r.vector} neighbours at once, aligned"
    conflicts = (
        "no bank conflicts" if r.wavefronts == r.requests else f"{r.wavefronts / r.requests:,.3g} a load"
    )
    yield "shared", f"{r.wavefronts:,} passes over the banks if it is in shared memory: {conflicts}"
