"""What a person reads about concrete maps: whether two are equal, where they differ, how one was
simplified.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from ..core.expr import Expr, Int, Integers, Var, interpret, postorder
from ..core.indexing_map import IndexingMap
from ..core.text import format_expr, format_map
from ..core.transform import Reduced
from ..verify.claims.instructions import OperandAnswer
from ..verify.concrete import Answer, Counterexample
from ..verify.verdict import Status, worst
from .layout import block, count, duration, table
from .refutation import point_text

__all__ = [
    "difference",
    "instruction_difference",
    "instructions_json",
    "record_text",
    "sides_at",
    "tuple_text",
]


def tuple_text(values: Sequence[int] | None, otherwise: str = "nothing") -> str:
    """``(0, 1)``."""
    return otherwise if values is None else f"({', '.join(map(str, values))})"


def _same_place(c: Counterexample, m: IndexingMap, other: IndexingMap) -> dict[Expr, int]:
    """The values of the variables of ``m`` at a counterexample, which is in the names of one of the two maps.

    Dimensions and ranges correspond by position, runtime variables by name and then by position.
    """
    names = list(c.values)
    own = [v.name for v in (*m.dims, *m.ranges)]
    theirs = [v.name for v in (*other.dims, *other.ranges)]
    holder = m if names[: len(own)] == own or names[: len(theirs)] != theirs else other
    env: dict[Expr, int] = {}
    for group, source in ((m.dims, holder.dims), (m.ranges, holder.ranges), (m.rts, holder.rts)):
        for k, v in enumerate(group):
            at = source[k].name if k < len(source) else v.name
            if group is m.rts and v.name in c.values:
                at = v.name
            if at in c.values:
                env[v.expr] = c.values[at]
    return env


def sides_at(c: Counterexample, left: IndexingMap, right: IndexingMap) -> Iterator[tuple[str, str, int]]:
    """Side, term and value of every compound subexpression of both maps at a counterexample, innermost
    first.
    """
    for side, m, other in (("left", left, right), ("right", right, left)):
        env = _same_place(c, m, other)
        order = [v.expr for v in m.variables]
        known = [e for e in m.roots if all(v in env for v in e.variables())]
        values: dict[Expr, int] = {}
        interpret(known, Integers(env), values)
        for e in postorder(*known):
            if not isinstance(e, (Int, Var)):
                yield side, format_expr(e, variables=order), int(values[e])


def difference(
    answer: Answer,
    left: IndexingMap,
    right: IndexingMap,
    *,
    again: str = "",
    names: tuple[str, str] = ("left", "right"),
) -> str:
    """The block that says whether two maps are equal, and if not, where."""
    head = f"{answer.verdict.value}  "
    if answer.verdict is Status.PROVED:
        return head + f"equal everywhere   by {answer.engine} in {duration(answer.seconds)}"
    one, two = names
    lines = [(one, format_map(left)), (two, format_map(right))]
    c = answer.counterexample
    if c is None:
        head += "not decided"
        lines.append(("tried", "; ".join(answer.tried)))
    else:
        head += c.reason or "the maps differ"
        lines.append(("take", point_text(c.values) + ("" if c.minimal else "   (a smaller one may exist)")))
        for side, term, value in sides_at(c, left, right):
            lines.append((dict(zip(("left", "right"), names, strict=True))[side], f"{term} = {value}"))
        for name, m, other, target in ((one, left, right, c.left), (two, right, left, c.right)):
            lines.append((name, f"→ {tuple_text(target, _without_target(c, m, other))}"))
            lines += [(name, said) for said in _violated(c, m, other)]
    if again:
        lines.append(("again", again))
    return block(head, lines)


def instruction_difference(a: OperandAnswer, *, again: str = "") -> str:
    """The block that says whether two instructions, or an instruction and a map, read the same of one operand."""
    place = f"operand {a.operand}: " if a.array is None else f"array {a.array}, operand {a.operand}: "
    if len(a.left) == len(a.right) == 1:
        status, _, rest = difference(a.answer, a.left[0], a.right[0], again=again).partition("  ")
        return f"{status}  {place}{rest}"
    said = {Status.PROVED: "the same elements are read", Status.UNDECIDED: "not decided"}
    c = a.answer.counterexample
    told = (c.reason if c is not None else "") or said.get(a.answer.verdict, "the maps differ")
    if a.answer.verdict is Status.PROVED:
        return block(f"{a.answer.verdict.value}  {place}{told}", [])
    lines = [(name, format_map(m)) for name, maps in (("left", a.left), ("right", a.right)) for m in maps]
    if not a.left or not a.right:
        lines.append(("left" if not a.left else "right", "reads nothing of it"))
    if again:
        lines.append(("again", again))
    return block(f"{a.answer.verdict.value}  {place}{told}", lines)


def instructions_json(answers: Sequence[OperandAnswer], exit_status: int) -> dict[str, Any]:
    """The answer of ``equal`` about two instructions."""
    from .machine import document, map_json

    entries = []
    for a in answers:
        c = a.answer.counterexample
        shown = (
            None
            if c is None
            else {"values": dict(c.values), "left": c.left, "right": c.right, "reason": c.reason}
        )
        entries.append(
            {
                "operand": a.operand,
                "array": a.array,
                "verdict": a.answer.verdict.value,
                "left": [map_json(m) for m in a.left],
                "right": [map_json(m) for m in a.right],
                "engine": a.answer.engine,
                "counterexample": shown,
            }
        )
    verdict = worst([a.answer.verdict for a in answers]).value
    seconds = round(sum(a.answer.seconds for a in answers), 6)
    return document("equal", verdict, exit_status, operands=entries, timing={"seconds": seconds})


def _without_target(c: Counterexample, m: IndexingMap, other: IndexingMap) -> str:
    if len(m.dims) != len(other.dims):
        return f"nothing: a source has {count(len(m.dims), 'coordinate')} here"
    if m.ranges:
        return "does not reach this target from this source"
    return "nothing: the source is outside its domain"


def _violated(c: Counterexample, m: IndexingMap, other: IndexingMap) -> Iterator[str]:
    """The bounds and constraints of ``m`` that a counterexample breaks."""
    env = _same_place(c, m, other)
    for v in m.variables:
        x = env.get(v.expr)
        if x is not None and not v.lo <= x <= v.hi:
            yield f"{v.name} = {x} is not in [{v.lo}, {v.hi}]"
    for k in m.constraints:
        if all(v in env for v in k.expr.variables()):
            value = int(k.expr.evaluate(env))
            if not k.lo <= value <= k.hi:
                yield f"{format_expr(k.expr)} = {value} is not in [{k.lo}, {k.hi}]"


def record_text(r: Reduced) -> str:
    """What became of the variables of a map that a transform changed: one line for each."""
    rows: list[tuple[str, str]] = []
    order = [v.expr for v in r.map.variables]
    for v in r.before.variables:
        if v.name in r.unused:
            box = r.unused[v.name]
            rows.append(("removed", f"{v.name} in [{box.lo}, {box.hi}]: nothing depends on it"))
        elif r.values[v.name] is not v.expr:
            rows.append((v.name, f"= {format_expr(r.values[v.name], variables=order)}"))
    return "\n".join(table([(f"  {a}", b) for a, b in rows]))
