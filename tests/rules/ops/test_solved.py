"""Maps that are solved from `reads`, also where an equation has no single unknown."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from indexproof.core.condition import Condition
from indexproof.core.expr import Expr, lift
from indexproof.core.op import DIRECTIONS, Case, Coordinates, Op, Sizes, concrete, op, symbols
from indexproof.core.text import format_map
from indexproof.rules.ops.solved import Solved
from indexproof.verify.catalogue import obligations_of
from indexproof.verify.solve import decide


@op
class EveryThird(Solved):
    """Output element o is input element 3·o."""

    def shape(self, x: Sizes) -> list[Expr]:
        return [(lift(x[0]) + 2) // 3]

    def reads(self, k: int, o: Coordinates, i: Coordinates, rt: Coordinates, x: Sizes) -> list[Condition]:
        return [i[0].eq(o[0] * 3)]

    @classmethod
    def cases(cls, rank: int) -> Iterator[Case]:
        yield Case.of(1, "any size", cls(), symbols("n", 1))


@op
class Diagonals(EveryThird):
    """Output element o adds up the elements of a matrix whose coordinates add up to o."""

    partial = ()

    def shape(self, x: Sizes) -> list[Expr]:
        return [lift(x[0]) + x[1]]

    def reads(self, k: int, o: Coordinates, i: Coordinates, rt: Coordinates, x: Sizes) -> list[Condition]:
        return [o[0].eq(i[0] + i[1])]

    @classmethod
    def cases(cls, rank: int) -> Iterator[Case]:
        yield Case.of(2, "any sizes", cls(), symbols("n", 2))


@pytest.mark.parametrize(("made", "sizes", "maps"), [
    (EveryThird(), (8,), (
        "(d0) -> (d0 * 3), domain: d0 in [0, 2]",
        "(d0) -> (d0 floordiv 3), domain: d0 in [0, 6], d0 mod 3 in [0, 0]",
    )),
    (Diagonals(), (2, 3), (
        "(d0)[s0, s1] -> (s0, s1), domain: d0 in [0, 4], s0 in [0, 1], s1 in [0, 2], d0 - s0 - s1 in [0, 0]",
        "(d0, d1) -> (d0 + d1), domain: d0 in [0, 1], d1 in [0, 2]",
    )),
])  # fmt: skip
def test_both_maps_follow_from_what_is_read(made: Op, sizes: tuple[int, ...], maps: tuple[str, str]) -> None:
    found = [format_map(concrete(made, 0, d, [sizes])).replace("\n", " ") for d in DIRECTIONS]
    assert [" ".join(m.split()) for m in found] == list(maps)
    for case in made.cases(1):
        open_ = [o.name for o in obligations_of(case) if o.gate and not decide(o).proved]
        assert not open_
