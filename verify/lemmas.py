"""The obligations of the lemmas of the reduction to linear arithmetic, proved without that reduction.

Every quotient and remainder becomes a pair of fresh integers (:class:`.linearised.Linearising`), every product an
opaque integer, and the few instances of *multiples are apart* that the scheme names are added.  The question is then
linear. The lemmas about products themselves are given to the solver's nonlinear engine; none of them is a premise of
another. So no lemma is used in its own proof.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import z3

from ..core.condition import FALSE, Condition, all_of, any_of, negate, parts_of
from ..core.expr import Expr, Var
from .budget import Budget
from .encode import Encoder
from .evidence import ProofQuestion, note
from .linear.formula import nonzero
from .linear.question import Leaf, LinearQuestion, Meter
from .linear.record import LinearFact
from .linearised import Linearising
from .obligation import Obligation
from .refute import small_point
from .schemes import LEMMAS, STEPS, Scheme, multiples_are_apart
from .solve import contradiction
from .verdict import Status, Verdict

FAMILY = "lemma"


@dataclass(frozen=True)
class LemmaObligation(Obligation):
    """A lemma as an obligation; ``renamed`` maps variables of the scheme to those of the obligation if they differ."""

    renamed: tuple[tuple[Var, Var], ...] = ()

    def decided(self, budget: Budget) -> Verdict:
        """Decide the lemma without the reduction that uses it."""
        point = small_point(self.hypotheses, self.goal)
        if point is not None:
            witness = {v.name: n for v, n in point.items()}
            status = Status.PROVED if self.question == "exists" else Status.REFUTED
            return Verdict(status, "small points", witness=witness)
        if self.question == "exists":
            return Verdict(Status.UNDECIDED, tried=("small points",))
        scheme = {**LEMMAS, **STEPS}.get(self.subject.removeprefix("lemma: "))
        if scheme is not None and scheme.name in STEPS:
            named = dict(self.renamed)
            apart = [(b.substitute(named), d.substitute(named)) for b, d in scheme.apart]
            leaf, spent = _linear(self.hypotheses, self.goal, apart, 20 * budget.linear)
            if leaf is not None:
                note([ProofQuestion("linear", leaf)])
                return Verdict(Status.PROVED, "linear", spent)
        spent = 0
        known = list(self.hypotheses)
        # a quotient comes before its remainder, which it determines
        for part in parts_of(self.goal):
            encoder = Encoder(z3.Context())
            conditions = [*map(encoder.condition, known), z3.Not(encoder.condition(part))]
            proved, cost, asked = contradiction(encoder, conditions, budget.proof)
            spent += cost
            if not proved:
                return Verdict(Status.UNDECIDED, "", spent, tried=("small points", "witness"))
            note(asked)
            known.append(part)
        return Verdict(Status.PROVED, "witness", spent)


def _linear(
    hypotheses: tuple[Condition, ...], goal: Condition, apart: Iterable[tuple[Expr, Expr]], rlimit: int
) -> tuple[Leaf | None, int]:
    """Return the contradictory linear question of a lemma, or ``None``, and its cost."""
    hints = [any_of((b <= 0, multiples_are_apart(b, d))) for b, d in apart]
    reading = Linearising()
    given = [reading.formula(c) for c in (*hypotheses, *hints)]
    denied = reading.formula(negate(goal))
    known = [*reading.facts, *map(nonzero, reading.divisors), *given]
    question = LinearQuestion(meter := Meter(rlimit))
    question.add([*known, denied])
    if not question.contradictory():
        return None, meter.spent
    facts = [LinearFact(f, "lemma") for f in known]
    return (*facts, LinearFact(denied, "negated goal")), meter.spent


def lemma_obligations(lemma: Scheme) -> Iterator[LemmaObligation]:
    """Yield *true* (for all integers) and *not vacuous* (the premises can hold)."""

    def owe(kind: str, goal: Condition) -> LemmaObligation:
        return LemmaObligation(
            FAMILY,
            f"lemma: {lemma.name}",
            kind,
            lemma.given,
            goal,
            "valid" if kind == "true" else "exists",
            where="schemes.py",
            claim=lemma.text,
        )

    yield owe("true", lemma.then)
    yield owe("not vacuous", FALSE if lemma.given else negate(all_of(())))
