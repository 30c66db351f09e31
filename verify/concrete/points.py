"""Points of maps, pairs of points, and questions about them."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import copy
from dataclasses import replace

from ...core.expr import Expr, Integers, Var, add, interpret, maximum, substitute_all, var
from ...core.indexing_map import IndexingMap
from ...core.interval import Interval
from ..verdict import Status
from .decide import ROUNDS, Portfolio
from .problem import Answer, Counterexample, Fact, Option, Problem, counterexample_order, substituted
from .readings import RuntimeRead, identified, read_elsewhere, readings, runtime_box


def domain_of(m: IndexingMap, options: Iterable[Option] = (), more: Iterable[Fact] = ()) -> Problem:
    """Return the problem that one of ``options`` holds at every point of the domain that satisfies ``more`` facts."""
    box = tuple((v.expr, Interval(v.lo, v.hi)) for v in (*m.dims, *m.ranges))
    where = (Fact(c.expr, Interval(c.lo, c.hi)) for c in m.constraints)
    return Problem((*box, *runtime_box(m)), (*where, *more), tuple(options))


# ------------------------------------------------------------------------------------------------------ answers
#: The answer where a point would have to be found for values that depend on it.
OPEN = Answer(Status.UNDECIDED, tried=("not decided: what is read at run time depends on where it is read",))


class Question:
    """A problem, and ``describe``, which turns values of its variables into a counterexample."""

    def __init__(
        self,
        problem: Problem,
        describe: Callable[[dict[Expr, int]], Counterexample],
        confirm: bool = False,
        reads: Iterable[RuntimeRead] = (),
    ) -> None:
        self.variables = problem.variables
        self.problem, self.replaced = identified(problem, reads)
        self.describe, self.confirm = describe, confirm
        self.portfolio: Portfolio | None = None
        self.seconds = 0.0

    def answered(self, rounds: int = ROUNDS) -> Answer:
        """Return the answer after ``rounds`` rounds, continuing after those already made."""
        start = time.perf_counter()
        self.portfolio = self.portfolio or Portfolio(self.problem, self.confirm)
        decision = self.portfolio.decided(rounds)
        outcome = decision.outcome
        found: Counterexample | None = None
        status = {"holds": Status.PROVED, "fails": Status.REFUTED}.get(outcome.status, Status.UNDECIDED)
        if status is Status.REFUTED:
            env = self.problem.environment(outcome.point)
            for again, value in reversed(self.replaced.items()):
                env[again] = env[value]
            found = self.describe({v: env[v] for v, _ in self.variables})
            found = replace(found, minimal=outcome.minimal and not self.replaced)
        self.seconds += time.perf_counter() - start
        return Answer(status, decision.engine, decision.tried, found, self.seconds, decision.confirmed_by)

    def within(self, total: int) -> Question:
        """Return the same question restricted to points of at most this total magnitude."""
        sizes = (v if i.lo >= 0 else -v if i.hi <= 0 else maximum(v, -v) for v, i in self.problem.variables)
        made = copy(self)
        made.problem = replace(self.problem, where=(*self.problem.where, Fact(add(*sizes), Interval(-math.inf, total))))
        made.portfolio, made.seconds = None, 0.0
        return made


def asked(
    problem: Problem,
    describe: Callable[[dict[Expr, int]], Counterexample],
    confirm: bool = False,
    reads: Iterable[RuntimeRead] = (),
) -> Answer:
    """Decide a problem; ``describe`` turns values of its variables into a counterexample."""
    return Question(problem, describe, confirm, reads).answered()


def joined(answers: Sequence[Answer]) -> Answer:
    """Return the answer to a conjunction: the smallest counterexample, else undecided if a part is, else proved."""
    tried = tuple(t for a in answers for t in a.tried)
    seconds = math.fsum(a.seconds for a in answers)
    refuted = [(a, a.counterexample) for a in answers if a.counterexample is not None]
    if refuted:
        worst, found = min(refuted, key=lambda r: counterexample_order(tuple(r[1].values.values())))
        return replace(worst, tried=tried, counterexample=found, seconds=seconds)
    for a in answers:
        if not a.proved:
            return replace(a, tried=tried, seconds=seconds)
    engines = dict.fromkeys(a.engine for a in answers)
    confirmed = dict.fromkeys(a.confirmed_by for a in answers)
    by = "" if "" in confirmed else " and ".join(confirmed)
    return Answer(Status.PROVED, " and ".join(engines) or "nothing to show", tried, None, seconds, by)


def named(values: Mapping[Expr, int]) -> dict[str, int]:
    """Return the same values by the names of the variables."""
    return {str(v): x for v, x in values.items()}


def targets(m: IndexingMap, env: Mapping[Expr, int]) -> tuple[int, ...] | None:
    """Return the target of ``m`` at an assignment, or ``None`` outside its domain."""
    groups = (m.dim_vars, m.range_vars, m.rt_vars)
    return m.evaluate(*([env[v] for v in variables] for variables in groups))


def primed(variables: Iterable[Var]) -> dict[Var, Var]:
    """Return names for variables at a second point."""
    return {v: var(v.name + "'", v.kind) for v in variables}


class TwoPoints:
    """A point of a map, and one of the same or of an ``other`` map.

    ``again`` has the names of variables at the second point, by default primed ones; it may lack those with one name.
    """

    def __init__(
        self, m: IndexingMap, again: Mapping[Var, Var] | None = None, *values: Expr, other: IndexingMap | None = None
    ) -> None:
        other = m if other is None else other
        here, there = domain_of(m), domain_of(other)
        self.values = values or m.results
        self.again = primed((*other.dim_vars, *other.range_vars)) if again is None else again
        # what is read at the second point is another value
        self.places: dict[Var, Var] = {**self.again, **read_elsewhere(m, other, self.again)}
        self.targets = substitute_all(values or other.results, self.places)
        self.reads = [*readings(m), *readings(other, self.places)]
        second, known = [(self.places.get(v, v), i) for v, i in there.variables], dict(here.variables)
        self.box = (*here.variables, *((v, i) for v, i in second if v not in known))
        self.first = here.where
        within = (Fact(v, i) for v, i in second if known.get(v, i) != i)
        self.second = (*within, *substituted(there.where, self.places))

    def question(self, where: Iterable[Fact], options: Sequence[Option], reason: str, confirm: bool) -> Question:
        """Return the question whether one of ``options`` holds at all pairs of points that satisfy ``where``."""
        problem = Problem(self.box, (*self.first, *self.second, *where), tuple(options))
        return Question(problem, lambda env: self.described(env, reason), confirm, self.reads)

    def described(self, env: dict[Expr, int], reason: str) -> Counterexample:
        left, right = (tuple(map(int, interpret(es, Integers(env)))) for es in (self.values, self.targets))
        return Counterexample(named(env), left, right, reason)
