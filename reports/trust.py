"""What a person reads about trust: engines that disagree, sabotage, stability, exported questions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .. import __version__
from ..verify.trust.disagreement import Disagreement
from .layout import block, count, duration, table
from .machine import document, text_of
from .progress import Lines

if TYPE_CHECKING:
    from ..verify.trust.export import Exported
    from ..verify.trust.sabotage.task import Outcome, Task
    from ..verify.trust.stability import Record

__all__ = [
    "Shaker",
    "Teller",
    "disagreement_text",
    "selftest_json",
    "selftest_status",
    "selftest_text",
    "stability_json",
    "stability_status",
    "stability_text",
    "write_export",
]


def disagreement_text(found: Disagreement, folder: Path) -> str:
    """The report on two engines that contradict each other; writes the question into ``folder``."""
    try:
        question, answers = found.write(folder)
        where = [("question", str(question)), ("answers", str(answers))]
    except OSError as error:
        where = [("question", f"cannot write it to {folder}: {error.strerror}"), ("", found.script)]
    lines = [("about", found.what), *((name, answer) for name, answer in found.answers.items())]
    if found.note:
        lines.append(("note", found.note))
    lines += [*where, ("so", "nothing is proved until it is known which of them is wrong")]
    return block(f"DISAGREEMENT  {found.obligation}", lines)


# --------------------------------------------------------------------------------------------------------- export
def write_export(found: Sequence[Exported], folder: Path, versions: str) -> str:
    """Write the files of obligations and their index; what was written, in a line or two.  Raises :class:`OSError`."""
    folder.mkdir(parents=True, exist_ok=True)
    for one in found:
        for name, text in one.files.items():
            (folder / name).write_text(text, "utf-8")
    index = {"format": "indexproof export 1", "version": __version__, "by": versions}
    entries = [one.entry for one in found]
    (folder / "index.json").write_text(text_of({**index, "obligations": entries}) + "\n", "utf-8")
    questions = [q for e in entries for q in e["questions"] if q["file"]]
    lines = [f"{count(len(found), 'obligation')}, {count(len(questions), 'question')} in {folder}"]
    asked = [q for q in questions if "proof" in q]
    if asked:
        have = [q for q in asked if q["proof"]]
        complete = sum(q["complete"] for q in have)
        lines.append(
            f"{len(have):,} of {count(len(asked), 'proof')} by cvc5, {complete:,} without a step taken on trust"
        )
    return "\n".join(lines)


# ------------------------------------------------------------------------------------------------------ stability
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
    """What flips, what costs differ most, and the verdict."""
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


# ------------------------------------------------------------------------------------------------------- selftest
class Teller(Lines):
    """A line of progress for every finished task of the selftest."""

    def __call__(self, task: Task, outcomes: Sequence[Outcome]) -> None:
        """Count one more task."""
        self.advance()
        missed = sum(not o.noticed for o in outcomes)
        what = f"{task.kind}: {task.detail}" if task.detail else task.kind
        more = f", {missed:,} unnoticed" if missed else ""
        self.tell(f"{100 * self.done // self.total:3d}%  {what}: {count(len(outcomes), 'case')}{more}")


def selftest_status(outcomes: Sequence[Outcome]) -> int:
    """0 if there were cases and every one was noticed, else 1."""
    return 0 if outcomes and all(o.noticed for o in outcomes) else 1


def _by_kind(outcomes: Sequence[Outcome]) -> dict[str, list[Outcome]]:
    found: dict[str, list[Outcome]] = {}
    for o in outcomes:
        found.setdefault(o.kind, []).append(o)
    return found


def selftest_text(outcomes: Sequence[Outcome], seconds: float) -> Iterator[str]:
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
    verdict = "NOTICED" if not selftest_status(outcomes) else "NOT NOTICED"
    of = f", {len(missed):,} of them unnoticed" if missed else ", every one noticed"
    yield f"{verdict}  {count(len(outcomes), 'case')}{of}   in {duration(seconds)}"


def selftest_json(outcomes: Sequence[Outcome], seconds: float) -> dict[str, Any]:
    """The same for programs."""
    status = selftest_status(outcomes)
    return document(
        "selftest",
        "NOT NOTICED" if status else "NOTICED",
        status,
        kinds={
            kind: {"cases": len(of), "noticed": sum(bool(o.noticed) for o in of)}
            for kind, of in _by_kind(outcomes).items()
        },
        cases=[{"kind": o.kind, "case": o.name, "noticed": o.noticed} for o in outcomes],
        timing={"seconds": round(seconds, 3)},
    )
