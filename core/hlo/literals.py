"""Checks of the text in the parentheses of a constant against its element type.

Values are numbers of the type, `true` and `false`, or pairs `(real, imaginary)`, between braces, commas and white
space. A NaN may have a payload, `nan(0x7fc00001)`. Constants of unknown element types and of tuples are not checked.
"""

from __future__ import annotations

import re
from functools import cache
from typing import NamedTuple

from .lexer import Source, shorten

_INTEGER = r"-?\d++"
_NUMBER = r"-?(?:\d++(?:\.\d*+)?+(?:[eE][+-]?\d++)?+|\.\d++(?:[eE][+-]?\d++)?+|inf|nan(?:\(0x[0-9a-fA-F]++\))?+)"
_PAIR = rf"\(\s*+{_NUMBER}\s*+,\s*+{_NUMBER}\s*+\)"
_TYPE = re.compile(r"([suc])([1-9]\d{0,2})\Z|b?f(\d{1,3})(?:e[0-9a-z]+)?\Z|pred\Z", re.ASCII)
_WORD = re.compile(r"[^\s{},]++")

#: Pattern of one value of an array, of any type.
VALUE = re.compile(r"(?:[^\s,(){}]++(?:\(0x[0-9a-fA-F]++\))?+|\((?:[^()]++|\([^()]*+\))*+\))", re.ASCII)

# The least magnitudes that round to infinity. `_LARGE` skips short numbers without exponent, which are all smaller.
_OVERFLOW = {"f16": 65520.0, "bf16": 2.0**128 - 2.0**119, "f32": 2.0**128 - 2.0**103, "f64": float("inf")}
_LARGE = re.compile(r"(?<![\w.\-])-?(?:\d{5,}+(?:\.\d*+)?+(?:[eE][+-]?\d++)?+|[\d.]++[eE]\+?\d++)", re.ASCII)


class _Form(NamedTuple):
    values: re.Pattern[str]
    expected: str
    #: Pattern of integers that may be out of range, and the range.
    wide: re.Pattern[str] | None = None
    lo: int = 0
    hi: int = 0


@cache
def _form(element_type: str) -> _Form | None:
    found = _TYPE.match(element_type)
    if found is None:
        return None
    kind = found[1] or element_type[0]
    one, expected = {
        "s": (_INTEGER, "an integer"),
        "u": (_INTEGER, "an integer"),
        "p": (rf"true|false|{_INTEGER}", "`true`, `false` or an integer"),
        "c": (_PAIR, "a pair `(1, 2)`"),
    }.get(kind, (_NUMBER, "a number, `inf` or `nan`"))
    values = re.compile(rf"(?:[\s{{}},]++|(?:{one})(?=[\s{{}},(]|\Z))*+", re.ASCII)
    if kind not in "su" or not found[1]:
        return _Form(values, expected)
    bits = int(found[2])
    lo, hi = (-(1 << bits - 1), (1 << bits - 1) - 1) if kind == "s" else (0, (1 << bits) - 1)
    wide = re.compile(rf"-?\d{{{len(str(hi))},}}+" + ("|-0*+[1-9]" if kind == "u" else ""), re.ASCII)
    return _Form(values, expected, wide, lo, hi)


def check_values(source: Source, position: int, spelled: str, element_type: str, shape: str) -> None:
    """Raise `InputError` at the first text that is no value of the element type; messages name the `shape`."""
    form = _form(element_type)
    if form is None:
        return
    found = form.values.match(spelled)
    assert found is not None
    at = found.end()
    if at < len(spelled):
        word = _WORD.match(spelled, at)
        unexpected = shorten(word[0] if word is not None else spelled[at])
        source.fail(position + at, f"unexpected {unexpected!r} in a constant of shape {shape}", form.expected)
    if "{" not in spelled and "," in spelled and (count := len(VALUE.findall(spelled))) > 1:
        message = f"{count} values without braces in a constant of shape {shape}"
        source.fail(source.skip(position), message, "one value")
    if form.wide is not None:
        for number in form.wide.finditer(spelled):
            if len(number[0]) > 40 or not form.lo <= int(number[0]) <= form.hi:
                message = f"{shorten(number[0])} in a constant of type {element_type}"
                source.fail(position + number.start(), message, f"{form.lo} to {form.hi}")
    limit = _OVERFLOW.get(element_type)
    if limit is not None:
        for number in _LARGE.finditer(spelled):
            if abs(float(number[0])) >= limit:
                message = f"{shorten(number[0])} in a constant of type {element_type}"
                source.fail(position + number.start(), message, "a number in the range of its type, or `inf`")
