"""The audit of the published maps: the verdicts are stable, the answers and documents up to date."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Sequence
from pathlib import Path

import pytest

from dev.documents.published import PAGE, published_page
from indexproof.verify.claims import (
    ClaimResult,
    ClaimsFile,
    Comparison,
    Dependence,
    builtin_claims,
    check_claims,
    read_claims,
)
from indexproof.verify.verdict import Status

Audit = list[tuple[ClaimsFile, list[ClaimResult]]]


#: Each file has at least this many claims.
LEAST = (8, 60, 60, 20)


@pytest.fixture(scope="module")
def audit() -> Audit:
    return [(f, check_claims(f, confirm=True)) for f in builtin_claims()]


def test_every_verdict_is_the_expected_one(audit: Audit) -> None:
    assert {f.filename: len(f) >= least for f, least in zip([f for f, _ in audit], LEAST, strict=True)} == {
        "array_layout.claims": True,
        "indexing_analysis_2024.claims": True,
        "indexing_analysis_2025.claims": True,
        "tiled_layout.claims": True,
    }
    for f, results in audit:
        assert len(results) == len(f)
        for r in results:
            assert r.as_expected, (f.filename, r.line, r.name, r.headline)


#: The beginning of a comment that repeats the answer to the claim above.
ANSWER = "#: "


def accepted(file: ClaimsFile, results: Sequence[ClaimResult]) -> str:
    """Return the text of the file with the actual verdicts as expectations, and answers to false claims as comments.

    Comments that begin with `ANSWER` below an expectation are replaced.
    """
    lines = file.text.split("\n")
    gone: set[int] = set()
    after: dict[int, list[str]] = {}
    for r in results:
        claim = r.claim
        if r.verdict not in (Status.PROVED, Status.REFUTED):
            continue
        below = claim.expect_line or claim.last_line
        if claim.expect_line:
            gone.add(claim.expect_line)
        while below < len(lines) and lines[below].startswith(ANSWER):
            below += 1
            gone.add(below)
        if r.verdict is Status.REFUTED:
            kind = f"{r.accuracy}: " if r.accuracy else ""
            after[claim.last_line] = ["expect REFUTED", f"{ANSWER}{kind}{r.headline}"]
    out = []
    for number, line in enumerate(lines, 1):
        if number not in gone:
            out.append(line)
        out += after.get(number, [])
    return "\n".join(out)


def test_the_answers_quoted_in_the_files_are_the_answers(audit: Audit) -> None:
    for f, results in audit:
        assert accepted(f, results) == f.text, f.filename


def not_exact(results: list[ClaimResult]) -> dict[str, tuple[str, str]]:
    return {r.name: (r.accuracy, r.headline.split(":")[0]) for r in results if r.verdict is Status.REFUTED}


def test_which_formulas_about_layouts_are_false(audit: Audit) -> None:
    assert not not_exact(audit[0][1])
    assert not_exact(audit[3][1]) == {
        "untiled_in_translation: array -> memory": ("wrong", "array (0, 0)"),
        "figure_1_in_translation: array -> tiled": ("wrong", "array (0, 2)"),
    }


@pytest.mark.parametrize("index", [1, 2])
def test_which_published_maps_are_not_exact(audit: Audit, index: int) -> None:
    found = not_exact(audit[index][1])
    names = ("s0", "s1") if index == 1 else ("rt0", "rt1")
    assert found == {
        "bc0: bc0 -> p0": ("wrong", "bc0 (10, 0, 0)"),
        "offset: slice -> tensor": ("wrong", f"slice (0) with {names[0]} = 6"),
        "dynamic_update_slice: dus -> src": ("over-approximation", "dus (0, 0) with rt0 = 0, rt1 = 0"),
        "dynamic_update_slice: dus -> upd": ("wrong", f"dus (0, 0) with {names[0]} = 0, {names[1]} = 1"),
        "dot: p1 -> output": ("wrong", "p1 (0, 0, 1)"),
        "pad: output -> p1": ("over-approximation", "output (1, 4)"),
        "simplifier_4": ("wrong", "at d0 = 0, d1 = 0"),
    }


def test_every_false_claim_has_an_element_and_the_right_map(audit: Audit) -> None:
    for _, results in audit:
        for r in results:
            if r.verdict is Status.REFUTED:
                assert r.counterexample is not None, r.name
                assert r.headline, r.name
                assert r.right, r.name


def test_the_right_map_is_right_and_the_element_shows_it(audit: Audit) -> None:
    """At the element of the counterexample, the claimed map and the right map evaluate to different elements."""
    for _, results in audit:
        for r in results:
            s = r.claim.statement
            if r.verdict is not Status.REFUTED or not isinstance(s, Dependence):
                continue
            values = list(r.counterexample.values.values())
            source = tuple(values[: len(s.source.dims)])
            # values of runtime variables come last, in the order of the right map's variables
            rts = values[len(values) - len(r.right[0].rts) :] if r.right[0].rts else []

            def named(m, rts=rts, source=source):
                fixed = {v.name: x for v, x in zip(m.dims, source, strict=True)}
                if not all(v.lo <= x <= v.hi for v, x in zip(m.dims, source, strict=True)):
                    return set()
                if not all(v.lo <= x <= v.hi for v, x in zip(m.rts, rts, strict=False)):
                    return set()
                fixed |= {v.name: x for v, x in zip(m.rts, rts, strict=False)}
                return {t for _, t in m.substitute(fixed).relation()}

            claimed = set().union(*(named(m) for m in s.maps))
            assert claimed != set().union(*(named(m) for m in r.right)), r.name


def test_each_program_is_claimed_about_in_both_directions_where_the_pages_do(audit: Audit) -> None:
    for _, results in audit[1:3]:
        pairs = [(s.source.text, s.target.text) for r in results if isinstance(s := r.claim.statement, Dependence)]
        assert sum(a.startswith("p") for a, _ in pairs) >= 15
        assert any(b == "()" for _, b in pairs) == any(a == "()" for a, _ in pairs)


def test_the_page_is_current(audit: Audit) -> None:
    text = published_page(audit)
    assert PAGE.read_text("utf-8") == text
    assert "5 maps: wrong" in text
    assert "2 maps: over-approximation" in text


def test_accepting_writes_and_removes_expectations() -> None:
    text = (
        "claim a\n  (d0) -> (d0), d0 in [0, 9] == (d0) -> (d0 + 1)\n\n"
        "claim b\n  (d0) -> (d0), d0 in [0, 9] == (d0) -> (d0)\n"
        "expect REFUTED # no\n#: once\n#: twice\n# kept\n"
    )
    f = read_claims(text)
    results = check_claims(f)
    assert not any(r.as_expected for r in results)
    after = accepted(f, results)
    assert after == (
        "claim a\n  (d0) -> (d0), d0 in [0, 9] == (d0) -> (d0 + 1)\nexpect REFUTED\n"
        f"{ANSWER}at d0 = 0: the left map has (0), the right map has (1)\n\n"
        "claim b\n  (d0) -> (d0), d0 in [0, 9] == (d0) -> (d0)\n# kept\n"
    )
    again = read_claims(after)
    assert all(r.as_expected for r in check_claims(again))
    assert accepted(again, check_claims(again)) == after


def test_the_example_in_the_description_of_the_format_is_right() -> None:
    page = (PAGE.parent / "docs" / "claims.md").read_text("utf-8")
    example = textwrap.dedent(re.findall(r"(?m)(?:^    .*\n|\n(?=    ))+", page)[0])
    f = read_claims(example)
    assert [c.name for c in f.claims] == ["strided: s -> p0", "strided: p0 -> s", "splitting_a_row"]
    assert all(r.as_expected for r in check_claims(f))
    assert sum(isinstance(c.statement, Comparison) for c in f.claims) == 0


# ------------------------------- Maps of operations that are easily got wrong, against those of the catalogue
FILE = Path(__file__).parent / "data" / "operations.claims"


def test_all_are_as_expected() -> None:
    file = read_claims(FILE.read_text("utf-8"), FILE.name)
    results = check_claims(file)
    for r in results:
        assert r.as_expected, (r.claim.name, r.verdict, r.headline)
    wrong = [r for r in results if r.verdict is Status.REFUTED]
    assert len(wrong) >= 24
    assert all(r.headline for r in wrong)


def test_claims_about_the_same_pair_are_counted() -> None:
    file = read_claims(FILE.read_text("utf-8"), FILE.name)
    assert [c.name for c in file.claims][:3] == ["reverse: r -> p0", "reverse: r -> p0 (2)", "reverse: p0 -> r"]
