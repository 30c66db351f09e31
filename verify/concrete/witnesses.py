"""Decides relations between maps with ranges by guessing the ranges of one map as expressions in those of the other.

Inclusion of one map in another states that *there are* values for the ranges of the other.  If both are forms of one map,
these values have a simple form: ``s`` was split into ``8·a + b``, reversed, shifted or merged.  Dividends
usually survive such rewriting, so a dividend with unknowns is equated with one without.  The resulting linear equations
are solved by elimination, then digit by digit (``a = s // 8``, ``b = s mod 8``).  Whether a guess is right is a question
without unknowns.

Guesses are first tested at sample points.  At a point where all are wrong there may be no values at all, which is a
question about the unknowns alone.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ...core.expr import Expr, Var, integer, interpret, lift, linear, minimum
from ...core.interval import Interval, is_infinite
from . import enumerate as enumeration
from . import normal_form, sat_sweeping
from .enumerate import drawn, satisfied, simplex
from .forms import Form, LinearAlgebra, NotQuasiAffine, add, add_term, constant, plus, scaled
from .problem import HOLDS, Option, Outcome, Point, Problem, counterexample_order, smallest, substituted

NAME = "witnesses"
#: Limit on the isl operations of one question about the unknowns at a point, and on the points in a round.
BUDGET = 2_000
_POINTS = 12
#: Resource units of z3 for each isl operation, for a question that isl leaves open; and the limit on unanswered points.
_UNITS = 10
_UNANSWERED = 3
#: Limit on the values of unknowns that are enumerated.
_TRIED = 20_000
#: Limits on the guesses for an option, on the choices of equations for them, and on the guesses combined in one claim.
_GUESSES = 24
_CHOICES = 96
_TOGETHER = 4
#: Limits on the sums with unknowns, and on the values that each is equated with.
_SUMS = 8
_EQUATIONS = 3
_DRAWN = 4096
_MOST_DRAWN = 1 << 17
_SMALL = 1024
#: Numbers of random and small points of the first test; more are drawn only if it refutes nothing.
_FIRST_DRAWN = 256
_FIRST_SMALL = 64


# ------------------------------------------------------------------------------------------------------ guesses
class _Sums(LinearAlgebra):
    """An algebra of linear forms that collects dividends and the arguments of minima."""

    def __init__(self, box: Mapping[Var, Interval]) -> None:
        super().__init__()
        self.box = box
        self.named: dict[object, Form] = {}
        self.sums: dict[frozenset[tuple[int, int]], Form] = {}

    def _atom(self, content: object, within: Interval) -> Form:
        if content not in self.named:
            self.named[content] = {self.new_atom(*within): 1}
        return self.named[content]

    def note(self, f: Form) -> frozenset[tuple[int, int]]:
        """Record a sum, and return its key."""
        key = frozenset(f.items())
        self.sums.setdefault(key, f)
        return key

    def variable(self, v: Var) -> Form:
        f = self.variables[v] = self._atom(v, self.box[v])
        return f

    def quotient(self, a: Form, c: int) -> Form:
        self.note(a)
        # multiples of variables stay inside the quotient, so that sums can be recognised
        out = constant(a.get(0, 0) // c)
        g = math.gcd(c, *(k for m, k in a.items() if m))
        rest, d = {m: (k if m else k % c) // g for m, k in a.items()}, c // g
        if not rest.get(0, 1):
            del rest[0]
        if d == 1:
            return plus(out, rest, 1)
        lo, hi = self.bounds(rest)
        low, high = (x if is_infinite(x) else x // d for x in (lo, hi))
        if low == high:
            add_term(out, 0, int(low))
        else:
            add(out, self._atom((frozenset(rest.items()), d), Interval(low, high)), 1)
        return out

    def minimum(self, args: list[Form]) -> Form:
        kept = self.least(args)
        if len(kept) == 1:
            return kept[0]
        ranges = [self.bounds(f) for f in kept]
        within = Interval(min(i.lo for i in ranges), min(i.hi for i in ranges))
        return self._atom(frozenset(self.note(f) for f in kept), within)


def _like(v: Var, i: Interval, own: Mapping[Var, Interval]) -> Expr:
    """Return the variable that an unknown is named after, or else the smallest number in its box."""
    return next((x for x in own if v.name.rstrip("'") == x.name), integer(smallest(i)))


#: ``Σ coefficient·unknown = value``, both as forms over atoms.
_Equation = tuple[Form, Form]


def guesses(problem: Problem, option: Option) -> list[tuple[Expr, ...]]:
    """Return candidate expressions for the unknowns of an option, the most promising first."""
    own = dict(problem.variables)
    found: dict[tuple[Expr, ...], None] = dict.fromkeys(option.guesses)
    try:
        sums = _Sums(dict([*problem.variables, *option.unknowns]))
        facts = interpret([f.expr for f in option.facts], sums)
        for f in interpret([f.expr for f in problem.where], sums):
            sums.note(f)
        for f, g in zip(facts, option.facts, strict=True):
            if g.within.lo != g.within.hi:
                sums.note(f)
    except NotQuasiAffine:
        found.setdefault(tuple(_like(v, i, own) for v, i in option.unknowns))
        return list(found)
    atom = {v: next(iter(f)) for v, f in sums.variables.items()}
    of = {m: v for v, m in atom.items()}
    box = {atom[v]: i for v, i in option.unknowns if v in atom}
    known = {atom[v]: i for v, i in problem.variables if v in atom}
    exact = [
        plus(f, constant(int(g.within.lo)), -1)
        for f, g in zip(facts, option.facts, strict=True)
        if g.within.lo == g.within.hi
    ]
    todo = _equations(sums, exact, box, known)
    for choice in itertools.islice(_ways([len(es) for es in todo]), _CHOICES):
        rows = _eliminated([es[k] for es, k in zip(todo, choice, strict=True) if k < len(es)])
        values = _digits(rows, box, of)
        guess = [values[m] if (m := atom.get(v)) in values else _like(v, i, own) for v, i in option.unknowns]
        found.setdefault(tuple(guess))
        if len(found) >= _GUESSES:
            break
    return list(found)


def _ways(counts: Sequence[int]) -> Iterator[tuple[int, ...]]:
    """Yield the choices of one equation for each sum, the first ones first; the number ``count`` means none."""
    for total in range(sum(counts) + 1):
        ways = itertools.product(*(range(min(n, total) + 1) for n in counts))
        yield from (way for way in ways if sum(way) == total)


def _equations(
    sums: _Sums, exact: Sequence[Form], box: Mapping[int, Interval], known: Mapping[int, Interval]
) -> list[list[_Equation]]:
    """Return for every sum of unknowns the equations with values that it may have, the most promising first."""
    of_both = [f for f in sums.sums.values() if any(m in box for m in f)]
    without = [f for f in sums.sums.values() if not any(m in box for m in f)]
    # variables that never occur in a sum with unknowns are the likely values of unknowns
    shared = {m for f in of_both for m in f if m in known}
    found: dict[tuple[tuple[int, int], ...], dict[tuple[tuple[int, int], ...], int]] = {}

    def offer(inner: Form, value: Form, cost: int) -> None:
        first = inner[min(inner)]
        g = math.gcd(*inner.values()) * (1 if first > 0 else -1)
        if any(k % g for m, k in value.items() if m):
            return
        value = {m: k // g for m, k in value.items() if k // g}
        key = tuple(sorted((m, k // g) for m, k in inner.items()))
        cost += 8 * sum(m in shared for m in value if m) + len(value)
        values, at = found.setdefault(key, {}), tuple(sorted(value.items()))
        values[at] = min(values.get(at, cost), cost)

    for f in exact:
        inner, outer, linear_ = _parts(f, box, known)
        if inner:
            offer(inner, scaled(outer, -1), -16 if linear_ else 4)
    for f in of_both:
        inner, outer, pure = _parts(f, box, known)
        if not inner:
            continue
        for other in without:
            _, theirs, alike = _parts(other, box, known)
            # sums with quotients cost more: their other terms are ignored
            offer(inner, plus(theirs, outer, -1), 4 * (not pure) + 4 * (not alike))
    out = []
    for key, values in found.items():
        best = sorted(values.items(), key=lambda item: (item[1], item[0]))[:_EQUATIONS]
        # drop alternatives that cost an extra shared variable
        out.append((best[0][1], [(dict(key), dict(value)) for value, cost in best if cost < best[0][1] + 6]))
    out.sort(key=lambda item: (item[0], len(item[1][0][0])))
    return [es for _, es in out[:_SUMS]]


def _parts(f: Form, box: Mapping[int, Interval], known: Mapping[int, Interval]) -> tuple[Form, Form, bool]:
    """Return the terms of unknowns, those of variables with the constant, and whether these are all terms."""
    inner = {m: k for m, k in f.items() if m in box}
    outer = {m: k for m, k in f.items() if m in known or not m}
    return inner, outer, len(inner) + len(outer) == len(f)


def _eliminated(equations: Iterable[_Equation]) -> list[_Equation]:
    """Eliminate unknowns from the equations; an equation without unknowns left is dropped, even if it is false."""
    rows: list[tuple[int, Form, Form]] = []
    for inner, value in equations:
        for pivot, one, other in rows:
            inner, value = _without(pivot, inner, value, one, other)
        if not inner:
            continue
        pivot = max(inner, key=lambda m: (abs(inner[m]), -m))
        rows = [
            (p, *_without(pivot, one, other, inner, value)) if pivot in one else (p, one, other)
            for p, one, other in rows
        ]
        rows.append((pivot, inner, value))
    return [(one, other) for _, one, other in rows]


def _without(pivot: int, f: Form, value: Form, g: Form, other: Form) -> _Equation:
    """Eliminate the pivot from ``f = value`` with ``g = other``, and divide by the common divisor."""
    a, b = f.get(pivot, 0), g.get(pivot, 0)
    if a and b:
        f, value = plus(scaled(f, b), g, -a), plus(scaled(value, b), other, -a)
    whole = math.gcd(*f.values(), *value.values()) if f else 1
    return {m: k // whole for m, k in f.items()}, {m: k // whole for m, k in value.items()}


def _digits(equations: Sequence[_Equation], box: Mapping[int, Interval], of: Mapping[int, Var]) -> dict[int, Expr]:
    """Solve equations one after the other, each for its remaining unknowns, as digits of its value.

    Unknowns with larger coefficients come first; all digits but the last are capped at the size of their box.
    """
    values: dict[int, Expr] = {}
    for inner, value in sorted(equations, key=lambda e: len(e[0])):
        rest: Expr = linear(value.get(0, 0), [(of[m], k) for m, k in value.items() if m])
        rest = rest - linear(0, [(values[m], k) for m, k in inner.items() if m in values])
        left = sorted(((m, k) for m, k in inner.items() if m not in values), key=lambda t: (-abs(t[1]), t[0]))
        if any(is_infinite(x) for m, _ in left for x in box[m]):
            continue
        # count every unknown from the end of its box at which its term is least
        for m, k in left:
            rest = rest - k * int(box[m].lo if k > 0 else box[m].hi)
        for n, (m, k) in enumerate(left):
            digit = rest if abs(k) == 1 else rest // abs(k)
            if n < len(left) - 1:
                digit = minimum(digit, int(box[m].hi - box[m].lo))
            rest = rest - digit * abs(k)
            values[m] = lift(digit + int(box[m].lo) if k > 0 else int(box[m].hi) - digit)
    return values


# ------------------------------------------------------------------------------------------------------- points
def _sampled(problem: Problem, small: int, count: int) -> dict[Expr, Any]:
    """Return columns of points that satisfy the facts, from ``small`` smallest points and ``count`` random ones.

    The columns hold ``int64`` if all bounds are below 2**40, otherwise Python integers.
    """
    box = problem.variables
    dtype: type = np.int64 if all(abs(x) < 2**40 for _, i in box for x in i) else object
    near = simplex([i for _, i in box], small) if box else []
    columns: dict[Expr, Any] = {
        v: np.concatenate([drawn(i, count, k + 41, dtype), near[k].astype(dtype)]) for k, (v, i) in enumerate(box)
    }
    keep = satisfied(problem.where, columns)
    return {v: c[keep] for v, c in columns.items()}


# ------------------------------------------------------------------------------------------------------- engine
def decide(problem: Problem, budget: int = BUDGET) -> Outcome:
    """Return ``holds`` if a few guesses together are right everywhere, ``fails`` if some point has no values at all."""
    boxes = [*problem.variables, *(u for o in problem.options for u in o.unknowns)]
    if not any(o.unknowns for o in problem.options) or any(is_infinite(x) for _, i in boxes for x in i):
        return Outcome("open", note="not tried")
    if any(i.empty for _, i in boxes):
        return Outcome("open", note="not tried")
    try:
        return _decided(problem, budget)
    except ZeroDivisionError:
        return Outcome("open", note="a divisor can be zero")


def _decided(problem: Problem, budget: int) -> Outcome:
    guessed = [
        g
        for o in problem.options
        for g in (replace(o, guesses=tuple(guesses(problem, o))).guessed() if o.unknowns else [o])
        # drop guesses made before simplification that mention eliminated variables
        if g.variables() <= {v for v, _ in problem.variables}
    ]
    columns, candidates, wrong = _compared(problem, guessed, _FIRST_SMALL, _FIRST_DRAWN)
    found, answered = _refuted(problem, columns, wrong, budget)
    if answered and found is None:
        most = min(_DRAWN * (budget // BUDGET), _MOST_DRAWN)
        columns, candidates, wrong = _compared(problem, guessed, _SMALL, most)
        found, _ = _refuted(problem, columns, wrong, budget)
    if found is not None:
        return Outcome("fails", found, minimal=False, note="not minimised")
    if not candidates or wrong.any():
        return Outcome("open", note="out of budget: guesses are wrong, but others may be right")
    # at every point some guess is right: try to prove that a few guesses together always are
    smaller = replace(problem, options=tuple(_together(candidates, wrong)))
    if _shown(smaller, budget):
        return HOLDS
    return Outcome("open", note="out of budget: no guess is wrong")


def _compared(
    problem: Problem, options: Sequence[Option], small: int, count: int
) -> tuple[dict[Expr, Any], list[tuple[Option, Any]], Any]:
    """Return points that satisfy the facts, a mask of those at which each option holds, and of those at which none does."""
    columns = _sampled(problem, small, count)
    wrong = np.ones(len(next(iter(columns.values()))) if columns else 1, dtype=bool)
    candidates = [(o, satisfied(o.facts, columns)) for o in options]
    for _, right in candidates:
        wrong &= ~right
    return columns, candidates, wrong


def _together(candidates: Sequence[tuple[Option, Any]], wrong: Any) -> list[Option]:
    """Choose few options that together hold wherever any does, greedily by the number of points."""
    left = ~wrong
    chosen: list[Option] = []
    while len(chosen) < _TOGETHER:
        option, right = max(candidates, key=lambda c: int((c[1] & left).sum()))
        if not (right & left).any() and chosen:
            break
        chosen.append(option)
        left = left & ~right
    return chosen


def _shown(problem: Problem, budget: int) -> bool:
    """Return whether a problem without unknowns is proved."""
    if normal_form.decide(problem).status == "holds":
        return True
    simple = problem.simplified()
    if simple is None:
        return True
    smaller, _ = simple
    if sat_sweeping.decide(smaller, budget * sat_sweeping.BUDGET // BUDGET).status == "holds":
        return True
    from . import isl

    return isl.decide(smaller, budget, minimise=False).status == "holds"


def _refuted(problem: Problem, columns: Mapping[Expr, Any], wrong: Any, budget: int) -> tuple[Point | None, bool]:
    """Return a point at which the unknowns have no values, if found, and whether trying more points may help."""
    rows = sorted(
        np.flatnonzero(wrong).tolist(),
        key=lambda k: counterexample_order(tuple(int(columns[v][k]) for v, _ in problem.variables)),
    )
    count = _POINTS * budget // BUDGET
    # half of the points are the smallest, half are spread over the others
    chosen = [*rows[: count // 2], *rows[count // 2 :: max(1, 2 * len(rows) // count)]]
    asked: dict[Problem, bool | None] = {}
    unanswered = 0
    for k in chosen[:count]:
        at = {v: int(columns[v][k]) for v, _ in problem.variables}
        found = [_impossible(o, at, budget, asked) for o in problem.options]
        if all(found):
            return tuple(at[v] for v, _ in problem.variables), True
        unanswered += None in found
        if unanswered == _UNANSWERED:
            # after a few unanswered points more are unlikely to be answered, and large numbers are slow
            return None, False
    return None, True


def _impossible(option: Option, at: Mapping[Var, int], budget: int, asked: dict[Problem, bool | None]) -> bool | None:
    """Return whether no values of the unknowns satisfy an option at a point, or ``None`` if unknown.

    ``asked`` is a cache: points that differ only in irrelevant variables give the same question.
    """
    try:
        facts = substituted(option.facts, at)
    except ZeroDivisionError:
        return False
    simple = Problem(option.unknowns, tuple(facts)).simplified()
    if simple is None:
        return True
    smaller, _ = simple
    if not smaller.where:
        return False
    if smaller not in asked:
        found = enumeration.decide(smaller, _TRIED)
        if found.status == "open":
            from . import isl

            found = isl.decide(smaller, budget, minimise=False)
        if found.status == "open":
            from . import smt

            found = smt.decide(smaller, budget * _UNITS // smaller.words, minimise=False)
        asked[smaller] = None if found.status == "open" else found.status == "holds"
    return asked[smaller]
