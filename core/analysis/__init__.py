"""Maps of whole computations, composed from the maps of their instructions."""

from .catalogue import Catalogue, Equal, NoMap, OpCatalogue, OpMaps, Simplify, UpperBounds, same_map
from .dependence import Reads
from .maps import ComputationMaps, ModuleMaps, computation_maps
from .steps import (
    AnalysisStep,
    CompositionStep,
    EvaluationStep,
    FollowStep,
    MaskStep,
    MergeStep,
    OperandStep,
    Options,
    UnrollingStep,
)

__all__ = [
    "AnalysisStep",
    "Catalogue",
    "CompositionStep",
    "ComputationMaps",
    "Equal",
    "EvaluationStep",
    "FollowStep",
    "MaskStep",
    "MergeStep",
    "ModuleMaps",
    "NoMap",
    "OpCatalogue",
    "OpMaps",
    "OperandStep",
    "Options",
    "Reads",
    "Simplify",
    "UnrollingStep",
    "UpperBounds",
    "computation_maps",
    "same_map",
]
