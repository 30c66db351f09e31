"""Tightening keeps the relation and makes the bounds of variables as narrow as it can."""

from __future__ import annotations

import pytest
from conftest import Maps

from indexproof.core.condition import FALSE, TRUE, Condition, all_of, any_of
from indexproof.core.expr import integer, var
from indexproof.core.indexing_map import Constraint, IndexingMap, RuntimeVariable, Variable
from indexproof.core.interval import Interval
from indexproof.core.text import parse_map
from indexproof.core.tighten import constraints_of, tighten, tighten_around

x, y = var("x"), var("y")
CASES = """
(d0) -> (d0), domain: d0 in [0, 19], d0 - 3 in [0, 14], (d0 - 3) mod 7 in [0, 0]
(d0) -> (d0), domain: d0 in [3, 17], (d0 - 3) mod 7 in [0, 0]

(d0) -> (d0), domain: d0 in [0, 49], d0 mod 2 in [0, 0]
(d0) -> (d0), domain: d0 in [0, 48], d0 mod 2 in [0, 0]

(d0) -> (d0), domain: d0 in [0, 11], (d0 - 1) floordiv 2 in [0, 3], (d0 - 1) mod 2 in [0, 0]
(d0) -> (d0), domain: d0 in [1, 7], (d0 - 1) mod 2 in [0, 0]

(d0) -> (d0), domain: d0 in [0, 99], d0 * -2 + 21 in [0, 10]
(d0) -> (d0), domain: d0 in [6, 10]

(d0) -> (d0), domain: d0 in [-50, 50], ((d0 + 1) floordiv 3) floordiv 4 in [1, 1]
(d0) -> (d0), domain: d0 in [11, 22]

(d0) -> (d0), domain: d0 in [-50, 50], d0 floordiv -3 in [-2, 1]
(d0) -> (d0), domain: d0 in [-5, 6]

(d0) -> (d0), domain: d0 in [0, 50], d0 ceildiv 4 in [2, 3]
(d0) -> (d0), domain: d0 in [5, 12]

(d0, d1) -> (d0), domain: d0 in [0, 9], d1 in [0, 9], d0 * 2 + d1 * 4 + 1 in [0, 12]
(d0, d1) -> (d0), domain: d0 in [0, 9], d1 in [0, 9], d0 + d1 * 2 in [0, 5]

(d0, d1) -> (d0), domain: d0 in [0, 9], d1 in [0, 9], d0 + d1 in [-5, 18]
(d0, d1) -> (d0), domain: d0 in [0, 9], d1 in [0, 9]

(d0, d1) -> (d0), domain: d0 in [0, 9], d1 in [0, 9], d0 - d1 in [12, 20]
(d0, d1) -> (d0), domain: d0 in [0, 9], d1 in [0, 9], 0 in [1, 1]

(d0) -> (d0), domain: d0 in [2, 30], (d0 * 5 + 1) mod 12 in [3, 4]
(d0) -> (d0), domain: d0 in [3, 27], (d0 * 5 + 1) mod 12 in [3, 4]

(d0)[s0] -> (d0 + s0), domain: d0 in [0, 9], s0 in [0, 9], s0 - 2 in [0, 3]
(d0)[s0] -> (d0 + s0), domain: d0 in [0, 9], s0 in [2, 5]
"""


def tightened(m: IndexingMap) -> IndexingMap:
    """Return the map with tightened boxes of dimensions and ranges; those of runtime variables stay."""
    free = {v.expr: Interval(v.lo, v.hi) for v in (*m.dims, *m.ranges)}
    fixed = {v.expr: Interval(v.lo, v.hi) for v in m.rts}
    box, constraints = tighten_around(free, fixed, [(c.expr, c.lo, c.hi) for c in m.constraints])
    dims, ranges = (
        tuple(Variable(v.name, int(box[v.expr].lo), int(box[v.expr].hi)) for v in side) for side in (m.dims, m.ranges)
    )
    kept = tuple(Constraint(e, int(lo), int(hi)) for e, lo, hi in constraints)
    return m.with_(dims=dims, ranges=ranges, constraints=kept)


@pytest.mark.parametrize("case", CASES.strip().split("\n\n"))
def test_case(case: str) -> None:
    before, after = map(parse_map, case.split("\n"))
    assert tightened(before) == after
    assert before.relation() == after.relation()


def test_runtime_bounds_say_how_a_value_is_clamped_and_stay() -> None:
    rt = RuntimeVariable("rt0", 0, 9)
    m = IndexingMap((Variable("d0", 0, 9),), (), (rt,), (var("d0"),), (Constraint(var("rt0") - 2, 1, 3),))
    assert tightened(m) == m.with_(constraints=(Constraint(var("rt0"), 3, 5),))


def points(box: dict, constraints: list) -> set[tuple[int, int]]:
    found = set()
    for a in range(int(box[x].lo), int(box[x].hi) + 1):
        for b in range(int(box[y].lo), int(box[y].hi) + 1):
            if all(lo <= e.evaluate({"x": a, "y": b}) <= hi for e, lo, hi in constraints):
                found.add((a, b))
    return found


def test_the_domain_stays_the_same() -> None:
    maps = Maps(0)
    rng = maps.rng
    for _ in range(1500):
        box = {v: Interval(rng.randint(-6, 2), rng.randint(0, 8)) for v in (x, y)}
        constraints = []
        for _ in range(rng.randint(1, 3)):
            lo = rng.randint(-6, 6)
            constraints.append((maps.expr([x, y], rng.randint(0, 3), scale=5), lo, lo + rng.randint(-1, 8)))
        new_box, left = tighten(box, constraints)
        assert points(new_box, left) == points(box, constraints), (box, constraints)
        assert all(new_box[v].inside(box[v]) for v in box)


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
    assert tighten({var("x"): Interval(0, 3)}, constraints_of(FALSE))[1] == [(integer(0), 1, 1)]
