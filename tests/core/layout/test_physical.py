"""Maps between positions in memory."""

from __future__ import annotations

import itertools

import pytest

from indexproof.core.errors import InputError
from indexproof.core.layout import Memory, memory, physical_map
from indexproof.core.op import DIRECTIONS, Op, concrete
from indexproof.core.text import parse_map
from indexproof.rules.ops.folding import Reduce
from indexproof.rules.ops.movement import Broadcast, Pad, Transpose
from indexproof.rules.ops.reshape import Reshape

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
    """The relation of a map between arrays, as positions."""
    return {(source.linear_index(a), target.linear_index(b)) for a, b in m.relation()}


@pytest.mark.parametrize("case", range(len(OPS)))
def test_the_relation_is_that_of_the_op_on_positions(case: int) -> None:
    op, operands, output = OPS[case]
    inputs = [memory(t) for t in operands]
    for k, direction in itertools.product(range(op.arity), DIRECTIONS):
        try:
            logical = concrete(op, k, direction, [at.shape.dims for at in inputs])
        except InputError:
            continue  # an operand that has no map
        if k < len(inputs):
            ends = [memory(output), inputs[k]]
            if direction == "input_to_output":
                ends.reverse()
            physical = physical_map(logical, *ends)
            found = {(a, b) for (a,), (b,) in physical.relation()}
            assert found == pairs(logical, *ends), (op.text(), k, direction)


def test_the_same_buffer_under_two_names() -> None:
    """A transpose between layouts that are turned round alike moves nothing."""
    m = concrete(Transpose((1, 0)), 0, "output_to_input", [(3, 5)])
    m = physical_map(m, "f32[5,3]{0,1:T(2,2)}", "f32[3,5]{1,0:T(2,2)}")
    assert all(a == b for a, b in m.relation())
    assert len(m.relation()) == 15


def test_runtime_variables_stay() -> None:
    m = parse_map("(d0){rt0} -> (d0 + rt0), domain: d0 in [0, 2], rt0 in [0, 4]")
    physical = physical_map(m, "f32[3]{0:T(2)}", "f32[7]{0:T(4)}")
    assert physical.relation([4]) == {((0,), (4,)), ((1,), (5,)), ((2,), (6,))}
    assert physical.relation([3]) == {((0,), (3,)), ((1,), (4,)), ((2,), (5,))}


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda: physical_map(parse_map("(d0) -> (d0), domain: d0 in [0, 2]"), "f32[3,1]", "f32[3]"),
            "source",
        ),
        (
            lambda: physical_map(parse_map("(d0) -> (d0), domain: d0 in [0, 2]"), "f32[3]", "f32[]"),
            "1 results",
        ),
    ],
)
def test_maps_that_do_not_fit(make, message: str) -> None:
    with pytest.raises(InputError, match=message):
        make()
