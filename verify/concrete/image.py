"""Sets of points given by maps, and the problem that one such set lies within others."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from ...core.expr import (
    Expr,
    Integers,
    Sum,
    Var,
    add,
    floordiv,
    integer,
    interpret,
    linear,
    maximum,
    postorder,
    substitute_all,
    var,
)
from ...core.indexing_map import IndexingMap
from ...core.interval import Interval
from ..verdict import Status
from .decide import ROUNDS, Portfolio
from .problem import Answer, Box, Counterexample, Fact, Option, Problem, counterexample_order, substituted

ZERO = Interval(0, 0)
_NOTHING = integer(0)


@dataclass(frozen=True)
class Image:
    """The set ``{coords | variables in their boxes, where}``, for each value of the parameters."""

    variables: Box
    where: tuple[Fact, ...]
    coords: tuple[Expr, ...]

    @staticmethod
    def of(m: IndexingMap, coords: Iterable[Expr] = (), extra: Iterable[Fact] = ()) -> Image:
        """The values of ``coords`` at all points of the domain of ``m`` that satisfy the facts ``extra``."""
        variables = tuple((v.expr, Interval(v.lo, v.hi)) for v in (*m.dims, *m.ranges))
        where = (Fact(c.expr, Interval(c.lo, c.hi)) for c in m.constraints)
        return Image(variables, (*where, *extra), tuple(coords))

    def primed(self) -> Image:
        """The same set with other names for its variables."""
        renamed = {v: var(v.name + "'", v.kind) for v, _ in self.variables}
        return Image(
            tuple((renamed[v], i) for v, i in self.variables),
            tuple(substituted(self.where, renamed)),
            tuple(substitute_all(self.coords, renamed)),
        )


def member(image: Image, at: Sequence[Expr], hint: Sequence[Expr] = ()) -> Option | None:
    """The option that says: ``at`` is in ``image``; ``None`` if nothing is.

    Coordinates that determine a variable (``v`` itself, or ``k·v + rest`` with the rest known) do so at once,
    and what remains unknown is left to the engines.  ``hint`` is a guess for the variables of ``image``.
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
    coords = substitute_all(image.coords, chosen)
    facts = [Fact(gap, ZERO) for e, t in zip(coords, at, strict=True) if (gap := e - t) is not _NOTHING]
    facts += [Fact(e, box[v]) for v, e in chosen.items()]
    facts += substituted(image.where, chosen)
    mentioned = {v for f in facts for v in f.expr.variables()}
    unknowns = [k for k, (v, _) in enumerate(image.variables) if v not in chosen and v in mentioned]
    guesses = (tuple(hint[k] for k in unknowns),) if unknowns and hint else ()
    return Option(tuple(facts), tuple(image.variables[k] for k in unknowns), guesses)


def _solved(e: Expr, t: Expr, box: Mapping[Var, Interval], chosen: Mapping[Var, Expr]) -> tuple[Var, Expr] | None:
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


def included(inner: Image, outer: Iterable[Image], parameters: Box, where: Sequence[Fact] = ()) -> Problem:
    """The problem that every element of ``inner`` is in one of ``outer``."""
    own = [v for v, _ in inner.variables]
    options = [member(image.primed(), inner.coords, own if len(own) == len(image.variables) else ()) for image in outer]
    return Problem((*inner.variables, *parameters), (*inner.where, *where), tuple(o for o in options if o is not None))


# ------------------------------------------------------------------------------------------- runtime variables
def runtime_box(m: IndexingMap) -> Box:
    """The runtime variables of a map, which are parameters of its relation."""
    return tuple((r.expr, Interval(r.lo, r.hi)) for r in m.rts)


def shared_box(maps: Iterable[IndexingMap]) -> Box:
    """The runtime variables of several maps; one name is one value, within every box that it has."""
    boxes: dict[Var, Interval] = {}
    for m in maps:
        for v, i in runtime_box(m):
            boxes[v] = boxes[v] & i if v in boxes else i
    return tuple(boxes.items())


# ------------------------------------------------------------------------------------------------------ answers
class Question:
    """A problem, and what its counterexamples say: ``describe`` makes one of the values of the variables."""

    def __init__(
        self, problem: Problem, describe: Callable[[dict[Expr, int]], Counterexample], confirm: bool = False
    ) -> None:
        self.problem, self.describe, self.confirm = problem, describe, confirm
        self.portfolio: Portfolio | None = None
        self.seconds = 0.0

    def answered(self, rounds: int = ROUNDS) -> Answer:
        """The answer after so many rounds; those that were made before are not made again."""
        start = time.perf_counter()
        self.portfolio = self.portfolio or Portfolio(self.problem, self.confirm)
        decision = self.portfolio.decided(rounds)
        outcome = decision.outcome
        found: Counterexample | None = None
        status = {"holds": Status.PROVED, "fails": Status.REFUTED}.get(outcome.status, Status.UNDECIDED)
        if status is Status.REFUTED:
            found = self.describe(self.problem.environment(outcome.point))
            found = replace(found, minimal=outcome.minimal)
        self.seconds += time.perf_counter() - start
        return Answer(status, decision.engine, decision.tried, found, self.seconds, decision.confirmed_by)

    def within(self, total: int) -> Question:
        """The same question about points of at most this total magnitude."""
        sizes = (v if i.lo >= 0 else -v if i.hi <= 0 else maximum(v, -v) for v, i in self.problem.variables)
        near = Fact(add(*sizes), Interval(-math.inf, total))
        problem = replace(self.problem, where=(*self.problem.where, near))
        return Question(problem, self.describe, self.confirm)


def asked(problem: Problem, describe: Callable[[dict[Expr, int]], Counterexample], confirm: bool = False) -> Answer:
    """Decide a problem; ``describe`` makes the counterexample of the values of its variables."""
    return Question(problem, describe, confirm).answered()


def joined(answers: Sequence[Answer], reason: str = "") -> Answer:
    """The answer to a conjunction: the smallest counterexample of all, or undecided if a part is.

    ``reason`` is the one for a counterexample to any but the first answer.
    """
    tried = tuple(t for a in answers for t in a.tried)
    seconds = math.fsum(a.seconds for a in answers)
    refuted = [(a, a.counterexample) for a in answers if a.counterexample is not None]
    if refuted:
        worst, found = min(refuted, key=lambda r: counterexample_order(tuple(r[1].values.values())))
        if reason and worst is not answers[0]:
            found = replace(found, reason=reason)
        return replace(worst, tried=tried, counterexample=found, seconds=seconds)
    for a in answers:
        if not a.proved:
            return replace(a, tried=tried, seconds=seconds)
    engines = dict.fromkeys(a.engine for a in answers)
    confirmed = dict.fromkeys(a.confirmed_by for a in answers)
    by = "" if "" in confirmed else " and ".join(confirmed)
    return Answer(Status.PROVED, " and ".join(engines) or "nothing to show", tried, None, seconds, by)


def named(values: Mapping[Expr, int]) -> dict[str, int]:
    """The same values by the names of the variables."""
    return {str(v): x for v, x in values.items()}


def targets(m: IndexingMap, env: Mapping[Expr, int]) -> tuple[int, ...] | None:
    """The target of ``m`` at an assignment, or ``None`` outside its domain."""
    groups = (m.dim_vars, m.range_vars, m.rt_vars)
    return m.evaluate(*([env[v] for v in variables] for variables in groups))


class TwoPoints:
    """Two points of one map: those variables that ``differ`` (all by default) have primed names at the second one."""

    def __init__(self, m: IndexingMap, differ: Sequence[Var] | None = None, *values: Expr) -> None:
        image = Image.of(m)
        self.values = values or m.results
        moved = [v for v, _ in image.variables] if differ is None else differ
        self.again = {v: var(v.name + "'", v.kind) for v in moved}
        self.targets = substitute_all(self.values, self.again)
        self.first = image.where
        self.second = tuple(substituted(image.where, self.again))
        more = tuple((self.again[v], i) for v, i in image.variables if v in self.again)
        self.box = (*image.variables, *more, *runtime_box(m))

    def asked(self, where: Iterable[Fact], options: Sequence[Option], reason: str, confirm: bool) -> Answer:
        """Whether one of the ``options`` holds at two points of the domain with ``where``."""
        return self.question(where, options, reason, confirm).answered()

    def question(self, where: Iterable[Fact], options: Sequence[Option], reason: str, confirm: bool) -> Question:
        """The question that :meth:`asked` answers."""
        problem = Problem(self.box, (*self.first, *self.second, *where), tuple(options))
        return Question(problem, lambda env: self.described(env, reason), confirm)

    def described(self, env: dict[Expr, int], reason: str) -> Counterexample:
        left, right = (tuple(map(int, interpret(es, Integers(env)))) for es in (self.values, self.targets))
        return Counterexample(named(env), left, right, reason)
