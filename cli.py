"""The ``indexproof`` command.

Exit status: 0 all proved, 1 something is false, 2 undecided or not checked, 3 bad input, 4 a bug in
indexproof. The commands are in ``reports/commands``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, NoReturn

import typer

from . import __version__
from .core.native import NATIVE
from .reports.commands import dev, gate, hlo, maps, proofs, proving, website
from .reports.commands.frame import Commands
from .reports.commands.options import documented

__all__ = ["app", "main"]

app = typer.Typer(
    cls=Commands,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 80},
    help="Verify tensor indexing maps: prove what is claimed of them, refute what is false, simplify.",
    epilog="Exit status: 0 all proved, 1 something is false, 2 undecided or not checked, 3 bad input, 4 a "
    "bug in indexproof itself.",
)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"indexproof {__version__}{' (native core)' if NATIVE else ''}")
        raise typer.Exit()


@app.callback()
@documented
def _options(
    *,
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and stop.")
    ] = False,
    debug: bool = False,
    quiet: bool = False,
    verbose: bool = False,
) -> None:
    """Verify tensor indexing maps: prove what is claimed of them, refute what is false, simplify.

    Args:
        debug: Show the Python traceback of an error; accepted anywhere on the line.
        quiet (-q): Print the last line of a report, and no progress; accepted anywhere.
        verbose (-v): Tell of every step of long work; accepted anywhere.
    """


def _group(title: str) -> typer.Typer:
    return typer.Typer(cls=Commands, rich_markup_mode=None, no_args_is_help=True, help=title)


layouts = _group("Explain arrays in memory, bitcasts and kernel launches.")
layouts.command("show")(documented(hlo.layout))
layouts.command("bitcast")(documented(hlo.bitcast))
layouts.command("launch")(documented(hlo.launch))

development = _group("Test indexproof itself, and write what is generated.")
dev.add_tools(development)

#: The commands in the order of the help, by the headings that they stand under.
COMMANDS: dict[str, dict[str, Callable[..., None] | typer.Typer]] = {
    "Prove claims": {
        "prove": proving.prove,
        "check": proving.check,
        "gate": gate.gate,
        "init": gate.init,
        "show": proofs.show,
        "report": website.report,
    },
    "Work with one map": {
        "equal": maps.equal,
        "property": maps.property_,
        "simplify": maps.simplify,
        "width": maps.width,
        "convert": maps.convert,
    },
    "Work with programs": {"hlo": hlo.hlo, "pallas": hlo.pallas, "layout": layouts},
    "Check proofs": {"replay": proofs.replay, "export": proofs.export},
    "Develop indexproof": {"dev": development},
}

for _heading, _commands in COMMANDS.items():
    for _name, _command in _commands.items():
        if isinstance(_command, typer.Typer):
            app.add_typer(_command, name=_name, rich_help_panel=_heading)
        else:
            app.command(_name, rich_help_panel=_heading)(documented(_command))


def main() -> NoReturn:
    """The entry point of the ``indexproof`` script."""
    app()
    raise AssertionError("a command ends with its exit status")
