"""Plain text for people: labelled blocks, tables, durations, and colour on terminals."""

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

#: Takes the place of a verdict for what cannot be read.
ILL_FORMED = "ILL-FORMED"

_STYLES = {"PROVED": "bold green", **dict.fromkeys(("REFUTED", "VACUOUS", "UNDEFINED", ILL_FORMED), "bold red")}
_STYLES |= dict.fromkeys(("UNDECIDED", "NOT CHECKED"), "bold yellow")
_STATUS = re.compile(rf"\b(?:{'|'.join(_STYLES)})\b")


def spent(seconds: float, jobs: int) -> str:
    """Return ``in 1.2 s on 2 cores``; ``by 8 processes`` if this machine has fewer cores, as with remote workers."""
    from ..verify.outcome import available_cores

    fit = jobs <= available_cores()
    on = f"on {count(jobs, 'core')}" if fit else f"by {count(jobs, 'process', 'processes')}"
    return f"in {duration(seconds)} {on}"


def joined(parts: Iterable[str]) -> str:
    """Join the non-empty parts with three spaces."""
    return "   ".join(p for p in parts if p)


def proved_line(verdict: str, claims: int, false: int, seconds: float) -> str:
    """Return the closing line of a report on claims."""
    said = f"{false} not proved" if false else "all proved"
    return joined([f"{verdict}  {count(claims, 'claim')}, {said}", f"in {duration(seconds)}"])


def or_dash(n: int) -> str:
    """Format a number for a table; a dash for zero."""
    return f"{n:,}" if n else "-"


def listed(names: Sequence[str], most: int = 8) -> str:
    """Join the first names, with dots if there are more."""
    return ", ".join(names[:most]) + (", …" if len(names) > most else "")


def filled(name: str, parts: Mapping[str, str]) -> str:
    """Read a file of this folder and replace the names in ``{{braces}}`` by ``parts``."""
    from importlib.resources import files

    text = files(__package__).joinpath(name).read_text("utf-8")
    return re.sub(r"\{\{(\w+)\}\}", lambda found: parts[found[1]], text)


#: Replacements for symbols that the encoding of a terminal or locale lacks.
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


#: Verbosity of the command line: -1 prints only the closing line, 1 reports each step of long work.
verbosity = 0
#: The name of the error handler that replaces symbols which the encoding of a stream lacks.
SPELLED = "indexproof.spelled"
codecs.register_error(SPELLED, _spelled)


def put(text: str, stream: TextIO) -> None:
    """Write ``text``, and flush if the stream is standard error.

    A closed pipe (``indexproof show | head``) or an unwritable standard error is no failure: further output to it is
    lost, and the exit status still reports the result.
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
    """Redirect ``stream`` to the null device, so that the interpreter reports no error when it flushes at exit."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, stream.fileno())
    os.close(nowhere)


def room(stream: TextIO | None = None) -> int:
    """Return the number of columns for a line: the width of a terminal, unlimited in a pipe."""
    return shutil.get_terminal_size().columns if (stream or sys.stdout).isatty() else sys.maxsize


def _wrapped(line: str, width: int) -> str:
    """Break a line between words; continuation lines are indented to the text right of the label."""
    if len(line) <= width:
        return line
    labelled = re.match(r" *(?:\S+(?: \S+)*? {2,})?", line)
    assert labelled is not None
    hang = " " * (labelled.end() if labelled.end() <= width // 2 else 4)
    return textwrap.fill(line, width, subsequent_indent=hang, break_long_words=False, break_on_hyphens=False)


def write(text: str, stream: TextIO | None = None) -> None:
    """Write ``text`` and a newline, to standard output by default.

    A pipe gets plain lines.  On a terminal verdicts are coloured, and long lines are broken between words.
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
