"""Invalid attributes: each is refused with the parameter, its value and the shape."""

from __future__ import annotations

import pytest

from indexproof.core.errors import InputError
from indexproof.core.hlo import Instruction, read_module
from indexproof.core.op import Op, concrete
from indexproof.rules.ops import op_from_hlo
from indexproof.rules.ops.contraction import Dot
from indexproof.rules.ops.dynamic import DynamicSlice, DynamicUpdateSlice, Gather
from indexproof.rules.ops.folding import Reduce
from indexproof.rules.ops.movement import Broadcast, Concatenate, Pad, Reverse, Slice, Transpose
from indexproof.rules.ops.pointwise import Clamp, Compare, Constant, Elementwise, Iota, Select
from indexproof.rules.ops.reshape import Bitcast, Reshape
from indexproof.rules.ops.window import Convolution, ReduceWindow, Window

W = Window(2)
CONV = ((0, 1, 2), (0, 1, 2), (0, 1, 2))

# op, operand shapes, part of the message
REFUSED: list[tuple[Op, list[list[int]], list[str]]] = [
    (Transpose((0, 0)), [[2, 3]], ["permutation=(0, 0)", "dimension 0 twice", "[2, 3]"]),
    (Transpose((0, 2)), [[2, 3]], ["permutation=(0, 2)", "dimension 2", "[2, 3]", "dimensions 0 to 1"]),
    (Transpose((1, -1)), [[2, 3]], ["permutation=(1, -1)", "dimension -1", "[2, 3]"]),
    (Transpose((0,)), [[2, 3]], ["permutation=(0,)", "[2, 3]", "expected 2"]),
    (Transpose((1, 0)), [[2, 3], [2, 3]], ["1 operand expected, 2 given"]),
    (Transpose((1, 0)), [[2, -3]], ["size -3", "dimension 1", "operand 0"]),
    (Reverse((1, 1)), [[2, 3]], ["dimensions=(1, 1)", "dimension 1 twice", "[2, 3]"]),
    (Reverse((3,)), [[2, 3]], ["dimensions=(3,)", "dimension 3", "[2, 3]"]),
    (Reverse((0,)), [[]], ["dimensions=(0,)", "no dimension"]),
    (Broadcast((4, 5), (0,)), [[3]], ["dimensions=(0,)", "size 3", "size 4"]),
    (Broadcast((4, 5), (0, 0)), [[4, 4]], ["dimensions=(0, 0)", "dimension 0 twice"]),
    (Broadcast((4, 5), (2,)), [[4]], ["dimensions=(2,)", "dimension 2", "(4, 5)".replace("(", "[").replace(")", "]")]),
    (Broadcast((4, 5), ()), [[4]], ["dimensions=()", "expected 1"]),
    (Broadcast((4, -5), (0,)), [[4]], ["sizes=(4, -5)", "-5", "dimension 1"]),
    (Slice((0,), (5,), (0,)), [[5]], ["stride=(0,)", "dimension 0", "[5]"]),
    (Slice((0,), (5,), (-1,)), [[5]], ["stride=(-1,)", "[5]"]),
    (Slice((4,), (3,), (1,)), [[5]], ["start=4", "limit=3", "[5]"]),
    (Slice((0,), (6,), (1,)), [[5]], ["limit=(6,)", "size 5", "[5]"]),
    (Slice((-1,), (3,), (1,)), [[5]], ["start=(-1,)", "negative", "[5]"]),
    (Slice((0, 0), (3,), (1,)), [[5]], ["start=(0, 0)", "2 entries", "[5]"]),
    (Concatenate(1, 2), [[2, 3], [3, 3]], ["dimension=1", "[2, 3]", "[3, 3]", "dimension 0"]),
    (Concatenate(2, 2), [[2, 3], [2, 3]], ["dimension=(2,)", "[2, 3]"]),
    (Concatenate(0, 2), [[2, 3], [2]], ["operand 1", "[2]", "rank 2"]),
    (Concatenate(0, 2), [[2, 3]], ["2 operands expected, 1 given"]),
    (Pad((0,), (0,), (-1,)), [[3], []], ["interior=(-1,)", "dimension 0", "[3]"]),
    (Pad((-2,), (-2,), (0,)), [[3], []], ["low=-2", "high=-2", "-1", "[3]"]),
    (Pad((0, 0), (0,), (0,)), [[3], []], ["low=(0, 0)", "2 entries", "[3]"]),
    (Pad((0,), (0,), (0,)), [[3], [1]], ["operand 1", "[1]", "rank 0"]),
    (Elementwise("add", 2), [[2, 3], [2, 4]], ["[2, 3]", "[2, 4]", "dimension 1"]),
    (Elementwise("add", 2), [[2, 3], []], ["operand 1", "[]", "rank 2"]),
    (Elementwise("add", 3), [[2], [2], [2]], ["function=add", "3 operands", "expected 2"]),
    (Compare("ABOVE"), [[2], [2]], ["direction=ABOVE", "EQ"]),
    (Select(), [[3], [2], [2]], ["[2]", "[3]", "dimension 0"]),
    (Select(), [[], [2], []], ["operand 2", "rank 1"]),
    (Clamp(), [[2], [3], []], ["[3]", "[2]"]),
    (Iota((2, 4), 2), [], ["dimension=(2,)", "[2, 4]"]),
    (Constant((2, -4)), [], ["sizes=(2, -4)"]),
    (Reshape((4, 2)), [[3, 3]], ["[3, 3]", "(4, 2)", "9", "8"]),
    (Reshape((-1, 9)), [[3, 3]], ["sizes=(-1, 9)", "negative"]),
    (Reshape((0,)), [[3]], ["number of elements", "3", "0"]),
    (Bitcast((6,), (0, 0), (0,)), [[2, 3]], ["source_layout=(0, 0)", "twice", "[2, 3]"]),
    (Bitcast((6,), (1, 0), (1,)), [[2, 3]], ["target_layout=(1,)", "[6]"]),
    (DynamicSlice((3, 6)), [[3, 5], [], []], ["(3, 6)", "[3, 5]", "6 is larger than 5", "dimension 1"]),
    (DynamicSlice((3, -1)), [[3, 5], [], []], ["(3, -1)", "negative in dimension 1"]),
    (DynamicSlice((3,)), [[3, 5], []], ["sizes=(3,)", "[3, 5]"]),
    (DynamicSlice((3, 5)), [[3, 5], [], [1]], ["operand 2", "[1]", "rank 0"]),
    (DynamicSlice((3, 5)), [[3, 5], []], ["3 operands expected, 2 given"]),
    (DynamicUpdateSlice(1), [[3], [4], []], ["(4,)", "[3]", "4 is larger than 3"]),
    (DynamicUpdateSlice(2), [[3, 3], [2], [], []], ["operand 1", "[2]", "rank 2"]),
    (Gather((1,), (), (0, 0), 1, (2,)), [[5], [3, 2]], ["start_index_map=(0, 0)", "twice", "[5]"]),
    (Gather((1,), (), (0,), 3, (2,)), [[5], [3, 1]], ["index_vector_dim=3", "[3, 1]", "0 to 2"]),
    (Gather((1,), (), (0,), 1, (6,)), [[5], [3, 1]], ["slice_sizes=(6,)", "[5]", "6 is larger than 5"]),
    (Gather((1,), (), (0,), 1, (2,)), [[5], [3, 2]], ["start_index_map=(0,)", "[3, 2]", "2"]),
    (Gather((), (0,), (0,), 1, (2,)), [[5], [3, 1]], ["slice_sizes=(2,)", "collapsed dimension 0"]),
    (Gather((0, 1), (), (0,), 1, (2,)), [[5], [3, 1]], ["offset_dims=(0, 1)", "expected 1"]),
    (Gather((), (), (0,), 1, (1,), (0,), (0,)), [[5], [5, 1]], ["both start_index_map", "operand_batching_dims"]),
    (Gather((), (), (), 1, (1,), (0,), (0,)), [[5], [4, 0]], ["operand_batching_dims=(0,)", "5", "4"]),
    (Reduce((2,)), [[2, 3], []], ["dimensions=(2,)", "[2, 3]"]),
    (Reduce((0, 0)), [[2, 3], []], ["dimensions=(0, 0)", "twice", "[2, 3]"]),
    (Reduce((0,), 2), [[2, 3], [2, 4], [], []], ["[2, 3]", "[2, 4]", "dimension 1"]),
    (Reduce((0,)), [[2, 3], [3]], ["operand 1", "[3]", "rank 0"]),
    (Reduce((0,), 0), [], ["count=0"]),
    (ReduceWindow((W,)), [[2, 3], []], ["window of 1 dimensions", "[2, 3]"]),
    (ReduceWindow((Window(0),)), [[2], []], ["window dimension 0", "size=0"]),
    (ReduceWindow((Window(2, stride=0),)), [[2], []], ["window dimension 0", "stride=0"]),
    (ReduceWindow((Window(2, base_dilation=0),)), [[2], []], ["base_dilation=0"]),
    (ReduceWindow((Window(2, window_dilation=-1),)), [[2], []], ["window_dilation=-1"]),
    (Dot((0,), (), (), ()), [[2, 3], [2, 3]], ["lhs_batch=(0,)", "rhs_batch=()", "number"]),
    (Dot((0,), (0,), (0,), (1,)), [[2, 3], [2, 3]], ["dimension 0", "lhs_batch=(0,)", "lhs_contracting=(0,)"]),
    (Dot((), (), (1,), (0,)), [[2, 3], [4, 3]], ["lhs_contracting=(1,)", "3", "4", "[2, 3]", "[4, 3]"]),
    (Dot((), (), (2,), (0,)), [[2, 3], [4, 3]], ["lhs_contracting=(2,)", "dimension 2", "[2, 3]"]),
    (Convolution((W,), *CONV), [[1, 2, 5], [3, 1, 2]], ["feature_groups=1", "2 input features", "[3, 1, 2]"]),
    (Convolution((W,), *CONV, 2), [[1, 2, 5], [3, 1, 2]], ["feature_groups=2", "does not divide 3"]),
    (Convolution((W,), *CONV, 1, 2), [[3, 1, 5], [2, 1, 2]], ["batch_groups=2", "does not divide 3"]),
    (Convolution((W,), *CONV, 2, 2), [[2, 2, 5], [4, 1, 2]], ["feature_groups=2", "batch_groups=2", "both"]),
    (Convolution((W,), *CONV, 0), [[2, 0, 5], [4, 1, 2]], ["feature_groups=0"]),
    (Convolution((W,), *CONV), [[1, 1, 5], [3, 1, 3]], ["size=2", "3"]),
    (Convolution((W,), *CONV), [[1, 1, 5, 1], [3, 1, 2]], ["operand 0", "[1, 1, 5, 1]", "rank 3"]),
    (Convolution((W,), (0, 1, 1), *CONV[1:]), [[1, 1, 5], [3, 1, 2]], ["lhs_dims=(0, 1, 1)", "twice"]),
]


@pytest.mark.parametrize(
    ("op", "shapes", "says"), REFUSED, ids=lambda part: part.text() if isinstance(part, Op) else ""
)
def test_refused(op: Op, shapes: list[list[int]], says: list[str]) -> None:
    with pytest.raises(InputError) as caught:
        op.validate(*shapes)
    message = str(caught.value)
    assert message.startswith(f"{op.name}: ")
    assert "\n" not in message
    for part in says:
        assert part in message
    with pytest.raises(InputError):
        concrete(op, 0, "output_to_input", shapes)


def test_symbols_are_for_proofs() -> None:
    (case,) = [c for c in Slice.cases(1) if "limit" in c.label]
    case.op.validate(*case.shapes)
    with pytest.raises(InputError, match="not a number"):
        concrete(case.op, 0, "output_to_input", case.shapes)


HLO = {
    "transpose(p0)": "dimensions",
    "transpose(p0), dimensions={x}": "dimensions",
    "transpose(p0), dimensions={0,0}": "twice",
    "iota(), iota_dimension={1}": "iota_dimension",
    "iota(), dimensions={0,1}": "one is expected",
    "compare(p0, p0)": "direction",
    "compare(p0, p0), direction=QQ": "direction=QQ",
    "slice(p0), slice={0,1}": "slice",
    "slice(p0), slice={[0:3:0],[0:3]}": "stride",
    "slice(p0), slice={[0:3]}": "1 entries",
    "concatenate(p0, p0), dimensions={0,1}": "one is expected",
    "pad(p0, p1), padding=1_4_1_9x4": "padding",
    "pad(p0, p1)": "padding",
    "bitcast(s8[4,5] parameter(2))": "differ in bits",
    "reduce(p0), dimensions={0}": "1 operands",
    "reduce(p0, p1), dimensions={7}": "dimension 7",
    "reduce-window(p0, p1)": "window",
    "reduce-window(p0, p1), window={size=2}": "window of 1 dimensions",
    "reduce-window(p0, p1), window={size=2x2 stride=0x1}": "stride=0",
    "dot(p0, p0), lhs_contracting_dims={0}": "differ in number",
    "convolution(p0, p0), window={size=1}, dim_labels=b0f_0io->b0f": "rank 3",
    "convolution(p0, p0), dim_labels=bf_xo->bf": "dim_labels",
    "gather(p0, p1), offset_dims={0}": "start_index_map",
    "dynamic-slice(p0, p1), dynamic_slice_sizes={1,1}": "3 operands expected, 2 given",
    "dynamic-update-slice()": "no operands",
}


@pytest.mark.parametrize("text", HLO)
def test_refused_from_hlo(text: str) -> None:
    module = read_module(
        "HloModule m\nENTRY e {\n p0 = f32[4,5] parameter(0)\n p1 = f32[] parameter(1)\n"
        f" ROOT o = f32[4,5] {text}\n}}\n"
    )
    root = module.entry.root
    with pytest.raises(InputError) as caught:
        read_and_validate(root)
    assert HLO[text] in str(caught.value)


def read_and_validate(root: Instruction) -> None:
    op = op_from_hlo(root)
    op.validate(*(a.dims for a in root.operand_arrays))


def test_other_opcodes_have_no_op() -> None:
    module = read_module(
        "HloModule m\nENTRY e {\n p0 = f32[4] parameter(0)\n ROOT o = f32[4] frobnicate(p0), dimensions={0}\n}\n"
    )
    assert op_from_hlo(module.entry.root) is None
