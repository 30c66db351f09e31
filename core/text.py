"""The textual notation of indexing maps, XLA's own: reading, printing, and reading whichever form a text is
in.
"""

from __future__ import annotations

from collections.abc import Mapping

from .indexing_map import IndexingMap
from .json_form import map_from_json
from .text_printer import format_expr, format_map
from .text_reader import parse_condition, parse_expr, parse_map

__all__ = ["format_expr", "format_map", "parse_condition", "parse_expr", "parse_map", "read_map"]


def read_map(
    text: str,
    *,
    bounds: Mapping[str, tuple[int, int]] | None = None,
    first_line: int = 1,
    first_column: int = 1,
) -> IndexingMap:
    """A map in JSON when ``text`` begins with ``{``, as an ``affine_map`` when it begins like one, else in the textual
    notation.

    ``bounds`` are those of variables that the text says none of; JSON says all.  Raises
    :class:`~indexproof.core.errors.InputError` and nothing else.
    """
    start = text.lstrip()[:1] if isinstance(text, str) else ""
    if start == "{":
        return map_from_json(text, first_line=first_line, first_column=first_column)
    if start and start in "a#/":
        from .interop.mlir_form import from_mlir, is_mlir

        if is_mlir(text):
            return from_mlir(text, bounds=bounds, first_line=first_line, first_column=first_column)
    return parse_map(text, bounds=bounds, first_line=first_line, first_column=first_column)
