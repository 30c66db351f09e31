"""Reading of modules from files and from text."""

from __future__ import annotations

import gzip
import re
import zlib
from pathlib import Path

from ..core.errors import InputError, quoted
from ..core.hlo import Module
from ..core.hlo.lexer import blank_comments
from ..core.stablehlo import read_any
from .files import noted, read_text, unreadable
from .layout import listed

_MODULE = re.compile(r"^[ \t]*+HloModule\s++([^\s,{}()]++)", re.MULTILINE)


def module_of(name: str, text: str | None = None, wanted: str | None = None) -> Module:
    """Read the module in a file, compressed if the name ends in `.gz`, or in ``text``; StableHLO needs the extra `jax`.

    If the text has several HLO modules, one after another, ``wanted`` names the one to read. Raises
    :class:`InputError`, with the place, for text that is neither HLO nor StableHLO, and if the named module is missing.
    """
    shown = "standard input" if text is not None else name
    if text is None:
        text = hlo_file_text(name)
    with noted(f"in {shown}"):
        return read_any(_module_text(text, wanted))


def _module_text(text: str, wanted: str | None) -> str:
    """Return the text of one module after empty lines that keep its line numbers."""
    if wanted is None and text.count("HloModule") < 2:
        return text
    starts = list(_MODULE.finditer(blank_comments(text)))
    if wanted is None and len(starts) < 2:
        return text
    ends = [*(m.start() for m in starts[1:]), len(text)]
    parts = {m[1]: (m.start(), end) for m, end in zip(starts, ends, strict=True)}
    if wanted is None or wanted not in parts:
        which = f"{len(starts)} modules in one text" if wanted is None else f"no module {quoted(wanted)}"
        known = f"--module and one of {listed([*parts])}" if parts else "`HloModule` and a name"
        raise InputError(which, expected=known)
    start, end = parts[wanted]
    return "\n" * text.count("\n", 0, start) + text[start:end]


def hlo_file_text(path: str | Path) -> str:
    """Return the text of a file, decompressed if the name ends in `.gz`."""
    if Path(path).suffix != ".gz":
        return read_text(path)
    try:
        return gzip.decompress(Path(path).read_bytes()).decode("utf-8")
    except (OSError, EOFError, ValueError, zlib.error) as error:
        raise unreadable(path, error) from None
