"""Decides equality and inclusion of the relations of maps.

A map's relation is ``{(source, target) | ∃ ranges: constraints ∧ results == target}``, for every value of its
runtime variables, which are parameters (reports/semantics.md, "Maps").
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal

from ...core.errors import InputError
from ...core.expr import Expr, ExprLike, Var, postorder, substitute_all, var
from ...core.indexing_map import Constraint, IndexingMap, RuntimeVariable, expect_map, unused_name
from ..words import tuple_text
from .decide import ROUNDS
from .image import OPEN, Image, Question, asked, included, joined, named, targets
from .problem import Answer, Box, Counterexample, Fact, Problem, substituted
from .questions import ConstraintLike, constraint_facts
from .readings import read_at_ranges, read_from, readings, runtime_box, shared_values

#: Rounds that are spent on a smaller counterexample of the same direction.
_FIRST_ROUNDS = 2


# ------------------------------------------------------------------------------------------ runtime variables
@dataclass(frozen=True)
class _Pair:
    """Two maps over the same parameters.  Runtime values that they share have the names of ``left`` and one box."""

    left: IndexingMap
    right: IndexingMap
    parameters: Box
    #: The indices from which both maps read a shared runtime value.
    read: tuple[tuple[tuple[Expr, ...], tuple[Expr, ...]], ...]
    #: For each map, whether it reads a value that is not shared from an index that depends on a range.
    alone: tuple[bool, bool]

    @property
    def read_apart(self) -> tuple[tuple[tuple[Expr, ...], tuple[Expr, ...]], ...]:
        """The indices that may differ at a point of both maps."""
        place: dict[Any, ExprLike] = dict(zip(self.right.dim_vars, self.left.dim_vars, strict=True))
        place.update(zip(self.right.range_vars, self.left.range_vars, strict=False))
        # equal index expressions with ranges read the same element only for equal values of the ranges
        ranges = {*self.left.range_vars}
        return tuple(
            (ls, rs) for ls, rs in self.read if _moved(rs, place) != ls or not ranges.isdisjoint(postorder(*ls))
        )

    def images(self, left: Iterable[Expr], right: Iterable[Expr]) -> tuple[Image, Image]:
        """Return the images of these expressions over the domains of the two maps."""
        return Image.of(self.left, left), Image.of(self.right, right)


def used_values(m: IndexingMap) -> set[RuntimeVariable]:
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


def same_source(a: RuntimeVariable, b: RuntimeVariable) -> bool:
    return a.source is None or b.source is None or a.source.hlo == b.source.hlo


def _matched(a: IndexingMap, b: IndexingMap, match: bool = True, spelled: bool = True) -> _Pair:
    """Return both maps over common parameters.

    Runtime variables are matched unless their sources name different instructions: first those with equal sources (if
    these are ``spelled`` in the same dimensions), then those of one name, then those at one position.  With
    ``match=False`` none are matched.
    """
    used_a, used_b = used_values(a), used_values(b)
    place: dict[Any, ExprLike] = dict(zip(b.dim_vars, a.dim_vars, strict=False))
    place.update(zip(b.range_vars, a.range_vars, strict=False))
    partner: dict[str, RuntimeVariable] = {}
    free = list(a.rts)

    def take(accept: Callable[[int, RuntimeVariable, RuntimeVariable], bool]) -> None:
        for k, y in enumerate(b.rts):
            if y.name not in partner:
                found = next((x for x in free if same_source(x, y) and accept(k, x, y)), None)
                if found is not None:
                    partner[y.name] = found
                    free.remove(found)

    def alike(k: int, x: RuntimeVariable, y: RuntimeVariable) -> bool:
        if x.source is None or y.source is None or len(x.source.results) != len(y.source.results):
            return False
        return (x.lo, x.hi) == (y.lo, y.hi) and _moved(y.source.results, place) == x.source.results

    if match:
        # an unused variable must not be matched in place of a used one
        take(lambda k, x, y: spelled and x in used_a and y in used_b and alike(k, x, y))
        take(lambda k, x, y: x in used_a and y in used_b and x.name == y.name)
        take(lambda k, x, y: x in used_a and y in used_b and k < len(a.rts) and a.rts[k] is x)
        take(lambda k, x, y: x.name == y.name and (x.lo, x.hi) == (y.lo, y.hi))
    taken = {v.name for v in a.variables} | {v.name for v in b.variables}
    names: dict[str, str] = {}
    for y in b.rts:
        names[y.name] = partner[y.name].name if y.name in partner else unused_name(y.name, taken)

    renaming = {y.expr: var(names[y.name]) for y in b.rts}
    moved = dict(zip(b.roots, _moved(b.roots, renaming), strict=True))
    # a renamed variable may be undeclared
    right = IndexingMap._trusted(
        b.dims,
        b.ranges,
        tuple(y.named(names[y.name]).moved(moved) for y in b.rts),
        tuple(moved[e] for e in b.results),
        [Constraint(moved[c.expr], c.lo, c.hi) for c in b.constraints],
    )
    (left, right), parameters = shared_values([a, right])
    # it does not matter from where an unused value is read
    pairs = [(k, partner[y.name]) for k, y in enumerate(b.rts) if y in used_b and y.name in partner]
    shared = [(k, left.rts[a.rts.index(x)]) for k, x in pairs if x in used_a]
    read = tuple(
        (x.source.results, y.source.results)
        for k, x in shared
        if x.source is not None and (y := right.rts[k]).source is not None
    )
    together = {x.expr for _, x in shared}
    alone = tuple(
        bool({v.expr for v in used_values(m)} & read_at_ranges(m, m.results) - together) for m in (left, right)
    )
    return _Pair(left, right, parameters, read, (alone[0], alone[1]))


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
    apart = pair.read_apart
    alone = pair.alone[1] or (both and pair.alone[0])
    if not answer.proved or not (apart or alone):
        return answer
    # the maps agree if the shared values are equal; values read from different elements may differ
    if not (read_at_ranges(left) or read_at_ranges(right)):
        rest = _directions(_matched(left, right, match=False), mode, facts, (), confirm, both)
        return joined([answer, *rest], "the maps read different runtime elements, and the results differ")
    # an index depends on a range variable: compare the elements that are read together with the results
    strict = [] if alone else _directions(pair, mode, facts, apart, confirm, both)
    if strict and all(a.proved for a in strict):
        return joined([answer, *strict])
    # the elements do not matter if the maps agree at each point, whatever the values are
    if len(left.ranges) == len(right.ranges):
        loose = _directions(_matched(left, right, match=False), "pointwise", facts, (), confirm, both)
        if all(a.proved for a in loose):
            return joined([answer, *loose])
    # other ranges may do where these elements are not the same
    if not strict or all(
        a.proved for a in _directions(_matched(left, right, match=False), mode, facts, (), confirm, both)
    ):
        return OPEN
    return joined([answer, *strict], "the maps read different runtime elements for this target")


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

    return asked(problem, describe, confirm, readings(m))


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
    if pointwise:
        place = zip((*lacking.dim_vars, *lacking.range_vars), (*holder.dim_vars, *holder.range_vars), strict=True)
        theirs = readings(lacking, dict(place))
    else:
        theirs = read_from(lacking, holder.dim_vars)

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

    return Question(problem, describe, confirm, [*readings(holder), *theirs])


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
    pair = _matched(left, right, spelled=False)
    a, b = pair.left, pair.right
    reads = [*readings(a), *read_from(b, a.results)], [*readings(b), *read_from(a, b.results)]

    def described(side: str, m: IndexingMap, env: dict[Expr, int]) -> Counterexample:
        target = targets(m, env)
        source = tuple_text([env[v] for v in m.dim_vars])
        reason = f"the {side} map relates {source} to {tuple_text(target)}, the other does not go back"
        left, right = (target, None) if side == "left" else (None, target)
        return Counterexample(named(env), left, right, reason)

    def answered(read: Iterable[tuple[tuple[Expr, ...], tuple[Expr, ...]]]) -> Answer:
        indices = [e for ls, _ in read for e in ls], [e for _, rs in read for e in rs]
        one, other = pair.images((*a.dim_vars, *a.results, *indices[0]), (*b.results, *b.dim_vars, *indices[1]))
        answers = [
            asked(included(one, [other], pair.parameters), partial(described, "left", a), confirm, reads[0]),
            asked(included(other, [one], pair.parameters), partial(described, "right", b), confirm, reads[1]),
        ]
        return joined(answers)

    answer = answered(())
    if not answer.proved or not (any(ls for ls, _ in pair.read) or any(pair.alone)):
        return answer
    # a shared value must be read from the same element for each pair
    strict = OPEN if any(pair.alone) else answered(pair.read)
    return joined([answer, strict]) if strict.proved else OPEN
