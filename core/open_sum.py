"""Sums that are being read, their parts not yet merged: brackets within brackets are added up once, not once for each."""

from __future__ import annotations

from typing import TypeAlias

from .expr import Expr, linear, operands_first


class OpenSum:
    """Summands with coefficients, open sums among them; a summand may belong to several sums."""

    __slots__ = ("_total", "terms")

    def __init__(self, terms: list[tuple[Operand, int]]) -> None:
        self.terms = terms
        self._total: Expr | None = None

    def total(self) -> Expr:
        """The sum as an expression, in time proportional to the summands below it."""
        if self._total is None:
            factors = {self: 1}
            flat: list[tuple[Expr, int]] = []
            # an open sum comes after all those that it is a summand of: what it counts for is then complete
            for part in reversed(operands_first((self,), _unread)):
                factor = factors.pop(part)
                for e, k in part.terms:
                    if not isinstance(e, OpenSum):
                        flat.append((e, k * factor))
                    elif e._total is not None:
                        flat.append((e._total, k * factor))
                    else:
                        factors[e] = factors.get(e, 0) + k * factor
            self._total = linear(0, flat)
        return self._total


def _unread(part: OpenSum) -> list[OpenSum]:
    """The summands that are open sums without a total yet."""
    return [e for e, _ in part.terms if isinstance(e, OpenSum) and e._total is None]


Operand: TypeAlias = Expr | OpenSum
"""An operand as far as it has been read."""


def closed(x: Operand) -> Expr:
    """``x`` as an expression."""
    return x.total() if isinstance(x, OpenSum) else x
