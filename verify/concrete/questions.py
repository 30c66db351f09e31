"""Questions about concrete expressions, one map or a family of maps, and their answers.

Each function decides one claim and returns an :class:`~.problem.Answer`: proved, refuted or undecided.  The counterexample
is the smallest one unless it is marked otherwise.  Runtime variables are parameters: a claim is about all of their values.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from ...core.condition import And, Compare, Condition, Divides, Not, Or, Truth, Within, negate
from ...core.errors import InputError, TooLargeError
from ...core.expr import Expr, ExprLike, Int, Integers, Var, interpret, lift, mod, var
from ...core.indexing_map import Constraint, IndexingMap, unused_name
from ...core.interval import Interval
from .points import TwoPoints, asked, domain_of, joined, named, primed, targets
from .problem import Answer, Box, Counterexample, Fact, Option, Problem
from .readings import ZERO, readings, shared_parameters, shared_values
from .sought import Describe, Outer, sought

if TYPE_CHECKING:
    from ...core.parametric import ParametricMap

BoxLike: TypeAlias = "Mapping[Any, Any] | Iterable[Any]"
ConstraintLike: TypeAlias = "Constraint | tuple[ExprLike, int, int]"
#: The size of each dimension, or the interval of each index.
ShapeLike: TypeAlias = "Sequence[int | Interval]"

_MAX_OPTIONS = 4096


# ----------------------------------------------------------------------------------- expressions and conditions
def equal_exprs(
    left: Sequence[ExprLike] | ExprLike,
    right: Sequence[ExprLike] | ExprLike,
    box: BoxLike,
    constraints: Iterable[ConstraintLike] = (),
    *,
    confirm: bool = False,
) -> Answer:
    """Decide whether both (lists of) expressions are equal at every point of ``box`` that satisfies ``constraints``.

    ``box`` lists ``(name, lo, hi)`` or maps variables to :class:`~indexproof.core.interval.Interval`; ends
    may be infinite.
    """
    ls, rs = _exprs(left), _exprs(right)
    if len(ls) != len(rs):
        raise InputError(f"there are {len(ls)} expressions on the left and {len(rs)} on the right")
    option = Option(tuple(Fact(a - b, ZERO) for a, b in zip(ls, rs, strict=True)))
    problem = Problem(_box(box), constraint_facts(constraints), (option,))

    def describe(env: dict[Expr, int]) -> Counterexample:
        values = tuple(int(x) for x in interpret([*ls, *rs], Integers(env)))
        return Counterexample(named(env), values[: len(ls)], values[len(ls) :], "the values differ")

    return asked(problem, describe, confirm)


def holds(goal: Condition, box: BoxLike, hypotheses: Iterable[Condition] = (), *, confirm: bool = False) -> Answer:
    """Decide whether ``goal`` is true at every point of ``box`` at which all ``hypotheses`` are."""
    where: list[Fact] = []
    options = [Option(tuple(facts)) for facts in _alternatives(goal)]
    for h in hypotheses:
        cases = _alternatives(h)
        if len(cases) == 1:
            where += cases[0]
        else:  # move a disjunction to the other side: it is false, or the goal is true
            options += [Option(tuple(f)) for f in _alternatives(negate(h))]
    problem = Problem(_box(box), tuple(where), tuple(options))
    return asked(problem, lambda env: Counterexample(named(env), reason=f"`{goal}` is false"), confirm)


def _alternatives(c: Condition) -> list[list[Fact]]:
    """Return ``c`` in disjunctive normal form."""
    below, above = Interval(-math.inf, -1), Interval(1, math.inf)
    not_above = Interval(-math.inf, 0)
    match c:
        case Truth(value):
            return [[]] if value else []
        case Compare("<=", x, y):
            return [[Fact(x - y, not_above)]]
        case Compare("<", x, y):
            return [[Fact(x - y, below)]]
        case Compare("==", x, y):
            return [[Fact(x - y, ZERO)]]
        case Compare("!=", x, y):
            return [[Fact(x - y, below)], [Fact(x - y, above)]]
        case Within(e, Int() as lo, Int() as hi):
            return [[Fact(e, Interval(lo.value, hi.value))]]
        case Within(e, lo, hi):
            return [[Fact(lo - e, not_above), Fact(e - hi, not_above)]]
        case Divides(Int() as d, e):
            return [[Fact(mod(e, d), ZERO)]] if d.value else []
        case Not(Divides(Int() as d, e)):
            return [[Fact(mod(e, abs(d.value)), above)]] if d.value else [[]]
        case And(args):
            total: list[list[Fact]] = [[]]
            for a in args:
                total = [some + more for some in total for more in _alternatives(a)]
                if len(total) > _MAX_OPTIONS:
                    raise TooLargeError(f"the condition has more than {_MAX_OPTIONS} alternatives")
            return total
        case Or(args):
            return [facts for a in args for facts in _alternatives(a)]
        case Not(arg) if not isinstance(arg, Divides):
            return _alternatives(negate(arg))
    raise InputError(f"`{c}` is not about concrete numbers", expected="a literal divisor")


# ---------------------------------------------------------------------------------------------------- one map
def is_empty(m: IndexingMap, *, confirm: bool = False) -> Answer:
    """Decide whether the domain of ``m`` is empty for all runtime values; refuted by its smallest point."""

    def describe(env: dict[Expr, int]) -> Counterexample:
        return Counterexample(named(env), targets(m, env), reason="in the domain")

    return asked(domain_of(m), describe, confirm, readings(m))


def in_bounds(m: IndexingMap, shape: ShapeLike, *, confirm: bool = False) -> Answer:
    """Decide whether every target of ``m`` is an index of a tensor of this ``shape``."""
    bounds = intervals(m, shape)
    option = Option(tuple(Fact(e, i) for e, i in zip(m.results, bounds, strict=True)))

    def describe(env: dict[Expr, int]) -> Counterexample:
        target = targets(m, env)
        assert target is not None
        k = next(k for k, (x, i) in enumerate(zip(target, bounds, strict=True)) if x not in i)
        reason = f"result {k} is {target[k]}, which is not in {bounds[k]}"
        return Counterexample(named(env), target, None, reason)

    return asked(domain_of(m, [option]), describe, confirm, readings(m))


def covers(m: IndexingMap, shape: ShapeLike, *, confirm: bool = False) -> Answer:
    """Decide whether every index of a tensor of this ``shape`` is a target of ``m``; refuted by one that is not."""
    bounds = intervals(m, shape)
    taken = {v.name for v in m.variables}
    index = tuple(var(unused_name(f"t{k}", taken)) for k in range(len(bounds)))
    (m,), values = shared_parameters([m])
    box = (*zip(index, bounds, strict=True), *values)
    outer = Outer(m, m.results, index)
    return sought(box, (), (), [outer], _lacking("no source has this target"), confirm).answered()


# ------------------------------------------------------------------------------------------- families of maps
def disjoint_domains(maps: Sequence[IndexingMap], *, confirm: bool = False) -> Answer:
    """Decide whether the domains of ``maps`` are pairwise disjoint.  Runtime variables with the same name are equal."""
    answers = []
    maps, _ = shared_values(maps)
    for j, second in enumerate(maps):
        for k, first in enumerate(maps[:j]):
            if len(first.dims) != len(second.dims):
                raise InputError(f"maps over {len(first.dims)} and {len(second.dims)} dimensions have no common source")
            again = {**dict(zip(second.dim_vars, first.dim_vars, strict=True)), **primed(second.range_vars)}
            pair = TwoPoints(first, again, other=second)
            problem = Problem(pair.box, (*pair.first, *pair.second))
            reason = f"maps {k} and {j} both have this source"
            answers.append(asked(problem, _reporting(reason), confirm, pair.reads))
    return joined(answers)


def covering_domains(maps: Sequence[IndexingMap], shape: ShapeLike, *, confirm: bool = False) -> Answer:
    """Decide whether every index of a tensor of this ``shape`` is in the domain of at least one of ``maps``."""
    names = [v.expr for v in maps[0].dims] if maps else [var(f"d{k}") for k in range(len(shape))]
    if any(len(m.dims) != len(shape) for m in maps):
        raise InputError(f"the shape has {len(shape)} dimensions, but not all maps do")
    maps, values = shared_parameters(maps)
    box = (*zip(names, _intervals(shape), strict=True), *values)
    outers = [Outer(m, m.dim_vars, tuple(names)) for m in maps]
    return sought(box, (), (), outers, _lacking("no map has this source"), confirm).answered()


def partition(maps: Sequence[IndexingMap], shape: ShapeLike, *, confirm: bool = False) -> Answer:
    """Decide whether every index of a tensor of this ``shape`` is in the domain of exactly one of ``maps``."""
    return joined([covering_domains(maps, shape, confirm=confirm), disjoint_domains(maps, confirm=confirm)])


# ----------------------------------------------------------------------------------------------------- common
def _reporting(reason: str) -> Any:
    return lambda env: Counterexample(named(env), reason=reason)


def _lacking(reason: str) -> Describe:
    return lambda env, _: Counterexample(named(env), reason=reason)


def _exprs(given: Sequence[ExprLike] | ExprLike) -> list[Expr]:
    return [lift(given)] if isinstance(given, (Expr, int)) else [lift(e) for e in given]


def _box(box: BoxLike) -> Box:
    """Return variables with intervals, from a mapping or from ``(name, lo, hi)``."""
    if isinstance(box, Mapping):
        pairs: list[tuple[Any, Any]] = list(box.items())
    else:
        rows = [(v.name, v.lo, v.hi) if hasattr(v, "lo") and hasattr(v, "name") else v for v in box]
        pairs = [(row[0], row[1] if len(row) == 2 else (row[1], row[2])) for row in rows]
    return tuple((v if isinstance(v, Var) else var(v), Interval(*i)) for v, i in pairs)


def constraint_facts(constraints: Iterable[ConstraintLike]) -> tuple[Fact, ...]:
    """Return constraints, or ``(expression, lo, hi)``, as facts."""
    triples = ((c.expr, c.lo, c.hi) if isinstance(c, Constraint) else c for c in constraints)
    return tuple(Fact(lift(e), Interval(lo, hi)) for e, lo, hi in triples)


def intervals(m: IndexingMap, shape: ShapeLike) -> list[Interval]:
    """Return the interval of each result as an index of a tensor of this ``shape``."""
    expect_shape(m, shape)
    return _intervals(shape)


def expect_shape(m: IndexingMap | ParametricMap, shape: Sequence[Any]) -> None:
    """Raise :class:`InputError` unless a shape has as many dimensions as the map has results."""
    if len(shape) != len(m.results):
        raise InputError(f"the map has {len(m.results)} results but the shape has {len(shape)} dimensions")


def _intervals(shape: ShapeLike) -> list[Interval]:
    return [n if isinstance(n, Interval) else Interval(0, n - 1) for n in shape]
