"""Every lemma and every step is a proposition of its own, proved without the reduction that uses it."""

from __future__ import annotations

import itertools

import pytest
import z3

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


@pytest.mark.parametrize("name", SCHEMES)
def test_is_true_of_all_integers(name: str) -> None:
    scheme = SCHEMES[name]
    # a quotient is shown before its remainder, which it determines
    known = list(scheme.given)
    for part in _conjuncts(scheme.then):
        context = z3.Context()
        encoder = Encoder(context, "witness")
        conditions = [*map(encoder.condition, known), z3.Not(encoder.condition(part))]
        solver = encoder.solver(conditions, 4_000_000)
        assert solver.check() == z3.unsat, part
        known.append(part)


@pytest.mark.parametrize("name", SCHEMES)
def test_is_true_of_small_integers(name: str) -> None:
    scheme: Scheme = SCHEMES[name]
    names = [v.name for v in all_of((*scheme.given, scheme.then)).variables()]
    width = {1: 20, 2: 9, 3: 5, 4: 3}.get(len(names), 2)
    holds = 0
    for values in itertools.product(range(-width, width + 1), repeat=len(names)):
        point = dict(zip(names, values, strict=True))
        if all(c.evaluate(point) for c in scheme.given):
            holds += 1
            assert scheme.then.evaluate(point), point
    assert holds
