"""The report of fault injection: progress, text and JSON."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from indexproof.reports.layout import block, count, duration, table
from indexproof.reports.machine import document
from indexproof.reports.progress import Lines

from .fault import Batch, Fault


class Teller(Lines):
    """A line of progress for every finished task of the faults."""

    def __call__(self, task: Batch, outcomes: Sequence[Fault]) -> None:
        """Count one more task."""
        self.advance()
        missed = sum(not o.noticed for o in outcomes)
        what = f"{task.kind}: {task.detail}" if task.detail else task.kind
        more = f", {missed:,} unnoticed" if missed else ""
        self.tell(f"{100 * self.done // self.total:3d}%  {what}: {count(len(outcomes), 'case')}{more}")


def faults_status(outcomes: Sequence[Fault]) -> int:
    """0 if there were cases and every one was noticed, else 1."""
    return 0 if outcomes and all(o.noticed for o in outcomes) else 1


def _by_kind(outcomes: Sequence[Fault]) -> dict[str, list[Fault]]:
    found: dict[str, list[Fault]] = {}
    for o in outcomes:
        found.setdefault(o.kind, []).append(o)
    return found


def faults_text(outcomes: Sequence[Fault], seconds: float) -> Iterator[str]:
    """A table by kind, what was not noticed, and the verdict."""
    rows = [("tampered with", "cases", "noticed", "by")]
    for kind, cases in _by_kind(outcomes).items():
        how = Counter(o.noticed for o in cases if o.noticed)
        said = ", ".join(
            f"{name} {n:,}" for name, n in sorted(how.items(), key=lambda item: (-item[1], item[0]))
        )
        rows.append((kind, f"{len(cases):,}", f"{how.total():,}", said))
    yield "\n".join(table(rows, right=(1, 2)))
    missed = [o for o in outcomes if not o.noticed]
    if missed:
        yield block("not noticed:", [(o.kind, o.name) for o in missed])
    verdict = "NOTICED" if not faults_status(outcomes) else "NOT NOTICED"
    of = f", {len(missed):,} of them unnoticed" if missed else ", every one noticed"
    yield f"{verdict}  {count(len(outcomes), 'case')}{of}   in {duration(seconds)}"


def faults_json(outcomes: Sequence[Fault], seconds: float) -> dict[str, Any]:
    """The same for programs."""
    status = faults_status(outcomes)
    return document(
        "faults",
        "NOT NOTICED" if status else "NOTICED",
        status,
        kinds={
            kind: {"cases": len(of), "noticed": sum(bool(o.noticed) for o in of)}
            for kind, of in _by_kind(outcomes).items()
        },
        cases=[{"kind": o.kind, "case": o.name, "noticed": o.noticed} for o in outcomes],
        timing={"seconds": round(seconds, 3)},
    )
