"""All tasks, their execution on several processes, and the report."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing

from indexproof.reports.layout import block, count, duration, table
from indexproof.reports.progress import Lines
from indexproof.verify.pool import each
from indexproof.verify.trust import solvers

from .answers import LIES, SECOND_LIES, second_solver_cases, solver_cases
from .cached import cache_entry_cases, cache_file_cases
from .certificates import certificate_cases
from .claims import PARTS, claim_cases
from .crashes import crash_cases
from .derivations import derivation_cases
from .encodings import ENCODINGS, encoding_cases
from .fault import Batch, Fault
from .manifests import manifest_cases
from .rules import instance_cases, rule_file_cases, whole_rule_cases
from .steps import step_cases

__all__ = ["Teller", "faults", "faults_status", "faults_text", "perform", "tasks"]

#: The function that performs each kind.
_KINDS: dict[str, Callable[[Batch], Iterator[Fault]]] = {
    "claim": claim_cases,
    "encoding": encoding_cases,
    "solver": solver_cases,
    "second solver": second_solver_cases,
    "rule file": rule_file_cases,
    "whole rule": whole_rule_cases,
    "instance": instance_cases,
    "certificate": certificate_cases,
    "step": step_cases,
    "derivation": derivation_cases,
    "cache entry": cache_entry_cases,
    "cache file": cache_file_cases,
    "manifest": manifest_cases,
    "crash": crash_cases,
}


def tasks() -> list[Batch]:
    """Return all tasks, the long ones first."""
    found = [Batch("claim", part=k, parts=PARTS) for k in range(PARTS)]
    found += [Batch("encoding", name) for name in ENCODINGS]
    found += [Batch("solver", name) for name in LIES]
    found += [Batch("second solver", name) for name in SECOND_LIES] if solvers.available() else []
    found += [Batch(kind) for kind in _KINDS if kind not in ("claim", "encoding", "solver", "second solver")]
    return found


def perform(task: Batch) -> list[Fault]:
    """Perform one task and return its cases."""
    return list(_KINDS[task.kind](task))


def faults(jobs: int, progress: Callable[[Batch, list[Fault]], None] | None = None) -> list[Fault]:
    """Perform all tasks in separate processes; return the cases in the order of the tasks."""
    todo = tasks()
    found: dict[Batch, list[Fault]] = {}

    def keep(task: Batch, outcomes: list[Fault]) -> None:
        found[task] = outcomes
        if progress is not None:
            progress(task, outcomes)

    with closing(each(perform, [t for t in todo if t.kind != "crash"], jobs)) as done:
        for task, outcomes in done:
            # the task of a process that died is repeated in this process
            keep(task, perform(task) if outcomes is None else outcomes)
    for task in todo:
        if task.kind == "crash":  # starts processes itself
            keep(task, perform(task))
    return [o for t in todo for o in found[t]]


# ----------------------------------------------------------------------------------------------------- reports
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
    """Return 0 if there were cases and every one was noticed, else 1."""
    return 0 if outcomes and all(o.noticed for o in outcomes) else 1


def faults_text(outcomes: Sequence[Fault], seconds: float) -> Iterator[str]:
    """Yield a table by kind, the unnoticed cases, and the verdict."""
    rows = [("tampered with", "cases", "noticed", "by")]
    for kind in dict.fromkeys(o.kind for o in outcomes):
        cases = [o for o in outcomes if o.kind == kind]
        how = Counter(o.noticed for o in cases if o.noticed)
        said = ", ".join(f"{name} {n:,}" for name, n in sorted(how.items(), key=lambda item: (-item[1], item[0])))
        rows.append((kind, f"{len(cases):,}", f"{how.total():,}", said))
    yield "\n".join(table(rows, right=(1, 2)))
    missed = [o for o in outcomes if not o.noticed]
    if missed:
        yield block("not noticed:", [(o.kind, o.name) for o in missed])
    verdict = "NOTICED" if not faults_status(outcomes) else "NOT NOTICED"
    of = f", {len(missed):,} of them unnoticed" if missed else ", every one noticed"
    yield f"{verdict}  {count(len(outcomes), 'case')}{of}   in {duration(seconds)}"
