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
    from .core.hlo import Module as Module
    from .core.hlo import format_module as format_module
    from .core.hlo import read_module as read_module
    from .core.hlo import read_shape as read_shape
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
    from .core.launch import Launch as Launch
    from .core.layout import Layout as Layout
    from .core.layout import Memory as Memory
    from .core.layout import PaddingValue as PaddingValue
    from .core.layout import Shape as Shape
    from .core.layout import Tile as Tile
    from .core.layout import bitcast_map as bitcast_map
    from .core.layout import decompose as decompose
    from .core.layout import linear_index as linear_index
    from .core.layout import memory as memory
    from .core.layout import multidimensional_index as multidimensional_index
    from .core.layout import physical_map as physical_map
    from .core.map_reader import read_any_map as read_any_map
    from .core.map_reader import read_map as read_map
    from .core.parametric import ParametricMap as ParametricMap
    from .core.text import format_expr as format_expr
    from .core.text import format_map as format_map
    from .core.text import parse_condition as parse_condition
    from .core.text import parse_expr as parse_expr
    from .core.text import parse_map as parse_map
    from .core.transform import Reduced as Reduced
    from .reports.assertions import assert_equal_maps as assert_equal_maps
    from .reports.assertions import assert_op_sound as assert_op_sound
    from .reports.assertions import assert_rule_sound as assert_rule_sound
    from .reports.derivation import derivation_text as derivation_text
    from .reports.pallas import assert_pallas_ok as assert_pallas_ok
    from .reports.pictures import launch_picture as launch_picture
    from .reports.pictures import layout_picture as layout_picture
    from .reports.pictures import reads_picture as reads_picture
    from .rules.simplifier import canonical as canonical
    from .rules.simplifier import distinct as distinct
    from .rules.simplifier import reduce as reduce
    from .rules.simplifier import simplify as simplify
    from .rules.simplifier import simplify_expr as simplify_expr
    from .verify.concrete import equal_maps as equal_maps
    from .verify.isl_form import from_isl as from_isl
    from .verify.isl_form import to_isl as to_isl
    from .verify.modules import module_maps as module_maps
    from .verify.parametric import decide_for_all_sizes as decide_for_all_sizes
    from .verify.parametric import equal_for_all_sizes as equal_for_all_sizes
    from .verify.properties import decide_property as decide_property
    from .verify.replay import replay as replay
    from .verify.width import subexpression_widths as subexpression_widths
    from .verify.width import width as width

__version__ = "0.1.0"

# `indexproof.jax` and `indexproof.pallas` lie there, because a file jax.py at the root of the repository would hide the
# real jax from a Python that is started in that folder.
__path__.append(f"{__path__[0]}/core/frameworks")
# And `indexproof.strategies` there, beside the ops that it draws.
__path__.append(f"{__path__[0]}/verify/testing")

#: The public names by the module that defines them.
_NAMES: Final = {
    "core.codegen": "c_source compile_map python_source width_bound",
    "core.codegen.numpy_code": "compile_numpy",
    "core.errors": "IndexproofError InputError",
    "core.expr": "Expr",
    "core.hlo": "Module format_module read_module read_shape",
    "core.indexing_map": "Constraint IndexingMap RuntimeSource RuntimeVariable Variable",
    "core.interop": "SympyMap TvmMap from_mlir from_sympy from_tvm to_mlir to_mlir_set to_sympy to_tvm",
    "core.json_form": "map_from_json map_to_json",
    "core.launch": "Launch",
    "core.layout": "Layout Memory PaddingValue Shape Tile bitcast_map decompose linear_index memory "
    "multidimensional_index physical_map",
    "core.map_reader": "read_any_map read_map",
    "core.parametric": "ParametricMap",
    "core.text": "format_expr format_map parse_condition parse_expr parse_map",
    "core.transform": "Reduced",
    "reports.assertions": "assert_equal_maps assert_op_sound assert_rule_sound",
    "reports.derivation": "derivation_text",
    "reports.pallas": "assert_pallas_ok",
    "reports.pictures": "launch_picture layout_picture reads_picture",
    "rules.simplifier": "canonical distinct reduce simplify simplify_expr",
    "verify.concrete": "equal_maps",
    "verify.isl_form": "from_isl to_isl",
    "verify.modules": "module_maps",
    "verify.parametric": "decide_for_all_sizes equal_for_all_sizes",
    "verify.properties": "decide_property",
    "verify.replay": "replay",
    "verify.width": "subexpression_widths width",
}
_HOME: Final = {name: module for module, names in _NAMES.items() for name in names.split()}

__all__ = ["__version__", *_HOME]  # noqa: PLE0604

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
