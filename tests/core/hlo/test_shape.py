"""Shapes and layouts: reading, printing, mistakes."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from indexproof.core.errors import InputError
from indexproof.core.hlo import Layout, Shape, Tile, TupleShape, leaves, read_shape

SAME = [
    "f32[2,3]",
    "f32[]",
    "f32[2,3]{1,0}",
    "f32[2,3]{0,1}",
    "token[]",
    "pred[0,5]{1,0}",
    "s32[<=10,4]{1,0}",
    "f32[?,4]",
    "f32[3,5]{1,0:T(2,2)}",
    "bf16[16,256]{1,0:T(8,128)(2,1)}",
    "f32[2,7,8,11,10]{4,3,2,1,0:T(*,*,2,*,3)}",
    "u4[16]{0:E(4)}",
    "f32[16]{0:S(5)}",
    "f32[16]{0:T(128)E(4)S(1)}",
    "f32[]{:T(128)}",
    "f32[8]{0:D(C)}",
    "f32[8,8]{1,0:T(8,128)L(1024)}",
    "f8e4m3fn[4]{0}",
    "()",
    "(f32[2], s32[])",
    "((f32[2]{0}, s32[]), (), u8[3])",
    "(f32[1], f32[2], f32[3], f32[4], f32[5], /*index=5*/f32[6])",
]


@pytest.mark.parametrize("text", SAME)
def test_prints_as_written(text: str) -> None:
    shape = read_shape(text)
    assert str(shape) == text
    assert read_shape(str(shape)) == shape


@pytest.mark.parametrize(("written", "printed"), [
    ("f32[10, 20]", "f32[10,20]"),
    ("f32[1000, 1000]{0, 1}", "f32[1000,1000]{0,1}"),
    ("s32[]{}", "s32[]"),
    ("( f32[2] ,s32[] )", "(f32[2], s32[])"),
    ("f32[4,4]{1,0:S(3)T(2,2)}", "f32[4,4]{1,0:T(2,2)S(3)}"),
    ("f32[ <= 10 ]", "f32[<=10]"),
])  # fmt: skip
def test_other_spellings(written: str, printed: str) -> None:
    assert str(read_shape(written)) == printed


def test_parts() -> None:
    shape = read_shape("bf16[3,<=5]{0,1:T(2,*,2)(2,1)E(4)S(5)}")
    assert shape == Shape(
        "bf16", (3, 5), Layout((0, 1), (Tile((2, None, 2)), Tile((2, 1))), (("E", "4"), ("S", "5"))), (False, True)
    )
    assert isinstance(shape, Shape)
    assert (shape.rank, shape.size, shape.minor_to_major) == (2, 15, (0, 1))
    assert (dict(shape.layout.properties)["S"], shape.layout.element_bits) == ("5", 4)
    assert str(shape.without_layout()) == "bf16[3,<=5]"
    assert read_shape("f32[2,3,4]").minor_to_major == (2, 1, 0)


def test_leaves_of_tuples() -> None:
    shape = read_shape("((f32[2], s32[]), (), u8[3])")
    assert [(path, str(a)) for path, a in leaves(shape)] == [((0, 0), "f32[2]"), ((0, 1), "s32[]"), ((2,), "u8[3]")]
    assert isinstance(shape, TupleShape)
    assert str(read_shape("((f32[2]{0}), s32[])").without_layout()) == "((f32[2]), s32[])"
    assert list(leaves(Shape("f32", (1,)))) == [((), Shape("f32", (1,)))]


@pytest.mark.parametrize(("text", "column", "message"), [
    ("f32", 1, "where a shape belongs"),
    ("f32[2", 4, "'[' is not closed"),
    ("f32[2,]", 7, "in a shape; expected a dimension size"),
    ("f32[a]", 5, "unexpected 'a' in a shape"),
    ("f32[-1]", 5, "in a shape"),
    ("f32[2,2]{1,1}", 12, "dimension 1 occurs twice"),
    ("f32[2,2]{0}", 9, "a layout of 1 dimensions for an array of rank 2"),
    ("f32[2,2]{}", 9, "a layout of 0 dimensions for an array of rank 2"),
    ("f32[2]{1}", 8, "dimension 1 of an array of rank 1"),
    ("f32[2]{0,}", 10, "in a layout"),
    ("f32[2]{0:T()}", 12, "where a tile size belongs"),
    ("f32[2,2]{1,0:T(0,2)}", 16, "a tile size of 0"),
    ("f32[2,2]{1,0:T(2,2}", 19, "unexpected '}'"),
    ("f32[2,2]{1,0:T(2,*)}", 18, "the last size of a tile is `*`"),
    ("f32[2]{0:T(2)T(2)}", 15, "tiles are given twice"),
    ("f32[2]{0:S(1)S(2)}", 14, "'S' occurs twice"),
    ("f32[2]{0:S(x)}", 12, "where a number belongs"),
    ("f32[2]{0:q}", 10, "in a layout"),
    ("(f32[2], s32[]", 15, "the text ends in a tuple shape"),
    ("(f32[2] s32[])", 9, "unexpected 's32' in a tuple shape"),
    ("f32[2] x", 8, "after a shape"),
    ("f32[" + "9" * 50 + "]", 5, "an integer of 50 digits"),
])  # fmt: skip
def test_mistakes_say_where(text: str, column: int, message: str) -> None:
    with pytest.raises(InputError) as caught:
        read_shape(text)
    assert (caught.value.line, caught.value.column) == (1, column), str(caught.value)
    assert message in str(caught.value)
    assert caught.value.expected


def test_deep_tuples_are_refused_and_not_followed() -> None:
    with pytest.raises(InputError, match="nested deeper"):
        read_shape("(" * 100_000)
    assert read_shape("(" * 90 + "f32[]" + ")" * 90)


def test_minus_one_in_a_tile_merges_dimensions() -> None:
    assert Tile((-1, 2, -1, 3)) == Tile((None, 2, None, 3))
    assert str(Layout((3, 2, 1, 0), (Tile((-1, 2, -1, 3)),))) == "{3,2,1,0:T(*,2,*,3)}"


@pytest.mark.parametrize(("make", "message"), [
    (lambda: Layout((1, 1)), "minor_to_major [1, 1]"),
    (lambda: Layout((0, 2)), "minor_to_major [0, 2]"),
    (lambda: Layout((1, -1)), "minor_to_major [1, -1]"),
    (lambda: Tile(()), "a tile ()"),
    (lambda: Tile((0, 2)), "a tile (0,2)"),
    (lambda: Tile((2, -1)), "a tile (2,*)"),
    (lambda: Shape("f32", (2, 3), Layout((0,))), "layout {0} of an array of rank 2"),
    (lambda: Shape("f32", (2, -3)), "sizes [2, -3]"),
])  # fmt: skip
def test_what_no_text_may_say_no_object_may_be(make: Callable[[], object], message: str) -> None:
    with pytest.raises(InputError) as caught:
        make()
    assert message in str(caught.value)
    assert caught.value.expected


def test_dimension_numbers_of_a_layout_may_count_from_the_end() -> None:
    assert Layout((-1, 0, -2)) == Layout((2, 0, 1))
    assert str(Shape("f32", (2, 3), Layout([-2, -1], [Tile([-1, 3])]))) == "f32[2,3]{0,1:T(*,3)}"
