"""Runtime variables across computations: the elements that they read, and their values if these are known.

While a computation is analysed, `RuntimeSource.hlo` is a *path*: the name of an instruction of that computation, or
`call/…/name` for an instruction inside a called computation, reached through the instruction `call` (`call#1`: through
branch 1 of a conditional). A path is unique per call site, because a computation that is called twice computes two
values. At the very end the text of the instruction replaces the path.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from ..expr import Expr, integer, maximum, minimum
from ..facts import Facts
from ..hlo import Computation, Instruction, Module, Operand, Shape, format_instruction
from ..hlo.attributes import parse_integers
from ..indexing_map import IndexingMap, RuntimeSource, RuntimeVariable
from .tables import table_element

_NUMBER = re.compile(r"[-+]?\d{1,40}\Z", re.ASCII)
_TOKEN = re.compile(r"[^\s{},]++")
_BIT = re.compile(r"[01]\Z")
_WRITTEN = re.compile(r"written\((.*)\)")
_WORDS = {"true": "1", "false": "0"}

_LARGEST = {f"{sign}{bits}": 2 ** (bits - (sign == "s")) - 1 for sign in "su" for bits in (4, 8, 16, 32, 64)}

FLOAT = "f32"
"""The type of the numbers that are evaluated beside integers."""

#: Comparisons of numbers, and of arrays of numbers.
COMPARISONS: dict[str, Callable[[Any, Any], Any]] = {
    "EQ": operator.eq,
    "NE": operator.ne,
    "LT": operator.lt,
    "LE": operator.le,
    "GT": operator.gt,
    "GE": operator.ge,
}

# Attributes that do not affect which element is read.
_NOISE = ("metadata", "backend_config", "frontend_attributes", "sharding")


def with_sources(m: IndexingMap, rename: Callable[[RuntimeSource], RuntimeSource]) -> IndexingMap:
    """Replace every source of a runtime variable in a map."""
    if not any(v.source is not None for v in m.rts):
        return m
    rts = [v if v.source is None else replace(v, source=rename(v.source)) for v in m.rts]
    return m.with_(rts=tuple(rts))


def operand_name(hlo: str) -> str:
    """Return the name in a source that a catalogue wrote as `name` or `name = …`."""
    return hlo.split("=", 1)[0].strip().lstrip("%")


POSITION = "replica-position"
"""The name of a source that no instruction computes: the position of the executing replica in its group."""


def position_text(instruction: Instruction) -> str:
    """Return the source of a collective's runtime value; equal texts denote one value.

    It names the groups and what their numbers count: replicas, partitions, or devices (both at once).
    """
    groups = instruction.attribute("replica_groups")
    over = "replicas"
    if instruction.has("channel_id"):
        over = "devices" if instruction.flag("use_global_device_ids") else "partitions"
    shown = "" if groups is None else f", replica_groups={groups}"
    return f"{POSITION} = u32[] {POSITION}(), over={over}{shown}"


def is_position(hlo: str) -> bool:
    """Return whether a source is the position of the replica instead of an operand's element."""
    return operand_name(hlo) == POSITION


def reads_position(v: RuntimeVariable) -> bool:
    """Return whether a runtime value is the position of a replica."""
    return v.source is not None and is_position(v.source.hlo)


def written_path(scatter: str) -> str:
    """Return the path of whether updates of a scatter land on an element; no instruction has such a name."""
    return f"written({scatter})"


def source_text(module: Module, computation: Computation, path: str) -> str:
    """Return the instruction at a path as one line of HLO, with the path as its name.

    The path of :func:`written_path` becomes a scatter of true into false.
    """
    if is_position(path):
        return path
    *calls, name = path.split("/")
    scatter = _WRITTEN.fullmatch(name)
    name = scatter[1] if scatter else name
    for call in calls:
        called, _, branch = call.partition("#")
        names = branches(computation.instruction(called))
        computation = module.computation(names[int(branch or 0)])
    try:
        found = computation.instruction(name)
    except KeyError:
        # Of an operand that a snippet does not define only the name is known.
        return path
    noise: tuple[str, ...] = _NOISE
    if scatter and isinstance(found.shape, Shape):
        landing = (Operand("false"), found.operands[1], Operand("true"))
        found = replace(found, shape=Shape("pred", found.shape.dims), operands=landing)
        noise = (*_NOISE, "to_apply")
    attributes = tuple((k, v) for k, v in found.attributes if k not in noise)
    shown = Instruction(path, found.opcode, found.shape, found.operands, attributes, found.literal)
    return " ".join(format_instruction(shown, percent=False).split("\n"))


def branches(instruction: Instruction) -> tuple[str, ...]:
    """Return the computations that an instruction may run, those of a conditional in the order of its operands."""
    if instruction.opcode != "conditional":
        return instruction.called
    calls = instruction.calls
    if "branch_computations" in calls:
        return calls["branch_computations"]
    return (*calls.get("true_computation", ()), *calls.get("false_computation", ()))


def known_element(instruction: Instruction, index: tuple[Expr, ...]) -> Expr | None:
    """Return the element of a constant or iota at `index` as an expression; None if no short one is found."""
    if instruction.opcode == "iota" and isinstance(instruction.shape, Shape):
        dimension = instruction.number("iota_dimension")
        if dimension is None:
            dimensions = parse_integers(instruction.attribute("dimensions") or "") or ()
            dimension = dimensions[0] if len(dimensions) == 1 else None
        if dimension is None or not 0 <= dimension < len(index):
            return None
        # An iota wraps when its element type cannot count to the end of the dimension.
        largest = _LARGEST.get(instruction.shape.element_type)
        return index[dimension] if largest and instruction.shape.dims[dimension] - 1 <= largest else None
    shape = instruction.shape
    if instruction.opcode != "constant" or not isinstance(shape, Shape) or shape.element_type == "pred":
        return None
    values = constant_elements(instruction)
    if values is None:
        return None
    if values and len(set(values)) == 1:
        return integer(values[0])
    return table_element(values, shape.dims, index)


def literal_words(constant: Instruction) -> list[str]:
    """Return the elements of a constant as written."""
    return _TOKEN.findall(constant.literal or "")


def constant_elements(instruction: Instruction) -> tuple[int, ...] | None:
    """Return the elements of a constant of integers, or predicates as 0 and 1, in row-major order; None for others."""
    shape = instruction.shape
    if instruction.literal is None or not isinstance(shape, Shape):
        return None
    if shape.element_type != "pred" and shape.element_type[0] not in "su":
        return None
    words = [_WORDS.get(token, token) for token in literal_words(instruction)]
    allowed = _BIT if shape.element_type == "pred" else _NUMBER
    # A scalar or a full array; other notations, such as elided elements, are not understood here.
    known = len(words) == shape.size and all(map(allowed.match, words))
    return tuple(map(int, words)) if known else None


def fold(m: IndexingMap, known: Mapping[str, Instruction]) -> IndexingMap:
    """Replace runtime variables that read a constant or an iota by their values.

    `known` has the instruction at each path. The value of a runtime variable is its element clamped to its bounds, so
    the replacement is exact: `min(max(element, lo), hi)`, or the element itself if its range lies within.
    """
    while True:
        replaced = next(((v, e) for v in m.rts if (e := _value(m, v, known)) is not None), None)
        if replaced is None:
            return m
        m = m.substitute({replaced[0].name: replaced[1]})


def _value(m: IndexingMap, v: RuntimeVariable, known: Mapping[str, Instruction]) -> Expr | None:
    if v.source is None or v.source.hlo not in known:
        return None
    element = known_element(known[v.source.hlo], v.source.results)
    if element is None:
        return None
    interval = Facts(m.bounds).interval(element)
    if v.lo <= interval.lo and interval.hi <= v.hi:
        return element
    return minimum(maximum(element, v.lo), v.hi)
