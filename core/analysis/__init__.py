"""Maps of whole computations, composed from the maps of their instructions."""

from .catalogue import Catalogue, Equal, NoMap, OpMaps, Simplify, same_map
from .maps import ComputationMaps, ModuleMaps, computation_maps, instruction_maps
from .reads import Reads
from .taken import Evaluation, Join, Options, Step, Taken, Unrolling

__all__ = [
    "Catalogue",
    "ComputationMaps",
    "Equal",
    "Evaluation",
    "Join",
    "ModuleMaps",
    "NoMap",
    "OpMaps",
    "Options",
    "Reads",
    "Simplify",
    "Step",
    "Taken",
    "Unrolling",
    "computation_maps",
    "instruction_maps",
    "same_map",
]
