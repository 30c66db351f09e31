"""Read expressions as they are given, into sums of raw atoms."""

from __future__ import annotations

from ..engine import Engine
from ..expr import Binary, Expr, Extremum, FloorDiv, Int, Max, Min, Mod, Sum, Var, postorder
from ..kernel.form import MAXIMUM, MINIMUM, QUOTIENT, REMAINDER, Form, Terms, lone
from .ledger import Ledger

__all__ = ["as_given", "takes_sums_apart"]


def as_given(engine: Engine, es: list[Expr]) -> list[Form]:
    """Return the forms of expressions that have been read, with quotients and remainders kept as raw atoms."""
    done: dict[Expr, Form] = {}
    for e in postorder(*es):
        t = type(e)
        f: Form
        if t is Sum:
            s: Sum = e  # type: ignore[assignment]
            c = s.const
            total: dict[int, int] = {}
            for x, k in s.terms:
                n, terms = done[x]
                c += k * n
                for a, j in terms:
                    total[a] = total.get(a, 0) + k * j
            f = c, tuple(sorted([t for t in total.items() if t[1]]))
        elif t is FloorDiv or t is Mod:
            q: Binary = e  # type: ignore[assignment]
            if type(q.b) is Int and q.b.value > 0:
                by: Int = q.b
                f = engine.raw(QUOTIENT if t is FloorDiv else REMAINDER, done[q.a], by.value)
                a = lone(f)
                if a in engine.normals:
                    engine.normals[a] = engine.read(e)
            else:
                f = engine.read(e)
        elif t is Min or t is Max:
            of: Extremum = e  # type: ignore[assignment]
            f = engine.raw_extremum(MINIMUM if t is Min else MAXIMUM, tuple([done[x] for x in of.args]))
        else:
            f = engine.read(e)
        done[e] = f
    return [done[e] for e in es]


def takes_sums_apart(ledger: Ledger, es: list[Expr]) -> bool:
    """Return whether a ledger divides different sums where ``es``, which have been read, divide one sum repeatedly.

    Different dividends are no loss where none of them is a sum.
    """
    engine = ledger.engine
    divisions: dict[Expr, list[Expr]] = {}
    seen: set[Expr] = set()
    todo = list(es)
    while todo:
        e = todo.pop()
        t = type(e)
        if t is Var or t is Int or e in seen:
            continue
        seen.add(e)
        if t is FloorDiv or t is Mod:
            q: Binary = e  # type: ignore[assignment]
            x = q.a
            if type(x) is Sum and len(x.terms) > 1:
                divisions.setdefault(x, []).append(e)
        todo += e.children
    kind, arg = engine.kind, engine.arg
    for several in divisions.values():
        if len(several) > 1:
            bodies: set[Terms] = set()
            longest = 0
            for e in several:
                for a, _ in ledger.resolved(engine.read(e))[1]:
                    if kind[a] == QUOTIENT or kind[a] == REMAINDER:
                        terms = ledger.resolved(arg[a])[1]
                        bodies.add(terms)
                        longest = max(longest, len(terms))
            if longest > 1 and len(bodies) > 1:
                return True
    return False
