"""Claims that are slightly wrong: hypotheses dropped or loosened, goals changed.

A mutant that stays true is no fault.  A false mutant is shown to be false without a prover: at some point, exact
evaluation satisfies the hypotheses and violates the goal.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from indexproof.core.condition import And, Compare, Condition, Divides, Or, Within, all_exprs, all_of, any_of
from indexproof.core.expr import (
    CeilDiv,
    Expr,
    FloorDiv,
    Int,
    Max,
    Min,
    Mod,
    Mul,
    Sum,
    Var,
    ceildiv,
    floordiv,
    integer,
    linear,
    maximum,
    minimum,
    mod,
    mul,
    postorder,
)
from indexproof.verify.obligation import Obligation
from indexproof.verify.recheck import is_example
from indexproof.verify.refute import small_point

__all__ = ["Mutant", "false_mutants", "mutants"]


@dataclass(frozen=True)
class Mutant:
    """A changed claim and what was changed; ``point`` shows that it is false."""

    obligation: Obligation
    change: str
    point: dict[str, int]


def mutants(o: Obligation) -> Iterator[tuple[str, Obligation]]:
    """Yield claims that differ from ``o`` in one place, true or not: the kind of change and the claim."""
    for k, h in enumerate(o.hypotheses):
        others = (*o.hypotheses[:k], *o.hypotheses[k + 1 :])
        yield "a condition dropped", replace(o, hypotheses=others)
        for loose in _looser(h):
            yield ("a condition loosened", replace(o, hypotheses=(*o.hypotheses[:k], loose, *o.hypotheses[k + 1 :])))
    for e in dict.fromkeys(postorder(*all_exprs(o.goal))):
        for other in _changed(e):
            try:
                goal = o.goal.substitute({e: other})
            except ZeroDivisionError:
                continue
            if goal != o.goal:
                yield "a side changed", replace(o, goal=goal)
    for stronger in _stronger(o.goal):
        yield "a bound moved", replace(o, goal=stronger)


def false_mutants(o: Obligation, most: int) -> list[Mutant]:
    """Return at most ``most`` false mutants, spread evenly over the kinds of change."""
    found: dict[str, list[Mutant]] = {}
    for change, changed in mutants(o):
        so_far = found.setdefault(change, [])
        if len(so_far) >= (most + 1) // 2:
            continue
        try:
            point = small_point(changed.hypotheses, changed.goal)
        except (OverflowError, ZeroDivisionError):
            continue
        if point is None:
            continue
        named = {v.name: n for v, n in point.items()}
        if is_example(changed, named):
            renamed = replace(changed, subject=f"{o.subject}, {change} ({len(so_far) + 1})")
            so_far.append(Mutant(renamed, change, named))
    in_turn = [m for k in range(most) for of in found.values() for m in of[k : k + 1]]
    return in_turn[:most]


def _looser(c: Condition) -> Iterator[Condition]:
    match c:
        case Compare("<", a, b):
            yield a <= b
        case Compare("<=", a, b):
            yield a <= b + 1
        case Compare("!=", a, b):
            yield a <= b
        case Within(e, lo, hi):
            yield e.within(lo, hi + 1)
            yield e.within(lo - 1, hi)
        case Divides(d, e):
            yield d.ne(0)


def _stronger(c: Condition) -> Iterator[Condition]:
    match c:
        case Compare("<=", a, b):
            yield a < b
        case Compare("<", a, b):
            yield a + 1 < b
        case Compare("==", a, b):
            yield a.eq(b + 1)
        case Within(e, lo, hi):
            yield e.within(lo + 1, hi)
            yield e.within(lo, hi - 1)
        case And(args):
            yield from (all_of((*args[:k], s, *args[k + 1 :])) for k, a in enumerate(args) for s in _stronger(a))
        case Or(args):
            yield from (any_of((*args[:k], *args[k + 1 :])) for k in range(len(args)))


def _changed(e: Expr) -> Iterator[Expr]:
    """Yield expressions similar to ``e`` with another meaning."""
    match e:
        case Int():
            yield integer(e.value + 1)
        case Var():
            yield e + 1
            yield -e
        case Sum():
            yield e + 1
            for k, (t, c) in enumerate(e.terms):
                yield linear(e.const, [*e.terms[:k], (t, -c), *e.terms[k + 1 :]])
                yield linear(e.const, [*e.terms[:k], *e.terms[k + 1 :]])
        case Mul():
            yield from (mul(*e.factors[:k], *e.factors[k + 1 :]) for k in range(len(e.factors)))
        case FloorDiv():
            yield from _divided(e.a, e.b, (ceildiv, mod))
        case Mod():
            yield from _divided(e.a, e.b, (floordiv,))
            yield -mod(-e.a, e.b)
        case CeilDiv():
            yield from _divided(e.a, e.b, (floordiv,))
        case Min():
            yield maximum(*e.args)
        case Max():
            yield minimum(*e.args)


def _divided(a: Expr, b: Expr, others: Sequence[object]) -> Iterator[Expr]:
    for make in others:
        yield make(a, b)  # type: ignore[operator]
    if not (isinstance(a, Int) and a.value == 0):
        yield floordiv(a + 1, b)
