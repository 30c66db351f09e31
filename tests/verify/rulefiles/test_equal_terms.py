"""Terms that are equal but written differently: proposals, proofs, certificates and planted mistakes."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator, Sequence
from dataclasses import replace

import pytest

from indexproof.core.condition import Compare, Condition, divides
from indexproof.core.expr import Expr, integer, maximum, minimum, var
from indexproof.verify import linear
from indexproof.verify.budget import Budget
from indexproof.verify.certificate import check_certificate
from indexproof.verify.checker import z3_refutes
from indexproof.verify.linear import ReductionBudget as Limits
from indexproof.verify.linear.export import checked_json, recorded
from indexproof.verify.obligation import Obligation
from indexproof.verify.recheck import is_example
from indexproof.verify.refute import sample, small_point
from indexproof.verify.rulefiles import (
    StatedRule,
    certify,
    equal_terms,
    judge,
    parse_rules,
    read_rule_file,
    stated_rule_obligations,
)
from indexproof.verify.rulefiles.cases import expanded
from indexproof.verify.rulefiles.certify import case_certificate
from indexproof.verify.rulefiles.equal_terms import by_equal_terms, proof_by_equal_terms, proposals
from indexproof.verify.rulefiles.findings import cannot_overflow, decide_overflow
from indexproof.verify.rulefiles.inverses import by_inverses
from indexproof.verify.rulefiles.obligations import NO_NEW_OVERFLOW, StatedObligation
from indexproof.verify.rulefiles.rule import widened
from indexproof.verify.solve import decide
from indexproof.verify.verdict import Status, Verdict

from ...broken.inverses import BROKEN, Inverse

a, b, c, d, x, y, z = map(var, "abcdxyz")
Z3 = {"z3": z3_refutes}
MEDIAN = minimum(maximum(minimum(a, b), c), maximum(a, b))

#: Before there were equal terms, each of these was undecided or took half a minute.
RULES = """
int x, y, z, w, u
const a, b, c, d, g
semantics euclid0
true_extrema:
    (x % (min(max(min(w, y), u), max(min(w, y), x)) * z)) / min(max(min(w, y), u), max(min(w, y), x))
    -> (x / max(min(w, y), min(u, x))) % z if min(max(min(w, y), u), max(min(w, y), x)) > 0, z > 0
true_any_number:
    ((x + a) % d + b) % d * a / c / y -> ((x + (a + b) % d) % d * (a / g)) / ((c * y) / g)
    if g > 0, a % g == 0, (c * y) % g == 0, c > 0, y > 0, d > 0
true_residues: ((x % c - c) % c) * ((x % c - c) % c) % 4 < 2 -> true
false_extrema:
    (x % (min(max(min(w, y), u), max(min(w, y), x)) * z)) / min(max(min(w, y), u), max(min(w, y), x))
    -> (x / max(min(w, y), min(u, y))) % z if min(max(min(w, y), u), max(min(w, y), x)) > 0, z > 0
false_residues: ((x % c - c) % c) * ((x % c - c) % c) % 4 < 1 -> true
semantics floor
true_remainders:
    (x / y % c % d) / (c * d) * d + ((x / y % c % d) / c) % d -> (x / y % d) / c if c > 0, c % d == 0
false_remainders:
    (x / y % c % d) / (c * d) * d + ((x / y % c % d) / c) % d -> (x / y % d) / c if c > 0, d % c == 0
"""
STATED = {r.name: r for r in read_rule_file(RULES, "t")}


def verdict(r: StatedRule) -> Verdict:
    return decide(next(iter(stated_rule_obligations(r))))


@pytest.mark.parametrize("name", STATED)
def test_decided_as_its_name_says(name: str) -> None:
    r = STATED[name]
    found = verdict(r)
    assert found.resources < 10_000_000
    if name.startswith("true"):
        assert found.status is Status.PROVED
        assert "equal terms" in found.strategy
    else:
        assert found.status in (Status.REFUTED, Status.UNDEFINED)
        assert judge(r, dict(found.witness or {})) in ("counterexample", "undefined")


# ------------------------------------------------------------------------------------------------------ proposals
def test_the_smaller_term_stays() -> None:
    other = maximum(minimum(a, b), minimum(maximum(a, b), c))
    goal = (x // MEDIAN).eq(x // other)
    (step, *_) = proposals([MEDIAN > 0], goal)
    # unless a hypothesis mentions the larger one
    assert step == (other, MEDIAN)
    (step, *_) = proposals([other > 0], goal)
    assert step == (MEDIAN, other)
    (step, *_) = proposals([c > 0, divides(d, c), d > 0], (x % c % d // 3).eq(x % d // 3))
    assert step == (x % c % d, x % d)


@pytest.mark.parametrize(("known", "goal"), [
    # no equal terms, no terms below a division, no known points
    ([c > 0, d > 0], (x % c % d // 3).eq(x % d // 3)),
    ([], (MEDIAN + 1).eq(maximum(minimum(a, b), minimum(maximum(a, b), c)))),
    ([c > 10**6, divides(d, c), d > 10**5], (x % c % d // 3).eq(x % d // 3)),
])  # fmt: skip
def test_nothing_else_is_proposed(known: list[Condition], goal: Condition) -> None:
    assert list(proposals(known, goal)) == []


def test_a_sample_satisfies_the_hypotheses() -> None:
    known = [divides(d, c), c > 0, x.eq(3 * y + 1)]
    points = sample(known, (x // a).eq(y))
    assert len(points) > 24
    for p in points:
        assert p[a] != 0
        assert all(h.evaluate(p) for h in known)
    assert points == sample(known, (x // a).eq(y))
    assert sample([c > 0, c < 0], c.eq(1)) == []


@pytest.mark.parametrize("size", [1 << 63, 1 << 64, 1 << 80])
def test_points_of_large_divisors(size: int) -> None:
    """A modulus beyond 64 bits is evaluated with exact integers."""
    assert small_point([divides(integer(size), x * c)], (x % size // 3).eq(x // 3)) == {x: -1, c: 0}
    assert len(sample([divides(integer(size), x * size), x >= 0], (x % size).eq(x))) > 24


# ------------------------------------------------------------------------------------------------ planted mistakes
CLAIM = (c > 0, d > 0, divides(d, c)), (x % c % d // 3 * 3).eq(x % d - x % d % 3)


def test_what_is_not_equal_is_not_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    """A proposal is used only if it is proved, because points alone prove nothing."""
    known = CLAIM[0]
    (o,) = expanded(read_rule_file("int x\nr: x -> x + 1\n", "t")[0])

    def proposed(hypotheses: Sequence[Condition], goal: Condition) -> Iterator[tuple[Expr, Expr]]:
        yield x % d, x % c

    monkeypatch.setattr(equal_terms, "proposals", proposed)
    case = replace(o, hypotheses=known, goal=(x % d // y).eq(x % c // y))
    assert not by_equal_terms(case, Limits())[0]
    assert proof_by_equal_terms(case, recorded) is None


def test_certificates() -> None:
    other = maximum(minimum(a, b), minimum(maximum(a, b), c))
    known, goal = (MEDIAN > 0, x >= 0), x // MEDIAN + x // other <= 2 * x
    (o,) = expanded(read_rule_file("int x\nr: x -> x + 1\n", "t")[0])
    proof = proof_by_equal_terms(replace(o, hypotheses=known, goal=goal), recorded)
    data = json.loads(json.dumps(checked_json("median", known, goal, proof)))
    assert check_certificate(data, (known, goal), solvers=Z3).lemmas["cut"] > 0
    nothing = {"step": "goals", "parts": []}
    for change in ({"value": proof["value"] + 1}, {"then": nothing}):
        assert checked_json("median", known, goal, {**proof, **change}) is None


def test_a_case_of_a_rule_has_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """The certificate of a case may replace equal terms where the reduction alone does not prove the goal."""
    monkeypatch.setattr(certify, "_STRATEGIES", (proof_by_equal_terms,))
    (o, *_) = expanded(STATED["true_any_number"])
    data = json.loads(json.dumps(case_certificate(o)))
    assert check_certificate(data, (o.hypotheses, o.goal), solvers=Z3).lemmas["cut"] > 0


# --------------- Whether rules over unbounded integers overflow machine types on the right side only: points,
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
    (r,) = parse_rules(f"{HEADER}r: {text}\n", "t")
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
    """For integers of 4 bits the verdicts agree with evaluation at all points."""
    decided = 0
    for text in WIDENS:
        r = one(text)
        points = itertools.product(*(range(2) if k.name == "bool" else range(-8, 8) for k in r.variables.values()))
        machine = widened(r, 4)
        wrong = any(judge(machine, dict(zip(r.variables, p, strict=True))) == "undefined" for p in points)
        v = decide_overflow(asked(r)[32][0].source, 4, Budget())
        decided += v.status is not Status.UNDECIDED
        assert v.status in ({Status.REFUTED} if wrong else {Status.PROVED, Status.UNDECIDED}), text
    assert decided == len(WIDENS)


def test_what_is_computed_on_the_left_is_no_new_overflow() -> None:
    assert cannot_overflow(one("min(x + y, x) -> min(x, x + y)"), 32)
    assert cannot_overflow(one("x * c < y -> not (y <= x * c)"), 32)
    # the branch that is not selected may not be computed at all
    assert not cannot_overflow(one("select(p, x + y, x) -> select(not p, x, x + y)"), 32)
    assert not cannot_overflow(one("x -> x + 0"), 32)
    assert not cannot_overflow(one("x -> min(x, 2147483648)"), 32)
    assert cannot_overflow(one("x -> min(x, 2147483648)"), 64)


def test_rules_about_machine_integers_are_not_asked() -> None:
    (r,) = parse_rules("integers 16 bits wrap\nint x\nr: x + 1 - 1 -> x\n", "t")
    assert not asked(r)


# ------------- Factors with an inverse modulo the divisor: what follows from them is proved, and nothing else
POSITIVE = tuple(Compare("<", integer(0), var(name)) for name in "dn")


def owed(conditions: tuple[Condition, ...]) -> Obligation:
    return Obligation("rule", "planted", "sound", (*POSITIVE, *conditions[:-1]), conditions[-1])


def has_counterexample(o: Obligation) -> bool:
    names = sorted({v.name for c in (*o.hypotheses, o.goal) for v in c.variables()})
    points = itertools.product(range(6), repeat=len(names))
    return any(is_example(o, dict(zip(names, point, strict=True))) for point in points)


@pytest.mark.parametrize("planted", BROKEN, ids=lambda b: b.name)
def test_what_does_not_follow_is_not_proved(planted: Inverse) -> None:
    wrong, twin = owed(planted.wrong), owed(planted.twin)
    assert has_counterexample(wrong)
    assert not by_inverses(wrong, linear.ReductionBudget())[0]
    assert not has_counterexample(twin)
    assert by_inverses(twin, linear.ReductionBudget())[0]
