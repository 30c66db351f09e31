"""Code from maps: Python, numpy and C, with common subexpressions computed once.

:mod:`.program` fixes the order of the operations and bounds the width they need, :mod:`.statements` decides what gets
a name, and :mod:`.python_code`, :mod:`.numpy_code` and :mod:`.c_code` write it down.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .c_code import c_source
from .program import Program, width_bound
from .python_code import compile_map, python_source

if TYPE_CHECKING:
    from .numpy_code import compile_numpy as compile_numpy

__all__ = ["Program", "c_source", "compile_map", "compile_numpy", "python_source", "width_bound"]

if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        """numpy is loaded by those who ask for it."""
        if name != "compile_numpy":
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        from .numpy_code import compile_numpy

        return compile_numpy
