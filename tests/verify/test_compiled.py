"""The check of generated code accepts the code in the tree and refuses planted mistakes."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace

import pytest

from indexproof.core.constraint_matcher import compiled_constraint_rule, constraint_source
from indexproof.core.rewrite import ConstraintRule, Rule
from indexproof.reports.selection import catalogue
from indexproof.rules.catalog import COMPILED, COMPILED_CONSTRAINTS, RULES
from indexproof.verify.compiled import compiled_obligations, obligations_of_check, obligations_of_code
from indexproof.verify.solve import decide
from indexproof.verify.verdict import Status

SOURCE = COMPILED.read_text("utf-8")
METHOD = re.compile(r"    def (\w+)\(self.*?(?=\n\n)", re.DOTALL)
TEST = re.compile(r"\n +if not [^\n]*:\n +(?:return None|continue)")


def method(name: str) -> str:
    return next(m[0] for m in METHOD.finditer(SOURCE) if m[1] == name)


def without_a_test() -> list[tuple[str, str, str]]:
    """Return for every test of every method: the rule, the test, and the module without the test."""
    return [
        (m[1], t[0].strip().split("\n")[0], SOURCE[: m.start() + t.start()] + SOURCE[m.start() + t.end() :])
        for m in METHOD.finditer(SOURCE)
        for t in TEST.finditer(m[0])
    ]


#: tests that do not affect truth: they keep a guess from being divided by zero, or ensure progress
HARMLESS = re.compile(r"if not (self\.(contains|descends)\(.*|\(-?\w+ != 0\)):")

#: tests that others imply: the rest of a sum is computed as its difference to the subject
IMPLIED = {("quotient_absorbs_summand", "if not (_3 == 1):"), ("quotient_absorbs_digit", "if not (_3 == 1):")}


def implied(name: str, test: str) -> bool:
    """Return whether the other tests imply it, by a larger bound or a range that would be empty otherwise."""
    positive = re.fullmatch(r"if not \(0 < (\w+)\):", test)
    if not positive:
        return (name, test) in IMPLIED
    g = positive[1]
    return bool(re.search(rf"\(1 < {g}\)|within\(\w+, (0|-{g}), {g} - 1\)", method(name)))


def unimplied(rules: Iterable[Rule], source: str = SOURCE) -> list[str]:
    """Return the rules that the code of a module does not imply, each with its first mistake."""
    found = []
    for r in rules:
        wrong = (o for o in obligations_of_code(r, source) if decide(o).status is not Status.PROVED)
        if not r.structural and (first := next(wrong, None)) is not None:
            found.append(f"{r.name}: {first.claim}")
    return found


def test_the_code_as_it_is_implies_every_rule() -> None:
    assert unimplied(RULES.rules) == []


def test_every_rule_owes_it() -> None:
    """For a rule of the catalogue its generated file is checked; a rule of one's own is compiled first."""
    owed = {o.subject for o in catalogue(["rules"]) if o.kind.startswith("as compiled")}
    assert owed >= {r.name for r in RULES.rules if not r.structural}
    own = replace(next(r for r in RULES.rules if r.name == "quotient_by_one"), where="elsewhere")
    assert [decide(o).status for o in compiled_obligations(own)] == [Status.PROVED] * 2


def test_code_that_is_not_understood_owes_what_is_false() -> None:
    r = next(r for r in RULES.rules if r.name == "quotient_by_one")
    (owed,) = obligations_of_code(r, SOURCE.replace("return x", "return self.unheard(x)"))
    assert decide(owed).status is Status.REFUTED
    assert "line 34: no engine has a method `unheard`" in owed.claim


def test_every_test_that_says_something_is_missed() -> None:
    missed = []
    for name, test, source in without_a_test():
        if not unimplied([r for r in RULES.rules if r.name == name], source):
            missed.append((name, test))
    assert [m for m in missed if not HARMLESS.fullmatch(m[1]) and not implied(*m)] == []
    assert set(missed) >= IMPLIED


@pytest.mark.parametrize(("name", "was", "becomes"), [
    ("small_remainder_vanishes", "0 < d)", "0 <= d)"),
    ("small_remainder_vanishes", "self.within(r, 0, g - 1)", "self.within(r, 0, g)"),
    ("small_remainder_vanishes", "d // g)", "d)"),
    ("small_remainder_vanishes", "(d, g, r, x,)", "(g, d, r, x,)"),
    ("multiple_leaves_quotient", "minus(_1, x, d)", "minus(_1, x, 2)"),
    ("quotient_of_quotient", "a * b)", "a + b)"),
    ("quotient_absorbs_negated", "v == -1", "v == 1"),
    ("min_keeps_smaller", "at_most(x, y)", "at_most(y, x)"),
    ("value_known", 'record("value_known"', 'record("quotient_known"'),
    ("quotient_by_one", "return x", "return self.unheard(x)"),
])  # fmt: skip
def test_a_planted_mistake_is_refused(name: str, was: str, becomes: str) -> None:
    code = method(name)
    assert was in code
    found = unimplied(RULES.rules, SOURCE.replace(code, code.replace(was, becomes)))
    assert [f.split(":")[0] for f in found] == [name]


def test_a_method_for_each_rule_and_no_other() -> None:
    assert {*METHOD.findall(SOURCE)} == {r.name for r in RULES.rules if not r.structural}
    code = method("quotient_by_one")
    (missing,) = unimplied(RULES.rules, SOURCE.replace(code, ""))
    assert missing.startswith("quotient_by_one")
    assert missing.endswith("no method has this name")


# ------------------------------------------------------------------------------------------------- constraint rules
CHECKS = COMPILED_CONSTRAINTS.read_text("utf-8")
FUNCTION = re.compile(r"\ndef (\w+)\(_cs.*?return None\n(?=\n\n)", re.DOTALL)
#: tests that the others imply: these guards only save time
IDLE = re.compile(r"if not \(?\(+(k != 0|1 < k|1 < g)\)+: return None")


def refused(rule: ConstraintRule, source: str) -> list[str]:
    return [o.kind for o in obligations_of_check(rule, source) if decide(o).status is not Status.PROVED]


def test_the_code_of_constraint_rules_implies_them() -> None:
    for rule in RULES.constraints:
        assert refused(rule, CHECKS) == [], rule.name


def test_no_test_in_the_code_of_constraint_rules_is_idle() -> None:
    idle = set()
    for m in FUNCTION.finditer(CHECKS):
        rule = next(r for r in RULES.constraints if r.name == m[1])
        for t in re.finditer(r"\n        if [^\n]*: return None", m[0]):
            without = CHECKS[: m.start() + t.start()] + CHECKS[m.start() + t.end() :]
            if not refused(rule, without):
                idle.add((rule.name, t[0].strip()))
    assert {i for i in idle if not IDLE.fullmatch(i[1])} == set()


@pytest.mark.parametrize(("name", "was", "becomes"), [
    ("positive_divisor_scales_bounds", "(0 < d)", "(0 <= d)"),
    ("positive_divisor_scales_bounds", "d + (d * hi) - 1", "d * hi"),
    ("satisfied_constraint_vanishes", "_ends(x)", "_ends(hi)"),
    ("same_expression_intersects", "max(a, c)", "min(a, c)"),
    ("summand_moves_into_bounds", "'k': k", "'k': lo"),
    ("sum_bounds_summand", "_cs[1]", "_cs[0]"),
    ("minimum_from_below", "_ends(y)[1]", "_ends(y)[0]"),
    # ways on which a path does not go
    ("summand_moves_into_bounds", "return None", "return ((_cs[0][0], 0, 0),), {}"),
    ("summand_moves_into_bounds", "r = linear(0, [(_e0, 1), (integer(k), -1)])",
     "r = [linear(0, [(_e0, 1), (integer(k), -1)]) for _ in _cs][0]"),
])  # fmt: skip
def test_a_mistake_in_the_code_of_a_constraint_rule_is_found(name: str, was: str, becomes: str) -> None:
    text = next(m[0] for m in FUNCTION.finditer(CHECKS) if m[1] == name)
    assert was in text
    changed = CHECKS.replace(text, becomes.join(text.rsplit(was, 1)))
    assert refused(next(r for r in RULES.constraints if r.name == name), changed)


def test_constraint_rules_owe_it_and_production_runs_it() -> None:
    owed = {o.subject for o in catalogue(["rules"]) if o.kind.startswith("as compiled")}
    assert owed >= {r.name for r in RULES.constraints}
    for rule in RULES.constraints:
        assert compiled_constraint_rule(rule).check.__module__ == "indexproof.rules.compiled_constraints"
    own = replace(RULES.constraints[0], where="elsewhere")
    assert refused(own, constraint_source([own], "One rule.")) == []
    assert [o for o in obligations_of_check(own) if decide(o).status is not Status.PROVED] == []
