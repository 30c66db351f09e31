"""Whether the right side of a rule over unbounded integers can overflow a machine type where its left side does not.

A compiler may compute with machine integers what a rule says of unbounded ones.  Then a sound rule still fails where its
right side overflows and its left side, computed at the same place, does not.  The rule is read once more with integers of
so many bits, of which none may overflow: as it is sound, its counterexamples are those overflows.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import replace

from .evaluate import Point, judge
from .generalise import alike
from .rule import StatedRule
from .sample import limits_table
from .terms import below

__all__ = ["LIMITS", "cannot_overflow", "limit_point", "widened"]

#: How points next to the limits of machine integers are called.
LIMITS = "machine limits"

#: Operators whose result may lie outside a machine type in which their arguments are.
_OVERFLOWING = frozenset({"add", "sub", "mul", "neg", "fdiv", "mod", "cdiv"})
#: Below these not everything is computed.
_CHOOSING = frozenset({"select", "choose", "and", "or"})
#: So many large coordinates of a point for a smaller type are moved to the limits of a larger one.
_MOVED = 4


def cannot_overflow(r: StatedRule, width: int) -> bool:
    """Whether whatever may overflow on the right side is computed on the left side too."""
    terms = [*below(r.left), *below(r.right)]
    number = alike(terms)
    computed: set[int] = set()
    todo = [r.left]
    while todo:
        t = todo.pop()
        if number[id(t)] not in computed:
            computed.add(number[id(t)])
            todo += t.args[:1] if t.op in ("select", "choose") else () if t.op in _CHOOSING else t.args
    most = 1 << (width - 1)
    for t in below(r.right):
        if number[id(t)] in computed:
            continue
        if t.op in _OVERFLOWING or t.op.endswith(("div", "mod")):
            return False
        if t.op == "int" and not -most <= int(t.value) < most:
            return False
    return True


def limit_point(r: StatedRule, smaller: Point | None) -> Mapping[str, int] | None:
    """A point at which the right side of a rule about machine integers overflows and its left side does not.

    ``smaller`` is one for a type of half as many bits.
    """
    for point in _moved(r, smaller) if smaller is not None else ():
        if judge(r, point) in ("counterexample", "undefined"):
            return point
    return limits_table(r).counterexample()


def _moved(r: StatedRule, point: Point) -> Iterator[dict[str, int]]:
    """A point next to the limits of a smaller type, moved to those of the type of the rule."""
    half = r.semantics.width // 2
    large = [v for v in r.variables if abs(point[v]) >= 1 << (half // 2)]
    for v in large[_MOVED:]:
        if abs(point[v]) >= 1 << (half - 4):
            return
    several = large[:_MOVED]
    for choice in itertools.product(range(4), repeat=len(several)):
        out = dict(point)
        for v, k in zip(several, choice, strict=True):
            sign, n = (-1 if point[v] < 0 else 1), abs(point[v])
            out[v] = sign * (n << half, ((n + 1) << half) - 1, n << (half // 2), n)[k]
        if all(r.semantics.lo <= n <= r.semantics.hi for n in out.values()):
            yield out


def widened(r: StatedRule, width: int) -> StatedRule:
    """The rule with machine integers that must not overflow."""
    return replace(r, semantics=replace(r.semantics, width=width, overflow="undefined"))
