"""What a person reads about concrete maps: whether two are equal, where they differ, how one was
simplified.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..core.text import format_map
from ..core.transform import record_text
from ..verify.claims.instructions import OperandAnswer
from ..verify.verdict import Status, worst
from ..verify.words import difference, sides_at, tuple_text
from .layout import block

__all__ = [
    "difference",
    "instruction_difference",
    "instructions_json",
    "record_text",
    "sides_at",
    "tuple_text",
]


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
