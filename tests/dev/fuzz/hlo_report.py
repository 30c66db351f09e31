"""The report of a run over damaged HLO texts, as text and as JSON."""

from __future__ import annotations

from typing import Any

from indexproof.core.errors import InputError
from indexproof.core.hlo import read_module
from indexproof.core.map_reader import read_map
from indexproof.reports.layout import block, count, duration, spent
from indexproof.reports.machine import document
from indexproof.reports.progress import Lines

from .hlo import HloFailure, HloFuzz, examine_hlo, is_map, mutant
from .hlo_texts import MAPS, TEXTS

__all__ = ["TextWatcher", "hlo_fuzz_json", "hlo_fuzz_text", "one_text"]

#: So many characters of a text that fails are printed.
_SHOWN = 2000


class TextWatcher(Lines):
    """A line for every tenth of the work and for every failure."""

    least = 1000
    _failed = 0

    def __call__(self, run: HloFuzz) -> None:
        """Say how far it is."""
        for f in run.failures[self._failed :]:
            self.tell(f"{f.kind}: mutant {f.index}")
        self._failed = len(run.failures)
        if self.advance(run.done - self.done):
            tenths = 10 * (10 * run.done // self.total)
            failed = f"  {len(run.failures)} failed" if run.failures else ""
            self.tell(f"{tenths:3}%  {run.done:,} of {self.total:,} texts{failed}")


def _verdict(run: HloFuzz) -> str:
    return {0: "PROVED", 2: "NOT CHECKED"}.get(run.exit_status, "REFUTED")


def hlo_fuzz_text(run: HloFuzz, command: str) -> str:
    """The whole report."""
    n = run.counts
    first = f" from number {run.start:,} on" if run.start else ""
    parts = [_failure(f, command) for f in run.failures]
    lines = [
        (
            "texts",
            f"{run.done:,} of {run.count:,} mutants{first}, seed {run.seed}, up to {run.longest:,} characters",
        ),
        ("modules", _read(run, "modules")),
        ("maps", _read(run, "maps")),
        ("questions", f"{n['questions']:,}, {n['questions refused']:,} refused with a reason"),
        (
            "analyses",
            f"{n['analyses']:,}, with {n['maps computed']:,} maps; {n['analyses refused']:,} refused with a reason",
        ),
        ("slowest", f"mutant {run.slowest_index}, {duration(run.slowest)} of processor time"),
        ("memory", f"{run.memory >> 20:,} MiB, the most of any process"),
    ]
    parts.append(block("what was examined", lines))
    left = run.count - run.done
    if left and not run.failures:
        last = run.start + run.count - 1
        again = f"{command} --start {run.start + run.done} --count {left}"
        lines = [("texts", f"{run.start + run.done:,} to {last:,}"), ("go on", again)]
        parts.append(block("NOT CHECKED", lines))
    failed = sum(k for name, k in n.items() if name.startswith("failed "))
    where = f"   {spent(run.seconds, run.jobs)}"
    parts.append(f"{_verdict(run)}  {count(run.done, 'text')}, {count(failed, 'failure')}{where}")
    return "\n\n".join(parts)


def _read(run: HloFuzz, what: str) -> str:
    n = run.counts
    return f"{n[what]:,}: {n[f'{what} read']:,} read and printed, {n[f'{what} refused']:,} refused at a place"


def _failure(f: HloFailure, command: str) -> str:
    shown = f.small if len(f.small) <= _SHOWN else f"{f.small[:_SHOWN]}… ({len(f.small):,} characters)"
    lines = [
        ("mutant", str(f.index)),
        ("text", repr(shown)),
        ("said", f.said.strip()),
        ("again", f"{command} --only {f.index}"),
    ]
    return block(f"REFUTED  {f.kind}", lines)


def hlo_fuzz_json(run: HloFuzz, command: str) -> dict[str, Any]:
    """The report for programs."""
    return document(
        "fuzz-hlo",
        _verdict(run),
        run.exit_status,
        seed=run.seed,
        start=run.start,
        count=run.count,
        interrupted=run.interrupted,
        texts=run.done,
        longest=run.longest,
        counts=dict(sorted(run.counts.items())),
        failures=[
            {
                "kind": f.kind,
                "index": f.index,
                "text": f.text,
                "small": f.small,
                "reason": f.said,
                "again": f"{command} --only {f.index}",
            }
            for f in run.failures
        ],
        timing={
            "seconds": round(run.seconds, 3),
            "jobs": run.jobs,
            "slowest": {"index": run.slowest_index, "seconds": round(run.slowest, 3)},
            "memory": run.memory,
        },
    )


def one_text(seed: int, index: int, corpus: list[str]) -> tuple[str, int]:
    """One mutant: the text, what was said of it, and the exit status."""
    text = mutant(seed, index, (*TEXTS, *MAPS, *corpus))
    counts, kind, said = examine_hlo(text)
    if kind:
        found = _failure(HloFailure(kind, index, text, text, said), f"indexproof dev fuzz-hlo --seed {seed}")
        return found, 1 if kind == "changed" else 4
    try:
        (read_map if is_map(text) else read_module)(text)
        outcome = "is read and printed"
    except InputError as error:
        outcome = f"is refused: {error}"
    numbers = ", ".join(f"{k} {n:,}" for k, n in sorted(counts.items()))
    return f"{text}\n\nPROVED  mutant {index} {outcome}\n  counts  {numbers}", 0
