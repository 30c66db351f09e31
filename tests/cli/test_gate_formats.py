"""The outcome of a gate is valid in the formats of other tools; the GitHub action and the pre-commit hook work."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

from indexproof.reports.example import FILES

from .conftest import Run, git

ROOT = Path(__file__).parents[2]
ACTION = ROOT / ".github/actions/indexproof/action.yml"
HOOKS = ROOT / ".pre-commit-hooks.yaml"
WRONG = {
    "rules/division.rules": ("y < c0", "y <= c0"),
    "claims/slices.claims": ("d1 * 7 + 3)\n", "d1 * 6 + 3)\n"),
    "indexing/simplify.py": ("g.divides(d)", "g > 0, g <= d"),
    "hlo/small.hlo": ("slice(t)", "slice(u)"),
}
SMALL = {
    "rules.rules": "int x\nnothing: x + 0 -> x\n",
    "pyproject.toml": '[tool.indexproof]\nrules = ["*.rules"]\nfloor = 1\n',
}


def write(folder: Path, texts: Mapping[str, str]) -> None:
    for name, text in texts.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, "utf-8")


@pytest.fixture
def environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("GITHUB_ACTIONS", "GITHUB_STEP_SUMMARY", "INDEXPROOF_CACHE_KEY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")


@pytest.fixture
def example(run: Run, environment: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "example"
    done = run("init", folder)
    assert done.status == 0, done.out
    assert "PASSED  15 claims, 15 as expected" in done.out
    monkeypatch.chdir(folder)
    return folder


def test_an_example_is_made_once_and_passes(run: Run, example: Path) -> None:
    again = run("init", example)
    assert (again.status, "exists already" in again.err) == (3, True)
    assert run("gate").status == 0


def test_documents_are_valid(run: Run, example: Path) -> None:
    for name, (old, new) in WRONG.items():
        text = FILES[name]
        assert old in text
        (example / name).write_text(text.replace(old, new, 1), "utf-8")
    assert run("gate", "--to", "a.sarif", "--to", "a.xml", "--to", "a.json").status == 3
    schema = json.loads((ROOT / "reports/schema/documents.json").read_text("utf-8"))
    document = json.loads((example / "a.json").read_text("utf-8"))
    jsonschema.validate(document, schema)
    assert {c["file"] for c in document["claims"] if not c["passes"]} == {*WRONG}
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({**document, "claims": [{**document["claims"][0], "line": 0}]}, schema)
    log = json.loads((example / "a.sarif").read_text("utf-8"))
    published = json.loads((ROOT / "tests/reports/data/sarif-2.1.0.json").read_text("utf-8"))
    jsonschema.validate(log, published, cls=jsonschema.Draft4Validator)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({**log, "version": "2.0"}, published, cls=jsonschema.Draft4Validator)
    results = log["runs"][0]["results"]
    assert {r["ruleId"] for r in results} <= {r["id"] for r in log["runs"][0]["tool"]["driver"]["rules"]}
    failed = {r["locations"][0]["logicalLocations"][0]["name"]: r for r in results if r["kind"] == "fail"}
    assert "counterexample: x = " in failed["small"]["relatedLocations"][0]["message"]["text"]
    assert "true with the condition" in failed["small"]["message"]["text"]
    assert sum(r["kind"] == "pass" for r in results) == sum(c["passes"] for c in document["claims"])


# ------------------------------------------------------------------------------------------------------ the action
def filled(text: str, values: Mapping[str, str]) -> str:
    return re.sub(r"\$\{\{\s*([\w.-]+)\s*\}\}", lambda m: values[m[1]], text)


def perform(action: dict[str, Any], given: Mapping[str, str], folder: Path, home: Path) -> tuple[int, str]:
    """Run the steps of a composite action as GitHub does; the files of `actions/cache` are kept below ``home``."""
    values = {f"inputs.{name}": str(about.get("default", "")) for name, about in action["inputs"].items()}
    values |= {f"inputs.{name}": value for name, value in given.items()}
    values |= {"runner.os": "Linux", "github.sha": "1" * 40}
    said = ""
    for step in action["runs"]["steps"]:
        condition = re.fullmatch(r"(\S+) != ''", step.get("if", "inputs.package != ''"))
        if not values[condition[1]]:
            continue
        if "uses" in step:
            assert step["uses"].startswith("actions/cache@")
            assert filled(step["with"]["key"], values).startswith(filled(step["with"]["restore-keys"], values))
            assert step["with"]["path"] == "~/.cache/indexproof/verdicts.sqlite"
            continue
        env = {name: filled(value, values) for name, value in step.get("env", {}).items()}
        done = subprocess.run(
            ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", filled(step["run"], values)],
            cwd=folder,
            env={k: v for k, v in os.environ.items() if not k.startswith(("XDG", "INDEXPROOF"))}
            | {"HOME": str(home), "GITHUB_ACTIONS": "true", "GITHUB_STEP_SUMMARY": str(home / "summary.md")}
            | env,
            capture_output=True,
            text=True,
            encoding="utf-8",
            check=False,
        )
        said += done.stdout + done.stderr
        if done.returncode:
            return done.returncode, said
    return 0, said


@pytest.mark.usefixtures("environment")
def test_the_action(tmp_path: Path) -> None:
    action = yaml.safe_load(ACTION.read_text("utf-8"))
    published = files("check_jsonschema") / "builtin_schemas/vendor/github-actions.json"
    jsonschema.validate(action, json.loads(published.read_text("utf-8")), cls=jsonschema.Draft7Validator)
    home, folder = tmp_path / "home", tmp_path / "made"
    home.mkdir()
    write(folder, SMALL)
    status, said = perform(action, {"cache-key": "secret"}, folder, home)
    assert (status, "PASSED  1 claim, 1 as expected" in said) == (0, True), said
    assert json.loads((folder / "indexproof.sarif").read_text("utf-8"))["version"] == "2.1.0"
    assert (folder / "indexproof.xml").is_file()
    assert "PASSED" in (home / "summary.md").read_text("utf-8")
    # the cache was brought to another machine; the secret that seals it is the cache key
    moved = tmp_path / "moved"
    (moved / ".cache/indexproof").mkdir(parents=True)
    shutil.copy(home / ".cache/indexproof/verdicts.sqlite", moved / ".cache/indexproof")
    write(folder, {"rules.rules": SMALL["rules.rules"] + "wrong: x + 1 -> x\n"})
    status, said = perform(action, {"cache-key": "secret"}, folder, moved)
    assert status == 1
    assert "::error file=rules.rules,line=3,col=1,title=REFUTED wrong::" in said
    assert "another key" not in said


def test_the_workflow_of_the_example_is_one() -> None:
    workflow = yaml.safe_load(FILES[".github/workflows/indexproof.yml"])
    workflow["on"] = workflow.pop(True)  # YAML 1.1 reads the key `on` as true
    published = files("check_jsonschema") / "builtin_schemas/vendor/github-workflows.json"
    jsonschema.validate(workflow, json.loads(published.read_text("utf-8")), cls=jsonschema.Draft7Validator)


# ------------------------------------------------------------------------------------------------------- pre-commit
@pytest.mark.usefixtures("environment")
def test_the_hook_of_pre_commit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PRE_COMMIT_HOME", str(tmp_path / "pre-commit"))
    hooks, folder = tmp_path / "hooks", tmp_path / "made"
    write(hooks, {HOOKS.name: HOOKS.read_text("utf-8")})
    git(tmp_path, "init", "-q", str(hooks))
    git(hooks, "add", ".")
    git(hooks, "commit", "-qm", "hooks")
    # the package is installed in the environment of the tests, so pre-commit need not build another one
    config = f"repos:\n- repo: {hooks}\n  rev: {git(hooks, 'rev-parse', 'HEAD')}\n  hooks:\n"
    write(folder, SMALL | {".pre-commit-config.yaml": config + "  - {id: indexproof, language: system}\n"})
    git(tmp_path, "init", "-q", str(folder))
    git(folder, "add", ".")

    def hook() -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ["pre-commit", "run", "--color", "never"], cwd=folder, capture_output=True, text=True, check=False
        )

    done = hook()
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.search(r"indexproof gate\.+Passed", done.stdout)
    write(folder, {"rules.rules": SMALL["rules.rules"] + "wrong: x + 1 -> x\n"})
    git(folder, "add", ".")
    done = hook()
    assert done.returncode == 1
    assert "REFUTED  wrong   rules.rules:3" in done.stdout


# ------------------------------------------------------------------------------------------------------------ cache
def test_a_cache_without_its_key_is_told_calmly(run: Run, example: Path, own_cache: Path) -> None:
    own_cache.with_name(own_cache.name + ".key").unlink()
    done = run("gate")
    assert done.status == 0
    assert done.out.count("sealed with another key") == 1
    assert "damaged" not in done.out
    assert "another key" not in run("gate").out


def test_an_unchanged_repository_is_not_proved_again(run: Run, example: Path) -> None:
    assert json.loads(run("gate", "--json").out)["timing"]["seconds"] < 2
    text = FILES["rules/division.rules"].replace("x + y\n", "y + x\n")
    (example / "rules/division.rules").write_text(text, "utf-8")
    data = json.loads(run("gate", "--json").out)
    assert (data["verdict"], data["timing"]["seconds"] < 5) == ("PASSED", True)


def test_a_change_of_a_helper_touches_all_python(run: Run, example: Path) -> None:
    git(example, "init", "-q")
    git(example, "add", ".")
    git(example, "commit", "-qm", "first")
    (example / "helper.py").write_text("N = 1\n", "utf-8")
    data = json.loads(run("gate", "--changed-since", "HEAD", "--json").out)
    assert {c["file"] for c in data["claims"]} == {"indexing/ops.py", "indexing/simplify.py"}
    assert data["verdict"] == "PASSED"
    (example / "pyproject.toml").write_text(FILES["pyproject.toml"] + "\n", "utf-8")
    assert json.loads(run("gate", "--changed-since", "HEAD", "--json").out)["unchanged"] == []


# ------------------------------------------------------------------------------------------------- files and folders
def test_files_and_folders_of_all_kinds_may_be_mixed(run: Run, example: Path) -> None:
    done = run("prove", "rules/", "indexing/simplify.py", "claims/../indexing", "--json", "--max-rank", "1")
    assert done.status == 3
    assert "also declares" in done.err  # the same file under another name
    data = json.loads(run("prove", "rules/", "indexing/", "small", "roll", "--json", "--max-rank", "1").out)
    assert (data["verdict"], data["claims"]) == ("PROVED", 3)
    assert {r["claim"] for r in data["results"]} == {"small", "roll rank 0, any shift", "roll rank 1, any shift"}
    text = run("prove", "rules/division.rules", "indexing/simplify.py").out
    head, *_, last = text.split("\n\n")
    assert head.split()[:2] == ["verdict", "rule"]
    assert "  small_remainder " in text.split("\n\n")[1]
    assert last.startswith("PROVED  8 claims, 14 obligations, all as expected")
    assert run("check", "claims/").status == 0
    assert run("check", "claims").status == 0
    assert "has no such file" in run("check", "rules/").err
    assert "the folder is called `rules/`" in run("prove", "rules/division.rules", "rules").err
    (example / "rules").rename(example / "tiles")
    done = run("prove", "tiles", "--no-findings")
    assert done.status == 0
    assert done.err.startswith("`tiles` is a part of the catalogue; the folder is called `tiles/`\n")
    (example / "tiles").rename(example / "rules")
    # a file that belongs to another command costs one line and nothing else
    for words, last in (
        (("prove", "claims/slices.claims", "rules/"), "PROVED  6 claims"),
        (("check", "rules", "indexing/ops.py", "claims"), "AS EXPECTED  5 claims"),
    ):
        done = run(*words)
        assert done.status == 3
        verdict, left = done.out.split("\n\n")[-2:]
        assert verdict.startswith(last)
        assert left.startswith("ILL-FORMED  ")
        assert done.err.count("error: ") == len(words) - 2
