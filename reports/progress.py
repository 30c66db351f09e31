"""Progress of a long run: a bar on a terminal, or a line from time to time in a pipe."""

from __future__ import annotations

import sys
from collections import Counter
from typing import TYPE_CHECKING, ClassVar, Self, TextIO

from ..verify.verdict import Status
from . import layout
from .layout import joined, put

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

    from ..verify.outcome import Result


class Lines:
    """Counts steps and reports progress on ``stream``; standard error by default, apart from the report."""

    #: Print a line after each of this many parts of the work, if there are at least ``least`` steps.
    parts: ClassVar[int] = 10
    least: ClassVar[int] = 100

    def __init__(self, total: int, stream: TextIO | None = None) -> None:
        self.total = total
        self.stream = stream or sys.stderr
        self.done = 0

    def tell(self, line: str) -> None:
        """Write a line and flush it."""
        put(line + "\n", self.stream)

    def advance(self, more: int = 1) -> bool:
        """Count ``more`` steps as done; return whether a line is due."""
        before, self.done = self.done, self.done + more
        if layout.verbosity:
            # verbose: a line for each step; terse: none
            return layout.verbosity > 0
        total = self.total
        return total >= self.least and self.done * self.parts // total > before * self.parts // total

    def share(self, things: str) -> str:
        """Return the progress as in ``10%  5 of 50 things``."""
        percent = 100 * self.done // self.total if self.total else 100
        return f"{percent:3}%  {self.done:,} of {self.total:,} {things}"


class Bar(Lines):
    """Shows a bar on a terminal and lines elsewhere; a context manager."""

    verb: ClassVar[str]
    #: Whether the bar estimates the remaining time.
    remaining: ClassVar[bool] = False
    _bar: Progress | None = None
    _task: TaskID

    def __enter__(self) -> Self:
        if self.stream.isatty() and self.total > 1 and not layout.verbosity:
            from rich import progress as p
            from rich.console import Console

            columns = [p.TextColumn(self.verb), p.BarColumn(), p.MofNCompleteColumn(), p.TimeElapsedColumn()]
            columns += [p.TimeRemainingColumn()] if self.remaining else []
            columns.append(p.TextColumn("{task.description}"))
            self._bar = p.Progress(*columns, console=Console(file=self.stream), transient=True)
            self._task = self._bar.add_task("", total=self.total)
            self._bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.stop()

    def show(self, more: int, description: str) -> bool:
        """Count ``more`` steps as done and move the bar, if there is one; return whether a line is due instead."""
        due = self.advance(more)
        if self._bar is not None:
            self._bar.update(self._task, completed=self.done, description=description)
        return due and self._bar is None


class Watcher(Bar):
    """Progress of a proof: a callable that receives every result."""

    verb = "proving"

    def __init__(self, total: int, stream: TextIO | None = None) -> None:
        super().__init__(total, stream)
        self.counts: Counter[Status] = Counter()

    def __call__(self, result: Result) -> None:
        """Count one more result."""
        if result.obligation.gate:
            self.counts[result.verdict.status] += 1
        bad = self.counts.total() - self.counts[Status.PROVED]
        if self.show(1, f"{bad} not proved" if bad else ""):
            told = (Status.REFUTED, Status.VACUOUS, Status.UNDEFINED, Status.UNDECIDED)
            said = [f"{self.counts[s]:,} {s.value}" for s in told if self.counts[s]]
            self.tell(joined([self.share("obligations"), ", ".join(said)]))
