"""Catalogues of ops: maps of single HLO instructions.

The analysis itself knows no op. It receives a catalogue made from declared ops, whose maps are proved. The catalogue
answers, for one instruction, how each element of each output relates to each operand. The analysis follows calls,
fusions, tuples and parameters itself.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ..errors import InputError
from ..expr import Int
from ..hlo import Instruction, Shape, TupleShape, leaves
from ..hlo.shape import AnyShape
from ..indexing_map import IndexingMap, RuntimeSource
from ..op import WRITTEN, Direction, Op, concrete, source_name
from .dependence import NoMap, Reads, paths_of
from .runtime import position_text, with_sources, written_path

OpMaps = Sequence[Sequence[Reads[IndexingMap]]]
"""`maps[output][operand]`: the reads between them."""


ReadOp = Callable[[Instruction], Op | None]
"""Returns the op of an instruction, None for an opcode without one. Invalid attributes raise `InputError`."""

Sizes = tuple[tuple[int, ...], ...]

_Unnamed = Sequence[Sequence[Sequence[IndexingMap]]]


class OpCatalogue:
    """Maps of single instructions, from the ops that `read` returns. `reasons` explains why an opcode has no map."""

    def __init__(self, read: ReadOp, reasons: Callable[[str], str | None] = lambda opcode: None) -> None:
        self.read = read
        self.reasons = reasons
        # Most instructions of a module repeat an op on the same sizes. In the cached maps sources are operand numbers.
        self._answers: dict[tuple[Op, Direction, Sizes, AnyShape | None], _Unnamed] = {}

    def maps(self, instruction: Instruction, direction: Direction) -> OpMaps:
        """Return the maps of an instruction whose operands are arrays of known shape.

        The source of a runtime variable names the operand that holds the value: `RuntimeSource.hlo` is the operand's
        name, or text that starts with `name = `; `written_path` names whether a scatter's updates land on an element.
        Raises `InputError` for invalid attributes.
        """
        op = self.read(instruction)
        if op is None:
            reason = self.reasons(instruction.opcode)
            if reason and instruction.has("custom_call_target"):
                reason = f"{instruction.word('custom_call_target')}: {reason}"
            why = NoMap(instruction.name, reason or f"no op for {instruction.opcode} in the catalogue")
            return [[Reads((), (why,))] * len(instruction.operands)] * len(paths_of(instruction.shape))
        sizes = tuple(a.dims for a in instruction.operand_arrays)
        key = (op, direction, sizes, instruction.shape)
        found = self._answers.get(key)
        if found is None:
            self._check(instruction, op, sizes)
            found = self._answers[key] = self._unnamed(op, direction, sizes, instruction.shape)
        parts = [op] if op.parallel else [op.part(r) for r in range(len(found))]
        at_most = tuple([NoMap(instruction.name, part.at_most) for part in parts if part.at_most][:1])
        return [[Reads(tuple([_named(m, instruction) for m in ms]), (), at_most) for ms in row] for row in found]

    @staticmethod
    def _unnamed(op: Op, direction: Direction, sizes: Sizes, shape: AnyShape | None) -> _Unnamed:
        """Return the maps of an op, with operand numbers as the sources of runtime variables."""
        numbers = [str(j) for j in range(len(sizes))]
        if op.parallel:
            own = [[concrete(op, 0, direction, (x,), numbers)] for x in sizes]
            return [[m if r == k else [] for k, m in enumerate(own)] for r in range(len(sizes))]
        parts = [op.part(r) for r in range(len(dict(leaves(shape))) if shape else 1)]
        return [
            [[concrete(part, k, direction, sizes, numbers)] if part.connected(r, k) else [] for k in range(len(sizes))]
            for r, part in enumerate(parts)
        ]

    def shape(self, instruction: Instruction) -> AnyShape | None:
        """Infer the shape of an instruction that states none (a rule for `fill_shapes`); None if it is not known."""
        op = self.read(instruction)
        if op is None or not all(isinstance(s, Shape) for s in instruction.operand_shapes):
            return None
        sizes = tuple(a.dims for a in instruction.operand_arrays)
        if op.parallel and len(sizes) != 1:
            return None
        dims = [_dims(op.part(r), sizes) for r in range(op.results)]
        arrays = [Shape(t, x) for r, x in enumerate(dims) if (t := _element_type(instruction, r)) is not None]
        if len(arrays) != len(dims):
            return None
        return arrays[0] if len(arrays) == 1 else TupleShape(tuple(arrays))

    @staticmethod
    def _check(instruction: Instruction, op: Op, sizes: Sizes) -> None:
        """Check that the op accepts the operands, and that its outputs have the instruction's shape."""
        operands = [(x,) for x in sizes] if op.parallel else [sizes] * op.results
        wanted = [_dims(op.part(r), each) for r, each in enumerate(operands)]
        if instruction.shape is None:
            return
        arrays = [a for _, a in leaves(instruction.shape)]
        if len(arrays) != len(wanted):
            raise InputError(f"{instruction.name}: {instruction.opcode} makes {len(wanted)} arrays, not {len(arrays)}")
        for a, dims in zip(arrays, wanted, strict=True):
            if a.dims != dims:
                made = Shape(a.element_type, dims)
                raise InputError(f"{instruction.name}: {instruction.opcode} makes {made}", expected=str(a))


def _named(m: IndexingMap, instruction: Instruction) -> IndexingMap:
    """Replace operand numbers in the sources of a map by the names of the operands."""

    def named(source: RuntimeSource) -> RuntimeSource:
        if source.hlo.isdecimal():
            return RuntimeSource(instruction.operands[int(source.hlo)].name, source.results)
        if source.hlo == source_name(WRITTEN, ()):
            return RuntimeSource(written_path(instruction.name), source.results)
        return RuntimeSource(position_text(instruction), source.results)

    return with_sources(m, named)


def _dims(op: Op, sizes: Sizes) -> tuple[int, ...]:
    """Return the sizes of the output, after checking that the op accepts these operands."""
    op.validate(*sizes)
    dims = op.shape(*sizes)
    if not all(isinstance(n, Int) for n in dims):
        raise InputError(f"{op.name}: the sizes of the output are not numbers")
    return tuple(n.value for n in dims if isinstance(n, Int))


def _element_type(instruction: Instruction, result: int) -> str | None:
    if instruction.opcode in ("compare", "is-finite"):
        return "pred"
    if instruction.opcode in ("convert", "bitcast-convert", "iota", "constant", "fft"):
        return None
    # The first operand of a select is the predicate; results of a reduce have the types of its operands.
    operand = 1 if instruction.opcode == "select" else result
    if operand >= len(instruction.operands):
        return None
    return instruction.operand_arrays[operand].element_type
