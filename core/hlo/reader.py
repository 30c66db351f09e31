"""HLO text to `Module`.

Accepts the output of XLA before and after optimization, and the forms found in documents: a bare list of instructions,
a single `f { … }`, shapes with spaces, instructions without a shape, operands with or without shapes, names with or
without `%`, references to missing computations. Unknown opcodes and attributes are kept. Anything else is an
`InputError` with line, column and the expected text.

For speed, one pattern matches a whole instruction, shapes and attributes are cached by their spelling, because a module
repeats few of them many times. Other instructions are read step by step, which also locates errors.
"""

from __future__ import annotations

import gc
import re
from dataclasses import replace
from typing import NoReturn

from .attributes import MESH, Attributes, normal_value
from .lexer import NAME, OPCODE, STRING, Source, shorten
from .literals import VALUE, check_values
from .module import SNIPPET, Computation, Instruction, Module, Operand, Signature, SourceTable
from .shape import BUFFER, AnyShape, Shape, TupleShape, scan_entry_layout, scan_shape, scan_signature

TABLES = ("FileNames", "FunctionNames", "FileLocations", "StackFrames")

# name = shape opcode(operands), attributes up to the end of the line. The length of attributes is bounded, because a
# text may be one long line. A comma on the next line would continue them.
_INSTRUCTION = re.compile(
    rf"\s*+(ROOT(?:\s++|(?=%)))?+%?+({NAME})\s*+=\s*+"
    r"([a-z][a-z0-9]*+\[[^\[\]\n]*+\](?:\{[^{}\n]*+\})?+|\((?:[^()\n]++|\([^()\n]*+\))*+\))\s++"
    rf"({OPCODE})\(((?:[^()\n\"]++|\([^()\n\"]*+\))*+)\)([^\n]{{0,4000}}+)(?=\n|\Z)\s*+(?!,)",
    re.ASCII,
)
_CONSTANT = re.compile(r"[^{}]*+\Z|\{(?:[^{}]++|\{(?:[^{}]++|\{[^{}]*+\})*+\})*+\}\s*+\Z")
_INNERMOST = re.compile(r"\{([^{}]*+)\}")
_START = re.compile(rf"\s*+(ROOT(?:\s++|(?=%)))?+%?+({NAME})\s*+=\s*+", re.ASCII)
_OPCODE = re.compile(rf"\s*+({OPCODE})\s*+\(", re.ASCII)
_ATTRIBUTE = re.compile(
    r"\s*+,\s*+([A-Za-z_][\w.\-]*+)\s*+=(?:[ \t]*+"
    rf"(\{{(?:[^{{}}\"]++|{STRING})*+\}}|(?!=)[^\s,{{}}()\[\]\"]++|{STRING})(?=[\s,}}]|\Z))?+",
    re.ASCII | re.DOTALL,
)
_COMPUTATION = re.compile(rf"\s*+(ENTRY(?:\s++|(?=%)))?+%?+({NAME})\s*+(?=[({{])", re.ASCII)
_MODULE = re.compile(r"\s*+HloModule\s++([^\s,{}()]++)", re.ASCII)
_NAMELESS = re.compile(r"HloModule\s*+(?=,|\Z)", re.ASCII)
_TABLE = re.compile(rf"\s*+({'|'.join(TABLES)})(?:[ \t\r]*+(?:\n|\Z)|[ \t]++(?=\d))", re.ASCII)
_ROW = re.compile(r"\s*+(-?\d{1,40})(?:\s++|(?=[\"{]))", re.ASCII)

_SHAPE_FIRST = re.compile(rf"[a-z][a-z0-9]*+\[|\(|{BUFFER.pattern}", re.ASCII)
_NOTHING = re.compile(r"[ \t]*+(?:,|\n|\Z)")

_LITERALS = ("constant", "parameter")
_DEEPEST = 50


def read_module(text: str) -> Module:
    """Read the module that `text` contains. Raises `InputError` if it contains none.

    A text without computations is read as the instructions of one computation named `snippet`.
    """
    # The objects that are read form no cycles. Collecting garbage repeatedly while they grow would take half as long as
    # reading.
    collects = gc.isenabled()
    gc.disable()
    try:
        return _Reader(text).module()
    finally:
        if collects:
            gc.enable()


def read_instruction(text: str) -> Instruction:
    """Read one instruction, such as `t = f32[3,2] transpose(f32[2,3] x), dimensions={1,0}`."""
    reader = _Reader(text)
    instruction, _, position = reader.instruction(0)
    position = reader.source.skip(position)
    if position != len(text):
        reader.source.unexpected(position, "after an instruction", "the end of the text")
    if reader.nested:
        reader.source.fail(0, "instructions in place of operands", "one instruction whose operands have names")
    return instruction


class _Reader:
    def __init__(self, text: str) -> None:
        self.source = Source(text)
        self.text = self.source.text
        self.shapes: dict[str, AnyShape] = {}
        self.rests: dict[str, Attributes] = {}
        # Instructions written in place of operands since the last top-level instruction, innermost first.
        self.nested: list[Instruction] = []
        self.anonymous: dict[str, int] = {}
        # Newlines are counted once, moving forward; `Source.line_of` would count from the start every time.
        self.line = 1
        self.counted = 0

    def fail(self, position: int, message: str, expected: str) -> NoReturn:
        """Raise `InputError` that points at the first word at or after an offset."""
        self.source.fail(self.source.skip(position), message, expected)

    def module(self) -> Module:
        source, text = self.source, self.text
        position = source.skip(0)
        if position == len(text):
            source.fail(position, "no HLO here", "`HloModule`, a computation or an instruction")
        name = SNIPPET
        attributes: Attributes = ()
        header = _MODULE.match(text, position)
        if header is not None:
            name = header[1]
            attributes, position = self.attributes(header.end())
        elif _START.match(text, position) or _SHAPE_FIRST.match(text, position):
            computation, position = self.body(SNIPPET, position, None, loose=True)
            if position != len(text):
                source.unexpected(position, "after an instruction", "an instruction")
            return Module(SNIPPET, (computation,), SNIPPET)
        elif (nameless := _NAMELESS.match(text, position)) is not None:
            source.fail(nameless.end(), "the module has no name", "a name after `HloModule`")
        tables: list[SourceTable] = []
        computations: list[Computation] = []
        entry: str | None = None
        named: set[str] = set()
        while (position := source.skip(position)) < len(text):
            found = _TABLE.match(text, position)
            if found is not None:
                table, position = self.table(found[1], found.end())
                tables.append(table)
                continue
            start = _COMPUTATION.match(text, position)
            if start is None:
                source.unexpected(position, "where a computation belongs", "a computation such as `ENTRY main { … }`")
            computation, position = self.computation(start[2], start.end(), loose=header is None)
            if computation.name in named:
                source.fail(
                    start.start(2), f"computation {shorten(computation.name)!r} is defined twice", "another name"
                )
            named.add(computation.name)
            computations.append(computation)
            if start[1]:
                if entry is not None:
                    source.fail(start.start(1), "two computations are marked ENTRY", "one ENTRY")
                entry = computation.name
        if not computations:
            source.fail(len(text), "the module has no computation", "a computation such as `ENTRY main { … }`")
        return Module(name, tuple(computations), entry or computations[-1].name, attributes, tuple(tables))

    def table(self, name: str, position: int) -> tuple[SourceTable, int]:
        rows = []
        while (found := _ROW.match(self.text, position)) is not None:
            end = self.source.value_end(found.end())
            rows.append((int(found[1]), self.text[found.end() : end]))
            position = end
        return SourceTable(name, tuple(rows)), position

    def computation(self, name: str, position: int, loose: bool) -> tuple[Computation, int]:
        """Read a computation after its name; `position` is at `(` or `{`."""
        signature = None
        header = position
        if self.text.startswith("(", position):
            stated, result, position = scan_signature(self.source, position + 1, self.shapes, named=True)
            signature = Signature(stated, result)
        position = self.source.expect("{", position, "where the body of a computation belongs")
        opening = position - 1
        computation, position = self.body(name, position, signature, loose)
        if not self.text.startswith("}", position):
            if position == len(self.text):
                self.source.fail(opening, f"the body of {shorten(name)!r} is not closed", "`}`")
            self.source.unexpected(position, "after an instruction", "an instruction or `}`")
        if signature is not None:
            self.check_signature(computation, signature, header)
        attributes, position = self.attributes(position + 1)
        if attributes:
            computation = replace(computation, attributes=attributes)
        return computation, position

    def check_signature(self, computation: Computation, signature: Signature, position: int) -> None:
        """Check that the header agrees with the body, layouts aside."""
        parameters, name = computation.parameters, f"computation {shorten(computation.name)!r}"
        if len(parameters) != len(signature.parameters):
            message = f"{name} has {len(parameters)} parameters, not the {len(signature.parameters)} of its header"
            self.source.fail(position, message, "one shape for each parameter")
        stated = {f"parameter({k})": shape for k, (_, shape) in enumerate(signature.parameters)}
        stated["the root"] = signature.result
        for (what, said), i in zip(stated.items(), (*parameters, computation.root), strict=True):
            if i.shape is not None and i.shape is not said and not _same_array(said, i.shape):
                message = f"{what} of {name} is {shorten(str(i.shape))}, its header says {shorten(str(said))}"
                self.source.fail(position, message, "the same shape")

    def body(self, name: str, position: int, signature: Signature | None, loose: bool) -> tuple[Computation, int]:
        """Read instructions up to `}` or the end of the text."""
        source, text = self.source, self.text
        instructions: list[Instruction] = []
        known: dict[str, Operand] = {}  # by name, with and without %
        numbers: dict[str, int] = {}
        root: int | None = None
        while True:
            read = self.line_of(position, known)
            resolved = read is not None
            if read is None:
                position = source.skip(position)
                if position == len(text) or text[position] == "}":
                    break
                read = self.instruction(position)
            last, is_root, end = read
            if is_root and root is not None:
                self.fail(position, "a computation has two ROOT instructions", "one ROOT")
            written, self.nested = [*self.nested, last], []
            for instruction in written:
                if not resolved and instruction.operands:
                    instruction = self.resolve(instruction, known, position, end, loose)
                name_ = instruction.name
                if name_ in known:
                    self.fail(position, f"{shorten(name_)!r} is defined twice", "another name")
                if instruction.opcode == "parameter":
                    number = instruction.literal or ""
                    if number in numbers:
                        message = f"parameter {number} is defined twice"
                        self.fail(position, message, "each parameter number once")
                    numbers[number] = len(instructions)
                elif instruction.opcode == "get-tuple-element":
                    self.check_element(instruction, position)
                known[name_] = known["%" + name_] = Operand(name_, instruction.shape)
                instructions.append(instruction)
            if is_root:
                root = len(instructions) - 1
            position = end
        if not instructions:
            source.fail(position, f"computation {shorten(name)!r} has no instructions", "an instruction")
        missing = next((k for k in range(len(numbers)) if str(k) not in numbers), None)
        # A document may show part of a computation; a computation of a module has all its parameters.
        if missing is not None and not loose:
            source.fail(
                position,
                f"computation {shorten(name)!r} has {len(numbers)} parameters but no parameter({missing})",
                "parameters numbered from 0",
            )
        root = len(instructions) - 1 if root is None else root
        return Computation(name, tuple(instructions), root, signature), position

    def check_element(self, instruction: Instruction, position: int) -> None:
        """Check that a tuple has the selected element, and that the written shape is that of the element."""
        index = instruction.number("index")
        shape = instruction.operands[0].shape if instruction.operands else None
        if shape is None or index is None:
            return
        name = shorten(instruction.name)
        if not isinstance(shape, TupleShape):
            self.fail(position, f"{name!r} is an element of {shorten(str(shape))}", "a tuple")
        if not 0 <= index < len(shape.elements):
            count = len(shape.elements)
            expected = f"an index from 0 to {count - 1}" if count else "a tuple with elements"
            self.fail(position, f"{name!r} is element {index} of a tuple of {count}", expected)
        element = shape.elements[index]
        if instruction.shape is not None and not _same_array(element, instruction.shape):
            message = f"{name!r} is written {shorten(str(instruction.shape))}, element {index} is "
            self.fail(position, message + shorten(str(element)), "the shape of the element")

    def line_of(self, position: int, known: dict[str, Operand]) -> tuple[Instruction, bool, int] | None:
        """Read an instruction of the usual form like `instruction`, with operands resolved; None for other forms."""
        found = _INSTRUCTION.match(self.text, position)
        if found is None:
            return None
        marked, name, spelled, opcode, inside, rest = found.groups()
        shape = self.shapes.get(spelled)
        if shape is None:
            shape, end = scan_shape(self.source, found.start(3), self.shapes)
            if end != found.end(3):
                return None
            self.shapes[spelled] = shape
        operands: tuple[Operand, ...] = ()
        literal = None
        if opcode in _LITERALS:
            if "{" in inside and _CONSTANT.match(inside) is None:
                return None
            literal = self.literal(opcode, inside, found.start(5), shape)
        elif inside:
            try:
                operands = tuple([known[part] for part in inside.split(", ")])
            except KeyError:
                return None
        attributes = self.rests.get(rest)
        if attributes is None:
            attributes, end = self.attributes(found.start(6))
            if end > found.end(6) or self.text[end : found.end(6)].strip():
                return None  # they go on in the next line
            self.rests[rest] = attributes
        self.count_lines(found.start(2))
        read = Instruction(name, opcode, shape, operands, attributes, literal, self.line)
        return read, marked is not None, found.end()

    def count_lines(self, position: int) -> None:
        """Count newlines up to an offset, which must not lie before the last one."""
        self.line += self.text.count("\n", self.counted, position)
        self.counted = position

    def resolve(
        self, instruction: Instruction, known: dict[str, Operand], position: int, end: int, loose: bool
    ) -> Instruction:
        """Give every operand the shape of the instruction that it names."""
        operands = []
        for operand in instruction.operands:
            if operand.name in known:
                shape = known[operand.name].shape
                if operand.shape is not None and shape is not None and not _same_array(operand.shape, shape):
                    written, defined = (shorten(str(s)) for s in (operand.shape, shape))
                    message = f"operand {shorten(operand.name)!r} is written {written} but was defined as {defined}"
                    at = self.where(operand.name, position, end)
                    self.source.fail(at, message, "the shape of its definition")
                operands.append(Operand(operand.name, operand.shape if shape is None else shape))
            elif loose and operand.shape is not None:
                operands.append(operand)
            else:
                expected = "the name of an earlier instruction" + ", or a shape before the name" * loose
                at = self.where(operand.name, position, end)
                self.source.fail(at, f"operand {shorten(operand.name)!r} is not defined", expected)
        return replace(instruction, operands=tuple(operands))

    def where(self, name: str, position: int, end: int) -> int:
        """Return the offset of an operand's name within the parentheses of its instruction."""
        opening = self.text.find("(", self.text.find("=", position, end), end)
        found = re.compile(rf"(?<![\w.\-]){re.escape(name)}(?![\w.\-])").search(self.text, opening, end)
        return position if found is None else found.start()

    def instruction(self, position: int) -> tuple[Instruction, bool, int]:
        """Read the instruction at an offset; return it, whether it is marked ROOT, and the offset after it."""
        source, text = self.source, self.text
        marked, name, shape, opcode, opening = self.start(position)
        operands, literal, end = self.inside(opcode, opening, shape)
        self.count_lines(position)
        attributes: Attributes = ()
        if text.startswith(",", end) or text.startswith(",", source.skip(end)):
            attributes, end = self.attributes(end)
        read = Instruction(name, opcode, shape, operands, attributes, literal, self.line)
        return read, marked is not None, end

    def inside(
        self, opcode: str, opening: int, shape: AnyShape | None, depth: int = 0
    ) -> tuple[tuple[Operand, ...], str | None, int]:
        """Read the operands or the literal in parentheses; return them and the offset after the parentheses."""
        end = self.source.close(opening)
        if opcode in _LITERALS:
            return (), self.literal(opcode, self.text[opening + 1 : end - 1], opening + 1, shape), end
        return self.operands(opening + 1, depth), None, end

    def start(self, position: int) -> tuple[str | None, str, AnyShape | None, str, int]:
        """Read ROOT mark, name, shape, opcode and the offset of the parenthesis, for an instruction of any form."""
        source, text = self.source, self.text
        found = _START.match(text, position)
        if found is None:
            return self.misplaced(position)
        shape: AnyShape | None = None
        opcode = None if BUFFER.match(text, found.end()) else _OPCODE.match(text, found.end())
        if opcode is None:
            shape, end = scan_shape(source, found.end(), self.shapes)
            opcode = self.opcode(end)
        return found[1], found[2], shape, opcode[1], opcode.end() - 1

    def opcode(self, position: int) -> re.Match[str]:
        """Match an opcode with its parenthesis, which must come next."""
        found = _OPCODE.match(self.text, position)
        if found is None:
            self.source.unexpected(self.source.skip(position), "where an opcode belongs", "an opcode such as `add(`")
        return found

    def misplaced(self, position: int) -> tuple[str | None, str, AnyShape | None, str, int]:
        """Read `f32[4,8] out = reduce(…)`: some documents write the shape before the name."""
        source, text = self.source, self.text
        position = source.skip(position)
        if not _SHAPE_FIRST.match(text, position):
            word, end = source.name(position, "an instruction")
            end = source.skip(end)
            if word == "ROOT":
                _, end = source.name(end, "an instruction's name")
                end = source.skip(end)
            self.source.unexpected(end, "in an instruction", "`=`")
        shape, end = scan_shape(source, position, self.shapes)
        name, end = source.name(end, "an instruction's name")
        opcode = self.opcode(source.expect("=", end, "in an instruction"))
        return None, name, shape, opcode[1], opcode.end() - 1

    def literal(self, opcode: str, inside: str, position: int, shape: AnyShape | None) -> str:
        """Check the text in the parentheses of a constant or a parameter, and reduce white space to single spaces."""
        spelled = " ".join(inside.split()) if '"' not in inside else inside.strip()
        if opcode == "parameter":
            if not spelled.isdecimal() or not spelled.isascii() or len(spelled) > 9:
                self.fail(position, f"parameter({shorten(spelled)})", "a parameter number")
            return str(int(spelled))
        if not spelled:
            self.source.fail(position, "a constant without value", "a value such as `0` or `{1,2}`")
        if isinstance(shape, Shape) and spelled != "{...}":
            if spelled[0] == "{":
                self.check_elements(spelled, shape, self.source.skip(position))
            check_values(self.source, position, inside, shape.element_type, shape.text(False))
        return spelled

    def check_elements(self, spelled: str, shape: Shape, position: int) -> None:
        """Check that an array constant has braces for every dimension and one value for each element."""
        where = f"in a constant of shape {shape.text(False)}"
        if not shape.dims:
            self.source.fail(position, "an array where a scalar constant belongs", "one value")
        if shape.dynamic:
            return
        if not shape.size:
            if (value := VALUE.search(spelled)) is not None:
                self.source.fail(position + value.start(), f"a value {where}", "no value")
            return
        *outer, last = shape.dims
        for group in _INNERMOST.findall(spelled):
            if (count := len(VALUE.findall(group))) != last:
                expected = f"{last} values" if last != 1 else "1 value"
                self.source.fail(position, f"{count} values in the innermost braces {where}", expected)
        braces = 1
        for n in reversed(outer):
            braces = 1 + n * braces
        if (found := spelled.count("{")) != braces:
            expected = f"{braces}: one for each row of every dimension"
            self.source.fail(position, f"{found} pairs of braces {where}", expected)

    def operands(self, position: int, depth: int) -> tuple[Operand, ...]:
        """Read operands up to a parenthesis: names, or instructions without attributes, with or without shapes."""
        source, text = self.source, self.text

        def operand(at: int) -> tuple[Operand, int]:
            shape: AnyShape | None = None
            if _SHAPE_FIRST.match(text, at):
                shape, at = scan_shape(source, at, self.shapes)
                at = source.skip(at)
            if text.startswith(")", at):
                source.fail(at, "an operand has a shape but no name", "the operand's name")
            opcode = _OPCODE.match(text, at)
            name, at = source.name(at, "an operand") if opcode is None else self.nest(opcode, shape, depth + 1)
            return Operand(name, shape), at

        return tuple(source.listed(position, (")",), operand, "between operands", "an operand")[0])

    def nest(self, opcode: re.Match[str], shape: AnyShape | None, depth: int) -> tuple[str, int]:
        """Define an instruction that is written in place of an operand, under a name in XLA's style."""
        if depth > _DEEPEST:
            self.source.fail(opcode.start(1), f"instructions nested deeper than {_DEEPEST}", "names of operands")
        operands, literal, end = self.inside(opcode[1], opcode.end() - 1, shape, depth)
        number = self.anonymous[opcode[1]] = self.anonymous.get(opcode[1], -1) + 1
        name = f"{opcode[1]}.anon" + (f".{number}" if number else "")
        self.nested.append(Instruction(name, opcode[1], shape, operands, literal=literal, line=self.line))
        return name, end

    def attributes(self, position: int) -> tuple[Attributes, int]:
        """Read `, name=value` repeatedly; return the attributes and the offset after them."""
        text = self.text
        read: dict[str, str] = {}
        while (found := _ATTRIBUTE.match(text, position)) is not None:
            name, spelled = found.groups()
            end = found.end()
            if spelled is None or name == "entry_computation_layout":
                start = end if spelled is None else found.start(2)
                end = self.value_end(name, start)
                spelled = text[start:end].strip()
            if name in read:
                self.source.fail(found.start(1), f"attribute {shorten(name)!r} is given twice", "each attribute once")
            read[name] = spelled if '"' in spelled else normal_value(name, spelled)
            position = end
        after = self.source.skip(position)
        if text.startswith(",", after):
            after = self.source.skip(after + 1)
            self.source.unexpected(after, "after a comma", "an attribute such as `dimensions={0}`")
        return tuple(read.items()), position

    def value_end(self, name: str, position: int) -> int:
        # XLA prints the padding of a scalar as `padding=` without a value.
        if name == "padding" and _NOTHING.match(self.text, position):
            return position
        position = self.source.skip(position)
        if name == "entry_computation_layout":
            return scan_entry_layout(self.source, position, self.shapes)
        if name == "literal":  # of a custom call: a constant after its shape
            shape, position = scan_shape(self.source, position, self.shapes)
            position = self.source.skip(position)
            end = self.source.value_end(position)
            self.literal("constant", self.text[position:end], position, shape)
            return end
        # The only value with a space or a comma outside of brackets.
        mesh = MESH.match(self.text, position)
        return self.source.value_end(position) if mesh is None else mesh.end()


def _same_array(left: AnyShape, right: AnyShape) -> bool:
    """Return whether two shapes are equal apart from layouts."""
    return left == right or left.without_layout() == right.without_layout()
