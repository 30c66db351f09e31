"""Decides equality and inclusion of the unions of relations of families of maps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from ...core.expr import Expr
from ...core.indexing_map import IndexingMap
from ..verdict import Status
from ..words import tuple_text
from . import enumerate as enumeration
from .equality import contains, equal_maps
from .image import Image, joined, named, targets
from .pairs import LARGE, SMALL, same_pairs
from .problem import Answer, Counterexample
from .readings import readings, runtime_box, shared_parameters
from .sought import Outer, hint, sought

#: Limit on pairs of maps up to which engines are usually faster than a large table.
_FEW = 64


def same_relation(left: Sequence[IndexingMap], right: Sequence[IndexingMap], confirm: bool = False) -> Answer:
    """Decide whether the unions of the relations of both families are equal.

    Runtime variables with the same name have the same value where they read the same element.
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
        equal: dict[int, Answer] = {}
        for m in left:
            k, answer = _first_equal(m, right, confirm)
            if k < 0:
                break
            equal[k] = answer
        if len(equal) == len(right):
            return joined([*equal.values()])
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

    A counterexample has the target of ``inner`` on its left side.  Runtime variables with the same name have the same
    value where they read the same element.
    """
    if len(inner) == len(outer) == 1:
        return contains(outer[0], inner[0], confirm=confirm)
    answers = [_included(m, [o for o in outer if _rank(o) == _rank(m)], confirm) for m in inner]
    return joined(answers)


def _included(m: IndexingMap, outer: Sequence[IndexingMap], confirm: bool) -> Answer:
    """Decide whether the union of the relations of ``outer`` contains that of a map."""
    (m, *maps), values = shared_parameters([m, *outer])
    image, at = Image.of(m), (*m.dim_vars, *m.results)
    box = dict((*image.variables, *runtime_box(m), *values))
    outers = [Outer(o, (*o.dim_vars, *o.results), at, hint(o, m)) for o in maps]
    ask = sought(tuple(box.items()), image.where, readings(m), outers, partial(_one_sided, m), confirm)
    return ask.answered()


def _one_sided(m: IndexingMap, env: dict[Expr, int], _: object) -> Counterexample:
    target, source = targets(m, env), tuple_text([env[v] for v in m.dim_vars])
    reason = f"source {source} reaches target {tuple_text(target)} on one side only"
    return Counterexample(named(env), target, None, reason)
