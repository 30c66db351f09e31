"""Turn a program into statements of a language: decide which steps get a name and which are inlined.

A step that is used once is inlined; one that is used more often is assigned to a name.  Expressions nest no deeper than
:data:`MAX_DEPTH`, so that no compiler runs out of stack.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import ClassVar, Final, NamedTuple

from ..expr import Var
from .program import Operation, Program

#: Precedence levels: a conditional, a sum, a product or quotient, a signed operand, a name or call.
CHOICE, SUM, PRODUCT, SIGN, ATOM = range(5)
MAX_DEPTH: Final = 16


class Piece(NamedTuple):
    """The text of a step, its precedence level and its nesting depth."""

    text: str
    level: int = ATOM
    depth: int = 0

    def at(self, level: int) -> str:
        """Return the text as an operand that must bind at least as tightly as ``level``."""
        return self.text if self.level >= level else f"({self.text})"


class Language:
    """The syntax of a language for the operations of a program; this class has what most languages share."""

    infix: ClassVar[Mapping[str, tuple[str, int]]] = {
        "plus": (" + ", SUM),
        "minus": (" - ", SUM),
        "times": (" * ", PRODUCT),
    }

    def __init__(self, program: Program) -> None:
        self.program = program

    def literal(self, n: int) -> Piece:
        """Return an integer literal."""
        return Piece(str(n), ATOM if n >= 0 else SIGN)

    def repeats(self, k: int) -> bool:
        """Return whether step ``k`` writes an operand more than once, so that its operands need names."""
        return self.program.steps[k].op in ("minimum", "maximum")

    def operation(self, k: int, op: Operation, args: Sequence[Piece]) -> tuple[str, int]:
        """Return text and level of step ``k``."""
        if op == "negate":
            return f"-{args[0].at(ATOM)}", SIGN
        a, b = args
        if op in self.infix:
            sign, level = self.infix[op]
            return a.at(level) + sign + b.at(level + 1), level
        return self.special(k, op, a, b)

    def special(self, k: int, op: Operation, a: Piece, b: Piece) -> tuple[str, int]:
        """Return text and level of an operation that has no infix operator in all languages."""
        raise NotImplementedError

    def assignment(self, name: str, text: str) -> str:
        """Return the statement that assigns a value to a name."""
        return f"{name} = {text}"


class Names:
    """A supply of distinct identifiers."""

    def __init__(self, refused: Callable[[str], bool], taken: Collection[str] = ()) -> None:
        self.refused = refused
        self.taken = set(taken)
        self.count = 0

    def named(self, wanted: str) -> str:
        """Return ``wanted``, or a similar name where that is not a free identifier."""
        if self.refused(wanted):
            wanted += "_"
        if self.refused(wanted):
            wanted = "v" + re.sub("_+", "_", wanted)
        while wanted in self.taken:
            wanted += "_"
        self.taken.add(wanted)
        return wanted

    def temporary(self) -> str:
        """Return the next free name of ``t0``, ``t1``, …."""
        while (name := f"t{self.count}") in self.taken:
            self.count += 1
        self.taken.add(name)
        return name


class Statements:
    """The statements that compute steps of a program, in the order of the requests."""

    def __init__(self, program: Program, language: Language, names: Names) -> None:
        self.program = program
        self.language = language
        self.names = names
        self.lines: list[str] = []
        self.inputs: list[str] = []
        self.pieces: dict[int, Piece] = {}
        self.uses = [0] * len(program.steps)
        for k in program.outputs:
            self.uses[k] += 1
        for k in program.needed(program.outputs):
            weight = 2 if language.repeats(k) else 1
            for a in program.steps[k].args:
                self.uses[a] += weight
        for k, step in enumerate(program.steps):
            if isinstance(step.leaf, Var):
                name = names.named(step.leaf.name)
                self.pieces[k] = Piece(name)
                self.inputs.append(name)

    def compute(self, wanted: Iterable[int]) -> list[Piece]:
        """Return texts for the ``wanted`` steps; statements for their operands are appended to :attr:`lines`."""
        wanted = list(wanted)
        for k in sorted(self.program.needed(wanted)):
            if k in self.pieces:
                continue
            op, args, leaf = self.program.steps[k]
            if op == "integer":
                assert isinstance(leaf, int)
                self.pieces[k] = self.language.literal(leaf)
                continue
            operands = [self.pieces[a] for a in args]
            text, level = self.language.operation(k, op, operands)
            depth = 1 + max(p.depth for p in operands)
            if self.uses[k] > 1 or depth > MAX_DEPTH:
                self.pieces[k] = self._assigned(text)
            else:
                self.pieces[k] = Piece(text, level, depth)
        return [self.pieces[k] for k in wanted]

    def name(self, k: int) -> str:
        """Return a name or literal for step ``k``, after computing it if necessary."""
        (piece,) = self.compute([k])
        if piece.depth:
            piece = self.pieces[k] = self._assigned(piece.text)
        return piece.text

    def _assigned(self, text: str) -> Piece:
        name = self.names.temporary()
        self.lines.append(self.language.assignment(name, text))
        return Piece(name)
