"""Reading and writing JSON text of any depth.

The standard library's reader and writer recurse, and reject integers with thousands of digits; here expressions nested
ten thousand deep and huge bounds are ordinary input.  Duplicate keys, ``NaN`` and ``Infinity`` are errors.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, Final

from .errors import InputError, TooLargeError, quoted
from .numerals import format_int, parse_int

_SPACE: Final = re.compile(r"[ \t\r\n]*")
_STRING: Final = re.compile(r'"(?:[^"\\\x00-\x1f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"')
_NUMBER: Final = re.compile(r"(-?(?:0|[1-9][0-9]*))(\.[0-9]+)?([eE][+-]?[0-9]+)?(?![0-9A-Za-z.])")
_WORDS: Final = {"true": True, "false": False, "null": None}
_WORD: Final = re.compile(r"[A-Za-z]+")
#: Limit on the number of values written; lists with shared parts can have astronomically long text.
MAX_VALUES: Final = 20_000_000


def load_json(text: str, places: dict[int, dict[Any, int]] | None = None, /) -> Any:
    """Read the value of JSON ``text``; raises :class:`InputError` with line and column.

    ``places``, if given, receives the offset of every key and list item, indexed by the ``id`` of its container.
    """
    if not isinstance(text, str):
        raise InputError(f"expected JSON text, not {type(text).__name__}")

    def error(message: str, at: int, expected: str) -> InputError:
        return InputError.at(message, text, at, expected)

    def unexpected(at: int, expected: str) -> InputError:
        return error(f"unexpected {quoted(text[at])}" if at < len(text) else "the JSON ends too early", at, expected)

    def space(at: int) -> int:
        found = _SPACE.match(text, at)
        return found.end() if found else at

    def key(at: int, into: dict[str, Any]) -> tuple[str, int]:
        """Read a new key of ``into``; return it with the position after its colon."""
        name, end = string(at, "a key in double quotes")
        if name in into:
            raise error(f"duplicate key {quoted(name)}", at, "each key once")
        if places is not None:
            places.setdefault(id(into), {})[name] = at
        end = space(end)
        if text[end : end + 1] != ":":
            raise unexpected(end, "`:`")
        return name, end + 1

    def string(at: int, expected: str) -> tuple[str, int]:
        found = _STRING.match(text, at)
        if found is None:
            raise unexpected(at, expected)
        return str(json.loads(found[0])), found.end()

    # open containers, each with the pending key of its parent and the position of its opening bracket
    stack: list[tuple[Any, str, int]] = []
    pending = ""
    at = space(1 if text.startswith("\ufeff") else 0)
    while True:
        c = text[at : at + 1]
        if places is not None and stack and isinstance(items := stack[-1][0], list):
            places.setdefault(id(items), {})[len(items)] = at
        value: Any
        if c == "[" or c == "{":
            inside = space(at + 1)
            container: Any = [] if c == "[" else {}
            if text[inside : inside + 1] != ("]" if c == "[" else "}"):
                stack.append((container, pending, at))
                if c == "{":
                    pending, inside = key(inside, container)
                at = space(inside)
                continue
            value, at = container, inside + 1
        elif c == '"':
            value, at = string(at, 'a string without control characters, with valid escapes, closed by `"`')
        elif (number := _NUMBER.match(text, at)) is not None:
            whole = number[2] is None and number[3] is None
            try:
                value = parse_int(number[1]) if whole else float(number[0])
            except InputError as wrong:
                raise error(wrong.message, at, wrong.expected) from None
            at = number.end()
        elif (word := _WORD.match(text, at)) is not None and word[0] in _WORDS:
            value, at = _WORDS[word[0]], word.end()
        else:
            raise unexpected(at, "a JSON value")
        while True:  # store the value, and pop all containers that end after it
            at = space(at)
            if not stack:
                if at < len(text):
                    raise unexpected(at, "the end of the JSON")
                return value
            container, outer, opened = stack[-1]
            close = "]" if isinstance(container, list) else "}"
            if isinstance(container, list):
                container.append(value)
            else:
                container[pending] = value
            c = text[at : at + 1]
            if c == close:
                stack.pop()
                value, pending, at = container, outer, at + 1
                continue
            if c != ",":
                here = error("", opened, "")
                raise unexpected(at, f"`,` or `{close}` (opened in line {here.line}, column {here.column})")
            at = space(at + 1)
            if isinstance(container, dict):
                pending, at = key(at, container)
                at = space(at)
            break


def dump_json(value: Any) -> str:
    """Return compact JSON text of dictionaries, lists, strings, numbers, booleans and ``None``.

    Raises :class:`TypeError` for anything else, and :class:`~indexproof.core.errors.TooLargeError` when the text, in
    which shared parts are repeated, would have more than ``MAX_VALUES`` values.
    """
    _check_size(value)
    out: list[str] = []
    todo: list[Any] = [(value,)]  # values are wrapped in one-tuples; strings are finished text
    while todo:
        item = todo.pop()
        if isinstance(item, str):
            out.append(item)
            continue
        (v,) = item
        if v is None or isinstance(v, (bool, str, float)):
            out.append(json.dumps(v, allow_nan=False))
        elif isinstance(v, int):
            out.append(format_int(v))
        elif isinstance(v, Mapping):
            parts: list[Any] = []
            for k, x in v.items():
                parts += [", " if parts else "{", f"{json.dumps(str(k))}: ", (x,)]
            todo.extend(reversed([*parts, "}"] if parts else ["{}"]))
        elif isinstance(v, (list, tuple)):
            parts = []
            for x in v:
                parts += [", " if parts else "[", (x,)]
            todo.extend(reversed([*parts, "]"] if parts else ["[]"]))
        else:
            raise TypeError(f"{type(v).__name__} has no JSON form")
    return "".join(out)


def _check_size(root: Any) -> None:
    """Raise for more than ``MAX_VALUES`` values below ``root``; shared parts count each time they are written."""
    sizes: dict[int, int] = {}
    todo: list[tuple[Any, bool]] = [(root, False)]
    while todo:
        value, inside = todo.pop()
        if not isinstance(value, (Mapping, list, tuple)):
            continue
        parts = value.values() if isinstance(value, Mapping) else value
        if inside:
            sizes[id(value)] = 1 + sum(sizes.get(id(x), 1) for x in parts)
            if sizes[id(value)] > MAX_VALUES:
                raise TooLargeError(f"the JSON text would have more than {MAX_VALUES} values")
        elif id(value) not in sizes:
            sizes[id(value)] = MAX_VALUES + 1  # a list that contains itself finds this size, which exceeds the limit
            todo.append((value, True))
            todo.extend((x, False) for x in parts)
