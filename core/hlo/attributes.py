"""Attribute values of instructions and modules: the text that was read, and what accessors read in it.

A value is kept as XLA spells it: lists of integers without spaces, names of computations without `%`, anything else as
written.  The functions here return None, or raise ValueError with the reason, for text of another form.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from .lexer import NAME, STRING

if TYPE_CHECKING:
    import numpy as np

Attributes = tuple[tuple[str, str], ...]
"""Names and values in the order of the text."""

_COMPUTATIONS = """
    calls to_apply condition body select scatter comparator true_computation false_computation
    branch_computations called_computations async_wrapped_computation branches
"""
COMPUTATIONS = frozenset(_COMPUTATIONS.split())
"""Attributes whose value names computations."""

_NUMBER = re.compile(r"-?\d++", re.ASCII)
_INTEGER = re.compile(r"-?\d{1,40}\Z", re.ASCII)
_INTEGERS = re.compile(r"\{(?:-?\d{1,40},)*+-?\d{1,40}\}\Z|\{\}\Z", re.ASCII)
_INNERMOST = re.compile(r"\{([^{}]*+)\}")
_SPACED = re.compile(r"[-\d\s,{}]*+\Z", re.ASCII)
_NAMES = re.compile(rf"%?+{NAME}\Z|\{{\s*+(?:%?+{NAME}\s*+,\s*+)*+%?+{NAME}\s*+\}}\Z", re.ASCII)
_NAME = re.compile(NAME, re.ASCII)
_QUOTED = re.compile(rf"{STRING}\Z", re.DOTALL)
_WORD = re.compile(r"[^\s%{}()\[\]\"]*+\Z")
_STRIDE = re.compile(r"\[\s*+(-?\d{1,40})\s*+:\s*+(-?\d{1,40})\s*+(?::\s*+(-?\d{1,40})\s*+)?+\]", re.ASCII)
_STRIDES = re.compile(rf"\{{\s*+(?:{_STRIDE.pattern}\s*+(?:,\s*+(?!\}})|(?=\}})))*+\}}\Z", re.ASCII)

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


def normal_value(name: str, text: str) -> str:
    """Return a value without strings as XLA spells it, so that equal values are equal text."""
    if name in COMPUTATIONS and _NAMES.match(text):
        names = _NAME.findall(text)
        return "{" + ", ".join(names) + "}" if text[0] == "{" else str(names[0])
    words = text.split()
    if len(words) == 1:
        return text
    return "".join(words) if _SPACED.match(text) else " ".join(words)


def format_value(name: str, text: str, percent: bool) -> str:
    """Return the value of an attribute as HLO text, with or without `%` before the names of computations."""
    refers = percent and name in COMPUTATIONS and _NAMES.match(text)
    return _NAME.sub(r"%\g<0>", text) if refers else text


def called_names(name: str, text: str) -> tuple[str, ...]:
    """Return the names of the computations that an attribute refers to."""
    refers = _NAMES.match(text) if name in COMPUTATIONS or text[:1] == "%" else None
    return () if refers is None else tuple(_NAME.findall(text))


def parse_word(text: str) -> str | None:
    """Return a word, or the characters that a string literal denotes."""
    if _QUOTED.match(text):
        return _ESCAPE.sub(_unescaped, text[1:-1]) if "\\" in text else text[1:-1]
    return text if _WORD.match(text) and parse_integer(text) is None and text not in ("true", "false") else None


def _unescaped(found: re.Match[str]) -> str:
    if found[1]:
        return chr(int(found[1], 8))
    if found[2]:
        return chr(int(found[2], 16))
    return _ESCAPES.get(found[3], found[3])


def parse_flag(text: str) -> bool | None:
    """Parse `true` or `false`."""
    return text == "true" if text in ("true", "false") else None


def parse_integer(text: str) -> int | None:
    """Parse an integer."""
    return int(text) if _INTEGER.match(text) else None


def parse_integers(text: str) -> tuple[int, ...] | None:
    """Parse integers in braces, `{0,2}`."""
    return tuple(map(int, _NUMBER.findall(text))) if _INTEGERS.match(text) else None


def parse_lists(text: str) -> tuple[tuple[int, ...], ...] | None:
    """Parse lists of integers in braces, `{{0,1},{2,3}}`."""
    if text == "{}":
        return ()
    inner = [f"{{{part}}}" for part in _INNERMOST.findall(text)]
    found = [numbers for part in inner if (numbers := parse_integers(part)) is not None]
    return tuple(found) if text == "{" + ",".join(inner) + "}" and len(found) == len(inner) else None


def parse_pairs(text: str) -> tuple[tuple[int, int], ...] | None:
    """Parse pairs of integers in braces, `{{0,1},{1,0}}`."""
    found = parse_lists(text)
    pairs = [(p[0], p[1]) for p in found or () if len(p) == 2]
    return tuple(pairs) if found is not None and len(pairs) == len(found) else None


@dataclass(frozen=True, slots=True)
class Stride:
    """One dimension of a slice, `[start:limit:stride]`; the stride is 1 if it is left out."""

    start: int
    limit: int
    stride: int = 1


def parse_strides(text: str) -> tuple[Stride, ...] | None:
    """Parse the dimensions of a slice, `{[5:10:1], [0:50]}`."""
    if not _STRIDES.match(text):
        return None
    return tuple(Stride(int(start), int(limit), int(step or 1)) for start, limit, step in _STRIDE.findall(text))


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


def parse_window(text: str) -> tuple[WindowDimension, ...]:
    """Parse the dimensions of a window, `{size=2x2 stride=1x1}`, none for `{}`. Raises ValueError with the reason."""
    fields = dict.fromkeys(text[1:-1].replace(",", " ").split())
    if text[:1] != "{" or not all("=" in field for field in fields):
        raise ValueError("a window is written {size=2x2 stride=1x1 pad=0_0x0_0 …}")
    if not fields:
        return ()
    stated = {key: value.split("x") for key, _, value in (field.partition("=") for field in fields)}
    for key in stated:
        if key != "size" and key not in _WINDOW:
            raise ValueError(f"a window has no field {key!r}")
    if "size" not in stated:
        raise ValueError("a window needs a size")
    sizes = stated["size"]
    rows = {key: stated.get(key, [default] * len(sizes)) for key, default in _WINDOW.items()}
    for key, row in rows.items():
        if len(row) != len(sizes):
            raise ValueError(f"window {key} has {len(row)} dimensions, size has {len(sizes)}")
    found = []
    for k, size in enumerate(sizes):
        numbers: list[Any] = [*_numbers(size, 1, "size")]
        for key, row in rows.items():
            numbers += _numbers(row[k], 1 + (key == "pad"), key)
        numbers[-1] = numbers[-1] != 0
        found.append(WindowDimension(*numbers))
    return tuple(found)


def parse_padding(text: str) -> tuple[tuple[int, int, int], ...]:
    """Parse `padding=1_4_1x4_8_0` as (low, high, interior) per dimension; interior defaults to 0."""
    dimensions = []
    for part in text.split("x") if text else ():
        numbers = _numbers(part, 3 if part.count("_") == 2 else 2, "padding")
        dimensions.append((numbers[0], numbers[1], numbers[2] if len(numbers) == 3 else 0))
    return tuple(dimensions)


def parse_dim_labels(text: str) -> tuple[tuple[int, ...], ...]:
    """Parse `b01f_01io->b01f` into the dimensions of input, kernel and output.

    Input and output list batch, feature and the spatial dimensions in order, the kernel output feature, input feature
    and the spatial dimensions. Raises ValueError if a label is missing or repeated.
    """
    found = re.match(r"([^_>\-]+)_([^_>\-]+)->([^_>\-]+)\Z", text)
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


def parse_replica_groups(text: str) -> tuple[tuple[int, ...], ...]:
    """Parse `{{0,1},{2,3}}`, `[2,2]<=[2,2]T(1,0)` or `mesh['a'=2,'b'=2] {'b'}` into groups of device numbers.

    The second form numbers the devices as an array of the sizes after `<=`, transposes it, and reshapes it to the sizes
    before. The third groups the devices along some axes of a mesh, in the order in which these are named; `'a':(2)4` is
    the part of size 4 of axis `'a'` that remains after a leading part of size 2. `{}` and `{{}}` give no groups: all
    devices form one group. Raises ValueError with the reason.
    """
    if (mesh := MESH.fullmatch(text)) is not None:
        return _mesh_groups(*mesh.groups())
    if text[:1] == "{":
        groups = parse_lists(text)
        if groups is None:
            raise ValueError("replica groups are written {{0,1},{2,3}}")
        return () if groups == ((),) else groups
    found = _IOTA.match(text)
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


def _numbers(text: str, count: int, what: str) -> tuple[int, ...]:
    parts = text.split("_")
    if len(parts) != count or not all(_INTEGER.match(p) for p in parts):
        raise ValueError(f"{what}: {text!r} is not {count} integer{'s' * (count > 1)}")
    return tuple(map(int, parts))
