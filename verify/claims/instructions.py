"""Compares HLO instructions by the elements they read: two instructions by operand, or one with a map."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from ...core.analysis.runtime import operand_name, with_sources
from ...core.errors import InputError, quoted
from ...core.hlo import AnyShape, Instruction, Shape, leaves
from ...core.indexing_map import IndexingMap, RuntimeSource
from ..concrete import Answer, same_relation
from .program import ClaimedProgram, load_program

_NAME: Final = r"%?[A-Za-z_][\w.\-]*"
#: The beginning of HLO: an instruction, a module, a computation, or an instruction without a name.
_HLO: Final = re.compile(rf"\s*(?:(?:ROOT\s+)?{_NAME}\s*=\s*\S|HloModule\b|(?:ENTRY\s+)?{_NAME}\s*[({{])", re.ASCII)
_NAMELESS: Final = re.compile(r"\s*[a-z]\w*\[[\d,\s<=]*\](?:\{[^{}]*\})?\s+[a-z][\w\-]*\(", re.ASCII)


@dataclass(frozen=True)
class OperandAnswer:
    """The reads of one operand for one output array by both sides, and whether they are equal.

    ``array`` is the index of the array in a tuple, or ``None`` if there is only one array.
    """

    operand: int
    left: tuple[IndexingMap, ...]
    right: tuple[IndexingMap, ...]
    answer: Answer
    array: int | None = None


def is_instruction(text: str) -> bool:
    """Return whether a text is HLO and not a map."""
    return not text.lstrip().startswith("affine_map") and (
        _HLO.match(text) is not None or _NAMELESS.match(text) is not None
    )


def compare_instructions(left: str, right: str) -> list[OperandAnswer]:
    """Compare the elements that two instructions read, for each array that they make and each operand.

    A text may define operands of its last instruction above it; these are taken as given.  Raises :class:`InputError`
    for texts that are not instructions, and for instructions whose shapes cannot be compared.
    """
    one, two = _loaded(left, "first instruction"), _loaded(right, "second instruction")
    a, b = one.computation.root, two.computation.root
    if _sizes(a.shape) != _sizes(b.shape):
        raise InputError(
            f"the first instruction makes {a.shape} and the second {b.shape}",
            expected="two instructions that make arrays of the same sizes",
        )
    sizes = [[_sizes(o.shape) for o in i.operands] for i in (a, b)]
    if sizes[0] != sizes[1]:
        raise InputError(
            f"the first instruction has the operands {_listed(a)} and the second {_listed(b)}",
            expected="operands of the same sizes in the same order",
        )
    if not a.operands:
        raise InputError(f"{quoted(a.name)} has no operands to compare", expected="instructions with operands")
    found = []
    for array in _arrays(a):
        for k in range(len(a.operands)):
            maps = [_maps(p, i, array, k) for p, i in ((one, a), (two, b))]
            answer = same_relation(maps[0], maps[1])
            found.append(OperandAnswer(k, tuple(maps[0]), tuple(maps[1]), answer, array))
    return found


def compare_with_map(text: str, m: IndexingMap, *, map_first: bool = False) -> OperandAnswer:
    """Compare the elements that an instruction reads of its one operand with ``m``, which is left if ``map_first``.

    Raises :class:`InputError` for an instruction that makes several arrays or does not have exactly one operand.
    """
    program = _loaded(text, "second instruction" if map_first else "first instruction")
    root = program.computation.root
    if len(root.operands) != 1 or _arrays(root) != [None]:
        raise InputError(
            f"{quoted(root.name)} has the operands {_listed(root)} and makes {root.shape}",
            expected="an instruction with one operand, which makes one array, to compare with a map",
        )
    own = tuple(_maps(program, root, None, 0))
    left, right = ((m,), own) if map_first else (own, (m,))
    return OperandAnswer(0, left, right, same_relation(left, right))


def _loaded(text: str, name: str) -> ClaimedProgram:
    if _NAMELESS.match(text):
        text = f"result = {text.lstrip()}"
    try:
        return load_program(name, text, 1)
    except InputError as error:
        if error.line and not error.source:
            error.source = text
        error.add_note(f"in the {name}")
        raise


def _sizes(shape: AnyShape | None) -> list[tuple[int, ...]]:
    return [] if shape is None else [s.dims for _, s in leaves(shape)]


def _arrays(instruction: Instruction) -> list[int | None]:
    """Return the indices of the arrays in the result of an instruction, or ``[None]`` for a single array."""
    if instruction.shape is None or isinstance(instruction.shape, Shape):
        return [None]
    return list(range(len(_sizes(instruction.shape))))


def _listed(instruction: Instruction) -> str:
    return ", ".join(str(o.shape) for o in instruction.operands) or "none"


def _maps(program: ClaimedProgram, instruction: Instruction, array: int | None, k: int) -> Sequence[IndexingMap]:
    """Return the maps by which an array of the instruction reads operand ``k``; operands are named by position."""
    operands = [o.name for o in instruction.operands]
    source, target = program.endpoint(instruction.name, array), program.endpoint(operands[k], None)

    def placed(at: RuntimeSource) -> RuntimeSource:
        name = operand_name(at.hlo)
        place = f"operand {operands.index(name)}" if name in operands else name
        return RuntimeSource(place, at.results)

    return [with_sources(m, placed) for m in program.maps(source, target)]
