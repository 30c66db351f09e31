"""Rules with compound terms in place of variables are decided quickly, without a nonlinear engine."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from indexproof.core.expr import var
from indexproof.reports.certificates import check_files, write_certificates
from indexproof.verify.budget import Budget
from indexproof.verify.certificate import check_certificate
from indexproof.verify.checker import MANIFEST, z3_refutes
from indexproof.verify.linearised import LINEARISED
from indexproof.verify.rulefiles import (
    StatedRule,
    judge,
    parse_rules,
    prove,
    read_rule_file,
    show,
    stated_rule_obligations,
)
from indexproof.verify.rulefiles.cases import expanded
from indexproof.verify.rulefiles.certify import case_certificate
from indexproof.verify.rulefiles.generalise import GENERALISED, generalised, repeated
from indexproof.verify.rulefiles.instance import instance_terms
from indexproof.verify.rulefiles.inverses import INVERSES
from indexproof.verify.rulefiles.known import Known, Polynomials
from indexproof.verify.rulefiles.sample import table_of
from indexproof.verify.rulefiles.semantics import Semantics
from indexproof.verify.rulefiles.terms import Kind
from indexproof.verify.solve import decide
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


def test_what_a_point_refutes_is_not_generalised() -> None:
    """``x % 4`` is not generalised where its bound is needed; another term of the same rule may be."""
    assert generalised(one("int x, y\nr: min(x % 4, 4) * 0 + max(x % 4, 0) -> x % 4\n")) is None
    r = one("semantics euclid0\nint x, y\nconst c, d\nr: (x % 4 + 1) / 5 + y / (c * d) - y / (c * d) -> x % 4 / 4\n")
    wider = generalised(r)
    assert [show(t) for t in repeated(r)] == ["y / (c * d)", "x % 4", "c * d"]
    assert [show(t) for t in repeated(wider)] == ["x % 4"]
    assert wider.statement() == "(x % 4 + 1) / 5 + t1 - t1 -> x % 4 / 4"


PARTIAL = "select(y == 0, x, x / y) -> select(x / y == x / y, select(y == 0, x, x / y), 7)"


@pytest.mark.parametrize("semantics", ["floor", "trunc", "euclid"])
def test_terms_that_may_lack_a_value_are_not_generalised(semantics: str) -> None:
    """A quotient that may be undefined is not generalised, because the rule would be sound for a variable."""
    r = one(f"semantics {semantics}\nint x, y\nr: {PARTIAL}\n")
    # the selection on the left is defined wherever the rule applies, but the quotient in it is not
    assert "x / y" not in map(show, repeated(r))
    assert verdict(r).status is Status.UNDEFINED


def test_terms_that_may_overflow_or_mean_two_things_are_not_generalised() -> None:
    """``x + 1`` is not generalised where it wraps around in a side but is a mathematical integer in a condition."""
    text = "int x, y\nr: max(x + 1, 0) * y -> (x + 1) * y if x + 1 > 0\n"
    for overflow in ("wrap", "undefined", "nowrap"):
        assert generalised(one(f"integers 32 bits {overflow}\n{text}")) is None
    assert verdict(one(f"integers 32 bits wrap\n{text}")).witness is not None
    free = generalised(one("integers 32 bits wrap\nint x, y\nr: (x + 1) / 2 * y -> y * ((x + 1) / 2) if y > 0\n"))
    assert free.statement() == "t1 * y -> y * t1 if y > 0"
    zero = generalised(one("semantics trunc0\nintegers 32 bits wrap\nint x, y\nr: (x / y) * y -> y * (x / y)\n"))
    assert zero.statement() == "t1 * y -> y * t1"


def test_nothing_follows_from_a_wider_rule_that_is_open(monkeypatch: pytest.MonkeyPatch) -> None:
    r = RULES["false_instance_divisor"]
    assert not prove._as_instance(r, Budget())[0]
    # a false wider rule is not proved either, even if no points are tried
    false = one("semantics euclid0\nint x, t\nconst c\nr: t % c * x -> t * x if c > 0\n")
    monkeypatch.setattr(prove, "generalised", lambda _, **__: false)
    monkeypatch.setattr(prove, "instance_terms", lambda *_: {})
    assert not prove._as_instance(r, Budget())[0]


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


INSTANCE = "(y - x * (2 * c)) % (a - b) -> y % (a - b) if (2 * c) % (a - b) == 0"


def _two(head: str, wider: str, rule: str) -> tuple[StatedRule, StatedRule]:
    names = "int x, y, t1, t2\nint i in [0, 9]\nconst a, b, c\nbool p\n"
    (general,), (r,) = (parse_rules(f"{head}\n{names}r: {text}\n", derived=True) for text in (wider, rule))
    return general, r


def test_what_is_an_instance() -> None:
    wider, r = _two("semantics floor", "(y - x * t1) % t2 -> y % t2 if t1 % t2 == 0", INSTANCE)
    found = instance_terms(wider, r)
    assert {v: show(t) for v, t in found.items()} == {"t1": "2 * c", "t2": "a - b"}
    for name, stated in RULES.items():
        general = generalised(stated)
        assert general is None or instance_terms(general, stated), name


@pytest.mark.parametrize(("head", "wider", "rule"), [
    # another operator, another literal, a missing condition, one variable for two terms
    ("", "(y + x * t1) % t2 -> y % t2 if t1 % t2 == 0", INSTANCE),
    ("", "x + t1 * 2 -> t1 * 2 + x", "x + (a + b) * 3 -> (a + b) * 3 + x"),
    ("", "(y - x * t1) % t2 -> y % t2 if t1 % t2 == 0, t2 > 0", INSTANCE),
    ("", "x * t1 - x * t1 -> 0", "x * (a + b) - x * (a + c) -> 0"),
    # a term that may be undefined, a truth value, or a term with more values than the variable
    ("", "x -> t1 - t1 + x", "x -> x / y - x / y + x"),
    ("semantics euclid", "x -> t1 - t1 + x", "x -> x % y - x % y + x"),
    ("integers 8 bits undefined", "x -> t1 - t1 + x", "x -> (x + y) - (x + y) + x"),
    ("", "select(p, t1, x) -> select(p, t1, x + t1 - t1)",
        "select(p, x / y, x) -> select(p, x / y, x + x / y - x / y)"),
    ("", "p and t1 < x -> t1 < x and p", "p and x / y < x -> x / y < x and p"),
    ("integers 8 bits undefined", "x -> t1 - t1 + x if t1 > 0", "x -> (x + y) - (x + y) + x if x + y > 0"),
    ("", "i * 0 + 1 -> 1", "(x + y) * 0 + 1 -> 1"),
    # a condition and the sides evaluate the term differently
    ("integers 8 bits", "max(t1, 0) * x -> t1 * x if t1 > 0", "max(y + 1, 0) * x -> (y + 1) * x if y + 1 > 0"),
])  # fmt: skip
def test_what_is_no_instance(head: str, wider: str, rule: str) -> None:
    assert instance_terms(*_two(head, wider, rule)) is None


@pytest.mark.parametrize(("head", "wider", "rule"), [
    # where the term is undefined, so is the left side or a condition
    ("", "t1 - t1 + x -> x", "x / y - x / y + x -> x"),
    ("semantics euclid", "t1 - t1 + x -> x", "x % y - x % y + x -> x"),
    ("integers 8 bits undefined", "t1 - t1 + x -> x", "(x + y) - (x + y) + x -> x"),
    ("", "x -> t1 - t1 + x if t1 != 0", "x -> x / y - x / y + x if x / y != 0"),
    ("", "select(t1 < 0, x, t1) -> max(t1, t1) if t1 > 0",
        "select(x / y < 0, x, x / y) -> max(x / y, x / y) if x / y > 0"),
    # a larger term is defined wherever its subterms are
    ("", "t1 * x -> x * t2", "x / y * x -> x * (x / y)"),
    ("", "t1 * (t1 + 1) -> t2 * t1", "x / y * (x / y + 1) -> (x / y + 1) * (x / y)"),
    ("", "t1 % c + x -> x + t1 % c", "(x / y + 1) % c + x -> x + (x / y + 1) % c"),
])  # fmt: skip
def test_what_has_a_value_wherever_something_is_said(head: str, wider: str, rule: str) -> None:
    assert instance_terms(*_two(head, wider, rule)) is not None


PARTIAL_RULES = {
    "trunc": "((x + c) / a) * ((x + c) / a) % 4 < 2 -> true",
    "euclid": "min((x * a + y) % (b % c), i) -> min(y % (b % c), i) if b % c > 0, a % (b % c) == 0",
    "floor": "(x * x) / y - (x * x) / y * ((x * x) / y) <= 0 -> true",
}


@pytest.mark.parametrize("semantics", PARTIAL_RULES)
def test_terms_that_have_a_value_where_something_is_said_are_generalised_last(semantics: str) -> None:
    stated = PARTIAL_RULES[semantics]
    r, _ = _two(f"semantics {semantics}", stated, stated)
    wider = generalised(r)
    assert wider is not None
    assert instance_terms(wider, r)
    assert verdict(r).status is Status.PROVED
    # false variants of these rules are refuted all the same
    false, _ = _two(
        f"semantics {semantics}", *[stated.replace("< 2", "< 1").replace("y %", "y * y %").replace("<= 0", "< 0")] * 2
    )
    assert verdict(false).status is Status.REFUTED


def test_other_semantics_are_no_instance() -> None:
    wider, r = _two("semantics floor", "(y - x * t1) % t2 -> y % t2 if t1 % t2 == 0", INSTANCE)
    for other in (replace(r, semantics=Semantics("trunc", "trunc")), replace(r, conditions=())):
        assert instance_terms(wider, other) is None
    narrow = replace(wider, variables={**wider.variables, "t1": Kind("int", 0, 9)})
    assert instance_terms(narrow, r) is None


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
    data = json.loads(file.read_text("utf-8"))
    assert "instance of" in data
    # the certificate of the wider rule does not fit another rule
    data["rule"]["rules"][0]["right"] = 0
    file.write_text(json.dumps(data), "utf-8")
    (found,) = check_files([file])
    assert "no instance" in found.refused
    del data["instance of"]
    file.write_text(json.dumps(data), "utf-8")
    (found,) = check_files([file])
    assert found.refused
