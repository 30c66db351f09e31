"""The JSON form of rules: its meaning, its errors, and that printing is the inverse of reading."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from indexproof.core.errors import InputError
from indexproof.verify.rulefiles import (
    Kind,
    Semantics,
    parse_json_rules,
    parse_rules,
    read_rule_file,
    rules_to_json,
    show,
)
from indexproof.verify.rulefiles.lowering import rule_of, source_of

DATA = Path(__file__).parent / "data"
VARS = {"x": "int", "y": "int", "c0": "const", "p": "bool", "i": [0, 9], "k": ["const", 1, 4]}


def read(rule: dict[str, Any], **more: Any) -> Any:
    return parse_json_rules(json.dumps({**more, "rules": [{"vars": VARS, **rule}]}))[0]


def test_the_form_of_the_documentation() -> None:
    text = """
    {"semantics": "floor",
     "rules": [
       {"name": "nested", "vars": {"x": "int", "c0": "const", "y": [0, 9]},
        "if": ["gt", "c0", 0], "left": ["fdiv", "x", "c0"], "right": ["fdiv", ["add", "x", 0], "c0"],
        "semantics": "trunc", "width": 32},
       {"name": "other", "vars": {"x": "int"}, "left": "x", "right": "x"}]}
    """
    first, second = read_rule_file(text, "doc.json")
    assert str(first) == "nested: x / c0 -> (x + 0) / c0 if c0 > 0"
    assert first.semantics == Semantics("trunc", "trunc", 32, "wrap")
    assert dict(first.variables) == {"x": Kind("int"), "c0": Kind("const")}
    assert second.semantics == Semantics("floor", "floor")
    assert second.where == "doc.json: rules[1]"


@pytest.mark.parametrize(("data", "text"), [
    (["add", "x", 1], "x + 1"),
    (["add", "x", "y", 1], "x + y + 1"),
    (["sub", "x", ["sub", "y", 1]], "x - (y - 1)"),
    (["neg", "x"], "-x"),
    (["mul", ["add", "x", 1], -2], "(x + 1) * -2"),
    (["fdiv", "x", "y"], "x / y"),
    (["mod", "x", "y"], "x % y"),
    (["cdiv", "x", "y"], "ceildiv(x, y)"),
    (["min", "x", "y", 3], "min(min(x, y), 3)"),
    (["max", "x", "y"], "max(x, y)"),
    (["select", ["lt", "x", "y"], "x", "y"], "select(x < y, x, y)"),
    (["and", ["lt", "x", 1], ["le", "x", 2], ["gt", "x", 3]], "x < 1 and x <= 2 and x > 3"),
    (["or", "p", ["not", ["ge", "x", 1]]], "p or not x >= 1"),
    (["eq", ["eq", "x", 1], True], "(x == 1) == true"),
    (["ne", "x", 1], "x != 1"),
    (["divides", "c0", "x"], "divides(c0, x)"),
    (["select", "p", False, ["ne", "x", 1]], "select(p, false, x != 1)"),
    (["fold", ["add", "c0", 1]], "fold(c0 + 1)"),
    (["truncdiv", "x", "y"], "truncdiv(x, y)"),
    (["within", "x", 0, 9], "x in [0, 9]"),
    (12345678901234567890123, "12345678901234567890123"),
])  # fmt: skip
def test_expressions(data: Any, text: str) -> None:
    assert show(read({"left": data, "right": data}).left) == text


@pytest.mark.parametrize(("value", "semantics"), [
    ("floor", Semantics("floor", "floor")),
    ("euclid0", Semantics("euclid0", "euclid0")),
    ({"quotient": "trunc", "remainder": "floor"}, Semantics("trunc", "floor")),
    ({"div": "trunc0", "mod": "euclid0"}, Semantics("trunc0", "euclid0")),
    (["trunc", "floor0"], Semantics("trunc", "floor0")),
])  # fmt: skip
def test_divisions(value: Any, semantics: Semantics) -> None:
    assert read({"left": "x", "right": "x"}, semantics=value).semantics == semantics
    assert read({"left": "x", "right": "x", "semantics": value}).semantics == semantics


def test_quotient_and_remainder_may_have_keys_of_their_own() -> None:
    outer = {"quotient": "trunc", "remainder": "euclid"}
    assert read({"left": "x", "right": "x"}, **outer).semantics == Semantics("trunc", "euclid")
    own = {"left": "x", "right": "x", "remainder": "floor0"}
    assert read(own, **outer).semantics == Semantics("trunc", "floor0")


def test_what_a_rule_says_goes_before_what_the_file_says() -> None:
    outer = {"semantics": "trunc", "width": 16, "overflow": "nowrap"}
    assert read({"left": "x", "right": "x"}, **outer).semantics == Semantics("trunc", "trunc", 16, "nowrap")
    own = {"left": "x", "right": "x", "width": 8, "overflow": "undefined"}
    assert read(own, **outer).semantics == Semantics("trunc", "trunc", 8, "undefined")
    assert read({"left": "x", "right": "x", "width": None}, **outer).semantics.width == 0


def test_kinds_and_names() -> None:
    r = read({"left": ["add", "i", "k"], "right": ["add", "k", "i"], "doc": "sums commute"})
    assert dict(r.variables) == {"i": Kind("int", 0, 9), "k": Kind("const", 1, 4)}
    assert r.name == "rule 1"
    assert r.doc == "sums commute"


def test_integers_that_are_only_used_as_truth_values_are_some() -> None:
    data = {
        "vars": {"x": "int", "y": "int", "z": "int"},
        "left": ["select", "x", "y", "z"],
        "right": ["select", ["not", "x"], "z", "y"],
        "if": ["eq", "x", ["lt", "y", "z"]],
    }
    r = parse_json_rules(json.dumps({"rules": [data]}))[0]
    assert [k.name for k in r.variables.values()] == ["bool", "int", "int"]


def test_names_that_are_used_again_are_numbered() -> None:
    rule = {"name": "a", "vars": {"x": "int"}, "left": "x", "right": "x"}
    named = parse_json_rules(json.dumps({"rules": [rule, rule, {**rule, "name": "a #2"}, rule]}))
    names = [r.name for r in named]
    assert names[:2] == ["a", "a #2"]
    assert len(set(names)) == 4


def test_top_level_conjunctions_are_conditions() -> None:
    both = ["and", ["gt", "x", 0], ["and", "p", ["lt", "x", 9]]]
    assert [show(c) for c in read({"left": "x", "right": "x", "if": both}).conditions] == ["x > 0", "p", "x < 9"]


@pytest.mark.parametrize("path", sorted(DATA.glob("*.rules")), ids=lambda p: p.stem)
def test_printing_is_the_inverse_of_reading(path: Path) -> None:
    rules = parse_rules(path.read_text("utf-8"), path.name)
    again = parse_json_rules(rules_to_json(rules))
    assert [str(r) for r in again] == [str(r) for r in rules]
    assert [r.semantics for r in again] == [r.semantics for r in rules]
    assert [dict(r.variables) for r in again] == [dict(r.variables) for r in rules]


def test_nesting_of_any_depth() -> None:
    depth = 10_100
    deep = '["add", ' * depth + '"x"' + ", 1]" * depth
    rules = parse_json_rules(f'{{"rules": [{{"vars": {{"x": "int"}}, "left": {deep}, "right": "x"}}]}}')
    assert rules_to_json(rules).count("add") == depth


# --------------------------------------------------------------------------------------------------- complaints
GOOD = '{"name": "good", "vars": {"x": "int"}, "left": "x", "right": "x"}'
# the mark § precedes the place of the error
BAD = {
    '{"vars": {"x": "int"}, "left": ["plus"§, "x", 1], "right": "x"}': "there is no operator `plus`",
    '{"vars": {"x": "int"}, "left": ["fdiv", "x", §[]], "right": "x"}': "an empty list is no expression",
    '{"vars": {"x": "int"}, "left": ["fdiv", "x", §["add", 1]], "right": "x"}': "`add` with 1 arguments",
    '{"vars": {"x": "int"}, "left": ["fdiv", "x", 1, 2]§, "right": "x"}': "`fdiv` with 3 arguments",
    '{"vars": {"x": "int"}, "left": ["add", "x", §1.5], "right": "x"}': "`1.5` is no expression",
    '{"vars": {"x": "int"}, "left": ["add", "x", §null], "right": "x"}': "`null` is no expression",
    '{"vars": {"x": "int"}, "left": ["add", "x", §{"a": 1}], "right": "x"}': "an object is no expression",
    '{"vars": {"x": "int"}, "left": ["add", "x", §"y"], "right": "x"}': "`y` is not declared",
    '{"vars": {"x": "int"}, "left": ["add", "x", §true], "right": "x"}': "this is a truth value",
    '{"vars": {"x": "int"}, "left": ["lt", "x", 1], §"right": "x"}': "`x` is an integer elsewhere",
    '{"vars": {"x": "int"}, "left": "x", "right": ["fold", §"x"]}': ("`x` is not a constant, so it cannot be folded"),
    '{"vars": {§"x": "integer"}, "left": "x", "right": "x"}': "`integer` is no kind of variable",
    '{"vars": {§"x": [9, 0]}, "left": "x", "right": "x"}': "no integer lies in [9, 0]",
    '{"vars": {§"x": [0]}, "left": "x", "right": "x"}': "a list is no kind of variable",
    '{§"vars": ["x"], "left": "x", "right": "x"}': "a list declares no variables",
    '{"vars": {"x": "int"}, "left": "x", "right": "x", §"when": true}': "unknown key `when`",
    '{"vars": {"x": "int"}, "left": "x", "right": "x", §"semantics": "ceil"}': "no division is called `ceil`",
    '{"vars": {"x": "int"}, "left": "x", "right": "x", §"semantics": {"quotient": "floor"}}': (
        "a division in two parts names its quotient and its remainder"
    ),
    '{"vars": {"x": "int"}, "left": "x", "right": "x", §"width": 0}': "`0` is no width of integers",
    '{"vars": {"x": "int"}, "left": "x", "right": "x", §"width": true}': "`true` is no width of integers",
    '{"vars": {"x": "int"}, "left": "x", "right": "x", §"width": "32"}': '`"32"` is no width of integers',
    '{§"name": " ", "vars": {"x": "int"}, "left": "x", "right": "x"}': '`" "` is no name',
    '{"vars": {"x": "int"}, "left": "x", "right": "x", §"overflow": "trap"}': "no overflow is called `trap`",
    '{"vars": {"x": "int"}, "left": "x", "right": "x", "width": 8, "if": ["lt", "x", 900], "right2": 0}': "",
    '§{"vars": {"x": "int"}, "left": "x"}': "the rule has no right side",
    '{§"name": 7, "vars": {"x": "int"}, "left": "x", "right": "x"}': "`7` is no name",
    '{§"name": "a\\nPROVED", "vars": {"x": "int"}, "left": "x", "right": "x"}': ("`a\\nPROVED` cannot be printed"),
    '{"vars": {§"x\\u001b[2J": "int"}, "left": 1, "right": 1}': "`x\\x1b[2J` cannot name a variable",
    '{"vars": {§"true": "int"}, "left": "true", "right": true}': "`true` cannot name a variable",
    "§[1]": "a list is no object",
    '{"vars": {"x": "int", "y": "int"}, "left": "x", "right": ["add", "x", §"y"]}': (
        "neither the left side nor a condition binds `y`"
    ),
    '{"vars": {"x": "int"}, "left": "x", "right": "x", §"overflow": "wrap"}': ("unbounded integers do not overflow"),
    '{"vars": {"x": "int"}, "left": "x", "right": "x", "width": null, §"overflow": "wrap"}': (
        "unbounded integers do not overflow"
    ),
    '{"vars": {"x": "int"}, "left": "x", "right": "x", §"expect": "UNDECIDED"}': (
        "`UNDECIDED` is no verdict to expect"
    ),
}


@pytest.mark.parametrize("marked", BAD)
def test_what_is_wrong_is_pointed_at(marked: str) -> None:
    message = BAD[marked] or "unknown key `right2`"
    bad = marked.replace("§", "")
    source = f'{{"rules": [\n  {GOOD},\n  {bad}\n]}}'
    with pytest.raises(InputError) as caught:
        parse_json_rules(source)
    error = caught.value
    assert error.message.endswith(message)
    assert error.line == 3
    assert error.expected
    if "§" in marked and not marked.partition("§")[2].startswith((",", ", ")):
        assert error.column == marked.index("§") + 3
    assert error.render().split("\n")[-1].endswith("^")


@pytest.mark.parametrize(("source", "message"), [
    ("{", "the JSON ends too early"),
    ('{"rules": [}', "unexpected `}`"),
    ("[]", "a list is no object"),
    ("{}", "the file states no rules"),
    ('{"rules": []}', "the file states no rule"),
    ('{"rules": {}}', "an object is no list of rules"),
    ('{"rules": [], "division": "floor"}', "unknown key `division`"),
    ('{"rules": [], "rules": []}', "duplicate key `rules`"),
])  # fmt: skip
def test_what_is_wrong_with_a_file(source: str, message: str) -> None:
    with pytest.raises(InputError) as caught:
        read_rule_file(source, "bad.json")
    assert caught.value.message.endswith(message)
    assert caught.value.line == 1


def test_a_kind_of_overflow_needs_a_width_somewhere() -> None:
    """A file may name a kind of overflow only if each rule has a width or says that its integers are unbounded."""
    rule = {"vars": {"x": "int"}, "left": "x", "right": "x"}
    with pytest.raises(InputError, match="unbounded integers do not overflow"):
        parse_json_rules(json.dumps({"overflow": "undefined", "rules": [{**rule, "width": 8}, rule]}))
    read = parse_json_rules(json.dumps({"overflow": "undefined", "rules": [{**rule, "width": w} for w in (8, None)]}))
    assert [r.semantics.integers for r in read] == ["8 bits undefined", "unbounded"]


def test_a_rule_without_one_of_its_conditions_is_no_file() -> None:
    """Internally, a rule may lack a condition that the file format requires."""
    (r,) = parse_rules("int x, y\nr: x -> y if x == y\n")
    assert rule_of(source_of(replace(r, conditions=()))).statement() == "x -> y"


def test_what_is_expected_is_kept() -> None:
    text = "int x\nr: x + x -> x\nexpect REFUTED\ns: x -> x\n"
    read = parse_rules(text)
    assert [r.expected for r in read] == ["REFUTED", "PROVED"]
    assert [r.expected for r in parse_json_rules(rules_to_json(read))] == ["REFUTED", "PROVED"]
    # the expectation is not part of the statement, so that the cached verdict does not depend on it
    plain = parse_rules(text.replace("expect REFUTED\n", ""))
    assert source_of(read[0]) == source_of(plain[0])
