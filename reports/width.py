"""What a person and a program read about the machine width of a map."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..core.expr import Var, var
from ..core.indexing_map import IndexingMap
from ..core.text import format_expr
from ..verify.width import Overflow, Subexpression, Width
from ..verify.words import each_text, term_text, width_text, width_verdict
from .machine import document, map_json

__all__ = ["each_json", "each_text", "width_json", "width_text", "width_verdict"]


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


def _overflow_json(o: Overflow, order: list[Var]) -> dict[str, Any]:
    return {
        "bits": o.bits,
        "term": term_text(o, order),
        "value": o.value,
        "values": dict(o.values),
        "smallest": o.minimal,
    }


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
