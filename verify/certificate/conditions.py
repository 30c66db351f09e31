"""Terms and conditions in certificates: read from JSON, taken apart and rewritten by the checker alone."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from ...core.condition import (
    FALSE,
    TRUE,
    And,
    Compare,
    Condition,
    Divides,
    Not,
    Or,
    Truth,
    Within,
    all_of,
    any_of,
    divides,
    negate,
)
from ...core.expr import (
    CeilDiv,
    Expr,
    FloorDiv,
    Int,
    Mod,
    Mul,
    Sum,
    ceildiv,
    floordiv,
    integer,
    linear,
    maximum,
    minimum,
    mod,
    mul,
    postorder,
    var,
)
from .polynomials import ONE, Json, Polynomial, constant, variable

__all__ = [
    "conjuncts",
    "divisors_in",
    "is_natural",
    "mapped",
    "opaque",
    "read_condition",
    "read_terms",
    "shortened",
]

_OPERATORS: dict[str, Callable[..., Expr]] = {
    "fdiv": floordiv,
    "mod": mod,
    "cdiv": ceildiv,
    "mul": mul,
    "min": minimum,
    "max": maximum,
}


def read_terms(table: Sequence[Json]) -> list[Expr]:
    """The terms of a table, of which each may refer to those before it.  Raises :class:`ValueError`."""
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
    """A condition, whose terms are numbers in the table.  Raises :class:`ValueError`."""
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


def conjuncts(c: Condition) -> list[Condition]:
    """The parts of a conjunction, ranges as two comparisons."""
    match c:
        case Truth(True):
            return []
        case And(args):
            return [p for a in args for p in conjuncts(a)]
        case Within(e, lo, hi):
            return [lo <= e, e <= hi]
    return [c]


def is_natural(e: Expr, known: Sequence[Condition]) -> bool:
    """Whether hypotheses say that ``e``, or all that it is a product or a sum of, is not negative."""
    if isinstance(e, Int):
        return e.value >= 0
    if any(_says_natural(h, e) for h in known):
        return True
    match e:
        case Mul():
            return all(is_natural(f, known) for f in e.factors)
        case Sum():
            return e.const >= 0 and all(k > 0 and is_natural(t, known) for t, k in e.terms)
    return False


def _says_natural(h: Condition, e: Expr) -> bool:
    """Whether a hypothesis compares ``e``, plus a constant, with a constant from which ``e >= 0`` follows.

    A range that something lies in is not empty: its upper end is not below the lower one.
    """
    match h:
        case Compare("<=" | "<", a, b):
            strict = 1 if h.op == "<" else 0
            pairs = [(b, a, strict), (-a, -b, strict)]
        case Within(x, lo, hi):
            pairs = [(x, lo, 0), (hi, lo, 0)]
        case _:
            return False
    for large, small, more in pairs:
        beyond = large - e
        # e = large - beyond >= small + more - beyond
        if isinstance(beyond, Int) and isinstance(small, Int) and small.value + more >= beyond.value:
            return True
    return False


def divisors_in(roots: Iterable[Expr]) -> set[Expr]:
    """The divisors in terms, except numbers other than zero."""
    return {
        n.b
        for n in postorder(*roots)
        if isinstance(n, (FloorDiv, Mod, CeilDiv)) and not (isinstance(n.b, Int) and n.b.value)
    }


def opaque(root: Expr, names: dict[Expr, Polynomial]) -> Polynomial:
    """The polynomial of a term; each subterm that is no sum or product becomes a name, equal subterms the same one."""
    for n in postorder(root, known=names):
        match n:
            case Int():
                names[n] = constant(n.value)
            case Sum():
                names[n] = sum((names[t] * k for t, k in n.terms), start=constant(n.const))
            case Mul():
                product = ONE
                for f in n.factors:
                    product = product * names[f]
                names[n] = product
            case _:
                names[n] = variable(f"#{len(names)}")
    return names[root]


def shortened(c: Condition, shorter: Mapping[Expr, Expr]) -> Condition:
    """The condition with other terms below powers of two."""

    def of(part: Condition) -> Condition:
        match part:
            case Divides(Int() as d, e) if d.value > 1 and not d.value & (d.value - 1):
                return divides(d, shorter.get(e, e))
        return part

    return mapped(c, of)


def mapped(c: Condition, of: Callable[[Condition], Condition]) -> Condition:
    """The condition with ``of`` applied to each part that and, or and not put together."""
    match c:
        case And(args):
            return all_of(mapped(a, of) for a in args)
        case Or(args):
            return any_of(mapped(a, of) for a in args)
        case Not(arg):
            return negate(mapped(arg, of))
    return of(c)
