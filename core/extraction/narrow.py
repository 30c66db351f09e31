"""A ledger that keeps sums within a machine integer."""

from __future__ import annotations

from typing import Final

from ..engine import Engine
from ..kernel.form import QUOTIENT, REMAINDER, Form
from .ledger import Choice, Ledger

__all__ = ["NarrowLedger"]

#: Exceeds every cost.
PENALTY: Final = 1 << 60


class NarrowLedger(Ledger):
    """A ledger that penalizes every sum that may leave ``[lo, hi]`` in some order of addition.

    The sums ``given`` are exempt.
    """

    def __init__(self, engine: Engine, weight: int, forms: list[Form], lo: int, hi: int, given: set[Form]) -> None:
        self.lo = lo
        self.hi = hi
        self.given = given
        self.penalties: dict[Form, int] = {}
        super().__init__(engine, weight, forms)

    def may_pay(self, choice: Choice) -> bool:
        """Return ``True``: any choice may remove a wide sum."""
        return True

    def _own(self, owner: int, f: Form) -> None:
        had = f in self.owners
        super()._own(owner, f)
        if not had:
            self.cost += self._penalty(f)

    def _disown(self, owner: int, f: Form) -> None:
        super()._disown(owner, f)
        if f not in self.owners:
            self.cost -= self._penalty(f)

    def _penalty(self, f: Form) -> int:
        found = self.penalties.get(f)
        if found is None:
            found = self.penalties[f] = 0 if f in self.given or self._fits(f) else PENALTY
        return found

    def _fits(self, f: Form) -> bool:
        """Return whether every literal, product and partial sum stays within the ends."""
        engine, limit = self.engine, self.hi
        low, high = min(f[0], 0), max(f[0], 0)
        for a, k in f[1]:
            of = engine.kind[a]
            if abs(k) > limit or ((of == QUOTIENT or of == REMAINDER) and engine.divisor[a] > limit):
                return False
            x, y = k * engine.lo[a], k * engine.hi[a]
            low += min(x, y, 0)
            high += max(x, y, 0)
        return self.lo <= low and high <= limit
