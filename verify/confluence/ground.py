"""Rewriting without symbols: expressions over variables with small boxes, where everything can be decided.

On a finite domain a condition holds exactly if it does at every point, so nothing depends on how sharp an analysis is.
A step replaces one occurrence by one rule: of a rule that names a strategy (``choose=``) the strategy proposes the
values, from exact ranges, and the result must be smaller in the order; of any other rule every match modulo the
canonical form counts.  Chains of steps are followed to their ends, so the set of normal forms of an expression can be
computed; steps that lead back to where they came from would be noticed.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from ...core.choose import STRATEGIES
from ...core.condition import Condition, condition_interpret
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
    interpret,
    maximum,
    minimum,
    postorder,
    rebuild,
    var,
)
from ...core.facts import Facts
from ...core.interval import Congruence, Interval, Range
from ...core.matcher import instance, pairs, rejoined
from ...core.rewrite import Rule, measure
from ..refute import _Masked
from .rewriting import LIMIT, Circle, Rewriting, TooMany
from .unify import OPEN, State, unify

__all__ = ["Circle", "Exact", "Ground", "Move", "TooMany", "point_count", "size"]


@dataclass(frozen=True)
class Move:
    """``rule`` turned ``before`` into ``after`` by rewriting ``part``."""

    rule: Rule
    before: Expr
    part: Expr
    after: Expr


class Exact(Facts):
    """Facts of a finite domain, by evaluation at every point."""

    def __init__(self, boxes: Mapping[Var, tuple[int, int]]) -> None:
        super().__init__({v: Interval(*b) for v, b in boxes.items()})
        self.names = tuple(boxes)
        axes = [np.arange(lo, hi + 1, dtype=np.int64) for lo, hi in boxes.values()]
        grid = np.meshgrid(*axes, indexing="ij") if axes else []
        self.size = math.prod(len(a) for a in axes)
        self._columns = {v: g.ravel() for v, g in zip(boxes, grid, strict=True)}
        self._values: dict[Expr, Any] = {}
        self._ranges: dict[Expr, Range] = {}
        self._held: dict[Condition, bool] = {}
        self._algebra_of_points = _Masked(self._columns, self.size)

    @property
    def undefined(self) -> bool:
        """Whether a divisor of something that was evaluated is zero somewhere."""
        return bool(self._algebra_of_points.undefined.any())

    def values(self, e: Expr) -> Any:
        """The value of ``e`` at every point."""
        return interpret((e,), self._algebra_of_points, self._values)[0]

    def range(self, e: Expr) -> Range:
        """The least interval and the finest congruence that contain every value."""
        found = self._ranges.get(e)
        if found is None:
            v = np.broadcast_to(np.asarray(self.values(e)), (self.size,))
            lo, hi = int(v.min()), int(v.max())
            step = int(np.gcd.reduce(v - lo))
            found = self._ranges[e] = Range.of(Interval(lo, hi), Congruence(step, lo % step if step else lo))
        return found

    def holds(self, c: Condition) -> bool:
        """Whether ``c`` holds at every point."""
        found = self._held.get(c)
        if found is None:
            algebra = _Masked(self._columns, self.size)
            truth = condition_interpret(c, lambda e: interpret((e,), algebra)[0], algebra)
            found = self._held[c] = bool(np.all(truth)) and not algebra.undefined.any()
        return found


@lru_cache(maxsize=65536)
def size(e: Expr) -> int:
    """How many symbols it takes to write ``e``: variables, constants and operators, each occurrence counted."""
    done: dict[Expr, int] = {}
    for node in postorder(e):
        match node:
            case Sum():
                parts = [done[t] + (0 if abs(k) == 1 else 2) for t, k in node.terms]
                count = len(parts) + (node.const != 0) - 1
                done[node] = (
                    sum(parts) + (node.const != 0) + count + (len(parts) == 1 and node.terms[0][1] == -1)
                )
            case Mul() | Min() | Max():
                done[node] = sum(done[c] for c in node.children) + len(node.children) - 1
            case FloorDiv() | Mod() | CeilDiv():
                done[node] = done[node.a] + done[node.b] + 1
            case _:
                done[node] = 1
    return done[e]


class Ground(Rewriting[Expr, Move]):
    """Rewriting with ``rules`` on the domain ``boxes``."""

    def __init__(
        self,
        rules: Sequence[Rule],
        boxes: Mapping[Var, tuple[int, int]],
        limit: int = LIMIT,
        *,
        weighs: bool = True,
    ) -> None:
        super().__init__(limit)
        #: whether steps are noted that leave no smaller expression: it takes half the time
        self.weighs = weighs
        self.boxes = dict(boxes)
        self.facts = Exact(boxes)
        self.by_head: dict[type[Expr], list[Rule]] = {}
        for r in rules:
            head = Sum if isinstance(r.left, Mul) else type(r.left)
            self.by_head.setdefault(head, []).append(r)
        #: steps that descend where they are made, and yet leave no smaller expression
        self.risen: list[Move] = []
        self._moves: dict[Expr, tuple[Move, ...]] = {}
        self._first: dict[Expr, Move | None] = {}
        self._results: dict[tuple[Rule, Expr], tuple[Expr, ...]] = {}

    @property
    def remembered(self) -> int:
        """How many results are known."""
        return len(self._results)

    # -- one rule, one place
    def results(self, rule: Rule, e: Expr) -> tuple[Expr, ...]:
        """What ``rule`` makes of ``e`` itself."""
        key = (rule, e)
        found = self._results.get(key)
        if found is None:
            found = self._results[key] = tuple(dict.fromkeys(self._found(rule, e)))
        return found

    def _found(self, rule: Rule, e: Expr) -> Iterator[Expr]:
        if isinstance(e, (Min, Max)) and type(rule.left) is type(e) and len(e.args) > 2:
            join = minimum if isinstance(e, Min) else maximum
            for x, y, others in pairs(e.args):
                for joined in self._found(rule, join(x, y)):
                    whole = rejoined(e, x, y, joined, others)
                    if whole is not None:
                        yield whole
            return
        if rule.choose:
            for binding in STRATEGIES[rule.choose](e, self.facts):
                after = instance(rule, e, binding, self.facts)
                if after is not None and measure(after).values() < measure(e).values():
                    yield after
            return
        left, names = _open(rule)
        for state in unify(((left, e),), State(match=True)):
            binding = {n: state.of(v) for n, v in names}
            after = instance(rule, e, binding, self.facts)
            if after is not None and after is not e:
                yield after

    # -- all rules, all places
    def moves(self, e: Expr) -> tuple[Move, ...]:
        """Every step from ``e``, innermost first."""
        found = self._moves.get(e)
        if found is None:
            found = self._moves[e] = tuple(dict.fromkeys(self._stepped(e)))
        return found

    def moves_of(self, rule: Rule, e: Expr) -> tuple[Move, ...]:
        """Every step from ``e`` by one rule, innermost first."""
        if e in self._moves:
            return tuple(m for m in self._moves[e] if m.rule is rule)
        return tuple(dict.fromkeys(self._stepped(e, rule)))

    def _stepped(self, e: Expr, only: Rule | None = None) -> Iterator[Move]:
        for path, node in _places(e):
            for after in self._at(node, only):
                whole = _put(e, path, after[1])
                if self.weighs and path and weighed(whole) >= weighed(e):
                    self.risen.append(Move(after[0], e, node, whole))
                yield Move(after[0], e, node, whole)

    def _at(self, node: Expr, only: Rule | None) -> Iterator[tuple[Rule, Expr]]:
        if isinstance(node, (Int, Mul)):
            return
        for head in (type(node), Var):
            for rule in self.by_head.get(head, ()):
                if only is not None and rule is not only:
                    continue
                if head is Var and isinstance(node, Var) and not rule.choose:
                    continue
                for after in self.results(rule, node):
                    yield rule, after

    def rank(self, e: Expr) -> tuple[int, str]:
        """Smaller expressions first."""
        return size(e), str(e)

    def first(self, e: Expr) -> Move | None:
        """The first step, if there is one."""
        if e not in self._first:
            known = self._moves.get(e)
            self._first[e] = next(iter(known if known is not None else self._stepped(e)), None)
        return self._first[e]

    def chain(self, e: Expr) -> tuple[Move, ...]:
        """The steps to one normal form."""
        out = []
        while (m := self.first(e)) is not None:
            out.append(m)
            e = m.after
        return tuple(out)

    def normal(self, e: Expr) -> Expr:
        """The normal form that :meth:`chain` reaches."""
        chain = self.chain(e)
        return chain[-1].after if chain else e

    def meet(self, a: Expr, b: Expr) -> bool:
        """Whether ``a`` and ``b`` have a common result.  Raises :class:`TooMany`."""
        return self.normal(a) is self.normal(b) or super().meet(a, b)


_opened: dict[Rule, tuple[Expr, tuple[tuple[str, Var], ...]]] = {}


def _open(rule: Rule) -> tuple[Expr, tuple[tuple[str, Var], ...]]:
    """The left side as a pattern, and its variables by their names in the rule."""
    found = _opened.get(rule)
    if found is None:
        names = {v: var(OPEN + v.name, v.kind) for v in rule.variables}
        found = _opened[rule] = rule.left.substitute(names), tuple((v.name, n) for v, n in names.items())
    return found


@lru_cache(maxsize=65536)
def weighed(e: Expr) -> tuple[int, ...]:
    """Where ``e`` stands in the order."""
    return measure(e).values()


def _places(e: Expr) -> list[tuple[tuple[int, ...], Expr]]:
    """Every occurrence of a part, by the numbers of the children on the way; parts before what they are part of."""
    out: list[tuple[tuple[int, ...], Expr]] = []
    stack: list[tuple[tuple[int, ...], Expr]] = [((), e)]
    while stack:
        path, node = stack.pop()
        out.append((path, node))
        stack.extend(((*path, i), c) for i, c in enumerate(node.children))
    return out[::-1]


def _put(e: Expr, path: tuple[int, ...], new: Expr) -> Expr:
    way = [e]
    for i in path[:-1] if path else ():
        way.append(way[-1].children[i])
    for node, i in zip(reversed(way), reversed(path), strict=False):
        kids = list(node.children)
        kids[i] = new
        new = rebuild(node, kids)
    return new


def point_count(boxes: Mapping[Var, tuple[int, int]]) -> int:
    """How many points a domain has."""
    return math.prod(hi - lo + 1 for lo, hi in boxes.values())
