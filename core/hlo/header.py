"""Layouts of the entry, and parameters and result of a computation, as headers have them."""

from __future__ import annotations

from .lexer import Source
from .shape import AnyShape, scan_shape


def scan_entry_layout(source: Source, position: int, known: dict[str, AnyShape]) -> int:
    """The offset after a layout of the entry, `{(f32[2]{0})->f32[]}`; `known` as in `scan_shape`."""
    where = "in a layout of the entry"
    position = source.expect("(", source.expect("{", position, where), where)
    _, _, position = scan_signature(source, position, known, named=False)
    return source.expect("}", position, "after the result")


def scan_signature(
    source: Source, position: int, known: dict[str, AnyShape], named: bool
) -> tuple[tuple[tuple[str, AnyShape], ...], AnyShape, int]:
    """Parameters, perhaps with names, and result of `f32[2], f32[3]) -> f32[]`, and the offset after it."""
    parameters = []
    name = ""
    position = source.skip(position)
    while not source.text.startswith(")", position):
        if named:
            name, position = source.name(position, "a parameter's name")
            position = source.skip(source.expect(":", position, "after a parameter's name"))
        shape, position = scan_shape(source, position, known)
        parameters.append((name, shape))
        position = source.skip(position)
        if not source.text.startswith(")", position):
            position = source.skip(source.expect(",", position, "between parameters"))
    position = source.skip(source.expect("->", position + 1, "after the parameters"))
    result, position = scan_shape(source, position, known)
    return tuple(parameters), result, position
