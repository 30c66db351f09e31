"""One question to the prover.  What states questions is in :mod:`.obligations` and its kin; this module loads nothing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple

from .verdict import Status, Verdict

if TYPE_CHECKING:
    from ..core.condition import Condition
    from ..core.expr import Expr, Var
    from .budget import Budget

Question = Literal["valid", "exists"]
#: The family of obligations of rules of rule files, which have an arithmetic of their own.
STATED = "stated rule"


class Way(NamedTuple):
    """From a premise, by steps, to a target."""

    premise: Condition
    steps: tuple[Condition, ...]
    target: Condition


@dataclass(frozen=True)
class Obligation:
    """One question to the prover.

    ``subject`` names the claim (a rule, a transfer function, an op instance), ``kind`` what is asked.  ``show`` lists
    labelled expressions whose values a counterexample report prints.  ``gate`` is false for findings that are reported
    but do not fail a run (a redundant condition, a right side that needs a wider machine type).
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
    #: For a claim about machine integers: the width, whose limits are where such claims fail.
    width: int = 0
    #: A claim stated in a language of its own, as text; such a claim is decided in its own way.
    source: str = ""

    @property
    def name(self) -> str:
        """Unique within a catalogue: subject and kind."""
        return f"{self.subject}: {self.kind}"

    def decided(self, budget: Budget) -> Verdict | None:
        """The verdict, where a claim is not decided by the general portfolio."""
        return None

    @property
    def expected(self) -> Status:
        """The verdict that is a success."""
        return Status.PROVED

    def ways(self) -> tuple[Way, ...]:
        """Implications that are known to hold, if the hypotheses imply the goal, and how each is shown."""
        return ()

    @property
    def recorded(self) -> str:
        """For an obligation that is only recorded (:mod:`.manifest`), the digest of its question; else empty."""
        return ""

    def in_full(self) -> Obligation:
        """Itself; what is only recorded is stated."""
        return self

    def statement(self) -> str:
        """The question on one line of mathematics."""
        from ..core.condition import show_condition

        left = ",  ".join(map(show_condition, self.hypotheses)) or "true"
        mark = "⊢" if self.question == "valid" else "⊬"
        return f"{left}  {mark}  {show_condition(self.goal)}"

    def formula_variables(self) -> tuple[Var, ...]:
        """Every variable of hypotheses and goal, in natural order."""
        from ..core.condition import all_of, negate

        return all_of((*self.hypotheses, negate(self.goal))).variables() if self.hypotheses else self.goal.variables()


def has_form(o: Obligation, v: Verdict) -> bool:
    """Whether a verdict has the form of one on ``o``: an example where there must be one, and only there."""
    refuted = v.status in (Status.REFUTED, Status.UNDEFINED)
    if refuted and o.question == "exists":
        return False
    return (v.witness is not None) is (refuted or (v.status is Status.PROVED and o.question == "exists"))
