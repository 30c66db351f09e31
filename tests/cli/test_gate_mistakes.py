"""Sixty mistakes in the example repository: each fails the gate at the right place, with one block of text."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from indexproof.reports.example import BASE, FILES
from indexproof.reports.exchange import WRITERS
from indexproof.reports.gate import Gate, gate_text, run_gate
from indexproof.reports.settings import settings_of
from indexproof.verify.cache import Cache
from indexproof.verify.proving import prove_all

RULES, SIMPLIFY, OPS = "rules/division.rules", "indexing/simplify.py", "indexing/ops.py"
CLAIMS, HLO, SETTINGS = "claims/slices.claims", "hlo/small.hlo", "pyproject.toml"
SECOND = "@rule()\ndef remainder"
NEGATE = "section More\nhlo more\n  p = f32[4] parameter(0)\n  n = f32[4] negate(p)\n"

#: File, old text, new text, verdict, and the beginning of the reported line, in the file before or after the change.
MISTAKES: list[tuple[str, str, str, str, str]] = [
    # wrong conditions
    (RULES, "0 <= y, y < c0", "0 <= y", "REFUTED", "small:"),
    (RULES, "0 <= y, y < c0", "y < c0", "REFUTED", "small:"),
    (RULES, "y < c0", "y <= c0", "REFUTED", "small:"),
    (RULES, "0 <= y", "-1 <= y", "REFUTED", "small:"),
    (RULES, "if c1 > 0", "if c1 != 0", "REFUTED", "nested:"),
    (RULES, " if c1 > 0", "", "REFUTED", "nested:"),
    (SIMPLIFY, "d > 0, g.divides(d)", "d > 0, g > 0, g <= d", "REFUTED", "@rule"),
    (SIMPLIFY, "when=(d > 0, g.divides(d), ", "when=(g.divides(d), ", "REFUTED", "@rule"),
    (SIMPLIFY, "r.within(0, g - 1)", "r.within(0, g)", "REFUTED", "@rule"),
    (SIMPLIFY, "r.within(0, g - 1)", "r.within(-1, g - 1)", "REFUTED", "@rule"),
    # wrong right-hand sides
    (RULES, "-> x + y\n", "-> x - y\n", "REFUTED", "select_least:"),
    (RULES, "x / (c0 * c1)", "x / (c0 + c1)", "UNDEFINED", "nested:"),
    (RULES, "-> x if 0", "-> x + 1 if 0", "REFUTED", "small:"),
    (RULES, "max(min(x, 10), 0)", "max(min(x, 0), 10)", "REFUTED", "clamp:"),
    (RULES, "max(min(x, 10), 0)", "max(min(x, 9), 0)", "REFUTED", "clamp:"),
    (RULES, "x + y - y -> x\n", "x + y - y -> y\n", "REFUTED", "there_and_back:"),
    (RULES, "max(x, y) -> x + y", "max(x, x) -> x + y", "REFUTED", "select_least:"),
    (RULES, "wrap\n", "wrap\ndouble: (x * 2) / 2 -> x\n", "REFUTED", "double:"),
    (RULES, "wrap\n", "wrap\nlarger: max(x + 1, x) -> x + 1\n", "REFUTED", "larger:"),
    (SIMPLIFY, "x // (d // g),", "x // d,", "REFUTED", "@rule"),
    (SIMPLIFY, "r % d, when", "r, when", "REFUTED", SECOND),
    # rules that say nothing because their conditions contradict each other
    (RULES, "y < c0", "y < c0, c0 < 1", "VACUOUS", "small:"),
    (RULES, "c1 > 0", "c1 > 0, c1 < 1", "VACUOUS", "nested:"),
    (SIMPLIFY, "d > 0, g.divides(d)", "d > 0, d < 0, g.divides(d)", "VACUOUS", "@rule"),
    # wrong maps of an op
    (OPS, "o[d] - self.shift) % x[d]", "o[d] + self.shift) % x[d]", "REFUTED", "@op"),
    (OPS, "i[d] + self.shift) % x[d]", "i[d] - self.shift) % x[d]", "REFUTED", "@op"),
    (OPS, "(o[d] - self.shift) % x[d]", "o[d] - self.shift", "REFUTED", "@op"),
    (OPS, "+ self.shift - o[d])", "- self.shift - o[d])", "REFUTED", "@op"),
    (OPS, "lift(n) for n", "lift(n) + 1 for n", "REFUTED", "@op"),
    # wrong maps of claims
    (CLAIMS, "d0 + 5, d1 * 7 + 3", "d0 + 5, d1 * 6 + 3", "REFUTED", "s -> p0"),
    (CLAIMS, "d0 + 5, d1 * 7 + 3", "d0 + 4, d1 * 7 + 3", "REFUTED", "s -> p0"),
    (CLAIMS, "d0 + 5, d1 * 7 + 3", "d1 * 7 + 3, d0 + 5", "REFUTED", "s -> p0"),
    (CLAIMS, ", (d1 - 3) mod 7 in [0, 0]", "", "REFUTED", "p0 -> s"),
    (CLAIMS, "d0 in [5, 9]", "d0 in [5, 8]", "REFUTED", "p0 -> s"),
    (CLAIMS, "d0 in [5, 9]", "d0 in [4, 9]", "REFUTED", "p0 -> s"),
    (CLAIMS, "d0 - 20 *", "d0 - 21 *", "REFUTED", "claim rows_of_twenty"),
    (CLAIMS, "d0 floordiv 20, d0 mod 20", "d0 floordiv 20, d0 mod 19", "REFUTED", "claim rows_of_twenty"),
    (CLAIMS, "d1 in [0, 19]", "d1 in [0, 20]", "REFUTED", "claim a_digit\n"),
    (CLAIMS, "to (d0, d1) -> (d0, d1)", "to (d0, d1) -> (d1, d0)", "REFUTED", "claim a_digit\n"),
    # expectations
    (RULES, "\nexpect REFUTED", "", "REFUTED", "halving_doubles:"),
    (RULES, "(x * 2) / 2 -> x\n", "(x * 1) / 1 -> x\n", "PROVED", "halving_doubles:"),
    (RULES, "y < c0\n", "y <= c0\nexpect REFUTED\n", "LOST", "small:"),
    (RULES, "semantics floor", "semantics trunc", "REFUTED", "small:"),
    (CLAIMS, "expect REFUTED\n", "", "REFUTED", "claim a_digit_too_many"),
    (CLAIMS, "d0 mod 21", "d0 mod 20", "PROVED", "claim a_digit_too_many"),
    (CLAIMS, "to (d0, d1) -> (d0, d1)\n", "to (d0, d1) -> (d0, d1)\nexpect REFUTED\n", "PROVED", "claim a_digit\n"),
    (CLAIMS, "d0 - 20 * (d0 floordiv 20))\n", "d0 - 21 * (d0 floordiv 20))\nexpect REFUTED\n", "LOST", "claim rows_of"),
    # lost claims
    (RULES, "select_least: min(x, y) + max(x, y) -> x + y\n", "", "MISSING", "select_least:"),
    (RULES, "nested:", "nested_quotients:", "MISSING", "nested:"),
    (RULES, "clamp: min", "# clamp: min", "MISSING", "clamp:"),
    (SIMPLIFY, "def remainder_of_multiple", "def remainder", "MISSING", SECOND),
    (CLAIMS, "claim rows_of_twenty", "claim rows", "MISSING", "claim rows_of_twenty"),
    (HLO, "ENTRY main", "ENTRY other", "MISSING", "ENTRY main"),
    (SETTINGS, "floor = 15", "floor = 16", "BELOW FLOOR", "floor = 16"),
    # malformed files
    (RULES, "(x * c0 + y)", "(x * c0 + y", "ILL-FORMED", "small:"),
    (RULES, "if c1 > 0", "if c2 > 0", "ILL-FORMED", "nested:"),
    (RULES, "min(max(x, 0), 10)", "min(max(x, 0), 1000)", "ILL-FORMED", "clamp:"),
    (RULES, "int x, y", "int x, 3y", "ILL-FORMED", "int x, 3y"),
    (SIMPLIFY, "r % d, when=(d > 0,))", "r % d, when=(d > 0,)", "ILL-FORMED", "return Rewrite((x * d + r)"),
    (SIMPLIFY, "import Const, Expr, Rest, Rewrite, rule", "import Konst, rule", "ILL-FORMED", "import Konst"),
    (OPS, "Map([(o[d] - self.shift)", "Map([(o[d] - self.shift_by)", "ILL-FORMED", "self.shift_by"),
    (OPS, '*symbols("t", 1)', '*symbols("t", 0)', "ILL-FORMED", "cls(*symbols"),
    (CLAIMS, "claim a_digit\n", "claim\n", "ILL-FORMED", "claim\n"),
    (CLAIMS, "\n  == (d0)", "\n  = (d0)", "ILL-FORMED", "  = (d0)"),
    (CLAIMS, "s = f32[5, 3] slice", "s = f32[5, 4] slice", "ILL-FORMED", "f32[5, 4]"),
    (CLAIMS, "s -> p0", "s -> q0", "ILL-FORMED", "s -> q0"),
    (CLAIMS, "section Maps", NEGATE, "ILL-FORMED", "hlo more"),
    (HLO, "f32[10,10] slice", "f32[10,11] slice", "REFUTED", "f32[10,11] slice"),
    (HLO, "dimensions={1,0}", "dimensions={1,1}", "REFUTED", "dimensions={1,1}"),
    (HLO, "slice(t)", "slice(u)", "ILL-FORMED", "slice(u)"),
    (SETTINGS, 'hlo/*.hlo"', 'hlo/*.hlo", "more/*.hlo"', "ILL-FORMED", "more/*.hlo"),
]


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cache]:
    with Cache(tmp_path_factory.mktemp("cache") / "verdicts.sqlite") as cache:
        yield cache


def gate(folder: Path, kept: Cache, base: str = BASE) -> Gate:
    settings = replace(settings_of(folder), base=base, max_rank=2)
    return run_gate(settings, partial(prove_all, cache=kept, jobs=1), cache=kept)


@pytest.fixture(scope="module")
def example(tmp_path_factory: pytest.TempPathFactory, kept: Cache) -> Path:
    folder = tmp_path_factory.mktemp("example")
    for name, text in FILES.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, "utf-8")
    found = gate(folder, kept, base="")
    assert (found.exit_status, found.proved) == (0, 15), "\n".join(gate_text(found))
    (folder / BASE).write_text(WRITERS[".json"](found), "utf-8")
    return folder


def line_of(text: str, part: str) -> int:
    return text[: text.index(part)].count("\n") + 1


@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda m: f"{m[0]}: {m[2][:30]!r} for {m[1][:30]!r}")
def test_a_mistake_fails_the_gate(mistake: tuple[str, ...], example: Path, kept: Cache, tmp_path: Path) -> None:
    name, old, new, verdict, at = mistake
    folder = tmp_path / "copy"
    shutil.copytree(example, folder)
    before = FILES[name]
    assert before.count(old) >= 1
    after = before.replace(old, new, 1)
    (folder / name).write_text(after, "utf-8")
    found = gate(folder, kept)
    shown = "\n\n".join(gate_text(found))
    assert found.exit_status in (1, 3), shown
    assert [i.verdict for i in found.failed] == [verdict], shown
    (item,) = found.failed
    text = before if verdict == "MISSING" else after
    assert (item.file, item.line) == (name, line_of(text, at)), shown
    assert item.column >= 1
    assert item.text.startswith(f"{verdict}  "), shown
    assert f"{name}:{item.line}" in item.text.split("\n")[0]
    assert len(list(gate_text(found))) == 2
