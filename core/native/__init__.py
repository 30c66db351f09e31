"""The simplifier in C++, where it was built: the same rules, strategies and search, translated (`tests/dev/translate.py`).

``INDEXPROOF_PURE=1`` in the environment turns it off.  It answers ``None`` where 64 bits are too few, a variable has no
ends, or an expression has a form that the translation does not know; the caller then does the same in Python.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any, Final

from .. import expr, indexing_map

__all__ = ["NATIVE", "simplified", "simplified_map"]

try:
    from . import _native
except ImportError:
    _native = None  # type: ignore[assignment]

#: Whether the native core is there and used.
NATIVE: Final = _native is not None and not os.environ.get("INDEXPROOF_PURE")
_ENGINE: Final = f"{__package__.rpartition('.core.')[0]}.rules.compiled"

if NATIVE:
    _native.attach(expr, indexing_map)


def simplified(
    engine: type,
    results: tuple[expr.Expr, ...],
    boxes: dict[Any, Any],
    known: list[tuple[expr.Expr, Any, Any]],
    weight: int,
    quick: bool,
    keep_points: bool,
) -> list[expr.Expr] | None:
    """Simplify the results of a map; ``None`` where that is left to Python.

    ``boxes`` are the ends of variables, ``known`` those of other expressions.  Only the engine of the catalogue is
    translated.
    """
    if not NATIVE or engine.__module__ != _ENGINE:
        return None
    return _native.simplify(results, boxes, known, weight, quick, keep_points)


def simplified_map(
    engine: type | None,
    m: indexing_map.IndexingMap,
    weight: int,
    quick: bool,
    keep_points: bool,
    emptied: Callable[[indexing_map.IndexingMap], indexing_map.IndexingMap],
) -> indexing_map.IndexingMap | None:
    """Simplify a map, one without points by ``emptied``; ``None`` where that is left to Python."""
    if (
        not NATIVE
        or engine is None
        or engine.__module__ != _ENGINE
        or type(m) is not indexing_map.IndexingMap
    ):
        return None
    found: Any = _native.simplify_map(m, weight, quick, keep_points)
    return emptied(m) if found is False else found
