"""Three evaluations of rules agree: exactly at a point, on columns of points, and by the cases of the proof.

Rules are made at random, under every division and every kind of integers; machine integers are narrow, so that all of
their points are tried.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest

from indexproof.core.condition import Condition, all_of
from indexproof.verify.rulefiles import (
    Kind,
    Missing,
    Semantics,
    StatedRule,
    Term,
    judge,
    parse_rules,
    stated_rule_obligations,
    truth,
    values,
)
from indexproof.verify.rulefiles.cases import expanded, occurs
from indexproof.verify.rulefiles.rule import checked
from indexproof.verify.rulefiles.semantics import OVERFLOWS, ROUNDINGS, quotient, remainder
from indexproof.verify.rulefiles.table import Table

SEMANTICS = [
    *(Semantics(r, r) for r in ROUNDINGS),
    Semantics("trunc", "floor"),
    Semantics("euclid0", "trunc0"),
    *(Semantics("trunc", "trunc", 3, o) for o in OVERFLOWS),
    *(Semantics("floor", "euclid0", 3, o) for o in OVERFLOWS),
    Semantics("euclid", "euclid", 3, "undefined"),
]
KINDS = {"x": Kind("int"), "c": Kind("const"), "p": Kind("bool")}


# ---------------------------------------------------------------------------------------------------- divisions
@pytest.mark.parametrize("rounding", ROUNDINGS)
def test_divisions_are_what_they_are_called(rounding: str) -> None:
    for a, b in itertools.product(range(-9, 10), repeat=2):
        q, r = quotient(rounding, a, b), remainder(rounding, a, b)
        if b == 0:
            assert (q, r) == ((0, 0) if rounding.endswith("0") else (None, None))
            continue
        assert q is not None
        assert r is not None
        assert a == b * q + r
        assert abs(r) < abs(b)
        match rounding.removesuffix("0"):
            case "floor":
                assert r == 0 or (r > 0) == (b > 0)
            case "trunc":
                assert r == 0 or (r > 0) == (a > 0)
            case "euclid":
                assert r >= 0


# ------------------------------------------------------------------------------------------------- random rules
def _term(rng: random.Random, sort: str, depth: int, *, machine: bool) -> Term:
    if depth == 0 or rng.random() < 0.15:
        if sort == "bool":
            return Term("var", (), "p") if rng.random() < 0.7 else Term("bool", (), rng.random() < 0.5)
        return Term("int", (), rng.randint(-2, 2)) if rng.random() < 0.35 else Term("var", (), rng.choice("xc"))
    if sort == "bool":
        op = rng.choice(["lt", "le", "gt", "ge", "eq", "ne", "and", "or", "not", "divides", "within", "eq_"])
        inner = "bool" if op in ("and", "or", "not", "eq_") else "int"
        count = {"not": 1, "within": 3}.get(op, 2)
        args = tuple(_term(rng, inner, depth - 1, machine=machine) for _ in range(count))
        return Term(op.rstrip("_"), args)
    ops = ["add", "sub", "mul", "neg", "fdiv", "mod", "fdiv", "mod", "cdiv", "min", "max", "select"]
    ops += ["floordiv", "truncmod", "eucliddiv"] if not machine else []
    op = rng.choice(ops)
    if op == "select":
        chosen = _term(rng, "bool", depth - 1, machine=machine)
        return Term(op, (chosen, *(_term(rng, "int", depth - 1, machine=machine) for _ in range(2))))
    count = 1 if op == "neg" else 2
    return Term(op, tuple(_term(rng, "int", depth - 1, machine=machine) for _ in range(count)))


def _complain(t: Term, message: str, expected: str) -> ValueError:
    return ValueError(f"{message}: {expected}")


def random_rule(seed: int, semantics: Semantics) -> StatedRule:
    rng = random.Random(seed)
    sort = rng.choice(["int", "int", "bool"])
    machine = bool(semantics.width)
    left, right = (_term(rng, sort, 3, machine=machine) for _ in range(2))
    if rng.random() < 0.3:
        right = left
    conditions = [_term(rng, "bool", 2, machine=machine) for _ in range(rng.randint(0, 2))]
    name = f"rule{seed}"
    made = StatedRule(name, left, right, tuple(conditions), KINDS, semantics)
    return checked(made, _complain, derived=True)


def points(r: StatedRule) -> Iterator[dict[str, int]]:
    s = r.semantics
    numbers = range(s.lo, s.hi + 1) if s.width else range(-3, 4)
    spans = [(0, 1) if k.name == "bool" else numbers for k in r.variables.values()]
    for point in itertools.product(*spans):
        yield dict(zip(r.variables, point, strict=True))


def _holds(conditions: tuple[Condition, ...], point: dict[str, int]) -> bool:
    """Return whether all conditions hold; one of them may exclude a division by zero in another one."""
    undefined = False
    for c in conditions:
        try:
            if not c.evaluate(point):
                return False
        except ZeroDivisionError:
            undefined = True
    assert not undefined
    return True


@pytest.mark.parametrize("semantics", SEMANTICS, ids=str)
def test_cases_say_what_the_rule_says(semantics: Semantics) -> None:
    failing = concerned = 0
    for seed in (*range(6), 1008):
        r = random_rule(seed, semantics)
        parts = list(expanded(r))
        places = list(occurs(r))
        for point in points(r):
            says = judge(r, point)
            failed = [o.kind for o in parts if _holds(o.hypotheses, point) and not o.goal.evaluate(point)]
            assert bool(failed) == (says in ("counterexample", "undefined")), (str(r), point, says, failed)
            assert sum(_holds(p, point) for p in places) == (says != "not concerned"), (str(r), point, says)
            failing += bool(failed)
            concerned += says != "not concerned"
    assert failing > 5
    assert concerned > failing + 5


@pytest.mark.parametrize("semantics", SEMANTICS, ids=str)
def test_the_claim_in_one_condition_says_what_the_rule_says(semantics: Semantics) -> None:
    for seed in range(100, 102):
        r = random_rule(seed, semantics)
        sound, *needs = (o for o in stated_rule_obligations(r) if not o.bits)
        for point in points(r):
            fails = judge(r, point) in ("counterexample", "undefined")
            assert all_of((*sound.hypotheses, sound.goal)).evaluate(point) == (not fails), (str(r), point)
            for k, o in enumerate(needs):
                weaker = [c for n, c in enumerate(r.conditions) if n != k]
                others = replace(r, conditions=())
                wanted = all(truth(c, point, semantics) is True for c in weaker) and judge(others, point) in (
                    "counterexample",
                    "undefined",
                )
                assert all_of(o.hypotheses).evaluate(point) == wanted, (str(r), k, point)


@pytest.mark.parametrize("semantics", SEMANTICS, ids=str)
def test_columns_say_what_the_rule_says(semantics: Semantics) -> None:
    for seed in range(200, 206):
        r = random_rule(seed, semantics)
        every = list(points(r))
        for kind in (np.int64, object) if seed == 200 else (np.int64,):
            table = Table(r, np.array([[*p.values()] for p in every], dtype=kind).reshape(len(every), -1))
            given = np.logical_and.reduce([np.ones(len(every), dtype=bool), *table.conditions])
            for k, point in enumerate(every):
                says = judge(r, point)
                assert bool(given[k] & table.concerned[k]) == (says != "not concerned"), (str(r), point)
                assert bool(given[k] & table.fails[k]) == (says in ("counterexample", "undefined")), str(r)


# ------------------------------------------------------------------------------------------------ no value
def _value(text: str, point: dict[str, int], header: str = "semantics floor") -> object:
    names = ", ".join(point)
    r = parse_rules(f"{header}\n" + (f"int {names}\n" if names else "") + f"r: {text} -> {text}")[0]
    return values((r.left,), point, r.semantics)[id(r.left)]


@pytest.mark.parametrize(("text", "value"), [
    ("1 / x", Missing.ZERO),
    ("min(3, 1 % x)", Missing.ZERO),
    ("select(x == 0, 7, 1 / x)", 7),
    ("select(x != 0, 7, 1 / x)", Missing.ZERO),
    ("select(1 / x > 0, 7, 8)", Missing.ZERO),
    ("x != 0 and 1 / x > 0", False),
    ("1 / x > 0 and x != 0", False),
    ("x == 0 or 1 / x > 0", True),
    ("1 / x > 0 or x != 0", Missing.ZERO),
    ("not (1 / x > 0)", Missing.ZERO),
    ("divides(x, 4)", False),
    ("0 * (1 / x)", Missing.ZERO),
])  # fmt: skip
def test_division_by_zero_reaches_as_far_as_it_must(text: str, value: object) -> None:
    assert _value(text, {"x": 0}) is value or _value(text, {"x": 0}) == value


@pytest.mark.parametrize(("overflow", "text", "value"), [
    ("wrap", "x + 1", -128),
    ("wrap", "x * x", 1),
    ("wrap", "-x - 2", 127),
    ("wrap", "(-x - 1) / -1", -128),
    ("wrap", "(-x - 1) % -1", 0),
    ("undefined", "x + 1", Missing.OVERFLOW),
    ("undefined", "(x + 1) - 1", Missing.OVERFLOW),
    ("undefined", "(-x - 1) / -1", Missing.OVERFLOW),
    ("undefined", "(-x - 1) % -1", Missing.OVERFLOW),
    ("undefined", "select(x < 0, x + 1, x)", 127),
    ("undefined", "(x + 1) / (x - x)", Missing.OVERFLOW),
    ("nowrap", "x + 1 > x", Missing.OVERFLOW),
])  # fmt: skip
def test_machine_integers(overflow: str, text: str, value: object) -> None:
    assert _value(text, {"x": 127}, f"semantics trunc\nintegers 8 bits {overflow}") == value
