"""Derivations as text: the lines printed for a step."""

from __future__ import annotations

from indexproof.core.derivation import Derivation, RuleStep
from indexproof.core.explain import explain, replayed
from indexproof.core.text import parse_map
from indexproof.reports.derivation import derivation_text, steps_json
from indexproof.rules.catalog import RULES


def of(text: str) -> Derivation:
    return explain(parse_map(text), RULES)


def test_the_facts_are_the_constraints_that_are_needed() -> None:
    text = derivation_text(
        of(
            "(d0, d1, d2) -> ((d0 - d1) floordiv 8), domain: d0 in [0, 99], d1 in [0, 99], d2 in [0, 9], "
            "d0 - d1 in [0, 7], d1 + d2 * 5 in [3, 60]"
        )
    )
    since = [line for line in text.splitlines() if line.strip().startswith("since")]
    (last,) = [line for line in since if "d0 - d1 ∈ [0, 7]" in line]
    assert last.endswith("from d0 ∈ [0, 67],  d1 ∈ [0, 60],  d0 - d1 ∈ [0, 7]")


def test_the_place_is_marked_in_the_whole_expression() -> None:
    d = of("(d0, d1) -> (d1 + (d0 * 6) floordiv 3), domain: d0 in [0, 99], d1 in [0, 3]")
    assert "⟦" in derivation_text(d)
    long = " + ".join(f"d{k} * {k + 7}" for k in range(2, 60))
    names = ", ".join(f"d{k}" for k in range(60))
    boxes = ", ".join(f"d{k} in [0, 3]" for k in range(60))
    text = derivation_text(of(f"({names}) -> ({long} + (d0 * 6) floordiv 3), domain: {boxes}"))
    (line,) = [x for x in text.splitlines() if "⟦" in x]
    assert line.count("…") in (1, 2)
    assert len(line) < 250
    assert "⟦(6·d0) // 3⟧" in line


def test_nothing_to_tell() -> None:
    assert derivation_text(of("(d0) -> (d0), domain: d0 in [0, 3]")) == "no rule applies"


def test_as_text_a_derivation_has_a_line_for_every_step() -> None:
    d = of("(d0)[s0] -> ((d0 * 4 + s0) floordiv 4), domain: d0 in [0, 2], s0 in [0, 3], d0 * 2 in [0, 3]")
    assert str(d).splitlines() == [
        "1  2·d0 ∈ [0, 3]  ⇔  d0 ∈ [0, 1]   by positive_factor_divides_bounds",
        "2  d0 ∈ [0, 1] and d0 ∈ [0, 2]  ⇔  d0 ∈ [0, 1]   by same_expression_intersects",
        "3  (4·d0 + s0) // 4  →  d0   by quotient_certified in result 0",
    ]
    assert repr(d) == (
        "<Derivation: 3 steps by positive_factor_divides_bounds, same_expression_intersects, quotient_certified>"
    )
    nothing = of("(d0) -> (d0), domain: d0 in [0, 3]")
    assert (str(nothing), repr(nothing)) == ("no rule applies", "<Derivation: 0 steps by no rule>")


def test_paths_lead_to_the_places() -> None:
    d = of("(d0, d1) -> (((d0 * 4 + d1) floordiv 12 * 8 + d1) floordiv 8), domain: d0 in [0, 99], d1 in [0, 3]")
    for (step, m), told in zip(replayed(d), steps_json(d), strict=True):
        assert isinstance(step, RuleStep)
        at = m.results[told["position"]["index"]]
        for k in told["position"]["path"]:
            at = at.children[k]
        assert at is step.before
        assert told["rule"] == step.rule.name
