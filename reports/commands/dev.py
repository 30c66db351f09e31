"""The commands of ``indexproof dev``: generated documents, and the tools in ``tests/dev`` of a checkout.

An installed wheel lacks the tools.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import typer

from ...core.errors import InputError
from .frame import FALSE, PROVED, emit, say, writing

#: The tools, each with a line of help; their options are declared beside them, in ``tests/dev/commands.py``.
TOOLS = {
    "fuzz": "Simplify random maps and compare each with its result.",
    "fuzz-hlo": "Damage HLO modules and maps: each is read or refused.",
    "faults": "Inject faults, and see that each is noticed.",
    "stability": "Prove again under other names, orders and seeds.",
    "confluence": "Search for results that depend on the order of rewriting.",
}
_FOLDER = Path(__file__).parents[2] / "tests" / "dev"


def add_tools(app: typer.Typer) -> None:
    """Add the tools to ``app`` as commands that hand their arguments on."""
    settings = {"ignore_unknown_options": True, "allow_extra_args": True, "help_option_names": []}
    for name, line in TOOLS.items():
        app.command(name, help=line, add_help_option=False, context_settings=settings)(_runner(name))


def _runner(name: str) -> Callable[[typer.Context], None]:
    def run(context: typer.Context) -> None:
        command = typer.main.get_command(_loaded())
        tool = command.commands[name]  # type: ignore[attr-defined]
        with tool.make_context(name, list(context.args), parent=context.parent) as inner:
            tool.invoke(inner)

    return run


def _loaded() -> typer.Typer:
    """The commands of the tools.  Raises :class:`InputError` where there is no checkout."""
    if not _FOLDER.is_dir():
        said = f"the tools for developing indexproof are not installed: there is no folder {_FOLDER}"
        expected = "the command in a checkout of its sources, after `pip install --editable .` there"
        raise InputError(said, expected=expected)
    # on the path, so that worker processes find them too
    if str(_FOLDER.parent) not in sys.path:
        sys.path.append(str(_FOLDER.parent))
    tools: typer.Typer = importlib.import_module(f"{_FOLDER.name}.commands").app
    return tools


def docs(context: typer.Context, *, check_only: bool = False, folder: Path | None = None) -> None:
    """Write the generated documents and the compiled rules.

    Args:
        check_only (--check): Write nothing; exit with 1 if a document is out of date.
        folder (PATH): Where they are (default: beside the program).
    """
    from ...rules.catalog import compiled_sources
    from ..documents import documents, outdated, write_documents
    from ..published import PAGE, is_current, published_page

    place = folder or Path(__file__).parents[1] / "docs"
    pages = documents(help_texts(context.find_root().command))
    stale = outdated(pages, place)
    # the audit of the published maps stands beside the others and repeats itself in the claims files
    audit = folder is None and not is_current()
    sources = compiled_sources().items() if folder is None else ()
    code = {p: text for p, text in sources if not p.exists() or p.read_text("utf-8") != text}
    if check_only:
        for path in code:
            say(f"{path}: is not what the rules say")
        if audit:
            say(f"{PAGE}: is not what the audit says")
        for name, why in stale.items():
            say(f"{place / name}: {why}")
        if stale or audit or code:
            say("run `make docs` (or `indexproof dev docs`) and commit the result")
        raise typer.Exit(FALSE if stale or audit or code else PROVED)
    with writing("cannot write below", place):
        write_documents(pages, place)
        if audit:
            PAGE.write_text(published_page(), "utf-8")
        for path, text in code.items():
            path.write_text(text, "utf-8")
    changed = len(stale) + audit + len(code)
    emit(f"{len(pages) + 3 * (folder is None)} documents in {place}, {changed} changed")


def help_texts(group: Any) -> dict[str, str]:
    """Return the help of every installed command at 80 columns, by the words that call it."""
    names = group.context_settings["help_option_names"]
    out: dict[str, str] = {}

    def add(command: Any, words: str, parent: Any) -> None:
        settings = {"terminal_width": 80, "help_option_names": names}
        context = command.context_class(
            command, info_name=words.rsplit(maxsplit=1)[-1], parent=parent, **settings
        )
        out[words] = command.get_help(context)
        for name, inner in getattr(command, "commands", {}).items():
            if name not in TOOLS:  # these say themselves what their options are
                add(inner, f"{words} {name}", context)

    add(group, "indexproof", None)
    return out
