"""Integers beyond the range of floats and Python's limit on printing get answers or refusals, not internal errors."""

from __future__ import annotations

from typing import Any

import pytest

from indexproof import parse_map, width
from indexproof.verify.isl_form import from_isl, to_isl

A = "9" * 400
B = "7" * 5000
MAPS = [
    f"(d0) -> (d0), domain: d0 in [0, {A}]",
    f"(d0) -> (d0 mod {B}), domain: d0 in [0, 9]",
    f"(d0) -> (d0 floordiv 3 - {B}), domain: d0 in [-{A}, {B}]",
    f"(d0, d1) -> ((d0 * 3 - d1) floordiv {A}), domain: d0 in [0, {A}], d1 in [0, {A}], d0 + d1 * 7 in [3, {B}]",
    f"(d0)[s0] -> (d0 * {A} + s0), domain: d0 in [0, 3], s0 in [0, {A}], s0 mod 7 in [2, 2]",
]


@pytest.mark.parametrize("text", MAPS)
@pytest.mark.parametrize("options", [[], ["--json"]], ids=["text", "json"])
def test_every_command_on_maps_answers(run: Any, text: str, options: list[str]) -> None:
    for words in (
        ["simplify", text],
        ["simplify", "--validate", text],
        ["simplify", "--explain", text],
        ["width", text],
        ["equal", text, text],
        ["equal", text, text.replace("-> (d0", "-> (d0 + 1")],
        ["equal", text, text.replace("-> (d0", "-> (-d0")],
    ):
        outcome = run(*words, *options)
        assert outcome.status in (0, 1, 2), (words[0], outcome.err[-300:])


@pytest.mark.parametrize("to", ["text", "json", "python", "c", "mlir", "isl"])
@pytest.mark.parametrize("text", MAPS)
def test_every_form_answers_or_refuses(run: Any, text: str, to: str) -> None:
    outcome = run("convert", "--to", to, text)
    assert outcome.status in (0, 3), outcome.err[-300:]


def test_the_width_is_right() -> None:
    assert width(parse_map(MAPS[0])).bits is None
    assert width(parse_map(MAPS[0])).overflows[0].value == 2**31
    assert width(parse_map(f"(d0) -> (d0), domain: d0 in [0, {A}], d0 * 3 in [0, 15]")).bits == 32


def test_isl_and_back() -> None:
    m = parse_map(f"(d0) -> (d0 floordiv 3), domain: d0 in [-{A}, {A}]")
    assert from_isl(to_isl(m)).evaluate([-int(A)]) == (-int(A) // 3,)
