"""Polynomials and lemmas agree with evaluation."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator

import pytest
import z3
from broken.schemes import BROKEN

from indexproof.core.condition import Condition, all_exprs, all_of
from indexproof.core.expr import Mul, postorder
from indexproof.verify.encode import Encoder
from indexproof.verify.linear.bounds import Bounds
from indexproof.verify.linear.formula import FALSE, TRUE, AtLeast, at_least, zero
from indexproof.verify.linear.polynomial import ONE, ZERO, Poly, constant, variable
from indexproof.verify.schemes import LEMMAS, STEPS, Scheme

NAMES = ("x", "y", "z")


def some(generator: random.Random, terms: int = 4) -> Poly:
    total = ZERO
    for _ in range(generator.randrange(terms + 1)):
        term = constant(generator.randint(-4, 4))
        for _ in range(generator.randrange(3)):
            term = term * variable(generator.choice(NAMES))
        total = total + term
    return total


def value(p: Poly, point: dict[str, int]) -> int:
    products = {}
    for m in p.terms:
        products[m] = 1
        for v in m:
            products[m] *= point[v]
    return p.value(products)


@pytest.mark.parametrize("seed", range(40))
def test_arithmetic_is_that_of_the_values(seed: int) -> None:
    generator = random.Random(seed)
    p, q, r = some(generator), some(generator), some(generator)
    point = {v: generator.randint(-5, 5) for v in NAMES}
    a, b, c = (value(f, point) for f in (p, q, r))
    assert value(p + q, point) == a + b
    assert value(p - q * r, point) == a - b * c
    assert value(-p + 3, point) == 3 - a
    assert value(p.substitute({"x": q, "y": r}), point) == value(p, {**point, "x": b, "y": c})
    if q:
        whole, rest = p.divide(q)
        assert q * whole + rest == p
    assert hash(p + q) == hash(q + p)
    assert p + q == q + p


def test_exact_division() -> None:
    x, y = variable("x"), variable("y")
    assert (x * y * 6 + y * 3).divide(y * 3) == (x * 2 + ONE, ZERO)
    assert (x * x + x * y + x * 2).divide(x + y + 2) == (x, ZERO)
    with pytest.raises(ZeroDivisionError):
        x.divide(ZERO)


def test_text() -> None:
    x, y = variable("x"), variable("y")
    assert str(x * y * 2 - x + 1) == "2·x·y - x + 1"
    assert str(-x) == "-x"
    assert str(ZERO) == "0"


def test_atoms_are_tight() -> None:
    x = variable("x")
    assert at_least(x * 4 - 3) == AtLeast(x - 1)
    assert zero(x * 4 - 2) == FALSE
    assert at_least(constant(0)) == TRUE
    assert at_least(constant(-1)) == FALSE


@pytest.mark.parametrize("seed", range(60))
def test_what_a_certificate_says_is_true(seed: int) -> None:
    generator = random.Random(seed)
    facts = [some(generator, 3) for _ in range(3)]
    facts += [variable(v) - generator.randint(-1, 1) for v in NAMES if generator.random() < 0.8]
    facts += [variable(generator.choice(NAMES)) * generator.randint(1, 2) + 2 - variable("x")]
    bounds = Bounds()
    for p in facts:
        bounds.learn(p)
    bounds.settle()
    box = list(itertools.product(range(-5, 6), repeat=3))
    allowed = [
        point for values in box if all(value(p, point := dict(zip(NAMES, values, strict=True))) >= 0 for p in facts)
    ]
    for _ in range(40):
        p = some(generator)
        least = bounds.least(p)
        if least is not None:
            assert all(value(p, point) >= least for point in allowed), (p, least)
        if bounds.certain(p):
            assert all(value(p, point) >= 0 for point in allowed), p


def test_certificates_reach_mixed_radix_numbers() -> None:
    n, m, k, i, j, h = map(variable, "nmkijh")
    bounds = Bounds()
    for index, size in ((i, n), (j, m), (h, k)):
        bounds.learn(index)
        bounds.learn(size - index - 1)
    bounds.settle()
    assert bounds.certain(n * m * k - ONE - i * m * k - j * k - h)
    assert not bounds.certain(n * m * k - 2 - i * m * k - j * k - h)
    assert not bounds.certain(n * m * k - 1 - i * m * k - j * m - h)


# ---------- Every lemma and every step is a proposition of its own, proved without the reduction that uses it
SCHEMES = {**LEMMAS, **STEPS}


def test_names_are_keys() -> None:
    assert all(name == scheme.name for name, scheme in SCHEMES.items())
    assert len(SCHEMES) == len(LEMMAS) + len(STEPS)


@pytest.mark.parametrize("name", LEMMAS)
def test_lemmas_multiply_two_metavariables_at_most(name: str) -> None:
    scheme = SCHEMES[name]
    exprs = [e for c in (*scheme.given, scheme.then) for e in all_exprs(c)]
    products = [e for e in postorder(*exprs) if isinstance(e, Mul)]
    assert all(len(e.factors) == 2 for e in products)


def _conjuncts(c: Condition) -> tuple[Condition, ...]:
    return c.parts() if c == all_of(c.parts()) and c.parts() else (c,)


def _answers(scheme: Scheme) -> Iterator[tuple[Condition, z3.CheckSatResult]]:
    """Ask z3 whether integers contradict the scheme, one part at a time."""
    # the quotient is proved before the remainder, which depends on it
    known = list(scheme.given)
    for part in _conjuncts(scheme.then):
        context = z3.Context()
        encoder = Encoder(context, "witness")
        conditions = [*map(encoder.condition, known), z3.Not(encoder.condition(part))]
        yield part, encoder.solver(conditions, 4_000_000).check()
        known.append(part)


def _points(scheme: Scheme) -> Iterator[dict[str, int]]:
    """Yield small integers that satisfy the hypotheses of the scheme."""
    names = [v.name for v in all_of((*scheme.given, scheme.then)).variables()]
    width = {1: 20, 2: 9, 3: 5, 4: 3}.get(len(names), 2)
    for values in itertools.product(range(-width, width + 1), repeat=len(names)):
        point = dict(zip(names, values, strict=True))
        if all(c.evaluate(point) for c in scheme.given):
            yield point


@pytest.mark.parametrize("name", SCHEMES)
def test_is_true_of_all_integers(name: str) -> None:
    for part, answer in _answers(SCHEMES[name]):
        assert answer == z3.unsat, part


@pytest.mark.parametrize("name", SCHEMES)
def test_is_true_of_small_integers(name: str) -> None:
    scheme: Scheme = SCHEMES[name]
    holds = 0
    for point in _points(scheme):
        holds += 1
        assert scheme.then.evaluate(point), point
    assert holds


@pytest.mark.parametrize("wrong", BROKEN, ids=lambda s: s.text)
def test_a_planted_mistake_is_found(wrong: Scheme) -> None:
    assert wrong.name in SCHEMES
    assert any(answer == z3.sat for _, answer in _answers(wrong))
    assert any(not wrong.then.evaluate(point) for point in _points(wrong))
