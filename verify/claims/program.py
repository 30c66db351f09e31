"""HLO programs that claims are about: reads them, finds the arrays that are named, and computes their true maps.

A program is one computation (the entry, if there are several).  A claim names two of its instructions, one of which is
computed from the other.  The true maps are composed along every path between the two from the declarations of the ops,
which have proofs of their own.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TypeVar

from ...core.analysis.catalogue import OpCatalogue
from ...core.analysis.maps import ModuleMaps
from ...core.analysis.runtime import operand_name, with_sources
from ...core.analysis.steps import Options
from ...core.errors import InputError, quoted
from ...core.hlo import AnyShape, Computation, Instruction, Module, Operand, Shape, fill_shapes, leaves, read_module
from ...core.indexing_map import IndexingMap, RuntimeSource
from ...core.op import DIRECTIONS, Direction, concrete
from ...core.simplify_map import simplify_map
from ...rules.catalog import RULES
from ...rules.ops import op_from_hlo, op_reader, why_not
from ..concrete import equal_maps

T = TypeVar("T")

#: The name for the virtual operand, of rank 0, of an instruction without operands.
NOTHING = "()"


@dataclass(frozen=True)
class Endpoint:
    """One array of an instruction's output; ``leaf`` is its index in a tuple."""

    name: str
    leaf: int
    #: None for :data:`NOTHING`.
    shape: Shape | None
    text: str

    @property
    def dims(self) -> tuple[int, ...]:
        """The sizes of the array."""
        return () if self.shape is None else self.shape.dims

    def __str__(self) -> str:
        return self.text


@dataclass(eq=False)
class ClaimedProgram:
    """A computation in which every operand is defined and every instruction that is an op is valid."""

    name: str
    module: Module
    computation: Computation
    analysis: ModuleMaps
    _maps: dict[tuple[Endpoint, Endpoint], list[IndexingMap]] = field(default_factory=dict)

    def endpoint(self, name: str, leaf: int | None) -> Endpoint:
        """Return the array ``name`` or ``name[leaf]``; ``output`` is the root unless an instruction has that name.

        Raises :class:`InputError` if there is no such array.
        """
        if name == NOTHING:
            return Endpoint(NOTHING, 0, None, NOTHING)
        known = {i.name: i for i in self.computation.instructions}
        instruction = known.get(name)
        if instruction is None and name == "output":
            instruction = self.computation.root
        if instruction is None:
            names = ", ".join([*known][:12]) + (", …" if len(known) > 12 else "")
            raise InputError(
                f"there is no instruction {quoted(name)} in {quoted(self.name)}", expected=f"one of {names}"
            )
        arrays = [] if instruction.shape is None else [a for _, a in leaves(instruction.shape)]
        if not arrays:
            raise InputError(
                f"the shape of {quoted(name)} is not known", expected="an instruction that states its shape"
            )
        if leaf is None and len(arrays) > 1:
            raise InputError(
                f"{quoted(name)} makes {len(arrays)} arrays", expected=f"one of {name}[0] to {name}[{len(arrays) - 1}]"
            )
        if leaf is not None and leaf >= len(arrays):
            some = f"{name}[0]" + (f" to {name}[{len(arrays) - 1}]" if len(arrays) > 1 else "")
            raise InputError(f"{quoted(name)} makes no array number {leaf}", expected=some)
        text = name if leaf is None else f"{name}[{leaf}]"
        return Endpoint(instruction.name, leaf or 0, arrays[leaf or 0], text)

    def direction(self, source: Endpoint, target: Endpoint) -> Direction:
        """Return which of the two is computed from the other.  Raises :class:`InputError` if neither is."""
        if source.name == target.name:
            raise InputError("a map from an array to itself", expected="two different instructions")
        for direction, maker, made in ((DIRECTIONS[0], source, target), (DIRECTIONS[1], target, source)):
            if made.name == NOTHING:
                if maker.name != NOTHING and self.computation.instruction(maker.name).operands:
                    raise InputError(
                        f"{quoted(maker.name)} has operands", expected=f"the name of an operand instead of `{NOTHING}`"
                    )
                return direction
            if maker.name != NOTHING and self.analysis.path([made.name], [maker.name], self.computation):
                return direction
        raise InputError(
            f"neither of {quoted(source.name)} and {quoted(target.name)} is computed from the other",
            expected="an instruction and one of those that it is computed from",
        )

    def maps(self, source: Endpoint, target: Endpoint) -> list[IndexingMap]:
        """Return the true maps, simplified and without duplicates; none if no elements are related.

        Raises :class:`InputError` if a map is unknown.
        """
        key = (source, target)
        if key not in self._maps:
            self._maps[key] = self._derived(source, target)
        return self._maps[key]

    def _derived(self, source: Endpoint, target: Endpoint) -> list[IndexingMap]:
        direction = self.direction(source, target)
        maker, made = (source, target) if direction == "output_to_input" else (target, source)
        if made.name == NOTHING:
            instruction = self.computation.instruction(maker.name)
            op = op_from_hlo(instruction)
            if op is None or not op.virtual:
                raise InputError(f"{quoted(maker.name)} has no operand", expected="an op such as iota")
            return [_simplify(concrete(op, 0, direction, ()))]
        found = self.analysis.between([made.name], [maker.name], self.computation, direction)
        reads = found.leaves.get((maker.leaf, 0, made.leaf))
        if reads is None:
            return []
        if reads.unknown:
            raise InputError(f"the map is not known: {reads.unknown[0]}", expected="instructions with known maps")
        return [*reads.maps]


def sources_by_name(m: IndexingMap) -> IndexingMap:
    """Return the map with names of instructions as the sources of its runtime variables."""
    return with_sources(m, lambda source: RuntimeSource(operand_name(source.hlo), source.results))


def _simplify(m: IndexingMap) -> IndexingMap:
    # keep dimensions of size one, because people write them in claims
    return simplify_map(m, RULES, keep_points=True)


def _equal(a: IndexingMap, b: IndexingMap) -> bool:
    return equal_maps(a, b).proved


def load_program(name: str, text: str, line: int) -> ClaimedProgram:
    """Read the program ``text``, whose first character is in column 1 of ``line``.

    Raises :class:`InputError`, with the position, also for instructions with invalid shapes or attributes.
    """
    lead = line - 1
    module = read_module("\n" * lead + text)
    module = _with_free_operands(module)
    catalogue = OpCatalogue(op_reader(module), why_not)

    def located(instruction: Instruction, what: Callable[[], T]) -> T:
        try:
            return what()
        except InputError as error:
            column = _column(text, instruction.line - lead, instruction.name)
            raise InputError(error.message, line=instruction.line, column=column, expected=error.expected) from None

    def shape(instruction: Instruction) -> AnyShape | None:
        return located(instruction, partial(catalogue.shape, instruction))

    module = fill_shapes(module, shape)
    for _, i in module.instructions():
        # the catalogue does not know instructions that are no ops (tuple, call, parameter, …)
        if i.shape is not None and all(isinstance(o.shape, Shape) for o in i.operands):
            located(i, partial(catalogue.maps, i, "output_to_input"))
    analysis = ModuleMaps(module, Options(catalogue, _simplify, _equal))
    return ClaimedProgram(name, module, module.entry, analysis)


def _column(text: str, row: int, name: str) -> int:
    rows = text.split("\n")
    return rows[row - 1].find(name) + 1 if 0 < row <= len(rows) and name in rows[row - 1] else 1


def _with_free_operands(module: Module) -> Module:
    """Add a parameter for every operand of the entry that is not defined, with its shape."""
    entry = module.entry
    known = {i.name for i in entry.instructions}
    free: dict[str, Operand] = {}
    for i in entry.instructions:
        for o in i.operands:
            if o.name not in known and free.setdefault(o.name, o).shape != o.shape:
                raise InputError(
                    f"{quoted(o.name)} is written {free[o.name].shape} and {o.shape}",
                    line=i.line,
                    column=1,
                    expected="one shape",
                )
    if not free:
        return module
    first = max((p.parameter_number for p in entry.parameters), default=-1) + 1
    parameters = tuple(
        Instruction(o.name, "parameter", o.shape, literal=str(n)) for n, o in enumerate(free.values(), first)
    )
    filled = replace(
        entry, instructions=(*parameters, *entry.instructions), root_index=entry.root_index + len(parameters)
    )
    return replace(module, computations=tuple(filled if c is entry else c for c in module.computations))
