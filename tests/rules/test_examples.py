"""The examples inside the declarations: expressions that each rule alone rewrites, and expressions that it leaves
unchanged.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterable, Iterator
from dataclasses import replace

import pytest

from indexproof.core.condition import Condition
from indexproof.core.cost import cost
from indexproof.core.derivation import ConstraintChange
from indexproof.core.expr import CeilDiv, Expr, FloorDiv, Max, Min, Mod, Var, lift, maximum, minimum, rebuild, var
from indexproof.core.facts import Facts
from indexproof.core.indexing_map import Constraint, IndexingMap, Variable
from indexproof.core.interval import Interval
from indexproof.core.kernel.generate import engine_of
from indexproof.core.rewrite import Const, ConstraintRule, Rewrite, Rule, RuleSet, measured, rule
from indexproof.core.simplify import Simplifier
from indexproof.core.simplify_map import simplify_map
from indexproof.core.steps import Step, Trace
from indexproof.core.text import parse_expr
from indexproof.rules.catalog import COMPILED, RULES
from indexproof.verify.obligations import rule_obligations
from indexproof.verify.solve import decide
from indexproof.verify.verdict import Status

#: The box of a variable that an example leaves free.
WIDE = 10**6
_BOX = re.compile(r"(.+?) in \[(-?\d+), (-?\d+)\]")


def known_of(text: str) -> list[tuple[Expr, Interval]]:
    """Parse ``x in [0, 3], y % 4 in [1, 2]``."""
    return [(parse_expr(e.strip(" ,")), Interval(int(lo), int(hi))) for e, lo, hi in _BOX.findall(text)]


def bounds_of(text: str) -> dict[Var, Interval]:
    """Return the bounds that are on single variables."""
    return {e: i for e, i in known_of(text) if isinstance(e, Var)}


def simplified(text: str, rules: RuleSet) -> tuple[Expr, Expr, list[Step]]:
    """Return the expression, its form after production with these rules, and the steps."""
    before, _, domain = text.partition(" | ")
    trace: Trace = []
    e = parse_expr(before)
    known = [(e, i) for e, i in known_of(domain) if not isinstance(e, Var)]
    after = Simplifier(rules, Facts(bounds_of(domain), known), trace).normal(e)
    return e, after, [s for s in trace if isinstance(s, Step)]


def alone(rule: Rule) -> RuleSet:
    """A production simplifier that knows one rule."""
    return RuleSet("one", (rule,), engine=engine_of((rule,)))


def rules() -> Iterator[Rule]:
    yield from (r for r in RULES.rules if not r.sharing)


def written(text: str, rules: RuleSet = RULES) -> tuple[list[Expr], list[Step]]:
    """Return several results, simplified together by a catalogue, and the steps that share work."""
    given, _, domain = text.partition(" | ")
    es = [parse_expr(part) for part in given.split(";")]
    trace: Trace = []
    bounds = {v: Interval(-WIDE, WIDE) for e in es for v in e.variables()} | bounds_of(domain)
    known = [(e, i) for e, i in known_of(domain) if not isinstance(e, Var)]
    results = Simplifier(rules, Facts(bounds, known), trace).all(es)
    return results, [s for s in trace if isinstance(s, Step) and s.rule.sharing]


SHARING = [r for r in RULES.rules if r.sharing]


@pytest.mark.parametrize("rule", SHARING, ids=lambda r: r.name)
def test_a_spelling_is_chosen_where_it_is_cheaper(rule: Rule) -> None:
    for before, after in rule.fires.items():
        results, steps = written(before)
        assert results == [parse_expr(part) for part in after.split(";")], (rule.name, results)
        assert rule in {s.rule for s in steps}, rule.name
    for text in rule.keeps:
        assert rule not in {s.rule for s in written(text)[1]}, (rule.name, text)


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
    e, result, steps = simplified(before, alone(rule))
    if result is not parse_expr(after):
        # the left-hand side is a normal form, which takes other rules
        e, result, steps = simplified(before, RULES)
    assert result is parse_expr(after), f"{rule.name}: {before} becomes {result}"
    if rule.structural:
        # the constructors have applied it already
        assert e is result, rule.name
    else:
        assert rule in {s.rule for s in steps}, rule.name


@pytest.mark.parametrize(("rule", "text"), KEEPS, ids=name_of)
def test_a_rule_leaves_its_other_examples_alone(rule: Rule, text: str) -> None:
    e, result, steps = simplified(text, alone(rule))
    assert result is e, f"{rule.name} makes {result} of {text}"
    assert not steps, rule.name
    assert rule not in {s.rule for s in simplified(text, RULES)[2] if s.before is e}, rule.name


# ------------------------------------------------------------------------------------------------ constraints
def constraints_of(text: str) -> list[Constraint]:
    """Parse ``a + 5 in [0, 20]; a in [4, 12]``."""
    found = []
    for part in filter(None, map(str.strip, text.split(";"))):
        m = _BOX.fullmatch(part)
        assert m is not None, part
        found.append(Constraint(parse_expr(m[1]), int(m[2]), int(m[3])))
    return found


def normalised(rule: ConstraintRule, text: str) -> tuple[IndexingMap, IndexingMap, list[ConstraintChange]]:
    """Return a map with these constraints before and after simplification with the rule alone, and the steps."""
    given, _, domain = text.partition(" | ")
    constraints = constraints_of(given)
    boxes = bounds_of(domain)
    names = sorted({v for c in constraints for v in c.expr.variables()}, key=str)
    dims = tuple(Variable(v.name, int(b.lo), int(b.hi)) for v in names for b in [boxes.get(v, Interval(-WIDE, WIDE))])
    m = IndexingMap(dims, (), (), (), tuple(constraints))
    steps: list[object] = []
    # intersecting two constraints on one expression is a rule too, and it narrows boxes
    both = [r for r in RULES.constraints if r is rule or r.name == "same_expression_intersects"]
    after = simplify_map(m, RuleSet("one", (), tuple(both)), steps)
    return m, after, [s for s in steps if isinstance(s, ConstraintChange) and s.rule is rule]


def known(m: IndexingMap) -> set[tuple[str, int, int]]:
    """Return the constraints, and the boxes that are narrower than the default."""
    boxes = {(v.name, v.lo, v.hi) for v in m.dims if (v.lo, v.hi) != (-WIDE, WIDE)}
    return boxes | {(str(c.expr), c.lo, c.hi) for c in m.constraints}


@pytest.mark.parametrize(("rule", "before", "after"), CONSTRAINT_FIRES, ids=name_of)
def test_a_constraint_rule_fires_on_its_example(rule: ConstraintRule, before: str, after: str) -> None:
    _, result, steps = normalised(rule, before)
    domain = before.partition(" | ")[2]
    expected = {(str(c.expr), c.lo, c.hi) for c in constraints_of(after)}
    said = {name for name, _, _ in expected}
    # boxes that the example does not narrow are unchanged
    expected |= {(v.name, int(i.lo), int(i.hi)) for v, i in bounds_of(domain).items() if v.name not in said}
    assert known(result) == expected, rule.name
    # bounds on a variable are merged on reading, without a step
    assert rule in {s.rule for s in steps} or rule.name == "same_expression_intersects", rule.name


@pytest.mark.parametrize(("rule", "text"), CONSTRAINT_KEEPS, ids=name_of)
def test_a_constraint_rule_leaves_its_other_examples_alone(rule: ConstraintRule, text: str) -> None:
    m, result, steps = normalised(rule, text)
    assert known(result) == known(m), rule.name
    assert not steps, rule.name


# --------------------------------------------------------------------------------------------------- planted changes
# A changed declaration changes the program.  Each rule is declared anew with a stronger condition, another left-hand
# side, another right-hand side, or left out; production has to follow the changed declaration.
RULES_OF_FORMS = [r for r in RULES.rules if not (r.structural or r.sharing)]
EXAMPLES = [(r, before, after) for r in RULES_OF_FORMS for before, after in r.fires.items()]
#: A value that no constant of an example has.
UNUSUAL = 9_973


def stronger(rule: Rule) -> Rule:
    """Return the rule with an additional condition that no example meets."""
    v = min(rule.left.variables(), key=lambda v: v.kind)
    return replace(rule, when=(*rule.when, v.eq(UNUSUAL)))


def another_left(rule: Rule) -> Rule:
    """Return the rule with 1 added on the left, to the dividend or to the whole, or with the other extremum."""
    match rule.left:
        case FloorDiv(a=a, b=b) | Mod(a=a, b=b) | CeilDiv(a=a, b=b):
            return replace(rule, left=rebuild(rule.left, (a + 1, b)))
        case Min(args=args):
            return replace(rule, left=maximum(*args))
        case Max(args=args):
            return replace(rule, left=minimum(*args))
    return replace(rule, left=rule.left + 1)


def another_right(rule: Rule) -> Rule:
    """Return the rule with 1 added on the right."""
    return replace(rule, right=rule.right + 1)


def catalogue_with(rule: Rule) -> RuleSet:
    """Return the whole catalogue with a changed declaration of one rule."""
    rules = tuple(rule if r.name == rule.name else r for r in RULES.rules)
    return replace(RULES, rules=rules, engine=engine_of(rules))


def cited(steps: Iterable[Step], rule: Rule) -> list[Step]:
    return [s for s in steps if s.rule.name == rule.name]


def holds_everywhere(conditions: Iterable[Condition], step: Step, domain: str) -> bool:
    """Return whether the conditions hold under the step's values at sampled points of the example's domain."""
    rng = random.Random(1)
    values = step.bindings()
    exprs = [e for e in (step.before, step.after, *values.values()) if isinstance(e, Expr)]
    variables = sorted({v for e in exprs for v in e.variables()}, key=str)
    boxes = bounds_of(domain)
    constraints = [(e, i) for e, i in known_of(domain) if not isinstance(e, Var)]
    for _ in range(200):
        point = {
            v: rng.randint(int(boxes[v].lo), int(boxes[v].hi)) if v in boxes else rng.randint(-50, 50)
            for v in variables
        }
        if not all(e.evaluate(point) in i for e, i in constraints if set(e.variables()) <= set(point)):
            continue
        at = {name: lift(e).evaluate(point) for name, e in values.items()}
        if not all(c.evaluate(at) for c in conditions):
            return False
    return True


@pytest.mark.parametrize(("rule", "before", "after"), EXAMPLES, ids=name_of)
def test_a_rule_is_cited_only_where_its_conditions_hold(rule: Rule, before: str, after: str) -> None:
    steps = simplified(before, RULES)[2]
    domain = before.partition(" | ")[2]
    for s in steps:
        assert holds_everywhere(s.rule.conditions, s, domain), (s.rule.name, str(s))


@pytest.mark.parametrize(("rule", "before", "after"), EXAMPLES, ids=name_of)
def test_a_stronger_condition_is_obeyed(rule: Rule, before: str, after: str) -> None:
    changed = stronger(rule)
    domain = before.partition(" | ")[2]
    for rules in (alone(changed), catalogue_with(changed)):
        steps = simplified(before, rules)[2]
        for s in cited(steps, rule):
            assert holds_everywhere(changed.conditions, s, domain), str(s)
    e, result, steps = simplified(before, alone(changed))
    assert result is e
    assert not cited(steps, rule)


@pytest.mark.parametrize(("rule", "before", "after"), EXAMPLES, ids=name_of)
def test_another_left_side_is_another_rule(rule: Rule, before: str, after: str) -> None:
    changed = another_left(rule)
    expected = simplified(before, alone(rule))
    found = simplified(before, alone(changed))
    if not cited(expected[2], rule):
        expected, found = simplified(before, RULES), simplified(before, catalogue_with(changed))
    # if the changed rule applies to the example, its values or its result differ
    assert [(s.binding, s.after) for s in cited(found[2], rule)] != [
        (s.binding, s.after) for s in cited(expected[2], rule)
    ]
    for s in cited(found[2], rule):
        assert s.before is changed.left.substitute(dict(zip(changed.variables, s.binding, strict=True)))


@pytest.mark.parametrize(("rule", "before", "after"), EXAMPLES, ids=name_of)
def test_another_right_side_is_seen_in_the_result(rule: Rule, before: str, after: str) -> None:
    changed = another_right(rule)
    for rules in (alone(changed), catalogue_with(changed)):
        _, result, steps = simplified(before, rules)
        assert result is not parse_expr(after) or not cited(steps, rule)
    assert cited(steps, rule)


@pytest.mark.parametrize(("rule", "before", "after"), EXAMPLES, ids=name_of)
def test_without_the_rule_it_is_not_applied(rule: Rule, before: str, after: str) -> None:
    others = tuple(r for r in RULES.rules if r is not rule)
    assert not cited(simplified(before, replace(RULES, rules=others, engine=engine_of(others)))[2], rule)
    assert cited(simplified(before, RULES)[2], rule) or cited(simplified(before, alone(rule))[2], rule)


WRITTEN = [(r, before, after) for r in SHARING for before, after in r.fires.items()]


def domain_of(text: str) -> str:
    """Return the domain of an example, with default boxes for the variables that it leaves free."""
    given, _, domain = text.partition(" | ")
    names = sorted({v.name for e in given.split(";") for v in parse_expr(e).variables()})
    free = [n for n in names if var(n) not in bounds_of(domain)]
    return ", ".join(filter(None, [domain, *[f"{n} in [{-WIDE}, {WIDE}]" for n in free]]))


@pytest.mark.parametrize(("rule", "before", "after"), WRITTEN, ids=name_of)
def test_a_stronger_condition_is_obeyed_where_it_is_chosen(rule: Rule, before: str, after: str) -> None:
    assert cited(written(before)[1], rule)
    changed = stronger(rule)
    _, steps = written(before, catalogue_with(changed))
    for s in steps:
        own = changed if s.rule.name == rule.name else s.rule
        assert holds_everywhere(own.conditions, s, domain_of(before)), str(s)


@pytest.mark.parametrize(("rule", "before", "after"), WRITTEN, ids=name_of)
def test_another_left_side_is_another_equality(rule: Rule, before: str, after: str) -> None:
    changed = another_left(rule)
    expected = cited(written(before)[1], rule)
    found = cited(written(before, catalogue_with(changed))[1], rule)
    assert [(s.binding, s.after) for s in found] != [(s.binding, s.after) for s in expected]
    for s in found:
        assert s.before is changed.left.substitute(dict(zip(changed.variables, s.binding, strict=True)))


@pytest.mark.parametrize(("rule", "before", "after"), WRITTEN, ids=name_of)
def test_another_right_side_is_written(rule: Rule, before: str, after: str) -> None:
    results, steps = written(before, catalogue_with(another_right(rule)))
    assert results != [parse_expr(part) for part in after.split(";")] or not cited(steps, rule)


@pytest.mark.parametrize(("rule", "before", "after"), WRITTEN, ids=name_of)
def test_without_the_equality_it_is_not_written(rule: Rule, before: str, after: str) -> None:
    others = tuple(r for r in RULES.rules if r is not rule)
    results, steps = written(before, replace(RULES, rules=others, engine=engine_of(others)))
    assert not cited(steps, rule)
    assert cost(results).weight >= cost([parse_expr(part) for part in after.split(";")]).weight


def test_a_changed_declaration_is_another_engine() -> None:
    """A stronger condition of small_remainder_vanishes, which once had no effect, is obeyed."""
    rule = next(r for r in RULES_OF_FORMS if r.name == "small_remainder_vanishes")
    r = next(v for v in rule.variables if v.name == "r")
    changed = replace(rule, when=(*rule.when[:2], r.within(0, 0)))
    example = "(4*a + b) // 12 | a in [0, 99], b in [0, 3]"
    assert cited(simplified(example, RULES)[2], rule)
    e, result, steps = simplified(example, catalogue_with(changed))
    assert result is e
    assert not cited(steps, rule)


@rule()
def quotient_takes_in_its_divisor(x: Expr, d: Const) -> Rewrite:
    """A sound rule that does not descend."""
    return Rewrite(x // d, (x + d) // d - 1, when=(d > 1,))


def test_what_does_not_descend_is_refused_when_it_is_applied() -> None:
    """A rule without a proof of descent is measured by the generated code, and its application is refused."""
    e, result, steps = simplified("(a + b // 3) // 4", alone(quotient_takes_in_its_divisor))
    assert result is e
    assert not steps
    owed = {o.name: o for o in rule_obligations(quotient_takes_in_its_divisor)}
    assert decide(owed["quotient_takes_in_its_divisor: sound"]).status is Status.PROVED
    assert decide(owed["quotient_takes_in_its_divisor: progress"]).status is Status.REFUTED


def test_progress_has_no_goal_among_its_hypotheses() -> None:
    """Each rule is proved to descend, without its goal as a hypothesis, or every application is measured."""
    for r in rules():
        progress = [o for o in rule_obligations(r) if o.kind == "progress"]
        assert all(o.goal not in o.hypotheses for o in progress)
        if r.structural:
            continue
        assert bool(progress) is not measured(r), r.name
        assert measured(r) is ("self.descends(" in method_of(r)), r.name


def method_of(r: Rule) -> str:
    """Return the generated code of a rule of the catalogue."""
    text = COMPILED.read_text("utf-8").partition(f"    def {r.name}(")[2]
    return text.partition("\n    def ")[0]
