"""Conversion from and to TVM: index expressions (``PrimExpr``) over ``int32`` or ``int64``, and a bound ``Analyzer``.

``floordiv`` and ``floormod`` are this package's operators.  TVM's other pair, ``truncdiv`` and ``truncmod``, rounds
towards zero.  It is read as the first pair where the ranges of the operands show that both agree, and expressed by it
where the sign of the divisor is known.  As in TVM's own analysis the integers of a read expression are unbounded, so
overflow in TVM is not detected; written expressions have a type in which nothing overflows.  This is the only module
that imports tvm, and it does so lazily.  It supports the module names of TVM before 0.26 (``tvm.tir``, ``tvm.arith``)
and since (``tvm.tirx``, ``tvm.sym``).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from operator import index
from typing import Any, Final

from ..codegen.program import Program, domain_knowledge, fits, limits
from ..errors import InputError, quoted
from ..expr import (
    CeilDiv,
    Expr,
    Int,
    Var,
    floordiv,
    integer,
    lift,
    maximum,
    minimum,
    mod,
    mul,
    operands_first,
    postorder,
    rebuild,
    var,
)
from ..facts import Facts
from ..indexing_map import IndexingMap, expect_map, is_name
from ..interval import Interval
from .foreign import ForeignMap, from_foreign, needed, to_foreign

_TYPES: Final = {"int8": 8, "int16": 16, "int32": 32, "int64": 64}


def _tvm() -> Any:
    with needed("apache-tvm", "tvm"):
        import tvm
    return tvm


def _tir() -> Any:
    """Return TVM's module of expressions."""
    tvm = _tvm()
    return tvm.tir if hasattr(tvm, "tir") else tvm.tirx


class TvmMap(ForeignMap[Any, Any]):
    """An indexing map over TVM variables."""

    def analyzer(self) -> Any:
        """Return a new ``Analyzer`` that knows the bounds of the variables, but not the constraints."""
        tvm, tir = _tvm(), _tir()
        arith = tvm.arith if hasattr(tvm, "arith") else tvm.sym
        analyzer = arith.Analyzer()
        for v, lo, hi in self.variables:
            dtype = _dtype(v)
            if hi < lo:
                continue  # TVM has no empty range
            if hi - lo + 1 in limits(_TYPES[dtype]):
                extent = tir.IntImm(dtype, hi - lo + 1)
                analyzer.bind(v, tvm.ir.Range.from_min_extent(tir.IntImm(dtype, lo), extent))
            else:
                analyzer.update(v, arith.ConstIntBound(lo, hi), True)
        return analyzer


def _dtype(e: Any) -> str:
    """Return the type of an expression, whose attribute differs between versions of TVM."""
    kind = getattr(e, "ty", None)
    return str(kind.dtype if kind is not None else e.dtype)


# --------------------------------------------------------------------------------------------------- writing
def _without_ceildiv(roots: Sequence[Expr]) -> list[Expr]:
    """Replace divisions that round up by ones that round down, because TVM has no others."""
    done: dict[Expr, Expr] = {}
    for node in postorder(*roots):
        children = [done[c] for c in node.children]
        if isinstance(node, CeilDiv):
            a, b = children if isinstance(node.b, Int) and node.b.value > 0 else (-children[0], -children[1])
            done[node] = floordiv(a + (b - 1), b)
        else:
            done[node] = rebuild(node, children)
    return [done[r] for r in roots]


def _written(program: Program, variables: Mapping[Var, Any], dtype: str) -> list[Any]:
    tir = _tir()
    machine = limits(_TYPES[dtype])
    build = {
        "negate": lambda a: tir.Mul(a, tir.IntImm(dtype, -1)),
        "plus": tir.Add,
        "minus": tir.Sub,
        "times": tir.Mul,
        "floordiv": tir.FloorDiv,
        "mod": tir.FloorMod,
        "minimum": tir.Min,
        "maximum": tir.Max,
    }
    values: list[Any] = []
    for op, args, leaf in program.steps:
        if isinstance(leaf, Var):
            values.append(variables[leaf])
        elif op == "integer":
            if leaf not in machine:
                raise InputError(f"{quoted(leaf)} is no {dtype}", expected="a wider type")
            values.append(tir.IntImm(dtype, leaf))
        else:
            values.append(build[op](*(values[a] for a in args)))
    return [values[k] for k in program.outputs]


def to_tvm(m: IndexingMap, dtype: str = "") -> TvmMap:
    """Convert a map to a :class:`TvmMap` over new TVM variables of the type ``dtype``.

    The default is the smaller of ``int32`` and ``int64`` in which intervals show that no step overflows.  Raises
    :class:`InputError` where TVM is missing, for constants that do not fit the type, and for a map that needs more than
    64 bits.
    """
    tir = _tir()
    expect_map(m)
    plain = dict(zip(m.roots, _without_ceildiv(m.roots), strict=True))
    program = Program.of([plain[e] for e in m.roots], [v.expr for v in m.variables])
    if not dtype:
        bits = fits(program.ranges(m.bounds, domain_knowledge(m, program)))
        if bits is None:
            raise InputError("intervals do not show that 64 bits are enough for this map", expected="a dtype")
        dtype = f"int{bits}"
    elif dtype not in ("int32", "int64"):
        raise InputError(f"{quoted(dtype)} is no type of indices", expected="int32 or int64")
    return to_foreign(m, TvmMap, lambda v: tir.Var(v.name, dtype), lambda roots, of: _written(program, of, dtype))


# --------------------------------------------------------------------------------------------------- reading
def _rounds_alike(facts: Facts, a: Expr, b: Expr) -> bool:
    """Return whether ``a / b`` rounded down and towards zero agree: it is never negative, or always an integer."""
    x, y = facts.interval(a), facts.interval(b)
    if x.empty or y.empty or (x.lo >= 0 and y.lo > 0) or (x.hi <= 0 and y.hi < 0):
        return True
    n = y.constant
    return n is not None and facts.holds(integer(n).divides(a))


def _truncated(facts: Facts, a: Expr, b: Expr, name: str) -> tuple[Expr, Expr]:
    """Return quotient and remainder of ``a / b`` rounded towards zero."""
    if b is integer(0) or _rounds_alike(facts, a, b):
        return floordiv(a, b), mod(a, b)
    x, y = facts.interval(a), facts.interval(b)
    if y.lo <= 0 <= y.hi:
        raise InputError(
            f"{name} of {quoted(a)} by {quoted(b)} rounds towards zero, and the divisor may have both signs",
            expected="a constant, or ranges that say its sign",
        )
    # the quotient changes its sign with the divisor, the remainder does not
    sign, size = (1, b) if y.lo > 0 else (-1, -b)
    # one of the two parts is zero
    above = a if x.lo >= 0 else integer(0) if x.hi <= 0 else maximum(a, 0)
    below = -a if x.hi <= 0 else integer(0) if x.lo >= 0 else maximum(-a, 0)
    return (floordiv(above, size) - floordiv(below, size)) * sign, mod(above, size) - mod(below, size)


def _cast(facts: Facts, dtype: str, given: str, e: Expr) -> Expr:
    """Return ``e`` cast from the ``given`` type to another.  Raises :class:`InputError` if its value may change."""
    if _TYPES.get(dtype, 0) < _TYPES.get(given, 99):
        i = facts.interval(e)
        if not i.empty and not (dtype in _TYPES and i.inside(limits(_TYPES[dtype]))):
            raise InputError(f"the cast of {quoted(e)} to {dtype} may change its value")
    return e


#: The meaning of the nodes with two operands, given the bounds of variables.
_BINARY: Final[dict[str, Callable[[Facts, Expr, Expr], Expr]]] = {
    "Add": lambda facts, a, b: a + b,
    "Sub": lambda facts, a, b: a - b,
    "Mul": lambda facts, a, b: mul(a, b),
    "FloorDiv": lambda facts, a, b: floordiv(a, b),
    "FloorMod": lambda facts, a, b: mod(a, b),
    "Min": lambda facts, a, b: minimum(a, b),
    "Max": lambda facts, a, b: maximum(a, b),
    "Div": lambda facts, a, b: _truncated(facts, a, b, "truncdiv")[0],
    "Mod": lambda facts, a, b: _truncated(facts, a, b, "truncmod")[1],
}


def _operands(node: Any) -> list[Any]:
    """Return the operands of a supported node."""
    kind = type(node).__name__
    return [node.value] if kind == "Cast" else [node.a, node.b] if kind in _BINARY else []


def _read(roots: Sequence[Any], scope: Sequence[tuple[Any, Expr]] | None, bounds: Mapping[Var, Interval]) -> list[Expr]:
    """Return the expressions that ``roots`` denote; without ``scope`` any variable with a valid name is allowed."""
    facts = Facts(bounds)
    values: dict[Any, Expr] = dict(scope or ())
    names: dict[str, Any] = {}
    for node in operands_first(roots, _operands):
        if node in values:
            continue
        kind = type(node).__name__
        if kind not in ("IntImm", "Var", "SizeVar", "Cast", *_BINARY):
            raise InputError(
                f"{quoted(kind)} has no meaning here",
                expected="+, -, *, floordiv, floormod, min, max over integer variables",
            )
        dtype = _dtype(node)
        if dtype not in _TYPES:
            raise InputError(f"{quoted(node, 80)} has the type {dtype}", expected="a signed integer")
        if kind == "IntImm":
            values[node] = integer(int(node.value))
        elif kind in ("Var", "SizeVar"):
            values[node] = _variable(node, names, scope is not None)
        elif kind == "Cast":
            values[node] = _cast(facts, dtype, _dtype(node.value), values[node.value])
        else:
            try:
                values[node] = _BINARY[kind](facts, values[node.a], values[node.b])
            except ZeroDivisionError:
                raise InputError(f"{quoted(node.a, 80)} is divided by zero", expected="another divisor") from None
    return [values[r] for r in roots]


def _name(v: Any) -> str:
    return str(v.name if hasattr(v, "name") else v.name_hint)


def _variable(v: Any, names: dict[str, Any], declared: bool) -> Expr:
    name = _name(v)
    if declared:
        raise InputError(f"unknown variable {quoted(name)}", expected="a variable of the map")
    if name in names and not names[name].same_as(v):
        raise InputError(f"two different variables are called {quoted(name)}", expected="`bounds` and a map")
    names[name] = v
    if not is_name(name):
        raise InputError(f"{quoted(name)} is no name for a variable", expected="letters, digits and `_`")
    return var(name)


def _interval(given: Any) -> tuple[int, int]:
    """Return inclusive bounds from ``(lo, hi)``, an interval or a TVM ``Range``."""
    if hasattr(given, "extent"):
        ends = [getattr(e, "value", e) for e in (given.min, given.extent)]
        if not all(isinstance(e, int) for e in ends):
            raise InputError(f"the range {quoted(given)} has no constant bounds")
        return int(ends[0]), int(ends[0]) + int(ends[1]) - 1
    try:
        lo, hi = map(index, given)
    except (TypeError, ValueError):
        raise InputError(f"{quoted(given)} is no range", expected="a Range or (lo, hi)") from None
    return lo, hi


def _bounded(v: Any, bounds: Mapping[Any, Any]) -> tuple[int, int]:
    name = _name(v)
    for key, given in bounds.items():
        if key == name if isinstance(key, str) else key.same_as(v):
            return _interval(given)
    raise InputError(f"the variable {quoted(name)} has no bounds", expected="a Range or (lo, hi)")


def from_tvm(subject: Any, bounds: Mapping[Any, Any] | None = None) -> Any:
    """Return the map of a :class:`TvmMap` or an ``IndexMap``, or the expression that a TVM expression denotes.

    ``bounds`` maps variables, or their names, to a ``Range`` or to ``(lo, hi)``.  The dimensions of an ``IndexMap``
    need bounds; in an expression they determine the meaning of ``truncdiv``, ``truncmod`` and casts.  Raises
    :class:`InputError` for anything that is not an integer expression in the operators of this package.
    """
    given = bounds or {}
    if hasattr(subject, "initial_indices"):
        dims = tuple((v, *_bounded(v, given)) for v in subject.initial_indices)
        subject = TvmMap(dims, results=tuple(subject.final_indices))
    if isinstance(subject, TvmMap):
        f = subject

        def convert(exprs: Sequence[Any], scope: Sequence[tuple[Any, Var]]) -> list[Expr]:
            box = {v: Interval(lo, hi) for (_, v), (_, lo, hi) in zip(scope, f.variables, strict=True)}
            return _read([_expression(e) for e in exprs], scope, box)

        return from_foreign(f, _name, convert)
    if isinstance(subject, int) and not isinstance(subject, bool):
        return lift(subject)
    box = {var(key if isinstance(key, str) else _name(key)): Interval(*_interval(i)) for key, i in given.items()}
    return _read([_expression(subject)], None, box)[0]


def _expression(e: Any) -> Any:
    """Return a Python integer as a literal, and a TVM expression unchanged."""
    if isinstance(e, int) and not isinstance(e, bool):
        return _tir().IntImm("int64", e)
    if not hasattr(e, "same_as"):
        raise InputError(f"{quoted(e, 80)} is no TVM expression")
    return e
