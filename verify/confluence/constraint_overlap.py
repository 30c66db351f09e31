"""Critical overlaps of constraint rules, and of rules for expressions with them.

Two constraint rules overlap in the constraints that both rewrite: one, or both of two.  A domain is a set, so which
constraint is which member of a rule is a matter of choice, and the other constraints are left alone.  Expressions are
unified modulo the canonical form (:mod:`.unify`), bounds as constants.  A rule for expressions overlaps with the parts of
the expressions on a constraint rule's left side that are no variables.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
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


def _between(outer: ConstraintRule, inner: ConstraintRule) -> Iterator[ConstraintOverlap]:
    names = renamed_rule(inner, "′")
    mine, theirs = outer.left, tuple(_bounded(b, names) for b in inner.left)
    right = tuple(_bounded(b, names) for b in inner.right)
    given = (*outer.conditions, *(c.substitute(names) for c in inner.conditions))
    for shared in _shared(outer, inner):
        pairs: Pairs = ()
        for i, j in shared:
            a, b = mine[i], theirs[j]
            pairs += ((a.lo, b.lo), (a.hi, b.hi), (a.e, b.e))
        done: dict[object, None] = {}
        for state, _ in zip(unify(pairs, State()), range(_UNIFIERS), strict=False):
            start = tuple(put(b, state) for b in mine)
            more = tuple(put(b, state) for j, b in enumerate(theirs) if all(j != k for _, k in shared))
            left_out = tuple(put(b, state) for i, b in enumerate(mine) if all(i != k for k, _ in shared))
            first = (*(put(b, state) for b in outer.right), *more)
            second = (*(put(b, state) for b in right), *left_out)
            hypotheses = conditions_of((*state.equations, *given), state)
            key = (start, more, first, second, hypotheses)
            if key in done or FALSE in hypotheses:
                continue
            done[key] = None
            yield ConstraintOverlap(
                outer,
                inner,
                shared,
                len(done),
                (*start, *more),
                first,
                second,
                hypotheses,
                {v.name: state.of(v) for v in outer.variables},
                {v.name: state.of(n) for v, n in names.items()},
            )


def _inside(outer: ConstraintRule, inner: Rule) -> Iterator[ConstraintOverlap]:
    if isinstance(inner.left, Var):
        # it rewrites whatever has one value, also a variable: no part of a pattern in particular
        return
    names = renamed_rule(inner, "′")
    left, right = inner.left.substitute(names), inner.right.substitute(names)
    given = (*outer.conditions, *(c.substitute(names) for c in inner.conditions))
    for n, member in enumerate(outer.left):
        if isinstance(member.e, Var):
            continue
        done: dict[object, None] = {}
        for at in positions(member.e):
            for state, _ in zip(unify(((at, left),), State()), range(_UNIFIERS), strict=False):
                context = member.e.substitute({at: right}) if at is not member.e else right
                start = tuple(put(b, state) for b in outer.left)
                changed = Bounded(state.of(context), start[n].lo, start[n].hi)
                second = (*start[:n], changed, *start[n + 1 :])
                hypotheses = conditions_of((*state.equations, *given), state)
                key = (start, second, hypotheses)
                if key in done or FALSE in hypotheses:
                    continue
                done[key] = None
                yield ConstraintOverlap(
                    outer,
                    inner,
                    ((n, 0),),
                    len(done),
                    start,
                    tuple(put(b, state) for b in outer.right),
                    second,
                    hypotheses,
                    {v.name: state.of(v) for v in outer.variables},
                    {v.name: state.of(m) for v, m in names.items()},
                    at,
                )
