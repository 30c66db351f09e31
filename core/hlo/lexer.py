"""Scanning of HLO text: patterns, balanced spans, positions of errors.

The reader never cuts a module into tokens. HLO text is regular enough that one compiled pattern matches a whole
instruction. Nested braces, JSON and tuple shapes, which patterns cannot match, are found by a scan for brackets. All
patterns use possessive quantifiers, so that malformed text cannot make the regex engine backtrack.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NoReturn, TypeVar

from ..errors import InputError

T = TypeVar("T")
NAME = r"[A-Za-z0-9_][\w.\-]*+"
OPCODE = r"[A-Za-z][\w\-]*+"
STRING = r'"[^"\\]*+(?:\\.[^"\\]*+)*+"'

_SPACE = re.compile(r"\s*+")
_NAME = re.compile(rf"%?+({NAME})", re.ASCII)
# An unclosed string or comment extends to the end of the text, so that no opening mark is scanned twice.
_COMMENT = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+(?:"|\\?\Z)|/\*.*?(?:\*/|\Z)|//[^\n]*+', re.DOTALL)
_INTEGER = re.compile(r"[+-]?\d++", re.ASCII)
_BRACKET = re.compile(rf"{STRING}|[{{}}()\[\]]|\"", re.DOTALL)
_VALUE_STEP = re.compile(rf"[^\s,{{}}()\[\]\"]++|{STRING}|[{{(\[]", re.DOTALL)
_WORD = re.compile(r"[\w.\-%]++|.", re.DOTALL)
_CLOSING = {"{": "}", "(": ")", "[": "]"}

# Python refuses to convert integers beyond 4300 digits; no size, index or identifier comes near this.
_LONGEST_INTEGER = 40


class Source:
    """A text with methods that scan it and report errors in it. Positions are offsets into `text`."""

    __slots__ = ("original", "text")

    def __init__(self, text: str) -> None:
        if not isinstance(text, str):
            raise InputError(f"expected text, not {type(text).__name__}")
        self.original = text
        # some editors write a byte order mark at the beginning, which is no part of the text
        self.text = blank_comments(" " + text[1:] if text.startswith("\ufeff") else text)

    def fail(self, position: int, message: str, expected: str = "") -> NoReturn:
        """Raise `InputError` pointing at an offset."""
        raise InputError.at(message, self.original, min(position, len(self.original)), expected)

    def unexpected(self, position: int, where: str, expected: str) -> NoReturn:
        """Raise `InputError` about the unexpected text at an offset."""
        self.fail(position, f"{self.found(position)} {where}", expected)

    def skip(self, position: int) -> int:
        """Return the first offset at or after `position` that is not white space."""
        found = _SPACE.match(self.text, position)
        return position if found is None else found.end()

    def expect(self, word: str, position: int, where: str) -> int:
        """Return the offset after `word`. Raises `InputError` unless `word` comes next."""
        position = self.skip(position)
        if not self.text.startswith(word, position):
            self.unexpected(position, where, f"`{word}`")
        return position + len(word)

    def found(self, position: int) -> str:
        """Describe the text at an offset, for a message."""
        if position >= len(self.text):
            return "the text ends"
        found = _WORD.match(self.text, position)
        word = self.text[position] if found is None else found.group()
        return f"unexpected {shorten(word)!r}"

    def name(self, position: int, what: str) -> tuple[str, int]:
        """Read a name; return it without its `%`, and the offset after it."""
        position = self.skip(position)
        found = _NAME.match(self.text, position)
        if found is None:
            self.fail(position, f"{self.found(position)} where {what} belongs", what)
        return found.group(1), found.end()

    def listed(
        self, position: int, closing: tuple[str, ...], item: Callable[[int], tuple[T, int]], where: str, what: str
    ) -> tuple[list[T], int]:
        """Read items separated by commas up to a closing mark; return them and the offset of the mark."""
        found: list[T] = []
        position = self.skip(position)
        while not self.text.startswith(closing, position):
            value, position = item(position)
            found.append(value)
            position = self.skip(position)
            if not self.text.startswith(closing, position):
                position = self.skip(self.expect(",", position, where))
                if self.text.startswith(closing, position):
                    self.unexpected(position, where, what)
        return found, position

    def integer(self, position: int, what: str) -> tuple[int, int]:
        """Read an integer; return it and the offset after it."""
        position = self.skip(position)
        found = _INTEGER.match(self.text, position)
        if found is None:
            self.fail(position, f"{self.found(position)} where {what} belongs", "an integer")
        return self.checked_integer(found.group(), position), found.end()

    def checked_integer(self, digits: str, position: int) -> int:
        """Convert `digits` to an integer. Raises `InputError` for an absurdly long one."""
        if len(digits) > _LONGEST_INTEGER:
            self.fail(position, f"an integer of {len(digits)} digits", f"at most {_LONGEST_INTEGER} digits")
        return int(digits)

    def close(self, position: int) -> int:
        """Return the offset after the bracket that closes the one at `position`, skipping strings."""
        text = self.text
        wanted: list[tuple[str, int]] = []
        for found in _BRACKET.finditer(text, position):
            bracket = found.group()
            if bracket in _CLOSING:
                wanted.append((_CLOSING[bracket], found.start()))
                continue
            if bracket == '"':
                self.fail(found.start(), "a string is not closed", '`"`')
            if bracket[0] == '"':
                continue
            if bracket != wanted[-1][0]:
                self.fail(found.start(), f"unexpected {bracket!r}", f"`{wanted[-1][0]}`")
            wanted.pop()
            if not wanted:
                return found.end()
        opening = wanted[-1][1]
        self.fail(opening, f"{text[opening]!r} is not closed", f"`{wanted[-1][0]}`")

    def value_end(self, position: int) -> int:
        """Return the offset after an attribute's value, which ends at a comma, a space or an unmatched bracket."""
        start = position
        while not self.text.startswith("=", start):
            found = _VALUE_STEP.match(self.text, position)
            if found is None:
                break
            if found.group() not in _CLOSING:
                position = found.end()
                continue
            position = self.close(position)
            if found.group() == "{":
                break
        if self.text.startswith('"', position):
            self.fail(position, "a string is not closed", '`"`')
        if position == start:
            self.fail(position, f"{self.found(position)} where a value belongs", "a value")
        return position


def blank_comments(text: str) -> str:
    """Return `text` with comments replaced by as many spaces (newlines kept), so that offsets stay valid."""
    if "/*" not in text and "//" not in text:
        return text
    return _COMMENT.sub(lambda found: _blank(found[0]), text)


def _blank(found: str) -> str:
    """Replace a comment by spaces; keep strings and unclosed comments."""
    if found[0] == '"' or (found[1] == "*" and (len(found) < 4 or not found.endswith("*/"))):
        return found
    return " " * len(found) if "\n" not in found else re.sub(r"[^\n]", " ", found)


def shorten(word: str, limit: int = 40) -> str:
    """Cut `word` to at most `limit` characters."""
    return word if len(word) <= limit else word[: limit - 1] + "…"
