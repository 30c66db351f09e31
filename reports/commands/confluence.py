"""Whether results depend on the order in which things are met."""

from __future__ import annotations

import time
from typing import Annotated

import typer

from ...core.errors import InputError, quoted
from .frame import emit, report, writing
from .given import Jobs, Json


def confluence(
    names: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="RULE", show_default=False, help="Only pairs with one of these rules; all without names."
        ),
    ] = None,
    count: Annotated[
        int, typer.Option("--count", "-n", min=1, metavar="N", help="How many instances of each pair.")
    ] = 16,
    json: Json = False,
    jobs: Jobs = None,
    write_page: Annotated[
        bool, typer.Option("--page", help="Write reports/confluence.md (the whole catalogue only).")
    ] = False,
) -> None:
    """Search for maps whose simplified form depends on what the simplifier meets first.

    Small instances on which two rules of the catalogue apply are simplified as they are, after either rule, with
    other names, and in another order. Says where the results differ, with the smallest example found. Takes
    seconds for one rule and a few minutes for all. Interrupted with Ctrl-C, says what it knows.

    The exit status is 1 if something differs, and 2 if nothing does but not everything was examined.
    reports/confluence.md says what the answers mean.
    """
    from ...verify.confluence import pairs_of, search
    from ..confluence import PAGE, PairWatcher, confluence_json, confluence_text, page

    if write_page and names:
        raise InputError("--page is about the whole catalogue", expected="no names, or no --page")
    known = {r.name for pair in pairs_of() for r in pair}
    for name in names or ():
        if name not in known:
            raise InputError(
                f"{quoted(name)} is no rule that the simplifier rewrites with",
                expected="a rule of the catalogue that is neither structural nor sharing (`indexproof list rules`)",
            )
    start = time.perf_counter()
    with PairWatcher(len(pairs_of(among=names or ()))) as watcher:
        run = search(names or (), count=count, jobs=jobs, progress=watcher)
    seconds = time.perf_counter() - start
    if write_page and run.interrupted:
        emit(f"{PAGE}: not written, the run was interrupted")
    elif write_page:
        with writing("cannot write", PAGE):
            PAGE.write_text(page(run), "utf-8")
    report(json, lambda: confluence_json(run, seconds=seconds), lambda: confluence_text(run, seconds=seconds))
    raise typer.Exit(run.exit_status)
