"""Validation by three engines: equal maps, different maps, and engines that contradict each other."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from dev.fuzz import validate as validation
from dev.fuzz.generate import random_map
from dev.fuzz.pairs import agrees, changed, cut_down, pair, wide_pair
from dev.fuzz.runs import drawn
from dev.fuzz.validate import Disagreement, Validation, questions, read_as_before, validate
from indexproof.core.indexing_map import IndexingMap
from indexproof.core.text import parse_map
from indexproof.core.transform import reduce_map
from indexproof.rules.catalog import RULES
from indexproof.verify.concrete import Answer, Problem, equal_maps, points
from indexproof.verify.concrete import enumerate as enumerate_
from indexproof.verify.concrete.problem import Outcome, size
from indexproof.verify.testing import strategies
from indexproof.verify.verdict import Status

LEFT = "(d0, d1) -> ((d0 * 4 + d1) floordiv 12), domain: d0 in [0, 99], d1 in [0, 3]"
RIGHT = "(d0, d1) -> (d0 floordiv 3), domain: d0 in [0, 99], d1 in [0, 3]"
WRONG = "(d0, d1) -> ((d0 + d1 floordiv 3) floordiv 3), domain: d0 in [0, 99], d1 in [0, 3]"
LARGE = "(d0, d1) -> ((d0 * 4 + d1) floordiv 12), domain: d0 in [0, 4611686018427387904], d1 in [0, 3]"
LARGE_RIGHT = "(d0, d1) -> (d0 floordiv 3), domain: d0 in [0, 4611686018427387904], d1 in [0, 3]"


def of(left: str, right: str) -> Validation:
    return validate(parse_map(left), parse_map(right))


BOX = "domain: d0 in [0, 3], s0 in [0, 4]"
EVEN = "(d0) -> (d0), domain: d0 in [0, 9], d0 mod 2 in [0, 0], d0 mod 4 in [1, 1]"


@pytest.mark.parametrize(("left", "right", "said", "complete", "pointwise", "by"), [
    (LEFT, RIGHT, ("same", "same", "same"), True, True, "evaluation"),
    # a large box is evaluated partly
    (LARGE, LARGE_RIGHT, ("open", "same", "same"), False, True, "isl"),
    # the same map needs no engine
    (LEFT, LEFT, (), False, True, "identity"),
    # empty maps with any results are equal
    (EVEN, "(d0) -> (0), domain: d0 in [0, -1]", ("same", "same", "same"), True, True, "evaluation"),
    # a range that runs backwards gives other points and the same relation
    (f"(d0)[s0] -> (d0 + s0), {BOX}", f"(d0)[s0] -> (d0 - s0 + 4), {BOX}", ("different",) * 3, True, False, "portfolio"),
    # maps with different variables are compared as relations
    (f"(d0)[s0, s1] -> (d0 + s0), {BOX}, s1 in [0, 5]", f"(d0)[s0] -> (d0 + s0), {BOX}", (), False, False, "portfolio"),
])  # fmt: skip
def test_equal_maps(left: str, right: str, said: tuple[str, ...], complete: bool, pointwise: bool, by: str) -> None:
    found = of(left, right)
    assert found.verdict is Status.PROVED
    assert tuple(found.said.values()) == said
    assert (found.complete, found.pointwise) == (complete, pointwise)
    assert found.decided_by.startswith(by)


def test_a_difference_is_found_by_all() -> None:
    found = of(LEFT, WRONG)
    assert found.verdict is Status.REFUTED
    assert set(found.said.values()) == {"different"}
    c = found.counterexample
    assert c is not None
    point = [c.values[n] for n in ("d0", "d1")]
    assert (parse_map(LEFT).evaluate(point), parse_map(WRONG).evaluate(point)) == (c.left, c.right)


@pytest.mark.parametrize("domain", [
    "d0 in [0, 8]", "d0 in [0, 9], d0 in [1, 9]", "d0 in [0, 9], d0 mod 2 in [0, 0]", "d0 in [0, -1]", "d0 in [0, 10]",
])  # fmt: skip
def test_domains_count(domain: str) -> None:
    left, right = (f"(d0) -> (d0), domain: {d}" for d in ("d0 in [0, 9]", domain))
    assert of(left, right).verdict is Status.REFUTED
    assert of(right, left).verdict is Status.REFUTED


def test_what_both_say_alike_is_not_asked() -> None:
    assert questions(parse_map(LEFT), parse_map(LEFT)) == []
    (problem,) = questions(parse_map(LEFT), parse_map(RIGHT))
    assert len(problem.options) == 1


# ------------------------------------------------------------------------------------------ contradictions
def lying(monkeypatch: pytest.MonkeyPatch, outcome: Outcome, *engines: str) -> None:
    honest = validation._decided
    monkeypatch.setattr(validation, "_decided", lambda p, engine: outcome if engine in engines else honest(p, engine))


@pytest.mark.parametrize("engine", ["isl", "z3"])
def test_an_engine_that_lies_is_noticed(monkeypatch: pytest.MonkeyPatch, engine: str) -> None:
    lying(monkeypatch, Outcome("holds"), engine)
    with pytest.raises(Disagreement, match=r"the maps are the same; .*they are not"):
        of(LEFT, WRONG)
    lying(monkeypatch, Outcome("fails", (0, 0)), engine)
    with pytest.raises(Disagreement, match="refutes what evaluation finds true at"):
        of(LEFT, RIGHT)


def test_evaluation_that_sees_nothing_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    def blind(m: IndexingMap, after: IndexingMap, found: Validation) -> None:
        found.said["evaluation"] = "same"

    monkeypatch.setattr(validation, "_evaluate", blind)
    with pytest.raises(Disagreement, match="evaluation: the maps are the same"):
        of(LEFT, WRONG)


def test_points_that_were_not_evaluated_contradict_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    """A difference far from the evaluated points is found by other engines, without a contradiction."""
    right = LARGE_RIGHT.replace("d0 floordiv 3)", "(d0 + min(max(d0 - 1234567, 0), 1)) floordiv 3)")
    monkeypatch.setattr(validation, "drawn", lambda *_: np.zeros(4, dtype=np.int64))
    found = of(LARGE_RIGHT, right)
    assert found.verdict is Status.REFUTED
    assert found.said["evaluation"] == "open"


def test_nobody_decides(monkeypatch: pytest.MonkeyPatch) -> None:
    """If no engine decides, the portfolio with its larger budgets does."""
    lying(monkeypatch, Outcome("open", note="out of budget"), "isl", "z3")
    found = of(LARGE, LARGE_RIGHT)
    assert found.verdict is Status.PROVED
    assert found.decided_by == "portfolio: normal form"


def test_z3_says_the_same_whatever_was_asked_before() -> None:
    maps = [random_map(1, k) for k in range(0, 60, 3)]
    pairs = [(m, m.with_(results=tuple(e + (e % 6 - e) % 6 for e in m.results))) for m in maps]
    first = [validate(a, b).said for a, b in pairs]
    again = [validate(a, b).said for a, b in reversed(pairs)]
    assert first == again[::-1]


# -------------------------------------------------------------------------------------- against enumeration
@pytest.mark.parametrize("seed", range(40))
def test_verdicts_agree_with_the_deciders(seed: int) -> None:
    rng = random.Random(seed)
    for k in range(6):
        m = random_map(4, 20 * seed + k)
        other = changed(rng, m)
        assert validate(m, other).verdict is equal_maps(m, other).verdict, (m, other)


# -------------------------------------------------------------------------------------------- reduced maps
@pytest.mark.parametrize("options", [{}, {"to_dims": True}, {"unused_dims": True}, {"renumber": False}])
def test_reduced_maps_are_read_as_before(options: dict[str, Any]) -> None:
    changes = []

    def reread(m: IndexingMap) -> None:
        reduced = reduce_map(m, RULES, **options)
        changes.extend([m] if reduced.steps else [])
        restored = read_as_before(reduced)
        assert len(restored.dims) == len(m.dims)
        assert equal_maps(m, restored).proved, (m, reduced.map)

    drawn(strategies.maps(sources=True, empty=True), 120, 6, reread)
    assert len(changes) > 40


def test_a_runtime_variable_keeps_its_identity() -> None:
    m = parse_map("(d0){rt0, rt1} -> (d0 + rt1), domain: d0 in [0, 3], rt0 in [0, 0], rt1 in [0, 5]")
    restored = read_as_before(reduce_map(m, RULES))
    assert [v.name for v in restored.rts] == ["rt1"]


# --------------- Pairs of maps: the same in every process, compared without an exception, and right where all
@pytest.mark.parametrize("make", [pair, wide_pair])
def test_pairs_on_small_boxes_against_all_points(make: Callable[[int, int], tuple[IndexingMap, IndexingMap]]) -> None:
    said = set()
    for index in range(150):
        left, right = cut_down(*make(7, index))
        if left.rts or right.rts:
            continue
        answer = equal_maps(left, right)
        assert agrees(left, right, answer), (index, left, right, answer)
        said.add(answer.verdict)
    assert said == {Status.PROVED, Status.REFUTED}


def test_wide_pairs_are_decided() -> None:
    for index in range(40):
        left, right = wide_pair(8, index)
        answer = equal_maps(left, right)
        assert answer.verdict in (Status.PROVED, Status.REFUTED), (index, left, right)
        if answer.counterexample is not None:
            assert answer.counterexample.left != answer.counterexample.right
    assert wide_pair(8, 3) == wide_pair(8, 3) != wide_pair(8, 4)


def test_an_answer_that_is_wrong_is_noticed() -> None:
    left, right = next(p for k in range(99) if (p := cut_down(*wide_pair(7, k))) and not equal_maps(p[0], p[1]).proved)
    assert not agrees(left, right, equal_maps(left, left))


def test_a_counterexample_of_one_direction_ends_the_search_in_the_other(monkeypatch: pytest.MonkeyPatch) -> None:
    """A refutation in one direction ends the search in the other, which would take five rounds of wide integers."""
    asked: list[int] = []
    answered = points.Question.answered

    def noted(question: points.Question, rounds: int) -> Answer:
        asked.append(rounds)
        return answered(question, rounds)

    monkeypatch.setattr(points.Question, "answered", noted)
    answer = equal_maps(*wide_pair(11, 9))
    assert max(asked) <= 2
    assert answer.counterexample is not None
    assert not answer.counterexample.minimal


def test_a_counterexample_is_made_smaller_with_so_many_evaluations(monkeypatch: pytest.MonkeyPatch) -> None:
    """Shrinking a counterexample stays within a limit on evaluations."""
    tried: list[int] = []
    violating = enumerate_._violating

    def noted(problem: Problem, columns: list[Any]) -> Any:
        tried.append(len(columns[0]) * int(size(problem.options[0].unknowns)))
        return violating(problem, columns)

    monkeypatch.setattr(enumerate_, "_violating", noted)
    assert equal_maps(*wide_pair(5, 2491)).verdict is Status.REFUTED
    # one search in each direction, and small points
    assert 0 < sum(tried) <= 20 * enumerate_.LIMIT
