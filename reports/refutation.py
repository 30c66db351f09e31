"""The block about a false claim: the smallest counterexample, the values of subterms, and possible repairs."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from ..core.blocks import point_text
from ..core.condition import Condition, parts_of, show_condition
from ..core.expr import Expr, Var, natural_key
from ..core.notation import show
from ..verify.obligation import STATED, Obligation
from ..verify.outcome import Result
from ..verify.verdict import Status
from .layout import block, joined

if TYPE_CHECKING:
    from ..verify.rulefiles import StatedRule

_NAME = re.compile(r"[^\W\d]\w*")

#: The outcome of an obligation at one assignment of integers.
Place = Literal["holds", "counterexample", "example", "not concerned", "no value"]


class AtPoint(NamedTuple):
    """The parts of a claim at a point; ``None`` for a condition without a value."""

    #: Side, term, and value; a string gives the reason for a missing value.
    subterms: list[tuple[str, str, int | str]]
    hypotheses: list[tuple[str, bool | None]]
    #: The parts of the goal.
    goal: list[tuple[str, bool | None]]


def stated_rule(o: Obligation) -> StatedRule | None:
    """Return the rule of a rule file that owes ``o``; ``None`` for other obligations."""
    return o.rule if o.family == STATED else None  # type: ignore[attr-defined]


def point_variables(o: Obligation) -> list[str]:
    """Return the names of the variables that a point must assign."""
    rule = stated_rule(o)
    return [v.name for v in _mentioned(o)] if rule is None else list(rule.variables)


def _mentioned(o: Obligation) -> list[Var]:
    found = {v for c in (*o.hypotheses, o.goal) for v in c.variables()}
    return sorted(found, key=lambda v: natural_key(v.name))


def evaluated(o: Obligation, point: Mapping[str, int]) -> AtPoint:
    """Evaluate every subterm, hypothesis and part of the goal; a rule of a rule file in its own arithmetic."""
    if (rule := stated_rule(o)) is not None:
        return _evaluated_rule(rule, point)
    mentioned = {v for c in (*o.hypotheses, o.goal) for v in c.variables()}
    mentioned |= {v for _, e in o.show for v in e.variables()}
    env = {v: point[v.name] for v in mentioned if v.name in point}
    return AtPoint(
        [(side, show(e), _value(e, env)) for side, e in o.show],
        [(show_condition(h), _truth(h, env)) for h in o.hypotheses],
        [(show_condition(c), _truth(c, env)) for c in parts_of(o.goal)],
    )


def _evaluated_rule(rule: StatedRule, point: Mapping[str, int]) -> AtPoint:
    from ..verify.rulefiles import Missing, judge, show, subterms, truth, values

    found = []
    for side, root in (("left", rule.left), ("right", rule.right)):
        of = values((root,), point, rule.semantics)
        for t in subterms(root):
            x = of[id(t)]
            found.append((side, show(t), f"no value: {x.value}" if isinstance(x, Missing) else x))
    hypotheses: list[tuple[str, bool | None]] = []
    for c in rule.conditions:
        held = truth(c, point, rule.semantics)
        hypotheses.append((show(c), None if isinstance(held, Missing) else held))
    outside = ((f"{v} = {point[v]} {why}", False) for v, why in _outside(rule, point))
    holds = judge(rule, point) in ("holds", "not concerned")
    return AtPoint(found, [*hypotheses, *outside], [(rule.statement(), holds)])


def _outside(rule: StatedRule, point: Mapping[str, int]) -> Iterator[tuple[str, str]]:
    """Yield the variables with values out of range, and the reason."""
    s = rule.semantics
    for v, kind in rule.variables.items():
        if kind.name != "bool":
            if s.width and not s.lo <= point[v] <= s.hi:
                yield v, f"is no integer of {s.width} bits"
            elif (kind.lo is not None and point[v] < kind.lo) or (kind.hi is not None and point[v] > kind.hi):
                yield v, f"lies outside [{kind.lo}, {kind.hi}]"


def ordered_point(o: Obligation, witness: Mapping[str, int]) -> dict[str, int]:
    """Return ``witness`` in the order in which the claim mentions its variables; unmentioned variables come last."""
    if (rule := stated_rule(o)) is not None:
        return {v: witness[v] for v in rule.variables}
    mentioned: dict[str, int] = {}
    for found in _NAME.finditer(o.claim):
        mentioned.setdefault(found[0], len(mentioned))

    def place(name: str) -> tuple[object, ...]:
        # a measure such as |x| is sorted with x
        bare = name.strip("|‖⁻°↺")
        return mentioned.get(bare, len(mentioned)), natural_key(name)

    return {name: witness[name] for name in sorted(witness, key=place)}


def _take(o: Obligation, witness: Mapping[str, int]) -> tuple[str, str]:
    """Return the labelled line with the values of variables."""
    said = values_text(ordered_point(o, witness), stated_rule(o))
    return "take", said or "nothing: there are no variables"


def values_text(point: Mapping[str, int], rule: StatedRule | None) -> str:
    """Return variables and values as ``x = 1, p = true``; a rule of a rule file may have boolean variables."""
    true = {v for v, kind in rule.variables.items() if kind.name == "bool"} if rule is not None else ()
    return ", ".join(f"{v} = {_text(x != 0)}" if v in true else point_text({v: x}) for v, x in point.items())


def again(o: Obligation, witness: Mapping[str, int], command: str = "indexproof prove") -> str:
    """Return the command that evaluates the claim at this point."""
    name = o.subject if o.kind == "sound" else o.name
    at = ",".join(f"{n}={x}" for n, x in ordered_point(o, witness).items())
    return f"{command} {shlex.quote(name)}" + (f" --at {shlex.quote(at)}" if at else "")


def _value(e: Expr, env: Mapping[Var, int]) -> int | str:
    """Return the value of ``e``, or the reason why it has none."""
    try:
        return int(e.evaluate(env))
    except ZeroDivisionError:
        return "no value: division by zero"
    except KeyError as missing:
        return f"depends on {missing.args[0]}"


def _text(value: int | str) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _truth(c: Condition, env: Mapping[Var, int]) -> bool | None:
    try:
        return c.evaluate(env)
    except (ZeroDivisionError, KeyError):
        return None


def head_of(o: Obligation, status: str) -> str:
    """Return the first line of a block: verdict, claim and place in the source."""
    return joined([f"{status}  {o.subject}", o.where])


def explain(result: Result, **how: Any) -> str:
    """Return the block about a result that did not pass; see :func:`explanation` for the arguments."""
    head = head_of(result.obligation.in_full(), result.verdict.status.value)
    return block(head, explanation(result, **how))


def explanation(
    result: Result, *, with_repairs: bool = True, command: str = "indexproof prove", also: str = ""
) -> list[tuple[str, str]]:
    """Return labelled lines about a result that did not pass.

    ``command`` repeats it when followed by the name of the claim; ``also`` lists other instances that fail alike.
    Repairs are found by asking the prover more questions, which takes a moment.
    """
    o, v = result.obligation.in_full(), result.verdict
    lines = _claim(o)
    if also:
        lines.append(("fails in", also))
    match v.status:
        case Status.REFUTED | Status.UNDEFINED:
            witness = v.witness or {}
            lines += [_take(o, witness), *_values(o, evaluated(o, witness))]
            lines += [("repair", said) for said in _repairs(o, with_repairs)]
            lines.append(("again", again(o, witness, command)))
        case Status.VACUOUS if o.kind.startswith("needs "):
            lines.append(("means", "the other conditions imply this one, or the claim is true without it"))
        case Status.VACUOUS:
            lines.append(("means", "no integers satisfy the conditions, so the claim says nothing"))
        case Status.UNDECIDED:
            lines += [("tried", ", ".join(v.tried)), ("budget", v.detail or "exhausted")]
            lines += [] if o.family == STATED else [("question", o.statement())]
            name = o.subject if o.family == STATED else o.name
            lines.append(("again", f"{command} {shlex.quote(name)} --budget 10"))
        case Status.NOT_CHECKED:
            lines.append(("because", v.detail))
        case Status.PROVED:
            lines.append(("but", f"the file expects the verdict {o.expected}"))
    return lines


def _claim(o: Obligation) -> list[tuple[str, str]]:
    rule = stated_rule(o)
    return [("claim", o.claim), ("owes", o.kind) if rule is None else ("meaning", str(rule.semantics))]


def _repairs(o: Obligation, with_repairs: bool) -> Iterator[str]:
    """Yield lines about conditions that make the claim true, each of them proved."""
    rule = stated_rule(o)
    if with_repairs and rule is not None:
        from ..verify.rulefiles import show
        from ..verify.rulefiles.repair import weakest_repairs

        first, *others = [*map(show, weakest_repairs(rule)), ""]
        none = "none of the candidate conditions makes it true"
        said = f"true with the condition  {first}" if first else none
        yield said + (f"\nor with  {';  '.join(others[:-1])}" if others[1:] else "")
    if with_repairs and o.family in ("rule", "constraint rule") and o.kind.startswith(("sound", "defined")):
        from ..verify.repair import repairs

        if found := repairs(o):
            yield f"provable after adding any one of:  {';  '.join(map(show_condition, found))}"
    if o.kind.startswith("as compiled"):
        # imported lazily: other refutations do not load the rules
        from ..rules.catalog import outdated_code

        if outdated_code():
            yield "the code was generated from other rules: run `indexproof dev docs`"


def _values(o: Obligation, at: AtPoint, failing: bool = True) -> Iterator[tuple[str, str]]:
    """Yield labelled lines: values of subterms, truth of hypotheses, and if ``failing`` the false goals."""
    if o.kind == "progress":
        yield from _hypotheses(at)
        # subterms are labelled "left weight", "right weight" and so on, in lexicographic order
        terms = [(label, x) for label, _, x in at.subterms]
        sides = [[t for t in terms if t[0].startswith(s)] for s in ("left ", "right ")]
        left, right = (f"({', '.join(_text(x) for _, x in side)})" for side in sides)
        if failing:
            yield "fails", f"the right side is not smaller: {right} against {left}"
            yield "", f"measured by ({', '.join(label.partition(' ')[2] for label, _ in sides[0])})"
        return
    for side, term, value in at.subterms:
        yield side, f"{term} = {_text(value)}"
    yield from _hypotheses(at)
    if failing and o.family != STATED:
        for text, truth in at.goal:
            if truth is not True:
                yield "fails", text + ("" if truth is False else "   (it has no value here)")


def _hypotheses(at: AtPoint) -> Iterator[tuple[str, str]]:
    for label, wanted in (("holds", True), ("false", False), ("no value", None)):
        if said := ",  ".join(text for text, truth in at.hypotheses if truth is wanted):
            yield label, said


# -------------------------------------------------------------------------------------------------- one point
def holds_at(o: Obligation, point: Mapping[str, int]) -> Place | None:
    """Evaluate ``o`` at ``point``; ``None`` if the point leaves a variable unassigned."""
    if (rule := stated_rule(o)) is not None:
        from ..verify.rulefiles import judge

        outcome = judge(rule, point) if all(v in point for v in rule.variables) else None
        return "counterexample" if outcome == "undefined" else outcome
    variables = _mentioned(o)
    if any(v.name not in point for v in variables):
        return None
    env = {v: point[v.name] for v in variables}
    try:
        if not all(h.evaluate(env) for h in o.hypotheses):
            return "not concerned"
        true = o.goal.evaluate(env)
    except ZeroDivisionError:
        return "no value"
    if o.question == "exists":
        return "not concerned" if true else "example"
    return "holds" if true else "counterexample"


_SAYS: dict[Place, str] = {
    "holds": "holds here",
    "counterexample": "false here: this is a counterexample",
    "example": "true: this is an example",
    "not concerned": "says nothing here: a hypothesis is false",
    "no value": "has no value here: division by zero",
}


def at_point(o: Obligation, point: Mapping[str, int], place: Place) -> str:
    """Return a block about one obligation at one point: both sides, the conditions and the outcome."""
    known_as = {"counterexample": Status.REFUTED.value, "holds": "HOLDS", "example": "HOLDS"}
    at = evaluated(o, point)
    failing = place in ("counterexample", "no value") and o.question == "valid"
    known = {v: point[v] for v in point_variables(o) if v in point}
    lines = [*_claim(o), _take(o, known), *_values(o, at, failing)]
    says = _SAYS[place]
    if o.family == STATED and place == "not concerned" and all(truth for _, truth in at.hypotheses):
        says = "says nothing here: the left side has no value"
    lines.append(("so", f"{o.kind}: {says}"))
    return block(head_of(o, known_as.get(place, "NO ANSWER")), lines)
