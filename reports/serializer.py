"""One serializer for the JSON documents of all commands.

reports/json.md lists the keys of every document.  A class declares the keys of its objects once, with
:func:`written_as`.  Other values are written by type.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from enum import Enum
from typing import Any, Final

from .. import __version__
from ..core.condition import Condition, show_condition
from ..core.expr import Expr
from ..core.hlo.shape import Shape
from ..core.indexing_map import IndexingMap
from ..core.json_form import dump_json, map_to_json
from ..core.notation import show
from ..core.parametric import ParametricMap
from ..core.text import format_map
from ..verify.verdict import Status

#: Marks a key that is left out.
_ABSENT: Final = object()

_Getter = Callable[[Any], Any]
_KEYS: dict[type, list[tuple[str, _Getter]]] = {}


def written_as(cls: type, keys: str, **computed: _Getter) -> None:
    """Declare the keys of objects of ``cls``, in order, as in ``"name verdict=answer.verdict maps"``.

    A key alone names an attribute, or a function in ``computed`` that is applied to the object.  After ``=`` stands a
    path of attributes; the value is ``null`` if an attribute on the path is ``None``.  A key that ends with ``?`` is
    left out if its value is ``None``, an empty tuple or an empty string.
    """
    _KEYS[cls] = []
    for key in keys.split():
        name, _, path = key.rstrip("?").partition("=")
        get = computed.get(name) or _at((path or name).split("."), key.endswith("?"))
        _KEYS[cls].append((name, get))


def _at(path: Sequence[str], optional: bool) -> _Getter:
    def get(value: Any) -> Any:
        for name in path:
            value = None if value is None else getattr(value, name)
        return _ABSENT if optional and (value is None or value in ((), "")) else value

    return get


def plain(value: Any) -> Any:
    """Convert ``value`` to JSON values: numbers, strings, lists and objects."""
    if isinstance(value, Enum):
        return value.value
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, float):
        return round(value, 6)
    if isinstance(value, IndexingMap):
        return {"text": format_map(value), "map": map_to_json(value)}
    if isinstance(value, ParametricMap):
        return {"text": str(value), "map": value.to_json()}
    if isinstance(value, Expr):
        return show(value)
    if isinstance(value, Condition):
        return show_condition(value)
    for cls in type(value).__mro__:
        if cls in _KEYS:
            found = ((name, get(value)) for name, get in _KEYS[cls])
            return {name: plain(part) for name, part in found if part is not _ABSENT}
    if isinstance(value, Mapping):
        return {plain(name): plain(part) for name, part in value.items()}
    if isinstance(value, Iterable):
        return [plain(part) for part in value]
    if isinstance(value, Shape):
        return str(value)
    raise TypeError(f"nothing says how {type(value).__name__} is written as JSON")


def document(command: str, verdict: str | Status, exit_status: int, **more: Any) -> dict[str, Any]:
    """Return a document: the keys that every document has, then ``more``."""
    frame = {"format": f"indexproof {command} 1", "version": __version__, "verdict": verdict}
    return {**plain({**frame, "exit_status": exit_status}), **plain(more)}


def text_of(data: Mapping[str, Any]) -> str:
    """Return indented JSON, or one line if it is nested too deeply; escaped if standard output is not UTF-8."""
    encoding = (getattr(sys.stdout, "encoding", None) or "utf-8").lower().replace("-", "")
    try:
        return json.dumps(data, indent=2, ensure_ascii=encoding != "utf8")
    except RecursionError:
        return dump_json(data)
