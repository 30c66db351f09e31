"""Maps of a single computation of a module, for tests."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from indexproof.core.analysis import ComputationMaps, ModuleMaps, Options
from indexproof.core.hlo import Computation, Module
from indexproof.core.indexing_map import IndexingMap
from indexproof.core.op import Direction


def computation_maps(
    module: Module,
    catalogue: Any,
    simplify: Callable[[IndexingMap], IndexingMap] = lambda m: m,
    *,
    computation: Computation | str | None = None,
    direction: Direction = "output_to_input",
    equal: Callable[[IndexingMap, IndexingMap], bool] | None = None,
    limit: int = 1000,
) -> ComputationMaps:
    """Return the maps of one computation of a module, by default the entry."""
    options = Options(catalogue, simplify, equal, limit)
    return ModuleMaps(module, options).computation(computation or module.entry, direction)
