"""Many obligations at once: in parallel over the cores, interruptible, with nothing lost and nothing left out silently."""

from __future__ import annotations

import multiprocessing
import os
import signal
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field

from .cache import Cache, content_key
from .obligations import Obligation
from .solve import Budget, decide
from .verdict import Status, Verdict, worst

__all__ = ["Result", "Run", "prove_all"]

Progress = Callable[["Result"], None]
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
    lost_workers: int = 0

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
        """0 all proved, 1 something false, 2 undecided, not checked or nothing to check."""
        statuses = {r.verdict.status for r in self.gated}
        if statuses & {Status.REFUTED, Status.VACUOUS, Status.UNDEFINED}:
            return 1
        return 0 if statuses == {Status.PROVED} else 2

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


def _decide_chunk(chunk: Sequence[tuple[int, Obligation]], budget: Budget) -> list[tuple[int, Verdict]]:
    return [(n, decide(o, budget)) for n, o in chunk]


def prove_all(
    obligations: Iterable[Obligation],
    *,
    jobs: int | None = None,
    budget: Budget | None = None,
    cache: Cache | None = None,
    progress: Progress | None = None,
) -> Run:
    """Decide every obligation.

    Verdicts do not depend on ``jobs`` or on the order.  On :class:`KeyboardInterrupt` what is finished is kept (also in
    ``cache``) and the rest is ``NOT CHECKED``.  Work of a worker that dies is done again in this process.
    """
    todo = list(obligations)
    budget = budget or Budget()
    cache = cache or Cache(None)
    jobs = max(1, jobs or available_cores())
    start = time.perf_counter()
    verdicts: dict[int, Verdict] = {}
    cached: set[int] = set()
    run = Run(jobs=jobs)
    keys: dict[int, str] = {}

    def settle(n: int, v: Verdict) -> None:
        verdicts[n] = v
        if n not in cached and cache is not None and n in keys:
            cache.put(keys[n], v)
        if progress is not None:
            progress(Result(todo[n], v, n in cached))

    try:
        open_: list[int] = []
        for n, o in enumerate(todo):
            if cache.path is not None:
                keys[n] = content_key(o, budget)
                found = cache.get(keys[n])
                if found is not None:
                    cached.add(n)
                    settle(n, found)
                    continue
            open_.append(n)
        if jobs == 1 or len(open_) < 8:
            for n in open_:
                settle(n, decide(todo[n], budget))
        else:
            for n, v in _parallel(todo, open_, jobs, budget, run):
                settle(n, v)
    except KeyboardInterrupt:
        run.interrupted = True
    unchecked = Verdict(Status.NOT_CHECKED, detail="the run was interrupted")
    run.results = [Result(o, verdicts.get(n, unchecked), n in cached) for n, o in enumerate(todo)]
    run.seconds = time.perf_counter() - start
    run.damaged_cache_entries = cache.damaged
    return run


def _parallel(
    todo: Sequence[Obligation], open_: Sequence[int], jobs: int, budget: Budget, run: Run
) -> Iterator[tuple[int, Verdict]]:
    # small chunks, dealt in order: long obligations do not hold up the end by much
    size = max(1, min(_CHUNK, len(open_) // (jobs * 8) or 1))
    chunks = [[(n, todo[n]) for n in open_[i : i + size]] for i in range(0, len(open_), size)]
    # spawned workers share nothing with this process, so no lock or solver state is ever inherited half-held
    context = multiprocessing.get_context("spawn")
    pending: dict[Future[list[tuple[int, Verdict]]], list[tuple[int, Obligation]]] = {}
    lost: list[list[tuple[int, Obligation]]] = []
    pool = ProcessPoolExecutor(jobs, mp_context=context, initializer=_ignore_interrupts)
    try:
        pending = {pool.submit(_decide_chunk, chunk, budget): chunk for chunk in chunks}
        while pending:
            done, _ = wait(pending, return_when=FIRST_COMPLETED)
            for future in done:
                chunk = pending.pop(future)
                try:
                    yield from future.result()
                except BrokenProcessPool:
                    lost.append(chunk)
        if lost:
            run.lost_workers += 1
            for chunk in lost:
                yield from _decide_chunk(chunk, budget)
    except (KeyboardInterrupt, GeneratorExit):
        for process in list(getattr(pool, "_processes", {}).values()):
            process.terminate()
        raise
    finally:
        # workers are idle or terminated; not waiting for them would race with the interpreter's own shutdown
        pool.shutdown(wait=True, cancel_futures=True)
