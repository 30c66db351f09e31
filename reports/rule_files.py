"""The JSON report of `indexproof prove` on rule files."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..verify.outcome import Result, Run
from ..verify.rulefiles import StatedRule, show
from ..verify.rulefiles.obligations import NO_NEW_OVERFLOW
from ..verify.rulefiles.repair import weakest_repairs
from ..verify.verdict import Status, Verdict
from .machine import confirmed_json, counted, run_times
from .refutation import again, evaluated
from .selection import Named
from .serializer import document, plain
from .summary import strategies

#: Repairs are sought for at most this many false rules, since each asks the prover several questions.
_REPAIRS = 20


def rules_json(run: Run, claims: Sequence[Named], command: str, *, findings: bool = True) -> dict[str, Any]:
    """Return the answer of ``prove`` about rule files; without ``findings`` the keys about findings are left out."""
    results: dict[str, list[Result]] = {c.name: [] for c in claims}
    for r in run.results:
        if r.obligation.subject in results:
            results[r.obligation.subject].append(r)
    entries, verdicts, repairs = [], [], _REPAIRS
    for c in claims:
        assert isinstance(c.claim, StatedRule)
        gate = next((r for r in results[c.name] if r.obligation.gate), None)
        verdicts.append(Verdict(Status.NOT_CHECKED) if gate is None else gate.verdict)
        # findings about a false rule are of no interest
        others = [r for r in results[c.name] if not r.obligation.gate and verdicts[-1].proved]
        entries.append(_entry(c.claim, gate, others if findings else None, command, repairs > 0))
        repairs -= "counterexample" in entries[-1]
    times = {c.name: v.seconds for c, v in zip(claims, verdicts, strict=True)}
    return document(
        "prove",
        run.status,
        run.exit_status,
        interrupted=run.interrupted,
        claims=len(claims),
        counts=counted(v.status for v in verdicts),
        strategies=strategies(run),
        confirmed=confirmed_json(run),
        rules=entries,
        timing={**run_times(run), "rules": times},
    )


def _entry(
    rule: StatedRule, gate: Result | None, others: Sequence[Result] | None, command: str, with_repairs: bool
) -> dict[str, Any]:
    v = Verdict(Status.NOT_CHECKED) if gate is None else gate.verdict
    out: dict[str, Any] = {"name": rule.name, "where": rule.where}
    out |= {"statement": rule.statement(), "semantics": str(rule.semantics), "verdict": v.status}
    out |= {"passes": gate is not None and gate.passes, "expected": rule.expected}
    out |= {"strategy": v.strategy, "resources": v.resources}
    if others is not None:
        over = f"{NO_NEW_OVERFLOW}, "
        out |= {
            "redundant": list(_kinds(others, "needs ", Status.VACUOUS)),
            "unsettled": list(_kinds(others, "needs ", Status.UNDECIDED)),
            "overflows": _kinds(others, over, Status.REFUTED),
            "overflows_unsettled": list(_kinds(others, over, Status.UNDECIDED)),
        }
    if v.opinion is not None:
        out["confirmed"] = v.opinion.by
    if gate is not None and v.witness is not None and v.status in (Status.REFUTED, Status.UNDEFINED):
        o, point = gate.obligation, dict(v.witness)
        out |= {"counterexample": point, **plain(evaluated(o, point)), "again": again(o, point, command)}
        if with_repairs:
            out["repairs"] = [show(c) for c in weakest_repairs(rule)]
    elif not v.proved:
        out |= {"tried": v.tried, "detail": v.detail}
    return out


def _kinds(results: Sequence[Result], prefix: str, status: Status) -> dict[str, dict[str, int]]:
    """Return the kinds of results with a verdict, without their prefix, each with its counterexample."""
    found = ((r.obligation.kind, r.verdict) for r in results if r.obligation.kind.startswith(prefix))
    return {k.removeprefix(prefix): dict(v.witness or {}) for k, v in found if v.status is status}
