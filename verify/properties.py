"""Properties of maps that programs rely on when they read or write through a map.

A *point* of a map assigns its dimensions and ranges values within the domain, and its target is the results there.
Runtime variables are parameters: a property must hold for every value of them, the same at both points that a claim
compares unless another element is read there.  All questions go to :mod:`.concrete`, whose engines count operations; what
they do not decide is UNDECIDED.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from inspect import signature
from typing import Any

from ..core.blocks import count
from ..core.errors import InputError, quoted
from ..core.expr import Expr, Integers, interpret, lift, mod
from ..core.indexing_map import IndexingMap, Variable
from ..core.interval import Interval
from ..core.op import row_major
from ..core.parametric import ParametricMap
from .concrete import Answer, Counterexample, Fact, Option, Problem, covers, in_bounds, inverse
from .concrete.points import Question, TwoPoints, asked, domain_of, joined, named, primed
from .concrete.problem import substituted
from .concrete.questions import ShapeLike, expect_shape
from .concrete.readings import ZERO, readings, shared_values
from .words import tuple_text

_POSITIVE = Interval(1, math.inf)


def injective(m: IndexingMap, over: Iterable[str] = (), *, confirm: bool = False) -> Answer:
    """Decide whether no two points of ``m`` have the same target.

    With ``over``, names of variables, only points that differ in one of these count: if they number the threads that
    write, the answer is whether two threads race.  A counterexample has the second point at the primed names.
    """
    chosen = [_variable(m, name).expr for name in over] or [*m.dim_vars, *m.range_vars]
    pair = TwoPoints(m)
    # the points are interchangeable, so one inequality for each variable is enough
    same = Option(tuple(Fact(v - pair.again[v], Interval(0, math.inf)) for v in chosen))
    where = [Fact(a - b, ZERO) for a, b in zip(m.results, pair.targets, strict=True)]
    return pair.question(where, [same], "two points have one target", confirm).answered()


def bijective(m: IndexingMap, shape: ShapeLike, *, confirm: bool = False) -> Answer:
    """Decide whether the points correspond one to one to the indices of a tensor of this ``shape``."""
    return joined(
        [in_bounds(m, shape, confirm=confirm), injective(m, confirm=confirm), covers(m, shape, confirm=confirm)]
    )


def disjoint(one: IndexingMap, other: IndexingMap, *, confirm: bool = False) -> Answer:
    """Decide whether no target of one map is a target of the other.

    Runtime variables of one name have one value where they read one element.  A counterexample has the point of
    ``other`` at the primed names.
    """
    if len(one.results) != len(other.results):
        raise InputError(
            f"a map to {len(one.results)} and one to {len(other.results)} dimensions have no common target",
            expected="two maps to the same tensor",
        )
    (one, other), _ = shared_values([one, other])
    pair = TwoPoints(one, other=other)
    same = [Fact(a - b, ZERO) for a, b in zip(pair.values, pair.targets, strict=True)]

    def describe(env: dict[Expr, int]) -> Counterexample:
        target = tuple(int(x) for x in interpret(pair.values, Integers(env)))
        return Counterexample(named(env), target, target, f"{tuple_text(target)} is a target of both maps")

    return asked(Problem(pair.box, (*pair.first, *pair.second, *same)), describe, confirm, pair.reads)


def contiguous(
    m: IndexingMap, along: str, width: int, shape: ShapeLike | None = None, *, confirm: bool = False
) -> Answer:
    """Decide whether vectors of ``width`` values of the variable ``along`` are contiguous in memory.

    Vectors begin at the lower bound of the variable.  Each lies wholly inside or wholly outside the domain.  The
    position in memory is the only result of ``m``, or the row-major position in a tensor of the ``shape``.
    """
    v, place = _variable(m, along), place_in_memory(m, shape)
    lane = mod(v.expr - v.lo, _positive(width, "the width of a vector"))
    pair = TwoPoints(m, primed([v.expr]), place)
    other = pair.again[v.expr]
    # the second point may be outside the domain
    inside = [f for f in pair.second if f not in pair.first]
    facts = (*inside, Fact(pair.targets[0] - place - (other - v.expr), ZERO))
    box = tuple((x, Interval(0, width - 1) if x is other else i) for x, i in pair.box)
    start = v.expr - lane
    moved = {other: start + other}
    option = Option((Fact(start + other, Interval(v.lo, v.hi)), *substituted(facts, moved)))

    def describe(env: dict[Expr, int]) -> Counterexample:
        return pair.described({**env, other: int((start + other).evaluate(env))}, "the vector has a gap")

    reads = [*readings(m), *readings(m, {**pair.places, v.expr: start + other})]
    return asked(Problem(box, pair.first, (option,)), describe, confirm, reads)


def aligned(
    m: IndexingMap, by: int, shape: ShapeLike | None = None, along: str = "", *, confirm: bool = False
) -> Answer:
    """Decide whether the position in memory is a multiple of ``by`` elements at every point, as in :func:`contiguous`.

    With ``along``, the name of a variable, only points count at which a vector of ``by`` values of it begins.
    """
    place, n = place_in_memory(m, shape), _positive(by, "the alignment")
    starts = [_variable(m, along)] if along else []
    option = Option((Fact(mod(place, n), ZERO),))
    problem = domain_of(m, [option], (Fact(mod(v.expr - v.lo, n), ZERO) for v in starts))

    def describe(env: dict[Expr, int]) -> Counterexample:
        found = int(place.evaluate(env))
        return Counterexample(named(env), (found,), None, f"{found} is no multiple of {by}")

    return asked(problem, describe, confirm, readings(m))


def vector_width(
    m: IndexingMap | ParametricMap,
    along: str,
    shape: ShapeLike | Sequence[str] | None = None,
    most: int = 16,
    decide: Callable[..., Answer] | None = None,
) -> tuple[int, Answer]:
    """Return the widest aligned vector along a variable, a power of two up to ``most``, and the answer for the next.

    If ``most`` is reached, the answer is the one for ``most``.  ``decide`` may replace :func:`decide_property`.
    """
    given: dict[str, Any] = {"along": along} | ({} if shape is None else {"shape": shape})
    ask: Callable[..., Answer] = decide or decide_property
    asked = partial(ask, maps=[m], **given)
    width = 1
    answer = asked("contiguous", width=1)
    while answer.proved and width < most:
        answer = joined([asked("contiguous", width=2 * width), asked("aligned", by=2 * width)])
        width *= 1 + answer.proved
    return width, answer


def monotone(m: IndexingMap, along: str = "", strict: bool = False, *, confirm: bool = False) -> Answer:
    """Decide whether no later point has an earlier target, or with ``strict``, each a later one.

    Points and targets are in lexicographic order.  With ``along`` only points count that differ in that variable alone.
    """
    how = "a later point has no later target" if strict else "a later point has an earlier target"

    def question(pair: TwoPoints, later: Expr) -> Question:
        gaps = [b - a for a, b in zip(m.results, pair.targets, strict=True)]
        equal = [Fact(g, ZERO) for g in gaps]
        options = [Option((*equal[:k], Fact(g, _POSITIVE))) for k, g in enumerate(gaps)]
        options += [] if strict else [Option(tuple(equal))]
        return pair.question([Fact(later, _POSITIVE)], options, how, confirm)

    if along:
        chosen = _variable(m, along).expr
        pair = TwoPoints(m, primed([chosen]))
        return question(pair, pair.again[chosen] - chosen).answered()
    cases: list[Answer] = []
    variables = [*m.dim_vars, *m.range_vars]
    # one case for each first variable that differs; the normal form proves them where it cannot prove all at once
    for k, v in enumerate(variables):
        pair = TwoPoints(m, primed(variables[k:]))
        cases.append(question(pair, pair.again[v] - v).answered(rounds=0))
        if not cases[-1].proved or (confirm and not cases[-1].confirmed_by):
            break
    else:
        return joined(cases)
    pair, later = TwoPoints(m), lift(0)
    for v, i in pair.box[: len(variables)]:
        later = later * int(i.hi - i.lo + 1) + pair.again[v] - v
    return question(pair, later).answered()


#: The properties by their names on the command line.
PROPERTIES: dict[str, Callable[..., Answer]] = {
    "injective": injective,
    "surjective": covers,
    "covers": covers,
    "bijective": bijective,
    "in_bounds": in_bounds,
    "disjoint": disjoint,
    "inverse": inverse,
    "contiguous": contiguous,
    "aligned": aligned,
    "monotone": monotone,
}


def decide_property(name: str, maps: Sequence[IndexingMap], **given: Any) -> Answer:
    """Decide the property with this name, for one or two maps, with its other arguments.

    Raises :class:`InputError` for unknown or missing arguments.
    """
    return expect_property(name, maps, given)(*maps, **given)


def expect_property(
    name: str, maps: Sequence[IndexingMap | ParametricMap], given: Mapping[str, Any]
) -> Callable[..., Answer]:
    """Return the function that decides a property.  Raises :class:`InputError` if it takes other maps or arguments."""
    decide = PROPERTIES.get(name.replace("-", "_"))
    if decide is None:
        raise InputError(f"there is no property {quoted(name)}", expected=f"one of {', '.join(PROPERTIES)}")
    taken = dict(signature(decide).parameters)
    places = [p for p in taken.values() if p.annotation == "IndexingMap"]
    if len(maps) != len(places):
        said = f"{name} is a property of {count(len(places), 'map')}, not of {len(maps)}"
        raise InputError(said, expected="two maps" if len(places) == 2 else "one map")
    arguments = [p for p in taken.values() if p not in places]
    known = f"nothing, or {', '.join(p.name for p in arguments)}"
    for argument in given:
        if argument not in taken:
            raise InputError(f"{name} takes no {argument}", expected=known)
    for p in arguments:
        if p.default is p.empty and p.name not in given:
            raise InputError(f"{name} needs a {p.name}", expected=f"a {p.name}")
    own = [getattr(v, "name", v) for v in (*maps[0].dims, *maps[0].ranges)]
    for variable in (*given.get("over", ()), *filter(None, [given.get("along")])):
        _expect_variable(variable, own)
    return decide


def read_arguments(words: Iterable[str], symbolic: bool = False) -> dict[str, Any]:
    """Read arguments of a property in a claims file: ``shape=8,128``, ``over=d0,s0``, ``along=s0``, ``strict``.

    If sizes may be ``symbolic``, they remain text.
    """
    given: dict[str, Any] = {}
    for word in words:
        name, _, value = word.partition("=")
        if name in ("shape", "width", "by"):
            if symbolic:
                given[name] = value.split(",") if name == "shape" else value
                continue
            if not all(n.isascii() and n.isdigit() and len(n) < 40 for n in value.split(",")):
                raise InputError(f"{quoted(word)} gives no number", expected=f"as in `{name}=8`")
            sizes = [int(n) for n in value.split(",")]
            if name != "shape" and len(sizes) > 1:
                raise InputError(f"{quoted(word)} gives several numbers", expected=f"as in `{name}=8`")
            given[name] = sizes if name == "shape" else sizes[0]
        else:
            given[name] = value.split(",") if name == "over" else value or True
    return given


# ----------------------------------------------------------------------------------------------------- common
def _variable(m: IndexingMap, name: str) -> Variable:
    own = {v.name: v for v in (*m.dims, *m.ranges)}
    _expect_variable(name, own)
    return own[name]


def _expect_variable(name: str, own: Iterable[str]) -> None:
    if name not in own:
        raise InputError(
            f"the map has no dimension or range {quoted(name)}", expected=f"one of {', '.join(own) or 'none'}"
        )


def place_in_memory(m: IndexingMap | ParametricMap, shape: ShapeLike | Sequence[Expr] | None) -> Expr:
    """Return the position of the target in memory, counted in elements."""
    if shape is None:
        if len(m.results) != 1:
            raise InputError(f"the map has {len(m.results)} results", expected="one, the place in memory, or a shape")
        return m.results[0]
    expect_shape(m, shape)
    lows = [int(n.lo) if isinstance(n, Interval) else 0 for n in shape]
    sizes = [int(n.size) if isinstance(n, Interval) else n for n in shape]
    return row_major([e - lo for e, lo in zip(m.results, lows, strict=True)], sizes)


def _positive(n: int, name: str) -> int:
    if n < 1:
        raise InputError(f"{name} is {n}", expected="at least 1")
    return n
