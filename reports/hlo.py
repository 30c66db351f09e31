"""The report of `indexproof hlo` on a module: its maps, the reasons for missing ones, and what is proved of them."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import partial
from typing import TYPE_CHECKING, Any

from ..core.analysis import ComputationMaps, Reads
from ..core.analysis.dataflow import NO_SIZE
from ..core.analysis.unknown_sizes import ReadsForAllSizes
from ..core.errors import InputError, quoted
from ..core.expr import Expr
from ..core.hlo import Computation, Instruction, Module, Shape, leaves
from ..core.hlo.shape import AnyShape
from ..core.indexing_map import IndexingMap
from ..core.layout import physical_map
from ..core.op import DIRECTIONS, Direction
from ..core.parametric import ParametricMap
from ..core.text import format_map
from ..verify.analysed import AnalysedModule, CheckedQuestion, ComputationReport
from ..verify.verdict import Status, worst
from .layout import count, duration, joined, listed, or_dash, table
from .progress import Bar
from .serializer import document, written_as

if TYPE_CHECKING:
    from ..verify.access import Utilization
    from ..verify.access_for_all_sizes import UtilizationForAllSizes
    from ..verify.tile_sizes import TileSizes
    from ..verify.tiles import NoTile, TargetTile, TilingPlan
    from ..verify.tiles_for_all_sizes import TileForAllSizes

#: Similar names are suggested among at most this many, since the comparison takes quadratic time.
_SEARCHED = 5_000

ARROWS: dict[Direction, str] = {"output_to_input": "->", "input_to_output": "<-"}


# ------------------------------------------------------------------------------------------------------- what to show
def chosen(module: Module, names: Sequence[str], fusions: bool, everything: bool) -> list[Computation]:
    """Return the requested computations, callees first, or the entry if none is requested.

    Raises :class:`InputError` for a name that the module does not have.
    """
    wanted: dict[str, None] = {}
    for name in names:
        if not module.has_computation(name):
            known = listed([c.name for c in module.computations])
            said = f"there is no computation {quoted(name)} in the module {quoted(module.name)}"
            raise InputError(f"--computation: {said}", expected=f"one of {known}")
        wanted[module.computation(name).name] = None
    if fusions:
        for _, i in module.instructions():
            if i.opcode in ("fusion", "fusion-start"):
                wanted.update(dict.fromkeys(n for n in i.called if module.has_computation(n)))
    if not wanted and not fusions and not everything:
        return [module.entry]
    return [c for c in module.callees_first if everything or c.name in wanted]


@dataclass
class Entry:
    """The maps from an output to an operand, or back."""

    output: str
    operand: str
    direction: Direction
    maps: tuple[IndexingMap, ...]
    unknown: tuple[str, ...] = ()
    at_most: tuple[str, ...] = ()
    shapes: tuple[Shape | None, Shape | None] = (None, None)
    #: The maps with parameters, for arrays with unknown sizes.
    for_all_sizes: tuple[ParametricMap, ...] = ()
    #: The symbolic sizes of output and operand, which are the parameters of ``for_all_sizes``.
    sizes: tuple[tuple[Expr, ...], tuple[Expr, ...]] | None = None
    #: If requested: how much of the operand is read, and the tiles that each map reads.
    use: Utilization | UtilizationForAllSizes | None = None
    tiles: tuple[TargetTile | NoTile | TileForAllSizes | None, ...] = ()
    #: The names of the symbolic offsets of tiles, by dimension of the output.
    starts: Mapping[int, str] = field(default_factory=dict)
    #: If requested: for each map the condition on tile sizes under which tiles are read.
    tile_sizes: tuple[TileSizes | None, ...] = ()
    #: The reason why questions have no answer.
    unanswered: str = ""

    @property
    def all_maps(self) -> tuple[IndexingMap | ParametricMap, ...]:
        """The maps, including those for all sizes."""
        return (*self.maps, *self.for_all_sizes)

    @property
    def exact(self) -> bool:
        """Whether the maps are complete (no `unknown`) and no upper bounds (no `at_most`)."""
        return not self.unknown and not self.at_most


@dataclass
class Unit:
    """One computation or instruction with its maps, and what was proved."""

    name: str
    what: str
    instructions: int
    entries: list[Entry]
    #: Instructions without maps: name, opcode, reasons.
    unmapped: list[tuple[str, str, tuple[str, ...]]] = field(default_factory=list)
    verified: ComputationReport | None = None
    seconds: float = 0.0
    #: The computation that contains the instruction.
    within: str = ""
    #: Tilings of its output, if requested.
    tilings: list[TilingPlan] | None = None


@dataclass(frozen=True)
class Questions:
    """Questions about the maps from outputs to operands."""

    #: Ask how much of each operand is read.
    use: bool = False
    #: Ask what a tile of these sizes reads; ``starts`` names the symbolic offset of each dimension that has one.
    tile: tuple[int, ...] = ()
    starts: Mapping[int, str] = field(default_factory=dict)
    #: Ask for tilings whose tiles fit into this many bytes.
    budget: int | None = None

    def __bool__(self) -> bool:
        return self.use or bool(self.tile) or self.budget is not None


@dataclass
class Report:
    """The results of one run."""

    module: Module
    units: list[Unit]
    checked: bool
    seconds: float

    @property
    def verdict(self) -> Status:
        """The worst verdict; `NOT CHECKED` if nothing was checked."""
        return worst([u.verified.status for u in self.units if u.verified is not None])


def report(
    module: Module,
    computations: Sequence[Computation],
    *,
    instructions: Sequence[str] = (),
    ends: tuple[Sequence[str], Sequence[str]] | None = None,
    directions: Sequence[Direction] = DIRECTIONS[:1],
    physical: bool = False,
    verify: bool = False,
    questions: Questions = Questions(),
    watch: Callable[[Unit], None] | None = None,
) -> Report:
    """Analyse the computations, or the named instructions in them, and prove the maps if requested.

    ``ends`` asks for the maps between producers and consumers; no producers means the parameters, no consumers the
    root. Raises :class:`InputError` for an instruction that no computation has.
    """
    start = time.perf_counter()
    check: Callable[..., ComputationReport] | None = None
    if verify:
        # imported lazily: loading the solvers takes as long as computing most maps
        from ..verify.modules import ModuleVerifier

        analysed: AnalysedModule = (verifier := ModuleVerifier(module))
        check = verifier.check
    else:
        analysed = AnalysedModule(module)
    module = analysed.module
    make = _Units(analysed, directions, physical, check)
    computations = [module.computation(c.name) for c in computations]
    units: list[Unit] = []
    callers = module.callers if not instructions and ends is None else {}
    wanted = {name.lstrip("%") for name in instructions}
    missing = set(wanted)
    for computation in computations:
        begun = time.perf_counter()
        if ends is not None:
            made = [make.of_paths(computation, ends)]
        elif instructions:
            here = [i for i in computation.instructions if i.name in wanted]
            missing -= {i.name for i in here}
            made = [make.of_instruction(computation, i) for i in here]
        else:
            called = [i for _, i in callers.get(computation.name, ())]
            made = [make.of_computation(computation, _what(module, computation, called))]
        for unit in made:
            if questions:
                # imported lazily: loading isl takes as long as answering most questions
                from .access import answer

                answer(questions, unit)
            unit.seconds = time.perf_counter() - begun
            units.append(unit)
            if watch is not None:
                watch(unit)
    if missing:
        raise _no_instruction("--instruction", min(missing), computations)
    return Report(module, units, verify, time.perf_counter() - start)


def _no_instruction(option: str, wanted: str, computations: Sequence[Computation]) -> InputError:
    known = list({i.name: None for c in computations for i in c.instructions})
    near = (get_close_matches(wanted, known, n=8) if len(known) <= _SEARCHED else []) or known[:8]
    some = ", ".join(near) + (", …" if len(known) > len(near) else "")
    where = listed([c.name for c in computations], 4)
    said = f"{option}: there is no instruction {quoted(wanted)} in {where}"
    return InputError(said, expected=f"one of {some}, or another --computation")


def _what(module: Module, computation: Computation, called: Sequence[Instruction]) -> str:
    if computation is module.entry:
        return "entry"
    if not called:
        return "not called"
    more = f" and {len(called) - 1} more" if len(called) > 1 else ""
    return f"{called[0].opcode} {called[0].name}{more}"


@dataclass(frozen=True)
class _Units:
    """Builds the units of a module: maps, reasons for missing ones, and proofs if requested."""

    analysed: AnalysedModule
    directions: Sequence[Direction]
    physical: bool
    check: Callable[..., ComputationReport] | None

    def of_computation(self, computation: Computation, what: str) -> Unit:
        """Return the unit of the maps between the root and the parameters."""
        given = [(p.name, p.shape, p.parameter_number) for p in computation.parameters]
        between = partial(self.analysed.maps.computation, computation)
        return self._unit(computation, computation.name, what, between, [computation.root], given)

    def of_instruction(self, computation: Computation, i: Instruction) -> Unit:
        """Return the unit of the maps between an instruction and its operands."""
        given = [(o.name, o.shape, k) for k, o in enumerate(i.operands)]
        between = partial(self.analysed.maps.instruction, i, computation)
        what = f"{i.opcode} in {computation.name}"
        return self._unit(computation, i.name, what, between, [i], given, [i])

    def of_paths(self, computation: Computation, names: tuple[Sequence[str], Sequence[str]]) -> Unit:
        """Return the unit of the maps between consumers and producers, along all paths."""
        for option, some in zip(("--from", "--to"), names, strict=True):
            for name in (n.lstrip("%") for n in some):
                if name not in computation.positions:
                    raise _no_instruction(option, name, [computation])
        producers = [computation.instruction(n) for n in names[0]] or list(computation.parameters)
        consumers = [computation.instruction(n) for n in names[1]] or [computation.root]
        given = [(p.name, p.shape, k) for k, p in enumerate(producers)]
        maps = self.analysed.maps
        between = partial(maps.between, producers, consumers, computation)
        name = " -> ".join(", ".join(i.name for i in some) for some in (producers, consumers))
        path = maps.path(producers, consumers, computation)
        what = f"all paths in {computation.name}"
        return self._unit(computation, name, what, between, consumers, given, path, (producers, consumers))

    def _unit(
        self,
        computation: Computation,
        name: str,
        what: str,
        between: Callable[[Direction], ComputationMaps],
        made: Sequence[Instruction],
        given: Sequence[tuple[str, AnyShape | None, int]],
        path: Sequence[Instruction] | None = None,
        ends: tuple[Sequence[Instruction], Sequence[Instruction]] | None = None,
    ) -> Unit:
        """Return the unit of the maps between the arrays ``made`` and those ``given``, as (name, shape, number)."""
        unit = Unit(name, what, len(computation.instructions if path is None else path), [])
        unit.within = "" if path is None else computation.name
        general = {d: self.analysed.for_all_sizes(computation, d) for d in self.directions if path is None}
        unit.entries = list(self._entries(between, made, given, general))
        without = {why.instruction for found in general.values() for r in found.values() for why in r.unknown}
        within = () if path is None else (path, self.directions)
        reasons = self.analysed.maps.unmapped(computation, *within)
        unit.unmapped = [
            (n, computation.instruction(n).opcode, tuple(map(str, r)))
            for n, r in reasons.items()
            if not any(general.values()) or n in without or any(x.reason != NO_SIZE for x in r)
        ]
        if self.check is not None:
            unit.verified = self.check(computation, ends=ends)
        return unit

    def _entries(
        self,
        between: Callable[[Direction], ComputationMaps],
        made: Sequence[Instruction],
        given: Sequence[tuple[str, AnyShape | None, int]],
        general: Mapping[Direction, Mapping[tuple[int, int, int], ReadsForAllSizes]],
    ) -> Iterator[Entry]:
        outputs = [pair for i in made for pair in _named_arrays(i.name, i.shape)]
        named = ((number, enumerate(_named_arrays(name, shape))) for name, shape, number in given)
        operands = {(number, n): pair for number, pairs in named for n, pair in pairs}
        for direction in self.directions:
            for (root, number, leaf), reads in between(direction).leaves.items():
                label, output = outputs[root]
                name, operand = operands[number, leaf]
                unknown, at_most = reads.unknown, reads.at_most
                more = general.get(direction, {}).get((root, number, leaf)) if unknown else None
                if more is not None and {u.reason for u in unknown} == {NO_SIZE}:
                    unknown, at_most = more.unknown, more.at_most
                yield Entry(
                    _labelled(label, output, self.physical),
                    _labelled(name, operand, self.physical),
                    direction,
                    tuple(self._placed(reads, direction, output, operand)),
                    tuple(map(str, unknown)),
                    tuple(map(str, at_most)),
                    (output, operand),
                    more.maps if more is not None else (),
                    (more.output, more.operand) if more is not None else None,
                )

    def _placed(
        self, reads: Reads[IndexingMap], direction: Direction, output: Shape | None, operand: Shape | None
    ) -> Iterator[IndexingMap]:
        """Yield the maps, between positions in memory if ``physical``."""
        if not self.physical or output is None or operand is None:
            yield from reads.maps
            return
        ends = (output, operand) if direction == "output_to_input" else (operand, output)
        yield from (self.analysed.simplify(physical_map(m, *ends)) for m in reads.maps)


def _named_arrays(name: str, shape: AnyShape | None) -> list[tuple[str, Shape | None]]:
    """Return the arrays of a shape with their names; an unknown shape counts as one array."""
    arrays = [None] if shape is None else [a for _, a in leaves(shape)]
    return [(name if len(arrays) == 1 else f"{name}[{n}]", a) for n, a in enumerate(arrays)]


def _labelled(name: str, shape: Shape | None, layouts: bool) -> str:
    return name if shape is None else f"{name} {shape.text(layouts=layouts)}"


# ------------------------------------------------------------------------------------------------------------ as text
def hlo_text(r: Report, summary: bool = False) -> str:
    """Report the maps as text, or with ``summary`` one line per computation, and then what is missing."""
    parts: list[str] = []
    if summary or r.checked:
        parts.append("\n".join(_table(r)))
    if not summary:
        parts += ["\n".join(_unit(u)) for u in r.units]
    if any(e.use is not None for u in r.units for e in u.entries):
        from .access import traffic_lines

        parts.append("\n".join(traffic_lines(r)))
    parts += _missing(r)
    parts.append(_closing(r))
    return "\n\n".join(p for p in parts if p)


def _table(r: Report) -> Iterator[str]:
    head = ["computation", "is", "instructions", "mapped", "maps"]
    bounds = any(e.at_most for u in r.units for e in u.entries)
    head += ["bounds"] if bounds else []
    head += ["questions", "proved", "false", "open", "time"] if r.checked else ["time"]
    rows = [head]
    for u in r.units:
        row = [u.name, u.what, f"{u.instructions:,}", f"{u.instructions - len(u.unmapped):,}"]
        row.append(f"{sum(len(e.all_maps) for e in u.entries):,}")
        row += [or_dash(sum(len(e.all_maps) for e in u.entries if e.at_most))] if bounds else []
        if u.verified is not None:
            statuses = [c.status for c in u.verified.checked]
            row += [f"{len(statuses):,}", *(or_dash(statuses.count(s)) for s in _COUNTED)]
        row.append(duration(u.seconds))
        rows.append(row)
    yield from table(rows, right=range(2, len(head)))


_COUNTED = (Status.PROVED, Status.REFUTED, Status.UNDECIDED)


def _unit(u: Unit) -> Iterator[str]:
    yield f"{u.name}   {u.what}, {count(u.instructions, 'instruction')}"
    if not u.entries:
        yield "  no output depends on an input"
    for e in u.entries:
        yield f"  {e.output} {ARROWS[e.direction]} {e.operand}"
        for m in e.maps:
            yield from (f"    {line}" for line in format_map(m).split("\n"))
        yield from (f"    {m}" for m in e.for_all_sizes)
        if not e.maps and not e.unknown and not e.for_all_sizes:
            yield "    it reads no element"
        yield from (f"    not known: {reason}" for reason in e.unknown)
        yield from (f"    at most: {reason}" for reason in e.at_most)
        yield from (f"    {line}" for line in _answered(e))
    if u.tilings is not None:
        from .access import tiling_lines

        yield from (f"  {line}" for line in tiling_lines(u.tilings))


def _answered(e: Entry) -> Iterator[str]:
    if e.unanswered:
        yield e.unanswered
    if e.use is not None or e.tiles or e.tile_sizes:
        from .access import read_tile_text, tile_sizes_text

        if e.use is not None:
            yield str(e.use)
        yield from map(tile_sizes_text, e.tile_sizes)
        yield from (read_tile_text(t, e.starts) for t in e.tiles)


def _missing(r: Report) -> Iterator[str]:
    for u in r.units:
        for name, opcode, reasons in u.unmapped:
            head = f"NO MAP   {name}   {opcode} in {u.within or u.name}"
            yield "\n".join([head, *(f"  because  {x}" for x in reasons)])
        if u.verified is not None:
            for c in u.verified.failed:
                yield f"{c.status.value}  {c.kind}   {c.where} in {u.name}\n  because  {c.detail}"


def _closing(r: Report) -> str:
    total = sum(u.instructions for u in r.units)
    mapped = total - sum(len(u.unmapped) for u in r.units)
    what = f"{count(len(r.units), 'unit')}: {mapped:,} of {count(total, 'instruction')} mapped"
    if bounds := sum(len(e.all_maps) for u in r.units for e in u.entries if e.at_most):
        what += f", {count(bounds, 'map')} {'is an upper bound' if bounds == 1 else 'are upper bounds'}"
    if not r.checked:
        return joined([what, f"in {duration(r.seconds)}"])
    asked = [c for u in r.units if u.verified is not None for c in u.verified.checked]
    good = sum(c.status is Status.PROVED for c in asked)
    said = f"{r.verdict.value}  {what}, {good:,} of {count(len(asked), 'question')} proved"
    return joined([said, f"in {duration(r.seconds)}"])


# ------------------------------------------------------------------------------------------------------------ as JSON
written_as(CheckedQuestion, "kind where verdict=status detail")
written_as(ComputationReport, "verdict=status questions=counts failed")
written_as(Entry, "output operand direction maps=all_maps exact unknown at_most use? tile_sizes? tiles?")
written_as(
    Unit,
    "name is=what instructions unmapped maps=entries verified? tilings?",
    unmapped=lambda u: [{"name": n, "opcode": o, "reasons": why} for n, o, why in u.unmapped],
)


def hlo_json(r: Report, exit_status: int) -> dict[str, Any]:
    """Return the answer of ``hlo``."""
    timing = {"seconds": r.seconds, "units": [u.seconds for u in r.units]}
    return document("hlo", r.verdict, exit_status, module=r.module.name, units=r.units, timing=timing)


# ----------------------------------------------------------------------------------------------------------- progress
class UnitWatcher(Bar):
    """Progress over computations: a bar on a terminal, or in a pipe a line for every tenth of a large number."""

    verb = "computations"

    def __call__(self, unit: Unit) -> None:
        """Count one more computation."""
        if self.show(1, unit.name):
            self.tell(self.share("computations"))
