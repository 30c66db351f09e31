"""Rules with compound terms in place of variables are decided quickly, without a nonlinear engine."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from indexproof.core.condition import divides, show_condition
from indexproof.core.expr import var
from indexproof.reports.certificates import check_files, write_certificates
from indexproof.verify.budget import Budget
from indexproof.verify.certificate import check_certificate
from indexproof.verify.checker import MANIFEST, z3_refutes
from indexproof.verify.linearised import LINEARISED
from indexproof.verify.rulefiles import StatedRule, generalise, judge, read_rule_file, stated_rule_obligations
from indexproof.verify.rulefiles.cases import expanded
from indexproof.verify.rulefiles.certify import case_certificate
from indexproof.verify.rulefiles.generalise import GENERALISED, by_generalisation, generalised, repeated
from indexproof.verify.rulefiles.inverses import INVERSES
from indexproof.verify.rulefiles.known import Known, Polynomials
from indexproof.verify.rulefiles.sample import table_of
from indexproof.verify.solve import decide, linear_limits
from indexproof.verify.verdict import Status, Verdict

FILE = Path(__file__).parent / "data" / "compound.rules"
RULES = {r.name: r for r in read_rule_file(FILE.read_text("utf-8"), FILE.name)}
#: More than the cost of each of these rules; without generalisation some cost more.
ENOUGH = 1_000_000
Z3 = {"z3": z3_refutes}


def verdict(r: StatedRule) -> Verdict:
    return decide(next(stated_rule_obligations(r)))


def one(text: str) -> StatedRule:
    (r,) = read_rule_file(text, "t")
    return r


@pytest.mark.parametrize("name", RULES)
def test_decided_as_its_name_says(name: str, linear_strategies: frozenset[str]) -> None:
    r = RULES[name]
    found = verdict(r)
    assert found.resources < (12 * ENOUGH if LINEARISED in found.strategy else ENOUGH)
    if name.startswith("true"):
        assert found.status is Status.PROVED
        assert set(found.strategy.split(" + ")) <= linear_strategies | {"odd factors", INVERSES}
        assert (INVERSES in found.strategy) is name.startswith("true_inverse")
    else:
        assert found.status in (Status.REFUTED, Status.UNDEFINED)
        assert judge(r, dict(found.witness or {})) in ("counterexample", "undefined")


def test_instances_are_generalised() -> None:
    for name, r in RULES.items():
        if name.startswith("true_instance"):
            assert GENERALISED in verdict(r).strategy or name.endswith(("truth", "many_cases")), name


def terms_of(text: str) -> list[str]:
    """Return the terms that become variables in the only case of a rule."""
    (o,) = expanded(one(text))
    return [show_condition(v.eq(term)) for v, term, _ in generalised(o)[0]]


def test_what_a_point_refutes_is_not_generalised() -> None:
    """``x % 4`` is not generalised where its bound is needed; another term of the same rule may be."""
    assert terms_of("int x, y\nr: min(x % 4, 4) * 0 + max(x % 4, 0) -> x % 4\n") == []
    text = (
        "int x, y\nconst c\nr: (x % 4 + 1) / 5 + (y * c) / 3 - (y * c) / 7 -> x % 4 / 4 + (y * c) / 3 - (y * c) / 7\n"
    )
    assert terms_of(text) == ["t1 = (y·c) // 7", "t2 = (y·c) // 3"]


def test_factors_become_variables_too() -> None:
    a, b, c, x, y = map(var, "abcxy")
    t1, t2 = var("t1"), var("t2")
    (o,) = expanded(one("int x\nr: x -> x + 1\n"))
    o = replace(o, hypotheses=(divides(a - b, 2 * c),), goal=((y - 6 * x * c) % (b - a)).eq(y % (b - a)))
    steps, wider = generalised(o)
    assert [(v, term) for v, term, _ in steps] == [(t1, a - b), (t2, 2 * c)]
    assert (wider.hypotheses, wider.goal) == ((divides(t1, t2),), ((y - 3 * x * t2) % -t1).eq(y % -t1))
    assert repeated([(x * c // 2).eq(c * 3 // (c * 3))]) == [3 * c]


PARTIAL = "select(y == 0, x, x / y) -> select(x / y == x / y, select(y == 0, x, x / y), 7)"


@pytest.mark.parametrize("semantics", ["floor", "trunc", "euclid"])
def test_terms_that_may_lack_a_value_are_undefined(semantics: str) -> None:
    """A quotient that may be undefined is no variable, for which the rule would be sound."""
    r = one(f"semantics {semantics}\nint x, y\nr: {PARTIAL}\n")
    assert verdict(r).status is Status.UNDEFINED


def test_terms_that_mean_two_things_are_not_generalised() -> None:
    """``x + 1`` is a mathematical integer in a condition, and wraps around in a side."""
    text = "int x, y\nr: max(x + 1, 0) * y -> (x + 1) * y if x + 1 > 0\n"
    assert verdict(one(f"integers 32 bits wrap\n{text}")).witness is not None


def test_nothing_follows_from_a_wider_claim_that_is_open_or_another(monkeypatch: pytest.MonkeyPatch) -> None:
    limits = linear_limits(Budget())
    (o, *_) = expanded(RULES["false_instance_divisor"])
    assert not by_generalisation(o, limits)[0]
    # an instance of a false claim, even if no points are tried
    monkeypatch.setattr(generalise, "small_point", lambda *_: None)
    assert generalised(o)[0]
    assert not by_generalisation(o, limits)[0]
    true = replace(o, hypotheses=(), goal=var("t1").eq(var("t1")))
    monkeypatch.setattr(generalise, "generalised", lambda _: ([(var("t1"), var("a"), {})], true))
    assert not by_generalisation(o, limits)[0]


def test_not_zero_and_not_negative_is_positive() -> None:
    x, y = var("x"), var("y")
    known = Known(Polynomials())
    known.assume((x.ne(-5), x >= -5, (y - x).ne(0)))
    assert known.at_least(x, -4)
    assert not known.at_least(x, -3)
    assert not known.at_least(y - x, 1)
    known.assume((y >= x,))
    assert known.at_least(y - x, 1)


def test_both_variables_at_the_same_limit_are_tried() -> None:
    for name in ("false_turn_divisor_16", "false_turn_divisor_32", "false_turn_divisor_64"):
        assert verdict(RULES[name]).strategy in ("small points", "machine limits"), name
    r = RULES["false_turn_divisor_32"]
    assert table_of(r).counterexample() == {"x": -(1 << 31), "y": -(1 << 31)}


@pytest.mark.parametrize(
    "name", ["true_factor_not_zero", "true_factor_difference", "true_two_factors", "true_factor_odd"]
)
def test_compound_factors_have_certificates(name: str) -> None:
    used: set[str] = set()
    for o in expanded(RULES[name]):
        data = json.loads(json.dumps(case_certificate(o)))
        used |= set(check_certificate(data, (o.hypotheses, o.goal), solvers=Z3).lemmas)
    assert used & {"product", "multiple"}


PARTIAL_RULES = {
    "trunc": "((x + c) / a) * ((x + c) / a) % 4 < 2 -> true",
    "euclid": "min((x * a + y) % (b % c), i) -> min(y % (b % c), i) if b % c > 0, a % (b % c) == 0",
    "floor": "(x * x) / y - (x * x) / y * ((x * x) / y) <= 0 -> true",
}


@pytest.mark.parametrize("semantics", PARTIAL_RULES)
def test_terms_that_have_a_value_where_something_is_said_are_generalised_last(semantics: str) -> None:
    head = f"semantics {semantics}\nint x, y\nint i in [0, 9]\nconst a, b, c\nr: "
    stated = head + PARTIAL_RULES[semantics]
    assert verdict(one(stated)).status is Status.PROVED
    # false variants of these rules are refuted all the same
    false = stated.replace("< 2", "< 1").replace("y %", "y * y %").replace("<= 0", "< 0")
    assert verdict(one(false)).status is Status.REFUTED


def test_names_that_differ_only_in_case_have_files_that_differ_otherwise(tmp_path: Path) -> None:
    """File names are unique even on file systems that ignore case, and none begins with a dot."""
    text = 'int x\n"a b": x + 0 -> x\n"A B": x + 0 -> x\n"../../a": x + 0 -> x\n"ü": x + 0 -> x'
    rules = read_rule_file(text, "some.rules")
    assert write_certificates([next(stated_rule_obligations(r)) for r in rules], tmp_path) == (4, [])
    assert sorted(f.name.lower() for f in tmp_path.iterdir()) == sorted(
        ["a_b_sound.json", "a_b_sound_2.json", "a_sound.json", "sound.json", MANIFEST]
    )


def test_an_instance_has_a_certificate(tmp_path: Path) -> None:
    r = RULES["true_instance_divisor"]
    assert write_certificates([next(stated_rule_obligations(r))], tmp_path) == (1, [])
    (file,) = (f for f in tmp_path.iterdir() if f.name != MANIFEST)
    (found,) = check_files([file])
    assert (found.refused, found.compared) == ("", True)
    # it does not fit another rule
    data = json.loads(file.read_text("utf-8"))
    data["rule"]["rules"][0]["right"] = 0
    file.write_text(json.dumps(data), "utf-8")
    (found,) = check_files([file])
    assert found.refused
