"""A module and its maps, simplified; maps that are proved to be the same relation are kept once.

Solvers and their dependencies are imported only to compare two maps that differ.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace

from ..core.analysis import ModuleMaps, Options
from ..core.analysis.catalogue import OpCatalogue
from ..core.analysis.unknown_sizes import MapsForAllSizes, ReadsForAllSizes
from ..core.errors import InputError
from ..core.hlo import AnyShape, Computation, Instruction, Module, fill_shapes
from ..core.hlo.shape import unsized
from ..core.indexing_map import IndexingMap
from ..core.op import Direction
from ..core.simplify_map import simplify_map
from ..core.stablehlo import read_any
from ..rules.catalog import RULES
from ..rules.ops import op_reader, why_not
from .verdict import Status, worst


@dataclass(frozen=True)
class CheckedQuestion:
    """One question and its answer: ``where`` is an instruction, or a root and a parameter."""

    kind: str
    where: str
    status: Status
    detail: str = ""


@dataclass
class ComputationReport:
    """The proved maps of one computation.

    The analysis of a called computation is counted with the computation that reaches it first, unless that callee was
    checked before.
    """

    name: str
    checked: list[CheckedQuestion] = field(default_factory=list)
    seconds: float = 0.0

    @property
    def counts(self) -> dict[str, int]:
        """The number of questions of each kind."""
        return Counter(c.kind for c in self.checked)

    @property
    def failed(self) -> list[CheckedQuestion]:
        """The claims that were not proved."""
        return [c for c in self.checked if c.status is not Status.PROVED]

    @property
    def status(self) -> Status:
        """The verdict on the whole computation, which is proved if there was nothing to show."""
        return worst([c.status for c in self.checked]) if self.checked else Status.PROVED


class AnalysedModule:
    """One module and its maps; answers are cached."""

    def __init__(self, module: Module) -> None:
        self.read = op_reader(module)
        self.catalogue = OpCatalogue(self.read, why_not)
        #: The module, with shapes inferred where the text leaves them out.
        self.module = module = fill_shapes(module, self._shape)
        self._simplified: dict[IndexingMap, IndexingMap] = {}
        self._same: dict[tuple[IndexingMap, IndexingMap], bool] = {}
        self._for_all_sizes: dict[tuple[str, Direction], dict[tuple[int, int, int], ReadsForAllSizes]] = {}
        self._computations = {c.name: c for c in module.computations}
        self.maps = ModuleMaps(module, self.options())

    def options(self) -> Options:
        """Return the options of the analysis: maps are simplified, and kept once if proved equal."""
        return Options(self.catalogue, self.simplify, self.same)

    def _shape(self, instruction: Instruction) -> AnyShape | None:
        try:
            return self.catalogue.shape(instruction)
        except InputError:
            return None  # reported as an instruction without maps

    def same(self, a: IndexingMap, b: IndexingMap) -> bool:
        """Return whether two maps are proved to have the same relation, cached."""
        key = (a, b)
        if key not in self._same:
            from .concrete import equal_maps

            self._same[key] = equal_maps(a, b).proved
        return self._same[key]

    def simplify(self, m: IndexingMap) -> IndexingMap:
        """Simplify a map, cached."""
        found = self._simplified.get(m)
        if found is None:
            found = self._simplified[m] = simplify_map(m, RULES)
        return found

    def for_all_sizes(self, c: Computation, direction: Direction) -> dict[tuple[int, int, int], ReadsForAllSizes]:
        """Return the simplified maps of a computation with arrays of unknown size; empty if it has no such arrays."""
        key = (c.name, direction)
        if key not in self._for_all_sizes:
            found: dict[tuple[int, int, int], ReadsForAllSizes] = {}
            if any(unsized(i.shape) for i in c.instructions):
                from .parametric import simplified

                reads = MapsForAllSizes(self.module, self.read, direction).computation(c)
                found = {k: replace(r, maps=tuple(map(simplified, r.maps))) for k, r in reads.items()}
            self._for_all_sizes[key] = found
        return self._for_all_sizes[key]


def module_maps(module: Module | str) -> ModuleMaps:
    """Return the simplified maps of a module or of HLO text; of up to 16 maps, those proved to be equal are kept once.

    Raises :class:`InputError`, with the position, for text that is not HLO.
    """
    return AnalysedModule(read_any(module) if isinstance(module, str) else module).maps
