"""Maps of whole modules against the dependences observed by running the modules.

`data/truth.json.gz` holds modules (single ops, chains, fusions, compiled jax functions) with the relation
between outputs and operands observed by executing them: `reads[output][operand][row-major output position]`
lists row-major operand positions. Values of runtime operands are part of a case.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from computation_maps import computation_maps

from indexproof.core.analysis import ComputationMaps
from indexproof.core.analysis.catalogue import OpCatalogue
from indexproof.core.hlo import Module, read_module
from indexproof.core.indexing_map import IndexingMap
from indexproof.core.op import Direction
from indexproof.reports.hlo_files import hlo_file_text
from indexproof.rules.ops import op_reader, why_not

DATA = Path(__file__).parent / "data/truth.json.gz"

# The module computes a constant and never uses its parameter. The observation shows the non-zero elements of the
# constant itself, since the method adds the effects of changes to the output.
NOT_A_READ = {"doc_iota"}


# XLA turns a reduce over dimensions of size 1 into a reshape, since it assumes that the initial value is neutral, so
# the compiled program never reads it. The reference interpreter follows the definition of the op and does read it;
# the case records both observations. The maps follow the definition too, so they must equal the second one.
# Case to the (output, operand) in which the two differ.
OPTIMIZED_AWAY = {"reduce_2": (0, 1)}


def catalogue(module: Module) -> OpCatalogue:
    return OpCatalogue(op_reader(module), why_not)


O2I: Direction = "output_to_input"
I2O: Direction = "input_to_output"


@cache
def cases() -> dict[str, dict[str, Any]]:
    return {case["id"]: case for case in json.loads(hlo_file_text(DATA))["cases"]}


COVERED = [name for name in cases() if name not in NOT_A_READ]
COMPILED = [name for name, case in cases().items() if "hlo_unoptimized" in case]


def observed(case: dict[str, Any], output: int, operand: int) -> np.ndarray:
    """Return the observed pairs of row-major positions (output, operand), sorted."""
    # the reference interpreter's observation, where the compiled program dropped a read
    rows = case.get("reads_interpreter", case["reads"])[output][str(operand)]
    return np.array(sorted((o, i) for o, row in enumerate(rows) for i in row), dtype=np.int64).reshape(-1, 2)


def runtime_operands(module: Module, m: IndexingMap, case: dict[str, Any]) -> dict[str, np.ndarray]:
    """Return the value of every operand that a runtime variable of the map reads, by the text of the instruction."""
    by_name = {p.name: str(p.parameter_number) for p in module.entry.parameters}
    texts = {v.source.hlo: v.source.hlo.split(" = ")[0] for v in m.rts if v.source is not None}
    return {
        # the only case with a replacing scatter: it writes the whole rows in the operand of indices
        text: np.broadcast_to(np.isin(np.arange(6), case["runtime"]["1"])[:, None], (6, 4)).astype(int)
        if name == "written(o)"
        else np.array(case["runtime"][by_name[name]])
        for text, name in texts.items()
    }


def related(module: Module, maps: list[IndexingMap], case: dict[str, Any], sizes: list[tuple[int, ...]]) -> np.ndarray:
    """Return the pairs of row-major positions that the maps relate, without duplicates, sorted."""
    pairs: set[tuple[tuple[int, ...], tuple[int, ...]]] = set()
    for m in maps:
        pairs |= m.relation(operands=runtime_operands(module, m, case))
    numbers = {(number(a, sizes[0]), number(b, sizes[1])) for a, b in pairs}
    assert len(numbers) == len(pairs), "an index outside its array"
    return np.array(sorted(numbers), dtype=np.int64).reshape(-1, 2)


def number(index: tuple[int, ...], size: tuple[int, ...]) -> int:
    assert all(0 <= k < n for k, n in zip(index, size, strict=True)), (index, size)
    return int(np.ravel_multi_index(index, size)) if size else 0


def check(text: str, case: dict[str, Any]) -> ComputationMaps:
    """Check that both directions relate exactly the observed pairs, for every output and observed operand."""
    module = read_module(text)
    backwards = computation_maps(module, catalogue(module))
    forwards = computation_maps(module, catalogue(module), direction=I2O)
    assert not backwards.unknown, backwards.unknown
    assert not forwards.unknown, forwards.unknown
    seen = 0
    for output, rows in enumerate(case["reads"]):
        for operand in map(int, rows):
            sizes = [tuple(case["outputs"][output][1]), tuple(case["operands"][operand][1])]
            wanted = observed(case, output, operand)
            found = related(module, backwards.get((output, operand), []), case, sizes)
            assert np.array_equal(found, wanted), (output, operand)
            found = related(module, forwards.get((output, operand), []), case, sizes[::-1])
            assert np.array_equal(np.array(sorted(map(tuple, found[:, ::-1]))).reshape(-1, 2), wanted), (
                output,
                operand,
            )
            seen += 1
    # operands that were not observed hold indices, or affect no output
    for output, operand in backwards:
        assert str(operand) in case["reads"][output] or str(operand) in case["runtime"], (output, operand)
    assert seen
    return backwards


def test_every_case_is_accounted_for() -> None:
    assert len(cases()) == 84
    assert len(COVERED) == 83
    assert NOT_A_READ | set(OPTIMIZED_AWAY) <= set(cases())
    disagreeing = {name for name, case in cases().items() if case["stablehlo_interpreter"] == "DISAGREE"}
    assert disagreeing == set(OPTIMIZED_AWAY)
    assert len(COMPILED) == 14


@pytest.mark.parametrize("name", COVERED)
def test_relation_is_the_observed_one(name: str) -> None:
    case = cases()[name]
    maps = check(case["hlo"], case)
    # the utilization of the case is a count over the same relation
    for operand, said in case.get("utilization", {}).items():
        sizes = [tuple(case["outputs"][0][1]), tuple(case["operands"][int(operand)][1])]
        if len(case["outputs"]) > 1 or operand not in case["reads"][0]:
            continue
        pairs = related(read_module(case["hlo"]), maps.get((0, int(operand)), []), case, sizes)
        if (0, int(operand)) == OPTIMIZED_AWAY.get(name):
            continue
        elements = int(np.prod(sizes[1]))
        assert len(set(pairs[:, 1].tolist())) / elements == pytest.approx(said["distinct_fraction"])
        assert len(pairs) / elements == pytest.approx(said["reads_per_element"])


@pytest.mark.parametrize("name", COMPILED)
def test_before_optimization_the_relation_is_the_same(name: str) -> None:
    case = cases()[name]
    check(case["hlo_unoptimized"], case)


@pytest.mark.parametrize("name", sorted(OPTIMIZED_AWAY))
def test_an_initial_value_is_read_even_where_xla_leaves_it_out(name: str) -> None:
    case = cases()[name]
    output, operand = OPTIMIZED_AWAY[name]
    maps = check(case["hlo"], case)
    assert case["reads"][output][str(operand)] == [[]]
    assert observed(case, output, operand).tolist() == [[0, 0]]
    assert [repr(m) for m in maps[output, operand]] == ["() -> ()"]


@pytest.mark.parametrize("name", sorted(NOT_A_READ))
def test_an_unused_parameter_has_no_map(name: str) -> None:
    case = cases()[name]
    module = read_module(case["hlo"])
    assert module.entry.root.opcode == "iota"
    for direction in (O2I, I2O):
        maps = computation_maps(module, catalogue(module), direction=direction)
        assert dict(maps) == {}
        assert maps.unknown == {}
    # the observed "reads" are the non-zero elements of the iota
    iota = np.broadcast_to(np.arange(4), (2, 4)).ravel()
    assert [bool(row) for row in case["reads"][0]["0"]] == [v != 0 for v in iota.tolist()]


def test_a_window_that_would_leave_the_operand_is_left_out() -> None:
    case = cases()["scatter_set"]
    assert case["runtime"] == {"1": [4, 1, 9]}, "the last index is outside"
    module = read_module(case["hlo"])
    maps = computation_maps(module, catalogue(module))
    assert maps.unknown == {}
    (kept,), (put,) = maps[0, 0], maps[0, 2]
    # one runtime value tells whether an update overwrites the operand's element
    (value,) = kept.rts
    assert value.source.hlo.startswith("written(")
    assert "pred[6,4] scatter(false, " in value.source.hlo
    assert value.source.results == kept.dim_vars
    # one runtime value tells where an update is written
    assert len(put.rts) == 1
    assert [(v.lo, v.hi) for v in put.ranges] == [(0, 2)]
    # every output element depends on every index
    assert [repr(m) for m in maps[0, 1]] == ["(d0, d1)[s0] -> (s0), domain: d0 in [0, 5], d1 in [0, 3], s0 in [0, 2]"]
