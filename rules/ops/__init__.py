"""The catalogue of operations: every op by name, and the op that an HLO instruction performs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from ...core.analysis.ops import OpCatalogue
from ...core.errors import InputError, quoted
from ...core.hlo import Instruction, Module
from ...core.op import Op
from .contraction import Dot
from .dynamic import DynamicSlice, DynamicUpdateSlice, Gather
from .folding import Reduce
from .movement import Broadcast, Concatenate, Pad, Reverse, Slice, Transpose
from .pointwise import Clamp, Compare, Constant, Convert, Copy, Elementwise, Iota, Select
from .reshape import Bitcast, BitcastConvert, Reshape
from .window import Convolution, ReduceWindow

__all__ = ["OPCODES", "OPS", "catalogue", "op_from_hlo", "op_reader", "reducer_depends", "why_not"]

#: Every op by name, in the order in which reports list them.
OPS: dict[str, type[Op]] = {
    cls.name: cls
    for cls in (
        Elementwise,
        Compare,
        Select,
        Clamp,
        Convert,
        Copy,
        Constant,
        Iota,
        Broadcast,
        Transpose,
        Reverse,
        Slice,
        Concatenate,
        Pad,
        Reshape,
        Bitcast,
        BitcastConvert,
        DynamicSlice,
        DynamicUpdateSlice,
        Gather,
        Reduce,
        ReduceWindow,
        Dot,
        Convolution,
    )
}
#: The op that reads each HLO opcode.
OPCODES: dict[str, type[Op]] = {opcode: cls for cls in OPS.values() for opcode in cls.opcodes}


def op_from_hlo(instruction: Instruction, shapes: Sequence[tuple[int, ...]] | None = None) -> Op | None:
    """The op that an instruction performs on operands of these sizes (by default those that it states).

    None for an opcode without an op; :class:`InputError` for attributes that are missing or make no sense.
    """
    cls = OPCODES.get(instruction.opcode)
    if cls is None:
        return None
    try:
        sizes = [a.dims for a in instruction.operand_arrays] if shapes is None else list(shapes)
        return cls.from_hlo(instruction, sizes)
    except InputError:
        raise
    except ValueError as error:
        raise InputError(str(error)) from None


def op_reader(module: Module) -> Callable[[Instruction], Op | None]:
    """:func:`op_from_hlo` for the instructions of one module, with a look at reducing computations.

    A variadic reduce whose computation keeps components apart reads, for each result, only the components
    that the result is computed from.
    """

    def read(instruction: Instruction) -> Op | None:
        found = op_from_hlo(instruction)
        if isinstance(found, (Reduce, ReduceWindow)) and found.count > 1 and instruction.called:
            depends = reducer_depends(module, instruction.called[0], found.count)
            if depends is not None:
                return replace(found, depends=depends)
        return found

    return read


def reducer_depends(module: Module, name: str, count: int) -> tuple[tuple[int, ...], ...] | None:
    """For each result of a reducing computation the components, of `count`, that it is computed from.

    A component depends on whatever its accumulator depends on too, so dependence is followed to its end.
    None when the computation is not in the module or not understood (it makes no tuple, or calls others).
    """
    try:
        computation = module.computation(name)
    except KeyError:
        return None
    reads: dict[str, set[int]] = {}
    for instruction in computation.instructions:
        if instruction.opcode == "parameter":
            reads[instruction.name] = {instruction.parameter_number % count}
        elif instruction.called:
            return None
        else:
            reads[instruction.name] = {
                c for o in instruction.operands for c in reads.get(o.name, range(count))
            }
    root = computation.root
    if root.opcode != "tuple" or len(root.operands) != count:
        return None
    # result k keeps its own accumulator and takes in what it is computed from, again and again
    direct = [reads[o.name] | {k} for k, o in enumerate(root.operands)]
    while True:
        wider = [set().union(*(direct[c] for c in components)) for components in direct]
        if wider == direct:
            return tuple(tuple(sorted(components)) for components in direct)
        direct = wider


def why_not(opcode: str) -> str:
    """Why an opcode has no maps, for a person."""
    return f"no op for the opcode {quoted(opcode)} in the catalogue"


#: Maps of single instructions, for :mod:`indexproof.core.analysis`.
catalogue = OpCatalogue(op_from_hlo, why_not)
