"""What a run over damaged HLO texts found: as text, and as JSON."""

from __future__ import annotations

import sys
from typing import Any, TextIO

from ..core.errors import InputError
from ..core.hlo import read_module
from ..core.text import read_map
from ..verify.fuzz.hlo import HloFailure, HloFuzz, examine_hlo, is_map, mutant
from ..verify.fuzz.hlo_texts import MAPS, TEXTS
from .layout import block, count, duration
from .machine import document

__all__ = ["TextWatcher", "hlo_fuzz_json", "hlo_fuzz_text", "one_text"]

#: So many characters of a text that fails are printed.
_SHOWN = 2000


class TextWatcher:
    """A line for every tenth of the work and for every failure, on standard error."""

    def __init__(self, total: int, stream: TextIO | None = None) -> None:
        self.total = total
        self.stream = stream or sys.stderr
        self._tenths = 0
        self._failed = 0

    def __call__(self, run: HloFuzz) -> None:
        """Say how far it is."""
        for f in run.failures[self._failed :]:
            self.stream.write(f"{f.kind}: mutant {f.index}\n")
        self._failed = len(run.failures)
        tenths = 10 * run.done // max(self.total, 1)
        if tenths > self._tenths and self.total >= 1000:
            failed = f"  {len(run.failures)} failed" if run.failures else ""
            self.stream.write(f"{10 * tenths:3}%  {run.done:,} of {self.total:,} texts{failed}\n")
            self.stream.flush()
        self._tenths = tenths


def _verdict(run: HloFuzz) -> str:
    return {0: "PROVED", 2: "NOT CHECKED"}.get(run.exit_status, "REFUTED")


def hlo_fuzz_text(run: HloFuzz, command: str) -> str:
    """The whole report."""
    n = run.counts
    parts = [_failure(f, command) for f in run.failures]
    lines = [
        (
            "texts",
            f"{run.done:,} of {run.count:,} mutants, seed {run.seed}, up to {run.longest:,} characters",
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
    failed = sum(k for name, k in n.items() if name.startswith("failed "))
    where = f"   in {duration(run.seconds)} on {count(run.jobs, 'core')}"
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
        found = _failure(HloFailure(kind, index, text, text, said), f"indexproof fuzz-hlo --seed {seed}")
        return found, 1 if kind == "changed" else 4
    try:
        (read_map if is_map(text) else read_module)(text)
        outcome = "is read and printed"
    except InputError as error:
        outcome = f"is refused: {error}"
    numbers = ", ".join(f"{k} {n:,}" for k, n in sorted(counts.items()))
    return f"{text}\n\nPROVED  mutant {index} {outcome}\n  counts  {numbers}", 0
