"""The reads of a loop: the maps of its body, composed as often as it runs, or any number of times.

If every run is known (see :mod:`.values`), the maps of all runs are composed in turn (:func:`unrolled`), which is
exact. It is given up if the maps become too many.

Otherwise the number of runs depends on values, so an array after a loop counts as reading everything that it reads
after some number of runs, zero included.  That set of maps is the least one that contains the identity and is closed
under composition with the body's maps.  Often it is finite: for an array that the body returns unchanged, one that is
changed elementwise, rows selected by a counter, sums over whole dimensions.  A runtime value of the body differs
between runs, so it becomes a range over all its possible values.

Arrays that the body changes also read what its condition reads, because that decides how often they change.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from ..hlo import Computation
from ..indexing_map import IndexingMap, Variable
from ..op import Direction
from .catalogue import NoMap
from .dependence import Path, Reads
from .merge import covers
from .runtime import reads_position

# The closure is given up after this many runs of the body, or at more than this many maps.
_RUNS = 12
_MAPS = 32

# Limits for unrolling: on the maps between two arrays, on the compositions of a loop, and on the ranges and constraints
# of a map.
_EXACT, _COMPOSITIONS, _RANGES, _CONSTRAINTS = 64, 5_000, 16, 64

# At most this many maps are composed further without being joined.
_UNJOINED = 2

Between = dict[tuple[Path, Path], Reads]
"""Reads for each array that is computed, and array that it depends on."""


def unrolled(
    direction: Direction,
    runs: Sequence[Between],
    composed: Callable[[IndexingMap, IndexingMap], IndexingMap],
    join: Callable[[list[IndexingMap], bool], list[IndexingMap]],
    identity: Mapping[Path, IndexingMap],
) -> Between | None:
    """Return how each array after all runs depends on those before the first; None if there are too many maps.

    ``runs`` has the reads of each run, first to last, ``identity`` the simplified identities. ``join`` reduces the
    number of maps (see :mod:`.merge`). The caller excludes runs whose maps have runtime values, and unknown reads.
    """
    found: Between = {}
    left = _COMPOSITIONS
    backwards = direction == "output_to_input"
    for start in identity:
        # Compose run by run from the array that is mapped, so that the maps of one array are maps of neighbouring
        # indices; None is the identity.
        reached: dict[Path, tuple[dict[IndexingMap | None, None], list[NoMap]]] = {start: ({None: None}, [])}
        for run in reversed(runs) if backwards else runs:
            beyond: dict[Path, tuple[dict[IndexingMap | None, None], list[NoMap]]] = {}
            for (after, before), reads in run.items():
                here, there = (after, before) if backwards else (before, after)
                if here not in reached or not reads:
                    continue
                lasts, bounds = reached[here]
                maps, reasons = beyond.setdefault(there, ({}, []))
                reasons.extend(r for r in dict.fromkeys((*bounds, *reads.at_most)) if r not in reasons)
                if here == there and reads.maps == [identity[here]]:
                    maps.update(lasts)
                    continue
                left -= len(lasts) * len(reads.maps)
                if left < 0:
                    return None
                for last in lasts:
                    for m in reads.maps:
                        made = m if last is None else composed(last, m)
                        if len(made.ranges) > _RANGES or len(made.constraints) > _CONSTRAINTS:
                            return None
                        if not made.is_trivially_empty:
                            maps[made] = None
            for maps, _ in beyond.values():
                if None not in maps and len(maps) > _UNJOINED:
                    fewer = join([m for m in maps if m is not None], False)
                    if len(fewer) > _EXACT:
                        return None
                    maps.clear()
                    maps.update(dict.fromkeys(fewer))
            reached = beyond
        for end, (lasts, bounds) in reached.items():
            key = (start, end) if backwards else (end, start)
            made_of = [identity[start] if m is None else m for m in lasts]
            found[key] = Reads(join(made_of, True), [], bounds, any(r.sent for run in runs for r in run.values()))
    return found


def carried_unchanged(body: Computation, paths: Iterable[Path]) -> list[Path]:
    """Return the arrays of a loop that its body returns unchanged."""
    root, known = body.root, {i.name: i for i in body.instructions}
    found: list[Path] = []
    for path in paths:
        if root.opcode != "tuple" or len(path) != 1 or path[0] >= len(root.operands):
            continue
        element = known.get(root.operands[path[0]].name)
        if element and element.opcode == "get-tuple-element" and element.number("index") == path[0]:
            source = known.get(element.operands[0].name)
            if source is not None and source.opcode == "parameter":
                found.append(path)
    return found


@dataclass
class Loop:
    """One loop: the reads of its body and of its condition among the arrays it carries.

    `identity` has the identity on each array, `scalar` the map between the array and one scalar.
    """

    name: str
    direction: Direction
    simplified: Callable[[IndexingMap], IndexingMap]
    identity: Mapping[Path, IndexingMap]
    scalar: Mapping[Path, IndexingMap]
    body: Mapping[tuple[Path, Path], Reads]
    condition: Mapping[tuple[Path, Path], Reads]
    unchanged: frozenset[Path]

    def maps(self) -> Between:
        """Return how each array after the loop depends on those before it."""
        self._sent = any(reads.sent for reads in self.body.values())
        self._steps: dict[Path, dict[Path, Reads]] = {p: {} for p in self.identity}
        for (root, leaf), reads in self.body.items():
            if root in self._steps and leaf in self.identity and reads:
                self._steps[root][leaf] = self._ranged(reads)
        closed = {path: self._closed(path) for path in self.identity}
        found: Between = {}
        why = "how often the body runs is not known, or too much to compose: what it may read counts as read"
        note = NoMap(self.name, why)
        for path, reached in closed.items():
            if path not in self.unchanged:
                reached = self._with_condition(path, reached, closed)
            for leaf, reads in reached.items():
                at_most = [] if path in self.unchanged else [note]
                found[path, leaf] = Reads(reads.maps, reads.unknown, at_most, self._sent)
        return found

    def _closed(self, start: Path) -> dict[Path, Reads]:
        """Return the reads of one array after any number of runs."""
        reached = {start: Reads([self.simplified(self.identity[start])])}
        new: dict[Path, list[IndexingMap]] = {start: list(reached[start].maps)}
        for _ in range(_RUNS):
            fresh: dict[Path, list[IndexingMap]] = {}
            for middle, maps in new.items():
                for leaf, reads in self._steps[middle].items():
                    into = reached.setdefault(leaf, Reads())
                    _doubt(into, reads.unknown)
                    for first in maps:
                        for second in reads.maps:
                            m = self._after(first, second)
                            if not m.is_trivially_empty and not any(covers(k, m) for k in into.maps):
                                into.maps.append(m)
                                fresh.setdefault(leaf, []).append(m)
            if not fresh:
                return reached
            if any(len(r.maps) > _MAPS for r in reached.values()):
                break
            new = fresh
        reason = NoMap(self.name, "how often the body runs decides what it reads")
        for reads in reached.values():
            _doubt(reads, [reason])
        # arrays that only further runs would reach are unknown, too
        pending = list(reached)
        while pending:
            for leaf in self._steps[pending.pop()]:
                if leaf not in reached:
                    reached[leaf] = Reads([], [reason])
                    pending.append(leaf)
        return reached

    def _with_condition(
        self, path: Path, reached: dict[Path, Reads], closed: Mapping[Path, dict[Path, Reads]]
    ) -> dict[Path, Reads]:
        """Add the reads of the condition, which decides how often the body runs."""
        found = {leaf: Reads(list(r.maps), list(r.unknown)) for leaf, r in reached.items()}
        for (_, tested), reads in self.condition.items():
            if tested not in self.identity:
                continue
            for leaf, more in closed[tested].items():
                into = found.setdefault(leaf, Reads())
                _doubt(into, [*reads.unknown, *more.unknown])
                for test in self._ranged(reads).maps:
                    for run in more.maps:
                        m = self._after(self._after(self.scalar[path], test), run)
                        if not m.is_trivially_empty and not any(covers(k, m) for k in into.maps):
                            into.maps.append(m)
        return found

    def _after(self, first: IndexingMap, second: IndexingMap) -> IndexingMap:
        """Compose a map from a computed array with a map to an array that it reads, or the inverses of both."""
        if self.direction == "output_to_input":
            return self.simplified(first.compose(second))
        return self.simplified(second.compose(first))

    def _ranged(self, reads: Reads) -> Reads:
        return Reads([self.simplified(ranged(m, self._sent)) for m in reads.maps], list(reads.unknown))


def ranged(m: IndexingMap, positions: bool) -> IndexingMap:
    """Replace every runtime value by a range, the position of a replica only where it is not that of one replica."""
    taken = [v for v in m.rts if positions or not reads_position(v)]
    if not taken:
        return m
    names = {v.name: f"s{len(m.ranges) + k}" for k, v in enumerate(taken)}
    renamed = m.rename(names)
    ranges = (Variable(names[v.name], v.lo, v.hi) for v in taken)
    kept = tuple(v for v in renamed.rts if v.name not in names.values())
    return renamed.with_(ranges=(*m.ranges, *ranges), rts=kept)


def _doubt(reads: Reads, reasons: Iterable[NoMap]) -> None:
    for reason in reasons:
        if reason not in reads.unknown:
            reads.unknown.append(reason)
