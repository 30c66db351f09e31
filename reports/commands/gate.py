"""The commands for the gate of a repository, and for an example repository with a gate."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from ...core.errors import InputError, quoted
from .frame import emit, finish, say, writing
from .given import opened_cache
from .proving import proved

if TYPE_CHECKING:
    from ...verify.obligation import Obligation
    from ...verify.outcome import Run


def gate(
    folder: Path = Path(),
    *,
    to: list[Path] | None = None,
    base: str = "",
    without_base: bool = False,
    since: str = "",
    github: bool | None = None,
    json: bool = False,
    jobs: int | None = None,
    budget: float = 1.0,
    cache: Path | None = None,
    no_cache: bool = False,
    read_only_cache: bool = False,
) -> None:
    """Prove what a repository declares, and compare it with its base.

    The files stand in [tool.indexproof] of pyproject.toml: rules, python, claims and hlo, each a list of
    files, folders and patterns; base, a document that --to wrote or a Git revision; floor, the least number
    of claims. Python files are executed, all others are data.

    Fails on a claim without the verdict that it expects, a lost proof, a claim of the base that is missing,
    and fewer claims than the floor. After a statement that cannot be read the others are still checked.

    Args:
        folder ([FOLDER]): The repository (default: this folder).
        to (FILE): Also write the outcome there: FILE.sarif, FILE.xml (JUnit), FILE.json or FILE.md; repeat
            for more.
        base (FILE|REV): Compare with this document or Git revision.
        without_base: Compare with nothing.
        since (--changed-since REV): Check only files that differ from REV.
        github (--github/--no-github): Annotations and a job summary (default: in an action).
    """
    from ...verify.budget import Budget
    from ..exchange import WRITERS, github_lines, markdown
    from ..gate import gate_json, gate_text, run_gate
    from ..settings import settings_of
    from ..summary import damage

    for path in to or ():
        if path.suffix not in WRITERS:
            said = f"--to: {quoted(str(path), 200)} is of no known format"
            raise InputError(said, expected=", ".join(WRITERS))
    settings = settings_of(folder)
    if base or without_base:
        settings = replace(settings, base="" if without_base else base)
    options = [*(["--cache", str(cache)] if cache else []), *(["--no-cache"] if no_cache else [])]
    with opened_cache(cache, no_cache, read_only_cache) as kept:

        def prove(obligations: Sequence[Obligation]) -> Run:
            runs.append(proved(obligations, kept, jobs=jobs, budget=Budget().scaled(budget)))
            return runs[-1]

        runs: list[Run] = []
        found = run_gate(settings, prove, cache=kept, since=since, options=options)
        found.interrupted = any(run.interrupted for run in runs)
        found.notes += [said for run in runs if (said := damage(run))]
    for path in to or ():
        with writing("--to: cannot write", path):
            path.write_text(WRITERS[path.suffix](found), "utf-8")
    if github or (github is None and os.environ.get("GITHUB_ACTIONS") == "true"):
        for line in github_lines(found):
            (say if json else emit)(line)
        if summary := os.environ.get("GITHUB_STEP_SUMMARY"):
            with writing("cannot write", Path(summary)), Path(summary).open("a", encoding="utf-8") as file:
                file.write(markdown(found))
    finish(found.exit_status, json, lambda: gate_json(found), lambda: gate_text(found))


def init(folder: Path = Path(), *, cache: Path | None = None) -> None:
    """Make an example repository with a gate that passes.

    It has rewrite rules in a rule file and in Python, an op, claims, an HLO module, a workflow for GitHub and
    the base of the gate. Its README.md says what to break. No file is overwritten.

    Args:
        folder ([FOLDER]): Where to make it (default: here).
    """
    from ...verify.proving import prove_all
    from ..example import BASE, FILES
    from ..exchange import WRITERS
    from ..gate import gate_text, run_gate
    from ..settings import settings_of

    if there := [name for name in (*FILES, BASE) if (folder / name).exists()]:
        said = f"{quoted(str(folder / there[0]), 200)} exists already"
        raise InputError(said, expected="a folder without it")
    with writing("cannot write to", folder):
        for name, text in FILES.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(text, "utf-8")
    with opened_cache(cache, False, False) as kept:
        settings = replace(settings_of(folder), base="")
        found = run_gate(settings, lambda asked: prove_all(asked, cache=kept), cache=kept)
    with writing("cannot write", folder / BASE):
        (folder / BASE).write_text(WRITERS[".json"](found), "utf-8")
    emit("\n".join([*(f"wrote  {folder / name}" for name in (*FILES, BASE)), "", *gate_text(found)]))
    say("README.md says what to break; `indexproof gate` runs the gate again")
    raise typer.Exit(found.exit_status)
