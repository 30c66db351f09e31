"""The result of a run over many obligations: their verdicts in order, and how the run went."""

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
    """An obligation and what became of it."""

    obligation: Obligation
    verdict: Verdict
    cached: bool = False

    @property
    def status(self) -> Status:
        """The verdict as it counts: a claim that is expected to be false passes if it is refuted, and else fails."""
        status = self.verdict.status
        if self.obligation.gate and self.obligation.expected is Status.REFUTED:
            turned = {Status.REFUTED: Status.PROVED, Status.UNDEFINED: Status.PROVED, Status.PROVED: Status.REFUTED}
            return turned.get(status, status)
        return status

    @property
    def passes(self) -> bool:
        """Whether this may stand in a gate: as expected, or a finding that is reported but gates nothing."""
        return self.status is Status.PROVED or not self.obligation.gate


@dataclass
class Run:
    """The outcome of a run, in the order of the obligations."""

    results: list[Result] = field(default_factory=list)
    seconds: float = 0.0
    interrupted: bool = False
    jobs: int = 1
    damaged_cache_entries: int = 0
    #: The same by reason, and what is no damage: see :data:`indexproof.verify.cache.Refusal`.
    refused_cache_entries: dict[str, int] = field(default_factory=dict)
    #: Where the cache is now, if it could not be read.
    cache_set_aside: str = ""
    #: How many verdicts could not be written to the cache, and what the system said.
    unkept: int = 0
    cache_trouble: str = ""
    lost_workers: int = 0
    #: Why it was interrupted, if those who worked for it were lost.
    stopped: str = ""
    #: The second solver and its version, if one was asked.
    confirm: str = ""

    @property
    def gated(self) -> list[Result]:
        """The results that decide the exit status."""
        return [r for r in self.results if r.obligation.gate]

    @property
    def status(self) -> Status:
        """The worst verdict; ``NOT CHECKED`` where nothing was checked."""
        return worst([r.status for r in self.gated])

    @property
    def exit_status(self) -> int:
        """0 all proved, 1 something false, 2 undecided, not checked, not confirmed, or nothing to check."""
        statuses = {r.status for r in self.gated}
        if statuses & {Status.REFUTED, Status.VACUOUS, Status.UNDEFINED}:
            return 1
        return 0 if statuses == {Status.PROVED} and not self.unconfirmed else 2

    @property
    def unconfirmed(self) -> list[Result]:
        """The results that a solver proved and a second one, which was asked, could not settle.

        What needed no solver (a claim that is an identity) cannot go wrong in one.
        """
        if not self.confirm:
            return []
        asked = [r for r in self.gated if r.verdict.proved and r.verdict.strategy != "identity"]
        return [r for r in asked if r.verdict.opinion is None or not r.verdict.opinion.confirms]

    def count(self, status: Status) -> int:
        """The number of gated obligations with this verdict."""
        return sum(r.status is status for r in self.gated)


#: Told of every result as it comes.
Progress: TypeAlias = Callable[[Result], None]


def available_cores() -> int:
    """Cores this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:
        return os.cpu_count() or 1


class CrewLost(IndexproofError):
    """Nobody is left to work, and the reason."""


#: What was tried with an obligation that ends its processes.
ENDED = "processes of its own, which died"


#: What was tried with an obligation that is nested deeper than Python can follow.
TOO_DEEP = "all strategies, until the nesting was too deep"
#: Where one of these was tried, the next process may do better, and so the verdict is not kept.
PASSING = frozenset({ENDED, TOO_DEEP})


def died(why: str) -> Verdict:
    """The verdict on an obligation that ends every process that it is given to.  It is not kept in a cache: the next
    process may have more memory.
    """
    return Verdict(Status.UNDECIDED, tried=(ENDED,), detail=why)
