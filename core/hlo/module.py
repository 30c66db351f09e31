"""An HLO module as a value: modules hold computations, computations hold instructions in order.

Everything is immutable, hashable and compared by structure, without the lines of instructions. Names are stored without
`%`. An operand names an earlier instruction of the same computation, so that instructions are in topological order. In
a snippet an operand may also be *free*: not defined, but with a shape of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TypeVar

from ..blocks import count
from ..errors import InputError
from .attributes import (
    Attributes,
    Stride,
    WindowDimension,
    called_names,
    parse_dim_labels,
    parse_flag,
    parse_integer,
    parse_integers,
    parse_padding,
    parse_pairs,
    parse_replica_groups,
    parse_strides,
    parse_window,
    parse_word,
)
from .lexer import shorten
from .printer import format_instruction
from .shape import AnyShape, Shape, TupleShape

T = TypeVar("T")

SNIPPET = "snippet"
"""Name of the module, and of its computation, for a bare list of instructions."""


@dataclass(frozen=True, slots=True)
class Operand:
    """The name of the instruction that is read, and its shape if known."""

    name: str
    shape: AnyShape | None = None


@dataclass(frozen=True, slots=True)
class Instruction:
    """One instruction. `literal` is the text in the parentheses of a constant or a parameter, else None."""

    name: str
    opcode: str
    shape: AnyShape | None
    operands: tuple[Operand, ...] = ()
    attributes: Attributes = ()
    literal: str | None = None
    line: int = field(default=0, compare=False)

    def __str__(self) -> str:
        return format_instruction(self)

    def attribute(self, name: str) -> str | None:
        """Return the text of an attribute, or None if the instruction lacks it."""
        return next((text for other, text in self.attributes if other == name), None)

    def number(self, name: str) -> int | None:
        """Return an attribute that is an integer, or None if it is absent or of another form."""
        text = self.attribute(name)
        return None if text is None else parse_integer(text)

    def has(self, name: str) -> bool:
        """Return whether the instruction has the attribute."""
        return self.attribute(name) is not None

    @property
    def array(self) -> Shape:
        """The shape of an instruction that returns one array. Raises InputError for tuples and unknown shapes."""
        if isinstance(self.shape, Shape):
            return self.shape
        raise InputError(f"{self.name}: {self.opcode} does not make an array of known shape")

    @property
    def operand_shapes(self) -> tuple[AnyShape | None, ...]:
        """The operands' shapes, None if unknown."""
        return tuple(operand.shape for operand in self.operands)

    @property
    def operand_arrays(self) -> tuple[Shape, ...]:
        """The operands' shapes. Raises InputError unless all are arrays of known shape."""
        shapes = []
        for k, operand in enumerate(self.operands):
            if not isinstance(operand.shape, Shape):
                raise InputError(
                    f"{self.name}: operand {k} of {self.opcode} ({operand.name}) is not an array of known shape"
                )
            shapes.append(operand.shape)
        return tuple(shapes)

    @property
    def parameter_number(self) -> int:
        """The number of a `parameter(N)`. Raises InputError for any other instruction."""
        if self.opcode != "parameter" or self.literal is None or not self.literal.isdecimal():
            raise InputError(f"{self.name} is not a parameter")
        return int(self.literal)

    def integers(self, name: str, default: Sequence[int] | None = None) -> tuple[int, ...]:
        """Return an attribute such as `dimensions={0,2}`; InputError if absent without default, or of another form."""
        default = None if default is None else tuple(default)
        wanted = "integers in braces, such as {0,2}"
        return self._typed(name, parse_integers, wanted, default)

    def integer(self, name: str, default: int | None = None) -> int:
        """Return an attribute such as `index=0`; InputError if absent without default, or of another form."""
        return self._typed(name, parse_integer, "an integer", default)

    def word(self, name: str, default: str | None = None) -> str:
        """Return an attribute such as `direction=LT`; InputError if absent without default, or not a word."""
        return self._typed(name, parse_word, "a word", default)

    def flag(self, name: str) -> bool:
        """Return an attribute such as `is_stable=true`; InputError if it is of another form."""
        return self._typed(name, parse_flag, "true or false", default=False)

    def replica_groups(self) -> tuple[tuple[int, ...], ...]:
        """Return `replica_groups={{0,1},{2,3}}` or `[2,2]<=[4]`; no groups, if absent or empty, mean one of all."""
        return self._typed("replica_groups", parse_replica_groups, default=())

    def pairs(self, name: str) -> tuple[tuple[int, int], ...]:
        """Return an attribute such as `source_target_pairs={{0,1},{1,0}}`; InputError if absent or of another form."""
        return self._typed(name, parse_pairs, "pairs of integers, such as {{0,1},{1,0}}")

    def strides(self) -> tuple[Stride, ...]:
        """Return `slice={[5:10:1], [0:50]}`; empty for `{}`."""
        wanted = "[start:limit:stride] per dimension, such as {[0:10:2]}"
        return self._typed("slice", parse_strides, wanted)

    def window(self) -> tuple[WindowDimension, ...]:
        """Return `window={size=… stride=… …}`; empty if absent."""
        return self._typed("window", parse_window, default=())

    def padding(self) -> tuple[tuple[int, int, int], ...]:
        """Return `padding=1_4_1x4_8_0` as (low, high, interior) per dimension."""
        return self._typed("padding", parse_padding, "low_high_interior per dimension, such as 1_4_1x4_8_0")

    def dim_labels(self) -> tuple[tuple[int, ...], ...]:
        """Return the dimensions of input, kernel and output in `dim_labels=b01f_01io->b01f`: see `parse_dim_labels`."""
        return self._typed("dim_labels", parse_dim_labels, "labels such as b01f_01io->b01f")

    @property
    def called(self) -> tuple[str, ...]:
        """The names of the computations that attributes refer to, in order."""
        return tuple(name for names in self.calls.values() for name in names)

    @property
    def calls(self) -> dict[str, tuple[str, ...]]:
        """The attributes that refer to computations, with their names: `{"to_apply": ("add",)}`."""
        return {name: names for name, text in self.attributes if (names := called_names(name, text))}

    def _typed(self, name: str, parse: Callable[[str], T | None], wanted: str = "", default: T | None = None) -> T:
        """Parse an attribute.  Raises InputError if it is of another form, or if it is absent without a default."""
        text = self.attribute(name)
        if text is None:
            if default is None:
                message = f"{self.name}: {self.opcode} has no attribute {name}"
                raise InputError(message, expected=wanted, path=name)
            return default
        try:
            found = parse(text)
        except ValueError as error:
            raise InputError(f"{self.name}: {error}", path=name) from None
        if found is None:
            message = f"{self.name}: {self.opcode} has {name}={shorten(text)}"
            raise InputError(message, expected=wanted, path=name)
        return found


@dataclass(frozen=True, slots=True)
class Signature:
    """A computation's header: parameter names with shapes, and the result's shape."""

    parameters: tuple[tuple[str, AnyShape], ...]
    result: AnyShape


@dataclass(frozen=True, repr=False)
class Computation:
    """Instructions in order of definition, and the index of the root, which is the last one by default."""

    name: str
    instructions: tuple[Instruction, ...]
    root_index: int
    signature: Signature | None = None
    attributes: Attributes = ()

    def __repr__(self) -> str:
        return f"<Computation {self.name}: {count(len(self.instructions), 'instruction')}, root {self.root.name}>"

    @property
    def root(self) -> Instruction:
        """The instruction whose value the computation returns."""
        return self.instructions[self.root_index]

    @cached_property
    def parameters(self) -> tuple[Instruction, ...]:
        """The parameters, ordered by number."""
        found = [i for i in self.instructions if i.opcode == "parameter"]
        return tuple(sorted(found, key=lambda i: i.parameter_number))

    @cached_property
    def positions(self) -> Mapping[str, int]:
        """The index of every instruction by name."""
        return {instruction.name: k for k, instruction in enumerate(self.instructions)}

    def position(self, name: str) -> int:
        """Return the index of an instruction by name. Raises KeyError if there is none."""
        return self.positions[name.lstrip("%")]

    def instruction(self, name: str) -> Instruction:
        """Return an instruction by name. Raises KeyError if there is none."""
        return self.instructions[self.position(name)]

    @cached_property
    def operand_positions(self) -> tuple[tuple[int, ...], ...]:
        """For each instruction the indices of its operands; -1 for a free operand."""
        get = self.positions.get
        return tuple([tuple([get(o.name, -1) for o in i.operands]) for i in self.instructions])

    @cached_property
    def users(self) -> tuple[tuple[int, ...], ...]:
        """For each instruction the indices of its users, in order and each once."""
        found: list[list[int]] = [[] for _ in self.instructions]
        for k, operands in enumerate(self.operand_positions):
            for operand in operands:
                if operand >= 0 and (not found[operand] or found[operand][-1] != k):
                    found[operand].append(k)
        return tuple(map(tuple, found))

    @cached_property
    def called(self) -> tuple[str, ...]:
        """The names of the computations that instructions refer to, in order and each once."""
        return tuple({name: None for i in self.instructions for name in i.called})


@dataclass(frozen=True)
class SourceTable:
    """A source table before the computations (`FileNames`, `StackFrames`, …): numbered rows, as written."""

    name: str
    spelled: tuple[tuple[int, str], ...]


@dataclass(frozen=True, repr=False)
class Module:
    """Computations in the order of the text, the entry's name, attributes of the header, source tables.

    `repr` gives a short description; `format_module` prints the whole module.
    """

    name: str
    computations: tuple[Computation, ...]
    entry_name: str
    attributes: Attributes = ()
    tables: tuple[SourceTable, ...] = ()

    def __repr__(self) -> str:
        instructions = sum(len(c.instructions) for c in self.computations)
        sizes = f"{count(len(self.computations), 'computation')}, {count(instructions, 'instruction')}"
        return f"<Module {self.name}: {sizes}, entry {self.entry_name}>"

    @property
    def is_snippet(self) -> bool:
        """Whether the module was read without a `HloModule` line."""
        return self.name == SNIPPET

    @property
    def entry(self) -> Computation:
        """The computation marked ENTRY, or the last one."""
        return self.computation(self.entry_name)

    @cached_property
    def _by_name(self) -> dict[str, Computation]:
        return {computation.name: computation for computation in self.computations}

    def computation(self, name: str) -> Computation:
        """Return a computation by name. Raises KeyError if there is none."""
        return self._by_name[name.lstrip("%")]

    def has_computation(self, name: str) -> bool:
        """Return whether a computation of that name exists."""
        return name.lstrip("%") in self._by_name

    def callees(self, caller: Computation | Instruction) -> tuple[Computation, ...]:
        """Return the computations that an instruction, or any instruction of a computation, refers to.

        They are in order, without those that the text does not define.
        """
        return tuple(self._by_name[name] for name in caller.called if name in self._by_name)

    @cached_property
    def callers(self) -> dict[str, tuple[tuple[Computation, Instruction], ...]]:
        """For each computation the instructions that refer to it."""
        found: dict[str, list[tuple[Computation, Instruction]]] = {c.name: [] for c in self.computations}
        for computation, instruction in self.instructions():
            for name in dict.fromkeys(instruction.called):
                if name in found:
                    found[name].append((computation, instruction))
        return {name: tuple(calls) for name, calls in found.items()}

    @cached_property
    def callees_first(self) -> tuple[Computation, ...]:
        """All computations, each after its callees. Raises InputError if one calls itself."""
        order: list[Computation] = []
        done: dict[str, bool] = {}
        for start in self.computations:
            pending = [(start, iter(self.callees(start)))] if start.name not in done else []
            done.setdefault(start.name, False)
            while pending:
                computation, rest = pending[-1]
                callee = next(rest, None)
                if callee is None:
                    pending.pop()
                    done[computation.name] = True
                    order.append(computation)
                elif callee.name not in done:
                    done[callee.name] = False
                    pending.append((callee, iter(self.callees(callee))))
                elif not done[callee.name]:
                    raise InputError(
                        f"computation {shorten(callee.name)!r} calls itself, by {shorten(computation.name)!r}",
                        expected="computations that end",
                    )
        return tuple(order)

    def instructions(self) -> Iterator[tuple[Computation, Instruction]]:
        """Yield all instructions with their computations."""
        for computation in self.computations:
            for instruction in computation.instructions:
                yield computation, instruction


ShapeRule = Callable[[Instruction], "AnyShape | None"]
"""Gives the shape of an instruction whose operands' shapes are known, or None when it cannot tell."""


def fill_shapes(module: Module, rule: ShapeRule) -> Module:
    """Return the module with every missing shape inferred, also those of operands.

    Shapes of tuples and of their elements follow from their parts; `rule` infers all others.  An instruction for which
    it returns None stays without shape.  A module that has all shapes is returned unchanged.
    """
    if not any(i.shape is None for _, i in module.instructions()):
        return module
    computations = []
    for computation in module.computations:
        shapes: dict[str, AnyShape | None] = {}
        instructions = []
        for old in computation.instructions:
            operands = tuple(
                Operand(o.name, o.shape if o.shape is not None else shapes.get(o.name)) for o in old.operands
            )
            new = replace(old, operands=operands)
            if new.shape is None:
                new = replace(new, shape=_shape_of_parts(new) or rule(new))
            shapes[new.name] = new.shape
            instructions.append(new)
        computations.append(replace(computation, instructions=tuple(instructions)))
    return replace(module, computations=tuple(computations))


def _shape_of_parts(instruction: Instruction) -> AnyShape | None:
    """Infer the shape of a tuple or of an element of one; None for other instructions and unknown shapes."""
    if instruction.opcode == "tuple":
        parts = [s for s in instruction.operand_shapes if s is not None]
        return TupleShape(tuple(parts)) if len(parts) == len(instruction.operands) else None
    whole = instruction.operand_shapes[0] if instruction.operands else None
    if instruction.opcode == "get-tuple-element" and isinstance(whole, TupleShape):
        index = instruction.number("index")
        if index is not None and 0 <= index < len(whole.elements):
            return whole.elements[index]
    return None
