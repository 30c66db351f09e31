"""Runs of a fuzzer: Hypothesis draws the inputs and shrinks failing ones, in several processes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass, field
from typing import Final, TypeVar
from unittest import mock

import hypothesis
from hypothesis import strategies as st
from hypothesis.internal.conjecture import providers
from hypothesis.internal.constants_ast import Constants

from indexproof.reports.layout import block, count, spent
from indexproof.verify.pool import each, ignore_interrupts

__all__ = ["Failed", "Run", "attempted", "drawn", "in_chunks", "run_text"]

T = TypeVar("T")

#: The number of inputs in one task.
CHUNK: Final = 100


class Failed(Exception):
    """A failure of one map or text, with its exit status: 1 false, 2 undecided, 4 a bug."""

    def __init__(self, kind: str, status: int, *lines: tuple[str, object]) -> None:
        self.kind = kind
        self.status = status
        super().__init__(block(f"FAILED  {kind}", [(k, str(v).strip()) for k, v in lines]))


#: The counts, and the failure with its exit status.
Result = tuple[Counter[str], tuple[int, str] | None]


@dataclass
class Run:
    """A run, finished or not."""

    #: the number of tasks, and of finished ones
    tasks: int = 0
    done: int = 0
    counts: Counter[str] = field(default_factory=Counter)
    failures: list[tuple[int, str]] = field(default_factory=list)

    @property
    def exit_status(self) -> int:
        """0 without failures, 2 if undecided or incomplete, 1 or 4 with a failure."""
        if self.failures:
            return max((status for status, _ in self.failures), key=(2, 1, 4).index)
        return 0 if self.tasks and self.done == self.tasks else 2

    def add(self, result: Result | None) -> None:
        """Add the result of a task, ``None`` if its process died."""
        counts, failure = result or (Counter(), (4, "FAILED  a process ended while it examined something"))
        self.counts.update(counts)
        self.failures += [failure] if failure else []
        self.done += not failure


def drawn(what: st.SearchStrategy[T], number: int, seed: int, do: Callable[[T], object]) -> None:
    """Call ``do`` with each of a deterministic sequence of inputs; raise the error of the smallest failing one."""

    @hypothesis.seed(seed)
    @hypothesis.settings(
        max_examples=number,
        database=None,
        deadline=None,
        derandomize=False,
        report_multiple_bugs=False,
        phases=(hypothesis.Phase.generate, hypothesis.Phase.shrink),
        suppress_health_check=list(hypothesis.HealthCheck),
    )
    @hypothesis.given(what)
    def test(x: T) -> None:
        do(x)

    # draws depend on the seed alone, not on constants in loaded modules
    providers.CONSTANTS_CACHE.cache.clear()
    try:
        with mock.patch.object(providers, "_get_local_constants", Constants):
            test()
    finally:
        providers.CONSTANTS_CACHE.cache.clear()


def attempted(what: st.SearchStrategy[T], number: int, seed: int, do: Callable[[T], Counter[str]]) -> Result:
    """Examine a number of inputs with ``do``, which returns counts or raises :class:`Failed`."""
    counts: Counter[str] = Counter()
    try:
        drawn(what, number, seed, lambda x: counts.update(do(x)))
    except Failed as failed:
        return counts, (failed.status, str(failed))
    except hypothesis.errors.Flaky as error:
        return counts, (1, f"FAILED  the same thing has two outcomes: {error}")
    return counts, None


def in_chunks(
    do: Callable[[tuple[int, int]], Result],
    number: int,
    seed: int,
    jobs: int,
    progress: Callable[[int], object] = lambda n: None,
    initializer: Callable[[], None] = ignore_interrupts,
    run: Run | None = None,
) -> Run:
    """Perform tasks, each a number and a seed, in processes; the first failure or Ctrl-C ends the run."""
    run = run or Run()
    tasks = [(min(CHUNK, number - k), seed * 1_000_003 + k) for k in range(0, number, CHUNK)]
    run.tasks += len(tasks)
    try:
        with closing(each(do, [] if run.failures else tasks, jobs, initializer=initializer)) as results:
            for (size, _), result in results:
                run.add(result)
                if run.failures:
                    break
                progress(size)
    except KeyboardInterrupt:
        pass
    return run


def run_text(
    run: Run, things: str, examined: list[tuple[str, str]], left: list[str], seconds: float, jobs: int
) -> Iterator[str]:
    """Yield failures, the work done, the work left out, and the verdict."""
    yield from (text for _, text in run.failures)
    yield block("what was examined", examined)
    left = left + ["the rest of the run"] * (run.done < run.tasks)
    yield block("not checked", [("", text) for text in left or ["nothing"]])
    verdict = {0: "PROVED", 2: "UNDECIDED" if run.failures else "NOT CHECKED"}.get(run.exit_status, "REFUTED")
    total, failures = run.counts[things], count(len(run.failures), "failure")
    yield f"{verdict}  {total:,} {things}, {failures}   {spent(seconds, jobs)}"
