"""Expressions and the simplifier in C++, where the extension is built.

Rules, strategies and search are translated from Python (`tests/dev/translate.py`); the functions that build expressions
are reimplemented. ``INDEXPROOF_PURE=1`` in the environment disables it.  Integers beyond 64 bits, unbounded variables,
and expressions that the translation does not support are left to Python.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from types import ModuleType
from typing import TYPE_CHECKING, Any, Final, TypeVar

if TYPE_CHECKING:
    from ..expr import Expr
    from ..indexing_map import IndexingMap

__all__ = ["NATIVE", "attach", "built", "simplified", "simplified_map"]

F = TypeVar("F", bound=Callable[..., Any])

try:
    from . import _native
except ImportError:
    _native = None  # type: ignore[assignment]

#: Whether the native core is available and enabled.
NATIVE: Final = _native is not None and not os.environ.get("INDEXPROOF_PURE")
_ENGINE: Final = f"{__package__.rpartition('.core.')[0]}.rules.compiled"


def built(function: F) -> F:
    """Return the C++ version of a function, which calls the given one for unsupported arguments; else the given one."""
    return _native.built(function) if NATIVE else function


def attach(module: ModuleType, maps: bool = False) -> None:
    """Pass the classes of the module of expressions, or of that of maps, to the native core."""
    if NATIVE:
        (_native.attach_maps if maps else _native.attach_expressions)(module)


def simplified(
    engine: type,
    results: tuple[Expr, ...],
    boxes: dict[Any, Any],
    known: list[tuple[Expr, Any, Any]],
    weight: int,
    quick: bool,
    keep_points: bool,
) -> list[Expr] | None:
    """Simplify the results of a map; return ``None`` where that is left to Python.

    ``boxes`` are the bounds of variables, ``known`` those of other expressions.  Only the engine of the catalogue is
    translated.
    """
    if not NATIVE or engine.__module__ != _ENGINE:
        return None
    return _native.simplify(results, boxes, known, weight, quick, keep_points)


def simplified_map(
    engine: type | None,
    m: IndexingMap,
    trace: list[tuple[Any, ...]] | None,
    weight: int,
    quick: bool,
    keep_points: bool,
    emptied: Callable[[IndexingMap], IndexingMap],
) -> IndexingMap | None:
    """Simplify a map; ``emptied`` gives the result for an empty domain.  Return ``None`` where that is left to Python.

    ``trace`` collects the recorded entries, as :func:`indexproof.core.native.recorded.entries` reads them.
    """
    if not NATIVE or engine is None or engine.__module__ != _ENGINE:
        return None
    found: Any = _native.simplify_map(m, trace, weight, quick, keep_points)
    return emptied(m) if found is False else found
