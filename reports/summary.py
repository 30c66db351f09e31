"""The report at the end of a run: verdicts, strategies, times, and findings."""

from __future__ import annotations

import re
import statistics
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, TypeAlias

from ..core.blocks import point_text
from ..verify.obligation import STATED
from ..verify.outcome import Result, Run
from ..verify.verdict import Status
from .layout import block, count, duration, joined, or_dash, room, spent, table

if TYPE_CHECKING:
    from ..verify.manifest import Listed
    from .selection import Named

#: A claim as far as a report names it: name, family, and group (the op, or the claim itself).
Claimed: TypeAlias = "Named | Listed"

_FALSE = (Status.REFUTED, Status.VACUOUS, Status.UNDEFINED)
_OPEN = (Status.UNDECIDED, Status.NOT_CHECKED)
#: The width of the column with the slowest obligation.
_WIDTH = 60


@dataclass
class Group:
    """The results of a family, or of one rule, law or op."""

    family: str
    name: str
    claims: int = 0
    results: list[Result] = field(default_factory=list)

    @property
    def gated(self) -> list[Result]:
        """The gating results, which decide the exit status."""
        return [r for r in self.results if r.obligation.gate]

    def count(self, *statuses: Status) -> int:
        """Count the gating obligations with one of these verdicts."""
        return sum(r.verdict.status in statuses for r in self.gated)

    @property
    def slowest(self) -> Result | None:
        """The decided result that took longest."""
        return max(_decided(self.results), key=lambda r: r.verdict.seconds, default=None)

    @property
    def median(self) -> float:
        """The median time of a decided obligation, in seconds."""
        return statistics.median([r.verdict.seconds for r in _decided(self.results)] or [0.0])


def _decided(results: Iterable[Result]) -> list[Result]:
    return [r for r in results if r.verdict.status is not Status.NOT_CHECKED]


def grouped(run: Run, claims: Sequence[Claimed]) -> tuple[list[Group], list[Group]]:
    """Group the results by family and by rule, law or op, in catalogue order."""
    families: dict[str, Group] = {}
    groups: dict[tuple[str, str], Group] = {}
    of: dict[tuple[str, str], tuple[Group, Group]] = {}
    for c in claims:
        family = families.setdefault(c.family, Group(c.family, c.family))
        group = groups.setdefault((c.family, c.group), Group(c.family, c.group))
        of[c.family, c.name] = both = family, group
        for g in both:
            g.claims += 1
    for r in run.results:
        for g in of[r.obligation.family, r.obligation.subject]:
            g.results.append(r)
    return list(families.values()), list(groups.values())


# --------------------------------------------------------------------------------------------------- findings
def strategies(run: Run) -> dict[str, int]:
    """Count how many obligations each strategy decided, alone or with others; most frequent first."""
    used = Counter(s for r in run.results if r.verdict.strategy for s in r.verdict.strategy.split(" + "))
    return dict(sorted(used.items(), key=lambda item: (-item[1], item[0])))


def confirmed_by(r: Result) -> str:
    """Name the parts that a second solver confirmed, as in ``whole and leaves``; empty if none."""
    return "" if r.verdict.opinion is None else " and ".join(r.verdict.opinion.by)


def confirmations(run: Run) -> dict[str, int]:
    """Count the verdicts that the second solver confirmed, by the parts confirmed; the empty key counts the others."""
    reached = [r for r in run.results if r.verdict.status not in _OPEN]
    found = Counter(confirmed_by(r) for r in reached)
    return dict(sorted(found.items(), key=lambda item: (not item[0], -item[1], item[0])))


_CONFIRMED = {
    "whole": "the claim as it stands; there are no questions, or it left one open",
    "whole and leaves": "the claim as it stands, and every question of its proof",
    "leaves": "every question of its proof, not the claim as it stands",
    "example": "the counterexample or example",
    "": "nothing: it gave up, or there is nothing to ask",
}


def _confirmation_blocks(run: Run) -> Iterator[str]:
    if not run.confirm:
        return
    counts = [(f"{n:,}", _CONFIRMED[name]) for name, n in confirmations(run).items()]
    yield block(f"confirmed by {run.confirm}", counts)
    if open_ := run.unconfirmed:
        lines = [(r.obligation.subject, f"{r.obligation.kind}   by {r.verdict.strategy}") for r in open_]
        yield block(f"proved, but not confirmed by {run.confirm}:", lines)


_REFUSED = {
    "unreadable": "unreadable",
    "altered": "altered, or sealed with another key",
    "outdated": "of another version",
    "untrue": "not true",
}


def damage(run: Run) -> str:
    """Describe the cache entries that were refused, with reasons; empty if there are none."""
    said = []
    altered = run.refused_cache_entries.get("altered", 0)
    # no entry has our seal, as after copying a cache without its key
    if altered > 1 and altered == run.damaged_cache_entries and not any(r.cached for r in run.results):
        why = "so everything is proved again (reports/guides/ci.md)"
        said.append(f"the cache was sealed with another key, {why}")
    elif n := run.damaged_cache_entries:
        refused = {reason: k for reason, k in run.refused_cache_entries.items() if reason in _REFUSED}
        why = ", ".join(f"{k:,} {_REFUSED[reason]}" for reason, k in refused.items())
        said.append(f"{count(n, 'damaged cache entry', 'damaged cache entries')} ({why}): proved again")
    if run.cache_set_aside:
        said.append(f"the file was not a cache and was moved to {run.cache_set_aside}")
    if run.refused_cache_entries.get("locked"):
        said.append("another process kept the cache locked: the verdicts of this run are not kept")
    elif run.unkept:
        said.append(f"{count(run.unkept, 'verdict')} could not be kept in the cache: {run.cache_trouble}")
    elif run.refused_cache_entries.get("unusable"):
        said.append(f"the cache cannot be used: {run.cache_trouble}")
    return "; ".join(said)


def redundant(run: Run) -> dict[str, list[str]]:
    """Return for each rule the conditions that it does not need."""
    out: dict[str, list[str]] = {}
    for r in run.results:
        o = r.obligation
        if o.kind.startswith("needs ") and not o.gate and r.verdict.status is Status.VACUOUS:
            out.setdefault(o.subject, []).append(o.kind.removeprefix("needs "))
    return out


def unsettled(run: Run) -> list[Result]:
    """Return the findings that are undecided."""
    return [r for r in run.results if not r.obligation.gate and r.verdict.status is Status.UNDECIDED]


def widening(run: Run) -> list[Result]:
    """Return the refuted findings about overflow: rules whose right side can overflow although the left does not."""
    asked = (r for r in run.results if r.obligation.kind.startswith("no new overflow"))
    return [r for r in asked if r.verdict.status is Status.REFUTED]


def findings(run: Run) -> Iterator[str]:
    """Yield blocks about findings, which do not fail the run."""
    # findings about a false rule of a rule file are of no interest
    stated = (r for r in run.gated if r.obligation.family == STATED)
    false = {r.obligation.subject for r in stated if not r.verdict.proved}
    run = replace(run, results=[r for r in run.results if r.obligation.subject not in false])
    if spare := redundant(run):
        lines = [(name, ";  ".join(conditions)) for name, conditions in spare.items()]
        yield block("conditions that the claim does not need (it is true without them):", lines)
    if open_ := unsettled(run):
        lines = [(r.obligation.subject, r.obligation.kind) for r in open_]
        yield block("findings that the prover could not settle either way:", lines)
    if wide := widening(run):
        from .refutation import ordered_point

        lines = []
        for r in wide:
            o = r.obligation
            what = o.kind.removeprefix("no new overflow, ")
            lines.append((o.subject, f"{what}: {point_text(ordered_point(o, r.verdict.witness or {}))}"))
        head = "rules whose right side may overflow where their left side does not, with an example:"
        yield block(head, lines)


def failing(run: Run, claims: Sequence[Claimed]) -> list[list[Result]]:
    """Return the gating results that fail the run, grouped by the wrong map for ops.

    Results that were not checked are only counted, elsewhere.
    """
    ops = {c.name: c.group for c in claims if c.name != c.group}
    found: dict[tuple[str, ...], list[Result]] = {}
    for r in run.gated:
        if not r.passes and r.verdict.status is not Status.NOT_CHECKED:
            o = r.obligation
            op = ops.get(o.subject)
            where = (o.subject, o.kind) if op is None else (op, re.sub(_OWED_BY_A_MAP, "", o.kind))
            found.setdefault((o.family, *where, r.verdict.status.value), []).append(r)
    return list(found.values())


#: Suffix of the obligations of a map: a wrong map fails one or several, often in every instance of the op.
_OWED_BY_A_MAP = re.compile(r" (?:in bounds|sound|complete)$")


def instances(results: Sequence[Result], claims: Sequence[Claimed]) -> str:
    """Say in how many instances of an op one map fails, by rank; empty for a single instance."""
    wrong = {r.obligation.subject for r in results}
    if len(wrong) < 2:
        return ""
    group = next((c.group for c in claims if c.name in wrong), "")
    all_ = [c.name for c in claims if c.group == group]
    by_rank = Counter(_rank(name) for name in wrong)
    of = Counter(map(_rank, all_))
    ranks = ", ".join(f"{rank or 'others'}: {n:,} of {of[rank]:,}" for rank, n in sorted(by_rank.items()))
    return f"{len(wrong):,} of {count(len(all_), 'instance')} ({ranks})"


def _rank(name: str) -> str:
    found = re.search(r"\brank \d+", name)
    return found[0] if found else ""


# ----------------------------------------------------------------------------------------------------- report
_HEAD = ("", "claims", "obligations", "proved", "confirmed", "false", "open", "median", "worst", "slowest")
_CONFIRMED_COLUMN = _HEAD.index("confirmed")


def _row(g: Group, name: str) -> tuple[str, ...]:
    worst = g.slowest
    confirmed = sum(r.verdict.proved and bool(confirmed_by(r)) for r in g.gated)
    counts = f"{g.claims:,}", f"{len(g.gated):,}", f"{g.count(Status.PROVED):,}"
    others = map(or_dash, (confirmed, g.count(*_FALSE), g.count(*_OPEN)))
    times = ("", "", "")
    if worst:
        slowest = _within(worst.obligation.name, g.name)
        times = duration(g.median), duration(worst.verdict.seconds), slowest
    return (name, *counts, *others, *times)


def _within(name: str, group: str) -> str:
    """Shorten the name of an obligation below the heading of its rule, law or op."""
    inner = name.removeprefix(group).lstrip(": ")
    if len(inner) <= _WIDTH:
        return inner
    # cut the label: the kind, at the end, tells more
    label, _, kind = inner.rpartition(": ")
    room = max(_WIDTH - len(kind) - 3, 8)
    return f"{label[:room]}…: {kind}"[: 2 * _WIDTH] if label else f"{inner[: _WIDTH - 1]}…"


def tables(run: Run, claims: Sequence[Claimed]) -> list[str]:
    """Return a table of the rules of rule files, and one of families with their rules, laws and ops."""
    stated = [r for r in run.gated if r.obligation.family == STATED]
    checked = [r for r in stated if r.verdict.status is not Status.NOT_CHECKED]
    found = []
    if checked:
        rows = [("verdict", "rule", "by", "resources", "time", "confirmed"), *map(_rule_row, checked)]
        columns = None if run.confirm else -1
        found.append("\n".join(table([row[:columns] for row in rows], right=(3, 4))))
    if others := [r for r in run.results if r.obligation.family != STATED]:
        left = [c for c in claims if c.family != STATED]
        found.append("\n".join(_table(replace(run, results=others), left)))
    return found


def _rule_row(r: Result) -> tuple[str, ...]:
    o, v = r.obligation, r.verdict
    said = "" if o.expected is Status.PROVED else " as expected" if r.passes else " unexpected"
    spent = f"{v.resources:,}", duration(v.seconds)
    return v.status.value + said, o.subject, v.strategy, *spent, confirmed_by(r)


def _table(run: Run, claims: Sequence[Claimed]) -> list[str]:
    families, groups = grouped(run, claims)
    rows: list[tuple[str, ...]] = [_HEAD]
    for family in families:
        own = [g for g in groups if g.family == family.name]
        if len(own) > 1:
            rows.append(_row(family, f"{family.name} (all)"))
        rows += [_row(g, f"  {g.name}" if len(own) > 1 else g.name) for g in own]
    if not run.confirm:
        rows = [row[:_CONFIRMED_COLUMN] + row[_CONFIRMED_COLUMN + 1 :] for row in rows]
    right = range(1, len(rows[0]) - 1)
    lines = table(rows, right)
    while max(map(len, lines)) > room() and rows[0][-1] != "open":  # a narrow terminal has no room for times
        rows = [row[:-1] for row in rows]
        lines = table(rows, right)
    return lines


def verdict_line(run: Run, claims: int) -> str:
    """Return the closing line: the worst verdict, the number of claims and obligations, and the time."""
    asked = len(run.gated)
    parts = [f"{n:,} {s.value}" for s in (*_FALSE, *_OPEN) if (n := run.count(s))]
    said = f"{count(claims, 'claim')}, {count(asked, 'obligation')}"
    proved = all(r.verdict.proved for r in run.gated)
    of = f" of which {', '.join(parts)}" if parts else ", all proved" if proved else ", all as expected"
    if run.confirm:
        left = len(run.unconfirmed)
        of += f", {f'{left:,} of them not' if left else 'all'} confirmed by {run.confirm}"
    extra = len(run.results) - asked
    of += f"; {count(extra, 'finding')} besides" if extra else ""
    nothing = f"{Status.NOT_CHECKED.value}  {said}: nothing was checked"
    line = f"{run.status.value}  {said}{of}" if asked else nothing
    how = spent(run.seconds, run.jobs)
    cached = sum(r.cached for r in run.results)
    return joined([line, how, f"{cached:,} from the cache" if cached else ""])


def interruption(run: Run, cached: bool = True) -> str:
    """Describe the rest of an interrupted run, findings included; ``cached`` says whether verdicts were cached."""
    missed = sum(r.verdict.status is Status.NOT_CHECKED for r in run.results)
    done = len(run.results) - missed
    line = f"{run.stopped or 'interrupted'}: {count(missed, 'question')} of {len(run.results):,} not asked"
    if not done:
        return line
    if not cached:
        return f"{line}; {count(done, 'verdict')} not kept, for lack of a cache"
    return f"{line}; {count(max(0, done - run.unkept), 'verdict')} kept in the cache"


def summary(
    run: Run, claims: Sequence[Claimed], *, command: str = "indexproof prove", cached: bool = True, repairs: int = 20
) -> Iterator[str]:
    """Yield the report, block by block.  Repairs are sought for at most ``repairs`` false claims."""
    yield from tables(run, claims)
    if used := strategies(run):
        yield block("decided by", [(f"{n:,}", name) for name, n in used.items()])
    yield from _confirmation_blocks(run)
    yield from findings(run)
    for k, wrong in enumerate(failing(run, claims)):
        # imported lazily: it loads the prover to look for repairs
        from .refutation import explain

        yield explain(wrong[0], command=command, with_repairs=k < repairs, also=instances(wrong, claims))
    yield closing(run, len(claims), cached)


def closing(run: Run, claims: int, cached: bool) -> str:
    """Return notes about errors of the run, and the closing line."""
    notes = []
    if said := damage(run):
        notes.append(said)
    if run.lost_workers:
        notes.append("a worker process died: its share was done again")
    if run.interrupted:
        notes.append(interruption(run, cached))
    return "\n".join([*notes, verdict_line(run, claims)])
