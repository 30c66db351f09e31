"""HLO text: reader, immutable modules, printer."""

from .attributes import Stride, WindowDimension
from .module import SNIPPET, Computation, Instruction, Module, Operand, Signature, SourceTable, fill_shapes
from .printer import format_computation, format_instruction, format_module
from .reader import read_instruction, read_module
from .shape import AnyShape, Layout, Shape, Tile, TupleShape, leaves, read_shape

__all__ = [
    "SNIPPET",
    "AnyShape",
    "Computation",
    "Instruction",
    "Layout",
    "Module",
    "Operand",
    "Shape",
    "Signature",
    "SourceTable",
    "Stride",
    "Tile",
    "TupleShape",
    "WindowDimension",
    "fill_shapes",
    "format_computation",
    "format_instruction",
    "format_module",
    "leaves",
    "read_instruction",
    "read_module",
    "read_shape",
]
