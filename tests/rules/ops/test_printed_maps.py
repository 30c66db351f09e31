"""Printed maps of HLO instructions, compared with those of the indexing analysis document.

Where the document is wrong or less precise, the map below is the right one: see the comments.
"""

from __future__ import annotations

import pytest

from indexproof.core.hlo import read_module
from indexproof.core.op import DIRECTIONS, concrete
from indexproof.core.text import parse_map
from indexproof.rules.ops import catalogue, op_from_hlo, op_reader
from indexproof.rules.simplifier import simplify

MODULE = """
HloModule m
ENTRY e {
  p0 = f32[10, 20] parameter(0)
  p1 = f32[20] parameter(1)
  add = f32[10, 20] add(p0, p0)
  broadcast = f32[10, 20, 30] broadcast(p1), dimensions={1}
  iota = f32[2,4] iota(), dimensions={1}
  t0 = f32[3, 12288, 6, 128] parameter(2)
  transpose = f32[3, 6, 128, 12288] transpose(t0), dimensions={0, 2, 3, 1}
  r0 = f32[1, 17, 9, 9] parameter(3)
  reverse = f32[1, 17, 9, 9] reverse(r0), dimensions={1, 2}
  v0 = f32[256,10] parameter(4)
  scalar = f32[] parameter(5)
  reduce = (f32[10], f32[10]) reduce(v0, v0, scalar, scalar), dimensions={0}, to_apply=max
  s0 = f32[10, 20, 50] parameter(6)
  slice = f32[5, 3, 25] slice(s0), slice={[5:10:1], [3:20:7], [0:50:2]}
  u0 = f32[4,8] parameter(7)
  collapse = f32[32] reshape(u0)
  expand = f32[4, 8] reshape(collapse)
  generic = f32[2, 4, 4] reshape(u0)
  uneven = f32[16, 2] reshape(u0)
  u3 = f32[4, 8, 12] parameter(8)
  subshapes = f32[32, 3, 4] reshape(u3)
  l0 = f32[4,8]{0,1} parameter(9)
  bitcast = f32[8,2,2]{2,1,0} bitcast(l0)
  c0 = f32[2, 5, 7] parameter(10)
  c1 = f32[2, 11, 7] parameter(11)
  c2 = f32[2, 17, 7] parameter(12)
  concatenate = f32[2, 33, 7] concatenate(c0, c1, c2), dimensions={1}
  m0 = f32[4, 128, 256] parameter(13)
  m1 = f32[4, 256, 64] parameter(14)
  dot = f32[4, 128, 64] dot(m0, m1), lhs_batch_dims={0}, rhs_batch_dims={0}, lhs_contracting_dims={2},
    rhs_contracting_dims={1}
  w0 = f32[4, 4] parameter(15)
  pad = f32[12, 16] pad(w0, scalar), padding=1_4_1x4_8_0
  crop = f32[3, 4] pad(w0, scalar), padding=-1_0_0x0_0_0
  x0 = f32[1024, 514] parameter(16)
  reduce-window = f32[1024, 3] reduce-window(x0, scalar), window={size=1x512 pad=0_0x0_0}, to_apply=max
  y0 = f32[1,8,1] parameter(17)
  y1 = f32[3,1,1] parameter(18)
  convolution = f32[1,4,1] convolution(y0, y1), window={size=3 stride=2 pad=1_1}, dim_labels=b0f_0io->b0f
  src = s32[20,30] parameter(19)
  upd = s32[5,10] parameter(20)
  of1 = s32[] parameter(21)
  of2 = s32[] parameter(22)
  dus = s32[20,30] dynamic-update-slice(src, upd, of1, of2)
  ds = s32[1,30] dynamic-slice(src, of1, of2), dynamic_slice_sizes={1,30}
  g0 = f32[33,76,70] parameter(23)
  g1 = s32[1806,2] parameter(24)
  gather = f32[1806,7,8,4] gather(g0, g1), offset_dims={1,2,3}, collapsed_slice_dims={},
    start_index_map={0,1}, index_vector_dim=1, slice_sizes={7,8,4}
  ROOT root = f32[10, 20] copy(add)
}
"""

# instruction, operand: map from the output, map to the output
MAPS = {
    ("add", 0): ("(d0, d1) -> (d0, d1), domain: d0 in [0, 9], d1 in [0, 19]",
        "(d0, d1) -> (d0, d1), domain: d0 in [0, 9], d1 in [0, 19]"),
    ("broadcast", 0): ("(d0, d1, d2) -> (d1), domain: d0 in [0, 9], d1 in [0, 19], d2 in [0, 29]",
        "(d0)[s0, s1] -> (s0, d0, s1), domain: d0 in [0, 19], s0 in [0, 9], s1 in [0, 29]"),
    ("transpose", 0): ("(d0, d1, d2, d3) -> (d0, d3, d1, d2),"
        " domain: d0 in [0, 2], d1 in [0, 5], d2 in [0, 127], d3 in [0, 12287]",
        "(d0, d1, d2, d3) -> (d0, d2, d3, d1),"
        " domain: d0 in [0, 2], d1 in [0, 12287], d2 in [0, 5], d3 in [0, 127]"),
    ("reverse", 0): ("(d0, d1, d2, d3) -> (d0, -d1 + 16, -d2 + 8, d3),"
        " domain: d0 in [0, 0], d1 in [0, 16], d2 in [0, 8], d3 in [0, 8]",
        "(d0, d1, d2, d3) -> (d0, -d1 + 16, -d2 + 8, d3),"
        " domain: d0 in [0, 0], d1 in [0, 16], d2 in [0, 8], d3 in [0, 8]"),
    ("reduce", 0): ("(d0)[s0] -> (s0, d0), domain: d0 in [0, 9], s0 in [0, 255]",
        "(d0, d1) -> (d1), domain: d0 in [0, 255], d1 in [0, 9]"),
    ("reduce", 2): ("(d0) -> (), domain: d0 in [0, 9]", "()[s0] -> (s0), domain: s0 in [0, 9]"),
    ("slice", 0):
        ("(d0, d1, d2) -> (d0 + 5, d1 * 7 + 3, d2 * 2), domain: d0 in [0, 4], d1 in [0, 2], d2 in [0, 24]",
        "(d0, d1, d2) -> (d0 - 5, (d1 - 3) floordiv 7, d2 floordiv 2), domain: d0 in [5, 9], d1 in [3, 17],"
        " d2 in [0, 48], (d1 - 3) mod 7 in [0, 0], d2 mod 2 in [0, 0]"),
    ("collapse", 0): ("(d0) -> (d0 floordiv 8, d0 mod 8), domain: d0 in [0, 31]",
        "(d0, d1) -> (d0 * 8 + d1), domain: d0 in [0, 3], d1 in [0, 7]"),
    ("expand", 0): ("(d0, d1) -> (d0 * 8 + d1), domain: d0 in [0, 3], d1 in [0, 7]",
        "(d0) -> (d0 floordiv 8, d0 mod 8), domain: d0 in [0, 31]"),
    ("generic", 0): ("(d0, d1, d2) -> (d0 * 2 + d1 floordiv 2, d2 + (d1 mod 2) * 4),"
        " domain: d0 in [0, 1], d1 in [0, 3], d2 in [0, 3]",
        "(d0, d1) -> (d0 floordiv 2, d1 floordiv 4 + (d0 mod 2) * 2, d1 mod 4),"
        " domain: d0 in [0, 3], d1 in [0, 7]"),
    ("uneven", 0): ("(d0, d1) -> (d0 floordiv 4, (d0 mod 4) * 2 + d1), domain: d0 in [0, 15], d1 in [0, 1]",
        "(d0, d1) -> (d0 * 4 + d1 floordiv 2, d1 mod 2), domain: d0 in [0, 3], d1 in [0, 7]"),
    ("subshapes", 0): ("(d0, d1, d2) -> (d0 floordiv 8, d0 mod 8, d1 * 4 + d2),"
        " domain: d0 in [0, 31], d1 in [0, 2], d2 in [0, 3]",
        "(d0, d1, d2) -> (d0 * 8 + d1, d2 floordiv 4, d2 mod 4),"
        " domain: d0 in [0, 3], d1 in [0, 7], d2 in [0, 11]"),
    ("bitcast", 0): ("(d0, d1, d2) -> (d1 * 2 + d2, d0), domain: d0 in [0, 7], d1 in [0, 1], d2 in [0, 1]",
        "(d0, d1) -> (d1, d0 floordiv 2, d0 mod 2), domain: d0 in [0, 3], d1 in [0, 7]"),
    ("concatenate", 1): ("(d0, d1, d2) -> (d0, d1 - 5, d2), domain: d0 in [0, 1], d1 in [5, 15], d2 in [0, 6]",
        "(d0, d1, d2) -> (d0, d1 + 5, d2), domain: d0 in [0, 1], d1 in [0, 10], d2 in [0, 6]"),
    ("concatenate", 2): ("(d0, d1, d2) -> (d0, d1 - 16, d2), domain: d0 in [0, 1], d1 in [16, 32], d2 in [0, 6]",
        "(d0, d1, d2) -> (d0, d1 + 16, d2), domain: d0 in [0, 1], d1 in [0, 16], d2 in [0, 6]"),
    ("dot", 0): ("(d0, d1, d2)[s0] -> (d0, d1, s0),"
        " domain: d0 in [0, 3], d1 in [0, 127], d2 in [0, 63], s0 in [0, 255]", "(d0, d1, d2)[s0] -> (d0, d1, s0),"
        " domain: d0 in [0, 3], d1 in [0, 127], d2 in [0, 255], s0 in [0, 63]"),
    # the document maps the second operand to (d0, s0, d1): there d1 is the contracting dimension
    ("dot", 1): ("(d0, d1, d2)[s0] -> (d0, s0, d2),"
        " domain: d0 in [0, 3], d1 in [0, 127], d2 in [0, 63], s0 in [0, 255]", "(d0, d1, d2)[s0] -> (d0, s0, d2),"
        " domain: d0 in [0, 3], d1 in [0, 255], d2 in [0, 63], s0 in [0, 127]"),
    ("pad", 0): ("(d0, d1) -> ((d0 - 1) floordiv 2, d1 - 4),"
        " domain: d0 in [1, 7], d1 in [4, 7], (d0 - 1) mod 2 in [0, 0]",
        "(d0, d1) -> (d0 * 2 + 1, d1 + 4), domain: d0 in [0, 3], d1 in [0, 3]"),
    # in the document every output element reads the padding value
    ("pad", 1): ("(d0, d1) -> (), domain: d0 in [0, 11], d1 in [0, 15],"
        " max(-d0 + 1, -d1 + 4, d0 - 7, d1 - 7, (d0 - 1) mod 2) in [1, 8]",
        "()[s0, s1] -> (s0, s1), domain: s0 in [0, 11], s1 in [0, 15],"
        " max(-s0 + 1, -s1 + 4, s0 - 7, s1 - 7, (s0 - 1) mod 2) in [1, 8]"),
    ("crop", 0): ("(d0, d1) -> (d0 + 1, d1), domain: d0 in [0, 2], d1 in [0, 3]",
        "(d0, d1) -> (d0 - 1, d1), domain: d0 in [1, 3], d1 in [0, 3]"),
    ("crop", 1): ("(d0, d1) -> (), domain: d0 in [0, 2], d1 in [0, 3], 0 in [1, 1]",
        "()[s0, s1] -> (s0, s1), domain: s0 in [0, 2], s1 in [0, 3], 0 in [1, 1]"),
    ("reduce-window", 0): ("(d0, d1)[s0] -> (d0, d1 + s0), domain: d0 in [0, 1023], d1 in [0, 2], s0 in [0, 511]",
        "(d0, d1)[s0] -> (d0, d1 - s0),"
        " domain: d0 in [0, 1023], d1 in [0, 513], s0 in [0, 511], d1 - s0 in [0, 2]"),
    ("reduce-window", 1): ("(d0, d1) -> (), domain: d0 in [0, 1023], d1 in [0, 2]",
        "()[s0, s1] -> (s0, s1), domain: s0 in [0, 1023], s1 in [0, 2]"),
    ("convolution", 0): ("(d0, d1, d2)[s0] -> (d0, d1 * 2 + s0 - 1, 0),"
        " domain: d0 in [0, 0], d1 in [0, 3], d2 in [0, 0], s0 in [0, 2], d1 * 2 + s0 in [1, 8]",
        "(d0, d1, d2)[s0] -> (d0, (d1 - s0 + 1) floordiv 2, 0), domain: d0 in [0, 0], d1 in [0, 7],"
        " d2 in [0, 0], s0 in [0, 2], d1 - s0 in [-1, 5], (d1 - s0 + 1) mod 2 in [0, 0]"),
    # kernel elements over the padding are not read
    ("convolution", 1): ("(d0, d1, d2)[s0] -> (s0, 0, d2),"
        " domain: d0 in [0, 0], d1 in [0, 3], d2 in [0, 0], s0 in [0, 2], d1 * 2 + s0 in [1, 8]",
        "(d0, d1, d2)[s0] -> (0, s0, d2),"
        " domain: d0 in [0, 2], d1 in [0, 0], d2 in [0, 0], s0 in [0, 3], s0 * 2 + d0 in [1, 8]"),
    # the document omits the window, which its constraints could not express
    ("dus", 0): ("(d0, d1){rt0, rt1} -> (d0, d1), domain: d0 in [0, 19], d1 in [0, 29], rt0 in [0, 15],"
        " rt1 in [0, 20], max(d0 - rt0 - 4, d1 - rt1 - 9, rt0 - d0, rt1 - d1) in [1, 20]",
        "(d0, d1){rt0, rt1} -> (d0, d1), domain: d0 in [0, 19], d1 in [0, 29], rt0 in [0, 15],"
        " rt1 in [0, 20], max(d0 - rt0 - 4, d1 - rt1 - 9, rt0 - d0, rt1 - d1) in [1, 20]"),
    # the document has no constraint here either: its map leaves the bounds of the operand
    ("dus", 1): ("(d0, d1){rt0, rt1} -> (d0 - rt0, d1 - rt1), domain: d0 in [0, 19], d1 in [0, 29], rt0 in [0, 15],"
        " rt1 in [0, 20], d0 - rt0 in [0, 4], d1 - rt1 in [0, 9]", "(d0, d1){rt0, rt1} -> (d0 + rt0, d1 + rt1),"
        " domain: d0 in [0, 4], d1 in [0, 9], rt0 in [0, 15], rt1 in [0, 20]"),
    ("dus", 2): ("(d0, d1) -> (), domain: d0 in [0, 19], d1 in [0, 29]",
        "()[s0, s1] -> (s0, s1), domain: s0 in [0, 19], s1 in [0, 29]"),
    ("ds", 0): ("(d0, d1){rt0, rt1} -> (d0 + rt0, d1 + rt1),"
        " domain: d0 in [0, 0], d1 in [0, 29], rt0 in [0, 19], rt1 in [0, 0]",
        "(d0, d1){rt0, rt1} -> (d0 - rt0, d1 - rt1),"
        " domain: d0 in [0, 19], d1 in [0, 29], rt0 in [0, 19], rt1 in [0, 0], d0 - rt0 in [0, 0]"),
    ("gather", 0): ("(d0, d1, d2, d3){rt0, rt1} -> (d1 + rt0, d2 + rt1, d3), domain: d0 in [0, 1805], d1 in [0, 6],"
        " d2 in [0, 7], d3 in [0, 3], rt0 in [0, 26], rt1 in [0, 68]",
        "(d0, d1, d2)[s0]{rt0, rt1} -> (s0, d0 - rt0, d1 - rt1, d2), domain: d0 in [0, 32], d1 in [0, 75],"
        " d2 in [0, 3], s0 in [0, 1805], rt0 in [0, 26], rt1 in [0, 68],"
        " d0 - rt0 in [0, 6], d1 - rt1 in [0, 7]"),
    ("gather", 1): ("(d0, d1, d2, d3)[s0] -> (d0, s0),"
        " domain: d0 in [0, 1805], d1 in [0, 6], d2 in [0, 7], d3 in [0, 3], s0 in [0, 1]",
        "(d0, d1)[s0, s1, s2] -> (d0, s0, s1, s2),"
        " domain: d0 in [0, 1805], d1 in [0, 1], s0 in [0, 6], s1 in [0, 7], s2 in [0, 3]"),
}  # fmt: skip


@pytest.fixture(scope="module")
def module():
    return read_module(MODULE)


@pytest.mark.parametrize("direction", DIRECTIONS)
@pytest.mark.parametrize(("name", "operand"), MAPS, ids=str)
def test_map(module, name: str, operand: int, direction) -> None:
    maps = catalogue.maps(module.entry.instruction(name), direction)
    (m,) = maps[0][operand].maps
    wanted = parse_map(MAPS[name, operand][DIRECTIONS.index(direction)])
    # other tests check the sources of runtime values
    m = m.with_(rts=tuple(type(v)(v.name, v.lo, v.hi) for v in m.rts))
    assert simplify(m, keep_points=True) == simplify(wanted, keep_points=True)


def test_iota_is_a_function_of_nothing(module) -> None:
    iota = op_from_hlo(module.entry.instruction("iota"))
    assert iota is not None
    there, back = (concrete(iota, 0, direction, []) for direction in DIRECTIONS)
    assert there == parse_map("(d0, d1) -> (), domain: d0 in [0, 1], d1 in [0, 3]")
    assert back == parse_map("()[s0, s1] -> (s0, s1), domain: s0 in [0, 1], s1 in [0, 3]")


def test_runtime_values_know_their_element(module) -> None:
    gather = op_from_hlo(module.entry.instruction("gather"))
    assert gather is not None
    there = concrete(
        gather, 0, "output_to_input", [(33, 76, 70), (1806, 2)], ["g0", "indices = s32[1806,2] parameter(1)"]
    )
    assert [(v.source.hlo, str(v.source.results)) for v in there.rts] == [
        ("indices = s32[1806,2] parameter(1)", "(d0, 0)"),
        ("indices = s32[1806,2] parameter(1)", "(d0, 1)"),
    ]
    # from the operand's side, the element that is read depends on the batch, over which the range runs
    back = concrete(gather, 0, "input_to_output", [(33, 76, 70), (1806, 2)])
    assert [str(v.source.results) for v in back.rts] == ["(s0, 0)", "(s0, 1)"]


def test_components_that_a_reduction_keeps_apart() -> None:
    text = """
    HloModule m
    %NAME% {
      a = s32[] parameter(0)
      b = s32[] parameter(1)
      c = s32[] parameter(2)
      d = s32[] parameter(3)
      x = s32[] add(a, c)
      y = s32[] add(b, %OTHER%)
      ROOT r = (s32[], s32[]) tuple(x, y)
    }
    ENTRY e {
      p0 = s32[25,10] parameter(0)
      p1 = s32[] parameter(1)
      ROOT o = (s32[10], s32[10]) reduce(p0, p0, p1, p1), dimensions={0}, to_apply=f
    }
    """

    def connections(name: str, other: str) -> list[list[bool]]:
        module = read_module(text.replace("%NAME%", name).replace("%OTHER%", other))
        op = op_reader(module)(module.entry.root)
        return [[op.connected(result, k) for k in range(4)] for result in range(2)]

    assert connections("f", "d") == [[True, False, True, False], [False, True, False, True]]
    assert connections("f", "c") == [[True, False, True, False], [True, True, True, True]]
    # a computation that is not in the module may do anything
    assert connections("g", "d") == [[True] * 4] * 2
