"""Options of an analysis, and the steps that it reports so that they can be checked."""

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
    """Options of an analysis. `limit` bounds the number of different maps between two arrays."""

    catalogue: OpCatalogue
    #: Returns a map with the same relation.
    simplify: Callable[[IndexingMap], IndexingMap] = lambda m: m
    #: Returns whether two maps are proved to have the same relation; False if that is not known.
    equal: Callable[[IndexingMap, IndexingMap], bool] | None = None
    limit: int = 1000
    #: Receives every step, so that it can be checked: see :class:`CompositionStep`.
    observe: Callable[[AnalysisStep], None] = lambda step: None


@dataclass(frozen=True, eq=False)
class EvaluationStep:
    """The values that the analysis derives in a computation; the specialized computation, if it is used.

    ``known`` has the values of parameters that they follow from.
    """

    computation: Computation
    known: Mapping[Leaf, Value]
    values: Values
    specialized: Computation | None = None


@dataclass(frozen=True, eq=False)
class OperandStep:
    """The values that the analysis derives for operands of an instruction that runs a computation, by number and path.

    ``known`` has the values of the caller's parameters, and ``evaluated`` the caller's instructions, that they follow
    from.
    """

    caller: Computation
    known: Mapping[Leaf, Value]
    evaluated: Container[str]
    instruction: Instruction
    operands: Mapping[Leaf, Value]


@dataclass(frozen=True, eq=False)
class MaskStep:
    """Maps to operands that are read under a mask, each restricted to the mask by one or several maps.

    They lead from a `select` to its branches, if ``known`` claims the value of the predicate before it is broadcast, or
    from a `scatter` to its operand, if it claims the value of the indices.
    """

    instruction: Instruction
    known: OperandStep
    branches: Sequence[IndexingMap]
    masked: Sequence[Sequence[IndexingMap]]


@dataclass(frozen=True, eq=False)
class FollowStep:
    """Two sources of a runtime value that are one element: before and after an instruction that moves it."""

    computation: Computation
    map: IndexingMap
    before: RuntimeSource
    after: RuntimeSource


@dataclass(frozen=True, eq=False)
class MergeStep:
    """Maps, and fewer maps whose union has the same relation."""

    parts: tuple[IndexingMap, ...]
    result: tuple[IndexingMap, ...]


@dataclass(frozen=True, eq=False)
class UnrollingStep:
    """The runs that the analysis derives for a loop, from known values of the arrays that it carries."""

    condition: Computation
    body: Computation
    start: Mapping[Path, Value]
    runs: tuple[LoopRun, ...]


@dataclass(frozen=True, eq=False)
class CompositionStep:
    """One step of the analysis: ``result`` has the relation of the maps ``parts``, composed in this order.

    If ``known`` is given, the step replaces runtime values of the only part by elements of these instructions.
    """

    parts: tuple[IndexingMap, ...]
    result: IndexingMap
    known: Mapping[str, Instruction] | None = None


AnalysisStep = CompositionStep | EvaluationStep | FollowStep | MaskStep | MergeStep | OperandStep | UnrollingStep
"""A fact that the analysis derives and uses."""
