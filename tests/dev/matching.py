"""Matching: all bindings of its variables under which a pattern equals an expression."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from indexproof.core.expr import CeilDiv, Expr, FloorDiv, Int, Max, Min, Mod, Mul, Sum, Var, integer, linear, postorder
from indexproof.core.expr import as_sum as summands
from indexproof.core.rewrite import DeclarationError

__all__ = ["bindings"]


def bindings(pattern: Expr, e: Expr) -> Iterator[dict[Var, Expr]]:
    """Yield every binding under which ``pattern`` matches ``e``."""
    todo: list[tuple[dict[Var, Expr], list[tuple[Expr, Expr]]]] = [({}, [(pattern, e)])]
    while todo:
        bound, open_ = todo.pop()
        if not open_:
            yield bound
            continue
        (p, at), rest = open_[0], open_[1:]
        todo.extend((b, [*more, *rest]) for b, more in reversed(list(_one(p, at, bound))))


def _one(p: Expr, e: Expr, bound: dict[Var, Expr]) -> Iterator[tuple[dict[Var, Expr], list[tuple[Expr, Expr]]]]:
    """Yield one level of :func:`bindings`: extended bindings, each with the remaining matches."""
    match p:
        case Var():
            if p.kind == "const" and not isinstance(e, Int):
                return
            if bound.get(p, e) is e:
                yield {**bound, p: e}, []
        case Int():
            if p is e:
                yield bound, []
        case FloorDiv() | Mod() | CeilDiv():
            if type(p) is type(e):
                yield bound, [(p.b, e.b), (p.a, e.a)]
        case Min() | Max():
            if type(p) is type(e) and len(e.args) == len(p.args) == 2:
                first, second = e.args
                yield bound, [(p.args[0], first), (p.args[1], second)]
                yield bound, [(p.args[0], second), (p.args[1], first)]
        case Sum() | Mul():
            yield from _sum_bindings(p, e, bound)


def _sum_bindings(
    p: Expr, e: Expr, bound: dict[Var, Expr]
) -> Iterator[tuple[dict[Var, Expr], list[tuple[Expr, Expr]]]]:
    """Yield the matches of summands of ``p`` with summands of ``e``, in every assignment."""
    const, terms = summands(e)
    named, constant, rest = _summand_patterns(p)
    if (rest is None and len(terms) != len(named)) or (rest is None and constant is None and const):
        return
    if constant is not None and const == 0:
        return
    for chosen in itertools.permutations(range(len(terms)), len(named)):
        more: list[tuple[Expr, Expr]] = []
        for (atom, coefficient), i in zip(named, chosen, strict=True):
            t, k = terms[i]
            if coefficient is None and k != 1:
                break
            if coefficient is not None:
                more.append((coefficient, integer(k)))
            more.append((atom, t))
        else:
            left = [t for i, t in enumerate(terms) if i not in chosen]
            if constant is not None:
                more.append((constant, integer(const)))
            if rest is not None:
                more.append((rest, linear(0 if constant is not None else const, left)))
            yield bound, more


def _summand_patterns(p: Expr) -> tuple[list[tuple[Expr, Var | None]], Var | None, Var | None]:
    """Return the named summands ``(atom, coefficient)`` of a sum pattern, its constant and its rest.

    Raises :class:`DeclarationError` for a pattern that matches no sum.
    """
    const, terms = summands(p)
    if const:
        raise DeclarationError(f"pattern {p}: name the constant of a sum with a Const variable")
    rest: Var | None = None
    constant: Var | None = None
    named: list[tuple[Expr, Var | None]] = []
    for t, k in terms:
        if k != 1:
            raise DeclarationError(f"pattern {p}: write the coefficient of {t} as a Const variable")
        if isinstance(t, Var) and t.kind == "rest":
            rest = t
        elif isinstance(t, Var) and t.kind == "const":
            constant = t
        elif isinstance(t, Mul):
            coefficients = [f for f in t.factors if isinstance(f, Var) and f.kind == "const"]
            atoms = [f for f in t.factors if f not in coefficients]
            if len(coefficients) != 1 or len(atoms) != 1:
                raise DeclarationError(f"pattern {p}: a summand is one expression times one Const")
            named.append((atoms[0], coefficients[0]))
        else:
            named.append((t, None))
    # structured summands first: a bare variable matches everything
    named.sort(key=lambda n: (isinstance(n[0], Var), -len(postorder(n[0])), str(n[0])))
    return named, constant, rest
