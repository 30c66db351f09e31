"""Whole modules are proved, and mistakes in them are found."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import z3

from indexproof.core.analysis import MergeStep, ModuleMaps, dataflow, floats, runtime, summaries, tables, values
from indexproof.core.analysis.catalogue import OpCatalogue
from indexproof.core.analysis.merge import covers
from indexproof.core.expr import lift, var
from indexproof.core.hlo import Instruction, Module, read_module
from indexproof.core.indexing_map import IndexingMap, RuntimeSource, Variable
from indexproof.core.op import Coordinates, Map, Op, Sizes
from indexproof.core.points import domain_values
from indexproof.core.text import parse_map
from indexproof.reports.hlo_files import hlo_file_text
from indexproof.rules.ops.movement import Concatenate, Transpose
from indexproof.verify.analysed import ComputationReport, module_maps
from indexproof.verify.concrete import inverse, pairs, same_relation
from indexproof.verify.modules import ModuleVerifier, _join_answer, composition
from indexproof.verify.values import evaluate
from indexproof.verify.verdict import Status

FILES = sorted((Path(__file__).parents[1] / "core/hlo/data").glob("*.hlo.gz"))

FUSED = """
HloModule m
f {
  p0 = f32[8,6] parameter(0)
  p1 = f32[4,6] parameter(1)
  t = f32[6,8] transpose(p0), dimensions={1,0}
  r = f32[48] reshape(t)
  u = f32[6,4] transpose(p1), dimensions={1,0}
  v = f32[24] reshape(u)
  ROOT c = f32[72] concatenate(r, v), dimensions={0}
}
ENTRY e {
  a = f32[8,6] parameter(0)
  b = f32[4,6] parameter(1)
  ROOT o = f32[72] fusion(a, b), kind=kLoop, calls=f
}
"""


def check(module: Module, verifier: ModuleVerifier) -> list[ComputationReport]:
    return [verifier.check(c) for c in module.callees_first]


def proved(text: str) -> ComputationReport:
    """Check that a module is proved, and return the report on its entry."""
    module = read_module(text)
    *_, entry = check(module, ModuleVerifier(module))
    assert entry.status is Status.PROVED
    return entry


# Modules without written shapes, as in published examples: body, pairs of arrays with maps, number of questions.
IMPLIED = [
    ("p = f32[4,8] parameter(0)\nq = f32[4,8] parameter(1)\nROOT r = add(p, q)", 2, 29),
    ("p = f32[4,2] parameter(0)\nROOT t = transpose(p), dimensions={1,0}", 1, 14),
    ("p = f32[4] parameter(0)\nt = tuple(p, p)\nROOT g = get-tuple-element(t), index=1", 1, 6),
    ("p = f32[4] parameter(0)\nROOT r = frobnicate(p)", 0, 0),
    ("p = f32[4] parameter(0)\nq = parameter(1)\nROOT t = tuple(p, q)", 0, 0),
    ("p = f32[4] parameter(0)\nROOT t = transpose(p), dimensions={1,0}", 0, 1),
]


@pytest.mark.parametrize(("body", "mapped", "questions"), IMPLIED)
def test_shapes_that_are_not_written(body: str, mapped: int, questions: int) -> None:
    verifier = ModuleVerifier(read_module(f"HloModule m\nENTRY e {{\n{body}\n}}\n"))
    found = verifier.maps.computation("e", "output_to_input")
    assert sum(bool(r.maps) and not r.unknown for r in found.leaves.values()) == mapped
    report = verifier.check(verifier.module.entry)
    assert len(report.checked) == questions
    # an operation that does not fit its operands is refuted and has no maps
    assert [c.kind for c in report.failed] == (["shape"] if questions == 1 else [])


def test_there_are_files() -> None:
    assert len(FILES) == 44


@pytest.mark.parametrize("path", FILES, ids=lambda p: p.name.split(".")[0] + "." + p.name.split(".")[1])
def test_everything_is_proved(path: Path) -> None:
    module = read_module(hlo_file_text(path))
    reports = check(module, ModuleVerifier(module))
    assert not [(r.name, c) for r in reports for c in r.failed]
    counts = sum((Counter(r.counts) for r in reports), Counter[str]())
    assert all(counts[kind] for kind in ("in bounds", "sound", "complete", "as produced", "pair"))


def test_a_whole_program_as_it_is_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    points: list[int] = []

    def counted(*asked: Any) -> Any:
        found = domain_values(*asked)
        points.append(0 if found is None else found[0].size)
        return found

    monkeypatch.setattr(pairs, "domain_values", counted)
    # two layers of a decoder with causal masks, as tests/bench/whole_programs.py makes them
    module = read_module(hlo_file_text(Path(__file__).parent / "data/decoder.hlo.gz"))
    reports = check(module, ModuleVerifier(module))
    assert not [(r.name, c) for r in reports for c in r.failed]
    counts = sum((Counter(r.counts) for r in reports), Counter[str]())
    # one for each operand of each operation, and one for each root and parameter with a dependence
    assert counts["pair"] == 516
    # layers share their maps; tables of points dominate the memory
    assert counts["composed"] <= 410
    assert max(points) <= 1 << 20


def test_what_is_asked_of_a_fusion() -> None:
    module = read_module(FUSED)
    (f, e) = check(module, ModuleVerifier(module))
    assert f.status is e.status is Status.PROVED
    # five operands, each with two maps; the sources at both ends of a map are also in bounds
    assert {k: f.counts[k] for k in ("sound", "complete", "as produced", "coverage")} == {
        "sound": 12,
        "complete": 12,
        "as produced": 12,
        "coverage": 1,
    }
    # from the concatenation to both parameters, through two instructions each, and back
    assert f.counts["composed"] >= 8


# Runtime values are matched between maps by the element that they are read from, not by name.
RUNTIME = {
    "two elements, read in two orders": """
      p = f32[4,2] parameter(0)
      i = s32[2] parameter(1)
      b = s32[2,3] broadcast(i), dimensions={0}
      r = s32[6] reshape(b)
      w = s32[1,2,3] reshape(r)
      g = f32[1,3] gather(p, w), offset_dims={}, collapsed_slice_dims={0,1}, start_index_map={1,0}, index_vector_dim=1,
        slice_sizes={1,1}
      v = f32[3] reshape(g)
      ROOT s = f32[2] slice(v), slice={[0:2]}""",
    "one element, held within two bounds": """
      p = f32[2] parameter(0)
      i = s32[] parameter(1)
      d = f32[1] dynamic-slice(p, i), dynamic_slice_sizes={1}
      z = f32[] constant(0)
      w = f32[3] pad(p, z), padding=0_1
      ROOT u = f32[3] dynamic-update-slice(w, d, i)""",
    "one index number for two dimensions": """
      p = f32[2,2,2] parameter(0)
      i = s32[3] parameter(1)
      u = f32[3,2] parameter(2)
      b = s32[3,2] broadcast(i), dimensions={0}
      r = s32[6] reshape(b)
      w = s32[3,2] reshape(r)
      ROOT s = f32[2,2,2] scatter(p, w, u), update_window_dims={1}, inserted_window_dims={0,2},
        scatter_dims_to_operand_dims={2,0}, index_vector_dim=1, to_apply=add""",
    "an element of the index that picks it": """
      p = f32[4,4] parameter(0)
      i = s32[2] parameter(1)
      b = s32[2,2] broadcast(i), dimensions={0}
      r = s32[4] reshape(b)
      w = s32[2,2] reshape(r)
      g = f32[2] gather(p, w), offset_dims={}, collapsed_slice_dims={0,1}, start_index_map={1,0}, index_vector_dim=1,
        slice_sizes={1,1}
      q = s32[2,1] reshape(i)
      ROOT h = f32[2] gather(g, q), offset_dims={}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1,
        slice_sizes={1}""",
    "rows of rows": """
      p = f32[5,4] parameter(0)
      i = s32[3,1] parameter(1)
      k = s32[2,1] parameter(2)
      g = f32[3,4] gather(p, i), offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1,
        slice_sizes={1,4}
      t = f32[4,3] transpose(g), dimensions={1,0}
      ROOT h = f32[2,3] gather(t, k), offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0},
        index_vector_dim=1, slice_sizes={1,3}""",
}


ADD = """
add {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = f32[] add(a, b)
}
"""


def runtime_module(name: str) -> Module:
    return read_module(f"{ADD}ENTRY e {{{RUNTIME[name]}\n}}\n")


@pytest.mark.parametrize("name", RUNTIME)
def test_runtime_values_are_told_apart(name: str) -> None:
    module = runtime_module(name)
    for report in check(module, ModuleVerifier(module)):
        assert report.failed == []
        assert report.checked


# ----------------------------------------------------------------------------------------------------- planted mistakes
class Straight(Transpose):
    """A wrong transpose that keeps the order of the coordinates."""

    def output_to_input(self, k: int, o: Coordinates, rt: Coordinates, x: Sizes) -> Map:
        return Map([lift(a) % n for a, n in zip(o, x, strict=True)])


class Overlapping(Concatenate):
    """A wrong concatenation in which every output element also reads the second operand."""

    def output_to_input(self, k: int, o: Coordinates, rt: Coordinates, *x: Sizes) -> Map:
        m = super().output_to_input(k, o, rt, *x)
        return Map([e % n for e, n in zip(m.results, x[k], strict=True)]) if k == 1 else m


class Wrong(ModuleVerifier):
    """A verifier that reads one kind of instruction as a wrong op."""

    def __init__(self, module: Module, wrong: type[Op], right: type[Op]) -> None:
        super().__init__(module)
        usual = self.read

        def read(instruction: Instruction) -> Op | None:
            op = usual(instruction)
            return wrong(**vars(op)) if type(op) is right else op

        self.read = read
        self.catalogue = OpCatalogue(read)
        self.maps = ModuleMaps(module, self.options())


def failed(reports: Sequence[ComputationReport], as_: Status = Status.REFUTED) -> set[tuple[str, str]]:
    assert all(c.status is as_ for r in reports for c in r.failed)
    return {(c.kind, c.where) for r in reports for c in r.failed}


def test_a_wrong_op_is_found_at_its_instruction() -> None:
    module = read_module(FUSED)
    found = failed(check(module, Wrong(module, Straight, Transpose)))
    assert {("sound", "t"), ("complete", "t"), ("pair", "t"), ("sound", "u")} <= found
    # composed maps are wrong, too: the maps of both directions are no longer inverse to each other
    assert ("pair", "root 0, parameter 0") in found
    assert not {where for _, where in found} & {"r", "v", "c"}


def test_operands_that_overlap_are_found() -> None:
    module = read_module(FUSED)
    found = failed(check(module, Wrong(module, Overlapping, Concatenate)))
    assert {("coverage", "c"), ("sound", "c")} <= found


class Careless(ModuleVerifier):
    """A verifier whose simplifier drops a remainder."""

    def simplify(self, m: IndexingMap) -> IndexingMap:
        found = super().simplify(m)
        if len(found.dims) == 1 and len(found.results) == 2 and found.constraints == ():
            return found.with_(results=(found.results[0], lift(0)))
        return found


def test_a_wrong_step_of_the_analysis_is_found() -> None:
    module = read_module(FUSED)
    found = failed(check(module, Careless(module)))
    assert ("composed", "f") in found
    assert not {kind for kind, _ in found} & {"sound", "complete", "as produced", "coverage"}


def test_a_wrong_projection_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leaving out a range together with a constraint on it that does not always hold is found."""
    text = f"""{ADD}ENTRY e {{
  p = f32[6] parameter(0)
  z = f32[] constant(0)
  a = f32[4] slice(p), slice={{[2:6]}}
  w = f32[4] reduce-window(a, z), window={{size=3 pad=1_1}}, to_apply=add
  v = f32[4] reduce-window(w, z), window={{size=3 pad=1_1}}, to_apply=add
}}
"""
    proved(text)
    monkeypatch.setattr(summaries, "projected", lambda m: m.with_(constraints=()))
    assert ("composed", "e") in failed(check(read_module(text), ModuleVerifier(read_module(text))))


class Forgetful(ModuleVerifier):
    """A verifier that forgets the last array that an output reads, in one direction."""

    def __init__(self, module: Module) -> None:
        super().__init__(module)
        whole = self.maps.computation

        def computation(*args: Any) -> Any:
            found = whole(*args)
            if args[1] == "output_to_input":
                found.leaves.pop(max(found.leaves))
            return found

        self.maps.computation = computation


def test_a_map_that_is_missing_is_found() -> None:
    module = read_module(FUSED)
    found = failed(check(module, Forgetful(module)))
    assert {kind for kind, _ in found} == {"pair"}


class Elsewhere(ModuleVerifier):
    """A verifier that reads every runtime value at another element, in one direction."""

    def __init__(self, module: Module) -> None:
        super().__init__(module)
        whole = self.maps.computation

        def elsewhere(source: RuntimeSource) -> RuntimeSource:
            return RuntimeSource(source.hlo, (lift(1) - source.results[0] % 2, *source.results[1:]))

        def computation(*args: Any) -> Any:
            found = whole(*args)
            if args[1] == "output_to_input":
                for key, reads in found.leaves.items():
                    moved = tuple(runtime.with_sources(m, elsewhere) for m in reads.maps)
                    found.leaves[key] = replace(reads, maps=moved)
            return found

        self.maps.computation = computation


@pytest.mark.parametrize("name", ["rows of rows", "two elements, read in two orders"])
def test_a_runtime_value_from_elsewhere_is_found(name: str) -> None:
    module = runtime_module(name)
    assert ("pair", "root 0, parameter 0") in failed(check(module, Elsewhere(module)))


#: Folded and computed values in an entry: the number of questions, the changed part of the analysis, and its mistake.
KNOWN: dict[str, tuple[str, str, int, Any, Any, Any]] = {
    "constant": ("""
  p = f32[9] parameter(0)
  c = s32[] constant(3)
  ROOT s = f32[4] dynamic-slice(p, c), dynamic_slice_sizes={4}""",
        "folded", 2, runtime, "known_element", lambda instruction, index: lift(4)),
    "number rounded the wrong way": ("""
  p = f32[9] parameter(0)
  k = f32[4,1] iota(), iota_dimension=0
  c = f32[] constant(1.6)
  b = f32[4,1] broadcast(c), dimensions={}
  m = f32[4,1] multiply(k, b)
  f = f32[4,1] floor(m)
  i = s32[4,1] convert(f)
  ROOT g = f32[4] gather(p, i), offset_dims={}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1,
    slice_sizes={1}""",
        "evaluated", 2, floats._UNARY, "floor", np.ceil),
    "closed form": ("""
  p = f32[9,2] parameter(0)
  c = s32[3,1] constant({{7},{4},{1}})
  ROOT g = f32[3,2] gather(p, c), offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1,
    slice_sizes={1,2}""",
        "folded", 2, tables, "_form", lambda row, e, right=tables._form: right(row, e) + (e == var("d0"))),
}  # fmt: skip


@pytest.mark.parametrize("name", KNOWN)
def test_a_wrong_value_is_found(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    body, kind, asked, where, part, wrong = KNOWN[name]
    text = f"ENTRY e {{{body}\n}}\n"
    assert proved(text).counts[kind] == asked
    if isinstance(where, dict):
        monkeypatch.setitem(where, part, wrong)
    else:
        monkeypatch.setattr(where, part, wrong)
    module = read_module(text)
    found = failed(check(module, ModuleVerifier(module)))
    # another row of a table is also another map
    assert found == {(kind, "e")} or name == "closed form"
    assert (kind, "e") in found


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("(d0)[s0] -> (d0 * 4 + s0), domain: d0 in [0, 5], s0 in [0, 3]", "(d0)[s0] -> (s0, d0 floordiv 3), "
         "domain: d0 in [3, 20], s0 in [0, 2], d0 mod 3 in [0, 1]"),
        ("(d0) -> (d0), domain: d0 in [0, 5]", "(d0) -> (d0), domain: d0 in [9, 12]"),
    ],
)  # fmt: skip
def test_the_composition_is_that_of_the_relations(first: str, second: str) -> None:
    one, two = parse_map(first), parse_map(second)
    joined = {(a, c) for a, b in one.relation() for d, c in two.relation() if b == d}
    assert composition(one, two).relation() == joined == one.compose(two).relation()


# A called computation with a counter that selects, decides, counts and wraps around.
LOOP = """
HloModule m
same { ROOT a = f32[6] parameter(0) }
turn { b = f32[6] parameter(0)
  ROOT n = f32[6] reverse(b), dimensions={0} }
next { x = s32[] parameter(0)
  one = s32[] constant(1)
  ROOT y = s32[] add(x, one) }
body {
  s = (s32[], f32[6], f32[6]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  x = f32[6] get-tuple-element(s), index=1
  y = f32[6] get-tuple-element(s), index=2
  two = s32[] constant(2)
  five = s32[] constant(5)
  k = s32[] subtract(five, i)
  d = f32[1] dynamic-slice(x, k), dynamic_slice_sizes={1}
  odd = s32[] remainder(i, two)
  z = f32[6] dynamic-update-slice(y, d, i)
  p = pred[] compare(odd, two), direction=LT
  w = f32[6] select(p, z, y)
  u = f32[6] conditional(odd, w, w), branch_computations={same,turn}
  j = s32[] call(i), to_apply=next
  ROOT r = (s32[], f32[6], f32[6]) tuple(j, x, u)
}
cond {
  s = (s32[], f32[6], f32[6]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  n = s32[] constant(4)
  ROOT r = pred[] compare(i, n), direction=LT
}
ENTRY e {
  i = s32[] constant(0)
  x = f32[6] parameter(0)
  y = f32[6] parameter(1)
  s = (s32[], f32[6], f32[6]) tuple(i, x, y)
  ROOT o = (s32[], f32[6], f32[6]) while(s), condition=cond, body=body
}
"""


def loop_failures() -> Counter[tuple[str, Status]]:
    module = read_module(LOOP)
    reports = check(module, ModuleVerifier(module))
    return Counter((c.kind, c.status) for r in reports for c in r.failed)


def test_a_loop_whose_runs_are_known_is_proved() -> None:
    module = read_module(LOOP)
    verifier = ModuleVerifier(module)
    reports = check(module, verifier)
    assert not [c for r in reports for c in r.failed]
    counts = sum((Counter(r.counts) for r in reports), Counter[str]())
    assert counts["unrolled"] == 2  # in each direction
    assert counts["evaluated"] >= 8
    assert counts["folded"] >= 8
    assert counts["joined"] >= 2
    assert not verifier.maps.computation("e", "output_to_input").at_most


def test_wrong_values_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(values._OPERATIONS, "subtract", (2, lambda a, b: a - b + 1))
    assert loop_failures()["evaluated", Status.REFUTED]


def test_a_value_from_nowhere_is_not_proved(monkeypatch: pytest.MonkeyPatch) -> None:
    def made_up(*arguments: Any) -> Any:
        found = values_of(*arguments)
        return found | {"d": {(): (1,)}} if "d" in {i.name for i in arguments[1].instructions} else found

    values_of = values.values_of
    monkeypatch.setattr(values, "values_of", made_up)
    assert loop_failures()["evaluated", Status.UNDECIDED]


@pytest.mark.parametrize("opcode", ["constant", "copy", "call"])
def test_what_is_put_in_wrongly_is_found(opcode: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def wrong(i: Instruction, known: Any) -> Instruction:
        made = put_in(i, known)
        if made is i or made.opcode != opcode:
            return made
        if opcode == "constant":
            return replace(made, literal=str(int(made.literal or "0") + 1)) if i.name == "k" else made
        if opcode == "copy":
            return replace(made, operands=i.operands[2:3])
        taken = {"same": "turn", "turn": "same"}.get(made.called[0])
        return made if taken is None else replace(made, attributes=(("to_apply", taken),))

    put_in = values._specialized
    monkeypatch.setattr(values, "_specialized", wrong)
    assert loop_failures()["evaluated", Status.REFUTED]


@pytest.mark.parametrize("change", [lambda runs: runs[:-1], lambda runs: runs + runs[-1:], lambda runs: runs[1:]])
def test_a_run_too_few_or_too_many_is_found(change: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    counted = dataflow.runs
    monkeypatch.setattr(dataflow, "runs", lambda *a: change(found) if (found := counted(*a)) else found)
    assert loop_failures()["unrolled", Status.REFUTED]


MASKED = """
HloModule m
chosen { p = pred[4,5] parameter(0)
  a = f32[4,5] parameter(1)
  b = f32[4,5] parameter(2)
  ROOT s = f32[4,5] select(p, a, b) }
picked { i = s32[2] parameter(0)
  x = f32[4,5] parameter(1)
  one = s32[2] constant({1, 1})
  k = s32[2] subtract(i, one)
  j = s32[2,1] reshape(k)
  ROOT g = f32[2,5] gather(x, j), offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1,
    slice_sizes={1,5} }
ENTRY e {
  x = f32[4,5] parameter(0)
  y = f32[4,5] parameter(1)
  r = s32[4,5] iota(), iota_dimension=0
  c = s32[4,5] iota(), iota_dimension=1
  lower = pred[4,5] compare(r, c), direction=GE
  upper = pred[4,5] compare(r, c), direction=LE
  low = f32[4,5] call(lower, x, y), to_apply=chosen
  up = f32[4,5] call(upper, x, y), to_apply=chosen
  rows = s32[2] constant({3, 1})
  others = s32[2] constant({2, 4})
  first = f32[2,5] call(rows, x), to_apply=picked
  second = f32[2,5] call(others, x), to_apply=picked
  z = f32[5,3,4] parameter(2)
  turned = pred[5,4] transpose(lower), dimensions={1,0}
  wide = pred[5,3,4] broadcast(turned), dimensions={0,2}
  zero = f32[] constant(0)
  zeros = f32[5,3,4] broadcast(zero), dimensions={}
  third = f32[5,3,4] select(wide, z, zeros)
  ROOT o = (f32[4,5], f32[4,5], f32[2,5], f32[2,5], f32[5,3,4]) tuple(low, up, first, second, third)
}
"""


def test_each_call_is_given_values_of_its_own() -> None:
    module = read_module(MASKED)
    reports = check(module, verifier := ModuleVerifier(module))
    assert not [c for r in reports for c in r.failed]
    counts = sum((Counter(r.counts) for r in reports), Counter[str]())
    assert counts["given"] == 8  # four calls in each direction
    assert counts["masked"] == 6
    maps = verifier.maps.computation("e", "output_to_input")
    r, c = np.indices((4, 5))
    for root, lower in enumerate((r >= c, r <= c)):
        for parameter, read in enumerate((lower, ~lower)):
            parts = [m.evaluate_many([r, c])[0] for m in maps[root, parameter]]
            assert np.array_equal(np.logical_or.reduce(parts), read)
    c, _, r = np.indices((5, 3, 4))
    (third,) = maps[4, 2]
    assert np.array_equal(third.evaluate_many(list(np.indices((5, 3, 4))))[0], r >= c)


def test_values_of_another_call_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """If the second call of a computation gets the values of the first one, this is found."""
    made: dict[str, Any] = {}
    specialized = summaries.Analysis.specialized

    def of_the_first(self: Any, computation: Any, known: Any, values: Any = None) -> Any:
        return made.setdefault(f"{id(self)} {computation.name}", specialized(self, computation, known, values))

    monkeypatch.setattr(summaries.Analysis, "specialized", of_the_first)
    module = read_module(MASKED)
    found = [c for r in check(module, ModuleVerifier(module)) for c in r.failed]
    assert Counter((c.kind, c.status) for c in found)["given", Status.REFUTED] == 4
    assert {c.kind for c in found} == {"given"}


def test_a_loop_that_begins_with_another_value_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    known = dataflow.known_leaves

    def later(operand: Any, values: Any) -> Any:
        return {p: (v[0] + 1,) if operand.name == "s" else v for p, v in known(operand, values).items()}

    monkeypatch.setattr(dataflow, "known_leaves", later)
    assert loop_failures()["given", Status.REFUTED]


@pytest.mark.parametrize("wrong", [
    lambda right, *a: tuple(side[:-1] for side in right(*a)),
    lambda right, *a: right(*a)[::-1],
    lambda right, *a: (right(*a)[0],) * 2,
    lambda right, *a: (((),),) * 2,
    lambda right, values, dims, index: right(values, dims, index[::-1]),
    lambda right, values, dims, index: right(values, dims, [var("d1"), index[-1]]),
])  # fmt: skip
def test_a_wrong_mask_is_found(wrong: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dataflow, "predicate_domains", partial(wrong, dataflow.predicate_domains))
    module = read_module(MASKED)
    found = Counter((c.kind, c.status) for r in check(module, ModuleVerifier(module)) for c in r.failed)
    assert found["masked", Status.REFUTED] == 6


def test_words_become_terms_only_where_an_operation_is_computed(monkeypatch: pytest.MonkeyPatch) -> None:
    """A mask of 90,000 elements is not expanded into a term for each element."""
    text = """
ENTRY e {
  i = s32[300,300] iota(), iota_dimension=0
  k = s32[300,300] transpose(i), dimensions={1,0}
  two = s32[] constant(-2)
  m = s32[300,300] broadcast(two), dimensions={}
  n = s32[300,300] negate(m)
  ROOT t = (s32[300,300], s32[300,300]) tuple(k, n)
}
"""
    made: list[object] = []
    number = z3.BitVecVal
    monkeypatch.setattr(z3, "BitVecVal", lambda *a: made.append(a) or number(*a))
    computation = read_module(text).entry
    found = evaluate({}, computation, {})["t"]
    assert len(made) < 10
    assert found[0,].signed() == [k for _ in range(300) for k in range(300)]
    assert set(found[1,].signed()) == {2}


def test_a_mask_of_another_predicate_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    def other(self: Any, i: Instruction, operands: Any) -> Any:
        step = claim(self, i, operands)
        return replace(step, instruction=self.known["low"], operands=operands) if i.name == "wide" else step

    claim = dataflow.Dataflow._operands
    monkeypatch.setattr(dataflow.Dataflow, "_operands", other)
    module = read_module(MASKED)
    assert ("masked", "e") in failed(check(module, ModuleVerifier(module)))


def test_a_joined_map_of_more_or_less_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    join = summaries.merged

    def wider(parts: list[IndexingMap], ranges: bool) -> list[IndexingMap]:
        found = join(parts, ranges)
        if len(found) == len(parts):
            return found
        (first, *rest), *others = found[0].dims, *found[1:]
        return [found[0].with_(dims=(replace(first, hi=first.hi - 1), *rest)), *others]

    monkeypatch.setattr(summaries, "merged", wider)
    assert loop_failures()["joined", Status.REFUTED]


def test_a_part_that_another_covers_is_joined() -> None:
    texts = ("(d0) -> (d0), domain: d0 in [0, 9]", "(d0) -> (d0), domain: d0 in [4, 4]")
    parts = tuple(parse_map(t) for t in texts)
    assert covers(*parts)
    assert _join_answer(MergeStep(parts, parts[:1])).proved
    assert not _join_answer(MergeStep(parts, parts[1:])).proved
    assert _join_answer(MergeStep(parts, parts)) is None


SCATTERED = """
keep {
  old = f32[] parameter(0)
  ROOT new = f32[] parameter(1)
}

ENTRY e {
  p = f32[9,6] parameter(0)
  c = s32[2,3] constant({{7,-1,4},{0,1,4}})
  u = f32[3,1,2] parameter(1)
  ROOT s = f32[9,6] scatter(p, c, u), update_window_dims={1,2}, inserted_window_dims={},
    scatter_dims_to_operand_dims={0,1}, index_vector_dim=0, to_apply=keep
}
"""


def test_what_known_windows_replace_is_evaluated_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """Windows of two columns are written at (7, 0) and (4, 4); the one at row -1 is out of bounds and ignored."""
    assert proved(SCATTERED).counts["masked"] == 2
    module = read_module(SCATTERED)
    maps = module_maps(module).computation(module.entry, "output_to_input")[0, 0]
    kept = set().union(*(m.relation() for m in maps))
    gone = {(7, 0), (7, 1), (4, 4), (4, 5)}
    assert kept == {(x, x) for x in product(range(9), range(6)) if x not in gone}
    right = dataflow.written

    def one_more(i: Instruction, starts: Any) -> Any:
        value, axes = right(i, starts)
        return (1, *value[1:]), axes

    monkeypatch.setattr(dataflow, "written", one_more)
    assert ("masked", "e") in failed(check(module, ModuleVerifier(module)))


def test_a_source_that_is_followed_elsewhere_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    text = """
ENTRY e {
  x = f32[8,64] parameter(0)
  i = s32[5,8] parameter(1)
  r = s32[8,5,1] iota(), iota_dimension=0
  t = s32[8,5] transpose(i), dimensions={1,0}
  c = s32[8,5,1] reshape(t)
  v = s32[8,5,2] concatenate(r, c), dimensions={2}
  ROOT g = f32[8,5] gather(x, v), offset_dims={}, collapsed_slice_dims={0,1}, start_index_map={0,1},
    index_vector_dim=2, slice_sizes={1,1}
}
"""
    module = read_module(text)
    # two components in each direction, an iota and a parameter
    assert proved(text).counts["followed"] == 2 * (1 + 3)
    right = dataflow.Dataflow._moved
    for opcode in ("concatenate", "transpose"):

        def moved(self: Any, i: Instruction, opcode: str = opcode) -> Any:
            found = right(self, i)
            if i.opcode == "concatenate" == opcode:
                return [(o, m) for (o, _), (_, m) in zip(found, found[::-1], strict=True)]
            return [(o, m.with_(results=m.results[::-1])) for o, m in found] if i.opcode == opcode else found

        monkeypatch.setattr(dataflow.Dataflow, "_moved", moved)
        assert ("followed", "e") in failed(check(module, ModuleVerifier(module)))


THERE = """(d0)[s0, s1]{rt0} -> (rt0, s0),
domain: d0 in [0, 1], s0 in [0, 3], s1 in [0, 3], rt0 in [0, 3]
  hlo: p
  (d0)[s0, s1] -> (d0, READ)"""
BACK = """(d0, d1)[s0, s1]{rt0} -> (s0),
domain: d0 in [0, 3], d1 in [0, 3], s0 in [0, 1], s1 in [0, 3], rt0 in [0, 3]
  hlo: p
  (d0, d1)[s0, s1] -> (s0, s1),
d0 - rt0 in [0, 0]"""


def test_ranges_in_no_result_are_any_of_their_values():
    """A range that occurs in no result may take any value, whatever its name is."""
    anywhere, beside = (parse_map(THERE.replace("READ", read)) for read in ("s1", "s0"))
    assert inverse(anywhere, parse_map(BACK)).proved
    assert not inverse(beside, parse_map(BACK)).proved
    swapped = beside.rename({"s0": "s1", "s1": "s0"})
    assert not inverse(swapped, parse_map(BACK)).proved


def test_ranges_under_a_constraint_are_not_any_of_their_values():
    there = THERE.replace("READ", "s1")
    assert not inverse(parse_map(f"{there},\nd0 + s1 in [0, 3]"), parse_map(BACK)).proved
    assert not inverse(parse_map(there), parse_map(f"{BACK},\ns0 + s1 in [0, 3]")).proved
    assert inverse(parse_map(f"{there},\nd0 + s1 in [0, 3]"), parse_map(f"{BACK},\ns0 + s1 in [0, 3]")).proved
    assert not inverse(parse_map(f"{there},\nd0 + s1 in [0, 3]"), parse_map(f"{BACK},\nd1 + s1 in [0, 3]")).proved


def test_a_range_is_another_one_in_each_map():
    """Ranges of the same name in two maps are unrelated: here `s0` occurs in the result of one map only."""
    beside, anywhere = (THERE.replace("READ", "s0"), THERE.replace("READ", "s0").replace("(rt0, s0)", "(rt0, s1)"))
    back = parse_map(BACK.replace("(s0, s1),", "(s0, d1),"))
    there = [parse_map(beside), parse_map(anywhere)]
    assert inverse(there[0], back).proved
    assert not same_relation(there, [back], back=True).proved


ONE = "rt0 in [0, 1]\n  hlo: x\n  (d0){} -> (d0{}),\nrt0 in [1, 1]"
STAY = f"(d0){{rt0}} -> (d0), domain: d0 in [0, 1], {ONE.format('', '')}"
STEP = f"(d0){{rt0}} -> (d0 + 1), domain: d0 in [0, 0], {ONE.format('', '')}"
BOTH = f"(d0)[s0]{{rt0}} -> (d0 - s0), domain: d0 in [0, 1], s0 in [0, 1], {ONE.format('[s0]', '')}, d0 - s0 in [0, 1]"


def test_what_goes_on_reads_at_another_element_than_what_goes_back() -> None:
    """Forward and backward maps read at their own dimension: from 0 to 1 the value at 0, and back the value at 1."""
    stay, step, both = map(parse_map, (STAY, STEP, BOTH))
    assert not same_relation([stay, step], [both], back=True).proved
    back = parse_map(f"(d0){{rt0}} -> (d0 - 1), domain: d0 in [1, 1], {ONE.format('', ' - 1')}")
    assert same_relation([stay, step], [back, stay], back=True).proved
    # two elements may be the same although this is not proved, so nothing is refuted
    again = stay.with_(dims=(Variable("d0", 0, 0),))
    assert same_relation([stay], [stay, again], back=True).verdict is not Status.REFUTED


def test_maps_that_are_joined_read_the_same() -> None:
    m = parse_map(THERE.replace("READ", "0"))
    other = parse_map(THERE.replace("READ", "1"))
    assert _join_answer(MergeStep((m, m), (m,))) is None
    halves = tuple(m.with_(dims=(Variable("d0", k, k),)) for k in (0, 1))
    assert _join_answer(MergeStep(halves, (m,))).proved
    assert not _join_answer(MergeStep(halves, (other,))).proved
    elsewhere = parse_map(THERE.replace("READ", "0").replace("hlo: p", "hlo: q"))
    assert not _join_answer(MergeStep(halves, (elsewhere,))).proved
