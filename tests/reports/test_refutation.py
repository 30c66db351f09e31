"""The block of text about a claim that does not pass."""

from __future__ import annotations

import shlex
from dataclasses import replace

import pytest

from indexproof.core.expr import minimum, var
from indexproof.core.rewrite import Const, Expr, Rest, Rewrite, Rule, rule
from indexproof.reports.refutation import again, at_point, explain, holds_at, ordered_point
from indexproof.rules import catalog
from indexproof.verify.compiled import obligations_of_code
from indexproof.verify.obligation import Obligation
from indexproof.verify.obligations import rule_obligations
from indexproof.verify.outcome import Result
from indexproof.verify.solve import decide
from indexproof.verify.verdict import Status, Verdict


@rule()
def wrong(x: Expr, g: Const, d: Const, r: Rest) -> Rewrite:
    """Less than one step of x cannot carry x over anything."""
    return Rewrite((x * g + r) // d, x // (d // g), when=(g > 0, g <= d, r.within(0, g - 1)), guard=(g > 1,))


@rule()
def grows(x: Expr, y: Expr) -> Rewrite:
    """A rule that makes no progress."""
    return Rewrite(minimum(x, y), minimum(x, y), when=())


def owed(r: Rule, kind: str) -> Obligation:
    (found,) = (o for o in rule_obligations(r) if o.kind == kind)
    return found


def lines_of(text: str) -> list[tuple[str, str]]:
    """Return label and text of the lines below the first one."""
    return [(label, " ".join(words)) for label, *words in (line.split() for line in text.splitlines()[1:])]


def test_code_that_was_generated_before_the_declaration_changed(monkeypatch: pytest.MonkeyPatch) -> None:
    was = next(r for r in catalog.RULES.rules if r.name == "small_remainder_vanishes")
    now = replace(was, when=(*was.when, var("g", "const") >= 8))
    (result,) = [
        Result(o, v)
        for o in obligations_of_code(now, catalog.COMPILED.read_text("utf-8"))
        if (v := decide(o)).status is Status.REFUTED
    ]
    assert "dev docs" not in explain(result)
    rules = [now if r is was else r for r in catalog.RULES.rules]
    monkeypatch.setattr(catalog, "RULES", replace(catalog.RULES, rules=tuple(rules)))
    assert ("repair", "the code was generated from other rules: run `indexproof dev docs`") in lines_of(explain(result))


def test_a_false_rule() -> None:
    o = owed(wrong, "sound")
    text = explain(Result(o, decide(o)))
    assert text.splitlines()[0].startswith("REFUTED  wrong   test_refutation.py:")
    assert lines_of(text) == [
        ("claim", "(x·g + r…) // d → x // (d // g) when 0 < g, g ≤ d, r… ∈ [0, g - 1] guard 1 < g"),
        ("owes", "sound"),
        ("take", "x = 1, g = 2, r = 0, d = 3"),
        ("left", "x·g = 2"),
        ("left", "x·g + r… = 2"),
        ("left", "(x·g + r…) // d = 0"),
        ("right", "d // g = 1"),
        ("right", "x // (d // g) = 1"),
        ("holds", "0 < g, g ≤ d, r… ∈ [0, g - 1]"),
        ("fails", "(x·g + r…) // d = x // (d // g)"),
        ("repair", lines_of(text)[-2][1]),
        ("again", "indexproof prove wrong --at x=1,g=2,r=0,d=3"),
    ]
    assert "g ∣ d" in lines_of(text)[-2][1]


def test_texts_are_in_one_column() -> None:
    o = owed(wrong, "sound")
    lines = explain(Result(o, decide(o)), with_repairs=False).splitlines()[1:]
    assert {len(line) - len(line[2:].split(maxsplit=1)[1]) for line in lines} == {11}


def test_measures_that_do_not_descend_are_compared_as_a_whole() -> None:
    o = owed(grows, "progress")
    v = decide(o)
    assert v.status is Status.REFUTED
    found = dict(lines_of(explain(Result(o, v))))
    left, right = found["fails"].removeprefix("the right side is not smaller: ").split(" against ")
    assert left == right
    assert left.count(",") == 4
    assert found["measured"].startswith("by (weight, divisors")
    assert "left" not in found


@pytest.mark.parametrize("kind", ["sound", "progress"])
def test_the_command_repeats_the_point(kind: str) -> None:
    o = owed(wrong, "sound") if kind == "sound" else owed(grows, "progress")
    v = decide(o)
    assert v.witness is not None
    words = shlex.split(again(o, v.witness, "indexproof prove my.py"))
    assert words[:3] == ["indexproof", "prove", "my.py"]
    assert words[3] == (o.subject if kind == "sound" else o.name)
    assert words[4] == "--at"
    point = {name: int(value) for name, value in (w.split("=") for w in words[5].split(","))}
    assert point == v.witness
    assert holds_at(o, point) == "counterexample"


def test_variables_stand_in_the_order_of_the_claim() -> None:
    o = owed(wrong, "sound")
    assert list(ordered_point(o, {"r": 0, "d": 3, "x": 1, "g": 2, "unmentioned": 1})) == [
        "x",
        "g",
        "r",
        "d",
        "unmentioned",
    ]


@pytest.mark.parametrize(("status", "kind", "said"), [
    (Status.VACUOUS, "needs 0 < g", "the other conditions imply this one"),
    (Status.VACUOUS, "not vacuous", "no integers satisfy the conditions"),
    (Status.UNDECIDED, "sound", "a, b"),
    (Status.NOT_CHECKED, "sound", "the run was interrupted"),
])  # fmt: skip
def test_other_verdicts(status: Status, kind: str, said: str) -> None:
    o = owed(wrong, kind)
    detail = "the run was interrupted" if status is Status.NOT_CHECKED else ""
    text = explain(Result(o, Verdict(status, tried=("a", "b"), detail=detail)))
    assert text.startswith(f"{status.value}  wrong   ")
    assert said in text


# -------------------------------------------------------------------------------------------------- one point
@pytest.mark.parametrize(("kind", "point", "place"), [
    ("sound", {"x": 1, "g": 2, "r": 0, "d": 3}, "counterexample"),
    ("sound", {"x": 1, "g": 2, "r": 0, "d": 4}, "holds"),
    ("sound", {"x": 1, "g": 2, "r": 2, "d": 3}, "not concerned"),
    ("sound", {"x": 1, "g": 0, "r": 0, "d": 3}, "not concerned"),
    ("sound", {"x": 1, "g": 2, "r": 0}, None),
    ("needs 0 < g", {"x": 1, "g": 0, "r": 0, "d": 3}, "not concerned"),
    ("needs r… ∈ [0, g - 1]", {"x": 0, "g": 2, "r": 2, "d": 2}, "example"),
])  # fmt: skip
def test_what_an_obligation_says_at_a_point(kind: str, point: dict[str, int], place: str | None) -> None:
    o = owed(wrong, kind)
    found = holds_at(o, point)
    assert found == place
    if found is not None:
        assert f"owes     {kind}" in at_point(o, point, found)


def test_a_point_without_a_value() -> None:
    x, d = var("x"), var("d")
    o = Obligation("rule", "made up", "sound", (), (x // d).eq(0), show=(("left", x // d),))
    assert holds_at(o, {"x": 1, "d": 0}) == "no value"
    text = at_point(o, {"x": 1, "d": 0}, "no value")
    assert "x // d = no value: division by zero" in text
    assert "(it has no value here)" in text
