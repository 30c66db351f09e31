"""Conversion of maps to the notations of other systems, for ``indexproof convert``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from ..core.codegen import c_source, python_source
from ..core.errors import InputError, quoted
from ..core.indexing_map import IndexingMap
from ..core.interop import from_mlir, is_mlir, to_mlir, to_mlir_set, to_sympy, to_tvm
from ..core.interop.foreign import assignments
from ..core.interop.sympy_form import sympy_source
from ..core.json_form import dump_json, map_to_json
from ..core.map_reader import read_any_map, read_map
from ..core.parametric import ParametricMap
from ..core.text import format_map
from ..rules.simplifier import simplify
from ..verify.isl_form import to_isl
from ..verify.width import width


def _c(m: IndexingMap, checked: bool, name: str) -> str:
    # a function that checks the domain is also called outside it, where only interval bounds are valid
    return c_source(m, checked=checked, name=name, bits=None if checked else width(m).bits)


#: The output forms by name, each with its writer.
FORMS: Final[dict[str, Callable[[IndexingMap, bool, str], str]]] = {
    "text": lambda m, checked, name: format_map(m) + "\n",
    "json": lambda m, checked, name: dump_json(map_to_json(m)) + "\n",
    "mlir": lambda m, checked, name: f"{to_mlir(m)}\n{to_mlir_set(m)}\n",
    "python": lambda m, checked, name: python_source(m, checked=checked, name=name),
    "c": _c,
    "sympy": lambda m, checked, name: sympy_source(to_sympy(m)),
    "tvm": lambda m, checked, name: "\n".join(assignments(to_tvm(m), str)) + "\n",
    "isl": lambda m, checked, name: f"{to_isl(m)}\n",
}
#: The forms that are functions: these may check the domain and have a name.
FUNCTIONS: Final = ("python", "c")


def converted(
    m: IndexingMap | ParametricMap, form: str, *, checked: bool = False, name: str = "", simple: bool = False
) -> str:
    """Write ``m`` in one of :data:`FORMS`; ``simple`` simplifies it first, and functions then need no wider integers.

    Raises :class:`InputError` for an unknown form, and for a map that the form cannot express.
    """
    if form not in FORMS:
        raise InputError(f"there is no form {quoted(form)}", expected=f"one of {', '.join(FORMS)}")
    if form not in FUNCTIONS and (checked or name):
        option = "--checked" if checked else "--name"
        raise InputError(f"{option} is about functions", expected=f"--to {' or --to '.join(FUNCTIONS)}")
    if isinstance(m, ParametricMap):
        if not simple and form in ("text", "json"):
            return (str(m) if form == "text" else dump_json(m.to_json())) + "\n"
        m = read_map(str(m))
    if simple:
        m = simplify(m, keep_width=form in FUNCTIONS)
    return FORMS[form](m, checked, name)


def read_any(text: str, domain: str = "") -> IndexingMap | ParametricMap:
    """Read a map in the textual notation, in JSON, or as an ``affine_map`` of MLIR with a ``domain``."""
    if is_mlir(text):
        return from_mlir(text, domain)
    if domain:
        raise InputError("--domain is for an affine_map, which has no domain of its own")
    return read_any_map(text)
