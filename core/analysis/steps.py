"""Options of an analysis, and the steps that it reports to those who want to check them."""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass

from ..hlo import Computation, Instruction
from ..indexing_map import IndexingMap, RuntimeSource
from .catalogue import OpCatalogue
from .dependence import Leaf, Path
from .values import LoopRun, Value, Values


@dataclass(frozen=True)
class Options:
    """How to analyse. `limit` bounds how many different maps are kept between two arrays."""

    catalogue: OpCatalogue
    #: Gives a map with the same relation.
    simplify: Callable[[IndexingMap], IndexingMap] = lambda m: m
    #: Whether two maps are proved to have the same relation; False when that is not known.
    equal: Callable[[IndexingMap, IndexingMap], bool] | None = None
    limit: int = 1000
    #: Told of every step, for those who want to check them: see :class:`CompositionStep`.
    observe: Callable[[AnalysisStep], None] = lambda step: None


@dataclass(frozen=True, eq=False)
class EvaluationStep:
    """The values that the analysis takes a computation to have; the computation with them put in, if it is used.

    ``known`` has the values of parameters that this rests on.
    """

    computation: Computation
    known: Mapping[Leaf, Value]
    values: Values
    specialized: Computation | None = None


@dataclass(frozen=True, eq=False)
class OperandStep:
    """The values that operands of an instruction are taken to have, by number and path, where a computation runs on them.

    ``known`` has the values of the caller's parameters that this rests on, ``evaluated`` the caller's instructions that
    it follows from.
    """

    caller: Computation
    known: Mapping[Leaf, Value]
    evaluated: Container[str]
    instruction: Instruction
    operands: Mapping[Leaf, Value]


@dataclass(frozen=True, eq=False)
class MaskStep:
    """Maps to operands that are read under a mask, each restricted to where that is so: one map to several.

    Those of a `select` to its branches, where ``known`` claims the value of the predicate before it is broadcast, or that
    of a `scatter` to its operand, where it claims the value of the indices.
    """

    instruction: Instruction
    known: OperandStep
    branches: Sequence[IndexingMap]
    masked: Sequence[Sequence[IndexingMap]]


@dataclass(frozen=True, eq=False)
class FollowStep:
    """Two sources of a runtime value of a map that are one element: of an instruction, and of what it takes it from."""

    computation: Computation
    map: IndexingMap
    before: RuntimeSource
    after: RuntimeSource


@dataclass(frozen=True, eq=False)
class MergeStep:
    """Maps, and fewer maps that have the same relation, taken together."""

    parts: tuple[IndexingMap, ...]
    result: tuple[IndexingMap, ...]


@dataclass(frozen=True, eq=False)
class UnrollingStep:
    """The runs that the analysis takes a loop to have, from what is known of the arrays that it carries."""

    condition: Computation
    body: Computation
    start: Mapping[Path, Value]
    runs: tuple[LoopRun, ...]


@dataclass(frozen=True, eq=False)
class CompositionStep:
    """One step of the analysis: ``result`` has the relation of the maps ``parts``, composed in this order.

    ``known`` has the instructions whose elements stand for runtime values of the only part, when the step is
    that of putting them in.
    """

    parts: tuple[IndexingMap, ...]
    result: IndexingMap
    known: Mapping[str, Instruction] | None = None


AnalysisStep = CompositionStep | EvaluationStep | FollowStep | MaskStep | MergeStep | OperandStep | UnrollingStep
"""One thing that the analysis takes for true."""
