"""The report of `indexproof prove FILE` on a rule file: a line for every rule, a block for every one not proved."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from ..verify.rulefiles import Missing, StatedRule, judge, show, subterms, truth, values
from ..verify.rulefiles.obligations import NO_NEW_OVERFLOW
from ..verify.rulefiles.repair import weakest_repairs
from ..verify.run import Result, Run
from ..verify.verdict import Status, Verdict
from .layout import block, duration, joined, table
from .machine import confirmed_json, document, run_times
from .refutation import explanation
from .selection import Named
from .summary import closing, confirmed_by, strategies

__all__ = ["STATED", "explained", "rule_at_point", "rule_at_point_json", "rules_json", "rules_summary"]

#: The family of obligations of rules of rule files.
STATED: Final = "stated rule"
_NO_ANSWER = {"not concerned": "says nothing here", "holds": "holds here"}
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
        lines = rule_explanation(f, command=command, with_repairs=k < repairs)
        yield block(joined([f"{f.verdict.status.value}  {f.rule.name}", f.rule.where]), lines)
    yield closing(run, len(claims), cached)


def _overflow_text(f: ConditionFinding) -> str:
    return "\n".join(f"{of}: {point_text(f.rule, point)}" for of, point in f.overflows.items())


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


def rule_explanation(
    f: ConditionFinding, *, command: str, with_repairs: bool = True
) -> list[tuple[str, str]]:
    """Return the lines about a rule without the verdict that is expected, each with its heading."""
    r, v = f.rule, f.verdict
    lines = [("claim", r.statement()), ("meaning", str(r.semantics))]
    if f.refuted:
        point = dict(v.witness or {})
        lines += [("take", point_text(r, point)), *_evaluated(r, point)]
        if with_repairs:
            lines.append(("repair", _repair_text(r)))
        lines.append(("again", again(r, point, command)))
    elif v.proved:
        lines.append(("but", f"the file expects the verdict {r.expected}"))
    elif v.status is Status.VACUOUS:
        lines.append(("means", "no integers satisfy the conditions, so the rule says nothing"))
    elif v.status is Status.UNDECIDED:
        lines += [("tried", ", ".join(v.tried)), ("because", v.detail or "the budget is spent")]
        lines.append(("again", f"{command} {_word(r.name)} --budget 10"))
    return lines


def explained(r: Result, claim: object, *, command: str, also: str = "") -> list[tuple[str, str]]:
    """Return the lines about a result that did not pass, of a rule of a rule file or of any other claim."""
    if isinstance(claim, StatedRule):
        (finding,) = findings_of(Run([r]), [claim])
        return rule_explanation(finding, command=command)
    return explanation(r, command=command, also=also)


def _repair_text(r: StatedRule) -> str:
    found = [show(c) for c in weakest_repairs(r)]
    if not found:
        return "none of the candidate conditions makes it true"
    text = f"true with the condition  {found[0]}"
    return text + (f"\nor with  {';  '.join(found[1:])}" if found[1:] else "")


def _evaluated(r: StatedRule, point: Mapping[str, int]) -> Iterator[tuple[str, str]]:
    for side, text, value in _subterms(r, point):
        yield side, f"{text} = {value_text(value)}"
    held = [show(c) for c in r.conditions if truth(c, point, r.semantics) is True]
    if held:
        yield "holds", ",  ".join(held)
    missed = [show(c) for c in r.conditions if truth(c, point, r.semantics) is not True]
    if missed:
        yield "false", ",  ".join(missed)


def _subterms(r: StatedRule, point: Mapping[str, int]) -> Iterator[tuple[str, str, Any]]:
    for side, root in (("left", r.left), ("right", r.right)):
        of = values((root,), point, r.semantics)
        for t in subterms(root):
            yield side, show(t), of[id(t)]


def value_text(value: Any) -> str:
    """A value, or why there is none."""
    if isinstance(value, Missing):
        return f"no value: {value.value}"
    return str(value).lower() if isinstance(value, bool) else str(value)


def point_text(r: StatedRule, point: Mapping[str, int]) -> str:
    """``x = 1, p = true``."""
    parts = []
    for v, kind in r.variables.items():
        value: int | bool = point[v] != 0 if kind.name == "bool" else point[v]
        parts.append(f"{v} = {value_text(value)}")
    return ", ".join(parts) or "nothing: the rule has no variables"


def again(r: StatedRule, point: Mapping[str, int], command: str) -> str:
    """The command that evaluates the rule at this point."""
    at = ",".join(f"{v}={point[v]}" for v in r.variables)
    return f"{command} {_word(r.name)}" + (f" --at {_word(at)}" if at else "")


def _word(text: str) -> str:
    """One word of a POSIX shell."""
    import shlex

    return shlex.quote(text)


# ------------------------------------------------------------------------------------------------------ one point
def rule_at_point(r: StatedRule, point: Mapping[str, int]) -> tuple[str, int]:
    """Both sides at a point, in the rule's own arithmetic, and the exit status."""
    outcome = judge(r, point)
    lines = [("claim", r.statement()), ("meaning", str(r.semantics)), ("take", point_text(r, point))]
    lines += _evaluated(r, point)
    says = {
        "holds": ("HOLDS", "both sides agree here", 0),
        "counterexample": ("REFUTED", "false here: this is a counterexample", 1),
        "undefined": (
            "REFUTED",
            "the right side has no value here, but the left side has: a counterexample",
            1,
        ),
        "not concerned": (
            "NO ANSWER",
            "says nothing here: a condition is false, or the left has no value",
            2,
        ),
    }[outcome]
    outside = _outside(r, point)
    lines.append(("so", f"says nothing here: {outside}" if outside else says[1]))
    return block(joined([f"{says[0]}  {r.name}", r.where]), lines), says[2]


def _outside(r: StatedRule, point: Mapping[str, int]) -> str:
    """The first value that its variable cannot have, as part of a sentence."""
    s = r.semantics
    for v, kind in r.variables.items():
        if kind.name == "bool":
            continue
        if s.width and not s.lo <= point[v] <= s.hi:
            return f"{v} = {point[v]} is no integer of {s.width} bits"
        if (kind.lo is not None and point[v] < kind.lo) or (kind.hi is not None and point[v] > kind.hi):
            return f"{v} = {point[v]} lies outside [{kind.lo}, {kind.hi}]"
    return ""


def rule_at_point_json(r: StatedRule, point: Mapping[str, int]) -> tuple[dict[str, Any], int]:
    """The same for programs."""
    outcome = judge(r, point)
    status = {"holds": 0, "not concerned": 2}.get(outcome, 1)
    verdict = {0: "HOLDS", 1: Status.REFUTED.value, 2: Status.NOT_CHECKED.value}[status]
    here = {"undefined": "counterexample"}.get(outcome, outcome)
    entry = {"claim": r.name, "obligation": "sound", "gate": True, "here": here, **_evaluated_json(r, point)}
    return document("prove --at", verdict, status, point=point, obligations=[entry]), status


def _evaluated_json(r: StatedRule, point: Mapping[str, int]) -> dict[str, Any]:
    def plain(value: Any) -> Any:
        return None if isinstance(value, Missing) else value

    return {
        "subterms": [{"side": s, "term": t, "value": plain(v)} for s, t, v in _subterms(r, point)],
        "hypotheses": [
            {"condition": show(c), "holds": plain(truth(c, point, r.semantics))} for c in r.conditions
        ],
        "goal": [{"condition": r.statement(), "holds": judge(r, point) in ("holds", "not concerned")}],
    }


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
    if f.refuted:
        point = dict(v.witness or {})
        out |= {"counterexample": point, **_evaluated_json(r, point), "again": again(r, point, command)}
    elif not v.proved:
        out |= {"tried": v.tried, "detail": v.detail}
    return out
