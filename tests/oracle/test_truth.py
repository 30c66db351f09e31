"""Maps of whole modules against what running the modules showed.

`data/truth.json.gz` holds modules (single ops, chains, fusions, compiled jax functions) with the relation
between outputs and operands observed by executing them: `reads[output][operand][row-major output position]`
lists row-major operand positions. Values of runtime operands are part of a case.
"""

from __future__ import annotations

import gzip
import json
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from indexproof.core.analysis import ComputationMaps, NoMap, computation_maps
from indexproof.core.analysis.ops import OpCatalogue
from indexproof.core.hlo import Module, read_module
from indexproof.core.indexing_map import IndexingMap
from indexproof.core.op import Direction
from indexproof.rules.ops import op_reader, why_not

DATA = Path(__file__).parent / "data/truth.json.gz"

# An update of a scatter names where it goes, so that the elements an output reads depend on the values of all
# indices at once: no finite list of maps says which.
WITHOUT_MAP = {"scatter_set"}

# The module computes a constant and never uses its parameter. The observation shows the non-zero elements of
# the
# constant itself: the method adds up what a change of the operand does, on top of the output.
NOT_A_READ = {"doc_iota"}


# XLA turns a reduce over dimensions of size 1 into a reshape, taking for granted that the initial value
# changes
# nothing; what ran never saw it. The reference interpreter does read it, and the case records that the two
# disagree.
# The maps follow the meaning of the op. Case to the (output, operand) that was optimized away.
OPTIMIZED_AWAY = {"reduce_2": (0, 1)}


def catalogue(module: Module) -> OpCatalogue:
    return OpCatalogue(op_reader(module), why_not)


O2I: Direction = "output_to_input"
I2O: Direction = "input_to_output"


@cache
def cases() -> dict[str, dict[str, Any]]:
    with gzip.open(DATA, "rt") as file:
        return {case["id"]: case for case in json.load(file)["cases"]}


COVERED = [name for name in cases() if name not in WITHOUT_MAP | NOT_A_READ | set(OPTIMIZED_AWAY)]
COMPILED = [name for name, case in cases().items() if "hlo_unoptimized" in case]


def observed(case: dict[str, Any], output: int, operand: int) -> np.ndarray:
    """Pairs (output position, operand position) in row-major numbers, sorted."""
    rows = case["reads"][output][str(operand)]
    return np.array(sorted((o, i) for o, row in enumerate(rows) for i in row), dtype=np.int64).reshape(-1, 2)


def runtime_operands(module: Module, m: IndexingMap, case: dict[str, Any]) -> dict[str, np.ndarray]:
    """The value of every operand that a runtime variable of the map reads, by the text of the instruction."""
    by_name = {p.name: str(p.parameter_number) for p in module.entry.parameters}
    texts = [v.source.hlo for v in m.rts if v.source is not None]
    return {text: np.array(case["runtime"][by_name[text.split(" = ")[0]]]) for text in texts}


def related(
    module: Module, maps: list[IndexingMap], case: dict[str, Any], sizes: list[tuple[int, ...]]
) -> np.ndarray:
    """Pairs of row-major positions that the maps name, each once, sorted."""
    pairs: set[tuple[tuple[int, ...], tuple[int, ...]]] = set()
    for m in maps:
        pairs |= m.relation(operands=runtime_operands(module, m, case))
    numbers = {(number(a, sizes[0]), number(b, sizes[1])) for a, b in pairs}
    assert len(numbers) == len(pairs), "an index outside its array"
    return np.array(sorted(numbers), dtype=np.int64).reshape(-1, 2)


def number(index: tuple[int, ...], size: tuple[int, ...]) -> int:
    assert all(0 <= k < n for k, n in zip(index, size, strict=True)), (index, size)
    return int(np.ravel_multi_index(index, size)) if size else 0


def check(text: str, case: dict[str, Any], but: tuple[int, int] | None = None) -> ComputationMaps:
    """Both directions name exactly the observed pairs, for every output and observed operand (`but` one)."""
    module = read_module(text)
    backwards = computation_maps(module, catalogue(module))
    forwards = computation_maps(module, catalogue(module), direction=I2O)
    assert not backwards.unknown, backwards.unknown
    assert not forwards.unknown, forwards.unknown
    seen = 0
    for output, rows in enumerate(case["reads"]):
        for operand in map(int, rows):
            if (output, operand) == but:
                continue
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
    # operands that were not observed hold indices, or are none of the outputs' business
    for output, operand in backwards:
        assert str(operand) in case["reads"][output] or str(operand) in case["runtime"], (output, operand)
    assert seen
    return backwards


def test_every_case_is_accounted_for() -> None:
    assert len(cases()) == 84
    assert len(COVERED) == 81
    assert WITHOUT_MAP | NOT_A_READ | set(OPTIMIZED_AWAY) <= set(cases())
    disagreeing = {name for name, case in cases().items() if case["stablehlo_interpreter"] == "DISAGREE"}
    assert disagreeing == set(OPTIMIZED_AWAY)
    assert len(COMPILED) == 14


@pytest.mark.parametrize("name", COVERED)
def test_relation_is_the_observed_one(name: str) -> None:
    case = cases()[name]
    maps = check(case["hlo"], case)
    # what the case says about utilization is a count over the same relation
    for operand, said in case.get("utilization", {}).items():
        sizes = [tuple(case["outputs"][0][1]), tuple(case["operands"][int(operand)][1])]
        if len(case["outputs"]) > 1 or operand not in case["reads"][0]:
            continue
        pairs = related(read_module(case["hlo"]), maps.get((0, int(operand)), []), case, sizes)
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
    maps = check(case["hlo"], case, but=(output, operand))
    assert observed(case, output, operand).tolist() == []
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
    # the "reads" are where the iota is not zero
    iota = np.broadcast_to(np.arange(4), (2, 4)).ravel()
    assert [bool(row) for row in case["reads"][0]["0"]] == [v != 0 for v in iota.tolist()]


@pytest.mark.parametrize("name", sorted(WITHOUT_MAP))
def test_scatter_says_that_it_has_no_map(name: str) -> None:
    case = cases()[name]
    module = read_module(case["hlo"])
    for direction in (O2I, I2O):
        maps = computation_maps(module, catalogue(module), direction=direction)
        assert set(maps.unknown) == {(0, 0, 0), (0, 1, 0), (0, 2, 0)}
        for reasons in maps.unknown.values():
            assert [type(r) for r in reasons] == [NoMap]
            assert "scatter" in str(reasons[0])
        assert all(found == [] for found in maps.values())
