"""Progress of a long run: a bar on a terminal, a plain line now and then in a pipe."""

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
    """Counts what is done, and tells of it on ``stream``, standard error by default: standard output is the report's."""

    #: There is a line for each of so many parts of the work, if there is at least so much.
    parts: ClassVar[int] = 10
    least: ClassVar[int] = 100

    def __init__(self, total: int, stream: TextIO | None = None) -> None:
        self.total = total
        self.stream = stream or sys.stderr
        self.done = 0

    def tell(self, line: str) -> None:
        """Write a line at once."""
        put(line + "\n", self.stream)

    def advance(self, more: int = 1) -> bool:
        """Count ``more`` as done; whether a line is due."""
        before, self.done = self.done, self.done + more
        if layout.verbosity:
            # each step in which something is done, or none
            return layout.verbosity > 0
        total = self.total
        return total >= self.least and self.done * self.parts // total > before * self.parts // total

    def share(self, things: str) -> str:
        """Return the share that is done, as in ``10%  5 of 50 things``."""
        percent = 100 * self.done // self.total if self.total else 100
        return f"{percent:3}%  {self.done:,} of {self.total:,} {things}"


class Bar(Lines):
    """The same with a bar in place of the lines where there is a terminal; use it as a context manager."""

    verb: ClassVar[str]
    #: Whether the bar says how long it will take.
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
        """Count ``more`` as done and move the bar, if there is one; whether a line is due instead."""
        due = self.advance(more)
        if self._bar is not None:
            self._bar.update(self._task, completed=self.done, description=description)
        return due and self._bar is None


class Watcher(Bar):
    """Call it with every result of a proof."""

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
