"""Summaries of computations, callees first: each is computed once and used wherever the computation is run."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property

from ..hlo import Computation, Instruction, Module
from ..indexing_map import IndexingMap
from ..op import Direction
from ..transform import merge_runtime, number_variables, remove_unused
from .dataflow import ENTERED, Dataflow
from .dependence import Leaf, Link, Summary
from .merge import covers, merged
from .projection import projected
from .steps import CompositionStep, EvaluationStep, MergeStep, Options
from .values import Made, Value, Values, specialized, values_of

# Limits on specialized computations, which are analysed at their calls: on their nesting, and on their instructions in
# total, since nested loops have one for every run of all.
_MOST_NESTED, _MOST_SPECIALIZED = 20, 15_000


def normalized(m: IndexingMap) -> IndexingMap:
    """Remove unused ranges and runtime values, and number the others as they appear.

    Composition leaves ranges that nothing mentions any more, such as a sum over a dimension that an earlier map does
    not keep.  Without them most maps of a deep computation are equal.  Runtime values that read the same element within
    the same bounds are merged.  Variables without a standard name `s0`, `rt0`, … keep names and places.
    """
    if not (m.ranges or m.rts):
        return m
    return merge_runtime(m).then(remove_unused).then(number_variables).map


class Analysis:
    """The summaries of the computations of a module in one direction, callees first."""

    def __init__(self, module: Module, direction: Direction, options: Options) -> None:
        self.module = module
        self.direction = direction
        self.options = options
        self.computations = {c.name: c for c in module.computations}
        # None marks a computation that calls itself.
        self.summaries: dict[str, Summary | None] = {}
        # Different paths compose to the same map repeatedly; a simplified map is its own simplification.
        self._simplified: dict[IndexingMap, IndexingMap] = {}
        self._frames: dict[str, Dataflow] = {}
        #: Links of instructions without runtime values, by the ids of the objects that determine them, which are kept.
        self.links: dict[tuple[object, ...], tuple[dict[Leaf, Link], tuple[object, ...]]] = {}
        self.evaluated: Made = {}
        self._composed: dict[tuple[IndexingMap, IndexingMap], IndexingMap] = {}
        # The known parameters of specialized computations, and these computations by their origin.
        self.known: dict[str, dict[Leaf, Value]] = {}
        self._specialized: dict[tuple[str, tuple[tuple[Leaf, Value], ...]], Computation] = {}
        self._nested = 0
        #: The number of instructions that further specialized computations may have in total.
        self.room = _MOST_SPECIALIZED

    def summary(self, computation: Computation) -> Summary:
        """Return how the roots of a computation depend on its parameters."""
        found = self.summaries.get(computation.name)
        if found is None or self.computations.get(computation.name) is not computation:
            found = self.frame(computation).summary()
            if self.computations.get(computation.name) is computation:
                self.summaries[computation.name] = found
        return found

    def frame(self, computation: Computation, walked: Sequence[Instruction] | None = None) -> Dataflow:
        """Return the analysis of one computation, after that of all callees of the instructions ``walked``.

        These are all instructions by default.
        """
        found = self._frames.get(computation.name)
        if found is None or found.computation is not computation:
            found = self._frames[computation.name] = Dataflow(self, computation)
        self._prepare(computation, computation.instructions if walked is None else walked)
        return found

    def simplified(self, m: IndexingMap) -> IndexingMap:
        """Return the normal form in which maps are compared; equal ones are one object."""
        found = self._simplified.get(m)
        if found is None:
            found = self._simple(m)
            if found is not m:
                self.options.observe(CompositionStep((m,), found))
        return found

    def _simple(self, m: IndexingMap) -> IndexingMap:
        found = self._simplified.get(m)
        if found is None:
            before, found = None, normalized(m)
            while found != before:
                before = found
                found = normalized(projected(normalized(self.options.simplify(found))))
            found = self._simplified[m] = self._simplified.setdefault(found, found)
        return found

    def composed(self, first: IndexingMap, second: IndexingMap) -> IndexingMap:
        """Return the simplified composition; memoized for every pair of maps."""
        found = self._composed.get((first, second))
        if found is None:
            found = self._composed[first, second] = self._simple(first.compose(second))
            self.options.observe(CompositionStep((first, second), found))
        return found

    def after(self, m: IndexingMap | None, link: IndexingMap) -> IndexingMap:
        """Extend a map by one more link, away from the reader; None is the identity."""
        if m is None:
            return self.simplified(link)
        return self.composed(m, link) if self.direction == "output_to_input" else self.composed(link, m)

    def joined(self, maps: list[IndexingMap]) -> list[IndexingMap]:
        """Return fewer maps whose union has the same relation: without covered ones, and merged."""
        kept: list[IndexingMap] = []
        for m in maps:
            if not any(covers(k, m) for k in kept):
                kept = [k for k in kept if not covers(m, k)]
                kept.append(m)
        if len(kept) < len(maps):
            self.options.observe(MergeStep(tuple(maps), tuple(kept)))
        return self.merged(kept, True)

    def _prepare(self, computation: Computation, walked: Sequence[Instruction]) -> None:
        """Summarise all computations that the instructions of a computation call."""
        pending: list[tuple[Computation, bool]] = [(c, False) for c in self._callees(walked)]
        open_names = {computation.name}
        while pending:
            callee, ready = pending.pop()
            if ready:
                open_names.discard(callee.name)
                if callee.name not in self.summaries:
                    frame = self._frames.setdefault(callee.name, Dataflow(self, callee))
                    self.summaries[callee.name] = frame.summary()
                continue
            if callee.name in self.summaries:
                continue
            if callee.name in open_names:
                self.summaries[callee.name] = None
                continue
            open_names.add(callee.name)
            pending.append((callee, True))
            pending.extend((c, False) for c in self._callees(callee.instructions))

    def merged(self, maps: list[IndexingMap], ranges: bool) -> list[IndexingMap]:
        """Merge and simplify maps; the union of the result has the same relation."""
        found = merged(maps, ranges)
        if len(found) == len(maps):
            return maps
        simple = [m for m in dict.fromkeys(map(self.simplified, found)) if not m.is_trivially_empty]
        self.options.observe(MergeStep(tuple(maps), tuple(simple)))
        return simple

    def specialized(
        self, computation: Computation, known: Mapping[Leaf, Value], values: Values | None = None
    ) -> Computation:
        """Return the computation with all values inserted that follow from known parameters; memoized."""
        key = (computation.name, tuple(sorted(known.items())))
        found = self._specialized.get(key)
        if found is None:
            if values is None:
                values = values_of(self.computations, computation, known)
            # no computation of a module has such a name
            found = specialized(computation, values, f"{computation.name}@{len(self._specialized)}")
            self._specialized[key] = self.computations[found.name] = found
            self.room -= len(found.instructions)
            self.known[found.name] = dict(known)
            self.options.observe(EvaluationStep(computation, known, values, found))
        return found

    def nested(self, computation: Computation) -> Summary | None:
        """Return the summary of a specialized computation; None if too many are nested."""
        if computation.name not in self.summaries and self._nested >= _MOST_NESTED:
            return None
        self._nested += 1
        try:
            return self.summary(computation)
        finally:
            self._nested -= 1

    @cached_property
    def looping(self) -> set[str]:
        """The computations of the module that run a loop, or call one that does."""
        pending = [c.name for c, i in self.module.instructions() if i.opcode == "while"]
        found = set(pending)
        for name in pending:
            callers = {c.name for c, i in self.module.callers[name] if i.opcode in ENTERED} - found
            found |= callers
            pending += callers
        return found

    def _callees(self, instructions: Iterable[Instruction]) -> list[Computation]:
        names = {n: None for i in instructions if i.opcode in ENTERED for n in i.called}
        return [self.computations[name] for name in names if name in self.computations]
