"""Images of single sources against enumeration, and questions with long ranges."""

from __future__ import annotations

import random
from collections import Counter

import pytest

from indexproof import IndexingMap, parse_map
from indexproof.core.expr import var
from indexproof.core.interval import Interval
from indexproof.verify.concrete import ENGINES, Fact, Option, Problem, decide_problem, equal_maps, images
from indexproof.verify.concrete import enumerate as enumeration
from indexproof.verify.concrete.problem import Outcome
from indexproof.verify.verdict import Status

d, s, t, u, v = map(var, "dstuv")


def relation_problem(rng: random.Random) -> Problem:
    """Whether one relation with ranges lies within another, on few points."""
    sizes = [rng.randint(1, 5) for _ in range(5)]
    box = tuple((x, Interval(0, n - 1)) for x, n in zip((d, s, t), sizes[:3], strict=True))
    unknowns = tuple((x, Interval(0, n - 1)) for x, n in zip((u, v), sizes[3:], strict=True))
    a, b, k, m = (rng.randint(1, 4) for _ in range(4))
    left = ((d * a + s * b + t) // k, (s - t * b) % m)
    right = ((d * a + u * rng.choice((b, a)) + v) // k, (u - v * b) % m)
    facts = [Fact(x - y, Interval(0, 0)) for x, y in zip(left, right, strict=True)][: rng.randint(1, 2)]
    if rng.random() < 0.4:
        facts.append(Fact(u + v * 2 + d, Interval(0, rng.randint(0, 9))))
    if rng.random() < 0.2:
        facts.append(Fact(s * 2 - u, Interval(-3, rng.randint(0, 9))))
    where = (Fact(s + t + d, Interval(0, rng.randint(0, 9))),) if rng.random() < 0.5 else ()
    return Problem(box, where, (Option(tuple(facts), unknowns),))


def test_small_relations_against_enumeration() -> None:
    rng = random.Random(4)
    seen: Counter[str] = Counter()
    for _ in range(400):
        problem = relation_problem(rng)
        expected, found = enumeration.decide(problem), images.decide(problem)
        assert found.status == expected.status, problem
        if found.status == "fails":
            assert problem.violated_by(found.point), problem
        seen[found.status] += 1
    assert min(seen["holds"], seen["fails"]) > 40, seen


def test_what_is_not_tried() -> None:
    box = ((d, Interval(0, 9)), (s, Interval(0, 9)))
    long = ((u, Interval(0, 1 << 30)),)
    equal = Fact(d + s - u, Interval(0, 0))
    assert images.decide(Problem(box)).status == "open"
    assert images.decide(Problem(box, (), (Option((Fact(d - s, Interval(0, 0)),)),))).status == "open"
    assert images.decide(Problem(box, (), (Option((Fact(d - u, Interval(0, 9)),), long),))).status == "open"
    assert images.decide(Problem(box, (), (Option((equal,), long),))).note == "too many values"
    few = ((u, Interval(0, 1 << 12)),)
    assert "budget" in images.decide(Problem(box, (), (Option((equal,), few),)), 1 << 8).note
    assert images.decide(Problem(box, (), (Option((equal,), few),))).status == "holds"


LONG = (
    "(d0, d1)[s0] -> ((((((d1 floordiv 80) * -2 + d0 + 3) * 8 - 11) mod 100 - d0 * 7 + s0) mod {} "
    "- s0 * 4 + d1 * 3) floordiv 6), domain: d0 in [0, 99], d1 in [0, 999], s0 in [0, 1048575]"
)


@pytest.mark.parametrize("engine", ["witnesses", "images"])
def test_relations_with_a_long_range(engine: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if engine == "images":
        # which is asked later, and answers too
        monkeypatch.setitem(ENGINES, "witnesses", lambda p, factor: Outcome("open", note="not asked"))
    one, other = (parse_map(LONG.format(n)) for n in (5, 6))
    answer = equal_maps(one, other)
    assert (answer.verdict, answer.engine) == (Status.REFUTED, engine)
    c = answer.counterexample
    assert c is not None
    assert c.reason.startswith("source (0, 0) reaches target (-1) in the right map only")
    assert reaches(other, 0, 0, (-1,))
    assert not reaches(one, 0, 0, (-1,))


def reaches(m: IndexingMap, d0: int, d1: int, target: tuple[int, ...]) -> bool:
    """Whether a source reaches a target; what is added to the range is less than 6, so few values can."""
    near = round((d1 * 3 - target[0] * 6) / 4)
    values = range(max(near - 900, 0), min(near + 900, 1 << 20))
    return any(m.evaluate([d0, d1], [s0]) == target for s0 in values)


def test_every_source_is_compared_where_there_are_few() -> None:
    text = "(d0)[s0] -> ((s0 * 3 + d0) mod 7 + s0 * {}), domain: d0 in [0, 2], s0 in [0, 300000]"
    one = parse_map(text.format(7))
    assert equal_maps(one, one).proved
    problem = Problem(
        ((d, Interval(0, 2)), (s, Interval(0, 300000))),
        (),
        (
            Option(
                (Fact((s * 3 + d) % 7 + s * 7 - (u * 3 + d) % 7 - u * 7, Interval(0, 0)),),
                ((u, Interval(0, 300000)),),
            ),
        ),
    )
    assert images.decide(problem, 1 << 21).status == "holds"
    assert decide_problem(problem).outcome.status == "holds"


def test_what_a_box_says_of_a_variable_is_no_fact() -> None:
    problem = Problem(
        ((d, Interval(0, 9)), (s, Interval(0, 1 << 40))),
        (),
        (Option((Fact(d - u, Interval(0, 0)), Fact(s, Interval(-1, 1 << 40))), ((u, Interval(0, 9)),)),),
    )
    simple = problem.simplified()
    assert simple is not None
    assert simple[0].variables == ((d, Interval(0, 9)),)
    assert simple[1] == {s: 0}
    narrower = Problem(problem.variables, (), (Option((Fact(s, Interval(0, 1 << 39)),)),)).simplified()
    assert narrower is not None
    assert narrower[0].options[0].facts


def test_boxes_are_cut_into_parts() -> None:
    box = ((d, Interval(-3, 8)), (s, Interval(5, 90)), (t, Interval(2, 2)))
    parts = list(enumeration._parts(Problem(box), 50))
    points = [
        (a, b, c)
        for p in parts
        for a in range(int(p.variables[0][1].lo), int(p.variables[0][1].hi) + 1)
        for b in range(int(p.variables[1][1].lo), int(p.variables[1][1].hi) + 1)
        for c in range(int(p.variables[2][1].lo), int(p.variables[2][1].hi) + 1)
    ]
    assert all(enumeration.size(p.variables) <= 50 for p in parts)
    assert sorted(points) == [(a, b, 2) for a in range(-3, 9) for b in range(5, 91)]


def test_parts_together_have_the_first_counterexample() -> None:
    box = ((d, Interval(-2000, 2000)), (s, Interval(-2000, 2000)))
    problem = Problem(box, (), (Option((Fact(d + s * 3, Interval(-4000, 4000)),)),))
    assert enumeration.decide(problem).status == "open"
    found = enumeration.decide(problem, 1 << 25)
    assert found.status == "fails"
    assert problem.violated_by(found.point)
    assert found.point == (0, 1334)
    inside = Problem(box, (), (Option((Fact(d + s * 3, Interval(-8000, 8000)),)),))
    assert enumeration.decide(inside, 1 << 25).status == "holds"
