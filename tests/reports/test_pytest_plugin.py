"""The pytest plugin and the assertions: claims are items, and only the expected verdict passes."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

from indexproof import parse_map
from indexproof.core.errors import InputError
from indexproof.core.op import Map, Op
from indexproof.reports.assertions import assert_equal_maps, assert_op_sound, assert_rule_sound
from indexproof.rules.division import multiple_leaves_quotient
from indexproof.rules.ops.movement import Reverse, Transpose

RULES = """int x
const c
whole: (x / c) * c + x % c -> x if c != 0
half: (x + 1) / 2 -> x / 2
"""
CLAIMS = """hlo strided
  p0 = f32[10, 20] parameter(0)
  s = f32[5, 3] slice(p0), slice={[5:10:1], [3:20:7]}

s -> p0 :
  (d0, d1) -> (d0 + 5, d1 * 7 + 3)

p0 -> s :
  (d0, d1) -> (d0 - 5, (d1 - 3) floordiv 7), domain: d0 in [5, 9], d1 in [3, 17]
expect REFUTED

s -> p0 :
  (d0, d1) -> (d0 + 5, d1 * 7 + 4)
"""
RULES_IN_PYTHON = """from indexproof.core.rewrite import Const, Expr, Rewrite, rule


@rule()
def quotient_of_a_multiple(x: Expr, d: Const) -> Rewrite:
    \"\"\"A multiple of the divisor.\"\"\"
    return Rewrite((x * d) // d, x, when=[d > 0])


@rule()
def quotient_of_the_next(x: Expr, d: Const) -> Rewrite:
    \"\"\"One more than a multiple, which is wrong for a divisor of one.\"\"\"
    return Rewrite((x * d + 1) // d, x, when=[d > 0])
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Write a repository with three files of claims and an ordinary test."""
    (tmp_path / "division.rules").write_text(RULES, "utf-8")
    (tmp_path / "slices.claims").write_text(CLAIMS, "utf-8")
    (tmp_path / "my_rules.py").write_text(RULES_IN_PYTHON, "utf-8")
    (tmp_path / "test_usual.py").write_text("def test_usual():\n    pass\n", "utf-8")
    return tmp_path


def run(folder: Path, *words: str) -> tuple[int, str]:
    """Run pytest in a new process and return its exit status and output."""
    env = {**os.environ, "INDEXPROOF_CACHE": str(folder / "cache.sqlite"), "COLUMNS": "120"}
    command = [sys.executable, "-m", "pytest", "-q", *words]
    done = subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


def test_an_item_for_each_claim(folder: Path) -> None:
    status, out = run(folder, "-rA", "--junitxml=r.xml", "division.rules", "slices.claims")
    assert status == 1
    assert "PASSED division.rules::whole" in out
    assert "REFUTED  half   division.rules:4" in out
    assert "take     x = 1" in out
    # a claim that is expected to be refuted passes when it is
    assert "PASSED slices.claims::strided: p0 -> s" in out
    assert "REFUTED  strided: s -> p0 (2)   slices.claims:12   expected PROVED" in out
    assert "(d0, d1) -> (d0 + 5, d1 * 7 + 3)" in out
    assert "2 failed, 3 passed" in out
    cases = {c.get("name"): c for c in ElementTree.parse(folder / "r.xml").iter("testcase")}
    assert len(cases) == 5
    (failure,) = cases["half"].iter("failure")
    assert "division.rules:4" in (failure.text or "")
    verdicts = [p.get("value") for p in cases["half"].iter("property")]
    assert verdicts == ["REFUTED"]
    # `--lf` runs only failures, `-k` only selected claims
    status, out = run(folder, "--lf", "division.rules", "slices.claims")
    assert "2 failed" in out
    assert "passed" not in out
    status, out = run(folder, "-k", "half", "division.rules", "slices.claims")
    assert "1 failed, 4 deselected" in out


def test_what_a_repository_declares(folder: Path) -> None:
    settings = '[tool.indexproof]\nrules = ["*.rules"]\npython = ["my_rules.py"]\n'
    (folder / "pyproject.toml").write_text(settings, "utf-8")
    # in one process and in two
    for words in ((), ("-n", "2")):
        status, out = run(folder, "--indexproof", "test_usual.py", *words)
        assert status == 1
        assert "2 failed, 3 passed" in out
        assert "my_rules.py:10" in out
        assert "REFUTED  quotient_of_the_next" in out
        assert "d = 1" in out
        # paths in the printed command are relative to the working directory
        (folder / "below").mkdir(exist_ok=True)
        assert "prove ../my_rules.py quotient_of_the_next" in run(folder / "below", "..", "--indexproof", *words)[1]
    # without the option only the named files are collected
    assert "1 passed" in run(folder, "test_usual.py")[1]
    assert "2 failed, 3 passed" in run(folder, ".")[1]
    (folder / "pyproject.toml").write_text("[tool.indexproof]\nrulez = []\n", "utf-8")
    status, out = run(folder, ".")
    assert status == 4
    assert "has no key `rulez`" in out


def test_patterns_and_statements_that_cannot_be_read(folder: Path) -> None:
    (folder / "pytest.ini").write_text("[pytest]\nindexproof_files = *.rules *.claims\n", "utf-8")
    (folder / "division.rules").write_text(RULES + "bad: x + -> x\n", "utf-8")
    status, out = run(folder, "--deselect", "slices.claims::strided: s -> p0 (2)")
    assert status == 1
    assert "2 failed, 4 passed, 1 deselected" in out
    assert "ILL-FORMED   division.rules:5" in out
    assert "REFUTED  half   division.rules:4" in out


def test_starting_pytest_loads_nothing(folder: Path) -> None:
    code = (
        "import sys, pytest\n"
        "status = pytest.main(['-q', '-p', 'no:cacheprovider', 'test_usual.py'])\n"
        "heavy = {'z3', 'numpy', 'islpy', 'typer', 'rich', 'jax'} & sys.modules.keys()\n"
        "ours = sorted(m for m in sys.modules if m.startswith('indexproof'))\n"
        "assert not status and not heavy, heavy\n"
        "assert ours == ['indexproof', 'indexproof.reports', 'indexproof.reports.pytest_plugin'], ours\n"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


# ------------------------------------------------------------------------------------------------- assertions
LEFT = parse_map("(d0) -> (d0 floordiv 4), domain: d0 in [0, 99]")


def test_equal_maps() -> None:
    assert_equal_maps(LEFT, parse_map("(d0) -> (d0 floordiv 2 floordiv 2), domain: d0 in [0, 99]"))
    with pytest.raises(AssertionError, match=r"(?s)REFUTED.*d0 = 2") as error:
        assert_equal_maps(LEFT, parse_map("(d0) -> (d0 floordiv 2), domain: d0 in [0, 99]"))
    assert "0" in str(error.value)


def test_equal_relations_are_not_equal_at_every_point() -> None:
    forwards = parse_map("(d0)[s0] -> (d0 + s0), domain: d0 in [0, 3], s0 in [0, 4]")
    backwards = parse_map("(d0)[s0] -> (d0 - s0 + 4), domain: d0 in [0, 3], s0 in [0, 4]")
    assert_equal_maps(forwards, backwards)
    with pytest.raises(AssertionError, match="REFUTED"):
        assert_equal_maps(forwards, backwards, mode="pointwise")


def test_maps_of_which_nothing_is_known_are_no_success(monkeypatch: pytest.MonkeyPatch) -> None:
    from indexproof.reports import assertions
    from indexproof.verify.concrete import Answer
    from indexproof.verify.verdict import Status

    monkeypatch.setattr(assertions, "equal_maps", lambda *_, **__: Answer(Status.UNDECIDED, "none"))
    with pytest.raises(AssertionError, match="UNDECIDED"):
        assert_equal_maps(LEFT, LEFT)


def test_rules() -> None:
    from indexproof.core.rewrite import Const, Expr, Rewrite, rule

    @rule()
    def quotient_of_the_next(x: Expr, d: Const) -> Rewrite:
        """One more than a multiple, which is wrong for a divisor of one."""
        return Rewrite((x * d + 1) // d, x, when=[d > 0])

    assert_rule_sound(multiple_leaves_quotient)
    with pytest.raises(AssertionError, match=r"(?s)REFUTED  quotient_of_the_next.*d = 1") as error:
        assert_rule_sound(multiple_leaves_quotient, quotient_of_the_next)
    assert "test_pytest_plugin.py" in str(error.value)
    with pytest.raises(InputError, match="nothing to prove"):
        assert_rule_sound()


def test_ops() -> None:
    class Mirrored(Reverse):
        """Runs backwards only on the way out."""

        name = "mirrored"

        def input_to_output(self, k, i, rt, x):
            return Map(list(i))

    assert_op_sound(Transpose, max_rank=2)
    with pytest.raises(AssertionError, match="REFUTED"):
        assert_op_sound(Mirrored, max_rank=1)

    class Nothing(Transpose):
        cases = Op.cases

    with pytest.raises(InputError, match="Nothing has no cases up to rank 4"):
        assert_op_sound(Nothing)
