"""Deep and wide questions about two forms of a map are decided before a fourth round of budgets."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from indexproof.core.expr import Expr, ceildiv, maximum, minimum, var
from indexproof.core.indexing_map import Constraint, IndexingMap
from indexproof.core.interval import Interval
from indexproof.verify.concrete import Fact, Option, Problem, equal_exprs, equal_maps, sat_sweeping

sys.path.insert(0, str(Path(__file__).parents[2] / "bench"))

import concrete

MOST = 2**31


@pytest.mark.parametrize("seed", range(8))
def test_every_question_is_decided_early(seed: int) -> None:
    """Ten to twelve divisions over eight variables are compared with their simplification and with a changed copy."""
    for n in range(4 * seed, 4 * seed + 4):
        for what, left, right, box in concrete.questions(n):
            answer = equal_exprs([left], [right], box)
            said = n, what, answer.tried
            assert answer.verdict in ("PROVED", "REFUTED"), said
            assert answer.proved or what != "simplified", said
            assert not any("round 4" in t for t in answer.tried), said
            if not answer.proved:
                assert answer.counterexample.left != answer.counterexample.right, said


# ----------------------------------------------------------------------------------------------- the engine
d0, d1, d2 = (var(f"d{k}") for k in range(3))


def asked(left: Expr, right: Expr, *sizes: int, where: tuple[Fact, ...] = ()) -> str:
    box = tuple((var(f"d{k}"), Interval(0, n - 1)) for k, n in enumerate(sizes))
    problem = Problem(box, where, (Option((Fact(left - right, Interval(0, 0)),)),))
    return sat_sweeping.decide(problem).status


def test_inner_quotients_are_compared_first() -> None:
    one, two = d0, d0
    for k, c in enumerate((3, 7, 1000, 12, 5, 128, 9, 4, 4099, 11, 2, 6)):
        one = (one * 5 + d1 * 4) // c - d2
        two = -ceildiv((-two) * 10 - d1 * 8, 2 * c) - (d2 // 6) * 6 - d2 % 6
        if k % 3 == 0:
            one, two = one + d1 % 35, two + (d1 // 5 % 7) * 5 + d1 % 5
    assert asked(one, two, MOST, MOST, MOST) == "holds"
    assert asked(one, two + (d0 + 1) // MOST, MOST, MOST, MOST) == "fails"


def test_facts_help() -> None:
    left, right = (d0 * 3 + d1) // 8, (d0 // 4) * 3 + (d1 + 6) // 8
    known = Fact(d0 % 4, Interval(2, 2))
    assert asked(left, right, MOST, MOST) == "fails"
    assert asked(left + d2 % 4, (d0 // 4) * 3 // 2 + d2 % 4, 8, 1, MOST, where=(known,)) == "fails"
    even = Fact(d0 % 8, Interval(0, 0))
    assert asked(((d0 + d1) // 8) // 1000, (d0 // 8 + d1 // 8) // 1000, MOST, MOST, where=(even,)) == "holds"
    tied = Fact(d0 - d1 * 8, Interval(3, 3))
    assert asked((d0 // 8) // 77, d1 // 77, MOST, MOST, where=(tied,)) == "holds"
    assert asked((d0 // 7) // 77, d1 // 77, MOST, MOST, where=(tied,)) == "fails"


def test_one_value_among_billions() -> None:
    # only one remainder of each division makes a difference to the result
    left = ((((d0 * 24 + d1 - 3) // 3000) // 4099 % 1000 - d1) // 3 * 5 + d1 * 4) // 12
    right = ((((d0 * 24 + d1 - 2) // 3000) // 4099 % 1000 - d1) // 3 * 5 + d1 * 4) // 12
    answer = equal_exprs(left, right, [("d0", 0, MOST - 1), ("d1", 0, 3000)])
    assert answer.counterexample.left != answer.counterexample.right


def test_bounds_of_sums_and_quotients_cut_boxes() -> None:
    box = [("d0", 0, MOST), ("d1", 0, MOST)]
    assert equal_exprs(d0 // 16 + d1 // 16, 0, box, [((d0 + d1) // 4, 0, 3)]).proved
    answer = equal_exprs(d0 // 15, 0, box, [((d0 + d1) // 4, 0, 3)])
    assert answer.engine == "enumeration"
    assert answer.counterexample.values == {"d0": 15, "d1": 0}


def test_one_question_where_domains_are_stated_alike() -> None:
    m = IndexingMap.of([("d0", 0, MOST)], results=[d0 // 6], constraints=[(d0 % 4, 0, 1)])
    same = m.with_(results=(d0 // 2 // 3,))
    assert len([t for t in equal_maps(m, same).tried if t.startswith("normal form")]) == 1
    # otherwise the remaining question is whether the other domain lies in the first
    wider = same.with_(constraints=(Constraint(d0 % 4, 0, 2),))
    answer = equal_maps(m, wider)
    assert (answer.counterexample.values, answer.counterexample.left) == ({"d0": 2}, None)
    assert equal_maps(wider, m).counterexample is not None


def test_ranges_do_not_unfold_to_the_bottom(monkeypatch: pytest.MonkeyPatch) -> None:
    """The number of computed ranges grows at most linearly with the depth of the terms."""
    asked_for = 0
    direct = sat_sweeping._Atoms.bounds

    def counted(self: sat_sweeping._Atoms, f: dict[int, int]) -> Interval:
        nonlocal asked_for
        asked_for += 1
        return direct(self, f)

    monkeypatch.setattr(sat_sweeping._Atoms, "bounds", counted)

    def halves(depth: int) -> int:
        nonlocal asked_for
        asked_for = 0
        one, two = d0, d0
        for _ in range(depth):
            one, two = (one + d1) // 2 + one % 2, ceildiv(two, 2) + (two + d1) // 2 - two // 2
        assert asked(one, two, MOST, 1000) == "holds"
        return asked_for

    assert halves(120) < 3 * halves(60)


def test_equal_minima_of_unequal_arguments_are_one() -> None:
    """Two minima are equal although their arguments differ, because another argument is smaller there."""
    d = [var(f"d{k}") for k in range(8)]
    inner = minimum(d[0] * 2 + 46, d[7] + 48, d[0])
    inner = maximum((inner + d[1]) // 3, d[1] - 38, inner)

    def above(c: int) -> Expr:
        e = minimum(inner // c * 2 + d[1], d[6] * 2 + 25, d[4] + 56) % 4096 + d[0] // 5
        for v in (d[5], d[6], d[2], d[3]):
            e = maximum((minimum(d[2] * 2 + 36, e) + v) // 3, e, v - 49)
        return (minimum(e * 2, d[0] + 3) + d[3]) // 63 % 63

    sizes = (2**31, 2**31 - 1, 2**31 - 1, 65536, 3, 4096, 2**31, 8)
    box = tuple((v, Interval(0, n - 1)) for v, n in zip(d, sizes, strict=True))
    problem = Problem(box, (), (Option((Fact(above(64) - above(63), Interval(0, 0)),)),))
    assert sat_sweeping.decide(problem).status == "holds"
