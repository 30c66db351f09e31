"""Threads, blocks and warps: every map against a plain loop over the grid."""

from __future__ import annotations

import itertools
import random

import pytest
from computation_maps import computation_maps

from indexproof.core.errors import InputError
from indexproof.core.hlo import Layout, Shape, read_module
from indexproof.core.indexing_map import IndexingMap
from indexproof.core.launch import GRID, Launch, Launched
from indexproof.core.op import concrete
from indexproof.rules.ops import catalogue
from indexproof.rules.ops.movement import Transpose
from indexproof.rules.simplifier import simplify

Place = tuple[int, ...]


def by_loops(at: Launched) -> dict[Place, tuple[int, ...]]:
    """Assign the elements in memory order to the places in the order of their numbers, one by one."""
    dims = at.shape.dims
    minor_to_major = at.shape.minor_to_major
    elements = []
    for digits in itertools.product(*(range(dims[d]) for d in reversed(minor_to_major))):
        found = dict(zip(reversed(minor_to_major), digits, strict=True))
        elements.append(tuple(found[d] for d in range(len(dims))))
    (tx, ty, tz), (bx, by, bz) = at.launch.threads, at.launch.blocks
    waiting = iter(elements)
    computed: dict[Place, tuple[int, ...]] = {}
    chunk = 0
    while len(computed) < len(elements):
        for z, y, x in itertools.product(range(bz * tz), range(by * ty), range(bx * tx)):
            for k in range(at.launch.unroll):
                element = next(waiting, None)
                if element is not None:
                    place = (x % tx, y % ty, z % tz, x // tx, y // ty, z // tz, chunk, k)
                    computed[place] = element
        chunk += 1
    assert chunk == at.chunks
    return computed


def relation(m: IndexingMap) -> set[tuple[Place, tuple[int, ...]]]:
    return {(tuple(source), tuple(target)) for source, target in m.relation()}


CASES = [
    (Launch((4,), (2,)), "f32[3,5]"),
    (Launch((4,), (2,)), "f32[3,5]{0,1}"),
    (Launch((4,), (2,), unroll=2), "f32[3,5]{0,1}"),
    (Launch((3, 2), (2, 2)), "f32[2,3,4]{1,2,0}"),
    (Launch((2, 3, 2), (2, 1, 3), unroll=3, warp=5), "f32[7,11]"),
    (Launch((5, 3, 1), (1, 1, 1), warp=4), "f32[40]"),
    (Launch((1,), (1,)), "f32[4]"),
    (Launch((1,), (1,), warp=1), "f32[2,2]"),
    (Launch((8,), (4,), warp=8), "f32[]"),
    (Launch((8,), (4,)), "f32[2,0]"),
    (Launch((6,), (1,), warp=1), "f32[6]"),
    (Launch((4,), (2,)), "f32[<=3,2]"),
    (Launch((4,), (2,)), "f32[3,5]{1,0:T(2,2)}"),
]


def rendered(case: object) -> str:
    return str(case) if isinstance(case, str) else f"{case.threads}x{case.blocks}u{case.unroll}w{case.warp}"


@pytest.mark.parametrize(("launch", "shape"), CASES, ids=rendered)
def test_maps_are_the_loop(launch: Launch, shape: str) -> None:
    check(launch.over(shape))


def test_random_launches() -> None:
    random_ = random.Random(6)
    for _ in range(60):
        threads = tuple(random_.choice((1, 1, 2, 3, 5)) for _ in range(3))
        blocks = tuple(random_.choice((1, 1, 2, 3)) for _ in range(3))
        dims = tuple(random_.choice((1, 2, 3, 5)) for _ in range(random_.randint(0, 3)))
        order = list(range(len(dims)))
        random_.shuffle(order)
        launch = Launch(threads, blocks, random_.choice((1, 1, 2, 4)), random_.choice((1, 2, 4, 32)))
        check(launch.over(Shape("f32", dims, Layout(tuple(order)))))


def check(at: Launched) -> None:
    expected = by_loops(at)
    assert len(set(expected.values())) == at.shape.size
    for simplified in (False, True):

        def get(m: IndexingMap) -> set[tuple[Place, tuple[int, ...]]]:
            return relation(simplify(m) if simplified else m)  # noqa: B023

        assert get(at.places) == set(expected.items())
        assert get(at.owners) == {(element, place) for place, element in expected.items()}
        assert get(at.thread_map) == {(place[:6], element) for place, element in expected.items()}
        assert get(at.block_map) == {(place[3:6], element) for place, element in expected.items()}
        (tx, ty, _), warp = at.launch.threads, at.launch.warp
        number = {p: (p[2] * ty + p[1]) * tx + p[0] for p in expected}
        assert get(at.warp_map) == {
            ((number[place] // warp, *place[3:6]), element) for place, element in expected.items()
        }
    for place, element in expected.items():
        assert at.element(place) == element
        assert at.place(element) == place
    for place in itertools.islice(itertools.product(*map(range, at.grid)), 300):
        assert at.element(place) == expected.get(place)
    in_block = {((warp_id, lane), thread) for (thread, (warp_id, lane)) in relation(at.warps_of_threads)}
    blocks = (0, 0, 0)
    assert {(w, t) for (w, _), t in in_block} == {
        (source[0], target[:3]) for source, target in relation(at.threads_of_warps) if source[1:] == blocks
    }


def test_variables_are_named_as_xla_names_them() -> None:
    at = Launch((128,), (8,), unroll=4).over("f32[1000,100]")
    assert [v.name for v in at.thread_map.dims] == list(GRID[:6])
    assert [v.name for v in at.thread_map.ranges] == ["chunk_id", "unroll_id"]
    assert at.grid == (128, 1, 1, 8, 1, 1, 25, 4)
    assert [v.name for v in at.block_map.dims] == ["bl_x", "bl_y", "bl_z"]
    assert [v.name for v in at.block_map.ranges] == ["th_x", "chunk_id", "unroll_id"]
    assert [v.name for v in at.warp_map.dims] == ["warp_id", "bl_x", "bl_y", "bl_z"]
    assert [v.name for v in at.warp_map.ranges] == ["lane_id", "chunk_id", "unroll_id"]
    small = Launch((128,), (8,)).over("f32[4,8,3,5]")
    assert small.thread_map.ranges == ()
    assert (small.chunks, small.element((5, 0, 0, 3)), small.place((3, 1, 0, 4))) == (
        1,
        (3, 1, 2, 4),
        (123, 0, 0, 2, 0, 0, 0, 0),
    )


@pytest.mark.parametrize("by", ["thread", "block", "warp"])
def test_composition_with_a_map_of_an_operand(by: str) -> None:
    at = Launch((4, 2), (2,), unroll=2, warp=3).over("f32[3,5,2]{1,0,2}")
    transpose = concrete(Transpose((2, 0, 1)), 0, "output_to_input", ((5, 2, 3),))
    read = at.reads(transpose, by)
    element_of = {tuple(source): tuple(target) for source, target in transpose.relation()}
    own = {"thread": at.thread_map, "block": at.block_map, "warp": at.warp_map}[by]
    assert relation(read) == {(source, element_of[target]) for source, target in relation(own)}
    assert relation(simplify(read)) == relation(read)


FUSION = """HloModule m

fused {
  x = f32[6,4] parameter(0)
  y = f32[3] parameter(1)
  t = f32[4,6] transpose(x), dimensions={1,0}
  s = f32[4,3] slice(t), slice={[0:4], [0:6:2]}
  b = f32[4,3] broadcast(y), dimensions={1}
  ROOT a = f32[4,3] add(s, b)
}

ENTRY e {
  x = f32[6,4] parameter(0)
  y = f32[3] parameter(1)
  ROOT f = f32[4,3]{0,1} fusion(x, y), kind=kLoop, calls=fused
}
"""


@pytest.mark.parametrize("by", ["thread", "block", "warp"])
def test_what_a_fusion_reads(by: str) -> None:
    module = read_module(FUSION)
    at = Launch((4,), (2,), warp=2).over(module.entry.root.array)
    maps = computation_maps(module, catalogue)
    (x,), (y,) = maps[0, 0], maps[0, 1]
    own = {"thread": at.thread_map, "block": at.block_map, "warp": at.warp_map}[by]
    computes = relation(own)
    assert {target for _, target in computes} == set(itertools.product(range(4), range(3)))
    assert relation(at.reads(x, by)) == {(source, (2 * j, i)) for source, (i, j) in computes}
    assert relation(at.reads(y, by)) == {(source, (j,)) for source, (i, j) in computes}


def test_what_makes_no_sense() -> None:
    for arguments in (((0,), (1,)), ((1,), (1, 1, 1, 1)), ((1,), (-1,)), ((1,), (1,), 0), ((1,), (1,), 1, 0)):
        with pytest.raises(InputError):
            Launch(*arguments)
    launch = Launch((4,), (2,))
    for shape in ("(f32[2])", "f32[?]", "f32[2"):
        with pytest.raises(InputError):
            launch.over(shape)
    at = launch.over("f32[2,2]")
    for place in ((4,), (0, 1), (0, 0, 0, 2), (0,) * 9):
        with pytest.raises(InputError, match="of a grid"):
            at.element(place)
    for element in ((2, 0), (0,), (0, -1)):
        with pytest.raises(InputError, match="outside of"):
            at.place(element)
    with pytest.raises(InputError, match="a map of 1 dimensions"):
        at.reads(concrete(Transpose((0,)), 0, "output_to_input", ((5,),)))
    with pytest.raises(InputError, match="thread, block or warp"):
        at.reads(concrete(Transpose((0, 1)), 0, "output_to_input", ((2, 2),)), "cluster")
