"""Instances of an overlap whose variables depend on each other, because they are expressions over the same variable.

Where a variable of a rule stands for a variable of its own, two expressions hardly ever have the same value everywhere, or
a sum that is a constant.  Written over one variable with a small box they do: ``a`` and ``2·(a // 2)`` differ by less than
two, ``max(a, 2 - a // 2)`` is 2 on ``[0, 2]``.  So variables become members of a list of such expressions, every choice
is evaluated at every point of the box, and those that satisfy the hypotheses are rewritten, smallest first.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np

from ...core.condition import FALSE, TRUE, Compare, Condition, condition_interpret
from ...core.expr import Expr, FloorDiv, Mod, Var, integer, interpret, maximum, minimum, postorder, var
from ...core.rewrite import Rule
from ..refute import _Masked
from .ground import Ground, Move, size
from .instances import ExpressionTrial, Instance, assignments, defined, shapes
from .overlap import Overlap
from .rewriting import Examined
from .unify import is_const, tidy

__all__ = ["REWRITTEN", "examine_dependent"]

_A, _B = var("a"), var("b")
#: The boxes of the variable that the others are expressions of, and of one more.
_DOMAINS = ((0, 2), (0, 3), (-1, 1))
_MORE = (0, 1)
#: Counts: assignments of constants; choices that are evaluated, and instances that are kept, of each assignment, form and
#: box; instances in all; variables; instances with different results that are rewritten; half of those looked at.
_ASSIGNED = 10
_CHOICES = 8_000
_KEPT = 48
_FOUND = 6_000
_NAMES = 6
REWRITTEN = 200
_LOOKED = 600


@cache
def _short() -> tuple[Expr, ...]:
    """What any variable may stand for, smallest first."""
    a, b = _A, _B
    halves = (a // 2, a % 2, (a + 1) // 2, (-a) // 2)
    found: list[Expr] = [integer(0), integer(1), a, b, -a, a + 1, 1 - a, 2 - a, a * 2, -b, b + 1, a + b]
    found += [a - 1, b - 1, a + 2, b + 2, -a - 1]
    for t in halves:
        found += [t, -t, t + 1, 1 - t, 2 - t]
    found += [a // 3, a % 3, a * 3, a - a // 2, b * 2, a // 2 * 2, a % 2 * 2, minimum(a, integer(1))]
    found += [maximum(a, integer(1)), a // 2 % 2, a // 2 + b, a % 2 + b]
    return tuple(sorted(dict.fromkeys(found), key=lambda e: (size(e), str(e))))


@cache
def _long() -> tuple[Expr, ...]:
    """What one variable may stand for where the others are short, smallest first."""
    a, b = _A, _B
    atoms = (a, a // 2, a % 2, (a + 1) // 2, (-a) // 2, a // 3, a % 3, a // 2 % 2, b)
    found: dict[Expr, None] = {}
    for t, u in itertools.combinations(atoms, 2):
        for k, j in itertools.product((1, -1, 2, -2, 3, -3), repeat=2):
            for c in (0, 1, 2):
                found[t * k + u * j + c] = None
    return tuple(sorted(found, key=lambda e: (size(e), str(e))))


@cache
def _hidden() -> tuple[Expr, ...]:
    """Sums part of which is nothing, which no rule sees inside a larger sum."""
    a, b = _A, _B
    found = [
        e + z * k
        for z in ((a + 1) // 2 + (-a) // 2, a - a // 2 - (a + 1) // 2)
        for k in (1, -1, 2, -2, 3, 5)
        for e in (a, b, b + 1, b * 2, b * 3, b * 4)
    ]
    return tuple(sorted(dict.fromkeys(found), key=lambda e: (size(e), str(e))))


class _Values:
    """The values of expressions at every point of a box."""

    def __init__(self, box: tuple[int, int]) -> None:
        grid = np.meshgrid(
            np.arange(box[0], box[1] + 1, dtype=np.int64),
            np.arange(_MORE[0], _MORE[1] + 1, dtype=np.int64),
            indexing="ij",
        )
        self.columns = {_A: grid[0].ravel(), _B: grid[1].ravel()}
        self.count = grid[0].size
        self._tables: dict[tuple[Expr, ...], Any] = {}

    def table(self, expressions: tuple[Expr, ...]) -> Any:
        """A row of values for every expression."""
        found = self._tables.get(expressions)
        if found is None:
            algebra = _Masked(self.columns, self.count)
            rows = [np.broadcast_to(interpret((e,), algebra)[0], (self.count,)) for e in expressions]
            found = self._tables[expressions] = np.stack(rows)
        return found


@cache
def _values(box: tuple[int, int]) -> _Values:
    return _Values(box)


def _choices(count: int) -> Iterator[tuple[tuple[Expr, ...], ...]]:
    """For each of ``count`` variables a list of expressions: every choice of one each is tried."""
    short, few, nothing = _short(), (integer(0), _B, _A), (integer(0),)
    if count <= 2:
        yield (short,) * count
    else:
        others = short[:5] if count == 3 else few if count == 4 else nothing
        for pair in itertools.combinations(range(count), 2):
            yield tuple(short if n in pair else others for n in range(count))
    others = few if count <= 3 else nothing
    for i in range(count if count <= 4 else 0):
        yield tuple(_long() if n == i else others for n in range(count))
        yield tuple(_hidden() if n == i else others for n in range(count))


@cache
def _sizes(of: tuple[Expr, ...]) -> Any:
    """How many symbols each of the expressions takes."""
    return np.array([size(e) for e in of])


@cache
def _indices(lists: tuple[tuple[Expr, ...], ...]) -> Any:
    """The numbers of the members in every choice, smallest first."""
    index = np.indices([len(of) for of in lists]).reshape(len(lists), -1)
    total = sum(_sizes(of)[i] for of, i in zip(lists, index, strict=True))
    return index[:, np.argsort(total, kind="stable")[:_CHOICES]]


def _satisfying(
    lists: tuple[tuple[Expr, ...], ...],
    names: Sequence[Var],
    start: Expr,
    facts: Sequence[Condition],
    box: tuple[int, int],
    limit: int,
) -> Iterator[tuple[Expr, ...]]:
    """Choices that satisfy what is known and do not make the whole a constant: the smallest, and some of the others."""
    index = _indices(lists)
    values = _values(box)
    count = index.shape[1]
    columns = {v: values.table(of)[i].ravel() for v, of, i in zip(names, lists, index, strict=True)}
    algebra = _Masked(columns, count * values.count)
    memo: dict[Expr, Any] = {}

    def value(e: Expr) -> Any:
        return interpret((e,), algebra, memo)[0]

    keep = np.ones(count, dtype=bool)
    for f in facts:
        keep &= _held(f, value, algebra, count)
        if not keep.any():
            return
    whole = np.broadcast_to(value(start), (count * values.count,)).reshape(count, -1)
    keep &= (whole != whole[:, :1]).any(axis=1)
    keep &= ~algebra.undefined.reshape(count, -1).any(axis=1)
    # where a variable is a number, less can go wrong
    varies = np.ones(count, dtype=bool)
    for v, of, i in zip(names, lists, index, strict=True):
        table = values.table(of)
        moves = (table != table[:, :1]).any(axis=1)
        varies &= moves[i] | (np.array([e is integer(0) for e in of])[i] & (v.kind == "rest"))
    good = [*np.flatnonzero(keep & varies)[: limit // 2], *np.flatnonzero(keep)[: limit // 4]]
    for part in (keep & varies, keep):
        rest = np.flatnonzero(part)
        good += [*rest[:: max(1, len(rest) // max(1, limit // 4))]]
    for n in list(dict.fromkeys(int(n) for n in good))[:limit]:
        yield tuple(of[i] for of, i in zip(lists, index[:, n], strict=True))


def _held(f: Condition, value: Any, algebra: _Masked, count: int) -> Any:
    """For every choice, whether a condition holds at every point."""
    known = set(algebra.columns)
    if set(f.variables()) <= known:
        truth = condition_interpret(f, value, algebra)
        return np.broadcast_to(truth, (algebra.undefined.size,)).reshape(count, -1).all(axis=1)
    if isinstance(f, Compare) and f.op == "==":
        for e, k in ((f.a, f.b), (f.b, f.a)):
            if isinstance(k, Var) and is_const(k) and k not in known and set(e.variables()) <= known:
                found = np.broadcast_to(value(e), (algebra.undefined.size,)).reshape(count, -1)
                return (found == found[:, :1]).all(axis=1)
    return np.ones(count, dtype=bool)


def _shifted(o: Overlap) -> Iterator[tuple[Mapping[Var, Expr], Mapping[Var, tuple[int, int]]]]:
    """Both arguments of an extremum with a constant, and no other variable."""
    for rule, mark in ((o.outer, ""), (o.inner, "′")):
        if rule.choose == "common_constant":
            x, y = var("x" + mark, "expr"), var("y" + mark, "expr")
            for k, j in ((1, 1), (1, 2), (-1, 1)):
                yield {x: x + k, y: y + j}, {}


def dependents(o: Overlap) -> list[Instance]:
    """Instances over one variable or two, smallest first."""
    start, spot, facts = defined(o)
    constants = [v for v in start.variables() if v.kind == "const"]
    known_first = [h for h in facts if set(h.variables()) <= set(constants)]
    divisors = {v for n in postorder(start) if isinstance(n, (FloorDiv, Mod)) for v in n.b.variables()}
    assigned = list(assignments(constants, known_first, divisors))
    # the smallest and the least special
    assigned = [*assigned[: _ASSIGNED // 2], *sorted(assigned, key=lambda s: s[1])[: _ASSIGNED // 2]]
    forms: list[tuple[tuple[str, ...], tuple[int, ...], Expr, Expr, list[Condition]]] = []
    for number, (numbers, special) in enumerate(dict.fromkeys((tuple(n.items()), s) for n, s in assigned)):
        try:
            here, there = start.substitute(dict(numbers)), spot.substitute(dict(numbers))
            known = [f.substitute(dict(numbers)) for f in facts]
            forms_of = (*shapes(o, here, there, dict(numbers)), *_shifted(o))
            for kind, (at, inside) in enumerate(forms_of):
                given = [f.substitute(at) for f in known] + [v.within(*b) for v, b in inside.items()]
                form = here.substitute(at), there.substitute(at), [f for f in given if f != TRUE]
                if FALSE not in given:
                    forms.append(((str(number), str(kind)), special, *form))
        except ZeroDivisionError:
            continue
    found: dict[tuple[Expr, Any], Instance] = {}
    for group, special, here, there, known in forms:
        names = [v for v in here.variables() if v.kind != "const"]
        if not names or len(names) > _NAMES:
            continue
        lists_of = list(_choices(len(names)))
        limit = min(_KEPT, max(12, _FOUND // (len(forms) * len(_DOMAINS) * len(lists_of))))
        for box, (tier, lists) in itertools.product(_DOMAINS, enumerate(lists_of)):
            few = limit // 4 if any(of is _hidden() for of in lists) else limit
            for chosen in _satisfying(lists, names, here, known, box, few):
                at = dict(zip(names, chosen, strict=True))
                try:
                    one, two = tidy(here.substitute(at)), tidy(there.substitute(at))
                except ZeroDivisionError:
                    continue
                boxes = tuple((v, b) for v, b in ((_A, box), (_B, _MORE)) if v in one.variables())
                found.setdefault((one, boxes), Instance(one, two, boxes, (*group, str(tier)), special))
    return sorted(found.values(), key=lambda i: i.rank)


def examine_dependent(
    o: Overlap, rules: Sequence[Rule], worlds: dict[Any, Ground], limit: int = REWRITTEN
) -> Examined[Instance, Move]:
    """Rewrite instances over one variable, the smallest ones and some of every kind, until one has two normal forms."""
    found = dependents(o)
    trial = ExpressionTrial(o, rules, worlds)
    groups: dict[tuple[Any, ...], list[Instance]] = {}
    for i in found:
        if trial.apart < limit * 2 // 3 and len(trial.seen) < _LOOKED:
            if trial.witness(i):
                return trial.examined()
        else:
            groups.setdefault((i.group, i.boxes), []).append(i)
    waiting = list(groups.values())
    while waiting and trial.apart < limit and len(trial.seen) < 2 * _LOOKED:
        for group in waiting:
            if trial.apart < limit and trial.witness(group.pop(0)):
                return trial.examined()
        waiting = [g for g in waiting if g]
    return trial.examined()
