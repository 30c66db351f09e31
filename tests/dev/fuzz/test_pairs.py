"""Pairs of maps: the same in every process, compared without an exception, and right where all points can be tried."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from dev.fuzz.pairs import agrees, cut_down, pair, wide_pair
from indexproof.core.indexing_map import IndexingMap
from indexproof.verify.concrete import Answer, Problem, equal_maps, image
from indexproof.verify.concrete import enumerate as enumerate_
from indexproof.verify.concrete.problem import size
from indexproof.verify.verdict import Status


@pytest.mark.parametrize("make", [pair, wide_pair])
def test_pairs_on_small_boxes_against_all_points(
    make: Callable[[int, int], tuple[IndexingMap, IndexingMap]],
) -> None:
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
    left, right = next(
        p for k in range(99) if (p := cut_down(*wide_pair(7, k))) and not equal_maps(p[0], p[1]).proved
    )
    assert not agrees(left, right, equal_maps(left, left))


def test_a_counterexample_of_one_direction_ends_the_search_in_the_other(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Of two maps the first direction would take five rounds of wide integers; the other is refuted in one."""
    asked: list[int] = []
    answered = image.Question.answered

    def noted(question: image.Question, rounds: int) -> Answer:
        asked.append(rounds)
        return answered(question, rounds)

    monkeypatch.setattr(image.Question, "answered", noted)
    answer = equal_maps(*wide_pair(11, 9))
    assert max(asked) <= 2
    assert answer.counterexample is not None
    assert not answer.counterexample.minimal


def test_a_counterexample_is_made_smaller_with_so_many_evaluations(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each of a hundred steps could try every choice for two ranges at a hundred points."""
    tried: list[int] = []
    violating = enumerate_._violating

    def noted(problem: Problem, columns: list[Any]) -> Any:
        tried.append(len(columns[0]) * int(size(problem.options[0].unknowns)))
        return violating(problem, columns)

    monkeypatch.setattr(enumerate_, "_violating", noted)
    assert equal_maps(*wide_pair(5, 2491)).verdict is Status.REFUTED
    # one search in each direction, and small points
    assert 0 < sum(tried) <= 20 * enumerate_.LIMIT
