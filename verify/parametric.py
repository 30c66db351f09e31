"""Properties of maps with parameters, for all sizes: each becomes a claim of the prover.

Parameters are constants of the claim, and domains are its conditions.  If a property states that a point *exists* (one
that writes an element, or a range that reaches a target), its variables are solved for, and the prover checks the
solution.  First the concrete deciders try to refute the property at small sizes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal, TypeAlias

from ..core.condition import Condition, Within
from ..core.expr import Expr, FloorDiv, Max, Min, Mod, Sum, add, floordiv, lift, mod, mul, postorder, rebuild, var
from ..core.indexing_map import IndexingMap
from ..core.parametric import ParametricMap
from ..core.text import parse_expr
from .concrete import Answer, equal_maps
from .inversion import ratio
from .obligation import Obligation
from .properties import decide_property, expect_property
from .size_claims import SizeQuestion, holds_at
from .weakest import SizeCondition, weakest_condition

__all__ = ["AnyMap", "condition_on_sizes", "decide_for_all_sizes", "equal_for_all_sizes", "simplified"]

AnyMap: TypeAlias = "IndexingMap | ParametricMap"


# ------------------------------------------------------------------------------------------------ the questions
def decide_for_all_sizes(
    name: str, maps: Sequence[AnyMap], *, confirm: bool = False, proved: list[Obligation] | None = None, **given: Any
) -> Answer:
    """Decide a property for all values of parameters that the conditions of the maps allow.

    It is one of :func:`.properties.decide_property`.  Sizes in ``given`` may be expressions of the parameters, also as
    text. A counterexample has the parameters first.  Obligations that were proved are added to ``proved``.
    """
    concrete = [m for m in maps if isinstance(m, IndexingMap)]
    if len(concrete) == len(maps):
        return decide_property(name, concrete, **given, confirm=confirm)
    question, name = _question(name, maps, given)
    answer = question.decided(name, confirm)
    if proved is not None and answer.proved:
        proved += question.proved
    return answer


def condition_on_sizes(name: str, maps: Sequence[AnyMap], **given: Any) -> SizeCondition | None:
    """Return the weakest condition found on the parameters under which the property is true."""
    question, name = _question(name, maps, given)
    return weakest_condition(question, name)


def _question(name: str, maps: Sequence[AnyMap], given: Mapping[str, Any]) -> tuple[SizeQuestion, str]:
    """Return the question, and the name of the property in it."""
    expect_property(name, maps, given)
    lifted = [ParametricMap.of(m) for m in maps]
    question = SizeQuestion(lifted, {k: _sizes(k, x, lifted) for k, x in given.items()})
    return question, {"surjective": "covers"}.get(name, name).replace("-", "_")


def equal_for_all_sizes(
    left: AnyMap, right: AnyMap, mode: Literal["relation", "pointwise"] = "relation", *, confirm: bool = False
) -> Answer:
    """Decide whether two maps have the same relation for all values of parameters that the conditions of both allow."""
    if isinstance(left, IndexingMap) and isinstance(right, IndexingMap):
        return equal_maps(left, right, mode, confirm=confirm)
    question = SizeQuestion([ParametricMap.of(left), ParametricMap.of(right)], {"mode": mode})
    return question.decided("equal", confirm)


def simplified(m: ParametricMap) -> ParametricMap:
    """Simplify a map by equalities and implications that the prover shows for all sizes.

    There are fewer rewrites than for a concrete map: multiples of the divisor leave quotients and remainders, digits of
    a number are recombined, an extremum that always equals one argument becomes that argument, and conditions implied
    by the others are removed.
    """
    question = SizeQuestion([m], {})
    question.expect_divisors()
    points = [*question.points(m.conditions)]

    def holds(known: Sequence[Condition], goal: Condition) -> bool:
        return question.shown("simplify", [[(tuple(known), goal)]])[0]

    def better(e: Expr) -> Expr | None:
        size = len(postorder(e))
        shorter = (x for x in _shorter(e) if len(postorder(x)) < size)
        equal = (x for x in shorter if all(holds_at(e.eq(x), p) for p in points))
        return next((x for x in equal if holds(m.conditions, e.eq(x))), None)

    done: dict[Expr, Expr] = {}
    for node in postorder(*m.results):
        e = rebuild(node, [done[c] for c in node.children])
        while (found := better(e)) is not None:
            e = found
        done[node] = e
    conditions = [*m.conditions]
    for c in m.conditions:
        rest = [x for x in conditions if x is not c]
        if c in m.on_parameters:
            # assumptions about parameters must not depend on the domain
            rest = [x for x in rest if x in m.on_parameters]
        # boxes of variables are kept, because sizes are read from them
        if not (isinstance(c, Within) and c.e in m.variables) and holds(rest, c):
            conditions.remove(c)
    return replace(m, results=tuple(done[e] for e in m.results), conditions=tuple(conditions))


def _shorter(e: Expr) -> Iterator[Expr]:
    """Yield shorter terms that may equal ``e``, best first."""
    if isinstance(e, (Min, Max)):
        yield from e.args
    elif isinstance(e, (FloorDiv, Mod)):
        terms = e.a.terms if isinstance(e.a, Sum) else ((e.a, 1),)
        quotients = [(t, k, ratio(mul(t, k), e.b)) for t, k in terms]
        whole = add(*(q for *_, q in quotients if q is not None))
        rest = e.a - add(*(mul(t, k) for t, k, q in quotients if q is not None))
        if isinstance(e, FloorDiv):
            yield whole
        yield rest if isinstance(e, Mod) else whole + floordiv(rest, e.b)
        if isinstance(e, Mod):
            yield mod(rest, e.b)
        elif isinstance(e.a, FloorDiv):
            yield floordiv(e.a.a, mul(e.a.b, e.b))
    elif isinstance(e, Sum):
        for t, k in e.terms:
            if isinstance(t, Mod):
                yield e - mul(t, k) - mul(k, floordiv(t.a, t.b), t.b) + mul(t.a, k)


def _sizes(key: str, value: Any, maps: Sequence[ParametricMap]) -> Any:
    """Convert the sizes in an argument to expressions of the parameters."""
    if key not in ("shape", "width", "by"):
        return value
    scope = {p: var(p) for m in maps for p in m.parameters}
    made = [lift(parse_expr(x, scope) if isinstance(x, str) else x) for x in (value if key == "shape" else [value])]
    return made if key == "shape" else made[0]
