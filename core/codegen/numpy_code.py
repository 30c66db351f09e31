"""Maps as functions of numpy arrays.  Loaded by those who use it, since it needs numpy."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..errors import InputError
from ..indexing_map import IndexingMap, Variable, expect_map
from ..interval import Interval
from ..points import between, index_array
from .program import Operation, Program, domain_knowledge, fits
from .python_code import PythonLanguage, function_text, made, refused, tuple_text
from .statements import ATOM, PRODUCT, SIGN, SUM, Names, Piece, Statements


class _NumpyLanguage(PythonLanguage):
    """Arrays of one type: a minimum is a call, and negating a dividend must not overflow."""

    def __init__(self, program: Program, negatable: Sequence[bool]) -> None:
        super().__init__(program)
        self.negatable = negatable

    def repeats(self, k: int) -> bool:
        op, args, _ = self.program.steps[k]
        return op == "ceildiv" and not self.negatable[args[0]]

    def special(self, k: int, op: Operation, a: Piece, b: Piece) -> tuple[str, int]:
        if op in ("minimum", "maximum"):
            return f"np.{op}({a.text}, {b.text})", ATOM
        if self.repeats(k):
            quotient, remainder = (f"{a.at(PRODUCT)} {sign} {b.at(SIGN)}" for sign in ("//", "%"))
            return f"{quotient} + ({remainder} != 0)", SUM
        return super().special(k, op, a, b)


def compile_numpy(m: IndexingMap, *, checked: bool = False) -> Callable[..., Any]:
    """``m`` as a function with one integer or integer array for each variable, in order; they are broadcast together.

    It returns the tuple of results.  ``checked``, it returns ``(inside, results)``, where ``inside`` says which points
    lie in the domain, and results elsewhere are meaningless; otherwise the caller answers for the domain.  The results
    have the smallest of the types ``int32``, ``int64`` and ``object`` (Python integers) in which no step is seen to
    overflow, so they are exact.  The function raises :class:`~indexproof.core.errors.InputError` for a wrong number of
    arguments and for arrays that do not hold integers.  Its docstring is its source.
    """
    expect_map(m)
    roots = [*m.results, *(c.expr for c in m.constraints)]
    count = len(m.results)
    variables = [v.expr for v in m.variables]

    def examined(program: Program) -> tuple[Sequence[int], Sequence[Interval], int | None]:
        wanted = program.outputs if checked else program.outputs[:count]
        # a checked function also meets points of the box that the constraints leave out
        ranges = program.ranges(m.bounds, None if checked else domain_knowledge(m, program))
        needed = program.needed(wanted).union(range(program.inputs))
        return wanted, ranges, fits(ranges[k] for k in needed)

    program = Program.of(roots, variables)
    wanted, ranges, bits = examined(program)
    lean = program.shortened(roots, variables)
    if lean is not program and (found := examined(lean))[2] == bits:
        program = lean
        wanted, ranges, _ = found
    dtype: Any = np.dtype(object if bits is None else f"int{bits}")
    least = None if bits is None else int(np.iinfo(dtype).min)
    negatable = [least is None or r.empty or r.lo > least for r in ranges]
    statements = Statements(program, _NumpyLanguage(program, negatable), Names(refused, ("indexing_map",)))
    values = statements.compute(wanted)
    lines = [*statements.lines, f"return {tuple_text(values)}"]
    source = function_text("indexing_map", statements.inputs, lines)
    compute = made(source, "indexing_map", {"np": np})
    empty = any(v.size == 0 for v in m.variables)

    def function(*arrays: Any) -> Any:
        if len(arrays) != len(m.variables):
            raise InputError(f"the map has {len(m.variables)} variables but {len(arrays)} values were given")
        given = [index_array(a) for a in arrays]
        shape = np.broadcast_shapes(*(a.shape for a in given))
        inside = np.ones(shape, dtype=bool)
        if checked:
            if empty:
                return np.zeros(shape, dtype=bool), tuple(np.zeros(shape, dtype) for _ in range(count))
            for k, v in enumerate(m.variables):
                within = between(given[k], v.lo, v.hi)
                inside &= within
                given[k] = _kept(given[k], within, v, dtype)
        found = [
            np.broadcast_to(np.asarray(x, dtype=dtype), shape)
            for x in compute(*(a.astype(dtype, copy=False) for a in given))
        ]
        if not checked:
            return tuple(found)
        for c, a in zip(m.constraints, found[count:], strict=True):
            inside &= between(a, c.lo, c.hi)
        return inside, tuple(found[:count])

    function.__doc__ = source
    return function


def _kept(array: Any, within: Any, v: Variable, dtype: Any) -> Any:
    """``array`` where it lies within the box of ``v``, and a point of the box elsewhere: nothing can overflow."""
    kept = np.full(array.shape, v.lo, dtype=dtype)
    kept[within] = array[within]
    return kept
