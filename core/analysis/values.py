"""Evaluation of values that do not depend on the inputs of a module, such as counters of loops.

A loop whose counter starts at a constant, steps by a constant and is compared with a constant runs a known number of
times, and in each run all values computed from the counter alone are known. :func:`values_of` evaluates a computation,
:func:`specialized` inserts the known values, :func:`runs` enumerates the runs of a loop.

Integers and predicates in small arrays are evaluated with the arithmetic of machine integers, which wraps around.  If
an array is requested by name, numbers of :mod:`.floats` are evaluated too.  All other values are unknown. `verify`
evaluates everything again, with bit vectors.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import prod

from ..errors import InputError
from ..hlo import Computation, Instruction, Operand, Shape, leaves
from .dependence import Path
from .runtime import COMPARISONS, FLOAT, branches, constant_elements, literal_words

Value = tuple[int, ...]
"""The elements of an array in row-major order; predicates are 0 and 1, `f32` numbers are the words that hold them."""

Known = Mapping[tuple[int, Path], Value]
"""Known values of parameters (or operands), by number and path."""

Values = dict[str, dict[Path, Value]]
"""Known values of instructions, by name and path."""

# Limits on the elements of an evaluated array, on those of one that is requested by name, and on the runs of an
# unrolled loop; on the nesting of calls, and on the instructions that are evaluated for one computation and its
# callees.
LARGEST, LARGEST_ASKED, MOST_RUNS = 256, 4096, 64
_DEEPEST, _MOST_WORK = 12, 20_000

# Limit on the bits of a shift; shifts to the right are evaluated for nonnegative numbers only.
_WIDEST = 8

_TYPE = re.compile(r"([su])(2|4|8|16|32|64)\Z")

# Opcodes that return their operand with its elements in the same order.
_HANDED_ON = ("copy", "opt-barrier", "optimization-barrier", "reshape")
CALLS = ("call", "fusion")


def bits_of(element_type: str) -> tuple[bool, int] | None:
    """Return whether a type is signed, and its number of bits, 1 for `pred`; None for a type other than integers."""
    if element_type == "pred":
        return False, 1
    found = _TYPE.match(element_type)
    return None if found is None else (found[1] == "s", int(found[2]))


def wrapped(value: int, element_type: str) -> int:
    """Wrap an integer to the range of a machine integer of this type."""
    found = bits_of(element_type)
    assert found is not None, element_type
    signed, bits = found
    value &= (1 << bits) - 1
    return value - (1 << bits) if signed and value >> (bits - 1) else value


def small(shape: object, largest: int = LARGEST) -> bool:
    """Return whether arrays of this shape are evaluated."""
    return (
        isinstance(shape, Shape)
        and (shape.element_type == FLOAT or bits_of(shape.element_type) is not None)
        and not any(shape.dynamic)
        and 0 < shape.size <= largest
    )


def _is(element_type: str, shape: object) -> bool:
    return isinstance(shape, Shape) and shape.element_type == element_type


Made = dict[tuple[Instruction, tuple[Value | None, ...]], Value | None]
"""The elements that instructions without names were evaluated to, given the values of their operands."""


@dataclass
class _Budget:
    left: int = _MOST_WORK
    largest: int = LARGEST
    floats: bool = False
    made: Made | None = None


def values_of(
    computations: Mapping[str, Computation],
    computation: Computation,
    known: Known,
    depth: int = 0,
    budget: _Budget | None = None,
    asked: str | None = None,
    made: Made | None = None,
) -> Values:
    """Return the known values of a computation's instructions, given those of its parameters.

    If one instruction is ``asked`` for, only that one and its dependencies are evaluated, but for what is ``made``.
    """
    budget = budget or (_Budget() if asked is None else _Budget(largest=LARGEST_ASKED, floats=True, made=made))
    found: Values = {}
    instructions: Iterable[Instruction] = computation.instructions
    if asked is not None:
        instructions = _behind(computation, asked)
    for instruction in instructions:
        budget.left -= 1
        if budget.left < 0:
            break
        values = _of(computations, instruction, known, found, depth, budget)
        if values:
            found[instruction.name] = values
    return found


def _behind(computation: Computation, name: str) -> list[Instruction]:
    """Return an instruction after all instructions that it depends on."""
    pending, seen = [computation.position(name)], set[int]()
    while pending:
        k = pending.pop()
        if k >= 0 and k not in seen:
            seen.add(k)
            pending += computation.operand_positions[k]
    return [computation.instructions[k] for k in sorted(seen)]


def _of(
    computations: Mapping[str, Computation],
    instruction: Instruction,
    known: Known,
    found: Values,
    depth: int,
    budget: _Budget,
) -> dict[Path, Value]:
    opcode = instruction.opcode
    given = [found.get(o.name, {}) for o in instruction.operands]
    if opcode == "parameter":
        number = instruction.parameter_number
        return {path: value for (k, path), value in known.items() if k == number}
    if opcode == "tuple":
        return {(k, *path): value for k, values in enumerate(given) for path, value in values.items()}
    if opcode == "get-tuple-element" and given:
        index = instruction.number("index")
        return {path[1:]: value for path, value in given[0].items() if path and path[0] == index}
    if opcode in _HANDED_ON and len(given) == 1:
        return given[0]
    if opcode in (*CALLS, "conditional"):
        name, inside = _called(instruction, given)
        callee = computations.get(name)
        if callee is None or depth >= _DEEPEST or (instruction.operands and not inside):
            return {}
        return values_of(computations, callee, inside, depth + 1, budget).get(callee.root.name, {})
    if opcode == "broadcast" and given and given[0].get((), (0, 0))[1:] == () and _is("pred", instruction.shape):
        return {(): given[0][()]}  # kept as one element, even if the array is large
    if not small(instruction.shape, budget.largest) or (_is(FLOAT, instruction.shape) and not budget.floats):
        return {}
    value = _shared(instruction, tuple([values.get(()) for values in given]), budget)
    return {} if value is None else {(): value}


def _called(
    instruction: Instruction, given: Sequence[Mapping[Path, Value]]
) -> tuple[str, dict[tuple[int, Path], Value]]:
    """Return the computation that runs, empty if unknown, and the known values of its parameters."""
    if instruction.opcode != "conditional":
        name = instruction.called[0] if instruction.called else ""
        return name, {(k, path): value for k, values in enumerate(given) for path, value in values.items()}
    taken = branch_taken(instruction, given[0].get(()) if given else None)
    if taken is None:
        return "", {}
    return branches(instruction)[taken], {(0, path): v for path, v in given[1 + taken].items()}


def branch_taken(instruction: Instruction, choice: Value | None) -> int | None:
    """Return the number of the branch that runs, if the choice is known; out of range means the last one."""
    count = len(branches(instruction))
    if choice is None or count < 1 or count != len(instruction.operands) - 1:
        return None
    chosen = instruction.operands[0].shape
    if not isinstance(chosen, Shape) or chosen.size != 1:
        return None
    if chosen.element_type == "pred":
        return 0 if choice[0] else 1
    return choice[0] if 0 <= choice[0] < count else count - 1


def _shared(instruction: Instruction, operands: tuple[Value | None, ...], budget: _Budget) -> Value | None:
    """Evaluate an instruction, once for all that do the same with the same values, as layers do."""
    if budget.made is None:
        return evaluated(instruction, operands, budget.largest)
    unnamed = tuple([Operand("", o.shape) for o in instruction.operands])
    key = (replace(instruction, name="", operands=unnamed), operands)
    if key not in budget.made:
        budget.made[key] = evaluated(instruction, operands, budget.largest)
    return budget.made[key]


def evaluated(instruction: Instruction, operands: Sequence[Value | None], largest: int = LARGEST) -> Value | None:
    """Evaluate the elements of a small array from those of its operands; None if they are not known."""
    shape, opcode = instruction.shape, instruction.opcode
    assert isinstance(shape, Shape)
    if opcode == "constant":
        float_type = shape.element_type == FLOAT
        words = _float_words(literal_words(instruction)) if float_type else constant_elements(instruction)
        return words if words is not None and len(words) == shape.size else None
    if opcode == "iota":
        return _iota(instruction, shape)
    if not operands:
        return None
    shapes = [o.shape for o in instruction.operands]
    if opcode == "select" and len(operands) == 3 and operands[0] is not None and len(set(operands[0])) == 1:
        return operands[1 if operands[0][0] else 2]
    arrays = [s for s in shapes if isinstance(s, Shape) and small(s, largest)]
    given = [v for v in operands if v is not None]
    if not len(arrays) == len(given) == len(shapes):
        return None
    # a broadcast predicate is kept as one element
    given = [v * s.size if len(v) == 1 and _is("pred", s) else v for v, s in zip(given, arrays, strict=True)]
    if any(len(v) != s.size for v, s in zip(given, arrays, strict=True)):
        return None
    first = arrays[0]
    if opcode in _MOVES:
        return _moved(instruction, shape, arrays, given)
    if opcode == "bitcast":
        return _seen_as(first, shape, given[0])
    if opcode == "dynamic-slice":
        return _slice(given, first, shape)
    given = [v * shape.size if len(v) == 1 else v for v in given]  # `clamp` and `select` take scalars
    if any(len(v) != shape.size for v in given):
        return None
    if any(_is(FLOAT, s) for s in (shape, *arrays)):
        from .floats import float_elements

        if instruction.attribute("type") not in (None, "FLOAT"):
            return None
        direction, types = str(instruction.attribute("direction")), [a.element_type for a in arrays]
        return float_elements(opcode, direction, shape.element_type, types, given)
    if opcode == "convert":
        to_pred = shape.element_type == "pred"
        return tuple([int(a != 0) if to_pred else wrapped(a, shape.element_type) for a in given[0]])
    if shape.element_type == "pred" and opcode not in _OF_PREDICATES:
        return None
    operation = _OPERATIONS.get(opcode) if opcode != "compare" else _compared(instruction)
    if operation is None or len(given) != operation[0]:
        return None
    found = [operation[1](*elements) for elements in zip(*given, strict=True)]
    exact = tuple([wrapped(a, shape.element_type) for a in found if a is not None])
    return exact if len(exact) == len(found) else None


def _iota(instruction: Instruction, shape: Shape) -> Value | None:
    dimension = instruction.number("iota_dimension")
    if dimension is None or not 0 <= dimension < shape.rank:
        return None
    inner, size = prod(shape.dims[dimension + 1 :]), shape.dims[dimension]
    counted = [k // inner % size for k in range(shape.size)]
    if shape.element_type == FLOAT:
        return _float_words(counted)
    return tuple([wrapped(k, shape.element_type) for k in counted])


def _float_words(numbers: Sequence[str | int]) -> Value | None:
    from .floats import float_words  # lazily, so that numpy is loaded only by computations with arrays

    return float_words(numbers)


def _seen_as(first: Shape, shape: Shape, value: Value) -> Value | None:
    """Return the elements of a bitcast, which reads the memory of another array."""
    import numpy as np

    if first.element_type != shape.element_type or first.size != shape.size:
        return None
    if any(s.layout is not None and (s.layout.tiles or s.layout.properties) for s in (first, shape)):
        return None
    orders = [s.minor_to_major[::-1] for s in (first, shape)]
    memory = np.array(value, object).reshape(first.dims).transpose(orders[0]).ravel()
    made = memory.reshape([shape.dims[d] for d in orders[1]]).transpose(np.argsort(orders[1]))
    return tuple(made.ravel().tolist())


_MOVES = ("broadcast", "concatenate", "pad", "reverse", "slice", "transpose")


def _moved(instruction: Instruction, shape: Shape, shapes: Sequence[Shape], given: Sequence[Value]) -> Value | None:
    """Return the elements of an array into which those of its operands are moved."""
    import numpy as np

    arrays = [np.array(v, object).reshape(s.dims) for v, s in zip(given, shapes, strict=True)]
    opcode, made = instruction.opcode, arrays[0]
    try:
        dims = () if opcode in ("pad", "slice") else instruction.integers("dimensions", ())
        if opcode == "broadcast":
            places = [made.shape[dims.index(d)] if d in dims else 1 for d in range(shape.rank)]
            made = np.broadcast_to(made.transpose(np.argsort(dims)).reshape(places), shape.dims)
        elif opcode == "concatenate":
            made = np.concatenate(arrays, dims[0])
        elif opcode == "reverse":
            made = np.flip(made, dims)
        elif opcode == "transpose":
            made = made.transpose(dims)
        elif opcode == "slice":
            # made an array again: what has no index left is a number
            made = np.asarray(made[tuple(slice(s.start, s.limit, s.stride) for s in instruction.strides())])
        else:
            padding = instruction.padding()
            if any(low < 0 or high < 0 for low, high, _ in padding):
                return None
            inside = tuple(
                [slice(low, n - high, gap + 1) for n, (low, high, gap) in zip(shape.dims, padding, strict=True)]
            )
            made = np.full(shape.dims, given[1][0], object)
            made[inside] = arrays[0]
    except (InputError, ValueError, IndexError):
        return None  # invalid attributes are reported when maps are requested
    return tuple(made.ravel().tolist()) if made.shape == shape.dims else None


def _slice(given: Sequence[Value], first: Shape, shape: Shape) -> Value | None:
    if first.rank != 1 or shape.rank != 1 or len(given) != 2:
        return None
    start = min(max(given[1][0], 0), first.dims[0] - shape.dims[0])
    return given[0][start : start + shape.dims[0]] if start >= 0 else None


def _divided(a: int, b: int) -> int | None:
    """Divide towards zero; None for division by zero."""
    if b == 0:
        return None
    return abs(a) // abs(b) * (-1 if (a < 0) != (b < 0) else 1)


def _remainder(a: int, b: int) -> int | None:
    """Return the remainder with the sign of the dividend; None for division by zero."""
    return None if b == 0 else abs(a) % abs(b) * (-1 if a < 0 else 1)


_OPERATIONS: dict[str, tuple[int, Callable[..., int | None]]] = {
    "abs": (1, abs),
    "add": (2, lambda a, b: a + b),
    "and": (2, lambda a, b: a & b),
    "clamp": (3, lambda lo, a, hi: min(max(a, lo), hi)),
    "divide": (2, _divided),
    "maximum": (2, max),
    "minimum": (2, min),
    "multiply": (2, lambda a, b: a * b),
    "negate": (1, lambda a: -a),
    "not": (1, lambda a: ~a),
    "or": (2, lambda a, b: a | b),
    "remainder": (2, _remainder),
    "select": (3, lambda p, a, b: a if p else b),
    "shift-left": (2, lambda a, b: a << b if 0 <= b < _WIDEST else None),
    "shift-right-arithmetic": (2, lambda a, b: a >> b if a >= 0 and 0 <= b < _WIDEST else None),
    "shift-right-logical": (2, lambda a, b: a >> b if a >= 0 and 0 <= b < _WIDEST else None),
    "sign": (1, lambda a: (a > 0) - (a < 0)),
    "subtract": (2, lambda a, b: a - b),
    "xor": (2, lambda a, b: a ^ b),
}
_OF_PREDICATES = ("and", "compare", "not", "or", "select", "xor")


def _compared(instruction: Instruction) -> tuple[int, Callable[..., int]] | None:
    compare = COMPARISONS.get(str(instruction.attribute("direction")))
    return None if compare is None else (2, lambda a, b: int(compare(a, b)))


def written(scatter: Instruction, starts: Value) -> tuple[Value, tuple[int, ...]] | None:
    """Mark where updates of a scatter land, in row-major order, in the dimensions of its operand that decide it."""
    import numpy as np

    operand, indices, updates = scatter.operand_arrays
    vector = scatter.integer("index_vector_dim")
    batching = scatter.integers("input_batching_dims", ())
    paired = dict(zip(batching, scatter.integers("scatter_indices_batching_dims", ()), strict=True))
    gone = (*scatter.integers("inserted_window_dims", ()), *batching)
    window = iter([updates.dims[d] for d in scatter.integers("update_window_dims")])
    sizes = [1 if d in gone else next(window) for d in range(operand.rank)]
    mapped = scatter.integers("scatter_dims_to_operand_dims")
    axes = tuple([d for d, n in enumerate(operand.dims) if d in mapped or sizes[d] != n])
    dims = [operand.dims[d] for d in axes]
    if prod(dims) > LARGEST_ASKED:
        return None
    table = np.zeros(dims, int)
    vectors = np.array(starts, object).reshape(indices.dims)
    vectors = vectors[..., None] if vector == indices.rank else np.moveaxis(vectors, vector, -1)
    for place in np.ndindex(vectors.shape[:-1]):
        first = dict.fromkeys(range(operand.rank), 0) | dict(zip(mapped, vectors[place], strict=True))
        first |= {d: place[e - (e > vector)] for d, e in paired.items()}
        if all(0 <= first[d] <= n - sizes[d] for d, n in enumerate(operand.dims)):
            table[tuple([slice(first[d], first[d] + sizes[d]) for d in axes])] = 1
    return tuple(table.ravel().tolist()), axes


# ------------------------------------------------------------------------------------------------------- putting in
def specialized(computation: Computation, values: Values, name: str) -> Computation:
    """Insert known values into a computation: constants, the branch that runs, the operand that is selected.

    The result is valid for the parameters for which the values were evaluated.
    """
    made = tuple(_specialized(i, values) for i in computation.instructions)
    return Computation(name, made, computation.root_index)


def constant_of(instruction: Instruction, value: Value) -> Instruction:
    """Return the constant that replaces an instruction."""
    spelled, shape = ", ".join(map(str, value)), instruction.shape
    literal = f"{{{spelled}}}" if isinstance(shape, Shape) and shape.rank else spelled
    return Instruction(instruction.name, "constant", shape, literal=literal)


def _specialized(instruction: Instruction, values: Values) -> Instruction:
    opcode = instruction.opcode
    if opcode in ("parameter", "constant", "iota"):
        return instruction
    value = values.get(instruction.name, {}).get(())
    shape = instruction.shape
    if value is not None and isinstance(shape, Shape) and shape.size == len(value) and not _is(FLOAT, shape):
        return constant_of(instruction, value)
    choice = values.get(instruction.operands[0].name, {}).get(()) if instruction.operands else None
    if opcode == "select" and len(instruction.operands) == 3 and choice and len(set(choice)) == 1:
        chosen = instruction.operands[1 if choice[0] else 2]
        return Instruction(instruction.name, "copy", instruction.shape, (chosen,))
    if opcode == "conditional" and (taken := branch_taken(instruction, choice)) is not None:
        run = (("to_apply", branches(instruction)[taken]),)
        return replace(instruction, opcode="call", operands=(instruction.operands[1 + taken],), attributes=run)
    return instruction


# ------------------------------------------------------------------------------------------------------------- loops
@dataclass(frozen=True, eq=False)
class LoopRun:
    """One run of the body of a loop: the known values of the carried arrays before it, and of the body."""

    before: dict[Path, Value]
    values: Values


def runs(
    computations: Mapping[str, Computation], condition: Computation, body: Computation, start: Mapping[Path, Value]
) -> list[LoopRun] | None:
    """Return the runs of a loop in order; None if their number is unknown or larger than `MOST_RUNS`."""
    found: list[LoopRun] = []
    budget = _Budget(3 * _MOST_WORK)
    before = dict(start)
    while True:
        known = {(0, path): value for path, value in before.items()}
        goes_on = values_of(computations, condition, known, 0, budget).get(condition.root.name, {}).get(())
        if goes_on is None or len(goes_on) != 1:
            return None
        if not goes_on[0]:
            return found
        if len(found) == MOST_RUNS:
            return None
        values = values_of(computations, body, known, 0, budget)
        found.append(LoopRun(before, values))
        before = values.get(body.root.name, {})


def known_leaves(operand: Operand, values: Values) -> dict[Path, Value]:
    """Return the known arrays of an operand, for paths that its shape has."""
    paths = dict(leaves(operand.shape))
    return {p: v for p, v in values.get(operand.name, {}).items() if p in paths and len(v) == paths[p].size}
