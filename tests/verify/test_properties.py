"""Every verdict and every smallest counterexample of properties of maps agrees with enumeration; unusual cases."""

from __future__ import annotations

import itertools
from collections.abc import Callable

import pytest
from map_corpus import LARGE, corpus, questions

from dev.enumeration import compared, small_maps
from indexproof.core.errors import InputError
from indexproof.core.indexing_map import IndexingMap
from indexproof.core.text import parse_map
from indexproof.verify.properties import (
    aligned,
    bijective,
    contiguous,
    covers,
    disjoint,
    injective,
    inverse,
    monotone,
    vector_width,
)
from indexproof.verify.verdict import Status


def test_every_verdict_is_the_one_of_enumeration() -> None:
    found = compared("properties", range(120))
    assert min(found["PROVED"], found["REFUTED"]) > 200, "both verdicts are common"
    assert not found["open"]


def test_values_that_are_read_at_run_time() -> None:
    found = compared("runtime", range(630, 670))
    assert min(found["PROVED"], found["REFUTED"]) > 300, "both verdicts are common"
    assert not found["open"]


def test_the_collision_is_the_smallest() -> None:
    for (m, _), tables in itertools.islice(small_maps(seed=1), 60):
        if m.rts:
            continue
        found = injective(m).counterexample
        rows = tables[0].rows
        pairs = [(a, b) for a, b in itertools.combinations(rows, 2) if rows[a] == rows[b]]
        sizes = [sum(map(abs, (*a, *b))) for a, b in pairs]
        assert bool(sizes) == (found is not None)
        if found is not None:
            assert found.minimal
            assert sum(map(abs, found.values.values())) == min(sizes), m


def test_large_maps_are_decided() -> None:
    for m, shape in corpus(12, LARGE, 3):
        for name, ask, _ in questions(m, shape):
            assert ask().verdict != "UNDECIDED", (name, m)


# ------------------------------------------------------------------------------------------------ single claims
def test_later_points_have_later_targets_whatever_the_domain() -> None:
    hole = "max(3 - s0, 1000 - s1, s0 - 20, s1 - 1065, (s0 - 3) mod 2, (s1 - 1000) mod 65, (s2 - 256) mod 9)"
    domain = f"domain: s0 in [0, 23], s1 in [0, 1165], s2 in [0, 1403], {hole} in [1, 1000]"
    for confirm in (False, True):
        answer = monotone(parse_map(f"()[s0, s1, s2] -> (s0, s1, s2), {domain}"), strict=True, confirm=confirm)
        # a solver needs seconds to read the domain
        assert answer.proved
        assert "isl" not in answer.engine
        assert bool(answer.confirmed_by) is confirm
    swapped = monotone(parse_map(f"()[s0, s1, s2] -> (s0, s2, s1), {domain}"))
    assert swapped.counterexample is not None
    assert swapped.counterexample.values == {"s0": 0, "s1": 0, "s2": 1, "s0'": 0, "s1'": 1, "s2'": 0}


def test_two_maps_are_disjoint_or_share_a_target() -> None:
    even, odd, any_ = (
        parse_map(f"(d0){{rt0}} -> ({e}), domain: d0 in [0, 1000000], rt0 in [0, 9]")
        for e in ("d0 * 2 + rt0 * 4", "d0 * 2 + rt0 * 4 + 1", "d0 + 2000000")
    )
    assert disjoint(even, odd, confirm=True).proved
    found = disjoint(even, any_).counterexample
    assert found.left == found.right
    assert found.left == (2_000_000,)
    with pytest.raises(InputError, match="no common target"):
        disjoint(even, parse_map("(d0) -> (d0, d0), domain: d0 in [0, 3]"))


def test_threads_race_where_they_write_one_element() -> None:
    m = parse_map("(d0)[s0] -> (d0 * 4 + s0), domain: d0 in [0, 31], s0 in [0, 4]")
    answer = injective(m, ["d0"])
    assert answer.counterexample.values == {"d0": 0, "s0": 4, "d0'": 1, "s0'": 0}
    assert str(answer.counterexample).startswith("two points have one target at d0 = 0")
    # a thread may write the same element twice
    again = parse_map("(d0)[s0] -> (d0), domain: d0 in [0, 31], s0 in [0, 4]")
    assert injective(again, ["d0"]).proved
    assert not injective(again).proved


def test_the_vector_width_is_that_of_loads() -> None:
    m = parse_map("(d0)[s0] -> (d0 * 24 + s0), domain: d0 in [0, 9], s0 in [0, 15]")
    width, answer = vector_width(m, "s0")
    assert width == 8, "rows begin at multiples of 8"
    assert answer.counterexample is not None
    assert contiguous(m, "s0", 16).proved
    assert vector_width(parse_map("(d0)[s0] -> (s0, d0), domain: d0 in [0, 9], s0 in [0, 15]"), "d0", [16, 10])[0] == 2
    assert vector_width(m, "d0")[0] == 1


def test_a_vector_that_is_cut_by_the_domain_has_a_gap() -> None:
    m = parse_map("(d0) -> (d0), domain: d0 in [0, 9]")
    assert contiguous(m, "d0", 4).counterexample.values == {"d0": 8, "d0'": 10}
    assert contiguous(m, "d0", 5).proved


def test_inverse_turns_points_round() -> None:
    there = parse_map("(d0) -> (d0 floordiv 8, d0 mod 8), domain: d0 in [0, 63]")
    back = parse_map("(d0, d1) -> (d0 * 8 + d1), domain: d0 in [0, 7], d1 in [0, 7]")
    assert inverse(there, back).proved
    assert bijective(there, (8, 8)).proved
    assert not bijective(there, (8, 9)).proved


@pytest.mark.parametrize(("ask", "message"), [
    (lambda m: injective(m, ["x"]), "no dimension or range `x`"),
    (lambda m: contiguous(m, "d0", 0), "the width of a vector is 0"),
    (lambda m: aligned(m, -1), "the alignment is -1"),
    (lambda m: aligned(m, 4, (2, 2)), "the shape has 2 dimensions"),
    (lambda m: contiguous(parse_map("(d0) -> (d0, d0), domain: d0 in [0, 1]"), "d0", 2), "2 results"),
])  # fmt: skip
def test_bad_input(ask: Callable[[IndexingMap], object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        ask(parse_map("(d0) -> (d0), domain: d0 in [0, 9]"))


def _reading(results: str, index: str) -> IndexingMap:
    box = "d0 in [0, 1], d1 in [0, 3], rt0 in [0, 3]"
    return parse_map(f"(d0, d1){{rt0}} -> ({results}), domain: {box}\n  hlo: x\n  (d0, d1) -> ({index})")


def _read(k: int, index: str) -> IndexingMap:
    return _reading(f"d0 * {k} + d1 + rt0", index)


def test_what_is_read_elsewhere_is_another_value() -> None:
    for index, same in (("0", True), ("d0 floordiv 2", True), ("d0", False)):
        assert injective(_read(4, index)).proved is same
        assert monotone(_read(4, index)).proved is same
    # at d0 = 1 is another element, but not for the elements of one vector
    assert injective(_read(8, "d0")).proved
    assert contiguous(_read(4, "d0"), "d1", 4).proved
    assert contiguous(_read(4, "d1 floordiv 2"), "d1", 2).proved
    assert not contiguous(_read(4, "d1"), "d1", 2).proved


def test_targets_that_values_decide_on() -> None:
    turned = "d0, (d1 + rt0) mod 4"
    assert covers(_reading(turned, "d0"), [2, 4]).proved
    assert covers(_reading(turned, "d1"), [2, 4]).verdict is Status.REFUTED


def test_maps_that_read_elsewhere_are_not_disjoint() -> None:
    moved = "(d0){{rt0}} -> (d0 + rt0 + {}), domain: d0 in [0, 3], rt0 in [0, 3]\n  hlo: {}\n  (d0) -> ({})"
    for hlo, index, same in (("x", "0", True), ("x", "d0", False), ("y", "0", False)):
        assert disjoint(parse_map(moved.format(0, "x", index)), parse_map(moved.format(4, hlo, index))).proved is same
