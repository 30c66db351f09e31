"""Reports about the machine width of a map, for people and for programs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..core.expr import var
from ..core.indexing_map import IndexingMap
from ..core.text import format_expr
from ..verify.width import Overflow, Subexpression, Width
from ..verify.words import term_text, width_verdict
from .machine import document


def width_json(
    answer: Width,
    m: IndexingMap,
    bits: int | None,
    exit_status: int,
    each: Sequence[Subexpression] | None = None,
) -> dict[str, Any]:
    """Return the answer of ``width``, with the subexpressions where they were asked for."""
    order = [var(v.name) for v in m.variables]

    def overflow(o: Overflow) -> dict[str, Any]:
        values = {"value": o.value, "values": o.values, "smallest": o.minimal}
        return {"bits": o.bits, "term": term_text(o, order), **values}

    return document(
        "width",
        width_verdict(answer, bits),
        exit_status,
        map=m,
        bits=answer.bits,
        overflows=[overflow(o) for o in answer.overflows],
        subexpressions=each
        and [
            {
                "term": format_expr(p.expr, variables=order),
                "verdict": p.verdict,
                "bits": p.bits,
                "engine": p.engine,
                "overflow": p.overflow and overflow(p.overflow),
            }
            for p in each
        ],
        engines=answer.engines,
        tried=answer.tried,
        timing={"seconds": answer.seconds},
    )
