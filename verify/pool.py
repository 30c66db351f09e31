"""Tasks done by processes of this machine: the one place that starts them."""

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
    """Leave Ctrl-C to the process that started this one, which ends it or waits for what it has in hand."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def each(
    do: Callable[[T], R],
    tasks: Iterable[T],
    jobs: int,
    *,
    ahead: int = 0,
    initializer: Callable[[], None] = ignore_interrupts,
) -> Generator[tuple[T, R | None], None, None]:
    """Yield every task with its result, as they come; ``do`` and the tasks must pickle, and no result is ``None``.

    A process that dies takes the pool with it: the tasks that were on their way come with ``None`` in place of a result,
    and a new pool goes on.  At most ``ahead`` tasks are on their way at once (by default two for each process, and two
    more).  Whoever stops early, by an exception or by closing the iterator, ends the processes.
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
    # spawned workers share nothing with this process, so no lock or solver state is ever inherited half-held
    return ProcessPoolExecutor(jobs, mp_context=multiprocessing.get_context("spawn"), initializer=initializer)


def _ended(pool: ProcessPoolExecutor, *, finished: bool) -> None:
    """Wait for idle workers; terminate those that are not."""
    if not finished:
        for process in list((getattr(pool, "_processes", None) or {}).values()):
            process.terminate()
    # not waiting for them would race with the interpreter's own shutdown
    pool.shutdown(wait=True, cancel_futures=True)
