"""Shapes, layouts and tiles as maps between the elements of an array and positions in memory."""

from __future__ import annotations

from ..hlo.shape import Layout, Shape, Tile
from .bitcast import Decomposition, ReshapeStep, TransposeStep, bitcast_map, decompose
from .memory import Memory, element_bits, memory, physical_map
from .placement import Placement, Tiling

__all__ = [
    "Decomposition",
    "Layout",
    "Memory",
    "Placement",
    "ReshapeStep",
    "Shape",
    "Tile",
    "Tiling",
    "TransposeStep",
    "bitcast_map",
    "decompose",
    "element_bits",
    "memory",
    "physical_map",
]
