"""Layouts proved for all sizes and one by one, and the mistakes that these proofs find."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace

import pytest

from indexproof.core.indexing_map import Constraint, IndexingMap
from indexproof.core.layout import (
    Decomposition,
    Layout,
    Memory,
    ReshapeStep,
    Shape,
    Tile,
    TransposeStep,
    decompose,
    memory,
    physical_map,
)
from indexproof.core.op import Case, concrete
from indexproof.reports.layouts import readable
from indexproof.rules.ops.movement import Pad, Transpose
from indexproof.verify.catalogue import claims, obligations_of
from indexproof.verify.concrete import Answer, equal_maps
from indexproof.verify.layouts import construction, layout_cases, layout_obligations, verify_bitcast, verify_memory
from indexproof.verify.solve import decide
from indexproof.verify.verdict import Status

SMALL = [c for rank in range(3) for c in layout_cases(rank)]
#: Labels of the slowest cases, which only `make prove` runs.
LONG = ("(u0,u1)",)


# ---------------------------------------------------------------------------------------------------------- all sizes
@pytest.mark.parametrize(
    "case", [c for c in SMALL if not any(part in c.label for part in LONG)], ids=lambda c: f"{c.op.name} {c.label}"
)
def test_proved_for_all_sizes(case: Case) -> None:
    decided = [(o, decide(o)) for o in layout_obligations(case)]
    assert len(decided) >= 15
    assert not {o.name: v for o, v in decided if not v.proved}
    assert len({o.name for o, _ in decided}) == len(decided)


@pytest.mark.slow
@pytest.mark.parametrize("rank", [3, 4])
def test_proved_for_all_sizes_of_higher_ranks(rank: int) -> None:
    for case in layout_cases(rank):
        assert not [o.name for o in layout_obligations(case) if not decide(o).proved]


def test_layouts_are_in_the_catalogue() -> None:
    named = dict(claims(max_rank=1))
    for case in (c for rank in range(2) for c in layout_cases(rank)):
        found = named[f"{case.op.name} {case.label}"]
        assert isinstance(found, Case)
        assert [o.name for o in obligations_of(found)] == [o.name for o in layout_obligations(case)]


def test_the_construction_is_made_of_ops_of_the_catalogue() -> None:
    at = memory("f32[3,5]{0,1:T(2,2)L(32)}")
    steps = construction(at.op, at.shape.dims)
    assert [op.name for op, _ in steps] == ["transpose", "pad", "reshape", "transpose", "reshape", "pad"]
    x = at.shape.dims
    for op, shapes in steps:
        op.validate(*shapes)
        assert [str(n) for n in shapes[0]] == [str(n) for n in x]
        x = op.shape(*shapes)
    assert [str(n) for n in x] == ["32"]


# ---------------------------------------------------------------------------------------------------------- one array
NAMED = [
    "f32[]",
    "f32[2,3]{0,1}",
    "f32[3,5]{1,0:T(2,2)}",
    "f32[4,8]{1,0:T(2,4)(2,1)}",
    "bf16[16,256]{1,0:T(8,128)(2,1)}",
    "bf16[1000,30,70]{2,0,1:T(8,128)(2,1)}",
    "f32[]{:T(128)}",
    "f32[0,5]{1,0:T(2,2)}",
    "f32[5,0,3]{1,0,2:T(2,2)}",
    "f32[3,5]{1,0:T(2,2)L(32)}",
    "f32[5]{0:T(2,4)}",
    "f32[7]{0:T(4)(3)}",
    "f32[2,3,4,5]{3,2,1,0:T(*,2,*,3)}",
    "f32[4096,8192]{1,0:T(8,128)}",
]


@pytest.mark.parametrize("text", NAMED)
def test_every_claim_about_an_array_is_proved(text: str) -> None:
    at = memory(text)
    assert [c.claim for c in verify_memory(at) if not c.proved] == []
    padding = [readable(m) for m in at.padding]
    found = verify_memory(at, readable(at.forward), readable(at.backward), padding)
    assert [c.claim for c in found if not c.proved] == []


def test_padded_arrays() -> None:
    for order in ((0, 1), (1, 0)):
        at = memory(Shape("f32", (2, 3)).with_layout(Layout(order, (Tile((2, 2)),))), [3, 5])
        assert all(c.proved for c in verify_memory(at, confirm=True))


def test_arbitrary_layouts() -> None:
    rng = random.Random(11)
    for _ in range(25):
        rank = rng.randrange(4)
        order = list(range(rank))
        rng.shuffle(order)
        tiles = [
            Tile((*(rng.choice([None, 1, 2, 3, 4]) for _ in range(rng.randrange(2))), rng.randrange(1, 5)))
            for _ in range(rng.randrange(3))
        ]
        dims = tuple(rng.randrange(7) for _ in range(rank))
        at = Memory(Shape("f32", dims, Layout(tuple(order), tuple(tiles))))
        found = verify_memory(at)
        assert not [c for c in found if not c.proved], at
        assert not any(c.answer.verdict is Status.UNDECIDED for c in found)


# ---------------------------------------------------------------------------------------------- mistakes in one array
FIGURE = memory("f32[3,5]{1,0:T(2,2)}")
Change = Callable[[IndexingMap], IndexingMap]


def _result(change: Callable[..., object]) -> Change:
    return lambda m: m.with_(results=(change(*m.results, *m.dim_vars),))


def _without(k: int) -> Change:
    return lambda m: m.with_(constraints=m.constraints[:k] + m.constraints[k + 1 :])


WRONG_FORWARD: dict[str, tuple[Change, set[str]]] = {
    "places transposed": (_result(lambda p, a, b: (a // 2 * 3 + b // 2) * 4 + b % 2 * 2 + a % 2), {"turned round",
        "pad, reshape and transpose"}),
    "no padding between rows": (_result(lambda p, a, b: (a // 2 * 2 + b // 2) * 4 + a % 2 * 2 + b % 2),
        {"share a position", "turned round", "pad, reshape and transpose"}),
    "one position on": (_result(lambda p, a, b: p + 4), {"in memory", "turned round",
        "pad, reshape and transpose"}),
    "no tiles": (_result(lambda p, a, b: a * 5 + b), {"turned round", "pad, reshape and transpose"}),
    "one row only": (lambda m: m.with_(dims=(replace(m.dims[0], hi=1), m.dims[1])), {"turned round",
        "pad, reshape and transpose"}),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG_FORWARD)
def test_a_wrong_forward_map(name: str) -> None:
    change, expected = WRONG_FORWARD[name]
    found = [c for c in verify_memory(FIGURE, forward=change(FIGURE.forward)) if not c.proved]
    assert all(c.answer.verdict is Status.REFUTED and c.answer.counterexample is not None for c in found)
    assert len(found) == len(expected), [c.claim for c in found]
    for part in expected:
        assert any(part in c.claim for c in found), part


WRONG_BACKWARD: dict[str, Change] = {
    "padding below taken for elements": _without(0),
    "padding beside taken for elements": _without(1),
    "last column taken for padding": lambda m: m.with_(constraints=(*m.constraints, Constraint(m.results[1], 0,
        3))),
    "columns exchanged": lambda m: m.with_(results=(m.results[0], m.results[1] // 2 * 2 + 1 - m.results[1] % 2)),
    "rows of the physical order": lambda m: m.with_(results=m.results[::-1]),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG_BACKWARD)
def test_a_wrong_backward_map(name: str) -> None:
    found = [c.claim for c in verify_memory(FIGURE, backward=WRONG_BACKWARD[name](FIGURE.backward)) if not c.proved]
    assert "the backward map is the forward map turned round" in found
    assert "the backward map is pad, reshape and transpose, undone" in found
    assert "the forward map is pad, reshape and transpose" not in found


@pytest.mark.parametrize("change", [
    lambda maps: maps[1:],
    lambda maps: maps[:1],
    lambda maps: (*maps, maps[0]),
    lambda maps: [m.with_(constraints=[replace(c, lo=c.lo - 1) for c in m.constraints]) for m in maps],
    lambda maps: [m.with_(dims=(replace(m.dims[0], hi=22),)) for m in maps],
    lambda maps: [],
])  # fmt: skip
def test_a_wrong_complement(change) -> None:
    found = [c for c in verify_memory(FIGURE, padding=change(FIGURE.padding)) if not c.proved]
    assert [c.claim for c in found] == ["every position holds one element or is padding, not both"]
    assert found[0].answer.counterexample is not None


# ----------------------------------------------------------------------------------------------- bitcasts and buffers
BITCASTS = [
    ("f32[3,5]{1,0}", "f32[5,3]{0,1}"),
    ("f32[4,6]{0,1}", "f32[3,8]{0,1}"),
    ("f32[1024,768]{0,1}", "f32[32,32,768]{1,0,2}"),
    ("f32[3,5]{1,0:T(2,2)}", "f32[1,3,5]{2,1,0:T(2,2)}"),
    ("bf16[16,256]{1,0:T(8,128)(2,1)}", "bf16[8,512]{1,0:T(8,128)(2,1)}"),
    ("f32[0,3]", "f32[5,0]{0,1}"),
]


@pytest.mark.parametrize(("source", "target"), BITCASTS)
def test_the_steps_of_a_bitcast_are_proved(source: str, target: str) -> None:
    for d in (decompose(source, target), decompose(target, source)):
        assert [c.claim for c in verify_bitcast(d) if not c.proved] == []


def test_wrong_steps_of_a_bitcast_are_refuted() -> None:
    right = decompose("f32[4,6]{0,1}", "f32[3,8]{0,1}")
    turned = (TransposeStep((1, 0)), ReshapeStep((8, 3)), TransposeStep((1, 0)))
    assert right.steps == turned
    for steps in (
        (TransposeStep((0, 1)), ReshapeStep((8, 3)), TransposeStep((1, 0))),
        (TransposeStep((1, 0)), ReshapeStep((3, 8)), TransposeStep((0, 1))),
        (ReshapeStep((3, 8)),),
    ):
        found = verify_bitcast(Decomposition(right.source, right.target, steps))
        assert [c.answer.verdict for c in found] == [Status.REFUTED, Status.REFUTED, Status.PROVED]
    assert all(c.proved for c in verify_bitcast(replace(right, steps=turned)))


def answers(m: IndexingMap, physical: IndexingMap, source: Memory, target: Memory) -> list[Answer]:
    """Ask whether `physical` relates positions exactly as `m` relates elements, and relates no padding."""
    return [
        equal_maps(physical_map(m, source, target), physical),
        equal_maps(source.forward.compose(physical), m.compose(target.forward)),
    ]


def test_physical_maps_are_proved_and_wrong_ones_refuted() -> None:
    source, target = memory("f32[5,3]{1,0:T(2,4)}"), memory("f32[3,5]{1,0:T(2,2)}")
    logical = concrete(Transpose((1, 0)), 0, "output_to_input", [(3, 5)])
    right = readable(physical_map(logical, source, target))
    assert all(c.proved for c in answers(logical, right, source, target))
    position = right.dim_vars[0]
    wrong = {
        "beside": right.with_(results=(right.results[0] + 1,)),
        "reads padding": right.with_(constraints=()),
        "forgets": right.with_(constraints=(*right.constraints, Constraint(position, 1, 18))),
        "other layout": physical_map(logical, memory("f32[5,3]{1,0:T(4,2)}"), target),
    }
    for name, m in wrong.items():
        found = answers(logical, m, source, target)
        assert any(c.verdict is Status.REFUTED for c in found), name


def test_physical_maps_of_padding() -> None:
    source, target = memory("f32[4,5]{0,1:T(2,2)}"), memory("f32[3,3]{1,0:T(2,2)}")
    pad = Pad((1, 0), (0, 2), (0, 0))
    for k, end in ((0, target), (1, memory("f32[]"))):
        logical = concrete(pad, k, "output_to_input", [(3, 3), ()])
        physical = readable(physical_map(logical, source, end))
        assert all(c.proved for c in answers(logical, physical, source, end))
