"""The report of a run over mutants of obligations: progress, text and JSON."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from indexproof.reports.layout import block, count, duration
from indexproof.reports.machine import document
from indexproof.reports.progress import Lines

from .stability import Record


class Shaker(Lines):
    """A line of progress for every hundredth of a run over mutants."""

    parts, least = 100, 1
    unstable = 0

    def __call__(self, r: Record) -> None:
        """Count one more obligation."""
        self.unstable += not r.stable
        if self.advance():
            more = f"  {self.unstable:,} unstable" if self.unstable else ""
            self.tell(self.share("obligation" if self.total == 1 else "obligations") + more)


def stability_status(records: Sequence[Record], asked: int) -> int:
    """0 if everything that was asked for is stable, 1 if something is not, 2 if something was not examined."""
    if any(not r.stable for r in records):
        return 1
    return 0 if records and len(records) == asked else 2


_STABILITY = ("STABLE", "UNSTABLE", "NOT CHECKED")


def stability_text(
    records: Sequence[Record], asked: int, mutants: int, resumed: int, seconds: float, questions: int
) -> Iterator[str]:
    """Report the obligations that flip, those whose costs differ most, and the verdict."""
    unstable = [r for r in records if not r.stable]
    for r in unstable:
        lines = [("verdict", r.status.value)]
        lines += [("mutant", f"number {n}: {status}") for n, status in r.flips[:5]]
        lines.append(("flips", f"{len(r.flips):,} of {r.mutants:,}"))
        yield block(f"UNSTABLE  {r.name}", lines)
    spread = sorted((r for r in records if r.resources[0] > 1000), key=_spread, reverse=True)[:5]
    if spread:
        rows = [(f"{_spread(r):.1f}×", f"{r.resources[0]:,} to {r.resources[1]:,}  {r.name}") for r in spread]
        yield block("resources of the solver differ most for:", rows)
    left = asked - len(records)
    different = f" with {count(questions, 'different question')}" if questions < asked else ""
    said = f"{count(len(records), 'obligation')}{different}, {count(mutants, 'mutant')} each"
    said += f", {len(unstable):,} unstable" if unstable else ", none unstable" if records else ""
    said += f"; {left:,} not examined" if left else ""
    more = f"   {resumed:,} from the checkpoint" if resumed else ""
    yield f"{_STABILITY[stability_status(records, asked)]}  {said}   in {duration(seconds)}{more}"


def _spread(r: Record) -> float:
    return r.resources[1] / max(1, r.resources[0])


def stability_json(
    records: Sequence[Record], asked: int, mutants: int, resumed: int, seconds: float, questions: int
) -> dict[str, Any]:
    """The same for programs."""
    status = stability_status(records, asked)
    return document(
        "stability",
        _STABILITY[status],
        status,
        mutants=mutants,
        obligations=asked,
        questions=questions,
        not_examined=asked - len(records),
        results=[
            {
                "obligation": r.name,
                "verdict": r.status.value,
                "stable": r.stable,
                "resources": list(r.resources),
                "flips": [{"mutant": n, "verdict": v} for n, v in r.flips],
            }
            for r in records
        ],
        timing={"seconds": round(seconds, 3), "resumed": resumed},
    )
