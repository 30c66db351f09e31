"""Maps on a terminal and in a notebook: the textual notation over several lines, with variables coloured by
kind.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import escape
from typing import TYPE_CHECKING, Any, Final

from .errors import TooLargeError
from .indexing_map import RESERVED, IndexingMap
from .text_printer import format_map

if TYPE_CHECKING:
    from rich.text import Text

__all__ = ["html_map", "rich_map"]

_WORD: Final = re.compile(
    r"(?P<hlo>hlo:[^\n]*)|(?P<name>[A-Za-z_][A-Za-z0-9_]*)|(?P<number>-?[0-9]+)|(?P<rest>.)", re.DOTALL
)
_RICH: Final = {
    "dim": "cyan",
    "range": "green",
    "rt": "magenta",
    "operator": "bold",
    "number": "",
    "hlo": "dim",
    "": "",
}
_CSS: Final = {
    "dim": "color:#0b7285",
    "range": "color:#2b8a3e",
    "rt": "color:#a61e9b",
    "operator": "font-weight:600",
    "hlo": "opacity:.65",
}


def _pieces(m: IndexingMap) -> Iterator[tuple[str, str]]:
    """The text of ``m`` in pieces, each with what it is: a kind of variable, an operator, or nothing."""
    kinds = (
        {v.name: "dim" for v in m.dims} | {v.name: "range" for v in m.ranges} | {v.name: "rt" for v in m.rts}
    )
    try:
        text = format_map(m, multiline=True)
    except TooLargeError as error:
        text = f"<map with {len(m.dims)} dims and {len(m.results)} results: {error}>"
    for found in _WORD.finditer(text):
        word = found[0]
        if found.lastgroup == "name":
            yield word, kinds.get(word, "operator" if word in RESERVED or word == "domain" else "")
        else:
            yield word, "" if found.lastgroup == "rest" else str(found.lastgroup)


def rich_map(m: IndexingMap) -> Text:
    """The map as styled text for a terminal (needs ``rich``, which is imported here and not before)."""
    from rich.text import Text

    return Text.assemble(*((word, _RICH[kind]) for word, kind in _pieces(m)), no_wrap=False)


def html_map(m: IndexingMap) -> str:
    """The map as a block of HTML without scripts or style sheets."""
    parts: list[Any] = []
    for word, kind in _pieces(m):
        style = _CSS.get(kind)
        parts.append(f'<span style="{style}">{escape(word)}</span>' if style else escape(word))
    return f'<pre class="indexproof-map">{"".join(parts)}</pre>'
