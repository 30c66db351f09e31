"""Recombines adjacent digits in dividends to the number whose digits they are.

``(x // (d·n))·d·n + (x // d % n)·d + x % d`` is x.  The reduction detects this if x is a name.  If x is a long
polynomial, each of its quotients cancels other common factors, and the digits no longer look like those of one number.
The proposals are proved like any goal: a reshape to a shape and back is two claims, that the digits make up the number,
and what the digits of the number are.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ..core.condition import Condition, all_exprs
from ..core.expr import Binary, Expr, FloorDiv, Int, Mod, Mul, Sum, integer, mul, postorder, rebuild

#: Limit on the recombinations in one goal; a reshape to eight dimensions needs eight.
_MOST = 16


def recombinations(goal: Condition) -> tuple[list[tuple[Expr, Expr]], Condition]:
    """Return dividends and their recombined forms, in order, and the goal with all of them replaced.

    Each dividend occurs in the goal after the earlier replacements.
    """
    found: list[tuple[Expr, Expr]] = []
    while len(found) < _MOST:
        known = _divisors(all_exprs(goal))
        proposed = ((s, recombined(s)) for s in divided(goal))
        # a new divisor might be zero
        step = next(((s, v) for s, v in proposed if v is not s and _divisors((v,)) <= known), None)
        if step is None:
            break
        found.append(step)
        goal = goal.substitute({step[0]: step[1]})
    return found, goal


def divided(goal: Condition) -> Iterator[Sum]:
    """Yield the dividends of a goal that are sums, inner ones first."""
    for e in postorder(*all_exprs(goal)):
        if isinstance(e, Binary) and isinstance(e.a, Sum):
            yield e.a


def _divisors(roots: Iterable[Expr]) -> set[Expr]:
    return {e.b for e in postorder(*roots) if isinstance(e, Binary)}


def recombined(e: Expr) -> Expr:
    """Return the sum with adjacent digits recombined, or ``e`` itself if there are none.

    ``(x // d)·d + x % d`` is x, and ``(x // d % n)·d + x % d`` is ``x % (d·n)`` for positive n; both also as multiples.
    Quotients by one, which come from strides, are removed first, because they hide digits.
    """
    e = _without_ones(e)
    while isinstance(e, Sum):
        shorter = next(_joined(e), None)
        if shorter is None:
            break
        e = shorter
    return e


def _without_ones(e: Expr) -> Expr:
    done: dict[Expr, Expr] = {}
    for node in postorder(e):
        kids = [done[c] for c in node.children]
        if isinstance(node, FloorDiv) and isinstance(node.b, Int) and node.b.value == 1:
            done[node] = kids[0]
        else:
            same = all(a is b for a, b in zip(kids, node.children, strict=True))
            done[node] = node if same else rebuild(node, kids)
    return done[e]


def _joined(e: Sum) -> Iterator[Expr]:
    digits = [(t, k, atom, weight) for t, k in e.terms for atom, weight in _weighted(t, k)]
    for t, k, low, weight in digits:
        if not isinstance(low, Mod):
            continue
        x, d = low.a, low.b
        for u, j, high, larger in digits:
            if u is t or larger is not d * weight:
                continue
            if isinstance(high, FloorDiv) and high.a is x and high.b is d:
                yield e - t * k - u * j + x * weight
            elif isinstance(high, Mod) and isinstance(high.a, FloorDiv) and high.a.a is x and high.a.b is d:
                yield e - t * k - u * j + x % (d * high.b) * weight


def _weighted(t: Expr, k: int) -> Iterator[tuple[Expr, Expr]]:
    """Yield the quotients and remainders in a summand ``k·t``, each with the product of the other factors."""
    if isinstance(t, (FloorDiv, Mod)):
        yield t, integer(k)
    elif isinstance(t, Mul):
        for n, f in enumerate(t.factors):
            if isinstance(f, (FloorDiv, Mod)):
                yield f, mul(integer(k), *t.factors[:n], *t.factors[n + 1 :])
