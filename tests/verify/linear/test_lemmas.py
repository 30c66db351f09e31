"""Every lemma and every step is a proposition of its own, proved without the reduction that uses it."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import pytest
import z3
from broken.schemes import BROKEN

from indexproof.core.condition import Condition, all_exprs, all_of
from indexproof.core.expr import Mul, postorder
from indexproof.verify.encode import Encoder
from indexproof.verify.linear import LEMMAS, STEPS, Scheme

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
    """Whether some integers contradict the scheme, part by part."""
    # a quotient is shown before its remainder, which it determines
    known = list(scheme.given)
    for part in _conjuncts(scheme.then):
        context = z3.Context()
        encoder = Encoder(context, "witness")
        conditions = [*map(encoder.condition, known), z3.Not(encoder.condition(part))]
        yield part, encoder.solver(conditions, 4_000_000).check()
        known.append(part)


def _points(scheme: Scheme) -> Iterator[dict[str, int]]:
    """Small integers of which the scheme says something."""
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
