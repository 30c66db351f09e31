"""indexproof: verification of tensor indexing maps.

An indexing map says which elements of one tensor are read to compute an element of another. This package
declares the rules and operations that produce such maps, proves them with SMT solvers for all constants and
all sizes, answers a false claim with a small concrete counterexample, and simplifies maps with the rules that
were proved.

The names below are those of everyday use; further ones lie in modules, as in ``from indexproof import interop``.  All are
loaded when they are first used: ``import indexproof`` itself loads no other module of the package, and so neither a
solver nor numpy.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:  # what a type checker and an editor see of `_HOME` and `_MODULES`
    from .core import codegen as codegen
    from .core import expr as expr
    from .core import hlo as hlo
    from .core import indexing_map as indexing_map
    from .core import interop as interop
    from .core import json_form as json_form
    from .core import layout as layout
    from .core import map_reader as map_reader
    from .core import text as text
    from .core.errors import InputError as InputError
    from .core.hlo import read_module as read_module
    from .core.indexing_map import IndexingMap as IndexingMap
    from .core.launch import Launch as Launch
    from .core.layout import memory as memory
    from .core.text import parse_map as parse_map
    from .reports import assertions as assertions
    from .reports import pictures as pictures
    from .reports.proofs import prove as prove
    from .rules import simplifier as simplifier
    from .rules.simplifier import simplify as simplify
    from .verify import isl_form as isl_form
    from .verify import parametric as parametric
    from .verify.analysed import module_maps as module_maps
    from .verify.concrete import equal_maps as equal_maps
    from .verify.properties import decide_property as decide_property
    from .verify.replay import replay as replay
    from .verify.width import width as width

__version__ = "0.1.0"

# `indexproof.jax` and `indexproof.pallas` lie there, because a file jax.py at the root of the repository would hide the
# real jax from a Python that is started in that folder.
__path__.append(f"{__path__[0]}/core/frameworks")
# And `indexproof.strategies` there, beside the ops that it draws.
__path__.append(f"{__path__[0]}/verify/testing")

#: The public names, and the modules that define them.
_HOME: Final = {
    "IndexingMap": "core.indexing_map",
    "InputError": "core.errors",
    "Launch": "core.launch",
    "decide_property": "verify.properties",
    "equal_maps": "verify.concrete",
    "memory": "core.layout",
    "module_maps": "verify.analysed",
    "parse_map": "core.text",
    "prove": "reports.proofs",
    "read_module": "core.hlo",
    "replay": "verify.replay",
    "simplify": "rules.simplifier",
    "width": "verify.width",
}
#: The modules with everything else that is public.
_MODULES: Final = {
    "assertions": "reports.assertions",
    "codegen": "core.codegen",
    "expr": "core.expr",
    "hlo": "core.hlo",
    "indexing_map": "core.indexing_map",
    "interop": "core.interop",
    "isl_form": "verify.isl_form",
    "json_form": "core.json_form",
    "layout": "core.layout",
    "map_reader": "core.map_reader",
    "parametric": "verify.parametric",
    "pictures": "reports.pictures",
    "simplifier": "rules.simplifier",
    "text": "core.text",
}

__all__ = ["__version__", *_HOME, *_MODULES]  # noqa: PLE0604

if not TYPE_CHECKING:  # a checker that saw this function would accept any misspelt name

    def __getattr__(name: str) -> Any:
        """Load the module that defines ``name`` and keep the name here for next time."""
        home = _MODULES.get(name) or _HOME.get(name)
        if home is None:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        from importlib import import_module

        module = import_module(f".{home}", __name__)
        value = module if name in _MODULES else getattr(module, name)
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOME, *_MODULES})
