"""Attribute values of instructions and modules, which print as the text that was read.

| text | value |
| --- | --- |
| `2`, `true` | `int`, `bool` |
| `kLoop`, `b01f_01io->b01f`, `1_4_1x4_8_0` | `str` |
| `"a \\"b\\""` | `Quoted`, escapes kept as written |
| `{0,2}`, `{{0,1},{2,3}}`, `{true,false}`, `{}` | nested `tuple` |
| `{[5:10:1], [0:50]}` | `tuple` of `Stride` |
| `%region_0.1` (and any value of `calls`, `to_apply`, …) | `Reference` |
| `{size=3x3 pad=1_1x1_1}` | `Record` |
| JSON, shardings, `[2,4]<=[8]` and everything else | `Raw`, as written |
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, Union

from .lexer import NAME, STRING

if TYPE_CHECKING:
    import numpy as np


@dataclass(frozen=True, slots=True)
class Quoted:
    """A string literal; `text` is the text between the quotes, with escapes as written."""

    text: str

    @property
    def plain(self) -> str:
        """The decoded literal, with escapes replaced by their characters."""
        return _ESCAPE.sub(_unescaped, self.text) if "\\" in self.text else self.text


def _unescaped(found: re.Match[str]) -> str:
    if found[1]:
        return chr(int(found[1], 8))
    if found[2]:
        return chr(int(found[2], 16))
    return _ESCAPES.get(found[3], found[3])


@dataclass(frozen=True, slots=True)
class Reference:
    """The name of a computation, without `%`."""

    name: str


@dataclass(frozen=True, slots=True)
class Stride:
    """One dimension of a slice, `[start:limit:stride]`; the stride is 1 if it is left out."""

    start: int
    limit: int
    stride: int = 1


@dataclass(frozen=True, slots=True)
class Raw:
    """A value kept as written."""

    text: str


@dataclass(frozen=True, slots=True)
class Record:
    """`{key=value …}`; fields are separated by commas or by spaces."""

    fields: tuple[tuple[str, Value], ...]
    commas: bool = False

    def get(self, key: str) -> Value | None:
        """Return the value of a field, or None if there is no such field."""
        return next((v for k, v in self.fields if k == key), None)


Value = Union[int, bool, str, Quoted, Reference, Stride, Raw, Record, "tuple[Value, ...]"]

_COMPUTATIONS = """
    calls to_apply condition body select scatter comparator true_computation false_computation
    branch_computations called_computations async_wrapped_computation branches
"""
COMPUTATIONS = frozenset(_COMPUTATIONS.split())
"""Attributes whose value names computations."""

_INTEGER = re.compile(r"-?\d{1,40}\Z", re.ASCII)
_INTEGERS = re.compile(r"\{\s*+(?:-?\d{1,40}\s*+,\s*+)*+-?\d{1,40}\s*+\}\Z", re.ASCII)
_NUMBER = re.compile(r"-?\d++", re.ASCII)
_NAMES = re.compile(rf"\{{\s*+(?:%?+{NAME}\s*+,\s*+)*+%?+{NAME}\s*+\}}\Z", re.ASCII)
_BARE_NAME = re.compile(rf"%?+({NAME})\Z", re.ASCII)
_QUOTED = re.compile(rf"{STRING}\Z", re.DOTALL)
_FIELD = re.compile(
    r"\s*+(?P<comma>,\s*+)?+(?P<key>[A-Za-z_][\w.\-]*+)="
    rf"(?P<value>{STRING}|[^\s,{{}}()\[\]\"=]++|\{{[^{{}}\"=]*+\}})",
    re.ASCII | re.DOTALL,
)
_LISTED = re.compile(
    r"\s*+(?:(?P<open>\{)|(?P<close>\})|(?P<comma>,)|(?P<int>-?\d{1,40}(?![\w.]))|(?P<word>[A-Za-z_][\w.\-]*+)"
    r"|(?P<stride>\[\s*+-?\d{1,40}\s*+(?::\s*+-?\d{1,40}\s*+){1,2}+\]))",
    re.ASCII,
)
_DEEPEST = 50

_IOTA = re.compile(r"\[([\d,\s]++)\]<=\[([\d,\s]++)\](?:T\(([\d,\s]++)\))?+\Z", re.ASCII)
_MOST_DEVICES = 1 << 20
MESH = re.compile(
    r"mesh\s*+\[([^\[\]{}\"]*+)\](?:\s*+,\s*+device_ids=\(((?:[^(){}\"]++|\([^(){}\"]*+\))*+)\))?+\s*+\{([^{}\"]*+)\}"
)
"""Devices along axes of a mesh: `mesh['a'=2,'b'=2], device_ids=([2,2]T(1,0)) {'b'}`."""
_AXIS = re.compile(r"'([^']*+)'\s*+=\s*+(\d{1,9})(?!\d)", re.ASCII)
_AXIS_PART = re.compile(r"'([^']*+)'(?:\s*+:\s*+\((\d{1,9})\)\s*+(\d{1,9}))?+", re.ASCII)
_MESH_IOTA = re.compile(r"\s*+\[([\d,\s]++)\](?:T\(([\d,\s]++)\))?+\s*+", re.ASCII)
_ESCAPE = re.compile(r"\\(?:([0-7]{1,3})|x([0-9a-fA-F]{1,2})|(.))", re.DOTALL)
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r"}


def parse_value(name: str, text: str) -> Value:
    """Parse the value `text` of attribute `name`. Never fails: text without a known structure becomes `Raw`."""
    if name in COMPUTATIONS:
        return _computations(text)
    first = text[0]
    if first == "{":
        return _braced(name, text)
    if first == '"':
        return Quoted(text[1:-1]) if _QUOTED.match(text) else Raw(text)
    if _INTEGER.match(text):
        return int(text)
    if text in ("true", "false"):
        return text == "true"
    if first == "%" and (found := _BARE_NAME.match(text)):
        return Reference(found[1])
    return Raw(text) if any(c in '{}()[]"' for c in text) else text


def _computations(text: str) -> Value:
    found = _BARE_NAME.match(text)
    if found is not None:
        return Reference(found[1])
    if _NAMES.match(text):
        return tuple(Reference(part.strip().lstrip("%")) for part in text[1:-1].split(","))
    return Raw(text)


def _braced(name: str, text: str) -> Value:
    if _INTEGERS.match(text):  # the most frequent case
        return tuple(map(int, _NUMBER.findall(text)))
    if not text[1:-1].strip():
        return ()
    if name == "backend_config":
        return Raw(text)
    listed = _listed(text)
    return listed if listed is not None else _record(text) or Raw(text)


#: The items that the outermost list may hold beside lists; inner lists hold integers only.
_ITEMS: dict[str, Callable[[str], Value]] = {
    "int": int,
    "word": lambda word: word == "true" if word in ("true", "false") else word,
    "stride": lambda span: Stride(*map(int, _NUMBER.findall(span))),
}


def _listed(text: str) -> tuple[Value, ...] | None:
    """Parse a list of integers, words, slices and lists of integers; None if `text` is something else."""
    stack: list[list[Value]] = [[]]
    position = 0
    # After a value a comma or a closing brace must come; after a comma a value.
    want_value = True
    while position < len(text):
        found = _LISTED.match(text, position)
        if found is None:
            return None
        position = found.end()
        kind = found.lastgroup or ""
        if kind == "open" and want_value and len(stack) < _DEEPEST:
            stack.append([])
        elif kind in _ITEMS and want_value and (len(stack) == 2 or (kind == "int" and len(stack) > 2)):
            stack[-1].append(_ITEMS[kind](found[kind]))
            want_value = False
        elif kind == "comma" and not want_value and len(stack) > 1:
            want_value = True
        elif kind == "close" and len(stack) > 1 and (not want_value or not stack[-1]):
            done = tuple(stack.pop())
            stack[-1].append(done)
            want_value = False
        else:
            return None
    if len(stack) != 1 or len(stack[0]) != 1:
        return None
    value = stack[0][0]
    return value if isinstance(value, tuple) else None


def _record(text: str) -> Record | None:
    fields: list[tuple[str, Value]] = []
    commas: set[bool] = set()
    position, end = 1, len(text) - 1
    while position < end:
        found = _FIELD.match(text, position, end)
        if found is None:
            break
        if fields:
            commas.add(found["comma"] is not None)
        elif found["comma"] is not None:
            return None
        fields.append((found["key"], parse_value("", found["value"])))
        position = found.end()
    # Mixed separators would not print as they were read.
    if not fields or text[position:end].strip() or len(commas) > 1:
        return None
    return Record(tuple(fields), commas == {True})


class Spelled(str):
    """The text of a value that has not been parsed yet."""

    __slots__ = ()


class Attributes:
    """`name=value` pairs in the order of the text; values are parsed lazily.

    Equal to, and hashed as, the tuple of its pairs. Parsing a value never fails (`parse_value`), so that all errors are
    reported while reading.
    """

    __slots__ = ("_values",)

    def __init__(self, pairs: Iterable[tuple[str, Value | Spelled]] = ()) -> None:
        self._values = dict(pairs)

    def get(self, name: str) -> Value | None:
        """Return the value of an attribute, or None if there is no such attribute."""
        value = self._values.get(name)
        if isinstance(value, Spelled):
            value = self._values[name] = parse_value(name, str(value)) if value else ""
        return value

    @property
    def names(self) -> tuple[str, ...]:
        """The names in order, without parsing values."""
        return tuple(self._values)

    def referring(self) -> list[tuple[str, Value | None]]:
        """Return the pairs that may name computations, without parsing the others."""
        return [
            (name, self.get(name))
            for name, value in self._values.items()
            if name in COMPUTATIONS or not isinstance(value, Spelled) or value[:1] == "%"
        ]

    @property
    def pairs(self) -> tuple[tuple[str, Value], ...]:
        """All pairs, parsed."""
        found = ((name, self.get(name)) for name in self._values)
        return tuple((name, value) for name, value in found if value is not None)

    def __len__(self) -> int:
        return len(self._values)

    def __iter__(self) -> Iterator[tuple[str, Value]]:
        return iter(self.pairs)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Attributes):
            return self.names == other.names and self.pairs == other.pairs
        return self.pairs == other if isinstance(other, tuple) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.pairs)

    def __repr__(self) -> str:
        return repr(self.pairs)


def format_value(value: Value, percent: bool = True) -> str:
    """Return a value as HLO text; reading it again gives an equal value."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, str)):
        return str(value)
    if isinstance(value, Quoted):
        return f'"{value.text}"'
    if isinstance(value, Reference):
        return ("%" if percent else "") + value.name
    if isinstance(value, Raw):
        return value.text
    if isinstance(value, Stride):
        return f"[{value.start}:{value.limit}" + (f":{value.stride}]" if value.stride != 1 else "]")
    if isinstance(value, Record):
        separator = "," if value.commas else " "
        return "{" + separator.join(f"{k}={format_value(v, percent)}" for k, v in value.fields) + "}"
    separator = ", " if any(isinstance(v, (Stride, Reference)) for v in value) else ","
    return "{" + separator.join(format_value(v, percent) for v in value) + "}"


class WindowDimension(NamedTuple):
    """One dimension of `window={…}`: padding may be negative, dilations are at least 1."""

    size: int
    stride: int = 1
    low: int = 0
    high: int = 0
    base_dilation: int = 1
    window_dilation: int = 1
    reversed: bool = False


# Fields of a window after its size, in the order of `WindowDimension`, with their default values.
_WINDOW = {"stride": "1", "pad": "0_0", "lhs_dilate": "1", "rhs_dilate": "1", "rhs_reversal": "0"}


def parse_window(value: Value) -> tuple[WindowDimension, ...]:
    """Parse the dimensions of a window record, none for `{}`. Raises ValueError with the reason."""
    if value == ():
        return ()
    if not isinstance(value, Record):
        raise ValueError("a window is written {size=2x2 stride=1x1 pad=0_0x0_0 …}")
    for key, _ in value.fields:
        if key != "size" and key not in _WINDOW:
            raise ValueError(f"a window has no field {key!r}")
    if value.get("size") is None:
        raise ValueError("a window needs a size")
    sizes = _by_x(value, "size", None)
    rows = {key: _by_x(value, key, [default] * len(sizes)) for key, default in _WINDOW.items()}
    found = []
    for k, size in enumerate(sizes):
        numbers: list[Any] = [*_numbers(size, 1, "size")]
        for key, row in rows.items():
            numbers += _numbers(row[k], 1 + (key == "pad"), key)
        numbers[-1] = numbers[-1] != 0
        found.append(WindowDimension(*numbers))
    return tuple(found)


def parse_padding(value: Value) -> tuple[tuple[int, int, int], ...]:
    """Parse `padding=1_4_1x4_8_0` as (low, high, interior) per dimension; interior defaults to 0."""
    # Every padding has an underscore, so `parse_value` read none as an integer.
    if value == "":
        return ()
    if not isinstance(value, str):
        raise ValueError("padding is written low_high_interior, dimensions separated by x")
    dimensions = []
    for part in value.split("x"):
        numbers = _numbers(part, 3 if part.count("_") == 2 else 2, "padding")
        dimensions.append((numbers[0], numbers[1], numbers[2] if len(numbers) == 3 else 0))
    return tuple(dimensions)


def parse_dim_labels(value: Value) -> tuple[tuple[int, ...], ...]:
    """Parse `b01f_01io->b01f` into the dimensions of input, kernel and output.

    Input and output list batch, feature and the spatial dimensions in order, the kernel output feature, input feature
    and the spatial dimensions. Raises ValueError if a label is missing or repeated.
    """
    found = re.match(r"([^_>\-]+)_([^_>\-]+)->([^_>\-]+)\Z", value) if isinstance(value, str) else None
    if found is None:
        raise ValueError("dim_labels are written b01f_01io->b01f")
    lhs, rhs, out = found.groups()
    digits = [chr(ord("0") + k) for k in range(len(lhs) - 2)]
    sides = {
        "input": (lhs, ["b", "f", *digits]),
        "kernel": (rhs, ["o", "i", *digits]),
        "output": (out, ["b", "f", *digits]),
    }
    for what, (part, labels) in sides.items():
        if sorted(part) != (wanted := sorted(labels)):
            raise ValueError(f"dim_labels: the {what} has labels {part!r}, not each of {''.join(wanted)!r} once")
    return tuple(tuple(map(part.index, labels)) for part, labels in sides.values())


def parse_replica_groups(value: Value) -> tuple[tuple[int, ...], ...]:
    """Parse `{{0,1},{2,3}}`, `[2,2]<=[2,2]T(1,0)` or `mesh['a'=2,'b'=2] {'b'}` into groups of device numbers.

    The second form numbers the devices as an array of the sizes after `<=`, transposes it, and reshapes it to the sizes
    before. The third groups the devices along some axes of a mesh, in the order in which these are named; `'a':(2)4` is
    the part of size 4 of axis `'a'` that remains after a leading part of size 2. `{}` and `{{}}` give no groups: all
    devices form one group. Raises ValueError with the reason.
    """
    if isinstance(value, Raw) and (mesh := MESH.fullmatch(value.text)) is not None:
        return _mesh_groups(*mesh.groups())
    if isinstance(value, tuple):
        groups = [] if value in ((), ((),)) else [v if isinstance(v, tuple) else (None,) for v in value]
        numbers = [tuple(n for n in g if isinstance(n, int) and not isinstance(n, bool)) for g in groups]
        if [len(g) for g in numbers] == [len(g) for g in groups]:
            return tuple(numbers)
        raise ValueError("replica groups are written {{0,1},{2,3}}")
    found = _IOTA.match(value.text) if isinstance(value, Raw) else None
    if found is None:
        raise ValueError("replica groups are written {{0,1},{2,3}}, [2,2]<=[4] or mesh['a'=4] {'a'}")
    shape = _integers(found[1])
    devices = _transposed(found[2], found[3])
    if len(shape) != 2 or math.prod(shape) != devices.size:
        message = f"replica groups: {devices.size} devices do not make groups of sizes [{found[1]}]"
        raise ValueError(message)
    return tuple(map(tuple, devices.reshape(shape).tolist())) if devices.size else ()


def _integers(text: str) -> list[int]:
    parts = [part.strip() for part in text.split(",")]
    if not all(part.isdecimal() and len(part) < 10 for part in parts):
        raise ValueError(f"replica groups: [{text}] is no list of sizes")
    return [int(part) for part in parts]


def _transposed(text: str, permutation: str | None) -> np.ndarray:
    """Return the row-major numbers of an array of these sizes, in the order of its transpose."""
    import numpy as np

    sizes = _integers(text)
    order = _integers(permutation) if permutation else list(range(len(sizes)))
    if sorted(order) != list(range(len(sizes))):
        raise ValueError(f"replica groups: T({permutation}) is not a permutation of {len(sizes)} dimensions")
    if math.prod(sizes) > _MOST_DEVICES:
        raise ValueError(f"replica groups: {math.prod(sizes)} devices are too many to list")
    return np.arange(math.prod(sizes)).reshape(sizes).transpose(order).ravel()


def _mesh_groups(mesh: str, devices: str | None, along: str) -> tuple[tuple[int, ...], ...]:
    import numpy as np

    axes = dict(_AXIS.findall(mesh))
    sizes = [int(n) for n in axes.values()]
    if not sizes or len(axes) != len(_AXIS.findall(mesh)) or math.prod(sizes) > _MOST_DEVICES:
        raise ValueError(f"replica groups: mesh[{mesh}] has no axes, two of one name, or too many devices")
    if devices is not None and (iota := _MESH_IOTA.fullmatch(devices)) is not None:
        numbers = _transposed(iota[1], iota[2])
    else:
        numbers = np.array(range(math.prod(sizes)) if devices is None else _integers(devices))
    if numbers.size != math.prod(sizes):
        raise ValueError(f"replica groups: {numbers.size} devices do not fill a mesh of {math.prod(sizes)}")
    # Split every axis into parts, major first: the named ones, and those before, between and after them.
    split: list[int] = []
    named: dict[int, int] = {}
    references = [(name, int(pre or 1), int(size or 0)) for name, pre, size in _AXIS_PART.findall(along)]
    for name, n in zip(axes, sizes, strict=True):
        at = 1
        parts = sorted((pre, size or n, k) for k, (axis, pre, size) in enumerate(references) if axis == name)
        for pre, size, k in parts:
            if pre < at or pre % at or size < 1 or n % (pre * size):
                raise ValueError(f"replica groups: axis {name!r} of size {n} has no part ({pre}){size}")
            named[k] = len(split) + 1
            split += [pre // at, size]
            at = pre * size
        split.append(n // at)
    if len(named) != len(references) or not references:
        raise ValueError(f"replica groups: {{{along}}} does not name axes of mesh[{mesh}]")
    within = [named[k] for k in range(len(references))]
    free = [d for d in range(len(split)) if d not in within]
    groups = numbers.reshape(split).transpose([*free, *within])
    return tuple(map(tuple, groups.reshape(-1, math.prod(split[d] for d in within)).tolist()))


def _by_x(record: Record, key: str, default: list[str] | None) -> list[str]:
    value = record.get(key)
    if value is None and default is not None:
        return default
    if isinstance(value, bool) or not isinstance(value, (int, str)):
        raise ValueError(f"window {key} is written as numbers separated by x")
    parts = str(value).split("x")
    if default is not None and len(parts) != len(default):
        raise ValueError(f"window {key} has {len(parts)} dimensions, size has {len(default)}")
    return parts


def _numbers(text: str, count: int, what: str) -> tuple[int, ...]:
    parts = text.split("_")
    if len(parts) != count or not all(_INTEGER.match(p) for p in parts):
        raise ValueError(f"{what}: {text!r} is not {count} integer{'s' * (count > 1)}")
    return tuple(map(int, parts))
