"""Reading a map in whichever notation it is written."""

from __future__ import annotations

from collections.abc import Mapping

from .indexing_map import IndexingMap
from .interop.mlir_form import from_mlir, is_mlir
from .json_form import map_from_json
from .text import parse_map

__all__ = ["read_map"]


def read_map(
    text: str,
    *,
    bounds: Mapping[str, tuple[int, int]] | None = None,
    first_line: int = 1,
    first_column: int = 1,
) -> IndexingMap:
    """Read JSON when ``text`` begins with ``{``, an ``affine_map`` when it begins like one, else the textual notation.

    ``bounds`` are those of variables that the text says none of; JSON says all.  Raises
    :class:`~indexproof.core.errors.InputError` and nothing else.
    """
    if isinstance(text, str) and text.lstrip().startswith("{"):
        return map_from_json(text, first_line=first_line, first_column=first_column)
    read = from_mlir if isinstance(text, str) and is_mlir(text) else parse_map
    return read(text, bounds=bounds, first_line=first_line, first_column=first_column)
