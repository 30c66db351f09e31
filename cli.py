"""The ``indexproof`` command.

Exit status: 0 all proved, 1 something is false, 2 undecided or not checked, 3 bad input, 4 a bug in
indexproof. The commands are in ``reports/commands``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, NoReturn

import typer

from . import __version__
from .core.expr import COMPILED as COMPILED_CORE
from .reports.commands import confluence, documents, hlo, maps, proving, trust
from .reports.commands.dev import add_tools
from .reports.commands.frame import Commands

__all__ = ["app", "main"]

app = typer.Typer(
    cls=Commands,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    help="Verify tensor indexing maps: prove what is claimed of them, refute what is false, simplify.",
    epilog="Exit status: 0 all proved, 1 something is false, 2 undecided or not checked, 3 bad input, 4 a "
    "bug in indexproof itself.",
)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"indexproof {__version__}{' (compiled core)' if COMPILED_CORE else ''}")
        raise typer.Exit()


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and stop.")
    ] = False,
    debug: Annotated[
        bool,
        typer.Option("--debug", help="Show the Python traceback of an error; accepted anywhere on the line."),
    ] = False,
) -> None:
    """Verify tensor indexing maps: prove what is claimed of them, refute what is false, simplify."""


COMMANDS: dict[str, Callable[..., None]] = {
    "prove": proving.prove,
    "equal": maps.equal,
    "simplify": maps.simplify,
    "replay": trust.replay,
    "check-certificate": trust.check_certificate,
    "hlo": hlo.hlo,
    "layout": hlo.layout,
    "bitcast": hlo.bitcast,
    "launch": hlo.launch,
    "width": maps.width,
    "convert": maps.convert,
    "export": trust.export,
    "confluence": confluence.confluence,
    "check": proving.check,
    "list": documents.list_,
    "show": documents.show,
    "docs": documents.docs,
}
"""The commands by their names, in the order of the help."""

for _name, _command in COMMANDS.items():
    app.command(_name)(_command)

dev = typer.Typer(help="Tools for developing indexproof itself.", no_args_is_help=True, rich_markup_mode=None)
add_tools(dev)
app.add_typer(dev, name="dev")


def main() -> NoReturn:
    """The entry point of the ``indexproof`` script."""
    app()
    raise AssertionError("a command ends with its exit status")
