"""Many obligations at once: in parallel over the cores, interruptible, with nothing lost and nothing left out silently.

The unit of work is a :class:`Job`, which :func:`work` does: both can be sent to another process or machine, and neither
knows anything but what it is given, so a verdict is the same wherever it is reached.
"""

from __future__ import annotations

import multiprocessing
import os
import random
import signal
import time
from collections.abc import Callable, Generator, Iterable, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import closing
from dataclasses import dataclass, field, replace
from typing import Protocol, TypeAlias

from ..core.errors import IndexproofError
from .cache import Cache, content_key
from .evidence import collecting
from .obligations import Obligation
from .solve import Budget, decide
from .trust.opinion import confirmer, second_opinion
from .verdict import Status, Verdict, worst

__all__ = [
    "Crew",
    "CrewLost",
    "Found",
    "Job",
    "Result",
    "Run",
    "available_cores",
    "died",
    "ended",
    "examine",
    "prove_all",
    "work",
    "workers",
]

Progress = Callable[["Result"], None]
#: Verdicts with the numbers of their obligations, as they come; closed, it stops the work.
Found: TypeAlias = Generator[tuple[int, "Verdict"], None, None]
_CHUNK = 24


@dataclass(frozen=True)
class Result:
    """An obligation and what became of it."""

    obligation: Obligation
    verdict: Verdict
    cached: bool = False

    @property
    def passes(self) -> bool:
        """Whether this may stand in a gate: proved, or a finding that is reported but gates nothing."""
        return self.verdict.proved or not self.obligation.gate


@dataclass
class Run:
    """The outcome of a run, in the order of the obligations."""

    results: list[Result] = field(default_factory=list)
    seconds: float = 0.0
    interrupted: bool = False
    jobs: int = 1
    damaged_cache_entries: int = 0
    #: The same by reason: ``unreadable``, ``altered``, ``outdated``, ``untrue``.
    refused_cache_entries: dict[str, int] = field(default_factory=dict)
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
        return worst([r.verdict.status for r in self.gated])

    @property
    def exit_status(self) -> int:
        """0 all proved, 1 something false, 2 undecided, not checked, not confirmed, or nothing to check."""
        statuses = {r.verdict.status for r in self.gated}
        if statuses & {Status.REFUTED, Status.VACUOUS, Status.UNDEFINED}:
            return 1
        return 0 if statuses == {Status.PROVED} and not self.unconfirmed else 2

    @property
    def unconfirmed(self) -> list[Result]:
        """Where a second opinion was asked for, what a solver proved and the second one could not settle.

        What needed no solver (a claim that is an identity) cannot go wrong in one.
        """
        if not self.confirm:
            return []
        asked = [r for r in self.gated if r.verdict.proved and r.verdict.strategy != "identity"]
        return [r for r in asked if r.verdict.opinion is None or not r.verdict.opinion.confirms]

    def count(self, status: Status) -> int:
        """How many gated obligations have this verdict."""
        return sum(r.verdict.status is status for r in self.gated)

    def by_subject(self) -> dict[tuple[str, str], list[Result]]:
        """Results grouped by family and subject, in order."""
        out: dict[tuple[str, str], list[Result]] = {}
        for r in self.results:
            out.setdefault((r.obligation.family, r.obligation.subject), []).append(r)
        return out


def available_cores() -> int:
    """Cores this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:
        return os.cpu_count() or 1


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
    """The verdict on one obligation, with a second opinion if asked for."""
    if not confirm:
        return decide(o, budget)
    start = time.perf_counter()
    with collecting() as evidence:
        v = decide(o, budget)
    opinion = second_opinion(o, v, evidence)
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


class CrewLost(IndexproofError):
    """Nobody is left to work, and the reason."""


#: What was tried with an obligation that ends its processes.
_ENDED = "processes of its own, which died"


def died(why: str) -> Verdict:
    """The verdict on an obligation that ends every process that it is given to.  It is not kept in a cache: the next
    process may have more memory.
    """
    return Verdict(Status.UNDECIDED, tried=(_ENDED,), detail=why)


def prove_all(
    obligations: Iterable[Obligation],
    *,
    jobs: int | None = None,
    budget: Budget | None = None,
    cache: Cache | None = None,
    progress: Progress | None = None,
    confirm: str = "",
    recheck: float = 0.0,
    executor: Executor | Crew | None = None,
) -> Run:
    """Decide every obligation, and what several of them ask once.

    Verdicts do not depend on ``jobs`` or on the order.  On :class:`KeyboardInterrupt` what is finished is kept (also in
    ``cache``) and the rest is ``NOT CHECKED``.  Work of a worker that dies is done again; an obligation that ends
    every worker that it is given to is ``UNDECIDED``.

    With ``confirm="cvc5"`` every verdict gets a second opinion.  Engines that contradict each other raise
    :class:`~indexproof.verify.trust.disagreement.Disagreement`.  Of the verdicts in the cache a share of ``recheck``,
    chosen at random, is reached anew; one that was wrong is replaced and counted.  Jobs go to ``executor`` if there is
    one, which stays the caller's to shut down, and to processes of this machine otherwise.  ``cache`` is written here,
    as results come.
    """
    todo = list(obligations)
    budget = budget or Budget()
    cache = cache or Cache(None)
    crew = None if executor is None or isinstance(executor, Executor) else executor
    jobs = crew.size if crew is not None else max(1, jobs or available_cores())
    start = time.perf_counter()
    verdicts: dict[int, Verdict] = {}
    cached: set[int] = set()
    run = Run(jobs=jobs, confirm=confirmer(confirm) if confirm else "")
    asking: dict[str, list[int]] = {}
    kept: dict[str, Verdict] = {}
    chance = random.SystemRandom()

    def settle(key: str, v: Verdict, *, found: bool = False) -> None:
        if key in kept and kept[key] != v:
            cache.refused["untrue"] += 1
        if not found and _ENDED not in v.tried:
            cache.put(key, v)
        for n in asking[key]:
            verdicts[n] = v
            if found:
                cached.add(n)
            if progress is not None:
                progress(Result(todo[n], v, found))

    unchecked = Verdict(Status.NOT_CHECKED, detail="the run was interrupted")
    try:
        for n, o in enumerate(todo):
            asking.setdefault(content_key(o, budget, run.confirm), []).append(n)
        open_: dict[int, str] = {}
        for key, (n, *_) in asking.items():
            known = cache.get(key, todo[n])
            if known is not None and recheck and chance.random() < recheck:
                kept[key] = known
            elif known is not None:
                settle(key, known, found=True)
                continue
            open_[n] = key
        if executor is None and (jobs == 1 or len(open_) < 8):
            for n, key in open_.items():
                settle(key, examine(todo[n], budget, bool(confirm)))
        else:
            parcels = _jobs(todo, list(open_), jobs, budget, bool(confirm))
            with closing(_done(parcels, jobs, executor, run)) as found:
                for n, v in found:
                    settle(open_[n], v)
    except KeyboardInterrupt:
        run.interrupted = True
    except CrewLost as lost:
        run.interrupted, run.stopped = True, str(lost)
        unchecked = Verdict(Status.NOT_CHECKED, detail=run.stopped)
    if crew is not None:
        run.lost_workers = crew.lost_workers
    run.results = [Result(o, verdicts.get(n, unchecked), n in cached) for n, o in enumerate(todo)]
    run.seconds = time.perf_counter() - start
    run.damaged_cache_entries = cache.damaged
    run.refused_cache_entries = {reason: n for reason, n in sorted(cache.refused.items()) if n}
    return run


def _jobs(
    todo: Sequence[Obligation], open_: Sequence[int], jobs: int, budget: Budget, confirm: bool
) -> list[Job]:
    # small jobs, dealt in order: long obligations do not hold up the end by much
    size = max(1, min(_CHUNK, len(open_) // (jobs * 8) or 1))
    parcels = [open_[i : i + size] for i in range(0, len(open_), size)]
    return [Job(tuple((n, todo[n]) for n in parcel), budget, confirm) for parcel in parcels]


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
