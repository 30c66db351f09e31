"""Plain text that people read: labelled blocks, tables, durations, and colour where a terminal can show it."""

from __future__ import annotations

import codecs
import os
import re
import shutil
import sys
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from typing import TextIO

from ..core import blocks

block, count, duration, table = blocks.block, blocks.count, blocks.duration, blocks.table

_STYLES = {"PROVED": "bold green", **dict.fromkeys(("REFUTED", "VACUOUS", "UNDEFINED"), "bold red")}
_STYLES |= dict.fromkeys(("UNDECIDED", "NOT CHECKED"), "bold yellow")
_STATUS = re.compile(rf"\b(?:{'|'.join(_STYLES)})\b")


def spent(seconds: float, jobs: int) -> str:
    """``in 1.2 s on 2 cores``; ``by 8 processes`` where there are fewer cores than that, or they are elsewhere."""
    from ..verify.outcome import available_cores

    fit = jobs <= available_cores()
    on = f"on {count(jobs, 'core')}" if fit else f"by {count(jobs, 'process', 'processes')}"
    return f"in {duration(seconds)} {on}"


def joined(parts: Iterable[str]) -> str:
    """The non-empty parts, set apart by three spaces."""
    return "   ".join(p for p in parts if p)


def proved_line(verdict: str, claims: int, false: int, seconds: float) -> str:
    """The last line of a report on claims."""
    said = f"{false} not proved" if false else "all proved"
    return joined([f"{verdict}  {count(claims, 'claim')}, {said}", f"in {duration(seconds)}"])


def or_dash(n: int) -> str:
    """A number in a table; a dash for none."""
    return f"{n:,}" if n else "-"


def listed(names: Sequence[str], most: int = 8) -> str:
    """The first names, and dots if there are more."""
    return ", ".join(names[:most]) + (", …" if len(names) > most else "")


def filled(name: str, parts: Mapping[str, str]) -> str:
    """A file of this folder with ``parts`` in place of their names in ``{{braces}}``."""
    from importlib.resources import files

    text = files(__package__).joinpath(name).read_text("utf-8")
    return re.sub(r"\{\{(\w+)\}\}", lambda found: parts[found[1]], text)


#: What is written for symbols where a terminal or a locale has none of them.
_WORDS = re.findall(r"\S+", "* x -> <- <=> ==> <== in within covers <= >= != | |- |/- inf +- ... [[ ]] '")
_SPELLED = dict(zip("·×→←⇔⇒⇐∈⊆⊇≤≥≠∣⊢⊬∞±…⟦⟧′", _WORDS, strict=True))


def _spelled(error: UnicodeError) -> tuple[str | bytes, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    symbol = error.object[error.start]
    if symbol in _SPELLED:
        return _SPELLED[symbol], error.start + 1
    end = error.start + 1
    one = UnicodeEncodeError(error.encoding, error.object, error.start, end, error.reason)
    return codecs.lookup_error("backslashreplace")(one)[0], end


#: -1 for the last line of a report alone, 1 for each step of long work, as the command line says.
verbosity = 0
#: The name of the error handler of a stream that spells out what its encoding lacks.
SPELLED = "indexproof.spelled"
codecs.register_error(SPELLED, _spelled)


def put(text: str, stream: TextIO) -> None:
    """Write ``text``, at once if it is for standard error.

    A reader that has gone (``indexproof show | head``) changes nothing, nor does a standard error that cannot be written:
    what else is written there is lost, and the exit status says what was found.
    """
    try:
        stream.write(text)
        if stream is sys.stderr:
            stream.flush()
    except OSError as error:
        if stream is not sys.stderr and not isinstance(error, BrokenPipeError):
            raise
        lose(stream)


def lose(stream: TextIO) -> None:
    """Nothing more is written to ``stream``, and the interpreter does not complain about it when it ends."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, stream.fileno())
    os.close(nowhere)


def room(stream: TextIO | None = None) -> int:
    """Return how many columns a line may have: those of a terminal, any number in a pipe."""
    return shutil.get_terminal_size().columns if (stream or sys.stdout).isatty() else sys.maxsize


def _wrapped(line: str, width: int) -> str:
    """Break a line between words; what follows stands below its text, right of the label."""
    if len(line) <= width:
        return line
    labelled = re.match(r" *(?:\S+(?: \S+)*? {2,})?", line)
    assert labelled is not None
    hang = " " * (labelled.end() if labelled.end() <= width // 2 else 4)
    return textwrap.fill(line, width, subsequent_indent=hang, break_long_words=False, break_on_hyphens=False)


def write(text: str, stream: TextIO | None = None) -> None:
    """Write ``text`` and a line end, on standard output by default.

    A pipe gets plain lines.  On a terminal verdicts are coloured, and longer lines broken between words.
    """
    out = stream or sys.stdout
    if not out.isatty():
        put(text + "\n", out)
        return
    text = "\n".join(_wrapped(line, room(out)) for line in text.split("\n"))
    from rich.console import Console
    from rich.text import Text

    styled = Text(text)
    for found in _STATUS.finditer(text):
        styled.stylize(_STYLES[found[0]], *found.span())
    Console(file=out, highlight=False, soft_wrap=True).print(styled)
