"""Relations between maps with ranges: expressions for the ranges of one map in those of the other.

That every pair of one map is a pair of another one says that *there are* values for the ranges of the other.  Where both
are spellings of one map these values have a simple form: ``s`` was split into ``8·a + b``, reversed, moved or joined with
another one.  What is divided survives such rewriting, so a dividend with unknowns is taken to be equal to one without.
The linear equations that result are eliminated, and what is left of them solved digit by digit (``a = s // 8``,
``b = s mod 8``).  Whether such a guess is right is a question without unknowns.

Guesses are compared at sample points first.  Where all are wrong no values need exist, and that is a question about the
unknowns alone.
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
#: Operations of isl for one question about the unknowns at a point, and so many points in a round.
BUDGET = 2_000
_POINTS = 12
#: Resource units of z3 for such a question that isl leaves open, a multiple of the operations.
_UNITS = 10
_UNANSWERED = 3
#: So many values of unknowns are tried one by one.
_TRIED = 20_000
#: So many guesses are made for an option, from so many choices of equations, and so many are taken together.
_GUESSES = 24
_CHOICES = 96
_TOGETHER = 4
#: Sums with unknowns that are considered, and what each may be equal to.
_SUMS = 8
_EQUATIONS = 3
_DRAWN = 4096
_MOST_DRAWN = 1 << 17
_SMALL = 1024
#: Where all guesses are wrong at one of so many points, drawn and small, no more are drawn.
_FIRST_DRAWN = 256
_FIRST_SMALL = 64


# ------------------------------------------------------------------------------------------------------ guesses
class _Sums(LinearAlgebra):
    """An algebra of linear forms that collects what is divided or compared."""

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
        """Keep a sum, and how it is found again."""
        key = frozenset(f.items())
        self.sums.setdefault(key, f)
        return key

    def variable(self, v: Var) -> Form:
        f = self.variables[v] = self._atom(v, self.box[v])
        return f

    def quotient(self, a: Form, c: int) -> Form:
        self.note(a)
        # multiples of variables stay where they are: sums are to be recognised
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
    """The variable that an unknown is named after, or else a number in its box."""
    return next((x for x in own if v.name.rstrip("'") == x.name), integer(smallest(i)))


#: ``Σ coefficient·unknown = value``, both as forms over atoms.
_Equation = tuple[Form, Form]


def guesses(problem: Problem, option: Option) -> list[tuple[Expr, ...]]:
    """Expressions for the unknowns of an option, in the order of their promise."""
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
    """Which equation of each sum to take, the first ones first; a number that there is not stands for none."""
    for total in range(sum(counts) + 1):
        ways = itertools.product(*(range(min(n, total) + 1) for n in counts))
        yield from (way for way in ways if sum(way) == total)


def _equations(
    sums: _Sums, exact: Sequence[Form], box: Mapping[int, Interval], known: Mapping[int, Interval]
) -> list[list[_Equation]]:
    """For every sum of unknowns the values that it may have, the most promising first."""
    of_both = [f for f in sums.sums.values() if any(m in box for m in f)]
    without = [f for f in sums.sums.values() if not any(m in box for m in f)]
    # variables that do not stand beside unknowns are those that unknowns are values of
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
            # beside a quotient there may be anything
            offer(inner, plus(theirs, outer, -1), 4 * (not pure) + 4 * (not alike))
    out = []
    for key, values in found.items():
        best = sorted(values.items(), key=lambda item: (item[1], item[0]))[:_EQUATIONS]
        # worse than the best by a variable that has nothing to do with it is no alternative
        out.append((best[0][1], [(dict(key), dict(value)) for value, cost in best if cost < best[0][1] + 6]))
    out.sort(key=lambda item: (item[0], len(item[1][0][0])))
    return [es for _, es in out[:_SUMS]]


def _parts(f: Form, box: Mapping[int, Interval], known: Mapping[int, Interval]) -> tuple[Form, Form, bool]:
    """The terms of unknowns, of variables with the constant, and whether that is all."""
    inner = {m: k for m, k in f.items() if m in box}
    outer = {m: k for m, k in f.items() if m in known or not m}
    return inner, outer, len(inner) + len(outer) == len(f)


def _eliminated(equations: Iterable[_Equation]) -> list[_Equation]:
    """The same equations, as far as they do not contradict each other, with few unknowns in each."""
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
    """``f = value`` less as much of ``g = other`` as takes the pivot out, in lowest terms."""
    a, b = f.get(pivot, 0), g.get(pivot, 0)
    if a and b:
        f, value = plus(scaled(f, b), g, -a), plus(scaled(value, b), other, -a)
    whole = math.gcd(*f.values(), *value.values()) if f else 1
    return {m: k // whole for m, k in f.items()}, {m: k // whole for m, k in value.items()}


def _digits(equations: Sequence[_Equation], box: Mapping[int, Interval], of: Mapping[int, Var]) -> dict[int, Expr]:
    """Solve equations one after the other, each for the unknowns that are still open, as digits of its value.

    The largest coefficient first; none but the last takes more than there is.
    """
    values: dict[int, Expr] = {}
    for inner, value in sorted(equations, key=lambda e: len(e[0])):
        rest: Expr = linear(value.get(0, 0), [(of[m], k) for m, k in value.items() if m])
        rest = rest - linear(0, [(values[m], k) for m, k in inner.items() if m in values])
        left = sorted(((m, k) for m, k in inner.items() if m not in values), key=lambda t: (-abs(t[1]), t[0]))
        if any(is_infinite(x) for m, _ in left for x in box[m]):
            continue
        # every unknown counted from the end from which its term grows
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
    """Columns of points that satisfy the facts: up to so many of the smallest points, and so many random ones.

    The columns hold ``int64`` where nothing can leave it, otherwise Python integers.
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
    """``holds`` where a few guesses together are right everywhere, ``fails`` where nothing is right at some point."""
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
        # a guess that was made before the problem was simplified may use what has no part in it now
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
    # nothing seems to be wrong: perhaps a single guess is right, or a few in turn
    smaller = replace(problem, options=tuple(_together(candidates, wrong)))
    if _shown(smaller, budget):
        return HOLDS
    return Outcome("open", note="out of budget: no guess is wrong")


def _compared(
    problem: Problem, options: Sequence[Option], small: int, count: int
) -> tuple[dict[Expr, Any], list[tuple[Option, Any]], Any]:
    """Points that satisfy the facts, at which of them each option is right, and at which none is."""
    columns = _sampled(problem, small, count)
    wrong = np.ones(len(next(iter(columns.values()))) if columns else 1, dtype=bool)
    candidates = [(o, satisfied(o.facts, columns)) for o in options]
    for _, right in candidates:
        wrong &= ~right
    return columns, candidates, wrong


def _together(candidates: Sequence[tuple[Option, Any]], wrong: Any) -> list[Option]:
    """As few options as possible of which one is right wherever any is: each time the one that is right most often."""
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
    """Whether a problem without unknowns holds."""
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
    """The smallest of some points at which there are no values for the unknowns; and whether more are worth trying."""
    rows = sorted(
        np.flatnonzero(wrong).tolist(),
        key=lambda k: counterexample_order(tuple(int(columns[v][k]) for v, _ in problem.variables)),
    )
    count = _POINTS * budget // BUDGET
    # the smallest points, and some of the others: half of each
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
            # where no solver answers a few times none will, and their units are slow with large numbers
            return None, False
    return None, True


def _impossible(option: Option, at: Mapping[Var, int], budget: int, asked: dict[Problem, bool | None]) -> bool | None:
    """Whether no values of the unknowns satisfy an option at a point; None where that is not known.

    What is ``asked`` is not asked again: points that differ in what does not matter are the same question.
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
