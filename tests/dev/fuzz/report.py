"""The report of a run over random maps, as text and as JSON."""

from __future__ import annotations

from collections import Counter
from typing import Any

from indexproof.core.cost import DIVISION_WEIGHT
from indexproof.core.text import format_map
from indexproof.reports.layout import block, count, spent, table
from indexproof.reports.machine import document
from indexproof.reports.progress import Bar
from indexproof.rules.catalog import RULES

from .generate import Asked, random_map
from .run import FATAL, Chunk, Failure, FuzzRun, Settings, examine
from .validate import ENGINES, SAMPLES

__all__ = ["failure_text", "fuzz_json", "fuzz_text", "only_text", "verdict_of"]

#: So many failures of a kind are printed; the JSON report has them all.
SHOWN = 5
_KINDS = {
    "wrong": "the simplified map differs",
    "disagreement": "two engines contradict each other",
    "crash": "the simplifier failed",
    "refused": "a step is no instance of a proved rule",
    "unexplained": "the recorded steps do not lead to the result",
    "not deterministic": "two processes had different results",
    "not idempotent": "simplifying again changes the result",
    "depends on explaining": "the result is another one when it is not explained",
    "grows": "the result costs more than the map",
    "undecided": "no engine decided it within its budget",
}


class MapWatcher(Bar):
    """Progress of a run over random maps: call it with every chunk."""

    verb = "comparing"
    remaining = True
    failures = 0

    def __call__(self, chunk: Chunk) -> None:
        """Count one more chunk."""
        self.failures += sum(n for k, n in chunk.counts.items() if k.startswith("failed "))
        said = f"{self.failures} failed" if self.failures else ""
        if self.show(chunk.stop - chunk.start, said):
            self.tell(f"{self.share('maps')}  {said}".rstrip())


def verdict_of(run: FuzzRun) -> str:
    """The verdict of a run in a word."""
    return {0: "PROVED", 1: "REFUTED", 4: "REFUTED"}.get(run.exit_status) or (
        "NOT CHECKED" if run.missing or not run.counts["maps"] else "UNDECIDED"
    )


def fuzz_text(run: FuzzRun, command: str) -> str:
    """The whole report."""
    counts = run.counts
    # what stops a run first, and of each kind a few
    shown: Counter[str] = Counter()
    parts = []
    for f in sorted(run.failures, key=lambda f: f.kind not in FATAL):
        shown[f.kind] += 1
        if shown[f.kind] <= SHOWN or f.kind in FATAL:
            parts.append(failure_text(f, command))
    failed = {k.removeprefix("failed "): n for k, n in counts.items() if k.startswith("failed ")}
    lines = [("maps", _maps(run)), *_asked(run)]
    lines += [(engine, _said(run, engine)) for engine in ENGINES]
    if counts["decided identity"]:
        lines.append(
            ("identity", f"{count(counts['decided identity'], 'map')} came back unchanged: nothing to ask")
        )
    rest = {
        k.removeprefix("decided portfolio: "): n
        for k, n in counts.items()
        if k.startswith("decided portfolio")
    }
    for engine, n in sorted(rest.items()):
        lines.append(("portfolio", f"{count(n, 'map')} settled by {engine} with larger budgets"))
    lines.append(("cost", _cost(run)))
    if counts["reduced"]:
        lines.append(
            ("reduced", f"{count(counts['reduced'], 'map')} to fewer variables, with the same relation")
        )
    if counts["simplified twice"]:
        lines.append(
            ("again", f"{count(counts['simplified twice'], 'map')} simplified by another process, backwards")
        )
    if run.settings.checked:
        lines += _derivations(run)
        plainly = [
            f"{n:,} {how}"
            for how in ("the same", "cheaper", "as dear", "dearer")
            if (n := counts[f"plainly {how}"])
        ]
        if plainly:
            lines.append(("plainly", "beside the same rules applied one at a time: " + ", ".join(plainly)))
    lines.append(("results", f"digest {run.digest}"))
    parts.append(block("what was examined", lines))
    parts.append("\n".join(_families(run)))
    for kind, n in sorted(failed.items()):
        parts.append(f"{count(n, 'map')}: {_KINDS.get(kind, kind)}")
    parts.append(_left_out(run))
    where = f"   {spent(run.seconds, run.jobs)}"
    parts.append(
        f"{verdict_of(run)}  {count(counts['maps'], 'map')}, {count(sum(failed.values()), 'failure')}{where}"
    )
    return "\n\n".join(parts)


def _maps(run: FuzzRun) -> str:
    text = f"{run.random_maps:,} of {run.settings.count:,} random ones, seed {run.settings.seed}"
    text += f" ({run.resumed:,} of them from the checkpoint)" if run.resumed else ""
    return text + (f"; {len(run.corpus.digests):,} of the corpus" if run.corpus.digests else "")


def _asked(run: FuzzRun) -> list[tuple[str, str]]:
    """Count the maps that were simplified with other options than the default ones."""
    counts = run.counts
    weights = {int(k.rpartition(" ")[2]): n for k, n in counts.items() if k.startswith("division weight ")}
    said = [f"{n:,} with --minimize {w}" for w, n in sorted(weights.items()) if w != DIVISION_WEIGHT]
    said += [f"{counts['quick']:,} with --quick"] if counts["quick"] else []
    return [("simplified", ", ".join(said))] if said else []


def _said(run: FuzzRun, engine: str) -> str:
    counts = run.counts
    same, open_ = counts[f"{engine} same"], counts[f"{engine} open"]
    if engine == "evaluation":
        return f"equal at every point of {count(same, 'map')}, and at {SAMPLES} points each of {open_:,} larger ones"
    text = f"proved {count(same, 'map')}"
    if open_:
        other = {"z3": "isl", "isl": "z3"}[engine]
        proved = counts[f"{engine} gave up, {other} proved"]
        text += f", gave up on {open_:,} within its budget ({other} proved {proved:,} of them)"
    return text


def _cost(run: FuzzRun) -> str:
    counts = run.counts
    return (
        f"floordiv and mod {counts['divisions before']:,} → {counts['divisions after']:,}, "
        f"operations {counts['operations before']:,} → {counts['operations after']:,}"
    )


def _derivations(run: FuzzRun) -> list[tuple[str, str]]:
    counts = run.counts
    used = {k.removeprefix("rule ") for k in counts if k.startswith("rule ")}
    unused = [r.name for r in RULES if r.name not in used and not getattr(r, "structural", False)]
    known = "proved rule" if run.settings.proved else "rule of the catalogue"
    lines = [
        (
            "derived",
            f"{count(counts['derivations'], 'map')} in {count(counts['steps'], 'step')}, each an instance of a {known}",
        )
    ]
    by = sorted(
        ((n, k.removeprefix("condition ")) for k, n in counts.items() if k.startswith("condition ")),
        reverse=True,
    )
    lines.append(("conditions", ", ".join(f"{n:,} by {name}" for n, name in by) or "none"))
    changes = sum(n for k, n in counts.items() if k.startswith("map change "))
    if changes:
        lines.append(("changes", f"{changes:,} of the whole map, each proved to keep the relation"))
    if unused:
        lines.append(("never used", ", ".join(unused)))
    return lines


def _families(run: FuzzRun) -> list[str]:
    counts = run.counts
    names = [k.removeprefix("family ") for k in counts if k.startswith("family ") and ":" not in k]
    rows = [["family", "maps", "points sampled", "isl gave up", "z3 gave up"]]
    for name in sorted(names):
        open_ = [counts[f"family {name}: {engine} open"] for engine in ENGINES]
        rows.append([name, f"{counts[f'family {name}']:,}", *(f"{n:,}" if n else "-" for n in open_)])
    return table(rows, right=range(1, 5))


def _left_out(run: FuzzRun) -> str:
    """The statement of what was not checked."""
    counts = run.counts
    lines = []
    if run.missing:
        ranges = ", ".join(f"{a:,} to {b:,}" if a < b else f"{a:,}" for a, b in run.missing[:8])
        more = ", …" if len(run.missing) > 8 else ""
        why = "the run was interrupted" if run.interrupted else "the run was stopped by a failure"
        total = sum(b - a + 1 for a, b in run.missing)
        lines.append(f"{count(total, 'map')} of the sequence ({ranges}{more}): {why}")
    if counts["evaluation open"]:
        lines.append(
            f"the other points of {count(counts['evaluation open'], 'map')} that are too large to evaluate everywhere"
        )
    lines += [
        f"by {engine}: {count(n, 'map')}, for which its budget was too small"
        for engine in ("isl", "z3")
        if (n := counts[f"{engine} open"])
    ]
    if not run.settings.checked:
        lines.append("the derivations (--checked)")
    if not lines:
        return "not checked: nothing"
    return "not checked\n" + "\n".join(f"  {line}" for line in lines)


def failure_text(f: Failure, command: str = "indexproof dev fuzz") -> str:
    """One failure, with the command that repeats it."""
    lines = [("map", f.map)]
    lines += _how(f.asked)
    if f.after:
        lines.append(("became", f.after))
    lines.append(("because", f.text.strip()))
    if f.small and f.small != f.map:
        lines += [("smaller", f.small), ("became", f.small_after or "-"), ("because", f.small_text.strip())]
    name = f"map {f.index:,} ({f.family})" if f.index >= 0 else f.family
    if f.index >= 0:
        lines.append(("again", f"{command} --only {f.index}"))
    return block(f"FAILED  {_KINDS.get(f.kind, f.kind)}   {name}", lines)


def _how(asked: Asked) -> list[tuple[str, str]]:
    """Name the options with which a map was simplified, unless they are the default ones."""
    return [("simplified", f"with {asked.options}")] if asked.options else []


def only_text(settings: Settings, index: int) -> tuple[str, int]:
    """One map of the sequence: what it becomes and what is wrong with that; and the exit status."""
    sample = random_map(settings.seed, index)
    counts, kind, text, after = examine(sample.map, settings, sample.asked)
    lines = [("family", sample.family), ("map", format_map(sample.map)), *_how(sample.asked)]
    if after is not None:
        lines.append(("becomes", format_map(after)))
    said = [f"{e}: {s}" for e in ENGINES for s in ("same", "different", "open") if counts[f"{e} {s}"]]
    if said:
        lines.append(("engines", ", ".join(said)))
    if kind:
        lines.append(("because", text.strip()))
        return block(
            f"FAILED  {_KINDS.get(kind, kind)}", lines
        ), 4 if kind == "crash" else 2 if kind == "undecided" else 1
    return block(f"PROVED  map {index:,} and its result are the same", lines), 0


def fuzz_json(run: FuzzRun, command: str) -> dict[str, Any]:
    """The report for programs."""
    counts = run.counts
    return document(
        "fuzz",
        verdict_of(run),
        run.exit_status,
        seed=run.settings.seed,
        count=run.settings.count,
        checked=run.settings.checked,
        interrupted=run.interrupted,
        maps=counts["maps"],
        engines={
            engine: {said: counts[f"{engine} {said}"] for said in ("same", "different", "open")}
            for engine in ENGINES
        },
        counts=dict(sorted(counts.items())),
        digest=run.digest,
        failures=[
            {
                "kind": f.kind,
                "index": f.index,
                "division_weight": f.division_weight,
                "quick": f.quick,
                "family": f.family,
                "reason": f.text,
                "map": f.map,
                "after": f.after,
                "small": f.small,
                "small_after": f.small_after,
                "small_reason": f.small_text,
                "again": f"{command} --only {f.index}" if f.index >= 0 else "",
            }
            for f in run.failures
        ],
        not_checked=[[a, b] for a, b in run.missing],
        timing={"seconds": round(run.seconds, 3), "jobs": run.jobs, "resumed": run.resumed},
    )
