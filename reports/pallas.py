"""Reports of ``indexproof pallas``, and the assertion for users' tests."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from math import inf
from typing import Any

import numpy as np

from ..core.blocks import point_text
from ..core.bounded import constraints_of
from ..core.errors import IndexproofError, InputError, quoted
from ..core.expr import Var, mul
from ..core.frameworks.jax import array, symbolic_scope
from ..core.frameworks.pallas import pallas_calls
from ..core.hlo import Shape, read_shape
from ..core.pallas_call import LARGEST_SIZE, BlockDim, BlockedOperand, PallasCall
from ..core.parametric import ParametricMap, format_condition
from ..core.simplify_map import simplify_map
from ..rules.catalog import RULES
from ..rules.simplifier import simplify_expr
from ..verify.pallas import CLAIMS, CheckedPallasCall, PallasClaim, verify_pallas
from ..verify.pallas_iterations import visits
from ..verify.verdict import Status, worst
from ..verify.words import tuple_text
from .files import read_text
from .layout import block, count, joined, proved_line
from .selection import blamed, run_python
from .serializer import document, written_as

Ranges = Mapping[str, tuple[int, int]]
#: The largest picture of the blocks of an array.
_ROWS, _COLUMNS = 12, 16
_NAME = re.compile(r"[A-Za-z_]\w*")
_VALUES = re.compile(r"\s*(-?\d+)\s*(?:,|\Z)", re.ASCII)


def assert_pallas_ok(function: Callable[..., Any], *args: Any, ranges: Ranges | None = None) -> None:
    """Assert that grid, blocks and index maps of every ``pallas_call`` that ``function`` makes are right.

    Arguments are arrays, or stand for arrays (``jax.ShapeDtypeStruct``); no kernel runs.  Sizes may be symbols of
    ``jax.export.symbolic_shape``: all is then asserted for all sizes.  ``ranges`` says between which values the elements of
    scalar prefetch operands lie, by name.  Raises :class:`AssertionError` with the report on the calls for which something
    is false or not known, and :class:`InputError` if there is no call.
    """
    if failed := [c for c in checked_calls(function, args, ranges) if c.verdict is not Status.PROVED]:
        raise AssertionError("\n" + pallas_text(failed))


def checked_calls(
    function: Callable[..., Any], args: Sequence[Any], ranges: Ranges | None = None
) -> list[CheckedPallasCall]:
    """Trace ``function`` with these arguments and check every ``pallas_call``."""
    if not (calls := pallas_calls(function, *args, ranges=ranges)):
        raise InputError("the function makes no pallas_call", expected="arguments for which it makes one")
    return [verify_pallas(c) for c in calls]


# ------------------------------------------------------------------------------------------------ the command line
def calls_in_file(text: str, args: Sequence[Any], ranges: Ranges) -> list[CheckedPallasCall]:
    """Run the file of ``FILE.py:FUNCTION``, trace the function, and check its calls.

    Raises :class:`InputError` with the line of the file if that fails.
    """
    path, colon, name = text.rpartition(":")
    if not colon or not path.endswith(".py"):
        raise InputError(f"{quoted(text, 200)} names no function", expected="FILE.py:FUNCTION")
    function = vars(run_python(path)).get(name)
    if not callable(function):
        raise InputError(f"{path} has no function {quoted(name)}", expected="a function of the file")
    try:
        return checked_calls(function, args, ranges)
    except IndexproofError:
        raise
    except Exception as error:
        raise blamed(error, path, read_text(path)) from error


def given_arguments(texts: Sequence[str], constraints: Sequence[str] = ()) -> list[Any]:
    """Read arguments of the command line: ``f32[8,128]``, ``f32[n,128]``, ``s32[3]=2,0,1``, or a number.

    The ``constraints`` on symbolic sizes have the syntax of jax.
    """
    scope = symbolic_scope(constraints)
    named = {n for text in texts for n in _NAME.findall(text.partition("[")[2])}
    for text in constraints:
        for name in _NAME.findall(text):
            if name not in named and name not in ("floordiv", "max", "min", "mod"):
                known = f"one of {', '.join(sorted(named))}" if named else "an argument such as `f32[n,128]`"
                raise InputError(f"--constraint: no size is called {quoted(name)}", expected=known)
    return [_given_argument(text, scope) for text in texts]


def _given_argument(text: str, scope: Any) -> Any:
    if re.fullmatch(r"-?\d+", text, re.ASCII):
        return int(text)
    shape, equals, values = text.partition("=")
    example = array(shape.strip(), scope if not equals else None)
    if not equals:
        return example
    read = read_shape(shape)
    elements = [int(x) for x in _VALUES.findall(values)]
    size = int(np.prod(example.shape, dtype=int))
    if not isinstance(read, Shape) or len(elements) != size or _VALUES.sub("", values).strip():
        said = f"{quoted(text, 80)} does not list {count(size, 'element')}"
        raise InputError(said, expected="integers `2,0,1`")
    return np.asarray(elements).reshape(example.shape).astype(example.dtype)


# ----------------------------------------------------------------------------------------------------------- text
def pallas_text(checked: Sequence[CheckedPallasCall]) -> str:
    """Report calls as text."""
    parts = []
    for c in checked:
        head = f"{c.call.name}  {c.call.where}".rstrip()
        parts.append(block(head, [*_operands(c), *_claims(c)]))
        shown = {p.operand: p for p in reversed(c.claims) if p.answer.verdict is Status.REFUTED}
        parts += [drawn for p in reversed(shown.values()) if (drawn := _picture(c.call, p))]
    claims = [p for c in checked for p in c.claims]
    bad, seconds = sum(not p.answer.proved for p in claims), sum(p.answer.seconds for p in claims)
    parts.append(proved_line(worst([c.verdict for c in checked]).value, len(claims), bad, seconds))
    return "\n\n".join(parts)


def _operands(c: CheckedPallasCall) -> list[tuple[str, str]]:
    call = c.call
    dims = zip(call.axes, call.grid, call.semantics, strict=True)
    axes = [f"{a} {'?' if n is None else n} {s}" for a, n, s in dims]
    rows = [("sizes", ", ".join(map(format_condition, call.conditions)))] if call.parameters else []
    rows.append(("grid", ", ".join(axes) or "one iteration"))
    for o in call.operands:
        parts = [f"{o.dtype}[{','.join(map(str, o.shape))}]"]
        if o.whole:
            parts.append("not blocked, the kernel copies from it itself")
        else:
            parts.append(f"blocks ({', '.join(_dim(d, call) for d in o.dims)})")
            parts.append(_index(o))
        if o.alias:
            parts.append(f"overwrites {o.alias}")
        if not o.used:
            parts.append("never used")
        if o.output and not o.whole:
            parts.append(_visited(c, o))
        rows.append((o.name, joined(parts)))
    return rows


def _dim(d: BlockDim, call: PallasCall) -> str:
    padded = f" padded by {d.low} and {d.high}" if d.low or d.high else ""
    overhang = _short(call, d.overhang)
    over = f" with overhang {overhang}" if overhang != "0" else ""
    return f"{d.size}{'' if d.step == d.size else ' elements'}{padded}{over}"


def _index(o: BlockedOperand) -> str:
    if o.index is None:
        return f"no index map: {o.why}"
    if isinstance(o.index, ParametricMap):
        return f"({', '.join(o.index.dims)}) -> ({', '.join(map(str, o.index.results))})"
    m = simplify_map(o.index, RULES)
    read = ((r.name, r.source) for r in m.rts if r.source)
    sources = [f"{name} = {s.hlo}[{', '.join(map(str, s.results))}]" for name, s in read]
    text = f"({', '.join(v.name for v in m.dims)}) -> ({', '.join(map(str, m.results))})"
    return ", ".join([text, *sources])


def _visited(c: CheckedPallasCall, o: BlockedOperand) -> str:
    if (times := _times(c, o)) is not None:
        blocks = _short(c.call, mul(1, *o.blocks))
        return f"{blocks} block{'s' * (blocks != '1')}, each visited {times} time{'s' * (times != '1')}"
    found = visits(c.call, o)
    if found is None or not found.size:
        return ""
    least, most = int(found.min()), int(found.max())
    what = "block" if all(d.aligned for d in o.dims) else "element"
    times = f"{least} to {most} times" if least != most else count(most, "time")
    return f"{count(found.size, what)}, each visited {times}"


def _times(c: CheckedPallasCall, o: BlockedOperand) -> str | None:
    """Return how often each block is visited, if sizes are symbolic and each axis is one index of its own or none.

    Iterations that differ in such an index have different blocks.  Returns ``None`` in other cases.
    """
    claims = {p.kind: p.answer.proved for p in c.claims if p.operand == o.name}
    if not isinstance(o.index, ParametricMap) or not (claims.get("in bounds") and claims.get("written")):
        return None
    axes, used = o.index.variables, list[Var]()
    for e in o.index.results:
        own = [v for v in axes if v in e.variables()]
        if any(v in used or (v in (e - v).variables() and v in (e + v).variables()) for v in own) or len(own) > 1:
            return None
        used += own
    others = (n for v, n in zip(axes, c.call.grid, strict=True) if v not in used)
    return _short(c.call, mul(1, *others)) if all(d.aligned for d in o.dims) else None


def _short(call: PallasCall, e: Any) -> str:
    """Return a size as text, simplified under the conditions on the symbols."""
    known = [x for c in call.conditions for x in constraints_of(c) if inf not in x]
    return str(simplify_expr(e, dict.fromkeys(call.parameters, (1, LARGEST_SIZE)), known))  # type: ignore[arg-type]


def _visits(c: CheckedPallasCall) -> dict[str, tuple[int | str, int | str]]:
    """Return the least and the greatest number of iterations per block, by output."""
    outputs = [o for o in c.call.operands if o.output and not o.whole]
    found = {o.name: visits(c.call, o) for o in outputs}
    always = {o.name: (n, n) for o in outputs if (n := _times(c, o)) is not None}
    return always | {name: (int(x.min()), int(x.max())) for name, x in found.items() if x is not None and x.size}


def _claims(c: CheckedPallasCall) -> list[tuple[str, str]]:
    rows: list[tuple[str, str]] = []
    for kind, claim in CLAIMS.items():
        of_kind = [p for p in c.claims if p.kind == kind]
        if proved := [p.operand for p in of_kind if p.answer.proved]:
            rows.append((Status.PROVED.value, f"{claim}: {', '.join(proved)}"))
        rows += [(p.answer.verdict.value, _said(c.call, p, claim)) for p in of_kind if not p.answer.proved]
    return rows


def _parted(call: PallasCall, values: Mapping[str, int]) -> tuple[dict[str, int], dict[str, int]]:
    """Split a counterexample into sizes and other values."""
    sizes = {p: values[p] for p in call.parameters if p in values}
    return sizes, {n: x for n, x in values.items() if n not in sizes}


def _said(call: PallasCall, p: PallasClaim, claim: str) -> str:
    if (found := p.answer.counterexample) is None:
        return f"{claim}: {p.operand} {' '.join(p.answer.tried[-1:])}".rstrip()
    sizes, values = _parted(call, found.values)
    here = {**sizes, **{n: x for n, x in values.items() if not n.endswith("'")}}
    there = {n.removesuffix("'"): x for n, x in values.items() if n.endswith("'")}
    if p.kind == "written":
        where = f" at {point_text(sizes)}" if sizes else ""
        return f"{claim}: {p.operand} has {tuple_text([*values.values()])}{where}: {found.reason}"
    text = f"{claim}: {p.operand}"
    if found.left is not None:
        text += f" has block {tuple_text(found.left)}"
    if here:
        text += f" at {point_text(here)}"
    if there:
        text += f" and {'' if found.left == found.right else f'block {tuple_text(found.right)} '}at {point_text(there)}"
    return f"{text}: {found.reason}"


def _picture(call: PallasCall, p: PallasClaim) -> str:
    """Draw the blocks of an operand with the number of their iterations, and the wrong one in brackets."""
    found = p.answer.counterexample
    if found is None:
        return ""
    sizes, values = _parted(call, found.values)
    call = call.at(sizes) if sizes else call
    o = call.operand(p.operand)
    bad = tuple(values.values()) if p.kind == "written" else found.left
    counts = visits(call, o) if o.dims else None
    if bad is None or counts is None or len(bad) != len(o.dims) or not all(d.aligned for d in o.dims):
        return ""
    *before, row, column = bad if len(bad) > 1 else (0, *bad)
    rows, columns = o.blocks[-2:] if len(bad) > 1 else (1, *o.blocks)
    down, across = _window(row, rows, _ROWS), _window(column, columns, _COLUMNS)
    cells = [["", *map(str, across)]]
    for r in down:
        line = [str(r)]
        for c in across:
            at = (*before, r, c) if len(bad) > 1 else (c,)
            inside = all(0 <= x < n for x, n in zip(at, counts.shape, strict=True))
            text = str(counts[at]) if inside else "x" if (r, c) == (row, column) else "."
            line.append(f"[{text}]" if (r, c) == (row, column) else f"{text} ")
        cells.append(line)
    width = max(len(x) for line in cells for x in line)
    where = (f" at {tuple_text(before)}" if before else "") + (f" at {point_text(sizes)}" if sizes else "")
    outside = "; x is outside" if any("x" in x for line in cells for x in line) else ""
    number = " × ".join(map(str, o.blocks))
    head = f"{o.name}{where}: how many iterations have each of the {number} blocks{outside}"
    return "\n".join([head, *("  " + " ".join(x.rjust(width) for x in line).rstrip() for line in cells)])


def _window(at: int, size: int, most: int) -> range:
    """Return up to ``most`` numbers around ``at`` below ``size``, and always ``at``, even if it is out of bounds."""
    if not 0 <= at < size:
        return range(at, min(at + most, size)) if at < 0 else range(max(at - most, 0, size - most), at + 1)
    start = min(max(at - most // 2, 0), max(size - most, 0))
    return range(start, min(start + most, size))


# ----------------------------------------------------------------------------------------------------------- JSON
written_as(BlockDim, "array size step low high indices=indices")
written_as(
    BlockedOperand, "name dtype shape output whole used alias blocks=dims index why", alias=lambda o: o.alias or None
)
written_as(
    PallasClaim,
    "operand kind verdict=answer.verdict engine=answer.engine counterexample=answer.counterexample.values "
    "reason=answer.counterexample.reason undecided",
    undecided=lambda p: " ".join(p.answer.tried[-1:]) if p.answer.verdict is Status.UNDECIDED else None,
)
written_as(
    CheckedPallasCall,
    "verdict name=call.name where=call.where axes=call.axes grid=call.grid semantics=call.semantics "
    "operands=call.operands visits claims sizes=call.conditions?",
    visits=_visits,
)


def pallas_json(checked: Sequence[CheckedPallasCall], exit_status: int) -> dict[str, Any]:
    """Return the answer of ``pallas``."""
    seconds = sum(p.answer.seconds for c in checked for p in c.claims)
    verdict = worst([c.verdict for c in checked])
    return document("pallas", verdict, exit_status, calls=checked, timing={"seconds": seconds})
