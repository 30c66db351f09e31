"""Launches proved for all sizes and one by one, and the mistakes that these proofs find."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace

import pytest

from indexproof.core.hlo import Layout, Shape
from indexproof.core.indexing_map import Constraint, IndexingMap
from indexproof.core.launch import GridOrder, Launch, Launched
from indexproof.core.op import Case
from indexproof.rules.simplifier import simplify
from indexproof.verify.catalogue import claims, obligations_of
from indexproof.verify.launches import verify_launch
from indexproof.verify.solve import decide


@pytest.mark.parametrize(
    "case", [c for rank in range(3) for c in GridOrder.cases(rank) if "every" not in c.label], ids=lambda c: c.label
)
def test_proved_for_all_sizes(case: Case) -> None:
    decided = [(o, decide(o)) for o in obligations_of(case)]
    assert len([o for o, _ in decided if not o.kind.endswith("defined")]) == 7
    assert not {o.name: v for o, v in decided if not v.proved}


@pytest.mark.slow
@pytest.mark.parametrize(
    "case",
    [c for rank in range(5) for c in GridOrder.cases(rank) if rank > 2 or "every" in c.label],
    ids=lambda c: c.label,
)
def test_proved_for_all_sizes_of_larger_instances(case: Case) -> None:
    assert not [o.name for o in obligations_of(case) if not decide(o).proved]


def test_launches_are_in_the_catalogue() -> None:
    assert {name for name, _ in claims(max_rank=2)} >= {
        "grid-order rank 0, {} over every axis",
        "grid-order rank 1, {0} over x",
        "grid-order rank 2, {0,1} over x and y",
    }


def launches() -> list[Launched]:
    random_ = random.Random(8)
    found = [
        Launch((128,), (8,)).over("f32[4,8,3,5]"),
        Launch((8, 4), (3, 2), unroll=4).over("f32[20,7,9]{0,2,1}"),
        Launch((6,), (1,), warp=4).over("f32[]"),
        Launch((4,), (2,)).over("f32[0,3]"),
    ]
    for _ in range(6):
        dims = tuple(random_.randint(1, 9) for _ in range(random_.randint(1, 3)))
        order = list(range(len(dims)))
        random_.shuffle(order)
        threads = tuple(random_.choice((1, 2, 3, 8)) for _ in range(3))
        blocks = tuple(random_.choice((1, 2, 3)) for _ in range(3))
        launch = Launch(threads, blocks, random_.choice((1, 2)), random_.choice((4, 32)))
        found.append(launch.over(Shape("f32", dims, Layout(tuple(order)))))
    return found


@pytest.mark.parametrize("at", launches(), ids=lambda at: f"{at.grid} over {at.shape}")
def test_every_launch(at: Launched) -> None:
    assert not [c.claim for c in verify_launch(at) if not c.proved]
    assert not [c.claim for c in verify_launch(at, simplify(at.places), simplify(at.owners)) if not c.proved]


def shifted(m: IndexingMap) -> IndexingMap:
    return replace(m, results=(m.results[0] + 1, *m.results[1:]))


def _less(m: IndexingMap) -> tuple[Constraint, ...]:
    (c,) = m.constraints
    return (Constraint(c.expr, c.lo, c.hi - 1),)


def _frozen(m: IndexingMap) -> IndexingMap:
    return m.with_(results=(m.results[0], m.results[1] * 0))


MISTAKES: list[tuple[str, Callable[[IndexingMap], IndexingMap], str]] = [
    ("places shifted", shifted, "every place computes an element of the output"),
    ("places unbounded", lambda m: replace(m, constraints=()), "every place computes an element of the output"),
    ("an element forgotten", lambda m: m.with_(constraints=_less(m)), "every element is computed"),
    ("one thread for all", _frozen, "no element is computed twice"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "change", "fails"), MISTAKES, ids=lambda x: x if isinstance(x, str) else "")
def test_a_wrong_map_is_refuted(name: str, change: Callable[[IndexingMap], IndexingMap], fails: str) -> None:
    at = Launch((4, 2), (2,), warp=3).over("f32[3,5]")
    failed = [c.claim for c in verify_launch(at, change(at.places)) if not c.proved]
    assert fails in failed, name
    assert "both maps are inverse to each other" in failed


def test_a_wrong_owner_is_refuted() -> None:
    at = Launch((4, 2), (2,)).over("f32[3,5]")
    failed = [c.claim for c in verify_launch(at, None, shifted(at.owners)) if not c.proved]
    assert failed == ["the places of elements are in the grid", "both maps are inverse to each other"]
