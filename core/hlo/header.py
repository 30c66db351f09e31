"""The header of a module: layouts of the entry, aliases of buffers, places in the source."""

from __future__ import annotations

import re
from dataclasses import dataclass

from ..errors import InputError
from .attributes import Quoted, Record, Value, format_value
from .lexer import Source
from .module import Instruction, Module
from .shape import AnyShape, scan_shape

_INDEX = r"\{\s*+((?:\d{1,9}\s*+,\s*+)*+(?:\d{1,9}\s*+)?+)\}"
_ALIAS = re.compile(
    rf"\s*+{_INDEX}\s*+:\s*+\(\s*+(\d{{1,9}})\s*+,\s*+{_INDEX}\s*+(?:,\s*+(\w[\w\-]*+)\s*+)?+\)\s*+(,?+)",
    re.ASCII,
)


@dataclass(frozen=True, slots=True)
class ProgramShape:
    """Shapes of parameters and result, with their layouts."""

    parameters: tuple[AnyShape, ...]
    result: AnyShape


@dataclass(frozen=True, slots=True)
class Alias:
    """An output buffer that is the buffer of a parameter; indices are paths through tuples."""

    output: tuple[int, ...]
    parameter: int
    index: tuple[int, ...]
    kind: str = "may-alias"


@dataclass(frozen=True, slots=True)
class SourceFrame:
    """A place in the source program; what is not known is empty or 0."""

    file: str = ""
    function: str = ""
    line: int = 0
    end_line: int = 0
    column: int = 0
    end_column: int = 0

    def __str__(self) -> str:
        place = f"{self.file}:{self.line}" + (f":{self.column}" if self.column else "")
        return f"{place} in {self.function}" if self.function else place


def entry_layout(module: Module) -> ProgramShape | None:
    """`entry_computation_layout={(f32[2]{0})->f32[]}`, None when absent; InputError when it is no such thing."""
    value = module.attribute("entry_computation_layout")
    if value is None:
        return None
    source = Source(format_value(value))
    found, position = scan_entry_layout(source, 0, {})
    if source.skip(position) != len(source.text):
        source.unexpected(position, "after a layout of the entry", "the end")
    return found


def scan_entry_layout(source: Source, position: int, known: dict[str, AnyShape]) -> tuple[ProgramShape, int]:
    """The layout of the entry at an offset, braces included, and the offset after it; `known` as in `scan_shape`."""
    where = "in a layout of the entry"
    position = source.expect("(", source.expect("{", position, where), where)
    parameters, result, position = scan_signature(source, position, known, named=False)
    shapes = tuple([shape for _, shape in parameters])
    return ProgramShape(shapes, result), source.expect("}", position, "after the result")


def scan_signature(
    source: Source, position: int, known: dict[str, AnyShape], named: bool
) -> tuple[tuple[tuple[str, AnyShape], ...], AnyShape, int]:
    """Parameters, perhaps with names, and result of `f32[2], f32[3]) -> f32[]`, and the offset after it."""
    parameters = []
    name = ""
    position = source.skip(position)
    while not source.text.startswith(")", position):
        if named:
            name, position = source.name(position, "a parameter's name")
            position = source.skip(source.expect(":", position, "after a parameter's name"))
        shape, position = scan_shape(source, position, known)
        parameters.append((name, shape))
        position = source.skip(position)
        if not source.text.startswith(")", position):
            position = source.skip(source.expect(",", position, "between parameters"))
    position = source.skip(source.expect("->", position + 1, "after the parameters"))
    result, position = scan_shape(source, position, known)
    return tuple(parameters), result, position


def aliases(module: Module) -> tuple[Alias, ...]:
    """`input_output_alias={ {0}: (1, {}, must-alias) }`; none when absent; InputError when malformed."""
    value = module.attribute("input_output_alias")
    if value is None:
        return ()
    source = Source(format_value(value))
    position = source.expect("{", 0, "in the aliases")
    found = []
    while (alias := _ALIAS.match(source.text, position)) is not None:
        output, parameter, index, kind, comma = alias.groups()
        found.append(Alias(_numbers(output), int(parameter), _numbers(index), kind or "may-alias"))
        position = alias.end()
        if not comma:
            break
    position = source.skip(source.expect("}", position, "in the aliases"))
    if position != len(source.text):
        source.unexpected(position, "after the aliases", "the end")
    return tuple(found)


def source_frames(module: Module, instruction: Instruction) -> tuple[SourceFrame, ...]:
    """Where the source program made this instruction, innermost call first.

    From `stack_frame_id` and the tables before the computations, or from `source_file` and `source_line` as
    older versions write them. Empty when nothing is said. `InputError` when a table refers to a missing row.
    """
    direct = instruction.metadata("source_file")
    if isinstance(direct, Quoted):
        line = instruction.metadata("source_line")
        return (SourceFrame(direct.plain, line=line if isinstance(line, int) else 0),)
    number = instruction.metadata("stack_frame_id")
    if not isinstance(number, int) or number == 0:
        return ()
    tables = {table.name: dict(table.rows) for table in module.tables}
    frames: list[SourceFrame] = []
    seen: set[int] = set()
    # Numbers of parents count from one where the outermost frame is written as its own parent: 1 is none.
    shift = int(_field(tables.get("StackFrames", {}).get(1, ""), "parent_frame_id") == 1)
    while number > 0 and number not in seen:
        seen.add(number)
        frame = _row(tables, "StackFrames", number)
        place = _row(tables, "FileLocations", _field(frame, "file_location_id"))
        file = _name(tables, "FileNames", _field(place, "file_name_id"))
        function = _name(tables, "FunctionNames", _field(place, "function_name_id"))
        spans = [_field(place, key) for key in ("line", "end_line", "column", "end_column")]
        frames.append(SourceFrame(file, function, *spans))
        number = _field(frame, "parent_frame_id") - shift
    return tuple(frames)


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(int(n) for n in text.split(",") if n.strip())


def _row(tables: dict[str, dict[int, Value]], name: str, number: int) -> Value:
    row = tables.get(name, {}).get(number)
    if row is None:
        raise InputError(f"{name} has no row {number}", expected="a row for every number referred to")
    return row


def _field(row: Value, key: str) -> int:
    value = row.get(key) if isinstance(row, Record) else None
    return value if isinstance(value, int) else 0


def _name(tables: dict[str, dict[int, Value]], table: str, number: int) -> str:
    if not number:
        return ""
    value = _row(tables, table, number)
    return value.plain if isinstance(value, Quoted) else format_value(value)
