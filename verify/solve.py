"""Decides an obligation by a portfolio of strategies, in a fixed and recorded order.

Budgets are solver resource counts, never seconds, and every solver call has a context of its own.  So a verdict is the
same on a loaded machine, in any process and in any order (reports/semantics.md, "Proofs").  reports/strategies.md
describes the strategies in the order in which they are tried.

A goal is split into its conjuncts, and conjuncts already proved are hypotheses for the rest.  A claim that a solver has
proved is also evaluated at small points: if it is false at one, a
:class:`~indexproof.verify.trust.disagreement.Disagreement` ends the run.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any

import z3

from ..core.condition import FALSE, Condition, any_of, negate
from ..core.expr import Var
from . import linear
from .budget import Budget
from .encode import Encoder, resources
from .evidence import ProofQuestion, note, wanted
from .linearised import LINEARISED, by_linearisation
from .obligation import Obligation
from .preprocess import Part, conjuncts, lower_bounds, part, positive
from .recombine import recombinations
from .refute import bounded_point, confirmed, divisors, machine_point, minimised, model, small_point
from .trust.disagreement import Disagreement
from .trust.smtlib import script_at
from .verdict import Status, Verdict


def decide(o: Obligation, budget: Budget | None = None) -> Verdict:
    """Return the verdict on one obligation."""
    budget = budget or Budget()
    start = time.perf_counter()
    found = o.decided(budget) or (valid(o, budget) if o.question == "valid" else exists(o, budget))
    if o.kind.endswith(("defined", "defined at points")) and found.status is Status.REFUTED:
        found = replace(found, status=Status.UNDEFINED)
    return replace(found, seconds=time.perf_counter() - start)


def valid(o: Obligation, budget: Budget) -> Verdict:
    """Decide whether the hypotheses imply the goal for all integers."""
    known, goals = conjuncts(o.hypotheses, o.goal)
    if not goals:
        return Verdict(Status.PROVED, "identity")
    if o.width:
        return _machine(o, known, goals, budget)
    point = small_point(o.hypotheses, o.goal)
    # a refuted claim is given to the prover as a test, since it must not prove it, but with a small budget
    shown, hard, used, spent = _quick_rounds(known, goals, budget if point is None else budget.scaled(0.1))
    if not hard:
        if point is not None:
            raise _contradicted(o, " + ".join(used), _named(point))
        return Verdict(Status.PROVED, " + ".join(used), spent)
    if point is not None:
        return _refuted(o, point, "small points", spent, _QUICK, budget)
    point = bounded_point(o.hypotheses, o.goal)
    if point is not None:
        return _refuted(o, point, "bounded points", spent, (*_QUICK, "small points"), budget)
    contradictory, cost, asked = _unsat(known, FALSE, budget.linear // 3)
    spent += cost
    if contradictory:
        # for instance, a dimension of size zero has no elements
        note(asked)
        return Verdict(Status.PROVED, "contradictory hypotheses", spent, tried=(*_QUICK, *_POINTS))
    tried = [*_QUICK, *_POINTS]
    for goal in hard:
        question = part([*known, *shown], goals, goal)
        for name in _PORTFOLIO:
            proved, cost, asked = _attempt(name, question, budget, wanted())
            spent += cost
            if proved:
                note(asked)
                if name not in used:
                    used.append(name)
                shown.append(goal)
                break
            if name not in tried:
                tried.append(name)
        else:
            found, answer, cost = model(question.all, question.goal, budget.model)
            spent += cost
            if answer == "unsat":
                used.append("model")
                shown.append(goal)
                continue
            return _failed(o, found is not None, spent, (*tried, "model"), budget)
    return Verdict(Status.PROVED, " + ".join(used), spent, tried=tuple(tried))


def _contradicted(o: Obligation, strategy: str, point: Mapping[str, int]) -> Disagreement:
    """Return the error for a proof of a claim that is false at a point: the solver or the encoding is wrong."""
    at = ", ".join(f"{v} = {n}" for v, n in point.items()) or "every point"
    answers = {f"z3 {z3.get_version_string()}, by {strategy}": "unsat", "exact evaluation": "sat"}
    return Disagreement(o.name, "what was proved", script_at(o, point), answers, f"it is false at {at}")


def _quick_rounds(
    known: Sequence[Condition], goals: Sequence[Condition], budget: Budget
) -> tuple[list[Condition], list[Condition], list[str], int]:
    """Try to prove ``goals`` quickly; return those proved, those left open, the strategies in use, and the cost.

    Goals that are proved become hypotheses for the rest, so rounds are repeated while they make progress.
    """
    spent = 0
    shown: list[Condition] = []
    used: dict[str, None] = {}
    hard = list(goals)
    while True:
        left: list[Condition] = []
        for goal in hard:
            question = part([*known, *shown], goals, goal)
            for name in _order(question):
                proved, cost, asked = _attempt(name, question, budget, wanted())
                spent += cost
                if proved:
                    note(asked)
                    used[name] = None
                    shown.append(goal)
                    break
            else:
                left.append(goal)
        if not left or len(left) == len(hard):
            return shown, left, list(used), spent
        hard = left


def _order(question: Part) -> Sequence[str]:
    """Order the quick strategies: recombined digits come first if there are any."""
    digits = bool(recombinations(question.goal)[0])
    return sorted(_QUICK, key=lambda name: (name == "recombined digits") is not digits)


#: Whether a strategy succeeded, its resources, and if evidence is wanted, the questions that its proof rests on.
Attempt = tuple[bool, int, tuple[ProofQuestion, ...]]


@lru_cache(maxsize=4096)
def _attempt(name: str, asked: Part, budget: Budget, evidence: bool) -> Attempt:
    """Run one strategy on one question.

    Memoized, because most dimensions of an op ask the same question.  A memo hit reports the original cost, so counts
    do not depend on earlier questions.  ``evidence`` is part of the key, so that a result without questions is not
    returned if they are wanted.
    """
    assert evidence == wanted()
    return _STRATEGIES[name](asked, budget)


def reduced(
    hypotheses: Sequence[Condition], goal: Condition, limits: linear.ReductionBudget | None = None
) -> linear.Reduction:
    """Run :func:`.linear.prove`, which assumes nonzero divisors, and record the leaves of a proof."""
    outcome = linear.prove(hypotheses, goal, budget=limits)
    if outcome.proved:
        note(ProofQuestion("linear", leaf) for leaf in outcome.leaves)
    return outcome


def _machine(o: Obligation, known: Sequence[Condition], goals: Sequence[Condition], budget: Budget) -> Verdict:
    """Decide a claim about machine integers, which usually fails near the limits of the type or not at all."""
    point = machine_point(o.hypotheses, o.goal, o.width)
    if point is not None:
        return Verdict(Status.REFUTED, "machine limits", 0, _named(point))
    _, hard, used, spent = _quick_rounds(known, goals, budget.scaled(0.1))
    if not hard:
        return Verdict(Status.PROVED, " + ".join(used), spent, tried=("machine limits",))
    return Verdict(Status.UNDECIDED, "", spent, tried=("machine limits", *_QUICK), detail="a finding, not a gate")


def _failed(o: Obligation, refuted: bool, spent: int, tried: tuple[str, ...], budget: Budget) -> Verdict:
    """Return the verdict on a part that no strategy proves: refuted if the obligation has a counterexample."""
    if refuted:
        found, _, cost = model(o.hypotheses, o.goal, budget.model)
        spent += cost
        if found is not None:
            return _refuted(o, found, "model", spent, tried, budget)
    return Verdict(Status.UNDECIDED, "", spent, tried=tried, detail=f"{budget.proof:,} resource units a strategy")


def exists(o: Obligation, budget: Budget) -> Verdict:
    """Decide whether some integers satisfy the hypotheses and violate the goal."""
    point = small_point(o.hypotheses, o.goal)
    if point is not None:
        return Verdict(Status.PROVED, "small points", witness=_named(point))
    point = bounded_point(o.hypotheses, o.goal)
    if point is not None:
        return Verdict(Status.PROVED, "bounded points", witness=_named(point))
    if not o.gate:
        # a finding does not deserve the whole budget
        budget = replace(budget, model=2 * budget.linear)
    found, answer, spent = model(o.hypotheses, o.goal, budget.model)
    if found is not None:
        return Verdict(Status.PROVED, "model", spent, witness=_named(found))
    if answer == "unsat":
        return Verdict(Status.VACUOUS, "model", spent)
    if not o.gate:
        used, cost = _implied(o, budget)
        spent += cost
        if used is not None:
            return Verdict(Status.VACUOUS, " + ".join(used), spent, tried=(*_POINTS, "model"))
        return Verdict(Status.UNDECIDED, "", spent, tried=(*_POINTS, "model"), detail="a finding, not a gate")
    outcome = reduced(o.hypotheses, o.goal)
    if outcome.proved:
        return Verdict(Status.VACUOUS, "linear", spent + outcome.resources)
    return Verdict(Status.UNDECIDED, "", spent, tried=(*_POINTS, "model", "linear"))


def _implied(o: Obligation, budget: Budget) -> tuple[list[str] | None, int]:
    """Prove that the hypotheses imply the goal by the obligation's own proofs; return the strategies and the cost."""
    limited = replace(budget.scaled(0.25), linear=budget.linear)
    todo: list[tuple[tuple[Condition, ...], Condition]] = []
    implications = list(o.hypotheses)
    for premise, steps, target in o.ways():
        for k, goal in enumerate((*steps, target)):
            todo.append(((*o.hypotheses, premise, *steps[:k]), goal))
        implications.append(any_of((negate(premise), target)))
    # finally, that these implications suffice
    todo.append((tuple(implications), o.goal))
    spent = 0
    used: dict[str, None] = {}
    for hypotheses, goal in todo:
        v = valid(replace(o, question="valid", hypotheses=hypotheses, goal=goal), limited)
        spent += v.resources
        if v.status is not Status.PROVED:
            return None, spent
        used.update(dict.fromkeys(v.strategy.split(" + ")))
    return [s for s in used if s != "identity"] or ["identity"], spent


def _named(point: Mapping[Var, int]) -> dict[str, int]:
    return {v.name: x for v, x in point.items()}


def _refuted(
    o: Obligation, point: Mapping[Var, int], how: str, spent: int, tried: tuple[str, ...], budget: Budget
) -> Verdict:
    least = minimised(point, o.hypotheses, o.goal, budget.model // 40)
    assert confirmed(least, o.hypotheses, o.goal)
    return Verdict(Status.REFUTED, how, spent, _named(least), tried)


# ---------------------------------------------------------------------------------------------------------- encodings
def _linear(part: Part, budget: Budget) -> Attempt:
    """Reduce to linear arithmetic, assuming nonzero divisors, which the obligation *defined* guarantees."""
    limits = linear_limits(budget)
    return _in_turn([linear.prove(part.all, part.goal, budget=limits)])


def linear_limits(budget: Budget, *, patient: bool = True) -> linear.ReductionBudget:
    """Return the limits of a reduction to linear arithmetic."""
    questions = max(8, budget.linear // 750) if patient else 8
    return linear.ReductionBudget(rlimit=20 * budget.linear, questions=questions, patient=patient)


def _unsat(hypotheses: Sequence[Condition], goal: Condition, budget: int, mention: Condition | None = None) -> Attempt:
    """Ask z3 to refute the negation.  Definitions of the quotients in ``mention`` are added."""
    context = z3.Context()
    encoder = Encoder(context, "witness")
    symbolic = divisors([*hypotheses, goal])
    least = lower_bounds(hypotheses)
    encoder.assume_positive(d for d in symbolic if positive(d, least))
    conditions = [encoder.condition(h) for h in hypotheses]
    if mention is not None:
        encoder.condition(mention)
    conditions.append(z3.Not(encoder.condition(goal)))
    conditions += [encoder.value(d) != 0 for d in symbolic if not positive(d, least)]
    return contradiction(encoder, conditions, budget)


def contradiction(encoder: Encoder, conditions: Sequence[Any], budget: int) -> Attempt:
    """Ask z3 whether encoded conditions contradict each other; the result includes the script if evidence is wanted."""
    s = encoder.solver(conditions, budget)
    # printed before the check, because the solver rewrites the assertions
    asked = f"(set-logic QF_NIA)\n(set-info :status unsat)\n{s.sexpr()}(check-sat)\n" if wanted() else ""
    proved = s.check() == z3.unsat
    return proved, resources(s), (ProofQuestion("witness", asked),) if proved and asked else ()


def _in_turn(outcomes: Sequence[linear.Reduction]) -> Attempt:
    """Combine linear proofs that build on each other; an empty list proves nothing."""
    proved = bool(outcomes) and outcomes[-1].proved
    kept = tuple(ProofQuestion("linear", leaf) for o in outcomes for leaf in o.leaves) if proved and wanted() else ()
    return proved, sum(o.resources for o in outcomes), kept


def by_recombined_digits(
    hypotheses: Sequence[Condition], goal: Condition, limits: linear.ReductionBudget
) -> list[linear.Reduction]:
    """Prove that a dividend is the number whose digits it contains, and then the goal about that number.

    Return the proofs in order, of which only the last may have failed; none if no dividend recombines.
    """
    steps, shorter = recombinations(goal)
    if not steps:
        return []
    # hypotheses about other digits of the same number would bring the long form back
    plain = [h for h in hypotheses if not recombinations(h)[0]]
    outcomes: list[linear.Reduction] = []
    for claim in (*(s.eq(v) for s, v in steps), shorter):
        outcomes.append(linear.prove(plain, claim, budget=limits))
        if not outcomes[-1].proved:
            break
    return outcomes


def _linearised(part: Part, budget: Budget) -> Attempt:
    found = by_linearisation(part.all, part.goal, linear_limits(budget).rlimit)
    kept = (ProofQuestion("linear", found.leaf),) if found.leaf is not None and wanted() else ()
    return found.proved, found.resources, kept


_STRATEGIES: dict[str, Callable[[Part, Budget], Attempt]] = {
    "linear": _linear,
    "recombined digits": lambda p, b: _in_turn(by_recombined_digits(p.all, p.goal, linear_limits(b))),
    "witness": lambda p, b: _unsat(p.all, p.goal, b.quick, p.whole),
    LINEARISED: _linearised,
    "witness, patient": lambda p, b: _unsat(p.all, p.goal, b.proof, p.whole),
}
#: Strategies tried on every part before the search for a counterexample, in order.
_QUICK = ("linear", "recombined digits", "witness")
#: Searches for counterexamples without a solver.
_POINTS = ("small points", "bounded points")
#: Strategies tried on parts that are still open, in order.
_PORTFOLIO = tuple(name for name in _STRATEGIES if name not in _QUICK)
