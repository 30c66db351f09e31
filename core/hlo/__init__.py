"""HLO text: reader, immutable modules, printer."""

from .attributes import Attributes, Quoted, Raw, Record, Reference, Stride, Value, WindowDimension
from .module import SNIPPET, Computation, Instruction, Module, Operand, Signature, SourceTable, fill_shapes
from .printer import format_computation, format_instruction, format_module
from .reader import read_instruction, read_module
from .shape import AnyShape, Layout, Shape, Tile, TupleShape, leaves, read_shape

__all__ = [
    "SNIPPET",
    "AnyShape",
    "Attributes",
    "Computation",
    "Instruction",
    "Layout",
    "Module",
    "Operand",
    "Quoted",
    "Raw",
    "Record",
    "Reference",
    "Shape",
    "Signature",
    "SourceTable",
    "Stride",
    "Tile",
    "TupleShape",
    "Value",
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
