"""Maps of whole computations, by composition through all their instructions.

Output to input: from every root leaf backwards, each instruction gets the maps *root element to element of
this instruction*, simplified and without duplicates, before its operands are looked at. So an instruction
that is read along many paths is expanded once, and a value read in one way gives one map however often it is
read. Input to output is the same walk forwards from every leaf of a parameter.

A called computation is analysed once; at a call its maps are composed with those of the call. What reads a
parameter inside, reads the operand outside, also where the parameter holds the value of a runtime variable.

A conditional reads what any of its branches reads, and the value that chooses; a loop what it reads after all runs of
its body, or if these are not known, after some number of them (see :mod:`.loops`).  An asynchronous pair is the
operation that it performs.

The result of an instruction that has no map is opaque: everything that it may read is reported as reached
without a map, with the reason, and never left out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

from ..blocks import block
from ..errors import InputError, quoted
from ..expr import substitute_all, var
from ..hlo import Computation, Instruction, Module, Shape, TupleShape, leaves
from ..hlo.shape import AnyShape
from ..indexing_map import IndexingMap, RuntimeSource, Variable
from ..op import DIRECTIONS, Direction
from .catalogue import Catalogue, Equal, NoMap, OpMaps, Simplify, same_map
from .joined import joined
from .loops import Between, Loop, carried_unchanged, unrolled
from .reads import Path, Reads
from .runtime import branches, fold, is_position, operand_name, source_text, with_sources
from .tidy import tidy
from .values import Run, Value, Values, known_leaves, runs, specialized, values_of

Leaf = tuple[int, Path]
"""An operand's or parameter's number and the path of an array within its shape."""

CALLS = ("call", "fusion")
"""Opcodes that compute exactly what the computation they name computes."""

# Opcodes that hand on their first operand, tuple or array, unchanged; XLA prints the first one in the short way.
_TRANSPARENT = ("opt-barrier", "optimization-barrier", "add-dependency", "all-reduce-done", "domain")

# Opcodes that read no element of what they are given: tokens and sizes are not elements.
_READS_NOTHING = ("after-all", "get-dimension-size")

# Opcodes whose computations are analysed where they are used.
_ENTERED = (*CALLS, "async-start", *(f"{opcode}-start" for opcode in CALLS), "conditional", "while")

# Opcodes with halves of their own.  Any other operation is split by XLA into `start`, `update` and `done` with its
# name in front (`slice-start`); the start makes (operands, result, …), the done takes the result out.
_NO_PAIR = ("copy", "recv", "send")

# Opcodes whose output holds elements of the only operand, each where the map says.
_MOVES = ("bitcast", "broadcast", "copy", "reshape", "reverse", "slice", "transpose")

# Computations with values put in are analysed where they are used, one within the other no deeper than this, and as
# long as they have no more instructions than this together: loops in loops in loops have one for every run of all.
_MOST_NESTED, _MOST_SPECIALIZED = 20, 15_000

_WITHOUT_OPERANDS = ("parameter", "constant", "iota")


@dataclass(frozen=True)
class Options:
    """How to analyse. `limit` bounds how many different maps are kept between two arrays."""

    catalogue: Catalogue
    simplify: Simplify = same_map
    equal: Equal | None = None
    fold_constants: bool = True
    limit: int = 1000
    #: Told of every step, for those who want to check them: see :class:`Step`.
    observe: Callable[[Taken], None] | None = None


@dataclass(frozen=True, eq=False)
class Evaluation:
    """What the analysis takes for the values of a computation, and the computation with them put in, if it is used.

    ``known`` has the values of parameters that this rests on.
    """

    computation: Computation
    known: Mapping[Leaf, Value]
    values: Values
    specialized: Computation | None = None


@dataclass(frozen=True, eq=False)
class Join:
    """Maps, and fewer maps that have the same relation, taken together."""

    parts: tuple[IndexingMap, ...]
    result: tuple[IndexingMap, ...]


@dataclass(frozen=True, eq=False)
class Unrolling:
    """The runs that the analysis takes a loop to have, from what is known of the arrays that it carries."""

    condition: Computation
    body: Computation
    start: Mapping[Path, Value]
    runs: tuple[Run, ...]


@dataclass(frozen=True, eq=False)
class Step:
    """One step of the analysis: ``result`` has the relation of the maps ``parts``, composed in this order.

    ``known`` has the instructions whose elements stand for runtime values of the only part, when the step is
    that of putting them in.
    """

    parts: tuple[IndexingMap, ...]
    result: IndexingMap
    known: Mapping[str, Instruction] | None = None


Taken = Step | Evaluation | Join | Unrolling
"""What the analysis takes for true, for those who want to check it."""


@dataclass(frozen=True)
class ComputationMaps(Mapping[tuple[int, int], list[IndexingMap]]):
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


def computation_maps(
    module: Module,
    catalogue: Catalogue,
    simplify: Simplify = same_map,
    *,
    computation: Computation | str | None = None,
    direction: Direction = "output_to_input",
    equal: Equal | None = None,
    fold_constants: bool = True,
    limit: int = 1000,
    observe: Callable[[Taken], None] | None = None,
) -> ComputationMaps:
    """All maps between the roots and the parameters of a computation, the entry unless one is named.

    Maps that are structurally equal after `simplify` are one map; with `equal`, also those it proves equal.
    `fold_constants` replaces runtime variables that read constants or iotas by their values. Sources of the
    other runtime variables are the text of the instruction read; one inside a called computation is named
    `call/…/name`. `observe` is told of every step.
    """
    options = Options(catalogue, simplify, equal, fold_constants, limit, observe)
    return ModuleMaps(module, options).computation(computation or module.entry, direction)


def instruction_maps(
    module: Module,
    instruction: Instruction | str,
    catalogue: Catalogue,
    simplify: Simplify = same_map,
    *,
    computation: Computation | str | None = None,
    direction: Direction = "output_to_input",
    equal: Equal | None = None,
    fold_constants: bool = True,
    limit: int = 1000,
) -> ComputationMaps:
    """The maps between one instruction and its operands, in place of roots and parameters.

    A call or fusion is analysed through its computation. Other arguments are those of `computation_maps`.
    """
    options = Options(catalogue, simplify, equal, fold_constants, limit)
    return ModuleMaps(module, options).instruction(instruction, computation or module.entry, direction)


class ModuleMaps:
    """The maps of a module, each computation analysed once however often it is called or asked for."""

    def __init__(self, module: Module, options: Options) -> None:
        self.module = module
        self._analyses = {d: _Analysis(module, d, options) for d in DIRECTIONS}

    def __repr__(self) -> str:
        return f"<ModuleMaps of {self.module!r}>"

    def _analysis(self, direction: Direction) -> _Analysis:
        if direction not in self._analyses:
            raise InputError(f"{quoted(direction)} is no direction", expected=" or ".join(DIRECTIONS))
        return self._analyses[direction]

    def _named(self, computation: Computation | str) -> Computation:
        return self.module.computation(computation) if isinstance(computation, str) else computation

    def computation(self, computation: Computation | str, direction: Direction) -> ComputationMaps:
        """The maps between roots and parameters of a computation; see :func:`computation_maps`."""
        computation = self._named(computation)
        summary = self._analysis(direction).summary(computation)
        numbers = _leaf_numbers(computation)
        roots = {path: k for k, path in enumerate(_paths(computation.root.shape))}
        texts = _Texts(self.module, computation)
        found: dict[tuple[int, int, int], Reads] = {}
        for (root, (parameter, path)), reads in summary.items():
            maps = [with_sources(m, texts) for m in reads.maps]
            key = roots[root], parameter, numbers[parameter, path]
            found[key] = Reads(maps, reads.unknown, reads.at_most)
        return ComputationMaps(direction, dict(sorted(found.items())))

    def instruction(
        self, instruction: Instruction | str, computation: Computation | str, direction: Direction
    ) -> ComputationMaps:
        """The maps between an instruction and its operands; see :func:`instruction_maps`."""
        computation = self._named(computation)
        if isinstance(instruction, str):
            instruction = computation.instruction(instruction)
        frame = self._analysis(direction).frame(computation, instruction.opcode in _ENTERED)
        texts = _Texts(self.module, computation)
        found: dict[tuple[int, int, int], Reads] = {}
        numbers = [{path: k for k, path in enumerate(_paths(o.shape))} for o in instruction.operands]
        for root, path in enumerate(_paths(instruction.shape)):
            for (operand, inner), reads in frame.links(instruction, path).items():
                if reads is None:
                    reads = Reads([_identity(instruction.shape, path)])
                maps = [with_sources(m, texts) for m in frame.distinct(reads.maps)]
                found[root, operand, numbers[operand][inner]] = Reads(maps, reads.unknown, reads.at_most)
        return ComputationMaps(direction, dict(sorted(found.items())))

    def unmapped(self, computation: Computation | str) -> dict[str, tuple[NoMap, ...]]:
        """The instructions of a computation of which some map is not known, in either direction, and why."""
        computation = self._named(computation)
        found: dict[str, tuple[NoMap, ...]] = {}
        frames = [analysis.frame(computation) for analysis in self._analyses.values()]
        for instruction in computation.instructions:
            reasons: dict[NoMap, None] = {}
            for frame in frames:
                for path in _paths(instruction.shape) if instruction.operands else ():
                    for reads in frame.links(instruction, path).values():
                        if reads is not None:
                            reasons.update(dict.fromkeys(reads.unknown))
            if reasons:
                found[instruction.name] = tuple(reasons)
        return found


class _Texts:
    """Replaces paths by the text of the instruction."""

    def __init__(self, module: Module, computation: Computation) -> None:
        self.module = module
        self.computation = computation

    def __call__(self, source: RuntimeSource) -> RuntimeSource:
        return RuntimeSource(source_text(self.module, self.computation, source.hlo), source.results)


Summary = dict[tuple[Path, Leaf], Reads]
"""Per leaf of the root and leaf of a parameter."""


class _Analysis:
    """Summaries of computations, callees first."""

    def __init__(self, module: Module, direction: Direction, options: Options) -> None:
        self.module = module
        self.direction = direction
        self.options = options
        self.computations = {c.name: c for c in module.computations}
        # None marks a computation that calls itself.
        self.summaries: dict[str, Summary | None] = {}
        # Different paths compose to the same map again and again; a simplified map is its own simplification.
        self._simplified: dict[IndexingMap, IndexingMap] = {}
        self._frames: dict[str, _Frame] = {}
        self._composed: dict[tuple[IndexingMap, IndexingMap], IndexingMap] = {}
        # What is known of the parameters of computations with values put in, and these by what they were made of.
        self.known: dict[str, dict[Leaf, Value]] = {}
        self._specialized: dict[tuple[str, tuple[tuple[Leaf, Value], ...]], Computation] = {}
        self._loops: dict[str, bool] = {}
        self._nested = 0
        #: How many instructions computations with values put in may still have, together.
        self.room = _MOST_SPECIALIZED

    def summary(self, computation: Computation) -> Summary:
        """How the roots of a computation depend on its parameters."""
        found = self.summaries.get(computation.name)
        if found is None or self.computations.get(computation.name) is not computation:
            found = self.frame(computation).summary()
            if self.computations.get(computation.name) is computation:
                self.summaries[computation.name] = found
        return found

    def frame(self, computation: Computation, prepared: bool = True) -> _Frame:
        """The analysis of one computation, everything that it calls analysed before if that is wanted."""
        found = self._frames.get(computation.name)
        if found is None or found.computation is not computation:
            found = self._frames[computation.name] = _Frame(self, computation)
        if prepared and not found.prepared:
            self.prepare(computation)
            found.prepared = True
        return found

    def simplified(self, m: IndexingMap) -> IndexingMap:
        """A map in the form in which maps are compared."""
        m = tidy(m)
        found = self._simplified.get(m)
        if found is None:
            found = tidy(self.options.simplify(m))
            self._simplified[m] = self._simplified[found] = found
        return found

    def composed(self, first: IndexingMap, second: IndexingMap) -> IndexingMap:
        """The simplified composition, worked out once for every pair of maps."""
        found = self._composed.get((first, second))
        if found is None:
            found = self._composed[first, second] = self.simplified(first.compose(second))
            if self.options.observe is not None:
                self.options.observe(Step((first, second), found))
        return found

    def prepare(self, computation: Computation) -> None:
        """Summarise everything that a computation calls."""
        pending: list[tuple[Computation, bool]] = [(c, False) for c in self._callees(computation)]
        open_names = {computation.name}
        while pending:
            callee, ready = pending.pop()
            if ready:
                open_names.discard(callee.name)
                if callee.name not in self.summaries:
                    frame = self.frame(callee, prepared=False)
                    frame.prepared = True
                    self.summaries[callee.name] = frame.summary()
                continue
            if callee.name in self.summaries:
                continue
            if callee.name in open_names:
                self.summaries[callee.name] = None
                continue
            open_names.add(callee.name)
            pending.append((callee, True))
            pending.extend((c, False) for c in self._callees(callee))

    def joined(self, maps: list[IndexingMap], ranges: bool) -> list[IndexingMap]:
        """Fewer maps with the same relation, taken together, simplified."""
        found = joined(maps, ranges)
        if len(found) == len(maps):
            return maps
        simple = [m for m in dict.fromkeys(map(self.simplified, found)) if not m.is_trivially_empty]
        if self.options.observe is not None:
            self.options.observe(Join(tuple(maps), tuple(simple)))
        return simple

    def specialized(
        self, computation: Computation, known: Mapping[Leaf, Value], values: Values | None = None
    ) -> Computation:
        """The computation with everything put in that is known when that is known of its parameters; made once."""
        key = (computation.name, tuple(sorted(known.items())))
        found = self._specialized.get(key)
        if found is None:
            if values is None:
                values = values_of(self.computations, computation, known)
            # no computation that is read has such a name
            found = specialized(computation, values, f"{computation.name}@{len(self._specialized)}")
            self._specialized[key] = self.computations[found.name] = found
            self.room -= len(found.instructions)
            self.known[found.name] = dict(known)
            if self.options.observe is not None:
                self.options.observe(Evaluation(computation, known, values, found))
        return found

    def nested(self, computation: Computation) -> Summary | None:
        """The summary of a computation with values put in; None when too many are within each other."""
        if computation.name not in self.summaries and self._nested >= _MOST_NESTED:
            return None
        self._nested += 1
        try:
            return self.summary(computation)
        finally:
            self._nested -= 1

    def has_loop(self, computation: Computation) -> bool:
        """Whether a computation runs a loop, or calls one that does."""
        pending, seen = [computation], {computation.name: computation}
        while pending:
            caller = pending.pop()
            if self._loops.get(caller.name) or any(i.opcode == "while" for i in caller.instructions):
                self._loops[computation.name] = True
            if (known := self._loops.get(computation.name)) is not None:
                return known
            # what is known to have none is not looked into again
            fresh = [
                c
                for c in self._callees(caller)
                if c.name not in seen and self._loops.get(c.name) is not False
            ]
            seen.update((c.name, c) for c in fresh)
            pending += fresh
        self._loops.update(dict.fromkeys(seen, False))
        return False

    def _callees(self, computation: Computation) -> list[Computation]:
        names = {n: None for i in computation.instructions if i.opcode in _ENTERED for n in i.called}
        return [self.computations[name] for name in names if name in self.computations]


class _Frame:
    """The analysis of one computation."""

    def __init__(self, analysis: _Analysis, computation: Computation) -> None:
        self.analysis = analysis
        self.options = analysis.options
        self.direction = analysis.direction
        self.computation = computation
        self.prepared = False
        self.positions = computation.positions()
        self.known = {i.name: i for i in computation.instructions}
        self._links: dict[tuple[str, Path], dict[Leaf, Reads | None]] = {}
        self._loops: dict[str, dict[tuple[Path, Path], Reads] | NoMap] = {}

    @cached_property
    def values(self) -> Values:
        """What is known of the instructions, whatever the computation is given (but what is put in)."""
        known = self.analysis.known.get(self.computation.name, {})
        found = values_of(self.analysis.computations, self.computation, known)
        if self.options.observe is not None:
            self.options.observe(Evaluation(self.computation, known, found))
        return found

    def summary(self) -> Summary:
        if self.direction == "output_to_input":
            return self._backwards()
        return self._forwards()

    def _backwards(self) -> Summary:
        instructions = self.computation.instructions
        found: Summary = {}
        for root in _paths(self.computation.root.shape):
            # Per instruction: what is known about reading each of its leaves from this root leaf.
            states: list[dict[Path, _State]] = [{} for _ in instructions]
            states[self.computation.root_index][root] = _State(identity=True)
            for position in range(self.computation.root_index, -1, -1):
                instruction = instructions[position]
                for path, state in states[position].items():
                    if not state:
                        continue
                    if instruction.opcode == "parameter":
                        leaf = (instruction.parameter_number, path)
                        found[root, leaf] = self._reads(state, instruction.shape, path)
                        continue
                    self._settle(state)
                    for (operand, inner), link in self.links(instruction, path).items():
                        target = self.positions.get(instruction.operands[operand].name)
                        if target is not None:
                            into = states[target].setdefault(inner, _State())
                            self._extend(into, state, link, instruction.name)
        return found

    def _forwards(self) -> Summary:
        instructions = self.computation.instructions
        found: Summary = {}
        links = [
            {path: self.links(i, path) for path in _paths(i.shape)} if i.opcode != "parameter" else {}
            for i in instructions
        ]
        for start, parameter in enumerate(instructions):
            if parameter.opcode != "parameter":
                continue
            for leaf in _paths(parameter.shape):
                states: list[dict[Path, _State]] = [{} for _ in instructions]
                states[start][leaf] = _State(identity=True)
                for position in range(start + 1, self.computation.root_index + 1):
                    instruction = instructions[position]
                    for path, per_leaf in links[position].items():
                        into = _State()
                        for (operand, inner), link in per_leaf.items():
                            source = self.positions.get(instruction.operands[operand].name)
                            state = states[source].get(inner) if source is not None else None
                            if state is not None:
                                self._extend(into, state, link, instruction.name)
                        if into:
                            self._settle(into)
                            states[position][path] = into
                for path, state in states[self.computation.root_index].items():
                    key = (parameter.parameter_number, leaf)
                    found[path, key] = self._reads(state, parameter.shape, leaf)
        return found

    def _extend(self, into: _State, state: _State, link: Reads | None, name: str) -> None:
        """Add to `into` what `state` reaches over one link; None is the identity."""
        if link is None:
            into.identity = into.identity or state.identity
            into.add(state.maps)
            into.doubt(state.unknown)
            into.bound(state.at_most)
            return
        if link:
            into.doubt(state.unknown)
            into.bound(state.at_most)
        if state.identity or state.maps:
            into.doubt(link.unknown)
            into.bound(link.at_most)
        if state.identity:
            into.add(link.maps)
        if len(state.maps) * len(link.maps) > self.options.limit:
            into.doubt([NoMap(name, f"more than {self.options.limit} different maps")])
            return
        for first in state.maps:
            for second in link.maps:
                m = self.analysis.composed(first, second)
                if not m.is_trivially_empty:
                    into.maps.setdefault(m)

    def _settle(self, state: _State) -> None:
        """Drop duplicates before they are multiplied, and give up on too many maps."""
        kept = self.distinct(list(state.maps), proved=False)
        state.maps = dict.fromkeys(kept)
        if len(kept) > self.options.limit:
            state.maps = {}
            state.doubt([NoMap(self.computation.name, f"more than {self.options.limit} different maps")])

    def _reads(self, state: _State, shape: AnyShape | None, path: Path) -> Reads:
        maps = [_identity(shape, path)] if state.identity else []
        return Reads(self.distinct(maps + list(state.maps)), list(state.unknown), list(state.at_most))

    def distinct(self, maps: list[IndexingMap], proved: bool = True) -> list[IndexingMap]:
        """Simplified, without maps of empty domain, one of each relation as far as that can be told.

        On the way structure tells enough: proofs, which cost more, are for what is handed out.
        """
        simplified: dict[IndexingMap, None] = {}
        for m in maps:
            found = self.analysis.simplified(m)
            simplified.setdefault(found)
            if self.options.observe is not None and found is not m:
                self.options.observe(Step((m,), found))
        kept: list[IndexingMap] = []
        for m in simplified:
            if m.is_trivially_empty:
                continue
            if proved and self.options.equal and any(self.options.equal(m, k) for k in kept):
                continue
            kept.append(m)
        return kept

    def links(self, instruction: Instruction, path: Path) -> dict[Leaf, Reads | None]:
        """How one leaf of an instruction relates to the leaves of its operands; None is the identity."""
        key = (instruction.name, path)
        found = self._links.get(key)
        if found is None:
            found = self._find_links(instruction, path)
            for operand, inner in found:
                shape = instruction.operands[operand].shape
                if shape is not None and inner not in _paths(shape):
                    reason = (
                        f"{instruction.opcode} reads an array of operand {operand} that {shape} does not have"
                    )
                    found = self._opaque(instruction, NoMap(instruction.name, reason))
                    break
            self._links[key] = found
        return found

    def _find_links(self, instruction: Instruction, path: Path) -> dict[Leaf, Reads | None]:
        opcode = instruction.opcode
        if opcode in _WITHOUT_OPERANDS or not instruction.operands:
            return {}
        if opcode == "tuple" and path and path[0] < len(instruction.operands):
            return {(path[0], path[1:]): None}
        if opcode == "get-tuple-element":
            return self._element(instruction, path)
        if opcode in _TRANSPARENT:
            return {(0, path): None}
        if opcode in CALLS:
            return self._call(instruction, path)
        if opcode in _READS_NOTHING:
            return {}
        if opcode == "copy-done":
            return {(0, (0, *path)): None}
        if opcode == "copy-start":
            return {(0, ()): None} if path in ((0,), (1,)) else {}
        if opcode == "conditional":
            return self._conditional(instruction, path)
        if opcode == "while":
            return self._while(instruction, path)
        base, _, half = opcode.rpartition("-")
        if base and base not in _NO_PAIR:
            if half == "start":
                return self._start(instruction, path)
            if half in ("update", "done") and self._begun(instruction.operands[0].name, base):
                return {(0, path if half == "update" else (1, *path)): None}
        return self._of_op(instruction, path)

    def _begun(self, name: str, base: str) -> bool:
        """Whether a value may be what the start of such an operation makes; one that comes from outside may."""
        made = self.known.get(name)
        through = ("get-tuple-element", "parameter", "optimization-barrier", "opt-barrier")
        return made is None or made.opcode in (f"{base}-start", f"{base}-update", *through)

    def _of_op(self, instruction: Instruction, path: Path) -> dict[Leaf, Reads | None]:
        """What the catalogue says of an instruction."""
        answer = self._ask(instruction)
        if isinstance(answer, NoMap):
            return self._opaque(instruction, answer)
        paths = _paths(instruction.shape)
        output = paths.index(path)
        if output >= len(answer):
            return self._opaque(instruction, NoMap(instruction.name, "the catalogue has no such output"))
        per_operand = [[self._own(m, instruction) for m in maps] for maps in answer[output]]
        return {(k, ()): Reads(maps) for k, maps in enumerate(per_operand) if maps}

    def _element(self, instruction: Instruction, path: Path) -> dict[Leaf, Reads | None]:
        try:
            return {(0, (instruction.integer("index"), *path)): None}
        except InputError as error:
            return self._opaque(instruction, NoMap(instruction.name, str(error)))

    def _start(self, instruction: Instruction, path: Path) -> dict[Leaf, Reads | None]:
        """The start of an asynchronous pair: its shape is (operands, result, …)."""
        shape, made = instruction.shape, performed(instruction)
        if made is not None and made.shape is shape:
            return self._of_op(made, path)
        if made is None or not isinstance(shape, TupleShape) or not path:
            reason = f"{instruction.opcode} makes {shape}, expected (operands, result, …)"
            return self._opaque(instruction, NoMap(instruction.name, reason))
        if path[0] == 0:
            # one operand stands for itself, several are a tuple
            inside = path[1:]
            if isinstance(shape.elements[0], TupleShape) and inside:
                return {(inside[0], inside[1:]): None} if inside[0] < len(instruction.operands) else {}
            return {(0, inside): None}
        if path[0] > 1:
            return {}
        return self._call(made, path[1:]) if made.opcode in CALLS else self._of_op(made, path[1:])

    def _conditional(self, instruction: Instruction, path: Path) -> dict[Leaf, Reads | None]:
        """Which branch runs depends on values: what any of them reads counts as read, and so does the choice."""
        links: dict[Leaf, Reads | None] = {(0, ()): Reads([self._of_scalar(instruction.shape, path)])}
        names = branches(instruction)
        if len(names) != len(instruction.operands) - 1:
            reason = f"{len(names)} branches for {len(instruction.operands) - 1} operands"
            return self._opaque(instruction, NoMap(instruction.name, reason))
        for k, name in enumerate(names, 1):
            branch = replace(instruction, opcode="call", operands=(instruction.operands[k],))
            for (_, leaf), link in self._call(branch, path, name, f"{instruction.name}#{k - 1}").items():
                links[k, leaf] = link
        return links

    def _of_scalar(self, shape: AnyShape | None, path: Path) -> IndexingMap:
        """Every element of an array reads one scalar."""
        m = _identity(shape, path)
        if self.direction == "output_to_input":
            return m.with_(results=())
        ranges = tuple(Variable(f"s{k}", v.lo, v.hi) for k, v in enumerate(m.dims))
        return IndexingMap((), ranges, results=tuple(var(v.name) for v in ranges))

    def _while(self, instruction: Instruction, path: Path) -> dict[Leaf, Reads | None]:
        if len(instruction.operands) != 1:
            return self._opaque(instruction, NoMap(instruction.name, "a while has one operand"))
        loop = self._loops.get(instruction.name)
        if loop is None:
            loop = self._loops[instruction.name] = self._loop(instruction)
        if isinstance(loop, NoMap):
            return self._opaque(instruction, loop)
        return {(0, leaf): reads for (root, leaf), reads in loop.items() if root == path and reads}

    def _unrolled(self, instruction: Instruction) -> Between | None:
        """How every array after a loop depends on those before it, if all runs are known and their maps are few."""
        analysis = self.analysis
        calls = instruction.calls
        condition, body = (
            analysis.computations.get(calls.get(name, ("",))[0]) for name in ("condition", "body")
        )
        if condition is None or body is None or instruction.shape is None:
            return None
        if any(len(c.parameters) != 1 or c.parameters[0].parameter_number for c in (condition, body)):
            return None
        paths = _paths(instruction.shape)
        if not all(_fits(s, instruction.shape) for s in (body.root.shape, body.parameters[0].shape)):
            return None
        start = known_leaves(instruction.operands[0], self.values)
        found = runs(analysis.computations, condition, body, start) if start else None
        if found is None:
            return None
        made: list[Between] = []
        for run in found:
            if analysis.room <= 0:
                return None
            known = {(0, path): value for path, value in run.before.items()}
            summary = analysis.nested(analysis.specialized(body, known, run.values))
            if summary is None or any(r.unknown or any(map(_has_values, r.maps)) for r in summary.values()):
                return None
            made.append({(root, leaf): reads for (root, (_, leaf)), reads in summary.items()})
        identity = {path: analysis.simplified(_identity(instruction.shape, path)) for path in paths}
        between = unrolled(self.direction, made, analysis.composed, analysis.joined, identity)
        if between is not None and self.options.observe is not None:
            self.options.observe(Unrolling(condition, body, start, tuple(found)))
        return between

    def _loop(self, instruction: Instruction) -> dict[tuple[Path, Path], Reads] | NoMap:
        """How every array after a loop depends on those before it."""
        exact = self._unrolled(instruction)
        if exact is not None:
            return {key: Reads(self.distinct(r.maps), r.unknown, r.at_most) for key, r in exact.items()}
        calls = instruction.calls
        summaries: list[Between] = []
        for attribute in ("body", "condition"):
            name = calls.get(attribute, ("",))[0]
            summary = self.analysis.summaries.get(name)
            if summary is None:
                return NoMap(instruction.name, f"computation {name} is not defined, or calls itself")
            summaries.append({(root, leaf): reads for (root, (_, leaf)), reads in summary.items()})
        body = self.analysis.computations[calls["body"][0]]
        paths = _paths(instruction.shape)
        if [p for p in paths if p not in _paths(body.root.shape)]:
            return NoMap(instruction.name, "the body makes another tuple than the loop carries")
        return Loop(
            instruction.name,
            self.direction,
            self.analysis.simplified,
            {path: _identity(instruction.shape, path) for path in paths},
            {path: self._of_scalar(instruction.shape, path) for path in paths},
            summaries[0],
            summaries[1],
            frozenset(carried_unchanged(body, paths)),
        ).maps()

    def _call(
        self, instruction: Instruction, path: Path, name: str | None = None, where: str = ""
    ) -> dict[Leaf, Reads | None]:
        """What a called computation reads, seen from the call; ``where`` is the call as a path names it."""
        where = where or instruction.name
        if name is None:
            name = instruction.called[0] if instruction.called else None
        callee = self.analysis.computations.get(name) if name is not None else None
        if name is None or callee is None:
            return self._opaque(instruction, NoMap(where, f"computation {name} is not defined"))
        summary = self.analysis.summaries.get(name)
        if summary is None:
            return self._opaque(instruction, NoMap(where, f"computation {name} calls itself"))
        known = self._given(instruction, callee)
        if known:
            special = self.analysis.specialized(callee, known)
            found = self.analysis.nested(special)
            if found is not None:
                callee, summary = special, found
        if len(callee.parameters) != len(instruction.operands):
            reason = (
                f"{len(instruction.operands)} operands for the {len(callee.parameters)} parameters of {name}"
            )
            return self._opaque(instruction, NoMap(where, reason))
        if [p.parameter_number for p in callee.parameters] != list(range(len(callee.parameters))):
            reason = f"the parameters of {name} are not numbered from 0"
            return self._opaque(instruction, NoMap(where, reason))
        pairs = [(callee.root.shape, instruction.shape)]
        pairs += [(p.shape, instruction.operands[p.parameter_number].shape) for p in callee.parameters]
        for inside, outside in pairs:
            if not _fits(inside, outside):
                reason = f"{name} is of {inside} where the call has {outside}"
                return self._opaque(instruction, NoMap(where, reason))
        links: dict[Leaf, Reads | None] = {}
        for (root, leaf), reads in summary.items():
            if root == path:
                lifted = [self._lifted(m, instruction, callee, where) for m in reads.maps]
                links[leaf] = Reads(lifted, reads.under(where).unknown, reads.under(where).at_most)
        return links

    def _given(self, instruction: Instruction, callee: Computation) -> dict[Leaf, Value]:
        """What is known of the operands of a call, if that may say more of what it reads: how often loops run."""
        if self.analysis.room <= 0:
            return {}
        if self.computation.name not in self.analysis.known and not self.analysis.has_loop(callee):
            return {}
        return {
            (k, path): value
            for k, o in enumerate(instruction.operands)
            for path, value in known_leaves(o, self.values).items()
        }

    def _opaque(self, instruction: Instruction, reason: NoMap) -> dict[Leaf, Reads | None]:
        return {
            (k, path): Reads([], [reason])
            for k, o in enumerate(instruction.operands)
            for path in _paths(o.shape)
        }

    def _ask(self, instruction: Instruction) -> OpMaps | NoMap:
        """The catalogue's answer; arguments that it cannot make sense of are a reason, not a crash."""
        where = instruction.name
        if instruction.shape is None:
            return NoMap(where, "the shape is not known")
        if not all(isinstance(o.shape, Shape) for o in instruction.operands):
            return NoMap(where, f"{instruction.opcode} of a tuple")
        try:
            answer = self.options.catalogue.maps(instruction, self.direction)
        except InputError as error:
            return NoMap(where, str(error))
        return NoMap(where, answer.reason) if isinstance(answer, NoMap) else answer

    def _own(self, m: IndexingMap, instruction: Instruction) -> IndexingMap:
        """A catalogue's map with its sources as paths."""
        names = {o.name for o in instruction.operands}

        def rename(source: RuntimeSource) -> RuntimeSource:
            name = operand_name(source.hlo)
            if is_position(source.hlo):
                return source
            if name not in names:
                raise InputError(f"{instruction.name}: the runtime source {source.hlo} is no operand")
            return RuntimeSource(name, source.results)

        return self._resolved(with_sources(m, rename))

    def _lifted(
        self, m: IndexingMap, instruction: Instruction, callee: Computation, where: str
    ) -> IndexingMap:
        """A callee's map with its sources seen from the call: parameters are operands, others are inside."""
        operands = {p.name: instruction.operands[p.parameter_number].name for p in callee.parameters}

        def rename(source: RuntimeSource) -> RuntimeSource:
            if is_position(source.hlo):
                return source
            outer = operands.get(source.hlo)
            return RuntimeSource(f"{where}/{source.hlo}" if outer is None else outer, source.results)

        return self._resolved(with_sources(m, rename))

    def _resolved(self, m: IndexingMap) -> IndexingMap:
        if not m.rts:
            return m
        m = with_sources(m, self._origin)
        if not self.options.fold_constants:
            return m
        folded = fold(m, self.known)
        if self.options.observe is not None and folded is not m:
            self.options.observe(Step((m,), folded, self.known))
        return folded

    def _origin(self, source: RuntimeSource) -> RuntimeSource:
        """Follow a source through instructions that only move elements, to the one that made the value."""
        while (instruction := self.known.get(source.hlo)) is not None:
            if instruction.opcode == "get-tuple-element":
                made = self.known.get(instruction.operands[0].name)
                index = instruction.attribute("index")
                if made is None or made.opcode != "tuple" or not isinstance(index, int):
                    break
                if not 0 <= index < len(made.operands):
                    break
                source = RuntimeSource(made.operands[index].name, source.results)
                continue
            if instruction.opcode not in _MOVES or not _same_elements(instruction):
                break
            answer = self._moved(instruction)
            if answer is None or answer.ranges or answer.rts:
                break
            dims = [var(v.name) for v in answer.dims]
            mapping = dict(zip(dims, source.results, strict=True))
            source = RuntimeSource(
                instruction.operands[0].name, tuple(substitute_all(answer.results, mapping))
            )
        return source

    def _moved(self, instruction: Instruction) -> IndexingMap | None:
        """The output-to-input map of an instruction that moves elements of its only operand."""
        try:
            answer = self.options.catalogue.maps(instruction, "output_to_input")
        except InputError:
            return None
        if isinstance(answer, NoMap) or len(answer) != 1 or len(answer[0]) != 1 or len(answer[0][0]) != 1:
            return None
        return answer[0][0][0]


@dataclass
class _State:
    """What is known about one leaf on one walk: whether it is the start, its maps, its doubts."""

    identity: bool = False
    maps: dict[IndexingMap, None] = field(default_factory=dict)
    unknown: dict[NoMap, None] = field(default_factory=dict)
    at_most: dict[NoMap, None] = field(default_factory=dict)

    def bound(self, reasons: Mapping[NoMap, None] | list[NoMap]) -> None:
        self.at_most.update(dict.fromkeys(reasons))

    def add(self, maps: Mapping[IndexingMap, None] | list[IndexingMap]) -> None:
        self.maps.update(dict.fromkeys(maps))

    def doubt(self, reasons: Mapping[NoMap, None] | list[NoMap]) -> None:
        self.unknown.update(dict.fromkeys(reasons))

    def __bool__(self) -> bool:
        return self.identity or bool(self.maps) or bool(self.unknown)


def _has_values(m: IndexingMap) -> bool:
    """Whether a map has runtime values other than a replica's position."""
    return any(v.source is None or not is_position(v.source.hlo) for v in m.rts)


def performed(instruction: Instruction) -> Instruction | None:
    """The operation that the start of an asynchronous pair performs; None for a start of another shape.

    An instruction that is no such start performs itself.
    """
    base, _, half = instruction.opcode.rpartition("-")
    if half != "start" or not base or base in _NO_PAIR:
        return instruction
    if base == "all-reduce":
        return replace(instruction, opcode=base)
    shape = instruction.shape
    if not isinstance(shape, TupleShape) or len(shape.elements) < 2:
        return None
    return replace(instruction, opcode="call" if base == "async" else base, shape=shape.elements[1])


def _fits(inside: AnyShape | None, outside: AnyShape | None) -> bool:
    """Whether a computation's shape is that of its call; layouts may differ, and what is not known fits."""
    if inside is None or outside is None or inside is outside:
        return True
    one, two = ([(path, a.dims) for path, a in leaves(shape)] for shape in (inside, outside))
    return one == two


def _same_elements(instruction: Instruction) -> bool:
    if len(instruction.operands) != 1:
        return False
    operand, shape = instruction.operands[0].shape, instruction.shape
    return (
        isinstance(operand, Shape) and isinstance(shape, Shape) and operand.element_type == shape.element_type
    )


def _paths(shape: AnyShape | None) -> list[Path]:
    """Paths of the arrays of a shape; a shape that is not known counts as one array."""
    return [()] if shape is None else [path for path, _ in leaves(shape)]


def _leaf_numbers(computation: Computation) -> dict[Leaf, int]:
    return {
        (p.parameter_number, path): k
        for p in computation.parameters
        for k, path in enumerate(_paths(p.shape))
    }


def _identity(shape: AnyShape | None, path: Path) -> IndexingMap:
    """The identity on one array of a shape."""
    array = next((a for p, a in leaves(shape) if p == path), None) if shape is not None else None
    if array is None:
        raise InputError("an array of unknown shape has no identity map")
    dims = tuple(Variable(f"d{k}", 0, n - 1) for k, n in enumerate(array.dims))
    return IndexingMap(dims, results=tuple(var(v.name) for v in dims))
