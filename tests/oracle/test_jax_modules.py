"""`indexproof.jax`: functions to modules, StableHLO to modules, and our text through XLA."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import indexproof.jax
from indexproof.core.errors import InputError
from indexproof.core.hlo import Instruction, Module, format_module, read_module, read_shape
from indexproof.core.stablehlo import is_stablehlo, read_any
from indexproof.reports.hlo_files import hlo_file_text
from indexproof.verify.modules import ModuleVerifier
from indexproof.verify.verdict import Status

jax = pytest.importorskip("jax")

ROOT = Path(__file__).parents[2]
DATA = ROOT / "tests/core/hlo/data"
STABLEHLO = sorted(DATA.glob("*.stablehlo.mlir.gz"))


def meaning(module: Module) -> list[list[tuple[object, ...]]]:
    """Return a module's instructions without names, metadata and the layouts that lowering writes."""
    places = {c.name: k for k, c in enumerate(module.computations)}

    def of(i: Instruction, operands: tuple[int, ...]) -> tuple[object, ...]:
        shape = None if i.shape is None else i.shape.without_layout()
        calls = [places[name] for name in i.called]
        skipped = ("metadata", "sharding", "frontend_attributes", *i.calls)
        rest = [(name, value) for name, value in i.attributes if name not in skipped]
        literal = i.literal if i.opcode == "parameter" or i.literal is None else "".join(i.literal.split())
        return i.opcode, shape, operands, calls, rest, literal

    return [list(map(of, c.instructions, c.operand_positions)) for c in module.computations]


def test_all_stablehlo_is_read() -> None:
    assert len(STABLEHLO) == 22
    for path in STABLEHLO:
        module = indexproof.jax.read_stablehlo(hlo_file_text(path))
        printed = read_module(hlo_file_text(path.with_name(path.name.replace(".stablehlo.mlir", ".pre.hlo"))))
        assert meaning(module) == meaning(printed), path.name
        assert read_module(format_module(module)) == module, path.name
        # XLA orders computations anew.
        again = indexproof.jax.through_xla(module)
        assert set(again.computations) == set(module.computations), path.name


def test_either_text_is_read() -> None:
    for path in STABLEHLO:
        text = hlo_file_text(path)
        assert is_stablehlo(text)
        assert read_any(text) == indexproof.jax.read_stablehlo(text)
        printed = hlo_file_text(path.with_name(path.name.replace(".stablehlo.mlir", ".opt.hlo")))
        assert not is_stablehlo(printed)
        assert read_any(printed) == read_module(printed)
    assert is_stablehlo("// by hand\n#loc = loc(unknown)\nmodule @m {\n func.func @main() { return } }")
    computation = "module { ROOT a = f32[] constant(1) }"
    assert not is_stablehlo(computation)
    assert read_any(computation).entry.name == "module"


def test_a_function_to_its_module() -> None:
    jnp = jax.numpy
    example = indexproof.jax.array("f32[10,20]")
    module = indexproof.jax.module(lambda x: jnp.sin(x.T[::2]), example)
    assert [i.opcode for i in module.entry.instructions] == ["parameter", "transpose", "slice", "sine"]
    assert module.entry.root.array.dims == (10, 10)
    jitted = jax.jit(lambda x, *, n: jnp.tile(x, n), static_argnames="n")
    assert indexproof.jax.module(jitted, example, n=2).entry.root.array.dims == (10, 40)
    optimized = indexproof.jax.module(lambda x: jnp.sin(x.T[::2]) + 1, example, stage="optimized")
    assert "fusion" in [i.opcode for i in optimized.entry.instructions]
    assert dict(optimized.attributes)["is_scheduled"] == "true"
    text = indexproof.jax.stablehlo(lambda x: x.T, example)
    assert "stablehlo.transpose" in text
    assert meaning(indexproof.jax.read_stablehlo(text)) == meaning(indexproof.jax.module(lambda x: x.T, example))
    with pytest.raises(InputError, match="no stage 'fast'"):
        indexproof.jax.module(lambda x: x, example, stage="fast")


@pytest.mark.parametrize("stage", ["lowered", "optimized"])
def test_large_constants_are_not_elided(stage: str) -> None:
    numbers = np.array([3, 1, 4, 1, 5, 9, 2, 6] * 10)
    module = indexproof.jax.module(lambda x: x[numbers], indexproof.jax.array("f32[10]"), stage=stage)
    literals = [i.literal for _, i in module.instructions() if i.opcode == "constant"]
    assert any(literal and "{3}, {1}, {4}, {1}, {5}, {9}" in literal for literal in literals)


@pytest.mark.parametrize(
    "shape", ["pred[2]", "s4[3,2]", "s32[]", "u8[0,5]", "f16[1]", "bf16[7]", "c64[2,2]", "f8e4m3fn[2]", "f4e2m1fn[4]"]
)
def test_arguments_by_their_shape(shape: str) -> None:
    module = indexproof.jax.module(lambda x: x, indexproof.jax.array(shape))
    assert module.entry.parameters[0].array.without_layout() == read_shape(shape)
    assert indexproof.jax.array(read_shape(shape)) == indexproof.jax.array(shape)


@pytest.mark.parametrize("shape", ["token[]", "f7[2]", "f32[<=3]", "f32[?]", "(f32[2])", "f32[2"])
def test_what_is_no_argument(shape: str) -> None:
    with pytest.raises(InputError):
        indexproof.jax.array(shape)


MALFORMED = [
    ("module {", 1, 7),
    ("module {\n  func.func @main(%a: tensor<2xf32>) -> tensor<2xf32> {\n    return %b : tensor<2xf32> } }", 3, 12),
    ("x", 1, 1),
    ("", 0, 0),
    ("\ud800", 0, 0),
]  # fmt: skip


@pytest.mark.parametrize(("text", "line", "column"), MALFORMED)
def test_malformed_stablehlo(text: str, line: int, column: int) -> None:
    with pytest.raises(InputError, match="StableHLO: ") as caught:
        indexproof.jax.read_stablehlo(text)
    assert (caught.value.line, caught.value.column) == (line, column)


def test_what_xla_refuses() -> None:
    module = read_module("HloModule m\n\nENTRY e {\n  a = f32[] parameter(0)\n  b = f32[] frobnicate(a)\n}")
    with pytest.raises(InputError, match="XLA: expects opcode but sees: frobnicate") as caught:
        indexproof.jax.through_xla(module)
    assert caught.value.render().splitlines()[1].strip() == "ROOT %b = f32[] frobnicate(%a)"


def test_callees_may_come_later() -> None:
    text = (
        "HloModule m\nENTRY e { a = f32[4] parameter(0)\n z = f32[] constant(0)\n"
        "ROOT r = f32[] reduce(a, z), dimensions={0}, to_apply=add }\n"
        "add { x = f32[] parameter(0)\n y = f32[] parameter(1)\n ROOT s = f32[] add(x, y) }"
    )
    found = indexproof.jax.through_xla(read_module(text))
    assert [c.name for c in found.computations] == ["add", "e"]
    assert found.entry.root.calls["to_apply"] == ("add",)


@pytest.mark.parametrize("folder", [ROOT, ROOT / "core/frameworks"])
def test_the_real_jax_is_not_hidden(folder: Path) -> None:
    """`indexproof.jax` is importable from each folder of the package, and does not hide the real jax in its root."""
    code = (
        "import sys\n"
        "import indexproof, indexproof.jax\n"
        "assert 'jax' not in sys.modules and 'jax' not in vars(indexproof.jax)\n"
        "assert indexproof.jax.__name__ == 'indexproof.jax'\n"
    )
    if folder == ROOT:
        code += "import jax\nassert hasattr(jax, 'jit'), jax\nindexproof.jax.array('f32[2]')\n"
    done = subprocess.run([sys.executable, "-c", code], cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_a_missing_jax_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "jax", None)
    monkeypatch.setitem(sys.modules, "jax._src.lib", None)
    for call in (
        lambda: indexproof.jax.module(lambda x: x, 1),
        lambda: indexproof.jax.array("f32[2]"),
        lambda: indexproof.jax.read_stablehlo("module {}"),
    ):
        with pytest.raises(InputError, match="jax is not installed") as caught:
            call()
        assert caught.value.expected == "`pip install 'indexproof[jax]'`"


def test_quantized_types_are_read_as_what_they_stand_for() -> None:
    text = """module {
  func.func public @main(%a: tensor<4x3x!quant.uniform<i8<-100:127>:f32, 0.1:-3>>, %b: tensor<4x2xf32>) -> tensor<4x2xf32> {
    %w = "test.weights"() : () -> tensor<3x2x!quant.uniform<i8:f32:1, {0.2,0.3}>>
    %d = stablehlo.dot_general %a, %w, contracting_dims = [1] x [0] : (tensor<4x3x!quant.uniform<i8<-100:127>:f32, 0.1:-3>>,
      tensor<3x2x!quant.uniform<i8:f32:1, {0.2,0.3}>>) -> tensor<4x2x!quant.uniform<i32:f32, 0.02>>
    %q = stablehlo.uniform_quantize %b : (tensor<4x2xf32>) -> tensor<4x2x!quant.uniform<i32:f32, 0.02>>
    %s = stablehlo.add %d, %q : tensor<4x2x!quant.uniform<i32:f32, 0.02>>
    %r = stablehlo.uniform_dequantize %s : (tensor<4x2x!quant.uniform<i32:f32, 0.02>>) -> tensor<4x2xf32>
    return %r : tensor<4x2xf32>
  }
}
"""
    with pytest.raises(InputError, match="line 3, column 24: StableHLO: ") as caught:
        read_any(text)
    assert "!quant.uniform<i8:f32:1, {0.2,0.3}>" in caught.value.render()
    constant = "stablehlo.constant dense<0> : tensor<3x2xi8>"
    weights = '"test.weights"() : () -> tensor<3x2x!quant.uniform<i8:f32:1, {0.2,0.3}>>'
    as_parameter = text.replace(f"    %w = {weights}\n", "").replace(
        "%b: tensor<4x2xf32>)", "%b: tensor<4x2xf32>, %w: tensor<3x2x!quant.uniform<i8:f32:1, {0.2,0.3}>>)"
    )
    module = read_any(as_parameter)
    assert [i.opcode for i in module.entry.instructions if i.opcode != "parameter"] == ["dot", "add"]
    assert [p.array.text(False) for p in module.entry.parameters] == ["f32[4,3]", "f32[4,2]", "f32[3,2]"]
    # the values of constants would change, so the text is refused
    with pytest.raises(InputError, match="StableHLO"):
        read_any(text.replace(weights, constant))


SYMBOLIC: dict[str, tuple[Callable[..., Any], list[str]]] = {
    "bias": (lambda x, b: x + b, ["n,8", "8"]),
    "column": (lambda x, b: x + b, ["n,8", "n,1"]),
    "softmax": (jax.nn.softmax, ["n,8"]),
    "outer": (lambda x, y: x[:, None] * y[None, :], ["n", "m"]),
    "collapse": (lambda x: x.reshape(-1), ["n,4"]),
    "split": (lambda x: x.reshape(x.shape[0], 2, 4).transpose(1, 0, 2), ["n,8"]),
    "numbers": (lambda x: x * jax.numpy.arange(x.shape[0])[:, None], ["n,3"]),
    "pad": (lambda x: jax.numpy.pad(x, ((1, 2), (0, 0))), ["n,3"]),
}


def exported(name: str) -> str:
    from jax import export

    function, shapes = SYMBOLIC[name]
    scope = export.SymbolicScope()
    made = [
        jax.ShapeDtypeStruct(export.symbolic_shape(s, scope=scope), jax.numpy.float32)
        for s in (f"{s}," for s in shapes)
    ]
    return str(export.export(jax.jit(function))(*made).mlir_module())


def reads_at(text: str, name: str, n: int) -> tuple[dict[int, set[Any]], dict[int, set[Any]]]:
    """Return, by operand, the pairs of the maps for all sizes at size n, and the pairs of the function at that size."""
    function, shapes = SYMBOLIC[name]
    asked = ModuleVerifier(read_any(text))
    general = asked.for_all_sizes(asked.module.entry, "output_to_input")
    given = [tuple(n if x in "nm" else int(x) for x in s.split(",")) for s in shapes]
    example = [jax.ShapeDtypeStruct(s, jax.numpy.float32) for s in given]
    module = indexproof.jax.module(function, *example)
    known = ModuleVerifier(module).maps.computation(module.entry.name, "output_to_input").leaves
    return (
        {
            k: {p for m in r.maps for p in m.at(dict.fromkeys(m.parameters, n)).relation()}
            for (_, k, _), r in general.items()
        },
        {k: {p for m in r.maps for p in m.relation()} for (_, k, _), r in known.items()},
    )


@pytest.mark.parametrize("name", SYMBOLIC)
def test_exported_functions_with_symbolic_sizes_read_what_they_do_at_each_size(name: str) -> None:
    text = exported(name)
    for n in (2, 3, 5):
        general, expected = reads_at(text, name, n)
        assert general == expected
    asked = ModuleVerifier(read_any(text))
    assert all(asked.check(c).status is Status.PROVED for c in asked.module.computations)


def test_a_dimension_taken_for_another_is_noticed() -> None:
    right = exported("outer")
    wrong = re.sub(r"dims = \[0, 1\]", "dims = [1, 0]", right)
    assert wrong != right
    general, expected = reads_at(wrong, "outer", 3)
    assert general != expected


def test_dynamic_ops_that_say_more_than_sizes_have_no_maps() -> None:
    text = """module {{
  func.func @main(%a: tensor<?x4xf32>, %n: tensor<2xi32>) -> tensor<?x?xf32> {{
    %0 = stablehlo.dynamic_broadcast_in_dim %a, %n, dims = [0, 1]{} : (tensor<?x4xf32>, tensor<2xi32>) -> tensor<?x?xf32>
    return %0 : tensor<?x?xf32>
  }}
}}
"""
    # a dimension of size 1 might be broadcast, unless an attribute excludes it
    module = indexproof.jax.read_stablehlo(text.format(""))
    assert module.entry.root.opcode == "custom-call"
    assert module.entry.root.word("custom_call_target") == "stablehlo.dynamic_broadcast_in_dim"
    said = " {known_nonexpanding_dimensions = array<i64: 0>}"
    module = indexproof.jax.read_stablehlo(text.format(said))
    assert module.entry.root.opcode == "broadcast"
