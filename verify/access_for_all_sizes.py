"""Count what maps with parameters read: elements and reads as expressions that are exact for all sizes.

Points are counted if each variable has bounds of its own and at most one remainder: their number is a product of extents.
That points have different targets is proved; otherwise sums of neighbouring elements are counted by their ends. The answer
for any other map says why it is not counted.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from math import inf

from ..core.bounded import constraints_of
from ..core.condition import Condition, Divides
from ..core.display import Shown
from ..core.expr import Expr, Max, Min, Sum, Var, add, ceildiv, floordiv, integer, maximum, minimum, mul, var
from ..core.facts import Facts
from ..core.interval import Interval
from ..core.parametric import ParametricMap, format_condition
from ..core.text import format_expr
from ..rules.simplifier import simplify_expr
from .access import connected
from .inversion import ratio
from .parametric import decide_for_all_sizes


@dataclass(frozen=True)
class UtilizationForAllSizes(Shown):
    """How many elements of an operand are read, and how often, in parameters; None for an unknown number."""

    elements: Expr
    distinct: Expr | None
    reads: Expr | None
    at_most: bool = False
    #: The conditions on parameters under which the numbers hold.
    conditions: tuple[Condition, ...] = ()
    #: Why the elements were not counted.
    reason: str = ""

    @property
    def fraction(self) -> Expr | None:
        """The fraction of the operand that is read, if it is a product of parameters."""
        return None if self.distinct is None else ratio(self.distinct, self.elements)

    @property
    def reuse(self) -> Expr | None:
        """How often each element that is read is read on average, if that is a product of parameters."""
        return None if self.reads is None or self.distinct is None else ratio(self.reads, self.distinct)

    def __str__(self) -> str:
        if self.distinct is None or self.reads is None:
            return f"not counted: {self.reason}"
        part = "all" if self.distinct is self.elements else f"{format_expr(self.distinct)} of"
        often = "each once" if self.reads is self.distinct else f"each {quotient_text(self.reads, self.distinct)} times"
        where = " and ".join(map(format_condition, self.conditions))
        said = f"reads {'at most ' * self.at_most}{part} {format_expr(self.elements)} elements, {often}"
        return said + (f", where {where}" if where else "")


def quotient_text(a: Expr, b: Expr) -> str:
    """Format a quotient, as a product if possible."""
    found = ratio(a, b)
    return f"({format_expr(a)}) / ({format_expr(b)})" if found is None else format_expr(found)


def utilization_for_all_sizes(
    maps: Sequence[ParametricMap], sizes: Sequence[Expr], at_most: bool = False
) -> UtilizationForAllSizes:
    """Count the elements of an operand of these ``sizes`` that the output reads, as :func:`.access.utilization` does.

    Parameters are sizes, and therefore not negative.
    """
    elements = mul(*sizes)
    counted = [_counted(m) for m in maps]
    why = next((c for c in counted if isinstance(c, str)), "")
    if not why and not all(decide_for_all_sizes("disjoint", p).proved for p in itertools.combinations(maps, 2)):
        why = "several maps may read one element"
    if why:
        return UtilizationForAllSizes(elements, None, None, at_most, (), why)
    numbers = [c for c in counted if not isinstance(c, str)]
    distinct, reads = add(*(d for d, _, _ in numbers)), add(*(r for _, r, _ in numbers))
    known = dict.fromkeys(c for *_, conditions in numbers for c in conditions)
    return UtilizationForAllSizes(elements, distinct, reads, at_most, tuple(known))


def _counted(m: ParametricMap) -> tuple[Expr, Expr, list[Condition]] | str:
    """Count the targets and the pairs of a map, with the conditions under which the counts hold; or return why not."""
    known = [(e, Interval(*ends)) for c in m.on_parameters for e, *ends in constraints_of(c)]
    facts = Facts(dict.fromkeys(map(var, m.parameters), (0, inf)), known)
    some: dict[str | Var, tuple[int, int]] = dict.fromkeys(m.parameters, (0, 1 << 62))
    remainders: dict[Expr, tuple[Expr, Expr]] = {}
    for c in m.conditions:
        if c in m.on_parameters or m.is_box(c):
            continue
        found = _remainder(c, m)
        if found is None or found[0] in remainders or facts.interval(found[1]).lo < 1:
            return f"`{format_condition(c)}` is no box"
        remainders[found[0]] = found[1:]
    least, most = m.lower_bounds, m.upper_bounds
    extents: dict[Expr, Expr] = {}
    for v in m.variables:
        if v not in least or v not in most:
            return f"`{v}` has no bounds"
        highs = _least(_arguments(Min, most[v]), facts)
        lows = [-e for e in _least([-e for e in _arguments(Max, least[v])], facts)]
        if v in remainders:
            # count the quotients by the divisor, which have these bounds
            by, rest = remainders[v]
            highs = [simplify_expr(floordiv(e - rest, by), some) for e in highs]
            lows = [simplify_expr(ceildiv(e - rest, by), some) for e in lows]
        extent = minimum(*_least([h - low + 1 for h in highs for low in lows], facts))
        extents[v] = extent if facts.interval(extent).lo >= 0 else maximum(integer(0), extent)
    needed = {v for e in m.results for v in e.variables()}.intersection(m.variables)
    empty = [v for v in m.variables if v not in needed]
    distinct: list[Expr] = []
    for group in connected({*e.variables()} & needed for e in m.results):
        results = [e for e in m.results if not group.isdisjoint(e.variables())]
        inside = [v for v in m.variables if v in group]
        if _tells_apart(m, inside, results):
            distinct += [extents[v] for v in inside]
        elif len(results) == 1 and all(v not in remainders and _steps(results[0], v) for v in inside):
            # the sum takes every value between its least and its greatest
            distinct.append(add(1, *(extents[v] - 1 for v in inside)))
            empty += inside
        else:
            return "one element may be read in several places"
    free = [v for v in m.variables if v in needed or v.name in m.dims]
    if not _tells_apart(m, free, [*map(var, m.dims), *m.results]):
        return "an element of the output may read one element several times"
    owed = [extents[v] >= 1 for v in empty if facts.interval(extents[v]).lo < 1]
    return mul(*distinct), mul(*(extents[v] for v in free)), [*m.on_parameters, *owed]


def _remainder(c: Condition, m: ParametricMap) -> tuple[Var, Expr, Expr] | None:
    """Return a variable whose remainder a condition fixes, the divisor, and a number with that remainder."""
    own = {*m.variables}
    if not isinstance(c, Divides) or not own.isdisjoint(c.d.variables()):
        return None
    for v, sign in itertools.product(own.intersection(c.e.variables()), (1, -1)):
        rest = v - c.e * sign
        if own.isdisjoint(rest.variables()):
            return v, c.d, rest
    return None


def _least(ends: Sequence[Expr], facts: Facts) -> list[Expr]:
    """Return the numbers without those that are at least as large as another one."""
    kept: list[Expr] = []
    for e in ends:
        if not any(_not_negative(e - k, facts) for k in kept):
            kept = [*(k for k in kept if not _not_negative(k - e, facts)), e]
    return kept


def _not_negative(e: Expr, facts: Facts) -> bool:
    """Return whether an expression is shown non-negative, if need be with an argument in place of an extremum."""
    return facts.interval(e).lo >= 0 or any(
        _not_negative(e + (a - t) * k, facts)
        for t, k in (e.terms if isinstance(e, Sum) else ((e, 1),))
        if isinstance(t, Max if k > 0 else Min)
        for a in t.children
    )


def _arguments(kind: type[Min | Max], e: Expr) -> Sequence[Expr]:
    return e.args if isinstance(e, kind) else (e,)


def _steps(e: Expr, v: Var) -> bool:
    """Return whether an expression is ``v`` or ``-v`` plus something without ``v``."""
    return any(v not in (e - v * sign).variables() for sign in (1, -1))


def _tells_apart(m: ParametricMap, variables: Sequence[Var], results: Sequence[Expr]) -> bool:
    """Return whether no two points of these variables have the same results, as far as that is proved."""
    if {*variables} <= {*results}:
        return True
    own = {*m.variables} - {*variables}
    conditions = tuple(c for c in m.conditions if own.isdisjoint(c.variables()))
    part = ParametricMap(tuple(v.name for v in variables), (), m.parameters, tuple(results), conditions)
    return decide_for_all_sizes("injective", [part]).proved
