"""The fusion examples of the published description, with the real catalogue and the real simplifier."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest
from computation_maps import computation_maps

from indexproof.core.analysis import ComputationMaps, ModuleMaps, Options
from indexproof.core.analysis.catalogue import OpCatalogue
from indexproof.core.hlo import Module, fill_shapes, read_module
from indexproof.core.indexing_map import IndexingMap
from indexproof.core.op import Direction
from indexproof.core.simplify_map import simplify_map
from indexproof.core.text import parse_map
from indexproof.rules.catalog import RULES
from indexproof.rules.ops import op_reader, why_not

PAIRS = Path(__file__).parents[2] / "verify/data/xla_pairs.jsonl.gz"


def simplify(m: IndexingMap) -> IndexingMap:
    # the description keeps dimensions of size one
    return simplify_map(m, RULES, keep_points=True)


def load(text: str) -> tuple[Module, OpCatalogue]:
    module = read_module(text)
    catalogue = OpCatalogue(op_reader(module), why_not)
    return fill_shapes(module, catalogue.shape), catalogue


def maps_of(text: str, direction: Direction = "output_to_input") -> ComputationMaps:
    module, catalogue = load(text)
    return computation_maps(module, catalogue, simplify, direction=direction)


def parsed(*texts: str) -> list[IndexingMap]:
    return list(map(parse_map, texts))


def test_one_input_with_several_maps() -> None:
    maps = maps_of("""
        f {
          p0 = f32[1000, 1000] parameter(0)
          transpose_p0 = f32[1000, 1000]{0, 1} transpose(p0), dimensions={1, 0}
          ROOT a0 = f32[1000, 1000] add(p0, transpose_p0)
        }""")
    assert dict(maps) == {
        (0, 0): parsed(
            "(d0, d1) -> (d0, d1), domain: d0 in [0, 999], d1 in [0, 999]",
            "(d0, d1) -> (d1, d0), domain: d0 in [0, 999], d1 in [0, 999]",
        )
    }


def test_one_input_with_one_map_after_all() -> None:
    maps = maps_of("""
        f {
          p0 = f32[20, 10, 50] parameter(0)
          lhs_transpose_1 = f32[10, 20, 50] transpose(p0), dimensions={1, 0, 2}
          lhs_e = f32[10, 20, 50] exponential(lhs_transpose_1)
          lhs_transpose_2 = f32[10, 50, 20] transpose(lhs_e), dimensions={0, 2, 1}
          rhs_transpose_1 = f32[50, 10, 20] transpose(p0), dimensions={2, 1, 0}
          rhs_log = f32[50, 10, 20] exponential(rhs_transpose_1)
          rhs_transpose_2 = f32[10, 50, 20] transpose(rhs_log), dimensions={1, 0, 2}
          ROOT output = f32[10, 50, 20] add(lhs_transpose_2, rhs_transpose_2)
        }""")
    assert maps[0, 0] == parsed("(d0, d1, d2) -> (d2, d0, d1), domain: d0 in [0, 9], d1 in [0, 49], d2 in [0, 19]")


def test_reshapes_cancel() -> None:
    text = """
        p0 = f32[10, 10, 10] parameter(0)
        reshape1 = f32[50, 20] reshape(p0)
        reshape2 = f32[10, 10, 10] reshape(reshape1)"""
    identity = parsed("(d0, d1, d2) -> (d0, d1, d2), domain: d0 in [0, 9], d1 in [0, 9], d2 in [0, 9]")
    assert maps_of(text)[0, 0] == identity
    assert maps_of(text, "input_to_output")[0, 0] == identity


def test_softmax() -> None:
    maps = maps_of("""
        p0 = f32[2,65,125] parameter(0)
        lowest = f32[] constant(-inf)
        m = f32[2,65] reduce(p0, lowest), dimensions={2}, to_apply=max
        b = f32[2,65,125] broadcast(m), dimensions={0,1}
        x = f32[2,65,125] subtract(p0, b)
        e = f32[2,65,125] exponential(x)
        zero = f32[] constant(0)
        n = f32[2,65] reduce(e, zero), dimensions={2}, to_apply=add
        c = f32[2,65,125] broadcast(n), dimensions={0,1}
        ROOT o = f32[2,65,125] divide(e, c)""")
    assert maps[0, 0] == parsed(
        "(d0, d1, d2) -> (d0, d1, d2), domain: d0 in [0, 1], d1 in [0, 64], d2 in [0, 124]",
        "(d0, d1, d2)[s0] -> (d0, d1, s0), domain: d0 in [0, 1], d1 in [0, 64], d2 in [0, 124], s0 in [0, 124]",
    )


def test_dynamic_slice_says_where_its_offsets_are() -> None:
    maps = maps_of("""
        src = s32[2,2,258] parameter(0)
        of1 = s32[] parameter(1)
        of2 = s32[] parameter(2)
        of3 = s32[] parameter(3)
        ds = dynamic-slice(s32[2,2,258] src, s32[] of1, s32[] of2, s32[] of3),
          dynamic_slice_sizes={1, 2, 32}""")
    assert maps[0, 0] == parsed("""(d0, d1, d2){rt0, rt1, rt2} -> (d0 + rt0, d1 + rt1, d2 + rt2)
        domain:
        d0 in [0, 0]
        d1 in [0, 1]
        d2 in [0, 31]
        rt0 in [0, 1]
          hlo: of1 = s32[] parameter(1)
          (d0, d1, d2) -> ()
        rt1 in [0, 0]
          hlo: of2 = s32[] parameter(2)
          (d0, d1, d2) -> ()
        rt2 in [0, 226]
          hlo: of3 = s32[] parameter(3)
          (d0, d1, d2) -> ()""")
    scalar = parsed("(d0, d1, d2) -> (), domain: d0 in [0, 0], d1 in [0, 1], d2 in [0, 31]")
    assert [maps[0, k] for k in (1, 2, 3)] == [scalar] * 3


def test_gather_says_which_element_holds_an_index() -> None:
    maps = maps_of("""
        operand = f32[33,76,70] parameter(0)
        indices = s32[1806,2]{1,0} parameter(1)
        gather = f32[1806,7,8,4] gather(operand, indices),
          offset_dims={1,2,3},
          collapsed_slice_dims={},
          start_index_map={0,1},
          index_vector_dim=1,
          slice_sizes={7,8,4}""")
    assert maps[0, 0] == parsed("""(d0, d1, d2, d3){rt0, rt1} -> (d1 + rt0, d2 + rt1, d3)
        domain:
        d0 in [0, 1805]
        d1 in [0, 6]
        d2 in [0, 7]
        d3 in [0, 3]
        rt0 in [0, 26]
          hlo: indices = s32[1806,2]{1,0} parameter(1)
          (d0, d1, d2, d3) -> (d0, 0)
        rt1 in [0, 68]
          hlo: indices = s32[1806,2]{1,0} parameter(1)
          (d0, d1, d2, d3) -> (d0, 1)""")


def test_an_op_written_as_one_instruction() -> None:
    module, catalogue = load("out = f32[5,3] slice(f32[10,20] x), slice={[5:10:1], [3:20:7]}")
    maps = ModuleMaps(module, Options(catalogue, simplify)).instruction("out", module.entry, "output_to_input")
    assert maps[0, 0] == parsed("(d0, d1) -> (d0 + 5, d1 * 7 + 3), domain: d0 in [0, 4], d1 in [0, 2]")


@pytest.mark.parametrize(("text", "reason"), [
    ("p = f32[2,3] parameter(0)\nt = f32[2,3] transpose(p), dimensions={1,0}", "makes f32[3,2]"),
    ("p = f32[2,3] parameter(0)\nt = f32[3,2] transpose(p), dimensions={1,1}", "twice"),
    ("p = f32[2,3] parameter(0)\nt = f32[3,2] transpose(p)", "no attribute dimensions"),
    ("p = f32[2,3] parameter(0)\nt = (f32[2,3], f32[2,3]) negate(p)", "makes 1 arrays, not 2"),
    ("p = f32[2,3] parameter(0)\nt = f32[2,3] frobnicate(p)", "frobnicate"),
])  # fmt: skip
def test_instructions_that_make_no_sense_have_no_map(text: str, reason: str) -> None:
    module, catalogue = load(text)
    maps = computation_maps(module, catalogue)
    assert all(reason in str(r[0]) for r in maps.unknown.values()), maps.unknown
    assert maps.unknown


def test_simplified_maps_of_fusions_keep_their_relation() -> None:
    with gzip.open(PAIRS, "rt") as file:
        texts = [json.loads(line)["hlo"] for line in file][::5]
    assert len(texts) >= 50
    for text in texts:
        module, catalogue = load(text)
        plain = computation_maps(module, catalogue)
        simple = computation_maps(module, catalogue, simplify)
        assert not plain.unknown
        assert not simple.unknown
        for key in set(plain) | set(simple):
            before = set().union(*(m.relation() for m in plain.get(key, [])))
            assert before == set().union(*(m.relation() for m in simple.get(key, []))), text


WITHOUT_MAPS = {"custom-call"}


def test_compiled_programs() -> None:
    """Every instruction of the corpus has maps, unless its opcode is in ``WITHOUT_MAPS``."""
    files = sorted((Path(__file__).parents[1] / "hlo/data").glob("*.hlo.gz"))
    assert len(files) == 44
    missing: set[str] = set()
    total = mapped = 0
    for path in files:
        with gzip.open(path, "rt") as file:
            module, catalogue = load(file.read())
        opcodes = {(c.name, i.name): i.opcode for c, i in module.instructions()}
        for computation in module.computations:
            for instruction in computation.instructions:
                if instruction.opcode in ("call", "fusion"):
                    continue
                maps = ModuleMaps(module, Options(catalogue)).instruction(instruction, computation, "output_to_input")
                total += 1
                mapped += not maps.unknown
                missing |= {instruction.opcode} if maps.unknown else set()
            for reasons in computation_maps(module, catalogue, simplify, computation=computation).unknown.values():
                # the reason names the instruction, through the calls that lead to it
                for reason in reasons:
                    name = reason.instruction.split("/")[-1]
                    assert {op for (_, found), op in opcodes.items() if found == name} & WITHOUT_MAPS, reason
    assert missing == WITHOUT_MAPS
    assert mapped / total > 0.99
    assert (total, total - mapped) == (2714, 1)
