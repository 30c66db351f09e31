"""What the checker sees in terms and conditions, and makes of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from ...core.condition import (
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
from ...core.expr import CeilDiv, Expr, FloorDiv, Int, Mod, Mul, Sum, postorder
from .polynomials import Polynomial, constant, plus, times, variable

__all__ = ["conjuncts", "divisors_in", "is_natural", "mapped", "opaque", "shortened"]


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
    """Whether hypotheses say so of ``e``, or of all that it is a product or a sum of."""
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
    """What is divided by in terms, but for numbers."""
    nodes = postorder(*roots)
    return {
        n.b
        for n in nodes
        if isinstance(n, (FloorDiv, Mod, CeilDiv)) and not (isinstance(n.b, Int) and n.b.value)
    }


def opaque(root: Expr, names: dict[Expr, Polynomial]) -> Polynomial:
    """The polynomial of a term in which whatever is no sum or product is a name, the same for the same term."""
    for n in postorder(root, known=names):
        match n:
            case Int():
                names[n] = constant(n.value)
            case Sum():
                total = constant(n.const)
                for t, k in n.terms:
                    total = plus(total, names[t], k)
                names[n] = total
            case Mul():
                product = constant(1)
                for f in n.factors:
                    product = times(product, names[f])
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
    """The condition with ``of`` each of the parts that are put together by and, or and not."""
    match c:
        case And(args):
            return all_of(mapped(a, of) for a in args)
        case Or(args):
            return any_of(mapped(a, of) for a in args)
        case Not(arg):
            return negate(mapped(arg, of))
    return of(c)
