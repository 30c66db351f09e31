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
from dataclasses import dataclass, replace

from ..hlo import Computation
from ..indexing_map import IndexingMap, Variable
from ..op import Direction
from .dependence import IDENTITY, Link, NoMap, Path, Reads, union
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

Between = dict[tuple[Path, Path], Reads[IndexingMap]]
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
    sent = any(r.sent for run in runs for r in run.values())
    for start in identity:
        # Compose run by run from the array that is mapped, so that the maps of one array are maps of neighbouring
        # indices.
        reached = {start: IDENTITY}
        for run in reversed(runs) if backwards else runs:
            beyond: dict[Path, list[Link]] = {}
            for (after, before), step in run.items():
                here, there = (after, before) if backwards else (before, after)
                if here not in reached or not step:
                    continue
                last = reached[here]
                parts = beyond.setdefault(there, [])
                parts.append(Reads((), (), (*last.at_most, *step.at_most)))
                if here == there and step.maps == (identity[here],):
                    parts.append(last)
                    continue
                left -= len(last.maps) * len(step.maps)
                if left < 0:
                    return None
                made = tuple([n if m is None else composed(m, n) for m in last.maps for n in step.maps])
                if any(len(m.ranges) > _RANGES or len(m.constraints) > _CONSTRAINTS for m in made):
                    return None
                parts.append(Reads(tuple([m for m in made if not m.is_trivially_empty])))
            reached = {there: union(parts) for there, parts in beyond.items()}
            for there, reads in reached.items():
                if None not in reads.maps and len(reads.maps) > _UNJOINED:
                    fewer = join([m for m in reads.maps if m is not None], False)
                    if len(fewer) > _EXACT:
                        return None
                    reached[there] = Reads(tuple(fewer), (), reads.at_most)
        for end, reads in reached.items():
            maps = join([identity[start] if m is None else m for m in reads.maps], True)
            found[(start, end) if backwards else (end, start)] = Reads(tuple(maps), (), reads.at_most, sent)
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
    body: Between
    condition: Between
    unchanged: frozenset[Path]

    def maps(self) -> Between:
        """Return how each array after the loop depends on those before it."""
        self._sent = any(reads.sent for reads in self.body.values())
        self._steps: dict[Path, dict[Path, Reads[IndexingMap]]] = {p: {} for p in self.identity}
        for (root, leaf), reads in self.body.items():
            if root in self._steps and leaf in self.identity and reads:
                self._steps[root][leaf] = self._ranged(reads)
        closed = {path: self._closed(path) for path in self.identity}
        found: Between = {}
        why = "how often the body runs is not known, or too much to compose: what it may read counts as read"
        for path, reached in closed.items():
            at_most = () if path in self.unchanged else (NoMap(self.name, why),)
            for leaf, reads in (self._with_condition(path, closed) if at_most else reached).items():
                found[path, leaf] = replace(reads, at_most=at_most, sent=self._sent)
        return found

    def _closed(self, start: Path) -> dict[Path, Reads[IndexingMap]]:
        """Return the reads of one array after any number of runs."""
        reached = {start: Reads((self.simplified(self.identity[start]),))}
        new = {start: reached[start].maps}
        for _ in range(_RUNS):
            fresh: dict[Path, tuple[IndexingMap, ...]] = {}
            for middle, maps in new.items():
                for leaf, reads in self._steps[middle].items():
                    before = reached.get(leaf, Reads())
                    made = [self._after(first, second) for first in maps for second in reads.maps]
                    reached[leaf] = _with_more(before, made, reads.unknown)
                    if more := reached[leaf].maps[len(before.maps) :]:
                        fresh[leaf] = (*fresh.get(leaf, ()), *more)
            if not fresh:
                return reached
            if any(len(r.maps) > _MAPS for r in reached.values()):
                break
            new = fresh
        reason = NoMap(self.name, "how often the body runs decides what it reads")
        # arrays that only further runs would reach are unknown, too
        pending = list(reached)
        for middle in pending:
            pending += [leaf for leaf in self._steps[middle] if leaf not in pending]
        return {leaf: _with_more(reached.get(leaf, Reads()), (), (reason,)) for leaf in pending}

    def _with_condition(
        self, path: Path, closed: Mapping[Path, dict[Path, Reads[IndexingMap]]]
    ) -> dict[Path, Reads[IndexingMap]]:
        """Return the reads of one array with those of the condition, which decides how often the body runs."""
        found = dict(closed[path])
        for (_, tested), reads in self.condition.items():
            if tested not in self.identity:
                continue
            tests = [self._after(self.scalar[path], m) for m in self._ranged(reads).maps]
            for leaf, more in closed[tested].items():
                made = [self._after(test, run) for test in tests for run in more.maps]
                found[leaf] = _with_more(found.get(leaf, Reads()), made, (*reads.unknown, *more.unknown))
        return found

    def _after(self, first: IndexingMap, second: IndexingMap) -> IndexingMap:
        """Compose a map from a computed array with a map to an array that it reads, or the inverses of both."""
        if self.direction == "output_to_input":
            return self.simplified(first.compose(second))
        return self.simplified(second.compose(first))

    def _ranged(self, reads: Reads[IndexingMap]) -> Reads[IndexingMap]:
        return Reads(tuple([self.simplified(ranged(m, self._sent)) for m in reads.maps]), reads.unknown)


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


def _with_more(reads: Reads[IndexingMap], maps: Iterable[IndexingMap], unknown: Iterable[NoMap]) -> Reads[IndexingMap]:
    """Add the maps that no other one covers, and reasons for missing ones."""
    kept = [*reads.maps]
    for m in maps:
        if not m.is_trivially_empty and not any(covers(k, m) for k in kept):
            kept.append(m)
    return Reads(tuple(kept), tuple(dict.fromkeys((*reads.unknown, *unknown))))
