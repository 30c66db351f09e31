"""The operators by their names in the stored forms of maps, derivations and certificates."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from .expr import BUILDERS, CeilDiv, Expr, FloorDiv, Max, Min, Mod, Mul

NAME_OF: Final[dict[type[Expr], str]] = {
    FloorDiv: "fdiv",
    Mod: "mod",
    CeilDiv: "cdiv",
    Mul: "mul",
    Min: "min",
    Max: "max",
}
#: The builder of each operator; those of :data:`DIVISIONS` take two operands, the others two or more.
OPERATORS: Final[dict[str, Callable[..., Expr]]] = {name: BUILDERS[kind] for kind, name in NAME_OF.items()}
DIVISIONS: Final = frozenset({"fdiv", "mod", "cdiv"})
