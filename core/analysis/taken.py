"""How an analysis is asked for, and what it takes for true, for those who want to check it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from ..hlo import Computation, Instruction
from ..indexing_map import IndexingMap
from .catalogue import Catalogue, Equal, Simplify, same_map
from .reads import Path, Reads
from .values import Run, Value, Values

__all__ = ["Evaluation", "Join", "Leaf", "Options", "Step", "Summary", "Taken", "Unrolling"]

Leaf = tuple[int, Path]
"""An operand's or parameter's number and the path of an array within its shape."""

Summary = dict[tuple[Path, Leaf], Reads]
"""Per leaf of the root and leaf of a parameter."""


@dataclass(frozen=True)
class Options:
    """How to analyse. `limit` bounds how many different maps are kept between two arrays."""

    catalogue: Catalogue
    simplify: Simplify = same_map
    equal: Equal | None = None
    fold_constants: bool = True
    limit: int = 1000
    #: Told of every step, for those who want to check them: see :class:`Step`.
    observe: Callable[[Taken], None] | None = None


@dataclass(frozen=True, eq=False)
class Evaluation:
    """What the analysis takes for the values of a computation, and the computation with them put in, if it is used.

    ``known`` has the values of parameters that this rests on.
    """

    computation: Computation
    known: Mapping[Leaf, Value]
    values: Values
    specialized: Computation | None = None


@dataclass(frozen=True, eq=False)
class Join:
    """Maps, and fewer maps that have the same relation, taken together."""

    parts: tuple[IndexingMap, ...]
    result: tuple[IndexingMap, ...]


@dataclass(frozen=True, eq=False)
class Unrolling:
    """The runs that the analysis takes a loop to have, from what is known of the arrays that it carries."""

    condition: Computation
    body: Computation
    start: Mapping[Path, Value]
    runs: tuple[Run, ...]


@dataclass(frozen=True, eq=False)
class Step:
    """One step of the analysis: ``result`` has the relation of the maps ``parts``, composed in this order.

    ``known`` has the instructions whose elements stand for runtime values of the only part, when the step is
    that of putting them in.
    """

    parts: tuple[IndexingMap, ...]
    result: IndexingMap
    known: Mapping[str, Instruction] | None = None


Taken = Step | Evaluation | Join | Unrolling
"""What the analysis takes for true, for those who want to check it."""
