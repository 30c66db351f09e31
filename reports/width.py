"""What a person and a program read about the machine width of a map."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..core.expr import Var, var
from ..core.indexing_map import IndexingMap
from ..core.numerals import format_int
from ..core.text import format_expr, format_map
from ..verify.verdict import Status
from ..verify.width import Overflow, Subexpression, Width
from .layout import block, duration, table
from .machine import document, map_json
from .refutation import point_text

__all__ = ["each_json", "each_text", "width_json", "width_text", "width_verdict"]


def width_verdict(answer: Width, bits: int | None) -> Status:
    """The verdict on the question whether ``bits``, or any width at all, are enough."""
    if answer.bits is None or bits is None or bits >= answer.bits:
        # a width that is known to be too small has its overflow, even where larger ones are not decided
        known = answer.verdict is Status.UNDECIDED and any(o.bits == bits for o in answer.overflows)
        return Status.REFUTED if known else answer.verdict
    return Status.REFUTED


def width_text(answer: Width, m: IndexingMap, bits: int | None = None) -> str:
    """The block that says which width is enough, and what overflows in the smaller ones."""
    verdict = width_verdict(answer, bits)
    head = f"{verdict.value}  {_sentence(answer)}"
    if verdict is Status.PROVED:
        head += f"   by {', '.join(answer.engines)} in {duration(answer.seconds)}"
    order = [v.expr for v in m.variables]
    lines = [("map", format_map(m))] if verdict is not Status.PROVED else []
    lines += [
        (f"int{o.bits}", f"{_term(o, order)} = {format_int(o.value)} overflows{_at(o)}")
        for o in answer.overflows
    ]
    if answer.tried:
        lines.append(("tried", "; ".join(answer.tried)))
    return block(head, lines)


def each_text(parts: Sequence[Subexpression], m: IndexingMap) -> str:
    """A line for every subexpression: its type, and what is too large for the next smaller one."""
    order = [v.expr for v in m.variables]
    rows = []
    for p in parts:
        name = "undecided" if p.verdict is Status.UNDECIDED else "none" if p.bits is None else f"int{p.bits}"
        o = p.overflow
        said = "" if o is None else f"{format_int(o.value)} overflows int{o.bits}{_at(o)}"
        rows.append((f"  {name}", format_expr(p.expr, variables=order), said))
    return "\n".join(table(rows))


def each_json(parts: Sequence[Subexpression], m: IndexingMap) -> list[dict[str, Any]]:
    """The same for a program."""
    order = [v.expr for v in m.variables]
    return [
        {
            "term": format_expr(p.expr, variables=order),
            "verdict": p.verdict.value,
            "bits": p.bits,
            "engine": p.engine,
            "overflow": None if p.overflow is None else _overflow_json(p.overflow, order),
        }
        for p in parts
    ]


def _term(o: Overflow, order: list[Var]) -> str:
    return format_expr(o.expr, variables=order)


def _overflow_json(o: Overflow, order: list[Var]) -> dict[str, Any]:
    return {
        "bits": o.bits,
        "term": _term(o, order),
        "value": o.value,
        "values": dict(o.values),
        "smallest": o.minimal,
    }


def _at(o: Overflow) -> str:
    where = f" at {point_text(o.values)}" if o.values else ""
    return where + ("" if o.minimal else "   (a smaller point may exist)")


def _sentence(answer: Width) -> str:
    if answer.verdict is Status.UNDECIDED:
        return "the width is not decided"
    if answer.bits is None:
        return "not even int64 is enough"
    smaller = [f"int{o.bits}" for o in answer.overflows]
    return f"int{answer.bits} is enough" + (f", {smaller[-1]} is not" if smaller else "")


def width_json(
    answer: Width,
    m: IndexingMap,
    bits: int | None,
    exit_status: int,
    each: Sequence[Subexpression] | None = None,
) -> dict[str, Any]:
    """The same for a program; with the subexpressions where they were asked for."""
    order = [var(v.name) for v in m.variables]
    return document(
        "width",
        width_verdict(answer, bits).value,
        exit_status,
        map=map_json(m),
        bits=answer.bits,
        overflows=[_overflow_json(o, order) for o in answer.overflows],
        subexpressions=None if each is None else each_json(each, m),
        engines=list(answer.engines),
        tried=list(answer.tried),
        timing={"seconds": round(answer.seconds, 6)},
    )
