"""Progress of a long run: a bar on a terminal, a plain line now and then in a pipe."""

from __future__ import annotations

import sys
from collections import Counter
from types import TracebackType
from typing import TYPE_CHECKING, TextIO

from ..verify.run import Result
from ..verify.verdict import Status
from .summary import progress_line

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

    from ..verify.fuzz.run import Chunk

__all__ = ["MapWatcher", "Watcher"]

#: A log gets a line for every tenth of the work, if there is at least this much work.
_LEAST = 100
_LINES = 10


class Watcher:
    """Call it with every result; use it as a context manager.

    Everything goes to ``stream`` (standard error by default), so that standard output holds the report alone.
    """

    def __init__(self, total: int, stream: TextIO | None = None) -> None:
        self.total = total
        self.stream = stream or sys.stderr
        self.done = 0
        self.counts: Counter[Status] = Counter()
        self._bar: Progress | None = None
        self._task: TaskID | None = None

    def __enter__(self) -> Watcher:
        if self.stream.isatty() and self.total > 1:
            from rich.console import Console
            from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

            columns = (
                TextColumn("proving"),
                BarColumn(),
                MofNCompleteColumn(),
                TimeElapsedColumn(),
                TextColumn("{task.description}"),
            )
            self._bar = Progress(*columns, console=Console(file=self.stream), transient=True)
            self._task = self._bar.add_task("", total=self.total)
            self._bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._bar.stop()

    def __call__(self, result: Result) -> None:
        """Count one more result."""
        self.done += 1
        if result.obligation.gate:
            self.counts[result.verdict.status] += 1
        if self._bar is not None and self._task is not None:
            bad = sum(n for s, n in self.counts.items() if s is not Status.PROVED)
            self._bar.update(self._task, advance=1, description=f"{bad} not proved" if bad else "")
        elif self.total >= _LEAST and self._crossed():
            self.stream.write(progress_line(self.done, self.total, self.counts) + "\n")
            self.stream.flush()

    def _crossed(self) -> bool:
        return self.done * _LINES // self.total > (self.done - 1) * _LINES // self.total


class MapWatcher:
    """The same for a run over random maps, which reports chunks of them."""

    def __init__(self, total: int, stream: TextIO | None = None) -> None:
        self.total = total
        self.stream = stream or sys.stderr
        self.done = 0
        self.failures = 0
        self._bar: Progress | None = None
        self._task: TaskID | None = None

    def __enter__(self) -> MapWatcher:
        if self.stream.isatty() and self.total > 1:
            from rich.console import Console
            from rich.progress import (
                BarColumn,
                MofNCompleteColumn,
                Progress,
                TextColumn,
                TimeElapsedColumn,
                TimeRemainingColumn,
            )

            columns = (
                TextColumn("comparing"),
                BarColumn(),
                MofNCompleteColumn(),
                TimeElapsedColumn(),
                TimeRemainingColumn(),
                TextColumn("{task.description}"),
            )
            self._bar = Progress(*columns, console=Console(file=self.stream), transient=True)
            self._task = self._bar.add_task("", total=self.total)
            self._bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._bar.stop()

    def __call__(self, chunk: Chunk) -> None:
        """Count one more chunk."""
        before, self.done = self.done, self.done + chunk.stop - chunk.start
        self.failures += sum(n for k, n in chunk.counts.items() if k.startswith("failed "))
        said = f"{self.failures} failed" if self.failures else ""
        if self._bar is not None and self._task is not None:
            self._bar.update(self._task, completed=self.done, description=said)
        elif self.total >= _LEAST and self.done * _LINES // self.total > before * _LINES // self.total:
            self.stream.write(
                f"{100 * self.done // self.total:3}%  {self.done:,} of {self.total:,} maps  {said}".rstrip()
                + "\n"
            )
            self.stream.flush()
