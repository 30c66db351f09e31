"""Maps of whole computations, by composition through all their instructions.

A walk visits every instruction once, from readers to what they read, in both directions of maps.  The maps between root
elements and those of an instruction are simplified, projected (:mod:`.projection`) and joined (:mod:`.merge`) before
its operands are visited.  Equal sets of maps share all further compositions.

A called computation is analysed once; at a call its maps are composed with those of the call. A read of a parameter
inside is a read of the operand outside, also in the sources of runtime variables.

A conditional reads everything that any of its branches reads, and the value that selects one; a loop what it reads
after all its runs, or if these are not known, after any number of them (see :mod:`.loops`).  An asynchronous pair is
the operation that it performs.

The result of an instruction without a map is opaque: everything that it may read is reported as reached without a map,
with the reason, and never left out.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from ..blocks import block
from ..display import Shown
from ..errors import InputError, quoted
from ..hlo import Computation, Instruction, Module
from ..indexing_map import IndexingMap, RuntimeSource
from ..op import DIRECTIONS, Direction
from .dependence import NoMap, Reads, depending, paths_of
from .runtime import source_text, with_sources
from .steps import Options
from .summaries import Analysis


@dataclass(frozen=True)
class ComputationMaps(Shown, Mapping[tuple[int, int], list[IndexingMap]]):
    """Maps between the roots of a computation and its parameters.

    `maps[root, parameter]` are the maps for a parameter that is an array; `root` numbers the arrays of the root's
    shape. `leaves[root, parameter, leaf]` has the reads of all parameters, `leaf` numbering the arrays of the
    parameter. If a pair has no entry, the root does not depend on the parameter. `unknown` has the reasons for missing
    maps. Free operands of a snippet are no parameters and have no entry.
    """

    direction: Direction
    leaves: dict[tuple[int, int, int], Reads[IndexingMap]]

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
        return list(found.maps)

    def __iter__(self) -> Iterator[tuple[int, int]]:
        return iter([(root, parameter) for root, parameter, leaf in self.leaves if leaf == 0])

    def __len__(self) -> int:
        return sum(1 for _ in self)

    @property
    def unknown(self) -> dict[tuple[int, int, int], list[NoMap]]:
        """The pairs that an instruction without a map connects, with the reasons."""
        return {key: list(reads.unknown) for key, reads in self.leaves.items() if reads.unknown}

    @property
    def at_most(self) -> dict[tuple[int, int, int], list[NoMap]]:
        """The pairs whose maps may name too many elements, with the reasons."""
        return {key: list(reads.at_most) for key, reads in self.leaves.items() if reads.at_most}


class ModuleMaps:
    """The maps of a module; each computation is analysed once, however often it is called or requested."""

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

    def _told(self, computation: Computation, reads: Reads[IndexingMap]) -> Reads[IndexingMap]:
        """Replace the paths in sources by the text of instructions."""

        def text(source: RuntimeSource) -> RuntimeSource:
            return RuntimeSource(source_text(self.module, computation, source.hlo), source.results)

        return replace(reads, maps=tuple([with_sources(m, text) for m in reads.maps]), sent=False)

    def computation(self, computation: Computation | str, direction: Direction) -> ComputationMaps:
        """Return all maps between the roots and the parameters of a computation.

        Simplified maps that are structurally equal are one map, and so are those of up to 16 that the options prove
        equal.  Runtime variables that read constants or iotas are replaced by their values.  Other sources are the text
        of the instruction read; one inside a called computation is named `call/…/name`.
        """
        computation = self._named(computation)
        summary = self._analysis(direction).summary(computation)
        numbers = {
            (p.parameter_number, path): k for p in computation.parameters for k, path in enumerate(paths_of(p.shape))
        }
        roots = {path: k for k, path in enumerate(paths_of(computation.root.shape))}
        found: dict[tuple[int, int, int], Reads[IndexingMap]] = {}
        for (root, (parameter, path)), reads in summary.items():
            found[roots[root], parameter, numbers[parameter, path]] = self._told(computation, reads)
        return ComputationMaps(direction, dict(sorted(found.items())))

    def instruction(
        self, instruction: Instruction | str, computation: Computation | str, direction: Direction
    ) -> ComputationMaps:
        """Return the maps between an instruction, in place of a root, and its operands, through calls."""
        computation = self._named(computation)
        if isinstance(instruction, str):
            instruction = computation.instruction(instruction)
        frame = self._analysis(direction).frame(computation, [instruction])
        found: dict[tuple[int, int, int], Reads[IndexingMap]] = {}
        numbers = [{path: k for k, path in enumerate(paths_of(o.shape))} for o in instruction.operands]
        for root, path in enumerate(paths_of(instruction.shape)):
            for (operand, inner), reads in frame.links(instruction, path).items():
                whole = frame.resolved(reads, instruction.shape, path)
                found[root, operand, numbers[operand][inner]] = self._told(computation, whole)
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
        """Return the maps between the arrays of `consumers` and `producers`, over all paths through the computation.

        Consumers take the place of roots, each of their arrays counted, producers that of parameters.  Only
        instructions on a path are analysed.  With `inside` paths lead through these instructions only.
        """
        computation = self._named(computation)
        starts, ends, within = (self._positions(computation, x) for x in (consumers, producers, inside or ()))
        members = None if inside is None else {*starts, *within}
        frame = self._analysis(direction).frame(computation, self.path(producers, consumers, computation, inside))
        found: dict[tuple[int, int, int], Reads[IndexingMap]] = {}
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
        """Return the instructions on paths from producers to consumers, both included, for :meth:`between`."""
        computation = self._named(computation)
        starts, ends, within = (self._positions(computation, x) for x in (consumers, producers, inside or ()))
        last = max(starts, default=-1)
        leads, reached = depending(computation, ends, last), set(starts)
        operands = computation.operand_positions
        for k in range(last, min(leads, default=last), -1):
            if k in reached and (inside is None or k in starts or k in within):
                reached.update(leads.intersection(operands[k]))
        return [computation.instructions[k] for k in sorted(reached & leads)]

    def group(
        self,
        instructions: Sequence[Instruction | str],
        computation: Computation | str,
        direction: Direction = "output_to_input",
    ) -> tuple[list[Instruction], list[Instruction], ComputationMaps]:
        """Return the outputs and the operands of a group of instructions, and the maps between them.

        Outputs are used outside and take the place of roots; operands are made outside and take that of parameters.
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
        """Return the instructions that lack a map in one of the directions, with the reasons.

        All instructions of the computation are examined unless some are given.
        """
        computation = self._named(computation)
        found: dict[str, tuple[NoMap, ...]] = {}
        frames = [self._analysis(direction).frame(computation, instructions) for direction in directions]
        for instruction in computation.instructions if instructions is None else instructions:
            reasons: dict[NoMap, None] = {}
            for frame in frames:
                for path in paths_of(instruction.shape) if instruction.operands else ():
                    for reads in frame.links(instruction, path).values():
                        reasons.update(dict.fromkeys(reads.unknown))
            if reasons:
                found[instruction.name] = tuple(reasons)
        return found
