"""Questions about concrete maps and expressions, and their answers.

Each function states one claim and returns an :class:`~.problem.Answer`: proved, or refuted by a
counterexample that is the smallest one unless it says otherwise.  A map's relation is ``{(source, target) |
there are ranges: constraints and results == target}``, for every value of its runtime variables, which are
parameters (reports/semantics.md, "Maps").
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias

from ...core.condition import And, Compare, Condition, Divides, Not, Or, Truth, Within, negate
from ...core.errors import InputError, TooLargeError
from ...core.expr import (
    Expr,
    ExprLike,
    Int,
    Integers,
    Sum,
    Var,
    floordiv,
    integer,
    interpret,
    lift,
    linear,
    maximum,
    mod,
    postorder,
    substitute_all,
    var,
)
from ...core.indexing_map import Constraint, IndexingMap, RuntimeVariable, expect_map, unused_name
from ...core.interval import Interval
from ..verdict import Status
from .decide import ROUNDS, Decision, decide_problem
from .problem import Answer, Box, Counterexample, Fact, Option, Problem, counterexample_order

__all__ = [
    "contains",
    "covers",
    "disjoint",
    "equal_exprs",
    "equal_maps",
    "functional",
    "holds",
    "in_bounds",
    "inverse",
    "is_empty",
    "onto",
    "partition",
]

BoxLike: TypeAlias = "Mapping[Any, Any] | Iterable[Any]"
ConstraintLike: TypeAlias = "Constraint | tuple[ExprLike, int, int]"
#: The size of each dimension, or the interval of each index.
ShapeLike: TypeAlias = "Sequence[int | Interval]"

_ZERO = Interval(0, 0)
_MAX_OPTIONS = 4096


# -------------------------------------------------------------------------------------------- expressions and
# conditions
def equal_exprs(
    left: Sequence[ExprLike] | ExprLike,
    right: Sequence[ExprLike] | ExprLike,
    box: BoxLike,
    constraints: Iterable[ConstraintLike] = (),
    *,
    confirm: bool = False,
) -> Answer:
    """Whether both (lists of) expressions have the same values at every point of ``box`` that satisfies
    ``constraints``.

    ``box`` lists ``(name, lo, hi)`` or maps variables to :class:`~indexproof.core.interval.Interval`; ends
    may be infinite.
    """
    ls, rs = _exprs(left), _exprs(right)
    if len(ls) != len(rs):
        raise InputError(f"there are {len(ls)} expressions on the left and {len(rs)} on the right")
    facts = tuple(Fact(a - b, _ZERO) for a, b in zip(ls, rs, strict=True))
    problem = Problem(_box(box), _facts(constraints), (Option(facts),))

    def describe(env: dict[Expr, int]) -> Counterexample:
        values = tuple(int(x) for x in interpret([*ls, *rs], Integers(env)))
        return Counterexample(_named(env), values[: len(ls)], values[len(ls) :], "the values differ")

    return _asked(problem, describe, confirm)


def holds(
    goal: Condition, box: BoxLike, hypotheses: Iterable[Condition] = (), *, confirm: bool = False
) -> Answer:
    """Whether ``goal`` is true at every point of ``box`` where all ``hypotheses`` are."""
    where: list[Fact] = []
    options = [Option(tuple(facts)) for facts in _alternatives(goal)]
    for h in hypotheses:
        cases = _alternatives(h)
        if len(cases) == 1:
            where += cases[0]
        else:  # a hypothesis that is no conjunction goes to the other side: it is false, or the goal is true
            options += [Option(tuple(f)) for f in _alternatives(negate(h))]
    problem = Problem(_box(box), tuple(where), tuple(options))
    return _asked(problem, lambda env: Counterexample(_named(env), reason=f"`{goal}` is false"), confirm)


def _alternatives(c: Condition) -> list[list[Fact]]:
    """``c`` in disjunctive normal form."""
    match c:
        case Truth(value):
            return [[]] if value else []
        case Compare("<=", x, y):
            return [[Fact(x - y, Interval(-math.inf, 0))]]
        case Compare("<", x, y):
            return [[Fact(x - y, Interval(-math.inf, -1))]]
        case Compare("==", x, y):
            return [[Fact(x - y, _ZERO)]]
        case Compare("!=", x, y):
            return [[Fact(x - y, Interval(-math.inf, -1))], [Fact(x - y, Interval(1, math.inf))]]
        case Within(e, Int() as lo, Int() as hi):
            return [[Fact(e, Interval(lo.value, hi.value))]]
        case Within(e, lo, hi):
            return [[Fact(lo - e, Interval(-math.inf, 0)), Fact(e - hi, Interval(-math.inf, 0))]]
        case Divides(Int() as d, e):
            return [[Fact(mod(e, d), _ZERO)]] if d.value else []
        case Not(Divides(Int() as d, e)):
            return [[Fact(mod(e, abs(d.value)), Interval(1, math.inf))]] if d.value else [[]]
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


# -------------------------------------------------------------------------------------------------- relations
@dataclass(frozen=True)
class _Image:
    """``{coords | variables in their boxes, where}``, for each value of the parameters."""

    variables: Box
    where: tuple[Fact, ...]
    coords: tuple[Expr, ...]

    def primed(self) -> _Image:
        """The same set with other names for its variables."""
        renamed = {v: var(v.name + "'", v.kind) for v, _ in self.variables}
        moved = iter(substitute_all([*(f.expr for f in self.where), *self.coords], renamed))
        where = tuple(Fact(next(moved), f.within) for f in self.where)
        return _Image(tuple((renamed[v], i) for v, i in self.variables), where, tuple(moved))


def _image(m: IndexingMap, coords: Iterable[Expr]) -> _Image:
    variables = tuple((v.expr, Interval(v.lo, v.hi)) for v in (*m.dims, *m.ranges))
    return _Image(variables, _facts(m.constraints), tuple(coords))


def _member(image: _Image, at: Sequence[Expr], hints: Sequence[Sequence[Expr]] = ()) -> Option | None:
    """The option that says: ``at`` is in ``image``; ``None`` if nothing is.

    Coordinates that determine a variable (``v`` itself, or ``k·v + rest`` with the rest known) do so at once,
    and what remains unknown is left to the engines.  ``hints`` are guesses for the variables of ``image``.
    """
    box = dict(image.variables)
    if any(i.empty for i in box.values()):
        return None
    chosen: dict[Var, Expr] = {}
    progress = True
    while progress:
        progress = False
        for e, t in zip(image.coords, at, strict=True):
            found = _solved(e, t, box, chosen)
            if found is not None:
                chosen[found[0]] = found[1]
                progress = True
    moved = iter(substitute_all([*image.coords, *(f.expr for f in image.where)], chosen))
    facts = [Fact(next(moved) - t, _ZERO) for t in at]
    facts = [f for f in facts if f.expr is not _NOTHING]
    facts += [Fact(e, box[v]) for v, e in chosen.items()]
    facts += [Fact(next(moved), f.within) for f in image.where]
    mentioned = {n for n in postorder(*(f.expr for f in facts)) if isinstance(n, Var)}
    unknowns = [k for k, (v, _) in enumerate(image.variables) if v not in chosen and v in mentioned]
    guesses = tuple(tuple(hint[k] for k in unknowns) for hint in hints) if unknowns else ()
    return Option(tuple(facts), tuple(image.variables[k] for k in unknowns), guesses)


_NOTHING = integer(0)


def _solved(
    e: Expr, t: Expr, box: Mapping[Var, Interval], chosen: Mapping[Var, Expr]
) -> tuple[Var, Expr] | None:
    """The variable that ``e == t`` determines, and its value if there is one."""
    if isinstance(e, Var):
        return (e, t) if e in box and e not in chosen else None
    if not isinstance(e, Sum):
        return None
    free = [(v, k) for v, k in e.terms if isinstance(v, Var) and v in box and v not in chosen]
    if len(free) != 1:
        return None
    v, k = free[0]
    rest = linear(e.const, [(x, j) for x, j in e.terms if x is not v])
    if any(isinstance(n, Var) and n in box and n not in chosen for n in postorder(rest)):
        return None
    # where k does not divide, the fact e == t, which stays, is false
    return v, floordiv(t - substitute_all((rest,), chosen)[0], k)


def _included(inner: _Image, outer: Iterable[_Image], parameters: Box, where: Sequence[Fact] = ()) -> Problem:
    """The problem that every element of ``inner`` is in one of ``outer``."""
    options = []
    for image in outer:
        positions = [v for v, _ in inner.variables]
        hints = [positions] if len(positions) == len(image.variables) else []
        option = _member(image.primed(), inner.coords, hints)
        if option is not None:
            options.append(option)
    return Problem((*inner.variables, *parameters), (*inner.where, *where), tuple(options))


# ------------------------------------------------------------------------------------------ runtime variables
@dataclass(frozen=True)
class _Pair:
    """Two maps over the same parameters: runtime values they share have the names of ``left``."""

    left: IndexingMap
    right: IndexingMap
    parameters: Box
    left_facts: tuple[Fact, ...]  # the box of a runtime variable, where the other map has another one
    right_facts: tuple[Fact, ...]
    #: Indices that both maps read for a shared runtime value, where they are not written alike.
    read: tuple[tuple[tuple[Expr, ...], tuple[Expr, ...]], ...]
    #: The names of the shared runtime variables that have such indices.
    doubtful: frozenset[str]


def _used(m: IndexingMap) -> set[RuntimeVariable]:
    """The runtime variables that results or constraints depend on, also through another's source."""
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
    """Both maps over common parameters.

    Runtime variables belong together if neither's source contradicts it: first those with equal source, then
    those of the same name, then those in the same place.  With ``match=False`` all are different values.
    """
    used_a, used_b = _used(a), _used(b)
    place = dict(zip(b.dim_vars, a.dim_vars, strict=False)) | dict(
        zip(b.range_vars, a.range_vars, strict=False)
    )
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
        # variables that nothing depends on must not take the place of one that matters
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
    doubtful: set[str] = set()
    renaming = {y.expr: var(names[y.name]) for y in b.rts}
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
            if _moved(theirs, place) != x.source.results:
                read.append((x.source.results, theirs))
                doubtful.add(x.name)
    moved = iter(_moved((*b.results, *(c.expr for c in b.constraints)), renaming))
    # the sources have served their purpose, and a renamed variable may not be declared
    right = IndexingMap._trusted(
        b.dims,
        b.ranges,
        tuple(RuntimeVariable(names[y.name], y.lo, y.hi) for y in b.rts),
        tuple(next(moved) for _ in b.results),
        [Constraint(next(moved), c.lo, c.hi) for c in b.constraints],
    )
    return _Pair(
        a,
        right,
        tuple(boxes.items()),
        tuple(left_facts),
        tuple(right_facts),
        tuple(read),
        frozenset(doubtful),
    )


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
    """Whether both maps have the same relation, for every value of their runtime variables.

    Dimension variables correspond by position.  ``domain`` (constraints over the names of ``left``) restricts
    the question to some sources.  With ``mode="pointwise"`` range variables correspond by position too, and
    the maps must have the same domain and the same results at each of its points, which is more than equality
    of relations.

    Runtime variables are shared parameters where both maps read the same value: equal source, otherwise equal
    name, otherwise equal place, unless the sources name different instructions.  Where the sources name one
    instruction but the index is written differently, the indices must be equal wherever the difference
    matters.
    """
    return replace(_compared(left, right, mode, domain, confirm, both=True), sides=(left, right))


def contains(
    outer: IndexingMap,
    inner: IndexingMap,
    domain: Iterable[ConstraintLike] | None = None,
    *,
    confirm: bool = False,
) -> Answer:
    """Whether the relation of ``outer`` contains that of ``inner``; ``domain`` is over the names of
    ``inner``.

    In a counterexample ``inner`` is the left side.
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
    start = time.perf_counter()
    facts = _facts(domain or ())
    _declared(facts, left)
    mismatch = _different_arity(left, right, mode) or _without_values(left, right)
    if mismatch:
        sides = [("left", left, right, facts), *([("right", right, left, ())] if both else [])]
        found = [_nonempty(name, m, other, extra, mismatch, confirm) for name, m, other, extra in sides]
        return _joined(found, start)

    pair = _matched(left, right)
    answer = _joined(_directions(pair, mode, facts, (), confirm, both), start)
    if not answer.proved or not pair.read:
        return answer
    # the maps agree if the shared values are the same; where they read other elements, values may differ
    apart = linear(0, ())
    over_ranges = any(
        isinstance(n, Var) and n in {*left.range_vars, *right.range_vars}
        for ls, rs in pair.read
        for n in postorder(*ls, *rs)
    )
    if not over_ranges:
        place = dict(zip(right.dim_vars, left.dim_vars, strict=True))
        gaps = [a - b for ls, rs in pair.read for a, b in zip(ls, _moved(rs, place), strict=True)]
        apart = maximum(*gaps, *(-g for g in gaps))
        differ = (Fact(apart, Interval(1, math.inf)),)
        rest = _directions(_matched(left, right, match=False), mode, (*facts, *differ), (), confirm, both)
        return _joined(
            [answer, *rest], start, "the maps read different runtime elements, and the results differ"
        )
    # an index that depends on a range variable: compare what is read together with where it is read
    strict = _directions(pair, mode, facts, pair.read, confirm, both)
    if all(a.proved for a in strict):
        return _joined([answer, *strict], start)
    loose = _directions(_matched(left, right, match=False), mode, facts, (), confirm, both)
    chosen = loose if all(a.proved for a in loose) else strict
    return _joined([answer, *chosen], start, "the maps read different runtime elements for this target")


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
    """Which runtime variable has no value, so that its map has no point, whatever the values of the others are."""
    for side, m in (("left", left), ("right", right)):
        for v in m.rts:
            if v.lo > v.hi:
                return f"{v.name} has no value in the {side} map"
    return ""


def _nonempty(
    name: str, m: IndexingMap, other: IndexingMap, extra: Sequence[Fact], why: str, confirm: bool
) -> Answer:
    """Refuted by a point of ``m``: maps of different shape are equal only when both are empty."""
    image = _image(m, ())
    problem = Problem((*image.variables, *_runtime_box(m)), (*image.where, *extra))

    def describe(env: dict[Expr, int]) -> Counterexample:
        target, there = _targets(m, env), None
        if len(m.dims) == len(other.dims) and not (m.rts or other.rts):
            # both have such a source, and the other one may also have a target there, of another length
            there = _targets(other, _at_same_place(m, other, env))
        left, right = (target, there) if name == "left" else (there, target)
        return Counterexample(_named(env), left, right, why)

    return _asked(problem, describe, confirm)


def _directions(
    pair: _Pair,
    mode: str,
    domain: Sequence[Fact],
    observed: Sequence[tuple[tuple[Expr, ...], tuple[Expr, ...]]],
    confirm: bool,
    both: bool,
) -> list[Answer]:
    """Left within right and, for ``both``, right within left."""
    left, right = pair.left, pair.right
    extra_left = [e for ls, _ in observed for e in ls]
    extra_right = [e for _, rs in observed for e in rs]
    fixed_left = left.range_vars if mode == "pointwise" else ()
    fixed_right = right.range_vars if mode == "pointwise" else ()
    one = _image(left, (*left.dim_vars, *fixed_left, *left.results, *extra_left))
    one = replace(one, where=(*one.where, *pair.left_facts))
    other = _image(right, (*right.dim_vars, *fixed_right, *right.results, *extra_right))
    other = replace(other, where=(*other.where, *pair.right_facts))
    place: dict[Any, ExprLike] = dict(zip(left.dim_vars, right.dim_vars, strict=True))
    if mode == "pointwise":
        place.update(zip(left.range_vars, right.range_vars, strict=True))
    there = [Fact(e, f.within) for e, f in zip(_moved((f.expr for f in domain), place), domain, strict=True)]
    answers = [_inclusion("left", left, right, one, other, pair.parameters, domain, confirm)]
    if not both:
        return answers
    if mode == "pointwise" or not (left.ranges or right.ranges):
        # where both are defined they have been compared: what is left is whether one is defined where the other is not
        if _same_domain(one, other, place):
            return answers
        variables = len(left.dims) + len(fixed_left)
        one, other = (replace(i, coords=i.coords[:variables]) for i in (one, other))
    refuted = answers[0].counterexample is not None
    # the other direction can only have a smaller counterexample then, which is worth two rounds
    rounds = 2 if refuted else ROUNDS
    back = _inclusion("right", right, left, other, one, pair.parameters, there, confirm, rounds)
    if refuted and back.verdict is Status.UNDECIDED:
        found = answers[0].counterexample
        assert found is not None
        return [replace(answers[0], counterexample=replace(found, minimal=False))]
    return [*answers, back]


def _same_domain(one: _Image, other: _Image, place: Mapping[Any, ExprLike]) -> bool:
    """Whether two domains are stated alike."""
    boxes = [i for _, i in one.variables], [i for _, i in other.variables]
    moved = _moved((f.expr for f in one.where), place)
    facts = {(e, f.within) for e, f in zip(moved, one.where, strict=True)}
    return boxes[0] == boxes[1] and facts == {(f.expr, f.within) for f in other.where}


def _inclusion(
    side: str,
    holder: IndexingMap,
    lacking: IndexingMap,
    inner: _Image,
    outer: _Image,
    parameters: Box,
    where: Sequence[Fact],
    confirm: bool,
    rounds: int = ROUNDS,
) -> Answer:
    problem = _included(inner, [outer], parameters, where)

    def describe(env: dict[Expr, int]) -> Counterexample:
        target = _targets(holder, env)
        there = _targets(lacking, _at_same_place(holder, lacking, env))
        if there == target and lacking.ranges:
            there = None
        source = tuple(env[v] for v in holder.dim_vars)
        if there is None and not lacking.ranges:
            reason = f"source {_tuple(source)} is in the domain of the {side} map only"
        elif lacking.ranges or holder.ranges:
            reason = f"source {_tuple(source)} reaches target {_tuple(target)} in the {side} map only"
        else:
            reason = f"the results differ at source {_tuple(source)}"
        left, right = (target, there) if side == "left" else (there, target)
        return Counterexample(_named(env), left, right, reason)

    return _asked(problem, describe, confirm, rounds)


def _at_same_place(
    holder: IndexingMap, lacking: IndexingMap, env: Mapping[Expr, int]
) -> dict[Expr, int] | None:
    """The corresponding assignment for the other map, if its ranges correspond."""
    if len(lacking.ranges) not in (0, len(holder.ranges)):
        return None
    out = dict(env)
    out.update((v, env[u]) for v, u in zip(lacking.dim_vars, holder.dim_vars, strict=True))
    if lacking.ranges:
        out.update((v, env[u]) for v, u in zip(lacking.range_vars, holder.range_vars, strict=True))
    return out


def _targets(m: IndexingMap, env: Mapping[Expr, int] | None) -> tuple[int, ...] | None:
    """The target of ``m`` at an assignment, or ``None`` outside its domain."""
    if env is None:
        return None
    return m.evaluate(
        [env[v] for v in m.dim_vars], [env[v] for v in m.range_vars], [env[v] for v in m.rt_vars]
    )


def _tuple(values: Sequence[int] | None) -> str:
    return "nothing" if values is None else f"({', '.join(map(str, values))})"


# ----------------------------------------------------------------------------------------- properties of maps
def is_empty(m: IndexingMap, *, confirm: bool = False) -> Answer:
    """Whether the domain of ``m`` is empty for all runtime values; refuted by its smallest point."""
    image = _image(m, ())
    problem = Problem((*image.variables, *_runtime_box(m)), image.where)
    return _asked(
        problem, lambda env: Counterexample(_named(env), _targets(m, env), reason="in the domain"), confirm
    )


def in_bounds(m: IndexingMap, shape: ShapeLike, *, confirm: bool = False) -> Answer:
    """Whether every target of ``m`` is an index of a tensor of this ``shape``."""
    bounds = _intervals(shape)
    if len(bounds) != len(m.results):
        raise InputError(f"the map has {len(m.results)} results but the shape has {len(bounds)} dimensions")
    image = _image(m, ())
    option = Option(tuple(Fact(e, i) for e, i in zip(m.results, bounds, strict=True)))
    problem = Problem((*image.variables, *_runtime_box(m)), image.where, (option,))

    def describe(env: dict[Expr, int]) -> Counterexample:
        target = _targets(m, env)
        assert target is not None
        k = next(k for k, (x, i) in enumerate(zip(target, bounds, strict=True)) if x not in i)
        return Counterexample(
            _named(env), target, None, f"result {k} is {target[k]}, which is not in {bounds[k]}"
        )

    return _asked(problem, describe, confirm)


def functional(m: IndexingMap, *, confirm: bool = False) -> Answer:
    """Whether each source has at most one target.  A counterexample has a second one at the primed ranges."""
    image = _image(m, m.results)
    dims = set(m.dim_vars)
    again = {v: var(v.name + "'") for v in m.range_vars}
    second = tuple((again[v], i) for v, i in image.variables if v not in dims)
    where = [
        Fact(e, f.within)
        for e, f in zip(_moved((f.expr for f in image.where), again), image.where, strict=True)
    ]
    others = _moved(m.results, again)
    option = Option(tuple(Fact(a - b, _ZERO) for a, b in zip(m.results, others, strict=True)))
    problem = Problem((*image.variables, *second, *_runtime_box(m)), (*image.where, *where), (option,))

    def describe(env: dict[Expr, int]) -> Counterexample:
        values = tuple(int(x) for x in interpret([*m.results, *others], Integers(env)))
        n = len(m.results)
        return Counterexample(_named(env), values[:n], values[n:], "one source has two targets")

    return _asked(problem, describe, confirm)


def inverse(left: IndexingMap, right: IndexingMap, *, confirm: bool = False) -> Answer:
    """Whether the relation of ``right`` is that of ``left`` turned round.

    In a counterexample ``left`` and ``right`` are the targets of the map that has the pair; the other one
    lacks it.
    """
    start = time.perf_counter()
    if len(left.dims) != len(right.results) or len(right.dims) != len(left.results):
        raise InputError(
            f"a map from {len(left.dims)} to {len(left.results)} dimensions and one from {len(right.dims)}"
            f" to {len(right.results)} cannot be inverse to each other"
        )
    pair = _matched(left, right)
    a, b = pair.left, pair.right
    one = _image(a, (*a.dim_vars, *a.results))
    other = _image(b, (*b.results, *b.dim_vars))
    one = replace(one, where=(*one.where, *pair.left_facts))
    other = replace(other, where=(*other.where, *pair.right_facts))

    def describe(side: str, m: IndexingMap) -> Callable[[dict[Expr, int]], Counterexample]:
        def there(env: dict[Expr, int]) -> Counterexample:
            target = _targets(m, env)
            source = tuple(env[v] for v in m.dim_vars)
            reason = (
                f"the {side} map relates {_tuple(source)} to {_tuple(target)}, the other does not go back"
            )
            return Counterexample(
                _named(env), target if side == "left" else None, target if side == "right" else None, reason
            )

        return there

    answers = [
        _asked(_included(one, [other], pair.parameters), describe("left", a), confirm),
        _asked(_included(other, [one], pair.parameters), describe("right", b), confirm),
    ]
    return _joined(answers, start)


# ------------------------------------------------------------------------------------------- families of maps
def disjoint(maps: Sequence[IndexingMap], *, confirm: bool = False) -> Answer:
    """Whether no source is in the domain of two of ``maps``.  Runtime variables of one name are one value."""
    start = time.perf_counter()
    answers = []
    for j, second in enumerate(maps):
        for k, first in enumerate(maps[:j]):
            _same_sources(first, second)
            one, two = _image(first, first.dim_vars), _image(second, second.dim_vars).primed()
            together = dict(zip(two.coords, one.coords, strict=True))
            moved = _moved((f.expr for f in two.where), together)
            where = [
                *one.where,
                *(Fact(e, f.within) for e, f in zip(moved, two.where, strict=True)),
                *(Fact(together[v], i) for v, i in two.variables if v in together),
            ]
            rest = [(v, i) for v, i in two.variables if v not in together]
            parameters = _shared_box([first, second], where)
            problem = Problem((*one.variables, *rest, *parameters), tuple(where))
            reason = f"maps {k} and {j} both have this source"

            def describe(env: dict[Expr, int], reason: str = reason) -> Counterexample:
                return Counterexample(_named(env), reason=reason)

            answers.append(_asked(problem, describe, confirm))
    return _joined(answers, start)


def covers(maps: Sequence[IndexingMap], shape: ShapeLike, *, confirm: bool = False) -> Answer:
    """Whether every index of a tensor of this ``shape`` is in the domain of at least one of ``maps``."""
    names = [v.expr for v in maps[0].dims] if maps else [var(f"d{k}") for k in range(len(shape))]
    if any(len(m.dims) != len(shape) for m in maps):
        raise InputError(f"the shape has {len(shape)} dimensions, but not all maps do")
    point = tuple(zip(names, _intervals(shape), strict=True))
    where: list[Fact] = []
    options = []
    for m in maps:
        option = _member(_image(m, m.dim_vars).primed(), names)
        if option is not None:
            options.append(option)
    problem = Problem((*point, *_shared_box(maps, where)), (), tuple(options))
    return _asked(problem, lambda env: Counterexample(_named(env), reason="no map has this source"), confirm)


def partition(maps: Sequence[IndexingMap], shape: ShapeLike, *, confirm: bool = False) -> Answer:
    """Whether every index of a tensor of this ``shape`` is in the domain of exactly one of ``maps``."""
    start = time.perf_counter()
    return _joined([covers(maps, shape, confirm=confirm), disjoint(maps, confirm=confirm)], start)


def onto(m: IndexingMap, shape: ShapeLike, *, confirm: bool = False) -> Answer:
    """Whether every index of a tensor of this ``shape`` is a target of ``m``; refuted by one that is not."""
    bounds = _intervals(shape)
    if len(bounds) != len(m.results):
        raise InputError(f"the map has {len(m.results)} results but the shape has {len(bounds)} dimensions")
    taken = {v.name for v in m.variables}
    targets = [var(unused_name(f"t{k}", taken)) for k in range(len(bounds))]
    option = _member(_image(m, m.results), targets)
    box = (*zip(targets, bounds, strict=True), *_runtime_box(m))
    problem = Problem(box, (), () if option is None else (option,))
    return _asked(
        problem, lambda env: Counterexample(_named(env), reason="no source has this target"), confirm
    )


# ----------------------------------------------------------------------------------------------------- common
def _asked(
    problem: Problem,
    describe: Callable[[dict[Expr, int]], Counterexample],
    confirm: bool,
    rounds: int = ROUNDS,
) -> Answer:
    start = time.perf_counter()
    decision: Decision = decide_problem(problem, confirm=confirm, rounds=rounds)
    outcome = decision.outcome
    found: Counterexample | None = None
    status = Status.UNDECIDED
    if outcome.status == "holds":
        status = Status.PROVED
    elif outcome.status == "fails":
        status = Status.REFUTED
        found = describe(problem.environment(outcome.point))
        if not outcome.minimal:
            found = replace(found, minimal=False)
    seconds = time.perf_counter() - start
    return Answer(status, decision.engine, decision.tried, found, seconds, decision.confirmed_by)


def _joined(answers: Sequence[Answer], start: float, reason: str = "") -> Answer:
    """The answer to a conjunction: the smallest counterexample of all, or undecided if a part is."""
    tried = tuple(t for a in answers for t in a.tried)
    seconds = time.perf_counter() - start
    refuted = [a for a in answers if a.verdict is Status.REFUTED and a.counterexample is not None]
    if refuted:
        worst = min(refuted, key=lambda a: counterexample_order(_point(a.counterexample)))
        found = worst.counterexample
        if reason and found is not None and worst is not answers[0]:
            found = replace(found, reason=reason)
        return replace(worst, tried=tried, counterexample=found, seconds=seconds)
    open_ = [a for a in answers if a.verdict is not Status.PROVED]
    if open_:
        return replace(open_[0], tried=tried, seconds=seconds)
    engines = dict.fromkeys(a.engine for a in answers)
    confirmed = dict.fromkeys(a.confirmed_by for a in answers)
    by = "" if "" in confirmed else " and ".join(confirmed)
    return Answer(Status.PROVED, " and ".join(engines) or "nothing to show", tried, None, seconds, by)


def _point(c: Counterexample | None) -> tuple[int, ...]:
    return tuple(c.values.values()) if c is not None else ()


def _named(env: Mapping[Expr, int]) -> dict[str, int]:
    return {str(v): x for v, x in env.items()}


def _exprs(given: Sequence[ExprLike] | ExprLike) -> list[Expr]:
    return [lift(given)] if isinstance(given, (Expr, int)) else [lift(e) for e in given]


def _box(box: BoxLike) -> Box:
    """Variables with intervals, from a mapping or from ``(name, lo, hi)``."""
    if isinstance(box, Mapping):
        pairs: list[tuple[Any, Any]] = list(box.items())
    else:
        rows = [(v.name, v.lo, v.hi) if hasattr(v, "lo") and hasattr(v, "name") else v for v in box]
        pairs = [(row[0], row[1] if len(row) == 2 else (row[1], row[2])) for row in rows]
    return tuple((v if isinstance(v, Var) else var(v), Interval(*i)) for v, i in pairs)


def _facts(constraints: Iterable[ConstraintLike]) -> tuple[Fact, ...]:
    out = []
    for c in constraints:
        e, lo, hi = (c.expr, c.lo, c.hi) if isinstance(c, Constraint) else c
        out.append(Fact(lift(e), Interval(lo, hi)))
    return tuple(out)


def _declared(facts: Sequence[Fact], m: IndexingMap) -> None:
    known = {*m.dim_vars, *m.range_vars, *m.rt_vars}
    for n in postorder(*(f.expr for f in facts)):
        if isinstance(n, Var) and n not in known:
            raise InputError(f"the domain mentions `{n}`, which is no variable of the left map")


def _intervals(shape: ShapeLike) -> list[Interval]:
    return [n if isinstance(n, Interval) else Interval(0, n - 1) for n in shape]


def _runtime_box(m: IndexingMap) -> Box:
    return tuple((r.expr, Interval(r.lo, r.hi)) for r in m.rts)


def _shared_box(maps: Iterable[IndexingMap], where: list[Fact]) -> Box:
    """The runtime variables of several maps; one name is one value, within every box it has."""
    boxes: dict[Var, Interval] = {}
    for m in maps:
        for v, i in _runtime_box(m):
            boxes[v] = boxes[v] & i if v in boxes else i
    return tuple(boxes.items())


def _same_sources(a: IndexingMap, b: IndexingMap) -> None:
    if len(a.dims) != len(b.dims):
        raise InputError(f"maps over {len(a.dims)} and {len(b.dims)} dimensions have no common source")
