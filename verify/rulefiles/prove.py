"""Decides a rule: by points first, then by the portfolio on every case.

A rule is first evaluated on a table of points in its own arithmetic (:mod:`.sample`), which refutes most false rules.  The
others are proved case by case by the strategies of :mod:`..solve`, with machine integers as unbounded ones with ranges.
Rules about machine integers that a first pass leaves open are also searched for counterexamples with bit-vectors
(:mod:`.bits`), which prove nothing.  Every counterexample is confirmed by :func:`.evaluate.judge`.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from functools import lru_cache

from ...core.condition import FALSE
from ...core.errors import TooLargeError
from ...core.expr import Var
from ..budget import Budget
from ..evidence import ProofQuestion, note
from ..linearised import LINEARISED, Linearised, by_linearisation
from ..obligation import Obligation
from ..preprocess import solved
from ..refute import bounded_point, descended, eliminated, magnitude, minimised, model
from ..solve import by_recombined_digits, linear_limits, reduced, valid
from ..verdict import Status, Verdict
from .cases import expanded, occurs
from .equal_terms import EQUAL_TERMS, by_equal_terms
from .evaluate import Missing, Point, judge, refutes, values
from .generalise import GENERALISED, by_generalisation
from .inverses import INVERSES, by_inverses
from .lowering import core_variables, lowered, rule_of
from .modular import ODD, RESIDUES, ROOTS, by_odd_factors, by_residues, by_roots
from .rule import StatedRule
from .sample import every_point, table_of
from .table import Table

#: The name of the strategy that evaluates a rule at all of its points.
EVERY = "every point"

#: Strategies for cases that the reduction leaves open; the first two are for machine integers that wrap around.
_MODULAR = ((ROOTS, by_roots), (ODD, by_odd_factors))
_FURTHER = ((INVERSES, by_inverses), (EQUAL_TERMS, by_equal_terms), (GENERALISED, by_generalisation))

POINTS = "small points"
LIMITS = "machine limits"
INSIDE = "bounded points"
#: The number of variables from which bounded points are tried before proving, and the limit on their cases.
MANY_VARIABLES = 7
CASES = 4
#: Number of cases beyond which a rule is tried as a whole before its cases.
_SEVERAL_CASES = 12
#: Divisor of the budget for a brief attempt as a whole, which suffices for most rules that can be proved so.
_BRIEFLY = 30


@lru_cache(maxsize=4)
def table_for(source: str) -> Table:
    """Return the table of a rule, cached since all of its obligations use it."""
    return table_of(rule_of(source))


@lru_cache(maxsize=4)
def every_point_of(source: str) -> Table | None:
    return every_point(rule_of(source))


class _Counterexample(Exception):
    """The attempt as a whole has found a counterexample."""

    def __init__(self, point: Point) -> None:
        super().__init__()
        self.point = point


class _Search:
    """The state of a proof: the strategies used, those tried, and the cost."""

    def __init__(self, r: StatedRule, budget: Budget) -> None:
        self.rule = r
        self.budget = budget
        self.used: dict[str, None] = {}
        self.tried: tuple[str, ...] = (POINTS,)
        self.spent = 0

    def case(self, o: Obligation, budget: Budget, *, patient: bool = True) -> bool:
        """Try to prove one case; return whether it succeeded."""
        self.tried = (POINTS, "linear")
        strategy, cost = at_once(o, budget, patient=patient)
        self.spent += cost
        modular = _MODULAR if self.rule.semantics.overflow == "wrap" else ()
        for name, attempt in () if strategy else (*modular, *_FURTHER):
            proved, cost = attempt(o, linear_limits(budget, patient=patient))
            self.spent += cost
            if proved:
                strategy = name
                break
        if strategy:
            self.used[strategy] = None
        return bool(strategy)

    def whole(self, *, briefly: bool = False) -> bool:
        """Try to prove the rule without cases.  Raises :class:`_Counterexample`."""
        found = as_a_whole(self.rule, linear_limits(self.budget).rlimit // (_BRIEFLY if briefly else 1))
        self.spent += found.resources
        if found.leaf is not None:
            note([ProofQuestion("linear", found.leaf)])
        if found.found is not None:
            raise _Counterexample(found.found)
        if found.proved:
            self.used = {LINEARISED: None}
        return found.proved

    def open_cases(self, parts: Sequence[Obligation]) -> list[Obligation]:
        """Return the cases that are not proved; none if the rule is proved as a whole."""
        few = len(self.rule.variables) < MANY_VARIABLES and not self.rule.semantics.width
        if few and len(parts) > _SEVERAL_CASES and self.whole(briefly=True):
            return []
        out: list[Obligation] = []
        for o in parts:
            # most cases are proved with a small budget, and the rest are often easier for the rule as a whole
            if self.case(o, self.budget.scaled(0.1), patient=False):
                continue
            if few and (self.whole(briefly=True) or self.whole()):
                return []
            few = False
            if not self.case(o, self.budget):
                out.append(o)
        return out


def decide_sound(source: str, budget: Budget) -> Verdict:
    """Decide whether a rule is sound and not vacuous."""
    r, table = rule_of(source), table_for(source)
    point = table.counterexample()
    if point is not None:
        large = bool(r.semantics.width) and max(map(abs, point.values()), default=0) > max(r.semantics.hi // 8, 64)
        return _refuted(table, point, LIMITS if large else POINTS, 0, (), budget)
    search = _Search(r, budget)
    try:
        return _decided(search, source, table)
    except _Counterexample as wrong:
        return _refuted(table, wrong.point, LINEARISED, search.spent, search.tried, budget)


def _decided(search: _Search, source: str, table: Table) -> Verdict:
    """Decide a rule that no point of its table refutes.  Raises :class:`_Counterexample`."""
    r, budget = search.rule, search.budget
    parts: list[Obligation] = []
    try:
        parts = list(expanded(r))
    except TooLargeError as large:
        if (found_out := _everywhere(source, 0, budget)) is not None:
            return found_out
        if not search.whole():
            return Verdict(Status.UNDECIDED, "", search.spent, tried=(POINTS,), detail=str(large))
    if len(r.variables) >= MANY_VARIABLES and (found := inside(r, parts)) is not None:
        return _refuted(table, found, INSIDE, 0, (POINTS,), budget)
    open_ = search.open_cases(parts)
    if open_ and (found_out := _everywhere(source, search.spent, budget)):
        return found_out
    if open_ and r.semantics.width:
        from .bits import bit_vector_point

        found, cost = bit_vector_point(r, budget.model)
        search.spent += cost
        if found is not None:
            return _refuted(table, found, "bit-vectors", search.spent, ("linear",), budget)
    tried: dict[str, None] = {}
    for o in open_:
        proved, cost = by_residues(o, linear_limits(budget))
        search.spent += cost
        if proved:
            search.used[RESIDUES] = None
            continue
        v = valid(o, budget)
        search.spent += v.resources
        tried.update(dict.fromkeys(v.tried))
        if v.proved:
            search.used.update(dict.fromkeys(v.strategy.split(" + ")))
            continue
        found = _point_of(r, v.witness) if v.witness is not None else None
        if found is not None and refutes(r, found):
            return _refuted(table, found, v.strategy, search.spent, tuple(tried), budget)
        return Verdict(Status.UNDECIDED, "", search.spent, tried=(POINTS, *tried), detail=f"open: {o.kind}")
    if table.example() is None:
        found_one, cost = _says_something(r, budget)
        search.spent += cost
        if found_one is not True:
            status = Status.VACUOUS if found_one is False else Status.UNDECIDED
            detail = "no point that satisfies the conditions is known" if found_one is None else ""
            return Verdict(status, "model", search.spent, tried=(POINTS, "model"), detail=detail)
    strategy = " + ".join(search.used) or "identity"
    return Verdict(Status.PROVED, strategy, search.spent, tried=tuple(tried))


def as_a_whole(r: StatedRule, rlimit: int) -> Linearised:
    """Prove a rule over unbounded integers, or find a counterexample, by incremental linearisation without cases."""
    if r.semantics.width:
        return Linearised(False, 0)
    rule = lowered(r)
    # equations without divisions among the conditions define variables
    known, goal = solved(rule.given, rule.goal)
    definitions = eliminated(rule.given)

    def counterexample(model: Mapping[Var, int]) -> dict[str, int] | None:
        at = dict.fromkeys(core_variables(r).values(), 0) | dict(model)
        for v, e in reversed(definitions):
            at[v] = e.evaluate(at)
        point = {v.name: n for v, n in at.items()}
        return point if refutes(r, point) else None

    return by_linearisation(known, goal, rlimit, counterexample)


def inside(r: StatedRule, parts: Sequence[Obligation]) -> dict[str, int] | None:
    """Return a counterexample inside the bounds of the conditions, which points of a table rarely satisfy together."""
    for o in itertools.islice(parts, CASES):
        point = bounded_point(o.hypotheses, o.goal)
        if point is not None:
            found = _point_of(r, {v.name: n for v, n in point.items()})
            if refutes(r, found):
                return found
    return None


def _everywhere(source: str, spent: int, budget: Budget) -> Verdict | None:
    """Decide a rule that has few points by evaluating it at every point; ``None`` if there are too many."""
    table = every_point_of(source)
    if table is None:
        return None
    point = table.counterexample()
    if point is not None:
        return _refuted(table, point, EVERY, spent, (POINTS, "linear"), budget)
    status = Status.PROVED if table.example() is not None else Status.VACUOUS
    return Verdict(status, EVERY, spent, tried=(POINTS, "linear"))


def at_once(o: Obligation, budget: Budget, *, patient: bool = True) -> tuple[str, int]:
    """Return the strategy by which the reduction proves a whole case, empty if it does not, and the cost.

    First, divided digits are recombined.
    """
    limits = linear_limits(budget, patient=patient)
    found = by_recombined_digits(o.hypotheses, o.goal, limits)
    spent = sum(outcome.resources for outcome in found)
    if found and found[-1].proved:
        note(ProofQuestion("linear", leaf) for outcome in found for leaf in outcome.leaves)
        return "recombined digits", spent
    outcome = reduced(o.hypotheses, o.goal, limits)
    return outcome.strategy if outcome.proved else "", spent + outcome.resources


def _point_of(r: StatedRule, witness: Mapping[str, int]) -> dict[str, int]:
    """Extend a witness of a case to a point of the rule; variables that the case does not mention are arbitrary."""
    out = {}
    for v, kind in r.variables.items():
        default = 0 if kind.lo is None or kind.hi is None or kind.lo <= 0 <= kind.hi else kind.lo
        out[v] = witness.get(v, default)
    return out


def _says_something(r: StatedRule, budget: Budget) -> tuple[bool | None, int]:
    """Return whether the rule claims something at any point, ``None`` if unknown, and the cost."""
    spent = 0
    unknown = False
    for hypotheses in occurs(r):
        found, answer, cost = model(hypotheses, FALSE, budget.model)
        spent += cost
        if found is not None:
            point = _point_of(r, {v.name: n for v, n in found.items()})
            if judge(r, point) != "not concerned":
                return True, spent
        if answer != "unsat":
            outcome = reduced(hypotheses, FALSE)
            spent += outcome.resources
            unknown = unknown or not outcome.proved
    return (None if unknown else False), spent


# -------------------------------------------------------------------------------------------------- counterexamples
def _refuted(table: Table, point: Point, how: str, spent: int, tried: tuple[str, ...], budget: Budget) -> Verdict:
    r = table.rule
    least = _smallest(table, dict(point), budget)
    assert refutes(r, least)
    right = values((r.right,), least, r.semantics)[id(r.right)]
    status = Status.UNDEFINED if right is Missing.ZERO else Status.REFUTED
    return Verdict(status, how, spent, least, tried)


def _smallest(table: Table, point: dict[str, int], budget: Budget) -> dict[str, int]:
    """Return the counterexample of least total magnitude that is found from ``point``."""
    r = table.rule
    if sum(map(abs, point.values())) <= table.radius + 1:
        return point  # the table has every smaller point
    best = smaller_point(r, point)
    if sum(map(abs, best.values())) <= table.radius + 1 or r.semantics.width:
        return best  # solvers rarely answer nonlinear questions about machine integers
    core, rule = core_variables(r), lowered(r)
    found = minimised({core[v]: n for v, n in best.items()}, rule.given, rule.goal, budget.model // 40)
    candidate = {v: found[core[v]] for v in r.variables}
    smaller = magnitude([*candidate.values()]) < magnitude([best[v] for v in r.variables])
    return smaller_point(r, candidate) if smaller and refutes(r, candidate) else best


def smaller_point(r: StatedRule, point: dict[str, int], most: int = 6000) -> dict[str, int]:
    """Return a counterexample that is no larger, by a local search of at most ``most`` points."""
    return descended(point, list(point), lambda p: refutes(r, p), most)
