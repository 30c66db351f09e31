"""Whether rules over unbounded integers overflow machine types on the right side only: points, proofs, and what is said."""

from __future__ import annotations

import itertools

import pytest

from indexproof.verify.recheck import is_example
from indexproof.verify.rulefiles import StatedRule, judge, parse_rules, stated_rule_obligations
from indexproof.verify.rulefiles.findings import cannot_overflow, decide_overflow
from indexproof.verify.rulefiles.obligations import NO_NEW_OVERFLOW, StatedObligation
from indexproof.verify.rulefiles.rule import widened
from indexproof.verify.solve import Budget, decide
from indexproof.verify.verdict import Status, Verdict

HEADER = "semantics euclid0\nint x, y, z\nconst c, d\nbool p\n"
WIDENS = {
    "(x + c) + d -> x + fold(c + d)": {"x": -1, "c": 1, "d": 2147483647},
    "x * c + y * c -> (x + y) * c": {"x": 1, "y": 2147483647, "c": 0},
    "x + min(y, z) -> min(x + y, x + z)": {"x": 1, "y": 0, "z": 2147483647},
    "x / 2 / 2 -> (x - x % 4) / 4": None,
    "-(x - y) -> y - x": None,
    "select(p, x, x + y) -> x + select(p, 0, y)": None,
    "select(p, x, y) -> select(p, x, y) + (x - x)": None,
    "select(x < y, x, y) * 0 -> (x - y) * 0": {"x": 1, "y": -2147483647},
    "(x / c) / d -> x / fold(c * d) if c > 0, d > 0": {"x": 0, "c": 32768, "d": 65536},
    "(x + x) / 2 -> x": None,
    "x + y < z -> x < z - y": {"x": -1, "y": -1, "z": 2147483647},
    "max(x, y) -> max(x, y) + 2147483648 - 2147483648": {"x": 0, "y": 0},
}


def one(text: str) -> StatedRule:
    (r,) = parse_rules(f"{HEADER}r: {text}\n", "t").rules
    return r


def asked(r: StatedRule) -> dict[int, tuple[StatedObligation, Verdict]]:
    return {o.bits: (o, decide(o)) for o in stated_rule_obligations(r) if o.bits}


def fits(point: dict[str, int], bits: int) -> bool:
    return all(-(1 << (bits - 1)) <= n < 1 << (bits - 1) for n in point.values())


@pytest.mark.parametrize("text", WIDENS)
def test_overflow_of_the_right_side_only(text: str) -> None:
    r = one(text)
    expected = WIDENS[text]
    for bits, (o, v) in asked(r).items():
        assert not o.gate
        assert o.kind == f"{NO_NEW_OVERFLOW}, int{bits}"
        if expected is None:
            assert v.status is not Status.REFUTED
            continue
        assert v.status is Status.REFUTED
        point = dict(v.witness or {})
        assert judge(widened(r, bits), point) == "undefined"
        assert fits(point, bits)
        assert is_example(o, point)
        if bits == 32:
            assert sum(map(abs, point.values())) <= sum(map(abs, expected.values()))


def test_what_is_said_of_small_machines_is_true() -> None:
    """Asked of 4 bits, where there are few points, the answers are those of evaluation."""
    decided = 0
    for text in WIDENS:
        r = one(text)
        points = itertools.product(
            *(range(2) if k.name == "bool" else range(-8, 8) for k in r.variables.values())
        )
        machine = widened(r, 4)
        wrong = any(judge(machine, dict(zip(r.variables, p, strict=True))) == "undefined" for p in points)
        v = decide_overflow(asked(r)[32][0].source, 4, Budget())
        decided += v.status is not Status.UNDECIDED
        assert v.status in ({Status.REFUTED} if wrong else {Status.PROVED, Status.UNDECIDED}), text
    assert decided == len(WIDENS)


def test_what_is_computed_on_the_left_is_no_new_overflow() -> None:
    assert cannot_overflow(one("min(x + y, x) -> min(x, x + y)"), 32)
    assert cannot_overflow(one("x * c < y -> not (y <= x * c)"), 32)
    # a side that is not chosen may be one that is not computed
    assert not cannot_overflow(one("select(p, x + y, x) -> select(not p, x, x + y)"), 32)
    assert not cannot_overflow(one("x -> x + 0"), 32)
    assert not cannot_overflow(one("x -> min(x, 2147483648)"), 32)
    assert cannot_overflow(one("x -> min(x, 2147483648)"), 64)


def test_rules_about_machine_integers_are_not_asked() -> None:
    (r,) = parse_rules("integers 16 bits wrap\nint x\nr: x + 1 - 1 -> x\n", "t").rules
    assert not asked(r)
