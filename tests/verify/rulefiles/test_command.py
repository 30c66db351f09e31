"""`indexproof prove FILE` on rule files: reports, exit statuses, cache, single points, mistakes and JSON."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner

from indexproof.cli import app
from indexproof.verify.budget import Budget
from indexproof.verify.obligation import Obligation
from indexproof.verify.proving import prove_all
from indexproof.verify.rulefiles import parse_rules, read_rule_file, rules_to_json, stated_rule_obligations
from indexproof.verify.verdict import Status
from json_forms import FORMS

PAGE = Path(__file__).parents[3] / "reports/rule_files.md"
RULES = """\
semantics euclid0
int x, y
const c0, c1
whole: (x / c0) * c0 + x % c0 -> x if c0 != 0
nested: (x / c0) / c1 -> x / fold(c0 * c1) if c1 > 0
spare: (x / c0) / c1 -> x / fold(c0 * c1) if c0 > 0, c1 > 0
sums: x + y -> y + x
"""
Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run a command line in this process with its own cache; return status, output and errors."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv("INDEXPROOF_CACHE", raising=False)
    monkeypatch.delenv("INDEXPROOF_DEBUG", raising=False)

    def invoke(*words: object, stdin: str = "") -> tuple[int, str, str]:
        done = CliRunner().invoke(app, [str(w) for w in words], input=stdin)
        assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
        return done.exit_code, done.stdout, done.stderr

    return invoke


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "some.rules"
    path.write_text(RULES, "utf-8")
    return path


# ------------------------------------------------------------------------------------------------------ reports
def test_every_rule_has_a_line(run: Run, file: Path) -> None:
    status, out, _ = run("prove", file, "--jobs", 1)
    assert status == 1
    head, *rows = out.split("\n\n")[0].splitlines()
    assert head.split()[:5] == ["verdict", "rule", "by", "resources", "time"]
    lines = {row.split()[1]: row for row in rows}
    assert list(lines) == ["whole", "nested", "spare", "sums"]
    assert lines["whole"].startswith("PROVED   whole   identity")
    assert lines["nested"].startswith("REFUTED  nested")
    assert re.search(r"true without them\):\n  spare +c1 > 0\n", out)
    assert re.search(r"REFUTED  4 claims, 4 obligations of which 1 REFUTED", out.splitlines()[-1])


@pytest.mark.parametrize("bits", [1000, 1024, 1025, 4096])
def test_machine_integers_beyond_floating_point_numbers(run: Run, bits: int) -> None:
    """Machine integers too wide for floats cause no warning, although points are then ordered only approximately."""
    text = (
        f"integers {bits} bits undefined\nint x, y, z\nright: (x + y) - y -> x\nwrong: x + z - y -> (x + z - y - y) + y"
    )
    status, out, err = run("prove", "-", "--jobs", 1, stdin=text)
    assert (status, err) == (1, "")
    assert [line.split()[0] for line in out.splitlines()[1:3]] == ["PROVED", "REFUTED"]


def test_a_false_rule_is_answered_in_its_own_words(run: Run, file: Path) -> None:
    _, out, _ = run("prove", file, "nested", "--jobs", 1)
    block = out[out.index("REFUTED  nested   ") :].splitlines()
    assert block[0].endswith("some.rules:5")
    told = [line.strip().split(maxsplit=1) for line in block[1:] if line.startswith("  ")]
    assert ["take", "x = 1, c0 = -1, c1 = 2"] in told
    assert ["left", "x / c0 / c1 = -1"] in told
    assert ["right", "x / fold(c0 * c1) = 0"] in told
    assert ["holds", "c1 > 0"] in told
    assert ["repair", "true with the condition  c0 >= 0"] in told
    again = dict(told)["again"]
    status, out, _ = run(*shlex.split(again)[1:])
    assert status == 1
    assert "this is a counterexample" in out


def test_one_point(run: Run, file: Path) -> None:
    assert run("prove", file, "nested", "--at", "x=4,c0=2,c1=2")[0] == 0
    status, out, _ = run("prove", file, "nested", "--at", "x=1,c0=-1,c1=2", "--json")
    assert status == 1
    data = json.loads(out)
    assert set(data) == set(FORMS["prove --at"])
    (entry,) = data["obligations"]
    assert entry["here"] == "counterexample"
    assert {"side": "left", "term": "x / c0 / c1", "value": -1} in entry["subterms"]
    assert run("prove", file, "nested", "--at", "x=1,c0=-1,c1=-2")[0] == 2
    for words in (("nested", "--at", "x=1"), ("nested", "--at", "w=1"), ("--at", "x=1,c0=1,c1=1")):
        assert run("prove", file, *words)[0] == 3


def test_truth_values_and_missing_values_are_shown(run: Run) -> None:
    text = "int x\nbool p\nr: select(p, 1 / x, 2) -> 1 / x"
    status, out, _ = run("prove", "-", "--jobs", 1, stdin=text)
    assert status == 1
    assert "UNDEFINED  r" in out
    assert "take     x = 0, p = false" in out
    assert "1 / x = no value: division by zero" in out


def test_the_report_is_json_with_the_documented_keys(run: Run, file: Path) -> None:
    status, out, _ = run("prove", file, "--json", "--jobs", 1)
    data = json.loads(out)
    assert (status, data["exit_status"], data["verdict"]) == (1, 1, "REFUTED")
    assert set(data) == set(FORMS["prove FILE"])
    rules = {r["name"]: r for r in data["rules"]}
    assert rules["nested"]["counterexample"] == {"x": 1, "c0": -1, "c1": 2}
    assert rules["nested"]["repairs"] == ["c0 >= 0"]
    assert rules["spare"]["redundant"] == ["c1 > 0"]
    assert rules["whole"]["passes"] is True
    assert rules["whole"]["semantics"] == "euclid0"
    again = json.loads(run("prove", file, "--json", "--jobs", 2, "--no-cache")[1])
    data.pop("timing")
    again.pop("timing")
    assert again == data


def test_what_decides_nothing_can_be_left_out(run: Run, file: Path) -> None:
    known = json.loads(run("prove", file, "--json", "--jobs", 1)[1])["rules"]
    status, out, _ = run("prove", file, "--json", "--jobs", 1, "--no-findings")
    assert status == 1
    for a, b in zip(known, json.loads(out)["rules"], strict=True):
        assert {"redundant", "unsettled", "overflows", "overflows_unsettled"} == set(a) - set(b)
        assert {k: a[k] for k in b} | {"again": ""} == b | {"again": ""}
    assert "besides" in run("prove", file)[1]
    assert "besides" not in run("prove", file, "--no-findings")[1]


def test_a_json_file_is_proved_like_a_text_file(run: Run, file: Path, tmp_path: Path) -> None:
    other = tmp_path / "same.json"
    other.write_text(rules_to_json(read_rule_file(RULES, "some.rules")), "utf-8")
    first, second = (json.loads(run("prove", f, "--json", "--jobs", 1)[1])["rules"] for f in (file, other))
    for a, b in zip(first, second, strict=True):
        assert {k: a[k] for k in a if k not in ("where", "again")} == {
            k: b[k] for k in b if k not in ("where", "again")
        }


@pytest.mark.parametrize(("text", "status"), [
    ("int x\nr: x -> x", 0),
    ("int x\nr: x -> x + 1", 1),
    ("int x\nr: x -> x + 1 if x < x", 1),
    ("int x\nr: x -> x / 0", 1),
    ("int x\nr: x -> ", 3),
    ("", 3),
])  # fmt: skip
def test_exit_statuses(run: Run, text: str, status: int) -> None:
    assert run("prove", "-", "--jobs", 1, stdin=text)[0] == status


# -------------------------------------------------------------------------------------------------------- cache
def test_a_run_goes_on_where_it_stopped(run: Run, file: Path, tmp_path: Path) -> None:
    run("prove", file, "whole", "spare", "--jobs", 1)
    data = json.loads(run("prove", file, "--json", "--jobs", 1)[1])
    assert data["timing"]["from_cache"] == 9  # two rules with three conditions, and two machine types
    # the cached verdict depends on the statement of a rule, not on its name and place
    file.write_text(RULES.replace("whole:", "\n\nrenamed:").replace("int x", "int z, x"), "utf-8")
    data = json.loads(run("prove", file, "renamed", "--json", "--jobs", 1)[1])
    assert data["timing"]["from_cache"] == 4
    file.write_text(RULES.replace("c0 != 0", "c0 > 0"), "utf-8")
    assert json.loads(run("prove", file, "whole", "--json", "--jobs", 1)[1])["timing"]["from_cache"] == 0


@pytest.mark.parametrize("change", [
    ("semantics euclid0", "semantics euclid"),
    ("int x, y", "integers 32 bits wrap\nint x, y"),
    ("int x, y", "int x, y in [0, 9]"),
    ("semantics euclid0", "semantics quotient euclid0 remainder trunc0"),
])  # fmt: skip
def test_meanings_do_not_share_verdicts(run: Run, file: Path, change: tuple[str, str]) -> None:
    run("prove", file, "--jobs", 1)
    file.write_text(RULES.replace(*change), "utf-8")
    assert json.loads(run("prove", file, "--json", "--jobs", 1)[1])["timing"]["from_cache"] == 0


def test_a_point_that_no_variable_can_have_is_named(run: Run, file: Path) -> None:
    file.write_text("integers 8 bits\nint x\nint y in [0, 9]\nr: x + y -> y + x\n", "utf-8")
    for at, said in (
        ("x=128,y=1", "x = 128 is no integer of 8 bits"),
        ("x=1,y=10", "y = 10 lies outside [0, 9]"),
        ("x=1,y=9", "sound: holds here"),
    ):
        status, out, _ = run("prove", file, "r", "--at", at)
        assert said in out
        assert status == (0 if "holds" in said else 2)


# --------------------------------------------------------------------------------------------------- many rules
def test_many_rules_in_several_processes(capsys: pytest.CaptureFixture[str], run: Run, tmp_path: Path) -> None:
    lines = ["semantics euclid0", "int x, y"]
    lines += [f"r{k}: (x * {k} + y) / {k} -> x + y / {k}" for k in range(1, 60)]
    lines += [f"s{k}: (x + {k}) % {k + 1} -> (x - 1) % {k + 1}" for k in range(1, 60)]
    path = tmp_path / "many.rules"
    path.write_text("\n".join(lines), "utf-8")
    status, out, err = run("prove", path, "--jobs", 2, "--no-cache")
    assert status == 0
    assert out.splitlines()[-1].startswith("PROVED  118 claims, 118 obligations, all proved")
    assert err.splitlines()[-1].startswith("100%  354 of 354 obligations")


def test_verdicts_do_not_depend_on_processes_or_order() -> None:
    rules = parse_rules(RULES)
    todo: list[Obligation] = [o for r in rules for o in stated_rule_obligations(r)] * 2
    one = prove_all(todo, jobs=1)
    two = prove_all(todo[::-1], jobs=2)
    assert [r.verdict for r in one.results] == [r.verdict for r in two.results][::-1]
    assert one.status is Status.REFUTED


def test_what_is_stated_is_also_an_ordinary_obligation() -> None:
    sound, needs, *wide = stated_rule_obligations(parse_rules(RULES)[0])
    assert sound.source == needs.source
    assert len({sound, needs, *wide}) == 4
    assert [o.bits for o in wide] == [32, 64]
    assert all(len(o.statement()) > len(sound.statement()) for o in wide)
    assert "source" not in sound.statement()
    assert sound.statement().startswith("true  ⊢  ")
    assert needs.statement().endswith("⊬  false")
    assert [v.name for v in sound.formula_variables()] == ["c0", "x"]
    assert sound.decided(Budget()).proved


# ----------------------------------------------------------------------------------------------------- mistakes
def test_mistakes_are_pointed_at(run: Run, file: Path, tmp_path: Path) -> None:
    file.write_text("int x\nr: x + -> x\n", "utf-8")
    status, out, err = run("prove", file)
    assert (status, out) == (3, "")
    assert f"in {file}: line 2, column 8: unexpected `->`; expected" in err
    assert err.splitlines()[-1].index("^") == 9
    assert run("prove", tmp_path / "nothing.rules")[0] == 3
    status, _, err = run("prove", "-", "no_such", stdin=RULES)
    assert status == 3
    assert "nothing in - is called `no_such`: there is `whole`, `nested`, " in err
    # names from the catalogue are not suggested for a file
    for wrong in ("transpos", "transfr", "lemma", "MINMAX_RULE"):
        said = run("prove", "-", wrong, stdin=RULES)[2]
        assert said.startswith(f"error: nothing in - is called `{wrong}`: there is `whole`, `nested`"), said
    said = run("prove", "-", "wohle: sound", stdin=RULES)[2]
    assert said == "error: nothing in - is called `wohle: sound`: did you mean `whole`?\n"
    for content in ("", "null", "# a comment"):
        other = tmp_path / "other.json"
        other.write_text(content, "utf-8")
        status, _, err = run("prove", other)
        assert status == 3
        assert "expected an object" in err or "expected a JSON value" in err
    declared = tmp_path / "mine.py"
    declared.write_text("", "utf-8")
    assert "mine.py declares nothing to prove" in run("prove", declared, file)[2]


# ----------------------------------------------------------------------------------------------------- expectations
def test_a_false_rule_may_be_expected(run: Run, file: Path) -> None:
    file.write_text("int x\nwrong: x + 1 -> x\nexpect REFUTED\nright: x + 0 -> x\nexpect PROVED\n", "utf-8")
    status, out, _ = run("prove", file, "--no-cache", "--jobs", 1)
    assert status == 0
    assert "REFUTED as expected  wrong" in out
    assert "PROVED  2 claims, 2 obligations, all proved" not in out.splitlines()[-1]
    assert "2 obligations, all as expected" in out.splitlines()[-1]
    _, out, _ = run("prove", file, "--no-cache", "--jobs", 1, "--json")
    assert [(r["verdict"], r["passes"], r["expected"]) for r in json.loads(out)["rules"]] == [
        ("REFUTED", True, "REFUTED"),
        ("PROVED", True, "PROVED"),
    ]


@pytest.mark.parametrize(("text", "status", "reason"), [
    ("r: x + 0 -> x\nexpect REFUTED", 1, "the file expects the verdict REFUTED"),
    ("r: x -> x if x < x\nexpect REFUTED", 1, "no integers satisfy the conditions"),
    ("r: x + 1 -> x\nexpect PROVED", 1, "REFUTED  r"),
])  # fmt: skip
def test_what_is_not_as_expected_fails(run: Run, file: Path, text: str, status: int, reason: str) -> None:
    file.write_text(f"int x\n{text}\n", "utf-8")
    for _ in range(2):  # first proved, then read from the cache
        found, out, _ = run("prove", file, "--jobs", 1)
        assert found == status
        assert reason in out


def test_what_is_undecided_is_no_refutation(run: Run, file: Path) -> None:
    cubes = "r: x * x * x + y * y * y == z * z * z -> false if x > 0, y > 0, z > 0"
    file.write_text(f"int x, y, z\n{cubes}\nexpect REFUTED\n", "utf-8")
    assert run("prove", file, "--no-cache", "--jobs", 1, "--budget", "0.01")[0] == 2


# ----------------------------------------------------------------------------------------------------- document
def _blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)


def test_the_examples_of_the_document(run: Run) -> None:
    stated = [b for b in _blocks("text") if "->" in b and not b.startswith("# division.rules")]
    assert len(stated) == 3
    for text in (*stated, *_blocks("json")):
        status, out, _ = run("prove", "-", "--jobs", 1, stdin=text)
        assert status == 0, out


def test_the_sessions_of_the_document(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    first, *others = _blocks("console")
    (text,) = (b for b in _blocks("text") if b.startswith("# division.rules"))
    rest = first.removeprefix("$ indexproof prove division.rules --no-cache; echo $?\n")
    assert rest != first
    (tmp_path / "division.rules").write_text(text, "utf-8")
    status, out, _ = run("prove", "division.rules", "--no-cache")

    def plain(said: str) -> list[str]:
        return [re.sub(r"[\d.]+ m?s\b|  +", " ", line).split("on ")[0] for line in said.splitlines()]

    assert plain(out) == plain(rest)[:-1]
    assert str(status) == rest.splitlines()[-1]
    sessions = "".join(others).split("$ printf ")[1:]
    assert len(sessions) == 3
    for session in sessions:
        command, *said = session.partition("\n$ ")[0].rstrip().splitlines()
        quoted = shlex.split(command.partition(" | ")[0])[0].replace("\\n", "\n")
        status, out, err = run("prove", "-", stdin=quoted)
        if command.endswith("grep int"):
            assert [line for line in out.splitlines() if "int" in line] == said
            continue
        assert str(status) == said[-1]
        assert err.startswith(said[0].partition("mul")[0].rstrip("…").partition(", …")[0])


def test_of_very_deep_terms_the_outermost_are_shown(run: Run, file: Path) -> None:
    """The output about a false rule grows linearly with the length of the rule."""
    file.write_text("int x\nr: " + "-" * 4001 + "x -> x\n", "utf-8")
    status, out, _ = run("prove", file, "--no-cache", "--jobs", 1)
    assert status == 1
    assert "take     x = 1" in out
    assert len(out) < 20 * 4001
    file.write_text("int x\nr: " + " + ".join(["x"] * 200) + " -> x\n", "utf-8")
    lines = [line for line in run("prove", file, "--no-cache", "--jobs", 1)[1].splitlines() if "  left" in line]
    assert 20 < len(lines) <= 64
    assert lines[-1].endswith("x = 200")
