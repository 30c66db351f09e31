"""Derivations as text: every step with its position, its rule, its substitution and the facts that it uses."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from ..core.condition import Condition, Truth, all_exprs, show_condition
from ..core.derivation import Derivation, DerivationStep, MapChange, RuleStep, expect_derivation
from ..core.derivation_json import TRACE, derivation_from_json, trace_from_json
from ..core.explain import UnexplainedError, explained, replayed
from ..core.expr import Expr, Int, postorder, var
from ..core.facts import Facts
from ..core.indexing_map import Constraint, IndexingMap
from ..core.interval import Interval
from ..core.notation import show
from ..core.rewrite import ConstraintRule, Rule, RuleSet
from ..core.text import format_map
from ..verify.derivation import Checked, DerivationRefused
from .layout import block
from .serializer import document

#: Longer expressions are cut around the subexpression that a step rewrites.
_WIDTH = 160
_OPEN, _CLOSE = "⟦", "⟧"


def derivation_text(derivation: Derivation) -> str:
    """Return all steps, numbered, or a sentence if there are none."""
    expect_derivation(derivation)
    blocks = [step_text(n, step, m) for n, (step, m) in enumerate(replayed(derivation), 1)]
    return "\n".join(blocks) or "no rule applies"


def step_text(number: int, step: DerivationStep, m: IndexingMap) -> str:
    """Return one step as a block of labelled lines; ``m`` is the map before the pass that the step belongs to."""
    if isinstance(step, MapChange):
        lines = [("from", format_map(step.before)), ("to", format_map(step.after))]
        return block(f"{number}  {step.why}", lines)
    lines = []
    if isinstance(step, RuleStep):
        head = f"{number}  {step.rule.name}   in {step.position}"
        lines.append(("says", f"{_cut(show(step.before))}  →  {_cut(show(step.after))}"))
        root = _root(step, m)
        if root is not step.before and step.before in postorder(root):
            lines.append(("in", _marked(root, step.before)))
        own = step.position.number if step.position.part == "constraint" else -1
        others = tuple(c for k, c in enumerate(m.constraints) if k != own)
    else:
        head = f"{number}  {step.rule.name}   in the constraints"
        lines.append(("says", f"{_all(step.before)}  ⇔  {_all(step.after)}"))
        others = tuple(c for c in m.constraints if c not in step.before)
    return block(head, [*lines, *_reasons(step.rule, step.binding, m, others)])


def steps_json(derivation: Derivation) -> list[dict[str, Any]]:
    """Return all steps as text, for programs that display them.

    :mod:`indexproof.core.derivation_json` is for those that check them.
    """
    out: list[dict[str, Any]] = []
    said: Any
    place: dict[str, Any]
    for step, m in replayed(derivation):
        if isinstance(step, MapChange):
            name, said, place, binding = step.why, format_map, {"part": "map"}, {}
        else:
            name, binding = step.rule.name, {n: show(e) for n, e in step.binding.items()}
            if isinstance(step, RuleStep):
                part, index = step.position
                said = show
                place = {"part": part, "index": index, "path": _path(_root(step, m), step.before)}
            else:
                said, place = _each, {"part": "constraints"}
        sides = {"before": said(step.before), "after": said(step.after)}
        out.append({"rule": name, **sides, "binding": binding, "position": place})
    return out


# ---------------------------------------------------------------------------------------------- replaying
def read_derivation(data: Any, rules: RuleSet) -> Derivation:
    """Read a derivation from JSON: its own format, that of ``simplify --json``, or a trace of the native library."""
    if isinstance(data, Mapping) and "derivation" in data:
        data = data["derivation"]
    if not isinstance(data, Mapping) or data.get("format") != TRACE:
        return derivation_from_json(data, rules)
    before, after, trace = trace_from_json(data, rules)
    try:
        return explained(before, after, trace)
    except UnexplainedError:
        # the checker refuses a derivation without steps, and says where the maps differ
        return Derivation(before, after, ())


def replay_json(
    derivation: Derivation, checked: Checked | None, refused: DerivationRefused | None, exit_status: int
) -> dict[str, Any]:
    """Return the answer of ``replay`` about a derivation."""
    return document(
        "replay",
        "PROVED" if refused is None else "REFUTED",
        exit_status,
        steps=len(derivation),
        rules=derivation.rules(),
        conditions=dict(sorted(checked.decided_by().items())) if checked else {},
        removed_dims=checked.removed_dims if checked else [],
        new_dims=checked.new_dims if checked else [],
        refused=refused and {"step": refused.step, "reason": refused.reason},
        left=derivation.before,
        right=derivation.after,
    )


def _root(step: RuleStep, m: IndexingMap) -> Expr:
    """Return the expression at the position of the step."""
    part, index = step.position
    if part == "result":
        return m.results[index]
    if part == "constraint":
        return m.constraints[index].expr
    return m.source_indices[index]


def _path(root: Expr, at: Expr) -> list[int] | None:
    """Return the shortest path from ``root`` down to ``at`` as child numbers; ``None`` if ``at`` does not occur."""
    way: dict[Expr, tuple[Expr, int] | None] = {root: None}
    reached = [root]
    for e in reached:
        for number, child in enumerate(e.children):
            if child not in way:
                way[child] = e, number
                reached.append(child)
    if at not in way:
        return None
    path: list[int] = []
    while (step := way[at]) is not None:
        at, number = step
        path.insert(0, number)
    return path


def _marked(root: Expr, at: Expr) -> str:
    """Return ``root`` as text with ``at`` in brackets."""
    if root is at:
        return f"{_OPEN}{_cut(show(at))}{_CLOSE}"
    inside = _cut(show(at))
    text = show(root.substitute({at: var(f"{_OPEN}{inside}{_CLOSE}")}))
    if len(text) <= _WIDTH:
        return text
    start = text.find(_OPEN)
    spare = max(_WIDTH - len(inside), 40) // 2
    low, high = max(start - spare, 0), min(start + len(inside) + 2 + spare, len(text))
    return ("…" if low else "") + text[low:high] + ("…" if high < len(text) else "")


def _cut(text: str) -> str:
    return text if len(text) <= _WIDTH else f"{text[: _WIDTH // 2]} … {text[-_WIDTH // 2 :]}"


def _all(constraints: Iterable[Constraint]) -> str:
    return " and ".join(_each(constraints)) or "true"


def _each(constraints: Iterable[Constraint]) -> list[str]:
    return [f"{_cut(show(c.expr))} ∈ [{c.lo}, {c.hi}]" for c in constraints]


def _reasons(
    rule: Rule | ConstraintRule, binding: Mapping[str, Expr], m: IndexingMap, constraints: tuple[Constraint, ...]
) -> Iterator[tuple[str, str]]:
    """Yield the substitution, and each condition on variables with the facts that imply it."""
    yield "with", _cut(",  ".join(f"{n} = {show(e)}" for n, e in binding.items()))
    values = {v: binding[v.name] for v in rule.variables}
    for c in rule.when:
        here = c.substitute(values)
        if not isinstance(here, Truth) and here.variables():
            facts = ",  ".join(_facts(here, m, constraints))
            yield "since", _cut(show_condition(here)) + (f"   from {facts}" if facts else "")


def _facts(c: Condition, m: IndexingMap, constraints: tuple[Constraint, ...]) -> list[str]:
    """Return the boxes and constraints from which interval arithmetic derives a condition."""
    boxes = m.bounds
    mentioned = set(postorder(*all_exprs(c)))
    box = [f"{v.name} ∈ [{v.lo}, {v.hi}]" for v in m.variables if v.expr in mentioned]
    known = [(k.expr, Interval(k.lo, k.hi)) for k in constraints if not isinstance(k.expr, Int)]
    if Facts(boxes).holds(c):
        return box
    # drop constraints greedily while the others still imply the condition
    needed = known
    for one in known if Facts(boxes, known).holds(c) else ():
        fewer = [k for k in needed if k is not one]
        if Facts(boxes, fewer).holds(c):
            needed = fewer
    return [*box, *(f"{_cut(show(e))} ∈ {inside}" for e, inside in needed)]
