"""Public functions refuse a value of the wrong type and name its type and the expected one."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import indexproof
from indexproof import InputError, parse_map, read_module, simplify
from indexproof.core.expr import Expr
from indexproof.core.rewrite import DeclarationError, Rewrite, rule
from indexproof.reports.derivation import derivation_text
from indexproof.verify.width import subexpression_widths

TEXT = "(d0) -> (d0), domain: d0 in [0, 9]"
MAP = parse_map(TEXT)

OF_MAPS: list[Callable[[Any], Any]] = [
    indexproof.codegen.c_source,
    indexproof.simplifier.canonical,
    indexproof.codegen.compile_map,
    lambda m: indexproof.simplifier.distinct([MAP, m]),
    lambda m: indexproof.equal_maps(m, MAP),
    lambda m: indexproof.equal_maps(MAP, m),
    indexproof.text.format_map,
    indexproof.json_form.map_to_json,
    lambda m: indexproof.layout.physical_map(m, "f32[10]", "f32[10]"),
    indexproof.codegen.python_source,
    indexproof.simplifier.reduce,
    indexproof.simplify,
    subexpression_widths,
    indexproof.isl_form.to_isl,
    indexproof.interop.to_mlir,
    indexproof.interop.to_mlir_set,
    indexproof.width,
    indexproof.codegen.width_bound,
    MAP.compose,
]


@pytest.mark.parametrize("function", OF_MAPS)
def test_what_is_no_map(function: Callable[[Any], Any]) -> None:
    with pytest.raises(TypeError, match="expected an IndexingMap, got str; parse_map reads one from text"):
        function(TEXT)
    with pytest.raises(TypeError, match="expected an IndexingMap, got NoneType"):
        function(None)


@pytest.mark.parametrize("name", ["sympy", "tvm"])
def test_what_is_no_map_of_another_system(name: str) -> None:
    pytest.importorskip(name)
    with pytest.raises(TypeError, match="expected an IndexingMap, got str"):
        getattr(indexproof.interop, f"to_{name}")(TEXT)


@pytest.mark.parametrize("function", [derivation_text, indexproof.replay])
def test_what_is_no_derivation(function: Callable[[Any], Any]) -> None:
    with pytest.raises(
        TypeError, match=r"expected a Derivation, got IndexingMap; simplify\(m, explain=True\) makes one"
    ):
        function(simplify(MAP))
    with pytest.raises(TypeError, match="expected a Derivation, got NoneType"):
        function(None)


@pytest.mark.parametrize("function", [read_module, indexproof.hlo.read_shape, parse_map, indexproof.text.parse_expr])
def test_what_is_no_text(function: Callable[[Any], Any]) -> None:
    for given in (None, b"f32[3]", Path("module.txt")):
        with pytest.raises(InputError, match=f"expected text, not {type(given).__name__}"):
            function(given)


def test_other_values() -> None:
    wrong: Any = "sideways"
    module = read_module("ROOT p = f32[3] parameter(0)")
    with pytest.raises(InputError, match="`sideways` is no direction; expected output_to_input or input_to_output"):
        indexproof.module_maps(module).computation(module.entry, wrong)
    wrong = None
    with pytest.raises(TypeError, match="expected a Shape or its text, got NoneType"):
        indexproof.memory(wrong)
    wrong = 128
    with pytest.raises(InputError, match="threads 128; expected up to three sizes of at least 1"):
        indexproof.Launch(wrong, (8,))


def test_a_rule_is_declared_with_parentheses() -> None:
    def twice(x: Expr) -> Rewrite:
        """Says nothing."""
        return Rewrite(x + 0, x)

    with pytest.raises(DeclarationError, match=r"twice: .*write `@rule\(\)`"):
        rule(twice)
