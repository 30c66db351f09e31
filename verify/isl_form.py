"""Conversion of maps to and from isl: the relation of a map as an ``islpy.Map``, and one conjunction as a map.

The parameters of the relation are the runtime variables, its input is the source and its output is the target.  Range
variables are projected out, since they are existentially quantified (reports/semantics.md, "Maps").  So a map that is
converted to isl and back has the same relation, though not the same variables.  isl has no boxes: the box of a variable
of the result goes from its least to its greatest value in the relation.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import inf, prod
from typing import Any

import islpy

from ..core.bounded import Inequality
from ..core.errors import InputError, quoted
from ..core.expr import Expr, Var, as_sum, floordiv, integer, interpret, linear, var
from ..core.indexing_map import Constraint, IndexingMap, RuntimeVariable, Variable, expect_map, is_name
from ..core.interop.foreign import domain_of, fresh_name
from ..core.interval import LINE, Interval
from ..core.notation import with_remainders
from .concrete.isl import Affine
from .concrete.problem import Box, Fact

__all__ = ["count_points", "from_isl", "to_isl"]

_PARAM, _IN, _OUT = islpy.dim_type.param, islpy.dim_type.in_, islpy.dim_type.out
_SET, _DIV = islpy.dim_type.set, islpy.dim_type.div


def to_isl(m: IndexingMap, context: Any = None) -> Any:
    """Return the relation of ``m`` as an ``islpy.Map``, in ``context`` or in isl's default one."""
    expect_map(m)
    variables = (*m.rts, *m.dims, *m.ranges)
    box: Box = tuple((v.expr, Interval(v.lo, v.hi)) for v in variables)
    algebra = Affine(islpy.DEFAULT_CONTEXT if context is None else context, box)
    facts = [Fact(c.expr, Interval(c.lo, c.hi)) for c in m.constraints]
    relation = islpy.Map.from_domain(algebra.all_of(algebra.universe(), facts))
    for value in interpret(m.results, algebra):
        piecewise = value if isinstance(value, islpy.PwAff) else islpy.PwAff.from_aff(value)
        relation = relation.flat_range_product(islpy.Map.from_pw_aff(piecewise))
    relation = relation.project_out(_IN, len(m.rts) + len(m.dims), len(m.ranges))
    relation = relation.move_dims(_PARAM, 0, _IN, 0, len(m.rts))
    for kind, group in ((_PARAM, m.rts), (_IN, m.dims)):
        for k, v in enumerate(group):
            relation = relation.set_dim_name(kind, k, v.name)
    return relation.coalesce()


def count_points(points: Any, limit: int) -> int | None:
    """Count the points of a bounded ``islpy.Set``; None if that would enumerate more than ``limit`` of them.

    A set that fills its bounding box is not enumerated; of any other set, all dimensions but the widest are.
    """
    points = points.coalesce()
    rank = points.dim(_SET)
    if points.is_empty() or not rank:
        return int(not points.is_empty())
    ends = [(points.dim_min_val(k).to_python(), points.dim_max_val(k).to_python()) for k in range(rank)]
    box = islpy.Set.universe(points.get_space())
    for k, (lo, hi) in enumerate(ends):
        box = box.lower_bound_val(_SET, k, lo).upper_bound_val(_SET, k, hi)
    extents = [hi - lo + 1 for lo, hi in ends]
    if box.is_subset(points):
        return int(prod(extents))
    widest = extents.index(max(extents))
    if prod(extents) // extents[widest] > limit:
        return None
    # isl counts the last dimension of a set by its bounds
    return int(
        points.move_dims(_PARAM, 0, _SET, widest, 1).move_dims(_SET, rank - 1, _PARAM, 0, 1).count_val().to_python()
    )


def from_isl(subject: Any) -> IndexingMap:
    """Return a map with the relation of an ``islpy.Map`` or of its text; a set becomes a map without results.

    If the output is a function of the input, the results are that function.  Otherwise outputs that no equation
    determines become range variables, as do isl's existentially quantified ones.  Raises :class:`InputError` for a
    relation that is not one conjunction, and for variables without bounds.
    """
    relation = _relation(subject).coalesce()
    parameters, inputs, outputs = (relation.dim(kind) for kind in (_PARAM, _IN, _OUT))
    taken: set[str] = set()
    names = [
        _named(relation, kind, k, prefix, taken)
        for kind, prefix, count in ((_PARAM, "rt", parameters), (_IN, "d", inputs))
        for k in range(count)
    ]
    if relation.is_empty():
        boxes = dict.fromkeys(names, (0, 0))
        never = [Constraint(integer(0), 1, 0)]
        return _map(names, parameters, [], boxes, [integer(0)] * outputs, never)
    if relation.is_single_valued():
        pieces: list[tuple[Any, Any]] = []
        islpy.PwMultiAff.from_map(relation).foreach_piece(lambda *piece: pieces.append(piece))
        if len(pieces) == 1:
            ((domain, function),) = pieces
            plain = domain.compute_divs().coalesce()  # without integers that only exist
            domain = plain if plain.n_basic_set() == 1 else domain
            reader = _Conjunction(domain.move_dims(_SET, 0, _PARAM, 0, parameters), names, taken)
            affine = [function.get_aff(k).move_dims(_IN, 0, _PARAM, 0, parameters) for k in range(outputs)]
            results = [_value(f, names) for f in affine]
            return _map(names, parameters, reader.extra, reader.boxes, results, reader.constraints)
    targets = [var(fresh_name(f"s{k}", "s", taken)) for k in range(outputs)]
    flat = relation.move_dims(_IN, 0, _PARAM, 0, parameters).wrap().flatten()
    reader = _Conjunction(flat, [*names, *targets], taken, targets)
    results = [reader.solved.get(v, v) for v in targets]
    ranges = [v for v in (*targets, *reader.extra) if v not in reader.solved]
    return _map(names, parameters, ranges, reader.boxes, results, reader.constraints)


def _relation(subject: Any) -> Any:
    if isinstance(subject, str):
        # isl accepts a map without inputs as a set, and a wrapped map as either
        kinds = [islpy.Map, islpy.Set] if "->" in subject.partition("{")[2] else [islpy.Set]
        for kind in kinds:
            try:
                return _relation(kind(subject))
            except islpy.Error:
                pass
        raise InputError(f"{quoted(subject, 80)} is no map of isl", expected="as in `{ [x] -> [x + 1] : 0 <= x <= 9 }`")
    if isinstance(subject, islpy.BasicSet):
        subject = islpy.Set.from_basic_set(subject)
    if isinstance(subject, islpy.Set):
        return islpy.Map.from_domain(subject)
    if isinstance(subject, islpy.BasicMap):
        return islpy.Map.from_basic_map(subject)
    if not isinstance(subject, islpy.Map):
        raise InputError(f"{quoted(type(subject).__name__)} is no map of isl", expected="an islpy.Map or islpy.Set")
    return subject


def _named(relation: Any, kind: Any, k: int, prefix: str, taken: set[str]) -> Var:
    given = relation.get_dim_name(kind, k) if relation.has_dim_name(kind, k) else ""
    return var(fresh_name(given if is_name(given) else f"{prefix}{k}", prefix, taken))


def _map(
    names: Sequence[Var],
    parameters: int,
    ranges: Sequence[Var],
    boxes: Mapping[Var, tuple[int, int]],
    results: Sequence[Expr],
    constraints: Sequence[Constraint],
) -> IndexingMap:
    return IndexingMap(
        tuple(Variable(v.name, *boxes[v]) for v in names[parameters:]),
        tuple(Variable(v.name, *boxes[v]) for v in ranges),
        tuple(RuntimeVariable(v.name, *boxes[v]) for v in names[:parameters]),
        tuple(results),
        tuple(constraints),
    )


class _Conjunction:
    """An isl set that is one conjunction, as boxes and constraints over ``names``, its coordinates in order.

    ``extra`` are variables for the existentially quantified integers of isl.  ``solved`` has the values of those
    ``targets`` that an equation determines, and which do not occur elsewhere.
    """

    def __init__(self, points: Any, names: Sequence[Var], taken: set[str], targets: Sequence[Var] = ()) -> None:
        basic = _one(points)
        space = basic.get_local_space()
        coordinates: list[Expr] = [*names]
        self.extra: list[Var] = []
        #: the coordinates and the quotients of isl that are expressible in them
        expressible: list[Expr] = [*names]
        for k in range(basic.dim(_DIV)):
            quotient = _known(space, k)
            if quotient is None:
                v = var(fresh_name(f"s{len(self.extra)}", "s", taken))
                self.extra.append(v)
                coordinates.append(v)
            else:
                coordinates.append(_quotient(quotient, expressible))
                expressible.append(coordinates[-1])
        relations: list[Inequality] = [
            (_combined(c, coordinates, _SET, len(names)), 0, 0 if c.is_equality() else inf)
            for c in basic.get_constraints()
        ]
        # the same points, with isl's existentially quantified integers as further coordinates
        variables = [*names, *self.extra]
        algebra = Affine(basic.get_ctx(), [(v, LINE) for v in variables])
        facts = [Fact(e, Interval(lo, hi)) for e, lo, hi in relations]
        explicit = algebra.all_of(algebra.universe(), facts)
        self.solved, relations = _solved(relations, targets)
        boxes = {
            v: (_bound(explicit.dim_min_val(k), v, "lower"), _bound(explicit.dim_max_val(k), v, "upper"))
            for k, v in enumerate(variables)
            if v not in self.solved
        }
        self.boxes, self.constraints = domain_of([*boxes], relations, boxes)


def _solved(relations: Sequence[Inequality], targets: Sequence[Var]) -> tuple[dict[Expr, Expr], list[Inequality]]:
    """Return the targets that an equation gives in terms of the other variables, and the remaining relations.

    The bounds of such a target are those of a projection, and follow from the remaining relations.
    """
    solved: dict[Expr, Expr] = {}
    kept = list(relations)
    for v in targets:
        for r in kept:
            e, lo, hi = r
            coefficient = dict(as_sum(e)[1]).get(v, 0)
            rest = linear(0, ((e, 1), (v, -coefficient)))
            if lo != hi or abs(coefficient) != 1 or set(rest.variables()) & set(targets):
                continue
            solved[v] = linear(0, ((rest, -coefficient),))
            kept = [(e.substitute({v: solved[v]}), lo, hi) for e, lo, hi in kept if e is not r[0]]
            break
    return solved, kept


def _one(points: Any) -> Any:
    """Return a basic set with exactly these points.  Raises :class:`InputError` if there is none."""
    pieces = points.coalesce().get_basic_sets()
    if len(pieces) == 1:
        return pieces[0]
    hull = points.unshifted_simple_hull()
    if islpy.Set.from_basic_set(hull).is_subset(points):
        return hull
    raise InputError(f"the relation has {len(pieces)} pieces", expected="one conjunction of constraints")


def _known(space: Any, k: int) -> Any:
    """Return the function whose floor is quotient ``k``, or ``None`` for an integer without an expression.

    Its own quotients are those with an expression, in order.
    """
    try:
        return space.get_div(k)
    except islpy.Error:
        return None


def _int(value: Any) -> int:
    return int(value.to_python())


def _bound(value: Any, v: Var, side: str) -> int:
    if not value.is_int():
        raise InputError(f"the variable {quoted(v.name)} has no {side} bound", expected="a bounded set")
    return _int(value)


def _combined(f: Any, coordinates: Sequence[Expr], kind: Any, count: int) -> Expr:
    """Return the linear form of a constraint or affine function with integer coefficients.

    The first ``count`` coordinates are dimensions of the given kind, and the others are isl's quotients.
    """
    terms = [
        (e, _int(f.get_coefficient_val(kind, k) if k < count else f.get_coefficient_val(_DIV, k - count)))
        for k, e in enumerate(coordinates)
    ]
    return with_remainders(linear(_int(f.get_constant_val()), terms))


def _quotient(f: Any, coordinates: Sequence[Expr]) -> Expr:
    """Return ``floor(f)`` for a function with rational coefficients of the coordinates so far."""
    below = f.get_denominator_val()
    above = _combined(f.scale_val(below), coordinates, _IN, f.dim(_IN))
    return above if below.is_one() else floordiv(above, _int(below))


def _value(f: Any, names: Sequence[Var]) -> Expr:
    """Return the integer function ``f`` of the coordinates ``names``.

    If its domain makes a division exact, isl gives a function with rational coefficients, which equals its floor.
    """
    coordinates: list[Expr] = [*names]
    for k in range(f.dim(_DIV)):
        coordinates.append(_quotient(f.get_div(k), coordinates))
    return _quotient(f, coordinates)
