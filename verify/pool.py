"""Runs tasks in processes of this machine, which are started in this module alone."""

from __future__ import annotations

import multiprocessing
import signal
from collections import deque
from collections.abc import Callable, Generator, Iterable
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from typing import TypeVar

T = TypeVar("T")
R = TypeVar("R")


def ignore_interrupts() -> None:
    """Ignore Ctrl-C, which the parent process handles: it terminates this process or waits for its current task."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def each(
    do: Callable[[T], R],
    tasks: Iterable[T],
    jobs: int,
    *,
    ahead: int = 0,
    initializer: Callable[[], None] = ignore_interrupts,
) -> Generator[tuple[T, R | None], None, None]:
    """Yield every task with its result, as they arrive; ``do`` and the tasks must pickle, and no result is ``None``.

    The death of a process breaks the pool: its pending tasks are yielded with ``None`` in place of a result, and a new
    pool continues.  At most ``ahead`` tasks are pending at once (by default two for each process, and two more).
    Closing the iterator, or an exception, ends the processes.
    """
    ahead = ahead or 2 * jobs + 2
    queue = deque(tasks)
    pending: dict[Future[R], T] = {}
    pool: ProcessPoolExecutor | None = None
    finished = broken = False
    try:
        while queue or pending:
            while queue and not broken and len(pending) < ahead:
                pool = pool or _started(jobs, initializer)
                try:
                    pending[pool.submit(do, queue[0])] = queue[0]
                    queue.popleft()
                except BrokenProcessPool:
                    broken = True
            for future in wait(pending, return_when=FIRST_COMPLETED).done if pending else ():
                task = pending.pop(future)
                try:
                    result: R | None = future.result()
                except BrokenProcessPool:
                    broken, result = True, None
                yield task, result
            if broken and not pending and pool is not None:
                _ended(pool, finished=True)
                pool, broken = None, False
        finished = True
    finally:
        if pool is not None:
            _ended(pool, finished=finished)


def _started(jobs: int, initializer: Callable[[], None]) -> ProcessPoolExecutor:
    # spawned workers share nothing with this process, so they never inherit a held lock or the state of a solver
    return ProcessPoolExecutor(jobs, mp_context=multiprocessing.get_context("spawn"), initializer=initializer)


def _ended(pool: ProcessPoolExecutor, *, finished: bool) -> None:
    """Wait for the workers; terminate them first if they may be busy."""
    if not finished:
        for process in list((getattr(pool, "_processes", None) or {}).values()):
            process.terminate()
    # without waiting, they would race with the interpreter's own shutdown
    pool.shutdown(wait=True, cancel_futures=True)
