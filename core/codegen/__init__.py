"""Code generation from maps: Python and C, with common subexpressions computed once.

:mod:`.program` fixes the order of the operations and bounds the width they need, :mod:`.statements` decides which
values get a name, and :mod:`.python_code` and :mod:`.c_code` emit the text.
"""

from __future__ import annotations

from .c_code import c_source
from .program import Program, width_bound
from .python_code import compile_map, python_source

__all__ = ["Program", "c_source", "compile_map", "python_source", "width_bound"]
