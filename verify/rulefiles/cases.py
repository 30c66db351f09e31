"""Splits claims with selections into cases without selections.

A case decides the conditions of selections (:class:`~indexproof.core.expr.Selection`) that its facts do not imply or
refute.  The cases are disjoint and exhaustive, so the claim holds exactly if it holds in all cases.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import NoReturn

from ...core.condition import (
    FALSE,
    TRUE,
    And,
    Compare,
    Condition,
    Divides,
    Not,
    Or,
    Within,
    all_exprs,
    all_of,
    any_of,
    compare,
    divides,
    negate,
    parts_of,
    show_condition,
    substitute_conditions,
    within,
)
from ...core.errors import TooLargeError
from ...core.expr import Binary, Expr, FloorDiv, Int, Mod, Mul, Selection, maximum, minimum, postorder, rebuild, select
from ..obligation import STATED, Obligation
from .known import Known, Polynomials, unscaled
from .lowering import Lowered, lowered
from .rule import StatedRule

#: Limit on cases, and the lower limit while the signs of dividends are split.
MAX_CASES = 256
_SIGNED_CASES = 96


class _Split(Exception):
    """A case must be split by these conditions, which are disjoint and exhaustive."""

    def __init__(self, *options: Condition) -> None:
        super().__init__()
        self.options = options


@dataclass(frozen=True)
class _Options:
    """Options of splitting: ``apart`` splits by whether an integer wraps around, if it does so at most once; ``most``
    limits the number of cases; ``total`` makes all divisors nonzero everywhere.
    """

    modulus: int
    apart: bool
    most: int
    total: bool


def expanded(r: StatedRule, *, total: bool = False) -> Iterator[Obligation]:
    """Yield soundness as ordinary obligations; none if every case is true by normalisation alone.

    Divisors may be zero outside of their case, with ``total`` nowhere.  Raises
    :class:`~indexproof.core.errors.TooLargeError` for a rule with too many cases.
    """
    for kind, decided, hypotheses, goal in _enumerated(r, total=total):
        place = f" where {', '.join(map(show_condition, decided))}" if decided else ""
        yield Obligation(STATED, r.name, kind + place, hypotheses, goal, where=r.where, claim=r.statement())


def occurs(r: StatedRule) -> Iterator[tuple[Condition, ...]]:
    """Yield the hypotheses of each case; the rule is not vacuous if one of them is satisfiable."""
    for _, _, hypotheses, _ in _enumerated(r, goals=False):
        yield hypotheses


_Case = tuple[str, tuple[Condition, ...], tuple[Condition, ...], Condition]


def _enumerated(r: StatedRule, *, goals: bool = True, total: bool = False) -> list[_Case]:
    """Return the cases of all claims, by the finest splitting that stays within the limits."""
    modulus = r.semantics.modulus if r.semantics.width else 0
    for signs, apart, most in ((True, True, _SIGNED_CASES), (True, False, _SIGNED_CASES)):
        with suppress(TooLargeError):
            return _cases(lowered(r, signs=signs), _Options(modulus, apart, most, total), goals=goals)
    return _cases(lowered(r, signs=False), _Options(modulus, False, MAX_CASES, total), goals=goals)


def _cases(rule: Lowered, options: _Options, *, goals: bool) -> list[_Case]:
    polynomials = Polynomials()
    claims = [c for c in rule.claims if c[2] is not TRUE] if goals else [("", (), FALSE)]
    conditions = _parts(*rule.conditions)
    out: list[_Case] = []
    # each claim has its own cases: a condition that one claim splits on may have a divisor that is zero for another
    for kind, own, goal in claims:
        todo: list[tuple[Condition, ...]] = [()]
        count = visits = 0
        while todo:
            decided = todo.pop()
            visits += 1
            if count + len(todo) > options.most or visits > 3 * options.most:
                raise TooLargeError(f"more than {options.most} cases")
            case = _Reading(rule.domain, decided, Known(polynomials), options)
            try:
                # claims about the right side alone are proved more easily if the selections of the left side are split too
                read = rule.left if goals and not own else ()
                found = case.claim(conditions, _parts(rule.concerned), read, _parts(*own), goal)
            except _Split as split:
                todo += [(*decided, c) for c in reversed(split.options)]
                continue
            count += 1
            if found is not None:
                out.append((kind, decided, *found))
    return out


class _Reading:
    """Simplifies a claim in one case: removes selections, and conditions that its facts decide."""

    def __init__(
        self, domain: Sequence[Condition], decided: tuple[Condition, ...], known: Known, options: _Options
    ) -> None:
        self.given = [*_parts(*decided), *domain]
        self.known = known
        self.options = options
        self._memo: dict[Expr, Expr] = {}
        known.assume(domain)
        known.assume(decided)

    def claim(
        self,
        conditions: Sequence[Condition],
        concerned: Sequence[Condition],
        read: Sequence[Expr],
        own: Sequence[Condition],
        goal: Condition,
    ) -> tuple[tuple[Condition, ...], Condition] | None:
        """Return hypotheses and goal, or ``None`` if the case is trivially true.  Raises :class:`_Split` to split it."""
        # conditions without selections come first, since they may decide the conditions of later ones
        for h in (h for hs in (conditions, concerned, own) for h in sorted(hs, key=is_involved)):
            c = self._condition(h)
            if c is FALSE:
                return None
            if c is TRUE:
                continue
            self.given.append(c)
            self.known.assume((c,))
        for e in read:
            self._expr(e)
        goal = self._condition(goal)
        if goal is TRUE or FALSE in self.given:
            return None
        found = [*dict.fromkeys(self.given), goal]
        if self.options.total:
            found = self._total(found)
        return tuple(h for h in found[:-1] if h is not TRUE), found[-1]

    def _split(self, *options: Condition) -> NoReturn:
        raise _Split(*(c for c in options if self.known.truth(c) is not False))

    # -- conditions
    def _condition(self, c: Condition) -> Condition:
        """Simplify a condition in this case."""
        match c:
            case And(args):
                return all_of(map(self._condition, args))
            case Or(args):
                return any_of(map(self._condition, args))
            case Not(arg):
                return negate(self._condition(arg))
            case Compare(op, a, b):
                a, b = self._expr(a), self._expr(b)
                zero = _vanishes(a, b) if op in ("==", "!=") else None
                c = compare(op, a, b) if zero is None else zero if op == "==" else negate(zero)
            case Within(e, lo, hi):
                c = within(self._expr(e), self._expr(lo), self._expr(hi))
            case Divides(d, e):
                c = divides(self._expr(d), self._expr(e))
        truth = self.known.truth(c)
        return c if truth is None else TRUE if truth else FALSE

    def _chosen(self, e: Selection) -> Expr:
        """Return the side that a selection takes in this case."""
        c = self._condition(e.c)
        truth = self.known.truth(c)
        if truth is not None:
            return e.a if truth else e.b
        match c:
            case Compare("<=", Int(value=0), x) if _is_odd(e):
                if self.known.at_most(x, 0):
                    return e.b
                factors, total = _factors(x)
                for f in factors:  # both sides agree at zero, so it may have either sign
                    if not self.known.at_least(f, 0):
                        if not self.known.at_most(f, 0):
                            self._split(f >= 0, f < 0)
                        total = -total
                return e.a if total > 0 else e.b
            case Compare("<", Int(value=0), x) | Compare("<", x, Int(value=0)):
                factors, total = _factors(x)
                signs = [self._sign(f) for f in factors]
                if None not in signs:
                    total *= math.prod(s or 0 for s in signs)
                    return e.a if (total > 0 if c.b is x else total < 0) else e.b
                for f in factors:
                    if self._sign(f) is None:
                        self._split(f > 0, f < 0, f.eq(0))
        self._split(c, negate(c))

    def _sign(self, e: Expr) -> int | None:
        """Return the sign of an expression in this case, or ``None`` if it is unknown."""
        return next((s for s, c in ((1, e > 0), (-1, e < 0), (0, e.eq(0))) if self.known.truth(c)), None)

    # -- expressions
    def _expr(self, root: Expr) -> Expr:
        """Simplify an expression in this case; only the chosen side of a selection is visited."""
        memo = self._memo
        todo = [root]
        while todo:
            e = todo[-1]
            if e in memo:
                todo.pop()
                continue
            wanted: Sequence[Expr] = e.children
            chosen = None
            if isinstance(e, Selection):
                wanted = e.inside
                if isinstance(e.a, (FloorDiv, Mod)) and _is_odd(e):
                    wanted = (e.a.b, *e.inside)  # decide the sign of the divisor first
                if all(x in memo for x in wanted):
                    chosen = self._chosen(e)
                    wanted = (chosen,)
            missing = [x for x in wanted if x not in memo]
            if missing:
                todo += reversed(missing)
                continue
            todo.pop()
            if chosen is not None:
                memo[e] = memo[chosen]
                continue
            kids = [memo[x] for x in wanted]
            made = e if all(a is b for a, b in zip(wanted, kids, strict=True)) else rebuild(e, kids)
            memo[e] = self._plain(made)
        return memo[root]

    def _plain(self, e: Expr) -> Expr:
        """Replace a wrapped integer by its value if its range is known; note the signs of quotients and remainders."""
        known, modulus = self.known, self.options.modulus
        if isinstance(e, Mod) and modulus and isinstance(e.b, Int) and e.b.value == modulus:
            for k in (0, 1, -1) if self.options.apart else (0,):
                turned = e.a + k * modulus
                if known.at_least(turned, 0) and known.at_most(turned, modulus - 1):
                    return turned
            if self.options.apart and known.at_least(e.a, -modulus) and known.at_most(e.a, 2 * modulus - 1):
                self._split(e.a.within(0, modulus - 1), e.a >= modulus, e.a < 0)
        elif isinstance(e, Mod) and known.at_least(e.b, 1):
            known.note((e >= 0, e < e.b))
        elif isinstance(e, FloorDiv) and known.at_least(e.b, 1):
            if known.at_least(e.a, 0):
                known.note((e >= 0,))
            elif known.at_most(e.a, -1):
                known.note((e < 0,))
        return e

    def _total(self, conditions: Sequence[Condition]) -> list[Condition]:
        """Replace divisors by ``max(b, 1)`` or ``min(b, -1)``, which are never zero and equal them in this case."""
        done: dict[Expr, Expr] = {}
        roots = list(dict.fromkeys(e for c in conditions for e in all_exprs(c)))
        for e in postorder(*roots):
            kids = [done[k] for k in e.children]
            if isinstance(e, Binary) and not isinstance(e.b, Int):
                if self.known.at_least(e.b, 1):
                    kids[1] = maximum(kids[1], 1)
                elif self.known.at_most(e.b, -1):
                    kids[1] = minimum(kids[1], -1)
                else:
                    self._split(e.b > 0, e.b <= 0)
            done[e] = rebuild(e, kids)
        return substitute_conditions(conditions, {e: done[e] for e in roots})


def _parts(*conditions: Condition) -> list[Condition]:
    return [c for h in conditions for c in parts_of(h)]


def is_involved(c: Condition) -> bool:
    """Return whether a condition has divisions or selections."""
    return any(isinstance(e, (Binary, Selection)) for e in postorder(*all_exprs(c)))


def _factors(e: Expr) -> tuple[tuple[Expr, ...], int]:
    """Return the factors of a product, and the sign of its coefficient."""
    term, k = unscaled(e)
    return (term.factors if isinstance(term, Mul) else (term,)), 1 if k > 0 else -1


def _is_odd(e: Selection) -> bool:
    """Return whether the sides of a selection by the sign of x agree at ``x = 0``.

    They are ``x`` and ``-x``, or a quotient or remainder of ``|x|`` and its negation, from division rounding to zero.
    """
    if e.b is not -e.a or not isinstance(e.c, Compare):
        return False
    x = e.a.a if isinstance(e.a, (FloorDiv, Mod)) else e.a
    return x in (e.c.b, select(e.c, e.c.b, -e.c.b))


def _vanishes(a: Expr, b: Expr) -> Condition | None:
    """Return ``e % d = 0`` as the divisibility ``d ∣ e``, which proofs can use better; ``None`` for other equations."""
    for e, zero in ((a, b), (b, a)):
        term, _ = unscaled(e)
        if isinstance(zero, Int) and not zero.value and isinstance(term, Mod):
            return divides(term.b, term.a)
    return None
