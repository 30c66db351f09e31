"""Bounds say what conditions say, and boxes and constraints say what bounds say."""

from __future__ import annotations

import math

from conftest import Maps

from indexproof.core.bounded import constrained, constraints_of, merged
from indexproof.core.condition import FALSE, TRUE, Condition, all_of, any_of
from indexproof.core.expr import integer, var
from indexproof.core.indexing_map import Constraint
from indexproof.core.interval import Interval

x, y = var("x"), var("y")


def test_boxes_and_constraints_say_what_the_bounds_say() -> None:
    maps = Maps(0)
    rng = maps.rng
    for _ in range(1500):
        box = {v: Interval(rng.randint(-6, 2), rng.choice((rng.randint(0, 8), math.inf))) for v in (x, y)}
        bounded = []
        for _ in range(rng.randint(1, 3)):
            lo = rng.choice((-math.inf, rng.randint(-6, 6)))
            hi = math.inf if rng.randrange(3) == 0 else max(lo, -6) + rng.randint(-1, 8)
            bounded.append((maps.expr([x, y], rng.randint(0, 3), scale=5), lo, hi))
        boxes, left = merged(bounded, box)
        finite = all(-math.inf < i.lo and i.hi < math.inf for i in boxes.values())
        made = [(c.expr, c.lo, c.hi) for c in constrained(left, boxes)] if finite else left
        for _ in range(20):
            env = {x: rng.randint(-6, 9), y: rng.randint(-6, 9)}
            before, after = (
                all(lo <= e.evaluate(env) <= hi for e, lo, hi in bounds)
                and all(i.lo <= env[v] <= i.hi for v, i in within.items())
                for within, bounds in ((box, bounded), (boxes, made))
            )
            assert before == after, (box, bounded, env)


def test_bounds_are_merged() -> None:
    bounded = [(3 - 2 * x, -4, 10), (x + y - 1, 0, math.inf), (1 - x - y, -9, math.inf), (integer(2), 0, 2)]
    boxes, left = merged(bounded, {x: Interval(0, 9), y: Interval(0, 3)})
    assert boxes == {x: Interval(0, 3), y: Interval(0, 3)}
    assert left == [(x + y, 1, 10)]
    assert merged([(integer(2), 3, math.inf)], {}) == ({}, [(integer(0), 1, 1)])
    assert constrained([(x + y, 1, math.inf), (x + y, 0, 6)], boxes) == [Constraint(x + y, 1, 6)]
    assert constrained([(x, -math.inf, 2)], {x: (1, 0)}) == []


def random_condition(maps: Maps, depth: int = 2) -> Condition:
    rng = maps.rng
    a, b, c = (maps.expr([x, y], rng.randint(0, 2), scale=5) for _ in range(3))
    if depth:
        match rng.randrange(3):
            case 0:
                return all_of(random_condition(maps, depth - 1) for _ in range(2))
            case 1:
                return any_of(random_condition(maps, depth - 1) for _ in range(2))
            case _:
                return ~random_condition(maps, depth - 1)
    made = (a <= b, a < b, a.eq(b), a.ne(b), a.within(b, c), a.within(-2, 3), integer(rng.choice([-3, 2])).divides(a))
    return rng.choice(made)


def test_constraints_say_what_the_condition_says() -> None:
    maps = Maps(1)
    rng = maps.rng
    for _ in range(1500):
        condition = random_condition(maps, rng.randint(0, 3))
        constraints = constraints_of(condition)
        for _ in range(20):
            env = {"x": rng.randint(-6, 6), "y": rng.randint(-6, 6)}
            said = all(lo <= e.evaluate(env) <= hi for e, lo, hi in constraints)
            assert said == condition.evaluate(env), (condition, constraints, env)


def test_decided_conditions() -> None:
    assert constraints_of(TRUE) == []
    assert constraints_of(FALSE) == [(integer(0), 1, 1)]
