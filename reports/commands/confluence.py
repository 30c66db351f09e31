"""Whether the order in which rules are tried matters."""

from __future__ import annotations

import time
from typing import Annotated, Any

import typer

from ...core.errors import InputError
from .frame import emit, report, writing
from .given import Checkpoint, Jobs, Json, Names, chosen_claims


def confluence(
    names: Names = None,
    json: Json = False,
    jobs: Jobs = None,
    checkpoint: Checkpoint = None,
    details: Annotated[bool, typer.Option("--details", help="Also show how the pairs join that do.")] = False,
    write_page: Annotated[
        bool, typer.Option("--page", help="Write reports/confluence.md (the whole catalogue only).")
    ] = False,
) -> None:
    """Find the critical pairs of rules: expressions, or constraints, that two rules rewrite differently.

    Says which pairs lead to a common result, and of the others the smallest expression or domain that has two
    normal forms, with both derivations. With names only pairs in which one of these rules takes part; rule files and
    files with declarations are examined as a whole. Takes an hour or two for the whole catalogue: with --checkpoint
    an interrupted run goes on where it stopped.

    The exit status is 1 if some pair does not join and 2 if one is undecided. reports/confluence.md says what
    the answers mean.
    """
    from ...verify.confluence import confluence as decide
    from ..confluence import PAGE, confluence_json, confluence_text, page

    if write_page and names:
        raise InputError("--page is about the whole catalogue", expected="no names, or no --page")
    rules, among = _rules(names)
    start = time.perf_counter()
    watcher: Any = None

    def begun(total: int) -> None:
        nonlocal watcher
        from ..progress_pairs import PairWatcher

        watcher = PairWatcher(total)
        watcher.__enter__()

    try:
        with writing("--checkpoint: cannot write", checkpoint):
            run = decide(
                rules,
                among,
                jobs=jobs,
                checkpoint=checkpoint,
                begun=begun,
                progress=lambda pair: watcher(pair),  # noqa: PLW0108 - there is none yet
            )
    finally:
        if watcher is not None:
            watcher.__exit__(None, None, None)
    seconds = time.perf_counter() - start
    if write_page:
        if run.interrupted:
            emit(f"{PAGE}: not written, the run was interrupted")
        else:
            with writing("cannot write", PAGE):
                PAGE.write_text(page(run, rules), "utf-8")
    report(
        json,
        lambda: confluence_json(run, seconds=seconds),
        lambda: confluence_text(run, seconds=seconds, details=details),
    )
    raise typer.Exit(run.exit_status)


def _rules(names: Names) -> tuple[Any, tuple[str, ...]]:
    """The rules that meet each other, and the names of those that every pair must contain, if any."""
    from ...core.rewrite import ConstraintRule, Rule
    from ...rules.catalog import RULES
    from ...verify.rulefiles import StatedRule

    catalogue = tuple(RULES)
    if not names:
        return catalogue, ()
    chosen, _ = chosen_claims(names, None)
    claims = list({s.named.name: s.named.claim for s in chosen}.values())
    stated = [c for c in claims if isinstance(c, StatedRule)]
    if stated:
        return stated, ()
    rules = [c for c in claims if isinstance(c, (Rule, ConstraintRule))]
    if not rules:
        raise InputError(
            "nothing that is named is a rewrite rule", expected="names of rules, or files with rules"
        )
    if all(r in catalogue for r in rules):
        return catalogue, tuple(r.name for r in rules)
    return rules, ()
