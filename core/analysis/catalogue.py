"""What the analysis asks of a catalogue of ops, and how it says that there is no map.

The analysis knows no op. It is handed a catalogue that answers, for one instruction, how each element of
each output relates to each operand. Calls, fusions, tuples and parameters it follows itself.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from ..hlo import Instruction
from ..indexing_map import IndexingMap
from ..op import Direction


@dataclass(frozen=True, slots=True)
class NoMap:
    """No map exists, or none is known: at which instruction, and the reason, for a person."""

    instruction: str
    reason: str

    def __str__(self) -> str:
        return f"{self.instruction}: {self.reason}"


OpMaps = Sequence[Sequence[Sequence[IndexingMap]]]
"""`maps[output][operand]`: the maps between them; no map says that the output does not read the operand."""


class Catalogue(Protocol):
    """Maps of single instructions."""

    def maps(self, instruction: Instruction, direction: Direction) -> OpMaps | NoMap:
        """The maps of an instruction whose operands are arrays of known shape.

        The source of a runtime variable names the operand that holds the value: `RuntimeSource.hlo` is the
        operand's name, or text that starts with `name = `. Attributes that make no sense are an
        `InputError`.
        """
        ...


Simplify = Callable[[IndexingMap], IndexingMap]
"""Gives a map with the same relation."""

Equal = Callable[[IndexingMap, IndexingMap], bool]
"""Whether two maps are proved to have the same relation; False when that is not known."""


def same_map(m: IndexingMap) -> IndexingMap:
    """The simplifier that changes nothing."""
    return m
