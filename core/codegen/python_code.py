"""Python source of maps, and the functions compiled from it.

Python's ``//`` and ``%`` are the operators of this package, so the code follows the map directly.
"""

from __future__ import annotations

import keyword
from collections.abc import Callable
from operator import index
from typing import Any, ClassVar

from ..errors import InputError, quoted
from ..indexing_map import IndexingMap, expect_map
from .program import Operation, Program
from .statements import ATOM, CHOICE, PRODUCT, SIGN, SUM, Language, Names, Piece, Statements


def decimal(n: int) -> str:
    """Return ``n`` as source text: hexadecimal if it is long, because Python refuses long decimal literals."""
    return str(n) if n.bit_length() <= 64 else hex(n)


class PythonLanguage(Language):
    """The Python language, with integers of any size."""

    infix: ClassVar = {**Language.infix, "floordiv": (" // ", PRODUCT), "mod": (" % ", PRODUCT)}

    def literal(self, n: int) -> Piece:
        return Piece(decimal(n), ATOM if n >= 0 else SIGN)

    def special(self, k: int, op: Operation, a: Piece, b: Piece) -> tuple[str, int]:
        if op == "ceildiv":
            return f"-(-{a.at(ATOM)} // {b.at(SIGN)})", SIGN
        relation = "<" if op == "minimum" else ">"
        # a conditional expression takes a third of the time of a call of `min`
        return f"{a.text} if {a.text} {relation} {b.text} else {b.text}", CHOICE


def refused(name: str) -> bool:
    """Return whether ``name`` is a keyword of Python."""
    return keyword.iskeyword(name) or keyword.issoftkeyword(name)


def python_source(m: IndexingMap, *, checked: bool = False, name: str = "") -> str:
    """Return a Python function of the variables of ``m``: dimensions, ranges and runtime variables in this order.

    It returns the tuple of results; with ``checked`` it returns ``None`` outside the domain.  Common subexpressions are
    computed once.  Raises :class:`~indexproof.core.errors.InputError` where ``name`` is not a valid name of a function.
    """
    return _source(m, checked, name)[0]


def _source(m: IndexingMap, checked: bool, name: str) -> tuple[str, list[str]]:
    """Return the text of :func:`python_source`, and the names of the variables in it."""
    expect_map(m)
    name = name or "indexing_map"
    if not name.isidentifier() or refused(name):
        raise InputError(f"{quoted(name)} is no name for a function", expected="a Python identifier")
    constraints = m.constraints if checked else ()
    variables = [v.expr for v in m.variables]
    roots, count = [*m.results, *(c.expr for c in constraints)], len(m.results)
    program = Program.of(roots, variables).shortened(roots, variables)
    statements = Statements(program, PythonLanguage(program), Names(refused, (name,)))
    lines, inputs = statements.lines, statements.inputs
    for v, x in zip(m.variables, inputs, strict=True) if checked else ():
        lines += _unless_within(x, v.lo, v.hi)
    for c, k in zip(constraints, program.outputs[count:], strict=True):
        (piece,) = statements.compute([k])
        lines += _unless_within(piece.at(SUM), c.lo, c.hi)
    texts = [v.text for v in statements.compute(program.outputs[:count])]
    lines.append(f"return ({texts[0]},)" if len(texts) == 1 else f"return ({', '.join(texts)})")
    return f"def {name}({', '.join(inputs)}):\n" + "".join(f"    {line}\n" for line in lines), inputs


def _unless_within(x: str, lo: int, hi: int) -> list[str]:
    return [f"if not {decimal(lo)} <= {x} <= {decimal(hi)}:", "    return None"]


def compile_map(m: IndexingMap, *, checked: bool = False) -> Callable[..., tuple[int, ...] | None]:
    """Compile ``m`` to a Python function with one argument for each variable, in order; its docstring is its source.

    It returns the tuple of results.  With ``checked`` it returns ``None`` outside the domain, as
    :meth:`~indexproof.core.indexing_map.IndexingMap.evaluate` does; otherwise the caller must ensure that the point is
    in the domain.  Arguments of other integer types, such as numpy's, are converted to Python integers, so that nothing
    overflows; the function raises :class:`TypeError` for other arguments.  It cannot be pickled: send the map to other
    processes, and compile it there.
    """
    expect_map(m)
    source, inputs = _source(m, checked, "")
    read = "index"
    while read in inputs:
        read += "_"
    head, body = source.split("\n", 1)
    entry = "".join(f"    {x} = {read}({x})\n" for x in inputs)
    scope: dict[str, Any] = {read: index}
    exec(compile(f"{head}\n{entry}{body}", "<indexproof indexing_map>", "exec"), scope)
    function: Callable[..., Any] = scope["indexing_map"]
    function.__doc__ = source
    return function
