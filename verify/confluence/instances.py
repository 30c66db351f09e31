"""Concrete instances of an overlap, smallest first, and those of them that have two normal forms."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from ...core.condition import FALSE, TRUE, Compare, Condition, Within
from ...core.expr import Expr, FloorDiv, Int, Mod, Sum, Var, integer, mul, postorder, var
from ...core.rewrite import Rule
from ..refute import failing_points
from .ground import Ground, Move, TooMany, point_count, size
from .overlap import Overlap
from .unify import expanded, flat, is_const, tidy

__all__ = ["Examined", "Instance", "Witness", "examine", "instances"]

Boxes = Mapping[Var, tuple[int, int]]
_NAMES = tuple("abcdefgh")
_VALUES = (1, 2, 3, 4, -1, -2, 6, -3, 8, 5)
_SHARES = (0, 1, -1, 2)
_BOXES = ((0, 1), (0, 2), (0, 3), (0, 5), (-3, 3), (0, 7), (1, 1))
#: How many assignments of constants are tried with each shape of domain, and how many instances are rewritten.
_ASSIGNMENTS = 16
_INSTANCES = 16
_SCANNED = 300
_POINTS = 600
#: How many domains are remembered with everything that was rewritten on them.
_WORLDS = 200


@dataclass(frozen=True)
class Instance:
    """An expression on a domain; ``spot`` is what the inner rule rewrites."""

    start: Expr
    spot: Expr
    boxes: tuple[tuple[Var, tuple[int, int]], ...]

    @property
    def rank(self) -> tuple[int, int, int, str]:
        """Smaller expressions first, then smaller constants, then smaller domains."""
        constants = sum(abs(n) for n in _literals(self.start)) + sum(
            abs(lo) + abs(hi) for _, (lo, hi) in self.boxes
        )
        return size(self.start), constants, point_count(dict(self.boxes)), f"{self.start} {self.boxes}"


@dataclass(frozen=True)
class Witness:
    """An expression with two normal forms that have nothing in common, and a derivation of each."""

    instance: Instance
    left: tuple[Move, ...]
    right: tuple[Move, ...]

    @property
    def forms(self) -> tuple[Expr, Expr]:
        """Both normal forms."""
        return self.left[-1].after, self.right[-1].after


@dataclass(frozen=True)
class Examined:
    """What the instances of an overlap say: how many both rules rewrite, how many of them join, the smallest that does not.

    ``given_up`` counts those from which too many expressions are reached; ``risen`` are steps, the smallest of each rule,
    after which the whole expression is not smaller than before.
    """

    tried: int
    joined: int
    given_up: int
    witness: Witness | None
    risen: tuple[Move, ...] = ()


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


def instances(o: Overlap) -> list[Instance]:
    """Instances of the overlap, smallest first."""
    facts = [h for h in o.hypotheses if h != FALSE]
    start, spot = o.start, o.spot
    for rule, mark in ((o.outer, ""), (o.inner, "′")):
        if rule.choose == "next_digit":  # the strategy proposes no other z
            z = {var("z" + mark, "expr"): integer(0)}
            start, spot = start.substitute(z), spot.substitute(z)
            facts = [h.substitute(z) for h in facts]
    while (d := next((d for h in facts if (d := _definition(h)) is not None), None)) is not None:
        v, e = d
        start, spot = start.substitute({v: e}), spot.substitute({v: e})
        facts = [made for h in facts if (made := h.substitute({v: e})) != TRUE]
    start, spot = tidy(start), tidy(spot)
    constants = [v for v in start.variables() if v.kind == "const"]
    inside = set(start.variables())
    facts = [h for h in facts if set(h.variables()) <= inside]
    found: dict[tuple[Expr, Any], Instance] = {}
    for values in _assignments(constants, [h for h in facts if set(h.variables()) <= set(constants)]):
        try:
            here = start.substitute(values), spot.substitute(values)
            known = [h.substitute(values) for h in facts]
        except ZeroDivisionError:
            continue
        if FALSE in known:
            continue
        for shape in _shapes(o, *here, values):
            for instance in _domains(*shape, known):
                found.setdefault((instance.start, instance.boxes), instance)
    return sorted(found.values(), key=lambda i: i.rank)


def _assignments(constants: Sequence[Var], facts: Sequence[Condition]) -> Iterator[dict[Var, Expr]]:
    """Small values for the constants that satisfy what is known of constants alone."""
    if not constants:
        yield {}
        return
    choices: list[tuple[int, ...]] = [
        _SHARES if v.name[0] == "k" and len(v.name) > 1 and v.name[1:].isdigit() else _VALUES
        for v in constants
    ]
    limit = 40_000
    while np.prod([len(c) for c in choices], dtype=float) > limit:
        longest = max(range(len(choices)), key=lambda k: len(choices[k]))
        choices[longest] = choices[longest][:-1]
    grid = np.array(list(itertools.product(*choices)), dtype=np.int64)
    for f in facts:
        # of a condition's own division by zero nothing is said, so it counts as violated
        grid = failing_points(grid, list(constants), (f,), FALSE)
        if not len(grid):
            return
    rows = sorted(grid.tolist(), key=lambda r: (sum(map(abs, r)), sum(x < 0 for x in r), r))
    # the smallest, and a few that lie further out
    step = max(1, (len(rows) - _ASSIGNMENTS // 2) // (_ASSIGNMENTS // 2))
    chosen = rows[: _ASSIGNMENTS // 2] + rows[_ASSIGNMENTS // 2 :: step][: _ASSIGNMENTS // 2]
    for r in chosen:
        yield {v: integer(x) for v, x in zip(constants, r, strict=True)}


#: An expression, its spot, and the boxes that some of its variables must have.
_Shape = tuple[Expr, Expr, Mapping[Var, tuple[int, int]]]


def _shapes(o: Overlap, start: Expr, spot: Expr, values: Mapping[Var, Expr]) -> Iterator[_Shape]:
    """The instance as it is, and with variables that have the form for which a strategy looks."""
    yield start, spot, {}
    for rule, mark in ((o.outer, ""), (o.inner, "′")):
        x = var("x" + mark, "expr")
        if rule.choose == "coefficient_quotients":
            d = values.get(var("d" + mark, "const"))
            if not isinstance(d, Int) or x not in start.variables():
                d, dividend = _dividend(spot if mark else start)
                x = dividend if isinstance(dividend, Var) else x
            if isinstance(d, Int) and d.value > 1 and x in start.variables():
                y = var("y~" + mark, "expr")
                at: dict[Var, Expr] = {x: x * d + y}
                yield start.substitute(at), spot.substitute(at), {y: (0, d.value - 1)}
        if rule.choose == "common_constant":
            for k in (1, 2, -1):
                at = {v: v + k for v in (spot if mark else start).variables() if v.kind == "expr"}
                yield start.substitute(at), spot.substitute(at), {}


def _dividend(e: Expr) -> tuple[Int | None, Expr]:
    """The constant divisor and the dividend of ``e``."""
    if isinstance(e, (FloorDiv, Mod)) and isinstance(e.b, Int):
        return e.b, e.a
    return None, e


def _domains(
    start: Expr, spot: Expr, given: Mapping[Var, tuple[int, int]], known: Sequence[Condition]
) -> Iterator[Instance]:
    """The expression on several domains, with and without the variables that stand for the rest of a sum."""
    boxed: dict[Var, tuple[int, int]] = dict(given)
    names = [v for v in start.variables() if v.kind != "const"]
    for h in known:
        if isinstance(h, Within) and isinstance(h.e, Var) and isinstance(h.lo, Int) and isinstance(h.hi, Int):
            boxed[h.e] = (h.lo.value, h.hi.value)
    loose = [v for v in names if v.kind == "rest"]
    gone: list[tuple[Var, ...]] = [tuple(loose)]
    gone += [tuple(w for w in loose if w is not v) for v in loose if len(loose) > 1]
    gone.append(())
    for absent in dict.fromkeys(gone):
        at: dict[Var, Expr] = {v: integer(0) for v in absent}
        rest = [v for v in names if v not in absent]
        index = {v: var(n) for v, n in zip(rest, _NAMES, strict=False)}
        if len(index) < len(rest):
            continue
        at.update(index)
        try:
            here, there = start.substitute(at), spot.substitute(at)
        except ZeroDivisionError:
            continue
        for box in _BOXES:
            single = box[0] == box[1]
            boxes = {
                index[v]: box if single else boxed.get(v, box) for v in rest if index[v] in here.variables()
            }
            if any(lo > hi for lo, hi in boxes.values()) or point_count(boxes) > _POINTS:
                continue
            yield Instance(here, there, tuple(sorted(boxes.items(), key=lambda b: b[0].name)))


def examine(
    o: Overlap, rules: Sequence[Rule], worlds: dict[Any, Ground], limit: int = _INSTANCES
) -> Examined:
    """Rewrite the instances of ``o``, smallest first, until one of them has two normal forms."""
    tried = joined = given_up = 0
    used: dict[Any, Ground] = {}
    for i in instances(o)[:_SCANNED]:
        if tried >= limit:
            break
        ground = worlds.get(i.boxes)
        if ground is None:
            if len(worlds) >= _WORLDS:
                worlds.clear()
            ground = worlds[i.boxes] = Ground(rules, dict(i.boxes))
        try:
            first = ground.results(o.outer, i.start)
            if not first:
                continue
            second = [i.start.substitute({i.spot: e}) for e in ground.results(o.inner, i.spot)]
        except ZeroDivisionError:
            continue
        if not second or not _defined(ground, i.start):
            continue
        tried += 1
        used[i.boxes] = ground
        try:
            bad = next(
                ((a, b) for a in first for b in second if not ground.meet(a, b)),
                None,
            )
        except TooMany:
            given_up += 1
            continue
        if bad is None:
            joined += 1
            continue
        return Examined(tried, joined, given_up, _witness(o, i, ground, *bad), _risen(used.values()))
    return Examined(tried, joined, given_up, None, _risen(used.values()))


def _risen(used: Iterable[Ground]) -> tuple[Move, ...]:
    least: dict[str, Move] = {}
    for m in (m for g in used for m in g.risen):
        known = least.get(m.rule.name)
        if known is None or (size(m.before), str(m.before)) < (size(known.before), str(known.before)):
            least[m.rule.name] = m
    return tuple(least[n] for n in sorted(least))


def _defined(ground: Ground, e: Expr) -> bool:
    ground.facts.values(e)
    return not ground.facts._algebra_of_points.undefined.any()


def _witness(o: Overlap, i: Instance, ground: Ground, a: Expr, b: Expr) -> Witness:
    left = Move(o.outer, i.start, i.start, a)
    right = Move(o.inner, i.start, i.spot, b)
    one = min(ground.normal_forms(a), key=lambda e: (size(e), str(e)))
    two = min(ground.normal_forms(b), key=lambda e: (size(e), str(e)))
    return Witness(i, (left, *ground.path(a, one)), (right, *ground.path(b, two)))
