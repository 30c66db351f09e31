"""What the commands print with ``--json``: stable, deterministic forms for programs.

Every document has ``format`` (the command and the number of its form), ``version``, ``verdict`` and
``exit_status``. Keys are added in later versions, never renamed or removed.  Everything that differs from
run to run (seconds, cores, what came from the cache) is below the one key ``timing``.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from .. import __version__
from ..core.condition import Condition, show_condition
from ..core.expr import Expr, Var
from ..core.indexing_map import IndexingMap
from ..core.json_form import dump_json, map_to_json
from ..core.notation import show
from ..core.text import format_expr, format_map
from ..core.transform import Reduced
from ..verify.concrete import Answer, Counterexample
from ..verify.obligation import Obligation
from ..verify.outcome import Result, Run
from ..verify.verdict import Status
from .refutation import Place, again, conjuncts, ordered_point
from .summary import Claimed, Group, confirmations, grouped, redundant, strategies, widening

__all__ = [
    "FORMS",
    "answer_json",
    "confirmed_json",
    "document",
    "map_json",
    "point_json",
    "record_json",
    "run_json",
    "text_of",
]


_FRAME = {
    "format": "`indexproof FORM N`: FORM is the heading here, N counts incompatible changes",
    "version": "of indexproof",
    "verdict": "the worst verdict: `PROVED`, `NOT CHECKED`, `UNDECIDED`, `VACUOUS`, `UNDEFINED` or `REFUTED`",
    "exit_status": "the exit status of the command",
}
_MAPS = {
    "left": "the first map (for `simplify` the one that was given), as `text` and as `map`, the form that "
    "is also read",
    "right": "the second map (for `simplify` the result), likewise",
    "engine": "which engine decided",
    "tried": "what each engine that was asked said, in order",
    "counterexample": "`null`, or `values` by variable, the targets `left` and `right` (`null`: none), "
    "`reason`, whether it is the `smallest`, and `subterms`: `side`, `term`, `value`",
    "timing": "`seconds`",
}
_STEPS = (
    "every step in words: `rule`, `before`, `after`, `binding`, and the `position` of the expression it is about: `part` "
    "(`result`, `constraint`, `source`; `constraints` and `map` for steps that change those), `index`, and `path`, the "
    "numbers of children on the way down"
)
_DERIVATION = (
    "the same steps for `indexproof replay`: `before`, `after`, `steps` with `rule`, `binding` and `position`, and "
    "`nodes`, the table that numbers all expressions"
)
_WIDER = "that the right map needs, or may need, wider machine integers than the left one, in words; empty if it does not"

#: The keys of every document, with their meanings.
FORMS: dict[str, dict[str, str]] = {
    "prove": {
        **_FRAME,
        "interrupted": "whether the run was cut short",
        "claims": "how many claims were selected",
        "obligations": "how many obligations decide the verdict",
        "counts": "how many of those have each verdict",
        "families": "the same numbers by family: `family`, `name`, `claims`, `obligations`, `counts`",
        "groups": "the same by rule, law and op",
        "strategies": "how many obligations each strategy decided, alone or with others",
        "redundant_conditions": "by rule, the conditions without which it is still true",
        "may_widen": "where the right side of a rule may overflow although the left does not: `claim`, "
        "`obligation`, `at`",
        "confirmed": "`null`, or with --confirm the `solver` and how many verdicts it confirmed by what: `whole` (the "
        "claim as it stands), `leaves` (every question of its proof), `example`, or the empty word for nothing",
        "results": "one entry for each obligation: `family`, `claim`, `obligation`, `question` (`valid`: "
        "the hypotheses imply the goal; `exists`: some point satisfies the hypotheses and violates the "
        "goal), `gate` (whether it decides the exit status), `verdict`, `passes`, `strategy`, with --confirm "
        "`confirmed`, and `example` or `counterexample`; unless proved also `where`, `statement`, `tried`, `detail`; "
        "if refuted also "
        "`subterms`, `hypotheses`, `goal` and `again`, the command that evaluates it there",
        "timing": "`seconds`, `jobs`, `from_cache`, `damaged_cache_entries`, `refused_cache_entries` (the same by "
        "reason: `unreadable`, `altered`, `outdated`, `untrue`), `unkept` (verdicts that the cache could not take), "
        "`lost_workers`, seconds by "
        "group and by result, and the solver's `resources` (units of its own) by result",
    },
    "prove FILE": {
        **_FRAME,
        "interrupted": "whether the run was cut short",
        "claims": "how many rules were asked about",
        "counts": "how many rules have each verdict",
        "strategies": "how many questions each strategy decided",
        "confirmed": "as in `prove`",
        "rules": "of rule files, one entry for each rule: `name`, `where`, `statement`, `semantics`, `verdict`, "
        "`passes`, `strategy`, `resources` (units of the solver), `redundant` (conditions without which the "
        "rule is proved too), `unsettled` (conditions of which that is not known), `overflows` (for a rule over unbounded "
        "integers, by machine type, a point at which its right side overflows and its left side does not), "
        "`overflows_unsettled` (types of which that is not known; all four not with --no-findings), with "
        "--confirm `confirmed`; if refuted "
        "`counterexample`, `subterms`, `hypotheses`, `goal`, `again` and, for the first rules only, `repairs` "
        "(conditions that make it true, the weakest first); if not proved otherwise `tried` and `detail`",
        "timing": "`seconds`, `jobs`, `from_cache`, `damaged_cache_entries`, `unkept`, `lost_workers` and the seconds of "
        "each of the `rules`",
    },
    "prove --at": {
        **_FRAME,
        "point": "the point",
        "obligations": "what each obligation says there: `claim`, `obligation`, `gate`, `here` (`holds`, "
        "`counterexample`, `example`, `not concerned`, `no value`), `subterms`, `hypotheses`, `goal`",
    },
    "check": {
        **_FRAME,
        "verdict": "`AS EXPECTED`, `NOT AS EXPECTED` or `NOT CHECKED`",
        "interrupted": "whether the run was cut short",
        "counts": "how many claims have each verdict",
        "not_checked": "how many claims an interruption left out",
        "files": "`file` and its `claims`: `name`, `line`, `section`, `claim` (its text), `verdict`, "
        "`expected`, `as_expected`, `worth` (of a claimed map: `exact`, `over-approximation`, `wrong`), "
        "`shows` (an element, what is claimed of it and what is true), `notes`, `counterexample`, `right` "
        "(the true maps), `engine`",
        "timing": "`seconds`, and those of each claim",
    },
    "equal": {**_FRAME, **_MAPS},
    "equal (instructions)": {
        **_FRAME,
        "operands": "one entry for each operand: `operand`, `array` (which of several arrays is made, else `null`), "
        "`verdict`, the maps `left` and `right`, `engine`, "
        "`counterexample` (`values`, the targets `left` and `right`, `reason`)",
        "timing": "`seconds`",
    },
    "simplify": {
        **_FRAME,
        "steps": _STEPS,
        "derivation": _DERIVATION,
        "wider": _WIDER,
        "left": _MAPS["left"],
        "right": _MAPS["right"],
    },
    "simplify --validate": {
        **_FRAME,
        "steps": _STEPS,
        "derivation": _DERIVATION,
        "wider": _WIDER,
        **_MAPS,
    },
    "simplify --remove-unused, --rescale-ranges, --ranges-to-dims": {
        **_FRAME,
        "steps": _STEPS,
        "derivation": _DERIVATION,
        "wider": _WIDER,
        "left": _MAPS["left"],
        "right": _MAPS["right"],
        "values": "every variable of the left map as an expression over those of the right one",
        "removed": "variables that nothing depends on, each with the bounds it had",
        "new_dims": "dimensions of the right map that are ranges of the left one",
    },
    "hlo": {
        **_FRAME,
        "verdict": "the worst verdict of `units`; `NOT CHECKED` without `--verify`",
        "module": "the module's name",
        "units": "computations, or the instructions asked for: `name`, what it `is`, number of `instructions`; "
        "`unmapped` ones with name, opcode and reasons; `maps`: for each `output` and `operand` (name and "
        "shape) and `direction` the maps in both notations, whether they are `exact`, why there may be more "
        "(`unknown`) and why less (`at_most`); `verified`: verdict, number of `questions` of each kind, and those "
        "that `failed`",
        "timing": "seconds, in all and for each unit",
    },
    "layout": {
        **_FRAME,
        "verdict": "the worst verdict of `claims`; `NOT CHECKED` without `--verify`",
        "shape": "the shape as text",
        "padded_dimensions": "the padded sizes, if given",
        "minor_to_major": "the dimensions from the fastest varying to the slowest",
        "tiles": "the sizes of every tile; `*` merges a dimension with the next one",
        "physical": "the (padded) sizes, slowest varying first",
        "expanded": "the sizes after all tiles: memory is this array in row-major order",
        "positions": "how many positions memory has",
        "padding_positions": "how many of them are padding",
        "bytes": "how many bytes that is",
        "forward": "the map from elements to positions, as `text` and as `map`",
        "backward": "the map from positions to elements, likewise",
        "padding": "maps whose domains together are the padding, likewise",
        "element": "with `--index`: `index` and its `position`",
        "position": "with `--position`: `position` and the `index` there (`null`: padding)",
        "claims": "with `--verify`: `claim`, `verdict`, `engine`, `counterexample`",
        "timing": "`seconds`",
    },
    "bitcast": {
        **_FRAME,
        "verdict": "the worst verdict of `claims`; `NOT CHECKED` without `--verify`",
        "source": "the shape that is read, as text",
        "target": "the shape that it is read as",
        "kind": "`identity`, `transpose`, `reshape`, `transpose-reshape-transpose` or `longer`",
        "steps": "what is done to the elements, in order: `transpose` with its permutation, or `reshape` with sizes",
        "backward": "the map from the elements of the target to those of the source, as `text` and as `map`",
        "forward": "the map from the elements of the source to those of the target, likewise",
        "claims": "with `--verify`: `claim`, `verdict`, `engine`, `counterexample`",
        "timing": "`seconds`",
    },
    "launch": {
        **_FRAME,
        "verdict": "the worst verdict of `claims`; `NOT CHECKED` without `--verify`",
        "shape": "the shape of the output as text",
        "threads": "the threads of a block along x, y and z",
        "blocks": "the blocks along x, y and z",
        "unroll": "how many neighbours in memory a thread takes at once",
        "warp": "the threads of a warp",
        "chunks": "in how many rounds the grid takes all elements",
        "thread_map": "from thread and block to elements, as `text` and as `map`",
        "block_map": "from blocks to elements, likewise",
        "warp_map": "from warp and block to elements, likewise",
        "owners": "from elements to their places, likewise: thread, block, round, number within `unroll`",
        "reads": "with `--map`: from thread and block, or what `--by` says, to elements of the operand, likewise",
        "claims": "with `--verify`: `claim`, `verdict`, `engine`, `counterexample`",
        "timing": "`seconds`",
    },
    "replay": {
        **_FRAME,
        "steps": "how many steps there are",
        "rules": "the rules that they use",
        "conditions": "how many conditions of rules were shown by constants, by ranges, and by each engine",
        "removed_dims": "dimensions of the map that the result lacks",
        "new_dims": "dimensions of the result that were ranges of the map",
        "refused": "`null`, or the number of the wrong `step` (0: the whole) and the `reason`",
        "left": "the map, as `text` and as `map`",
        "right": "the result, likewise",
    },
    "width": {
        **_FRAME,
        "verdict": "`PROVED` if a width is enough (with --bits: that one), `REFUTED`, or `UNDECIDED`",
        "map": "as `text` and as `map`, the form that is also read",
        "bits": "the smallest width that is enough, 32 or 64, or `null`",
        "overflows": "for each smaller width `bits`, the first `term` that overflows, its `value`, the `values` of "
        "the variables there, and whether that point is the `smallest`",
        "subexpressions": "with --each one entry for every subexpression, else `null`: `term`, `verdict`, `bits` of the "
        "smallest signed type (8, 16, 32, 64, or `null`), `engine`, and what overflows the next smaller one, as above",
        "engines": "what decided: intervals, and the engines that were asked where they say too little",
        "tried": "what the engines said where they gave up",
        "timing": "`seconds`",
    },
    "list": {
        **_FRAME,
        "claims": "`family`, `name`, `doc`, `statement`, and for an op the names of its `instances`",
    },
    "show": {
        **_FRAME,
        "claims": "`family`, `name`, `doc`, `obligations` (`obligation`, `gate`, `statement`, `known`: the "
        "verdict in the cache); for a rule or law `statement`; for a rule `where`, `when`, `guard`, "
        "`fires`, `keeps`; for an op `maps`",
    },
    "confluence": {
        **_FRAME,
        "verdict": "`WRONG`, `ORDER MATTERS`, `NONE FOUND` (in this search, which proves nothing), or `NOT CHECKED`",
        "interrupted": "whether the run was cut short",
        "total": "how many pairs of rules there are",
        "count": "how many instances of each pair were asked for",
        "instances": "how many were examined",
        "counts": "how many pairs have each verdict",
        "pairs": "one entry for each pair: `outer` and `inner` (the rules), `verdict` (`WRONG`, `ORDER MATTERS`, "
        "`none found`, `no instance`), `instances`, `differences` (in how many of them, by what made it: `rewritten`, "
        "`renamed`, `reordered`, and by what differs: `cost`, `form`, `wrong`), and `examples` by what made the "
        "difference: `kind` (what differs), `way` (how the second of both maps came about), `quick`, and of both maps "
        "the text (`given`), the "
        "text of the result (`results`) and its documented cost (`weights`)",
        "timing": "`seconds`",
    },
}


def document(command: str, verdict: str, exit_status: int, **more: Any) -> dict[str, Any]:
    """The frame of every answer."""
    return {
        "format": f"indexproof {command} 1",
        "version": __version__,
        "verdict": verdict,
        "exit_status": exit_status,
        **more,
    }


def text_of(data: Mapping[str, Any]) -> str:
    """Indented JSON, or in one line where it is nested too deep for that; escaped where standard output could not show the
    characters otherwise.
    """
    encoding = (getattr(sys.stdout, "encoding", None) or "utf-8").lower().replace("-", "")
    try:
        return json.dumps(data, indent=2, ensure_ascii=encoding != "utf8")
    except RecursionError:
        return dump_json(data)


# ------------------------------------------------------------------------------------------------------ prove
def run_json(run: Run, claims: Sequence[Claimed], command: str = "indexproof prove") -> dict[str, Any]:
    """The answer of ``prove``."""
    families, groups = grouped(run, claims)
    return document(
        "prove",
        run.status.value,
        run.exit_status,
        interrupted=run.interrupted,
        claims=len(claims),
        obligations=len(run.gated),
        counts=_counts(run.gated),
        families=[_group(g) for g in families],
        groups=[_group(g) for g in groups],
        strategies=strategies(run),
        redundant_conditions=redundant(run),
        may_widen=[_brief(r) for r in widening(run)],
        confirmed=confirmed_json(run),
        results=[_result(r, command) for r in run.results],
        timing={
            "seconds": round(run.seconds, 3),
            "jobs": run.jobs,
            "from_cache": sum(r.cached for r in run.results),
            "damaged_cache_entries": run.damaged_cache_entries,
            "refused_cache_entries": run.refused_cache_entries,
            "unkept": run.unkept,
            "lost_workers": run.lost_workers,
            "groups": {f"{g.family}: {g.name}": _times(g) for g in (*families, *groups) if g.results},
            "results": {r.obligation.name: round(r.verdict.seconds, 6) for r in run.results},
            "resources": {r.obligation.name: r.verdict.resources for r in run.results if r.verdict.resources},
        },
    )


def confirmed_json(run: Run) -> dict[str, Any] | None:
    """What the second solver confirmed, if one was asked."""
    return {"solver": run.confirm, "counts": confirmations(run)} if run.confirm else None


def _counts(results: Sequence[Result]) -> dict[str, int]:
    return {s.value: sum(r.verdict.status is s for r in results) for s in Status}


def _group(g: Group) -> dict[str, Any]:
    return {
        "family": g.family,
        "name": g.name,
        "claims": g.claims,
        "obligations": len(g.gated),
        "counts": _counts(g.gated),
    }


def _times(g: Group) -> dict[str, Any]:
    worst = g.slowest
    return {
        "median": round(g.median, 6),
        "worst": round(worst.verdict.seconds, 6) if worst else 0.0,
        "slowest": worst.obligation.name if worst else "",
    }


def _brief(r: Result) -> dict[str, Any]:
    o = r.obligation
    return {
        "claim": o.subject,
        "obligation": o.kind,
        "at": ordered_point(o, r.verdict.witness or {}),
    }


def _result(r: Result, command: str) -> dict[str, Any]:
    o, v = r.obligation, r.verdict
    out: dict[str, Any] = {
        "family": o.family,
        "claim": o.subject,
        "obligation": o.kind,
        "question": o.question,
        "gate": o.gate,
        "verdict": v.status.value,
        "passes": r.passes,
        "strategy": v.strategy,
    }
    if v.opinion is not None:
        out["confirmed"] = list(v.opinion.by)
    if v.witness is not None:
        role = "counterexample" if v.status in (Status.REFUTED, Status.UNDEFINED) else "example"
        out[role] = ordered_point(o, v.witness)
    if not v.proved:
        out |= {"where": o.where, "statement": o.claim, "tried": list(v.tried), "detail": v.detail}
    if v.status in (Status.REFUTED, Status.UNDEFINED) and v.witness is not None:
        out |= _evaluated(o, v.witness)
        out["again"] = again(o, v.witness, command)
    return out


def _evaluated(o: Obligation, witness: Mapping[str, int]) -> dict[str, Any]:
    """Every subterm and every condition at a point."""
    env = {v: witness[v.name] for v in o.formula_variables() if v.name in witness}
    return {
        "subterms": [{"side": side, "term": show(e), "value": _value(e, env)} for side, e in o.show],
        "hypotheses": [{"condition": show_condition(h), "holds": _truth(h, env)} for h in o.hypotheses],
        "goal": [{"condition": show_condition(c), "holds": _truth(c, env)} for c in conjuncts(o.goal)],
    }


def _value(e: Expr, env: Mapping[Var, int]) -> int | None:
    try:
        return int(e.evaluate(env))
    except (ZeroDivisionError, KeyError):
        return None


def _truth(c: Condition, env: Mapping[Var, int]) -> bool | None:
    try:
        return c.evaluate(env)
    except (ZeroDivisionError, KeyError):
        return None


def point_json(
    places: Sequence[tuple[Obligation, Place]], point: Mapping[str, int], exit_status: int
) -> dict[str, Any]:
    """The answer of ``prove --at``."""
    false = any(place == "counterexample" for _, place in places)
    verdict = Status.REFUTED.value if false else "HOLDS" if exit_status == 0 else Status.NOT_CHECKED.value
    return document(
        "prove --at",
        verdict,
        exit_status,
        point=dict(point),
        obligations=[
            {"claim": o.subject, "obligation": o.kind, "gate": o.gate, "here": place, **_evaluated(o, point)}
            for o, place in places
        ],
    )


# ------------------------------------------------------------------------------------------------------- maps
def map_json(m: IndexingMap) -> dict[str, Any]:
    """A map in both notations."""
    return {"text": format_map(m), "map": map_to_json(m)}


def answer_json(
    command: str, answer: Answer, exit_status: int, left: IndexingMap, right: IndexingMap, **more: Any
) -> dict[str, Any]:
    """The answer of ``equal``, and of ``simplify --validate`` about the maps before and after."""
    return document(
        command,
        answer.verdict.value,
        exit_status,
        **more,
        left=map_json(left),
        right=map_json(right),
        engine=answer.engine,
        tried=list(answer.tried),
        counterexample=None
        if answer.counterexample is None
        else counterexample_json(answer.counterexample, left, right),
        timing={"seconds": round(answer.seconds, 6)},
    )


def counterexample_json(c: Counterexample, left: IndexingMap, right: IndexingMap) -> dict[str, Any]:
    """A point where two maps differ."""
    from .maps import sides_at

    return {
        "values": dict(c.values),
        "left": None if c.left is None else list(c.left),
        "right": None if c.right is None else list(c.right),
        "reason": c.reason,
        "smallest": c.minimal,
        "subterms": [
            {"side": side, "term": term, "value": value} for side, term, value in sides_at(c, left, right)
        ],
    }


def record_json(r: Reduced) -> dict[str, Any]:
    """What became of the variables of a map that a transform changed."""
    return {
        "values": {name: format_expr(e) for name, e in r.values.items()},
        "removed": {name: [v.lo, v.hi] for name, v in r.unused.items()},
        "new_dims": list(r.new_dims),
    }
