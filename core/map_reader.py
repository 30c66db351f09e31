"""Reading a map in any of its notations."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from .errors import InputError
from .indexing_map import IndexingMap
from .interop.mlir_form import from_mlir, is_mlir
from .json_form import load_json, map_from_json
from .text import parse_map

if TYPE_CHECKING:
    from .parametric import ParametricMap

__all__ = ["read_any_map", "read_map"]


def read_map(text: str, *, bounds: Mapping[str, tuple[int, int]] | None = None) -> IndexingMap:
    """Read JSON when ``text`` begins with ``{``, an ``affine_map`` when it begins like one, else the textual notation.

    ``bounds`` are for variables without bounds in the text; in JSON all have bounds.  A map with parameters must give
    all of them values, as in ``n = 4``.  Raises :class:`~indexproof.core.errors.InputError` and nothing else.
    """
    m = read_any_map(text, bounds=bounds)
    if isinstance(m, IndexingMap):
        return m
    raise InputError.at(
        f"the map has the parameters {', '.join(m.parameters)}: this needs concrete sizes",
        text,
        0,
        f"their values, as in `{', '.join(f'{p} = 4' for p in m.parameters)}` in the domain",
    )


def read_any_map(text: str, *, bounds: Mapping[str, tuple[int, int]] | None = None) -> IndexingMap | ParametricMap:
    """Read a map as :func:`read_map` does, or one with parameters; concrete where all parameters have values."""
    is_json = isinstance(text, str) and text.lstrip().startswith("{")
    try:
        if is_json:
            return map_from_json(text)
        read = from_mlir if isinstance(text, str) and is_mlir(text) else parse_map
        return read(text, bounds=bounds)
    except InputError:
        if not isinstance(text, str) or "{" not in text:
            raise
        # imported here, so that reading concrete maps does not load it
        from .parametric import parametric_from_json, parse_parametric

        if is_json:
            data = load_json(text)
            m = parametric_from_json(data) if "parameters" in data else None
        else:
            m = parse_parametric(text)
        if m is None:
            raise
    pins = m.pinned()
    return m.at(pins) if all(p in pins for p in m.parameters) else m
