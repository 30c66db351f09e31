"""Claims as a single question without cases: lemmas, agreement with evaluation, leaves, and mistakes."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator

import pytest

from indexproof.core.condition import Condition
from indexproof.core.expr import ceildiv, maximum, minimum, var
from indexproof.verify import linearised
from indexproof.verify.checker import z3_refutes
from indexproof.verify.linear import leaf_smtlib
from indexproof.verify.linear.formula import Formula, holds
from indexproof.verify.linear.polynomial import Monomial, Poly, variable
from indexproof.verify.linearised import by_linearisation, negated
from indexproof.verify.rulefiles import judge, read_rule_file
from indexproof.verify.rulefiles.prove import as_a_whole

ENOUGH = 3_000_000
a, b, c, x, y, z = map(var, "abcxyz")


class _At(dict[Monomial, int]):
    """Values of monomials in which every product has its true value."""

    def __missing__(self, m: Monomial) -> int:
        total = 1
        for v in m:
            total *= self[(v,)]
        return total


def moved(u: Poly, v: Poly, a: int, b: int) -> Iterator[Formula]:
    for m, n in linearised._offsets(a, b):
        yield from linearised._sizes(u - m, v - n)


def lemmas() -> Iterator[Formula]:
    u, v, w = map(variable, "uvw")
    for one, two in ((u, v), (u, u), (u + v, w), (u * v - w + 1, v - 2), (w * 3, u - v)):
        yield from linearised._sizes(one, two)
        yield from moved(one, two, -3, 5)


def test_lemmas_hold_of_all_integers() -> None:
    for f in lemmas():
        for point in itertools.product(range(-4, 5), repeat=3):
            assert holds(f, _At({(n,): k for n, k in zip("uvw", point, strict=True)})), f


def test_lemmas_exclude_products_that_are_none() -> None:
    """The lemmas determine the product of two factors within a few steps of zero."""
    u, v = variable("u"), variable("v")
    for k, n in itertools.product(range(-3, 4), repeat=2):
        instances = [*linearised._sizes(u, v), *moved(u, v, k, n)]
        for wrong in (k * n - 1, k * n + 1):
            values = {("u",): k, ("v",): n, ("u", "v"): wrong}
            assert not all(holds(f, values) for f in instances)


def test_numbers_say_which_products_violate_a_lemma() -> None:
    facts = list(linearised._sizes(variable("u"), variable("v")))
    for k, n, product in itertools.product(range(-3, 4), range(-3, 4), range(-12, 13)):
        values = {("u",): k, ("v",): n, ("u", "v"): product}
        assert linearised._too_small(k, n, product) is not all(holds(f, values) for f in facts)


def test_negation() -> None:
    for f in lemmas():
        for point in itertools.product((-2, 0, 3), repeat=4):
            values = _At({(n,): k for n, k in zip("uvw", point, strict=False)})
            values["u", "v"] = point[3]
            assert holds(f, values) is not holds(negated(f), values)


TRUE: list[tuple[list[Condition], Condition]] = [
    ([a >= 1, b >= 1, x >= 0], x // (a * b) <= x // a),
    ([y > x, x >= 0], (x // (y * y + 1)).eq(0)),
    ([c >= 1], (x % (c + x % (c * c + 1)) < c * c + c)),
    ([a >= 2, b >= a, x >= 0], minimum(x // b, x // a).eq(x // b)),
    ([a >= 1, x >= 1], ceildiv(x, a * a) >= 1),
    ([a >= 1, b >= 1], maximum(x // a, x // a - b).eq(x // a)),
]
FALSE: list[tuple[list[Condition], Condition]] = [
    ([a >= 1, b >= 1], x // (a * b) <= x // a),
    ([y >= x, x >= 0], (x // (y * y - 2)).eq(0)),
    ([c >= 1], (x % (c + x % (c * c + 1)) < c * c + c - 1)),
    ([a >= 2, b >= a], minimum(x // b, x // a).eq(x // b)),
    ([a >= 1, x >= 0], ceildiv(x, a * a) >= 1),
    ([a >= 1], maximum(x // a, x // a - b).eq(x // a)),
]


@pytest.mark.parametrize(("hypotheses", "goal"), TRUE, ids=str)
def test_proofs_are_confirmed(hypotheses: list[Condition], goal: Condition) -> None:
    found = by_linearisation(hypotheses, goal, ENOUGH)
    assert found.proved
    assert found.leaf is not None
    assert z3_refutes(leaf_smtlib(found.leaf))


@pytest.mark.parametrize(("hypotheses", "goal"), FALSE, ids=str)
def test_nothing_false_is_proved(hypotheses: list[Condition], goal: Condition) -> None:
    assert not by_linearisation(hypotheses, goal, ENOUGH).proved


# ------------------------------------------------------------------------------------------------------- rules
def term(rng: random.Random, depth: int) -> str:
    if not depth:
        return rng.choice(("x", "y", "c", "d", "1", "2", "-1"))
    one, two = term(rng, depth - 1), term(rng, rng.randrange(depth))
    kind = rng.randrange(9)
    if kind < 5:
        return f"({one} {'/%+-*'[kind]} {two})"
    if kind == 5:
        return f"ceildiv({one}, {two})"
    if kind == 6:
        return f"select({truth(rng, depth - 1)}, {one}, {two})"
    return f"{('min', 'max')[kind - 7]}({one}, {two})"


def truth(rng: random.Random, depth: int) -> str:
    one, two = term(rng, depth), term(rng, depth)
    kind = rng.randrange(8 if depth else 5)
    if kind < 5:
        return f"{one} {('<', '<=', '==', '!=', '>')[kind]} {two}"
    if kind == 5:
        return f"divides({one}, {two})"
    left, right = truth(rng, depth - 1), truth(rng, depth - 1)
    return f"(({left}) {rng.choice(('and', 'or', '==', '!='))} ({right}))" if kind == 6 else f"not ({left})"


def random_rules(rounding: str) -> Iterator[str]:
    rng = random.Random(f"whole, {rounding}")
    for k in range(60):
        if k % 3:
            left = term(rng, 2)
            right = rng.choice((term(rng, 1), f"max({left}, min({left}, {term(rng, 1)}))", f"{left} * 1 + 0"))
        else:
            left, right = truth(rng, 1), truth(rng, 1)
        yield f'"{k}": {left} -> {right}' + rng.choice(("", " if c > 0", " if d > 0, c == d + 1", " if x % 2 == 0"))


@pytest.mark.parametrize("rounding", ["floor", "trunc", "euclid", "floor0", "trunc0", "euclid0"])
def test_rules_are_read_as_they_are_evaluated(rounding: str) -> None:
    """A proved claim holds at every point of a box, and a counterexample is one by evaluation."""
    header = f"semantics {rounding}\nint x, y\nconst c, d\n"
    decided = 0
    for text in random_rules(rounding):
        # every variable of the right side must be bound
        text += (", " if " if " in text else " if ") + "x + y + c + d == d + c + y + x"
        (r,) = read_rule_file(header + text + "\n", "t")
        found = as_a_whole(r, ENOUGH)
        if found.proved:
            decided += 1
            for point in itertools.product(range(-3, 4), repeat=len(r.variables)):
                at = dict(zip(r.variables, point, strict=True))
                assert judge(r, at) in ("holds", "not concerned"), (r.statement(), at)
        elif found.found is not None:
            decided += 1
            assert judge(r, found.found) in ("counterexample", "undefined")
    assert decided > 50


def test_a_product_of_many_terms_is_not_read() -> None:
    sums = " * ".join(f"(x + {k} * y + c + d)" for k in range(6))
    (r,) = read_rule_file(f"int x, y\nconst c, d\nr: {sums} -> 0\n", "t")
    assert not as_a_whole(r, ENOUGH).proved


def test_machine_integers_are_not_read() -> None:
    (r,) = read_rule_file("integers 32 bits wrap\nint x\nr: x + 1 > x -> true\n", "t")
    assert not as_a_whole(r, ENOUGH).proved


def test_equations_give_variables_their_values() -> None:
    (r,) = read_rule_file("int x\nconst c, d\nr: x / c -> x / (d + 1) if c == d + 1, d >= 1\n", "t")
    assert as_a_whole(r, ENOUGH).proved
    (r,) = read_rule_file("int x\nconst c, d\nr: x / c -> x / (d + 2) if c == d + 1, d >= 1\n", "t")
    point = as_a_whole(r, ENOUGH).found
    assert point["c"] == point["d"] + 1
    assert judge(r, point) == "counterexample"


def test_poly_is_what_is_asked() -> None:
    """A constant divisor needs no guard, and equal divisions share a quotient."""
    reading = linearised.Linearising()
    assert reading.divided(variable("x"), Poly({(): 3})) == reading.divided(variable("x"), Poly({(): 3}))
    assert len(reading.facts) == 3
