"""What the docstring of a command says of its arguments and options."""

from __future__ import annotations

import pytest
import typer
from typer.testing import CliRunner

from indexproof.reports.commands.options import documented


def grown(start: int, *, by: int = 2, loud: bool = False) -> None:
    """Grow.

    Args:
        start (N): Where to begin: a number.
        by (--step -s STEP 1..3): How much
            to add.
        loud: Say it twice.
    """
    typer.echo([start + by] * (1 + loud))


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("4", "[6]"),
        ("4 -s 3 --loud", "[7, 7]"),
        ("4 --step 4", "Invalid value for '--step'"),
        ("4 --by 1", "No such option"),
        ("--help", "How much to add.  [default: 2; 1<=x<=3]"),
        ("--help", "Where to begin: a number."),
    ],
)
def test_an_entry_declares_flags_bounds_and_help(words: str, said: str) -> None:
    app = typer.Typer(rich_markup_mode=None)
    app.command()(documented(grown))
    assert said in CliRunner().invoke(app, words.split()).output


def test_what_has_no_entry_is_noticed() -> None:
    def silent(*, size: int = 1) -> None:
        """Do nothing."""

    with pytest.raises(KeyError, match="size"):
        documented(silent)
