"""The errors that users can meet, with the position of each.

All readers (of maps, JSON, claims, attributes, HLO) raise :class:`InputError` and nothing else.  Its message is one
line with the position, the error and what was expected; :meth:`InputError.render` adds the source line for a terminal.
"""

from __future__ import annotations

from typing import Any

_WINDOW = 100  # maximum number of characters shown around the caret in an overlong source line


class IndexproofError(Exception):
    """Base class of all errors that this package raises deliberately."""


class TooLargeError(IndexproofError):
    """An explicit enumeration or text would be larger than the caller allows."""


class InputError(IndexproofError, ValueError):
    """Input that cannot be read or makes no sense.

    ``line`` and ``column`` count from one and point into text; ``path`` points into JSON (``results[0][2]``) or names
    an attribute.  An error without a position has ``line == 0`` and an empty path.  ``source`` is the text that was
    read.  A text from within a file is read after as many newlines and spaces as stand it in its place.
    """

    def __init__(
        self, message: str, *, source: str = "", line: int = 0, column: int = 0, expected: str = "", path: str = ""
    ) -> None:
        super().__init__(message)
        self.message = message
        self.source = source
        self.line = line
        self.column = column
        self.expected = expected
        self.path = path

    @classmethod
    def at(cls, message: str, source: str, offset: int, expected: str = "") -> InputError:
        """Return the error at character ``offset`` of ``source``."""
        line, column = source.count("\n", 0, offset) + 1, offset - source.rfind("\n", 0, offset)
        return cls(message, source=source, line=line, column=column, expected=expected)

    @property
    def where(self) -> str:
        """The position in words, or the empty string."""
        if self.line:
            return f"line {self.line}, column {self.column}"
        return self.path

    def __str__(self) -> str:
        where = f"{self.where}: " if self.where else ""
        expected = f"; expected {self.expected}" if self.expected else ""
        return " ".join(f"{where}{self.message}{expected}".splitlines())

    def render(self) -> str:
        """Return the one-line message; where the position is known, with the source line and a caret below it."""
        lines = self.source.split("\n")
        if not 0 < self.line <= len(lines):
            return str(self)
        text = lines[self.line - 1].rstrip("\r")
        at = min(max(self.column - 1, 0), len(text))
        start = max(0, at - _WINDOW // 2) if len(text) > _WINDOW else 0
        shown = text[start : start + _WINDOW]
        lead, tail = "…" if start else "", "…" if start + _WINDOW < len(text) else ""
        # keep tabs in the padding, so that the caret stays below its column for any width of tabs
        padding = "".join("\t" if c == "\t" else " " for c in lead + text[start:at])
        return f"{self}\n  {lead}{shown}{tail}\n  {padding}^"

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuild, (dict(self.__dict__),)


def _rebuild(state: dict[str, Any]) -> InputError:
    return InputError(state.pop("message"), **state)


def quoted(text: object, limit: int = 40) -> str:
    """Return ``text`` in backquotes for a one-line message, escaped where unprintable and shortened where long."""
    s = str(text)
    cut = s if len(s) <= limit else s[: limit - 1] + "…"
    return "`" + "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in cut) + "`"
