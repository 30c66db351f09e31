"""Plain text that people read: labelled blocks, tables, durations, and colour where a terminal can show
it.
"""

from __future__ import annotations

import codecs
import os
import re
import sys
from collections.abc import Iterable, Sequence
from typing import TextIO

__all__ = [
    "LABEL",
    "SPELLED",
    "block",
    "count",
    "duration",
    "joined",
    "lose",
    "put",
    "spent",
    "table",
    "write",
]

#: The least width of a label column.
LABEL = 9

_STYLES = {
    "PROVED": "bold green",
    "REFUTED": "bold red",
    "VACUOUS": "bold red",
    "UNDEFINED": "bold red",
    "UNDECIDED": "bold yellow",
    "NOT CHECKED": "bold yellow",
}
_STATUS = re.compile(rf"\b(?:{'|'.join(_STYLES)})\b")


def block(head: str, lines: Sequence[tuple[str, str]]) -> str:
    """``head`` and below it labelled lines, their texts in one column; an empty label continues the line
    above.

    A text of several lines stays in its column.
    """
    width = max([LABEL, *(len(label) + 2 for label, _ in lines)])
    single = [
        (label if not n else "", line) for label, text in lines for n, line in enumerate(text.split("\n"))
    ]
    return "\n".join([head, *(f"  {label:<{width}}{text}".rstrip() for label, text in single)])


def table(rows: Sequence[Sequence[str]], right: Iterable[int] = ()) -> list[str]:
    """Rows as aligned lines; the columns numbered in ``right`` are set flush right."""
    flush = set(right)
    widths = [max(len(row[k]) for row in rows) for k in range(len(rows[0]))] if rows else []
    return [
        "  ".join(
            cell.rjust(w) if k in flush else cell.ljust(w)
            for k, (cell, w) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]


def count(n: int, thing: str, things: str = "") -> str:
    """``1 claim``, ``7,514 obligations``."""
    return f"{n:,} {thing if n == 1 else things or thing + 's'}"


def duration(seconds: float) -> str:
    """``0.4 ms``, ``31 ms``, ``1.2 s``."""
    if seconds >= 0.9995:
        return f"{seconds:.1f} s"
    ms = seconds * 1000
    return f"{ms:.1f} ms" if ms < 9.95 else f"{ms:.0f} ms"


def spent(seconds: float, jobs: int) -> str:
    """``in 1.2 s on 2 cores``; ``by 8 processes`` where there are fewer cores than that, or they are elsewhere."""
    from ..verify.outcome import available_cores

    on = (
        f"on {count(jobs, 'core')}"
        if jobs <= available_cores()
        else f"by {count(jobs, 'process', 'processes')}"
    )
    return f"in {duration(seconds)} {on}"


def joined(parts: Iterable[str]) -> str:
    """The non-empty parts, set apart by three spaces."""
    return "   ".join(p for p in parts if p)


#: What is written for symbols where a terminal or a locale has none of them.
_SPELLED = {
    "·": "*",
    "×": "x",
    "→": "->",
    "←": "<-",
    "⇔": "<=>",
    "⇒": "==>",
    "⇐": "<==",
    "∈": "in",
    "⊆": "within",
    "⊇": "covers",
    "≤": "<=",
    "≥": ">=",
    "≠": "!=",
    "∣": "|",
    "⊢": "|-",
    "⊬": "|/-",
    "∞": "inf",
    "±": "+-",
    "…": "...",
    "⟦": "[[",
    "⟧": "]]",
    "′": "'",
}


def _spelled(error: UnicodeError) -> tuple[str | bytes, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    symbol = error.object[error.start]
    if symbol in _SPELLED:
        return _SPELLED[symbol], error.start + 1
    escaped, _ = codecs.lookup_error("backslashreplace")(
        UnicodeEncodeError(error.encoding, error.object, error.start, error.start + 1, error.reason)
    )
    return escaped, error.start + 1


#: The name of the error handler of a stream that spells out what its encoding lacks.
SPELLED = "indexproof.spelled"
codecs.register_error(SPELLED, _spelled)


def put(text: str, stream: TextIO) -> None:
    """Write ``text``, at once if it is for standard error.

    A reader that has gone (``indexproof list | head``) changes nothing, nor does a standard error that cannot be written:
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


def write(text: str, stream: TextIO | None = None) -> None:
    """``text`` and a line end, on standard output by default; verdicts in colour on a terminal, plain in a
    pipe.

    Lines are never broken: what is printed in a pipe is what is printed on a terminal.
    """
    out = stream or sys.stdout
    if not out.isatty():
        put(text + "\n", out)
        return
    from rich.console import Console
    from rich.text import Text

    styled = Text(text)
    for found in _STATUS.finditer(text):
        styled.stylize(_STYLES[found[0]], *found.span())
    Console(file=out, highlight=False, soft_wrap=True).print(styled)
