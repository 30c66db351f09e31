"""Verdicts on obligations, and the opinion of a second solver."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum


class Status(StrEnum):
    """The possible verdicts.  Only ``PROVED`` passes a gate; unknown is a verdict of its own."""

    PROVED = "PROVED"
    REFUTED = "REFUTED"
    UNDECIDED = "UNDECIDED"
    VACUOUS = "VACUOUS"
    UNDEFINED = "UNDEFINED"
    NOT_CHECKED = "NOT CHECKED"


#: From best to worst, for the verdict of a claim from those of its obligations.
_ORDER = (Status.PROVED, Status.NOT_CHECKED, Status.UNDECIDED, Status.VACUOUS, Status.UNDEFINED, Status.REFUTED)


@dataclass(frozen=True)
class Opinion:
    """The answer of a second solver on a verdict (reports/trust.md, "Second opinion").

    ``whole``: it gave the same answer to the obligation itself.  ``leaves``: the number of linear questions that the
    proof rests on, of which it gave the same answer to ``confirmed``.  ``example``: it agrees about the counterexample
    or example.  An answer that contradicts the verdict raises :class:`~indexproof.verify.trust.Disagreement` instead.
    """

    solver: str
    whole: bool = False
    leaves: int = 0
    confirmed: int = 0
    example: bool = False
    resources: int = 0

    @property
    def by(self) -> tuple[str, ...]:
        """The ways in which the verdict was confirmed; empty if the second solver gave up."""
        leaves = self.leaves > 0 and self.confirmed == self.leaves
        return tuple(
            name for name, held in (("whole", self.whole), ("leaves", leaves), ("example", self.example)) if held
        )

    @property
    def confirms(self) -> bool:
        """Whether the verdict was confirmed in some way."""
        return bool(self.by)


@dataclass(frozen=True)
class Verdict:
    """The answer to one obligation.

    ``strategy`` names the deciding strategy and ``resources`` counts solver resource units (z3 ``rlimit``); both are
    the same on every machine.  ``witness`` is a counterexample for ``REFUTED`` and an example for an existence claim.
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
        """Whether the verdict passes a gate."""
        return self.status is Status.PROVED


def worst(statuses: list[Status]) -> Status:
    """Return the verdict of a claim from those of its obligations; ``NOT CHECKED`` if there are none."""
    return max(statuses, key=_ORDER.index, default=Status.NOT_CHECKED)
