"""Conversion from and to sympy: ``floor(x/d)``, ``Mod``, ``Min``, ``Max`` and ``ceiling`` over integer symbols.

sympy's ``Mod`` has the sign of its divisor, and ``floor`` rounds downwards, so every operator has an exact counterpart.
Expressions that are read may have rational coefficients if the value is an integer (``floor(x/4 + 1/2)``). The
functions of PyTorch's Inductor (``FloorDiv``, ``ModularIndexing``, ``CleanDiv``, …) are recognised by name.  This is
the only module that imports sympy, and it does so lazily.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any, Final, NamedTuple, TypeAlias, overload

from ..errors import InputError, quoted
from ..expr import (
    Expr,
    Int,
    Var,
    as_sum,
    ceildiv,
    floordiv,
    integer,
    interpret,
    lift,
    linear,
    maximum,
    minimum,
    mod,
    mul,
    operands_first,
    var,
)
from ..indexing_map import IndexingMap, expect_map, is_name
from .foreign import ForeignMap, assignments, from_foreign, needed, to_foreign

_MAX_POWER: Final = 64
#: Limit on the size of arguments, counted as a tree, up to which sympy evaluates functions: sympy visits shared nodes
#: once for each occurrence, and a remainder of a sum of fifty variables takes it fifteen seconds.
_EVALUATED: Final = 100


class SympyMap(ForeignMap[Any, Any]):
    """An indexing map over sympy symbols."""


def _sympy() -> Any:
    with needed("sympy"):
        import sympy
    return sympy


# --------------------------------------------------------------------------------------------------- writing
def _mistaken(sympy: Any, a: Any) -> bool:
    """Return whether sympy may be wrong when it evaluates ``a mod b``, or the floor or the ceiling of ``a``.

    In a product it replaces factors by remainders twice: ``Mod(2*Mod(x, 4), 7)`` becomes ``Mod(2*Mod(x, 4)**2, 7)``. It
    takes a sixth of an even value for an integer, and it infers that minima and maxima are even: ``floor(Min(6*x,
    2*y)/6)`` becomes ``Min(6*x, 2*y)/6``, and ``Mod(Min(6*x, 2*y), 6)`` becomes zero (both in 1.14).
    """
    todo = [a]
    while todo:
        node = todo.pop()
        if isinstance(node, sympy.Min | sympy.Max):
            return True
        if isinstance(node, sympy.Mod):
            todo.append(node.args[0])  # sympy replaces it by its remainder where it can
        elif isinstance(node, sympy.Add):
            todo.extend(node.args)
        elif isinstance(node, sympy.Mul):
            if isinstance(-node, sympy.Mod):
                todo.append(-node)
            elif any(isinstance(f, sympy.Mod | sympy.Add | sympy.Min | sympy.Max) for f in node.args):
                return True
    return False


class _ToSympy:
    """An algebra of sympy expressions."""

    def __init__(self, sympy: Any, symbols: Mapping[Any, Any], evaluate: bool) -> None:
        self.sympy = sympy
        self.symbols = symbols
        self.options = {} if evaluate else {"evaluate": False}
        self.sizes: dict[Any, int] = {}

    def integer(self, n: int) -> Any:
        return self.sympy.Integer(n)

    def variable(self, v: Var) -> Any:
        found = self.symbols.get(v, self.symbols.get(v.name))
        return self.sympy.Symbol(v.name, integer=True) if found is None else found

    def sum(self, const: int, terms: list[tuple[Any, int]]) -> Any:
        parts = [e if k == 1 else self.product([self.integer(k), e]) for e, k in terms]
        if const:
            parts.append(self.integer(const))
        return parts[0] if len(parts) == 1 else self.sympy.Add(*parts, **self.options)

    def product(self, factors: list[Any]) -> Any:
        return self.sympy.Mul(*factors, **self.options)

    def _size(self, a: Any) -> int:
        """Return the number of nodes of ``a``, counted as a tree."""
        for node in operands_first([a], lambda n: () if n in self.sizes else n.args):
            if node not in self.sizes:
                self.sizes[node] = 1 + sum(self.sizes[c] for c in node.args)
        return self.sizes[a]

    def _is_large(self, args: Iterable[Any]) -> bool:
        return sum(map(self._size, args)) > _EVALUATED

    def _rounded(self, kind: Any, of: Any, *args: Any) -> Any:
        """Return a rounding function of ``args``, evaluated only if the rounded value ``of`` is small and safe."""
        kept = self._is_large((of,)) or _mistaken(self.sympy, of)
        return kind(*args, **({"evaluate": False} if kept else self.options))

    def _extremum(self, kind: Any, args: list[Any]) -> Any:
        if self._is_large(args):  # even with evaluate=False, sympy would sort them by all their nodes
            return self.sympy.Basic.__new__(kind, *args)
        return kind(*args, **self.options)

    def floordiv(self, a: Any, b: Any) -> Any:
        return self._rounded(self.sympy.floor, a, self.product([a, self.sympy.Pow(b, -1)]))

    def mod(self, a: Any, b: Any) -> Any:
        return self._rounded(self.sympy.Mod, a, a, b)

    def ceildiv(self, a: Any, b: Any) -> Any:
        return self._rounded(self.sympy.ceiling, a, self.product([a, self.sympy.Pow(b, -1)]))

    def minimum(self, args: list[Any]) -> Any:
        return self._extremum(self.sympy.Min, args)

    def maximum(self, args: list[Any]) -> Any:
        return self._extremum(self.sympy.Max, args)


@overload
def to_sympy(subject: Expr, symbols: Mapping[Any, Any] | None = None, *, evaluate: bool = True) -> Any: ...
@overload
def to_sympy(subject: IndexingMap, symbols: Mapping[Any, Any] | None = None, *, evaluate: bool = True) -> SympyMap: ...
def to_sympy(subject: Expr | IndexingMap, symbols: Mapping[Any, Any] | None = None, *, evaluate: bool = True) -> Any:
    """Convert an expression to a sympy expression, or a map to a :class:`SympyMap`.

    ``symbols`` maps variables or their names to sympy symbols; any other variable becomes an integer symbol of its
    name.  With ``evaluate=False`` sympy keeps the expression unchanged instead of simplifying it.  Functions of large
    expressions are never evaluated; shared nodes stay shared and are visited once.  Raises :class:`InputError` where
    sympy is missing.
    """
    sympy = _sympy()
    algebra = _ToSympy(sympy, symbols or {}, evaluate)

    def convert(exprs: Sequence[Expr], of: Mapping[Any, Any]) -> list[Any]:
        try:
            return interpret(exprs, _ToSympy(sympy, of, evaluate))
        except RecursionError:
            raise InputError(
                "the expression is too deep for sympy", expected="evaluate=False, or another form"
            ) from None

    if isinstance(subject, Expr):
        return convert((subject,), symbols or {})[0]
    expect_map(subject)
    return to_foreign(subject, SympyMap, lambda v: algebra.variable(v.expr), convert)


def sympy_source(f: SympyMap) -> str:
    """Return ``f`` as a Python program that creates its symbols and expressions.

    Raises :class:`InputError` for expressions that are too deep for sympy's printer.
    """
    sympy = _sympy()
    from sympy.printing.str import StrPrinter

    class Printer(StrPrinter):  # type: ignore[misc]  # a class of whichever sympy is installed
        """sympy's own printer, extended by ``evaluate=False`` where evaluation may be wrong."""

        def _print_Mod(self, e: Any) -> str:
            last = ", evaluate=False" if _mistaken(sympy, e.args[0]) else ""
            return f"{type(e).__name__}({self.stringify(e.args, ', ')}{last})"

        _print_floor = _print_ceiling = _print_Mod

    lines = ["from sympy import Max, Min, Mod, S, ceiling, floor, symbols"]
    names = [str(v) for v, _, _ in f.variables]
    if names:
        left = f"{names[0]}," if len(names) == 1 else ", ".join(names)
        lines.append(f'{left} = symbols("{" ".join(names)}", integer=True, seq=True)')
    # `S(1)/2` rather than `1/2`, which Python would compute
    printer = Printer({"sympy_integers": True})
    try:
        lines += assignments(f, lambda e: str(printer.doprint(e)))
    except RecursionError:
        raise InputError("the expressions are too deep for sympy to print them", expected="another form") from None
    return "\n".join(lines) + "\n"


# --------------------------------------------------------------------------------------------------- reading
class _Fraction(NamedTuple):
    """The quotient ``above / below``."""

    above: Expr
    below: Expr


_ONE: Final = integer(1)
_Read: TypeAlias = Callable[[Any, Sequence[_Fraction]], _Fraction]


def _reduced(v: _Fraction) -> _Fraction:
    """Return the fraction in lowest terms with a positive denominator, if the denominator is a literal."""
    above, below = v
    if type(below) is not Int:
        return v
    const, terms = as_sum(above)
    common = math.gcd(const, below.value, *(k for _, k in terms)) * (1 if below.value > 0 else -1)
    whole = linear(const // common, [(t, k // common) for t, k in terms])
    return _Fraction(whole, integer(below.value // common))


def _shared(values: Sequence[_Fraction]) -> tuple[list[Expr], Expr]:
    """Return the numerators over a common denominator, and this denominator."""
    belows = [v.below for v in values]
    if literals := [b.value for b in belows if type(b) is Int]:
        below = math.lcm(*literals)
        if len(literals) == len(belows):
            scaled = zip(values, literals, strict=True)
            return [mul(v.above, below // b) for v, b in scaled], integer(below)
    others = [belows[:k] + belows[k + 1 :] for k in range(len(belows))]
    return [mul(v.above, *rest) for v, rest in zip(values, others, strict=True)], mul(*belows)


def _shown(node: Any) -> str:
    """Return ``node`` for a message; sympy prints recursively, so a node that is too deep is described by its type."""
    try:
        return quoted(node, 80)
    except RecursionError:
        return quoted(type(node).__name__)


def _whole(v: _Fraction, node: Any) -> Expr:
    if v.below is not _ONE:
        v = _reduced(v)
    if v.below is not _ONE:
        raise InputError(f"{_shown(node)} is no integer", expected="a rounded quotient, as in floor(x/4)")
    return v.above


def _add(node: Any, args: Sequence[_Fraction]) -> _Fraction:
    numerators, below = _shared(args)
    return _Fraction(linear(0, [(e, 1) for e in numerators]), below)


def _mul(node: Any, args: Sequence[_Fraction]) -> _Fraction:
    return _Fraction(mul(*(v.above for v in args)), mul(*(v.below for v in args)))


def _pow(node: Any, args: Sequence[_Fraction]) -> _Fraction:
    base, exponent = args
    n = exponent.above
    if exponent.below is not _ONE or type(n) is not Int or abs(n.value) > _MAX_POWER:
        raise InputError(f"{_shown(node)} is no polynomial", expected="a small integer as exponent")
    if n.value < 0:
        if base.above is integer(0):
            raise InputError(f"{_shown(node)} divides by zero", expected="another divisor")
        base = _Fraction(base.below, base.above)
    return _Fraction(mul(1, *[base.above] * abs(n.value)), mul(1, *[base.below] * abs(n.value)))


def _rounded(build: Callable[[Expr, Expr], Expr], node: Any, args: Sequence[_Fraction]) -> _Fraction:
    """Read a function that rounds a fraction."""
    (v,) = args
    return _Fraction(v.above if v.below is _ONE else build(v.above, v.below), _ONE)


def _scaled(build: Callable[..., Expr], complaint: str, node: Any, args: Sequence[_Fraction]) -> _Fraction:
    """Read a positively homogeneous function: a positive common factor of all arguments is a factor of the value."""
    numerators, below = _shared(args)
    if type(below) is not Int:
        raise InputError(f"{_shown(node)} {complaint}")
    return _Fraction(build(*numerators), below)


def _of_integers(build: Callable[..., Expr], node: Any, args: Sequence[_Fraction]) -> _Fraction:
    """Read a function of integers."""
    return _Fraction(build(*(_whole(v, node) for v in args)), _ONE)


def _power(n: Expr) -> int:
    """Return the power of two by which a shift multiplies or divides."""
    if type(n) is not Int or not 0 <= n.value <= _MAX_POWER:
        raise InputError(f"a shift by {quoted(n)}", expected="a shift by a small constant")
    return 1 << n.value


_READ: Final[dict[str, _Read]] = {
    "Add": _add,
    "Mul": _mul,
    "Pow": _pow,
    "floor": partial(_rounded, floordiv),
    "ceiling": partial(_rounded, ceildiv),
    "Mod": partial(_scaled, mod, "is no remainder of integers"),
    "Min": partial(_scaled, minimum, "does not compare integers"),
    "Max": partial(_scaled, maximum, "does not compare integers"),
    "Abs": partial(_scaled, lambda a: maximum(a, -a), "is no integer"),
    # PyTorch's own functions, recognised by name: torch is not imported
    "FloorDiv": partial(_of_integers, floordiv),
    "CleanDiv": partial(_of_integers, floordiv),  # of a multiple of the divisor
    "CeilDiv": partial(_of_integers, ceildiv),
    "ModularIndexing": partial(_of_integers, lambda x, divisor, modulus: mod(floordiv(x, divisor), modulus)),
    "PythonMod": partial(_of_integers, mod),
    "IntTrueDiv": lambda node, args: _mul(node, (args[0], _pow(node, (args[1], _Fraction(integer(-1), _ONE))))),
    "FloorToInt": partial(_rounded, floordiv),
    "CeilToInt": partial(_rounded, ceildiv),
    "LShift": partial(_of_integers, lambda a, n: mul(a, _power(n))),
    "RShift": partial(_of_integers, lambda a, n: floordiv(a, _power(n))),
    "PowByNatural": _pow,
    "Identity": partial(_of_integers, lambda x: x),
}


def _read(roots: Sequence[Any], scope: Mapping[Any, Expr], declared: bool) -> list[Expr]:
    """Return the integer expressions that ``roots`` denote; with ``declared`` all symbols must be in ``scope``."""
    values: dict[Any, _Fraction] = {}
    names: dict[str, Any] = {}
    for node in operands_first(roots, lambda n: getattr(n, "args", ())):
        if node in scope:
            value = _Fraction(scope[node], _ONE)
        elif getattr(node, "is_Symbol", False):
            name = str(node.name)
            if declared:
                raise InputError(f"unknown variable {quoted(name)}", expected="a variable of the map")
            if not node.is_integer:
                raise InputError(f"the symbol {quoted(name)} is no integer", expected="Symbol(…, integer=True)")
            if names.setdefault(name, node) != node:
                raise InputError(f"two different symbols are called {quoted(name)}")
            if not is_name(name):
                raise InputError(f"{quoted(name)} is no name for a variable", expected="letters, digits and `_`")
            value = _Fraction(var(name), _ONE)
        elif getattr(node, "is_Rational", False):
            value = _Fraction(integer(int(node.p)), integer(int(node.q)))
        else:
            read = _READ.get(type(node).__name__)
            if read is None:
                raise InputError(
                    f"{quoted(type(node).__name__)} has no meaning here, in {_shown(node)}",
                    expected="sums, products, floor, ceiling, Mod, Min or Max",
                )
            try:
                value = read(node, [values[a] for a in node.args])
            except (ZeroDivisionError, TypeError, ValueError) as error:
                if isinstance(error, InputError):
                    raise
                raise InputError(f"{_shown(node)} has no meaning: {error}") from None
        values[node] = value
    return [_whole(values[r], r) for r in roots]


def from_sympy(subject: Any, variables: Mapping[Any, Any] | None = None) -> Any:
    """Return the expression that a sympy expression denotes, or the map that a :class:`SympyMap` denotes.

    In an expression every symbol must be declared an integer, unless ``variables`` maps it, or its name, to an
    expression.  Raises :class:`InputError` for anything that is not an integer expression in the operators of this
    package.
    """
    if isinstance(subject, SympyMap):
        return from_foreign(
            subject,
            lambda v: str(getattr(v, "name", v)),
            lambda exprs, scope: _read([_sympified(e) for e in exprs], dict(scope), declared=True),
        )
    e = _sympified(subject)
    scope: dict[Any, Expr] = {}
    given = variables or {}
    for symbol in e.free_symbols if given else ():
        found = given.get(symbol, given.get(symbol.name))
        if found is not None:
            scope[symbol] = var(found) if isinstance(found, str) else lift(found)
    return _read([e], scope, declared=False)[0]


def _sympified(e: Any) -> Any:
    sympy = _sympy()
    if isinstance(e, int) and not isinstance(e, bool):
        return sympy.Integer(e)
    if not isinstance(e, sympy.Basic):
        raise InputError(f"{_shown(e)} is no sympy expression")
    return e
