"""Equations between places have the same solutions as the equations between their digits."""

from __future__ import annotations

import itertools
import math
import random

import pytest
from broken.analyses import EQUATIONS

from indexproof.core.condition import Compare, Not, all_of
from indexproof.core.expr import Expr, integer, linear, var
from indexproof.core.interval import Interval
from indexproof.core.launch import Launch
from indexproof.verify.concrete import Fact, Option, Problem, covers, holds
from indexproof.verify.concrete import enumerate as enumeration
from indexproof.verify.concrete.equations import parts, whole
from indexproof.verify.verdict import Status

x, y, z, u, v, w = map(var, "xyzuvw")


def zeros(equations: list[Expr], box: dict[Expr, Interval]) -> set[tuple[int, ...]]:
    points = itertools.product(*(range(int(i.lo), int(i.hi) + 1) for i in box.values()))
    return {p for p in points if all(e.evaluate(dict(zip(box, p, strict=True))) == 0 for e in equations)}


def test_places_are_equal_where_digits_are() -> None:
    box = {v: Interval(0, 8) for v in (x, y, z, u, v, w)}
    found = parts(x * 850 + y * 9 + z - u * 850 - v * 9 - w, box)
    assert {str(e) for e in found} == {str(x - u), str(y - v), str(z - w)}
    # the last digit may be as large as its stride, so that it carries
    box[z] = box[w] = Interval(0, 9)
    assert len(parts(x * 850 + y * 9 + z - u * 850 - v * 9 - w, box)) == 2


def test_one_multiple_that_is_not_zero() -> None:
    box = {x: Interval(0, 9), y: Interval(0, 9), z: Interval(7, 9)}
    found = parts(x * 10 - y * 10 + z - 28, box)
    assert zeros(found, box) == zeros([x * 10 - y * 10 + z - 28], box)
    assert [str(e) for e in found] == [str(z - 8), str(x - y - 2)]
    # no multiple is possible
    assert parts(x * 10 - y * 10 + z - 25, {**box, z: Interval(6, 9)}) == [integer(1)]


@pytest.mark.parametrize("seed", range(6))
def test_parts_have_the_same_zeros(seed: int) -> None:
    rng = random.Random(seed)
    split = 0
    for _ in range(120):
        names = [x, y, z, u, v][: rng.randint(3, 5)]
        box: dict[Expr, Interval] = {}
        for n in names:
            lo = rng.randint(-3, 3)
            box[n] = Interval(lo, lo + rng.randint(0, 4))
        strides = (1, -1, 2, 3, 5, -5, 6, 17, -17, 40)
        e = linear(rng.randint(-45, 45), [(n, rng.choice(strides)) for n in names])
        found = parts(e, box)
        assert zeros(found, box) == zeros([e], box), e
        split += found != [e]
    assert split > 10


def test_a_quotient_and_the_remainder_are_the_whole() -> None:
    one, two = x * 9 + y, u * 9 + v
    for equations in ([one // 4 - two // 4, one % 4 - two % 4], [two % 4 - one % 4, one // 4 - two // 4, x - 1]):
        *rest, place = whole(equations)
        assert place in (one - two, two - one)
        assert rest == equations[2:]
    (place,) = whole([one // 4 - two // 4 + 1, one % 4 - two % 4])
    assert place in (one - two + 4, two - one - 4)
    for other in (
        [one // 4 - two // 4, one % 5 - two % 5],
        [one // 4 * 2 - two // 4 * 2 + 1, one % 4 - two % 4],
        [one // 4 - two // 4, one % 4 - two % 4 - 1],
        [one // 4 - two // 4, one % 4 + two % 4],
        [one // 4 + two // 4, one % 4 - two % 4],
        [one // 4 - two // 4, one % 4 - x % 4],
        [one // -4 - two // -4, one % -4 - two % -4],
    ):
        assert whole(other) == other


@pytest.mark.parametrize("seed", range(4))
def test_digits_say_what_their_number_says(seed: int) -> None:
    rng = random.Random(seed)
    joined = 0
    for _ in range(80):
        n, k = rng.choice((2, 3, 4)), rng.choice((2, 3, 4))
        box: dict[Expr, Interval] = {e: Interval(-2, rng.randint(0, 3)) for e in (x, y)}
        box |= {e: Interval(rng.choice((0, 0, 0, -1)), rng.randint(1, 4)) for e in (u, v, w)}
        one = x * rng.choice((1, 4, -5)) + y * rng.choice((1, 2, 7))
        other: Expr = u * (n * k) + v * n + w if rng.random() < 0.5 else x + y * 3
        digits = [w, v, u] if rng.random() < 0.5 else [other % n, other // n % k, other // (n * k)]
        equations = [one % n - digits[0], one // n % k - digits[1], digits[2] - one // (n * k) + rng.choice((0, 0, 1))]
        rng.shuffle(equations)
        found = whole(equations, box)
        assert zeros(found, box) == zeros(equations, box), (equations, box)
        joined += len(found) == 1
    assert joined > 20


@pytest.mark.parametrize(("place", "name", "wrong"), EQUATIONS, ids=lambda x: getattr(x, "__name__", ""))
def test_planted_mistakes_are_noticed(place: object, name: str, wrong: object, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(place, name, wrong)
    # the solutions differ, not only the number of joined equations
    with pytest.raises(AssertionError, match=r"assert .+ == "):
        _compare_all()


def _compare_all() -> None:
    test_a_quotient_and_the_remainder_are_the_whole()
    test_parts_have_the_same_zeros(0)
    test_digits_say_what_their_number_says(0)


def test_every_element_is_some_threads() -> None:
    at = Launch((8, 64), (3,), unroll=1, warp=4).over("f32[16,64,7]")
    answer = covers(at.thread_map, (16, 64, 7))
    assert answer.proved
    assert not any("round 2" in said for said in answer.tried), answer.tried
    assert covers(at.thread_map, (17, 64, 7)).verdict is Status.REFUTED


@pytest.mark.parametrize("tile", [0, 4, 12])
def test_padded_strides_of_rank_eight_are_injective(tile: int) -> None:
    rng = random.Random(tile)
    sizes = [rng.choice((2, 7, 16, 128, 300)) for _ in range(8)]
    strides, stride = [], 1
    for n in sizes:
        strides.append(stride)
        stride = stride * n + rng.choice((0, 1, 13, stride))
    ones, others = ([var(f"{stem}{k}") for k in range(8)] for stem in "de")
    places = [linear(0, list(zip(cs, strides, strict=True))) for cs in (ones, others)]
    keys = [[p] if not tile else [p // tile, p % tile] for p in places]
    box = [(c, 0, n - 1) for cs in (ones, others) for c, n in zip(cs, sizes, strict=True)]
    given = [a.eq(b) for a, b in zip(*keys, strict=True)]
    goal = all_of([a.eq(b) for a, b in zip(ones, others, strict=True)])
    assert holds(goal, box, given).proved
    # the coordinate may be one too large
    wider = [(c, lo, hi + (c is ones[2])) for c, lo, hi in box]
    gap = strides[3] - strides[2] * sizes[2]
    assert holds(goal, wider, given).verdict is (Status.PROVED if gap >= strides[2] else Status.REFUTED)


def test_contradictory_digits() -> None:
    box = tuple((n, Interval(0, 3)) for n in (x, y, z))
    assert Problem(box, (Fact(x * 10 - y * 10 + z, Interval(5, 5)),)).simplified() is None


# ---------------------------------------------------------------------------------------------- remainders
@pytest.mark.parametrize("seed", range(40))
def test_a_simplified_problem_has_the_same_answer(seed: int) -> None:
    rng = random.Random(seed)

    def some(*variables: Expr) -> Expr:
        e = linear(rng.randint(-4, 4), [(n, rng.randint(-5, 5)) for n in variables])
        divisor = rng.choice((2, 3, 4, 6))
        return rng.choice((e % divisor, (e // divisor) % 3, e // divisor - (e + rng.randint(0, 3)) // divisor))

    low = rng.choice((-30, -3, 0, 7))
    box = ((x, Interval(low, low + rng.randint(0, 50))), (y, Interval(-2, 2)))
    unknown = rng.randint(-20, 20)
    option = Option(
        (Fact(some(x, y) - some(z, y), Interval(0, rng.randint(0, 1))),),
        ((z, Interval(unknown, unknown + rng.randint(0, 30))),),
        ((x,),),
    )
    problem = Problem(box, (Fact(some(x), Interval(0, rng.randint(0, 4))),), (option,))
    simple = problem.simplified()
    expected = enumeration.decide(problem)
    if simple is None:
        assert expected.status == "holds"
        return
    smaller, fixed = simple
    found = enumeration.decide(smaller)
    assert found.status == expected.status
    if found.status == "fails":
        at = {**fixed, **dict(zip((v for v, _ in smaller.variables), found.point, strict=True))}
        assert tuple(at[v] for v, _ in problem.variables) == expected.point


def test_remainders_of_a_large_box() -> None:
    e = (x * 3 + y) % 1_000_003
    assert holds(e <= 1_000_002, {x: (0, 2**62), y: (-math.inf, math.inf)}).proved
    answer = holds(Not(Compare("==", (x * 123_457 + 5) % 1_000_003, integer(77))), {x: (0, 2**62)})
    assert answer.counterexample.values == {"x": (72 * pow(123_457, -1, 1_000_003)) % 1_000_003}
    assert answer.counterexample.minimal
