"""Fixtures of the command tests; each test has its own cache."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import jsonschema
import pytest
from typer.testing import CliRunner

from indexproof.cli import app

#: The published JSON Schema of the `--json` output.
SCHEMA = json.loads((Path(__file__).parents[2] / "reports/schema/documents.json").read_text("utf-8"))
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)

BROKEN = '''\
from indexproof.core.rewrite import Const, Expr, Rest, Rewrite, rule


@rule()
def wrong_small_remainder(x: Expr, g: Const, d: Const, r: Rest):
    """Less than one step of x cannot carry x over anything."""
    return Rewrite((x * g + r) // d, x // (d // g), when=(g > 0, g <= d, r.within(0, g - 1)), guard=(g > 1,))


@rule()
def right_small_remainder(x: Expr, g: Const, d: Const, r: Rest):
    """Less than one step of x cannot carry x over a multiple of d."""
    return Rewrite((x * g + r) // d, x // (d // g), when=(d > 0, g.divides(d), r.within(0, g - 1)), guard=(g
    > 1,)) '''


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv("INDEXPROOF_CACHE", raising=False)
    monkeypatch.delenv("INDEXPROOF_DEBUG", raising=False)
    return tmp_path / "cache/indexproof/verdicts.sqlite"


class Outcome:
    """The output of a command line and its exit status."""

    def __init__(self, status: int, out: str, err: str) -> None:
        self.status, self.out, self.err = status, out, err


Run = Callable[..., Outcome]


@pytest.fixture
def run() -> Run:
    """Run a command line in this process."""

    def invoke(*words: object, stdin: str = "") -> Outcome:
        result = CliRunner().invoke(app, [str(w) for w in words], input=stdin)
        assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
        if "--json" in words and result.stdout.startswith("{"):
            # Python refuses integers of thousands of digits, whose size the schema does not check, and deep nesting
            with suppress(RecursionError):
                VALIDATOR.validate(json.loads(result.stdout, parse_int=lambda digits: int(digits[:9])))
        return Outcome(result.exit_code, result.stdout, result.stderr)

    return invoke


@pytest.fixture
def spawn() -> Run:
    """Run a command line in a new process, with its output in pipes."""

    def start(*words: object, encoding: str = "utf-8") -> Outcome:
        command = [sys.executable, "-m", "indexproof", *(str(w) for w in words)]
        done = subprocess.run(command, capture_output=True, text=True, encoding=encoding, check=False)
        return Outcome(done.returncode, done.stdout, done.stderr)

    return start


def git(folder: Path, *words: str) -> str:
    """Run git in a folder and return its output."""
    who = ["-c", "user.name=a", "-c", "user.email=a@b"]
    return subprocess.run(
        ["git", "-C", str(folder), *who, *words], check=True, capture_output=True, text=True
    ).stdout.strip()


@pytest.fixture
def broken(tmp_path: Path) -> Path:
    """Write a file with a false rule and its correct twin."""
    path = tmp_path / "broken.py"
    path.write_text(BROKEN, "utf-8")
    return path
