"""Conditions as canonical text: equal conditions, and only those, have equal text."""

from __future__ import annotations

from ..core.condition import Condition, all_exprs
from ..core.expr import Int, Sum, Var, postorder


def condition_text(c: Condition) -> str:
    """Return the distinct expressions of ``c``, one per line, followed by the structure of ``c`` over these lines."""
    at: dict[object, int] = {}
    lines: list[str] = []
    roots = all_exprs(c)
    for node in postorder(*roots):
        match node:
            case Int():
                line = f"i{node.value}"
            case Var():
                line = f"v{node.kind}:{node.name}"
            case Sum():
                line = f"s{node.const};" + ";".join(f"{at[t]}*{k}" for t, k in node.terms)
            case _:
                line = f"{type(node).__name__};" + ";".join(str(at[k]) for k in node.children)
        at[node] = len(lines)
        lines.append(line)
    return "\n".join(lines) + "\n" + _shape(c, at)


def _shape(c: Condition, at: dict[object, int]) -> str:
    own = ",".join(str(at[e]) for e in c.exprs())
    label = getattr(c, "op", getattr(c, "value", ""))
    return f"{type(c).__name__}[{label}]({own};{'|'.join(_shape(p, at) for p in c.parts())})"
