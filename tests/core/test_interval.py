"""Intervals and congruences: production code is what the proved laws say, and encloses every value."""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Callable

import pytest

from indexproof.core.expr import Expr, Int, ceildiv, integer, lift, maximum, minimum, var
from indexproof.core.interval import Congruence, Interval, Range, range_of
from indexproof.rules.transfer import TRANSFER_LAWS, TransferLaw

SMALL = range(-4, 5)
EXACT = [law for law in TRANSFER_LAWS if law.name != "interval_reduced_by_congruence"]


@pytest.mark.parametrize("law", EXACT, ids=lambda law: law.name)
def test_production_code_computes_the_law(law: TransferLaw) -> None:
    """On all small bounds that satisfy the law's conditions."""
    symbols = sorted(
        {v for _, lo, hi in law.inputs for e in (lo, hi) for v in e.variables()}, key=lambda v: v.name
    )
    checked = 0
    for values in itertools.product(SMALL, repeat=len(symbols)):
        env = dict(zip(symbols, values, strict=True))
        try:
            if not all(c.evaluate(env) for c in law.bounds()):
                continue
        except ZeroDivisionError:
            continue
        given = [Interval(lo.evaluate(env), hi.evaluate(env)) for _, lo, hi in law.inputs]
        found = law.compute(*given)
        stated = Interval(law.lo.evaluate(env), law.hi.evaluate(env))
        if law.approximate:
            assert found.inside(stated), (law.name, given)
        else:
            assert found == stated, (law.name, given)
        checked += 1
    assert checked > 20, law.name


@pytest.mark.parametrize(
    ("compute", "value"),
    [
        (Interval.floordiv, lambda p, q: p // q),
        (Interval.ceildiv, lambda p, q: -(-p // q)),
        (Interval.mod, lambda p, q: p % q),
    ],
)
def test_divisions_are_exact_on_every_small_box(
    compute: Callable[[Interval, Interval], Interval], value: Callable[[int, int], int]
) -> None:
    """Divisors and moduli may span zero, which divides nothing."""
    boxes = [Interval(lo, hi) for lo in range(-5, 6) for hi in range(lo, 6)]
    for one, two in itertools.product(boxes, repeat=2):
        values = [
            value(p, q)
            for p in range(int(one.lo), int(one.hi) + 1)
            for q in range(int(two.lo), int(two.hi) + 1)
            if q
        ]
        found = compute(one, two)
        if values:
            assert found == Interval(min(values), max(values)), (one, two)
        else:
            assert found.empty


def test_the_reduced_product_is_sound_on_small_ranges() -> None:
    """Members of an interval in a residue class, all operators; how often the interval is exact."""
    ranges = [
        Range.of(Interval(lo, lo + width), Congruence.of(m, r))
        for lo in (-7, -3, 0, 2)
        for width in (0, 3, 6)
        for m in (1, 2, 4, 6)
        for r in range(min(m, 3))
    ]
    ranges = [r for r in ranges if not r.empty]
    members = {r: [v for v in range(-8, 12) if v in r] for r in ranges}
    exact = checked = 0
    operators: list[tuple[Callable[[Range, Range], Range], Callable[[int, int], int]]] = [
        (Range.plus, lambda p, q: p + q),
        (Range.times, lambda p, q: p * q),
        (Range.floordiv, lambda p, q: p // q),
        (Range.ceildiv, lambda p, q: -(-p // q)),
        (Range.mod, lambda p, q: p % q),
        (Range.minimum, min),
        (Range.maximum, max),
    ]
    for compute, value in operators:
        divides = compute in (Range.floordiv, Range.ceildiv, Range.mod)
        for one, two in itertools.product(ranges, repeat=2):
            found = compute(one, two)
            values = {value(p, q) for p in members[one] for q in members[two] if q or not divides}
            assert all(v in found for v in values), (compute.__name__, one, two, found)
            if values:
                checked += 1
                exact += found.interval == Interval(min(values), max(values))
    assert exact > 0.9 * checked


def _random_expression(rng: random.Random, depth: int) -> Expr:
    if depth == 0 or rng.random() < 0.2:
        return rng.choice([var("x"), var("y"), integer(rng.randint(-5, 5))])
    a, b = _random_expression(rng, depth - 1), _random_expression(rng, depth - 1)
    k = rng.choice([-7, -3, -2, -1, 1, 2, 3, 4, 6])
    match rng.randrange(8):
        case 0:
            return a + b
        case 1:
            return a - b
        case 2:
            return a * rng.choice([lift(k), b])
        case 3:
            return a // k
        case 4:
            return a % k
        case 5:
            return ceildiv(a, k)
        case 6:
            return minimum(a, b)
    return maximum(a, b)


def test_ranges_enclose_every_value() -> None:
    rng = random.Random(11)
    tight = 0
    for _ in range(1_500):
        e = _random_expression(rng, 3)
        box = {n: Interval(lo, lo + rng.randint(0, 6)) for n in "xy" for lo in [rng.randint(-6, 4)]}
        found = range_of(e, box)
        points = itertools.product(*(range(int(i.lo), int(i.hi) + 1) for i in box.values()))
        values = {e.evaluate({"x": p, "y": q}) for p, q in points}
        assert all(v in found for v in values), (e, box, found)
        tight += found.interval == Interval(min(values), max(values))
    assert tight > 1_200


def test_half_open_infinities() -> None:
    up = Interval(3, math.inf)
    assert up.plus(Interval(1, 2)) == Interval(4, math.inf)
    assert up.scale(-2) == Interval(-math.inf, -6)
    assert up.floordiv(Interval(2, 2)) == Interval(1, math.inf)
    assert up.mod(Interval(5, 5)) == Interval(0, 4)
    assert up.times(Interval(0, 2)) == Interval(0, math.inf)
    huge = 10**400
    assert Interval(huge, math.inf).shift(1) == Interval(huge + 1, math.inf)


def test_the_halves_of_a_range_sharpen_each_other() -> None:
    r = Range.of(Interval(1, 10), Congruence.of(4, 2))
    assert r.interval == Interval(2, 10)
    assert Range.of(Interval(3, 5), Congruence.of(7, 4)).interval.constant == 4
    assert Range.of(Interval(5, 6), Congruence.of(4, 3)).empty
    x = var("x")
    assert range_of((4 * x + 2) % 4, {"x": Interval(0, 9)}).interval.constant == 2
    assert isinstance(lift(3), Int)
