"""Congruence closure: claims that it derives hold wherever the equations do, and it derives those that derivations need."""

from __future__ import annotations

import itertools
import random

import pytest

from indexproof.core.congruence import Congruence
from indexproof.core.expr import Expr, var
from indexproof.core.text import parse_expr


def follows(claim: str, *equations: str) -> list[int] | None:
    """Return the numbers of the equations from which a claim follows, or ``None``."""
    known = Congruence(tuple(map(parse_expr, e.split(" = "))) for e in equations)
    left, right = map(parse_expr, claim.split(" = "))
    return known.reasons(left, right)


@pytest.mark.parametrize(("claim", "equations", "reasons"), [
    ("a = a", [], []),
    ("a = b", ["a = c", "b = c", "d = e"], [0, 1]),
    # equal operands, also where both become known later
    ("(a + 1) // 2 = (b + 1) // 2", ["a = b"], [0]),
    ("d = b", ["a // 3 = b", "a = c", "c // 3 = d"], [0, 1, 2]),
    # sums: each summand follows from the others
    ("a mod 4 = a - 4 * b", ["a // 4 * 4 + a mod 4 = a", "a // 4 = b"], [0, 1]),
    # common factors, and multiples of scaled terms
    ("a // 4 * 4 + a mod 4 = a", ["a // 4 * 12 + a mod 4 * 3 = 3 * a"], [0]),
    ("6 * (a // 3) = 2 * a + 4", ["a // 3 * 3 = a + 2"], [0]),
    ("7 * (a // 3) - 2 * a = a // 3 + 4", ["a // 3 * 3 = a + 2"], [0]),
    # minima of several arguments, with equations about them in any order
    ("min(a, b, c) = a", ["min(a, b) = a", "min(b, c) = b"], [0, 1]),
    ("min(a, b, c) = d", ["min(b, c) = e", "min(a, e) = d"], [0, 1]),
    ("max(a, b, c) = a", ["max(b, c) = c", "max(a, c) = a", "min(a, b) = b"], [0, 1]),
])  # fmt: skip
def test_what_follows(claim: str, equations: list[str], reasons: list[int]) -> None:
    assert follows(claim, *equations) == reasons
    for n in reasons:
        assert follows(claim, *(e for k, e in enumerate(equations) if k != n)) is None, n


@pytest.mark.parametrize(("claim", "equations"), [
    ("a = b", ["a // 2 = b // 2"]),
    ("a = b", ["2 * a = 2 * b + 1"]),
    ("a // 3 = b", ["a // 3 * 2 = b"]),
    ("min(a, b) = a", ["min(a, b, c) = a"]),
    ("min(a, b, c) = a", ["max(a, b) = a"]),
])  # fmt: skip
def test_what_does_not_follow(claim: str, equations: list[str]) -> None:
    assert follows(claim, *equations) is None


@pytest.mark.parametrize(("claim", "equations"), [
    ("(a mod 2) // 3 = (b mod 2) // 3", ["a mod 2 = b mod 2", "a = b"]),
    ("b mod 2 = b", ["a mod 2 = b mod 2", "b mod 2 = b", "3 * b = 2 * (a // 2)", "a = b mod 2"]),
    ("c + 1 = c // 2", ["c + 1 = c // 2", "(a // 2) // 2 = (b // 2) // 2", "a // 2 = (a + b) // 2", "a = b"]),
    ("a // 2 = b // 2", ["(a // 2) // 2 = (b // 2) // 2", "b mod 2 = a // 2", "b mod 2 = b // 2"]),
])  # fmt: skip
def test_equations_that_lead_in_a_circle(claim: str, equations: list[str]) -> None:
    assert follows(claim, *equations) is not None


def test_what_stands_for_itself_is_left_alone() -> None:
    """An expression may be equal to one that contains it: claims still follow, and no false one does."""
    assert follows("a = c", "a = 2 * (a // 2)", "b = a", "c = 2 * (b // 2)") is not None
    assert follows("a = b", "a = (a + 1) // 2", "b = (b + 1) // 2") is None


@pytest.mark.parametrize("seed", range(40))
def test_what_follows_holds_wherever_the_equations_do(maps: object, seed: int) -> None:
    rng = random.Random(seed)
    atoms: list[Expr] = [var(n) for n in "abc"]
    values = [dict(zip(atoms, p, strict=True)) for p in itertools.product(range(-2, 4), repeat=3)]
    for _ in range(20):
        es = [maps.expr(atoms, 2) for _ in range(8)]
        given = [tuple(rng.sample(es, 2)) for _ in range(rng.randint(1, 4))]
        known = Congruence(given)
        points = [p for p in values if all(a.evaluate(p) == b.evaluate(p) for a, b in given)]
        for a, b in itertools.combinations([*es, es[0] + es[1], (es[2] + 1) // 3, (es[3] + 1) // 3], 2):
            reasons = known.reasons(a, b)
            if reasons is not None:
                assert all(a.evaluate(p) == b.evaluate(p) for p in points), (a, b, given)
                assert Congruence(given[n] for n in reasons).equal(a, b)
