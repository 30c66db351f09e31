"""Decides equality and inclusion of the relations of maps.

A map's relation is ``{(source, target) | ∃ ranges: constraints ∧ results == target}``, for every value of its
runtime variables, which are parameters (reports/semantics.md, "Maps").
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal

from ...core.errors import InputError
from ...core.expr import Expr, ExprLike, Var, maximum, postorder, substitute_all, var
from ...core.indexing_map import Constraint, IndexingMap, RuntimeVariable, expect_map, unused_name
from ...core.interval import Interval
from ..verdict import Status
from ..words import tuple_text
from . import enumerate as enumeration
from .decide import ROUNDS
from .image import Image, Question, asked, included, joined, named, runtime_box, targets
from .pairs import LARGE, SMALL, same_pairs
from .problem import Answer, Box, Counterexample, Fact, Problem, substituted
from .questions import ConstraintLike, constraint_facts

#: Limit on pairs of maps up to which engines are usually faster than a large table.
_FEW = 64
#: Rounds that are spent on a smaller counterexample of the same direction.
_FIRST_ROUNDS = 2


# ------------------------------------------------------------------------------------------ runtime variables
@dataclass(frozen=True)
class _Pair:
    """Two maps over the same parameters.  Runtime values that they share have the names of ``left``."""

    left: IndexingMap
    right: IndexingMap
    parameters: Box
    left_facts: tuple[Fact, ...]  # boxes of shared runtime variables that differ between the maps
    right_facts: tuple[Fact, ...]
    #: The indices from which both maps read a shared runtime value, where they are not identical expressions.
    read: tuple[tuple[tuple[Expr, ...], tuple[Expr, ...]], ...]

    def images(self, left: Iterable[Expr], right: Iterable[Expr]) -> tuple[Image, Image]:
        """Return the images of these expressions over the domains of the two maps."""
        return Image.of(self.left, left, self.left_facts), Image.of(self.right, right, self.right_facts)


def _used(m: IndexingMap) -> set[RuntimeVariable]:
    """Return the runtime variables that results or constraints depend on, directly or through the source of another."""
    sources = {r.expr: r.source.results for r in m.rts if r.source is not None}
    used = {n for n in postorder(*m.results, *(c.expr for c in m.constraints)) if isinstance(n, Var)}
    todo = list(used)
    while todo:
        for n in postorder(*sources.get(todo.pop(), ())):
            if isinstance(n, Var) and n not in used:
                used.add(n)
                todo.append(n)
    return {r for r in m.rts if r.expr in used}


def _same_source(a: RuntimeVariable, b: RuntimeVariable) -> bool:
    return a.source is None or b.source is None or a.source.hlo == b.source.hlo


def _matched(a: IndexingMap, b: IndexingMap, match: bool = True) -> _Pair:
    """Return both maps over common parameters.

    Runtime variables are matched unless their sources name different instructions: first those with equal
    sources, then those of one name, then those at one position.  With ``match=False`` none are matched.
    """
    used_a, used_b = _used(a), _used(b)
    place: dict[Any, ExprLike] = dict(zip(b.dim_vars, a.dim_vars, strict=False))
    place.update(zip(b.range_vars, a.range_vars, strict=False))
    partner: dict[str, RuntimeVariable] = {}
    free = list(a.rts)

    def take(accept: Callable[[int, RuntimeVariable, RuntimeVariable], bool]) -> None:
        for k, y in enumerate(b.rts):
            if y.name not in partner:
                found = next((x for x in free if _same_source(x, y) and accept(k, x, y)), None)
                if found is not None:
                    partner[y.name] = found
                    free.remove(found)

    def alike(k: int, x: RuntimeVariable, y: RuntimeVariable) -> bool:
        if x.source is None or y.source is None or len(x.source.results) != len(y.source.results):
            return False
        return (x.lo, x.hi) == (y.lo, y.hi) and _moved(y.source.results, place) == x.source.results

    if match:
        # an unused variable must not be matched in place of a used one
        take(lambda k, x, y: x in used_a and y in used_b and alike(k, x, y))
        take(lambda k, x, y: x in used_a and y in used_b and x.name == y.name)
        take(lambda k, x, y: x in used_a and y in used_b and k < len(a.rts) and a.rts[k] is x)
        take(lambda k, x, y: x.name == y.name and (x.lo, x.hi) == (y.lo, y.hi))
    taken = {v.name for v in a.variables} | {v.name for v in b.variables}
    names: dict[str, str] = {}
    for y in b.rts:
        names[y.name] = partner[y.name].name if y.name in partner else unused_name(y.name, taken)

    boxes: dict[Var, Interval] = {x.expr: Interval(x.lo, x.hi) for x in a.rts}
    left_facts: list[Fact] = []
    right_facts: list[Fact] = []
    read: list[tuple[tuple[Expr, ...], tuple[Expr, ...]]] = []
    renaming = {y.expr: var(names[y.name]) for y in b.rts}
    a_ranges = set(a.range_vars)
    for y in b.rts:
        own, v = Interval(y.lo, y.hi), var(names[y.name])
        if y.name not in partner:
            boxes[v] = own
            continue
        x = partner[y.name]
        if own != boxes[v]:
            left_facts.append(Fact(v, boxes[v]))
            right_facts.append(Fact(v, own))
            boxes[v] = boxes[v] | own
        if x.source is not None and y.source is not None:
            theirs = _moved(y.source.results, renaming)
            # equal index expressions with ranges read the same element only for equal values of the ranges
            ranged = not a_ranges.isdisjoint(postorder(*x.source.results))
            if ranged or _moved(theirs, place) != x.source.results:
                read.append((x.source.results, theirs))
    moved = iter(_moved((*b.results, *(c.expr for c in b.constraints)), renaming))
    # sources are dropped: they are no longer needed, and may mention undeclared variables after renaming
    right = IndexingMap._trusted(
        b.dims,
        b.ranges,
        tuple(RuntimeVariable(names[y.name], y.lo, y.hi) for y in b.rts),
        tuple(next(moved) for _ in b.results),
        [Constraint(next(moved), c.lo, c.hi) for c in b.constraints],
    )
    return _Pair(a, right, tuple(boxes.items()), tuple(left_facts), tuple(right_facts), tuple(read))


def _moved(exprs: Iterable[Expr], mapping: Mapping[Any, ExprLike]) -> tuple[Expr, ...]:
    return tuple(substitute_all(tuple(exprs), mapping))


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

    Runtime variables are shared parameters if they have equal sources, otherwise equal names, otherwise equal
    positions, unless their sources name different instructions.  If sources read one instruction at different
    index expressions, the indices must be equal wherever the value matters.
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

    pair = _matched(left, right)
    answer = joined(_directions(pair, mode, facts, (), confirm, both))
    if not answer.proved or not pair.read:
        return answer
    # the maps agree if the shared values are equal; values read from different elements may differ
    mentioned = {v for ls, rs in pair.read for e in (*ls, *rs) for v in e.variables()}
    if mentioned.isdisjoint({*left.range_vars, *right.range_vars}):
        place = dict(zip(right.dim_vars, left.dim_vars, strict=True))
        gaps = [a - b for ls, rs in pair.read for a, b in zip(ls, substitute_all(rs, place), strict=True)]
        apart = maximum(*gaps, *(-g for g in gaps))
        facts = (*facts, Fact(apart, Interval(1, math.inf)))
        rest = _directions(_matched(left, right, match=False), mode, facts, (), confirm, both)
        return joined([answer, *rest], "the maps read different runtime elements, and the results differ")
    # an index depends on a range variable: compare the elements that are read together with the results
    strict = _directions(pair, mode, facts, pair.read, confirm, both)
    if all(a.proved for a in strict):
        return joined([answer, *strict])
    loose = _directions(_matched(left, right, match=False), mode, facts, (), confirm, both)
    chosen = loose if all(a.proved for a in loose) else strict
    return joined([answer, *chosen], "the maps read different runtime elements for this target")


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
    image = Image.of(m, (), extra)
    problem = Problem((*image.variables, *runtime_box(m)), image.where)

    def describe(env: dict[Expr, int]) -> Counterexample:
        target, there = targets(m, env), None
        if len(m.dims) == len(other.dims) and not (m.rts or other.rts):
            # the other map may have a target of another length at this source
            there = _target_of_other(m, other, env)
        left, right = (target, there) if name == "left" else (there, target)
        return Counterexample(named(env), left, right, why)

    return asked(problem, describe, confirm)


def _directions(
    pair: _Pair,
    mode: str,
    domain: Sequence[Fact],
    observed: Sequence[tuple[tuple[Expr, ...], tuple[Expr, ...]]],
    confirm: bool,
    both: bool,
) -> list[Answer]:
    """Decide whether left is included in right and, with ``both``, right in left."""
    pointwise = mode == "pointwise"
    left, right = pair.left, pair.right
    extra_left = [e for ls, _ in observed for e in ls]
    extra_right = [e for _, rs in observed for e in rs]
    fixed_left = left.range_vars if pointwise else ()
    fixed_right = right.range_vars if pointwise else ()
    one, other = pair.images(
        (*left.dim_vars, *fixed_left, *left.results, *extra_left),
        (*right.dim_vars, *fixed_right, *right.results, *extra_right),
    )
    place: dict[Any, ExprLike] = dict(zip(left.dim_vars, right.dim_vars, strict=True))
    if pointwise:
        place.update(zip(left.range_vars, right.range_vars, strict=True))
    there = substituted(domain, place)

    questions = [_inclusion("left", left, right, one, other, pair.parameters, domain, confirm, pointwise)]
    functions = pointwise or not (left.ranges or right.ranges)
    if both and not (functions and _same_domain(one, other, place)):
        if functions:
            # results were compared where both are defined: the converse need only compare the domains
            variables = len(left.dims) + len(fixed_left)
            one, other = (replace(i, coords=i.coords[:variables]) for i in (one, other))
        questions.append(_inclusion("right", right, left, other, one, pair.parameters, there, confirm, pointwise))
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


def _same_domain(one: Image, other: Image, place: Mapping[Any, ExprLike]) -> bool:
    """Return whether two domains have equal boxes and equal constraints as expressions."""
    boxes = [i for _, i in one.variables], [i for _, i in other.variables]
    return boxes[0] == boxes[1] and set(substituted(one.where, place)) == set(other.where)


def _inclusion(
    side: str,
    holder: IndexingMap,
    lacking: IndexingMap,
    inner: Image,
    outer: Image,
    parameters: Box,
    where: Sequence[Fact],
    confirm: bool,
    pointwise: bool,
) -> Question:
    problem = included(inner, [outer], parameters, where)

    def describe(env: dict[Expr, int]) -> Counterexample:
        target = targets(holder, env)
        there = _target_of_other(holder, lacking, env)
        source = tuple(env[v] for v in holder.dim_vars)
        place = f"source {tuple_text(source)}"
        if pointwise and holder.ranges:
            place = f"point {tuple_text([*source, *(env[v] for v in holder.range_vars)])}"
        elif there == target and lacking.ranges:
            there = None
        if there is None and (pointwise or not lacking.ranges):
            reason = f"{place} is in the domain of the {side} map only"
        elif not pointwise and (lacking.ranges or holder.ranges):
            reason = f"source {tuple_text(source)} reaches target {tuple_text(target)} in the {side} map only"
        else:
            reason = f"the results differ at {place}"
        left, right = (target, there) if side == "left" else (there, target)
        return Counterexample(named(env), left, right, reason)

    return Question(problem, describe, confirm)


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
    pair = _matched(left, right)
    a, b = pair.left, pair.right
    one, other = pair.images((*a.dim_vars, *a.results), (*b.results, *b.dim_vars))

    def described(side: str, m: IndexingMap, env: dict[Expr, int]) -> Counterexample:
        target = targets(m, env)
        source = tuple_text([env[v] for v in m.dim_vars])
        reason = f"the {side} map relates {source} to {tuple_text(target)}, the other does not go back"
        left, right = (target, None) if side == "left" else (None, target)
        return Counterexample(named(env), left, right, reason)

    answers = [
        asked(included(one, [other], pair.parameters), partial(described, "left", a), confirm),
        asked(included(other, [one], pair.parameters), partial(described, "right", b), confirm),
    ]
    return joined(answers)


# ---------------------------------------------------------------------------------------------- unions of maps
def same_relation(left: Sequence[IndexingMap], right: Sequence[IndexingMap], confirm: bool = False) -> Answer:
    """Decide whether the unions of the relations of both families are equal.

    Runtime variables with the same name have the same value.
    """
    if len(left) == len(right) == 1:
        return equal_maps(left[0], right[0], confirm=confirm)
    # for few maps the engines are faster than a large table
    few = len(left) * len(right) <= _FEW
    same = Answer(Status.PROVED, enumeration.NAME, (f"{enumeration.NAME}: the same pairs",))
    if not confirm and same_pairs(left, right, SMALL if few else LARGE):
        return same
    if len(left) == len(right):
        # first try the usual case, which is stronger: each map equals one of the other family
        found = [_first_equal(m, right, confirm) for m in left]
        if {k for k, _ in found} == {*range(len(right))}:
            return joined([a for _, a in found])
    back = inclusion(right, left, confirm)
    if back.counterexample is not None:
        c = back.counterexample
        back = replace(back, counterexample=replace(c, left=c.right, right=c.left))
    answer = joined([inclusion(left, right, confirm), back])
    if answer.verdict is Status.UNDECIDED and few and not confirm and same_pairs(left, right):
        return same
    return answer


def _first_equal(m: IndexingMap, others: Sequence[IndexingMap], confirm: bool) -> tuple[int, Answer]:
    """Return the index of the first map that is equal to ``m``, or -1, with the answer."""
    for k, other in enumerate(others):
        if _rank(m) == _rank(other):
            answer = equal_maps(m, other, confirm=confirm)
            if answer.proved:
                return k, answer
    return -1, Answer(Status.UNDECIDED)


def _rank(m: IndexingMap) -> tuple[int, int]:
    return len(m.dims), len(m.results)


def inclusion(inner: Sequence[IndexingMap], outer: Sequence[IndexingMap], confirm: bool = False) -> Answer:
    """Decide whether the union of the relations of ``outer`` contains that of ``inner``.

    A counterexample has the target of ``inner`` on its left side.  Runtime variables with the same name are equal.
    """
    if len(inner) == len(outer) == 1:
        return contains(outer[0], inner[0], confirm=confirm)
    answers = []
    for m in inner:
        boxes: dict[Var, Interval] = {}
        for v, i in (*runtime_box(m), *(b for o in outer for b in runtime_box(o))):
            boxes[v] = boxes.get(v, i) | i
        images = [_pairs(o) for o in outer if _rank(o) == _rank(m)]
        problem = included(_pairs(m), images, tuple(boxes.items()))
        answers.append(asked(problem, partial(_one_sided, m), confirm))
    return joined(answers)


def _pairs(m: IndexingMap) -> Image:
    """Return the relation of a map, with the boxes of its runtime variables as facts."""
    return Image.of(m, (*m.dim_vars, *m.results), [Fact(v, i) for v, i in runtime_box(m)])


def _one_sided(m: IndexingMap, env: dict[Expr, int]) -> Counterexample:
    target, source = targets(m, env), tuple_text([env[v] for v in m.dim_vars])
    reason = f"source {source} reaches target {tuple_text(target)} on one side only"
    return Counterexample(named(env), target, None, reason)
