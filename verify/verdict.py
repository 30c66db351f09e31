"""Verdicts: what is known about an obligation after the work has been done."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

__all__ = ["Status", "Verdict", "worst"]


class Status(StrEnum):
    """The possible answers.  Only ``PROVED`` passes a gate; unknown keeps its own name."""

    PROVED = "PROVED"
    REFUTED = "REFUTED"
    UNDECIDED = "UNDECIDED"
    VACUOUS = "VACUOUS"
    UNDEFINED = "UNDEFINED"
    NOT_CHECKED = "NOT CHECKED"


#: From best to worst, for summaries.
_ORDER = (
    Status.PROVED,
    Status.NOT_CHECKED,
    Status.UNDECIDED,
    Status.VACUOUS,
    Status.UNDEFINED,
    Status.REFUTED,
)


@dataclass(frozen=True)
class Verdict:
    """The answer to one obligation.

    ``strategy`` names what decided it and ``resources`` counts solver resource units (z3 ``rlimit``), both the same on
    every machine.  ``witness`` is a counterexample for ``REFUTED`` and an example for an existence claim.
    ``seconds`` is for the report only; no decision depends on it.
    """

    status: Status
    strategy: str = ""
    resources: int = 0
    witness: Mapping[str, int] | None = None
    tried: tuple[str, ...] = ()
    detail: str = ""
    seconds: float = field(default=0.0, compare=False)

    @property
    def proved(self) -> bool:
        """Whether this passes a gate."""
        return self.status is Status.PROVED


def worst(statuses: list[Status]) -> Status:
    """The verdict of a claim from those of its obligations; nothing checked is ``NOT CHECKED``."""
    return max(statuses, key=_ORDER.index, default=Status.NOT_CHECKED)
