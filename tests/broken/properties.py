"""Maps without a property that a program relies on, each next to a map that has it; many for all sizes."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

__all__ = ["MISTAKES", "Mistake"]


@dataclass(frozen=True)
class Mistake:
    """``wrong`` must be REFUTED and ``twin`` PROVED to have the property; ``other`` is the second map, if any."""

    name: str
    wrong: str
    twin: str
    given: dict[str, Any] = field(default_factory=dict)
    other: str = ""


_TILE = "(d0, d1){n, k} -> (d0 * k + d1), domain: d0 in [0, n - 1], d1 in [0, k - 1], n >= 1, k >= 1"
_READ = (
    "(d0, d1){rt0} -> (d0 * 4 + d1 + rt0), domain: d0 in [0, 1], d1 in [0, 3], rt0 in [0, 3]\n  hlo: x\n  (d0, d1) -> "
)
_TWICE = (
    "(d0, d1){rt0, rt1} -> (d0 * 4 + d1 + rt0 - rt1), domain: d0 in [0, 1], d1 in [0, 3], "
    "rt0 in [0, 3]\n  hlo: x\n  (d0, d1) -> (d0),\nrt1 in [0, 3]\n  hlo: x\n  (d0, d1) -> "
)
_SPLIT = "(d0){n, k} -> (d0 floordiv k, d0 mod k), domain: d0 in [0, n * k - 1], n >= 1, k >= 1"

MISTAKES = [
    # rows move by a value for each row, instead of by the same value
    Mistake("injective", f"{_READ}(d0)", f"{_READ}(0)"),
    Mistake("monotone", f"{_READ}(d0)", f"{_READ}(0)"),
    Mistake("contiguous", f"{_READ}(d1)", f"{_READ}(d0)", {"along": "d1", "width": 4}),
    # what is added for a row is subtracted as read for another, and so does not cancel
    Mistake("injective", f"{_TWICE}(1 - d0)", f"{_TWICE}(d0)"),
    Mistake("in_bounds", f"{_TWICE}(1 - d0)", f"{_TWICE}(d0)", {"shape": [8]}),
    # a block is one element too wide, so that the next block writes that element again
    Mistake("injective", _TILE.replace("k - 1]", "k]"), _TILE),
    # rows of a padded array are placed at the stride of rows without padding
    Mistake("injective",
        "(d0, d1){n, k, p} -> (d0 * k + d1), domain: d0 in [0, n - 1], d1 in [0, k + p - 1], k >= 1, p >= 0",
        "(d0, d1){n, k, p} -> (d0 * (k + p) + d1), domain: d0 in [0, n - 1], d1 in [0, k + p - 1], k >= 1, p >= 0"),
    # the last, partial block is forgotten
    Mistake("covers",
        "(d0, d1){n, k} -> (d0 * k + d1), domain: d0 in [0, n floordiv k - 1], d1 in [0, k - 1], n >= 1, k >= 1",
        "(d0, d1){n, k} -> (d0 * k + d1), domain: d0 in [0, n ceildiv k - 1], d1 in [0, k - 1], n >= 1, k >= 1",
        {"shape": ["n"]}),
    # a rotation that leaves out the last place, and one in steps of two places
    Mistake("covers", "(d0){n, k} -> ((d0 + k) mod n), domain: d0 in [0, n - 2], n >= 1",
        "(d0){n, k} -> ((d0 + k) mod n), domain: d0 in [0, n - 1], n >= 1", {"shape": ["n"]}),
    Mistake("bijective", "(d0){n, k} -> ((k - 2 * d0) mod n), domain: d0 in [0, n - 1], n >= 1",
        "(d0){n, k} -> ((k - d0) mod n), domain: d0 in [0, n - 1], n >= 1", {"shape": ["n"]}),
    # the last block is not masked
    Mistake("in_bounds",
        "(d0, d1){n, k} -> (d0 * k + d1), domain: d0 in [0, n ceildiv k - 1], d1 in [0, k - 1], n >= 1, k >= 1",
        "(d0, d1){n, k} -> (d0 * k + d1), domain: d0 in [0, n ceildiv k - 1], d1 in [0, k - 1], n >= 1, k >= 1,"
        " d0 * k + d1 < n", {"shape": ["n"]}),
    Mistake("bijective", _TILE.replace("d0 * k", "d0 * n"), _TILE, {"shape": ["n * k"]}),
    Mistake("inverse", _TILE.replace("d0 * k + d1", "d1 * n + d0"), _TILE, other=_SPLIT),
    # a tile includes the halo, which belongs to its neighbour
    Mistake("disjoint", "(d0){n, t} -> (t * n + d0), domain: d0 in [0, n], n >= 1",
        "(d0){n, t} -> (t * n + d0), domain: d0 in [0, n - 1], n >= 1",
        other="(d0){n, t} -> (t * n + n + d0), domain: d0 in [0, n - 1], n >= 1"),
    Mistake("contiguous", _TILE, _TILE + ", 4 divides k", {"along": "d1", "width": 4}),
    Mistake("aligned", _TILE, _TILE + ", 4 divides k", {"along": "d1", "by": 4}),
    Mistake("monotone", _TILE.replace("d0 * k + d1", "d1 * n + d0"), _TILE, {"strict": True}),
    # two threads of a launch write the same element
    Mistake("injective", "(th)[s]{w} -> (th * w + s), domain: th in [0, 127], s in [0, w], w >= 1",
        "(th)[s]{w} -> (th + 128 * s), domain: th in [0, 127], s in [0, w], w >= 1", {"over": ["th"]}),
    # the same for concrete maps
    Mistake("injective", "(d0, d1) -> (d0 * 8 + d1), domain: d0 in [0, 3], d1 in [0, 8]",
        "(d0, d1) -> (d0 * 8 + d1), domain: d0 in [0, 3], d1 in [0, 7]"),
    Mistake("covers", "(d0, d1) -> (d0 * 8 + d1), domain: d0 in [0, 3], d1 in [0, 6]",
        "(d0, d1) -> (d0 * 8 + d1), domain: d0 in [0, 3], d1 in [0, 7]", {"shape": [32]}),
]  # fmt: skip
