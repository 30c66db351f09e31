"""Maps on a terminal and in a notebook, on several lines, with variables coloured by kind."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from html import escape
from typing import TYPE_CHECKING, Final

from .variables import RESERVED

if TYPE_CHECKING:
    from rich.text import Text

_WORD: Final = re.compile(
    r"(?P<hlo>hlo:[^\n]*)|(?P<name>[A-Za-z_][A-Za-z0-9_]*)|(?P<number>-?[0-9]+)|(?P<rest>.)", re.DOTALL
)
_RICH: Final = {"dim": "cyan", "range": "green", "rt": "magenta", "operator": "bold", "hlo": "dim"}
_CSS: Final = {
    "dim": "color:#0b7285",
    "range": "color:#2b8a3e",
    "rt": "color:#a61e9b",
    "operator": "font-weight:600",
    "hlo": "opacity:.65",
}


def _pieces(text: str, kinds: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Split ``text`` into words, each with its style: a kind of variable, ``operator``, ``number``, ``hlo`` or none."""
    for found in _WORD.finditer(text):
        word = found[0]
        if found.lastgroup == "name":
            yield word, kinds.get(word, "operator" if word in RESERVED or word == "domain" else "")
        else:
            yield word, "" if found.lastgroup == "rest" else str(found.lastgroup)


def rich_text(text: str, kinds: Mapping[str, str]) -> Text:
    """Return the text of a map, styled for a terminal (needs ``rich``, which is imported lazily).

    ``kinds`` gives the kind of every variable: ``dim``, ``range`` or ``rt``.
    """
    from rich.text import Text

    return Text.assemble(*((word, _RICH.get(kind, "")) for word, kind in _pieces(text, kinds)), no_wrap=False)


def html_text(text: str, kinds: Mapping[str, str]) -> str:
    """Return the text of a map as a block of HTML without scripts or style sheets."""
    parts = []
    for word, kind in _pieces(text, kinds):
        style = _CSS.get(kind)
        parts.append(f'<span style="{style}">{escape(word)}</span>' if style else escape(word))
    return f'<pre class="indexproof-map">{"".join(parts)}</pre>'


class Shown:
    """A base class for results that notebooks show as their printed text."""

    __slots__ = ()

    def _repr_html_(self) -> str:
        return html_text(str(self), {})
