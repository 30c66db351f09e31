"""What a certificate is written in: terms, conditions, polynomials and formulas as JSON."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ...core.condition import FALSE, TRUE, And, Compare, Condition, Divides, Not, Or, Within
from ...core.expr import Expr, ceildiv, floordiv, integer, linear, maximum, minimum, mod, mul, var
from .formulas import Formula, conjunction, disjunction, nonnegative, zero
from .polynomials import Polynomial

__all__ = ["Json", "read_condition", "read_formula", "read_polynomial", "read_terms"]

Json = Any

_OPERATORS: dict[str, Callable[..., Expr]] = {
    "fdiv": floordiv,
    "mod": mod,
    "cdiv": ceildiv,
    "mul": mul,
    "min": minimum,
    "max": maximum,
}


def read_terms(table: Sequence[Json]) -> list[Expr]:
    """The terms of a table, of which each may refer to those before it."""
    out: list[Expr] = []
    for entry in table:
        match entry:
            case int():
                out.append(integer(_exactly(entry)))
            case ["var", str(name), str(kind)] if not kind or kind.isidentifier():
                out.append(var(name, kind))
            case ["sum", int(const), list(terms)]:
                out.append(linear(_exactly(const), [(out[t], _exactly(k)) for t, k in terms]))
            case [str(op), *args]:
                out.append(_OPERATORS[op](*(out[a] for a in args)))
            case _:
                raise ValueError(f"no term: {entry}")
    return out


def _exactly(n: Json) -> int:
    """An integer; ``true`` and ``1.0`` are equal to one, and would take its place wherever it is used."""
    if type(n) is not int:
        raise ValueError(f"no integer: {n}")
    return n


def read_condition(c: Json, terms: Sequence[Expr]) -> Condition:
    """A condition, whose terms are numbers in the table."""
    match c:
        case bool():
            return TRUE if c else FALSE
        case ["<=" | "<" | "==" | "!=" as op, a, b]:
            return Compare(op, terms[a], terms[b])
        case ["within", e, lo, hi]:
            return Within(terms[e], terms[lo], terms[hi])
        case ["divides", d, e]:
            return Divides(terms[d], terms[e])
        case ["not", arg]:
            return Not(read_condition(arg, terms))
        case ["and", *args]:
            return And(tuple(read_condition(a, terms) for a in args))
        case ["or", *args]:
            return Or(tuple(read_condition(a, terms) for a in args))
    raise ValueError(f"no condition: {c}")


def read_polynomial(p: Json) -> Polynomial:
    """A polynomial, which must be in normal form."""
    out = {tuple(str(v) for v in t[1:]): int(t[0]) for t in p}
    if any(list(m) != sorted(m) for m in out) or not all(out.values()) or len(out) != len(p):
        raise ValueError("no polynomial in normal form")
    return out


def read_formula(f: Json) -> Formula:
    """A formula over polynomials."""
    match f:
        case ["ge", p]:
            return nonnegative(read_polynomial(p))
        case ["eq", p]:
            return zero(read_polynomial(p))
        case ["and", *parts]:
            return conjunction(map(read_formula, parts))
        case ["or", *parts]:
            return disjunction(map(read_formula, parts))
    raise ValueError(f"no formula: {f}")
