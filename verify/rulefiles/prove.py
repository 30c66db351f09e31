"""From a rule to a verdict: points first, then the portfolio on every case.

A rule is tried on a table of points in its own arithmetic (:mod:`.sample`); most false rules end there.  What is left is
proved case by case by the strategies of :mod:`..solve`, machine integers as unbounded ones with their ranges.  Rules
about machine integers that a first pass leaves open are also searched for counterexamples with bit-vectors
(:mod:`.bits`), which prove nothing.  A counterexample counts only if :func:`.evaluate.judge` confirms it.
"""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache

from ...core.condition import FALSE
from ...core.errors import TooLargeError
from .. import linear
from ..evidence import ProofQuestion, note
from ..linearised import LINEARISED, Linearised
from ..obligations import Obligation
from ..refute import bounded_point, minimised, model
from ..solve import Budget, by_equated_dividends, by_recombined_digits, reduced, valid
from ..verdict import Status, Verdict
from .cases import variable_of
from .equal_terms import EQUAL_TERMS, by_equal_terms
from .evaluate import Missing, Point, judge, values
from .generalise import GENERALISED, generalised, repeated
from .instance import instance_terms
from .inverses import INVERSES, by_inverses
from .obligations import MACHINE_TYPES, expanded, occurs, rule_of
from .odd import ODD, by_odd_factors
from .overflow import LIMITS, cannot_overflow, limit_point, widened
from .residues import RESIDUES, by_residues
from .roots import ROOTS, by_roots
from .rule import StatedRule
from .sample import Table, every_point, magnitude, table_of
from .terms import Term, below
from .whole import as_a_whole

__all__ = ["EVERY", "decide_needed", "decide_overflow", "decide_sound"]

#: The name of the strategy that evaluates a rule at all of its points.
EVERY = "every point"

#: What is tried of machine integers that wrap around.
_MODULAR = ((ROOTS, by_roots), (ODD, by_odd_factors))

#: What makes a goal shorter before it is reduced.
_SHORTENED = (("recombined digits", by_recombined_digits), ("equated dividends", by_equated_dividends))

_POINTS = "small points"
_INSIDE = "bounded points"
#: From so many variables on points inside bounds are tried before anything is proved, in so many cases.
_MANY_VARIABLES = 7
_CASES = 4
#: With more cases than this a rule is read as a whole before it is read case by case.
_SEVERAL_CASES = 12
#: Most rules that can be read as a whole are proved with this part of what may be spent on it.
_BRIEFLY = 30
#: The cases of a wider rule may cost this part of that before the rule is read as a whole with all patience.
_EARLY = 3


@lru_cache(maxsize=4)
def _table(source: str) -> Table:
    """One table serves everything that a rule owes."""
    return table_of(rule_of(source))


@lru_cache(maxsize=4)
def _everything(source: str) -> Table | None:
    return every_point(rule_of(source))


def decide_sound(source: str, budget: Budget) -> Verdict:
    """Whether a rule is sound, and says something."""
    r, table = rule_of(source), _table(source)
    point = table.counterexample()
    if point is not None:
        return _refuted(table, point, LIMITS if _is_large(r, point) else _POINTS, 0, (), budget)
    used: dict[str, None] = {}
    tried: dict[str, None] = {}
    spent = 0
    parts: list[Obligation] = []
    try:
        parts = list(expanded(r))
    except TooLargeError as large:
        if (found_out := _everywhere(source, 0, budget)) is not None:
            return found_out
        used, spent = _as_instance(r, budget)
        if not used:
            whole = _whole(r, budget)
            spent += whole.resources
            if whole.found is not None:
                return _refuted(table, whole.found, LINEARISED, spent, (_POINTS,), budget)
            used = {LINEARISED: None} if whole.proved else {}
        if not used:
            return Verdict(Status.UNDECIDED, "", spent, tried=(_POINTS,), detail=str(large))
    if len(r.variables) >= _MANY_VARIABLES and (found := _inside(r, parts)) is not None:
        return _refuted(table, found, _INSIDE, 0, (_POINTS,), budget)
    open_: list[Obligation] = []
    # most cases are proved with little patience, and what is left is sooner seen from the rule as a whole
    few = len(r.variables) < _MANY_VARIABLES and not r.semantics.width
    briefly = few or bool(repeated(r))
    cut_off = False
    asked_whole = few and len(parts) > _SEVERAL_CASES
    if asked_whole:
        whole = _whole(r, budget, briefly=True)
        spent += whole.resources
        if whole.found is not None:
            return _refuted(table, whole.found, LINEARISED, spent, (_POINTS,), budget)
        if whole.proved:
            used[LINEARISED] = None
            parts = []
    for o in parts:
        strategy, cost = _first_attempt(r, o, budget.scaled(0.1) if briefly else budget, patient=not briefly)
        spent += cost
        if not strategy and briefly:
            # a rule without cases, or an instance of a wider one, is sooner seen to be one than proved with all patience
            briefly = False
            shown: dict[str, None] = {}
            for attempt in (True, False):
                if few and not (attempt and asked_whole):
                    whole = _whole(r, budget, briefly=attempt)
                    spent += whole.resources
                    if whole.found is not None:
                        return _refuted(table, whole.found, LINEARISED, spent, (_POINTS, "linear"), budget)
                    shown = {LINEARISED: None} if whole.proved else {}
                if attempt and not shown:
                    # a rule with many cases is mostly cheaper to read as a whole, with all patience
                    most = _limits(budget).rlimit // _EARLY
                    shown, cost = _as_instance(r, budget, most=most)
                    spent += cost
                    cut_off = not shown and cost > most
                if shown:
                    break
            if shown:
                used = shown
                break
            strategy, cost = _first_attempt(r, o, budget)
            spent += cost
        if strategy:
            used[strategy] = None
        else:
            open_.append(o)
    if open_ and (found_out := _everywhere(source, spent, budget)):
        return found_out
    if open_ and r.semantics.width:
        from .bits import bit_vector_point

        found, cost = bit_vector_point(r, budget.model)
        spent += cost
        if found is not None:
            return _refuted(table, found, "bit-vectors", spent, ("linear",), budget)
    if open_ and (cut_off or repeated(r, everywhere=False) != repeated(r)):
        # what may lack a value is a variable as well, where the rule says nothing without it
        shown, cost = _as_instance(r, budget, everywhere=False)
        spent += cost
        if shown:
            used, open_ = shown, []
    for o in open_:
        proved, cost = by_residues(o, _limits(budget))
        spent += cost
        if proved:
            used[RESIDUES] = None
            continue
        v = valid(o, budget)
        spent += v.resources
        tried.update(dict.fromkeys(v.tried))
        if v.proved:
            used.update(dict.fromkeys(v.strategy.split(" + ")))
            continue
        found = _point_of(r, v.witness) if v.witness is not None else None
        if found is not None and judge(r, found) in ("counterexample", "undefined"):
            return _refuted(table, found, v.strategy, spent, tuple(tried), budget)
        return Verdict(Status.UNDECIDED, "", spent, tried=(_POINTS, *tried), detail=f"open: {o.kind}")
    if table.example() is None:
        found_one, cost = _says_something(r, budget)
        spent += cost
        if found_one is not True:
            status = Status.VACUOUS if found_one is False else Status.UNDECIDED
            detail = "no point that satisfies the conditions is known" if found_one is None else ""
            return Verdict(status, "model", spent, tried=(_POINTS, "model"), detail=detail)
    return Verdict(Status.PROVED, " + ".join(used) or "identity", spent, tried=tuple(tried))


def _first_attempt(r: StatedRule, o: Obligation, budget: Budget, *, patient: bool = True) -> tuple[str, int]:
    """The strategy that proves a case at once, empty where none does, and the cost."""
    proved, strategy, spent = _at_once(o, budget, patient=patient)
    for name, shorter in _MODULAR if not proved and r.semantics.overflow == "wrap" else ():
        (proved, cost), strategy = shorter(o, _limits(budget, patient=patient)), name
        spent += cost
        if proved:
            break
    if not proved:
        (proved, cost), strategy = by_inverses(o, _limits(budget, patient=patient)), INVERSES
        spent += cost
    if not proved:
        (proved, cost), strategy = by_equal_terms(o, _limits(budget, patient=patient)), EQUAL_TERMS
        spent += cost
    return strategy if proved else "", spent


def _whole(r: StatedRule, budget: Budget, *, briefly: bool = False) -> Linearised:
    """What is seen from a rule without cases."""
    found = as_a_whole(r, _limits(budget).rlimit // (_BRIEFLY if briefly else 1))
    if found.leaf is not None:
        note([ProofQuestion("linear", found.leaf)])
    return found


def _as_instance(
    r: StatedRule, budget: Budget, *, everywhere: bool = True, most: int | None = None
) -> tuple[dict[str, None], int]:
    """By which strategies a rule is proved of which ``r`` is an instance; none where that is not so easy.

    With ``most`` no further case is tried when so much has been spent.
    """
    wider = generalised(r, everywhere=everywhere)
    # that the rule follows from the wider one is seen from the two alone, by what did not make it
    if wider is None or instance_terms(wider, r) is None:
        return {}, 0
    used: dict[str, None] = {GENERALISED: None}
    spent = 0
    try:
        for o in expanded(wider):
            patience = 0.5
            if most is not None:
                # no question gets more than what is left
                patience = min(patience, (most - spent) / _limits(budget).rlimit)
                if patience <= 0:
                    return {}, spent
            strategy, cost = _first_attempt(wider, o, budget.scaled(patience))
            spent += cost
            if not strategy:
                (proved, cost), strategy = by_residues(o, _limits(budget)), RESIDUES
                spent += cost
                strategy = strategy if proved else ""
            if not strategy:
                return {}, spent
            used[strategy] = None
    except TooLargeError:
        return {}, spent
    return used, spent


def _inside(r: StatedRule, parts: Sequence[Obligation]) -> dict[str, int] | None:
    """A counterexample inside the bounds of the conditions: of many variables hardly any point of a table satisfies all."""
    for o in itertools.islice(parts, _CASES):
        point = bounded_point(o.hypotheses, o.goal)
        if point is not None:
            found = _point_of(r, {v.name: n for v, n in point.items()})
            if judge(r, found) in ("counterexample", "undefined"):
                return found
    return None


def _everywhere(source: str, spent: int, budget: Budget) -> Verdict | None:
    """The verdict on a rule that has few points, by evaluating it at every one."""
    table = _everything(source)
    if table is None:
        return None
    point = table.counterexample()
    if point is not None:
        return _refuted(table, point, EVERY, spent, (_POINTS, "linear"), budget)
    status = Status.PROVED if table.example() is not None else Status.VACUOUS
    return Verdict(status, EVERY, spent, tried=(_POINTS, "linear"))


def _at_once(o: Obligation, budget: Budget, *, patient: bool = True) -> tuple[bool, str, int]:
    """The reduction to linear arithmetic on a whole case; ``identity`` where it needs no solver.

    Digits that are divided again are put together first, and dividends replaced by what they are said to be.
    """
    outcomes: list[linear.Reduction] = []
    for name, shortened in _SHORTENED:
        found = shortened(o.hypotheses, o.goal, _limits(budget, patient=patient))
        outcomes += found
        if found and found[-1].proved:
            note(ProofQuestion("linear", leaf) for outcome in found for leaf in outcome.leaves)
            return True, name, sum(outcome.resources for outcome in outcomes)
    outcome = reduced(o.hypotheses, o.goal, _limits(budget, patient=patient))
    return outcome.proved, outcome.strategy, outcome.resources + sum(o.resources for o in outcomes)


def _limits(budget: Budget, *, patient: bool = True) -> linear.ReductionBudget:
    questions = max(8, budget.linear // 750) if patient else 8
    return linear.ReductionBudget(rlimit=20 * budget.linear, questions=questions, patient=patient)


def _is_large(r: StatedRule, point: Point) -> bool:
    s = r.semantics
    return bool(s.width) and any(abs(n) > s.hi // 8 and abs(n) > 64 for n in point.values())


def _point_of(r: StatedRule, witness: Mapping[str, int]) -> dict[str, int]:
    """A witness of a case as a point of the rule: a variable that the case does not mention may be anything."""
    out = {}
    for v, kind in r.variables.items():
        default = 0 if kind.lo is None or kind.hi is None or kind.lo <= 0 <= kind.hi else kind.lo
        out[v] = witness.get(v, default)
    return out


def _says_something(r: StatedRule, budget: Budget) -> tuple[bool | None, int]:
    """Whether the rule says something anywhere; ``None`` where that is not known."""
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
def _refuted(
    table: Table, point: Point, how: str, spent: int, tried: tuple[str, ...], budget: Budget
) -> Verdict:
    r = table.rule
    least = _smallest(table, dict(point), budget)
    assert judge(r, least) in ("counterexample", "undefined")
    right = values((r.right,), least, r.semantics)[id(r.right)]
    status = Status.UNDEFINED if right is Missing.ZERO else Status.REFUTED
    return Verdict(status, how, spent, least, tried)


def _smallest(table: Table, point: dict[str, int], budget: Budget) -> dict[str, int]:
    """The counterexample of least total magnitude that can be found from ``point``."""
    r = table.rule
    if _total(point) <= table.radius + 1:
        return point  # the table holds every smaller point
    best = _descended(r, point)
    if _total(best) <= table.radius + 1 or r.semantics.width:
        return best  # nonlinear questions about machine integers are hopeless
    names = list(r.variables)
    try:
        parts = list(itertools.islice(expanded(r), 24))
    except TooLargeError:
        return best
    core = {v: variable_of(v, kind.name) for v, kind in r.variables.items()}
    for o in parts:
        at = {core[v]: n for v, n in best.items()}
        found = minimised(at, o.hypotheses, o.goal, budget.model // 40)  # type: ignore[arg-type]
        candidate = _point_of(r, {v.name: n for v, n in found.items()})
        smaller = magnitude([candidate[v] for v in names]) < magnitude([best[v] for v in names])
        if smaller and judge(r, candidate) in ("counterexample", "undefined"):
            best = _descended(r, candidate)
    return best


def _total(point: Point) -> int:
    return sum(map(abs, point.values()))


def _descended(r: StatedRule, best: dict[str, int], most: int = 6000) -> dict[str, int]:
    """A local search over one and two coordinates at a time, of so many points; the result is never larger."""
    names = list(best)
    least = magnitude([best[v] for v in names])
    tried = 0
    improved = True
    while improved:
        improved = False
        for candidate in _neighbours(best, names):
            size = magnitude([candidate[v] for v in names])
            if size >= least:
                continue
            tried += 1
            if judge(r, candidate) in ("counterexample", "undefined"):
                best, least, improved = candidate, size, True
                break
            if tried > most:
                return best
    return best


#: How many points a descent may try for a finding.
_TRIED_BRIEFLY = 3000


def _neighbours(point: Mapping[str, int], names: Sequence[str]) -> Iterator[dict[str, int]]:
    """Points nearer to zero: at zero, at one, opposite, and by steps that are powers of two, the longest first."""
    for v in names:
        x = point[v]
        for y in (0, 1, -1, -x):
            if y != x:
                yield {**point, v: y}
        for k in reversed(range(abs(x).bit_length())):
            yield {**point, v: x - (1 << k) if x > 0 else x + (1 << k)}
    for v, w in itertools.combinations(names, 2):
        size = max(abs(point[v]), abs(point[w])).bit_length()
        for k in reversed(range(size)):
            for a, b in ((-1, -1), (1, 1), (-1, 1), (1, -1)):
                yield {**point, v: point[v] + (a << k), w: point[w] + (b << k)}


# --------------------------------------------------------------------------------------------------------- overflow
@lru_cache(maxsize=64)
def decide_overflow(source: str, bits: int, budget: Budget) -> Verdict:
    """Whether no integer of so many bits overflows on the right side where none does on the left: REFUTED with a point.

    Only quick attempts are made.  A rule that is not sound may be refuted for another reason.
    """
    r = rule_of(source)
    if cannot_overflow(r, bits):
        return Verdict(Status.PROVED, "identity")
    machine = widened(r, bits)
    smaller = decide_overflow(source, bits // 2, budget).witness if bits > min(MACHINE_TYPES) else None
    point = limit_point(machine, smaller)
    if point is not None:
        return Verdict(Status.REFUTED, LIMITS, 0, _descended(machine, dict(point), _TRIED_BRIEFLY))
    spent = 0
    try:
        for n, o in enumerate(expanded(machine)):
            proved = False
            if n < _QUICK_CASES:
                proved, _, cost = _at_once(o, budget.scaled(0.1), patient=False)
                spent += cost
            if not proved:
                return Verdict(
                    Status.UNDECIDED, "", spent, tried=(LIMITS, "linear"), detail="a finding, not a gate"
                )
    except TooLargeError as large:
        return Verdict(Status.UNDECIDED, "", spent, tried=(LIMITS,), detail=str(large))
    return Verdict(Status.PROVED, "linear" if spent else "identity", spent, tried=(LIMITS,))


# ------------------------------------------------------------------------------------------------------- conditions
def decide_needed(source: str, k: int, budget: Budget) -> Verdict:
    """Whether condition ``k`` is needed: PROVED with a point, VACUOUS where the rule is proved without it.

    Only quick attempts are made: this is worth knowing, but nothing depends on it.
    """
    r, table = rule_of(source), _table(source)
    if table.needs(k):
        return Verdict(Status.PROVED, _POINTS)
    if _implied(source, k):
        return Verdict(Status.VACUOUS, "linear")
    if _violating(source, k):
        return Verdict(Status.PROVED, _INSIDE)
    found, spent = _without_many(source, budget)
    proved = found.get(k, False)
    detail = "" if k in found else f"more than {_ATTEMPTS} attempts to do without some of many conditions"
    if proved:
        return Verdict(Status.VACUOUS, "linear", spent)
    if len(r.variables) < _MANY_VARIABLES and not r.semantics.width:
        whole = as_a_whole(_weaker(r, (k,)), _limits(budget).rlimit // 10)
        spent += whole.resources
        if whole.proved or whole.found is not None:
            return Verdict(Status.VACUOUS if whole.proved else Status.PROVED, LINEARISED, spent)
    everything = _everything(source)
    if everything is not None:
        return Verdict(Status.PROVED if everything.needs(k) else Status.VACUOUS, EVERY, spent)
    tried = (_POINTS,) if detail else (_POINTS, "linear")
    return Verdict(Status.UNDECIDED, "", spent, tried=tried, detail=detail or "a finding, not a gate")


def _weaker(r: StatedRule, ks: Collection[int]) -> StatedRule:
    """The rule without some of its conditions."""
    return replace(r, conditions=tuple(c for k, c in enumerate(r.conditions) if k not in ks))


@lru_cache(maxsize=128)
def _implied(source: str, k: int) -> bool:
    """Whether short conditions about the variables of this one imply it: ``n > 0`` where there is an index below n."""
    r = rule_of(source)
    if len(r.conditions) > _ASKED_APART:
        return False
    short = [_mentioned_by_short(c) for c in r.conditions]
    own = short[k]
    if not own:
        return False
    near = own.union(*(names for names in short if names & own))
    others = tuple(
        c
        for n, (c, names) in enumerate(zip(r.conditions, short, strict=True))
        if n != k and names and names <= near
    )
    if not others:
        return False
    # conditions are mathematics, whatever the integers of the sides
    unbounded = replace(r.semantics, width=0)
    true = Term("bool", (), True)
    claim = replace(r, left=r.conditions[k], right=true, conditions=others, semantics=unbounded)
    try:
        return all(reduced(o.hypotheses, o.goal, _BRIEF).proved for o in expanded(claim))
    except TooLargeError:
        return False


def _mentioned_by_short(c: Term) -> frozenset[str]:
    """The variables of a condition that is soon read; none of another."""
    terms = below(c)
    if len(terms) > _SHORT or any(t.op not in _READ_SOON for t in terms):
        return frozenset()
    return frozenset(t.name for t in terms if t.op in ("var", "flag"))


#: Conditions of so many terms are short, if nothing is divided in them.
_SHORT = 12
_READ_SOON = frozenset(
    {
        "var",
        "flag",
        "int",
        "bool",
        "add",
        "sub",
        "mul",
        "neg",
        "fold",
        "lt",
        "le",
        "gt",
        "ge",
        "eq",
        "ne",
        "within",
        "and",
    }
)
_BRIEF = linear.ReductionBudget(rlimit=100_000, questions=2, patient=False)


@lru_cache(maxsize=128)
def _violating(source: str, k: int) -> bool:
    """Whether some point inside the bounds of the other conditions violates this one, and there the rule is wrong."""
    r = rule_of(source)
    if len(r.variables) < _SEVERAL_VARIABLES or len(r.conditions) > _ASKED_APART:
        return False
    others = tuple(c for n, c in enumerate(r.conditions) if n != k)
    opposite = replace(r, conditions=(*others, Term("not", (r.conditions[k],))))
    try:
        return _inside(opposite, list(itertools.islice(expanded(opposite), _CASES))) is not None
    except TooLargeError:
        return False


def _without(r: StatedRule, ks: Collection[int], budget: Budget) -> tuple[bool, int, str]:
    """Whether a quick attempt proves a rule without some of its conditions, at what cost, and why none was made."""
    spent = 0
    try:
        for n, o in enumerate(expanded(_weaker(r, ks))):
            proved = False
            if n < _QUICK_CASES:
                proved, _, cost = _at_once(o, budget.scaled(0.1), patient=len(r.conditions) < 4)
                spent += cost
            if not proved:
                return False, spent, ""
    except TooLargeError as large:
        return False, spent, str(large)
    return True, spent, ""


@lru_cache(maxsize=4)
def _without_many(source: str, budget: Budget) -> tuple[dict[int, bool], int]:
    """For conditions that no point needs, whether the rule is proved without them, and what all attempts cost.

    A rule that is proved without several conditions is proved without each of them, so whole groups are left out, and
    halves of those without which it is not proved.
    """
    r, table = rule_of(source), _table(source)
    asked = range(len(r.conditions))
    groups = [
        [k for k in asked if not (table.needs(k) or _implied(source, k) or _violating(source, k))],
    ]
    found: dict[int, bool] = {}
    spent = 0
    for _ in range(_ATTEMPTS):
        if not groups:
            break
        group = groups.pop(0)
        proved, cost, _ = _without(r, frozenset(group), budget)
        spent += cost
        if proved or len(group) == 1:
            found |= dict.fromkeys(group, proved)
        elif len(r.conditions) <= _MANY:
            groups = [[k] for k in group]
        else:
            half = len(group) // 2
            groups += [group[:half], group[half:]]
    return found, spent


#: A condition that saves more case distinctions than this is not questioned further.
_QUICK_CASES = 24
#: A table of points covers fewer variables, and more conditions are not opposed one by one.
_SEVERAL_VARIABLES = 4
_ASKED_APART = 64
#: With more conditions than this they are questioned in groups, and with so many attempts in all.
_MANY = 24
_ATTEMPTS = 32
