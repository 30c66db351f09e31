"""Reports about concrete maps: comparison of instructions, and the width that a map needs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..core.expr import Expr, postorder, rebuild, var
from ..core.indexing_map import Constraint, IndexingMap
from ..core.notation import with_remainders
from ..core.text import format_expr, format_map
from ..verify.claims.instructions import OperandAnswer
from ..verify.concrete import Counterexample
from ..verify.verdict import Status, worst
from ..verify.width import Overflow, Subexpression, Width
from ..verify.words import difference, term_text, width_verdict
from .layout import block
from .serializer import document, written_as


def map_with_remainders(m: IndexingMap) -> IndexingMap:
    """Return ``m`` with differences ``x + (x floordiv n) * -n`` written as ``x mod n``, which are easier to read.

    The simplifier computes a difference if the quotient is needed anyway.
    """
    shown: dict[Expr, Expr] = {}
    for e in postorder(*m.results, *(c.expr for c in m.constraints)):
        shown[e] = with_remainders(rebuild(e, [shown[c] for c in e.children]))
    return m.with_(
        results=tuple(shown[e] for e in m.results),
        constraints=tuple(Constraint(shown[c.expr], c.lo, c.hi) for c in m.constraints),
    )


def instruction_difference(a: OperandAnswer, *, again: str = "") -> str:
    """Return the block that compares what two instructions, or an instruction and a map, read of an operand."""
    place = f"operand {a.operand}: " if a.array is None else f"array {a.array}, operand {a.operand}: "
    if len(a.left) == len(a.right) == 1:
        status, _, rest = difference(a.answer, a.left[0], a.right[0], again=again).partition("  ")
        return f"{status}  {place}{rest}"
    said = {Status.PROVED: "the same elements are read", Status.UNDECIDED: "not decided"}
    c = a.answer.counterexample
    told = (c.reason if c is not None else "") or said.get(a.answer.verdict, "the maps differ")
    lines = [(name, format_map(m)) for name, maps in (("left", a.left), ("right", a.right)) for m in maps]
    if not a.left or not a.right:
        lines.append(("left" if not a.left else "right", "reads nothing of it"))
    if again:
        lines.append(("again", again))
    head = f"{a.answer.verdict.value}  {place}{told}"
    return block(head, [] if a.answer.verdict is Status.PROVED else lines)


def instructions_json(answers: Sequence[OperandAnswer], exit_status: int) -> dict[str, Any]:
    """Return the answer of ``equal`` about two instructions."""
    verdict = worst([a.answer.verdict for a in answers])
    seconds = sum(a.answer.seconds for a in answers)
    return document("equal", verdict, exit_status, operands=answers, timing={"seconds": seconds})


def width_json(
    answer: Width, m: IndexingMap, bits: int | None, exit_status: int, each: Sequence[Subexpression] | None
) -> dict[str, Any]:
    """Return the answer of ``width``, with the subexpressions if requested."""
    order = [var(v.name) for v in m.variables]

    def overflow(o: Overflow) -> dict[str, Any]:
        values = {"value": o.value, "values": o.values, "smallest": o.minimal}
        return {"bits": o.bits, "term": term_text(o, order), **values}

    def part(p: Subexpression) -> dict[str, Any]:
        known = {"verdict": p.verdict, "bits": p.bits, "engine": p.engine}
        shown = format_expr(p.expr, variables=order)
        return {"term": shown, **known, "overflow": p.overflow and overflow(p.overflow)}

    found = {"map": m, "bits": answer.bits, "overflows": map(overflow, answer.overflows)}
    how = {"engines": answer.engines, "tried": answer.tried, "timing": {"seconds": answer.seconds}}
    parts = None if each is None else [*map(part, each)]
    return document("width", width_verdict(answer, bits), exit_status, **found, subexpressions=parts, **how)


written_as(
    OperandAnswer,
    "operand array verdict=answer.verdict left right engine=answer.engine counterexample=answer.counterexample",
)
written_as(Counterexample, "values left right reason")
