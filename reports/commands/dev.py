"""The commands of ``indexproof dev``: the tools in ``tests/dev`` of a checkout, which an installed wheel lacks."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from pathlib import Path

import typer

from ...core.errors import InputError

#: The tools, each with a line of help; ``tests/dev/commands.py`` declares their options.
TOOLS = {
    "docs": "Write the generated documents and the compiled rules.",
    "fuzz": "Simplify random maps and compare each with its result.",
    "fuzz-hlo": "Damage HLO modules and maps: each is read or refused.",
    "faults": "Inject faults, and see that each is noticed.",
    "stability": "Prove again under other names, orders and seeds.",
    "confluence": "Search for results that depend on the order of rewriting.",
}
_FOLDER = Path(__file__).parents[2] / "tests" / "dev"


def add_tools(app: typer.Typer) -> None:
    """Add the tools to ``app`` as commands that pass their arguments on."""
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
    """Import the commands of the tools.  Raises :class:`InputError` outside of a checkout."""
    if not _FOLDER.is_dir():
        said = f"the tools for developing indexproof are not installed: there is no folder {_FOLDER}"
        expected = "the command in a checkout of its sources, after `pip install --editable .` there"
        raise InputError(said, expected=expected)
    # on the path, so that worker processes import them too
    if str(_FOLDER.parent) not in sys.path:
        sys.path.append(str(_FOLDER.parent))
    tools: typer.Typer = importlib.import_module(f"{_FOLDER.name}.commands").app
    return tools
