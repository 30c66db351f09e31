"""The catalogue of operations: every op by name, and the op that an HLO instruction performs."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace

from ...core.analysis.catalogue import OpCatalogue
from ...core.errors import InputError, quoted
from ...core.hlo import Instruction, Module
from ...core.op import Op
from . import collective, contraction, dynamic, fibres, folding, movement, pointwise, reshape, scatter, sorting, window
from .fibres import sharded
from .folding import Reduce
from .scatter import Scatter
from .sorting import Sort, TopK
from .window import ReduceWindow

#: The modules of ops, in the order in which reports list them.
_MODULES = (pointwise, movement, reshape, dynamic, scatter, sorting, folding, window, contraction, collective, fibres)
_DECLARED: list[type[Op]] = [
    made
    for module in _MODULES
    for made in vars(module).values()
    if isinstance(made, type) and issubclass(made, Op) and made.name and made.__module__ == module.__name__
]
#: Every op by name, except the one that only combines several others.
OPS: dict[str, type[Op]] = {made.name: made for made in _DECLARED if made is not fibres.Several}
#: The op that reads each HLO opcode.
OPCODES: dict[str, type[Op]] = {opcode: made for made in _DECLARED for opcode in made.opcodes}

#: Custom calls whose meaning XLA defines.
_KNOWN_CALLS = re.compile(r"(?:TopK|Sharding|SPMD\w+|xla\.sdy\.\w+|Pin|Unpin)\Z")


def op_from_hlo(instruction: Instruction, shapes: Sequence[tuple[int, ...]] | None = None) -> Op | None:
    """Return the op that an instruction performs on operands of these sizes (by default those that it states).

    Returns ``None`` for an opcode without an op.  Raises :class:`InputError` for missing or invalid attributes.
    """
    cls = OPCODES.get(instruction.opcode)
    target = instruction.word("custom_call_target", "") if instruction.opcode == "custom-call" else ""
    if cls is None and not _KNOWN_CALLS.match(target):
        return None
    try:
        sizes = [a.dims for a in instruction.operand_arrays] if shapes is None else list(shapes)
        if cls is None:
            return TopK.from_hlo(instruction, sizes) if target == "TopK" else sharded(instruction, sizes)
        return cls.from_hlo(instruction, sizes)
    except InputError:
        raise
    except ValueError as error:
        raise InputError(str(error)) from None


def op_reader(module: Module) -> Callable[[Instruction], Op | None]:
    """Return :func:`op_from_hlo` for the instructions of one module, refined by the computations that they apply.

    A variadic reduce or scatter reads, for each result, only the components that its computation uses for the
    result.  A sort reads its own operand and those that are compared.  A scatter whose computation ignores the
    old element replaces it.
    """
    used: dict[str, tuple[frozenset[int], ...] | None] = {}

    def parameters(instruction: Instruction) -> tuple[frozenset[int], ...] | None:
        if not instruction.called:
            return None
        name = instruction.called[0]
        if name not in used:
            used[name] = parameters_used(module, name)
        return used[name]

    def read(instruction: Instruction) -> Op | None:
        found = op_from_hlo(instruction)
        if isinstance(found, Reduce | ReduceWindow | Scatter) and (found.count > 1 or isinstance(found, Scatter)):
            roots = parameters(instruction)
            if roots is None or len(roots) != found.count:
                return found
            if isinstance(found, Scatter) and found.count == 1:
                return replace(found, replaces=0 not in roots[0])
            return replace(found, depends=_components(roots, found.count))
        if isinstance(found, Sort) and found.count > 1:
            roots = parameters(instruction)
            if roots is not None:
                keys = {p // 2 for root in roots for p in root}
                depends = tuple(tuple(sorted(keys | {k})) for k in range(found.count))
                return replace(found, depends=depends)
        return found

    return read


def parameters_used(module: Module, name: str) -> tuple[frozenset[int], ...] | None:
    """Return, for each result of a computation of scalars, the numbers of the parameters that it is computed from.

    Returns ``None`` if the computation is not in the module, calls others, or has nested tuples.
    """
    if not module.has_computation(name):
        return None
    computation = module.computation(name)
    reads: dict[str, frozenset[int]] = {}
    for instruction in computation.instructions:
        if instruction.opcode == "parameter":
            reads[instruction.name] = frozenset({instruction.parameter_number})
        elif instruction.called or (instruction.opcode == "tuple" and instruction is not computation.root):
            return None
        else:
            parts = [reads.get(o.name, frozenset()) for o in instruction.operands]
            reads[instruction.name] = frozenset().union(*parts)
    root = computation.root
    names = [o.name for o in root.operands] if root.opcode == "tuple" else [root.name]
    return tuple(reads[n] for n in names)


def _components(roots: Sequence[frozenset[int]], count: int) -> tuple[tuple[int, ...], ...]:
    """Return, for each result, the components, of `count`, that it is computed from.

    A result also depends on the components of its accumulator, so the transitive closure is taken.
    """
    # result k depends on its own accumulator; iterate to the fixpoint
    direct = [{p % count for p in root} | {k} for k, root in enumerate(roots)]
    while True:
        wider: list[set[int]] = [set().union(*(direct[c] for c in components)) for components in direct]
        if wider == direct:
            return tuple(tuple(sorted(components)) for components in direct)
        direct = wider


#: Opcodes without maps, with the reason.
REASONS: dict[str, str] = {
    "custom-call": "what the called code reads is not part of the program",
    "infeed": "the values come from outside the program",
    "outfeed": "the values leave the program",
    "recv": "the values come from outside, or from another replica",
    "rng-get-and-update-state": "the state is outside the program",
    "send": "the values leave the program",
    "while": "how often the body runs decides what it reads",
}


def why_not(opcode: str) -> str:
    """Return the reason why an opcode has no maps, as text for readers."""
    return REASONS.get(opcode) or f"no op for the opcode {quoted(opcode)} in the catalogue"


#: Maps of single instructions, for :mod:`indexproof.core.analysis`.
catalogue = OpCatalogue(op_from_hlo, why_not)
