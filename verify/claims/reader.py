"""Reading claims files; ``reports/docs/claims.md`` describes the format.

A line that begins in the first column begins a statement, and the indented and empty lines below belong to it. Comments
are first overwritten with spaces, so that all offsets remain those of the file.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, Final, NamedTuple, NoReturn, TypeVar

from ...core.analysis.runtime import operand_name
from ...core.errors import InputError, quoted
from ...core.hlo import Instruction, Shape, leaves, read_instruction
from ...core.indexing_map import IndexingMap, RuntimeSource, RuntimeVariable
from ...core.map_reader import read_any_map, read_map
from ...core.parametric import ParametricMap
from ..properties import expect_property, read_arguments
from ..verdict import Status
from .program import NOTHING, ClaimedProgram, Endpoint, load_program, sources_by_name
from .statements import Claim, ClaimsFile, Comparison, Dependence, PropertyClaim, Relation, Simplification, Statement

T = TypeVar("T")

_NAME = r"[A-Za-z0-9_](?:[\w.]|-(?!>))*"
_ENDPOINT: Final = rf"(?:%?{_NAME}|\(\s*\))[ \t]*(?:\[[^\]\n]*\])?"
#: The arrow identifies an op claim, whatever the names of its instructions.
_OP_CLAIM: Final = re.compile(rf"{_ENDPOINT}[ \t]*->", re.ASCII)
_EXPECT: Final = re.compile(r"[ \t]*expect(?=[ \t]+(?!in\b)[A-Za-z]|[ \t]*\Z)")
_WORD: Final = re.compile(r"[^\s:]+")
_SOLID: Final = re.compile(r"\S+")
_RELATION: Final = re.compile(r":|(?:within|covers)\b|[⊆⊇]")
_PROPERTY: Final = re.compile(r"property[ \t]+([\w-]+)((?:[ \t]+\w+(?:=[\w,*+/()-]+)?)*)[ \t]*:", re.ASCII)
_PARTS: Final = re.compile(
    r"""(?P<hlo> \bhlo[ \t]*:[^\n]* ) | (?P<string> "(?:[^"\\\n]|\\.)*" )
    | (?P<open> [(\[{] ) | (?P<close> [)\]}] ) | (?P<word> == | [⊆⊇] | [A-Za-z_][A-Za-z0-9_]* ) | .""",
    re.VERBOSE | re.DOTALL,
)
_RELATIONS: Final[dict[str, Relation]] = {
    ":": "equals",
    "==": "equals",
    "within": "within",
    "⊆": "within",
    "covers": "covers",
    "⊇": "covers",
}
#: Follows a variable that has bounds.
_BOUNDED: Final = re.compile(r"\s*(in\b|∈)")
_VERDICTS: Final = {s.value: s for s in (Status.PROVED, Status.REFUTED)}
_STATEMENTS: Final = (
    "`section TEXT`, `hlo NAME`, `claim NAME`, `ENDPOINT -> ENDPOINT : MAP`, `expect VERDICT` or an indented line"
)


def read_claims(text: str, filename: str = "<claims>", problems: list[InputError] | None = None) -> ClaimsFile:
    """Read the claims of a file.  Raises no error but :class:`~indexproof.core.errors.InputError`.

    If ``problems`` is given, ill-formed claims are added to it and the others are read.  An ill-formed program
    invalidates the claims about it.
    """
    if not isinstance(text, str):
        raise InputError(f"expected text, not {type(text).__name__}")
    return _Reader(text, filename, problems).file()


class _Block(NamedTuple):
    """A statement: its text without comments, which begins at offset ``at``, and its ``first`` and ``last`` line."""

    at: int
    text: str
    first: int
    last: int


class _Reader:
    def __init__(self, text: str, filename: str, problems: list[InputError] | None = None) -> None:
        self.problems = problems
        #: Whether the current program, or claim, is ill-formed, so that statements about it are skipped.
        self.lost_program = self.lost_claim = False
        text = text.removeprefix("\ufeff")
        self.original = text
        self.text = _without_comments(text)
        self.filename = filename
        self.section = ""
        self.program: ClaimedProgram | None = None
        self.program_block: _Block | None = None
        self.claimed = 0
        self.claims: list[Claim] = []
        self.lines_of: dict[str, int] = {}
        self.programs: dict[str, int] = {}

    # -- complaints
    def error(self, message: str, at: int, expected: str = "") -> InputError:
        return InputError.at(message, self.original, at, expected)

    def fail(self, message: str, at: int, expected: str = "") -> NoReturn:
        raise self.error(message, at, expected)

    def complain(self, error: InputError) -> None:
        """Collect an error, or raise it if errors are not collected."""
        if self.problems is None:
            raise error
        self.problems.append(error)

    def unexpected(self, at: int, end: int, expected: str) -> NoReturn:
        """Raise an error about the word at an offset, or about a missing word."""
        word = _SOLID.match(self.text, at, end)
        self.fail(f"unexpected {quoted(word[0])}" if word else "the claim ends too early", at, expected)

    @contextmanager
    def located(self, at: int) -> Iterator[None]:
        """Give errors from other readers a position in this file, which is ``at`` if they have none."""
        try:
            yield
        except InputError as error:
            if not error.line:
                where = f"{error.path}: " if error.path else ""
                raise self.error(where + error.message, at, error.expected) from None
            place: dict[str, Any] = {"line": error.line, "column": error.column}
            raise InputError(error.message, source=self.original, expected=error.expected, **place) from None

    # -- statements
    def file(self) -> ClaimsFile:
        for block in self.blocks():
            self.attempt(block)
        self.end_of_program()
        if not self.claims and not self.problems:
            self.fail("the file makes no claim", len(self.text), "`claim NAME` or `hlo NAME` with claims below it")
        return ClaimsFile(self.filename, tuple(self.claims), self.original)

    def blocks(self) -> Iterator[_Block]:
        """Yield the statements, with each ``expect`` line as one of its own."""
        at = 0
        block: _Block | None = None
        for number, line in enumerate(self.text.split("\n"), 1):
            if content := line.rstrip():
                expect = _EXPECT.match(content) is not None
                if not content[0].isspace() or expect:
                    if block is not None:
                        yield block
                    block = _Block(at, content, number, number)
                elif block is None:
                    self.fail("an indented line that continues nothing", at + _indent(content), _STATEMENTS)
                else:
                    block = _Block(block.at, self.text[block.at : at + len(content)], block.first, number)
                if expect:
                    yield block
                    block = None
            at += len(line) + 1
        if block is not None:
            yield block

    def attempt(self, block: _Block) -> None:
        """Read a statement; if errors are collected, an ill-formed one is skipped with the lines that belong to it."""
        if self.lost_claim and _EXPECT.match(block.text):
            return
        self.lost_claim = self.lost_program and _OP_CLAIM.match(block.text) is not None
        if self.lost_claim:
            return
        try:
            self.statement(block)
        except InputError as error:
            self.complain(error)
            self.lost_claim = True
            if re.match(r"hlo\b|section\b", block.text):
                self.lost_program, self.program = True, None
            elif self.program is not None:
                self.claimed += 1  # the program has a claim, though an ill-formed one

    def statement(self, block: _Block) -> None:
        at = block.at + _indent(block.text)
        if _EXPECT.match(block.text):
            return self.expect(block, at + len("expect"))
        if _OP_CLAIM.match(block.text):
            return self.op_claim(block)
        word = _WORD.match(block.text)
        keyword = word[0] if word is not None else ""
        after = at + len(keyword)
        match keyword:
            case "section":
                return self.heading(block, after)
            case "hlo":
                return self.hlo(block, after)
            case "claim":
                return self.map_claim(block, after)
        self.fail(f"{quoted(keyword or block.text.split(chr(10))[0])} begins no statement", at, _STATEMENTS)

    def heading(self, block: _Block, at: int) -> None:
        self.end_of_program()
        self.section = " ".join(self.original[at : block.at + len(block.text)].split())
        if not self.section:
            self.fail("a section without a heading", at, "`section TEXT`")

    def expect(self, block: _Block, at: int) -> None:
        words = block.text[at - block.at :].split()
        verdicts = " or ".join(_VERDICTS)
        if not words:
            self.fail("no verdict is named", at, verdicts)
        place = self.text.index(words[0], at)
        if words[0] not in _VERDICTS:
            self.fail(f"{quoted(words[0])} is no verdict to expect", place, verdicts)
        if len(words) > 1:
            second = self.text.index(words[1], place + len(words[0]))
            self.fail(f"unexpected {quoted(words[1])}", second, "the end of the line")
        if not self.claims:
            self.fail("there is no claim above that could be expected to have a verdict", block.at, "a claim")
        claim = self.claims[-1]
        if claim.expect_line:
            message = f"{quoted(claim.name)} already has an expected verdict"
            self.fail(message, block.at, "one `expect` per claim")
        self.claims[-1] = replace(claim, expected=_VERDICTS[words[0]], expect_line=block.first)

    def name(self, block: _Block, at: int, what: str) -> tuple[str, int]:
        """Return the name after a keyword on the same line, and the offset after it."""
        line = self.text[at:].partition("\n")[0]
        found = re.match(rf"[ \t]*({_NAME})", line, re.ASCII)
        if found is None:
            expected = "a name of letters, digits, `_`, `.` and `-`"
            self.fail(f"{what} without a name", at + _indent(line), expected)
        return found[1], at + found.end()

    def hlo(self, block: _Block, at: int) -> None:
        self.end_of_program()
        name, after = self.name(block, at, "a program")
        rest = self.text[after : block.at + len(block.text)]
        line, newline, body = rest.partition("\n")
        expected = "HLO instructions on the following, indented lines"
        if line.strip():
            message = f"unexpected {quoted(line.strip())} after the program's name"
            self.fail(message, after + _indent(line), expected)
        if not body.strip():
            self.fail(f"the program {quoted(name)} is empty", after, expected)
        if name in self.programs:
            expected = f"another name than that of line {self.programs[name]}"
            self.fail(f"a second program {quoted(name)}", after - len(name), expected)
        self.programs[name] = block.first
        start = after + len(line) + len(newline)
        with self.located(start):
            self.program = load_program(name, body, self.error("", start).line)
        self.program_block = block
        self.claimed = 0

    def end_of_program(self) -> None:
        """End the current program, at the next one or at a section; report it if there are no claims about it."""
        if self.program is not None and self.program_block is not None and not self.claimed:
            message = f"nothing is claimed about the program {quoted(self.program.name)}"
            self.complain(self.error(message, self.program_block.at, "`ENDPOINT -> ENDPOINT : MAP` below it"))
        self.program = self.program_block = None
        self.lost_program = False

    def add(self, block: _Block, name: str, at: int, statement: Statement, text: str) -> None:
        if name in self.lines_of:
            expected = f"another name or statement than that of line {self.lines_of[name]}"
            self.fail(f"a second claim {quoted(name, 80)}", at, expected)
        self.lines_of[name] = block.first
        claim = Claim(name, block.first, self.section, statement, _dedented(text), last_line=block.last)
        self.claims.append(claim)

    # -- claims about maps
    def map_claim(self, block: _Block, at: int) -> None:
        name, after = self.name(block, at, "a claim")
        named = after - len(name)
        end = block.at + len(block.text)
        if re.compile(r"[ \t]*:").match(self.text, after):
            after = self.text.index(":", after) + 1
        elif (rest := self.text[after:end].partition("\n")[0]).strip():
            message = f"unexpected {quoted(rest.strip())} after the claim's name"
            self.fail(message, after + _indent(rest), "`:` or a new line")
        body = self.text[after:end]
        start = after + _indent(body, lines=True)
        if start >= end:
            expected = "`MAP == MAP`, `property NAME : MAP` or `simplify MAP to MAP`"
            self.fail(f"the claim {quoted(name)} says nothing", after, expected)
        if re.compile(r"simplify\b").match(self.text, start):
            before, (begin, stop, _) = self.halves(start + len("simplify"), end, ("to",), "`to MAP`")
            left = self.read(read_map, *before)
            simplified = Simplification(left, self.read(read_map, begin, stop, left))
            self.add(block, name, named, simplified, body)
            return
        if said := _PROPERTY.match(self.text, start, end):
            pieces = self.pieces(said.end(), end)
            maps = tuple(self.read(read_any_map, *piece) for piece in pieces)
            with self.located(start):
                given = read_arguments(said[2].split(), any(isinstance(m, ParametricMap) for m in maps))
                expect_property(said[1], maps, given)
            self.add(block, name, named, PropertyClaim(said[1], maps, given), body)
            return
        first, second = self.halves(
            start, end, ("==", "within", "covers", "⊆", "⊇"), "`== MAP`, `within MAP` or `covers MAP`"
        )
        relation = _RELATIONS[second[2]]
        read: Callable[..., IndexingMap | ParametricMap] = read_any_map if relation == "equals" else read_map
        one = self.read(read, *first)
        self.add(block, name, named, Comparison(relation, one, self.read(read, *second[:2], one)), body)

    def halves(
        self, start: int, end: int, words: tuple[str, ...], missing: str
    ) -> tuple[tuple[int, int], tuple[int, int, str]]:
        """Return the two pieces of text around the first of ``words``."""
        for at, word in self.words(start, end):
            if word in words:
                return (start, at), (at + len(word), end, word)
        self.read(read_map, start, end)  # report mismatched brackets instead, if there are any
        self.fail("the claim ends after its first map", end, missing)

    def words(self, start: int, end: int) -> Iterator[tuple[int, str]]:
        """Yield words outside of brackets with their offsets, without variables with bounds and lines of HLO."""
        depth = 0
        for found in _PARTS.finditer(self.text, start, end):
            match found.lastgroup:
                case "open":
                    depth += 1
                case "close":
                    depth = max(depth - 1, 0)
                case "word" if depth == 0 and not _BOUNDED.match(self.text, found.end(), end):
                    yield found.start(), found[0]

    def read(
        self,
        read: Callable[..., T],
        start: int,
        end: int,
        model: IndexingMap | ParametricMap | None = None,
        sizes: tuple[int, ...] | None = None,
    ) -> T:
        """Read the map between two offsets with the function ``read``.

        Bounds that are left out are taken from ``model`` by name, or from ``sizes`` for the dimensions in order.
        """
        start += _indent(self.text[start:end], lines=True)
        piece = self.text[start:end].rstrip()
        if not piece:
            expected = "a map such as `(d0) -> (d0), domain: d0 in [0, 9]`"
            self.fail("a map is missing", min(start, end), expected)
        bounds: dict[str, tuple[int, int]] = {}
        if isinstance(model, IndexingMap):
            bounds = {v.name: (v.lo, v.hi) for v in model.variables}
        if sizes is not None:
            head = re.compile(r"\(([\w\s,]*)\)").match(piece)
            names = [] if head is None else [n.strip() for n in head[1].split(",")]
            bounds.update((n, (0, size - 1)) for n, size in zip(names, sizes, strict=False))
        place = self.error("", start)
        with self.located(start):
            return read("\n" * (place.line - 1) + " " * (place.column - 1) + piece, bounds=bounds)

    # -- claims about programs
    def op_claim(self, block: _Block) -> None:
        at, end = block.at, block.at + len(block.text)
        program = self.program
        if program is None:
            message = "a claim about instructions, but there is no program above it in this section"
            self.fail(message, at, "`hlo NAME` before it")
        source, after = self.endpoint(program, at)
        arrow = self.text.index("->", after)
        target, after = self.endpoint(program, arrow + 2)
        relation = _RELATION.match(self.text, after + _indent(self.text[after:end]))
        if relation is None:
            place = after + _indent(self.text[after:end])
            self.unexpected(place, end, "`: MAP`, `within MAP` or `covers MAP`")
        start = relation.end()
        if relation[0] != ":" and (colon := re.compile(r"[ \t]*:").match(self.text, start)):
            start = colon.end()
        with self.located(at):
            program.direction(source, target)
            truth = program.maps(source, target)
        maps = tuple(self.sources(program, m, truth, *piece) for m, piece in self.maps(start, end, source.dims))
        kind = _RELATIONS[relation[0]]
        name = f"{program.name}: {source} -> {target}" + ("" if kind == "equals" else f" {kind}")
        statement = Dependence(program, source, target, kind, maps)
        said = [c.statement for c in self.claims if isinstance(c.statement, Dependence)]
        pair = (program, source, target, kind)
        same = [s for s in said if (s.program, s.source, s.target, s.relation) == pair]
        if same and all(s.maps != maps for s in same):
            # a further claim about the same pair, such as a correct one after a wrong one
            name += f" ({len(same) + 1})"
        self.add(block, name, at, statement, block.text)
        self.claimed += 1

    def endpoint(self, program: ClaimedProgram, at: int) -> tuple[Endpoint, int]:
        """Return the array named at an offset, and the offset after it."""
        at += _indent(self.text[at:].partition("\n")[0])
        nothing = re.compile(r"\(\s*\)").match(self.text, at)
        if nothing is not None:
            return program.endpoint(NOTHING, None), nothing.end()
        found = re.compile(rf"%?({_NAME})", re.ASCII).match(self.text, at)
        if found is None:
            self.unexpected(at, len(self.text), "the name of an instruction")
        end = found.end()
        leaf = None
        bracket = re.compile(r"[ \t]*\[[ \t]*([^\]\n]*?)[ \t]*\]").match(self.text, end)
        if bracket is not None:
            if not bracket[1].isdecimal() or not bracket[1].isascii() or len(bracket[1]) > 6:
                message = f"{quoted(bracket[1])} is no number of an array"
                self.fail(message, bracket.start(1), "an array's number, counted from 0")
            leaf, end = int(bracket[1]), bracket.end()
        with self.located(at):
            return program.endpoint(found[1], leaf), end

    def maps(
        self, start: int, end: int, sizes: tuple[int, ...] | None = None
    ) -> Iterator[tuple[IndexingMap, tuple[int, int]]]:
        """Yield the maps joined by ``and``; none for ``nothing``."""
        pieces = self.pieces(start, end)
        if len(pieces) == 1 and self.text[start:end].strip() == "nothing":
            return
        for piece in pieces:
            yield self.read(read_map, *piece, sizes=sizes), piece

    def pieces(self, start: int, end: int) -> list[tuple[int, int]]:
        """Return the offsets of the maps joined by ``and``."""
        ands = [at for at, word in self.words(start, end) if word == "and"]
        return [*zip([start, *(at + len("and") for at in ands)], [*ands, end], strict=True)]

    def sources(
        self, program: ClaimedProgram, m: IndexingMap, truth: Sequence[IndexingMap], start: int, end: int
    ) -> IndexingMap:
        """Return the map with names of instructions as the sources of its runtime variables.

        These are instructions of the program, and instructions inside of calls that a true map reads, by path.
        """
        known = {i.name: i for i in program.computation.instructions}
        inside = {r.source.hlo for t in map(sources_by_name, truth) for r in t.rts if r.source is not None}
        rts = []
        for v in m.rts:
            if v.source is None:
                rts.append(v)
                continue
            hlo = v.source.hlo
            stated = re.compile(rf"\bhlo[ \t]*:\s*({re.escape(hlo)})\s*$", re.MULTILINE)
            line = stated.search(self.text, start, end)
            at = start if line is None else line.start(1)
            name = operand_name(hlo)
            found = known.get(name)
            if found is None and name not in inside:
                message = f"there is no instruction {quoted(name)} in {quoted(program.name)}"
                self.fail(message, at, f"one of {', '.join([*known][:12])}")
            if found is not None:
                self.check_source(program, v, found, at)
            rts.append(replace(v, source=RuntimeSource(name, v.source.results)))
        return m.with_(rts=tuple(rts))

    def check_source(self, program: ClaimedProgram, v: RuntimeVariable, found: Instruction, at: int) -> None:
        """Raise an error if a source contradicts the instruction of the program."""
        assert v.source is not None
        if "=" in v.source.hlo:
            try:
                said = read_instruction(v.source.hlo)
            except InputError as error:
                self.fail(error.message, at + max(error.column - 1, 0), error.expected)
            if _essence(said) != _essence(found):
                message = f"{quoted(found.name)} is another instruction in {quoted(program.name)}"
                self.fail(message, at, f"its text in the program, or `hlo: {found.name}`")
        if isinstance(found.shape, Shape) and len(v.source.results) != len(found.shape.dims):
            indices = f"{quoted(v.name)} is read at {len(v.source.results)} indices"
            message = f"{indices}, but {quoted(found.name)} is {found.shape}"
            self.fail(message, at, f"{len(found.shape.dims)} results in the map below `hlo:`")


def _essence(i: Instruction) -> tuple[object, ...]:
    """Return a key that is equal for two spellings of one instruction, without layouts and attributes."""
    dims = [] if i.shape is None else [a.dims for _, a in leaves(i.shape)]
    return i.opcode, dims, i.literal, [o.name for o in i.operands]


def _indent(text: str, lines: bool = False) -> int:
    """Count the white space at the beginning, across lines if ``lines``."""
    return len(text) - len(text.lstrip(None if lines else " \t"))


def _dedented(text: str) -> str:
    """Return the non-empty lines without common indentation and trailing space."""
    return textwrap.dedent("\n".join(line.rstrip() for line in text.split("\n") if line.strip()))


def _without_comments(text: str) -> str:
    """Replace ``# comments`` by spaces; a ``#`` inside a word or a string begins none."""
    out = []
    for line in text.split("\n"):
        in_string = False
        for k, c in enumerate(line):
            if c == '"':
                in_string = not in_string
            elif c == "#" and not in_string and (k == 0 or line[k - 1].isspace()):
                line = line[:k] + " " * (len(line) - k)
                break
        out.append(line)
    return "\n".join(out)
