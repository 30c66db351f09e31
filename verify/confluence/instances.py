"""Concrete instances of an overlap, smallest first, and those of them that have two normal forms."""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np

from ...core.condition import FALSE, TRUE, And, Compare, Condition, Divides, Or, Within
from ...core.expr import CeilDiv, Expr, FloorDiv, Int, Mod, Sum, Var, integer, mul, postorder, var
from ...core.rewrite import Rule
from ..refute import failing_points
from .ground import Ground, Move, point_count, size
from .overlap import Overlap
from .rewriting import LIMIT, Examined, Trial
from .unify import expanded, flat, is_const, is_share, tidy

__all__ = ["ExpressionTrial", "Instance", "examine", "instances"]

Boxes = Mapping[Var, tuple[int, int]]
_NAMES = tuple("abcdefgh")
_VALUES = (1, 2, 3, 4, -1, -2, 6, -3, 8, 5)
_SHARES = (0, 1, -1, 2)
_BOXES = ((0, 1), (0, 2), (0, 3), (0, 5), (-3, 3), (0, 7), (1, 1))
#: How many assignments of constants are tried with each shape of domain, and how many instances are rewritten.
_ASSIGNMENTS = 16
_INSTANCES = 16
#: How many different instances more are rewritten for each choice of rests that are absent.
_EACH = 4
_SCANNED = 300
#: So many assignments of some of the constants are carried on.
_GRID = 20_000
_POINTS = 600
#: How many domains are remembered with everything that was rewritten on them.
_WORLDS = 200
#: A domain on which so much was rewritten is begun anew.
_REMEMBERED = 60_000


@dataclass(frozen=True)
class Instance:
    """An expression on a domain; ``spot`` is what the inner rule rewrites."""

    start: Expr
    spot: Expr
    boxes: tuple[tuple[Var, tuple[int, int]], ...]
    #: which rests of sums are absent
    group: tuple[str, ...] = ()
    #: how special its constants are: units as divisors, negative ones, the same ones
    special: tuple[int, ...] = ()

    @property
    def rank(self) -> tuple[int, int, int, str]:
        """Smaller expressions first, then smaller constants, then smaller domains."""
        constants = sum(abs(n) for n in _literals(self.start)) + sum(
            abs(lo) + abs(hi) for _, (lo, hi) in self.boxes
        )
        return size(self.start), constants, point_count(dict(self.boxes)), f"{self.start} {self.boxes}"


def _definition(c: Condition) -> tuple[Var, Expr] | None:
    """A variable that an equation gives; a constant only by constants."""
    if not isinstance(c, Compare) or c.op != "==":
        return None
    if is_const(c.a) != is_const(c.b) and (isinstance(c.a, Var) or isinstance(c.b, Var)):
        return None  # a value that is known: a matter of the domain
    f = flat(c.a - c.b)
    total = f.expr()
    for k, v in f.items:
        if isinstance(v, Var) and isinstance(k, Int) and abs(k.value) == 1:
            value = expanded((v - mul(k, total)) if k.value == 1 else (v + total))
            if v not in value.variables():
                return v, value
    if not f.items:
        for t, j in total.terms if isinstance(total, Sum) else ():
            if isinstance(t, Var) and abs(j) == 1:
                value = expanded(t - total if j == 1 else t + total)
                if t not in value.variables():
                    return t, value
    return None


@lru_cache(maxsize=8192)
def _literals(e: Expr) -> tuple[int, ...]:
    out: list[int] = []
    for n in postorder(e):
        if isinstance(n, Int):
            out.append(n.value)
        elif isinstance(n, Sum):
            out.extend([n.const, *(k for _, k in n.terms)])
    return tuple(out)


def defined(o: Overlap) -> tuple[Expr, Expr, list[Condition]]:
    """The expression, what the inner rule rewrites, and the hypotheses, without variables that an equation gives."""
    facts = [h for h in o.hypotheses if h != FALSE]
    start, spot = o.start, o.spot
    while (d := next((d for h in facts if (d := _definition(h)) is not None), None)) is not None:
        v, e = d
        start, spot = start.substitute({v: e}), spot.substitute({v: e})
        facts = [made for h in facts if (made := h.substitute({v: e})) != TRUE]
    return start, spot, facts


def instances(o: Overlap) -> list[Instance]:
    """Instances of the overlap, smallest first."""
    start, spot, facts = defined(o)
    found: dict[tuple[Expr, Any], Instance] = {}
    for number, (form, inside, given) in enumerate(_parametrized(start, spot, facts)):
        for absent in _absences(form):
            nothing: dict[Var, Expr] = {v: integer(0) for v in absent}
            try:
                here, there = tidy(form.substitute(nothing)), tidy(inside.substitute(nothing))
                known = [h for c in given if (h := c.substitute(nothing)) != TRUE]
            except ZeroDivisionError:
                continue
            for i in _numbered(o, here, there, known):
                found.setdefault(
                    (i.start, i.boxes), replace(i, group=(str(number), *(v.name for v in absent)))
                )
    return sorted(found.values(), key=lambda i: i.rank)


def _parametrized(
    start: Expr, spot: Expr, facts: Sequence[Condition]
) -> Iterator[tuple[Expr, Expr, Sequence[Condition]]]:
    """The overlap as it is, and with variables written so that conditions on them hold."""
    yield start, spot, facts
    todo = [list(facts)]
    while (k := next((k for k, c in enumerate(todo[0]) if isinstance(c, (Or, And))), None)) is not None:
        given = todo.pop(0)
        c = given.pop(k)
        if isinstance(c, And):
            todo.append([*given, *c.parts()])
        else:
            todo += [[*given, part] for part in c.parts()]
    for given in todo:
        here, there, known = start, spot, list(given)
        for n in range(len(known)):
            if (v := _written(known[n])) is None:
                continue
            x, e, extra = v
            try:
                here, there = here.substitute({x: e}), there.substitute({x: e})
                known = [h.substitute({x: e}) for h in known]
            except ZeroDivisionError:
                break
            known += extra
        if here is not start:
            yield tidy(here), tidy(there), [h for h in known if h != TRUE]


def _written(c: Condition) -> tuple[Var, Expr, list[Condition]] | None:
    """A variable, a form of it with which ``c`` holds, and what must hold of the new variable in it."""
    d: Expr
    match c:
        case Within(e, lo, hi):
            made = _solved(e)
            return (
                None
                if made is None or e is made[0]
                else (made[0], made[2] + made[1], [made[2].within(lo, hi)])
            )
        case Divides(d, e):
            made = _solved(e)
            return None if made is None else (made[0], made[2] * d + made[1], [])
        case Compare("==", Mod(a=e, b=d), m) | Compare("==", m, Mod(a=e, b=d)) if is_const(m):
            made = _solved(e)
            return None if made is None else (made[0], made[2] * d + m + made[1], [])
        case Compare("==", FloorDiv(a=e, b=d), m) | Compare("==", m, FloorDiv(a=e, b=d)) if is_const(m):
            made = _solved(e)
            inside = made[2].within(0, d - 1) if made is not None else FALSE
            return None if made is None else (made[0], made[2] + m * d + made[1], [inside])
    return None


def _solved(e: Expr) -> tuple[Var, Expr, Var] | None:
    """``e = y`` as ``v = y + rest`` for a new variable ``y``."""
    for k, v in flat(e).items:
        if isinstance(v, Var) and k is integer(1) and v not in (e - v).variables():
            return v, expanded(v - e), var(v.name + "~", "expr")
    return None


def _absences(e: Expr) -> list[tuple[Var, ...]]:
    """The variables that stand for the rest of a sum, all of them, all but one, and none."""
    loose = [v for v in e.variables() if v.kind == "rest"]
    gone: list[tuple[Var, ...]] = [tuple(loose)]
    gone += [tuple(w for w in loose if w is not v) for v in loose if len(loose) > 1]
    gone.append(())
    return list(dict.fromkeys(gone))


def _numbered(o: Overlap, start: Expr, spot: Expr, facts: Sequence[Condition]) -> Iterator[Instance]:
    """The expression with numbers for its constants, on domains."""
    constants = [v for v in start.variables() if v.kind == "const"]
    inside = set(start.variables())
    facts = [h for h in facts if set(h.variables()) <= inside]
    divisors = {
        v for n in postorder(start) if isinstance(n, (FloorDiv, Mod, CeilDiv)) for v in n.b.variables()
    }
    known_first = [h for h in facts if set(h.variables()) <= set(constants)]
    for values, special in assignments(constants, known_first, divisors):
        try:
            here = start.substitute(values), spot.substitute(values)
            known = [h.substitute(values) for h in facts]
        except ZeroDivisionError:
            continue
        if FALSE in known:
            continue
        for at, boxes in shapes(o, *here, values):
            for i in _domains(here[0].substitute(at), here[1].substitute(at), boxes, known):
                yield replace(i, special=special)


def assignments(
    constants: Sequence[Var], facts: Sequence[Condition], divisors: Collection[Var] = ()
) -> Iterator[tuple[dict[Var, Expr], tuple[int, ...]]]:
    """Small values for the constants that satisfy what is known of constants alone, and how special they are.

    Values are given to one constant after the other, those first that complete a condition, so that few remain.
    """
    if not constants:
        if FALSE not in facts:
            yield {}, ()
        return
    order: list[Var] = []
    grid = np.zeros((1, 0), dtype=np.int64)
    while len(order) < len(constants):
        left = [v for v in constants if v not in order]
        missing = {f: set(f.variables()) - set(order) for f in facts}
        least = min((m for m in missing.values() if m), key=len, default=set(left))
        v = next(w for w in left if w in least)
        choices = np.array(_SHARES if is_share(v) else _VALUES, dtype=np.int64)
        if len(grid) * len(choices) > _GRID:
            choices = choices[: max(2, _GRID // len(grid))]
        grid = np.hstack([np.repeat(grid, len(choices), axis=0), np.tile(choices, len(grid)).reshape(-1, 1)])
        order.append(v)
        for f, m in missing.items():
            if m == {v}:
                # of a condition's own division by zero nothing is said, so it counts as violated
                grid = failing_points(grid, order, (f,), FALSE)
        if not len(grid):
            return
    grid = grid[:, [order.index(v) for v in constants]]
    sizes = np.abs(grid)
    columns = list(grid.T[::-1])
    shares = np.array([is_share(v) for v in constants])
    divides = np.array([v in divisors for v in constants])
    by = np.sort(grid[:, divides], axis=1)
    special = np.stack(
        [
            (np.abs(by) <= 1).sum(axis=1),
            (grid[:, ~shares] < 0).sum(axis=1),
            sizes[:, shares].sum(axis=1),
            (by[:, 1:] == by[:, :-1]).sum(axis=1),
            sizes.sum(axis=1),
        ],
        axis=1,
    )
    ranked = np.lexsort((*columns, (grid < 0).sum(axis=1), sizes.sum(axis=1))).tolist()
    # the smallest, a few that lie further out, and those that are least special
    half = _ASSIGNMENTS // 2
    step = max(1, (len(ranked) - half) // half)
    chosen = ranked[:half] + ranked[half::step][:half]
    chosen += np.lexsort((*columns, *special.T[::-1]))[:_ASSIGNMENTS].tolist()
    for r in dict.fromkeys(chosen):
        values: dict[Var, Expr] = {v: integer(int(x)) for v, x in zip(constants, grid[r], strict=True)}
        yield values, tuple(int(x) for x in special[r])


#: What some variables are written as, and the boxes that some of those must have.
_Shape = tuple[Mapping[Var, Expr], Mapping[Var, tuple[int, int]]]


def shapes(o: Overlap, start: Expr, spot: Expr, values: Mapping[Var, Expr]) -> Iterator[_Shape]:
    """The instance as it is, and with variables that have the form for which a strategy looks."""
    yield {}, {}
    for rule, mark in ((o.outer, ""), (o.inner, "′")):
        x = var("x" + mark, "expr")
        if rule.choose == "coefficient_quotients":
            d = values.get(var("d" + mark, "const"))
            if not isinstance(d, Int) or x not in start.variables():
                d, dividend = _dividend(spot if mark else start)
                x = dividend if isinstance(dividend, Var) else x
            if isinstance(d, Int) and d.value > 1 and x in start.variables():
                y = var("y~" + mark, "expr")
                yield {x: x * d + y}, {y: (0, d.value - 1)}
                at: dict[Var, Expr] = {w: w * d for w in start.variables() if w.kind == "rest"}
                if at:
                    yield at, {}
        if rule.choose == "known_remainder" and x in start.variables():
            d, m = values.get(var("d" + mark, "const")), values.get(var("m" + mark, "const"))
            if isinstance(d, Int) and isinstance(m, Int):
                yield {x: x * d + m}, {}
        if rule.choose == "complement":
            yield {w: -w for w in (spot if mark else start).variables() if w.kind != "const"}, {}
        if rule.choose == "common_constant":
            for k in (1, 2, -1):
                yield {v: v + k for v in (spot if mark else start).variables() if v.kind == "expr"}, {}


def _dividend(e: Expr) -> tuple[Int | None, Expr]:
    """The constant divisor and the dividend of ``e``."""
    if isinstance(e, (FloorDiv, Mod)) and isinstance(e.b, Int):
        return e.b, e.a
    return None, e


def _domains(
    start: Expr, spot: Expr, given: Mapping[Var, tuple[int, int]], known: Sequence[Condition]
) -> Iterator[Instance]:
    """The expression on several domains."""
    boxed: dict[Var, tuple[int, int]] = dict(given)
    names = [v for v in start.variables() if v.kind != "const"]
    for h in known:
        if isinstance(h, Within) and isinstance(h.e, Var) and isinstance(h.lo, Int) and isinstance(h.hi, Int):
            boxed[h.e] = (h.lo.value, h.hi.value)
    index = {v: var(n) for v, n in zip(names, _NAMES, strict=False)}
    if len(index) < len(names):
        return
    at: dict[Var, Expr] = dict(index)
    try:
        here, there = start.substitute(at), spot.substitute(at)
    except ZeroDivisionError:
        return
    for box in _BOXES:
        single = box[0] == box[1]
        boxes = {
            index[v]: box if single else boxed.get(v, box) for v in names if index[v] in here.variables()
        }
        if any(lo > hi for lo, hi in boxes.values()) or point_count(boxes) > _POINTS:
            continue
        yield Instance(here, there, tuple(sorted(boxes.items(), key=lambda b: b[0].name)))


def examine(
    o: Overlap, rules: Sequence[Rule], worlds: dict[Any, Ground], limit: int = _INSTANCES
) -> Examined[Instance, Move]:
    """Rewrite instances of ``o``, smallest first, until one of them has two normal forms.

    If the smallest do not, others are tried that differ more from each other: on larger domains, with and without every
    rest of a sum.  The domain of one that has two normal forms is then made smaller again.
    """
    found = instances(o)
    trial = ExpressionTrial(o, rules, worlds)
    for i in found[:_SCANNED]:
        if trial.tried >= limit:
            break
        if trial.witness(i):
            return trial.examined()
    for i in _diverse(found, trial):
        smaller = [j for j in found if j.start is i.start and j.rank < i.rank]
        next((j for j in smaller if trial.witness(j)), None)
        break
    return trial.examined()


def _diverse(found: Sequence[Instance], trial: ExpressionTrial) -> Iterator[Instance]:
    """Those of different instances that have two normal forms."""
    groups: dict[tuple[str, ...], dict[Expr, list[Instance]]] = {}
    for i in found:
        groups.setdefault(i.group, {}).setdefault(i.start, []).append(i)
    for group in groups.values():
        ordered = sorted(group.values(), key=lambda same: (same[0].special, same[0].rank))
        turned = sorted(
            group.values(),
            key=lambda same: (same[0].special[:1], tuple(-n for n in same[0].special[1:2]), same[0].rank),
        )
        for many, order in ((_EACH, ordered), (_EACH // 2, turned), (_EACH // 2, group.values())):
            before = trial.tried
            for same in itertools.islice(order, _SCANNED // 4):
                if trial.tried - before >= many:
                    break
                tried = trial.tried
                left = (i for i in same if i not in trial.seen)
                for i in sorted(left, key=lambda i: i.rank[2], reverse=True):
                    if trial.witness(i):
                        yield i
                    if trial.tried > tried:
                        break


class ExpressionTrial(Trial[Instance, Move]):
    """Rewrites instances of an overlap of rules for expressions."""

    def __init__(
        self,
        o: Overlap,
        rules: Sequence[Rule],
        worlds: dict[Any, Ground],
        limit: int = LIMIT,
        *,
        weighs: bool = True,
    ) -> None:
        super().__init__()
        self.o = o
        self.limit = limit
        self.weighs = weighs
        self.rules = rules
        self.worlds = worlds
        self.used: dict[Any, Ground] = {}

    def examined(self) -> Examined[Instance, Move]:
        """What is known so far."""
        return replace(super().examined(), risen=_risen(self.used.values()))

    def both(self, i: Instance) -> tuple[Ground, list[tuple[Move, Move]]]:
        """Steps of the outer rule, and of the inner one at its place."""
        ground = self.worlds.get(i.boxes)
        if ground is None or ground.remembered > _REMEMBERED:
            if len(self.worlds) >= _WORLDS:
                self.worlds.clear()
            ground = self.worlds[i.boxes] = Ground(self.rules, dict(i.boxes), self.limit, weighs=self.weighs)
        try:
            first = ground.results(self.o.outer, i.start)
            if not first:
                return ground, []
            second = [i.start.substitute({i.spot: e}) for e in ground.results(self.o.inner, i.spot)]
        except ZeroDivisionError:
            return ground, []
        if not second or not _defined(ground, i.start):
            return ground, []
        self.used[i.boxes] = ground
        one = [Move(self.o.outer, i.start, i.start, a) for a in first]
        two = [Move(self.o.inner, i.start, i.spot, b) for b in second]
        return ground, [(x, y) for x in one for y in two]


def _risen(used: Iterable[Ground]) -> tuple[Move, ...]:
    least: dict[str, Move] = {}
    for m in (m for g in used for m in g.risen):
        known = least.get(m.rule.name)
        if known is None or (size(m.before), str(m.before)) < (size(known.before), str(known.before)):
            least[m.rule.name] = m
    return tuple(least[n] for n in sorted(least))


def _defined(ground: Ground, e: Expr) -> bool:
    ground.facts.values(e)
    return not ground.facts.undefined
