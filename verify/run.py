"""Many obligations at once: in parallel over the cores, interruptible, with nothing lost and nothing left out silently.

The unit of work is a :class:`Job`, which :func:`work` does: both can be sent to another process or machine, and neither
knows anything but what it is given, so a verdict is the same wherever it is reached.
"""

from __future__ import annotations

import multiprocessing
import signal
import time
from collections.abc import Generator, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import closing
from dataclasses import dataclass, replace
from typing import Protocol, TypeAlias

from .budget import Budget
from .evidence import collecting
from .obligation import Obligation
from .outcome import TOO_DEEP, CrewLost, Result, Run, available_cores, died
from .proving import prove_all
from .solve import decide
from .trust.opinion import second_opinion
from .verdict import Status, Verdict

__all__ = [
    "Crew",
    "CrewLost",
    "Found",
    "Job",
    "Result",
    "Run",
    "answers",
    "available_cores",
    "died",
    "ended",
    "examine",
    "prove_all",
    "work",
    "workers",
]

#: Verdicts with the numbers of their obligations, as they come; closed, it stops the work.
Found: TypeAlias = Generator[tuple[int, "Verdict"], None, None]
_CHUNK = 24
#: So few obligations are not worth other processes.
_FEW = 8


def _ignore_interrupts() -> None:
    # the parent decides what an interrupt means; workers finish their chunk or are ended with it
    signal.signal(signal.SIGINT, signal.SIG_IGN)


@dataclass(frozen=True)
class Job:
    """Obligations with their numbers, and how to decide them.  ``confirm`` asks cvc5 for a second opinion."""

    items: tuple[tuple[int, Obligation], ...]
    budget: Budget
    confirm: bool = False


def examine(o: Obligation, budget: Budget, confirm: bool = False) -> Verdict:
    """The verdict on one obligation, with a second opinion if asked for; one that is too deep is open, and no more."""
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
    """Do a job: the verdicts with the numbers of their obligations."""
    return [(n, examine(o, job.budget, job.confirm)) for n, o in job.items]


class Crew(Protocol):
    """Workers elsewhere, as :class:`~indexproof.verify.cluster.Cluster`."""

    #: How many have died.
    lost_workers: int

    @property
    def size(self) -> int:
        """How many obligations they decide at once."""

    def results(self, jobs: Sequence[Job]) -> Found:
        """What :func:`work` says of every job, as it comes; :func:`died` for an obligation that ends its workers.

        Raises :class:`CrewLost` where there is nobody left to work.
        """


def answers(
    todo: Sequence[tuple[int, Obligation]],
    *,
    jobs: int,
    budget: Budget,
    confirm: bool,
    executor: Executor | Crew | None,
    run: Run,
) -> Found:
    """The verdicts on numbered obligations as they come: reached here where they are few, or else by several processes.

    Workers that die are counted in ``run``.
    """
    if executor is None and (jobs == 1 or len(todo) < _FEW):
        for n, o in todo:
            yield n, examine(o, budget, confirm)
        return
    with closing(_done(_jobs(todo, jobs, budget, confirm), jobs, executor, run)) as found:
        yield from found


def _jobs(todo: Sequence[tuple[int, Obligation]], jobs: int, budget: Budget, confirm: bool) -> list[Job]:
    # small jobs, dealt in order: long obligations do not hold up the end by much
    size = max(1, min(_CHUNK, len(todo) // (jobs * 8) or 1))
    return [Job(tuple(todo[i : i + size]), budget, confirm) for i in range(0, len(todo), size)]


def _done(parcels: Sequence[Job], jobs: int, executor: Executor | Crew | None, run: Run) -> Found:
    if executor is None:
        return _pooled(parcels, jobs, run)
    return _sent(parcels, executor) if isinstance(executor, Executor) else executor.results(parcels)


def _sent(parcels: Sequence[Job], executor: Executor) -> Found:
    """Results of somebody else's executor as they come."""
    pending = [executor.submit(work, job) for job in parcels]
    try:
        left = set(pending)
        while left:
            done, left = wait(left, return_when=FIRST_COMPLETED)
            for future in done:
                yield from future.result()
    finally:
        for future in pending:
            future.cancel()


def _pooled(parcels: Sequence[Job], jobs: int, run: Run) -> Found:
    """Results of processes of this machine as they come.

    A worker that dies takes its pool with it.  Once, that is bad luck: what was left goes to a new pool.  Then one
    process does one job after the other, and then one obligation, so that the one that ends it is found.
    """
    left = yield from _pool(parcels, jobs)
    if left:
        run.lost_workers += 1
        left = yield from _pool(left, jobs)
    if any(len(job.items) > 1 for job in left):
        fatal = yield from _one_by_one(left)
        left = [replace(job, items=(item,)) for job in fatal for item in job.items]
    for job in (yield from _one_by_one(left)):
        run.lost_workers += 1
        for n, _ in job.items:
            yield n, died("its process died, again and again")


def workers(n: int) -> ProcessPoolExecutor:
    """Processes of this machine."""
    # spawned workers share nothing with this process, so no lock or solver state is ever inherited half-held
    return ProcessPoolExecutor(
        n, mp_context=multiprocessing.get_context("spawn"), initializer=_ignore_interrupts
    )


def ended(pool: ProcessPoolExecutor, *, finished: bool) -> None:
    """Wait for idle workers; terminate those that are not."""
    if not finished:
        for process in list((getattr(pool, "_processes", None) or {}).values()):
            process.terminate()
    # not waiting for them would race with the interpreter's own shutdown
    pool.shutdown(wait=True, cancel_futures=True)


def _one_by_one(parcels: Sequence[Job]) -> Generator[tuple[int, Verdict], None, list[Job]]:
    """Results of jobs that one process does in turn; returns those that ended it."""
    fatal: list[Job] = []
    pool: ProcessPoolExecutor | None = None
    finished = False
    try:
        for job in parcels:
            pool = pool or workers(1)
            try:
                found = pool.submit(work, job).result()
            except BrokenProcessPool:
                fatal.append(job)
                ended(pool, finished=True)
                pool = None
            else:
                yield from found
        finished = True
    finally:
        if pool is not None:
            ended(pool, finished=finished)
    return fatal


def _pool(parcels: Sequence[Job], jobs: int) -> Generator[tuple[int, Verdict], None, list[Job]]:
    """Results as they come; returns the jobs that were lost with a worker."""
    lost: list[Job] = []
    pool = workers(jobs)
    finished = False
    try:
        pending: dict[Future[list[tuple[int, Verdict]]], Job] = {}
        for job in parcels:
            try:
                pending[pool.submit(work, job)] = job
            except BrokenProcessPool:
                lost.append(job)
        while pending:
            done, _ = wait(pending, return_when=FIRST_COMPLETED)
            for future in done:
                job = pending.pop(future)
                try:
                    found = future.result()
                except BrokenProcessPool:
                    lost.append(job)
                else:
                    yield from found
        finished = True
    finally:
        ended(pool, finished=finished)
    return lost
