"""What is declared: the catalogue on a terminal, and the documents that are generated from it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from ...core.errors import InputError, quoted
from .frame import FALSE, PROVED, emit, report, say, writing
from .given import CachePath, Json, MaxRank, NoCache, opened_cache, rank


def list_(
    family: Annotated[
        str, typer.Option("--family", metavar="NAME", help="Only rules, transfer, transforms or ops.")
    ] = "",
    json: Json = False,
    max_rank: MaxRank = None,
) -> None:
    """List every rule, law and op with its claim in a sentence."""
    from ..catalogue import list_json, list_text
    from ..selection import FAMILIES, everything

    if family and family not in FAMILIES:
        raise InputError(
            f"--family: there is no family {quoted(family)}", expected=f"one of {', '.join(FAMILIES)}"
        )
    wanted = [c for c in everything(rank(max_rank)) if not family or c.family in FAMILIES[family]]
    report(json, lambda: list_json(wanted), lambda: list_text(wanted))


def show(
    name: Annotated[
        str, typer.Argument(metavar="NAME", show_default=False, help="A rule, a law, an op or an instance.")
    ],
    json: Json = False,
    cache: CachePath = None,
    no_cache: NoCache = False,
    max_rank: MaxRank = None,
) -> None:
    """Show one claim: what it states, its conditions, examples, obligations, and the verdicts that are known.

    Verdicts come from the cache; nothing is proved.
    """
    from ..catalogue import show_json, show_text
    from ..selection import everything, select

    among = everything(rank(max_rank))
    found = [s.named for s in select([name], among)]
    with opened_cache(cache, no_cache, not no_cache and cache is None) as kept:
        report(json, lambda: show_json(found, kept), lambda: show_text(found, kept))


def docs(
    context: typer.Context,
    check_only: Annotated[
        bool, typer.Option("--check", help="Write nothing; exit with 1 if a document is out of date.")
    ] = False,
    folder: Annotated[
        Path | None,
        typer.Option("--folder", metavar="PATH", help="Where they are (default: beside the program)."),
    ] = None,
) -> None:
    """Write what is generated: documents from the catalogue and the commands' help, and the compiled rules."""
    from ...rules.catalog import compiled_sources
    from ..documents import documents, outdated, write_documents
    from ..published import PAGE, is_current, write_page

    place = folder or Path(__file__).parents[1] / "docs"
    pages = documents(help_texts(context.find_root().command))
    stale = outdated(pages, place)
    # the audit of the published maps stands beside the others and repeats itself in the claims files
    audit = folder is None and not is_current()
    code = {
        path: text
        for path, text in (compiled_sources() if folder is None else {}).items()
        if not path.exists() or path.read_text("utf-8") != text
    }
    if check_only:
        for path in code:
            say(f"{path}: is not what the rules say")
        if audit:
            say(f"{PAGE}: is not what the audit says")
        for name, why in stale.items():
            say(f"{place / name}: {why}")
        if stale or audit or code:
            say("run `make docs` (or `indexproof docs`) and commit the result")
        raise typer.Exit(FALSE if stale or audit or code else PROVED)
    with writing("cannot write below", place):
        write_documents(pages, place)
        if audit:
            write_page()
        for path, text in code.items():
            path.write_text(text, "utf-8")
    emit(
        f"{len(pages) + 3 * (folder is None)} documents in {place}, {len(stale) + audit + len(code)} changed"
    )


def help_texts(group: Any) -> dict[str, str]:
    """The help of every command of ``group`` at a fixed width, by the words that call it."""
    names = group.context_settings["help_option_names"]
    top = group.context_class(group, info_name="indexproof", terminal_width=100, help_option_names=names)
    out = {"indexproof": group.get_help(top)}
    for name, command in group.commands.items():
        inner = command.context_class(command, info_name=name, parent=top, terminal_width=100)
        out[f"indexproof {name}"] = command.get_help(inner)
    return out
