"""Decides equality and inclusion of the unions of relations of families of maps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from ...core.expr import Expr, interpret
from ...core.indexing_map import IndexingMap
from ...core.interval import LINE, Interval
from ..verdict import Status
from ..words import tuple_text
from . import enumerate as enumeration
from .equality import contains, equal_maps, goes_to, inverse
from .forms import NotQuasiAffine
from .normal_form import Empty, NormalForm
from .pairs import LARGE, SMALL, Relation, same_pairs
from .points import joined, named, targets
from .problem import Answer, Counterexample
from .readings import shared_parameters
from .sought import Outer, hint

#: Limit on pairs of maps up to which engines are usually faster than a large table.
_FEW = 64


def same_relation(
    left: Sequence[IndexingMap], right: Sequence[IndexingMap], confirm: bool = False, back: bool = False
) -> Answer:
    """Decide whether the unions of the relations of both families are equal, or inverse with ``back``.

    Runtime variables with the same name have the same value where they read the same element.
    """
    equal = inverse if back else equal_maps
    if len(left) == len(right) == 1:
        return equal(left[0], right[0], confirm=confirm)
    one, other = [Relation(m) for m in left], [Relation(m, back) for m in right]
    # for few maps the engines are faster than a large table
    few = len(left) * len(right) <= _FEW
    same = Answer(Status.PROVED, enumeration.NAME, (f"{enumeration.NAME}: the same pairs",))
    if not confirm and same_pairs(one, other, SMALL if few else LARGE):
        return same
    # the usual case, which is stronger: each map equals one of the other family
    answers: list[Answer] = []
    free = [*other] if len(left) == len(right) else []
    for r in one:
        tried = ((s, equal(r.map, s.map, confirm=confirm)) for s in free if _may_be_equal(r, s))
        found = next((f for f in tried if f[1].proved), None)
        if found is None:
            break
        free.remove(found[0])
        answers.append(found[1])
    if len(answers) == len(left) == len(right):
        return joined(answers)
    converse = _included(other, one, confirm)
    if converse.counterexample is not None:
        c = converse.counterexample
        converse = replace(converse, counterexample=replace(c, left=c.right, right=c.left))
    answer = joined([_included(one, other, confirm), converse])
    if answer.verdict is Status.UNDECIDED and few and not confirm and same_pairs(one, other):
        return same
    return answer


def _may_be_equal(one: Relation, other: Relation) -> bool:
    """Return whether the intervals of the coordinates do not rule it out."""
    return one.rank == other.rank and not any((i & j).empty for i, j in zip(_spans(one), _spans(other), strict=True))


def _spans(r: Relation) -> list[Interval]:
    """Return an interval of each coordinate."""
    try:
        forms = NormalForm(tuple(r.map.bounds.items()), 0)
        return [forms.bounds(f) for f in interpret([e for side in r.ends for e in side], forms)]
    except (NotQuasiAffine, Empty):
        return [LINE for side in r.ends for _ in side]


def inclusion(inner: Sequence[IndexingMap], outer: Sequence[IndexingMap], confirm: bool = False) -> Answer:
    """Decide whether the union of the relations of ``outer`` contains that of ``inner``.

    A counterexample has the target of ``inner`` on its left side.  Runtime variables with the same name have the same
    value where they read the same element.
    """
    if len(inner) == len(outer) == 1:
        return contains(outer[0], inner[0], confirm=confirm)
    return _included([*map(Relation, inner)], [*map(Relation, outer)], confirm)


def _included(inner: Sequence[Relation], outer: Sequence[Relation], confirm: bool) -> Answer:
    answers = []
    for r in inner:
        alike = [o for o in outer if o.rank == r.rank]
        (m, *maps), values = shared_parameters([r.map, *(o.map for o in alike)])
        at = [e for side in Relation(m, r.back).ends for e in side]
        outers = []
        for o, n in zip(alike, maps, strict=True):
            source, target = Relation(n, o.back).ends
            outers.append(Outer(n, (*source, *target), tuple(at), hint(n, m)))
        answers.append(goes_to(m, outers, values, partial(_one_sided, m), confirm).answered())
    return joined(answers)


def _one_sided(m: IndexingMap, env: dict[Expr, int], _: object) -> Counterexample:
    target, source = targets(m, env), tuple_text([env[v] for v in m.dim_vars])
    reason = f"source {source} reaches target {tuple_text(target)} on one side only"
    return Counterexample(named(env), target, None, reason)
