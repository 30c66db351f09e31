"""Bitcasts as transposes and reshapes."""

from __future__ import annotations

import itertools
import random

import numpy as np
import pytest

from indexproof.core.errors import InputError
from indexproof.core.hlo import read_module
from indexproof.core.layout import (
    Decomposition,
    Layout,
    Memory,
    ReshapeStep,
    Shape,
    TransposeStep,
    bitcast_map,
    decompose,
    memory,
    physical_map,
)
from indexproof.core.op import DIRECTIONS, Op, concrete
from indexproof.core.text import parse_map
from indexproof.rules.ops import catalogue
from indexproof.rules.ops.folding import Reduce
from indexproof.rules.ops.movement import Broadcast, Pad, Transpose
from indexproof.rules.ops.reshape import Reshape


def applied(d: Decomposition, a: np.ndarray) -> np.ndarray:
    """Apply the needed steps with numpy."""
    for step in d.needed():
        a = a.transpose(step.permutation) if isinstance(step, TransposeStep) else a.reshape(step.dims)
    return a


def check(d: Decomposition) -> None:
    source, target = memory(d.source), memory(d.target)
    numbers = list(range(source.shape.size))
    moved = applied(d, np.array(numbers).reshape(source.shape.dims))
    assert moved.shape == target.shape.dims, d
    # the same buffer read as the target: each element stays at its position
    m = bitcast_map(d.source, d.target)
    for index in itertools.product(*(range(n) for n in target.shape.dims)):
        found = m.evaluate(index)
        assert found is not None
        assert source.linear_index(found) == target.linear_index(index)
        assert not found or moved[index] == np.ravel_multi_index(found, source.shape.dims)


@pytest.mark.parametrize(("source", "target", "kind", "steps"), [
    ("f32[3,5]{1,0}", "f32[3,5]{1,0}", "identity", ""),
    ("f32[3,5]{1,0}", "f32[5,3]{0,1}", "transpose", "transpose(1,0)"),
    ("f32[4,6]", "f32[24]", "reshape", "reshape[24]"),
    ("f32[4,6]{0,1}", "f32[3,8]{0,1}", "transpose-reshape-transpose", "transpose(1,0) reshape[8,3] transpose(1,0)"),
    ("f32[4,6]{0,1}", "f32[24]", "transpose-reshape-transpose", "transpose(1,0) reshape[24]"),
    ("f32[]", "f32[1,1]{0,1}", "reshape", "reshape[1,1]"),
    ("f32[0,3]", "f32[5,0]{0,1}", "reshape", "reshape[5,0]"),
    ("f32[3,5]{0,1}", "f32[3,1,5]{0,1,2}", "reshape", "reshape[3,1,5]"),
    ("f32[3,5]{1,0:T(2,2)}", "f32[1,3,5]{2,1,0:T(2,2)}", "reshape", "reshape[1,3,5]"),
    ("f32[2,3,3,5]{3,2,1,0:T(2,2)}", "f32[6,3,5]{2,1,0:T(2,2)}", "reshape", "reshape[6,3,5]"),
    ("f32[3,5]{1,0:T(2,2)}", "f32[5,3]{0,1:T(2,2)}", "transpose", "transpose(1,0)"),
    ("f32[4,8]{1,0:T(2,4)}", "f32[2,2,2,4]", "longer", "reshape[2,2,2,4] transpose(0,2,1,3)"),
    ("f32[4,8]{1,0:T(2,4)}", "f32[4,2,4]", "longer", "reshape[2,2,2,4] transpose(0,2,1,3) reshape[4,2,4]"),
])  # fmt: skip
def test_known_bitcasts(source: str, target: str, kind: str, steps: str) -> None:
    d = decompose(source, target)
    check(d)
    assert " ".join(map(str, d.needed())) == steps
    if kind != "longer":
        assert d.kind == kind
    assert str(d) == " -> ".join([source, *steps.split(), target] if steps else [source, target])


def test_two_layouts_of_one_buffer_are_three_steps_at_most() -> None:
    rng = random.Random(3)
    sizes = [(24,), (4, 6), (2, 12), (2, 3, 4), (4, 3, 2), (1, 24, 1), (2, 2, 2, 3)]
    for _ in range(60):
        ends = []
        for dims in (rng.choice(sizes), rng.choice(sizes)):
            order = list(range(len(dims)))
            rng.shuffle(order)
            ends.append(Shape("f32", dims).with_layout(Layout(tuple(order))))
        d = decompose(*ends)
        check(d)
        assert d.kind != "longer"
        assert [type(s) for s in d.steps] == [TransposeStep, ReshapeStep, TransposeStep]


def test_tiled_buffers_without_padding() -> None:
    texts = [
        "bf16[16,256]{1,0:T(8,128)(2,1)}",
        "bf16[16,256]{0,1:T(128,8)}",
        "bf16[2,8,256]{2,1,0:T(*,4,128)}",
        "bf16[4096]{0:T(1024)(2,1)}",
        "bf16[32,128]{1,0:T(16,128)(2,1)}",
        "bf16[4096]",
    ]
    for source, target in itertools.permutations(texts, 2):
        d = decompose(source, target)
        numbers = np.arange(4096)
        moved = applied(d, numbers.reshape(d.source.dims))
        source, target = memory(d.source), memory(d.target)
        for position in range(0, 4096, 7):
            here, there = source.index(position), target.index(position)
            assert here is not None
            assert moved[there] == numbers[np.ravel_multi_index(here, source.shape.dims)]


def test_a_bitcast_that_loses_elements_to_padding_has_them_not_in_its_domain() -> None:
    m = bitcast_map("f32[4]{0:T(4)}", "f32[2,2]{1,0:T(1,3)}")
    source, target = memory("f32[4]{0:T(4)}"), memory("f32[2,2]{1,0:T(1,3)}")
    held = [e for e in itertools.product(range(2), range(2)) if target.linear_index(e) < source.size]
    assert [m.evaluate(e) for e in held] == [source.index(target.linear_index(e)) for e in held]
    assert [m.evaluate(e) is not None for e in itertools.product(range(2), range(2))] == [True, True, True, False]


@pytest.mark.parametrize(("source", "target", "message"), [
    ("f32[4]", "f32[5]", "4 elements to"),
    ("f32[4]", "bf16[4]", "differ in bits"),
    ("f32[3,5]{1,0:T(2,2)}", "f32[15]", "9 padding elements"),
    ("f32[15]", "f32[3,5]{1,0:T(2,2)}", "the target"),
    ("f32[3,5]{1,0:T(2,2)}", "f32[3,5]{0,1:T(2,2)}", "no rearrangement"),
])  # fmt: skip
def test_what_is_no_rearrangement(source: str, target: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        decompose(source, target)


TILED = [
    ("f32[8,128]{1,0:T(8,128)}", "f32[1024]{0:T(1024)}"),
    ("f32[4,8]{1,0:T(2,8)}", "f32[2,16]{1,0}"),
    ("f32[4,8]{0,1:T(8,4)}", "f32[2,4,4]{0,1,2}"),
    ("f32[2,4]{1,0}", "f32[8]{0:T(4)}"),
    ("f32[3,5]{1,0:T(2,2)}", "f32[3,5]{1,0:T(2,2)}"),
    ("f32[2,3,5]{2,1,0:T(2,2)}", "f32[2,1,3,5]{3,2,1,0:T(2,2)}"),
]


@pytest.mark.parametrize(("source", "target"), TILED)
def test_a_bitcast_of_tiled_layouts_in_a_module_is_the_one_of_memory(source: str, target: str) -> None:
    root = read_module(f"p = {source} parameter(0)\nROOT r = {target} bitcast(p)").entry.root
    expected = bitcast_map(source, target).relation()
    for direction in DIRECTIONS:
        ((reads,),) = catalogue.maps(root, direction)
        assert not reads.at_most
        (m,) = reads.maps
        found = m.relation()
        assert (found if direction == "output_to_input" else {(b, a) for a, b in found}) == expected


def test_a_bitcast_of_tiles_that_takes_more_steps_has_no_map() -> None:
    root = read_module("p = f32[4,4]{1,0:T(2,2)} parameter(0)\nROOT r = f32[4,4]{1,0} bitcast(p)").entry.root
    with pytest.raises(InputError, match="takes more steps"):
        catalogue.maps(root, "output_to_input")
    padded = read_module("p = f32[3]{0:T(2)} parameter(0)\nROOT r = f32[3]{0} bitcast(p)").entry.root
    with pytest.raises(InputError, match="padding"):
        catalogue.maps(padded, "output_to_input")


# --------------------------------------------------------------------------- Maps between positions in memory
OPS: list[tuple[Op, list[str], str]] = [
    (Transpose((1, 0)), ["f32[3,5]{1,0:T(2,2)}"], "f32[5,3]{1,0:T(2,4)}"),
    (Transpose((1, 0)), ["f32[3,5]{1,0:T(2,2)}"], "f32[5,3]{0,1:T(2,2)}"),
    (Reduce(frozenset({1})), ["f32[3,5]{0,1:T(2,2)}"], "f32[3]{0:T(4)}"),
    (Broadcast((2, 3, 4), (1,)), ["f32[3]"], "f32[2,3,4]{0,2,1:T(2,3)}"),
    (Reshape((4, 3)), ["f32[2,6]{1,0:T(2,4)}"], "f32[4,3]{0,1}"),
    (Reshape((0, 3)), ["f32[0]"], "f32[0,3]{0,1:T(2,2)}"),
    (Pad((1, 0), (0, 2), (0, 1)), ["f32[2,2]{0,1}", "f32[]"], "f32[3,5]{1,0:T(2,2)}"),
]


def pairs(m, source: Memory, target: Memory) -> set[tuple[int, int]]:
    """Return the relation of a map between arrays as pairs of linear positions."""
    return {(source.linear_index(a), target.linear_index(b)) for a, b in m.relation()}


@pytest.mark.parametrize("case", range(len(OPS)))
def test_the_relation_is_that_of_the_op_on_positions(case: int) -> None:
    op, operands, output = OPS[case]
    inputs = [memory(t) for t in operands]
    for k, direction in itertools.product(range(op.arity), DIRECTIONS):
        try:
            logical = concrete(op, k, direction, [at.shape.dims for at in inputs])
        except InputError:
            continue  # the operand has no map
        if k < len(inputs):
            ends = [memory(output), inputs[k]]
            if direction == "input_to_output":
                ends.reverse()
            physical = physical_map(logical, *ends)
            found = {(a, b) for (a,), (b,) in physical.relation()}
            assert found == pairs(logical, *ends), (op.text(), k, direction)


def test_the_same_buffer_under_two_names() -> None:
    """A transpose that is undone by the layouts moves no element."""
    m = concrete(Transpose((1, 0)), 0, "output_to_input", [(3, 5)])
    m = physical_map(m, "f32[5,3]{0,1:T(2,2)}", "f32[3,5]{1,0:T(2,2)}")
    assert all(a == b for a, b in m.relation())
    assert len(m.relation()) == 15


def test_runtime_variables_stay() -> None:
    m = parse_map("(d0){rt0} -> (d0 + rt0), domain: d0 in [0, 2], rt0 in [0, 4]")
    physical = physical_map(m, "f32[3]{0:T(2)}", "f32[7]{0:T(4)}")
    assert physical.relation([4]) == {((0,), (4,)), ((1,), (5,)), ((2,), (6,))}
    assert physical.relation([3]) == {((0,), (3,)), ((1,), (4,)), ((2,), (5,))}


@pytest.mark.parametrize(("make", "message"), [
    (lambda: physical_map(parse_map("(d0) -> (d0), domain: d0 in [0, 2]"), "f32[3,1]", "f32[3]"), "source"),
    (lambda: physical_map(parse_map("(d0) -> (d0), domain: d0 in [0, 2]"), "f32[3]", "f32[]"), "1 results"),
])  # fmt: skip
def test_maps_that_do_not_fit(make, message: str) -> None:
    with pytest.raises(InputError, match=message):
        make()
