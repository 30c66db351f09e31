"""The result of a run over many obligations: their verdicts in order, and statistics of the run."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeAlias

from ..core.errors import IndexproofError
from .obligation import Obligation
from .verdict import Status, Verdict, worst


@dataclass(frozen=True)
class Result:
    """An obligation with its verdict."""

    obligation: Obligation
    verdict: Verdict
    cached: bool = False

    @property
    def status(self) -> Status:
        """The verdict that counts: a claim that is expected to be false passes if it is refuted, and else fails."""
        status = self.verdict.status
        if self.obligation.gate and self.obligation.expected is Status.REFUTED:
            turned = {Status.REFUTED: Status.PROVED, Status.UNDEFINED: Status.PROVED, Status.PROVED: Status.REFUTED}
            return turned.get(status, status)
        return status

    @property
    def passes(self) -> bool:
        """Whether the gate passes: the verdict is as expected, or it is a finding."""
        return self.status is Status.PROVED or not self.obligation.gate


@dataclass
class Run:
    """The outcome of a run, in the order of the obligations."""

    results: list[Result] = field(default_factory=list)
    seconds: float = 0.0
    interrupted: bool = False
    jobs: int = 1
    damaged_cache_entries: int = 0
    #: Refused entries by reason, including reasons that are no damage; see :data:`indexproof.verify.cache.Refusal`.
    refused_cache_entries: dict[str, int] = field(default_factory=dict)
    #: The path to which the cache was moved, if it could not be read.
    cache_set_aside: str = ""
    #: The number of verdicts that could not be written to the cache, and the system's error message.
    unkept: int = 0
    cache_trouble: str = ""
    lost_workers: int = 0
    #: Why the run was interrupted, if all workers were lost.
    stopped: str = ""
    #: The second solver and its version, if one was asked.
    confirm: str = ""

    @property
    def gated(self) -> list[Result]:
        """The results that decide the exit status."""
        return [r for r in self.results if r.obligation.gate]

    @property
    def status(self) -> Status:
        """The worst verdict; ``NOT CHECKED`` if nothing was checked."""
        return worst([r.status for r in self.gated])

    @property
    def exit_status(self) -> int:
        """0 if all are proved, 1 if something is false, 2 if undecided, not checked, not confirmed, or empty."""
        statuses = {r.status for r in self.gated}
        if statuses & {Status.REFUTED, Status.VACUOUS, Status.UNDEFINED}:
            return 1
        return 0 if statuses == {Status.PROVED} and not self.unconfirmed else 2

    @property
    def unconfirmed(self) -> list[Result]:
        """The results that a solver proved and that a second solver, if asked, did not confirm.

        An identity needs no solver, and therefore no confirmation.
        """
        if not self.confirm:
            return []
        asked = [r for r in self.gated if r.verdict.proved and r.verdict.strategy != "identity"]
        return [r for r in asked if r.verdict.opinion is None or not r.verdict.opinion.confirms]

    def count(self, status: Status) -> int:
        """Return the number of gated obligations with this verdict."""
        return sum(r.status is status for r in self.gated)


#: Called with every result as it arrives.
Progress: TypeAlias = Callable[[Result], None]


def available_cores() -> int:
    """Return the number of cores that this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:
        return os.cpu_count() or 1


class CrewLost(IndexproofError):
    """Raised if no worker is left, with the reason."""


#: The entry in ``tried`` for an obligation that kills its processes.
ENDED = "processes of its own, which died"


#: The entry in ``tried`` for an obligation that is nested too deep for Python's recursion limit.
TOO_DEEP = "all strategies, until the nesting was too deep"
#: Verdicts with one of these in ``tried`` are not cached, because another process may succeed.
PASSING = frozenset({ENDED, TOO_DEEP})


def died(why: str) -> Verdict:
    """Return the verdict on an obligation that kills every process; not cached, as the next may have more memory."""
    return Verdict(Status.UNDECIDED, tried=(ENDED,), detail=why)
