"""The report of `indexproof prove FILE` on a rule file: a line for every rule, a block for every one not proved."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..verify.rulefiles import StatedRule, show
from ..verify.rulefiles.obligations import NO_NEW_OVERFLOW
from ..verify.rulefiles.repair import weakest_repairs
from ..verify.run import Result, Run
from ..verify.verdict import Status, Verdict
from .layout import block, duration, table
from .machine import confirmed_json, document, plain, run_times
from .refutation import again, evaluated, explain, values_text
from .selection import Named
from .summary import closing, confirmed_by, strategies

#: So many false rules are searched for a condition that makes them true.
_REPAIRS = 20


@dataclass
class ConditionFinding:
    """The results for one rule."""

    rule: StatedRule
    result: Result | None = None
    redundant: list[str] = field(default_factory=list)
    unsettled: list[str] = field(default_factory=list)
    #: By machine type, a point at which only the right side overflows it; and the types of which that is not known.
    overflows: dict[str, dict[str, int]] = field(default_factory=dict)
    perhaps: list[str] = field(default_factory=list)

    @property
    def verdict(self) -> Verdict:
        """The verdict on the rule itself."""
        return Verdict(Status.NOT_CHECKED) if self.result is None else self.result.verdict

    @property
    def passes(self) -> bool:
        """Whether the verdict is the expected one."""
        return self.result is not None and self.result.passes

    @property
    def refuted(self) -> bool:
        """Whether there is a counterexample."""
        return self.verdict.status in (Status.REFUTED, Status.UNDEFINED) and self.verdict.witness is not None


def findings_of(run: Run, rules: Sequence[StatedRule]) -> list[ConditionFinding]:
    """The findings about each rule, in order."""
    found = {r.name: ConditionFinding(r) for r in rules}
    for result in run.results:
        at = found[result.obligation.subject]
        if result.obligation.gate:
            at.result = result
            continue
        if result.obligation.kind.startswith(NO_NEW_OVERFLOW):
            of = result.obligation.kind.removeprefix(f"{NO_NEW_OVERFLOW}, ")
            if result.verdict.status is Status.REFUTED:
                at.overflows[of] = dict(result.verdict.witness or {})
            elif result.verdict.status is Status.UNDECIDED:
                at.perhaps.append(of)
            continue
        condition = result.obligation.kind.removeprefix("needs ")
        if result.verdict.status is Status.VACUOUS:
            at.redundant.append(condition)
        elif result.verdict.status is Status.UNDECIDED:
            at.unsettled.append(condition)
    for f in found.values():
        if not f.verdict.proved:
            # which conditions a false rule needs, and what overflows in it, is nobody's question
            f.redundant, f.unsettled, f.overflows, f.perhaps = [], [], {}, []
    return list(found.values())


def stated_rules(claims: Sequence[Named]) -> list[StatedRule]:
    """The claims as rules."""
    return [c.claim for c in claims if isinstance(c.claim, StatedRule)]


# --------------------------------------------------------------------------------------------------------- text
def rules_summary(
    run: Run, claims: Sequence[Named], *, command: str, cached: bool = True, repairs: int = _REPAIRS
) -> Iterator[str]:
    """The report, block by block."""
    found = findings_of(run, stated_rules(claims))
    checked = [f for f in found if f.verdict.status is not Status.NOT_CHECKED]
    if checked:
        rows = [
            ("verdict", "rule", "by", "resources", "time", "conditions that are not needed"),
            *map(_row, checked),
        ]
        if run.confirm:
            said = ["confirmed", *(confirmed_by(f.result) if f.result else "" for f in checked)]
            rows = [(*row[:3], one, *row[3:]) for row, one in zip(rows, said, strict=True)]
        yield "\n".join(table(rows, right=(4, 5) if run.confirm else (3, 4)))
    used = strategies(run)
    if used:
        yield block("decided by", [(f"{n:,}", name) for name, n in used.items()])
    open_ = [(f.rule.name, ";  ".join(f.unsettled)) for f in checked if f.unsettled]
    if open_:
        yield block("conditions of which it is not known whether they are needed:", open_)
    wide = [(f.rule.name, _overflow_text(f)) for f in checked if f.overflows]
    if wide:
        yield block(
            "rules whose right side may overflow where their left side does not, with an example:", wide
        )
    perhaps = [(f.rule.name, ", ".join(f.perhaps)) for f in checked if f.perhaps]
    if perhaps:
        yield block("machine types of which it is not known whether they overflow:", perhaps)
    for k, f in enumerate(f for f in checked if not f.passes):
        if f.result is not None:
            yield explain(f.result, command=command, with_repairs=k < repairs)
    yield closing(run, len(claims), cached)


def _overflow_text(f: ConditionFinding) -> str:
    return "\n".join(f"{of}: {values_text(point, f.rule)}" for of, point in f.overflows.items())


def _row(f: ConditionFinding) -> tuple[str, ...]:
    v = f.verdict
    return (
        v.status.value
        + ("" if f.rule.expected == "PROVED" else " as expected" if f.passes else " unexpected"),
        f.rule.name,
        v.strategy,
        f"{v.resources:,}",
        duration(v.seconds),
        ";  ".join(f.redundant),
    )


# ---------------------------------------------------------------------------------------------------------- JSON
def rules_json(
    run: Run, claims: Sequence[Named], command: str, repairs: int = _REPAIRS, *, findings: bool = True
) -> dict[str, Any]:
    """The answer of ``prove`` about rule files; without ``findings`` nothing is said of what was not asked."""
    found = findings_of(run, stated_rules(claims))
    entries = []
    for f in found:
        entry = _entry(f, command)
        if not findings:
            for key in ("redundant", "unsettled", "overflows", "overflows_unsettled"):
                del entry[key]
        if f.refuted and repairs > 0:
            repairs -= 1
            entry["repairs"] = [show(c) for c in weakest_repairs(f.rule)]
        entries.append(entry)
    return document(
        "prove",
        run.status,
        run.exit_status,
        interrupted=run.interrupted,
        claims=len(found),
        counts={s: sum(f.verdict.status is s for f in found) for s in Status},
        strategies=strategies(run),
        confirmed=confirmed_json(run),
        rules=entries,
        timing={**run_times(run), "rules": {f.rule.name: f.verdict.seconds for f in found}},
    )


def _entry(f: ConditionFinding, command: str) -> dict[str, Any]:
    r, v = f.rule, f.verdict
    out: dict[str, Any] = {
        "name": r.name,
        "where": r.where,
        "statement": r.statement(),
        "semantics": str(r.semantics),
        "verdict": v.status,
        "passes": f.passes,
        "expected": r.expected,
        "strategy": v.strategy,
        "resources": v.resources,
        "redundant": f.redundant,
        "unsettled": f.unsettled,
        "overflows": f.overflows,
        "overflows_unsettled": f.perhaps,
    }
    if v.opinion is not None:
        out["confirmed"] = v.opinion.by
    if f.refuted and f.result is not None:
        o, point = f.result.obligation, dict(v.witness or {})
        out |= {"counterexample": point, **plain(evaluated(o, point)), "again": again(o, point, command)}
    elif not v.proved:
        out |= {"tried": v.tried, "detail": v.detail}
    return out
