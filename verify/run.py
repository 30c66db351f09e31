"""Decides many obligations in parallel; it can be interrupted, and no obligation is lost.

The unit of work is a :class:`Job`, performed by :func:`work`.  Both can be sent to another process or machine.  The
verdict depends on the job alone, and is therefore the same everywhere.
"""

from __future__ import annotations

import time
from collections.abc import Generator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeAlias

from .budget import Budget
from .evidence import collecting
from .obligation import Obligation
from .outcome import TOO_DEEP, Run, died
from .pool import each
from .solve import decide
from .trust.opinion import second_opinion
from .verdict import Status, Verdict

if TYPE_CHECKING:
    from .cluster import Cluster

#: Yields verdicts with the numbers of their obligations, as they arrive; closing it stops the work.
Found: TypeAlias = Generator[tuple[int, "Verdict"], None, None]
_CHUNK = 24
#: Below this number of obligations, other processes are not started.
_FEW = 8


@dataclass(frozen=True)
class Job:
    """Obligations with their numbers, and how to decide them.  ``confirm`` asks cvc5 for a second opinion."""

    items: tuple[tuple[int, Obligation], ...]
    budget: Budget
    confirm: bool = False


#: Yields jobs with their results as they arrive, or with None for those lost with a process; closing it stops the work.
Sent: TypeAlias = Generator[tuple[Job, list[tuple[int, "Verdict"]] | None], None, None]


def examine(o: Obligation, budget: Budget, confirm: bool = False) -> Verdict:
    """Return the verdict on one obligation, with a second opinion if requested; undecided if it is nested too deep."""
    start = time.perf_counter()
    try:
        if not confirm:
            return decide(o, budget)
        with collecting() as evidence:
            v = decide(o, budget)
        opinion = second_opinion(o, v, evidence)
    except RecursionError:
        why = "its expressions are nested too deep for the strategies"
        seconds = time.perf_counter() - start
        return Verdict(Status.UNDECIDED, tried=(TOO_DEEP,), detail=why, seconds=seconds)
    return replace(v, opinion=opinion, seconds=time.perf_counter() - start)


def work(job: Job) -> list[tuple[int, Verdict]]:
    """Perform a job: return the verdicts with the numbers of their obligations."""
    return [(n, examine(o, job.budget, job.confirm)) for n, o in job.items]


def answers(
    todo: Sequence[tuple[int, Obligation]],
    *,
    jobs: int,
    budget: Budget,
    confirm: bool,
    executor: Cluster | None,
    run: Run,
) -> Found:
    """Yield the verdicts on numbered obligations as they arrive, decided in this process if they are few.

    Processes of this machine that die are counted in ``run``.
    """
    if executor is None and (jobs == 1 or len(todo) < _FEW):
        for n, o in todo:
            yield n, examine(o, budget, confirm)
        return

    def sent(parcels: Sequence[Job], together: bool) -> Sent:
        if executor is not None:
            return executor.sent(parcels, together)
        return each(work, parcels, jobs) if together else each(work, parcels, 1, ahead=1)

    lost = yield from _arrived(sent(_jobs(todo, jobs, budget, confirm), True))
    run.lost_workers += bool(lost)
    # jobs lost with a process are run again, one obligation at a time, to find the one that kills its process
    single = [replace(job, items=(item,)) for job in lost for item in job.items]
    fatal = yield from _arrived(sent(single, False))
    for job in fatal:
        run.lost_workers += 1
        yield job.items[0][0], died("the processes that were to decide it died, one after the other")


def _jobs(todo: Sequence[tuple[int, Obligation]], jobs: int, budget: Budget, confirm: bool) -> list[Job]:
    # small jobs in order, so that long obligations delay the end only a little
    size = max(1, min(_CHUNK, len(todo) // (jobs * 8) or 1))
    return [Job(tuple(todo[i : i + size]), budget, confirm) for i in range(0, len(todo), size)]


def _arrived(done: Sent) -> Generator[tuple[int, Verdict], None, list[Job]]:
    """Yield results as they arrive; return the jobs that were lost with a process."""
    lost: list[Job] = []
    with closing(done):
        for job, found in done:
            if found is None:
                lost.append(job)
            else:
                yield from found
    return lost
