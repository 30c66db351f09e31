"""Every example in the documents is run and its output compared.

A fenced block that begins with a comment with a file name (`# slices.claims`) becomes that file, in a folder where
the commands of a `console` block then run in order, in a shell or, where one is `indexproof` alone, in this process;
`pycon` blocks are doctests.  A script that imports another compiler
runs only where that is installed.  Times and the slowest obligation are not compared; `...` on a line of its own
matches any number of lines.  `python tests/test_examples.py` writes the current output into the pages.
"""

from __future__ import annotations

import doctest
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner

from indexproof.cli import app

ROOT = Path(__file__).parent.parent
#: Pages that `indexproof dev docs` or the benchmark writes.
GENERATED = {"published_maps.md", "simplifier_benchmark.md"}
PAGES = [
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md")),
    *sorted((ROOT / "reports/guides").glob("*.md")),
    *(page for page in sorted((ROOT / "reports").glob("*.md")) if page.name not in GENERATED),
]
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
NAMED = re.compile(r"(?:#|//) ([\w./-]+\.\w+)\n")
TIME = re.compile(r"\d[\d.,]* (?:ms|s)\b")
PLACE = re.compile(r"\.py:\d+")


def blocks(text: str) -> Iterator[tuple[str, str]]:
    """Yield language and content of every fenced block."""
    for found in BLOCK.finditer(text):
        yield found[1], found[2]


def write_files(text: str, folder: Path) -> None:
    """Write the files that the page shows, and a link to the folder of the tests."""
    (folder / "tests").symlink_to(ROOT / "tests")
    for _, content in blocks(text):
        named = NAMED.match(content)
        if named:
            path = folder / named[1]
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(content, "utf-8")


def commands(content: str) -> Iterator[tuple[str, str]]:
    """Yield every command of a `console` block with the output below it."""
    for piece in re.split(r"^\$ ", content, flags=re.MULTILINE)[1:]:
        lines = piece.splitlines(keepends=True)
        n = 1
        while lines[n - 1].rstrip("\n").endswith("\\"):
            n += 1
        yield "".join(lines[:n]).rstrip("\n"), "".join(lines[n:])


def printed(command: str, folder: Path) -> str:
    """Return what a shell prints for a command, on both streams."""
    env = {
        **os.environ,
        "COLUMNS": "120",
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "PYTHONIOENCODING": "utf-8",
        "XDG_CACHE_HOME": str(folder / "cache"),
    }
    done = subprocess.run(
        ["bash", "-c", command],
        cwd=folder,
        env=env,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        encoding="utf-8",
        check=False,
    )
    return done.stdout


def said_here(command: str) -> str | None:
    """Return what a command prints, run in this process; ``None`` if it needs a shell or is another program."""
    line = command.removesuffix("; echo $?").replace("\\\n", " ")
    if not re.fullmatch(r"indexproof [\w\s./,:=%+-]*", re.sub(r"'[^']*'", "", line)):
        return None
    done = CliRunner().invoke(app, shlex.split(line)[1:])
    assert isinstance(done.exception, SystemExit | None), command
    return done.output + (f"{done.exit_code}\n" if command.endswith("; echo $?") else "")


def plain(text: str) -> list[str]:
    """Return the lines with times and line numbers replaced, the slowest obligation removed, and spaces
    collapsed.
    """
    lines = (
        re.sub(r" +", " ", PLACE.sub(".py:<line>", TIME.sub("<time>", line))).strip()
        for line in text.strip().split("\n")
    )
    return [re.sub(r"<time> <time> .*", "<time> <time>", line) for line in lines]


def agrees(shown: list[str], real: list[str]) -> bool:
    """Return whether the page shows the printed lines; `...` matches any number of lines."""
    if not shown:
        return not real
    if shown[0] == "...":
        return any(agrees(shown[1:], real[k:]) for k in range(len(real) + 1))
    return bool(real) and shown[0] == real[0] and agrees(shown[1:], real[1:])


TEXTS = {page.relative_to(ROOT).as_posix(): page.read_text("utf-8") for page in PAGES}
CONSOLE = [
    pytest.param(name, content, id=f"{name}: {next(commands(content))[0]}")
    for name, text in TEXTS.items()
    for language, content in blocks(text)
    if language == "console"
]
LINKS = [(name, target) for name, text in TEXTS.items() for target in re.findall(r"\]\((?!https?:)([^)#]+)", text)]


def test_there_are_examples() -> None:
    assert len(CONSOLE) > 15


def test_the_readme_is_one_page() -> None:
    assert TEXTS["README.md"].count("\n") <= 200


@pytest.mark.parametrize(("name", "content"), CONSOLE)
def test_commands_print_what_the_page_shows(
    name: str, content: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_files(TEXTS[name], tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "120")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    for command, shown in commands(content):
        if command.startswith("python "):
            needs = re.findall(
                r"^(?:from|import) (\w+)", (tmp_path / command.split()[1]).read_text("utf-8"), re.MULTILINE
            )
            for module in needs:
                pytest.importorskip(module)
        here = said_here(command)
        real = printed(command, tmp_path) if here is None else here
        assert agrees(plain(shown), plain(real)), f"$ {command}\n{real}"


@pytest.mark.parametrize("name", TEXTS)
def test_the_python_examples(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)  # one of the examples writes a picture
    for language, content in blocks(TEXTS[name]):
        if language == "pycon":
            test = doctest.DocTestParser().get_doctest(content, {}, name, name, 0)
            said: list[str] = []
            assert not doctest.DocTestRunner().run(test, out=said.append).failed, "".join(said)


@pytest.mark.parametrize("name", TEXTS)
def test_every_block_is_checked_or_is_no_example(name: str) -> None:
    for language, content in blocks(TEXTS[name]):
        if language == "json":
            json.loads(content)
        else:
            assert language in ("console", "ebnf", "pycon", "sh") or NAMED.match(content), content


@pytest.mark.parametrize(("name", "target"), LINKS)
def test_a_link_leads_somewhere(name: str, target: str) -> None:
    assert (ROOT / name).parent.joinpath(target).exists()


def accepted(text: str) -> str:
    """Return the page with the current output of its commands; an abridged output is kept."""
    with tempfile.TemporaryDirectory() as name:
        write_files(text, Path(name))

        def rewritten(found: re.Match[str]) -> str:
            if found[1] != "console":
                return found[0]
            out = []
            for command, shown in commands(found[2]):
                keep = "..." in shown.split("\n")
                out.append(f"$ {command}\n" + (shown if keep else printed(command, Path(name)).rstrip("\n") + "\n"))
            return "```console\n" + "\n".join(o.rstrip("\n") + "\n" for o in out) + "```"

        return BLOCK.sub(rewritten, text)


if __name__ == "__main__":
    for page in PAGES:
        page.write_text(accepted(page.read_text("utf-8")), "utf-8")


# -------------------- Every notebook of examples/ runs from its first cell to its last in a kernel of its own
NOTEBOOKS = sorted((Path(__file__).parent.parent / "examples").glob("*.ipynb"))
EXECUTE = """
import sys, nbformat
from nbclient import NotebookClient
notebook = nbformat.read(sys.argv[1], 4)
assert not any(c.get("outputs") for c in notebook.cells), "clear the outputs before a commit"
NotebookClient(notebook, timeout=120, kernel_name="python3").execute()
shown = [o for c in notebook.cells for o in c.get("outputs", ()) if o.output_type != "stream" or o.name == "stdout"]
assert shown
bare = [c.source for c in notebook.cells for o in c.get("outputs", ()) if "text/html" not in o.get("data", ["text/html"])]
assert not bare, f"a notebook shows how these are built: {bare}"
"""


def test_there_are_notebooks() -> None:
    assert len(NOTEBOOKS) >= 3


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda p: p.stem)
def test_a_notebook_runs(path: Path, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", EXECUTE, str(path)], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert not done.returncode, done.stderr[-3000:]
