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
    from .core.errors import IndexproofError as IndexproofError
    from .core.errors import InputError as InputError
    from .core.expr import Expr as Expr
    from .core.indexing_map import Constraint as Constraint
    from .core.indexing_map import IndexingMap as IndexingMap
    from .core.indexing_map import RuntimeSource as RuntimeSource
    from .core.indexing_map import RuntimeVariable as RuntimeVariable
    from .core.indexing_map import Variable as Variable
    from .core.json_form import map_from_json as map_from_json
    from .core.json_form import map_to_json as map_to_json
    from .core.text import format_expr as format_expr
    from .core.text import format_map as format_map
    from .core.text import parse_condition as parse_condition
    from .core.text import parse_expr as parse_expr
    from .core.text import parse_map as parse_map
    from .core.text import read_map as read_map

__version__ = "0.1.0"

_HOME: Final = {
    "Constraint": "core.indexing_map",
    "Expr": "core.expr",
    "IndexingMap": "core.indexing_map",
    "IndexproofError": "core.errors",
    "InputError": "core.errors",
    "RuntimeSource": "core.indexing_map",
    "RuntimeVariable": "core.indexing_map",
    "Variable": "core.indexing_map",
    "format_expr": "core.text",
    "format_map": "core.text",
    "map_from_json": "core.json_form",
    "map_to_json": "core.json_form",
    "parse_condition": "core.text",
    "parse_expr": "core.text",
    "parse_map": "core.text",
    "read_map": "core.text",
}
"""Every public name and the module that defines it."""

__all__ = [
    "Constraint",
    "Expr",
    "IndexingMap",
    "IndexproofError",
    "InputError",
    "RuntimeSource",
    "RuntimeVariable",
    "Variable",
    "__version__",
    "format_expr",
    "format_map",
    "map_from_json",
    "map_to_json",
    "parse_condition",
    "parse_expr",
    "parse_map",
    "read_map",
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
