"""Decides equality and inclusion of the relations of maps.

A map's relation is ``{(source, target) | ∃ ranges: constraints ∧ results == target}``, for every value of its
runtime variables, which are parameters (reports/semantics.md, "Maps").
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Literal

from ...core.errors import InputError
from ...core.expr import Expr, ExprLike, substitute_all, var
from ...core.indexing_map import Constraint, IndexingMap, RuntimeVariable, expect_map, unused_name
from ..words import tuple_text
from .decide import ROUNDS
from .points import Question, asked, domain_of, joined, named, targets
from .problem import Answer, Box, Counterexample, Fact, substituted
from .questions import ConstraintLike, constraint_facts
from .readings import readings, runtime_box, shared_parameters, used_values
from .sought import Describe, Outer, hint, sought

#: Rounds that are spent on a smaller counterexample of the same direction.
_FIRST_ROUNDS = 2


# ------------------------------------------------------------------------------------------ runtime variables
def _matched(a: IndexingMap, b: IndexingMap, spelled: bool = True) -> tuple[list[IndexingMap], Box]:
    """Return both maps over common parameters, and these.

    A value that one map does not read anywhere is a parameter.  It is matched by its name, then by its position.  Values
    that both maps read have one name only if they are the same element in the same words (``spelled``).
    """
    used_a, used_b = used_values(a), used_values(b)
    place: dict[Any, ExprLike] = dict(zip(b.dim_vars, a.dim_vars, strict=False))
    place.update(zip(b.range_vars, a.range_vars, strict=False))
    partner: dict[str, RuntimeVariable] = {}
    free = list(a.rts)

    def take(accept: Callable[[int, RuntimeVariable, RuntimeVariable], bool]) -> None:
        for k, y in enumerate(b.rts):
            if y.name not in partner:
                found = next((x for x in free if accept(k, x, y)), None)
                if found is not None:
                    partner[y.name] = found
                    free.remove(found)

    def alike(_: int, x: RuntimeVariable, y: RuntimeVariable) -> bool:
        if not spelled or x.source is None or y.source is None or x.source.hlo != y.source.hlo:
            return False
        return tuple(substitute_all(y.source.results, place)) == x.source.results

    def unread(x: RuntimeVariable, y: RuntimeVariable) -> bool:
        # an unused variable must not be matched in place of a used one
        return (x.source is None or y.source is None) and x in used_a and y in used_b

    take(alike)
    take(lambda k, x, y: unread(x, y) and x.name == y.name)
    take(lambda k, x, y: unread(x, y) and k < len(a.rts) and a.rts[k] is x)
    taken = {v.name for v in a.variables} | {v.name for v in b.variables}
    names: dict[str, str] = {}
    for y in b.rts:
        names[y.name] = partner[y.name].name if y.name in partner else unused_name(y.name, taken)
    return shared_parameters([a, _renamed(b, names)], {x.name for x in partner.values()})


def _renamed(m: IndexingMap, names: Mapping[str, str]) -> IndexingMap:
    """Return the map with other names of its runtime variables, of which some may be undeclared."""
    moved = dict(zip(m.roots, substitute_all(m.roots, {r.expr: var(names[r.name]) for r in m.rts}), strict=True))
    return IndexingMap._trusted(
        m.dims,
        m.ranges,
        tuple(r.named(names[r.name]).moved(moved) for r in m.rts),
        tuple(moved[e] for e in m.results),
        [Constraint(moved[c.expr], c.lo, c.hi) for c in m.constraints],
    )


# ------------------------------------------------------------------------------------------- equality of maps
def equal_maps(
    left: IndexingMap,
    right: IndexingMap,
    mode: Literal["relation", "pointwise"] = "relation",
    domain: Iterable[ConstraintLike] | None = None,
    *,
    confirm: bool = False,
) -> Answer:
    """Decide whether both maps have the same relation, for every value of their runtime variables.

    Dimension variables correspond by position.  ``domain`` (constraints over the names of ``left``) restricts
    the sources.  With ``mode="pointwise"`` range variables correspond by position too, and the maps must have
    the same domain and the same results at each of its points, which is stronger than equality of relations.

    Runtime values are equal where they are read from the same element of the same instruction.  Those without a source
    are parameters, which both maps share if they have equal names, otherwise equal positions.
    """
    answer = _compared(left, right, mode, domain, confirm, both=True)
    return replace(answer, sides=(left, right), mode=mode)


def contains(
    outer: IndexingMap, inner: IndexingMap, domain: Iterable[ConstraintLike] | None = None, *, confirm: bool = False
) -> Answer:
    """Decide whether the relation of ``outer`` contains that of ``inner``.

    ``domain`` is over the names of ``inner``.  In a counterexample ``inner`` is the left side.
    """
    return _compared(inner, outer, "relation", domain, confirm, both=False)


def _compared(
    left: IndexingMap,
    right: IndexingMap,
    mode: Literal["relation", "pointwise"],
    domain: Iterable[ConstraintLike] | None,
    confirm: bool,
    both: bool,
) -> Answer:
    if mode not in ("relation", "pointwise"):
        raise InputError(f"`{mode}` is no way to compare maps", expected="relation or pointwise")
    expect_map(left)
    expect_map(right)
    facts = constraint_facts(domain or ())
    for n in {n for f in facts for n in f.expr.variables()} - {v.expr for v in left.variables}:
        raise InputError(f"the domain mentions `{n}`, which is no variable of the left map")
    mismatch = _different_arity(left, right, mode) or _without_values(left, right)
    if mismatch:
        sides = [("left", left, right, facts), *([("right", right, left, ())] if both else [])]
        found = [_nonempty(name, m, other, extra, mismatch, confirm) for name, m, other, extra in sides]
        return joined(found)

    (left, right), parameters = _matched(left, right)
    return joined(_directions(left, right, parameters, mode == "pointwise", facts, confirm, both))


def _different_arity(left: IndexingMap, right: IndexingMap, mode: str) -> str:
    for what, a, b in (
        ("dimension variable", left.dims, right.dims),
        ("result", left.results, right.results),
        *((("range variable", left.ranges, right.ranges),) if mode == "pointwise" else ()),
    ):
        if len(a) != len(b):
            return f"one map has {len(a)} {what}{'' if len(a) == 1 else 's'}, the other {len(b)}"
    return ""


def _without_values(left: IndexingMap, right: IndexingMap) -> str:
    """Return a message if a runtime variable has an empty box, so that its map has no point; empty otherwise."""
    for side, m in (("left", left), ("right", right)):
        for v in m.rts:
            if v.lo > v.hi:
                return f"{v.name} has no value in the {side} map"
    return ""


def _nonempty(name: str, m: IndexingMap, other: IndexingMap, extra: Sequence[Fact], why: str, confirm: bool) -> Answer:
    """Decide whether ``m`` is empty, refuted by a point of it: maps of different shape are equal only if both are empty."""

    def describe(env: dict[Expr, int]) -> Counterexample:
        target, there = targets(m, env), None
        if len(m.dims) == len(other.dims) and not (m.rts or other.rts):
            # the other map may have a target of another length at this source
            there = _target_of_other(m, other, env)
        left, right = (target, there) if name == "left" else (there, target)
        return Counterexample(named(env), left, right, why)

    return asked(domain_of(m, more=extra), describe, confirm, readings(m))


def _directions(
    left: IndexingMap,
    right: IndexingMap,
    parameters: Box,
    pointwise: bool,
    domain: Sequence[Fact],
    confirm: bool,
    both: bool,
) -> list[Answer]:
    """Decide whether left is included in right and, with ``both``, right in left."""
    one, other = ((*m.dim_vars, *(m.range_vars if pointwise else ())) for m in (left, right))
    place: dict[Any, ExprLike] = dict(zip(one, other, strict=True))

    def question(side: str, domain: Sequence[Fact], results: bool) -> Question:
        pairs = (left, one), (right, other)
        (holder, at), (lacking, coords) = pairs if side == "left" else reversed(pairs)
        outer = Outer(lacking, coords, at, hint(lacking, holder))
        if results:
            outer = replace(outer, coords=(*coords, *lacking.results), at=(*at, *holder.results))
        return _inclusion(side, holder, outer, parameters, domain, confirm, pointwise)

    questions = [question("left", domain, True)]
    functions = pointwise or not (left.ranges or right.ranges)
    if both and not (functions and _same_domain(left, right, domain, place)):
        # the results of functions were compared where both are defined: the converse need only compare the domains
        questions.append(question("right", substituted(domain, place), not functions))
    return _answered(questions)


def _answered(questions: Sequence[Question]) -> list[Answer]:
    """Return answers to all questions, or only those with a counterexample; the questions take turns, round by round.

    One refutation refutes the conjunction.  The other questions are then only asked for smaller counterexamples.
    """
    answers: list[Answer | None] = [None] * len(questions)
    for rounds in range(1, ROUNDS + 1):
        for k, question in enumerate(questions):
            answer = answers[k]
            if answer is None or not answer.proved:
                answer = answers[k] = question.answered(rounds)
            if answer.counterexample is None:
                continue
            # unanswered questions are asked again only if this counterexample is minimal for its own question
            again = _is_minimal(answer) or _is_minimal(answer := question.answered(_FIRST_ROUNDS))
            pairs = zip(questions, answers, strict=True)
            unasked = [q for q, a in pairs if q is not question and (a is None or (again and not a.proved))]
            return _smallest(answer, unasked)
        if all(a is not None and a.proved for a in answers):
            break
    return [a for a in answers if a is not None]


def _smallest(refuted: Answer, others: Sequence[Question]) -> list[Answer]:
    """Return the refuted answer, and those of ``others`` with a counterexample that is no larger."""
    assert refuted.counterexample is not None
    total = sum(map(abs, refuted.counterexample.values.values()))
    answers = [refuted, *(q.within(total).answered(1) for q in others if total)]
    found = [a for a in answers if a.counterexample is not None]
    if all(a.proved or _is_minimal(a) for a in answers):
        return found
    return [not_minimal(a) for a in found]


def _is_minimal(answer: Answer) -> bool:
    return answer.counterexample is not None and answer.counterexample.minimal


def not_minimal(answer: Answer) -> Answer:
    """Return the refutation without the claim that its counterexample is minimal."""
    assert answer.counterexample is not None
    return replace(answer, counterexample=replace(answer.counterexample, minimal=False))


def _same_domain(one: IndexingMap, other: IndexingMap, domain: Sequence[Fact], place: Mapping[Any, ExprLike]) -> bool:
    """Return whether two domains have equal boxes and equal constraints as expressions."""
    boxes = [[(v.lo, v.hi) for v in (*m.dims, *m.ranges)] for m in (one, other)]
    facts = substituted(domain_of(one, more=domain).where, place)
    return boxes[0] == boxes[1] and set(facts) == set(domain_of(other).where)


def _inclusion(
    side: str,
    holder: IndexingMap,
    outer: Outer,
    parameters: Box,
    domain: Sequence[Fact],
    confirm: bool,
    pointwise: bool,
) -> Question:
    ranges = len(outer.map.ranges)
    known = {v.expr for v in holder.variables}.union(v for v, _ in parameters)

    def describe(env: dict[Expr, int], found: list[tuple[int, ...] | None]) -> Counterexample:
        target = targets(holder, env)
        there = found[0] if ranges in (0, len(holder.ranges)) else None
        source = tuple(env[v] for v in holder.dim_vars)
        place = f"source {tuple_text(source)}"
        if pointwise and holder.ranges:
            place = f"point {tuple_text([*source, *(env[v] for v in holder.range_vars)])}"
        elif there == target and ranges:
            there = None
        if there is None and (pointwise or not ranges):
            reason = f"{place} is in the domain of the {side} map only"
        elif not pointwise and (ranges or holder.ranges):
            reason = f"source {tuple_text(source)} reaches target {tuple_text(target)} in the {side} map only"
        else:
            reason = f"the results differ at {place}"
        if env.keys() - known:
            reason += ", where the maps read different runtime elements"
        left, right = (target, there) if side == "left" else (there, target)
        return Counterexample(named(env), left, right, reason)

    return goes_to(holder, [outer], parameters, describe, confirm, domain)


def goes_to(
    m: IndexingMap,
    outers: Sequence[Outer],
    parameters: Box,
    describe: Describe,
    confirm: bool = False,
    extra: Sequence[Fact] = (),
) -> Question:
    """Return the question whether one of the other maps has a point for each point of ``m``."""
    domain = domain_of(m, more=extra)
    box = dict((*domain.variables, *parameters))
    reads = readings(m)
    # the extra facts may be about values of the other map
    values = {v for f in extra for v in f.expr.variables()} - box.keys()
    for other in [o.map for o in outers] if values else ():
        box.update((v, i) for v, i in runtime_box(other) if v in values)
        there = readings(other, dict(zip(other.dim_vars, m.dim_vars, strict=True)))
        reads += [r for r in there if r.value in values]
    return sought(tuple(box.items()), domain.where, reads, outers, describe, confirm)


def _target_of_other(holder: IndexingMap, lacking: IndexingMap, env: Mapping[Expr, int]) -> tuple[int, ...] | None:
    """Return the target of the other map at the same point, if it has as many ranges or none."""
    if len(lacking.ranges) not in (0, len(holder.ranges)):
        return None
    there = dict(env)
    there.update((v, env[u]) for v, u in zip(lacking.dim_vars, holder.dim_vars, strict=True))
    there.update((v, env[u]) for v, u in zip(lacking.range_vars, holder.range_vars, strict=False))
    return targets(lacking, there)


def inverse(left: IndexingMap, right: IndexingMap, *, confirm: bool = False) -> Answer:
    """Decide whether the relation of ``right`` is the converse of that of ``left``.

    In a counterexample the side of the map that has the pair holds its target, and the other side is ``None``.
    """
    if len(left.dims) != len(right.results) or len(right.dims) != len(left.results):
        raise InputError(
            f"a map from {len(left.dims)} to {len(left.results)} dimensions and one from {len(right.dims)}"
            f" to {len(right.results)} cannot be inverse to each other"
        )
    (a, b), parameters = _matched(left, right, spelled=False)

    def described(side: str, m: IndexingMap, env: dict[Expr, int], _: object) -> Counterexample:
        target = targets(m, env)
        source = tuple_text([env[v] for v in m.dim_vars])
        reason = f"the {side} map relates {source} to {tuple_text(target)}, the other does not go back"
        left, right = (target, None) if side == "left" else (None, target)
        return Counterexample(named(env), left, right, reason)

    def answered(side: str, m: IndexingMap, back: IndexingMap) -> Answer:
        outer = Outer(back, (*back.dim_vars, *back.results), (*m.results, *m.dim_vars), hint(back, m))
        return goes_to(m, [outer], parameters, partial(described, side, m), confirm).answered()

    return joined([answered("left", a, b), answered("right", b, a)])
