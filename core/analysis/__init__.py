"""Maps of whole computations, composed from the maps of their instructions."""

from .catalogue import Catalogue, Equal, NoMap, OpMaps, Simplify, same_map
from .maps import ComputationMaps, Reads, computation_maps, instruction_maps

__all__ = [
    "Catalogue",
    "ComputationMaps",
    "Equal",
    "NoMap",
    "OpMaps",
    "Reads",
    "Simplify",
    "computation_maps",
    "instruction_maps",
    "same_map",
]
