"""The production simplifier with the proved rules, as a compiler calls it.

It never asks a solver.  :mod:`indexproof.core` has the same functions for any rule set.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Literal, overload

from ..core.cost import weight_of
from ..core.derivation import Derivation
from ..core.explain import explained
from ..core.expr import Expr, ExprLike, Var, lift, var
from ..core.facts import Facts
from ..core.indexing_map import Constraint, IndexingMap, expect_map
from ..core.interval import Interval
from ..core.room import Room, at_rest
from ..core.simplify import Simplifier
from ..core.simplify_map import simplify_map
from ..core.steps import Trace
from ..core.transform import Distinct, Reduced, reduce_map
from ..core.transform import canonical as _canonical
from ..core.transform import distinct as _distinct
from .catalog import RULES

__all__ = ["canonical", "distinct", "reduce", "simplify", "simplify_expr"]


@overload
def simplify(
    m: IndexingMap,
    *,
    keep_points: bool = ...,
    minimize: str | int = ...,
    quick: bool = ...,
    keep_width: bool = ...,
    explain: Literal[False] = ...,
) -> IndexingMap: ...
@overload
def simplify(
    m: IndexingMap,
    *,
    keep_points: bool = ...,
    minimize: str | int = ...,
    quick: bool = ...,
    keep_width: bool = ...,
    explain: Literal[True],
) -> Derivation: ...
def simplify(
    m: IndexingMap,
    *,
    keep_points: bool = False,
    minimize: str | int = "cost",
    quick: bool = False,
    keep_width: bool = False,
    explain: bool = False,
) -> IndexingMap | Derivation:
    """Return an equal map in simpler form, with the same variables.

    Results and constraints are simplified.  Constraints are merged, dropped if they always hold, and turned into bounds if
    possible.  A map without a point becomes the empty map.  Variables with a single value are replaced by it unless
    ``keep_points``.  With ``explain`` the result is the derivation, whose ``after`` is the map.

    ``minimize`` selects the cost model: ``"cost"`` (a division weighs as much as three other operations), ``"operations"``,
    ``"divisions"``, or the weight of a division.  The minimum is not guaranteed (reports/simplifier.md, "The cost").
    Raises :class:`~indexproof.core.errors.InputError` for any other name, and for a weight below 1.

    ``quick`` takes about half the time: results are written as their normal forms, without a search for cheaper equal
    forms.  They still never cost more than before.

    ``keep_width`` keeps all intermediate values within the smallest machine type, int32 or int64, that the map needs on its
    domain.  Expressions that would leave it are kept as they were given.
    """
    expect_map(m)
    # checked here, before a compiled function receives a value that is no integer
    division_weight = weight_of(minimize)
    trace: Trace | None = [] if explain else None
    # copied, since a map that is marked as normal would be returned without steps
    given = m.with_() if explain else m
    after = simplify_map(
        given,
        RULES,
        trace,
        keep_points=keep_points,
        division_weight=division_weight,
        quick=bool(quick),
        keep_width=bool(keep_width),
    )
    return after if trace is None else explained(given, after, trace)


def reduce(
    m: IndexingMap,
    *,
    unused: bool = True,
    unused_dims: bool = False,
    rescale: bool = True,
    eliminate: bool = True,
    to_dims: bool = False,
    renumber: bool = True,
    keep_points: bool = False,
    minimize: str | int = "cost",
    quick: bool = False,
    keep_width: bool = False,
) -> Reduced:
    """Return an equal map in fewer variables where possible, with a record of what became of each variable.

    See :func:`indexproof.core.transform.reduce_map`.
    """
    expect_map(m)
    division_weight = weight_of(minimize)
    return reduce_map(
        m,
        RULES,
        unused=unused,
        unused_dims=unused_dims,
        rescale=rescale,
        eliminate=eliminate,
        to_dims=to_dims,
        renumber=renumber,
        keep_points=keep_points,
        division_weight=division_weight,
        quick=bool(quick),
        keep_width=bool(keep_width),
    )


def canonical(m: IndexingMap) -> IndexingMap:
    """Return an equal map in a form that does not depend on the names or the order of its variables."""
    expect_map(m)
    return _canonical(m, RULES)


def distinct(maps: Iterable[IndexingMap]) -> Distinct:
    """Return the distinct maps of an operand that is read several times."""
    given = list(maps)
    for m in given:
        expect_map(m)
    return _distinct(given, RULES)


def simplify_expr(
    e: ExprLike,
    bounds: Mapping[str | Var, tuple[int, int]],
    constraints: Iterable[Constraint | tuple[ExprLike, int, int]] = (),
    *,
    minimize: str | int = "cost",
    quick: bool = False,
    keep_width: bool = False,
) -> Expr:
    """Return a simpler expression with the same value wherever ``bounds`` and ``constraints`` hold.

    ``bounds`` has the inclusive bounds of variables; a variable without bounds may have any value.  A constraint is
    ``(expression, lo, hi)``.  For ``minimize``, ``quick`` and ``keep_width`` see :func:`simplify`.
    """
    division_weight = weight_of(minimize)
    known = []
    for c in constraints:
        of, lo, hi = (c.expr, c.lo, c.hi) if isinstance(c, Constraint) else c
        known.append((lift(of), Interval(lo, hi)))
    boxes = {var(v) if isinstance(v, str) else v: Interval(*ends) for v, ends in bounds.items()}
    simplifier = Simplifier(RULES, Facts(boxes, known), division_weight=division_weight, quick=bool(quick))
    if not keep_width:
        return simplifier.all([lift(e)])[0]

    def room_of(es: list[Expr]) -> Room:
        return Room.of(es, {v: Interval(*i) for v, i in boxes.items()}, known)

    def simplified(es: list[Expr], room: Room | None = None) -> list[Expr]:
        if room is None:
            return simplifier.all(es)
        return simplifier.within(es, *room.ends, lambda found: room.allows(room_of(found)))

    return at_rest([lift(e)], room_of, simplified)[0]
