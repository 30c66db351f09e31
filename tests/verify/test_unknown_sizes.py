"""Programs with arrays of unknown size: ops are proved for all sizes, and nothing is refuted that some size allows."""

from __future__ import annotations

import pytest

from indexproof.core.hlo import read_module
from indexproof.core.op import DIRECTIONS
from indexproof.rules.ops.movement import Transpose
from indexproof.verify.modules import ModuleVerifier
from indexproof.verify.verdict import Status

A = "a = f32[?,4] parameter(0)"
RIGHT = [
    f"{A}\nROOT r = f32[4,?] transpose(a), dimensions={{1,0}}",
    f"{A}\nb = f32[?,4] parameter(1)\nROOT r = f32[?,4] add(a, b)",
    # the sizes may be the same when the program runs
    f"{A}\nb = f32[7,4] parameter(1)\nROOT r = f32[7,4] add(a, b)",
    f"{A}\nb = f32[4,?] parameter(1)\nROOT r = f32[?,?] dot(a, b), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}",
    f"{A}\nROOT r = f32[?,8] concatenate(a, a), dimensions={{1}}",
    f"{A}\nROOT r = f32[?,4] concatenate(a, a), dimensions={{0}}",
    f"{A}\nROOT r = f32[?,4] reverse(a), dimensions={{0}}",
    f"{A}\nz = f32[] constant(0)\nROOT r = f32[?,9] pad(a, z), padding=0_1x1_1_1",
    f"{A}\nROOT r = f32[2,2] slice(a), slice={{[1:3], [0:4:2]}}",
    f"{A}\nROOT r = f32[?] reshape(a)",
    f"{A}\nROOT r = f32[?,2,2] reshape(a)",
    f"{A}\nROOT r = f32[3,?,4] broadcast(a), dimensions={{1,2}}",
]
WRONG = [
    (f"{A}\nROOT r = f32[5,?] transpose(a), dimensions={{1,0}}", "transpose makes [4, n0_0]"),
    (f"{A}\nROOT r = f32[?] transpose(a), dimensions={{1,0}}", "transpose makes [4, n0_0]"),
    (f"{A}\nb = f32[?,5] parameter(1)\nROOT r = f32[?,4] add(a, b)", "differ in dimension 1"),
    (f"{A}\nROOT r = f32[?,3] concatenate(a, a), dimensions={{1}}", "concatenate makes [n0_0, 8]"),
]


def verifier(body: str) -> ModuleVerifier:
    return ModuleVerifier(read_module(f"HloModule m\nENTRY e {{\n{body}\n}}\n"))


@pytest.mark.parametrize("body", RIGHT)
def test_ops_are_proved_for_all_sizes(body: str) -> None:
    asked = verifier(body)
    report = asked.check(asked.module.entry)
    assert not report.failed
    assert {"output to input sound", "input to output complete"} <= {
        c.kind.replace(" 0", "") for c in report.checked
    }
    for direction in DIRECTIONS:
        # there is no concrete map, which is said: not that nothing is read
        found = asked.maps.computation("e", direction)
        assert all(reads.unknown and not reads.maps for reads in found.leaves.values())
        assert found.leaves


@pytest.mark.parametrize(("body", "said"), WRONG)
def test_what_no_size_allows_is_refuted(body: str, said: str) -> None:
    asked = verifier(body)
    (wrong,) = asked.check(asked.module.entry).failed
    assert (wrong.kind, wrong.status) == ("shape", Status.REFUTED)
    assert said in wrong.detail


def test_an_array_that_is_returned_as_it_is_has_elements() -> None:
    asked = verifier("ROOT a = f32[?,4] parameter(0)")
    (reads,) = asked.maps.computation("e", "output_to_input").leaves.values()
    assert reads.unknown
    assert not reads.maps


def test_a_wrong_op_is_found_for_all_sizes(monkeypatch: pytest.MonkeyPatch) -> None:
    right = Transpose.output_to_input
    monkeypatch.setattr(Transpose, "output_to_input", Transpose.input_to_output)
    asked = verifier("a = f32[?,4,3] parameter(0)\nROOT r = f32[4,3,?] transpose(a), dimensions={1,2,0}")
    failed = {c.kind: c.status for c in asked.check(asked.module.entry).failed}
    assert failed["output to input sound"] is Status.REFUTED
    assert right is not Transpose.output_to_input


def test_stablehlo_with_unknown_sizes() -> None:
    pytest.importorskip("jax")
    import indexproof.jax

    text = """func.func @main(%a: tensor<?x4xf32>, %c: tensor<4x?xf32>) -> tensor<?x?xf32> {
  %0 = stablehlo.exponential %a : tensor<?x4xf32>
  %1 = stablehlo.dot_general %0, %c, contracting_dims = [1] x [0] : (tensor<?x4xf32>, tensor<4x?xf32>) -> tensor<?x?xf32>
  return %1 : tensor<?x?xf32>
}
"""
    asked = ModuleVerifier(indexproof.jax.read_stablehlo(text))
    report = asked.check(asked.module.entry)
    assert report.status is Status.PROVED
    assert len(report.checked) == 19
