"""The simplifier in C++, where it was built: the same rules, strategies and search, translated (`tests/dev/translate.py`).

``INDEXPROOF_PURE=1`` in the environment turns it off.  It answers ``None`` where 64 bits are too few, a variable has no
ends, or an expression has a form that the translation does not know; the caller then does the same in Python.
"""

from __future__ import annotations

import os
from typing import Any, Final

from .. import expr

__all__ = ["NATIVE", "simplified"]

try:
    from . import _native
except ImportError:
    _native = None  # type: ignore[assignment]

#: Whether the native core is there and used.
NATIVE: Final = _native is not None and not os.environ.get("INDEXPROOF_PURE")
_ENGINE: Final = f"{__package__.rpartition('.core.')[0]}.rules.compiled"

if NATIVE:
    _native.attach(expr)


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
