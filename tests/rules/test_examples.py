"""The examples inside the declarations: what each rule, alone, makes of an expression, and what it leaves
alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from indexproof.core.derivation import ConstraintChange
from indexproof.core.expr import Expr, Var
from indexproof.core.facts import Facts
from indexproof.core.indexing_map import Constraint, IndexingMap, Variable
from indexproof.core.interval import Interval
from indexproof.core.rewrite import ConstraintRule, Rule, RuleSet
from indexproof.core.simplify import Simplifier
from indexproof.core.simplify_map import simplify_map
from indexproof.core.steps import Step
from indexproof.core.text import parse_expr
from indexproof.rules.catalog import RULES

#: The box of a variable that an example leaves free.
WIDE = 10**6
_BOX = re.compile(r"(.+?) in \[(-?\d+), (-?\d+)\]")


def known_of(text: str) -> list[tuple[Expr, Interval]]:
    """``x in [0, 3], y % 4 in [1, 2]``."""
    return [(parse_expr(e.strip(" ,")), Interval(int(lo), int(hi))) for e, lo, hi in _BOX.findall(text)]


def bounds_of(text: str) -> dict[Var, Interval]:
    """What is said of variables alone."""
    return {e: i for e, i in known_of(text) if isinstance(e, Var)}


def simplified(rule: Rule, text: str) -> tuple[Expr, Expr, list[Step]]:
    """The expression, what the rule alone makes of it, and the steps."""
    before, _, domain = text.partition(" | ")
    steps: list[Step] = []
    e = parse_expr(before)
    return e, Simplifier((rule,), Facts(bounds_of(domain)), steps).normal(e), steps


def rules() -> Iterator[Rule]:
    yield from (r for r in RULES.rules if not r.sharing)


def written(text: str) -> tuple[list[Expr], list[Step]]:
    """What the whole catalogue makes of several results together."""
    results, _, domain = text.partition(" | ")
    es = [parse_expr(part) for part in results.split(";")]
    steps: list[Step] = []
    bounds = {v: Interval(-WIDE, WIDE) for e in es for v in e.variables()} | bounds_of(domain)
    known = [(e, i) for e, i in known_of(domain) if not isinstance(e, Var)]
    return Simplifier(RULES, Facts(bounds, known), steps).all(es), steps


SHARING = [r for r in RULES.rules if r.sharing]


@pytest.mark.parametrize("rule", SHARING, ids=lambda r: r.name)
def test_a_spelling_is_chosen_where_it_is_cheaper(rule: Rule) -> None:
    for before, after in rule.fires.items():
        results, steps = written(before)
        assert results == [parse_expr(part) for part in after.split(";")], (rule.name, results)
        assert rule in {s.rule for s in steps if isinstance(s, Step) and s.spelling}, rule.name
    for text in rule.keeps:
        assert rule not in {s.rule for s in written(text)[1] if isinstance(s, Step)}, (rule.name, text)


def constraint_rules() -> Iterator[ConstraintRule]:
    yield from RULES.constraints


FIRES = [(r, before, after) for r in rules() for before, after in r.fires.items()]
KEEPS = [(r, text) for r in rules() for text in r.keeps]
CONSTRAINT_FIRES = [(r, before, after) for r in constraint_rules() for before, after in r.fires.items()]
CONSTRAINT_KEEPS = [(r, text) for r in constraint_rules() for text in r.keeps]


def name_of(value: object) -> str:
    return value.name if isinstance(value, (Rule, ConstraintRule)) else str(value)


def test_every_rule_has_an_example() -> None:
    assert not [r.name for r in RULES if not r.fires]


@pytest.mark.parametrize(("rule", "before", "after"), FIRES, ids=name_of)
def test_a_rule_fires_on_its_example(rule: Rule, before: str, after: str) -> None:
    e, result, steps = simplified(rule, before)
    assert result is parse_expr(after), f"{rule.name}: {before} becomes {result}"
    if rule.structural:
        # the constructors have applied it already
        assert e is result, rule.name
    else:
        assert {s.rule for s in steps} == {rule}, rule.name


@pytest.mark.parametrize(("rule", "text"), KEEPS, ids=name_of)
def test_a_rule_leaves_its_other_examples_alone(rule: Rule, text: str) -> None:
    e, result, steps = simplified(rule, text)
    assert result is e, f"{rule.name} makes {result} of {text}"
    assert not steps, rule.name


# ------------------------------------------------------------------------------------------------ constraints
def constraints_of(text: str) -> list[Constraint]:
    """``a + 5 in [0, 20]; a in [4, 12]``."""
    found = []
    for part in filter(None, map(str.strip, text.split(";"))):
        m = _BOX.fullmatch(part)
        assert m is not None, part
        found.append(Constraint(parse_expr(m[1]), int(m[2]), int(m[3])))
    return found


def normalised(rule: ConstraintRule, text: str) -> tuple[IndexingMap, IndexingMap, list[ConstraintChange]]:
    """A map with these constraints before and after simplification with the rule alone, and the steps."""
    given, _, domain = text.partition(" | ")
    constraints = constraints_of(given)
    boxes = bounds_of(domain)
    names = sorted({v for c in constraints for v in c.expr.variables()}, key=str)
    dims = tuple(
        Variable(v.name, int(b.lo), int(b.hi)) for v in names for b in [boxes.get(v, Interval(-WIDE, WIDE))]
    )
    m = IndexingMap(dims, (), (), (), tuple(constraints))
    steps: list[object] = []
    after = simplify_map(m, RuleSet("one", (), (rule,)), steps)  # type: ignore[arg-type]
    return m, after, [s for s in steps if isinstance(s, ConstraintChange)]


def known(m: IndexingMap) -> set[tuple[str, int, int]]:
    """Constraints and boxes narrower than they were left free, as texts."""
    boxes = {(v.name, v.lo, v.hi) for v in m.dims if (v.lo, v.hi) != (-WIDE, WIDE)}
    return boxes | {(str(c.expr), c.lo, c.hi) for c in m.constraints}


@pytest.mark.parametrize(("rule", "before", "after"), CONSTRAINT_FIRES, ids=name_of)
def test_a_constraint_rule_fires_on_its_example(rule: ConstraintRule, before: str, after: str) -> None:
    _, result, steps = normalised(rule, before)
    domain = before.partition(" | ")[2]
    expected = {(str(c.expr), c.lo, c.hi) for c in constraints_of(after)}
    said = {name for name, _, _ in expected}
    # boxes that the example does not narrow are what they were
    expected |= {(v.name, int(i.lo), int(i.hi)) for v, i in bounds_of(domain).items() if v.name not in said}
    assert known(result) == expected, rule.name
    # bounds on a variable merge as they are read: the map itself says so
    assert rule in {s.rule for s in steps} or rule.name == "same_expression_intersects", rule.name


@pytest.mark.parametrize(("rule", "text"), CONSTRAINT_KEEPS, ids=name_of)
def test_a_constraint_rule_leaves_its_other_examples_alone(rule: ConstraintRule, text: str) -> None:
    m, result, steps = normalised(rule, text)
    assert known(result) == known(m), rule.name
    assert not steps, rule.name
