"""The maps of one computation, for tests that ask for nothing else of its module."""

from __future__ import annotations

from indexproof.core.analysis import Catalogue, ComputationMaps, Equal, ModuleMaps, Options, Simplify, same_map
from indexproof.core.hlo import Computation, Module
from indexproof.core.op import Direction


def computation_maps(
    module: Module,
    catalogue: Catalogue,
    simplify: Simplify = same_map,
    *,
    computation: Computation | str | None = None,
    direction: Direction = "output_to_input",
    equal: Equal | None = None,
    limit: int = 1000,
) -> ComputationMaps:
    """The maps of one computation of a module, the entry unless one is named."""
    options = Options(catalogue, simplify, equal, limit)
    return ModuleMaps(module, options).computation(computation or module.entry, direction)
