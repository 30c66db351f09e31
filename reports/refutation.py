"""The block that answers a false claim: the smallest counterexample, every subterm's value, and what would
repair it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Literal

from ..core.blocks import point_text
from ..core.condition import And, Condition, show_condition
from ..core.expr import Expr, Var, natural_key
from ..core.notation import show
from ..verify.obligation import Obligation
from ..verify.outcome import Result
from ..verify.verdict import Status, Verdict
from .layout import block, joined

__all__ = [
    "Place",
    "again",
    "at_point",
    "conjuncts",
    "explain",
    "explanation",
    "holds_at",
    "ordered_point",
    "point_text",
    "value_text",
]

_NAME = re.compile(r"[^\W\d]\w*")

#: What an obligation says about one assignment of integers.
Place = Literal["holds", "counterexample", "example", "not concerned", "no value"]


def ordered_point(o: Obligation, witness: Mapping[str, int]) -> dict[str, int]:
    """``witness`` in the order in which the claim mentions its variables; what it does not mention comes
    last.
    """
    mentioned: dict[str, int] = {}
    for found in _NAME.finditer(o.claim):
        mentioned.setdefault(found[0], len(mentioned))

    def place(name: str) -> tuple[object, ...]:
        # a measure such as |x| stands where x stands
        bare = name.strip("|‖⁻°↺")
        return mentioned.get(bare, len(mentioned)), natural_key(name)

    return {name: witness[name] for name in sorted(witness, key=place)}


def again(o: Obligation, witness: Mapping[str, int], command: str = "indexproof prove") -> str:
    """The command that evaluates the claim at this point."""
    name = o.subject if o.kind == "sound" else o.name
    at = ",".join(f"{n}={x}" for n, x in ordered_point(o, witness).items())
    quoted = (_shell(part) for part in (name, at))
    return " ".join([command, next(quoted), "--at", next(quoted)])


def _shell(word: str) -> str:
    """``word`` as one word of a POSIX shell."""
    return word if re.fullmatch(r"[\w=,.:/-]+", word, re.ASCII) else "'" + word.replace("'", "'\\''") + "'"


def _variables(o: Obligation) -> set[Var]:
    """Return the variables of all hypotheses, also of one that a goal without variables makes idle."""
    return {v for c in (*o.hypotheses, o.goal) for v in c.variables()}


def _environment(o: Obligation, witness: Mapping[str, int]) -> dict[Var, int]:
    return {v: witness[v.name] for v in _variables(o) if v.name in witness}


def value_text(e: Expr, env: Mapping[Var, int]) -> str:
    """The value of ``e``, or why it has none."""
    try:
        return str(e.evaluate(env))
    except ZeroDivisionError:
        return "no value: division by zero"
    except KeyError as missing:
        return f"depends on {missing.args[0]}"


def _truth(c: Condition, env: Mapping[Var, int]) -> bool | None:
    try:
        return c.evaluate(env)
    except (ZeroDivisionError, KeyError):
        return None


def conjuncts(c: Condition) -> tuple[Condition, ...]:
    """The parts of a conjunction."""
    return c.args if isinstance(c, And) else (c,)


def head_of(o: Obligation, status: str) -> str:
    """The first line of a block: verdict, claim and place in the source."""
    return joined([f"{status}  {o.subject}", o.where])


def explain(
    result: Result, *, with_repairs: bool = True, command: str = "indexproof prove", also: str = ""
) -> str:
    """Return the block about one result that did not pass, as :func:`explanation` has it."""
    lines = explanation(result, with_repairs=with_repairs, command=command, also=also)
    return block(head_of(result.obligation.in_full(), result.verdict.status.value), lines)


def explanation(
    result: Result, *, with_repairs: bool = True, command: str = "indexproof prove", also: str = ""
) -> list[tuple[str, str]]:
    """Return the lines about one result that did not pass, each with its heading.

    ``command`` is what repeats it up to the name of the claim, ``also`` says where else the same is wrong.  Looking for
    repairs asks the prover some more questions, which takes a moment.
    """
    o, v = result.obligation.in_full(), result.verdict
    lines = [("claim", o.claim), ("owes", o.kind)]
    if also:
        lines.append(("fails in", also))
    match v.status:
        case Status.REFUTED | Status.UNDEFINED:
            lines += _counterexample(o, v, command)
            if (
                with_repairs
                and o.family in ("rule", "constraint rule")
                and o.kind.startswith(("sound", "defined"))
            ):
                from ..verify.repair import repairs

                found = repairs(o)
                if found:
                    offered = ";  ".join(map(show_condition, found))
                    lines.insert(-1, ("repair", f"provable after adding any one of:  {offered}"))
            if o.kind.startswith("as compiled"):
                # a run without such a refutation loads no rules
                from ..rules.catalog import outdated_code

                if outdated_code():
                    lines.insert(
                        -1, ("repair", "the code was generated from other rules: run `indexproof dev docs`")
                    )
        case Status.VACUOUS if o.kind.startswith("needs "):
            lines.append(("means", "the other conditions imply this one, or the claim is true without it"))
        case Status.VACUOUS:
            lines.append(("means", "no integers satisfy the conditions, so the claim says nothing"))
        case Status.UNDECIDED:
            lines.append(("tried", ", ".join(v.tried)))
            lines.append(("budget", v.detail or "exhausted"))
            lines.append(("question", o.statement()))
            lines.append(("again", f"{command} {_shell(o.name)} --budget 10"))
        case Status.NOT_CHECKED:
            lines.append(("because", v.detail))
    return lines


def _counterexample(o: Obligation, v: Verdict, command: str) -> list[tuple[str, str]]:
    witness = dict(v.witness or {})
    env = _environment(o, witness)
    lines = [("take", point_text(ordered_point(o, witness))), *_values(o, env)]
    held = [show_condition(h) for h in o.hypotheses if _truth(h, env)]
    if held:
        lines.append(("holds", ",  ".join(held)))
    lines += _failing(o, env)
    lines.append(("again", again(o, witness, command)))
    return lines


def _values(o: Obligation, env: Mapping[Var, int]) -> Iterator[tuple[str, str]]:
    if o.kind != "progress":
        for label, e in o.show:
            yield label, f"{show(e)} = {value_text(e, env)}"


def _failing(o: Obligation, env: Mapping[Var, int]) -> Iterator[tuple[str, str]]:
    """The parts of the goal that are false; two measures that do not descend say so themselves."""
    if o.kind == "progress":
        # the labels are "left weight", "right weight" and so on, in lexicographic order
        sides: dict[str, list[str]] = {}
        for label, e in o.show:
            sides.setdefault(label.partition(" ")[0], []).append(value_text(e, env))
        names = ", ".join(label.partition(" ")[2] for label, _ in o.show if label.startswith("left "))
        right, left = (f"({', '.join(sides.get(side, []))})" for side in ("right", "left"))
        yield "fails", f"the right side is not smaller: {right} against {left}"
        yield "", f"measured by ({names})"
        return
    for c in conjuncts(o.goal):
        truth = _truth(c, env)
        if truth is not True:
            yield "fails", show_condition(c) + ("" if truth is False else "   (it has no value here)")


# -------------------------------------------------------------------------------------------------- one point
def holds_at(o: Obligation, point: Mapping[str, int]) -> Place | None:
    """Evaluate ``o`` at ``point``; ``None`` where the point leaves one of its variables open."""
    if any(v.name not in point for v in _variables(o)):
        return None
    env = _environment(o, point)
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
    """Both sides, the conditions and the outcome of one obligation at one point."""
    env = _environment(o, point)
    status = {"counterexample": Status.REFUTED.value, "holds": "HOLDS", "example": "HOLDS"}.get(
        place, "NO ANSWER"
    )
    # what the obligation does not mention is evaluated too
    env |= {v: point[v.name] for _, e in o.show for v in e.variables() if v.name in point}
    known = {v.name: point[v.name] for v in o.formula_variables() if v.name in point}
    lines = [("claim", o.claim), ("owes", o.kind), ("take", point_text(ordered_point(o, known)))]
    lines += _values(o, env)
    for label, wanted in (("holds", True), ("false", False), ("no value", None)):
        conditions = [show_condition(h) for h in o.hypotheses if _truth(h, env) is wanted]
        if conditions:
            lines.append((label, ",  ".join(conditions)))
    if place in ("counterexample", "no value") and o.question == "valid":
        lines += _failing(o, env)
    lines.append(("so", f"{o.kind}: {_SAYS[place]}"))
    return block(head_of(o, status), lines)
