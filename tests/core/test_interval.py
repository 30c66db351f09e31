"""Intervals and facts about expressions: the domain follows the proved laws, and encloses every value."""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Callable, Iterator

import pytest
from conftest import Maps

from indexproof.core.expr import Expr, Var, integer, lift, mod, var
from indexproof.core.facts import Facts
from indexproof.core.interval import LINE, Interval
from indexproof.rules.transfer import KNOWN_LAWS, TRANSFER_LAWS, KnownLaw, TransferLaw

X, Y = var("x"), var("y")


def _numbers(law: TransferLaw) -> Iterator[dict[Var, int]]:
    """Small bounds and constants that satisfy the law's conditions."""
    bounds = [e for _, lo, hi in (*law.inputs, *law.known) for e in (lo, hi)]
    inputs = {v for v, _, _ in law.inputs if isinstance(v, Var)} | set(law.unbounded)
    parts = [*bounds, law.value, *(e for e, _, _ in law.known), *(c for c in law.where)]
    found = {v for e in parts for v in e.variables()} - {v for v in inputs if v not in _read(bounds)}
    symbols = sorted(found, key=lambda v: v.name)
    small = range(-4, 5) if len(symbols) < 5 else range(-2, 4)
    for values in itertools.product(small, repeat=len(symbols)):
        env = dict(zip(symbols, values, strict=True))
        try:
            if all(c.evaluate(env) for c in law.bounds()):
                yield env
        except ZeroDivisionError:
            continue


def _read(bounds: list[Expr]) -> set[Var]:
    return {v for e in bounds for v in e.variables()}


@pytest.mark.parametrize(
    "law", [law for law in TRANSFER_LAWS if not law.where or law.value.children], ids=lambda law: law.name
)
def test_the_domain_computes_the_law(law: TransferLaw) -> None:
    """The interval domain computes the law on all small bounds and constants, also with a literal for a one-value input."""
    checked = 0
    for env in _numbers(law):
        numbers = {v: integer(n) for v, n in env.items()}

        def at(e: Expr, numbers: dict[Var, Expr] = numbers) -> Expr:
            return e.substitute(numbers)

        boxes = {v: Interval(lo.evaluate(env), hi.evaluate(env)) for v, lo, hi in law.inputs if v not in env}
        boxes |= dict.fromkeys(law.unbounded, LINE)
        known = [(at(e), Interval(lo.evaluate(env), hi.evaluate(env))) for e, lo, hi in law.known]
        stated = Interval(law.lo.evaluate(env), law.hi.evaluate(env))
        points = {v: integer(int(i.lo)) for v, i in boxes.items() if i.lo == i.hi}
        for literal in ({}, points) if points and not known else ({},):
            try:
                asked = at(law.value).substitute(literal)
            except ZeroDivisionError:
                continue
            found = Facts(boxes, known).interval(asked)
            if law.approximate:
                assert found.inside(stated), (law.name, env)
            else:
                assert found == stated, (law.name, env)
        checked += 1
    assert checked > 20, law.name


#: Expressions that are substituted for the variables of laws, some with a factor, some with a constant.
FORMS = [X, Y * 2, X * 4 + Y * 6, X * 3 + 1, Y * 4 + 2, X * 3 + Y]


@pytest.mark.parametrize("law", KNOWN_LAWS, ids=lambda law: law.name)
def test_the_domain_knows_the_law(law: KnownLaw) -> None:
    """Where the domain proves the hypotheses of a law, it proves the conclusion."""
    # a remainder that a constraint gives does not exclude zero
    known = [] if law.name == "known_not_zero" else [(mod(X * 3 + Y, 4), Interval(1, 1))]
    facts = Facts({X: (-2, 5), Y: (0, 3)}, known)
    symbols = sorted({v for c in (*law.given, law.then) for v in c.variables()}, key=lambda v: v.name)
    numbers = [v for v in symbols if v.name not in "xyz"]
    rng = random.Random(4)
    certain = 0
    for _ in range(9_000):
        at: dict[Var, Expr] = {v: rng.choice(FORMS) for v in symbols if v not in numbers}
        at |= {v: integer(rng.choice([-4, -3, -2, -1, 0, 1, 2, 3, 4, 6, 8, 12])) for v in numbers}
        try:
            given, then = [c.substitute(at) for c in law.given], law.then.substitute(at)
        except ZeroDivisionError:
            continue
        if all(facts.holds(c) for c in given):
            certain += 1
            assert facts.holds(then), (law.name, at)
    assert certain > 20


@pytest.mark.parametrize(("compute", "value"), [
    (Interval.floordiv, lambda p, q: p // q),
    (Interval.ceildiv, lambda p, q: -(-p // q)),
    (Interval.mod, lambda p, q: p % q),
])  # fmt: skip
def test_divisions_are_exact_on_every_small_box(
    compute: Callable[[Interval, Interval], Interval], value: Callable[[int, int], int]
) -> None:
    """Divisions are exact on every small box; divisors may span zero, which is left out."""
    boxes = [Interval(lo, hi) for lo in range(-5, 6) for hi in range(lo, 6)]
    for one, two in itertools.product(boxes, repeat=2):
        values = [
            value(p, q) for p in range(int(one.lo), int(one.hi) + 1) for q in range(int(two.lo), int(two.hi) + 1) if q
        ]
        found = compute(one, two)
        if values:
            assert found == Interval(min(values), max(values)), (one, two)
        else:
            assert found.empty


@pytest.mark.parametrize("constraints", [0, 1, 2])
def test_what_is_known_encloses_every_value(constraints: int) -> None:
    maps = Maps(11)
    rng = maps.rng
    tight = nonempty = 0
    for _ in range(2_500):
        e, *others = (maps.expr([X, Y, X * Y], 3) for _ in range(1 + constraints))
        box = {v: Interval(lo, lo + rng.randint(0, 6)) for v in (X, Y) for lo in [rng.randint(-6, 4)]}
        known = [(c, Interval(lo, lo + rng.randint(0, 9))) for c in others for lo in [rng.randint(-9, 9)]]
        found = Facts(box, known).interval(e)
        values = set()
        for at in itertools.product(*(range(int(i.lo), int(i.hi) + 1) for i in box.values())):
            env = dict(zip(box, at, strict=True))
            if all(c.evaluate(env) in i for c, i in known):
                values.add(e.evaluate(env))
        assert all(v in found for v in values), (e, box, known, found)
        if values:
            nonempty += 1
            tight += found == Interval(min(values), max(values))
    assert nonempty > 150
    assert tight > 0.5 * nonempty


def test_half_open_infinities() -> None:
    up = Interval(3, math.inf)
    assert up.plus(Interval(1, 2)) == Interval(4, math.inf)
    assert up.scale(-2) == Interval(-math.inf, -6)
    assert up.floordiv(Interval(2, 2)) == Interval(1, math.inf)
    assert up.mod(Interval(5, 5)) == Interval(0, 4)
    assert up.times(Interval(0, 2)) == Interval(0, math.inf)
    huge = 10**400
    assert Interval(huge, math.inf).shift(1) == Interval(huge + 1, math.inf)


def test_what_constraints_say_of_multiples() -> None:
    assert Facts({X: (0, 9)}, [(X * 4, Interval(1, 10))]).interval(X) == Interval(1, 2)
    assert Facts({X: (0, 9)}, [(X * 4 + Y, Interval(1, 10)), (Y, Interval(0, 0))]).interval(X * 4 + Y).hi == 10
    assert Facts({}).holds((X * 4 + 2).ne(0))
    assert not Facts({}).holds((X * 4 + 4).ne(0))
    assert Facts({X: (3, 2)}).interval(X + Y).empty
    assert Facts({}).interval(lift(3)) == Interval(3, 3)
    assert Facts({}).interval(X * (1 << 2000)) == LINE
