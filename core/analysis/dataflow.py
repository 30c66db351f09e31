"""The dataflow analysis of one computation: the reads of each instruction, and their composition along all paths.

Walks lead from a reader back to what it reads, in both directions of maps.  The reads of one instruction come from its
op, or from the summaries of the computations that it runs.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Collection, Container, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

from ..errors import InputError
from ..expr import Expr, Int, substitute_all, var
from ..facts import Facts
from ..hlo import Computation, Instruction, Operand, Shape, TupleShape, leaves
from ..hlo.shape import AnyShape, unsized
from ..indexing_map import IndexingMap, RuntimeSource, Variable
from ..interval import Interval
from .dependence import IDENTITY, Leaf, Link, NoMap, Path, Reads, Summary, depending, paths_of, union
from .loops import Between, Loop, carried_unchanged, ranged, unrolled
from .runtime import branches, fold, is_position, operand_name, reads_position, with_sources, written_path
from .steps import CompositionStep, EvaluationStep, FollowStep, MaskStep, OperandStep, UnrollingStep
from .tables import predicate_domains
from .values import CALLS, Value, Values, bits_of, constant_of, known_leaves, runs, values_of, written

if TYPE_CHECKING:
    from .summaries import Analysis

# Opcodes that return their first operand, tuple or array, unchanged; XLA prints the first one in its short spelling.
TRANSPARENT = ("opt-barrier", "optimization-barrier", "add-dependency", "all-reduce-done", "domain")

# Opcodes that read no element of their operands: tokens and sizes are not elements.
READS_NOTHING = ("after-all", "get-dimension-size", "send-done")

ENTERED = (*CALLS, "async-start", *(f"{opcode}-start" for opcode in CALLS), "conditional", "while")
"""Opcodes whose computations are analysed at the call."""

# Opcodes with asynchronous halves of their own.  XLA splits any other operation into `start`, `update` and `done` with
# its name in front (`slice-start`); the start returns (operands, result, …), the done extracts the result.
_NO_PAIR = ("copy", "recv", "send")

# Opcodes that read arrays of other replicas.
_COLLECTIVES = (
    "all-gather",
    "all-reduce",
    "all-to-all",
    "collective-broadcast",
    "collective-permute",
    "ragged-all-to-all",
    "reduce-scatter",
)

_RECEIVED = "another replica sends it, and what its values depend on is not followed"
_OTHER_REPLICA = "its runtime values are those of a replica that sends, which are not followed: any value counts"

# Opcodes that move elements: each element of the output is the element of an operand that the map names.
_MOVES = ("bitcast", "broadcast", "concatenate", "copy", "reshape", "reverse", "slice", "transpose")

_WITHOUT_OPERANDS = ("parameter", "constant", "iota")

# A claim, the mask that it implies in row-major order, the mask's sizes, and the index at which it is read.
Mask = tuple[OperandStep, Value, Sequence[int], Sequence[Expr]]

# At most this many maps are kept separate on a walk; more of them are joined.
_APART = 8

# Among more maps than this, equal relations of different forms are not looked for: every pair would have to be compared.
_COMPARED = 16


class Dataflow:
    """The analysis of one computation."""

    def __init__(self, analysis: Analysis, computation: Computation) -> None:
        self.analysis = analysis
        self.options = analysis.options
        self.direction = analysis.direction
        self.computation = computation
        self.positions = computation.positions
        self.known = {i.name: i for i in computation.instructions}
        self._links: dict[tuple[str, Path], dict[Leaf, Link]] = {}
        self._loops: dict[str, Between | NoMap] = {}
        self._evaluated: dict[str, Value | None] = {}
        self._behind: Values = {}  # the values of what these are computed from
        # The states of walks; equal ones are one object, so that others can be found by their ids.
        self._states: dict[Link, Link] = {IDENTITY: IDENTITY}
        self._extensions: dict[tuple[int, int | tuple[IndexingMap | None, ...]], Link] = {}
        self._junctions: dict[tuple[int, ...], Link] = {}

    @property
    def given(self) -> Mapping[Leaf, Value]:
        """The known values of the parameters of a specialized computation; empty for others."""
        return self.analysis.known.get(self.computation.name, {})

    @cached_property
    def values(self) -> Values:
        """The values of instructions that are known for all inputs, given those of ``given``."""
        found = values_of(self.analysis.computations, self.computation, self.given)
        self.options.observe(EvaluationStep(self.computation, self.given, found))
        return found

    def summary(self) -> Summary:
        """Return how the leaves of the root depend on those of the parameters."""
        computation = self.computation
        parameters = [k for k, i in enumerate(computation.instructions) if i.opcode == "parameter"]
        found: Summary = {}
        for root in paths_of(computation.root.shape):
            for (k, path), reads in self.between(computation.root_index, root, parameters).items():
                found[root, (computation.instructions[k].parameter_number, path)] = reads
        return found

    def between(
        self, start: int, path: Path, ends: Sequence[int], inside: Container[int] | None = None
    ) -> dict[tuple[int, Path], Reads[IndexingMap]]:
        """Return how one leaf of an instruction depends on the leaves of others, over all paths of the computation.

        Instructions are given by position.  If ``inside`` is given, paths only lead through its instructions.  What
        another replica sends may depend on anything.
        """
        found = self._walked(start, path, {*ends, *self._received}, inside)
        instructions = self.computation.instructions
        reached = {k: instructions[k].name for k, _ in found if k in self._received}
        if reached:
            unknown: Reads[IndexingMap] = Reads((), tuple([NoMap(name, _RECEIVED) for name in reached.values()]))
            places = [(k, leaf) for k in ends for leaf in paths_of(instructions[k].shape)]
            return {place: union([found.get(place, unknown), unknown]) for place in places}
        return found

    @cached_property
    def _received(self) -> set[int]:
        """The positions of the instructions that receive what another replica sends, running the same program."""
        found = {k: i for k, i in enumerate(self.computation.instructions) if _between_replicas(i, "recv")}
        every = self.analysis.module.instructions() if found else ()
        channels = {i.attribute("channel_id") for _, i in every if _between_replicas(i, "send")}
        return {k for k, i in found.items() if i.attribute("channel_id") in channels}

    def _walked(
        self, start: int, path: Path, ends: Collection[int], inside: Container[int] | None
    ) -> dict[tuple[int, Path], Reads[IndexingMap]]:
        """Return how one leaf of an instruction depends on the leaves of others, over all paths from operand to user."""
        instructions = self.computation.instructions
        leads = depending(self.computation, ends, start)
        arrived: dict[int, dict[Path, list[Link]]] = {start: {path: [IDENTITY]}}
        pending = [-start]
        found: dict[tuple[int, Path], Reads[IndexingMap]] = {}
        while pending:
            position = -heapq.heappop(pending)
            instruction = instructions[position]
            through = position == start or inside is None or position in inside
            for leaf, parts in arrived.pop(position).items():
                state = self._joined(parts)
                if position in ends:
                    found[position, leaf] = self.resolved(state, instruction.shape, leaf)
                if not through or instruction.opcode == "parameter":
                    continue
                for (operand, inner), link in self.links(instruction, leaf).items():
                    target = self.positions.get(instruction.operands[operand].name)
                    if target is None or target not in leads:
                        continue
                    after = self._extended(state, link, instruction.name)
                    if after:
                        if target not in arrived:
                            arrived[target] = {}
                            heapq.heappush(pending, -target)
                        arrived[target].setdefault(inner, []).append(after)
        return found

    def _extended(self, state: Link, link: Link, name: str) -> Link:
        """Extend the maps and reasons of ``state`` by one link; memoized."""
        if link is IDENTITY:
            return state
        many = len(state.maps) * len(link.maps) > self.options.limit
        # repeated layers have equal maps and share an entry; reasons name their instruction and cannot be shared
        key = (id(state), id(link) if many or link.unknown or link.at_most or link.sent else link.maps)
        found = self._extensions.get(key)
        if found is None:
            parts: list[Link] = [replace(state, maps=(), sent=state.sent or link.sent)]
            links = link.maps
            if state.maps:
                parts.append(replace(link, maps=()))
            if state.sent and any(m.rts for m in links if m is not None):
                links = tuple([ranged(m, positions=True) for m in links if m is not None])
                parts.append(Reads(at_most=(NoMap(name, _OTHER_REPLICA),)))
            if many:
                parts.append(Reads((), (self._too_many(name),)))
            else:
                after = self.analysis.after
                parts.append(Reads(tuple([after(m, n) for m in state.maps for n in links if n is not None])))
            found = self._extensions[key] = self._settled(union(parts))
        return found

    def _joined(self, parts: list[Link]) -> Link:
        """Return the union of the states that several paths lead to."""
        ways = {id(part): part for part in parts}
        key = tuple(ways)
        if len(key) == 1:
            return parts[0]
        found = self._junctions.get(key)
        if found is None:
            found = self._junctions[key] = self._settled(union(ways.values()))
        return found

    def _settled(self, state: Link) -> Link:
        """Drop empty maps, join many maps before they multiply, and give up if too many remain."""
        kept = [m for m in state.maps if m is None or not m.is_trivially_empty]
        if len(kept) > _APART:
            fewer = self.analysis.joined([m for m in kept if m is not None])
            kept = [*([None] if None in kept else []), *fewer]
        if len(kept) > self.options.limit:
            kept = []
            state = union([state, Reads((), (self._too_many(self.computation.name),))])
        state = replace(state, maps=tuple(kept))
        return self._states.setdefault(state, state)

    def _too_many(self, name: str) -> NoMap:
        return NoMap(name, f"more than {self.options.limit} different maps")

    def resolved(self, reads: Link, shape: AnyShape | None, path: Path) -> Reads[IndexingMap]:
        """Return reads of an array with its identity map, and with distinct maps."""
        if None in reads.maps and unsized(shape):
            return Reads((), (*reads.unknown, NoMap(self.computation.name, NO_SIZE)), reads.at_most)
        maps = [identity_of(shape, path) if m is None else m for m in reads.maps]
        return Reads(self.distinct(maps), reads.unknown, reads.at_most, reads.sent)

    def distinct(self, maps: Sequence[IndexingMap]) -> tuple[IndexingMap, ...]:
        """Simplify maps, drop empty ones, and keep one map for each relation if the maps are few and it can be decided."""
        simple = [m for m in dict.fromkeys(map(self.analysis.simplified, maps)) if not m.is_trivially_empty]
        if self.options.equal is None or len(simple) > _COMPARED:
            return tuple(simple)
        kept: list[IndexingMap] = []
        for m in simple:
            if not any(self.options.equal(m, k) for k in kept):
                kept.append(m)
        return tuple(kept)

    def links(self, instruction: Instruction, path: Path) -> dict[Leaf, Link]:
        """Return how one leaf of an instruction relates to the leaves of its operands."""
        key = (instruction.name, path)
        found = self._links.get(key)
        if found is None:
            found = self._find_links(instruction, path)
            for operand, inner in found:
                shape = instruction.operands[operand].shape
                if shape is not None and inner not in paths_of(shape):
                    reason = f"{instruction.opcode} reads an array of operand {operand} that {shape} does not have"
                    found = self._opaque(instruction, reason)
                    break
            self._links[key] = found
        return found

    def _find_links(self, instruction: Instruction, path: Path) -> dict[Leaf, Link]:
        opcode = instruction.opcode
        if opcode in _WITHOUT_OPERANDS or not instruction.operands:
            return {}
        if opcode == "tuple" and path and path[0] < len(instruction.operands):
            return {(path[0], path[1:]): IDENTITY}
        if opcode == "get-tuple-element":
            try:
                return {(0, (instruction.integer("index"), *path)): IDENTITY}
            except InputError as error:
                return self._opaque(instruction, str(error))
        if opcode in TRANSPARENT:
            return {(0, path): IDENTITY}
        if opcode in CALLS:
            return self._call(instruction, path)
        if opcode in READS_NOTHING:
            return {}
        if any(map(unsized, (instruction.shape, *instruction.operand_shapes))):
            return self._opaque(instruction, NO_SIZE)
        if opcode in ("copy-done", "recv-done"):
            # the array that was copied or received; the token has no elements
            return {(0, (0, *path[opcode == "recv-done" :])): IDENTITY} if path[:1] != (1,) else {}
        if opcode == "copy-start":
            return {(0, ()): IDENTITY} if path in ((0,), (1,)) else {}
        if opcode == "conditional":
            return self._conditional(instruction, path)
        if opcode == "while":
            return self._while(instruction, path)
        base, _, half = opcode.rpartition("-")
        if base and base not in _NO_PAIR:
            if half == "start":
                return self._start(instruction, path)
            if half in ("update", "done") and self._begun(instruction.operands[0].name, base):
                return {(0, path if half == "update" else (1, *path)): IDENTITY}
        return self._of_op(instruction, path)

    def _begun(self, name: str, base: str) -> bool:
        """Return whether a value may come from the start of such a pair; a value from outside may."""
        made = self.known.get(name)
        through = ("get-tuple-element", "parameter", "optimization-barrier", "opt-barrier")
        return made is None or made.opcode in (f"{base}-start", f"{base}-update", *through)

    def _of_op(self, instruction: Instruction, path: Path) -> dict[Leaf, Link]:
        """Return the catalogue's maps, cached for instructions that differ in names only."""
        # the reader creates one object for each spelling
        spelled = (instruction.shape, instruction.attributes, *instruction.operand_shapes)
        key = (instruction.opcode, path, *map(id, spelled))
        found = self.analysis.links.get(key)
        if found is not None:
            return found[0]
        try:
            answer = self.options.catalogue.maps(_with_arrays(instruction), self.direction)
        except InputError as error:
            return self._opaque(instruction, str(error))
        output = paths_of(instruction.shape).index(path)
        if output >= len(answer):
            return self._opaque(instruction, "the catalogue has no such output")
        own = any(r.unknown or r.at_most or any(m.rts for m in r.maps) for r in answer[output])
        per_operand = [[self._own(m, instruction) for m in r.maps] for r in answer[output]]
        if instruction.opcode == "select":
            branches = self._masked(instruction, per_operand[1:], self._predicate)
            per_operand = [per_operand[0], *branches]
        elif instruction.opcode == "scatter" and per_operand[0] and per_operand[0][0].rts:
            per_operand[:1] = self._masked(instruction, per_operand[:1], self._landing)
        places = [(k, inner) for k, o in enumerate(instruction.operands) for inner in paths_of(o.shape)]
        sent = instruction.opcode in _COLLECTIVES
        links: dict[Leaf, Link] = {
            leaf: replace(reads, maps=tuple(maps), sent=sent)
            for leaf, reads, maps in zip(places, answer[output], per_operand, strict=True)
            if maps or reads.unknown
        }
        if not own and instruction.opcode != "select":
            self.analysis.links[key] = links, spelled
        return links

    def _masked(
        self, instruction: Instruction, branches: list[list[IndexingMap]], mask: Callable[..., Mask | None]
    ) -> list[list[IndexingMap]]:
        """Restrict the maps to operands to the elements that a known mask selects, if constraints can express it."""
        if any(len(maps) != 1 or maps[0].results != maps[0].dim_vars for maps in branches):
            return branches
        found = mask(instruction, branches[0][0].dim_vars)
        if found is None:
            return branches
        claim, value, dims, index = found
        same = len(set(value)) == 1
        domains = predicate_domains(value[:1], (), ()) if same else predicate_domains(value, dims, index)
        if domains is None:
            return branches
        masked = [
            [m.with_(rts=(), constraints=domain) for domain in alternatives]
            for (m,), alternatives in zip(branches, domains[-len(branches) :], strict=True)
        ]
        self.options.observe(MaskStep(instruction, claim, [m for (m,) in branches], masked))
        return masked

    def _landing(self, scatter: Instruction, index: tuple[Expr, ...]) -> Mask | None:
        """Return the mask of the elements on which updates of a scatter with known indices land."""
        # windows that begin at 0 in all dimensions have no indices
        starts = self._known_value(scatter.operands[1].name) if scatter.operand_arrays[1].size else ()
        found = None if starts is None else written(scatter, starts)
        if starts is None or found is None:
            return None
        claim = self._operands(scatter, {(1, ()): starts})
        value, axes = found
        operand = scatter.operand_arrays[0]
        return claim, value, [operand.dims[d] for d in axes], [index[d] for d in axes]

    def _predicate(self, select: Instruction, index: tuple[Expr, ...]) -> Mask | None:
        """Return the known predicate of a select, before it is broadcast."""
        reader = select
        while (made := self.known.get(reader.operands[0].name)) is not None and made.opcode == "broadcast":
            moved = self._moved(made)
            if len(moved) != 1 or len(moved[0][1].dims) != len(index):
                return None
            ((_, m),) = moved
            places: dict[Expr, Expr] = dict(zip(m.dim_vars, index, strict=True))
            reader, index = made, tuple(substitute_all(m.results, places))
        name, shape = reader.operands[0].name, reader.operands[0].shape
        value = self._known_value(name)
        if value is None or not isinstance(shape, Shape):
            return None
        return self._operands(reader, {(0, ()): value}), value, shape.dims, index

    def _operands(self, instruction: Instruction, operands: dict[Leaf, Value]) -> OperandStep:
        """Return the claim that operands have these values."""
        evaluated = {*self._behind, *self.__dict__.get("values", ())}
        return OperandStep(self.computation, self.given, evaluated, instruction, operands)

    @cached_property
    def _static_names(self) -> set[str]:
        """The instructions whose value may be known: they depend on no unknown parameter."""
        known = {k for k, _ in self.given}
        found: set[str] = set()
        for i in self.computation.instructions:
            if i.opcode == "parameter":
                fixed = i.parameter_number in known
            else:
                fixed = i.opcode in ("constant", "iota", *CALLS) or bool(i.operands)
            if fixed and all(o.name in found for o in i.operands):
                found.add(i.name)
        return found

    def _start(self, instruction: Instruction, path: Path) -> dict[Leaf, Link]:
        """Return the links of the start of an asynchronous pair, whose shape is (operands, result, …)."""
        shape, made = instruction.shape, performed(instruction)
        if made is not None and made.shape is shape:
            return self._of_op(made, path)
        if made is None or not isinstance(shape, TupleShape) or not path:
            reason = f"{instruction.opcode} makes {shape}, expected (operands, result, …)"
            return self._opaque(instruction, reason)
        if path[0] == 0:
            # a single operand is not wrapped in a tuple
            inside = path[1:]
            if isinstance(shape.elements[0], TupleShape) and inside:
                return {(inside[0], inside[1:]): IDENTITY} if inside[0] < len(instruction.operands) else {}
            return {(0, inside): IDENTITY}
        if path[0] > 1:
            return {}
        return self._call(made, path[1:]) if made.opcode in CALLS else self._of_op(made, path[1:])

    def _conditional(self, instruction: Instruction, path: Path) -> dict[Leaf, Link]:
        """Return the reads of all branches, and of the value that selects the branch."""
        links: dict[Leaf, Link] = {(0, ()): Reads((self._of_scalar(instruction.shape, path),))}
        names = branches(instruction)
        if len(names) != len(instruction.operands) - 1:
            reason = f"{len(names)} branches for {len(instruction.operands) - 1} operands"
            return self._opaque(instruction, reason)
        for k, name in enumerate(names, 1):
            branch = replace(instruction, opcode="call", operands=(instruction.operands[k],))
            for (_, leaf), link in self._call(branch, path, name, f"{instruction.name}#{k - 1}").items():
                links[k, leaf] = link
        return links

    def _of_scalar(self, shape: AnyShape | None, path: Path) -> IndexingMap:
        """Return the map by which every element of an array reads one scalar."""
        m = identity_of(shape, path)
        if self.direction == "output_to_input":
            return m.with_(results=())
        ranges = tuple(Variable(f"s{k}", v.lo, v.hi) for k, v in enumerate(m.dims))
        return IndexingMap((), ranges, results=tuple(var(v.name) for v in ranges))

    def _while(self, instruction: Instruction, path: Path) -> dict[Leaf, Link]:
        if len(instruction.operands) != 1:
            return self._opaque(instruction, "a while has one operand")
        loop = self._loops.get(instruction.name)
        if loop is None:
            loop = self._loops[instruction.name] = self._loop(instruction)
        if isinstance(loop, NoMap):
            return self._opaque(instruction, loop.reason)
        return {(0, leaf): reads for (root, leaf), reads in loop.items() if root == path and reads}

    def _unrolled(self, instruction: Instruction) -> Between | None:
        """Return how arrays after a loop depend on those before it, if all runs are known and the maps are few."""
        analysis = self.analysis
        calls = instruction.calls
        condition, body = (analysis.computations.get(calls.get(name, ("",))[0]) for name in ("condition", "body"))
        if condition is None or body is None or instruction.shape is None:
            return None
        if any(len(c.parameters) != 1 or c.parameters[0].parameter_number for c in (condition, body)):
            return None
        paths = paths_of(instruction.shape)
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
        every = [reads for run in made for reads in run.values()]
        if any(r.sent for r in every) and any(m.rts for r in every for m in r.maps):
            return None
        identity = {path: analysis.simplified(identity_of(instruction.shape, path)) for path in paths}
        between = unrolled(self.direction, made, analysis.composed, analysis.merged, identity)
        if between is not None:
            self.options.observe(UnrollingStep(condition, body, start, tuple(found)))
            self.options.observe(self._operands(instruction, {(0, path): v for path, v in start.items()}))
        return between

    def _loop(self, instruction: Instruction) -> Between | NoMap:
        """Return how every array after a loop depends on those before it."""
        exact = self._unrolled(instruction)
        if exact is not None:
            return {key: replace(r, maps=self.distinct(r.maps)) for key, r in exact.items()}
        calls = instruction.calls
        summaries: list[Between] = []
        for attribute in ("body", "condition"):
            name = calls.get(attribute, ("",))[0]
            summary = self.analysis.summaries.get(name)
            if summary is None:
                return NoMap(instruction.name, f"computation {name} is not defined, or calls itself")
            summaries.append({(root, leaf): reads for (root, (_, leaf)), reads in summary.items()})
        body = self.analysis.computations[calls["body"][0]]
        paths = paths_of(instruction.shape)
        if [p for p in paths if p not in paths_of(body.root.shape)]:
            return NoMap(instruction.name, "the body makes another tuple than the loop carries")
        return Loop(
            instruction.name,
            self.direction,
            self.analysis.simplified,
            {path: identity_of(instruction.shape, path) for path in paths},
            {path: self._of_scalar(instruction.shape, path) for path in paths},
            summaries[0],
            summaries[1],
            frozenset(carried_unchanged(body, paths)),
        ).maps()

    def _call(self, instruction: Instruction, path: Path, name: str | None = None, where: str = "") -> dict[Leaf, Link]:
        """Return the reads of a called computation, seen from the call, which is called ``where`` in paths."""
        where = where or instruction.name
        if name is None:
            name = instruction.called[0] if instruction.called else None
        callee = self.analysis.computations.get(name) if name is not None else None
        if name is None or callee is None:
            return self._opaque(instruction, f"computation {name} is not defined", where)
        summary = self.analysis.summaries.get(name)
        if summary is None:
            return self._opaque(instruction, f"computation {name} calls itself", where)
        known = self._given(instruction, callee, summary)
        if known:
            special = self.analysis.specialized(callee, known)
            found = self.analysis.nested(special)
            if found is not None:
                callee, summary = special, found
                self.options.observe(self._operands(instruction, self.analysis.known[special.name]))
        if len(callee.parameters) != len(instruction.operands):
            reason = f"{len(instruction.operands)} operands for the {len(callee.parameters)} parameters of {name}"
            return self._opaque(instruction, reason, where)
        if [p.parameter_number for p in callee.parameters] != list(range(len(callee.parameters))):
            reason = f"the parameters of {name} are not numbered from 0"
            return self._opaque(instruction, reason, where)
        pairs = [(callee.root.shape, instruction.shape)]
        pairs += [(p.shape, instruction.operands[p.parameter_number].shape) for p in callee.parameters]
        for inside, outside in pairs:
            if not _fits(inside, outside):
                reason = f"{name} is of {inside} where the call has {outside}"
                return self._opaque(instruction, reason, where)
        links: dict[Leaf, Link] = {}
        for (root, leaf), reads in summary.items():
            if root == path:
                lifted = tuple([self._lifted(m, instruction, callee, where) for m in reads.maps])
                links[leaf] = replace(reads.under(where), maps=lifted)
        return links

    def _given(self, instruction: Instruction, callee: Computation, summary: Summary) -> dict[Leaf, Value]:
        """Return the known operands of a call, if they may make its reads more precise.

        They determine how often loops run, and the runtime values that are computed inside.
        """
        if self.analysis.room <= 0:
            return {}
        if self.computation.name not in self.analysis.known and callee.name not in self.analysis.looping:
            parameters = {p.name for p in callee.parameters}
            sources = {v.source.hlo for r in summary.values() for m in r.maps for v in m.rts if v.source}
            selects = any(i.opcode == "select" for i in callee.instructions)
            if not selects and all(name in parameters or is_position(name) for name in sources):
                return {}
            found = {
                (k, ()): self._value(o.name)
                for k, o in enumerate(instruction.operands)
                if o.name in self._static_names and isinstance(o.shape, Shape) and bits_of(o.shape.element_type)
            }
            return {leaf: value for leaf, value in found.items() if value is not None}
        return {
            (k, path): value
            for k, o in enumerate(instruction.operands)
            for path, value in known_leaves(o, self.values).items()
        }

    def _opaque(self, instruction: Instruction, reason: str, where: str = "") -> dict[Leaf, Link]:
        return {
            (k, path): Reads((), (NoMap(where or instruction.name, reason),))
            for k, o in enumerate(instruction.operands)
            for path in paths_of(o.shape)
        }

    def _own(self, m: IndexingMap, instruction: Instruction) -> IndexingMap:
        """Rename the sources of a catalogue's map to paths."""
        names = {*(o.name for o in instruction.operands), written_path(instruction.name)}

        def rename(source: RuntimeSource) -> RuntimeSource:
            name = operand_name(source.hlo)
            if is_position(source.hlo):
                return source
            if name not in names:
                raise InputError(f"{instruction.name}: the runtime source {source.hlo} is no operand")
            return RuntimeSource(name, source.results)

        return self._resolved(with_sources(m, rename))

    def _lifted(self, m: IndexingMap, instruction: Instruction, callee: Computation, where: str) -> IndexingMap:
        """Rename the sources of a callee's map: parameters become operands, other sources get the path of the call."""
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
        m = with_sources(m, lambda source: self._origin(m, source))
        known = {
            v.source.hlo: made
            for v in m.rts
            if v.source is not None and (made := self._static(v.source.hlo)) is not None
        }
        folded = fold(m, known)
        if folded is not m:
            self.options.observe(CompositionStep((m,), folded, known))
        return folded

    def _static(self, name: str) -> Instruction | None:
        """Return the constant, iota or parameter of this name, or a constant in place of an array of known elements."""
        instruction = self.known.get(name)
        if instruction is None or instruction.opcode in ("constant", "iota", "parameter"):
            return instruction
        value = self._value(name)
        return None if value is None else constant_of(instruction, value)

    def _known_value(self, name: str) -> Value | None:
        """Return the value of an instruction like :meth:`_value`, but evaluate only what may be known."""
        return self._value(name) if name in self._static_names else None

    def _value(self, name: str) -> Value | None:
        """Evaluate the elements of a small array of integers; None unless all are known."""
        if name not in self._evaluated:
            made = self.analysis.evaluated
            values = values_of(self.analysis.computations, self.computation, self.given, asked=name, made=made)
            self._evaluated[name] = values.get(name, {}).get(())
            self._behind.update(values)
            if self._evaluated[name] is not None:
                self.options.observe(EvaluationStep(self.computation, self.given, values))
        return self._evaluated[name]

    def _origin(self, m: IndexingMap, source: RuntimeSource) -> RuntimeSource:
        """Follow a source in a map through instructions that only move elements, to the one that computed the value."""
        while (before := self._behind_source(source)) is not None:
            self.options.observe(FollowStep(self.computation, m, source, before))
            source = before
        return source

    def _behind_source(self, source: RuntimeSource) -> RuntimeSource | None:
        """Return the operand's element from which an instruction moves this one; None if it does more than move."""
        instruction = self.known.get(source.hlo)
        if instruction is None:
            return None
        if instruction.opcode == "get-tuple-element":
            made, index = self.known.get(instruction.operands[0].name), instruction.number("index")
            if made is None or made.opcode != "tuple" or index is None:
                return None
            return RuntimeSource(made.operands[index].name, source.results) if 0 <= index < len(made.operands) else None
        if instruction.opcode not in _MOVES or not _same_elements(instruction):
            return None
        moved = [(o, m) for o, m in self._moved(instruction) if _covers(m, source.results, instruction.shape)]
        if len(moved) != 1:
            return None
        ((operand, m),) = moved
        places = dict(zip(m.dim_vars, source.results, strict=True))
        return RuntimeSource(operand.name, tuple(substitute_all(m.results, places)))

    def _moved(self, instruction: Instruction) -> list[tuple[Operand, IndexingMap]]:
        """Return the output-to-input maps of an instruction that moves elements, each with its operand."""
        try:
            (answer,) = self.options.catalogue.maps(instruction, "output_to_input")
        except InputError:
            return []
        found = [(o, m) for o, reads in zip(instruction.operands, answer, strict=True) for m in reads.maps]
        return [] if any(m.ranges or m.rts for _, m in found) else found


def _has_values(m: IndexingMap) -> bool:
    """Return whether a map has runtime values other than a replica's position."""
    return not all(map(reads_position, m.rts))


def _between_replicas(instruction: Instruction, opcode: str) -> bool:
    """Return whether an instruction sends or receives, as `opcode` says, what is not meant for the host."""
    return instruction.opcode == opcode and instruction.attribute("is_host_transfer") != "true"


def performed(instruction: Instruction) -> Instruction | None:
    """Return the operation that the start of an asynchronous pair performs; None for a start of another shape.

    Any other instruction performs itself.
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


def flattened(instruction: Instruction) -> Instruction:
    """Replace the tuple operands of a collective-permute, which hold the offsets of slices, by their elements."""
    if instruction.opcode != "collective-permute":
        return instruction
    operands = (
        [Operand(o.name, a) for _, a in leaves(o.shape)] if isinstance(o.shape, TupleShape) else [o]
        for o in instruction.operands
    )
    return replace(instruction, operands=tuple(a for arrays in operands for a in arrays))


def _with_arrays(instruction: Instruction) -> Instruction:
    """Return an instruction whose operands are arrays, as the catalogue asks for."""
    if instruction.shape is None:
        raise InputError("the shape is not known")
    instruction = flattened(instruction)
    if not all(isinstance(o.shape, Shape) for o in instruction.operands):
        raise InputError(f"{instruction.opcode} of a tuple")
    return instruction


def _fits(inside: AnyShape | None, outside: AnyShape | None) -> bool:
    """Return whether a computation's shape is that of its call, apart from layouts; an unknown shape fits any."""
    if inside is None or outside is None or inside is outside:
        return True
    one, two = ([(path, a.dims) for path, a in leaves(shape)] for shape in (inside, outside))
    return one == two


#: The reason for a missing map if a size is `?`.
NO_SIZE = "a size is not known, and a map here has concrete sizes"


def _same_elements(instruction: Instruction) -> bool:
    shape = instruction.shape
    return isinstance(shape, Shape) and all(
        isinstance(s, Shape) and s.element_type == shape.element_type for s in instruction.operand_shapes
    )


def _covers(m: IndexingMap, index: Sequence[Expr], shape: AnyShape | None) -> bool:
    """Return whether a map of an array is defined at an index for all values of the index's variables."""
    assert isinstance(shape, Shape)
    facts = Facts(
        {
            v.expr: (e.value, e.value) if isinstance(e, Int) else (0, n - 1)
            for v, e, n in zip(m.dims, index, shape.dims, strict=True)
        }
    )
    bounds = [*((v.expr, v.lo, v.hi) for v in m.dims), *((c.expr, c.lo, c.hi) for c in m.constraints)]
    return all(facts.interval(e).inside(Interval(lo, hi)) for e, lo, hi in bounds)


def identity_of(shape: AnyShape | None, path: Path) -> IndexingMap:
    """Return the identity map on one array of a shape."""
    array = dict(leaves(shape)).get(path)
    if array is None:
        raise InputError("an array of unknown shape has no identity map")
    dims = tuple(Variable(f"d{k}", 0, n - 1) for k, n in enumerate(array.dims))
    return IndexingMap(dims, results=tuple(var(v.name) for v in dims))
