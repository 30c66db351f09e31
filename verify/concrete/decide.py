"""Decides one problem by asking several engines in a fixed order, with budgets that grow from round to round.

1. The normal form takes about a millisecond and proves most true claims.
2. Enumeration tries every point if there are at most :data:`~.enumerate.LIMIT`, and ten million in the second round.
3. Otherwise the points of smallest magnitude are tried.
4. SAT sweeping, witnesses for unknowns and isl follow, round after round.  From the second round on isl comes first if
numbers fit in one machine word.
5. z3 is asked if isl is not among the engines or cannot answer, as for products of variables.

If a counterexample is not known to be the smallest, isl searches for a smaller one in the rest of the round, and more
small points are tried.  No step depends on time.  Every counterexample is checked by evaluation with Python integers.
With ``confirm`` a second engine decides the same problem independently.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from ...core.expr import Var
from . import enumerate as enumeration
from . import normal_form, sat_sweeping, witnesses
from .problem import HOLDS, EngineDisagreement, Outcome, Problem, counterexample_order

_PROBE = "small points"
_ISL, _SMT = "isl", "z3"

#: Factor by which budgets grow from one round to the next.
GROWTH = 5
ROUNDS = 7
#: Rounds in which enumeration is asked.
_ENUMERATED = 5
#: Factors of the second round, for small points and for enumeration.
_MORE = 30
_ALL = 50


# imported lazily: most questions need neither solver, and loading one takes as long as starting a command
def _isl(p: Problem, factor: int) -> Outcome:
    from . import isl

    return isl.decide(p, factor * isl.BUDGET)


def _smt(p: Problem, factor: int) -> Outcome:
    from . import smt

    return smt.decide(p, factor * smt.BUDGET)


#: Engines in the order in which they are asked.  The factor multiplies the budget of those that have one.
ENGINES: dict[str, Callable[[Problem, int], Outcome]] = {
    normal_form.NAME: lambda p, factor: normal_form.decide(p),
    enumeration.NAME: lambda p, factor: enumeration.decide(p, factor * enumeration.LIMIT),
    _PROBE: lambda p, factor: enumeration.probe(p, factor * enumeration.CORNER),
    sat_sweeping.NAME: lambda p, factor: sat_sweeping.decide(p, factor * sat_sweeping.BUDGET),
    witnesses.NAME: lambda p, factor: witnesses.decide(p, factor * witnesses.BUDGET),
    _ISL: _isl,
    _SMT: _smt,
}
_SOLVERS = (sat_sweeping.NAME, witnesses.NAME, _ISL, _SMT)
#: Engines that may confirm, best first.  No engine confirms one of its own family.  Witnesses use both solvers, so they are
#: confirmed by enumeration, or by both solvers separately.
_OPINIONS = (enumeration.NAME, _ISL, _SMT)
_FAMILY = {_PROBE: enumeration.NAME, sat_sweeping.NAME: _SMT}
_BOTH = {_ISL, _SMT}


class Decision(NamedTuple):
    """An outcome for the whole problem, the engine that reached it, and the answers of all engines asked."""

    outcome: Outcome
    engine: str
    tried: tuple[str, ...]
    confirmed_by: str = ""


def decide_problem(
    problem: Problem, *, confirm: bool = False, engines: Sequence[str] | None = None, rounds: int = ROUNDS
) -> Decision:
    """Decide ``problem`` with the portfolio, or with the named engines only, in at most ``rounds`` rounds.

    The outcome is ``open`` only if the problem is not Presburger or the budgets of all rounds are spent.  Raises
    :class:`~.problem.EngineDisagreement` if engines contradict each other or a counterexample is wrong.
    """
    return Portfolio(problem, confirm, engines).decided(rounds)


class Portfolio:
    """The decision of a problem in rounds, which can be continued later without repeating rounds."""

    def __init__(self, problem: Problem, confirm: bool = False, engines: Sequence[str] | None = None) -> None:
        self.problem, self.confirm = problem, confirm
        self.asked = tuple(n for n in ENGINES if engines is None or n in engines)
        self.tried: list[str] = []
        self.rounds = 0
        self.best, self.engine = Outcome("open"), normal_form.NAME
        self.smaller: Problem | None = None
        self.fixed: dict[Var, int] = {}
        #: Engines that a larger budget would not help.
        self.useless: set[str] = set()
        # the normal form needs no preparation, and most true claims end here
        if normal_form.NAME in self.asked:
            self.best = normal_form.decide(problem)
            self.tried.append(f"{normal_form.NAME}: {self.best.note or self.best.status}")
            if self.best.status == "holds" and not confirm:
                return
        simple = problem.simplified()
        if simple is None:
            self.best = HOLDS
            self.tried.append(f"{normal_form.NAME}: no point satisfies the facts")
        else:
            self.smaller, self.fixed = simple

    def decided(self, rounds: int = ROUNDS) -> Decision:
        """Continue up to the given number of rounds in total, and return the decision."""
        while self.rounds < rounds and not self._final:
            self._round(self.rounds)
            self.rounds += 1
        outcome, confirmed = self.best, ""
        if self.confirm and self.smaller is not None and outcome.status != "open":
            confirmed = _confirmed(self.smaller, outcome, self.engine, self.tried)
        if outcome.status == "fails" and self.smaller is not None:
            found = {v: x for (v, _), x in zip(self.smaller.variables, outcome.point, strict=True)}
            outcome = outcome._replace(point=self.problem.restored({**self.fixed, **found}))
        return Decision(outcome, self.engine if outcome.status != "open" else "", tuple(self.tried), confirmed)

    @property
    def _final(self) -> bool:
        return self.best.status == "holds" or (self.best.status == "fails" and self.best.minimal)

    def _round(self, turn: int) -> None:
        """Ask the engines in their order until there is a verdict.

        A refutation that is not known to be minimal is kept.  isl and z3 in the rest of the first round, and more small
        points, may then find a smaller one.
        """
        problem = self.smaller
        assert problem is not None
        minimising = (_ISL, _SMT)
        for name, factor in self._schedule(problem, turn):
            refuted = self.best.status == "fails"
            if name in self.useless or (refuted and (name != _PROBE if turn else name not in minimising)):
                continue
            outcome = ENGINES[name](problem, factor)
            said = f"{name}, round {turn + 1}" if turn else name
            self.tried.append(f"{said}: {outcome.note or outcome.status}")
            _check(problem, name, outcome)
            if outcome.status == "holds" and refuted:
                raise EngineDisagreement(problem, self.engine, self.best, name, outcome)
            if outcome.status == "open":
                if "budget" not in outcome.note and name in _SOLVERS:
                    self.useless.add(name)
                continue
            if outcome.minimal or not refuted or _before(outcome, self.best):
                self.best, self.engine = outcome, name
            if self._final:
                return

    def _schedule(self, problem: Problem, turn: int) -> Iterator[tuple[str, int]]:
        """Yield the engines of one round with the factors of their budgets.

        Small points are tried in two rounds only, since more points rarely help.  z3 is asked only if isl cannot answer.
        After the first round isl comes first, since a few times more operations usually suffice for an answer.  With wide
        numbers its operations are slow, and it stays last.
        """
        first = _ISL if turn and problem.words == 1 else ""
        for name in sorted(self.asked, key=lambda n: bool(first) and n in _SOLVERS and n != first):
            if name == enumeration.NAME and turn < _ENUMERATED:
                yield name, _ALL * GROWTH ** (turn - 1) if turn else 1
            elif name == _PROBE and turn < 2:
                yield name, _MORE**turn
            elif name in _SOLVERS and (name != _SMT or _ISL not in self.asked or _ISL in self.useless):
                yield name, GROWTH**turn


def _before(one: Outcome, other: Outcome) -> bool:
    return counterexample_order(one.point) < counterexample_order(other.point)


def _check(problem: Problem, name: str, outcome: Outcome) -> None:
    """Evaluate a counterexample with Python integers.  Raises :class:`EngineDisagreement` if it is none."""
    if outcome.status == "fails" and problem.violated_by(outcome.point) is False:
        raise EngineDisagreement(problem, name, outcome, "evaluation", HOLDS)


def _confirmed(problem: Problem, outcome: Outcome, engine: str, tried: list[str]) -> str:
    """Return the engines that independently confirm a verdict; empty if none does."""
    agreed: list[str] = []
    for turn in range(2):
        for name in _OPINIONS:
            if name == _FAMILY.get(engine, engine) or name in agreed:
                continue
            other = ENGINES[name](problem, _MORE**turn)
            tried.append(f"confirmation by {name}: {other.note or other.status}")
            if other.status == "open":
                continue
            _check(problem, name, other)
            same = other.status == outcome.status
            if same and outcome.status == "fails" and outcome.minimal and other.minimal:
                same = outcome.point == other.point
            if not same:
                raise EngineDisagreement(problem, engine, outcome, name, other)
            if engine != witnesses.NAME or name not in _BOTH:
                return name
            agreed.append(name)
            if _BOTH <= {*agreed}:
                return " and ".join(agreed)
    return ""
