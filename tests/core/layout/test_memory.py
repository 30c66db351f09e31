"""Arrays in memory against numpy's pad, reshape and transpose; statements of the published pages; mistakes."""

from __future__ import annotations

import doctest
import inspect
import itertools
import random
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pytest

from indexproof.core.errors import InputError
from indexproof.core.layout import Layout, Memory, Shape, Tile, element_bits, memory

HOLE = -1


def contents(at: Memory, values: Sequence[Any], padding: Any = HOLE) -> list[Any]:
    """Return the contents of memory for the elements ``values`` in row-major order."""
    inside, results = at.backward.evaluate_many([np.arange(at.size)])
    number = np.zeros(at.size, np.int64)
    for n, column in zip(at.shape.dims, results, strict=True):
        number = number * n + column
    held = zip(np.broadcast_to(inside, at.size).tolist(), number.tolist(), strict=True)
    return [values[n] if here else padding for here, n in held]


def as_numpy_does(at: Memory) -> list[int]:
    """Return memory as row-major element numbers, with holes for padding, by the published construction."""
    dims = at.shape.dims
    a = np.arange(at.shape.size).reshape(dims)
    if at.padded_dimensions:
        wide = zip(dims, at.padded_dimensions, strict=True)
        a = np.pad(a, [(0, w - n) for n, w in wide], constant_values=HOLE)
    a = a.transpose(tuple(reversed(at.layout.minor_to_major)))
    for tile in at.layout.tiles:
        a = a.reshape((1,) * (len(tile.sizes) - a.ndim) + a.shape)
        kept = a.ndim - len(tile.sizes)
        sizes, merged = list(a.shape[:kept]), 1
        for n, t in zip(a.shape[kept:], tile.sizes, strict=True):
            merged *= n
            if t is not None:
                sizes.append(merged)
                merged = 1
        a = a.reshape(sizes)
        cuts = [t for t in tile.sizes if t is not None]
        more = [(0, 0)] * kept + [(0, -n % t) for n, t in zip(sizes[kept:], cuts, strict=True)]
        a = np.pad(a, more, constant_values=HOLE)
        pairs = [(n // t, t) for n, t in zip(a.shape[kept:], cuts, strict=True)]
        a = a.reshape((*a.shape[:kept], *itertools.chain(*pairs)))
        last = kept + 2 * len(cuts)
        a = a.transpose((*range(kept), *range(kept, last, 2), *range(kept + 1, last, 2)))
    line = a.reshape(-1)
    tail = -line.size % at.layout.tail_alignment
    return np.pad(line, (0, tail), constant_values=HOLE).tolist()


NAMED = [
    "f32[]",
    "f32[7]",
    "f32[2,3]{0,1}",
    "f32[2,3,4]{0,2,1}",
    "f32[3,5]{1,0:T(2,2)}",
    "f32[4,8]{1,0:T(2,4)(2,1)}",
    "bf16[16,256]{1,0:T(8,128)(2,1)}",
    "bf16[9,130]{1,0:T(8,128)(2,1)}",
    "f32[2,7,8,11,10]{4,3,2,1,0:T(*,*,2,*,3)}",
    "f32[3,5]{1,0:T(2)}",
    "f32[5]{0:T(2,4)}",
    "f32[]{:T(128)}",
    "f32[]{:T(2,4)}",
    "f32[0,5]{1,0:T(2,2)}",
    "f32[3,0]{0,1}",
    "f32[3,5]{1,0:T(2,2)L(32)}",
    "f32[7]{0:T(4)(3)}",
    "f32[7,9]{1,0:T(3,4)(2,3)(2,2)}",
    "f32[8,8]{1,0:T(4,4)(2,2,4)}",
    "f32[2,3,4]",
    "u8[10,20]{0,1:T(4,8)(4,1)}",
    "f32[<=5,3]{1,0:T(2,2)}",
    "f32[5]{0:T(*,4)}",
    "s4[3,3]{1,0:T(2,2)E(4)}",
]


def arbitrary(count: int) -> Iterator[Memory]:
    """Memories with any order, up to three tiles (also longer than the array), padded sizes and alignment."""
    rng = random.Random(7)
    for _ in range(count):
        rank = rng.randrange(5)
        dims = tuple(rng.choice([0, 1, 2, 3, 4, 5]) if rng.random() < 0.9 else 6 for _ in range(rank))
        order = list(range(rank))
        rng.shuffle(order)
        tiles = []
        have = rank
        for _ in range(rng.choice([0, 1, 1, 2, 3])):
            length = rng.randrange(1, min(have + 2, 4))
            sizes: list[int | None] = [None if rng.random() < 0.25 else rng.randrange(1, 5) for _ in range(length)]
            sizes[-1] = sizes[-1] or 2
            tiles.append(Tile(tuple(sizes)))
            cuts = length - sizes.count(None)
            have = max(have - length, 0) + 2 * cuts
        properties = (("L", str(rng.randrange(2, 9))),) if rng.random() < 0.2 else ()
        padded = tuple(n + rng.randrange(3) for n in dims) if rng.random() < 0.3 else ()
        yield Memory(Shape("f32", dims, Layout(tuple(order), tuple(tiles), properties)), padded)


def check(at: Memory) -> None:
    """Check every element and every position with every function."""
    expected = as_numpy_does(at)
    assert at.size == len(expected), at
    assert at.padding_size == expected.count(HOLE), at
    assert contents(at, range(at.shape.size), HOLE) == expected, at
    indices = list(itertools.product(*(range(n) for n in at.shape.dims)))
    positions = {number: place for place, number in enumerate(expected) if number != HOLE}
    for number, index in enumerate(indices):
        assert at.linear_index(index) == positions[number], (at, index)
    for place, number in enumerate(expected):
        assert at.index(place) == (None if number == HOLE else indices[number]), (at, place)
        assert sum(m.evaluate((place,)) is not None for m in at.padding) == (number == HOLE), (at, place)
    assert np.prod(at.expanded, dtype=int) <= at.size
    assert {t for _, t in at.backward.relation()} == set(indices), at


@pytest.mark.parametrize("text", NAMED)
def test_memory_is_what_numpy_makes_of_the_construction(text: str) -> None:
    at = memory(text)
    if at.size <= 1000:
        check(at)
    else:
        assert contents(at, range(at.shape.size), HOLE) == as_numpy_does(at)


def test_arbitrary_layouts() -> None:
    seen = 0
    for at in arbitrary(150):
        if at.size <= 3000:
            check(at)
            seen += bool(at.padding_size) and len(at.layout.tiles) > 1
    assert seen > 20, "most of these should pad at several levels"


# ------------------------------------------------------------------------------- the description of tiled layouts
def test_the_example_of_the_linear_index() -> None:
    at = memory("f32[3,5]{1,0:T(2,2)}")
    assert at.linear_index((2, 3)) == 17
    step, sizes = at.op.tilings((3, 5))[0]
    assert [int(str(e)) for e in step.place(at.op.physical((2, 3)), sizes)] == [1, 1, 0, 1]
    assert at.expanded == (2, 3, 2, 2)


def test_figure_1() -> None:
    at = memory("f32[3,5]{1,0:T(2,2)}")
    shown = [".." if i is None else f"{i[0]}{i[1]}" for i in map(at.index, range(at.size))]
    assert " ".join(shown) == "00 01 10 11 02 03 12 13 04 .. 14 .. 20 21 .. .. 22 23 .. .. 24 .. .. .."


def test_figure_2() -> None:
    at = memory("f32[4,8]{1,0:T(2,4)(2,1)}")
    rows = [[at.linear_index((r, c)) for c in range(8)] for r in range(4)]
    assert rows == [
        [0, 2, 4, 6, 8, 10, 12, 14],
        [1, 3, 5, 7, 9, 11, 13, 15],
        [16, 18, 20, 22, 24, 26, 28, 30],
        [17, 19, 21, 23, 25, 27, 29, 31],
    ]


def test_minus_one_is_no_tile_size() -> None:
    """A tile size of -1, which the page uses for a merged dimension, is refused; the text form is an asterisk."""
    with pytest.raises(InputError, match="tile size of -1"):
        memory("f32[4,4]{1,0:T(-1,2)}")


# ----------------------------------------------------------------------------- the description of shapes and layouts
def test_linear_memory_orders_of_the_page() -> None:
    assert "".join(contents(memory("f32[2,3]{0,1}"), "abcdef")) == "adbecf"
    assert "".join(contents(memory("f32[2,3]{1,0}"), "abcdef")) == "abcdef"
    padded = contents(memory("f32[2,3]{0,1}", [3, 5]), "abcdef", "0")
    assert "".join(padded) == "ad0be0cf0000000"
    # "equivalent to the layout of the following array"
    array = [["a", "b", "c", "0", "0"], ["d", "e", "f", "0", "0"], ["0"] * 5]
    assert padded == contents(memory("f32[3,5]{0,1}"), list(itertools.chain(*array)))


def test_index_util_both_ways() -> None:
    assert memory("f32[2,3]{0,1}").linear_index((1, 2)) == 5
    assert memory("f32[2,3]{0,1}").index(5) == (1, 2)
    assert memory("f32[3,5]{1,0:T(2,2)}").index(9) is None
    assert memory("f32[3,5]{1,0:T(2,2)L(64)}").untiled().linear_index((2, 3)) == 13


def test_bytes() -> None:
    assert memory("f32[3,5]{1,0:T(2,2)}").bytes == 96
    assert memory("s4[16]").bytes == 16
    assert memory("s4[15]{0:T(16)E(4)}").bytes == 8
    assert [element_bits(Shape(t, ())) for t in ("pred", "bf16", "f8e4m3fn", "c128", "u2", "f8e8m0fnu")] == [
        8, 16, 8, 128, 8, 8,
    ]  # fmt: skip
    with pytest.raises(InputError, match="not known"):
        element_bits(Shape("token", ()))


# -------------------------------------------------------------------------------------------------------- mistakes
@pytest.mark.parametrize(("make", "message"), [
    (lambda: memory("(f32[2], s32[])"), "is a tuple"),
    (lambda: memory("f32[?]"), "unknown size"),
    (lambda: memory("f32[2,3]", [3]), "padded_dimensions has 1 entries"),
    (lambda: memory("f32[2,3]", [1, 3]), "narrower"),
    (lambda: memory("f32[2,3]{1,0:D(D,C)}"), "not simply in one order"),
    (lambda: memory("f32[2,3]{1,0:SC(1:2)}"), "not simply in one order"),
    (lambda: memory("f32[2,3]{1,0:L(0)}"), "L\\(0\\)"),
    (lambda: memory("f32[2,3]").linear_index((2, 0)), "outside of f32"),
    (lambda: memory("f32[2,3]").linear_index((0,)), "expected 2 coordinates"),
    (lambda: memory("f32[2,0]").linear_index((0, 0)), "the array is empty"),
    (lambda: memory("f32[2,3]").index(6), "expected 0 to 5"),
    (lambda: memory("f32[2,3]").index(-1), "position -1"),
    (lambda: memory("f32[0]").index(0), "the buffer is empty"),
    (lambda: Shape("f32", (2, 3)).with_layout(Layout((0,))), "of an array of rank 2"),
])  # fmt: skip
def test_what_has_no_place_in_memory(make, message: str) -> None:
    with pytest.raises(InputError, match=message):
        make()


def test_a_large_array_has_positions() -> None:
    assert memory("f32[100000,100000]").linear_index((99999, 99999)) == 10**10 - 1


@pytest.mark.parametrize(("text", "column"), [
    ("f32[2,2]{1,1}", 12),
    ("f32[2,2]{1,0:T(2,2}", 19),
    ("f32[2]{0:T()}", 12),
    ("f32[2,2]{1,0:T(0,2)}", 16),
    ("f32[2,2]{1,0:T(2,*)}", 18),
    ("f32[2,2]{1,0:T(2,2)", 9),
    ("f32[2,2]{1,0:T(,2)}", 16),
])  # fmt: skip
def test_mistakes_that_xla_takes_without_a_word_are_shown_with_a_caret(text: str, column: int) -> None:
    with pytest.raises(InputError) as caught:
        memory(text)
    assert (caught.value.line, caught.value.column) == (1, column)
    assert caught.value.expected
    assert caught.value.render().splitlines()[-1].index("^") == column + 1


@pytest.mark.parametrize("text", NAMED)
def test_the_text_of_a_layout_comes_back(text: str) -> None:
    assert str(memory(text)) == text


def test_the_example_in_the_description() -> None:
    found = doctest.DocTestFinder().find(inspect.getmodule(Memory), "memory")
    run = [doctest.DocTestRunner().run(t) for t in found if t.examples]
    assert run
    assert not any(r.failed for r in run)


def shapes(values: Sequence[int]) -> str:
    return ",".join(map(str, values))


def test_many_tiles_and_dimensions_are_no_trouble() -> None:
    at = memory("f32[2]{0:" + "T" + "(2)" * 150 + "}")
    assert (at.size, at.linear_index((1,)), at.index(1)) == (2, 1, (1,))
    rank = 60
    deep = memory(f"f32[{shapes([1] * rank)}]{{{shapes(range(rank))}:T(2,2)}}")
    assert (deep.size, deep.linear_index((0,) * rank)) == (4, 0)
