"""From a wheel to a gate: a verdict on a rule of one's own within a minute, a gate with SARIF within five.

The commands are those of README.md and of the pages tutorial.md and gate.md in reports/guides.  They run in a new
environment and in an empty folder.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
import time
import venv
from pathlib import Path

import pytest
from test_packaging import wheel  # noqa: F401

ROOT = Path(__file__).parent.parent
pytestmark = pytest.mark.slow


def typed(line: str, folder: Path, env: dict[str, str]) -> subprocess.CompletedProcess[str]:
    """Run a line of a page in a shell."""
    return subprocess.run(
        ["bash", "-c", line], cwd=folder, env=env, capture_output=True, text=True, check=False, timeout=300
    )


def code_of(page: Path, begins: str) -> str:
    """Return the code block of a page that begins with the line ``begins``."""
    (found,) = re.findall(rf"```\w+\n({re.escape(begins)}\n.*?)```", page.read_text("utf-8"), re.DOTALL)
    return str(found)


def session_of(page: Path, heading: str) -> list[tuple[str, str]]:
    """Return the commands of the session below a heading, each with its output."""
    section = page.read_text("utf-8").partition(f"## {heading}\n")[2]
    (console,) = re.findall(r"```console\n(.*?)```", section.partition("\n## ")[0], re.DOTALL)
    parts = [part.partition("\n") for part in re.split(r"^\$ ", console, flags=re.MULTILINE)[1:]]
    return [(line, said.strip()) for line, _, said in parts]


def steady(text: str) -> str:
    """Return a report with times replaced."""
    return re.sub(r"in \d[\d.,]* \w+", "in -", text)


@pytest.fixture
def clean(tmp_path: Path) -> tuple[Path, dict[str, str]]:
    """Return an empty folder and an environment in which nothing is installed."""
    venv.create(tmp_path / "env")
    kept = {name: os.environ[name] for name in os.environ if not name.startswith(("PYTHON", "INDEXPROOF_"))}
    env = {**kept, "PATH": f"{tmp_path / 'env/bin'}{os.pathsep}{os.environ['PATH']}"}
    env |= {"XDG_CACHE_HOME": str(tmp_path / "cache"), "VIRTUAL_ENV": str(tmp_path / "env"), "COLUMNS": "120"}
    return tmp_path, env


def test_from_the_wheel_to_a_gate(
    wheel: Path,  # noqa: F811
    clean: tuple[Path, dict[str, str]],
) -> None:
    place, env = clean
    start = time.monotonic()
    pip = [sys.executable, "-m", "pip", "--python", str(place / "env/bin/python")]
    install = [*pip, "install", "-q", "--no-compile", "-c", str(ROOT / "constraints.txt"), str(wheel)]
    done = typed(shlex.join(install), place, env)
    assert done.returncode == 0, done.stderr

    # README.md: a false rule of one's own
    (place / "my_rules.py").write_text(code_of(ROOT / "README.md", "# my_rules.py"), "utf-8")
    done = typed("indexproof prove my_rules.py", place, env)
    first = time.monotonic() - start
    assert done.returncode == 1, done.stderr
    assert "REFUTED  small_remainder   my_rules.py:5\n" in done.stdout
    assert "\n  repair   provable after adding any one of:  d ∣ g;  g ∣ d;  d = g\n" in done.stdout

    # reports/guides/tutorial.md: rules and a gate of one's own, which catches the next mistake
    own = place / "own"
    page = ROOT / "reports/guides/tutorial.md"
    for name in ("rules/division.rules", "pyproject.toml"):
        (own / name).parent.mkdir(parents=True, exist_ok=True)
        (own / name).write_text(code_of(page, f"# {name}"), "utf-8")
    for line, said in session_of(page, "A gate"):
        done = typed(line, own, env)
        assert steady(done.stdout).strip() == steady(said), done.stderr
    assert json.loads((own / "gate.sarif").read_text("utf-8"))["version"] == "2.1.0"

    # reports/guides/gate.md: each command prints the output that the page shows
    for line, said in session_of(ROOT / "reports/guides/gate.md", "A session"):
        done = typed(line, place, env)
        printed = steady(done.stdout).strip()
        assert printed == steady("\n".join(said.split("\n")[1:]) if "| tail" in line else said), done.stderr
    sarif = json.loads((place / "example/out.sarif").read_text("utf-8"))
    (failed,) = (r for r in sarif["runs"][0]["results"] if r["kind"] == "fail")
    assert failed["locations"][0]["physicalLocation"]["region"]["startLine"] == 6
    gate = time.monotonic() - start
    assert (first < 60, gate < 300) == (True, True), f"a verdict after {first:.0f} s, a gate after {gate:.0f} s"
