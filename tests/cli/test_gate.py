"""The gate of a repository: its inputs, its reasons to fail, and the comparison with a base."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest

from .conftest import Run, git

RULES = """semantics floor
int x, y
const c
whole: (x * c + y) / c -> x + y / c if c > 0
nothing: x + 0 -> x
"""
CLAIMS = """claim same
  (d0) -> (d0), domain: d0 in [0, 9] == (d0) -> (d0 * 1), domain: d0 in [0, 9]
"""
SETTINGS = """[tool.indexproof]
rules = ["*.rules"]
claims = ["*.claims"]
"""


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "my.rules").write_text(RULES, "utf-8")
    (tmp_path / "my.claims").write_text(CLAIMS, "utf-8")
    (tmp_path / "pyproject.toml").write_text(SETTINGS, "utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("GITHUB_ACTIONS", raising=False)
    return tmp_path


def test_a_repository_passes(run: Run, repository: Path) -> None:
    done = run("gate", "--json")
    data = json.loads(done.out)
    assert (done.status, data["verdict"]) == (0, "PASSED")
    places = [(c["name"], c["file"], c["line"], c["column"], c["verdict"]) for c in data["claims"]]
    assert places == [
        ("whole", "my.rules", 4, 1, "PROVED"),
        ("nothing", "my.rules", 5, 1, "PROVED"),
        ("same", "my.claims", 1, 1, "PROVED"),
    ]


def test_an_ill_formed_statement_costs_only_itself(run: Run, repository: Path) -> None:
    (repository / "my.rules").write_text(RULES + "bad: x + -> x\nfalse_one: x + 1 -> x\n", "utf-8")
    (repository / "my.claims").write_text("claim bad\n  (d0 == (d0)\n\n" + CLAIMS, "utf-8")
    done = run("gate")
    assert done.status == 3
    assert "ILL-FORMED   my.rules:6" in done.out
    assert "REFUTED  false_one   my.rules:7" in done.out
    assert "ILL-FORMED   my.claims:2" in done.out
    assert "FAILED  6 claims, 3 as expected" in done.out


def test_an_op_without_a_map_costs_only_the_claims_through_it(run: Run, repository: Path) -> None:
    program = """hlo one
  p0 = f32[4] parameter(0)
  c = f32[4] custom-call(p0), custom_call_target="mine"
  n = f32[4] no-such-op(p0)
  m = f32[4] negate(p0)
m -> p0 : (d0) -> (d0)
c -> p0 : (d0) -> (d0)
n -> p0 : (d0) -> (d0)
expect REFUTED
"""
    (repository / "my.claims").write_text(program + CLAIMS, "utf-8")
    data = json.loads(run("gate", "--json").out)
    found = [(c["line"], c["verdict"]) for c in data["claims"] if c["file"] == "my.claims"]
    assert found == [(6, "PROVED"), (7, "ILL-FORMED"), (8, "ILL-FORMED"), (10, "PROVED")]


def test_an_expectation_is_that_of_its_claim(run: Run, repository: Path) -> None:
    # the `expect REFUTED` of an ill-formed claim must not apply to the claim before it
    lost = "claim lost\n  (d0 == (d0)\nexpect REFUTED\n"
    (repository / "my.claims").write_text(CLAIMS + lost, "utf-8")
    (repository / "my.rules").write_text(RULES + "lost: x + -> x\nexpect REFUTED\n", "utf-8")
    data = json.loads(run("gate", "--json").out)
    assert [(c["name"], c["expected"]) for c in data["claims"] if c["passes"]] == [
        ("whole", "PROVED"),
        ("nothing", "PROVED"),
        ("same", "PROVED"),
    ]
    assert [c["verdict"] for c in data["claims"] if not c["passes"]] == ["ILL-FORMED"] * 2


def test_what_the_base_has_must_be_there_and_proved(run: Run, repository: Path) -> None:
    assert run("gate", "--to", "base.json").status == 0
    (repository / "my.rules").write_text(
        RULES.replace("x + 0 -> x", "x + 1 -> x").replace("whole:", "renamed:"), "utf-8"
    )
    done = run("gate", "--base", "base.json", "--json")
    data = json.loads(done.out)
    assert done.status == 1
    assert [(c["name"], c["verdict"]) for c in data["broken"]] == [("whole", "MISSING")]
    assert [c["name"] for c in data["claims"] if not c["passes"]] == ["nothing"]
    assert run("gate", "--base", "base.json", "--without-base").status == 1  # the false rule alone makes the gate fail
    (repository / "my.rules").write_text(RULES, "utf-8")
    assert run("gate", "--base", "base.json").status == 0


CLAIM = {"name": "a", "kind": "rule", "file": "f", "line": 1, "column": 1, "verdict": "PROVED", "expected": "PROVED"}


@pytest.mark.parametrize(("document", "said"), [
    ("[" * 100_000, "the JSON ends too early"),
    ('{"claims": [1', "the JSON ends too early"),
    ("[]", "it has no claims"),
    ('{"claims": 3}', "it has no claims"),
    (json.dumps({"claims": [CLAIM, {**CLAIM, "name": []}]}), "claims[1] is no claim with name,"),
    (json.dumps({"claims": [{**CLAIM, "line": True}]}), "claims[0] is no claim"),
    (json.dumps({"claims": [{"name": "a"}]}), "claims[0] is no claim"),
])  # fmt: skip
def test_a_damaged_base_is_refused(run: Run, repository: Path, document: str, said: str) -> None:
    (repository / "base.json").write_text(document, "utf-8")
    done = run("gate", "--base", "base.json")
    assert done.status == 3
    assert done.err.startswith("error: in base.json: ")
    assert said in done.err


def test_a_revision_is_a_base(run: Run, repository: Path) -> None:
    git(repository, "init", "-q")
    git(repository, "add", ".")
    git(repository, "commit", "-qm", "first")
    (repository / "my.claims").unlink()
    (repository / "pyproject.toml").write_text('[tool.indexproof]\nrules = ["*.rules"]\n', "utf-8")
    done = run("gate", "--base", "HEAD")
    assert done.status == 1
    assert "MISSING  same   my.claims:1" in done.out
    assert run("gate", "--base", "nowhere").status == 3


def test_only_files_that_changed_are_looked_at(run: Run, repository: Path) -> None:
    git(repository, "init", "-q")
    git(repository, "add", ".")
    git(repository, "commit", "-qm", "first")
    (repository / "my.claims").write_text(CLAIMS.replace("d0 * 1", "d0 * 2"), "utf-8")
    data = json.loads(run("gate", "--changed-since", "HEAD", "--json").out)
    assert (data["unchanged"], [c["file"] for c in data["claims"]]) == (["my.rules"], ["my.claims"])
    assert data["verdict"] == "FAILED"


def test_fewer_claims_than_the_floor_fail(run: Run, repository: Path) -> None:
    (repository / "pyproject.toml").write_text(SETTINGS + "floor = 4\n", "utf-8")
    done = run("gate")
    assert done.status == 1
    assert "BELOW FLOOR  floor   pyproject.toml:4" in done.out
    assert "3 claims as expected, and the floor is 4" in done.out


def test_one_run_writes_all_formats(run: Run, repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (repository / "my.rules").write_text(RULES + "false_one: (x + c) / c -> x / c\n", "utf-8")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(repository / "steps.md"))
    to = [word for name in ("a.sarif", "a.xml", "a.json", "a.md") for word in ("--to", name)]
    done = run("gate", "--github", *to)
    assert "::error file=my.rules,line=6,col=1,title=REFUTED false_one::" in done.out
    (result,) = (
        r for r in json.loads((repository / "a.sarif").read_text("utf-8"))["runs"][0]["results"] if r["kind"] == "fail"
    )
    region = result["locations"][0]["physicalLocation"]["region"]
    assert (result["ruleId"], region) == ("indexproof/REFUTED", {"startLine": 6, "startColumn": 1})
    assert "counterexample" in result["relatedLocations"][0]["message"]["text"]
    root = ElementTree.parse(repository / "a.xml").getroot()
    assert [(s.get("name"), s.get("tests"), s.get("failures")) for s in root] == [
        ("my.rules", "3", "1"),
        ("my.claims", "1", "0"),
    ]
    assert json.loads((repository / "a.json").read_text("utf-8"))["exit_status"] == 1
    summary = (repository / "a.md").read_text("utf-8")
    assert "| REFUTED | false_one | my.rules:6 |" in summary
    assert (repository / "steps.md").read_text("utf-8") == summary


@pytest.mark.parametrize(("settings", "said"), [
    ("", "has no [tool.indexproof]"),
    ("[tool.indexproof", "pyproject.toml"),
    ("[tool.indexproof]\nrulez = []", "has no key `rulez`"),
    ("[tool.indexproof]\nrules = 'x'", "a list of files"),
    ("[tool.indexproof]\nfloor = -1", "floor = -1"),
    ("[tool.indexproof]\nmax-rank = 7", "ops are proved up to rank 6, not 7"),
    ("[tool.indexproof]\nbase = '--output=written'", "neither a file nor a Git revision"),
    ('[tool.indexproof]\nbase = "\\u0000"', "neither a file nor a Git revision"),
    ("[tool.indexproof]\nbase = ['HEAD']", "base = ['HEAD']; expected a document"),
    ("tool = 3", "has no [tool.indexproof]"),
    ("[tool]\nindexproof = 'rules'", "has no [tool.indexproof]"),
    ("[tool.indexproof]\nrules = ['']", "rules has ``; expected a file, a folder or a pattern"),
    ("[tool.indexproof]\nrules = ['.']", "rules has `.`"),
    ("[tool.indexproof]\nrules = ['/etc/*.rules']", "rules has `/etc/*.rules`"),
    ("[tool.indexproof]\nrules = ['**x']", "rules has `**x`"),
])  # fmt: skip
def test_settings_that_make_no_sense(run: Run, repository: Path, settings: str, said: str) -> None:
    (repository / "pyproject.toml").write_text(settings, "utf-8")
    done = run("gate")
    assert done.status == 3
    assert said in done.err


def test_claims_of_own_files_are_placed_by_path_and_line(run: Run, repository: Path) -> None:
    (repository / "sub").mkdir()
    text = """from indexproof.core.op import Case, Map, Op, op, symbols


@op
class Same(Op):
    \"\"\"Each element is itself, or so it says.\"\"\"

    def shape(self, x):
        return list(x)

    def reads(self, k, o, i, rt, x):
        return [i[d].eq(o[d]) for d in range(len(x))]

    def output_to_input(self, k, o, rt, x):
        return Map([o[d] - 1 for d in range(len(x))])

    def input_to_output(self, k, i, rt, x):
        return Map(list(i))

    @classmethod
    def cases(cls, rank):
        if rank == 1:
            yield Case.of(rank, "whole", cls(), symbols("n", rank))
"""
    (repository / "sub/bad_ops.py").write_text(text, "utf-8")
    assert "REFUTED  same rank 1, whole   sub/bad_ops.py:4" in run("prove", "sub/bad_ops.py").out
