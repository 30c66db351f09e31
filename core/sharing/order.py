"""Orders of atoms and forms that do not depend on when the atoms were met."""

from __future__ import annotations

from typing import Any

from ..engine import Engine
from ..kernel.form import Form

__all__ = ["Order"]


class Order:
    """Orders by a rank; where ranks are equal, digests of what is written decide."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.digests: dict[Form, int] = {}

    def digest(self, x: Form) -> int:
        """The digest of a form with its atoms as they are."""
        found = self.digests.get(x)
        if found is None:
            found = self.digests[x] = self.engine.write(x).key
        return found

    def sort(self, atoms: list[int]) -> None:
        """Sort quotients and remainders, large divisors first."""
        divisor = self.engine.divisor
        arg: list[Any] = self.engine.arg
        order = self._positions([-divisor[a] for a in atoms], [arg[a] for a in atoms])
        if order:
            atoms[:] = [atoms[i] for i in order]

    def widest(self, forms: list[Form]) -> list[Form]:
        """The forms with most summands first."""
        if len(forms) < 2:
            return forms
        order = self._positions([-len(f[1]) for f in forms], forms)
        return [forms[i] for i in order] if order else forms

    def _positions(self, ranks: list[int], forms: list[Any]) -> list[int]:
        """The positions of the forms by their ranks, none where they are in order."""
        last = ranks[0]
        ordered = True
        for n in ranks[1:]:
            if n <= last:
                ordered = False
                break
            last = n
        if ordered:
            return []
        size = len(ranks)
        if size == 2:
            if ranks[0] == ranks[1] and self.digest(forms[0]) <= self.digest(forms[1]):
                return []
            return [1, 0]
        order = sorted(range(size), key=ranks.__getitem__)
        i = 0
        for j in range(1, size + 1):
            if j == size or ranks[order[j]] != ranks[order[i]]:
                if j - i > 1:
                    order[i:j] = sorted(order[i:j], key=lambda n: self.digest(forms[n]))
                i = j
        return order
