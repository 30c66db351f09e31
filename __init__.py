"""indexproof: verification of tensor indexing maps.

An indexing map says which elements of one tensor are read to compute an element of another. This package
declares the rules and operations that produce such maps, proves them with SMT solvers for all constants and
all sizes, answers a false claim with a small concrete counterexample, and simplifies maps with the rules that
were proved.

The names below are loaded when they are first used: ``import indexproof`` itself loads no other module of the
package, and so neither a solver nor numpy.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:  # what a type checker and an editor see of `_HOME`
    from .core.codegen import c_source as c_source
    from .core.codegen import compile_map as compile_map
    from .core.codegen import python_source as python_source
    from .core.codegen import width_bound as width_bound
    from .core.codegen.numpy_code import compile_numpy as compile_numpy
    from .core.errors import IndexproofError as IndexproofError
    from .core.errors import InputError as InputError
    from .core.expr import Expr as Expr
    from .core.indexing_map import Constraint as Constraint
    from .core.indexing_map import IndexingMap as IndexingMap
    from .core.indexing_map import RuntimeSource as RuntimeSource
    from .core.indexing_map import RuntimeVariable as RuntimeVariable
    from .core.indexing_map import Variable as Variable
    from .core.interop import SympyMap as SympyMap
    from .core.interop import TvmMap as TvmMap
    from .core.interop import from_mlir as from_mlir
    from .core.interop import from_sympy as from_sympy
    from .core.interop import from_tvm as from_tvm
    from .core.interop import to_mlir as to_mlir
    from .core.interop import to_mlir_set as to_mlir_set
    from .core.interop import to_sympy as to_sympy
    from .core.interop import to_tvm as to_tvm
    from .core.json_form import map_from_json as map_from_json
    from .core.json_form import map_to_json as map_to_json
    from .core.text import format_expr as format_expr
    from .core.text import format_map as format_map
    from .core.text import parse_condition as parse_condition
    from .core.text import parse_expr as parse_expr
    from .core.text import parse_map as parse_map
    from .core.text import read_map as read_map
    from .core.transform import Reduced as Reduced
    from .rules.simplifier import canonical as canonical
    from .rules.simplifier import distinct as distinct
    from .rules.simplifier import reduce as reduce
    from .rules.simplifier import simplify as simplify
    from .rules.simplifier import simplify_expr as simplify_expr
    from .verify.isl_form import from_isl as from_isl
    from .verify.isl_form import to_isl as to_isl
    from .verify.width import width as width

__version__ = "0.1.0"

# `indexproof.jax` lies there, because a file jax.py at the root of the repository would hide the real jax from a
# Python that is started in that folder.
__path__.append(f"{__path__[0]}/core/frameworks")

_HOME: Final = {
    "Constraint": "core.indexing_map",
    "Expr": "core.expr",
    "IndexingMap": "core.indexing_map",
    "IndexproofError": "core.errors",
    "InputError": "core.errors",
    "Reduced": "core.transform",
    "RuntimeSource": "core.indexing_map",
    "RuntimeVariable": "core.indexing_map",
    "SympyMap": "core.interop",
    "TvmMap": "core.interop",
    "Variable": "core.indexing_map",
    "c_source": "core.codegen",
    "canonical": "rules.simplifier",
    "compile_map": "core.codegen",
    "compile_numpy": "core.codegen.numpy_code",
    "distinct": "rules.simplifier",
    "format_expr": "core.text",
    "format_map": "core.text",
    "from_isl": "verify.isl_form",
    "from_mlir": "core.interop",
    "from_sympy": "core.interop",
    "from_tvm": "core.interop",
    "map_from_json": "core.json_form",
    "map_to_json": "core.json_form",
    "parse_condition": "core.text",
    "parse_expr": "core.text",
    "parse_map": "core.text",
    "python_source": "core.codegen",
    "read_map": "core.text",
    "reduce": "rules.simplifier",
    "simplify": "rules.simplifier",
    "simplify_expr": "rules.simplifier",
    "to_isl": "verify.isl_form",
    "to_mlir": "core.interop",
    "to_mlir_set": "core.interop",
    "to_sympy": "core.interop",
    "to_tvm": "core.interop",
    "width": "verify.width",
    "width_bound": "core.codegen",
}
"""Every public name and the module that defines it."""

__all__ = [
    "Constraint",
    "Expr",
    "IndexingMap",
    "IndexproofError",
    "InputError",
    "Reduced",
    "RuntimeSource",
    "RuntimeVariable",
    "SympyMap",
    "TvmMap",
    "Variable",
    "__version__",
    "c_source",
    "canonical",
    "compile_map",
    "compile_numpy",
    "distinct",
    "format_expr",
    "format_map",
    "from_isl",
    "from_mlir",
    "from_sympy",
    "from_tvm",
    "map_from_json",
    "map_to_json",
    "parse_condition",
    "parse_expr",
    "parse_map",
    "python_source",
    "read_map",
    "reduce",
    "simplify",
    "simplify_expr",
    "to_isl",
    "to_mlir",
    "to_mlir_set",
    "to_sympy",
    "to_tvm",
    "width",
    "width_bound",
]

if not TYPE_CHECKING:  # a checker that saw this function would accept any misspelt name

    def __getattr__(name: str) -> Any:
        """Load the module that defines ``name`` and keep the name here for next time."""
        if name not in _HOME:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        from importlib import import_module

        value = getattr(import_module(f".{_HOME[name]}", __name__), name)
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOME})
