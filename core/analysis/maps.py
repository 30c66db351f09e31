"""Maps of whole computations, by composition through all their instructions.

Instructions are walked from what reads back to what is read, in both directions of maps, each one once: the maps between
root elements and its own are simplified, projected (:mod:`.projection`) and joined (:mod:`.merge`) before its operands are
looked at, and what is reached in the same way goes on in the same way.

A called computation is analysed once; at a call its maps are composed with those of the call. What reads a
parameter inside, reads the operand outside, also where the parameter holds the value of a runtime variable.

A conditional reads what any of its branches reads, and the value that chooses; a loop what it reads after all runs of
its body, or if these are not known, after some number of them (see :mod:`.loops`).  An asynchronous pair is the
operation that it performs.

The result of an instruction that has no map is opaque: everything that it may read is reported as reached
without a map, with the reason, and never left out.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from ..blocks import block
from ..display import Shown
from ..errors import InputError, quoted
from ..hlo import Computation, Instruction, Module
from ..indexing_map import IndexingMap, RuntimeSource
from ..op import DIRECTIONS, Direction
from .catalogue import NoMap
from .dataflow import identity_of
from .dependence import Reads, depending, paths_of
from .runtime import source_text, with_sources
from .steps import Options
from .summaries import Analysis


@dataclass(frozen=True)
class ComputationMaps(Shown, Mapping[tuple[int, int], list[IndexingMap]]):
    """Maps between the roots of a computation and its parameters.

    `maps[root, parameter]` are the maps, for a parameter that is an array; `root` counts the arrays of the
    root's shape in order. `leaves[root, parameter, leaf]` has everything, `leaf` counting the arrays of the
    parameter. A pair without entry: the root does not depend on the parameter. `unknown` lists why maps are
    missing. Operands that a snippet does not define are no parameters and have no entry.
    """

    direction: Direction
    leaves: dict[tuple[int, int, int], Reads]

    def __str__(self) -> str:
        lines = [("", self.direction.replace("_", " "))]
        for (root, parameter, leaf), reads in self.leaves.items():
            place = f"root {root}, parameter {parameter}" + (f", array {leaf}" if leaf else "")
            lines += [(place, repr(m)) for m in reads.maps]
            lines += [(place, f"no map: {why}") for why in reads.unknown]
            lines += [(place, f"at most: {why}") for why in reads.at_most]
        return block(lines[0][1], lines[1:])

    def __getitem__(self, key: tuple[int, int]) -> list[IndexingMap]:
        found = self.leaves.get((*key, 0))
        if found is None:
            raise KeyError(key)
        return found.maps

    def __iter__(self) -> Iterator[tuple[int, int]]:
        return iter([(root, parameter) for root, parameter, leaf in self.leaves if leaf == 0])

    def __len__(self) -> int:
        return sum(1 for _ in self)

    @property
    def unknown(self) -> dict[tuple[int, int, int], list[NoMap]]:
        """The pairs that are connected through something without a map, with the reasons."""
        return {key: reads.unknown for key, reads in self.leaves.items() if reads.unknown}

    @property
    def at_most(self) -> dict[tuple[int, int, int], list[NoMap]]:
        """The pairs of which the maps may say too much, with the reasons."""
        return {key: reads.at_most for key, reads in self.leaves.items() if reads.at_most}


class ModuleMaps:
    """The maps of a module, each computation analysed once however often it is called or asked for."""

    def __init__(self, module: Module, options: Options) -> None:
        self.module = module
        self._analyses = {d: Analysis(module, d, options) for d in DIRECTIONS}

    def __repr__(self) -> str:
        return f"<ModuleMaps of {self.module!r}>"

    def _analysis(self, direction: Direction) -> Analysis:
        if direction not in self._analyses:
            raise InputError(f"{quoted(direction)} is no direction", expected=" or ".join(DIRECTIONS))
        return self._analyses[direction]

    def _named(self, computation: Computation | str) -> Computation:
        return self.module.computation(computation) if isinstance(computation, str) else computation

    def _told(self, computation: Computation, reads: Reads) -> Reads:
        """The same with the text of instructions in place of their paths."""

        def text(source: RuntimeSource) -> RuntimeSource:
            return RuntimeSource(source_text(self.module, computation, source.hlo), source.results)

        return Reads([with_sources(m, text) for m in reads.maps], reads.unknown, reads.at_most)

    def computation(self, computation: Computation | str, direction: Direction) -> ComputationMaps:
        """All maps between the roots and the parameters of a computation.

        Maps that are structurally equal when simplified are one map, and so are those that the options tell to be equal.
        Runtime variables that read constants or iotas are replaced by their values.  Sources of the others are the text
        of the instruction read; one inside a called computation is named `call/…/name`.
        """
        computation = self._named(computation)
        summary = self._analysis(direction).summary(computation)
        numbers = {
            (p.parameter_number, path): k for p in computation.parameters for k, path in enumerate(paths_of(p.shape))
        }
        roots = {path: k for k, path in enumerate(paths_of(computation.root.shape))}
        found: dict[tuple[int, int, int], Reads] = {}
        for (root, (parameter, path)), reads in summary.items():
            found[roots[root], parameter, numbers[parameter, path]] = self._told(computation, reads)
        return ComputationMaps(direction, dict(sorted(found.items())))

    def instruction(
        self, instruction: Instruction | str, computation: Computation | str, direction: Direction
    ) -> ComputationMaps:
        """The maps between an instruction, in place of a root, and its operands; calls are looked into."""
        computation = self._named(computation)
        if isinstance(instruction, str):
            instruction = computation.instruction(instruction)
        frame = self._analysis(direction).frame(computation, [instruction])
        found: dict[tuple[int, int, int], Reads] = {}
        numbers = [{path: k for k, path in enumerate(paths_of(o.shape))} for o in instruction.operands]
        for root, path in enumerate(paths_of(instruction.shape)):
            for (operand, inner), reads in frame.links(instruction, path).items():
                if reads is None:
                    reads = Reads([identity_of(instruction.shape, path)])
                distinct = Reads(frame.distinct(reads.maps), reads.unknown, reads.at_most)
                found[root, operand, numbers[operand][inner]] = self._told(computation, distinct)
        return ComputationMaps(direction, dict(sorted(found.items())))

    def between(
        self,
        producers: Sequence[Instruction | str],
        consumers: Sequence[Instruction | str],
        computation: Computation | str,
        direction: Direction = "output_to_input",
        *,
        inside: Sequence[Instruction | str] | None = None,
    ) -> ComputationMaps:
        """The maps between what `consumers` and `producers` make, over all paths through the computation.

        Consumers take the place of roots, each of their arrays counted, producers that of parameters.  Nothing else is
        analysed than what is on a path.  With `inside` paths lead through these instructions only.
        """
        computation = self._named(computation)
        starts, ends, within = (self._positions(computation, x) for x in (consumers, producers, inside or ()))
        members = None if inside is None else {*starts, *within}
        frame = self._analysis(direction).frame(computation, self.path(producers, consumers, computation, inside))
        found: dict[tuple[int, int, int], Reads] = {}
        root = 0
        for start in starts:
            for path in paths_of(computation.instructions[start].shape):
                reached = frame.between(start, path, ends, members)
                for number, end in enumerate(ends):
                    for leaf, inner in enumerate(paths_of(computation.instructions[end].shape)):
                        reads = reached.get((end, inner))
                        if reads:
                            found[root, number, leaf] = self._told(computation, reads)
                root += 1
        return ComputationMaps(direction, found)

    def path(
        self,
        producers: Sequence[Instruction | str],
        consumers: Sequence[Instruction | str],
        computation: Computation | str,
        inside: Sequence[Instruction | str] | None = None,
    ) -> list[Instruction]:
        """The instructions on a path from a producer to a consumer, both included, as :meth:`between` walks them."""
        computation = self._named(computation)
        starts, ends, within = (self._positions(computation, x) for x in (consumers, producers, inside or ()))
        last = max(starts, default=-1)
        leads, reached = depending(computation, ends, last), set(starts)
        for k in range(last, -1, -1):
            if k in reached and (inside is None or k in starts or k in within):
                reached.update(o for o in computation.operand_positions[k] if o in leads)
        return [computation.instructions[k] for k in sorted(reached & leads)]

    def group(
        self,
        instructions: Sequence[Instruction | str],
        computation: Computation | str,
        direction: Direction = "output_to_input",
    ) -> tuple[list[Instruction], list[Instruction], ComputationMaps]:
        """Return the outputs and the operands of some instructions, fused, and the maps between these.

        Outputs, which others use, take the place of roots, operands, which others make, that of parameters.
        """
        computation = self._named(computation)
        members = set(self._positions(computation, instructions))
        users, operands = computation.users, computation.operand_positions
        outputs = [k for k in sorted(members) if k == computation.root_index or not members.issuperset(users[k])]
        given = sorted({o for k in members for o in operands[k] if o >= 0} - members)
        made, read = ([computation.instructions[k] for k in ks] for ks in (outputs, given))
        return made, read, self.between(read, made, computation, direction, inside=instructions)

    def _positions(self, computation: Computation, instructions: Sequence[Instruction | str]) -> list[int]:
        return [computation.position(i if isinstance(i, str) else i.name) for i in instructions]

    def unmapped(
        self,
        computation: Computation | str,
        instructions: Sequence[Instruction] | None = None,
        directions: Sequence[Direction] = DIRECTIONS,
    ) -> dict[str, tuple[NoMap, ...]]:
        """The instructions of a computation of which some map is not known, in one of the directions, and why.

        All of them are looked at unless some are given.
        """
        computation = self._named(computation)
        found: dict[str, tuple[NoMap, ...]] = {}
        frames = [self._analysis(direction).frame(computation, instructions) for direction in directions]
        for instruction in computation.instructions if instructions is None else instructions:
            reasons: dict[NoMap, None] = {}
            for frame in frames:
                for path in paths_of(instruction.shape) if instruction.operands else ():
                    for reads in frame.links(instruction, path).values():
                        if reads is not None:
                            reasons.update(dict.fromkeys(reads.unknown))
            if reasons:
                found[instruction.name] = tuple(reasons)
        return found
