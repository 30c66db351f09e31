"""Programs with arrays of unknown size: ops are proved for all sizes, and only what fails at all sizes is refuted."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import pytest

from indexproof.core.analysis.unknown_sizes import MapsForAllSizes
from indexproof.core.expr import var
from indexproof.core.hlo import read_module
from indexproof.core.op import DIRECTIONS
from indexproof.rules.ops.movement import Transpose
from indexproof.verify.modules import ModuleVerifier
from indexproof.verify.verdict import Status

A = "a = f32[?,4] parameter(0)"
RIGHT = [
    f"{A}\nROOT r = f32[4,?] transpose(a), dimensions={{1,0}}",
    f"{A}\nb = f32[?,4] parameter(1)\nROOT r = f32[?,4] add(a, b)",
    # the sizes may be equal at run time
    f"{A}\nb = f32[7,4] parameter(1)\nROOT r = f32[7,4] add(a, b)",
    f"{A}\nb = f32[4,?] parameter(1)\nROOT r = f32[?,?] dot(a, b), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}",
    f"{A}\nROOT r = f32[?,8] concatenate(a, a), dimensions={{1}}",
    f"{A}\nROOT r = f32[?,4] concatenate(a, a), dimensions={{0}}",
    f"{A}\nb = f32[?,4] parameter(1)\nROOT r = f32[?,4] concatenate(a, b), dimensions={{0}}",
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
    assert {"output to input sound", "input to output complete"} <= {c.kind.replace(" 0", "") for c in report.checked}
    for direction in DIRECTIONS:
        # the concrete map is reported as unknown, not as reading nothing
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
    assert len(report.checked) == 25


def at_sizes(body: str, sizes: Iterable[int], result: Iterable[int]) -> str:
    """Return the program with these sizes instead of `?` in parameters and result."""
    left = iter(sizes)
    lines = [re.sub(r"\?", lambda _: str(next(left)), x) if "parameter" in x else x for x in body.split("\n")]
    return re.sub(r"ROOT r = f32\[.*?\]", f"ROOT r = f32[{','.join(map(str, result))}]", "\n".join(lines))


@pytest.mark.parametrize("body", RIGHT)
def test_maps_for_all_sizes_are_those_of_every_size(body: str) -> None:
    asked = verifier(body)
    compared = 0
    for sizes in itertools.product((1, 3, 7), repeat=body.count("?", 0, body.index("ROOT"))):
        at = {f"n{k}": n for k, n in enumerate(sizes)}
        for direction in DIRECTIONS:
            general = asked.for_all_sizes(asked.module.entry, direction)
            result = [n.evaluate({var(p): x for p, x in at.items()}) for n in general[0, 0, 0].output]
            concrete = verifier(at_sizes(body, sizes, result)).maps.computation("e", direction)
            for key, reads in general.items():
                expected = concrete.leaves[key]
                if not expected.unknown:  # the program is legal at these sizes
                    made = [m.at({p: at[p] for p in m.parameters}) for m in reads.maps]
                    assert {x for m in made for x in m.relation()} == {x for m in expected.maps for x in m.relation()}
                    compared += 1
    assert compared


def test_a_map_for_all_sizes_without_a_counterpart_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = verifier(f"{A}\nROOT r = f32[?,4] concatenate(a, a), dimensions={{0}}")
    right = MapsForAllSizes.computation

    def fewer(self: MapsForAllSizes, c: Any) -> Any:
        found = right(self, c)
        lost = self.direction == "input_to_output"
        return {k: replace(r, maps=r.maps[:1] if lost else r.maps) for k, r in found.items()}

    monkeypatch.setattr(MapsForAllSizes, "computation", fewer)
    (failed,) = asked.check(asked.module.entry).failed
    assert (failed.kind, failed.status) == ("pair", Status.UNDECIDED)


def test_a_wrong_map_for_all_sizes_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """A composition with wrong offsets or in the wrong direction is not proved."""
    asked = verifier(
        f"{A}\nr = f32[?,4] reverse(a), dimensions={{0}}\nROOT t = f32[4,?] transpose(r), dimensions={{1,0}}"
    )
    assert asked.check(asked.module.entry).status is Status.PROVED
    asked = verifier(f"{A}\nROOT r = f32[?,4] concatenate(a, a), dimensions={{0}}")
    right = MapsForAllSizes._over

    def shifted(self: MapsForAllSizes, before: Any, link: Any, i: Any) -> Any:
        if self.direction == "output_to_input":
            moved = (replace(m, results=(m.results[0] + 1, *m.results[1:])) for m in link.maps)
            link = replace(link, maps=tuple(moved))
        return right(self, before, link, i)

    monkeypatch.setattr(MapsForAllSizes, "_over", shifted)
    failed = {(c.kind, c.status) for c in asked.check(asked.module.entry).failed}
    assert ("in bounds", Status.REFUTED) in failed
    assert any(kind == "pair" for kind, _ in failed)


@pytest.mark.parametrize("operands", ["p, c", "c, p"])
def test_what_one_operand_reads_does_not_hide_that_another_has_no_map(operands: str) -> None:
    asked = verifier(
        "p = f32[?] parameter(0)\n"
        'c = f32[?] custom-call(p), custom_call_target="mystery"\n'
        f"ROOT r = f32[?] add({operands})"
    )
    for direction in DIRECTIONS:
        (reads,) = asked.for_all_sizes(asked.module.entry, direction).values()
        assert ([why.instruction for why in reads.unknown], reads.maps) == (["c"], ())


def test_maps_for_all_sizes_that_may_say_too_much_say_so() -> None:
    lines = ["a = f32[?,4,4] parameter(0)", "c = f32[?,4,4] cholesky(a), lower=true", "ROOT r = f32[?,4,4] negate(c)"]
    asked = verifier("\n".join(lines))
    for direction in DIRECTIONS:
        (reads,) = asked.for_all_sizes(asked.module.entry, direction).values()
        assert len(reads.maps) == 1
        assert [(x.instruction, "a part" in x.reason) for x in reads.at_most] == [("c", True)]
    assert asked.check(asked.module.entry).status is Status.PROVED
