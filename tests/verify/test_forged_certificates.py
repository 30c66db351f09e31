"""Certificates that are written to prove what is false."""

from __future__ import annotations

import json
from typing import Any

import pytest

from indexproof.core.expr import lift, var
from indexproof.verify.certificate import CertificateRefused, check_certificate, z3_refutes
from indexproof.verify.linear.export import certificate_json, recorded

x, y = var("x"), var("y")
Json = Any


def refused(data: Json, part: str) -> None:
    with pytest.raises(CertificateRefused, match=part):
        check_certificate(data, solvers={"z3": z3_refutes})


def forged(hypotheses: list[Json], goal: Json, proof: Json) -> Json:
    """A certificate whose terms are 0: x, 1: 0, 2: 2."""
    claim = {"name": "forged", "hypotheses": hypotheses, "goal": goal}
    return {
        "format": "indexproof certificate 2",
        "claim": claim,
        "terms": [["var", "x", ""], 0, 2],
        "proof": proof,
    }


NONE: Json = {"shifts": [], "parts": []}


def test_the_dividend_of_a_multiple_is_known() -> None:
    """`2 | x` is no reason for `x != 2`: a name in the dividend might be given a meaning later, and one in a circle."""
    steps = [
        {
            "by": "divisible",
            "dividend": [[-2, "u"], [1, "x"]],
            "divisor": [[2]],
            "quotient": [[1, "k!1"]],
            "given": [[1, "x"]],
            "d": 2,
            "e": 0,
            "one": NONE,
        },
        {
            "by": "name",
            "dividend": [[1, "k!1"]],
            "divisor": [[1]],
            "quotient": [[1, "u"]],
            "remainder": [[1, "r!1"]],
            "one": NONE,
        },
        {"by": "named", "fact": ["eq", [[-2, "k!1"], [-2, "u"], [1, "x"]]], "number": 0},
        {"by": "named", "fact": ["eq", [[1, "k!1"], [-1, "r!1"], [-1, "u"]]], "number": 1},
        {"by": "named", "fact": ["ge", [[1, "r!1"]]], "number": 2},
        {"by": "named", "fact": ["ge", [[-1, "r!1"]]], "number": 3},
    ]
    negated = {"by": "negated goal", "fact": ["eq", [[-2], [1, "x"]]], "number": 4}
    goal = ["!=", 0, 2]
    part = {"steps": [negated], "refute": [0, 1, 2, 3, 4], "goal": goal}
    proof = {"step": "leaf", "steps": steps, "parts": [part]}
    refused(forged([["divides", 2, 0]], goal, proof), "u means nothing")


@pytest.mark.parametrize(
    ("dividend", "quotient"),
    [
        # x + 2 has the remainder of x, and another quotient
        ([[2], [1, "x"]], [[1, "q!1"]]),
        ([[2], [1, "x"]], [[2], [1, "q!1"]]),
        # x + 1 has not
        ([[1], [1, "x"]], [[1, "q!2"]]),
    ],
)
def test_a_remainder_has_the_name_of_another_one_only_where_it_is_the_same(
    dividend: Json, quotient: Json
) -> None:
    whole = {"by": "name", "divisor": [[2]], "remainder": [[1, "r!1"]], "one": NONE}
    q1 = [[1, "q!1"]]
    steps = [
        {**whole, "dividend": [[1, "x"]], "quotient": q1},
        {"by": "named", "fact": ["eq", [[-2, "q!1"], [-1, "r!1"], [1, "x"]]], "number": 0},
        {**whole, "dividend": dividend, "quotient": quotient},
        {
            "by": "named",
            "fact": ["eq", [*dividend, [-1, "r!1"], *([-2 * k, *v] for k, *v in quotient)]],
            "number": 1,
        },
    ]
    goal = ["<=", 0, 1]
    denied = {"by": "negated goal", "fact": ["ge", [[-1], [1, "x"]]], "number": 2}
    proof = {"step": "leaf", "steps": steps, "parts": [{"steps": [denied], "refute": [0, 1], "goal": goal}]}
    refused(forged([], goal, proof), "is no new name")


def test_a_new_name_for_a_negation_is_no_square() -> None:
    """Not every integer is `-n·n`."""
    goal = ["<=", 0, 1]
    square = {"by": "combination", "fact": ["ge", [[1, "n", "n"]]], "number": 1}
    denied = {"by": "negated goal", "fact": ["ge", [[-1], [-1, "n", "n"]]], "number": 2}

    def signed(s: int) -> Json:
        fact = {"by": "sign", "fact": ["ge", [[-1], [s, "n"]]], "number": 0}
        why = {"shifts": [0], "parts": [[[[s, "n"]], 0]]}
        part = {"steps": [denied], "refute": [1, 2], "goal": goal}
        return {"step": "leaf", "steps": [fact, {**square, "evidence": why}], "parts": [part]}

    nothing = {"steps": [{"by": "negated goal", "fact": ["or"], "number": 2}], "refute": [2], "goal": goal}
    zero = {
        "step": "define",
        "steps": [],
        "define": [{"name": "n", "value": [], "equation": "sign"}],
        "then": {"step": "leaf", "steps": [], "parts": [nothing]},
    }
    split = {
        "step": "sign",
        "steps": [],
        "of": [[1, "n"]],
        "excluded": {},
        "cases": {"1": signed(1), "-1": signed(-1), "0": zero},
    }
    define = {"name": "x", "value": [[-1, "n", "n"]], "equation": None}
    proof = {"step": "define", "steps": [], "define": [define], "then": split}
    refused(forged([], goal, proof), "no negation of a new name")


def refuting(first: list[Json], facts: list[int]) -> Json:
    """A certificate of `x <= 0`, which is false, by steps and facts that are said to refute `x > 0`."""
    goal = ["<=", 0, 1]
    denied = {"by": "negated goal", "fact": ["ge", [[-1], [1, "x"]]], "number": -1}
    part = {"steps": [denied], "refute": [*facts, -1], "goal": goal}
    return forged([], goal, {"step": "leaf", "steps": first, "parts": [part]})


@pytest.mark.parametrize("quotient", [[], [[1, "q!1"]]])
def test_what_is_not_known_to_be_a_quotient_has_no_bound(quotient: Json) -> None:
    """Nothing has been said of `-x // 1`; it is not zero for that reason."""
    bounded = {
        "by": "quotient of a bound",
        "dividend": [[-1, "x"]],
        "divisor": [[1]],
        "quotient": quotient,
        "t": [[-1, "x"]],
        "below": NONE,
        "fact": ["ge", [[-1, "x"]]],
        "number": 0,
    }
    refused(refuting([bounded], [0]), "this is not the quotient")


@pytest.mark.parametrize("op", ["min", "max"])
def test_there_is_no_extremum_of_nothing(op: str) -> None:
    """It would be one of no arguments, which is a contradiction."""
    extremum = {"by": "extremum", "name": op, "args": [], "dropped": [], "value": [[1, "e!1"]]}
    named = {"by": "named", "fact": ["or"], "number": 0}
    refused(refuting([extremum, named], [0]), "an extremum has arguments")


def test_a_definition_is_of_a_name_that_means_something() -> None:
    define = {"name": "u", "value": [[-1, "n"]], "equation": None}
    leaf = refuting([], [])["proof"]
    proof = {"step": "define", "steps": [], "define": [define], "then": leaf}
    refused(forged([], ["<=", 0, 1], proof), "u cannot be defined")


def test_a_case_that_is_left_out_is_no_zero_of_any_divisor() -> None:
    def signed(s: int) -> Json:
        facts = [
            {"by": "sign", "fact": ["ge", [[-1], [s, "x"]]], "number": 0},
            {"by": "negated goal", "fact": ["eq", [[1, "x"]]], "number": 1},
        ]
        part = {"steps": facts, "refute": [0, 1], "goal": ["!=", 0, 1]}
        return {"step": "leaf", "steps": [], "parts": [part]}

    split = {
        "step": "sign",
        "steps": [],
        "of": [[1, "x"]],
        "divisor": [[1, "x"]],
        "excluded": {},
        "cases": {"1": signed(1), "-1": signed(-1)},
    }
    refused(forged([], ["!=", 0, 1], split), "x may be zero")


@pytest.mark.parametrize("equation", ["sign", 0])
def test_a_definition_is_an_equation_that_has_been_shown(equation: Json) -> None:
    denied = {"by": "negated goal", "fact": ["or"], "number": 1}
    leaf = {
        "step": "leaf",
        "steps": [],
        "parts": [{"steps": [denied], "refute": [1], "goal": ["<=", 0, 1]}],
    }
    nothing = {"by": "combination", "of": [[1]], "fact": ["and"], "evidence": NONE, "number": 0}
    define = {"name": "x", "value": [], "equation": equation}
    proof = {"step": "define", "steps": [nothing], "define": [define], "then": leaf}
    refused(forged([], ["<=", 0, 1], proof), "is not what the equation says")


def test_what_is_no_step_proves_nothing() -> None:
    refused(forged([], ["<=", 0, 1], {"step": "nothing", "steps": []}), "there is no step")


def test_what_is_shown_on_the_way_is_a_goal() -> None:
    """Whatever divides by x would say that x is not zero."""
    one = (x // x).eq(1)
    first, second = recorded([], one), recorded([one], x.ne(0))
    assert first is not None
    assert second is not None
    proof = {"step": "goals", "parts": [{"goal": one, "proof": first}, {"goal": x.ne(0), "proof": second}]}
    data = certificate_json("forged", [], x.ne(0), proof)
    refused(json.loads(json.dumps(data)), "is no goal")


def test_an_equal_term_divides_by_nothing_new() -> None:
    value = x * (x // x)
    equal, then = recorded([], x.eq(value)), recorded([], value.ne(0))
    assert equal is not None
    assert then is not None
    named = {"variable": y, "goals": [y.ne(0)]}
    proof = {"step": "equal terms", "term": x, "value": value, **named, "equal": equal, "then": then}
    refused(json.loads(json.dumps(certificate_json("forged", [], x.ne(0), proof))), "divides by what")


def test_only_a_hypothesis_says_what_a_variable_is() -> None:
    then = recorded([], lift(0) <= 0)
    assert then is not None
    proof = {"step": "inline", "variable": x, "term": lift(0), "then": then}
    refused(json.loads(json.dumps(certificate_json("forged", [], x <= 0, proof))), "is no hypothesis")


def test_the_negation_of_one_goal_refutes_no_other() -> None:
    denied = {"by": "negated goal", "fact": ["or"], "number": 0}
    parts = [
        {"steps": [denied], "refute": [0], "goal": ["<=", 1, 2]},
        {"steps": [], "refute": [0], "goal": ["<=", 0, 1]},
    ]
    goal = ["and", ["<=", 1, 2], ["<=", 0, 1]]
    refused(forged([], goal, {"step": "leaf", "steps": [], "parts": parts}), "negation of another goal")
