"""Maps and expressions in the terms of other systems: sympy, TVM and MLIR.

Each system has one module, which imports it when one of its functions is called; MLIR is text and needs nothing.
:mod:`.foreign` is what they have in common.  isl, a solver, is at home in :mod:`indexproof.verify.isl_form`.
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
