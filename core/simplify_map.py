"""Simplify whole indexing maps: constraints, the boxes of variables, results and runtime sources.

Constraints come first (:mod:`.constraint_normal`): they narrow the boxes of variables, and every step is an instance of a
proved constraint rule.  The results are then simplified under the remaining boxes and constraints.  A map whose domain is
found to be empty becomes the empty map (:func:`empty_domain`).
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

from . import native
from .constraint_matcher import are_written
from .constraint_normal import Constraints, Contradiction
from .cost import DIVISION_WEIGHT, cost, expect_weight, map_cost
from .expr import Expr, Sum, integer
from .indexing_map import Constraint, IndexingMap, RuntimeVariable, Variable
from .native.recorded import entries
from .rewrite import RuleSet
from .room import Room, at_rest
from .simplify import Simplifier
from .steps import Trace, changed, length, take_back

native.attach(sys.modules[IndexingMap.__module__], maps=True)


def simplify_map(
    m: IndexingMap,
    rules: RuleSet,
    trace: Trace | None = None,
    *,
    keep_points: bool = False,
    division_weight: int = DIVISION_WEIGHT,
    quick: bool = False,
    keep_width: bool = False,
) -> IndexingMap:
    """Return an equal map in simpler form: the same relation for every value of the runtime variables.

    Variables keep their names, order and number; :func:`~indexproof.core.transform.reduce_map` does not.  A variable with
    only one value is replaced by it unless ``keep_points``.  The result never costs more than ``m`` where a division
    weighs as much as ``division_weight`` other operations (:mod:`.cost`).  ``quick`` writes normal forms without a search
    for a cheaper form.  With ``keep_width`` nothing needs wider integers than ``m`` does (:mod:`.room`).  ``trace``
    collects every step.  The operation is idempotent: with the same rules and options a result is returned unchanged.
    """
    asked = rules, keep_points, division_weight, quick, keep_width
    if getattr(m, "_normal", None) == asked:  # a copy has none
        return m
    expect_weight(division_weight)
    after = None
    if keep_width:
        after = _kept(m, rules, trace, keep_points, division_weight, quick)
    else:
        said: list[tuple[Any, ...]] | None = None if trace is None else []
        # of constraint rules only those of the catalogue are translated
        engine = rules.engine if are_written(rules.constraints) else None
        after = native.simplified_map(engine, m, said, division_weight, quick, keep_points, _emptied)
        if said and after is not None and trace is not None and after is not m:
            trace.extend(entries(said, rules, after))
    if after is None:
        after = _simplified(m, rules, trace, keep_points, division_weight, quick)
    object.__setattr__(after, "_normal", asked)
    return after


def _kept(
    m: IndexingMap, rules: RuleSet, trace: Trace | None, keep_points: bool, division_weight: int, quick: bool
) -> IndexingMap:
    """Simplify ``m`` within its integer width: first without the restriction, then with it if the width grew."""
    start = mark = length(trace)

    def simplified(now: IndexingMap, room: Room | None = None) -> IndexingMap:
        nonlocal mark
        if room is None and now is not m:
            changed(trace, "narrow", now, now)
            mark = length(trace)
        take_back(trace, mark)
        return _simplified(now, rules, trace, keep_points, division_weight, quick, room)

    after = at_rest(m, Room.of_map, simplified)
    if after is m:
        take_back(trace, start)
    return after


def _simplified(
    m: IndexingMap,
    rules: RuleSet,
    trace: Trace | None,
    keep_points: bool,
    division_weight: int,
    quick: bool,
    room: Room | None = None,
) -> IndexingMap:
    start = length(trace)
    stage = Constraints(m, rules, trace, keep_points, division_weight, quick)
    try:
        stage.run()
    except Contradiction:
        after = _emptied(m)
        if after is m:
            take_back(trace, start)
            return m
        stage.contradicted(after)
        return after
    simplify = stage.simplifier_of_results()
    dims, ranges = m.dims, m.ranges
    if stage.narrowed:
        dims, ranges = stage.boxed(dims), stage.boxed(ranges)
    if room is not None:
        of = room
        lo, hi = of.ends
        results = tuple(
            simplify.within(
                m.results, lo, hi, lambda es: of.has_map(_made(dims, ranges, m.rts, tuple(es), m.constraints))
            )
        )
    else:
        results = tuple(simplify.all(m.results))
    rts = tuple([_sourced(v, simplify) for v in m.rts])
    if room is not None and not room.has_map(_made(dims, ranges, rts, results, m.constraints)):
        rts = m.rts
    same = not stage.narrowed and results == m.results and all(a is b for a, b in zip(rts, m.rts, strict=True))
    finished = length(trace)
    after = m
    for spelled_for in (results, ()):
        constraints = stage.finished(spelled_for)
        if constraints == m.constraints and same:
            break
        after = _made(dims, ranges, rts, results, constraints)
        if room is not None and not room.has_map(after):
            continue
        # the results never cost more, so constraints that cost no more suffice
        if _no_dearer(constraints, m.constraints, division_weight):
            return after
        if map_cost(after).weighed(division_weight) <= map_cost(m).weighed(division_weight):
            return after
        # sharing a dividend with the results did not pay; try the constraint's own
        take_back(trace, finished)
    if same:
        take_back(trace, start)
        return m
    # the normal forms of constraints may share less with the results than the given constraints do
    given = _made(dims, ranges, rts, results, m.constraints)
    changed(trace, "given_constraints", after, given)
    if stage.narrowed:
        # in narrower boxes the given constraints may have other, cheaper normal forms
        return _simplified(given, rules, trace, keep_points, division_weight, quick, room)
    return given


def _made(
    dims: tuple[Variable, ...],
    ranges: tuple[Variable, ...],
    rts: tuple[RuntimeVariable, ...],
    results: tuple[Expr, ...],
    constraints: tuple[Constraint, ...],
) -> IndexingMap:
    return IndexingMap._trusted(dims, ranges, rts, results, constraints, merged=True)


def _no_dearer(constraints: Sequence[Constraint], given: Sequence[Constraint], division_weight: int) -> bool:
    """Return whether the constraints certainly cost no more than the given ones.

    Most are among those, up to their ends and a summand without variables.
    """
    if not constraints:
        return True
    have = {c.expr for c in given}
    if have.issuperset([c.expr for c in constraints]):
        return True
    bodies: set[tuple[tuple[Expr, int], ...]] = set()
    for c in given:
        e = c.expr
        if type(e) is Sum:
            bodies.add(e.terms)
            t, k = e.terms[0]
            if k == 1 and len(e.terms) == 1:
                have.add(t)
    for c in constraints:
        e = c.expr
        if e not in have and not (type(e) is Sum and not e.const and e.terms in bodies):
            break
    else:
        return True
    now, before = cost([c.expr for c in constraints]), cost([c.expr for c in given])
    return now.weighed(division_weight) <= before.weighed(division_weight)


def _sourced(v: RuntimeVariable, simplify: Simplifier) -> RuntimeVariable:
    """Return the runtime variable with a simplified source."""
    source = v.source
    if source is None:
        return v
    results = tuple(simplify.each(source.results))
    return v if results == source.results else v.indexed(results)


def _emptied(m: IndexingMap) -> IndexingMap:
    """Return the empty map with the variables and the rank of ``m``; ``m`` itself if it is that map."""
    after = empty_domain(m)
    return m if after == m else after


def empty_domain(m: IndexingMap) -> IndexingMap:
    """Return the empty map with the variables and the rank of ``m``, in the form that simplification gives it.

    Every dimension and every range has the box ``[0, -1]``, every result is 0, and runtime variables are unchanged.  A map
    without dimensions has the constraint ``0 in [1, 1]`` instead.
    """
    nothing = (Constraint.trusted(integer(0), 1, 1),)
    return IndexingMap._trusted(
        tuple(v.boxed(0, -1) for v in m.dims),
        tuple(v.boxed(0, -1) for v in m.ranges),
        m.rts,
        (integer(0),) * len(m.results),
        () if m.dims else nothing,
        merged=True,
    )
