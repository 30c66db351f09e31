"""Rewriting whole domains: boxes of variables and constraints, with numbers for all constants.

A domain is a box for every variable and a set of constraints.  A rule for one constraint rewrites one of the set, a rule
for two rewrites two of them, or one and a box, which then is what the rule makes of it; rules for expressions rewrite
inside a constraint.  Conditions, and what strategies propose, see the boxes only, as in the simplifier, here exactly: a
condition holds if it does at every point of the boxes.  A domain with an empty box, or with a constraint on a number that
is out of its bounds, is the one that is empty, however it came to be so.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from ...core.constraint_matcher import applications
from ...core.constraint_order import Bound
from ...core.expr import Expr, Int, Mul, Sum, Var
from ...core.rewrite import ConstraintRule, Rule
from .ground import Exact, Ground, point_count, size
from .rewriting import LIMIT, Rewriting

__all__ = ["NOWHERE", "Domain", "DomainMove", "Domains"]

Box = tuple[Var, tuple[int, int]]
#: Boxes with more points are not looked at.
POINTS = 600
#: How many boxes are remembered with everything that was rewritten on them.
_BOXES = 400


@lru_cache(maxsize=65536)
def _text(e: Expr) -> str:
    return str(e)


def _rank(c: Bound) -> tuple[int, str, int, int]:
    return size(c[0]), _text(c[0]), c[1], c[2]


@dataclass(frozen=True)
class Domain:
    """Boxes of variables, and constraints in a fixed order, each once: the same twice says nothing more."""

    boxes: tuple[Box, ...]
    constraints: tuple[Bound, ...]

    @staticmethod
    def of(boxes: Mapping[Var, tuple[int, int]], constraints: Sequence[Bound]) -> Domain:
        """The domain, which is :data:`NOWHERE` if it is empty on its face."""
        if any(lo > hi for lo, hi in boxes.values()):
            return NOWHERE
        if any(isinstance(e, Int) and not lo <= e.value <= hi for e, lo, hi in constraints):
            return NOWHERE
        return Domain(
            tuple(sorted(boxes.items(), key=lambda b: b[0].name)), tuple(sorted(set(constraints), key=_rank))
        )

    @property
    def rank(self) -> tuple[int, int, int, str]:
        """Fewer symbols first, each constraint and its bounds counted, then smaller numbers, then smaller boxes."""
        symbols = sum(size(e) + 2 for e, _, _ in self.constraints)
        numbers = sum(abs(lo) + abs(hi) for _, lo, hi in self.constraints) + sum(
            abs(n) for e, _, _ in self.constraints for n in _literals(e)
        )
        numbers += sum(abs(lo) + abs(hi) for _, (lo, hi) in self.boxes)
        return symbols, numbers, point_count(dict(self.boxes)), str(self)

    def __str__(self) -> str:
        return constraints_text(self.constraints) if self is not NOWHERE else "nowhere"

    def where(self) -> str:
        """The boxes."""
        return ", ".join(f"{v} ∈ [{lo}, {hi}]" for v, (lo, hi) in self.boxes)

    def beside(self, start: Domain) -> str:
        """The domain, with the boxes that are not those of ``start``."""
        boxes = [f"{v} ∈ [{lo}, {hi}]" for v, (lo, hi) in self.boxes if (v, (lo, hi)) not in start.boxes]
        if self is NOWHERE or not boxes:
            return str(self)
        return ", ".join([*([str(self)] if self.constraints else []), *boxes])

    def whole(self) -> str:
        """Constraints and boxes."""
        return "nowhere" if self is NOWHERE else f"{self} where {self.where()}"


def constraints_text(constraints: Sequence[Bound]) -> str:
    """The constraints on one line."""
    return ", ".join(f"{_text(e)} ∈ [{lo}, {hi}]" for e, lo, hi in constraints) or "everywhere"


@lru_cache(maxsize=65536)
def _literals(e: Expr) -> tuple[int, ...]:
    found: list[int] = []
    stack: list[Expr] = [e]
    while stack:
        at = stack.pop()
        if isinstance(at, Int):
            found.append(at.value)
        elif isinstance(at, Sum):
            found += [at.const, *(k for _, k in at.terms)]
        stack.extend(at.children)
    return tuple(found)


#: The empty domain.
NOWHERE = Domain((), ())


@dataclass(frozen=True)
class DomainMove:
    """``rule`` turned ``before`` into ``after``; ``used`` are the constraints and boxes that it speaks of."""

    rule: ConstraintRule | Rule
    before: Domain
    used: tuple[Bound, ...]
    after: Domain


class Domains(Rewriting[Domain, DomainMove]):
    """Rewriting domains with rules for constraints, and with rules for expressions inside them."""

    def __init__(
        self, constraint_rules: Sequence[ConstraintRule], rules: Sequence[Rule] = (), limit: int = LIMIT
    ) -> None:
        super().__init__(limit)
        self.single = [r for r in constraint_rules if len(r.left) == 1]
        self.double = [r for r in constraint_rules if len(r.left) == 2]
        self.rules = tuple(rules)
        self._grounds: dict[tuple[Box, ...], Ground] = {}
        self._exact: dict[tuple[Box, ...], Exact] = {}
        self._moves: dict[Domain, tuple[DomainMove, ...]] = {}
        self._first: dict[Domain, DomainMove | None] = {}
        self._made: dict[Any, tuple[tuple[Bound, ...], ...]] = {}

    @property
    def remembered(self) -> int:
        """How much is known."""
        return len(self._made) + len(self._moves) + len(self._first)

    def forget(self) -> None:
        """Begin anew, where too much is remembered."""
        self._grounds.clear()
        self._exact.clear()
        self._moves.clear()
        self._first.clear()
        self._made.clear()
        self._normal.clear()

    def facts(self, boxes: tuple[Box, ...]) -> Exact:
        """What is known on the boxes."""
        found = self._exact.get(boxes)
        if found is None:
            if len(self._exact) >= _BOXES:
                self._exact.clear()
                self._grounds.clear()
            found = self._exact[boxes] = Exact(dict(boxes))
        return found

    def _ground(self, boxes: tuple[Box, ...]) -> Ground:
        found = self._grounds.get(boxes)
        if found is None:
            self.facts(boxes)
            found = self._grounds[boxes] = Ground(self.rules, dict(boxes))
        return found

    def rewritten(self, e: Expr, boxes: Sequence[Box], limit: int = 6) -> list[Expr]:
        """Some of what rules for expressions make of ``e`` on boxes of its variables, and of others."""
        inside = set(e.variables())
        ground = self._ground(tuple(b for b in boxes if b[0] in inside))
        return [m.after for m in ground.moves(e)[:limit]]

    # -- one rule
    def results(
        self, rule: ConstraintRule, constraints: tuple[Bound, ...], boxes: tuple[Box, ...]
    ) -> tuple[tuple[Bound, ...], ...]:
        """What ``rule`` makes of these constraints, in this order."""
        for b, (e, _, _) in zip(rule.left, constraints, strict=True):
            if not isinstance(b.e, (Var, Sum, Mul)) and type(b.e) is not type(e):
                return ()
        key = (rule, constraints, boxes)
        found = self._made.get(key)
        if found is None:
            met = applications(rule, constraints, self.facts(boxes))
            found = self._made[key] = tuple(dict.fromkeys(after for after, _ in met))
        return found

    def applied(self, rule: ConstraintRule, d: Domain) -> Iterator[DomainMove]:
        """Every step of one rule."""
        if len(rule.left) == 1:
            for n, c in enumerate(d.constraints):
                rest = d.constraints[:n] + d.constraints[n + 1 :]
                for after in self.results(rule, (c,), d.boxes):
                    yield DomainMove(rule, d, (c,), Domain.of(dict(d.boxes), (*rest, *after)))
            return
        boxed: list[Bound] = [(v, lo, hi) for v, (lo, hi) in d.boxes]
        items = [*d.constraints, *boxed]
        count = len(d.constraints)
        for i, j in ((i, j) for i in range(len(items)) for j in range(len(items))):
            if i == j or (i >= count and j >= count):
                continue
            used = items[i], items[j]
            for after in self.results(rule, used, d.boxes):
                made = self._boxed(d, tuple(items[k] for k in (i, j) if k >= count), after)
                if made is not None:
                    boxes, left = made
                    others = [c for k, c in enumerate(d.constraints) if k not in (i, j)]
                    found = Domain.of(boxes, (*others, *left))
                    if found != d:
                        yield DomainMove(rule, d, used, found)

    def _boxed(
        self, d: Domain, taken: tuple[Bound, ...], after: tuple[Bound, ...]
    ) -> tuple[dict[Var, tuple[int, int]], list[Bound]] | None:
        """The boxes, and what is left of ``after`` beside them: a box that is used is what the rule makes of it."""
        boxes, left = dict(d.boxes), list(after)
        for v, _, _ in taken:
            assert isinstance(v, Var)
            mine = [c for c in left if c[0] is v]
            if len(mine) != 1:
                return None
            left.remove(mine[0])
            boxes[v] = mine[0][1], mine[0][2]
        return boxes, left

    def inside(self, d: Domain, only: Rule | None = None) -> Iterator[DomainMove]:
        """Every step of rules for expressions within a constraint."""
        if not self.rules:
            return
        ground = self._ground(d.boxes)
        for n, c in enumerate(d.constraints):
            rest = d.constraints[:n] + d.constraints[n + 1 :]
            for m in ground.moves(c[0]) if only is None else ground.moves_of(only, c[0]):
                after = Domain.of(dict(d.boxes), (*rest, (m.after, c[1], c[2])))
                yield DomainMove(m.rule, d, (c,), after)

    # -- all rules
    def moves(self, e: Domain) -> tuple[DomainMove, ...]:
        """Every step from a domain."""
        found = self._moves.get(e)
        if found is None:
            found = self._moves[e] = tuple(dict.fromkeys(self._stepped(e)))
        return found

    def normal(self, d: Domain) -> Domain:
        """The normal form that the first step of everything leads to."""
        while True:
            if d not in self._first:
                known = self._moves.get(d)
                self._first[d] = next(iter(known if known is not None else self._stepped(d)), None)
            step = self._first[d]
            if step is None:
                return d
            d = step.after

    def meet(self, a: Domain, b: Domain) -> bool:
        """Whether ``a`` and ``b`` have a common result.  Raises :class:`TooMany`."""
        return self.normal(a) == self.normal(b) or super().meet(a, b)

    def rank(self, e: Domain) -> tuple[int, int, int, str]:
        """Smaller domains first."""
        return e.rank

    def _stepped(self, d: Domain) -> Iterator[DomainMove]:
        if d is NOWHERE:
            return
        for rule in (*self.single, *self.double):
            yield from self.applied(rule, d)
        yield from self.inside(d)
