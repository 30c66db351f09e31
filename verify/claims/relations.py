"""Relations of several maps together: inclusion, and what one element belongs to.

Where a single map is compared with a single map, :mod:`..concrete` does it.  Unions of maps are needed where
a computation reads one array in several ways.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from ...core.expr import Expr, Int, Var, integer, substitute_all, var
from ...core.indexing_map import IndexingMap, RuntimeVariable, unused_name
from ...core.interval import Interval
from ...core.text import format_expr
from ..concrete import Answer, Counterexample, Fact, Option, Problem, contains, decide_problem, equal_maps
from ..verdict import Status

__all__ = ["aligned", "inclusion", "same_relation", "sharing_runtime", "targets_of"]

_ZERO = Interval(0, 0)


def same_relation(left: Sequence[IndexingMap], right: Sequence[IndexingMap], confirm: bool = False) -> Answer:
    """Whether both families of maps have the same relation, each family taken together.

    Runtime variables of one name are one value: see :func:`aligned`.
    """
    if len(left) == len(right) == 1:
        return equal_maps(left[0], right[0], confirm=confirm)
    if len(left) == len(right):
        # the usual case, and the stronger statement: map for map
        answers = [_first_proved(m, right, confirm) for m in left]
        if None not in answers and len({k for a in answers if a is not None for k in a[1]}) == len(right):
            return _all_of([a[0] for a in answers if a is not None])
    back = inclusion(right, left, confirm)
    if back.counterexample is not None:
        c = back.counterexample
        back = replace(back, counterexample=replace(c, left=c.right, right=c.left))
    return _worst([inclusion(left, right, confirm), back])


def _first_proved(
    m: IndexingMap, others: Sequence[IndexingMap], confirm: bool
) -> tuple[Answer, set[int]] | None:
    for k, other in enumerate(others):
        if _shape(m) == _shape(other):
            answer = equal_maps(m, other, confirm=confirm)
            if answer.proved:
                return answer, {k}
    return None


def _shape(m: IndexingMap) -> tuple[int, int]:
    return len(m.dims), len(m.results)


def inclusion(inner: Sequence[IndexingMap], outer: Sequence[IndexingMap], confirm: bool = False) -> Answer:
    """Whether every pair of the maps ``inner`` is a pair of one of ``outer``.

    A counterexample has the target of ``inner`` on its left side.
    """
    if len(inner) == len(outer) == 1:
        return contains(outer[0], inner[0], confirm=confirm)
    return _worst([_included(m, outer, confirm) for m in inner])


def _included(inner: IndexingMap, outer: Sequence[IndexingMap], confirm: bool) -> Answer:
    start = time.perf_counter()
    boxes: dict[Var, Interval] = {v.expr: Interval(v.lo, v.hi) for v in (*inner.dims, *inner.ranges)}
    own = {v.name for v in (*inner.dims, *inner.ranges)}
    where = [Fact(c.expr, Interval(c.lo, c.hi)) for c in inner.constraints]
    for m in (inner, *outer):
        for v in m.rts:
            boxes[v.expr] = boxes.get(v.expr, Interval(v.lo, v.hi)) | Interval(v.lo, v.hi)
    where += [Fact(v.expr, Interval(v.lo, v.hi)) for v in inner.rts]
    options = [_option(inner, m, own) for m in outer if _shape(m) == _shape(inner)]
    problem = Problem(tuple(boxes.items()), tuple(where), tuple(options))
    decision = decide_problem(problem, confirm=confirm)
    found = None
    status = {"holds": Status.PROVED, "fails": Status.REFUTED}.get(decision.outcome.status, Status.UNDECIDED)
    if status is Status.REFUTED:
        env = problem.environment(decision.outcome.point)
        groups = (inner.dim_vars, inner.range_vars, inner.rt_vars)
        target = inner.evaluate(*([env[v] for v in variables] for variables in groups))
        source = tuple(env[v] for v in inner.dim_vars)
        reason = f"source {_tuple(source)} reaches target {_tuple(target or ())} on one side only"
        values = {str(v): x for v, x in env.items()}
        found = Counterexample(values, target, None, reason, decision.outcome.minimal)
    return Answer(
        status, decision.engine, decision.tried, found, time.perf_counter() - start, decision.confirmed_by
    )


def _option(inner: IndexingMap, m: IndexingMap, own: set[str]) -> Option:
    """That ``m`` has the pair that ``inner`` has, for some values of the ranges of ``m``."""
    chosen: dict[Expr, Expr] = dict(zip(m.dim_vars, inner.dim_vars, strict=True))
    boxes = {v.expr: Interval(v.lo, v.hi) for v in m.ranges}
    facts = [Fact(chosen[v.expr], Interval(v.lo, v.hi)) for v in m.dims]
    facts += [Fact(v.expr, Interval(v.lo, v.hi)) for v in m.rts]
    # a range that is a result is known from the target, and nothing has to be guessed
    for e, t in zip(m.results, inner.results, strict=True):
        if isinstance(e, Var) and e in boxes and e not in chosen:
            chosen[e] = t
            facts.append(Fact(t, boxes[e]))
    unknowns = []
    for v in m.range_vars:
        if v not in chosen:
            name = v.name + "'"
            while name in own:
                name += "'"
            chosen[v] = var(name)
            unknowns.append((var(name), boxes[v]))
    moved = substitute_all([*m.results, *(c.expr for c in m.constraints)], chosen)
    facts += [Fact(e - t, _ZERO) for e, t in zip(moved, inner.results, strict=False)]
    facts += [
        Fact(e, Interval(c.lo, c.hi)) for e, c in zip(moved[len(m.results) :], m.constraints, strict=True)
    ]
    return Option(tuple(facts), tuple(unknowns))


def _all_of(answers: Sequence[Answer]) -> Answer:
    engines = dict.fromkeys(a.engine for a in answers)
    tried = tuple(t for a in answers for t in a.tried)
    confirmed = dict.fromkeys(a.confirmed_by for a in answers)
    by = "" if "" in confirmed else " and ".join(confirmed)
    seconds = sum(a.seconds for a in answers)
    return Answer(Status.PROVED, " and ".join(engines) or "nothing to show", tried, None, seconds, by)


def _worst(answers: Sequence[Answer]) -> Answer:
    """The answer to a conjunction, with the counterexample of smallest magnitude."""
    seconds = sum(a.seconds for a in answers)
    tried = tuple(t for a in answers for t in a.tried)
    refuted = [a for a in answers if a.counterexample is not None]
    if refuted:
        return replace(min(refuted, key=_magnitude), seconds=seconds, tried=tried)
    undecided = [a for a in answers if not a.proved]
    return replace(undecided[0], seconds=seconds, tried=tried) if undecided else _all_of(answers)


def _magnitude(a: Answer) -> int:
    return sum(map(abs, a.counterexample.values.values())) if a.counterexample is not None else 0


def _tuple(values: Sequence[int]) -> str:
    return f"({', '.join(map(str, values))})"


# ----------------------------------------------------------------------------------------- runtime variables
def aligned(maps: Sequence[IndexingMap], model: Sequence[IndexingMap]) -> list[IndexingMap]:
    """``maps`` with their runtime variables renamed to those of ``model`` that read the same value.

    The same value is: the same element of the same instruction; else the same name, else the same place,
    unless both sides say which instruction they read and the instructions differ.  Variables without partner
    get names of their own.
    """
    theirs = [(k, m, x) for m in model for k, x in enumerate(m.rts)]
    taken = {v.name for m in (*model, *maps) for v in m.variables}
    out = []
    for m in maps:
        names: dict[str, str] = {}
        used: set[str] = set()
        for rule in (_same_element, _same_name, _same_place):
            for k, y in enumerate(m.rts):
                if y.name in names:
                    continue
                for j, other, x in theirs:
                    if x.name in used or (x.source and y.source and x.source.hlo != y.source.hlo):
                        continue
                    if rule(j, other, x.name, k, m, y.name):
                        names[y.name] = x.name
                        used.add(x.name)
                        break
        clash = {v.name for v in (*m.dims, *m.ranges)} | used
        for y in m.rts:
            if y.name not in names:
                name = y.name
                while name in clash or any(name == x.name for _, _, x in theirs):
                    name += "_"
                names[y.name] = name
                clash.add(name)
        changed = {a: b for a, b in names.items() if a != b}
        # a dimension or range that has the name of the partner steps aside
        for v in (*m.dims, *m.ranges):
            if v.name in used:
                changed[v.name] = unused_name(v.name, taken)
        out.append(m.rename(changed) if changed else m)
    return out


def sharing_runtime(maps: Sequence[IndexingMap], others: Sequence[IndexingMap]) -> list[IndexingMap]:
    """``maps`` with the runtime variables that only ``others`` have, on which they then do not depend.

    So a counterexample says what values these have.
    """
    missing = {v.name: v for m in others for v in m.rts}
    out = []
    for m in maps:
        own = {v.name for v in m.variables}
        more = [RuntimeVariable(v.name, v.lo, v.hi) for v in missing.values() if v.name not in own]
        out.append(m.with_(rts=(*m.rts, *more)) if more else m)
    return out


def _same_element(j: int, other: IndexingMap, x: str, k: int, m: IndexingMap, y: str) -> bool:
    a, b = other.rts[j].source, m.rts[k].source
    if a is None or b is None or len(a.results) != len(b.results):
        return False
    place: dict[Expr, Expr] = dict(zip(m.dim_vars, other.dim_vars, strict=False))
    place.update(zip(m.range_vars, other.range_vars, strict=False))
    return tuple(substitute_all(b.results, place)) == a.results


def _same_name(j: int, other: IndexingMap, x: str, k: int, m: IndexingMap, y: str) -> bool:
    return x == y


def _same_place(j: int, other: IndexingMap, x: str, k: int, m: IndexingMap, y: str) -> bool:
    return j == k


# --------------------------------------------------------------------------------------------- at an element
def targets_of(maps: Iterable[IndexingMap], source: Sequence[int], values: Mapping[str, int]) -> list[str]:
    """In words, all targets of one source element; ``values`` are those of runtime variables by name.

    Ranges stay as they are: ``(0, s0) for s0 in [0, 63]``.
    """
    found: dict[str, None] = {}
    for m in maps:
        said = _targets(m, source, values)
        if said:
            found.setdefault(said)
    return [*found]


def _targets(m: IndexingMap, source: Sequence[int], values: Mapping[str, int]) -> str:
    if len(source) != len(m.dims):
        return ""
    at: dict[Expr, Expr] = {}
    for v, x in (
        *zip(m.dims, source, strict=True),
        *((r, values[r.name]) for r in m.rts if r.name in values),
    ):
        if not v.lo <= x <= v.hi:
            return ""
        at[v.expr] = integer(x)
    results = substitute_all(m.results, at)
    where = []
    for e, c in zip(substitute_all([c.expr for c in m.constraints], at), m.constraints, strict=True):
        if isinstance(e, Int):
            if not c.lo <= e.value <= c.hi:
                return ""
        else:
            where.append((e, c.lo, c.hi))
    order = [v.expr for v in m.variables]
    text = f"({', '.join(format_expr(e, variables=order) for e in results)})"
    mentioned = {v for e in (*results, *(e for e, _, _ in where)) for v in e.variables()}
    if any(v.hi < v.lo for v in m.ranges):
        return ""
    boxes = [f"{v.name} in [{v.lo}, {v.hi}]" for v in m.ranges if v.expr in mentioned]
    boxes += [f"{format_expr(e, variables=order)} in [{lo}, {hi}]" for e, lo, hi in where]
    return text + (f" for {', '.join(boxes)}" if boxes else "")
