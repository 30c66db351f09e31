"""Verdicts: what is known about an obligation after the work has been done."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum


class Status(StrEnum):
    """The possible answers.  Only ``PROVED`` passes a gate; unknown keeps its own name."""

    PROVED = "PROVED"
    REFUTED = "REFUTED"
    UNDECIDED = "UNDECIDED"
    VACUOUS = "VACUOUS"
    UNDEFINED = "UNDEFINED"
    NOT_CHECKED = "NOT CHECKED"


#: From best to worst, for summaries.
_ORDER = (Status.PROVED, Status.NOT_CHECKED, Status.UNDECIDED, Status.VACUOUS, Status.UNDEFINED, Status.REFUTED)


@dataclass(frozen=True)
class Opinion:
    """The answer of a second solver on a verdict (reports/trust.md, "Second opinion").

    ``whole``: it answered the obligation itself, as it stands, alike.  ``leaves``: of so many linear questions that the
    proof rests on it answered ``confirmed`` alike.  ``example``: it agrees that the counterexample or example is one.
    An answer that contradicts the verdict is no opinion but a :class:`~indexproof.verify.trust.Disagreement`.
    """

    solver: str
    whole: bool = False
    leaves: int = 0
    confirmed: int = 0
    example: bool = False
    resources: int = 0

    @property
    def by(self) -> tuple[str, ...]:
        """The confirmations of the verdict; none where the second solver gave up."""
        leaves = self.leaves > 0 and self.confirmed == self.leaves
        return tuple(
            name for name, held in (("whole", self.whole), ("leaves", leaves), ("example", self.example)) if held
        )

    @property
    def confirms(self) -> bool:
        """Whether the verdict has been confirmed."""
        return bool(self.by)


@dataclass(frozen=True)
class Verdict:
    """The answer to one obligation.

    ``strategy`` names what decided it and ``resources`` counts solver resource units (z3 ``rlimit``), both the same on
    every machine.  ``witness`` is a counterexample for ``REFUTED`` and an example for an existence claim.
    ``seconds`` is for the report only; no decision depends on it.  ``opinion`` is that of a second solver, if one was
    asked.
    """

    status: Status
    strategy: str = ""
    resources: int = 0
    witness: Mapping[str, int] | None = None
    tried: tuple[str, ...] = ()
    detail: str = ""
    seconds: float = field(default=0.0, compare=False)
    opinion: Opinion | None = None

    @property
    def proved(self) -> bool:
        """Whether this passes a gate."""
        return self.status is Status.PROVED


def worst(statuses: list[Status]) -> Status:
    """The verdict of a claim from those of its obligations; nothing checked is ``NOT CHECKED``."""
    return max(statuses, key=_ORDER.index, default=Status.NOT_CHECKED)
