"""Search for the weakest condition on sizes under which a property holds.

Candidates are conditions that hold at exactly the small sizes where the concrete deciders prove the property.  Then it
is proved that the condition suffices, and that there is a counterexample wherever it fails, at a point given by
expressions in the sizes.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from ..core.condition import Condition, all_of, any_of, negate
from ..core.expr import Expr, Mul, Var, integer, lift, postorder, var
from .size_claims import Claim, SizeQuestion, holds_at
from .verdict import Status

#: Limits on the sizes evaluated, the terms compared, the conditions given to the prover, and the points tried.
_SIZES, _TERMS, _PROVED, _POINTS = 60, 9, 6, 20_000


class SizeCondition(NamedTuple):
    """A sufficient condition on sizes; ``necessary`` if that is proved too."""

    condition: Condition
    necessary: bool

    def __str__(self) -> str:
        return f"{self.condition}" + (", and only then" if self.necessary else "")


def weakest_condition(question: SizeQuestion, name: str) -> SizeCondition | None:
    """Return a sufficient condition on the parameters for a property, the weakest that is found."""
    question = replace(question, budget=question.budget.scaled(0.1))
    sizes, held = [], []
    for values in itertools.islice(question.values(), _SIZES):
        answer = question.concrete(name, values)
        if answer is not None and answer.verdict in (Status.PROVED, Status.REFUTED):
            sizes.append(values)
            held.append(answer.proved)
    if all(held) or not any(held):
        return None
    claims = question.claims(name)
    enough = None
    for c in itertools.islice(_conditions(question, sizes, held), _PROVED):
        if question.shown(name, claims, more=(c,))[0]:
            if any(_fails(question, c, claim, sizes) for claim in _refutable(name, claims)) or (
                name == "covers" and _unwritten(question, c)
            ):
                return SizeCondition(c, True)
            enough = enough or SizeCondition(c, False)
    return enough


def _refutable(name: str, claims: Sequence[Sequence[Claim]]) -> Iterator[Claim]:
    """Yield claims whose failure at a point refutes the property, unlike claims about a proposed inverse."""
    if name in ("injective", "in_bounds", "disjoint", "aligned", "monotone", "contiguous"):
        yield from (forms[0] for forms in claims)


def _terms(question: SizeQuestion) -> list[Expr]:
    """Return sizes that a condition may compare: parameters, sizes of variables, strides, arguments, and 1."""
    found: dict[Expr, None] = dict.fromkeys(map(var, question.parameters))
    for m in question.maps:
        own = {*m.variables}
        low, high = m.lower_bounds, m.upper_bounds
        found.update(dict.fromkeys(high[v] - low[v] + 1 for v in m.variables if v in low and v in high))
        found.update(dict.fromkeys(high.values()))
        for node in postorder(*m.results):
            if isinstance(node, Mul):
                found.update(dict.fromkeys(f for f in node.factors if own.isdisjoint(f.variables())))
    found.update(dict.fromkeys(lift(e) for e in question.arguments))
    return list(dict.fromkeys((integer(1), *found)))[:_TERMS]


def _conditions(
    question: SizeQuestion, sizes: Sequence[Mapping[str, int]], held: Sequence[bool]
) -> Iterator[Condition]:
    """Yield conditions, and combinations of two, that hold at exactly the sizes where the property held."""
    wanted = tuple(held)
    atoms: dict[tuple[bool, ...], Condition] = {}
    pairs = [*itertools.permutations(_terms(question), 2)]
    # weaker relations first, because relations may coincide at a few sizes
    for relate in (Expr.__le__, Expr.divides, Expr.__lt__, Expr.eq):
        for c in (relate(a, b) for a, b in pairs):
            truth = tuple(holds_at(c, values) for values in sizes)
            if any(truth) and not all(truth):
                atoms.setdefault(truth, c)
    if wanted in atoms:
        yield atoms[wanted]
    for (s, a), (t, b) in itertools.combinations(atoms.items(), 2):
        if tuple(x or y for x, y in zip(s, t, strict=True)) == wanted:
            yield any_of((a, b))
        if tuple(x and y for x, y in zip(s, t, strict=True)) == wanted:
            yield all_of((a, b))


def _fails(question: SizeQuestion, c: Condition, claim: Claim, sizes: Sequence[Mapping[str, int]]) -> bool:
    """Return whether a point, given by expressions in the sizes, is proved a counterexample wherever ``c`` is false."""
    hypotheses, goal = claim
    wrong = all_of([*hypotheses, negate(goal)])
    variables = [v for v in wrong.variables() if v.name not in question.parameters]
    outside = [values for values in sizes if not holds_at(c, values)]
    choices = [_places(question, v) for v in variables]
    for place in itertools.islice(itertools.product(*choices), _POINTS):
        point: dict[Any, Expr] = dict(zip(variables, place, strict=True))
        if all(_at(wrong, point, values) for values in outside):
            there = wrong.substitute(point)
            return question.shown("counterexample", [[((*question.sizes, negate(c)), there)]])[0]
    return False


def _unwritten(question: SizeQuestion, c: Condition) -> bool:
    """Return whether an element, given by expressions in the sizes, is proved unwritten wherever ``c`` is false."""
    (m,), shape, known = question.maps, question.given["shape"], (*question.sizes, negate(c))
    places = [[n - 1, *(t for t in _terms(question) if t is not n)] for n in shape]
    for element in itertools.islice(itertools.product(*places), _PROVED):
        inside = all_of(t.within(0, n - 1) for t, n in zip(element, shape, strict=True))
        missed = any_of(e.ne(t) for e, t in zip(m.results, element, strict=True))
        if question.shown("element", [[(known, inside)], [((*known, *m.conditions), missed)]])[0]:
            return True
    return False


def _places(question: SizeQuestion, v: Var) -> list[Expr]:
    """Return expressions in the sizes to try for a coordinate of a counterexample."""
    plain = var(v.name.rstrip("'"))
    found: dict[Expr, None] = dict.fromkeys([integer(0), integer(1), *(e - 1 for e in question.arguments)])
    for m in question.maps:
        for ends, step in ((m.lower_bounds, 1), (m.upper_bounds, -1)):
            if plain in ends:
                found |= {ends[plain]: None, ends[plain] + step: None}
    return [*(found | dict.fromkeys(t for t in _terms(question) if t.variables()))][:8]


def _at(wrong: Condition, point: Mapping[Any, Expr], values: Mapping[str, int]) -> bool:
    """Return whether a point is a counterexample at these sizes."""
    try:
        there = {v.name: int(e.evaluate(values)) for v, e in point.items()}
    except ZeroDivisionError:
        return False
    return holds_at(wrong, {**values, **there})
