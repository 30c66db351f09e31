"""Two HLO instructions compared: whether they read the same elements of their operands."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from ...core.analysis.runtime import operand_name, with_sources
from ...core.errors import InputError, quoted
from ...core.hlo import Instruction, Shape
from ...core.indexing_map import IndexingMap, RuntimeSource
from ..concrete import Answer
from .program import Program, load_program
from .relations import same_relation

__all__ = ["OperandAnswer", "compare_instructions", "is_instruction"]

_INSTRUCTION: Final = re.compile(r"\s*(?:ROOT\s+)?%?[A-Za-z_][\w.\-]*\s*=\s*\S", re.ASCII)


@dataclass(frozen=True)
class OperandAnswer:
    """What two instructions read of one operand, and whether that is the same."""

    operand: int
    left: tuple[IndexingMap, ...]
    right: tuple[IndexingMap, ...]
    answer: Answer


def is_instruction(text: str) -> bool:
    """Whether a text is meant as HLO and not as a map: it begins with `NAME =`."""
    return _INSTRUCTION.match(text) is not None


def compare_instructions(left: str, right: str) -> list[OperandAnswer]:
    """Operand for operand, whether two instructions read the same elements.

    A text may define operands of its last instruction above it; those count as given.  Raises :class:`InputError` for
    texts that are not instructions, and for instructions whose shapes cannot be compared.
    """
    one, two = (_loaded(text, name) for text, name in ((left, "first"), (right, "second")))
    a, b = one.computation.root, two.computation.root
    if _sizes(a.shape) != _sizes(b.shape):
        raise InputError(
            f"{quoted(a.name)} makes {a.shape} and {quoted(b.name)} makes {b.shape}",
            expected="two instructions that make arrays of the same sizes",
        )
    sizes = [[_sizes(o.shape) for o in i.operands] for i in (a, b)]
    if sizes[0] != sizes[1]:
        raise InputError(
            f"the operands of {quoted(a.name)} and {quoted(b.name)} have different shapes",
            expected="operands of the same sizes in the same order",
        )
    if not a.operands:
        raise InputError(
            f"{quoted(a.name)} has no operands to compare", expected="instructions with operands"
        )
    found = []
    for k in range(len(a.operands)):
        maps = [_maps(p, i, k) for p, i in ((one, a), (two, b))]
        found.append(OperandAnswer(k, tuple(maps[0]), tuple(maps[1]), same_relation(maps[0], maps[1])))
    return found


def _loaded(text: str, name: str) -> Program:
    try:
        return load_program(name, text, 1)
    except InputError as error:
        if error.line and not error.source:
            error.source = text
        error.add_note(f"in the {name} instruction")
        raise


def _sizes(shape: object) -> tuple[int, ...] | None:
    return shape.dims if isinstance(shape, Shape) else None


def _maps(program: Program, instruction: Instruction, k: int) -> list[IndexingMap]:
    """What the instruction reads of operand ``k``; operands are called by their places."""
    operands = [o.name for o in instruction.operands]
    source, target = program.endpoint(instruction.name, None), program.endpoint(operands[k], None)

    def placed(at: RuntimeSource) -> RuntimeSource:
        name = operand_name(at.hlo)
        place = f"operand {operands.index(name)}" if name in operands else name
        return RuntimeSource(place, at.results)

    return [with_sources(m, placed) for m in program.maps(source, target)]
