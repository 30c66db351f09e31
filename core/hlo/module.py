"""An HLO module as a value: modules hold computations, computations hold instructions in order.

Everything is immutable, hashable and compared by structure; where in a text an instruction stood does not
count. Names are kept without `%`. An operand names an instruction of the same computation that is defined
before it, so that walking the instructions in order is walking the graph; in a loose snippet an operand may
also be *free*: not defined, but with a shape of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeVar

from ..errors import InputError
from .attributes import (
    DimensionLabels,
    Quoted,
    Reference,
    Stride,
    Value,
    WindowDimension,
    format_value,
    parse_dim_labels,
    parse_padding,
    parse_window,
)
from .lexer import shorten
from .shape import AnyShape, Shape, TupleShape

T = TypeVar("T")

SNIPPET = "snippet"
"""Name of the module, and of the computation, that a bare list of instructions becomes."""


@dataclass(frozen=True, slots=True)
class Operand:
    """The name of the instruction read, and its shape when it is known."""

    name: str
    shape: AnyShape | None = None


@dataclass(frozen=True, slots=True)
class Instruction:
    """One instruction. `literal` is the text in the parentheses of a constant or a parameter, else None."""

    name: str
    opcode: str
    shape: AnyShape | None
    operands: tuple[Operand, ...] = ()
    attributes: tuple[tuple[str, Value], ...] = ()
    literal: str | None = None
    line: int = field(default=0, compare=False)

    def attribute(self, name: str) -> Value | None:
        """The value of an attribute, None when the instruction has no such attribute."""
        for key, value in self.attributes:
            if key == name:
                return value
        return None

    def has(self, name: str) -> bool:
        """Whether the attribute is written."""
        return any(key == name for key, _ in self.attributes)

    @property
    def array(self) -> Shape:
        """The shape of an instruction that makes one array; InputError for tuples and unknown shapes."""
        if isinstance(self.shape, Shape):
            return self.shape
        raise InputError(f"{self.name}: {self.opcode} does not make an array of known shape")

    @property
    def operand_shapes(self) -> tuple[AnyShape | None, ...]:
        """The operands' shapes, None where unknown."""
        return tuple(operand.shape for operand in self.operands)

    @property
    def operand_arrays(self) -> tuple[Shape, ...]:
        """The operands' shapes when all are arrays of known shape; InputError otherwise."""
        shapes = []
        for k, operand in enumerate(self.operands):
            if not isinstance(operand.shape, Shape):
                raise InputError(
                    f"{self.name}: operand {k} of {self.opcode} ({operand.name}) is not an array of "
                    "known shape"
                )
            shapes.append(operand.shape)
        return tuple(shapes)

    @property
    def parameter_number(self) -> int:
        """The number of a `parameter(N)`; InputError for any other instruction."""
        if self.opcode != "parameter" or self.literal is None or not self.literal.isdecimal():
            raise InputError(f"{self.name} is not a parameter")
        return int(self.literal)

    def integers(self, name: str, default: Sequence[int] | None = None) -> tuple[int, ...]:
        """An attribute such as `dimensions={0,2}`; InputError when absent (and no default) or other."""
        value = self.attribute(name)
        if value is None and default is not None:
            return tuple(default)
        if isinstance(value, tuple) and all(isinstance(v, int) for v in value):
            return tuple(v for v in value if isinstance(v, int))
        raise self._wrong(name, value, "integers in braces, such as {0,2}")

    def integer(self, name: str, default: int | None = None) -> int:
        """An attribute such as `index=0`; InputError when absent (and no default) or of another form."""
        value = self.attribute(name)
        if value is None and default is not None:
            return default
        if isinstance(value, int) and not isinstance(value, bool):
            return value
        raise self._wrong(name, value, "an integer")

    def word(self, name: str, default: str | None = None) -> str:
        """An attribute such as `direction=LT`; InputError when absent (and no default) or not a word."""
        value = self.attribute(name)
        if value is None and default is not None:
            return default
        if isinstance(value, Quoted):
            return value.text
        if isinstance(value, str):
            return value
        raise self._wrong(name, value, "a word")

    def strides(self) -> tuple[Stride, ...]:
        """`slice={[5:10:1], [0:50]}`; empty for `{}`."""
        value = self.attribute("slice")
        if isinstance(value, tuple) and all(isinstance(v, Stride) for v in value):
            return tuple(v for v in value if isinstance(v, Stride))
        raise self._wrong("slice", value, "[start:limit:stride] per dimension, such as {[0:10:2]}")

    def window(self) -> tuple[WindowDimension, ...]:
        """`window={size=… stride=… …}`, empty when there is none."""
        value = self.attribute("window")
        return self._parsed("window", () if value is None else value, parse_window)

    def padding(self) -> tuple[tuple[int, int, int], ...]:
        """`padding=1_4_1x4_8_0` as (low, high, interior) per dimension."""
        value = self.attribute("padding")
        if value is None:
            raise self._wrong("padding", value, "low_high_interior per dimension, such as 1_4_1x4_8_0")
        return self._parsed("padding", value, parse_padding)

    def dim_labels(self) -> DimensionLabels:
        """`dim_labels=b01f_01io->b01f`."""
        value = self.attribute("dim_labels")
        if value is None:
            raise self._wrong("dim_labels", value, "labels such as b01f_01io->b01f")
        return self._parsed("dim_labels", value, parse_dim_labels)

    @property
    def called(self) -> tuple[str, ...]:
        """Names of the computations that attributes refer to, in order."""
        names: list[str] = []
        for _, value in self.attributes:
            parts = value if isinstance(value, tuple) else (value,)
            names.extend(part.name for part in parts if isinstance(part, Reference))
        return tuple(names)

    def _parsed(self, name: str, value: Value, parse: Callable[[Value], T]) -> T:
        try:
            return parse(value)
        except ValueError as error:
            raise InputError(f"{self.name}: {error}", path=name) from None

    def _wrong(self, name: str, value: Value | None, wanted: str) -> InputError:
        if value is None:
            return InputError(
                f"{self.name}: {self.opcode} has no attribute {name}", expected=wanted, path=name
            )
        message = f"{self.name}: {self.opcode} has {name}={shorten(format_value(value))}"
        return InputError(message, expected=wanted, path=name)


@dataclass(frozen=True, slots=True)
class Signature:
    """What a computation's header says: parameter names with shapes, and the result's shape."""

    parameters: tuple[tuple[str, AnyShape], ...]
    result: AnyShape


@dataclass(frozen=True)
class Computation:
    """Instructions in order of definition; the root's index (the last one unless the text says otherwise)."""

    name: str
    instructions: tuple[Instruction, ...]
    root_index: int
    signature: Signature | None = None
    attributes: tuple[tuple[str, Value], ...] = ()

    @property
    def root(self) -> Instruction:
        """The instruction whose value the computation returns."""
        return self.instructions[self.root_index]

    @property
    def parameters(self) -> tuple[Instruction, ...]:
        """Parameters by number."""
        found = [i for i in self.instructions if i.opcode == "parameter"]
        return tuple(sorted(found, key=lambda i: i.parameter_number))

    def positions(self) -> dict[str, int]:
        """Index of every instruction by name."""
        return {instruction.name: k for k, instruction in enumerate(self.instructions)}

    def instruction(self, name: str) -> Instruction:
        """The instruction of that name; KeyError when there is none."""
        name = name.lstrip("%")
        for instruction in self.instructions:
            if instruction.name == name:
                return instruction
        raise KeyError(name)


@dataclass(frozen=True, slots=True)
class Table:
    """A source table before the computations (`FileNames`, `StackFrames`, …): numbered rows."""

    name: str
    rows: tuple[tuple[int, Value], ...]


@dataclass(frozen=True)
class Module:
    """Computations in the order of the text, the entry's name, attributes of the header, source tables."""

    name: str
    computations: tuple[Computation, ...]
    entry_name: str
    attributes: tuple[tuple[str, Value], ...] = ()
    tables: tuple[Table, ...] = ()

    @property
    def entry(self) -> Computation:
        """The computation marked ENTRY, or the last one."""
        return self.computation(self.entry_name)

    def computation(self, name: str) -> Computation:
        """The computation of that name; KeyError when there is none."""
        name = name.lstrip("%")
        for computation in self.computations:
            if computation.name == name:
                return computation
        raise KeyError(name)

    def instructions(self) -> Iterator[tuple[Computation, Instruction]]:
        """All instructions with their computations."""
        for computation in self.computations:
            for instruction in computation.instructions:
                yield computation, instruction

    def undefined(self) -> tuple[str, ...]:
        """Names of computations that are referred to and not there, such as `max` in `to_apply=max`."""
        defined = {c.name for c in self.computations}
        names = {name: None for _, i in self.instructions() for name in i.called if name not in defined}
        return tuple(names)

    def attribute(self, name: str) -> Value | None:
        """The value of a header attribute, None when there is none."""
        return next((v for k, v in self.attributes if k == name), None)


ShapeRule = Callable[[Instruction], "AnyShape | None"]
"""Gives the shape of an instruction whose operands' shapes are known, or None when it cannot tell."""


def fill_shapes(module: Module, rule: ShapeRule) -> Module:
    """The module with every unwritten shape worked out by `rule`, operands' shapes included.

    An instruction for which `rule` has no answer stays without shape. Modules that XLA prints come back as
    they are.
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
                new = replace(new, shape=rule(new))
            shapes[new.name] = new.shape
            instructions.append(new)
        computations.append(replace(computation, instructions=tuple(instructions)))
    return replace(module, computations=tuple(computations))


def tuple_of(shapes: Sequence[Shape]) -> AnyShape:
    """One array as itself, several as a tuple."""
    return shapes[0] if len(shapes) == 1 else TupleShape(tuple(shapes))
