"""Critical overlaps: every way in which two rules may want to rewrite the same part of one expression."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from ...core.condition import FALSE, TRUE, Compare, Condition, all_exprs
from ...core.expr import (
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
    integer,
    maximum,
    minimum,
    postorder,
    var,
)
from ...core.notation import show, show_condition
from ...core.rewrite import Rule
from .unify import State, conditions_of, expanded, tidy, unify

__all__ = ["Overlap", "matched", "overlaps", "positions"]


#: What the variables of a rule stand for, by their names in the rule.
Binding = tuple[tuple[str, Expr], ...]


@dataclass(frozen=True, eq=False)
class Overlap:
    """``start`` is rewritten to ``first`` by ``outer``, and to ``second`` by ``inner`` at the place ``at``.

    Both where all of ``hypotheses`` hold.  Variables of ``inner`` have a prime, those that unification invents a number.
    ``at`` is the part of the left side of ``outer`` (itself at the root).
    """

    outer: Rule
    inner: Rule
    at: Expr
    variant: int
    start: Expr
    spot: Expr
    first: Expr
    second: Expr
    hypotheses: tuple[Condition, ...]
    #: what the variables of both rules stand for; several where that makes no difference to anything above
    bindings: tuple[tuple[Binding, Binding], ...] = ()

    @property
    def name(self) -> str:
        """The overlap, uniquely in its rule set."""
        where = "" if self.at is self.outer.left else f" at {show(self.at)}"
        return f"{self.outer.name} / {self.inner.name}{where} #{self.variant}"

    @property
    def at_root(self) -> bool:
        """Whether both rules rewrite the same expression."""
        return self.at is self.outer.left

    @cached_property
    def variables(self) -> tuple[Var, ...]:
        """The variables of the expression and of the hypotheses."""
        roots = [self.start, self.first, self.second, *(e for c in self.hypotheses for e in all_exprs(c))]
        found = {n for n in postorder(*roots) if isinstance(n, Var)}
        return tuple(sorted(found, key=lambda v: (v.name, v.kind)))

    def statement(self) -> str:
        """The pair on one line."""
        given = ",  ".join(map(show_condition, self.hypotheses))
        text = f"{show(self.first)}  ←  {show(self.start)}  →  {show(self.second)}"
        return text + (f"   when {given}" if given else "")


def matched(rules: Sequence[Rule]) -> tuple[Rule, ...]:
    """The rules that are matched: neither laws of the canonical form nor spellings."""
    return tuple(r for r in rules if not r.structural and not r.sharing)


def positions(left: Expr) -> list[Expr]:
    """The parts of a left side that are no variables, itself first.

    A product with a constant is part of its sum, and no position; so is the whole of a sum below a division, because
    other rules rewrite it.
    """
    found = [left]
    for node in reversed(postorder(left)):
        if node is left or isinstance(node, (Var, Int, Mul)):
            continue
        if isinstance(node, Sum) and all(v.kind == "const" for v in node.variables()):
            continue
        found.append(node)
    return found


def overlaps(outer: Rule, inner: Rule) -> Iterator[Overlap]:
    """The overlaps of ``inner`` with the left side of ``outer``.

    Two rules at the same place are met once, with the rules in the order in which they are given (the caller gives every
    pair both ways round for the other places).
    """
    if isinstance(outer.left, Var):
        return
    names = {v: var(v.name + "′", v.kind) for v in inner.variables}
    left = inner.left.substitute(names)
    right = inner.right.substitute(names)
    conditions = (*outer.conditions, *(c.substitute(names) for c in inner.conditions))
    met: dict[_Met, tuple[Expr, dict[tuple[Binding, Binding], None]]] = {}
    for at in positions(outer.left):
        for state, extra_outer, extra_inner, spot in _meetings(outer, at, left):
            marker = var("□", "expr")
            context = outer.left.substitute({at: marker}) if at is not outer.left else marker
            first = state.of(extra_outer(outer.right))
            inside = state.of(extra_inner(right))
            whole = state.of(context).substitute({marker: state.of(spot)})
            second = expanded(state.of(context).substitute({marker: inside}))
            given = conditions_of((*state.equations, *conditions), state)
            sides = (expanded(whole), state.of(spot), first, second)
            for case, known, units in _cases(sides, given):
                values = (
                    tuple((v.name, tidy(state.of(v).substitute(units))) for v in outer.variables),
                    tuple((v.name, tidy(state.of(n).substitute(units))) for v, n in names.items()),
                )
                met.setdefault((case, known), (at, {}))[1][values] = None
    for count, ((case, known), (at, bound)) in enumerate(met.items(), 1):
        yield Overlap(outer, inner, at, count, *case, (*_divisors(case[0]), *known), tuple(bound))


#: An expression, the part of it that the inner rule rewrites, and both results.
_Sides = tuple[Expr, Expr, Expr, Expr]
_Met = tuple[_Sides, tuple[Condition, ...]]


def _cases(
    sides: _Sides, given: tuple[Condition, ...]
) -> Iterator[tuple[_Sides, tuple[Condition, ...], dict[Var, Expr]]]:
    """The cases of constants whose product is 1 or -1, and what they are; without those contradictory on their face."""
    todo: list[tuple[_Sides, tuple[Condition, ...], dict[Var, Expr]]] = [(sides, given, {})]
    while todo:
        sides, given, made = todo.pop(0)
        if FALSE in given:
            continue
        units = next((u for c in given if (u := _units(c)) is not None), None)
        if units is None:
            yield sides, given, made
            continue
        factors, product = units
        for signs in itertools.product((1, -1), repeat=len(factors)):
            if math.prod(signs) != product:
                continue
            at = dict(zip(factors, map(integer, signs), strict=True))
            try:
                start, spot, first, second = (tidy(e.substitute(at)) for e in sides)
                known = [c.substitute(at) for c in given]
            except ZeroDivisionError:
                continue
            after = (start, spot, first, second)
            todo.append((after, tuple(c for c in known if c != TRUE), {**made, **at}))


def _units(c: Condition) -> tuple[list[Var], int] | None:
    """Constants and their product, where a condition says that it is 1 or -1."""
    if not isinstance(c, Compare) or c.op != "==":
        return None
    gap = expanded(c.a - c.b)
    if not isinstance(gap, Sum) or len(gap.terms) != 1 or abs(gap.const) != 1 or abs(gap.terms[0][1]) != 1:
        return None
    t, k = gap.terms[0]
    factors = list(dict.fromkeys(t.factors)) if isinstance(t, Mul) else [t]
    if not all(isinstance(f, Var) and f.kind == "const" for f in factors):
        return None
    if isinstance(t, Mul) and len(factors) != len(t.factors):
        return None
    return [f for f in factors if isinstance(f, Var)], -gap.const * k


def _divisors(e: Expr) -> tuple[Condition, ...]:
    """The expression is given, so its divisors are not zero."""
    found = {
        n.b for n in postorder(e) if isinstance(n, (FloorDiv, Mod, CeilDiv)) and not isinstance(n.b, Int)
    }
    return tuple(b.ne(0) for b in sorted(found, key=str))


def _same(e: Expr) -> Expr:
    return e


def _meetings(outer: Rule, at: Expr, left: Expr):  # type: ignore[no-untyped-def]
    """Unifiers of a place with a left side; with what surrounds each result, and the expression at the place."""
    root = at is outer.left
    if isinstance(left, Var) and not root:
        state = State().bind(left, at)
        if state is not None:
            yield state, _same, _same, at
        return
    if isinstance(left, Var):
        state = State().bind(left, at)
        if state is not None:
            yield state, _same, _same, at
        return
    for state in unify(((at, left),), State()):
        yield state, _same, _same, at
    if isinstance(at, (Min, Max)) and type(at) is type(left):
        join = minimum if isinstance(at, Min) else maximum
        for i, j in ((0, 0), (0, 1), (1, 0), (1, 1)):
            p, p_other = at.args[i], at.args[1 - i]
            q, q_other = left.args[j], left.args[1 - j]
            if root:
                for state in unify(((p, q),), State()):
                    yield (
                        state,
                        lambda e, k=q_other: join(e, k),
                        lambda e, k=p_other: join(e, k),
                        join(p, p_other, q_other),
                    )
            elif isinstance(p_other, Var):
                more = var("Z", "expr")
                for state in unify(((p, q), (p_other, join(q_other, more))), State()):
                    yield state, _same, lambda e, k=more: join(e, k), at
