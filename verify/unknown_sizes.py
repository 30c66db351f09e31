"""Ops on arrays of unknown size: ``?`` is a parameter, and the op owes the same as its instances in the catalogue."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from ..core.analysis.unknown_sizes import named_sizes
from ..core.errors import InputError
from ..core.expr import Expr, Int, var
from ..core.hlo import Instruction, leaves
from ..core.hlo.shape import UNBOUNDED
from ..core.op import Case, Op
from .budget import Budget
from .obligations import op_obligations
from .proving import prove_all
from .verdict import Status

Sizes = Sequence[tuple[int, ...]]
#: A small budget: a program has many ops, of which most are proved at once, and a reshape of only unknown sizes is not.
_BUDGET = Budget().scaled(0.1)


def _symbolic(op: Op, sizes: Sizes) -> tuple[Op, tuple[tuple[Expr, ...], ...]]:
    """Replace each ``?`` in the sizes of an op's operands by a symbol."""
    return named_sizes(op, sizes, lambda place, d: var(f"{place}_{d}"))


def expect_sizes(op: Op, instruction: Instruction, sizes: Sizes) -> None:
    """Raise :class:`InputError` if an op rejects these operands, or makes another shape for all values of ``?``."""
    op, x = _symbolic(op, sizes)
    operands = [(s,) for s in x] if op.parallel else [x] * op.results
    arrays = [] if instruction.shape is None else [a for _, a in leaves(instruction.shape)]
    if arrays and len(arrays) != len(operands):
        raise InputError(f"{instruction.opcode} makes {len(operands)} arrays, not {len(arrays)}")
    for r, shapes in enumerate(operands):
        op.part(r).validate(*shapes)
        made = op.part(r).shape(*shapes)
        for a in arrays[r : r + 1]:
            fit = (n == UNBOUNDED or not isinstance(e, Int) or e.value == n for e, n in zip(made, a.dims, strict=False))
            if len(made) != len(a.dims) or not all(fit):
                raise InputError(f"{instruction.opcode} makes [{', '.join(map(str, made))}]", expected=str(a))


def answers_for_all_sizes(op: Op, sizes: Sizes) -> Iterator[tuple[str, tuple[Status, str]]]:
    """Yield the obligations of an op for all sizes that ``?`` may be, each with its verdict and the reason."""
    op, x = _symbolic(op, sizes)
    case = Case("all sizes", op, x)
    case = replace(case, facts=tuple(v >= 0 for v in case.symbols))
    for r in prove_all(op_obligations(case), jobs=1, budget=_BUDGET).results:
        said = r.verdict.strategy if r.verdict.proved else str(r.verdict.witness or "; ".join(r.verdict.tried))
        yield r.obligation.kind, (r.verdict.status, said)
