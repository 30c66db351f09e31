"""Critical overlaps of constraint rules, and of rules for expressions with them.

Two constraint rules overlap in the constraints that both rewrite: one, or both of two.  A domain is a set, so which
constraint is which member of a rule is a matter of choice, and the other constraints are left alone.  Expressions are
unified modulo the canonical form (:mod:`.unify`), bounds as constants.  A rule for expressions overlaps with the parts of
the expressions on a constraint rule's left side that are no variables.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from ...core.condition import FALSE, TRUE, Condition, all_exprs, all_of
from ...core.expr import Expr, Var, postorder, var
from ...core.notation import show, show_condition
from ...core.rewrite import Bounded, ConstraintRule, Rule
from .overlap import matched, positions
from .unify import Pairs, State, conditions_of, tidy, unify

__all__ = ["ConstraintOverlap", "constraint_overlaps", "renamed_rule", "statement_of"]

Members = tuple[tuple[int, int], ...]
Side = tuple[Bounded, ...]
#: So many unifiers of two rules at one place are looked at.
_UNIFIERS = 24


@dataclass(frozen=True, eq=False)
class ConstraintOverlap:
    """``start`` becomes ``first`` by ``outer``, and ``second`` by ``inner``, where all of ``hypotheses`` hold.

    ``shared`` says which member of ``outer`` is which of ``inner``; if ``inner`` is a rule for expressions it rewrites
    ``at`` within the member of ``outer`` that is named first.  Variables of ``inner`` have a prime.  ``mine`` and ``other``
    are what the variables of both rules stand for, by their names in the rule.
    """

    outer: ConstraintRule
    inner: ConstraintRule | Rule
    shared: Members
    variant: int
    start: tuple[Bounded, ...]
    first: tuple[Bounded, ...]
    second: tuple[Bounded, ...]
    hypotheses: tuple[Condition, ...]
    mine: Mapping[str, Expr]
    other: Mapping[str, Expr]
    at: Expr | None = None

    @property
    def place(self) -> str:
        """Where the rules meet, if there is more than one way."""
        if self.at is not None:
            return f"inside {show(self.at)}"
        assert isinstance(self.inner, ConstraintRule)
        if len(self.outer.left) == len(self.inner.left) == 1:
            return ""
        return " and ".join(f"{i + 1}={j + 1}" for i, j in self.shared)

    @property
    def name(self) -> str:
        """The overlap, uniquely in its rule set."""
        where = f" at {self.place}" if self.place else ""
        where = f" {self.place}" if self.at is not None else where
        return f"{self.outer.name} / {self.inner.name}{where} #{self.variant}"

    @cached_property
    def variables(self) -> tuple[Var, ...]:
        """The variables of everything."""
        parts = [x for side in (self.start, self.first, self.second) for b in side for x in (b.e, b.lo, b.hi)]
        parts += [e for c in self.hypotheses for e in all_exprs(c)]
        return tuple(
            sorted({n for n in postorder(*parts) if isinstance(n, Var)}, key=lambda v: (v.name, v.kind))
        )

    @cached_property
    def constants(self) -> frozenset[Var]:
        """The constants among them."""
        return frozenset(v for v in self.variables if v.kind == "const")

    def put(self, at: Mapping[Var, Expr]) -> ConstraintOverlap:
        """The same with something known of constants.  Raises :class:`ZeroDivisionError`."""

        def put_all(side: Sequence[Bounded]) -> tuple[Bounded, ...]:
            return tuple(Bounded(*(tidy(e.substitute(at)) for e in (b.e, b.lo, b.hi))) for b in side)

        return replace(
            self,
            start=put_all(self.start),
            first=put_all(self.first),
            second=put_all(self.second),
            hypotheses=tuple(dict.fromkeys(c for h in self.hypotheses if (c := h.substitute(at)) != TRUE)),
            mine={n: tidy(e.substitute(at)) for n, e in self.mine.items()},
            other={n: tidy(e.substitute(at)) for n, e in self.other.items()},
        )

    def statement(self) -> str:
        """The pair on one line."""
        text = "  ←  ".join((statement_of(self.first), statement_of(self.start)))
        text += f"  →  {statement_of(self.second)}"
        given = ",  ".join(map(show_condition, self.hypotheses))
        return text + (f"   when {given}" if given else "")


def statement_of(constraints: Sequence[Bounded]) -> str:
    """The constraints on one line."""
    return show_condition(all_of(b.condition() for b in constraints)) if constraints else "true"


def renamed_rule(rule: ConstraintRule | Rule, mark: str) -> dict[Var, Expr]:
    """The variables of a rule under names of their own."""
    return {v: var(v.name + mark, v.kind) for v in rule.variables}


def put(b: Bounded, state: State) -> Bounded:
    """A constraint under bindings."""
    return Bounded(state.of(b.e), state.of(b.lo), state.of(b.hi))


def _bounded(b: Bounded, names: Mapping[Var, Expr]) -> Bounded:
    return Bounded(b.e.substitute(names), b.lo.substitute(names), b.hi.substitute(names))


def constraint_overlaps(
    constraint_rules: Sequence[ConstraintRule], rules: Sequence[Rule] = (), among: Sequence[str] = ()
) -> Iterator[ConstraintOverlap]:
    """Every overlap of two constraint rules, each pair of rules met once, and of the ``rules`` that are matched with them.

    With names in ``among`` only overlaps in which one of them takes part.
    """
    wanted = set(among)

    def asked(*two: ConstraintRule | Rule) -> bool:
        return not wanted or any(r.name in wanted for r in two)

    for i, outer in enumerate(constraint_rules):
        for inner in constraint_rules[i:]:
            if asked(outer, inner):
                yield from _between(outer, inner)
    for outer in constraint_rules:
        for rule in matched(rules):
            if asked(outer, rule):
                yield from _inside(outer, rule)


def _shared(outer: ConstraintRule, inner: ConstraintRule) -> Iterator[Members]:
    """The ways in which rules can have constraints in common."""
    m, n = len(outer.left), len(inner.left)
    for i in range(m):
        for j in range(n):
            if outer is not inner or i <= j:
                yield ((i, j),)
    if m == n == 2:
        yield ((0, 0), (1, 1))
        yield ((0, 1), (1, 0))


class _Pair:
    """Two rules, the second with names of its own, and the overlaps that unifiers make of them."""

    def __init__(self, outer: ConstraintRule, inner: ConstraintRule | Rule) -> None:
        self.outer, self.inner = outer, inner
        self.names = renamed_rule(inner, "′")
        self.given = (*outer.conditions, *(c.substitute(self.names) for c in inner.conditions))

    def unified(self, pairs: Pairs) -> Iterator[State]:
        """The first ways to make both members of every pair equal."""
        return itertools.islice(unify(pairs, State()), _UNIFIERS)

    def overlap(
        self, state: State, shared: Members, sides: tuple[Side, Side, Side], at: Expr | None = None
    ) -> ConstraintOverlap:
        """What a unifier makes of the start and of both results."""
        start, first, second = (tuple(put(b, state) for b in side) for side in sides)
        return ConstraintOverlap(
            self.outer,
            self.inner,
            shared,
            0,
            start,
            first,
            second,
            conditions_of((*state.equations, *self.given), state),
            {v.name: state.of(v) for v in self.outer.variables},
            {v.name: state.of(n) for v, n in self.names.items()},
            at,
        )


def _numbered(found: Iterable[ConstraintOverlap]) -> Iterator[ConstraintOverlap]:
    """Each once, without those whose conditions contradict each other on their face."""
    done: set[object] = set()
    for o in found:
        key = (o.start, o.first, o.second, o.hypotheses)
        if key not in done and FALSE not in o.hypotheses:
            done.add(key)
            yield replace(o, variant=len(done))


def _between(outer: ConstraintRule, inner: ConstraintRule) -> Iterator[ConstraintOverlap]:
    pair = _Pair(outer, inner)
    mine = outer.left
    theirs, right = (tuple(_bounded(b, pair.names) for b in side) for side in (inner.left, inner.right))
    for shared in _shared(outer, inner):
        both = [(mine[i], theirs[j]) for i, j in shared]
        pairs = tuple(p for a, b in both for p in ((a.lo, b.lo), (a.hi, b.hi), (a.e, b.e)))
        more = tuple(b for j, b in enumerate(theirs) if all(j != k for _, k in shared))
        left_out = tuple(b for i, b in enumerate(mine) if all(i != k for k, _ in shared))
        sides = ((*mine, *more), (*outer.right, *more), (*right, *left_out))
        yield from _numbered(pair.overlap(state, shared, sides) for state in pair.unified(pairs))


def _inside(outer: ConstraintRule, inner: Rule) -> Iterator[ConstraintOverlap]:
    if isinstance(inner.left, Var):
        # it rewrites whatever has one value, also a variable: no part of a pattern in particular
        return
    pair = _Pair(outer, inner)
    left, right = inner.left.substitute(pair.names), inner.right.substitute(pair.names)

    def within(n: int, member: Bounded) -> Iterator[ConstraintOverlap]:
        for at in positions(member.e):
            context = member.e.substitute({at: right}) if at is not member.e else right
            second = (*outer.left[:n], Bounded(context, member.lo, member.hi), *outer.left[n + 1 :])
            for state in pair.unified(((at, left),)):
                yield pair.overlap(state, ((n, 0),), (outer.left, outer.right, second), at)

    for n, member in enumerate(outer.left):
        if not isinstance(member.e, Var):
            yield from _numbered(within(n, member))
