"""Sums that are still being read.  Their terms are merged only once, however deeply sums are nested."""

from __future__ import annotations

from typing import TypeAlias

from .expr import Expr, linear, operands_first


class OpenSum:
    """A list of summands with coefficients, which may be open sums and may be shared between sums."""

    __slots__ = ("_total", "terms")

    def __init__(self, terms: list[tuple[Operand, int]]) -> None:
        self.terms = terms
        self._total: Expr | None = None

    def total(self) -> Expr:
        """Return the sum as an expression, in time proportional to the number of summands below it."""
        if self._total is None:
            factors = {self: 1}
            flat: list[tuple[Expr, int]] = []
            # an open sum comes after all those that contain it, so its factor is complete when it is reached
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
    """Return the summands that are open sums without a total."""
    return [e for e, _ in part.terms if isinstance(e, OpenSum) and e._total is None]


Operand: TypeAlias = Expr | OpenSum
"""An operand as far as it has been read."""


def closed(x: Operand) -> Expr:
    """Return ``x`` as an expression."""
    return x.total() if isinstance(x, OpenSum) else x
