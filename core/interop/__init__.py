"""Conversion of maps and expressions from and to other systems: sympy, TVM and MLIR.

Each system has one module, which imports it lazily; MLIR is text and needs no package. :mod:`.foreign` contains their
common parts.  The conversion for isl, a solver, is :mod:`indexproof.verify.isl_form`.
"""

from __future__ import annotations

from .foreign import ForeignMap
from .mlir_form import from_mlir, is_mlir, to_mlir, to_mlir_set
from .sympy_form import SympyMap, from_sympy, to_sympy
from .tvm_form import TvmMap, from_tvm, to_tvm

__all__ = [
    "ForeignMap",
    "SympyMap",
    "TvmMap",
    "from_mlir",
    "from_sympy",
    "from_tvm",
    "is_mlir",
    "to_mlir",
    "to_mlir_set",
    "to_sympy",
    "to_tvm",
]
