"""The document of `indexproof report`, and the web page that shows it.

The page is one HTML file with the document, and the styles and scripts of ``reports/site``.  It needs no network.
"""

from __future__ import annotations

import itertools
import json
import random
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from math import prod
from typing import Any
from xml.etree import ElementTree

from ..core.condition import Condition, all_of
from ..core.errors import InputError
from ..core.expr import Var
from ..core.hlo import AnyShape, Computation, Module, leaves
from ..core.hlo.shape import Shape
from ..core.indexing_map import IndexingMap
from ..core.op import DIRECTIONS, Case, concrete
from ..core.text import format_map
from ..rules.simplifier import simplify
from ..verify.analysed import ComputationReport
from ..verify.claims import Comparison, Dependence, Simplification, builtin_claims
from ..verify.modules import ModuleVerifier
from ..verify.outcome import Result, Run
from ..verify.rulefiles import StatedRule
from ..verify.verdict import Status, worst
from .catalogue import claim_lines, document_of, example_of, map_lines, statement_of
from .layout import filled
from .machine import confirmed_json, counted, result_json
from .refutation import evaluated, holds_at
from .rule_files import rules_json
from .selection import Named, by_group
from .serializer import document, plain
from .summary import Group, confirmed_by, failing, grouped, instances, redundant, strategies, widening

#: The plot around a counterexample extends this far to both sides.
_REACH = 8
#: The largest integer that JavaScript reads exactly from JSON.
_EXACT = 2**53 - 1
#: At most this many maps are simplified to count which rules fire.
_LOOKED_AT = 1000
#: Number of random choices of sizes that are tried for the example of an op.
_TRIES = 250
_VALUES = (0, 1, 1, 2, 2, 3, 3, 4, 5, 6)


# --------------------------------------------------------------------------------------------------------- claims
def prove_section(
    run: Run, claims: Sequence[Named], command: str, certificates: Mapping[str, str] = {}
) -> dict[str, Any]:
    """Return the verdicts of claims: counts, and a page for every rule, law and op.

    ``certificates`` maps the name of an obligation to the file of its certificate.
    """
    families, groups = grouped(run, claims)
    of = by_group(claims)
    first = {wrong[0].obligation.name: instances(wrong, claims) for wrong in failing(run, claims)}
    stated = [c for c in claims if isinstance(c.claim, StatedRule)]
    entries = {e["name"]: e for e in rules_json(run, stated, command)["rules"]} if stated else {}
    needless = redundant(run)
    wide = {r.obligation.subject: r for r in widening(run)}
    return {
        "command": command,
        "interrupted": run.interrupted,
        "seconds": run.seconds,
        "from_cache": sum(r.cached for r in run.results),
        "counts": counted(r.verdict.status for r in run.gated),
        "families": families,
        "strategies": strategies(run),
        "confirmed": confirmed_json(run),
        "pages": [
            {
                **_page(g, of[g.family, g.name], command, certificates, first),
                "redundant": needless.get(g.name, ()),
                "overflows": dict(wide[g.name].verdict.witness or {}) if g.name in wide else None,
                **_stated(entries.get(g.name)),
            }
            for g in groups
        ],
    }


def _page(
    g: Group, of: Sequence[Named], command: str, certificates: Mapping[str, str], first: Mapping[str, str]
) -> dict[str, Any]:
    """Return the page of a rule, law or op; ``first`` maps results to explain to the instances that fail alike."""
    claim = of[0].claim
    cases = [c.claim for c in of if isinstance(c.claim, Case)]
    owed: dict[str, list[list[Any]]] = {c.name: [] for c in of}
    for r in g.results:
        owed[r.obligation.subject].append(_row(r, certificates))
    false = [(r, first[r.obligation.name]) for r in g.results if r.obligation.name in first]
    return {
        "family": g.family,
        "name": g.name,
        "verdict": worst([r.verdict.status for r in g.gated]) if g.gated else Status.NOT_CHECKED,
        "passes": bool(g.gated) and all(r.passes for r in g.gated),
        "seconds": sum(r.verdict.seconds for r in g.results),
        "where": next((r.obligation.where for r in g.results if r.obligation.where), ""),
        "doc": document_of(claim),
        "statement": statement_of(claim),
        "lines": map_lines(example_of(cases)) if cases else claim_lines(claim),
        "owed": owed,
        "failed": [{**result_json(r, command), "also": also, "picture": _picture(r)} for r, also in false],
        "op": _example(cases) if cases else None,
    }


def _row(r: Result, certificates: Mapping[str, str]) -> list[Any]:
    """Return one obligation as a row: kind, verdict, strategy, seconds, gate, confirmed by, certificate."""
    o, v = r.obligation, r.verdict
    return [o.kind, v.status, v.strategy, v.seconds, o.gate, confirmed_by(r), certificates.get(o.name, "")]


def _stated(entry: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return the additions for a rule of a rule file: unneeded conditions, overflows, repairs."""
    if entry is None:
        return {}
    added = {key: entry[key] for key in ("redundant", "unsettled", "overflows", "repairs") if key in entry}
    if not entry["passes"]:
        keys = ("counterexample", "subterms", "hypotheses", "goal", "again", "tried", "detail")
        added["stated"] = {key: entry[key] for key in keys if key in entry}
    return added


def _picture(r: Result) -> list[dict[str, Any]]:
    """Return plots around a counterexample: both sides along each variable, with the other variables fixed."""
    o, witness = r.obligation, dict(r.verdict.witness or {})
    refuted = r.verdict.status in (Status.REFUTED, Status.UNDEFINED)
    if not refuted or not {"left", "right"} <= {side for side, *_ in evaluated(o, witness).subterms}:
        return []
    drawn = []
    for name, centre in witness.items():
        points = []
        for x in range(centre - _REACH, centre + _REACH + 1):
            point = {**witness, name: x}
            # the last term of a side is the whole side
            sides = {side: value for side, _, value in evaluated(o, point).subterms}
            values = (sides["left"], sides["right"])
            known = (None if isinstance(value, str) else int(value) for value in values)
            points.append([x, *known, holds_at(o, point)])
        drawn.append({"variable": name, "at": centre, "points": points})
    return drawn


# ------------------------------------------------------------------------------------------------------------ ops
def _example(cases: Sequence[Case]) -> dict[str, Any] | None:
    """Return a small numeric instance of an op, for its picture; ``None`` if none is found."""
    usual = example_of(cases)

    def order(case: Case) -> tuple[Any, ...]:
        # two-dimensional arrays give the best pictures
        unlike = sum(abs(len(x) - 2) for x in (case.op.shape(*case.shapes), *case.shapes))
        return unlike, case is not usual, -len(case.symbols), case.label

    for case in sorted(cases, key=order)[:4]:
        chance = random.Random(0)
        hypotheses = all_of(case.hypotheses)
        points = ({v: chance.choice(_VALUES) for v in case.symbols} for _ in range(_TRIES))
        if found := [drawn for p in points if (drawn := _instance(case, hypotheses, p)) is not None]:
            return max(found, key=lambda drawn: drawn[0])[1]
    return None


def _instance(
    case: Case, hypotheses: Condition, point: Mapping[Var, int]
) -> tuple[tuple[int, ...], dict[str, Any]] | None:
    """Return an instance with these numbers and its merit; ``None`` if there is none of a suitable size."""
    try:
        if not hypotheses.evaluate(point):
            return None
        op, shapes = case.instance(point)
        output = [int(n.evaluate({})) for n in op.shape(*shapes)]
        arrays = [output, *shapes]
        elements = [*map(prod, arrays)]
        if min(elements) < 1 or max(elements) > 150 or max(map(max, filter(None, arrays))) > 12:
            return None
        maps = [simplify(concrete(op, k, DIRECTIONS[0], shapes), keep_points=True) for k in range(op.arity)]
    except (InputError, ZeroDivisionError, ValueError):
        return None
    different = len({*point.values()}) + len({*output})
    merit = sum(n > 1 for n in output), different, -abs(sum(elements) - 50)
    shown = {"text": op.text(), "output": output, "operands": shapes}
    return merit, {**shown, "maps": [[plain(m)] for m in maps]}


# -------------------------------------------------------------------------------------------------------- modules
def module_section(
    file: str, module: Module, watch: Callable[[str], object] = str, corpus: dict[IndexingMap, str] | None = None
) -> dict[str, Any]:
    """Return a module for the explorer: what each instruction reads of its operands, and what is proved of that.

    Maps are added to ``corpus`` before simplification, each with the place of its instruction.
    """
    verifier = ModuleVerifier(module)
    module = verifier.module
    numbered: dict[IndexingMap, int] = {}
    computations = []
    for computation in module.callees_first:
        proved = verifier.check(computation)
        computations.append(_computation(verifier, computation, proved, numbered))
        watch(computation.name)
        if corpus is not None:
            for i in computation.instructions:
                for reads in verifier.maps.instruction(i, computation, DIRECTIONS[0]).leaves.values():
                    corpus |= {m: f"{file}:{i.line}" for m in reads.maps if m not in corpus}
    verdict = worst([Status(c["verdict"]) for c in computations])
    named = {"file": file, "name": module.name, "entry": module.entry.name, "verdict": verdict}
    return {**named, "computations": computations, "maps": list(numbered)}


def _computation(
    verifier: ModuleVerifier, c: Computation, proved: ComputationReport, numbered: dict[IndexingMap, int]
) -> dict[str, Any]:
    answers: dict[str, list[list[str]]] = {}
    for q in proved.checked:
        answers.setdefault(q.where, []).append([q.kind, q.status.value, q.detail])
    names = {i.name for i in c.instructions}
    return {
        "name": c.name,
        "verdict": proved.status,
        "questions": proved.counts,
        "seconds": proved.seconds,
        "failed": [[q.kind, q.where, q.status, q.detail] for q in proved.failed],
        "whole": {where: _tallied(of) for where, of in answers.items() if where not in names},
        "instructions": [
            {
                "name": i.name,
                "opcode": i.opcode,
                "line": i.line,
                "text": str(i)[:400],
                "arrays": [[*a] for a in _arrays(i.shape)],
                "reads": list(_edges(verifier, c, at, numbered)),
                "called": list(i.called),
                "proofs": _tallied(answers.get(i.name, ())),
            }
            for at, i in enumerate(c.instructions)
        ],
        "root": c.root_index,
    }


def _arrays(shape: AnyShape | None) -> Iterator[tuple[str, list[int] | None]]:
    for _, array in () if shape is None else leaves(shape):
        yield str(array), list(array.dims) if isinstance(array, Shape) else None


def _edges(verifier: ModuleVerifier, c: Computation, at: int, numbered: dict[IndexingMap, int]) -> Iterator[list[Any]]:
    """Yield the edges to operands: own array, position of the operand, its array, maps, unknown, at most."""
    i, places = c.instructions[at], c.operand_positions[at]
    found = verifier.maps.instruction(i, c, DIRECTIONS[0]).leaves if i.operands else {}
    for (root, number, leaf), reads in found.items():
        if places[number] >= 0:
            maps = [numbered.setdefault(verifier.simplify(m), len(numbered)) for m in reads.maps]
            notes = [[*map(str, reads.unknown)], [*map(str, reads.at_most)]]
            yield [root, places[number], leaf, maps, *notes]


def _tallied(answers: Iterable[Sequence[str]]) -> list[list[Any]]:
    """Merge equal questions (kind, verdict and detail) and append their number."""
    return [[*answer, n] for answer, n in Counter(map(tuple, answers)).items()]


def add_comparisons(sections: Iterable[Mapping[str, Any]], junit: str) -> None:
    """Add the comparison with jax to the page of each op, from the JUnit text of tests/oracle/test_ops_jax.py.

    Raises :class:`InputError` for other text.
    """
    try:
        cases = [*ElementTree.fromstring(junit).iter("testcase")]
    except ElementTree.ParseError as error:
        line, column = error.position
        said = f"this is no JUnit file: {error}"
        raise InputError(said, line=line, column=column + 1, source=junit) from None
    tally: dict[str, dict[str, int]] = {}
    for case in cases:
        found = re.fullmatch(r"test_reads_is_what_jax_computes\[(.+)-\d+\]", case.get("name", ""))
        if found and case.get("classname", "").endswith("test_ops_jax"):
            wrong = case.find("failure") is not None or case.find("error") is not None
            outcome = "differ" if wrong else "skipped" if case.find("skipped") is not None else "agree"
            tally.setdefault(found[1], {"agree": 0, "differ": 0, "skipped": 0})[outcome] += 1
    if not tally:
        expected = "a run of tests/oracle/test_ops_jax.py"
        raise InputError("no test in this file compares ops with jax", expected=expected)
    for page in (p for s in sections for p in s["pages"] if p["family"] == "op"):
        page["jax"] = tally.get(page["name"])


# ------------------------------------------------------------------------------------------------- rules at work
def published_maps() -> dict[IndexingMap, str]:
    """Return the maps of the claims files in the package, each with the place of its first occurrence."""
    found: dict[IndexingMap, str] = {}
    for name, c in ((f.filename, c) for f in builtin_claims() for c in f.claims):
        maps: Sequence[IndexingMap] = ()
        match c.statement:
            case Simplification(before=m) | Comparison(left=IndexingMap() as m):
                maps = [m]
            case Dependence(maps=maps):
                pass
        for m in maps:
            found.setdefault(m, f"{name}:{c.line}")
    return found


def add_firings(sections: Iterable[Mapping[str, Any]], corpus: Mapping[IndexingMap, str]) -> None:
    """Add to the page of each rule the number of maps in ``corpus`` on which it fires, and the shortest one."""
    pages = {p["name"]: p for s in sections for p in s["pages"] if p["family"] in ("rule", "constraint rule")}
    fired: dict[str, list[tuple[int, str, str, str]]] = {name: [] for name in pages}
    for m, where in itertools.islice(corpus.items(), _LOOKED_AT if pages else 0):
        derivation = simplify(m, explain=True)
        before, after = format_map(m), format_map(derivation.after)
        for name in derivation.rules():
            if name in fired:
                fired[name].append((len(before), where, before, after))
    for name, found in fired.items():
        shortest = zip(("where", "before", "after"), min(found)[1:], strict=True) if found else None
        example = shortest and dict(shortest)
        pages[name]["fired"] = {"maps": len(found), "of": min(len(corpus), _LOOKED_AT), "example": example}


# ------------------------------------------------------------------------------------------------------- two runs
def verdicts_in(data: Mapping[str, Any]) -> dict[str, str]:
    """Return the verdicts of a document by name, for documents of `report`, `prove`, `check` or `hlo`."""
    found: dict[str, str] = {}
    for section in data.get("proved", ()):
        for page in section["pages"]:
            for claim, owed in page["owed"].items():
                found |= {f"{claim}: {kind}": verdict for kind, verdict, *_ in owed}
    for checked in (*data.get("checked", ()), data):
        for file in checked.get("files", ()):
            found |= {f"{file['file']}: {c['name']}": c["verdict"] for c in file["claims"]}
    for m in data.get("modules", ()):
        found |= {f"{m['name']}: {c['name']}": c["verdict"] for c in m["computations"]}
    found |= {f"{r['claim']}: {r['obligation']}": r["verdict"] for r in data.get("results", ())}
    found |= {f"{r['name']}: sound": r["verdict"] for r in data.get("rules", ())}
    for u in data.get("units", ()):
        if "verified" in u:
            found[f"{data['module']}: {u['name']}"] = u["verified"]["verdict"]
    return found


def compared(old: Mapping[str, Any], new: Mapping[str, Any]) -> dict[str, Any]:
    """Compare the verdicts of two documents: each change as name, verdict before, verdict now (``null`` for none)."""
    before, now = verdicts_in(old), verdicts_in(new)
    both = [[name, before.get(name), now.get(name)] for name in {**before, **now}]
    good = Status.PROVED.value
    rows = sorted((r for r in both if r[1] != r[2]), key=lambda r: (r[1] != good, r[2] is not None, r[0]))
    return {
        "before": len(before),
        "now": len(now),
        "lost": sum(b == good and n != good for _, b, n in rows),
        "gained": sum(b != good and n == good for _, b, n in rows),
        "changes": rows,
    }


# ----------------------------------------------------------------------------------------------------------- page
def report_document(
    proved: Sequence[Mapping[str, Any]],
    checked: Sequence[Mapping[str, Any]],
    modules: Sequence[Mapping[str, Any]],
    status: Status,
    exit_status: int,
    old: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Return the document of `report` from its sections: of `prove`, of `check`, and of modules."""
    data = document("report", status, exit_status, proved=proved, checked=checked, modules=modules)
    return {**data, "compared": None if old is None else compared(old, data)}


def page_of(data: Mapping[str, Any]) -> str:
    """Return the web page that shows a document."""
    text = json.dumps(_exact(data), ensure_ascii=False, separators=(",", ":"))
    # names must not end the script element or begin an HTML comment
    text = text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")
    styles, script = (filled(f"site/page.{suffix}", {}) for suffix in ("css", "js"))
    return filled("site/page.html", {"STYLES": styles, "SCRIPT": script, "DATA": text})


def _exact(value: Any) -> Any:
    """Replace the integers that JavaScript cannot read exactly by strings."""
    if isinstance(value, Mapping):
        return {key: _exact(part) for key, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [_exact(part) for part in value]
    return str(value) if type(value) is int and abs(value) > _EXACT else value
