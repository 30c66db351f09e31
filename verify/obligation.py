"""One question to the prover.  This module loads nothing else; :mod:`.obligations` and others state the questions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple

from .verdict import Status, Verdict

if TYPE_CHECKING:
    from ..core.condition import Condition
    from ..core.expr import Expr, Var
    from .budget import Budget

Question = Literal["valid", "exists"]
#: The family of obligations of rules in rule files, each with its own arithmetic.
STATED = "stated rule"


class Way(NamedTuple):
    """A proof of an implication: from a premise, by steps, to a target."""

    premise: Condition
    steps: tuple[Condition, ...]
    target: Condition


@dataclass(frozen=True)
class Obligation:
    """One question to the prover.

    ``subject`` names the claim (a rule, a transfer function, an op instance), and ``kind`` the question about it.
    ``show`` lists labelled expressions whose values a counterexample report prints.  ``gate`` is false for findings,
    which are reported but do not fail a run (a redundant condition, a right side that needs a wider machine type).
    """

    family: str
    subject: str
    kind: str
    hypotheses: tuple[Condition, ...]
    goal: Condition
    question: Question = "valid"
    show: tuple[tuple[str, Expr], ...] = ()
    gate: bool = True
    where: str = ""
    claim: str = ""
    #: For a claim about machine integers: the width.  Points near its limits are tried, where such claims fail.
    width: int = 0
    #: The text of a claim stated in another language, which is decided by a method of its own.
    source: str = ""

    @property
    def name(self) -> str:
        """Unique within a catalogue: subject and kind."""
        return f"{self.subject}: {self.kind}"

    def decided(self, budget: Budget) -> Verdict | None:
        """Return the verdict, if the claim is not decided by the general portfolio."""
        return None

    @property
    def expected(self) -> Status:
        """The verdict that is a success."""
        return Status.PROVED

    def ways(self) -> tuple[Way, ...]:
        """Return implications whose proofs show that the hypotheses imply the goal."""
        return ()

    @property
    def recorded(self) -> str:
        """For an obligation that is only recorded (:mod:`.manifest`), the digest of its question; else empty."""
        return ""

    def in_full(self) -> Obligation:
        """Return the obligation with its mathematics; one that is only recorded is stated."""
        return self

    def statement(self) -> str:
        """Return the question as one line of mathematics."""
        from ..core.condition import show_condition

        left = ",  ".join(map(show_condition, self.hypotheses)) or "true"
        mark = "⊢" if self.question == "valid" else "⊬"
        return f"{left}  {mark}  {show_condition(self.goal)}"

    def formula_variables(self) -> tuple[Var, ...]:
        """Return all variables of hypotheses and goal, in natural order."""
        from ..core.condition import all_of, negate

        return all_of((*self.hypotheses, negate(self.goal))).variables() if self.hypotheses else self.goal.variables()


def has_form(o: Obligation, v: Verdict) -> bool:
    """Return whether a verdict fits ``o``: it has an example exactly if the status and the question demand one."""
    refuted = v.status in (Status.REFUTED, Status.UNDEFINED)
    if refuted and o.question == "exists":
        return False
    return (v.witness is not None) is (refuted or (v.status is Status.PROVED and o.question == "exists"))
