"""Whether each of some points is named by one of several maps, where a point of these maps would have to be found.

A map reads runtime values at its own point.  If that point is not known, neither are the elements: such a value is *free*.
The claim holds if a point can be found at which every free value is an element whose value the problem names, whatever the
arrays have elsewhere.  It is refuted by arrays of which all other elements are equal.  Between the two, the few points of
small boxes are told apart one by one, which leaves no value free.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import islice, product
from typing import Any, TypeAlias

from ...core.expr import (
    Expr,
    Int,
    Integers,
    Sum,
    Var,
    floordiv,
    integer,
    interpret,
    linear,
    postorder,
    substitute_all,
    var,
)
from ...core.indexing_map import IndexingMap, RuntimeVariable, unused_name
from ...core.interval import Interval
from .decide import ROUNDS
from .points import OPEN, Question, domain_of
from .problem import Answer, Box, Counterexample, Fact, Option, Problem, size, substituted
from .readings import ZERO, RuntimeRead, clamped, used_values

_NOTHING = integer(0)
#: Limit on the options for one map: ways to choose elements for its free values.
_OPTIONS = 128
#: Limit on the points of one map that are told apart.
_POINTS = 12


@dataclass(frozen=True)
class Outer:
    """The points of a map at which ``coords`` have the values ``at``.

    ``hint`` is a guess for variables of the map, and those in ``fixed`` have one value.
    """

    map: IndexingMap
    coords: tuple[Expr, ...]
    at: tuple[Expr, ...]
    hint: Mapping[Var, Expr] = field(default_factory=dict)
    fixed: Mapping[Var, Expr] = field(default_factory=dict)


def hint(m: IndexingMap, known: IndexingMap) -> dict[Var, Expr]:
    """Return the guess that the ranges of a map have the values of those of another at the same position."""
    return dict(zip(m.range_vars, known.range_vars, strict=False)) if len(m.ranges) <= len(known.ranges) else {}


#: Turns values of variables, and the target of each map at its point or the guess, into a counterexample.
Describe: TypeAlias = "Callable[[dict[Expr, int], list[tuple[int, ...] | None]], Counterexample]"


class _Elements:
    """The elements whose values a problem names."""

    def __init__(self, variables: Box, reads: Iterable[RuntimeRead]) -> None:
        self.box, self.reads = dict(variables), [*reads]
        self._taken = {v.name for v in self.box}
        self._known = {(r.hlo, r.at, self.box[r.value]): r.value for r in self.reads}

    def value(self, r: RuntimeVariable, at: tuple[Expr, ...]) -> Var:
        """Return the variable for what a map reads at an index."""
        assert r.source is not None
        key = r.source.hlo, at, Interval(r.lo, r.hi)
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = self.variable(r.name, key[2])
            self.reads.append(RuntimeRead(found, r.source.hlo, at))
        return found

    def variable(self, name: str, box: Interval) -> Var:
        """Return a variable of the problem that is not used yet."""
        found = self.unused(name)
        self.box[found] = box
        return found

    def unused(self, name: str) -> Var:
        return var(unused_name(name, self._taken))


class _There:
    """A map of which a point is sought; ``place`` has what is known of that point."""

    def __init__(self, outer: Outer, elements: _Elements) -> None:
        self.outer, self.elements = outer, elements
        m = outer.map
        self.where = domain_of(m).where
        self.box = {v.expr: Interval(v.lo, v.hi) for v in (*m.dims, *m.ranges)}
        self.names = {v: elements.unused(v.name + "'") for v in self.box}
        used = used_values(m)
        values = [(r, r.source.results) for r in m.runtime_order() if r.source is not None and r in used]
        self.place: dict[Any, Any] = {**outer.fixed, **{r.expr: integer(r.lo) for r, _ in values if r.lo == r.hi}}
        #: The free values, and the indices at which they are read.
        self.free = [(r, index) for r, index in values if r.expr not in self.place]
        while True:
            unknown = self._solve(self.place, zip(outer.coords, outer.at, strict=True))
            told = next((f for f in self.free if unknown.isdisjoint(postorder(*f[1]))), None)
            if told is None:
                break
            self.free.remove(told)
            self.place[told[0].expr] = elements.value(told[0], _moved(told[1], self.place))
        # at the guess the map reads elements, too
        self.guess = {**outer.hint, **self.place}
        for r, index in self.free:
            if unknown.difference(self.guess).isdisjoint(postorder(*index)):
                self.guess[r.expr] = elements.value(r, _moved(index, self.guess))

    def _solve(self, place: dict[Any, Any], ends: Iterable[tuple[Expr, Expr]]) -> set[Expr]:
        """Add the variables that equations determine to ``place``, and return those that are still unknown."""
        unknown: set[Expr] = {v for v in (*self.box, *(r.expr for r, _ in self.free)) if v not in place}
        pairs = [*ends]
        while True:
            solutions = (_solved(e, t, self.box, unknown, place) for e, t in pairs)
            found = next((x for x in solutions if x is not None), None)
            if found is None:
                return unknown
            place[found[0]] = found[1]
            unknown.remove(found[0])

    def each_point(self) -> list[Outer]:
        """Return the map for each value of the unknowns that decide what is read; none if there are many."""
        used = {v for _, index in self.free for e in index for v in e.variables()}
        unknown = [v for v in self.box if v in used and v not in self.place]
        if size(tuple((v, self.box[v]) for v in unknown)) > _POINTS:
            return []
        values = product(*(range(int(self.box[v].lo), int(self.box[v].hi) + 1) for v in unknown))
        return [replace(self.outer, fixed=dict(zip(unknown, map(integer, at), strict=True))) for at in values]

    def options(
        self, other: Mapping[str, Var] | None = None, among: Sequence[RuntimeRead] | None = None
    ) -> Iterator[Option]:
        """Yield options that the map has the point, for each choice of elements as its free values.

        The elements are ``among`` these, or all that are named, and ``other`` ones if these have values.
        """
        if any(i.empty for i in self.box.values()):
            return
        each = []
        for r, index in self.free:
            assert r.source is not None
            hlo, known = r.source.hlo, self.elements.reads if among is None else among
            some = [(x.value, x.at) for x in known if x.hlo == hlo and _may_be_equal(index, x.at)]
            # the element at the guess comes first: of many choices not all are tried
            likely = self.guess.get(r.expr)
            some = [*(x for x in some if x[0] is likely), *(x for x in some if x[0] is not likely)]
            each.append(some if other is None else [*some, (other[hlo], index)])
        for choice in product(*each):
            yield self._option([x for x, _ in choice], [at for _, at in choice], other is None)

    def _option(self, values: Sequence[Var], places: Sequence[tuple[Expr, ...]], exact: bool) -> Option:
        """Return the option for these free values, which are read at these places."""
        place = dict(self.place)
        ends = [*zip(self.outer.coords, self.outer.at, strict=True)]
        facts: list[Fact] = []
        for (r, index), x, at in zip(self.free, values, places, strict=True):
            box = self.elements.box[x]
            place[r.expr] = clamped(x, box, Interval(r.lo, r.hi))
            if at is not index:
                ends += zip(index, at, strict=True)
            # at an end of its own box, a value says less of the element than within another box is needed
            ends_of_box = Interval(
                box.lo + 1 if r.lo < box.lo else -math.inf, box.hi - 1 if r.hi > box.hi else math.inf
            )
            if exact and not box.inside(ends_of_box):
                facts.append(Fact(x, ends_of_box))
        self._solve(place, ends)
        facts += [Fact(e, self.box[v]) for v in self.box if (e := place.get(v)) is not None]
        place.update((v, name) for v, name in self.names.items() if v not in place)
        gaps = (e - t for e, (_, t) in zip(_moved([e for e, _ in ends], place), ends, strict=True))
        facts = [*(Fact(gap, ZERO) for gap in gaps if gap is not _NOTHING), *facts]
        facts += substituted(self.where, place)
        mentioned = {v for f in facts for v in f.expr.variables()}
        unknowns = [v for v, name in self.names.items() if place[v] is name and name in mentioned]
        guesses = (tuple(self.guess[v] for v in unknowns),) if unknowns and self.guess.keys() >= {*unknowns} else ()
        return Option(tuple(facts), tuple((self.names[v], self.box[v]) for v in unknowns), guesses)

    def target(self, env: Mapping[Expr, int]) -> tuple[int, ...] | None:
        """Return the target at the point or its guess; ``None`` if that is not known or not in the domain."""
        m = self.outer.map
        if not self.guess.keys() >= self.box.keys():
            return None
        fallback = {r.expr: integer(r.lo) for r in m.rts if r.source is not None} | self.guess
        groups = ([fallback.get(v, v) for v in group] for group in (m.dim_vars, m.range_vars, m.rt_vars))
        return m.evaluate(*([int(x) for x in interpret(group, Integers(env))] for group in groups))


class _Sought(Question):
    """The question whether there are points that read no elements but those whose values the problem names.

    If there are not, ``others`` decide: true counterexamples alone refute them, and each is exact or not.
    """

    def __init__(self, problem: Problem, others: Callable[[], Iterator[tuple[Question, bool]]], *given: Any) -> None:
        super().__init__(problem, *given)
        self._make = others

    @cached_property
    def _others(self) -> list[tuple[Question, bool]]:
        return [*self._make()]

    def answered(self, rounds: int = ROUNDS) -> Answer:
        answer = super().answered(rounds)
        if answer.counterexample is None:
            return answer
        for question, exact in self._others:
            other = question.answered(rounds)
            if other.counterexample is not None:
                return replace(other, counterexample=replace(other.counterexample, minimal=False))
            if exact and other.proved:
                return other
        return OPEN

    def within(self, total: int) -> Question:
        """Return this question: its counterexamples are never known to be the smallest."""
        return self


def sought(
    variables: Box,
    where: Sequence[Fact],
    reads: Sequence[RuntimeRead],
    outers: Sequence[Outer],
    describe: Describe,
    confirm: bool = False,
) -> Question:
    """Return the question whether one of ``outers`` has a point, for all ``variables`` that satisfy ``where``.

    Runtime values without a source are variables of the problem.
    """
    elements = _Elements(variables, reads)
    there = [_There(o, elements) for o in outers]
    box = tuple(elements.box.items())
    options = tuple(o for t in there for o in islice(t.options(), _OPTIONS))

    def described(env: dict[Expr, int]) -> Counterexample:
        shown: dict[Expr, int] = {v: env[v] for v, _ in box if v in env}
        return describe(shown, [t.target(shown) for t in there])

    problem = Problem(box, tuple(where), options)
    free = [r for t in there for r, _ in t.free]
    if not free:
        return Question(problem, described, confirm, elements.reads)

    def others() -> Iterator[tuple[Question, bool]]:
        boxes: dict[str, Interval] = {}
        for r in free:
            assert r.source is not None
            boxes[r.source.hlo] = boxes.get(r.source.hlo, Interval(r.lo, r.hi)) | Interval(r.lo, r.hi)
        other = {hlo: elements.variable("other", i) for hlo, i in boxes.items()}
        more = [[*islice(t.options(other), _OPTIONS + 1)] for t in there]
        equal: list[Fact] = []
        if any(len(some) > _OPTIONS for some in more):
            # if the elements that are named are equal to all others, there is one choice
            more = [[*t.options(other, among=())] for t in there]
            known = [(x.value, other[x.hlo]) for x in elements.reads if x.hlo in other]
            equal = [Fact(x - clamped(y, elements.box[y], elements.box[x]), ZERO) for x, y in known]
        weaker = Problem(tuple(elements.box.items()), (*where, *equal), tuple(o for some in more for o in some))
        yield Question(weaker, described, confirm, elements.reads), False
        apart = [t.each_point() if t.free else [t.outer] for t in there]
        if all(apart):
            told = [o for some in apart for o in some]
            yield sought(variables, where, reads, told, lambda env, _: describe(env, [None]), confirm), True

    return _Sought(problem, others, described, confirm, elements.reads)


def _moved(exprs: Sequence[Expr], place: Mapping[Any, Any]) -> tuple[Expr, ...]:
    return tuple(substitute_all(exprs, place))


def _may_be_equal(one: Sequence[Expr], other: Sequence[Expr]) -> bool:
    pairs = zip(one, other, strict=True)
    return len(one) == len(other) and not any(
        isinstance(x, Int) and isinstance(y, Int) and x is not y for x, y in pairs
    )


def _solved(
    e: Expr, t: Expr, box: Container[Expr], unknown: Container[Expr], place: Mapping[Any, Any]
) -> tuple[Expr, Expr] | None:
    """Return the variable in ``box`` that ``e == t`` determines and its value, or ``None``."""
    if isinstance(e, Var):
        return (e, t) if e in box and e in unknown else None
    if not isinstance(e, Sum):
        return None
    free = [(v, k) for v, k in e.terms if v in unknown]
    if len(free) != 1 or free[0][0] not in box:
        return None
    v, k = free[0]
    rest = linear(e.const, [(x, j) for x, j in e.terms if x is not v])
    if any(n in unknown for n in postorder(rest)):
        return None
    # if k does not divide, the fact e == t, which is kept, is false
    return v, floordiv(t - _moved((rest,), place)[0], k)
