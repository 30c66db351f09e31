"""Progress of a run over critical pairs: a bar on a terminal, a line for every tenth in a pipe."""

from __future__ import annotations

import sys
from collections import Counter
from types import TracebackType
from typing import TYPE_CHECKING, TextIO

from .layout import put

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

    from ..verify.confluence import Kind, Pair

__all__ = ["PairWatcher"]

_LEAST = 100
_LINES = 10


class PairWatcher:
    """Call it with every verdict; use it as a context manager.  Writes to standard error only."""

    def __init__(self, total: int, stream: TextIO | None = None) -> None:
        self.total = total
        self.stream = stream or sys.stderr
        self.done = 0
        self.counts: Counter[Kind] = Counter()
        self._bar: Progress | None = None
        self._task: TaskID | None = None

    def __enter__(self) -> PairWatcher:
        if self.stream.isatty() and self.total > 1:
            from rich.console import Console
            from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

            columns = (
                TextColumn("joining"),
                BarColumn(),
                MofNCompleteColumn(),
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

    def __call__(self, pair: Pair) -> None:
        """Count one more pair."""
        self.done += 1
        self.counts[pair.kind] += 1
        said = ", ".join(
            f"{n} {k}" for k, n in sorted(self.counts.items()) if k in ("NOT JOINABLE", "UNDECIDED")
        )
        if self._bar is not None and self._task is not None:
            self._bar.update(self._task, advance=1, description=said)
        elif (
            self.total >= _LEAST and self.done * _LINES // self.total > (self.done - 1) * _LINES // self.total
        ):
            percent = 100 * self.done // self.total
            put(f"{percent:3}%  {self.done:,} of {self.total:,} pairs  {said}".rstrip() + "\n", self.stream)
