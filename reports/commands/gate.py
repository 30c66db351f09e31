"""The gate of a repository, and the repository that shows how to have one."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ...core.errors import InputError, quoted
from .frame import emit, report, say, writing
from .given import BudgetFactor, CachePath, Jobs, Json, NoCache, ReadOnly, opened_cache

if TYPE_CHECKING:
    from ...verify.obligation import Obligation
    from ...verify.outcome import Run


def gate(
    folder: Annotated[
        Path,
        typer.Argument(metavar="[FOLDER]", show_default=False, help="The repository (default: this folder)."),
    ] = Path(),
    to: Annotated[
        list[Path] | None,
        typer.Option(
            "--to",
            metavar="FILE",
            help="Also write the outcome there: FILE.sarif, FILE.xml (JUnit), FILE.json or FILE.md; repeat for more.",
        ),
    ] = None,
    base: Annotated[
        str, typer.Option("--base", metavar="FILE|REV", help="Compare with this document or Git revision.")
    ] = "",
    without_base: Annotated[bool, typer.Option("--without-base", help="Compare with nothing.")] = False,
    since: Annotated[
        str, typer.Option("--changed-since", metavar="REV", help="Look only at files that differ from REV.")
    ] = "",
    github: Annotated[
        bool | None,
        typer.Option(
            "--github/--no-github",
            show_default=False,
            help="Annotations and a job summary (default: in an action).",
        ),
    ] = None,
    json: Json = False,
    jobs: Jobs = None,
    budget: BudgetFactor = 1.0,
    cache: CachePath = None,
    no_cache: NoCache = False,
    read_only_cache: ReadOnly = False,
) -> None:
    """Prove what a repository declares, and compare it with its base.

    The files stand in [tool.indexproof] of pyproject.toml: rules, python, claims and hlo, each a list of
    files, folders and patterns; base, a document that --to wrote or a Git revision; floor, the least number
    of claims. Python files are executed, all others are data.

    Fails on a claim without the verdict that it expects, a lost proof, a claim that the base has and the
    repository has no more, and fewer claims than the floor. A statement that cannot be read costs only
    itself.
    """
    from ...verify.budget import Budget
    from ...verify.proving import prove_all
    from ..exchange import WRITERS, github_lines, markdown
    from ..gate import gate_json, gate_text, run_gate
    from ..progress import Watcher
    from ..settings import settings_of
    from ..summary import damage

    for path in to or ():
        if path.suffix not in WRITERS:
            raise InputError(
                f"--to: {quoted(str(path), 200)} is of no known format", expected=", ".join(WRITERS)
            )
    settings = settings_of(folder)
    if base or without_base:
        settings = replace(settings, base="" if without_base else base)
    options = [*(["--cache", str(cache)] if cache else []), *(["--no-cache"] if no_cache else [])]
    with opened_cache(cache, no_cache, read_only_cache) as kept:

        def prove(obligations: Sequence[Obligation]) -> Run:
            with Watcher(len(obligations)) as watcher:
                run = prove_all(
                    obligations, jobs=jobs, budget=Budget().scaled(budget), cache=kept, progress=watcher
                )
            runs.append(run)
            return run

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
        summary = os.environ.get("GITHUB_STEP_SUMMARY")
        if summary:
            with writing("cannot write", Path(summary)), Path(summary).open("a", encoding="utf-8") as file:
                file.write(markdown(found))
    report(json, lambda: gate_json(found), lambda: gate_text(found))
    raise typer.Exit(found.exit_status)


def init(
    folder: Annotated[
        Path,
        typer.Argument(metavar="[FOLDER]", show_default=False, help="Where to make it (default: here)."),
    ] = Path(),
    cache: CachePath = None,
) -> None:
    """Make an example repository with a gate that passes.

    It has rewrite rules in a rule file and in Python, an op, claims, an HLO module, a workflow for GitHub and
    the base of the gate. Its README.md says what to break. No file is overwritten.
    """
    from ...verify.proving import prove_all
    from ..example import BASE, FILES
    from ..exchange import WRITERS
    from ..gate import gate_text, run_gate
    from ..settings import settings_of

    there = [name for name in (*FILES, BASE) if (folder / name).exists()]
    if there:
        raise InputError(
            f"{quoted(str(folder / there[0]), 200)} exists already", expected="a folder without it"
        )
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
