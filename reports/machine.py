"""JSON documents of ``prove``, ``equal``, ``property`` and ``simplify``."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ..core.indexing_map import IndexingMap
from ..core.text import format_expr
from ..core.transform import Reduced
from ..verify.concrete import Answer, Counterexample
from ..verify.obligation import Obligation
from ..verify.outcome import Result, Run
from ..verify.parametric import AnyMap
from ..verify.verdict import Status
from ..verify.weakest import SizeCondition
from ..verify.words import sides_at
from .refutation import AtPoint, Place, again, evaluated, ordered_point
from .serializer import document, plain, written_as
from .summary import Claimed, Group, confirmations, grouped, redundant, strategies, widening


# ------------------------------------------------------------------------------------------------------ prove
def counted(verdicts: Iterable[Status]) -> dict[Status, int]:
    """Count each verdict."""
    found = Counter(verdicts)
    return {s: found[s] for s in Status}


written_as(
    Group,
    "family name claims obligations counts",
    obligations=lambda g: len(g.gated),
    counts=lambda g: counted(r.verdict.status for r in g.gated),
)


def run_json(run: Run, claims: Sequence[Claimed], command: str = "indexproof prove") -> dict[str, Any]:
    """Return the answer of ``prove``."""
    families, groups = grouped(run, claims)
    wide = [(r.obligation, r.verdict.witness or {}) for r in widening(run)]
    taken = {r.obligation.name: r.verdict for r in run.results}
    return document(
        "prove",
        run.status,
        run.exit_status,
        interrupted=run.interrupted,
        claims=len(claims),
        obligations=len(run.gated),
        counts=counted(r.verdict.status for r in run.gated),
        families=families,
        groups=groups,
        strategies=strategies(run),
        redundant_conditions=redundant(run),
        may_widen=[{"claim": o.subject, "obligation": o.kind, "at": ordered_point(o, at)} for o, at in wide],
        confirmed=confirmed_json(run),
        results=[result_json(r, command) for r in run.results],
        timing={
            **run_times(run),
            "refused_cache_entries": run.refused_cache_entries,
            "groups": {f"{g.family}: {g.name}": _times(g) for g in (*families, *groups) if g.results},
            "results": {name: v.seconds for name, v in taken.items()},
            "resources": {name: v.resources for name, v in taken.items() if v.resources},
        },
    )


def run_times(run: Run) -> dict[str, Any]:
    """Return the entries below ``timing`` that every run has."""
    return {
        "seconds": run.seconds,
        "jobs": run.jobs,
        "from_cache": sum(r.cached for r in run.results),
        "damaged_cache_entries": run.damaged_cache_entries,
        "unkept": run.unkept,
        "lost_workers": run.lost_workers,
    }


def confirmed_json(run: Run) -> dict[str, Any] | None:
    """Return the confirmations by the second solver, or ``None`` if none was asked."""
    return {"solver": run.confirm, "counts": confirmations(run)} if run.confirm else None


def _times(g: Group) -> dict[str, Any]:
    worst, slowest = (g.slowest.verdict.seconds, g.slowest.obligation.name) if g.slowest else (0.0, "")
    return {"median": g.median, "worst": worst, "slowest": slowest}


def result_json(r: Result, command: str) -> dict[str, Any]:
    """Return one entry of ``results`` of ``prove``."""
    o, v = r.obligation, r.verdict
    out: dict[str, Any] = {"family": o.family, "claim": o.subject, "obligation": o.kind}
    out |= {"question": o.question, "gate": o.gate}
    out |= {"verdict": v.status, "passes": r.passes, "strategy": v.strategy}
    if v.opinion is not None:
        out["confirmed"] = v.opinion.by
    false = v.status in (Status.REFUTED, Status.UNDEFINED)
    if v.witness is not None:
        out["counterexample" if false else "example"] = ordered_point(o, v.witness)
    if not v.proved:
        out |= {"where": o.where, "statement": o.claim, "tried": v.tried, "detail": v.detail}
    if false and v.witness is not None:
        out |= {**plain(evaluated(o, v.witness)), "again": again(o, v.witness, command)}
    return out


def _subterms(terms: Iterable[tuple[str, str, Any]]) -> list[dict[str, Any]]:
    known = ((side, term, None if isinstance(value, str) else value) for side, term, value in terms)
    return [{"side": side, "term": term, "value": value} for side, term, value in known]


def _truths(conditions: Iterable[tuple[str, bool | None]]) -> list[dict[str, Any]]:
    return [{"condition": text, "holds": truth} for text, truth in conditions]


written_as(
    AtPoint,
    "subterms hypotheses goal",
    subterms=lambda at: _subterms(at.subterms),
    hypotheses=lambda at: _truths(at.hypotheses),
    goal=lambda at: _truths(at.goal),
)


def point_json(
    places: Sequence[tuple[Obligation, Place]], point: Mapping[str, int], exit_status: int
) -> dict[str, Any]:
    """Return the answer of ``prove --at``."""
    false = any(place == "counterexample" for _, place in places)
    verdict = Status.REFUTED.value if false else "HOLDS" if exit_status == 0 else Status.NOT_CHECKED.value
    obligations = [
        {"claim": o.subject, "obligation": o.kind, "gate": o.gate, "here": place, **plain(evaluated(o, point))}
        for o, place in places
    ]
    return document("prove --at", verdict, exit_status, point=point, obligations=obligations)


# ------------------------------------------------------------------------------------------------------- maps
written_as(
    Reduced,
    "values removed=unused new_dims",
    values=lambda r: {name: format_expr(e) for name, e in r.values.items()},
    removed=lambda r: {name: [v.lo, v.hi] for name, v in r.unused.items()},
)


def answer_json(
    command: str, answer: Answer | None, exit_status: int, left: AnyMap, right: AnyMap, **more: Any
) -> dict[str, Any]:
    """Return the answer of ``equal``, or that of ``simplify`` about the maps before and after."""
    if answer is None:
        return document(command, Status.NOT_CHECKED, exit_status, **more, left=left, right=right)
    c = answer.counterexample
    concrete = isinstance(left, IndexingMap) and isinstance(right, IndexingMap)
    terms = sides_at(c, left, right) if c is not None and concrete else ()  # type: ignore[arg-type]
    found = c and {**_counterexample(c), "subterms": _subterms(terms)}
    sides = {"left": left, "right": right, **_asked(answer), "counterexample": found}
    return document(command, answer.verdict, exit_status, **more, **sides, timing={"seconds": answer.seconds})


def _asked(answer: Answer) -> dict[str, Any]:
    return {"engine": answer.engine, "tried": answer.tried}


written_as(SizeCondition, "condition necessary")


def property_json(
    name: str, maps: Sequence[AnyMap], given: Mapping[str, Any], answer: Answer, exit_status: int, **more: Any
) -> dict[str, Any]:
    """Return the answer of ``property``."""
    c = answer.counterexample
    asked = {"property": name, "arguments": given, "maps": maps, **_asked(answer)}
    found = {"confirmed": answer.confirmed_by, "counterexample": c and _counterexample(c, "first", "second")}
    timing = {"seconds": answer.seconds}
    return document("property", answer.verdict, exit_status, **asked, **found, timing=timing, **more)


def _counterexample(c: Counterexample, one: str = "left", two: str = "right") -> dict[str, Any]:
    """Return the counterexample: its values, the result on either side, and the reason."""
    return {"values": c.values, one: c.left, two: c.right, "reason": c.reason, "smallest": c.minimal}
