"""A second evaluation of the values known to the analysis, with the bit vectors of z3.

This module checks the values that `core.analysis.values` finds for counters and computations on them. It shares only
the traversal of computations with that module: constants are parsed here, elements are moved by the proved map of the
op, and all other operations are z3's on bit vectors of the type's width. If this evaluator does not know a value, the
claim is not proved.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from operator import add, and_, mul, or_, sub, xor
from typing import NamedTuple

import numpy as np
import z3

from ..core.analysis import EvaluationStep, OperandStep, UnrollingStep
from ..core.errors import InputError
from ..core.expr import integer
from ..core.hlo import Computation, Instruction, Shape, leaves
from ..core.op import concrete, lifted
from ..rules.ops import op_from_hlo
from .floats import FLOAT_WIDTH, float_result, float_word
from .verdict import Status

Path = tuple[int, ...]

# Limit on the length of floating-point constants that are parsed.
_MOST_FLOATS = 4096


class Bits(NamedTuple):
    """The elements of an array in row-major order, as unsigned words.

    Plain integers, converted to z3 only for an operation, because a mask has many elements and few distinct ones.
    """

    width: int
    words: list[int]

    def signed(self) -> list[int]:
        """Return the elements as signed numbers in two's complement."""
        return [w - (w >> (self.width - 1) << self.width) for w in self.words]


Found = dict[str, dict[Path, Bits]]

_WIDTHS = {f"{sign}{n}": n for sign in "su" for n in (2, 4, 8, 16, 32, 64)} | {"pred": 1, "f32": FLOAT_WIDTH}
_LITERAL = re.compile(r"true|false|-?\d+")
_NUMBER = re.compile(r"[^\s{},]+")


def _width(shape: object) -> int:
    """Return the bits of an element; 0 unless the shape is an array of integers or `f32`."""
    return _WIDTHS.get(shape.element_type, 0) if isinstance(shape, Shape) else 0


def _signed(shape: object) -> bool:
    return isinstance(shape, Shape) and shape.element_type.startswith("s")


def evaluate(
    computations: Mapping[str, Computation],
    computation: Computation,
    given: Mapping[tuple[int, Path], Bits],
    depth: int = 0,
    claimed: Iterable[str] | None = None,
) -> Found:
    """Evaluate the instructions of a computation whose values follow from those of its parameters.

    With ``claimed`` only these are evaluated; their operands are claimed as well.
    """
    found: Found = {}
    instructions: Sequence[Instruction] = computation.instructions
    if claimed is not None:
        at = computation.positions
        instructions = [instructions[k] for k in sorted([at[name] for name in claimed if name in at])]
    for i in instructions:
        made = _instruction(computations, i, given, found, depth)
        if made:
            found[i.name] = made
    return found


def _behind(computation: Computation) -> set[str]:
    """Return the root of a computation and all instructions that it depends on."""
    found = {computation.root.name}
    for i in reversed(computation.instructions):
        if i.name in found:
            found.update(o.name for o in i.operands)
    return found


def _instruction(
    computations: Mapping[str, Computation],
    i: Instruction,
    given: Mapping[tuple[int, Path], Bits],
    found: Found,
    depth: int,
) -> dict[Path, Bits]:
    operands = [found.get(o.name, {}) for o in i.operands]
    match i.opcode:
        case "parameter":
            return {path: v for (k, path), v in given.items() if k == i.parameter_number}
        case "tuple":
            return {(k, *path): v for k, each in enumerate(operands) for path, v in each.items()}
        case "get-tuple-element":
            return {path[1:]: v for path, v in operands[0].items() if path[:1] == (i.number("index"),)}
        case "copy" | "opt-barrier" | "optimization-barrier" | "reshape":
            return operands[0]
        case "call" | "fusion" | "conditional":
            if depth > 20 or (operands and not any(operands)):
                return {}
            name, inner = i.called[0] if i.called else "", list(enumerate(operands))
            if i.opcode == "conditional":
                taken = _branch(i, operands[0].get(()))
                if taken is None:
                    return {}
                name, inner = _branches(i)[taken], [(0, operands[taken + 1])]
            callee = computations.get(name)
            if callee is None:
                return {}
            passed = {(k, path): v for k, each in inner for path, v in each.items()}
            return evaluate(computations, callee, passed, depth + 1, _behind(callee)).get(callee.root.name, {})
    values = _elements(i, [each.get(()) for each in operands])
    return {} if values is None else {(): values}


def _branches(i: Instruction) -> tuple[str, ...]:
    """Return the computations of a conditional, in the order of its operands."""
    calls = i.calls
    return calls.get("branch_computations") or (*calls.get("true_computation", ()), *calls.get("false_computation", ()))


def _branch(i: Instruction, choice: Bits | None) -> int | None:
    if choice is None:
        return None
    last = len(i.operands) - 2
    if choice.width == 1:
        return 0 if choice.words[0] else 1
    number = choice.signed()[0]
    return number if 0 <= number <= last else last


def _elements(i: Instruction, operands: Sequence[Bits | None]) -> Bits | None:
    shape = i.shape
    width = _width(shape)
    if not width or not isinstance(shape, Shape):
        return None
    if i.opcode == "constant" and shape.element_type == "f32":
        return _floats(_NUMBER.findall(i.literal or "")) if shape.size <= _MOST_FLOATS else None
    if i.opcode == "constant":
        words = [{"true": "1", "false": "0"}.get(w, w) for w in _LITERAL.findall(i.literal or "")]
        return _bits_of(map(int, words), width) if len(words) == shape.size else None
    if i.opcode == "iota":
        return _counted(i, shape, width)
    if i.opcode == "select" and operands[0] is not None:
        choices = set(operands[0].words)
        if len(choices) == 1:
            return operands[1 if choices == {1} else 2]
    if not operands or any(v is None for v in operands):
        return None
    full = [v for v in operands if v is not None]
    if i.opcode == "broadcast" and len(full[0].words) == 1:
        return Bits(full[0].width, full[0].words * (shape.size if width > 1 else 1))
    if i.opcode == "dynamic-slice" and len(full) == 2:
        count = shape.dims[0]
        first = min(max(full[1].signed()[0], 0), len(full[0].words) - count)
        return Bits(full[0].width, full[0].words[first : first + count])
    sources = [o.shape for o in i.operands]
    if i.opcode in _MOVES:
        return _moved(i, shape, full)
    if i.opcode == "compare" and i.attribute("type") == "TOTALORDER":
        return None
    size = max(len(v.words) for v in full)
    rows = [v.words * size if len(v.words) == 1 else v.words for v in full]
    if any(len(r) != size for r in rows):
        return None
    types = tuple([s.element_type if isinstance(s, Shape) else "" for s in sources])
    direction = str(i.attribute("direction"))
    words = []
    for elements in zip(*rows, strict=True):
        number = _result(i.opcode, direction, shape.element_type, types, elements)
        if number is None:
            return None
        words.append(number)
    return Bits(width, words)


_MOVES = ("bitcast", "broadcast", "concatenate", "pad", "reverse", "slice", "transpose")


def _moved(i: Instruction, shape: Shape, full: Sequence[Bits]) -> Bits | None:
    """Move elements as the map of the op says, which is proved for all sizes; None if that is not known here."""
    sources, width = i.operand_arrays, _width(shape)
    tiled = any(s.layout is not None and (s.layout.tiles or s.layout.properties) for s in (*sources, shape))
    if any((v.width, len(v.words)) != (width, s.size) for v, s in zip(full, sources, strict=True)):
        return None
    try:
        op = None if i.opcode == "bitcast" and tiled else op_from_hlo(i)
        if op is None or op.shape(*lifted(s.dims for s in sources)) != [integer(n) for n in shape.dims]:
            return None
        maps = [concrete(op, k, "output_to_input", [s.dims for s in sources]) for k in range(len(sources))]
    except InputError:
        return None
    found: dict[int, int] = {}
    columns = list(np.indices(shape.dims).reshape(shape.rank, shape.size))
    for m, s, v in zip(maps, sources, full, strict=True):
        inside, results = m.evaluate_many(columns)
        place = np.zeros(shape.size, int)
        for n, result in zip(s.dims, results, strict=True):
            place = place * n + result
        for k in np.flatnonzero(np.broadcast_to(inside, shape.size)).tolist():
            found[k] = v.words[place[k]]
    return Bits(width, [found[k] for k in range(shape.size)])


def _counted(i: Instruction, shape: Shape, width: int) -> Bits | None:
    dimension = i.number("iota_dimension")
    if dimension is None or not 0 <= dimension < shape.rank:
        return None
    numbers = np.indices(shape.dims)[dimension].ravel().tolist()
    return _floats([*map(str, numbers)]) if shape.element_type == "f32" else _bits_of(numbers, width)


def _floats(numbers: Sequence[str]) -> Bits | None:
    words = [w for w in map(float_word, numbers) if w is not None]
    return Bits(FLOAT_WIDTH, words) if len(words) == len(numbers) else None


def _bits_of(numbers: Iterable[int], width: int) -> Bits:
    return Bits(width, [n % (1 << width) for n in numbers])


@lru_cache(maxsize=1 << 16)
def _result(
    opcode: str, direction: str, element_type: str, types: tuple[str, ...], elements: tuple[int, ...]
) -> int | None:
    """Return the word that an operation computes from words of these types, or None if unknown."""
    width, words = (_WIDTHS[element_type], [z3.BitVecVal(e, _WIDTHS[t]) for e, t in zip(elements, types, strict=True)])
    if "f32" in (element_type, *types):
        made = float_result(opcode, direction, element_type, types, words)
    else:
        made = _operation(opcode, direction, width, types[-1].startswith("s"), words)
    found = None if made is None else z3.simplify(made)
    return found.as_long() if isinstance(found, z3.BitVecNumRef) and found.size() == width else None


_PLAIN = {"add": add, "subtract": sub, "multiply": mul, "and": and_, "or": or_, "xor": xor}


def _operation(
    opcode: str, direction: str, width: int, signed: bool, x: Sequence[z3.BitVecNumRef]
) -> z3.BitVecRef | None:
    """Return one element as a z3 term, or None for an unknown operation."""
    zero = z3.BitVecVal(0, x[-1].size())

    def less(a: z3.BitVecRef, b: z3.BitVecRef) -> z3.BoolRef:
        return a < b if signed else z3.ULT(a, b)

    match opcode, list(x):
        case _, [a, b] if opcode in _PLAIN:
            return _PLAIN[opcode](a, b)
        case "divide" | "remainder", [a, b] if b.as_long():
            if opcode == "divide":
                return a / b if signed else z3.UDiv(a, b)
            return z3.SRem(a, b) if signed else z3.URem(a, b)
        case "not", [a]:
            return ~a
        case (("shift-left" | "shift-right-logical" | "shift-right-arithmetic"), [a, b]) if (
            0 <= b.as_signed_long() < width
        ):
            if opcode == "shift-left":
                return a << b
            return z3.LShR(a, b) if opcode == "shift-right-logical" else a >> b
        case "negate", [a]:
            return -a
        case "abs", [a]:
            return z3.If(less(a, zero), -a, a)
        case "sign", [a]:
            one = z3.BitVecVal(1, width)
            return z3.If(a == zero, zero, z3.If(less(a, zero), -one, one))
        case "minimum", [a, b]:
            return z3.If(less(b, a), b, a)
        case "maximum", [a, b]:
            return z3.If(less(a, b), b, a)
        case "clamp", [lo, a, hi]:
            raised = z3.If(less(a, lo), lo, a)
            return z3.If(less(hi, raised), hi, raised)
        case "select", [p, a, b]:
            return z3.If(p == 1, a, b)
        case "compare", [a, b]:
            compared = {
                "EQ": a == b,
                "NE": a != b,
                "LT": less(a, b),
                "GE": z3.Not(less(a, b)),
                "GT": less(b, a),
                "LE": z3.Not(less(b, a)),
            }
            held = compared.get(direction)
            return None if held is None else z3.If(held, z3.BitVecVal(1, 1), z3.BitVecVal(0, 1))
        case "convert", [a]:
            if width == 1:
                return z3.If(a == zero, z3.BitVecVal(0, 1), z3.BitVecVal(1, 1))
            if width <= a.size():
                return z3.Extract(width - 1, 0, a)
            return z3.SignExt(width - a.size(), a) if signed else z3.ZeroExt(width - a.size(), a)
    return None


# --------------------------------------------------------------------------------------------------------- questions
def _bits(computation: Computation, known: Mapping[tuple[int, Path], Sequence[int]]) -> dict[tuple[int, Path], Bits]:
    """Return the claims about parameters as bit vectors of their types."""
    arrays = {
        (p.parameter_number, path): array
        for p in computation.parameters
        if p.shape is not None
        for path, array in leaves(p.shape)
    }
    return {
        key: _bits_of(values, _width(arrays[key]))
        for key, values in known.items()
        if key in arrays and _width(arrays[key])
    }


def _agree(claimed: Sequence[int], found: Bits | None) -> bool:
    """Return whether bits are those of the claimed integers."""
    return (
        found is not None
        and len(claimed) == len(found.words)
        and all(-(1 << found.width) < c < 1 << found.width for c in claimed)
        and _bits_of(claimed, found.width) == found
    )


def _shown(found: Bits | None) -> str:
    return "not known" if found is None else ", ".join(map(str, found.signed()))


def constant_values(i: Instruction) -> list[int]:
    """Return the elements of a constant of integers, in row-major order."""
    found = _elements(i, [])
    return [] if found is None else found.signed() if _signed(i.shape) else found.words


def evaluation_answer(computations: Mapping[str, Computation], e: EvaluationStep) -> tuple[Status, str]:
    """Check all values that the analysis uses, and that the specialized computation contains only these."""
    found = evaluate(computations, e.computation, _bits(e.computation, e.known), claimed=e.values)
    for name, values in e.values.items():
        for path, claimed in values.items():
            have = found.get(name, {}).get(path)
            if not _agree(claimed, have):
                status = Status.UNDECIDED if have is None else Status.REFUTED
                return status, f"{name} is taken for {list(claimed)}, it is {_shown(have)}"
    if e.specialized is not None:
        for old, new in zip(e.computation.instructions, e.specialized.instructions, strict=True):
            if new is not old and not _is_put_in(old, new, found):
                return Status.REFUTED, f"{old.name}: {new.opcode} in place of {old.opcode}"
        if e.specialized.root.name != e.computation.root.name:
            return Status.REFUTED, "another root"
    return Status.PROVED, "bit vectors"


def _is_put_in(old: Instruction, new: Instruction, found: Found) -> bool:
    """Return whether the new instruction computes what the old one does, for these values."""
    if old.name != new.name or old.shape != new.shape:
        return False
    if new.opcode == "constant":
        values = found.get(old.name, {}).get(())
        stated = _elements(new, [])
        return values is not None and stated is not None and values.words == stated.words
    choice = found.get(old.operands[0].name, {}).get(()) if old.operands else None
    if choice is None:
        return False
    if old.opcode == "select" and new.opcode == "copy":
        return set(choice.words) == {1 if new.operands == old.operands[1:2] else 0} and (
            new.operands in (old.operands[1:2], old.operands[2:3])
        )
    if old.opcode == "conditional" and new.opcode == "call":
        taken = _branch(old, choice)
        return (
            taken is not None and new.called == (_branches(old)[taken],) and new.operands == (old.operands[taken + 1],)
        )
    return False


def unrolling_answer(computations: Mapping[str, Computation], u: UnrollingStep) -> tuple[Status, str]:
    """Check the number of iterations of a loop, and the values at the start of each."""
    now = _bits(u.body, {(0, path): values for path, values in u.start.items()})
    for k, run in enumerate((*u.runs, None)):
        # the condition may depend on nothing but the values in `now`
        test = evaluate(computations, u.condition, now).get(u.condition.root.name, {}).get(())
        if test is None:
            return Status.UNDECIDED, f"whether run {k} begins is not known"
        if bool(test.words[0]) != (run is not None):
            return Status.REFUTED, f"run {k} {'begins' if run is None else 'does not begin'}"
        if run is None:
            break
        for path, claimed in run.before.items():
            if not _agree(claimed, now.get((0, path))):
                have = _shown(now.get((0, path)))
                return Status.REFUTED, f"run {k} begins with {have} at {path}, not {list(claimed)}"
        after = evaluate(computations, u.body, now).get(u.body.root.name, {})
        now = {(0, path): values for path, values in after.items()}
    return Status.PROVED, f"bit vectors, {len(u.runs)} runs"


def operand_answer(computations: Mapping[str, Computation], o: OperandStep) -> tuple[Status, str]:
    """Check that the operands of an instruction have the values with which its computation is evaluated."""
    given = o.instruction.operands
    behind: set[str] = set()
    pending = [given[k].name for k, _ in o.operands if k < len(given)]
    while pending:
        name = pending.pop()
        if name in o.evaluated and name not in behind and name in o.caller.positions:
            behind.add(name)
            pending += [x.name for x in o.caller.instruction(name).operands]
    found = evaluate(computations, o.caller, _bits(o.caller, o.known), claimed=behind)
    for (k, path), claimed in o.operands.items():
        have = found.get(given[k].name, {}).get(path) if k < len(given) else None
        if have is None and k < len(given) and isinstance(s := given[k].shape, Shape) and not s.size:
            have = Bits(_width(s), [])
        if not _agree(claimed, have):
            status = Status.UNDECIDED if have is None else Status.REFUTED
            return status, f"operand {k} of {o.instruction.name} is {_shown(have)}, not {list(claimed)}"
    return Status.PROVED, "bit vectors"
